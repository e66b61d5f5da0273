/* Works for a given time with random plans of all kinds in two threads, verifies every element and every byte around
 * the matrices, and sees to it that memory, handles and OpenCL objects do not grow. Time goes by in epochs: at the end
 * of each everything of ipt's is destroyed, nothing that it has taken may be left then, and the process is looked at.
 * The first and the last third of these looks, after a warm-up, must agree.
 *
 * PoCL 3.1 itself, by OpenCL calls alone, keeps 15 KB of each program that it compiles and 0.4 to 0.6 KB of each that
 * it loads, as long as there is any OpenCL context; nothing of contexts, queues, buffers, kernels, events and launches.
 * So the plans are made from a pool of descs, whose programs are compiled once, and what may grow is allowed for by
 * program.
 *
 * Usage: soak [MINUTES] [SEED] [MEGABYTES]; 0: the default. MEGABYTES is the size of the largest matrix.
 * Exit code: 0 all was right, 1 it was not, 4 something hung. */
#define _POSIX_C_SOURCE 200809L
#include "soak.h"
#define IPT__BLOCK_BYTES_LEAST 1
#define IPT_IMPLEMENTATION
#include "ipt.h"
#if defined(__GNUC__) || defined(__clang__)
#pragma GCC diagnostic ignored "-Wunused-function" /* of stress.h only the random numbers and shapes are needed */
#endif
#include "stress.h"

enum {
    THREADS = 2,
    GUARD = 256, /* bytes before and behind the matrices */
    SLOTS = 6,   /* plans that a thread keeps */
    SHARED = 4,  /* plans that both use */
    EPOCHS = 60,
    SHORTEST_EPOCH = 3, /* seconds */
    LONGEST_EPOCH = 60,
    TIME_LIMIT = 2 * STRESS_TIME_LIMIT, /* of a job, before it counts as hung */
    ROUNDS = 3                          /* executions of a plan on one matrix, at most */
};
static const char cache_folder[] = "build/soak_cache";

/* What may be more at the end than at the beginning, in the units of SOAK_FIGURE_LIST; and for each program made, and
 * for each of those compiled meanwhile. */
static const double allowed[SOAK_FIGURE_COUNT] = {8192, 2048, 0, 0},
                    allowed_for_program[SOAK_FIGURE_COUNT] = {1, 0.6, 0, 0},
                    allowed_for_compiled[SOAK_FIGURE_COUNT] = {24, 8, 0, 0};

/* How a plan is executed. X(enumerator, name, how many in the pool) */
#define WAY_LIST(X)                                                                                                    \
    X(BUFFER, "buffer", 8)                 /* in place, verified by the host */                                        \
    X(CHECKED, "buffer, checked there", 6) /* in place, filled and verified by the device */                           \
    X(OUT_OF_PLACE, "out of place", 2)                                                                                 \
    X(PAGEABLE, "host, pageable", 4)                                                                                   \
    X(PINNED, "host, pinned", 3)                                                                                       \
    X(ASYNC, "host, by a thread", 2)                                                                                   \
    X(CUT, "cut, pageable", 2)                                                                                         \
    X(CUT_PINNED, "cut, pinned", 2)                                                                                    \
    X(STORAGE, "storage", 4)                                                                                           \
    X(SPLIT, "split over contexts", 1)                                                                                 \
    X(ONE_LINER, "ipt_transpose", 0) /* is not from the pool */

#define WAY_ENUMERATOR(name, text, share) WAY_##name,
#define WAY_NAME(name, text, share) text,
#define WAY_SHARE(name, text, share) share,
typedef enum way { WAY_LIST(WAY_ENUMERATOR) WAY_COUNT } way;
static const char *const way_names[] = {WAY_LIST(WAY_NAME)};
static const size_t way_shares[] = {WAY_LIST(WAY_SHARE)};

/* What a desc asks for beside a shape. X(enumerator, how many in the pool) */
#define WISH_LIST(X)                                                                                                   \
    X(NOTHING, 8)                                                                                                      \
    X(MOVE, 4)                                                                                                         \
    X(EXPRESSION, 3)                                                                                                   \
    X(SEQUENCE, 4)                                                                                                     \
    X(VARIANT, 3)                                                                                                      \
    X(FORMAT, 2)                                                                                                       \
    X(PADDING, 2)                                                                                                      \
    X(LITTLE_WORKSPACE, 2)                                                                                             \
    X(MEASURE, 1)

#define WISH_ENUMERATOR(name, share) WISH_##name,
#define WISH_SHARE(name, share) share,
typedef enum wish { WISH_LIST(WISH_ENUMERATOR) WISH_COUNT } wish;
static const size_t wish_shares[] = {WISH_LIST(WISH_SHARE)};

/* A desc of the pool. */
typedef struct recipe {
    way way;
    wish wish;
    ipt_plan_desc desc;
} recipe;

/* A context with what a thread needs to use it. */
typedef struct place {
    ipt_context *context;
    ipt_context_desc desc;
    cl_context cl;
    cl_command_queue queues[2]; /* the second one out of order where there are such */
    cl_mem buffers[2];
} place;

/* A plan at work. */
typedef struct slot {
    ipt_plan *plan;
    recipe recipe;
    place *place;
    size_t matrix, room, stride, span; /* bytes: of a matrix, with padding, from one to the next, of all */
} slot;

typedef struct soak soak;

typedef struct worker {
    soak *soak;
    stress dice;
    size_t number;
    pthread_t thread;
    place home, own;
    place *places[2]; /* the shared context, and the thread's own */
    slot slots[SLOTS];
    checker checker;
    cl_mem found;
    unsigned char *before, *expected, *other, *work;
    size_t next; /* of the pool */
    double until;
    char now[1024]; /* what it is at, for the alarm */
    volatile int busy;
    unsigned long runs[WAY_COUNT], refused[WAY_COUNT], executions, plans, contexts, cancelled, resumed;
    unsigned long long bytes;
} worker;

/* A look at the process when nothing of ipt's is left. */
typedef struct look {
    double when;
    unsigned long programs, compiled, plans;
    long figures[SOAK_FIGURE_COUNT];
} look;

struct soak {
    double start, end;
    uint64_t seed;
    size_t most;     /* bytes of the largest matrix */
    size_t capacity; /* of buffers and arrays */
    cl_device_id device;
    cl_context cl;
    recipe *pool;
    size_t pool_count;
    slot shared[SHARED];
    worker workers[THREADS];
    look *looks;
    size_t look_count, look_capacity, warm; /* the first look after the warm-up */
    unsigned long left_over;                /* epochs at whose end something was left */
    pthread_mutex_t lock;
    unsigned long long wrong_items;
    unsigned long failures;
};

static soak all; /* for the alarm */

/* ------------------------------------------------------------------------------------------------------------------ */
/* Words */
/* ------------------------------------------------------------------------------------------------------------------ */

