/* Programs: building, loading, sharing. */

#ifndef IPT_NO_KERNEL_SOURCE
/* Fails with the build log, cut to fit the error text. The logger receives all of it. */
static IPT__RARE ipt_result ipt__fail_build(const ipt_context *context, cl_program program, ipt__kernel_id id,
                                            cl_int error)
{
    size_t bytes = 0;
    char *log = NULL;
    ipt_result result;
    if (!ipt__calls(context)->clGetProgramBuildInfo(program, context->device, CL_PROGRAM_BUILD_LOG, 0, NULL, &bytes) &&
        bytes)
        log = (char *)ipt__allocate(&context->allocator, bytes + 1);
    if (log &&
        ipt__calls(context)->clGetProgramBuildInfo(program, context->device, CL_PROGRAM_BUILD_LOG, bytes, log, NULL))
        log[0] = 0;
    if (log && context->logger.log)
        (context->logger.log)(log, context->logger.user);
    /* Lack of memory is not the text's fault: do not record it as a failed build. */
    result =
        ipt__fail(error == CL_OUT_OF_HOST_MEMORY || error == CL_MEM_OBJECT_ALLOCATION_FAILURE ? IPT_ERROR_OUT_OF_MEMORY
                                                                                              : IPT_ERROR_BUILD,
                  "clBuildProgram failed with %s (%d) on %s: %s", ipt__cl_error(error), (int)error,
                  ipt__kernels[id].own.file, log ? log : "no log");
    ipt__release(&context->allocator, log);
    return result;
}
#endif

static const char *ipt__program_options(const ipt_context *context, const ipt__params *params)
{
    const int later = context->limits.standard > 12 && (params->memory_model == 3 || params->sub_group >= 2);
    return !later ? "-cl-std=CL1.2" : context->limits.standard == 20 ? "-cl-std=CL2.0" : "-cl-std=CL3.0";
}

/* Makes what `print` prints of a program, which the caller releases. Returns NULL if out of memory. */
static char *ipt__source_make(const ipt_allocator *allocator, ipt__kernel_id id, const ipt__params *params,
                              void (*print)(ipt__text *, ipt__kernel_id, const ipt__params *))
{
    ipt__text text = {NULL, 0, 0};
    print(&text, id, params);
    text.capacity = text.length + 1;
    text.length = 0;
    text.text = (char *)ipt__allocate(allocator, text.capacity);
    if (text.text)
        print(&text, id, params);
    return text.text;
}

#ifndef IPT_NO_KERNEL_SOURCE
/* The text of a program, which keeps it. NULL: out of memory. To unpack it takes a millisecond, and programs from a
 * cache and of the native driver do not need it: it is made at its first use. */
static IPT__RARE const char *ipt__program_source(ipt_context *context, ipt__program *program)
{
    const char *source;
    IPT_LOCK_ACQUIRE(&context->lock);
    if (!program->source)
        program->source = ipt__source_make(&context->allocator, program->id, &program->params, ipt__source_print);
    source = program->source;
    IPT_LOCK_RELEASE(&context->lock);
    return source;
}
#endif

static ipt_result ipt__program_write(const ipt_context *context, ipt__program *program)
{
    char *const head = ipt__source_make(&context->allocator, program->id, &program->params, ipt__source_print_head);
    if (!head)
        return IPT_ERROR_OUT_OF_MEMORY;
    ipt__hash_text(head, strlen(head), program->hash, 64);
    ipt__release(&context->allocator, head);
    program->options = ipt__program_options(context, &program->params);
    return IPT_SUCCESS;
}

/* Writes the key of a program: all inputs on which its code depends. target names the target of portable code. NULL:
 * the device's own code, which also depends on the driver. */
static void ipt__program_key(const ipt_context *context, const ipt__program *program, const char *target,
                             char key[IPT__KEY_BYTES])
{
    ipt__text out = {key, IPT__KEY_BYTES, 0};
    ipt__text_add(&out, "ipt program\nsource %s\n", program->hash);
    if (target)
        ipt__text_add(&out, "target %s\n", target);
    else
        ipt__text_add(&out, "options %s\n%s", program->options, context->device_text);
    ipt__text_add(&out, "kernel %s ", ipt__kernels[program->id].name);
    ipt__params_describe(&out, &program->params, ipt__kernels[program->id].uses); /* a long expression is cut */
}

