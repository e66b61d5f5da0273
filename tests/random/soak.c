/* Runs random plans of all kinds in two threads for a given time, and verifies every element and every byte around the
 * matrices. Memory, handles and OpenCL objects must not grow. Time is divided into epochs. At the end of each epoch,
 * all objects of ipt are destroyed, none may remain, and the process is sampled. After a warm-up, the first and the
 * last third of the samples must agree.
 *
 * PoCL 3.1 itself leaks, while any OpenCL context exists, 15 KB for each compiled program and 0.4 to 0.6 KB for each
 * loaded program. It does not leak contexts, queues, buffers, kernels, events or launches. So the plans come from a
 * pool of descs whose programs are compiled once, and the limit of growth depends on the number of programs.
 *
 * Usage: soak [MINUTES] [SEED] [MEGABYTES]; 0: the default. MEGABYTES is the size of the largest matrix. Exit code: 0
 * success, 1 failure, 4 hang. */
#define _POSIX_C_SOURCE 200809L
#include "soak.h"
#define IPT__BLOCK_BYTES_LEAST 1
#define IPT__BUS_RUN_BYTES 1
#define IPT_IMPLEMENTATION
#include "ipt.h"
#if defined(__GNUC__) || defined(__clang__)
#pragma GCC diagnostic ignored "-Wunused-function" /* uses only the random numbers and shapes of stress.h */
#endif
#include "stress.h"
#include "cases.h"

enum {
    THREADS = 2,
    SLOTS = 6,  /* plans of each thread */
    SHARED = 4, /* plans that both threads use */
    EPOCHS = 60,
    SHORTEST_EPOCH = 3, /* seconds */
    LONGEST_EPOCH = 60,
    TIME_LIMIT = 2 * STRESS_TIME_LIMIT /* seconds after which a job counts as hung */
};
static const char cache_folder[] = "build/soak_cache";

/* The allowed growth over the run, in the units of SOAK_FIGURE_LIST: in total, for each created program, and for each
 * compiled program. */
static const double allowed[SOAK_FIGURE_COUNT] = {8192, 2048, 0, 0},
                    allowed_for_program[SOAK_FIGURE_COUNT] = {1, 0.6, 0, 0},
                    allowed_for_compiled[SOAK_FIGURE_COUNT] = {24, 8, 0, 0};

/* The state of a worker of the soak. */
typedef struct hand {
    pthread_t thread;
    place *places[2]; /* the shared context, and the thread's own */
    slot slots[SLOTS];
    size_t next; /* next desc of the pool */
    double until;
} hand;

/* A sample of the process while no object of ipt exists. */
typedef struct look {
    double when;
    size_t programs, compiled, plans;
    long figures[SOAK_FIGURE_COUNT];
} look;

typedef struct soak {
    double start, end;
    uint64_t seed;
    size_t most; /* bytes of the largest matrix */
    cl_device_id device;
    cl_context cl;
    recipe *pool;
    size_t pool_count;
    slot shared[SHARED];
    worker workers[THREADS];
    hand hands[THREADS];
    look *looks;
    size_t look_count, look_capacity, warm; /* the first sample after the warm-up */
    size_t left_over;                       /* epochs that left an object */
    pthread_mutex_t lock;
    unsigned long long wrong_items;
    size_t failures;
} soak;

static soak all; /* global, for the alarm's handler */

/* ------------------------------------------------------------------------------------------------------------------ */
/* Words */
/* ------------------------------------------------------------------------------------------------------------------ */

static void failure_of(worker *me, const slot *its, unsigned long long wrong, const char *what)
{
    char text[1024];
    describe(&its->recipe, text, sizeof text);
    pthread_mutex_lock(&all.lock);
    all.wrong_items += wrong;
    if (all.failures++ < 10)
        fprintf(stderr, "FAILED: %s: thread %zu, %s context, %s\n%s", what, me->number,
                its->place == &me->own ? "own" : "shared", text, ipt_plan_describe(its->plan));
    pthread_mutex_unlock(&all.lock);
}

