/* Writes the specialised text of every kernel for every class of parameters into a folder, for clang's lint. */
#define IPT_STATIC
#define IPT_IMPLEMENTATION
#include "ipt.h"

static void write_source(const char *folder, ipt__kernel_id id, const ipt__params *params, int number)
{
    static char text[1 << 17];
    char path[512];
    ipt__text out = {text, sizeof text, 0};
    FILE *file;
    ipt__source_print(&out, id, params);
    /* The names mark kernels that need OpenCL C 2.0, and kernels with PTX. */
    snprintf(path, sizeof path, "%s/%s_%03d%s.cl", folder, ipt__kernels[id].name, number,
             params->memory_model == 3 || params->sub_group >= 2                                ? "_later"
             : params->memory_model == 1 || params->memory_model == 2 || params->sub_group == 1 ? "_ptx"
                                                                                                : "");
    file = fopen(path, "w");
    if (out.length >= sizeof text || !file || fputs(text, file) < 0 || fclose(file)) {
        fprintf(stderr, "%s could not be written\n", path);
        exit(1);
    }
}

/* Writes the texts of batch plans: ready-made actions in every model, with every layout. Returns their number. */
static int write_batches(const char *folder)
{
    static const ipt_batch_operand products[][3] = {{{"A", "float", 4, 6, IPT_READ, IPT_LAYOUT_ELEMENTS, 0, 0},
                                                     {"B", "float", 6, 4, IPT_READ, IPT_LAYOUT_PLANES, 0, 0},
                                                     {"C", "float", 4, 4, IPT_READ_WRITE, IPT_LAYOUT_BLOCKS, 0, 3}},
                                                    {{"A", "double2", 4, 6, IPT_READ, IPT_LAYOUT_BLOCKS, 0, 3},
                                                     {"B", "double2", 6, 4, IPT_READ, IPT_LAYOUT_ELEMENTS, 0, 0},
                                                     {"C", "double2", 4, 4, IPT_WRITE, IPT_LAYOUT_PLANES, 0, 0}}};
    static const ipt_batch_operand systems[][4] = {{{"A", "double", 4, 4, IPT_READ_WRITE, IPT_LAYOUT_ELEMENTS, 0, 0},
                                                    {"B", "double", 4, 1, IPT_READ_WRITE, IPT_LAYOUT_PLANES, 0, 0},
                                                    {"pivots", "int", 4, 1, IPT_READ_WRITE, IPT_LAYOUT_BLOCKS, 0, 3},
                                                    {"info", "int", 1, 1, IPT_WRITE, IPT_LAYOUT_ELEMENTS, 0, 0}},
                                                   {{"A", "float2", 4, 4, IPT_READ_WRITE, IPT_LAYOUT_BLOCKS, 0, 3},
                                                    {"B", "float2", 4, 3, IPT_READ_WRITE, IPT_LAYOUT_ELEMENTS, 0, 0},
                                                    {"pivots", "int", 4, 1, IPT_READ_WRITE, IPT_LAYOUT_PLANES, 0, 0},
                                                    {"info", "int", 1, 1, IPT_WRITE, IPT_LAYOUT_PLANES, 0, 0}}};
    static const ipt_batch_operand sums[2][3] = {{{"x", "float", 9, 1, IPT_READ, IPT_LAYOUT_ELEMENTS, 0, 0},
                                                  {"y", "float", 9, 1, IPT_READ, IPT_LAYOUT_PLANES, 0, 0},
                                                  {"r", "float", 1, 1, IPT_WRITE, IPT_LAYOUT_ELEMENTS, 0, 0}},
                                                 {{"x", "double2", 9, 1, IPT_READ, IPT_LAYOUT_BLOCKS, 0, 3},
                                                  {"y", "double2", 9, 1, IPT_READ, IPT_LAYOUT_PLANES, 0, 0},
                                                  {"r", "double2", 1, 1, IPT_WRITE, IPT_LAYOUT_ELEMENTS, 0, 0}}};
    static ipt_context context;
    static const char *const arguments[] = {NULL, NULL, "float2", "double4"};
    int action, type, model, sub_group, number = 0;
    context.allocator.alloc = ipt__default_alloc;
    context.allocator.free = ipt__default_free;
    context.has_half = context.has_double = 1;
    context.limits.group_size = context.limits.largest_group = 256;
    context.limits.local_memory = 1 << 16;
    for (action = 1; action < IPT__ACTION_COUNT; ++action)
        for (type = 0; type < (ipt__readies[action].scaled ? 4 : 2); ++type)
            for (model = 1; model < IPT__MODEL_COUNT; ++model)
                for (sub_group = 0; sub_group < 2; ++sub_group) {
                    ipt_batch_desc desc;
                    ipt_batch batch;
                    ipt__params params;
                    char *operands, *text, why[160];
                    memset(&desc, 0, sizeof desc);
                    memset(&batch, 0, sizeof batch);
                    memset(&params, 0, sizeof params);
                    desc.count = 100;
                    desc.ready = (ipt_action)action;
                    const ipt_batch_operand *const offered = action == IPT_ACTION_DOT    ? sums[type % 2]
                                                             : action == IPT_ACTION_GEMM ? products[type % 2]
                                                                                         : systems[type % 2];
                    ipt_batch_operand chosen[4];
                    const size_t most = offered == systems[type % 2] ? 4 : 3;
                    if (action == IPT_ACTION_GEMV)
                        continue; /* has the operands of gemm */
                    for (size_t k = 0; k < most; ++k)
                        if (ipt__spec_has(ipt__action_operands((ipt_action)action), offered[k].name))
                            chosen[desc.operand_count++] = offered[k];
                    desc.operands = chosen;
                    desc.argument_type = arguments[type];
                    if (desc.argument_type) /* beta scales the old result */
                        chosen[desc.operand_count - 1].access = IPT_READ_WRITE;
                    desc.model = (ipt_model)model;
                    batch.context = &context;
                    if (ipt__batch_take(&batch, &desc) ||
                        !ipt__batch_choose(&batch.problem, &desc, &batch.choice, why) ||
                        ipt__batch_texts(&context.allocator, &batch.problem, &desc, IPT__BATCH_OPERANDS, &operands,
                                         &text)) {
                        fprintf(stderr, "%s: %s\n", ipt_action_string((ipt_action)action), ipt_context_error(NULL));
                        exit(1);
                    }
                    params = ipt__batch_params(&batch, operands, text);
                    params.sub_group = (cl_uint)sub_group;
                    write_source(folder, IPT__KERNEL_elements, &params, number++);
                    free(operands);
                    free(text);
                    free(batch.names);
                }
    return number;
}

