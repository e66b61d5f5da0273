/* Entries of the program cache: in a folder, in the user's memory, or stored by ipt_cache_store. Devices of the OpenCL
 * stub export and load code but compute nothing. A complete entry is used. No byte of an invalid entry reaches the
 * device, and plans that do not need the entry are created. The input: a byte of modes, a byte that chooses the entry
 * to replace, the entry. The target can correct the entry's key and checksum. */
#define _POSIX_C_SOURCE 200809L
#include "tests/support/fake_cl.h"
#define IPT_ENTRY_POINT(name) fake_##name
#define IPT_STATIC
#define IPT_IMPLEMENTATION
#include "ipt.h"
#include "fuzz.h"

enum {
    FIX_SUM = 1,
    INSERT_KEY = 2, /* inserts the missing key after the head, and adds its length to the head's */
    PLACE_BITS = 0x0c,
    PLACE_MEMORY = 0,
    PLACE_FILE = 0x04,
    PLACE_STORED = 0x08,
    PLACE_OPEN_FILE = 0x0c, /* a folder that others can write to */
    COMPILER = 0x10,        /* the device has a compiler */
    DEVICE_BITS = 0x60,
    DEVICE_SHIFT = 5,
    FIX_LENGTHS = 0x80, /* computes the payload's length, and adds the key's to the head's */
    MOST_ENTRIES = 64
};

/* ------------------------------------------------------------------------------------------------------------------ */
/* The code that the device receives */
/* ------------------------------------------------------------------------------------------------------------------ */

static const char standard_code[] = "what the device's compiler makes";

/* The code of the input's entry, if the entry is complete, and how often the device has received it. */
static struct {
    const uint8_t *bytes;
    size_t size;
    int handed;
} expected;

/* Ends the program on damaged code, on which a real driver would crash. Refuses code that begins with a 1. Code that
 * begins with a 2 fails to build. */
static cl_int judge(const unsigned char *code, size_t size)
{
    if (size == sizeof standard_code && memcmp(code, standard_code, size) == 0)
        return CL_SUCCESS;
    FUZZ_EXPECT(expected.bytes != NULL && size == expected.size && memcmp(code, expected.bytes, size) == 0);
    ++expected.handed;
    return *code == 1 ? CL_INVALID_BINARY : *code == 2 ? CL_BUILD_PROGRAM_FAILURE : CL_SUCCESS;
}

/* The device of the stub with sub-groups and cooperative work-groups. */
static cl_device_id device_id(void)
{
    return fake_device_id(FAKE_TOGETHER);
}

static cl_program CL_API_CALL from_spirv(cl_context context, const void *code, size_t size, cl_int *error)
{
    const cl_device_id id = device_id();
    const unsigned char *bytes = code;
    return fake_clCreateProgramWithBinary(context, 1, &id, &size, &bytes, NULL, error);
}

/* ------------------------------------------------------------------------------------------------------------------ */
/* Devices and their entries */
/* ------------------------------------------------------------------------------------------------------------------ */

/* An entry that a plan on the device searches for. */
typedef struct wanted_entry {
    unsigned char *bytes;
    size_t size, payload;
    size_t program; /* index of its program; the facts about the device follow the last program */
    bool is_own;    /* only for this device */
} wanted_entry;

typedef struct cached_device {
    int device;
    ipt_plan_desc desc;
    wanted_entry entries[MOST_ENTRIES];
    size_t count, programs;
} cached_device;

static cached_device devices[] = {
    {.device = FUZZ_CPU, .desc = {.rows = 24, .cols = 20, .elem_size = 4}},
    {.device = FUZZ_NVIDIA_UNKNOWN,
     .desc = {.rows = 3001, .cols = 97, .elem_size = 4, .sequence = IPT_SEQUENCE_TWO_PASS, .tile_m = 64}},
    {.device = FUZZ_SUB_GROUPS,
     .desc = {.rows = 97, .cols = 3001, .elem_size = 2, .sequence = IPT_SEQUENCE_TWO_PASS, .tile_n = 128}},
    {.device = FUZZ_PLAIN_GPU, .desc = {.rows = 48, .cols = 48, .elem_size = 8, .batch = 10}}};

