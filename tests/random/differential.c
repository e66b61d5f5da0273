/* Draws cases over the whole interface, each from one 64-bit number, and executes them. A plain reference of the manual
 * (tests/support/cases.h) verifies every element and every byte around the matrices. Each case can be repeated alone.
 *
 * Usage: differential [--cases COUNT] [--first NUMBER] [--seconds LIMIT] [--seed SEED] [--failures LIMIT]
 *        Several processes with one seed share its cases if each begins at its own --first.
 *        differential --case SEED     that case alone, described in words
 *
 * The low four bits of a case's seed choose its element sizes. Some consecutive cases share element sizes, and so
 * programs; any 256 consecutive cases have all element sizes. Blocks of cases share contexts; at the end of a block no
 * object of ipt may remain. Exit code: 0 success, 1 failure, 4 hang. */
#define _XOPEN_SOURCE 700
#if defined(__GNUC__) || defined(__clang__)
#pragma GCC diagnostic ignored "-Wunused-function" /* this file uses only parts of soak.h and stress.h */
#endif
#include "soak.h"
#define IPT__BLOCK_BYTES_LEAST 1
#define IPT__BUS_RUN_BYTES 1
#define IPT_IMPLEMENTATION
#include "ipt.h"
#include "stress.h"
#include "cases.h"
#include <errno.h>
#include <sys/stat.h>

enum {
    THEMES = 16,                        /* triples of element sizes */
    THEME = 16,                         /* consecutive cases with the same triple */
    BLOCK = 50,                         /* cases that share contexts */
    TIME_LIMIT = 4 * STRESS_TIME_LIMIT, /* seconds after which a case counts as hung */
    SHOWN = 10                          /* failures that are printed in full */
};

/* The illegal fields of a desc. X(field name that the message must contain, statement that makes it illegal) */
#define SPOIL_LIST(X)                                                                                                  \
    X("rows", d->rows = 0)                                                                                             \
    X("cols", d->cols = 0)                                                                                             \
    X("elem_size", d->elem_size = 0)                                                                                   \
    X("rows", (d->rows = (size_t)1 << between(me, 32, 63), d->cols = (size_t)1 << 32))                                 \
    X("cols", (d->rows = 3, d->cols = SIZE_MAX / 2))                                                                   \
    X("elem_size", (d->rows = 1 << 20, d->elem_size = SIZE_MAX / 1000))                                                \
    X("batch", (d->batch = SIZE_MAX / 2, d->rows += 3))                                                                \
    X("batch_stride", d->batch_stride = d->rows * d->cols * d->elem_size - 1)                                          \
    X("batch_stride", (d->elem_size = 4, d->batch = 2, d->batch_stride = d->rows * d->cols * 4 + between(me, 1, 3)))   \
    X("flags", d->flags |= 1u << between(me, 5, 31))                                                                   \
    X("row_pitch", d->row_pitch = d->cols * d->elem_size - 1)                                                          \
    X("row_pitch_out", (d->elem_size = 4, d->row_pitch_out = d->rows * 4 + between(me, 1, 3)))                         \
    X("row_pitch", d->row_pitch = SIZE_MAX / 2 / unit_of(d->elem_size) * unit_of(d->elem_size))                        \
    X("sequence", d->sequence = (ipt_sequence)between(me, IPT__SEQUENCE_COUNT, 99))                                    \
    X("host", d->host = (ipt_host)between(me, IPT__HOST_COUNT, 99))                                                    \
    X("host_queues", d->host_queues = between(me, 65, 1000))                                                           \
    X("move", d->move = (ipt_move)between(me, IPT__MOVE_COUNT, 99))                                                    \
    X("from", d->from = (ipt_format)between(me, IPT__FORMAT_COUNT, 99))                                                \
    X("to", d->to = (ipt_format)between(me, IPT__FORMAT_COUNT, 99))                                                    \
    X("variant_010", d->variant_010 = (ipt_variant)between(me, IPT__VARIANT_COUNT, 99))                                \
    X("variant_100", d->variant_100 = IPT_VARIANT_BS_GROUP)                                                            \
    X("variant_pad", d->variant_pad = IPT_VARIANT_PAD_CHAINED)                                                         \
    X("flag_spread", d->flag_spread = 3)                                                                               \
    X("IPT_PAD", d->flags = IPT_PAD | IPT_NO_COOPERATIVE)                                                              \
    X("tile_m", (d->sequence = IPT_SEQUENCE_2_1, d->tile_m = d->rows + 1))                                             \
    X("tile_n", (d->sequence = IPT_SEQUENCE_2_2, d->tile_n = d->cols + 1))                                             \
    X("sequence", (d->sequence = IPT_SEQUENCE_SQUARE, d->cols = d->rows + 1))                                          \
    X("tile_m", (d->from = IPT_FORMAT_RM, d->to = IPT_FORMAT_RRRB, d->tile_m = d->rows + 1, d->tile_n = 1))            \
    X("move", (d->move = IPT_MOVE_ROTATE_90, d->from = IPT_FORMAT_RM, d->to = IPT_FORMAT_ASTA, d->tile_m = 1))         \
    X("expression_type", (d->expression = "x", d->elem_size = 4))                                                      \
    X("expression", (d->expression_type = "uint", d->elem_size = 4))                                                   \
    X("expression", (d->expression = "x", d->expression_type = "uchar3", d->elem_size = 3))                            \
    X("expression", (d->expression = "x # y", d->expression_type = "uint", d->elem_size = 4))                          \
    X("expression", (d->expression = "nothing_like_this", d->expression_type = "uint", d->elem_size = 4))              \
    X("expression", (d->expression = "x", d->expression_type = "ulong", d->elem_size = 4))                             \
    X("expression", d->expression_argument = "any value, any ")                                                        \
    X("rank", (as_array(me, d), d->rank = (unsigned)between(me, IPT_MAX_RANK + 1, 1000)))                              \
    X("shape", (as_array(me, d), d->shape[between(me, 0, 2)] = 0))                                                     \
    X("shape", (as_array(me, d), d->shape[1] = SIZE_MAX / 2, d->shape[2] = 3))                                         \
    X("axes", (as_array(me, d), d->axes[2] = d->axes[0]))                                                              \
    X("axes", (as_array(me, d), d->axes[between(me, 0, 2)] = (unsigned)between(me, 3, 9)))                             \
    X("rows", (as_array(me, d), d->rows = 5))                                                                          \
    X("row_pitch", (as_array(me, d), d->row_pitch = 1 << 20))                                                          \
    X("batch_stride", (as_array(me, d), d->batch_stride = content_bytes(d) - 1))                                       \
    X("batch_stride",                                                                                                  \
      (as_array(me, d), d->elem_size = 4, d->batch = 2, d->batch_stride = content_bytes(d) + between(me, 1, 3)))       \
    X("expression_argument_type", (d->expression = "x", d->expression_type = "uint", d->elem_size = 4,                 \
                                   d->expression_argument = "any", d->expression_argument_type = "uint8"))