static void describe(const recipe *its, char *text, size_t capacity)
{
    const ipt_plan_desc *const d = &its->desc;
    snprintf(
        text, capacity,
        "%s: rows %lu cols %lu elem_size %lu batch %lu batch_stride %lu flags %u max_workspace %lu sequence %s tile "
        "%lu x %lu variants %s %s %s spread %lu from %s to %s move %s expression %s of %s host %s queues %lu "
        "max_device_memory %lu max_host_memory %lu",
        way_names[its->way], (unsigned long)d->rows, (unsigned long)d->cols, (unsigned long)d->elem_size,
        (unsigned long)d->batch, (unsigned long)d->batch_stride, d->flags, (unsigned long)d->max_workspace,
        ipt_sequence_string(d->sequence), (unsigned long)d->tile_m, (unsigned long)d->tile_n,
        ipt_variant_string(d->variant_010), ipt_variant_string(d->variant_100), ipt_variant_string(d->variant_pad),
        (unsigned long)d->flag_spread, ipt_format_string(d->from), ipt_format_string(d->to), ipt_move_string(d->move),
        d->expression ? d->expression : "none", d->expression_type ? d->expression_type : "none",
        ipt_host_string(d->host), (unsigned long)d->host_queues, (unsigned long)d->max_device_memory,
        (unsigned long)d->max_host_memory);
}

static void failure(worker *me, const slot *its, const char *what)
{
    char text[1024];
    describe(&its->recipe, text, sizeof text);
    pthread_mutex_lock(&me->soak->lock);
    if (me->soak->failures++ < 10)
        fprintf(stderr, "FAILED: %s: thread %lu, %s context, %s\n%s", what, (unsigned long)me->number,
                its->place == &me->own ? "own" : "shared", text, ipt_plan_describe(its->plan));
    pthread_mutex_unlock(&me->soak->lock);
}

static void say(const char *text)
{
    const ssize_t ignored = write(STDERR_FILENO, text, strlen(text));
    (void)ignored;
}

static void say_what_is_at_work(void)
{
    size_t t;
    for (t = 0; t < THREADS; ++t) {
        say(all.workers[t].busy ? "at work: " : "not at work, was last: ");
        say(all.workers[t].now);
        say("\n");
    }
}

static void hangs(int signal_number)
{
    (void)signal_number;
    say("HANGS: nothing has ended within the time limit\n");
    say_what_is_at_work();
    _exit(STRESS_HANGS);
}

/* What has nothing to do with ipt must not fail. */
static void need(int good, const char *what)
{
    if (good)
        return;
    fprintf(stderr, "%s failed; the last error of ipt: %s\n", what, ipt_context_error(NULL));
    fflush(NULL);
    say_what_is_at_work();
    _exit(1); /* the other thread goes on */
}

/* What a thread does next, and from now on a limit for it. */
static void begins(worker *me, const slot *its, const char *what)
{
    const size_t used =
        (size_t)snprintf(me->now, sizeof me->now, "%s, %s context, ", what, its->place == &me->own ? "own" : "shared");
    describe(&its->recipe, me->now + used, sizeof me->now - used);
    me->busy = 1;
    alarm(TIME_LIMIT);
}

/* ------------------------------------------------------------------------------------------------------------------ */
/* The pool */
/* ------------------------------------------------------------------------------------------------------------------ */

static size_t between(worker *me, size_t low, size_t high)
{
    return stress_between(&me->dice, low, high);
}

static int one_in(worker *me, size_t count)
{
    return between(me, 1, count) == 1;
}

static size_t by_share(worker *me, const size_t *shares, size_t count)
{
    size_t sum = 0, at, i;
    for (i = 0; i < count; ++i)
        sum += shares[i];
    at = between(me, 0, sum - 1);
    for (i = 0; at >= shares[i]; ++i)
        at -= shares[i];
    return i;
}

static size_t unit_of(size_t elem_size)
{
    size_t unit = 1;
    while (unit < 16 && elem_size % (2 * unit) == 0)
        unit *= 2;
    return unit;
}

static size_t elem_size_for(worker *me)
{
    static const size_t usual[] = {1, 2, 4, 8, 16, 3, 12}, large[] = {96, 100, 128, 257, 1000, 4096};
    if (one_in(me, 8))
        return large[between(me, 0, 5)];
    return one_in(me, 3) ? between(me, 1, 64) : usual[between(me, 0, 6)];
}

/* A shape of about `bytes` at most with the batch: those of tests/stress.c, and thin, tiny and many small ones. */
static void draw_shape(worker *me, size_t bytes, ipt_plan_desc *desc)
{
    const size_t elem_size = elem_size_for(me), elements = bytes / elem_size + 1;
    ipt_plan_desc drawn;
    memset(&drawn, 0, sizeof drawn);
    switch (between(me, 0, 7)) {
    case 0: /* one row, one column */
        drawn.rows = between(me, 1, elements);
        drawn.cols = 1;
        drawn.batch = 1;
        break;
    case 1: /* tiny */
        drawn.rows = between(me, 1, 9);
        drawn.cols = between(me, 1, 9);
        drawn.batch = between(me, 1, 3);
        break;
    case 2: /* many small ones */
        drawn.rows = between(me, 1, 60);
        drawn.cols = between(me, 1, 60);
        drawn.batch = between(me, 1, elements / (drawn.rows * drawn.cols) / 2 + 1);
        break;
    default:
        do
            stress_shape(&me->dice, (stress_class)between(me, 0, STRESS_CLASS_COUNT - 1), bytes / elem_size * 4,
                         &drawn);
        while (drawn.rows * drawn.cols > elements / drawn.batch && elements > 2000);
    }
    desc->rows = drawn.rows;
    desc->cols = drawn.cols;
    if (drawn.rows * drawn.cols * drawn.batch * elem_size > bytes + bytes / 2) /* few elements: too large for a class */
        desc->rows = desc->cols = drawn.batch = 1;
    if (one_in(me, 2)) {
        const size_t rows = desc->rows;
        desc->rows = desc->cols;
        desc->cols = rows;
    }
    desc->elem_size = elem_size;
    desc->batch = drawn.batch;
}

/* Sides with factors. */
static void draw_tiles(worker *me, size_t bytes, ipt_plan_desc *desc)
{
    const size_t sizes[] = {1, 2, 4, 8, 12, 16};
    size_t most;
    desc->elem_size = sizes[between(me, 0, 5)];
    desc->batch = one_in(me, 3) ? between(me, 2, 4) : 1;
    desc->tile_m = between(me, 1, 20);
    desc->tile_n = between(me, 1, 20);
    most = stress_root(bytes / desc->batch / desc->elem_size / desc->tile_m / desc->tile_n) + 1;
    desc->rows = desc->tile_m * between(me, 1, most);
    desc->cols = desc->tile_n * between(me, 1, most);
}

static void draw_sequence(worker *me, size_t bytes, ipt_plan_desc *desc)
{
    draw_tiles(me, bytes, desc);
    desc->sequence = (ipt_sequence)between(me, IPT_SEQUENCE_1, IPT_SEQUENCE_SQUARE);
    if (desc->sequence == IPT_SEQUENCE_SQUARE) {
        desc->tile_m = desc->tile_n = 0;
        desc->cols = desc->rows;
    }
    desc->flags = one_in(me, 3) ? IPT_NO_COOPERATIVE : 0;
}

