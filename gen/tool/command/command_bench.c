/* ipt bench */
#include "commands.h"
#include "gen/tool/bench/bench_blas.h"
#include "gen/tool/bench/bench_measure.h"
#include "gen/tool/bench/bench_show.h"
#include "gen/tool/base/messages.h"
#include "options.h"
#include "gen/tool/bench/plot.h"
#include "gen/tool/base/setup.h"
#include "shape_list.h"
#include "gen/tool/bench/startup.h"
#include "gen/tool/base/system.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_standard_output(const char *path)
{
    return path != NULL && strcmp(path, "-") == 0;
}

/* Refuses options that --startup does not support. Returns 0 or the exit code. */
static int check_startup(const arguments *given)
{
    static const char *const known[] = {"--startup", "--startup-step", "--device", "--seed", "--rounds", "--csv"};
    if (given->operand == NULL) {
        return message_usage_error("--startup needs ROWSxCOLS:BYTES");
    }
    for (size_t i = 0; i < option_count; i++) {
        bool good = given->startup_step && strcmp(option_list[i].name, "--cache") == 0;
        for (size_t j = 0; j < sizeof known / sizeof known[0]; j++) {
            good = good || strcmp(option_list[i].name, known[j]) == 0;
        }
        if (!good && given->seen[i]) {
            return message_usage_error("--startup does not go with %s", option_list[i].name);
        }
    }
    return 0;
}

/* Refuses combinations of options. Returns 0 or the exit code. */
static int check_bench(const arguments *given)
{
    if (given->startup || given->startup_step) {
        return check_startup(given);
    }
    static const char *const of_random[] = {"--seed", "--sides", "--bytes", "--square", "--multiple"};
    bool random = options_have(given, "--random");
    if ((given->operand != NULL) + (given->shapes != NULL) + random != 1) {
        return message_usage_error("'bench' takes exactly one of ROWSxCOLS:BYTES, --shapes and --random");
    }
    for (size_t i = 0; i < sizeof of_random / sizeof of_random[0]; i++) {
        if (!random && options_have(given, of_random[i])) {
            return message_usage_error("%s needs --random", of_random[i]);
        }
    }
    if (random && !options_have(given, "--sides")) {
        return message_usage_error("--random needs --sides, such as --sides 1000..20000");
    }
    const bench_range *sides = given->random.sides;
    if (given->random.square && (sides[0].low != sides[1].low || sides[0].high != sides[1].high)) {
        return message_usage_error("--square takes one range of --sides, not two");
    }
    int code = shape_list_check_elem_size(given, "--shapes and --random");
    if (code != 0) {
        return code;
    }
    if (given->pitch != 0 && given->pad) {
        return message_usage_error("--pitch does not go with --pad");
    }
    if (given->pad && given->batch > 1) {
        return message_usage_error("--pad takes one matrix, not --batch %zu", given->batch);
    }
    const char *first = given->json ? "--json" : "--csv -";
    const char *second = is_standard_output(given->plot) ? "--plot -" : "--csv -";
    if (given->json + is_standard_output(given->csv) + is_standard_output(given->plot) > 1) {
        return message_usage_error("%s does not go with %s: both are standard output", first, second);
    }
    size_t elem_size = given->operand != NULL ? given->shape.elem_size : given->elem_size;
    if (given->blas && elem_size != sizeof(float) && elem_size != sizeof(double)) {
        return message_usage_error("--blas takes elements of 4 or 8 bytes, not %zu", elem_size);
    }
    return 0;
}

/* Opens a file for results. path: NULL: none. */
static int open_results(const char *path, FILE **file)
{
    *file = path == NULL ? NULL : is_standard_output(path) ? stdout : system_open_stream(path, "w");
    return path == NULL || *file != NULL ? 0 : message_fail("%s: %s", path, strerror(errno));
}

/* Closes the file. Returns code, or the exit code of a failed close. */
static int close_results(const char *path, FILE *file, int code)
{
    bool failed = file != NULL && ferror(file) != 0;
    if (file != NULL && ((file == stdout ? fflush(file) : fclose(file)) != 0 || failed)) {
        return message_fail("%s: %s", path, strerror(errno));
    }
    return code;
}

/* Measures the start of processes. */
static int run_startup(const startup_desc *desc, const char *csv_path)
{
    char message[BENCH_MESSAGE_SIZE];
    bench_shape others[STARTUP_NEW_SHAPES];
    if (!startup_draw(desc, others, message)) {
        return message_usage_error("%s", message);
    }
    FILE *csv;
    int code = open_results(csv_path, &csv);
    if (code == 0 && !startup_measure(desc, csv == stdout ? stderr : stdout, csv, message)) {
        code = message_fail("%s", message);
    }
    return close_results(csv_path, csv, code);
}

