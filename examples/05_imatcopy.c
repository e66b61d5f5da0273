/* The function imatcopy of BLAS libraries on top of ipt: AB := alpha * op(AB), in place in host memory. op transposes,
 * conjugates, does both or neither. The rows of AB are lda elements apart before a call and ldb after it. The elements
 * between the rows keep their values wherever neither form has an element. ipt transposes, and multiplies on the way.
 * Calls without a transposition never leave the host. The context and the last plans serve later calls, one thread at a
 * time. */
#define IPT_IMPLEMENTATION
#include "ipt.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A type of elements. The products are OpenCL C: x is the element and a is alpha. */
typedef struct number {
    size_t parts, size; /* 2 parts: real and imaginary; bytes of an element */
    const char *type, *product, *conjugate_product;
} number;

#define PRODUCT(type) "(" type ")(x.x * a.x - x.y * a.y, x.x * a.y + x.y * a.x)"
#define CONJUGATE_PRODUCT(type) "(" type ")(x.x * a.x + x.y * a.y, x.x * a.y - x.y * a.x)"
static const number numbers[] = {{1, 4, "float", "x * a", "x * a"},
                                 {1, 8, "double", "x * a", "x * a"},
                                 {2, 8, "float2", PRODUCT("float2"), CONJUGATE_PRODUCT("float2")},
                                 {2, 16, "double2", PRODUCT("double2"), CONJUGATE_PRODUCT("double2")}};

/* A call in row-major terms. It has no padding: transpositions of equal bytes have the same plan. */
typedef struct work {
    const number *kind;
    size_t lines, length, lda, ldb; /* `lines` rows of `length` elements before the call */
    size_t conjugates;
    double alpha[2]; /* real and imaginary part */
} work;

enum { MOST_PLANS = 8 };
static struct {
    work done;
    ipt_plan *plan;
} plans[MOST_PLANS];
static unsigned plans_made;
static ipt_context *context;
static int has_doubles; /* the device computes with doubles */
static char imatcopy_error[512];

/* Writes the sentence of an error. Returns the number of the refused argument; ipt's own failures have -1. */
static int refuse(int argument, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(imatcopy_error, sizeof imatcopy_error, format, arguments);
    va_end(arguments);
    return argument;
}

static int is_double(const number *kind)
{
    return kind->size / kind->parts == sizeof(double);
}

static double load(const number *kind, const void *element, size_t part)
{
    return is_double(kind) ? ((const double *)element)[part] : ((const float *)element)[part];
}

static void store(const number *kind, void *element, size_t part, double value)
{
    if (is_double(kind))
        ((double *)element)[part] = value;
    else
        ((float *)element)[part] = (float)value;
}

static int changes_elements(const work *w)
{
    return w->conjugates || w->alpha[0] != 1 || w->alpha[1] != 0;
}

/* Multiplies rows that are ldb apart, on the host. An alpha of 0 yields zeros, also from infinities and NaNs. */
static void multiply(const work *w, char *AB, size_t lines, size_t length)
{
    const double re = w->alpha[0], im = w->alpha[1];
    for (size_t i = 0; i < lines * length; ++i) {
        char *element = AB + (i / length * w->ldb + i % length) * w->kind->size;
        const double x = load(w->kind, element, 0);
        if (re == 0 && im == 0) {
            memset(element, 0, w->kind->size);
        } else if (w->kind->parts == 1) {
            store(w->kind, element, 0, re * x);
        } else {
            const double y = load(w->kind, element, 1) * (w->conjugates ? -1 : 1);
            store(w->kind, element, 0, re * x - im * y);
            store(w->kind, element, 1, re * y + im * x);
        }
    }
}

/* Moves rows from lda to ldb. No row overwrites one that has yet to move. */
static void move_rows(const work *w, char *AB)
{
    const size_t size = w->kind->size;
    for (size_t i = 0; i < w->lines; ++i) {
        const size_t line = w->lda < w->ldb ? w->lines - 1 - i : i;
        memmove(AB + line * w->ldb * size, AB + line * w->lda * size, w->length * size);
    }
}

/* Returns the plan of a transposition; NULL: ipt has failed. A new plan replaces the oldest one. All values of alpha
 * share a program, because alpha is the expression's argument. */
