/* Checking descs. */

/* Whether a sequence is forced that only the papers have. */
static int ipt__sequence_is_papers(ipt_sequence sequence)
{
    return sequence != IPT_SEQUENCE_AUTO && sequence != IPT_SEQUENCE_TWO_PASS && sequence != IPT_SEQUENCE_SQUARE &&
           sequence != IPT_SEQUENCE_EXCHANGE;
}

#ifdef IPT_NO_PAPERS

/* Refuses what only the papers' kernels and sequences can do. */
static ipt_result ipt__check_papers(const ipt_plan_desc *desc)
{
    const char *const name = ipt__sequence_is_papers(desc->sequence) ? "sequence"
                             : desc->variant_010                     ? "variant_010"
                             : desc->variant_100                     ? "variant_100"
                             : desc->variant_pad                     ? "variant_pad"
                             : desc->heuristic                       ? "heuristic"
                             : desc->method                          ? "method"
                             : desc->from                            ? "from"
                             : desc->to                              ? "to"
                             : desc->flags & IPT_PAD                 ? "flags with IPT_PAD"
                             : desc->host == IPT_HOST_STAGES         ? "host"
                                                                     : NULL;
    if (name)
        return ipt__fail(IPT_ERROR_UNSUPPORTED, "%s: ipt was compiled with IPT_NO_PAPERS, without what the papers do",
                         name);
    return IPT_SUCCESS;
}

#else

/* Checks a forced kernel: it must exist, be compiled in, and belong to one of `families`. */
static ipt_result ipt__check_variant(const char *name, ipt_variant variant, unsigned families)
{
    if ((int)variant < 0 || variant >= IPT__VARIANT_COUNT)
        return ipt__fail(IPT_ERROR_INVALID_ARGUMENT, "%s is %d, which is unknown", name, (int)variant);
    if (variant != IPT_VARIANT_AUTO && !(families >> ipt__variants[variant].family & 1))
        return ipt__fail(IPT_ERROR_INVALID_ARGUMENT, "%s is %s, which serves other stages", name,
                         ipt_variant_string(variant));
    return IPT_SUCCESS;
}

/* True if both formats are row-major or column-major, without tiles. */
static int ipt__formats_without_blocks(const ipt_plan_desc *desc)
{
    static const unsigned without = 1u << IPT_FORMAT_DEFAULT | 1u << IPT_FORMAT_RM | 1u << IPT_FORMAT_CM |
                                    1u << IPT_FORMAT_AOS | 1u << IPT_FORMAT_SOA;
    return (without >> desc->from & 1) && (without >> desc->to & 1) && !desc->tile_m && !desc->tile_n;
}

/* A change between row-major and column-major is a transposition in memory. */
static void ipt__plan_simplify_formats(ipt_plan_desc *desc)
{
    const int from_columns = desc->from == IPT_FORMAT_CM || desc->from == IPT_FORMAT_SOA;
    const int to_rows = desc->to == IPT_FORMAT_RM || desc->to == IPT_FORMAT_AOS;
    if (!ipt__formats_without_blocks(desc))
        return;
    if (from_columns != to_rows || desc->variant_010 || desc->variant_100) { /* nothing moves, or forced kernels */
        desc->tile_m = desc->tile_n = 1;
        return;
    }
    desc->from = desc->to = IPT_FORMAT_DEFAULT;
    if (from_columns) {
        const size_t rows = desc->rows;
        desc->rows = desc->cols;
        desc->cols = rows;
    }
}

