/* Headers, settings, and the lists of names that plans use. A newcomer skips to >>interface/core. */

/* The native driver needs threads. Who replaces the lock may have other threads. Compilers other than GCC and clang,
 * whose vectors it uses, compile its plain form, which is slower. */
#if defined(IPT_NO_NATIVE)
#undef IPT_NATIVE
#elif (defined(__GNUC__) && !defined(_MSC_VER) && !defined(IPT_LOCK_TYPE)) || defined(IPT_NO_OPENCL)
#undef IPT_NATIVE
#define IPT_NATIVE
#endif
#if !defined(__GNUC__) && !defined(__clang__) && !defined(IPT_NATIVE_PLAIN)
#define IPT_NATIVE_PLAIN
#endif

/* CUDA comes with OpenCL at run time: its libraries are loaded likewise. */
#if defined(IPT_NO_CUDA)
#undef IPT_CUDA
#elif defined(IPT_OPENCL_DYNAMIC) && ((defined(__linux__) && defined(__LP64__)) || defined(_WIN64)) &&                 \
    !defined(__ANDROID__)
#undef IPT_CUDA
#define IPT_CUDA
#endif

#ifndef IPT__OWN_NAMES
#ifndef CL_TARGET_OPENCL_VERSION
#define CL_TARGET_OPENCL_VERSION 120
#endif
#ifdef __APPLE__
#include <OpenCL/cl.h>
#else
#include <CL/cl.h>
#endif
#endif
#include <stddef.h>

#ifndef CL_VERSION_1_2
#error "ipt.h needs OpenCL 1.2 or later: CL_TARGET_OPENCL_VERSION is set below 120"
#endif

/* Without OpenCL there is no text to compile and no code to store. */
#ifdef IPT_NO_OPENCL
#ifndef IPT_NO_KERNEL_SOURCE
#define IPT_NO_KERNEL_SOURCE
#endif
#ifndef IPT_NO_OFFLINE
#define IPT_NO_OFFLINE
#endif
#ifndef IPT_NO_DISK_CACHE
#define IPT_NO_DISK_CACHE
#endif
#endif

/* Older name of IPT_NO_PAPERS. Storages need the code of host matrices in parts. */
#if defined(IPT_NO_SEED_KERNELS) && !defined(IPT_NO_PAPERS)
#define IPT_NO_PAPERS
#endif
#if defined(IPT_NO_HOST_STREAMING) && !defined(IPT_NO_STORAGE)
#define IPT_NO_STORAGE
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

/* IPT_API_INLINE precedes a public function that passes the size of a struct. Each file compiles a copy of its own. The
 * file with the implementation exports its copy, for programs that load the library by hand, and for those of earlier
 * versions. */
#ifdef IPT_IMPLEMENTATION
#define IPT_API_INLINE IPT_API
#else
#define IPT_API_INLINE static inline
#endif
#if defined(__GNUC__) || defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmissing-declarations" /* they are defined where others are declared */
#if defined(__clang__) || !defined(__cplusplus)
#pragma GCC diagnostic ignored "-Wmissing-prototypes"
#endif
#endif

/* X(enumerator, name). AUTO lets the planner choose. The others force one, or fail with the reason. The names 1 to 4.3
 * are those of Gomez-Luna et al. 2016, section 4.1 (see >>papers). */
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
    X(IPT_SEQUENCE_SQUARE, "square")     /* swaps tile pairs; rows == cols only */                                     \
    X(IPT_SEQUENCE_EXCHANGE, "exchange") /* band height: tile_m (longer side), else tile_n (shorter side) */

#define IPT__ENUMERATOR(name, text) name,
typedef enum ipt_sequence { IPT_SEQUENCE_LIST(IPT__ENUMERATOR) IPT__SEQUENCE_COUNT } ipt_sequence;

/* The name in IPT_SEQUENCE_LIST, or "unknown". Never NULL. */
IPT_API const char *ipt_sequence_string(ipt_sequence sequence);

/* The drivers, for ipt_context_desc.driver. X(enumerator, name) */
#define IPT_DRIVER_LIST(X)                                                                                             \
    X(IPT_DRIVER_AUTO, "auto")     /* a GPU or accelerator through OpenCL, else this CPU, else OpenCL's */             \
    X(IPT_DRIVER_OPENCL, "opencl") /* an OpenCL device */                                                              \
    X(IPT_DRIVER_NATIVE, "native") /* this CPU without OpenCL, unless IPT_NO_NATIVE */                                 \
    X(IPT_DRIVER_CUDA, "cuda")     /* a GPU through CUDA's driver: see IPT_CUDA */

typedef enum ipt_driver { IPT_DRIVER_LIST(IPT__ENUMERATOR) IPT__DRIVER_COUNT } ipt_driver;

/* The moves of ipt_plan_desc.move. X(enumerator, name, transposed, rows of the result in reverse sequence, each row of
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

typedef enum ipt_host { IPT_HOST_LIST(IPT__ENUMERATOR) IPT__HOST_COUNT } ipt_host;

/* The name in IPT_HOST_LIST, or "unknown". Never NULL. */
IPT_API const char *ipt_host_string(ipt_host host);