static void say(const char *text)
{
    const ssize_t ignored = write(STDERR_FILENO, text, strlen(text));
    (void)ignored;
}

static void say_what_is_at_work(void)
{
    size_t t;
    for (t = 0; t < THREADS; ++t) {
        say(all.workers[t].busy ? "at work: " : "not at work, was last: ");
        say(all.workers[t].now);
        say("\n");
    }
}

static void hangs(int signal_number)
{
    (void)signal_number;
    say("HANGS: nothing has ended within the time limit\n");
    say_what_is_at_work();
    _exit(STRESS_HANGS);
}

static void need(int good, const char *what)
{
    if (good)
        return;
    fprintf(stderr, "%s failed; the last error of ipt: %s\n", what, ipt_context_error(NULL));
    fflush(NULL);
    say_what_is_at_work();
    _exit(1); /* no cleanup: the other thread still runs */
}

/* Records the next action of a thread, and starts its time limit. */
static void begins(worker *me, const slot *its, const char *what)
{
    const size_t used =
        (size_t)snprintf(me->now, sizeof me->now, "%s, %s context, ", what, its->place == &me->own ? "own" : "shared");
    describe(&its->recipe, me->now + used, sizeof me->now - used);
    me->busy = 1;
    alarm(TIME_LIMIT);
}
/* ------------------------------------------------------------------------------------------------------------------ */
/* Threads */
/* ------------------------------------------------------------------------------------------------------------------ */

/* Runs one random action of a thread. */
static void do_something(worker *me)
{
    hand *const its = &all.hands[me->number];
    slot *const chosen = &its->slots[between(me, 0, SLOTS - 1)];
    if (one_in(me, 400)) {
        run_one_liner(me);
    } else if (one_in(me, 100)) { /* existing plans retain the old context */
        ipt_context_destroy(me->own.context);
        make_context(me, &me->own);
    } else if (one_in(me, 8)) {
        slot shared = all.shared[between(me, 0, SHARED - 1)];
        shared.place = &me->home;
        run(me, &shared);
    } else if (chosen->plan && one_in(me, 2)) {
        run(me, chosen);
    } else {
        const size_t pass = its->next / all.pool_count, which = its->next % all.pool_count;
        ++its->next;
        if (make_plan(me, chosen, &all.pool[which], its->places[(pass + which + me->number) % 2]))
            run(me, chosen);
    }
}

static void *work(void *user)
{
    worker *const me = (worker *)user;
    hand *const its = &all.hands[me->number];
    int i;
    while (stress_now() < its->until)
        do_something(me);
    for (i = 0; i < SLOTS; ++i) {
        ipt_plan_destroy(its->slots[i].plan);
        its->slots[i].plan = NULL;
    }
    return NULL;
}

/* Creates the contexts of an epoch. One thread's own context has little local memory, the other thread's has its own
 * cl_context. */
static void open_epoch(soak *its, size_t epoch)
{
    static const size_t local[] = {2048, 1024, 8192};
    worker *const first = &its->workers[0];
    size_t t, i = 0;
    make_context(first, &first->home);
    for (t = 0; t < THREADS; ++t) {
        worker *const me = &its->workers[t];
        me->home.context = first->home.context;
        memset(&me->own, 0, sizeof me->own);
        if ((t + epoch) % 2) {
            me->own = me->home;
            me->own.desc.max_local_memory = local[epoch / 2 % 3];
            make_context(me, &me->own);
        } else {
            make_context(me, &me->own);
            me->own.desc.context = ipt_context_cl_context(me->own.context);
            need(!soak_clRetainContext(me->own.desc.context), "clRetainContext");
            open_place(me, &me->own, me->own.desc.context);
        }
    }
    while (i < SHARED) {
        recipe drawn = its->pool[between(first, 0, its->pool_count - 1)];
        if (drawn.way != WAY_ASYNC && drawn.way != WAY_SPLIT)
            i += (size_t)make_plan(first, &its->shared[i], &drawn, &first->home);
    }
}

