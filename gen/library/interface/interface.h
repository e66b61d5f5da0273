/* What users call. */

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

/* IPT_API stands before every public function. IPT_STATIC makes them all private to the including file. */
#ifndef IPT_API
#ifdef IPT_STATIC
#define IPT_API IPT__UNUSED static
#elif defined(__cplusplus)
#define IPT_API extern "C"
#else
#define IPT_API extern
#endif
#endif

/* What every call that can fail returns. X(enumerator, value, sentence) */
#define IPT_RESULT_LIST(X)                                                                                             \
    X(IPT_SUCCESS, 0, "success")                                                                                       \
    X(IPT_ERROR_INVALID_ARGUMENT, 1, "an argument is invalid")                                                         \
    X(IPT_ERROR_OUT_OF_MEMORY, 2, "out of host or device memory")                                                      \
    X(IPT_ERROR_NO_DEVICE, 3, "no OpenCL device, or none that matches")                                                \
    X(IPT_ERROR_BUILD, 4, "the device's compiler refused a program")                                                   \
    X(IPT_ERROR_UNSUPPORTED, 5, "this device or this workspace limit cannot do what is asked for")                     \
    X(IPT_ERROR_CACHE_MISS, 6, "a program is not in the cache and compiling is not allowed")                           \
    X(IPT_ERROR_INCOMPLETE, 7, "execution failed after some stages were enqueued: the content is undefined")           \
    X(IPT_ERROR_OPENCL, 8, "an OpenCL call failed")                                                                    \
    X(IPT_ERROR_CANCELLED, 9, "a callback asked for an end before anything was changed")                               \
    X(IPT_ERROR_STORAGE, 10, "a storage could not be read or written")

#define IPT__RESULT_ENUMERATOR(name, value, sentence) name = value,
typedef enum ipt_result { IPT_RESULT_LIST(IPT__RESULT_ENUMERATOR) IPT__RESULT_COUNT } ipt_result;

/* A sentence for a result, without the details that ipt_context_error has. Never NULL. */
IPT_API const char *ipt_result_string(ipt_result result);

/* The version of the implementation that is linked: equals IPT_VERSION of the header it was compiled from. */
IPT_API int ipt_version(void);

/* ------------------------------------------------------------------------------------------------------------------ */
/* Context: one OpenCL device with its compiled programs and its limits. Threads may share it. */
/* ------------------------------------------------------------------------------------------------------------------ */

typedef struct ipt_context ipt_context;

/* Where ipt takes host memory from. Set alloc and free both or neither (malloc and free then); they may be called from
 * any thread that calls ipt. alloc returns memory aligned for every type, or NULL. */
typedef struct ipt_allocator {
    void *(*alloc)(size_t bytes, void *user);
    void (*free)(void *pointer, void *user);
    void *user; /* handed to both */
} ipt_allocator;

/* Where ipt reports what no error can carry: whole build logs, programs built. May be called from any thread that calls
 * ipt; must not call ipt. ipt itself never prints. */
typedef struct ipt_logger {
    void (*log)(const char *message, void *user);
    void *user; /* handed to log */
} ipt_logger;

/* A compiled program as it lies in a cache folder, for devices without a file system: see ipt_context_entry. */
typedef struct ipt_binary {
    const void *data; /* needs no alignment; stays the caller's, and in place as long as the context */
    size_t bytes;
} ipt_binary;

typedef struct ipt_context_desc {
    cl_context context;  /* NULL: ipt makes its own. Retained, so the caller may release it */
    cl_device_id device; /* NULL: chosen by device_name, else by the environment's IPT_DEVICE, else a GPU, else any */
    const char *device_name; /* part of a platform's or device's name, any case; NULL: not asked for */
    const char *cache_dir; /* folder of compiled programs. NULL: the environment's IPT_CACHE_DIR, else the user's cache
                              folder; "", in either place: none. See >>cache */
    ipt_allocator allocator; /* zero: malloc and free */
    ipt_logger logger;       /* zero: silent */
    size_t max_local_memory; /* bytes of local memory that one work-group may use; 0: what the device reports, or more
                                where more is found. At least 1024 */
    size_t resident_groups;  /* work-groups of a cooperative kernel that run at the same time; 0: measured. For tests,
                                and  for devices of which only a part may be used */
    size_t wait_polls; /* times that a waiting work-group looks before it leaves its work to the last one; 0: default */
    size_t cache_limit;         /* bytes of the files in cache_dir, of which the oldest go first; 0: 256 MiB */
    const ipt_binary *binaries; /* compiled programs, looked through before cache_dir. Not copied */
    size_t binary_count;
    const char *profile; /* text of ipt_context_profile: the context is for planning only, without any device. Plans can
                            be made, described and their sources read, not executed. NULL: a real context */
} ipt_context_desc;      /* zero-initialised means defaults */