/* Turns a desc of matrices into one of arrays. */
static void as_array(worker *me, ipt_plan_desc *desc)
{
    draw_array(me, me->most / 16, desc);
    desc->rank = 3;
    desc->shape[0] = between(me, 2, 20), desc->shape[1] = between(me, 2, 20), desc->shape[2] = between(me, 1, 4) * 16;
    desc->axes[0] = 1, desc->axes[1] = 0, desc->axes[2] = 2;
}

#define SPOIL_FIELD(field, how) field,
static const char *const spoilt_fields[] = {SPOIL_LIST(SPOIL_FIELD)};
enum { SPOILS = (int)(sizeof spoilt_fields / sizeof *spoilt_fields) };

/* The errors of a call for a legal plan. X(text that the message must contain) */
#define MISUSE_LIST(X)                                                                                                 \
    X("byte_offset") X("byte_offset") X("buffer") X("queue") X("num_wait_events") X("overlap") X("data") X("storage")

#define MISUSE_PART(part) part,
static const char *const misuse_parts[] = {MISUSE_LIST(MISUSE_PART)};
enum { MISUSES = (int)(sizeof misuse_parts / sizeof *misuse_parts) };

/* The message of every refused plan must contain one of these names. */
static const char *const field_names[] = {"row_pitch",
                                          "rows",
                                          "cols",
                                          "elem_size",
                                          "batch",
                                          "flags",
                                          "max_workspace",
                                          "sequence",
                                          "tile_m",
                                          "tile_n",
                                          "variant_",
                                          "spread",
                                          "from",
                                          "to is",
                                          "move",
                                          "expression",
                                          "host",
                                          "max_device_memory",
                                          "max_host_memory",
                                          "contexts",
                                          "IPT_",
                                          "clBuildProgram",
                                          "rank",
                                          "shape",
                                          "axes"};

/* What a case does. X(enumerator, number in 100 cases) */
#define DEED_LIST(X)                                                                                                   \
    X(EXECUTES, 69)                                                                                                    \
    X(SPOILT, 15)                                                                                                      \
    X(MISUSED, 5)                                                                                                      \
    X(PROFILE, 6)                                                                                                      \
    X(WISDOM, 3)                                                                                                       \
    X(CACHE, 2)

#define DEED_ENUMERATOR(name, share) DEED_##name,
#define DEED_SHARE(name, share) share,
#define DEED_NAME(name, share) #name,
typedef enum deed { DEED_LIST(DEED_ENUMERATOR) DEED_COUNT } deed;
static const size_t deed_shares[] = {DEED_LIST(DEED_SHARE)};
static const char *const deed_names[] = {DEED_LIST(DEED_NAME)};

/* The contexts of a block, created at their first use. X(max_local_memory, resident_groups, wait_polls, its own
 * cl_context, no cache folder, number in 100 blocks) */
#define KIND_LIST(X)                                                                                                   \
    X(0, 0, 0, 0, 0, 50)                                                                                               \
    X(1024, 0, 0, 0, 0, 16)                                                                                            \
    X(4096, 3, 1, 0, 0, 16)                                                                                            \
    X(16384, 1000000, 200, 0, 0, 8)                                                                                    \
    X(0, 1, 0, 1, 0, 8)                                                                                                \
    X(2048, 0, 0, 0, 1, 2)

#define KIND_SHARE(local, groups, polls, own, off, share) share,
static const size_t kind_shares[] = {KIND_LIST(KIND_SHARE)};
enum { KINDS = (int)(sizeof kind_shares / sizeof *kind_shares) };

typedef struct fuzzer {
    worker me;
    place places[KINDS];
    uint64_t at_work; /* the case's seed */
    deed deed;
    size_t kind;
    int alone;            /* --case */
    ipt_context *pair[2]; /* the contexts of a split plan, and their number */
    size_t contexts;
    size_t most_failures; /* this many failures end the run */
    size_t done[DEED_COUNT], refused, advised, failures, blocks_left;
    unsigned long long wrong;
    char folder[64], first_failure[1600];
} fuzzer;

static fuzzer all;
static const char cache_folder[] = "build/differential_cache";

/* ------------------------------------------------------------------------------------------------------------------ */
/* Words */
/* ------------------------------------------------------------------------------------------------------------------ */

