/* Draws random plans of all kinds, executes them in every way, and verifies every element and every byte around the
 * matrices against the manual. tests/random/soak.c runs cases for hours in two threads, tests/random/differential.c one
 * by one. Include soak.h, ipt.h and stress.h before, and define the first three functions after it. */
#ifndef CASES_H_INCLUDED
#define CASES_H_INCLUDED

typedef struct worker worker;
typedef struct slot slot;

/* Reports a wrong plan or result; wrong: elements and bytes. */
static void failure_of(worker *me, const slot *its, unsigned long long wrong, const char *what);

/* Ends the program if a call outside ipt fails. */
static void need(int good, const char *what);

/* Records the next action of a worker. */
static void begins(worker *me, const slot *its, const char *what);

enum {
    GUARD = 256, /* bytes before and after the matrices */
    ROUNDS = 3   /* most executions of a plan on one matrix */
};

/* Ways to execute a plan. X(enumerator, name, number of plans in the pool) */
#define WAY_LIST(X)                                                                                                    \
    X(BUFFER, "buffer", 8)                     /* in place, verified by the host */                                    \
    X(CHECKED, "buffer, checked there", 6)     /* in place, filled and verified by the device */                       \
    X(FLIGHT, "buffers, several under way", 3) /* in place, in parts of one buffer or in sub-buffers */                \
    X(OUT_OF_PLACE, "out of place", 2)                                                                                 \
    X(PAGEABLE, "host, pageable", 4)                                                                                   \
    X(PINNED, "host, pinned", 3)                                                                                       \
    X(ASYNC, "host, by a thread", 2)                                                                                   \
    X(CUT, "cut, pageable", 2)                                                                                         \
    X(CUT_PINNED, "cut, pinned", 2)                                                                                    \
    X(STORAGE, "storage", 4)                                                                                           \
    X(SPLIT, "split over contexts", 1)                                                                                 \
    X(ONE_LINER, "ipt_transpose", 0) /* not in the pool */

#define WAY_ENUMERATOR(name, text, share) WAY_##name,
#define WAY_NAME(name, text, share) text,
#define WAY_SHARE(name, text, share) share,
typedef enum way { WAY_LIST(WAY_ENUMERATOR) WAY_COUNT } way;
static const char *const way_names[] = {WAY_LIST(WAY_NAME)};
static const size_t way_shares[] = {WAY_LIST(WAY_SHARE)};

/* What a desc requests besides its shape. X(enumerator, number of plans in the pool) */
#define WISH_LIST(X)                                                                                                   \
    X(NOTHING, 8)                                                                                                      \
    X(MOVE, 4)                                                                                                         \
    X(EXPRESSION, 3)                                                                                                   \
    X(SEQUENCE, 4)                                                                                                     \
    X(VARIANT, 3)                                                                                                      \
    X(FORMAT, 2)                                                                                                       \
    X(PITCH, 6)                                                                                                        \
    X(ARRAY, 14)                                                                                                       \
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

/* A context with its queues and lock. */
typedef struct place {
    ipt_context *context;
    ipt_context_desc desc;
    cl_context cl;
    cl_command_queue queues[2]; /* the second one out of order if possible */
    cl_mem buffers[2];
} place;

/* A plan at work. */
struct slot {
    ipt_plan *plan;
    recipe recipe;
    place *place;
    size_t matrix, room, stride, span; /* bytes of a matrix, of a padded matrix, between starts, of the batch */
    size_t rows[2], row[2], pitch[2];  /* [source, result]: number of rows, bytes of a row, distance of rows in bytes */
};

/* A thread that draws and executes cases. */
struct worker {
    stress dice;
    size_t number;
    place home, own;
    cl_device_id device;
    const char *cache_dir;
    const size_t *sizes; /* the element sizes to draw: few sizes need few programs; NULL: any */
    size_t size_count;
    size_t most;     /* bytes of the largest matrix */
    size_t capacity; /* bytes of buffers and arrays */
    checker checker;
    cl_mem found;
    unsigned char *before, *expected, *other, *work;
    char now[1024]; /* the current action, for the alarm's message */
    char said[600]; /* the last refusal of an execution */
    volatile int busy;
    size_t runs[WAY_COUNT], refused[WAY_COUNT], executions, plans, contexts, cancelled, resumed;
    unsigned long long bytes;
};

static void failure(worker *me, const slot *its, const char *what)
{
    failure_of(me, its, 0, what);
}

static void describe(const recipe *its, char *text, size_t capacity)
{
    const ipt_plan_desc *const d = &its->desc;
    const int array = snprintf(text, capacity, "%s", d->rank ? "axes" : "");
    unsigned i;
    for (i = 0; i < d->rank && i < IPT_MAX_RANK; ++i)
        snprintf(text + strlen(text), capacity - strlen(text), "%s%u", i ? "," : " ", d->axes[i]);
    for (i = 0; i < d->rank && i < IPT_MAX_RANK; ++i)
        snprintf(text + strlen(text), capacity - strlen(text), "%s%zu", i ? " x " : " of ", d->shape[i]);
    if (array)
        snprintf(text + strlen(text), capacity - strlen(text), " ");
    capacity -= strlen(text);
    text += strlen(text);
    snprintf(
        text, capacity,
        "%s: rows %zu cols %zu elem_size %zu batch %zu batch_stride %zu flags %u max_workspace %zu sequence %s tile "
        "%zu x %zu variants %s %s %s spread %zu from %s to %s move %s expression %s of %s host %s queues %zu "
        "max_device_memory %zu max_host_memory %zu row_pitch %zu row_pitch_out %zu",
        way_names[its->way], d->rows, d->cols, d->elem_size, d->batch, d->batch_stride, d->flags, d->max_workspace,
        ipt_sequence_string(d->sequence), d->tile_m, d->tile_n, ipt_variant_string(d->variant_010),
        ipt_variant_string(d->variant_100), ipt_variant_string(d->variant_pad), d->flag_spread,
        ipt_format_string(d->from), ipt_format_string(d->to), ipt_move_string(d->move),
        d->expression ? d->expression : "none", d->expression_type ? d->expression_type : "none",
        ipt_host_string(d->host), d->host_queues, d->max_device_memory, d->max_host_memory, d->row_pitch,
        d->row_pitch_out);
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
    if (me->sizes)
        return me->sizes[between(me, 0, me->size_count - 1)];
    if (one_in(me, 8))
        return large[between(me, 0, 5)];
    return one_in(me, 3) ? between(me, 1, 64) : usual[between(me, 0, 6)];
}

