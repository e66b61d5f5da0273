/* Random calls of examples/05_imatcopy.c against a plain loop, and against OpenBLAS' cblas_?imatcopy if installed:
 * every type, order and operation, with and without gaps. Every byte is compared. Elements and factors are small
 * integers and eighths, so all products are exact. Usage: imatcopy CASES [SEED]; exits with 77 without OpenBLAS.
 */
#define main example_main
#include "examples/05_imatcopy.c"
#undef main

#include <dlfcn.h>
#include <stdint.h>

enum { GUARD = 256, SKIPPED = 77 };

static void fail(const char *what)
{
    fprintf(stderr, "FAILED: %s\n", what);
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

/* Functions of OpenBLAS. The enumerators of CBLAS have the order of these letters. */
typedef struct blas {
    void (*s)(int, int, int, int, float, float *, int, int);
    void (*d)(int, int, int, int, double, double *, int, int);
    void (*c)(int, int, int, int, const float *, float *, int, int);
    void (*z)(int, int, int, int, const double *, double *, int, int);
    int loaded, short_of_memory; /* see blas_can */
} blas;
static const char orders[] = "RC", operations[] = "NTCR", kinds[] = "sdcz";
enum { CBLAS_ROW_MAJOR = 101, CBLAS_NO_TRANS = 111 };

static blas blas_open(void)
{
    blas blas = {0};
    void *found[4] = {0}, *library = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL);
    char name[] = "cblas_?imatcopy";
    char *(*config)(void) = NULL;
    int version[3] = {0, 0, 0};
    blas.loaded = library != NULL;
    for (int kind = 0; kind < 4 && library != NULL; ++kind) {
        name[6] = kinds[kind];
        found[kind] = dlsym(library, name);
        blas.loaded &= found[kind] != NULL;
    }
    /* memcpy: C has no cast from an object pointer to a function pointer. */
    memcpy(&blas.s, &found[0], sizeof blas.s);
    memcpy(&blas.d, &found[1], sizeof blas.d);
    memcpy(&blas.c, &found[2], sizeof blas.c);
    memcpy(&blas.z, &found[3], sizeof blas.z);
    found[0] = library != NULL ? dlsym(library, "openblas_get_config") : NULL;
    memcpy(&config, &found[0], sizeof config);
    if (config == NULL || sscanf(config(), "OpenBLAS %d.%d.%d", &version[0], &version[1], &version[2]) != 3)
        version[0] = 0;
    blas.short_of_memory = (version[0] * 1000 + version[1]) * 1000 + version[2] < 3024;
    if (blas.loaded)
        printf("imatcopy: OpenBLAS %d.%d.%d\n", version[0], version[1], version[2]);
    return blas;
}

/* The arguments of a call. */
typedef struct trial {
    int kind, order, operation; /* indices of the letters */
    size_t rows, cols, lda, ldb;
    float alpha[2];
} trial;

static int transposes(const trial *t)
{
    return operations[t->operation] == 'T' || operations[t->operation] == 'C';
}

/* The number of lines in memory: before the call (0) and after it (1). */
static size_t lines_of(const trial *t, int after)
{
    return (orders[t->order] == 'R') != (after && transposes(t)) ? t->rows : t->cols;
}
static size_t length_of(const trial *t, int after)
{
    return t->rows * t->cols / lines_of(t, after);
}
static size_t ld_of(const trial *t, int after)
{
    return after ? t->ldb : t->lda;
}
static size_t elements_of(const trial *t, int after)
{
    return (lines_of(t, after) - 1) * ld_of(t, after) + length_of(t, after);
}

static int has_element(const trial *t, int after, size_t place)
{
    return place / ld_of(t, after) < lines_of(t, after) && place % ld_of(t, after) < length_of(t, after);
}

/* Bytes of the longer one of the source and the result. */
static size_t bytes_of(const trial *t)
{
    const size_t before = elements_of(t, 0), after = elements_of(t, 1);
    return (before > after ? before : after) * numbers[t->kind].size;
}