/* Makes a context. desc may be NULL, which means defaults. On failure *context is NULL.
 * Errors: INVALID_ARGUMENT (with the number of the line for a profile), NO_DEVICE, OUT_OF_MEMORY, UNSUPPORTED (before
 * OpenCL 1.2, known to be wrong), OPENCL. */
IPT_API ipt_result ipt_context_create(const ipt_context_desc *desc, ipt_context **context);

/* The calling thread's last failure in words, until its next one. context may be NULL: there is one text for each
 * thread, not for each context. Never NULL; "" before the first failure. */
IPT_API const char *ipt_context_error(const ipt_context *context);

/* The OpenCL context and device behind a context, for making queues and buffers. Not retained for the caller: they live
 * as long as the ipt_context, or as the caller retains them. NULL for NULL. */
IPT_API cl_context ipt_context_cl_context(const ipt_context *context);
IPT_API cl_device_id ipt_context_cl_device(const ipt_context *context);

/* Releases the caller's hold of a context; plans keep it alive for themselves. NULL is fine. */
IPT_API void ipt_context_destroy(ipt_context *context);

/* Pinned host memory, from and to which a device transfers fastest. *memory is NULL on failure. It is freed by
 * ipt_host_free (NULL is fine), or with the context, and must not be in use then. Errors: INVALID_ARGUMENT,
 * OUT_OF_MEMORY, UNSUPPORTED. */
IPT_API ipt_result ipt_host_alloc(ipt_context *context, size_t bytes, void **memory);
IPT_API void ipt_host_free(ipt_context *context, void *memory);

/* Releases the programs that no plan of the context uses at present. They are kept otherwise, for plans to come, as
 * long as the context lives. NULL is fine. */
IPT_API void ipt_context_trim(ipt_context *context);

/* What plans for this device depend on, as text of several lines for ipt_context_desc.profile, into text of capacity
 * bytes including the terminating zero. *bytes (may be NULL) is what the whole text needs, zero included. Builds and
 * runs some kernels to find it out. Errors: INVALID_ARGUMENT (capacity is too small, too), BUILD, OPENCL ... */
IPT_API ipt_result ipt_context_profile(ipt_context *context, char *text, size_t capacity, size_t *bytes);

/* The programs that a context holds, and last what has been found out about its device: all that a later context needs
 * in order to compile nothing. They keep their places until ipt_context_trim. 0 for NULL. */
IPT_API size_t ipt_context_entry_count(const ipt_context *context);

/* The OpenCL C text of entry `index` and the options that it is built with (options may be NULL). NULL behind the last,
 * and for what is not a program. Lives as long as the entry. */
IPT_API const char *ipt_context_entry_source(const ipt_context *context, size_t index, const char **options);

/* Entry `index` in the form of a cache file and of an ipt_binary, into entry of capacity bytes; *bytes is what it
 * needs. With an entry of NULL only that is told. target and code are NULL for what the device's own compiler made,
 * which other devices and drivers do not take. Otherwise code is what another compiler made of the entry's source for
 * target, which is "ptx:sm_NN", "bitcode" (LLVM's for spir64), "spirv" or "amdgcn:NAME", and serves all devices and
 * drivers that take such code and need the same source. Errors: INVALID_ARGUMENT (capacity is too small, too),
 * OUT_OF_MEMORY, UNSUPPORTED (a context without a device has no code of its own), OPENCL. */
IPT_API ipt_result ipt_context_entry(ipt_context *context, size_t index, const char *target, const void *code,
                                     size_t code_bytes, void *entry, size_t capacity, size_t *bytes);

/* Stores an entry in a folder, where a context with that cache_dir finds it: makes the folder (0700) if there is none,
 * with those above it, and replaces an entry of the same program. No limit is applied. Errors: INVALID_ARGUMENT (not an
 * entry, or damaged), OUT_OF_MEMORY, UNSUPPORTED (it cannot be written, and why; IPT_NO_DISK_CACHE). */
IPT_API ipt_result ipt_cache_store(const char *folder, const void *entry, size_t bytes);

#ifndef IPT_NO_WISDOM
/* What IPT_MEASURE has found out on this context, or ipt_wisdom_import has told it, as text of lines, into text of
 * capacity bytes including the terminating zero; *bytes (may be NULL) is what the whole text needs, zero included.
 * Errors: INVALID_ARGUMENT (capacity is too small, too). */
