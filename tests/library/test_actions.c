/* The ready-made actions of batch plans against plain loops. The error bound is that of LAPACK's tests: the residual
 * must be below 30 * n * eps times the norms of its terms. */
#include "test.h"

#include <complex.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef double complex number;

static const struct {
    const char *name, *argument;
    size_t bytes;
    int is_complex;
    double eps;
} types[] = {{"float", "float2", 4, 0, FLT_EPSILON},
             {"double", "double2", 8, 0, DBL_EPSILON},
             {"float2", "float4", 8, 1, FLT_EPSILON},
             {"double2", "double4", 16, 1, DBL_EPSILON}};

enum { OPERANDS = 4, BOUND = 30 };

/* A batch of a ready-made action. data: for each operand, count * rows * cols numbers, element after element. */
typedef struct ready_case {
    ipt_batch_desc desc;
    ipt_batch_operand operands[OPERANDS];
    number *data[OPERANDS];
    size_t type; /* index in types */
    number alpha, beta;
} ready_case;

static bool has_doubles(void)
{
    char extensions[8192] = "";
    clGetDeviceInfo(test_device, CL_DEVICE_EXTENSIONS, sizeof extensions - 1, extensions, NULL);
    return strstr(extensions, "cl_khr_fp64") != NULL;
}

static double random_real(void)
{
    return (double)test_random_between(0, 2000000) / 1000000 - 1;
}

static number random_number(size_t type)
{
    const double real = random_real();
    return types[type].is_complex ? real + I * random_real() : real;
}

static size_t components(const ready_case *tried, size_t k)
{
    return tried->operands[k].rows * tried->operands[k].cols;
}

static number *element(const ready_case *tried, size_t k, size_t e)
{
    return tried->data[k] + e * components(tried, k);
}

static void add_operand(ready_case *tried, const char *name, size_t rows, size_t cols, ipt_access access)
{
    const size_t k = tried->desc.operand_count++;
    ipt_batch_operand *const operand = &tried->operands[k];
    const bool whole = strlen(name) > 1;
    operand->name = name;
    operand->type = whole ? "int" : types[tried->type].name;
    operand->rows = rows;
    operand->cols = cols;
    operand->access = access;
    operand->layout = (ipt_layout)test_random_between(0, 2);
    operand->width = operand->layout == IPT_LAYOUT_BLOCKS ? test_random_between(1, 33) : 0;
    tried->data[k] = malloc(tried->desc.count * rows * cols * sizeof(number));
    assert_non_null(tried->data[k]);
    for (size_t i = 0; i < tried->desc.count * rows * cols; ++i)
        tried->data[k][i] = whole ? 0 : random_number(tried->type);
}

static size_t wanted_elements; /* elements in each case; 0: a few */
static bool always_scales;     /* each product has alpha and beta */
static int exponent;           /* systems of equations are multiplied by 2^exponent */
static ipt_method method;      /* of each case */
static size_t group_size;      /* of each case; 0: chosen */
static size_t odd_groups;      /* cases by work-groups that are no power of two */

static ready_case begin_case(ipt_action action, size_t type, size_t count)
{
    ready_case tried = {.desc = {.ready = action,
                                 .count = wanted_elements ? wanted_elements : count,
                                 .method = method,
                                 .group_size = group_size},
                        .type = type,
                        .alpha = 1};
    return tried;
}

static void end_case(ready_case *tried)
{
    for (size_t k = 0; k < tried->desc.operand_count; ++k)
        free(tried->data[k]);
}

static size_t place(const ready_case *tried, size_t k, size_t e, size_t q)
{
    const ipt_batch_operand *const operand = &tried->operands[k];
    return operand->layout == IPT_LAYOUT_ELEMENTS ? e * components(tried, k) + q
           : operand->layout == IPT_LAYOUT_PLANES
               ? q * tried->desc.count + e
               : e / operand->width * components(tried, k) * operand->width + q * operand->width + e % operand->width;
}

static void put(unsigned char *to, size_t type, bool whole, number value)
{
    const float parts[2] = {(float)creal(value), (float)cimag(value)};
    const double long_parts[2] = {creal(value), cimag(value)};
    const int integer = (int)creal(value);
    if (whole)
        memcpy(to, &integer, sizeof integer);
    else
        memcpy(to, types[type].eps == FLT_EPSILON ? (const void *)parts : (const void *)long_parts, types[type].bytes);
}

static number get(const unsigned char *from, size_t type, bool whole)
{
    float parts[2] = {0, 0};
    double long_parts[2] = {0, 0};
    int integer;
    if (whole) {
        memcpy(&integer, from, sizeof integer);
        return integer;
    }
    if (types[type].eps != FLT_EPSILON) {
        memcpy(long_parts, from, types[type].bytes);
        return long_parts[0] + I * long_parts[1];
    }
    memcpy(parts, from, types[type].bytes);
    return parts[0] + I * parts[1];
}

