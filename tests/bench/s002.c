/* The measurements behind the figures of Gomez-Luna et al. 2016 that `ipt bench` has no options for. A time counts only
 * if the results are right: see gen/tool/bench/bench_measure.h. Without arguments, prints its usage. */
#define _POSIX_C_SOURCE 200809L
#define IPT_IMPLEMENTATION
#include "ipt.h"
#include "gen/tool/bench/bench_measure.h"
#include "gen/tool/bench/bench_shapes.h"
#include "gen/tool/bench/bench_show.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    ROUNDS = 3,
    REPEAT = 3, /* executions of a forced plan in a round: some plans are a hundred times slower than a copy */
    DIVISORS = 2000,
    FEWEST_EXECUTIONS = 8,       /* repetitions of a pad kernel */
    SEED_LOCAL_BYTES = 48 << 10, /* local memory of the paper's devices; on a CPU the size is arbitrary */
    WIDEST = 64,                 /* work-items for each element of a super-element */
    PAD_TILE = 50                /* sides of a padded matrix are multiples of this */
};

static const char usage[] =
    "usage: s002 draw COUNT SEED LOW HIGH LOW2 HIGH2     random shapes, one side from each range\n"
    "       s002 tiles ELEM_SIZE LOCAL_BYTES SHAPES      what the heuristics choose; needs no device\n"
    "       s002 plans ELEM_SIZE SHAPES                  memory that plans take\n"
    "       s002 ways ELEM_SIZE SHAPES WAY...            speed, by: auto, the name of a heuristic, sequences\n"
    "                                                    (all of them, with the tiles of algorithm 2), brute=N (so\n"
    "                                                    many pairs of divisors at most, with algorithm 3's sequence)\n"
    "       s002 super-elements BYTES LENGTH...          speed of transposition 100! alone, by kernel; odd lengths\n"
    "       s002 pad ROWS...                             speed of padding and unpadding a column alone\n"
    "The table goes to standard output as CSV.\n";

/* The resources of a measuring command. */
typedef struct session {
    ipt_context *context;
    bench_device device;
    ipt_heuristic_device limits;
    size_t elem_size;
    int code; /* exit code of the program: 1 after an error */
} session;

static void complain(session *session, const char *what, const char *why)
{
    fprintf(stderr, "s002: %s: %s\n", what, why);
    session->code = 1;
}

static void open_session(session *session, size_t elem_size)
{
    char message[BENCH_MESSAGE_SIZE];
    cl_ulong local = 0;
    cl_device_id id;
    memset(session, 0, sizeof *session);
    session->elem_size = elem_size;
    if (ipt_context_create(NULL, &session->context)) {
        fprintf(stderr, "s002: %s\n", ipt_context_error(NULL));
        exit(1);
    }
    if (!bench_device_open(&session->device, session->context, elem_size, message)) {
        fprintf(stderr, "s002: %s\n", message);
        exit(1);
    }
    id = ipt_context_cl_device(session->context);
    clGetDeviceInfo(id, CL_DEVICE_LOCAL_MEM_SIZE, sizeof local, &local, NULL);
    clGetDeviceInfo(id, CL_DEVICE_MAX_WORK_GROUP_SIZE, sizeof session->limits.max_group, &session->limits.max_group,
                    NULL);
    session->limits.local_bytes = bench_smaller((size_t)local, SEED_LOCAL_BYTES);
    session->limits.simd_width = 32;
}

static int close_session(session *session)
{
    bench_device_close(&session->device);
    ipt_context_destroy(session->context);
    return session->code;
}

static size_t number(const char *text)
{
    char *end;
    const unsigned long long value = strtoull(text, &end, 10);
    if (end == text || *end || !value) {
        fprintf(stderr, "s002: '%s' is not a number from 1 on\n", text);
        exit(2);
    }
    return (size_t)value;
}

static bench_shapes read_shapes(const char *path, size_t elem_size)
{
    char message[BENCH_MESSAGE_SIZE];
    bench_shapes shapes = {NULL, 0, 0};
    if (!bench_read_shapes(path, elem_size, &shapes, message)) {
        fprintf(stderr, "s002: %s\n", message);
        exit(1);
    }
    return shapes;
}

/* ------------------------------------------------------------------------------------------------------------------ */
/* Without measuring */
/* ------------------------------------------------------------------------------------------------------------------ */