/* Checks the fields of a desc that reproduce the papers. */
static ipt_result ipt__check_papers(const ipt_plan_desc *desc)
{
    const int forced = ipt__sequence_is_papers(desc->sequence);
    const int formats = desc->from != IPT_FORMAT_DEFAULT || desc->to != IPT_FORMAT_DEFAULT;
    ipt_result result = ipt__check_variant("variant_010", desc->variant_010,
                                           1u << IPT__FAMILY_BS | 1u << IPT__FAMILY_SWAP |
                                               1u << IPT__FAMILY_PTTWAC_010 | 1u << IPT__FAMILY_P_IPT);
    if (!result)
        result = ipt__check_variant("variant_100", desc->variant_100,
                                    1u << IPT__FAMILY_PTTWAC_100 | 1u << IPT__FAMILY_P_IPT);
    if (!result)
        result = ipt__check_variant("variant_pad", desc->variant_pad, 1u << IPT__FAMILY_PAD);
    if (result)
        return result;
    if (desc->flag_spread > 32 || (desc->flag_spread & (desc->flag_spread - 1)) != 0)
        return ipt__fail(IPT_ERROR_INVALID_ARGUMENT, "flag_spread is %zu: 1, 2, 4, 8, 16 and 32 are possible",
                         desc->flag_spread);
    if (desc->variant_010 && (desc->sequence == IPT_SEQUENCE_1 || desc->sequence == IPT_SEQUENCE_4_3))
        return ipt__fail(IPT_ERROR_INVALID_ARGUMENT,
                         "variant_010 is %s, but no stage of sequence %s moves single elements in tiles: variant_100 "
                         "serves both",
                         ipt_variant_string(desc->variant_010), ipt_sequence_string(desc->sequence));
    if (!forced && !formats && !(desc->flags & IPT_PAD) && !desc->variant_100 &&
        ((desc->sequence == IPT_SEQUENCE_AUTO && ipt__variants[desc->variant_010].family == IPT__FAMILY_BS) ||
         (desc->sequence == IPT_SEQUENCE_SQUARE && ipt__variants[desc->variant_010].family == IPT__FAMILY_SWAP)))
        return IPT_SUCCESS; /* the papers' other fields have no meaning here */
    if (ipt__variants[desc->variant_010].family == IPT__FAMILY_SWAP)
        return ipt__fail(IPT_ERROR_INVALID_ARGUMENT, "variant_010 is %s, but sequence is %s: it serves sequence square",
                         ipt_variant_string(desc->variant_010), ipt_sequence_string(desc->sequence));
    if ((desc->variant_010 || desc->variant_100) && !forced && !formats && !(desc->flags & IPT_PAD))
        return ipt__fail(IPT_ERROR_INVALID_ARGUMENT,
                         "%s is %s, but sequence is %s: it serves stages of the sequences 1 to 4.3, of formats and of "
                         "IPT_PAD; auto takes a variant_010 of BS for whole matrices, square one of SWAP",
                         desc->variant_010 ? "variant_010" : "variant_100",
                         ipt_variant_string(desc->variant_010 ? desc->variant_010 : desc->variant_100),
                         ipt_sequence_string(desc->sequence));
    if (desc->variant_pad && !(desc->flags & IPT_PAD))
        return ipt__fail(IPT_ERROR_INVALID_ARGUMENT, "variant_pad is %s, but flags has no IPT_PAD",
                         ipt_variant_string(desc->variant_pad));
    if ((int)desc->from < 0 || desc->from >= IPT__FORMAT_COUNT || (int)desc->to < 0 || desc->to >= IPT__FORMAT_COUNT)
        return ipt__fail(IPT_ERROR_INVALID_ARGUMENT, "%s is %d, which is unknown",
                         (int)desc->from < 0 || desc->from >= IPT__FORMAT_COUNT ? "from" : "to",
                         (int)desc->from < 0 || desc->from >= IPT__FORMAT_COUNT ? (int)desc->from : (int)desc->to);
    if (formats && (desc->sequence != IPT_SEQUENCE_AUTO || (desc->flags & IPT_PAD)))
        return ipt__fail(IPT_ERROR_INVALID_ARGUMENT, "from is %s and to is %s: %s cannot be forced with formats",
                         ipt_format_string(desc->from), ipt_format_string(desc->to),
                         desc->flags & IPT_PAD ? "IPT_PAD" : "a sequence");
    if (formats && !ipt__formats_without_blocks(desc) &&
        (!desc->tile_m || !desc->tile_n || desc->rows % desc->tile_m || desc->cols % desc->tile_n))
        return ipt__fail(IPT_ERROR_INVALID_ARGUMENT,
                         "tile_m = %zu and tile_n = %zu, the sides of the formats' blocks, must divide rows = %zu and "
                         "cols = %zu",
                         desc->tile_m, desc->tile_n, desc->rows, desc->cols);
    if ((desc->flags & IPT_PAD) && (desc->flags & IPT_NO_COOPERATIVE))
        return ipt__fail(IPT_ERROR_INVALID_ARGUMENT,
                         "flags has IPT_PAD, whose kernels wait for other work-groups, and IPT_NO_COOPERATIVE");
    if ((desc->flags & IPT_PAD) && !forced && desc->sequence != IPT_SEQUENCE_AUTO)
        return ipt__fail(IPT_ERROR_INVALID_ARGUMENT,
                         "flags has IPT_PAD, but sequence is %s, which needs no factors: choose auto, or 1 to 4.3",
                         ipt_sequence_string(desc->sequence));
    return IPT_SUCCESS;
}

