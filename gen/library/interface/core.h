/* The core: contexts, plans, executions, errors. A newcomer can stop at its end. */

/* The results of all calls that can fail. X(enumerator, value, sentence) */
#define IPT_RESULT_LIST(X)                                                                                             \
    X(IPT_SUCCESS, 0, "success")                                                                                       \
    X(IPT_ERROR_INVALID_ARGUMENT, 1, "an argument is invalid")                                                         \
    X(IPT_ERROR_OUT_OF_MEMORY, 2, "out of host or device memory")                                                      \
    X(IPT_ERROR_NO_DEVICE, 3, "no OpenCL device, or none that matches")                                                \
    X(IPT_ERROR_BUILD, 4, "the device's compiler refused a program")                                                   \
    X(IPT_ERROR_UNSUPPORTED, 5, "this device or this workspace limit cannot do what the desc requests")                \
    X(IPT_ERROR_CACHE_MISS, 6, "a program is not in the cache and compiling is not allowed")                           \
    X(IPT_ERROR_INCOMPLETE, 7, "execution failed after some stages were enqueued: the content is undefined")           \
    X(IPT_ERROR_OPENCL, 8, "an OpenCL call failed")                                                                    \
    X(IPT_ERROR_CANCELLED, 9, "a callback requested an end before anything was changed")                               \
    X(IPT_ERROR_STORAGE, 10, "a storage could not be read or written")                                                 \
    X(IPT_ERROR_MPI, 11, "an MPI call failed")

#define IPT__RESULT_ENUMERATOR(name, value, sentence) name = value,
typedef enum ipt_result { IPT_RESULT_LIST(IPT__RESULT_ENUMERATOR) IPT__RESULT_COUNT } ipt_result;

/* Returns a sentence for a result. ipt_context_error returns the details. Never NULL. */
IPT_API const char *ipt_result_string(ipt_result result);

/* Returns the version of the linked implementation: IPT_VERSION of the header that it was compiled from. */
IPT_API int ipt_version(void);

/* ------------------------------------------------------------------------------------------------------------------ */
/* Context: one OpenCL device with its compiled programs and its limits. Threads may share it. */
/* ------------------------------------------------------------------------------------------------------------------ */

typedef struct ipt_context ipt_context;

/* The allocator of host memory. Set alloc and free both or neither (then malloc and free). Any thread that calls ipt
 * may call them. alloc returns memory aligned for every type, or NULL. */
typedef struct ipt_allocator {
    void *(*alloc)(size_t bytes, void *user);
    void (*free)(void *pointer, void *user);
    void *user; /* passed to both */
} ipt_allocator;

/* The receiver of messages that fit no error: complete build logs, names of built programs. Any thread that calls ipt
 * may call it. It must not call ipt. ipt itself never prints. */
typedef struct ipt_logger {
    void (*log)(const char *message, void *user);
    void *user; /* passed to log */
} ipt_logger;

typedef struct ipt_binary ipt_binary; /* see >>interface/programs */
typedef struct ipt_context_desc {
    cl_context context;  /* NULL: ipt creates one. Retained, so the caller may release it. With IPT_NO_OPENCL, that of
                            another ipt_context */
    cl_device_id device; /* NULL: selected by device_name, else by the environment's IPT_DEVICE, else a GPU, else any */
    const char *device_name; /* part of a platform's or device's name, case ignored; NULL: any device */
    const char *cache_dir; /* folder of compiled programs. NULL: the environment's IPT_CACHE_DIR, else the user's cache
                              folder. "" in either place, or "none" in the environment: none. See >>cache */
    ipt_allocator allocator; /* zero: malloc and free */
    ipt_logger logger;       /* zero: silent */
    size_t max_local_memory; /* bytes of local memory that one work-group may use. 0: the size that the device reports,
                                or more if ipt finds more. At least 1024 */
    size_t resident_groups;  /* work-groups of a cooperative kernel that run at the same time. 0: measured. For tests,
                                and for devices of which ipt may use only a part */
    size_t wait_polls;       /* polls of a waiting work-group before it leaves its work to others; 0: default */
    size_t cache_limit;      /* bytes of the files in cache_dir; ipt removes the oldest files above it. 0: 256 MiB */
    const ipt_binary *binaries; /* compiled programs, searched before cache_dir. Not copied */
    size_t binary_count;
    const char *profile; /* text of ipt_context_profile: the context plans without any device. Its plans can be created
                            and described, and their sources read, but not executed. NULL: a real context */
    ipt_driver driver;   /* AUTO: a GPU or accelerator of OpenCL, or the named device; else this CPU, by NATIVE if it is
                            there. device_name and IPT_DEVICE may say "opencl", "native" and "cuda", too */
    size_t threads; /* NATIVE: of a launch, the caller's among them. 0: the environment's IPT_THREADS, else one for each
                       processor */
    void *cuda_context; /* CUDA: a CUcontext. The caller keeps it until the ipt_context's last plan is destroyed. NULL:
                           the thread's current context, else the primary one of the device */
} ipt_context_desc;     /* zero-initialised means defaults */

