/* Measuring what a program waits for at its start, for the tool. The promise: every number comes from a process that
 * has just been started, with caches in the state that its row names; the first execution's result is verified; all
 * folders that this takes are temporary and removed at the end, after a failure and after Ctrl-C, too. */
#ifndef IPT_GEN_STARTUP_H_INCLUDED
#define IPT_GEN_STARTUP_H_INCLUDED

#include "bench.h"

#include <ftw.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    STARTUP_NEW_SHAPES = 50,
    STARTUP_MAX_DRAWS = 10000,
    STARTUP_OUTPUT_SIZE = 1 << 16, /* of a step; what is beyond it is dropped */
    STARTUP_PATH_SIZE = 1000
};

#define STARTUP_MARK "ipt-startup " /* begins the line that a step prints */

typedef struct startup_desc {
    const char *program; /* the tool itself as it was called, in case /proc/self/exe is not there */
    const char *device;  /* NULL: the library chooses */
    size_t rows, cols, elem_size, seed, rounds;
} startup_desc;

/* What a step measures. X(enumerator, name in CSV, heading, factor, decimals) */
#define STARTUP_QUANTITY_LIST(X)                                                                                       \
    X(STARTUP_CONTEXT, "context_seconds", "context ms", 1e3, 2)                                                        \
    X(STARTUP_PLAN, "plan_seconds", "plan ms", 1e3, 2)                                                                 \
    X(STARTUP_EXECUTION, "execution_seconds", "first run ms", 1e3, 2)                                                  \
    X(STARTUP_NEW, "new_plan_seconds", "new shape ms", 1e3, 3)                                                         \
    X(STARTUP_WORST, "new_plan_worst_seconds", "worst ms", 1e3, 3)                                                     \
    X(STARTUP_COMPILED, "compiled", "compiled", 1, 0)                                                                  \
    X(STARTUP_COMPILED_NEW, "compiled_for_new", "for new", 1, 0)                                                       \
    X(STARTUP_NONE, "new_without_compiling", "none", 1, 0)

#define STARTUP_ENUMERATOR(enumerator, name, heading, factor, decimals) enumerator,
typedef enum startup_quantity { STARTUP_QUANTITY_LIST(STARTUP_ENUMERATOR) STARTUP_QUANTITIES } startup_quantity;
#undef STARTUP_ENUMERATOR

typedef struct startup_column {
    const char *name, *heading;
    double factor;
    int decimals;
} startup_column;

#define STARTUP_COLUMN(enumerator, name, heading, factor, decimals) {name, heading, factor, decimals},
static const startup_column startup_columns[] = {STARTUP_QUANTITY_LIST(STARTUP_COLUMN)};
#undef STARTUP_COLUMN

typedef struct startup_values {
    double of[STARTUP_QUANTITIES];
} startup_values;

/* ------------------------------------------------------------------------------------------------------------------ */
/* One step: what the fresh process does */
/* ------------------------------------------------------------------------------------------------------------------ */

/* The sides that are at most half as long again, or half as short. */
static bench_range startup_similar(size_t side)
{
    bench_range range = {side - side / 2, side > SIZE_MAX - side / 2 ? SIZE_MAX : side + side / 2};
    return range;
}

/* Other shapes of similar sides, all different. */
static bool startup_draw(const startup_desc *desc, bench_shape *shapes, char *message)
{
    uint64_t state = desc->seed;
    size_t count = 0;
    for (size_t draws = 0; count < STARTUP_NEW_SHAPES && draws < STARTUP_MAX_DRAWS; draws++) {
        bench_shape shape;
        size_t bytes;
        shape.rows = bench_random_within(&state, startup_similar(desc->rows));
        shape.cols = bench_random_within(&state, startup_similar(desc->cols));
        bool fresh = bench_shape_bytes(shape.rows, shape.cols, desc->elem_size, 1, &bytes) &&
                     (shape.rows != desc->rows || shape.cols != desc->cols);
        for (size_t i = 0; i < count && fresh; i++) {
            fresh = shape.rows != shapes[i].rows || shape.cols != shapes[i].cols;
        }
        if (fresh) {
            shapes[count++] = shape;
        }
    }
    return count == STARTUP_NEW_SHAPES ||
           bench_fail(message, "%zux%zu has no %d other shapes with sides up to 50 %% longer or shorter", desc->rows,
                      desc->cols, STARTUP_NEW_SHAPES);
}