/* Destroys all objects of ipt. Nothing may remain. */
static void close_epoch(soak *its)
{
    size_t t, i;
    look *const now = &its->looks[its->look_count];
    int left = 0;
    alarm(TIME_LIMIT);
    for (i = 0; i < SHARED; ++i) {
        ipt_plan_destroy(its->shared[i].plan);
        its->shared[i].plan = NULL;
    }
    now->plans = 0;
    for (t = 0; t < THREADS; ++t) {
        worker *const me = &its->workers[t];
        ipt_context_destroy(me->own.context);
        if (me->own.cl != its->cl) {
            close_place(&me->own);
            soak_clReleaseContext(me->own.cl);
        }
        now->plans += me->plans;
    }
    ipt_context_destroy(its->workers[0].home.context);
    soak_settle();
    for (i = 0; i < SOAK_HELD_COUNT; ++i)
        if (soak_held[i]) {
            fprintf(stderr, "LEFT OVER: %ld %s when all plans and contexts were destroyed\n", soak_held[i],
                    soak_held_names[i]);
            soak_held[i] = 0; /* the next sample counts only later objects */
            left = 1;
        }
    its->left_over += left;
    now->when = stress_now() - its->start;
    now->programs = soak_programs_made;
    now->compiled = soak_programs_compiled;
    soak_look(now->figures);
    its->look_count += its->look_count + 1 < its->look_capacity;
}

/* ------------------------------------------------------------------------------------------------------------------ */
/* The whole */
/* ------------------------------------------------------------------------------------------------------------------ */

static void start(soak *its, size_t minutes, size_t seed, size_t megabytes)
{
    char text[1024];
    cl_device_type type = 0;
    ipt_context *context;
    ipt_context_desc desc;
    cl_int error;
    size_t t, i;
    memset(&desc, 0, sizeof desc);
    setenv("IPT_CACHE_DIR", cache_folder, 1);
    soak_keep_heap_tidy();
    need(!ipt_context_create(NULL, &context), "ipt_context_create"); /* to choose the device */
    its->device = ipt_context_cl_device(context);
    need(!ipt_device_describe(its->device, text, sizeof text), "ipt_device_describe");
    ipt_context_destroy(context);
    memset(soak_held, 0, sizeof soak_held);
    clGetDeviceInfo(its->device, CL_DEVICE_TYPE, sizeof type, &type, NULL);
    its->most = 1000000 * (megabytes ? megabytes : type & CL_DEVICE_TYPE_CPU ? 1 : 32);
    its->seed = seed;
    its->start = stress_now();
    its->end = its->start + 60.0 * (double)minutes;
    its->look_capacity = minutes * 60 + EPOCHS + 10;
    its->looks = (look *)malloc(its->look_capacity * sizeof *its->looks);
    need(its->looks != NULL, "malloc");
    memset(its->looks, 0, its->look_capacity * sizeof *its->looks);
    its->warm = its->look_capacity;
    pthread_mutex_init(&its->lock, NULL);
    its->cl = clCreateContext(NULL, 1, &its->device, NULL, NULL, &error);
    need(!error, "clCreateContext");
    for (t = 0; t < THREADS; ++t) {
        worker *const me = &its->workers[t];
        me->number = t;
        me->device = its->device;
        me->cache_dir = cache_folder;
        me->most = its->most;
        me->capacity = its->most * 2 + 1000000;
        me->dice.random = (seed + t) * 0x9e3779b97f4a7c15u | 1;
        me->checker.context = me->home.desc.context = its->cl;
        make_arrays(me);
        open_place(me, &me->home, its->cl);
        its->hands[t].places[0] = &me->home;
        its->hands[t].places[1] = &me->own;
        me->found = clCreateBuffer(its->cl, CL_MEM_READ_WRITE, ROUNDS * sizeof(checker_found), NULL, &error);
        need(!error, "clCreateBuffer");
    }
    memset(soak_held, 0, sizeof soak_held); /* objects that live for the whole run do not count */
    its->pool_count = 120 + 30 * (minutes < 20 ? minutes : 20);
    its->pool = (recipe *)malloc(its->pool_count * sizeof *its->pool);
    need(its->pool != NULL, "malloc");
    for (i = 0; i < its->pool_count; ++i)
        draw_recipe(&its->workers[0], /* each way at least once */
                    i < WAY_ONE_LINER ? (way)i : (way)by_share(&its->workers[0], way_shares, WAY_COUNT), its->most,
                    &its->pool[i]);
    printf("%ssoak of %zu minutes, seed %zu, matrices of up to %.0f MB, %zu descs\n", text, minutes, seed,
           (double)its->most * 1e-6, its->pool_count);
    fflush(stdout);
}

