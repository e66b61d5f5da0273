/* clang-format off */
/* ipt 0.1.0: transposes matrices in place, any shape, any element size, on any OpenCL 1.2 device. MIT licence.
 *
 * CONTENTS                                                search for
 *   What it does                                          >>what
 *   How to include it, a complete program                 >>include
 *   Contexts, plans, shapes                               >>objects
 *   What is promised                                      >>promises
 *   Errors, threads, events                               >>errors
 *   How it works, choosing and forcing                    >>method
 *   Compiled once: cache, embedded and portable programs  >>cache
 *   Matrices in host memory, larger ones, files           >>host
 *   Rotations, reflections, expressions, formats          >>moves
 *   The papers' kernels and heuristics by their names     >>papers
 *   Settings at compile time                              >>settings
 *   Limits of this version                                >>limits
 *   Interface: names, core, host, programs ... batch, mpi  >>interface
 *   Implementation                                        >>implementation
 * A newcomer reads to >>errors, then >>interface/core. The folder gen/doc of ipt's repository has the details:
 * method.md, cache.md, larger.md, papers.md, options.md, limits.md.
 *
 * >>what
 * ipt turns a row-major matrix of rows x cols elements into cols x rows, in the same memory. It needs no second matrix
 * there. By default a plan's workspace takes at most 1 % of the matrices, or 1 MiB if that is more. If a shape needs
 * more, the plan fails with the number of bytes that it needs.
 *
 * >>include
 * Copy ipt.h and ipt_kernels.h into your project. `make single` writes one file that replaces both. Include "ipt.h" in
 * any number of files. In exactly one C or C++ file define IPT_IMPLEMENTATION before. Link OpenCL (-lOpenCL) and, on
 * POSIX systems, threads (-lpthread). With IPT_OPENCL_DYNAMIC, ipt loads OpenCL at run time (link -ldl on older
 * systems). Calls then fail with IPT_ERROR_NO_DEVICE if OpenCL is missing. On Windows the implementation includes
 * windows.h, which defines names such as SIZE and ERROR. A program that uses them keeps the implementation in a file of
 * its own. A file that needs all of windows.h includes it first.
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
 * Otherwise ipt takes a device whose name, or whose platform's name, contains the desc's device_name. Without a
 * device_name it matches the environment's IPT_DEVICE. Without either, any device will do; GPUs come first.
 *   An ipt_plan holds the stages, kernels and workspace that transpose one shape. You can execute it any number of
 * times, on any queue of its context and device. Zeros in a desc mean defaults. A plan retains its context, and a
 * context retains its OpenCL objects. You may therefore destroy them in any order.
 *   rows and cols may be any numbers from 1 up, primes included. elem_size may be any number of bytes. ipt moves
 * elements in units: the largest power of two that divides elem_size, 16 bytes at most. Sizes 1, 2, 4, 8 and 16 are
 * therefore fastest, and 12 is faster than 13. A batch is a number of matrices of one shape, batch_stride bytes apart.
 * For column-major matrices swap rows and cols. Rows may have gaps: row_pitch bytes from row to row before, and
 * row_pitch_out after. Axes of arrays may have strides.
 *
 * >>promises
 * - The buffer holds rows * cols * elem_size bytes for each matrix from byte_offset on, without padding (except with
 *   IPT_PAD). ipt neither reads nor writes bytes outside the matrices, nor those between the matrices of a batch. With
 *   row_pitch it never writes bytes between rows, except where the other form has an element.
 * - ipt_plan_execute only enqueues and flushes. It allocates nothing, compiles nothing and never blocks.
 *   ipt_plan_create allocates the workspace and writes to it once. (An OpenCL implementation may finish compiling a
 *   kernel at its first launch. PoCL does, unless the cache has just supplied or stored the program.)
 * - Executions of host matrices may allocate: device memory, pinned memory, threads. See larger.md.
 * - If ipt_plan_execute fails before it enqueues its first command, the buffer is unchanged.
 * - ipt prints nothing. Its only global state is each thread's error text and, with IPT_OPENCL_DYNAMIC, the table of
 *   OpenCL's functions. ipt itself writes files in the cache folder, and those that a call's argument names
 *   (ipt_wisdom_export_file, ipt_cache_store). OpenCL implementations may keep caches of their own.
 * - No kernel waits for ever. Work-groups wait for others that must run at the same time on GPUs only, and poll a
 *   bounded number of times. Then the launch's last work-group completes the work alone: slowly, but correctly.
 *   IPT_NO_COOPERATIVE avoids these kernels. (Work-groups of IPT_PAD wait only for work-groups that started earlier.)
 *
 * >>errors
 * Every function that can fail returns an ipt_result. ipt_context_error returns a sentence with the argument or field
 * and its value, or the OpenCL call and its error. Each thread has its own text. The context desc's logger receives
 * complete build logs, and the times that IPT_MEASURE compares. IPT_ERROR_INCOMPLETE means that the content is lost:
 * some commands were enqueued, and a later one could not be. You can still use the plan.
 *   A command may fail after enqueueing, or an event in your wait list may fail. The returned event then carries the
 * error. Dependent commands do not run, including an already enqueued execution of the same plan. Later executions are
 * unaffected. Some OpenCL implementations report such errors differently: see limits.md.
 *   Any thread may call any function, on shared contexts and plans. No thread may destroy an object that another one
 * uses. Each command waits for the previous one by event, so in-order and out-of-order queues behave alike. Executions
 * of one plan share its workspace: a new one waits for the previous one on the device, on any queue. The event of
 * ipt_plan_execute completes after the last command. Its profiling times are those of that command.
 *
 * >>method
 * Squares, and matrices that a device's local memories hold, take one pass over memory. Most others exchange bands:
 * one and a half passes. The rest takes two: the first transposes panels of m rows (tall matrices) or m columns (wide
 * ones), which yields super-elements of m elements, and the second shuffles those to their places. ipt_plan_describe
 * returns a plan's stages as text; method.md explains them.
 * - max_workspace limits the workspace. sequence forces a method, or one of Gomez-Luna et al. 2016, section 4.1. With
 *   IPT_SEQUENCE_AUTO or TWO_PASS, tile_m (rows >= cols) or tile_n (rows < cols) is m, if not 0.
 * - IPT_MEASURE times the most promising lengths m and bands on the device, with a temporary matrix or measure_buffer.
 *   The context keeps the choice for all later plans of the shape: its wisdom. ipt_wisdom_export writes wisdom as text.
 * - IPT_CACHE_ONLY never compiles. An earlier plan of the context, the embedded programs or the cache supply programs.
 *
 * >>cache
 * ipt compiles each program once. All plans of a context share its programs. ipt_context_trim releases the unused ones.
 * On disk, context_desc.cache_dir holds one file per program, and one of measured facts about the device. The default
 * is the environment's IPT_CACHE_DIR, else a folder `ipt` in the user's cache folder. "" disables the disk cache, and
 * so does IPT_CACHE_DIR=none. Paths are UTF-8, on Windows as well. Any number of processes may share a folder and be
 * killed at any time. ipt checks the whole file before the driver sees a byte. On POSIX systems it trusts no file or
 * folder that others than you and root can write to; on Windows it cannot check this. An unusable folder or file is no
 * error: ipt then compiles, and reports to the logger.
 *   `ipt precompile ... -o DIR` fills a folder that you can ship. `--embed FILE.h` writes a C header for
 * context_desc.binaries, for targets without a file system. A context with context_desc.profile plans for a device that
 * is elsewhere; `ipt precompile --profile FILE --target T` compiles its programs with clang. See cache.md.
 *
 * >>host
 * ipt_plan_execute_host transposes a matrix in host memory in place. Devices that share the host's memory work in it
 * without a copy, if the matrix is aligned to 16 bytes (on CPUs: to the unit of its elements). On others, desc.host
 * selects the method. By default large matrices go in parts: one is transposed while the next is in transfer. A host
 * matrix may exceed max_device_memory or the device's memory: it then goes in pieces. Such plans take axes and
 * expressions, but no rotations, reflections or formats. ipt_plan_execute_host_async does the same in a thread of its
 * own. ipt_plan_create_split distributes the parts over several devices. ipt_plan_execute_storage transposes a matrix
 * in a file, say, within max_host_memory (larger.md); ipt_mpi_plan_create one over MPI ranks (distributed.md).
 *
 * >>moves
 * desc.move selects a rotation or reflection. desc.expression is a line of OpenCL C that computes each element x anew,
 * exactly once. It may use a, the value of desc.expression_argument: one program "x * a" serves all factors. It may name
 * the place of x in the result: i and j (row and column), i0, i1 and so on (axes), b (matrix of the batch). The native
 * driver has the expressions of the file IPT_NATIVE_EXPRESSIONS, by `ipt precompile --native FILE.h`. desc.from and
 * desc.to select formats: arrays of structures, structures of arrays, tiled ones. method.md has their passes.
 * ipt_batch_create runs an action, yours or one of linear algebra, on very many small matrices: see >>interface/batch.
 *
 * >>papers
 * ipt implements the methods of five documents, for comparison and reproduction. papers.md shows how to select each.
 *   Sung et al. 2014         Sung, Gomez-Luna, Gonzalez-Linares, Guil, Hwu, "In-Place Transposition of Rectangular
 *                            Matrices on Accelerators", PPoPP 2014, doi 10.1145/2555243.2555266
 *   Gomez-Luna et al. 2016   Gomez-Luna, Sung, Chang, Gonzalez-Linares, Guil, Hwu, "In-Place Matrix Transposition on
 *                            GPUs", IEEE TPDS 27(3), 2016, doi 10.1109/TPDS.2015.2412549
 *   Ruetsch et al.           Ruetsch, Micikevicius, Scudiero, "Optimizing Matrix Transpose in CUDA", NVIDIA, 2009-2013
 *   Pomorski                 Pomorski, "Linear Algebra on the GPU", slides, SHARCNET, undated
 *   Ha et al. 2013           Ha, King, Fu, Kirby, "A High-Performance Multi-Element Processing Framework on GPUs",
 *                            UUSCI-2013-005, 2013
 *
 * >>settings
 * Define these for every include of ipt.h alike. options.md has their sizes.
 *   IPT_STATIC             makes all functions private to the including file, which has only those that it uses
 *   IPT_API                precedes every public function, for example an export attribute
 *   IPT_OPENCL_DYNAMIC     loads OpenCL at run time: the library that the environment's IPT_OPENCL_LIBRARY names, else
 *                          the system's
 *   IPT_NO_NATIVE          leaves out the native driver: this CPU without OpenCL, its kernels compiled with ipt. Only
 *                          GCC and clang have it from the start, and only in programs without their own lock
 *   IPT_NATIVE             adds the native driver; its threads are pthread's or Windows'. IPT_NATIVE_PLAIN: for any
 *                          compiler of C99, slower. IPT_THREAD_LOCAL: empty if it has no thread-local variables
 *   IPT_NATIVE_EXPRESSIONS the name of a file by `ipt precompile --native`, in quotes: the native driver's expressions.
 *                          Defined with IPT_IMPLEMENTATION
 *   IPT_CUDA               adds the CUDA driver, which loads libcuda and NVRTC at run time: see cuda.md. It comes with
 *                          IPT_OPENCL_DYNAMIC on Linux and Windows of 64 bits, unless IPT_NO_CUDA
 *   IPT_NO_OPENCL          leaves OpenCL out: reads no header of OpenCL, links with -lpthread alone
 *   IPT_KERNELS_FILE       the name of ipt_kernels.h, or of the single header, if it has another one
 *   IPT_NO_PAPERS          leaves out sequences 1 to 4.3, variants, formats, IPT_PAD, IPT_HOST_STAGES and heuristics
 *   IPT_NO_HOST_STREAMING  host matrices go whole: no overlap, no pieces, one device. Implies IPT_NO_STORAGE
 *   IPT_NO_STORAGE         leaves out ipt_plan_execute_storage and its companions
 *   IPT_NO_BOXES           leaves out the one pass of arrays and of thin matrices: they take several
 *   IPT_NO_VIEWS           leaves out strides and strides_out
 *   IPT_NO_BATCH           leaves out ipt_batch_create and its companions. IPT_MPI adds ipt_mpi_plan_create and its own
 *   IPT_NO_OFFLINE         leaves out profiles and ipt_context_entry, with its companions
 *   IPT_NO_WISDOM          leaves out the functions of wisdom; IPT_MEASURE measures for each plan anew
 *   IPT_NO_DISK_CACHE      leaves out all code that reads and writes cache folders
 *   IPT_NO_KERNEL_SOURCE   leaves out the kernel text: every plan has IPT_CACHE_ONLY, ipt_plan_source returns NULL
 *   IPT_NO_THREADS         starts no threads: no ipt_plan_execute_host_async; the driver transfers pageable matrices
 *   IPT_LOCK_TYPE, IPT_LOCK_STATIC, IPT_LOCK_INIT, IPT_LOCK_DESTROY, IPT_LOCK_ACQUIRE, IPT_LOCK_RELEASE
 *                          your own lock instead of pthread's or SRWLOCK: all six or none
 *   CL_TARGET_OPENCL_VERSION keeps your value (120 or above)
 * What an option leaves out fails with IPT_ERROR_UNSUPPORTED (a missing program with IPT_ERROR_CACHE_MISS) and a
 * sentence that names the option. Functions of storages, wisdom, batches and heuristics are not declared then.
 *
 * >>limits
 * - ipt refuses elements of 2^32 units or more. Panels move elements of 1, 2 or 3 bytes at a quarter of the copy's
 *   speed.
 * - No execution may wait for the event of an unfinished ipt_plan_execute_host_async of the same plan: each would wait
 *   for the other for ever. A cooperative execution waits for the last one of its context, even for one behind a user
 *   event.
 * - ipt refuses Mesa's rusticl on llvmpipe: version 22.3.6 computed wrong results. limits.md has the other limits.
 */
/* clang-format on */
