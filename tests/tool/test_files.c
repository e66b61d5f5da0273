/* Files that the tool transposes step by step. After any interruption (a kill, Ctrl-C, a changed file, a full disk),
 * the file is unchanged or `--resume` completes it. A damaged or foreign journal is refused and changes nothing. No
 * other process can transpose the file at the same time. Resident memory stays below --memory. */
#define _GNU_SOURCE /* forkpty */
#include "folders.h"
#include "process.h"
#include "test.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "gen/tool/store/journal.h"
#include "gen/tool/npy/npy.h"
#include "gen/tool/store/stopped.h"

enum { PATH_SIZE = 600, TEXT_SIZE = 1 << 16, RUN_SECONDS = 120, HEADER_SIZE = 128 };

static char directory[PATH_SIZE - 40], file_path[PATH_SIZE - 20], journal_path[PATH_SIZE], log_path[PATH_SIZE];

/* ------------------------------------------------------------------------------------------------------------------ */
/* Files and runs of the tool */
/* ------------------------------------------------------------------------------------------------------------------ */

static int with_headers; /* the next files have a header */

static int remove_directory(void **state)
{
    (void)state;
    with_headers = 0;
    return folder_remove(directory);
}

static int make_directory(void **state)
{
    if (folder_make(directory, sizeof directory, "files"))
        return -1;
    snprintf(file_path, sizeof file_path, "%s/matrix", directory);
    snprintf(journal_path, sizeof journal_path, "%s.ipt-journal", file_path);
    snprintf(log_path, sizeof log_path, "%s/log", directory);
    return test_start(state);
}

typedef struct run {
    pid_t process;
    int status;
    char errors[TEXT_SIZE]; /* and output */
} run;

/* Starts the tool with `transpose` and the words; its output goes to the log. */
static run start(const char *const *words)
{
    const char *all[32] = {process_tool(), "transpose"};
    run its = {0};
    for (int i = 0; words[i]; ++i)
        all[2 + i] = words[i];
    const int log = open(log_path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    const process_setup setup = {.output = log, .errors = log};
    assert_true(log >= 0);
    its.process = process_start(all, &setup);
    close(log);
    return its;
}

/* Waits for the run's end, and polls its resident memory: the kernel's final figure includes the forking process. */
static size_t most_resident(const run *its)
{
    char path[60], line[200];
    size_t most = 0, now;
    snprintf(path, sizeof path, "/proc/%ld/status", (long)its->process);
    for (siginfo_t info = {0}; !info.si_pid;) {
        FILE *status = fopen(path, "r");
        int is_tool = 0;
        while (status && fgets(line, sizeof line, status)) {
            is_tool |= strcmp(line, "Name:\tipt\n") == 0;
            if (is_tool && sscanf(line, "VmHWM: %zu", &now) == 1 && now > most)
                most = now;
        }
        if (status)
            fclose(status);
        assert_int_equal(waitid(P_PID, (id_t)its->process, &info, WEXITED | WNOHANG | WNOWAIT), 0);
    }
    return most * 1024;
}

static void finish(run *its)
{
    assert_int_equal(waitpid(its->process, &its->status, 0), its->process);
    FILE *log = fopen(log_path, "r");
    size_t length = log ? fread(its->errors, 1, TEXT_SIZE - 1, log) : 0;
    its->errors[length] = '\0';
    if (log)
        fclose(log);
}

/* Runs `ipt transpose` and checks the exit code. */
#define transpose(code, ...)                                                                                           \
    do {                                                                                                               \
        const char *const transpose_words[] = {__VA_ARGS__, NULL};                                                     \
        last = start(transpose_words);                                                                                 \
        finish(&last);                                                                                                 \
        if (!WIFEXITED(last.status) || WEXITSTATUS(last.status) != (code))                                             \
            fail_msg("line %d: status %d: %s", __LINE__, last.status, last.errors);                                    \
    } while (0)
static run last;

static void expect_said(const char *words)
{
    if (!strstr(last.errors, words))
        fail_msg("'%s' is not in: %s", words, last.errors);
}

static void expect_no_journal(void)
{
    assert_int_equal(access(journal_path, F_OK), -1);
}

/* A matrix in a file, with or without a header. before, after: the content of the whole file. */
typedef struct matrix {
    ipt_plan_desc desc;
    size_t bytes;
    unsigned char *before, *after;
    char raw[80];  /* the option --raw with the shape, if there is no header */
    char axes[40]; /* the option --axes, or another one */
} matrix;

static void write_file(const char *path, const void *bytes, size_t count)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, count, file), count);
    assert_int_equal(fclose(file), 0);
}

static void make_header(unsigned char *header, size_t rows, size_t cols, const ipt_plan_desc *desc)
{
    char text[HEADER_SIZE];
    int length = snprintf(text, sizeof text, "{'descr': '|V%zu', 'fortran_order': False, 'shape': (%zu, %zu, %zu), }",
                          desc->elem_size, desc->batch, rows, cols);
    memcpy(header, "\x93NUMPY\1\0", 8);
    header[8] = HEADER_SIZE - 10;
    header[9] = 0;
    memset(header + 10, ' ', HEADER_SIZE - 10);
    memcpy(header + 10, text, (size_t)length);
    header[HEADER_SIZE - 1] = '\n';
}

static matrix make_matrix(size_t rows, size_t cols, size_t elem_size, size_t batch)
{
    const size_t offset = with_headers ? HEADER_SIZE : 0;
    matrix made = {.desc = {.rows = rows, .cols = cols, .elem_size = elem_size, .batch = batch}};
    made.bytes = offset + rows * cols * elem_size * batch;
    made.before = malloc(made.bytes);
    made.after = malloc(made.bytes);
    assert_true(made.before && made.after);
    test_fill(made.before + offset, made.bytes - offset);
    test_reference(made.after + offset, made.before + offset, &made.desc);
    snprintf(made.axes, sizeof made.axes, "--verbose");
    snprintf(made.raw, sizeof made.raw, "--raw=%zux%zu:%zu", rows, cols, elem_size);
    if (with_headers) {
        make_header(made.before, rows, cols, &made.desc);
        make_header(made.after, cols, rows, &made.desc);
        snprintf(made.raw, sizeof made.raw, "--verbose");
    }
    write_file(file_path, made.before, made.bytes);
    return made;
}

/* An array of three axes in a file without a header, and a permutation of the axes in one pass or two. */
static matrix make_array(size_t elements, size_t elem_size, size_t batch)
{
    static const unsigned orders[][3] = {{2, 1, 0}, {2, 1, 0}, {0, 2, 1}, {1, 2, 0}, {2, 0, 1}, {1, 0, 2}};
    const unsigned *const order = orders[test_random() % TEST_COUNT(orders)];
    matrix made = {.desc = {.rank = 3, .elem_size = elem_size, .batch = batch}};
    made.desc.shape[0] = test_random_between(2, 60);
    made.desc.shape[1] = test_random_between(2, 60);
    made.desc.shape[2] = elements / (made.desc.shape[0] * made.desc.shape[1]) + 1;
    memcpy(made.desc.axes, order, sizeof *orders);
    made.bytes = test_span(&made.desc);
    made.before = malloc(made.bytes);
    made.after = malloc(made.bytes);
    assert_true(made.before && made.after);
    test_fill(made.before, made.bytes);
    test_reference(made.after, made.before, &made.desc);
    snprintf(made.raw, sizeof made.raw, "--raw=%zux%zux%zu:%zu", made.desc.shape[0], made.desc.shape[1],
             made.desc.shape[2], elem_size);
    snprintf(made.axes, sizeof made.axes, "--axes=%u,%u,%u", order[0], order[1], order[2]);
    write_file(file_path, made.before, made.bytes);
    return made;
}