/* Measures this process: a step of --startup. */
static int run_startup_step(const startup_desc *desc, const char *cache)
{
    char message[BENCH_MESSAGE_SIZE];
    return startup_step(desc, cache, stdout, message) ? 0 : message_fail("%s", message);
}

/* What to measure. */
typedef struct bench_task {
    setup context;
    ipt_plan_desc desc;   /* for every shape, without its sides */
    const char *name;     /* the only shape's word; NULL: shapes of a file or random ones */
    const char *shapes;   /* the file's path; NULL: none */
    bench_drawing random; /* if both are NULL */
    size_t repeat, rounds, pitch;
    const char *csv, *plot; /* paths; NULL: none */
    bool out_of_place, blas, json;
} bench_task;

/* The resources of a bench. */
typedef struct bench {
    bench_shapes shapes;
    bench_result *results;
    bench_device device;
    bench_blas blas;
    ipt_context *context;
    FILE *csv, *plot;
    FILE *shown; /* the stream for tables: standard error if results go to standard output */
} bench;

/* Reads the shapes and acquires all resources. */
static int prepare_bench(const bench_task *task, bench *work)
{
    char message[BENCH_MESSAGE_SIZE];
    size_t elem_size = task->desc.elem_size;
    bool good = task->name != NULL     ? bench_add_shape(&work->shapes, task->desc.rows, task->desc.cols, message)
                : task->shapes != NULL ? bench_read_shapes(task->shapes, elem_size, &work->shapes, message)
                                       : bench_draw_shapes(&task->random, elem_size, &work->shapes, message);
    good = good && (!task->blas || bench_blas_open(&work->blas, message));
    if (!good) {
        return message_fail("%s", message);
    }
    work->results = calloc(work->shapes.count, sizeof *work->results);
    if (work->results == NULL) {
        return message_fail("out of memory for %zu results", work->shapes.count);
    }
    int code = setup_context(&task->context, NULL, &work->context);
    if (code != 0) {
        return code;
    }
    if (!bench_device_open(&work->device, work->context, elem_size, message)) {
        return message_fail("%s", message);
    }
    code = open_results(task->csv, &work->csv);
    if (code == 0) {
        code = open_results(task->plot, &work->plot);
    }
    if (work->csv != NULL) {
        bench_csv_heading(work->csv);
    }
    return code;
}

/* Rounds up to a multiple. false: that overflows. */
static bool round_up(size_t multiple, size_t *bytes)
{
    size_t rest = *bytes % multiple;
    if (rest != 0 && *bytes > SIZE_MAX - (multiple - rest)) {
        return false;
    }
    *bytes += rest != 0 ? multiple - rest : 0;
    return true;
}

/* Measures one shape and prints the result. */
static int bench_one(const bench_task *task, bench *work, bench_shape shape, bench_result *result)
{
    char message[BENCH_MESSAGE_SIZE], name[80];
    ipt_plan_desc desc = task->desc;
    result->rows = desc.rows = shape.rows;
    result->cols = desc.cols = shape.cols;
    result->elem_size = desc.elem_size;
    result->batch = desc.batch;
    result->repeat = task->repeat;
    result->rounds = task->rounds;
    result->move = desc.move;
    result->out_of_place = task->out_of_place;
    snprintf(name, sizeof name, "%zux%zu:%zu", desc.rows, desc.cols, desc.elem_size);
    if (!bench_shape_bytes(desc.rows, desc.cols, desc.elem_size, desc.batch, &result->bytes)) {
        return message_fail("%s: %zu such matrices are too large: at most %zu bytes", name, desc.batch, SIZE_MAX);
    }
    if (task->pitch != 0) {
        desc.row_pitch = bench_pitch(result, false);
        desc.row_pitch_out = bench_pitch(result, true);
        if (!round_up(task->pitch, &desc.row_pitch) || !round_up(task->pitch, &desc.row_pitch_out) ||
            !bench_shape_bytes(desc.rows, desc.row_pitch, desc.batch, 1, &result->bytes) ||
            !bench_shape_bytes(bench_larger(desc.rows, desc.cols), desc.row_pitch_out, desc.batch, 1, &result->bytes)) {
            return message_fail("%s: with --pitch %zu, %zu such matrices are too large: at most %zu bytes", name,
                                task->pitch, desc.batch, SIZE_MAX);
        }
        result->bytes = desc.rows * desc.cols * desc.elem_size * desc.batch;
        result->pitch = desc.row_pitch;
        result->pitch_out = desc.row_pitch_out;
    }
    ipt_plan *plan;
    bool good = ipt_plan_create(work->context, &desc, &plan) == IPT_SUCCESS;
    if (!good) {
        message_translate(ipt_context_error(NULL), message, sizeof message);
    }
    good = good && bench_measure(&work->device, plan, result, message) &&
           (!task->blas || bench_measure_blas(&work->blas, result, message));
    ipt_plan_destroy(plan);
    if (work->csv != NULL) {
        bench_csv_line(work->csv, result);
    }
    if (task->name == NULL) {
        bench_show_line(work->shown, result, task->blas);
    } else if (good) {
        bench_show_block(work->shown, result);
    }
    if (result->note[0] != '\0') {
        message_fail("%s: %s", name, result->note);
    }
    return good ? 0 : message_fail("%s: %s", name, message);
}