/* Counts the programs that are built from source; ipt's logger. */
static void startup_count(const char *text, void *user)
{
    if (strncmp(text, "built ", 6) == 0) {
        ++*(size_t *)user;
    }
}

/* Makes a plan of a shape. */
static bool startup_plan(const startup_desc *desc, ipt_context *context, bench_shape shape, ipt_plan **plan,
                         double *seconds, char *message)
{
    ipt_plan_desc plan_desc = {0};
    plan_desc.rows = shape.rows;
    plan_desc.cols = shape.cols;
    plan_desc.elem_size = desc->elem_size;
    double start = bench_now();
    ipt_result result = ipt_plan_create(context, &plan_desc, plan);
    *seconds = bench_now() - start;
    return result == IPT_SUCCESS ||
           bench_fail(message, "%zux%zu:%zu: %s", shape.rows, shape.cols, desc->elem_size, ipt_context_error(context));
}

/* Whether after is the transpose of before. */
static bool startup_verify(const startup_desc *desc, const unsigned char *before, const unsigned char *after,
                           char *message)
{
    for (size_t row = 0; row < desc->rows; row++) {
        for (size_t col = 0; col < desc->cols; col++) {
            if (memcmp(before + (row * desc->cols + col) * desc->elem_size,
                       after + (col * desc->rows + row) * desc->elem_size, desc->elem_size) != 0) {
                return bench_fail(message, "the result is WRONG: the element of row %zu, column %zu", row, col);
            }
        }
    }
    return true;
}

/* Transposes once, in a buffer that has been written to before. data: random bytes of the matrix, then as many more. */
static bool startup_execute(const startup_desc *desc, ipt_plan *plan, cl_command_queue queue, cl_mem buffer,
                            unsigned char *data, size_t bytes, double *seconds, char *message)
{
    cl_int status = clEnqueueWriteBuffer(queue, buffer, CL_TRUE, 0, bytes, data, 0, NULL, NULL);
    if (!bench_opencl(status, "clEnqueueWriteBuffer", message)) {
        return false;
    }
    double start = bench_now();
    if (ipt_plan_execute(plan, queue, buffer, 0, 0, NULL, NULL) != IPT_SUCCESS) {
        return bench_fail(message, "%s", ipt_context_error(NULL));
    }
    status = clFinish(queue);
    *seconds = bench_now() - start;
    if (!bench_opencl(status, "clFinish", message)) {
        return false;
    }
    status = clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, bytes, data + bytes, 0, NULL, NULL);
    return bench_opencl(status, "clEnqueueReadBuffer", message) && startup_verify(desc, data, data + bytes, message);
}

/* The same with everything that it takes. */
static bool startup_execute_once(const startup_desc *desc, ipt_context *context, ipt_plan *plan, double *seconds,
                                 char *message)
{
    size_t bytes = 0;
    uint64_t state = desc->seed;
    unsigned char *data = NULL;
    if (bench_shape_bytes(desc->rows, desc->cols, desc->elem_size, 1, &bytes) && bytes <= SIZE_MAX / 2) {
        data = malloc(2 * bytes);
    }
    if (data == NULL) {
        return bench_fail(message, "out of memory for a matrix of %zu bytes and its transpose", bytes);
    }
    for (size_t i = 0; i < bytes; i++) {
        data[i] = (unsigned char)bench_random(&state);
    }
    cl_int status;
    cl_context cl = ipt_context_cl_context(context);
    cl_mem buffer = NULL;
    cl_command_queue queue = clCreateCommandQueue(cl, ipt_context_cl_device(context), 0, &status);
    bool good = bench_opencl(status, "clCreateCommandQueue", message);
    if (good) {
        buffer = clCreateBuffer(cl, CL_MEM_READ_WRITE, bytes, NULL, &status);
        good = bench_opencl(status, "clCreateBuffer for the matrix", message) &&
               startup_execute(desc, plan, queue, buffer, data, bytes, seconds, message);
    }
    if (buffer != NULL) {
        clReleaseMemObject(buffer);
    }
    if (queue != NULL) {
        clReleaseCommandQueue(queue);
    }
    free(data);
    return good;
}