static size_t beside_power_of_two(worker *me, size_t most)
{
    size_t power = 1, steps = between(me, 0, 16);
    for (; steps && power * 2 <= most; --steps)
        power *= 2;
    return power + between(me, power == 1 ? 1 : 0, 2) - 1;
}

/* Draws a shape of up to about `bytes` bytes, batch included: a class of stress.h, thin, tiny, or many small ones. */
static void draw_shape(worker *me, size_t bytes, ipt_plan_desc *desc)
{
    const size_t elem_size = elem_size_for(me), elements = bytes / elem_size + 1;
    ipt_plan_desc drawn;
    memset(&drawn, 0, sizeof drawn);
    switch (between(me, 0, 9)) {
    case 0: /* one column or a few */
        drawn.cols = between(me, 1, 3);
        drawn.rows = between(me, 1, elements / drawn.cols + 1);
        drawn.batch = 1;
        break;
    case 1: /* tiny */
        drawn.rows = between(me, 1, 9);
        drawn.cols = between(me, 1, 9);
        drawn.batch = between(me, 1, 3);
        break;
    case 2: /* next to powers of two */
        drawn.rows = beside_power_of_two(me, elements);
        drawn.cols = beside_power_of_two(me, elements / drawn.rows + 1);
        drawn.batch = 1;
        break;
    case 3: /* many small matrices */
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
    if (drawn.rows * drawn.cols * drawn.batch * elem_size >
        bytes + bytes / 2) /* too few elements for a class of shapes */
        desc->rows = desc->cols = drawn.batch = 1;
    if (one_in(me, 2)) {
        const size_t rows = desc->rows;
        desc->rows = desc->cols;
        desc->cols = rows;
    }
    desc->elem_size = elem_size;
    desc->batch = drawn.batch;
}

/* Draws tile sizes, and sides that are multiples of them. */
static void draw_tiles(worker *me, size_t bytes, ipt_plan_desc *desc)
{
    const size_t sizes[] = {1, 2, 4, 8, 12, 16};
    size_t most;
    desc->elem_size = me->sizes ? elem_size_for(me) : sizes[between(me, 0, 5)];
    desc->batch = one_in(me, 3) ? between(me, 2, 4) : 1;
    desc->tile_m = between(me, 1, 20);
    desc->tile_n = between(me, 1, 20);
    if (desc->tile_m * desc->tile_n * desc->elem_size * desc->batch > bytes)
        desc->tile_m = desc->tile_n = desc->batch = 1;
    most = stress_root(bytes / desc->batch / desc->elem_size / desc->tile_m / desc->tile_n) + 1;
    desc->rows = desc->tile_m * between(me, 1, most);
    desc->cols = desc->tile_n * between(me, 1, most);
}

static void draw_sequence(worker *me, size_t bytes, ipt_plan_desc *desc)
{
    draw_tiles(me, bytes, desc);
    desc->sequence = (ipt_sequence)between(me, IPT_SEQUENCE_1, IPT_SEQUENCE_EXCHANGE);
    if (desc->sequence == IPT_SEQUENCE_SQUARE) {
        desc->tile_m = desc->tile_n = 0;
        desc->cols = desc->rows;
    }
    if (desc->sequence == IPT_SEQUENCE_EXCHANGE) { /* tile_n is at most the shorter side */
        desc->tile_m = 0;
        if (desc->tile_n > desc->rows)
            desc->tile_n = 0;
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

/* The effect of an expression on each part of an element. */
typedef enum formula { FORMULA_THRICE, FORMULA_INVERSE, FORMULA_TURNED, FORMULA_FLOAT, FORMULA_DOUBLE } formula;

static const struct expression {
    const char *type, *text;
    size_t bytes, part;
    formula formula;
} expressions[] = {
    {"uchar", "x * 3 + 1", 1, 1, FORMULA_THRICE},        {"char", "~x", 1, 1, FORMULA_INVERSE},
    {"ushort", "x * 3 + 1", 2, 2, FORMULA_THRICE},       {"uchar2", "x.yx", 2, 1, FORMULA_TURNED},
    {"uint", "x * 3 + 1", 4, 4, FORMULA_THRICE},         {"float", "x * 2.0f + 1.0f", 4, 4, FORMULA_FLOAT},
    {"uchar4", "x.wzyx", 4, 1, FORMULA_TURNED},          {"short2", "~x", 4, 2, FORMULA_INVERSE},
    {"ulong", "x * 3 + 1", 8, 8, FORMULA_THRICE},        {"double", "x * 2.0 + 1.0", 8, 8, FORMULA_DOUBLE},
    {"float2", "x * 2.0f + 1.0f", 8, 4, FORMULA_FLOAT},  {"uint4", "x * 3u + 1u", 16, 4, FORMULA_THRICE},
    {"double2", "x * 2.0 + 1.0", 16, 8, FORMULA_DOUBLE}, {"ushort8", "x.s76543210", 16, 2, FORMULA_TURNED},
    {"uchar", "x * a + 1", 1, 1, FORMULA_THRICE},        {"uint", "x * a + 1", 4, 4, FORMULA_THRICE},
    {"ulong", "x * a + 1", 8, 8, FORMULA_THRICE},        {"uint4", "x * (uint)a + 1u", 16, 4, FORMULA_THRICE}};
static const cl_uint expression_argument = 3; /* the argument `a`, a uint */
enum { EXPRESSIONS = (int)(sizeof expressions / sizeof *expressions) };

static const struct expression *expression_of(const ipt_plan_desc *desc)
{
    size_t i = 0;
    while (strcmp(expressions[i].type, desc->expression_type) || strcmp(expressions[i].text, desc->expression))
        ++i;
    return &expressions[i];
}

static void draw_expression(worker *me, ipt_plan_desc *desc)
{
    size_t which = between(me, 0, EXPRESSIONS - 1), left = EXPRESSIONS;
    while (me->sizes && expressions[which].bytes != desc->elem_size && left--) /* seek a type of this size */
        which = (which + 1) % EXPRESSIONS;
    if (desc->elem_size < expressions[which].bytes) /* at most the drawn bytes */
        desc->rows = desc->rows * desc->elem_size / expressions[which].bytes + 1;
    desc->elem_size = expressions[which].bytes;
    desc->expression = expressions[which].text;
    desc->expression_type = expressions[which].type;
    if (strchr(expressions[which].text, 'a')) {
        desc->expression_argument = &expression_argument;
        desc->expression_argument_type = "uint";
    }
}

/* Whether the result's rows are the source's columns. */
static int turns(const ipt_plan_desc *desc)
{
    return desc->move != IPT_MOVE_ROTATE_180 && desc->move != IPT_MOVE_FLIP_HORIZONTAL &&
           desc->move != IPT_MOVE_FLIP_VERTICAL;
}

/* Bytes of a matrix without gaps, or of an array. */
static size_t content_bytes(const ipt_plan_desc *desc)
{
    size_t bytes = (desc->rank ? 1 : desc->rows * desc->cols) * desc->elem_size;
    unsigned i;
    for (i = 0; i < desc->rank; ++i)
        bytes *= desc->shape[i];
    return bytes;
}

/* Sets the sizes of a slot. The plan may add padding to the sides. An array counts as one row. */
static void measure_slot(slot *its, size_t pad_rows, size_t pad_cols)
{
    const ipt_plan_desc *const desc = &its->recipe.desc;
    const size_t size = desc->elem_size;
    size_t stride = 0;
    int i;
    its->matrix = content_bytes(desc);
    its->room = desc->rank ? its->matrix : (desc->rows + pad_rows) * (desc->cols + pad_cols) * size;
    for (i = 0; i < 2; ++i) {
        const int turned = i && turns(desc);
        const size_t given = i ? desc->row_pitch_out : desc->row_pitch;
        its->rows[i] = desc->rank ? 1 : turned ? desc->cols : desc->rows;
        its->row[i] = desc->rank ? its->matrix : (turned ? desc->rows : desc->cols) * size;
        its->pitch[i] = given ? given : its->row[i];
        if (desc->row_pitch || desc->row_pitch_out) {
            const size_t extent = (its->rows[i] - 1) * its->pitch[i] + its->row[i];
            its->matrix = its->matrix > extent ? its->matrix : extent;
            its->room = its->matrix;
        }
        stride = stride > its->rows[i] * its->pitch[i] ? stride : its->rows[i] * its->pitch[i];
    }
    its->stride = desc->batch_stride ? desc->batch_stride : stride > its->room ? stride : its->room;
    its->span = (desc->batch - 1) * its->stride + its->room;
}

/* Draws a pitch: none, the row's bytes rounded up, with a gap of some units, or about twice the row. */
static size_t draw_pitch(worker *me, size_t rows, size_t row, size_t unit, size_t bytes)
{
    const size_t multiple = (size_t)16 << between(me, 0, 4);
    const size_t pitches[] = {0, (row + multiple - 1) / multiple * multiple, row + unit * between(me, 1, 20),
                              2 * row + unit * between(me, 0, 3)};
    const size_t pitch = pitches[between(me, 0, 3)];
    return pitch && rows * pitch > 2 * bytes + 4096 ? row + unit : pitch;
}

static void draw_pitches(worker *me, size_t bytes, ipt_plan_desc *desc)
{
    const size_t unit = unit_of(desc->elem_size), rows = turns(desc) ? desc->cols : desc->rows,
                 row = desc->cols * desc->elem_size, row_out = desc->rows * desc->cols / rows * desc->elem_size;
    desc->row_pitch = draw_pitch(me, desc->rows, row, unit, bytes / desc->batch);
    desc->row_pitch_out = draw_pitch(me, rows, row_out, unit, bytes / desc->batch);
    if (row == row_out && one_in(me, 2))
        desc->row_pitch_out = desc->row_pitch;
}

/* Makes the plan use several bands, or slabs of rows: forces them, or limits the workspace. */
static void draw_bands(worker *me, ipt_plan_desc *desc)
{
    const size_t bytes = desc->rows * desc->cols * desc->elem_size * desc->batch;
    const size_t longer = desc->rows > desc->cols ? desc->rows : desc->cols,
                 shorter = desc->rows > desc->cols ? desc->cols : desc->rows;
    const size_t few = bytes / between(me, 2, 16) + 100, workspaces[] = {0, 1, 4 * bytes, few, few, few};
    desc->max_workspace = workspaces[between(me, 0, 5)];
    if (turns(desc) && shorter > 1 && one_in(me, 2)) {
        const size_t least = (longer + shorter - 1) / shorter, height = longer / between(me, 2, 9);
        desc->sequence = IPT_SEQUENCE_EXCHANGE;
        desc->tile_m = height > least ? height : least;
        desc->max_workspace = 4 * bytes;
    }
}

/* Draws an array of any rank. The last axis often stays in place, and often has a factor that allows longer units. */
static void draw_array(worker *me, size_t bytes, ipt_plan_desc *desc)
{
    size_t left;
    unsigned a, last;
    memset(desc, 0, sizeof *desc);
    desc->elem_size = elem_size_for(me);
    desc->rank = (unsigned)between(me, 1, one_in(me, 8) ? IPT_MAX_RANK : 8);
    desc->batch = one_in(me, 2) ? 1 : between(me, 2, 5);
    last = desc->rank - 1;
    left = bytes / desc->elem_size / desc->batch + 1;
    for (a = 0; a < desc->rank; ++a) {
        const size_t root = stress_root(left), most = a == last || one_in(me, 6) ? left : root < 40 ? root : 40;
        desc->shape[a] = between(me, 1, most ? most : 1);
        left = left / desc->shape[a] ? left / desc->shape[a] : 1;
        desc->axes[a] = a;
    }
    if (last && one_in(me, 2)) {
        const size_t factor = (size_t)1 << between(me, 0, 5);
        if (desc->shape[last] >= factor)
            desc->shape[last] = desc->shape[last] / factor * factor;
    }
    for (a = one_in(me, 2) ? last : desc->rank; a > 1; --a) {
        const unsigned other = (unsigned)between(me, 0, a - 1), axis = desc->axes[a - 1];
        desc->axes[a - 1] = desc->axes[other];
        desc->axes[other] = axis;
    }
    if (one_in(me, 4)) { /* long axes first */
        const size_t length = desc->shape[0], which = between(me, 0, last);
        desc->shape[0] = desc->shape[which];
        desc->shape[which] = length;
    }
}

static void draw_wish(worker *me, size_t bytes, recipe *its)
{
    ipt_plan_desc *const desc = &its->desc;
    const size_t few = bytes < 200000 ? bytes : 200000; /* for the slow kernels of the papers */
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
    case WISH_PITCH:
        desc->move = its->way == WAY_OUT_OF_PLACE ? IPT_MOVE_TRANSPOSE : (ipt_move)between(me, 0, IPT__MOVE_COUNT - 1);
        if (one_in(me, 2))
            draw_expression(me, desc);
        draw_pitches(me, bytes, desc);
        draw_bands(me, desc);
        break;
    case WISH_ARRAY:
        draw_array(me, bytes, desc);
        if (one_in(me, 3)) {
            const size_t limit = desc->elem_size;
            draw_expression(me, desc);
            desc->rows = desc->cols = 0; /* an array has no sides: undoes draw_expression's */
            if (desc->elem_size > limit)
                desc->shape[0] = 1,
                desc->shape[desc->rank - 1] = desc->shape[desc->rank - 1] * limit / desc->elem_size + 1;
        }
        desc->max_workspace = one_in(me, 4) ? between(me, 1, 20000) : 0;
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

/* A memory limit for about `lines` lines of the longer side. */
static size_t limit_for(worker *me, const ipt_plan_desc *desc)
{
    const size_t shorter = desc->rows < desc->cols ? desc->rows : desc->cols,
                 longer = desc->rows < desc->cols ? desc->cols : desc->rows;
    const size_t lines = between(me, 64 / desc->elem_size + 1, 64 / desc->elem_size + 1 + longer / between(me, 2, 12));
    if (desc->rank)
        return content_bytes(desc) / between(me, 1, 8) + between(me, 3000, 100000);
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
                                    its->wish == WISH_FORMAT || its->wish == WISH_PADDING || its->wish == WISH_ARRAY))
        its->wish = WISH_NOTHING; /* the checker supports transpositions only */
    if (its->wish == WISH_PITCH && (its->way == WAY_CHECKED || its->way == WAY_FLIGHT))
        its->wish = WISH_NOTHING; /* the result has another form than the source, so it cannot be executed twice */
    if ((its->way == WAY_OUT_OF_PLACE || its->way == WAY_SPLIT || its->way == WAY_CUT || its->way == WAY_CUT_PINNED ||
         its->way == WAY_STORAGE) &&
        its->wish != WISH_EXPRESSION && its->wish != WISH_ARRAY &&
        (its->wish != WISH_PITCH || its->way != WAY_OUT_OF_PLACE))
        its->wish = WISH_NOTHING;
    draw_wish(me, bytes, its);
    if (desc->batch > 1 && !(desc->flags & IPT_PAD) && one_in(me, 2)) {
        slot sizes;
        sizes.recipe = *its;
        measure_slot(&sizes, 0, 0);
        desc->batch_stride = sizes.matrix + unit_of(desc->elem_size) * between(me, 1, 40);
    }
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

/* Whether the manual allows a refusal of this plan. Plans without forced methods always exist. */
static int may_be_refused(const recipe *its)
{
    const ipt_plan_desc *const d = &its->desc;
    return d->sequence != IPT_SEQUENCE_AUTO || d->max_workspace || d->max_device_memory || d->max_host_memory ||
           d->row_pitch || d->row_pitch_out || d->host != IPT_HOST_AUTO || (d->flags & IPT_PAD) ||
           its->way == WAY_SPLIT;
}

/* Counts a refusal. A refusal of a plan that must exist, or without a message, is a failure. */
static void is_refused(worker *me, const slot *its, ipt_result result, const char *text)
{
    ++me->refused[its->recipe.way];
    snprintf(me->said, sizeof me->said, "%.590s", text);
    if (result != IPT_ERROR_UNSUPPORTED || !may_be_refused(&its->recipe) || strlen(text) < 20)
        failure(me, its, *text ? text : "an error without a text");
}

/* Counts a refusal of a matrix in host memory. If the device cannot work at the address, the matrix needs device
 * memory. */
static void is_refused_at(worker *me, const slot *its, ipt_result result, const char *text, const void *data)
{
    const int elsewhere = its->recipe.desc.max_device_memory && (uintptr_t)data % 16 && strstr(text, "work on data at");
    is_refused(me, its, elsewhere && result == IPT_ERROR_OUT_OF_MEMORY ? IPT_ERROR_UNSUPPORTED : result, text);
}

/* ------------------------------------------------------------------------------------------------------------------ */
/* Expected results */
/* ------------------------------------------------------------------------------------------------------------------ */

/* The place of an element in a block format. `factors` names the format's factors, the outermost first. */
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

/* The places of the element at row and col in the source and in the result. */
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

static void express_part(unsigned char *part, const struct expression *its)
{
    uint64_t x = 0;
    float single;
    double twice;
    size_t i;
    switch (its->formula) {
    case FORMULA_FLOAT:
        memcpy(&single, part, sizeof single);
        single = single * 2 + 1;
        memcpy(part, &single, sizeof single);
        break;
    case FORMULA_DOUBLE:
        memcpy(&twice, part, sizeof twice);
        twice = twice * 2 + 1;
        memcpy(part, &twice, sizeof twice);
        break;
    default:
        for (i = its->part; i-- > 0;)
            x = x << 8 | part[i];
        x = its->formula == FORMULA_THRICE ? x * 3 + 1 : ~x;
        for (i = 0; i < its->part; ++i, x >>= 8)
            part[i] = (unsigned char)x;
    }
}

/* Applies the plan's expression to an element. */
static void express(unsigned char *element, const ipt_plan_desc *desc)
{
    const struct expression *const its = expression_of(desc);
    unsigned char turned[16];
    size_t at;
    if (its->formula != FORMULA_TURNED) {
        for (at = 0; at < its->bytes; at += its->part)
            express_part(element + at, its);
        return;
    }
    for (at = 0; at < its->bytes; at += its->part)
        memcpy(turned + at, element + its->bytes - its->part - at, its->part);
    memcpy(element, turned, its->bytes);
}

/* Replaces elements by small integers, for which floating-point expressions are exact. */
static void make_real(unsigned char *bytes, size_t count, const ipt_plan_desc *desc)
{
    const struct expression *const its = expression_of(desc);
    size_t at;
    for (at = 0; at + its->part <= count; at += its->part) {
        const int number = bytes[at] * 16 - 2000;
        const float single = (float)number;
        const double twice = number;
        if (its->formula == FORMULA_FLOAT)
            memcpy(bytes + at, &single, sizeof single);
        else if (its->formula == FORMULA_DOUBLE)
            memcpy(bytes + at, &twice, sizeof twice);
    }
}

/* Permutes one array, element by element of the result. */
static void compute_array(const ipt_plan_desc *desc, unsigned char *after, const unsigned char *before)
{
    size_t steps[IPT_MAX_RANK], at[IPT_MAX_RANK] = {0}, from = 0, to, step = desc->elem_size;
    const size_t bytes = content_bytes(desc);
    unsigned a;
    for (a = desc->rank; a-- > 0; step *= desc->shape[a])
        steps[a] = step;
    for (to = 0; to < bytes; to += desc->elem_size) {
        memcpy(after + to, before + from, desc->elem_size);
        if (desc->expression)
            express(after + to, desc);
        for (a = desc->rank; a-- > 0;) {
            const unsigned axis = desc->axes[a];
            from += steps[axis];
            if (++at[axis] < desc->shape[axis])
                break;
            from -= steps[axis] * desc->shape[axis];
            at[axis] = 0;
        }
    }
}

static void compute(const slot *its, unsigned char *after, const unsigned char *before)
{
    const ipt_plan_desc *const desc = &its->recipe.desc;
    const size_t size = desc->elem_size;
    size_t matrix, row, col, from, to;
    for (matrix = 0; desc->rank && matrix < desc->batch; ++matrix)
        compute_array(desc, after + matrix * its->stride, before + matrix * its->stride);
    for (matrix = 0; !desc->rank && matrix < desc->batch; ++matrix, before += its->stride, after += its->stride)
        for (row = 0; row < desc->rows; ++row)
            for (col = 0; col < desc->cols; ++col) {
                places_of(desc, row, col, &from, &to);
                from = from * size / its->row[0] * its->pitch[0] + from * size % its->row[0];
                to = to * size / its->row[1] * its->pitch[1] + to * size % its->row[1];
                memcpy(after + to, before + from, size);
                if (desc->expression)
                    express(after + to, desc);
            }
}

static void fill(worker *me, unsigned char *bytes, size_t count)
{
    size_t i;
    for (i = 0; i < count; i += sizeof(uint64_t)) { /* rounded up: the arrays have room */
        const uint64_t value = stress_random(&me->dice);
        memcpy(bytes + i, &value, sizeof value);
    }
}

/* Fills `before` with new content and `expected` with the result of `rounds` executions, at byte `offset` of both. */
static size_t prepare(worker *me, const slot *its, size_t offset, size_t rounds)
{
    const size_t total = offset + its->span + GUARD;
    size_t round;
    need(total <= me->capacity, "a matrix within the capacity");
    fill(me, me->before, total);
    if (its->recipe.desc.expression)
        make_real(me->before + offset, its->span, &its->recipe.desc);
    memcpy(me->expected, me->before, total);
    for (round = 0; round < rounds; ++round) {
        memcpy(me->other, me->expected, total);
        compute(its, me->expected + offset, me->other + offset);
    }
    return total;
}

/* Compares bytes [begin, end) in items of `size` bytes. Returns the number of wrong items; *first: the first one. */
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

/* Ignores bytes at which only the source has an element: in place, they may have any value. */
static void forgive(const slot *its, const unsigned char *got, unsigned char *wanted, size_t offset)
{
    size_t matrix, row, at;
    for (matrix = 0; matrix < its->recipe.desc.batch; ++matrix, offset += its->stride)
        for (row = 0; row < its->rows[0]; ++row)
            for (at = row * its->pitch[0]; at < row * its->pitch[0] + its->row[0]; ++at)
                if (at / its->pitch[1] >= its->rows[1] || at % its->pitch[1] >= its->row[1])
                    wanted[offset + at] = got[offset + at];
}

/* Draws the number of executions on one matrix: one, if the result has another pitch than the source. */
static size_t draw_rounds(worker *me, const slot *its)
{
    const size_t rounds = between(me, 1, ROUNDS);
    return its->recipe.desc.row_pitch || its->recipe.desc.row_pitch_out ? 1 : rounds;
}

/* Checks every element, and every byte before, between and after the matrices. Padding may have any value. content: 0:
 * checks only the bytes around the elements. */
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
    snprintf(what, sizeof what,
             "%llu wrong elements, the first is element %ld of matrix %ld; %llu wrong bytes outside, the first at %ld "
             "of the first matrix",
             wrong, wrong ? (long)((first - offset) % its->stride / desc->elem_size) : -1,
             wrong ? (long)((first - offset) / its->stride) : -1, stray, stray ? (long)outside - (long)offset : 0);
    failure_of(me, its, wrong + stray, what);
}

/* Compares all bytes of several batches. Their places lie `apart` bytes apart; a batch begins at byte `shift` of its
 * place. */
static void verify_places(worker *me, const slot *its, size_t shift, size_t apart, size_t places)
{
    size_t i, first = (size_t)-1;
    unsigned long long wrong;
    char what[200];
    if (places == 1 && its->matrix != its->room) {
        for (i = 0; i < its->recipe.desc.batch; ++i) /* padding may have any value */
            memcpy(me->expected + shift + i * its->stride + its->matrix,
                   me->work + shift + i * its->stride + its->matrix, its->room - its->matrix);
    }
    wrong = differ(me->work, me->expected, 0, places * apart, 1, &first);
    me->bytes += its->matrix * its->recipe.desc.batch * places;
    if (!wrong)
        return;
    snprintf(what, sizeof what, "%llu wrong bytes, the first at byte %ld of place %zu of %zu, which are %zu bytes each",
             wrong, (long)(first % apart) - (long)shift, first / apart, places, apart);
    failure_of(me, its, wrong, what);
}

/* ------------------------------------------------------------------------------------------------------------------ */
/* The ways of executing a plan */
/* ------------------------------------------------------------------------------------------------------------------ */

static void wait_and_release(cl_event event)
{
    need(!clWaitForEvents(1, &event) && !soak_clReleaseEvent(event), "clWaitForEvents");
}

/* Uploads, executes on both queues in turn, and downloads. Only events order these commands. */
static void run_buffer(worker *me, slot *its)
{
    const size_t offset = unit_of(its->recipe.desc.elem_size) * between(me, 0, 40) + (one_in(me, 4) ? 0 : GUARD),
                 rounds = draw_rounds(me, its), total = prepare(me, its, offset, rounds);
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
    if (!result) {
        forgive(its, me->work, me->expected, offset);
        verify(me, its, me->work, me->expected, offset, 1);
    }
}

/* Enqueues several executions of one plan before any may begin: on both queues in turn, in parts of one buffer or in
 * sub-buffers. Some executions use the same part. */
static void run_flight(worker *me, slot *its)
{
    enum { MOST = 4 };
    const size_t align = 4096, apart = (its->span + GUARD + align - 1) / align * align,
                 fit = me->capacity / apart < MOST ? me->capacity / apart : MOST,
                 places = its->matrix != its->room || fit < 2 ? 1 : between(me, 1, fit), runs = between(me, 1, MOST),
                 unit = unit_of(its->recipe.desc.elem_size), shift = unit * between(me, 0, GUARD / unit / 2),
                 total = places * apart;
    const int parts = one_in(me, 2);
    place *const at = its->place;
    cl_event gate, last[MOST] = {NULL}, next;
    ipt_result result = IPT_SUCCESS;
    size_t i;
    cl_int error;
    if (total > me->capacity)
        return;
    fill(me, me->before, total);
    for (i = 0; i < places && its->recipe.desc.expression; ++i)
        make_real(me->before + i * apart + shift, its->span, &its->recipe.desc);
    memcpy(me->expected, me->before, total);
    need(!clEnqueueWriteBuffer(at->queues[0], at->buffers[0], CL_TRUE, 0, total, me->before, 0, NULL, NULL),
         "clEnqueueWriteBuffer");
    gate = soak_clCreateUserEvent(at->cl, &error);
    need(!error, "clCreateUserEvent");
    for (i = 0; i < runs && !result; ++i) {
        const size_t which = between(me, 0, places - 1), begin = which * apart;
        const cl_buffer_region region = {begin, apart};
        const cl_mem part =
            parts ? clCreateSubBuffer(at->buffers[0], CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION, &region, &error)
                  : at->buffers[0];
        cl_event waits[2];
        need(part != NULL, "clCreateSubBuffer");
        waits[0] = gate;
        waits[1] = last[which];
        ++me->executions;
        result = ipt_plan_execute(its->plan, at->queues[between(me, 0, 1)], part, shift + (parts ? 0 : begin),
                                  last[which] ? 2 : 1, waits, &next);
        if (result)
            failure(me, its, ipt_context_error(NULL));
        if (last[which])
            soak_clReleaseEvent(last[which]);
        last[which] = next;
        memcpy(me->other + begin, me->expected + begin, apart);
        compute(its, me->expected + begin + shift, me->other + begin + shift);
        if (parts)
            clReleaseMemObject(part);
    }
    need(!soak_clSetUserEventStatus(gate, CL_COMPLETE) && !soak_clReleaseEvent(gate), "clSetUserEventStatus");
    for (i = 0; i < places; ++i)
        if (last[i])
            wait_and_release(last[i]);
    need(!clEnqueueReadBuffer(at->queues[0], at->buffers[0], CL_TRUE, 0, total, me->work, 0, NULL, NULL),
         "clEnqueueReadBuffer");
    if (!result)
        verify_places(me, its, shift, apart, places);
}

/* The first queue fills and checks, the second one transposes, several times. The host does not take part. */
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
        snprintf(what, sizeof what, "round %zu: %u wrong items, the first is item %u of the buffer", round,
                 found[round].wrong, found[round].first);
        failure_of(me, its, found[round].wrong, what);
    }
}

