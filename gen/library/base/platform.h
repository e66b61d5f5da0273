/* Headers, locks, threads and compilers. */

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "ipt_kernels.h"

#if defined(_WIN32)
/* The least of windows.h, without macros min and max. The program's own settings stay. */
#ifndef WIN32_LEAN_AND_MEAN
#define WIN32_LEAN_AND_MEAN
#define IPT__UNDEFINE_LEAN
#endif
#ifndef NOMINMAX
#define NOMINMAX
#define IPT__UNDEFINE_NOMINMAX
#endif
#include <windows.h>
#ifdef IPT__UNDEFINE_LEAN
#undef WIN32_LEAN_AND_MEAN
#undef IPT__UNDEFINE_LEAN
#endif
#ifdef IPT__UNDEFINE_NOMINMAX
#undef NOMINMAX
#undef IPT__UNDEFINE_NOMINMAX
#endif
#elif defined(IPT_OPENCL_DYNAMIC) || defined(IPT_CUDA)
#include <dlfcn.h>
#include <sys/select.h>
#include <unistd.h>
#endif
#if !defined(_WIN32)
#include <sys/stat.h>
#endif
#if !defined(_WIN32) && defined(IPT_NATIVE)
#include <pthread.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>
#endif
#if !defined(_WIN32) && !defined(IPT_NO_DISK_CACHE)
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>
#if defined(__STRICT_ANSI__) && !defined(__cplusplus)
int fsync(int file); /* hidden by strict C */
#endif
#endif

/* False in a setuid program: its environment belongs to a user with other rights. */
#if defined(_WIN32)
#define IPT__ENVIRONMENT_IS_OWN 1
#else
#define IPT__ENVIRONMENT_IS_OWN (getuid() == geteuid() && getgid() == getegid())
#endif

/* The lock, which a program may replace: define all six macros before the implementation. */
#ifndef IPT_LOCK_TYPE
#if defined(_WIN32)
#define IPT_LOCK_TYPE SRWLOCK
#define IPT_LOCK_STATIC SRWLOCK_INIT
#define IPT_LOCK_INIT(lock) InitializeSRWLock(lock)
#define IPT_LOCK_DESTROY(lock) ((void)(lock))
#define IPT_LOCK_ACQUIRE(lock) AcquireSRWLockExclusive(lock)
#define IPT_LOCK_RELEASE(lock) ReleaseSRWLockExclusive(lock)
#else
#include <pthread.h>
#define IPT_LOCK_TYPE pthread_mutex_t
#define IPT_LOCK_STATIC PTHREAD_MUTEX_INITIALIZER
#define IPT_LOCK_INIT(lock) pthread_mutex_init(lock, NULL)
#define IPT_LOCK_DESTROY(lock) pthread_mutex_destroy(lock)
#define IPT_LOCK_ACQUIRE(lock) pthread_mutex_lock(lock)
#define IPT_LOCK_RELEASE(lock) pthread_mutex_unlock(lock)
#endif
#endif

/* Threads for host matrices. */
#ifndef IPT_NO_THREADS
#if defined(_WIN32)
typedef HANDLE ipt__thread;
#define IPT__THREAD_RESULT DWORD WINAPI
#define IPT__THREAD_RETURN 0
#define IPT__THREAD_START(thread, main, argument) ((*(thread) = CreateThread(NULL, 0, main, argument, 0, NULL)) != NULL)
#define IPT__THREAD_JOIN(thread) (WaitForSingleObject(thread, INFINITE), CloseHandle(thread))
#define IPT__THREAD_DETACH(thread) CloseHandle(thread)
#else
#include <pthread.h>
typedef pthread_t ipt__thread;
#define IPT__THREAD_RESULT void *
#define IPT__THREAD_RETURN NULL
#define IPT__THREAD_START(thread, main, argument) (!pthread_create(thread, NULL, main, argument))
#define IPT__THREAD_JOIN(thread) pthread_join(thread, NULL)
#define IPT__THREAD_DETACH(thread) pthread_detach(thread)
#endif
#endif

#if defined(IPT_THREAD_LOCAL)
#define IPT__THREAD_LOCAL IPT_THREAD_LOCAL
#elif defined(__cplusplus)
#define IPT__THREAD_LOCAL thread_local
#elif defined(_MSC_VER)
#define IPT__THREAD_LOCAL __declspec(thread)
#elif defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L && !defined(__STDC_NO_THREADS__)
#define IPT__THREAD_LOCAL _Thread_local
#else
#define IPT__THREAD_LOCAL __thread
#endif

/* Messages use C99's %zu. mingw-w64's vsnprintf may be msvcrt's, which lacks it. */
#if defined(__MINGW32__)
#define IPT__VSNPRINTF __mingw_vsnprintf
#else
#define IPT__VSNPRINTF vsnprintf
#endif

#if defined(__MINGW32__) && !defined(__clang__)
#define IPT__PRINTF(text, first) __attribute__((format(gnu_printf, text, first)))
#elif defined(__GNUC__) || defined(__clang__)
#define IPT__PRINTF(text, first) __attribute__((format(printf, text, first)))
#else
#define IPT__PRINTF(text, first)
#endif

#ifdef IPT_NO_PAPERS
enum { IPT__PAPERS = 0 }; /* compilers drop the code of formats, double passes and forced kernels */
#else
enum { IPT__PAPERS = 1 };
#endif
#ifdef IPT_NO_BOXES
enum { IPT__BOXES = 0 }; /* and that of arrays that move at once */
#else
enum { IPT__BOXES = 1 };
#endif
#ifdef IPT_NO_VIEWS
enum { IPT__VIEWS = 0 }; /* and that of arrays with gaps */
#else
enum { IPT__VIEWS = 1 };
#endif

#if defined(__GNUC__) || defined(__clang__)
/* For functions that run rarely: on failures, or once for a context, program, plan or host matrix. Compilers make them
 * small. */
#define IPT__RARE __attribute__((cold))
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations" /* clCreateCommandQueue: OpenCL 1.2 has no other */
#else
#define IPT__RARE
#endif
