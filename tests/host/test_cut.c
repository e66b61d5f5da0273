/* Matrices that do not fit, in memory and in a storage: ipt cuts them into panels or transposes a few at a time. Every
 * shape is transposed right, within the memory limit, and no other byte changes. After any interruption, the work in a
 * storage can be resumed. A matrix that cannot be cut is refused with a message. */
#define _POSIX_C_SOURCE 200809L
#include "meter.h"
#include "test.h"
#include "pages.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------------------------------------------------------ */
/* A storage in memory that detects forbidden accesses, and fails on request */
/* ------------------------------------------------------------------------------------------------------------------ */

typedef struct store {
    ipt_plan_desc desc;
    size_t span;
    unsigned char *content, *before, *expected;
    pthread_mutex_t lock;
    /* The lock guards the following. */
    long calls_left; /* reads and writes before one fails (a write in its middle); below 0: none fails */
    int broken;      /* all later calls fail, too */
    size_t stray;    /* changed bytes beside the matrices */
    size_t writes;   /* calls */
    size_t moved;    /* bytes read and written */
    size_t ready_count, steps, stop_at; /* stop_at: the step whose `ready` cancels; SIZE_MAX: none */
    const void *prepared;               /* the piece that the last `ready` reported; copied to `copy` */
    unsigned char *copy;
    size_t copy_bytes, changed;
    unsigned char *memory, *told; /* the step memory, and a copy of the pieces that `ready` reports; NULL: no copy */
    size_t (*pieces)[2];          /* offset and bytes of each step's piece in memory */
    size_t break_at,
        last_calls; /* break_at: after this step's `ready` last_calls calls succeed; SIZE_MAX: no such step */
} store;

static store *make_store(const ipt_plan_desc *desc)
{
    store *made = calloc(1, sizeof *made);
    assert_non_null(made);
    made->desc = *desc;
    made->span = test_span(desc);
    made->content = malloc(made->span);
    made->before = malloc(made->span);
    made->expected = malloc(made->span);
    assert_true(made->content && made->before && made->expected);
    test_fill(made->before, made->span);
    memcpy(made->content, made->before, made->span);
    memcpy(made->expected, made->before, made->span);
    test_reference(made->expected, made->before, desc);
    pthread_mutex_init(&made->lock, NULL);
    made->calls_left = -1;
    made->stop_at = made->break_at = SIZE_MAX;
    return made;
}

static void end_store(store *its)
{
    free(its->content);
    free(its->before);
    free(its->expected);
    free(its->copy);
    pthread_mutex_destroy(&its->lock);
    free(its);
}

/* Whether this call fails. Counts accesses outside the matrices. */
static int store_called(store *its, size_t offset, size_t bytes)
{
    const size_t stride = test_stride(&its->desc), matrix = test_matrix_bytes(&its->desc);
    int fails;
    pthread_mutex_lock(&its->lock);
    if (!bytes || offset > its->span || bytes > its->span - offset ||
        (stride != matrix && offset % stride + bytes > matrix))
        ++its->stray;
    fails = its->broken || its->calls_left == 0;
    its->moved += bytes;
    its->broken = fails;
    its->calls_left -= its->calls_left > 0;
    pthread_mutex_unlock(&its->lock);
    return fails;
}

static int store_read(void *memory, size_t offset, size_t bytes, void *user)
{
    store *const its = user;
    if (store_called(its, offset, bytes))
        return 1;
    memcpy(memory, its->content + offset, bytes);
    return 0;
}

static int store_write(const void *memory, size_t offset, size_t bytes, void *user)
{
    store *const its = user;
    const int fails = store_called(its, offset, bytes);
    pthread_mutex_lock(&its->lock);
    ++its->writes;
    pthread_mutex_unlock(&its->lock);
    memcpy(its->content + offset, memory, fails ? bytes / 2 : bytes); /* as if the process was killed */
    return fails;
}

static int store_ready(size_t step, size_t steps, const void *content, size_t bytes, void *user)
{
    store *const its = user;
    assert_true(content && bytes);
    assert_true(step < steps && (!its->steps || its->steps == steps));
    its->steps = steps;
    /* The piece of the last step must be unchanged until now. */
    its->changed += its->prepared && memcmp(its->prepared, its->copy, its->copy_bytes) != 0;
    if (step == its->stop_at)
        return 1;
    its->prepared = content;
    its->copy = realloc(its->copy, bytes);
    assert_non_null(its->copy);
    memcpy(its->copy, content, bytes);
    its->copy_bytes = bytes;
    if (its->told) {
        assert_int_equal(step, its->ready_count);
        its->pieces = realloc(its->pieces, steps * sizeof *its->pieces);
        assert_non_null(its->pieces);
        its->pieces[step][0] = (size_t)((const unsigned char *)content - its->memory);
        its->pieces[step][1] = bytes;
        memcpy(its->told + its->pieces[step][0], content, bytes);
    }
    its->ready_count = step + 1;
    if (step == its->break_at) {
        pthread_mutex_lock(&its->lock);
        its->calls_left = (long)its->last_calls;
        pthread_mutex_unlock(&its->lock);
    }
    return 0;
}

static ipt_storage store_of(store *its, void *memory)
{
    const ipt_storage made = {store_read, store_write, store_ready, its, memory, 0};
    return made;
}

static int store_holds(const store *its, const unsigned char *content)
{
    for (size_t i = 0; i < its->span; ++i)
        if (its->content[i] != content[i]) {
            test_print_case(&its->desc, 0);
            print_error("limits %zu, %zu: byte %zu is %u instead of %u\n", its->desc.max_host_memory,
                        its->desc.max_device_memory, i, its->content[i], content[i]);
            return 0;
        }
    if (its->stray || its->changed)
        print_error("%zu calls beside the matrices, %zu changes of what was ready\n", its->stray, its->changed);
    return !its->stray && !its->changed;
}

/* ------------------------------------------------------------------------------------------------------------------ */
/* Shapes and limits */
/* ------------------------------------------------------------------------------------------------------------------ */

static const size_t shapes[][2] = {{1000, 37}, {37, 1000}, {211, 307}, {307, 211}, {640, 64},  {64, 640},
                                   {512, 512}, {1, 70001}, {70001, 1}, {3, 30011}, {30011, 2}, {733, 731},
                                   {2, 2},     {600, 599}, {97, 4000}, {4000, 97}, {1999, 24}, {25, 2003}};

/* A memory limit for panels of about `rows` rows of the longer side. */
static size_t limit_for(const ipt_plan_desc *desc, size_t rows)
{
    const size_t shorter = desc->rows < desc->cols ? desc->rows : desc->cols;
    return rows * shorter * desc->elem_size * 4 + 8192;
}

static size_t random_rows(const ipt_plan_desc *desc)
{
    const size_t longer = desc->rows > desc->cols ? desc->rows : desc->cols, least = 64 / desc->elem_size + 1;
    return test_random_between(least, least + longer / test_random_between(2, 12));
}

