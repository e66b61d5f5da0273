/* The ready actions: one row each, with what IPT_ACTION_LIST lacks. */

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

/* The options of ready actions, in the sequence of their bits: IPT_TRANSPOSE_A ... */
#define IPT__READY_OPTION_LIST(X) X(TRANSPOSE_A) X(TRANSPOSE_B) X(CONJUGATE_A) X(CONJUGATE_B) X(UPPER) X(UNIT)

/* X(action, first text, second text, options, scaled, solves, turns), in the sequence of IPT_ACTION_LIST; the members
 * of ipt__ready. */
#define IPT__READY_LIST(X)                                                                                             \
    X(NONE, none, none, 0, 0, 0, PLAIN)                                                                                \
    X(DOT, dot, none, IPT_CONJUGATE_A, 1, 0, PLAIN)                                                                    \
    X(GEMV, gemv, none, IPT_TRANSPOSE_A | IPT_CONJUGATE_A, 1, 0, PLAIN)                                                \
    X(GEMM, gemm, none, IPT_TRANSPOSE_A | IPT_CONJUGATE_A | IPT_TRANSPOSE_B | IPT_CONJUGATE_B, 1, 0, PLAIN)            \
    X(POTRF, potrf, none, 0, 0, 0, PLAIN)                                                                              \
    X(POTRS, potrs, none, 0, 0, 1, PLAIN)                                                                              \
    X(POSV, potrf, potrs, 0, 0, 1, PLAIN)                                                                              \
    X(TRSM, trsm, none, IPT_TRANSPOSE_A | IPT_CONJUGATE_A | IPT_UPPER | IPT_UNIT, 0, 0, PLAIN)                         \
    X(GETRF, getrf, none, 0, 0, 0, PIVOTED)                                                                            \
    X(GETRS, getrs, none, 0, 0, 1, PIVOTED)                                                                            \
    X(GESV, getrf, getrs, 0, 0, 1, PIVOTED)                                                                            \
    X(GETRI, getri, none, 0, 0, 0, INVERSE)

/* A missing or misplaced row does not compile. */
enum {
#define IPT__READY_INDEX(action, first, second, options, scaled, solves, turns) IPT__READY_##action,
    IPT__READY_LIST(IPT__READY_INDEX) IPT__READY_COUNT
};
#define IPT__READY_HAS_ITS_PLACE(action, first, second, options, scaled, solves, turns)                                \
    typedef char ipt__ready_##action##_has_its_place[(int)IPT__READY_##action == (int)IPT_ACTION_##action ? 1 : -1];
IPT__READY_LIST(IPT__READY_HAS_ITS_PLACE)
typedef char ipt__ready_has_all_actions[(int)IPT__READY_COUNT == (int)IPT__ACTION_COUNT ? 1 : -1];

typedef struct ipt__ready {
    int texts[2];     /* in ipt__action_texts */
    unsigned options; /* options that the action accepts */
    int scaled;       /* takes alpha and beta as argument */
    int solves;       /* substitutes with the result of a decomposition */
    ipt__batch_kind turns;
} ipt__ready;
static const ipt__ready ipt__readies[] = {
#define IPT__READY_ROW(action, first, second, options, scaled, solves, turns)                                          \
    {{IPT__ACTION_TEXT_##first, IPT__ACTION_TEXT_##second}, options, scaled, solves, IPT__TURNS_##turns},
    IPT__READY_LIST(IPT__READY_ROW)};
