/* Probing: facts that only a running program shows. */

/* Runs a program with `words` as both buffers, and reads them back. Returns 0 on failure. */
static int ipt__run_probe(ipt_context *context, const ipt__program *program, void *arguments, size_t global,
                          cl_uint *words, size_t bytes)
{
    ipt__kernel_call call;
    const size_t local = program->params.group_size;
    cl_mem memory = NULL;
    cl_int error;
    cl_kernel kernel = ipt__calls(context)->clCreateKernel(program->program, ipt__kernels[program->id].name, &error);
    if (error)
        return 0;
    ipt__complete_divisors(&ipt__kernels[program->id], &program->params, arguments);
    memory = ipt__calls(context)->clCreateBuffer(context->context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, bytes,
                                                 words, &error);
    memset(&call, 0, sizeof call);
    call.kernel = kernel;
    call.program = program;
    call.memories[0] = call.memories[1] = memory;
    call.arguments = arguments;
    if (!error)
        error = ipt__set_arguments(context, &call);
    IPT_LOCK_ACQUIRE(&context->queue_lock);
    if (!error)
        error = ipt__calls(context)->clEnqueueNDRangeKernel(context->queue, kernel, 1, NULL, &global, &local, 0, NULL,
                                                            NULL);
    if (!error)
        error =
            ipt__calls(context)->clEnqueueReadBuffer(context->queue, memory, CL_TRUE, 0, bytes, words, 0, NULL, NULL);
    IPT_LOCK_RELEASE(&context->queue_lock);
    if (memory)
        ipt__calls(context)->clReleaseMemObject(memory);
    ipt__calls(context)->clReleaseKernel(kernel);
    return !error;
}

/* Runs a cooperative program without work, to count the work-groups that run at the same time. Returns 0 if it does not
 * run. */
static size_t ipt__count_resident(ipt_context *context, const ipt__program *program)
{
    const ipt__kernel_info *const info = &ipt__kernels[program->id];
    const size_t global = context->limits.compute_units * 64 * program->params.group_size;
    cl_uint words[IPT__CONTROL_WORDS + 1] = {0};
    ipt__arguments arguments;
    cl_uint *const each = (cl_uint *)(void *)&arguments;
    size_t i;
    memset(&arguments, 0, sizeof arguments);
    for (i = info->waits; i < info->arguments_bytes / 4; ++i)
        each[i] = 1;
    each[info->probe_polls] = IPT__PROBE_POLLS;
    return ipt__run_probe(context, program, &arguments, global, words, sizeof words) ? words[1] /* IPT_CLOSED_AT */ : 0;
}

/* Whether an element is one word, and bands do not rotate: those need fewest registers. */
static int ipt__are_words(const ipt__params *params)
{
    return params->unit_bytes == 4 && params->element_units == 1 && !params->reversed;
}

/* The kernel parameter of rotations. */
static cl_uint ipt__reversed_param(int runs, int columns)
{
    return (runs ? 1u : 0u) | (columns ? 2u : 0u);
}

/* The work-groups of the band exchange that a compute unit shall run at a time: five for elements of 4 bytes, three for
 * blocks of words, four for others. Runs that are stored backwards need more registers, so fewer work-groups. See
 * "Work-groups of the band exchange" in notebook.md. */
static cl_uint ipt__exchange_groups(const ipt__params *params)
{
    const int runs = params->reversed == ipt__reversed_param(1, 0),
              both = params->reversed == ipt__reversed_param(1, 1);
    if (params->by_words && params->unit_bytes == 1 && (both || runs))
        return IPT__BAND_GROUPS_BYTES;
    if (!params->by_words && params->element_units != 1 && (runs || (both && params->unit_bytes != 8)))
        return IPT__BAND_GROUPS_UNITS;
    return ipt__are_words(params) ? IPT__BAND_GROUPS_OF_4
           : params->by_words     ? IPT__BAND_GROUPS_WORDS
                                  : IPT__BAND_GROUPS;
}

/* The count that the desc or the profile sets; 0: none. Bands have their own. A kernel with local memory of its own
 * follows from the count of panels. */
static size_t ipt__given_resident(const ipt__limits *limits, const ipt__program *program)
{
    const size_t groups = program->params.groups_at_once;
    if (program->id == IPT__KERNEL_exchange)
        return ipt__are_words(&program->params) ? limits->resident_bands
                                                : limits->resident_others * groups / IPT__BAND_GROUPS;
    return groups && ipt__gives_more_local(limits) ? limits->resident_groups * groups / IPT__CHUNK_GROUPS_LARGE
                                                   : limits->resident_groups;
}

/* Counts the work-groups of a cooperative program that run at the same time, unless the count is known. If there are
 * fewer than compute units, other work may have occupied the device. Some later plans then count again. */