IPT_API ipt_result ipt_wisdom_export(ipt_context *context, char *text, size_t capacity, size_t *bytes);

/* Takes such a text over: plans of the shapes in it, with IPT_MEASURE or without, are made as it says and nothing is
 * measured for them. All or nothing. Errors: INVALID_ARGUMENT (the number of the line and what is wrong with it;
 * another version's), UNSUPPORTED (another device's), OUT_OF_MEMORY. */
IPT_API ipt_result ipt_wisdom_import(ipt_context *context, const char *text);

/* The same to and from a file. Errors, beside those: INVALID_ARGUMENT if it cannot be written or read. */
IPT_API ipt_result ipt_wisdom_export_file(ipt_context *context, const char *path);
IPT_API ipt_result ipt_wisdom_import_file(ipt_context *context, const char *path);
#endif

/* All OpenCL devices of this machine, in the order in which ipt_context_create looks at them. Writes at most capacity
 * of them to devices (which may be NULL if capacity is 0) and how many there are to *count. Errors: INVALID_ARGUMENT,
 * NO_DEVICE (*count is 0), OPENCL. */
IPT_API ipt_result ipt_device_list(cl_device_id *devices, size_t capacity, size_t *count);

/* A device in words (name, platform, version, memory), on several lines, into text of capacity bytes including the
 * terminating zero; a longer one is cut. Errors: INVALID_ARGUMENT, OPENCL. */
IPT_API ipt_result ipt_device_describe(cl_device_id device, char *text, size_t capacity);

/* ------------------------------------------------------------------------------------------------------------------ */
/* Plan: how one shape is transposed in place on one context, with the memory it needs. */
/* ------------------------------------------------------------------------------------------------------------------ */

/* X(enumerator, name). AUTO picks; the others force one, or fail with the reason. The names 1 to 4.3 are those of seed
 * 002, section 5.1. */
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
    X(IPT_SEQUENCE_TWO_PASS, "two-pass") /* tile_m (rows >= cols) or tile_n (rows < cols): super-element length */     \
    X(IPT_SEQUENCE_SQUARE, "square")     /* tile pairs swapped; rows == cols only */

/* The seeds' kernels, for ipt_plan_desc.variant_010 (BS, SWAP, PTTWAC 010!, P-IPT), variant_100 (PTTWAC 100!, P-IPT)
 * and variant_pad. X(enumerator, name, family, work-items that share an instance or super-element (0: a work-group),
 * bank padding, units held in registers by a work-item (0: local memory holds them), layout of flags, interleaved). A
 * SIMD unit is 32 work-items here, a virtual one 16 or 8 (seed 002, section 5.2). Interleaved: neighbouring work-items
 * belong to different instances; SWAP: a work-group has one pair of tiles in every matrix, not every pair in one (seed
 * 004, sections III.C and III.E). */
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

/* Block formats of an M x N matrix with M = M' * m, N = N' * n (seed 002, table 1): which factor is the outermost, the
 * next and so on. X(enumerator, name, factors: M, m, N, n stand for M', m, N', n) */
#define IPT_FORMAT_LIST(X)                                                                                             \
    X(IPT_FORMAT_DEFAULT, "default", "") /* from: row-major, to: column-major */                                       \
    X(IPT_FORMAT_RM, "RM", "MmNn")       /* row-major */                                                               \
    X(IPT_FORMAT_RRRB, "RRRB", "MNmn")   /* row-major blocks, row-major inside */                                      \
    X(IPT_FORMAT_RCRB, "RCRB", "MNnm")   /* row-major blocks, column-major inside */                                   \
    X(IPT_FORMAT_CRRB, "CRRB", "NMmn")   /* column-major blocks, row-major inside */                                   \
    X(IPT_FORMAT_CCRB, "CCRB", "NMnm")   /* column-major blocks, column-major inside */                                \
    X(IPT_FORMAT_CM, "CM", "NnMm")       /* column-major: the transposed matrix in row-major order */                  \
    X(IPT_FORMAT_AOS, "AoS", "MmNn")     /* RM: an array of rows structures of cols fields (seeds 002 and 004) */      \
    X(IPT_FORMAT_SOA, "SoA", "NnMm")     /* CM: a structure of cols arrays */                                          \
    X(IPT_FORMAT_ASTA, "ASTA", "MNnm")   /* RCRB: an array of structures of tiled arrays, tile_m elements each */

#define IPT__FORMAT_ENUMERATOR(name, text, factors) name,
typedef enum ipt_format { IPT_FORMAT_LIST(IPT__FORMAT_ENUMERATOR) IPT__FORMAT_COUNT } ipt_format;

