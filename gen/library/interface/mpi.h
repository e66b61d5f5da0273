/* Matrices and arrays in block rows over the ranks of an MPI communicator. Needs mpi.h, with IPT_MPI defined only. */

#ifdef IPT_MPI
#include <mpi.h>
#ifdef OPEN_MPI
#include <mpi-ext.h>
#endif

/* Flags of a plan over ranks, combined by |. */
#define IPT_MPI_BUFFERED 1u /* exchange by one MPI_Alltoallv into a second block, which the plan allocates */
#define IPT_MPI_DEVICE_AWARE                                                                                           \
    2u /* MPI reads and writes device memory: desc.address is set, or the context is CUDA's. ipt                       \
          sets it for contexts of CUDA if the MPI reports that it takes CUDA's memory */

/* A matrix of rows x cols elements. Rank p of P ranks holds some of its rows before, and some rows of the cols x rows
 * result after. All ranks pass equal numbers.
 *   Arrays have rank, shape and axes, as in ipt_plan_desc; rows and cols are 0 then. A row is an index of the first
 * axis, with all its elements: rank p holds some of the shape[0] rows before, and some of the shape[axes[0]] rows
 * of the result after. If the first axis stays (axes[0] is 0), the ranks permute their own rows: both distributions are
 * the same. */
typedef struct ipt_mpi_desc {
    size_t rows, cols; /* elements, of the whole matrix */
    size_t elem_size;  /* bytes */
    size_t block;      /* rows of each rank: rank p holds rows p * block up to (p + 1) * block or the end. The last rank
                          with rows may hold fewer, later ranks hold none. 0: rows / P, rounded up. FFTW's distribution */
    size_t block_out;  /* rows of the result of each rank, as block. 0: cols / P, rounded up */
    const size_t *row_counts; /* rows of each rank, P numbers of sum rows (arrays: shape[0]), instead of block. NULL: by
                                 block. Copied */
    const size_t *col_counts; /* rows of the result of each rank, P numbers of sum cols (arrays: shape[axes[0]]),
                                 instead of block_out. NULL: by block_out. Copied */
    unsigned flags;           /* IPT_MPI_BUFFERED ... */
    size_t max_workspace;     /* bytes beside the block for a rank's plans and messages. 0: 1 % of the largest block, at
                                 least 1 MiB. 1: as little as possible. IPT_MPI_BUFFERED adds a block */
    ipt_context *const *split; /* contexts of several devices of this rank's node that share the local steps on host
                                  memory: see ipt_plan_create_split. NULL: one device */
    size_t split_count;
    void *(*address)(cl_mem buffer, void *user); /* IPT_MPI_DEVICE_AWARE: returns the address of a buffer that MPI
                                                    takes, or NULL. OpenCL itself has none: HIP or SVM know it. Not
                                                    called for contexts of CUDA */
    void *user;                                  /* passed to address */
    unsigned rank;                               /* axes of the array; 0: a matrix */
    size_t shape[IPT_MAX_RANK];                  /* elements along each axis of the whole array, before */
    unsigned axes[IPT_MAX_RANK];                 /* axis i of the result is axis axes[i] of the source */
} ipt_mpi_desc; /* rows, cols and elem_size, or rank, shape, axes and elem_size, are required; zeros elsewhere mean
                   defaults */

/* The share of a rank, as the desc distributes the matrix or array. */
typedef struct ipt_mpi_share {
    size_t first_row, rows;         /* of the matrix or array, before */
    size_t first_row_out, rows_out; /* of the result */
    size_t bytes;                   /* of the rank's memory: for the larger of its rows before and after */
} ipt_mpi_share;

/* ipt_mpi_share_of for a desc of desc_bytes bytes: see ipt_context_create_sized. */
IPT_API ipt_result ipt_mpi_share_of_sized(size_t desc_bytes, const ipt_mpi_desc *desc, int ranks, int rank,
                                          ipt_mpi_share *share);

/* Computes the share of rank `rank` of `ranks`. Calls no MPI. Errors: INVALID_ARGUMENT. */
IPT_API_INLINE ipt_result ipt_mpi_share_of(const ipt_mpi_desc *desc, int ranks, int rank, ipt_mpi_share *share)
{
    return ipt_mpi_share_of_sized(sizeof *desc, desc, ranks, rank, share);
}

/* A plan over ranks. It owns a duplicate of the communicator, whose errors are returned. */
typedef struct ipt_mpi_plan ipt_mpi_plan;

/* ipt_mpi_plan_create for a desc of desc_bytes bytes: see ipt_context_create_sized. */
IPT_API ipt_result ipt_mpi_plan_create_sized(size_t desc_bytes, ipt_context *context, MPI_Comm communicator,
                                             const ipt_mpi_desc *desc, ipt_mpi_plan **plan);

/* Creates a plan: all ranks of the communicator call it, each with a context of its own device. Duplicates the
 * communicator, and makes the plans of the rank's local steps. All ranks return the same result. The error text of the
 * others names the failing rank and its failure. On failure *plan is NULL. Errors: INVALID_ARGUMENT (also if ranks
 * differ in the desc), UNSUPPORTED, OUT_OF_MEMORY, MPI, and those of ipt_plan_create. Before MPI_Init, after
 * MPI_Finalize and for MPI_COMM_NULL a rank returns INVALID_ARGUMENT alone. */
