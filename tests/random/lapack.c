/* Ready-made actions of batch plans against LAPACK and BLAS, by LAPACKE and OpenBLAS: random actions, types, sides and
 * models. For each element, the residuals of both results, divided by n * eps times the norms of their terms as in
 * LAPACK's tests, must be below a bound, and info must be equal. Products are compared directly, with the same bound.
 * Each element is multiplied by powers of two of the type's whole range, denormal numbers included; some have rows and
 * columns of different magnitudes. Elements for which LAPACK's residual exceeds the bound are counted and not compared.
 * Usage: lapack CASES [SEED]; exits with 77 without the libraries. */
#define IPT_IMPLEMENTATION
#include "ipt.h"

#include <complex.h>
#include <dlfcn.h>
#include <float.h>
#include <math.h>
#include <stdint.h>

typedef double complex number;

enum { SKIPPED = 77, ROW_MAJOR = 101, BOUND = 30, MOST_SIDE = 40 };
enum { AS_IT_IS = 111, TRANSPOSED, BOTH, CONJUGATED /* enumerators of CBLAS */ };

static const struct {
    const char *name, *argument;
    char letter;
    size_t bytes;
    int is_complex;
    double eps;
    int least, most; /* exponents of the smallest denormal number and of the largest power of two */
} types[] = {{"float", "float2", 's', 4, 0, FLT_EPSILON, -149, 127},
             {"double", "double2", 'd', 8, 0, DBL_EPSILON, -1074, 1023},
             {"float2", "float4", 'c', 8, 1, FLT_EPSILON, -149, 127},
             {"double2", "double4", 'z', 16, 1, DBL_EPSILON, -1074, 1023}};

/* Types of LAPACKE's functions, which differ only in the type of the numbers behind pointers. */
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
    void (*gemm)(void); /* of one of the types below */
} lapack;

/* Types of OpenBLAS' products: real numbers are arguments, complex numbers are behind pointers. */
typedef void (*float_product)(int, int, int, int, int, int, float, const void *, int, const void *, int, float, void *,
                              int);
typedef void (*double_product)(int, int, int, int, int, int, double, const void *, int, const void *, int, double,
                               void *, int);
typedef void (*complex_product)(int, int, int, int, int, int, const void *, const void *, int, const void *, int,
                                const void *, void *, int);

static lapack functions[sizeof types / sizeof *types];
static ipt_context *context;
static cl_command_queue queue;
static int doubles;
static double worst[2];      /* the largest residual of ipt, of LAPACK */
static double worst_product; /* the largest difference from BLAS */
static size_t elements, products, other_pivots, beyond_lapack;

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

static int load(void *library, const char *prefix, char letter, const char *name, void *function)
{
    char whole[32];
    void *found;
    snprintf(whole, sizeof whole, "%s_%c%s", prefix, letter, name);
    found = dlsym(library, whole);
    memcpy(function, &found, sizeof found); /* C has no cast from an object pointer to a function pointer */
    return found != NULL;
}

static int load_all(void)
{
    void *const library = dlopen("liblapacke.so.3", RTLD_NOW | RTLD_LOCAL), *const blas = dlopen("libopenblas.so.0",
                                                                                                 RTLD_NOW | RTLD_LOCAL);
    int loaded = library && blas;
    for (size_t t = 0; t < sizeof types / sizeof *types && loaded; ++t) {
        const char letter = types[t].letter;
        lapack *const of = &functions[t];
        loaded = load(library, "LAPACKE", letter, "potrf", &of->potrf) &&
                 load(library, "LAPACKE", letter, "potrs", &of->potrs) &&
                 load(library, "LAPACKE", letter, "getrf", &of->getrf) &&
                 load(library, "LAPACKE", letter, "getrs", &of->getrs) &&
                 load(library, "LAPACKE", letter, "getri", &of->getri) &&
                 load(library, "LAPACKE", letter, "trtrs", &of->trtrs) &&
                 load(blas, "cblas", letter, "gemm", &of->gemm);
    }
    return loaded;
}

/* Stores a number of a type in memory. */
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

static int random_exponent(int least, int most)
{
    return least + (int)between(0, (size_t)(most - least));
}

/* value * 2^exponent, even if the power alone overflows. */
static number shifted(number value, int exponent)
{
    return ldexp(creal(value), exponent) + I * ldexp(cimag(value), exponent);
}

/* An operand of all elements, row-major, element after element. */
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
    operand operands[4]; /* A, then B, pivots and info if the action has them; the three operands of a product */
    int scales;          /* a product has alpha and beta */
    number alpha, beta;
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

/* Component q of element e. */
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

