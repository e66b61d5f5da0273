/* The public interface. */

#ifndef CL_TARGET_OPENCL_VERSION
#define CL_TARGET_OPENCL_VERSION 120
#endif
#ifdef __APPLE__
#include <OpenCL/cl.h>
#else
#include <CL/cl.h>
#endif
#include <stddef.h>

#ifndef CL_VERSION_1_2
#error "ipt.h needs OpenCL 1.2 or later: CL_TARGET_OPENCL_VERSION is set below 120"
#endif

/* IPT_NO_PAPERS under its first name. */
#if defined(IPT_NO_SEED_KERNELS) && !defined(IPT_NO_PAPERS)
#define IPT_NO_PAPERS
#endif

/* The version of this header: 10000 * major + 100 * minor + patch. */
#define IPT_VERSION 100

#if defined(__GNUC__) || defined(__clang__)
#define IPT__UNUSED __attribute__((unused))
#else
#define IPT__UNUSED
#endif

/* IPT_API precedes every public function. IPT_STATIC makes all of them private to the including file. */
#ifndef IPT_API
#ifdef IPT_STATIC
#define IPT_API IPT__UNUSED static
#elif defined(__cplusplus)
#define IPT_API extern "C"
#else
#define IPT_API extern
#endif
#endif

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
    X(IPT_ERROR_STORAGE, 10, "a storage could not be read or written")

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

/* A compiled program in the format of a cache file, for devices without a file system: see ipt_context_entry. */
typedef struct ipt_binary {
    const void *data; /* any alignment; the caller keeps it in place until the context is freed */
    size_t bytes;
} ipt_binary;

typedef struct ipt_context_desc {
    cl_context context;  /* NULL: ipt creates one. Retained, so the caller may release it */
    cl_device_id device; /* NULL: selected by device_name, else by the environment's IPT_DEVICE, else a GPU, else any */
    const char *device_name; /* part of a platform's or device's name, case ignored; NULL: any device */
    const char *cache_dir; /* folder of compiled programs. NULL: the environment's IPT_CACHE_DIR, else the user's cache
                              folder. "" in either place: none. See >>cache */
    ipt_allocator allocator; /* zero: malloc and free */
    ipt_logger logger;       /* zero: silent */
    size_t max_local_memory; /* bytes of local memory that one work-group may use. 0: the size that the device reports,
                                or more if ipt finds more. At least 1024 */
    size_t resident_groups;  /* work-groups of a cooperative kernel that run at the same time. 0: measured. For tests,
                                and for devices of which ipt may use only a part */
    size_t wait_polls;       /* polls of a waiting work-group before it leaves its work to the last one; 0: default */
    size_t cache_limit;      /* bytes of the files in cache_dir; ipt removes the oldest files above it. 0: 256 MiB */
    const ipt_binary *binaries; /* compiled programs, searched before cache_dir. Not copied */
    size_t binary_count;
    const char *profile; /* text of ipt_context_profile: the context plans without any device. Its plans can be created
                            and described, and their sources read, but not executed. NULL: a real context */
} ipt_context_desc;      /* zero-initialised means defaults */

/* Creates a context. A desc of NULL means defaults. On failure *context is NULL. Errors: INVALID_ARGUMENT (for a
 * profile with the line number), NO_DEVICE, OUT_OF_MEMORY, UNSUPPORTED (OpenCL before 1.2, or known to compute wrong
 * results), OPENCL. */
IPT_API ipt_result ipt_context_create(const ipt_context_desc *desc, ipt_context **context);

/* Returns the text of the calling thread's last failure. It is valid until the thread's next failure. context may be
 * NULL: each thread has one text, whatever the context. Never NULL; "" before the first failure. */
IPT_API const char *ipt_context_error(const ipt_context *context);

/* Return the OpenCL context and device of a context, for creating queues and buffers. They are not retained for the
 * caller: they live as long as the ipt_context, unless the caller retains them. NULL for NULL. */
IPT_API cl_context ipt_context_cl_context(const ipt_context *context);
IPT_API cl_device_id ipt_context_cl_device(const ipt_context *context);

/* Releases the caller's reference to a context. Plans hold references of their own. NULL is fine. */
IPT_API void ipt_context_destroy(ipt_context *context);

/* Allocates and frees pinned host memory, which devices transfer fastest. *memory is NULL on failure. ipt_host_free
 * (NULL is fine) or the end of the context frees it. It must not be in use then. Errors: INVALID_ARGUMENT,
 * OUT_OF_MEMORY, UNSUPPORTED. */
IPT_API ipt_result ipt_host_alloc(ipt_context *context, size_t bytes, void **memory);
IPT_API void ipt_host_free(ipt_context *context, void *memory);

/* Releases the programs that no plan of the context uses now. Otherwise the context keeps them for later plans. NULL is
 * fine. */
IPT_API void ipt_context_trim(ipt_context *context);