static int draw(char **arguments)
{
    char message[BENCH_MESSAGE_SIZE];
    bench_shapes shapes = {NULL, 0, 0};
    bench_drawing drawing = {0};
    size_t i;
    drawing.count = number(arguments[0]);
    drawing.seed = number(arguments[1]);
    drawing.multiple = 1;
    drawing.bytes.high = SIZE_MAX;
    for (i = 0; i < 2; ++i) {
        drawing.sides[i].low = number(arguments[2 + 2 * i]);
        drawing.sides[i].high = number(arguments[3 + 2 * i]);
    }
    if (!bench_draw_shapes(&drawing, 1, &shapes, message)) {
        fprintf(stderr, "s002: %s\n", message);
        return 1;
    }
    for (i = 0; i < shapes.count; ++i)
        printf("%zu %zu\n", shapes.items[i].rows, shapes.items[i].cols);
    free(shapes.items);
    return 0;
}

/* Prints one heuristic's line. Its tiles must divide the matrix. */
static int show_tiles(ipt_heuristic heuristic, const ipt_heuristic_device *limits, bench_shape shape, size_t elem_size)
{
    size_t m, n, pad_rows, pad_cols;
    if (ipt_heuristic_tiles(heuristic, limits, shape.rows, shape.cols, elem_size, &m, &n, &pad_rows, &pad_cols))
        return 0; /* the heuristic has no such tiles */
    printf("%zu,%zu,%zu,%s,%zu,%zu,%zu,%zu,%d\n", shape.rows, shape.cols, elem_size, ipt_heuristic_string(heuristic), m,
           n, pad_rows, pad_cols, m * n * elem_size < limits->local_bytes);
    return (shape.rows + pad_rows) % m != 0 || (shape.cols + pad_cols) % n != 0;
}

static int tiles(char **arguments)
{
    const size_t elem_size = number(arguments[0]);
    const ipt_heuristic_device limits = {number(arguments[1]), 1024, 32, 0, 0};
    bench_shapes shapes = read_shapes(arguments[2], elem_size);
    int code = 0, heuristic;
    size_t i;
    puts("rows,cols,elem_size,heuristic,tile_m,tile_n,pad_rows,pad_cols,fits");
    for (i = 0; i < shapes.count; ++i)
        for (heuristic = 1; heuristic < IPT__HEURISTIC_COUNT; ++heuristic)
            if (show_tiles((ipt_heuristic)heuristic, &limits, shapes.items[i], elem_size)) {
                fprintf(stderr, "s002: %s: its tiles do not divide %zu x %zu\n",
                        ipt_heuristic_string((ipt_heuristic)heuristic), shapes.items[i].rows, shapes.items[i].cols);
                code = 1;
            }
    free(shapes.items);
    return code;
}

/* A plan's extra memory, in percent of the matrix. */
static void show_plan(session *session, bench_shape shape, const char *way, unsigned flags)
{
    const size_t bytes = shape.rows * shape.cols * session->elem_size;
    ipt_plan_desc desc = {0};
    ipt_plan *plan;
    size_t rows, cols;
    desc.rows = shape.rows;
    desc.cols = shape.cols;
    desc.elem_size = session->elem_size;
    desc.flags = flags;
    if (ipt_plan_create(session->context, &desc, &plan)) {
        complain(session, way, ipt_context_error(NULL));
        return;
    }
    ipt_plan_padding(plan, &rows, &cols);
    printf("%zu,%zu,%zu,%s,%zu,%zu,%zu,%.6f\n", shape.rows, shape.cols, session->elem_size, way, rows, cols,
           ipt_plan_workspace(plan), 100.0 * (double)ipt_plan_workspace(plan) / (double)bytes);
    ipt_plan_destroy(plan);
}

static int plans(char **arguments)
{
    session session;
    bench_shapes shapes;
    size_t i;
    open_session(&session, number(arguments[0]));
    shapes = read_shapes(arguments[1], session.elem_size);
    puts("rows,cols,elem_size,way,pad_rows,pad_cols,workspace,workspace_percent");
    for (i = 0; i < shapes.count; ++i) {
        show_plan(&session, shapes.items[i], "auto", 0);
        show_plan(&session, shapes.items[i], "algorithm-5", IPT_PAD);
    }
    free(shapes.items);
    return close_session(&session);
}