/* A plan, or NULL if the limit is too small. The message must then name the limit. */
static ipt_plan *plan_within(ipt_context *context, const ipt_plan_desc *desc)
{
    ipt_plan *plan;
    const ipt_result result = ipt_plan_create(context, desc, &plan);
    if (result) {
        test_expect_error(result, IPT_ERROR_UNSUPPORTED,
                          desc->max_host_memory ? "max_host_memory" : "max_device_memory", NULL);
        return NULL;
    }
    return plan;
}

static void batch_of(ipt_plan_desc *desc)
{
    desc->batch = test_random_between(1, 4);
    if (desc->batch > 1 && test_random() % 2)
        desc->batch_stride = test_matrix_bytes(desc) + test_alignment(desc->elem_size) * test_random_between(1, 9);
}

/* Executes a plan for host matrices twice: no byte around them changes. pinned: in memory from ipt_host_alloc. */
static void transposes_in_memory(const ipt_plan_desc *desc, ipt_plan *plan, int pinned)
{
    store *its = make_store(desc);
    void *taken = pinned ? NULL : malloc(its->span + 128);
    if (pinned)
        assert_int_equal(ipt_host_alloc(test_context, its->span + 128, &taken), IPT_SUCCESS);
    unsigned char *const memory = taken;
    assert_non_null(memory);
    for (int turn = 0; turn < 2; ++turn) {
        memset(memory, 0x5a, its->span + 128);
        memcpy(memory + 64, its->before, its->span);
        if (ipt_plan_execute_host(plan, memory + 64))
            fail_msg("%s\n%s", ipt_context_error(test_context), ipt_plan_describe(plan));
        memcpy(its->content, memory + 64, its->span);
        assert_true(store_holds(its, its->expected));
        for (size_t i = 0; i < 64; ++i)
            assert_true(memory[i] == 0x5a && memory[64 + its->span + i] == 0x5a);
    }
    if (pinned)
        ipt_host_free(test_context, taken);
    else
        free(taken);
    end_store(its);
}

static void cut_memory(void **state)
{
    (void)state;
    size_t cut = 0, refused = 0;
    for (size_t s = 0; s < TEST_COUNT(shapes); ++s)
        for (size_t e = 0; e < TEST_ELEMENT_SIZE_COUNT; ++e) {
            ipt_plan_desc desc = {.rows = shapes[s][0], .cols = shapes[s][1], .elem_size = test_element_sizes[e]};
            desc.host = IPT_HOST_OVERLAPPED;
            batch_of(&desc);
            desc.max_device_memory = limit_for(&desc, random_rows(&desc));
            ipt_plan *plan = plan_within(test_context, &desc);
            if (!plan) {
                ++refused;
                continue;
            }
            cut += strstr(ipt_plan_describe(plan), "cut into") != NULL;
            assert_true(ipt_plan_workspace(plan) <= desc.max_device_memory);
            transposes_in_memory(&desc, plan, 0);
            ipt_plan_destroy(plan);
        }
    print_message("%zu of %zu matrices were cut, %zu limits refused\n", cut,
                  TEST_COUNT(shapes) * TEST_ELEMENT_SIZE_COUNT, refused);
    assert_true(cut > TEST_COUNT(shapes) * 2 && refused < TEST_COUNT(shapes) * TEST_ELEMENT_SIZE_COUNT / 3);
}

/* Pinned memory: blocks if device memory has room for many, bands if it has less, otherwise panels. */
static void cut_pinned(void **state)
{
    (void)state;
    test_need_buffers((size_t)48 << 20);
    static const size_t sides[][3] = {{20, 26, 2560}, {47, 41, 1792}, {52, 64, 1024}, {101, 75, 768}, {210, 223, 256}};
    size_t by_blocks = 0, by_bands = 0, by_panels = 0;
    for (size_t s = 0; s < TEST_COUNT(sides); ++s)
        for (size_t part = 1; part <= 6; ++part) {
            ipt_plan_desc desc = {.rows = sides[s][0], .cols = sides[s][1], .elem_size = sides[s][2]};
            desc.host = IPT_HOST_OVERLAPPED;
            batch_of(&desc);
            desc.max_device_memory = test_matrix_bytes(&desc) * 10 / (8 + 6 * part);
            ipt_plan *plan = plan_within(test_context, &desc);
            if (!plan)
                continue;
            const char *const pinned = strstr(ipt_plan_describe(plan), "pinned: ");
            int length = 0;
            if (pinned)
                sscanf(pinned, "pinned: %*u bands of%n", &length);
            const int bands = length > 0, blocks = pinned && !bands;
            by_blocks += (size_t)blocks;
            by_bands += (size_t)bands;
            by_panels += !blocks && !bands;
            assert_true(part > 1 || blocks);
            assert_true(ipt_plan_workspace(plan) <= desc.max_device_memory);
            transposes_in_memory(&desc, plan, 1);
            ipt_plan_destroy(plan);
        }
    print_message("%zu plans by blocks, %zu by bands, %zu by panels\n", by_blocks, by_bands, by_panels);
    assert_true(by_blocks >= 12 && by_bands >= 4);
}

static void transposes_in_storage(const ipt_plan_desc *desc, ipt_plan *plan)
{
    for (int turn = 0; turn < 2; ++turn) { /* memory of the execution, then of the caller */
        store *its = make_store(desc);
        const size_t bytes = ipt_plan_storage_memory(plan);
        unsigned char *memory = turn ? page_memory(bytes + 4096) : NULL;
        const ipt_storage storage = store_of(its, memory);
        assert_true(bytes && bytes <= desc->max_host_memory);
        if (memory)
            memset(memory + bytes, 0x5a, 4096);
        assert_int_equal(ipt_plan_execute_storage(plan, &storage), IPT_SUCCESS);
        assert_true(store_holds(its, its->expected) && its->ready_count == its->steps);
        for (size_t i = 0; memory && i < 4096; ++i)
            assert_int_equal(memory[bytes + i], 0x5a);
        page_free(memory);
        end_store(its);
    }
}

/* Reads a plan's shuffle: super-elements of a block, and lines outside groups; 1 and 0 if the plan does not cut. */
static void read_groups(const ipt_plan *plan, size_t *group, size_t *spare)
{
    const char *text = ipt_plan_describe(plan);
    *group = 1;
    *spare = 0;
    while ((text = strstr(text, "bytes, each ")) != NULL && /* the stages of pieces contain such words, too */
           sscanf(text, "bytes, each %zu super-elements; %zu lines", group, spare) != 2)
        ++text;
}

