/* The journal of gen/tool/store/journal.h, damaged. The target writes a real journal beside a small file, replaces some
 * of its bytes and opens it. An accepted journal has the content that was written, and the last recorded step or, if
 * that entry is damaged, the one before. If the target corrects the checksums, which real damage does not, the reader
 * must only stay within the data. */
#define _POSIX_C_SOURCE 200809L
#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fuzz.h"
#include "gen/tool/store/journal.h"

static int mapped_file;

/* Instead of mappings, copies of files in memory, whose ends the sanitizer knows: run.sh compiles the journal with
 * mmap, munmap and msync renamed to these functions. */
void *copied_map(void *place, size_t bytes, int protection, int flags, int file, off_t offset)
{
    char *memory = malloc(bytes);
    (void)place, (void)protection, (void)flags;
    FUZZ_EXPECT(memory != NULL && pread(file, memory, bytes, offset) == (ssize_t)bytes);
    mapped_file = dup(file);
    return memory;
}

int copied_sync(void *memory, size_t bytes, int flags)
{
    (void)memory, (void)bytes, (void)flags;
    return 0;
}

int copied_unmap(void *memory, size_t bytes)
{
    FUZZ_EXPECT(pwrite(mapped_file, memory, bytes, 0) == (ssize_t)bytes);
    close(mapped_file);
    free(memory);
    return 0;
}

enum {
    FIX_HEAD = 1,  /* corrects the head's checksum */
    FIX_STATE = 2, /* corrects the checksums of both entries of the state */
    FIX_CONTENT = 4,
    SYNC = 8,
    PLACE_BITS = 0x30, /* the kind of file at the journal's path: */
    PLACE_LINK = 0x10,
    PLACE_FOLDER = 0x20,
    PLACE_NOTHING = 0x30,
    MOST_STEPS = 3,
    TABLE_STEPS = 8,    /* entries in the journal's table */
    ENDED = 0x40,       /* the journal's state: all steps are written */
    LEAST_MEMORY = 4096 /* plans have more; journals below half of this are refused */
};

/* The contents of the journal. */
typedef struct original {
    journal_job job;
    unsigned char header[2][256]; /* before and after */
    unsigned steps;
    bool ended;
    unsigned char contents[MOST_STEPS + 1][256]; /* bytes of each step's piece, at 64 * its number in memory */
    size_t content_bytes;
} original;

static void make_original(original *made, fuzz_input *input)
{
    memset(made, 0, sizeof *made);
    made->job.inode = 17;
    made->job.device = 3;
    made->job.mark = 0x1234567890abcdef;
    made->job.marks = 3;
    snprintf(made->job.file, sizeof made->job.file, "/a/file");
    made->job.file_size = 1000;
    made->job.data_offset = fuzz_take(input, 1);
    made->job.rows = 25;
    made->job.cols = 10;
    made->job.elem_size = 4;
    made->job.batch = 1;
    made->job.host_memory = 65536;
    made->job.steps = TABLE_STEPS;
    made->job.memory_bytes = LEAST_MEMORY + fuzz_take(input, 1);
    made->job.ipt_version = 100;
    snprintf(made->job.expression, sizeof made->job.expression, "x * x");
    snprintf(made->job.expression_type, sizeof made->job.expression_type, "float");
    made->steps = (unsigned)fuzz_take(input, 1) % (MOST_STEPS + 1);
    made->content_bytes = (size_t)fuzz_take(input, 1);
    for (unsigned i = 0; i < 256; ++i) {
        made->header[0][i] = (unsigned char)(i * 7);
        made->header[1][i] = (unsigned char)(i * 11 + 1);
        for (unsigned step = 0; step <= MOST_STEPS; ++step)
            made->contents[step][i] = (unsigned char)(i * 13 + step);
    }
}

/* Creates a journal as the tool does, and records the steps. */
static void make_journal(const original *from, const char *path, bool sync)
{
    journal made;
    char message[JOURNAL_MESSAGE_SIZE] = "";
    const void *const headers[] = {from->header[0], from->header[1]};
    FUZZ_EXPECT_WITH(journal_create(&made, path, &from->job, headers, sync, message), message);
    for (unsigned step = 1; step <= from->steps; ++step) {
        unsigned char *content = made.memory + (size_t)step * 64;
        memcpy(content, from->contents[step], from->content_bytes);
        FUZZ_EXPECT(journal_note(&made, made.descriptor, step - 1, content, from->content_bytes, message));
    }
    if (from->ended)
        FUZZ_EXPECT(journal_end(&made, made.descriptor, message));
    journal_close(&made, false);
}

