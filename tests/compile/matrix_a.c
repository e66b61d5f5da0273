/* One half of the compile matrix: the file with the implementation, usually nothing else. The header must compile in
 * every way that a user may include it. tests/compile/compile_matrix.sh defines:
 *   MATRIX_CL_FIRST  the user's own <CL/cl.h> precedes ipt.h
 *   MATRIX_LATE      includes ipt.h first as the interface, later as the implementation
 *   MATRIX_ALONE     matrix_b.c is part of this file instead of another one
 *   MATRIX_UNUSED    this is the whole program, and it calls nothing of ipt.h
 *   MATRIX_OWN       the user provides a lock and an export attribute, and no pthread */
#ifdef MATRIX_OWN
#define IPT_LOCK_TYPE int
#define IPT_LOCK_STATIC 0
#define IPT_LOCK_INIT(lock) (*(lock) = 0)
#define IPT_LOCK_DESTROY(lock) ((void)(lock))
#define IPT_LOCK_ACQUIRE(lock) (++*(lock))
#define IPT_LOCK_RELEASE(lock) (--*(lock))
#ifdef __cplusplus
#define IPT_API extern "C" __attribute__((visibility("default")))
#else
#define IPT_API extern __attribute__((visibility("default")))
#endif
#define pthread_mutex_lock the_user_has_no_pthread
#endif
#ifdef MATRIX_CL_FIRST
#include <CL/cl.h>
#endif
#ifdef MATRIX_LATE
#include "ipt.h"
#endif
#define IPT_IMPLEMENTATION
#include "ipt.h"
#include "ipt.h" /* a second include must change nothing */

#ifdef MATRIX_ALONE
#include "matrix_b.c"
#endif

#ifdef MATRIX_UNUSED
int main(void)
{
    return 0;
}
#endif