/* Launches a program with one work-group and almost no work, so that PoCL finishes compiling it. All arguments are 1:
 * every kernel then moves one element to its own place. */
static int ipt__program_finish(ipt_context *context, const ipt__program *program)
{
    ipt__kernel_call call;
    const ipt__kernel_info *const info = &ipt__kernels[program->id];
    const unsigned char *const each = ipt__argument_bytes_of(info);
    const size_t size = program->params.group_size;
    const cl_uint one = 1, zero = 0;
    const cl_ulong long_one = 1;
    ipt__arguments arguments;
    size_t offset = 0;
    cl_uint i;
    cl_mem memory = NULL;
    cl_int error;
    cl_kernel kernel = ipt__calls(context)->clCreateKernel(program->program, info->name, &error);
    if (error)
        return 0;
    for (i = 0; each[i]; ++i) {
        const size_t bytes = each[i] & IPT__BYTES;
        offset = ipt__round_up(offset, bytes);
        memcpy((char *)&arguments + offset, bytes == sizeof one ? (const void *)&one : (const void *)&long_one, bytes);
        offset += bytes;
    }
    memory = ipt__calls(context)->clCreateBuffer(context->context, CL_MEM_READ_WRITE, IPT__FINISH_BYTES, NULL, &error);
    memset(&call, 0, sizeof call);
    call.kernel = kernel;
    call.program = program;
    call.memories[0] = call.memories[1] = memory;
    call.local_bytes = 4096;
    call.arguments = &arguments;
    IPT_LOCK_ACQUIRE(&context->queue_lock);
    if (!error)
        error = ipt__calls(context)->clEnqueueFillBuffer(context->queue, memory, &zero, sizeof zero, 0,
                                                         IPT__FINISH_BYTES, 0, NULL, NULL);
    if (!error)
        error = ipt__set_arguments(context, &call);
    if (!error)
        error =
            ipt__calls(context)->clEnqueueNDRangeKernel(context->queue, kernel, 1, NULL, &size, &size, 0, NULL, NULL);
    if (!error)
        error = ipt__calls(context)->clFinish(context->queue);
    IPT_LOCK_RELEASE(&context->queue_lock);
    if (memory)
        ipt__calls(context)->clReleaseMemObject(memory);
    ipt__calls(context)->clReleaseKernel(kernel);
    return !error;
}

/* Returns the device compiler's code of a program, with `before` free bytes before it. *bytes: the size of both
 * together. NULL if the code is unavailable. */
static unsigned char *ipt__program_code(ipt_context *context, const ipt__program *program, size_t before, size_t *bytes)
{
    cl_device_id devices[64];
    size_t sizes[64], count, i;
    unsigned char *pointers[64], *code;
    /* A batch's action may take indices or loop lengths from its operands: never run it on made-up operands. */
    if (context->finishes_late && !program->params.operands && !ipt__program_finish(context, program))
        return NULL;
    if (ipt__calls(context)->clGetProgramInfo(program->program, CL_PROGRAM_DEVICES, sizeof devices, devices, &count))
        return NULL;
    count /= sizeof *devices;
    if (ipt__calls(context)->clGetProgramInfo(program->program, CL_PROGRAM_BINARY_SIZES, sizeof sizes, sizes, NULL))
        return NULL;
    for (i = 0; i < count && devices[i] != context->device; ++i)
        ;
    if (i == count || !sizes[i] || sizes[i] > IPT__ENTRY_MOST)
        return NULL;
    *bytes = before + sizes[i];
    code = (unsigned char *)context->allocator.alloc(*bytes, context->allocator.user);
    memset(pointers, 0, sizeof pointers);
    pointers[i] = code ? code + before : NULL;
    /* PoCL sets the pointer to NULL if it fails to make the code. */
    if (code && (ipt__calls(context)->clGetProgramInfo(program->program, CL_PROGRAM_BINARIES, count * sizeof *pointers,
                                                       pointers, NULL) ||
                 pointers[i] != code + before)) {
        ipt__release(&context->allocator, code);
        code = NULL;
    }
    return code;
}

/* Returns a program as an entry, which the caller releases. NULL without code or memory. code is another compiler's
 * output for target. Both NULL: the device's own code. */