/* The name in IPT_FORMAT_LIST, or "unknown". Never NULL. */
IPT_API const char *ipt_format_string(ipt_format format);

/* What becomes of each matrix, for ipt_plan_desc.move. X(enumerator, name, transposed, rows of the result in reverse
 * sequence, each row of it turned round). Rotations are clockwise; those by 90 and 270 degrees, like transpositions,
 * make cols x rows matrices. */
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

/* How a matrix in host memory gets to the device and back, for ipt_plan_desc.host. X(enumerator, name) */
#define IPT_HOST_LIST(X)                                                                                               \
    X(IPT_HOST_AUTO, "auto")               /* shared where the device can, else overlapped for all but small ones */   \
    X(IPT_HOST_SYNCHRONOUS, "synchronous") /* upload, transposition and download one after the other */                \
    X(IPT_HOST_OVERLAPPED, "overlapped")   /* parts of it are transposed while others are on their way, and the */     \
    /* shuffle of the two-pass method is left to the transfer. Transpositions with sequence auto only */               \
    X(IPT_HOST_STAGES, "stages") /* seed 000, section 6: the stages before the one that needs the whole matrix */      \
    /* run by parts behind the upload, those after it before the download. Sequences 3.1 to 4.2 */                     \
    X(IPT_HOST_SHARED, "shared") /* no copies: the device works in the host's memory */

#define IPT__HOST_ENUMERATOR(name, text) name,
typedef enum ipt_host { IPT_HOST_LIST(IPT__HOST_ENUMERATOR) IPT__HOST_COUNT } ipt_host;

/* The name in IPT_HOST_LIST, or "unknown". Never NULL. */
IPT_API const char *ipt_host_string(ipt_host host);

#define IPT__SEQUENCE_ENUMERATOR(name, text) name,
typedef enum ipt_sequence { IPT_SEQUENCE_LIST(IPT__SEQUENCE_ENUMERATOR) IPT__SEQUENCE_COUNT } ipt_sequence;

/* The name in IPT_SEQUENCE_LIST, or "unknown". Never NULL. */
IPT_API const char *ipt_sequence_string(ipt_sequence sequence);

/* Flags of a plan, or-ed together. */
#define IPT_ESTIMATE 0u       /* choose by the planner's model (the default) */
#define IPT_MEASURE 1u        /* try the best few on the device and keep the fastest: needs one temporary matrix */
#define IPT_CACHE_ONLY 2u     /* never compile OpenCL C: a program that is nowhere at hand is IPT_ERROR_CACHE_MISS */
#define IPT_NO_COOPERATIVE 4u /* no kernel may wait for another work-group */
#define IPT_OUT_OF_PLACE 16u  /* build what ipt_plan_execute_out_of_place needs now, not at its first call */
#define IPT_PAD 8u /* rows and columns may be added meanwhile, so that the sides have factors: the buffer has */
/*                               room for them, see ipt_plan_padding */

typedef struct ipt_plan ipt_plan;
typedef struct ipt_plan_desc {
    size_t rows, cols;    /* row-major input of rows x cols elements, output cols x rows (column-major: swap the two) */
    size_t elem_size;     /* bytes, any from 1 up: 1, 2, 4, 8, 16 are fast, 3, 12, 24 ... work */
    size_t batch;         /* number of matrices; 0 means 1 */
    size_t batch_stride;  /* bytes from one matrix to the next; 0: back to back */
    unsigned flags;       /* IPT_ESTIMATE, IPT_MEASURE ... */
    size_t max_workspace; /* bytes of device memory the plan may hold; 0: the larger of 1 % of the matrices and 1 MiB;
                             1: as little as possible */
    ipt_sequence sequence;   /* IPT_SEQUENCE_AUTO or the one to force */
    size_t tile_m, tile_n;   /* elements; 0: chosen. tile_m divides rows, tile_n cols, but for TWO_PASS and IPT_PAD */
    cl_mem measure_buffer;   /* IPT_MEASURE may use it (its content is lost): at least as large as the batch; NULL: a
                                temporary one. Not retained */
    ipt_variant variant_010; /* for the stages of a sequence from 1 to 4.3: kernel of those that move single elements;
                                with AUTO one of BS for whole matrices, with SQUARE one of SWAP */
    ipt_variant variant_100; /* and of those that move super-elements, and of sequence 1 */
    ipt_variant variant_pad; /* IPT_PAD: IPT_VARIANT_PAD_CHAINED, or AUTO for a faster kernel */
    size_t flag_spread;  /* words that forced PTTWAC kernels spread the flags of one word over: 1, 2 ... 32, one flag to
                            a word;  0: 1 */
    ipt_format from, to; /* other than a transposition: tile_m and tile_n are the blocks' sides, where there are blocks
                            (ASTA: tile_n is 1 unless given); AUTO only */
    ipt_move move;       /* other than a transposition, a rotation or a reflection; in place only */
    const char *expression;      /* OpenCL C: what becomes of the element x on the way, such as "x * x"; NULL: nothing.
                                    Copied. Elements of 1, 2, 4, 8 or 16 bytes only */
    const char *expression_type; /* the OpenCL C type of x and of the result, of elem_size bytes, such as "float" or
                                    "uchar4". double and half, also within expression, need the device's cl_khr_fp64
                                    and cl_khr_fp16: UNSUPPORTED without */
    ipt_host host;               /* for ipt_plan_execute_host and its likes */
    size_t host_queues; /* parts that a host matrix is moved in, each by a command queue of its own (seed 000's Q, 64 at
                           most); 0: chosen */
    size_t max_device_memory; /* bytes of device memory for host matrices and storages, workspace included; 0: what the
                                 device has. Matrices that do not fit are cut, and such a plan is for them only */
    size_t max_host_memory;   /* bytes of host memory that ipt_plan_execute_storage may take; not 0: the plan is for
                                 that only */
} ipt_plan_desc;              /* zero-initialised but for rows, cols and elem_size means defaults */

