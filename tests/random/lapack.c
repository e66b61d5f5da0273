/* Ready actions of batch plans against LAPACK, by LAPACKE: random actions, types, sides, models and layouts. Of each
 * element both results go into the residual of LAPACK's own tests, over n * eps times the norms of what it is made of,
 * and the numbers in info must be equal. Usage: lapack CASES [SEED]; exits with 77 without LAPACKE. */
#define IPT_IMPLEMENTATION
#include "ipt.h"

#include <complex.h>
#include <dlfcn.h>
#include <float.h>
#include <math.h>
#include <stdint.h>

typedef double complex number;

enum { SKIPPED = 77, ROW_MAJOR = 101, BOUND = 30, MOST_SIDE = 40 };

static const struct {
    const char *name;
    char letter;
    size_t bytes;
    int is_complex;
    double eps;
} types[] = {{"float", 's', 4, 0, FLT_EPSILON},
             {"double", 'd', 8, 0, DBL_EPSILON},
             {"float2", 'c', 8, 1, FLT_EPSILON},
             {"double2", 'z', 16, 1, DBL_EPSILON}};

/* Functions of LAPACKE, which are alike for all types but for the pointers' targets. */
typedef int (*factor_function)(int, char, int, void *, int);
typedef int (*solve_function)(int, char, int, int, const void *, int, void *, int);
typedef int (*lu_function)(int, int, int, void *, int, int *);
typedef int (*lu_solve_function)(int, char, int, int, const void *, int, const int *, void *, int);
typedef int (*inverse_function)(int, int, void *, int, const int *);
typedef int (*triangle_function)(int, char, char, char, int, int, const void *, int, void *, int);
typedef struct lapack {
    factor_function potrf;
    solve_function potrs;
    lu_function getrf;
    lu_solve_function getrs;
    inverse_function getri;
    triangle_function trtrs;
} lapack;

static lapack functions[sizeof types / sizeof *types];
static ipt_context *context;
static cl_command_queue queue;
static int doubles;
static double worst[2]; /* residuals: ours, LAPACK's */
static size_t elements, other_pivots;

static void fail(const char *what)
{
    fprintf(stderr, "FAILED: %s: %s\n", what, ipt_context_error(NULL));
    exit(EXIT_FAILURE);
}

static uint64_t state;
static size_t between(size_t least, size_t most)
{
    uint64_t value = state += 0x9e3779b97f4a7c15u;
    value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9u;
    value = (value ^ value >> 27) * 0x94d049bb133111ebu;
    return least + (size_t)((value ^ value >> 31) % (most - least + 1));
}

static int load(void *library, char letter, const char *name, void *function)
{
    char whole[32];
    void *found;
    snprintf(whole, sizeof whole, "LAPACKE_%c%s", letter, name);
    found = dlsym(library, whole);
    memcpy(function, &found, sizeof found); /* C has no cast from an object pointer to a function pointer */
    return found != NULL;
}

static int load_all(void)
{
    void *library = dlopen("liblapacke.so.3", RTLD_NOW | RTLD_LOCAL);
    int loaded = library != NULL;
    for (size_t t = 0; t < sizeof types / sizeof *types && loaded; ++t) {
        const char letter = types[t].letter;
        lapack *const of = &functions[t];
        loaded = load(library, letter, "potrf", &of->potrf) && load(library, letter, "potrs", &of->potrs) &&
                 load(library, letter, "getrf", &of->getrf) && load(library, letter, "getrs", &of->getrs) &&
                 load(library, letter, "getri", &of->getri) && load(library, letter, "trtrs", &of->trtrs);
    }
    return loaded;
}

/* Numbers of a type in memory. */
static void put(unsigned char *to, size_t type, number value)
{
    const float parts[2] = {(float)creal(value), (float)cimag(value)};
    const double long_parts[2] = {creal(value), cimag(value)};
    memcpy(to, types[type].eps == FLT_EPSILON ? (const void *)parts : (const void *)long_parts, types[type].bytes);
}

static number get(const unsigned char *from, size_t type)
{
    float parts[2] = {0, 0};
    double long_parts[2] = {0, 0};
    memcpy(types[type].eps == FLT_EPSILON ? (void *)parts : (void *)long_parts, from, types[type].bytes);
    return types[type].eps == FLT_EPSILON ? parts[0] + I * parts[1] : long_parts[0] + I * long_parts[1];
}

