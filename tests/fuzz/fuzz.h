/* For all fuzz targets. A target is a C file with LLVMFuzzerTestOneInput, which accepts any bytes and ends the program
 * if a guarantee is broken. A target becomes three programs: libFuzzer's; with FUZZ_REPLAY, one that runs named files;
 * with FUZZ_MAKE_CORPUS, one that writes initial inputs into a folder with the real writers. */
#ifndef FUZZ_H_INCLUDED
#define FUZZ_H_INCLUDED

#include <dirent.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#if defined(__GNUC__)
#define FUZZ_UNUSED __attribute__((unused))
#else
#define FUZZ_UNUSED
#endif

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

FUZZ_UNUSED static void fuzz_fail(const char *file, int line, const char *what, const char *detail)
{
    fprintf(stderr, "%s:%d: broken: %s (%s)\n", file, line, what, detail);
    abort();
}

#define FUZZ_EXPECT_WITH(condition, detail) ((condition) ? (void)0 : fuzz_fail(__FILE__, __LINE__, #condition, detail))
#define FUZZ_EXPECT(condition) FUZZ_EXPECT_WITH(condition, "no detail")

/* ------------------------------------------------------------------------------------------------------------------ */
/* Input */
/* ------------------------------------------------------------------------------------------------------------------ */

typedef struct fuzz_input {
    const uint8_t *bytes;
    size_t left;
} fuzz_input;

/* The next `count` bytes as a little-endian number; missing bytes are 0. */
FUZZ_UNUSED static uint64_t fuzz_take(fuzz_input *input, int count)
{
    uint64_t value = 0;
    for (int i = 0; i < count; ++i) {
        if (input->left == 0)
            continue;
        value |= (uint64_t)*input->bytes++ << 8 * i;
        --input->left;
    }
    return value;
}

/* A copy of exactly `count` bytes, so that sanitizers detect reads beyond them. A text also gets a final zero. */
FUZZ_UNUSED static char *fuzz_copy(const void *bytes, size_t count, bool is_text)
{
    char *copy = malloc(count + (is_text || count == 0));
    FUZZ_EXPECT(copy != NULL);
    if (count > 0)
        memcpy(copy, bytes, count);
    if (is_text)
        copy[count] = '\0';
    return copy;
}

/* ------------------------------------------------------------------------------------------------------------------ */
/* Files */
/* ------------------------------------------------------------------------------------------------------------------ */

enum { FUZZ_PATH_SIZE = 256 };

/* A private folder of this process: in TMPDIR, or in memory. */
FUZZ_UNUSED static const char *fuzz_folder(void)
{
    static char folder[FUZZ_PATH_SIZE];
    if (folder[0] == '\0') {
        const char *place = getenv("TMPDIR");
        if (place == NULL)
            place = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
        snprintf(folder, sizeof folder, "%s/ipt-fuzz-XXXXXX", place);
        FUZZ_EXPECT(mkdtemp(folder) != NULL);
    }
    return folder;
}

FUZZ_UNUSED static void fuzz_path(char path[2 * FUZZ_PATH_SIZE], const char *name)
{
    snprintf(path, 2 * FUZZ_PATH_SIZE, "%s/%s", fuzz_folder(), name);
}

FUZZ_UNUSED static void fuzz_write_file(const char *path, const void *bytes, size_t count)
{
    FILE *file = fopen(path, "wb");
    FUZZ_EXPECT(file != NULL);
    FUZZ_EXPECT(fwrite(bytes, 1, count, file) == count);
    FUZZ_EXPECT(fclose(file) == 0);
}

/* Empties the folder, so that no input sees files of another one. */
FUZZ_UNUSED static void fuzz_empty_folder(void)
{
    char path[2 * FUZZ_PATH_SIZE];
    DIR *listing = opendir(fuzz_folder());
    FUZZ_EXPECT(listing != NULL);
    for (struct dirent *entry; (entry = readdir(listing)) != NULL;)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0) {
            snprintf(path, sizeof path, "%s/%.255s", fuzz_folder(), entry->d_name);
            FUZZ_EXPECT(remove(path) == 0);
        }
    closedir(listing);
}