/* The values of one parameter, one for each class, ended by 0. */
typedef struct classes {
    cl_uint values[6];
} classes;

int main(int count, char **arguments)
{
    static const classes of_field[] = {
        [IPT__PARAM_unit_bytes] = {{1, 2, 4, 8, 16}},
        [IPT__PARAM_element_units] = {{1, 0}},
        [IPT__PARAM_group_size] = {{1, 32, 256}},
        [IPT__PARAM_tile] = {{2, 64}},
        [IPT__PARAM_lanes] = {{1, 32}},
        [IPT__PARAM_bank_padding] = {{1, 0}},
        [IPT__PARAM_registers] = {{0, 8}},
        [IPT__PARAM_flag_spread] = {{1, 4}},
        [IPT__PARAM_flag_layout] = {{0, 1, 2}},
        [IPT__PARAM_chained] = {{1, 0}},
        [IPT__PARAM_index_bits] = {{32, 64}},
        [IPT__PARAM_tall] = {{1, 0}},
        [IPT__PARAM_narrow] = {{1, 0}},
        [IPT__PARAM_inner] = {{1, 0}},
        [IPT__PARAM_memory_model] = {{2, 1, 0, 3}},
        [IPT__PARAM_sub_group] = {{1, 0, 2, 3}},
        [IPT__PARAM_piece_vectors] = {{32, 64}},
        [IPT__PARAM_chains] = {{1, 4}},
        [IPT__PARAM_apply] = {{2, 0}}, /* 1 differs only by the missing argument */
        [IPT__PARAM_local_bytes] = {{4096, 65536}},
        [IPT__PARAM_groups_at_once] = {{4, 5}},
        [IPT__PARAM_reversed] = {{0, 3}},
        [IPT__PARAM_by_words] = {{0, 1}},
        [IPT__PARAM_pitched] = {{0, 1}},
        [IPT__PARAM_hold] = {{0}}, /* of batches: see write_batches */
        [IPT__PARAM_axes] = {{0, 2, 4}},
        [IPT__PARAM_places] = {{0, 4}},
        [IPT__PARAM_crossing] = {{0, 1, 2, 3, 4, 5}},
        [IPT__PARAM_channels] = {{1, 3}},
        [IPT__PARAM_interleaved] = {{0}},
    };
    static const char *const types[] = {"uchar", "half", "uint", "ulong", "uint4"};
    int id, number, written = 0;
    if (count != 2) {
        fprintf(stderr, "usage: lint_sources FOLDER\n");
        return 2;
    }
    written = write_batches(arguments[1]);
    for (id = 0; id < IPT__KERNEL_COUNT; ++id) {
        if (id == IPT__KERNEL_elements)
            continue;
        /* Steps through all combinations of classes. Skips combinations that differ only in parameters that the kernel
         * does not use. */
        size_t wheel[IPT__PARAM_COUNT] = {0}, field;
        number = 0;
        do {
            ipt__params params;
            int first = 1;
            params.operands = params.action = NULL;
#define LINT_PICK(name, macro, minimum, maximum, meaning)                                                              \
    params.name = of_field[IPT__PARAM_##name].values[wheel[IPT__PARAM_##name]];                                        \
    if (!(ipt__kernels[id].uses & IPT__USES_##name) && wheel[IPT__PARAM_##name])                                       \
        first = 0;
            IPT_PARAM_LIST(LINT_PICK)
            /* Expressions are for elements of one unit. Skips classes without effect on expressions. */
            if ((ipt__kernels[id].uses & IPT__USES_apply) && params.apply &&
                (wheel[IPT__PARAM_index_bits] || wheel[IPT__PARAM_local_bytes] || wheel[IPT__PARAM_tile] ||
                 (params.group_size == 1 && id != IPT__KERNEL_waves && id != IPT__KERNEL_thin)))
                first = 0;
            if (params.apply && (ipt__kernels[id].uses & IPT__USES_element_units) && !params.element_units)
                first = 0;
            if (params.pitched && (params.narrow || wheel[IPT__PARAM_index_bits] || wheel[IPT__PARAM_local_bytes]))
                first = 0;
            if (params.by_words && (params.unit_bytes > 2 || !params.tall || params.narrow || params.group_size == 1 ||
                                    wheel[IPT__PARAM_index_bits]))
                first = 0;
            if (id == IPT__KERNEL_panel && params.registers &&
                (!params.tall || params.narrow || params.group_size != 256 || params.apply ||
                 params.memory_model == 1 || wheel[IPT__PARAM_index_bits] || wheel[IPT__PARAM_local_bytes]))
                first = 0;
            /* Only units of up to a word cross in registers; only crossings 2 and 3 have several channels. Crossing 5
             * is for units below a word. */
            if (id == IPT__KERNEL_box &&
                ((params.crossing == 2 || params.crossing == 3) != (params.channels > 1) ||
                 (params.crossing && params.crossing < 4 && params.unit_bytes > 4) ||
                 (params.crossing == 5 && params.unit_bytes > 2) || params.group_size != 256 || !params.axes ||
                 wheel[IPT__PARAM_local_bytes] || wheel[IPT__PARAM_groups_at_once]))
                first = 0;
            if (params.places && !params.apply)
                first = 0;
            /* Permuted columns have no gaps, are not reversed and move one by one. */
            if (id == IPT__KERNEL_exchange && params.axes &&
                (params.axes > 2 || params.by_words || params.pitched || params.reversed || params.group_size == 1 ||
                 wheel[IPT__PARAM_local_bytes] || wheel[IPT__PARAM_groups_at_once]))
                first = 0;
            /* A worker is one work-item or the work-group. */
            if (id == IPT__KERNEL_views &&
                (!params.registers || !params.axes || (params.lanes > 1 && params.group_size != params.lanes)))
                first = 0;
            /* For CPUs. */
            if (id == IPT__KERNEL_waves && (params.group_size != 1 || params.memory_model != 3 || params.axes > 2))
                first = 0;
            if (id == IPT__KERNEL_thin && (params.group_size != 1 || params.channels == 1))
                first = 0;
            params.expression = !params.apply ? "x" : params.places ? "i + j + i3 + b > 0 ? x : a" : "x + a";
            params.expression_type = types[params.unit_bytes > 8   ? 4
                                           : params.unit_bytes > 4 ? 3
                                                                   : params.unit_bytes / 2];
            params.argument_type = params.apply ? params.expression_type : NULL;
            /* The memory model and the sub-groups both use PTX, or neither does. */
            if ((ipt__kernels[id].uses & IPT__USES_sub_group) &&
                (params.sub_group == 1) != (params.memory_model == 1 || params.memory_model == 2))
                first = 0;
            /* With PTX, a work-group is four sub-groups of 32. */
            if (id == IPT__KERNEL_chains && params.sub_group == 1) {
                if (params.lanes != 32 || params.group_size != 256)
                    first = 0;
                params.group_size = 128;
            }
            /* Without newer PTX, virtual units share a work-group of 32; an inner transposition needs local memory. */
            if (id == IPT__KERNEL_shuffle) {
                const int together = params.group_size != params.lanes && params.memory_model != 2;
                if ((together && (params.group_size != 32 || wheel[IPT__PARAM_index_bits])) ||
                    (params.inner && params.registers))
                    first = 0;
                params.lanes = together ? 8 : params.lanes;
            }
            if (first && params.lanes <= params.group_size) {
                if (!ipt__params_reduce(&params, ipt__kernels[id].uses))
                    return 1;
                write_source(arguments[1], (ipt__kernel_id)id, &params, number++);
            }
            for (field = 0; field < IPT__PARAM_COUNT; ++field) {
                const size_t classes_of = !(ipt__kernels[id].uses >> field & 1)                               ? 1
                                          : field == IPT__PARAM_crossing                                      ? 6
                                          : field == IPT__PARAM_unit_bytes                                    ? 5
                                          : field == IPT__PARAM_memory_model || field == IPT__PARAM_sub_group ? 4
                                          : field == IPT__PARAM_group_size || field == IPT__PARAM_flag_layout ? 3
                                                                                                              : 2;
                if (++wheel[field] < classes_of)
                    break;
                wheel[field] = 0;
            }
            if (field == IPT__PARAM_COUNT)
                break;
        } while (1);
        written += number;
        if (!number)
            return 1;
    }
    printf("%d\n", written);
    return 0;
}
