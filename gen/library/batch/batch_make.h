/* Batch plans: checks of the desc, choice of a model, its program, description, destruction. */

enum { IPT__BATCH_ARGUMENT_BYTES = 32 }; /* bytes of the kernel's words for `a` */

struct ipt_batch {
    ipt_context *context;
    ipt__batch_problem problem;
    ipt__batch_choice choice;
    size_t argument_bytes;
    size_t max_device_memory; /* the desc's */
    ipt__program *program;
    char *names;        /* owns the operands' names and types */
    IPT_LOCK_TYPE lock; /* guards the kernel's arguments */
    cl_kernel kernel;
    char description[1024];
};

static int ipt__is_identifier(const char *name)
{
    const size_t letters = strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789");
    return *name && !(*name >= '0' && *name <= '9') && !name[letters] && letters < 32;
}

/* Completes an operand's components, stride and span. Returns 0 if they overflow. */
static int ipt__batch_measure(ipt__batch_operand *operand, size_t count)
{
    ipt_batch_operand *const given = &operand->given;
    size_t last = count - 1, unit = 1, rows;
    operand->components = given->rows;
    if (!ipt__multiply(&operand->components, given->cols))
        return 0;
    rows = operand->components;
    switch (given->layout) {
    case IPT_LAYOUT_ELEMENTS:
        given->stride = given->stride ? given->stride : operand->components;
        unit = operand->components;
        break;
    case IPT_LAYOUT_PLANES:
        given->stride = given->stride ? given->stride : count;
        last = operand->components - 1;
        unit = count;
        break;
    default:
        if (!ipt__multiply(&rows, given->width))
            return 0;
        given->stride = given->stride ? given->stride : rows;
        last = (count - 1) / given->width;
        unit = rows - given->width + (count - 1) % given->width + 1;
    }
    operand->span = last;
    if (!ipt__multiply(&operand->span, given->stride) || operand->span > (size_t)-1 - unit)
        return 0;
    operand->span += unit;
    last = operand->span;
    return ipt__multiply(&last, operand->type_bytes);
}

/* The smallest stride with which no elements overlap. */
static size_t ipt__batch_least_stride(const ipt__batch_operand *operand, size_t count)
{
    return operand->given.layout == IPT_LAYOUT_ELEMENTS ? operand->components
           : operand->given.layout == IPT_LAYOUT_PLANES ? count
                                                        : operand->components * operand->given.width;
}

static IPT__RARE ipt_result ipt__batch_take_operand(const ipt_context *context, ipt__batch_operand *operand, size_t i,
                                                    size_t count)
{
    ipt_batch_operand *const given = &operand->given;
    ipt_result result;
    if (!given->name || !given->type)
        return ipt__fail(IPT_ERROR_INVALID_ARGUMENT, "operands[%zu].%s is NULL", i, given->name ? "type" : "name");
    if (!ipt__is_identifier(given->name))
        return ipt__fail(IPT_ERROR_INVALID_ARGUMENT,
                         "operands[%zu].name is \"%.40s\": an identifier of 1 to 31 characters is needed", i,
                         given->name);
    operand->type_bytes = ipt__type_bytes(given->type);
    if (!operand->type_bytes)
        return ipt__fail(IPT_ERROR_INVALID_ARGUMENT,
                         "the type of operand %s is \"%.40s\": a number of OpenCL C is needed, or a vector of 2, 4, 8 "
                         "or 16, such as double or float2",
                         given->name, given->type);
    result = ipt__check_types(context, given->name, given->type);
    if (result)
        return result;
    if (given->access < IPT_READ || given->access > IPT_READ_WRITE)
        return ipt__fail(IPT_ERROR_INVALID_ARGUMENT,
                         "the access of operand %s is %d: IPT_READ, IPT_WRITE or IPT_READ_WRITE are needed",
                         given->name, (int)given->access);
    if ((int)given->layout < 0 || given->layout >= IPT__LAYOUT_COUNT)
        return ipt__fail(IPT_ERROR_INVALID_ARGUMENT, "the layout of operand %s is %d: see IPT_LAYOUT_LIST", given->name,
                         (int)given->layout);
    if (!given->width != (given->layout != IPT_LAYOUT_BLOCKS))
        return ipt__fail(IPT_ERROR_INVALID_ARGUMENT, "the width of operand %s is %zu: layout %s %s one", given->name,
                         given->width, ipt_layout_string(given->layout), given->width ? "has no" : "needs");
    given->rows = ipt__max(1, given->rows);
    given->cols = ipt__max(1, given->cols);
    if (!ipt__batch_measure(operand, count) || operand->components > 1 << 20)
        return ipt__fail(IPT_ERROR_INVALID_ARGUMENT,
                         "operand %s has %zu x %zu components in each of %zu elements: that is too many", given->name,
                         given->rows, given->cols, count);
    if (given->stride < ipt__batch_least_stride(operand, count))
        return ipt__fail(IPT_ERROR_INVALID_ARGUMENT, "the stride of operand %s is %zu: at least %zu are needed",
                         given->name, given->stride, ipt__batch_least_stride(operand, count));
    operand->load_parts = 1;
    if (given->layout == IPT_LAYOUT_ELEMENTS && operand->type_bytes < 16 &&
        operand->components * operand->type_bytes % 16 == 0 && given->stride * operand->type_bytes % 16 == 0)
        operand->load_parts = 16 / operand->type_bytes;
    return IPT_SUCCESS;
}