/* Writes the facts on which plans for this device depend, as lines of text for ipt_context_desc.profile. capacity is
 * the size of text in bytes, including the terminating zero. *bytes (may be NULL) is the size of the whole text, zero
 * included. Builds and runs some kernels to measure these facts. Errors: INVALID_ARGUMENT (also if capacity is too
 * small), BUILD, OPENCL and others. */
IPT_API ipt_result ipt_context_profile(ipt_context *context, char *text, size_t capacity, size_t *bytes);

/* Returns the number of entries of a context: its programs, and last the measured facts about its device. With all of
 * them a later context compiles nothing. Indices stay valid until ipt_context_trim. 0 for NULL. */
IPT_API size_t ipt_context_entry_count(const ipt_context *context);

/* Returns the OpenCL C text of entry `index`, and its build options (options may be NULL). NULL beyond the last entry,
 * and for entries that are not programs. Lives as long as the entry. */
IPT_API const char *ipt_context_entry_source(const ipt_context *context, size_t index, const char **options);

/* Writes entry `index` in the format of a cache file and of an ipt_binary. capacity is the size of entry in bytes,
 * *bytes the size needed. An entry of NULL only returns that size. If target and code are NULL, the entry holds the
 * code of the device's own compiler. Other devices and drivers refuse such code. Otherwise code is another compiler's
 * output for target, from the entry's source. target is "ptx:sm_NN", "bitcode" (LLVM's for spir64), "spirv" or
 * "amdgcn:NAME". Such code serves all devices and drivers that accept it and need the same source. Errors:
 * INVALID_ARGUMENT (also if capacity is too small), OUT_OF_MEMORY, UNSUPPORTED (a context without a device has no code
 * of its own), OPENCL. */
IPT_API ipt_result ipt_context_entry(ipt_context *context, size_t index, const char *target, const void *code,
                                     size_t code_bytes, void *entry, size_t capacity, size_t *bytes);

/* Stores an entry in a folder, for contexts with that cache_dir. Creates the folder (0700) and missing folders above
 * it. Replaces an entry of the same program. Applies no size limit. Errors: INVALID_ARGUMENT (not an entry, or
 * damaged), OUT_OF_MEMORY, UNSUPPORTED (cannot be written, with the reason; IPT_NO_DISK_CACHE). */
IPT_API ipt_result ipt_cache_store(const char *folder, const void *entry, size_t bytes);

#ifndef IPT_NO_WISDOM
/* Writes the wisdom of a context as lines of text: the choices of IPT_MEASURE and of ipt_wisdom_import. capacity is the
 * size of text in bytes, including the terminating zero. *bytes (may be NULL) is the size of the whole text, zero
 * included. Errors: INVALID_ARGUMENT (also if capacity is too small). */
IPT_API ipt_result ipt_wisdom_export(ipt_context *context, char *text, size_t capacity, size_t *bytes);

/* Adds such a text to the context's wisdom. Plans of its shapes then follow the text, with IPT_MEASURE or without, and
 * measure nothing. Takes all of the text or nothing. Errors: INVALID_ARGUMENT (with the line's number and the fault;
 * also another version's text), UNSUPPORTED (another device's text), OUT_OF_MEMORY. */
IPT_API ipt_result ipt_wisdom_import(ipt_context *context, const char *text);

/* The same to and from a file. Further error: INVALID_ARGUMENT if the file cannot be written or read. */
IPT_API ipt_result ipt_wisdom_export_file(ipt_context *context, const char *path);
IPT_API ipt_result ipt_wisdom_import_file(ipt_context *context, const char *path);
#endif

/* Lists all OpenCL devices of this machine, in the order in which ipt_context_create examines them. Writes at most
 * capacity devices (devices may be NULL if capacity is 0) and their total number to *count. Errors: INVALID_ARGUMENT,
 * NO_DEVICE (*count is 0), OPENCL. */
IPT_API ipt_result ipt_device_list(cl_device_id *devices, size_t capacity, size_t *count);

/* Describes a device in lines of text: name, platform, version, memory. capacity is the size of text in bytes,
 * including the terminating zero. A longer description is cut. Errors: INVALID_ARGUMENT, OPENCL. */
IPT_API ipt_result ipt_device_describe(cl_device_id device, char *text, size_t capacity);

/* ------------------------------------------------------------------------------------------------------------------ */
/* Plan: the stages, kernels and memory that transpose one shape in place on one context. */
/* ------------------------------------------------------------------------------------------------------------------ */

/* X(enumerator, name). AUTO lets the planner choose. The others force one, or fail with the reason. The names 1 to 4.3
 * are those of Gomez-Luna et al. 2016, section 5.1 (see >>papers). */
