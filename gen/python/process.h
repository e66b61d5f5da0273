/* Ends of objects, and the operands of actions, for the extension module. */

/* Set in a child by fork of a process that has used OpenCL. A call of OpenCL would wait for ever there. */
static int ipt_py_forked;

/* cffi calls these for the last reference. They are C, so they work while Python ends. */
static void ipt_py_context_end(ipt_context *context)
{
    if (!ipt_py_forked)
        ipt_context_destroy(context);
}

static void ipt_py_plan_end(ipt_plan *plan)
{
    if (!ipt_py_forked)
        ipt_plan_destroy(plan);
}

static void ipt_py_batch_end(ipt_batch *batch)
{
    if (!ipt_py_forked)
        ipt_batch_destroy(batch);
}

#define IPT_PY_OPERANDS(enumerator, name, operands) operands,
static const char *const ipt_py_operands[] = {IPT_ACTION_LIST(IPT_PY_OPERANDS)};