static void print(const trial *t)
{
    fprintf(stderr, "%cimatcopy('%c', '%c', %zu, %zu, %g%+gi, AB, %zu, %zu)\n", kinds[t->kind], orders[t->order],
            operations[t->operation], t->rows, t->cols, t->alpha[0], t->alpha[1], t->lda, t->ldb);
}

static int call_example(const trial *t, void *AB)
{
    const double wide[2] = {t->alpha[0], t->alpha[1]};
    const char order = orders[t->order], operation = operations[t->operation];
    const ptrdiff_t rows = (ptrdiff_t)t->rows, cols = (ptrdiff_t)t->cols, lda = (ptrdiff_t)t->lda,
                    ldb = (ptrdiff_t)t->ldb;
    switch (kinds[t->kind]) {
    case 's':
        return my_simatcopy(order, operation, rows, cols, t->alpha[0], AB, lda, ldb);
    case 'd':
        return my_dimatcopy(order, operation, rows, cols, wide[0], AB, lda, ldb);
    case 'c':
        return my_cimatcopy(order, operation, rows, cols, t->alpha, AB, lda, ldb);
    default:
        return my_zimatcopy(order, operation, rows, cols, wide, AB, lda, ldb);
    }
}

static void call_blas(const blas *blas, const trial *t, void *AB)
{
    const double wide[2] = {t->alpha[0], t->alpha[1]};
    const int order = CBLAS_ROW_MAJOR + t->order, operation = CBLAS_NO_TRANS + t->operation, rows = (int)t->rows,
              cols = (int)t->cols, lda = (int)t->lda, ldb = (int)t->ldb;
    switch (kinds[t->kind]) {
    case 's':
        blas->s(order, operation, rows, cols, t->alpha[0], AB, lda, ldb);
        return;
    case 'd':
        blas->d(order, operation, rows, cols, wide[0], AB, lda, ldb);
        return;
    case 'c':
        blas->c(order, operation, rows, cols, t->alpha, AB, lda, ldb);
        return;
    default:
        blas->z(order, operation, rows, cols, wide, AB, lda, ldb);
    }
}

/* OpenBLAS up to 0.3.23 copies through max(lda, ldb) * ldb elements, whatever the number of rows. Without a
 * transposition the rows may need more: OpenBLAS then writes beyond this memory (its issue 4038). Long rows of the
 * result need much memory. */
static int blas_can(const blas *blas, const trial *t)
{
    const size_t wider = t->lda > t->ldb ? t->lda : t->ldb;
    return blas->loaded && wider * t->ldb * numbers[t->kind].size < (size_t)1 << 28 &&
           (!blas->short_of_memory || transposes(t) || lines_of(t, 0) <= wider);
}

/* The reference: writes the result's elements to `to`. from: the content before. */
static void refer(const trial *t, const char *from, char *to)
{
    const number *kind = numbers + t->kind;
    const char operation = operations[t->operation];
    for (size_t row = 0; row < t->rows; ++row)
        for (size_t col = 0; col < t->cols; ++col) {
            const size_t source = orders[t->order] == 'R' ? row * t->lda + col : col * t->lda + row;
            const size_t target = (orders[t->order] == 'R') != transposes(t) ? row * t->ldb + col : col * t->ldb + row;
            const char *x = from + source * kind->size;
            const double re = load(kind, x, 0), im = kind->parts == 2 ? load(kind, x, 1) : 0,
                         sign = operation == 'C' || operation == 'R' ? -1 : 1;
            store(kind, to + target * kind->size, 0, t->alpha[0] * re - t->alpha[1] * (sign * im));
            if (kind->parts == 2)
                store(kind, to + target * kind->size, 1, t->alpha[0] * (sign * im) + t->alpha[1] * re);
        }
}

/* Compares a result with the reference: elements as numbers (0 equals -0), other bytes as bytes. Returns 0 (equal), 1
 * (an element is wrong) or 2 (a gap has changed). */