static void cut_storage(void **state)
{
    (void)state;
    size_t cut = 0, refused = 0, grouped = 0, spared = 0;
    size_t group, spare;
    for (size_t s = 0; s < TEST_COUNT(shapes); ++s)
        for (size_t e = 0; e < TEST_ELEMENT_SIZE_COUNT; ++e) {
            ipt_plan_desc desc = {.rows = shapes[s][0], .cols = shapes[s][1], .elem_size = test_element_sizes[e]};
            batch_of(&desc);
            desc.max_host_memory = limit_for(&desc, random_rows(&desc)) + 40000;
            if (test_random() % 4 == 0)
                desc.max_device_memory = limit_for(&desc, random_rows(&desc));
            ipt_plan *plan = plan_within(test_context, &desc);
            if (!plan) {
                ++refused;
                continue;
            }
            read_groups(plan, &group, &spare);
            grouped += group > 1;
            spared += spare > 0;
            cut += strstr(ipt_plan_describe(plan), "cut into") != NULL;
            transposes_in_storage(&desc, plan);
            ipt_plan_destroy(plan);
        }
    print_message(
        "%zu of %zu matrices were cut, %zu by groups of lines, of which %zu left some over, %zu limits refused\n", cut,
        TEST_COUNT(shapes) * TEST_ELEMENT_SIZE_COUNT, grouped, spared, refused);
    assert_true(grouped > 20 && spared > 5);
    assert_true(cut > TEST_COUNT(shapes) * 2 && refused < TEST_COUNT(shapes) * TEST_ELEMENT_SIZE_COUNT / 3);
}

/* The largest workspace in the description of a plan's parts, which follows "each chunk". */
static size_t largest_workspace_of_pieces(const char *description)
{
    static const char word[] = "workspace: ";
    size_t largest = 0, number = 0;
    const char *at = strstr(description, "each chunk: ");
    assert_non_null(at);
    while ((at = strstr(at, word)) != NULL) {
        at += sizeof word - 1;
        const size_t bytes = (size_t)strtoull(at, NULL, 10);
        largest = bytes > largest ? bytes : largest;
        ++number;
    }
    assert_true(number > 1); /* at least the plans of a chunk and of the remainder */
    return largest;
}

/* Chunks of a storage use the plans of single panels of their size, with full workspace if device memory is unlimited.
 * All parts share the largest workspace among them. */
static void cut_storage_workspace(void **state)
{
    static const size_t sides[][2] = {{4001, 2503}, {2503, 4001}, {9973, 1009}, {1009, 9973}};
    const ipt_context_desc context_desc = {
        .context = test_cl_context,
        .device = test_device,
        .max_local_memory =
            test_less_local_memory((size_t)256 << 10), /* panels that fit local memory need no workspace */
        .resident_groups = 16};                        /* counts of resident work-groups vary on a busy device */
    ipt_context *context = NULL;
    (void)state;
    assert_int_equal(ipt_context_create(&context_desc, &context), IPT_SUCCESS);
    for (size_t s = 0; s < TEST_COUNT(sides); ++s) {
        ipt_plan_desc desc = {.rows = sides[s][0], .cols = sides[s][1], .elem_size = 4};
        const int tall = desc.rows > desc.cols;
        const size_t shorter = tall ? desc.cols : desc.rows;
        size_t panels, length, rest, to_a_chunk;
        desc.max_host_memory = test_matrix_bytes(&desc) / 4;
        ipt_plan *plan = test_make_plan(context, &desc);
        const char *const text = strstr(ipt_plan_describe(plan), "cut into");
        assert_non_null(text);
        assert_int_equal(sscanf(text, "cut into %zu panels of %zu and %zu left over, %zu to a chunk", &panels, &length,
                                &rest, &to_a_chunk),
                         4);
        const ipt_plan_desc alone_desc = {
            .rows = tall ? length : shorter, .cols = tall ? shorter : length, .elem_size = 4, .batch = to_a_chunk};
        ipt_plan *alone = test_make_plan(context, &alone_desc);
        assert_true(ipt_plan_workspace(alone) > 0);
        assert_true(ipt_plan_workspace(plan) >= ipt_plan_workspace(alone));
        assert_int_equal(ipt_plan_workspace(plan), largest_workspace_of_pieces(ipt_plan_describe(plan)));
        ipt_plan_destroy(alone);
        ipt_plan_destroy(plan);
    }
    ipt_context_destroy(context);
}

/* Random shapes of all proportions, each in a storage or in memory. */
static void cut_random(void **state)
{
    (void)state;
    for (size_t i = 0; i < 150; ++i) {
        ipt_plan_desc desc = {.rows = test_random_between(1, 700), .cols = test_random_between(1, 700)};
        desc.elem_size = test_element_sizes[test_random() % TEST_ELEMENT_SIZE_COUNT];
        batch_of(&desc);
        if (i % 2)
            desc.max_host_memory = limit_for(&desc, random_rows(&desc)) + 40000;
        else {
            desc.max_device_memory = limit_for(&desc, random_rows(&desc));
            desc.host = IPT_HOST_OVERLAPPED;
        }
        ipt_plan *plan = plan_within(test_context, &desc);
        if (plan && i % 2)
            transposes_in_storage(&desc, plan);
        else if (plan)
            transposes_in_memory(&desc, plan, 0);
        ipt_plan_destroy(plan);
    }
}

/* Batches whose matrices are not cut, with moves and expressions if possible. Bytes between the matrices stay
 * unchanged. */
static void cut_moves_and_expressions(void **state)
{
    static const uint32_t three = 3;
    (void)state;
    ipt_plan_desc desc = {.rows = 70, .cols = 31, .elem_size = 4, .batch = 40, .max_host_memory = 70 * 31 * 4 * 9};
    desc.move = IPT_MOVE_ROTATE_180;
    ipt_plan *plan = test_make_plan(test_context, &desc);
    store *its = make_store(&desc);
    ipt_storage storage = store_of(its, NULL);
    const uint32_t *const before = (const uint32_t *)(const void *)its->before;
    uint32_t *const expected = (uint32_t *)(void *)its->expected;
    for (size_t m = 0; m < desc.batch; ++m)
        for (size_t i = 0; i < 70 * 31; ++i)
            expected[m * 70 * 31 + i] = before[m * 70 * 31 + 70 * 31 - 1 - i];
    assert_int_equal(ipt_plan_execute_storage(plan, &storage), IPT_SUCCESS);
    assert_true(store_holds(its, its->expected));
    ipt_plan_destroy(plan);
    end_store(its);
    desc.max_host_memory = 30000;
    desc.rows = 700;
    test_expect_error(ipt_plan_create(test_context, &desc, &plan), IPT_ERROR_UNSUPPORTED, "move", NULL);

    for (int tall = 0; tall < 2; ++tall)
        for (int stored = 0; stored < 2; ++stored) {
            ipt_plan_desc wanted = {.rows = tall ? 1003 : 41, .cols = tall ? 41 : 1003, .elem_size = 4};
            wanted.expression = tall == stored ? "x * 3u + 1u" : "x * a + 1u";
            wanted.expression_type = "uint";
            wanted.expression_argument = tall == stored ? NULL : &three;
            wanted.host = stored ? IPT_HOST_AUTO : IPT_HOST_OVERLAPPED;
            *(stored ? &wanted.max_host_memory : &wanted.max_device_memory) = 70000;
            plan = test_make_plan(test_context, &wanted);
            assert_non_null(strstr(ipt_plan_describe(plan), "cut into"));
            its = make_store(&wanted);
            storage = store_of(its, NULL);
            for (size_t i = 0; i < 1003 * 41; ++i) {
                uint32_t x;
                memcpy(&x, its->expected + 4 * i, 4);
                x = x * 3 + 1;
                memcpy(its->expected + 4 * i, &x, 4);
            }
            if (stored)
                assert_int_equal(ipt_plan_execute_storage(plan, &storage), IPT_SUCCESS);
            else
                assert_int_equal(ipt_plan_execute_host(plan, its->content), IPT_SUCCESS);
            assert_true(store_holds(its, its->expected));
            ipt_plan_destroy(plan);
            end_store(its);
        }
}