static void failure_of(worker *me, const slot *its, unsigned long long wrong, const char *what)
{
    char text[1024];
    describe(&its->recipe, text, sizeof text);
    all.wrong += wrong;
    if (all.failures++ < SHOWN)
        fprintf(stderr, "FAILED: case 0x%016llx: %s\n  %s, context %zu, %s\n%s  again: %s --case 0x%016llx\n",
                (unsigned long long)all.at_work, what, deed_names[all.deed], all.kind, text,
                its->plan ? ipt_plan_describe(its->plan) : "", "build/differential", (unsigned long long)all.at_work);
    if (!*all.first_failure)
        snprintf(all.first_failure, sizeof all.first_failure, "case 0x%016llx: %.400s: %s",
                 (unsigned long long)all.at_work, what, text);
    (void)me;
}

static void need(int good, const char *what)
{
    if (good)
        return;
    fprintf(stderr, "%s failed in case 0x%016llx; the last error of ipt: %s\n", what, (unsigned long long)all.at_work,
            ipt_context_error(NULL));
    exit(1);
}

static void begins(worker *me, const slot *its, const char *what)
{
    char text[1024];
    describe(&its->recipe, text, sizeof text);
    snprintf(me->now, sizeof me->now, "case 0x%016llx %s: %.900s\n", (unsigned long long)all.at_work, what, text);
    if (all.alone)
        printf("%s", me->now);
    me->busy = 1;
    alarm(TIME_LIMIT);
}

static void hangs(int signal_number)
{
    static const char text[] = "HANGS: nothing has ended within the time limit\n";
    ssize_t ignored = write(STDERR_FILENO, text, sizeof text - 1);
    ignored += write(STDERR_FILENO, all.me.now, strlen(all.me.now));
    (void)signal_number;
    (void)ignored;
    _exit(STRESS_HANGS);
}

/* If the driver crashes, prints the case, and ends the program. */
static void crashes(int signal_number)
{
    static const char text[] = "CRASHED, at work:\n";
    ssize_t ignored = write(STDERR_FILENO, text, sizeof text - 1);
    ignored += write(STDERR_FILENO, all.me.now, strlen(all.me.now));
    (void)ignored;
    signal(signal_number, SIG_DFL);
    raise(signal_number);
}

/* Sets the signal handlers, before each case: OpenCL and its compiler install their own. */
static void watch(void)
{
    signal(SIGALRM, hangs);
    signal(SIGSEGV, crashes);
    signal(SIGBUS, crashes);
    signal(SIGABRT, crashes);
    alarm(TIME_LIMIT);
}

/* Checks that a message uses only terms of the manual. */
static void check_sentence(worker *me, const slot *its, const char *text)
{
    size_t i = 0;
    char what[1200];
    snprintf(what, sizeof what, "a sentence without a field, or with what is none: '%.1000s'", text);
    while (i < sizeof field_names / sizeof *field_names && !strstr(text, field_names[i]))
        ++i;
    if (strlen(text) < 9 || i == sizeof field_names / sizeof *field_names || strstr(text, "18446744073709551615") ||
        strstr(text, "(null)"))
        failure(me, its, what);
}

/* ------------------------------------------------------------------------------------------------------------------ */
/* Plans */
/* ------------------------------------------------------------------------------------------------------------------ */

/* The manual's limit of a workspace. */
static size_t most_workspace(const ipt_plan_desc *desc)
{
    const size_t share = content_bytes(desc) * desc->batch / 100, usual = share > 1 << 20 ? share : 1 << 20;
    return desc->max_workspace == 1 ? SIZE_MAX : desc->max_workspace ? desc->max_workspace : usual;
}

/* Checks the properties of every plan. */
static void check_plan(worker *me, const slot *its)
{
    const ipt_plan_desc *const desc = &its->recipe.desc;
    const char *const text = ipt_plan_describe(its->plan);
    if (!*text)
        failure(me, its, "a plan without a description");
    if (strstr(text, "18446744073709551615") || strstr(text, "(null)"))
        failure(me, its, "a description with what is no number or no text");
    if (ipt_plan_workspace(its->plan) > most_workspace(desc))
        failure(me, its, "the workspace is larger than max_workspace");
}

/* Checks that a plan without parts reports the bytes that it allocated. `before`: bytes of earlier buffers. */
static void check_allocated(worker *me, const slot *its, long before)
{
    const ipt_plan_desc *const desc = &its->recipe.desc;
    const long taken = soak_held[SOAK_DEVICE] - before, told = (long)ipt_plan_workspace(its->plan);
    char what[200];
    if (taken == told || desc->max_device_memory || desc->max_host_memory || its->recipe.way == WAY_SPLIT ||
        (desc->flags & IPT_MEASURE))
        return;
    snprintf(what, sizeof what, "the workspace is %ld bytes, and the plan has allocated %ld", told, taken);
    failure(me, its, what);
}

