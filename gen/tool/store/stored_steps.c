/* The steps of the work: the callbacks that read, write and record a step. */
#define _POSIX_C_SOURCE 200809L

#include "stored.h"
#include "gen/tool/base/messages.h"
#include "gen/tool/base/seconds.h"
#include "gen/tool/base/system.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { EXIT_SIGNAL = 128 };

#define PROGRESS_FROM ((size_t)64 << 20) /* bytes of the smallest file with a progress line */

static volatile sig_atomic_t stop_signal; /* the signal that requested a stop; 0: none */

static void request_stop(int signal_number)
{
    stop_signal = signal_number;
}

void stored_catch_stops(void)
{
    system_catch_stops(request_stop);
}

int stored_stop_signal(void)
{
    return (int)stop_signal;
}

static pthread_mutex_t sentence_lock = PTHREAD_MUTEX_INITIALIZER;

/* Records the first error. Returns the result for the failed callback. */
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
    stored_sample_forget(work, offset, bytes);
    int error = file_transfer(work->file, (void *)(uintptr_t)memory, work->file->data_offset + offset, bytes, true);
    /* Starts writing these bytes to the disk now. Otherwise the system writes all dirty pages, among them the
     * journal's, again and again. A file of 4 GB with 256 MB of memory takes 10 s with this call, 27 s without. */
    if (error == 0) {
        stored_sample_note(work, offset, bytes, memory);
        system_write_out(work->file->descriptor, work->file->data_offset + offset, bytes, false);
    }
    return error == 0 ? 0 : stored_failed(work, "writing failed", file_transfer_error(error));
}

/* The progress line on a terminal: share done, speed, time left. */
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
        size_t rest = (size_t)(seconds / (double)(done - work->first_step) * (double)(work->steps - done));
        snprintf(left, sizeof left, "  %.0f MB/s  %zu:%02zu left", 1e-6 * bytes / seconds, rest / 60, rest % 60);
    }
    message_progress(work->file->path, "[%s] %3.0f %%%s", bar, 100 * part, left);
}

static int stored_ready(size_t step, size_t steps, const void *content, size_t bytes, void *user)
{
    stored_work *work = user;
    system_status status;
    char message[JOURNAL_MESSAGE_SIZE];
    work->steps = steps;
    if (stop_signal != 0 && (work->has_journal || step == 0)) {
        return 1;
    }
    if (stop_signal != 0 && !work->warned) {
        message_warn("%s: stopping now loses the file, which has no journal: repeat to stop nevertheless",
                     work->file->path);
        work->warned = true;
        system_release_stop((int)stop_signal);
    }
    if (!system_status_of(work->file->descriptor, &status) || status.size != work->file->size) {
        return stored_failed(work, "its size has changed", "another process writes to it");
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

/* Prints how many steps are done and how to continue. */
static void report_stop(stored_work *work)
{
    const char *path = work->file->path;
    char of[40] = "";
    if (work->is_copy) {
        return;
    }
    if (work->has_journal) {
        stored_sample_end(work);
    }
    if (!work->has_journal) {
        message_warn("%s: the file is lost: only a part of it is transposed", path);
        return;
    }
    if (work->steps > 0) {
        snprintf(of, sizeof of, " of %zu", work->steps);
    }
    message_warn("%s: stopped after step %llu%s: 'ipt transpose --resume %s%s' continues", path,
                 (unsigned long long)work->journal.ready, of, stored_before_name(path), path);
}

int stored_do_steps(stored_work *work)
{
    const char *path = work->file->path;
    ipt_storage storage = {stored_read, stored_write, stored_ready, work, NULL, 0};
    if (work->has_journal) {
        storage.memory = work->journal.memory;
        storage.resume = (size_t)work->journal.ready;
        work->first_step = storage.resume;
    } else if (!work->is_copy) {
        message_warn("%s: no journal is kept: if this process stops before its end, the file is lost", path);
    }
    if (!work->is_copy) { /* a stop removes the copy: see draft.c */
        stored_catch_stops();
    }
    work->start = seconds_now();
    ipt_result result = ipt_plan_execute_storage(work->plan, &storage);
    message_clear_progress();
    if (result == IPT_SUCCESS) {
        return 0;
    }
    if (work->sentence[0] != '\0') {
        message_fail("%s: %s", path, work->sentence);
    } else if (stop_signal == 0) {
        message_fail_ipt(path);
    }
    /* A resumed transposition has changed the file before. */
    if (result != IPT_ERROR_INCOMPLETE && work->first_step == 0) {
        stored_leave_as_it_was(work);
    } else {
        report_stop(work);
    }
    return stop_signal != 0 ? EXIT_SIGNAL + (int)stop_signal : EXIT_FAILURE;
}