/* Everything that is measured on a context. *built: the programs that its logger has counted. */
static bool startup_measure_plans(const startup_desc *desc, ipt_context *context, const size_t *built,
                                  startup_values *values, char *message)
{
    bench_shape shape = {desc->rows, desc->cols}, others[STARTUP_NEW_SHAPES];
    double seconds[STARTUP_NEW_SHAPES];
    ipt_plan *plan;
    bool good = startup_draw(desc, others, message) &&
                startup_plan(desc, context, shape, &plan, &values->of[STARTUP_PLAN], message);
    if (!good) {
        return false;
    }
    values->of[STARTUP_COMPILED] = (double)*built;
    good = startup_execute_once(desc, context, plan, &values->of[STARTUP_EXECUTION], message);
    ipt_plan_destroy(plan);
    for (size_t i = 0; i < STARTUP_NEW_SHAPES && good; i++) {
        size_t before = *built;
        good = startup_plan(desc, context, others[i], &plan, &seconds[i], message);
        values->of[STARTUP_COMPILED_NEW] += (double)(*built - before);
        values->of[STARTUP_NONE] += *built == before;
        ipt_plan_destroy(plan);
    }
    if (good) {
        values->of[STARTUP_NEW] = bench_quantile(seconds, STARTUP_NEW_SHAPES, 0.5);
        values->of[STARTUP_WORST] = bench_quantile(seconds, STARTUP_NEW_SHAPES, 1);
    }
    return good;
}

/* What the hidden option --startup-step does: measures this process and prints a line for the one that started it. */
static bool startup_step(const startup_desc *desc, const char *cache_dir, FILE *stream, char *message)
{
    startup_values values = {{0}};
    size_t built = 0;
    ipt_context_desc context_desc = {0};
    context_desc.device_name = desc->device;
    context_desc.cache_dir = cache_dir;
    context_desc.logger.log = startup_count;
    context_desc.logger.user = &built;
    ipt_context *context;
    double start = bench_now();
    ipt_result result = ipt_context_create(&context_desc, &context);
    values.of[STARTUP_CONTEXT] = bench_now() - start;
    if (result != IPT_SUCCESS) {
        return bench_fail(message, "%s", ipt_context_error(NULL));
    }
    bool good = startup_measure_plans(desc, context, &built, &values, message);
    if (good) {
        char name[256] = "unknown";
        clGetDeviceInfo(ipt_context_cl_device(context), CL_DEVICE_NAME, sizeof name, name, NULL);
        fputs(STARTUP_MARK, stream);
        for (size_t i = 0; i < STARTUP_QUANTITIES; i++) {
            fprintf(stream, "%.9g ", values.of[i]);
        }
        fprintf(stream, "%s\n", name);
    }
    ipt_context_destroy(context);
    return good;
}

/* ------------------------------------------------------------------------------------------------------------------ */
/* Starting steps */
/* ------------------------------------------------------------------------------------------------------------------ */

static volatile sig_atomic_t startup_signal; /* that asked for an end; 0: none */

static void startup_note_signal(int number)
{
    startup_signal = number;
}

/* What the process that starts the steps holds. */
typedef struct startup_run {
    const startup_desc *desc;
    char folder[STARTUP_PATH_SIZE]; /* for all caches; removed at the end */
    unsigned folders;               /* that have got a name in it */
    char device[256];               /* as the last step has told */
} startup_run;

/* A path in the folder that no file has yet. */
static void startup_new_path(startup_run *run, char *path)
{
    snprintf(path, STARTUP_PATH_SIZE + 20, "%s/%u", run->folder, run->folders++);
}

/* How a step finds the caches. */
typedef struct startup_caches {
    bool driver;                                /* whether the driver may have one */
    char driver_folder[STARTUP_PATH_SIZE + 20]; /* for it */
    char folder[STARTUP_PATH_SIZE + 20];        /* ipt's; "": none */
} startup_caches;