/* Sets what a paper's method chooses. The heuristic then chooses tiles, and IPT_PAD the padding. */
static ipt_result ipt__desc_expand_method(ipt_plan_desc *desc)
{
    const char *const chosen = desc->sequence                          ? "sequence"
                               : desc->tile_m                          ? "tile_m"
                               : desc->tile_n                          ? "tile_n"
                               : desc->variant_010                     ? "variant_010"
                               : desc->variant_100                     ? "variant_100"
                               : desc->variant_pad                     ? "variant_pad"
                               : desc->flag_spread                     ? "flag_spread"
                               : desc->heuristic                       ? "heuristic"
                               : desc->from                            ? "from"
                               : desc->to                              ? "to"
                               : desc->flags & (IPT_PAD | IPT_MEASURE) ? "flags"
                               : desc->move                            ? "move"
                                                                       : NULL;
    if ((int)desc->method < 0 || desc->method >= IPT__METHOD_COUNT)
        return ipt__fail(IPT_ERROR_INVALID_ARGUMENT, "method is %d, which is unknown", (int)desc->method);
    if (!desc->method)
        return IPT_SUCCESS;
    if (desc->method == IPT_METHOD_UUSCI_2013)
        return ipt__fail(IPT_ERROR_INVALID_ARGUMENT, "method is uusci-2013, which is for batches: ipt_batch_desc");
    if (chosen)
        return ipt__fail(IPT_ERROR_INVALID_ARGUMENT, "method is %s, which chooses by itself: set %s to 0",
                         ipt_method_string(desc->method), chosen);
    if (desc->method == IPT_METHOD_TPDS_2016_PADDED) {
        desc->flags |= IPT_PAD;
        desc->variant_pad = IPT_VARIANT_PAD_CHAINED;
    }
    if (desc->method == IPT_METHOD_PPOPP_2014)
        desc->sequence = IPT_SEQUENCE_3_1;
    desc->heuristic = desc->method == IPT_METHOD_PPOPP_2014  ? IPT_HEURISTIC_SEED_000_RANGE
                      : desc->method == IPT_METHOD_TPDS_2016 ? IPT_HEURISTIC_ALGORITHM_2
                                                             : IPT_HEURISTIC_ALGORITHM_5;
    return IPT_SUCCESS;
}

