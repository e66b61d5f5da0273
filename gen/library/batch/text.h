/* The text of a batch plan's program: definitions of its operands, accessors and the action. */

IPT_API const char *ipt_action_string(ipt_action action)
{
#define IPT__ACTION_NAME(enumerator, name, operands) name "\0"
    return ipt__name_at(IPT_ACTION_LIST(IPT__ACTION_NAME), (int)action, IPT__ACTION_COUNT);
}

/* The operands of a ready action, in the notation of IPT_ACTION_LIST. */
static const char *ipt__action_operands(ipt_action action)
{
#define IPT__ACTION_OPERANDS(enumerator, name, operands) operands "\0"
    return ipt__name_at(IPT_ACTION_LIST(IPT__ACTION_OPERANDS), (int)action, IPT__ACTION_COUNT);
}

/* Adds the operands' definitions and the action's hash, which are part of the program's key. */
static IPT__RARE void ipt__batch_print_operands(ipt__text *out, const ipt__batch_problem *problem,
                                                const ipt_batch_desc *desc, const char *hash)
{
    unsigned needs = desc->ready ? 0 : ipt__text_needs(desc->action, 0, NULL, NULL);
    size_t i, j;
    for (i = 0; i < problem->operand_count; ++i)
        needs |= ipt__text_needs(problem->operands[i].given.type, 0, NULL, NULL);
    if (needs & IPT__NEEDS_HALF)
        ipt__text_add(out, "#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n");
    ipt__text_add(out, "/* action %s */\n", hash);
    for (i = 0; i < problem->operand_count; ++i) {
        const ipt__batch_operand *const operand = &problem->operands[i];
        const char *const name = operand->given.name;
        ipt__text_add(out, "#define %s_TYPE %s\n#define %s_ROWS %zu\n#define %s_COLS %zu\n", name, operand->given.type,
                      name, operand->given.rows, name, operand->given.cols);
        ipt__text_add(out, "#define %s_ACCESS %d\n#define %s_LAYOUT %d\n#define %s_WIDTH %zu\n#define %s_VECTOR %zu\n",
                      name, (int)operand->given.access, name, (int)operand->given.layout, name,
                      ipt__max(1, operand->given.width), name, operand->load_parts);
    }
    ipt__text_add(out, "#define IPT_HELD_ALIGNMENT %zu\n", problem->alignment);
    ipt__text_add(out, "#define IPT_OPERAND_LIST(IPT_X)");
    for (i = 0; i < problem->operand_count; ++i)
        ipt__text_add(out, " IPT_X(%s, %zu)", problem->operands[i].given.name, i);
    ipt__text_add(out, "\n");
    if (desc->argument_type)
        ipt__text_add(out, "#define IPT_ACTION_ARGUMENT_TYPE %s\n", desc->argument_type);
    if (desc->ready) {
        ipt__text_add(out, "#define IPT_NUMBER %s\n#define IPT_IS_COMPLEX %d\n#define IPT_IS_DOUBLE %d\n",
                      problem->operands[0].given.type, strchr(problem->operands[0].given.type, '2') != NULL,
                      *problem->operands[0].given.type == 'd');
#define IPT__DEFINE_OPTION(option)                                                                                     \
    ipt__text_add(out, "#define IPT_" #option " %d\n", (desc->options & IPT_##option) != 0);
        IPT__READY_OPTION_LIST(IPT__DEFINE_OPTION)
#undef IPT__DEFINE_OPTION
    }
    if (!problem->sum_bytes)
        return;
    ipt__text_add(out, "#define IPT_SUM_TYPES(IPT_X)");
    for (i = 0; i < problem->operand_count; ++i) {
        const ipt__batch_operand *const operand = &problem->operands[i];
        for (j = 0; j < i && strcmp(problem->operands[j].given.type, operand->given.type); ++j)
            ;
        if (j == i && operand->type_bytes <= 16)
            ipt__text_add(out, " IPT_X(%s)", operand->given.type);
    }
    ipt__text_add(out, "\n");
}

/* Adds the operands' offsets and pitches in local memory. */
static IPT__RARE void ipt__batch_print_places(ipt__text *out, const ipt__batch_problem *problem)
{
    size_t i;
    for (i = 0; i < problem->operand_count; ++i) {
        const ipt__batch_operand *const operand = &problem->operands[i];
        ipt__text_add(out, "#define %s_LOCAL %zu\n#define %s_PITCH %zu\n", operand->given.name, operand->local,
                      operand->given.name, operand->pitch);
    }
}

/* Adds the texts of a ready action. Builds without texts add their hashes. */
static IPT__RARE void ipt__batch_print_ready(ipt__text *out, ipt_action action, int body)
{
    static const int algebra[2] = {IPT__ACTION_TEXT_algebra, IPT__ACTION_TEXT_none};
    const int *const texts = body ? ipt__readies[action].texts : algebra;
    const int count = texts[1] == IPT__ACTION_TEXT_none ? 1 : 2;
    int i;
    for (i = 0; i < count; ++i) {
#ifdef IPT_NO_KERNEL_SOURCE
        ipt__text_add(out, "%s\n", ipt__action_texts[texts[i]].hash);
#else
        ipt__part_print(out, &ipt__action_texts[texts[i]]);
        if (i + 1 < count)
            ipt__text_add(out, "IPT_BARRIER();\n");
#endif
    }
}

/* Adds the action as a function. Compilers count its lines from 1. */
static IPT__RARE void ipt__batch_print_action(ipt__text *out, const ipt__batch_problem *problem,
                                              const ipt_batch_desc *desc)
{
    size_t i;
    for (i = 0; i < problem->operand_count; ++i) {
        const char *const name = problem->operands[i].given.name;
        ipt__text_add(out, "#define %s(i, j) ipt_at_%s[((i) * %s_PITCH + (j)) * ipt_step_%s]\n", name, name, name,
                      name);
    }
    if (desc->ready)
        ipt__batch_print_ready(out, desc->ready, 0);
    else if (desc->functions)
        ipt__text_add(out, "#line 1 \"functions\"\n%s\n", desc->functions);
    ipt__text_add(out, "IPT_INLINE void ipt_action(IPT_ACTION_PARAMETERS)\n{\n");
    if (desc->ready)
        ipt__batch_print_ready(out, desc->ready, 1);
    else
        ipt__text_add(out, "#line 1 \"action\"\n%s", desc->action);
    ipt__text_add(out, "\n}\n");
    for (i = 0; i < problem->operand_count; ++i)
        ipt__text_add(out, "#undef %s\n", problem->operands[i].given.name);
}

/* Hashes an action's text. For a ready action, hashes the hashes of its texts: builds without texts have them, too. */
static IPT__RARE void ipt__batch_hash(const char *action, const ipt_batch_desc *desc, char hash[33])
{
    char hashes[60];
    const int *const texts = ipt__readies[desc->ready].texts;
    if (desc->ready) {
        ipt__print(hashes, sizeof hashes, "%s %s %s", ipt__action_texts[IPT__ACTION_TEXT_algebra].hash,
                   ipt__action_texts[texts[0]].hash,
                   texts[1] == IPT__ACTION_TEXT_none ? "" : ipt__action_texts[texts[1]].hash);
        action = hashes;
    }
    ipt__hash_text(action, strlen(action), hash, 32);
}

/* The texts of a batch plan. IPT__BATCH_KEY has every input of the kernel's choice but the number of elements. */
enum { IPT__BATCH_ACTION, IPT__BATCH_OPERANDS, IPT__BATCH_KEY };

static IPT__RARE void ipt__batch_print(ipt__text *out, const ipt__batch_problem *problem, const ipt_batch_desc *desc,
                                       const char *hash, int which)
{
    if (which == IPT__BATCH_ACTION) {
        ipt__batch_print_action(out, problem, desc);
        return;
    }
    ipt__batch_print_operands(out, problem, desc, hash);
    if (which == IPT__BATCH_OPERANDS)
        ipt__batch_print_places(out, problem);
}

/* Makes a text, which the caller releases. Returns NULL if out of memory. */
static IPT__RARE char *ipt__batch_text(const ipt_allocator *allocator, const ipt__batch_problem *problem,
                                       const ipt_batch_desc *desc, const char *hash, int which)
{
    ipt__text text = {NULL, 0, 0};
    ipt__batch_print(&text, problem, desc, hash, which);
    text.capacity = text.length + 1;
    text.length = 0;
    text.text = (char *)ipt__allocate(allocator, text.capacity);
    if (text.text)
        ipt__batch_print(&text, problem, desc, hash, which);
    return text.text;
}

/* Makes the action's text and, with its hash, the operands' text or the key, which the caller releases. */
static IPT__RARE ipt_result ipt__batch_texts(const ipt_allocator *allocator, const ipt__batch_problem *problem,
                                             const ipt_batch_desc *desc, int which, char **other, char **action)
{
    char hash[33] = "";
    *other = NULL;
    *action = ipt__batch_text(allocator, problem, desc, hash, IPT__BATCH_ACTION);
    if (!*action)
        return IPT_ERROR_OUT_OF_MEMORY;
    ipt__batch_hash(*action, desc, hash);
    *other = ipt__batch_text(allocator, problem, desc, hash, which);
    return *other ? IPT_SUCCESS : IPT_ERROR_OUT_OF_MEMORY;
}

/* The line of a program's text in which the action's first line is. 0: unknown. */
static IPT__RARE size_t ipt__batch_action_line(const ipt_allocator *allocator, const ipt__params *params)
{
    char *const text = ipt__source_make(allocator, IPT__KERNEL_elements, params, ipt__source_print);
    const char *at, *const end = text ? strstr(text, "#line 1 \"action\"\n") : NULL;
    size_t line = 1;
    for (at = text; end && at <= end + 16; ++at)
        line += *at == '\n';
    ipt__release(allocator, text);
    return end ? line : 0;
}