/* ------------------------------------------------------------------------------------------------------------------ */
/* Interrupted */
/* ------------------------------------------------------------------------------------------------------------------ */

/* A storage that fails repeatedly at random places. A new plan resumes each time. */
static void cut_resume(void **state)
{
    (void)state;
    size_t breaks = 0, unharmed = 0;
    for (size_t i = 0; i < 160; ++i) {
        const size_t *const shape = shapes[test_random() % TEST_COUNT(shapes)];
        ipt_plan_desc desc = {.rows = shape[0], .cols = shape[1]};
        desc.elem_size = test_element_sizes[test_random() % TEST_ELEMENT_SIZE_COUNT];
        batch_of(&desc);
        desc.max_host_memory = limit_for(&desc, random_rows(&desc)) + 40000;
        ipt_plan *plan = plan_within(test_context, &desc);
        if (!plan)
            continue;
        store *its = make_store(&desc);
        unsigned char *memory = page_memory(ipt_plan_storage_memory(plan));
        ipt_storage storage = store_of(its, memory);
        const long most = test_random() % 3 ? 40 : 2000;
        for (;;) {
            its->calls_left = (long)test_random_between(0, (size_t)most) + (long)breaks % 7;
            assert_true(!its->prepared || memcmp(its->prepared, its->copy, its->copy_bytes) == 0);
            its->broken = 0;
            storage.resume = its->ready_count;
            const ipt_result result = ipt_plan_execute_storage(plan, &storage);
            if (!result)
                break;
            assert_int_equal(result, result == IPT_ERROR_STORAGE ? IPT_ERROR_STORAGE : IPT_ERROR_INCOMPLETE);
            assert_true(its->ready_count || result == IPT_ERROR_STORAGE);
            if (result == IPT_ERROR_STORAGE)
                assert_true(store_holds(its, its->before));
            unharmed += result == IPT_ERROR_STORAGE;
            if (++breaks % 1000 == 0) /* with too few calls there is no progress: the loop would not end */
                its->calls_left = -1;
            its->calls_left = -1;
            ipt_plan_destroy(plan);
            plan = test_make_plan(test_context, &desc);
            if (test_random() % 50 == 0) { /* the last execution completes */
                its->broken = 0;
                storage.resume = its->ready_count;
                assert_int_equal(ipt_plan_execute_storage(plan, &storage), IPT_SUCCESS);
                break;
            }
        }
        assert_true(store_holds(its, its->expected));
        page_free(memory);
        end_store(its);
        ipt_plan_destroy(plan);
    }
    print_message("resumed %zu times, %zu of them from the start\n", breaks, unharmed);
    assert_true(breaks > 300 && unharmed > 5);
}

/* `ready` cancels before each step: no content is lost, and a resumption completes the work. */
static void cut_ended_before_each_step(void **state)
{
    (void)state;
    for (int tall = 0; tall < 2; ++tall) {
        ipt_plan_desc desc = {.rows = tall ? 611 : 43, .cols = tall ? 43 : 611, .elem_size = 4, .batch = 2};
        desc.max_host_memory = 90000;
        ipt_plan *plan = test_make_plan(test_context, &desc);
        unsigned char *memory = page_memory(ipt_plan_storage_memory(plan));
        size_t steps = 1;
        for (size_t at = 0; at < steps; ++at) {
            store *its = make_store(&desc);
            ipt_storage storage = store_of(its, memory);
            its->stop_at = at;
            const ipt_result result = ipt_plan_execute_storage(plan, &storage);
            /* The first steps save the remainder and write nothing. */
            assert_int_equal(result, its->writes ? IPT_ERROR_INCOMPLETE : IPT_ERROR_CANCELLED);
            assert_true(at < 2 ? !its->writes : at < 4 || its->writes);
            if (!its->writes)
                assert_true(store_holds(its, its->before));
            steps = its->steps;
            its->stop_at = SIZE_MAX;
            storage.resume = its->ready_count;
            assert_int_equal(ipt_plan_execute_storage(plan, &storage), IPT_SUCCESS);
            assert_true(store_holds(its, its->expected));
            end_store(its);
        }
        assert_true(steps > 8);
        page_free(memory);
        ipt_plan_destroy(plan);
    }
}

/* Overwrites the step memory with garbage, except the pieces that `ready` has reported and the plan still needs. These
 * must be unchanged since the report. */
static void keep_what_is_needed(store *its, const ipt_plan *plan, size_t bytes)
{
    unsigned char *const kept = page_memory(bytes);
    test_fill(kept, bytes);
    assert_int_equal(ipt_plan_storage_steps(plan), its->steps);
    for (size_t step = 0; step < its->ready_count; ++step)
        if (ipt_plan_storage_needs(plan, step, its->ready_count)) {
            const size_t *const piece = its->pieces[step];
            its->changed += memcmp(its->memory + piece[0], its->told + piece[0], piece[1]) != 0;
            memcpy(kept + piece[0], its->told + piece[0], piece[1]);
        }
    memcpy(its->memory, kept, bytes);
    page_free(kept);
    its->prepared = NULL; /* memory need not stay unchanged after a cancellation */
    its->broken = 0;
    its->calls_left = -1;
    its->stop_at = its->break_at = SIZE_MAX;
}

/* Ends an execution after step `at`: in the next `ready`, or after a random number of calls. */
static ipt_result end_behind(store *its, ipt_plan *plan, size_t at)
{
    ipt_storage storage = store_of(its, its->memory);
    storage.resume = its->ready_count;
    if (test_random() % 2) {
        its->stop_at = at + 1;
    } else {
        its->break_at = at;
        its->last_calls = test_random_between(0, 5);
    }
    return ipt_plan_execute_storage(plan, &storage);
}

/* Computes the expected result by a plan that is not cut. */
static void expect_uncut(store *its)
{
    ipt_plan_desc desc = its->desc;
    desc.max_host_memory = desc.max_device_memory = 0;
    ipt_plan *plan = test_make_plan(test_context, &desc);
    memcpy(its->expected, its->before, its->span);
    assert_int_equal(ipt_plan_execute_host(plan, its->expected), IPT_SUCCESS);
    ipt_plan_destroy(plan);
}

/* Ends an execution after each step in turn; of the step memory, only the reported pieces survive. first: begins with
 * an untouched matrix each time; otherwise resumes and ends after the next step. Returns how many interruptions lost
 * the matrix. */