static void show(soak *its)
{
    const look *const now = &its->looks[its->look_count - 1];
    size_t runs = 0, executions = 0, refused = 0;
    unsigned long long bytes = 0;
    size_t t, w;
    for (t = 0; t < THREADS; ++t) {
        const worker *const me = &its->workers[t];
        for (w = 0; w < WAY_COUNT; ++w) {
            runs += me->runs[w];
            refused += me->refused[w];
        }
        executions += me->executions;
        bytes += me->bytes;
    }
    printf("%6.0f s: %zu runs, %zu plans, %zu executions, %.2f GB, %zu refused, %llu wrong items, %zu failures; %ld KB "
           "resident, %ld KB heap, %ld open files, %ld threads, %zu programs made%s\n",
           now->when, runs, now->plans, executions, (double)bytes * 1e-9, refused, its->wrong_items, its->failures,
           now->figures[SOAK_RESIDENT], now->figures[SOAK_HEAP], now->figures[SOAK_HANDLES], now->figures[SOAK_THREADS],
           now->programs, its->look_count - 1 < its->warm ? ", warming up" : "");
    fflush(stdout);
}

static int ascending(const void *a, const void *b)
{
    const long x = *(const long *)a, y = *(const long *)b;
    return (x > y) - (x < y);
}

static long median(const look *looks, size_t count, int figure)
{
    long *const values = (long *)malloc(count * sizeof *values);
    long middle;
    size_t i;
    need(values != NULL, "malloc");
    for (i = 0; i < count; ++i)
        values[i] = looks[i].figures[figure];
    qsort(values, count, sizeof *values, ascending);
    middle = values[count / 2];
    free(values);
    return middle;
}

/* Compares the first and the last third of the samples after the warm-up. */
static int is_flat(const soak *its)
{
    static const char *const names[] = {
#define FIGURE_NAME(name, text, unit) text,
        SOAK_FIGURE_LIST(FIGURE_NAME)};
    const size_t count = its->look_count > its->warm ? its->look_count - its->warm : 0, third = count / 3;
    const look *const first = its->looks + its->warm, *const last = its->looks + its->look_count - third;
    int flat = 1, f;
    size_t programs, compiled;
    if (third < 3) {
        printf("too few looks after the warm-up to say whether memory grows (%zu): more minutes are needed\n", count);
        return 0;
    }
    programs = last[third / 2].programs - first[third / 2].programs;
    compiled = last[third / 2].compiled - first[third / 2].compiled;
    printf("from %.0f s to %.0f s, %zu plans and %zu programs (%zu of them compiled) later:\n", first[third / 2].when,
           last[third / 2].when, last[third / 2].plans - first[third / 2].plans, programs, compiled);
    for (f = 0; f < SOAK_FIGURE_COUNT; ++f) {
        const long before = median(first, third, f), after = median(last, third, f);
        const double limit =
            allowed[f] + allowed_for_program[f] * (double)programs + allowed_for_compiled[f] * (double)compiled;
        const int good = (double)(after - before) <= limit;
        printf("  %-16s %8ld -> %8ld: %+ld, up to %.0f allowed%s\n", names[f], before, after, after - before, limit,
               good ? "" : ": IT GROWS");
        flat = flat && good;
    }
    return flat;
}

