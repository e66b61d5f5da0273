/* Execution models of batch plans: which work-items serve an element, and where they find it. */

IPT_API const char *ipt_layout_string(ipt_layout layout)
{
    return ipt__name_at(IPT_LAYOUT_LIST(IPT__NAME_ROW), (int)layout, IPT__LAYOUT_COUNT);
}

IPT_API const char *ipt_model_string(ipt_model model)
{
    return ipt__name_at(IPT_MODEL_LIST(IPT__NAME_ROW), (int)model, IPT__MODEL_COUNT);
}

/* An operand, checked and completed. */
typedef struct ipt__batch_operand {
    ipt_batch_operand given;
    size_t type_bytes, components; /* rows * cols */
    size_t span;                   /* components of the buffer, from the first to the last */
    size_t load_parts;             /* components that a load takes at once */
    size_t local;                  /* byte where it begins in local memory */
    size_t pitch;                  /* components from row to row in the memory that the action reads */
} ipt__batch_operand;

/* Where an action finds its element, as in parts/actions.cl. */
enum { IPT__HOLD_LOCAL, IPT__HOLD_STAGED, IPT__HOLD_REGISTERS, IPT__HOLD_MEMORY };

/* How a batch runs: a function of the problem. */
typedef struct ipt__batch_choice {
    ipt_model model;
    size_t lanes, group_size;
    int hold, interleaved; /* interleaved: neighbouring work-items have different elements */
    size_t local_bytes;    /* of operands, a multiple of 16 */
} ipt__batch_choice;

/* The inputs of the choice. */
typedef struct ipt__batch_problem {
    ipt__batch_operand operands[IPT_MAX_OPERANDS];
    size_t operand_count, count;
    size_t element_bytes; /* of all operands */
    size_t far_bytes;     /* of operands with layout ELEMENTS and several components */
    size_t alignment;     /* of operands in local memory: the longest type, at least 16 */
    size_t sum_bytes;     /* local memory of a work-item for IPT_SUM */
    ipt_action ready;
    size_t m, n, k;                    /* of a ready action, as in IPT_ACTION_LIST */
    int shares, loops, barriers, sums; /* counts in the text of the caller's action. shares: IPT_LANE, IPT_FOR_LANES */
    ipt__limits limits;
} ipt__batch_problem;

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
    const size_t most = ipt__gives_more_local(limits) ? (size_t)IPT__CHUNK_BYTES_LARGE : limits->local_memory,
                 taken = problem->sum_bytes * group_size + 64;
    return most > taken ? (most - taken) / 16 * 16 : 0;
}