/* Makes a plan: chooses its stages, builds the programs it needs (none if the context has them already), takes and
 * touches its workspace. On failure *plan is NULL. Errors: INVALID_ARGUMENT, OUT_OF_MEMORY, BUILD, UNSUPPORTED,
 * CACHE_MISS, OPENCL. */
IPT_API ipt_result ipt_plan_create(ipt_context *context, const ipt_plan_desc *desc, ipt_plan **plan);

/* Enqueues the transposition of the batch that starts byte_offset bytes into buffer. Never blocks, allocates nothing,
 * and flushes the queue. All commands wait for wait_events; *event (may be NULL) completes after the last of them and
 * is the caller's to release. Two executions of one plan share its workspace: the second waits for the first by itself,
 * on any queue. byte_offset is a multiple of the largest power of two that divides elem_size (16 at most). So is the
 * address of host memory that the buffer was made over (CL_MEM_USE_HOST_PTR) where the device is a CPU; a GPU that
 * works in the host's memory needs a multiple of 16. Errors before anything is enqueued leave the buffer as it was and
 * *event NULL: INVALID_ARGUMENT, OPENCL, OUT_OF_MEMORY, UNSUPPORTED (2^31 work-groups or more). INCOMPLETE: some stages
 * were enqueued, *event is the last of them. */
IPT_API ipt_result ipt_plan_execute(ipt_plan *plan, cl_command_queue queue, cl_mem buffer, size_t byte_offset,
                                    cl_uint num_wait_events, const cl_event *wait_events, cl_event *event);

/* The same from one place into another, which must not overlap it; source is only read. Both hold the batch with the
 * plan's batch_stride. The first call for an element size builds its program (a plan with IPT_CACHE_ONLY does not), so
 * it may block; later ones only enqueue. Errors: as ipt_plan_execute, and BUILD, CACHE_MISS, and UNSUPPORTED for plans
 * with IPT_PAD or formats. */
IPT_API ipt_result ipt_plan_execute_out_of_place(ipt_plan *plan, cl_command_queue queue, cl_mem source,
                                                 size_t source_offset, cl_mem destination, size_t destination_offset,
                                                 cl_uint num_wait_events, const cl_event *wait_events, cl_event *event);

/* What the functions for host matrices tell while they are at it. Zero-initialised: nothing. */
typedef struct ipt_host_options {
    /* Called between the parts, by the thread that moves them: done of total bytes have been over the bus. Whoever
     * returns other than 0 wants it to end. Must not call ipt for the same plan. */
    int (*progress)(size_t done, size_t total, void *user);
    /* Called at the end of ipt_plan_execute_host_async, by its thread; ipt_context_error tells more there. */
    void (*finished)(ipt_result result, void *user);
    void *user; /* handed to both */
} ipt_host_options;