/* Adds requests to a recipe that soak.c never draws, and that may be refused. */
static void widen(worker *me, recipe *its)
{
    ipt_plan_desc *const desc = &its->desc;
    if (one_in(me, 6) && !desc->max_workspace) {
        const size_t limits[] = {1, 2, between(me, 3, 300), between(me, 300, 30000)};
        desc->max_workspace = limits[between(me, 0, 3)];
    }
    if (desc->max_host_memory && one_in(me, 2)) /* more steps, or too little memory */
        desc->max_host_memory = desc->max_host_memory / between(me, 1, 8) + 1;
    if (desc->max_device_memory && one_in(me, 2))
        desc->max_device_memory = desc->max_device_memory / between(me, 1, 8) + 1;
    if (one_in(me, 10))
        desc->flags |= IPT_NO_COOPERATIVE;
    if (one_in(me, 20))
        desc->flags |= IPT_OUT_OF_PLACE;
    if (one_in(me, 20) && desc->sequence == IPT_SEQUENCE_AUTO) {
        desc->sequence = IPT_SEQUENCE_TWO_PASS;
        desc->tile_m = desc->tile_n = between(me, 1, 50);
    }
    if (one_in(me, 40))
        desc->tile_m = between(me, 1, 9);
    if (one_in(me, 40))
        desc->flag_spread = (size_t)1 << between(me, 0, 5);
    if (one_in(me, 40))
        desc->variant_010 = (ipt_variant)between(me, 1, IPT__VARIANT_COUNT - 1);
    if (one_in(me, 40))
        desc->move = (ipt_move)between(me, 0, IPT__MOVE_COUNT - 1);
    if (one_in(me, 40) && its->way != WAY_STORAGE)
        desc->max_device_memory = between(me, 1, 100000);
    if (one_in(me, 30))
        desc->flags |= IPT_CACHE_ONLY;
}

/* Whether this result is allowed for a desc that widen() has changed. */
static int may_result(const recipe *its, const recipe *drawn, ipt_result result)
{
    const int widened = memcmp(&its->desc, &drawn->desc, sizeof its->desc) != 0;
    if (result == IPT_ERROR_CACHE_MISS)
        return (its->desc.flags & IPT_CACHE_ONLY) != 0;
    if (result == IPT_ERROR_INVALID_ARGUMENT)
        return widened;
    return result == IPT_ERROR_UNSUPPORTED && (widened || may_be_refused(drawn));
}

/* Reads the limits that a message proposes into a desc: "...: max_workspace = 123 and max_host_memory = 456 would do".
 * Returns their number. */
static size_t take_advice(const char *sentence, ipt_plan_desc *desc)
{
    const char *const end = strstr(sentence, " would do"), *at = sentence, *next;
    size_t found = 0;
    if (!end || end[-1] < '0' || end[-1] > '9')
        return 0;
    for (next = sentence; next && next < end; next = strstr(next + 2, ": "))
        at = next;
    for (; (at = strstr(at, "max_")) != NULL && at < end; ++at, ++found) {
        size_t *const limit = !strncmp(at, "max_workspace", 13)     ? &desc->max_workspace
                              : !strncmp(at, "max_host_memory", 15) ? &desc->max_host_memory
                                                                    : &desc->max_device_memory;
        *limit = strtoull(at + strcspn(at, "=") + 1, NULL, 10);
    }
    return found;
}

/* Creates the plan of the recipe; a split plan on all contexts of the case. */
static ipt_result create_plan(slot *its, const place *at)
{
    return its->recipe.way == WAY_SPLIT ? ipt_plan_create_split(all.pair, all.contexts, &its->recipe.desc, &its->plan)
                                        : ipt_plan_create(at->context, &its->recipe.desc, &its->plan);
}

/* Follows a refusal's proposal: the plan must then exist. */
static void follow_advice(worker *me, slot *its, const place *at, const char *sentence)
{
    size_t rows, cols;
    ipt_result result;
    char what[1400];
    if (!take_advice(sentence, &its->recipe.desc))
        return;
    snprintf(what, sizeof what, "as advised (%.600s), ", sentence);
    ++all.advised;
    ipt_plan_destroy(its->plan);
    its->plan = NULL;
    result = create_plan(its, at);
    if (result && !(result == IPT_ERROR_CACHE_MISS && (its->recipe.desc.flags & IPT_CACHE_ONLY))) {
        snprintf(what + strlen(what), sizeof what - strlen(what), "but: %.600s", ipt_context_error(NULL));
        failure(me, its, what);
    }
    if (!its->plan)
        return;
    check_plan(me, its);
    ipt_plan_padding(its->plan, &rows, &cols);
    measure_slot(its, rows, cols);
}

/* Creates a second plan with a max_workspace below this plan's workspace: it obeys the limit, or is refused. */
static void want_less_workspace(worker *me, const slot *its)
{
    const size_t held = ipt_plan_workspace(its->plan);
    slot less = *its;
    ipt_result result;
    less.plan = NULL;
    if (held < 3 || its->recipe.way == WAY_SPLIT || (its->recipe.desc.flags & IPT_MEASURE))
        return;
    less.recipe.desc.max_workspace = between(me, held / 2 + 1, held - 1);
    result = ipt_plan_create(its->place->context, &less.recipe.desc, &less.plan);
    if (less.plan)
        check_plan(me, &less);
    else if (result != IPT_ERROR_UNSUPPORTED &&
             !(result == IPT_ERROR_CACHE_MISS && (less.recipe.desc.flags & IPT_CACHE_ONLY)))
        failure(me, &less, ipt_context_error(NULL));
    ipt_plan_destroy(less.plan);
}

static place *place_of(worker *me, size_t kind);

/* make_plan without a check of refusals. */
static ipt_result try_plan(worker *me, slot *its, const recipe *wanted, place *at)
{
    ipt_result result;
    size_t rows, cols;
    long held;
    memset(its, 0, sizeof *its);
    its->recipe = *wanted;
    its->place = at;
    if (wanted->way == WAY_SPLIT) {
        all.pair[0] = at->context;
        all.pair[1] = at->cl == me->home.cl ? place_of(me, 1)->context : at->context;
        all.contexts = between(me, 1, 2);
    }
    begins(me, its, "makes a plan");
    ++me->plans;
    held = soak_held[SOAK_DEVICE];
    result = create_plan(its, at);
    if (!result != (its->plan != NULL))
        failure(me, its, "the plan contradicts the result: NULL after success, or not NULL after a failure");
    if (result)
        return result;
    check_plan(me, its);
    check_allocated(me, its, held);
    ipt_plan_padding(its->plan, &rows, &cols);
    measure_slot(its, rows, cols);
    return IPT_SUCCESS;
}