/* A context of the device that can load programs. */
static ipt_context *open_device(const cached_device *from, const ipt_binary *binaries, size_t count,
                                const char *cache_dir, bool compiler)
{
    ipt_context *context = fuzz_context(&fuzz_devices[from->device]);
    const cl_device_id id = device_id();
    cl_int error;
    context->context = fake_clCreateContext(NULL, 1, &id, NULL, NULL, &error);
    context->device = id;
    context->queue = fake_clCreateCommandQueue(context->context, id, 0, &error);
    context->compiler = compiler;
    context->capability = from->device == FUZZ_NVIDIA_UNKNOWN ? 31 : 0;
    context->takes_bitcode = from->device == FUZZ_CPU;
    context->from_spirv = from->device == FUZZ_SUB_GROUPS ? from_spirv : NULL;
    ipt_context_desc desc;
    memset(&desc, 0, sizeof desc);
    desc.cache_dir = cache_dir;
    desc.binaries = binaries;
    desc.binary_count = count;
    FUZZ_EXPECT(ipt__context_take_cache(context, &desc) == IPT_SUCCESS);
    return context;
}

static void add_entry(cached_device *to, ipt_context *context, size_t index, const char *target)
{
    wanted_entry *entry = &to->entries[to->count++];
    size_t again;
    FUZZ_EXPECT(to->count <= MOST_ENTRIES);
    const void *code = target != NULL ? standard_code : NULL;
    FUZZ_EXPECT(ipt_context_entry(context, index, target, code, sizeof standard_code, NULL, 0, &entry->size) ==
                IPT_SUCCESS);
    entry->bytes = malloc(entry->size);
    FUZZ_EXPECT(ipt_context_entry(context, index, target, code, sizeof standard_code, entry->bytes, entry->size,
                                  &again) == IPT_SUCCESS);
    entry->payload = ipt__entry_open(entry->bytes, entry->size, NULL);
    FUZZ_EXPECT(again == entry->size && entry->payload > 0);
    entry->program = index;
    entry->is_own = target == NULL;
}

/* Creates the plan from source, and all entries that the input can replace. */
static void learn_entries(cached_device *device)
{
    ipt_context *context = open_device(device, NULL, 0, "", true);
    ipt_plan *plan;
    char target[64];
    FUZZ_EXPECT_WITH(ipt_plan_create(context, &device->desc, &plan) == IPT_SUCCESS, ipt_context_error(NULL));
    device->programs = ipt_context_entry_count(context) - 1;
    for (size_t i = 0; i <= device->programs; ++i) {
        add_entry(device, context, i, NULL);
        for (int which = 0, has = 0; i < device->programs && has >= 0; ++which) {
            has = ipt__target_next(context, which, target);
            if (has > 0)
                add_entry(device, context, i, target);
        }
    }
    ipt_plan_destroy(plan);
    ipt_context_destroy(context);
}

/* ------------------------------------------------------------------------------------------------------------------ */
/* One input */
/* ------------------------------------------------------------------------------------------------------------------ */

/* The entry of the input, at an odd address: entries need no alignment. */
static unsigned char *make_entry(fuzz_input *input, unsigned mode, const wanted_entry *wanted, size_t *size)
{
    const size_t key = wanted->payload - IPT__ENTRY_HEAD;
    const bool inserts = (mode & INSERT_KEY) && input->left >= IPT__ENTRY_HEAD;
    *size = input->left + (inserts ? key : 0);
    unsigned char *memory = malloc(*size + 1), *entry = memory + 1;
    FUZZ_EXPECT(memory != NULL);
    const size_t before = inserts ? IPT__ENTRY_HEAD : input->left;
    if (before > 0)
        memcpy(entry, input->bytes, before);
    if (inserts) {
        memcpy(entry + before, wanted->bytes + before, key);
        memcpy(entry + before + key, input->bytes + before, input->left - before);
    }
    if ((inserts || (mode & FIX_LENGTHS)) && *size >= IPT__ENTRY_HEAD)
        ipt__put(entry + 12, ipt__get(entry + 12, 4) + key, 4);
    if ((mode & FIX_LENGTHS) && *size >= IPT__ENTRY_HEAD)
        ipt__put(entry + 16, *size - IPT__ENTRY_HEAD - ipt__get(entry + 12, 4), 8);
    if ((mode & FIX_SUM) && *size >= IPT__ENTRY_HEAD)
        ipt__entry_sum(entry, *size, entry + IPT__ENTRY_SUM);
    return entry;
}