/* ------------------------------------------------------------------------------------------------------------------ */
/* Ways to transpose a shape */
/* ------------------------------------------------------------------------------------------------------------------ */

/* The choice of a method for a shape. */
typedef struct choice {
    const char *way;
    ipt_sequence sequence;
    size_t m, n;
    unsigned flags;    /* of the plan: IPT_PAD or none */
    ipt_method method; /* with kernels and padding as published; the fields above say what it chooses */
} choice;

/* Sequences 2.1 and 2.2 cut one side only, and sequence 1 cuts none. */
static ipt_plan_desc describe(const session *session, bench_shape shape, const choice *choice)
{
    ipt_plan_desc desc = {0};
    desc.rows = shape.rows;
    desc.cols = shape.cols;
    desc.elem_size = session->elem_size;
    if (choice->sequence == IPT_SEQUENCE_AUTO)
        return desc;
    /* With tiles of one element, the paper's method needs a flag bit for each element: 3 % of 4-byte elements. */
    desc.max_workspace = shape.rows * shape.cols * session->elem_size / 16 + (1 << 20);
    desc.method = choice->method;
    if (choice->method)
        return desc;
    desc.sequence = choice->sequence;
    desc.flags = choice->flags;
    desc.tile_m = choice->sequence == IPT_SEQUENCE_2_2 || choice->sequence == IPT_SEQUENCE_1 ? 0 : choice->m;
    desc.tile_n = choice->sequence == IPT_SEQUENCE_2_1 || choice->sequence == IPT_SEQUENCE_1 ? 0 : choice->n;
    return desc;
}

/* The columns that all speeds have. */
static void show_speeds(const bench_result *result)
{
    const bool copied = result->verified && result->copy_seconds > 0;
    bench_csv_number(stdout, result->verified, bench_speed(result, result->seconds));
    bench_csv_number(stdout, copied, bench_speed(result, result->copy_seconds));
    bench_csv_number(stdout, copied, bench_ratio(result->seconds, result->copy_seconds));
    printf(",%d\n", result->verified);
    fflush(stdout);
}

/* Measures one plan and writes its line, with the chosen tiles, even if the sequence ignores one side. A refused plan
 * has no line, except ipt's own. */
static void measure_way(session *session, bench_shape shape, const choice *choice)
{
    const bool own = choice->sequence == IPT_SEQUENCE_AUTO;
    const ipt_plan_desc desc = describe(session, shape, choice);
    char message[BENCH_MESSAGE_SIZE], name[120];
    bench_result result = {0};
    size_t pad_rows, pad_cols;
    ipt_plan *plan;
    ipt_result made;
    result.rows = shape.rows;
    result.cols = shape.cols;
    result.elem_size = session->elem_size;
    result.batch = 1;
    result.bytes = shape.rows * shape.cols * session->elem_size;
    result.rounds = ROUNDS;
    result.repeat = own ? 0 : REPEAT;
    snprintf(name, sizeof name, "%zux%zu:%zu, %s, sequence %s, tiles %zu x %zu", shape.rows, shape.cols,
             session->elem_size, choice->way, ipt_sequence_string(choice->sequence), choice->m, choice->n);
    made = ipt_plan_create(session->context, &desc, &plan);
    if (made) {
        if (own || made != IPT_ERROR_UNSUPPORTED)
            complain(session, name, ipt_context_error(NULL));
        return;
    }
    if (!bench_measure(&session->device, plan, &result, message))
        complain(session, name, message);
    ipt_plan_padding(plan, &pad_rows, &pad_cols);
    ipt_plan_destroy(plan);
    printf("%zu,%zu,%zu,%s,%s,%zu,%zu,%zu,%zu,%d", shape.rows, shape.cols, session->elem_size, choice->way,
           ipt_sequence_string(choice->sequence), choice->m, choice->n, pad_rows, pad_cols,
           choice->m * choice->n * session->elem_size < session->limits.local_bytes);
    show_speeds(&result);
}

/* Measures a heuristic's tiles with the sequence that algorithm 3 chooses, by ipt's kernels or by those of a method
 * that has this heuristic. */