/* ------------------------------------------------------------------------------------------------------------------ */
/* Simulated devices, for targets that include ipt.h before this */
/* ------------------------------------------------------------------------------------------------------------------ */

#ifdef IPT_IMPLEMENTATION_INCLUDED

typedef struct fuzz_device {
    const char *lines; /* the profile's lines that identify the device */
    ipt__limits limits;
    ipt__findings found;
} fuzz_device;

enum { FUZZ_CPU, FUZZ_NVIDIA, FUZZ_NVIDIA_UNKNOWN, FUZZ_SUB_GROUPS, FUZZ_PLAIN_GPU, FUZZ_TINY, FUZZ_DEVICE_COUNT };

FUZZ_UNUSED static const fuzz_device fuzz_devices[FUZZ_DEVICE_COUNT] = {
    [FUZZ_CPU] = {.lines = "device pthread-skylake-avx512-AMD EPYC\nvendor AuthenticAMD\ndriver 3.1+debian\n"
                           "platform OpenCL 3.0 PoCL 3.1+debian\nbits 64\n",
                  .limits = {.cpu = 1,
                             .memory_model = 3,
                             .lanes = 32,
                             .standard = 30,
                             .group_size = 256,
                             .largest_group = 4096,
                             .local_memory = 1047552,
                             .compute_units = 2,
                             .wait_polls = 1048576}},
    [FUZZ_NVIDIA] = {.lines = "device NVIDIA H200\nvendor NVIDIA Corporation\ndriver 580.159.04\n"
                              "platform OpenCL 3.0 CUDA 13.0.98\nbits 64\n",
                     .limits = {.cooperative = 1,
                                .nvidia = 2,
                                .memory_model = 2,
                                .sub_group = 1,
                                .lanes = 32,
                                .standard = 30,
                                .group_size = 256,
                                .largest_group = 1024,
                                .local_memory = 48128,
                                .compute_units = 132,
                                .resident_groups = 264,
                                .resident_bands = 660,
                                .resident_others = 528,
                                .wait_polls = 1048576},
                     .found = {.chunk_bytes = 110592}},
    /* A profile of this device without measurements. */
    [FUZZ_NVIDIA_UNKNOWN] = {.lines = "device NVIDIA H200\nvendor NVIDIA Corporation\ndriver 580.159.04\n"
                                      "platform OpenCL 3.0 CUDA 13.0.98\nbits 64\n",
                             .limits = {.cooperative = 1,
                                        .nvidia = 2,
                                        .memory_model = 2,
                                        .sub_group = 1,
                                        .lanes = 32,
                                        .standard = 30,
                                        .group_size = 256,
                                        .largest_group = 1024,
                                        .local_memory = 48128,
                                        .compute_units = 2,
                                        .wait_polls = 1048576}},
    [FUZZ_SUB_GROUPS] = {.lines = "device gfx1030\nvendor A vendor\ndriver 1\nplatform OpenCL 3.0\nbits 64\n",
                         .limits = {.cooperative = 1,
                                    .memory_model = 3,
                                    .sub_group = 2,
                                    .lanes = 16,
                                    .standard = 30,
                                    .group_size = 256,
                                    .largest_group = 256,
                                    .local_memory = 65536,
                                    .compute_units = 4,
                                    .wait_polls = 1048576}},
    [FUZZ_PLAIN_GPU] = {.lines = "device A GPU\nvendor A vendor\ndriver 1\nplatform OpenCL 1.2\nbits 64\n",
                        .limits = {.lanes = 32,
                                   .standard = 12,
                                   .group_size = 128,
                                   .largest_group = 128,
                                   .local_memory = 32768,
                                   .compute_units = 8,
                                   .wait_polls = 1000,
                                   .local_is_limited = 1}},
    [FUZZ_TINY] = {.lines = "device \nvendor \ndriver \nplatform \nbits 32\n",
                   .limits = {.cooperative = 1,
                              .standard = 12,
                              .group_size = 1,
                              .largest_group = 1,
                              .local_memory = 1024,
                              .compute_units = 1,
                              .resident_groups = 1,
                              .resident_bands = 1,
                              .resident_others = 1,
                              .wait_polls = 1}}};

