/* The ready actions: the columns that IPT_ACTION_LIST lacks. */

enum {
#define IPT__ACTION_TEXT_INDEX(name) IPT__ACTION_TEXT_##name,
    IPT_ACTION_TEXT_LIST(IPT__ACTION_TEXT_INDEX) IPT__ACTION_TEXT_COUNT,
    IPT__ACTION_TEXT_none = -1
};
static const ipt__part ipt__action_texts[] = {
#define IPT__ACTION_TEXT_ROW(name) {#name ".cl", IPT__HASH_##name IPT__TEXT(ipt__text_##name)},
    IPT_ACTION_TEXT_LIST(IPT__ACTION_TEXT_ROW)};

/* The cost of an action's turns. Indices from pivots make them slower. The inverse in place has turns of its own. */
typedef enum ipt__batch_kind {
    IPT__TURNS_PLAIN,
    IPT__TURNS_PIVOTED,
    IPT__TURNS_INVERSE,
    IPT__TURN_KINDS
} ipt__batch_kind;

/* The work of one lane of an element. */
typedef struct ipt__batch_work {
    double turns; /* of innermost loops: a turn reads two or three components, and adds a product to a sum */
    double barriers;
} ipt__batch_work;

/* The largest number of things that a lane takes, if the lanes share `things`. */
static double ipt__batch_share(size_t things, size_t lanes)
{
    return ipt__real(ipt__ceil_divide(things, lanes));
}

/* The work of an elimination of n columns. For a column, every lane takes `each` turns, and `scan` turns for each row
 * below. The lanes share these rows. A row takes `part` turns for each column from this one on. */
static ipt__batch_work ipt__batch_eliminate(size_t n, size_t lanes, double each, double scan, double part)
{
    ipt__batch_work work = {0, 0};
    size_t below;
    for (below = n; below; --below) {
        work.turns += each + scan * ipt__real(below) + ipt__batch_share(below, lanes);
        work.turns += ipt__batch_share(below - 1, lanes) * ipt__real(below) * part;
    }
    work.barriers = 3 * ipt__real(n);
    return work;
}

static double ipt__batch_log2(size_t lanes)
{
    double log = 0;
    for (; lanes > 1; lanes /= 2)
        ++log;
    return log;
}

/* The turns of substitutions in n rows for m right sides. A lane computes whole right sides. */
static double ipt__batch_substitute(size_t m, size_t n, size_t lanes)
{
    return ipt__batch_share(m, lanes) * ipt__real(n) * (ipt__real(n) + 8);
}

/* The work of an action beside substitutions, for m, n and k as in IPT_ACTION_LIST. */
static ipt__batch_work ipt__ready_work(ipt_action action, size_t m, size_t n, size_t k, size_t lanes)
{
    const size_t blocks = ipt__ceil_divide(m, 4) * ipt__ceil_divide(n, 4); /* as in gemm.cl */
    const double columns = ipt__batch_share(n, lanes);
    ipt__batch_work work = {0, 0};
    switch (action) {
    case IPT_ACTION_DOT:
        work.turns = columns;
        work.barriers = lanes > 1 ? 2 + 2 * ipt__batch_log2(lanes) : 0;
        return work;
    case IPT_ACTION_GEMV:
        work.turns = ipt__batch_share(m, lanes) * ipt__real(k);
        return work;
    case IPT_ACTION_GEMM:
        work.turns = (lanes > 1 ? ipt__batch_share(blocks, lanes) * 8 : ipt__real(m) * ipt__real(n)) * ipt__real(k);
        return work;
    case IPT_ACTION_TRSM:
        work.turns = ipt__batch_substitute(m, n, lanes) / 2;
        return work;
    case IPT_ACTION_POTRF:
    case IPT_ACTION_POSV:
        return ipt__batch_eliminate(n, lanes, 4, 0, 0.5);
    case IPT_ACTION_GETRF:
    case IPT_ACTION_GESV:
        return ipt__batch_eliminate(n, lanes, 8 + columns, 1, 1);
    case IPT_ACTION_GETRI:
        return ipt__batch_eliminate(n, lanes, 8 + columns * (2 + ipt__real(n)), 1, 0);
    default: /* substitutions are all */
        return work;
    }
}

/* The options of ready actions, in the sequence of their bits: IPT_TRANSPOSE_A ... */
#define IPT__READY_OPTION_LIST(X) X(TRANSPOSE_A) X(TRANSPOSE_B) X(CONJUGATE_A) X(CONJUGATE_B) X(UPPER) X(UNIT)

/* X(action, first text, second text, options, scaled, solves, sums, turns), in the sequence of IPT_ACTION_LIST; the
 * members of ipt__ready. */
#define IPT__READY_LIST(X)                                                                                             \
    X(NONE, none, none, 0, 0, 0, 0, PLAIN)                                                                             \
    X(DOT, dot, none, IPT_CONJUGATE_A, 1, 0, 1, PLAIN)                                                                 \
    X(GEMV, gemv, none, IPT_TRANSPOSE_A | IPT_CONJUGATE_A, 1, 0, 0, PLAIN)                                             \
    X(GEMM, gemm, none, IPT_TRANSPOSE_A | IPT_CONJUGATE_A | IPT_TRANSPOSE_B | IPT_CONJUGATE_B, 1, 0, 0, PLAIN)         \
    X(POTRF, potrf, none, 0, 0, 0, 0, PLAIN)                                                                           \
    X(POTRS, potrs, none, 0, 0, 1, 0, PLAIN)                                                                           \
    X(POSV, potrf, potrs, 0, 0, 1, 0, PLAIN)                                                                           \
    X(TRSM, trsm, none, IPT_TRANSPOSE_A | IPT_CONJUGATE_A | IPT_UPPER | IPT_UNIT, 0, 0, 0, PLAIN)                      \
    X(GETRF, getrf, none, 0, 0, 0, 0, PIVOTED)                                                                         \
    X(GETRS, getrs, none, 0, 0, 1, 0, PIVOTED)                                                                         \
    X(GESV, getrf, getrs, 0, 0, 1, 0, PIVOTED)                                                                         \
    X(GETRI, getri, none, 0, 0, 0, 0, INVERSE)

/* A missing or misplaced row does not compile. */
enum {
#define IPT__READY_INDEX(action, first, second, options, scaled, solves, sums, turns) IPT__READY_##action,
    IPT__READY_LIST(IPT__READY_INDEX) IPT__READY_COUNT
};
#define IPT__READY_HAS_ITS_PLACE(action, first, second, options, scaled, solves, sums, turns)                          \
    typedef char ipt__ready_##action##_has_its_place[(int)IPT__READY_##action == (int)IPT_ACTION_##action ? 1 : -1];
IPT__READY_LIST(IPT__READY_HAS_ITS_PLACE)
typedef char ipt__ready_has_all_actions[(int)IPT__READY_COUNT == (int)IPT__ACTION_COUNT ? 1 : -1];

typedef struct ipt__ready {
    int texts[2];     /* in ipt__action_texts */
    unsigned options; /* options that the action accepts */
    int scaled;       /* takes alpha and beta as argument */
    int solves;       /* substitutes with the result of a decomposition */
    int sums;         /* its lanes add up by IPT_SUM */
    ipt__batch_kind turns;
} ipt__ready;
static const ipt__ready ipt__readies[] = {
#define IPT__READY_ROW(action, first, second, options, scaled, solves, sums, turns)                                    \
    {{IPT__ACTION_TEXT_##first, IPT__ACTION_TEXT_##second}, options, scaled, solves, sums, IPT__TURNS_##turns},
    IPT__READY_LIST(IPT__READY_ROW)};