/* Whether an entry is valid, and has the key of `other` if that is not NULL. */
static bool is_whole(const unsigned char *entry, size_t size, const wanted_entry *wanted)
{
    unsigned char sum[32];
    if (size < IPT__ENTRY_HEAD || memcmp(entry, "iptcache\1\0\0\0", 12) != 0)
        return false;
    const uint64_t key = ipt__get(entry + 12, 4), payload = ipt__get(entry + 16, 8), rest = size - IPT__ENTRY_HEAD;
    if (key > rest || payload != rest - key)
        return false;
    ipt__entry_sum(entry, size, sum);
    if (memcmp(sum, entry + IPT__ENTRY_SUM, sizeof sum) != 0)
        return false;
    return wanted == NULL || (key == wanted->payload - IPT__ENTRY_HEAD &&
                              memcmp(entry + IPT__ENTRY_HEAD, wanted->bytes + IPT__ENTRY_HEAD, (size_t)key) == 0);
}

/* Writes the entry to the path at which a context searches it. Returns whether the context must trust the file. */
static bool put_on_disk(const unsigned char *entry, size_t size, const wanted_entry *wanted, unsigned place)
{
    char path[2 * FUZZ_PATH_SIZE], name[IPT__ENTRY_NAME];
    if (place == PLACE_STORED) {
        fuzz_forget_error();
        const ipt_result result = ipt_cache_store(fuzz_folder(), entry, size);
        FUZZ_EXPECT_RESULT(result);
        FUZZ_EXPECT(result == (is_whole(entry, size, NULL) ? IPT_SUCCESS : IPT_ERROR_INVALID_ARGUMENT));
        return true;
    }
    ipt__entry_name((const char *)wanted->bytes + IPT__ENTRY_HEAD, wanted->payload - IPT__ENTRY_HEAD, name);
    fuzz_path(path, name);
    fuzz_write_file(path, entry, size);
    if (place == PLACE_OPEN_FILE)
        FUZZ_EXPECT(chmod(path, 0666) == 0);
    return place != PLACE_OPEN_FILE;
}