static void draw_variant(worker *me, size_t bytes, ipt_plan_desc *desc)
{
    draw_tiles(me, bytes, desc);
    desc->sequence = (ipt_sequence)between(me, IPT_SEQUENCE_2_1, IPT_SEQUENCE_4_2);
    desc->flag_spread = (size_t)1 << between(me, 0, 5);
    if (one_in(me, 2))
        desc->variant_100 = (ipt_variant)between(me, IPT_VARIANT_PTTWAC_100_GROUP, IPT_VARIANT_P_IPT_GROUP);
    if (one_in(me, 2))
        desc->variant_010 = (ipt_variant)between(me, IPT_VARIANT_BS_GROUP, IPT_VARIANT_PTTWAC_010_REMAPPED);
    if (one_in(me, 5)) {
        desc->variant_100 = IPT_VARIANT_AUTO;
        desc->variant_010 = (ipt_variant)between(me, IPT_VARIANT_SWAP_BY_BLOCK, IPT_VARIANT_SWAP_BY_ELEMENT);
        desc->sequence = IPT_SEQUENCE_SQUARE;
        desc->cols = desc->rows;
        desc->tile_m = desc->tile_n = 0;
    } else if (one_in(me, 5))
        desc->variant_010 = (ipt_variant)between(me, IPT_VARIANT_BS_ITEM, IPT_VARIANT_BS_INTERLEAVED_8);
}

static void draw_expression(worker *me, ipt_plan_desc *desc)
{
    static const struct {
        const char *type, *text;
        size_t bytes;
    } expressions[] = {{"uchar", "x * 3 + 1", 1},
                       {"ushort", "x * 3 + 1", 2},
                       {"uint", "x * 3 + 1", 4},
                       {"ulong", "x * 3 + 1", 8},
                       {"uint4", "x * 3u + 1u", 16}};
    const size_t which = between(me, 0, 4);
    if (desc->elem_size < expressions[which].bytes) /* not more bytes than were drawn */
        desc->rows = desc->rows * desc->elem_size / expressions[which].bytes + 1;
    desc->elem_size = expressions[which].bytes;
    desc->expression = expressions[which].text;
    desc->expression_type = expressions[which].type;
}

static void draw_wish(worker *me, size_t bytes, recipe *its)
{
    ipt_plan_desc *const desc = &its->desc;
    const size_t few = bytes < 200000 ? bytes : 200000; /* for the seeds' slow kernels */
    draw_shape(me, bytes, desc);
    switch (its->wish) {
    case WISH_MOVE:
        desc->move = (ipt_move)between(me, IPT_MOVE_ROTATE_90, IPT_MOVE_ANTITRANSPOSE);
        break;
    case WISH_EXPRESSION:
        draw_expression(me, desc);
        desc->move = its->way <= WAY_CHECKED ? (ipt_move)between(me, 0, IPT_MOVE_ANTITRANSPOSE) : IPT_MOVE_TRANSPOSE;
        break;
    case WISH_SEQUENCE:
        draw_sequence(me, few, desc);
        break;
    case WISH_VARIANT:
        draw_variant(me, few, desc);
        break;
    case WISH_FORMAT:
        draw_tiles(me, few, desc);
        desc->from = (ipt_format)between(me, IPT_FORMAT_RM, IPT_FORMAT_ASTA);
        desc->to = (ipt_format)between(me, IPT_FORMAT_RM, IPT_FORMAT_ASTA);
        break;
    case WISH_PADDING:
        draw_shape(me, few, desc);
        desc->flags = IPT_PAD;
        desc->variant_pad = one_in(me, 2) ? IPT_VARIANT_PAD_CHAINED : IPT_VARIANT_AUTO;
        break;
    case WISH_LITTLE_WORKSPACE:
        desc->max_workspace = one_in(me, 2) ? 1 : between(me, 100, 100000);
        break;
    case WISH_MEASURE:
        desc->flags = IPT_MEASURE;
        break;
    default:
        desc->flags = one_in(me, 4) ? IPT_NO_COOPERATIVE : 0;
    }
}

/* Memory for `lines` lines of the longer side, or so. */
static size_t limit_for(worker *me, const ipt_plan_desc *desc)
{
    const size_t shorter = desc->rows < desc->cols ? desc->rows : desc->cols,
                 longer = desc->rows < desc->cols ? desc->cols : desc->rows;
    const size_t lines = between(me, 64 / desc->elem_size + 1, 64 / desc->elem_size + 1 + longer / between(me, 2, 12));
    return lines * shorter * desc->elem_size * 4 + 8192;
}

static void draw_recipe(worker *me, way wanted, size_t most, recipe *its)
{
    const size_t bytes = most >> between(me, 0, 7);
    ipt_plan_desc *const desc = &its->desc;
    memset(its, 0, sizeof *its);
    its->way = wanted;
    its->wish = (wish)by_share(me, wish_shares, WISH_COUNT);
    if (its->way == WAY_CHECKED && (its->wish == WISH_MOVE || its->wish == WISH_EXPRESSION ||
                                    its->wish == WISH_FORMAT || its->wish == WISH_PADDING))
        its->wish = WISH_NOTHING; /* the checker knows transpositions only */
    if ((its->way == WAY_OUT_OF_PLACE || its->way == WAY_SPLIT || its->way == WAY_CUT || its->way == WAY_CUT_PINNED ||
         its->way == WAY_STORAGE) &&
        its->wish != WISH_EXPRESSION)
        its->wish = WISH_NOTHING;
    draw_wish(me, bytes, its);
    if (desc->batch > 1 && !(desc->flags & IPT_PAD) && one_in(me, 2))
        desc->batch_stride = desc->rows * desc->cols * desc->elem_size + unit_of(desc->elem_size) * between(me, 1, 40);
    if (its->way == WAY_OUT_OF_PLACE && one_in(me, 2))
        desc->flags |= IPT_OUT_OF_PLACE;
    if (its->way == WAY_PAGEABLE || its->way == WAY_PINNED || its->way == WAY_ASYNC) {
        desc->host = one_in(me, 2) ? IPT_HOST_AUTO : (ipt_host)between(me, IPT_HOST_SYNCHRONOUS, IPT_HOST_SHARED);
        desc->host_queues = one_in(me, 2) ? between(me, 1, 8) : 0;
    }
    if (its->way == WAY_CUT || its->way == WAY_CUT_PINNED) {
        desc->host = IPT_HOST_OVERLAPPED;
        desc->max_device_memory = limit_for(me, desc);
    }
    if (its->way == WAY_STORAGE)
        desc->max_host_memory = limit_for(me, desc) + 40000;
}

/* Whether the manual leaves it open that there is such a plan. What the planner may choose freely always exists. */
static int may_be_refused(const recipe *its)
{
    const ipt_plan_desc *const d = &its->desc;
    return d->sequence != IPT_SEQUENCE_AUTO || d->max_workspace || d->max_device_memory || d->max_host_memory ||
           d->host != IPT_HOST_AUTO || (d->flags & IPT_PAD) || its->way == WAY_SPLIT;
}

/* Counts a refusal, which is a failure where there must be none, or without a sentence. */
static void is_refused(worker *me, const slot *its, ipt_result result, const char *text)
{
    ++me->refused[its->recipe.way];
    if (result != IPT_ERROR_UNSUPPORTED || !may_be_refused(&its->recipe) || strlen(text) < 20)
        failure(me, its, *text ? text : "an error without a text");
}

/* ------------------------------------------------------------------------------------------------------------------ */
/* What has to come out */
/* ------------------------------------------------------------------------------------------------------------------ */