/* Writes the text of ipt_context_profile for this device. Returns its length. */
FUZZ_UNUSED static size_t fuzz_profile(const fuzz_device *device, char *text, size_t capacity)
{
    size_t length = (size_t)snprintf(text, capacity, "%s\n%s", IPT__PROFILE_TITLE, device->lines);
#define FUZZ_PROFILE_LIMIT(type, field, minimum, maximum)                                                              \
    length += (size_t)snprintf(text + length, capacity - length, #field " %zu\n", (size_t)device->limits.field);
#define FUZZ_PROFILE_FINDING(type, field, minimum, maximum)                                                            \
    length += (size_t)snprintf(text + length, capacity - length, #field " %zu\n", (size_t)device->found.field);
    IPT__LIMIT_LIST(FUZZ_PROFILE_LIMIT)
    IPT__FINDING_LIST(FUZZ_PROFILE_FINDING)
    length += (size_t)snprintf(text + length, capacity - length, "end\n");
    FUZZ_EXPECT(length < capacity);
    return length;
}

FUZZ_UNUSED static ipt_context *fuzz_context(const fuzz_device *device)
{
    char text[2048];
    ipt_context_desc desc;
    ipt_context *context;
    fuzz_profile(device, text, sizeof text);
    memset(&desc, 0, sizeof desc);
    desc.profile = text;
    FUZZ_EXPECT_WITH(ipt_context_create(&desc, &context) == IPT_SUCCESS, ipt_context_error(NULL));
    return context;
}

/* Clears the last failure's text, so that the next failure must set its own. */
FUZZ_UNUSED static void fuzz_forget_error(void)
{
    memset(ipt__error_text, 0, sizeof ipt__error_text);
}

/* Checks that an error is in the list of results and has a message: one complete line. */
#define FUZZ_EXPECT_RESULT(result)                                                                                     \
    do {                                                                                                               \
        FUZZ_EXPECT((int)(result) >= 0 && (result) < IPT__RESULT_COUNT);                                               \
        if ((result) != IPT_SUCCESS)                                                                                   \
            FUZZ_EXPECT(*ipt_context_error(NULL) != '\0');                                                             \
    } while (0)

#endif

/* ------------------------------------------------------------------------------------------------------------------ */
/* The two other programs */
/* ------------------------------------------------------------------------------------------------------------------ */

#ifdef FUZZ_MAKE_CORPUS

enum { FUZZ_SEED_SIZE = 4096 };

static const char *fuzz_corpus;

/* Writes a seed, and runs it. */
FUZZ_UNUSED static void fuzz_seed(const char *name, const void *bytes, size_t count)
{
    char path[4 * FUZZ_PATH_SIZE];
    FUZZ_EXPECT_WITH(count <= FUZZ_SEED_SIZE, name);
    snprintf(path, sizeof path, "%s/%s", fuzz_corpus, name);
    fuzz_write_file(path, bytes, count);
    LLVMFuzzerTestOneInput(bytes, count);
}

static void make_corpus(void);

int main(int argument_count, char **arguments)
{
    if (argument_count != 2)
        return 2;
    fuzz_corpus = arguments[1];
    make_corpus();
    return 0;
}

#elif defined(FUZZ_REPLAY)

int main(int argument_count, char **arguments)
{
    for (int i = 1; i < argument_count; ++i) {
        FILE *file = fopen(arguments[i], "rb");
        uint8_t *bytes = malloc(1 << 20);
        if (file == NULL || bytes == NULL) {
            fprintf(stderr, "%s cannot be read\n", arguments[i]);
            return 2;
        }
        size_t count = fread(bytes, 1, 1 << 20, file);
        fclose(file);
        char *exact = fuzz_copy(bytes, count, false);
        free(bytes);
        LLVMFuzzerTestOneInput((const uint8_t *)exact, count);
        free(exact);
    }
    return 0;
}

#endif

#endif /* FUZZ_H_INCLUDED */
