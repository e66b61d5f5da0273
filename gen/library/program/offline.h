/* Programs for offline compilation: their texts, and entries made of compiled code. */

#ifdef IPT_NO_OFFLINE

IPT_API IPT__RARE size_t ipt_context_entry_count(const ipt_context *context)
{
    (void)context;
    return 0;
}

IPT_API IPT__RARE const char *ipt_context_entry_source(const ipt_context *context, size_t index, const char **options)
{
    (void)context, (void)index;
    if (options)
        *options = NULL;
    return NULL;
}

IPT_API IPT__RARE ipt_result ipt_context_entry(ipt_context *context, size_t index, const char *target, const void *code,
                                               size_t code_bytes, void *entry, size_t capacity, size_t *bytes)
{
    (void)context, (void)index, (void)target, (void)code, (void)code_bytes, (void)entry, (void)capacity;
    if (bytes)
        *bytes = 0;
    return ipt__fail(IPT_ERROR_UNSUPPORTED, "ipt was compiled with IPT_NO_OFFLINE: it returns no programs");
}

#else

/* Returns program `index` with a new reference, or NULL. *count: the number of programs. */
static ipt__program *ipt__program_at(ipt_context *context, size_t index, size_t *count)
{
    ipt__program *program, *found = NULL;
    *count = 0;
    IPT_LOCK_ACQUIRE(&context->lock);
    for (program = context->programs; program; program = program->next)
        if ((*count)++ == index)
            found = program;
    if (found)
        ++found->references;
    IPT_LOCK_RELEASE(&context->lock);
    return found;
}

IPT_API IPT__RARE size_t ipt_context_entry_count(const ipt_context *context)
{
    size_t count = 0;
    if (!context)
        return 0;
    ipt__program_at((ipt_context *)context, (size_t)-1, &count);
    return count + 1;
}

IPT_API IPT__RARE const char *ipt_context_entry_source(const ipt_context *context, size_t index, const char **options)
{
    size_t count;
    ipt__program *const program = context ? ipt__program_at((ipt_context *)context, index, &count) : NULL;
#ifdef IPT_NO_KERNEL_SOURCE
    const char *const source = NULL;
#else
    const char *const source = program ? ipt__program_source((ipt_context *)context, program) : NULL;
#endif
    if (options)
        *options = source ? program->options : NULL;
    if (context)
        ipt__program_drop((ipt_context *)context, program);
    return source;
}

/* Whether a target is one for which ipt compiles itself. */
static int ipt__target_is_cuda(const char *text)
{
    return text && !strncmp(text, "cuda:sm_", 8);
}

/* Returns whether text names a target of ipt_context_entry. */
static int ipt__target_is_known(const char *text)
{
    const char *const name = ipt__target_is_cuda(text)                                      ? text + 8
                             : !strncmp(text, "ptx:sm_", 7) || !strncmp(text, "amdgcn:", 7) ? text + 7
                                                                                            : NULL;
    if (!name)
        return !strcmp(text, "spirv") || !strcmp(text, "bitcode");
    return *name && strlen(name) < 40 &&
           strspn(name, text[0] == 'a' ? "abcdefghijklmnopqrstuvwxyz0123456789" : "0123456789") == strlen(name);
}

