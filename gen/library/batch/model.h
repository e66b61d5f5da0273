/* Execution models of batch plans: which work-items serve an element, and where they find it. */

IPT_API const char *ipt_layout_string(ipt_layout layout)
{
#define IPT__LAYOUT_NAME(enumerator, name) name,
    static const char *const names[] = {IPT_LAYOUT_LIST(IPT__LAYOUT_NAME)};
    return (int)layout < 0 || layout >= IPT__LAYOUT_COUNT ? "unknown" : names[layout];
}

IPT_API const char *ipt_model_string(ipt_model model)
{
#define IPT__MODEL_NAME(enumerator, name) name,
    static const char *const names[] = {IPT_MODEL_LIST(IPT__MODEL_NAME)};
    return (int)model < 0 || model >= IPT__MODEL_COUNT ? "unknown" : names[model];
}

/* An operand, checked and completed. */
typedef struct ipt__batch_operand {
    ipt_batch_operand given;
    size_t type_bytes, components; /* rows * cols */
    size_t span;                   /* components of the buffer, from the first to the last */
    size_t vector;                 /* components that a load takes at once */
    size_t local;                  /* byte where it begins in local memory */
    size_t pitch;                  /* components from row to row where the action finds them */
} ipt__batch_operand;

/* Where an action finds its element, as in parts/actions.cl. */
enum { IPT__HOLD_LOCAL, IPT__HOLD_STAGED, IPT__HOLD_REGISTERS, IPT__HOLD_MEMORY };

/* How a batch runs. It follows from the problem alone. */
typedef struct ipt__batch_choice {
    ipt_model model;
    size_t lanes, group_size;
    int hold, interleaved;
    size_t local_bytes; /* of operands, a multiple of 16 */
} ipt__batch_choice;

/* What the choice depends on. */
typedef struct ipt__batch_problem {
    ipt__batch_operand operands[IPT_MAX_OPERANDS];
    size_t operand_count, count;
    size_t element_bytes; /* of all operands */
    size_t alignment;     /* of operands in local memory: the longest type, at least 16 */
    size_t sum_bytes;     /* local memory of a work-item for IPT_SUM */
    ipt__limits limits;
} ipt__batch_problem;

enum {
    IPT__BATCH_GROUP = 64,         /* work-items: two of NVIDIA's sub-groups. Larger groups leave registers unused */
    IPT__BATCH_REGISTERS = 512,    /* most bytes of an element in a work-item's registers, half of NVIDIA's */
    IPT__BATCH_LANES = 32,         /* most work-items of an element that share a sub-group */
    IPT__BATCH_INTERLEAVED = 1536, /* bytes of an element above which its lanes are neighbours */
    IPT__BATCH_WHOLE = 10240,      /* the same above which a work-group serves it */
    IPT__BATCH_LOCAL = 110592      /* most local memory on NVIDIA's GPUs, which give more than they report */
};

static size_t ipt__power_of_two_from(size_t least)
{
    size_t power = 1;
    while (power < least)
        power *= 2;
    return power;
}

/* Bytes of local memory that operands may take in a work-group of group_size work-items. */
static size_t ipt__batch_local_most(const ipt__batch_problem *problem, size_t group_size)
{
    const ipt__limits *const limits = &problem->limits;
    const size_t most = limits->nvidia && !limits->local_is_limited ? (size_t)IPT__BATCH_LOCAL : limits->local_memory,
                 taken = problem->sum_bytes * group_size + 64;
    return most > taken ? (most - taken) / 16 * 16 : 0;
}

/* Sets where the operands lie in local memory, and its size. */
static void ipt__batch_place(ipt__batch_problem *problem, ipt__batch_choice *choice)
{
    const size_t elements = choice->group_size / choice->lanes;
    const int interleaved = choice->hold == IPT__HOLD_LOCAL && (choice->lanes == 1 || choice->interleaved);
    const int pads = choice->hold == IPT__HOLD_LOCAL && !interleaved;
    size_t i, at = 0;
    choice->local_bytes = 0;
    for (i = 0; i < problem->operand_count; ++i) {
        problem->operands[i].pitch = problem->operands[i].given.cols | (pads ? 1 : 0);
        problem->operands[i].local = 0; /* of a model that was tried before */
    }
    if (choice->hold > IPT__HOLD_STAGED)
        return;
    for (i = 0; i < problem->operand_count; ++i) {
        ipt__batch_operand *const operand = &problem->operands[i];
        const size_t values = interleaved ? operand->components * (elements == 1 ? 1 : elements + 1)
                                          : elements * (operand->given.rows * operand->pitch | 1);
        operand->local = choice->hold == IPT__HOLD_STAGED ? 0 : at;
        at = ipt__round_up(operand->local + values * operand->type_bytes, problem->alignment);
        choice->local_bytes = ipt__max(choice->local_bytes, at);
    }
}

