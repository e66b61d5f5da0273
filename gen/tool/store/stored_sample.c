/* The sample of a file in its journal. */
#include "stored.h"
#include "gen/tool/base/messages.h"
#include "gen/tool/base/system.h"

#include <stdio.h>
#include <string.h>

/* Bytes of data from one probe's part to the next one's. */
static size_t probe_step(const journal *its)
{
    const size_t step = (size_t)(its->head->job.file_size - its->head->job.data_offset) / JOURNAL_PROBES;
    return step < JOURNAL_PROBE_BYTES ? JOURNAL_PROBE_BYTES : step;
}

/* A probe's offset in the data. It varies among parts: at a constant offset, all probes could hit gaps between rows. */
static size_t probe_place(const journal *its, size_t probe)
{
    const size_t step = probe_step(its);
    const uint64_t parts[] = {its->head->job.mark, probe};
    return probe * step + (size_t)(journal_sum(parts, sizeof parts) % (step - JOURNAL_PROBE_BYTES + 1));
}

/* The bytes of a probe that lie in the data. */
static size_t probe_bytes(const journal *its, size_t place)
{
    const size_t data = (size_t)(its->head->job.file_size - its->head->job.data_offset);
    const size_t left = place < data ? data - place : 0;
    return left < JOURNAL_PROBE_BYTES ? left : JOURNAL_PROBE_BYTES;
}

/* Reads all probes of the file. */
static int read_probes(const stored_work *work, unsigned char sample[JOURNAL_PAGE])
{
    const journal *its = &work->journal;
    for (size_t i = 0; i < JOURNAL_PROBES; i++) {
        const size_t place = probe_place(its, i);
        const int error = file_transfer(work->file, sample + i * JOURNAL_PROBE_BYTES,
                                        (size_t)its->head->job.data_offset + place, probe_bytes(its, place), false);
        if (error != 0) {
            return message_fail("%s: reading failed: %s", work->file->path, file_transfer_error(error));
        }
    }
    return 0;
}

/* Sets the probes' bytes in a part of the data, or marks them as unknown if memory is NULL. Several threads do this for
 * different parts. A byte must be marked as known only while it is right: `volatile` ensures the sequence. */
static void set_probes(const journal *its, size_t offset, size_t bytes, const unsigned char *memory)
{
    const size_t step = probe_step(its);
    volatile unsigned char *sample = its->sample, *known = its->known;
    for (size_t i = offset / step; i < JOURNAL_PROBES && i * step < offset + bytes; i++) {
        const size_t place = probe_place(its, i);
        for (size_t at = 0; at < probe_bytes(its, place); at++) {
            const size_t byte = place + at, slot = i * JOURNAL_PROBE_BYTES + at;
            if (byte >= offset && byte - offset < bytes) {
                known[slot] = 0;
                if (memory != NULL) {
                    sample[slot] = memory[byte - offset];
                    known[slot] = 1;
                }
            }
        }
    }
}

int stored_sample_take(stored_work *work)
{
    journal *its = &work->journal;
    char message[JOURNAL_MESSAGE_SIZE];
    unsigned char now[JOURNAL_PAGE] = {0};
    const uint64_t boot = work->sync ? system_boot() : 0;
    int code = read_probes(work, now);
    if (code != 0) {
        return code;
    }
    memset(its->known, 0, JOURNAL_PAGE);
    if (!journal_note_number(its, JOURNAL_CHANGED_PLACE, 0, message) ||
        !journal_note_number(its, JOURNAL_BOOT_PLACE, boot, message)) {
        return message_fail("%s: its journal: %s", work->file->path, message);
    }
    /* After a power failure, a file with --sync can be resumed, but may differ from the sample. */
    if (boot != 0 || !work->sync) {
        memcpy(its->sample, now, JOURNAL_PAGE);
        for (size_t i = 0; i < JOURNAL_PROBES; i++) {
            memset(its->known + i * JOURNAL_PROBE_BYTES, 1, probe_bytes(its, probe_place(its, i)));
        }
    }
    return 0;
}

void stored_sample_forget(const stored_work *work, size_t offset, size_t bytes)
{
    if (work->has_journal) {
        set_probes(&work->journal, offset, bytes, NULL);
    }
}

void stored_sample_note(const stored_work *work, size_t offset, size_t bytes, const void *memory)
{
    if (work->has_journal && (!work->sync || journal_number(&work->journal, JOURNAL_BOOT_PLACE) != 0)) {
        set_probes(&work->journal, offset, bytes, memory);
    }
}

void stored_sample_end(stored_work *work)
{
    system_status status;
    char message[JOURNAL_MESSAGE_SIZE];
    if (system_status_of(work->file->descriptor, &status) &&
        !journal_note_number(&work->journal, JOURNAL_CHANGED_PLACE, status.changed, message)) {
        message_fail("%s: its journal: %s", work->file->path, message);
    }
}

/* Whether a file's byte can come from this transposition. A journal with the whole result does not record writes. */
static bool byte_fits(const journal *its, size_t place, size_t slot, unsigned char byte)
{
    const bool result = its->head->job.host_memory == STORED_RESULT && its->ready == its->head->job.steps &&
                        place < its->head->job.memory_bytes;
    return its->known[slot] != 1 || byte == its->sample[slot] || (result && byte == its->memory[place]);
}

int stored_sample_check(const stored_work *work, const char *place)
{
    const journal *its = &work->journal;
    const uint64_t boot = journal_number(its, JOURNAL_BOOT_PLACE), changed = journal_number(its, JOURNAL_CHANGED_PLACE);
    const char *path = work->file->path;
    system_status status;
    unsigned char now[JOURNAL_PAGE] = {0};
    int code = read_probes(work, now);
    for (size_t slot = 0; code == 0 && slot < JOURNAL_PAGE && (boot == 0 || boot == system_boot()); slot++) {
        const size_t begin = probe_place(its, slot / JOURNAL_PROBE_BYTES), at = slot % JOURNAL_PROBE_BYTES;
        if (at < probe_bytes(its, begin) && !byte_fits(its, begin + at, slot, now[slot])) {
            return message_fail("%s: its content has been replaced since its transposition stopped (journal %s): "
                                "--resume would mix the two. If the content is whole, copy the file, remove it and its "
                                "journal, and use the copy",
                                path, place);
        }
    }
    if (code == 0 && changed != 0 && system_status_of(work->file->descriptor, &status) && status.changed != changed) {
        code = message_fail("%s: another program has changed it since its transposition stopped (journal %s). If only "
                            "its time has changed, set that back: touch -d @%llu.%09llu",
                            path, place, (unsigned long long)(changed / 1000000000u),
                            (unsigned long long)(changed % 1000000000u));
    }
    return code;
}