static size_t round_up(size_t bytes)
{
    return (bytes + JOURNAL_PAGE - 1) / JOURNAL_PAGE * JOURNAL_PAGE;
}

/* Corrects the checksums of an entry's piece, if it lies in the table and in the memory. */
static void fix_piece(unsigned char *bytes, size_t size, size_t table, uint64_t steps, journal_entry *entry)
{
    journal_piece piece;
    const size_t index = (size_t)(entry->ready - 1);
    if (entry->ready == 0 || entry->ready > steps || steps > size / sizeof piece ||
        table + round_up((size_t)steps * sizeof piece) > size)
        return;
    const size_t memory = table + round_up((size_t)steps * sizeof piece), memory_bytes = size - memory;
    memcpy(&piece, bytes + table + index * sizeof piece, sizeof piece);
    if (piece.offset <= memory_bytes && piece.bytes <= memory_bytes - piece.offset)
        piece.sum = journal_sum(bytes + memory + piece.offset, (size_t)piece.bytes);
    memcpy(bytes + table + index * sizeof piece, &piece, sizeof piece);
    entry->piece = journal_sum(&piece, sizeof piece);
}

static void fix_sums(unsigned char *bytes, size_t size, unsigned what)
{
    journal_head head;
    uint64_t sum;
    size_t state;
    memcpy(&head, bytes, sizeof head);
    if (head.head_bytes > size || head.head_bytes < sizeof head + sizeof sum)
        return;
    if (what & FIX_HEAD) {
        sum = journal_sum(bytes, head.head_bytes - sizeof sum);
        memcpy(bytes + head.head_bytes - sizeof sum, &sum, sizeof sum);
    }
    state = round_up(head.head_bytes);
    for (int i = 0; i < 2 && state + JOURNAL_PAGE <= size; ++i) {
        journal_entry entry;
        unsigned char *at = bytes + state + (size_t)i * JOURNAL_ENTRY_STEP;
        memcpy(&entry, at, sizeof entry);
        if (what & FIX_CONTENT)
            fix_piece(bytes, size, state + 3 * JOURNAL_PAGE, head.job.steps, &entry);
        if (what & (FIX_STATE | FIX_CONTENT))
            entry.check = journal_sum(&entry, offsetof(journal_entry, check));
        memcpy(at, &entry, sizeof entry);
    }
}

/* Changes bytes of the file, and perhaps its length, by the rest of the input. Returns whether the file changed. */
static bool damage(const char *path, fuzz_input *input, unsigned fixes)
{
    enum { MOST = 1 << 16 };
    static unsigned char bytes[MOST], before[MOST];
    FILE *file = fopen(path, "rb");
    FUZZ_EXPECT(file != NULL);
    const size_t size = fread(bytes, 1, MOST, file);
    fclose(file);
    size_t cut = size + (size_t)(int16_t)fuzz_take(input, 2);
    memcpy(before, bytes, size);
    if (cut > MOST)
        cut = size;
    if (cut > size)
        memset(bytes + size, 0, cut - size);
    while (input->left > 3 && cut > 0) {
        size_t at = (size_t)fuzz_take(input, 2) % cut, count = (size_t)fuzz_take(input, 1) % 65;
        for (; count > 0 && at < cut && input->left > 0; --count)
            bytes[at++] = (unsigned char)fuzz_take(input, 1);
    }
    fix_sums(bytes, cut, fixes);
    fuzz_write_file(path, bytes, cut);
    return cut != size || memcmp(bytes, before, cut) != 0;
}

/* Checks that all ranges of an open journal are within the mapped file. */
static void expect_whole(const journal *found)
{
    uint64_t all;
    const unsigned char *end = found->mapped + found->mapped_bytes;
    const journal_job *job = &found->head->job;
    all = journal_sum(found->before, job->data_offset) + journal_sum(found->after, job->data_offset) +
          journal_sum(found->state, 3 * JOURNAL_PAGE) + journal_sum(found->memory, job->memory_bytes);
    FUZZ_EXPECT(all != 1); /* uses the result: the compiler must not remove the reads */
    FUZZ_EXPECT(found->before >= found->mapped + sizeof *found->head);
    FUZZ_EXPECT(found->after == found->before + job->data_offset);
    FUZZ_EXPECT(found->after + job->data_offset + sizeof(uint64_t) <= found->state);
    FUZZ_EXPECT(found->sample == found->state + JOURNAL_PAGE && found->known == found->sample + JOURNAL_PAGE);
    FUZZ_EXPECT(found->known + JOURNAL_PAGE == (unsigned char *)found->pieces);
    FUZZ_EXPECT((unsigned char *)(found->pieces + job->steps) <= found->memory);
    FUZZ_EXPECT(found->memory + job->memory_bytes == end);
}