/* The place of an element in a block format, which the factors name from the outermost to the innermost. */
static size_t place_in_format(const char *factors, const ipt_plan_desc *desc, size_t row, size_t col)
{
    const size_t m = desc->tile_m ? desc->tile_m : 1, n = desc->tile_n ? desc->tile_n : 1;
    size_t at = 0;
    for (; *factors; ++factors)
        switch (*factors) {
        case 'M':
            at = at * (desc->rows / m) + row / m;
            break;
        case 'm':
            at = at * m + row % m;
            break;
        case 'N':
            at = at * (desc->cols / n) + col / n;
            break;
        default:
            at = at * n + col % n;
        }
    return at;
}

/* Where the element of row and col is before and after. */
static void places_of(const ipt_plan_desc *desc, size_t row, size_t col, size_t *from, size_t *to)
{
    static const char *const factors[] = {NULL, "MmNn", "MNmn", "MNnm", "NMmn", "NMnm", "NnMm", "MmNn", "NnMm", "MNnm"};
    const size_t rows = desc->rows, cols = desc->cols, from_below = rows - 1 - row, from_right = cols - 1 - col;
    *from = row * cols + col;
    *to = col * rows + row;
    if (desc->from || desc->to) {
        *from = desc->from ? place_in_format(factors[desc->from], desc, row, col) : *from;
        *to = desc->to ? place_in_format(factors[desc->to], desc, row, col) : *to;
    } else if (desc->move == IPT_MOVE_ROTATE_90)
        *to = col * rows + from_below;
    else if (desc->move == IPT_MOVE_ROTATE_180)
        *to = from_below * cols + from_right;
    else if (desc->move == IPT_MOVE_ROTATE_270)
        *to = from_right * rows + row;
    else if (desc->move == IPT_MOVE_FLIP_HORIZONTAL)
        *to = row * cols + from_right;
    else if (desc->move == IPT_MOVE_FLIP_VERTICAL)
        *to = from_below * cols + col;
    else if (desc->move == IPT_MOVE_ANTITRANSPOSE)
        *to = from_right * rows + from_below;
}

/* x * 3 + 1 of an element, in parts of its type's size. */
static void express(unsigned char *element, const ipt_plan_desc *desc)
{
    const size_t part = desc->elem_size == 16 ? 4 : desc->elem_size;
    size_t at, i;
    for (at = 0; at < desc->elem_size; at += part) {
        uint64_t x = 0;
        for (i = part; i-- > 0;)
            x = x << 8 | element[at + i];
        x = x * 3 + 1;
        for (i = 0; i < part; ++i, x >>= 8)
            element[at + i] = (unsigned char)x;
    }
}

static void compute(const slot *its, unsigned char *after, const unsigned char *before)
{
    const ipt_plan_desc *const desc = &its->recipe.desc;
    const size_t size = desc->elem_size;
    size_t matrix, row, col, from, to;
    for (matrix = 0; matrix < desc->batch; ++matrix, before += its->stride, after += its->stride)
        for (row = 0; row < desc->rows; ++row)
            for (col = 0; col < desc->cols; ++col) {
                places_of(desc, row, col, &from, &to);
                memcpy(after + to * size, before + from * size, size);
                if (desc->expression)
                    express(after + to * size, desc);
            }
}

static void fill(worker *me, unsigned char *bytes, size_t count)
{
    size_t i;
    for (i = 0; i < count; i += sizeof(uint64_t)) { /* the arrays have room for it */
        const uint64_t value = stress_random(&me->dice);
        memcpy(bytes + i, &value, sizeof value);
    }
}

/* New content in before, and what becomes of it in expected; both begin `offset` bytes before the matrices. */
static size_t prepare(worker *me, const slot *its, size_t offset, size_t rounds)
{
    const size_t total = offset + its->span + GUARD;
    size_t round;
    need(total <= me->soak->capacity, "a matrix within the capacity");
    fill(me, me->before, total);
    memcpy(me->expected, me->before, total);
    for (round = 0; round < rounds; ++round) {
        memcpy(me->other, me->expected, total);
        compute(its, me->expected + offset, me->other + offset);
    }
    return total;
}

/* Compares a stretch in items of `size` bytes; the first wrong one goes to *first. */
static unsigned long long differ(const unsigned char *got, const unsigned char *wanted, size_t begin, size_t end,
                                 size_t size, size_t *first)
{
    unsigned long long wrong = 0;
    size_t at;
    if (begin >= end || memcmp(got + begin, wanted + begin, end - begin) == 0)
        return 0;
    for (at = begin; at < end; at += size)
        if (memcmp(got + at, wanted + at, size) != 0) {
            if (!wrong++ && at < *first)
                *first = at;
        }
    return wrong;
}

/* Looks at every element, and every byte before, between and behind the matrices. Padding may hold anything.
 * content: 0 if only the surroundings count. */
static void verify(worker *me, const slot *its, const unsigned char *got, const unsigned char *wanted, size_t offset,
                   int content)
{
    const ipt_plan_desc *const desc = &its->recipe.desc;
    const size_t none = (size_t)-1;
    size_t first = none, outside = none, matrix, begin = offset;
    unsigned long long wrong = 0, stray;
    char what[200];
    stray = differ(got, wanted, 0, offset, 1, &outside);
    for (matrix = 0; matrix < desc->batch; ++matrix, begin += its->stride) {
        const size_t next = matrix + 1 < desc->batch ? begin + its->stride : begin + its->room + GUARD;
        if (content)
            wrong += differ(got, wanted, begin, begin + its->matrix, desc->elem_size, &first);
        stray += differ(got, wanted, begin + its->room, next, 1, &outside);
    }
    me->bytes += its->matrix * desc->batch;
    if (!wrong && !stray)
        return;
    snprintf(
        what, sizeof what,
        "%llu wrong elements, the first at byte %ld of the first matrix; %llu wrong bytes outside, the first at %ld",
        wrong, wrong ? (long)(first - offset) : -1, stray, stray ? (long)(outside - offset) : 0);
    failure(me, its, what);
    pthread_mutex_lock(&me->soak->lock);
    me->soak->wrong_items += wrong + stray;
    pthread_mutex_unlock(&me->soak->lock);
}

/* ------------------------------------------------------------------------------------------------------------------ */
/* The ways of executing a plan */
/* ------------------------------------------------------------------------------------------------------------------ */

static void wait_and_release(cl_event event)
{
    need(!clWaitForEvents(1, &event) && !soak_clReleaseEvent(event), "clWaitForEvents");
}

/* Upload, executions on both queues in turn, and download, each waiting for the one before by event alone. */
static void run_buffer(worker *me, slot *its)
{
    const size_t offset = unit_of(its->recipe.desc.elem_size) * between(me, 0, 40) + (one_in(me, 4) ? 0 : GUARD),
                 rounds = between(me, 1, ROUNDS), total = prepare(me, its, offset, rounds);
    place *const at = its->place;
    size_t turn = between(me, 0, 1), round;
    cl_event event, next;
    ipt_result result = IPT_SUCCESS;
    need(
        !soak_clEnqueueWriteBuffer(at->queues[turn], at->buffers[0], CL_FALSE, 0, total, me->before, 0, NULL, &event) &&
            !clFlush(at->queues[turn]),
        "clEnqueueWriteBuffer");
    for (round = 0; round < rounds && !result; ++round) {
        turn = 1 - turn;
        next = NULL;
        result = ipt_plan_execute(its->plan, at->queues[turn], at->buffers[0], offset, 1, &event, &next);
        if (result)
            failure(me, its, ipt_context_error(NULL));
        if (next) {
            soak_clReleaseEvent(event);
            event = next;
        }
        ++me->executions;
    }
    need(!soak_clEnqueueReadBuffer(at->queues[1 - turn], at->buffers[0], CL_FALSE, 0, total, me->work, 1, &event,
                                   &next) &&
             !clFlush(at->queues[1 - turn]),
         "clEnqueueReadBuffer");
    wait_and_release(next);
    soak_clReleaseEvent(event);
    if (!result)
        verify(me, its, me->work, me->expected, offset, 1);
}

