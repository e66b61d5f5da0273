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