static void expect_truth(const journal *found, const original *from, bool damaged)
{
    const uint64_t ready = found->ready, last = from->steps + (from->ended ? 1 : 0);
    FUZZ_EXPECT(memcmp(&found->head->job, &from->job, sizeof from->job) == 0);
    FUZZ_EXPECT(memcmp(found->before, from->header[0], from->job.data_offset) == 0);
    FUZZ_EXPECT(memcmp(found->after, from->header[1], from->job.data_offset) == 0);
    FUZZ_EXPECT(ready == last || (damaged && ready + 1 == last));
    FUZZ_EXPECT(found->ended == (from->ended && ready == last));
    if (ready > 0 && !found->ended)
        FUZZ_EXPECT(memcmp(found->memory + ready * 64, from->contents[ready], from->content_bytes) == 0);
}

/* Records the next step, if there is one. Opens the journal again and checks the step. */
static void go_on(journal *found, const char *path, bool sync)
{
    char message[JOURNAL_MESSAGE_SIZE] = "";
    const uint64_t next = found->ready + 1;
    const size_t bytes = found->head->job.memory_bytes / 2;
    memset(found->memory, 0x5a, bytes);
    const bool noted = journal_note(found, found->descriptor, found->ready, found->memory, bytes, message);
    FUZZ_EXPECT(noted == (next <= found->head->job.steps));
    journal_close(found, false);
    if (!noted)
        return;
    FUZZ_EXPECT_WITH(journal_open(found, path, sync, message), message);
    FUZZ_EXPECT(found->ready == next);
    expect_whole(found);
    journal_close(found, true);
    FUZZ_EXPECT(access(path, F_OK) != 0);
}

/* Checks that a file that does not open is removed exactly if it has an unfinished journal's magic. */
static void expect_cleared(const char *path, bool is_file)
{
    char magic[sizeof JOURNAL_MAGIC_BEGUN] = "";
    FILE *file = is_file ? fopen(path, "rb") : NULL;
    const bool begun = file != NULL && fread(magic, 1, sizeof magic, file) == sizeof magic &&
                       memcmp(magic, JOURNAL_MAGIC_BEGUN, sizeof magic) == 0;
    if (file != NULL)
        fclose(file);
    FUZZ_EXPECT(journal_clear_unfinished(path) == begun);
    FUZZ_EXPECT(!is_file || (access(path, F_OK) == 0) == !begun);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_input input = {data, size};
    const unsigned mode = (unsigned)fuzz_take(&input, 1), fixes = mode & (FIX_HEAD | FIX_STATE | FIX_CONTENT);
    const bool sync = (mode & SYNC) != 0;
    char file[2 * FUZZ_PATH_SIZE], path[4096], message[JOURNAL_MESSAGE_SIZE] = "";
    original from;
    journal found;
    bool damaged;
    make_original(&from, &input);
    from.ended = (mode & ENDED) != 0;
    fuzz_path(file, "file");
    FUZZ_EXPECT(journal_name(path, sizeof path, file, message));
    make_journal(&from, path, sync);
    damaged = damage(path, &input, fixes);
    if ((mode & PLACE_BITS) != 0) {
        FUZZ_EXPECT(rename(path, file) == 0);
        if ((mode & PLACE_BITS) == PLACE_LINK)
            FUZZ_EXPECT(symlink(file, path) == 0);
        if ((mode & PLACE_BITS) == PLACE_FOLDER)
            FUZZ_EXPECT(mkdir(path, 0700) == 0);
    }
    bool opened = journal_open(&found, path, sync, message);
    if (!opened) {
        FUZZ_EXPECT(damaged || (mode & PLACE_BITS) != 0);
        FUZZ_EXPECT(*message != '\0' && strlen(message) < sizeof message);
        FUZZ_EXPECT(found.descriptor == -1 && found.mapped == NULL);
        expect_cleared(path, (mode & PLACE_BITS) == 0);
    } else {
        FUZZ_EXPECT((mode & PLACE_BITS) == 0);
        expect_whole(&found);
        if (fixes == 0)
            expect_truth(&found, &from, damaged);
        go_on(&found, path, sync);
    }
    fuzz_empty_folder();
    return 0;
}

#ifdef FUZZ_MAKE_CORPUS

