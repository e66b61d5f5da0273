/* The native driver's threads: they share the parts of one job after the other. */
#ifdef IPT_NATIVE

/* A lock with a condition. Programs may replace the library's lock, but not by one with a condition. */
#if defined(_WIN32)
typedef SRWLOCK ipt__pool_lock;
typedef CONDITION_VARIABLE ipt__pool_condition;
#define IPT__POOL_LOCK_STATIC SRWLOCK_INIT
#define IPT__POOL_CONDITION_STATIC CONDITION_VARIABLE_INIT
#define IPT__POOL_ACQUIRE(lock) AcquireSRWLockExclusive(lock)
#define IPT__POOL_RELEASE(lock) ReleaseSRWLockExclusive(lock)
#define IPT__POOL_WAIT(condition, lock) SleepConditionVariableSRW(condition, lock, INFINITE, 0)
#define IPT__POOL_WAKE(condition) WakeAllConditionVariable(condition)
#define IPT__PROCESS() 1 /* there is no fork */
#else
typedef pthread_mutex_t ipt__pool_lock;
typedef pthread_cond_t ipt__pool_condition;
#define IPT__POOL_LOCK_STATIC PTHREAD_MUTEX_INITIALIZER
#define IPT__POOL_CONDITION_STATIC PTHREAD_COND_INITIALIZER
#define IPT__POOL_ACQUIRE(lock) pthread_mutex_lock(lock)
#define IPT__POOL_RELEASE(lock) pthread_mutex_unlock(lock)
#define IPT__POOL_WAIT(condition, lock) pthread_cond_wait(condition, lock)
#define IPT__POOL_WAKE(condition) pthread_cond_broadcast(condition)
#define IPT__PROCESS() (long)getpid()
#endif

/* Atomic words: the functions return the old value. C99 has none: where neither the compiler nor the system has them, a
 * lock orders all accesses. */
