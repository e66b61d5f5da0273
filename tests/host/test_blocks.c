/* The commands for a matrix that passes through the device by blocks. A model of the device executes them on element
 * numbers, in every order that the queues allow. Every element reaches its place, within the available units. Needs no
 * device. */
#define _POSIX_C_SOURCE 200809L
#define IPT_STATIC /* the private functions, in a copy of this file's own */
#define IPT_IMPLEMENTATION
#include "ipt.h"
#include "test.h"

#include <stdlib.h>
#include <string.h>

enum { UNKNOWN = -1 };

/* A matrix of one-byte elements that are numbered, and the device's units. */
typedef struct model {
    ipt_context context;
    ipt_plan plan;
    ipt__host_plan host_plan;
    int *host, *device, *turned; /* turned: room for one unit */
    size_t elements, unit_elements;
} model;

static void *allocate(size_t bytes, void *user)
{
    (void)user;
    return malloc(bytes);
}

static void release(void *memory, void *user)
{
    (void)user;
    free(memory);
}

/* Lists the commands; returns whether there are any. */
static int model_open(model *m, size_t rows, size_t cols, size_t length, size_t columns, size_t strip_cols,
                      size_t units)
{
    ipt__blocks *const sizes = &m->host_plan.blocks;
    memset(m, 0, sizeof *m);
    m->context.allocator.alloc = allocate;
    m->context.allocator.free = release;
    m->plan.context = &m->context;
    m->plan.host = &m->host_plan;
    m->plan.problem.desc.rows = rows;
    m->plan.problem.desc.cols = cols;
    m->plan.problem.desc.elem_size = 1;
    m->elements = rows * cols;
    sizes->length = length;
    sizes->columns = columns;
    sizes->strip_cols = strip_cols;
    sizes->panels = (rows + length - 1) / length;
    sizes->per_panel = (cols + columns - 1) / columns;
    sizes->count = sizes->panels * sizes->per_panel;
    sizes->unit_bytes = m->unit_elements = length * columns;
    sizes->units = units < sizes->count ? units : sizes->count;
    sizes->kept_units = sizes->units / 8 ? sizes->units / 8 : 1;
    assert_int_equal(ipt__blocks_list(&m->plan, sizes), IPT_SUCCESS);
    assert_true(!m->host_plan.staging.command_count == !sizes->bus_bytes);
    if (!m->host_plan.staging.command_count)
        return 0;
    m->host = malloc(m->elements * sizeof *m->host);
    m->device = malloc(sizes->units * m->unit_elements * sizeof *m->device);
    m->turned = malloc(m->unit_elements * sizeof *m->turned);
    assert_true(m->host && m->device && m->turned);
    return 1;
}

static void model_close(model *m)
{
    free(m->host_plan.staging.commands);
    free(m->host);
    free(m->device);
    free(m->turned);
}

/* Carries out one command. What it reads is gone then, so that nothing is right by chance. */
static void carry_out(model *m, const ipt__command *command)
{
    const ipt__blocks *const sizes = &m->host_plan.blocks;
    const ipt__rect *const rect = &command->rect;
    const size_t rows = command->plan & 1 ? m->plan.problem.desc.rows % sizes->length : sizes->length,
                 cols = command->plan & 2 ? m->plan.problem.desc.cols % sizes->columns : sizes->columns;
    int *const device = m->device + command->device;
    assert_true(command->device +
                    (command->kind == IPT__COMMAND_TRANSPOSE ? rows * cols : ipt__command_bytes(command)) <=
                sizes->units * m->unit_elements);
    if (command->kind == IPT__COMMAND_TRANSPOSE) {
        for (size_t i = 0; i < rows * cols; ++i)
            m->turned[i % cols * rows + i / cols] = device[i];
        memcpy(device, m->turned, rows * cols * sizeof *device);
        return;
    }
    for (size_t row = 0; row < rect->rows; ++row) {
        int *const host = m->host + rect->offset + row * rect->pitch, *const its = device + row * rect->row_bytes;
        int *const from = command->kind == IPT__COMMAND_UPLOAD ? host : its, *const to =
                                                                                 command->kind == IPT__COMMAND_UPLOAD
                                                                                     ? its
                                                                                     : host;
        assert_true(rect->offset + row * rect->pitch + rect->row_bytes <= m->elements);
        memcpy(to, from, rect->row_bytes * sizeof *to);
        for (size_t i = 0; i < rect->row_bytes; ++i)
            from[i] = UNKNOWN;
    }
}

/* Executes all commands: those of a queue in order, the queues interleaved at random, with one queue preferred whenever
 * its next command can run. Returns whether the matrix is transposed. */