/* Compiles a program for a target cuda:sm_NN with NVRTC. No device is needed. The caller frees *code. */
static ipt_result ipt__entry_compile(ipt_context *context, ipt__program *program, const char *target,
                                     unsigned char **code, size_t *bytes)
{
#if defined(IPT_CUDA) && !defined(IPT_NO_KERNEL_SOURCE)
    const char *source;
    char *text, *log = NULL;
    int compiles;
    ipt_result result = IPT_SUCCESS;
    IPT_LOCK_ACQUIRE(&ipt__cuda_lock);
    ipt__nvrtc_open();
    compiles = ipt__cu.compiles;
    IPT_LOCK_RELEASE(&ipt__cuda_lock);
    if (!compiles)
        return ipt__fail(IPT_ERROR_UNSUPPORTED,
                         "target is %s, and NVRTC cannot be loaded: install libnvrtc.so.12 or .13, or name it in "
                         "IPT_NVRTC_LIBRARY",
                         target);
    source = ipt__program_source(context, program);
    text = source ? ipt__cuda_text(source) : NULL;
    if (!text)
        return ipt__fail(IPT_ERROR_OUT_OF_MEMORY, "could not allocate memory for the text of a program");
    *code = ipt__cuda_compile(text, target + 5, bytes, &log);
    if (!*code)
        result = ipt__fail(IPT_ERROR_BUILD, "NVRTC does not compile %s for %s: %s", ipt__kernels[program->id].own.file,
                           target, log ? log : "no log");
    free(text);
    free(log);
    return result;
#else
    (void)context, (void)program, (void)code, (void)bytes;
    return ipt__fail(IPT_ERROR_UNSUPPORTED,
                     "target is %s, and ipt was compiled without CUDA or without its kernels' text: define IPT_CUDA",
                     target);
#endif
}

IPT_API IPT__RARE ipt_result ipt_context_entry(ipt_context *context, size_t index, const char *target, const void *code,
                                               size_t code_bytes, void *entry, size_t capacity, size_t *bytes)
{
    unsigned char findings[(size_t)IPT__ENTRY_HEAD + IPT__KEY_BYTES + IPT__FINDINGS_BYTES], *made = NULL;
    char key[IPT__KEY_BYTES];
    unsigned char *compiled = NULL;
    const int cuda = ipt__target_is_cuda(target);
    ipt__program *program;
    size_t count, needed = 0;
    ipt_result result = IPT_SUCCESS;
    if (!context || !bytes || (target && !code && !cuda))
        return ipt__fail_null(!context ? "context" : !bytes ? "bytes" : "code");
    *bytes = 0;
    if ((!target || cuda) && code)
        return ipt__fail(IPT_ERROR_INVALID_ARGUMENT, "target is %.80s, but code is not NULL", target ? target : "NULL");
    if (target && !ipt__target_is_known(target))
        return ipt__fail(IPT_ERROR_INVALID_ARGUMENT,
                         "target is %.80s: cuda:sm_NN, ptx:sm_NN, bitcode, spirv or amdgcn:NAME is needed", target);
    if (target && !cuda && (!code_bytes || code_bytes > IPT__ENTRY_MOST / 2))
        return ipt__fail(IPT_ERROR_INVALID_ARGUMENT, "code_bytes is %zu", code_bytes);
    program = ipt__program_at(context, index, &count);
    if (index > count || (index == count && target))
        return ipt__fail(IPT_ERROR_INVALID_ARGUMENT, "index is %zu: the context has %zu %s", index,
                         count + (size_t)!target, target ? "programs" : "entries");
    if (program && !program->program && !target) {
        ipt__program_drop(context, program);
        return ipt__fail(IPT_ERROR_UNSUPPORTED,
                         "target is NULL, and the context has no device whose code that would be");
    }
    if (program && cuda)
        result = ipt__entry_compile(context, program, target, &compiled, &code_bytes);
    if (result) {
        ipt__program_drop(context, program);
        return result;
    }
    IPT_LOCK_ACQUIRE(&context->probe_lock);
    if (program)
        made = ipt__program_entry(context, program, target, cuda ? compiled : code, code_bytes, &needed);
    else {
        ipt__findings_key(context, key);
        needed = ipt__findings_entry(context, key, findings);
    }
    IPT_LOCK_RELEASE(&context->probe_lock);
    ipt__program_drop(context, program);
    free(compiled);
    if (program && !made)
        return ipt__fail(target ? IPT_ERROR_OUT_OF_MEMORY : IPT_ERROR_OPENCL,
                         "the device returns no code of entry %zu, or no memory is left for the code", index);
    if (entry && capacity >= needed)
        memcpy(entry, program ? made : findings, needed);
    ipt__release(&context->allocator, made);
    *bytes = needed;
    if (entry && capacity < needed)
        return ipt__fail(IPT_ERROR_INVALID_ARGUMENT, "capacity is %zu: %zu bytes are needed", capacity, needed);
    return IPT_SUCCESS;
}

#endif