/* One seed for each number of the head and of an entry: damaged, with and without a corrected sum. */
static void seed_numbers(const char *name, size_t first, size_t count, unsigned fixes)
{
    for (size_t i = 0; i < count; ++i) {
        const size_t at = first + 8 * i;
        unsigned char bytes[] = {(unsigned char)fixes,
                                 80,
                                 0,
                                 2,
                                 100,
                                 0,
                                 0,
                                 (unsigned char)at,
                                 (unsigned char)(at >> 8),
                                 8,
                                 0,
                                 16,
                                 0,
                                 0,
                                 0,
                                 0,
                                 0,
                                 0};
        char seed[64];
        snprintf(seed, sizeof seed, "%s_%zu", name, i);
        fuzz_seed(seed, bytes, sizeof bytes);
    }
}

/* A piece whose offset and bytes together overflow. */
static void seed_overflow(const char *name, size_t table, int64_t offset, unsigned piece)
{
    unsigned char bytes[7 + 3 + 16] = {FIX_STATE | FIX_CONTENT, 80, 0, 2, 100, 0, 0};
    const size_t at = table + piece * sizeof(journal_piece) + offsetof(journal_piece, offset);
    const int64_t numbers[2] = {-offset, offset};
    bytes[7] = (unsigned char)at;
    bytes[8] = (unsigned char)(at >> 8);
    bytes[9] = 16;
    memcpy(bytes + 10, numbers, sizeof numbers);
    fuzz_seed(name, bytes, sizeof bytes);
}

static void make_corpus(void)
{
    static const unsigned char whole[] = {0, 80, 0, 2, 100, 0, 0}, no_steps[] = {0, 128, 9, 0, 0, 0, 0},
                               no_header[] = {SYNC, 0, 200, 3, 255, 0, 0}, cut[] = {0, 80, 0, 2, 100, 0xff, 0xff},
                               longer[] = {FIX_HEAD, 80, 0, 2, 100, 1, 0}, short_one[] = {0, 80, 0, 2, 100, 0, 0xe0},
                               link[] = {PLACE_LINK, 80, 0, 2, 100, 0, 0},
                               folder[] = {PLACE_FOLDER, 80, 0, 2, 100, 0, 0},
                               nothing[] = {PLACE_NOTHING, 80, 0, 2, 100, 0, 0},
                               version[] = {FIX_HEAD, 80, 0, 2, 100, 0, 0, 12, 0, 1, '4'},
                               ended[] = {ENDED, 80, 0, 2, 100, 0, 0},
                               unfinished[] = {0,   80,  0,   2,   100, 0,   0,   0,   0,   16,  'i', 'p',  't',
                                               ' ', 'u', 'n', 'f', 'i', 'n', 'i', 's', 'h', 'e', 'd', '\n', 0};
    const size_t state = round_up(sizeof(journal_head) + 2 * 80 + 8), table = state + 3 * JOURNAL_PAGE;
    fuzz_seed("whole", whole, sizeof whole);
    fuzz_seed("no_steps", no_steps, sizeof no_steps);
    fuzz_seed("no_header", no_header, sizeof no_header);
    fuzz_seed("cut", cut, sizeof cut);
    fuzz_seed("longer", longer, sizeof longer);
    fuzz_seed("short", short_one, sizeof short_one);
    fuzz_seed("link", link, sizeof link);
    fuzz_seed("folder", folder, sizeof folder);
    fuzz_seed("nothing", nothing, sizeof nothing);
    fuzz_seed("version", version, sizeof version);
    fuzz_seed("ended", ended, sizeof ended);
    fuzz_seed("unfinished", unfinished, sizeof unfinished);
    seed_numbers("head_bytes", offsetof(journal_head, head_bytes), 1, FIX_HEAD);
    seed_numbers("data_offset", offsetof(journal_head, job.data_offset), 1, FIX_HEAD);
    seed_numbers("memory_bytes", offsetof(journal_head, job.memory_bytes), 1, FIX_HEAD);
    seed_numbers("rows", offsetof(journal_head, job.rows), 1, 0);
    seed_numbers("steps", offsetof(journal_head, job.steps), 1, FIX_HEAD);
    seed_numbers("entry", state, 4, 0);
    seed_numbers("fixed_entry", state, 3, FIX_STATE);
    seed_numbers("piece", table + sizeof(journal_piece), 3, 0);
    seed_numbers("fixed_piece", table + sizeof(journal_piece), 3, FIX_STATE | FIX_CONTENT);
    seed_overflow("overflow_near", table, 100, 1);
    seed_overflow("overflow_far", table, 1 << 20, 1);
}

#endif