/* Fails unless the desc has a ready action's operand with the shape and access that the action needs. spec: the operand
 * in the notation of IPT_ACTION_LIST. lengths: the values of letters, from earlier operands. */
static IPT__RARE ipt_result ipt__batch_match(const ipt__batch_problem *problem, const ipt_batch_desc *desc,
                                             const char *spec, size_t lengths[26])
{
    const size_t name_bytes = strcspn(spec, ":");
    const char *const action = ipt_action_string(desc->ready), *const shape = spec + name_bytes + 1;
    const char *const type = name_bytes > 3 ? "int" : problem->operands[0].given.type; /* pivots, info */
    const unsigned turns = *spec == 'A' ? IPT_TRANSPOSE_A : *spec == 'B' ? IPT_TRANSPOSE_B : 0;
    const int turned = (desc->options & turns) != 0, needed = shape[2] == 'r'   ? IPT_READ
                                                              : shape[2] == 'w' ? IPT_WRITE
                                                                                : IPT_READ_WRITE;
    const ipt_batch_operand *found = NULL;
    size_t i;
    for (i = 0; i < problem->operand_count && !found; ++i)
        if (strlen(problem->operands[i].given.name) == name_bytes &&
            !strncmp(problem->operands[i].given.name, spec, name_bytes))
            found = &problem->operands[i].given;
    if (!found)
        return ipt__fail(IPT_ERROR_INVALID_ARGUMENT, "action %s needs an operand named %.*s", action, (int)name_bytes,
                         spec);
    if (strcmp(found->type, type))
        return ipt__fail(IPT_ERROR_INVALID_ARGUMENT, "operand %s of action %s has type %s: %s is needed", found->name,
                         action, found->type, type);
    if (((int)found->access & needed) != needed)
        return ipt__fail(IPT_ERROR_INVALID_ARGUMENT, "operand %s of action %s is %s", found->name, action,
                         needed == IPT_READ    ? "read, and its access is IPT_WRITE"
                         : needed == IPT_WRITE ? "written, and its access is IPT_READ"
                                               : "read and written: IPT_READ_WRITE is needed");
    for (i = 0; i < 2; ++i) {
        const size_t side = (i == 1) == turned ? found->rows : found->cols;
        size_t one = 1, *const length = shape[i] == '1' ? &one : &lengths[shape[i] - 'a'];
        *length = *length ? *length : side;
        if (*length != side)
            return ipt__fail(IPT_ERROR_INVALID_ARGUMENT, "operand %s of action %s is %zu x %zu: %zu %s are needed",
                             found->name, action, found->rows, found->cols, *length,
                             (i == 1) == turned ? "rows" : "columns");
    }
    return IPT_SUCCESS;
}

/* Whether a list in IPT_ACTION_LIST's notation has an operand of this name. */
static int ipt__spec_has(const char *spec, const char *name)
{
    const size_t bytes = strlen(name);
    while (*spec && (strncmp(spec, name, bytes) || spec[bytes] != ':')) {
        spec += strcspn(spec, " ");
        spec += *spec == ' ';
    }
    return *spec != 0;
}