/* Makes A definite for Cholesky, well conditioned for triangles; one in five indefinite or singular. */
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

/* Multiplies the rows and columns of each element of an operand by powers of two: by 2^exponents[e], and for half of
 * the elements also by different powers up to 2^spread. Sets exponents[e] to the largest exponent. */
static void scale(trial *t, const operand *its, int *exponents, int spread)
{
    const size_t size = types[t->type].bytes;
    for (size_t e = 0; e < t->count; ++e) {
        const int spreads = between(0, 1) ? spread : 0;
        int of_row[MOST_SIDE], of_column[MOST_SIDE];
        for (size_t i = 0; i < MOST_SIDE; ++i) {
            of_row[i] = random_exponent(-spreads, 0);
            of_column[i] = random_exponent(-spreads, 0);
        }
        for (size_t q = 0; q < its->rows * its->cols; ++q) {
            unsigned char *const at = its->before + (e * its->rows * its->cols + q) * size;
            const size_t i = q / its->cols, j = q % its->cols;
            /* Hermitian matrices stay hermitian. */
            const int more = of_row[i] + (t->action == IPT_ACTION_POSV ? of_row[j] : of_column[j]);
            put(at, t->type, shifted(get(at, t->type), exponents[e] + more));
        }
    }
}

/* Scales systems: A to anywhere in the type's range, right-hand sides so that the solutions are in range, too. */
static void scale_system(trial *t)
{
    const int least = types[t->type].least + 14, most = types[t->type].most - 9; /* for A's bits, and for sums */
    const operand *const B = find(t, "B");
    int *const exponents = malloc(t->count * sizeof *exponents);
    if (!exponents)
        fail("malloc");
    for (size_t e = 0; e < t->count; ++e)
        exponents[e] = between(0, 3) && !(t->options & IPT_UNIT) ? random_exponent(least, most) : 0;
    scale(t, &t->operands[0], exponents, t->action == IPT_ACTION_TRSM ? 0 : 4);
    for (size_t e = 0; e < t->count && B; ++e) {
        const int lowest = exponents[e] + least < least ? least : exponents[e] + least / 2;
        exponents[e] = random_exponent(lowest < most ? lowest : most, most);
    }
    if (B)
        scale(t, B, exponents, 4);
    free(exponents);
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
                           .argument_type = t->scales ? types[t->type].argument : NULL,
                           .model = (ipt_model)between(0, IPT__MODEL_COUNT - 1)};
    unsigned char argument[32];
    ipt_batch *batch;
    ipt_result result;
    if (t->scales) {
        put(argument, t->type, t->alpha);
        put(argument + types[t->type].bytes, t->type, t->beta);
    }
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
    if (ipt_batch_execute(batch, queue, buffers, t->scales ? argument : NULL, 0, NULL, NULL))
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

/* op(A) of an element before the execution. */
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

/* The exponent of the largest of `count` numbers that are `step` apart; 0 if all are 0 or one is not finite. */
static int largest_exponent(const trial *t, const unsigned char *data, size_t count, size_t step)
{
    double most = 0;
    int exponent = 0;
    for (size_t q = 0; q < count; ++q) {
        const number its = value(t, data, 0, 0, q * step);
        most = fmax(most, fmax(fabs(creal(its)), fabs(cimag(its))));
    }
    if (isfinite(most))
        frexp(most, &exponent);
    return exponent;
}

/* max |op(A) X - B| of column j of an element, divided by n * eps * max |op(A)| * max |X| plus the rounding of denormal
 * numbers. X and B (NULL: the unit matrix) are n x m. A and X are divided by powers of two to avoid overflow.
 */
static double column_residual(const trial *t, size_t e, const unsigned char *x, const unsigned char *b, size_t m,
                              size_t j)
{
    const size_t n = t->n, size = types[t->type].bytes;
    const int of_a = largest_exponent(t, t->operands[0].before + e * n * n * size, n * n, 1),
              of_x = largest_exponent(t, x + (e * n * m + j) * size, n, m), least = types[t->type].least;
    const double rounding = ldexp(1, least - of_a) + ldexp(1, least - of_x) + ldexp(1, least - of_a - of_x);
    double error = 0, most_a = 0, most_x = 0, terms;
    for (size_t i = 0; i < n; ++i) {
        number sum = shifted(b ? -value(t, b, n * m, e, i * m + j) : -(number)(i == j), -of_a - of_x);
        for (size_t k = 0; k < n; ++k) {
            const number a = shifted(original(t, e, i, k), -of_a),
                         its = shifted(value(t, x, n * m, e, k * m + j), -of_x);
            sum += a * its;
            most_a = fmax(most_a, cabs(a));
            most_x = fmax(most_x, cabs(its));
        }
        if (!(cabs(sum) <= DBL_MAX))
            return INFINITY;
        error = fmax(error, cabs(sum));
    }
    terms = most_a * most_x;
    if (!b) /* an inverse: divides by the condition, too */
        terms *= fmax((double)n * ldexp(most_a * most_x, of_a + of_x), 1);
    return error > 0 ? error / ((double)n * (types[t->type].eps * terms + rounding)) : 0;
}