/* ipt_context_create for a desc of desc_bytes bytes. ipt_context_create passes the size that the program's ipt.h
 * declares, so that programs and a shared library may differ in version. A later library takes the fields that the
 * program's desc lacks as zero. An earlier library refuses a desc whose further fields are not zero. Errors: also
 * UNSUPPORTED (fields that the library does not know). */
IPT_API ipt_result ipt_context_create_sized(size_t desc_bytes, const ipt_context_desc *desc, ipt_context **context);

/* Creates a context. A desc of NULL means defaults. On failure *context is NULL. Errors: INVALID_ARGUMENT (for a
 * profile with the line number), NO_DEVICE, OUT_OF_MEMORY, UNSUPPORTED (OpenCL before 1.2, or known to compute wrong
 * results), OPENCL. */
IPT_API_INLINE ipt_result ipt_context_create(const ipt_context_desc *desc, ipt_context **context)
{
    return ipt_context_create_sized(sizeof *desc, desc, context);
}

/* Returns the text of the calling thread's last failure. It is valid until the thread's next failure. context may be
 * NULL: each thread has one text, whatever the context. Never NULL; "" before the first failure. */
IPT_API const char *ipt_context_error(const ipt_context *context);

/* Return the OpenCL context and device of a context, for creating queues and buffers. They are not retained for the
 * caller: they live as long as the ipt_context, unless the caller retains them. NULL for NULL. A context of the native
 * driver has neither: NULL, except with IPT_NO_OPENCL. */
IPT_API cl_context ipt_context_cl_context(const ipt_context *context);
IPT_API cl_device_id ipt_context_cl_device(const ipt_context *context);

/* Releases the caller's reference to a context. Plans hold references of their own. NULL is fine. */
IPT_API void ipt_context_destroy(ipt_context *context);

/* Lists all OpenCL devices of this machine, in the order in which ipt_context_create examines them, then CUDA's with
 * IPT_CUDA, then the native driver's, this CPU. Writes at most capacity devices (devices may be NULL if capacity is 0)
 * and their total number to *count. Errors: INVALID_ARGUMENT, NO_DEVICE (*count is 0), OPENCL. */
IPT_API ipt_result ipt_device_list(cl_device_id *devices, size_t capacity, size_t *count);

/* Describes a device in lines of text: name, platform, version, memory. capacity is the size of text in bytes,
 * including the terminating zero. A longer description is cut. Errors: INVALID_ARGUMENT, OPENCL. */
IPT_API ipt_result ipt_device_describe(cl_device_id device, char *text, size_t capacity);

/* ------------------------------------------------------------------------------------------------------------------ */
/* Plan: the stages, kernels and memory that transpose one shape in place on one context. */
/* ------------------------------------------------------------------------------------------------------------------ */

/* Flags of a plan, combined by |. */
#define IPT_ESTIMATE 0u       /* choose by the planner's model (the default) */
#define IPT_MEASURE 1u        /* time the best few on the device and take the fastest: needs one temporary matrix */
#define IPT_CACHE_ONLY 2u     /* never compile OpenCL C: a missing program is IPT_ERROR_CACHE_MISS */
#define IPT_NO_COOPERATIVE 4u /* no kernel may wait for another work-group */
#define IPT_OUT_OF_PLACE 16u  /* build the program of ipt_plan_execute_out_of_place now, not at its first call */
/* May add rows and columns during the execution, so that the sides have factors. The buffer has room for them: see
 * ipt_plan_padding. */
#define IPT_PAD 8u

typedef struct ipt_plan ipt_plan;
#define IPT_MAX_RANK 16 /* axes of an array */

