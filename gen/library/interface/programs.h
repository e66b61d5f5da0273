/* Programs: the cache, profiles, wisdom. */

/* A compiled program in the format of a cache file, for devices without a file system: see ipt_context_entry. */
struct ipt_binary {
    const void *data; /* any alignment; the caller keeps it in place until the context is freed */
    size_t bytes;
};

/* Releases the programs that no plan of the context uses. Without this call the context retains them for later plans.
 * NULL is fine. */
IPT_API void ipt_context_trim(ipt_context *context);

/* Writes the facts on which plans for this device depend, as lines of text for ipt_context_desc.profile. capacity is
 * the size of text in bytes, including the terminating zero. *bytes (may be NULL) is the size of the whole text, zero
 * included. Builds and runs some kernels to measure these facts. Errors: INVALID_ARGUMENT (also if capacity is too
 * small), BUILD, OPENCL, UNSUPPORTED (IPT_NO_OFFLINE) and others. */
IPT_API ipt_result ipt_context_profile(ipt_context *context, char *text, size_t capacity, size_t *bytes);

/* Returns the number of entries of a context: its programs, and last the measured facts about its device. With all of
 * them a later context compiles nothing. Indices stay valid until ipt_context_trim. 0 for NULL, and with
 * IPT_NO_OFFLINE. */
IPT_API size_t ipt_context_entry_count(const ipt_context *context);

/* Returns the OpenCL C text of entry `index`, and its build options (options may be NULL). NULL beyond the last entry,
 * for entries that are not programs, and with IPT_NO_KERNEL_SOURCE. Lives as long as the entry. */
IPT_API const char *ipt_context_entry_source(const ipt_context *context, size_t index, const char **options);

/* Writes entry `index` in the format of a cache file and of an ipt_binary. capacity is the size of entry in bytes,
 * *bytes the size needed. An entry of NULL only returns that size. If target and code are NULL, the entry holds the
 * code of the device's own compiler. Other devices and drivers refuse such code. Otherwise code is another compiler's
 * output for target, from the entry's source. target is "ptx:sm_NN", "bitcode" (LLVM's for spir64), "spirv" or
 * "amdgcn:NAME". Such code serves all devices and drivers that accept it and need the same source. With the target
 * "cuda:sm_NN", code is NULL, and each call compiles the entry with NVRTC, which needs no GPU: machine code for CUDA's
 * devices of compute capability N.N, and of later ones of the same major version. Errors: INVALID_ARGUMENT (also if
 * capacity is too small), OUT_OF_MEMORY, UNSUPPORTED (a context without a device has no code of its own; no NVRTC;
 * IPT_NO_OFFLINE), BUILD, OPENCL. */
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

/* Adds the text of ipt_wisdom_export to the context's wisdom. Plans of its shapes then follow the text, with
 * IPT_MEASURE or without, and measure nothing. Takes all of the text or nothing. Errors: INVALID_ARGUMENT (with the
 * line's number and the fault; also another version's text), UNSUPPORTED (another device's text), OUT_OF_MEMORY. */
IPT_API ipt_result ipt_wisdom_import(ipt_context *context, const char *text);

/* Write the wisdom to a file, and add a file's wisdom. Further error: INVALID_ARGUMENT if the file cannot be written or
 * read. */
IPT_API ipt_result ipt_wisdom_export_file(ipt_context *context, const char *path);
IPT_API ipt_result ipt_wisdom_import_file(ipt_context *context, const char *path);
#endif

/* Returns the specialised OpenCL C text of the plan's program `index`, counted from 0. NULL beyond the last (a plan
 * with nothing to do has none), and with IPT_NO_KERNEL_SOURCE. Lives as long as the plan. */
IPT_API const char *ipt_plan_source(const ipt_plan *plan, size_t index);