/* Fails unless the operands and the argument match the ready action. */
static IPT__RARE ipt_result ipt__batch_check_ready(ipt__batch_problem *problem, const ipt_batch_desc *desc)
{
    static const char *const types[][2] = {
        {"float", "float2"}, {"double", "double2"}, {"float2", "float4"}, {"double2", "double4"}};
    const char *const type = problem->operands[0].given.type, *spec = ipt__action_operands(desc->ready);
    size_t lengths[26], which = 0, i;
    ipt_result result = IPT_SUCCESS;
    for (i = 0; i < problem->operand_count; ++i)
        if (!ipt__spec_has(spec, problem->operands[i].given.name))
            return ipt__fail(IPT_ERROR_INVALID_ARGUMENT, "action %s has no operand named %s: it takes \"%s\"",
                             ipt_action_string(desc->ready), problem->operands[i].given.name, spec);
    memset(lengths, 0, sizeof lengths);
    while (which < 4 && strcmp(type, types[which][0]))
        ++which;
    if (which == 4)
        return ipt__fail(IPT_ERROR_INVALID_ARGUMENT,
                         "action %s begins with an operand of type %s: float, double, float2 or double2 is needed",
                         ipt_action_string(desc->ready), type);
    if (desc->argument_type && (!ipt__readies[desc->ready].scaled || strcmp(desc->argument_type, types[which][1])))
        return ipt__fail(IPT_ERROR_INVALID_ARGUMENT, "argument_type is %s: action %s of %s takes %s",
                         desc->argument_type, ipt_action_string(desc->ready), type,
                         ipt__readies[desc->ready].scaled ? types[which][1] : "none");
    while (*spec && !result) {
        result = ipt__batch_match(problem, desc, spec, lengths);
        spec += strcspn(spec, " ");
        spec += *spec == ' ';
    }
    problem->m = lengths['m' - 'a'];
    problem->n = lengths['n' - 'a'];
    problem->k = lengths['k' - 'a'];
    return result;
}

/* Counts a word in a text; NULL has none. */
static int ipt__count_word(const char *text, const char *word)
{
    int count = 0;
    for (text = text ? strstr(text, word) : NULL; text; text = strstr(text + 1, word))
        ++count;
    return count;
}

/* Counts the words of the caller's action that the cost model needs: loops, barriers, sums. */
static IPT__RARE void ipt__batch_read_action(ipt__batch_problem *problem, const ipt_batch_desc *desc)
{
    const char *const texts[2] = {desc->action, desc->functions};
    int i;
    for (i = 0; i < 2; ++i) {
        problem->shares += ipt__count_word(texts[i], "IPT_LANE") + ipt__count_word(texts[i], "IPT_FOR_LANES");
        problem->loops += ipt__count_word(texts[i], "IPT_FOR_LANES") + ipt__count_word(texts[i], "for (") +
                          ipt__count_word(texts[i], "for(") + ipt__count_word(texts[i], "while");
        problem->barriers += ipt__count_word(texts[i], "IPT_BARRIER");
        problem->sums += ipt__count_word(texts[i], "IPT_SUM");
    }
    problem->sum_bytes = problem->sums ? 16 : 0;
}