/* Chooses tiles by a paper's heuristic, and a missing sequence by algorithm 3 of Gomez-Luna et al. 2016. */
static ipt_result ipt__problem_choose_tiles(ipt__problem *problem)
{
    ipt_plan_desc *const desc = &problem->desc;
    const ipt_heuristic_device device = ipt__heuristic_device_of(&problem->limits);
    size_t ignored[2];
    ipt_result result;
    if ((int)desc->heuristic < 0 || desc->heuristic >= IPT__HEURISTIC_COUNT)
        return ipt__fail(IPT_ERROR_INVALID_ARGUMENT, "heuristic is %d, which is unknown", (int)desc->heuristic);
    if (!desc->heuristic)
        return IPT_SUCCESS;
    if (desc->tile_m || desc->tile_n)
        return ipt__fail(IPT_ERROR_INVALID_ARGUMENT, "heuristic is %s, which chooses tiles: set %s to 0",
                         ipt_heuristic_string(desc->heuristic), desc->tile_m ? "tile_m" : "tile_n");
    if ((desc->heuristic == IPT_HEURISTIC_ALGORITHM_5) != !!(desc->flags & IPT_PAD))
        return ipt__fail(IPT_ERROR_INVALID_ARGUMENT, "heuristic is %s, %s", ipt_heuristic_string(desc->heuristic),
                         desc->flags & IPT_PAD ? "and flags has IPT_PAD, which algorithm-5 alone serves"
                                               : "which pads: add IPT_PAD to flags");
    if (!desc->rows || !desc->cols || !desc->elem_size || desc->heuristic == IPT_HEURISTIC_ALGORITHM_5)
        return IPT_SUCCESS; /* reported later; ipt__problem_choose_padding chooses */
    result = ipt_heuristic_tiles(desc->heuristic, &device, desc->rows, desc->cols, desc->elem_size, &desc->tile_m,
                                 &desc->tile_n, &ignored[0], &ignored[1]);
    if (result)
        return ipt__fail_further(result, desc->method == IPT_METHOD_PPOPP_2014  ? "method is ppopp-2014"
                                         : desc->method == IPT_METHOD_TPDS_2016 ? "method is tpds-2016"
                                                                                : "heuristic");
    if (!desc->sequence)
        desc->sequence =
            ipt_heuristic_sequence(&device, desc->rows, desc->cols, desc->elem_size, desc->tile_m, desc->tile_n);
    return IPT_SUCCESS;
}

/* Chooses missing tiles, padding and sequence for IPT_PAD: algorithms 5 and 3 of Gomez-Luna et al., TPDS 2016. */
static ipt_result ipt__problem_choose_padding(ipt__problem *problem)
{
    ipt_plan_desc *const desc = &problem->desc;
    const ipt_heuristic_device device = ipt__heuristic_device_of(&problem->limits);
    /* The sides whose factors the sequence uses; the other sides get no padding. */
    const int uses_m = desc->sequence != IPT_SEQUENCE_1 && desc->sequence != IPT_SEQUENCE_2_2;
    const int uses_n = desc->sequence != IPT_SEQUENCE_1 && desc->sequence != IPT_SEQUENCE_2_1;
    size_t side, ignored, more;
    ipt_result result = IPT_SUCCESS;
    side = desc->rows; /* the heuristic treats each side alone */
    if (uses_m && desc->tile_m)
        problem->pad_rows = (desc->tile_m - side % desc->tile_m) % desc->tile_m;
    else if (uses_m)
        result = ipt_heuristic_tiles(IPT_HEURISTIC_ALGORITHM_5, &device, side, side, desc->elem_size, &desc->tile_m,
                                     &ignored, &problem->pad_rows, &more);
    side = desc->cols;
    if (uses_n && desc->tile_n)
        problem->pad_cols = (desc->tile_n - side % desc->tile_n) % desc->tile_n;
    else if (uses_n && !result)
        result = ipt_heuristic_tiles(IPT_HEURISTIC_ALGORITHM_5, &device, side, side, desc->elem_size, &desc->tile_n,
                                     &ignored, &problem->pad_cols, &more);
    if (result)
        return ipt__fail_further(result, uses_m && !desc->tile_m ? "flags has IPT_PAD, and tile_m is 0"
                                                                 : "flags has IPT_PAD, and tile_n is 0");
    if (desc->rows + problem->pad_rows < desc->rows || desc->cols + problem->pad_cols < desc->cols)
        return ipt__fail(IPT_ERROR_INVALID_ARGUMENT, "rows = %zu and cols = %zu with their padding overflow",
                         desc->rows, desc->cols);
    desc->rows += problem->pad_rows;
    desc->cols += problem->pad_cols;
    if (desc->sequence == IPT_SEQUENCE_AUTO)
        desc->sequence =
            ipt_heuristic_sequence(&device, desc->rows, desc->cols, desc->elem_size, desc->tile_m, desc->tile_n);
    return IPT_SUCCESS;
}
#endif

