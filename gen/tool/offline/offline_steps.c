#include "offline_steps.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Appends words, up to NULL. */
static void offline_add(offline_step *step, const char *const *words)
{
    while (*words != NULL) {
        step->words[step->count++] = *words++;
    }
    step->words[step->count] = NULL;
}

#define OFFLINE_ADD(step, ...) offline_add(step, (const char *const[]){__VA_ARGS__, NULL})

/* Begins a command with one of LLVM's programs. */
static void offline_begin(offline_step *step, const offline_target *target, const char *program, const char *package)
{
    snprintf(step->program, sizeof step->program, "%s%s", program, target->llvm);
    snprintf(step->package, sizeof step->package, "%s%s", package, target->llvm);
    OFFLINE_ADD(step, step->program);
}

#define OFFLINE_PTX_LIBRARY "/usr/lib/clc/nvptx64--nvidiacl.bc"
#define OFFLINE_AMD_LIBRARY "/usr/lib/clc/amdgcn--amdhsa.bc"

/* Whether the options select a standard later than OpenCL C 1.2. */
static bool offline_later(const char *options)
{
    return strcmp(options, "-cl-std=CL1.2") != 0;
}

/* The PTX version, as LLVM's name of the feature: the first version that supports the processor, and at least 7.4, the
 * first with all instructions of the kernels. Newer LLVMs refuse older versions for a processor. */
static const char *offline_ptx_version(const offline_target *target)
{
    static const struct {
        long processor;
        const char *feature;
    } versions[] = {{120, "+ptx87"}, {103, "+ptx88"}, {100, "+ptx86"}, {89, "+ptx78"}};
    long processor = strtol(target->processor + strlen("sm_"), NULL, 10);
    for (size_t i = 0; i < sizeof versions / sizeof versions[0]; i++) {
        if (processor >= versions[i].processor) {
            return versions[i].feature;
        }
    }
    return "+ptx74";
}

/* clang's command, from k.cl to k.bc, without optimisation. */
static void offline_clang_step(const offline_target *target, const char *options, offline_step *step)
{
    /* OpenCL C 3.0 also for 2.0: in 3.0 the generic address space is optional. No kernel uses it, libclc has no
     * built-ins for it, and some devices lack it. */
    const char *standard = offline_later(options) && target->kind != OFFLINE_PTX ? "-cl-std=CL3.0" : options;
    offline_begin(step, target, "clang", "clang");
    OFFLINE_ADD(step, "-x", "cl", standard, "-O2", "-w", "-fno-caret-diagnostics", "-fno-crash-diagnostics", "-Xclang",
                "-disable-llvm-passes", "-emit-llvm");
    if (target->kind == OFFLINE_PTX) {
        /* With the target nvidiacl, buffers are not .ptr .global, and launches fault. */
        step->library = OFFLINE_PTX_LIBRARY;
        snprintf(step->processor, sizeof step->processor, "%s", target->processor);
        OFFLINE_ADD(step, "--target=nvptx64-nvidia-nvcl", "-Xclang", "-target-cpu", "-Xclang", step->processor,
                    "-Xclang", "-target-feature", "-Xclang", offline_ptx_version(target), "-Xclang",
                    "-mlink-builtin-bitcode", "-Xclang", OFFLINE_PTX_LIBRARY);
    } else if (target->kind == OFFLINE_AMDGCN) {
        step->library = OFFLINE_AMD_LIBRARY;
        snprintf(step->processor, sizeof step->processor, "-mcpu=%s", target->processor);
        OFFLINE_ADD(step, "--target=amdgcn-amd-amdhsa", step->processor, "-nogpulib", "-Xclang",
                    "-mlink-builtin-bitcode", "-Xclang", OFFLINE_AMD_LIBRARY);
        if (offline_later(options)) { /* missing in libclc; clang has other names for these */
            OFFLINE_ADD(step, "-Datomic_load_explicit=__opencl_atomic_load",
                        "-Datomic_fetch_add_explicit=__opencl_atomic_fetch_add",
                        "-Datomic_fetch_or_explicit=__opencl_atomic_fetch_or",
                        "-Datomic_work_item_fence(flags,order,scope)=__builtin_amdgcn_fence(order,\"agent\")");
        }
    } else {
        OFFLINE_ADD(step, "--target=spir64");
        if (offline_later(options)) {
            OFFLINE_ADD(step, "-Xclang",
                        "-cl-ext=-__opencl_c_generic_address_space,-__opencl_c_pipes,-__opencl_c_device_enqueue",
                        "-Dcl_intel_required_subgroup_size");
        }
    }
    OFFLINE_ADD(step, "-c", "k.cl", "-o", "k.bc");
}