/* Writes an operand's data to a new buffer, rounded to the type, or reads them back. */
static void convert(ready_case *tried, size_t k, cl_mem *buffer, bool back)
{
    const bool whole = strlen(tried->operands[k].name) > 1;
    const size_t size = whole ? sizeof(int) : types[tried->type].bytes, width = tried->operands[k].width,
                 elements = width ? (tried->desc.count + width - 1) / width * width : tried->desc.count,
                 bytes = elements * components(tried, k) * size;
    unsigned char *const values = calloc(1, bytes);
    assert_non_null(values);
    if (back)
        assert_int_equal(clEnqueueReadBuffer(test_queue, *buffer, CL_TRUE, 0, bytes, values, 0, NULL, NULL),
                         CL_SUCCESS);
    for (size_t e = 0; e < tried->desc.count; ++e)
        for (size_t q = 0; q < components(tried, k); ++q) {
            unsigned char *const at = values + place(tried, k, e, q) * size;
            if (!back)
                put(at, tried->type, whole, element(tried, k, e)[q]);
            element(tried, k, e)[q] = get(at, tried->type, whole);
        }
    if (back)
        clReleaseMemObject(*buffer);
    else
        *buffer = clCreateBuffer(test_cl_context, CL_MEM_COPY_HOST_PTR, bytes, values, NULL);
    free(values);
}

/* Runs a case. inputs receives copies of the data, rounded to the type. Returns 0 if the model is impossible. */
static int run_case(ready_case *tried, number *inputs[OPERANDS])
{
    ipt_batch_buffer buffers[OPERANDS] = {{NULL, 0}};
    unsigned char argument[32];
    ipt_batch *batch;
    ipt_result result;
    tried->desc.operands = tried->operands;
    result = ipt_batch_create(test_context, &tried->desc, &batch);
    if (result == IPT_ERROR_UNSUPPORTED && tried->desc.model)
        return 0;
    if (result)
        fail_msg("%s", ipt_context_error(NULL));
    const char *const words = strstr(ipt_batch_describe(batch), "work-groups of ");
    const size_t group = words ? strtoul(words + strlen("work-groups of "), NULL, 10) : 0;
    odd_groups += (group & (group - 1)) != 0;
    if (tried->desc.argument_type) {
        put(argument, tried->type, false, tried->alpha);
        put(argument + types[tried->type].bytes, tried->type, false, tried->beta);
    }
    for (size_t k = 0; k < tried->desc.operand_count; ++k) {
        const size_t bytes = tried->desc.count * components(tried, k) * sizeof(number);
        convert(tried, k, &buffers[k].buffer, false);
        inputs[k] = malloc(bytes);
        assert_non_null(inputs[k]);
        memcpy(inputs[k], tried->data[k], bytes);
    }
    assert_int_equal(
        ipt_batch_execute(batch, test_queue, buffers, tried->desc.argument_type ? argument : NULL, 0, NULL, NULL),
        IPT_SUCCESS);
    for (size_t k = 0; k < tried->desc.operand_count; ++k)
        convert(tried, k, &buffers[k].buffer, true);
    ipt_batch_destroy(batch);
    return 1;
}

/* Multiplies A and B of a system by 2^exponent, except a triangle with a diagonal of 1: its solution would overflow. */
static void scale_case(ready_case *tried)
{
    for (size_t k = 0; k < tried->desc.operand_count; ++k)
        for (size_t i = 0; i < tried->desc.count * components(tried, k); ++i)
            if (k || !(tried->desc.options & IPT_UNIT))
                tried->data[k][i] *= ldexp(1, exponent);
}

static void end_inputs(const ready_case *tried, number *inputs[OPERANDS])
{
    for (size_t k = 0; k < tried->desc.operand_count; ++k)
        free(inputs[k]);
}

/* Fails if an error is above the bound, which grows with n and the magnitude of the terms. */
static void check_error(const ready_case *tried, double error, size_t n, double magnitude)
{
    const double ratio = error / ((double)n * types[tried->type].eps * (magnitude > 0 ? magnitude : 1));
    if (!(ratio < BOUND))
        fail_msg("action %s of %s, model %s, options %u, n = %zu: residual %g above the bound %d",
                 ipt_action_string(tried->desc.ready), types[tried->type].name, ipt_model_string(tried->desc.model),
                 tried->desc.options, n, ratio, BOUND);
}

/* The value of an operand that the options may transpose or conjugate. */
static number taken(const number *a, size_t rows, size_t cols, size_t i, size_t j, unsigned transposes,
                    unsigned conjugates)
{
    const number value = transposes ? a[j * cols + i] : a[i * cols + j];
    (void)rows;
    return conjugates ? conj(value) : value;
}

static unsigned random_options(unsigned possible)
{
    return (unsigned)test_random() & possible;
}

