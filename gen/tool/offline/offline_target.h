/* The target of clang, and the choice among the installed LLVMs. */
#ifndef IPT_TOOL_OFFLINE_TARGET_H_INCLUDED
#define IPT_TOOL_OFFLINE_TARGET_H_INCLUDED

#include <stdbool.h>

enum { OFFLINE_MESSAGE_SIZE = 1000 /* of the longest sentence */ };

/* For OFFLINE_CUDA the library calls NVRTC: no program is run. */
typedef enum offline_kind { OFFLINE_PTX, OFFLINE_SPIRV, OFFLINE_BITCODE, OFFLINE_AMDGCN, OFFLINE_CUDA } offline_kind;

typedef struct offline_target {
    offline_kind kind;
    char processor[32]; /* sm_80, gfx90a; empty: none */
    char llvm[16];      /* suffix of LLVM's program names, such as -14; empty: none */
} offline_target;

/* Whether execvp would find a program. */
bool offline_installed(const char *program);

/* Selects the next installed LLVM, if the current one cannot use libclc. false: none is left. */
bool offline_other_llvm(offline_target *target);

/* All functions below that return false put a sentence into message, OFFLINE_MESSAGE_SIZE bytes. */
bool offline_fail(char *message, const char *format, ...);

/* Parses "ptx:sm_80", "spirv", "bitcode", "amdgcn:gfx90a" or "cuda:sm_90". */
bool offline_read_target(const char *text, offline_target *target, char *message);

#endif /* IPT_TOOL_OFFLINE_TARGET_H_INCLUDED */