/* The commands from k.bc to k.ptx or k.o. The alias analysis of globals is off: in LLVM 14 it ignores barriers and
 * moves a load from a __local array before the barrier that precedes it. clang has no switch for it, opt has. reduce:
 * with the pass for loop strength reduction, the default. */
static void offline_generate_steps(const offline_target *target, bool reduce, offline_step *optimise,
                                   offline_step *generate)
{
    const bool ptx = target->kind == OFFLINE_PTX;
    offline_begin(optimise, target, "opt", "llvm");
    OFFLINE_ADD(optimise, "-passes=default<O2>", "-aa-pipeline=basic-aa,scoped-noalias-aa,tbaa", "k.bc", "-o", "o.bc");
    snprintf(generate->processor, sizeof generate->processor, "-mcpu=%s", target->processor);
    offline_begin(generate, target, "llc", "llvm");
    OFFLINE_ADD(generate, "-O2", "--asm-verbose=0", generate->processor);
    if (!reduce) {
        OFFLINE_ADD(generate, "-disable-lsr");
    }
    if (ptx) {
        OFFLINE_ADD(generate, "-mattr", offline_ptx_version(target), "o.bc", "-o", "k.ptx");
    } else {
        OFFLINE_ADD(generate, "-filetype=obj", "o.bc", "-o", "k.o");
    }
}

const char *offline_steps(const offline_target *target, const char *options, bool reduce,
                          offline_step steps[OFFLINE_STEPS])
{
    memset(steps, 0, OFFLINE_STEPS * sizeof *steps);
    offline_clang_step(target, options, &steps[0]);
    /* SPIR-V and bitcode stay unoptimised. llvm-spirv cannot translate the optimiser's freeze instructions, and may
     * make the order of blocks invalid. Drivers optimise both anyway. */
    if (target->kind == OFFLINE_SPIRV) {
        offline_begin(&steps[1], target, "llvm-spirv", "llvm-spirv");
        strcpy(steps[2].package, "spirv-tools");
        /* A required sub-group size needs SPIR-V 1.1, guaranteed from OpenCL 2.2 on. Source without a required size
         * still becomes SPIR-V 1.0. */
        OFFLINE_ADD(&steps[1], offline_later(options) ? "--spirv-max-version=1.1" : "--spirv-max-version=1.0", "k.bc",
                    "-o", "k.spv");
        OFFLINE_ADD(&steps[2], "spirv-val", "--target-env", offline_later(options) ? "opencl2.2" : "opencl1.2",
                    "k.spv");
        return "k.spv";
    }
    if (target->kind == OFFLINE_BITCODE) {
        return "k.bc";
    }
    offline_generate_steps(target, reduce, &steps[1], &steps[2]);
    if (target->kind == OFFLINE_PTX) {
        return "k.ptx";
    }
    offline_begin(&steps[3], target, "ld.lld", "lld");
    OFFLINE_ADD(&steps[3], "-shared", "--no-undefined", "k.o", "-o", "k.co");
    return "k.co";
}

/* Whether a word needs no quotes in a shell. */
static bool offline_plain(const char *word)
{
    for (; *word != '\0'; word++) {
        if (!isalnum((unsigned char)*word) && strchr("-+_=:,./", *word) == NULL) {
            return false;
        }
    }
    return true;
}

void offline_commands(const offline_target *target, const char *options, char *text, size_t capacity)
{
    offline_step steps[OFFLINE_STEPS];
    size_t length = 0;
    offline_steps(target, options, true, steps);
    if (capacity > 0) {
        text[0] = '\0';
    }
    for (size_t i = 0; i < OFFLINE_STEPS; i++) {
        for (size_t k = 0; k < steps[i].count && length < capacity; k++) {
            const char *quote = offline_plain(steps[i].words[k]) ? "" : "'";
            length += (size_t)snprintf(text + length, capacity - length, "%s%s%s%s", quote, steps[i].words[k], quote,
                                       k + 1 < steps[i].count ? " " : "\n");
        }
    }
}