#define IPT_SEQUENCE_LIST(X)                                                                                           \
    X(IPT_SEQUENCE_AUTO, "auto") /* the planner chooses */                                                             \
    X(IPT_SEQUENCE_1, "1")       /* the whole matrix as one cycle-following stage */                                   \
    X(IPT_SEQUENCE_2_1, "2.1")   /* needs tile_m */                                                                    \
    X(IPT_SEQUENCE_2_2, "2.2")   /* needs tile_n */                                                                    \
    X(IPT_SEQUENCE_3_1, "3.1")   /* this and all below need both */                                                    \
    X(IPT_SEQUENCE_3_2, "3.2")                                                                                         \
    X(IPT_SEQUENCE_3_3, "3.3")                                                                                         \
    X(IPT_SEQUENCE_3_4, "3.4")                                                                                         \
    X(IPT_SEQUENCE_4_1, "4.1")                                                                                         \
    X(IPT_SEQUENCE_4_2, "4.2")                                                                                         \
    X(IPT_SEQUENCE_4_3, "4.3")                                                                                         \
    X(IPT_SEQUENCE_TWO_PASS, "two-pass") /* super-element length: tile_m (rows >= cols) or tile_n (rows < cols) */     \
    X(IPT_SEQUENCE_SQUARE, "square")     /* swaps tile pairs; rows == cols only */

/* The papers' kernels, for ipt_plan_desc.variant_010 (BS, SWAP, PTTWAC 010!, P-IPT), variant_100 (PTTWAC 100!, P-IPT)
 * and variant_pad. X(enumerator, name, family, lanes, padding, registers, layout, interleaved).
 * - lanes: work-items that share an instance or super-element; 0: a work-group. A SIMD unit is 32 work-items here, a
 *   virtual one 16 or 8 (Gomez-Luna et al. 2016, section 5.2).
 * - padding: bank padding in local memory.
 * - registers: units that a work-item holds in registers; 0: local memory holds them.
 * - layout: the layout of the flags.
 * - interleaved: neighbouring work-items process different instances (Ha et al. 2013, sections III.C and III.E). For
 *   SWAP a work-group then swaps one pair of tiles in every matrix, instead of every pair in one. */
#define IPT_VARIANT_LIST(X)                                                                                            \
    X(IPT_VARIANT_AUTO, "auto", AUTO, 0, 0, 0, 0, 0)                                                                   \
    X(IPT_VARIANT_BS_GROUP, "bs-group", BS, 0, 0, 0, 0, 0)                                                             \
    X(IPT_VARIANT_BS_SIMD, "bs-simd", BS, 32, 0, 0, 0, 0)                                                              \
    X(IPT_VARIANT_BS_VIRTUAL_16, "bs-virtual-16", BS, 16, 0, 0, 0, 0)                                                  \
    X(IPT_VARIANT_BS_VIRTUAL_8, "bs-virtual-8", BS, 8, 0, 0, 0, 0)                                                     \
    X(IPT_VARIANT_BS_GROUP_PADDED, "bs-group-padded", BS, 0, 1, 0, 0, 0)                                               \
    X(IPT_VARIANT_BS_SIMD_PADDED, "bs-simd-padded", BS, 32, 1, 0, 0, 0)                                                \
    X(IPT_VARIANT_BS_VIRTUAL_16_PADDED, "bs-virtual-16-padded", BS, 16, 1, 0, 0, 0)                                    \
    X(IPT_VARIANT_BS_VIRTUAL_8_PADDED, "bs-virtual-8-padded", BS, 8, 1, 0, 0, 0)                                       \
    X(IPT_VARIANT_PTTWAC_010, "pttwac-010", PTTWAC_010, 0, 0, 0, 0, 0)                                                 \
    X(IPT_VARIANT_PTTWAC_010_PADDED, "pttwac-010-padded", PTTWAC_010, 0, 0, 0, 1, 0)                                   \
    X(IPT_VARIANT_PTTWAC_010_REMAPPED, "pttwac-010-remapped", PTTWAC_010, 0, 0, 0, 2, 0)                               \
    X(IPT_VARIANT_PTTWAC_100_GROUP, "pttwac-100-group", PTTWAC_100, 0, 0, 0, 0, 0)                                     \
    X(IPT_VARIANT_PTTWAC_100_SIMD, "pttwac-100-simd", PTTWAC_100, 32, 0, 0, 0, 0)                                      \
    X(IPT_VARIANT_PTTWAC_100_VIRTUAL_16, "pttwac-100-virtual-16", PTTWAC_100, 16, 0, 0, 0, 0)                          \
    X(IPT_VARIANT_PTTWAC_100_VIRTUAL_8, "pttwac-100-virtual-8", PTTWAC_100, 8, 0, 0, 0, 0)                             \
    X(IPT_VARIANT_PTTWAC_100_GROUP_REGISTERS, "pttwac-100-group-registers", PTTWAC_100, 0, 0, 8, 0, 0)                 \
    X(IPT_VARIANT_PTTWAC_100_SIMD_REGISTERS, "pttwac-100-simd-registers", PTTWAC_100, 32, 0, 8, 0, 0)                  \
    X(IPT_VARIANT_PTTWAC_100_VIRTUAL_16_REGISTERS, "pttwac-100-virtual-16-registers", PTTWAC_100, 16, 0, 8, 0, 0)      \
    X(IPT_VARIANT_PTTWAC_100_VIRTUAL_8_REGISTERS, "pttwac-100-virtual-8-registers", PTTWAC_100, 8, 0, 8, 0, 0)         \
    X(IPT_VARIANT_P_IPT_ITEM, "p-ipt-item", P_IPT, 1, 0, 0, 0, 0)                                                      \
    X(IPT_VARIANT_P_IPT_GROUP, "p-ipt-group", P_IPT, 0, 0, 0, 0, 0)                                                    \
    X(IPT_VARIANT_PAD_CHAINED, "pad-chained", PAD, 0, 0, 0, 0, 0)                                                      \
    X(IPT_VARIANT_BS_ITEM, "bs-item", BS, 1, 0, 0, 0, 0)                                                               \
    X(IPT_VARIANT_BS_INTERLEAVED_SIMD, "bs-interleaved-simd", BS, 32, 0, 0, 0, 1)                                      \
    X(IPT_VARIANT_BS_INTERLEAVED_16, "bs-interleaved-16", BS, 16, 0, 0, 0, 1)                                          \
    X(IPT_VARIANT_BS_INTERLEAVED_8, "bs-interleaved-8", BS, 8, 0, 0, 0, 1)                                             \
    X(IPT_VARIANT_SWAP_BY_BLOCK, "swap-by-block", SWAP, 0, 0, 0, 0, 1)                                                 \
    X(IPT_VARIANT_SWAP_BY_ELEMENT, "swap-by-element", SWAP, 0, 0, 0, 0, 0)