static void run_out_of_place(worker *me, slot *its)
{
    const size_t unit = unit_of(its->recipe.desc.elem_size), offset = unit * between(me, 0, 60),
                 total = prepare(me, its, offset, 0);
    place *const at = its->place;
    const cl_command_queue queue = at->queues[0];
    const unsigned wanted = its->recipe.desc.flags & (IPT_CACHE_ONLY | IPT_OUT_OF_PLACE);
    cl_event done = NULL;
    ipt_result result;
    fill(me, me->other, total);
    need(!clEnqueueWriteBuffer(queue, at->buffers[0], CL_TRUE, 0, total, me->before, 0, NULL, NULL) &&
             !clEnqueueWriteBuffer(queue, at->buffers[1], CL_TRUE, 0, total, me->other, 0, NULL, NULL),
         "clEnqueueWriteBuffer");
    ++me->executions;
    result = ipt_plan_execute_out_of_place(its->plan, at->queues[1], at->buffers[0], offset, at->buffers[1], offset, 0,
                                           NULL, &done);
    /* Without IPT_OUT_OF_PLACE, creating the plan does not build this kernel. */
    if (result && !(result == IPT_ERROR_CACHE_MISS && wanted == IPT_CACHE_ONLY))
        failure(me, its, ipt_context_error(NULL));
    if (done)
        wait_and_release(done);
    need(!clEnqueueReadBuffer(queue, at->buffers[0], CL_TRUE, 0, total, me->work, 0, NULL, NULL),
         "clEnqueueReadBuffer");
    verify(me, its, me->work, me->before, offset, 1); /* the source is unchanged */
    memcpy(me->expected, me->other, total);
    if (!result) /* a failed execution writes nothing */
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

/* A matrix in host memory at any address, from malloc or from ipt_host_alloc. Cancels some of the executions. */
static void run_host(worker *me, slot *its)
{
    const size_t offset = GUARD + between(me, 0, 64), rounds = draw_rounds(me, its),
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
    me->cancelled += ended;
    if (result && !ended)
        is_refused_at(me, its, result, ipt_context_error(NULL), (unsigned char *)taken + offset);
    if (!result)
        forgive(its, (unsigned char *)taken, me->expected, offset);
    verify(me, its, (unsigned char *)taken, result ? me->before : me->expected, offset, result != IPT_ERROR_INCOMPLETE);
    if (pinned)
        ipt_host_free(its->place->context, taken);
}

/* The result of an execution by a thread. */
typedef struct outcome {
    size_t calls_left; /* calls of progress before the one that cancels */
    ipt_result result;
    char text[512];
} outcome;

static int ends_it_there(size_t done, size_t total, void *user)
{
    return ends_it(done, total, &((outcome *)user)->calls_left);
}

static void is_finished(ipt_result result, void *user)
{
    outcome *const told = (outcome *)user;
    told->result = result;
    snprintf(told->text, sizeof told->text, "%.500s", result ? ipt_context_error(NULL) : "");
}

static void run_async(worker *me, slot *its)
{
    const size_t offset = GUARD + between(me, 0, 64), total = prepare(me, its, offset, 1);
    const int ending = one_in(me, 3);
    ipt_host_options options;
    outcome told = {0, IPT__RESULT_COUNT, "never told"};
    cl_event event = NULL;
    cl_int status = -1;
    int ended;
    memset(&options, 0, sizeof options);
    told.calls_left = between(me, 0, 6);
    options.progress = ending ? ends_it_there : NULL;
    options.finished = is_finished;
    options.user = &told;
    memcpy(me->work, me->before, total);
    ++me->executions;
    if (ipt_plan_execute_host_async(its->plan, me->work + offset, &options, &event)) {
        failure(me, its, ipt_context_error(NULL));
        return;
    }
    clWaitForEvents(1, &event); /* fails if the execution has failed */
    need(!clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL) &&
             !soak_clReleaseEvent(event),
         "clWaitForEvents");
    if (status != (told.result ? -(cl_int)told.result : CL_COMPLETE))
        failure(me, its, "the event says another thing than the result");
    ended = ending && (told.result == IPT_ERROR_CANCELLED || told.result == IPT_ERROR_INCOMPLETE);
    me->cancelled += ended;
    if (told.result && !ended)
        is_refused_at(me, its, told.result, told.text, me->work + offset);
    if (!told.result)
        forgive(its, me->work, me->expected, offset);
    verify(me, its, me->work, told.result ? me->before : me->expected, offset, told.result != IPT_ERROR_INCOMPLETE);
}