static void end_plan(slot *its)
{
    ipt_plan_destroy(its->plan);
    its->plan = NULL;
}

/* ------------------------------------------------------------------------------------------------------------------ */
/* Contexts */
/* ------------------------------------------------------------------------------------------------------------------ */

#define KIND_DESC(local, groups, polls, own, off, share) {local, groups, polls, own, off},
static const struct {
    size_t local, groups, polls;
    int own, off;
} kinds[] = {KIND_LIST(KIND_DESC)};

static place *place_of(worker *me, size_t kind)
{
    place *const at = &all.places[kind];
    if (at->context)
        return at;
    at->desc.max_local_memory = kinds[kind].local;
    at->desc.resident_groups = kinds[kind].groups;
    at->desc.wait_polls = kinds[kind].polls;
    me->cache_dir = kinds[kind].off ? "" : cache_folder;
    at->desc.context = kinds[kind].own ? NULL : me->home.cl;
    make_context(me, at);
    me->cache_dir = cache_folder;
    if (kinds[kind].own) {
        open_place(me, at, ipt_context_cl_context(at->context));
    } else {
        at->cl = me->home.cl;
        memcpy(at->queues, me->home.queues, sizeof at->queues);
        memcpy(at->buffers, me->home.buffers, sizeof at->buffers);
    }
    return at;
}

/* Destroys all objects of ipt. Returns 1 if something remains. */
static int close_places(worker *me)
{
    size_t i;
    int left = 0;
    for (i = 0; i < KINDS; ++i) {
        place *const at = &all.places[i];
        if (at->context && at->cl != me->home.cl)
            close_place(at);
        ipt_context_destroy(at->context);
        memset(at, 0, sizeof *at);
    }
    soak_settle();
    for (i = 0; i < SOAK_HELD_COUNT; ++i) {
        if (soak_held[i])
            fprintf(stderr, "LEFT OVER: %ld %s when all plans and contexts were destroyed\n", soak_held[i],
                    soak_held_names[i]);
        left |= soak_held[i] != 0;
        soak_held[i] = 0;
    }
    return left;
}

/* ------------------------------------------------------------------------------------------------------------------ */
/* What cases do */
/* ------------------------------------------------------------------------------------------------------------------ */

static way draw_way(worker *me)
{
    if (one_in(me, 7))
        return WAY_STORAGE;
    return one_in(me, 200) ? WAY_ONE_LINER : (way)by_share(me, way_shares, WAY_COUNT);
}

/* Limits memory so that a matrix takes many steps. */
static void make_steps(worker *me, recipe *its)
{
    ipt_plan_desc *const d = &its->desc;
    const size_t bytes = content_bytes(d);
    if (its->way == WAY_STORAGE && !one_in(me, 5))
        d->max_host_memory = bytes / 100 * between(me, 30, 70) + between(me, 5000, 20000);
}

static size_t draw_bytes(worker *me)
{
    return one_in(me, 16) ? me->most : me->most / 16;
}

static void executes(worker *me)
{
    recipe drawn, wider;
    slot its;
    place *at = place_of(me, all.kind);
    const way how = draw_way(me);
    ipt_result result;
    if (how == WAY_ONE_LINER) {
        run_one_liner(me);
        return;
    }
    draw_recipe(me, how, how == WAY_STORAGE ? me->most / 4 : draw_bytes(me), &drawn);
    make_steps(me, &drawn);
    wider = drawn;
    if (one_in(me, 2))
        widen(me, &wider);
    if (wider.desc.flags & IPT_MEASURE) { /* measurements would change later cases */
        me->own = *at;
        me->own.desc.context = at->cl;
        make_context(me, &me->own);
        at = &me->own;
        wider.desc.measure_buffer = one_in(me, 2) ? at->buffers[1] : NULL;
    }
    result = try_plan(me, &its, &wider, at);
    if (result) {
        ++all.refused;
        check_sentence(me, &its, ipt_context_error(NULL));
        if (!may_result(&wider, &drawn, result))
            failure(me, &its, ipt_context_error(NULL));
        snprintf(me->said, sizeof me->said, "%.590s", ipt_context_error(NULL));
        follow_advice(me, &its, at, me->said);
    }
    if (wider.way == WAY_CHECKED &&
        (wider.desc.move || wider.desc.expression)) /* the checker supports transpositions only */
        its.recipe.way = WAY_BUFFER;
    if (its.plan) {
        const int host = its.recipe.way == WAY_PAGEABLE || its.recipe.way == WAY_PINNED || its.recipe.way == WAY_ASYNC;
        if ((wider.desc.max_device_memory || wider.desc.max_host_memory) && its.recipe.way < WAY_PAGEABLE && !host)
            its.recipe.way = wider.desc.max_host_memory ? WAY_STORAGE : WAY_PAGEABLE;
        if (its.recipe.way == WAY_OUT_OF_PLACE && (wider.desc.move || wider.desc.from || wider.desc.to))
            its.recipe.way = WAY_BUFFER;
        *me->said = 0;
        if (its.span + 4 * GUARD + 4096 <= me->capacity)
            run(me, &its);
        check_plan(me, &its);
        if (*me->said) { /* the first execution creates plans for parts */
            follow_advice(me, &its, at, me->said);
            *me->said = 0;
            if (its.plan && all.alone)
                printf("%s", ipt_plan_describe(its.plan));
            if (its.plan)
                run(me, &its);
            if (strstr(me->said, " would do"))
                failure(me, &its, me->said);
        }
        if (its.plan && one_in(me, 4))
            want_less_workspace(me, &its);
    }
    end_plan(&its);
    if (at == &me->own)
        ipt_context_destroy(me->own.context);
}