/* Checks the move. */
static ipt_result ipt__check_move(const ipt_plan_desc *desc)
{
    const int formats = ipt__has_formats(desc);
    if ((int)desc->move < 0 || desc->move >= IPT__MOVE_COUNT)
        return ipt__fail(IPT_ERROR_INVALID_ARGUMENT, "move is %d, which is unknown", (int)desc->move);
    if (desc->move != IPT_MOVE_TRANSPOSE && (formats || ipt__pads(desc)))
        return ipt__fail(IPT_ERROR_INVALID_ARGUMENT, "move is %s, which %s cannot have: use transpose",
                         ipt_move_string(desc->move), formats ? "formats" : "IPT_PAD");
    if (!ipt__moves[desc->move].transposed &&
        (desc->sequence != IPT_SEQUENCE_AUTO || desc->tile_m || desc->tile_n || ipt__forces_kernels(desc)))
        return ipt__fail(IPT_ERROR_INVALID_ARGUMENT,
                         "move is %s, which transposes nothing: sequence, tiles and kernels cannot be forced",
                         ipt_move_string(desc->move));
    return IPT_SUCCESS;
}

/* Checks the expression's argument. */
static ipt_result ipt__check_expression_argument(const ipt_plan_desc *desc)
{
    const size_t bytes = desc->expression_argument_type ? ipt__type_bytes(desc->expression_argument_type) : 0;
    if (!desc->expression_argument && desc->expression_argument_type)
        return ipt__fail(IPT_ERROR_INVALID_ARGUMENT,
                         "expression_argument is NULL: expression_argument_type is '%s', so it needs a value",
                         desc->expression_argument_type);
    if (!desc->expression_argument)
        return IPT_SUCCESS;
    if (!desc->expression)
        return ipt__fail(IPT_ERROR_INVALID_ARGUMENT, "expression is NULL: expression_argument needs an expression");
    if (!bytes || bytes > sizeof(cl_ulong[2]))
        return ipt__fail(IPT_ERROR_INVALID_ARGUMENT,
                         "expression_argument_type is '%s': the name of a number or a vector of OpenCL C with at most "
                         "16 bytes is needed, such as float or uchar4",
                         desc->expression_argument_type);
    return IPT_SUCCESS;
}

/* Checks the places that the expression names. */
static ipt_result ipt__check_places(const ipt_plan_desc *desc)
{
    const unsigned named = ipt__named_places(desc), axes = desc->rank ? desc->rank : 2;
    const char *const without = ipt__has_formats(desc)    ? "formats"
                                : ipt__pads(desc)         ? "IPT_PAD"
                                : axes > IPT__KERNEL_AXES ? "arrays of more than 8 axes"
                                                          : NULL;
    if (named && without)
        return ipt__fail(IPT_ERROR_UNSUPPORTED, "expression is '%s': it names places (i, j, b), which %s do not have",
                         desc->expression, without);
    if (named >> (axes + 1))
        return ipt__fail(IPT_ERROR_INVALID_ARGUMENT,
                         "expression is '%s': it names an axis that the result lacks: i0 to i%u exist",
                         desc->expression, axes - 1);
    return ipt__check_expression_argument(desc);
}

/* Checks the expression, its type and its argument. */
static ipt_result ipt__check_expression(const ipt_plan_desc *desc)
{
    const char *at, *escapes;
    if (!desc->expression != !desc->expression_type)
        return ipt__fail(IPT_ERROR_INVALID_ARGUMENT, "%s is NULL: set expression and expression_type both or neither",
                         desc->expression ? "expression_type" : "expression");
    if (!desc->expression)
        return ipt__check_expression_argument(desc);
    if (desc->elem_size > 16 || (desc->elem_size & (desc->elem_size - 1)))
        return ipt__fail(IPT_ERROR_INVALID_ARGUMENT,
                         "expression: elem_size is %zu, but elements of 1, 2, 4, 8 or 16 bytes are needed",
                         desc->elem_size);
    for (at = desc->expression_type; *at; ++at)
        if (!((*at >= 'a' && *at <= 'z') || (*at >= '0' && *at <= '9' && at != desc->expression_type)))
            break;
    if (*at || at == desc->expression_type || at[-1] == '3') /* vectors of 3 have an undefined component */
        return ipt__fail(
            IPT_ERROR_INVALID_ARGUMENT,
            "expression_type is '%s': the name of one of OpenCL C's types is needed, such as float or uchar4",
            desc->expression_type);
    for (at = desc->expression; *at && ((unsigned char)*at >= 32 || *at == '\t'); ++at)
        ;
    if (*at || at == desc->expression)
        return ipt__fail(IPT_ERROR_INVALID_ARGUMENT,
                         "expression is '%s': one line of OpenCL C without control characters is needed",
                         desc->expression);
    escapes = ipt__text_escapes(desc->expression, 1);
    if (escapes)
        return ipt__fail(IPT_ERROR_INVALID_ARGUMENT, "expression is '%s': it has %s", desc->expression, escapes);
    return ipt__check_places(desc);
}