typedef struct ipt_plan_desc {
    size_t rows, cols;    /* row-major input of rows x cols elements, output cols x rows (column-major: swap the two) */
    size_t elem_size;     /* bytes, any from 1 up. 1, 2, 4, 8, 16 are fast; 3, 12, 24 ... work */
    size_t batch;         /* number of matrices; 0: 1 */
    size_t batch_stride;  /* bytes from one matrix to the next; 0: no gaps */
    unsigned flags;       /* IPT_ESTIMATE, IPT_MEASURE ... */
    size_t max_workspace; /* bytes of device memory that the plan may hold. 0: 1 % of the matrices, at least 1 MiB; 1:
                             as little as possible */
    ipt_sequence sequence;   /* IPT_SEQUENCE_AUTO or a forced sequence */
    size_t tile_m, tile_n;   /* elements; 0: chosen. They divide rows and cols, but for TWO_PASS, EXCHANGE, IPT_PAD */
    cl_mem measure_buffer;   /* buffer for IPT_MEASURE, at least as large as the batch; its content is lost. NULL: a
                                temporary one. Not retained */
    ipt_variant variant_010; /* kernel of stages that move single elements, in sequences 1 to 4.3. With AUTO one of BS
                                for whole matrices, with SQUARE one of SWAP */
    ipt_variant variant_100; /* kernel of stages that move super-elements, and of sequence 1 */
    ipt_variant variant_pad; /* IPT_PAD: IPT_VARIANT_PAD_CHAINED, or AUTO for a faster kernel */
    size_t flag_spread;  /* words over which forced PTTWAC kernels spread the flags of one word: 1, 2 ... 32 (one flag
                            per word); 0: 1 */
    ipt_format from, to; /* formats other than a transposition's; AUTO only. tile_m and tile_n are the blocks' sides, if
                            there are blocks (ASTA: tile_n is 1 unless given) */
    ipt_move move;       /* a rotation or reflection instead of a transposition; in place only */
    const char *expression;      /* OpenCL C: the new value of each element x, such as "x * x". NULL: unchanged. Copied.
                                    Elements of 1, 2, 4, 8 or 16 bytes only. One line, without '//' and '#'.
                                    Its comments and parentheses end within it. A backslash is in a literal only. It
                                    may name the place of x: see below */
    const char *expression_type; /* the OpenCL C type of x and of the result, of elem_size bytes, such as "float" or
                                    "uchar4". double and half, also within expression, need the device's cl_khr_fp64 and
                                    cl_khr_fp16: UNSUPPORTED without */
    const void *expression_argument; /* the value of `a` in expression, such as "x * a". NULL: no a. Copied. Programs do
                                        not depend on the value: plans that differ only there share them */
    const char *expression_argument_type; /* the OpenCL C type of a: a number or vector of 16 bytes at most, such as
                                             "float". NULL: expression_type */
    ipt_host host;                        /* for ipt_plan_execute_host and its variants */
    size_t host_queues; /* parts of a host matrix, each with its own command queue (Q of Sung et al. 2014), at most 64;
                           0: chosen */
    size_t max_device_memory; /* bytes of device memory for host matrices and storages, workspace included. 0: what the
                                 device has. Larger matrices are cut; such a plan executes host matrices only */
    size_t max_host_memory; /* bytes of host memory that ipt_plan_execute_storage may take. Not 0: the plan serves that
                               function only */
    size_t row_pitch;       /* bytes from one row of the source to the next; 0: no gaps. See below */
    size_t row_pitch_out;   /* bytes from one row of the result to the next; 0: no gaps */
    unsigned rank;          /* axes of an array; 0: the desc is of matrices. See below */
    size_t shape[IPT_MAX_RANK];       /* elements along each axis before. The last axis is contiguous */
    unsigned axes[IPT_MAX_RANK];      /* axis i of the result is axis axes[i] of the source */
    size_t strides[IPT_MAX_RANK];     /* bytes from one index of axis i of the source to the next; all 0: no gaps. See
                                         below */
    size_t strides_out[IPT_MAX_RANK]; /* bytes from one index of axis i of the result to the next; all 0: no gaps */
    ipt_heuristic heuristic;          /* a paper's choice of tile_m and tile_n, which are 0 then. Algorithm 3 chooses an
                                         automatic sequence. ALGORITHM_5 needs IPT_PAD. UNSUPPORTED if it finds no tiles */
    ipt_method method; /* a paper's complete method, for matrices: it chooses sequence, tiles, kernels and padding,
                          whose fields are 0 then. UNSUPPORTED if the paper has no tiles for the shape or the device */
} ipt_plan_desc;       /* rows, cols and elem_size, or rank, shape, axes and elem_size, are required; zeros elsewhere
                          mean defaults */