/* A desc with one illegal field must be refused with the field's name. */
static void spoilt(worker *me)
{
    place *const at = place_of(me, all.kind);
    const size_t which = between(me, 0, SPOILS - 1);
    recipe its_recipe;
    slot its;
    ipt_plan_desc *const d = &its_recipe.desc;
    ipt_result result;
    size_t number = 0;
    memset(&its_recipe, 0, sizeof its_recipe);
    draw_shape(me, draw_bytes(me), d);
    d->rows += 2;
    d->cols += 2;
#define SPOIL_CASE(field, how)                                                                                         \
    if (number++ == which)                                                                                             \
        (void)(how);
    SPOIL_LIST(SPOIL_CASE)
    result = try_plan(me, &its, &its_recipe, at);
    ++all.refused;
    if (result != IPT_ERROR_INVALID_ARGUMENT && result != IPT_ERROR_BUILD) {
        char what[1000];
        snprintf(what, sizeof what, "illegal %s, but the result is %d: %.800s", spoilt_fields[which], (int)result,
                 result ? ipt_context_error(NULL) : "");
        failure(me, &its, what);
    } else {
        check_sentence(me, &its, ipt_context_error(NULL));
        if (result != IPT_ERROR_BUILD && !strstr(ipt_context_error(NULL), spoilt_fields[which]))
            failure(me, &its, ipt_context_error(NULL));
    }
    end_plan(&its);
}

static ipt_result misuse(worker *me, slot *its, size_t which, cl_event *event)
{
    place *const at = its->place;
    const cl_command_queue queue = at->queues[0];
    const size_t unit = unit_of(its->recipe.desc.elem_size);
    ipt_storage storage;
    memset(&storage, 0, sizeof storage);
    switch (which) {
    case 0:
        return ipt_plan_execute(its->plan, queue, at->buffers[0], unit > 1 ? GUARD + unit / 2 : me->capacity, 0, NULL,
                                event);
    case 1:
        return ipt_plan_execute(its->plan, queue, at->buffers[0], (me->capacity - its->span) / unit * unit + unit, 0,
                                NULL, event);
    case 2:
        return ipt_plan_execute(its->plan, queue, NULL, 0, 0, NULL, event);
    case 3:
        return ipt_plan_execute(its->plan, NULL, at->buffers[0], 0, 0, NULL, event);
    case 4:
        return ipt_plan_execute(its->plan, queue, at->buffers[0], 0, 1, NULL, event);
    case 5:
        return ipt_plan_execute_out_of_place(its->plan, queue, at->buffers[0], 0, at->buffers[0],
                                             (its->span - 1) / unit * unit, 0, NULL, event);
    case 6:
        return ipt_plan_execute_host(its->plan, NULL);
    default:
        storage.read = store_read;
        storage.write = store_write;
        return ipt_plan_execute_storage(its->plan, &storage);
    }
}

/* A call with an illegal argument must be refused with the argument's name, and change nothing. */
static void misused(worker *me)
{
    place *const at = place_of(me, all.kind);
    const size_t which = between(me, 0, MISUSES - 1);
    recipe plain;
    slot its;
    size_t total, wrong;
    cl_event event = NULL;
    ipt_result result;
    memset(&plain, 0, sizeof plain);
    if (one_in(me, 2))
        draw_array(me, draw_bytes(me), &plain.desc);
    else
        draw_shape(me, draw_bytes(me), &plain.desc);
    if (try_plan(me, &its, &plain, at)) {
        failure(me, &its, ipt_context_error(NULL));
        return;
    }
    total = prepare(me, &its, GUARD, 0);
    need(!clEnqueueWriteBuffer(at->queues[0], at->buffers[0], CL_TRUE, 0, total, me->before, 0, NULL, NULL),
         "clEnqueueWriteBuffer");
    result = misuse(me, &its, which, &event);
    ++all.refused;
    if (result != IPT_ERROR_INVALID_ARGUMENT || event || !strstr(ipt_context_error(NULL), misuse_parts[which])) {
        char what[1000];
        snprintf(what, sizeof what, "wrong %s, the result is %d%s: %.800s", misuse_parts[which], (int)result,
                 event ? " and there is an event" : "", ipt_context_error(NULL));
        failure(me, &its, what);
    }
    need(!clEnqueueReadBuffer(at->queues[0], at->buffers[0], CL_TRUE, 0, total, me->work, 0, NULL, NULL),
         "clEnqueueReadBuffer");
    wrong = (size_t)-1;
    if (differ(me->work, me->before, 0, total, 1, &wrong))
        failure(me, &its, "a refused execution has changed the buffer");
    end_plan(&its);
}