/* Checks C = alpha A B + beta C; for gemv and dot, B and C have one column. */
static void try_product(ipt_model model, size_t type, const size_t sides[3])
{
    const size_t m = sides[0], k = sides[1], n = sides[2];
    ready_case tried = begin_case(IPT_ACTION_GEMM, type, test_random_between(1, 70));
    number *in[OPERANDS];
    tried.desc.model = model;
    tried.desc.options = random_options(IPT_TRANSPOSE_A | IPT_TRANSPOSE_B | IPT_CONJUGATE_A | IPT_CONJUGATE_B);
    if (always_scales || test_random_between(0, 1)) {
        tried.desc.argument_type = types[type].argument;
        tried.alpha = random_number(type);
        tried.beta = random_number(type);
    }
    const unsigned ta = tried.desc.options & IPT_TRANSPOSE_A, tb = tried.desc.options & IPT_TRANSPOSE_B;
    add_operand(&tried, "A", ta ? k : m, ta ? m : k, IPT_READ);
    add_operand(&tried, "B", tb ? n : k, tb ? k : n, IPT_READ);
    add_operand(&tried, "C", m, n, tried.desc.argument_type ? IPT_READ_WRITE : IPT_WRITE);
    if (run_case(&tried, in)) {
        for (size_t e = 0; e < tried.desc.count; ++e)
            for (size_t i = 0; i < m; ++i)
                for (size_t j = 0; j < n; ++j) {
                    number sum = 0;
                    for (size_t q = 0; q < k; ++q)
                        sum += taken(in[0] + e * m * k, 0, tried.operands[0].cols, i, q, ta,
                                     tried.desc.options & IPT_CONJUGATE_A) *
                               taken(in[1] + e * k * n, 0, tried.operands[1].cols, q, j, tb,
                                     tried.desc.options & IPT_CONJUGATE_B);
                    sum =
                        tried.desc.argument_type ? tried.alpha * sum + tried.beta * in[2][e * m * n + i * n + j] : sum;
                    check_error(&tried, cabs(sum - element(&tried, 2, e)[i * n + j]), k + 1, 4);
                }
        end_inputs(&tried, in);
    }
    end_case(&tried);
}

static void try_gemv_and_dot(ipt_model model, size_t type, size_t m, size_t n)
{
    for (int is_dot = 0; is_dot < 2; ++is_dot) {
        ready_case tried = begin_case(is_dot ? IPT_ACTION_DOT : IPT_ACTION_GEMV, type, test_random_between(1, 70));
        number *in[OPERANDS];
        tried.desc.model = model;
        tried.desc.options = random_options(is_dot ? IPT_CONJUGATE_A : IPT_TRANSPOSE_A | IPT_CONJUGATE_A);
        const unsigned turned = tried.desc.options & IPT_TRANSPOSE_A;
        if (is_dot)
            m = 1;
        if (is_dot)
            add_operand(&tried, "x", n, 1, IPT_READ);
        else
            add_operand(&tried, "A", turned ? n : m, turned ? m : n, IPT_READ);
        add_operand(&tried, is_dot ? "y" : "x", n, 1, IPT_READ);
        add_operand(&tried, is_dot ? "r" : "y", m, 1, IPT_WRITE);
        if (run_case(&tried, in)) {
            for (size_t e = 0; e < tried.desc.count; ++e)
                for (size_t i = 0; i < m; ++i) {
                    number sum = 0;
                    for (size_t q = 0; q < n; ++q)
                        sum += taken(in[0] + e * m * n, 0, is_dot ? n : tried.operands[0].cols, i, q, turned,
                                     tried.desc.options & IPT_CONJUGATE_A) *
                               in[1][e * n + q];
                    check_error(&tried, cabs(sum - element(&tried, 2, e)[i]), n, 2);
                }
            end_inputs(&tried, in);
        }
        end_case(&tried);
    }
}

/* Makes an operand's n x n matrices hermitian and positive definite; if `spoilt`, every third one indefinite. */
static void make_definite(ready_case *tried, size_t k, size_t n, bool spoilt)
{
    for (size_t e = 0; e < tried->desc.count; ++e) {
        number *const a = element(tried, k, e);
        for (size_t i = 0; i < n; ++i) {
            for (size_t j = 0; j < i; ++j)
                a[j * n + i] = conj(a[i * n + j]);
            a[i * n + i] = 2 * (double)n + fabs(creal(a[i * n + i]));
        }
        if (spoilt && e % 3 == 1)
            a[(n / 2) * (n + 1)] = -1;
    }
}

/* The norm of A X - B for one element. */
static double residual(const number *a, const number *x, const number *b, size_t n, size_t m)
{
    double worst = 0;
    for (size_t i = 0; i < n; ++i)
        for (size_t j = 0; j < m; ++j) {
            number sum = -b[i * m + j];
            for (size_t q = 0; q < n; ++q)
                sum += a[i * n + q] * x[q * m + j];
            worst = fmax(worst, cabs(sum));
        }
    return worst;
}

static double largest(const number *a, size_t count)
{
    double most = 0;
    for (size_t i = 0; i < count; ++i)
        most = fmax(most, cabs(a[i]));
    return most;
}