/* Filled and checked by the first queue, transposed by the second, several times without the host's help. */
static void run_checked(worker *me, slot *its)
{
    const ipt_plan_desc *const desc = &its->recipe.desc;
    const size_t rounds = between(me, 1, ROUNDS), unit = unit_of(desc->elem_size);
    checker_found found[ROUNDS];
    place *const at = its->place;
    checker_place where;
    cl_event event;
    size_t round;
    where.rows = desc->rows;
    where.cols = desc->cols;
    where.elem_size = desc->elem_size;
    where.batch = desc->batch;
    where.stride = its->stride;
    where.offset = unit * between(me, 0, 40) + (one_in(me, 4) ? 0 : GUARD);
    where.bytes = where.offset + its->span + GUARD;
    where.bytes -= where.bytes % 8;
    for (round = 0; round < ROUNDS; ++round)
        found[round] = checker_found_nothing;
    need(!clEnqueueWriteBuffer(at->queues[0], me->found, CL_TRUE, 0, sizeof found, found, 0, NULL, NULL),
         "clEnqueueWriteBuffer");
    for (round = 0; round < rounds; ++round) {
        const cl_ulong seed = stress_random(&me->dice);
        cl_event filled, done = NULL;
        checker_launch(&me->checker, 0, at->queues[0], at->buffers[0], &where, seed, NULL, 0);
        need(!soak_clEnqueueMarkerWithWaitList(at->queues[0], 0, NULL, &filled) && !clFlush(at->queues[0]), "a marker");
        if (ipt_plan_execute(its->plan, at->queues[1], at->buffers[0], where.offset, 1, &filled, &done))
            failure(me, its, ipt_context_error(NULL));
        need(!done || !soak_clEnqueueMarkerWithWaitList(at->queues[0], 1, &done, NULL), "a marker");
        checker_launch(&me->checker, 1, at->queues[0], at->buffers[0], &where, seed, me->found, (cl_uint)round);
        soak_clReleaseEvent(filled);
        if (done)
            soak_clReleaseEvent(done);
        ++me->executions;
    }
    need(!soak_clEnqueueReadBuffer(at->queues[0], me->found, CL_FALSE, 0, sizeof found, found, 0, NULL, &event) &&
             !clFlush(at->queues[0]),
         "clEnqueueReadBuffer");
    wait_and_release(event);
    for (round = 0; round < rounds; ++round) {
        char what[100];
        me->bytes += its->matrix * desc->batch;
        if (!found[round].wrong)
            continue;
        snprintf(what, sizeof what, "round %lu: %u wrong items, the first is item %u of the buffer",
                 (unsigned long)round, found[round].wrong, found[round].first);
        failure(me, its, what);
        pthread_mutex_lock(&me->soak->lock);
        me->soak->wrong_items += found[round].wrong;
        pthread_mutex_unlock(&me->soak->lock);
    }
}

static void run_out_of_place(worker *me, slot *its)
{
    const size_t unit = unit_of(its->recipe.desc.elem_size), offset = unit * between(me, 0, 60),
                 total = prepare(me, its, offset, 0);
    place *const at = its->place;
    const cl_command_queue queue = at->queues[0];
    cl_event done = NULL;
    fill(me, me->other, total);
    need(!clEnqueueWriteBuffer(queue, at->buffers[0], CL_TRUE, 0, total, me->before, 0, NULL, NULL) &&
             !clEnqueueWriteBuffer(queue, at->buffers[1], CL_TRUE, 0, total, me->other, 0, NULL, NULL),
         "clEnqueueWriteBuffer");
    ++me->executions;
    if (ipt_plan_execute_out_of_place(its->plan, at->queues[1], at->buffers[0], offset, at->buffers[1], offset, 0, NULL,
                                      &done))
        failure(me, its, ipt_context_error(NULL));
    if (!done)
        return;
    wait_and_release(done);
    need(!clEnqueueReadBuffer(queue, at->buffers[0], CL_TRUE, 0, total, me->work, 0, NULL, NULL),
         "clEnqueueReadBuffer");
    verify(me, its, me->work, me->before, offset, 1); /* only read */
    memcpy(me->expected, me->other, total);
    compute(its, me->expected + offset, me->before + offset);
    need(!clEnqueueReadBuffer(queue, at->buffers[1], CL_TRUE, 0, total, me->work, 0, NULL, NULL),
         "clEnqueueReadBuffer");
    verify(me, its, me->work, me->expected, offset, 1);
}

static int ends_it(size_t done, size_t total, void *user)
{
    size_t *const calls_left = (size_t *)user;
    (void)done;
    (void)total;
    return (*calls_left)-- == 0;
}

/* A matrix in host memory at any address, in memory that is the host's or ipt's. Some are ended in the middle. */
static void run_host(worker *me, slot *its)
{
    const size_t offset = GUARD + between(me, 0, 64), rounds = between(me, 1, ROUNDS),
                 total = prepare(me, its, offset, rounds);
    const int pinned = its->recipe.way == WAY_PINNED || its->recipe.way == WAY_CUT_PINNED, ending = one_in(me, 8);
    int ended;
    size_t calls_left = between(me, 0, 6), round;
    ipt_host_options options;
    ipt_result result = IPT_SUCCESS;
    void *taken = me->work;
    memset(&options, 0, sizeof options);
    options.progress = ends_it;
    options.user = &calls_left;
    if (pinned && ipt_host_alloc(its->place->context, total, &taken)) {
        failure(me, its, ipt_context_error(NULL));
        return;
    }
    memcpy(taken, me->before, total);
    for (round = 0; round < rounds && !result; ++round) {
        unsigned char *const data = (unsigned char *)taken + offset;
        ++me->executions;
        result = ending && round == 0 ? ipt_plan_execute_host_with(its->plan, data, &options)
                                      : ipt_plan_execute_host(its->plan, data);
    }
    ended = ending && round == 1 && (result == IPT_ERROR_CANCELLED || result == IPT_ERROR_INCOMPLETE);
    me->cancelled += (unsigned long)ended;
    if (result && !ended)
        is_refused(me, its, result, ipt_context_error(NULL));
    verify(me, its, (unsigned char *)taken, result ? me->before : me->expected, offset, result != IPT_ERROR_INCOMPLETE);
    if (pinned)
        ipt_host_free(its->place->context, taken);
}

/* What is_finished hears. */
typedef struct outcome {
    ipt_result result;
    char text[512];
} outcome;

static void is_finished(ipt_result result, void *user)
{
    outcome *const told = (outcome *)user;
    told->result = result;
    snprintf(told->text, sizeof told->text, "%.500s", result ? ipt_context_error(NULL) : "");
}