#ifdef IPT_NO_HOST_STREAMING
/* Refuses what needs a matrix in parts. */
static ipt_result ipt__check_streaming(const ipt_plan_desc *desc)
{
    if (desc->host == IPT_HOST_OVERLAPPED || desc->host == IPT_HOST_STAGES)
        return ipt__fail(IPT_ERROR_UNSUPPORTED,
                         "host is %s: ipt was compiled with IPT_NO_HOST_STREAMING; auto, synchronous and shared remain",
                         ipt_host_string(desc->host));
    if (desc->max_device_memory)
        return ipt__fail(IPT_ERROR_UNSUPPORTED,
                         "max_device_memory is %zu: ipt was compiled with IPT_NO_HOST_STREAMING, and cuts no matrix",
                         desc->max_device_memory);
    return IPT_SUCCESS;
}
#endif

/* Refuses what needs dense rows. */
static ipt_result ipt__check_dense_only(const ipt_plan_desc *desc)
{
    const int exchange = desc->sequence == IPT_SEQUENCE_EXCHANGE;
    const char *const what =
        ipt__has_formats(desc)                                               ? "formats"
        : ipt__pads(desc)                                                    ? "IPT_PAD"
        : desc->max_host_memory                                              ? "storages (max_host_memory)"
        : ipt__forces_kernels(desc)                                          ? "kernels of the papers"
        : desc->host == IPT_HOST_OVERLAPPED || desc->host == IPT_HOST_STAGES ? "host matrices in parts"
        : !exchange && (desc->tile_m || desc->tile_n) ? "tile_m and tile_n of sequences other than exchange"
        : desc->sequence != IPT_SEQUENCE_AUTO && desc->sequence != IPT_SEQUENCE_SQUARE && !exchange
            ? "forced sequences other than square and exchange"
            : NULL;
    if (what)
        return ipt__fail(IPT_ERROR_UNSUPPORTED,
                         "row_pitch is %zu and row_pitch_out is %zu: %s need rows without gaps, so set both to 0",
                         desc->row_pitch, desc->row_pitch_out, what);
    if (desc->sequence == IPT_SEQUENCE_SQUARE && desc->row_pitch != desc->row_pitch_out)
        return ipt__fail(IPT_ERROR_UNSUPPORTED,
                         "row_pitch is %zu and row_pitch_out is %zu: sequence square needs equal ones; "
                         "IPT_SEQUENCE_EXCHANGE serves others",
                         desc->row_pitch, desc->row_pitch_out);
    return IPT_SUCCESS;
}

/* Checks one pitch. *pitch becomes the distance of rows of `row` bytes: 0 stands for no gaps. *extent: bytes from the
 * first element of all rows to the last one's end. */
static ipt_result ipt__check_pitch(const char *name, size_t rows, size_t row, size_t *pitch, size_t unit,
                                   size_t *extent)
{
    if (!*pitch)
        *pitch = row;
    if (*pitch < row)
        return ipt__fail(IPT_ERROR_INVALID_ARGUMENT, "%s = %zu is less than a row of %zu bytes", name, *pitch, row);
    if (*pitch % unit)
        return ipt__fail(IPT_ERROR_INVALID_ARGUMENT,
                         "%s = %zu is not a multiple of %zu, the largest power of two in elem_size", name, *pitch,
                         unit);
    *extent = rows;
    if (!ipt__multiply(extent, *pitch))
        return ipt__fail(IPT_ERROR_INVALID_ARGUMENT, "%s = %zu: the size of %zu such rows overflows", name, *pitch,
                         rows);
    *extent -= *pitch - row;
    return IPT_SUCCESS;
}