/* Sets where the operands lie in local memory, and its size. */
static void ipt__batch_place(ipt__batch_problem *problem, ipt__batch_choice *choice)
{
    const size_t elements = choice->group_size / choice->lanes;
    const int interleaved = choice->hold == IPT__HOLD_LOCAL && (choice->lanes == 1 || choice->interleaved);
    /* An odd pitch puts the lanes' rows into different banks. Interleaved elements need none if a sub-group's lanes all
     * have different elements, or if the action reads columns, as gemm does. */
    const int pads = choice->hold == IPT__HOLD_LOCAL && choice->lanes > 1 &&
                     !(interleaved && (elements >= IPT__BATCH_LANES || problem->ready == IPT_ACTION_GEMM));
    size_t i, at = 0;
    choice->local_bytes = 0;
    for (i = 0; i < problem->operand_count; ++i) {
        problem->operands[i].pitch = problem->operands[i].given.cols | (pads ? 1 : 0);
        problem->operands[i].local = 0; /* the former choice may have set it */
    }
    if (choice->hold > IPT__HOLD_STAGED)
        return;
    for (i = 0; i < problem->operand_count; ++i) {
        ipt__batch_operand *const operand = &problem->operands[i];
        const size_t values = operand->given.rows * operand->pitch,
                     held = interleaved ? values * (elements == 1 ? 1 : elements + 1) : elements * (values | 1);
        operand->local = choice->hold == IPT__HOLD_STAGED ? 0 : at;
        at = ipt__round_up(operand->local + held * operand->type_bytes, problem->alignment);
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
    if (problem->limits.largest_group == 1 && choice->hold != IPT__HOLD_MEMORY) {
        ipt__print(why, 160, "the device's work-groups have one work-item, which works in the buffers: model memory");
        return 0;
    }
    if (choice->local_bytes > most) {
        ipt__print(why, 160, "a work-group's elements take %zu bytes of local memory, and %zu are there",
                   choice->local_bytes, most);
        return 0;
    }
    if (choice->lanes > 1 && !problem->shares) {
        ipt__print(why, 160, "the action names neither IPT_FOR_LANES nor IPT_LANE, so one work-item computes it");
        return 0;
    }
    if ((choice->hold == IPT__HOLD_STAGED || choice->hold == IPT__HOLD_REGISTERS) &&
        problem->element_bytes > IPT__BATCH_REGISTERS) {
        ipt__print(why, 160, "an element takes %zu bytes, and registers hold at most %d", problem->element_bytes,
                   IPT__BATCH_REGISTERS);
        return 0;
    }
    return 1;
}

/* The number of work-groups that run on a compute unit at a time, by registers, local memory and its limits. */
static size_t ipt__batch_resident(const ipt__batch_problem *problem, const ipt__batch_choice *choice)
{
    const ipt__limits *const limits = &problem->limits;
    const size_t local = limits->nvidia ? (size_t)IPT__UNIT_LOCAL : limits->local_memory,
                 its = choice->local_bytes + problem->sum_bytes * choice->group_size;
    size_t groups = ipt__min((size_t)IPT__UNIT_GROUPS, IPT__UNIT_ITEMS / choice->group_size);
    if (its)
        groups = ipt__min(groups, local / (its + 1024)); /* an NVIDIA driver takes 1 KB a work-group */
    if (choice->hold == IPT__HOLD_STAGED || choice->hold == IPT__HOLD_REGISTERS)
        groups = ipt__min(groups, IPT__UNIT_REGISTERS / ((32 + problem->element_bytes / 4) * choice->group_size));
    return ipt__max(1, groups);
}

/* Sets the smallest work-group with which a compute unit holds the most work-items (Ha et al. 2013, section III.E.1),
 * from two sub-groups on, or four with interleaved elements, by powers of two. As published: from one sub-group on, one
 * more at a time. lanes = 0: the whole work-group. Returns 0 if none fits. */
static IPT__RARE int ipt__batch_find_group(ipt__batch_problem *problem, int published, ipt__batch_choice *choice,
                                           char why[160])
{
    const size_t start = (size_t)IPT__BATCH_LANES * (published             ? 1
                                                     : choice->interleaved ? 4
                                                                           : 2),
                 lanes = choice->lanes,
                 largest = published ? ipt__min(1024, problem->limits.largest_group) : problem->limits.group_size;
    size_t group = ipt__power_of_two_from(ipt__max(lanes, ipt__min(start, largest))), best = 0, most = 0;
    for (; group <= largest; group += published ? (size_t)IPT__BATCH_LANES : group) {
        choice->group_size = group;
        choice->lanes = lanes ? lanes : group;
        if (!ipt__batch_fits(problem, choice, why))
            break;
        if (ipt__batch_resident(problem, choice) * group > most) {
            most = ipt__batch_resident(problem, choice) * group;
            best = group;
        }
    }
    if (!best && !published) /* the first size does not fit: try smaller ones */
        for (choice->group_size = group; choice->group_size > choice->lanes && !best;) {
            choice->group_size /= 2;
            best = ipt__batch_fits(problem, choice, why) ? choice->group_size : 0;
        }
    choice->group_size = best ? best : choice->group_size;
    choice->lanes = lanes ? lanes : choice->group_size;
    choice->interleaved = choice->interleaved && choice->group_size > choice->lanes;
    return best && ipt__batch_fits(problem, choice, why);
}

/* The longest side of an element's operands. */
static size_t ipt__batch_side(const ipt__batch_problem *problem)
{
    size_t i, side = 1;
    for (i = 0; i < problem->operand_count; ++i)
        side = ipt__max(side, problem->operands[i].given.rows);
    return side;
}

/* The candidates for a plan. With GROUP and INTERLEAVED, the longest side has `part` times as many rows as an element
 * has lanes. */
static const struct {
    ipt_model model;
    size_t part;
} ipt__batch_candidates[] = {{IPT_MODEL_REGISTERS, 1},   {IPT_MODEL_ITEM, 1},        {IPT_MODEL_MEMORY, 1},
                             {IPT_MODEL_GROUP, 1},       {IPT_MODEL_GROUP, 2},       {IPT_MODEL_GROUP, 4},
                             {IPT_MODEL_INTERLEAVED, 1}, {IPT_MODEL_INTERLEAVED, 2}, {IPT_MODEL_INTERLEAVED, 4},
                             {IPT_MODEL_WORK_GROUP, 1},  {IPT_MODEL_LARGE, 1}};
enum { IPT__BATCH_CANDIDATES = sizeof ipt__batch_candidates / sizeof *ipt__batch_candidates };

/* Begins the choice of a model. */
static ipt__batch_choice ipt__batch_choice_of(ipt_model model)
{
    ipt__batch_choice choice;
    memset(&choice, 0, sizeof choice);
    choice.model = model;
    choice.interleaved = model == IPT_MODEL_INTERLEAVED;
    choice.hold = model == IPT_MODEL_REGISTERS                            ? (int)IPT__HOLD_STAGED
                  : model == IPT_MODEL_MEMORY || model == IPT_MODEL_LARGE ? (int)IPT__HOLD_MEMORY
                                                                          : (int)IPT__HOLD_LOCAL;
    return choice;
}

#ifndef IPT_NO_PAPERS
/* The choice of Ha et al. 2013: a work-item to a tiny element in planes, a group of a sub-group's lanes to one whose
 * sides are shorter than a sub-group, else a work-group (sections III.B to III.E). */
static IPT__RARE int ipt__batch_choose_published(ipt__batch_problem *problem, ipt__batch_choice *choice, char why[160])
{
    const int alone = !problem->far_bytes || !problem->shares;
    const size_t side = ipt__batch_side(problem);
    const ipt_model models[] = {alone                             ? IPT_MODEL_ITEM
                                : side < (size_t)IPT__BATCH_LANES ? IPT_MODEL_GROUP
                                                                  : IPT_MODEL_WORK_GROUP,
                                alone ? IPT_MODEL_INTERLEAVED : IPT_MODEL_WORK_GROUP, IPT_MODEL_LARGE,
                                IPT_MODEL_MEMORY};
    size_t i;
    for (i = 0; i < 4; ++i) {
        *choice = ipt__batch_choice_of(models[i]);
        choice->lanes = models[i] == IPT_MODEL_ITEM || models[i] == IPT_MODEL_MEMORY ? 1
                        : models[i] == IPT_MODEL_GROUP || models[i] == IPT_MODEL_INTERLEAVED
                            ? ipt__max(2, ipt__min(ipt__power_of_two_from(side), (size_t)IPT__BATCH_LANES))
                            : 0;
        if (ipt__batch_find_group(problem, 1, choice, why))
            return 1;
    }
    return 0;
}
#endif

/* Makes the choice of a model, its lanes (0: a whole work-group) and group_size (0: chosen). Returns 0 if the device
 * cannot run it; *why: the reason. */
static IPT__RARE int ipt__batch_try(ipt__batch_problem *problem, ipt_model model, size_t lanes, size_t group_size,
                                    ipt__batch_choice *choice, char why[160])
{
    size_t group = 64;
    *choice = ipt__batch_choice_of(model);
    if (lanes && !group_size) {
        choice->lanes = lanes;
        return ipt__batch_find_group(problem, 0, choice, why);
    }
    /* A whole work-group: as many lanes as the largest operand has rows, and several columns at a time. */
    while (group > problem->limits.group_size)
        group /= 2;
    while (2 * group <= problem->limits.group_size && group * group < problem->element_bytes)
        group *= 2;
    choice->group_size = group_size ? group_size : group;
    choice->lanes = lanes ? lanes : choice->group_size;
    choice->interleaved = choice->interleaved && choice->group_size > choice->lanes;
    return ipt__batch_fits(problem, choice, why);
}

/* Makes the choice of a candidate, with the desc's lanes and group_size if they are not 0. Returns 0 if the desc rules
 * the candidate out or the device cannot run it. */
static IPT__RARE int ipt__batch_candidate(ipt__batch_problem *problem, const ipt_batch_desc *desc, size_t index,
                                          ipt__batch_choice *choice, char why[160])
{
    const ipt_model model = ipt__batch_candidates[index].model;
    const size_t part = ipt__batch_candidates[index].part, side = ipt__power_of_two_from(ipt__batch_side(problem)),
                 most = ipt__min((size_t)IPT__BATCH_LANES, problem->limits.group_size);
    size_t lanes = model == IPT_MODEL_WORK_GROUP || model == IPT_MODEL_LARGE ? 0 : 1;
    if (desc->model && desc->model != model)
        return 0;
    if (model == IPT_MODEL_GROUP || model == IPT_MODEL_INTERLEAVED) {
        if (desc->lanes ? part > 1 : part > 1 && ipt__min(side, most) < 2 * part)
            return 0; /* another candidate has these sizes */
        lanes = ipt__max(1, ipt__min(ipt__max(2, side), most) / part);
        while (lanes & (lanes - 1)) /* a power of two */
            lanes &= lanes - 1;
        lanes = desc->lanes ? desc->lanes : desc->group_size ? ipt__min(lanes, desc->group_size) : lanes;
    }
    return ipt__batch_try(problem, model, lanes, desc->group_size, choice, why);
}
