/* Batches: one action on each of very many small elements, such as 100,000 systems of six equations. */

#ifndef IPT_NO_BATCH

/* An element is a set of small matrices, its operands. An action is OpenCL C text that computes one element. ipt
 * generates the rest of the kernel. The kernel loads operands in long runs, converts layouts, avoids conflicts of local
 * memory's banks, and stores the results (Ha, King, Fu and Kirby 2013). For operands named A and x an action
 * sees:
 *   A(i, j)            the component in row i and column j, an lvalue unless A is only read
 *   A_ROWS, A_COLS, A_TYPE   constants
 *   IPT_LANE, IPT_LANES      this work-item's number among those of the element, and their number
 *   IPT_FOR_LANES(i, begin, end)   before a statement: the lanes share it for i of [begin, end)
 *   IPT_BARRIER()      lanes see what the others wrote before
 *   IPT_SUM(type, value)     the sum over the lanes, for all of them; type: an operand's, of 16 bytes at most
 *   IPT_ELEMENT        the element's number, a ulong
 *   IPT_UNROLL         before a loop: unrolls it, which lets registers hold an element
 *   a                  the argument of ipt_batch_execute, if the desc has argument_type
 * Call barriers and sums outside conditions. They may stand in loops of constant length. Written operands that are not
 * read begin with undefined values. The action writes all of their components. */

#define IPT_MAX_OPERANDS 8

/* Ready actions of linear algebra, for float, double, and complex numbers as float2 and double2. X(enumerator, name,
 * operands): each operand as NAME:RCa, with R rows, C columns (1, or a letter for a length), and access a: r read, w
 * written, b both. pivots and info are int, all others of one type. The texts in gen/kernels/elements say what each
 * computes. An element that is singular or not positive definite reports so in info; the others are right. */
#define IPT_ACTION_LIST(X)                                                                                             \
    X(IPT_ACTION_NONE, "none", "")                                                                                     \
    X(IPT_ACTION_DOT, "dot", "x:n1r y:n1r r:11w")                                                                      \
    X(IPT_ACTION_GEMV, "gemv", "A:mkr x:k1r y:m1w")                                                                    \
    X(IPT_ACTION_GEMM, "gemm", "A:mkr B:knr C:mnw")                                                                    \
    X(IPT_ACTION_POTRF, "potrf", "A:nnb info:11w")                /* Cholesky */                                       \
    X(IPT_ACTION_POTRS, "potrs", "A:nnr B:nmb")                   /* solves with potrf's result */                     \
    X(IPT_ACTION_POSV, "posv", "A:nnb B:nmb info:11w")            /* both */                                           \
    X(IPT_ACTION_TRSM, "trsm", "A:nnr B:nmb")                     /* solves with a triangle; trsv if m is 1 */         \
    X(IPT_ACTION_GETRF, "getrf", "A:nnb pivots:n1w info:11w")     /* LU with partial pivoting */                       \
    X(IPT_ACTION_GETRS, "getrs", "A:nnr pivots:n1r B:nmb")        /* solves with getrf's result */                     \
    X(IPT_ACTION_GESV, "gesv", "A:nnb pivots:n1w B:nmb info:11w") /* both */                                           \
    X(IPT_ACTION_GETRI, "getri", "A:nnb pivots:n1w info:11w")     /* the inverse of a general matrix */

#define IPT__ACTION_ENUMERATOR(name, text, operands) name,
typedef enum ipt_action { IPT_ACTION_LIST(IPT__ACTION_ENUMERATOR) IPT__ACTION_COUNT } ipt_action;

/* The name in IPT_ACTION_LIST, or "unknown". Never NULL. */
IPT_API const char *ipt_action_string(ipt_action action);

/* Options of ready actions, combined by |. Transposed operands have the shape before their transposition. */
#define IPT_TRANSPOSE_A 1u /* gemv, gemm, trsm */
#define IPT_TRANSPOSE_B 2u /* gemm */
#define IPT_CONJUGATE_A 4u /* dot (of x), gemv, gemm, trsm */
#define IPT_CONJUGATE_B 8u /* gemm */
#define IPT_UPPER 16u      /* trsm: A is upper, not lower */
#define IPT_UNIT 32u       /* trsm: the diagonal of A counts as 1, whatever its values */