/* Becomes a step; writes to descriptor what there is to say. Returns only if that fails. */
static void startup_become_step(const startup_desc *desc, const startup_caches *caches, int descriptor)
{
    char shape[80], seed[24];
    snprintf(shape, sizeof shape, "%zux%zu:%zu", desc->rows, desc->cols, desc->elem_size);
    snprintf(seed, sizeof seed, "%zu", desc->seed);
    const char *words[] = {desc->program, "bench", shape, "--startup-step", "--cache", caches->folder, "--seed", seed,
                           NULL,          NULL,    NULL};
    if (desc->device != NULL) {
        words[8] = "--device";
        words[9] = desc->device;
    }
    const char *const settings[][2] = {{"POCL_CACHE_DIR", caches->driver_folder},
                                       {"POCL_KERNEL_CACHE", caches->driver ? "1" : "0"},
                                       {"CUDA_CACHE_PATH", caches->driver_folder},
                                       {"CUDA_CACHE_DISABLE", caches->driver ? "0" : "1"}};
    for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++) {
        if (setenv(settings[i][0], settings[i][1], 1) != 0) {
            return;
        }
    }
    if (dup2(descriptor, STDOUT_FILENO) < 0 || dup2(descriptor, STDERR_FILENO) < 0) {
        return;
    }
    execv("/proc/self/exe", (char *const *)words);
    execvp(desc->program, (char *const *)words);
}

/* Reads what a step says, until it ends. A signal that asks for an end is handed on to it. */
static void startup_listen(pid_t child, int descriptor, char *output)
{
    size_t length = 0;
    for (;;) {
        char dropped[256];
        bool full = length == STARTUP_OUTPUT_SIZE - 1;
        ssize_t got = read(descriptor, full ? dropped : output + length,
                           full ? sizeof dropped : STARTUP_OUTPUT_SIZE - 1 - length);
        if (startup_signal != 0) {
            kill(child, SIGTERM);
        }
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got <= 0) {
            break;
        }
        length += full ? 0 : (size_t)got;
    }
    output[length] = '\0';
}

/* The line of a step's output that begins with mark, without it, ended by a zero; NULL: there is none. */
static char *startup_find_line(char *output, const char *mark)
{
    size_t length = strlen(mark);
    for (char *line = output; line != NULL; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, mark, length) == 0) {
            line[strcspn(line, "\n")] = '\0';
            return line + length;
        }
    }
    return NULL;
}

/* Takes the numbers out of a step's output. */
static bool startup_parse(startup_run *run, char *output, startup_values *values)
{
    char *text = startup_find_line(output, STARTUP_MARK);
    for (size_t i = 0; i < STARTUP_QUANTITIES && text != NULL; i++) {
        char *end;
        values->of[i] = strtod(text, &end);
        text = end == text ? NULL : end;
    }
    if (text == NULL) {
        return false;
    }
    snprintf(run->device, sizeof run->device, "%s", text + (*text == ' '));
    return true;
}

/* Starts a step and reads what it has measured. */
static bool startup_start(startup_run *run, const startup_caches *caches, startup_values *values, char *message)
{
    static char output[STARTUP_OUTPUT_SIZE];
    int ends[2], status = 0;
    if (pipe(ends) != 0) {
        return bench_fail(message, "pipe: %s", strerror(errno));
    }
    fflush(NULL); /* nothing that a step could print a second time */
    pid_t child = fork();
    if (child == 0) {
        close(ends[0]);
        startup_become_step(run->desc, caches, ends[1]);
        _exit(127);
    }
    close(ends[1]);
    if (child < 0) {
        close(ends[0]);
        return bench_fail(message, "fork: %s", strerror(errno));
    }
    startup_listen(child, ends[0], output);
    close(ends[0]);
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    if (startup_signal != 0) {
        return bench_fail(message, "stopped by signal %d", (int)startup_signal);
    }
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0 && startup_parse(run, output, values)) {
        return true;
    }
    const char *sentence = startup_find_line(output, "ipt: ");
    if (sentence != NULL) {
        return bench_fail(message, "%s", sentence);
    }
    return WIFEXITED(status) ? bench_fail(message, "a step ended with exit code %d", WEXITSTATUS(status))
                             : bench_fail(message, "a step was ended by signal %d", WTERMSIG(status));
}

/* ------------------------------------------------------------------------------------------------------------------ */
/* The table */
/* ------------------------------------------------------------------------------------------------------------------ */

