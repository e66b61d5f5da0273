/* Work-groups of one work-item, as on CPUs. */
#if IPT_GROUP_SIZE == 1
/* Prefetches memory; affects only time. CPUs do not predict accesses whose distance is a row of the matrix. On PoCL the
 * prefetch makes bands a third faster. Without the built-in, and in SPIR-V, the macro is empty. */
#if defined(__has_builtin) && !defined(__SPIR__) && !defined(IPT_PREFETCH)
#if __has_builtin(__builtin_prefetch)
#define IPT_PREFETCH(address) __builtin_prefetch((const void *)(address))
#endif
#endif
#ifndef IPT_PREFETCH
#define IPT_PREFETCH(address)
#endif

/* Values at any address: PoCL's vload and vstore move short units one by one. */
#ifndef IPT_AT_ANY_ADDRESS
#define IPT_AT_ANY_ADDRESS(type, name)                                                                                 \
    typedef struct __attribute__((packed, may_alias)) name {                                                           \
        type value;                                                                                                    \
    } name;
#endif
#define IPT_LOAD_AT_ANY(name, from) (((__global const name *)(from))->value)
#define IPT_STORE_AT_ANY(name, to, stored) (((__global name *)(to))->value = (stored))
#endif