#if !defined(IPT_NATIVE_PLAIN)
static cl_uint ipt__atomic_exchange(volatile cl_uint *word, cl_uint expected, cl_uint stored)
{
    __atomic_compare_exchange_n(word, &expected, stored, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
    return expected;
}
#define IPT__ATOMIC_OR(word, bits) __atomic_fetch_or(word, bits, __ATOMIC_RELAXED)
#define IPT__ATOMIC_ADD(word, added, order) __atomic_fetch_add(word, added, order)
#define IPT__ATOMIC_LOAD(word, order) __atomic_load_n(word, order)
#define IPT__ATOMIC_FENCE(order) __atomic_thread_fence(order)
#elif defined(_WIN32)
static cl_uint ipt__atomic_exchange(volatile cl_uint *word, cl_uint expected, cl_uint stored)
{
    return (cl_uint)InterlockedCompareExchange((volatile LONG *)word, (LONG)stored, (LONG)expected);
}
#define IPT__ATOMIC_OR(word, bits) (cl_uint) InterlockedOr((volatile LONG *)(word), (LONG)(bits))
#define IPT__ATOMIC_ADD(word, added, order) (cl_uint) InterlockedExchangeAdd((volatile LONG *)(word), (LONG)(added))
#define IPT__ATOMIC_LOAD(word, order) (cl_uint) InterlockedOr((volatile LONG *)(word), 0)
#define IPT__ATOMIC_FENCE(order) MemoryBarrier()
#else
static ipt__pool_lock ipt__atomic_mutex = IPT__POOL_LOCK_STATIC;

/* Stores (value & kept) + added in a word of this value, if it is `expected` or any is. */
static cl_uint ipt__atomic_change(volatile cl_uint *word, int any, cl_uint expected, cl_uint kept, cl_uint added)
{
    cl_uint old;
    IPT__POOL_ACQUIRE(&ipt__atomic_mutex);
    old = *word;
    if (any || old == expected)
        *word = (old & kept) + added;
    IPT__POOL_RELEASE(&ipt__atomic_mutex);
    return old;
}

static cl_uint ipt__atomic_exchange(volatile cl_uint *word, cl_uint expected, cl_uint stored)
{
    return ipt__atomic_change(word, 0, expected, 0, stored);
}
#define IPT__ATOMIC_OR(word, bits) ipt__atomic_change(word, 1, 0, ~(cl_uint)(bits), bits)
#define IPT__ATOMIC_ADD(word, added, order) ipt__atomic_change(word, 1, 0, ~0u, added)
#define IPT__ATOMIC_LOAD(word, order) ipt__atomic_change(word, 1, 0, ~0u, 0)
#define IPT__ATOMIC_FENCE(order) ((void)0)
#endif

enum { IPT__POOL_SHARES = 8 }; /* of a job for each thread, so that slower ones take fewer */

/* A job: parts 0 to count - 1, each run once by some thread. */
typedef struct ipt__job {
    void (*run)(const void *job, cl_uint part);
    const void *job;
    cl_uint count, next; /* next: the first part that no thread has taken; atomic */
    cl_uint each;        /* neighbouring parts that a thread takes at a time: they share pages and lines */
} ipt__job;

static ipt__pool_lock ipt__pool_mutex = IPT__POOL_LOCK_STATIC;
static ipt__pool_condition ipt__pool_work = IPT__POOL_CONDITION_STATIC, ipt__pool_done = IPT__POOL_CONDITION_STATIC;

/* Read and written under ipt__pool_mutex. */
static struct ipt__pool {
    ipt__job *job;   /* NULL: helpers may not enter */
    unsigned inside; /* helpers that work on the job */
    unsigned users;  /* contexts */
    unsigned count;  /* of threads */
    int ends, busy;
    long process; /* that has the threads: a child after fork has none of them */
#ifndef IPT_NO_THREADS
    ipt__thread threads[IPT__MOST_THREADS];
#endif
} ipt__pool;

/* Runs parts until all are taken. */
static void ipt__job_work(ipt__job *job)
{
    for (;;) {
        cl_uint part = IPT__ATOMIC_LOAD(&job->next, __ATOMIC_RELAXED), expected, end;
        do {
            expected = part;
            if (part >= job->count)
                return;
            end = job->count - part < job->each ? job->count : part + job->each;
            part = ipt__atomic_exchange(&job->next, expected, end);
        } while (part != expected);
        for (; part < end; ++part)
            job->run(job->job, part);
    }
}

#ifndef IPT_NO_THREADS
static IPT__THREAD_RESULT ipt__pool_main(void *unused)
{
    struct ipt__pool *const pool = &ipt__pool;
    (void)unused;
    IPT__POOL_ACQUIRE(&ipt__pool_mutex);
    while (!pool->ends) {
        ipt__job *const job = pool->job;
        if (!job || IPT__ATOMIC_LOAD(&job->next, __ATOMIC_RELAXED) >= job->count) {
            IPT__POOL_WAIT(&ipt__pool_work, &ipt__pool_mutex);
            continue;
        }
        ++pool->inside;
        IPT__POOL_RELEASE(&ipt__pool_mutex);
        ipt__job_work(job);
        IPT__POOL_ACQUIRE(&ipt__pool_mutex);
        if (!--pool->inside)
            IPT__POOL_WAKE(&ipt__pool_done);
    }
    IPT__POOL_RELEASE(&ipt__pool_mutex);
    return IPT__THREAD_RETURN;
}
#endif

/* Forgets the threads of the parent process. Such a process has one thread yet. */
static void ipt__pool_check_process(void)
{
    if (!ipt__pool.process || ipt__pool.process == IPT__PROCESS())
        return;
#if !defined(_WIN32)
    pthread_mutex_init(&ipt__pool_mutex, NULL);
    pthread_cond_init(&ipt__pool_work, NULL);
    pthread_cond_init(&ipt__pool_done, NULL);
#endif
    ipt__pool.job = NULL;
    ipt__pool.inside = ipt__pool.count = 0;
    ipt__pool.ends = ipt__pool.busy = 0;
    ipt__pool.process = IPT__PROCESS();
}

/* Starts missing threads, up to `wanted` beside the caller's. The lock is held. */
static void ipt__pool_grow(unsigned wanted)
{
#ifndef IPT_NO_THREADS
    while (!ipt__pool.ends && ipt__pool.count < wanted && ipt__pool.count < IPT__MOST_THREADS &&
           IPT__THREAD_START(&ipt__pool.threads[ipt__pool.count], ipt__pool_main, NULL))
        ++ipt__pool.count;
#else
    (void)wanted;
#endif
}

/* Runs a job on the caller's thread and on up to `threads` - 1 others. While another job has them, the caller works
 * alone: kernels never wait for a work-group that is not running. */
static void ipt__pool_run(ipt__job *job, unsigned threads)
{
    struct ipt__pool *const pool = &ipt__pool;
    int mine = 0;
    job->next = 0;
    job->each = (cl_uint)ipt__ceil_divide(job->count, (size_t)IPT__POOL_SHARES * threads);
    ipt__pool_check_process();
    if (threads > 1 && job->count > 1) {
        IPT__POOL_ACQUIRE(&ipt__pool_mutex);
        mine = !pool->busy;
        if (mine) {
            pool->busy = 1;
            ipt__pool_grow((unsigned)ipt__min(threads, job->count) - 1);
            pool->job = job;
            IPT__POOL_WAKE(&ipt__pool_work);
        }
        IPT__POOL_RELEASE(&ipt__pool_mutex);
    }
    ipt__job_work(job);
    if (!mine)
        return;
    IPT__POOL_ACQUIRE(&ipt__pool_mutex);
    pool->job = NULL;
    while (pool->inside)
        IPT__POOL_WAIT(&ipt__pool_done, &ipt__pool_mutex);
    pool->busy = 0;
    IPT__POOL_RELEASE(&ipt__pool_mutex);
}

/* A context begins (1) or ends (-1) to use the pool. The last one ends the threads: the code may be unloaded after it.
 * Until they have ended, other contexts work without threads. */
static void ipt__pool_use(int begins)
{
    struct ipt__pool *const pool = &ipt__pool;
    unsigned ended = 0;
    ipt__pool_check_process();
    IPT__POOL_ACQUIRE(&ipt__pool_mutex);
    pool->users += (unsigned)begins;
    pool->process = IPT__PROCESS();
    if (!pool->users && pool->count) {
        ended = pool->count;
        pool->count = 0;
        pool->ends = 1;
        IPT__POOL_WAKE(&ipt__pool_work);
    }
    IPT__POOL_RELEASE(&ipt__pool_mutex);
    if (!ended)
        return;
#ifndef IPT_NO_THREADS
    while (ended--)
        IPT__THREAD_JOIN(pool->threads[ended]);
#endif
    IPT__POOL_ACQUIRE(&ipt__pool_mutex);
    pool->ends = 0;
    IPT__POOL_RELEASE(&ipt__pool_mutex);
}

#endif