#define IPT__VARIANT_ENUMERATOR(name, text, family, lanes, padding, registers, layout, interleaved) name,
typedef enum ipt_variant { IPT_VARIANT_LIST(IPT__VARIANT_ENUMERATOR) IPT__VARIANT_COUNT } ipt_variant;

/* The name in IPT_VARIANT_LIST, or "unknown". Never NULL. */
IPT_API const char *ipt_variant_string(ipt_variant variant);

/* Block formats of an M x N matrix with M = M' * m, N = N' * n (Gomez-Luna et al. 2016, table 1). X(enumerator, name,
 * factors): the factors from the outermost to the innermost. M, m, N, n stand for M', m, N', n. */
#define IPT_FORMAT_LIST(X)                                                                                             \
    X(IPT_FORMAT_DEFAULT, "default", "") /* from: row-major, to: column-major */                                       \
    X(IPT_FORMAT_RM, "RM", "MmNn")       /* row-major */                                                               \
    X(IPT_FORMAT_RRRB, "RRRB", "MNmn")   /* row-major blocks, row-major inside */                                      \
    X(IPT_FORMAT_RCRB, "RCRB", "MNnm")   /* row-major blocks, column-major inside */                                   \
    X(IPT_FORMAT_CRRB, "CRRB", "NMmn")   /* column-major blocks, row-major inside */                                   \
    X(IPT_FORMAT_CCRB, "CCRB", "NMnm")   /* column-major blocks, column-major inside */                                \
    X(IPT_FORMAT_CM, "CM", "NnMm")       /* column-major: the transposed matrix in row-major order */                  \
    X(IPT_FORMAT_AOS, "AoS", "MmNn")     /* RM: rows structures of cols fields */                                      \
    X(IPT_FORMAT_SOA, "SoA", "NnMm")     /* CM: a structure of cols arrays */                                          \
    X(IPT_FORMAT_ASTA, "ASTA", "MNnm")   /* RCRB: structures of tiled arrays, tile_m elements each */

#define IPT__FORMAT_ENUMERATOR(name, text, factors) name,
typedef enum ipt_format { IPT_FORMAT_LIST(IPT__FORMAT_ENUMERATOR) IPT__FORMAT_COUNT } ipt_format;

/* The name in IPT_FORMAT_LIST, or "unknown". Never NULL. */
IPT_API const char *ipt_format_string(ipt_format format);

/* The moves of ipt_plan_desc.move. X(enumerator, name, transposed, the result's rows in reverse sequence, each row of
 * the result reversed). Rotations are clockwise. Rotations by 90 and 270 degrees, like transpositions, make cols x rows
 * matrices. */
#define IPT_MOVE_LIST(X)                                                                                               \
    X(IPT_MOVE_TRANSPOSE, "transpose", 1, 0, 0)                                                                        \
    X(IPT_MOVE_ROTATE_90, "rotate-90", 1, 0, 1)                                                                        \
    X(IPT_MOVE_ROTATE_180, "rotate-180", 0, 1, 1)                                                                      \
    X(IPT_MOVE_ROTATE_270, "rotate-270", 1, 1, 0)                                                                      \
    X(IPT_MOVE_FLIP_HORIZONTAL, "flip-horizontal", 0, 0, 1)                                                            \
    X(IPT_MOVE_FLIP_VERTICAL, "flip-vertical", 0, 1, 0)                                                                \
    X(IPT_MOVE_ANTITRANSPOSE, "antitranspose", 1, 1, 1)