/* The largest residual of an element's columns. */
static double residual(const trial *t, size_t e, const unsigned char *x, const unsigned char *b, size_t m)
{
    double most = 0;
    for (size_t j = 0; j < m; ++j)
        most = fmax(most, column_residual(t, e, x, b, m, j));
    return most;
}

static void check(const trial *t, size_t e, const unsigned char *theirs, const unsigned char *ours,
                  const unsigned char *b, size_t m)
{
    const double both[2] = {residual(t, e, ours, b, m), residual(t, e, theirs, b, m)};
    for (int i = 0; i < 2; ++i)
        worst[i] = fmax(worst[i], both[i]);
    if (both[0] < BOUND)
        return;
    fprintf(stderr, "action %s of %s, options %u, n = %zu: residual %g, LAPACK's %g; A has the exponent %d\n",
            ipt_action_string(t->action), types[t->type].name, t->options, t->n, both[0], both[1],
            largest_exponent(t, t->operands[0].before + e * t->n * t->n * types[t->type].bytes, t->n * t->n, 1));
    exit(EXIT_FAILURE);
}

/* Compares each element with LAPACK's result. a, b, pivots: work memory for all elements. */
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
            if (t->options & IPT_CONJUGATE_A && !(t->options & IPT_TRANSPOSE_A)) /* not in LAPACK */
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
        if (!failed && residual(t, e, B ? b : a, B ? B->before : NULL, B ? m : n) >= BOUND) {
            ++beyond_lapack;
            continue;
        }
        ++elements;
        if (ours != failed) {
            fprintf(stderr, "action %s of %s, n = %zu: info is %d, LAPACK's %d; A has the exponent %d\n",
                    ipt_action_string(t->action), types[t->type].name, n, ours, failed,
                    largest_exponent(t, t->operands[0].before + e * n * n * size, n * n, 1));
            exit(EXIT_FAILURE);
        }
        if (!failed)
            check(t, e, B ? b : a, B ? B->after : t->operands[0].after, B ? B->before : NULL, B ? m : n);
    }
}

static void release(trial *t)
{
    for (size_t k = 0; k < t->operand_count; ++k) {
        free(t->operands[k].before);
        free(t->operands[k].after);
    }
}

/* C = alpha op(A) op(B) + beta C of one element by OpenBLAS: C of m x n. */
static void multiply(const trial *t, const int shape[3], const int turns[2], const int pitches[3], const void *a,
                     const void *b, void *c)
{
    const number alpha = t->scales ? t->alpha : 1, beta = t->scales ? t->beta : 0;
    void (*const gemm)(void) = functions[t->type].gemm;
    unsigned char factors[2][16];
    put(factors[0], t->type, alpha);
    put(factors[1], t->type, beta);
    if (types[t->type].is_complex)
        ((complex_product)gemm)(ROW_MAJOR, turns[0], turns[1], shape[0], shape[1], shape[2], factors[0], a, pitches[0],
                                b, pitches[1], factors[1], c, pitches[2]);
    else if (types[t->type].bytes == 4)
        ((float_product)gemm)(ROW_MAJOR, turns[0], turns[1], shape[0], shape[1], shape[2], (float)creal(alpha), a,
                              pitches[0], b, pitches[1], (float)creal(beta), c, pitches[2]);
    else
        ((double_product)gemm)(ROW_MAJOR, turns[0], turns[1], shape[0], shape[1], shape[2], creal(alpha), a, pitches[0],
                               b, pitches[1], creal(beta), c, pitches[2]);
}