static ipt_plan *plan_of(const work *w)
{
    for (int i = 0; i < MOST_PLANS; ++i)
        if (plans[i].plan != NULL && memcmp(&plans[i].done, w, sizeof *w) == 0)
            return plans[i].plan;
    double alpha[2];
    ipt_plan_desc desc = {0};
    desc.rows = w->lines;
    desc.cols = w->length;
    desc.elem_size = w->kind->size;
    desc.row_pitch = w->lda * desc.elem_size;
    desc.row_pitch_out = w->ldb * desc.elem_size;
    if (w->lda != w->length || w->ldb != w->lines) /* thin matrices with gaps need a larger workspace */
        desc.max_workspace = ((size_t)1 << 20) + w->lines * w->length * desc.elem_size;
    if (changes_elements(w)) {
        for (size_t part = 0; part < w->kind->parts; ++part)
            store(w->kind, alpha, part, w->alpha[part]);
        desc.expression = w->conjugates ? w->kind->conjugate_product : w->kind->product;
        desc.expression_type = w->kind->type;
        desc.expression_argument = alpha;
    }
    const unsigned next = plans_made++ % MOST_PLANS;
    ipt_plan_destroy(plans[next].plan);
    plans[next].done = *w;
    return ipt_plan_create(context, &desc, &plans[next].plan) == IPT_SUCCESS ? plans[next].plan : NULL;
}

/* Transposes on the device. A device without doubles moves them, and the host multiplies them. */
static int transpose(const work *w, char *AB)
{
    if (context == NULL) {
        cl_device_fp_config doubles = 0;
        const ipt_context_desc desc = {.driver = IPT_DRIVER_OPENCL}; /* it compiles expressions */
        if (ipt_context_create(&desc, &context) != IPT_SUCCESS)
            return refuse(-1, "%s", ipt_context_error(NULL));
        clGetDeviceInfo(ipt_context_cl_device(context), CL_DEVICE_DOUBLE_FP_CONFIG, sizeof doubles, &doubles, NULL);
        has_doubles = doubles != 0;
    }
    const int on_host = is_double(w->kind) && !has_doubles && changes_elements(w);
    work moved = *w;
    if (on_host)
        moved.conjugates = 0, moved.alpha[0] = 1, moved.alpha[1] = 0;
    ipt_plan *plan = plan_of(&moved);
    if (plan == NULL || ipt_plan_execute_host(plan, AB) != IPT_SUCCESS)
        return refuse(-1, "%s", ipt_context_error(context));
    if (on_host)
        multiply(w, AB, w->length, w->lines);
    return 0;
}

/* Returns 0, the number of the first wrong argument (order is 1, ldb is 8), or -1 for a failure of ipt. imatcopy_error
 * has the sentence. kind: an index of numbers. */
static int imatcopy(int kind, char order, char trans, ptrdiff_t rows, ptrdiff_t cols, const void *alpha, void *AB,
                    ptrdiff_t lda, ptrdiff_t ldb)
{
    if (order != 'R' && order != 'C')
        return refuse(1, "order is '%c': must be 'R' (row-major) or 'C' (column-major)", order);
    if (trans != 'N' && trans != 'T' && trans != 'C' && trans != 'R')
        return refuse(2, "trans is '%c': must be 'N', 'T', 'C' (conjugate transpose) or 'R' (conjugate)", trans);
    if (rows < 0 || cols < 0)
        return refuse(rows < 0 ? 3 : 4, "rows = %td, cols = %td: must be at least 0", rows, cols);
    if (alpha == NULL)
        return refuse(5, "alpha is NULL: must point to its real and imaginary part");
    if (AB == NULL && rows > 0 && cols > 0)
        return refuse(6, "AB is NULL: must point to the matrix");
    /* A column-major matrix has the same bytes as the row-major one with swapped sides. */
    const ptrdiff_t lines = order == 'R' ? rows : cols, length = order == 'R' ? cols : rows;
    const int transposes = trans == 'T' || trans == 'C';
    const ptrdiff_t lines_out = transposes ? length : lines, length_out = transposes ? lines : length;
    if (lda < length || lda < 1)
        return refuse(7, "lda = %td: must be at least %td", lda, length < 1 ? 1 : length);
    if (ldb < length_out || ldb < 1)
        return refuse(8, "ldb = %td: must be at least %td", ldb, length_out < 1 ? 1 : length_out);
    if (rows == 0 || cols == 0)
        return 0;
    work w = {numbers + kind, (size_t)lines, (size_t)length, (size_t)lda, (size_t)ldb, 0, {0, 0}};
    w.conjugates = w.kind->parts == 2 && (trans == 'C' || trans == 'R');
    for (size_t part = 0; part < w.kind->parts; ++part)
        w.alpha[part] = load(w.kind, alpha, part);
    if (transposes && (w.alpha[0] != 0 || w.alpha[1] != 0))
        return transpose(&w, AB);
    if (!transposes)
        move_rows(&w, AB);
    if (changes_elements(&w))
        multiply(&w, AB, (size_t)lines_out, (size_t)length_out);
    return 0;
}