static int transposes_in_some_order(model *m)
{
    const ipt__command *const commands = m->host_plan.staging.commands;
    const size_t count = m->host_plan.staging.command_count, rows = m->plan.problem.desc.rows,
                 cols = m->plan.problem.desc.cols;
    const int hasty = (int)test_random_between(0, IPT__BLOCK_QUEUES);
    size_t next[IPT__BLOCK_QUEUES] = {0}, left = count;
    for (size_t i = 0; i < m->elements; ++i)
        m->host[i] = (int)i;
    for (size_t i = 0; i < m->host_plan.blocks.units * m->unit_elements; ++i)
        m->device[i] = UNKNOWN;
    for (; left; --left) {
        int may[IPT__BLOCK_QUEUES], choices = 0, chosen;
        for (int q = 0; q < IPT__BLOCK_QUEUES; ++q) {
            while (next[q] < count && (int)commands[next[q]].kind != q)
                ++next[q];
            int ready = next[q] < count;
            for (int other = 0; ready && other < IPT__BLOCK_QUEUES; ++other)
                ready = other == q || commands[next[q]].after[other] <= next[other];
            if (ready)
                may[choices++] = q;
        }
        assert_true(choices); /* none waits for ever */
        chosen = may[test_random() % (size_t)choices];
        for (int c = 0; c < choices; ++c)
            chosen = may[c] == hasty ? hasty : chosen;
        carry_out(m, &commands[next[chosen]++]);
    }
    for (size_t i = 0; i < m->elements; ++i)
        if (m->host[i] != (int)(i % rows * cols + i / rows)) {
            print_error("element %zu is %d instead of %zu\n", i, m->host[i], i % rows * cols + i / rows);
            return 0;
        }
    return 1;
}

static void blocks_any_order(void **state)
{
    size_t listed = 0, refused = 0, twice = 0, orders = 0;
    (void)state;
    for (int n = 0; n < 1500; ++n) {
        const size_t rows = test_random_between(4, 70), cols = test_random_between(4, 70);
        const size_t length = test_random_between(1, rows / 4 + 1), columns = test_random_between(1, cols / 4 + 1);
        const size_t strip_cols = test_random_between(1, columns);
        const size_t blocks = ((rows + length - 1) / length) * ((cols + columns - 1) / columns);
        const size_t units = blocks / test_random_between(2, 8) + test_random_between(3, 6);
        model m;
        if (model_open(&m, rows, cols, length, columns, strip_cols, units)) {
            const size_t bytes = m.host_plan.blocks.bus_bytes;
            ++listed;
            twice += bytes > 2 * m.elements;
            assert_true(bytes >= 2 * m.elements && bytes % 2 == 0);
            for (int order = 0; order < 12; ++order, ++orders)
                if (!transposes_in_some_order(&m))
                    fail_msg("%zu x %zu in blocks of %zu x %zu, strips of %zu, %zu units", rows, cols, length, columns,
                             strip_cols, units);
        } else
            ++refused;
        model_close(&m);
    }
    print_message("%zu matrices in %zu orders, %zu with blocks that come up twice; %zu have too few units\n", listed,
                  orders, twice, refused);
    assert_true(listed > 500 && twice > 200 && refused > 20);
}

/* A unit for each block: all go up and down once. With a quarter of them a sixth of the matrix comes up twice at
 * most, with half of them nothing does. */
static void blocks_bus_bytes(void **state)
{
    static const size_t parts[] = {1, 2, 4};
    (void)state;
    for (size_t panels = IPT__BLOCK_PARTS; panels <= 40; ++panels)
        for (size_t p = 0; p < TEST_COUNT(parts); ++p) {
            model m;
            assert_true(model_open(&m, panels * 4, panels * 4, 4, 4, 2, panels * panels / parts[p]));
            assert_true(m.host_plan.blocks.bus_bytes >= 2 * m.elements);
            if (parts[p] <= 2)
                assert_int_equal(m.host_plan.blocks.bus_bytes, 2 * m.elements);
            else
                assert_true(m.host_plan.blocks.bus_bytes <= 2 * m.elements + m.elements / 3);
            model_close(&m);
        }
}

/* Blocks are as large as is worth their commands, which those of long elements never are. */
static void blocks_worth_it(void **state)
{
    static const size_t shapes[][4] = {{10000, 7770, 4, 1},  {20000, 25000, 4, 1}, {9000, 40000, 8, 1},
                                       {7000, 7000, 2, 1},   {3000, 3100, 64, 1},  {3200, 3200, 4, 0},
                                       {1500, 1550, 256, 0}, {375, 387, 4096, 0},  {30000, 30000, 256, 0}};
    ipt__problem problem;
    (void)state;
    memset(&problem, 0, sizeof problem);
    for (size_t s = 0; s < TEST_COUNT(shapes); ++s) {
        ipt__blocks blocks = {0}, *const sizes = &blocks;
        problem.desc.rows = shapes[s][0];
        problem.desc.cols = shapes[s][1];
        problem.desc.elem_size = shapes[s][2];
        assert_int_equal(ipt__blocks_choose(&problem, shapes[s][0] * shapes[s][1] * shapes[s][2] / 4, sizes),
                         shapes[s][3]);
        assert_true(!shapes[s][3] || (sizes->unit_bytes >= 700000 && sizes->unit_bytes <= (size_t)1 << 24));
    }
}

const struct CMUnitTest test_blocks[] = {TEST_CASE(blocks_any_order), TEST_CASE(blocks_bus_bytes),
                                         TEST_CASE(blocks_worth_it)};
const size_t test_blocks_count = TEST_COUNT(test_blocks);