/* Measures all shapes. Continues after a shape that fails. */
static int bench_all(const bench_task *task, bench *work)
{
    char message[BENCH_MESSAGE_SIZE];
    int code = 0;
    if (task->name == NULL) {
        fprintf(work->shown, "%zu shapes, elements of %zu bytes, batch %zu, on %s\n", work->shapes.count,
                task->desc.elem_size, task->desc.batch, work->device.name);
        bench_show_heading(work->shown, task->blas);
    } else {
        size_t bytes = 0;
        (void)bench_shape_bytes(task->desc.rows, task->desc.cols, task->desc.elem_size, task->desc.batch,
                                &bytes); /* checked with the command line */
        fprintf(work->shown, "%s, batch %zu, %zu bytes, on %s\n", task->name, task->desc.batch, bytes,
                work->device.name);
    }
    for (size_t i = 0; i < work->shapes.count; i++) {
        if (bench_one(task, work, work->shapes.items[i], &work->results[i]) != 0) {
            code = EXIT_FAILURE;
        }
    }
    if (task->json) {
        bench_json(stdout, work->results, work->shapes.count);
    }
    if (work->plot != NULL) {
        plot_write(work->plot, work->device.name, work->results, work->shapes.count);
    }
    if (!bench_show_summary(work->shown, work->results, work->shapes.count, message)) {
        code = message_fail("%s", message);
    }
    return code;
}

static int bench_matrices(const bench_task *task)
{
    const bool taken = task->json || is_standard_output(task->csv) || is_standard_output(task->plot);
    bench work = {.shown = taken ? stderr : stdout};
    int code = prepare_bench(task, &work);
    if (code == 0) {
        code = bench_all(task, &work);
    }
    code = close_results(task->csv, work.csv, code);
    code = close_results(task->plot, work.plot, code);
    bench_blas_close(&work.blas);
    bench_device_close(&work.device);
    ipt_context_destroy(work.context);
    free(work.results);
    free(work.shapes.items);
    return code;
}

static int run_bench(const arguments *given)
{
    const int code = check_bench(given);
    if (code != 0) {
        return code;
    }
    const matrix_shape *const shape = &given->shape;
    if (given->startup || given->startup_step) {
        const startup_desc desc = {given->program,   given->device,      shape->rows,  shape->cols,
                                   shape->elem_size, given->random.seed, given->rounds};
        return given->startup_step ? run_startup_step(&desc, given->cache) : run_startup(&desc, given->csv);
    }
    bench_task task = {0};
    task.context = arguments_setup(given);
    task.desc = arguments_describe(given);
    task.desc.elem_size = given->operand != NULL ? shape->elem_size : given->elem_size;
    task.name = given->operand;
    task.shapes = given->shapes;
    task.random = given->random;
    task.repeat = given->repeat;
    task.rounds = given->rounds;
    task.pitch = given->pitch;
    task.csv = given->csv;
    task.plot = given->plot;
    task.out_of_place = given->out_of_place;
    task.blas = given->blas;
    task.json = given->json;
    return bench_matrices(&task);
}

const command command_bench = {
    "bench",
    OPERAND_OPTIONAL_SHAPE,
    "measure in-place transpositions against copies on the device",
    FOR_ALL | FOR_PLANS | FOR_BENCH | FOR_JSON,
    run_bench,
    "The shapes come from ROWSxCOLS:BYTES, --shapes or --random. Every result is verified on the device.\n"
    "  GB/s      bytes read and bytes written per second\n"
    "  ratio     speed divided by the copy's speed\n"
    "  ipt/BLAS  speed on the device divided by the speed of BLAS on the host\n"
    "  latency   time of a single execution\n\n"
    "--startup measures new processes, with ipt's cache off, empty (filling) and filled (warm), each with the "
    "driver's own cache (PoCL's, NVIDIA's) off and on. A process creates a context and a plan of ROWSxCOLS:BYTES, "
    "executes it, and creates plans of 50 other shapes drawn by --seed."};