static void run_async(worker *me, slot *its)
{
    const size_t offset = GUARD + between(me, 0, 64), total = prepare(me, its, offset, 1);
    ipt_host_options options;
    outcome told = {IPT__RESULT_COUNT, "never told"};
    cl_event event = NULL;
    cl_int status = -1;
    memset(&options, 0, sizeof options);
    options.finished = is_finished;
    options.user = &told;
    memcpy(me->work, me->before, total);
    ++me->executions;
    if (ipt_plan_execute_host_async(its->plan, me->work + offset, &options, &event)) {
        failure(me, its, ipt_context_error(NULL));
        return;
    }
    clWaitForEvents(1, &event); /* fails where the execution has */
    need(!clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL) &&
             !soak_clReleaseEvent(event),
         "clWaitForEvents");
    if (status != (told.result ? -(cl_int)told.result : CL_COMPLETE))
        failure(me, its, "the event says another thing than the result");
    if (told.result)
        is_refused(me, its, told.result, told.text);
    verify(me, its, me->work, told.result ? me->before : me->expected, offset, 1);
}

/* A storage in memory. */
typedef struct store {
    const slot *its;
    unsigned char *content;
    size_t stop_at, ready;
    volatile int stray;
} store;

static void store_called(store *store, size_t offset, size_t bytes)
{
    const slot *const its = store->its;
    if (!bytes || offset + bytes > its->span ||
        (its->stride != its->matrix && offset % its->stride + bytes > its->matrix))
        store->stray = 1;
}

static int store_read(void *memory, size_t offset, size_t bytes, void *user)
{
    store *const from = (store *)user;
    store_called(from, offset, bytes);
    memcpy(memory, from->content + offset, bytes);
    return 0;
}

static int store_write(const void *memory, size_t offset, size_t bytes, void *user)
{
    store *const to = (store *)user;
    store_called(to, offset, bytes);
    memcpy(to->content + offset, memory, bytes);
    return 0;
}

static int store_ready(size_t step, size_t steps, const void *content, size_t bytes, void *user)
{
    store *const its = (store *)user;
    (void)steps;
    (void)content;
    (void)bytes;
    if (step == its->stop_at)
        return 1;
    its->ready = step + 1;
    return 0;
}

/* Through functions; some are stopped at a step and go on from there. */
static void run_storage(worker *me, slot *its)
{
    const size_t offset = GUARD, total = prepare(me, its, offset, 1), bytes = ipt_plan_storage_memory(its->plan);
    const int stopping = one_in(me, 3);
    void *const memory = stopping ? malloc(bytes) : NULL;
    store where;
    ipt_storage storage;
    ipt_result result;
    memset(&storage, 0, sizeof storage);
    where.its = its;
    where.content = me->work + offset;
    where.ready = 0;
    where.stray = 0;
    where.stop_at = stopping ? between(me, 0, 12) : (size_t)-1;
    storage.read = store_read;
    storage.write = store_write;
    storage.ready = store_ready;
    storage.user = &where;
    storage.memory = memory;
    memcpy(me->work, me->before, total);
    ++me->executions;
    result = ipt_plan_execute_storage(its->plan, &storage);
    if (stopping && (result == IPT_ERROR_CANCELLED || result == IPT_ERROR_INCOMPLETE)) {
        ++me->resumed;
        where.stop_at = (size_t)-1;
        storage.resume = where.ready;
        result = ipt_plan_execute_storage(its->plan, &storage);
    }
    if (result)
        failure(me, its, ipt_context_error(NULL));
    else
        verify(me, its, me->work, me->expected, offset, 1);
    if (where.stray)
        failure(me, its, "bytes beside the matrices were asked for");
    free(memory);
}

static void run_one_liner(worker *me)
{
    slot its;
    size_t total;
    memset(&its, 0, sizeof its);
    its.recipe.way = WAY_ONE_LINER;
    draw_shape(me, me->soak->most / 100, &its.recipe.desc);
    its.recipe.desc.batch = 1;
    its.matrix = its.room = its.stride = its.span =
        its.recipe.desc.rows * its.recipe.desc.cols * its.recipe.desc.elem_size;
    begins(me, &its, "with a context of its own");
    total = prepare(me, &its, GUARD, 1);
    memcpy(me->work, me->before, total);
    ++me->executions;
    ++me->contexts;
    if (ipt_transpose(me->work + GUARD, its.recipe.desc.rows, its.recipe.desc.cols, its.recipe.desc.elem_size))
        failure(me, &its, ipt_context_error(NULL));
    verify(me, &its, me->work, me->expected, GUARD, 1);
    ++me->runs[WAY_ONE_LINER];
}

static void run(worker *me, slot *its)
{
    static void (*const runs[])(worker *, slot *) = {run_buffer, run_checked, run_out_of_place, run_host,    run_host,
                                                     run_async,  run_host,    run_host,         run_storage, run_host};
    way how = its->recipe.way;
    if (how == WAY_CHECKED && its->place->cl != me->soak->cl) /* where the checker is not */
        how = WAY_BUFFER;
    begins(me, its, "executes");
    runs[how](me, its);
    me->busy = 0;
    ++me->runs[how];
}

/* ------------------------------------------------------------------------------------------------------------------ */
/* Contexts, plans, threads */
/* ------------------------------------------------------------------------------------------------------------------ */

static void make_context(worker *me, place *at)
{
    at->desc.device = me->soak->device;
    at->desc.cache_dir = cache_folder;
    at->desc.allocator.alloc = soak_take;
    at->desc.allocator.free = soak_give;
    need(!ipt_context_create(&at->desc, &at->context), "ipt_context_create");
    ++me->contexts;
}

static void open_place(soak *its, place *at, cl_context context)
{
    cl_command_queue_properties able = 0;
    const cl_uchar zero = 0;
    cl_int error;
    int i;
    at->cl = context;
    clGetDeviceInfo(its->device, CL_DEVICE_QUEUE_PROPERTIES, sizeof able, &able, NULL);
    for (i = 0; i < 2; ++i) {
        at->queues[i] = soak_clCreateCommandQueue(context, its->device,
                                                  i ? able & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE : 0, &error);
        need(!error, "clCreateCommandQueue");
        at->buffers[i] = soak_clCreateBuffer(context, CL_MEM_READ_WRITE, its->capacity, NULL, &error);
        need(!error && !clEnqueueFillBuffer(at->queues[i], at->buffers[i], &zero, 1, 0, its->capacity, 0, NULL, NULL) &&
                 !clFinish(at->queues[i]),
             "clCreateBuffer");
    }
}

static void close_place(place *at)
{
    int i;
    for (i = 0; i < 2; ++i) {
        clFinish(at->queues[i]);
        soak_clReleaseMemObject(at->buffers[i]);
        soak_clReleaseCommandQueue(at->queues[i]);
    }
}

/* Makes a plan of the recipe in the slot, in the place of the one that is there. */
static int make_plan(worker *me, slot *its, const recipe *wanted, place *at)
{
    const place *const other = at == &me->own ? &me->home : &me->own;
    ipt_context *pair[2];
    ipt_result result;
    size_t rows, cols;
    ipt_plan_destroy(its->plan);
    its->plan = NULL;
    its->recipe = *wanted;
    its->place = at;
    pair[0] = at->context;
    pair[1] = other->context;
    begins(me, its, "makes a plan");
    ++me->plans;
    result = wanted->way == WAY_SPLIT
                 ? ipt_plan_create_split(pair, at->cl == other->cl ? 2 : 1, &wanted->desc, &its->plan)
                 : ipt_plan_create(at->context, &wanted->desc, &its->plan);
    me->busy = 0;
    if (result) {
        is_refused(me, its, result, ipt_context_error(NULL));
        return 0;
    }
    ipt_plan_padding(its->plan, &rows, &cols);
    its->matrix = wanted->desc.rows * wanted->desc.cols * wanted->desc.elem_size;
    its->room = (wanted->desc.rows + rows) * (wanted->desc.cols + cols) * wanted->desc.elem_size;
    its->stride = wanted->desc.batch_stride ? wanted->desc.batch_stride : its->room;
    its->span = (wanted->desc.batch - 1) * its->stride + its->room;
    return 1;
}