/* Checks the facts about the device that ipt may rely on. */
static void expect_findings(const ipt_context *context, const unsigned char *payload)
{
    int i = 0;
    const ipt__findings *found = &context->found;
#define EXPECT_FINDING(type, field, minimum, maximum)                                                                  \
    FUZZ_EXPECT((size_t)found->field <= (size_t)(maximum));                                                            \
    if (payload != NULL)                                                                                               \
        FUZZ_EXPECT((size_t)found->field == ipt__min((size_t)ipt__get(payload + 8 * i, 8), (maximum)));                \
    ++i;
    IPT__FINDING_LIST(EXPECT_FINDING)
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_input input = {data, size};
    const unsigned mode = (unsigned)fuzz_take(&input, 1), place = mode & PLACE_BITS;
    cached_device *device = &devices[(mode & DEVICE_BITS) >> DEVICE_SHIFT];
    const bool compiler = (mode & COMPILER) != 0;
    ipt_binary binaries[MOST_ENTRIES + 1];
    size_t entry_size, count = 0;
    fake_judge_codes(standard_code, sizeof standard_code, judge);
    if (device->count == 0) {
        memset(&expected, 0, sizeof expected);
        learn_entries(device);
    }
    const wanted_entry *wanted = &device->entries[fuzz_take(&input, 1) % device->count];
    unsigned char *entry = make_entry(&input, mode, wanted, &entry_size);
    bool whole = is_whole(entry, entry_size, wanted);
    for (size_t i = 0; i < device->count; ++i)
        if (device->entries[i].program != wanted->program && device->entries[i].is_own)
            binaries[count++] = (ipt_binary){device->entries[i].bytes, device->entries[i].size};
    if (place == PLACE_MEMORY)
        binaries[count++] = (ipt_binary){entry, entry_size};
    else
        whole = put_on_disk(entry, entry_size, wanted, place) && whole;

    memset(&expected, 0, sizeof expected);
    const bool is_program = wanted->program < device->programs;
    if (whole && is_program && entry_size > wanted->payload + IPT__ENTRY_FACTS) {
        expected.bytes = entry + wanted->payload + IPT__ENTRY_FACTS;
        expected.size = entry_size - wanted->payload - IPT__ENTRY_FACTS;
    }
    ipt_context *context = open_device(device, binaries, count, place == PLACE_MEMORY ? "" : fuzz_folder(), compiler);
    const bool has_findings = whole && !is_program && entry_size - wanted->payload == IPT__FINDINGS_BYTES;
    expect_findings(context, has_findings ? entry + wanted->payload : NULL);
    ipt_plan *plan;
    fuzz_forget_error();
    const ipt_result result = ipt_plan_create(context, &device->desc, &plan);
    FUZZ_EXPECT_RESULT(result);
    FUZZ_EXPECT_WITH(result == IPT_SUCCESS || (!compiler && result == IPT_ERROR_CACHE_MISS), ipt_context_error(NULL));
    if (result == IPT_SUCCESS)
        FUZZ_EXPECT(*ipt_plan_describe(plan) != '\0');
    /* An entry of this device must be used. Facts of another device may lead to other programs. */
    if (expected.size > 0 && expected.bytes[0] > 2 && wanted->is_own && place != PLACE_STORED)
        FUZZ_EXPECT(expected.handed > 0 || (expected.size == sizeof standard_code &&
                                            memcmp(expected.bytes, standard_code, expected.size) == 0));
    ipt_plan_destroy(plan);
    ipt_context_destroy(context);
    FUZZ_EXPECT(fake_living() == 0);
    fake_forget();
    free(entry - 1);
    fuzz_empty_folder();
    return 0;
}

#ifdef FUZZ_MAKE_CORPUS

/* Seeds: an entry of each kind without its key, which stays valid if the key changes, and some with their keys. */
static void make_corpus(void)
{
    for (unsigned d = 0; d < 4; ++d) {
        const uint8_t nothing[2] = {(uint8_t)(d << DEVICE_SHIFT), 0};
        LLVMFuzzerTestOneInput(nothing, sizeof nothing); /* learns the entries */
        const cached_device *device = &devices[d];
        for (size_t i = 0; i < device->count && i < 6; ++i) {
            const wanted_entry *wanted = &device->entries[device->count - 1 - i];
            uint8_t seed[FUZZ_SEED_SIZE];
            const size_t rest = wanted->size - wanted->payload;
            char name[64];
            seed[0] = (uint8_t)(FIX_SUM | INSERT_KEY | (i % 2 ? 0 : FIX_LENGTHS) | (i % 3) << 2 |
                                (i % 2 ? COMPILER : 0) | d << DEVICE_SHIFT);
            seed[1] = (uint8_t)(device->count - 1 - i);
            memcpy(seed + 2, wanted->bytes, IPT__ENTRY_HEAD);
            ipt__put(seed + 2 + 12, 0, 4);
            memcpy(seed + 2 + IPT__ENTRY_HEAD, wanted->bytes + wanted->payload, rest);
            snprintf(name, sizeof name, "keyless_%u_%u", d, (unsigned)i);
            fuzz_seed(name, seed, 2 + IPT__ENTRY_HEAD + rest);
            if (i > 0)
                continue;
            seed[0] = (uint8_t)(FIX_SUM | FIX_LENGTHS |
                                d << DEVICE_SHIFT); /* the head includes the length of the missing key */
            snprintf(name, sizeof name, "short_%u", d);
            fuzz_seed(name, seed, 2 + IPT__ENTRY_HEAD + rest);
            seed[0] = (uint8_t)(PLACE_FILE | d << DEVICE_SHIFT);
            memcpy(seed + 2, wanted->bytes, wanted->size);
            snprintf(name, sizeof name, "whole_%u", d);
            fuzz_seed(name, seed, 2 + wanted->size);
        }
    }
}

#endif