/* Checks the pitches of a problem whose matrix_bytes and unit_bytes are known, and completes its batch_stride. Pitches
 * of rows without gaps become 0. */
static ipt_result ipt__problem_take_pitches(ipt__problem *problem)
{
    ipt_plan_desc *const desc = &problem->desc;
    const int transposed = ipt__moves[desc->move].transposed;
    const size_t rows[2] = {desc->rows, transposed ? desc->cols : desc->rows};
    const size_t row[2] = {desc->cols * desc->elem_size, (transposed ? desc->rows : desc->cols) * desc->elem_size};
    size_t *const pitches[2] = {&desc->row_pitch, &desc->row_pitch_out};
    size_t extents[2], stride = 0;
    int i;
    for (i = 0; i < 2; ++i) {
        const ipt_result result = ipt__check_pitch(i ? "row_pitch_out" : "row_pitch", rows[i], row[i], pitches[i],
                                                   problem->unit_bytes, &extents[i]);
        if (result)
            return result;
        stride = ipt__max(stride, rows[i] * *pitches[i]);
    }
    if (!desc->batch_stride)
        desc->batch_stride = stride;
    problem->extent_bytes = ipt__max(extents[0], extents[1]);
    for (i = 0; i < 2; ++i)
        if (rows[i] == 1)
            *pitches[i] = row[i]; /* a single row has no distance to another */
    problem->pitched = *pitches[0] != row[0] || *pitches[1] != row[1];
    problem->source_row = *pitches[0] / problem->unit_bytes;
    problem->result_row = *pitches[1] / problem->unit_bytes;
    problem->source_span = extents[0]; /* of one matrix yet */
    problem->result_span = extents[1];
    if (!problem->pitched) {
        *pitches[0] = *pitches[1] = 0;
        return IPT_SUCCESS;
    }
    return ipt__check_dense_only(desc);
}

/* Checks the distance of matrices, and computes the size of the batch. */
static ipt_result ipt__problem_take_stride(ipt__problem *problem)
{
    const ipt_plan_desc *const desc = &problem->desc;
    const size_t extent = problem->extent_bytes;
    size_t before;
    if (desc->batch_stride < extent)
        return ipt__fail(IPT_ERROR_INVALID_ARGUMENT, "batch_stride = %zu is less than a matrix of %zu bytes",
                         desc->batch_stride, extent);
    if (desc->batch_stride % problem->unit_bytes)
        return ipt__fail(IPT_ERROR_INVALID_ARGUMENT, "batch_stride = %zu is not a multiple of %zu", desc->batch_stride,
                         problem->unit_bytes);
    problem->span_bytes = desc->batch;
    if (!ipt__multiply(&problem->span_bytes, desc->batch_stride))
        return ipt__fail(IPT_ERROR_INVALID_ARGUMENT,
                         "batch = %zu and batch_stride = %zu: the size of all matrices overflows", desc->batch,
                         desc->batch_stride);
    before = problem->span_bytes - desc->batch_stride;
    problem->span_bytes = before + extent;
    problem->source_span += before;
    problem->result_span += before;
    return IPT_SUCCESS;
}

/* Checks a desc and completes it to a problem: padding, batch, pitches, stride, sizes, unit of unit_most bytes at most.
 */