static void try_cholesky(ipt_model model, size_t type, size_t n)
{
    ready_case tried = begin_case(IPT_ACTION_POSV, type, test_random_between(5, 70));
    const size_t m = test_random_between(1, 3);
    number *in[OPERANDS];
    tried.desc.model = model;
    add_operand(&tried, "A", n, n, IPT_READ_WRITE);
    add_operand(&tried, "B", n, m, IPT_READ_WRITE);
    add_operand(&tried, "info", 1, 1, IPT_WRITE);
    make_definite(&tried, 0, n, true);
    scale_case(&tried);
    if (run_case(&tried, in)) {
        for (size_t e = 0; e < tried.desc.count; ++e) {
            const number *const l = element(&tried, 0, e), *const a = in[0] + e * n * n;
            if (e % 3 == 1) {
                assert_int_equal((int)creal(*element(&tried, 2, e)), n / 2 + 1);
                continue;
            }
            assert_int_equal((int)creal(*element(&tried, 2, e)), 0);
            for (size_t i = 0; i < n; ++i)
                for (size_t j = 0; j < n; ++j) {
                    number sum = 0;
                    for (size_t q = 0; q <= j && j <= i; ++q)
                        sum += l[i * n + q] * conj(l[j * n + q]);
                    if (j <= i)
                        check_error(&tried, cabs(sum - a[i * n + j]), n, largest(a, n * n));
                    else
                        assert_memory_equal(&l[i * n + j], &a[i * n + j], sizeof(number));
                }
            check_error(&tried, residual(a, element(&tried, 1, e), in[1] + e * n * m, n, m), n,
                        largest(a, n * n) * largest(element(&tried, 1, e), n * m));
        }
        end_inputs(&tried, in);
    }
    end_case(&tried);
}

static void try_lu(ipt_model model, size_t type, size_t n)
{
    ready_case tried = begin_case(IPT_ACTION_GESV, type, test_random_between(5, 70));
    const size_t m = test_random_between(1, 3);
    number *in[OPERANDS], *const swapped = malloc(n * n * sizeof *swapped);
    assert_non_null(swapped);
    tried.desc.model = model;
    add_operand(&tried, "A", n, n, IPT_READ_WRITE);
    add_operand(&tried, "pivots", n, 1, IPT_WRITE);
    add_operand(&tried, "B", n, m, IPT_READ_WRITE);
    add_operand(&tried, "info", 1, 1, IPT_WRITE);
    for (size_t e = 1; e < tried.desc.count; e += 3) /* a column of zeros is singular */
        for (size_t i = 0; i < n; ++i)
            element(&tried, 0, e)[i * n + n / 2] = 0;
    scale_case(&tried);
    if (run_case(&tried, in)) {
        for (size_t e = 0; e < tried.desc.count; ++e) {
            const number *const lu = element(&tried, 0, e), *const a = in[0] + e * n * n;
            const double growth = largest(a, n * n) + largest(lu, n * n);
            memcpy(swapped, a, n * n * sizeof *swapped);
            for (size_t k = 0; k < n; ++k) {
                const size_t row = (size_t)creal(element(&tried, 1, e)[k]) - 1;
                assert_in_range(row, k, n - 1);
                for (size_t j = 0; j < n; ++j) {
                    const number other = swapped[k * n + j];
                    swapped[k * n + j] = swapped[row * n + j];
                    swapped[row * n + j] = other;
                }
            }
            for (size_t i = 0; i < n; ++i)
                for (size_t j = 0; j < n; ++j) {
                    number sum = i <= j ? lu[i * n + j] : 0;
                    for (size_t q = 0; q < i && q <= j; ++q)
                        sum += lu[i * n + q] * lu[q * n + j];
                    check_error(&tried, cabs(sum - swapped[i * n + j]), n, growth);
                }
            assert_int_equal((int)creal(*element(&tried, 3, e)), e % 3 == 1 ? n / 2 + 1 : 0);
            if (e % 3 != 1)
                check_error(&tried, residual(a, element(&tried, 2, e), in[2] + e * n * m, n, m), n,
                            growth * (largest(element(&tried, 2, e), n * m) + 1));
        }
        end_inputs(&tried, in);
    }
    free(swapped);
    end_case(&tried);
}

static void try_inverse(ipt_model model, size_t type, size_t n)
{
    ready_case tried = begin_case(IPT_ACTION_GETRI, type, test_random_between(5, 70));
    number *in[OPERANDS], *const unit = calloc(n * n, sizeof *unit);
    assert_non_null(unit);
    tried.desc.model = model;
    add_operand(&tried, "A", n, n, IPT_READ_WRITE);
    add_operand(&tried, "pivots", n, 1, IPT_WRITE);
    add_operand(&tried, "info", 1, 1, IPT_WRITE);
    for (size_t i = 0; i < n; ++i)
        unit[i * (n + 1)] = 1;
    scale_case(&tried);
    if (run_case(&tried, in)) {
        for (size_t e = 0; e < tried.desc.count; ++e) {
            const double magnitude = largest(element(&tried, 0, e), n * n) * ldexp((double)n, exponent);
            assert_int_equal((int)creal(*element(&tried, 2, e)), 0);
            check_error(&tried, residual(in[0] + e * n * n, element(&tried, 0, e), unit, n, n), n,
                        magnitude * magnitude + 1);
        }
        end_inputs(&tried, in);
    }
    free(unit);
    end_case(&tried);
}

