/* The functions of every kind of stage. */

typedef struct ipt__stage_functions {
    /* need: workspace without control blocks and flags of waiting work-groups; control: these. */
    ipt__need (*need)(const ipt__problem *problem, const ipt__layout *layout, const ipt__stage *stage);
    ipt__control (*control)(const ipt__problem *problem, const ipt__stage *stage);
    /* Bytes that a copy would move in the same time, without launches. */
    double (*cost)(const ipt__problem *problem, const ipt__layout *layout, ipt__stage *stage);
    int (*reverses)(const ipt__layout *layout, const ipt__stage *stage);
    size_t (*words)(const ipt__stage *stage);
    ipt_result (*kernels)(ipt_plan *plan, ipt__stage *stage, ipt__params params);
    void (*describe)(ipt__text *out, const ipt_plan *plan, const ipt__stage *stage);
    ipt_result (*launch)(ipt__launcher *to, const ipt__stage *stage);
} ipt__stage_functions;

static const ipt__stage_functions ipt__stage_kinds[] = {
#define IPT__STAGE_FUNCTIONS(need, control, cost, reverses, words, kernels, describe, launch)                          \
    {ipt__need_##need,   ipt__control_##control, ipt__cost_##cost,         ipt__reverses_##reverses,                   \
     ipt__words_##words, ipt__kernels_##kernels, ipt__describe_##describe, ipt__launch_##launch},
#define IPT__STAGE_ROW(kind, traits, functions) IPT__STAGE_FUNCTIONS functions
#define IPT__STAGE_LEFT_OUT(kind, traits, functions) {NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL},
#ifndef IPT_NO_BOXES
#define IPT__STAGE_ROW_OF_BOXES IPT__STAGE_ROW
#else
#define IPT__STAGE_ROW_OF_BOXES IPT__STAGE_LEFT_OUT
#endif
#ifndef IPT_NO_VIEWS
#define IPT__STAGE_ROW_OF_VIEWS IPT__STAGE_ROW
#else
#define IPT__STAGE_ROW_OF_VIEWS IPT__STAGE_LEFT_OUT
#endif
#ifndef IPT_NO_PAPERS
#define IPT__STAGE_ROW_OF_PAPERS IPT__STAGE_ROW
#else
#define IPT__STAGE_ROW_OF_PAPERS IPT__STAGE_LEFT_OUT
#endif
    IPT__STAGE_LIST(IPT__STAGE_ROW, IPT__STAGE_ROW_OF_BOXES, IPT__STAGE_ROW_OF_VIEWS, IPT__STAGE_ROW_OF_PAPERS)};

/* Gets all kernels of a stage. */
static ipt_result ipt__stage_get_kernels(ipt_plan *plan, ipt__stage *stage)
{
    ipt__params params = ipt__plan_params(&plan->problem, ipt__stage_units(&plan->problem, stage));
    ipt__params_apply(&params, &plan->problem.desc, stage->apply);
    return ipt__stage_kinds[stage->kind].kernels(plan, stage, params);
}

/* Adds the launches for one size of turn, for aligned and unaligned offsets. */
static IPT__RARE ipt_result ipt__turn_launch(ipt__launcher *to, const ipt__stage *stage)
{
    const int words = stage->by_words && to->skipped % (IPT__WORD_BYTES / to->plan->problem.unit_bytes) == 0;
    ipt_result result;
    to->by_units = 1;
    to->by_words = !words;
    result = ipt__stage_kinds[stage->kind].launch(to, stage);
    if (result || !words)
        return result;
    to->by_units = 0;
    to->by_words = 1;
    return ipt__stage_kinds[stage->kind].launch(to, stage);
}

/* Adds a stage and its launches. Instances share the workspace, so only some may move at a time. Gapped targets need
 * the sequence from the last instance to the first, gapped sources from the first to the last: each panel is read
 * before it is overwritten. skipped: units of a matrix before the stage's first instance. */
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
    turns->backwards = stage->last_first;
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