static IPT__RARE ipt_result ipt__problem_fill(const ipt__limits *limits, const ipt_plan_desc *given, size_t unit_most,
                                              ipt__problem *problem)
{
    ipt_plan_desc *const desc = &problem->desc;
    const unsigned known_flags = IPT_MEASURE | IPT_CACHE_ONLY | IPT_NO_COOPERATIVE | IPT_PAD | IPT_OUT_OF_PLACE;
    size_t bytes;
    ipt_result result;
    memset(problem, 0, sizeof *problem);
    problem->desc = *given;
    problem->limits = *limits;
    if (!desc->rows || !desc->cols || !desc->elem_size)
        return ipt__fail(IPT_ERROR_INVALID_ARGUMENT, "%s is 0",
                         !desc->rows   ? "rows"
                         : !desc->cols ? "cols"
                                       : "elem_size");
    if (ipt__has_strides(desc))
        return IPT__VIEWS ? ipt__fail(IPT_ERROR_INVALID_ARGUMENT,
                                      "strides or strides_out is set: matrices have row_pitch and row_pitch_out")
                          : ipt__fail(IPT_ERROR_UNSUPPORTED, "strides: ipt was compiled with IPT_NO_VIEWS");
    if (desc->flags & ~known_flags)
        return ipt__fail(IPT_ERROR_INVALID_ARGUMENT, "flags is 0x%x: 0x%x is unknown", desc->flags,
                         desc->flags & ~known_flags);
    if ((int)desc->host < 0 || desc->host >= IPT__HOST_COUNT)
        return ipt__fail(IPT_ERROR_INVALID_ARGUMENT, "host is %d, which is unknown", (int)desc->host);
    if (desc->host_queues > IPT__HOST_PARTS_MOST)
        return ipt__fail(IPT_ERROR_INVALID_ARGUMENT, "host_queues is %zu: %d at most", desc->host_queues,
                         (int)IPT__HOST_PARTS_MOST);
    if ((int)desc->sequence < 0 || desc->sequence >= IPT__SEQUENCE_COUNT)
        return ipt__fail(IPT_ERROR_INVALID_ARGUMENT, "sequence is %d, which is unknown", (int)desc->sequence);
    if (IPT__PAPERS && (desc->from == IPT_FORMAT_ASTA || desc->to == IPT_FORMAT_ASTA) && !desc->tile_n)
        desc->tile_n = 1;
#ifndef IPT_NO_PAPERS
    result = ipt__desc_expand_method(desc);
    if (!result)
        result = ipt__problem_choose_tiles(problem);
    if (result)
        return result;
#endif
    result = ipt__check_papers(desc);
    if (!result)
        result = ipt__check_move(desc);
    if (desc->expression_argument && !desc->expression_argument_type)
        desc->expression_argument_type = desc->expression_type;
    if (!result)
        result = ipt__check_expression(desc);
#ifndef IPT_NO_PAPERS
    if (!result && (desc->from || desc->to))
        ipt__plan_simplify_formats(desc);
    if (!result && (desc->flags & IPT_PAD))
        result = ipt__problem_choose_padding(problem);
#endif
#ifdef IPT_NO_HOST_STREAMING
    if (!result)
        result = ipt__check_streaming(desc);
#endif
    if (result)
        return result;
    if (!desc->batch)
        desc->batch = 1;
    bytes = desc->rows;
    if (!ipt__multiply(&bytes, desc->cols) || !ipt__multiply(&bytes, desc->elem_size))
        return ipt__fail(IPT_ERROR_INVALID_ARGUMENT, "rows = %zu, cols = %zu, elem_size = %zu: the product overflows",
                         desc->rows, desc->cols, desc->elem_size);
    problem->matrix_bytes = bytes;
    problem->unit_bytes = ipt__min(ipt__unit_bytes(desc->elem_size), unit_most);
    problem->element_units = desc->elem_size / problem->unit_bytes;
    result = ipt__problem_take_pitches(problem);
    if (!result)
        result = ipt__problem_take_stride(problem);
    if (result)
        return result;
    if (desc->elem_size / problem->unit_bytes > 0xffffffffu)
        return ipt__fail(IPT_ERROR_UNSUPPORTED, "elem_size = %zu: elements of fewer than 2^32 units of %zu bytes work",
                         desc->elem_size, problem->unit_bytes);
    return IPT_SUCCESS;
}

static ipt_result ipt__check_out_of_place(const ipt_plan *plan)
{
    const ipt_plan_desc *const desc = &plan->problem.desc;
    if (ipt__has_formats(desc) || desc->move || ipt__pads(desc))
        return ipt__fail(IPT_ERROR_UNSUPPORTED,
                         "plans for formats, for moves other than transpose or with IPT_PAD only work in place");
    return IPT_SUCCESS;
}