static void by_heuristic(session *session, ipt_heuristic heuristic, ipt_method method, bench_shape shape)
{
    choice choice = {
        method ? ipt_method_string(method) : ipt_heuristic_string(heuristic), IPT_SEQUENCE_AUTO, 0, 0, 0, method};
    size_t pad_rows, pad_cols;
    if (ipt_heuristic_tiles(heuristic, &session->limits, shape.rows, shape.cols, session->elem_size, &choice.m,
                            &choice.n, &pad_rows, &pad_cols))
        return;
    choice.sequence = ipt_heuristic_sequence(&session->limits, shape.rows + pad_rows, shape.cols + pad_cols,
                                             session->elem_size, choice.m, choice.n);
    choice.flags = pad_rows || pad_cols ? IPT_PAD : 0;
    measure_way(session, shape, &choice);
}

static void by_sequences(session *session, bench_shape shape)
{
    choice choice = {"sequences", IPT_SEQUENCE_AUTO, 0, 0, 0, IPT_METHOD_AUTO};
    size_t pad_rows, pad_cols;
    int sequence;
    if (ipt_heuristic_tiles(IPT_HEURISTIC_ALGORITHM_2, &session->limits, shape.rows, shape.cols, session->elem_size,
                            &choice.m, &choice.n, &pad_rows, &pad_cols)) {
        complain(session, "algorithm 2", ipt_context_error(NULL));
        return;
    }
    for (sequence = IPT_SEQUENCE_1; sequence <= IPT_SEQUENCE_4_3; ++sequence) {
        choice.sequence = (ipt_sequence)sequence;
        measure_way(session, shape, &choice);
    }
}

/* Measures pairs of divisors whose tile fits in local memory, once per sequence; a sample if there are too many. */
static void by_brute_force(session *session, bench_shape shape, size_t most)
{
    static size_t of_rows[DIVISORS], of_cols[DIVISORS];
    const size_t m_count = ipt_heuristic_divisors(shape.rows, of_rows, DIVISORS);
    const size_t n_count = ipt_heuristic_divisors(shape.cols, of_cols, DIVISORS);
    size_t found = 0, seen = 0, i, j;
    int turn;
    for (turn = 0; turn < 2; ++turn) /* counts, then measures */
        for (i = 0; i < m_count; ++i)
            for (j = 0; j < n_count; ++j) {
                choice choice = {"brute-force", IPT_SEQUENCE_AUTO, of_rows[i], of_cols[j], 0, IPT_METHOD_AUTO};
                choice.sequence = ipt_heuristic_sequence(&session->limits, shape.rows, shape.cols, session->elem_size,
                                                         choice.m, choice.n);
                if (choice.m * choice.n >= session->limits.local_bytes / session->elem_size ||
                    (choice.sequence == IPT_SEQUENCE_2_1 && (j > 0 || choice.m == 1)) ||
                    (choice.sequence == IPT_SEQUENCE_2_2 && (i > 0 || choice.n == 1)))
                    continue;
                if (turn == 0)
                    ++found;
                else if (found <= most || seen * most / found != (seen + 1) * most / found)
                    measure_way(session, shape, &choice);
                seen += (size_t)turn;
            }
}

static int ways(int count, char **arguments)
{
    session session;
    bench_shapes shapes;
    const choice own = {"auto", IPT_SEQUENCE_AUTO, 0, 0, 0, IPT_METHOD_AUTO};
    size_t i;
    int way, heuristic;
    open_session(&session, number(arguments[0]));
    shapes = read_shapes(arguments[1], session.elem_size);
    puts("rows,cols,elem_size,way,sequence,tile_m,tile_n,pad_rows,pad_cols,fits,gb_per_s,copy_gb_per_s,ratio,verified");
    for (i = 0; i < shapes.count; ++i)
        for (way = 2; way < count; ++way) {
            for (heuristic = 1; heuristic < IPT__HEURISTIC_COUNT; ++heuristic)
                if (!strcmp(arguments[way], ipt_heuristic_string((ipt_heuristic)heuristic)))
                    by_heuristic(&session, (ipt_heuristic)heuristic, IPT_METHOD_AUTO, shapes.items[i]);
            if (!strcmp(arguments[way], "auto"))
                measure_way(&session, shapes.items[i], &own);
            else if (!strcmp(arguments[way], "tpds-2016"))
                by_heuristic(&session, IPT_HEURISTIC_ALGORITHM_2, IPT_METHOD_TPDS_2016, shapes.items[i]);
            else if (!strcmp(arguments[way], "tpds-2016-padded"))
                by_heuristic(&session, IPT_HEURISTIC_ALGORITHM_5, IPT_METHOD_TPDS_2016_PADDED, shapes.items[i]);
            else if (!strcmp(arguments[way], "sequences"))
                by_sequences(&session, shapes.items[i]);
            else if (!strncmp(arguments[way], "brute=", 6))
                by_brute_force(&session, shapes.items[i], number(arguments[way] + 6));
        }
    free(shapes.items);
    return close_session(&session);
}

