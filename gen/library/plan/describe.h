/* Describing plans. */

enum { IPT__DESCRIPTION_BYTES = 2048 };

/* True if a matrix has the same bytes before and after. */
static int ipt__nothing_moves(const ipt_plan *plan)
{
    return !plan->passes && !plan->problem.array.count && !plan->problem.desc.move && !plan->problem.desc.expression &&
           !ipt__has_formats(&plan->problem.desc) && !plan->problem.pitched &&
           (plan->problem.desc.rows == 1 || plan->problem.desc.cols == 1);
}

/* The description's first words: the matrices, and `number` stages, parts or chunks. */
static IPT__RARE void ipt__describe_matrices(ipt__text *out, const ipt_plan *plan, size_t number, const char *unit)
{
    const ipt_plan_desc *const desc = &plan->problem.desc;
    ipt__text_add(out, "%zu x %zu elements of %zu bytes, %zu %s, %s%ssequence %s, in place: %zu %s%s", desc->rows,
                  desc->cols, desc->elem_size, desc->batch, desc->batch == 1 ? "matrix" : "matrices",
                  desc->move ? ipt_move_string(desc->move) : "", desc->move ? ", " : "",
                  ipt_sequence_string(desc->sequence), number, unit, number == 1 ? "" : "s");
}

/* The last lines: the kernels and `workspace` bytes. */
static IPT__RARE void ipt__describe_memory(ipt__text *out, const ipt_plan *plan, size_t workspace)
{
    int i;
    for (i = 0; plan->device && i < plan->device->kernel_count; ++i) {
        const ipt__program *const program = plan->device->kernels[i].program;
        ipt__text_add(out, "  kernel %s: ", ipt__kernels[program->id].name);
        ipt__params_describe(out, &program->params, ipt__kernels[program->id].uses);
        ipt__text_add(out, "\n");
    }
    ipt__text_add(out, "  workspace: %zu bytes (%.2f %% of the matrices)\n", workspace,
                  100.0 * (double)workspace / ((double)plan->problem.matrix_bytes * (double)plan->problem.desc.batch));
}

/* The description of a plan of stages. */
static IPT__RARE void ipt__describe_stages(ipt__text *out, const ipt_plan *plan)
{
    int i;
    ipt__describe_matrices(out, plan, (size_t)plan->device->layout.stage_count, "stage");
    ipt__text_add(out, "\n");
    if (plan->problem.pitched)
        ipt__text_add(out, "  rows %zu bytes apart before, %zu after\n",
                      plan->problem.source_row * plan->problem.unit_bytes,
                      plan->problem.result_row * plan->problem.unit_bytes);
    if (!plan->device->layout.stage_count)
        ipt__text_add(out, "  nothing to move: one row or one column reads the same either way\n");
    for (i = 0; i < plan->device->layout.stage_count; ++i) {
        ipt__text_add(out, "  %d. ", i + 1);
        ipt__stage_kinds[plan->device->layout.stages[i].kind].describe(out, plan, &plan->device->layout.stages[i]);
    }
    ipt__describe_memory(out, plan, plan->device->layout.workspace);
}

static ipt__text ipt__text_in(char *buffer, size_t capacity)
{
    ipt__text out = {NULL, 0, 0};
    out.text = buffer;
    out.capacity = capacity;
    return out;
}

/* Stores a copy of the text as the plan's description. */
static ipt_result ipt__plan_keep_description(ipt_plan *plan, const char *text)
{
    const size_t bytes = strlen(text) + 1;
    plan->description = (char *)ipt__allocate(&plan->context->allocator, bytes);
    if (!plan->description)
        return IPT_ERROR_OUT_OF_MEMORY;
    memcpy(plan->description, text, bytes);
    return IPT_SUCCESS;
}

/* Adds the description of a plan of a kind. */
typedef void (*ipt__describer)(ipt__text *out, const ipt_plan *plan);

/* Writes a plan's description twice: first to measure it. A plan that lacks workspace has an empty description, because
 * its owner is refused. */
static ipt_result ipt__plan_describe(ipt_plan *plan, ipt__describer describe)
{
    ipt__text out = ipt__text_in(NULL, 0);
    if (!plan->enough)
        describe(&out, plan);
    plan->description = (char *)ipt__allocate(&plan->context->allocator, out.length + 1);
    if (!plan->description)
        return IPT_ERROR_OUT_OF_MEMORY;
    out = ipt__text_in(plan->description, out.length + 1);
    if (!plan->enough)
        describe(&out, plan);
    return IPT_SUCCESS;
}

static ipt_result ipt__plan_write_description(ipt_plan *plan)
{
    return ipt__plan_describe(plan, ipt__describe_stages);
}