static void end_matrix(matrix *its)
{
    free(its->before);
    free(its->after);
}

static int file_holds(const unsigned char *bytes, size_t count)
{
    unsigned char *found = malloc(count + 1);
    FILE *file = fopen(file_path, "rb");
    assert_true(found && file);
    int same = fread(found, 1, count + 1, file) == count && memcmp(found, bytes, count) == 0;
    fclose(file);
    free(found);
    return same;
}

/* The option --memory for this much memory for the matrix. */
static const char *memory_option(size_t bytes)
{
    static char option[60];
    snprintf(option, sizeof option, "--matrix-memory=%zu", bytes);
    return option;
}

static void sleep_for(double seconds)
{
    const struct timespec time = {(time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9)};
    nanosleep(&time, NULL);
}

static double seconds_now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* Whether there is a complete journal. An incomplete one does not count. */
static int has_journal(void)
{
    char magic[JOURNAL_MAGIC_ANY] = "";
    FILE *file = fopen(journal_path, "rb");
    const size_t got = file ? fread(magic, 1, sizeof magic, file) : 0;
    if (file)
        fclose(file);
    return got == sizeof magic && memcmp(magic, JOURNAL_MAGIC, sizeof magic) == 0;
}

/* Waits until the journal exists or the process has ended. Returns whether the process still runs. */
static int wait_for_journal(run *its)
{
    for (int i = 0; i < RUN_SECONDS * 2000; ++i) {
        siginfo_t info = {0};
        if (has_journal())
            return 1;
        if (waitid(P_PID, (id_t)its->process, &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid)
            return 0;
        sleep_for(0.0005);
    }
    return 0;
}

/* Waits until the process has written to the file, or has ended. */
static void wait_for_change(run *its)
{
    struct stat before, now;
    assert_int_equal(stat(file_path, &before), 0);
    for (int i = 0; i < RUN_SECONDS * 2000; ++i) {
        siginfo_t info = {0};
        assert_int_equal(stat(file_path, &now), 0);
        if (now.st_mtim.tv_sec != before.st_mtim.tv_sec || now.st_mtim.tv_nsec != before.st_mtim.tv_nsec ||
            waitid(P_PID, (id_t)its->process, &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid)
            return;
        sleep_for(0.0005);
    }
}

/* Makes a file whose transposition a signal has stopped in the middle, and its journal. */
static matrix stopped_in_the_middle(int signal_number)
{
    for (int tries = 0; tries < 50; ++tries) {
        matrix made = make_matrix(3001, 2003, 4, 1);
        const char *const words[] = {made.raw, memory_option(1 << 20), file_path, NULL};
        last = start(words);
        if (wait_for_journal(&last)) {
            sleep_for(0.0005 * (double)test_random_between(1, 100));
            kill(last.process, signal_number);
        }
        finish(&last);
        if (has_journal() && !file_holds(made.before, made.bytes))
            return made;
        unlink(journal_path);
        unlink(file_path); /* the file has a mark */
        end_matrix(&made);
    }
    fail_msg("it could not be stopped in the middle: %s", last.errors);
    return (matrix){.bytes = 0};
}

/* ------------------------------------------------------------------------------------------------------------------ */
/* Stopped */
/* ------------------------------------------------------------------------------------------------------------------ */

/* Kills runs at random moments until each file is complete. IPT_TEST_KILLS in the environment: the number of kills in
 * the middle of the work. */
static void tool_files_killed(void **state)
{
    (void)state;
    const char *const wanted = getenv("IPT_TEST_KILLS");
    const size_t enough = wanted ? (size_t)strtoull(wanted, NULL, 10) : 12;
    const int only_arrays = getenv("IPT_TEST_ARRAYS") != NULL;
    size_t files = 0, kills = 0, resumed = 0, right = 0, arrays = 0;
    double seconds = 0.1;
    for (; resumed < enough; ++files) {
        static const size_t sizes[] = {1, 2, 3, 4, 7, 8, 12, 16, 24};
        const size_t size = sizes[test_random() % TEST_COUNT(sizes)], batch = test_random() % 4 ? 1 : 3;
        const size_t elements = test_random_between(1, 10) * 1000000 / size / batch;
        size_t rows = test_random_between(2, 3000), cols;
        cols = elements / rows + 1;
        if (test_random() % 2) {
            const size_t swapped = rows;
            rows = cols;
            cols = swapped;
        }
        const int is_array = only_arrays || test_random() % 3 == 0;
        with_headers = !is_array && test_random() % 2;
        matrix its = is_array ? make_array(elements, size, batch) : make_matrix(rows, cols, size, batch);
        const char *const sync = test_random() % 5 ? "--verbose" : "--sync";
        const char *const first[] = {its.raw, its.axes,  sync, memory_option((1 << 18) + its.bytes / 3),
                                     "--",    file_path, NULL};
        const char *const again[] = {"--resume", sync, file_path, NULL};
        int begun = 0, done = 0;
        for (int tries = 0; !done; ++tries) {
            double begin = seconds_now();
            last = start(begun ? again : first);
            if (tries < 6 && test_random() % 8) {
                if (!begun && test_random() % 5)
                    wait_for_journal(&last);
                else if (begun && test_random() % 3)
                    sleep_for(0.15); /* about until the plan exists */
                sleep_for(seconds * (double)test_random_between(0, 1000) / 1000);
                kill(last.process, SIGKILL);
            }
            finish(&last);
            if (WIFEXITED(last.status)) {
                if (WEXITSTATUS(last.status) != 0)
                    fail_msg("%s %s: %s", its.raw, its.desc.batch == 1 ? "" : "batch", last.errors);
                if (!begun)
                    seconds = 0.7 * seconds + 0.3 * (seconds_now() - begin) / 2;
                done = 1;
            } else {
                ++kills;
                assert_true(WTERMSIG(last.status) == SIGKILL);
                begun = has_journal();
                resumed += (size_t)begun;
                /* Without a journal, the work has not begun or has just ended. */
                assert_true(begun || file_holds(its.before, its.bytes) || file_holds(its.after, its.bytes));
                done = !begun && !file_holds(its.before, its.bytes);
            }
        }
        if (!file_holds(its.after, its.bytes))
            fail_msg("%s, batch %zu: wrong after %zu kills", its.raw, its.desc.batch, kills);
        expect_no_journal();
        ++right;
        arrays += (size_t)is_array;
        end_matrix(&its);
    }
    with_headers = 0;
    print_message("%zu files, %zu of them arrays, %zu kills, %zu of them in the middle: %zu right files\n", files,
                  arrays, kills, resumed, right);
    assert_int_equal(right, files);
}

static void tool_files_interrupted(void **state)
{
    (void)state;
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
    for (size_t i = 0; i < TEST_COUNT(signals); ++i) {
        matrix its = stopped_in_the_middle(signals[i]);
        assert_true(WIFEXITED(last.status) && WEXITSTATUS(last.status) == 128 + signals[i]);
        expect_said("stopped after step");
        expect_said("'ipt transpose --resume");
        transpose(1, its.raw, file_path); /* a stopped file is not transposed from the start */
        expect_said("--resume");
        transpose(0, "--resume", file_path);
        assert_true(file_holds(its.after, its.bytes));
        expect_no_journal();
        transpose(1, "--resume", file_path);
        expect_said("no journal");
        assert_true(file_holds(its.after, its.bytes));
        end_matrix(&its);
    }
}

static void tool_files_without_journal(void **state)
{
    (void)state;
    matrix its = make_matrix(1501, 1203, 4, 1);
    transpose(0, its.raw, memory_option(1 << 20), "--no-journal", file_path);
    expect_said("no journal is kept: if this process stops before its end, the file is lost");
    assert_true(file_holds(its.after, its.bytes));
    transpose(1, "--resume", file_path);
    expect_said("no journal");
    transpose(2, "--resume", file_path, "--no-journal");
    transpose(2, "--resume", file_path, its.raw);
    transpose(2, "--sync", file_path, its.raw, "--no-journal");
    transpose(2, its.raw, file_path, "--memory", "12X");
    assert_true(file_holds(its.after, its.bytes));
    end_matrix(&its);
}

/* ------------------------------------------------------------------------------------------------------------------ */
/* Journals that must not be resumed */
/* ------------------------------------------------------------------------------------------------------------------ */

static unsigned char *read_journal(size_t *bytes)
{
    struct stat status;
    assert_int_equal(stat(journal_path, &status), 0);
    *bytes = (size_t)status.st_size;
    unsigned char *content = malloc(*bytes);
    FILE *file = fopen(journal_path, "rb");
    assert_true(content && file && fread(content, 1, *bytes, file) == *bytes);
    fclose(file);
    return content;
}

static void write_journal(const void *bytes, size_t count)
{
    write_file(journal_path, bytes, count);
    assert_int_equal(chmod(journal_path, 0600), 0);
}

/* Expects that --resume is refused with these words and changes nothing. */
static void expect_refused(const char *words)
{
    struct stat status;
    assert_int_equal(stat(file_path, &status), 0);
    unsigned char *file = malloc((size_t)status.st_size);
    FILE *stream = fopen(file_path, "rb");
    assert_true(file && stream && fread(file, 1, (size_t)status.st_size, stream) == (size_t)status.st_size);
    fclose(stream);
    transpose(1, "--resume", file_path);
    expect_said(words);
    assert_true(file_holds(file, (size_t)status.st_size));
    free(file);
}

static void tool_files_bad_journals(void **state)
{
    (void)state;
    matrix its = stopped_in_the_middle(SIGKILL);
    size_t bytes, head = 0;
    unsigned char *const good = read_journal(&bytes), *const bad = malloc(bytes);
    const size_t head_pages = 4096; /* the file has no header, so the journal's head fits a page */
    assert_non_null(bad);
    while (head_pages > head && !good[head_pages - 1 - head])
        ++head; /* zeros after the head */
    head = head_pages - head;
    for (int i = 0; i < 30; ++i) { /* flip a bit of the head, including magic and version */
        memcpy(bad, good, bytes);
        const size_t at = i < 16 ? (size_t)i : test_random_between(16, head - 1);
        bad[at] ^= (unsigned char)(1u << test_random() % 8);
        write_journal(bad, bytes);
        expect_refused(at < 12 ? "is not a journal" : at < 16 ? "another version" : "is damaged");
    }
    memcpy(bad, good, bytes); /* damage both states */
    bad[head_pages] ^= 1;
    bad[head_pages + 512] ^= 1;
    write_journal(bad, bytes);
    expect_refused("is damaged: its state is");
    memset(bad + 2 * head_pages, 0x5a, bytes - 2 * head_pages); /* damage the table and the memory */
    memcpy(bad, good, 2 * head_pages);
    write_journal(bad, bytes);
    expect_refused("is damaged: its table is");
    static const size_t lengths[] = {0, 1, 100, 4096, 8192, 12288};
    for (size_t i = 0; i < TEST_COUNT(lengths); ++i) {
        write_journal(good, lengths[i]);
        expect_refused("damaged");
    }
    write_journal(good, bytes - 4096);
    expect_refused("damaged");
    unlink(journal_path);
    assert_int_equal(mkdir(journal_path, 0700), 0);
    expect_refused("journal");
    rmdir(journal_path);
    assert_int_equal(mkfifo(journal_path, 0600), 0);
    expect_refused("journal");
    unlink(journal_path);
    assert_int_equal(symlink(log_path, journal_path), 0);
    expect_refused("journal");
    unlink(journal_path);

    write_journal(good, bytes); /* other files: a copy of this file, a longer one */
    char kept[PATH_SIZE + 10];
    snprintf(kept, sizeof kept, "%s.kept", file_path);
    assert_int_equal(rename(file_path, kept), 0);
    write_file(file_path, its.before, its.bytes);
    expect_refused("another file");
    assert_int_equal(rename(kept, file_path), 0);

    transpose(0, "--resume", file_path); /* the right journal still works */
    assert_true(file_holds(its.after, its.bytes));
    free(good);
    free(bad);
    end_matrix(&its);
}

/* A resumption checks every part of the journal that it needs before it writes, also the pieces of earlier steps. */
static void tool_files_damaged_journals(void **state)
{
    (void)state;
    size_t pieces = 0;
    for (int times = 0; times < 20 && pieces < 8; ++times) {
        matrix its = stopped_in_the_middle(SIGKILL);
        char message[JOURNAL_MESSAGE_SIZE];
        journal left;
        ipt_plan *plan;
        assert_true(journal_open(&left, journal_path, false, message));
        const journal_job *const job = &left.head->job;
        const ipt_plan_desc desc = {.rows = (size_t)job->rows,
                                    .cols = (size_t)job->cols,
                                    .elem_size = (size_t)job->elem_size,
                                    .max_host_memory = (size_t)job->host_memory};
        plan = test_make_plan(test_context, &desc);
        assert_int_equal(ipt_plan_storage_steps(plan), job->steps);
        for (size_t step = 0; step < left.ready; ++step) {
            const journal_piece piece = left.pieces[step];
            if (!ipt_plan_storage_needs(plan, step, (size_t)left.ready))
                continue;
            unsigned char *const byte = left.memory + piece.offset + test_random_between(0, (size_t)piece.bytes - 1);
            char words[100];
            snprintf(words, sizeof words, "is damaged: the content of step %zu is", step + 1);
            *byte ^= 0x20;
            expect_refused(words);
            *byte ^= 0x20;
            pieces += step + 1 < left.ready;
        }
        left.pieces[left.ready - 1].offset ^= 64; /* the last piece is at a wrong place */
        expect_refused("is damaged: its table is");
        left.pieces[left.ready - 1].offset ^= 64;
        /* as written by a machine of the other byte order */
        journal_head *const head = left.head;
        const journal_head own = *head;
        head->head_bytes = journal_reverse(head->head_bytes);
        head->job.inode = journal_reverse(head->job.inode);
        head->job.device = journal_reverse(head->job.device);
        head->job.mark = journal_reverse(head->job.mark);
        expect_refused("of the other byte order: resume there");
        *head = own;
        ipt_plan_destroy(plan);
        journal_close(&left, false);
        transpose(0, "--resume", file_path);
        assert_true(file_holds(its.after, its.bytes));
        end_matrix(&its);
    }
    assert_true(pieces >= 8);
}

static void tool_files_bad_files(void **state)
{
    (void)state;
    matrix its = make_matrix(1501, 1203, 4, 1);
    assert_int_equal(chmod(file_path, 0400), 0);
    transpose(1, its.raw, file_path);
    expect_said("read-only");
    assert_int_equal(chmod(file_path, 0600), 0);

    int other = open(file_path, O_RDONLY); /* another process works on the file */
    assert_true(other >= 0 && flock(other, LOCK_EX) == 0);
    transpose(1, its.raw, file_path);
    expect_said("another process");
    close(other);

    struct rlimit limit, small; /* room for OpenCL's files, but not for the journal */
    matrix large = make_matrix(5003, 3001, 4, 1);
    const char *const words[] = {large.raw, file_path, NULL};
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    small = limit;
    small.rlim_cur = 40 << 20;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    last = start(words);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    finish(&last);
    assert_true(WIFEXITED(last.status) && WEXITSTATUS(last.status) == 1);
    expect_said("journal");
    expect_no_journal();
    transpose(1, large.raw, file_path, "--memory=1M"); /* no room for the matrix either */
    expect_said("--memory");
    transpose(1, large.raw, file_path, memory_option(9000));
    expect_said("--memory = 9000");
    assert_true(file_holds(large.before, large.bytes));
    end_matrix(&large);

    write_file(file_path, its.before, its.bytes);
    assert_int_equal(mkdir(journal_path, 0700), 0); /* a folder at the journal's path */
    transpose(1, its.raw, file_path);
    assert_true(file_holds(its.before, its.bytes));
    end_matrix(&its);
}

/* The test pauses the tool, and truncates or extends the file meanwhile. */
static void tool_files_that_shrink(void **state)
{
    (void)state;
    for (int longer = 0; longer < 2; ++longer)
        for (int tries = 0, noticed = 0; !noticed; ++tries) {
            matrix its = make_matrix(3001, 2003, 4, 1);
            const char *const words[] = {its.raw, memory_option(1 << 20), file_path, NULL};
            assert_true(tries < 50);
            last = start(words);
            if (wait_for_journal(&last)) {
                kill(last.process, SIGSTOP);
                assert_int_equal(truncate(file_path, (off_t)(longer ? its.bytes + 1 : its.bytes / 2)), 0);
                kill(last.process, SIGCONT);
            }
            finish(&last);
            noticed = WIFEXITED(last.status) && WEXITSTATUS(last.status) == 1;
            if (noticed)
                assert_true(strstr(last.errors, "size has changed") ||
                            (!longer && strstr(last.errors, "became shorter")));
            unlink(journal_path);
            unlink(file_path);
            end_matrix(&its);
        }
}

/* ------------------------------------------------------------------------------------------------------------------ */
/* Other names, copies, and files that crashes and backups leave */
/* ------------------------------------------------------------------------------------------------------------------ */

static const char *in_directory(const char *name)
{
    static char paths[4][2 * PATH_SIZE];
    static unsigned next;
    char *path = paths[next++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", directory, name);
    return path;
}

/* Whether the file system stores extended attributes. */
static int has_attributes(void)
{
    int descriptor = open(in_directory("attributes"), O_RDWR | O_CREAT, 0600);
    assert_true(descriptor >= 0);
    int kept = stopped_keeps_attribute(descriptor, journal_path);
    close(descriptor);
    return kept;
}

static void copy_file(const char *from, const char *to)
{
    unsigned char bytes[1 << 16];
    FILE *source = fopen(from, "rb"), *target = fopen(to, "wb");
    assert_true(source && target);
    for (size_t count; (count = fread(bytes, 1, sizeof bytes, source)) > 0;)
        assert_int_equal(fwrite(bytes, 1, count, target), count);
    fclose(source);
    assert_int_equal(fclose(target), 0);
    assert_int_equal(chmod(to, 0600), 0);
}

/* Expects that the tool refuses to transpose this file from the start, and resumes its transposition. */
static void expect_goes_on(const char *name, const matrix *its, int line)
{
    const char *const anew[] = {its->raw, name, NULL}, *const resume[] = {"--resume", name, NULL};
    last = start(anew);
    finish(&last);
    if (!WIFEXITED(last.status) || WEXITSTATUS(last.status) != 1 || !strstr(last.errors, "--resume"))
        fail_msg("line %d: %s: status %d: %s", line, name, last.status, last.errors);
    last = start(resume);
    finish(&last);
    if (last.status != 0)
        fail_msg("line %d: %s: %s", line, name, last.errors);
    if (access(file_path, F_OK) != 0)
        assert_int_equal(link(name, file_path), 0);
    if (!file_holds(its->after, its->bytes))
        fail_msg("line %d: %s: wrong", line, name);
    expect_no_journal();
}

static void tool_files_other_names(void **state)
{
    (void)state;
    for (with_headers = 0; with_headers < 2; ++with_headers) {
        static const char *const names[] = {"elsewhere/link", "elsewhere/hard", "hard", "elsewhere/moved", "moved"};
        mkdir(in_directory("elsewhere"), 0700);
        for (size_t i = 0; i < TEST_COUNT(names); ++i) {
            matrix its = stopped_in_the_middle(SIGKILL);
            const int leaves_folder = i == 1 || i == 3;
            const char *const name = in_directory(names[i]);
            unsigned char magic[6];
            FILE *file = fopen(file_path, "rb");
            assert_true(file && fread(magic, 1, sizeof magic, file) == sizeof magic);
            fclose(file);
            if (with_headers)
                assert_true(memcmp(magic, "\x93NUMPY", sizeof magic) != 0); /* no reader accepts a stopped file */
            assert_int_equal(i == 0   ? symlink(file_path, name)
                             : i <= 2 ? link(file_path, name)
                                      : rename(file_path, name),
                             0);
            if (leaves_folder && !with_headers && !has_attributes())
                print_message("%s is left out: no attributes here\n", names[i]);
            else
                expect_goes_on(name, &its, __LINE__);
            unlink(name);
            unlink(journal_path);
            end_matrix(&its);
        }
        for (int both = 0; both < 2; ++both) { /* through the link first, then by the real name; both have moved */
            matrix its = stopped_in_the_middle(SIGKILL);
            char moved[PATH_SIZE];
            snprintf(moved, sizeof moved, "%s/elsewhere/moved", directory);
            if (both) {
                char moved_journal[PATH_SIZE + 20];
                snprintf(moved_journal, sizeof moved_journal, "%s.ipt-journal", moved);
                assert_int_equal(rename(file_path, moved), 0);
                assert_int_equal(rename(journal_path, moved_journal), 0);
            } else {
                assert_int_equal(rename(journal_path, in_directory("another-name.ipt-journal")), 0);
            }
            expect_goes_on(both ? moved : file_path, &its, __LINE__);
            unlink(moved);
            end_matrix(&its);
        }
    }
}

/* A transposition through a link has its journal beside the real file. */
static void tool_files_through_links(void **state)
{
    (void)state;
    matrix its = make_matrix(3001, 2003, 4, 1);
    const char *const link_path = in_directory("elsewhere-link");
    assert_int_equal(symlink("matrix", link_path), 0);
    const char *const words[] = {its.raw, memory_option(1 << 20), link_path, NULL};
    last = start(words);
    assert_true(wait_for_journal(&last));
    kill(last.process, SIGKILL);
    finish(&last);
    assert_int_equal(access(journal_path, F_OK), 0);
    expect_goes_on(file_path, &its, __LINE__);
    end_matrix(&its);
}

static void tool_files_copies(void **state)
{
    (void)state;
    with_headers = 1;
    matrix its = stopped_in_the_middle(SIGKILL);
    const char *const copy = in_directory("copy");
    copy_file(file_path, copy);
    transpose(1, copy);
    expect_said("half transposed");
    transpose(1, "--resume", copy);
    expect_said("half transposed");
    copy_file(journal_path, in_directory("copy.ipt-journal"));
    transpose(1, "--resume", copy);
    expect_said("another file");
    expect_goes_on(file_path, &its, __LINE__); /* the original is unharmed */
    write_file(file_path, its.before, its.bytes);
    assert_int_equal(rename(in_directory("copy.ipt-journal"), journal_path), 0);
    assert_int_equal(rename(file_path, in_directory("away")), 0);
    write_file(file_path, its.before, its.bytes); /* the file has new content */
    transpose(1, file_path);
    expect_said("is the journal of another file");
    expect_said("remove the journal");
    assert_true(file_holds(its.before, its.bytes));
    unlink(journal_path);
    transpose(0, file_path);
    assert_true(file_holds(its.after, its.bytes));
    end_matrix(&its);
}

/* Opens the journal at its path. */
static journal open_journal(void)
{
    journal opened;
    char message[JOURNAL_MESSAGE_SIZE];
    if (!journal_open(&opened, journal_path, false, message))
        fail_msg("%s", message);
    return opened;
}

/* Expects that the file is refused with these words, with and without --resume, and stays unchanged. */
static void expect_both_refused(const matrix *its, const unsigned char *content, const char *words)
{
    transpose(1, its->raw, file_path);
    expect_said(words);
    transpose(1, "--resume", file_path);
    expect_said(words);
    assert_true(file_holds(content, its->bytes));
}

/* Journals left by a kill between the last step and the journal's removal, and old journals. */
static void tool_files_left_journals(void **state)
{
    (void)state;
    char message[JOURNAL_MESSAGE_SIZE];
    for (with_headers = 0; with_headers < 2; ++with_headers) {
        matrix its = stopped_in_the_middle(SIGKILL);
        const int attributes = has_attributes();
        const char *const kept = in_directory("kept");
        copy_file(journal_path, kept);
        transpose(0, "--resume", file_path);
        transpose(1, "--resume", file_path);
        expect_said("the file has no journal");
        if (with_headers || attributes)
            expect_said("no mark");

        copy_file(kept, journal_path); /* an old journal from a backup, after the work has ended */
        if (with_headers || attributes)
            expect_both_refused(&its, its.after, "no mark of the transposition");

        copy_file(kept, journal_path); /* a backup from a kill in the first step */
        journal left = open_journal();
        const journal_entry nothing = {0};
        memset(left.state, 0, 2 * JOURNAL_ENTRY_STEP);
        journal_write_entry(&left, &nothing);
        journal_close(&left, false);
        if (with_headers || attributes)
            expect_both_refused(&its, its.after, "no mark of the transposition");

        copy_file(kept, journal_path); /* killed before the journal was removed */
        left = open_journal();
        assert_true(journal_end(&left, left.descriptor, message));
        journal_close(&left, false);
        transpose(1, its.raw, file_path);
        expect_said("has ended");
        transpose(0, "--resume", file_path);
        assert_true(file_holds(its.after, its.bytes));
        expect_no_journal();

        copy_file(kept, journal_path); /* killed before the marks were removed */
        left = open_journal();
        assert_true(journal_end(&left, left.descriptor, message));
        int descriptor = open(file_path, O_RDWR);
        assert_true(descriptor >= 0);
        if (attributes)
            assert_true(stopped_set_attribute(descriptor, left.head->job.mark, journal_path));
        if (with_headers) {
            assert_int_equal(pwrite(descriptor, its.before, HEADER_SIZE, 0), HEADER_SIZE);
            assert_int_equal(pwrite(descriptor, NPY_MARK, NPY_MAGIC_SIZE, 0), NPY_MAGIC_SIZE);
        }
        journal_close(&left, false);
        transpose(1, its.raw, file_path);
        transpose(0, "--resume", file_path);
        assert_true(file_holds(its.after, its.bytes));
        expect_no_journal();

        assert_int_equal(pwrite(descriptor, its.before, its.bytes, 0), (ssize_t)its.bytes); /* killed before any step */
        close(descriptor);
        copy_file(kept, journal_path);
        left = open_journal();
        memset(left.state, 0, JOURNAL_PAGE);
        memset(left.known, 0, JOURNAL_PAGE);
        journal_write_entry(&left, &nothing);
        journal_close(&left, false);
        if (with_headers || attributes) {
            transpose(1, its.raw, file_path);
            expect_said("before it changed anything");
        }
        transpose(0, "--resume", file_path);
        assert_true(file_holds(its.after, its.bytes));
        expect_no_journal();
        write_file(file_path, its.before, its.bytes); /* without a mark */
        transpose(0, its.raw, file_path);
        assert_true(file_holds(its.after, its.bytes));
        end_matrix(&its);
    }
}

/* A stopped file whose journal is lost, or was disabled, is refused. A copy with new content is accepted. */
static void tool_files_lost_journals(void **state)
{
    (void)state;
    for (with_headers = 0; with_headers < 2; ++with_headers) {
        matrix its = stopped_in_the_middle(SIGKILL);
        if (!with_headers && !has_attributes()) {
            unlink(journal_path);
            end_matrix(&its);
            continue;
        }
        unlink(journal_path);
        transpose(1, its.raw, file_path);
        expect_said("half transposed");
        transpose(1, "--resume", file_path);
        expect_said("half transposed");
        unlink(file_path);
        end_matrix(&its);

        for (int tries = 0, lost = 0; !lost; ++tries) {
            assert_true(tries < 50);
            its = make_matrix(3001, 2003, 4, 1);
            const char *const words[] = {its.raw, memory_option(1 << 20), "--no-journal", file_path, NULL};
            last = start(words);
            wait_for_change(&last);
            sleep_for(0.0001 * (double)test_random_between(0, 100));
            kill(last.process, SIGKILL);
            finish(&last);
            lost = !file_holds(its.before, its.bytes) && !file_holds(its.after, its.bytes);
            if (lost) {
                transpose(1, its.raw, file_path);
                expect_said("half transposed");
                write_file(file_path, its.before, its.bytes);
                const char *const copy = in_directory("copy");
                copy_file(file_path, copy);
                assert_int_equal(rename(copy, file_path), 0);
                transpose(0, its.raw, file_path);
                assert_true(file_holds(its.after, its.bytes));
            }
            unlink(file_path);
            end_matrix(&its);
        }
    }
}

/* ------------------------------------------------------------------------------------------------------------------ */
/* Other users and programs */
/* ------------------------------------------------------------------------------------------------------------------ */

static void expect_content(const char *path, const char *content)
{
    char found[100] = "";
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    found[fread(found, 1, sizeof found - 1, file)] = '\0';
    fclose(file);
    assert_string_equal(found, content);
}

/* A user's files at the old and new paths of a journal, also hard links of files elsewhere. */
static void tool_files_foreign_names(void **state)
{
    (void)state;
    static const char *const contents[] = {"my notes\n", ""};
    matrix its = make_matrix(101, 203, 4, 1);
    for (size_t i = 0; i < 2 * TEST_COUNT(contents); ++i) {
        const char *const content = contents[i / 2], *const former = in_directory("matrix.ipt-journal.new");
        const char *const elsewhere = in_directory("precious");
        write_file(former, content, strlen(content));
        write_file(i % 2 ? elsewhere : journal_path, content, strlen(content));
        if (i % 2)
            assert_int_equal(link(elsewhere, journal_path), 0);
        transpose(1, its.raw, file_path);
        expect_said("another file occupies the path of its journal");
        transpose(1, "--resume", file_path);
        expect_content(journal_path, content);
        unlink(journal_path);
        write_file(file_path, its.before, its.bytes);
        transpose(0, its.raw, file_path);
        assert_true(file_holds(its.after, its.bytes));
        write_file(file_path, its.before, its.bytes);
        expect_content(former, content);
        if (i % 2)
            expect_content(elsewhere, content);
    }
    end_matrix(&its);
}

/* A journal that other users may have written, or that has a second name. */
static void tool_files_untrusted_journals(void **state)
{
    (void)state;
    matrix its = stopped_in_the_middle(SIGKILL);
    for (int kind = 0; kind < 4; ++kind) {
        const char *const second = in_directory("second");
        if (kind == 3 && geteuid() != 0) {
            print_message("another user's journal is left out: this needs root\n");
            continue;
        }
        assert_int_equal(kind < 2    ? chmod(journal_path, kind ? 0602 : 0620)
                         : kind == 2 ? link(journal_path, second)
                                     : chown(journal_path, 12342, (gid_t)-1),
                         0);
        const char *const words = kind < 2 ? "other users can write to" : kind == 2 ? "has 2 names" : "another user";
        expect_refused(words);
        transpose(1, its.raw, file_path);
        expect_said(words);
        unlink(second);
        assert_int_equal(chmod(journal_path, 0600), 0);
        assert_int_equal(chown(journal_path, geteuid(), (gid_t)-1), 0);
    }
    expect_goes_on(file_path, &its, __LINE__);
    end_matrix(&its);
}

/* An incomplete journal, as after a kill: the next run removes it, unless another process is still writing it. */
static void tool_files_unfinished_journals(void **state)
{
    (void)state;
#ifdef _WIN32 /* first: Windows cannot remove an open file */
    test_skip("Windows: no locks of POSIX");
#endif
    matrix its = make_matrix(101, 203, 4, 1);
    for (int resumes = 0; resumes < 2; ++resumes) {
        write_file(file_path, its.before, its.bytes);
        write_journal(JOURNAL_MAGIC_BEGUN, sizeof JOURNAL_MAGIC_BEGUN);
        int maker = open(journal_path, O_RDONLY);
        assert_true(maker >= 0 && flock(maker, LOCK_EX) == 0);
        transpose(1, its.raw, file_path);
        assert_int_equal(access(journal_path, F_OK), 0);
        close(maker);
        if (resumes) {
            transpose(1, "--resume", file_path);
            expect_said("before it changed anything: start it again");
            expect_no_journal();
        }
        transpose(0, its.raw, file_path);
        assert_true(file_holds(its.after, its.bytes));
        expect_no_journal();
    }
    end_matrix(&its);
}

/* Another program changes a stopped file in place: all bytes; after a stop by a signal, one byte or only the time. */
static void tool_files_replaced_content(void **state)
{
    (void)state;
    for (with_headers = 0; with_headers < 2; ++with_headers)
        for (int ends = 0; ends < 2; ++ends) { /* 1: stopped by a signal */
            matrix its = stopped_in_the_middle(ends ? SIGTERM : SIGKILL);
            const size_t header = with_headers ? HEADER_SIZE : 0, data = its.bytes - header;
            unsigned char *const stopped = malloc(its.bytes), *const other = malloc(its.bytes);
            struct stat status;
            int file = open(file_path, O_RDWR);
            assert_true(stopped && other && file >= 0 && fstat(file, &status) == 0);
            assert_int_equal(pread(file, stopped, its.bytes, 0), (ssize_t)its.bytes);
            memcpy(other, stopped, its.bytes);
            test_fill(other + header, data);
            assert_int_equal(pwrite(file, other + header, data, (off_t)header), (ssize_t)data);
            expect_both_refused(&its, other, "its content has been replaced");
            assert_int_equal(pwrite(file, stopped + header, data, (off_t)header), (ssize_t)data);
            if (ends) {
                stopped[its.bytes - 1] ^= 1;
                assert_int_equal(pwrite(file, stopped + its.bytes - 1, 1, (off_t)its.bytes - 1), 1);
                transpose(1, "--resume", file_path);
                assert_true(file_holds(stopped, its.bytes));
                stopped[its.bytes - 1] ^= 1;
                assert_int_equal(pwrite(file, stopped + its.bytes - 1, 1, (off_t)its.bytes - 1), 1);
                char words[60];
                snprintf(words, sizeof words, "touch -d @%lld.%09ld", (long long)status.st_mtim.tv_sec,
                         status.st_mtim.tv_nsec);
                expect_both_refused(&its, stopped, words);
                const struct timespec times[2] = {status.st_mtim, status.st_mtim}; /* follow the message's advice */
                assert_int_equal(futimens(file, times), 0);
            }
            close(file);
            expect_goes_on(file_path, &its, __LINE__);
            free(stopped);
            free(other);
            end_matrix(&its);
        }
}

/* The message for a stopped file of another size does not advise --resume, which would refuse the file. */
static void tool_files_other_sizes(void **state)
{
    (void)state;
    matrix its = stopped_in_the_middle(SIGKILL);
    char truncate_words[60];
    snprintf(truncate_words, sizeof truncate_words, "truncate -s %zu", its.bytes);
    unsigned char *const stopped = malloc(its.bytes);
    int file = open(file_path, O_RDWR);
    assert_true(stopped && file >= 0 && pread(file, stopped, its.bytes, 0) == (ssize_t)its.bytes);
    for (int longer = 0; longer < 2; ++longer) {
        assert_int_equal(ftruncate(file, (off_t)its.bytes + (longer ? 1 : -1)), 0);
        for (int resumes = 0; resumes < 2; ++resumes) {
            if (resumes)
                transpose(1, "--resume", file_path);
            else
                transpose(1, its.raw, file_path);
            expect_said(longer ? truncate_words : "a part of it is lost");
            assert_true(!strstr(last.errors, "--resume"));
        }
    }
    assert_int_equal(ftruncate(file, (off_t)its.bytes), 0);
    assert_int_equal(pwrite(file, stopped, its.bytes, 0), (ssize_t)its.bytes);
    close(file);
    expect_goes_on(file_path, &its, __LINE__);
    free(stopped);
    end_matrix(&its);
}

/* File names up to the longest possible, of characters of one byte and of two. */
static void tool_files_long_names(void **state)
{
    (void)state;
    static const int lengths[] = {238, 240, 243, 244, 254, 255};
    for (size_t i = 0; i < 2 * TEST_COUNT(lengths); ++i) {
        const int length = lengths[i / 2];
        char name[256], other[256], path[PATH_SIZE], journal_of_it[4096], message[JOURNAL_MESSAGE_SIZE];
        memset(name, 'n', sizeof name);
        for (int at = 2; i % 2 && at + 1 < length; at += 2)
            memcpy(name + at, "\xc3\xa4", 2);
        name[length] = '\0';
        memcpy(other, name, sizeof other);
        other[0] = 'o';
        matrix its = make_matrix(3001, 2003, 4, 1);
        snprintf(path, sizeof path, "%s", in_directory(name));
        assert_int_equal(rename(file_path, path), 0);
        assert_true(journal_name(journal_of_it, sizeof journal_of_it, path, message));
        assert_true(strlen(strrchr(journal_of_it, '/') + 1) <= 255);
        const char *const words[] = {its.raw, memory_option(1 << 20), path, NULL};
        last = start(words);
        for (int tries = 0; tries < RUN_SECONDS * 2000 && access(journal_of_it, F_OK) != 0; ++tries)
            sleep_for(0.0005);
        sleep_for(0.02);
        kill(last.process, SIGTERM);
        finish(&last);
        if (access(journal_of_it, F_OK) == 0)
            transpose(0, "--resume", path);
        else if (!WIFEXITED(last.status) || WEXITSTATUS(last.status) != 0)
            transpose(0, its.raw, path);
        assert_int_equal(access(journal_of_it, F_OK), -1);
        transpose(0, path, "-o", in_directory(other), "--raw=2003x3001:4");
        assert_int_equal(rename(path, file_path), 0);
        assert_true(file_holds(its.after, its.bytes));
        assert_int_equal(rename(in_directory(other), file_path), 0);
        assert_true(file_holds(its.before, its.bytes));
        end_matrix(&its);
    }
    char name[300];
    memset(name, 'n', 256);
    name[256] = '\0';
    transpose(1, file_path, "-o", in_directory(name), "--raw=3001x2003:4");
    expect_said("File name too long");
}

/* Signals that are ignored, as under nohup or `&` in a script. */
static void tool_files_ignored_signals(void **state)
{
    (void)state;
    static const int signals[] = {SIGHUP, SIGINT, SIGTERM, SIGQUIT};
    for (size_t i = 0; i < TEST_COUNT(signals); ++i) {
        matrix its = make_matrix(3001, 2003, 4, 1);
        const char *const words[] = {its.raw, memory_option(1 << 20), file_path, NULL};
        struct sigaction before;
        assert_int_equal(sigaction(signals[i], NULL, &before), 0);
        signal(signals[i], SIG_IGN);
        last = start(words);
        sigaction(signals[i], &before, NULL);
        for (int running = wait_for_journal(&last); running;) {
            siginfo_t info = {0};
            kill(last.process, signals[i]);
            sleep_for(0.005);
            running = waitid(P_PID, (id_t)last.process, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && !info.si_pid;
        }
        finish(&last);
        if (!WIFEXITED(last.status) || WEXITSTATUS(last.status) != 0)
            fail_msg("signal %d: status %d: %s", signals[i], last.status, last.errors);
        assert_true(file_holds(its.after, its.bytes));
        end_matrix(&its);
    }
}

/* ------------------------------------------------------------------------------------------------------------------ */
/* --output */
/* ------------------------------------------------------------------------------------------------------------------ */

static unsigned rights_of(const char *path)
{
    struct stat status;
    assert_int_equal(stat(path, &status), 0);
    return status.st_mode & 07777;
}

static size_t count_entries(void)
{
    size_t count = 0;
    DIR *folder = opendir(directory);
    assert_non_null(folder);
    while (readdir(folder))
        ++count;
    closedir(folder);
    return count;
}

/* A new output is as private as its input. An output that replaces a file takes over its rights and owner. */
static void tool_outputs_keep_rights(void **state)
{
    (void)state;
    const mode_t mask = umask(022);
    matrix its = make_matrix(101, 203, 4, 1);
    const char *const output = in_directory("output");
    assert_int_equal(chmod(file_path, 0600), 0);
    transpose(0, its.raw, file_path, "-o", output);
    assert_int_equal(rights_of(output), 0600);
    unlink(output);
    assert_int_equal(chmod(file_path, 0777), 0);
    transpose(0, its.raw, file_path, "-o", output);
    assert_int_equal(rights_of(output), 0644);
    static const unsigned kept[] = {0600, 0640, 0660, 0755};
    for (size_t i = 0; i < TEST_COUNT(kept); ++i) {
        assert_int_equal(chmod(output, kept[i]), 0);
        transpose(0, its.raw, file_path, "-o", output);
        assert_int_equal(rights_of(output), kept[i]);
    }
    if (geteuid() == 0) {
        struct stat status;
        assert_int_equal(chown(output, 12341, 12342), 0);
        transpose(0, its.raw, file_path, "-o", output);
        assert_int_equal(stat(output, &status), 0);
        assert_true(status.st_uid == 12341 && status.st_gid == 12342);
    } else {
        print_message("the owner is left out: this needs root\n");
    }
    assert_int_equal(chmod(output, 0444), 0);
    transpose(1, its.raw, file_path, "-o", output);
    expect_said("read-only");
    umask(mask);
    end_matrix(&its);
}

/* The tool does not replace a file that another ipt transposes or has left in the middle. Other files stay. */
static void tool_outputs_respect_files(void **state)
{
    (void)state;
    for (with_headers = 0; with_headers < 2; ++with_headers) {
        char input[PATH_SIZE];
        snprintf(input, sizeof input, "%s", in_directory(with_headers ? "input.npy" : "input"));
        char output[PATH_SIZE];
        snprintf(output, sizeof output, "%s", in_directory(with_headers ? "output.npy" : "output"));
        matrix its = make_matrix(101, 203, 4, 1);
        assert_int_equal(rename(file_path, input), 0);
        end_matrix(&its);
        matrix target = stopped_in_the_middle(SIGKILL);
        assert_int_equal(rename(file_path, output), 0);
        const char *const raw = with_headers ? "--verbose" : "--raw=101x203:4";
        const size_t entries = count_entries();
        transpose(1, raw, input, "-o", output);
        expect_said("its own transposition was stopped");
        assert_int_equal(count_entries(), entries);
        transpose(0, "--resume", output);
        assert_int_equal(rename(output, file_path), 0);
        assert_true(file_holds(target.after, target.bytes));
        assert_int_equal(rename(file_path, output), 0);

        int other = open(output, O_RDWR); /* as if another ipt transposed the file */
        assert_true(other >= 0 && flock(other, LOCK_EX) == 0);
        transpose(1, raw, input, "-o", output);
        expect_said("another process is transposing it");
        close(other);
        char leftover[PATH_SIZE], former[PATH_SIZE];
        snprintf(leftover, sizeof leftover, "%s", in_directory("ipt-draft-0123456789abcdef.tmp"));
        snprintf(former, sizeof former, "%s", in_directory("output.1.tmp"));
        write_file(leftover, "notes", 5);
        write_file(former, "notes", 5);
        const size_t more = count_entries();
        transpose(0, raw, input, "-o", output);
        assert_int_equal(count_entries(), more);
        expect_content(leftover, "notes");
        expect_content(former, "notes");
        unlink(output);
        assert_int_equal(symlink("nothing", output), 0);
        transpose(1, raw, input, "-o", output);
        expect_said("a link to a file that does not exist");
        unlink(output);
        end_matrix(&target);
    }
}

/* A stop at any moment leaves only the old output. */
static void tool_outputs_stopped(void **state)
{
    (void)state;
    static const int signals[] = {SIGTERM, SIGINT, SIGHUP, SIGKILL};
    matrix its = make_matrix(3001, 2003, 4, 1);
    const char *const output = in_directory("output");
    const char *const words[] = {its.raw, memory_option(1 << 20), file_path, "-o", output, NULL};
    for (int i = 0; i < 12; ++i) {
        write_file(output, "old", 3);
        last = start(words);
        const size_t entries = count_entries();
        sleep_for(0.001 * (double)test_random_between(0, 500));
        kill(last.process, signals[i % 4]);
        finish(&last);
        if (WIFEXITED(last.status))
            assert_int_equal(WEXITSTATUS(last.status), 0);
        else
            expect_content(output, "old");
        if (signals[i % 4] != SIGKILL)
            assert_int_equal(count_entries(), entries);
    }
    end_matrix(&its);
}

/* ------------------------------------------------------------------------------------------------------------------ */
/* Memory, and the line on a terminal */
/* ------------------------------------------------------------------------------------------------------------------ */

static void tool_files_resident_memory(void **state)
{
    (void)state;
    matrix its = make_matrix(9001, 6333, 4, 1);
    static const size_t allowed[] = {(size_t)640 << 20, 160 << 20, 224 << 20};
    for (size_t i = 0; i < TEST_COUNT(allowed); ++i) {
        char option[60];
        snprintf(option, sizeof option, "--memory=%zuM", allowed[i] >> 20);
        const char *const words[] = {its.raw, option, "--verbose", file_path, NULL};
        write_file(file_path, its.before, its.bytes); /* the first run compiles: OpenCL's memory does not count */
        last = start(words);
        finish(&last);
        write_file(file_path, its.before, its.bytes);
        last = start(words);
        const size_t resident = most_resident(&last);
        finish(&last);
        if (strstr(last.errors, "of which OpenCL and the program take")) { /* a GPU's driver */
            print_message("%s", last.errors);
            test_skip("the driver takes more memory than the file may");
        }
        assert_true(last.status == 0 && file_holds(its.after, its.bytes));
        print_message("%.1f MB: %.1f allowed, %.1f resident; %s", 1e-6 * (double)its.bytes, 1e-6 * (double)allowed[i],
                      1e-6 * (double)resident, strstr(last.errors, "seconds, "));
        assert_in_range(resident, 1 << 20, allowed[i]);
    }
    end_matrix(&its);
}

/* Transposes the file with a terminal as standard input and output, and as standard error unless errors is a
 * descriptor. Returns the length of what the terminal shows. */
static size_t transpose_on_terminal(const matrix *its, int errors, char text[TEXT_SIZE])
{
    size_t length = 0;
    int terminal;
    const char *const tool = process_tool(), *const memory = memory_option(4 << 20);
    write_file(file_path, its->before, its->bytes);
    pid_t child = forkpty(&terminal, NULL, NULL, NULL);
    if (child < 0)
        test_skip("this system has no pseudo-terminals");
    if (child == 0) {
        alarm(RUN_SECONDS);
        if (errors >= 0)
            dup2(errors, STDERR_FILENO);
        execl(tool, "ipt", "transpose", its->raw, memory, file_path, NULL);
        _exit(127);
    }
    for (;;) {
        ssize_t got = read(terminal, text + length, TEXT_SIZE - 1 - length);
        if (got <= 0 && errno != EINTR)
            break;
        length += got > 0 ? (size_t)got : 0;
        if (length == TEXT_SIZE - 1)
            length = 0;
    }
    text[length] = '\0';
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    close(terminal);
    assert_int_equal(status, 0);
    assert_true(file_holds(its->after, its->bytes));
    return length;
}

/* If standard error is a terminal, the tool shows a bar without colours; otherwise nothing. */
static void tool_files_progress(void **state)
{
    (void)state;
    matrix its = make_matrix(6001, 3001, 4, 1);
    char text[TEXT_SIZE];
    transpose_on_terminal(&its, -1, text);
    assert_true(strstr(text, "matrix: [") && strstr(text, "#.") && strstr(text, " 50 %"));
    for (const char *escape = text; (escape = strstr(escape, "\033[")) != NULL; escape += 2)
        assert_true(escape[2 + strspn(escape + 2, "0123456789;")] != 'm');
    FILE *errors = tmpfile();
    assert_non_null(errors);
    assert_int_equal(transpose_on_terminal(&its, fileno(errors), text), 0);
    assert_int_equal(lseek(fileno(errors), 0, SEEK_END), 0);
    fclose(errors);
    write_file(file_path, its.before, its.bytes);
    transpose(0, its.raw, memory_option(4 << 20), file_path);
    assert_string_equal(last.errors, "");
    end_matrix(&its);
}

#define FILES_CASE(function) cmocka_unit_test_setup_teardown(function, make_directory, remove_directory)

const struct CMUnitTest test_files[] = {
    FILES_CASE(tool_files_killed),
    FILES_CASE(tool_files_interrupted),
    FILES_CASE(tool_files_without_journal),
    FILES_CASE(tool_files_bad_journals),
    FILES_CASE(tool_files_damaged_journals),
    FILES_CASE(tool_files_bad_files),
    FILES_CASE(tool_files_that_shrink),
    FILES_CASE(tool_files_other_names),
    FILES_CASE(tool_files_through_links),
    FILES_CASE(tool_files_copies),
    FILES_CASE(tool_files_left_journals),
    FILES_CASE(tool_files_lost_journals),
    FILES_CASE(tool_files_foreign_names),
    FILES_CASE(tool_files_untrusted_journals),
    FILES_CASE(tool_files_unfinished_journals),
    FILES_CASE(tool_files_replaced_content),
    FILES_CASE(tool_files_other_sizes),
    FILES_CASE(tool_files_long_names),
    FILES_CASE(tool_files_ignored_signals),
    FILES_CASE(tool_outputs_keep_rights),
    FILES_CASE(tool_outputs_respect_files),
    FILES_CASE(tool_outputs_stopped),
    FILES_CASE(tool_files_resident_memory),
    FILES_CASE(tool_files_progress),
};
const size_t test_files_count = TEST_COUNT(test_files);