/* The fault of a storage. */
typedef enum fault {
    FAULT_NONE,
    FAULT_END,         /* `ready` ends the execution */
    FAULT_READ,        /* a read fails */
    FAULT_SHORT_READ,  /* reads half of the bytes first */
    FAULT_WRITE,       /* a write fails */
    FAULT_SHORT_WRITE, /* writes half of the bytes first */
    FAULT_COUNT
} fault;

/* A storage in memory. */
typedef struct store {
    const slot *its;
    pthread_mutex_t lock;
    unsigned char *content;
    unsigned char *memory, *told; /* ipt_storage.memory, and the pieces that `ready` has reported; NULL: not needed */
    size_t memory_bytes, ready;
    fault fault;
    size_t left; /* calls before the fault */
    int stray, written;
} store;

/* Counts a call, and returns whether it fails. */
static int store_called(store *store, size_t offset, size_t bytes, int writes)
{
    const slot *const its = store->its;
    int fails = 0;
    pthread_mutex_lock(&store->lock);
    if (!bytes || offset + bytes > its->span ||
        (its->stride != its->matrix && offset % its->stride + bytes > its->matrix))
        store->stray = 1;
    store->written |= writes;
    if (writes ? store->fault == FAULT_WRITE || store->fault == FAULT_SHORT_WRITE
               : store->fault == FAULT_READ || store->fault == FAULT_SHORT_READ)
        fails = store->left-- == 0;
    pthread_mutex_unlock(&store->lock);
    return fails;
}

