/* Memory that begins at a page. Include cmocka.h before. */
#ifndef PAGES_H_INCLUDED
#define PAGES_H_INCLUDED

#include <stdlib.h>
#ifdef _WIN32
#include <malloc.h>
#endif

enum { PAGE_BYTES = 4096 };

static inline void *page_memory(size_t bytes)
{
    void *memory = NULL;
#ifdef _WIN32
    memory = _aligned_malloc(bytes, PAGE_BYTES);
#else
    if (posix_memalign(&memory, PAGE_BYTES, bytes))
        memory = NULL;
#endif
    assert_non_null(memory);
    return memory;
}

static inline void page_free(void *memory)
{
#ifdef _WIN32
    _aligned_free(memory);
#else
    free(memory);
#endif
}

#endif