/* ------------------------------------------------------------------------------------------------------------------ */
/* Transposition 100! alone */
/* ------------------------------------------------------------------------------------------------------------------ */

typedef struct mover {
    ipt_variant variant; /* AUTO: ipt's own kernel */
    const char *tiling;
    size_t lanes; /* work-items per super-element */
} mover;

static const mover movers[] = {{IPT_VARIANT_AUTO, "own", 0},
                               {IPT_VARIANT_PTTWAC_100_VIRTUAL_8, "local", 8},
                               {IPT_VARIANT_PTTWAC_100_VIRTUAL_16, "local", 16},
                               {IPT_VARIANT_PTTWAC_100_SIMD, "local", 32},
                               {IPT_VARIANT_PTTWAC_100_GROUP, "local", 128},
                               {IPT_VARIANT_PTTWAC_100_GROUP, "local", 256},
                               {IPT_VARIANT_PTTWAC_100_GROUP, "local", 512},
                               {IPT_VARIANT_PTTWAC_100_GROUP, "local", 1024},
                               {IPT_VARIANT_PTTWAC_100_VIRTUAL_8_REGISTERS, "registers", 8},
                               {IPT_VARIANT_PTTWAC_100_VIRTUAL_16_REGISTERS, "registers", 16},
                               {IPT_VARIANT_PTTWAC_100_SIMD_REGISTERS, "registers", 32},
                               {IPT_VARIANT_PTTWAC_100_GROUP_REGISTERS, "registers", 256}};

/* Measures a grid of super-elements, as one stage. Changes the planner's limits of the device to select the work-group
 * size. */
static void move_super_elements(session *session, const mover *mover, size_t length, size_t bytes)
{
    ipt__limits *const limits = &session->context->limits;
    const size_t group_size = limits->group_size;
    char message[BENCH_MESSAGE_SIZE], name[100];
    size_t count = bytes / (length * sizeof(cl_uint)), side = 1;
    bench_result result = {0};
    ipt_plan_desc desc = {0};
    ipt_plan *plan;
    ipt_result made;
    while ((side + 1) * (side + 1) <= count)
        ++side;
    result.rows = desc.rows = side + side / 4 + 2;
    result.cols = desc.cols = count / desc.rows;
    result.elem_size = desc.elem_size = length * sizeof(cl_uint);
    result.batch = 1;
    result.bytes = desc.rows * desc.cols * desc.elem_size;
    result.rounds = ROUNDS;
    result.repeat = mover->variant ? REPEAT : 0;
    desc.sequence = IPT_SEQUENCE_1;
    desc.variant_100 = mover->variant;
    desc.max_workspace = bytes / 16 + (1 << 20);
    snprintf(name, sizeof name, "%s, %zu work-items, super-elements of %zu", ipt_variant_string(mover->variant),
             mover->lanes, length);
    if (mover->lanes > 32)
        limits->group_size = mover->lanes;
    made =
        mover->lanes > limits->largest_group ? IPT_ERROR_UNSUPPORTED : ipt_plan_create(session->context, &desc, &plan);
    limits->group_size = group_size;
    if (made) {
        if (made == IPT_ERROR_UNSUPPORTED || made == IPT_ERROR_BUILD)
            fprintf(stderr, "s002: %s: this device has no such kernel\n", name);
        else
            complain(session, name, ipt_context_error(NULL));
        return;
    }
    if (!bench_measure(&session->device, plan, &result, message))
        complain(session, name, message);
    ipt_plan_destroy(plan);
    printf("%zu,%s,%zu,%zu,%zu", length, mover->tiling, mover->lanes, desc.rows, desc.cols);
    show_speeds(&result);
}