static unsigned char *ipt__program_entry(ipt_context *context, const ipt__program *program, const char *target,
                                         const void *code, size_t code_bytes, size_t *bytes)
{
    const ipt__limits *const limits = &context->limits;
    char key[IPT__KEY_BYTES];
    unsigned char *entry;
    size_t payload, resident = 0, lanes = 0;
    ipt__program_key(context, program, target, key);
    payload = IPT__ENTRY_HEAD + strlen(key);
    if (target) {
        *bytes = payload + IPT__ENTRY_FACTS + code_bytes;
        entry = (unsigned char *)context->allocator.alloc(*bytes, context->allocator.user);
        if (entry)
            memcpy(entry + payload + IPT__ENTRY_FACTS, code, code_bytes);
    } else {
        entry = ipt__program_code(context, program, payload + IPT__ENTRY_FACTS, bytes);
        /* Do not store a low count: other work may have occupied the device. */
        if (!limits->resident_groups && program->resident % limits->compute_units == 0)
            resident = program->resident;
        lanes = program->lanes;
    }
    if (!entry)
        return NULL;
    ipt__put(entry + payload, resident, 4);
    ipt__put(entry + payload + 4, lanes, 4);
    ipt__entry_seal(entry, key, *bytes - payload);
    return entry;
}

static void ipt__program_store(ipt_context *context, const ipt__program *program)
{
    char key[IPT__KEY_BYTES];
    unsigned char *entry;
    size_t bytes;
    if (!ipt__has_cache(context) || !program->program)
        return;
    entry = ipt__program_entry(context, program, NULL, NULL, 0, &bytes);
    if (!entry) {
        ipt__log(context, "cache: the device returns no code of %s", ipt__kernels[program->id].name);
        return;
    }
    ipt__program_key(context, program, NULL, key);
    ipt__entry_store(context, key, entry, bytes);
    ipt__release(&context->allocator, entry);
}

/* Writes the next target whose portable code the device may accept. Returns 1 for a target, 0 for none at this index,
 * -1 at the end. */
static int ipt__target_next(const ipt_context *context, int which, char target[64])
{
    const int cuda = context->driver == IPT__DRIVER_CUDA, older = (int)context->capability - (which - 3);
    switch (which) {
    case 0:
        strcpy(target, "spirv");
        return context->from_spirv != NULL;
    case 1:
        strcpy(target, "bitcode");
        return context->takes_bitcode;
    case 2: /* the device's name begins with the processor's: "gfx90a:sramecc+:xnack-" */
        strcpy(target, "amdgcn:");
        return sscanf(context->device_text, "device %40[a-z0-9]", target + 7) == 1 && !strncmp(target + 7, "gfx", 3);
    default: /* PTX of older devices also runs, and machine code of older ones of the same major version */
        ipt__print(target, 64, "%s:sm_%d", cuda ? "cuda" : "ptx", older);
        return older < (cuda ? (int)context->capability / 10 * 10 : 30) ? -1 : 1;
    }
}

/* Builds a program from code, with the error of its creation. Fails unless the program has its kernel and can run
 * work-groups of its size: a device may accept code without either. NVIDIA's driver reports 256 work-items for portable
 * code that it runs with 1024. A failure releases the program and returns NULL. */
static cl_program ipt__program_build(const ipt_context *context, const ipt__program *program, cl_program created,
                                     const char *options, cl_int *error)
{
    size_t largest = 0;
    cl_kernel kernel = NULL;
    if (!*error)
        *error = ipt__calls(context)->clBuildProgram(created, 1, &context->device, options, NULL, NULL);
    if (!*error)
        kernel = ipt__calls(context)->clCreateKernel(created, ipt__kernels[program->id].name, error);
    if (!*error) {
        *error = ipt__calls(context)->clGetKernelWorkGroupInfo(kernel, context->device, CL_KERNEL_WORK_GROUP_SIZE,
                                                               sizeof largest, &largest, NULL);
        ipt__calls(context)->clReleaseKernel(kernel);
    }
    if (!*error && largest < program->params.group_size && !context->limits.nvidia)
        *error = CL_INVALID_WORK_GROUP_SIZE;
    if (*error && created)
        ipt__calls(context)->clReleaseProgram(created);
    return *error ? NULL : created;
}