static int store_read(void *memory, size_t offset, size_t bytes, void *user)
{
    store *const from = (store *)user;
    const int fails = store_called(from, offset, bytes, 0);
    if (!fails || from->fault == FAULT_SHORT_READ)
        memcpy(memory, from->content + offset, fails ? bytes / 2 : bytes);
    return fails;
}

static int store_write(const void *memory, size_t offset, size_t bytes, void *user)
{
    store *const to = (store *)user;
    const int fails = store_called(to, offset, bytes, 1);
    if (!fails || to->fault == FAULT_SHORT_WRITE)
        memcpy(to->content + offset, memory, fails ? bytes / 2 : bytes);
    return fails;
}

static int store_ready(size_t step, size_t steps, const void *content, size_t bytes, void *user)
{
    store *const its = (store *)user;
    const unsigned char *const piece = (const unsigned char *)content;
    int ends;
    pthread_mutex_lock(&its->lock);
    if (step >= steps || (its->memory && (piece < its->memory || piece + bytes > its->memory + its->memory_bytes)))
        its->stray = 1;
    else if (its->memory)
        memcpy(its->told + (piece - its->memory), piece, bytes);
    ends = its->fault == FAULT_END && its->left-- == 0;
    if (!ends)
        its->ready = step + 1;
    pthread_mutex_unlock(&its->lock);
    return ends;
}