/* Transposes host memory in place, as desc.host says, and returns when data holds the result. data needs no alignment;
 * transfers are fastest from memory of ipt_host_alloc's. With IPT_PAD data has room for the padding, which is
 * overwritten. Bytes between the matrices of a batch are neither read nor written. The first call takes device memory
 * for the matrix, which overlapped plans keep for later calls. Nothing is written before all has been uploaded and
 * transposed (batches: all of a part; by stages: the one that needs the whole matrix is done), so a failure until then
 * leaves data as it was; IPT_ERROR_INCOMPLETE says that it happened later. Calls on one plan take turns. Errors:
 * INVALID_ARGUMENT, OUT_OF_MEMORY, OPENCL, UNSUPPORTED, INCOMPLETE, and what ipt_plan_create returns. */
IPT_API ipt_result ipt_plan_execute_host(ipt_plan *plan, void *data);

/* The same with options (may be NULL), whose progress can end it: CANCELLED, and data is as it was, or INCOMPLETE. */
IPT_API ipt_result ipt_plan_execute_host_with(ipt_plan *plan, void *data, const ipt_host_options *options);

/* The same by a thread of its own: returns at once. *event (may be NULL) is a user event that completes with the
 * execution, with minus an ipt_result as its status if that fails (look at that: NVIDIA's clWaitForEvents returns
 * success all the same), and is the caller's to release. plan and data stay until then. Until it has completed, no
 * execution of this plan, and none with cooperative kernels on its context, may be enqueued that waits for it: each
 * would wait for the other for ever. Errors: INVALID_ARGUMENT, OUT_OF_MEMORY, OPENCL, UNSUPPORTED (IPT_NO_THREADS); all
 * others are told to options->finished and the event. */
IPT_API ipt_result ipt_plan_execute_host_async(ipt_plan *plan, void *data, const ipt_host_options *options,
                                               cl_event *event);

#ifndef IPT_NO_STORAGE
/* Where a matrix is that is not in memory: in a file, say. */
typedef struct ipt_storage {
    /* Read and write `bytes` bytes that stand `offset` bytes behind the first matrix's start. Called by several threads
     * at a time, for places that do not overlap. Whoever returns other than 0 has failed. */
    int (*read)(void *memory, size_t offset, size_t bytes, void *user);
    int (*write)(const void *memory, size_t offset, size_t bytes, void *user);
    /* Called once for each step, in their order, before the step writes its first byte (NULL: never called). All steps
     * before it are written. The `bytes` bytes at content, which lie in memory, are all that has changed there since
     * the last call and is needed to go on; they stay as they are until the next call. So who keeps the pieces of all
     * calls, each at its place in memory, and step + 1, can resume: nothing else of memory counts. Some steps write
     * nothing: they only report a piece. Return nonzero to cancel. */
    int (*ready)(size_t step, size_t steps, const void *content, size_t bytes, void *user);
    void *user;    /* handed to all three */
    void *memory;  /* ipt_plan_storage_memory bytes, for what goes on; NULL: taken and given back meanwhile */
    size_t resume; /* 0, or the last step that was ready plus 1: memory holds the pieces that all calls of ready have
                      reported until then. The work goes on there, with a plan made from the same desc */
} ipt_storage;

/* Transposes a matrix, or each matrix of a batch, in place in a storage, with no more than desc.max_host_memory bytes
 * of host memory: in steps, of which one is read and one is worked on while another is written. No step writes what an
 * earlier one has not read, and each can be written again. Errors: INVALID_ARGUMENT, OUT_OF_MEMORY, CANCELLED and
 * STORAGE (nothing has been written), INCOMPLETE (some has), OPENCL. */
IPT_API ipt_result ipt_plan_execute_storage(ipt_plan *plan, const ipt_storage *storage);

/* Bytes of ipt_storage.memory. 0 for plans that are not for storages. */
IPT_API size_t ipt_plan_storage_memory(const ipt_plan *plan);

/* Steps of an execution: ipt_storage.ready is called for the steps 0 to this - 1. 0 for plans that are not for
 * storages. */
IPT_API size_t ipt_plan_storage_steps(const ipt_plan *plan);

/* Whether the piece of memory that ready has reported for `step` must be there, as it was, to go on with `resume`: 1 or
 * 0. So who keeps a sum of each piece can check, before going on, all that counts. */
IPT_API int ipt_plan_storage_needs(const ipt_plan *plan, size_t step, size_t resume);
#endif

/* A plan for host matrices that are spread over the devices of several contexts, which share one cl_context: each has
 * a share of the parts. It executes host matrices only, in its first context's name. Errors: as ipt_plan_create. */
IPT_API ipt_result ipt_plan_create_split(ipt_context *const *contexts, size_t count, const ipt_plan_desc *desc,
                                         ipt_plan **plan);