/* What an action does with an operand. */
typedef enum ipt_access { IPT_READ = 1, IPT_WRITE = 2, IPT_READ_WRITE = 3 } ipt_access;

/* The places of elements' components in an operand's buffer. A component is one value of the operand's type, q its
 * number i * cols + j. X(enumerator, name) */
#define IPT_LAYOUT_LIST(X)                                                                                             \
    X(IPT_LAYOUT_ELEMENTS, "elements") /* one element after the other: e * stride + q. stride 0: rows * cols */        \
    X(IPT_LAYOUT_PLANES, "planes")     /* a plane for each component: q * stride + e. stride 0: count */               \
    X(IPT_LAYOUT_BLOCKS, "blocks") /* interleaved, `width` elements to a block: e / width * stride + q * width + */    \
    /* e % width. stride 0: rows * cols * width */

typedef enum ipt_layout { IPT_LAYOUT_LIST(IPT__ENUMERATOR) IPT__LAYOUT_COUNT } ipt_layout;

/* The name in IPT_LAYOUT_LIST, or "unknown". Never NULL. */
IPT_API const char *ipt_layout_string(ipt_layout layout);

/* Execution models: the work-items of an element, and where they find it (Ha et al. 2013, sections III.B and III.E).
 * X(enumerator, name) */
#define IPT_MODEL_LIST(X)                                                                                              \
    X(IPT_MODEL_AUTO, "auto")               /* the planner chooses */                                                  \
    X(IPT_MODEL_REGISTERS, "registers")     /* a work-item to an element, in registers */                              \
    X(IPT_MODEL_ITEM, "item")               /* a work-item to an element, in local memory */                           \
    X(IPT_MODEL_MEMORY, "memory")           /* a work-item to an element, in the buffers themselves */                 \
    X(IPT_MODEL_GROUP, "group")             /* `lanes` neighbouring work-items to an element, in local memory */       \
    X(IPT_MODEL_INTERLEAVED, "interleaved") /* as GROUP, but neighbouring work-items have different elements */        \
    X(IPT_MODEL_WORK_GROUP, "work-group")   /* a work-group to an element, in local memory */                          \
    X(IPT_MODEL_LARGE, "large")             /* a work-group to an element, in the buffers themselves */

typedef enum ipt_model { IPT_MODEL_LIST(IPT__ENUMERATOR) IPT__MODEL_COUNT } ipt_model;

/* The name in IPT_MODEL_LIST, or "unknown". Never NULL. */
IPT_API const char *ipt_model_string(ipt_model model);

typedef struct ipt_batch_operand {
    const char *name;  /* of its accessor in the action: an identifier of 1 to 31 characters */
    const char *type;  /* the OpenCL C type of a component: a number, or a vector of 2, 4, 8 or 16, such as "double" */
    size_t rows, cols; /* of an element; 0: 1 */
    ipt_access access;
    ipt_layout layout;
    size_t stride; /* components; see IPT_LAYOUT_LIST. 0: no gaps */
    size_t width;  /* elements of a block, for IPT_LAYOUT_BLOCKS */
} ipt_batch_operand;

/* Where an operand of an execution begins. byte_offset is a multiple of the operand's type; of 16 bytes, if layout
 * ELEMENTS has elements whose bytes and stride are such multiples. */
typedef struct ipt_batch_buffer {
    cl_mem buffer;
    size_t byte_offset;
} ipt_batch_buffer;

typedef struct ipt_batch_desc {
    size_t count; /* elements */
    const ipt_batch_operand *operands;
    size_t operand_count;  /* 1 to IPT_MAX_OPERANDS */
    ipt_action ready;      /* a ready action; NONE: the next two fields are the action */
    unsigned options;      /* of the ready action: IPT_TRANSPOSE_A ... */
    const char *action;    /* OpenCL C: the body of a function. Comments and braces end in the text that begins them */
    const char *functions; /* OpenCL C before it, such as functions that it calls; NULL: none */
    const char *argument_type; /* the OpenCL C type of a: a number or vector of 32 bytes at most; NULL: no a. dot, gemv
                                  and gemm take alpha and beta: they compute a.x * result + a.y * former value. a is
                                  float2 or double2; with complex a.xy and a.zw it is float4 or double4 */
    ipt_model model;
    ipt_method method; /* IPT_METHOD_UUSCI_2013: model, lanes and group_size, which are 0 then, as published; or 0 */
    size_t lanes;      /* for GROUP and INTERLEAVED: 2, 4, 8 ... work-items to an element; 0: chosen */
    size_t group_size; /* work-items of a work-group: a power of two, or a multiple of 32; 0: chosen */
    unsigned flags;    /* IPT_CACHE_ONLY; IPT_MEASURE: the fastest model, of those with cached programs if both; or 0 */
    const ipt_batch_buffer *measure_buffers; /* for IPT_MEASURE: operands as executions will have them, with a = 0.
                                                Those that are only written change */
    size_t max_device_memory; /* bytes for ipt_batch_execute_host; 0: 192 MiB, or less on small devices */
} ipt_batch_desc;             /* count, operands, operand_count and action or ready are required */