static int differs(const trial *t, const char *expected, const char *got, size_t *place)
{
    const number *kind = numbers + t->kind;
    for (*place = 0; *place < bytes_of(t) / kind->size; ++*place) {
        const char *a = expected + *place * kind->size, *b = got + *place * kind->size;
        const int element = has_element(t, 1, *place);
        for (size_t part = 0; part < kind->parts && element; ++part)
            if (load(kind, a, part) != load(kind, b, part))
                return 1;
        if (!element && !has_element(t, 0, *place) && memcmp(a, b, kind->size) != 0)
            return 2;
    }
    return 0;
}

static size_t any_side(void)
{
    return between(0, 30) ? between(1, between(0, 3) ? 200 : 8) : between(200, 900);
}

static size_t any_ld(size_t length)
{
    switch (between(0, 4)) {
    case 0:
    case 1:
        return length;
    case 2:
        return (length + 63) / 64 * 64;
    case 3:
        return length + between(1, 9);
    default:
        return length * between(1, 3) + between(0, 20);
    }
}

static void any_shape(trial *t)
{
    t->kind = (int)between(0, 3);
    t->order = (int)between(0, 1);
    t->operation = (int)between(0, 3);
    t->rows = any_side();
    t->cols = between(0, 5) ? any_side() : t->rows;
    if (between(0, 60) == 0) /* thin */
        *(between(0, 1) ? &t->rows : &t->cols) = between(1000, 30000) / (t->rows < t->cols ? t->rows : t->cols) + 1;
    t->lda = any_ld(length_of(t, 0));
    t->ldb = any_ld(length_of(t, 1));
    if (between(0, 2) == 0)
        t->lda = t->ldb = t->lda > t->ldb ? t->lda : t->ldb;
}

/* Draws new arguments. One case in four repeats the last shape, so that plans are reused. */
static void change(trial *t)
{
    if (t->rows == 0 || between(0, 3))
        do
            any_shape(t);
        while (bytes_of(t) > (size_t)16 << 20);
    t->alpha[0] = (float)(between(0, 3) ? (double)between(0, 2) - 1 : ((double)between(0, 126) - 63) / 8);
    t->alpha[1] = 0;
    if (numbers[t->kind].parts == 2 && between(0, 2))
        t->alpha[1] = (float)(between(0, 1) ? (double)between(0, 2) - 1 : ((double)between(0, 126) - 63) / 8);
}

/* Fills gaps with random bytes, which may be NaNs, and elements with small numbers. */
static void fill(const trial *t, char *memory)
{
    const number *kind = numbers + t->kind;
    for (size_t i = 0; i < bytes_of(t); ++i)
        memory[i] = (char)between(0, 255);
    for (size_t place = 0; place < elements_of(t, 0); ++place)
        for (size_t part = 0; part < kind->parts && has_element(t, 0, place); ++part)
            store(kind, memory + place * kind->size, part, (double)between(0, 16382) - 8191);
}

/* The cases in which OpenBLAS differs from the reference. cblas_cimatcopy and cblas_zimatcopy of 0.3.21 do not
 * conjugate column-major squares with trans R, lda == ldb and alpha == 1. OpenBLAS 0.3.34 does. */
typedef struct tally {
    size_t compared, elements, gaps;
} tally;
static tally tallies[4][2][4][3][2][2]; /* [type][order][operation][lda <, ==, > ldb][square][alpha is 1] */

static void compare_blas(const blas *blas, const trial *t, const char *before, const char *expected)
{
    const size_t lda = t->lda, ldb = t->ldb, more = (lda > ldb ? lda : ldb) * numbers[t->kind].size;
    tally *tally = &tallies[t->kind][t->order][t->operation][(lda > ldb) + (lda >= ldb)][t->rows == t->cols]
                           [t->alpha[0] == 1 && t->alpha[1] == 0];
    size_t place;
    char *memory = calloc(1, bytes_of(t) + more);
    if (memory == NULL)
        fail("no memory");
    memcpy(memory, before, bytes_of(t));
    call_blas(blas, t, memory);
    const int how = differs(t, expected, memory, &place);
    ++tally->compared;
    tally->elements += how == 1;
    tally->gaps += how == 2;
    free(memory);
}