static number random_number(size_t type)
{
    const double real = (double)between(0, 2000000) / 1000000 - 1;
    return types[type].is_complex ? real + I * ((double)between(0, 2000000) / 1000000 - 1) : real;
}

/* An operand of all elements, in rows, element after element. */
typedef struct operand {
    const char *name;
    size_t rows, cols;
    ipt_access access;
    unsigned char *before, *after; /* on the device */
} operand;

typedef struct trial {
    ipt_action action;
    unsigned options;
    size_t type, count, n, m, operand_count;
    operand operands[4]; /* A, then B, pivots and info as the action has them */
} trial;

static size_t bytes_of(const trial *t, const operand *of)
{
    return of->rows * of->cols * (of->name[1] ? sizeof(int) : types[t->type].bytes);
}

static const operand *find(const trial *t, const char *name)
{
    for (size_t k = 0; k < t->operand_count; ++k)
        if (!strcmp(t->operands[k].name, name))
            return &t->operands[k];
    return NULL;
}

/* Component q of element e, as numbers. */
static number value(const trial *t, const unsigned char *data, size_t components, size_t e, size_t q)
{
    return get(data + (e * components + q) * types[t->type].bytes, t->type);
}

static void add(trial *t, const char *name, size_t rows, size_t cols, ipt_access access)
{
    operand *const made = &t->operands[t->operand_count++];
    *made = (operand){.name = name, .rows = rows, .cols = cols, .access = access};
    made->before = calloc(t->count, bytes_of(t, made));
    made->after = malloc(t->count * bytes_of(t, made));
    if (!made->before || !made->after)
        fail("malloc");
    if (!name[1])
        for (size_t i = 0; i < t->count * rows * cols; ++i)
            put(made->before + i * types[t->type].bytes, t->type, random_number(t->type));
}

/* A: definite for Cholesky, of a modest condition for triangles; one in five is not definite, or singular. */
static void shape(trial *t)
{
    const size_t n = t->n, size = types[t->type].bytes;
    for (size_t e = 0; e < t->count; ++e) {
        unsigned char *const a = t->operands[0].before + e * n * n * size;
        const int spoilt = between(0, 4) == 0;
        const size_t at = between(0, n - 1);
        for (size_t i = 0; i < n; ++i)
            for (size_t j = 0; j < n; ++j) {
                const number its = get(a + (i * n + j) * size, t->type);
                if (t->action == IPT_ACTION_POSV && i == j)
                    put(a + (i * n + j) * size, t->type, spoilt && i == at ? -1 : 2 * (double)n + fabs(creal(its)));
                else if (t->action == IPT_ACTION_POSV && j > i)
                    put(a + (i * n + j) * size, t->type, conj(get(a + (j * n + i) * size, t->type)));
                else if (t->action == IPT_ACTION_TRSM)
                    put(a + (i * n + j) * size, t->type, i == j ? 2 + fabs(creal(its)) : its / (double)n);
                else if (t->action == IPT_ACTION_GESV && spoilt && j == at)
                    put(a + (i * n + j) * size, t->type, 0);
            }
    }
}

/* Runs the batch by ipt. Returns 0 if the device has no memory for the model. */
static int run(trial *t)
{
    ipt_batch_operand operands[4];
    ipt_batch_buffer buffers[4];
    ipt_batch_desc desc = {.count = t->count,
                           .operands = operands,
                           .operand_count = t->operand_count,
                           .ready = t->action,
                           .options = t->options,
                           .model = (ipt_model)between(0, IPT__MODEL_COUNT - 1)};
    ipt_batch *batch;
    ipt_result result;
    for (size_t k = 0; k < t->operand_count; ++k) {
        const operand *const its = &t->operands[k];
        operands[k] = (ipt_batch_operand){.name = its->name,
                                          .type = its->name[1] ? "int" : types[t->type].name,
                                          .rows = its->rows,
                                          .cols = its->cols,
                                          .access = its->access};
    }
    result = ipt_batch_create(context, &desc, &batch);
    if (result == IPT_ERROR_UNSUPPORTED && desc.model)
        return 0;
    if (result)
        fail("ipt_batch_create");
    for (size_t k = 0; k < t->operand_count; ++k) {
        cl_int error;
        buffers[k].byte_offset = 0;
        buffers[k].buffer = clCreateBuffer(ipt_context_cl_context(context), CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR,
                                           t->count * bytes_of(t, &t->operands[k]), t->operands[k].before, &error);
        if (error)
            fail("clCreateBuffer");
    }
    if (ipt_batch_execute(batch, queue, buffers, NULL, 0, NULL, NULL))
        fail("ipt_batch_execute");
    for (size_t k = 0; k < t->operand_count; ++k) {
        if (clEnqueueReadBuffer(queue, buffers[k].buffer, CL_TRUE, 0, t->count * bytes_of(t, &t->operands[k]),
                                t->operands[k].after, 0, NULL, NULL))
            fail("clEnqueueReadBuffer");
        clReleaseMemObject(buffers[k].buffer);
    }
    ipt_batch_destroy(batch);
    return 1;
}