static void try_triangle(ipt_model model, size_t type, size_t n)
{
    ready_case tried = begin_case(IPT_ACTION_TRSM, type, test_random_between(5, 70));
    const size_t m = test_random_between(1, 5);
    number *in[OPERANDS], *const op = malloc(n * n * sizeof *op);
    assert_non_null(op);
    tried.desc.model = model;
    tried.desc.options = random_options(IPT_TRANSPOSE_A | IPT_CONJUGATE_A | IPT_UPPER | IPT_UNIT);
    add_operand(&tried, "A", n, n, IPT_READ);
    add_operand(&tried, "B", n, m, IPT_READ_WRITE);
    for (size_t i = 0; i < tried.desc.count * n * n; ++i)
        tried.data[0][i] = i % (n * n) % (n + 1) ? tried.data[0][i] / (double)n : 2 + fabs(creal(tried.data[0][i]));
    scale_case(&tried);
    if (run_case(&tried, in)) {
        for (size_t e = 0; e < tried.desc.count; ++e) {
            for (size_t i = 0; i < n; ++i)
                for (size_t j = 0; j < n; ++j) {
                    const unsigned turned = tried.desc.options & IPT_TRANSPOSE_A;
                    const size_t row = turned ? j : i, col = turned ? i : j;
                    const bool inside = tried.desc.options & IPT_UPPER ? col >= row : col <= row;
                    op[i * n + j] =
                        !inside ? 0
                        : i == j && tried.desc.options & IPT_UNIT
                            ? 1
                            : taken(in[0] + e * n * n, 0, n, i, j, turned, tried.desc.options & IPT_CONJUGATE_A);
                }
            check_error(&tried, residual(op, element(&tried, 1, e), in[1] + e * n * m, n, m), n,
                        ldexp(3, tried.desc.options & IPT_UNIT ? 0 : exponent) * largest(element(&tried, 1, e), n * m));
        }
        end_inputs(&tried, in);
    }
    free(op);
    end_case(&tried);
}

/* Each action in each model, with numbers of each type in turn. */
static void try_models(void (*each)(ipt_model, size_t, size_t), const size_t *sides, size_t count)
{
    const bool doubles = has_doubles();
    size_t type = 0;
    for (int model = 0; model < IPT__MODEL_COUNT; ++model)
        for (size_t s = 0; s < count; ++s, type = (type + 1) % TEST_COUNT(types))
            each((ipt_model)model, doubles ? type : type / 2 * 2, sides[s]);
}

static void product_of_side(ipt_model model, size_t type, size_t n)
{
    const size_t sides[3] = {n, test_random_between(1, n), test_random_between(1, n)};
    try_product(model, type, sides);
    try_gemv_and_dot(model, type, n, test_random_between(1, n));
}

static const size_t small_sides[] = {1, 2, 3, 5, 8}, larger_sides[] = {13, 17, 32, 33};

static void actions_products(void **state)
{
    (void)state;
    try_models(product_of_side, small_sides, TEST_COUNT(small_sides));
}
static void actions_larger_products(void **state)
{
    (void)state;
    try_models(product_of_side, larger_sides, TEST_COUNT(larger_sides));
}
static void actions_cholesky(void **state)
{
    (void)state;
    try_models(try_cholesky, small_sides, TEST_COUNT(small_sides));
    try_models(try_cholesky, larger_sides, 2);
}
static void actions_lu(void **state)
{
    (void)state;
    try_models(try_lu, small_sides, TEST_COUNT(small_sides));
    try_models(try_lu, larger_sides, 2);
}
static void actions_inverses(void **state)
{
    (void)state;
    try_models(try_inverse, small_sides, TEST_COUNT(small_sides));
}
static void actions_triangles(void **state)
{
    (void)state;
    try_models(try_triangle, small_sides, TEST_COUNT(small_sides));
    try_models(try_triangle, larger_sides, 2);
}

/* Systems far from 1, where squares overflow or underflow. */
static void actions_far_from_one(void **state)
{
    static void (*const each[])(ipt_model, size_t, size_t) = {try_cholesky, try_lu, try_inverse, try_triangle};
    static const int float_exponents[] = {-100, -70, -30, 30, 70, 115},
                     double_exponents[] = {-940, -540, -300, 300, 540, 1010};
    const bool doubles = has_doubles();
    (void)state;
    for (size_t type = 0; type < TEST_COUNT(types); ++type)
        for (size_t i = 0; i < TEST_COUNT(float_exponents) && (doubles || types[type].eps == FLT_EPSILON); ++i)
            for (size_t a = 0; a < TEST_COUNT(each); ++a) {
                exponent = types[type].eps == FLT_EPSILON ? float_exponents[i] : double_exponents[i];
                each[a]((ipt_model)((i + a + type) % IPT__MODEL_COUNT), type, i + 1);
            }
    exponent = 0;
}

