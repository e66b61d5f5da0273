/* The steps of the work: what the library calls to read, to write and to tell that a step is ready. */
#define _GNU_SOURCE /* sync_file_range */

#include "stored.h"
#include "messages.h"
#include "seconds.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { EXIT_SIGNAL = 128 };

#define PROGRESS_FROM ((size_t)64 << 20) /* bytes of a file that takes long enough to watch */

static volatile sig_atomic_t stop_asked; /* the signal that did */

static void ask_to_stop(int signal_number)
{
    stop_asked = signal_number;
}

static pthread_mutex_t sentence_lock = PTHREAD_MUTEX_INITIALIZER;

/* Keeps the first sentence. Returns what a callback returns then. */
static int stored_failed(stored_work *work, const char *what, const char *why)
{
    pthread_mutex_lock(&sentence_lock);
    if (work->sentence[0] == '\0') {
        snprintf(work->sentence, sizeof work->sentence, "%s: %s", what, why);
    }
    pthread_mutex_unlock(&sentence_lock);
    return 1;
}

static int stored_read(void *memory, size_t offset, size_t bytes, void *user)
{
    stored_work *work = user;
    int error = file_transfer(work->file, memory, work->file->data_offset + offset, bytes, false);
    return error == 0 ? 0 : stored_failed(work, "reading failed", file_transfer_error(error));
}

static int stored_write(const void *memory, size_t offset, size_t bytes, void *user)
{
    stored_work *work = user;
    int error = file_transfer(work->file, (void *)(uintptr_t)memory, work->file->data_offset + offset, bytes, true);
#ifdef SYNC_FILE_RANGE_WRITE
    /* On its way to the disk at once: else the system writes all that is waiting, again and again the journal with it.
     * A file of 4 GB with 256 MB of memory took 10 s so, and 27 s without. */
    if (error == 0) {
        sync_file_range(work->file->descriptor, (off_t)(work->file->data_offset + offset), (off_t)bytes,
                        SYNC_FILE_RANGE_WRITE);
    }
#endif
    return error == 0 ? 0 : stored_failed(work, "writing failed", file_transfer_error(error));
}

/* The line on a terminal: how much is done, how fast it goes, how long it will take. */
static void show_work(const stored_work *work, size_t done)
{
    enum { WIDTH = 30 };
    char bar[WIDTH + 1], left[80] = "";
    double part = (double)done / (double)work->steps, seconds = seconds_now() - work->start;
    double bytes = (double)(done - work->first_step) / (double)work->steps * (double)work->file->size;
    if (work->file->size < PROGRESS_FROM || !isatty(STDERR_FILENO)) {
        return;
    }
    for (int i = 0; i < WIDTH; i++) {
        bar[i] = i < (int)(part * WIDTH) ? '#' : '.';
    }
    bar[WIDTH] = '\0';
    if (done > work->first_step && seconds > 1) {
        unsigned long rest =
            (unsigned long)(seconds / (double)(done - work->first_step) * (double)(work->steps - done));
        snprintf(left, sizeof left, "  %.0f MB/s  %lu:%02lu left", 1e-6 * bytes / seconds, rest / 60, rest % 60);
    }
    message_progress("%s: [%s] %3.0f %%%s", work->file->path, bar, 100 * part, left);
}

static int stored_ready(size_t step, size_t steps, const void *content, size_t bytes, void *user)
{
    stored_work *work = user;
    struct stat status;
    char message[JOURNAL_MESSAGE_SIZE];
    work->steps = steps;
    if (stop_asked != 0 && (work->has_journal || step == 0)) {
        return 1;
    }
    if (stop_asked != 0 && !work->warned) {
        message_clear_progress();
        fprintf(stderr, "ipt: %s: without a journal, stopping now would lose it: ask again to do so\n",
                work->file->path);
        work->warned = true;
        signal((int)stop_asked, SIG_DFL);
    }
    if (fstat(work->file->descriptor, &status) != 0 || (uintmax_t)status.st_size != work->file->size) {
        return stored_failed(work, "its size has changed", "somebody else writes to it");
    }
    if (work->has_journal && !journal_note(&work->journal, work->file->descriptor, step, content, bytes, message)) {
        return stored_failed(work, "its journal", message);
    }
    show_work(work, step);
    return 0;
}

const char *stored_before_name(const char *path)
{
    return path[0] == '-' ? "-- " : "";
}

/* Tells how far the work came and what to do. */
static void tell_stop(const stored_work *work)
{
    const char *path = work->file->path;
    char of[40] = "";
    if (!work->has_journal) {
        fprintf(stderr, "ipt: %s: the file is damaged: part of it is transposed\n", path);
        return;
    }
    if (work->steps > 0) {
        snprintf(of, sizeof of, " of %zu", work->steps);
    }
    fprintf(stderr, "ipt: %s: stopped after step %llu%s: 'ipt transpose --resume %s%s' goes on\n", path,
            (unsigned long long)work->journal.ready, of, stored_before_name(path), path);
}

int stored_do_steps(stored_work *work)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
    const char *path = work->file->path;
    ipt_storage storage = {stored_read, stored_write, stored_ready, work, NULL, 0};
    if (work->has_journal) {
        storage.memory = work->journal.memory;
        storage.resume = (size_t)work->journal.ready;
        work->first_step = storage.resume;
    } else {
        fprintf(stderr, "ipt: %s: there is no journal: if this is stopped before its end, the file is lost\n", path);
    }
    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++) {
        struct sigaction action = {0};
        action.sa_handler = ask_to_stop;
        sigaction(signals[i], &action, NULL);
    }
    work->start = seconds_now();
    ipt_result result = ipt_plan_execute_storage(work->plan, &storage);
    message_clear_progress();
    if (result == IPT_SUCCESS) {
        return 0;
    }
    if (work->sentence[0] != '\0') {
        message_fail("%s: %s", path, work->sentence);
    } else if (stop_asked == 0) {
        message_fail_ipt(path);
    }
    /* What goes on had changed the file before. */
    if (result != IPT_ERROR_INCOMPLETE && work->first_step == 0) {
        stored_leave_as_it_was(work);
    } else {
        tell_stop(work);
    }
    return stop_asked != 0 ? EXIT_SIGNAL + (int)stop_asked : EXIT_FAILURE;
}
