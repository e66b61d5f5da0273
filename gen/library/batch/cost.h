/* The cost model of batch plans: the time of an execution without the transfer of its operands. The transfer takes as
 * long in all models. */

/* The work of the caller's action: a turn for each component, or in loops a turn for each row of the longest side. */
static ipt__batch_work ipt__batch_own_work(const ipt__batch_problem *problem, size_t lanes)
{
    const double side = ipt__real(ipt__batch_side(problem));
    ipt__batch_work work = {0, 0};
    size_t i;
    for (i = 0; i < problem->operand_count; ++i)
        work.turns += ipt__real(problem->operands[i].components) * (problem->loops ? side : 1);
    work.turns /= ipt__real(lanes);
    if (lanes > 1)
        work.barriers =
            problem->barriers * (problem->loops ? side : 1) + problem->sums * (2 + 2 * ipt__batch_log2(lanes));
    return work;
}

static IPT__RARE ipt__batch_work ipt__batch_work_of(const ipt__batch_problem *problem, size_t lanes)
{
    ipt__batch_work work;
    if (problem->ready == IPT_ACTION_NONE)
        return ipt__batch_own_work(problem, lanes);
    work = ipt__ready_work(problem->ready, problem->m, problem->n, problem->k, lanes);
    if (ipt__readies[problem->ready].solves)
        work.turns += ipt__batch_substitute(problem->m, problem->n, lanes);
    return work;
}

static const struct {
    double element, barrier, turns[IPT__TURN_KINDS], far_byte, near_byte;
} ipt__batch_costs[] = {
#define IPT__BATCH_COST(model, element, barrier, plain, pivoted, inverse, far_byte, near_byte)                         \
    {element, barrier, {plain, pivoted, inverse}, far_byte, near_byte},
    IPT__BATCH_COST_LIST(IPT__BATCH_COST)};
typedef char
    ipt__batch_costs_has_all_models[sizeof ipt__batch_costs / sizeof *ipt__batch_costs == IPT__MODEL_COUNT ? 1 : -1];

/* The factor of a turn's time if neighbouring work-items read distant places of the buffers. Caches reduce it if an
 * action reads each component once. They do not if the strides are whole sectors, which share few of a cache's sets. */
static double ipt__batch_far(const ipt__batch_problem *problem)
{
    size_t i;
    const ipt__tuning *const model = ipt__tuning_of(&problem->limits);
    int shared = problem->ready != IPT_ACTION_DOT;
    for (i = 0; i < problem->operand_count; ++i) {
        const ipt__batch_operand *const operand = &problem->operands[i];
        shared |= operand->given.layout == IPT_LAYOUT_ELEMENTS && operand->given.stride * operand->type_bytes % 32 == 0;
    }
    return shared ? model->batch_far : model->batch_far_once;
}

/* The terms of a choice's cost. */
typedef struct ipt__batch_terms {
    double barriers, turns, far_bytes, near_bytes; /* of a lane. Turns of 4-byte types count less */
    double waves, items; /* of a compute unit: work-groups in sequence, and work-items. Both are at least those of
                            one work-group, and a work-group counts as one sub-group at least */
} ipt__batch_terms;

static ipt__batch_terms ipt__batch_terms_of(const ipt__batch_problem *problem, const ipt__batch_choice *choice)
{
    const double type = ipt__real(problem->operands[0].type_bytes), units = ipt__real(problem->limits.compute_units);
    const double groups = ipt__real(ipt__ceil_divide(problem->count, choice->group_size / choice->lanes));
    const double waves = groups / (units * ipt__real(ipt__batch_resident(problem, choice))), each = groups / units;
    const ipt__batch_work work = ipt__batch_work_of(problem, choice->lanes);
    ipt__batch_terms terms;
    terms.barriers = work.barriers;
    terms.turns = work.turns * (type + 4) / 8;
    if (choice->model == IPT_MODEL_MEMORY && problem->far_bytes)
        terms.turns *= ipt__batch_far(problem);
    terms.far_bytes = ipt__real(problem->far_bytes) / ipt__real(choice->lanes);
    terms.near_bytes = ipt__real(problem->element_bytes - problem->far_bytes) / ipt__real(choice->lanes);
    terms.waves = waves > 1 ? waves : 1;
    terms.items = (each > 1 ? each : 1) * ipt__real(ipt__max(choice->group_size, IPT__BATCH_LANES));
    return terms;
}

/* The nanoseconds of a choice without the transfer. Work-groups that run on a compute unit at a time overlap. */
static IPT__RARE double ipt__batch_cost(const ipt__batch_problem *problem, const ipt__batch_choice *choice)
{
    const ipt__batch_terms terms = ipt__batch_terms_of(problem, choice);
    const double lane = ipt__batch_costs[choice->model].element +
                        terms.barriers * ipt__batch_costs[choice->model].barrier +
                        terms.turns * ipt__batch_costs[choice->model].turns[ipt__readies[problem->ready].turns] +
                        terms.far_bytes * ipt__batch_costs[choice->model].far_byte +
                        terms.near_bytes * ipt__batch_costs[choice->model].near_byte;
    return lane * (terms.waves + terms.items / ipt__tuning_of(&problem->limits)->batch_width);
}

/* Whether the planner considers a model. A CPU's local memory is cached memory, so copies to it gain nothing. Programs
 * of long elements in registers compile for seconds. They gain little if the elements pass through local memory. */
static int ipt__batch_considers(const ipt__batch_problem *problem, ipt_model model)
{
    const size_t registers = problem->far_bytes || ipt__readies[problem->ready].turns != IPT__TURNS_PLAIN
                                 ? IPT__BATCH_REGISTERS / 2
                                 : IPT__BATCH_REGISTERS;
    return problem->limits.cpu ? model == IPT_MODEL_MEMORY
                               : model != IPT_MODEL_REGISTERS || problem->element_bytes <= registers;
}

/* Makes the cheapest choice that the desc allows. Returns 0 if the device can run no candidate; *why: the reason
 * against the last one. */
static IPT__RARE int ipt__batch_choose(ipt__batch_problem *problem, const ipt_batch_desc *desc,
                                       ipt__batch_choice *choice, char why[160])
{
    double least = 0;
    size_t i, best = IPT__BATCH_CANDIDATES;
#ifndef IPT_NO_PAPERS
    if (desc->method)
        return ipt__batch_choose_published(problem, choice, why);
#endif
    for (i = 0; i < IPT__BATCH_CANDIDATES; ++i) {
        double cost;
        if (!desc->model && !ipt__batch_considers(problem, ipt__batch_candidates[i].model))
            continue;
        if (!ipt__batch_candidate(problem, desc, i, choice, why))
            continue;
        cost = ipt__batch_cost(problem, choice);
        if (best == IPT__BATCH_CANDIDATES || cost < least) {
            least = cost;
            best = i;
        }
    }
    return best < IPT__BATCH_CANDIDATES && ipt__batch_candidate(problem, desc, best, choice, why);
}
