#define _GNU_SOURCE /* nftw */

#include "startup.h"

#include "bench_result.h"

#include <errno.h>
#include <ftw.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    STARTUP_OUTPUT_SIZE = 1 << 16, /* of a step; longer output is cut off */
    STARTUP_PATH_SIZE = 1000
};

typedef struct startup_column {
    const char *name, *heading;
    double factor;
    int decimals;
} startup_column;

#define STARTUP_COLUMN(enumerator, name, heading, factor, decimals) {name, heading, factor, decimals},
static const startup_column startup_columns[] = {STARTUP_QUANTITY_LIST(STARTUP_COLUMN)};
#undef STARTUP_COLUMN

static volatile sig_atomic_t startup_signal; /* the signal that requested an end; 0: none */

static void startup_note_signal(int number)
{
    startup_signal = number;
}

/* The state of the process that starts the steps. */
typedef struct startup_run {
    const startup_desc *desc;
    char folder[STARTUP_PATH_SIZE]; /* for all caches; removed at the end */
    unsigned folders;               /* number of used names in the folder */
    char device[256];               /* as the last step reported */
} startup_run;

/* Returns an unused path in the folder. */
static void startup_new_path(startup_run *run, char *path)
{
    snprintf(path, STARTUP_PATH_SIZE + 20, "%s/%u", run->folder, run->folders++);
}

/* The caches of a step. */
typedef struct startup_caches {
    bool driver;                                /* on or off */
    char driver_folder[STARTUP_PATH_SIZE + 20]; /* the driver's cache */
    char folder[STARTUP_PATH_SIZE + 20];        /* ipt's; "": none */
} startup_caches;

/* Replaces this process by a step, whose output goes to descriptor. Returns only on failure. */
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

/* Reads a step's output to its end. Forwards a signal that requests an end to the step. */
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

/* Finds the line of a step's output that begins with mark. Returns the rest of that line, or NULL. */
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

/* Parses the numbers in a step's output. */
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

/* Runs a step and reads its measurements. */
static bool startup_start(startup_run *run, const startup_caches *caches, startup_values *values, char *message)
{
    static char output[STARTUP_OUTPUT_SIZE];
    int ends[2], status = 0;
    if (pipe(ends) != 0) {
        return bench_fail(message, "pipe: %s", strerror(errno));
    }
    fflush(NULL); /* otherwise the child would print the buffered output again */
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
    return WIFEXITED(status)
               ? bench_fail(message, "a process under measurement ended with exit code %d", WEXITSTATUS(status))
               : bench_fail(message, "a process under measurement was ended by signal %d", WTERMSIG(status));
}

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

/* The medians of all rounds: a row of the table. */
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

/* Runs one round: a step for each state of ipt's cache; the last two steps share a folder. driver_folder: for the
 * driver's cache; NULL: off. */
static bool startup_round(startup_run *run, const char *driver_folder, startup_values *values, char *message)
{
    startup_caches caches = {0};
    bool good = true;
    caches.driver = driver_folder != NULL;
    for (size_t state = 0; state < STARTUP_STATES && good; state++) {
        if (caches.driver) {
            snprintf(caches.driver_folder, sizeof caches.driver_folder, "%s", driver_folder);
        } else { /* a new folder for each, because the driver may still write */
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

/* Measures the three rows of one state of the driver's cache. samples: space for all rounds, state by state. */
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
        if (!startup_round(run, driver_folder, values, message)) { /* fills the driver's cache */
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

/* Measures and prints the table. csv may be NULL. */
static bool startup_table(startup_run *run, startup_values *samples, FILE *stream, FILE *csv, char *message)
{
    double ratios[2];
    if (csv != NULL) {
        startup_csv_heading(csv);
    }
    for (int driver = 0; driver < 2; driver++) {
        startup_values medians[STARTUP_STATES] = {{{0}}};
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
            "none: number of those plans that compiled nothing\n",
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

bool startup_measure(const startup_desc *desc, FILE *stream, FILE *csv, char *message)
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
    noted.sa_handler = startup_note_signal; /* without SA_RESTART, so that read returns */
    sigemptyset(&noted.sa_mask);
    startup_signal = 0;
    for (size_t i = 0; i < SIGNALS; i++) {
        sigaction(signals[i], NULL, &before[i]);
        if (before[i].sa_handler != SIG_IGN) {
            sigaction(signals[i], &noted, NULL);
        }
    }
    bool good = (length < (int)sizeof run.folder ||
                 bench_fail(message, "the path in TMPDIR is too long: at most %d bytes", STARTUP_PATH_SIZE - 20)) &&
                (mkdtemp(run.folder) != NULL || bench_fail(message, "%s: %s", run.folder, strerror(errno)));
    if (good) {
        good = startup_table(&run, samples, stream, csv, message);
        if (nftw(run.folder, startup_remove, 16, FTW_DEPTH | FTW_PHYS) != 0 && good) {
            good = bench_fail(message, "could not remove %s: %s", run.folder, strerror(errno));
        }
    }
    for (size_t i = 0; i < SIGNALS; i++) {
        sigaction(signals[i], &before[i], NULL);
    }
    free(samples);
    return good;
}