static size_t lost_behind_steps(const ipt_plan_desc *desc, ipt_plan *plan, int first, size_t *steps)
{
    const size_t bytes = ipt_plan_storage_memory(plan);
    size_t lost = 0;
    store *its = NULL;
    *steps = 1;
    for (size_t at = 0; at < *steps; ++at) {
        ipt_result result = IPT_SUCCESS;
        if (!its) {
            its = make_store(desc);
            expect_uncut(its);
            its->memory = page_memory(bytes);
            its->told = page_memory(bytes);
            test_fill(its->told, bytes);
            memcpy(its->memory, its->told, bytes);
        }
        result = end_behind(its, plan, at);
        *steps = its->steps;
        keep_what_is_needed(its, plan, bytes);
        if (result && (first || at + 1 == *steps)) {
            ipt_storage storage = store_of(its, its->memory);
            storage.resume = its->ready_count;
            result = ipt_plan_execute_storage(plan, &storage);
            assert_int_equal(result, IPT_SUCCESS);
        }
        if (first || at + 1 == *steps) {
            lost += memcmp(its->content, its->expected, its->span) != 0;
            assert_true(!its->stray && !its->changed);
            page_free(its->memory);
            page_free(its->told);
            free(its->pieces);
            end_store(its);
            its = NULL;
        }
    }
    return lost;
}

/* A storage with few bytes of host memory, ended after each step. */
static void cut_told_each_step(void **state)
{
    static const size_t cases[][4] = {{71, 105, 11, 36527}, {105, 71, 11, 36527}, {301, 907, 3, 90001},
                                      {907, 301, 3, 90001}, {97, 4000, 1, 60000}, {4000, 97, 1, 60000}};
    size_t lost = 0, ends = 0;
    (void)state;
    for (size_t i = 0; i < TEST_COUNT(cases); ++i) {
        const ipt_plan_desc desc = {
            .rows = cases[i][0], .cols = cases[i][1], .elem_size = cases[i][2], .max_host_memory = cases[i][3]};
        ipt_plan *plan = test_make_plan(test_context, &desc);
        size_t steps, its_lost = lost_behind_steps(&desc, plan, 1, &steps);
        print_message("%zu x %zu of %zu bytes, max_host_memory %zu: %zu of %zu stops lost the matrix\n", cases[i][0],
                      cases[i][1], cases[i][2], cases[i][3], its_lost, steps);
        lost += its_lost;
        ends += steps;
        ipt_plan_destroy(plan);
    }
    assert_int_equal(lost, 0);
    assert_true(ends > 100);
}

/* A random desc for a storage: tall, wide or square, perhaps a batch, a move or an expression. */
static ipt_plan_desc random_stored(void)
{
    static const uint32_t three = 3;
    ipt_plan_desc desc = {.rows = test_random_between(1, 500), .cols = test_random_between(1, 500)};
    const size_t kind = test_random() % 8;
    if (kind == 0)
        desc.cols = desc.rows;
    desc.elem_size =
        test_random() % 2 ? test_random_between(1, 40) : test_element_sizes[test_random() % TEST_ELEMENT_SIZE_COUNT];
    if (kind == 1 && test_compiles) {
        desc.elem_size = 4;
        desc.expression = "x * a + 1u";
        desc.expression_type = "uint";
        desc.expression_argument = &three;
    }
    batch_of(&desc);
    desc.max_host_memory = limit_for(&desc, random_rows(&desc)) + test_random_between(0, 40000);
    if (kind == 2) { /* moves need whole matrices */
        desc.rows = desc.rows % 50 + 1;
        desc.cols = desc.cols % 50 + 1;
        desc.batch = 40;
        desc.batch_stride = 0;
        desc.move = (ipt_move)(test_random() % IPT__MOVE_COUNT);
        desc.max_host_memory = 5 * 4096 + 9 * test_matrix_bytes(&desc);
    }
    if (kind == 3)
        desc.max_device_memory = limit_for(&desc, random_rows(&desc)) * 2;
    return desc;
}

/* A caller that saves only the pieces that `ready` reports can resume after any step. */
static void cut_told_random(void **state)
{
    size_t lost = 0, ends = 0, plans = 0, moved = 0, tall_spare = 0, wide_late = 0, expressions = 0;
    (void)state;
    for (size_t i = 0; i < 120; ++i) {
        const ipt_plan_desc desc = random_stored();
        ipt_plan *plan = plan_within(test_context, &desc);
        size_t group, spare;
        size_t steps, its_lost;
        if (!plan)
            continue;
        read_groups(plan, &group, &spare);
        its_lost = lost_behind_steps(&desc, plan, 0, &steps);
        if (its_lost)
            test_print_case(&desc, 0);
        lost += its_lost;
        ends += steps;
        ++plans;
        moved += desc.move != 0;
        expressions += desc.expression != NULL;
        tall_spare += desc.rows >= desc.cols && spare;
        wide_late += desc.rows < desc.cols && group > 1;
        ipt_plan_destroy(plan);
    }
    print_message("%zu matrices lost of %zu (%zu tall with spare lines, %zu wide by groups, %zu moved, %zu by an "
                  "expression), %zu ends\n",
                  lost, plans, tall_spare, wide_late, moved, expressions, ends);
    assert_int_equal(lost, 0);
    assert_true(plans > 60 && tall_spare > 3 && wide_late > 3 && moved > 3 && (expressions > 3 || !test_compiles));
}

/* A random array for a storage, with host memory for panels of some passes or for whole matrices. */
static ipt_plan_desc random_stored_array(void)
{
    static const uint32_t three = 3;
    ipt_plan_desc desc = {.rank = (unsigned)test_random_between(2, 5), .elem_size = test_random_between(1, 12)};
    const size_t most = desc.rank == 2 ? 300 : desc.rank == 3 ? 50 : desc.rank == 4 ? 20 : 10;
    for (unsigned i = 0; i < desc.rank; ++i) {
        const unsigned other = (unsigned)test_random_between(0, i);
        desc.shape[i] = test_random_between(1, most);
        desc.axes[i] = desc.axes[other];
        desc.axes[other] = i;
    }
    desc.batch = test_random_between(1, 3);
    if (test_random() % 6 == 0 && test_compiles) {
        desc.elem_size = 4;
        desc.expression = "x * a + 1u";
        desc.expression_type = "uint";
        desc.expression_argument = &three;
    }
    if (desc.batch > 1 && test_random() % 2)
        desc.batch_stride = (test_matrix_bytes(&desc) + 15) / 16 * 16 + 16 * test_random_between(0, 5);
    desc.max_host_memory = 30000 + test_matrix_bytes(&desc) * test_random_between(0, 10) / 8;
    return desc;
}

/* The number of passes that the first line of a description states; 0: none. */
static int passes_of(const ipt_plan *plan)
{
    const char *const text = ipt_plan_describe(plan);
    const char *at = text + strcspn(text, "\n");
    while (at > text && *at != ',')
        --at;
    return atoi(at + 1);
}