/* A context with the device's profile makes the same plans as the device's own. */
static void plans_by_profile(worker *me)
{
    place *const at = place_of(me, 0);
    recipe drawn;
    slot its;
    char text[16384], first[sizeof its.recipe + 8192];
    ipt_context_desc desc;
    ipt_context *offline;
    ipt_plan *plan = NULL;
    ipt_result here, there;
    draw_recipe(me, WAY_BUFFER, draw_bytes(me), &drawn);
    widen(me, &drawn);
    drawn.desc.flags &= ~(IPT_MEASURE | IPT_CACHE_ONLY);
    drawn.desc.max_device_memory = 0; /* a plan that is cut needs a device */
    here = try_plan(me, &its, &drawn, at);
    snprintf(first, sizeof first, "%.8000s", here ? ipt_context_error(NULL) : ipt_plan_describe(its.plan));
    if (ipt_context_profile(at->context, text, sizeof text, NULL)) {
        failure(me, &its, ipt_context_error(NULL));
        end_plan(&its);
        return;
    }
    memset(&desc, 0, sizeof desc);
    desc.profile = text;
    desc.allocator.alloc = soak_take;
    desc.allocator.free = soak_give;
    need(!ipt_context_create(&desc, &offline), "a context with a profile");
    there = ipt_plan_create(offline, &drawn.desc, &plan);
    if (here != there || strcmp(first, here ? ipt_context_error(NULL) : ipt_plan_describe(plan))) {
        char what[9000];
        snprintf(what, sizeof what, "by profile: %d: %.4000s\non the device: %d: %.4000s", (int)there,
                 there ? ipt_context_error(NULL) : ipt_plan_describe(plan), (int)here, first);
        failure(me, &its, what);
    }
    ipt_plan_destroy(plan);
    ipt_context_destroy(offline);
    end_plan(&its);
}

/* A context that imports another context's measurement makes an equal plan. */
static void takes_wisdom(worker *me)
{
    recipe drawn;
    slot its;
    place told = *place_of(me, 0), measured = told;
    char text[16384], again[16384], first[8192];
    draw_recipe(me, WAY_BUFFER, draw_bytes(me), &drawn);
    drawn.desc.flags |= IPT_MEASURE;
    make_context(me, &measured);
    make_context(me, &told);
    if (try_plan(me, &its, &drawn, &measured)) {
        check_sentence(me, &its, ipt_context_error(NULL));
    } else {
        snprintf(first, sizeof first, "%s", ipt_plan_describe(its.plan));
        end_plan(&its);
        if (ipt_wisdom_export(measured.context, text, sizeof text, NULL) || ipt_wisdom_import(told.context, text) ||
            ipt_wisdom_export(told.context, again, sizeof again, NULL))
            failure(me, &its, ipt_context_error(NULL));
        else if (strcmp(text, again))
            failure(me, &its, "wisdom that has been imported is exported as another text");
        if (one_in(me, 2))
            drawn.desc.flags &= ~IPT_MEASURE;
        if (try_plan(me, &its, &drawn, &told))
            failure(me, &its, ipt_context_error(NULL));
        else if (strcmp(first, ipt_plan_describe(its.plan)))
            failure(me, &its, first);
        else
            run(me, &its);
        end_plan(&its);
        text[between(me, 0, strlen(text) - 1)] = (char)between(me, 1, 31);
        if (ipt_wisdom_import(told.context, text) && strlen(ipt_context_error(NULL)) < 20)
            failure(me, &its, "refused wisdom without a sentence");
    }
    ipt_context_destroy(measured.context);
    ipt_context_destroy(told.context);
}

static void empty_folder(const char *path)
{
    DIR *const folder = opendir(path);
    const struct dirent *entry;
    char name[512];
    while (folder && (entry = readdir(folder)) != NULL) {
        snprintf(name, sizeof name, "%.100s/%.300s", path, entry->d_name);
        if (*entry->d_name != '.')
            remove(name);
    }
    if (folder)
        closedir(folder);
    rmdir(path);
}

/* A context fills an empty cache folder. With this folder, a context that must not compile makes an equal plan. */
static void fills_cache(worker *me)
{
    recipe drawn;
    slot its;
    place at = *place_of(me, 0);
    int turn;
    draw_recipe(me, one_in(me, 2) ? WAY_BUFFER : WAY_PAGEABLE, me->most / 50, &drawn);
    drawn.desc.flags &= ~IPT_MEASURE;
    snprintf(all.folder, sizeof all.folder, "build/differential_folder_%ld", (long)getpid());
    empty_folder(all.folder);
    for (turn = 0; turn < 2; ++turn) {
        ipt_result result;
        me->cache_dir = all.folder;
        make_context(me, &at);
        me->cache_dir = cache_folder;
        if (turn)
            drawn.desc.flags |= IPT_CACHE_ONLY;
        result = try_plan(me, &its, &drawn, &at);
        if (!result)
            run(me, &its);
        else if (turn || !may_be_refused(&drawn))
            failure(me, &its, ipt_context_error(NULL));
        end_plan(&its);
        ipt_context_destroy(at.context);
        if (result)
            break;
    }
    empty_folder(all.folder);
}

/* ------------------------------------------------------------------------------------------------------------------ */
/* The whole */
/* ------------------------------------------------------------------------------------------------------------------ */

