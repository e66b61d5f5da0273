/* The functions of every kind of stage. */

static const struct {
    ipt__need (*need)(const ipt__problem *problem, const ipt__layout *layout, const ipt__stage *stage);
    double (*cost)(const ipt__problem *problem, const ipt__layout *layout, ipt__stage *stage);
} ipt__stage_planners[] = {
#define IPT__STAGE_PLANNER(kind, need, cost, kernels, describe, launch) {ipt__need_##need, ipt__cost_##cost},
    IPT__STAGE_LIST(IPT__STAGE_PLANNER, IPT__IF_PAPERS(IPT__STAGE_PLANNER, IPT__NO_STAGE_PLANNER))};

static ipt_result (*const ipt__stage_kernels[])(ipt_plan *plan, ipt__stage *stage, ipt__params params) = {
#define IPT__STAGE_KERNELS(kind, need, cost, kernels, describe, launch) ipt__kernels_##kernels,
    IPT__STAGE_LIST(IPT__STAGE_KERNELS, IPT__IF_PAPERS(IPT__STAGE_KERNELS, IPT__NO_FUNCTION))};

/* Gets all kernels of a stage. */
static ipt_result ipt__stage_get_kernels(ipt_plan *plan, ipt__stage *stage)
{
    const size_t tiles = stage->kind == IPT__STAGE_SWAP ? 2 : 1;
    ipt__params params = ipt__plan_params(&plan->problem, ipt__stage_units(&plan->problem, stage), tiles);
    ipt__params_apply(&params, &plan->problem.desc, stage->apply);
    return ipt__stage_kernels[stage->kind](plan, stage, params);
}

static ipt_result (*const ipt__stage_launchers[])(ipt__launcher *to, const ipt__stage *stage) = {
#define IPT__STAGE_LAUNCHER(kind, need, cost, kernels, describe, launch) ipt__launch_##launch,
    IPT__STAGE_LIST(IPT__STAGE_LAUNCHER, IPT__IF_PAPERS(IPT__STAGE_LAUNCHER, IPT__NO_FUNCTION))};

/* Adds the launches of one kind of turn, for all offsets. */
static IPT__RARE ipt_result ipt__turn_launch(ipt__launcher *to, const ipt__stage *stage)
{
    const int words = stage->by_words && to->skipped % (IPT__WORD_BYTES / to->plan->problem.unit_bytes) == 0;
    ipt_result result;
    to->by_units = 1;
    to->by_words = !words;
    result = ipt__stage_launchers[stage->kind](to, stage);
    if (result || !words)
        return result;
    to->by_units = 0;
    to->by_words = 1;
    return ipt__stage_launchers[stage->kind](to, stage);
}

/* Adds a stage and its launches. The instances share workspace, so that they may move some at a time. Gapped targets
 * run from the last instance to the first, gapped sources from the first to the last. Either order reads a panel before
 * overwriting it. skipped: units of a matrix before the stage's first instance. */
static IPT__RARE ipt_result ipt__stage_launch(const ipt_plan *plan, const ipt__stage *stage, cl_ulong skipped,
                                              ipt__launches *launches)
{
    ipt__turns *const turns = &launches->stages[launches->stage_count++];
    const size_t batch = plan->problem.desc.batch;
    size_t matrices[2], instances[2];
    int i, j;
    ipt_result result = IPT_SUCCESS;
    turns->first = launches->count;
    turns->matrices = batch;
    turns->matrices_at_once = stage->matrices_at_once ? stage->matrices_at_once : batch;
    turns->instances = stage->instances;
    turns->instances_at_once =
        ipt__min(stage->instances, stage->instances_at_once ? stage->instances_at_once : stage->instances);
    turns->matrix_stride = ipt__matrix_stride(&plan->problem);
    turns->backwards = stage->kind == IPT__STAGE_EXCHANGE ? stage->bands.from_last
                       : stage->kind == IPT__STAGE_SPREAD ? stage->spread[1] > stage->spread[0]
                                                          : !stage->gapped_source;
    matrices[0] = turns->matrices_at_once;
    matrices[1] = batch % turns->matrices_at_once;
    instances[0] = turns->instances_at_once;
    instances[1] = stage->instances % turns->instances_at_once;
    for (i = 0; i < 2 && matrices[i]; ++i)
        for (j = 0; j < 2 && instances[j] && !result; ++j) {
            ipt__launcher to;
            memset(&to, 0, sizeof to);
            to.plan = plan;
            to.launches = launches;
            to.matrices = matrices[i];
            to.instances = instances[j];
            to.skipped = skipped;
            result = ipt__turn_launch(&to, stage);
        }
    turns->end = launches->count;
    return result;
}

static void (*const ipt__stage_describers[])(ipt__text *out, const ipt_plan *plan, const ipt__stage *stage) = {
#define IPT__STAGE_DESCRIBER(kind, need, cost, kernels, describe, launch) ipt__describe_##describe,
    IPT__STAGE_LIST(IPT__STAGE_DESCRIBER, IPT__IF_PAPERS(IPT__STAGE_DESCRIBER, IPT__NO_FUNCTION))};