static int super_elements(int count, char **arguments)
{
    session session;
    const size_t bytes = number(arguments[0]);
    size_t i;
    int length;
    open_session(&session, sizeof(cl_uint));
    puts("length,tiling,work_items,rows,cols,gb_per_s,copy_gb_per_s,ratio,verified");
    for (length = 1; length < count; ++length) {
        if (number(arguments[length]) % 2 == 0) /* ipt would move longer units: the paper moves words */
            complain(&session, arguments[length], "an even length");
        for (i = 0; i < sizeof movers / sizeof *movers; ++i)
            if (movers[i].lanes <= WIDEST * number(arguments[length]))
                move_super_elements(&session, &movers[i], number(arguments[length]), bytes);
    }
    return close_session(&session);
}

/* ------------------------------------------------------------------------------------------------------------------ */
/* Padding alone */
/* ------------------------------------------------------------------------------------------------------------------ */

/* Word k of the filled buffer is bench_checker's value_of(seed, k). */
static const char pad_checker[] =
    "__kernel void check_pad(__global const uint *matrix, ulong seed, ulong rows, ulong cols, ulong from, ulong to,\n"
    "                        __global uint *wrong)\n"
    "{\n"
    "    for (ulong e = get_global_id(0); e < rows * cols; e += get_global_size(0))\n"
    "        if (matrix[e / cols * to + e % cols] != (uint)value_of(seed, e / cols * from + e % cols))\n"
    "            atomic_inc(wrong);\n"
    "}\n";

/* Moves rows of `cols` elements from a distance of `from` to a distance of `to` elements. */
typedef struct pad_move {
    cl_ulong rows, cols, from, to;
} pad_move;

static cl_kernel build_pad_checker(session *session)
{
    const char *const texts[] = {bench_checker, pad_checker};
    cl_device_id id = ipt_context_cl_device(session->context);
    cl_int status;
    cl_program program =
        clCreateProgramWithSource(ipt_context_cl_context(session->context), 2, (const char **)texts, NULL, &status);
    cl_kernel kernel = NULL;
    if (!status)
        status = clBuildProgram(program, 1, &id, "-DITEM=uint", NULL, NULL);
    if (!status)
        kernel = clCreateKernel(program, "check_pad", &status);
    if (program)
        clReleaseProgram(program);
    if (status) {
        fprintf(stderr, "s002: building the kernel that verifies failed with OpenCL error %d\n", status);
        exit(1);
    }
    return kernel;
}

/* Fills the first buffer, moves its rows once and counts the wrong words. */
static bool verify_pad(session *session, bench_work *work, cl_kernel checker, const pad_move *move, char *message)
{
    cl_command_queue queue = session->device.queue;
    cl_mem matrix = work->buffers[0], counter = session->device.counter;
    cl_uint wrong = 0;
    cl_ulong seed;
    cl_int status;
    work->next = 0;
    if (!bench_fill(&session->device, matrix, (size_t)(move->rows * move->from) * sizeof(cl_uint), &seed, message) ||
        !bench_enqueue(work, false, message))
        return false;
    status = clEnqueueWriteBuffer(queue, counter, CL_TRUE, 0, sizeof wrong, &wrong, 0, NULL, NULL);
    status |= clSetKernelArg(checker, 0, sizeof matrix, &matrix);
    status |= clSetKernelArg(checker, 1, sizeof seed, &seed);
    status |= clSetKernelArg(checker, 2, sizeof move->rows, &move->rows);
    status |= clSetKernelArg(checker, 3, sizeof move->cols, &move->cols);
    status |= clSetKernelArg(checker, 4, sizeof move->from, &move->from);
    status |= clSetKernelArg(checker, 5, sizeof move->to, &move->to);
    status |= clSetKernelArg(checker, 6, sizeof counter, &counter);
    if (!status)
        status = bench_launch(&session->device, checker, (size_t)(move->rows * move->cols));
    if (!status)
        status = clEnqueueReadBuffer(queue, counter, CL_TRUE, 0, sizeof wrong, &wrong, 0, NULL, NULL);
    return bench_opencl(status, "checking a padded matrix", message) &&
           (wrong == 0 || bench_fail(message, "the result is WRONG: %zu elements", wrong));
}