/* Arrays of several passes: executed at once, and resumed after each step of each pass. */
static void cut_stored_arrays(void **state)
{
    size_t lost = 0, ends = 0, plans = 0, several = 0, expressions = 0, refused = 0;
    (void)state;
    for (size_t i = 0; i < 80; ++i) {
        const ipt_plan_desc desc = random_stored_array();
        ipt_plan *plan = NULL;
        size_t steps = 0, its_lost;
        if (desc.batch > 1 && test_stride(&desc) % 16)
            continue; /* long elements need aligned arrays */
        plan = plan_within(test_context, &desc);
        if (!plan || ipt_plan_storage_steps(plan) == 0) {
            ++refused;
            ipt_plan_destroy(plan);
            continue;
        }
        if (!desc.expression)
            transposes_in_storage(&desc, plan);
        its_lost = lost_behind_steps(&desc, plan, i % 4 == 0, &steps);
        if (its_lost)
            test_print_case(&desc, 0);
        lost += its_lost;
        ends += steps;
        ++plans;
        several += passes_of(plan) > 1;
        expressions += desc.expression != NULL;
        ipt_plan_destroy(plan);
    }
    print_message("%zu arrays lost of %zu (%zu of several passes, %zu by an expression), %zu ends; %zu had too little "
                  "memory, or nothing moved\n",
                  lost, plans, several, expressions, ends, refused);
    assert_int_equal(lost, 0);
    assert_true(plans > 30 && several > 5 && (expressions > 2 || !test_compiles));
}

/* A random array whose first axis becomes the last one, or the reverse, while the others change places, too. */
static ipt_plan_desc random_crossing(int first)
{
    ipt_plan_desc desc = {.rank = (unsigned)test_random_between(3, 5), .elem_size = test_random_between(1, 12)};
    const unsigned rank = desc.rank, others = rank - 1;
    const size_t most = rank == 3 ? 20 : rank == 4 ? 9 : 5;
    unsigned turned[8] = {0};
    for (unsigned i = 0; i < rank; ++i)
        desc.shape[i] = test_random_between(2, most);
    desc.shape[first ? 0 : others] = test_random_between(50, 600);
    for (unsigned i = 1; i < others; ++i) {
        const unsigned other = (unsigned)test_random_between(0, i - 1); /* never in sequence */
        turned[i] = turned[other];
        turned[other] = i;
    }
    desc.axes[first ? others : 0] = first ? 0 : others;
    for (unsigned i = 0; i < others; ++i)
        desc.axes[i + (first ? 0u : 1u)] = turned[i] + (first ? 1u : 0u);
    return desc;
}

/* Bytes that a storage reads and writes for a plan, by bytes of its arrays. */
static double moved_in_storage(const ipt_plan_desc *desc, ipt_plan *plan)
{
    store *its = make_store(desc);
    const ipt_storage storage = store_of(its, NULL);
    double moved;
    assert_int_equal(ipt_plan_execute_storage(plan, &storage), IPT_SUCCESS);
    moved = (double)its->moved / (double)(test_matrix_bytes(desc) * desc->batch);
    end_store(its);
    return moved;
}

/* Arrays take one pass: whole if memory holds them, else by panels of permuted columns, in both directions. */
static void cut_arrays_at_once(void **state)
{
    size_t panels[2][2] = {{0}}, whole = 0, bands = 0, several = 0;
    (void)state;
#ifdef IPT_NO_BOXES
    test_skip("ipt was compiled without boxes");
#endif
    for (size_t i = 0; i < 160; ++i) {
        const int first = i & 1, stored = (i & 2) != 0, pinned = (i & 4) != 0;
        ipt_plan_desc desc = random_crossing(first);
        const int chosen = stored && i % 8 > 3; /* three passes or panels; memory holds 7/8 */
        const size_t part = chosen ? 7 : test_random_between(1, 12);
        size_t bytes;
        const char *text;
        ipt_plan *plan;
        while (chosen && desc.rank < 5)
            desc = random_crossing(first);
        bytes = test_matrix_bytes(&desc);
        desc.batch = chosen ? 1 : test_random_between(1, 2);
        if (stored)
            desc.max_host_memory = bytes * part / 8 + 30000;
        else {
            desc.host = IPT_HOST_OVERLAPPED;
            desc.max_device_memory = bytes * desc.batch * part / 16 + 10000;
        }
        plan = plan_within(test_context, &desc);
        if (!plan || !ipt_plan_describe(plan)[0]) {
            ipt_plan_destroy(plan);
            continue;
        }
        text = ipt_plan_describe(plan);
        if (stored)
            transposes_in_storage(&desc, plan);
        else
            transposes_in_memory(&desc, plan, pinned);
        if (passes_of(plan) > 1)
            ++several;
        else if (strstr(text, "panels of")) {
            ++panels[first][stored];
            if (stored && strstr(text, "each 1 super-elements") && moved_in_storage(&desc, plan) > 5)
                fail_msg("%.2f times its bytes moved:\n%s", moved_in_storage(&desc, plan), text);
        } else if (strstr(text, "at a time")) {
            ++whole;
            if (stored && moved_in_storage(&desc, plan) != 2)
                fail_msg("%.2f times its bytes moved:\n%s", moved_in_storage(&desc, plan), text);
        }
        bands += strstr(text, "pinned: ") && strstr(text, "bands of");
        ipt_plan_destroy(plan);
    }
    print_message(
        "by panels: %zu and %zu with the first axis last, %zu and %zu with the last one first; %zu whole, %zu "
        "of several passes, %zu pinned by bands\n",
        panels[1][0], panels[1][1], panels[0][0], panels[0][1], whole, several, bands);
    assert_true(panels[0][0] > 5 && panels[0][1] > 5 && panels[1][0] > 5 && panels[1][1] > 5 && whole > 10 &&
                bands > 10);
}

/* Host by stages has no pieces of arrays: the list of passes is that of the device, whose stages are cut into parts. */
static void cut_arrays_by_stages(void **state)
{
#ifdef IPT_NO_PAPERS
    test_skip("ipt was compiled without stages");
#endif
    static const ipt_plan_desc descs[] = {
        {.rank = 3, .shape = {37, 31, 3}, .axes = {2, 1, 0}, .elem_size = 2, .max_device_memory = 23318},
        {.rank = 4, .shape = {5, 6, 8, 7}, .axes = {2, 3, 1, 0}, .elem_size = 8, .max_device_memory = 31542},
        {.rank = 3, .shape = {9, 19, 19}, .axes = {2, 1, 0}, .elem_size = 2, .max_device_memory = 26511}};
    (void)state;
    for (size_t i = 0; i < TEST_COUNT(descs); ++i) {
        ipt_plan_desc desc = descs[i];
        ipt_plan *plan = NULL;
        desc.batch = 1;
        desc.host = IPT_HOST_STAGES;
        if (ipt_plan_create(test_context, &desc, &plan))
            fail_msg("%s", ipt_context_error(NULL));
        transposes_in_memory(&desc, plan, 0);
        ipt_plan_destroy(plan);
    }
}

