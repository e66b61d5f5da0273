/* An allocator that counts, and that can fail. */
#ifndef METER_H_INCLUDED
#define METER_H_INCLUDED

#include <pthread.h>
#include <stddef.h>

#include "ipt.h"

/* The state of the allocator; initialise it with METER. Call number fail_at, counted from 1, returns NULL. */
typedef struct meter {
    pthread_mutex_t lock;
    long calls, fail_at, living; /* living: pieces that are not freed */
    size_t bytes, most;          /* bytes of living pieces, now and at most */
} meter;

#define METER                                                                                                          \
    {                                                                                                                  \
        PTHREAD_MUTEX_INITIALIZER, 0, 0, 0, 0, 0                                                                       \
    }

/* This allocator fills pieces with one pattern before use, and with another after use. */
ipt_allocator meter_allocator(meter *count);

#endif
