#include "journal.h"

#include "gen/tool/base/system.h"
#include "gen/tool/base/text.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

uint64_t journal_sum(const void *bytes, size_t count)
{
    enum { LANES = 4 };
    uint64_t first[LANES] = {1, 2, 3, 4}, second[LANES] = {count, 0, 0, 0}, words[LANES] = {0}, sum = 0;
    const unsigned char *next = bytes;
    for (; count >= sizeof words; count -= sizeof words, next += sizeof words) {
        memcpy(words, next, sizeof words);
        for (size_t i = 0; i < LANES; i++) {
            first[i] += words[i];
            second[i] += first[i];
        }
    }
    memset(words, 0, sizeof words);
    memcpy(words, next, count);
    for (size_t i = 0; i < LANES; i++) {
        first[i] += words[i];
        second[i] += first[i];
    }
    for (size_t i = 0; i < LANES; i++) { /* mixes high bits into low ones */
        sum = (sum ^ first[i]) * 0xbf58476d1ce4e5b9u;
        sum = (sum ^ sum >> 29 ^ second[i]) * 0x94d049bb133111ebu;
        sum ^= sum >> 32;
    }
    return sum;
}

uint64_t journal_reverse(uint64_t number)
{
    uint64_t reversed = 0;
    for (size_t i = 0; i < sizeof number; i++) {
        reversed = reversed << 8 | (number >> 8 * i & 0xff);
    }
    return reversed;
}

bool journal_fail(char *message, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, JOURNAL_MESSAGE_SIZE, format, arguments);
    va_end(arguments);
    return false;
}

bool journal_name(char *path, size_t capacity, const char *file, char *message)
{
    enum { NAME_MOST = 255, SUM_LENGTH = 17 };
    const char *separator = system_last_separator(file), *name = separator == NULL ? file : separator + 1;
    size_t kept = strlen(name);
    char sum[SUM_LENGTH + 1] = "";
    if (kept + strlen(JOURNAL_SUFFIX) > NAME_MOST) {
        snprintf(sum, sizeof sum, "-%016llx", (unsigned long long)journal_sum(name, kept));
        kept = NAME_MOST - SUM_LENGTH - strlen(JOURNAL_SUFFIX);
        while (kept > 0 && ((unsigned char)name[kept] & 0xc0) == 0x80) { /* do not cut a UTF-8 character */
            kept--;
        }
    }
    int length = snprintf(path, capacity, "%.*s%s%s", (int)(name - file + (ptrdiff_t)kept), file, sum, JOURNAL_SUFFIX);
    return length >= 0 && (size_t)length < capacity ? true : journal_fail(message, "its name is too long");
}

static size_t journal_round_up(size_t bytes)
{
    return (bytes + JOURNAL_PAGE - 1) / JOURNAL_PAGE * JOURNAL_PAGE;
}

static size_t journal_table_bytes(uint64_t steps)
{
    return journal_round_up((size_t)steps * sizeof(journal_piece));
}

static void journal_lay_out(journal *its)
{
    its->head = (journal_head *)(void *)its->mapped;
    its->before = its->mapped + sizeof *its->head;
    its->after = its->before + its->head->job.data_offset;
    its->state = its->mapped + journal_round_up(its->head->head_bytes);
    its->sample = its->state + JOURNAL_PAGE;
    its->known = its->sample + JOURNAL_PAGE;
    its->pieces = (journal_piece *)(void *)(its->known + JOURNAL_PAGE);
    its->memory = (unsigned char *)its->pieces + journal_table_bytes(its->head->job.steps);
}

/* Bytes of a journal: the head, the state, the sample, the table, the memory. */
static size_t journal_bytes(size_t head_bytes, uint64_t steps, uint64_t memory_bytes)
{
    return journal_round_up(head_bytes) + 3 * JOURNAL_PAGE + journal_table_bytes(steps) + (size_t)memory_bytes;
}

void journal_close(journal *its, bool done)
{
    if (its->mapped != NULL) {
        system_unmap(its->mapped, its->mapped_bytes);
    }
    bool own = done && system_is_at(its->descriptor, its->path);
    if (its->descriptor >= 0) {
        system_close(its->descriptor);
    }
    if (own) {
        system_remove(its->path);
    }
    its->mapped = NULL;
    its->descriptor = -1;
}