/* Compares the products of all elements: C of m x n, with k products in each sum. */
static void compare_products(const trial *t, int m, int n, int k)
{
    const operand *const a = &t->operands[0], *const b = &t->operands[1], *const c = &t->operands[2];
    const int is_dot = t->action == IPT_ACTION_DOT, conjugates = t->options & IPT_CONJUGATE_A ? 1 : 0;
    const int turns[2] = {is_dot || t->options & IPT_TRANSPOSE_A ? TRANSPOSED + conjugates
                          : conjugates                           ? CONJUGATED
                                                                 : AS_IT_IS,
                          t->options & IPT_TRANSPOSE_B   ? TRANSPOSED + (t->options & IPT_CONJUGATE_B ? 1 : 0)
                          : t->options & IPT_CONJUGATE_B ? CONJUGATED
                                                         : AS_IT_IS};
    const int shape[3] = {m, n, k}, pitches[3] = {(int)a->cols, (int)b->cols, (int)c->cols};
    unsigned char *const theirs = malloc(bytes_of(t, c));
    if (!theirs)
        fail("malloc");
    for (size_t e = 0; e < t->count; ++e) {
        memcpy(theirs, c->before + e * bytes_of(t, c), bytes_of(t, c));
        multiply(t, shape, turns, pitches, a->before + e * bytes_of(t, a), b->before + e * bytes_of(t, b), theirs);
        for (size_t q = 0; q < c->rows * c->cols; ++q) {
            const number ours = value(t, c->after, c->rows * c->cols, e, q), its = value(t, theirs, 0, 0, q);
            const double error = cabs(ours - its) / ((k + 1) * types[t->type].eps * 4);
            worst_product = fmax(worst_product, error);
            if (error < BOUND)
                continue;
            fprintf(stderr, "action %s of %s, options %u, %d x %d x %d: component %zu differs by %g of the bound %d\n",
                    ipt_action_string(t->action), types[t->type].name, t->options, m, n, k, q, error, BOUND);
            exit(EXIT_FAILURE);
        }
        ++products;
    }
    free(theirs);
}

/* Runs a random product: dot, gemv or gemm. Returns 0 if the device cannot use the model. */
static int try_product(void)
{
    static const ipt_action actions[] = {IPT_ACTION_DOT, IPT_ACTION_GEMV, IPT_ACTION_GEMM};
    trial t = {.action = actions[between(0, 2)], .count = between(1, 40)};
    const int is_dot = t.action == IPT_ACTION_DOT, is_gemm = t.action == IPT_ACTION_GEMM;
    const size_t m = is_dot ? 1 : between(1, MOST_SIDE), n = is_gemm ? between(1, MOST_SIDE) : 1,
                 k = between(1, MOST_SIDE);
    int ran;
    t.type = between(0, 3);
    if (!doubles)
        t.type = t.type / 2 * 2;
    t.options =
        (unsigned)between(0, 15) & (is_dot    ? IPT_CONJUGATE_A
                                    : is_gemm ? IPT_TRANSPOSE_A | IPT_TRANSPOSE_B | IPT_CONJUGATE_A | IPT_CONJUGATE_B
                                              : IPT_TRANSPOSE_A | IPT_CONJUGATE_A);
    t.scales = (int)between(0, 1);
    t.alpha = random_number(t.type);
    t.beta = random_number(t.type);
    if (is_dot) {
        add(&t, "x", k, 1, IPT_READ);
        add(&t, "y", k, 1, IPT_READ);
    } else {
        const int turned[2] = {(t.options & IPT_TRANSPOSE_A) != 0, (t.options & IPT_TRANSPOSE_B) != 0};
        add(&t, "A", turned[0] ? k : m, turned[0] ? m : k, IPT_READ);
        add(&t, is_gemm ? "B" : "x", turned[1] ? n : k, turned[1] ? k : n, IPT_READ);
    }
    add(&t, is_dot ? "r" : is_gemm ? "C" : "y", m, n, t.scales ? IPT_READ_WRITE : IPT_WRITE);
    ran = run(&t);
    if (ran)
        compare_products(&t, (int)m, (int)n, (int)k);
    release(&t);
    return ran;
}

/* Runs a random system. Returns 0 if the device cannot use the model. */
static int try_system(void)
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
    scale_system(&t);
    a = malloc(t.count * t.n * t.n * types[t.type].bytes);
    b = malloc(t.count * t.n * t.m * types[t.type].bytes);
    if (!a || !b)
        fail("malloc");
    ran = run(&t);
    if (ran)
        compare(&t, a, b, pivots);
    free(a);
    free(b);
    release(&t);
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
        printf("lapack: LAPACKE or OpenBLAS is not installed\n");
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
        ran += between(0, 2) ? try_system() : try_product();
    printf(
        "lapack: %d cases, bound %d: %zu elements with info as LAPACK's and residuals of at most %.2f, LAPACK's %.2f; "
        "LAPACK exceeds the bound in %zu others; other pivots in %zu; %zu products differ by at most %.2f from "
        "BLAS's\n",
        ran, BOUND, elements, worst[0], worst[1], beyond_lapack, other_pivots, products, worst_product);
    clReleaseCommandQueue(queue);
    ipt_context_destroy(context);
    return EXIT_SUCCESS;
}
