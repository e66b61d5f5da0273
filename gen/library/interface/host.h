/* Host matrices: pinned memory, progress, threads, several devices; matrices in a storage. */

/* Allocates and frees pinned host memory, which devices transfer fastest. *memory is NULL on failure. ipt_host_free
 * (NULL is fine) or the end of the context frees it. It must not be in use then. Errors: INVALID_ARGUMENT,
 * OUT_OF_MEMORY, UNSUPPORTED. */
IPT_API ipt_result ipt_host_alloc(ipt_context *context, size_t bytes, void **memory);
IPT_API void ipt_host_free(ipt_context *context, void *memory);

/* Callbacks of the functions for host matrices. Zero-initialised: none. */
typedef struct ipt_host_options {
    /* Called between the parts, by the thread that moves them: done of total bytes have crossed the bus. Return nonzero
     * to cancel. Must not call ipt for the same plan. */
    int (*progress)(size_t done, size_t total, void *user);
    /* Called at the end of ipt_plan_execute_host_async, by its thread. ipt_context_error returns details there. */
    void (*finished)(ipt_result result, void *user);
    void *user; /* passed to both */
} ipt_host_options;

/* ipt_plan_execute_host_with for options of options_bytes bytes: see ipt_context_create_sized. */
IPT_API ipt_result ipt_plan_execute_host_with_sized(size_t options_bytes, ipt_plan *plan, void *data,
                                                    const ipt_host_options *options);

/* ipt_plan_execute_host with options (may be NULL), by the method of desc.host. If progress cancels: CANCELLED with
 * data unchanged, or INCOMPLETE. Memory of ipt_host_alloc transfers fastest. With IPT_PAD data has room for the
 * padding, which is overwritten. Bytes between the matrices of a batch are neither read nor written. Plans by parts
 * take device memory and queues at the first call, and keep them for later calls. ipt writes to data only after
 * everything is uploaded and transposed. (Batches: all of a part. Stages: the one that needs the whole matrix is done.)
 * An earlier failure leaves data unchanged; a later one returns IPT_ERROR_INCOMPLETE. A matrix that is cut (see
 * desc.max_device_memory) changes from its first downloaded byte on. */
IPT_API_INLINE ipt_result ipt_plan_execute_host_with(ipt_plan *plan, void *data, const ipt_host_options *options)
{
    return ipt_plan_execute_host_with_sized(sizeof *options, plan, data, options);
}

/* ipt_plan_execute_host_async for options of options_bytes bytes: see ipt_context_create_sized. */
IPT_API ipt_result ipt_plan_execute_host_async_sized(size_t options_bytes, ipt_plan *plan, void *data,
                                                     const ipt_host_options *options, cl_event *event);

/* Executes on host memory in a thread of its own, and returns at once. *event (may be NULL) is a user event that
 * completes with the execution. The caller releases it. On failure its status is minus an ipt_result. (Check the
 * status: NVIDIA's clWaitForEvents returns success even then.) Keep plan and data until the execution ends. Until then
 * enqueue no execution that waits for the event: none of this plan, and none with cooperative kernels on its context.
 * Each would wait for the other for ever. Errors: INVALID_ARGUMENT, OUT_OF_MEMORY, OPENCL, UNSUPPORTED
 * (IPT_NO_THREADS). options->finished and the event report all others. */
IPT_API_INLINE ipt_result ipt_plan_execute_host_async(ipt_plan *plan, void *data, const ipt_host_options *options,
                                                      cl_event *event)
{
    return ipt_plan_execute_host_async_sized(sizeof *options, plan, data, options, event);
}

/* ipt_plan_create_split for a desc of desc_bytes bytes: see ipt_context_create_sized. */
IPT_API ipt_result ipt_plan_create_split_sized(size_t desc_bytes, ipt_context *const *contexts, size_t count,
                                               const ipt_plan_desc *desc, ipt_plan **plan);

/* Creates a plan that distributes host matrices over the devices of several contexts. They share one cl_context; each
 * has a share of the parts. The plan executes host matrices only, and belongs to its first context. Of an array, each
 * pass is distributed, and keeps its own device memory. Errors: as ipt_plan_create; UNSUPPORTED
 * (IPT_NO_HOST_STREAMING). */
IPT_API_INLINE ipt_result ipt_plan_create_split(ipt_context *const *contexts, size_t count, const ipt_plan_desc *desc,
                                                ipt_plan **plan)
{
    return ipt_plan_create_split_sized(sizeof *desc, contexts, count, desc, plan);
}

#ifndef IPT_NO_STORAGE
/* A matrix outside memory: in a file, say. */
typedef struct ipt_storage {
    /* Read and write `bytes` bytes, `offset` bytes after the start of the first matrix. Several threads call them at a
     * time, for ranges that do not overlap. Return nonzero to report a failure. */
    int (*read)(void *memory, size_t offset, size_t bytes, void *user);
    int (*write)(const void *memory, size_t offset, size_t bytes, void *user);
    /* Called once for each step in order, before the step writes its first byte (NULL: never called). All earlier steps
     * are written. The `bytes` bytes at content lie in memory. Of the bytes that a resumption needs, only these have
     * changed since the last call. They stay unchanged until the next call. To resume, keep the pieces of all calls,
     * each at its place in memory, and step + 1. Nothing else of memory counts. Some steps write nothing: they only
     * report a piece. Return nonzero to cancel. */
    int (*ready)(size_t step, size_t steps, const void *content, size_t bytes, void *user);
    void *user;    /* passed to all three */
    void *memory;  /* ipt_plan_storage_memory bytes, for resumption; NULL: allocated and freed by the call */
    size_t resume; /* 0, or the last reported step plus 1: memory then holds the pieces that all calls of ready have
                      reported. The execution resumes there, with a plan made from the same desc */
} ipt_storage;

/* ipt_plan_execute_storage for a storage of storage_bytes bytes: see ipt_context_create_sized. */
IPT_API ipt_result ipt_plan_execute_storage_sized(size_t storage_bytes, ipt_plan *plan, const ipt_storage *storage);

/* Transposes a matrix, or each matrix of a batch, in place in a storage. Takes no more than desc.max_host_memory bytes
 * of host memory. It runs in steps: it reads one step and processes one while it writes another. No step writes bytes
 * that an earlier step has not read. Each step can be written again. Errors: INVALID_ARGUMENT, OUT_OF_MEMORY, CANCELLED
 * and STORAGE (nothing has been written), INCOMPLETE (something has), OPENCL. */
IPT_API_INLINE ipt_result ipt_plan_execute_storage(ipt_plan *plan, const ipt_storage *storage)
{
    return ipt_plan_execute_storage_sized(sizeof *storage, plan, storage);
}

/* Returns the bytes of ipt_storage.memory. 0 for plans that are not for storages. */
IPT_API size_t ipt_plan_storage_memory(const ipt_plan *plan);

/* Returns the number of steps of an execution. ipt calls ipt_storage.ready for steps 0 to this number - 1. 0 for plans
 * that are not for storages. */
IPT_API size_t ipt_plan_storage_steps(const ipt_plan *plan);

/* Returns 1 if resuming at `resume` needs the piece of memory that ready reported for `step`, unchanged. Otherwise
 * returns 0. With a checksum of each piece, a caller can verify all needed pieces before it resumes. */
IPT_API int ipt_plan_storage_needs(const ipt_plan *plan, size_t step, size_t resume);
#endif