/* A pass whose stages cannot be cut ends an execution before an earlier pass changes data. */
static void cut_arrays_refused_whole(void **state)
{
    static const ipt_plan_desc descs[] = {
        {.rank = 4, .shape = {2, 3, 15, 3}, .axes = {1, 3, 2, 0}, .elem_size = 4, .max_device_memory = 3259},
        {.rank = 4, .shape = {4, 2, 5, 4}, .axes = {1, 0, 3, 2}, .elem_size = 4, .max_device_memory = 1714},
        {.rank = 4, .shape = {4, 2, 3, 8}, .axes = {1, 0, 3, 2}, .elem_size = 4, .max_device_memory = 2173}};
    size_t refused = 0;
    (void)state;
#if defined IPT_NO_PAPERS || defined IPT_NO_BOXES
    test_skip("ipt was compiled without stages or boxes");
#endif
    for (size_t i = 0; i < TEST_COUNT(descs); ++i) {
        ipt_plan_desc desc = descs[i];
        unsigned char data[4096], before[4096];
        ipt_plan *plan = NULL;
        ipt_result result;
        desc.batch = 1;
        desc.host = IPT_HOST_STAGES;
        if (ipt_plan_create(test_context, &desc, &plan))
            continue;
        test_fill(data, sizeof data);
        memcpy(before, data, sizeof data);
        result = ipt_plan_execute_host(plan, data);
        if (result) {
            test_expect_parts(result, IPT_ERROR_UNSUPPORTED, "host is stages", "cannot be cut");
            assert_memory_equal(data, before, sizeof data);
            ++refused;
        }
        ipt_plan_destroy(plan);
    }
    if (!refused)
        test_skip("the device's plans have no pass whose stages cannot be cut");
}

/* Pieces of a storage have no stages: host stages changes nothing. */
static void cut_storage_by_stages(void **state)
{
    static const ipt_plan_desc descs[] = {
        {.rank = 4, .shape = {7, 9, 26, 6}, .axes = {3, 2, 0, 1}, .elem_size = 4, .max_host_memory = 106909},
        {.rows = 301, .cols = 77, .elem_size = 4, .max_host_memory = 80000},
        {.rows = 77, .cols = 301, .elem_size = 2, .max_host_memory = 45000}};
    (void)state;
    for (size_t i = 0; i < TEST_COUNT(descs); ++i) {
        ipt_plan_desc desc = descs[i];
        ipt_plan *plan;
        desc.batch = i == 0 ? 3 : 1;
        desc.host = IPT_HOST_STAGES;
        plan = plan_within(test_context, &desc);
        assert_non_null(plan);
        transposes_in_storage(&desc, plan);
        ipt_plan_destroy(plan);
    }
}

/* ------------------------------------------------------------------------------------------------------------------ */
/* Memory */
/* ------------------------------------------------------------------------------------------------------------------ */

static void cut_host_memory(void **state)
{
    (void)state;
    ipt_context_desc context_desc = {.context = test_cl_context, .device = test_device, .cache_dir = ""};
    ipt_context *context;
    meter count = METER;
    context_desc.allocator = meter_allocator(&count);
    assert_int_equal(ipt_context_create(&context_desc, &context), IPT_SUCCESS);
    static const size_t limits[] = {400000, 1 << 20, 5 << 20};
    for (size_t i = 0; i < TEST_COUNT(limits); ++i) {
        ipt_plan_desc desc = {.rows = 3001, .cols = 701, .elem_size = 4, .max_host_memory = limits[i]};
        ipt_plan *plan = test_make_plan(context, &desc);
        store *its = make_store(&desc);
        const ipt_storage storage = store_of(its, NULL);
        const size_t before = count.bytes;
        count.most = before;
        assert_int_equal(ipt_plan_execute_storage(plan, &storage), IPT_SUCCESS);
        assert_true(store_holds(its, its->expected));
        assert_in_range(count.most - before, limits[i] / 3, limits[i] + 4096);
        assert_int_equal(count.bytes, before);
        end_store(its);
        ipt_plan_destroy(plan);
    }
    ipt_context_destroy(context);
    assert_int_equal(count.living, 0);
}

/* ------------------------------------------------------------------------------------------------------------------ */
/* Bad input */
/* ------------------------------------------------------------------------------------------------------------------ */

static void cut_limits_too_small(void **state)
{
    (void)state;
    for (int tall = 0; tall < 2; ++tall)
        for (int stored = 0; stored < 2; ++stored) {
            ipt_plan_desc desc = {.rows = tall ? 2000 : 900, .cols = tall ? 900 : 2000, .elem_size = 4};
            const char *const field = stored ? "max_host_memory" : "max_device_memory";
            size_t *const limit = stored ? &desc.max_host_memory : &desc.max_device_memory;
            ipt_plan *plan = NULL;
            size_t enough;
            desc.host = stored ? IPT_HOST_AUTO : IPT_HOST_OVERLAPPED;
            for (*limit = 1; *limit < 100000; *limit *= 7) {
                test_expect_error(ipt_plan_create(test_context, &desc, &plan), IPT_ERROR_UNSUPPORTED, field,
                                  test_number(*limit));
                assert_null(plan);
            }
            /* The limit that the message recommends suffices. */
            const char *text = strstr(ipt_context_error(NULL), "bytes: ");
            assert_non_null(text);
            assert_int_equal(
                sscanf(text, stored ? "bytes: max_host_memory = %zu" : "bytes: max_device_memory = %zu", &enough), 1);
            *limit = enough;
            plan = test_make_plan(test_context, &desc);
            if (stored)
                transposes_in_storage(&desc, plan);
            else
                transposes_in_memory(&desc, plan, 0);
            ipt_plan_destroy(plan);
        }
}