IPT_API_INLINE ipt_result ipt_mpi_plan_create(ipt_context *context, MPI_Comm communicator, const ipt_mpi_desc *desc,
                                              ipt_mpi_plan **plan)
{
    return ipt_mpi_plan_create_sized(sizeof *desc, context, communicator, desc, plan);
}

/* ipt_mpi_plan_execute_host for options of options_bytes bytes: see ipt_context_create_sized. */
IPT_API ipt_result ipt_mpi_plan_execute_host_sized(size_t options_bytes, ipt_mpi_plan *plan, void *data,
                                                   const ipt_host_options *options);

/* Transposes the matrix or array in place. All ranks call it, and it returns when this rank's block holds its rows of
 * the result. data: ipt_mpi_share.bytes bytes of host memory, aligned to 16 bytes; a rank that holds nothing may pass
 * NULL. options (may be NULL): progress counts the bytes of local steps and messages of this rank. All ranks return the
 * same result. A failure or cancellation on any rank before the exchange leaves the data of all ranks unchanged: each
 * undoes its first local step. A later one returns INCOMPLETE: the content of all blocks is undefined. A failed rank
 * still takes part in the exchange, so that no rank waits for it. A cancellation during the exchange takes effect at
 * its end. A rank whose process ends takes all others with it, unless the MPI returns errors for it: then INCOMPLETE or
 * MPI. One execution of a plan at a time, in the same sequence on all ranks. Errors: INVALID_ARGUMENT, OUT_OF_MEMORY,
 * OPENCL, CANCELLED, UNSUPPORTED, MPI (unchanged); INCOMPLETE. */
IPT_API_INLINE ipt_result ipt_mpi_plan_execute_host(ipt_mpi_plan *plan, void *data, const ipt_host_options *options)
{
    return ipt_mpi_plan_execute_host_sized(sizeof *options, plan, data, options);
}

/* ipt_mpi_plan_execute_host_async for options of options_bytes bytes: see ipt_context_create_sized. */
IPT_API ipt_result ipt_mpi_plan_execute_host_async_sized(size_t options_bytes, ipt_mpi_plan *plan, void *data,
                                                         const ipt_host_options *options, cl_event *event);

/* Executes on host memory in a thread of its own: see ipt_plan_execute_host_async. MPI was initialised with
 * MPI_THREAD_SERIALIZED, and the program calls no MPI function until the execution ends, or with MPI_THREAD_MULTIPLE. A
 * rank that cannot start waits for the others, which then return its failure: UNSUPPORTED (a lower level;
 * IPT_NO_THREADS on all ranks), or OUT_OF_MEMORY. */
IPT_API_INLINE ipt_result ipt_mpi_plan_execute_host_async(ipt_mpi_plan *plan, void *data,
                                                          const ipt_host_options *options, cl_event *event)
{
    return ipt_mpi_plan_execute_host_async_sized(sizeof *options, plan, data, options, event);
}

/* The memory of a rank's block on its device, for ipt_mpi_plan_execute. */
typedef struct ipt_mpi_buffer {
    cl_command_queue queue; /* of the plan's context, for the local steps */
    cl_mem buffer;
    size_t byte_offset;      /* a multiple of 16 */
    cl_uint num_wait_events; /* the first command waits for these */
    const cl_event *wait_events;
} ipt_mpi_buffer;

/* Transposes a block in device memory. Blocks until the result is there. Messages pass through pinned host memory, or
 * with IPT_MPI_DEVICE_AWARE through device memory. UNSUPPORTED if desc.split is set: its devices share host memory. */
IPT_API ipt_result ipt_mpi_plan_execute(ipt_mpi_plan *plan, const ipt_mpi_buffer *buffer,
                                        const ipt_host_options *options);

/* Transposes a block in CUDA's memory, as ipt_mpi_plan_execute: address is a multiple of 16, and a rank that holds
 * nothing may pass 0. The local steps run on the stream, after what it has. No graph may capture the stream.
 * UNSUPPORTED: the context is not of IPT_DRIVER_CUDA. */
IPT_API ipt_result ipt_mpi_plan_execute_cuda(ipt_mpi_plan *plan, unsigned long long address, void *stream,
                                             const ipt_host_options *options);

/* Returns the bytes that the plan holds beside the block: local plans, messages, with IPT_MPI_BUFFERED a block. 0 for
 * NULL. */
IPT_API size_t ipt_mpi_plan_workspace(const ipt_mpi_plan *plan);

/* Describes the rank's local steps, rounds and messages in lines of text. Lives as long as the plan. Never NULL; "" for
 * NULL. */
IPT_API const char *ipt_mpi_plan_describe(const ipt_mpi_plan *plan);

/* Destroys a plan; NULL is fine. All ranks call it, before MPI_Finalize: it frees the communicator. */
IPT_API void ipt_mpi_plan_destroy(ipt_mpi_plan *plan);
#endif