/* Builds a program from a verified entry. The device may still refuse it. */
static int ipt__program_take(const ipt_context *context, ipt__program *program, const char *target,
                             const ipt__entry *entry)
{
    const unsigned char *const facts = entry->data + entry->payload, *const code = facts + IPT__ENTRY_FACTS;
    const int spirv = target && !strcmp(target, "spirv"), bitcode = target && !strcmp(target, "bitcode");
    size_t bytes = entry->bytes - entry->payload;
    cl_int error = CL_SUCCESS;
    if (bytes <= IPT__ENTRY_FACTS)
        return 0;
    bytes -= IPT__ENTRY_FACTS;
    program->program =
        spirv ? context->from_spirv(context->context, code, bytes, &error)
              : ipt__calls(context)->clCreateProgramWithBinary(context->context, 1, &context->device, &bytes,
                                                               (const unsigned char **)&code, NULL, &error);
    program->program =
        ipt__program_build(context, program, program->program, bitcode ? "-x spir -spir-std=1.2" : NULL, &error);
    if (error) {
        program->refusal = error;
        ipt__log(context, "cache: the device refuses %s with %s (%d)", ipt__kernels[program->id].name,
                 ipt__cl_error(error), (int)error);
        return 0;
    }
    if (!target && !context->limits.resident_groups)
        program->resident = (size_t)ipt__get(facts, 4);
    if (!target)
        program->lanes = (size_t)ipt__get(facts + 4, 4);
    return 1;
}

/* Searches the caller's binaries and the disk for a program: first the device's own code, then portable code. */
static int ipt__program_load(ipt_context *context, ipt__program *program)
{
    char key[IPT__KEY_BYTES], target[64];
    int which, place, found, loaded = 0, has = 1;
    for (which = -1; has >= 0 && !loaded; ++which) {
        has = which < 0 ? 1 : ipt__target_next(context, which, target);
        if (has <= 0)
            continue;
        ipt__program_key(context, program, which < 0 ? NULL : target, key);
        for (place = 0; place < 2 && !loaded; ++place) {
            ipt__entry entry;
            found = place ? ipt__entry_on_disk(context, key, &entry) : ipt__entry_embedded(context, key, &entry);
            if (!found)
                continue;
            loaded = ipt__program_take(context, program, which < 0 ? NULL : target, &entry);
            ipt__release(&context->allocator, entry.owned);
        }
    }
    if (loaded) {
        ipt__log(context, "loaded %s%s%s", ipt__kernels[program->id].name, which > 0 ? " for " : "",
                 which > 0 ? target : "");
        if (which > 0) /* store the device's own code, which loads faster next time */
            ipt__program_store(context, program);
    }
    return loaded;
}

/* Fails with the key of the program that is missing, or that the device refuses. */
static IPT__RARE ipt_result ipt__fail_miss(const ipt_context *context, const ipt__program *program, const char *why)
{
    char key[IPT__KEY_BYTES], *at;
    ipt__program_key(context, program, NULL, key);
    for (at = key; *at; ++at)
        *at = *at == '\n' ? ',' : *at;
    if (program->refusal)
        return ipt__fail(IPT_ERROR_CACHE_MISS, "%s, and the device refuses the cached program with %s (%d): %s", why,
                         ipt__cl_error(program->refusal), (int)program->refusal, key);
    return ipt__fail(IPT_ERROR_CACHE_MISS,
                     "%s. Neither the %zu embedded entries nor %s have the program in a form that the device takes: %s",
                     why, context->binary_count,
                     context->cache_dir ? context->cache_dir : "a cache folder (there is none)", key);
}

#ifdef IPT_NO_KERNEL_SOURCE

static IPT__RARE ipt_result ipt__program_compile(ipt_context *context, ipt__program *program)
{
    return ipt__fail_miss(context, program, "ipt was compiled with IPT_NO_KERNEL_SOURCE: it has no text to compile");
}

#else

/* The offset of the line after a kernel's work-group size in PTX; 0: the text has none. */
static size_t ipt__ptx_directives(const unsigned char *ptx, size_t bytes)
{
    static const char size[] = "\n.reqntid ";
    size_t at = 0, end;
    while (at + sizeof size <= bytes && memcmp(ptx + at, size, sizeof size - 1))
        ++at;
    if (at + sizeof size > bytes)
        return 0;
    for (end = at + 1; end < bytes && ptx[end] != '\n'; ++end)
        ;
    return end < bytes ? end + 1 : 0;
}