/* Arrays of up to IPT_MAX_RANK axes, such as numpy.transpose(source, axes) without a second array. rows and cols are 0
 * then, batch and batch_stride are of arrays. The plan takes one or more passes, each a batch of transpositions. Its
 * description lists them.
 *   byte_offset and batch_stride are multiples of the largest power of two that divides elem_size (16 at most), as
 * those of matrices are: on every device, within every limit, and whatever passes the planner takes. Where axes stay
 * together, passes move longer units. They are fastest at places that are multiples of 16. At other places they move
 * the element's own units, for which the plan has kernels of their own. Forced sequences, tiles, kernels, formats,
 * moves, pitches and IPT_PAD are for matrices. Arrays that exceed max_device_memory or the device cross the bus once
 * for each pass: a single time if several of them fit the device, or if their first axis becomes the last one or the
 * reverse and runs are long enough. Arrays that are distributed over several contexts cross it once for each pass, too.
 * In a storage, the steps of the passes follow one another. */

/* Rows with gaps, such as those of a region in a larger picture. The source has `rows` rows of cols elements, row_pitch
 * bytes apart. The result has `cols` rows of rows elements, row_pitch_out bytes apart (moves that do not transpose:
 * `rows` rows of cols elements). Both forms begin at the same byte. The buffer holds both.
 *   A pitch is at least the bytes of its row, and a multiple of the largest power of two that divides elem_size (16 at
 * most). A batch_stride of 0 is the larger of row_pitch and row_pitch_out, each times its number of rows.
 *   An execution writes only bytes at which the source or the result has an element. All other bytes between the rows
 * keep their values. Bytes at which only the source has an element have any value afterwards. Out of place, only bytes
 * of the result's elements are written.
 *   The move is an exchange of bands, or stays within rows. It has no two passes. So thin matrices may need a larger
 * max_workspace: the error UNSUPPORTED names it. Formats, IPT_PAD, storages and forced sequences other than SQUARE and
 * EXCHANGE need dense rows, and so do host matrices that are cut. */

/* Arrays with gaps, such as a region of a larger array. Index i of axis k lies i * strides[k] bytes behind index 0 in
 * the source. Index i of axis k of the result lies i * strides_out[k] bytes behind index 0. If all strides of a side
 * are 0, that side has no gaps: its last axis is contiguous. Both sides begin at the same byte. The buffer holds both.
 *   The strides of a side may have any sequence. Sort its axes by them, with that of the batch: each stride is at least
 * the bytes from the first element to the last one's end of the axes with smaller strides. It is a multiple of the
 * largest power of two that divides elem_size (16 at most). Strides of axes of one element do not count. batch_stride
 * is a stride of both sides, and may be the smallest one. 0: over both sides, the largest product of a stride and its
 * axis' length. Bytes between elements keep their values, as those between rows do. Views without gaps have the plan of
 * their array. Axes that stay are batches. If two axes remain, and each side has no gaps between the elements of one of
 * them, the plan moves matrices with gaps. Last axes that stay without gaps belong to their elements. All other views
 * move element by element, which is much slower. Pixels that become planes, or the reverse, move as parts of rows.
 * Views have at most 8 axes, after neighbours that stay together have been joined. Errors: INVALID_ARGUMENT (overlap,
 * alignment, overflow, a stride of an axis beyond rank, strides of matrices), UNSUPPORTED (more axes; with plans for
 * several contexts, limits of memory, a host matrix in parts, or an expression that names places). */

/* Places. An expression may name the place of x in the result, by numbers from 0 of type long: i0, i1 and so on along
 * the axes, and b, the number of the matrix or array in the batch. i and j are other names of i0 and i1: the row and
 * the column in the result of a matrix. So a channel can have its own factors: "(x - (j == 0 ? 0.485f : 0.456f)) * a".
 *   Boxes compute such an expression on the way. Other plans take a pass of its own over the result. Elements have
 * places in matrices and in arrays of up to 8 axes, but not in formats, with IPT_PAD, in storages, in matrices that are
 * cut and in plans for several contexts: these fail with UNSUPPORTED. Host matrices then go whole, not overlapped. An
 * axis that the result lacks is INVALID_ARGUMENT. */

/* Expressions on the native driver are compiled with the program: see >>moves and IPT_NATIVE_EXPRESSIONS. Plans for any
 * shape have those, with the same text, expression_type and type of `a`. Others are UNSUPPORTED. They take a pass of
 * their own over the result, except in views. */

/* ipt_plan_create for a desc of desc_bytes bytes: see ipt_context_create_sized. */
IPT_API ipt_result ipt_plan_create_sized(size_t desc_bytes, ipt_context *context, const ipt_plan_desc *desc,
                                         ipt_plan **plan);