static void cut_bad_arguments(void **state)
{
    (void)state;
    ipt_plan_desc desc = {.rows = 500, .cols = 300, .elem_size = 4, .max_host_memory = 200000}, other;
    ipt_plan *plan = test_make_plan(test_context, &desc), *refused;
    store *its = make_store(&desc);
    ipt_storage storage = store_of(its, NULL);
    cl_mem buffer = clCreateBuffer(test_cl_context, CL_MEM_READ_WRITE, 600000, NULL, NULL);
    test_expect_error(ipt_plan_execute_storage(NULL, &storage), IPT_ERROR_INVALID_ARGUMENT, "plan", NULL);
    test_expect_error(ipt_plan_execute_storage(plan, NULL), IPT_ERROR_INVALID_ARGUMENT, "storage", NULL);
    storage.read = NULL;
    test_expect_error(ipt_plan_execute_storage(plan, &storage), IPT_ERROR_INVALID_ARGUMENT, "read", NULL);
    storage = store_of(its, NULL);
    storage.write = NULL;
    test_expect_error(ipt_plan_execute_storage(plan, &storage), IPT_ERROR_INVALID_ARGUMENT, "write", NULL);
    storage = store_of(its, NULL);
    storage.resume = 1;
    test_expect_error(ipt_plan_execute_storage(plan, &storage), IPT_ERROR_INVALID_ARGUMENT, "memory", NULL);
    storage = store_of(its, its->content);
    storage.resume = 100000;
    test_expect_error(ipt_plan_execute_storage(plan, &storage), IPT_ERROR_INVALID_ARGUMENT, "resume", "100000");
    test_expect_error(ipt_plan_execute_host(plan, its->content), IPT_ERROR_UNSUPPORTED, "max_host_memory", "200000");
    test_expect_error(ipt_plan_execute(plan, test_queue, buffer, 0, 0, NULL, NULL), IPT_ERROR_UNSUPPORTED, "storages",
                      NULL);
    test_expect_error(ipt_plan_execute_out_of_place(plan, test_queue, buffer, 0, buffer, 0, 0, NULL, NULL),
                      IPT_ERROR_UNSUPPORTED, "storages", NULL);
    assert_true(store_holds(its, its->before));
    assert_true(ipt_plan_storage_needs(plan, 0, 1));
    assert_false(ipt_plan_storage_needs(plan, 0, 0) || ipt_plan_storage_needs(plan, 1, 1));
    assert_false(ipt_plan_storage_needs(plan, 0, ipt_plan_storage_steps(plan) + 1));
    ipt_plan_destroy(plan);
    assert_int_equal(ipt_plan_storage_memory(NULL), 0);
    assert_int_equal(ipt_plan_storage_steps(NULL), 0);
    assert_false(ipt_plan_storage_needs(NULL, 0, 1));
    desc.max_host_memory = 0;
    plan = test_make_plan(test_context, &desc);
    storage = store_of(its, NULL);
    assert_int_equal(ipt_plan_storage_memory(plan), 0);
    test_expect_error(ipt_plan_execute_storage(plan, &storage), IPT_ERROR_INVALID_ARGUMENT, "max_host_memory", "0");
    ipt_plan_destroy(plan);
    desc.host = IPT_HOST_OVERLAPPED;
    desc.max_device_memory = 100000;
    plan = test_make_plan(test_context, &desc);
    test_expect_error(ipt_plan_execute(plan, test_queue, buffer, 0, 0, NULL, NULL), IPT_ERROR_UNSUPPORTED,
                      "max_device_memory", NULL);
    ipt_plan_destroy(plan);
    other = desc;
    other.host = IPT_HOST_SYNCHRONOUS;
    test_expect_error(ipt_plan_create(test_context, &other, &refused), IPT_ERROR_UNSUPPORTED, "host", "synchronous");
    other = desc;
    other.sequence = IPT_SEQUENCE_TWO_PASS;
    test_expect_error(ipt_plan_create(test_context, &other, &refused), IPT_ERROR_UNSUPPORTED, "cut", NULL);
    other = desc;
    other.flags = IPT_OUT_OF_PLACE;
    test_expect_error(ipt_plan_create(test_context, &other, &refused), IPT_ERROR_UNSUPPORTED, "cut", NULL);
    other = desc;
    test_expect_error(ipt_plan_create_split(&test_context, 1, &other, &refused), IPT_ERROR_UNSUPPORTED,
                      "max_device_memory", "100000");
    /* A sufficient limit changes nothing. */
    desc.max_device_memory = 10000000;
    plan = test_make_plan(test_context, &desc);
    assert_null(strstr(ipt_plan_describe(plan), "cut"));
    transposes_in_memory(&desc, plan, 0);
    ipt_plan_destroy(plan);
    clReleaseMemObject(buffer);
    end_store(its);
}

/* One row is cut between elements. The plan has no shuffle, and no memory for one. */
static void cut_one_row(void **state)
{
    enum { COUNT = 78624 };
    const ipt_plan_desc desc = {.rank = 1,
                                .shape = {COUNT},
                                .elem_size = 4,
                                .expression = "x ^ 0x5a5a5a5a",
                                .expression_type = "uint",
                                .max_device_memory = 4856};
    unsigned char *const memory = malloc(COUNT * 4 + 1); /* an odd address, at which no device works */
    ipt_plan *const plan = test_make_plan(test_context, &desc);
    (void)state;
    assert_non_null(memory);
    for (cl_uint i = 0; i < COUNT; ++i)
        memcpy(memory + 1 + 4 * i, &i, 4);
    assert_int_equal(ipt_plan_execute_host(plan, memory + 1), IPT_SUCCESS);
    for (cl_uint i = 0; i < COUNT; ++i) {
        const cl_uint expected = i ^ 0x5a5a5a5au;
        assert_memory_equal(memory + 1 + 4 * i, &expected, 4);
    }
    ipt_plan_destroy(plan);
    free(memory);
}

/* The description names a plan's parts: for a storage, for several contexts, and for pieces. */
static void cut_descriptions(void **state)
{
    ipt_context *const both[] = {test_context, test_context};
    ipt_plan_desc desc = {.rows = 1000, .cols = 1777, .elem_size = 4};
    ipt_plan *plan = NULL;
    char line[80];
    (void)state;
    for (int way = 0; way < 4; ++way) {
        const size_t bytes = test_matrix_bytes(&desc);
        desc.max_device_memory = way == 1 ? bytes / 3 : 0;
        desc.max_host_memory = way == 2 ? bytes / 3 : 0;
        if (way == 3)
            desc = (ipt_plan_desc){
                .rank = 4, .shape = {20, 31, 42, 7}, .axes = {3, 1, 0, 2}, .elem_size = 4, .max_host_memory = 100000};
        if (way ? ipt_plan_create(test_context, &desc, &plan) : ipt_plan_create_split(both, 2, &desc, &plan))
            fail_msg("way %d: %s", way, ipt_context_error(NULL));
        snprintf(line, sizeof line, "\n  workspace: %zu bytes", ipt_plan_workspace(plan));
        const char *const text = ipt_plan_describe(plan), *const last = strstr(text, line);
        if (!strncmp(text + strcspn(text, "\n"), "\n  nothing", 10) || !strstr(text, "  1. ") || !last)
            fail_msg("way %d, %s:\n%s", way, line + 1, text);
        ipt_plan_destroy(plan);
    }
}

const struct CMUnitTest test_cut[] = {
    TEST_CASE(cut_memory),
    TEST_CASE(cut_storage),
    TEST_CASE(cut_random),
    TEST_CASE(cut_moves_and_expressions),
    TEST_CASE(cut_resume),
    TEST_CASE(cut_ended_before_each_step),
    TEST_CASE(cut_told_each_step),
    TEST_CASE(cut_told_random),
    TEST_CASE(cut_stored_arrays),
    TEST_CASE(cut_arrays_at_once),
    TEST_CASE(cut_arrays_refused_whole),
    TEST_CASE(cut_storage_by_stages),
    TEST_CASE(cut_arrays_by_stages),
    TEST_CASE(cut_host_memory),
    TEST_CASE(cut_limits_too_small),
    TEST_CASE(cut_bad_arguments),
    TEST_CASE(cut_pinned),
    TEST_CASE(cut_storage_workspace),
    TEST_CASE(cut_one_row),
    TEST_CASE(cut_descriptions),
};
const size_t test_cut_count = TEST_COUNT(test_cut);