/* Limits the registers of a work-item, so that a compute unit runs groups_at_once work-groups, or IPT__HELD_GROUPS of a
 * panel in registers. OpenCL C has no attribute for it, and NVIDIA's driver ignores -cl-nv-maxrregcount. So the limit
 * becomes a line in the driver's PTX. See "Limited registers" in notebook.md. */
static void ipt__program_limit_registers(ipt_context *context, ipt__program *program)
{
    char line[32];
    const unsigned groups =
        program->params.registers ? (unsigned)IPT__HELD_GROUPS : (unsigned)program->params.groups_at_once;
    unsigned char *code;
    const unsigned char *given;
    size_t bytes, room, at;
    cl_program limited;
    cl_int error;
    if (!context->limits.nvidia || !groups || (program->params.registers && program->id != IPT__KERNEL_panel))
        return;
    ipt__print(line, sizeof line, ".minnctapersm %u\n", groups);
    room = strlen(line);
    given = code = ipt__program_code(context, program, room, &bytes);
    at = code ? ipt__ptx_directives(code + room, bytes - room) : 0;
    if (at) {
        memmove(code, code + room, at);
        memcpy(code + at, line, room);
        limited = ipt__calls(context)->clCreateProgramWithBinary(context->context, 1, &context->device, &bytes, &given,
                                                                 NULL, &error);
        limited = ipt__program_build(context, program, limited, NULL, &error);
        if (limited) {
            ipt__calls(context)->clReleaseProgram(program->program);
            program->program = limited;
        }
    }
    ipt__release(&context->allocator, code);
}

/* Compiles a program and stores it. */
static IPT__RARE ipt_result ipt__program_compile(ipt_context *context, ipt__program *program)
{
    const char *source = ipt__program_source(context, program);
    cl_int error;
    if (!source)
        return IPT_ERROR_OUT_OF_MEMORY;
    program->program = ipt__calls(context)->clCreateProgramWithSource(context->context, 1, &source, NULL, &error);
    if (error)
        return ipt__fail_opencl("clCreateProgramWithSource", error);
    error = ipt__calls(context)->clBuildProgram(program->program, 1, &context->device, program->options, NULL, NULL);
    if (error)
        return ipt__fail_build(context, program->program, program->id, error);
    ipt__log(context, "built %s", ipt__kernels[program->id].name);
    ipt__program_limit_registers(context, program);
    ipt__program_store(context, program);
    return IPT_SUCCESS;
}

#endif

/* Takes the program from a driver that compiles nothing. */
static IPT__RARE ipt_result ipt__program_ready(const ipt_context *context, ipt__program *program)
{
    const ipt__params *const params = &program->params;
    cl_int error;
    program->program = ipt__calls(context)->program_of(program->id, params, &error);
    if (program->program || error == CL_OUT_OF_HOST_MEMORY)
        return program->program ? IPT_SUCCESS : IPT_ERROR_OUT_OF_MEMORY;
    if (params->apply)
        return ipt__fail(IPT_ERROR_UNSUPPORTED,
                         "the device compiles nothing, and ipt was compiled without this expression: use an OpenCL "
                         "device, or `ipt precompile --native FILE.h --type %s%s%s --expression '%s'`",
                         params->expression_type, params->argument_type ? " --argument-type " : "",
                         params->argument_type ? params->argument_type : "", params->expression);
    return ipt__fail(IPT_ERROR_UNSUPPORTED,
                     "the device compiles nothing and has no program of %s for %s: an OpenCL device can do this",
                     ipt__kernels[program->id].name, params->operands ? "an action" : "these parameters");
}

/* Loads a program, or else compiles it. */
static IPT__RARE ipt_result ipt__program_make(ipt_context *context, ipt__program *program, int cache_only)
{
    const ipt_result result = ipt__program_write(context, program);
    if (result || !context->context)
        return result;
    if (ipt__calls(context)->program_of)
        return ipt__program_ready(context, program);
    if (ipt__program_load(context, program))
        return IPT_SUCCESS;
    if (cache_only)
        return ipt__fail_miss(context, program, "IPT_CACHE_ONLY: nothing is compiled");
    if (!context->compiler)
        return ipt__fail_miss(context, program, "the device has no compiler");
    return ipt__program_compile(context, program);
}