/* Bytes of device memory that the plan holds beside the matrix: more once a host matrix has been executed by parts, for
 * which there are plans within. 0 for NULL. */
IPT_API size_t ipt_plan_workspace(const ipt_plan *plan);

/* The rows and columns that IPT_PAD adds: each matrix in the buffer has room for (rows + *rows) * (cols + *cols)
 * elements, its content lies without gaps at the beginning before and after. Both 0 without IPT_PAD. */
IPT_API void ipt_plan_padding(const ipt_plan *plan, size_t *rows, size_t *cols);

/* The stages, sizes and kernels in words, several lines. Lives as long as the plan. Never NULL; "" for NULL. */
IPT_API const char *ipt_plan_describe(const ipt_plan *plan);

/* The specialised OpenCL C text of the plan's index-th program, counted from 0; NULL beyond the last (a plan with
 * nothing to do has none). Lives as long as the plan. */
IPT_API const char *ipt_plan_source(const ipt_plan *plan, size_t index);

/* Destroys a plan; NULL is fine. Never waits for the device: executions that are under way complete. */
IPT_API void ipt_plan_destroy(ipt_plan *plan);

/* The one-liner: transposes a host matrix of rows x cols elements in place on the default device. Makes and destroys
 * its context on every call; ipt_context_error(NULL) tells what went wrong. Errors: as the calls it is made of. */
IPT_API ipt_result ipt_transpose(void *data, size_t rows, size_t cols, size_t elem_size);

#ifndef IPT_NO_PAPERS

/* ------------------------------------------------------------------------------------------------------------------ */
/* Heuristics: how the seeds choose tiles, sequences and work-groups. Plans choose by their own model; these are for
 * comparison with it, and for forcing what a seed would have done. They are pure functions of their arguments: no
 * device is touched, nothing is allocated, and each takes microseconds (ipt_heuristic_divisors up to some 100). */
/* ------------------------------------------------------------------------------------------------------------------ */

/* X(enumerator, name). How the tile sides m and n are chosen, M = M' * m rows and N = N' * n columns. */
#define IPT_HEURISTIC_LIST(X)                                                                                          \
    X(IPT_HEURISTIC_SEED_000_RANGE, "range-50-100") /* seed 000, section 7.4: both in 50..100 */                       \
    X(IPT_HEURISTIC_ALGORITHM_1, "algorithm-1")     /* seed 002, section 5.3: the largest divisors up to 72 */         \
    X(IPT_HEURISTIC_ALGORITHM_2, "algorithm-2")     /* seed 002, section 5.3: the most local memory in use */          \
    X(IPT_HEURISTIC_ALGORITHM_5, "algorithm-5")     /* seed 002, section 6.2.2: small divisors, padding */

#define IPT__HEURISTIC_ENUMERATOR(name, text) name,
typedef enum ipt_heuristic { IPT_HEURISTIC_LIST(IPT__HEURISTIC_ENUMERATOR) IPT__HEURISTIC_COUNT } ipt_heuristic;

/* The name in IPT_HEURISTIC_LIST, or "unknown". Never NULL. */
IPT_API const char *ipt_heuristic_string(ipt_heuristic heuristic);

/* What the heuristics need to know of a device. OpenCL does not tell the last two. */
typedef struct ipt_heuristic_device {
    size_t local_bytes; /* local memory of a compute unit, all of which one work-group may take */
    size_t max_group;   /* work-items in a work-group at most */
    size_t simd_width;  /* work-items in a SIMD unit: 32 on NVIDIA devices, 64 on AMD's, 1 on CPUs */
    size_t unit_items;  /* work-items that a compute unit holds at most; 0: 2048, as the seeds' Tesla K20 */
    size_t unit_groups; /* work-groups that a compute unit holds at most; 0: 16, as the K20 */
} ipt_heuristic_device;