/* Creates a plan: selects its stages, builds missing programs, allocates its workspace and writes to it once. Where
 * host matrices go in parts or pieces, it plans those, too: IPT_HOST_SYNCHRONOUS saves that if none is executed. On
 * failure *plan is NULL. Errors: INVALID_ARGUMENT, OUT_OF_MEMORY, BUILD, UNSUPPORTED, CACHE_MISS, OPENCL. */
IPT_API_INLINE ipt_result ipt_plan_create(ipt_context *context, const ipt_plan_desc *desc, ipt_plan **plan)
{
    return ipt_plan_create_sized(sizeof *desc, context, desc, plan);
}

/* Enqueues the transposition of the batch that starts byte_offset bytes into buffer. Never blocks, allocates nothing,
 * and flushes the queue. All commands wait for wait_events. *event (may be NULL) completes after the last command; the
 * caller releases it. Executions of one plan share its workspace: the second waits for the first on the device, on any
 * queue.
 *   byte_offset is a multiple of the largest power of two that divides elem_size (16 at most). So is the address of
 * host memory under the buffer (CL_MEM_USE_HOST_PTR), if the device is a CPU. A GPU that works in the host's memory
 * needs a multiple of 16.
 *   Errors before the first command leave the buffer unchanged and *event NULL: INVALID_ARGUMENT, OPENCL,
 * OUT_OF_MEMORY, UNSUPPORTED (2^31 work-groups or more). After INCOMPLETE, *event belongs to the last enqueued
 * stage. */
IPT_API ipt_result ipt_plan_execute(ipt_plan *plan, cl_command_queue queue, cl_mem buffer, size_t byte_offset,
                                    cl_uint num_wait_events, const cl_event *wait_events, cl_event *event);

/* Records ipt_plan_execute in command_buffer, a cl_command_buffer_khr of cl_khr_command_buffer for `queue`, which may
 * be launched any number of times while the plan lives. The caller orders its launches and other executions of the
 * plan, which share the workspace. The plan then clears its counters before each execution. Work-groups of some stages
 * wait for each other: launch nothing else on the device meanwhile that waits likewise. Errors: as ipt_plan_execute,
 * and UNSUPPORTED (a device without the extension). After INCOMPLETE, release the command buffer. */
IPT_API ipt_result ipt_plan_record(ipt_plan *plan, void *command_buffer, cl_command_queue queue, cl_mem buffer,
                                   size_t byte_offset);

/* Enqueues the transposition from source to destination, which must not overlap. ipt only reads source. Both hold the
 * batch with the plan's batch_stride. The first call for an element size builds its program (except with
 * IPT_CACHE_ONLY) and may block. Later calls only enqueue. Errors: as ipt_plan_execute, and BUILD, CACHE_MISS, and
 * UNSUPPORTED for plans with IPT_PAD, formats, or moves other than transpose. */
IPT_API ipt_result ipt_plan_execute_out_of_place(ipt_plan *plan, cl_command_queue queue, cl_mem source,
                                                 size_t source_offset, cl_mem destination, size_t destination_offset,
                                                 cl_uint num_wait_events, const cl_event *wait_events, cl_event *event);

/* Transposes host memory in place, and returns when data holds the result. data needs no alignment. Devices that do not
 * share the host's memory get memory for the matrix. Calls on one plan take turns. They plan and compile nothing but
 * what larger.md names. A failure leaves data unchanged, except for INCOMPLETE: see >>interface/host. Errors:
 * INVALID_ARGUMENT, OUT_OF_MEMORY, OPENCL, UNSUPPORTED, INCOMPLETE, and those of ipt_plan_create. */
IPT_API ipt_result ipt_plan_execute_host(ipt_plan *plan, void *data);

/* Returns the bytes of device memory that the plan holds beside the matrix. An execution of a host matrix by parts adds
 * those of the plans for parts. 0 for NULL. */
IPT_API size_t ipt_plan_workspace(const ipt_plan *plan);

/* Describes stages, sizes and kernels in lines of text. Lives as long as the plan. Never NULL; "" for NULL. */
IPT_API const char *ipt_plan_describe(const ipt_plan *plan);

/* Destroys a plan; NULL is fine. Never waits for the device: executions in flight complete. */
IPT_API void ipt_plan_destroy(ipt_plan *plan);

/* Transposes a host matrix of rows x cols elements in place on the default device. Creates and destroys its context on
 * every call. ipt_context_error(NULL) returns the details of a failure. Errors: as the calls that it makes. */
IPT_API ipt_result ipt_transpose(void *data, size_t rows, size_t cols, size_t elem_size);