static IPT__RARE ipt_result ipt__fail_options(const ipt_batch_desc *desc)
{
    char list[128] = "";
    ipt__text text = {NULL, sizeof list, 0};
    text.text = list;
#define IPT__ADD_OPTION(option)                                                                                        \
    if (ipt__readies[desc->ready].options & IPT_##option)                                                              \
        ipt__text_add(&text, " IPT_" #option);
    IPT__READY_OPTION_LIST(IPT__ADD_OPTION)
#undef IPT__ADD_OPTION
    return ipt__fail(IPT_ERROR_INVALID_ARGUMENT, "options is %u: action %s takes%s", desc->options,
                     ipt_action_string(desc->ready), text.length ? list : " none");
}

/* Fails for a text that would change the program around it, or that uses types that the device lacks. */
static IPT__RARE ipt_result ipt__batch_check_text(const ipt_context *context, const char *name, const char *text)
{
    const char *const escapes = text ? ipt__text_escapes(text, 0) : NULL;
    if (escapes)
        return ipt__fail(IPT_ERROR_INVALID_ARGUMENT, "%s has %s", name, escapes);
    return ipt__check_types(context, name, text);
}

/* Fails if a field of the desc is invalid, whatever its operands are. */
static IPT__RARE ipt_result ipt__batch_check(const ipt_context *context, const ipt_batch_desc *desc)
{
    const int shares = desc->model == IPT_MODEL_GROUP || desc->model == IPT_MODEL_INTERLEAVED;
    ipt_result result;
    if (!desc->count)
        return ipt__fail(IPT_ERROR_INVALID_ARGUMENT, "count is 0");
    if (!desc->operands)
        return ipt__fail_null("operands");
    if ((int)desc->ready < 0 || desc->ready >= IPT__ACTION_COUNT)
        return ipt__fail(IPT_ERROR_INVALID_ARGUMENT, "ready is %d: choose an action of IPT_ACTION_LIST",
                         (int)desc->ready);
    if (!desc->ready && !desc->action)
        return ipt__fail(IPT_ERROR_INVALID_ARGUMENT, "action is NULL, and ready is none: one of them is needed");
    if (desc->ready && (desc->action || desc->functions))
        return ipt__fail(IPT_ERROR_INVALID_ARGUMENT, "ready is %s, and %s is given, too: one of them is possible",
                         ipt_action_string(desc->ready), desc->action ? "action" : "functions");
    if (desc->options & ~ipt__readies[desc->ready].options)
        return ipt__fail_options(desc);
    if (!desc->operand_count || desc->operand_count > IPT_MAX_OPERANDS)
        return ipt__fail(IPT_ERROR_INVALID_ARGUMENT, "operand_count is %zu: 1 to %d are possible", desc->operand_count,
                         IPT_MAX_OPERANDS);
    if ((int)desc->model < 0 || desc->model >= IPT__MODEL_COUNT)
        return ipt__fail(IPT_ERROR_INVALID_ARGUMENT, "model is %d: see IPT_MODEL_LIST", (int)desc->model);
    if (desc->flags & ~(unsigned)(IPT_CACHE_ONLY | IPT_MEASURE))
        return ipt__fail(IPT_ERROR_INVALID_ARGUMENT, "flags is %u: IPT_CACHE_ONLY and IPT_MEASURE are possible",
                         desc->flags);
    if ((desc->group_size & (desc->group_size - 1) && desc->group_size % 32) || desc->group_size > 1024)
        return ipt__fail(IPT_ERROR_INVALID_ARGUMENT,
                         "group_size is %zu: a power of two or a multiple of 32 up to 1024 is needed",
                         desc->group_size);
    if (desc->lanes && (!shares || desc->lanes == 1 || desc->lanes & (desc->lanes - 1) || desc->lanes > 1024))
        return ipt__fail(IPT_ERROR_INVALID_ARGUMENT,
                         "lanes is %zu: models group and interleaved take 2, 4, 8 ... 1024, others none", desc->lanes);
    if (desc->lanes && desc->group_size % desc->lanes)
        return ipt__fail(IPT_ERROR_INVALID_ARGUMENT,
                         "group_size is %zu: a multiple of lanes = %zu is needed, which share a work-group",
                         desc->group_size, desc->lanes);
    if (desc->method) {
        const char *const chosen = desc->model                 ? "model"
                                   : desc->lanes               ? "lanes"
                                   : desc->group_size          ? "group_size"
                                   : desc->flags & IPT_MEASURE ? "flags with IPT_MEASURE"
                                                               : NULL;
#ifdef IPT_NO_PAPERS
        return ipt__fail(IPT_ERROR_UNSUPPORTED, "method: ipt was compiled with IPT_NO_PAPERS");
#endif
        if (desc->method != IPT_METHOD_UUSCI_2013)
            return ipt__fail(IPT_ERROR_INVALID_ARGUMENT, "method is %s (%d): batches have uusci-2013 alone",
                             ipt_method_string(desc->method), (int)desc->method);
        if (chosen)
            return ipt__fail(IPT_ERROR_INVALID_ARGUMENT, "method is uusci-2013, which chooses by itself: set %s to 0",
                             chosen);
    }
    if (desc->argument_type &&
        (!ipt__type_bytes(desc->argument_type) || ipt__type_bytes(desc->argument_type) > IPT__BATCH_ARGUMENT_BYTES))
        return ipt__fail(IPT_ERROR_INVALID_ARGUMENT,
                         "argument_type is \"%.40s\": a number or vector of OpenCL C of at most %d bytes is needed",
                         desc->argument_type, (int)IPT__BATCH_ARGUMENT_BYTES);
    result = ipt__check_types(context, "argument_type", desc->argument_type);
    result = result ? result : ipt__batch_check_text(context, "functions", desc->functions);
    return result ? result : ipt__batch_check_text(context, "action", desc->action);
}

/* Copies the operands' names and types. */
static IPT__RARE ipt_result ipt__batch_copy_names(ipt_batch *batch)
{
    size_t i, bytes = 0;
    char *at;
    for (i = 0; i < batch->problem.operand_count; ++i)
        bytes += strlen(batch->problem.operands[i].given.name) + strlen(batch->problem.operands[i].given.type) + 2;
    batch->names = at = (char *)ipt__allocate(&batch->context->allocator, bytes);
    if (!at)
        return IPT_ERROR_OUT_OF_MEMORY;
    for (i = 0; i < batch->problem.operand_count; ++i) {
        ipt_batch_operand *const given = &batch->problem.operands[i].given;
        given->name = strcpy(at, given->name);
        at += strlen(at) + 1;
        given->type = strcpy(at, given->type);
        at += strlen(at) + 1;
    }
    return IPT_SUCCESS;
}

static IPT__RARE ipt_result ipt__batch_take(ipt_batch *batch, const ipt_batch_desc *desc)
{
    ipt__batch_problem *const problem = &batch->problem;
    size_t i, j;
    ipt_result result = ipt__batch_check(batch->context, desc);
    if (result)
        return result;
    problem->limits = batch->context->limits;
    problem->count = desc->count;
    problem->alignment = 16;
    for (i = 0; i < desc->operand_count; ++i) {
        ipt__batch_operand *const operand = &problem->operands[i];
        operand->given = desc->operands[i];
        result = ipt__batch_take_operand(batch->context, operand, i, desc->count);
        if (result)
            return result;
        for (j = 0; j < i; ++j)
            if (!strcmp(problem->operands[j].given.name, operand->given.name))
                return ipt__fail(IPT_ERROR_INVALID_ARGUMENT, "operands %zu and %zu are both named %s", j, i,
                                 operand->given.name);
        problem->element_bytes += operand->components * operand->type_bytes;
        if (operand->given.layout == IPT_LAYOUT_ELEMENTS && operand->components > 1)
            problem->far_bytes += operand->components * operand->type_bytes;
        problem->alignment = ipt__max(problem->alignment, operand->type_bytes);
        problem->operand_count = i + 1;
    }
    problem->ready = desc->ready;
    if (desc->ready) {
        result = ipt__batch_check_ready(problem, desc);
        if (result)
            return result;
        problem->sum_bytes = ipt__readies[desc->ready].sums ? 16 : 0;
        problem->shares = 1;
    } else
        ipt__batch_read_action(problem, desc);
    batch->max_device_memory = desc->max_device_memory;
    batch->argument_bytes = desc->argument_type ? ipt__type_bytes(desc->argument_type) : 0;
    return ipt__batch_copy_names(batch);
}

/* Sets a choice that the device can run, and the operands' places in local memory. */
static void ipt__batch_set_choice(ipt_batch *batch, const ipt__batch_choice *choice)
{
    batch->choice = *choice;
    ipt__batch_place(&batch->problem, &batch->choice);
}

/* Chooses a model. Fails if the device can run none that the desc allows. */
static IPT__RARE ipt_result ipt__batch_select(ipt_batch *batch, const ipt_batch_desc *desc)
{
    char why[160] = "";
    return ipt__batch_choose(&batch->problem, desc, &batch->choice, why)
               ? IPT_SUCCESS
               : ipt__fail(IPT_ERROR_UNSUPPORTED, "model %s is not possible: %s", ipt_model_string(desc->model), why);
}

/* The parameters of the choice's program, with the texts of ipt__batch_texts. */
static ipt__params ipt__batch_params(const ipt_batch *batch, const char *operands, const char *action)
{
    const ipt__batch_choice *const choice = &batch->choice;
    ipt__params params;
    memset(&params, 0, sizeof params);
    params.unit_bytes = 4;
    params.group_size = (cl_uint)choice->group_size;
    params.lanes = (cl_uint)choice->lanes;
    params.sub_group = batch->problem.limits.sub_group == 1;
    params.local_bytes = (cl_uint)ipt__max(1024, choice->local_bytes);
    params.hold = (cl_uint)choice->hold;
    params.interleaved = (cl_uint)choice->interleaved;
    params.operands = operands;
    params.action = action;
    return params;
}

/* Builds the program of the choice. */
static IPT__RARE ipt_result ipt__batch_build(ipt_batch *batch, const ipt_batch_desc *desc)
{
    const ipt__batch_choice *const choice = &batch->choice;
    const ipt_allocator *const allocator = &batch->context->allocator;
    char cause[IPT__CAUSE_BYTES], *operands, *action;
    ipt__params params;
    size_t line = 0;
    cl_int error;
    ipt_result result;
#ifdef IPT__NATIVE_ACTIONS
    ipt__native_batch native;
#endif
    result = ipt__batch_texts(allocator, &batch->problem, desc, IPT__BATCH_OPERANDS, &operands, &action);
    params = ipt__batch_params(batch, operands, action);
#ifdef IPT__NATIVE_ACTIONS
    ipt__native_batch_make(&native, desc);
    params.native = &native;
#endif
    if (!result)
        result = ipt__program_get(batch->context, IPT__KERNEL_elements, &params, (desc->flags & IPT_CACHE_ONLY) != 0,
                                  &batch->program);
    if (result == IPT_ERROR_BUILD)
        line = ipt__batch_action_line(allocator, &params);
    ipt__release(allocator, operands);
    ipt__release(allocator, action);
    if (result == IPT_ERROR_BUILD) {
        ipt__keep_cause(cause);
        return ipt__fail(
            result,
            "the action does not compile for its operands in model %s (its line 1 is line %zu of the whole "
            "text, which some compilers count): %s",
            ipt_model_string(choice->model), line, cause);
    }
    if (result || !batch->context->context)
        return result;
    batch->kernel = ipt__calls(batch->context)
                        ->clCreateKernel(batch->program->program, ipt__kernels[IPT__KERNEL_elements].name, &error);
    return error ? ipt__fail_opencl("clCreateKernel", error) : IPT_SUCCESS;
}

static IPT__RARE void ipt__batch_write_description(ipt_batch *batch)
{
    const ipt__batch_choice *const choice = &batch->choice;
    ipt__text out = {batch->description, sizeof batch->description, 0};
    size_t i;
    ipt__text_add(&out, "%zu elements of %zu bytes, model %s: %zu work-item%s to an element, work-groups of %zu",
                  batch->problem.count, batch->problem.element_bytes, ipt_model_string(choice->model), choice->lanes,
                  choice->lanes == 1 ? "" : "s", choice->group_size);
    if (choice->local_bytes)
        ipt__text_add(&out, ", %zu bytes of local memory", choice->local_bytes);
    ipt__text_add(&out, "\n");
    for (i = 0; i < batch->problem.operand_count; ++i) {
        const ipt__batch_operand *const operand = &batch->problem.operands[i];
        static const char *const accesses[] = {"", "read", "written", "read and written"};
        ipt__text_add(&out, "%s: %zu x %zu of %s, %s, layout %s, stride %zu%s\n", operand->given.name,
                      operand->given.rows, operand->given.cols, operand->given.type, accesses[operand->given.access],
                      ipt_layout_string(operand->given.layout), operand->given.stride,
                      operand->load_parts > 1 && choice->hold <= IPT__HOLD_STAGED ? ", by vectors of 16 bytes" : "");
    }
}

/* Releases the program and its kernel. */
static void ipt__batch_drop(ipt_batch *batch)
{
    if (batch->kernel)
        ipt__calls(batch->context)->clReleaseKernel(batch->kernel);
    ipt__program_drop(batch->context, batch->program);
    batch->kernel = NULL;
    batch->program = NULL;
}

IPT_API void ipt_batch_destroy(ipt_batch *batch)
{
    ipt_context *context;
    if (!batch)
        return;
    context = batch->context;
    ipt__batch_drop(batch);
    IPT_LOCK_DESTROY(&batch->lock);
    ipt__release(&context->allocator, batch->names);
    ipt__release(&context->allocator, batch);
    ipt_context_destroy(context);
}

IPT_API const char *ipt_batch_describe(const ipt_batch *batch)
{
    return batch ? batch->description : "";
}

IPT_API const char *ipt_batch_source(const ipt_batch *batch)
{
#ifdef IPT_NO_KERNEL_SOURCE
    (void)batch;
    return NULL;
#else
    return batch ? ipt__program_source(batch->context, batch->program) : NULL;
#endif
}