/* Chooses tile_m x tile_n elements for rows x cols elements of elem_size bytes: tile_m divides rows + pad_rows and
 * tile_n divides cols + pad_cols. Only algorithm 5 pads. L below is local_bytes / elem_size, the elements that local
 * memory holds (the seeds' "local memory words"). The other bounds are elements too, as the seeds give them for 4
 * bytes, whatever elem_size is.
 *   SEED_000_RANGE  the pair of divisors in 50..100 with the largest product below L, of equal ones the squarest
 *   ALGORITHM_1     the largest divisor up to 72 of each side, whether the tile fits or not; 1 for primes above that
 *   ALGORITHM_2     divisors between 5 and 2560, both excluded (1 where there is none), whose product is below L; of
 *                   these the pair with the most local memory in use by the work-groups that a compute unit holds, the
 *                   first one in ascending order. Where no pair fits, the smallest divisors: the tile is larger than
 *                   local memory then. The seed leaves the bounds open; these give the two counts that it reports
 *                   (2,235 and 2,926 of 5,000 matrices)
 *   ALGORITHM_5     the smallest divisor in 24..sqrt(L), sqrt(L) excluded, of each side, padded by one until there is
 *                   one: at most 23 times. A side below sqrt(L) is the tile's whole side and not padded: as seed 002,
 *                   section 7.2, pads only the long side of skinny matrices
 * On failure the four results are 0. Errors: INVALID_ARGUMENT (zero, NULL, unknown), UNSUPPORTED (SEED_000_RANGE: no
 * such pair; ALGORITHM_5: L is 576 or less, or the padded side overflows). */
IPT_API ipt_result ipt_heuristic_tiles(ipt_heuristic heuristic, const ipt_heuristic_device *device, size_t rows,
                                       size_t cols, size_t elem_size, size_t *tile_m, size_t *tile_n, size_t *pad_rows,
                                       size_t *pad_cols);

/* The sequence for such tiles, by seed 002, section 5.4, algorithm 3: 2.1 if tile_m * cols is below L (see above), else
 * 2.2 if rows * tile_n is, else 3.1 if tile_m < tile_n, else 3.2. rows and cols include the padding. AUTO
 * if an argument is zero or NULL. */
IPT_API ipt_sequence ipt_heuristic_sequence(const ipt_heuristic_device *device, size_t rows, size_t cols,
                                            size_t elem_size, size_t tile_m, size_t tile_n);

/* The throughput of `count` stages one after another, by seed 002, section 6.1, equation (2): the reciprocal of the sum
 * of their reciprocals, in their unit (bytes per second, say). 0 if there are none, or if one is not above 0. */
IPT_API double ipt_heuristic_throughput(const double *stage_throughputs, size_t count);

/* How many work-items should move one super-element of so many bytes, by seed 002, section 5.2: the smallest set in
 * which each has less than 3 words of 4 bytes. Sets are simd_width, the powers of two from 8 up to that, and those from
 * 128 up to max_group. Below simd_width the result is a virtual SIMD unit, equal to it a SIMD unit, above it a whole
 * work-group, which needs barriers. 8 serve up to 23 words, 16 up to 47, 32 up to 95, 128 up to 383, and so on; the
 * largest set serves all above. 0 if an argument is zero or NULL. */
IPT_API size_t ipt_heuristic_group_size(const ipt_heuristic_device *device, size_t super_element_bytes);

/* The share of a compute unit's work-items that work-groups of group_size work-items and local_bytes of local memory
 * keep busy: 0 (none fits, or an argument is invalid) to 1. Registers are not known to OpenCL and not counted. */
IPT_API double ipt_heuristic_occupancy(const ipt_heuristic_device *device, size_t group_size, size_t local_bytes);

/* The smallest work-group whose occupancy is at least `occupancy` (0 to 1), by seed 004, section III.E.1: from one SIMD
 * unit up, in steps of one. A work-group of g work-items takes group_bytes + g * item_bytes of local memory. Where none
 * suffices, the smallest of those with the highest occupancy. 0 if none fits or an argument is invalid. */
IPT_API size_t ipt_heuristic_smallest_group(const ipt_heuristic_device *device, size_t group_bytes, size_t item_bytes,
                                            double occupancy);

/* A work-group of group_size work-items as x (along a row) times y, by seed 004, section III.E.2: x a multiple of 32
 * bytes of elements (8 of 4 bytes, 4 of 8), as near a square as that allows, of two the wider one. Where no such x
 * divides group_size, one row. x and y are 0 if an argument is zero. */
IPT_API void ipt_heuristic_group_shape(size_t group_size, size_t elem_size, size_t *x, size_t *y);

/* How a batch is shared out, by seed 004, section III.D: 1 if a work-group takes one block of every matrix, 0 if it
 * takes all blocks of one matrix. Whichever makes more work-groups wins; a tie is the matrices'. */
IPT_API int ipt_heuristic_by_block(size_t batch, size_t blocks_per_matrix);

/* All divisors of side, ascending, 1 and side among them: for brute force over all tiles. Writes at most capacity of
 * them to divisors (which may be NULL if capacity is 0) and returns how many there are: at most 1920 below 2^32. 0 for
 * 0. Takes time in proportion to the square root of side. */
IPT_API size_t ipt_heuristic_divisors(size_t side, size_t *divisors, size_t capacity);

#endif
