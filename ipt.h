#ifndef IPT_H_INCLUDED
#define IPT_H_INCLUDED

/* clang-format off */
/* ipt 0.1.0: transposes matrices in place, any shape, any element size, on any OpenCL 1.2 device. MIT licence.
 *
 * CONTENTS                                                search for
 *   What it does                                          >>what
 *   How to include it                                     >>include
 *   A complete program                                    >>program
 *   Contexts, plans, executions                           >>objects
 *   Shapes, element sizes, batches                        >>shapes
 *   What is promised                                      >>promises
 *   Errors                                                >>errors
 *   Threads and events                                    >>threads
 *   How it works                                          >>method
 *   Choosing and forcing                                  >>choosing
 *   Compiled once: cache, embedded and portable programs  >>cache
 *   Wisdom: what measuring has found                      >>wisdom
 *   Matrices in host memory                               >>host
 *   Larger than the device, or than memory                >>larger
 *   The seeds' kernels and heuristics by their names      >>seeds
 *   Settings at compile time                              >>settings
 *   Limits of this version                                >>limits
 *   Interface                                             >>interface
 *   Implementation                                        >>implementation
 *
 * >>what
 * A row-major matrix of rows x cols elements becomes cols x rows in the memory that it already has. No second matrix is
 * needed: beside it a plan takes device memory of 1 % of the matrix (at least 1 MiB may be used; small matrices and
 * squares need none). On the host it takes a few dozen KiB, most of them kernel text.
 *
 * >>include
 * Copy ipt.h and ipt_kernels.h into your project (or the one file that `make single` writes), include "ipt.h" wherever
 * you like, and in exactly one C or C++ file say
 *     #define IPT_IMPLEMENTATION
 *     #include "ipt.h"
 * Link OpenCL (-lOpenCL) and, on POSIX systems, threads (-lpthread); with IPT_OPENCL_DYNAMIC OpenCL is loaded at run
 * time instead (-ldl on older systems), and its absence is IPT_ERROR_NO_DEVICE.
 *
 * >>program
 *     #define IPT_IMPLEMENTATION
 *     #include "ipt.h"
 *     int main(void)
 *     {
 *         static float matrix[1000 * 777];
 *         if (ipt_transpose(matrix, 1000, 777, sizeof *matrix)) {
 *             fprintf(stderr, "%s\n", ipt_context_error(NULL));
 *             return 1;
 *         }
 *         return 0; // matrix is 777 x 1000 now
 *     }
 * ipt_transpose makes and destroys its context on every call, which loads its kernels each time. Programs that transpose
 * more than once keep a context and their plans:
 *     ipt_context *context;
 *     ipt_plan *plan;
 *     ipt_plan_desc desc = {0};
 *     desc.rows = 1000;
 *     desc.cols = 777;
 *     desc.elem_size = sizeof(float);
 *     ipt_context_create(NULL, &context);
 *     ipt_plan_create(context, &desc, &plan);
 *     ipt_plan_execute_host(plan, matrix);                                  // memory of the host
 *     ipt_plan_execute(plan, queue, buffer, 0, 0, NULL, &event);            // a cl_mem of yours
 *     ipt_plan_destroy(plan);
 *     ipt_context_destroy(context);
 *
 * >>objects
 * An ipt_context is one OpenCL device with the programs built for it. Hand it your cl_context and device, or let it
 * make its own (ipt_context_cl_context and ipt_context_cl_device tell which). The device is the desc's; else one whose
 * name, or whose platform's name, contains the desc's device_name, or without one the environment's IPT_DEVICE; else
 * any. Among several a GPU comes first. An ipt_plan is how one shape is transposed there: its stages, kernels and
 * workspace. It can be executed any number of times, on any queue of its context and device. Both are made from descs
 * whose zeros mean defaults. Plans hold their context, and the context its OpenCL objects, so the order in which you
 * destroy things is free.
 *
 * >>shapes
 * rows and cols may be any numbers from 1 up, primes included; elem_size any number of bytes. Elements are moved in
 * units of the largest power of two that divides elem_size, 16 bytes at most, so 1, 2, 4, 8 and 16 are fastest, and 12
 * is faster than 13. A batch is a number of matrices of one shape, batch_stride bytes apart. Every stage takes all of
 * them in the same launches, as far as the workspace allows. Column-major matrices: swap rows and cols.
 *
 * >>promises
 * - The buffer holds rows * cols * elem_size bytes for each matrix from byte_offset on, with no padding (but for plans
 *   with IPT_PAD). Bytes outside are never read or written, those between the matrices of a batch included.
 * - ipt_plan_execute only enqueues and flushes: it allocates nothing, compiles nothing and never blocks. All memory is
 *   taken, and written to once, when the plan is made. (An OpenCL implementation may finish compiling a kernel at its
 *   first launch: PoCL does, unless the program comes from the cache or has just been stored there.)
 * - A failure before the first command is enqueued leaves the buffer as it was.
 * - ipt prints nothing, has no global state but each thread's error text (and, with IPT_OPENCL_DYNAMIC, the table of
 *   OpenCL's functions), and writes no files but those of the cache folder.
 * - Nothing hangs. Kernels whose work-groups wait for others that must run at the same time run on GPUs only, each wait
 *   is bounded, and what is given up is done by the launch's last work-group alone: slowly, but right.
 *   IPT_NO_COOPERATIVE does without them. (Those of IPT_PAD wait for work-groups that have started before them only.)
 *
 * >>errors
 * Every function that can fail returns an ipt_result. ipt_context_error tells what went wrong in a sentence that names
 * the argument or field and its value, or the OpenCL call and its error; it is the calling thread's own and stays until
 * its next failure. Build logs go whole to the logger of the context desc, if there is one. IPT_ERROR_INCOMPLETE means
 * that the content is lost: some commands were enqueued, and then one could not be. The plan can be used again.
 *   A command that fails later, or an event of yours that it waits for, shows in the execution's event, and what stands
 * behind it does not begin, an execution that waits for this one by itself included; the next one is free of it again.
 * Some OpenCLs tell it less well: with NVIDIA's driver clWaitForEvents succeeds and the event's status tells, with
 * Intel's runtime for CPUs it is the other way round; PoCL 3.1 may end the process where several commands stand behind
 * it, Intel's where a list has two failed events.
 *   Mesa's rusticl on llvmpipe is refused, because its results are wrong. A device that lacks something gets a fallback
 * or IPT_ERROR_UNSUPPORTED.
 *
 * >>threads
 * All functions may be called from any thread, on shared contexts and plans; only destroying something while another
 * thread uses it is an error. A lock is held while a plan's commands are enqueued, not while they run. Each command
 * waits for the one before it by event, so in-order and out-of-order queues serve alike. A plan that is executed again
 * while an earlier execution of it still runs waits for that by itself, on whatever queue it is, because they share the
 * workspace. The event that ipt_plan_execute returns completes after the last command; its profiling times are that
 * command's.
 *
 * >>method
 * A stage takes (instances, A, B, b): that many independent A x B grids of super-elements of b elements, each of which
 * becomes B x A. ipt_plan_describe prints a plan's stages. Kernels that serve a stage:
 *   tile      a work-group holds whole instances in local memory, on a GPU as many as fit
 *   swap      square instances, tile pair by tile pair
 *   wave      instances go through slabs of the workspace, as many at a time as there are slabs, in two launches
 *   panel     on GPUs: an instance is held by several work-groups, a chunk each, that wait until all of it has been read
 *   shuffle   super-elements follow the cycles of the permutation; a bit per slot tells which have been moved
 *   chains    the same on GPUs: several chains to a sub-group, a load and a claim of each under way at a time
 *   flip      pairs of elements change places: reflections, and what a rotation is more than a transposition
 *   map       the expression, where no other stage can apply it
 * Matrices that fit into the local memory of a work-group, or on a GPU into that of all work-groups that run at a time,
 * and squares take one stage. All others take two passes over memory (seed 002's sequences 2.1 and 2.2, made total):
 * with R the longer side = m * P + r, panels of m rows (tall) or columns (wide) are transposed, and the super-elements
 * of m elements that this makes are shuffled. The r rows or columns that are left over are saved first and restored
 * last, and the slots of the shuffle lie from the start where the rows of the result will: slot t begins at
 * (t div P) * R + (t mod P) * m. A panel's slots then reach into the next panel's memory, but no further, so panels are
 * written in an order in which that panel has been read before.
 *
 * >>choosing
 * max_workspace limits the workspace; if that is too little, the error tells how much would do. sequence forces one of
 * the sequences of seed 002, section 5.1, or the two-pass method, with tile_m and tile_n as their factors: M = M' * m,
 * N = N' * n. 1 and 2.1 to 4.3 need factors that divide; two-pass does not. Under IPT_SEQUENCE_AUTO tile_m (rows >=
 * cols) or tile_n (rows < cols) is the length of a super-element where there is one. IPT_MEASURE times the most
 * promising lengths on the device; it needs a temporary matrix, or measure_buffer, meanwhile. IPT_CACHE_ONLY never
 * compiles: the programs must be in the context already, from an earlier plan. IPT_NO_COOPERATIVE forbids kernels in
 * which work-groups wait for one another: panels go in waves then. How many work-groups run at a time is measured by the
 * first plan that asks, in some milliseconds, unless the context desc's resident_groups tells; where it finds fewer than
 * compute units, the next three plans measure again, because the device may have been busy. Where that fails, such
 * kernels are not used as long as the context lives.
 *
 * >>cache
 * Each program is compiled once. In memory, all plans of a context share its programs (ipt_context_trim releases those
 * that are out of use). On disk, context_desc.cache_dir has a file for each: by default a folder `ipt` in the user's
 * cache folder, or the environment's IPT_CACHE_DIR; "" switches it off. The key is the hash of the specialised source,
 * the options, the device with its vendor, driver and platform, and it stands in the file in full. Files are checked
 * from the first byte to the last (SHA-256) before the driver sees one, written beside their place, flushed and
 * renamed, so that any number of processes may share a folder and be killed at any time. Files and folders that others
 * than you and root can write to are not trusted (Windows: that is not checked, name a folder of your own). A full
 * disk, a read-only or vanished folder, a damaged file: the program is compiled from its source, and only the logger
 * hears of it. The files hold what has been measured about the device, too (residency, sub-groups, local memory that
 * builds). Beyond cache_limit the oldest go. Only files are counted or removed whose names ipt makes (32 hexadecimal
 * digits and .ipt), and only those are removed that begin as ipt's files do.
 *   A folder made by `ipt precompile ... -o DIR` can be shipped, read-only (it is made for you alone: chmod it).
 * `--embed FILE.h` writes the same as a C header for context_desc.binaries, for targets without a file system. With
 * IPT_CACHE_ONLY nothing is ever compiled from source: what is missing is IPT_ERROR_CACHE_MISS, with the key in words;
 * the same on devices without a compiler.
 *   For a device that is not at hand, `ipt devices --profile` on the target writes down what plans depend on
 * (ipt_context_profile), and a context with context_desc.profile makes plans without any device. `ipt precompile
 * --profile FILE --target T` has their sources compiled by clang: to PTX, LLVM bitcode, SPIR-V or code for AMD's GPUs.
 * Such code is looked up by source and target, not by driver, and outlives driver updates.
 *
 * >>wisdom
 * What IPT_MEASURE finds for a shape is kept in the context, used by all later plans of that shape, with IPT_MEASURE or
 * without, and can be taken along as text: ipt_wisdom_export, ipt_wisdom_import, `ipt tune SHAPES -o FILE`. The text is
 * bound to the version of its format and to the device's name and vendor, and is taken whole or not at all.
 *
 * >>host
 * ipt_plan_execute_host takes a matrix in host memory to the device and back, transposed in the same place. How, is
 * desc.host: on devices that share the host's memory (CPUs, integrated GPUs) they work right there, without a copy, if
 * the matrix begins at a multiple of 16 bytes (on CPUs: of the unit that its elements are moved in). Else, and on
 * others, the matrix is moved in parts, cut along its longer side: a part is transposed while the next is on its way,
 * and what the two-pass method would shuffle is left to the transfer, which puts the rows of a part to their places.
 * That takes hardly longer than an upload and a download of the same bytes. Batches are cut between matrices, and go up
 * and down at the same time. Memory from ipt_host_alloc is pinned, and moved directly; other memory goes through pinned
 * buffers (64 MiB) that eight threads fill and empty, which is two to three times as fast as leaving it to NVIDIA's
 * driver.
 *   ipt_plan_execute_host_async does the same by a thread of its own; a callback tells of the progress and can end it.
 * Nothing of the host's matrix is changed before all of it is on the device and transposed (of a batch: all of a part;
 * by stages: up to the one that needs the whole matrix), so an end or a failure before leaves it as it was, and
 * IPT_ERROR_INCOMPLETE says where it has come too late.
 *   ipt_plan_create_split spreads the parts over the devices of several contexts of one cl_context.
 *
 * >>larger
 * A host matrix that does not fit into max_device_memory, or the device, goes through the device in pieces, both ways at
 * once. In memory of ipt_host_alloc's, with room for a quarter of it or more, from about 80 MB on and with elements of up
 * to about 64 bytes, these are blocks, and those whose final place is not free yet are held on the device; what it cannot
 * hold goes down and comes up again, which makes up to a sixth more for a quarter, nothing for a half. Else the matrix is
 * cut along its longer side into panels, which go up, are transposed and come down to where they were. The
 * super-elements that this makes are as long as a panel; the host's threads put them in their places (before the
 * panels, if the matrix is wide), cycle by cycle. Every byte crosses the bus once in each direction. Batches of smaller
 * matrices are taken some at a time. IPT_ERROR_INCOMPLETE is possible from the first byte that comes down on.
 *   Devices limit the bytes of one buffer, too (CL_DEVICE_MAX_MEM_ALLOC_SIZE), and some take more than they say. A plan
 * tries the size that it wants first. Where the device refuses that, the plan takes a smaller workspace, and host
 * matrices go in pieces, in buffers within the device's limit. IPT_HOST_SYNCHRONOUS, IPT_HOST_STAGES and
 * IPT_HOST_SHARED take no pieces: they return IPT_ERROR_OUT_OF_MEMORY. Plans of ipt_plan_create_split send the pieces
 * through the first device.
 *   ipt_plan_execute_storage does that, by panels, to a matrix that is read and written by your functions, in a file,
 * say, with max_host_memory bytes of memory. Where super-elements come out short, blocks of many of them are moved, and
 * sorted in a third pass. It goes in steps. Before a step writes its first byte, ipt calls `ready` with the step's
 * number and with the one piece of ipt_storage.memory that is new. Who keeps that memory, or the pieces at their places,
 * and the number of the last step, can go on from there whatever has happened since. ipt_plan_storage_needs tells which
 * pieces count then. `ipt transpose` keeps the memory in a mapped file, with a sum of each piece, and so survives kills
 * and refuses a damaged journal.
 *
 * >>moves
 * desc.move rotates or reflects instead of transposing. Matrices of a batch that fit into local memory take one pass as
 * ever, and reflections and rotations by 180 degrees alone do, too; else a pass that reverses rows, or their sequence,
 * follows the transposition. desc.expression is OpenCL C that is compiled into the stage that has every element in hand
 * just once, and costs no pass of its own, but where cycles are followed element by element (sequence 1) and where a
 * large matrix is only reflected or turned by 180 degrees. What desc.from and desc.to name AoS, SoA and ASTA are arrays
 * of structures, structures of arrays and arrays of structures of tiled arrays: rows structures of cols fields, tile_m of
 * them to a tile, which must divide rows.
 *
 * >>seeds
 * ipt implements five documents: in-place transposition on accelerators (000) and GPUs (002), out-of-place transposition
 * in CUDA (001, 003), many small matrices (004). What they describe can be had by its name, to compare or to reproduce:
 *   sequences 1 to 4.3     desc.sequence, with tile_m and tile_n. 4.3 is 4.1 with its middle stages fused
 *   BS, PTTWAC 010!        desc.variant_010 for the stages that move single elements within tiles
 *   PTTWAC 100!            desc.variant_100 for those that move super-elements, and for sequence 1
 *   P-IPT                  either of them
 *   spreading of flags     desc.flag_spread: 32 is a word to a flag
 *   padding                IPT_PAD; desc.variant_pad for the published chain of work-groups, which is far slower
 *   block formats          desc.from and desc.to, any into any other, in at most three stages
 *   batches (seed 004)     desc.variant_010 with sequence auto (work-item, sub-group, work-group to a matrix) or square
 *   data adapters          desc.from and desc.to by AoS, SoA, ASTA, and desc.expression
 *   heuristics             ipt_heuristic_tiles, ipt_heuristic_sequence ... which plans do not use, but for IPT_PAD
 * All use a claim protocol that is right on devices whose memory is weakly ordered: the published ones are not.
 *
 * >>settings
 * Define these before the include with IPT_IMPLEMENTATION, or all of them for every include:
 *   IPT_STATIC             all functions are private to the including file
 *   IPT_API                what stands before every public function, for example an export attribute
 *   IPT_OPENCL_DYNAMIC     load OpenCL at run time
 *   IPT_NO_DISK_CACHE      leave out all that reads and writes cache folders
 *   IPT_NO_SEED_KERNELS    leave out the heuristics and the kernels that only reproduce the seeds
 *   IPT_LOCK_TYPE, IPT_LOCK_STATIC, IPT_LOCK_INIT, IPT_LOCK_DESTROY, IPT_LOCK_ACQUIRE, IPT_LOCK_RELEASE
 *                          your own lock instead of pthread's or SRWLOCK: all six or none
 *   IPT_NO_THREADS         start no threads: no ipt_plan_execute_host_async, pageable matrices as the driver does it
 *   CL_TARGET_OPENCL_VERSION is left as you set it (120 or above)
 *
 * >>limits
 * - NVIDIA's driver hands out PTX, from which it makes machine code anew in each process that finds its own cache empty
 *   or switched off: 0.05 to 0.3 s for a program instead of 0.2 to 0.6 from source.
 * - Where a limit is set on the size of files (RLIMIT_FSIZE), writing the cache may raise SIGXFSZ, as any write does.
 * - Without max_device_memory, ipt_plan_execute_host takes as much device memory as the matrix has, if the device has
 *   it, and overlapped plans keep it between calls. Matrices that are cut can only be transposed, in memory with 3 MB
 *   and some blocks for the shuffle beside the matrix.
 * - Elements of 2^32 units or more are refused. Elements of 1, 2 or 3 bytes are moved by their own size within panels,
 *   at a quarter of the copy's speed.
 * - Sub-groups of 8, 16 or 32 work-items are used: by PTX on NVIDIA devices, else by cl_intel_subgroups or
 *   cl_khr_subgroups. Each program that uses the latter transposes three small grids before a plan takes it. Where a byte
 *   differs, work-groups of 32 take the place of sub-groups. PoCL's are never used: PoCL makes them of work-groups, and
 *   versions 5.0 and 6.0 mix up the results of two reductions without a barrier between them.
 * - An execution must not wait for the event of an ipt_plan_execute_host_async of its own plan that is still under way:
 *   each would wait for the other for ever.
 * - A cooperative execution waits for the last one of its context, also for one that itself waits for a user event, and
 *   fails with it if that event is set to an error.
 * - Mesa's rusticl on llvmpipe is refused: version 22.3.6 was seen to compute wrong results.
 */
/* clang-format on */

/* ================================================================================================================== */
/* >>interface                                                                                                        */
/* ================================================================================================================== */

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

#ifndef IPT_NO_SEED_KERNELS

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

#endif /* IPT_H_INCLUDED */

/* ================================================================================================================== */
/* >>implementation                                                                                                   */
/* ================================================================================================================== */

#if defined(IPT_IMPLEMENTATION) && !defined(IPT_IMPLEMENTATION_INCLUDED)
#define IPT_IMPLEMENTATION_INCLUDED

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "ipt_kernels.h"

#if defined(_WIN32)
#ifndef WIN32_LEAN_AND_MEAN
#define WIN32_LEAN_AND_MEAN
#endif
#ifndef NOMINMAX
#define NOMINMAX
#endif
#include <windows.h>
#elif defined(IPT_OPENCL_DYNAMIC)
#include <dlfcn.h>
#endif
#if !defined(_WIN32)
#include <sys/stat.h>
#endif
#if !defined(_WIN32) && !defined(IPT_NO_DISK_CACHE)
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>
#if defined(__STRICT_ANSI__) && !defined(__cplusplus)
int fsync(int file); /* which strict C hides */
#endif
#endif

/* A lock, that an embedder may replace: define all of these before the implementation. */
#ifndef IPT_LOCK_TYPE
#if defined(_WIN32)
#define IPT_LOCK_TYPE SRWLOCK
#define IPT_LOCK_STATIC SRWLOCK_INIT
#define IPT_LOCK_INIT(lock) InitializeSRWLock(lock)
#define IPT_LOCK_DESTROY(lock) ((void)(lock))
#define IPT_LOCK_ACQUIRE(lock) AcquireSRWLockExclusive(lock)
#define IPT_LOCK_RELEASE(lock) ReleaseSRWLockExclusive(lock)
#else
#include <pthread.h>
#define IPT_LOCK_TYPE pthread_mutex_t
#define IPT_LOCK_STATIC PTHREAD_MUTEX_INITIALIZER
#define IPT_LOCK_INIT(lock) pthread_mutex_init(lock, NULL)
#define IPT_LOCK_DESTROY(lock) pthread_mutex_destroy(lock)
#define IPT_LOCK_ACQUIRE(lock) pthread_mutex_lock(lock)
#define IPT_LOCK_RELEASE(lock) pthread_mutex_unlock(lock)
#endif
#endif

/* Threads, for host matrices. */
#ifndef IPT_NO_THREADS
#if defined(_WIN32)
typedef HANDLE ipt__thread;
#define IPT__THREAD_RESULT DWORD WINAPI
#define IPT__THREAD_RETURN 0
#define IPT__THREAD_START(thread, main, argument) ((*(thread) = CreateThread(NULL, 0, main, argument, 0, NULL)) != NULL)
#define IPT__THREAD_JOIN(thread) (WaitForSingleObject(thread, INFINITE), CloseHandle(thread))
#define IPT__THREAD_DETACH(thread) CloseHandle(thread)
#else
#include <pthread.h>
typedef pthread_t ipt__thread;
#define IPT__THREAD_RESULT void *
#define IPT__THREAD_RETURN NULL
#define IPT__THREAD_START(thread, main, argument) (!pthread_create(thread, NULL, main, argument))
#define IPT__THREAD_JOIN(thread) pthread_join(thread, NULL)
#define IPT__THREAD_DETACH(thread) pthread_detach(thread)
#endif
#endif

#if defined(__cplusplus)
#define IPT__THREAD_LOCAL thread_local
#elif defined(_MSC_VER)
#define IPT__THREAD_LOCAL __declspec(thread)
#elif defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L && !defined(__STDC_NO_THREADS__)
#define IPT__THREAD_LOCAL _Thread_local
#else
#define IPT__THREAD_LOCAL __thread
#endif

#if defined(__GNUC__) || defined(__clang__)
#define IPT__PRINTF(text, first) __attribute__((format(printf, text, first)))
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations" /* clCreateCommandQueue: the only one that OpenCL 1.2 has   \
                                                            */
#else
#define IPT__PRINTF(text, first)
#endif

/* ------------------------------------------------------------------------------------------------------------------ */
/* >>results and error text                                                                                           */
/* ------------------------------------------------------------------------------------------------------------------ */

IPT_API const char *ipt_result_string(ipt_result result)
{
#define IPT__RESULT_CASE(name, value, sentence)                                                                        \
    case name:                                                                                                         \
        return sentence;
    switch (result) {
        IPT_RESULT_LIST(IPT__RESULT_CASE)
    default:
        return "unknown result";
    }
}

IPT_API int ipt_version(void)
{
    return IPT_VERSION;
}

IPT_API const char *ipt_sequence_string(ipt_sequence sequence)
{
#define IPT__SEQUENCE_CASE(name, text)                                                                                 \
    case name:                                                                                                         \
        return text;
    switch (sequence) {
        IPT_SEQUENCE_LIST(IPT__SEQUENCE_CASE)
    default:
        return "unknown";
    }
}

IPT_API const char *ipt_variant_string(ipt_variant variant)
{
#define IPT__VARIANT_CASE(name, text, family, lanes, padding, registers, layout, interleaved)                          \
    case name:                                                                                                         \
        return text;
    switch (variant) {
        IPT_VARIANT_LIST(IPT__VARIANT_CASE)
    default:
        return "unknown";
    }
}

IPT_API const char *ipt_host_string(ipt_host host)
{
    static const char *const names[] = {
#define IPT__HOST_NAME(enumerator, name) name,
        IPT_HOST_LIST(IPT__HOST_NAME)};
    return (int)host < 0 || host >= IPT__HOST_COUNT ? "unknown" : names[host];
}

/* The columns of IPT_MOVE_LIST. */
typedef struct ipt__move {
    const char *name;
    int transposed, reversed_rows, reversed_cols;
} ipt__move;
static const ipt__move ipt__moves[] = {
#define IPT__MOVE_ROW(enumerator, name, transposed, rows, cols) {name, transposed, rows, cols},
    IPT_MOVE_LIST(IPT__MOVE_ROW)};

IPT_API const char *ipt_move_string(ipt_move move)
{
    return (int)move < 0 || move >= IPT__MOVE_COUNT ? "unknown" : ipt__moves[move].name;
}

IPT_API const char *ipt_format_string(ipt_format format)
{
#define IPT__FORMAT_CASE(name, text, factors)                                                                          \
    case name:                                                                                                         \
        return text;
    switch (format) {
        IPT_FORMAT_LIST(IPT__FORMAT_CASE)
    default:
        return "unknown";
    }
}

static IPT__THREAD_LOCAL char ipt__error_text[4096];

IPT_API const char *ipt_context_error(const ipt_context *context)
{
    (void)context;
    return ipt__error_text;
}

IPT__PRINTF(2, 3) static ipt_result ipt__fail(ipt_result result, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(ipt__error_text, sizeof ipt__error_text, format, arguments);
    va_end(arguments);
    return result;
}

/* OpenCL's errors up to 3.0 and those of extensions that ipt may meet, by number: older headers lack some names. */
#define IPT__CL_ERROR_LIST(X)                                                                                          \
    X(CL_DEVICE_NOT_FOUND, -1)                                                                                         \
    X(CL_DEVICE_NOT_AVAILABLE, -2)                                                                                     \
    X(CL_COMPILER_NOT_AVAILABLE, -3)                                                                                   \
    X(CL_MEM_OBJECT_ALLOCATION_FAILURE, -4)                                                                            \
    X(CL_OUT_OF_RESOURCES, -5)                                                                                         \
    X(CL_OUT_OF_HOST_MEMORY, -6)                                                                                       \
    X(CL_PROFILING_INFO_NOT_AVAILABLE, -7)                                                                             \
    X(CL_MEM_COPY_OVERLAP, -8)                                                                                         \
    X(CL_IMAGE_FORMAT_MISMATCH, -9)                                                                                    \
    X(CL_IMAGE_FORMAT_NOT_SUPPORTED, -10)                                                                              \
    X(CL_BUILD_PROGRAM_FAILURE, -11)                                                                                   \
    X(CL_MAP_FAILURE, -12)                                                                                             \
    X(CL_MISALIGNED_SUB_BUFFER_OFFSET, -13)                                                                            \
    X(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, -14)                                                               \
    X(CL_COMPILE_PROGRAM_FAILURE, -15)                                                                                 \
    X(CL_LINKER_NOT_AVAILABLE, -16)                                                                                    \
    X(CL_LINK_PROGRAM_FAILURE, -17)                                                                                    \
    X(CL_DEVICE_PARTITION_FAILED, -18)                                                                                 \
    X(CL_KERNEL_ARG_INFO_NOT_AVAILABLE, -19)                                                                           \
    X(CL_INVALID_VALUE, -30)                                                                                           \
    X(CL_INVALID_DEVICE_TYPE, -31)                                                                                     \
    X(CL_INVALID_PLATFORM, -32)                                                                                        \
    X(CL_INVALID_DEVICE, -33)                                                                                          \
    X(CL_INVALID_CONTEXT, -34)                                                                                         \
    X(CL_INVALID_QUEUE_PROPERTIES, -35)                                                                                \
    X(CL_INVALID_COMMAND_QUEUE, -36)                                                                                   \
    X(CL_INVALID_HOST_PTR, -37)                                                                                        \
    X(CL_INVALID_MEM_OBJECT, -38)                                                                                      \
    X(CL_INVALID_IMAGE_FORMAT_DESCRIPTOR, -39)                                                                         \
    X(CL_INVALID_IMAGE_SIZE, -40)                                                                                      \
    X(CL_INVALID_SAMPLER, -41)                                                                                         \
    X(CL_INVALID_BINARY, -42)                                                                                          \
    X(CL_INVALID_BUILD_OPTIONS, -43)                                                                                   \
    X(CL_INVALID_PROGRAM, -44)                                                                                         \
    X(CL_INVALID_PROGRAM_EXECUTABLE, -45)                                                                              \
    X(CL_INVALID_KERNEL_NAME, -46)                                                                                     \
    X(CL_INVALID_KERNEL_DEFINITION, -47)                                                                               \
    X(CL_INVALID_KERNEL, -48)                                                                                          \
    X(CL_INVALID_ARG_INDEX, -49)                                                                                       \
    X(CL_INVALID_ARG_VALUE, -50)                                                                                       \
    X(CL_INVALID_ARG_SIZE, -51)                                                                                        \
    X(CL_INVALID_KERNEL_ARGS, -52)                                                                                     \
    X(CL_INVALID_WORK_DIMENSION, -53)                                                                                  \
    X(CL_INVALID_WORK_GROUP_SIZE, -54)                                                                                 \
    X(CL_INVALID_WORK_ITEM_SIZE, -55)                                                                                  \
    X(CL_INVALID_GLOBAL_OFFSET, -56)                                                                                   \
    X(CL_INVALID_EVENT_WAIT_LIST, -57)                                                                                 \
    X(CL_INVALID_EVENT, -58)                                                                                           \
    X(CL_INVALID_OPERATION, -59)                                                                                       \
    X(CL_INVALID_GL_OBJECT, -60)                                                                                       \
    X(CL_INVALID_BUFFER_SIZE, -61)                                                                                     \
    X(CL_INVALID_MIP_LEVEL, -62)                                                                                       \
    X(CL_INVALID_GLOBAL_WORK_SIZE, -63)                                                                                \
    X(CL_INVALID_PROPERTY, -64)                                                                                        \
    X(CL_INVALID_IMAGE_DESCRIPTOR, -65)                                                                                \
    X(CL_INVALID_COMPILER_OPTIONS, -66)                                                                                \
    X(CL_INVALID_LINKER_OPTIONS, -67)                                                                                  \
    X(CL_INVALID_DEVICE_PARTITION_COUNT, -68)                                                                          \
    X(CL_INVALID_PIPE_SIZE, -69)                                                                                       \
    X(CL_INVALID_DEVICE_QUEUE, -70)                                                                                    \
    X(CL_INVALID_SPEC_ID, -71)                                                                                         \
    X(CL_MAX_SIZE_RESTRICTION_EXCEEDED, -72)                                                                           \
    X(CL_INVALID_GL_SHAREGROUP_REFERENCE_KHR, -1000)                                                                   \
    X(CL_PLATFORM_NOT_FOUND_KHR, -1001)                                                                                \
    X(CL_DEVICE_PARTITION_FAILED_EXT, -1057)                                                                           \
    X(CL_INVALID_PARTITION_COUNT_EXT, -1058)                                                                           \
    X(CL_INVALID_PARTITION_NAME_EXT, -1059)                                                                            \
    X(CL_EGL_RESOURCE_NOT_ACQUIRED_KHR, -1092)                                                                         \
    X(CL_INVALID_EGL_OBJECT_KHR, -1093)                                                                                \
    X(CL_INVALID_ACCELERATOR_INTEL, -1094)                                                                             \
    X(CL_INVALID_ACCELERATOR_TYPE_INTEL, -1095)                                                                        \
    X(CL_INVALID_ACCELERATOR_DESCRIPTOR_INTEL, -1096)                                                                  \
    X(CL_ACCELERATOR_TYPE_NOT_SUPPORTED_INTEL, -1097)                                                                  \
    X(CL_COMMAND_TERMINATED_ITSELF_WITH_FAILURE_ARM, -1108)                                                            \
    X(CL_CONTEXT_TERMINATED_KHR, -1121)                                                                                \
    X(CL_INVALID_COMMAND_BUFFER_KHR, -1138)                                                                            \
    X(CL_INVALID_SYNC_POINT_WAIT_LIST_KHR, -1139)                                                                      \
    X(CL_INCOMPATIBLE_COMMAND_QUEUE_KHR, -1140)                                                                        \
    X(CL_INVALID_MUTABLE_COMMAND_KHR, -1141)                                                                           \
    X(CL_INVALID_SEMAPHORE_KHR, -1142)

/* Stands before the error's number in messages. */
static const char *ipt__cl_error(cl_int error)
{
#define IPT__CL_ERROR_CASE(name, number)                                                                               \
    case number:                                                                                                       \
        return #name;
    switch (error) {
        IPT__CL_ERROR_LIST(IPT__CL_ERROR_CASE)
    default:
        return "OpenCL error";
    }
}

/* Whether OpenCL has refused memory, or so much of it. */
static int ipt__is_out_of_memory(cl_int error)
{
    return error == CL_MEM_OBJECT_ALLOCATION_FAILURE || error == CL_OUT_OF_RESOURCES ||
           error == CL_OUT_OF_HOST_MEMORY || error == CL_INVALID_BUFFER_SIZE;
}

/* A failed OpenCL call as a result. */
static ipt_result ipt__fail_opencl(const char *call, cl_int error)
{
    return ipt__fail(ipt__is_out_of_memory(error) ? IPT_ERROR_OUT_OF_MEMORY : IPT_ERROR_OPENCL,
                     "%s failed with %s (%d)", call, ipt__cl_error(error), (int)error);
}

enum { IPT__CAUSE_BYTES = 1024 };

/* Copies the text of the last failure, for one that says more. */
static void ipt__keep_cause(char cause[IPT__CAUSE_BYTES])
{
    memcpy(cause, ipt__error_text, IPT__CAUSE_BYTES - 1);
    cause[IPT__CAUSE_BYTES - 1] = 0;
}

/* Puts what a failure means for the caller before the text of the failure itself. */
static ipt_result ipt__fail_further(ipt_result result, const char *meaning)
{
    char cause[IPT__CAUSE_BYTES];
    ipt__keep_cause(cause);
    return ipt__fail(result, "%s: %s", meaning, cause);
}

static ipt_result ipt__fail_incomplete(const char *meaning)
{
    return ipt__fail_further(IPT_ERROR_INCOMPLETE, meaning);
}

static ipt_result ipt__fail_null(const char *name)
{
    return ipt__fail(IPT_ERROR_INVALID_ARGUMENT, "%s is NULL", name);
}

/* ------------------------------------------------------------------------------------------------------------------ */
/* >>entry points of OpenCL                                                                                           */
/* ------------------------------------------------------------------------------------------------------------------ */

/* Every OpenCL function that ipt calls, X(result, name, parameters), and the only way it calls them: ipt__cl.name(...).
 */
#define IPT_ENTRY_POINT_LIST(X)                                                                                        \
    X(cl_int, clGetPlatformIDs, (cl_uint, cl_platform_id *, cl_uint *))                                                \
    X(cl_int, clGetPlatformInfo, (cl_platform_id, cl_platform_info, size_t, void *, size_t *))                         \
    X(void *, clGetExtensionFunctionAddressForPlatform, (cl_platform_id, const char *))                                \
    X(cl_int, clGetDeviceIDs, (cl_platform_id, cl_device_type, cl_uint, cl_device_id *, cl_uint *))                    \
    X(cl_int, clGetDeviceInfo, (cl_device_id, cl_device_info, size_t, void *, size_t *))                               \
    X(cl_int, clRetainDevice, (cl_device_id))                                                                          \
    X(cl_int, clReleaseDevice, (cl_device_id))                                                                         \
    X(cl_context, clCreateContext,                                                                                     \
      (const cl_context_properties *, cl_uint, const cl_device_id *,                                                   \
       void(CL_CALLBACK *)(const char *, const void *, size_t, void *), void *, cl_int *))                             \
    X(cl_int, clRetainContext, (cl_context))                                                                           \
    X(cl_int, clReleaseContext, (cl_context))                                                                          \
    X(cl_int, clGetContextInfo, (cl_context, cl_context_info, size_t, void *, size_t *))                               \
    X(cl_command_queue, clCreateCommandQueue, (cl_context, cl_device_id, cl_command_queue_properties, cl_int *))       \
    X(cl_int, clReleaseCommandQueue, (cl_command_queue))                                                               \
    X(cl_int, clGetCommandQueueInfo, (cl_command_queue, cl_command_queue_info, size_t, void *, size_t *))              \
    X(cl_mem, clCreateBuffer, (cl_context, cl_mem_flags, size_t, void *, cl_int *))                                    \
    X(cl_int, clReleaseMemObject, (cl_mem))                                                                            \
    X(cl_int, clGetMemObjectInfo, (cl_mem, cl_mem_info, size_t, void *, size_t *))                                     \
    X(cl_program, clCreateProgramWithSource, (cl_context, cl_uint, const char **, const size_t *, cl_int *))           \
    X(cl_program, clCreateProgramWithBinary,                                                                           \
      (cl_context, cl_uint, const cl_device_id *, const size_t *, const unsigned char **, cl_int *, cl_int *))         \
    X(cl_int, clGetProgramInfo, (cl_program, cl_program_info, size_t, void *, size_t *))                               \
    X(cl_int, clBuildProgram,                                                                                          \
      (cl_program, cl_uint, const cl_device_id *, const char *, void(CL_CALLBACK *)(cl_program, void *), void *))      \
    X(cl_int, clGetProgramBuildInfo, (cl_program, cl_device_id, cl_program_build_info, size_t, void *, size_t *))      \
    X(cl_int, clReleaseProgram, (cl_program))                                                                          \
    X(cl_kernel, clCreateKernel, (cl_program, const char *, cl_int *))                                                 \
    X(cl_int, clReleaseKernel, (cl_kernel))                                                                            \
    X(cl_int, clSetKernelArg, (cl_kernel, cl_uint, size_t, const void *))                                              \
    X(cl_int, clEnqueueNDRangeKernel,                                                                                  \
      (cl_command_queue, cl_kernel, cl_uint, const size_t *, const size_t *, const size_t *, cl_uint,                  \
       const cl_event *, cl_event *))                                                                                  \
    X(cl_int, clEnqueueFillBuffer,                                                                                     \
      (cl_command_queue, cl_mem, const void *, size_t, size_t, size_t, cl_uint, const cl_event *, cl_event *))         \
    X(cl_int, clEnqueueWriteBuffer,                                                                                    \
      (cl_command_queue, cl_mem, cl_bool, size_t, size_t, const void *, cl_uint, const cl_event *, cl_event *))        \
    X(cl_int, clEnqueueReadBuffer,                                                                                     \
      (cl_command_queue, cl_mem, cl_bool, size_t, size_t, void *, cl_uint, const cl_event *, cl_event *))              \
    X(cl_int, clEnqueueWriteBufferRect,                                                                                \
      (cl_command_queue, cl_mem, cl_bool, const size_t *, const size_t *, const size_t *, size_t, size_t, size_t,      \
       size_t, const void *, cl_uint, const cl_event *, cl_event *))                                                   \
    X(cl_int, clEnqueueReadBufferRect,                                                                                 \
      (cl_command_queue, cl_mem, cl_bool, const size_t *, const size_t *, const size_t *, size_t, size_t, size_t,      \
       size_t, void *, cl_uint, const cl_event *, cl_event *))                                                         \
    X(void *, clEnqueueMapBuffer,                                                                                      \
      (cl_command_queue, cl_mem, cl_bool, cl_map_flags, size_t, size_t, cl_uint, const cl_event *, cl_event *,         \
       cl_int *))                                                                                                      \
    X(cl_int, clEnqueueUnmapMemObject, (cl_command_queue, cl_mem, void *, cl_uint, const cl_event *, cl_event *))      \
    X(cl_event, clCreateUserEvent, (cl_context, cl_int *))                                                             \
    X(cl_int, clSetUserEventStatus, (cl_event, cl_int))                                                                \
    X(cl_int, clEnqueueMarkerWithWaitList, (cl_command_queue, cl_uint, const cl_event *, cl_event *))                  \
    X(cl_int, clWaitForEvents, (cl_uint, const cl_event *))                                                            \
    X(cl_int, clGetEventInfo, (cl_event, cl_event_info, size_t, void *, size_t *))                                     \
    X(cl_int, clGetEventProfilingInfo, (cl_event, cl_profiling_info, size_t, void *, size_t *))                        \
    X(cl_int, clRetainEvent, (cl_event))                                                                               \
    X(cl_int, clReleaseEvent, (cl_event))                                                                              \
    X(cl_int, clFlush, (cl_command_queue))                                                                             \
    X(cl_int, clFinish, (cl_command_queue))

typedef struct ipt__entry_points {
#define IPT__ENTRY_POINT_FIELD(result, name, parameters) result(CL_API_CALL *name) parameters;
    IPT_ENTRY_POINT_LIST(IPT__ENTRY_POINT_FIELD)
} ipt__entry_points;

#ifdef IPT_OPENCL_DYNAMIC

/* Filled once, under ipt__load_lock; besides the threads' error texts the only state that is not in an ipt_context. */
static ipt__entry_points ipt__cl;
static IPT_LOCK_TYPE ipt__load_lock = IPT_LOCK_STATIC;
static int ipt__loaded;

static void *ipt__library_open(void)
{
#if defined(_WIN32)
    return (void *)LoadLibraryA("OpenCL.dll");
#elif defined(__APPLE__)
    return dlopen("/System/Library/Frameworks/OpenCL.framework/OpenCL", RTLD_NOW);
#else
    void *library = dlopen("libOpenCL.so.1", RTLD_NOW);
    return library ? library : dlopen("libOpenCL.so", RTLD_NOW);
#endif
}

/* Stores the address of a function behind `pointer`; 0 if the library has none of that name. */
static int ipt__library_find(void *library, const char *name, void *pointer, size_t pointer_bytes)
{
#if defined(_WIN32)
    const FARPROC found = GetProcAddress((HMODULE)library, name);
#else
    void *const found = dlsym(library, name);
#endif
    memcpy(pointer, &found, pointer_bytes); /* C has no cast from an object's address to a function's */
    return found != NULL;
}

static void ipt__library_close(void *library)
{
#if defined(_WIN32)
    FreeLibrary((HMODULE)library);
#else
    dlclose(library);
#endif
}

static ipt_result ipt__load(void)
{
    ipt_result result = IPT_SUCCESS;
    IPT_LOCK_ACQUIRE(&ipt__load_lock);
    if (!ipt__loaded) {
        void *library = ipt__library_open();
        if (!library)
            result = ipt__fail(IPT_ERROR_NO_DEVICE, "no OpenCL library is installed");
#define IPT__ENTRY_POINT_FIND(unused_result, name, parameters)                                                         \
    if (!result && !ipt__library_find(library, #name, &ipt__cl.name, sizeof ipt__cl.name))                             \
        result = ipt__fail(IPT_ERROR_NO_DEVICE, "the OpenCL library has no %s: it is older than 1.2", #name);
        IPT_ENTRY_POINT_LIST(IPT__ENTRY_POINT_FIND)
        ipt__loaded = !result;
        if (library && result)
            ipt__library_close(library);
    }
    IPT_LOCK_RELEASE(&ipt__load_lock);
    return result;
}

#else

/* A test may stand in for OpenCL by defining IPT_ENTRY_POINT(name) as the function to call instead. */
#ifndef IPT_ENTRY_POINT
#define IPT_ENTRY_POINT(name) name
#endif
#define IPT__ENTRY_POINT_ADDRESS(result, name, parameters) IPT_ENTRY_POINT(name),
static const ipt__entry_points ipt__cl = {IPT_ENTRY_POINT_LIST(IPT__ENTRY_POINT_ADDRESS)};

static ipt_result ipt__load(void)
{
    return IPT_SUCCESS;
}

#endif

/* ------------------------------------------------------------------------------------------------------------------ */
/* >>arithmetic                                                                                                       */
/* ------------------------------------------------------------------------------------------------------------------ */

/* OpenCL counts bytes in 64 bits on hosts of 32 bits, too. */
static size_t ipt__size_of(cl_ulong bytes)
{
    return bytes < (size_t)-1 ? (size_t)bytes : (size_t)-1;
}

static size_t ipt__min(size_t a, size_t b)
{
    return a < b ? a : b;
}
static size_t ipt__max(size_t a, size_t b)
{
    return a > b ? a : b;
}
static size_t ipt__ceil_divide(size_t a, size_t b)
{
    return a / b + (a % b != 0);
}
static size_t ipt__round_up(size_t a, size_t multiple)
{
    return ipt__ceil_divide(a, multiple) * multiple;
}

/* *product *= factor; 0 and unchanged if that overflows. */
static int ipt__multiply(size_t *product, size_t factor)
{
    if (factor != 0 && *product > (size_t)-1 / factor)
        return 0;
    *product *= factor;
    return 1;
}

/* The largest power of two that divides bytes, 16 at most: the unit that its elements are moved in. */
static size_t ipt__unit_bytes(size_t bytes)
{
    size_t unit = 1;
    while (unit < 16 && bytes % (2 * unit) == 0)
        unit *= 2;
    return unit;
}

/* Multiply-and-shift constants for floor(n / d): ceil(2^(bits - 1 + l) / d) with l = ceil(log2 d), and l - 1. Exact for
 * n < 2^(bits - 1), bits 32 or 64. d = 1 has none: magic 0 stands for it. */
static void ipt__divider(cl_ulong d, unsigned bits, cl_ulong *magic, cl_uint *shift)
{
    cl_ulong remainder = 0, quotient = 0;
    unsigned l = 0, i;
    *magic = 0;
    *shift = 0;
    if (d == 1)
        return;
    while (l < 63 && ((cl_ulong)1 << l) < d)
        ++l;
    /* Long division of 2^(bits - 1 + l), a one and bits - 1 + l zeros. The quotient is below 2^bits. */
    for (i = 0; i <= bits - 1 + l; ++i) {
        const cl_ulong top = remainder >> 63;
        remainder = (remainder << 1) | (i == 0);
        quotient <<= 1;
        if (top || remainder >= d) {
            remainder -= d;
            quotient |= 1;
        }
    }
    *magic = quotient + (remainder != 0);
    *shift = l - 1;
}

static void ipt__divider32(cl_uint d, cl_uint *magic, cl_uint *shift)
{
    cl_ulong wide;
    ipt__divider(d, 32, &wide, shift);
    *magic = (cl_uint)wide;
}

/* The divisor of n in [2, n / 2] that is nearest to `wanted` by ratio; 0 if n is prime or less than 4, or if both of
 * any two factors of it are above 2^20: to look further would take seconds. */
static size_t ipt__divisor_near(size_t n, size_t wanted)
{
    size_t best = 0, d;
    for (d = 2; d <= n / d && d <= (size_t)1 << 20; ++d)
        if (n % d == 0) {
            const size_t pair[2] = {d, n / d};
            int i;
            for (i = 0; i < 2; ++i)
                if (!best || (double)ipt__max(pair[i], wanted) / (double)ipt__min(pair[i], wanted) <
                                 (double)ipt__max(best, wanted) / (double)ipt__min(best, wanted))
                    best = pair[i];
        }
    return best;
}

#ifndef IPT_NO_SEED_KERNELS

/* ------------------------------------------------------------------------------------------------------------------ */
/* >>heuristics                                                                                                       */
/* ------------------------------------------------------------------------------------------------------------------ */

enum {
    IPT__RANGE_LEAST = 50, /* seed 000, section 7.4 */
    IPT__RANGE_MOST = 100,
    IPT__ALGORITHM_1_MOST = 72, /* so that a tile of 72 x 72 fits in the local memory of a K20 */
    /* Min and Max of algorithm 2, both excluded, are not in seed 002. With Fig. 4's longest super-element as Max, Min
     * = 5 gives what the seed counts among random sides in 1,000..20,000: 44.7 % with m or n up to 6 (here 44.6 %),
     * and 58.5 % with m > 4, n > 6 and a tile that fits (58.7 %). */
    IPT__ALGORITHM_2_MIN = 5,
    IPT__ALGORITHM_2_MAX = 2560,
    IPT__ALGORITHM_5_LEAST = 24,
    /* Super-elements are held in local memory as they move, the next one beside the present one. A K20's compute unit
     * has 12,288 words for 2,048 work-items, so it is full up to 3 words of each for a work-item. */
    IPT__WORDS_PER_ITEM = 3,
    IPT__LEAST_VIRTUAL_SIMD = 8,
    IPT__LEAST_GROUP = 128, /* a work-group to a super-element: those that seed 002, Fig. 4b, compares */
    IPT__K20_UNIT_ITEMS = 2048,
    IPT__K20_UNIT_GROUPS = 16,
    IPT__COALESCED_BYTES = 32 /* seed 004: what a device fetches at once */
};

IPT_API const char *ipt_heuristic_string(ipt_heuristic heuristic)
{
#define IPT__HEURISTIC_CASE(name, text)                                                                                \
    case name:                                                                                                         \
        return text;
    switch (heuristic) {
        IPT_HEURISTIC_LIST(IPT__HEURISTIC_CASE)
    default:
        return "unknown";
    }
}

/* Most sides fit 32 bits, where division takes a fraction of the time on many CPUs. */
static int ipt__divides(size_t d, size_t n)
{
    return (cl_ulong)n >> 32 ? n % d == 0 : (cl_uint)n % (cl_uint)d == 0;
}

/* The smallest divisor of n from `first` (not 0) up and below `end`; 0 if there is none. */
static size_t ipt__divisor_between(size_t n, size_t first, size_t end)
{
    size_t d;
    for (d = first; d < end && d <= n; ++d)
        if (ipt__divides(d, n))
            return d;
    return 0;
}

/* The largest divisor of n up to `most`. */
static size_t ipt__divisor_up_to(size_t n, size_t most)
{
    size_t d = ipt__min(n, most);
    while (!ipt__divides(d, n))
        --d;
    return d;
}

static ipt_result ipt__tiles_by_range(size_t rows, size_t cols, size_t local, size_t *tile_m, size_t *tile_n)
{
    const size_t end = IPT__RANGE_MOST + 1;
    const size_t first_m = ipt__divisor_between(rows, IPT__RANGE_LEAST, end);
    const size_t first_n = ipt__divisor_between(cols, IPT__RANGE_LEAST, end);
    size_t m, n;
    if (!first_m || !first_n)
        return ipt__fail(IPT_ERROR_UNSUPPORTED,
                         "%s = %lu has no divisor in %d..%d: algorithm 1 takes what there is, algorithm 5 pads",
                         first_m ? "cols" : "rows", (unsigned long)(first_m ? cols : rows), (int)IPT__RANGE_LEAST,
                         (int)IPT__RANGE_MOST);
    for (m = first_m; m; m = ipt__divisor_between(rows, m + 1, end))
        for (n = first_n; n && m * n < local; n = ipt__divisor_between(cols, n + 1, end))
            if (m * n > *tile_m * *tile_n ||
                (m * n == *tile_m * *tile_n && ipt__min(m, n) > ipt__min(*tile_m, *tile_n))) {
                *tile_m = m;
                *tile_n = n;
            }
    if (*tile_m)
        return IPT_SUCCESS;
    return ipt__fail(IPT_ERROR_UNSUPPORTED,
                     "the smallest tile in range, %lu x %lu, is not below the %lu elements of local memory: algorithms "
                     "2 and 5 look for smaller ones",
                     (unsigned long)first_m, (unsigned long)first_n, (unsigned long)local);
}

/* The divisors of n from `first` up and below `end`, ascending; a list of 1 if there are none. Returns how many. */
static size_t ipt__divisors_within(size_t n, size_t first, size_t end, cl_ushort *found)
{
    size_t count = 0, d;
    for (d = first; d < end && d <= n / d; ++d)
        if (ipt__divides(d, n))
            found[count++] = (cl_ushort)d;
    while (--d > 0) /* their partners, which begin where the loop has ended */
        if (n / d < end && n / d >= first && n / d > d && ipt__divides(d, n))
            found[count++] = (cl_ushort)(n / d);
    if (!count)
        found[count++] = 1;
    return count;
}

static void ipt__tiles_by_use(const ipt_heuristic_device *device, size_t rows, size_t cols, size_t local,
                              size_t *tile_m, size_t *tile_n)
{
    const size_t first = IPT__ALGORITHM_2_MIN + 1, end = IPT__ALGORITHM_2_MAX;
    const size_t most = device->unit_groups ? device->unit_groups : (size_t)IPT__K20_UNIT_GROUPS;
    cl_ushort of_rows[IPT__ALGORITHM_2_MAX], of_cols[IPT__ALGORITHM_2_MAX];
    const size_t m_count = ipt__divisors_within(rows, first, end, of_rows);
    const size_t n_count = ipt__divisors_within(cols, first, end, of_cols);
    size_t best = 0, i, j;
    /* What remains if no tile fits. */
    *tile_m = of_rows[0];
    *tile_n = of_cols[0];
    for (i = 0; i < m_count; ++i)
        for (j = 0; j < n_count && (size_t)of_rows[i] * of_cols[j] < local; ++j) {
            const size_t tile = (size_t)of_rows[i] * of_cols[j], use = ipt__min(most, local / tile) * tile;
            if (use > best) {
                best = use;
                *tile_m = of_rows[i];
                *tile_n = of_cols[j];
            }
        }
}

static ipt_result ipt__tiles_by_padding(size_t rows, size_t cols, size_t local, size_t tiles[2], size_t pads[2])
{
    const size_t sides[2] = {rows, cols}, least = IPT__ALGORITHM_5_LEAST;
    size_t below = 0, bit; /* the largest number whose square is below `local` */
    int i;
    if (local <= least * least)
        return ipt__fail(IPT_ERROR_UNSUPPORTED,
                         "local memory holds %lu elements: algorithm 5 needs more than %lu, algorithms 1 and 2 do with "
                         "less",
                         (unsigned long)local, (unsigned long)(least * least));
    for (bit = (size_t)1 << (4 * sizeof bit - 1); bit; bit /= 2)
        if ((below + bit) * (below + bit) < local)
            below += bit;
    for (i = 0; i < 2; ++i) {
        /* A short side is a tile's whole side: any tile of the long one then fits beside it. */
        if (sides[i] <= below) {
            tiles[i] = sides[i];
            continue;
        }
        /* A multiple of the lower bound ends this. */
        while ((tiles[i] = ipt__divisor_between(sides[i] + pads[i], least, below + 1)) == 0)
            if (sides[i] + ++pads[i] == 0)
                return ipt__fail(IPT_ERROR_UNSUPPORTED, "%s = %lu cannot be padded: algorithms 1 and 2 do not pad",
                                 i ? "cols" : "rows", (unsigned long)sides[i]);
    }
    return IPT_SUCCESS;
}

IPT_API ipt_result ipt_heuristic_tiles(ipt_heuristic heuristic, const ipt_heuristic_device *device, size_t rows,
                                       size_t cols, size_t elem_size, size_t *tile_m, size_t *tile_n, size_t *pad_rows,
                                       size_t *pad_cols)
{
    const struct {
        const char *name;
        size_t *result;
    } results[] = {{"tile_m", tile_m}, {"tile_n", tile_n}, {"pad_rows", pad_rows}, {"pad_cols", pad_cols}};
    size_t local, tiles[2] = {0, 0}, pads[2] = {0, 0};
    ipt_result result = IPT_SUCCESS;
    int i;
    for (i = 0; i < 4; ++i)
        if (results[i].result)
            *results[i].result = 0;
    for (i = 0; i < 4; ++i)
        if (!results[i].result)
            return ipt__fail_null(results[i].name);
    if (!device)
        return ipt__fail_null("device");
    if (!device->local_bytes || !rows || !cols || !elem_size)
        return ipt__fail(IPT_ERROR_INVALID_ARGUMENT, "%s is 0",
                         !device->local_bytes ? "device->local_bytes"
                         : !rows              ? "rows"
                         : !cols              ? "cols"
                                              : "elem_size");
    local = device->local_bytes / elem_size;
    switch (heuristic) {
    case IPT_HEURISTIC_SEED_000_RANGE:
        result = ipt__tiles_by_range(rows, cols, local, &tiles[0], &tiles[1]);
        break;
    case IPT_HEURISTIC_ALGORITHM_1:
        tiles[0] = ipt__divisor_up_to(rows, IPT__ALGORITHM_1_MOST);
        tiles[1] = ipt__divisor_up_to(cols, IPT__ALGORITHM_1_MOST);
        break;
    case IPT_HEURISTIC_ALGORITHM_2:
        ipt__tiles_by_use(device, rows, cols, local, &tiles[0], &tiles[1]);
        break;
    case IPT_HEURISTIC_ALGORITHM_5:
        result = ipt__tiles_by_padding(rows, cols, local, tiles, pads);
        break;
    default:
        return ipt__fail(IPT_ERROR_INVALID_ARGUMENT, "heuristic is %d: there are %d", (int)heuristic,
                         (int)IPT__HEURISTIC_COUNT);
    }
    if (result)
        return result;
    *tile_m = tiles[0];
    *tile_n = tiles[1];
    *pad_rows = pads[0];
    *pad_cols = pads[1];
    return IPT_SUCCESS;
}

IPT_API ipt_sequence ipt_heuristic_sequence(const ipt_heuristic_device *device, size_t rows, size_t cols,
                                            size_t elem_size, size_t tile_m, size_t tile_n)
{
    size_t local;
    if (!device || !device->local_bytes || !rows || !cols || !elem_size || !tile_m || !tile_n)
        return IPT_SEQUENCE_AUTO;
    local = device->local_bytes / elem_size;
    /* a * b < local, where a * b may overflow, is a <= (local - 1) / b. */
    if (local && tile_m <= (local - 1) / cols)
        return IPT_SEQUENCE_2_1;
    if (local && tile_n <= (local - 1) / rows)
        return IPT_SEQUENCE_2_2;
    return tile_m < tile_n ? IPT_SEQUENCE_3_1 : IPT_SEQUENCE_3_2;
}

IPT_API double ipt_heuristic_throughput(const double *stage_throughputs, size_t count)
{
    double time = 0; /* of a unit of data */
    size_t i;
    if (!stage_throughputs)
        return 0;
    for (i = 0; i < count; ++i) {
        if (!(stage_throughputs[i] > 0)) /* NaN among them */
            return 0;
        time += 1 / stage_throughputs[i];
    }
    return time > 0 ? 1 / time : 0;
}

IPT_API size_t ipt_heuristic_group_size(const ipt_heuristic_device *device, size_t super_element_bytes)
{
    size_t share, items, set;
    if (!device || !device->max_group || !device->simd_width || !super_element_bytes)
        return 0;
    share = ipt__ceil_divide(super_element_bytes, 4) / IPT__WORDS_PER_ITEM; /* a set must have more work-items */
    set = ipt__min(device->simd_width, device->max_group);
    for (items = IPT__LEAST_VIRTUAL_SIMD; items < set; items *= 2)
        if (share < items)
            return items;
    for (items = IPT__LEAST_GROUP; items <= device->max_group && share >= set; items *= 2)
        set = ipt__max(set, items);
    return set;
}

IPT_API double ipt_heuristic_occupancy(const ipt_heuristic_device *device, size_t group_size, size_t local_bytes)
{
    size_t items, groups;
    if (!device || !group_size || group_size > device->max_group)
        return 0;
    items = device->unit_items ? device->unit_items : (size_t)IPT__K20_UNIT_ITEMS;
    groups = device->unit_groups ? device->unit_groups : (size_t)IPT__K20_UNIT_GROUPS;
    groups = ipt__min(groups, items / group_size);
    if (local_bytes)
        groups = ipt__min(groups, device->local_bytes / local_bytes);
    return (double)(groups * group_size) / (double)items;
}

IPT_API size_t ipt_heuristic_smallest_group(const ipt_heuristic_device *device, size_t group_bytes, size_t item_bytes,
                                            double occupancy)
{
    size_t best = 0, group;
    double most = 0;
    if (!device || !device->simd_width || !(occupancy >= 0 && occupancy <= 1))
        return 0;
    for (group = device->simd_width; group <= device->max_group; group += device->simd_width) {
        double reached;
        if (group_bytes > device->local_bytes ||
            (item_bytes && group > (device->local_bytes - group_bytes) / item_bytes))
            break;
        reached = ipt_heuristic_occupancy(device, group, group_bytes + group * item_bytes);
        if (reached > most) {
            most = reached;
            best = group;
        }
        if ((reached > 0 && reached >= occupancy) || group > device->max_group - device->simd_width)
            break;
    }
    return best;
}

IPT_API void ipt_heuristic_group_shape(size_t group_size, size_t elem_size, size_t *x, size_t *y)
{
    size_t step, d;
    if (!x || !y)
        return;
    *x = elem_size ? group_size : 0;
    *y = *x != 0;
    if (!*x)
        return;
    /* The least number of elements that is a multiple of so many bytes: elem_size's power of two counts. */
    step = IPT__COALESCED_BYTES / ipt__min(IPT__COALESCED_BYTES, elem_size & (~elem_size + 1));
    for (d = 1; d <= group_size / d; ++d)
        if (group_size % d == 0) {
            const size_t other = group_size / d;
            if (other % step && d % step)
                continue;
            *x = other % step ? d : other;
            *y = other % step ? other : d;
        }
}

IPT_API int ipt_heuristic_by_block(size_t batch, size_t blocks_per_matrix)
{
    return blocks_per_matrix > batch;
}

IPT_API size_t ipt_heuristic_divisors(size_t side, size_t *divisors, size_t capacity)
{
    const size_t step = side % 2 ? 2 : 1; /* an odd number has odd divisors */
    size_t small = 0, count, d, i;
    int square = 0;
    if (!side)
        return 0;
    for (d = 1; !((cl_ulong)d >> 32) && (cl_ulong)d * d <= side; d += step)
        if (ipt__divides(d, side)) {
            if (small < capacity)
                divisors[small] = d;
            ++small;
            square = side / d == d;
        }
    /* The others are side / d, from the largest d down; the root of a square is there already. */
    count = 2 * small - (size_t)square;
    if (small <= capacity)
        for (i = small; i < count && i < capacity; ++i)
            divisors[i] = side / divisors[count - 1 - i];
    return count;
}

#endif

/* ------------------------------------------------------------------------------------------------------------------ */
/* >>kernels: parameters, arguments, text                                                                             */
/* ------------------------------------------------------------------------------------------------------------------ */

/* All of these expand the lists of ipt_kernels.h. */

enum { /* the bit of each parameter in a kernel's `uses`, and its place in ipt__params */
#define IPT__PARAM_INDEX(field, macro, minimum, maximum, meaning) IPT__PARAM_##field,
       IPT_PARAM_LIST(IPT__PARAM_INDEX) IPT__PARAM_COUNT
};
enum {
#define IPT__PARAM_BIT(field, macro, minimum, maximum, meaning) IPT__USES_##field = 1 << IPT__PARAM_##field,
    IPT_PARAM_LIST(IPT__PARAM_BIT) IPT__USES_NOTHING = 0
};

/* The values that a program is specialised for. */
typedef struct ipt__params {
#define IPT__PARAM_FIELD(field, macro, minimum, maximum, meaning) cl_uint field;
    IPT_PARAM_LIST(IPT__PARAM_FIELD)
    const char *expression, *expression_type; /* where apply is 1 */
} ipt__params;

typedef enum ipt__kernel_id {
#define IPT__KERNEL_ENUMERATOR(kernel, memories, local, uses) IPT__KERNEL_##kernel,
    IPT_KERNEL_LIST(IPT__KERNEL_ENUMERATOR) IPT__KERNEL_COUNT
} ipt__kernel_id;

/* The arguments of each kernel as a struct, and the bytes of each: they lie in it by natural alignment. */
#define IPT__ARGUMENT_FIELD(type, name) cl_##type name;
#define IPT__ARGUMENT_BYTES(type, name) sizeof(cl_##type),
#define IPT__ARGUMENT_STRUCT(kernel, memories, local, uses)                                                            \
    typedef struct ipt__##kernel##_arguments {                                                                         \
        IPT_##kernel##_ARGUMENTS(IPT__ARGUMENT_FIELD)                                                                  \
    } ipt__##kernel##_arguments;                                                                                       \
    static const unsigned char ipt__##kernel##_argument_bytes[] = {IPT_##kernel##_ARGUMENTS(IPT__ARGUMENT_BYTES)};
IPT_KERNEL_LIST(IPT__ARGUMENT_STRUCT)

#define IPT__ARGUMENT_TEXT(type, name) ", const " #type " " #name

typedef struct ipt__kernel_info {
    const char *name;      /* of the OpenCL kernel */
    const char *file;      /* of its text, for build logs */
    const char *hash;      /* of its text */
    const char *signature; /* its arguments as OpenCL C */
    const char *const *text;
    const unsigned char *argument_bytes;
    cl_uint argument_count;
    cl_uint memories; /* buffers before the arguments */
    int local;        /* local memory before the arguments */
    unsigned uses;    /* the parameters that its text depends on */
} ipt__kernel_info;

static const ipt__kernel_info ipt__kernels[] = {
#define IPT__KERNEL_INFO(kernel, memories, local, uses)                                                                \
    {"ipt_k_" #kernel,                                                                                                 \
     #kernel ".cl",                                                                                                    \
     IPT__HASH_##kernel,                                                                                               \
     IPT_##kernel##_ARGUMENTS(IPT__ARGUMENT_TEXT),                                                                     \
     ipt__text_##kernel,                                                                                               \
     ipt__##kernel##_argument_bytes,                                                                                   \
     (cl_uint)sizeof ipt__##kernel##_argument_bytes,                                                                   \
     memories,                                                                                                         \
     local,                                                                                                            \
     uses},
    IPT_KERNEL_LIST(IPT__KERNEL_INFO)};

/* Sets the parameters that the kernel does not use to 0, so that they cannot tell two programs apart, and checks the
 * range of the others. 0 if one is out of range. */
static int ipt__params_reduce(ipt__params *params, unsigned uses)
{
    int good = 1;
#define IPT__PARAM_REDUCE(field, macro, minimum, maximum, meaning)                                                     \
    if (!(uses & IPT__USES_##field))                                                                                   \
        params->field = 0;                                                                                             \
    else if (params->field + 1 < (minimum) + 1u || params->field > (maximum))                                          \
        good = 0;
    IPT_PARAM_LIST(IPT__PARAM_REDUCE)
    return good;
}

static int ipt__params_equal(const ipt__params *a, const ipt__params *b)
{
#define IPT__PARAM_EQUAL(field, macro, minimum, maximum, meaning) &&a->field == b->field
    return 1 IPT_PARAM_LIST(IPT__PARAM_EQUAL) &&
           (!a->apply || (!strcmp(a->expression, b->expression) && !strcmp(a->expression_type, b->expression_type)));
}

/* A text that grows into memory of fixed size; a NULL text only counts. */
typedef struct ipt__text {
    char *text;
    size_t capacity, length; /* length may go beyond capacity: what the whole text needs */
} ipt__text;

IPT__PRINTF(2, 3) static void ipt__text_add(ipt__text *out, const char *format, ...)
{
    int added;
    const size_t room = out->length < out->capacity ? out->capacity - out->length : 0;
    va_list arguments;
    va_start(arguments, format);
    added = vsnprintf(room ? out->text + out->length : NULL, room, format, arguments);
    va_end(arguments);
    out->length += added > 0 ? (size_t)added : 0;
}

/* A size in decimal: Windows' unsigned long is too short for one. */
static void ipt__text_add_size(ipt__text *out, size_t value)
{
    char digits[24];
    size_t at = sizeof digits - 1;
    digits[at] = 0;
    do
        digits[--at] = (char)('0' + value % 10);
    while (value /= 10);
    ipt__text_add(out, "%s", digits + at);
}

/* "unit_bytes=4 tile=32": the parameters that a kernel uses. */
static void ipt__params_print(ipt__text *out, const ipt__params *params, unsigned uses)
{
    const char *space = "";
#define IPT__PARAM_PRINT(field, macro, minimum, maximum, meaning)                                                      \
    if (uses & IPT__USES_##field) {                                                                                    \
        ipt__text_add(out, "%s%s=%u", space, #field, (unsigned)params->field);                                         \
        space = " ";                                                                                                   \
    }
    IPT_PARAM_LIST(IPT__PARAM_PRINT)
    if ((uses & IPT__USES_apply) && params->apply)
        ipt__text_add(out, " (%s: %s)", params->expression_type, params->expression);
}

/* The specialised text of one program. */
static void ipt__source_print(ipt__text *out, ipt__kernel_id id, const ipt__params *params)
{
    const ipt__kernel_info *const kernel = &ipt__kernels[id];
    const char *const *line;
    ipt__text_add(out, "/* ipt %d.%d.%d, %s %s, common.cl %s: ", IPT_VERSION / 10000, IPT_VERSION / 100 % 100,
                  IPT_VERSION % 100, kernel->file, kernel->hash, IPT__HASH_common);
    ipt__params_print(out, params, kernel->uses);
    ipt__text_add(out, " */\n");
#define IPT__PARAM_DEFINE(field, macro, minimum, maximum, meaning)                                                     \
    if (kernel->uses & IPT__USES_##field)                                                                              \
        ipt__text_add(out, "#define %s %u\n", #macro, (unsigned)params->field);
    IPT_PARAM_LIST(IPT__PARAM_DEFINE)
    if (params->apply && (kernel->uses & IPT__USES_apply))
        ipt__text_add(out, "#define IPT_EXPRESSION_TYPE %s\n#define IPT_EXPRESSION %s\n", params->expression_type,
                      params->expression);
    ipt__text_add(out, "#define IPT_ARGUMENTS %s\n#line 1 \"common.cl\"\n", kernel->signature);
    for (line = ipt__text_common; *line; ++line)
        ipt__text_add(out, "%s", *line);
    ipt__text_add(out, "#line 1 \"%s\"\n", kernel->file);
    for (line = kernel->text; *line; ++line)
        ipt__text_add(out, "%s", *line);
}

/* ------------------------------------------------------------------------------------------------------------------ */
/* >>cache: entries                                                                                                   */
/* ------------------------------------------------------------------------------------------------------------------ */

/* An entry is one program, or what has been found out about a device, as a file or in memory: the head, the key as
 * text, the payload. Numbers are little-endian. 0  8 bytes   IPT__ENTRY_MAGIC 8  4 bytes   IPT__ENTRY_FORMAT 12  4
 * bytes   length of the key, K 16  8 bytes   length of the payload, P 24 32 bytes   SHA-256 of the 24 bytes before and
 * of all that follows 56  K bytes   the key: everything that the payload depends on P bytes   the payload. Of a
 * program: its residency and the size of its sub-groups (4 bytes each, 0: not measured) and what the device's or
 * another compiler made of it */
#define IPT__ENTRY_MAGIC "iptcache"
enum {
    IPT__ENTRY_FORMAT = 1,
    IPT__ENTRY_SUM = 24,
    IPT__ENTRY_HEAD = 56,
    IPT__ENTRY_FACTS = 8,     /* bytes before a program's code */
    IPT__NAME_DIGITS = 32,    /* of a hash in the name of its file */
    IPT__ENTRY_NAME = 37,     /* of its file, with the terminating zero */
    IPT__ENTRY_MOST = 1 << 26 /* bytes; longer files are not read */
};

/* SHA-256 (FIPS 180-4). */
typedef struct ipt__hash {
    cl_uint state[8];
    cl_ulong bytes;
    unsigned char block[64];
} ipt__hash;

static void ipt__hash_block(cl_uint *state, const unsigned char *block)
{
    static const cl_uint constants[64] = {
        0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
        0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
        0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
        0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
        0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
        0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
        0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
        0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};
#define IPT__ROTATE(x, n) ((x) >> (n) | (x) << (32 - (n)))
    cl_uint words[64], v[8];
    int i;
    for (i = 0; i < 16; ++i)
        words[i] = (cl_uint)block[4 * i] << 24 | (cl_uint)block[4 * i + 1] << 16 | (cl_uint)block[4 * i + 2] << 8 |
                   block[4 * i + 3];
    for (; i < 64; ++i) {
        const cl_uint a = words[i - 15], b = words[i - 2];
        words[i] = words[i - 16] + (IPT__ROTATE(a, 7) ^ IPT__ROTATE(a, 18) ^ a >> 3) + words[i - 7] +
                   (IPT__ROTATE(b, 17) ^ IPT__ROTATE(b, 19) ^ b >> 10);
    }
    memcpy(v, state, sizeof v);
    for (i = 0; i < 64; ++i) {
        const cl_uint first = v[7] + (IPT__ROTATE(v[4], 6) ^ IPT__ROTATE(v[4], 11) ^ IPT__ROTATE(v[4], 25)) +
                              ((v[4] & v[5]) ^ (~v[4] & v[6])) + constants[i] + words[i];
        const cl_uint second = (IPT__ROTATE(v[0], 2) ^ IPT__ROTATE(v[0], 13) ^ IPT__ROTATE(v[0], 22)) +
                               ((v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]));
        memmove(v + 1, v, 7 * sizeof *v);
        v[4] += first;
        v[0] = first + second;
    }
    for (i = 0; i < 8; ++i)
        state[i] += v[i];
#undef IPT__ROTATE
}

static void ipt__hash_begin(ipt__hash *hash)
{
    static const cl_uint start[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                     0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    memset(hash, 0, sizeof *hash);
    memcpy(hash->state, start, sizeof start);
}

static void ipt__hash_add(ipt__hash *hash, const void *data, size_t bytes)
{
    const unsigned char *next = (const unsigned char *)data;
    while (bytes) {
        const size_t filled = (size_t)(hash->bytes % 64), taken = ipt__min(bytes, 64 - filled);
        if (taken == 64)
            ipt__hash_block(hash->state, next);
        else
            memcpy(hash->block + filled, next, taken);
        if (taken != 64 && filled + taken == 64)
            ipt__hash_block(hash->state, hash->block);
        hash->bytes += taken;
        next += taken;
        bytes -= taken;
    }
}

static void ipt__hash_end(ipt__hash *hash, unsigned char digest[32])
{
    static const unsigned char padding[64] = {0x80};
    unsigned char bits[8];
    const cl_ulong length = hash->bytes * 8;
    int i;
    for (i = 0; i < 8; ++i)
        bits[i] = (unsigned char)(length >> (56 - 8 * i));
    ipt__hash_add(hash, padding, 1 + (size_t)((119 - hash->bytes % 64) % 64));
    ipt__hash_add(hash, bits, 8);
    for (i = 0; i < 32; ++i)
        digest[i] = (unsigned char)(hash->state[i / 4] >> (24 - 8 * (i % 4)));
}

/* The hash of a text as `digits` hexadecimal digits and a zero. */
static void ipt__hash_text(const char *text, size_t length, char *hex, int digits)
{
    ipt__hash hash;
    unsigned char digest[32];
    int i;
    ipt__hash_begin(&hash);
    ipt__hash_add(&hash, text, length);
    ipt__hash_end(&hash, digest);
    for (i = 0; i < digits; ++i)
        hex[i] = "0123456789abcdef"[digest[i / 2] >> (i % 2 ? 0 : 4) & 15];
    hex[digits] = 0;
}

static void ipt__put(unsigned char *at, cl_ulong value, int bytes)
{
    int i;
    for (i = 0; i < bytes; ++i)
        at[i] = (unsigned char)(value >> 8 * i);
}

static cl_ulong ipt__get(const unsigned char *at, int bytes)
{
    cl_ulong value = 0;
    while (bytes--)
        value = value << 8 | at[bytes];
    return value;
}

static void ipt__entry_sum(const unsigned char *entry, size_t bytes, unsigned char sum[32])
{
    ipt__hash hash;
    ipt__hash_begin(&hash);
    ipt__hash_add(&hash, entry, IPT__ENTRY_SUM);
    ipt__hash_add(&hash, entry + IPT__ENTRY_HEAD, bytes - IPT__ENTRY_HEAD);
    ipt__hash_end(&hash, sum);
}

/* Completes an entry whose payload is in its place. */
static void ipt__entry_seal(unsigned char *entry, const char *key, size_t payload_bytes)
{
    const size_t key_bytes = strlen(key);
    memcpy(entry, IPT__ENTRY_MAGIC, 8);
    ipt__put(entry + 8, IPT__ENTRY_FORMAT, 4);
    ipt__put(entry + 12, key_bytes, 4);
    ipt__put(entry + 16, payload_bytes, 8);
    memcpy(entry + IPT__ENTRY_HEAD, key, key_bytes);
    ipt__entry_sum(entry, IPT__ENTRY_HEAD + key_bytes + payload_bytes, entry + IPT__ENTRY_SUM);
}

/* Checks all of an entry before anybody else sees a byte of it, as drivers crash on damaged programs. Where its payload
 * begins; 0 if it is damaged, or key is not NULL and the entry has another. */
static size_t ipt__entry_open(const unsigned char *entry, size_t bytes, const char *key)
{
    size_t key_bytes;
    unsigned char sum[32];
    if (bytes < IPT__ENTRY_HEAD || memcmp(entry, IPT__ENTRY_MAGIC, 8) || ipt__get(entry + 8, 4) != IPT__ENTRY_FORMAT)
        return 0;
    key_bytes = (size_t)ipt__get(entry + 12, 4);
    if (key_bytes > bytes - IPT__ENTRY_HEAD || ipt__get(entry + 16, 8) != bytes - IPT__ENTRY_HEAD - key_bytes ||
        (key && (strlen(key) != key_bytes || memcmp(key, entry + IPT__ENTRY_HEAD, key_bytes))))
        return 0;
    ipt__entry_sum(entry, bytes, sum);
    return memcmp(sum, entry + IPT__ENTRY_SUM, 32) ? 0 : IPT__ENTRY_HEAD + key_bytes;
}

/* ------------------------------------------------------------------------------------------------------------------ */
/* >>devices                                                                                                          */
/* ------------------------------------------------------------------------------------------------------------------ */

enum {
    IPT__CACHE_LIMIT = 1 << 28, /* bytes */
    IPT__WAIT_POLLS = 1 << 20,  /* about a second */
    IPT__PROBE_POLLS = 1 << 12, /* some milliseconds */
    IPT__COUNTS = 4,            /* of work-groups that run at the same time, while they look too few */
    IPT__FINISH_BYTES = 65536,  /* of the buffer that kernels without work are given */
    IPT__NO_CHUNKS = 1,         /* for chunk_bytes */
    IPT__CONTROL_WORDS = 4,     /* before the counters, as in panel.cl */
    /* Local memory of a panel's chunk. With what the kernel needs beside, two of the large ones fit a large GPU's unit,
     * in work-groups of 512 (three of 73728 with 256 were 2 % slower); else at most so much of what is reported. */
    IPT__CHUNK_BYTES_LARGE = 110592,
    IPT__CHUNK_GROUP_LARGE = 512,
    IPT__CHUNK_BYTES = 32768,
    IPT__SWAP_BYTES = 163840,   /* the same for two tiles */
    IPT__SWAP_SIDE_LARGE = 120, /* with what rows cut of a sector, a whole number of lines of work-items */
    IPT__SWAP_GROUP_LARGE = 512,
    IPT__PACK_BYTES = 32768, /* of small instances; of NVIDIA's GPUs see ipt__pack_choose */
    IPT__PACK_RUN = 4096     /* the shortest run of them that is worth it */
};

/* What the planner needs to know of a device, and in this order the lines of a profile. X(type, field, minimum,
 * maximum)
 */
#define IPT__LIMIT_LIST(X)                                                                                             \
    X(int, cpu, 0, 1)          /* the device type has the CPU bit: one work-item to a chain */                         \
    X(int, cooperative, 0, 1)  /* work-groups may wait for one another: the GPU bit and not the CPU bit */             \
    X(int, nvidia, 0, 2)       /* PTX can be written inline, 2: that of compute capability 8.0; 0: it cannot */        \
    X(int, memory_model, 0, 3) /* the parameters of these names: the best that the device has */                       \
    X(int, sub_group, 0, 3)                                                                                            \
    X(size_t, lanes, 0, 1024)              /* work-items of a sub-group, as far as is known before a program runs */   \
    X(int, standard, 12, 30)               /* of OpenCL C, for programs that need 2.0: 20, 30; 12: there is no more */ \
    X(size_t, group_size, 1, 256)          /* work-items of a work-group: 256 where the device takes as many */        \
    X(size_t, largest_group, 1, 1 << 20)   /* that the device takes */                                                 \
    X(size_t, local_memory, 1024, 1 << 30) /* bytes that a work-group may use, as reported or limited by the desc */   \
    X(size_t, compute_units, 1, 1 << 20)                                                                               \
    X(size_t, resident_groups, 0, 1 << 24) /* of the desc, or measured for the profile; 0: to be measured */           \
    X(cl_uint, wait_polls, 1, 0x7fffffff)                                                                              \
    X(int, local_is_limited, 0, 1) /* the desc limits local memory: no more is looked for */

typedef struct ipt__limits {
#define IPT__LIMIT_FIELD(type, field, minimum, maximum) type field;
    IPT__LIMIT_LIST(IPT__LIMIT_FIELD)
} ipt__limits;

/* What running programs has told about a device, and which profiles and caches keep. X(type, field, minimum, maximum)
 */
#define IPT__FINDING_LIST(X)                                                                                           \
    X(size_t, chunk_bytes, 0, 1 << 20) /* local memory of a panel's chunk; 0: not known, IPT__NO_CHUNKS: none works */ \
    X(size_t, refused_bytes, 0, 1 << 20) /* the least local memory that a program did not build with; 0: none */       \
    X(int, sub_groups_refused, 0, 1)     /* a program that uses the device's sub-groups did not build */

typedef struct ipt__findings {
    IPT__FINDING_LIST(IPT__LIMIT_FIELD)
} ipt__findings;

/* Questions to a device and its platform, and the first that was not answered. */
typedef struct ipt__questions {
    cl_device_id device;
    const char *call; /* NULL: all were answered */
    cl_int error;
} ipt__questions;

static ipt__questions ipt__questions_to(cl_device_id device)
{
    ipt__questions asked = {NULL, NULL, CL_SUCCESS};
    asked.device = device;
    return asked;
}

static void ipt__note_answer(ipt__questions *asked, const char *call, cl_int error)
{
    if (error && !asked->call) {
        asked->call = call;
        asked->error = error;
    }
}

/* What has been asked for, or zeros. */
static void ipt__ask(ipt__questions *asked, cl_uint name, void *value, size_t bytes)
{
    const cl_int error = ipt__cl.clGetDeviceInfo(asked->device, name, bytes, value, NULL);
    if (error)
        memset(value, 0, bytes);
    ipt__note_answer(asked, "clGetDeviceInfo", error);
}

/* A text of the platform's (NULL: the device's), cut to fit, or "". */
static void ipt__ask_text(ipt__questions *asked, cl_platform_id platform, cl_uint name, char *text, size_t capacity)
{
    char long_text[4096];
    size_t bytes = 0;
    const cl_int error = platform
                             ? ipt__cl.clGetPlatformInfo(platform, name, sizeof long_text - 1, long_text, &bytes)
                             : ipt__cl.clGetDeviceInfo(asked->device, name, sizeof long_text - 1, long_text, &bytes);
    if (error)
        bytes = 0;
    bytes = ipt__min(bytes, sizeof long_text - 1);
    long_text[bytes] = 0;
    bytes = ipt__min(strlen(long_text), capacity - 1);
    memcpy(text, long_text, bytes);
    text[bytes] = 0;
    ipt__note_answer(asked, platform ? "clGetPlatformInfo" : "clGetDeviceInfo", error);
}

/* The device's platform, or NULL. */
static cl_platform_id ipt__ask_platform(ipt__questions *asked)
{
    cl_platform_id platform = NULL;
    ipt__ask(asked, CL_DEVICE_PLATFORM, &platform, sizeof platform);
    return platform;
}

static ipt_result ipt__fail_unanswered(const ipt__questions *asked)
{
    return asked->error == CL_INVALID_DEVICE
               ? ipt__fail(IPT_ERROR_INVALID_ARGUMENT, "device is not a valid OpenCL device: %s failed", asked->call)
               : ipt__fail_opencl(asked->call, asked->error);
}

/* Whether text contains part, whatever the case of their letters. */
static int ipt__contains(const char *text, const char *part)
{
    for (;; ++text) {
        size_t i = 0;
        while (part[i] && (text[i] | (text[i] >= 'A' && text[i] <= 'Z' ? 32 : 0)) ==
                              (part[i] | (part[i] >= 'A' && part[i] <= 'Z' ? 32 : 0)))
            ++i;
        if (!part[i])
            return 1;
        if (!*text)
            return 0;
    }
}

static int ipt__platform_has_name(ipt__questions *asked, const char *name)
{
    const cl_platform_id platform = ipt__ask_platform(asked);
    char text[512] = "";
    if (platform)
        ipt__ask_text(asked, platform, CL_PLATFORM_NAME, text, sizeof text);
    return ipt__contains(text, name);
}

static int ipt__device_has_name(ipt__questions *asked, const char *name)
{
    char text[512];
    ipt__ask_text(asked, NULL, CL_DEVICE_NAME, text, sizeof text);
    return ipt__contains(text, name) || ipt__platform_has_name(asked, name);
}

static cl_device_type ipt__device_type(ipt__questions *asked)
{
    cl_device_type type;
    ipt__ask(asked, CL_DEVICE_TYPE, &type, sizeof type);
    return type;
}

IPT_API ipt_result ipt_device_list(cl_device_id *devices, size_t capacity, size_t *count)
{
    cl_platform_id platforms[64];
    cl_uint platform_count = 0, i;
    cl_int error, failed = CL_SUCCESS;
    ipt_result result;
    if (!count)
        return ipt__fail_null("count");
    *count = 0;
    if (!devices && capacity)
        return ipt__fail_null("devices");
    result = ipt__load();
    if (result)
        return result;
    error = ipt__cl.clGetPlatformIDs(64, platforms, &platform_count);
    if (error == -1001) /* CL_PLATFORM_NOT_FOUND_KHR: how the loader says that there is none */
        platform_count = 0;
    else if (error)
        return ipt__fail_opencl("clGetPlatformIDs", error);
    for (i = 0; i < platform_count && i < 64; ++i) {
        cl_device_id found[64];
        cl_uint found_count = 0, k;
        error = ipt__cl.clGetDeviceIDs(platforms[i], CL_DEVICE_TYPE_ALL, 64, found, &found_count);
        if (error) { /* the other platforms' devices are there all the same */
            failed = error == CL_DEVICE_NOT_FOUND ? failed : error;
            continue;
        }
        for (k = 0; k < found_count && k < 64; ++k, ++*count)
            if (*count < capacity)
                devices[*count] = found[k];
    }
    if (!*count && failed)
        return ipt__fail_opencl("clGetDeviceIDs", failed);
    return *count ? IPT_SUCCESS : ipt__fail(IPT_ERROR_NO_DEVICE, "no OpenCL platform of this machine has a device");
}

IPT_API ipt_result ipt_device_describe(cl_device_id device, char *text, size_t capacity)
{
    char name[256], vendor[256], version[256], driver[256], platform_name[256] = "";
    cl_platform_id platform;
    cl_ulong global, local;
    cl_uint units;
    size_t group;
    cl_device_type type;
    ipt__questions asked;
    ipt__text out;
    ipt_result result;
    if (!text)
        return ipt__fail_null("text");
    if (!capacity)
        return ipt__fail(IPT_ERROR_INVALID_ARGUMENT, "capacity is 0");
    *text = 0;
    if (!device)
        return ipt__fail_null("device");
    result = ipt__load();
    if (result)
        return result;
    asked = ipt__questions_to(device);
    ipt__ask_text(&asked, NULL, CL_DEVICE_NAME, name, sizeof name);
    ipt__ask_text(&asked, NULL, CL_DEVICE_VENDOR, vendor, sizeof vendor);
    ipt__ask_text(&asked, NULL, CL_DEVICE_VERSION, version, sizeof version);
    ipt__ask_text(&asked, NULL, CL_DRIVER_VERSION, driver, sizeof driver);
    platform = ipt__ask_platform(&asked);
    if (platform)
        ipt__ask_text(&asked, platform, CL_PLATFORM_NAME, platform_name, sizeof platform_name);
    type = ipt__device_type(&asked);
    ipt__ask(&asked, CL_DEVICE_GLOBAL_MEM_SIZE, &global, sizeof global);
    ipt__ask(&asked, CL_DEVICE_LOCAL_MEM_SIZE, &local, sizeof local);
    ipt__ask(&asked, CL_DEVICE_MAX_COMPUTE_UNITS, &units, sizeof units);
    ipt__ask(&asked, CL_DEVICE_MAX_WORK_GROUP_SIZE, &group, sizeof group);
    if (asked.call)
        return ipt__fail_unanswered(&asked);
    out.text = text;
    out.capacity = capacity;
    out.length = 0;
    ipt__text_add(&out, "%s\n", name);
    ipt__text_add(&out, "  %s of %s, platform %s\n",
                  type & CL_DEVICE_TYPE_CPU   ? "CPU"
                  : type & CL_DEVICE_TYPE_GPU ? "GPU"
                                              : "accelerator",
                  vendor, platform_name);
    ipt__text_add(&out, "  %s, driver %s\n", version, driver);
    ipt__text_add(
        &out, "  %lu MiB of memory, %lu KiB of local memory, %u compute units, work-groups of up to %lu work-items\n",
        (unsigned long)(global >> 20), (unsigned long)(local >> 10), (unsigned)units, (unsigned long)group);
    return IPT_SUCCESS;
}

/* ------------------------------------------------------------------------------------------------------------------ */
/* >>context                                                                                                          */
/* ------------------------------------------------------------------------------------------------------------------ */

/* One program, built unless the context has no device. Belongs to its context. */
typedef struct ipt__program {
    struct ipt__program *next;
    size_t references; /* of plans; ipt_context_trim releases what has none */
    ipt__kernel_id id;
    ipt__params params;
    cl_program program;
    char *source;
    char hash[65];       /* of source */
    const char *options; /* for the compiler */
    char *expression;    /* what params points to; NULL: nothing */
    /* Found out by running the program, 0: not yet or none. Guarded by probe_lock. */
    size_t resident; /* panel: work-groups that run at the same time */
    int counts;      /* how often they were counted */
    size_t lanes;    /* chains: work-items of one of the device's sub-groups; 1: they do not do what they should */
} ipt__program;

/* What a measurement has found for one shape, and the fields of its line in a text of wisdom: the length of the
 * super-elements of a two-pass plan, by all that the choice depends on. */
#define IPT__WISDOM_LIST(X)                                                                                            \
    X(rows) X(cols) X(elem_size) X(batch) X(batch_stride) X(workspace) X(no_cooperative) X(expression) X(length)
typedef struct ipt__wisdom {
    struct ipt__wisdom *next;
#define IPT__WISDOM_FIELD(field) size_t field;
    IPT__WISDOM_LIST(IPT__WISDOM_FIELD)
} ipt__wisdom;

/* Memory of ipt_host_alloc's. */
typedef struct ipt__pinned {
    struct ipt__pinned *next;
    cl_mem buffer;
    char *memory;
    size_t bytes;
} ipt__pinned;

enum {
    IPT__DEVICE_BYTES = 1536, /* of the lines that name a device */
    IPT__KEY_BYTES = 4096
};

struct ipt_context {
    IPT_LOCK_TYPE lock; /* guards references, programs, wisdom and pinned memory */
    size_t references;  /* the caller's and one for each plan */
    ipt__program *programs;
    ipt__wisdom *wisdom;
    ipt__pinned *pinned;
    cl_context context; /* NULL: the context is for planning only */
    cl_device_id device;
    cl_command_queue queue; /* in-order, for touching workspaces, measuring and host matrices */
    ipt__limits limits;
    ipt_allocator allocator;
    ipt_logger logger;
    int compiler;        /* the device has one */
    int shares_memory;   /* with the host */
    size_t allocation;   /* bytes of a buffer that the device promises to take; 0: unknown. Some take more */
    int finishes_late;   /* programs are finished by their first launch */
    int forgets_failure; /* commands begin though one that they wait for has been ended by a failed event */
    int takes_bitcode;   /* LLVM's, for spir64 */
    int has_half;        /* the compiler takes the type; 1 without a device, too */
    int has_double;
    unsigned capability; /* of an NVIDIA device, 80 for 8.0; 0: of none */
    cl_program(CL_API_CALL *from_spirv)(cl_context, const void *, size_t, cl_int *); /* NULL: none */
    char device_text[IPT__DEVICE_BYTES]; /* lines that tell it from others, for keys */
    const ipt_binary *binaries;
    size_t binary_count;
    char *cache_dir; /* NULL: no disk cache */
    size_t cache_limit;
    IPT_LOCK_TYPE probe_lock; /* held while a kernel class is tried on the device: two at once would count wrong */
    ipt__findings found;      /* guarded by probe_lock */
    int chunk_is_guess; /* found.chunk_bytes comes of a launch that failed: not for other contexts. The same lock */
    IPT_LOCK_TYPE cooperative_lock; /* guards cooperative_last */
    cl_event cooperative_last; /* of the last launch whose work-groups wait for one another: the next waits for it */
};

static void *ipt__default_alloc(size_t bytes, void *user)
{
    (void)user;
    return malloc(bytes);
}

static void ipt__default_free(void *pointer, void *user)
{
    (void)user;
    free(pointer);
}

/* Zeroed memory, or NULL with the error text set. */
static void *ipt__allocate(const ipt_allocator *allocator, size_t bytes)
{
    /* What calloc has zeroed by the system takes room only where it is used. */
    const int own = allocator->alloc == ipt__default_alloc;
    void *const memory = own ? calloc(1, bytes) : allocator->alloc(bytes, allocator->user);
    if (memory && !own)
        memset(memory, 0, bytes);
    if (!memory)
        ipt__fail(IPT_ERROR_OUT_OF_MEMORY, "%lu bytes of host memory are not to be had", (unsigned long)bytes);
    return memory;
}

/* alloc and free come as a pair: an embedder's free may not take NULL. */
static void ipt__release(const ipt_allocator *allocator, void *memory)
{
    if (memory)
        allocator->free(memory, allocator->user);
}

IPT__PRINTF(2, 3) static void ipt__log(const ipt_context *context, const char *format, ...)
{
    char message[512];
    va_list arguments;
    if (!context->logger.log)
        return;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    context->logger.log(message, context->logger.user);
}

/* The devices that a context may be made on: those of the caller's cl_context, else all. */
static ipt_result ipt__devices_of(cl_context context, cl_device_id *devices, size_t capacity, size_t *count)
{
    size_t bytes = 0;
    cl_int error;
    if (!context) {
        const ipt_result result = ipt_device_list(devices, capacity, count);
        *count = ipt__min(*count, capacity);
        return result;
    }
    error = ipt__cl.clGetContextInfo(context, CL_CONTEXT_DEVICES, capacity * sizeof *devices, devices, &bytes);
    *count = bytes / sizeof *devices;
    return error ? ipt__fail_opencl("clGetContextInfo", error) : IPT_SUCCESS;
}

static ipt_result ipt__choose_device(const ipt_context_desc *desc, cl_device_id *device)
{
    cl_device_id devices[256];
    size_t count = 0, i;
    const char *name = desc->device_name, *source = "device_name";
    ipt__questions failed = ipt__questions_to(NULL);
    ipt_result result;
    *device = desc->device;
    if (desc->device && !desc->context)
        return IPT_SUCCESS;
    result = ipt__devices_of(desc->context, devices, sizeof devices / sizeof *devices, &count);
    if (result)
        return result;
    if (desc->device) {
        for (i = 0; i < count; ++i)
            if (devices[i] == desc->device)
                return IPT_SUCCESS;
        return ipt__fail(IPT_ERROR_INVALID_ARGUMENT, "device is not one of the given context's %lu devices",
                         (unsigned long)count);
    }
    if (!name) {
        name = getenv("IPT_DEVICE");
        source = "the environment's IPT_DEVICE";
    }
    for (i = 0; i < count; ++i) {
        ipt__questions asked = ipt__questions_to(devices[i]);
        const int fits = !name || !*name || ipt__device_has_name(&asked, name);
        const int gpu = fits && (ipt__device_type(&asked) & CL_DEVICE_TYPE_GPU);
        ipt__note_answer(&failed, asked.call, asked.error);
        if (fits && (!*device || gpu))
            *device = devices[i];
        if (gpu)
            break;
    }
    if (failed.call) { /* what was not told could have made another choice */
        *device = NULL;
        return ipt__fail_unanswered(&failed);
    }
    if (*device)
        return IPT_SUCCESS;
    return ipt__fail(IPT_ERROR_NO_DEVICE, "no device or platform has the name \"%s\" that %s asks for",
                     name ? name : "", source);
}

/* How work-groups and work-items of the device can work together. */
static void ipt__read_model(cl_device_id device, const char *extensions, unsigned version, ipt__limits *limits)
{
    cl_ulong atomics = 0, fences = 0; /* each a cl_bitfield */
    size_t sizes[16] = {0};           /* of sub-groups */
    size_t i;
    limits->standard = version >= 30 ? 30 : version >= 20 ? 20 : 12;
    limits->lanes = 32;
    if (limits->nvidia) {
        limits->memory_model = limits->nvidia;
        limits->sub_group = 1;
        return;
    }
    /* OpenCL 2 has all orders and scopes; 3.0 tells (CL_DEVICE_ATOMIC_MEMORY_CAPABILITIES and _FENCE_CAPABILITIES)
     * whether it has acquire and release (2) and the scope of the device (32). */
    if (version >= 20 && (version < 30 || (!ipt__cl.clGetDeviceInfo(device, 0x1063, sizeof atomics, &atomics, NULL) &&
                                           !ipt__cl.clGetDeviceInfo(device, 0x1064, sizeof fences, &fences, NULL) &&
                                           (atomics & fences & 34) == 34)))
        limits->memory_model = 3;
    if (ipt__contains(extensions, "cl_intel_subgroups ")) {
        limits->sub_group = 3;
        /* CL_DEVICE_SUB_GROUP_SIZES_INTEL */
        if (ipt__contains(extensions, "cl_intel_required_subgroup_size") &&
            !ipt__cl.clGetDeviceInfo(device, 0x4108, sizeof sizes, sizes, NULL))
            for (limits->lanes = 0, i = 0; i < sizeof sizes / sizeof *sizes; ++i)
                if (sizes[i] <= 32)
                    limits->lanes = ipt__max(limits->lanes, sizes[i]);
    } else if (ipt__contains(extensions, "cl_khr_subgroups ") && version >= 20)
        limits->sub_group = 2;
}

static ipt_result ipt__read_limits(const ipt_context_desc *desc, cl_device_id device, ipt__limits *limits)
{
    cl_ulong local;
    cl_uint units;
    char extensions[4096], version[64];
    size_t group;
    unsigned major = 0, minor = 0;
    ipt__questions asked = ipt__questions_to(device);
    const cl_device_type type = ipt__device_type(&asked);
    const int rusticl = (type & CL_DEVICE_TYPE_CPU) && ipt__platform_has_name(&asked, "rusticl");
    const int pocl = ipt__platform_has_name(&asked, "portable computing language");
    ipt__ask(&asked, CL_DEVICE_LOCAL_MEM_SIZE, &local, sizeof local);
    ipt__ask(&asked, CL_DEVICE_MAX_COMPUTE_UNITS, &units, sizeof units);
    ipt__ask(&asked, CL_DEVICE_MAX_WORK_GROUP_SIZE, &group, sizeof group);
    ipt__ask_text(&asked, NULL, CL_DEVICE_VERSION, version, sizeof version);
    ipt__ask_text(&asked, NULL, CL_DEVICE_EXTENSIONS, extensions, sizeof extensions - 1);
    if (asked.call)
        return ipt__fail_unanswered(&asked);
    if (sscanf(version, "OpenCL %u.%u", &major, &minor) != 2 || major * 10 + minor < 12)
        return ipt__fail(IPT_ERROR_UNSUPPORTED, "the device offers %s: OpenCL 1.2 is needed", version);
    if (rusticl)
        return ipt__fail(IPT_ERROR_UNSUPPORTED, "rusticl's llvmpipe (seen: Mesa 22.3.6) computes wrong results in "
                                                "work-groups of one work-item and in long loops: use PoCL");
    strcat(extensions, " "); /* a name ends where the next begins */
    limits->cpu = (type & CL_DEVICE_TYPE_CPU) != 0;
    limits->cooperative = (type & CL_DEVICE_TYPE_GPU) && !limits->cpu;
    limits->resident_groups = ipt__min(desc->resident_groups, (size_t)1 << 24); /* as in a profile */
    limits->wait_polls = desc->wait_polls ? (cl_uint)ipt__min(desc->wait_polls, 0x7fffffff) : (cl_uint)IPT__WAIT_POLLS;
    limits->local_is_limited = desc->max_local_memory != 0;
    if (ipt__contains(extensions, "cl_nv_")) {
        cl_uint major = 0; /* CL_DEVICE_COMPUTE_CAPABILITY_MAJOR_NV */
        limits->nvidia = !ipt__cl.clGetDeviceInfo(device, 0x4000, sizeof major, &major, NULL) && major >= 8 ? 2 : 1;
    }
    ipt__read_model(device, extensions, major * 10 + minor, limits);
    if (pocl && limits->sub_group >= 2) /* made of work-groups there, and wrong (seen: 5.0, 6.0) */
        limits->sub_group = 0;
    limits->compute_units = ipt__max(units, 1);
    limits->largest_group = ipt__max(group, 1);
    limits->group_size = 1;
    while (limits->group_size < 256 && limits->group_size * 2 <= group)
        limits->group_size *= 2;
    /* Some implementations keep a little for themselves: NVIDIA's launches fail from 48 KiB on, which it reports. */
    limits->local_memory = ipt__size_of(local > 16384 ? local - 1024 : local);
    if (desc->max_local_memory)
        limits->local_memory = ipt__min(limits->local_memory, desc->max_local_memory);
    if (limits->local_memory < 1024)
        return ipt__fail(IPT_ERROR_UNSUPPORTED, "the device has %lu bytes of local memory: 1024 are needed",
                         (unsigned long)local);
    /* More is of no use, and not in a profile. */
    limits->local_memory = ipt__min(limits->local_memory, (size_t)1 << 30);
    limits->largest_group = ipt__min(limits->largest_group, (size_t)1 << 20);
    limits->compute_units = ipt__min(limits->compute_units, (size_t)1 << 20);
    return IPT_SUCCESS;
}

/* ------------------------------------------------------------------------------------------------------------------ */
/* >>cache: files                                                                                                     */
/* ------------------------------------------------------------------------------------------------------------------ */

#ifndef IPT_NO_DISK_CACHE

enum {
    IPT__PATH_BYTES = 1024,
    IPT__PATH_REST = 80,      /* of that for the names in a folder */
    IPT__STALE_SECONDS = 3600 /* a temporary file that old is one that nobody finishes */
};

/* Skips hexadecimal digits as ipt writes them: `most` of them at most. Returns how many there were. */
static int ipt__skip_digits(const char **text, int most)
{
    int count = 0;
    while (count < most && **text && strchr("0123456789abcdef", **text)) {
        ++*text;
        ++count;
    }
    return count;
}

typedef enum ipt__name_kind { IPT__NAME_FOREIGN, IPT__NAME_ENTRY, IPT__NAME_TEMPORARY } ipt__name_kind;

/* Whose name of a file it is: see ipt__entry_name and ipt__folder_store. */
static ipt__name_kind ipt__name_is(const char *name)
{
    const char *at = name;
    int digits = ipt__skip_digits(&at, IPT__NAME_DIGITS);
    if (digits == IPT__NAME_DIGITS && !strcmp(at, ".ipt"))
        return IPT__NAME_ENTRY;
    for (at = name, digits = 0; digits < 2; ++digits)
        if (!ipt__skip_digits(&at, 16) || *at++ != '-')
            return IPT__NAME_FOREIGN;
    return ipt__skip_digits(&at, IPT__NAME_DIGITS) == IPT__NAME_DIGITS && !strcmp(at, ".ipt.tmp") ? IPT__NAME_TEMPORARY
                                                                                                  : IPT__NAME_FOREIGN;
}

/* What the operating system is asked to do. Functions that can fail return what went wrong in words, or NULL. */

#if defined(_WIN32)
#define IPT__SEPARATORS "/\\"

static const char *ipt__file_make_folder(const char *path)
{
    return CreateDirectoryA(path, NULL) || GetLastError() == ERROR_ALREADY_EXISTS ? NULL : "it cannot be made";
}

/* Windows' folders of a user keep others out by themselves. */
static const char *ipt__file_check_folder(const char *path)
{
    const DWORD attributes = GetFileAttributesA(path);
    return attributes == INVALID_FILE_ATTRIBUTES     ? "it does not exist"
           : (attributes & FILE_ATTRIBUTE_DIRECTORY) ? NULL
                                                     : "it is not a folder";
}

typedef HANDLE ipt__file;

static const char *ipt__file_open(const char *path, ipt__file *file, size_t *bytes)
{
    LARGE_INTEGER size;
    *file = CreateFileA(path, GENERIC_READ, FILE_SHARE_READ | FILE_SHARE_DELETE, NULL, OPEN_EXISTING, 0, NULL);
    if (*file == INVALID_HANDLE_VALUE)
        return GetLastError() == ERROR_FILE_NOT_FOUND || GetLastError() == ERROR_PATH_NOT_FOUND ? ""
                                                                                                : "it cannot be opened";
    if (GetFileType(*file) != FILE_TYPE_DISK || !GetFileSizeEx(*file, &size) || size.QuadPart > IPT__ENTRY_MOST) {
        CloseHandle(*file);
        return "it is not a file of ours";
    }
    *bytes = (size_t)size.QuadPart;
    return NULL;
}

static int ipt__file_read(ipt__file file, unsigned char *data, size_t bytes)
{
    DWORD got = 0;
    return ReadFile(file, data, (DWORD)bytes, &got, NULL) && got == bytes;
}

static void ipt__file_close(ipt__file file)
{
    CloseHandle(file);
}

static const char *ipt__file_write(const char *path, const unsigned char *data, size_t bytes, int *exists)
{
    DWORD put = 0;
    const HANDLE file = CreateFileA(path, GENERIC_WRITE, 0, NULL, CREATE_NEW, 0, NULL);
    *exists = file == INVALID_HANDLE_VALUE && GetLastError() == ERROR_FILE_EXISTS;
    if (file == INVALID_HANDLE_VALUE)
        return "a file cannot be made there";
    if (!WriteFile(file, data, (DWORD)bytes, &put, NULL) || put != bytes || !FlushFileBuffers(file)) {
        CloseHandle(file);
        return "it cannot be written";
    }
    return CloseHandle(file) ? NULL : "it cannot be written";
}

static int ipt__file_remove(const char *path)
{
    return DeleteFileA(path) != 0;
}

static const char *ipt__file_rename(const char *from, const char *to)
{
    return MoveFileExA(from, to, MOVEFILE_REPLACE_EXISTING) ? NULL : "it cannot be renamed";
}

static unsigned long ipt__process_number(void)
{
    return GetCurrentProcessId();
}

/* A folder's files with names of ours, one after the other. */
typedef struct ipt__listing {
    HANDLE find;
    WIN32_FIND_DATAA data;
    int first;
    char name[IPT__PATH_BYTES];
    double seconds, age, bytes; /* when it was written, how long ago, its size */
} ipt__listing;

static int ipt__listing_open(ipt__listing *listing, const char *folder)
{
    char pattern[IPT__PATH_BYTES];
    snprintf(pattern, sizeof pattern, "%s/*", folder);
    listing->find = FindFirstFileA(pattern, &listing->data);
    listing->first = 1;
    return listing->find != INVALID_HANDLE_VALUE;
}

static int ipt__listing_next(ipt__listing *listing, const char *folder)
{
    FILETIME now;
    (void)folder;
    while (listing->first || FindNextFileA(listing->find, &listing->data)) {
        listing->first = 0;
        if (ipt__name_is(listing->data.cFileName) == IPT__NAME_FOREIGN ||
            listing->data.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY)
            continue;
        GetSystemTimeAsFileTime(&now);
        snprintf(listing->name, sizeof listing->name, "%s", listing->data.cFileName);
        listing->bytes = listing->data.nFileSizeHigh * 4294967296.0 + listing->data.nFileSizeLow;
        listing->seconds = (listing->data.ftLastWriteTime.dwHighDateTime * 4294967296.0 +
                            listing->data.ftLastWriteTime.dwLowDateTime) *
                           1e-7;
        listing->age = (now.dwHighDateTime * 4294967296.0 + now.dwLowDateTime) * 1e-7 - listing->seconds;
        return 1;
    }
    return 0;
}

static void ipt__listing_close(ipt__listing *listing)
{
    FindClose(listing->find);
}

#else
#define IPT__SEPARATORS "/"

/* Whether nobody but the user and root can have changed it. */
static int ipt__file_is_trusted(const struct stat *status)
{
    return (status->st_uid == 0 || status->st_uid == geteuid()) && !(status->st_mode & 022);
}

static const char *ipt__file_make_folder(const char *path)
{
    return !mkdir(path, 0700) || errno == EEXIST ? NULL : strerror(errno);
}

static const char *ipt__file_check_folder(const char *path)
{
    struct stat status;
    if (stat(path, &status))
        return strerror(errno);
    if (!S_ISDIR(status.st_mode))
        return "it is not a folder";
    return ipt__file_is_trusted(&status) ? NULL : "others can write to it";
}

typedef int ipt__file;

/* "" if there is none. A name may lead to anything: pipes must not make it wait. */
static const char *ipt__file_open(const char *path, ipt__file *file, size_t *bytes)
{
    struct stat status;
    const char *why = NULL;
    *file = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY);
    if (*file < 0)
        return errno == ENOENT || errno == ENOTDIR ? "" : strerror(errno);
    fcntl(*file, F_SETFD, FD_CLOEXEC);
    if (fstat(*file, &status))
        why = strerror(errno);
    else if (!S_ISREG(status.st_mode) || status.st_size > IPT__ENTRY_MOST)
        why = "it is not a file of ours";
    else if (!ipt__file_is_trusted(&status))
        why = "others can write to it";
    if (why)
        close(*file);
    else
        *bytes = (size_t)status.st_size;
    return why;
}

static int ipt__file_read(ipt__file file, unsigned char *data, size_t bytes)
{
    size_t done = 0;
    while (done < bytes) {
        const ssize_t got = read(file, data + done, bytes - done);
        if (got <= 0 && !(got < 0 && errno == EINTR))
            return 0;
        done += got > 0 ? (size_t)got : 0;
    }
    return 1;
}

static void ipt__file_close(ipt__file file)
{
    close(file);
}

/* Makes a new file and sees it through to the disk. *exists: there is one of that name. */
static const char *ipt__file_write(const char *path, const unsigned char *data, size_t bytes, int *exists)
{
    const char *why = NULL;
    size_t done = 0;
    const int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOCTTY, 0600);
    *exists = file < 0 && errno == EEXIST;
    if (file < 0)
        return strerror(errno);
    fcntl(file, F_SETFD, FD_CLOEXEC);
    while (done < bytes && !why) {
        const ssize_t put = write(file, data + done, bytes - done);
        if (put == 0 || (put < 0 && errno != EINTR))
            why = put ? strerror(errno) : "nothing is written";
        done += put > 0 ? (size_t)put : 0;
    }
    if (!why && fsync(file))
        why = strerror(errno);
    if (close(file) && !why)
        why = strerror(errno);
    return why;
}

static int ipt__file_remove(const char *path)
{
    return !unlink(path);
}

static const char *ipt__file_rename(const char *from, const char *to)
{
    return rename(from, to) ? strerror(errno) : NULL;
}

static unsigned long ipt__process_number(void)
{
    return (unsigned long)getpid();
}

/* A folder's files with names of ours, one after the other. */
typedef struct ipt__listing {
    DIR *folder;
    char name[IPT__PATH_BYTES];
    double seconds, age, bytes; /* when it was written, how long ago, its size */
} ipt__listing;

static int ipt__listing_open(ipt__listing *listing, const char *folder)
{
    listing->folder = opendir(folder);
    return listing->folder != NULL;
}

static int ipt__listing_next(ipt__listing *listing, const char *folder)
{
    const struct dirent *found;
    while ((found = readdir(listing->folder)) != NULL) {
        char path[2 * IPT__PATH_BYTES];
        struct stat status;
        snprintf(listing->name, sizeof listing->name, "%s", found->d_name);
        snprintf(path, sizeof path, "%s/%s", folder, listing->name);
        if (ipt__name_is(listing->name) == IPT__NAME_FOREIGN || stat(path, &status) || !S_ISREG(status.st_mode))
            continue;
        listing->bytes = (double)status.st_size;
        listing->seconds = (double)status.st_mtime;
        listing->age = (double)time(NULL) - listing->seconds;
        return 1;
    }
    return 0;
}

static void ipt__listing_close(ipt__listing *listing)
{
    closedir(listing->folder);
}

#endif

/* The name of an entry's file: the beginning of its key's hash. */
static void ipt__entry_name(const char *key, size_t key_bytes, char name[IPT__ENTRY_NAME])
{
    ipt__hash_text(key, key_bytes, name, IPT__NAME_DIGITS);
    strcpy(name + IPT__NAME_DIGITS, ".ipt");
}

/* Makes a folder and those above it, as far as they are missing. */
static const char *ipt__folder_make(const char *folder)
{
    char path[IPT__PATH_BYTES];
    size_t i;
    if (strlen(folder) >= sizeof path - IPT__PATH_REST)
        return "its name is too long";
    for (i = 1; folder[i]; ++i)
        if (strchr(IPT__SEPARATORS, folder[i])) {
            memcpy(path, folder, i);
            path[i] = 0;
            ipt__file_make_folder(path); /* if it fails, so does the last one */
        }
    return ipt__file_make_folder(folder);
}

/* Removes a file of one of our names, if it begins as entries do: somebody else may have chosen the name, too. An
 * unfinished one may have less than the beginning. */
static int ipt__folder_remove(const char *folder, const char *name, int unfinished)
{
    char path[2 * IPT__PATH_BYTES];
    unsigned char head[8];
    ipt__file file;
    size_t bytes;
    int ours;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    if (ipt__file_open(path, &file, &bytes))
        return 0;
    bytes = ipt__min(bytes, sizeof head);
    ours = (unfinished || bytes == sizeof head) && ipt__file_read(file, head, bytes) &&
           !memcmp(head, IPT__ENTRY_MAGIC, bytes);
    ipt__file_close(file);
    return ours && ipt__file_remove(path);
}

/* A file of a folder that may have to go. */
typedef struct ipt__listed {
    double seconds, bytes;
    char name[IPT__ENTRY_NAME];
} ipt__listed;

static int ipt__listed_before(const void *one, const void *other)
{
    const ipt__listed *const a = (const ipt__listed *)one, *const b = (const ipt__listed *)other;
    return a->seconds < b->seconds ? -1 : a->seconds > b->seconds ? 1 : strcmp(a->name, b->name);
}

/* Lists a folder's entries, and removes what has been left unfinished. *found is to be released. Returns their number;
 * where memory ends, that of the first ones. */
static size_t ipt__folder_list(const ipt_context *context, ipt__listed **found)
{
    const char *const folder = context->cache_dir;
    ipt__listing listing;
    size_t count = 0, room = 0;
    *found = NULL;
    if (!ipt__listing_open(&listing, folder))
        return 0;
    while (ipt__listing_next(&listing, folder)) {
        const ipt__name_kind kind = ipt__name_is(listing.name);
        if (kind == IPT__NAME_TEMPORARY && listing.age > (double)IPT__STALE_SECONDS)
            ipt__folder_remove(folder, listing.name, 1);
        if (kind != IPT__NAME_ENTRY)
            continue;
        if (count == room) {
            const size_t more = ipt__max(2 * room, 64);
            ipt__listed *const list =
                (ipt__listed *)context->allocator.alloc(more * sizeof *list, context->allocator.user);
            if (!list)
                break;
            if (count)
                memcpy(list, *found, count * sizeof *list);
            ipt__release(&context->allocator, *found);
            *found = list;
            room = more;
        }
        (*found)[count].seconds = listing.seconds;
        (*found)[count].bytes = listing.bytes;
        strcpy((*found)[count++].name, listing.name);
    }
    ipt__listing_close(&listing);
    return count;
}

/* Removes the oldest entries while all of them have more bytes than the limit. */
static void ipt__folder_clean(const ipt_context *context)
{
    ipt__listed *found;
    const size_t count = ipt__folder_list(context, &found);
    double all = 0;
    size_t i;
    for (i = 0; i < count; ++i)
        all += found[i].bytes;
    if (count && all > (double)context->cache_limit)
        qsort(found, count, sizeof *found, ipt__listed_before);
    for (i = 0; i < count && all > (double)context->cache_limit; ++i) {
        ipt__folder_remove(context->cache_dir, found[i].name, 0);
        all -= found[i].bytes; /* also if it stays: then it is not an entry, or another process has removed it */
    }
    ipt__release(&context->allocator, found);
}

/* Writes an entry beside its place and renames it, so that others see all of it or nothing. */
static const char *ipt__folder_store(const char *folder, const char *name, const unsigned char *entry, size_t bytes)
{
    char path[IPT__PATH_BYTES], temporary[IPT__PATH_BYTES];
    int attempt, exists = 1;
    const char *why = bytes > IPT__ENTRY_MOST ? "it would not be read: 64 MiB at most are" : ipt__folder_make(folder);
    if (!why)
        why = ipt__file_check_folder(folder);
    if (why)
        return why;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    for (attempt = 0; attempt < 1000 && exists; ++attempt) {
        snprintf(temporary, sizeof temporary, "%s/%lx-%x-%.32s.ipt.tmp", folder, ipt__process_number(),
                 (unsigned)attempt, name);
        why = ipt__file_write(temporary, entry, bytes, &exists);
    }
    if (exists)
        return why;
    if (!why)
        why = ipt__file_rename(temporary, path);
    if (why)
        ipt__file_remove(temporary);
    return why;
}

/* The user's folder for caches, or "" if there is none. */
static void ipt__folder_default(char *folder, size_t capacity)
{
#if defined(_WIN32)
    const char *const home = getenv("LOCALAPPDATA"), *const base = NULL;
    const char *const below = "ipt";
#elif defined(__APPLE__)
    const char *const home = getenv("HOME"), *const base = NULL;
    const char *const below = "Library/Caches/ipt";
#else
    const char *const home = getenv("HOME"), *const base = getenv("XDG_CACHE_HOME");
    const char *const below = ".cache/ipt";
#endif
    int length = 0;
    if (base && *base == '/')
        length = snprintf(folder, capacity, "%s/ipt", base);
    else if (home && (*home == '/' || strcmp(IPT__SEPARATORS, "/")))
        length = snprintf(folder, capacity, "%s/%s", home, below);
    if (length <= 0 || (size_t)length >= capacity)
        *folder = 0;
}

#endif /* IPT_NO_DISK_CACHE */

/* ------------------------------------------------------------------------------------------------------------------ */
/* >>cache: finding and storing                                                                                       */
/* ------------------------------------------------------------------------------------------------------------------ */

/* An entry that has been found and checked: in the embedder's memory or read from a file. */
typedef struct ipt__entry {
    const unsigned char *data;
    size_t bytes, payload; /* payload: where it begins */
    unsigned char *owned;  /* to be released */
} ipt__entry;

static int ipt__entry_embedded(const ipt_context *context, const char *key, ipt__entry *entry)
{
    size_t i;
    for (i = 0; i < context->binary_count; ++i) {
        entry->data = (const unsigned char *)context->binaries[i].data;
        entry->bytes = context->binaries[i].bytes;
        entry->owned = NULL;
        entry->payload = entry->data ? ipt__entry_open(entry->data, entry->bytes, key) : 0;
        if (entry->payload)
            return 1;
    }
    return 0;
}

#ifndef IPT_NO_DISK_CACHE

static int ipt__entry_on_disk(const ipt_context *context, const char *key, ipt__entry *entry)
{
    char path[IPT__PATH_BYTES], name[IPT__ENTRY_NAME];
    ipt__file file;
    const char *why;
    memset(entry, 0, sizeof *entry);
    if (!context->cache_dir)
        return 0;
    ipt__entry_name(key, strlen(key), name);
    snprintf(path, sizeof path, "%s/%s", context->cache_dir, name);
    why = ipt__file_open(path, &file, &entry->bytes);
    if (!why) {
        why = ipt__file_check_folder(context->cache_dir);
        if (!why && entry->bytes)
            entry->owned = (unsigned char *)context->allocator.alloc(entry->bytes, context->allocator.user);
        if (entry->owned && ipt__file_read(file, entry->owned, entry->bytes))
            entry->payload = ipt__entry_open(entry->owned, entry->bytes, key);
        ipt__file_close(file);
        if (!why && !entry->payload)
            why = "it is damaged or another program's";
    }
    entry->data = entry->owned;
    if (!entry->payload) {
        ipt__release(&context->allocator, entry->owned);
        if (*why)
            ipt__log(context, "cache: %s is not used: %s", path, why);
    }
    return entry->payload != 0;
}

static void ipt__entry_store(const ipt_context *context, const char *key, const unsigned char *entry, size_t bytes)
{
    char name[IPT__ENTRY_NAME];
    const char *why;
    ipt__entry_name(key, strlen(key), name);
    why = ipt__folder_store(context->cache_dir, name, entry, bytes);
    if (why)
        ipt__log(context, "cache: nothing is stored in %s: %s", context->cache_dir, why);
    else
        ipt__folder_clean(context);
}

IPT_API ipt_result ipt_cache_store(const char *folder, const void *entry, size_t bytes)
{
    const unsigned char *const data = (const unsigned char *)entry;
    char name[IPT__ENTRY_NAME];
    const char *why;
    size_t payload;
    if (!folder || !entry)
        return ipt__fail_null(!folder ? "folder" : "entry");
    if (!*folder)
        return ipt__fail(IPT_ERROR_INVALID_ARGUMENT, "folder is empty");
    payload = ipt__entry_open(data, bytes, NULL);
    if (!payload)
        return ipt__fail(IPT_ERROR_INVALID_ARGUMENT, "entry: its %lu bytes are damaged or not an entry of ipt's cache",
                         (unsigned long)bytes);
    ipt__entry_name((const char *)data + IPT__ENTRY_HEAD, payload - IPT__ENTRY_HEAD, name);
    why = ipt__folder_store(folder, name, data, bytes);
    return why ? ipt__fail(IPT_ERROR_UNSUPPORTED, "folder: nothing can be stored in %s: %s", folder, why) : IPT_SUCCESS;
}

#else

static int ipt__entry_on_disk(const ipt_context *context, const char *key, ipt__entry *entry)
{
    (void)context, (void)key, (void)entry;
    return 0;
}

static void ipt__entry_store(const ipt_context *context, const char *key, const unsigned char *entry, size_t bytes)
{
    (void)context, (void)key, (void)entry, (void)bytes;
}

IPT_API ipt_result ipt_cache_store(const char *folder, const void *entry, size_t bytes)
{
    (void)bytes;
    if (!folder || !entry)
        return ipt__fail_null(!folder ? "folder" : "entry");
    return ipt__fail(IPT_ERROR_UNSUPPORTED, "folder: there is no disk cache: ipt was compiled with IPT_NO_DISK_CACHE");
}

#endif

/* What findings depend on. */
static void ipt__findings_key(const ipt_context *context, char key[IPT__KEY_BYTES])
{
    const ipt__limits *const limits = &context->limits;
    snprintf(key, IPT__KEY_BYTES, "ipt device\nversion %d\nlimits %lu %d %lu\n%s", IPT_VERSION,
             (unsigned long)limits->local_memory, limits->local_is_limited, (unsigned long)limits->largest_group,
             context->device_text);
}

enum {
#define IPT__FINDING_BYTES(type, field, minimum, maximum) +8
    IPT__FINDINGS_BYTES = 0 IPT__FINDING_LIST(IPT__FINDING_BYTES)
};

/* The findings as an entry of IPT__ENTRY_HEAD + strlen(key) + IPT__FINDINGS_BYTES bytes. */
static size_t ipt__findings_entry(const ipt_context *context, const char *key, unsigned char *entry)
{
    unsigned char *at = entry + IPT__ENTRY_HEAD + strlen(key);
    ipt__findings found = context->found;
    if (context->chunk_is_guess)
        found.chunk_bytes = 0;
#define IPT__FINDING_PUT(type, field, minimum, maximum)                                                                \
    ipt__put(at, (cl_ulong)found.field, 8);                                                                            \
    at += 8;
    IPT__FINDING_LIST(IPT__FINDING_PUT)
    ipt__entry_seal(entry, key, IPT__FINDINGS_BYTES);
    return (size_t)(at - entry);
}

static void ipt__findings_load(ipt_context *context)
{
    char key[IPT__KEY_BYTES];
    ipt__entry entry;
    ipt__findings_key(context, key);
    if (!ipt__entry_embedded(context, key, &entry) && !ipt__entry_on_disk(context, key, &entry))
        return;
    if (entry.bytes - entry.payload == IPT__FINDINGS_BYTES) {
        const unsigned char *at = entry.data + entry.payload;
#define IPT__FINDING_GET(type, field, minimum, maximum)                                                                \
    context->found.field = (type)ipt__min(ipt__size_of(ipt__get(at, 8)), maximum);                                     \
    at += 8;
        IPT__FINDING_LIST(IPT__FINDING_GET)
    }
    ipt__release(&context->allocator, entry.owned);
}

/* The caller holds probe_lock. */
static void ipt__findings_store(const ipt_context *context)
{
    char key[IPT__KEY_BYTES];
    unsigned char entry[(size_t)IPT__ENTRY_HEAD + IPT__KEY_BYTES + IPT__FINDINGS_BYTES];
    if (!context->cache_dir || !context->context)
        return;
    ipt__findings_key(context, key);
    ipt__entry_store(context, key, entry, ipt__findings_entry(context, key, entry));
}

/* Asks what code besides OpenCL C the device takes, and for the lines that tell it from others. */
static ipt_result ipt__read_code(ipt_context *context, cl_device_id device)
{
    static const cl_uint names[] = {CL_DEVICE_NAME, CL_DEVICE_VENDOR, CL_DRIVER_VERSION};
    static const char *const titles[] = {"device", "vendor", "driver"};
    ipt__text out = {context->device_text, sizeof context->device_text, 0};
    char extensions[4096], text[256];
    cl_platform_id platform;
    cl_bool compiler, unified;
    cl_ulong allocation;
    cl_uint major = 0, minor = 0, bits;
    ipt__questions asked = ipt__questions_to(device), curious = asked;
    int i;
    char *at;
    for (i = 0; i < 3; ++i) {
        ipt__ask_text(&asked, NULL, names[i], text, sizeof text);
        for (at = text; *at; ++at)
            *at = (unsigned char)*at < 32 ? ' ' : *at;
        ipt__text_add(&out, "%s %s\n", titles[i], text);
    }
    platform = ipt__ask_platform(&asked);
    *text = 0;
    if (platform)
        ipt__ask_text(&asked, platform, CL_PLATFORM_VERSION, text, sizeof text);
    for (at = text; *at; ++at)
        *at = (unsigned char)*at < 32 ? ' ' : *at;
    ipt__ask(&asked, CL_DEVICE_ADDRESS_BITS, &bits, sizeof bits);
    ipt__text_add(&out, "platform %s\nbits %u\n", text, (unsigned)bits);
    ipt__ask(&asked, CL_DEVICE_COMPILER_AVAILABLE, &compiler, sizeof compiler);
    context->compiler = compiler != 0;
    ipt__ask(&asked, CL_DEVICE_HOST_UNIFIED_MEMORY, &unified, sizeof unified);
    context->shares_memory = unified != 0;
    ipt__ask(&asked, CL_DEVICE_MAX_MEM_ALLOC_SIZE, &allocation, sizeof allocation);
    context->allocation = ipt__size_of(allocation);
    context->finishes_late = context->limits.cpu && ipt__platform_has_name(&asked, "portable computing language");
    context->forgets_failure = context->limits.cpu && ipt__platform_has_name(&asked, "intel(r) opencl");
    ipt__ask_text(&asked, NULL, CL_DEVICE_EXTENSIONS, extensions, sizeof extensions - 1);
    if (asked.call)
        return ipt__fail_unanswered(&asked);
    strcat(extensions, " ");
    context->takes_bitcode = ipt__contains(extensions, "cl_khr_spir ");
    context->has_half = ipt__contains(extensions, "cl_khr_fp16 ");
    context->has_double = ipt__contains(extensions, "cl_khr_fp64 ");
    /* CL_DEVICE_COMPUTE_CAPABILITY_MAJOR_NV and _MINOR_NV */
    if (context->limits.nvidia && !ipt__cl.clGetDeviceInfo(device, 0x4000, sizeof major, &major, NULL) &&
        !ipt__cl.clGetDeviceInfo(device, 0x4001, sizeof minor, &minor, NULL))
        context->capability = major * 10 + minor;
    ipt__ask_text(&curious, NULL, 0x105B, text, sizeof text); /* CL_DEVICE_IL_VERSION, which older ones have not */
    if (ipt__contains(text, "SPIR-V")) {
        void *found = ipt__cl.clGetExtensionFunctionAddressForPlatform(platform, "clCreateProgramWithILKHR");
        if (!found)
            found = ipt__cl.clGetExtensionFunctionAddressForPlatform(platform, "clCreateProgramWithIL");
        memcpy(&context->from_spirv, &found, sizeof found);
    }
    return IPT_SUCCESS;
}

/* ------------------------------------------------------------------------------------------------------------------ */
/* >>profiles                                                                                                         */
/* ------------------------------------------------------------------------------------------------------------------ */

/* Copies the next line of a text, without its end, and moves on to the one behind. 0 if there is none or it does not
 * fit. */
static int ipt__line_next(const char **text, char *line, size_t capacity)
{
    const size_t length = strcspn(*text, "\n");
    if (!**text || length >= capacity)
        return 0;
    memcpy(line, *text, length);
    line[length && line[length - 1] == '\r' ? length - 1 : length] = 0;
    *text += length;
    *text += **text == '\n';
    return 1;
}

/* A decimal number that ends with the text or before `stop`, which is skipped. 0 if there is none. */
static int ipt__number_next(const char **text, char stop, size_t *value)
{
    const char *at = *text;
    *value = 0;
    if (*at < '0' || *at > '9')
        return 0;
    for (; *at >= '0' && *at <= '9'; ++at) {
        const size_t digit = (size_t)(*at - '0');
        if (*value > ((size_t)-1 - digit) / 10)
            return 0;
        *value = *value * 10 + digit;
    }
    if (*at != stop)
        return 0;
    *text = at + (*at != 0);
    return 1;
}

#define IPT__PROFILE_TITLE "ipt profile 1"

/* Whether line is `name` and a number. */
static int ipt__line_number(const char *line, const char *name, size_t *value)
{
    const size_t length = strlen(name);
    const char *at = line + length + 1;
    return !strncmp(line, name, length) && line[length] == ' ' && ipt__number_next(&at, 0, value);
}

static ipt_result ipt__fail_line(const char *what, int number, const char *line, const char *expected)
{
    return ipt__fail(IPT_ERROR_INVALID_ARGUMENT, "%s, line %d: '%.80s' stands where %s should", what, number, line,
                     expected);
}

/* Makes of a profile the context that it describes. */
static ipt_result ipt__context_from_profile(ipt_context *context, const char *profile)
{
    static const char *const titles[] = {"device ", "vendor ", "driver ", "platform ", "bits "};
    ipt__text out = {context->device_text, sizeof context->device_text, 0};
    char line[512] = "";
    int number = 1, i;
    size_t value;
    if (!ipt__line_next(&profile, line, sizeof line) || strcmp(line, IPT__PROFILE_TITLE))
        return ipt__fail_line("profile", number, line, "'" IPT__PROFILE_TITLE "'");
    for (i = 0; i < 5; ++i) {
        *line = 0;
        ++number;
        if (!ipt__line_next(&profile, line, sizeof line) || strncmp(line, titles[i], strlen(titles[i])))
            return ipt__fail_line("profile", number, line, titles[i]);
        ipt__text_add(&out, "%s\n", line);
        if (out.length >= out.capacity)
            return ipt__fail_line("profile", number, line, "a shorter line");
    }
    if (!ipt__line_number(line, "bits", &value))
        return ipt__fail_line("profile", number, line, "bits and a number");
    context->has_half = context->has_double = 1; /* the profile does not tell */
#define IPT__PROFILE_READ(type, field, minimum, maximum, target)                                                       \
    *line = 0;                                                                                                         \
    ++number;                                                                                                          \
    if (!ipt__line_next(&profile, line, sizeof line) || !ipt__line_number(line, #field, &value) ||                     \
        value + 1 < (minimum) + 1u || value > (maximum))                                                               \
        return ipt__fail_line("profile", number, line, #field " and a number");                                        \
    target.field = (type)value;
#define IPT__PROFILE_READ_LIMIT(type, field, minimum, maximum)                                                         \
    IPT__PROFILE_READ(type, field, minimum, maximum, context->limits)
#define IPT__PROFILE_READ_FINDING(type, field, minimum, maximum)                                                       \
    IPT__PROFILE_READ(type, field, minimum, maximum, context->found)
    IPT__LIMIT_LIST(IPT__PROFILE_READ_LIMIT)
    IPT__FINDING_LIST(IPT__PROFILE_READ_FINDING)
    *line = 0;
    ++number;
    if (!ipt__line_next(&profile, line, sizeof line) || strcmp(line, "end"))
        return ipt__fail_line("profile", number, line, "'end'");
    if (ipt__line_next(&profile, line, sizeof line) || *profile)
        return ipt__fail_line("profile", number + 1, line, "the text's end");
    return IPT_SUCCESS;
}

/* ------------------------------------------------------------------------------------------------------------------ */
/* >>context: creation                                                                                                */
/* ------------------------------------------------------------------------------------------------------------------ */

static void ipt__pinned_free(ipt_context *context, ipt__pinned *pinned);

static void ipt__program_free(const ipt_context *context, ipt__program *program)
{
    if (program->program)
        ipt__cl.clReleaseProgram(program->program);
    ipt__release(&context->allocator, program->source);
    ipt__release(&context->allocator, program->expression);
    ipt__release(&context->allocator, program);
}

static void ipt__wisdom_free(const ipt_context *context, ipt__wisdom *wisdom)
{
    while (wisdom) {
        ipt__wisdom *const next = wisdom->next;
        ipt__release(&context->allocator, wisdom);
        wisdom = next;
    }
}

static void ipt__context_free(ipt_context *context)
{
    const ipt_allocator allocator = context->allocator;
    while (context->pinned) {
        ipt__pinned *const pinned = context->pinned;
        context->pinned = pinned->next;
        ipt__pinned_free(context, pinned);
    }
    while (context->programs) {
        ipt__program *const program = context->programs;
        context->programs = program->next;
        ipt__program_free(context, program);
    }
    ipt__wisdom_free(context, context->wisdom);
    ipt__release(&allocator, context->cache_dir);
    if (context->cooperative_last)
        ipt__cl.clReleaseEvent(context->cooperative_last);
    if (context->queue)
        ipt__cl.clReleaseCommandQueue(context->queue);
    if (context->context)
        ipt__cl.clReleaseContext(context->context);
    if (context->device)
        ipt__cl.clReleaseDevice(context->device);
    IPT_LOCK_DESTROY(&context->cooperative_lock);
    IPT_LOCK_DESTROY(&context->probe_lock);
    IPT_LOCK_DESTROY(&context->lock);
    ipt__release(&allocator, context);
}

/* Retains or makes all that a context holds of OpenCL. */
static ipt_result ipt__context_open(ipt_context *context, const ipt_context_desc *desc, cl_device_id device)
{
    cl_int error = ipt__cl.clRetainDevice(device);
    if (error)
        return ipt__fail_opencl("clRetainDevice", error);
    context->device = device;
    if (desc->context) {
        error = ipt__cl.clRetainContext(desc->context);
        if (error)
            return ipt__fail_opencl("clRetainContext", error);
        context->context = desc->context;
    } else {
        context->context = ipt__cl.clCreateContext(NULL, 1, &device, NULL, NULL, &error);
        if (error)
            return ipt__fail_opencl("clCreateContext", error);
    }
    context->queue = ipt__cl.clCreateCommandQueue(context->context, device,
                                                  (cl_command_queue_properties)CL_QUEUE_PROFILING_ENABLE, &error);
    if (error)
        return ipt__fail_opencl("clCreateCommandQueue", error);
    return ipt__read_code(context, device);
}

/* Where compiled programs may come from, and what is known about the device already. */
static ipt_result ipt__context_take_cache(ipt_context *context, const ipt_context_desc *desc)
{
#ifndef IPT_NO_DISK_CACHE
    char folder[IPT__PATH_BYTES];
    const char *wanted = desc->cache_dir ? desc->cache_dir : getenv("IPT_CACHE_DIR");
#if !defined(_WIN32)
    if (!desc->cache_dir && (getuid() != geteuid() || getgid() != getegid()))
        wanted = ""; /* the environment is another user's than the one whose files these would be */
#endif
    if (!wanted) {
        ipt__folder_default(folder, sizeof folder);
        wanted = folder;
    }
    if (strlen(wanted) >= sizeof folder - IPT__PATH_REST) {
        ipt__log(context, "cache: the name of the folder is too long, nothing is kept on disk");
        wanted = "";
    }
    if (*wanted && context->context) {
        context->cache_dir = (char *)ipt__allocate(&context->allocator, strlen(wanted) + 1);
        if (!context->cache_dir)
            return IPT_ERROR_OUT_OF_MEMORY;
        strcpy(context->cache_dir, wanted);
    }
#endif
    context->cache_limit = desc->cache_limit ? desc->cache_limit : (size_t)IPT__CACHE_LIMIT;
    context->binaries = desc->binaries;
    context->binary_count = desc->binary_count;
    if (context->context)
        ipt__findings_load(context);
    return IPT_SUCCESS;
}

IPT_API ipt_result ipt_context_create(const ipt_context_desc *desc, ipt_context **context)
{
    ipt_context_desc wanted;
    ipt__limits limits;
    cl_device_id device = NULL;
    ipt_context *made;
    ipt_result result;
    if (!context)
        return ipt__fail_null("context");
    *context = NULL;
    memset(&wanted, 0, sizeof wanted);
    memset(&limits, 0, sizeof limits);
    if (desc)
        wanted = *desc;
    if (!wanted.allocator.alloc != !wanted.allocator.free)
        return ipt__fail(IPT_ERROR_INVALID_ARGUMENT, "allocator.%s is NULL: set alloc and free both or neither",
                         wanted.allocator.alloc ? "free" : "alloc");
    if (wanted.max_local_memory && wanted.max_local_memory < 1024)
        return ipt__fail(IPT_ERROR_INVALID_ARGUMENT, "max_local_memory is %lu bytes: at least 1024 are needed",
                         (unsigned long)wanted.max_local_memory);
    if (!wanted.allocator.alloc) {
        wanted.allocator.alloc = ipt__default_alloc;
        wanted.allocator.free = ipt__default_free;
    }
    if (wanted.binary_count && !wanted.binaries)
        return ipt__fail_null("binaries");
    if (wanted.profile) {
        if (wanted.context || wanted.device || wanted.device_name)
            return ipt__fail(IPT_ERROR_INVALID_ARGUMENT, "profile and %s: a profile stands in the place of a device",
                             wanted.context  ? "context"
                             : wanted.device ? "device"
                                             : "device_name");
    } else {
        result = ipt__load();
        if (!result)
            result = ipt__choose_device(&wanted, &device);
        if (!result)
            result = ipt__read_limits(&wanted, device, &limits);
        if (result)
            return result;
    }

    made = (ipt_context *)ipt__allocate(&wanted.allocator, sizeof *made);
    if (!made)
        return IPT_ERROR_OUT_OF_MEMORY;
    IPT_LOCK_INIT(&made->lock);
    IPT_LOCK_INIT(&made->probe_lock);
    IPT_LOCK_INIT(&made->cooperative_lock);
    made->references = 1;
    made->limits = limits;
    made->allocator = wanted.allocator;
    made->logger = wanted.logger;
    result =
        wanted.profile ? ipt__context_from_profile(made, wanted.profile) : ipt__context_open(made, &wanted, device);
    if (!result)
        result = ipt__context_take_cache(made, &wanted);
    if (result)
        ipt__context_free(made);
    else
        *context = made;
    return result;
}

IPT_API cl_context ipt_context_cl_context(const ipt_context *context)
{
    return context ? context->context : NULL;
}

IPT_API cl_device_id ipt_context_cl_device(const ipt_context *context)
{
    return context ? context->device : NULL;
}

static void ipt__context_retain(ipt_context *context)
{
    IPT_LOCK_ACQUIRE(&context->lock);
    ++context->references;
    IPT_LOCK_RELEASE(&context->lock);
}

IPT_API void ipt_context_destroy(ipt_context *context)
{
    size_t left;
    if (!context)
        return;
    IPT_LOCK_ACQUIRE(&context->lock);
    left = --context->references;
    IPT_LOCK_RELEASE(&context->lock);
    if (!left)
        ipt__context_free(context);
}

/* ------------------------------------------------------------------------------------------------------------------ */
/* >>programs                                                                                                         */
/* ------------------------------------------------------------------------------------------------------------------ */

/* The compiler's log into the error text, cut to fit, and whole to the logger. */
static ipt_result ipt__fail_build(const ipt_context *context, cl_program program, ipt__kernel_id id, cl_int error)
{
    size_t bytes = 0;
    char *log = NULL;
    ipt_result result;
    if (!ipt__cl.clGetProgramBuildInfo(program, context->device, CL_PROGRAM_BUILD_LOG, 0, NULL, &bytes) && bytes)
        log = (char *)ipt__allocate(&context->allocator, bytes + 1);
    if (log && ipt__cl.clGetProgramBuildInfo(program, context->device, CL_PROGRAM_BUILD_LOG, bytes, log, NULL))
        log[0] = 0;
    if (log && context->logger.log)
        context->logger.log(log, context->logger.user);
    /* Want of memory is not the text's fault, and must not be remembered as such. */
    result =
        ipt__fail(error == CL_OUT_OF_HOST_MEMORY || error == CL_MEM_OBJECT_ALLOCATION_FAILURE ? IPT_ERROR_OUT_OF_MEMORY
                                                                                              : IPT_ERROR_BUILD,
                  "clBuildProgram failed with %s (%d) on %s: %s", ipt__cl_error(error), (int)error,
                  ipt__kernels[id].file, log ? log : "no log");
    ipt__release(&context->allocator, log);
    return result;
}

/* Sets all arguments of a kernel; `second` and local_bytes if it takes them. */
static cl_int ipt__set_arguments(cl_kernel kernel, const ipt__kernel_info *info, cl_mem first, cl_mem second,
                                 size_t local_bytes, const void *arguments)
{
    size_t offset = 0;
    cl_uint position = 0, i;
    cl_int error = ipt__cl.clSetKernelArg(kernel, position++, sizeof first, &first);
    if (!error && info->memories == 2)
        error = ipt__cl.clSetKernelArg(kernel, position++, sizeof second, &second);
    if (!error && info->local)
        error = ipt__cl.clSetKernelArg(kernel, position++, local_bytes, NULL);
    for (i = 0; i < info->argument_count && !error; ++i) {
        const size_t bytes = info->argument_bytes[i];
        offset = ipt__round_up(offset, bytes);
        error = ipt__cl.clSetKernelArg(kernel, position++, bytes, (const char *)arguments + offset);
        offset += bytes;
    }
    return error;
}

/* The options that a program is built with. */
static const char *ipt__program_options(const ipt_context *context, const ipt__params *params)
{
    const int later = context->limits.standard > 12 && (params->memory_model == 3 || params->sub_group >= 2);
    return !later ? "-cl-std=CL1.2" : context->limits.standard == 20 ? "-cl-std=CL2.0" : "-cl-std=CL3.0";
}

/* Writes the specialised text of a program. */
static ipt_result ipt__program_write(const ipt_context *context, ipt__program *program)
{
    ipt__text text = {NULL, 0, 0};
    ipt__source_print(&text, program->id, &program->params);
    text.capacity = text.length + 1;
    text.length = 0;
    program->source = text.text = (char *)ipt__allocate(&context->allocator, text.capacity);
    if (!program->source)
        return IPT_ERROR_OUT_OF_MEMORY;
    ipt__source_print(&text, program->id, &program->params);
    ipt__hash_text(program->source, text.length, program->hash, 64);
    program->options = ipt__program_options(context, &program->params);
    return IPT_SUCCESS;
}

/* All that the code of a program depends on. target: what portable code is for; NULL: the device's own, which depends
 * on the driver as well. */
static void ipt__program_key(const ipt_context *context, const ipt__program *program, const char *target,
                             char key[IPT__KEY_BYTES])
{
    ipt__text out = {NULL, IPT__KEY_BYTES, 0};
    out.text = key;
    ipt__text_add(&out, "ipt program\nsource %s\n", program->hash);
    if (target)
        ipt__text_add(&out, "target %s\n", target);
    else
        ipt__text_add(&out, "options %s\n%s", program->options, context->device_text);
    ipt__text_add(&out, "kernel %s ", ipt__kernels[program->id].name);
    ipt__params_print(&out, &program->params, ipt__kernels[program->id].uses); /* a long expression is cut */
}

/* Launches a program with one work-group and next to nothing to do, so that PoCL finishes it: all arguments are 1,
 * which every kernel takes for one element that stays where it is. */
static int ipt__program_finish(const ipt_context *context, const ipt__program *program)
{
    const ipt__kernel_info *const info = &ipt__kernels[program->id];
    const size_t size = program->params.group_size;
    const cl_uint one = 1, zero = 0;
    const cl_ulong long_one = 1;
    cl_ulong arguments[64];
    size_t offset = 0;
    cl_uint i;
    cl_mem memory = NULL;
    cl_int error;
    cl_kernel kernel = ipt__cl.clCreateKernel(program->program, info->name, &error);
    if (error)
        return 0;
    for (i = 0; i < info->argument_count; ++i) {
        const size_t bytes = info->argument_bytes[i];
        offset = ipt__round_up(offset, bytes);
        memcpy((char *)arguments + offset, bytes == sizeof one ? (const void *)&one : (const void *)&long_one, bytes);
        offset += bytes;
    }
    memory = ipt__cl.clCreateBuffer(context->context, CL_MEM_READ_WRITE, IPT__FINISH_BYTES, NULL, &error);
    if (!error)
        error = ipt__cl.clEnqueueFillBuffer(context->queue, memory, &zero, sizeof zero, 0, IPT__FINISH_BYTES, 0, NULL,
                                            NULL);
    if (!error)
        error = ipt__set_arguments(kernel, info, memory, memory, 4096, arguments);
    if (!error)
        error = ipt__cl.clEnqueueNDRangeKernel(context->queue, kernel, 1, NULL, &size, &size, 0, NULL, NULL);
    if (!error)
        error = ipt__cl.clFinish(context->queue);
    if (memory)
        ipt__cl.clReleaseMemObject(memory);
    ipt__cl.clReleaseKernel(kernel);
    return !error;
}

/* What the device's compiler has made of a program, behind `before` bytes of room; *bytes: both. NULL if that is not to
 * be had. */
static unsigned char *ipt__program_code(const ipt_context *context, const ipt__program *program, size_t before,
                                        size_t *bytes)
{
    cl_device_id devices[64];
    size_t sizes[64], count, i;
    unsigned char *pointers[64], *code;
    if (context->finishes_late && !ipt__program_finish(context, program))
        return NULL;
    if (ipt__cl.clGetProgramInfo(program->program, CL_PROGRAM_DEVICES, sizeof devices, devices, &count))
        return NULL;
    count /= sizeof *devices;
    if (ipt__cl.clGetProgramInfo(program->program, CL_PROGRAM_BINARY_SIZES, sizeof sizes, sizes, NULL))
        return NULL;
    for (i = 0; i < count && devices[i] != context->device; ++i)
        ;
    if (i == count || !sizes[i] || sizes[i] > IPT__ENTRY_MOST)
        return NULL;
    *bytes = before + sizes[i];
    code = (unsigned char *)context->allocator.alloc(*bytes, context->allocator.user);
    memset(pointers, 0, sizeof pointers);
    pointers[i] = code ? code + before : NULL;
    /* PoCL says so of code that it fails to make by setting the pointer to NULL. */
    if (code &&
        (ipt__cl.clGetProgramInfo(program->program, CL_PROGRAM_BINARIES, count * sizeof *pointers, pointers, NULL) ||
         pointers[i] != code + before)) {
        ipt__release(&context->allocator, code);
        code = NULL;
    }
    return code;
}

/* A program as an entry, which the caller releases; NULL if there is no code or no memory. code: what another compiler
 * has made of it for target; both NULL: what the device's own has. */
static unsigned char *ipt__program_entry(const ipt_context *context, const ipt__program *program, const char *target,
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
        /* Counted while other work had part of the device, they would be wrong for ever. */
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

static void ipt__program_store(const ipt_context *context, const ipt__program *program)
{
    char key[IPT__KEY_BYTES];
    unsigned char *entry;
    size_t bytes;
    if (!context->cache_dir || !program->program)
        return;
    entry = ipt__program_entry(context, program, NULL, NULL, 0, &bytes);
    if (!entry) {
        ipt__log(context, "cache: the device hands out no code of %s", ipt__kernels[program->id].name);
        return;
    }
    ipt__program_key(context, program, NULL, key);
    ipt__entry_store(context, key, entry, bytes);
    ipt__release(&context->allocator, entry);
}

/* The portable code that the device takes, one kind after the other: 1 and the target, 0: not this one, -1: no more. */
static int ipt__target_next(const ipt_context *context, int which, char target[64])
{
    const int ptx = (int)context->capability - (which - 3);
    switch (which) {
    case 0:
        strcpy(target, "spirv");
        return context->from_spirv != NULL;
    case 1:
        strcpy(target, "bitcode");
        return context->takes_bitcode;
    case 2: /* the device's name begins with that of its processor, "gfx90a:sramecc+:xnack-" */
        strcpy(target, "amdgcn:");
        return sscanf(context->device_text, "device %40[a-z0-9]", target + 7) == 1 && !strncmp(target + 7, "gfx", 3);
    default: /* code for older devices serves as well */
        sprintf(target, "ptx:sm_%d", ptx);
        return ptx < 30 ? -1 : 1;
    }
}

/* Makes a program of an entry that has been checked. The device may still refuse it. */
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
    program->program = spirv ? context->from_spirv(context->context, code, bytes, &error)
                             : ipt__cl.clCreateProgramWithBinary(context->context, 1, &context->device, &bytes,
                                                                 (const unsigned char **)&code, NULL, &error);
    if (!error)
        error = ipt__cl.clBuildProgram(program->program, 1, &context->device, bitcode ? "-x spir -spir-std=1.2" : NULL,
                                       NULL, NULL);
    if (error) {
        if (program->program)
            ipt__cl.clReleaseProgram(program->program);
        program->program = NULL;
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

/* Looks for a program among the embedder's and on disk, first the device's own code and then portable one. */
static int ipt__program_load(const ipt_context *context, ipt__program *program)
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
        if (which > 0) /* what the device makes of it takes less time the next time */
            ipt__program_store(context, program);
    }
    return loaded;
}

/* Makes a program: finds it compiled, or compiles it. */
static ipt_result ipt__program_make(const ipt_context *context, ipt__program *program, int cache_only)
{
    const char *source;
    cl_int error;
    const ipt_result result = ipt__program_write(context, program);
    if (result || !context->context)
        return result;
    if (ipt__program_load(context, program))
        return IPT_SUCCESS;
    if (cache_only || !context->compiler) {
        char key[IPT__KEY_BYTES], *at;
        ipt__program_key(context, program, NULL, key);
        for (at = key; *at; ++at)
            *at = *at == '\n' ? ',' : *at;
        return ipt__fail(IPT_ERROR_CACHE_MISS,
                         "%s, and neither %lu embedded entries nor %s have, as the device's own code or portable code "
                         "that it takes: %s",
                         cache_only ? "IPT_CACHE_ONLY: nothing is compiled" : "the device has no compiler",
                         (unsigned long)context->binary_count,
                         context->cache_dir ? context->cache_dir : "a cache folder (there is none)", key);
    }
    source = program->source;
    program->program = ipt__cl.clCreateProgramWithSource(context->context, 1, &source, NULL, &error);
    if (error)
        return ipt__fail_opencl("clCreateProgramWithSource", error);
    error = ipt__cl.clBuildProgram(program->program, 1, &context->device, program->options, NULL, NULL);
    if (error)
        return ipt__fail_build(context, program->program, program->id, error);
    ipt__log(context, "built %s", ipt__kernels[program->id].name);
    ipt__program_store(context, program);
    return IPT_SUCCESS;
}

/* Copies an expression and its type into one allocation; NULL if there is no memory. */
static char *ipt__copy_expression(const ipt_allocator *allocator, const char *expression, const char *type,
                                  const char **copied_expression, const char **copied_type)
{
    const size_t bytes = strlen(expression) + 1, type_bytes = strlen(type) + 1;
    char *const copy = (char *)ipt__allocate(allocator, bytes + type_bytes);
    if (copy) {
        memcpy(copy, expression, bytes);
        memcpy(copy + bytes, type, type_bytes);
        *copied_expression = copy;
        *copied_type = copy + bytes;
    }
    return copy;
}

/* The program of a kernel for params, made unless the context has it. The caller has a hold of it then, and lets it go
 * with ipt__program_drop. */
static ipt_result ipt__program_get(ipt_context *context, ipt__kernel_id id, const ipt__params *params, int cache_only,
                                   ipt__program **found)
{
    ipt_result result = IPT_SUCCESS;
    ipt__program *program, **end = &context->programs;
    IPT_LOCK_ACQUIRE(&context->lock); /* held while building: two plans never build the same program */
    for (program = context->programs; program; program = program->next) {
        if (program->id == id && ipt__params_equal(&program->params, params))
            break;
        end = &program->next;
    }
    if (!program) {
        program = (ipt__program *)ipt__allocate(&context->allocator, sizeof *program);
        if (!program)
            result = IPT_ERROR_OUT_OF_MEMORY;
        else {
            program->id = id;
            program->params = *params;
            if (params->apply)
                program->expression =
                    ipt__copy_expression(&context->allocator, params->expression, params->expression_type,
                                         &program->params.expression, &program->params.expression_type);
            result = params->apply && !program->expression ? IPT_ERROR_OUT_OF_MEMORY
                                                           : ipt__program_make(context, program, cache_only);
            if (!result)
                *end = program;
            else {
                ipt__program_free(context, program);
                program = NULL;
            }
        }
    }
    if (program)
        ++program->references;
    IPT_LOCK_RELEASE(&context->lock);
    *found = program;
    return result;
}

/* Lets a program go; NULL is fine. */
static void ipt__program_drop(ipt_context *context, ipt__program *program)
{
    if (!program)
        return;
    IPT_LOCK_ACQUIRE(&context->lock);
    --program->references;
    IPT_LOCK_RELEASE(&context->lock);
}

IPT_API void ipt_context_trim(ipt_context *context)
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

/* Program `index` with a hold of it, or NULL; *count: how many there are. */
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

IPT_API size_t ipt_context_entry_count(const ipt_context *context)
{
    size_t count = 0;
    if (!context)
        return 0;
    ipt__program_at((ipt_context *)context, (size_t)-1, &count);
    return count + 1;
}

IPT_API const char *ipt_context_entry_source(const ipt_context *context, size_t index, const char **options)
{
    size_t count;
    ipt__program *const program = context ? ipt__program_at((ipt_context *)context, index, &count) : NULL;
    const char *const source = program ? program->source : NULL;
    if (options)
        *options = program ? program->options : NULL;
    if (context)
        ipt__program_drop((ipt_context *)context, program);
    return source;
}

/* Whether text names a target of ipt_context_entry. */
static int ipt__target_is_known(const char *text)
{
    const char *const name = !strncmp(text, "ptx:sm_", 7) ? text + 7 : !strncmp(text, "amdgcn:", 7) ? text + 7 : NULL;
    if (!name)
        return !strcmp(text, "spirv") || !strcmp(text, "bitcode");
    return *name && strlen(name) < 40 &&
           strspn(name, text[0] == 'p' ? "0123456789" : "abcdefghijklmnopqrstuvwxyz0123456789") == strlen(name);
}

IPT_API ipt_result ipt_context_entry(ipt_context *context, size_t index, const char *target, const void *code,
                                     size_t code_bytes, void *entry, size_t capacity, size_t *bytes)
{
    ipt__program *program;
    size_t count, needed = 0;
    unsigned char *made;
    if (!context || !bytes || (target && !code))
        return ipt__fail_null(!context ? "context" : !bytes ? "bytes" : "code");
    *bytes = 0;
    if (!target && code)
        return ipt__fail(IPT_ERROR_INVALID_ARGUMENT, "target is NULL, but code is not");
    if (target && !ipt__target_is_known(target))
        return ipt__fail(IPT_ERROR_INVALID_ARGUMENT,
                         "target is %.80s: ptx:sm_NN, bitcode, spirv or amdgcn:NAME is needed", target);
    if (target && (!code_bytes || code_bytes > IPT__ENTRY_MOST / 2))
        return ipt__fail(IPT_ERROR_INVALID_ARGUMENT, "code_bytes is %lu", (unsigned long)code_bytes);
    program = ipt__program_at(context, index, &count);
    if (index > count || (index == count && target))
        return ipt__fail(IPT_ERROR_INVALID_ARGUMENT, "index is %lu: the context has %lu %s", (unsigned long)index,
                         (unsigned long)count + !target, target ? "programs" : "entries");
    if (!program) {
        char key[IPT__KEY_BYTES];
        unsigned char findings[(size_t)IPT__ENTRY_HEAD + IPT__KEY_BYTES + IPT__FINDINGS_BYTES];
        IPT_LOCK_ACQUIRE(&context->probe_lock);
        ipt__findings_key(context, key);
        needed = ipt__findings_entry(context, key, findings);
        IPT_LOCK_RELEASE(&context->probe_lock);
        if (entry && capacity >= needed)
            memcpy(entry, findings, needed);
    } else if (!program->program && !target) {
        ipt__program_drop(context, program);
        return ipt__fail(IPT_ERROR_UNSUPPORTED,
                         "target is NULL, and the context has no device whose code that would be");
    } else {
        IPT_LOCK_ACQUIRE(&context->probe_lock);
        made = ipt__program_entry(context, program, target, code, code_bytes, &needed);
        IPT_LOCK_RELEASE(&context->probe_lock);
        if (made && entry && capacity >= needed)
            memcpy(entry, made, needed);
        ipt__program_drop(context, program);
        if (!made)
            return ipt__fail(target ? IPT_ERROR_OUT_OF_MEMORY : IPT_ERROR_OPENCL,
                             "the device hands out no code of entry %lu, or there is no memory for it",
                             (unsigned long)index);
        ipt__release(&context->allocator, made);
    }
    *bytes = needed;
    if (entry && capacity < needed)
        return ipt__fail(IPT_ERROR_INVALID_ARGUMENT, "capacity is %lu: %lu bytes are needed", (unsigned long)capacity,
                         (unsigned long)needed);
    return IPT_SUCCESS;
}

/* ------------------------------------------------------------------------------------------------------------------ */
/* >>probing: what only a running program can tell */
/* ------------------------------------------------------------------------------------------------------------------ */

/* Runs a program with `words` as both of its buffers, and reads them back. 0 if that fails. */
static int ipt__run_probe(ipt_context *context, const ipt__program *program, const void *arguments, size_t global,
                          cl_uint *words, size_t bytes)
{
    const size_t local = program->params.group_size;
    cl_mem memory = NULL;
    cl_int error;
    cl_kernel kernel = ipt__cl.clCreateKernel(program->program, ipt__kernels[program->id].name, &error);
    if (error)
        return 0;
    memory = ipt__cl.clCreateBuffer(context->context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, bytes, words, &error);
    if (!error)
        error = ipt__set_arguments(kernel, &ipt__kernels[program->id], memory, memory, 0, arguments);
    if (!error)
        error = ipt__cl.clEnqueueNDRangeKernel(context->queue, kernel, 1, NULL, &global, &local, 0, NULL, NULL);
    if (!error)
        error = ipt__cl.clEnqueueReadBuffer(context->queue, memory, CL_TRUE, 0, bytes, words, 0, NULL, NULL);
    if (memory)
        ipt__cl.clReleaseMemObject(memory);
    ipt__cl.clReleaseKernel(kernel);
    return !error;
}

/* Runs a panel program with nothing to do but to count the work-groups that run at the same time. 0 if it does not run.
 */
static size_t ipt__count_resident(ipt_context *context, const ipt__program *program)
{
    const size_t global = context->limits.compute_units * 64 * program->params.group_size;
    cl_uint words[IPT__CONTROL_WORDS + 1] = {0};
    ipt__panel_arguments a;
    memset(&a, 0, sizeof a);
    a.probe_polls = IPT__PROBE_POLLS;
    a.waits = a.tickets = a.orders = a.packs = a.pack = a.panels = a.across = a.down = a.blocks = a.run_lanes = 1;
    a.short_side = a.length = a.chunk_x = a.chunk_y = a.block_rows = 1;
    return ipt__run_probe(context, program, &a, global, words, sizeof words) ? words[1] : 0; /* IPT_CLOSED_AT */
}

/* Counts the work-groups of a panel program that run at the same time, unless that is known. Fewer than one to a
 * compute unit: other work may have had the device when they were counted, so some later plans count again. */
static void ipt__find_residency(ipt_context *context, ipt__program *program)
{
    const ipt__limits *const limits = &context->limits;
    size_t counted;
    if (program->resident &&
        (program->resident >= limits->compute_units || limits->resident_groups || program->counts >= IPT__COUNTS))
        return;
    ++program->counts;
    counted = context->context ? ipt__count_resident(context, program) : limits->resident_groups;
    if (counted && limits->resident_groups)
        counted = limits->resident_groups;
    ipt__log(context, "%lu work-groups of %s with %lu bytes of local memory run at the same time",
             (unsigned long)counted, ipt__kernels[program->id].name, (unsigned long)program->params.local_bytes);
    if (counted <= program->resident)
        return;
    program->resident = counted;
    ipt__program_store(context, program);
}

/* The panel program for a unit, with as much local memory as the device turns out to have, and its residency. *found is
 * NULL if there is none that works. */
static ipt_result ipt__panel_get(ipt_context *context, ipt__params params, int cache_only, ipt__program **found,
                                 size_t *resident)
{
    const ipt__limits *const limits = &context->limits;
    /* NVIDIA reports 48 KiB, which is what a kernel argument may have; an array in the kernel may have what there is.
     */
    size_t tries[2] = {0, 0};
    int i, missed = 0, failed = 0;
    ipt_result result = IPT_SUCCESS;
    *found = NULL;
    *resident = 0;
    IPT_LOCK_ACQUIRE(&context->probe_lock);
    tries[0] = context->found.chunk_bytes;
    if (!context->found.chunk_bytes) {
        tries[0] = limits->nvidia && !limits->local_is_limited && limits->largest_group >= IPT__CHUNK_GROUP_LARGE
                       ? (size_t)IPT__CHUNK_BYTES_LARGE
                       : 0;
        tries[1] =
            limits->local_memory < 8192 ? 0 : ipt__min(limits->local_memory - 4352, IPT__CHUNK_BYTES) / 1024 * 1024;
        if (tries[1] < 2048)
            tries[1] = 0;
    }
    for (i = 0; i < 2 && !*found && (!result || result == IPT_ERROR_CACHE_MISS); ++i) {
        ipt__program *program = NULL;
        if (tries[i] <= IPT__NO_CHUNKS)
            continue;
        params.local_bytes = (cl_uint)tries[i];
        params.group_size =
            tries[i] == IPT__CHUNK_BYTES_LARGE ? (cl_uint)IPT__CHUNK_GROUP_LARGE : (cl_uint)limits->group_size;
        if (!ipt__params_reduce(&params, ipt__kernels[IPT__KERNEL_panel].uses))
            continue;
        result = ipt__program_get(context, IPT__KERNEL_panel, &params, cache_only, &program);
        missed |= result == IPT_ERROR_CACHE_MISS;
        if (result == IPT_ERROR_BUILD)
            result = IPT_SUCCESS;
        if (program)
            ipt__find_residency(context, program);
        if (program && program->resident) {
            *found = program;
            *resident = program->resident;
        } else {
            failed |= program != NULL && context->context; /* other work may have had the device's memory */
            ipt__program_drop(context, program);
        }
    }
    if (!context->found.chunk_bytes && !result && !missed) {
        context->found.chunk_bytes = *found ? (*found)->params.local_bytes : (size_t)IPT__NO_CHUNKS;
        context->chunk_is_guess = failed;
        ipt__findings_store(context);
    }
    IPT_LOCK_RELEASE(&context->probe_lock);
    return result;
}

/* Has a program of chains transpose a rows x cols grid of super-elements of `units` units, and compares every byte with
 * what should be there. `groups` work-groups share the flags. 1: all are right; -1: there is no memory to try it. A
 * device's sub-groups may be sound one by one and wrong together: PoCL 6.0 mixes up the results of two reductions that
 * no barrier separates. */
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
    a.slots = rows * cols;
    a.words = a.total_words = flag_words;
    a.words_each = ipt__ceil_divide(flag_words, groups);
    a.rows = rows;
    a.cols = cols;
    a.row_stride = a.super_units = units;
    a.piece_units = (cl_uint)units;
    ipt__divider(cols, params->index_bits, &a.cols_magic, &a.cols_shift);
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

/* Tries a program of chains: looks at the device's sub-groups, then transposes with short and with the longest pieces,
 * with more flags to a work-group than its work-items look at in one step. *lanes: the size of the sub-groups; 1 if
 * they do not do what they should; 0 if the program does not run. */
static ipt_result ipt__find_lanes(ipt_context *context, const ipt__program *program, size_t *lanes)
{
    const ipt__params *const params = &program->params;
    const size_t local = params->group_size, global = 4 * local;
    const size_t longest = (16 * (size_t)params->piece_quanta - 31) / params->unit_bytes + 1;
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

/* Fills in the sub-groups of a program of chains. Only the program itself can tell how large the device makes them: if
 * otherwise than expected, it is built for what they are. Work-groups take their place where they do not build or do
 * not do what they should. */
static ipt_result ipt__sub_groups_get(ipt_context *context, ipt__params *params, int cache_only)
{
    ipt_result result = IPT_SUCCESS;
    size_t lanes = context->limits.lanes, found = 0;
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
                ipt__log(context, "%s moves data wrongly by this device's sub-groups: work-groups take their place",
                         ipt__kernels[program->id].name);
            else
                ipt__log(context, "sub-groups of %lu work-items, %lu were expected, in %s",
                         (unsigned long)program->lanes, (unsigned long)lanes, ipt__kernels[program->id].name);
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

/* The least local memory that has been seen not to build, or 0; whether so much has; remembering that. */
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

/* ------------------------------------------------------------------------------------------------------------------ */
/* >>profiles: writing                                                                                                */
/* ------------------------------------------------------------------------------------------------------------------ */

/* Tries what plans may try some day: the panels' local memory and residency, the largest packs, sub-groups, which are
 * refused if they are not what chains need. */
static ipt_result ipt__profile_measure(ipt_context *context, size_t *resident, size_t *lanes, int *refused)
{
    static const size_t large[] = {231424, IPT__SWAP_BYTES, IPT__CHUNK_BYTES_LARGE, 56320};
    const ipt__limits *const limits = &context->limits;
    ipt__program *program = NULL;
    ipt__params params;
    ipt_result result = IPT_SUCCESS;
    int i;
    *resident = 0;
    memset(&params, 0, sizeof params);
    params.unit_bytes = 4;
    params.element_units = params.tall = 1;
    params.index_bits = 32;
    params.memory_model = (cl_uint)limits->memory_model;
    if (limits->cooperative && limits->group_size >= 64)
        result = ipt__panel_get(context, params, 0, &program, resident);
    ipt__program_drop(context, program);
    for (i = 0; i < 4 && !result && limits->nvidia && !limits->local_is_limited; ++i) {
        params.group_size = (cl_uint)limits->group_size;
        params.local_bytes = (cl_uint)large[i];
        if (ipt__local_refused(context, large[i]) || !ipt__params_reduce(&params, ipt__kernels[IPT__KERNEL_pack].uses))
            continue;
        result = ipt__program_get(context, IPT__KERNEL_pack, &params, 0, &program);
        if (!result)
            ipt__program_drop(context, program);
        if (result == IPT_ERROR_BUILD) {
            ipt__refuse_local(context, large[i]);
            result = IPT_SUCCESS;
        }
    }
    memset(&params, 0, sizeof params);
    params.unit_bytes = 4;
    params.index_bits = 32;
    params.memory_model = (cl_uint)limits->memory_model;
    params.piece_quanta = 32;
    params.chains = 1;
    if (!result && !limits->cpu && limits->group_size >= 32)
        result = ipt__sub_groups_get(context, &params, 0);
    *lanes = limits->sub_group >= 2 && params.sub_group ? params.lanes : limits->lanes;
    *refused = limits->sub_group >= 2 && !params.sub_group;
    return result;
}

IPT_API ipt_result ipt_context_profile(ipt_context *context, char *text, size_t capacity, size_t *bytes)
{
    ipt__text out = {NULL, 0, 0};
    ipt__limits limits;
    ipt__findings found;
    int refused = 0;
    ipt_result result = IPT_SUCCESS;
    if (!context || (!text && capacity))
        return ipt__fail_null(context ? "text" : "context");
    limits = context->limits;
    if (context->context)
        result = ipt__profile_measure(context, &limits.resident_groups, &limits.lanes, &refused);
    if (result)
        return result;
    IPT_LOCK_ACQUIRE(&context->probe_lock);
    found = context->found;
    if (context->chunk_is_guess)
        found.chunk_bytes = 0;
    IPT_LOCK_RELEASE(&context->probe_lock);
    found.sub_groups_refused |= refused;
    out.text = text;
    out.capacity = capacity;
    ipt__text_add(&out, "%s\n%s", IPT__PROFILE_TITLE, context->device_text);
#define IPT__PROFILE_PRINT_LIMIT(type, field, minimum, maximum)                                                        \
    ipt__text_add(&out, #field " %lu\n", (unsigned long)limits.field);
#define IPT__PROFILE_PRINT_FINDING(type, field, minimum, maximum)                                                      \
    ipt__text_add(&out, #field " %lu\n", (unsigned long)found.field);
    IPT__LIMIT_LIST(IPT__PROFILE_PRINT_LIMIT)
    IPT__FINDING_LIST(IPT__PROFILE_PRINT_FINDING)
    ipt__text_add(&out, "end\n");
    if (bytes)
        *bytes = out.length + 1;
    if (out.length < capacity)
        return IPT_SUCCESS;
    if (capacity)
        *text = 0;
    return ipt__fail(IPT_ERROR_INVALID_ARGUMENT, "capacity is %lu: %lu bytes are needed", (unsigned long)capacity,
                     (unsigned long)out.length + 1);
}

/* ------------------------------------------------------------------------------------------------------------------ */
/* >>plan: stages                                                                                                     */
/* ------------------------------------------------------------------------------------------------------------------ */

typedef enum ipt__stage_kind {
    IPT__STAGE_SAVE,    /* rows x cols elements at origin are copied to the save area, transposed */
    IPT__STAGE_RESTORE, /* the save area is copied to rows of `length` elements at origin, row_stride apart */
    /* Each of the others transposes the instances of its grid: */
    IPT__STAGE_TILE,    /* instances held whole in local memory */
    IPT__STAGE_SWAP,    /* square instances, by tile pairs */
    IPT__STAGE_WAVE,    /* instances through slabs of global memory, as many at once as there are slabs */
    IPT__STAGE_PANEL,   /* instances by work-groups that hold a chunk each and wait for one another */
    IPT__STAGE_SHUFFLE, /* instances by cycle following with one flag bit per slot */
    /* What a plan does beside: */
    IPT__STAGE_FLIP, /* rows x cols elements: the sequence of rows, or each row, or both, reversed */
    IPT__STAGE_MAP,  /* the plan's expression, applied to every element */
    /* Only for the seeds' sake: */
    IPT__STAGE_PTTWAC_010, /* instances where they lie, by work-groups with flags in local memory */
    IPT__STAGE_P_IPT,      /* instances by cycle following without flags */
    IPT__STAGE_PAD         /* rows of `length` elements come to lie row_stride apart instead of origin */
} ipt__stage_kind;

typedef enum ipt__family {
    IPT__FAMILY_AUTO,
    IPT__FAMILY_BS,
    IPT__FAMILY_SWAP,
    IPT__FAMILY_PTTWAC_010,
    IPT__FAMILY_PTTWAC_100,
    IPT__FAMILY_P_IPT,
    IPT__FAMILY_PAD
} ipt__family;

/* The columns of IPT_VARIANT_LIST. */
typedef struct ipt__variant {
    const char *name;
    ipt__family family;
    cl_uint lanes, bank_padding, registers, flag_layout, interleaved;
} ipt__variant;
static const ipt__variant ipt__variants[] = {
#define IPT__VARIANT_ROW(enumerator, name, family, lanes, padding, registers, layout, interleaved)                     \
    {name, IPT__FAMILY_##family, lanes, padding, registers, layout, interleaved},
    IPT_VARIANT_LIST(IPT__VARIANT_ROW)};

/* How the rows of a tile lie in local memory: see ipt_fetch_rows in common.cl. */
typedef struct ipt__tile_layout {
    size_t pitch, skew, run_lanes;
} ipt__tile_layout;

/* How the cooperative panel kernel cuts a stage: see panel.cl. Lengths in elements. */
typedef struct ipt__chunks {
    size_t pack, packs; /* panels of an order, and orders without the tail */
    size_t orders;      /* with the tail */
    size_t x, y;        /* a chunk along the short and the long side */
    size_t across, down;
    size_t blocks, block_rows; /* what is read and waited for on its own, along the long side */
    ipt__tile_layout tile;
    int tall, narrow, neighbours, waits;
} ipt__chunks;

enum { IPT__MAX_STAGES = 8, IPT__MAX_KERNELS = 16 };

/* One stage: `instances` independent rows x cols grids of super-elements of `length` elements become cols x rows. */
typedef struct ipt__stage {
    ipt__stage_kind kind;
    size_t instances; /* in each matrix */
    size_t rows, cols, length;
    size_t inner_rows, inner_cols; /* each super-element is such a matrix and transposed on the way; 0: it is not */
    size_t origin;                 /* elements before the first instance, SAVE and RESTORE; see PAD */
    size_t row_slots, row_stride;  /* the slots lie on rows of row_slots slots, row_stride elements apart; 0: densely */
    int gapped_source;             /* WAVE on such a grid: the source lies on it, else the target */
    size_t matrices_at_once, instances_at_once; /* in one launch, as the workspace allows */
    size_t piece_units, pieces;                 /* SHUFFLE: parts of a super-element that are moved on their own */
    int kernels[2];                             /* in the plan; WAVE has two: transpose and copy */
    size_t tile_side, tile_bytes, tile_group;   /* SWAP: side of a tile, elements; local memory, work-items of two */
    ipt__tile_layout tile;                      /* of it, if larger than 32 */
    size_t pack_bytes, pack_group;              /* TILE: local memory and work-items of kernel pack; 0: kernel tile */
    ipt__chunks chunks;                         /* PANEL */
    size_t tail_length;                         /* PANEL, and SHUFFLE that moves the gaps: rows or columns left over */
    int chains;                                 /* SHUFFLE by sub-groups */
    size_t piece_quanta;              /* of it: quanta of 16 bytes that a piece touches, rounded up to classes */
    int gap_restore;                  /* SHUFFLE: the gaps are filled from the save area, else saved there */
    int straight;                     /* TILE: not transposed */
    int reversed_rows, reversed_cols; /* FLIP; TILE: of the result */
    int apply;                        /* the plan's expression is applied on the way */
    int by_words;                     /* runs may be moved by IPT__WORD_BYTES, if byte_offset allows it */
    int word_kernel;                  /* copy or shuffle that does */
    const ipt__variant *variant;      /* a seed's kernel that is forced; NULL: none */
    size_t lanes, workers; /* of it: work-items that work together, and how many times so many a work-group has */
} ipt__stage;

/* A plan before it holds anything of OpenCL: what the planner compares. */
typedef struct ipt__layout {
    ipt__stage stages[IPT__MAX_STAGES];
    int stage_count;
    size_t saved_elements;    /* of each matrix, at the start of the workspace */
    size_t saved_bytes;       /* of all matrices, rounded up to 256 */
    size_t length;            /* of the super-elements of two passes, elements; 0: there are none */
    int dressed;              /* FLIP and MAP are there if they must be */
    int cooperative;          /* a PANEL stage and what it shares with the shuffle follow in the workspace: */
    size_t control_words;     /* of a control block; there are two, the first at saved_bytes, taken in turns */
    size_t flags_offset;      /* bytes */
    size_t alone_offset;      /* bytes; flags with which one work-group can transpose a panel alone */
    size_t scratch_offset;    /* bytes; what stages take in turns */
    size_t workspace;         /* bytes: scratch_offset and the largest need of a stage */
    size_t minimum_workspace; /* bytes with which these stages would still work */
    double cost;              /* bytes moved at the speed of a copy that would take as long */
} ipt__layout;

typedef struct ipt__plan_kernel {
    ipt__program *program;
    cl_kernel kernel;
} ipt__plan_kernel;

/* Host matrices: see >>host matrices. */
enum {
    IPT__HOST_AHEAD = 4,              /* transfers that are enqueued before the first of them has ended */
    IPT__HOST_STAGED_BYTES = 1 << 23, /* pageable matrices from this size on go through pinned memory */
    /* By default, for each device. Where the bus is so much slower than the transposition, more only make transfers
     * slower: on an H200 0.98 of them with 2, 0.95 with 4, 0.72 with 8. */
    IPT__HOST_PARTS = 2,
    IPT__HOST_PARTS_MOST = 64,      /* also of command queues */
    IPT__HOST_PART_BYTES = 1 << 20, /* at least: below that, transfers take no less time (seed 000, section 7.6) */
    IPT__HOST_RUN_BYTES = 2048, /* of a part's rows that lie apart: shorter ones are no faster than single elements */
    IPT__HOST_SLOT_BYTES = 1 << 22, /* of pinned memory that a thread fills while another one of its is on the bus */
    IPT__HOST_SLOTS = 2,
    IPT__HOST_THREADS = 8
};

/* Matrices that are cut: see >>cut matrices. */
enum {
    IPT__CUT_PLAN_REST = 2, /* of a share's plans */
    IPT__CUT_PLAN_GROUP = 3,
    IPT__CUT_SLOTS = 3,               /* of chunks: one comes, one is worked on, one goes */
    IPT__CUT_CHUNK_BYTES = 1 << 26,   /* chunks of this size keep the bus busy; larger ones only for longer blocks */
    IPT__CUT_RUN_BYTES = 64,          /* shortest super-element that is worth moving */
    IPT__CUT_BLOCK_WANTED = 1 << 14,  /* bytes of a super-element that memory moves as fast as any */
    IPT__CUT_STORED_WANTED = 1 << 16, /* and a storage, if it can */
    IPT__CUT_BLOCK_BYTES = 1 << 18,   /* the longest */
    IPT__CUT_GROUP_BYTES = 1 << 20,   /* of a group's super-elements together */
    IPT__CUT_THREADS = 16,            /* that shuffle in memory */
    IPT__CUT_STORED_THREADS = 2,      /* that read from a storage, and as many that write to it */
    IPT__CUT_BATCH = 1 << 16,         /* moves that are listed ahead */
    IPT__CUT_PAGE_BYTES = 4096
};

/* Bytes of a whole block that are worth its commands. On an H200 blocks of 992 KB move at 0.58 of the speed of whole
 * copies and panels at 0.54; of 256 KB at 0.16, and panels at 0.52. Tests take fewer, so that small matrices have
 * blocks. */
#ifndef IPT__BLOCK_BYTES_LEAST
#define IPT__BLOCK_BYTES_LEAST ((size_t)3 << 18)
#endif

/* Blocks of a matrix that is cut: see there. An H200's bus, both ways at once, moves rows of so many bytes at a part of
 * its speed: 8192 0.95, 8200 0.51, 12288 0.79, 16384 0.95; 7168 0.91, 5120 0.78, 4096 0.68. */
enum {
    IPT__BLOCK_ROW_MOST = 8192,
    IPT__BLOCK_ROW_LEAST = 1280, /* below that, super-elements that the host shuffles may take no longer */
    IPT__BLOCK_PARTS = 10,       /* that each side has at least */
    IPT__BLOCK_STRIPS = 3,       /* that go down one by one, as their places become free */
    IPT__BLOCK_SPARE = 8,        /* of so many units, one is kept free */
    IPT__BLOCK_PLANS = 4,        /* for whole blocks, and for those at the lower, the right and both edges */
    IPT__BLOCK_QUEUES = 3,       /* for uploads, kernels and downloads */
    IPT__BLOCK_AHEAD = 48        /* commands that are enqueued before the first of them has ended */
};

/* Rows in host memory that lie one after the other on the device. */
typedef struct ipt__rect {
    size_t offset, rows, row_bytes, pitch; /* bytes; offset: of the first one */
} ipt__rect;

/* Up to three of them, one after the other on the device, too. */
typedef struct ipt__area {
    ipt__rect rects[3];
    int count;
} ipt__area;

/* What one device has of a host matrix. */
typedef struct ipt__host_share {
    ipt_context *context;
    ipt_plan *plans[4]; /* of a whole part, of the last one if that is smaller; of what is left of a cut matrix, and of
                           a group */
    ipt_plan *block_plans[IPT__BLOCK_PLANS];
    cl_mem buffer;
    cl_command_queue queues[IPT__HOST_PARTS_MOST];
    int queue_count;
    cl_mem pinned; /* IPT__HOST_SLOTS for each thread; NULL: not needed yet */
    char *slots;
} ipt__host_share;

typedef struct ipt__host_part {
    ipt__host_share *share;
    ipt_plan *plan;
    cl_command_queue queue;
    size_t device; /* bytes from the start of the share's buffer */
    ipt__area up, down;
    cl_event uploaded, transposed, downloaded;
} ipt__host_part;

/* A command for a matrix that goes through the device by blocks. Each kind has a queue of its own. */
typedef enum ipt__haul_kind { IPT__HAUL_UP, IPT__HAUL_TRANSPOSE, IPT__HAUL_DOWN } ipt__haul_kind;

typedef struct ipt__haul {
    ipt__haul_kind kind;
    int plan;                        /* TRANSPOSE: of the share's block_plans */
    ipt__rect rect;                  /* UP and DOWN */
    size_t device;                   /* bytes into the share's buffer */
    size_t after[IPT__BLOCK_QUEUES]; /* of each queue, the last command that must have ended, plus 1; 0: none must */
    cl_event event;
} ipt__haul;

typedef struct ipt__host {
    ipt__host_share *shares;
    size_t share_count;
    ipt__host_part *parts;
    size_t part_count;
    ipt__haul *hauls; /* for one matrix */
    size_t haul_count;
    char *scratch; /* of a matrix that is cut: see ipt__shuffle_bytes; behind that what is left of its longer side */
    size_t scratch_bytes;
} ipt__host;

/* How matrices that do not fit go through the device: by panels, or as whole ones. */
typedef struct ipt__cut {
    size_t chunk_bytes;            /* that go at a time; 0: the plan's matrices are not cut */
    size_t chunks;                 /* to a matrix that is cut, else to the batch */
    size_t matrices;               /* whole ones to a chunk; 0: matrices are cut, and all below counts */
    size_t shorter, length;        /* sides of a panel, in elements; length: of a super-element, too */
    size_t panels, rest;           /* that the longer side has, and what is left of it, in elements */
    size_t chunk_panels;           /* at most, to a chunk */
    size_t group, groups, spare;   /* lines of the longer side that are shuffled together, and how many are left over */
    size_t piece_bytes;            /* of a super-element */
    size_t block_bytes;            /* of as many as a group has: what the shuffle moves */
    size_t line_bytes, rest_bytes; /* of the longer side, and of what is left of all its lines */
    size_t spare_bytes;            /* of the spare lines, without what is left */
    int tall, backward;            /* backward: panels are taken from the last to the first */
} ipt__cut;

/* How a matrix that is cut goes through the device if that reaches it by itself, and has room enough: by blocks. */
typedef struct ipt__blocks {
    size_t length, panels;     /* rows of a panel; the last one may have less */
    size_t columns, per_panel; /* of a block, and blocks that a panel has; the last one may be narrower */
    size_t strip_cols;         /* columns of a block that go down together */
    size_t count;              /* of blocks */
    size_t unit_bytes, units;  /* of device memory, each for a block */
    size_t kept_units;         /* that are kept free for what comes up a second time */
    size_t bus_bytes;          /* that cross the bus for one matrix, up and down together; 0: not by blocks */
} ipt__blocks;

struct ipt_plan {
    ipt_context *context;
    ipt_plan_desc desc;              /* batch and batch_stride filled in */
    size_t matrix_bytes, span_bytes; /* of one matrix; from the first byte of the batch to its last */
    size_t unit_bytes, element_units;
    size_t pad_rows, pad_cols; /* in desc.rows and desc.cols */
    char *expression;          /* what desc points to */
    ipt__layout layout;
    ipt_plan *lender;   /* whose workspace, lock and last event it shares, if that has enough of it; NULL: its own */
    IPT_LOCK_TYPE lock; /* guards all below */
    ipt_plan *user;     /* the last to use the workspace; NULL: it is not known how that has left it */
    ipt__plan_kernel kernels[IPT__MAX_KERNELS];
    int kernel_count;
    int out_of_place_kernel; /* -1 until the first execution out of place */
    ipt__program *panel;     /* NULL: panels are not transposed by work-groups that wait */
    size_t resident;         /* its work-groups that run at the same time, as it was when it was asked for */
    int turn;                /* which of the two control blocks is clear */
    int dirty;               /* an execution failed: counters and flags may not be clear */
    cl_mem workspace;
    cl_event last;           /* of the execution before, which may still use the workspace; NULL: none */
    IPT_LOCK_TYPE host_lock; /* held while a host matrix is moved; guards host and parts_refused */
    ipt__host host;
    int parts_refused; /* host is AUTO, and parts would take too much workspace */
    size_t enough;     /* max_workspace that the last error about it has proposed; 0: there was none */
    ipt__cut cut;
    ipt__blocks blocks;
    size_t host_workspace; /* bytes that its parts' plans have; guarded by lock */
    size_t refused;        /* bytes of the buffer that the device has refused last; 0: none */
    size_t most;           /* bytes of a buffer for matrices that are cut; 0: no limit */
    int in_pieces;         /* made because the device refuses the whole of a host matrix */
    ipt_plan *pieces;      /* such a plan, which executes for this one; NULL: none. Guarded by host_lock */
    ipt_context **split;   /* the contexts of a plan for several; NULL: it is for one */
    size_t split_count;
    char description[2048];
};

/* The planner's constants. */
enum {
    IPT__RUN_CPU = 8192, /* elements or pairs of them that a work-group takes; IPT__RUN_GPU: each work-item */
    IPT__RUN_GPU = 16,
    IPT__WORD_BYTES = 4,         /* shorter units are moved by words where everything is aligned to them */
    IPT__VECTOR_BYTES = 16,      /* what kernels for GPUs access at once */
    IPT__PIECE_BYTES_GPU = 1024, /* of a super-element that a work-group carries: short, for many chains */
    IPT__PIECE_BYTES_CPU = 16384,
    IPT__TILE_BYTES_CPU = 1 << 15,  /* a CPU's local memory is plain memory: what its nearest cache holds */
    IPT__TILE_BYTES_MANY = 1 << 18, /* and what the next one does, for many instances */
    IPT__TRANSPOSE_BYTES = 24576,   /* local memory of a tiled transposition */
    IPT__SLAB_BYTES_GPU = 32 << 20, /* slabs that the last cache holds cost no memory traffic */
    IPT__SLAB_BYTES_CPU = 4 << 20,
    IPT__SUPER_BYTES = 2048, /* longest super-element that is tried */
    IPT__PIECE_QUANTA = 128,
    IPT__UNIT_BYTES = 229376, /* local memory of a large GPU's unit, which chains fill */
    IPT__CHUNK_RUNS = 512,    /* as in panel.cl and out_of_place.cl */
    IPT__PAD_HELD = 16,       /* units of a work-item, as in pad.cl */
    IPT__MOST_DOWN = 8,       /* chunks along the long side of a tall panel */
    IPT__BLOCKS_TALL = 2,     /* of a panel, see panel.cl: 4 at most (IPT_BLOCKS in common.cl) */
    IPT__BLOCKS_WIDE = 4,
    IPT__BLOCK_ROWS = 60,         /* in each of those at least */
    IPT__ON_CHIP_BYTES = 1 << 26, /* more than all local memory of a device */
    IPT__NARROW_BYTES = 256,      /* rows up to this length are read or written many at a time */
    IPT__DIVISOR_WANTED = 64      /* tile side of a forced sequence, in the middle of what seed 000 recommends */
};

/* Cost model, in the spirit of seed 002's equation (2): the time of a stage, in bytes that a copy would move in that
 * time, is factor * bytes of all matrices + launches * launch. A shuffle's factor grows as super-elements get shorter:
 * 1 + overhead / bytes. Slots that begin anywhere touch one sector more than they fill: `gapped`. Units below a word
 * that cannot be moved by words: 1 + narrow * (units in a word - 1). */
typedef struct ipt__cost_model {
    double tile, swap, wave, shuffle_overhead, gapped, narrow, launch;
} ipt__cost_model;
static const ipt__cost_model ipt__cost_models[2] = {
    {2, 2.4, 4.3, 750, 1.1, 0.5, 2e7}, /* GPU: fitted to an H200 */
    {2, 4, 1.8, 300, 1.15, 0.1, 2e5}   /* CPU: fitted to PoCL on 2 cores */
};

/* The same for the kernels that only GPUs have, lengths in bytes. A panel: panel + tall_cut or wide_cut * (1 / x +
 * 1 / y) for the sectors that the edges of an x by y chunk cut + panel_wait * length of the panel, because more
 * work-groups wait for one another, less so the further its slots reach into the panel before, which has been read. A
 * narrow one: panel + narrow_step / length of a super-element, less no_wait if no work-group waits. Chains: chains +
 * chains_step / length of a super-element + cut + cut_step / length, if slots do not begin at lines of 128 bytes, +
 * idle * share of its class of lengths that a super-element leaves empty. */
typedef struct ipt__gpu_model {
    double panel, tall_cut, wide_cut, panel_wait, narrow_step, no_wait, chains, chains_step, cut, cut_step, idle;
} ipt__gpu_model;
static const ipt__gpu_model ipt__gpu_models = {1.15, 47, 17, 8e-9, 95, 0.08, 1.01, 137, 0.19, 4, 0.05}; /* of an H200 */

/* The local memory that a group of these kernels may take. */
static size_t ipt__local_budget(const ipt__limits *limits)
{
    return limits->cpu ? ipt__min(limits->local_memory, IPT__TILE_BYTES_CPU) : limits->local_memory;
}

static size_t ipt__stage_units(const ipt_plan *plan, const ipt__stage *stage)
{
    return stage->length * plan->element_units;
}

static size_t ipt__instance_units(const ipt_plan *plan, const ipt__stage *stage)
{
    return stage->rows * stage->cols * ipt__stage_units(plan, stage);
}

/* Elements of a slot on the grid of a stage. */
static size_t ipt__slot_length(const ipt__stage *stage)
{
    if (stage->kind != IPT__STAGE_WAVE && stage->kind != IPT__STAGE_PANEL)
        return stage->length;
    return stage->gapped_source ? stage->cols : stage->rows;
}

/* Whether the runs of a stage begin and end at words whenever the batch begins at one. */
static int ipt__stage_by_words(const ipt_plan *plan, const ipt__stage *stage)
{
    const size_t size = plan->desc.elem_size;
    const size_t run = ipt__slot_length(stage) * (stage->kind == IPT__STAGE_WAVE ? stage->length : 1) * size;
    if (plan->unit_bytes >= IPT__WORD_BYTES || stage->inner_rows ||
        (stage->kind != IPT__STAGE_SHUFFLE && stage->kind != IPT__STAGE_WAVE && stage->kind != IPT__STAGE_RESTORE))
        return 0;
    return run % IPT__WORD_BYTES == 0 && stage->row_stride * size % IPT__WORD_BYTES == 0 &&
           stage->origin * size % IPT__WORD_BYTES == 0 &&
           (plan->desc.batch == 1 || plan->desc.batch_stride % IPT__WORD_BYTES == 0);
}

/* Flags that lie in a word. */
static size_t ipt__word_flags(const ipt_plan *plan, const ipt__stage *stage)
{
    return stage->variant && plan->desc.flag_spread ? 32 / plan->desc.flag_spread : 32;
}

/* Bytes of the flags of one instance of a shuffle. */
static size_t ipt__flag_bytes(const ipt_plan *plan, const ipt__stage *stage)
{
    return ipt__ceil_divide(stage->rows * stage->cols, ipt__word_flags(plan, stage)) * 4 * stage->pieces;
}

/* Workspace bytes that one instance of a stage needs at a time. */
static size_t ipt__stage_need(const ipt_plan *plan, const ipt__layout *layout, const ipt__stage *stage)
{
    if (stage->kind == IPT__STAGE_WAVE)
        return ipt__instance_units(plan, stage) * plan->unit_bytes;
    if (stage->kind == IPT__STAGE_SHUFFLE && !(stage->chains && layout->cooperative))
        return ipt__flag_bytes(plan, stage);
    return 0;
}

/* Cuts super-elements into pieces that a sub-group holds whole, one quantum short of that because a piece may begin and
 * end inside one. */
static void ipt__chains_pieces(const ipt_plan *plan, ipt__stage *stage)
{
    const size_t units = ipt__stage_units(plan, stage), most = 16 * (IPT__PIECE_QUANTA - 2) / plan->unit_bytes;
    stage->chains = 1;
    stage->pieces = ipt__ceil_divide(units, most);
    stage->piece_units = ipt__min(units, most);
    /* A run of b bytes in units of u touches (b + 31 - u) / 16 of them at most. */
    stage->piece_quanta = ipt__round_up((stage->piece_units * plan->unit_bytes + 31 - plan->unit_bytes) / 16, 32);
}

/* Chains that a sub-group follows at once: more of short pieces, but few enough for many sub-groups. */
static size_t ipt__chains_at_once(const ipt_plan *plan, const ipt__stage *stage)
{
    return stage->piece_units * plan->unit_bytes <= 640 ? 4 : 2;
}

/* Cuts super-elements into pieces of which a work-group can hold two. 0 if an inner transposition forbids that. */
static int ipt__shuffle_pieces(const ipt_plan *plan, ipt__stage *stage)
{
    const ipt__limits *const limits = &plan->context->limits;
    const size_t units = ipt__stage_units(plan, stage);
    const size_t wanted = limits->cpu ? IPT__PIECE_BYTES_CPU : IPT__PIECE_BYTES_GPU;
    const size_t holds = (limits->local_memory - 16) / 2; /* 16: the word that a work-group shares */
    const size_t piece = (stage->inner_rows ? holds : ipt__min(wanted, holds) / 16 * 16) / plan->unit_bytes;
    if (!limits->cpu && limits->group_size >= 32 && !stage->inner_rows &&
        (limits->nvidia ? 4 : 1) * 2 * 4 * 16 * (size_t)IPT__PIECE_QUANTA / 2 + 256 <= limits->local_memory) {
        ipt__chains_pieces(plan, stage);
        return 1;
    }
    if (stage->inner_rows && units > piece)
        return 0;
    stage->piece_units = ipt__min(units, piece);
    stage->pieces = ipt__ceil_divide(units, stage->piece_units);
    return 1;
}

static ipt__stage *ipt__stage_add(ipt__layout *layout, ipt__stage_kind kind, size_t instances, size_t rows, size_t cols,
                                  size_t length)
{
    ipt__stage *const stage = &layout->stages[layout->stage_count++];
    memset(stage, 0, sizeof *stage);
    stage->kind = kind;
    stage->instances = instances;
    stage->rows = rows;
    stage->cols = cols;
    stage->length = length;
    return stage;
}

/* Whether so many bytes of local memory hold so many units of kernel pack. */
static int ipt__pack_fits(const ipt_plan *plan, size_t units, size_t local_bytes)
{
    const size_t quanta = units * plan->unit_bytes / 16 + 2;
    return quanta + quanta / 8 + quanta / 64 + 1 <= local_bytes / 16;
}

/* The local memory and the work-items with which kernel pack serves a TILE stage on a GPU, as little as possible.
 * NVIDIA has more than it reports: eight, four, two or one of these work-groups fill a large GPU's unit. pack_bytes is
 * 0 where kernel tile has to serve, which takes short runs far apart as well. */
static void ipt__pack_choose(const ipt_plan *plan, ipt__stage *stage)
{
    static const size_t classes[4][2] = {{27648, 256}, {56320, 512}, {110592, 512}, {231424, 1024}};
    const ipt__limits *const limits = &plan->context->limits;
    const size_t instance = ipt__instance_units(plan, stage), bytes = stage->instances * instance * plan->unit_bytes;
    const int large = limits->nvidia && !limits->local_is_limited;
    int i;
    stage->pack_bytes = 0;
    if (limits->cpu || limits->group_size < 64 ||
        (plan->desc.batch > 1 && plan->desc.batch_stride != bytes && bytes < IPT__PACK_RUN))
        return;
    for (i = 0; i < (large ? 4 : 1) && !stage->pack_bytes; ++i) {
        const size_t most =
            large ? classes[i][0] : ipt__min(limits->local_memory - 256, (size_t)IPT__PACK_BYTES) / 1024 * 1024;
        stage->pack_group = large ? ipt__min(classes[i][1], limits->largest_group) : limits->group_size;
        if (most >= 2048 && ipt__pack_fits(plan, instance, most) && !ipt__local_refused(plan->context, most))
            stage->pack_bytes = most;
    }
}

static ipt__params ipt__pack_params(const ipt_plan *plan, const ipt__stage *stage, int apply)
{
    ipt__params params;
    memset(&params, 0, sizeof params);
    params.unit_bytes = (cl_uint)plan->unit_bytes;
    params.element_units = ipt__stage_units(plan, stage) == 1;
    params.group_size = (cl_uint)stage->pack_group;
    params.memory_model = (cl_uint)plan->context->limits.memory_model;
    params.local_bytes = (cl_uint)stage->pack_bytes;
    params.apply = (cl_uint)apply;
    params.expression = plan->desc.expression;
    params.expression_type = plan->desc.expression_type;
    return params;
}

/* Whether a CPU had better hold larger instances than its nearest cache: if there are some for each of its cores
 * (200 x 170 floats on PoCL: 0.73 of a copy, in waves 0.47). Squares are swapped as fast. */
static int ipt__tile_serves_many(const ipt_plan *plan, const ipt__stage *stage)
{
    const ipt__limits *const limits = &plan->context->limits;
    return limits->cpu && stage->rows != stage->cols &&
           stage->instances * plan->desc.batch >= 4 * limits->compute_units &&
           ipt__instance_units(plan, stage) * plan->unit_bytes <=
               ipt__min(limits->local_memory, (size_t)IPT__TILE_BYTES_MANY);
}

/* Appends a stage on a dense grid with the kernel that serves it best within `budget` bytes of workspace; with none
 * that fits, the one that needs the least. A grid with one row or one column is in order already and needs no stage. */
static void ipt__stage_add_dense(const ipt_plan *plan, ipt__layout *layout, size_t budget, size_t instances,
                                 size_t rows, size_t cols, size_t length)
{
    ipt__stage *stage;
    size_t wave, shuffle;
    if (rows == 1 || cols == 1)
        return;
    stage = ipt__stage_add(layout, IPT__STAGE_TILE, instances, rows, cols, length);
    ipt__pack_choose(plan, stage);
    if (stage->pack_bytes ||
        ipt__instance_units(plan, stage) * plan->unit_bytes <= ipt__local_budget(&plan->context->limits))
        return;
    if (ipt__tile_serves_many(plan, stage))
        return;
    if (rows == cols) {
        stage->kind = IPT__STAGE_SWAP;
        return;
    }
    stage->kind = IPT__STAGE_WAVE;
    wave = ipt__stage_need(plan, layout, stage);
    stage->kind = IPT__STAGE_SHUFFLE;
    ipt__shuffle_pieces(plan, stage);
    shuffle = ipt__stage_need(plan, layout, stage);
    /* Short super-elements make poor shuffles. */
    if (length * plan->desc.elem_size < 64 ? wave <= budget || wave <= shuffle : shuffle > budget && wave < shuffle)
        stage->kind = IPT__STAGE_WAVE;
}

/* Rows of `run` bytes, `stride` bytes apart in memory. The transposed reading should find its work-items' units in
 * different banks; the rows that a work-item of a group of `group` fetches one after the other must begin at the same
 * place of a quantum. */
static ipt__tile_layout ipt__lay_out_tile(const ipt_plan *plan, size_t group, size_t run, size_t stride)
{
    ipt__tile_layout layout;
    layout.pitch = (run + 31 - plan->unit_bytes) / 16;
    layout.skew = 31;
    if (16 % plan->desc.elem_size == 0 && stride % 16 != 0) { /* rows begin at all places of a quantum in turn */
        layout.skew = 0;
        while ((stride << layout.skew) % 16 != 0)
            ++layout.skew;
    } else if (layout.pitch % 2 == 0)
        layout.skew = 0;
    layout.run_lanes = 32;
    while (layout.run_lanes > 4 &&
           (layout.run_lanes >= 2 * layout.pitch || group / layout.run_lanes * stride % 16 != 0))
        layout.run_lanes /= 2;
    return layout;
}

/* Quanta of local memory that `rows` of them take. */
static size_t ipt__tile_quanta(const ipt__tile_layout *layout, size_t rows)
{
    return rows * layout->pitch + (layout->skew > 30 ? 0 : rows >> layout->skew) + 1;
}

/* Where the parts of the workspace begin. */
static void ipt__layout_place(const ipt_plan *plan, ipt__layout *layout)
{
    size_t offset = layout->saved_bytes, flags = 0, alone = 0;
    int i;
    for (i = 0; i < layout->stage_count; ++i) {
        const ipt__stage *const stage = &layout->stages[i];
        if (stage->kind == IPT__STAGE_PANEL) {
            layout->cooperative = 1;
            layout->control_words = IPT__CONTROL_WORDS + stage->chunks.orders * stage->chunks.blocks * plan->desc.batch;
            alone = ipt__ceil_divide(ipt__instance_units(plan, stage), 32);
        } else if (stage->chains) {
            flags = ipt__flag_bytes(plan, stage) / 4 * plan->desc.batch;
        }
    }
    if (layout->cooperative) {
        layout->flags_offset = offset += 2 * ipt__round_up(layout->control_words * 4, 256);
        layout->alone_offset = offset += ipt__round_up(flags * 4, 256);
        offset += ipt__round_up(alone * 4, 256);
    }
    layout->scratch_offset = offset;
}

/* The factors of the cost model for the kernels that GPUs have: constants in ipt__gpu_model, bytes in the formulas. */
static double ipt__panel_factor(const ipt_plan *plan, const ipt__stage *stage)
{
    const ipt__gpu_model *const model = &ipt__gpu_models;
    const ipt__chunks *const chunks = &stage->chunks;
    const double size = (double)plan->desc.elem_size, length = (double)ipt__slot_length(stage);
    const double panel = (double)ipt__instance_units(plan, stage) * (double)plan->unit_bytes;
    const double unread = 1 - 0.8 * (double)stage->tail_length / length;
    if (!chunks->waits || chunks->narrow)
        return model->panel + model->narrow_step / (length * size) - (chunks->waits ? 0 : model->no_wait);
    return model->panel +
           (chunks->tall ? model->tall_cut : model->wide_cut) * (1 / (double)chunks->x + 1 / (double)chunks->y) / size +
           model->panel_wait * panel * unread;
}

static double ipt__chains_factor(const ipt_plan *plan, const ipt__stage *stage)
{
    const ipt__gpu_model *const model = &ipt__gpu_models;
    const size_t size = plan->desc.elem_size, slot = stage->length * size,
                 stride = stage->row_slots ? stage->row_stride * size : slot;
    const double bytes = (double)stage->piece_units * (double)plan->unit_bytes;
    const double idle = 1 - bytes / (16.0 * (double)stage->piece_quanta);
    const double cut = slot % 128 || stride % 128 ? model->cut + model->cut_step / bytes : 0;
    return model->chains + model->chains_step / bytes + cut + model->idle * idle;
}

/* Chunks of a matrix that the pad kernel moves, and what it needs of the workspace for all matrices. */
static size_t ipt__pad_chunks(const ipt_plan *plan, const ipt__stage *stage)
{
    return ipt__ceil_divide(stage->rows * ipt__stage_units(plan, stage),
                            IPT__PAD_HELD * plan->context->limits.group_size);
}
static size_t ipt__pad_bytes(const ipt_plan *plan, const ipt__stage *stage)
{
    return 4 * (1 + ipt__pad_chunks(plan, stage) * plan->desc.batch);
}

/* Decides how much of each stage runs at once within `budget` bytes of workspace (0: as little as possible), and with
 * it the workspace and the cost. */
static void ipt__layout_finish(const ipt_plan *plan, ipt__layout *layout, size_t budget)
{
    const ipt__limits *const limits = &plan->context->limits;
    const ipt__cost_model *const model = &ipt__cost_models[limits->cpu];
    const size_t batch = plan->desc.batch, slabs = limits->cpu ? IPT__SLAB_BYTES_CPU : IPT__SLAB_BYTES_GPU;
    const double bytes = (double)plan->matrix_bytes * (double)batch;
    size_t largest = 0, smallest = 0;
    int i;
    layout->saved_bytes = ipt__round_up(batch * layout->saved_elements * plan->desc.elem_size, 256);
    ipt__layout_place(plan, layout);
    layout->cost = 0;
    for (i = 0; i < layout->stage_count; ++i) {
        ipt__stage *const stage = &layout->stages[i];
        const size_t need = ipt__stage_need(plan, layout, stage);
        size_t at_once = 1;
        double factor = 0, launches = 1;
        if (!need) {
            stage->matrices_at_once = batch;
            stage->instances_at_once = stage->instances;
        } else {
            if (budget > layout->scratch_offset)
                at_once = ipt__max(1, (budget - layout->scratch_offset) / need);
            if (stage->kind == IPT__STAGE_WAVE)
                at_once = ipt__min(at_once, ipt__max(1, slabs / need));
            stage->matrices_at_once = ipt__min(batch, at_once);
            stage->instances_at_once = ipt__min(stage->instances, at_once / stage->matrices_at_once);
            largest = ipt__max(largest, stage->matrices_at_once * stage->instances_at_once * need);
            smallest = ipt__max(smallest, need);
            launches = 2.0 * (double)ipt__ceil_divide(batch, stage->matrices_at_once) *
                       (double)ipt__ceil_divide(stage->instances, stage->instances_at_once);
        }
        switch (stage->kind) {
        case IPT__STAGE_SAVE:
        case IPT__STAGE_RESTORE: /* short rows far apart: twice the traffic of a copy */
            layout->cost += 2.0 * (double)layout->saved_bytes;
            break;
        case IPT__STAGE_PANEL:
            factor = ipt__panel_factor(plan, stage);
            break;
        case IPT__STAGE_TILE:
            factor = model->tile;
            break;
        case IPT__STAGE_FLIP: /* come when all else is chosen */
        case IPT__STAGE_MAP:
            break;
        case IPT__STAGE_PAD:
            largest = ipt__max(largest, ipt__pad_bytes(plan, stage));
            smallest = ipt__max(smallest, ipt__pad_bytes(plan, stage));
            break;
        case IPT__STAGE_PTTWAC_010: /* forced: not compared with anything */
        case IPT__STAGE_P_IPT:
            break;
        case IPT__STAGE_SWAP:
            factor = model->swap;
            break;
        case IPT__STAGE_WAVE:
            factor = model->wave;
            break;
        case IPT__STAGE_SHUFFLE:
            factor = 1 + model->shuffle_overhead / ((double)stage->length * (double)plan->desc.elem_size);
            if (stage->chains)
                factor = ipt__chains_factor(plan, stage);
            break;
        }
        stage->by_words = ipt__stage_by_words(plan, stage);
        if (plan->unit_bytes < IPT__WORD_BYTES && need && !stage->by_words)
            factor *= 1 + model->narrow * (double)(IPT__WORD_BYTES / plan->unit_bytes - 1);
        if (!stage->chains && stage->kind != IPT__STAGE_PANEL &&
            (stage->kind == IPT__STAGE_SHUFFLE || stage->row_slots))
            if (ipt__slot_length(stage) * plan->desc.elem_size % 32 || stage->row_stride * plan->desc.elem_size % 32)
                factor *= model->gapped;
        layout->cost += factor * bytes + launches * model->launch;
    }
    layout->workspace = layout->scratch_offset + largest;
    layout->minimum_workspace = layout->scratch_offset + smallest;
}

/* ------------------------------------------------------------------------------------------------------------------ */
/* >>plan: sequences                                                                                                  */
/* ------------------------------------------------------------------------------------------------------------------ */

/* The two-pass method with super-elements of `length` elements. Tall: panels of `length` rows are transposed, then the
 * super-elements are shuffled. Wide: the mirror of it. What is left over of the long side is saved first and restored
 * last, and then the slots lie from the start on the grid of the result's (wide: the source's) rows. */
static void ipt__layout_two_pass(const ipt_plan *plan, ipt__layout *layout, size_t length, size_t budget)
{
    const size_t rows = plan->desc.rows, cols = plan->desc.cols;
    const int tall = rows >= cols;
    const size_t long_side = tall ? rows : cols, short_side = tall ? cols : rows;
    const size_t panels = long_side / length, left = long_side % length, first_left = panels * length;
    ipt__stage *stage;
    memset(layout, 0, sizeof *layout);
    if (left) {
        layout->saved_elements = left * short_side;
        stage = ipt__stage_add(layout, IPT__STAGE_SAVE, 1, tall ? left : rows, tall ? cols : left, 1);
        stage->origin = tall ? first_left * cols : first_left;
        stage->row_stride = cols;
    }
    if (tall) {
        if (!left)
            ipt__stage_add_dense(plan, layout, budget, panels, length, cols, 1);
        else {
            stage = ipt__stage_add(layout, IPT__STAGE_WAVE, panels, length, cols, 1);
            stage->row_slots = panels;
            stage->row_stride = rows;
        }
    }
    if (panels > 1 && short_side > 1) {
        stage = tall ? ipt__stage_add(layout, IPT__STAGE_SHUFFLE, 1, panels, cols, length)
                     : ipt__stage_add(layout, IPT__STAGE_SHUFFLE, 1, rows, panels, length);
        ipt__shuffle_pieces(plan, stage);
        if (left) {
            stage->row_slots = panels;
            stage->row_stride = long_side;
        }
    }
    if (!tall) {
        if (!left)
            ipt__stage_add_dense(plan, layout, budget, panels, rows, length, 1);
        else {
            stage = ipt__stage_add(layout, IPT__STAGE_WAVE, panels, rows, length, 1);
            stage->row_slots = panels;
            stage->row_stride = cols;
            stage->gapped_source = 1;
        }
    }
    if (left) {
        stage = tall ? ipt__stage_add(layout, IPT__STAGE_RESTORE, 1, cols, 1, left)
                     : ipt__stage_add(layout, IPT__STAGE_RESTORE, 1, left, 1, rows);
        stage->origin = tall ? first_left : first_left * rows;
        stage->row_stride = rows;
    }
    ipt__layout_finish(plan, layout, budget);
}

/* The most elements along the short side that a chunk with `y` along the long side can have; 0: none. */
static size_t ipt__chunk_breadth(const ipt_plan *plan, int tall, size_t y)
{
    const size_t size = plan->desc.elem_size, quanta = plan->panel->params.local_bytes / 16;
    const size_t slack = 16 - plan->unit_bytes; /* bytes of its first quantum that a run may not have */
    size_t x = quanta / ((y * size + slack + 15) / 16 + 1);
    if (tall) {
        if (y > IPT__CHUNK_RUNS || quanta / y < 3 || (quanta / y - 1) * 16 < slack + size)
            return 0;
        x = ((quanta / y - 1) * 16 - slack) / size; /* one quantum for the skew */
    }
    return ipt__min(x, IPT__CHUNK_RUNS);
}

/* Cuts a PANEL stage's panels of `length` along the long side into chunks, as long as local memory allows. 0 if that is
 * not possible. */
static int ipt__panel_chunks(const ipt_plan *plan, ipt__stage *stage, size_t length, size_t short_side, size_t panels)
{
    ipt__chunks *const chunks = &stage->chunks;
    const size_t size = plan->desc.elem_size, quanta = plan->panel->params.local_bytes / 16;
    const size_t slack = 16 - plan->unit_bytes; /* bytes of its first quantum that a run may not have */
    const size_t row = short_side * size, tail = stage->tail_length ? 1 : 0, half = plan->resident / 2;
    chunks->y = length;
    chunks->down = 1;
    chunks->pack = 1;
    chunks->neighbours = stage->tail_length != 0;
    chunks->narrow = (int)plan->panel->params.narrow;
    /* Whole panels, several to an order if they are small: every work-group should have some. */
    if (chunks->narrow) {
        const size_t panel = length * row;
        const size_t fits = chunks->tall
                                ? (quanta - quanta / 9 - 2) * 16 / panel
                                : ipt__min(IPT__CHUNK_RUNS / short_side,
                                           quanta / ((length * size + slack + 15) / 16 * short_side + short_side));
        chunks->pack = ipt__min(fits, ipt__ceil_divide(panels, 2 * plan->resident));
        chunks->x = short_side;
        chunks->across = 1;
    } else {
        /* Short edges cut many sectors: a tall chunk is made as near a square as rows of x and slots of y elements go.
         * More chunks that share slots have to gain a fifth. */
        double best = 0;
        size_t down;
        for (down = 1; down <= (chunks->tall ? IPT__MOST_DOWN : 1) && down <= length; ++down) {
            const size_t y = chunks->tall ? ipt__round_up(ipt__ceil_divide(length, down), 8) : length;
            const size_t x = ipt__chunk_breadth(plan, chunks->tall, y);
            const double cut = x ? (1 / (double)x + 1 / (double)y) * (down > 1 ? 1.2 : 1) : 0;
            if (x && (best == 0 || cut < best)) {
                best = cut;
                chunks->y = ipt__min(y, length);
                chunks->across = ipt__ceil_divide(short_side, x);
                chunks->x = ipt__min(x, ipt__round_up(ipt__ceil_divide(short_side, chunks->across), 8));
            }
        }
        if (best == 0)
            return 0;
        chunks->across = ipt__ceil_divide(short_side, chunks->x);
        chunks->down = ipt__ceil_divide(length, chunks->y);
    }
    /* Should a panel be left to the last work-group, it moves whole slots. */
    if (!chunks->pack || (chunks->neighbours && length * size > plan->panel->params.local_bytes))
        return 0;
    chunks->packs = ipt__ceil_divide(panels, chunks->pack);
    chunks->orders = chunks->packs + tail;
    chunks->waits = chunks->across * chunks->down > 1 || chunks->neighbours;
    chunks->tile = ipt__lay_out_tile(plan, plan->panel->params.group_size, (chunks->tall ? chunks->x : length) * size,
                                     chunks->tall ? row : (chunks->neighbours ? stage->row_stride : length) * size);
    chunks->blocks = 1;
    chunks->block_rows = length;
    if (!chunks->narrow && chunks->tall && chunks->waits && chunks->down == 1) {
        const size_t step = plan->panel->params.group_size / chunks->tile.run_lanes;
        chunks->block_rows = ipt__round_up(
            ipt__ceil_divide(length, length < IPT__BLOCKS_TALL * IPT__BLOCK_ROWS ? 1 : IPT__BLOCKS_TALL), step);
        chunks->blocks = ipt__ceil_divide(length, chunks->block_rows);
    } else if (!chunks->narrow && !chunks->tall && chunks->waits) {
        chunks->blocks = ipt__min(ipt__min(IPT__BLOCKS_WIDE, chunks->across), ipt__max(1, length / IPT__BLOCK_ROWS));
        chunks->block_rows = length / chunks->blocks;
    }
    return (chunks->across * chunks->down <= half || !chunks->waits) &&
           chunks->across * chunks->down * chunks->orders < 0x7fffffff / plan->desc.batch;
}

/* The two-pass method with a PANEL stage, which saves (tall) or restores (wide) what is left over, and a shuffle that
 * does the other half of that. 0 if the panels cannot be held. */
static int ipt__layout_cooperative(const ipt_plan *plan, ipt__layout *layout, size_t length)
{
    const size_t rows = plan->desc.rows, cols = plan->desc.cols;
    const int tall = rows >= cols;
    const size_t long_side = tall ? rows : cols, short_side = tall ? cols : rows;
    const size_t panels = long_side / length, left = long_side % length;
    ipt__stage *stage;
    int turn;
    memset(layout, 0, sizeof *layout);
    if (!plan->panel || (int)plan->panel->params.tall != tall || panels < 2 || short_side < 2 ||
        (panels + 1) * short_side >= (size_t)1 << 31 || length * short_side * plan->element_units >= (size_t)1 << 31)
        return 0;
    layout->saved_elements = left * short_side;
    for (turn = 0; turn < 2; ++turn) {
        if (tall == (turn == 0)) {
            stage = ipt__stage_add(layout, IPT__STAGE_PANEL, panels, tall ? length : rows, tall ? cols : length, 1);
            stage->chunks.tall = tall;
            stage->gapped_source = !tall;
        } else {
            stage = ipt__stage_add(layout, IPT__STAGE_SHUFFLE, 1, tall ? panels : rows, tall ? cols : panels, length);
            stage->gap_restore = tall;
            ipt__shuffle_pieces(plan, stage);
        }
        stage->tail_length = left;
        stage->row_slots = panels;
        stage->row_stride = long_side;
        /* shuffle.cl moves no gaps. */
        if (stage->kind == IPT__STAGE_PANEL ? !ipt__panel_chunks(plan, stage, length, short_side, panels)
                                            : !stage->chains)
            return 0;
    }
    return 1;
}

/* The whole matrix in the local memory of all work-groups that run at the same time, in one PANEL stage: a tall matrix
 * of one panel, in chunks along both sides. 0 if it does not fit. */
static int ipt__layout_on_chip(const ipt_plan *plan, ipt__layout *layout)
{
    const size_t rows = plan->desc.rows, cols = plan->desc.cols, size = plan->desc.elem_size;
    const size_t step = ipt__max(1, 32 / size), units = plan->context->limits.compute_units;
    ipt__stage *stage;
    ipt__chunks *chunks, best;
    double best_cost = 0;
    memset(layout, 0, sizeof *layout);
    memset(&best, 0, sizeof best);
    if (!plan->panel || !plan->panel->params.tall || plan->panel->params.narrow ||
        plan->matrix_bytes / plan->panel->params.local_bytes > plan->resident || plan->desc.batch > 1)
        return 0;
    stage = ipt__stage_add(layout, IPT__STAGE_PANEL, 1, rows, cols, 1);
    stage->row_slots = 1;
    stage->row_stride = rows;
    chunks = &stage->chunks;
    chunks->tall = chunks->waits = 1;
    chunks->pack = chunks->packs = chunks->orders = 1;
    for (chunks->x = step; chunks->x < cols + step && chunks->x * size <= 2048 && chunks->x <= IPT__CHUNK_RUNS;
         chunks->x += step)
        for (chunks->y = step; chunks->y < rows + step && chunks->y <= IPT__CHUNK_RUNS; chunks->y += step) {
            double cost;
            chunks->across = ipt__ceil_divide(cols, chunks->x);
            chunks->down = ipt__ceil_divide(rows, chunks->y);
            if (chunks->across * chunks->down > plan->resident)
                continue;
            chunks->tile = ipt__lay_out_tile(plan, plan->panel->params.group_size, chunks->x * size, cols * size);
            if (ipt__tile_quanta(&chunks->tile, chunks->y) > plan->panel->params.local_bytes / 16)
                continue;
            /* The busiest compute unit's elements, and the sectors of runs that are read or written in part. */
            cost = (double)(ipt__ceil_divide(chunks->across * chunks->down, units) * chunks->x * chunks->y) *
                   (1 + 32.0 / (double)(chunks->x * size) + 32.0 / (double)(chunks->y * size));
            if (best_cost == 0 || cost < best_cost) {
                best_cost = cost;
                best = *chunks;
            }
        }
    if (best_cost == 0)
        return 0;
    *chunks = best;
    chunks->blocks = 1;
    chunks->block_rows = rows;
    return 1;
}

/* The sequences of seed 002, section 5.1, each stage as the two neighbouring factors that it exchanges: M, m, N, n
 * stand for M', m, N', n; the matrix goes from (M', m, N', n) to (N', n, M', m). A stage with a "*" also transposes the
 * super-element, which is the factors behind it. */
typedef struct ipt__sequence_text {
    ipt_sequence sequence;
    const char *stages[5];
} ipt__sequence_text;
static const ipt__sequence_text ipt__sequence_texts[] = {
    {IPT_SEQUENCE_1, {"Mm-Nn", NULL}},
    {IPT_SEQUENCE_2_1, {"m-Nn", "M-Nn", NULL}},
    {IPT_SEQUENCE_2_2, {"Mm-N", "Mm-n", NULL}},
    {IPT_SEQUENCE_3_1, {"Mm-N", "m-n", "M-n", NULL}},
    {IPT_SEQUENCE_3_2, {"m-N", "m-n", "M-Nn", NULL}},
    {IPT_SEQUENCE_3_3, {"m-N", "M-N", "Mm-n", NULL}},
    {IPT_SEQUENCE_3_4, {"m-Nn", "M-N", "M-n", NULL}},
    {IPT_SEQUENCE_4_1, {"m-N", "m-n", "M-N", "M-n", NULL}},
    {IPT_SEQUENCE_4_2, {"m-N", "M-N", "m-n", "M-n", NULL}},
    {IPT_SEQUENCE_4_3, {"m-N", "M-N*", "M-n", NULL}},
};

static size_t ipt__factor(const size_t factors[4], char name)
{
    return factors[name == 'M' ? 0 : name == 'm' ? 1 : name == 'N' ? 2 : 3];
}

/* Gives a stage to the seed's kernel that the desc names for it, or says why it cannot have it. */
static ipt_result ipt__stage_force(const ipt_plan *plan, ipt__stage *stage)
{
    const ipt__limits *const limits = &plan->context->limits;
    const int single = stage->length == 1 && !stage->inner_rows && plan->desc.sequence != IPT_SEQUENCE_1;
    const ipt_variant wanted = single ? plan->desc.variant_010 : plan->desc.variant_100;
    const ipt__variant *const variant = &ipt__variants[wanted];
    const size_t units = ipt__stage_units(plan, stage), instance = ipt__instance_units(plan, stage);
    const size_t group = limits->group_size;
    size_t holds, flags;
    if (wanted == IPT_VARIANT_AUTO)
        return IPT_SUCCESS;
    stage->variant = variant;
    stage->chains = 0;
    stage->workers = 1;
    stage->lanes = variant->lanes ? variant->lanes : group;
    if (stage->lanes > group)
        return ipt__fail(IPT_ERROR_UNSUPPORTED,
                         "%s needs work-groups of %lu work-items: the device has %lu; narrower units or p-ipt-item do "
                         "without",
                         variant->name, (unsigned long)stage->lanes, (unsigned long)group);
    switch (variant->family) {
    case IPT__FAMILY_SWAP:
        break;
    case IPT__FAMILY_BS:
        stage->kind = IPT__STAGE_TILE;
        stage->pack_bytes = 0;
        stage->workers = group / stage->lanes;
        holds = limits->local_memory / plan->unit_bytes;
        if (instance + (variant->bank_padding ? instance / 32 : 0) > holds)
            return ipt__fail(IPT_ERROR_UNSUPPORTED,
                             "%s needs a whole tile of %lu x %lu elements in %lu bytes of local memory: smaller tile_m "
                             "and tile_n, or pttwac-010, which has only flags there",
                             variant->name, (unsigned long)stage->rows, (unsigned long)stage->cols,
                             (unsigned long)limits->local_memory);
        break;
    case IPT__FAMILY_PTTWAC_010:
        stage->kind = IPT__STAGE_PTTWAC_010;
        flags = ipt__ceil_divide(instance, ipt__word_flags(plan, stage));
        flags += variant->flag_layout == 1 ? flags / 32 : 0;
        if (instance >= (size_t)1 << 31 || 4 * flags > limits->local_memory)
            return ipt__fail(IPT_ERROR_UNSUPPORTED,
                             "%s needs %lu words of flags for a tile of %lu x %lu elements in %lu bytes of local "
                             "memory: a smaller tile or flag_spread, or p-ipt, which has no flags",
                             variant->name, (unsigned long)flags, (unsigned long)stage->rows,
                             (unsigned long)stage->cols, (unsigned long)limits->local_memory);
        break;
    case IPT__FAMILY_PTTWAC_100:
        stage->kind = IPT__STAGE_SHUFFLE;
        if (limits->memory_model == 2 && variant->lanes && limits->largest_group >= 128)
            stage->workers = 128 / stage->lanes;
        for (;; stage->workers /= 2) { /* fewer of them where each must hold more */
            holds = (limits->local_memory - 16 * stage->workers) / (2 * stage->workers) / 16 * 16 / plan->unit_bytes;
            if (!stage->inner_rows || holds >= units || stage->workers == 1)
                break;
        }
        stage->piece_units = ipt__min(units, variant->registers ? stage->lanes * variant->registers : holds);
        if (stage->inner_rows && (variant->registers || stage->piece_units < units))
            return ipt__fail(IPT_ERROR_UNSUPPORTED,
                             "%s cannot transpose super-elements of %lu bytes inside: sequence 4.3 needs them whole in "
                             "local memory, as pttwac-100-group has them if two fit; 4.1 and 4.2 do without",
                             variant->name, (unsigned long)(units * plan->unit_bytes));
        stage->pieces = ipt__ceil_divide(units, stage->piece_units);
        break;
    default: /* P-IPT */
        stage->kind = IPT__STAGE_P_IPT;
        stage->workers = group / stage->lanes;
        if (stage->inner_rows)
            return ipt__fail(IPT_ERROR_UNSUPPORTED,
                             "%s cannot transpose super-elements inside, as sequence 4.3 needs: 4.1 and 4.2 do without",
                             variant->name);
        break;
    }
    return IPT_SUCCESS;
}

/* Appends the stage that exchanges `left` factors from `begin` on with the `right` ones behind them, of those that
 * stand in `order`, and updates the order. inner: the super-element, two factors, is transposed, too. */
static ipt_result ipt__layout_exchange(const ipt_plan *plan, ipt__layout *layout, size_t budget,
                                       const size_t factors[4], char order[5], size_t begin, size_t left, size_t right,
                                       int inner)
{
    const size_t end = begin + left + right;
    const int before = layout->stage_count;
    size_t part[4] = {1, 1, 1, 1}; /* instances, rows, cols, length */
    char moved[5];
    size_t i;
    for (i = 0; i < 4; ++i)
        part[i < begin ? 0 : i < begin + left ? 1 : i < end ? 2 : 3] *= ipt__factor(factors, order[i]);
    if (inner) {
        /* The super-element is transposed even where the grid stays as it is. */
        ipt__stage *const stage = ipt__stage_add(layout, IPT__STAGE_SHUFFLE, part[0], part[1], part[2], part[3]);
        stage->inner_rows = ipt__factor(factors, order[end]);
        stage->inner_cols = ipt__factor(factors, order[end + 1]);
        if (!ipt__shuffle_pieces(plan, stage) && plan->desc.variant_100 == IPT_VARIANT_AUTO)
            return ipt__fail(IPT_ERROR_UNSUPPORTED,
                             "tile_m = %lu and tile_n = %lu: sequence 4.3 needs two such tiles in %lu bytes of local "
                             "memory; 4.1, 4.2 or smaller tiles do without",
                             (unsigned long)stage->inner_rows, (unsigned long)stage->inner_cols,
                             (unsigned long)plan->context->limits.local_memory);
    } else if (plan->desc.sequence == IPT_SEQUENCE_1) {
        if (part[1] > 1 && part[2] > 1)
            ipt__shuffle_pieces(plan, ipt__stage_add(layout, IPT__STAGE_SHUFFLE, part[0], part[1], part[2], part[3]));
    } else {
        ipt__stage_add_dense(plan, layout, budget, part[0], part[1], part[2], part[3]);
    }
    memcpy(moved, order, 5);
    memcpy(moved + begin, order + begin + left, right);
    memcpy(moved + begin + right, order + begin, left);
    if (inner) {
        moved[end] = order[end + 1];
        moved[end + 1] = order[end];
    }
    memcpy(order, moved, 5);
    return layout->stage_count > before ? ipt__stage_force(plan, &layout->stages[before]) : IPT_SUCCESS;
}

/* The same for a stage by its text in ipt__sequence_texts. */
static ipt_result ipt__layout_text(const ipt_plan *plan, ipt__layout *layout, size_t budget, const size_t factors[4],
                                   char order[5], const char *text)
{
    const char *const dash = strchr(text, '-');
    const size_t left = (size_t)(dash - text), right = strcspn(dash + 1, "*");
    return ipt__layout_exchange(plan, layout, budget, factors, order, (size_t)(strchr(order, text[0]) - order), left,
                                right, text[left + 1 + right] == '*');
}

/* The tile of a forced sequence along one side: the caller's, which must divide, or a divisor. */
static ipt_result ipt__tile_side(const char *name, size_t tile, const char *side_name, size_t side, size_t *chosen)
{
    *chosen = tile;
    if (tile && side % tile)
        return ipt__fail(IPT_ERROR_INVALID_ARGUMENT, "%s = %lu does not divide %s = %lu", name, (unsigned long)tile,
                         side_name, (unsigned long)side);
    if (!tile)
        *chosen = ipt__divisor_near(side, IPT__DIVISOR_WANTED);
    if (!*chosen)
        return ipt__fail(IPT_ERROR_UNSUPPORTED,
                         "%s is 0 and %s = %lu has no divisor to choose: name %s, or use IPT_SEQUENCE_TWO_PASS", name,
                         side_name, (unsigned long)side, name);
    return IPT_SUCCESS;
}

static ipt_result ipt__layout_sequence(const ipt_plan *plan, ipt__layout *layout, size_t budget)
{
    const ipt_plan_desc *const desc = &plan->desc;
    size_t factors[4] = {1, 1, 1, 1}, tile_m = 1, tile_n = 1;
    char order[5] = "MmNn";
    ipt_result result = IPT_SUCCESS;
    size_t s = 0;
    int i;
    memset(layout, 0, sizeof *layout);
    if (desc->sequence != IPT_SEQUENCE_1 && desc->sequence != IPT_SEQUENCE_2_2)
        result = ipt__tile_side("tile_m", desc->tile_m, "rows", desc->rows, &tile_m);
    if (!result && desc->sequence != IPT_SEQUENCE_1 && desc->sequence != IPT_SEQUENCE_2_1)
        result = ipt__tile_side("tile_n", desc->tile_n, "cols", desc->cols, &tile_n);
    if (result)
        return result;
    factors[0] = desc->rows / tile_m;
    factors[1] = tile_m;
    factors[2] = desc->cols / tile_n;
    factors[3] = tile_n;
    while (ipt__sequence_texts[s].sequence != desc->sequence)
        ++s;
    for (i = 0; !result && ipt__sequence_texts[s].stages[i]; ++i)
        result = ipt__layout_text(plan, layout, budget, factors, order, ipt__sequence_texts[s].stages[i]);
    ipt__layout_finish(plan, layout, budget);
    return result;
}

/* Whether a layout is the better one: one that fits the budget (0: the least workspace), then the cheaper one. */
static int ipt__layout_better(const ipt__layout *a, const ipt__layout *b, size_t budget)
{
    const int a_fits = a->workspace <= budget, b_fits = b->workspace <= budget;
    if (!a_fits && !b_fits && a->minimum_workspace != b->minimum_workspace)
        return a->minimum_workspace < b->minimum_workspace;
    return a_fits != b_fits ? a_fits : a->cost < b->cost;
}

/* Tries all ways from `order` to the factors' order `to` that take at most `most` more stages, and keeps the best. */
static void ipt__layout_search(const ipt_plan *plan, ipt__layout *best, int *found, const ipt__layout *so_far,
                               size_t budget, const size_t factors[4], const char *order, const char *to, int most)
{
    size_t begin, left, right;
    if (!strcmp(order, to)) {
        ipt__layout layout = *so_far;
        ipt__layout_finish(plan, &layout, budget);
        if (!*found || ipt__layout_better(&layout, best, budget))
            *best = layout;
        *found = 1;
        return;
    }
    for (begin = 0; begin < 3 && most; ++begin)
        for (left = 1; begin + left < 4; ++left)
            for (right = 1; begin + left + right <= 4; ++right) {
                ipt__layout layout = *so_far;
                char next[5];
                memcpy(next, order, 5);
                if (!ipt__layout_exchange(plan, &layout, budget, factors, next, begin, left, right, 0))
                    ipt__layout_search(plan, best, found, &layout, budget, factors, next, to, most - 1);
            }
}

/* From one block format to another, in the best way. Any order of four factors is three exchanges from any other. */
static ipt_result ipt__layout_convert(const ipt_plan *plan, ipt__layout *layout, size_t budget)
{
    static const char *const orders[] = {
#define IPT__FORMAT_FACTORS(name, text, factors) factors,
        IPT_FORMAT_LIST(IPT__FORMAT_FACTORS)};
    const ipt_plan_desc *const desc = &plan->desc;
    const char *const from = orders[desc->from ? desc->from : IPT_FORMAT_RM];
    const char *const to = orders[desc->to ? desc->to : IPT_FORMAT_CM];
    size_t factors[4];
    ipt__layout empty;
    int found = 0;
    memset(&empty, 0, sizeof empty);
    factors[0] = desc->rows / desc->tile_m;
    factors[1] = desc->tile_m;
    factors[2] = desc->cols / desc->tile_n;
    factors[3] = desc->tile_n;
    ipt__layout_search(plan, layout, &found, &empty, budget, factors, from, to, 3);
    return found ? IPT_SUCCESS
                 : IPT_ERROR_UNSUPPORTED; /* a forced kernel refused each way: the text is the last one's */
}

/* The better of the two-pass layouts with super-elements of `length` elements. */
static void ipt__layout_of_length(const ipt_plan *plan, ipt__layout *layout, size_t length, size_t budget)
{
    ipt__layout other;
    ipt__layout_two_pass(plan, layout, length, budget);
    if (ipt__layout_cooperative(plan, &other, length)) {
        ipt__layout_finish(plan, &other, budget);
        if (ipt__layout_better(&other, layout, budget))
            *layout = other;
    }
    layout->length = length;
}

/* The best two-pass layout among super-elements of more than `above` and at most `most` bytes. */
static void ipt__layout_best_two_pass(const ipt_plan *plan, ipt__layout *best, size_t budget, size_t above, size_t most)
{
    const ipt_plan_desc *const desc = &plan->desc;
    const size_t long_side = ipt__max(desc->rows, desc->cols);
    const size_t last = ipt__min(long_side, ipt__max(1, most / desc->elem_size));
    ipt__layout candidate;
    size_t length = ipt__min(last, above / desc->elem_size + 1);
    ipt__layout_of_length(plan, best, length, budget);
    while (++length <= last) {
        ipt__layout_of_length(plan, &candidate, length, budget);
        if (ipt__layout_better(&candidate, best, budget))
            *best = candidate;
    }
}

/* Appends a stage that has whole matrices in local memory, if they fit. straight: they are not transposed. */
static void ipt__stage_add_small(const ipt_plan *plan, ipt__layout *layout, int straight)
{
    ipt__stage *stage;
    if (plan->matrix_bytes > ipt__local_budget(&plan->context->limits))
        return; /* ipt__layout_dress adds another */
    stage = ipt__stage_add(layout, IPT__STAGE_TILE, 1, plan->desc.rows, plan->desc.cols, 1);
    stage->straight = straight;
    ipt__pack_choose(plan, stage);
}

/* Chooses the stages that transpose. budget: bytes of workspace, 0 for as little as possible. */
static ipt_result ipt__layout_choose_moves(const ipt_plan *plan, ipt__layout *layout, size_t budget)
{
    const ipt_plan_desc *const desc = &plan->desc;
    const int tall = desc->rows >= desc->cols;
    const size_t length = tall ? desc->tile_m : desc->tile_n, long_side = tall ? desc->rows : desc->cols;
    memset(layout, 0, sizeof *layout);
    if (!ipt__moves[desc->move].transposed) {
        if (desc->batch > 1)
            ipt__stage_add_small(plan, layout, 1);
        ipt__layout_finish(plan, layout, budget);
        return IPT_SUCCESS;
    }
    if (desc->sequence == IPT_SEQUENCE_SQUARE && desc->rows != desc->cols)
        return ipt__fail(
            IPT_ERROR_INVALID_ARGUMENT,
            "sequence is square, but rows = %lu and cols = %lu differ: IPT_SEQUENCE_TWO_PASS serves every shape",
            (unsigned long)desc->rows, (unsigned long)desc->cols);
    if ((desc->sequence == IPT_SEQUENCE_TWO_PASS || desc->sequence == IPT_SEQUENCE_AUTO) && length > long_side)
        return ipt__fail(IPT_ERROR_INVALID_ARGUMENT, "%s = %lu is longer than %s = %lu", tall ? "tile_m" : "tile_n",
                         (unsigned long)length, tall ? "rows" : "cols", (unsigned long)long_side);
    switch (desc->sequence) {
    case IPT_SEQUENCE_AUTO:
        if (desc->rows == 1 || desc->cols == 1) {
            if (desc->batch > 1 && desc->move != IPT_MOVE_TRANSPOSE)
                ipt__stage_add_small(plan, layout, 0);
            ipt__layout_finish(plan, layout, budget);
            return IPT_SUCCESS;
        }
        if (desc->variant_010) {
            const ipt_result result =
                ipt__stage_force(plan, ipt__stage_add(layout, IPT__STAGE_TILE, 1, desc->rows, desc->cols, 1));
            ipt__layout_finish(plan, layout, budget);
            return result;
        }
        ipt__stage_add_dense(plan, layout, budget, 1, desc->rows, desc->cols, 1);
        ipt__layout_finish(plan, layout, budget);
        if (layout->stages[0].kind == IPT__STAGE_TILE || layout->stages[0].kind == IPT__STAGE_SWAP)
            return IPT_SUCCESS;
        if (!length && ipt__layout_on_chip(plan, layout)) {
            ipt__layout_finish(plan, layout, budget);
            if (layout->workspace <= budget)
                return IPT_SUCCESS;
        }
        break;
    case IPT_SEQUENCE_SQUARE: {
        ipt_result result = IPT_SUCCESS;
        if (desc->rows > 1)
            result = ipt__stage_force(plan, ipt__stage_add(layout, IPT__STAGE_SWAP, 1, desc->rows, desc->cols, 1));
        ipt__layout_finish(plan, layout, budget);
        return result;
    }
    case IPT_SEQUENCE_TWO_PASS:
        break;
    default:
        return ipt__layout_sequence(plan, layout, budget);
    }
    if (length)
        ipt__layout_of_length(plan, layout, length, budget);
    else
        ipt__layout_best_two_pass(plan, layout, budget, 0, IPT__SUPER_BYTES);
    return IPT_SUCCESS;
}

/* Appends a stage that brings `rows` rows of `length` elements from one distance to another. */
static void ipt__stage_add_pad(ipt__layout *layout, size_t rows, size_t length, size_t from, size_t to)
{
    ipt__stage *const stage = ipt__stage_add(layout, IPT__STAGE_PAD, 1, rows, 1, length);
    stage->origin = from;
    stage->row_stride = to;
}

/* Chooses all stages, those before and after the transposition included that IPT_PAD needs. */
static ipt_result ipt__layout_choose(const ipt_plan *plan, ipt__layout *layout, size_t budget)
{
    const ipt_plan_desc *const desc = &plan->desc;
    const size_t rows = desc->rows - plan->pad_rows, cols = desc->cols - plan->pad_cols;
    ipt__layout moves;
    ipt_result result;
    int i;
    if (desc->from || desc->to)
        return ipt__layout_convert(plan, layout, budget);
    result = ipt__layout_choose_moves(plan, layout, budget);
    if (result || (!plan->pad_rows && !plan->pad_cols))
        return result;
    moves = *layout;
    memset(layout, 0, sizeof *layout);
    if (plan->pad_cols && rows > 1)
        ipt__stage_add_pad(layout, rows, cols, cols, desc->cols);
    for (i = 0; i < moves.stage_count; ++i)
        layout->stages[layout->stage_count++] = moves.stages[i];
    if (plan->pad_rows && cols > 1)
        ipt__stage_add_pad(layout, cols, rows, desc->rows, rows);
    ipt__layout_finish(plan, layout, budget);
    return IPT_SUCCESS;
}

/* Pairs of elements of a matrix that a FLIP stage exchanges. */
static size_t ipt__flip_pairs(const ipt__stage *stage)
{
    if (!stage->reversed_cols)
        return stage->rows / 2 * stage->cols;
    return stage->reversed_rows ? stage->rows * stage->cols / 2 : stage->rows * (stage->cols / 2);
}

/* Adds to the stages that transpose what the plan's move and expression need beside. An expression is applied by the
 * first stage that has every element in hand just once, by one of its own where there is none. What waves leave out is
 * saved. */
static void ipt__layout_dress(const ipt_plan *plan, ipt__layout *layout)
{
    const ipt_plan_desc *const desc = &plan->desc;
    const ipt__move *const move = &ipt__moves[desc->move];
    ipt__stage *const first = &layout->stages[0];
    int i, by;
    if (layout->dressed)
        return;
    layout->dressed = 1;
    if (layout->stage_count == 1 && first->kind == IPT__STAGE_TILE && first->instances == 1) {
        first->reversed_rows = move->reversed_rows;
        first->reversed_cols = move->reversed_cols;
    } else if (move->reversed_rows || move->reversed_cols) {
        ipt__stage *const flip = ipt__stage_add(layout, IPT__STAGE_FLIP, 1, move->transposed ? desc->cols : desc->rows,
                                                move->transposed ? desc->rows : desc->cols, 1);
        flip->reversed_rows = move->reversed_rows;
        flip->reversed_cols = move->reversed_cols;
        if (!ipt__flip_pairs(flip))
            --layout->stage_count;
    }
    if (!desc->expression)
        return;
    for (by = 0; by < layout->stage_count; ++by)
        if (layout->stages[by].kind == IPT__STAGE_TILE || layout->stages[by].kind == IPT__STAGE_SWAP ||
            layout->stages[by].kind == IPT__STAGE_PANEL || layout->stages[by].kind == IPT__STAGE_WAVE)
            break;
    if (by == layout->stage_count)
        ipt__stage_add(layout, IPT__STAGE_MAP, 1, desc->rows, desc->cols, 1);
    layout->stages[by].apply = 1;
    for (i = 0; i < layout->stage_count; ++i)
        if (layout->stages[i].kind == IPT__STAGE_SAVE)
            layout->stages[i].apply = 1;
}

/* ------------------------------------------------------------------------------------------------------------------ */
/* >>execute: commands                                                                                                */
/* ------------------------------------------------------------------------------------------------------------------ */

/* One execution under way: every command waits for the one before it, the first one for `wait`. Intel's runtime for
 * CPUs (seen: 2026.22.10) lets a failed event end only the commands that wait for that event itself; what waits for
 * those begins. So there each command of an in-order queue `holds`: waits for all of the caller's events. In its
 * out-of-order queues failures are passed on, and lists of two with a failed event end the process. */
typedef struct ipt__run {
    ipt_plan *plan;
    cl_command_queue queue;
    cl_uint wait_count;
    const cl_event *wait;
    cl_event previous; /* of the last command; NULL before the first. Owned */
    int commands;      /* commands that were enqueued */
    int holds;         /* each command waits for `wait`: the queue has them in sequence by itself */
    size_t skipped;    /* units of a matrix before the place that stages work at; 0 but for ipt__host_stages */
    int unaligned;     /* the buffer lies over host memory that is not aligned to words: units are moved as they are */
} ipt__run;

static ipt__run ipt__run_begin(ipt_plan *plan, cl_command_queue queue, cl_uint wait_count, const cl_event *wait)
{
    ipt__run run;
    memset(&run, 0, sizeof run);
    run.plan = plan;
    run.queue = queue;
    run.wait_count = wait_count;
    run.wait = wait;
    return run;
}

/* Takes over the event of a command that was just enqueued. */
static ipt_result ipt__run_took(ipt__run *run, const char *call, cl_int error, cl_event event)
{
    if (error)
        return ipt__fail_opencl(call, error);
    if (run->previous)
        ipt__cl.clReleaseEvent(run->previous);
    run->previous = event;
    if (!run->holds) {
        run->wait_count = 1;
        run->wait = &run->previous;
    }
    ++run->commands;
    return IPT_SUCCESS;
}

/* Enqueues a kernel with all its arguments set. The plan is locked. `second` and local_bytes are for kernels that take
 * them. */
static ipt_result ipt__run_kernel(ipt__run *run, int index, cl_mem first, cl_mem second, size_t local_bytes,
                                  const void *arguments, cl_ulong groups)
{
    const ipt__plan_kernel *const kernel = &run->plan->kernels[index];
    const ipt__kernel_info *const info = &ipt__kernels[kernel->program->id];
    const size_t local_size = kernel->program->params.group_size, global_size = (size_t)groups * local_size;
    cl_event event = NULL;
    cl_int error;
    if (groups > 0x7fffffff) /* what NVIDIA launches at most; kernels count work-groups in 32 bits */
        return ipt__fail(IPT_ERROR_UNSUPPORTED, "%s would take %.0f work-groups: 2147483647 are possible", info->name,
                         (double)groups);
    error = ipt__set_arguments(kernel->kernel, info, first, second, local_bytes, arguments);
    if (error)
        return ipt__fail_opencl("clSetKernelArg", error);
    error = ipt__cl.clEnqueueNDRangeKernel(run->queue, kernel->kernel, 1, NULL, &global_size, &local_size,
                                           run->wait_count, run->wait, &event);
    return ipt__run_took(run, "clEnqueueNDRangeKernel", error, event);
}

/* A tile of a tiled transposition: local memory holds `tiles` of them. */
static void ipt__transpose_tile(const ipt_plan *plan, size_t element_units, size_t tiles, size_t *side, size_t *chunk)
{
    const size_t limit = ipt__min(plan->context->limits.local_memory, IPT__TRANSPOSE_BYTES);
    *side = 32;
    *chunk = ipt__min(element_units, 16);
    while (tiles * *side * (*side * *chunk + 1) * plan->unit_bytes > limit) {
        if (*side > 4 || *chunk == 1)
            *side /= 2;
        else
            *chunk /= 2;
    }
}

/* Fills in what follows from the rest, and enqueues a tiled transposition of `matrices` matrices. */
static ipt_result ipt__run_transpose(ipt__run *run, int kernel, cl_mem source, cl_mem target,
                                     ipt__transpose_arguments *a, size_t matrices)
{
    size_t side, chunk;
    cl_ulong groups;
    ipt__transpose_tile(run->plan, a->element_units, 1, &side, &chunk);
    groups = (cl_ulong)ipt__ceil_divide((size_t)a->rows, side) * ipt__ceil_divide((size_t)a->cols, side) *
             ipt__ceil_divide(a->element_units, chunk) * a->instances_per_matrix * matrices;
    a->tiles_down = (cl_uint)ipt__ceil_divide((size_t)a->rows, side); /* fit if the number of groups does */
    a->tiles_across = (cl_uint)ipt__ceil_divide((size_t)a->cols, side);
    a->chunk_units = (cl_uint)chunk;
    a->chunks = (cl_uint)ipt__ceil_divide(a->element_units, chunk);
    return ipt__run_kernel(run, kernel, source, target, side * (side * chunk + 1) * run->plan->unit_bytes, a, groups);
}

/* The same for a copy of rows. Row counts, slots and strides are set; a grid of 1 slot a row is a plain one. `kernel`
 * moves units; words are moved instead where both places begin at one. */
static ipt_result ipt__run_copy(ipt__run *run, const ipt__stage *stage, int kernel, cl_mem source, cl_mem target,
                                ipt__copy_arguments *a, size_t matrices)
{
    const cl_ulong units = IPT__WORD_BYTES / run->plan->unit_bytes;
    const ipt__params *params;
    if (stage->by_words && !run->unaligned && a->source_base % units == 0 && a->target_base % units == 0) {
        kernel = stage->word_kernel;
        a->source_base /= units;
        a->target_base /= units;
        a->source_matrix_stride /= units;
        a->target_matrix_stride /= units;
        a->source_row_stride /= units;
        a->target_row_stride /= units;
        a->row_units /= units;
    }
    params = &run->plan->kernels[kernel].program->params;
    a->chunk_units = (cl_uint)ipt__min((size_t)a->row_units, params->lanes == 1 ? 4096 : 512);
    a->chunks = ipt__ceil_divide((size_t)a->row_units, a->chunk_units);
    a->lines = a->chunks * a->rows * matrices;
    ipt__divider(a->chunks, 64, &a->chunks_magic, &a->chunks_shift);
    ipt__divider(a->rows, 64, &a->rows_magic, &a->rows_shift);
    ipt__divider(a->source_row_slots, 64, &a->source_row_slots_magic, &a->source_row_slots_shift);
    ipt__divider(a->target_row_slots, 64, &a->target_row_slots_magic, &a->target_row_slots_shift);
    return ipt__run_kernel(run, kernel, source, target, 0, a,
                           ipt__ceil_divide((size_t)a->lines, params->group_size / params->lanes));
}

/* ------------------------------------------------------------------------------------------------------------------ */
/* >>execute: stages                                                                                                  */
/* ------------------------------------------------------------------------------------------------------------------ */

/* Where a stage works: a buffer, and the units before the matrix in question and from one matrix to the next. */
typedef struct ipt__place {
    cl_mem buffer;
    cl_ulong base, matrix_stride;
} ipt__place;

static ipt_result ipt__run_save(ipt__run *run, const ipt__stage *stage, const ipt__place *place)
{
    const cl_ulong units = run->plan->element_units;
    ipt__transpose_arguments a;
    memset(&a, 0, sizeof a);
    a.source_base = place->base + stage->origin * units;
    a.source_matrix_stride = place->matrix_stride;
    a.target_matrix_stride = run->plan->layout.saved_elements * units;
    a.instances_per_matrix = 1;
    a.rows = stage->rows;
    a.cols = stage->cols;
    a.source_row_stride = stage->row_stride * units;
    a.target_row_stride = stage->rows * units;
    a.element_units = (cl_uint)units;
    return ipt__run_transpose(run, stage->kernels[0], place->buffer, run->plan->workspace, &a, run->plan->desc.batch);
}

static ipt_result ipt__run_restore(ipt__run *run, const ipt__stage *stage, const ipt__place *place)
{
    const cl_ulong units = run->plan->element_units;
    ipt__copy_arguments a;
    memset(&a, 0, sizeof a);
    a.target_base = place->base + stage->origin * units;
    a.source_matrix_stride = run->plan->layout.saved_elements * units;
    a.target_matrix_stride = place->matrix_stride;
    a.source_row_slots = a.target_row_slots = 1;
    a.source_row_stride = a.row_units = stage->length * units;
    a.target_row_stride = stage->row_stride * units;
    a.rows = stage->rows;
    return ipt__run_copy(run, stage, stage->kernels[0], run->plan->workspace, place->buffer, &a, run->plan->desc.batch);
}

/* Where the elements of a TILE stage's result come from: see pack.cl. Lengths in units. */
typedef struct ipt__tile_steps {
    size_t rows, run; /* of the result: elements */
    cl_int origin, along, next;
} ipt__tile_steps;

static ipt__tile_steps ipt__tile_steps_of(const ipt_plan *plan, const ipt__stage *stage)
{
    const cl_int units = (cl_int)ipt__stage_units(plan, stage), row = (cl_int)stage->cols * units;
    ipt__tile_steps steps;
    steps.rows = stage->straight ? stage->rows : stage->cols;
    steps.run = stage->straight ? stage->cols : stage->rows;
    steps.along = stage->straight ? units : row;
    steps.next = stage->straight ? row : units;
    steps.origin = 0;
    if (stage->reversed_cols) {
        steps.origin += (cl_int)(steps.run - 1) * steps.along;
        steps.along = -steps.along;
    }
    if (stage->reversed_rows) {
        steps.origin += (cl_int)(steps.rows - 1) * steps.next;
        steps.next = -steps.next;
    }
    return steps;
}

static ipt_result ipt__run_pack(ipt__run *run, const ipt__stage *stage, const ipt__place *place)
{
    const ipt_plan *const plan = run->plan;
    const size_t units = ipt__stage_units(plan, stage), instance = ipt__instance_units(plan, stage);
    const int back_to_back =
        plan->desc.batch == 1 || plan->desc.batch_stride == stage->instances * instance * plan->unit_bytes;
    const size_t instances = stage->instances * (back_to_back ? plan->desc.batch : 1);
    const size_t matrices = back_to_back ? 1 : plan->desc.batch;
    /* A few work-groups for each compute unit, and whole lines of memory for each work-group, if possible. */
    const size_t enough =
        ipt__max(1, ipt__ceil_divide(instances * matrices, 8 * ipt__max(1, plan->context->limits.compute_units)));
    const ipt__tile_steps steps = ipt__tile_steps_of(plan, stage);
    size_t pack = 1, whole = 1;
    ipt__pack_arguments a;
    while (whole < 128 && whole * instance * plan->unit_bytes % 128 != 0)
        whole *= 2;
    while (pack < enough && ipt__pack_fits(plan, 2 * pack * instance, stage->pack_bytes))
        pack *= 2;
    while (pack > whole && pack < enough && ipt__pack_fits(plan, (pack + whole) * instance, stage->pack_bytes))
        pack += whole;
    memset(&a, 0, sizeof a);
    a.base = place->base;
    a.matrix_stride = place->matrix_stride;
    a.instances = instances;
    a.pack = (cl_uint)pack;
    a.packs = (cl_uint)ipt__ceil_divide(instances, pack);
    a.rows = (cl_uint)steps.rows;
    a.run_elements = (cl_uint)steps.run;
    a.origin = steps.origin;
    a.along = steps.along;
    a.next = steps.next;
    a.instance_units = (cl_uint)instance;
    ipt__divider32(a.instance_units, &a.instance_units_magic, &a.instance_units_shift);
    ipt__divider32((cl_uint)(steps.run * units), &a.row_units_magic, &a.row_units_shift);
    a.element_units = (cl_uint)units;
    ipt__divider32(a.element_units, &a.element_units_magic, &a.element_units_shift);
    return ipt__run_kernel(run, stage->kernels[0], place->buffer, NULL, 0, &a, (cl_ulong)a.packs * matrices);
}

static ipt_result ipt__run_tile(ipt__run *run, const ipt__stage *stage, const ipt__place *place)
{
    const ipt_plan *const plan = run->plan;
    const size_t units = ipt__stage_units(plan, stage), instance = ipt__instance_units(plan, stage);
    const size_t padding = stage->variant ? stage->variant->bank_padding : 0; /* a unit for every 32 */
    const size_t local_units =
        (stage->variant ? plan->context->limits.local_memory : ipt__local_budget(&plan->context->limits)) /
        plan->unit_bytes;
    const size_t holds = (padding ? local_units * 32 / 33 : local_units) / instance;
    /* Enough units for every work-item to have a few, but no more: small matrices need work-groups, too. */
    const size_t wanted = ipt__max(1, 8 * plan->context->limits.group_size / instance);
    const ipt__tile_steps steps = ipt__tile_steps_of(plan, stage);
    ipt__tile_arguments a;
    if (stage->pack_bytes)
        return ipt__run_pack(run, stage, place);
    memset(&a, 0, sizeof a);
    a.base = place->base;
    a.matrix_stride = place->matrix_stride;
    a.instances = (cl_ulong)stage->instances * plan->desc.batch;
    a.instances_per_matrix = stage->instances;
    ipt__divider(stage->instances, 64, &a.instances_per_matrix_magic, &a.instances_per_matrix_shift);
    a.pack = (cl_uint)ipt__max(1, ipt__min(holds, stage->variant ? stage->workers : wanted));
    a.instance_units = (cl_uint)instance;
    a.lanes = stage->variant ? (cl_uint)stage->lanes : 1;
    a.interleaved = stage->variant ? stage->variant->interleaved : 0;
    while (!stage->variant && a.lanes < a.instance_units &&
           a.lanes < plan->kernels[stage->kernels[0]].program->params.group_size)
        a.lanes *= 2;
    a.origin = steps.origin;
    a.along = steps.along;
    a.next = steps.next;
    a.column_units = (cl_uint)(steps.run * units);
    ipt__divider32(a.column_units, &a.column_units_magic, &a.column_units_shift);
    a.element_units = (cl_uint)units;
    ipt__divider32(a.element_units, &a.element_units_magic, &a.element_units_shift);
    return ipt__run_kernel(run, stage->kernels[0], place->buffer, NULL,
                           (a.pack * instance + (padding ? a.pack * instance / 32 : 0)) * plan->unit_bytes, &a,
                           ipt__ceil_divide((size_t)a.instances, a.pack));
}

static ipt_result ipt__run_swap(ipt__run *run, const ipt__stage *stage, const ipt__place *place)
{
    const ipt_plan *const plan = run->plan;
    const size_t units = ipt__stage_units(plan, stage);
    const size_t side = stage->tile_side;
    size_t small, chunk = 1;
    cl_ulong parts, groups; /* of a matrix; of all */
    ipt__swap_arguments a;
    memset(&a, 0, sizeof a);
    if (side <= 32)
        ipt__transpose_tile(plan, units, 2, &small, &chunk);
    a.tile_quanta = (cl_uint)ipt__tile_quanta(&stage->tile, side);
    a.pitch = (cl_uint)stage->tile.pitch;
    a.skew = (cl_uint)stage->tile.skew;
    a.run_lanes = (cl_uint)stage->tile.run_lanes;
    a.base = place->base;
    a.matrix_stride = place->matrix_stride;
    a.instance_stride = ipt__instance_units(plan, stage);
    a.instances_per_matrix = (cl_uint)stage->instances;
    a.side = stage->rows;
    a.row_stride = stage->cols * units;
    a.tiles = (cl_uint)ipt__ceil_divide(stage->rows, side);
    a.element_units = (cl_uint)units;
    a.chunk_units = (cl_uint)chunk;
    a.chunks = (cl_uint)ipt__ceil_divide(units, chunk);
    parts = (cl_ulong)a.tiles * (a.tiles + 1) / 2 * a.chunks;
    groups = parts * stage->instances * plan->desc.batch;
    a.turns = a.group_step = a.turn_step = 1;
    if (stage->variant) {
        const int by_block = (int)stage->variant->interleaved;
        if (groups >> 32)
            return ipt__fail(IPT_ERROR_UNSUPPORTED, "%s serves fewer than 2^32 pairs of tiles in all",
                             stage->variant->name);
        a.turns = (cl_uint)(by_block ? groups / parts : parts);
        groups /= a.turns;
        a.group_step = by_block ? 1 : a.turns;
        a.turn_step = by_block ? (cl_uint)groups : 1;
    }
    return ipt__run_kernel(run, stage->kernels[0], place->buffer, NULL, 0, &a, groups);
}

/* Elements, or pairs of them, that a work-group takes where they need not be held. */
static size_t ipt__group_run(const ipt__limits *limits)
{
    return limits->cpu ? (size_t)IPT__RUN_CPU : IPT__RUN_GPU * limits->group_size;
}

static ipt_result ipt__run_flip(ipt__run *run, const ipt__stage *stage, const ipt__place *place)
{
    const ipt_plan *const plan = run->plan;
    const cl_long units = (cl_long)plan->element_units, row = (cl_long)stage->cols * units;
    ipt__flip_arguments a;
    memset(&a, 0, sizeof a);
    a.base = place->base;
    a.matrix_stride = place->matrix_stride;
    a.pairs = ipt__flip_pairs(stage);
    a.element_units = (cl_uint)units;
    a.line_units = (cl_ulong)row;
    if (stage->reversed_rows && stage->reversed_cols) { /* one long row */
        a.line_pairs = a.pairs;
        a.partner = (cl_long)stage->rows * row - units;
        a.partner_step = -units;
    } else if (stage->reversed_cols) {
        a.line_pairs = stage->cols / 2;
        a.partner = row - units;
        a.partner_line = row;
        a.partner_step = -units;
    } else {
        a.line_pairs = stage->cols;
        a.partner = (cl_long)(stage->rows - 1) * row;
        a.partner_line = -row;
        a.partner_step = units;
    }
    ipt__divider(a.line_pairs, plan->kernels[stage->kernels[0]].program->params.index_bits, &a.line_pairs_magic,
                 &a.line_pairs_shift);
    a.group_pairs = ipt__group_run(&plan->context->limits);
    a.groups = (cl_uint)ipt__ceil_divide((size_t)a.pairs, (size_t)a.group_pairs);
    return ipt__run_kernel(run, stage->kernels[0], place->buffer, NULL, 0, &a, (cl_ulong)a.groups * plan->desc.batch);
}

static ipt_result ipt__run_map(ipt__run *run, const ipt__stage *stage, const ipt__place *place)
{
    const ipt_plan *const plan = run->plan;
    const size_t units = ipt__instance_units(plan, stage);
    const int back_to_back = plan->desc.batch_stride == units * plan->unit_bytes; /* then they are one */
    ipt__map_arguments a;
    memset(&a, 0, sizeof a);
    a.base = place->base;
    a.matrix_stride = place->matrix_stride;
    a.units = units * (back_to_back ? plan->desc.batch : 1);
    a.group_units = ipt__group_run(&plan->context->limits);
    a.groups = (cl_uint)ipt__ceil_divide((size_t)a.units, (size_t)a.group_units);
    return ipt__run_kernel(run, stage->kernels[0], place->buffer, NULL, 0, &a,
                           (cl_ulong)a.groups * (back_to_back ? 1 : plan->desc.batch));
}

/* Instances `first` to first + count - 1 of `matrices` matrices through slabs: transposed on the way in if the target
 * is the side that lies on the grid, else on the way out. The end of the first launch is the barrier. */
static ipt_result ipt__run_wave(ipt__run *run, const ipt__stage *stage, const ipt__place *place, size_t first,
                                size_t count, size_t matrices)
{
    const ipt_plan *const plan = run->plan;
    const cl_ulong units = ipt__stage_units(plan, stage), instance = ipt__instance_units(plan, stage);
    const cl_ulong slabs = plan->layout.scratch_offset / plan->unit_bytes;
    const size_t rows = stage->gapped_source ? stage->rows : stage->cols;
    const size_t length = stage->gapped_source ? stage->cols : stage->rows;
    ipt__transpose_arguments t;
    ipt__copy_arguments c;
    ipt_result result;
    memset(&t, 0, sizeof t);
    memset(&c, 0, sizeof c);
    t.source_instance_stride = t.target_instance_stride = instance;
    t.instances_per_matrix = (cl_uint)count;
    t.rows = stage->rows;
    t.cols = stage->cols;
    t.source_row_stride = stage->cols * units;
    t.target_row_stride = stage->rows * units;
    t.element_units = (cl_uint)units;
    c.rows = (cl_ulong)rows * count;
    c.row_units = length * units;
    if (stage->gapped_source) {
        c.source_base = place->base;
        c.source_matrix_stride = place->matrix_stride;
        c.source_first = (cl_ulong)first * rows;
        c.source_row_slots = stage->row_slots;
        c.source_row_stride = stage->row_stride * units;
        c.target_base = slabs;
        c.target_matrix_stride = instance * count;
        c.target_row_slots = 1;
        c.target_row_stride = c.row_units;
        t.source_base = slabs;
        t.source_matrix_stride = instance * count;
        t.target_base = place->base + first * instance;
        t.target_matrix_stride = place->matrix_stride;
        result = ipt__run_copy(run, stage, stage->kernels[1], place->buffer, plan->workspace, &c, matrices);
        return result ? result
                      : ipt__run_transpose(run, stage->kernels[0], plan->workspace, place->buffer, &t, matrices);
    }
    t.source_base = place->base + first * instance;
    t.source_matrix_stride = place->matrix_stride;
    t.target_base = slabs;
    t.target_matrix_stride = instance * count;
    c.source_base = slabs;
    c.source_matrix_stride = instance * count;
    c.source_row_slots = 1;
    c.source_row_stride = c.row_units;
    c.target_base = place->base;
    c.target_matrix_stride = place->matrix_stride;
    c.target_first = (cl_ulong)first * rows;
    c.target_row_slots = stage->row_slots ? stage->row_slots : 1;
    c.target_row_stride = stage->row_slots ? stage->row_stride * units : c.row_units;
    result = ipt__run_transpose(run, stage->kernels[0], place->buffer, plan->workspace, &t, matrices);
    return result ? result : ipt__run_copy(run, stage, stage->kernels[1], plan->workspace, place->buffer, &c, matrices);
}

/* Clears a part of the workspace. */
static ipt_result ipt__run_clear(ipt__run *run, size_t offset, size_t bytes)
{
    const cl_uint zero = 0;
    cl_event event = NULL;
    const cl_int error = ipt__cl.clEnqueueFillBuffer(run->queue, run->plan->workspace, &zero, sizeof zero, offset,
                                                     bytes, run->wait_count, run->wait, &event);
    return ipt__run_took(run, "clEnqueueFillBuffer", error, event);
}

/* Whether commands of a queue that are enqueued after `event` begin after it by themselves. */
static int ipt__queue_follows(cl_command_queue queue, cl_event event)
{
    cl_command_queue of_event = NULL;
    cl_command_queue_properties properties = CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE;
    return !ipt__cl.clGetEventInfo(event, CL_EVENT_COMMAND_QUEUE, sizeof of_event, &of_event, NULL) &&
           of_event == queue &&
           !ipt__cl.clGetCommandQueueInfo(queue, CL_QUEUE_PROPERTIES, sizeof properties, &properties, NULL) &&
           !(properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
}

/* Enqueues a kernel whose work-groups wait for one another behind the last such launch of the context: two that share
 * the device might each hold what the other waits for, and would have to give up. */
static ipt_result ipt__run_cooperative(ipt__run *run, int kernel, cl_mem buffer, const void *arguments, cl_ulong groups)
{
    ipt_context *const context = run->plan->context;
    cl_event both[2] = {NULL, NULL};
    cl_int status = CL_COMPLETE;
    ipt_result result = IPT_SUCCESS;
    IPT_LOCK_ACQUIRE(&context->cooperative_lock);
    if (context->cooperative_last &&
        (ipt__cl.clGetEventInfo(context->cooperative_last, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status,
                                NULL) ||
         status <= CL_COMPLETE)) {
        ipt__cl.clReleaseEvent(context->cooperative_last);
        context->cooperative_last = NULL;
    }
    if (context->cooperative_last && !ipt__queue_follows(run->queue, context->cooperative_last)) {
        if (run->wait_count > 1) {
            cl_event marker = NULL;
            const cl_int error = ipt__cl.clEnqueueMarkerWithWaitList(run->queue, run->wait_count, run->wait, &marker);
            result = ipt__run_took(run, "clEnqueueMarkerWithWaitList", error, marker);
        }
        both[0] = context->cooperative_last;
        if (run->wait_count)
            both[1] = run->wait[0];
        run->wait = both;
        ++run->wait_count;
    }
    if (!result)
        result = ipt__run_kernel(run, kernel, buffer, run->plan->workspace, 0, arguments, groups);
    if (!result) {
        if (context->cooperative_last)
            ipt__cl.clReleaseEvent(context->cooperative_last);
        context->cooperative_last = run->previous;
        if (ipt__cl.clRetainEvent(run->previous)) { /* no hold of it: then nothing may have to wait for it */
            ipt__cl.clWaitForEvents(1, &run->previous);
            context->cooperative_last = NULL;
        }
    }
    IPT_LOCK_RELEASE(&context->cooperative_lock);
    return result;
}

static ipt_result ipt__run_panel(ipt__run *run, const ipt__stage *stage, const ipt__place *place)
{
    ipt_plan *const plan = run->plan;
    const ipt__layout *const layout = &plan->layout;
    const ipt__chunks *const chunks = &stage->chunks;
    const cl_ulong units = plan->element_units;
    const size_t control_stride = ipt__round_up(layout->control_words * 4, 256) / 4;
    ipt_result result;
    ipt__panel_arguments a;
    memset(&a, 0, sizeof a);
    a.base = place->base;
    a.matrix_stride = place->matrix_stride;
    a.matrix_units = (cl_ulong)plan->desc.rows * plan->desc.cols * units;
    a.saved_stride = layout->saved_elements * units;
    a.row_slots = stage->row_slots;
    ipt__divider(a.row_slots, 32, &a.row_slots_magic, &a.row_slots_shift);
    a.row_stride = stage->row_stride * units;
    a.control_base = layout->saved_bytes / 4 + (size_t)plan->turn * control_stride;
    a.clear_base = layout->saved_bytes / 4 + (size_t)!plan->turn * control_stride;
    a.clear_words = (cl_uint)layout->control_words;
    a.flags_base = layout->flags_offset / 4;
    a.alone_base = layout->alone_offset / 4;
    a.waits = chunks->waits;
    a.neighbours = chunks->neighbours;
    a.tickets = (cl_uint)(chunks->across * chunks->down * chunks->orders * plan->desc.batch);
    a.flag_words = (cl_uint)((layout->alone_offset - layout->flags_offset) / 4);
    a.flag_words_each = (cl_uint)ipt__ceil_divide(a.flag_words, a.tickets);
    a.orders = (cl_uint)chunks->orders;
    a.packs = (cl_uint)chunks->packs;
    a.pack = (cl_uint)chunks->pack;
    a.panels = (cl_uint)stage->instances;
    a.length = (cl_uint)(chunks->tall ? stage->rows : stage->cols);
    a.tail_length = (cl_uint)stage->tail_length;
    a.short_side = (cl_uint)(chunks->tall ? stage->cols : stage->rows);
    a.chunk_x = (cl_uint)chunks->x;
    a.chunk_y = (cl_uint)chunks->y;
    a.across = (cl_uint)chunks->across;
    a.down = (cl_uint)chunks->down;
    a.blocks = (cl_uint)chunks->blocks;
    a.block_rows = (cl_uint)chunks->block_rows;
    a.pitch = (cl_uint)chunks->tile.pitch;
    a.skew = (cl_uint)chunks->tile.skew;
    a.run_lanes = (cl_uint)chunks->tile.run_lanes;
    a.polls = plan->context->limits.wait_polls;
    ipt__divider32(a.length, &a.length_magic, &a.length_shift);
    ipt__divider32(a.across * a.down, &a.chunks_magic, &a.chunks_shift);
    ipt__divider32(a.across, &a.across_magic, &a.across_shift);
    ipt__divider32(a.orders, &a.orders_magic, &a.orders_shift);
    ipt__divider32(a.short_side, &a.short_side_magic, &a.short_side_shift);
    a.element_units = (cl_uint)units;
    ipt__divider32(a.element_units, &a.element_units_magic, &a.element_units_shift);
    if (!chunks->waits)
        return ipt__run_kernel(run, stage->kernels[0], place->buffer, plan->workspace, 0, &a, a.tickets);
    result = ipt__run_cooperative(run, stage->kernels[0], place->buffer, &a, a.tickets);
    if (!result)
        plan->turn = !plan->turn;
    return result;
}

static ipt_result ipt__run_chains(ipt__run *run, const ipt__stage *stage, const ipt__place *place, size_t first,
                                  size_t count, size_t matrices)
{
    const ipt_plan *const plan = run->plan;
    const ipt__layout *const layout = &plan->layout;
    const size_t word_units = IPT__WORD_BYTES / plan->unit_bytes;
    const int words = stage->by_words && !run->unaligned && place->base % word_units == 0;
    const size_t scale = words ? word_units : 1; /* plan's units in one of the kernel's */
    const int kernel = words ? stage->word_kernel : stage->kernels[0];
    const ipt__params *const params = &plan->kernels[kernel].program->params;
    const size_t element_units = plan->element_units, units = stage->length * element_units;
    const size_t sub_groups = params->group_size / params->lanes;
    size_t most, runs;
    ipt__chains_arguments a;
    memset(&a, 0, sizeof a);
    a.instance_stride = stage->rows * stage->cols * units / scale;
    a.base = place->base / scale + first * a.instance_stride;
    a.matrix_stride = place->matrix_stride / scale;
    a.matrix_units = (plan->matrix_bytes / plan->unit_bytes - run->skipped) / scale - first * (size_t)a.instance_stride;
    a.instances_per_matrix = count;
    a.flags_base = (layout->cooperative ? layout->flags_offset : layout->scratch_offset) / 4;
    a.slots = (cl_ulong)stage->rows * stage->cols;
    a.words = ipt__ceil_divide((size_t)a.slots, 32);
    a.pieces = stage->pieces;
    a.piece_units = (cl_uint)(stage->piece_units / scale);
    a.total_words = a.words * a.pieces * count * matrices;
    a.rows = stage->rows;
    a.cols = stage->cols;
    ipt__divider(a.cols, params->index_bits, &a.cols_magic, &a.cols_shift);
    a.row_slots = stage->row_slots ? stage->row_slots : 1;
    ipt__divider(a.row_slots, params->index_bits, &a.row_slots_magic, &a.row_slots_shift);
    a.row_stride = (stage->row_slots ? stage->row_stride * element_units : units) / scale;
    a.super_units = units / scale;
    if (stage->tail_length) {
        a.gap_rows_each = ipt__min(plan->desc.rows, plan->desc.cols);
        a.gap_rows = a.gap_rows_each * matrices;
        a.gap_begin = stage->row_slots * units / scale;
        a.gap_units = (cl_uint)(stage->tail_length * element_units / scale);
        a.gap_restore = (cl_uint)stage->gap_restore;
        a.saved_stride = layout->saved_elements * element_units / scale;
    }
    ipt__divider(ipt__max((size_t)a.gap_rows_each, 1), 64, &a.gap_rows_each_magic, &a.gap_rows_each_shift);
    if (!layout->cooperative) {
        const ipt_result result = ipt__run_clear(run, layout->scratch_offset, (size_t)a.total_words * 4);
        if (result)
            return result;
    }
    /* As many sub-groups as the device runs, as far as there are slots for them to start at. */
    most = plan->context->limits.compute_units *
           ipt__min(48, ipt__max(8, IPT__UNIT_BYTES / (32 * stage->piece_quanta * params->chains)));
    a.words_each = ipt__ceil_divide((size_t)a.total_words, most);
    runs = ipt__ceil_divide((size_t)a.total_words, (size_t)a.words_each);
    for (a.parts = 1; a.parts < 8 && 2 * a.parts * runs <= most;)
        a.parts *= 2;
    return ipt__run_kernel(run, kernel, place->buffer, plan->workspace, 0, &a,
                           ipt__ceil_divide(runs * a.parts, sub_groups));
}

/* As many work-groups as keep a device busy, that take turns at what there is to do. */
static size_t ipt__seed_groups(const ipt_plan *plan, size_t group_size, size_t wanted)
{
    return ipt__max(1, ipt__min(wanted, plan->context->limits.compute_units * ipt__max(1, 2048 / group_size)));
}

static ipt_result ipt__run_shuffle(ipt__run *run, const ipt__stage *stage, const ipt__place *place, size_t first,
                                   size_t count, size_t matrices)
{
    const ipt_plan *const plan = run->plan;
    const ipt__limits *const limits = &plan->context->limits;
    const size_t word_units = IPT__WORD_BYTES / plan->unit_bytes;
    const int words = stage->by_words && !run->unaligned && place->base % word_units == 0;
    const int kernel = words ? stage->word_kernel : stage->kernels[0];
    const unsigned index_bits = plan->kernels[kernel].program->params.index_bits;
    const size_t scale = words ? word_units : 1; /* plan's units in one of the kernel's */
    const size_t units = ipt__stage_units(plan, stage), slots = stage->rows * stage->cols;
    ipt__shuffle_arguments a;
    ipt_result result;
    memset(&a, 0, sizeof a);
    a.instance_stride = ipt__instance_units(plan, stage) / scale;
    a.base = place->base / scale + first * a.instance_stride;
    a.matrix_stride = place->matrix_stride / scale;
    a.instances_per_matrix = count;
    a.flags_base = plan->layout.scratch_offset / 4;
    a.words = ipt__ceil_divide(slots, ipt__word_flags(plan, stage));
    a.total_words = a.words * stage->pieces * count * matrices;
    a.slots = slots;
    a.rows = stage->rows;
    a.cols = stage->cols;
    a.row_slots = stage->row_slots ? stage->row_slots : 1;
    a.row_stride = (stage->row_slots ? stage->row_stride * plan->element_units : units) / scale;
    a.super_units = units / scale;
    a.pieces = stage->pieces;
    a.piece_units = (cl_uint)(stage->piece_units / scale);
    a.inner_rows = (cl_uint)stage->inner_rows;
    a.inner_cols = (cl_uint)stage->inner_cols;
    a.element_units = (cl_uint)plan->element_units;
    ipt__divider(a.cols, index_bits, &a.cols_magic, &a.cols_shift);
    ipt__divider(a.row_slots, index_bits, &a.row_slots_magic, &a.row_slots_shift);
    result = ipt__run_clear(run, plan->layout.scratch_offset, (size_t)a.total_words * 4);
    if (result)
        return result;
    /* Each work-group strides over the flag words, starting chains where it finds a clear bit: a few groups to a
     * compute unit keep its memory busy, and more would only wait for their turn. */
    if (stage->variant)
        return ipt__run_kernel(
            run, kernel, place->buffer, plan->workspace,
            stage->variant->registers ? 16 : stage->workers * 2 * stage->piece_units * plan->unit_bytes, &a,
            ipt__seed_groups(plan, stage->lanes * stage->workers,
                             ipt__ceil_divide((size_t)a.total_words, stage->workers)));
    return ipt__run_kernel(run, kernel, place->buffer, plan->workspace, 2 * stage->piece_units * plan->unit_bytes, &a,
                           ipt__min((size_t)a.total_words, limits->compute_units * (limits->cpu ? 4 : 32)));
}

#ifndef IPT_NO_SEED_KERNELS
static ipt_result ipt__run_pttwac_010(ipt__run *run, const ipt__stage *stage, const ipt__place *place)
{
    const ipt_plan *const plan = run->plan;
    ipt__pttwac_010_arguments a;
    size_t words;
    memset(&a, 0, sizeof a);
    a.base = place->base;
    a.matrix_stride = place->matrix_stride;
    a.instances = (cl_ulong)stage->instances * plan->desc.batch;
    a.instances_per_matrix = stage->instances;
    a.instance_units = (cl_uint)ipt__instance_units(plan, stage);
    a.rows = (cl_uint)stage->rows;
    a.cols = (cl_uint)stage->cols;
    ipt__divider32(a.cols, &a.cols_magic, &a.cols_shift);
    a.element_units = (cl_uint)plan->element_units;
    ipt__divider32(a.element_units, &a.element_units_magic, &a.element_units_shift);
    words = ipt__ceil_divide(a.instance_units, ipt__word_flags(plan, stage));
    a.flag_words = (cl_uint)words;
    return ipt__run_kernel(run, stage->kernels[0], place->buffer, NULL,
                           4 * (words + (stage->variant->flag_layout == 1 ? words / 32 : 0)), &a,
                           ipt__seed_groups(plan, plan->context->limits.group_size, (size_t)a.instances));
}

static ipt_result ipt__run_p_ipt(ipt__run *run, const ipt__stage *stage, const ipt__place *place)
{
    const ipt_plan *const plan = run->plan;
    const ipt__params *const params = &plan->kernels[stage->kernels[0]].program->params;
    ipt__p_ipt_arguments a;
    memset(&a, 0, sizeof a);
    a.base = place->base;
    a.matrix_stride = place->matrix_stride;
    a.instance_stride = ipt__instance_units(plan, stage);
    a.instances_per_matrix = stage->instances;
    a.slots = (cl_ulong)stage->rows * stage->cols;
    a.total_slots = a.slots * stage->instances * plan->desc.batch;
    a.rows = stage->rows;
    a.cols = stage->cols;
    ipt__divider(a.cols, params->index_bits, &a.cols_magic, &a.cols_shift);
    a.super_units = ipt__stage_units(plan, stage);
    return ipt__run_kernel(
        run, stage->kernels[0], place->buffer, NULL, 0, &a,
        ipt__seed_groups(plan, params->group_size,
                         ipt__ceil_divide((size_t)a.total_slots, params->group_size / params->lanes)));
}

static ipt_result ipt__run_pad(ipt__run *run, const ipt__stage *stage, const ipt__place *place)
{
    const ipt_plan *const plan = run->plan;
    const size_t offset = plan->layout.scratch_offset;
    ipt__pad_arguments a;
    ipt_result result = ipt__run_clear(run, offset, ipt__pad_bytes(plan, stage));
    memset(&a, 0, sizeof a);
    a.base = place->base;
    a.matrix_stride = place->matrix_stride;
    a.rows = stage->rows;
    a.row_units = ipt__stage_units(plan, stage);
    ipt__divider(a.row_units, 64, &a.row_units_magic, &a.row_units_shift);
    a.source_stride = stage->origin * plan->element_units;
    a.target_stride = stage->row_stride * plan->element_units;
    a.chunks = ipt__pad_chunks(plan, stage);
    a.control_base = offset / 4;
    return result ? result
                  : ipt__run_kernel(run, stage->kernels[0], place->buffer, plan->workspace, 0, &a,
                                    a.chunks * plan->desc.batch);
}
#endif

/* A stage whose instances share workspace, in turns. Gapped targets are written from the last instance to the first,
 * gapped sources are read from the first to the last: what a panel overwrites has been read by then. */
static ipt_result ipt__run_in_turns(ipt__run *run, const ipt__stage *stage, const ipt__place *place)
{
    const size_t turns = ipt__ceil_divide(stage->instances, stage->instances_at_once);
    size_t matrix, turn;
    ipt_result result = IPT_SUCCESS;
    for (matrix = 0; matrix < run->plan->desc.batch; matrix += stage->matrices_at_once)
        for (turn = 0; turn < turns; ++turn) {
            const size_t matrices = ipt__min(stage->matrices_at_once, run->plan->desc.batch - matrix);
            const size_t first = (stage->gapped_source ? turn : turns - 1 - turn) * stage->instances_at_once;
            const size_t count = ipt__min(stage->instances_at_once, stage->instances - first);
            ipt__place part = *place;
            part.base += matrix * place->matrix_stride;
            result = stage->kind == IPT__STAGE_WAVE ? ipt__run_wave(run, stage, &part, first, count, matrices)
                     : stage->chains                ? ipt__run_chains(run, stage, &part, first, count, matrices)
                                                    : ipt__run_shuffle(run, stage, &part, first, count, matrices);
            if (result)
                return result;
        }
    return result;
}

static ipt_result ipt__run_stage(ipt__run *run, const ipt__stage *stage, const ipt__place *place)
{
    ipt_result result = IPT_SUCCESS;
    switch (stage->kind) {
    case IPT__STAGE_SAVE:
        result = ipt__run_save(run, stage, place);
        break;
    case IPT__STAGE_RESTORE:
        result = ipt__run_restore(run, stage, place);
        break;
    case IPT__STAGE_PANEL:
        result = ipt__run_panel(run, stage, place);
        break;
    case IPT__STAGE_TILE:
        result = ipt__run_tile(run, stage, place);
        break;
    case IPT__STAGE_SWAP:
        result = ipt__run_swap(run, stage, place);
        break;
    case IPT__STAGE_FLIP:
        result = ipt__run_flip(run, stage, place);
        break;
    case IPT__STAGE_MAP:
        result = ipt__run_map(run, stage, place);
        break;
#ifndef IPT_NO_SEED_KERNELS
    case IPT__STAGE_PTTWAC_010:
        result = ipt__run_pttwac_010(run, stage, place);
        break;
    case IPT__STAGE_P_IPT:
        result = ipt__run_p_ipt(run, stage, place);
        break;
    case IPT__STAGE_PAD:
        result = ipt__run_pad(run, stage, place);
        break;
#else
    case IPT__STAGE_PTTWAC_010: /* no plan has them */
    case IPT__STAGE_P_IPT:
    case IPT__STAGE_PAD:
        break;
#endif
    case IPT__STAGE_WAVE:
    case IPT__STAGE_SHUFFLE:
        result = ipt__run_in_turns(run, stage, place);
        break;
    }
    return result;
}

static ipt_result ipt__run_stages(ipt__run *run, const ipt__place *place)
{
    ipt_plan *const plan = run->plan;
    ipt_result result = IPT_SUCCESS;
    int i;
    if (plan->dirty && plan->layout.cooperative)
        result = ipt__run_clear(run, plan->layout.saved_bytes, plan->layout.scratch_offset - plan->layout.saved_bytes);
    if (!result)
        plan->dirty = 0;
    for (i = 0; i < plan->layout.stage_count && !result; ++i)
        result = ipt__run_stage(run, &plan->layout.stages[i], place);
    return result;
}

/* ------------------------------------------------------------------------------------------------------------------ */
/* >>plan: creation                                                                                                   */
/* ------------------------------------------------------------------------------------------------------------------ */

/* A kernel of the plan for the given parameters: the one it has, or a new one. */
static ipt_result ipt__plan_kernel_get(ipt_plan *plan, ipt__kernel_id id, ipt__params params, int *index)
{
    ipt__plan_kernel *const kernel = &plan->kernels[plan->kernel_count];
    cl_int error;
    ipt_result result;
    if (!ipt__params_reduce(&params, ipt__kernels[id].uses))
        return ipt__fail(IPT_ERROR_UNSUPPORTED, "a parameter of %s is out of range", ipt__kernels[id].name);
    for (*index = 0; *index < plan->kernel_count; ++*index)
        if (plan->kernels[*index].program->id == id &&
            ipt__params_equal(&plan->kernels[*index].program->params, &params))
            return IPT_SUCCESS;
    if (plan->kernel_count == IPT__MAX_KERNELS)
        return ipt__fail(IPT_ERROR_UNSUPPORTED, "the plan would need more than %d kernels", IPT__MAX_KERNELS);
    result = ipt__program_get(plan->context, id, &params, (plan->desc.flags & IPT_CACHE_ONLY) != 0, &kernel->program);
    if (result)
        return result;
    kernel->kernel = NULL;
    if (plan->context->context) {
        kernel->kernel = ipt__cl.clCreateKernel(kernel->program->program, ipt__kernels[id].name, &error);
        if (error) {
            ipt__program_drop(plan->context, kernel->program);
            return ipt__fail_opencl("clCreateKernel", error);
        }
    }
    *index = plan->kernel_count++;
    return IPT_SUCCESS;
}

/* The side of the tiles that a SWAP stage exchanges, their local memory, and the work-items that move two. A GPU
 * fetches large ones by quanta, the larger the more sectors their rows cut: so large that a compute unit holds only
 * two, if there are enough for each (an H200: 0.78 to 0.81 of a copy for 14000 x 14000 floats). CPUs have small ones,
 * as have elements of several units. refused: the large ones are. */
static void ipt__swap_tile(const ipt_plan *plan, ipt__stage *stage, int refused)
{
    static const size_t sides[3][2] = {
        {64, 112}, {64, 96}, {48, 48}}; /* by unit: 4, 8, 16 bytes; cut sectors: no, yes */
    const ipt__limits *const limits = &plan->context->limits;
    const size_t unit = plan->unit_bytes, per_side = stage->cols / IPT__SWAP_SIDE_LARGE,
                 most = limits->nvidia && !limits->local_is_limited ? (size_t)IPT__SWAP_BYTES : limits->local_memory;
    const int cut = stage->cols * unit % 256 != 0;
    size_t chunk;
    stage->tile_group = limits->group_size;
    if (!refused && !limits->cpu && limits->group_size >= 64 && unit >= 4 && ipt__stage_units(plan, stage) == 1) {
        stage->tile_side = sides[unit == 4 ? 0 : unit == 8 ? 1 : 2][cut];
        if (unit == 4 && cut && limits->largest_group >= IPT__SWAP_GROUP_LARGE &&
            per_side * per_side / 2 >= 28 * limits->compute_units) {
            stage->tile_side = IPT__SWAP_SIDE_LARGE;
            stage->tile_group = IPT__SWAP_GROUP_LARGE;
        }
        stage->tile = ipt__lay_out_tile(plan, stage->tile_group, stage->tile_side * unit, stage->cols * unit);
        stage->tile_bytes = 2 * 16 * (stage->tile_side * (stage->tile.pitch + 1) + 1);
        if (stage->tile_bytes + 2 * 4 * stage->tile_side <= most)
            return;
        stage->tile_group = limits->group_size;
    }
    ipt__transpose_tile(plan, ipt__stage_units(plan, stage), 2, &stage->tile_side, &chunk);
    stage->tile_bytes = ipt__round_up(2 * stage->tile_side * (stage->tile_side * chunk + 1) * unit, 1024);
}

/* Parameters for elements of element_units units; `tiles` of them in local memory at once. */
static ipt__params ipt__plan_params(const ipt_plan *plan, size_t element_units, size_t tiles)
{
    size_t side, chunk;
    ipt__params params;
    memset(&params, 0, sizeof params);
    ipt__transpose_tile(plan, element_units, tiles, &side, &chunk);
    params.unit_bytes = (cl_uint)plan->unit_bytes;
    params.element_units = element_units == 1;
    /* A CPU's vectors come from a work-item's loops: one to a work-group moves tiles up to 1.6 times as fast on PoCL.
     */
    params.group_size = plan->context->limits.cpu ? 1 : (cl_uint)plan->context->limits.group_size;
    params.tile = (cl_uint)side;
    params.lanes = (cl_uint)(plan->context->limits.cpu ? 1 : ipt__min(32, plan->context->limits.group_size));
    params.memory_model = (cl_uint)plan->context->limits.memory_model;
    params.expression = plan->desc.expression;
    params.expression_type = plan->desc.expression_type;
    return params;
}

static ipt_result ipt__stage_kernels(ipt_plan *plan, ipt__stage *stage)
{
    ipt__params params = ipt__plan_params(plan, ipt__stage_units(plan, stage), stage->kind == IPT__STAGE_SWAP ? 2 : 1);
    const int cache_only = (plan->desc.flags & IPT_CACHE_ONLY) != 0;
    ipt__kernel_id id = IPT__KERNEL_transpose;
    int *index = &stage->kernels[0];
    ipt_result result = IPT_SUCCESS;
    params.apply = (cl_uint)stage->apply;
    switch (stage->kind) {
    case IPT__STAGE_SAVE:
        break;
    case IPT__STAGE_FLIP:
        id = IPT__KERNEL_flip;
        params.index_bits = ipt__flip_pairs(stage) < (size_t)1 << 31 ? 32 : 64;
        break;
    case IPT__STAGE_MAP:
        id = IPT__KERNEL_map;
        break;
    case IPT__STAGE_TILE:
        while (stage->pack_bytes) {
            result = ipt__plan_kernel_get(plan, IPT__KERNEL_pack, ipt__pack_params(plan, stage, stage->apply), index);
            if (result != IPT_ERROR_BUILD)
                return result;
            ipt__refuse_local(plan->context, stage->pack_bytes);
            ipt__pack_choose(plan, stage);
            if (!stage->pack_bytes &&
                ipt__instance_units(plan, stage) * plan->unit_bytes > ipt__local_budget(&plan->context->limits))
                return result; /* kernel tile cannot hold it: another layout has to be found */
            result = IPT_SUCCESS;
        }
        id = IPT__KERNEL_tile;
        if (stage->variant) {
            params.group_size = (cl_uint)(stage->lanes * stage->workers);
            params.bank_padding = stage->variant->bank_padding;
        }
        break;
#ifndef IPT_NO_SEED_KERNELS
    case IPT__STAGE_PTTWAC_010:
        id = IPT__KERNEL_pttwac_010;
        params.group_size = (cl_uint)stage->lanes;
        params.flag_spread = plan->desc.flag_spread ? (cl_uint)plan->desc.flag_spread : 1;
        params.flag_layout = stage->variant->flag_layout;
        break;
    case IPT__STAGE_P_IPT:
        id = IPT__KERNEL_p_ipt;
        params.group_size = (cl_uint)(stage->lanes * stage->workers);
        params.lanes = (cl_uint)stage->lanes;
        params.index_bits = stage->rows * stage->cols < (size_t)1 << 31 ? 32 : 64;
        break;
    case IPT__STAGE_PAD:
        id = IPT__KERNEL_pad;
        params.group_size = (cl_uint)plan->context->limits.group_size;
        params.chained = plan->desc.variant_pad == IPT_VARIANT_PAD_CHAINED;
        break;
#else
    case IPT__STAGE_PTTWAC_010: /* no plan has them */
    case IPT__STAGE_P_IPT:
    case IPT__STAGE_PAD:
        break;
#endif
    case IPT__STAGE_SWAP:
        id = IPT__KERNEL_swap;
        ipt__swap_tile(plan, stage, stage->variant != NULL);
        params.tile = (cl_uint)stage->tile_side;
        params.local_bytes = (cl_uint)stage->tile_bytes;
        if (stage->tile_side > 32) {
            params.group_size = (cl_uint)stage->tile_group;
            if (!ipt__local_refused(plan->context, stage->tile_bytes)) {
                result = ipt__plan_kernel_get(plan, id, params, index);
                if (result != IPT_ERROR_BUILD)
                    return result;
                result = IPT_SUCCESS;
                ipt__refuse_local(plan->context, stage->tile_bytes);
            }
            ipt__swap_tile(plan, stage, 1);
            params.group_size = (cl_uint)stage->tile_group;
            params.tile = (cl_uint)stage->tile_side;
            params.local_bytes = (cl_uint)stage->tile_bytes;
        }
        break;
    case IPT__STAGE_WAVE:
        result = ipt__plan_kernel_get(plan, id, params, index++);
        id = IPT__KERNEL_copy;
        break;
    case IPT__STAGE_RESTORE:
        id = IPT__KERNEL_copy;
        break;
    case IPT__STAGE_PANEL:
        id = IPT__KERNEL_panel;
        params.index_bits = 32;
        params.tall = (cl_uint)stage->chunks.tall;
        params.narrow = (cl_uint)stage->chunks.narrow;
        params.local_bytes = plan->panel->params.local_bytes;
        params.group_size = plan->panel->params.group_size;
        break;
    case IPT__STAGE_SHUFFLE:
        id = stage->chains ? IPT__KERNEL_chains : IPT__KERNEL_shuffle;
        if (stage->inner_rows) /* long super-elements, and much to compute for each unit */
            while (!plan->context->limits.cpu && params.lanes < plan->context->limits.group_size &&
                   params.lanes * 8 <= stage->piece_units)
                params.lanes *= 2;
        params.group_size = params.lanes; /* a work-group to a chain */
        params.flag_spread = 1;
        if (stage->variant) {
            params.lanes = (cl_uint)stage->lanes;
            params.group_size = (cl_uint)(stage->lanes * stage->workers);
            params.registers = stage->variant->registers;
            params.flag_spread = plan->desc.flag_spread ? (cl_uint)plan->desc.flag_spread : 1;
        }
        if (stage->chains) {
            params.piece_quanta = (cl_uint)stage->piece_quanta;
            params.chains = (cl_uint)ipt__chains_at_once(plan, stage);
        }
        params.index_bits = stage->rows * stage->cols < (size_t)1 << 31 ? 32 : 64;
        params.inner = stage->inner_rows != 0;
        if (stage->chains)
            result = ipt__sub_groups_get(plan->context, &params, cache_only);
        break;
    }
    if (!result)
        result = ipt__plan_kernel_get(plan, id, params, index);
    if (!result && stage->by_words) {
        params.unit_bytes = IPT__WORD_BYTES;
        if (stage->chains)
            result = ipt__sub_groups_get(plan->context, &params, cache_only);
        if (!result)
            result = ipt__plan_kernel_get(plan, id, params, &stage->word_kernel);
    }
    return result;
}

/* Waits for a command and tells whether it went well. */
static ipt_result ipt__wait_for(cl_event event)
{
    cl_int status = CL_COMPLETE, error = ipt__cl.clWaitForEvents(1, &event);
    if (error)
        return ipt__fail_opencl("clWaitForEvents", error);
    error = ipt__cl.clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL);
    if (error)
        return ipt__fail_opencl("clGetEventInfo", error);
    return status < 0 ? ipt__fail_opencl("a command that clWaitForEvents waited for", status) : IPT_SUCCESS;
}

/* A buffer, or NULL and the failure. name: what it holds, for the message. refused: see ipt_plan. */
static cl_mem ipt__buffer_make(const ipt_context *context, cl_mem_flags flags, size_t bytes, void *host,
                               const char *name, size_t *refused, ipt_result *result)
{
    cl_int error;
    const cl_mem buffer = ipt__cl.clCreateBuffer(context->context, flags, bytes, host, &error);
    char limit[80] = "";
    if (!error)
        return buffer;
    if (ipt__is_out_of_memory(error))
        *refused = bytes;
    if (context->allocation && bytes > context->allocation)
        snprintf(limit, sizeof limit, ": the device allocates %lu bytes at most at once",
                 (unsigned long)context->allocation);
    *result = ipt__fail(IPT_ERROR_OUT_OF_MEMORY, "%lu bytes of %s: clCreateBuffer failed with %s (%d)%s",
                        (unsigned long)bytes, name, ipt__cl_error(error), (int)error, limit);
    return NULL;
}

/* Bytes that the next attempt should take, after the device has refused some: first the limit that it tells. */
static size_t ipt__less_than(const ipt_context *context, size_t refused)
{
    return context->allocation && refused > context->allocation ? context->allocation : refused / 2;
}

/* Takes the workspace and writes to all of it, so that the device really has it. */
static ipt_result ipt__plan_take_workspace(ipt_plan *plan)
{
    const unsigned char zero = 0;
    const size_t bytes = plan->layout.workspace;
    cl_event event = NULL;
    cl_int error;
    ipt_result result = IPT_SUCCESS;
    if (!bytes || !plan->context->context)
        return IPT_SUCCESS;
    if (plan->lender && plan->lender->layout.workspace >= bytes) {
        plan->workspace = plan->lender->workspace;
        return IPT_SUCCESS;
    }
    plan->lender = NULL;
    plan->workspace =
        ipt__buffer_make(plan->context, CL_MEM_READ_WRITE, bytes, NULL, "workspace", &plan->refused, &result);
    if (result)
        return result;
    error = ipt__cl.clEnqueueFillBuffer(plan->context->queue, plan->workspace, &zero, sizeof zero, 0, bytes, 0, NULL,
                                        &event);
    result = error ? ipt__fail_opencl("clEnqueueFillBuffer", error)
                   : ipt__wait_for(event); /* the device may only now find that it has no memory for it */
    if (result == IPT_ERROR_OUT_OF_MEMORY)
        plan->refused = bytes;
    if (event)
        ipt__cl.clReleaseEvent(event);
    return result;
}

static void ipt__panel_describe(ipt__text *out, const ipt__stage *stage, unsigned long bytes)
{
    const ipt__chunks *const chunks = &stage->chunks;
    ipt__text_add(out, "panels together: %lu x (%lu x %lu of %lu bytes), ", (unsigned long)stage->instances,
                  (unsigned long)stage->rows, (unsigned long)stage->cols, bytes);
    if (chunks->across * chunks->down > 1)
        ipt__text_add(out, "each held by %lu work-groups", (unsigned long)(chunks->across * chunks->down));
    else
        ipt__text_add(out, "%lu held by each work-group", (unsigned long)chunks->pack);
    ipt__text_add(out, " (chunks of %lu x %lu)", (unsigned long)(chunks->tall ? chunks->y : chunks->x),
                  (unsigned long)(chunks->tall ? chunks->x : chunks->y));
    if (stage->tail_length)
        ipt__text_add(out, ", %lu %s %s", (unsigned long)stage->tail_length, chunks->tall ? "rows" : "columns",
                      chunks->tall ? "to the workspace first" : "from the workspace last");
}

static void ipt__stage_describe(ipt__text *out, const ipt_plan *plan, const ipt__stage *stage)
{
    const unsigned long rows = (unsigned long)stage->rows, cols = (unsigned long)stage->cols,
                        length = (unsigned long)stage->length, bytes = length * (unsigned long)plan->desc.elem_size,
                        instances = (unsigned long)stage->instances, at_once = (unsigned long)stage->instances_at_once;
    switch (stage->kind) {
    case IPT__STAGE_SAVE:
        ipt__text_add(out, "save: %lu x %lu elements that no super-element holds to the workspace, transposed\n", rows,
                      cols);
        return;
    case IPT__STAGE_PANEL:
        ipt__panel_describe(out, stage, bytes);
        break;
    case IPT__STAGE_RESTORE:
        ipt__text_add(out, "restore: them as %lu rows of %lu elements from the workspace\n", rows, length);
        return;
    case IPT__STAGE_TILE:
        ipt__text_add(out, "tile: %lu x (%lu x %lu of %lu bytes), whole in local memory", instances, rows, cols, bytes);
        if (stage->pack_bytes)
            ipt__text_add(out, ", as many to a work-group as fit %lu bytes", (unsigned long)stage->pack_bytes);
        if (stage->reversed_rows || stage->reversed_cols)
            ipt__text_add(out, ", %s", ipt_move_string(plan->desc.move));
        break;
    case IPT__STAGE_PTTWAC_010:
    case IPT__STAGE_P_IPT:
        ipt__text_add(out, "cycles: %lu x (%lu x %lu of %lu bytes), where they lie", instances, rows, cols, bytes);
        break;
    case IPT__STAGE_FLIP:
        ipt__text_add(out, "flip: %lu x %lu elements, %s reversed", rows, cols,
                      !stage->reversed_cols   ? "the sequence of rows"
                      : !stage->reversed_rows ? "each row"
                                              : "all");
        break;
    case IPT__STAGE_MAP:
        ipt__text_add(out, "map: every element where it lies");
        break;
    case IPT__STAGE_PAD:
        ipt__text_add(out, "pad: %lu rows of %lu elements from %lu to %lu elements apart\n", rows, length,
                      (unsigned long)stage->origin, (unsigned long)stage->row_stride);
        return;
    case IPT__STAGE_SWAP:
        ipt__text_add(out, "swap: %lu x (%lu x %lu of %lu bytes), pairs of tiles through local memory", instances, rows,
                      cols, bytes);
        break;
    case IPT__STAGE_WAVE:
        ipt__text_add(out, "panels in waves: %lu x (%lu x %lu of %lu bytes), %lu panels of %lu matrices at once",
                      instances, rows, cols, bytes, at_once, (unsigned long)stage->matrices_at_once);
        break;
    case IPT__STAGE_SHUFFLE:
        ipt__text_add(out, "shuffle: %lu x (%lu x %lu super-elements of %lu elements, %lu bytes)", instances, rows,
                      cols, length, bytes);
        if (stage->inner_rows)
            ipt__text_add(out, ", each transposed as %lu x %lu", (unsigned long)stage->inner_rows,
                          (unsigned long)stage->inner_cols);
        if (stage->pieces > 1)
            ipt__text_add(out, ", in %lu pieces", (unsigned long)stage->pieces);
        if (stage->chains) {
            const ipt__params *const params = &plan->kernels[stage->kernels[0]].program->params;
            ipt__text_add(out, ", %u chains to each of %s of %u work-items", (unsigned)params->chains,
                          params->sub_group ? "sub-groups" : "work-groups", (unsigned)params->lanes);
        }
        if (at_once < instances)
            ipt__text_add(out, ", %lu at once", at_once);
        break;
    }
    if (stage->variant)
        ipt__text_add(out, ", by %s", stage->variant->name);
    if (stage->apply)
        ipt__text_add(out, ", each element as the expression says");
    if (stage->row_slots && stage->row_stride != stage->row_slots * ipt__slot_length(stage))
        ipt__text_add(out, ", slots on rows of %lu elements with a gap of %lu", (unsigned long)stage->row_stride,
                      (unsigned long)(stage->row_stride - stage->row_slots * ipt__slot_length(stage)));
    ipt__text_add(out, "\n");
}

/* Whether a matrix reads the same before and after. */
static int ipt__nothing_moves(const ipt_plan *plan)
{
    return !plan->desc.move && !plan->desc.expression && !plan->desc.from && !plan->desc.to &&
           (plan->desc.rows == 1 || plan->desc.cols == 1);
}

/* How many moves there are. Of a grid's slots gcd(rows - 1, cols - 1) + 1 stay where they are. */
static size_t ipt__moves_count(const ipt__cut *cut)
{
    size_t a, b;
    if (cut->matrices || cut->panels == 1 || cut->groups == 1)
        return 0;
    for (a = cut->panels - 1, b = cut->groups - 1; b;) {
        const size_t rest = a % b;
        a = b;
        b = rest;
    }
    return cut->panels * cut->groups - a - 1;
}

static void ipt__cut_describe(ipt__text *out, const ipt_plan *plan)
{
    const ipt__cut *const cut = &plan->cut;
    if (cut->matrices)
        ipt__text_add(out, "  %lu matrices at a time, in chunks of %lu bytes\n", (unsigned long)cut->matrices,
                      (unsigned long)cut->chunk_bytes);
    else
        ipt__text_add(out,
                      "  cut into %lu panels of %lu and %lu left over, %lu to a chunk of %lu bytes; the host shuffles "
                      "%lu blocks of %lu bytes, each %lu super-elements; %lu lines left over\n",
                      (unsigned long)cut->panels, (unsigned long)cut->length, (unsigned long)cut->rest,
                      (unsigned long)cut->chunk_panels, (unsigned long)cut->chunk_bytes,
                      (unsigned long)ipt__moves_count(cut), (unsigned long)cut->block_bytes, (unsigned long)cut->group,
                      (unsigned long)cut->spare);
    if (plan->blocks.bus_bytes)
        ipt__text_add(out,
                      "  pinned: %lu panels of %lu rows, %lu blocks of %lu columns to each; the device holds up to %lu "
                      "of %lu bytes; %lu bytes cross the bus\n",
                      (unsigned long)plan->blocks.panels, (unsigned long)plan->blocks.length,
                      (unsigned long)plan->blocks.per_panel, (unsigned long)plan->blocks.columns,
                      (unsigned long)plan->blocks.units, (unsigned long)plan->blocks.unit_bytes,
                      (unsigned long)plan->blocks.bus_bytes);
}

static void ipt__plan_write_description(ipt_plan *plan)
{
    const ipt_plan_desc *const desc = &plan->desc;
    ipt__text out = {NULL, sizeof plan->description, 0};
    size_t workspace;
    int i;
    out.text = plan->description;
    ipt__text_add(&out, "%lu x %lu elements of %lu bytes, %lu %s, %s%ssequence %s, in place: %d %s\n",
                  (unsigned long)desc->rows, (unsigned long)desc->cols, (unsigned long)desc->elem_size,
                  (unsigned long)desc->batch, desc->batch == 1 ? "matrix" : "matrices",
                  desc->move ? ipt_move_string(desc->move) : "", desc->move ? ", " : "",
                  ipt_sequence_string(desc->sequence), plan->layout.stage_count,
                  plan->layout.stage_count == 1 ? "stage" : "stages");
    for (i = 0; i < plan->layout.stage_count; ++i) {
        ipt__text_add(&out, "  %d. ", i + 1);
        ipt__stage_describe(&out, plan, &plan->layout.stages[i]);
    }
    if (plan->cut.chunk_bytes)
        ipt__cut_describe(&out, plan);
    else if (!plan->layout.stage_count)
        ipt__text_add(&out, "  nothing to move: one row or one column reads the same either way\n");
    for (i = 0; i < plan->kernel_count; ++i) {
        const ipt__program *const program = plan->kernels[i].program;
        ipt__text_add(&out, "  kernel %s: ", ipt__kernels[program->id].name);
        ipt__params_print(&out, &program->params, ipt__kernels[program->id].uses);
        ipt__text_add(&out, "\n");
    }
    workspace = plan->layout.workspace + (plan->cut.chunk_bytes ? plan->host_workspace : 0);
    ipt__text_add(&out, "  workspace: %lu bytes (%.2f %% of the matrices)\n", (unsigned long)workspace,
                  100.0 * (double)workspace / ((double)plan->matrix_bytes * (double)desc->batch));
}

/* Checks a forced kernel: that it exists, is of a family that can serve there, and is compiled in. */
static ipt_result ipt__check_variant(const char *name, ipt_variant variant, unsigned families)
{
    if ((int)variant < 0 || variant >= IPT__VARIANT_COUNT)
        return ipt__fail(IPT_ERROR_INVALID_ARGUMENT, "%s is %d, which is unknown", name, (int)variant);
    if (variant != IPT_VARIANT_AUTO && !(families >> ipt__variants[variant].family & 1))
        return ipt__fail(IPT_ERROR_INVALID_ARGUMENT, "%s is %s, which serves other stages", name,
                         ipt_variant_string(variant));
#ifdef IPT_NO_SEED_KERNELS
    if (variant != IPT_VARIANT_AUTO)
        return ipt__fail(IPT_ERROR_UNSUPPORTED, "%s is %s, but IPT_NO_SEED_KERNELS has left the seeds' kernels out",
                         name, ipt_variant_string(variant));
#endif
    return IPT_SUCCESS;
}

/* Row-major and column-major only, and no tiles given. */
static int ipt__formats_without_blocks(const ipt_plan_desc *desc)
{
    static const unsigned without = 1u << IPT_FORMAT_DEFAULT | 1u << IPT_FORMAT_RM | 1u << IPT_FORMAT_CM |
                                    1u << IPT_FORMAT_AOS | 1u << IPT_FORMAT_SOA;
    return (without >> desc->from & 1) && (without >> desc->to & 1) && !desc->tile_m && !desc->tile_n;
}

/* Between row-major and column-major there is a transposition, of what lies in memory. */
static void ipt__plan_simplify_formats(ipt_plan_desc *desc)
{
    const int from_columns = desc->from == IPT_FORMAT_CM || desc->from == IPT_FORMAT_SOA;
    const int to_rows = desc->to == IPT_FORMAT_RM || desc->to == IPT_FORMAT_AOS;
    if (!ipt__formats_without_blocks(desc))
        return;
    if (from_columns != to_rows || desc->variant_010 || desc->variant_100) { /* as it is, or by kernels for formats */
        desc->tile_m = desc->tile_n = 1;
        return;
    }
    desc->from = desc->to = IPT_FORMAT_DEFAULT;
    if (from_columns) {
        const size_t rows = desc->rows;
        desc->rows = desc->cols;
        desc->cols = rows;
    }
}

/* Checks the fields of a desc that reproduce the seeds. */
static ipt_result ipt__check_seeds(const ipt_plan_desc *desc)
{
    const int forced = desc->sequence != IPT_SEQUENCE_AUTO && desc->sequence != IPT_SEQUENCE_TWO_PASS &&
                       desc->sequence != IPT_SEQUENCE_SQUARE;
    const int formats = desc->from != IPT_FORMAT_DEFAULT || desc->to != IPT_FORMAT_DEFAULT;
    ipt_result result = ipt__check_variant("variant_010", desc->variant_010,
                                           1u << IPT__FAMILY_BS | 1u << IPT__FAMILY_SWAP |
                                               1u << IPT__FAMILY_PTTWAC_010 | 1u << IPT__FAMILY_P_IPT);
    if (!result)
        result = ipt__check_variant("variant_100", desc->variant_100,
                                    1u << IPT__FAMILY_PTTWAC_100 | 1u << IPT__FAMILY_P_IPT);
    if (!result)
        result = ipt__check_variant("variant_pad", desc->variant_pad, 1u << IPT__FAMILY_PAD);
    if (result)
        return result;
    if (desc->flag_spread > 32 || (desc->flag_spread & (desc->flag_spread - 1)) != 0)
        return ipt__fail(IPT_ERROR_INVALID_ARGUMENT, "flag_spread is %lu: 1, 2, 4, 8, 16 and 32 are possible",
                         (unsigned long)desc->flag_spread);
    if (desc->variant_010 && (desc->sequence == IPT_SEQUENCE_1 || desc->sequence == IPT_SEQUENCE_4_3))
        return ipt__fail(IPT_ERROR_INVALID_ARGUMENT,
                         "variant_010 is %s, but no stage of sequence %s moves single elements in tiles: variant_100 "
                         "serves both",
                         ipt_variant_string(desc->variant_010), ipt_sequence_string(desc->sequence));
    if (!forced && !formats && !(desc->flags & IPT_PAD) && !desc->variant_100 &&
        ((desc->sequence == IPT_SEQUENCE_AUTO && ipt__variants[desc->variant_010].family == IPT__FAMILY_BS) ||
         (desc->sequence == IPT_SEQUENCE_SQUARE && ipt__variants[desc->variant_010].family == IPT__FAMILY_SWAP)))
        return IPT_SUCCESS; /* the other fields of the seeds have no meaning there */
    if (ipt__variants[desc->variant_010].family == IPT__FAMILY_SWAP)
        return ipt__fail(IPT_ERROR_INVALID_ARGUMENT, "variant_010 is %s, but sequence is %s: it serves sequence square",
                         ipt_variant_string(desc->variant_010), ipt_sequence_string(desc->sequence));
    if ((desc->variant_010 || desc->variant_100) && !forced && !formats && !(desc->flags & IPT_PAD))
        return ipt__fail(IPT_ERROR_INVALID_ARGUMENT,
                         "%s is %s, but sequence is %s: it serves stages of the sequences 1 to 4.3, of formats and of "
                         "IPT_PAD; auto takes a variant_010 of BS for whole matrices, square one of SWAP",
                         desc->variant_010 ? "variant_010" : "variant_100",
                         ipt_variant_string(desc->variant_010 ? desc->variant_010 : desc->variant_100),
                         ipt_sequence_string(desc->sequence));
    if (desc->variant_pad && !(desc->flags & IPT_PAD))
        return ipt__fail(IPT_ERROR_INVALID_ARGUMENT, "variant_pad is %s, but flags has no IPT_PAD",
                         ipt_variant_string(desc->variant_pad));
    if ((int)desc->from < 0 || desc->from >= IPT__FORMAT_COUNT || (int)desc->to < 0 || desc->to >= IPT__FORMAT_COUNT)
        return ipt__fail(IPT_ERROR_INVALID_ARGUMENT, "%s is %d, which is unknown",
                         (int)desc->from < 0 || desc->from >= IPT__FORMAT_COUNT ? "from" : "to",
                         (int)desc->from < 0 || desc->from >= IPT__FORMAT_COUNT ? (int)desc->from : (int)desc->to);
    if (formats && (desc->sequence != IPT_SEQUENCE_AUTO || (desc->flags & IPT_PAD)))
        return ipt__fail(IPT_ERROR_INVALID_ARGUMENT, "from is %s and to is %s: %s cannot be forced with formats",
                         ipt_format_string(desc->from), ipt_format_string(desc->to),
                         desc->flags & IPT_PAD ? "IPT_PAD" : "a sequence");
    if (formats && !ipt__formats_without_blocks(desc) &&
        (!desc->tile_m || !desc->tile_n || desc->rows % desc->tile_m || desc->cols % desc->tile_n))
        return ipt__fail(IPT_ERROR_INVALID_ARGUMENT,
                         "tile_m = %lu and tile_n = %lu, the sides of the formats' blocks, must divide rows = %lu and "
                         "cols = %lu",
                         (unsigned long)desc->tile_m, (unsigned long)desc->tile_n, (unsigned long)desc->rows,
                         (unsigned long)desc->cols);
    if ((desc->flags & IPT_PAD) && (desc->flags & IPT_NO_COOPERATIVE))
        return ipt__fail(IPT_ERROR_INVALID_ARGUMENT,
                         "flags has IPT_PAD, whose kernels wait for other work-groups, and IPT_NO_COOPERATIVE");
    if ((desc->flags & IPT_PAD) && !forced && desc->sequence != IPT_SEQUENCE_AUTO)
        return ipt__fail(IPT_ERROR_INVALID_ARGUMENT,
                         "flags has IPT_PAD, but sequence is %s, which needs no factors: 1 to 4.3 and auto go with it",
                         ipt_sequence_string(desc->sequence));
#ifdef IPT_NO_SEED_KERNELS
    if (desc->flags & IPT_PAD)
        return ipt__fail(IPT_ERROR_UNSUPPORTED, "flags has IPT_PAD, but IPT_NO_SEED_KERNELS has left its kernels out");
#endif
    return IPT_SUCCESS;
}

#ifndef IPT_NO_SEED_KERNELS
/* Fills in tiles, padding and sequence for IPT_PAD: what the desc leaves open, by seed 002's algorithms 5 and 3. */
static ipt_result ipt__plan_choose_padding(ipt_plan *plan)
{
    ipt_plan_desc *const desc = &plan->desc;
    const ipt__limits *const limits = &plan->context->limits;
    ipt_heuristic_device device;
    /* The sides whose factors the sequence uses: the others stay as they are. */
    const int uses_m = desc->sequence != IPT_SEQUENCE_1 && desc->sequence != IPT_SEQUENCE_2_2;
    const int uses_n = desc->sequence != IPT_SEQUENCE_1 && desc->sequence != IPT_SEQUENCE_2_1;
    size_t side, ignored, more;
    ipt_result result = IPT_SUCCESS;
    memset(&device, 0, sizeof device);
    device.local_bytes = limits->local_memory;
    device.max_group = limits->largest_group;
    device.simd_width = limits->cpu ? 1 : 32;
    side = desc->rows; /* the heuristic treats both sides alike, each for itself */
    if (uses_m && desc->tile_m)
        plan->pad_rows = (desc->tile_m - side % desc->tile_m) % desc->tile_m;
    else if (uses_m)
        result = ipt_heuristic_tiles(IPT_HEURISTIC_ALGORITHM_5, &device, side, side, desc->elem_size, &desc->tile_m,
                                     &ignored, &plan->pad_rows, &more);
    side = desc->cols;
    if (uses_n && desc->tile_n)
        plan->pad_cols = (desc->tile_n - side % desc->tile_n) % desc->tile_n;
    else if (uses_n && !result)
        result = ipt_heuristic_tiles(IPT_HEURISTIC_ALGORITHM_5, &device, side, side, desc->elem_size, &desc->tile_n,
                                     &ignored, &plan->pad_cols, &more);
    if (result)
        return ipt__fail_further(result, uses_m && !desc->tile_m ? "flags has IPT_PAD, and tile_m is 0"
                                                                 : "flags has IPT_PAD, and tile_n is 0");
    if (desc->rows + plan->pad_rows < desc->rows || desc->cols + plan->pad_cols < desc->cols)
        return ipt__fail(IPT_ERROR_INVALID_ARGUMENT, "rows = %lu and cols = %lu with their padding overflow",
                         (unsigned long)desc->rows, (unsigned long)desc->cols);
    desc->rows += plan->pad_rows;
    desc->cols += plan->pad_cols;
    if (desc->sequence == IPT_SEQUENCE_AUTO)
        desc->sequence =
            ipt_heuristic_sequence(&device, desc->rows, desc->cols, desc->elem_size, desc->tile_m, desc->tile_n);
    return IPT_SUCCESS;
}
#endif

/* Checks the fields of a desc that say what else than a transposition is wanted. */
static ipt_result ipt__check_move(const ipt_plan_desc *desc)
{
    const int formats = desc->from != IPT_FORMAT_DEFAULT || desc->to != IPT_FORMAT_DEFAULT;
    const char *at;
    if ((int)desc->move < 0 || desc->move >= IPT__MOVE_COUNT)
        return ipt__fail(IPT_ERROR_INVALID_ARGUMENT, "move is %d, which is unknown", (int)desc->move);
    if (desc->move != IPT_MOVE_TRANSPOSE && (formats || (desc->flags & IPT_PAD)))
        return ipt__fail(IPT_ERROR_INVALID_ARGUMENT, "move is %s: it cannot be had with %s",
                         ipt_move_string(desc->move), formats ? "formats" : "IPT_PAD");
    if (!ipt__moves[desc->move].transposed &&
        (desc->sequence != IPT_SEQUENCE_AUTO || desc->tile_m || desc->tile_n || desc->variant_010 || desc->variant_100))
        return ipt__fail(IPT_ERROR_INVALID_ARGUMENT,
                         "move is %s, which transposes nothing: sequence, tiles and kernels cannot be forced",
                         ipt_move_string(desc->move));
    if (!desc->expression != !desc->expression_type)
        return ipt__fail(IPT_ERROR_INVALID_ARGUMENT, "%s is NULL: set expression and expression_type both or neither",
                         desc->expression ? "expression_type" : "expression");
    if (!desc->expression)
        return IPT_SUCCESS;
    if (desc->elem_size > 16 || (desc->elem_size & (desc->elem_size - 1)))
        return ipt__fail(IPT_ERROR_INVALID_ARGUMENT,
                         "expression: elem_size is %lu, but elements of 1, 2, 4, 8 or 16 bytes are needed",
                         (unsigned long)desc->elem_size);
    for (at = desc->expression_type; *at; ++at)
        if (!((*at >= 'a' && *at <= 'z') || (*at >= '0' && *at <= '9' && at != desc->expression_type)))
            break;
    if (*at || at == desc->expression_type || at[-1] == '3') /* vectors of three have a fourth, undefined part */
        return ipt__fail(
            IPT_ERROR_INVALID_ARGUMENT,
            "expression_type is '%s': the name of one of OpenCL C's types is needed, such as float or uchar4",
            desc->expression_type);
    if (!*desc->expression || strpbrk(desc->expression, "\r\n\\#"))
        return ipt__fail(IPT_ERROR_INVALID_ARGUMENT,
                         "expression is '%s': one line of OpenCL C without '\\' and '#' is needed", desc->expression);
    return IPT_SUCCESS;
}

/* Checks the desc and fills in what follows from it: padding, batch, stride, sizes, unit. */
static ipt_result ipt__plan_check(ipt_plan *plan)
{
    ipt_plan_desc *const desc = &plan->desc;
    const unsigned known_flags = IPT_MEASURE | IPT_CACHE_ONLY | IPT_NO_COOPERATIVE | IPT_PAD | IPT_OUT_OF_PLACE;
    size_t bytes;
    ipt_result result;
    if (!desc->rows || !desc->cols || !desc->elem_size)
        return ipt__fail(IPT_ERROR_INVALID_ARGUMENT, "%s is 0",
                         !desc->rows   ? "rows"
                         : !desc->cols ? "cols"
                                       : "elem_size");
    if (desc->flags & ~known_flags)
        return ipt__fail(IPT_ERROR_INVALID_ARGUMENT, "flags is 0x%x: 0x%x is unknown", desc->flags,
                         desc->flags & ~known_flags);
    if ((int)desc->host < 0 || desc->host >= IPT__HOST_COUNT)
        return ipt__fail(IPT_ERROR_INVALID_ARGUMENT, "host is %d, which is unknown", (int)desc->host);
    if (desc->host_queues > IPT__HOST_PARTS_MOST)
        return ipt__fail(IPT_ERROR_INVALID_ARGUMENT, "host_queues is %lu: %d at most", (unsigned long)desc->host_queues,
                         (int)IPT__HOST_PARTS_MOST);
    if ((int)desc->sequence < 0 || desc->sequence >= IPT__SEQUENCE_COUNT)
        return ipt__fail(IPT_ERROR_INVALID_ARGUMENT, "sequence is %d, which is unknown", (int)desc->sequence);
    if ((desc->from == IPT_FORMAT_ASTA || desc->to == IPT_FORMAT_ASTA) && !desc->tile_n)
        desc->tile_n = 1;
    result = ipt__check_seeds(desc);
    if (!result)
        result = ipt__check_move(desc);
    if (!result && (desc->from || desc->to))
        ipt__plan_simplify_formats(desc);
#ifndef IPT_NO_SEED_KERNELS
    if (!result && (desc->flags & IPT_PAD))
        result = ipt__plan_choose_padding(plan);
#endif
    if (result)
        return result;
    if (!desc->batch)
        desc->batch = 1;
    bytes = desc->rows;
    if (!ipt__multiply(&bytes, desc->cols) || !ipt__multiply(&bytes, desc->elem_size))
        return ipt__fail(IPT_ERROR_INVALID_ARGUMENT, "rows = %lu, cols = %lu, elem_size = %lu: the product overflows",
                         (unsigned long)desc->rows, (unsigned long)desc->cols, (unsigned long)desc->elem_size);
    plan->matrix_bytes = bytes;
    plan->unit_bytes = ipt__unit_bytes(desc->elem_size);
    plan->element_units = desc->elem_size / plan->unit_bytes;
    if (!desc->batch_stride)
        desc->batch_stride = bytes;
    if (desc->batch_stride < bytes)
        return ipt__fail(IPT_ERROR_INVALID_ARGUMENT, "batch_stride = %lu is less than a matrix of %lu bytes",
                         (unsigned long)desc->batch_stride, (unsigned long)bytes);
    if (desc->batch_stride % plan->unit_bytes)
        return ipt__fail(IPT_ERROR_INVALID_ARGUMENT, "batch_stride = %lu is not a multiple of %lu",
                         (unsigned long)desc->batch_stride, (unsigned long)plan->unit_bytes);
    plan->span_bytes = desc->batch;
    if (!ipt__multiply(&plan->span_bytes, desc->batch_stride))
        return ipt__fail(IPT_ERROR_INVALID_ARGUMENT,
                         "batch = %lu and batch_stride = %lu: the size of all matrices overflows",
                         (unsigned long)desc->batch, (unsigned long)desc->batch_stride);
    plan->span_bytes -= desc->batch_stride - bytes;
    if (desc->elem_size / plan->unit_bytes > 0xffffffffu)
        return ipt__fail(IPT_ERROR_UNSUPPORTED, "elem_size = %lu: elements of fewer than 2^32 units of %lu bytes work",
                         (unsigned long)desc->elem_size, (unsigned long)plan->unit_bytes);
    return IPT_SUCCESS;
}

/* Builds a plan's kernels and takes its workspace, for the layout that it has. */
static ipt_result ipt__plan_open(ipt_plan *plan)
{
    ipt_result result = IPT_SUCCESS;
    int i;
    ipt__layout_dress(plan, &plan->layout);
    for (i = 0; i < plan->layout.stage_count && !result; ++i)
        result = ipt__stage_kernels(plan, &plan->layout.stages[i]);
    return result ? result : ipt__plan_take_workspace(plan);
}

/* Gives back what ipt__plan_open took. Executions that are under way keep what they need. */
static void ipt__plan_close(ipt_plan *plan)
{
    if (plan->last)
        ipt__cl.clReleaseEvent(plan->last);
    plan->last = NULL;
    if (plan->workspace && !plan->lender)
        ipt__cl.clReleaseMemObject(plan->workspace);
    plan->workspace = NULL;
    while (plan->kernel_count) {
        ipt__plan_kernel *const kernel = &plan->kernels[--plan->kernel_count];
        if (kernel->kernel)
            ipt__cl.clReleaseKernel(kernel->kernel);
        ipt__program_drop(plan->context, kernel->program);
    }
    plan->out_of_place_kernel = -1;
}

/* Bytes of workspace that the desc allows; 0: as little as possible. */
static size_t ipt__plan_budget(const ipt_plan *plan)
{
    if (plan->desc.max_workspace)
        return plan->desc.max_workspace == 1 ? 0 : plan->desc.max_workspace;
    return ipt__max((size_t)1 << 20, plan->matrix_bytes * plan->desc.batch / 100);
}

/* Finds out whether and how the device runs the cooperative panel kernel, if the plan may have a use for it. */
static ipt_result ipt__plan_find_panel(ipt_plan *plan)
{
    const ipt_plan_desc *const desc = &plan->desc;
    const ipt__limits *const limits = &plan->context->limits;
    const int cache_only = (desc->flags & IPT_CACHE_ONLY) != 0;
    ipt__params params;
    ipt_result result;
    if (!limits->cooperative || limits->group_size < 64 || (desc->flags & IPT_NO_COOPERATIVE) || desc->rows == 1 ||
        desc->cols == 1 || desc->from || desc->to || (desc->flags & IPT_PAD) || !ipt__moves[desc->move].transposed ||
        (desc->sequence != IPT_SEQUENCE_AUTO && desc->sequence != IPT_SEQUENCE_TWO_PASS))
        return IPT_SUCCESS;
    if (desc->sequence == IPT_SEQUENCE_AUTO &&
        (desc->rows == desc->cols || plan->matrix_bytes <= ipt__local_budget(limits)))
        return IPT_SUCCESS;
    params = ipt__plan_params(plan, plan->element_units, 1);
    params.apply = desc->expression != NULL;
    params.index_bits = 32;
    /* One pass, if the matrix fits on the chip; it takes the tall kernel. */
    if (desc->sequence == IPT_SEQUENCE_AUTO && desc->batch == 1 && plan->matrix_bytes <= IPT__ON_CHIP_BYTES) {
        ipt__layout layout;
        params.tall = 1;
        result = ipt__panel_get(plan->context, params, cache_only, &plan->panel, &plan->resident);
        if (result || !plan->panel || ipt__layout_on_chip(plan, &layout))
            return result;
        ipt__program_drop(plan->context, plan->panel);
    }
    params.tall = desc->rows >= desc->cols;
    params.narrow = ipt__min(desc->rows, desc->cols) * desc->elem_size <= IPT__NARROW_BYTES &&
                    ipt__min(desc->rows, desc->cols) <= limits->group_size; /* a turn takes whole rows */
    return ipt__panel_get(plan->context, params, cache_only, &plan->panel, &plan->resident);
}

static ipt_result ipt__plan_settle(ipt_plan *plan, size_t budget);
static ipt_result ipt__out_of_place_get(ipt_plan *plan);
static void ipt__host_close(ipt_plan *plan);
static ipt_result ipt__host_open(ipt_plan *plan, ipt_host scheme);
static int ipt__plan_is_cut(const ipt_plan *plan);
static ipt_result ipt__plan_cut(ipt_plan *plan);

/* The extension that a word of OpenCL C needs; NULL: none. `half` alone may point to memory without one. */
static const char *ipt__word_needs(const char *word, size_t length, int is_type)
{
    const size_t all = length;
    while (length && word[length - 1] >= '0' && word[length - 1] <= '9')
        --length;
    if (length == 6 && !strncmp(word, "double", 6))
        return "cl_khr_fp64";
    return length == 4 && !strncmp(word, "half", 4) && (is_type || all > length) ? "cl_khr_fp16" : NULL;
}

/* Fails for types that the device lacks: what its compiler says to them differs, and may be nothing. */
static ipt_result ipt__check_types(const ipt_context *context, const char *name, const char *text, int is_type)
{
    while (*text) {
        const size_t length = strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789");
        const char *const needs = ipt__word_needs(text, length, is_type);
        if (needs && !(needs[9] == '1' ? context->has_half : context->has_double))
            return ipt__fail(IPT_ERROR_UNSUPPORTED, "%s has %.*s: the device lacks %s", name, (int)length, text, needs);
        text += ipt__max(length, 1);
    }
    return IPT_SUCCESS;
}

/* Copies the desc's expression, and builds it alone: what does not build later is not its fault. */
static ipt_result ipt__plan_take_expression(ipt_plan *plan)
{
    char cause[IPT__CAUSE_BYTES];
    ipt__params params;
    ipt__program *program;
    ipt_result result = ipt__check_types(plan->context, "expression_type", plan->desc.expression_type, 1);
    if (!result)
        result = ipt__check_types(plan->context, "expression", plan->desc.expression, 0);
    if (result)
        return result;
    plan->expression =
        ipt__copy_expression(&plan->context->allocator, plan->desc.expression, plan->desc.expression_type,
                             &plan->desc.expression, &plan->desc.expression_type);
    if (!plan->expression)
        return IPT_ERROR_OUT_OF_MEMORY;
    params = ipt__plan_params(plan, 1, 1);
    params.apply = 1;
    ipt__params_reduce(&params, ipt__kernels[IPT__KERNEL_map].uses);
    result =
        ipt__program_get(plan->context, IPT__KERNEL_map, &params, (plan->desc.flags & IPT_CACHE_ONLY) != 0, &program);
    ipt__program_drop(plan->context, program);
    if (result == IPT_ERROR_BUILD) {
        ipt__keep_cause(cause);
        return ipt__fail(result, "expression does not compile for x of expression_type %s: %s",
                         plan->desc.expression_type, cause);
    }
    return result;
}

/* Makes the choice once, within `budget` bytes of workspace. */
static ipt_result ipt__plan_build_once(ipt_plan *plan, size_t budget)
{
    const ipt_plan_desc *const desc = &plan->desc;
    ipt_result result = ipt__layout_choose(plan, &plan->layout, budget);
    plan->enough = 0;
    if (!result && budget && plan->layout.workspace > budget) {
        plan->enough = plan->layout.minimum_workspace;
        result = ipt__fail(IPT_ERROR_UNSUPPORTED,
                           "%s allows %lu bytes, too few for %lu x %lu elements of %lu bytes: %lu would do",
                           desc->max_workspace ? "max_workspace" : "the default of max_workspace",
                           (unsigned long)budget, (unsigned long)desc->rows, (unsigned long)desc->cols,
                           (unsigned long)desc->elem_size, (unsigned long)plan->enough);
    }
    if (!result)
        result = ipt__plan_settle(plan, budget);
    if (!result)
        result = ipt__plan_open(plan);
    if (result)
        ipt__plan_close(plan);
    return result;
}

/* Chooses a layout and builds what it needs. Whether a program builds with more local memory than the device reports,
 * and how much workspace the device takes, only trying can tell: the choice is made again where one does not build, and
 * with less workspace where some was refused. */
static ipt_result ipt__plan_build(ipt_plan *plan)
{
    char cause[IPT__CAUSE_BYTES] = "";
    size_t budget = ipt__plan_budget(plan), least, less;
    ipt_result result;
    for (;;) {
        plan->refused = 0;
        least = ipt__least_refused(plan->context);
        result = ipt__plan_build_once(plan, budget);
        if (result == IPT_ERROR_BUILD && ipt__least_refused(plan->context) != least)
            continue;
        if (result == IPT_ERROR_UNSUPPORTED && *cause) /* no layout does with so little */
            return ipt__fail(IPT_ERROR_OUT_OF_MEMORY, "%s", cause);
        less = result == IPT_ERROR_OUT_OF_MEMORY ? ipt__less_than(plan->context, plan->refused) : 0;
        if (!less || less >= budget)
            return result;
        ipt__keep_cause(cause);
        budget = less;
    }
}

static void ipt__plan_begin(ipt_plan *plan, ipt_context *context, const ipt_plan_desc *desc)
{
    IPT_LOCK_INIT(&plan->lock);
    IPT_LOCK_INIT(&plan->host_lock);
    ipt__context_retain(context);
    plan->context = context;
    plan->desc = *desc;
    plan->out_of_place_kernel = -1;
    plan->user = plan;
}

static ipt_result ipt__fail_for_parts(size_t budget, size_t enough)
{
    return ipt__fail(IPT_ERROR_UNSUPPORTED,
                     "max_workspace allows %lu bytes, too few for a plan and its parts, which host asks for: %lu "
                     "would do",
                     (unsigned long)budget, (unsigned long)enough);
}

static ipt_result ipt__plan_make(ipt_context *context, const ipt_plan_desc *desc, ipt_plan *lender, ipt_plan **plan);

/* Refuses a plan by a limit that does for its parts, too, which would else be refused at its first execution. Returns
 * the error, whose text it may replace. */
static ipt_result ipt__plan_propose_for_parts(const ipt_plan *refused, ipt_result error)
{
    ipt_plan_desc desc = refused->desc;
    char cause[IPT__CAUSE_BYTES];
    ipt_plan *trial;
    size_t enough = 0;
    ipt__keep_cause(cause);
    desc.host = IPT_HOST_AUTO;
    desc.max_workspace = refused->enough;
    if (!ipt__plan_make(refused->context, &desc, NULL, &trial)) {
        enough = ipt__host_open(trial, IPT_HOST_OVERLAPPED) ? trial->enough : 0;
        ipt_plan_destroy(trial);
    }
    return enough > refused->enough ? ipt__fail_for_parts(ipt__plan_budget(refused), enough)
                                    : ipt__fail(error, "%s", cause);
}

static ipt_result ipt__check_out_of_place(const ipt_plan *plan)
{
    if (plan->desc.from || plan->desc.to || plan->desc.move || (plan->desc.flags & IPT_PAD))
        return ipt__fail(IPT_ERROR_UNSUPPORTED,
                         "plans for formats, for moves other than transpose or with IPT_PAD only work in place");
    return IPT_SUCCESS;
}

/* Makes a plan that borrows the workspace of another one, which outlives it; NULL: of none. in_pieces: see ipt_plan. */
static ipt_result ipt__plan_make_as(ipt_context *context, const ipt_plan_desc *desc, ipt_plan *lender, int in_pieces,
                                    ipt_plan **plan)
{
    ipt_plan *made;
    ipt_result result;
    if (!plan)
        return ipt__fail_null("plan");
    *plan = NULL;
    if (!context)
        return ipt__fail_null("context");
    if (!desc)
        return ipt__fail_null("desc");
    made = (ipt_plan *)ipt__allocate(&context->allocator, sizeof *made);
    if (!made)
        return IPT_ERROR_OUT_OF_MEMORY;
    ipt__plan_begin(made, context, desc);
    made->lender = lender;
    made->in_pieces = in_pieces;
    result = ipt__plan_check(made);
    if (!result && desc->expression)
        result = ipt__plan_take_expression(made);
    if (!result && ipt__plan_is_cut(made))
        result = ipt__plan_cut(made);
    else if (!result) {
        result = ipt__plan_find_panel(made);
        if (!result)
            result = ipt__plan_build(made);
        if (result == IPT_ERROR_UNSUPPORTED && made->enough && desc->host == IPT_HOST_OVERLAPPED)
            result = ipt__plan_propose_for_parts(made, result);
    }
    if (!result && (desc->flags & IPT_OUT_OF_PLACE))
        result = ipt__check_out_of_place(made);
    if (!result && (desc->flags & IPT_OUT_OF_PLACE))
        result = ipt__out_of_place_get(made);
    if (result) {
        ipt_plan_destroy(made);
        return result;
    }
    ipt__plan_write_description(made);
    *plan = made;
    return IPT_SUCCESS;
}

static ipt_result ipt__plan_make(ipt_context *context, const ipt_plan_desc *desc, ipt_plan *lender, ipt_plan **plan)
{
    return ipt__plan_make_as(context, desc, lender, 0, plan);
}

IPT_API ipt_result ipt_plan_create(ipt_context *context, const ipt_plan_desc *desc, ipt_plan **plan)
{
    return ipt__plan_make(context, desc, NULL, plan);
}

IPT_API size_t ipt_plan_workspace(const ipt_plan *plan)
{
    size_t bytes;
    int i;
    if (!plan)
        return 0;
    IPT_LOCK_ACQUIRE(&((ipt_plan *)plan)->lock); /* a first execution of a host matrix adds to it */
    bytes = plan->layout.workspace + plan->host_workspace;
    IPT_LOCK_RELEASE(&((ipt_plan *)plan)->lock);
    for (i = 0; plan->cut.chunk_bytes && i < 4; ++i) { /* the pieces' plans have no pieces of their own */
        const ipt_plan *const piece = plan->host.shares[0].plans[i];
        bytes += piece ? ipt_plan_workspace(piece) - piece->layout.workspace : 0;
    }
    return bytes;
}

IPT_API void ipt_plan_padding(const ipt_plan *plan, size_t *rows, size_t *cols)
{
    if (rows)
        *rows = plan ? plan->pad_rows : 0;
    if (cols)
        *cols = plan ? plan->pad_cols : 0;
}

IPT_API const char *ipt_plan_describe(const ipt_plan *plan)
{
    return plan ? plan->description : "";
}

IPT_API const char *ipt_plan_source(const ipt_plan *plan, size_t index)
{
    const char *source = NULL;
    if (!plan)
        return NULL;
    IPT_LOCK_ACQUIRE(&((ipt_plan *)plan)->lock); /* a first execution out of place adds a kernel */
    if (index < (size_t)plan->kernel_count)
        source = plan->kernels[index].program->source;
    IPT_LOCK_RELEASE(&((ipt_plan *)plan)->lock);
    return source;
}

IPT_API void ipt_plan_destroy(ipt_plan *plan)
{
    ipt_context *context;
    ipt_allocator allocator;
    if (!plan)
        return;
    context = plan->context;
    allocator = context->allocator;
    ipt_plan_destroy(plan->pieces);
    ipt__host_close(plan);
    while (plan->split_count)
        ipt_context_destroy(plan->split[--plan->split_count]);
    ipt__release(&allocator, plan->split);
    ipt__plan_close(plan);
    ipt__program_drop(context, plan->panel);
    IPT_LOCK_DESTROY(&plan->host_lock);
    IPT_LOCK_DESTROY(&plan->lock);
    ipt__release(&allocator, plan->expression);
    ipt__release(&allocator, plan);
    ipt_context_destroy(context);
}

/* ------------------------------------------------------------------------------------------------------------------ */
/* >>execute: in place, out of place, host                                                                            */
/* ------------------------------------------------------------------------------------------------------------------ */

/* Whether there is a plan that can be executed. */
static ipt_result ipt__check_plan(const ipt_plan *plan)
{
    if (!plan)
        return ipt__fail_null("plan");
    if (!plan->context->context)
        return ipt__fail(IPT_ERROR_UNSUPPORTED,
                         "the plan's context was made from a profile: it has no device to run on");
    return IPT_SUCCESS;
}

/* What a matrix that is cut does not fit. */
static const char *ipt__limit_name(const ipt_plan *plan)
{
    return plan->desc.max_host_memory     ? "max_host_memory"
           : plan->desc.max_device_memory ? "max_device_memory"
                                          : "the device's memory";
}

static ipt_result ipt__check_one_device(const ipt_plan *plan)
{
    const ipt_result result = ipt__check_plan(plan);
    if (!result && plan->split_count)
        return ipt__fail(IPT_ERROR_UNSUPPORTED, "the plan is for several contexts: it takes host matrices only");
    if (!result && plan->cut.chunk_bytes)
        return ipt__fail(IPT_ERROR_UNSUPPORTED, "the plan is for matrices larger than %s: it takes %s only",
                         ipt__limit_name(plan), plan->desc.max_host_memory ? "storages" : "host matrices");
    return result;
}

/* What a host address must be a multiple of where a device works in the host's memory. Kernels for GPUs access it by
 * vectors, those for CPUs by units, and by words where those are aligned. */
static size_t ipt__host_alignment(const ipt_plan *plan)
{
    return plan->context->limits.cpu ? plan->unit_bytes : (size_t)IPT__VECTOR_BYTES;
}

/* Checks a buffer that the batch lies in from byte `offset`; refused: access flags that it must not have; unaligned:
 * see ipt__run, may be NULL. */
static ipt_result ipt__check_buffer(const ipt_plan *plan, const char *name, cl_mem buffer, const char *offset_name,
                                    size_t offset, cl_mem_flags refused, int *unaligned)
{
    cl_mem_object_type type = 0;
    cl_mem_flags flags = 0;
    cl_context context = NULL;
    void *host = NULL;
    cl_int error;
    size_t bytes = 0;
    if (!buffer)
        return ipt__fail_null(name);
    error = ipt__cl.clGetMemObjectInfo(buffer, CL_MEM_TYPE, sizeof type, &type, NULL);
    error = error ? error : ipt__cl.clGetMemObjectInfo(buffer, CL_MEM_FLAGS, sizeof flags, &flags, NULL);
    error = error ? error : ipt__cl.clGetMemObjectInfo(buffer, CL_MEM_CONTEXT, sizeof context, &context, NULL);
    error = error ? error : ipt__cl.clGetMemObjectInfo(buffer, CL_MEM_SIZE, sizeof bytes, &bytes, NULL);
    if (!error && (flags & CL_MEM_USE_HOST_PTR) && plan->context->shares_memory)
        error = ipt__cl.clGetMemObjectInfo(buffer, CL_MEM_HOST_PTR, sizeof host, &host, NULL);
    if (error && error != CL_INVALID_MEM_OBJECT)
        return ipt__fail_opencl("clGetMemObjectInfo", error);
    if (error || type != CL_MEM_OBJECT_BUFFER)
        return ipt__fail(IPT_ERROR_INVALID_ARGUMENT, "%s is not an OpenCL buffer", name);
    if (context != plan->context->context)
        return ipt__fail(IPT_ERROR_INVALID_ARGUMENT, "%s belongs to another OpenCL context than the plan", name);
    if (flags & refused)
        return ipt__fail(IPT_ERROR_INVALID_ARGUMENT, "%s is a %s buffer", name,
                         flags & CL_MEM_READ_ONLY ? "CL_MEM_READ_ONLY" : "CL_MEM_WRITE_ONLY");
    if (unaligned)
        *unaligned |= (size_t)host % IPT__WORD_BYTES != 0;
    if ((size_t)host % ipt__host_alignment(plan))
        return ipt__fail(IPT_ERROR_INVALID_ARGUMENT,
                         "%s was made over host memory at %p: the device works there, so a multiple of %lu is needed",
                         name, host, (unsigned long)ipt__host_alignment(plan));
    if (offset % plan->unit_bytes)
        return ipt__fail(IPT_ERROR_INVALID_ARGUMENT, "%s = %lu is not a multiple of %lu", offset_name,
                         (unsigned long)offset, (unsigned long)plan->unit_bytes);
    if (offset > bytes || bytes - offset < plan->span_bytes)
        return ipt__fail(IPT_ERROR_INVALID_ARGUMENT, "%s has %lu bytes: %lu are needed from %s = %lu", name,
                         (unsigned long)bytes, (unsigned long)plan->span_bytes, offset_name, (unsigned long)offset);
    return IPT_SUCCESS;
}

static ipt_result ipt__check_queue(const ipt_plan *plan, cl_command_queue queue, cl_uint num_wait_events,
                                   const cl_event *wait_events)
{
    cl_context context = NULL;
    cl_device_id device = NULL;
    cl_int status = CL_COMPLETE, error;
    cl_uint i;
    if (!queue)
        return ipt__fail_null("queue");
    error = ipt__cl.clGetCommandQueueInfo(queue, CL_QUEUE_CONTEXT, sizeof context, &context, NULL);
    error = error ? error : ipt__cl.clGetCommandQueueInfo(queue, CL_QUEUE_DEVICE, sizeof device, &device, NULL);
    if (error && error != CL_INVALID_COMMAND_QUEUE)
        return ipt__fail_opencl("clGetCommandQueueInfo", error);
    if (error)
        return ipt__fail(IPT_ERROR_INVALID_ARGUMENT, "queue is not an OpenCL command queue");
    if (context != plan->context->context)
        return ipt__fail(IPT_ERROR_INVALID_ARGUMENT, "queue belongs to another OpenCL context than the plan");
    if (device != plan->context->device)
        return ipt__fail(IPT_ERROR_INVALID_ARGUMENT, "queue belongs to another device than the plan");
    if (!num_wait_events != !wait_events)
        return ipt__fail(IPT_ERROR_INVALID_ARGUMENT, "num_wait_events is %u but wait_events is %s",
                         (unsigned)num_wait_events, wait_events ? "not NULL" : "NULL");
    for (i = 0; i < num_wait_events; ++i) {
        if (!wait_events[i])
            return ipt__fail(IPT_ERROR_INVALID_ARGUMENT, "wait_events[%u] is NULL", (unsigned)i);
        error = ipt__cl.clGetEventInfo(wait_events[i], CL_EVENT_CONTEXT, sizeof context, &context, NULL);
        error = error ? error
                      : ipt__cl.clGetEventInfo(wait_events[i], CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status,
                                               &status, NULL);
        if (error && error != CL_INVALID_EVENT)
            return ipt__fail_opencl("clGetEventInfo", error);
        if (error)
            return ipt__fail(IPT_ERROR_INVALID_ARGUMENT, "wait_events[%u] is not an OpenCL event", (unsigned)i);
        if (context != plan->context->context)
            return ipt__fail(IPT_ERROR_INVALID_ARGUMENT,
                             "wait_events[%u] belongs to another OpenCL context than the plan", (unsigned)i);
        if (status < 0) /* some implementations would wait for it for ever */
            return ipt__fail(IPT_ERROR_INVALID_ARGUMENT, "wait_events[%u] has failed with %s (%d)", (unsigned)i,
                             ipt__cl_error(status), (int)status);
    }
    return IPT_SUCCESS;
}

/* Whose workspace a plan uses: with that go the lock and the last event. */
static ipt_plan *ipt__plan_owner(ipt_plan *plan)
{
    return plan->lender ? plan->lender : plan;
}

/* Says whether a run holds, and makes it wait for the plan's execution before it, which may still use the workspace;
 * one that has completed or failed is dropped. The plan is locked. events is what the run may wait for; events[0] is
 * the caller's to release. */
static ipt_result ipt__run_after_last(ipt__run *run, cl_event events[2])
{
    ipt_plan *const plan = ipt__plan_owner(run->plan);
    cl_int status = CL_COMPLETE, error;
    events[0] = NULL;
    events[1] = plan->last;
    if (plan->user != run->plan) { /* counters and flags are elsewhere in another plan's workspace */
        run->plan->dirty = 1;
        plan->user = run->plan;
    }
    if (run->wait_count && plan->context->forgets_failure) {
        cl_command_queue_properties properties = 0;
        error = ipt__cl.clGetCommandQueueInfo(run->queue, CL_QUEUE_PROPERTIES, sizeof properties, &properties, NULL);
        if (error)
            return ipt__fail_opencl("clGetCommandQueueInfo", error);
        run->holds = !(properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
    }
    if (!plan->last)
        return IPT_SUCCESS;
    if (!ipt__cl.clGetEventInfo(plan->last, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL) &&
        status <= CL_COMPLETE) {
        run->plan->dirty |= status < 0;
        ipt__cl.clReleaseEvent(plan->last);
        plan->last = NULL;
        return IPT_SUCCESS;
    }
    if (!run->wait_count) {
        run->wait_count = 1;
        run->wait = events + 1;
        return IPT_SUCCESS;
    }
    error = ipt__cl.clEnqueueMarkerWithWaitList(run->queue, run->holds ? 1 : run->wait_count,
                                                run->holds ? events + 1 : run->wait, &events[0]);
    if (error)
        return ipt__fail_opencl("clEnqueueMarkerWithWaitList", error);
    if (!run->holds) {
        run->wait_count = 2;
        run->wait = events;
    }
    return IPT_SUCCESS;
}

/* What ends every execution: a run of no command gets a marker, the plan remembers the last event, the caller gets it.
 */
static ipt_result ipt__run_finish(ipt__run *run, ipt_result result, cl_event *event)
{
    ipt_plan *const plan = run->plan, *const owner = ipt__plan_owner(plan);
    cl_event marker = NULL;
    if (!result && !run->commands) {
        const cl_int error = ipt__cl.clEnqueueMarkerWithWaitList(run->queue, run->wait_count, run->wait, &marker);
        result = ipt__run_took(run, "clEnqueueMarkerWithWaitList", error, marker);
    }
    if (result && !run->commands)
        return result;
    if (result) {
        plan->dirty = 1;
        result = ipt__fail_incomplete("some commands were enqueued, so the content is undefined");
    }
    if (owner->last)
        ipt__cl.clReleaseEvent(owner->last);
    owner->last = run->previous;
    if (event) {
        *event = run->previous;
        if (ipt__cl.clRetainEvent(run->previous)) { /* one of two can have it: the other must not need it any more */
            ipt__cl.clWaitForEvents(1, &run->previous);
            owner->last = NULL;
        }
    }
    /* Another queue may wait for these commands. They are enqueued, so a failure here shows in the event. */
    ipt__cl.clFlush(run->queue);
    return result;
}

IPT_API ipt_result ipt_plan_execute(ipt_plan *plan, cl_command_queue queue, cl_mem buffer, size_t byte_offset,
                                    cl_uint num_wait_events, const cl_event *wait_events, cl_event *event)
{
    cl_event joined[2] = {NULL, NULL};
    ipt__run run;
    ipt__place place;
    int unaligned = 0;
    ipt_result result;
    if (event)
        *event = NULL;
    result = ipt__check_one_device(plan);
    if (!result)
        result = ipt__check_queue(plan, queue, num_wait_events, wait_events);
    if (!result)
        result = ipt__check_buffer(plan, "buffer", buffer, "byte_offset", byte_offset,
                                   CL_MEM_READ_ONLY | CL_MEM_WRITE_ONLY, &unaligned);
    if (result)
        return result;
    run = ipt__run_begin(plan, queue, num_wait_events, wait_events);
    run.unaligned = unaligned;
    place.buffer = buffer;
    place.base = byte_offset / plan->unit_bytes;
    place.matrix_stride = plan->desc.batch_stride / plan->unit_bytes;
    IPT_LOCK_ACQUIRE(&ipt__plan_owner(plan)->lock);
    result = ipt__run_after_last(&run, joined);
    if (!result)
        result = ipt__run_finish(&run, ipt__run_stages(&run, &place), event);
    IPT_LOCK_RELEASE(&ipt__plan_owner(plan)->lock);
    if (joined[0])
        ipt__cl.clReleaseEvent(joined[0]);
    return result;
}

/* The bytes that a buffer or sub-buffer's batch takes of the memory that it lies in. */
static ipt_result ipt__memory_range(cl_mem buffer, size_t offset, cl_mem *memory, size_t *begin)
{
    size_t origin = 0;
    cl_mem parent = NULL;
    cl_int error = ipt__cl.clGetMemObjectInfo(buffer, CL_MEM_ASSOCIATED_MEMOBJECT, sizeof parent, &parent, NULL);
    if (!error && parent)
        error = ipt__cl.clGetMemObjectInfo(buffer, CL_MEM_OFFSET, sizeof origin, &origin, NULL);
    *memory = parent ? parent : buffer;
    *begin = offset + origin;
    return error ? ipt__fail_opencl("clGetMemObjectInfo", error) : IPT_SUCCESS;
}

static ipt_result ipt__check_apart(const ipt_plan *plan, cl_mem source, size_t source_offset, cl_mem destination,
                                   size_t destination_offset)
{
    cl_mem source_memory, destination_memory;
    size_t source_begin, destination_begin;
    ipt_result result = ipt__memory_range(source, source_offset, &source_memory, &source_begin);
    if (!result)
        result = ipt__memory_range(destination, destination_offset, &destination_memory, &destination_begin);
    if (result)
        return result;
    if (source_memory == destination_memory && source_begin < destination_begin + plan->span_bytes &&
        destination_begin < source_begin + plan->span_bytes)
        return ipt__fail(IPT_ERROR_INVALID_ARGUMENT,
                         "destination_offset = %lu: the destination overlaps the source at source_offset = %lu",
                         (unsigned long)destination_offset, (unsigned long)source_offset);
    return IPT_SUCCESS;
}

/* The tile of the GPUs' kernel out of place, in elements: rows of some 384 bytes, so that few sectors are cut, and as
 * many of them as local memory holds; more of few rows. */
static ipt__tile_layout ipt__out_of_place_tile(const ipt_plan *plan, size_t *tile_rows, size_t *tile_cols)
{
    const ipt__params *const params = &plan->kernels[plan->out_of_place_kernel].program->params;
    const size_t size = plan->desc.elem_size, quanta = params->local_bytes / 16;
    const size_t most_rows = ipt__min(plan->desc.rows, IPT__CHUNK_RUNS);
    size_t wanted = ipt__max(384 / size, 8);
    ipt__tile_layout layout;
    if (plan->desc.rows < 256) /* a row takes up to 2 quanta more than its bytes */
        wanted = ipt__max(wanted, (quanta / plan->desc.rows > 2 ? quanta / plan->desc.rows - 2 : 0) * 16 / size);
    *tile_cols = ipt__min(plan->desc.cols, wanted);
    for (;; *tile_cols = (*tile_cols + 1) / 2) {
        layout = ipt__lay_out_tile(plan, params->group_size, *tile_cols * size, plan->desc.cols * size);
        *tile_rows = most_rows;
        while (*tile_rows > 1 && ipt__tile_quanta(&layout, *tile_rows) > quanta)
            *tile_rows -= *tile_rows > 8 ? 8 - (8 - *tile_rows % 8) % 8 : 1;
        if (ipt__tile_quanta(&layout, *tile_rows) <= quanta || *tile_cols == 1)
            return layout;
    }
}

/* The kernel for executions out of place: on GPUs one that fetches large tiles by quanta, with as much local memory as
 * builds; elsewhere, and for elements that do not fit it, the plain tiled one. */
static ipt_result ipt__out_of_place_get(ipt_plan *plan)
{
    const ipt__limits *const limits = &plan->context->limits;
    size_t tries[2] = {0, 0};
    ipt__params params;
    int i;
    if (limits->nvidia && !limits->local_is_limited && limits->largest_group >= IPT__CHUNK_GROUP_LARGE)
        tries[0] = IPT__CHUNK_BYTES_LARGE;
    if (limits->local_memory >= 8192)
        tries[1] = ipt__min(limits->local_memory - 4352, IPT__CHUNK_BYTES) / 1024 * 1024;
    for (i = 0; i < 2 && !limits->cpu && limits->group_size >= 64 && plan->desc.elem_size <= 256; ++i) {
        ipt_result result;
        params = ipt__plan_params(plan, plan->element_units, 1);
        params.apply = plan->desc.expression != NULL;
        if (tries[i] < 2048 || ipt__local_refused(plan->context, tries[i]))
            continue;
        params.local_bytes = (cl_uint)tries[i];
        if (tries[i] == IPT__CHUNK_BYTES_LARGE)
            params.group_size = IPT__CHUNK_GROUP_LARGE;
        result = ipt__plan_kernel_get(plan, IPT__KERNEL_out_of_place, params, &plan->out_of_place_kernel);
        if (result != IPT_ERROR_BUILD)
            return result;
        ipt__refuse_local(plan->context, tries[i]);
    }
    params = ipt__plan_params(plan, plan->element_units, 1);
    params.apply = plan->desc.expression != NULL;
    return ipt__plan_kernel_get(plan, IPT__KERNEL_transpose, params, &plan->out_of_place_kernel);
}

static ipt_result ipt__run_out_of_place(ipt__run *run, const ipt__place *from, const ipt__place *to)
{
    const ipt_plan *const plan = run->plan;
    const ipt_plan_desc *const desc = &plan->desc;
    const cl_ulong units = plan->element_units;
    ipt__tile_layout layout;
    ipt__out_of_place_arguments a;
    size_t tile_rows, tile_cols;
    cl_ulong tiles_down, tiles;
    if (plan->kernels[plan->out_of_place_kernel].program->id == IPT__KERNEL_transpose) {
        ipt__transpose_arguments t;
        memset(&t, 0, sizeof t);
        t.source_base = from->base;
        t.target_base = to->base;
        t.source_matrix_stride = from->matrix_stride;
        t.target_matrix_stride = to->matrix_stride;
        t.instances_per_matrix = 1;
        t.rows = desc->rows;
        t.cols = desc->cols;
        t.source_row_stride = desc->cols * units;
        t.target_row_stride = desc->rows * units;
        t.element_units = (cl_uint)units;
        return ipt__run_transpose(run, plan->out_of_place_kernel, from->buffer, to->buffer, &t, desc->batch);
    }
    layout = ipt__out_of_place_tile(plan, &tile_rows, &tile_cols);
    tiles_down = ipt__ceil_divide(desc->rows, tile_rows);
    tiles = tiles_down * ipt__ceil_divide(desc->cols, tile_cols);
    memset(&a, 0, sizeof a);
    a.source_base = from->base;
    a.target_base = to->base;
    a.source_matrix_stride = from->matrix_stride;
    a.target_matrix_stride = to->matrix_stride;
    a.matrix_units = (cl_ulong)desc->rows * desc->cols * units;
    a.rows = desc->rows;
    a.cols = desc->cols;
    a.tile_rows = (cl_uint)tile_rows;
    a.tile_cols = (cl_uint)tile_cols;
    a.tiles = (cl_uint)tiles; /* fit if the number of groups does */
    a.tiles_down = (cl_uint)tiles_down;
    a.pitch = (cl_uint)layout.pitch;
    a.skew = (cl_uint)layout.skew;
    a.run_lanes = (cl_uint)layout.run_lanes;
    a.element_units = (cl_uint)units;
    ipt__divider32(a.element_units, &a.element_units_magic, &a.element_units_shift);
    return ipt__run_kernel(run, plan->out_of_place_kernel, from->buffer, to->buffer, 0, &a, tiles * desc->batch);
}

IPT_API ipt_result ipt_plan_execute_out_of_place(ipt_plan *plan, cl_command_queue queue, cl_mem source,
                                                 size_t source_offset, cl_mem destination, size_t destination_offset,
                                                 cl_uint num_wait_events, const cl_event *wait_events, cl_event *event)
{
    ipt__place from, to;
    int unaligned = 0;
    ipt__run run;
    ipt_result result;
    if (event)
        *event = NULL;
    result = ipt__check_one_device(plan);
    if (!result)
        result = ipt__check_out_of_place(plan);
    if (!result)
        result = ipt__check_queue(plan, queue, num_wait_events, wait_events);
    if (!result)
        result =
            ipt__check_buffer(plan, "source", source, "source_offset", source_offset, CL_MEM_WRITE_ONLY, &unaligned);
    if (!result)
        result = ipt__check_buffer(plan, "destination", destination, "destination_offset", destination_offset,
                                   CL_MEM_READ_ONLY, &unaligned);
    if (!result)
        result = ipt__check_apart(plan, source, source_offset, destination, destination_offset);
    if (result)
        return result;
    run = ipt__run_begin(plan, queue, num_wait_events, wait_events);
    run.unaligned = unaligned;
    from.buffer = source;
    from.base = source_offset / plan->unit_bytes;
    to.buffer = destination;
    to.base = destination_offset / plan->unit_bytes;
    from.matrix_stride = to.matrix_stride = plan->desc.batch_stride / plan->unit_bytes;
    IPT_LOCK_ACQUIRE(&plan->lock);
    if (plan->out_of_place_kernel < 0)
        result = ipt__out_of_place_get(plan);
    if (result)
        plan->out_of_place_kernel = -1;
    else {
        result = ipt__run_out_of_place(&run, &from, &to);
        /* It uses no workspace, so the execution before it need not be waited for, and stays the one to wait for. */
        if (!result)
            ipt__cl.clFlush(queue);
    }
    IPT_LOCK_RELEASE(&plan->lock);
    if (event)
        *event = run.previous;
    else if (run.previous)
        ipt__cl.clReleaseEvent(run.previous);
    return result;
}

/* Moves the batch between host memory and a buffer of its own, and waits. Bytes between the matrices are not touched.
 */
static ipt_result ipt__transfer(const ipt_plan *plan, cl_mem buffer, char *data, int download)
{
    const cl_command_queue queue = plan->context->queue;
    const size_t pitch = plan->desc.batch_stride, origin[3] = {0, 0, 0},
                 region[3] = {plan->matrix_bytes, plan->desc.batch, 1};
    const int dense = pitch == plan->matrix_bytes || plan->desc.batch == 1;
    const size_t step = dense ? plan->span_bytes : pitch, bytes = dense ? plan->span_bytes : plan->matrix_bytes;
    size_t at;
    cl_int error = CL_SUCCESS;
    if (!dense && pitch < (size_t)1 << 30) { /* drivers limit the pitch of a rectangle, some to 2 GiB */
        error = download ? ipt__cl.clEnqueueReadBufferRect(queue, buffer, CL_TRUE, origin, origin, region, pitch, 0,
                                                           pitch, 0, data, 0, NULL, NULL)
                         : ipt__cl.clEnqueueWriteBufferRect(queue, buffer, CL_TRUE, origin, origin, region, pitch, 0,
                                                            pitch, 0, data, 0, NULL, NULL);
        return error ? ipt__fail_opencl(download ? "clEnqueueReadBufferRect" : "clEnqueueWriteBufferRect", error)
                     : IPT_SUCCESS;
    }
    for (at = 0; at < plan->span_bytes && !error; at += step)
        error = download ? ipt__cl.clEnqueueReadBuffer(queue, buffer, CL_TRUE, at, bytes, data + at, 0, NULL, NULL)
                         : ipt__cl.clEnqueueWriteBuffer(queue, buffer, CL_TRUE, at, bytes, data + at, 0, NULL, NULL);
    return error ? ipt__fail_opencl(download ? "clEnqueueReadBuffer" : "clEnqueueWriteBuffer", error) : IPT_SUCCESS;
}

/* ------------------------------------------------------------------------------------------------------------------ */
/* >>host matrices                                                                                                    */
/* ------------------------------------------------------------------------------------------------------------------ */

/* A host matrix is moved in parts. One matrix is cut along its longer side: a part is transposed for itself as soon as
 * it is on the device, while the next ones are on their way, and what the two-pass method would shuffle is left to the
 * transfer: rows of a tall matrix's part come to lie apart in the result, columns of a wide one's in the source.
 * Nothing is downloaded before all has been uploaded, so that until then the host's matrix is as it was. Batches are
 * cut between matrices, and the download of one part overlaps with the upload of those behind. */

/* One execution. */
typedef struct ipt__host_run {
    ipt_plan *plan;
    char *data;
    const ipt_host_options *options;
    size_t done, total;     /* bytes over the bus */
    int cancelled, written; /* written: part of data may hold the result */
    int pinned;
} ipt__host_run;

/* Tells how far it is, and hears whether to go on. */
static void ipt__host_progress(ipt__host_run *run, size_t bytes)
{
    run->done += bytes;
    if (run->options->progress && run->options->progress(run->done, run->total, run->options->user))
        run->cancelled = 1;
}

/* ---- threads ---- */

/* Work that one of them does. */
typedef struct ipt__errand {
    void (*work)(void *job);
    void *job;
} ipt__errand;

#ifndef IPT_NO_THREADS
static IPT__THREAD_RESULT ipt__errand_main(void *argument)
{
    const ipt__errand *const errand = (const ipt__errand *)argument;
    errand->work(errand->job);
    return IPT__THREAD_RETURN;
}
#endif

/* Has each of `count` jobs done, 32 at most, the first one by this thread, and returns when all are done. Where a
 * thread does not start, this one does its job. */
static void ipt__run_together(void (*work)(void *job), void *jobs, size_t job_bytes, int count)
{
    enum { MOST = 32 };
    ipt__errand errands[MOST];
    int i;
#ifndef IPT_NO_THREADS
    ipt__thread threads[MOST];
    int started[MOST] = {0};
#endif
    for (i = 0; i < count; ++i) {
        errands[i].work = work;
        errands[i].job = (char *)jobs + (size_t)i * job_bytes;
#ifndef IPT_NO_THREADS
        started[i] = i && IPT__THREAD_START(&threads[i], ipt__errand_main, &errands[i]);
#endif
    }
    for (i = 0; i < count; ++i)
#ifndef IPT_NO_THREADS
        if (!started[i])
#endif
            work(errands[i].job);
#ifndef IPT_NO_THREADS
    for (i = 1; i < count; ++i)
        if (started[i])
            IPT__THREAD_JOIN(threads[i]);
#endif
}

/* ---- where parts lie, and how they are moved ---- */

static size_t ipt__area_bytes(const ipt__area *area)
{
    size_t bytes = 0;
    int i;
    for (i = 0; i < area->count; ++i)
        bytes += area->rects[i].rows * area->rects[i].row_bytes;
    return bytes;
}

/* Adds rows to an area. */
static void ipt__area_add(ipt__area *area, size_t offset, size_t rows, size_t row_bytes, size_t pitch)
{
    ipt__rect *const rect = &area->rects[area->count];
    if (!rows || !row_bytes)
        return;
    rect->offset = offset;
    rect->rows = rows;
    rect->row_bytes = row_bytes;
    rect->pitch = pitch;
    ++area->count;
}

static ipt__area ipt__area_of(size_t offset, size_t rows, size_t row_bytes, size_t pitch)
{
    ipt__area area;
    memset(&area, 0, sizeof area);
    ipt__area_add(&area, offset, rows, row_bytes, pitch);
    return area;
}

/* Enqueues the transfer of rows from or to memory that the device reaches by itself. */
static ipt_result ipt__rect_transfer(const ipt__host_part *part, const ipt__rect *rect, size_t device, char *data,
                                     int download, cl_uint wait_count, const cl_event *wait, cl_event *event)
{
    const cl_mem buffer = part->share->buffer;
    char *const host = data + rect->offset;
    const int dense = rect->rows == 1 || rect->row_bytes == rect->pitch;
    /* Drivers limit the pitch of a rectangle, some to 2 GiB: row by row, which the queue keeps in order. */
    const size_t pieces = dense || rect->pitch < (size_t)1 << 30 ? 1 : rect->rows;
    const size_t bytes = rect->rows * rect->row_bytes / pieces;
    cl_event last = NULL;
    cl_int error = CL_SUCCESS;
    size_t i;
    if (!dense && pieces == 1) {
        const size_t device_origin[3] = {device, 0, 0}, host_origin[3] = {0, 0, 0},
                     region[3] = {rect->row_bytes, rect->rows, 1};
        error =
            download
                ? ipt__cl.clEnqueueReadBufferRect(part->queue, buffer, CL_FALSE, device_origin, host_origin, region,
                                                  rect->row_bytes, 0, rect->pitch, 0, host, wait_count, wait, event)
                : ipt__cl.clEnqueueWriteBufferRect(part->queue, buffer, CL_FALSE, device_origin, host_origin, region,
                                                   rect->row_bytes, 0, rect->pitch, 0, host, wait_count, wait, event);
        return error ? ipt__fail_opencl(download ? "clEnqueueReadBufferRect" : "clEnqueueWriteBufferRect", error)
                     : IPT_SUCCESS;
    }
    for (i = 0; i < pieces && !error; ++i) { /* each behind the one before: the last event tells of all */
        const cl_uint waits = last ? 1 : wait_count;
        const cl_event *const list = last ? &last : wait;
        cl_event next = NULL;
        error = download ? ipt__cl.clEnqueueReadBuffer(part->queue, buffer, CL_FALSE, device + i * bytes, bytes,
                                                       host + i * rect->pitch, waits, list, &next)
                         : ipt__cl.clEnqueueWriteBuffer(part->queue, buffer, CL_FALSE, device + i * bytes, bytes,
                                                        host + i * rect->pitch, waits, list, &next);
        if (last)
            ipt__cl.clReleaseEvent(last);
        last = next;
    }
    *event = last;
    return error ? ipt__fail_opencl(download ? "clEnqueueReadBuffer" : "clEnqueueWriteBuffer", error) : IPT_SUCCESS;
}

/* The same for a part. Each transfer waits for the one before, so that the event tells how all of them have ended. */
static ipt_result ipt__host_transfer(const ipt__host_part *part, char *data, int download, cl_uint wait_count,
                                     const cl_event *wait, cl_event *event)
{
    const ipt__area *const area = download ? &part->down : &part->up;
    size_t device = part->device;
    cl_event last = NULL;
    int i;
    for (i = 0; i < area->count; ++i) {
        const ipt__rect *const rect = &area->rects[i];
        cl_event next = NULL;
        const ipt_result result =
            ipt__rect_transfer(part, rect, device, data, download, last ? 1 : wait_count, last ? &last : wait, &next);
        if (last)
            ipt__cl.clReleaseEvent(last);
        if (result)
            return result;
        last = next;
        device += rect->rows * rect->row_bytes;
    }
    *event = last;
    ipt__cl.clFlush(part->queue);
    return IPT_SUCCESS;
}

/* Copies bytes [begin, end) of an area's dense form between it and the host's matrix. */
static void ipt__area_copy(const ipt__area *area, char *data, char *dense, size_t begin, size_t end, int download)
{
    int i;
    for (i = 0; i < area->count && begin < end; ++i) {
        const ipt__rect *const rect = &area->rects[i];
        const size_t all = rect->rows * rect->row_bytes;
        for (; begin < ipt__min(all, end);) {
            const size_t row = begin / rect->row_bytes, within = begin - row * rect->row_bytes,
                         bytes = ipt__min(ipt__min(all, end) - begin, rect->row_bytes - within);
            char *const host = data + rect->offset + row * rect->pitch + within;
            if (download)
                memcpy(host, dense, bytes);
            else
                memcpy(dense, host, bytes);
            dense += bytes;
            begin += bytes;
        }
        begin -= ipt__min(all, begin);
        end -= ipt__min(all, end);
    }
}

#ifndef IPT_NO_THREADS

/* Some threads that do the same for shares of their own. */
typedef struct ipt__host_lane {
    const ipt__host_part *part;
    char *data;
    cl_event busy[IPT__HOST_SLOTS];
    int index, count, download;
    ipt_result result;
    char error[256];
} ipt__host_lane;

/* Moves every count-th piece of a part through pinned memory: one slot is copied while the other is on the bus. */
static void ipt__host_lane_run(ipt__host_lane *lane)
{
    const ipt__host_part *const part = lane->part;
    const ipt__area *const area = lane->download ? &part->down : &part->up;
    const size_t all = ipt__area_bytes(area), slot = IPT__HOST_SLOT_BYTES;
    const cl_command_queue queue = part->share->queues[lane->index % part->share->queue_count];
    size_t piece = (size_t)lane->index, ahead;
    int turn = 0;
    lane->result = IPT_SUCCESS;
    for (ahead = piece; piece * slot < all && !lane->result; piece += (size_t)lane->count, turn ^= 1) {
        const size_t begin = piece * slot, bytes = ipt__min(slot, all - begin);
        char *const memory =
            part->share->slots + ((size_t)lane->index * IPT__HOST_SLOTS + (size_t)turn) * IPT__HOST_SLOT_BYTES;
        cl_int error = CL_SUCCESS;
        if (!lane->download) {
            if (lane->busy[turn]) {
                lane->result = ipt__wait_for(lane->busy[turn]);
                ipt__cl.clReleaseEvent(lane->busy[turn]);
                lane->busy[turn] = NULL;
            }
            if (lane->result)
                break;
            ipt__area_copy(area, lane->data, memory, begin, begin + bytes, 0);
            error = ipt__cl.clEnqueueWriteBuffer(queue, part->share->buffer, CL_FALSE, part->device + begin, bytes,
                                                 memory, 0, NULL, &lane->busy[turn]);
            if (error)
                lane->result = ipt__fail_opencl("clEnqueueWriteBuffer", error);
            else
                ipt__cl.clFlush(queue);
            continue;
        }
        /* The piece behind this one is under way while this one is copied. */
        for (; ahead * slot < all && ahead <= piece + (size_t)lane->count && !lane->result;
             ahead += (size_t)lane->count) {
            const int its = (int)((ahead - (size_t)lane->index) / (size_t)lane->count % 2);
            const size_t its_bytes = ipt__min(slot, all - ahead * slot);
            error = ipt__cl.clEnqueueReadBuffer(
                queue, part->share->buffer, CL_FALSE, part->device + ahead * slot, its_bytes,
                part->share->slots + ((size_t)lane->index * IPT__HOST_SLOTS + (size_t)its) * IPT__HOST_SLOT_BYTES, 0,
                NULL, &lane->busy[its]);
            if (error)
                lane->result = ipt__fail_opencl("clEnqueueReadBuffer", error);
            else
                ipt__cl.clFlush(queue);
        }
        if (lane->busy[turn]) {
            const ipt_result waited = ipt__wait_for(lane->busy[turn]);
            lane->result = lane->result ? lane->result : waited;
            ipt__cl.clReleaseEvent(lane->busy[turn]);
            lane->busy[turn] = NULL;
        }
        if (!lane->result)
            ipt__area_copy(area, lane->data, memory, begin, begin + bytes, 1);
    }
    /* Nothing may use the slots when others get them. */
    for (turn = 0; turn < IPT__HOST_SLOTS; ++turn)
        if (lane->busy[turn]) {
            const ipt_result waited = ipt__wait_for(lane->busy[turn]);
            lane->result = lane->result ? lane->result : waited;
            ipt__cl.clReleaseEvent(lane->busy[turn]);
            lane->busy[turn] = NULL;
        }
    if (lane->result) { /* the text is this thread's own */
        memcpy(lane->error, ipt__error_text, sizeof lane->error - 1);
        lane->error[sizeof lane->error - 1] = 0;
    }
}

static void ipt__host_lane_work(void *lane)
{
    ipt__host_lane_run((ipt__host_lane *)lane);
}

/* Moves a part through pinned memory by several threads. */
static ipt_result ipt__host_staged(const ipt__host_part *part, char *data, int download)
{
    ipt__host_lane lanes[IPT__HOST_THREADS];
    const size_t pieces = ipt__ceil_divide(ipt__area_bytes(download ? &part->down : &part->up), IPT__HOST_SLOT_BYTES);
    const int count = (int)ipt__min(pieces, (size_t)IPT__HOST_THREADS);
    int i;
    memset(lanes, 0, sizeof lanes);
    for (i = 0; i < count; ++i) {
        lanes[i].part = part;
        lanes[i].data = data;
        lanes[i].index = i;
        lanes[i].count = count;
        lanes[i].download = download;
    }
    ipt__run_together(ipt__host_lane_work, lanes, sizeof *lanes, count);
    for (i = 0; i < count; ++i)
        if (lanes[i].result)
            return ipt__fail(lanes[i].result, "%s", lanes[i].error);
    return IPT_SUCCESS;
}

#endif

/* Moves a part, so that the event follows the last of it: by itself if the device reaches the memory, else here. */
static ipt_result ipt__host_move(ipt__host_run *run, ipt__host_part *part, int download, cl_uint wait_count,
                                 const cl_event *wait, cl_event *event)
{
#ifndef IPT_NO_THREADS
    if (!run->pinned && part->share->pinned) {
        ipt_result result = IPT_SUCCESS;
        cl_int error;
        cl_uint i;
        for (i = 0; i < wait_count && !result; ++i)
            result = ipt__wait_for(wait[i]);
        if (!result)
            result = ipt__host_staged(part, run->data, download);
        if (result)
            return result;
        error = ipt__cl.clEnqueueMarkerWithWaitList(part->queue, 0, NULL, event);
        return error ? ipt__fail_opencl("clEnqueueMarkerWithWaitList", error) : IPT_SUCCESS;
    }
#endif
    return ipt__host_transfer(part, run->data, download, wait_count, wait, event);
}

static void ipt__host_forget(cl_event *event)
{
    if (*event)
        ipt__cl.clReleaseEvent(*event);
    *event = NULL;
}

/* Waits until nothing of a run is under way any more, whatever has become of it. */
static void ipt__host_settle(const ipt__host *host)
{
    size_t s, i;
    for (s = 0; s < host->share_count; ++s)
        for (i = 0; i < (size_t)host->shares[s].queue_count; ++i)
            ipt__cl.clFinish(host->shares[s].queues[i]);
    for (i = 0; i < host->part_count; ++i) {
        ipt__host_forget(&host->parts[i].uploaded);
        ipt__host_forget(&host->parts[i].transposed);
        ipt__host_forget(&host->parts[i].downloaded);
    }
    for (i = 0; i < host->haul_count; ++i)
        ipt__host_forget(&host->hauls[i].event);
}

/* Waits for a transfer of a part, and tells. */
static ipt_result ipt__host_await(ipt__host_run *run, ipt__host_part *part, int download)
{
    const ipt_result result = ipt__wait_for(download ? part->downloaded : part->uploaded);
    if (!result)
        ipt__host_progress(run, ipt__area_bytes(&part->up));
    return result;
}

/* Uploads a part and transposes it. */
static ipt_result ipt__host_begin(ipt__host_run *run, ipt__host_part *part)
{
    ipt_result result = ipt__host_move(run, part, 0, 0, NULL, &part->uploaded);
    if (!result)
        result = ipt_plan_execute(part->plan, part->queue, part->share->buffer, part->device, 1, &part->uploaded,
                                  &part->transposed);
    /* Only the device's copy is lost; and what is wrong with arguments that are ipt's own is an upload that failed. */
    return result == IPT_ERROR_INCOMPLETE || result == IPT_ERROR_INVALID_ARGUMENT ? IPT_ERROR_OPENCL : result;
}

/* Parts of one matrix: all are uploaded before the first is downloaded. A few transfers are enqueued ahead. */
static ipt_result ipt__host_run_blocks(ipt__host_run *run, ipt__host *host)
{
    ipt_result result = IPT_SUCCESS;
    size_t i, told = 0, begun = 0;
    for (i = 0; i < host->part_count && !result && !run->cancelled; ++i) {
        result = ipt__host_begin(run, &host->parts[i]);
        for (; !result && !run->cancelled && told + IPT__HOST_AHEAD <= i; ++told)
            result = ipt__host_await(run, &host->parts[told], 0);
    }
    for (; told < host->part_count && !result && !run->cancelled; ++told)
        result = ipt__host_await(run, &host->parts[told], 0);
    for (i = 0; i < host->part_count && !result && !run->cancelled; ++i)
        result = ipt__wait_for(host->parts[i].transposed);
    for (i = 0; i < host->part_count && !result && !run->cancelled; ++i) {
        for (; begun < ipt__min(host->part_count, i + IPT__HOST_AHEAD) && !result; ++begun) {
            run->written = 1;
            result = ipt__host_move(run, &host->parts[begun], 1, 0, NULL, &host->parts[begun].downloaded);
        }
        if (!result)
            result = ipt__host_await(run, &host->parts[i], 1);
        if (begun == host->part_count)
            run->cancelled = 0; /* too late */
    }
    return result;
}

/* Some implementations would wait for ever for what has failed. */
static ipt_result ipt__host_unfailed(cl_event event)
{
    cl_int status = CL_COMPLETE;
    const cl_int error = ipt__cl.clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL);
    if (error)
        return ipt__fail_opencl("clGetEventInfo", error);
    return status < 0 ? ipt__fail_opencl("a transfer or a transposition that was to be waited for", status)
                      : IPT_SUCCESS;
}

/* Parts that are whole matrices: each goes its way alone. */
static ipt_result ipt__host_run_batch(ipt__host_run *run, ipt__host *host)
{
    const size_t ahead = 2;
    ipt_result result = IPT_SUCCESS;
    size_t i, told = 0;
    for (i = 0; i < host->part_count + ahead && !result && !run->cancelled; ++i) {
        if (i < host->part_count)
            result = ipt__host_begin(run, &host->parts[i]);
        if (!result && i > 0 && i <= host->part_count) {
            /* Of a matrix that is cut, it goes where the part before it came from. */
            const cl_event wait[2] = {host->parts[i - 1].transposed, i > 1 ? host->parts[i - 2].uploaded : NULL};
            result = ipt__host_unfailed(host->parts[i - 1].transposed);
            if (result)
                break;
            run->written = 1;
            result = ipt__host_move(run, &host->parts[i - 1], 1, i > 1 ? 2 : 1, wait, &host->parts[i - 1].downloaded);
        }
        for (; !result && !run->cancelled && told + ahead <= i; ++told) {
            result = ipt__host_await(run, &host->parts[told], 0);
            if (!result)
                result = ipt__host_await(run, &host->parts[told], 1);
            if (i >= host->part_count && run->done == run->total)
                run->cancelled = 0; /* too late */
        }
    }
    return result;
}

/* ---- the stages by parts: seed 000, section 6 ---- */

/* The fewest instances of stages [first, end), of which each must have a multiple; 0 if they cannot be cut. */
static size_t ipt__host_grain(const ipt_plan *plan, int first, int end)
{
    size_t grain = 0;
    int i;
    for (i = first; i < end; ++i) {
        const ipt__stage *const stage = &plan->layout.stages[i];
        if (stage->kind < IPT__STAGE_TILE || stage->kind == IPT__STAGE_PANEL || stage->kind == IPT__STAGE_FLIP ||
            stage->kind == IPT__STAGE_MAP || stage->kind == IPT__STAGE_PAD || stage->row_slots)
            return 0;
        if (!grain || stage->instances < grain)
            grain = stage->instances;
    }
    for (i = first; i < end; ++i)
        if (plan->layout.stages[i].instances % grain)
            return 0;
    return grain;
}

/* Enqueues stages [first, end) of instances [begin, stop) of `grain`. */
static ipt_result ipt__host_stages(ipt_plan *plan, cl_command_queue queue, cl_mem buffer, int first, int end,
                                   size_t grain, size_t begin, size_t stop, const cl_event *wait, cl_event *event)
{
    cl_event joined[2] = {NULL, NULL};
    ipt__run run = ipt__run_begin(plan, queue, wait ? 1 : 0, wait);
    ipt_result result;
    int i;
    IPT_LOCK_ACQUIRE(&plan->lock);
    result = ipt__run_after_last(&run, joined);
    if (!result) {
        for (i = first; i < end && !result; ++i) {
            ipt__stage stage = plan->layout.stages[i];
            const size_t each = stage.instances / grain;
            ipt__place place;
            place.buffer = buffer;
            place.base = run.skipped = begin * each * ipt__instance_units(plan, &stage);
            place.matrix_stride = plan->desc.batch_stride / plan->unit_bytes;
            stage.instances = (stop - begin) * each;
            result = ipt__run_stage(&run, &stage, &place);
        }
        result = ipt__run_finish(&run, result, event);
    }
    IPT_LOCK_RELEASE(&plan->lock);
    if (joined[0])
        ipt__cl.clReleaseEvent(joined[0]);
    return result == IPT_ERROR_INCOMPLETE ? IPT_ERROR_OPENCL : result; /* only the device's copy is lost */
}

/* Stages before the one that needs the whole matrix run by parts behind the upload, those after it before the download
 * of their part. */
static ipt_result ipt__host_run_stages(ipt__host_run *run, ipt__host *host)
{
    ipt_plan *const plan = run->plan;
    ipt__host_share *const share = &host->shares[0];
    const int stages = plan->layout.stage_count;
    size_t before, after, ups, downs, i, told;
    int whole = 0;
    cl_event middle = NULL;
    ipt_result result = IPT_SUCCESS;
    while (whole < stages && plan->layout.stages[whole].instances > 1)
        ++whole;
    before = ipt__host_grain(plan, 0, whole);
    after = ipt__host_grain(plan, whole + 1, stages);
    if (plan->desc.batch > 1 || plan->layout.cooperative || whole == stages || (whole && !before) ||
        (whole + 1 < stages && !after))
        return ipt__fail(IPT_ERROR_UNSUPPORTED,
                         "host is %s: the plan's stages cannot be cut into parts; sequences 3.1 to 4.2 with tiles that "
                         "divide can",
                         ipt_host_string(IPT_HOST_STAGES));
    ups = whole ? ipt__min(before, host->part_count) : host->part_count;
    downs = whole + 1 < stages ? ipt__min(after, host->part_count) : host->part_count;
    before = whole ? before : plan->desc.rows;
    after = whole + 1 < stages ? after : plan->desc.cols;
    ups = ipt__min(ups, before);
    downs = ipt__min(downs, after);
    for (i = 0; i < ups && !result; ++i) {
        ipt__host_part *const part = &host->parts[i];
        const size_t begin = before * i / ups, stop = before * (i + 1) / ups;
        part->device = plan->matrix_bytes / before * begin;
        part->up = ipt__area_of(part->device, 1, plan->matrix_bytes / before * (stop - begin), 0);
        result = ipt__host_move(run, part, 0, 0, NULL, &part->uploaded);
        if (!result && whole)
            result = ipt__host_stages(plan, part->queue, share->buffer, 0, whole, before, begin, stop, &part->uploaded,
                                      &part->transposed);
    }
    for (told = 0; told < ups && !result && !run->cancelled; ++told)
        result = ipt__host_await(run, &host->parts[told], 0);
    /* The plan's own event orders what is before and after, but forgets what has failed. */
    for (told = 0; told < ups && whole && !result && !run->cancelled; ++told)
        result = ipt__wait_for(host->parts[told].transposed);
    if (!result && !run->cancelled)
        result = ipt__host_stages(plan, share->queues[0], share->buffer, whole, whole + 1, 1, 0, 1, NULL, &middle);
    if (!result && !run->cancelled) /* until here data is as it was */
        result = ipt__wait_for(middle);
    for (i = 0; i < downs && !result && !run->cancelled; ++i) {
        ipt__host_part *const part = &host->parts[i];
        const size_t begin = after * i / downs, stop = after * (i + 1) / downs;
        ipt__host_forget(&part->transposed);
        part->device = plan->matrix_bytes / after * begin;
        part->up = part->down = ipt__area_of(part->device, 1, plan->matrix_bytes / after * (stop - begin), 0);
        if (whole + 1 < stages)
            result = ipt__host_stages(plan, part->queue, share->buffer, whole + 1, stages, after, begin, stop, &middle,
                                      &part->transposed);
        if (result)
            break;
        run->written = 1;
        result = ipt__host_move(run, part, 1, 1, part->transposed ? &part->transposed : &middle, &part->downloaded);
    }
    for (told = 0; told < downs && i == downs && !result; ++told) {
        result = ipt__host_await(run, &host->parts[told], 1);
        run->cancelled = 0; /* too late */
    }
    ipt__host_settle(host);
    ipt__host_forget(&middle);
    return result;
}

/* ---- what an execution needs ---- */

static void ipt__host_close(ipt_plan *plan)
{
    ipt__host *const host = &plan->host;
    const ipt_allocator *const allocator = &plan->context->allocator;
    size_t s;
    int i;
    for (s = 0; host->shares && s < host->share_count; ++s) {
        ipt__host_share *const share = &host->shares[s];
        for (i = 0; i < IPT__BLOCK_PLANS; ++i)
            ipt_plan_destroy(share->block_plans[i]);
        for (i = 3; i >= 0; --i) /* they may have borrowed from the first */
            ipt_plan_destroy(share->plans[i]);
        if (share->slots)
            ipt__cl.clEnqueueUnmapMemObject(share->queues[0], share->pinned, share->slots, 0, NULL, NULL);
        for (i = 0; i < share->queue_count; ++i)
            ipt__cl.clReleaseCommandQueue(share->queues[i]);
        if (share->pinned)
            ipt__cl.clReleaseMemObject(share->pinned);
        if (share->buffer)
            ipt__cl.clReleaseMemObject(share->buffer);
        share->queue_count = 0;
    }
    ipt__release(allocator, host->shares);
    ipt__release(allocator, host->parts);
    ipt__release(allocator, host->hauls);
    ipt__release(allocator, host->scratch);
    memset(host, 0, sizeof *host);
}

/* The length of a part along the longer side, or in matrices of a batch, and how many parts that makes. */
static size_t ipt__host_cut(const ipt_plan *plan, size_t devices, size_t *count)
{
    const ipt_plan_desc *const desc = &plan->desc;
    const size_t all = desc->batch > 1 ? desc->batch : ipt__max(desc->rows, desc->cols);
    const size_t bytes = plan->matrix_bytes * desc->batch;
    size_t parts = desc->host_queues, length;
    if (!parts) {
        parts = ipt__min(IPT__HOST_PARTS * devices, ipt__max(1, bytes / IPT__HOST_PART_BYTES));
        if (desc->batch == 1)
            parts = ipt__min(parts, ipt__max(1, all * desc->elem_size / IPT__HOST_RUN_BYTES));
        parts = ipt__max(parts, devices);
    }
    parts = ipt__min(ipt__min(parts, all), IPT__HOST_PARTS_MOST);
    length = ipt__ceil_divide(all, parts);
    if (desc->batch == 1 && length > 512) /* rows that begin on lines of the memory, where the matrix does */
        length = ipt__round_up(length, 64);
    *count = ipt__ceil_divide(all, length);
    return length;
}

/* Where part `index` lies in the host's matrix before and after. */
static void ipt__host_place(const ipt_plan *plan, ipt__host_part *part, size_t first, size_t length)
{
    const ipt_plan_desc *const desc = &plan->desc;
    const size_t size = desc->elem_size;
    if (desc->batch > 1)
        part->up = part->down =
            ipt__area_of(first * desc->batch_stride, length, plan->matrix_bytes, desc->batch_stride);
    else if (desc->rows >= desc->cols) {
        part->up = ipt__area_of(first * desc->cols * size, 1, length * desc->cols * size, 0);
        part->down = ipt__area_of(first * size, desc->cols, length * size, desc->rows * size);
    } else {
        part->up = ipt__area_of(first * size, desc->rows, length * size, desc->cols * size);
        part->down = ipt__area_of(first * desc->rows * size, 1, length * desc->rows * size, 0);
    }
}

/* A plan for parts of `length`. It borrows the workspace of the plan itself, or of the one for the other parts, or has
 * one of its own of what the plan has left of its limit. */
static ipt_result ipt__host_part_plan(ipt_plan *plan, ipt__host_share *share, size_t length, ipt_plan **made)
{
    ipt_plan_desc desc = plan->desc;
    ipt_plan *const first = share->plans[0], *lender = plan->split_count ? NULL : plan;
    const size_t budget = ipt__plan_budget(plan), devices = plan->split_count ? plan->split_count : 1;
    const size_t left =
        budget > plan->layout.workspace && (!first || first->lender) ? (budget - plan->layout.workspace) / devices : 0;
    ipt_result result;
    if (first && !first->lender && (!lender || lender->layout.workspace < first->layout.workspace))
        lender = first;
    if (desc.batch > 1)
        desc.batch = length;
    else
        *(desc.rows >= desc.cols ? &desc.rows : &desc.cols) = length;
    desc.batch_stride = 0;
    desc.flags &= ~(IPT_MEASURE | IPT_OUT_OF_PLACE);
    desc.measure_buffer = NULL;
    desc.host = IPT_HOST_SYNCHRONOUS;
    desc.max_workspace = ipt__max(ipt__max(left, lender ? lender->layout.workspace : 0), 1);
    result = ipt__plan_make(share->context, &desc, lender, made);
    if (result == IPT_ERROR_UNSUPPORTED) {
        desc.max_workspace = 1;
        result = ipt__plan_make(share->context, &desc, lender, made);
    }
    return result;
}

/* Bytes of workspace that the parts' plans have of their own; `least`: the most that one of them needs. */
static size_t ipt__host_workspace(const ipt__host *host, size_t *least)
{
    size_t s, bytes = 0;
    int i;
    *least = 0;
    for (s = 0; s < host->share_count; ++s)
        for (i = 0; i < 2; ++i) {
            const ipt_plan *const part = host->shares[s].plans[i];
            bytes += part && !part->lender ? part->layout.workspace : 0;
            *least = part ? ipt__max(*least, part->layout.minimum_workspace) : *least;
        }
    return bytes;
}

/* Refuses parts that take more workspace than the plan may have. Each device needs room for one plan that the next one
 * cannot borrow from, and for the next one; the plan itself may have less than they need, too. */
static ipt_result ipt__host_check_workspace(ipt_plan *plan, size_t bytes, size_t least)
{
    const size_t budget = ipt__plan_budget(plan);
    if (!budget || plan->layout.workspace + bytes <= budget)
        return IPT_SUCCESS;
    plan->enough = (plan->split_count ? 2 * plan->split_count : 3) * least;
    return ipt__fail_for_parts(budget, plan->enough);
}

/* Makes parts, plans, buffers and queues, and keeps them for later executions. scheme: OVERLAPPED or STAGES. */
static ipt_result ipt__host_open(ipt_plan *plan, ipt_host scheme)
{
    ipt__host *const host = &plan->host;
    const ipt_allocator *const allocator = &plan->context->allocator;
    const int whole = scheme == IPT_HOST_STAGES;
    const size_t devices = plan->split_count ? plan->split_count : 1;
    const size_t all = plan->desc.batch > 1 ? plan->desc.batch : ipt__max(plan->desc.rows, plan->desc.cols);
    size_t length, i, s, bytes, least;
    ipt_result result = IPT_SUCCESS;
    cl_int error = CL_SUCCESS;
    if (host->shares)
        return IPT_SUCCESS; /* a cut plan has been so from the start */
    length = ipt__host_cut(plan, devices, &host->part_count);
    host->share_count = ipt__min(devices, host->part_count);
    host->shares = (ipt__host_share *)ipt__allocate(allocator, host->share_count * sizeof *host->shares);
    host->parts = (ipt__host_part *)ipt__allocate(allocator, host->part_count * sizeof *host->parts);
    if (!host->shares || !host->parts)
        result = IPT_ERROR_OUT_OF_MEMORY;
    for (s = 0; s < host->share_count && !result; ++s) {
        ipt__host_share *const share = &host->shares[s];
        const size_t begin = host->part_count * s / host->share_count,
                     end = host->part_count * (s + 1) / host->share_count;
        bytes = 0;
        share->context = plan->split_count ? plan->split[s] : plan->context;
        for (i = begin; i < end && !result; ++i) {
            ipt__host_part *const part = &host->parts[i];
            const size_t its_length = ipt__min(length, all - i * length);
            ipt_plan **const its_plan = &share->plans[its_length != length];
            cl_command_queue *const queue = &share->queues[share->queue_count];
            ipt__host_place(plan, part, i * length, its_length);
            if (!whole && !*its_plan)
                result = ipt__host_part_plan(plan, share, its_length, its_plan);
            part->share = share;
            part->plan = *its_plan;
            part->device = bytes;
            bytes += ipt__area_bytes(&part->up);
            if (result)
                break;
            *queue = ipt__cl.clCreateCommandQueue(share->context->context, share->context->device, 0, &error);
            if (error)
                result = ipt__fail_opencl("clCreateCommandQueue", error);
            else
                ++share->queue_count;
            part->queue = *queue;
        }
        if (!result)
            share->buffer = ipt__buffer_make(share->context, CL_MEM_READ_WRITE, bytes, NULL, "device memory",
                                             &plan->refused, &result);
    }
    if (!result) {
        bytes = ipt__host_workspace(host, &least);
        result = ipt__host_check_workspace(plan, bytes, least);
    }
    if (result) {
        ipt__host_close(plan);
        return result;
    }
    IPT_LOCK_ACQUIRE(&plan->lock);
    plan->host_workspace = bytes;
    IPT_LOCK_RELEASE(&plan->lock);
    return IPT_SUCCESS;
}

/* Takes the pinned memory that pageable matrices pass through, for devices that gain by it. Without it they are handed
 * to the driver as they are. */
static void ipt__host_take_slots(ipt__host *host)
{
#ifndef IPT_NO_THREADS
    const size_t bytes = (size_t)IPT__HOST_THREADS * IPT__HOST_SLOTS * IPT__HOST_SLOT_BYTES;
    size_t s;
    for (s = 0; s < host->share_count; ++s) {
        ipt__host_share *const share = &host->shares[s];
        cl_int error;
        if (share->pinned || share->context->limits.cpu)
            continue;
        share->pinned = ipt__cl.clCreateBuffer(share->context->context, CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR,
                                               bytes, NULL, &error);
        if (error) {
            share->pinned = NULL;
            continue;
        }
        share->slots = (char *)ipt__cl.clEnqueueMapBuffer(share->queues[0], share->pinned, CL_TRUE,
                                                          CL_MAP_READ | CL_MAP_WRITE, 0, bytes, 0, NULL, NULL, &error);
        if (error) {
            ipt__cl.clReleaseMemObject(share->pinned);
            share->pinned = NULL;
            share->slots = NULL;
        }
    }
#else
    (void)host;
#endif
}

/* ---- pinned memory ---- */

IPT_API ipt_result ipt_host_alloc(ipt_context *context, size_t bytes, void **memory)
{
    ipt__pinned *pinned;
    const char *call;
    cl_int error;
    if (!context || !memory)
        return ipt__fail_null(context ? "memory" : "context");
    *memory = NULL;
    if (!bytes)
        return ipt__fail(IPT_ERROR_INVALID_ARGUMENT, "bytes is 0");
    if (!context->context)
        return ipt__fail(IPT_ERROR_UNSUPPORTED, "the context was made from a profile: it has no device");
    pinned = (ipt__pinned *)ipt__allocate(&context->allocator, sizeof *pinned);
    if (!pinned)
        return IPT_ERROR_OUT_OF_MEMORY;
    pinned->buffer =
        ipt__cl.clCreateBuffer(context->context, CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR, bytes, NULL, &error);
    call = "clCreateBuffer";
    if (!error) {
        call = "clEnqueueMapBuffer";
        pinned->memory = (char *)ipt__cl.clEnqueueMapBuffer(
            context->queue, pinned->buffer, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0, bytes, 0, NULL, NULL, &error);
        if (error)
            ipt__cl.clReleaseMemObject(pinned->buffer);
    }
    if (error) {
        ipt__release(&context->allocator, pinned);
        return ipt__fail(IPT_ERROR_OUT_OF_MEMORY, "%lu bytes of pinned memory: %s failed with %s (%d)",
                         (unsigned long)bytes, call, ipt__cl_error(error), (int)error);
    }
    pinned->bytes = bytes;
    IPT_LOCK_ACQUIRE(&context->lock);
    pinned->next = context->pinned;
    context->pinned = pinned;
    IPT_LOCK_RELEASE(&context->lock);
    *memory = pinned->memory;
    return IPT_SUCCESS;
}

static void ipt__pinned_free(ipt_context *context, ipt__pinned *pinned)
{
    ipt__cl.clEnqueueUnmapMemObject(context->queue, pinned->buffer, pinned->memory, 0, NULL, NULL);
    ipt__cl.clFinish(context->queue);
    ipt__cl.clReleaseMemObject(pinned->buffer);
    ipt__release(&context->allocator, pinned);
}

IPT_API void ipt_host_free(ipt_context *context, void *memory)
{
    ipt__pinned **at, *found = NULL;
    if (!context || !memory)
        return;
    IPT_LOCK_ACQUIRE(&context->lock);
    for (at = &context->pinned; *at && (*at)->memory != (char *)memory; at = &(*at)->next)
        ;
    if (*at) {
        found = *at;
        *at = found->next;
    }
    IPT_LOCK_RELEASE(&context->lock);
    if (found)
        ipt__pinned_free(context, found);
}

/* Whether all of a matrix lies in memory of ipt_host_alloc's. */
static int ipt__host_is_pinned(ipt_context *context, const char *data, size_t bytes)
{
    const ipt__pinned *next;
    int found = 0;
    IPT_LOCK_ACQUIRE(&context->lock);
    for (next = context->pinned; next; next = next->next)
        found |= data >= next->memory && (size_t)(data - next->memory) <= next->bytes &&
                 bytes <= next->bytes - (size_t)(data - next->memory);
    IPT_LOCK_RELEASE(&context->lock);
    return found;
}

/* ------------------------------------------------------------------------------------------------------------------ */
/* >>cut matrices: larger than the device, or than memory                                                             */
/* ------------------------------------------------------------------------------------------------------------------ */

/* A matrix that does not fit is cut along its longer side into panels of `length`, which go through the device in
 * chunks, each in its own place; the two-pass method's other half, the shuffle of the super-elements that this makes,
 * is done by the host, in memory or in the storage. A tall matrix's panels come first, a wide one's shuffle. So every
 * byte crosses the bus once in each direction, and is read and written twice where the matrix lies. What is left of the
 * longer side, less than a panel, is lifted first and put down last. Slots lie where the rows of the tall form begin,
 * as in the two-pass method: slot t at (t div panels) * line + (t mod panels) * block bytes, so that a tall matrix's
 * panels are written from the last to the first, and a wide one's from the first to the last, each after the one before
 * has been read. */

/* How large the pieces may be. 0: there are none so small. wanted: bytes of a super-element that is long enough. */
static int ipt__cut_make(const ipt_plan *plan, size_t capacity, size_t wanted, ipt__cut *cut)
{
    const ipt_plan_desc *const desc = &plan->desc;
    const size_t size = desc->elem_size, longer = ipt__max(desc->rows, desc->cols);
    size_t most, length;
    memset(cut, 0, sizeof *cut);
    cut->tall = desc->rows >= desc->cols;
    cut->shorter = ipt__min(desc->rows, desc->cols);
    if (plan->matrix_bytes <= capacity) {
        const size_t enough = ipt__max(ipt__min(capacity, IPT__CUT_CHUNK_BYTES) / plan->matrix_bytes, 1);
        cut->matrices = ipt__min(enough, desc->batch);
        cut->chunks = ipt__ceil_divide(desc->batch, cut->matrices);
        cut->chunk_bytes = cut->matrices * plan->matrix_bytes;
        return 1;
    }
    if (cut->shorter <= IPT__CUT_CHUNK_BYTES / wanted)
        capacity = ipt__min(capacity, IPT__CUT_CHUNK_BYTES);
    else
        capacity = ipt__min(capacity, wanted * cut->shorter);
    most = ipt__min(capacity / (cut->shorter * size), ipt__max(IPT__CUT_BLOCK_BYTES / size, 1));
    if (!most || most * size < IPT__CUT_RUN_BYTES)
        return 0;
    cut->length = most;
    for (length = most; length > most - most / 8 && most - length < 4096; --length)
        if (longer % length < longer % cut->length)
            cut->length = length;
    cut->panels = longer / cut->length;
    cut->rest = longer % cut->length;
    cut->piece_bytes = cut->block_bytes = cut->length * size;
    cut->line_bytes = longer * size;
    cut->rest_bytes = cut->rest * size * cut->shorter;
    cut->chunk_panels = ipt__min(capacity / (cut->piece_bytes * cut->shorter), cut->panels);
    cut->chunks = ipt__ceil_divide(cut->panels, cut->chunk_panels);
    cut->chunk_bytes = cut->chunk_panels * cut->piece_bytes * cut->shorter;
    cut->group = 1;
    cut->groups = cut->shorter;
    cut->backward = cut->tall;
    return 1;
}

/* Where super-elements are too short for a storage, the shuffle moves those of a group of lines together, as one block,
 * and a further pass sorts each group. Lines that no group takes are lifted panel by panel. Then slots may begin before
 * their panel does: they never end behind it, if at least as much is lifted as the gaps take, and panels are taken in
 * the other order. */
static void ipt__cut_make_groups(ipt__cut *cut)
{
    const size_t most =
        ipt__min(ipt__min(cut->chunk_bytes / (cut->panels * cut->piece_bytes), IPT__CUT_GROUP_BYTES / cut->piece_bytes),
                 cut->shorter);
    size_t group;
    if (cut->chunk_panels > 1 || cut->panels == 1 || most < 4)
        return;
    for (group = most; group > most / 2; --group) {
        const size_t groups = cut->shorter / group, spare = cut->shorter % group;
        if (spare && (double)groups * (double)group * (double)cut->rest >
                         (double)cut->panels * (double)spare * (double)cut->length)
            continue;
        if (cut->group == 1 || spare < cut->spare) {
            cut->group = group;
            cut->groups = groups;
            cut->spare = spare;
        }
    }
    cut->block_bytes = cut->group * cut->piece_bytes;
    cut->spare_bytes = cut->spare * cut->panels * cut->piece_bytes;
    cut->backward = cut->spare ? !cut->tall : cut->tall;
}

/* How much of a chunk there is with number `index`, in panels or matrices. */
static size_t ipt__cut_count(const ipt_plan *plan, size_t index)
{
    const ipt__cut *const cut = &plan->cut;
    return cut->matrices ? ipt__min(cut->matrices, plan->desc.batch - index * cut->matrices)
                         : ipt__min(cut->chunk_panels, cut->panels - index * cut->chunk_panels);
}

/* Where a slot begins, in bytes from the start of the matrix. */
static size_t ipt__cut_slot(const ipt__cut *cut, size_t slot)
{
    return slot / cut->panels * cut->group * cut->line_bytes + slot % cut->panels * cut->block_bytes;
}

/* The slots of a chunk's super-elements as they lie in the tall form. */
static ipt__area ipt__cut_slots(const ipt__cut *cut, size_t first_panel, size_t count)
{
    size_t at = first_panel * cut->groups, left = count * cut->groups, bite;
    ipt__area area;
    memset(&area, 0, sizeof area);
    if (!cut->rest) {
        ipt__area_add(&area, at * cut->block_bytes, 1, left * cut->block_bytes, 0);
        return area;
    }
    if (at % cut->panels) {
        bite = ipt__min(cut->panels - at % cut->panels, left);
        ipt__area_add(&area, ipt__cut_slot(cut, at), 1, bite * cut->block_bytes, 0);
        at += bite;
        left -= bite;
    }
    ipt__area_add(&area, ipt__cut_slot(cut, at), left / cut->panels, cut->panels * cut->block_bytes,
                  cut->group * cut->line_bytes);
    at += left / cut->panels * cut->panels;
    ipt__area_add(&area, ipt__cut_slot(cut, at), left % cut->panels ? 1 : 0, left % cut->panels * cut->block_bytes, 0);
    return area;
}

/* Where a chunk lies before and after its way through the device, and what is left of the longer side. */
static void ipt__cut_places(const ipt_plan *plan, size_t index, ipt__area *before, ipt__area *after)
{
    const ipt__cut *const cut = &plan->cut;
    const size_t count = ipt__cut_count(plan, index), panel_bytes = cut->piece_bytes * cut->shorter;
    if (cut->matrices) {
        *before = ipt__area_of(index * cut->matrices * plan->desc.batch_stride, count, plan->matrix_bytes,
                               plan->desc.batch_stride);
        *after = *before;
    } else {
        *before = ipt__area_of(index * cut->chunk_panels * panel_bytes, 1, count * panel_bytes, 0);
        *after = ipt__cut_slots(cut, index * cut->chunk_panels, count);
        if (!cut->tall) {
            const ipt__area dense = *before;
            *before = *after;
            *after = dense;
        }
    }
}

static void ipt__cut_rest_places(const ipt__cut *cut, ipt__area *before, ipt__area *after)
{
    const size_t rest = cut->rest_bytes / cut->shorter, panels = cut->panels * cut->piece_bytes;
    const ipt__area dense = ipt__area_of(panels * cut->shorter, 1, cut->rest_bytes, 0),
                    ends = ipt__area_of(panels, cut->shorter, rest, cut->line_bytes);
    *before = cut->tall ? dense : ends;
    *after = cut->tall ? ends : dense;
}

/* Where a group's lines lie before and after they are sorted. */
static void ipt__cut_group_places(const ipt__cut *cut, size_t index, ipt__area *before, ipt__area *after)
{
    const size_t begin = index * cut->group * cut->line_bytes;
    const ipt__area dense = ipt__area_of(begin, 1, cut->panels * cut->block_bytes, 0),
                    lines = ipt__area_of(begin, cut->group, cut->panels * cut->piece_bytes, cut->line_bytes);
    *before = cut->tall ? dense : lines;
    *after = cut->tall ? lines : dense;
}

/* Where the lines are that no group takes, without what is left at their ends. */
static ipt__area ipt__cut_spare_place(const ipt__cut *cut)
{
    return ipt__area_of(cut->groups * cut->group * cut->line_bytes, cut->spare, cut->panels * cut->piece_bytes,
                        cut->line_bytes);
}

/* Chunks are taken in this order: see above. */
static size_t ipt__cut_chunk_at(const ipt__cut *cut, size_t turn)
{
    return cut->backward && !cut->matrices ? cut->chunks - 1 - turn : turn;
}

/* ---- the shuffle: who goes where ---- */

/* The moves of the shuffle, cycle by cycle: into each slot comes what belongs there, so that the next move may write to
 * where that came from. The last move of a cycle needs what its first slot held. */
typedef struct ipt__moves_list {
    size_t inner, outer;    /* slot t takes what is in slot (t mod inner) * outer + t div inner */
    size_t next, start, at; /* next: where to look for the next cycle */
    int active;             /* a cycle is under way */
    unsigned char *moved;   /* a bit for each slot */
} ipt__moves_list;

static size_t ipt__moves_bytes(const ipt__cut *cut)
{
    return cut->panels * cut->groups / 8 + 1;
}

static void ipt__moves_begin(ipt__moves_list *moves, const ipt__cut *cut, unsigned char *moved)
{
    memset(moves, 0, sizeof *moves);
    moves->inner = cut->tall ? cut->panels : cut->groups;
    moves->outer = cut->tall ? cut->groups : cut->panels;
    moves->moved = moved;
    memset(moved, 0, ipt__moves_bytes(cut));
}

typedef struct ipt__move_step {
    size_t target, source;
    int begins, ends; /* of its cycle; ends: source is the cycle's first slot */
} ipt__move_step;

/* The next move. Must not be called more often than there are moves. */
static ipt__move_step ipt__moves_next(ipt__moves_list *moves)
{
    ipt__move_step step;
    step.begins = !moves->active;
    if (!moves->active) {
        size_t t = moves->next;
        while (moves->moved[t / 8] >> t % 8 & 1 || t % moves->inner * moves->outer + t / moves->inner == t)
            ++t;
        moves->next = t + 1;
        moves->start = moves->at = t;
        moves->active = 1;
    }
    step.target = moves->at;
    step.source = step.target % moves->inner * moves->outer + step.target / moves->inner;
    moves->moved[step.target / 8] |= (unsigned char)(1u << step.target % 8);
    step.ends = step.source == moves->start;
    moves->active = !step.ends;
    moves->at = step.source;
    return step;
}

/* ---- the shuffle in memory ---- */

/* Moves are listed in batches, which threads share: each has a range of them. What a range needs from the others is
 * saved before any of them moves: the block that its last move takes from the next one's first slot, and the block that
 * the cycle began with that goes on at its start. */
typedef struct ipt__range {
    const ipt__cut *cut;
    char *data;
    const ipt__move_step *steps;
    size_t count;
    const char *follower; /* what its last move takes, if the cycle goes on; NULL: that is where it was */
    char *first, *begun;  /* saved: what its first slot held, and the first slot of the cycle that goes on */
    char *own;            /* for a cycle that begins here */
    size_t begun_slot;
    int saves_begun;
} ipt__range;

typedef struct ipt__batch {
    ipt__move_step *steps;
    size_t count;
    size_t starts[IPT__CUT_THREADS + 1]; /* first slot of the cycle that goes on where a range begins, and at the end */
    int goes_on[IPT__CUT_THREADS + 1];   /* 1: there is one, and it began in this batch; 2: in an earlier one */
} ipt__batch;

static size_t ipt__range_begin(const ipt__batch *batch, int ranges, int range)
{
    return batch->count / (size_t)ranges * (size_t)range + ipt__min(batch->count % (size_t)ranges, (size_t)range);
}

static void ipt__batch_fill(ipt__batch *batch, ipt__moves_list *moves, size_t count, int ranges)
{
    size_t i;
    int range = 0, began_here = 0;
    batch->count = count;
    for (i = 0; i <= count; ++i) {
        for (; range <= ranges && i == ipt__range_begin(batch, ranges, range); ++range) {
            batch->goes_on[range] = !moves->active ? 0 : began_here ? 1 : 2;
            batch->starts[range] = moves->start;
        }
        if (i < count) {
            batch->steps[i] = ipt__moves_next(moves);
            began_here |= batch->steps[i].begins;
        }
    }
}

static void ipt__range_save(void *job)
{
    const ipt__range *const range = (const ipt__range *)job;
    const size_t bytes = range->cut->block_bytes;
    if (range->count)
        memcpy(range->first, range->data + ipt__cut_slot(range->cut, range->steps->target), bytes);
    if (range->saves_begun)
        memcpy(range->begun, range->data + ipt__cut_slot(range->cut, range->begun_slot), bytes);
}

static void ipt__range_move(void *job)
{
    const ipt__range *const range = (const ipt__range *)job;
    const size_t bytes = range->cut->block_bytes;
    const char *begun = range->begun;
    size_t i;
    for (i = 0; i < range->count; ++i) {
        const ipt__move_step *const step = &range->steps[i];
        char *const target = range->data + ipt__cut_slot(range->cut, step->target);
        if (step->begins) {
            memcpy(range->own, target, bytes);
            begun = range->own;
        }
        if (step->ends)
            memcpy(target, begun, bytes);
        else if (i + 1 == range->count && range->follower)
            memcpy(target, range->follower, bytes);
        else
            memcpy(target, range->data + ipt__cut_slot(range->cut, step->source), bytes);
    }
}

/* One thread's work between two joins: a range, or the next batch's list. */
typedef struct ipt__shuffle_job {
    ipt__range range;
    ipt__batch *next;
    ipt__moves_list *moves;
    size_t count;
    int ranges;
} ipt__shuffle_job;

static void ipt__shuffle_work(void *job)
{
    ipt__shuffle_job *const its = (ipt__shuffle_job *)job;
    if (its->next)
        ipt__batch_fill(its->next, its->moves, its->count, its->ranges);
    else
        ipt__range_move(&its->range);
}

/* What ipt__cut_shuffle needs beside the matrix: kept by the plan. */
static size_t ipt__shuffle_bytes(const ipt__cut *cut)
{
    const size_t blocks = 3 * IPT__CUT_THREADS + 4;
    return ipt__moves_count(cut)
               ? 2 * IPT__CUT_BATCH * sizeof(ipt__move_step) + ipt__moves_bytes(cut) + blocks * cut->block_bytes
               : 0;
}

/* Moves all super-elements of the matrix at data, batch by batch. */
static void ipt__cut_shuffle(ipt__host_run *run, const ipt__cut *cut, char *data)
{
    enum { RANGES = IPT__CUT_THREADS };
    ipt__shuffle_job jobs[RANGES + 1];
    ipt__batch batches[2];
    ipt__moves_list moves;
    const size_t bytes = cut->block_bytes;
    ipt__move_step *const steps = (ipt__move_step *)run->plan->host.scratch;
    char *blocks = (char *)(steps + 2 * IPT__CUT_BATCH), *kept[2];
    size_t left = ipt__moves_count(cut), count;
    int turn = 0, i;
    if (!left)
        return;
    batches[0].steps = steps;
    batches[1].steps = steps + IPT__CUT_BATCH;
    kept[0] = blocks + (3 * RANGES + 1) * bytes;
    kept[1] = kept[0] + bytes;
    ipt__moves_begin(&moves, cut, (unsigned char *)(kept[1] + bytes));
    count = ipt__min(left, IPT__CUT_BATCH);
    ipt__batch_fill(&batches[0], &moves, count, RANGES);
    while (count && !run->cancelled) {
        const ipt__batch *const batch = &batches[turn];
        memset(jobs, 0, sizeof jobs);
        for (i = 0; i <= RANGES; ++i) { /* the last one has no moves: it keeps the cycle that goes on at the end */
            ipt__range *const range = &jobs[i].range;
            const size_t begin = i < RANGES ? ipt__range_begin(batch, RANGES, i) : batch->count;
            range->cut = cut;
            range->data = data;
            range->steps = batch->steps + begin;
            range->count = i < RANGES ? ipt__range_begin(batch, RANGES, i + 1) - begin : 0;
            range->first = blocks + (size_t)i * 3 * bytes;
            range->own = range->first + bytes;
            range->begun = i < RANGES ? range->own + bytes : kept[turn ^ 1];
            range->begun_slot = batch->starts[i];
            range->saves_begun = batch->goes_on[i] == 1;
            if (batch->goes_on[i] == 2) {
                if (i < RANGES)
                    range->begun = kept[turn];
                else
                    memcpy(kept[turn ^ 1], kept[turn], bytes);
            }
        }
        for (i = 0; i + 1 < RANGES; ++i)
            if (jobs[i].range.count && jobs[i + 1].range.count && batch->goes_on[i + 1])
                jobs[i].range.follower = jobs[i + 1].range.first;
        for (i = 0; i <= RANGES; ++i)
            ipt__range_save(&jobs[i].range);
        left -= count;
        run->written = 1;
        jobs[RANGES].next = &batches[turn ^ 1];
        jobs[RANGES].moves = &moves;
        jobs[RANGES].count = ipt__min(left, IPT__CUT_BATCH);
        jobs[RANGES].ranges = RANGES;
        ipt__run_together(ipt__shuffle_work, jobs, sizeof *jobs, RANGES + 1);
        ipt__host_progress(run, count * bytes);
        count = ipt__min(left, IPT__CUT_BATCH);
        turn ^= 1;
    }
}

/* ---- matrices in memory: by blocks ---- */

/* Memory that the device reaches by itself is not shuffled, if rows of blocks are long enough for the bus. The blocks
 * of a panel are uploaded, each into a unit of the device's memory, and transposed there. What has its final place in
 * panels that have been uploaded is downloaded to it, in strips of a block's columns; the others are held until theirs
 * have been. When a share x of the panels has been uploaded, x (1 - x) of the matrix is held, a quarter at most. Blocks
 * for which there are not enough units wait in the host's matrix, in the final places of such as have not been uploaded
 * yet, and come up again. All this depends on the sizes alone, so the commands are listed when the plan is made. */

/* Bytes that cross the bus. */
static size_t ipt__haul_bytes(const ipt__haul *haul)
{
    return haul->rect.rows * haul->rect.row_bytes;
}

/* Where a block is while commands are listed: nowhere yet, in a unit, in another one's place, or, when all of its
 * strips are done, in its own. */
typedef struct ipt__haul_block {
    int unit;    /* that holds it; -1: none */
    int shelter; /* the block in whose final place it waits; -1: none */
    int guest;   /* the block that waits in its final place; -1: none */
    size_t done; /* strips that are in their final places, the first ones */
} ipt__haul_block;

/* The last commands of each queue that use a unit, or a block's final place, plus 1. */
typedef struct ipt__haul_uses {
    size_t last[IPT__BLOCK_QUEUES];
} ipt__haul_uses;

/* What is known while commands are listed. Blocks are numbered panel by panel. */
typedef struct ipt__haul_list {
    const ipt_plan_desc *desc;
    const ipt__blocks *sizes;
    ipt__haul *hauls;
    size_t count, most; /* most: commands that there is room for */
    int full;
    ipt__haul_block *blocks;
    int *held; /* by each unit: the block; -1: none */
    ipt__haul_uses *units, *places;
    size_t free_units, next_unit;
    size_t newest;           /* block that has been uploaded */
    size_t uploaded, upload; /* whole panels, and the last command for them, plus 1 */
} ipt__haul_list;

static size_t ipt__block_rows(const ipt__haul_list *list, size_t block)
{
    return ipt__min(list->sizes->length, list->desc->rows - block / list->sizes->per_panel * list->sizes->length);
}

static size_t ipt__block_cols(const ipt__haul_list *list, size_t block)
{
    return ipt__min(list->sizes->columns, list->desc->cols - block % list->sizes->per_panel * list->sizes->columns);
}

static size_t ipt__block_strips(const ipt__haul_list *list, size_t block)
{
    return ipt__ceil_divide(ipt__block_cols(list, block), list->sizes->strip_cols);
}

/* Where strips [first, end) of a block lie in another one's final place, or its own. */
static ipt__rect ipt__block_rect(const ipt__haul_list *list, size_t block, size_t place, size_t first, size_t end)
{
    const ipt__blocks *const sizes = list->sizes;
    const size_t size = list->desc->elem_size, from = first * sizes->strip_cols;
    ipt__rect rect;
    rect.offset = ((place % sizes->per_panel * sizes->columns + from) * list->desc->rows +
                   place / sizes->per_panel * sizes->length) *
                  size;
    rect.rows = ipt__min(end * sizes->strip_cols, ipt__block_cols(list, block)) - from;
    rect.row_bytes = ipt__block_rows(list, block) * size;
    rect.pitch = list->desc->rows * size;
    return rect;
}

/* How many panels must have been uploaded before the final places of a block's first strips may be written. */
static size_t ipt__block_ready(const ipt__haul_list *list, size_t block, size_t strips)
{
    const ipt__rect rect = ipt__block_rect(list, block, block, 0, strips);
    const size_t end = rect.offset + (rect.rows - 1) * rect.pitch + rect.row_bytes;
    return ipt__ceil_divide(end, list->sizes->length * list->desc->cols * list->desc->elem_size);
}

/* How many of a block's strips, beside those that are done, may go to their final places. */
static size_t ipt__block_may_go(const ipt__haul_list *list, size_t block)
{
    const ipt__haul_block *const its = &list->blocks[block];
    size_t strips = its->done;
    while (its->guest < 0 && strips < ipt__block_strips(list, block) &&
           ipt__block_ready(list, block, strips + 1) <= list->uploaded)
        ++strips;
    return strips - its->done;
}

/* Lists a command that uses a unit, behind whatever has used it. */
static ipt__haul *ipt__haul_add(ipt__haul_list *list, ipt__haul_kind kind, int unit)
{
    ipt__haul *haul;
    list->full |= list->count == list->most;
    list->count -= (size_t)list->full;
    haul = &list->hauls[list->count++];
    memset(haul, 0, sizeof *haul);
    haul->kind = kind;
    haul->device = (size_t)unit * list->sizes->unit_bytes;
    memcpy(haul->after, list->units[unit].last, sizeof haul->after);
    list->units[unit].last[kind] = list->count;
    return haul;
}

/* Lists the transfer of strips of a block that is in a unit to a place, or from it. */
static void ipt__haul_strips(ipt__haul_list *list, ipt__haul_kind kind, size_t block, size_t place, size_t strips)
{
    const ipt__haul_block *const its = &list->blocks[block];
    ipt__haul *const haul = ipt__haul_add(list, kind, its->unit);
    int i;
    haul->rect = ipt__block_rect(list, block, place, its->done, its->done + strips);
    haul->device += its->done * list->sizes->strip_cols * haul->rect.row_bytes;
    for (i = 0; i < IPT__BLOCK_QUEUES; ++i)
        haul->after[i] = ipt__max(haul->after[i], list->places[place].last[i]);
    haul->after[IPT__HAUL_UP] = ipt__max(haul->after[IPT__HAUL_UP], list->upload);
    list->places[place].last[kind] = list->count;
}

/* Gives a block a free unit, the one longest free, if more than `kept` are free. */
static int ipt__unit_take(ipt__haul_list *list, size_t block, size_t kept)
{
    if (list->free_units <= kept)
        return 0;
    while (list->held[list->next_unit] >= 0)
        list->next_unit = (list->next_unit + 1) % list->sizes->units;
    list->held[list->next_unit] = (int)block;
    list->blocks[block].unit = (int)list->next_unit;
    list->next_unit = (list->next_unit + 1) % list->sizes->units;
    --list->free_units;
    return 1;
}

static void ipt__unit_free(ipt__haul_list *list, size_t block)
{
    list->held[list->blocks[block].unit] = -1;
    list->blocks[block].unit = -1;
    ++list->free_units;
}

/* Brings what may go of a block in a unit to its final place; returns how many strips that are. */
static size_t ipt__block_finish(ipt__haul_list *list, size_t block)
{
    const size_t strips = ipt__block_may_go(list, block);
    if (strips)
        ipt__haul_strips(list, IPT__HAUL_DOWN, block, block, strips);
    list->blocks[block].done += strips;
    if (list->blocks[block].done == ipt__block_strips(list, block))
        ipt__unit_free(list, block);
    return strips;
}

/* Uploads a block again that waits in another one's place, which is free then. 0: there is no unit for it. */
static int ipt__block_reload(ipt__haul_list *list, size_t block)
{
    ipt__haul_block *const its = &list->blocks[block];
    if (!ipt__unit_take(list, block, 0))
        return 0;
    ipt__haul_strips(list, IPT__HAUL_UP, block, (size_t)its->shelter, ipt__block_strips(list, block) - its->done);
    list->blocks[its->shelter].guest = -1;
    its->shelter = -1;
    return 1;
}

/* Frees a unit: of the block whose turn comes last, which goes to the place that is needed last. 0: there is none. */
static int ipt__block_shelter(ipt__haul_list *list)
{
    size_t unit, block = list->sizes->count, place, ready = 0, strips;
    for (unit = 0; unit < list->sizes->units; ++unit)
        if (list->held[unit] >= 0) {
            const size_t b = (size_t)list->held[unit], its = ipt__block_ready(list, b, ipt__block_strips(list, b));
            if (its > ready) {
                ready = its;
                block = b;
            }
        }
    if (block == list->sizes->count)
        return 0;
    strips = ipt__block_strips(list, block);
    for (place = list->sizes->count; --place > list->newest;)
        if (list->blocks[place].guest < 0 && ipt__block_rows(list, place) >= ipt__block_rows(list, block) &&
            ipt__block_cols(list, place) >= ipt__block_cols(list, block) &&
            ipt__block_ready(list, place, ipt__block_strips(list, place)) <= list->uploaded)
            break;
    if (place == list->newest)
        return 0;
    ipt__haul_strips(list, IPT__HAUL_DOWN, block, place, strips - list->blocks[block].done);
    list->blocks[block].shelter = (int)place;
    list->blocks[place].guest = (int)block;
    ipt__unit_free(list, block);
    return 1;
}

/* Has more than the spare units free. 0: too little can be held. */
static int ipt__unit_make_room(ipt__haul_list *list)
{
    size_t unit;
    for (unit = 0; unit < list->sizes->units && list->free_units <= list->sizes->kept_units; ++unit)
        if (list->held[unit] >= 0)
            ipt__block_finish(list, (size_t)list->held[unit]);
    while (list->free_units <= list->sizes->kept_units)
        if (!ipt__block_shelter(list))
            return 0;
    return 1;
}

/* Uploads the next block and transposes it. 0: there is no room for it. */
static int ipt__block_upload(ipt__haul_list *list, size_t block)
{
    const ipt__blocks *const sizes = list->sizes;
    const size_t size = list->desc->elem_size, rows = ipt__block_rows(list, block), cols = ipt__block_cols(list, block);
    ipt__haul *haul;
    if (!ipt__unit_make_room(list) || !ipt__unit_take(list, block, 0))
        return 0;
    haul = ipt__haul_add(list, IPT__HAUL_UP, list->blocks[block].unit);
    haul->rect.offset =
        (block / sizes->per_panel * sizes->length * list->desc->cols + block % sizes->per_panel * sizes->columns) *
        size;
    haul->rect.rows = rows;
    haul->rect.row_bytes = cols * size;
    haul->rect.pitch = list->desc->cols * size;
    haul = ipt__haul_add(list, IPT__HAUL_TRANSPOSE, list->blocks[block].unit);
    haul->plan = (rows < sizes->length) + 2 * (cols < sizes->columns); /* blocks where the matrix ends may be smaller */
    list->newest = block;
    if ((block + 1) % sizes->per_panel == 0) {
        list->uploaded = block / sizes->per_panel + 1;
        list->upload = list->count - 1;
    }
    return 1;
}

/* Finishes one part of so many of what may go to its final place, but nothing of the newest block, whose transposition
 * a download would wait for, so that both directions of the bus stay busy. */
static void ipt__haul_finish(ipt__haul_list *list, size_t parts)
{
    size_t b, count = 0, finished = 0;
    for (b = 0; b < list->newest; ++b)
        if (list->blocks[b].unit >= 0)
            count += ipt__block_may_go(list, b);
    for (b = 0; b < list->newest && finished * parts < count; ++b)
        if (list->blocks[b].unit >= 0)
            finished += ipt__block_finish(list, b);
    if (list->newest && list->blocks[list->newest - 1].unit >= 0)
        ipt__block_finish(list, list->newest - 1);
}

/* Uploads one block again whose turn has come; or, in the last third, when fewer are held from panel to panel, one that
 * waits in a place that will be needed, if there is room for what the panel under way will have held. */
static void ipt__haul_reload(ipt__haul_list *list)
{
    const size_t blocks = list->sizes->per_panel;
    size_t b, next = list->sizes->count;
    for (b = 0; b < list->sizes->count; ++b)
        if (list->blocks[b].shelter >= 0 && ipt__block_may_go(list, b))
            next = b;
    if (next == list->sizes->count && 3 * list->uploaded >= 2 * list->sizes->panels &&
        list->free_units >
            list->sizes->kept_units + 1 + blocks * (list->sizes->panels - list->uploaded) / list->sizes->panels)
        for (b = list->newest + 1; b < list->sizes->count && next == list->sizes->count; ++b)
            if (list->blocks[b].guest >= 0)
                next = (size_t)list->blocks[b].guest;
    if (next < list->sizes->count && list->free_units > 1)
        ipt__block_reload(list, next);
}

/* Lists all commands for one matrix. 0: too little of it can be held. */
static int ipt__haul_all(ipt__haul_list *list)
{
    const size_t blocks = list->sizes->per_panel;
    size_t b, count, reloaded;
    for (b = 0; b < list->sizes->count && !list->full; ++b) {
        if (!ipt__block_upload(list, b))
            return 0;
        ipt__haul_finish(list, blocks - b % blocks);
        ipt__haul_reload(list);
    }
    /* All places have been uploaded. What waits in another one's comes up, until nothing does any more. */
    do {
        for (b = 0, count = 0; b < list->sizes->count; ++b)
            if (list->blocks[b].unit >= 0)
                count += ipt__block_finish(list, b);
        for (b = 0, reloaded = 0; b < list->sizes->count; ++b)
            if (list->blocks[b].shelter >= 0 && ipt__block_reload(list, b))
                ++reloaded;
    } while ((count || reloaded) && !list->full);
    for (b = 0, count = 0; b < list->sizes->count; ++b)
        count += list->blocks[b].done < ipt__block_strips(list, b);
    return !count && !list->full;
}

/* ---- what moving by blocks needs ---- */

/* How large blocks are, and how many fit. 0: their rows would be too short for the bus. */
static int ipt__blocks_choose(const ipt_plan *plan, size_t capacity, ipt__blocks *sizes)
{
    const ipt_plan_desc *const desc = &plan->desc;
    const size_t size = desc->elem_size, most = ipt__max(IPT__BLOCK_ROW_MOST / size, 1);
    memset(sizes, 0, sizeof *sizes);
    sizes->length = ipt__ceil_divide(desc->rows, ipt__max(ipt__ceil_divide(desc->rows, most), IPT__BLOCK_PARTS));
    sizes->columns = ipt__ceil_divide(desc->cols, ipt__max(ipt__ceil_divide(desc->cols, most), IPT__BLOCK_PARTS));
    if (ipt__min(sizes->length, sizes->columns) * size < IPT__BLOCK_ROW_LEAST)
        return 0;
    sizes->panels = ipt__ceil_divide(desc->rows, sizes->length);
    sizes->per_panel = ipt__ceil_divide(desc->cols, sizes->columns);
    sizes->strip_cols = ipt__ceil_divide(sizes->columns, IPT__BLOCK_STRIPS);
    sizes->count = sizes->panels * sizes->per_panel;
    sizes->unit_bytes = sizes->length * sizes->columns * size;
    if (sizes->unit_bytes < IPT__BLOCK_BYTES_LEAST)
        return 0;
    sizes->units = ipt__min(capacity / sizes->unit_bytes, sizes->count);
    sizes->kept_units = ipt__max(sizes->units / IPT__BLOCK_SPARE, 1);
    return sizes->units > 2;
}

/* Lists the commands; none if too few blocks can be held. */
static ipt_result ipt__blocks_list(ipt_plan *plan, ipt__blocks *sizes)
{
    const ipt_allocator *const allocator = &plan->context->allocator;
    ipt__haul_list list;
    ipt_result result = IPT_ERROR_OUT_OF_MEMORY;
    size_t i;
    memset(&list, 0, sizeof list);
    list.desc = &plan->desc;
    list.sizes = sizes;
    list.free_units = sizes->units;
    list.most = (4 + IPT__BLOCK_STRIPS) * sizes->count; /* up, transposed, away, up again, and down */
    list.hauls = (ipt__haul *)ipt__allocate(allocator, list.most * sizeof *list.hauls);
    list.blocks = (ipt__haul_block *)ipt__allocate(allocator, sizes->count * sizeof *list.blocks);
    list.held = (int *)ipt__allocate(allocator, sizes->units * sizeof *list.held);
    list.units = (ipt__haul_uses *)ipt__allocate(allocator, sizes->units * sizeof *list.units);
    list.places = (ipt__haul_uses *)ipt__allocate(allocator, sizes->count * sizeof *list.places);
    if (list.hauls && list.blocks && list.held && list.units && list.places) {
        result = IPT_SUCCESS;
        for (i = 0; i < sizes->count; ++i)
            list.blocks[i].unit = list.blocks[i].shelter = list.blocks[i].guest = -1;
        for (i = 0; i < sizes->units; ++i)
            list.held[i] = -1;
        if (ipt__haul_all(&list)) {
            plan->host.hauls = list.hauls;
            plan->host.haul_count = list.count;
            for (i = 0; i < list.count; ++i)
                sizes->bus_bytes += ipt__haul_bytes(&list.hauls[i]);
        }
    }
    if (!plan->host.haul_count)
        ipt__release(allocator, list.hauls);
    ipt__release(allocator, list.blocks);
    ipt__release(allocator, list.held);
    ipt__release(allocator, list.units);
    ipt__release(allocator, list.places);
    return result;
}

/* ---- matrices in memory ---- */

/* A plan for `count` pieces of rows x cols elements, as large as the plan's, or as a super-element of a group. It may
 * have so many bytes of workspace of its own, or borrows the lender's. */
static ipt_result ipt__cut_piece_plan(ipt_plan *plan, size_t rows, size_t cols, size_t count, size_t workspace,
                                      ipt_host host, ipt_plan *lender, ipt_plan **made)
{
    ipt__host_share *const share = &plan->host.shares[0];
    ipt_plan_desc desc = plan->desc;
    ipt_result result;
    desc.rows = rows;
    desc.cols = cols;
    desc.batch = count;
    desc.batch_stride = 0;
    desc.flags &= ~(IPT_MEASURE | IPT_OUT_OF_PLACE);
    desc.measure_buffer = NULL;
    desc.host = plan->desc.max_workspace > 1 && host == IPT_HOST_OVERLAPPED ? IPT_HOST_SYNCHRONOUS : host;
    desc.host_queues = 0;
    desc.max_device_memory = desc.max_host_memory = 0;
    if (made == &share->plans[IPT__CUT_PLAN_GROUP]) {
        desc.elem_size = plan->cut.piece_bytes;
        desc.expression = desc.expression_type = NULL; /* it has been applied, or will be */
    }
    desc.max_workspace = lender ? ipt__max(ipt__max(workspace, lender->layout.workspace), 1) : workspace;
    result = ipt__plan_make(share->context, &desc, lender, made);
    if (result == IPT_ERROR_UNSUPPORTED) {
        desc.max_workspace = 1;
        result = ipt__plan_make(share->context, &desc, lender, made);
    }
    return result;
}

/* The plans for whole chunks, the last chunk and what is left over, the first of which has `workspace` bytes. */
static ipt_result ipt__cut_make_plans(ipt_plan *plan, size_t workspace, ipt_host host)
{
    const ipt__cut *const cut = &plan->cut;
    ipt_plan **const plans = plan->host.shares[0].plans;
    const size_t whole = ipt__cut_count(plan, 0), last = ipt__cut_count(plan, cut->chunks - 1);
    const size_t rows = cut->matrices ? plan->desc.rows : cut->tall ? cut->length : cut->shorter;
    const size_t cols = cut->matrices ? plan->desc.cols : cut->tall ? cut->shorter : cut->length;
    ipt_result result = ipt__cut_piece_plan(plan, rows, cols, whole, workspace, host, NULL, &plans[0]);
    if (!result && last != whole)
        result = ipt__cut_piece_plan(plan, rows, cols, last, 0, host, plans[0], &plans[1]);
    if (!result && cut->rest)
        result = ipt__cut_piece_plan(plan, cut->tall ? cut->rest : cut->shorter, cut->tall ? cut->shorter : cut->rest,
                                     1, 0, host, plans[0], &plans[IPT__CUT_PLAN_REST]);
    if (!result && cut->group > 1)
        result = ipt__cut_piece_plan(plan, cut->tall ? cut->panels : cut->group, cut->tall ? cut->group : cut->panels,
                                     1, 0, host, plans[0], &plans[IPT__CUT_PLAN_GROUP]);
    return result;
}

static ipt_plan *ipt__cut_plan_of(const ipt_plan *plan, size_t index)
{
    ipt_plan *const *const plans = plan->host.shares[0].plans;
    return plans[ipt__cut_count(plan, index) != ipt__cut_count(plan, 0)];
}

/* Bytes of workspace that the plans of a share have of their own. */
static size_t ipt__share_workspace(const ipt__host_share *share)
{
    size_t bytes = 0;
    int i;
    for (i = 0; i < 4; ++i) {
        bytes += share->plans[i] && !share->plans[i]->lender ? share->plans[i]->layout.workspace : 0;
        bytes += share->block_plans[i] && !share->block_plans[i]->lender ? share->block_plans[i]->layout.workspace : 0;
    }
    return bytes;
}

/* Whether a cut plan's workspace is within its desc's limit. */
static int ipt__cut_obeys(const ipt_plan *plan)
{
    return plan->desc.max_workspace <= 1 || ipt__share_workspace(&plan->host.shares[0]) <= plan->desc.max_workspace;
}

/* The plans for all but blocks. What cannot borrow takes workspace of its own: where that makes too much, all are made
 * with as little as possible. */
static ipt_result ipt__cut_plans(ipt_plan *plan, size_t workspace, ipt_host host)
{
    ipt_plan **const plans = plan->host.shares[0].plans;
    ipt_result result = ipt__cut_make_plans(plan, workspace, host);
    int i;
    if (result || ipt__cut_obeys(plan))
        return result;
    for (i = 3; i >= 0; --i) {
        ipt_plan_destroy(plans[i]);
        plans[i] = NULL;
    }
    return ipt__cut_make_plans(plan, 1, host);
}

/* The share of workspace in a limit of device memory. */
static size_t ipt__cut_workspace(const ipt_plan *plan, size_t limit)
{
    return plan->desc.max_workspace ? plan->desc.max_workspace
                                    : ipt__max(limit / 64, ipt__min((size_t)1 << 20, limit / 8));
}

/* As much of that many bytes as one buffer may have. */
static size_t ipt__cut_most(const ipt_plan *plan, size_t bytes)
{
    return plan->most ? ipt__min(plan->most, bytes) : bytes;
}

/* Makes what a cut matrix needs to go by blocks, beside the panels; nothing if it cannot. */
static ipt_result ipt__cut_open_blocks(ipt_plan *plan, size_t limit)
{
    ipt__host_share *const share = &plan->host.shares[0];
    ipt__blocks *const sizes = &plan->blocks;
    const size_t panels = ipt__min(plan->cut.chunks, IPT__CUT_SLOTS) * plan->cut.chunk_bytes;
    const size_t own = ipt__share_workspace(share),
                 workspace = ipt__min(limit - own - panels, ipt__cut_workspace(plan, limit));
    ipt_result result;
    int i;
    if (plan->cut.matrices || !ipt__blocks_choose(plan, ipt__cut_most(plan, limit - own - workspace), sizes))
        return IPT_SUCCESS;
    result = ipt__blocks_list(plan, sizes);
    for (i = 0; i < IPT__BLOCK_PLANS && !result && sizes->bus_bytes; ++i) {
        const size_t rows = i & 1 ? plan->desc.rows % sizes->length : sizes->length,
                     cols = i & 2 ? plan->desc.cols % sizes->columns : sizes->columns;
        ipt_plan *const first = share->block_plans[0];
        if (rows && cols)
            result = ipt__cut_piece_plan(plan, rows, cols, 1, i ? 0 : workspace, IPT_HOST_SYNCHRONOUS,
                                         first && !first->lender ? first : share->plans[0], &share->block_plans[i]);
    }
    if (result || !sizes->bus_bytes ||
        (ipt__cut_obeys(plan) && ipt__share_workspace(share) + sizes->units * sizes->unit_bytes <= limit))
        return result;
    for (i = IPT__BLOCK_PLANS - 1; i >= 0; --i) {
        ipt_plan_destroy(share->block_plans[i]);
        share->block_plans[i] = NULL;
    }
    memset(sizes, 0, sizeof *sizes);
    return IPT_SUCCESS;
}

/* Makes the plans, buffer and queues of a plan whose matrices are moved through `limit` bytes of device memory. */
static ipt_result ipt__cut_open_device(ipt_plan *plan, size_t limit)
{
    ipt__host *const host = &plan->host;
    ipt__host_share *share;
    const size_t workspace = ipt__cut_workspace(plan, limit), line = ipt__min(plan->desc.rows, plan->desc.cols);
    cl_int error = CL_SUCCESS;
    size_t i, used;
    ipt_result result;
    if (workspace >= limit || !ipt__cut_make(plan, ipt__cut_most(plan, limit - workspace) / IPT__CUT_SLOTS,
                                             IPT__CUT_BLOCK_WANTED, &plan->cut)) {
        const size_t panel = ipt__round_up(IPT__CUT_RUN_BYTES, plan->desc.elem_size) * line;
        return ipt__fail(IPT_ERROR_UNSUPPORTED,
                         "%s = %lu is too little for a panel of a %lu x %lu matrix of %lu bytes: %lu would do",
                         plan->desc.max_device_memory ? "max_device_memory" : "the device memory for pieces",
                         (unsigned long)ipt__cut_most(plan, limit), (unsigned long)plan->desc.rows,
                         (unsigned long)plan->desc.cols, (unsigned long)plan->desc.elem_size,
                         (unsigned long)(IPT__CUT_SLOTS * panel + panel / 2 + workspace));
    }
    host->share_count = 1;
    host->part_count = plan->cut.chunks;
    host->shares = (ipt__host_share *)ipt__allocate(&plan->context->allocator, sizeof *host->shares);
    host->parts = (ipt__host_part *)ipt__allocate(&plan->context->allocator, host->part_count * sizeof *host->parts);
    host->scratch_bytes = ipt__shuffle_bytes(&plan->cut) + plan->cut.rest_bytes;
    if (host->shares && host->parts && host->scratch_bytes)
        host->scratch = (char *)ipt__allocate(&plan->context->allocator, host->scratch_bytes);
    if (!host->shares || !host->parts || (host->scratch_bytes && !host->scratch))
        return IPT_ERROR_OUT_OF_MEMORY;
    share = &host->shares[0];
    share->context = plan->context;
    result = ipt__cut_plans(plan, workspace, IPT_HOST_SYNCHRONOUS);
    if (result)
        return result;
    used = ipt__share_workspace(share) + IPT__CUT_SLOTS * plan->cut.chunk_bytes;
    if (used > limit)
        return ipt__fail(IPT_ERROR_UNSUPPORTED, "%s = %lu: %lu bytes of it would be needed, workspace included",
                         plan->desc.max_device_memory ? "max_device_memory" : "the device memory for pieces",
                         (unsigned long)limit, (unsigned long)used);
    result = ipt__cut_open_blocks(plan, limit);
    if (result)
        return result;
    for (i = 0; i < IPT__CUT_SLOTS && !error; ++i) {
        share->queues[i] = ipt__cl.clCreateCommandQueue(share->context->context, share->context->device, 0, &error);
        share->queue_count += !error;
    }
    if (error)
        return ipt__fail_opencl("clCreateCommandQueue", error);
    used = ipt__min(plan->cut.chunks, IPT__CUT_SLOTS) * plan->cut.chunk_bytes;
    if (plan->blocks.bus_bytes)
        used = ipt__max(used, plan->blocks.units * plan->blocks.unit_bytes);
    share->buffer =
        ipt__buffer_make(share->context, CL_MEM_READ_WRITE, used, NULL, "device memory", &plan->refused, &result);
    if (result)
        return result;
    for (i = 0; i < host->part_count; ++i) {
        ipt__host_part *const part = &host->parts[i];
        const size_t index = ipt__cut_chunk_at(&plan->cut, i);
        part->share = share;
        part->plan = ipt__cut_plan_of(plan, index);
        part->queue = share->queues[i % IPT__CUT_SLOTS];
        part->device = i % IPT__CUT_SLOTS * plan->cut.chunk_bytes;
        ipt__cut_places(plan, index, &part->up, &part->down);
    }
    return IPT_SUCCESS;
}

/* Lifts what is left of the longer side: its transpose comes to `kept`. */
static ipt_result ipt__cut_lift_rest(ipt__host_run *run, char *kept)
{
    ipt__host *const host = &run->plan->host;
    ipt__host_run below = *run;
    ipt__host_part part = host->parts[0];
    ipt__area after;
    ipt_result result;
    part.plan = host->shares[0].plans[IPT__CUT_PLAN_REST];
    part.uploaded = part.transposed = part.downloaded = NULL;
    ipt__cut_rest_places(&run->plan->cut, &part.up, &after);
    result = ipt__host_begin(run, &part);
    if (!result)
        result = ipt__wait_for(part.transposed);
    if (!result) {
        part.down = ipt__area_of(0, 1, run->plan->cut.rest_bytes, 0);
        below.data = kept;
        below.pinned = 0;
        result = ipt__host_move(&below, &part, 1, 0, NULL, &part.downloaded);
    }
    if (!result)
        result = ipt__wait_for(part.downloaded);
    ipt__cl.clFinish(part.queue);
    ipt__host_forget(&part.uploaded);
    ipt__host_forget(&part.transposed);
    ipt__host_forget(&part.downloaded);
    if (!result)
        ipt__host_progress(run, 2 * run->plan->cut.rest_bytes);
    return result;
}

/* Enqueues a command behind those that it needs, of which the first `ended` have ended. */
static ipt_result ipt__haul_begin(ipt__host_run *run, ipt__haul *haul, size_t ended)
{
    ipt__host *const host = &run->plan->host;
    ipt__host_share *const share = &host->shares[0];
    ipt__host_part part;
    cl_event wait[IPT__BLOCK_QUEUES];
    cl_uint count = 0;
    ipt_result result;
    int i;
    for (i = 0; i < IPT__BLOCK_QUEUES; ++i) {
        const size_t after = haul->after[i];
        if (i == (int)haul->kind || after <= ended) /* queues keep their own order */
            continue;
        result = ipt__host_unfailed(host->hauls[after - 1].event);
        if (result)
            return result;
        wait[count++] = host->hauls[after - 1].event;
    }
    memset(&part, 0, sizeof part);
    part.share = share;
    part.queue = share->queues[haul->kind];
    part.device = haul->device;
    part.up = part.down = ipt__area_of(haul->rect.offset, haul->rect.rows, haul->rect.row_bytes, haul->rect.pitch);
    if (haul->kind != IPT__HAUL_TRANSPOSE) {
        run->written |= haul->kind == IPT__HAUL_DOWN;
        return ipt__host_transfer(&part, run->data, haul->kind == IPT__HAUL_DOWN, count, count ? wait : NULL,
                                  &haul->event);
    }
    result = ipt_plan_execute(share->block_plans[haul->plan], part.queue, share->buffer, haul->device, count,
                              count ? wait : NULL, &haul->event);
    /* Only the device's copy is lost; and what is wrong with arguments that are ipt's own is an event that failed. */
    return result == IPT_ERROR_INCOMPLETE || result == IPT_ERROR_INVALID_ARGUMENT ? IPT_ERROR_OPENCL : result;
}

/* The commands for one matrix, some ahead of the last one that has ended: few before the first download, so that a
 * cancellation in time finds the matrix as it was. */
static ipt_result ipt__host_run_hauls(ipt__host_run *run)
{
    ipt__host *const host = &run->plan->host;
    size_t i, ended = 0, ahead;
    ipt_result result = IPT_SUCCESS;
    for (i = 0; ended < host->haul_count && !result && !run->cancelled; ++i) {
        if (i < host->haul_count)
            result = ipt__haul_begin(run, &host->hauls[i], ended);
        ahead = run->written ? (size_t)IPT__BLOCK_AHEAD : (size_t)IPT__HOST_AHEAD;
        for (; ended + ahead <= i && ended < host->haul_count && !result && !run->cancelled; ++ended) {
            const ipt__haul *const haul = &host->hauls[ended];
            result = ipt__wait_for(haul->event);
            if (!result && haul->kind != IPT__HAUL_TRANSPOSE)
                ipt__host_progress(run, ipt__haul_bytes(haul));
        }
    }
    ipt__host_settle(host);
    return result;
}

/* All matrices, one after the other; whole ones in chunks. */
static ipt_result ipt__cut_run(ipt__host_run *run)
{
    ipt_plan *const plan = run->plan;
    const ipt__cut *const cut = &plan->cut;
    char *const data = run->data, *const scratch = plan->host.scratch;
    char *const kept = scratch ? scratch + ipt__shuffle_bytes(cut) : NULL;
    const int by_blocks = run->pinned && plan->blocks.bus_bytes;
    size_t i;
    ipt_result result = IPT_SUCCESS;
    if (cut->matrices)
        return ipt__host_run_batch(run, &plan->host);
    if (by_blocks)
        run->total = plan->desc.batch * plan->blocks.bus_bytes;
    else
        run->total += plan->desc.batch * ipt__moves_count(cut) * cut->block_bytes;
    for (i = 0; i < plan->desc.batch && !result && !run->cancelled; ++i) {
        run->data = data + i * plan->desc.batch_stride;
        if (by_blocks) {
            result = ipt__host_run_hauls(run);
            if (!result && run->done == run->total)
                run->cancelled = 0; /* too late */
            continue;
        }
        if (cut->rest)
            result = ipt__cut_lift_rest(run, kept);
        if (!result && !cut->tall)
            ipt__cut_shuffle(run, cut, run->data);
        if (!result && !run->cancelled)
            result = ipt__host_run_batch(run, &plan->host);
        ipt__host_settle(&plan->host);
        if (!result && !run->cancelled && cut->tall)
            ipt__cut_shuffle(run, cut, run->data);
        if (!result && run->done == run->total / plan->desc.batch * (i + 1)) {
            if (cut->rest) {
                ipt__area before, after;
                ipt__cut_rest_places(cut, &before, &after);
                ipt__area_copy(&after, run->data, kept, 0, cut->rest_bytes, 1);
            }
            if (i + 1 == plan->desc.batch)
                run->cancelled = 0; /* too late */
        }
    }
    return result;
}

/* ---- matrices in a storage ---- */

/* The steps of a matrix, in their order. */
typedef enum ipt__phase {
    IPT__PHASE_LIFT,   /* what is left of the longer side, to where it is kept */
    IPT__PHASE_CHUNKS, /* a chunk to a step */
    IPT__PHASE_MOVES,  /* as many blocks as fill a chunk */
    IPT__PHASE_GROUPS, /* a group to a step, if a block has several super-elements */
    IPT__PHASE_PUT,    /* what was lifted */
    IPT__PHASE_COUNT
} ipt__phase;

static size_t ipt__batch_moves(const ipt__cut *cut)
{
    return cut->block_bytes ? cut->chunk_bytes / cut->block_bytes : 0;
}

/* Whether what is left over is read with each group's lines, because to read the ends of all lines alone would cut a
 * file's first pass into short pieces. It is transposed when it is put down then. */
static int ipt__cut_lifts_late(const ipt__cut *cut)
{
    return !cut->tall && cut->group > 1 && cut->rest;
}

/* The phase with number `turn`, and how many turns of reading, working and writing it takes: see ipt__phase_reports. */
static ipt__phase ipt__cut_phase(const ipt__cut *cut, int turn, size_t *count)
{
    static const ipt__phase tall[] = {IPT__PHASE_LIFT, IPT__PHASE_CHUNKS, IPT__PHASE_MOVES, IPT__PHASE_GROUPS,
                                      IPT__PHASE_PUT},
                            wide[] = {IPT__PHASE_LIFT, IPT__PHASE_GROUPS, IPT__PHASE_MOVES, IPT__PHASE_CHUNKS,
                                      IPT__PHASE_PUT};
    const ipt__phase phase = cut->tall ? tall[turn] : wide[turn];
    if (phase == IPT__PHASE_CHUNKS)
        *count = cut->chunks;
    else if (phase == IPT__PHASE_MOVES)
        *count = ipt__moves_count(cut) ? ipt__ceil_divide(ipt__moves_count(cut), ipt__batch_moves(cut)) : 0;
    else if (phase == IPT__PHASE_GROUPS)
        *count = cut->group > 1 ? cut->groups : 0;
    else
        *count = (cut->rest && !(phase == IPT__PHASE_LIFT && ipt__cut_lifts_late(cut))) ||
                 (cut->spare && cut->tall == (phase == IPT__PHASE_PUT));
    return phase;
}

/* Steps for each turn of a phase. Where a turn fills a piece of what is kept until the matrix's end, a step that writes
 * nothing reports that piece, before the step that reports the slot. */
static size_t ipt__phase_reports(const ipt__cut *cut, ipt__phase phase)
{
    return (phase == IPT__PHASE_CHUNKS && cut->tall && cut->spare) ||
                   (phase == IPT__PHASE_GROUPS && ipt__cut_lifts_late(cut))
               ? 2
               : 1;
}

/* Whether what a step of a phase reports is needed until its matrix is done, not only until the next step. */
static int ipt__phase_keeps(const ipt__cut *cut, ipt__phase phase, size_t step)
{
    const size_t reports = ipt__phase_reports(cut, phase);
    return phase == IPT__PHASE_LIFT || step % reports + 1 < reports;
}

/* Turns of all matrices; with `reports`, steps. */
static size_t ipt__cut_steps(const ipt_plan *plan, int reports)
{
    size_t all = 0, count;
    int turn;
    for (turn = 0; turn < IPT__PHASE_COUNT; ++turn) {
        const ipt__phase phase = ipt__cut_phase(&plan->cut, turn, &count);
        all += reports ? count * ipt__phase_reports(&plan->cut, phase) : count;
    }
    return plan->cut.matrices ? all : all * plan->desc.batch;
}

/* A slot holds what a step writes, and behind that the block that a cycle began with which goes on. */
static size_t ipt__storage_slot(const ipt__cut *cut)
{
    return ipt__round_up(cut->chunk_bytes + cut->block_bytes, IPT__CUT_PAGE_BYTES);
}

static size_t ipt__storage_slots(const ipt_plan *plan)
{
    return ipt__min(IPT__CUT_SLOTS, ipt__cut_steps(plan, 0));
}

/* What was lifted is kept behind the slots: of every other matrix in another place, because it may have to be put down
 * again when that of the next one has been lifted. */
static size_t ipt__storage_kept(const ipt__cut *cut)
{
    return ipt__round_up(cut->rest_bytes + cut->spare_bytes, IPT__CUT_PAGE_BYTES);
}

static size_t ipt__storage_bytes(const ipt_plan *plan)
{
    return ipt__storage_slots(plan) * ipt__storage_slot(&plan->cut) +
           ipt__min(plan->desc.batch, 2) * ipt__storage_kept(&plan->cut);
}

/* And what an execution takes beside. */
static size_t ipt__storage_scratch(const ipt__cut *cut)
{
    return ipt__moves_count(cut)
               ? IPT__CUT_SLOTS * ipt__batch_moves(cut) * sizeof(ipt__move_step) + ipt__moves_bytes(cut)
               : 0;
}

/* Chooses the pieces of a matrix in a storage and makes their plans. */
static ipt_result ipt__cut_open_storage(ipt_plan *plan)
{
    ipt__host *const host = &plan->host;
    const size_t limit = plan->desc.max_host_memory, device = plan->desc.max_device_memory;
    size_t capacity, workspace = plan->desc.max_workspace, used = 0;
    ipt_result result;
    /* A little less at a time, until everything else fits beside it. */
    for (capacity = limit; capacity >= IPT__CUT_RUN_BYTES; capacity -= ipt__max(capacity / 64, 1)) {
        size_t piece = capacity;
        if (device) {
            workspace = ipt__cut_workspace(plan, device);
            piece = device > workspace ? ipt__min(piece, (device - workspace) / IPT__CUT_SLOTS) : 0;
        }
        used = 0;
        if (!ipt__cut_make(plan, piece, IPT__CUT_STORED_WANTED, &plan->cut))
            break;
        if (!plan->cut.matrices && plan->cut.block_bytes < IPT__CUT_STORED_WANTED)
            ipt__cut_make_groups(&plan->cut);
        used = ipt__storage_bytes(plan) + ipt__storage_scratch(&plan->cut);
        if (used <= limit)
            break;
        used = 0;
    }
    if (!used) {
        memset(&plan->cut, 0, sizeof plan->cut);
        return ipt__fail(
            IPT_ERROR_UNSUPPORTED,
            "max_host_memory = %lu%s is too little for panels of a %lu x %lu matrix of %lu bytes: some %lu would do",
            (unsigned long)limit, device ? ", or max_device_memory," : "", (unsigned long)plan->desc.rows,
            (unsigned long)plan->desc.cols, (unsigned long)plan->desc.elem_size,
            (unsigned long)(5 * ipt__round_up(IPT__CUT_RUN_BYTES, plan->desc.elem_size) *
                                ipt__min(plan->desc.rows, plan->desc.cols) +
                            plan->matrix_bytes / (8 * IPT__CUT_RUN_BYTES) + 8 * IPT__CUT_PAGE_BYTES));
    }
    host->share_count = 1;
    host->shares = (ipt__host_share *)ipt__allocate(&plan->context->allocator, sizeof *host->shares);
    if (!host->shares)
        return IPT_ERROR_OUT_OF_MEMORY;
    host->shares[0].context = plan->context;
    result = ipt__cut_plans(plan, workspace, plan->desc.host);
    return result;
}

/* One execution, and the phase that it is in. */
typedef struct ipt__storage_run {
    ipt_plan *plan;
    const ipt_storage *storage;
    char *memory, *kept;
    ipt__move_step *steps[IPT__CUT_SLOTS];
    size_t counts[IPT__CUT_SLOTS];
    ipt__moves_list moves;
    size_t base;        /* of the matrix */
    size_t step, total; /* step: the first of the phase */
    size_t turn;        /* the first of the phase: turns take the slots in a circle */
    int written;        /* the storage is not as it was */
} ipt__storage_run;

typedef enum ipt__role { IPT__ROLE_COMPUTE, IPT__ROLE_READ, IPT__ROLE_WRITE } ipt__role;

/* What a thread does: a share of a step's reading or writing, or the device's part. */
typedef struct ipt__storage_job {
    const ipt__storage_run *run;
    ipt__role role;
    ipt__phase phase;
    size_t index, share, shares; /* of the step in its phase; of the thread among those for it */
    char *slot, *head;           /* head: what the cycle began with that goes on from the batch before; NULL: none */
    const ipt__move_step *steps;
    size_t count;
    ipt_result result;
    size_t failed_at, failed_bytes;
} ipt__storage_job;

/* One call of the storage's functions. */
static int ipt__storage_move(ipt__storage_job *job, size_t offset, char *memory, size_t bytes)
{
    const ipt_storage *const storage = job->run->storage;
    const int bad = job->role == IPT__ROLE_WRITE ? storage->write(memory, offset, bytes, storage->user)
                                                 : storage->read(memory, offset, bytes, storage->user);
    if (bad) {
        job->result = IPT_ERROR_STORAGE;
        job->failed_at = offset;
        job->failed_bytes = bytes;
    }
    return !bad;
}

/* A share of an area, to or from its dense form. */
static void ipt__storage_area(ipt__storage_job *job, const ipt__area *area, char *dense)
{
    const size_t all = ipt__area_bytes(area),
                 each = ipt__round_up(ipt__ceil_divide(all, job->shares), IPT__CUT_PAGE_BYTES);
    size_t begin = ipt__min(each * job->share, all), end = ipt__min(begin + each, all);
    int i;
    dense += begin;
    for (i = 0; i < area->count; ++i) {
        const ipt__rect *const rect = &area->rects[i];
        const size_t its = rect->rows * rect->row_bytes;
        while (begin < ipt__min(its, end)) {
            const size_t row = begin / rect->row_bytes, within = begin % rect->row_bytes;
            const size_t bytes = ipt__min(ipt__min(its, end) - begin, rect->row_bytes - within);
            if (!ipt__storage_move(job, job->run->base + rect->offset + row * rect->pitch + within, dense, bytes))
                return;
            dense += bytes;
            begin += bytes;
        }
        begin -= ipt__min(its, begin);
        end -= ipt__min(its, end);
    }
}

/* A share of the super-elements of a step. Reading, it leaves behind them what the next step needs. */
static void ipt__storage_blocks(ipt__storage_job *job)
{
    const ipt__cut *const cut = &job->run->plan->cut;
    const size_t bytes = cut->block_bytes, base = job->run->base;
    const size_t begin = job->count * job->share / job->shares, end = job->count * (job->share + 1) / job->shares;
    size_t i, started = 0;
    int here = 0; /* the cycle under way began in this step */
    for (i = 0; i < end && !job->result; ++i) {
        const ipt__move_step *const step = &job->steps[i];
        char *const block = job->slot + i * bytes;
        if (step->begins) {
            started = step->target;
            here = 1;
        }
        if (i < begin)
            continue;
        if (job->role == IPT__ROLE_WRITE)
            ipt__storage_move(job, base + ipt__cut_slot(cut, step->target), block, bytes);
        else if (step->ends && !here)
            memcpy(block, job->head, bytes);
        else /* the first slot of a cycle that began here is not yet overwritten */
            ipt__storage_move(job, base + ipt__cut_slot(cut, step->source), block, bytes);
    }
    if (job->role == IPT__ROLE_WRITE || end < job->count || job->result || job->steps[job->count - 1].ends)
        return;
    if (here)
        ipt__storage_move(job, base + ipt__cut_slot(cut, started), job->slot + cut->chunk_bytes, bytes);
    else
        memcpy(job->slot + cut->chunk_bytes, job->head, bytes);
}

/* Copies what a panel has of the spare lines between its slot, where it stands last, and where those are kept: a tall
 * matrix's panel by panel, so that each is one piece, a wide one's line by line. */
static void ipt__cut_spare(const ipt__cut *cut, size_t panel, char *kept, char *slot)
{
    char *const last = slot + cut->groups * cut->block_bytes;
    const size_t bytes = cut->piece_bytes;
    size_t i;
    if (cut->tall)
        memcpy(kept + panel * cut->spare * bytes, last, cut->spare * bytes);
    for (i = 0; i < cut->spare && !cut->tall; ++i)
        memcpy(last + i * bytes, kept + (i * cut->panels + panel) * bytes, bytes);
}

/* Puts a tall matrix's spare lines together. */
static void ipt__cut_join_spare(const ipt__cut *cut, const char *kept, char *lines)
{
    const size_t bytes = cut->piece_bytes;
    size_t panel, i;
    for (i = 0; i < cut->spare; ++i)
        for (panel = 0; panel < cut->panels; ++panel)
            memcpy(lines + (i * cut->panels + panel) * bytes, kept + (panel * cut->spare + i) * bytes, bytes);
}

/* A share of the spare lines, between the storage and memory. */
static void ipt__storage_spare(ipt__storage_job *job, char *lines)
{
    const ipt__area place = ipt__cut_spare_place(&job->run->plan->cut);
    if (!job->result && place.count)
        ipt__storage_area(job, &place, lines);
}

/* What a step reads where the rest is lifted late. */
static void ipt__storage_read_late(ipt__storage_job *job)
{
    const ipt__storage_run *const run = job->run;
    const ipt__cut *const cut = &run->plan->cut;
    const size_t dense = cut->panels * cut->piece_bytes, rest = cut->rest_bytes / cut->shorter;
    const size_t first = job->phase == IPT__PHASE_LIFT ? cut->groups * cut->group : job->index * cut->group;
    const size_t lines = job->phase == IPT__PHASE_LIFT ? cut->spare : cut->group;
    char *const kept = run->kept + first * rest;
    char *const target = job->phase == IPT__PHASE_LIFT ? run->kept + cut->rest_bytes : job->slot;
    size_t i;
    if (job->phase == IPT__PHASE_PUT) {
        if (!job->share)
            memcpy(job->slot, run->kept, cut->rest_bytes);
        return;
    }
    for (i = lines * job->share / job->shares; i < lines * (job->share + 1) / job->shares; ++i)
        if (!ipt__storage_move(job, run->base + (first + i) * cut->line_bytes, target + i * dense, dense) ||
            !ipt__storage_move(job, run->base + (first + i) * cut->line_bytes + dense, kept + i * rest, rest))
            return;
}

/* The device's part of a step. */
static void ipt__storage_compute(ipt__storage_job *job)
{
    const ipt__storage_run *const run = job->run;
    ipt_plan *const plan = run->plan, *const *const plans = plan->host.shares[0].plans;
    const size_t index = ipt__cut_chunk_at(&plan->cut, job->index);
    if (job->phase == IPT__PHASE_CHUNKS) {
        if (!plan->cut.tall)
            ipt__cut_spare(&plan->cut, index, run->kept + plan->cut.rest_bytes, job->slot);
        job->result = ipt_plan_execute_host(ipt__cut_plan_of(plan, index), job->slot);
        if (plan->cut.tall)
            ipt__cut_spare(&plan->cut, index, run->kept + plan->cut.rest_bytes, job->slot);
    } else if (job->phase == IPT__PHASE_GROUPS)
        job->result = ipt_plan_execute_host(plans[IPT__CUT_PLAN_GROUP], job->slot);
    else if (plan->cut.rest && job->phase == (ipt__cut_lifts_late(&plan->cut) ? IPT__PHASE_PUT : IPT__PHASE_LIFT))
        job->result = ipt_plan_execute_host(plans[IPT__CUT_PLAN_REST], job->slot);
    else if (job->phase == IPT__PHASE_PUT && plan->cut.tall)
        ipt__cut_join_spare(&plan->cut, run->kept + plan->cut.rest_bytes, job->slot);
}

static void ipt__storage_work(void *argument)
{
    ipt__storage_job *const job = (ipt__storage_job *)argument;
    const ipt__storage_run *const run = job->run;
    ipt_plan *const plan = run->plan;
    const ipt__cut *const cut = &plan->cut;
    ipt__area before, after;
    if (job->phase == IPT__PHASE_MOVES) {
        if (job->role != IPT__ROLE_COMPUTE)
            ipt__storage_blocks(job);
        return;
    }
    if (job->phase == IPT__PHASE_CHUNKS)
        ipt__cut_places(plan, ipt__cut_chunk_at(cut, job->index), &before, &after);
    else if (job->phase == IPT__PHASE_GROUPS)
        ipt__cut_group_places(cut, job->index, &before, &after);
    else
        ipt__cut_rest_places(cut, &before, &after);
    if (job->role == IPT__ROLE_COMPUTE)
        ipt__storage_compute(job);
    else if (job->role == IPT__ROLE_READ && ipt__cut_lifts_late(cut) && job->phase != IPT__PHASE_CHUNKS)
        ipt__storage_read_late(job);
    else if (job->role == IPT__ROLE_READ && job->phase != IPT__PHASE_PUT) {
        ipt__storage_area(job, &before, job->slot);
        if (job->phase == IPT__PHASE_LIFT && !cut->tall)
            ipt__storage_spare(job, run->kept + cut->rest_bytes);
    } else if (job->role == IPT__ROLE_WRITE && job->phase != IPT__PHASE_LIFT) {
        const int kept = job->phase == IPT__PHASE_PUT && !ipt__cut_lifts_late(cut);
        ipt__storage_area(job, &after, kept ? run->kept : job->slot);
        if (job->phase == IPT__PHASE_PUT && cut->tall)
            ipt__storage_spare(job, job->slot);
    }
}

/* Where a turn of a phase is prepared. What is put down as it is kept needs no slot. */
static char *ipt__storage_place(const ipt__storage_run *run, ipt__phase phase, size_t turn)
{
    const ipt__cut *const cut = &run->plan->cut;
    const int kept = phase == IPT__PHASE_LIFT || (phase == IPT__PHASE_PUT && !ipt__cut_lifts_late(cut) && !cut->spare);
    return kept ? run->kept : run->memory + turn % IPT__CUT_SLOTS * ipt__storage_slot(cut);
}

/* A piece of a run's memory. */
typedef struct ipt__content {
    const char *begin;
    size_t bytes;
} ipt__content;

/* What a turn has added to what is kept, where ipt__phase_reports is 2. */
static ipt__content ipt__storage_added(const ipt__storage_run *run, ipt__phase phase, size_t index)
{
    const ipt__cut *const cut = &run->plan->cut;
    ipt__content piece;
    if (phase == IPT__PHASE_GROUPS) {
        piece.bytes = cut->group * (cut->rest_bytes / cut->shorter);
        piece.begin = run->kept + index * piece.bytes;
    } else {
        piece.bytes = cut->spare * cut->piece_bytes;
        piece.begin = run->kept + cut->rest_bytes + ipt__cut_chunk_at(cut, index) * piece.bytes;
    }
    return piece;
}

/* What a turn has prepared to be written, or has lifted. Nobody changes it until the next step is ready. */
static ipt__content ipt__storage_content(const ipt__storage_run *run, ipt__phase phase, size_t index)
{
    const ipt__cut *const cut = &run->plan->cut;
    const int late = ipt__cut_lifts_late(cut);
    ipt__content piece;
    piece.begin = ipt__storage_place(run, phase, run->turn + index);
    if (phase == IPT__PHASE_CHUNKS)
        piece.bytes = ipt__cut_count(run->plan, ipt__cut_chunk_at(cut, index)) *
                      (cut->matrices ? run->plan->matrix_bytes : cut->piece_bytes * cut->shorter);
    else if (phase == IPT__PHASE_GROUPS)
        piece.bytes = cut->panels * cut->block_bytes;
    else if (phase == IPT__PHASE_MOVES)
        piece.bytes = cut->chunk_bytes + cut->block_bytes;
    else if (phase == IPT__PHASE_PUT)
        piece.bytes = cut->spare && cut->tall ? cut->spare_bytes : cut->rest_bytes;
    else {
        const size_t ends = late ? cut->groups * cut->group * (cut->rest_bytes / cut->shorter) : 0;
        piece.begin += ends; /* late: those of the spare lines */
        piece.bytes = cut->rest_bytes - ends + (cut->tall ? 0 : cut->spare_bytes);
    }
    return piece;
}

/* Adds the jobs of one role for a phase's turn with number `index`. */
static int ipt__storage_add(const ipt__storage_run *run, ipt__storage_job *jobs, int count, ipt__role role,
                            ipt__phase phase, size_t index)
{
    const size_t turn = run->turn + index, slot = turn % IPT__CUT_SLOTS;
    const int shares = role == IPT__ROLE_COMPUTE ? 1 : IPT__CUT_STORED_THREADS;
    int i;
    for (i = 0; i < shares; ++i) {
        ipt__storage_job *const job = &jobs[count + i];
        memset(job, 0, sizeof *job);
        job->run = run;
        job->role = role;
        job->phase = phase;
        job->index = index;
        job->share = (size_t)i;
        job->shares = (size_t)shares;
        job->slot = ipt__storage_place(run, phase, turn);
        job->steps = run->steps[slot];
        job->count = run->counts[slot];
        if (phase == IPT__PHASE_MOVES && index) {
            job->head = run->memory +
                        (turn + IPT__CUT_SLOTS - 1) % IPT__CUT_SLOTS * ipt__storage_slot(&run->plan->cut) +
                        run->plan->cut.chunk_bytes;
        }
    }
    return count + shares;
}

static ipt_result ipt__storage_failed(const ipt__storage_job *jobs, int count)
{
    int i;
    for (i = 0; i < count; ++i)
        if (jobs[i].result == IPT_ERROR_STORAGE)
            return ipt__fail(IPT_ERROR_STORAGE, "the storage's %s failed for %lu bytes at byte %lu",
                             jobs[i].role == IPT__ROLE_WRITE ? "write" : "read", (unsigned long)jobs[i].failed_bytes,
                             (unsigned long)jobs[i].failed_at);
        else if (jobs[i].result) /* the text is this thread's: it did that job itself */
            return jobs[i].result == IPT_ERROR_INCOMPLETE ? IPT_ERROR_OPENCL : jobs[i].result;
    return IPT_SUCCESS;
}

/* Lists the moves of a turn, in its slot's list. */
static void ipt__storage_list(ipt__storage_run *run, size_t index)
{
    const size_t slot = (run->turn + index) % IPT__CUT_SLOTS, batch = ipt__batch_moves(&run->plan->cut);
    size_t i;
    run->counts[slot] = ipt__min(batch, ipt__moves_count(&run->plan->cut) - index * batch);
    for (i = 0; i < run->counts[slot]; ++i)
        run->steps[slot][i] = ipt__moves_next(&run->moves);
}

/* Reports the steps of a phase's turn from the step `from` of the phase on. Returns other than 0 to end it. */
static int ipt__storage_report(const ipt__storage_run *run, ipt__phase phase, size_t index, size_t from)
{
    const ipt_storage *const storage = run->storage;
    const size_t reports = ipt__phase_reports(&run->plan->cut, phase);
    size_t step;
    for (step = ipt__max(index * reports, from); step < (index + 1) * reports && storage->ready; ++step) {
        const ipt__content piece = step + 1 < (index + 1) * reports ? ipt__storage_added(run, phase, index)
                                                                    : ipt__storage_content(run, phase, index);
        if (storage->ready(run->step + step, run->total, piece.begin, piece.bytes, storage->user))
            return 1;
    }
    return 0;
}

/* A phase: while a turn is written the next one is worked on and the one after that is read. Before it is written each
 * turn is complete in its slot, and the storage has been told. `ready` steps of it are that far from an execution
 * before. */
static ipt_result ipt__storage_phase(ipt__storage_run *run, ipt__phase phase, size_t count, size_t ready)
{
    ipt__storage_job jobs[2 * IPT__CUT_STORED_THREADS + 1];
    const size_t reports = ipt__phase_reports(&run->plan->cut, phase), prepared = ready / reports;
    size_t i, read = prepared, computed = prepared;
    size_t written = prepared - (ready && ready % reports == 0); /* the last one again, unless its slot is not ready */
    ipt_result result = IPT_SUCCESS;
    if (phase == IPT__PHASE_MOVES) {
        ipt__moves_begin(&run->moves, &run->plan->cut,
                         (unsigned char *)(run->steps[0] + IPT__CUT_SLOTS * ipt__batch_moves(&run->plan->cut)));
        for (i = 0; i < prepared; ++i)
            ipt__storage_list(run, i);
    }
    while (written < count && !result) {
        int jobs_count = 0;
        const int computes = computed < read, reads = read < count && read - written < IPT__CUT_SLOTS,
                  writes = written < computed;
        if (writes && ipt__storage_report(run, phase, written, ready))
            return IPT_ERROR_CANCELLED;
        run->written |= writes && phase != IPT__PHASE_LIFT;
        if (computes) /* the first job is this thread's */
            jobs_count = ipt__storage_add(run, jobs, jobs_count, IPT__ROLE_COMPUTE, phase, computed);
        if (reads) {
            if (phase == IPT__PHASE_MOVES)
                ipt__storage_list(run, read);
            jobs_count = ipt__storage_add(run, jobs, jobs_count, IPT__ROLE_READ, phase, read);
        }
        if (writes)
            jobs_count = ipt__storage_add(run, jobs, jobs_count, IPT__ROLE_WRITE, phase, written);
        ipt__run_together(ipt__storage_work, jobs, sizeof *jobs, jobs_count);
        result = ipt__storage_failed(jobs, jobs_count);
        computed += (size_t)computes;
        read += (size_t)reads;
        written += (size_t)writes;
    }
    return result;
}

static ipt_result ipt__storage_execute(ipt_plan *plan, const ipt_storage *storage)
{
    const ipt__cut *const cut = &plan->cut;
    const ipt_allocator *const allocator = &plan->context->allocator;
    const size_t scratch_bytes = ipt__storage_scratch(cut), matrices = cut->matrices ? 1 : plan->desc.batch;
    ipt__storage_run run;
    char *own = NULL, *scratch = NULL;
    size_t i;
    int turn;
    ipt_result result = IPT_SUCCESS;
    memset(&run, 0, sizeof run);
    run.plan = plan;
    run.storage = storage;
    run.total = ipt__cut_steps(plan, 1);
    run.written = storage->resume > 0;
    run.memory = (char *)storage->memory;
    if (storage->resume > run.total)
        return ipt__fail(IPT_ERROR_INVALID_ARGUMENT, "resume is %lu: the plan has %lu steps",
                         (unsigned long)storage->resume, (unsigned long)run.total);
    if (storage->resume && !run.memory)
        return ipt__fail(IPT_ERROR_INVALID_ARGUMENT, "resume is %lu, but memory is NULL",
                         (unsigned long)storage->resume);
    if (!run.memory) {
        own = (char *)ipt__allocate(allocator, ipt__storage_bytes(plan) + IPT__CUT_PAGE_BYTES);
        if (!own)
            return IPT_ERROR_OUT_OF_MEMORY;
        run.memory = own + (IPT__CUT_PAGE_BYTES - (size_t)own % IPT__CUT_PAGE_BYTES);
    }
    if (scratch_bytes && !(scratch = (char *)ipt__allocate(allocator, scratch_bytes))) {
        ipt__release(allocator, own);
        return IPT_ERROR_OUT_OF_MEMORY;
    }
    for (i = 0; i < IPT__CUT_SLOTS && scratch; ++i)
        run.steps[i] = (ipt__move_step *)scratch + i * ipt__batch_moves(cut);
    for (i = 0; i < matrices && !result; ++i) {
        run.base = i * plan->desc.batch_stride;
        run.kept = run.memory + ipt__storage_slots(plan) * ipt__storage_slot(cut) + i % 2 * ipt__storage_kept(cut);
        for (turn = 0; turn < IPT__PHASE_COUNT && !result; ++turn) {
            size_t count, steps;
            const ipt__phase phase = ipt__cut_phase(cut, turn, &count);
            steps = count * ipt__phase_reports(cut, phase);
            if (count && storage->resume <= run.step + steps)
                result =
                    ipt__storage_phase(&run, phase, count, storage->resume > run.step ? storage->resume - run.step : 0);
            run.step += steps;
            run.turn += count;
        }
    }
    ipt__release(allocator, scratch);
    ipt__release(allocator, own);
    if (result == IPT_ERROR_CANCELLED)
        return run.written
                   ? ipt__fail(IPT_ERROR_INCOMPLETE, "ended by the storage's ready: some steps have been written")
                   : ipt__fail(IPT_ERROR_CANCELLED, "ended by the storage's ready before anything was written");
    return result && run.written ? ipt__fail_incomplete("it happened after some steps had been written") : result;
}

IPT_API size_t ipt_plan_storage_memory(const ipt_plan *plan)
{
    return plan && plan->desc.max_host_memory ? ipt__storage_bytes(plan) : 0;
}

IPT_API size_t ipt_plan_storage_steps(const ipt_plan *plan)
{
    return plan && plan->desc.max_host_memory && !ipt__nothing_moves(plan) ? ipt__cut_steps(plan, 1) : 0;
}

IPT_API int ipt_plan_storage_needs(const ipt_plan *plan, size_t step, size_t resume)
{
    const size_t steps = ipt_plan_storage_steps(plan);
    size_t each, within;
    int turn;
    if (step >= resume || resume > steps)
        return 0;
    each = plan->cut.matrices ? steps : steps / plan->desc.batch;
    within = step % each;
    if (step + 1 == resume || step / each != (resume - 1) / each)
        return step + 1 == resume;
    for (turn = 0; turn < IPT__PHASE_COUNT; ++turn) {
        size_t count;
        const ipt__phase phase = ipt__cut_phase(&plan->cut, turn, &count);
        count *= ipt__phase_reports(&plan->cut, phase);
        if (within < count)
            return ipt__phase_keeps(&plan->cut, phase, within);
        within -= count;
    }
    return 0;
}

IPT_API ipt_result ipt_plan_execute_storage(ipt_plan *plan, const ipt_storage *storage)
{
    ipt_result result = plan && storage ? ipt__check_plan(plan) : ipt__fail_null(plan ? "storage" : "plan");
    if (!result && (!storage->read || !storage->write))
        result = ipt__fail(IPT_ERROR_INVALID_ARGUMENT, "storage->%s is NULL", storage->read ? "write" : "read");
    if (!result && !plan->desc.max_host_memory)
        result = ipt__fail(IPT_ERROR_INVALID_ARGUMENT, "max_host_memory is 0: the plan is not for storages");
    if (result || ipt__nothing_moves(plan))
        return result;
    IPT_LOCK_ACQUIRE(&plan->host_lock);
    result = ipt__storage_execute(plan, storage);
    IPT_LOCK_RELEASE(&plan->host_lock);
    return result;
}

/* The same in buffers as large as the device takes. */
static ipt_result ipt__cut_open_smaller(ipt_plan *plan, size_t limit)
{
    char cause[IPT__CAUSE_BYTES];
    ipt_result result = ipt__cut_open_device(plan, limit);
    while (result == IPT_ERROR_OUT_OF_MEMORY && plan->refused) {
        ipt__keep_cause(cause);
        plan->most = ipt__less_than(plan->context, plan->refused);
        plan->refused = 0;
        ipt__host_close(plan);
        memset(&plan->blocks, 0, sizeof plan->blocks);
        result = ipt__cut_open_device(plan, limit);
        if (result == IPT_ERROR_UNSUPPORTED) /* no pieces are so small */
            return ipt__fail(IPT_ERROR_OUT_OF_MEMORY, "%s", cause);
    }
    return result;
}

/* ---- which plans are cut ---- */

/* Bytes of device memory that a plan for host matrices may take. */
static size_t ipt__cut_limit(const ipt_plan *plan)
{
    cl_ulong bytes = 0;
    if (plan->desc.max_device_memory)
        return plan->desc.max_device_memory;
    if ((plan->context->shares_memory && !plan->in_pieces) || !plan->context->device ||
        ipt__cl.clGetDeviceInfo(plan->context->device, CL_DEVICE_GLOBAL_MEM_SIZE, sizeof bytes, &bytes, NULL))
        return (size_t)-1;
    return ipt__size_of(bytes);
}

/* Whether a plan is for matrices that are cut, which have no stages of their own. */
static int ipt__plan_is_cut(const ipt_plan *plan)
{
    const ipt_plan_desc *const desc = &plan->desc;
    const size_t limit = ipt__cut_limit(plan), budget = ipt__plan_budget(plan);
    const int shared = plan->context->shares_memory && (!desc->host || desc->host == IPT_HOST_SHARED);
    if (desc->max_host_memory || plan->in_pieces)
        return 1;
    if (!desc->max_device_memory) /* there may be other ways to have a matrix of up to that size on the device */
        return limit < plan->span_bytes;
    return limit < budget || (!shared && limit - budget < plan->span_bytes);
}

static ipt_result ipt__cut_open(ipt_plan *plan)
{
    const ipt_plan_desc *const desc = &plan->desc;
    return desc->max_host_memory     ? ipt__cut_open_storage(plan)
           : desc->max_device_memory ? ipt__cut_open_smaller(plan, desc->max_device_memory)
                                     : ipt__cut_open_smaller(plan, ipt__cut_limit(plan) / 4 * 3);
}

/* The same within max_workspace, or an error with a limit that has been tried: how a matrix is cut depends on it. */
static ipt_result ipt__cut_open_limited(ipt_plan *plan)
{
    enum { TRIES = 16 };
    const size_t limit = plan->desc.max_workspace;
    ipt_result result = ipt__cut_open(plan);
    int i;
    if (result || ipt__cut_obeys(plan))
        return result;
    for (i = 0; i < TRIES && !result && !ipt__cut_obeys(plan); ++i) {
        plan->desc.max_workspace = ipt__share_workspace(&plan->host.shares[0]);
        ipt__host_close(plan);
        memset(&plan->cut, 0, sizeof plan->cut);
        memset(&plan->blocks, 0, sizeof plan->blocks);
        result = ipt__cut_open(plan);
    }
    if (result || i == TRIES)
        return ipt__fail(IPT_ERROR_UNSUPPORTED,
                         "max_workspace allows %lu bytes, too few for the pieces of a %lu x %lu matrix of %lu bytes",
                         (unsigned long)limit, (unsigned long)plan->desc.rows, (unsigned long)plan->desc.cols,
                         (unsigned long)plan->desc.elem_size);
    return ipt__fail(IPT_ERROR_UNSUPPORTED,
                     "max_workspace allows %lu bytes, too few for the pieces of a %lu x %lu matrix of %lu bytes: %lu "
                     "would do",
                     (unsigned long)limit, (unsigned long)plan->desc.rows, (unsigned long)plan->desc.cols,
                     (unsigned long)plan->desc.elem_size, (unsigned long)plan->desc.max_workspace);
}

/* Makes what a cut plan needs instead of stages. */
static ipt_result ipt__plan_cut(ipt_plan *plan)
{
    const ipt_plan_desc *const desc = &plan->desc;
    ipt_result result;
    if (desc->from || desc->to || (desc->flags & IPT_PAD) || desc->tile_m || desc->tile_n ||
        desc->sequence != IPT_SEQUENCE_AUTO || (desc->flags & IPT_OUT_OF_PLACE))
        return ipt__fail(IPT_ERROR_UNSUPPORTED,
                         "a matrix that does not fit %s is cut: forced sequences, tiles, formats, IPT_PAD and "
                         "IPT_OUT_OF_PLACE are not possible then",
                         ipt__limit_name(plan));
    if (!desc->max_host_memory && desc->host && desc->host != IPT_HOST_OVERLAPPED)
        return ipt__fail(IPT_ERROR_UNSUPPORTED,
                         "host is %s, which takes device memory for all of the matrix: more than the %lu bytes allowed",
                         ipt_host_string(desc->host), (unsigned long)ipt__cut_limit(plan));
    if (!plan->context->context)
        return ipt__fail(IPT_ERROR_UNSUPPORTED, "plans that are cut need a device");
    result = ipt__cut_open_limited(plan);
    if (!result && desc->move && !plan->cut.matrices)
        result = ipt__fail(IPT_ERROR_UNSUPPORTED, "move is %s: only transpositions of a matrix can be cut into panels",
                           ipt_move_string(desc->move));
    if (!result)
        plan->host_workspace = ipt__share_workspace(&plan->host.shares[0]);
    return result;
}

/* ------------------------------------------------------------------------------------------------------------------ */
/* >>host matrices: executions                                                                                        */
/* ------------------------------------------------------------------------------------------------------------------ */

/* On devices that work in the host's memory: no copies. */
static ipt_result ipt__host_run_shared(ipt__host_run *run)
{
    ipt_plan *const plan = run->plan;
    const cl_command_queue queue = plan->context->queue;
    cl_int error;
    cl_event event = NULL;
    void *mapped;
    ipt_result result = IPT_SUCCESS;
    const cl_mem buffer = ipt__buffer_make(plan->context, CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, plan->span_bytes,
                                           run->data, "the host's matrix as a buffer", &plan->refused, &result);
    if (result)
        return result;
    ipt__host_progress(run, 0);
    result = run->cancelled ? IPT_SUCCESS : ipt_plan_execute(plan, queue, buffer, 0, 0, NULL, &event);
    if (!run->cancelled && (!result || result == IPT_ERROR_INCOMPLETE)) {
        const ipt_result waited = event ? ipt__wait_for(event) : IPT_SUCCESS;
        run->written = 1;
        if (!result)
            result = waited;
        mapped = result ? NULL
                        : ipt__cl.clEnqueueMapBuffer(queue, buffer, CL_TRUE, CL_MAP_READ, 0, plan->span_bytes, 0, NULL,
                                                     NULL, &error);
        if (!result && error)
            result = ipt__fail_opencl("clEnqueueMapBuffer", error);
        if (!result) {
            error = ipt__cl.clEnqueueUnmapMemObject(queue, buffer, mapped, 0, NULL, NULL);
            if (error)
                result = ipt__fail_opencl("clEnqueueUnmapMemObject", error);
        }
        error = ipt__cl.clFinish(queue); /* the memory is the caller's from here on, whatever has failed */
        if (!result && error)
            result = ipt__fail_opencl("clFinish", error);
        if (!result)
            ipt__host_progress(run, run->total);
        run->cancelled = 0; /* too late */
    }
    if (event)
        ipt__cl.clReleaseEvent(event);
    ipt__cl.clReleaseMemObject(buffer);
    return result;
}

/* Upload, transposition, download, one after the other. */
static ipt_result ipt__host_run_synchronous(ipt__host_run *run)
{
    ipt_plan *const plan = run->plan;
    /* Whole strides: NVIDIA refuses a rectangle whose last row is cut short. */
    const size_t bytes = plan->span_bytes + (plan->desc.batch_stride - plan->matrix_bytes);
    cl_event event = NULL;
    ipt_result result = IPT_SUCCESS;
    const cl_mem buffer =
        ipt__buffer_make(plan->context, CL_MEM_READ_WRITE, bytes, NULL, "device memory", &plan->refused, &result);
    if (result)
        return result;
    result = ipt__transfer(plan, buffer, run->data, 0);
    if (!result)
        ipt__host_progress(run, run->total / 2);
    else if (result == IPT_ERROR_OUT_OF_MEMORY)
        plan->refused = bytes; /* some devices look for the memory only now */
    if (!result && !run->cancelled)
        result = ipt_plan_execute(plan, plan->context->queue, buffer, 0, 0, NULL, &event);
    if (!result && !run->cancelled)
        result = event ? ipt__wait_for(event) : ipt__fail(IPT_ERROR_OPENCL, "the execution has no event to wait for");
    else if (result == IPT_ERROR_INCOMPLETE)
        result = IPT_ERROR_OPENCL; /* the device's copy is lost, the caller's data is not */
    if (!result && !run->cancelled) {
        run->written = 1;
        result = ipt__transfer(plan, buffer, run->data, 1);
        if (!result)
            ipt__host_progress(run, run->total - run->done);
        run->cancelled = 0; /* too late */
    }
    if (event)
        ipt__cl.clReleaseEvent(event);
    ipt__cl.clReleaseMemObject(buffer);
    return result;
}

/* The scheme that serves a plan and a place in memory: the desc's, or the one that is best. */
static ipt_result ipt__host_choose(const ipt_plan *plan, const char *data, ipt_host *scheme)
{
    const ipt_plan_desc *const desc = &plan->desc;
    const int shares =
        plan->context->shares_memory && !plan->split_count && (size_t)data % ipt__host_alignment(plan) == 0;
    const int cuts = !desc->from && !desc->to && !desc->move && !(desc->flags & IPT_PAD) && !desc->tile_m &&
                     !desc->tile_n && desc->sequence == IPT_SEQUENCE_AUTO;
    *scheme = desc->host;
    if (plan->split_count || plan->cut.chunk_bytes)
        *scheme = IPT_HOST_OVERLAPPED;
    if (*scheme == IPT_HOST_AUTO)
        *scheme = shares                                                                         ? IPT_HOST_SHARED
                  : cuts && plan->matrix_bytes * desc->batch >= 4 * (size_t)IPT__HOST_PART_BYTES ? IPT_HOST_OVERLAPPED
                                                                                                 : IPT_HOST_SYNCHRONOUS;
    if (*scheme == IPT_HOST_SHARED && !shares)
        return ipt__fail(IPT_ERROR_UNSUPPORTED,
                         "host is shared: the device does not work in the host's memory, or the address of data is not "
                         "a multiple of %lu",
                         (unsigned long)ipt__host_alignment(plan));
    if (*scheme == IPT_HOST_OVERLAPPED && !cuts && !plan->cut.chunk_bytes)
        return ipt__fail(IPT_ERROR_UNSUPPORTED,
                         "host is overlapped: plans with a forced sequence, tiles, formats, moves "
                         "or IPT_PAD are not cut into parts");
    return IPT_SUCCESS;
}

/* Executes a plan whose host_lock, or whose owner's, is held. */
static ipt_result ipt__host_run_scheme(ipt__host_run *run, ipt_host scheme)
{
    ipt_plan *const plan = run->plan;
    ipt_result result;
    if (scheme != IPT_HOST_OVERLAPPED && scheme != IPT_HOST_STAGES)
        return scheme == IPT_HOST_SHARED ? ipt__host_run_shared(run) : ipt__host_run_synchronous(run);
    result = plan->parts_refused ? IPT_ERROR_UNSUPPORTED : ipt__host_open(plan, scheme);
    if (result == IPT_ERROR_UNSUPPORTED && !plan->desc.host && !plan->split_count && !plan->cut.chunk_bytes) {
        plan->parts_refused = 1; /* without parts: nobody asked for them */
        return ipt__host_run_synchronous(run);
    }
    if (!result && !run->pinned && plan->span_bytes >= IPT__HOST_STAGED_BYTES)
        ipt__host_take_slots(&plan->host);
    if (!result)
        result = plan->cut.chunk_bytes       ? ipt__cut_run(run)
                 : scheme == IPT_HOST_STAGES ? ipt__host_run_stages(run, &plan->host)
                 : plan->desc.batch > 1      ? ipt__host_run_batch(run, &plan->host)
                                             : ipt__host_run_blocks(run, &plan->host);
    ipt__host_settle(&plan->host);
    return result;
}

/* Makes the plan that takes a host matrix in pieces, because the device has refused memory for all of it. */
static ipt_result ipt__host_make_pieces(ipt_plan *plan)
{
    ipt_plan_desc desc = plan->desc;
    char cause[IPT__CAUSE_BYTES], why[IPT__CAUSE_BYTES];
    ipt_result result;
    ipt__keep_cause(cause);
    if (desc.host && desc.host != IPT_HOST_OVERLAPPED)
        return ipt__fail(IPT_ERROR_OUT_OF_MEMORY, "%s; host is %s: auto and overlapped take matrices in pieces", cause,
                         ipt_host_string(desc.host));
    ipt__host_close(plan);
    desc.host = IPT_HOST_AUTO;
    desc.host_queues = 0;
    desc.flags &= ~IPT_MEASURE;
    desc.measure_buffer = NULL;
    if (desc.max_workspace) /* this plan keeps its own */
        desc.max_workspace = ipt__max(1, desc.max_workspace - ipt__min(desc.max_workspace, plan->layout.workspace));
    result = ipt__plan_make_as(plan->context, &desc, NULL, 1, &plan->pieces);
    if (result) {
        ipt__keep_cause(why);
        return ipt__fail(IPT_ERROR_OUT_OF_MEMORY, "%s; it cannot go in pieces: %s", cause, why);
    }
    IPT_LOCK_ACQUIRE(&plan->lock);
    plan->host_workspace = plan->pieces->host_workspace;
    IPT_LOCK_RELEASE(&plan->lock);
    return IPT_SUCCESS;
}

/* Executes by pieces. They are kept where the device will refuse as much again; what other programs have taken it may
 * have the next time. */
static ipt_result ipt__host_run_pieces(ipt__host_run *run)
{
    ipt_plan *const plan = run->plan;
    ipt_result result;
    run->plan = plan->pieces;
    result = ipt__host_run_scheme(run, IPT_HOST_OVERLAPPED);
    if (!plan->context->allocation || plan->span_bytes <= plan->context->allocation) {
        ipt_plan_destroy(plan->pieces);
        plan->pieces = NULL;
        IPT_LOCK_ACQUIRE(&plan->lock);
        plan->host_workspace = 0;
        IPT_LOCK_RELEASE(&plan->lock);
    }
    return result;
}

/* Whether a plan that counts on working in the host's memory would now take more than max_device_memory, because the
 * matrix lies where the device cannot work. */
static int ipt__host_exceeds(const ipt_plan *plan, ipt_host scheme)
{
    const size_t limit = plan->desc.max_device_memory, budget = ipt__plan_budget(plan);
    return limit && scheme != IPT_HOST_SHARED && !plan->desc.host && !plan->cut.chunk_bytes &&
           (limit < budget || limit - budget < plan->span_bytes);
}

static ipt_result ipt__host_execute(ipt_plan *plan, void *data, const ipt_host_options *options)
{
    static const ipt_host_options none = {NULL, NULL, NULL};
    ipt__host_run run;
    ipt_host scheme;
    ipt_result result;
    if (!plan || !data)
        return ipt__fail_null(plan ? "data" : "plan");
    result = ipt__check_plan(plan);
    if (!result)
        result = ipt__host_choose(plan, (const char *)data, &scheme);
    if (!result && plan->desc.max_host_memory)
        result = ipt__fail(IPT_ERROR_UNSUPPORTED, "max_host_memory is %lu: the plan takes storages only",
                           (unsigned long)plan->desc.max_host_memory);
    if (result || (!plan->layout.stage_count && !plan->split_count && !plan->cut.chunk_bytes) ||
        ipt__nothing_moves(plan))
        return result;
    memset(&run, 0, sizeof run);
    run.plan = plan;
    run.data = (char *)data;
    run.options = options ? options : &none;
    run.total = 2 * plan->matrix_bytes * plan->desc.batch;
    run.pinned = ipt__host_is_pinned(plan->context, run.data, plan->span_bytes);
    IPT_LOCK_ACQUIRE(&plan->host_lock);
    plan->refused = 0;
    if (!plan->pieces && ipt__host_exceeds(plan, scheme)) {
        ipt__fail(IPT_ERROR_OUT_OF_MEMORY,
                  "max_device_memory is %lu, and the device cannot work on data at %p: a multiple of 16 would do",
                  (unsigned long)plan->desc.max_device_memory, data);
        result = ipt__host_make_pieces(plan);
    } else if (!plan->pieces)
        result = ipt__host_run_scheme(&run, scheme);
    if (result == IPT_ERROR_OUT_OF_MEMORY && plan->refused && !run.written && !plan->cut.chunk_bytes)
        result = ipt__host_make_pieces(plan);
    if (!result && plan->pieces)
        result = ipt__host_run_pieces(&run);
    IPT_LOCK_RELEASE(&plan->host_lock);
    if (result && run.written)
        return ipt__fail_incomplete(
            "it happened after the first byte was written, so part of data may hold the result");
    if (!result && run.cancelled)
        return run.written ? ipt__fail(IPT_ERROR_INCOMPLETE, "cancelled after the first byte was written: part of data "
                                                             "holds the result")
                           : ipt__fail(IPT_ERROR_CANCELLED, "cancelled before a byte was written: data is as it was");
    return result;
}

IPT_API ipt_result ipt_plan_execute_host(ipt_plan *plan, void *data)
{
    return ipt__host_execute(plan, data, NULL);
}

IPT_API ipt_result ipt_plan_execute_host_with(ipt_plan *plan, void *data, const ipt_host_options *options)
{
    return ipt__host_execute(plan, data, options);
}

#ifndef IPT_NO_THREADS

typedef struct ipt__host_job {
    ipt_plan *plan;
    void *data;
    ipt_host_options options;
    cl_event event; /* NULL: not asked for */
    ipt_allocator allocator;
} ipt__host_job;

/* Ends an event of the library's own and lets go of it. Whoever waits for it would wait for ever, and clReleaseContext
 * of an H200's driver hung after one had been let go of without a status: so it is set a second time, if need be. */
static void ipt__host_event_end(cl_event event, ipt_result result)
{
    const cl_int status = result ? -(cl_int)result : CL_COMPLETE;
    if (ipt__cl.clSetUserEventStatus(event, status))
        ipt__cl.clSetUserEventStatus(event, status);
    ipt__cl.clReleaseEvent(event);
}

static IPT__THREAD_RESULT ipt__host_job_main(void *argument)
{
    ipt__host_job job = *(ipt__host_job *)argument;
    ipt_result result;
    ipt__release(&job.allocator, argument);
    result = ipt__host_execute(job.plan, job.data, &job.options);
    if (job.options.finished)
        job.options.finished(result, job.options.user);
    if (job.event)
        ipt__host_event_end(job.event, result);
    return IPT__THREAD_RETURN;
}

IPT_API ipt_result ipt_plan_execute_host_async(ipt_plan *plan, void *data, const ipt_host_options *options,
                                               cl_event *event)
{
    ipt__host_job *job;
    ipt__thread thread;
    cl_int error = CL_SUCCESS;
    ipt_result result = ipt__check_plan(plan);
    if (event)
        *event = NULL;
    if (!result && !data)
        result = ipt__fail_null("data");
    if (result)
        return result;
    job = (ipt__host_job *)ipt__allocate(&plan->context->allocator, sizeof *job);
    if (!job)
        return IPT_ERROR_OUT_OF_MEMORY;
    job->plan = plan;
    job->data = data;
    job->allocator = plan->context->allocator;
    if (options)
        job->options = *options;
    if (event) {
        *event = job->event = ipt__cl.clCreateUserEvent(plan->context->context, &error);
        if (!error)
            error = ipt__cl.clRetainEvent(job->event); /* the caller's hold of it */
        if (error)
            result = ipt__fail_opencl(*event ? "clRetainEvent" : "clCreateUserEvent", error);
    }
    if (!result && !IPT__THREAD_START(&thread, ipt__host_job_main, job))
        result = ipt__fail(IPT_ERROR_OUT_OF_MEMORY, "a thread cannot be started");
    if (!result) {
        IPT__THREAD_DETACH(thread);
        return IPT_SUCCESS;
    }
    if (event && *event) {
        ipt__host_event_end(*event, result);
        if (!error)
            ipt__cl.clReleaseEvent(*event);
        *event = NULL;
    }
    ipt__release(&plan->context->allocator, job);
    return result;
}

#else

IPT_API ipt_result ipt_plan_execute_host_async(ipt_plan *plan, void *data, const ipt_host_options *options,
                                               cl_event *event)
{
    (void)plan, (void)data, (void)options;
    if (event)
        *event = NULL;
    return ipt__fail(IPT_ERROR_UNSUPPORTED, "ipt was compiled with IPT_NO_THREADS");
}

#endif

IPT_API ipt_result ipt_plan_create_split(ipt_context *const *contexts, size_t count, const ipt_plan_desc *desc,
                                         ipt_plan **plan)
{
    ipt_plan *made;
    ipt_result result;
    size_t i;
    if (!plan)
        return ipt__fail_null("plan");
    *plan = NULL;
    if (!contexts || !desc)
        return ipt__fail_null(contexts ? "desc" : "contexts");
    if (!count)
        return ipt__fail(IPT_ERROR_INVALID_ARGUMENT, "count is 0");
    for (i = 0; i < count; ++i) {
        if (!contexts[i])
            return ipt__fail(IPT_ERROR_INVALID_ARGUMENT, "contexts[%lu] is NULL", (unsigned long)i);
        if (!contexts[i]->context || contexts[i]->context != contexts[0]->context)
            return ipt__fail(IPT_ERROR_INVALID_ARGUMENT,
                             "contexts[%lu] has another OpenCL context than contexts[0], or none", (unsigned long)i);
    }
    made = (ipt_plan *)ipt__allocate(&contexts[0]->allocator, sizeof *made);
    if (!made)
        return IPT_ERROR_OUT_OF_MEMORY;
    ipt__plan_begin(made, contexts[0], desc);
    made->split = (ipt_context **)ipt__allocate(&contexts[0]->allocator, count * sizeof *made->split);
    result = made->split ? IPT_SUCCESS : IPT_ERROR_OUT_OF_MEMORY;
    for (i = 0; i < count && !result; ++i) {
        made->split[i] = contexts[i];
        ipt__context_retain(contexts[i]);
        ++made->split_count;
    }
    if (!result)
        result = ipt__plan_check(made);
    if (!result && desc->expression)
        result = ipt__plan_take_expression(made);
    if (!result && (desc->max_device_memory || desc->max_host_memory))
        result = ipt__fail(IPT_ERROR_UNSUPPORTED, "%s is %lu: plans for several contexts are not cut",
                           desc->max_device_memory ? "max_device_memory" : "max_host_memory",
                           (unsigned long)(desc->max_device_memory ? desc->max_device_memory : desc->max_host_memory));
    if (!result && desc->host != IPT_HOST_AUTO && desc->host != IPT_HOST_OVERLAPPED)
        result = ipt__fail(IPT_ERROR_INVALID_ARGUMENT, "host is %s: plans for several contexts are overlapped",
                           ipt_host_string(desc->host));
    if (!result) {
        ipt_host scheme;
        result = ipt__host_choose(made, NULL, &scheme);
    }
    if (!result)
        result = ipt__host_open(made, IPT_HOST_OVERLAPPED);
    if (result == IPT_ERROR_OUT_OF_MEMORY && made->refused)
        result = ipt__host_make_pieces(made); /* through the first device */
    if (result) {
        ipt_plan_destroy(made);
        return result;
    }
    ipt__plan_write_description(made);
    *plan = made;
    return IPT_SUCCESS;
}

/* ------------------------------------------------------------------------------------------------------------------ */
/* >>wisdom: what measuring has found, as text                                                                        */
/* ------------------------------------------------------------------------------------------------------------------ */

#define IPT__WISDOM_TITLE "ipt wisdom 1"

/* Whether two lines are about the same plan: all but the result. */
static int ipt__wisdom_same(const ipt__wisdom *a, const ipt__wisdom *b)
{
    ipt__wisdom other = *b;
    other.next = a->next;
    other.length = a->length;
    return !memcmp(a, &other, sizeof other);
}

/* What the choice of a plan depends on. */
static ipt__wisdom ipt__wisdom_of(const ipt_plan *plan, size_t budget)
{
    ipt__wisdom wisdom;
    memset(&wisdom, 0, sizeof wisdom);
    wisdom.rows = plan->desc.rows;
    wisdom.cols = plan->desc.cols;
    wisdom.elem_size = plan->desc.elem_size;
    wisdom.batch = plan->desc.batch;
    wisdom.batch_stride = plan->desc.batch_stride;
    wisdom.workspace = budget;
    wisdom.no_cooperative = (plan->desc.flags & IPT_NO_COOPERATIVE) != 0;
    wisdom.expression = plan->desc.expression != NULL;
    return wisdom;
}

/* Adds copies of a list to the context's, in the place of those about the same plans. The caller holds the lock. 0 if
 * there is no memory; the context's list is as it was then. */
static int ipt__wisdom_add(ipt_context *context, const ipt__wisdom *list)
{
    ipt__wisdom *fresh = NULL, **end = &fresh;
    const ipt__wisdom *next;
    for (next = list; next; next = next->next) {
        *end = (ipt__wisdom *)ipt__allocate(&context->allocator, sizeof *next);
        if (!*end) {
            ipt__wisdom_free(context, fresh);
            return 0;
        }
        **end = *next;
        (*end)->next = NULL;
        end = &(*end)->next;
    }
    while (fresh) {
        ipt__wisdom *const added = fresh, **at = &context->wisdom;
        fresh = added->next;
        while (*at && !ipt__wisdom_same(*at, added))
            at = &(*at)->next;
        added->next = NULL;
        if (*at) {
            (*at)->length = added->length;
            ipt__wisdom_free(context, added);
        } else
            *at = added;
    }
    return 1;
}

/* Takes the layout that is known to be best, if any is and it keeps to the workspace. */
static int ipt__wisdom_apply(ipt_plan *plan, size_t budget)
{
    ipt_context *const context = plan->context;
    const ipt__wisdom wanted = ipt__wisdom_of(plan, budget);
    const ipt__wisdom *known;
    ipt__layout layout;
    size_t length = 0;
    IPT_LOCK_ACQUIRE(&context->lock);
    for (known = context->wisdom; known; known = known->next)
        if (ipt__wisdom_same(known, &wanted))
            length = known->length;
    IPT_LOCK_RELEASE(&context->lock);
    if (!length || length > ipt__max(plan->desc.rows, plan->desc.cols))
        return 0;
    ipt__layout_of_length(plan, &layout, length, budget);
    if (layout.workspace > (budget ? budget : plan->layout.workspace))
        return 0;
    plan->layout = layout;
    return 1;
}

/* The two lines of the device's that wisdom is bound to: a new driver makes it no worse than a guess. */
static size_t ipt__wisdom_device(const ipt_context *context)
{
    const char *at = strchr(context->device_text, '\n');
    at = at ? strchr(at + 1, '\n') : NULL;
    return at ? (size_t)(at + 1 - context->device_text) : strlen(context->device_text);
}

IPT_API ipt_result ipt_wisdom_export(ipt_context *context, char *text, size_t capacity, size_t *bytes)
{
    ipt__text out = {NULL, 0, 0};
    const ipt__wisdom *next;
    int lines = 0;
    if (!context || (!text && capacity))
        return ipt__fail_null(context ? "text" : "context");
    out.text = text;
    out.capacity = capacity;
    ipt__text_add(&out, "%s\n%.*s", IPT__WISDOM_TITLE, (int)ipt__wisdom_device(context), context->device_text);
    IPT_LOCK_ACQUIRE(&context->lock);
    for (next = context->wisdom; next; next = next->next, ++lines) {
        ipt__text_add(&out, "transpose");
#define IPT__WISDOM_PRINT(field)                                                                                       \
    ipt__text_add(&out, " " #field "=");                                                                               \
    ipt__text_add_size(&out, next->field);
        IPT__WISDOM_LIST(IPT__WISDOM_PRINT)
        ipt__text_add(&out, "\n");
    }
    IPT_LOCK_RELEASE(&context->lock);
    ipt__text_add(&out, "end %d\n", lines);
    if (bytes)
        *bytes = out.length + 1;
    if (out.length < capacity)
        return IPT_SUCCESS;
    if (capacity)
        *text = 0;
    return ipt__fail(IPT_ERROR_INVALID_ARGUMENT, "capacity is %lu: %lu bytes are needed", (unsigned long)capacity,
                     (unsigned long)out.length + 1);
}

/* Reads a line of wisdom. 0 if it is none. */
static int ipt__wisdom_read(const char *line, ipt__wisdom *wisdom)
{
    int left = 0, good = !strncmp(line, "transpose ", 10);
    const char *at = line + 10;
    memset(wisdom, 0, sizeof *wisdom);
#define IPT__WISDOM_COUNT(field) ++left;
    IPT__WISDOM_LIST(IPT__WISDOM_COUNT)
#define IPT__WISDOM_READ(field)                                                                                        \
    --left;                                                                                                            \
    good = good && !strncmp(at, #field "=", sizeof #field);                                                            \
    at += good ? sizeof #field : 0;                                                                                    \
    good = good && ipt__number_next(&at, left ? ' ' : 0, &wisdom->field);
    IPT__WISDOM_LIST(IPT__WISDOM_READ)
    return good && wisdom->rows && wisdom->cols && wisdom->elem_size && wisdom->batch && wisdom->length &&
           wisdom->length <= ipt__max(wisdom->rows, wisdom->cols) && wisdom->no_cooperative <= 1 &&
           wisdom->expression <= 1;
}

IPT_API ipt_result ipt_wisdom_import(ipt_context *context, const char *text)
{
    ipt__wisdom *list = NULL, **end = &list;
    const char *device, *next;
    char line[512] = "";
    int number = 1, lines = 0, closed = 0;
    ipt_result result = IPT_SUCCESS;
    if (!context || !text)
        return ipt__fail_null(context ? "text" : "context");
    next = text;
    if (!ipt__line_next(&next, line, sizeof line) || strcmp(line, IPT__WISDOM_TITLE))
        return ipt__fail_line("wisdom", number, line, "'" IPT__WISDOM_TITLE "'");
    for (device = context->device_text; device < context->device_text + ipt__wisdom_device(context);
         device = strchr(device, '\n') + 1) {
        const size_t length = strcspn(device, "\n");
        *line = 0;
        ++number;
        if (!ipt__line_next(&next, line, sizeof line) || strlen(line) != length || strncmp(line, device, length))
            return ipt__fail(strncmp(line, "device ", 7) && strncmp(line, "vendor ", 7) ? IPT_ERROR_INVALID_ARGUMENT
                                                                                        : IPT_ERROR_UNSUPPORTED,
                             "wisdom, line %d: '%.80s' is about another device than '%.*s'", number, line, (int)length,
                             device);
    }
    while (!result && !closed) {
        ipt__wisdom read;
        size_t counted;
        *line = 0;
        ++number;
        if (!ipt__line_next(&next, line, sizeof line))
            result = ipt__fail_line("wisdom", number, line, "'transpose ...' or 'end' and the number of lines");
        else if (ipt__line_number(line, "end", &counted)) {
            closed = 1;
            if (counted != (size_t)lines || *next)
                result = ipt__fail(IPT_ERROR_INVALID_ARGUMENT,
                                   "wisdom, line %d: '%.80s' behind %d lines of wisdom, or something behind it", number,
                                   line, lines);
        } else if (!ipt__wisdom_read(line, &read))
            result = ipt__fail(IPT_ERROR_INVALID_ARGUMENT, "wisdom, line %d: '%.80s' is not understood", number, line);
        else {
            *end = (ipt__wisdom *)ipt__allocate(&context->allocator, sizeof read);
            if (!*end)
                result = IPT_ERROR_OUT_OF_MEMORY;
            else {
                **end = read;
                end = &(*end)->next;
                ++lines;
            }
        }
    }
    if (!result) {
        IPT_LOCK_ACQUIRE(&context->lock);
        if (!ipt__wisdom_add(context, list))
            result = IPT_ERROR_OUT_OF_MEMORY;
        IPT_LOCK_RELEASE(&context->lock);
    }
    ipt__wisdom_free(context, list);
    return result;
}

IPT_API ipt_result ipt_wisdom_export_file(ipt_context *context, const char *path)
{
    size_t bytes = 0;
    char *text;
    FILE *file;
    int good;
    if (!context || !path)
        return ipt__fail_null(context ? "path" : "context");
    ipt_wisdom_export(context, NULL, 0, &bytes);
    bytes += 4096; /* another thread may add to it meanwhile */
    text = (char *)ipt__allocate(&context->allocator, bytes);
    if (!text)
        return IPT_ERROR_OUT_OF_MEMORY;
    good = !ipt_wisdom_export(context, text, bytes, NULL);
    file = good ? fopen(path, "wb") : NULL; /* a file that is cut short is no text of wisdom */
    good = file && fputs(text, file) >= 0;
    if (file && fclose(file))
        good = 0;
    ipt__release(&context->allocator, text);
    return good ? IPT_SUCCESS : ipt__fail(IPT_ERROR_INVALID_ARGUMENT, "path: %s cannot be written", path);
}

enum { IPT__WISDOM_MOST = 1 << 24 /* bytes of a file; some 100,000 shapes */ };

/* Whether a path leads to a file, or to nothing: to open a pipe may wait for ever, and a device may have no end. */
static int ipt__is_plain_file(const char *path)
{
#if defined(_WIN32)
    (void)path;
    return 1;
#else
    struct stat status;
    return stat(path, &status) || S_ISREG(status.st_mode);
#endif
}

IPT_API ipt_result ipt_wisdom_import_file(ipt_context *context, const char *path)
{
    size_t capacity = 1 << 12, length = 0, got = 1;
    char *text = NULL;
    FILE *file;
    ipt_result result = IPT_SUCCESS;
    if (!context || !path)
        return ipt__fail_null(context ? "path" : "context");
    if (!ipt__is_plain_file(path))
        return ipt__fail(IPT_ERROR_INVALID_ARGUMENT, "path: %s cannot be read: it is not a regular file", path);
    file = fopen(path, "rb");
    if (!file)
        return ipt__fail(IPT_ERROR_INVALID_ARGUMENT, "path: %s cannot be read", path);
    while (got && !result && !ferror(file)) {
        char *const more = length < IPT__WISDOM_MOST ? (char *)ipt__allocate(&context->allocator, capacity *= 2) : NULL;
        if (!more) {
            result = length < IPT__WISDOM_MOST
                         ? IPT_ERROR_OUT_OF_MEMORY
                         : ipt__fail(IPT_ERROR_INVALID_ARGUMENT,
                                     "path: %s is too long for a text of wisdom: %lu bytes at most are read", path,
                                     (unsigned long)IPT__WISDOM_MOST);
            break;
        }
        if (text)
            memcpy(more, text, length);
        ipt__release(&context->allocator, text);
        text = more;
        got = fread(text + length, 1, capacity - length - 1, file);
        length += got;
    }
    if (!result && (ferror(file) || strlen(text) != length))
        result = ipt__fail(IPT_ERROR_INVALID_ARGUMENT, "path: %s cannot be read, or is not a text", path);
    fclose(file);
    if (!result)
        result = ipt_wisdom_import(context, text);
    ipt__release(&context->allocator, text);
    return result;
}

/* ------------------------------------------------------------------------------------------------------------------ */
/* >>plan: measuring                                                                                                  */
/* ------------------------------------------------------------------------------------------------------------------ */

/* Nanoseconds that the device takes for one execution, by its own clock; 0 if it has none. */
static ipt_result ipt__plan_time(ipt_plan *plan, cl_mem buffer, cl_ulong *nanoseconds)
{
    const cl_command_queue queue = plan->context->queue;
    cl_ulong begin = 0, end = 0;
    cl_event before = NULL, after = NULL;
    cl_int error = ipt__cl.clEnqueueMarkerWithWaitList(queue, 0, NULL, &before);
    ipt_result result = error ? ipt__fail_opencl("clEnqueueMarkerWithWaitList", error)
                              : ipt_plan_execute(plan, queue, buffer, 0, 0, NULL, &after);
    if (!result)
        result = ipt__wait_for(after);
    if (!result &&
        (ipt__cl.clGetEventProfilingInfo(before, CL_PROFILING_COMMAND_END, sizeof begin, &begin, NULL) ||
         ipt__cl.clGetEventProfilingInfo(after, CL_PROFILING_COMMAND_END, sizeof end, &end, NULL) || end < begin))
        begin = end = 0;
    *nanoseconds = end - begin;
    if (before)
        ipt__cl.clReleaseEvent(before);
    if (after)
        ipt__cl.clReleaseEvent(after);
    return result;
}

/* Replaces the two-pass layout that the model prefers by the one that wisdom knows, or if the desc asks for it by the
 * fastest of the best ones of each length class. The other layouts have nothing to choose. */
static ipt_result ipt__plan_settle(ipt_plan *plan, size_t budget)
{
    const ipt_plan_desc *const desc = &plan->desc;
    const int measure = (desc->flags & IPT_MEASURE) != 0;
    ipt__layout best = plan->layout;
    cl_ulong best_time = 0;
    cl_mem buffer = measure ? desc->measure_buffer : NULL;
    size_t above, unused;
    ipt_result result = IPT_SUCCESS;
    if (measure && !plan->context->context)
        return ipt__fail(IPT_ERROR_UNSUPPORTED, "flags has IPT_MEASURE, and the context has no device to measure on");
    if (buffer)
        result = ipt__check_buffer(plan, "measure_buffer", buffer, "its offset", 0,
                                   CL_MEM_READ_ONLY | CL_MEM_WRITE_ONLY, NULL);
    if (result || !plan->layout.length || desc->tile_m || desc->tile_n ||
        (desc->sequence != IPT_SEQUENCE_AUTO && desc->sequence != IPT_SEQUENCE_TWO_PASS) ||
        ipt__wisdom_apply(plan, budget) || !measure)
        return result;
    if (!buffer)
        buffer = ipt__buffer_make(plan->context, CL_MEM_READ_WRITE, plan->span_bytes, NULL,
                                  "a temporary matrix for IPT_MEASURE", &unused, &result);
    if (result)
        return result;
    for (above = 0; above < IPT__SUPER_BYTES && !result; above = above ? above * 2 : 128) {
        const size_t most = above ? above * 2 : 128;
        cl_ulong time = 0, once = 0;
        int repeat;
        ipt__layout_best_two_pass(plan, &plan->layout, budget, above, most);
        if (budget ? plan->layout.workspace > budget : plan->layout.workspace > best.workspace)
            continue;
        result = ipt__plan_open(plan);
        for (repeat = 0; repeat < 3 && !result; ++repeat) { /* the first launch may still compile */
            result = ipt__plan_time(plan, buffer, &once);
            time = repeat == 0 || once < time ? once : time;
        }
        ipt__plan_close(plan);
        if (!result && time && (!best_time || time < best_time)) {
            best_time = time;
            best = plan->layout;
        }
    }
    if (!desc->measure_buffer)
        ipt__cl.clReleaseMemObject(buffer);
    plan->layout = best;
    if (best_time) {
        ipt__wisdom learnt = ipt__wisdom_of(plan, budget);
        learnt.length = best.length;
        IPT_LOCK_ACQUIRE(&plan->context->lock);
        ipt__wisdom_add(plan->context, &learnt); /* without memory for it there is none */
        IPT_LOCK_RELEASE(&plan->context->lock);
    }
    return result;
}

/* ------------------------------------------------------------------------------------------------------------------ */
/* >>one-liner                                                                                                        */
/* ------------------------------------------------------------------------------------------------------------------ */

IPT_API ipt_result ipt_transpose(void *data, size_t rows, size_t cols, size_t elem_size)
{
    ipt_context *context = NULL;
    ipt_plan *plan = NULL;
    ipt_plan_desc desc;
    ipt_result result;
    memset(&desc, 0, sizeof desc);
    desc.rows = rows;
    desc.cols = cols;
    desc.elem_size = elem_size;
    if (!data)
        return ipt__fail_null("data");
    result = ipt_context_create(NULL, &context);
    if (!result)
        result = ipt_plan_create(context, &desc, &plan);
    if (!result)
        result = ipt_plan_execute_host(plan, data);
    ipt_plan_destroy(plan);
    ipt_context_destroy(context);
    return result;
}

#if defined(__GNUC__) || defined(__clang__)
#pragma GCC diagnostic pop
#endif

#endif /* IPT_IMPLEMENTATION */