#define IPT__MOVE_ENUMERATOR(name, text, transposed, rows, cols) name,
typedef enum ipt_move { IPT_MOVE_LIST(IPT__MOVE_ENUMERATOR) IPT__MOVE_COUNT } ipt_move;

/* The name in IPT_MOVE_LIST, or "unknown". Never NULL. */
IPT_API const char *ipt_move_string(ipt_move move);

/* The ways of a matrix in host memory to the device and back, for ipt_plan_desc.host. X(enumerator, name) */
#define IPT_HOST_LIST(X)                                                                                               \
    X(IPT_HOST_AUTO, "auto")               /* shared if the device can, else overlapped for all but small ones */      \
    X(IPT_HOST_SYNCHRONOUS, "synchronous") /* upload, transposition and download in sequence */                        \
    X(IPT_HOST_OVERLAPPED, "overlapped")   /* transposes some parts while others are in transfer. The transfer does */ \
    /* the shuffle of the two-pass method. Transpositions with sequence auto only */                                   \
    X(IPT_HOST_STAGES, "stages") /* Sung et al. 2014, section 6: stages before the one that needs the whole matrix */  \
    /* run by parts after their upload, later stages by parts before their download. Sequences 3.1 to 4.2 */           \
    X(IPT_HOST_SHARED, "shared") /* no copies: the device works in the host's memory */

#define IPT__HOST_ENUMERATOR(name, text) name,
typedef enum ipt_host { IPT_HOST_LIST(IPT__HOST_ENUMERATOR) IPT__HOST_COUNT } ipt_host;

/* The name in IPT_HOST_LIST, or "unknown". Never NULL. */
IPT_API const char *ipt_host_string(ipt_host host);

#define IPT__SEQUENCE_ENUMERATOR(name, text) name,
typedef enum ipt_sequence { IPT_SEQUENCE_LIST(IPT__SEQUENCE_ENUMERATOR) IPT__SEQUENCE_COUNT } ipt_sequence;

/* The name in IPT_SEQUENCE_LIST, or "unknown". Never NULL. */
IPT_API const char *ipt_sequence_string(ipt_sequence sequence);

/* Flags of a plan, combined by |. */
#define IPT_ESTIMATE 0u       /* choose by the planner's model (the default) */
#define IPT_MEASURE 1u        /* time the best few on the device and keep the fastest: needs one temporary matrix */
#define IPT_CACHE_ONLY 2u     /* never compile OpenCL C: a missing program is IPT_ERROR_CACHE_MISS */
#define IPT_NO_COOPERATIVE 4u /* no kernel may wait for another work-group */
#define IPT_OUT_OF_PLACE 16u  /* build the program of ipt_plan_execute_out_of_place now, not at its first call */
/* May add rows and columns during the execution, so that the sides have factors. The buffer has room for them: see
 * ipt_plan_padding. */
#define IPT_PAD 8u

typedef struct ipt_plan ipt_plan;
typedef struct ipt_plan_desc {
    size_t rows, cols;    /* row-major input of rows x cols elements, output cols x rows (column-major: swap the two) */
    size_t elem_size;     /* bytes, any from 1 up. 1, 2, 4, 8, 16 are fast; 3, 12, 24 ... work */
    size_t batch;         /* number of matrices; 0: 1 */
    size_t batch_stride;  /* bytes from one matrix to the next; 0: no gaps */
    unsigned flags;       /* IPT_ESTIMATE, IPT_MEASURE ... */
    size_t max_workspace; /* bytes of device memory that the plan may hold. 0: 1 % of the matrices, at least 1 MiB; 1:
                             as little as possible */
    ipt_sequence sequence; /* IPT_SEQUENCE_AUTO or a forced sequence */
    size_t tile_m, tile_n; /* elements; 0: chosen. tile_m divides rows, tile_n cols, except for TWO_PASS and IPT_PAD */
    cl_mem measure_buffer; /* buffer for IPT_MEASURE, at least as large as the batch; its content is lost. NULL: a
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
                                    Elements of 1, 2, 4, 8 or 16 bytes only */
    const char *expression_type; /* the OpenCL C type of x and of the result, of elem_size bytes, such as "float" or
                                    "uchar4". double and half, also within expression, need the device's cl_khr_fp64 and
                                    cl_khr_fp16: UNSUPPORTED without */
    ipt_host host;               /* for ipt_plan_execute_host and its variants */
    size_t host_queues; /* parts of a host matrix, each with its own command queue (Q of Sung et al. 2014), at most 64;
                           0: chosen */
    size_t max_device_memory; /* bytes of device memory for host matrices and storages, workspace included. 0: what the
                                 device has. Larger matrices are cut; such a plan executes host matrices only */
    size_t max_host_memory; /* bytes of host memory that ipt_plan_execute_storage may take. Not 0: the plan serves that
                               function only */
} ipt_plan_desc;            /* rows, cols and elem_size are required; zeros elsewhere mean defaults */

