/* Walks small shapes through every kind of stage and checks each result: short enough for slow, careful devices such as
 * oclgrind. Usage: walk cpu|gpu; the kernels of the one or the other kind of device, whatever this one is. */
#define _POSIX_C_SOURCE 200809L
#define CL_TARGET_OPENCL_VERSION 120
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>
#include <string.h>

static cl_device_type told_type;

static cl_int CL_API_CALL told_clGetDeviceInfo(cl_device_id device, cl_device_info name, size_t bytes, void *value,
                                               size_t *needed)
{
    const cl_int error = clGetDeviceInfo(device, name, bytes, value, needed);
    if (!error && name == CL_DEVICE_TYPE && value)
        memcpy(value, &told_type, sizeof told_type);
    return error;
}

#define clGetDeviceInfo told_clGetDeviceInfo
#define IPT_STATIC
#define IPT_IMPLEMENTATION
#include "ipt.h"

static int cases, failures;

/* Where the element of row and col has to be in the result. */
static size_t place(const ipt_plan_desc *desc, size_t row, size_t col)
{
    const ipt__move *const move = &ipt__moves[desc->move];
    const size_t rows = move->transposed ? desc->cols : desc->rows, cols = move->transposed ? desc->rows : desc->cols;
    const size_t to_row = move->transposed ? col : row, to_col = move->transposed ? row : col;
    return (move->reversed_rows ? rows - 1 - to_row : to_row) * cols +
           (move->reversed_cols ? cols - 1 - to_col : to_col);
}

static void walk(ipt_context *context, const ipt_plan_desc *desc)
{
    const size_t batch = desc->batch ? desc->batch : 1;
    unsigned char *before, *data;
    ipt_plan *plan = NULL;
    ipt_result result = ipt_plan_create(context, desc, &plan);
    size_t pad_rows, pad_cols, bytes, i, m, row, col, wrong = 0;
    ipt_plan_padding(plan, &pad_rows, &pad_cols);
    bytes = (desc->rows + pad_rows) * (desc->cols + pad_cols) * desc->elem_size;
    before = (unsigned char *)malloc(batch * bytes);
    data = (unsigned char *)malloc(batch * bytes);
    for (i = 0; i < batch * bytes; ++i)
        data[i] = before[i] = (unsigned char)((i * 2654435761u) >> 13);
    if (!result)
        result = ipt_plan_execute_host(plan, data);
    for (m = 0; m < batch && !result; ++m)
        for (row = 0; row < desc->rows; ++row)
            for (col = 0; col < desc->cols; ++col) {
                unsigned char *const element = before + m * bytes + (row * desc->cols + col) * desc->elem_size;
                if (desc->expression) /* which is "x ^ 1" of an uchar */
                    *element ^= 1;
                wrong +=
                    memcmp(data + m * bytes + place(desc, row, col) * desc->elem_size, element, desc->elem_size) != 0;
            }
    if (result || wrong) {
        ++failures;
        printf("%s, %lu wrong, %s", ipt_result_string(result), (unsigned long)wrong,
               result ? ipt_context_error(NULL) : ipt_plan_describe(plan));
    }
    ++cases;
    ipt_plan_destroy(plan);
    free(before);
    free(data);
}

/* Every kernel that only reproduces the seeds, or does so by a variant of another. */
static void walk_seeds(ipt_context *context)
{
    static const size_t elem_sizes[] = {4, 3};
    size_t e;
    int v;
    for (e = 0; e < sizeof elem_sizes / sizeof *elem_sizes; ++e)
        for (v = IPT_VARIANT_AUTO; v < IPT__VARIANT_COUNT; ++v) {
            const ipt__family family = ipt__variants[v].family;
            ipt_plan_desc desc;
            memset(&desc, 0, sizeof desc);
            desc.elem_size = elem_sizes[e];
            desc.batch = 2;
            desc.rows = family == IPT__FAMILY_PAD || !v ? 23 : 24;
            desc.cols = family == IPT__FAMILY_PAD || !v ? 37 : 36;
            desc.tile_m = 4;
            desc.tile_n = 6;
            desc.flags = family == IPT__FAMILY_PAD || !v ? IPT_PAD : 0;
            desc.sequence = IPT_SEQUENCE_3_1;
            if (family == IPT__FAMILY_SWAP) {
                desc.sequence = IPT_SEQUENCE_SQUARE;
                desc.cols = desc.rows = 37;
                desc.tile_m = desc.tile_n = 0;
            }
            desc.flag_spread = (size_t)1 << v % 6;
            if (family == IPT__FAMILY_PTTWAC_100 || family == IPT__FAMILY_P_IPT)
                desc.variant_100 = (ipt_variant)v;
            else if (family != IPT__FAMILY_PAD)
                desc.variant_010 = (ipt_variant)v;
            else
                desc.variant_pad = (ipt_variant)v;
            walk(context, &desc);
        }
}