/* Executes once, with or without a fault. Returns 1 if another execution must resume. */
static int run_store(worker *me, slot *its, store *where, ipt_storage *storage, unsigned char *untouched)
{
    const size_t bytes = its->span;
    ipt_result result;
    where->written = 0;
    memcpy(untouched, where->content, bytes);
    ++me->executions;
    result = ipt_plan_execute_storage(its->plan, storage);
    if (result && where->fault == FAULT_NONE)
        failure(me, its, ipt_context_error(NULL));
    else if (result && strlen(ipt_context_error(NULL)) < 20)
        failure(me, its, "an error without a text");
    if (result != IPT_SUCCESS && result != IPT_ERROR_CANCELLED && result != IPT_ERROR_STORAGE &&
        result != IPT_ERROR_INCOMPLETE)
        failure(me, its, "a storage's failure is another result");
    if ((result == IPT_ERROR_CANCELLED || result == IPT_ERROR_STORAGE) && !storage->resume &&
        memcmp(untouched, where->content, bytes))
        failure(me, its, "the result reports that nothing was written, but bytes changed");
    if (where->stray)
        failure(me, its, "bytes beside the matrices, or beside the memory, were requested or reported");
    if (!result || where->fault == FAULT_NONE)
        return 0;
    ++me->resumed;
    storage->resume = where->ready;
    if (where->memory) /* restores only the pieces that `ready` has reported */
        memcpy(where->memory, where->told, where->memory_bytes);
    return 1;
}