void journal_write_entry(journal *its, const journal_entry *wanted)
{
    journal_entry entry = *wanted;
    entry.check = journal_sum(&entry, offsetof(journal_entry, check));
    memcpy(its->state + entry.ready % 2 * JOURNAL_ENTRY_STEP, &entry, sizeof entry);
}

/* Checks that no other user can have written to an open journal. */
static bool journal_check_owner(const journal *its, const system_status *status, char *message)
{
    text_name name;
    const char *path = text_shorten(its->path, &name);
    if (!status->is_file) {
        return journal_fail(message, "%s is not a journal: it is no regular file", path);
    }
    if (!status->is_own) {
        return journal_fail(message, "%s belongs to another user, who can have forged it: that user can resume", path);
    }
    if (status->is_shared) {
        return journal_fail(message, "other users can write to %s, and can have forged it", path);
    }
    return status->links == 1 ? true
                              : journal_fail(message, "%s has %llu names, and must have one: remove the others", path,
                                             (unsigned long long)status->links);
}

/* Writes a new journal, except its magic, into a file that begins with JOURNAL_MAGIC_BEGUN. Returns an error number, or
 * 0. */
static int journal_fill(journal *made, const journal_job *job, const void *const headers[2], size_t head_bytes)
{
    int error = system_reserve(made->descriptor, made->mapped_bytes);
    if (error == 0) {
        made->mapped = system_map(made->descriptor, made->mapped_bytes);
        error = made->mapped == NULL ? errno : 0;
    }
    if (error != 0) {
        return error;
    }
    journal_head *head = (journal_head *)(void *)made->mapped;
    head->head_bytes = head_bytes;
    head->job = *job;
    journal_lay_out(made);
    memcpy(made->before, headers[0], job->data_offset);
    memcpy(made->after, headers[1], job->data_offset);
    const journal_entry nothing = {0};
    journal_write_entry(made, &nothing);
    return 0;
}

/* Completes a new journal by its magic and its checksum. Returns an error number, or 0. */
static int journal_complete(journal *made)
{
    const size_t head_bytes = made->head->head_bytes;
    if (made->sync && (!system_flush_mapped(made->mapped, made->mapped_bytes) || !system_flush(made->descriptor))) {
        return errno;
    }
    memcpy(made->head->magic, JOURNAL_MAGIC, sizeof made->head->magic);
    uint64_t sum = journal_sum(made->mapped, head_bytes - sizeof sum);
    memcpy(made->mapped + head_bytes - sizeof sum, &sum, sizeof sum);
    return made->sync && (!system_flush_mapped(made->mapped, head_bytes) || !system_flush(made->descriptor) ||
                          !system_flush_folder(made->path))
               ? errno
               : 0;
}

bool journal_create(journal *made, const char *path, const journal_job *job, const void *const headers[2], bool sync,
                    char *message)
{
    text_name name;
    system_status status;
    size_t head_bytes = sizeof(journal_head) + 2 * (size_t)job->data_offset + sizeof(uint64_t);
    memset(made, 0, sizeof *made);
    snprintf(made->path, sizeof made->path, "%s", path);
    made->sync = sync;
    made->mapped_bytes = journal_bytes(head_bytes, job->steps, job->memory_bytes);
    made->descriptor =
        system_open(path, SYSTEM_READ | SYSTEM_WRITE | SYSTEM_CREATE | SYSTEM_NEW | SYSTEM_NO_LINK | SYSTEM_PRIVATE);
    if (made->descriptor < 0) {
        int error = errno;
        return journal_fail(message, "could not create its journal %s: %s", text_shorten(path, &name), strerror(error));
    }
    /* By the lock and these bytes, journal_clear_unfinished recognises a journal in the making. */
    system_lock(made->descriptor, true);
    ptrdiff_t put = system_write_at(made->descriptor, JOURNAL_MAGIC_BEGUN, sizeof JOURNAL_MAGIC_BEGUN, 0);
    int error = put == (ptrdiff_t)sizeof JOURNAL_MAGIC_BEGUN ? 0 : put < 0 ? errno : ENOSPC;
    bool is_private = error != 0 || (system_status_of(made->descriptor, &status) && status.is_own && !status.is_shared);
    if (error == 0 && is_private) {
        error = journal_fill(made, job, headers, head_bytes);
    }
    if (error == 0 && is_private) {
        error = journal_complete(made);
    }
    if (error == 0 && is_private) {
        return true;
    }
    journal_close(made, true);
    return is_private
               ? journal_fail(message, "could not create its journal of %zu bytes: %s", made->mapped_bytes,
                              strerror(error))
               : journal_fail(message,
                              "the file system of its journal lets other users write to it: use --no-journal, or "
                              "--output on another file system");
}