/* Copies the strings for an expression or an action into one allocation, to which the params then point. Returns NULL
 * if out of memory. */
static char *ipt__copy_texts(const ipt_allocator *allocator, ipt__params *params)
{
    const char **const texts[5] = {&params->expression, &params->expression_type, &params->argument_type,
                                   &params->operands, &params->action};
    const int first = params->apply ? 0 : 3, end = params->operands ? 5 : params->apply == 2 ? 3 : 2;
    size_t bytes = 0;
    char *copy, *at;
    int i;
    for (i = first; i < end; ++i)
        bytes += strlen(*texts[i]) + 1;
    copy = at = (char *)ipt__allocate(allocator, bytes);
    for (i = first; i < end && copy; ++i) {
        bytes = strlen(*texts[i]) + 1;
        memcpy(at, *texts[i], bytes);
        *texts[i] = at;
        at += bytes;
    }
    return copy;
}

/* Returns the context's program for a kernel and params with a new reference; NULL: the context has none. */
static ipt__program *ipt__program_find(ipt_context *context, ipt__kernel_id id, const ipt__params *params)
{
    ipt__program *program;
    IPT_LOCK_ACQUIRE(&context->lock);
    for (program = context->programs; program; program = program->next)
        if (program->id == id && ipt__params_equal(&program->params, params))
            break;
    if (program)
        ++program->references;
    IPT_LOCK_RELEASE(&context->lock);
    return program;
}

/* Makes a program with one reference, and adds it to the context. */
static IPT__RARE ipt_result ipt__program_add(ipt_context *context, ipt__kernel_id id, const ipt__params *params,
                                             int cache_only, ipt__program **added)
{
    const int has_texts = params->apply || params->operands;
    ipt_result result;
    ipt__program **end, *const program = (ipt__program *)ipt__allocate(&context->allocator, sizeof *program);
    if (!program)
        return IPT_ERROR_OUT_OF_MEMORY;
    program->id = id;
    program->params = *params;
    program->references = 1;
    if (has_texts)
        program->texts = ipt__copy_texts(&context->allocator, &program->params);
    result = has_texts && !program->texts ? IPT_ERROR_OUT_OF_MEMORY : ipt__program_make(context, program, cache_only);
    program->params.native = NULL; /* which is the caller's */
    if (result) {
        ipt__program_free(context, program);
        return result;
    }
    IPT_LOCK_ACQUIRE(&context->lock);
    for (end = &context->programs; *end;)
        end = &(*end)->next;
    *end = program;
    IPT_LOCK_RELEASE(&context->lock);
    *added = program;
    return IPT_SUCCESS;
}

/* Returns the program of a kernel for params with a new reference. Makes it unless the context has it. Other threads
 * may find, drop and trim programs meanwhile: a driver's compiler may take seconds. */
static IPT__RARE ipt_result ipt__program_get(ipt_context *context, ipt__kernel_id id, const ipt__params *params,
                                             int cache_only, ipt__program **found)
{
    ipt_result result = IPT_SUCCESS;
    *found = ipt__program_find(context, id, params);
    if (*found)
        return IPT_SUCCESS;
    IPT_LOCK_ACQUIRE(&context->build_lock);
    *found = ipt__program_find(context, id, params); /* another thread may have built it */
    if (!*found)
        result = ipt__program_add(context, id, params, cache_only, found);
    IPT_LOCK_RELEASE(&context->build_lock);
    return result;
}

/* Releases a reference to a program; NULL is fine. */
static void ipt__program_drop(ipt_context *context, ipt__program *program)
{
    if (!program)
        return;
    IPT_LOCK_ACQUIRE(&context->lock);
    --program->references;
    IPT_LOCK_RELEASE(&context->lock);
}

IPT_API IPT__RARE void ipt_context_trim(ipt_context *context)
{
    ipt__program **at;
    if (!context)
        return;
    IPT_LOCK_ACQUIRE(&context->lock);
    for (at = &context->programs; *at;) {
        ipt__program *const program = *at;
        if (program->references)
            at = &program->next;
        else {
            *at = program->next;
            ipt__program_free(context, program);
        }
    }
    IPT_LOCK_RELEASE(&context->lock);
}