/* op(A) of an element before the action. */
static number original(const trial *t, size_t e, size_t i, size_t j)
{
    const int turned = (t->options & IPT_TRANSPOSE_A) != 0;
    const size_t row = turned ? j : i, col = turned ? i : j;
    const number its = value(t, t->operands[0].before, t->n * t->n, e, row * t->n + col);
    if (t->action == IPT_ACTION_TRSM) {
        if (t->options & IPT_UPPER ? col < row : col > row)
            return 0;
        if (row == col && t->options & IPT_UNIT)
            return 1;
    }
    return t->options & IPT_CONJUGATE_A ? conj(its) : its;
}

/* max |op(A) X - B| over n * eps * max |op(A)| * max |X| of an element: X is n x m, B too (NULL: the unit matrix). */
static double residual(const trial *t, size_t e, const unsigned char *x, const unsigned char *b, size_t m)
{
    const size_t n = t->n;
    double error = 0, most_a = 0, most_x = 0;
    for (size_t i = 0; i < n; ++i)
        for (size_t j = 0; j < m; ++j) {
            number sum = b ? -value(t, b, n * m, e, i * m + j) : -(number)(i == j);
            for (size_t k = 0; k < n; ++k) {
                const number a = original(t, e, i, k), its = value(t, x, n * m, e, k * m + j);
                sum += a * its;
                most_a = fmax(most_a, cabs(a));
                most_x = fmax(most_x, cabs(its));
            }
            error = fmax(error, cabs(sum));
        }
    return error / ((double)n * types[t->type].eps * fmax(most_a * most_x * (b ? 1 : (double)n * most_a * most_x), 1));
}

static void check(const trial *t, size_t e, const unsigned char *theirs, const unsigned char *ours,
                  const unsigned char *b, size_t m)
{
    const double both[2] = {residual(t, e, ours, b, m), residual(t, e, theirs, b, m)};
    for (int i = 0; i < 2; ++i)
        worst[i] = fmax(worst[i], both[i]);
    if (both[0] < BOUND)
        return;
    fprintf(stderr, "action %s of %s, options %u, n = %zu: residual %g, LAPACK's %g\n", ipt_action_string(t->action),
            types[t->type].name, t->options, t->n, both[0], both[1]);
    exit(EXIT_FAILURE);
}

/* Compares each element with LAPACK's. theirs: work memory for A, B and pivots of all elements. */
static void compare(const trial *t, unsigned char *a, unsigned char *b, int *pivots)
{
    const lapack *const by = &functions[t->type];
    const size_t n = t->n, m = t->m, size = types[t->type].bytes;
    const operand *const B = find(t, "B"), *const info = find(t, "info"), *const rows = find(t, "pivots");
    memcpy(a, t->operands[0].before, t->count * n * n * size);
    if (B)
        memcpy(b, B->before, t->count * n * m * size);
    for (size_t e = 0; e < t->count; ++e) {
        unsigned char *const its = a + e * n * n * size, *const right = b + e * n * m * size;
        const int side = (int)n, columns = (int)m;
        int failed = 0, ours = 0;
        if (t->action == IPT_ACTION_POSV) {
            failed = by->potrf(ROW_MAJOR, 'L', side, its, side);
            if (!failed)
                by->potrs(ROW_MAJOR, 'L', side, columns, its, side, right, columns);
        } else if (t->action == IPT_ACTION_TRSM) {
            if (t->options & IPT_CONJUGATE_A && !(t->options & IPT_TRANSPOSE_A)) /* LAPACK has no such option */
                for (size_t q = 0; q < n * n; ++q)
                    put(its + q * size, t->type, conj(get(its + q * size, t->type)));
            by->trtrs(ROW_MAJOR, t->options & IPT_UPPER ? 'U' : 'L',
                      !(t->options & IPT_TRANSPOSE_A) ? 'N'
                      : t->options & IPT_CONJUGATE_A  ? 'C'
                                                      : 'T',
                      t->options & IPT_UNIT ? 'U' : 'N', side, columns, its, side, right, columns);
        } else {
            failed = by->getrf(ROW_MAJOR, side, side, its, side, pivots);
            if (!failed && B)
                by->getrs(ROW_MAJOR, 'N', side, columns, its, side, pivots, right, columns);
            if (!failed && !B)
                by->getri(ROW_MAJOR, side, its, side, pivots);
            other_pivots += memcmp(pivots, rows->after + e * n * sizeof *pivots, n * sizeof *pivots) != 0;
        }
        if (info)
            memcpy(&ours, info->after + e * sizeof ours, sizeof ours);
        if (ours != failed) {
            fprintf(stderr, "action %s of %s, n = %zu: info is %d, LAPACK's %d\n", ipt_action_string(t->action),
                    types[t->type].name, n, ours, failed);
            exit(EXIT_FAILURE);
        }
        ++elements;
        if (!failed)
            check(t, e, B ? b : a, B ? B->after : t->operands[0].after, B ? B->before : NULL, B ? m : n);
    }
}

