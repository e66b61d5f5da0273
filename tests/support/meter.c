#include "meter.h"

#include <stdlib.h>
#include <string.h>

enum { HEADER = 64 }; /* bytes before each piece, with its size; a multiple of every alignment */

static void *take(size_t bytes, void *user)
{
    meter *const count = user;
    unsigned char *block = NULL;
    pthread_mutex_lock(&count->lock);
    if (++count->calls != count->fail_at)
        block = malloc(HEADER + bytes);
    if (block) {
        ++count->living;
        count->bytes += bytes;
        count->most = count->bytes > count->most ? count->bytes : count->most;
    }
    pthread_mutex_unlock(&count->lock);
    if (!block)
        return NULL;
    memcpy(block, &bytes, sizeof bytes);
    memset(block + HEADER, 0xA5, bytes);
    return block + HEADER;
}

static void give_back(void *pointer, void *user)
{
    meter *const count = user;
    unsigned char *const block = pointer ? (unsigned char *)pointer - HEADER : NULL;
    size_t bytes = 0;
    if (!block)
        return;
    memcpy(&bytes, block, sizeof bytes);
    memset(block, 0x5A, HEADER + bytes);
    free(block);
    pthread_mutex_lock(&count->lock);
    --count->living;
    count->bytes -= bytes;
    pthread_mutex_unlock(&count->lock);
}

ipt_allocator meter_allocator(meter *count)
{
    const ipt_allocator allocator = {take, give_back, count};
    return allocator;
}