/* One thing of those that a thread does. */
static void do_something(worker *me)
{
    slot *const chosen = &me->slots[between(me, 0, SLOTS - 1)];
    soak *const its = me->soak;
    if (one_in(me, 400)) {
        run_one_liner(me);
    } else if (one_in(me, 100)) { /* its plans keep the old one */
        ipt_context_destroy(me->own.context);
        make_context(me, &me->own);
    } else if (one_in(me, 8)) {
        slot shared = its->shared[between(me, 0, SHARED - 1)];
        shared.place = &me->home;
        run(me, &shared);
    } else if (chosen->plan && one_in(me, 2)) {
        run(me, chosen);
    } else {
        const size_t pass = me->next / its->pool_count, which = me->next % its->pool_count;
        ++me->next;
        if (make_plan(me, chosen, &its->pool[which], me->places[(pass + which + me->number) % 2]))
            run(me, chosen);
    }
}

static void *work(void *user)
{
    worker *const me = (worker *)user;
    int i;
    while (stress_now() < me->until)
        do_something(me);
    for (i = 0; i < SLOTS; ++i) {
        ipt_plan_destroy(me->slots[i].plan);
        me->slots[i].plan = NULL;
    }
    return NULL;
}

/* Contexts for an epoch. The threads' own: one with little local memory, one with an OpenCL context of its own. */
static void open_epoch(soak *its, size_t epoch)
{
    static const size_t local[] = {2048, 1024, 8192};
    worker *const first = &its->workers[0];
    size_t t, i = 0;
    make_context(first, &first->home);
    for (t = 0; t < THREADS; ++t) {
        worker *const me = &its->workers[t];
        me->home.context = first->home.context;
        memset(&me->own, 0, sizeof me->own);
        if ((t + epoch) % 2) {
            me->own = me->home;
            me->own.desc.max_local_memory = local[epoch / 2 % 3];
            make_context(me, &me->own);
        } else {
            make_context(me, &me->own);
            me->own.desc.context = ipt_context_cl_context(me->own.context);
            need(!soak_clRetainContext(me->own.desc.context), "clRetainContext");
            open_place(its, &me->own, me->own.desc.context);
        }
    }
    while (i < SHARED) {
        recipe drawn = its->pool[between(first, 0, its->pool_count - 1)];
        if (drawn.way != WAY_ASYNC && drawn.way != WAY_SPLIT)
            i += (size_t)make_plan(first, &its->shared[i], &drawn, &first->home);
    }
}

/* Destroys all that is ipt's. Nothing may be left. */
static void close_epoch(soak *its)
{
    size_t t, i;
    look *const now = &its->looks[its->look_count];
    int left = 0;
    alarm(TIME_LIMIT);
    for (i = 0; i < SHARED; ++i) {
        ipt_plan_destroy(its->shared[i].plan);
        its->shared[i].plan = NULL;
    }
    now->plans = 0;
    for (t = 0; t < THREADS; ++t) {
        worker *const me = &its->workers[t];
        ipt_context_destroy(me->own.context);
        if (me->own.cl != its->cl) {
            close_place(&me->own);
            soak_clReleaseContext(me->own.cl);
        }
        now->plans += me->plans;
    }
    ipt_context_destroy(its->workers[0].home.context);
    for (i = 0; i < SOAK_HELD_COUNT; ++i)
        if (soak_held[i]) {
            fprintf(stderr, "LEFT OVER: %ld %s when all plans and contexts were destroyed\n", soak_held[i],
                    soak_held_names[i]);
            soak_held[i] = 0; /* the next look is to tell of what came after */
            left = 1;
        }
    its->left_over += (unsigned long)left;
    now->when = stress_now() - its->start;
    now->programs = soak_programs_made;
    now->compiled = soak_programs_compiled;
    soak_look(now->figures);
    its->look_count += its->look_count + 1 < its->look_capacity;
}

/* ------------------------------------------------------------------------------------------------------------------ */
/* The whole */
/* ------------------------------------------------------------------------------------------------------------------ */

static void make_arrays(soak *its, worker *me)
{
    unsigned char **const arrays[] = {&me->before, &me->expected, &me->other, &me->work};
    size_t i;
    for (i = 0; i < 4; ++i) {
        *arrays[i] = (unsigned char *)malloc(its->capacity + sizeof(uint64_t));
        need(*arrays[i] != NULL, "malloc");
        memset(*arrays[i], 0, its->capacity);
    }
}

static void start(soak *its, unsigned long minutes, unsigned long seed, unsigned long megabytes)
{
    char text[1024];
    cl_device_type type = 0;
    ipt_context *context;
    ipt_context_desc desc;
    cl_int error;
    size_t t, i;
    memset(&desc, 0, sizeof desc);
    setenv("IPT_CACHE_DIR", cache_folder, 1);
    soak_keep_heap_tidy();
    need(!ipt_context_create(NULL, &context), "ipt_context_create"); /* chooses the device */
    its->device = ipt_context_cl_device(context);
    need(!ipt_device_describe(its->device, text, sizeof text), "ipt_device_describe");
    ipt_context_destroy(context);
    memset(soak_held, 0, sizeof soak_held);
    clGetDeviceInfo(its->device, CL_DEVICE_TYPE, sizeof type, &type, NULL);
    its->most = 1000000 * (megabytes ? megabytes : type & CL_DEVICE_TYPE_CPU ? 1 : 32);
    its->capacity = its->most * 2 + 1000000;
    its->seed = seed;
    its->start = stress_now();
    its->end = its->start + 60.0 * (double)minutes;
    its->look_capacity = minutes * 60 + EPOCHS + 10;
    its->looks = (look *)malloc(its->look_capacity * sizeof *its->looks);
    need(its->looks != NULL, "malloc");
    memset(its->looks, 0, its->look_capacity * sizeof *its->looks);
    its->warm = its->look_capacity;
    pthread_mutex_init(&its->lock, NULL);
    its->cl = clCreateContext(NULL, 1, &its->device, NULL, NULL, &error);
    need(!error, "clCreateContext");
    for (t = 0; t < THREADS; ++t) {
        worker *const me = &its->workers[t];
        me->soak = its;
        me->number = t;
        me->dice.random = (seed + t) * 0x9e3779b97f4a7c15u | 1;
        me->checker.context = me->home.desc.context = its->cl;
        make_arrays(its, me);
        open_place(its, &me->home, its->cl);
        me->places[0] = &me->home;
        me->places[1] = &me->own;
        me->found = clCreateBuffer(its->cl, CL_MEM_READ_WRITE, ROUNDS * sizeof(checker_found), NULL, &error);
        need(!error, "clCreateBuffer");
    }
    memset(soak_held, 0, sizeof soak_held); /* what stays for the whole run does not count */
    its->pool_count = 120 + 30 * (minutes < 20 ? minutes : 20);
    its->pool = (recipe *)malloc(its->pool_count * sizeof *its->pool);
    need(its->pool != NULL, "malloc");
    for (i = 0; i < its->pool_count; ++i)
        draw_recipe(&its->workers[0], /* each way once at least */
                    i < WAY_ONE_LINER ? (way)i : (way)by_share(&its->workers[0], way_shares, WAY_COUNT), its->most,
                    &its->pool[i]);
    printf("%ssoak of %lu minutes, seed %lu, matrices of up to %.0f MB, %lu descs\n", text, minutes, seed,
           (double)its->most * 1e-6, (unsigned long)its->pool_count);
    fflush(stdout);
}