/* The functions of BLAS libraries. Complex numbers are pairs of a real and an imaginary part. */
#define IMATCOPY(name, kind, type, alpha_parameter, alpha_address)                                                     \
    static int name(char order, char trans, ptrdiff_t rows, ptrdiff_t cols, alpha_parameter, type *AB, ptrdiff_t lda,  \
                    ptrdiff_t ldb)                                                                                     \
    {                                                                                                                  \
        return imatcopy(kind, order, trans, rows, cols, alpha_address, AB, lda, ldb);                                  \
    }
IMATCOPY(my_simatcopy, 0, float, float alpha, &alpha)
IMATCOPY(my_dimatcopy, 1, double, double alpha, &alpha)
IMATCOPY(my_cimatcopy, 2, float, const float *alpha, alpha)
IMATCOPY(my_zimatcopy, 3, double, const double *alpha, alpha)

static void imatcopy_end(void)
{
    for (int i = 0; i < MOST_PLANS; ++i)
        ipt_plan_destroy(plans[i].plan);
    ipt_context_destroy(context);
}

int main(void)
{
    enum { ROWS = 300, COLS = 211, LDA = 224, LDB = 304, BOTH = ROWS * LDA }; /* COLS * LDB is smaller */
    static float packed[ROWS * COLS], pairs[2 * BOTH];
    int failed = 0, wrong = 0;
    for (int call = 0; call < 3; ++call) { /* transposes floats; the third call has the first one's plan */
        const float alpha = call == 1 ? -2.0f : 1.0f;
        for (int i = 0; i < ROWS * COLS; ++i)
            packed[i] = (float)i;
        failed |= my_simatcopy('R', 'T', ROWS, COLS, alpha, packed, COLS, ROWS);
        for (int i = 0; i < ROWS * COLS; ++i)
            wrong += packed[i % COLS * ROWS + i / COLS] != alpha * (float)i;
    }
    /* i times the conjugate transpose of complex numbers. Rows have gaps before and after. */
    const float imaginary[2] = {0, 1};
    for (int i = 0; i < BOTH; ++i)
        pairs[2 * i] = (float)i, pairs[2 * i + 1] = -1;
    failed |= my_cimatcopy('R', 'C', ROWS, COLS, imaginary, pairs, LDA, LDB);
    for (int i = 0; i < BOTH; ++i)
        if (i / LDB < COLS && i % LDB < ROWS) /* from i: i times the conjugate of (i - 1 i) */
            wrong += pairs[2 * i] != -1 || pairs[2 * i + 1] != (float)(i % LDB * LDA + i / LDB);
        else if (i % LDA >= COLS) /* no element, neither before nor after */
            wrong += pairs[2 * i] != (float)i || pairs[2 * i + 1] != -1;
    /* Column-major doubles: two columns of two, three times as large and closer together. The last 8 stays. */
    double tall[] = {1, 2, 7, 3, 4, 8};
    failed |= my_dimatcopy('C', 'N', 2, 2, 3, tall, 3, 2);
    wrong += tall[0] != 3 || tall[1] != 6 || tall[2] != 9 || tall[3] != 12 || tall[5] != 8;
    if (failed) {
        fprintf(stderr, "imatcopy: %s\n", imatcopy_error);
        return EXIT_FAILURE;
    }
    wrong += plans_made != 3 || my_zimatcopy('R', 'T', 1, 2, tall, tall, 1, 1) != 7;
    printf("imatcopy: %d elements wrong; refused, as it has to be: %s\n", wrong, imatcopy_error);
    imatcopy_end();
    return wrong == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