static void ipt__find_residency(ipt_context *context, ipt__program *program)
{
    const size_t given = ipt__given_resident(&context->limits, program);
    size_t counted;
    if (program->resident &&
        (program->resident >= context->limits.compute_units || given || program->counts >= IPT__COUNTS))
        return;
    ++program->counts;
    counted = context->context ? ipt__count_resident(context, program) : given;
    if (counted && given)
        counted = given;
    ipt__log(context, "%zu work-groups of %s with %u bytes of local memory run at the same time", counted,
             ipt__kernels[program->id].name, program->params.local_bytes);
    if (counted <= program->resident)
        return;
    program->resident = counted;
    ipt__program_store(context, program);
}

/* Returns the cooperative program for a unit, with the largest local memory that works, and its residency. *found is
 * NULL if none works. Devices that give more local memory than they report take that of params, with its work-items,
 * unless it is 0. */
static IPT__RARE ipt_result ipt__cooperative_get(ipt_context *context, ipt__kernel_id id, ipt__params params,
                                                 int cache_only, ipt__program **found, size_t *resident)
{
    const ipt__limits *const limits = &context->limits;
    size_t tries[2] = {0, 0};
    const int own = params.local_bytes && ipt__gives_more_local(limits);
    int i, missed = 0, failed = 0;
    ipt_result result = IPT_SUCCESS;
    *found = NULL;
    *resident = 0;
    IPT_LOCK_ACQUIRE(&context->probe_lock);
    tries[0] = own ? params.local_bytes : context->found.chunk_bytes;
    if (!own && !context->found.chunk_bytes)
        ipt__chunk_tries(limits, tries);
    for (i = 0; i < 2 && !*found && (!result || result == IPT_ERROR_CACHE_MISS); ++i) {
        ipt__program *program = NULL;
        if (tries[i] <= IPT__NO_CHUNKS)
            continue;
        params.local_bytes = (cl_uint)tries[i];
        params.group_size = own                                                       ? params.group_size
                            : tries[i] == IPT__CHUNK_BYTES_LARGE && !params.registers ? (cl_uint)IPT__CHUNK_GROUP_LARGE
                                                                                      : (cl_uint)limits->group_size;
        if (!ipt__params_reduce(&params, ipt__kernels[id].uses))
            continue;
        result = ipt__program_get(context, id, &params, cache_only, &program);
        missed |= result == IPT_ERROR_CACHE_MISS;
        if (result == IPT_ERROR_BUILD)
            result = IPT_SUCCESS;
        if (program)
            ipt__find_residency(context, program);
        if (program && program->resident) {
            *found = program;
            *resident = program->resident;
        } else {
            failed |= program != NULL && context->context; /* other work may have taken the device's memory */
            ipt__program_drop(context, program);
        }
    }
    if (!own && !context->found.chunk_bytes && !result && !missed) {
        context->found.chunk_bytes = *found ? (*found)->params.local_bytes : (size_t)IPT__NO_CHUNKS;
        context->chunk_is_guess = failed;
        ipt__findings_store(context);
    }
    IPT_LOCK_RELEASE(&context->probe_lock);
    return result;
}

/* Transposes a rows x cols grid of super-elements of `units` units by a chains program, and compares every byte.
 * `groups` work-groups share the flags. Returns 1 if all bytes are right, -1 without memory. One sub-group at a time
 * may compute right results, and several at once wrong ones: PoCL 6.0 mixes up two reductions without a barrier between
 * them. */
static int ipt__chains_are_right(ipt_context *context, const ipt__program *program, size_t rows, size_t cols,
                                 size_t units, size_t groups)
{
    const ipt__params *const params = &program->params;
    const size_t slot_bytes = units * params->unit_bytes, begin = 16 + params->unit_bytes,
                 bytes = rows * cols * slot_bytes;
    const size_t flags = ipt__round_up(begin + bytes + 16, 16) / 4, flag_words = ipt__ceil_divide(rows * cols, 32);
    cl_uint *const before = (cl_uint *)ipt__allocate(&context->allocator, (flags + flag_words) * 4),
                   *const words = (cl_uint *)ipt__allocate(&context->allocator, (flags + flag_words) * 4);
    int right = 1;
    ipt__chains_arguments a;
    size_t i;
    memset(&a, 0, sizeof a);
    a.base = begin / params->unit_bytes;
    a.matrix_units = a.instance_stride = bytes / params->unit_bytes;
    a.instances_per_matrix = a.pieces = a.row_slots = a.parts = 1;
    a.flags_base = flags;
    a.grid_slots = rows * cols;
    a.words = a.total_words = flag_words;
    a.words_each = ipt__ceil_divide(flag_words, groups);
    a.rows = rows;
    a.cols = cols;
    a.row_stride = a.super_units = units;
    a.piece_units = (cl_uint)units;
    if (!before || !words)
        right = -1;
    for (i = 0; right > 0 && i < flags + flag_words; ++i)
        before[i] = words[i] = i < flags ? (cl_uint)i * 2654435761u : 0;
    if (right > 0)
        right = ipt__run_probe(context, program, &a, groups * params->group_size, words, (flags + flag_words) * 4);
    if (right > 0)
        right = !memcmp(words, before, begin) &&
                !memcmp((char *)words + begin + bytes, (char *)before + begin + bytes, flags * 4 - begin - bytes);
    for (i = 0; right > 0 && i < rows * cols; ++i)
        right = !memcmp((char *)words + begin + (i % cols * rows + i / cols) * slot_bytes,
                        (char *)before + begin + i * slot_bytes, slot_bytes);
    ipt__release(&context->allocator, before);
    ipt__release(&context->allocator, words);
    return right;
}

