/* Costs of passes: shares of a copy's speed, by the shapes of their matrices. */

/* A pass: a batch of matrices without gaps. */
typedef struct ipt__pass {
    size_t batch, rows, cols, elem_size; /* elem_size: bytes */
    size_t inner_rows, inner_cols;       /* sides of a double pass' elements, which are matrices; else 0 */
} ipt__pass;

/* The shares of a copy's speed that double passes and passes of long elements reach, by the unit that they move. */
static double ipt__double_share(const ipt__tuning *model, const ipt__pass *pass)
{
    const size_t unit = ipt__unit_bytes(pass->elem_size / (pass->inner_rows * pass->inner_cols));
    return pass->rows == pass->cols ? model->pass_pairs
           : unit < IPT__WORD_BYTES ? model->pass_double_short
                                    : model->pass_double;
}
static double ipt__long_share(const ipt__tuning *model, size_t unit, int on_chip)
{
    return unit == 1   ? model->pass_long_bytes
           : unit == 2 ? model->pass_long_halves
           : on_chip   ? model->pass_long_on_chip
                       : model->pass_long;
}

/* The share of instances of short elements that fit a compute unit's local memory. Work-groups that fill a compute unit
 * have no others to load and store beside them. The largest instances leave no room for gaps between banks: thin ones
 * are slow then, and others do not move whole. */
static double ipt__short_share(const ipt__tuning *model, size_t instance, int thin)
{
    return instance > IPT__PACK_BYTES_WHOLE / 8 * 7 ? (thin ? model->pass_thin : model->pass_small_short)
           : instance > IPT__PACK_BYTES_WHOLE / 2   ? model->pass_small_one
           : instance > IPT__PACK_BYTES_WHOLE / 8   ? model->pass_small_few
                                                    : model->pass_small_short;
}

/* Bytes that a copy would move in the same time: the bytes of the pass, divided by the share of a copy's speed that
 * such passes reach. The search compares thousands of passes, too many to plan each. */
static double ipt__pass_cost(const ipt__limits *limits, const ipt__pass *pass)
{
    const ipt__tuning *const model = ipt__tuning_of(limits);
    const size_t instance = pass->rows * pass->cols * pass->elem_size;
    const size_t shorter = ipt__min(pass->rows, pass->cols), longer = ipt__max(pass->rows, pass->cols);
    const size_t unit = ipt__gives_more_local(limits) ? 2 * (size_t)IPT__CHUNK_BYTES_LARGE : limits->local_memory;
    const int gathers = limits->cooperative && !limits->cpu;
    const int on_chip = pass->batch == 1 && !gathers
                            ? instance <= IPT__ON_CHIP_BYTES
                            : gathers && instance / limits->compute_units <= unit &&
                                  (pass->batch == 1 || shorter * pass->elem_size >= IPT__CHUNK_THIN);
    const int shorts = gathers && pass->batch > 1 && pass->elem_size < IPT__WORD_BYTES && instance >= IPT__PASS_SHORT &&
                       instance <= IPT__PACK_BYTES_WHOLE;
    const int stretched =
        ipt__real(longer / shorter) >= model->pass_stretched_from * (pass->batch > 1 && !limits->cpu ? 5 : 1);
    const double bytes =
        ipt__real(pass->rows) * ipt__real(pass->cols) * ipt__real(pass->elem_size) * ipt__real(pass->batch);
    const size_t unit_bytes = ipt__unit_bytes(pass->elem_size);
    const int is_long = pass->elem_size >= IPT__PASS_LONG;
    const double share = IPT__PAPERS && pass->inner_rows ? ipt__double_share(model, pass)
                         : shorts ? ipt__short_share(model, instance, shorter * pass->elem_size < IPT__LINE_BYTES)
                         : instance <= ipt__local_budget(limits)    ? model->pass_small
                         : is_long && unit_bytes < IPT__WORD_BYTES  ? ipt__long_share(model, unit_bytes, on_chip)
                         : pass->batch > 1 && on_chip && !stretched ? model->pass_on_chip
                         : is_long                                  ? ipt__long_share(model, unit_bytes, on_chip)
                         : shorter * pass->elem_size < IPT__LINE_BYTES
                             ? (unit_bytes < IPT__WORD_BYTES && !on_chip ? model->pass_thin_short : model->pass_thin)
                         : pass->batch > 1 && !stretched ? model->pass_several
                         : stretched
                             ? (pass->elem_size < IPT__LINE_BYTES ? model->pass_stretched : model->pass_stretched_units)
                         : on_chip                    ? model->pass_on_chip
                         : gathers && unit_bytes == 1 ? model->pass_large_bytes
                         : instance > IPT__PASS_HUGE  ? model->pass_huge
                                                      : model->pass_large;
    return bytes / share;
}
