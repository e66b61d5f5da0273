/* Methods propose layouts, the lists of a plan's stages. methods/method_list.h lists all methods. */

/* The limits of a proposal. */
typedef struct ipt__scope {
    size_t budget;      /* bytes of workspace; 0: as few as possible */
    size_t above, most; /* bytes of two passes' super-elements or an exchange's runs: > above, <= most */
} ipt__scope;

/* A method's answer. */
typedef struct ipt__proposal {
    ipt__layout layout;
    int found;   /* the method has a layout */
    int settled; /* no later method in the list has a better layout */
} ipt__proposal;

typedef struct ipt__method {
    char name[12];
    int classes; /* of lengths (up to 128, 256 ... bytes), compared by IPT_MEASURE; 0: the method has one layout */
    int moves;   /* what the method moves: IPT__MOVES_... */
    int (*applies)(const ipt__problem *problem);
    /* Gets the cooperative kernel for the method. *done: later methods need none. NULL: the method uses none. */
    ipt_result (*seek)(ipt_plan *plan, int *done);
    ipt_result (*propose)(const ipt__problem *problem, const ipt__scope *scope, ipt__proposal *made);
} ipt__method;

static const ipt__scope ipt__any_length = {0, 0, ~(size_t)0};

/* Whether a matrix has one row or one column: its transposition is itself. */
static int ipt__is_vector(const ipt_plan_desc *desc)
{
    return desc->rows == 1 || desc->cols == 1;
}

/* Whether the planner chooses the method and its lengths. */
static int ipt__is_free(const ipt_plan_desc *desc)
{
    return desc->sequence == IPT_SEQUENCE_AUTO && !ipt__super_length(desc);
}

/* Parameters of the cooperative kernels for a plan. */
static ipt__params ipt__cooperative_params(const ipt__problem *problem)
{
    ipt__params params = ipt__plan_params(problem, problem->element_units);
    ipt__params_apply(&params, &problem->desc, ipt__applies_anywhere(problem));
    params.index_bits = 32;
    params.tall = problem->desc.rows >= problem->desc.cols;
    return params;
}

/* Whether the device can run cooperative kernels, and they can serve the desc. */
static int ipt__plan_may_cooperate(const ipt__problem *problem)
{
    const ipt_plan_desc *const desc = &problem->desc;
    const ipt__limits *const limits = &problem->limits;
    if (!limits->cooperative || limits->group_size < 64 || (desc->flags & IPT_NO_COOPERATIVE))
        return 0;
    if (problem->array.count)
        return 1;
    if (ipt__is_vector(desc) || ipt__has_formats(desc) || ipt__pads(desc) || !ipt__moves[desc->move].transposed)
        return 0;
    return desc->sequence != IPT_SEQUENCE_AUTO ||
           (!ipt__problem_swaps(problem) && !ipt__swap_places(problem) &&
            (problem->pitched || problem->matrix_bytes > ipt__local_budget(limits))); /* tiles have no gaps */
}

/* Gets the cooperative kernel with these parameters for the plan, if the device has one. */
static ipt_result ipt__plan_take_cooperative(ipt_plan *plan, ipt__kernel_id id, const ipt__params *params,
                                             ipt__program **program, ipt__cooperative_kernel *kernel)
{
    const int cache_only = (plan->problem.desc.flags & IPT_CACHE_ONLY) != 0;
    const ipt_result result = ipt__cooperative_get(plan->context, id, *params, cache_only, program, &kernel->resident);
    if (result || !*program) {
        kernel->resident = 0;
        return result;
    }
    kernel->local_bytes = (*program)->params.local_bytes;
    kernel->group_size = (*program)->params.group_size;
    kernel->tall = (int)params->tall;
    kernel->narrow = (int)params->narrow;
    kernel->by_words = (int)params->by_words;
    kernel->registers = params->registers;
    return IPT_SUCCESS;
}

static ipt_result ipt__plan_take_panel(ipt_plan *plan, const ipt__params *params)
{
    return ipt__plan_take_cooperative(plan, IPT__KERNEL_panel, params, &plan->device->panel, &plan->problem.panel);
}