/* Runs a case. For address sanitizers, half of the matrices fill their allocation. The others have guards. */
static void run(const blas *blas, const trial *t)
{
    const size_t bytes = bytes_of(t), guard = between(0, 1) ? GUARD : 0, all = bytes + 2 * guard;
    char *memory = malloc(all), *before = malloc(all), *expected = malloc(all);
    size_t place;
    if (memory == NULL || before == NULL || expected == NULL)
        fail("no memory");
    memset(before, 0x5a, all);
    fill(t, before + guard);
    memcpy(memory, before, all);
    memcpy(expected, before, all);
    refer(t, before + guard, expected + guard);
    if (call_example(t, memory + guard) != 0) {
        print(t);
        fail(imatcopy_error);
    }
    const int how = differs(t, expected + guard, memory + guard, &place);
    if (how != 0) {
        print(t);
        fprintf(stderr, "element %zu of the memory\n", place);
        fail(how == 1 ? "an element is wrong" : "a gap has changed");
    }
    if (memcmp(memory, before, guard) != 0 || memcmp(memory + guard + bytes, before + guard + bytes, guard) != 0) {
        print(t);
        fail("bytes beside the matrix have changed");
    }
    if (blas_can(blas, t))
        compare_blas(blas, t, before + guard, expected + guard);
    free(memory);
    free(before);
    free(expected);
}

/* Calls that are refused. X(type, order, trans, rows, cols, alpha, AB, lda, ldb, the argument's number, its text) */
#define REFUSED_LIST(X)                                                                                                \
    X(0, 'X', 'N', 2, 3, one, AB, 3, 3, 1, "order is 'X'")                                                             \
    X(1, 0, 'X', -1, 3, one, AB, 3, 3, 1, "order")                                                                     \
    X(1, 'R', 'X', 2, 3, one, AB, 3, 3, 2, "trans is 'X'")                                                             \
    X(2, 'C', 'Q', -2, 3, one, AB, 3, 3, 2, "trans")                                                                   \
    X(2, 'R', 'N', -1, 3, one, AB, 3, 3, 3, "rows = -1")                                                               \
    X(0, 'C', 'N', -1, -3, one, AB, 3, 3, 3, "rows = -1")                                                              \
    X(3, 'C', 'T', 2, -3, one, AB, 3, 3, 4, "cols = -3")                                                               \
    X(2, 'R', 'C', 2, 3, NULL, AB, 3, 2, 5, "alpha is NULL")                                                           \
    X(3, 'R', 'R', 2, 3, NULL, AB, 1, 1, 5, "alpha is NULL")                                                           \
    X(0, 'R', 'T', 2, 3, one, NULL, 3, 2, 6, "AB is NULL")                                                             \
    X(3, 'C', 'N', 2, 3, one, NULL, 1, 2, 6, "AB is NULL")                                                             \
    X(0, 'R', 'T', 2, 3, one, AB, 2, 2, 7, "lda = 2: must be at least 3")                                              \
    X(1, 'C', 'T', 2, 3, one, AB, 1, 3, 7, "lda = 1: must be at least 2")                                              \
    X(2, 'R', 'N', 2, 3, one, AB, -3, 1, 7, "lda = -3: must be at least 3")                                            \
    X(2, 'R', 'N', 2, 0, one, AB, 0, 1, 7, "lda = 0: must be at least 1")                                              \
    X(0, 'R', 'T', 2, 3, one, AB, 3, 1, 8, "ldb = 1: must be at least 2")                                              \
    X(1, 'R', 'N', 2, 3, one, AB, 3, 2, 8, "ldb = 2: must be at least 3")                                              \
    X(2, 'C', 'C', 2, 3, one, AB, 2, 2, 8, "ldb = 2: must be at least 3")                                              \
    X(3, 'C', 'R', 2, 3, one, AB, 2, 1, 8, "ldb = 1: must be at least 2")                                              \
    X(3, 'C', 'R', 0, 3, one, AB, 1, 0, 8, "ldb = 0: must be at least 1")