typedef struct ipt_batch ipt_batch;

/* ipt_batch_create for a desc of desc_bytes bytes: see ipt_context_create_sized. */
IPT_API ipt_result ipt_batch_create_sized(size_t desc_bytes, ipt_context *context, const ipt_batch_desc *desc,
                                          ipt_batch **batch);

/* Creates the plan of a batch: chooses a model, builds its program unless the cache has it (PoCL finishes compiling it
 * at the first execution). Copies the desc's texts. On failure *batch is NULL. Errors: INVALID_ARGUMENT, BUILD (the log
 * counts the lines of action and functions from 1), UNSUPPORTED (a forced model that the device has no memory for, with
 * the reason; a type's extension; an action that is not ready, by the native driver), OUT_OF_MEMORY, CACHE_MISS,
 * OPENCL.
 */
IPT_API_INLINE ipt_result ipt_batch_create(ipt_context *context, const ipt_batch_desc *desc, ipt_batch **batch)
{
    return ipt_batch_create_sized(sizeof *desc, context, desc, batch);
}

/* Enqueues the action on all elements: one kernel. buffers has one entry for each operand, in their order. argument
 * points to a value of argument_type, or is NULL without one. An operand that is written overlaps no other. Never
 * blocks, and flushes the queue. Threads may share the plan. *event (may be NULL) completes with the kernel; the caller
 * releases it. Errors leave all buffers unchanged: INVALID_ARGUMENT, UNSUPPORTED (2^31 work-groups or more), OPENCL. */
IPT_API ipt_result ipt_batch_execute(ipt_batch *batch, cl_command_queue queue, const ipt_batch_buffer *buffers,
                                     const void *argument, cl_uint num_wait_events, const cl_event *wait_events,
                                     cl_event *event);

/* ipt_batch_execute_host for options of options_bytes bytes: see ipt_context_create_sized. */
IPT_API ipt_result ipt_batch_execute_host_sized(size_t options_bytes, ipt_batch *batch, void *const *memory,
                                                const void *argument, const ipt_host_options *options);

/* Executes on operands in host memory, memory[i] for operand i, in chunks of elements that stream through the device.
 * Batches may exceed the device. Blocks until all is done. Memory of ipt_host_alloc transfers fastest. Bytes between
 * elements stay as they are. options (may be NULL): progress counts bytes over the bus. Errors: INVALID_ARGUMENT,
 * UNSUPPORTED (IPT_NO_HOST_STREAMING; max_device_memory is too little), OUT_OF_MEMORY, OPENCL, CANCELLED: all is
 * unchanged. INCOMPLETE: some elements are results. */
IPT_API_INLINE ipt_result ipt_batch_execute_host(ipt_batch *batch, void *const *memory, const void *argument,
                                                 const ipt_host_options *options)
{
    return ipt_batch_execute_host_sized(sizeof *options, batch, memory, argument, options);
}

/* Describes model, work-groups and memory in lines of text. Lives as long as the plan. Never NULL; "" for NULL. */
IPT_API const char *ipt_batch_describe(const ipt_batch *batch);

/* Returns the OpenCL C text of the plan's program. NULL for NULL, and with IPT_NO_KERNEL_SOURCE. Lives as long as the
 * plan. */
IPT_API const char *ipt_batch_source(const ipt_batch *batch);

/* Destroys the plan; NULL is fine. Never waits for the device: executions in flight complete. */
IPT_API void ipt_batch_destroy(ipt_batch *batch);

#endif /* IPT_NO_BATCH */