/* Creates a plan: selects its stages, builds missing programs, allocates its workspace and writes to it once. On
 * failure *plan is NULL. Errors: INVALID_ARGUMENT, OUT_OF_MEMORY, BUILD, UNSUPPORTED, CACHE_MISS, OPENCL. */
IPT_API ipt_result ipt_plan_create(ipt_context *context, const ipt_plan_desc *desc, ipt_plan **plan);

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

/* The same from source to destination, which must not overlap. ipt only reads source. Both hold the batch with the
 * plan's batch_stride. The first call for an element size builds its program (except with IPT_CACHE_ONLY) and may
 * block. Later calls only enqueue. Errors: as ipt_plan_execute, and BUILD, CACHE_MISS, and UNSUPPORTED for plans with
 * IPT_PAD or formats. */
IPT_API ipt_result ipt_plan_execute_out_of_place(ipt_plan *plan, cl_command_queue queue, cl_mem source,
                                                 size_t source_offset, cl_mem destination, size_t destination_offset,
                                                 cl_uint num_wait_events, const cl_event *wait_events, cl_event *event);

/* Callbacks of the functions for host matrices. Zero-initialised: none. */
typedef struct ipt_host_options {
    /* Called between the parts, by the thread that moves them: done of total bytes have crossed the bus. Return nonzero
     * to cancel. Must not call ipt for the same plan. */
    int (*progress)(size_t done, size_t total, void *user);
    /* Called at the end of ipt_plan_execute_host_async, by its thread. ipt_context_error returns details there. */
    void (*finished)(ipt_result result, void *user);
    void *user; /* passed to both */
} ipt_host_options;

/* Transposes host memory in place by the method of desc.host, and returns when data holds the result. data needs no
 * alignment; memory of ipt_host_alloc transfers fastest. With IPT_PAD data has room for the padding, which is
 * overwritten. Bytes between the matrices of a batch are neither read nor written. The first call allocates device
 * memory for the matrix. Overlapped plans keep it for later calls. Calls on one plan take turns.
 *   ipt writes to data only after everything is uploaded and transposed. (Batches: all of a part. Stages: the one that
 * needs the whole matrix is done.) An earlier failure leaves data unchanged; a later one returns IPT_ERROR_INCOMPLETE.
 * Errors: INVALID_ARGUMENT, OUT_OF_MEMORY, OPENCL, UNSUPPORTED, INCOMPLETE, and those of ipt_plan_create. */
IPT_API ipt_result ipt_plan_execute_host(ipt_plan *plan, void *data);

/* The same with options (may be NULL). If progress cancels: CANCELLED with data unchanged, or INCOMPLETE. */
IPT_API ipt_result ipt_plan_execute_host_with(ipt_plan *plan, void *data, const ipt_host_options *options);

/* The same in a thread of its own: returns at once. *event (may be NULL) is a user event that completes with the
 * execution. The caller releases it. On failure its status is minus an ipt_result. (Check the status: NVIDIA's
 * clWaitForEvents returns success even then.) Keep plan and data until the execution ends. Until then enqueue no
 * execution that waits for the event: none of this plan, and none with cooperative kernels on its context. Each would
 * wait for the other for ever. Errors: INVALID_ARGUMENT, OUT_OF_MEMORY, OPENCL, UNSUPPORTED (IPT_NO_THREADS).
 * options->finished and the event report all others. */
IPT_API ipt_result ipt_plan_execute_host_async(ipt_plan *plan, void *data, const ipt_host_options *options,
                                               cl_event *event);

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

/* Transposes a matrix, or each matrix of a batch, in place in a storage. Takes no more than desc.max_host_memory bytes
 * of host memory. It runs in steps: it reads one step and processes one while it writes another. No step writes bytes
 * that an earlier step has not read. Each step can be written again. Errors: INVALID_ARGUMENT, OUT_OF_MEMORY, CANCELLED
 * and STORAGE (nothing has been written), INCOMPLETE (something has), OPENCL. */
IPT_API ipt_result ipt_plan_execute_storage(ipt_plan *plan, const ipt_storage *storage);

/* Returns the bytes of ipt_storage.memory. 0 for plans that are not for storages. */
IPT_API size_t ipt_plan_storage_memory(const ipt_plan *plan);

/* Returns the number of steps of an execution. ipt calls ipt_storage.ready for steps 0 to this number - 1. 0 for plans
 * that are not for storages. */
IPT_API size_t ipt_plan_storage_steps(const ipt_plan *plan);

/* Returns 1 if resuming at `resume` needs the piece of memory that ready reported for `step`, unchanged. Otherwise
 * returns 0. With a checksum of each piece, a caller can verify all needed pieces before it resumes. */
IPT_API int ipt_plan_storage_needs(const ipt_plan *plan, size_t step, size_t resume);
#endif