/* Whether the device can run a choice. *why: a reason against it, for a message. */
static int ipt__batch_fits(ipt__batch_problem *problem, ipt__batch_choice *choice, char why[160])
{
    const size_t most = ipt__batch_local_most(problem, choice->group_size);
    ipt__batch_place(problem, choice);
    if (choice->group_size > problem->limits.largest_group) {
        ipt__print(why, 160, "its work-groups have %zu work-items, the device's at most %zu", choice->group_size,
                   problem->limits.largest_group);
        return 0;
    }
    if (choice->local_bytes > most) {
        ipt__print(why, 160, "a work-group's elements take %zu bytes of local memory, and %zu are there",
                   choice->local_bytes, most);
        return 0;
    }
    if ((choice->hold == IPT__HOLD_STAGED || choice->hold == IPT__HOLD_REGISTERS) &&
        problem->element_bytes > 4 * IPT__BATCH_REGISTERS) {
        ipt__print(why, 160, "an element takes %zu bytes, and registers hold at most %d", problem->element_bytes,
                   4 * IPT__BATCH_REGISTERS);
        return 0;
    }
    return 1;
}

/* The longest side of an element's operands. */
static size_t ipt__batch_side(const ipt__batch_problem *problem)
{
    size_t i, side = 1;
    for (i = 0; i < problem->operand_count; ++i)
        side = ipt__max(side, problem->operands[i].given.rows);
    return side;
}

/* A model's lanes, work-groups and memory; what the desc gives counts. Halves work-groups whose elements exceed local
 * memory. */
static IPT__RARE int ipt__batch_choose(ipt__batch_problem *problem, const ipt_batch_desc *desc, ipt_model model,
                                       ipt__batch_choice *choice, char why[160])
{
    const int shares = model == IPT_MODEL_GROUP || model == IPT_MODEL_INTERLEAVED,
              whole = model == IPT_MODEL_WORK_GROUP || model == IPT_MODEL_LARGE;
    size_t least = 1, group = ipt__min((size_t)IPT__BATCH_GROUP, problem->limits.group_size);
    memset(choice, 0, sizeof *choice);
    choice->model = model;
    choice->interleaved = model == IPT_MODEL_INTERLEAVED;
    choice->hold = model == IPT_MODEL_REGISTERS                            ? (int)IPT__HOLD_STAGED
                   : model == IPT_MODEL_MEMORY || model == IPT_MODEL_LARGE ? (int)IPT__HOLD_MEMORY
                                                                           : (int)IPT__HOLD_LOCAL;
    choice->lanes = 1;
    while (group & (group - 1)) /* a power of two */
        group &= group - 1;
    if (shares) {
        choice->lanes = desc->lanes ? desc->lanes
                                    : ipt__min(ipt__power_of_two_from(ipt__max(2, ipt__batch_side(problem))),
                                               ipt__min((size_t)IPT__BATCH_LANES, group));
        least = choice->lanes;
        group = ipt__max(group, least);
    }
    if (whole) /* as many lanes as the largest operand has rows, and several columns at a time */
        while (group < problem->limits.group_size && group * group < problem->element_bytes)
            group *= 2;
    choice->group_size = desc->group_size ? desc->group_size : group;
    if (whole)
        choice->lanes = choice->group_size;
    while (!ipt__batch_fits(problem, choice, why)) {
        if (desc->group_size || whole || choice->group_size / 2 < least || !choice->local_bytes)
            return 0;
        choice->group_size /= 2;
        choice->lanes = ipt__min(choice->lanes, choice->group_size);
    }
    return 1;
}

/* The model for elements of this size, among those that fit. CPUs have caches instead of local memory. On an H200 in
 * microseconds, interleaved, neighbouring lanes, work-groups: Cholesky decompositions of 8 x 8 doubles 188, 219, 1310,
 * of 16 x 16 377, 317, 850, of 32 x 32 1005, 585, 664; products of 8 x 8 doubles (1.5 KB) 74, 75, 256, of 16 x 16 96,
 * 86, 124, of 32 x 32 floats (12 KB) 131, 151, 94. */
static IPT__RARE int ipt__batch_choose_model(ipt__batch_problem *problem, const ipt_batch_desc *desc,
                                             ipt__batch_choice *choice, char why[160])
{
    static const ipt_model larger[] = {IPT_MODEL_INTERLEAVED, IPT_MODEL_GROUP, IPT_MODEL_WORK_GROUP, IPT_MODEL_LARGE};
    size_t i = (problem->element_bytes > IPT__BATCH_INTERLEAVED) + (problem->element_bytes > IPT__BATCH_WHOLE);
    if (problem->limits.cpu)
        return ipt__batch_choose(problem, desc, IPT_MODEL_MEMORY, choice, why);
    if (problem->element_bytes <= IPT__BATCH_REGISTERS &&
        ipt__batch_choose(problem, desc, IPT_MODEL_REGISTERS, choice, why))
        return 1;
    for (; i < sizeof larger / sizeof *larger; ++i)
        if (ipt__batch_choose(problem, desc, larger[i], choice, why))
            return 1;
    return 0;
}