/* Prints the runs of each way to execute. Each way must have a successful run. */
static int shows_ways(const soak *its)
{
    int w, good = 1;
    for (w = 0; w < WAY_COUNT; ++w) {
        size_t runs = 0, refused = 0;
        size_t t;
        for (t = 0; t < THREADS; ++t) {
            runs += its->workers[t].runs[w];
            refused += its->workers[t].refused[w];
        }
        printf("  %-22s %8zu runs, %6zu plans refused%s\n", way_names[w], runs, refused, runs ? "" : ": NONE RAN");
        good = good && runs;
    }
    return good;
}

static void stop(soak *its)
{
    size_t t;
    for (t = 0; t < THREADS; ++t) {
        worker *const me = &its->workers[t];
        close_place(&me->home);
        clReleaseMemObject(me->found);
        checker_end(&me->checker);
        free_arrays(me);
    }
    clReleaseContext(its->cl);
    free(its->looks);
    free(its->pool);
}

static size_t argument(int count, char **arguments, int index, size_t otherwise)
{
    const size_t value = count > index ? (size_t)strtoull(arguments[index], NULL, 0) : 0;
    return value ? value : otherwise;
}

int main(int count, char **arguments)
{
    const size_t minutes = argument(count, arguments, 1, 5), seed = argument(count, arguments, 2, time(NULL));
    double length = (double)minutes * 60 / EPOCHS, shown;
    int good;
    size_t epoch, t;
    size_t contexts = 0, cancelled = 0, resumed = 0;
    signal(SIGALRM, hangs);
    alarm(TIME_LIMIT);
    start(&all, minutes, seed, argument(count, arguments, 3, 0));
    length = length < SHORTEST_EPOCH ? SHORTEST_EPOCH : length > LONGEST_EPOCH ? LONGEST_EPOCH : length;
    shown = all.start;
    for (epoch = 0; stress_now() < all.end; ++epoch) {
        open_epoch(&all, epoch);
        for (t = 0; t < THREADS; ++t) {
            all.hands[t].until = stress_now() + length;
            need(!pthread_create(&all.hands[t].thread, NULL, work, &all.workers[t]), "pthread_create");
        }
        for (t = 0; t < THREADS; ++t)
            pthread_join(all.hands[t].thread, NULL);
        close_epoch(&all);
        /* Warm once each thread has made each plan in both contexts. */
        if (all.warm == all.look_capacity && all.hands[0].next >= 2 * all.pool_count &&
            all.hands[1].next >= 2 * all.pool_count)
            all.warm = all.look_count;
        if (stress_now() - shown > 60) {
            shown += 60;
            show(&all);
        }
    }
    alarm(TIME_LIMIT);
    if (stress_now() - shown > 3)
        show(&all);
    good = shows_ways(&all);
    good = is_flat(&all) && good;
    for (t = 0; t < THREADS; ++t) {
        contexts += all.workers[t].contexts;
        cancelled += all.workers[t].cancelled;
        resumed += all.workers[t].resumed;
    }
    good = good && !all.failures && !all.wrong_items && !all.left_over;
    printf("%zu contexts, %zu executions ended in the middle, %zu resumed; %llu wrong items, %zu failures, something "
           "left over at the end of %zu of %zu epochs: %s (seed %zu)\n",
           contexts, cancelled, resumed, all.wrong_items, all.failures, all.left_over, epoch,
           good ? "all is right" : "FAILED", seed);
    stop(&all);
    return !good;
}