/* Creates a plan that distributes host matrices over the devices of several contexts. They share one cl_context; each
 * has a share of the parts. The plan executes host matrices only, and belongs to its first context. Errors: as
 * ipt_plan_create. */
IPT_API ipt_result ipt_plan_create_split(ipt_context *const *contexts, size_t count, const ipt_plan_desc *desc,
                                         ipt_plan **plan);

/* Returns the bytes of device memory that the plan holds beside the matrix. An execution of a host matrix by parts adds
 * those of the plans for parts. 0 for NULL. */
IPT_API size_t ipt_plan_workspace(const ipt_plan *plan);

/* Returns the rows and columns that IPT_PAD adds. Each matrix in the buffer has room for (rows + *rows) * (cols +
 * *cols) elements. Its content lies without gaps at the beginning, before and after. Both are 0 without IPT_PAD. */
IPT_API void ipt_plan_padding(const ipt_plan *plan, size_t *rows, size_t *cols);

/* Describes stages, sizes and kernels in lines of text. Lives as long as the plan. Never NULL; "" for NULL. */
IPT_API const char *ipt_plan_describe(const ipt_plan *plan);

/* Returns the specialised OpenCL C text of the plan's program `index`, counted from 0. NULL beyond the last (a plan
 * with nothing to do has none). Lives as long as the plan. */
IPT_API const char *ipt_plan_source(const ipt_plan *plan, size_t index);

/* Destroys a plan; NULL is fine. Never waits for the device: executions in flight complete. */
IPT_API void ipt_plan_destroy(ipt_plan *plan);

/* Transposes a host matrix of rows x cols elements in place on the default device. Creates and destroys its context on
 * every call. ipt_context_error(NULL) returns the details of a failure. Errors: as the calls that it makes. */
IPT_API ipt_result ipt_transpose(void *data, size_t rows, size_t cols, size_t elem_size);

#ifndef IPT_NO_PAPERS

/* ------------------------------------------------------------------------------------------------------------------ */
/* Heuristics: how the papers choose tiles, sequences and work-groups. Plans choose by their own model. Use these to
 * compare with it, and to force a paper's choice. They are pure functions of their arguments: they touch no device and
 * allocate nothing. Each takes microseconds (ipt_heuristic_divisors up to some 100). */
/* ------------------------------------------------------------------------------------------------------------------ */

/* X(enumerator, name). Methods for the tile sides m and n, with M = M' * m rows and N = N' * n columns. The section
 * numbers of ALGORITHM_1, 2 and 5 are those of Gomez-Luna et al. 2016. */
#define IPT_HEURISTIC_LIST(X)                                                                                          \
    X(IPT_HEURISTIC_SEED_000_RANGE, "range-50-100") /* Sung et al. 2014, section 7.4: both in 50..100 */               \
    X(IPT_HEURISTIC_ALGORITHM_1, "algorithm-1")     /* section 5.3: the largest divisors up to 72 */                   \
    X(IPT_HEURISTIC_ALGORITHM_2, "algorithm-2")     /* section 5.3: the most local memory in use */                    \
    X(IPT_HEURISTIC_ALGORITHM_5, "algorithm-5")     /* section 6.2.2: small divisors, padding */

#define IPT__HEURISTIC_ENUMERATOR(name, text) name,
typedef enum ipt_heuristic { IPT_HEURISTIC_LIST(IPT__HEURISTIC_ENUMERATOR) IPT__HEURISTIC_COUNT } ipt_heuristic;

/* The name in IPT_HEURISTIC_LIST, or "unknown". Never NULL. */
IPT_API const char *ipt_heuristic_string(ipt_heuristic heuristic);

/* The device facts that the heuristics need. OpenCL does not report the last two. */
typedef struct ipt_heuristic_device {
    size_t local_bytes; /* local memory of a compute unit, all of which one work-group may take */
    size_t max_group;   /* largest number of work-items in a work-group */
    size_t simd_width;  /* work-items in a SIMD unit: 32 on NVIDIA devices, 64 on AMD's, 1 on CPUs */
    size_t unit_items;  /* largest number of work-items in a compute unit; 0: 2048, as the papers' Tesla K20 */
    size_t unit_groups; /* largest number of work-groups in a compute unit; 0: 16, as the K20 */
} ipt_heuristic_device;