/* Tests a chains program: its sub-groups, then transpositions with short and with the longest pieces. A work-group has
 * more flags than its work-items read in one step. *lanes: the size of the sub-groups; 1 if they compute wrong results;
 * 0 if the program does not run. */
static IPT__RARE ipt_result ipt__find_lanes(ipt_context *context, const ipt__program *program, size_t *lanes)
{
    const ipt__params *const params = &program->params;
    const size_t local = params->group_size, global = 4 * local;
    const size_t longest = (16 * (size_t)params->piece_vectors - 31) / params->unit_bytes + 1;
    const size_t grids[3][4] = {{61, 173, 1, 3}, {211, 37, ipt__min(3, longest), 1}, {7, 11, longest, 2}};
    cl_uint words[2] = {0, 0};
    int right = 1, i;
    ipt__chains_arguments a;
    memset(&a, 0, sizeof a);
    a.probe = 1;
    *lanes = 0;
    if (!ipt__run_probe(context, program, &a, global, words, sizeof words))
        return IPT_SUCCESS;
    *lanes = words[0];
    if (words[0] != params->lanes)
        return IPT_SUCCESS;
    for (i = 0; i < 3 && words[1] == global && right > 0; ++i)
        right = ipt__chains_are_right(context, program, grids[i][0], grids[i][1], grids[i][2], grids[i][3]);
    if (words[1] != global || right <= 0)
        *lanes = right < 0 ? 0 : 1;
    return right < 0 ? IPT_ERROR_OUT_OF_MEMORY : IPT_SUCCESS;
}

/* Sets the sub-group parameters of a chains program. Only the program itself shows the size of the device's sub-groups.
 * If the size is not the expected one, the program is built again for it. Work-groups replace sub-groups that fail to
 * build or compute wrong results. */
static IPT__RARE ipt_result ipt__sub_groups_get(ipt_context *context, ipt__params *params, int cache_only)
{
    ipt_result result = IPT_SUCCESS;
    size_t lanes = ipt__min(32, context->limits.lanes), found = 0; /* kernel chains votes with 32 bits */
    int tries;
    params->sub_group = (cl_uint)context->limits.sub_group;
    params->lanes = 32;
    params->group_size = params->sub_group == 1 ? 128 : 32;
    if (params->sub_group < 2)
        return IPT_SUCCESS;
    IPT_LOCK_ACQUIRE(&context->probe_lock);
    for (tries = 0; tries < 2 && !context->found.sub_groups_refused && !found && !result; ++tries) {
        ipt__program *program = NULL;
        if (lanes != 8 && lanes != 16 && lanes != 32)
            break;
        params->lanes = params->group_size = (cl_uint)lanes;
        if (!ipt__params_reduce(params, ipt__kernels[IPT__KERNEL_chains].uses))
            break;
        result = ipt__program_get(context, IPT__KERNEL_chains, params, cache_only, &program);
        if (result == IPT_ERROR_BUILD) {
            context->found.sub_groups_refused = 1;
            ipt__findings_store(context);
            result = IPT_SUCCESS;
        }
        if (program && !program->lanes) {
            program->lanes = context->limits.lanes;
            if (context->context)
                result = ipt__find_lanes(context, program, &program->lanes);
            ipt__program_store(context, program);
            if (program->lanes == 1)
                ipt__log(context, "%s moves data wrongly by this device's sub-groups: work-groups replace them",
                         ipt__kernels[program->id].name);
            else
                ipt__log(context, "sub-groups of %zu work-items, %zu were expected, in %s", program->lanes, lanes,
                         ipt__kernels[program->id].name);
        }
        if (program && program->lanes == lanes)
            found = lanes;
        else if (program)
            lanes = program->lanes;
        ipt__program_drop(context, program);
    }
    IPT_LOCK_RELEASE(&context->probe_lock);
    if (!found && !result) {
        params->sub_group = 0;
        params->lanes = params->group_size = 32;
    }
    return result;
}

/* The smallest local-memory size that failed to build; query; record. */
static size_t ipt__least_refused(ipt_context *context)
{
    size_t refused;
    IPT_LOCK_ACQUIRE(&context->probe_lock);
    refused = context->found.refused_bytes;
    IPT_LOCK_RELEASE(&context->probe_lock);
    return refused;
}
static int ipt__local_refused(ipt_context *context, size_t bytes)
{
    const size_t refused = ipt__least_refused(context);
    return refused && bytes >= refused;
}
static void ipt__refuse_local(ipt_context *context, size_t bytes)
{
    IPT_LOCK_ACQUIRE(&context->probe_lock);
    if (!context->found.refused_bytes || bytes < context->found.refused_bytes) {
        context->found.refused_bytes = bytes;
        ipt__findings_store(context);
    }
    IPT_LOCK_RELEASE(&context->probe_lock);
}