bool journal_clear_unfinished(const char *path)
{
    char magic[sizeof JOURNAL_MAGIC_BEGUN], message[JOURNAL_MESSAGE_SIZE];
    system_status status;
    journal left = {0};
    snprintf(left.path, sizeof left.path, "%s", path);
    left.descriptor = system_open(path, SYSTEM_READ | SYSTEM_WRITE | SYSTEM_NO_LINK);
    bool unfinished = left.descriptor >= 0 && system_status_of(left.descriptor, &status) &&
                      journal_check_owner(&left, &status, message) &&
                      system_read_at(left.descriptor, magic, sizeof magic, 0) == (ptrdiff_t)sizeof magic &&
                      memcmp(magic, JOURNAL_MAGIC_BEGUN, sizeof magic) == 0 && system_lock(left.descriptor, true);
    journal_close(&left, unfinished);
    return unfinished;
}

/* Whether the mapped bytes are a complete journal. */
static bool journal_check(journal *found, char *message)
{
    const journal_head *head = (const journal_head *)(const void *)found->mapped;
    size_t bytes = found->mapped_bytes;
    text_name name;
    const char *path = text_shorten(found->path, &name);
    uint64_t sum;
    if (memcmp(head->magic, JOURNAL_MAGIC, JOURNAL_MAGIC_ANY) != 0) {
        return journal_fail(message, "%s is not a journal", path);
    }
    if (memcmp(head->magic, JOURNAL_MAGIC, sizeof head->magic) != 0) {
        return journal_fail(message, "%s is a journal of another version of ipt: resume with that version", path);
    }
    if (head->head_bytes > bytes && journal_reverse(head->head_bytes) <= bytes) {
        return journal_fail(message, "%s was written on a machine of the other byte order: resume there", path);
    }
    if (head->head_bytes > bytes || head->head_bytes < sizeof *head + sizeof sum || head->job.data_offset > bytes / 2 ||
        head->head_bytes != sizeof *head + 2 * head->job.data_offset + sizeof sum) {
        return journal_fail(message, "%s is damaged: its head is inconsistent", path);
    }
    memcpy(&sum, found->mapped + head->head_bytes - sizeof sum, sizeof sum);
    if (sum != journal_sum(found->mapped, head->head_bytes - sizeof sum)) {
        return journal_fail(message, "%s is damaged: its head is invalid", path);
    }
    if (head->job.memory_bytes > bytes || head->job.steps > bytes / sizeof(journal_piece) ||
        bytes != journal_bytes((size_t)head->head_bytes, head->job.steps, head->job.memory_bytes)) {
        return journal_fail(message, "%s is damaged: its %zu bytes contradict its head", path, bytes);
    }
    return true;
}

bool journal_check_piece(const journal *its, uint64_t step, char *message)
{
    const journal_piece *piece = &its->pieces[step];
    uint64_t memory_bytes = its->head->job.memory_bytes;
    text_name name;
    if (piece->offset > memory_bytes || piece->bytes > memory_bytes - piece->offset ||
        piece->sum != journal_sum(its->memory + piece->offset, (size_t)piece->bytes)) {
        return journal_fail(message, "%s is damaged: the content of step %llu is invalid",
                            text_shorten(its->path, &name), (unsigned long long)step + 1);
    }
    return true;
}

/* Reads the state and checks the last piece. Only the plan knows which earlier pieces are needed. */
static bool journal_read_state(journal *found, char *message)
{
    uint64_t steps = found->head->job.steps;
    journal_entry last = {0};
    text_name name;
    const char *path = text_shorten(found->path, &name);
    bool any = false;
    for (int i = 0; i < 2; i++) {
        journal_entry entry;
        memcpy(&entry, found->state + i * JOURNAL_ENTRY_STEP, sizeof entry);
        if (entry.check == journal_sum(&entry, offsetof(journal_entry, check)) && entry.ready % 2 == (uint64_t)i &&
            (!any || entry.ready > last.ready)) {
            last = entry;
            any = true;
        }
    }
    if (!any || last.ready > steps + (last.ended == 1)) {
        return journal_fail(message, "%s is damaged: its state is invalid", path);
    }
    found->marked = journal_number(found, JOURNAL_MARKED_PLACE) == found->head->job.mark;
    found->ready = last.ready;
    found->ended = last.ended == 1;
    if (last.ready == 0 || found->ended) {
        return true;
    }
    if (last.piece != journal_sum(&found->pieces[last.ready - 1], sizeof(journal_piece))) {
        return journal_fail(message, "%s is damaged: its table is invalid", path);
    }
    return journal_check_piece(found, last.ready - 1, message);
}