/* Chooses tile_m x tile_n elements for rows x cols elements of elem_size bytes. tile_m divides rows + pad_rows and
 * tile_n divides cols + pad_cols. Only algorithm 5 pads. L below is local_bytes / elem_size, the elements that local
 * memory holds (the papers' "local memory words"). The other bounds are elements too. The papers state them for 4
 * bytes; they hold for any elem_size here.
 * - SEED_000_RANGE: the pair of divisors in 50..100 with the largest product below L. Of equal products, the squarest.
 * - ALGORITHM_1: the largest divisor up to 72 of each side, even if the tile does not fit. 1 for primes above 72.
 * - ALGORITHM_2: divisors between 5 and 2560, both excluded (1 if there is none), with a product below L. Of these, the
 *   pair whose work-groups use the most local memory of a compute unit; of equal ones the first in ascending order. If
 *   no pair fits, the smallest divisors: the tile then exceeds local memory. The paper leaves the bounds open. These
 *   bounds give the two counts that it reports (2,235 and 2,926 of 5,000 matrices).
 * - ALGORITHM_5: the smallest divisor in 24..sqrt(L), sqrt(L) excluded, of each side. A side without one is padded by
 *   one at a time: at most 23 times. A side below sqrt(L) is not padded; the tile takes all of it. Gomez-Luna et al.
 *   2016, section 7.2, likewise pad only the long side of skinny matrices.
 * On failure the four results are 0. Errors: INVALID_ARGUMENT (zero, NULL, unknown), UNSUPPORTED (SEED_000_RANGE: no
 * such pair; ALGORITHM_5: L is 576 or less, or the padded side overflows). */
IPT_API ipt_result ipt_heuristic_tiles(ipt_heuristic heuristic, const ipt_heuristic_device *device, size_t rows,
                                       size_t cols, size_t elem_size, size_t *tile_m, size_t *tile_n, size_t *pad_rows,
                                       size_t *pad_cols);

/* Returns the sequence for such tiles (Gomez-Luna et al. 2016, section 5.4, algorithm 3). 2.1 if tile_m * cols is below
 * L (see above), else 2.2 if rows * tile_n is below L, else 3.1 if tile_m < tile_n, else 3.2. rows and cols include the
 * padding. AUTO if an argument is zero or NULL. */
IPT_API ipt_sequence ipt_heuristic_sequence(const ipt_heuristic_device *device, size_t rows, size_t cols,
                                            size_t elem_size, size_t tile_m, size_t tile_n);

/* Returns the throughput of `count` stages in sequence (Gomez-Luna et al. 2016, section 6.1, equation (2)). It is the
 * reciprocal of the sum of their reciprocals, in their unit (bytes per second, say). 0 if there are no stages, or if
 * one throughput is not above 0. */
IPT_API double ipt_heuristic_throughput(const double *stage_throughputs, size_t count);

/* Returns the number of work-items that should move one super-element of the given bytes (Gomez-Luna et al. 2016,
 * section 5.2). It is the smallest set in which each work-item has less than 3 words of 4 bytes. Sets are simd_width,
 * the powers of two from 8 up to simd_width, and those from 128 up to max_group. Below simd_width the result is a
 * virtual SIMD unit, at simd_width a SIMD unit. Above, it is a whole work-group, which needs barriers. 8 serve up to 23
 * words, 16 up to 47, 32 up to 95, 128 up to 383, and so on. The largest set serves all longer ones. 0 if an argument
 * is zero or NULL. */
IPT_API size_t ipt_heuristic_group_size(const ipt_heuristic_device *device, size_t super_element_bytes);

/* Returns the share of a compute unit's work-items that work-groups of group_size work-items and local_bytes of local
 * memory keep busy: 0 to 1. 0 if none fits or an argument is invalid. OpenCL does not report registers; the result
 * ignores them. */
IPT_API double ipt_heuristic_occupancy(const ipt_heuristic_device *device, size_t group_size, size_t local_bytes);

/* Returns the smallest work-group whose occupancy is at least `occupancy` (0 to 1; Ha et al. 2013, section III.E.1).
 * Candidates are multiples of the SIMD unit. A work-group of g work-items takes group_bytes + g * item_bytes of local
 * memory. If none suffices, the smallest of those with the highest occupancy. 0 if none fits or an argument is
 * invalid. */
IPT_API size_t ipt_heuristic_smallest_group(const ipt_heuristic_device *device, size_t group_bytes, size_t item_bytes,
                                            double occupancy);

/* Splits a work-group of group_size work-items into x (along a row) times y (Ha et al. 2013, section III.E.2). x is a
 * multiple of 32 bytes of elements (8 of 4 bytes, 4 of 8). The shape is as near a square as that allows; of two, the
 * wider one. If no such x divides group_size, one row. x and y are 0 if an argument is zero. */
IPT_API void ipt_heuristic_group_shape(size_t group_size, size_t elem_size, size_t *x, size_t *y);

/* Returns how to distribute a batch (Ha et al. 2013, section III.D). 1: a work-group takes one block of every matrix.
 * 0: it takes all blocks of one matrix. The choice with more work-groups wins. In a tie the result is 0. */
IPT_API int ipt_heuristic_by_block(size_t batch, size_t blocks_per_matrix);

/* Lists all divisors of side, ascending, 1 and side included: for brute force over all tiles. Writes at most capacity
 * of them to divisors (may be NULL if capacity is 0). Returns their total number: at most 1920 below 2^32. 0 for 0. The
 * time is proportional to the square root of side. */
IPT_API size_t ipt_heuristic_divisors(size_t side, size_t *divisors, size_t capacity);

#endif