/* The papers' kernels, for ipt_plan_desc.variant_010 (BS, SWAP, PTTWAC 010!, P-IPT), variant_100 (PTTWAC 100!, P-IPT)
 * and variant_pad. X(enumerator, name, family, lanes, padding, registers, layout, interleaved).
 * - lanes: work-items that share an instance or super-element; 0: a work-group; 32: a SIMD unit. That is 64 on
 *   AMD's GPUs that say so, a sub-group on Intel's, else 32. A virtual one is 16 or 8 (Gomez-Luna et al. 2016, section
 *   5.2).
 * - padding: bank padding in local memory.
 * - registers: units that a work-item holds in registers; 0: they are in local memory; 1: a work-group has as many
 *   work-items as a super-element has units, as first published (Sung et al. 2014, section 5.2).
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
    X(IPT_VARIANT_SWAP_BY_ELEMENT, "swap-by-element", SWAP, 0, 0, 0, 0, 0)                                             \
    X(IPT_VARIANT_PTTWAC_100_ITEMS, "pttwac-100-items", PTTWAC_100, 0, 0, 1, 0, 0)

#define IPT__VARIANT_ENUMERATOR(name, text, family, lanes, padding, registers, layout, interleaved) name,
typedef enum ipt_variant { IPT_VARIANT_LIST(IPT__VARIANT_ENUMERATOR) IPT__VARIANT_COUNT } ipt_variant;

/* The name in IPT_VARIANT_LIST, or "unknown". Never NULL. */
IPT_API const char *ipt_variant_string(ipt_variant variant);

/* How a paper chooses the tile sides m and n, with M = M' * m rows and N = N' * n columns, for ipt_plan_desc.heuristic
 * and ipt_heuristic_tiles, which explains them. The section numbers of ALGORITHM_1, 2 and 5 are those of Gomez-Luna et
 * al. 2016. X(enumerator, name). */
#define IPT_HEURISTIC_LIST(X)                                                                                          \
    X(IPT_HEURISTIC_NONE, "none")                                                                                      \
    X(IPT_HEURISTIC_SEED_000_RANGE, "range-50-100") /* Sung et al. 2014, section 7.4: both in 50..100 */               \
    X(IPT_HEURISTIC_ALGORITHM_1, "algorithm-1")     /* section 5.3: the largest divisors up to 72 */                   \
    X(IPT_HEURISTIC_ALGORITHM_2, "algorithm-2")     /* section 5.3: the most local memory in use */                    \
    X(IPT_HEURISTIC_ALGORITHM_5, "algorithm-5")     /* section 6.2.2: small divisors, padding */

typedef enum ipt_heuristic { IPT_HEURISTIC_LIST(IPT__ENUMERATOR) IPT__HEURISTIC_COUNT } ipt_heuristic;

/* The papers' complete methods, for ipt_plan_desc.method; the last one for batches. Each chooses tiles, sequence and
 * the kernel of each stage as published. X(enumerator, name).
 * - PPOPP_2014: tiles of 50 to 100 (section 7.4), sequence 3.1 (section 4.2). BS by work-group. PTTWAC 100! by SIMD
 * unit; in registers if the super-element is a multiple or a divisor of the unit (section 5.2.1).
 * - TPDS_2016: algorithms 2 and 3. BS if a tile fits local memory, else PTTWAC 010!. Tiles and super-elements get the
 *   sets of work-items of section 5.2, PTTWAC 100! register tiling.
 * - TPDS_2016_PADDED: algorithms 5 and 3, and the padding of algorithm 4; then as TPDS_2016. See IPT_PAD.
 * - UUSCI_2013 is for ipt_batch_desc.method: the model by layout and side (sections III.B to III.E), and the smallest
 *   work-group, of 32, 64, 96 ... work-items, that fills a compute unit (section III.E.1). */
#define IPT_METHOD_LIST(X)                                                                                             \
    X(IPT_METHOD_AUTO, "auto")             /* ipt's own choice */                                                      \
    X(IPT_METHOD_PPOPP_2014, "ppopp-2014") /* Sung et al. 2014 */                                                      \
    X(IPT_METHOD_TPDS_2016, "tpds-2016")   /* Gomez-Luna et al. 2016 */                                                \
    X(IPT_METHOD_TPDS_2016_PADDED, "tpds-2016-padded")                                                                 \
    X(IPT_METHOD_UUSCI_2013, "uusci-2013") /* Ha et al. 2013 */

typedef enum ipt_method { IPT_METHOD_LIST(IPT__ENUMERATOR) IPT__METHOD_COUNT } ipt_method;

/* The name in IPT_METHOD_LIST, or "unknown". Never NULL. */
IPT_API const char *ipt_method_string(ipt_method method);

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
    X(IPT_FORMAT_AOS, "AoS", "MmNn")     /* RM: an array of `rows` structures of `cols` fields */                      \
    X(IPT_FORMAT_SOA, "SoA", "NnMm")     /* CM: a structure of `cols` arrays */                                        \
    X(IPT_FORMAT_ASTA, "ASTA", "MNnm")   /* RCRB: an array of structures whose fields are arrays of tile_m elements */

#define IPT__FORMAT_ENUMERATOR(name, text, factors) name,
typedef enum ipt_format { IPT_FORMAT_LIST(IPT__FORMAT_ENUMERATOR) IPT__FORMAT_COUNT } ipt_format;

/* The name in IPT_FORMAT_LIST, or "unknown". Never NULL. */
IPT_API const char *ipt_format_string(ipt_format format);