/* The states of ipt's cache. */
typedef enum startup_state { STARTUP_OFF, STARTUP_FILLING, STARTUP_WARM, STARTUP_STATES } startup_state;

static const char *const startup_states[] = {"off", "filling", "warm"};

static void startup_show_heading(FILE *stream, const startup_run *run)
{
    const startup_desc *desc = run->desc;
    fprintf(stream, "%zux%zu:%zu in fresh processes, %zu rounds, on %s\n", desc->rows, desc->cols, desc->elem_size,
            desc->rounds, run->device);
    fprintf(stream, "%-8s %-11s", "driver's", "ipt's cache");
    for (size_t i = 0; i < STARTUP_QUANTITIES; i++) {
        fprintf(stream, "  %s", startup_columns[i].heading);
    }
    fputc('\n', stream);
}

static void startup_show_line(FILE *stream, bool driver, size_t state, const startup_values *values)
{
    fprintf(stream, "%-8s %-11s", driver ? "on" : "off", startup_states[state]);
    for (size_t i = 0; i < STARTUP_QUANTITIES; i++) {
        const startup_column *column = &startup_columns[i];
        fprintf(stream, "  %*.*f", (int)strlen(column->heading), column->decimals, values->of[i] * column->factor);
    }
    fputc('\n', stream);
    fflush(stream);
}

static void startup_csv_heading(FILE *stream)
{
    fputs("rows,cols,elem_size,driver_cache,ipt_cache", stream);
    for (size_t i = 0; i < STARTUP_QUANTITIES; i++) {
        fprintf(stream, ",%s", startup_columns[i].name);
    }
    fputs(",rounds\n", stream);
}

static void startup_csv_line(FILE *stream, const startup_desc *desc, bool driver, size_t state,
                             const startup_values *values)
{
    fprintf(stream, "%zu,%zu,%zu,%s,%s", desc->rows, desc->cols, desc->elem_size, driver ? "on" : "off",
            startup_states[state]);
    for (size_t i = 0; i < STARTUP_QUANTITIES; i++) {
        fprintf(stream, ",%.9g", values->of[i]);
    }
    fprintf(stream, ",%zu\n", desc->rounds);
}

/* What a row of the table shows, out of all rounds. */
static bool startup_median(const startup_values *samples, size_t count, startup_values *median, char *message)
{
    double *values = calloc(count, sizeof *values);
    if (values == NULL) {
        return bench_fail(message, "out of memory");
    }
    for (size_t i = 0; i < STARTUP_QUANTITIES; i++) {
        for (size_t j = 0; j < count; j++) {
            values[j] = samples[j].of[i];
        }
        median->of[i] = bench_quantile(values, count, 0.5);
    }
    free(values);
    return true;
}

/* One round: a step for each state of ipt's cache; the last two share a folder. driver_folder: of the driver's cache;
 * NULL: it has none. */
static bool startup_round(startup_run *run, const char *driver_folder, startup_values *values, char *message)
{
    startup_caches caches = {0};
    bool good = true;
    caches.driver = driver_folder != NULL;
    for (size_t state = 0; state < STARTUP_STATES && good; state++) {
        if (caches.driver) {
            snprintf(caches.driver_folder, sizeof caches.driver_folder, "%s", driver_folder);
        } else { /* a fresh one for each, should the driver keep something all the same */
            startup_new_path(run, caches.driver_folder);
        }
        if (state == STARTUP_FILLING) {
            startup_new_path(run, caches.folder);
        }
        if (!caches.driver && mkdir(caches.driver_folder, 0700) != 0) {
            return bench_fail(message, "%s: %s", caches.driver_folder, strerror(errno));
        }
        good = startup_start(run, &caches, &values[state], message);
    }
    return good;
}