/* Calls with empty matrices, which do nothing. */
#define EMPTY_LIST(X)                                                                                                  \
    X(0, 'R', 'T', 0, 3, one, AB, 3, 1, 0, "")                                                                         \
    X(1, 'C', 'T', 2, 0, one, AB, 2, 1, 0, "")                                                                         \
    X(2, 'R', 'C', 0, 0, one, NULL, 1, 1, 0, "")                                                                       \
    X(3, 'C', 'N', 0, 9, one, NULL, 1, 1, 0, "")

#define REFUSED_CALL(kind, order, trans, rows, cols, alpha, AB, lda, ldb, number, text)                                \
    check_refused(imatcopy(kind, order, trans, rows, cols, alpha, AB, lda, ldb), number, text,                         \
                  #kind " " #order " " #trans " " #rows " x " #cols ", " #alpha ", " #AB ", lda " #lda ", ldb " #ldb);
static size_t refusals;
static void check_refused(int result, int number, const char *text, const char *call)
{
    if (result != number || strstr(imatcopy_error, text) == NULL) {
        fprintf(stderr, "%s: returned %d, \"%s\"\n", call, result, imatcopy_error);
        fail("a call has to be refused, or to do nothing");
    }
    ++refusals;
}

static void refuse_all(void)
{
    static const double one[2] = {1, 0};
    double AB[32], before[32];
    for (int i = 0; i < 32; ++i)
        AB[i] = before[i] = i;
    REFUSED_LIST(REFUSED_CALL)
    EMPTY_LIST(REFUSED_CALL)
    if (memcmp(AB, before, sizeof AB) != 0)
        fail("a refused call has changed the matrix");
}

/* Prints each class of arguments for which OpenBLAS differs. */
static void report(void)
{
    static const char *const relations[] = {"lda < ldb", "lda == ldb", "lda > ldb"};
    size_t compared = 0, different = 0;
    for (size_t i = 0; i < sizeof tallies / sizeof(tally); ++i) {
        const tally *tally = &tallies[0][0][0][0][0][0] + i;
        const size_t wrong = tally->elements + tally->gaps;
        compared += tally->compared;
        different += wrong;
        if (wrong != 0)
            printf("OpenBLAS differs: cblas_%cimatcopy, order %c, trans %c, %s, rows %s cols, alpha %s 1: %zu of %zu "
                   "results, %zu of them in gaps only\n",
                   kinds[i / 96], orders[i / 48 % 2], operations[i / 12 % 4], relations[i / 4 % 3],
                   i / 2 % 2 ? "==" : "!=", i % 2 ? "==" : "!=", wrong, tally->compared, tally->gaps);
    }
    if (different * 10 > compared)
        fail("OpenBLAS and the reference differ in more than a tenth of the calls");
    printf("imatcopy: %zu calls compared with OpenBLAS, which yields another result in %zu\n", compared, different);
}

int main(int count, char **arguments)
{
    const size_t cases = count > 1 ? (size_t)strtoull(arguments[1], NULL, 10) : 300;
    const uint64_t seed = count > 2 ? strtoull(arguments[2], NULL, 10) : 1;
    const blas blas = blas_open();
    float first[2] = {1, 2};
    trial t = {0};
    refuse_all();
    if (my_simatcopy('R', 'T', 1, 2, 1, first, 2, 1) != 0) /* this call sets has_doubles */
        fail(imatcopy_error);
    const int doubles = has_doubles;
    for (size_t i = 0; i < cases; ++i) {
        state = seed << 32 ^ i;
        change(&t);
        has_doubles = doubles && between(0, 3); /* sometimes as if the device had no doubles */
        run(&blas, &t);
    }
    printf("imatcopy: %zu random calls and %zu refused ones right, %u plans\n", cases, refusals, plans_made);
    imatcopy_end();
    if (!blas.loaded) {
        printf("imatcopy: not compared with OpenBLAS: libopenblas.so.0 (Debian: libopenblas0-pthread) is missing\n");
        return SKIPPED;
    }
    report();
    return EXIT_SUCCESS;
}