static void show(soak *its)
{
    const look *const now = &its->looks[its->look_count - 1];
    unsigned long runs = 0, executions = 0, refused = 0;
    unsigned long long bytes = 0;
    size_t t, w;
    for (t = 0; t < THREADS; ++t) {
        const worker *const me = &its->workers[t];
        for (w = 0; w < WAY_COUNT; ++w) {
            runs += me->runs[w];
            refused += me->refused[w];
        }
        executions += me->executions;
        bytes += me->bytes;
    }
    printf("%6.0f s: %lu runs, %lu plans, %lu executions, %.2f GB, %lu refused, %llu wrong items, %lu failures; %ld KB "
           "resident, %ld KB heap, %ld open files, %ld threads, %lu programs made%s\n",
           now->when, runs, now->plans, executions, (double)bytes * 1e-9, refused, its->wrong_items, its->failures,
           now->figures[SOAK_RESIDENT], now->figures[SOAK_HEAP], now->figures[SOAK_HANDLES], now->figures[SOAK_THREADS],
           now->programs, its->look_count - 1 < its->warm ? ", warming up" : "");
    fflush(stdout);
}

static int ascending(const void *a, const void *b)
{
    const long x = *(const long *)a, y = *(const long *)b;
    return (x > y) - (x < y);
}

static long median(const look *looks, size_t count, int figure)
{
    long *const values = (long *)malloc(count * sizeof *values);
    long middle;
    size_t i;
    need(values != NULL, "malloc");
    for (i = 0; i < count; ++i)
        values[i] = looks[i].figures[figure];
    qsort(values, count, sizeof *values, ascending);
    middle = values[count / 2];
    free(values);
    return middle;
}

/* Compares the first third of the looks after the warm-up with the last third. */
static int is_flat(const soak *its)
{
    static const char *const names[] = {
#define FIGURE_NAME(name, text, unit) text,
        SOAK_FIGURE_LIST(FIGURE_NAME)};
    const size_t count = its->look_count > its->warm ? its->look_count - its->warm : 0, third = count / 3;
    const look *const first = its->looks + its->warm, *const last = its->looks + its->look_count - third;
    int flat = 1, f;
    unsigned long programs, compiled;
    if (third < 3) {
        printf("too few looks after the warm-up to say whether memory grows (%lu): more minutes are needed\n",
               (unsigned long)count);
        return 0;
    }
    programs = last[third / 2].programs - first[third / 2].programs;
    compiled = last[third / 2].compiled - first[third / 2].compiled;
    printf("from %.0f s to %.0f s, %lu plans and %lu programs (%lu of them compiled) later:\n", first[third / 2].when,
           last[third / 2].when, last[third / 2].plans - first[third / 2].plans, programs, compiled);
    for (f = 0; f < SOAK_FIGURE_COUNT; ++f) {
        const long before = median(first, third, f), after = median(last, third, f);
        const double limit =
            allowed[f] + allowed_for_program[f] * (double)programs + allowed_for_compiled[f] * (double)compiled;
        const int good = (double)(after - before) <= limit;
        printf("  %-16s %8ld -> %8ld: %+ld, up to %.0f allowed%s\n", names[f], before, after, after - before, limit,
               good ? "" : ": IT GROWS");
        flat = flat && good;
    }
    return flat;
}

/* What has been done in each way. A way that never came to anything is a failure of the test. */
static int shows_ways(const soak *its)
{
    int w, good = 1;
    for (w = 0; w < WAY_COUNT; ++w) {
        unsigned long runs = 0, refused = 0;
        size_t t;
        for (t = 0; t < THREADS; ++t) {
            runs += its->workers[t].runs[w];
            refused += its->workers[t].refused[w];
        }
        printf("  %-22s %8lu runs, %6lu plans refused%s\n", way_names[w], runs, refused, runs ? "" : ": NONE RAN");
        good = good && runs;
    }
    return good;
}

static void stop(soak *its)
{
    size_t t;
    for (t = 0; t < THREADS; ++t) {
        worker *const me = &its->workers[t];
        close_place(&me->home);
        clReleaseMemObject(me->found);
        checker_end(&me->checker);
        free(me->before);
        free(me->expected);
        free(me->other);
        free(me->work);
    }
    clReleaseContext(its->cl);
    free(its->looks);
    free(its->pool);
}

static unsigned long argument(int count, char **arguments, int index, unsigned long otherwise)
{
    const unsigned long value = count > index ? strtoul(arguments[index], NULL, 0) : 0;
    return value ? value : otherwise;
}

int main(int count, char **arguments)
{
    const unsigned long minutes = argument(count, arguments, 1, 5),
                        seed = argument(count, arguments, 2, (unsigned long)time(NULL));
    double length = (double)minutes * 60 / EPOCHS, shown;
    int good;
    size_t epoch, t;
    unsigned long contexts = 0, cancelled = 0, resumed = 0;
    signal(SIGALRM, hangs);
    alarm(TIME_LIMIT);
    start(&all, minutes, seed, argument(count, arguments, 3, 0));
    length = length < SHORTEST_EPOCH ? SHORTEST_EPOCH : length > LONGEST_EPOCH ? LONGEST_EPOCH : length;
    shown = all.start;
    for (epoch = 0; stress_now() < all.end; ++epoch) {
        open_epoch(&all, epoch);
        for (t = 0; t < THREADS; ++t) {
            all.workers[t].until = stress_now() + length;
            need(!pthread_create(&all.workers[t].thread, NULL, work, &all.workers[t]), "pthread_create");
        }
        for (t = 0; t < THREADS; ++t)
            pthread_join(all.workers[t].thread, NULL);
        close_epoch(&all);
        /* Each thread has made each plan once in either context. */
        if (all.warm == all.look_capacity && all.workers[0].next >= 2 * all.pool_count &&
            all.workers[1].next >= 2 * all.pool_count)
            all.warm = all.look_count;
        if (stress_now() - shown > 60) {
            shown += 60;
            show(&all);
        }
    }
    alarm(TIME_LIMIT);
    if (stress_now() - shown > 3)
        show(&all);
    good = shows_ways(&all);
    good = is_flat(&all) && good;
    for (t = 0; t < THREADS; ++t) {
        contexts += all.workers[t].contexts;
        cancelled += all.workers[t].cancelled;
        resumed += all.workers[t].resumed;
    }
    good = good && !all.failures && !all.wrong_items && !all.left_over;
    printf("%lu contexts, %lu executions ended in the middle, %lu resumed; %llu wrong items, %lu failures, something "
           "left over at the end of %lu of %lu epochs: %s (seed %lu)\n",
           contexts, cancelled, resumed, all.wrong_items, all.failures, all.left_over, (unsigned long)epoch,
           good ? "all is right" : "FAILED", seed);
    stop(&all);
    return !good;
}