/* One equation p x = q with denormal p and q. A device that flushes denormal numbers reads p as 0 and reports it in
 * info. */
static void actions_denormal(void **state)
{
    const double quotients[4] = {3, -1, 0.5, 6};
    const bool doubles = has_doubles();
    bool has_denormals = true;
#ifndef IPT_NO_OPENCL
    cl_device_fp_config floats = 0;
    assert_int_equal(clGetDeviceInfo(test_device, CL_DEVICE_SINGLE_FP_CONFIG, sizeof floats, &floats, NULL),
                     CL_SUCCESS);
    has_denormals = (floats & CL_FP_DENORM) != 0;
#endif
    (void)state;
    for (size_t type = 0; type < TEST_COUNT(types); ++type) {
        const bool is_float = types[type].eps == FLT_EPSILON;
        ready_case tried = begin_case(IPT_ACTION_GESV, type, TEST_COUNT(quotients));
        number *in[OPERANDS];
        if (!is_float && !doubles)
            continue;
        add_operand(&tried, "A", 1, 1, IPT_READ_WRITE);
        add_operand(&tried, "pivots", 1, 1, IPT_WRITE);
        add_operand(&tried, "B", 1, 1, IPT_READ_WRITE);
        add_operand(&tried, "info", 1, 1, IPT_WRITE);
        for (size_t e = 0; e < TEST_COUNT(quotients); ++e) {
            *element(&tried, 0, e) = (types[type].is_complex ? I : 1) * ldexp(1, is_float ? -140 : -1060);
            *element(&tried, 2, e) = *element(&tried, 0, e) * quotients[e];
        }
        assert_true(run_case(&tried, in));
        for (size_t e = 0; e < TEST_COUNT(quotients); ++e) {
            const bool is_flushed = is_float && !has_denormals && creal(*element(&tried, 3, e)) > 0;
            if (!is_flushed && (creal(*element(&tried, 3, e)) != 0 || *element(&tried, 2, e) != quotients[e]))
                fail_msg("%s: x is %g%+gi, not %g; info %g", types[type].name, creal(*element(&tried, 2, e)),
                         cimag(*element(&tried, 2, e)), quotients[e], creal(*element(&tried, 3, e)));
        }
        end_inputs(&tried, in);
        end_case(&tried);
    }
}

/* The inverse of a matrix whose elimination has numbers 2^17 times as large as the inverse, near the end of the range.
 * The matrix is 1 on the diagonal and in the last column, and -1 below the diagonal (Wilkinson 1961, "Error analysis of
 * direct methods of matrix inversion", doi 10.1145/321075.321076). */
static void actions_inverse_near_overflow(void **state)
{
    enum { SIDE = 20 };
    (void)state;
    for (size_t type = 0; type < TEST_COUNT(types); ++type) {
        const bool is_float = types[type].eps == FLT_EPSILON;
        const double scale = ldexp(1, is_float ? -115 : -1011);
        ready_case tried = begin_case(IPT_ACTION_GETRI, type, 3);
        number *in[OPERANDS];
        if (!is_float && !has_doubles())
            continue;
        add_operand(&tried, "A", SIDE, SIDE, IPT_READ_WRITE);
        add_operand(&tried, "pivots", SIDE, 1, IPT_WRITE);
        add_operand(&tried, "info", 1, 1, IPT_WRITE);
        for (size_t e = 0; e < tried.desc.count; ++e)
            for (size_t i = 0; i < SIDE; ++i)
                for (size_t j = 0; j < SIDE; ++j)
                    element(&tried, 0, e)[i * SIDE + j] = i == j || j == SIDE - 1 ? scale : j < i ? -scale : 0;
        assert_true(run_case(&tried, in));
        for (size_t e = 0; e < tried.desc.count; ++e) {
            assert_true(creal(*element(&tried, 2, e)) == 0);
            for (size_t i = 0; i < SIDE; ++i)
                for (size_t j = 0; j < SIDE; ++j) {
                    number sum = 0;
                    for (size_t k = 0; k < SIDE; ++k) /* A keeps only the signs of its elements */
                        sum += (i == k || k == SIDE - 1 ? 1
                                : k < i                 ? -1
                                                        : 0) *
                               (scale * element(&tried, 0, e)[k * SIDE + j]);
                    if (!(cabs(sum - (i == j)) < 100 * types[type].eps))
                        fail_msg("%s: A times its inverse is %g in row %zu, column %zu", types[type].name, creal(sum),
                                 i, j);
                }
        }
        end_inputs(&tried, in);
        end_case(&tried);
    }
}