/* Executes on a storage. Some executions stop or fail several times, and resume. */
static void run_storage(worker *me, slot *its)
{
    const size_t offset = GUARD, total = prepare(me, its, offset, 1), bytes = ipt_plan_storage_memory(its->plan);
    const int stopping = !one_in(me, 4);
    size_t stops = stopping ? between(me, 1, 4) : 0;
    store where;
    ipt_storage storage;
    memset(&storage, 0, sizeof storage);
    memset(&where, 0, sizeof where);
    pthread_mutex_init(&where.lock, NULL);
    where.its = its;
    where.content = me->work + offset;
    if (stopping) {
        where.memory = (unsigned char *)malloc(bytes + 1);
        where.told = (unsigned char *)malloc(bytes + 1);
        need(where.memory && where.told, "malloc");
        memset(where.memory, 0x5a, bytes);
        memset(where.told, 0xa5, bytes);
        where.memory_bytes = bytes;
    }
    storage.read = store_read;
    storage.write = store_write;
    storage.ready = stopping || one_in(me, 2) ? store_ready : NULL;
    storage.user = &where;
    storage.memory = where.memory;
    memcpy(me->work, me->before, total);
    do {
        where.fault = stops ? (fault)between(me, FAULT_END, FAULT_COUNT - 1) : FAULT_NONE;
        where.left = between(me, 0, one_in(me, 2) ? 3 : 40);
        stops -= stops != 0;
    } while (run_store(me, its, &where, &storage, me->other));
    verify(me, its, me->work, me->expected, offset, 1);
    free(where.memory);
    free(where.told);
    pthread_mutex_destroy(&where.lock);
}

