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
 *   Wisdom: measured choices                              >>wisdom
 *   Matrices in host memory                               >>host
 *   Larger than the device, or than memory                >>larger
 *   Rotations, reflections, expressions, formats          >>moves
 *   The papers' kernels and heuristics by their names     >>papers
 *   Settings at compile time                              >>settings
 *   Limits of this version                                >>limits
 *   Interface                                             >>interface
 *   Implementation                                        >>implementation
 *
 * >>what
 * ipt turns a row-major matrix of rows x cols elements into cols x rows, in the same memory. It needs no second matrix.
 * By default a plan's workspace takes at most 1 % of the matrix, or 1 MiB if that is more. Small matrices and squares
 * need no workspace. The stripped executable of the program below has 396 KB (gcc 12, -O2, x86-64). The kernel text
 * takes 108 KB of these.
 *
 * >>include
 * Copy ipt.h and ipt_kernels.h into your project. `make single` writes one file that replaces both. Include "ipt.h" in
 * any number of files. In exactly one C or C++ file write
 *     #define IPT_IMPLEMENTATION
 *     #include "ipt.h"
 * Link OpenCL (-lOpenCL) and, on POSIX systems, threads (-lpthread). With IPT_OPENCL_DYNAMIC, ipt loads OpenCL at run
 * time (link -ldl on older systems). Calls then fail with IPT_ERROR_NO_DEVICE if OpenCL is missing.
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
 * ipt_transpose creates and destroys a context on every call, and so loads its kernels each time. Programs that
 * transpose more than once keep a context and plans:
 *     ipt_context *context;
 *     ipt_plan *plan;
 *     ipt_plan_desc desc = {0};
 *     desc.rows = 1000;
 *     desc.cols = 777;
 *     desc.elem_size = sizeof(float);
 *     ipt_context_create(NULL, &context);
 *     ipt_plan_create(context, &desc, &plan);
 *     ipt_plan_execute_host(plan, matrix);                                  // host memory
 *     ipt_plan_execute(plan, queue, buffer, 0, 0, NULL, &event);            // your cl_mem
 *     ipt_plan_destroy(plan);
 *     ipt_context_destroy(context);
 *
 * >>objects
 * An ipt_context holds one OpenCL device and the programs built for it. You may pass your own cl_context and device.
 * Otherwise ipt creates a context; ipt_context_cl_context and ipt_context_cl_device return what it uses. ipt takes the
 * desc's device if there is one. Otherwise it takes a device whose name, or whose platform's name, contains the desc's
 * device_name. Without a device_name it matches the environment's IPT_DEVICE. Without either, any device will do. Among
 * several devices a GPU comes first.
 *   An ipt_plan holds the stages, kernels and workspace that transpose one shape. You can execute it any number of
 * times, on any queue of its context and device. You fill descs to create both; zeros mean defaults. A plan retains its
 * context, and a context retains its OpenCL objects. You may therefore destroy them in any order.
 *
 * >>shapes
 * rows and cols may be any numbers from 1 up, primes included. elem_size may be any number of bytes. ipt moves elements
 * in units: the largest power of two that divides elem_size, 16 bytes at most. Sizes 1, 2, 4, 8 and 16 are therefore
 * fastest, and 12 is faster than 13. A batch is a number of matrices of one shape, batch_stride bytes apart. Every
 * stage processes the whole batch in the same launches, as far as the workspace allows. For column-major matrices swap
 * rows and cols.
 *
 * >>promises
 * - The buffer holds rows * cols * elem_size bytes for each matrix from byte_offset on, without padding (except with
 *   IPT_PAD). ipt neither reads nor writes bytes outside the matrices, nor those between the matrices of a batch.
 * - ipt_plan_execute only enqueues and flushes. It allocates nothing, compiles nothing and never blocks. Creating the
 *   plan allocates all memory and writes to it once. (An OpenCL implementation may finish compiling a kernel at its
 *   first launch. PoCL does, unless the cache has just supplied or stored the program.)
 * - If ipt_plan_execute fails before it enqueues its first command, the buffer is unchanged.
 * - ipt prints nothing. Its only global state is each thread's error text and, with IPT_OPENCL_DYNAMIC, the table of
 *   OpenCL's functions. It writes files in the cache folder, and those that a call's argument names
 *   (ipt_wisdom_export_file, ipt_cache_store). It writes no others.
 * - Nothing hangs. Kernels whose work-groups wait for others that must run at the same time run on GPUs only. Each wait
 *   is bounded. If a wait expires, the launch's last work-group completes the work alone: slowly, but correctly.
 *   IPT_NO_COOPERATIVE avoids these kernels. (Work-groups of IPT_PAD wait only for work-groups that started earlier.)
 *
 * >>errors
 * Every function that can fail returns an ipt_result. ipt_context_error returns a sentence about the failure. The
 * sentence names the argument or field with its value, or the OpenCL call with its error. Each thread has its own text,
 * which stays until the thread's next failure. The context desc's logger receives complete build logs.
 *   IPT_ERROR_INCOMPLETE means that the content is lost: some commands were enqueued, and a later one could not be. You
 * can still use the plan.
 *   A command may fail after enqueueing, or an event in your wait list may fail. The returned event then carries the
 * error. Dependent commands do not run, including an already enqueued execution of the same plan. Later executions are
 * unaffected. Some OpenCL implementations report such errors differently:
 * - With NVIDIA's driver clWaitForEvents succeeds; only the event's status carries the error.
 * - With Intel's CPU runtime clWaitForEvents fails; the event's status does not carry the error.
 * - PoCL 3.1 may end the process if several commands depend on the failed one.
 * - Intel's CPU runtime may end the process if a wait list has two failed events.
 *   ipt refuses Mesa's rusticl on llvmpipe, because its results are wrong. If a device lacks a feature, ipt falls back
 * to other kernels or returns IPT_ERROR_UNSUPPORTED.
 *
 * >>threads
 * Any thread may call any function, on shared contexts and plans. Only one thing is an error: to destroy an object that
 * another thread uses. ipt holds a lock while it enqueues a plan's commands, not while they run. Each command waits for
 * the previous one by event. In-order and out-of-order queues therefore behave alike. Executions of one plan share its
 * workspace. A new execution waits for the previous one on the device, on whatever queue that is. The event of
 * ipt_plan_execute completes after the last command. Its profiling times are those of that command.
 *
 * >>method
 * A stage has parameters (instances, A, B, b). It turns that many independent A x B grids of super-elements into B x A
 * grids. A super-element has b elements. ipt_plan_describe returns a plan's stages as text. These kernels serve stages:
 *   tile      a work-group holds whole instances in local memory, on a GPU as many as fit
 *   swap      square instances, tile pair by tile pair
 *   wave      instances pass through slabs of the workspace in two launches, one instance per slab at a time
 *   panel     on GPUs: several work-groups hold an instance, a chunk each, and wait until all of it has been read
 *   shuffle   super-elements follow the cycles of the permutation; one bit per slot marks those already moved
 *   chains    the same on GPUs: a sub-group follows several chains, with a load and a claim of each in flight
 *   flip      pairs of elements swap places: reflections, and the part of a rotation beyond its transposition
 *   map       applies the expression if no other stage can
 * One stage transposes squares and matrices that fit into a work-group's local memory. GPUs add another case: matrices
 * that fit into the local memory of all work-groups that run at the same time.
 *   All other matrices take two passes over memory. These extend sequences 2.1 and 2.2 of Gomez-Luna et al. 2016 to all
 * shapes. Let the longer side be R = m * P + r. The first pass transposes panels of m rows (tall matrices) or m columns
 * (wide ones). This yields super-elements of m elements. The second pass shuffles them. A plan saves the remaining r
 * rows or columns first and restores them last. From the start, the shuffle's slots lie where the rows of the result
 * will be: slot t begins at (t div P) * R + (t mod P) * m. A panel's slots therefore reach into the next panel's
 * memory, but no further. The plan writes panels in an order in which that next panel has already been read.
 *
 * >>choosing
 * - max_workspace limits the workspace. If it is too small, the error states a sufficient size.
 * - sequence forces the two-pass method or a sequence of Gomez-Luna et al. 2016, section 5.1. tile_m and tile_n are the
 *   factors: M = M' * m, N = N' * n. Sequences 1 and 2.1 to 4.3 need factors that divide; two-pass does not. With
 *   IPT_SEQUENCE_AUTO, tile_m (rows >= cols) or tile_n (rows < cols) is the length of a super-element, if any.
 * - IPT_MEASURE times the most promising lengths on the device. Meanwhile it needs a temporary matrix or
 *   measure_buffer.
 * - IPT_CACHE_ONLY never compiles. An earlier plan of the context, the embedded programs or the cache supply programs.
 * - IPT_NO_COOPERATIVE forbids kernels whose work-groups wait for one another. Wave stages then replace panel stages.
 *   The first plan that needs such kernels counts the work-groups that run at the same time. This takes some
 * milliseconds. The context desc's resident_groups replaces the count. If the count is below the number of compute
 * units, the device may have been busy. The next three plans then count again. If counting fails, plans do not use such
 * kernels as long as the context lives.
 *
 * >>cache
 * ipt compiles each program once. All plans of a context share its programs in memory. ipt_context_trim releases the
 * unused ones. On disk, context_desc.cache_dir holds one file per program. It defaults to the environment's
 * IPT_CACHE_DIR, else to a folder `ipt` in the user's cache folder. "" disables the disk cache.
 *   A file's name is the start of a key's hash; the file contains the full key. The key names the specialised source's
 * hash, the options, and the device with its vendor, driver and platform. ipt checks the whole file (SHA-256) before
 * the driver sees a byte. It writes a temporary file beside the target, flushes and renames it. Any number of processes
 * may therefore share a folder and be killed at any time. ipt does not trust files and folders that others than you and
 * root can write to. (On Windows ipt cannot check this: name a folder of your own.) A full disk, a read-only or missing
 * folder or a damaged file is no error. ipt then compiles the program from source and reports to the logger only.
 *   The files also record measured facts about the device (residency, sub-groups, local memory that builds). Above
 * cache_limit ipt removes the oldest files. It counts and removes only files whose names it makes: 32 hexadecimal
 * digits and .ipt. It removes them only if they begin as ipt's files do.
 *   `ipt precompile ... -o DIR` writes a folder that you can ship read-only. Only you can read it: chmod it first.
 * `--embed FILE.h` writes the same as a C header for context_desc.binaries, for targets without a file system. With
 * IPT_CACHE_ONLY ipt compiles nothing from source. A missing program is then IPT_ERROR_CACHE_MISS; the error text
 * contains the key. The same holds for devices without a compiler.
 *   You can compile for a device that is not at hand. `ipt devices --profile` on the target writes all facts that plans
 * depend on (ipt_context_profile). A context with context_desc.profile creates plans without any device.
 * `ipt precompile --profile FILE --target T` compiles their sources by clang: to PTX, LLVM bitcode, SPIR-V or code for
 * AMD GPUs. ipt finds such code by source and target, not by driver. It therefore outlives driver updates.
 *
 * >>wisdom
 * A context keeps the choices that IPT_MEASURE makes. All later plans of a shape use them, with IPT_MEASURE or without.
 * You can keep them as text: ipt_wisdom_export, ipt_wisdom_import, `ipt tune SHAPES -o FILE`. The text is valid for one
 * version of its format and one device name and vendor. An import takes all of it or nothing.
 *
 * >>host
 * ipt_plan_execute_host transposes a matrix in host memory in place. desc.host selects the method. Some devices share
 * the host's memory (CPUs, integrated GPUs). They work in it directly, without a copy, if the matrix is aligned to 16
 * bytes (on CPUs: to the unit of its elements). Otherwise ipt moves the matrix in parts, cut along its longer side. The
 * device transposes a part while the next part is in transfer. The transfer also does the shuffle of the two-pass
 * method: it puts the rows of a part in their places. This takes hardly longer than an upload and a download of the
 * same bytes. ipt cuts batches between matrices, and uploads and downloads at the same time. Memory of ipt_host_alloc
 * is pinned, and transferred directly. Other memory passes through pinned buffers (64 MiB), which eight threads fill
 * and empty. This is two to three times as fast as pageable transfers by NVIDIA's driver.
 *   ipt_plan_execute_host_async does the same in a thread of its own. A callback reports progress and can cancel. ipt
 * writes to the host's matrix only after all of it is on the device and transposed. (Batches: all of a part. Stages:
 * the one that needs the whole matrix is done.) An earlier cancellation or failure leaves the matrix unchanged. A later
 * one returns IPT_ERROR_INCOMPLETE.
 *   ipt_plan_create_split distributes the parts over the devices of several contexts of one cl_context.
 *
 * >>larger
 * A host matrix may exceed max_device_memory or the device's memory. It then passes through the device in pieces, with
 * uploads and downloads at the same time. The pieces are blocks under three conditions. The matrix is in memory of
 * ipt_host_alloc, and a quarter of it or more fits. It has at least about 80 MB. Its elements have at most about 64
 * bytes. The device holds the blocks whose final place is still occupied. ipt downloads those that do not fit, and
 * uploads them again later. If a quarter of the matrix fits, this adds up to a sixth to the traffic. If half fits, it
 * adds nothing.
 *   Other matrices are cut along their longer side into panels. ipt uploads a panel, transposes it and downloads it to
 * its old place. The super-elements are then as long as a panel. Threads of the host put them in their places cycle by
 * cycle, after the panels (wide matrices: before them). Every byte crosses the bus once in each direction. ipt takes
 * several matrices of a batch at a time, if they are small. From the first downloaded byte on, a failure is
 * IPT_ERROR_INCOMPLETE.
 *   Devices also limit the bytes of one buffer (CL_DEVICE_MAX_MEM_ALLOC_SIZE), but some accept more. A plan tries the
 * size that it wants first. If the device refuses it, the plan takes a smaller workspace. Host matrices then go in
 * pieces, in buffers within the device's limit. IPT_HOST_SYNCHRONOUS, IPT_HOST_STAGES and IPT_HOST_SHARED take no
 * pieces: they return IPT_ERROR_OUT_OF_MEMORY. Plans of ipt_plan_create_split send the pieces through the first device.
 *   ipt_plan_execute_storage does the same, by panels, to a matrix that your functions read and write: in a file, say.
 * It takes max_host_memory bytes of host memory. If super-elements would be short, it moves blocks of many of them and
 * sorts these in a third pass. The execution runs in steps. Before a step writes its first byte, ipt calls `ready` with
 * the step's number and the only new piece of ipt_storage.memory. Keep this memory, or each piece at its place, and the
 * number of the last step. You can then resume from that step after any crash. ipt_plan_storage_needs returns which
 * pieces a resumption needs. `ipt transpose` keeps the memory in a mapped file, with a checksum of each piece. It so
 * survives kills and refuses a damaged journal.
 *
 * >>moves
 * desc.move selects a rotation or reflection instead of a transposition. Small matrices of a batch, which fit into
 * local memory, still take one pass. Reflections and rotations by 180 degrees alone do, too. Other rotations add a pass
 * after the transposition, which reverses each row or the sequence of rows.
 *   desc.expression is a line of OpenCL C. ipt compiles it into a stage that handles every element exactly once. It
 * costs no extra pass, with two exceptions: sequence 1, which follows cycles element by element, and large matrices
 * that are only reflected or rotated by 180 degrees.
 *   desc.from and desc.to select formats, AoS, SoA and ASTA among them. These are arrays of structures, structures of
 * arrays and arrays of structures of tiled arrays. They hold rows structures of cols fields. In ASTA a tile has tile_m
 * structures, and tile_m must divide rows.
 *
 * >>papers
 * ipt implements five documents:
 *   Sung et al. 2014         Sung, Gomez-Luna, Gonzalez-Linares, Guil, Hwu, "In-Place Transposition of Rectangular
 *                            Matrices on Accelerators", PPoPP 2014, doi 10.1145/2555243.2555266
 *   Gomez-Luna et al. 2016   Gomez-Luna, Sung, Chang, Gonzalez-Linares, Guil, Hwu, "In-Place Matrix Transposition on
 *                            GPUs", IEEE TPDS 27(3), 2016, doi 10.1109/TPDS.2015.2412549
 *   Ruetsch et al.           Ruetsch, Micikevicius, Scudiero, "Optimizing Matrix Transpose in CUDA", NVIDIA, 2009-2013
 *   Pomorski                 Pomorski, "Linear Algebra on the GPU", slides, SHARCNET, undated
 *   Ha et al. 2013           Ha, King, Fu, Kirby, "A High-Performance Multi-Element Processing Framework on GPUs",
 *                            UUSCI-2013-005, 2013
 * Their methods have names here, for comparison and reproduction:
 *   sequences 1 to 4.3     desc.sequence, with tile_m and tile_n. 4.3 is 4.1 with its middle stages fused
 *   BS, PTTWAC 010!        desc.variant_010, for stages that move single elements within tiles
 *   PTTWAC 100!            desc.variant_100, for stages that move super-elements, and for sequence 1
 *   P-IPT                  desc.variant_010 or desc.variant_100
 *   spreading of flags     desc.flag_spread: 32 gives each flag a word of its own
 *   padding                IPT_PAD; desc.variant_pad selects the published chain of work-groups, which is far slower
 *   block formats          desc.from and desc.to: any into any other, in at most three stages
 *   batches (Ha et al.)    desc.variant_010 with sequence auto (work-item, sub-group, work-group per matrix) or square
 *   data adapters          desc.from and desc.to with AoS, SoA, ASTA, and desc.expression
 *   heuristics             ipt_heuristic_tiles, ipt_heuristic_sequence ... Plans use them for IPT_PAD only
 * All use a claim protocol that is correct on devices with weakly ordered memory. The published protocols are not.
 *
 * >>settings
 * Define these before the include with IPT_IMPLEMENTATION, or all of them for every include:
 *   IPT_STATIC             makes all functions private to the including file
 *   IPT_API                precedes every public function, for example an export attribute
 *   IPT_OPENCL_DYNAMIC     loads OpenCL at run time
 *   IPT_NO_DISK_CACHE      leaves out all code that reads and writes cache folders
 *   IPT_NO_PAPERS    leaves out the heuristics and the kernels that only reproduce the papers
 *   IPT_LOCK_TYPE, IPT_LOCK_STATIC, IPT_LOCK_INIT, IPT_LOCK_DESTROY, IPT_LOCK_ACQUIRE, IPT_LOCK_RELEASE
 *                          your own lock instead of pthread's or SRWLOCK: all six or none
 *   IPT_NO_THREADS         starts no threads: no ipt_plan_execute_host_async; the driver transfers pageable matrices
 *   CL_TARGET_OPENCL_VERSION keeps your value (120 or above)
 *
 * >>limits
 * - NVIDIA's driver returns PTX as a program's binary. Each process compiles it again to machine code, if the driver's
 *   own cache is empty or disabled. This takes 0.05 to 0.3 s for a program, instead of 0.2 to 0.6 s from source.
 * - If the size of files is limited (RLIMIT_FSIZE), writing the cache may raise SIGXFSZ, as any write does.
 * - Without max_device_memory, ipt_plan_execute_host takes as much device memory as the matrix has, if available.
 *   Overlapped plans keep it between calls.
 * - A plan for a cut matrix can only transpose. Beside the matrix, the host's memory needs 3 MB and some blocks for the
 *   shuffle.
 * - ipt refuses elements of 2^32 units or more. Panels move elements of 1, 2 or 3 bytes by their own size, at a quarter
 *   of the copy's speed.
 * - ipt uses sub-groups of 8, 16 or 32 work-items: by PTX on NVIDIA devices, else by cl_intel_subgroups or
 *   cl_khr_subgroups. Each program that uses these extensions transposes three small grids before a plan uses it. If a
 *   byte differs, work-groups of 32 replace the sub-groups. ipt never uses PoCL's sub-groups. PoCL makes them of
 *   work-groups. Its versions 5.0 and 6.0 mix up the results of two reductions without a barrier between them.
 * - An execution must not wait for the event of an unfinished ipt_plan_execute_host_async of the same plan. Each would
 *   wait for the other for ever.
 * - A cooperative execution waits for the last one of its context, even if that one waits for a user event. If that
 *   event is set to an error, both fail.
 * - ipt refuses Mesa's rusticl on llvmpipe: version 22.3.6 computed wrong results.
 */
/* clang-format on */