/* Products with alpha and beta, of all types. */
static void actions_scaled_products(void **state)
{
    static const size_t sides[3] = {3, 4, 5};
    (void)state;
    always_scales = true;
    for (size_t type = 0; type < TEST_COUNT(types); ++type)
        if (has_doubles() || types[type].eps == FLT_EPSILON)
            try_product(IPT_MODEL_AUTO, type, sides);
    always_scales = false;
}

/* As Ha et al. 2013 do: the model, and work-groups of any number of sub-groups. */
static void actions_published(void **state)
{
    static const size_t sides[] = {2, 7, 31, 40, 70};
    (void)state;
    method = IPT_METHOD_UUSCI_2013;
    for (size_t i = 0; i < TEST_COUNT(sides); ++i) {
        const size_t type = has_doubles() ? i % TEST_COUNT(types) : 0;
        product_of_side(IPT_MODEL_AUTO, type, sides[i]);
        try_cholesky(IPT_MODEL_AUTO, type, sides[i]);
        try_lu(IPT_MODEL_AUTO, type, sides[i]);
        try_triangle(IPT_MODEL_AUTO, type, sides[i]);
    }
    method = IPT_METHOD_AUTO;
}

/* Sums and shares among 96, 160 and 192 lanes. */
static void actions_groups_of_sub_groups(void **state)
{
    static const size_t groups[] = {96, 160, 192};
    static const ipt_model models[] = {IPT_MODEL_WORK_GROUP, IPT_MODEL_LARGE, IPT_MODEL_GROUP, IPT_MODEL_INTERLEAVED,
                                       IPT_MODEL_ITEM};
    (void)state;
    odd_groups = 0;
    for (size_t g = 0; g < TEST_COUNT(groups); ++g)
        for (size_t m = 0; m < TEST_COUNT(models); ++m) {
            group_size = groups[g];
            product_of_side(models[m], 0, m < 2 ? 23 : 5);
            try_lu(models[m], 0, m < 2 ? 17 : 4);
        }
    group_size = 0;
    if (!odd_groups)
        test_skip("the device has no such work-groups");
}

/* The layout and the side of an element choose the model. */
static void actions_published_models(void **state)
{
    static const struct {
        ipt_layout layout;
        size_t side;
        const char *model;
    } cases[] = {{IPT_LAYOUT_PLANES, 3, "model item: 1 work-item to"},
                 {IPT_LAYOUT_ELEMENTS, 3, "model group: 4 work-items to"},
                 {IPT_LAYOUT_ELEMENTS, 31, "model group: 32 work-items to"},
                 {IPT_LAYOUT_ELEMENTS, 32, "model work-group: "},
                 {IPT_LAYOUT_PLANES, 24, "model interleaved: 32 work-items to"},
                 {IPT_LAYOUT_ELEMENTS, 200, "model large: "}};
    (void)state;
    test_need_compiler();
    test_need_group_of_32();
    ipt_context *const context = test_make_context(16384);
    for (size_t i = 0; i < TEST_COUNT(cases); ++i) {
        ipt_batch_operand operands[3] = {
            {.name = "A", .access = IPT_READ}, {.name = "B", .access = IPT_READ}, {.name = "C", .access = IPT_WRITE}};
        ipt_batch_desc desc = {.count = 1000,
                               .operands = operands,
                               .ready = IPT_ACTION_GEMM,
                               .operand_count = 3,
                               .method = IPT_METHOD_UUSCI_2013};
        ipt_batch *batch;
        for (size_t k = 0; k < 3; ++k) {
            operands[k].type = "float";
            operands[k].rows = operands[k].cols = cases[i].side;
            operands[k].layout = cases[i].layout;
        }
        assert_int_equal(ipt_batch_create(context, &desc, &batch), IPT_SUCCESS);
        if (!strstr(ipt_batch_describe(batch), cases[i].model))
            fail_msg("no %s in: %s", cases[i].model, ipt_batch_describe(batch));
        ipt_batch_destroy(batch);
        for (int field = 0; field < 5; ++field) {
            ipt_batch_desc wrong = desc;
            wrong.model = field == 0 ? IPT_MODEL_ITEM : IPT_MODEL_AUTO;
            wrong.lanes = field == 1 ? 4 : 0;
            wrong.group_size = field == 2 ? 64 : 0;
            wrong.flags = field == 3 ? IPT_MEASURE : 0;
            wrong.method = field == 4 ? IPT_METHOD_TPDS_2016 : wrong.method;
            test_expect_error(ipt_batch_create(context, &wrong, &batch), IPT_ERROR_INVALID_ARGUMENT,
                              field == 1 ? "lanes" : "method", NULL);
        }
    }
    ipt_context_destroy(context);
}

/* A random number from 1 to most, with all orders of magnitude equally likely. */
static size_t random_size(size_t most)
{
    const double exponent = (double)test_random_between(0, 1000) / 1000 * log((double)most + 0.999);
    return (size_t)exp(exponent);
}

static size_t environment_size(const char *name, size_t otherwise)
{
    const char *const value = getenv(name);
    return value ? (size_t)strtoull(value, NULL, 10) : otherwise;
}