static uint64_t mix(uint64_t x)
{
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

/* Runs the case of a seed. */
static void run_case(worker *me, uint64_t seed)
{
    static const size_t sizes[THEMES][3] = {
        {4, 4, 4}, {1, 1, 1},  {4, 12, 20},  {8, 8, 24},    {2, 2, 6},     {16, 16, 48},    {3, 5, 7}, {1, 3, 9},
        {4, 4, 4}, {8, 16, 4}, {2, 10, 100}, {33, 63, 255}, {8, 40, 1000}, {64, 128, 4096}, {1, 2, 4}, {4, 16, 1}};
    static void (*const deeds[])(worker *) = {executes, spoilt, misused, plans_by_profile, takes_wisdom, fills_cache};
    all.at_work = seed;
    me->dice.random = mix(seed) | 1;
    me->sizes = sizes[seed % THEMES];
    me->size_count = 3;
    stress_random(&me->dice);
    all.kind = by_share(me, kind_shares, KINDS);
    all.deed = (deed)by_share(me, deed_shares, DEED_COUNT);
    snprintf(me->now, sizeof me->now, "case 0x%016llx\n", (unsigned long long)seed);
    watch();
    deeds[all.deed](me);
    ++all.done[all.deed];
}

/* Runs one block of cases. If an object remains, runs each case alone to find the culprit. */
static size_t run_block(worker *me, uint64_t seed, size_t first, size_t count, double until)
{
    uint64_t seeds[BLOCK];
    size_t i, done = 0;
    for (i = 0; i < count && stress_now() < until && all.failures < all.most_failures; ++i, ++done) {
        const uint64_t drawn = mix(seed + (first + i) * 0x9e3779b97f4a7c15u), theme = mix(seed) + (first + i) / THEME;
        seeds[i] = drawn - drawn % THEMES + theme % THEMES;
        run_case(me, seeds[i]);
    }
    if (!close_places(me))
        return done;
    ++all.blocks_left;
    for (i = 0; i < done; ++i) {
        run_case(me, seeds[i]);
        if (close_places(me))
            fprintf(stderr, "  by case 0x%016llx\n", (unsigned long long)seeds[i]);
    }
    return done;
}

static void start(worker *me)
{
    ipt_context *context;
    cl_int error;
    setenv("IPT_CACHE_DIR", cache_folder, 1);
    watch();
    need(!ipt_context_create(NULL, &context), "ipt_context_create"); /* to choose the device */
    me->device = ipt_context_cl_device(context);
    ipt_context_destroy(context);
    me->most = 2000000;
    me->capacity = me->most * 2 + 1000000;
    me->cache_dir = cache_folder;
    me->checker.context = clCreateContext(NULL, 1, &me->device, NULL, NULL, &error);
    need(!error, "clCreateContext");
    make_arrays(me);
    open_place(me, &me->home, me->checker.context);
    me->found = clCreateBuffer(me->home.cl, CL_MEM_READ_WRITE, ROUNDS * sizeof(checker_found), NULL, &error);
    need(!error, "clCreateBuffer");
    memset(soak_held, 0, sizeof soak_held); /* objects that live for the whole run do not count */
}

static void stop(worker *me)
{
    const cl_context context = me->checker.context;
    close_place(&me->home);
    clReleaseMemObject(me->found);
    checker_end(&me->checker);
    clReleaseContext(context);
    free_arrays(me);
}

static void show(const worker *me, size_t cases, uint64_t seed, double seconds)
{
    size_t w;
    for (w = 0; w < WAY_COUNT; ++w)
        printf("  %-26s %8zu runs\n", way_names[w], me->runs[w]);
    printf("  ");
    for (w = 0; w < DEED_COUNT; ++w)
        printf("%s %zu%s", deed_names[w], all.done[w], w + 1 < DEED_COUNT ? ", " : "\n");
    printf(
        "%zu cases (seed 0x%llx), %zu plans, %zu executions, %.2f GB, %zu refused, %zu did as advised, %zu ended, %zu "
        "resumed, %.0f s; %llu wrong, %zu failures, something left over after %zu blocks: %s\n",
        cases, (unsigned long long)seed, me->plans, me->executions, (double)me->bytes * 1e-9, all.refused, all.advised,
        me->cancelled, me->resumed, seconds, all.wrong, all.failures, all.blocks_left,
        all.failures || all.blocks_left ? "FAILED" : "all is right");
    if (*all.first_failure)
        printf("the first one: %s\n", all.first_failure);
}

int main(int count, char **arguments)
{
    size_t cases = 300, first = 0, done = 0;
    double seconds = 1e9, begun, shown;
    uint64_t seed = 1;
    int i;
    all.most_failures = 200;
    for (i = 1; i + 1 < count; i += 2) {
        const uint64_t value = strtoull(arguments[i + 1], NULL, 0);
        if (!strcmp(arguments[i], "--case")) {
            all.alone = 1;
            seed = value;
        } else if (!strcmp(arguments[i], "--cases"))
            cases = value;
        else if (!strcmp(arguments[i], "--first"))
            first = value;
        else if (!strcmp(arguments[i], "--seconds"))
            seconds = (double)value;
        else if (!strcmp(arguments[i], "--failures"))
            all.most_failures = value;
        else if (!strcmp(arguments[i], "--seed"))
            seed = value;
        else
            break;
    }
    if (i < count) {
        fprintf(stderr, "usage: differential [--cases COUNT] [--first NUMBER] [--seconds LIMIT] [--seed SEED] "
                        "[--failures LIMIT] | --case SEED\n");
        return 2;
    }
    start(&all.me);
    begun = shown = stress_now();
    if (all.alone) {
        run_case(&all.me, seed);
        all.blocks_left += close_places(&all.me);
        done = 1;
    }
    while (!all.alone && done < cases && stress_now() < begun + seconds &&
           all.failures + all.blocks_left < all.most_failures) {
        const size_t block = cases - done < BLOCK ? cases - done : BLOCK;
        done += run_block(&all.me, seed, first + done, block, begun + seconds);
        if (stress_now() - shown > 60) {
            shown = stress_now();
            printf("%6.0f s: %zu cases, %zu failures\n", shown - begun, done, all.failures);
            fflush(stdout);
        }
    }
    alarm(TIME_LIMIT);
    show(&all.me, done, seed, stress_now() - begun);
    stop(&all.me);
    return all.failures || all.blocks_left;
}