/* A plan that executes one stage only: the first one, padding, or the last one, unpadding. NULL: there is none. */
static ipt_plan *plan_pad(session *session, const pad_move *move, ipt_variant variant)
{
    const bool up = move->to > move->from;
    ipt_plan_desc desc = {0};
    ipt_plan *plan;
    int stage;
    desc.rows = (size_t)(up ? move->rows : move->cols);
    desc.cols = (size_t)(up ? move->cols : move->rows);
    desc.elem_size = sizeof(cl_uint);
    desc.flags = IPT_PAD;
    desc.sequence = IPT_SEQUENCE_3_1;
    desc.tile_m = desc.tile_n = PAD_TILE;
    desc.variant_pad = variant;
    if (ipt_plan_create(session->context, &desc, &plan)) {
        complain(session, "padding", ipt_context_error(NULL));
        return NULL;
    }
    stage = up ? 0 : plan->device->layout.stage_count - 1;
    if (plan->device->launches.stage_count != plan->device->layout.stage_count ||
        plan->device->layout.stages[stage].kind != IPT__STAGE_PAD) {
        complain(session, "padding", "the plan has no such stage");
        ipt_plan_destroy(plan);
        return NULL;
    }
    plan->device->launches.stages[0] = plan->device->launches.stages[stage]; /* executions read only the launches */
    plan->device->launches.stage_count = 1;
    return plan;
}

static void measure_pad(session *session, cl_kernel checker, const pad_move *move, ipt_variant variant)
{
    const bool up = move->to > move->from;
    char message[BENCH_MESSAGE_SIZE] = "";
    bench_result result = {0};
    bench_work work = {0};
    size_t i;
    work.plan = plan_pad(session, move, variant);
    if (!work.plan)
        return;
    work.device = &session->device;
    result.bytes = work.bytes = (size_t)(move->rows * move->cols) * sizeof(cl_uint);
    work.room = (size_t)(move->rows * (move->cols + 1)) * sizeof(cl_uint);
    result.rounds = ROUNDS;
    result.repeat = FEWEST_EXECUTIONS;
    result.verified = bench_take_buffers(&work, message) && verify_pad(session, &work, checker, move, message) &&
                      bench_time_all(&work, &result, message) && verify_pad(session, &work, checker, move, message);
    if (!result.verified)
        complain(session, up ? "padding" : "unpadding", message);
    for (i = 0; i < work.buffer_count; ++i)
        clReleaseMemObject(work.buffers[i]);
    ipt_plan_destroy(work.plan);
    printf("%zu,%s,%s", (size_t)move->rows, up ? "pad" : "unpad",
           variant == IPT_VARIANT_AUTO ? "neighbours" : "chained");
    show_speeds(&result);
}

static int pad(int count, char **arguments)
{
    session session;
    cl_kernel checker;
    int i;
    open_session(&session, sizeof(cl_uint));
    checker = build_pad_checker(&session);
    puts("rows,direction,kernel,gb_per_s,copy_gb_per_s,ratio,verified");
    for (i = 0; i < count; ++i) {
        const cl_ulong rows = number(arguments[i]) / PAD_TILE * PAD_TILE;
        const pad_move up = {rows, rows - 1, rows - 1, rows}, down = {rows, rows - 1, rows, rows - 1};
        measure_pad(&session, checker, &up, IPT_VARIANT_AUTO);
        measure_pad(&session, checker, &up, IPT_VARIANT_PAD_CHAINED);
        measure_pad(&session, checker, &down, IPT_VARIANT_AUTO);
        measure_pad(&session, checker, &down, IPT_VARIANT_PAD_CHAINED);
    }
    clReleaseKernel(checker);
    return close_session(&session);
}

int main(int count, char **arguments)
{
    const char *const command = count > 1 ? arguments[1] : "";
    if (!strcmp(command, "draw") && count == 8)
        return draw(arguments + 2);
    if (!strcmp(command, "tiles") && count == 5)
        return tiles(arguments + 2);
    if (!strcmp(command, "plans") && count == 4)
        return plans(arguments + 2);
    if (!strcmp(command, "ways") && count > 4)
        return ways(count - 2, arguments + 2);
    if (!strcmp(command, "super-elements") && count > 3)
        return super_elements(count - 2, arguments + 2);
    if (!strcmp(command, "pad") && count > 2)
        return pad(count - 2, arguments + 2);
    fputs(usage, stderr);
    return 2;
}
