/* The native driver's ready actions: the texts of gen/kernels/elements, compiled as C for shapes that are known at run
 * time. */
#ifdef IPT__NATIVE_ACTIONS

#define IPT__NATIVE_ACT(text, unit) IPT__NATIVE_NAME(ipt__native_##text, IPT__NATIVE_elements, unit, 0, 0)
#define IPT__NATIVE_ACTS(text)                                                                                         \
    {IPT__NATIVE_ACT(text, 2), IPT__NATIVE_ACT(text, 4), IPT__NATIVE_ACT(text, 8), IPT__NATIVE_ACT(text, 16)},

/* The action of a text after the first one, for float2, float, double and double2. */
static ipt__native_act *ipt__native_act_of(int text, size_t type)
{
    static ipt__native_act *const acts[][4] = {IPT_ACTION_BODY_LIST(IPT__NATIVE_ACTS)};
    return text < 1 ? NULL : acts[text - 1][type];
}

/* Completes the distances of an operand's components, `step` apart in the buffer. */
static void ipt__native_set_steps(const ipt__native_batch *batch, ipt__native_element *element, size_t number,
                                  size_t step)
{
    element->col[number] = (ptrdiff_t)step;
    element->row[number] = (ptrdiff_t)(step * element->cols[number]);
    if (number < 2 && batch->is_turned[number]) {
        const cl_uint rows = element->rows[number];
        const ptrdiff_t row = element->row[number];
        element->rows[number] = element->cols[number];
        element->cols[number] = rows;
        element->row[number] = element->col[number];
        element->col[number] = row;
    }
    if (number < 2 && batch->is_upper) { /* the last rows come first, so that the triangle is lower */
        const ptrdiff_t last = (ptrdiff_t)element->rows[number] - 1;
        element->first[number] = last * (element->row[number] + (number ? 0 : element->col[number]));
        element->row[number] = -element->row[number];
        element->col[number] = number ? element->col[number] : -element->col[number];
    }
}

/* Runs a part of a batch. */
static void ipt__native_run_batch(const ipt__native_launch *launch, cl_uint group, void *local)
{
    const ipt__native_batch *const batch = launch->batch;
    ipt__elements_arguments arguments;
    cl_ulong bases[IPT_MAX_OPERANDS], strides[IPT_MAX_OPERANDS], argument[4];
    ipt__native_element element = batch->element;
    size_t i, each, e, end;
    (void)local;
    memcpy(&arguments, launch->arguments, sizeof arguments);
    memcpy(bases, (const char *)&arguments + offsetof(ipt__elements_arguments, base0), sizeof bases);
    memcpy(strides, (const char *)&arguments + offsetof(ipt__elements_arguments, stride0), sizeof strides);
    memcpy(argument, (const char *)&arguments + offsetof(ipt__elements_arguments, argument0), sizeof argument);
    element.argument = argument;
    for (i = 0; i < batch->operand_count; ++i)
        ipt__native_set_steps(batch, &element, batch->operands[i].number,
                              batch->operands[i].layout == IPT_LAYOUT_ELEMENTS ? 1
                              : batch->operands[i].layout == IPT_LAYOUT_PLANES ? (size_t)strides[i]
                                                                               : batch->operands[i].width);
    each = ipt__ceil_divide((size_t)arguments.count, launch->call.groups);
    end = ipt__min((size_t)arguments.count, (group + (size_t)1) * each);
    for (e = group * each; e < end; ++e) {
        for (i = 0; i < batch->operand_count; ++i) {
            const size_t number = batch->operands[i].number, width = batch->operands[i].width,
                         stride = (size_t)strides[i],
                         place = batch->operands[i].layout == IPT_LAYOUT_ELEMENTS ? e * stride
                                 : batch->operands[i].layout == IPT_LAYOUT_PLANES ? e
                                                                                  : e / width * stride + e % width;
            element.at[number] = launch->memories[i] + ((ptrdiff_t)(bases[i] + place) + element.first[number]) *
                                                           (ptrdiff_t)batch->operands[i].bytes;
        }
        batch->acts[0](&element);
        if (batch->acts[1])
            batch->acts[1](&element);
    }
}

/* Makes a batch from a desc that is right; without a ready action, it has no function. Only batch plans call this, so
 * that compilers drop all actions from a program without such plans. */
static void ipt__native_batch_make(ipt__native_batch *batch, const ipt_batch_desc *desc)
{
    static const char names[] = "ABCxyrpi"; /* as numbered in gen/kernels/native.h */
    const ipt__ready *const ready = &ipt__readies[desc->ready];
    const char *const type = desc->operands[0].type;
    const int is_complex = strchr(type, '2') != NULL, is_double = *type == 'd';
    size_t i;
    memset(batch, 0, sizeof *batch);
    if (!desc->ready)
        return;
    batch->run = ipt__native_run_batch;
    for (i = 0; i < 2; ++i)
        batch->acts[i] = ipt__native_act_of(ready->texts[i], is_double ? 2u + is_complex : 1u - is_complex);
    batch->element.scales = desc->argument_type != NULL;
    batch->element.unit = (desc->options & IPT_UNIT) != 0;
    batch->element.sign_a = desc->options & IPT_CONJUGATE_A ? -1 : 1;
    batch->element.sign_b = desc->options & IPT_CONJUGATE_B ? -1 : 1;
    batch->is_turned[0] = (desc->options & IPT_TRANSPOSE_A) != 0;
    batch->is_turned[1] = (desc->options & IPT_TRANSPOSE_B) != 0;
    batch->is_upper = desc->ready == IPT_ACTION_TRSM && !(desc->options & IPT_UPPER) != !batch->is_turned[0];
    batch->operand_count = desc->operand_count;
    for (i = 0; i < desc->operand_count; ++i) {
        const ipt_batch_operand *const given = &desc->operands[i];
        const size_t number = (size_t)(strchr(names, *given->name) - names);
        batch->operands[i].number = number;
        batch->operands[i].bytes = ipt__type_bytes(given->type);
        batch->operands[i].width = given->width;
        batch->operands[i].layout = (int)given->layout;
        batch->element.rows[number] = (cl_uint)ipt__max(1, given->rows);
        batch->element.cols[number] = (cl_uint)ipt__max(1, given->cols);
        if (strchr("Cyr", *given->name))
            batch->element.reads = (given->access & IPT_READ) != 0;
    }
}

#endif