/* A random case. Returns 0 if it was not possible. */
static int try_case(void)
{
    static const ipt_action actions[] = {IPT_ACTION_POSV, IPT_ACTION_GESV, IPT_ACTION_GETRI, IPT_ACTION_TRSM};
    trial t = {.action = actions[between(0, 3)], .count = between(1, 40), .m = between(1, 4)};
    unsigned char *a, *b;
    int ran, pivots[MOST_SIDE];
    t.type = between(0, 3);
    if (!doubles)
        t.type = t.type / 2 * 2;
    t.n = between(1, t.action == IPT_ACTION_GETRI ? 32 : MOST_SIDE);
    if (t.action == IPT_ACTION_TRSM)
        t.options = (unsigned)between(0, 63) & (IPT_TRANSPOSE_A | IPT_CONJUGATE_A | IPT_UPPER | IPT_UNIT);
    add(&t, "A", t.n, t.n, t.action == IPT_ACTION_TRSM ? IPT_READ : IPT_READ_WRITE);
    if (t.action != IPT_ACTION_GETRI)
        add(&t, "B", t.n, t.m, IPT_READ_WRITE);
    if (t.action == IPT_ACTION_GESV || t.action == IPT_ACTION_GETRI)
        add(&t, "pivots", t.n, 1, IPT_WRITE);
    if (t.action != IPT_ACTION_TRSM)
        add(&t, "info", 1, 1, IPT_WRITE);
    shape(&t);
    a = malloc(t.count * t.n * t.n * types[t.type].bytes);
    b = malloc(t.count * t.n * t.m * types[t.type].bytes);
    if (!a || !b)
        fail("malloc");
    ran = run(&t);
    if (ran)
        compare(&t, a, b, pivots);
    free(a);
    free(b);
    for (size_t k = 0; k < t.operand_count; ++k) {
        free(t.operands[k].before);
        free(t.operands[k].after);
    }
    return ran;
}

int main(int count, char **arguments)
{
    const int cases = count > 1 ? atoi(arguments[1]) : 300;
    char extensions[16384] = "";
    int ran = 0;
    cl_int error;
    state = count > 2 ? strtoull(arguments[2], NULL, 10) : 1;
    if (!load_all()) {
        printf("lapack: LAPACKE is not installed\n");
        return SKIPPED;
    }
    if (ipt_context_create(NULL, &context))
        fail("ipt_context_create");
    queue = clCreateCommandQueue(ipt_context_cl_context(context), ipt_context_cl_device(context), 0, &error);
    if (error)
        fail("clCreateCommandQueue");
    clGetDeviceInfo(ipt_context_cl_device(context), CL_DEVICE_EXTENSIONS, sizeof extensions - 1, extensions, NULL);
    doubles = strstr(extensions, "cl_khr_fp64") != NULL;
    while (ran < cases)
        ran += try_case();
    printf("lapack: %d cases, %zu elements: info as LAPACK's; residuals at most %.2f, LAPACK's %.2f (bound %d); other "
           "pivots in %zu\n",
           ran, elements, worst[0], worst[1], BOUND, other_pivots);
    clReleaseCommandQueue(queue);
    ipt_context_destroy(context);
    return EXIT_SUCCESS;
}