/* Rotations and reflections, with an expression and without. */
static void walk_moves(ipt_context *context)
{
    static const size_t sides[][2] = {{13, 7}, {37, 37}, {40, 23}};
    size_t s;
    int move;
    for (s = 0; s < sizeof sides / sizeof *sides; ++s)
        for (move = IPT_MOVE_TRANSPOSE; move < IPT__MOVE_COUNT; ++move) {
            ipt_plan_desc desc;
            memset(&desc, 0, sizeof desc);
            desc.rows = sides[s][0];
            desc.cols = sides[s][1];
            desc.batch = 2;
            desc.move = (ipt_move)move;
            desc.elem_size = s == 1 ? 8 : 12;
            walk(context, &desc);
            desc.elem_size = 1;
            desc.expression = "x ^ 1";
            desc.expression_type = "uchar";
            walk(context, &desc);
        }
}

int main(int count, char **arguments)
{
    static const struct {
        size_t rows, cols, tile_m, tile_n, batch;
        ipt_sequence sequence;
    } shapes[] = {
        {13, 7, 0, 0, 5, IPT_SEQUENCE_AUTO},      {40, 33, 0, 0, 1, IPT_SEQUENCE_AUTO},
        {37, 37, 0, 0, 2, IPT_SEQUENCE_SQUARE},   {37, 23, 5, 0, 2, IPT_SEQUENCE_TWO_PASS},
        {23, 37, 0, 5, 2, IPT_SEQUENCE_TWO_PASS}, {36, 23, 6, 0, 1, IPT_SEQUENCE_TWO_PASS},
        {23, 36, 0, 6, 1, IPT_SEQUENCE_TWO_PASS}, {11, 17, 0, 0, 2, IPT_SEQUENCE_1},
        {24, 36, 4, 6, 1, IPT_SEQUENCE_3_1},      {24, 36, 4, 6, 2, IPT_SEQUENCE_4_3},
    };
    static const size_t elem_sizes[] = {1, 3, 4, 16};
    ipt_context_desc descs[2];
    size_t c, s, e;
    if (count != 2 || (strcmp(arguments[1], "cpu") && strcmp(arguments[1], "gpu"))) {
        fprintf(stderr, "usage: walk cpu|gpu\n");
        return 2;
    }
    told_type = strcmp(arguments[1], "cpu") ? CL_DEVICE_TYPE_GPU : CL_DEVICE_TYPE_CPU;
    memset(descs, 0, sizeof descs);
    descs[1].max_local_memory = 1024; /* so that instances and panels do not fit */
    for (c = 0; c < 2; ++c) {
        ipt_context *context;
        if (ipt_context_create(&descs[c], &context)) {
            printf("%s\n", ipt_context_error(NULL));
            return 1;
        }
        for (e = 0; e < sizeof elem_sizes / sizeof *elem_sizes; ++e)
            for (s = 0; s < sizeof shapes / sizeof *shapes; ++s) {
                ipt_plan_desc desc;
                memset(&desc, 0, sizeof desc);
                desc.rows = shapes[s].rows;
                desc.cols = shapes[s].cols;
                desc.elem_size = elem_sizes[e];
                desc.batch = shapes[s].batch;
                desc.sequence = shapes[s].sequence;
                desc.tile_m = shapes[s].tile_m;
                desc.tile_n = shapes[s].tile_n;
                walk(context, &desc);
            }
        walk_moves(context);
        if (c == 0)
            walk_seeds(context);
        ipt_context_destroy(context);
    }
    printf("%d passed, %d failed\n", cases - failures, failures);
    return failures != 0;
}