/* Random actions of sides from 1 to 128. IPT_TEST_ACTIONS is their number, IPT_TEST_ELEMENTS the most elements. */
static void actions_any_size(void **state)
{
    static void (*const each[])(ipt_model, size_t, size_t) = {product_of_side, try_cholesky, try_lu, try_inverse,
                                                              try_triangle};
    const size_t cases = environment_size("IPT_TEST_ACTIONS", 6), most = environment_size("IPT_TEST_ELEMENTS", 50);
    const size_t components = 400 * most < 4000000 ? 400 * most : 4000000; /* bytes of the longest operand */
    const bool doubles = has_doubles();
    (void)state;
    for (size_t i = 0; i < cases; ++i) {
        const size_t action = test_random_between(0, TEST_COUNT(each) - 1), n = random_size(action == 3 ? 32 : 128),
                     type = test_random_between(0, 3), fit = components / (n * n) + 1;
        wanted_elements = random_size(most < fit ? most : fit);
        each[action]((ipt_model)test_random_between(0, IPT__MODEL_COUNT - 1), doubles ? type : type / 2 * 2, n);
    }
    wanted_elements = 0;
}

/* Refuses operands that a ready-made action does not have, or has with another type, shape or access. */
static void actions_bad_operands(void **state)
{
    const ipt_batch_operand good[3] = {{.name = "A", .type = "float", .rows = 3, .cols = 4, .access = IPT_READ},
                                       {.name = "B", .type = "float", .rows = 4, .cols = 2, .access = IPT_READ},
                                       {.name = "C", .type = "float", .rows = 3, .cols = 2, .access = IPT_WRITE}};
    ipt_batch *batch;
    (void)state;
#define EXPECT_REFUSED(part, other, ...)                                                                               \
    do {                                                                                                               \
        ipt_batch_operand operands[3];                                                                                 \
        ipt_batch_desc desc = {.count = 5, .operands = operands, .operand_count = 3, .ready = IPT_ACTION_GEMM};        \
        memcpy(operands, good, sizeof good);                                                                           \
        __VA_ARGS__;                                                                                                   \
        test_expect_parts(ipt_batch_create(test_context, &desc, &batch), IPT_ERROR_INVALID_ARGUMENT, part, other);     \
    } while (0)
    EXPECT_REFUSED("has no operand named D", "gemm", operands[2].name = "D");
    EXPECT_REFUSED("needs an operand named C", "gemm", desc.operand_count = 2);
    EXPECT_REFUSED("operand B of action gemm is 3 x 2", "4 rows", operands[1].rows = 3);
    EXPECT_REFUSED("operand C of action gemm is 3 x 1", "2 columns", operands[2].cols = 1);
    EXPECT_REFUSED("operand B of action gemm has type float2", "float is needed", operands[1].type = "float2");
    EXPECT_REFUSED("type int", "float, double, float2 or double2",
                   operands[0].type = operands[1].type = operands[2].type = "int");
    EXPECT_REFUSED("operand C of action gemm is written", NULL, operands[2].access = IPT_READ);
    EXPECT_REFUSED("options is 16: action gemm takes", "IPT_TRANSPOSE_B", desc.options = IPT_UPPER);
    EXPECT_REFUSED("options is 1: action none takes none", NULL, desc.options = IPT_TRANSPOSE_A;
                   desc.ready = IPT_ACTION_NONE; desc.action = ";");
    EXPECT_REFUSED("argument_type is float4", "float2", desc.argument_type = "float4");
    EXPECT_REFUSED("ready is gemm", "action", desc.action = ";");
    EXPECT_REFUSED("ready is 77", NULL, desc.ready = (ipt_action)77);
    EXPECT_REFUSED("operand B of action gemm is 4 x 2", "3 rows", desc.options = IPT_TRANSPOSE_A);
    EXPECT_REFUSED("needs an operand named info", "potrf", desc.ready = IPT_ACTION_POTRF; operands[0].cols = 3;
                   operands[0].access = IPT_READ_WRITE; desc.operand_count = 1);
    assert_string_equal(ipt_action_string(IPT_ACTION_POTRF), "potrf");
    assert_string_equal(ipt_action_string((ipt_action)-1), "unknown");
}

const struct CMUnitTest test_actions[] = {
    TEST_CASE(actions_products),         TEST_CASE(actions_larger_products),
    TEST_CASE(actions_cholesky),         TEST_CASE(actions_lu),
    TEST_CASE(actions_inverses),         TEST_CASE(actions_triangles),
    TEST_CASE(actions_published),        TEST_CASE(actions_groups_of_sub_groups),
    TEST_CASE(actions_published_models), TEST_CASE(actions_any_size),
    TEST_CASE(actions_bad_operands),     TEST_CASE(actions_far_from_one),
    TEST_CASE(actions_denormal),         TEST_CASE(actions_inverse_near_overflow),
    TEST_CASE(actions_scaled_products),
};
const size_t test_actions_count = TEST_COUNT(test_actions);