/* The three rows of one state of the driver's cache. samples has room for all rounds, state by state. */
static bool startup_rows(startup_run *run, bool driver, startup_values *samples, startup_values *medians, char *message)
{
    char driver_folder[STARTUP_PATH_SIZE + 20];
    startup_values values[STARTUP_STATES];
    size_t rounds = run->desc->rounds;
    if (driver) {
        startup_new_path(run, driver_folder);
        if (mkdir(driver_folder, 0700) != 0) {
            return bench_fail(message, "%s: %s", driver_folder, strerror(errno));
        }
        if (!startup_round(run, driver_folder, values, message)) { /* fills it */
            return false;
        }
    }
    for (size_t round = 0; round < rounds; round++) {
        if (!startup_round(run, driver ? driver_folder : NULL, values, message)) {
            return false;
        }
        for (size_t state = 0; state < STARTUP_STATES; state++) {
            samples[state * rounds + round] = values[state];
        }
    }
    for (size_t state = 0; state < STARTUP_STATES; state++) {
        if (!startup_median(samples + state * rounds, rounds, &medians[state], message)) {
            return false;
        }
    }
    return true;
}

/* The whole table. csv may be NULL. */
static bool startup_table(startup_run *run, startup_values *samples, FILE *stream, FILE *csv, char *message)
{
    double ratios[2];
    if (csv != NULL) {
        startup_csv_heading(csv);
    }
    for (int driver = 0; driver < 2; driver++) {
        startup_values medians[STARTUP_STATES];
        if (!startup_rows(run, driver != 0, samples, medians, message)) {
            return false;
        }
        if (driver == 0) {
            startup_show_heading(stream, run);
        }
        for (size_t state = 0; state < STARTUP_STATES; state++) {
            startup_show_line(stream, driver != 0, state, &medians[state]);
            if (csv != NULL) {
                startup_csv_line(csv, run->desc, driver != 0, state, &medians[state]);
            }
        }
        ratios[driver] = bench_ratio(medians[STARTUP_WARM].of[STARTUP_PLAN], medians[STARTUP_OFF].of[STARTUP_PLAN]);
    }
    fprintf(stream,
            "cold plan / warm plan: %.1f without the driver's cache, %.1f with it\n"
            "compiled: programs built from source up to the first plan; for new: by the plans of %d other shapes;\n"
            "none: how many of those compiled nothing\n",
            ratios[0], ratios[1], STARTUP_NEW_SHAPES);
    return true;
}

static int startup_remove(const char *path, const struct stat *status, int kind, struct FTW *position)
{
    (void)status;
    (void)kind;
    (void)position;
    return remove(path);
}

/* Measures, and prints the table to stream and its rows to csv, which may be NULL. */
static bool startup_measure(const startup_desc *desc, FILE *stream, FILE *csv, char *message)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
    enum { SIGNALS = sizeof signals / sizeof signals[0] };
    struct sigaction before[SIGNALS], noted;
    startup_run run = {0};
    const char *parent = getenv("TMPDIR");
    run.desc = desc;
    int length = snprintf(run.folder, sizeof run.folder, "%s/ipt_startup_XXXXXX",
                          parent != NULL && *parent != '\0' ? parent : "/tmp");
    startup_values *samples = calloc(desc->rounds, STARTUP_STATES * sizeof *samples);
    if (samples == NULL) {
        return bench_fail(message, "out of memory for %zu rounds", desc->rounds);
    }
    memset(&noted, 0, sizeof noted);
    noted.sa_handler = startup_note_signal; /* without SA_RESTART: reading ends */
    sigemptyset(&noted.sa_mask);
    startup_signal = 0;
    for (size_t i = 0; i < SIGNALS; i++) {
        sigaction(signals[i], NULL, &before[i]);
        if (before[i].sa_handler != SIG_IGN) {
            sigaction(signals[i], &noted, NULL);
        }
    }
    bool good = (length < (int)sizeof run.folder ||
                 bench_fail(message, "the name of the folder for temporary files in TMPDIR is too long")) &&
                (mkdtemp(run.folder) != NULL || bench_fail(message, "%s: %s", run.folder, strerror(errno)));
    if (good) {
        good = startup_table(&run, samples, stream, csv, message);
        if (nftw(run.folder, startup_remove, 16, FTW_DEPTH | FTW_PHYS) != 0 && good) {
            good = bench_fail(message, "%s: it could not be removed: %s", run.folder, strerror(errno));
        }
    }
    for (size_t i = 0; i < SIGNALS; i++) {
        sigaction(signals[i], &before[i], NULL);
    }
    free(samples);
    return good;
}

#endif /* IPT_GEN_STARTUP_H_INCLUDED */