static void run_one_liner(worker *me)
{
    slot its;
    size_t total;
    memset(&its, 0, sizeof its);
    its.recipe.way = WAY_ONE_LINER;
    draw_shape(me, me->most / 100, &its.recipe.desc);
    its.recipe.desc.batch = 1;
    measure_slot(&its, 0, 0);
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
    static void (*const runs[])(worker *, slot *) = {run_buffer, run_checked, run_flight, run_out_of_place,
                                                     run_host,   run_host,    run_async,  run_host,
                                                     run_host,   run_storage, run_host};
    way how = its->recipe.way;
    if (how == WAY_CHECKED && its->place->cl != me->checker.context) /* the checker has another context */
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
    at->desc.device = me->device;
    at->desc.cache_dir = me->cache_dir;
    at->desc.allocator.alloc = soak_take;
    at->desc.allocator.free = soak_give;
    need(!ipt_context_create(&at->desc, &at->context), "ipt_context_create");
    ++me->contexts;
}

static void open_place(const worker *its, place *at, cl_context context)
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

/* Replaces the slot's plan by a plan from the recipe. */
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
    measure_slot(its, rows, cols);
    return 1;
}

static void make_arrays(worker *me)
{
    unsigned char **const arrays[] = {&me->before, &me->expected, &me->other, &me->work};
    size_t i;
    for (i = 0; i < 4; ++i) {
        *arrays[i] = (unsigned char *)malloc(me->capacity + sizeof(uint64_t));
        need(*arrays[i] != NULL, "malloc");
        memset(*arrays[i], 0, me->capacity);
    }
}

static void free_arrays(worker *me)
{
    free(me->before);
    free(me->expected);
    free(me->other);
    free(me->work);
}

#endif /* CASES_H_INCLUDED */