bool journal_open(journal *found, const char *path, bool sync, char *message)
{
    system_status status;
    text_name name;
    memset(found, 0, sizeof *found);
    snprintf(found->path, sizeof found->path, "%s", path);
    found->sync = sync;
    found->descriptor = system_open(path, SYSTEM_READ | SYSTEM_WRITE | SYSTEM_NO_LINK);
    if (found->descriptor < 0 || !system_status_of(found->descriptor, &status)) {
        journal_fail(message, "could not open its journal %s: %s", text_shorten(path, &name), strerror(errno));
        journal_close(found, false);
        return false;
    }
    bool good = journal_check_owner(found, &status, message);
    if (!good) {
        journal_close(found, false);
        return false;
    }
    good = status.size >= sizeof(journal_head) + 4 * JOURNAL_PAGE;
    if (good && status.size > SIZE_MAX) {
        good =
            journal_fail(message, "%s has %ju bytes: this program maps at most %zu bytes. Resume with one of 64 bits",
                         text_shorten(path, &name), (uintmax_t)status.size, SIZE_MAX);
    } else if (!good) {
        journal_fail(message, "%s is not a journal, or damaged: it is too short", text_shorten(path, &name));
    } else {
        found->mapped_bytes = (size_t)status.size;
        found->mapped = system_map(found->descriptor, found->mapped_bytes);
        good = found->mapped != NULL ? journal_check(found, message)
                                     : journal_fail(message, "%s: %s", text_shorten(path, &name), strerror(errno));
    }
    if (good) {
        journal_lay_out(found);
        good = journal_read_state(found, message);
    }
    if (!good) {
        journal_close(found, false);
    }
    return good;
}

static bool journal_flush_state(const journal *its, char *message)
{
    if (its->sync && !system_flush_mapped(its->state, JOURNAL_PAGE)) {
        return journal_fail(message, "flushing the journal failed: %s", strerror(errno));
    }
    return true;
}

uint64_t journal_number(const journal *its, size_t place)
{
    uint64_t number;
    memcpy(&number, its->state + place, sizeof number);
    return number;
}

bool journal_note_number(journal *its, size_t place, uint64_t number, char *message)
{
    memcpy(its->state + place, &number, sizeof number);
    return journal_flush_state(its, message);
}

bool journal_note_marks(journal *its, bool marked, char *message)
{
    its->marked = marked;
    return journal_note_number(its, JOURNAL_MARKED_PLACE, marked ? its->head->job.mark : 0, message);
}

/* Adds an entry of the state. `file` has received all steps up to this one. */
static bool journal_add_entry(journal *its, int file, const journal_entry *entry, char *message)
{
    /* Flush all of the memory: pieces of earlier steps are needed, too. */
    if (its->sync && (!system_flush_mapped(its->mapped, its->mapped_bytes) || !system_flush_data(its->descriptor) ||
                      !system_flush_data(file))) {
        return journal_fail(message, "flushing to the disk failed: %s", strerror(errno));
    }
    journal_write_entry(its, entry);
    its->ready = entry->ready;
    its->ended = entry->ended == 1;
    return journal_flush_state(its, message);
}

bool journal_note(journal *its, int file, uint64_t step, const void *content, size_t bytes, char *message)
{
    journal_piece piece = {(uint64_t)((const unsigned char *)content - its->memory), bytes, 0};
    journal_entry entry = {step + 1, 0, 0, 0};
    if (step >= its->head->job.steps) {
        return journal_fail(message, "it has no entry for step %llu", (unsigned long long)step + 1);
    }
    piece.sum = journal_sum(content, bytes);
    entry.piece = journal_sum(&piece, sizeof piece);
    its->pieces[step] = piece;
    return journal_add_entry(its, file, &entry, message);
}

bool journal_end(journal *its, int file, char *message)
{
    journal_entry entry = {its->ready + 1, 1, 0, 0};
    return journal_add_entry(its, file, &entry, message);
}
