/* The commands for a matrix that passes through the device by blocks or by bands. A model of the device executes the
 * commands on element numbers, in random orders that the queues allow. Every element reaches its place, within the
 * available memory, and no byte is overwritten before it is read. Needs no device. */
#define _POSIX_C_SOURCE 200809L
#define IPT__BUS_RUN_BYTES 1
#define IPT_STATIC /* the private functions, in a copy of this file's own */
#define IPT_IMPLEMENTATION
#include "ipt.h"
#include "test.h"

#include <stdlib.h>
#include <string.h>

enum { UNKNOWN = -1 };

/* A model: a matrix of numbered one-byte elements, and the device's memory. */
typedef struct model {
    ipt_context context;
    ipt_plan plan;
    ipt__host_plan host_plan;
    ipt__cut_plan cut;
    int *host, *device, *turned; /* turned: as large as the device's memory */
    size_t elements, device_elements;
    size_t lost; /* elements that were overwritten before they were read */
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

static void model_begin(model *m, size_t rows, size_t cols)
{
    memset(m, 0, sizeof *m);
    m->context.allocator.alloc = allocate;
    m->context.allocator.free = release;
    m->plan.context = &m->context;
    m->plan.host = &m->host_plan;
    m->plan.cut = &m->cut;
    m->plan.problem.desc.rows = rows;
    m->plan.problem.desc.cols = cols;
    m->plan.problem.desc.elem_size = 1;
    m->plan.problem.matrix_bytes = rows * cols;
    m->elements = rows * cols;
}

static void model_take_memory(model *m)
{
    m->host = malloc(m->elements * sizeof *m->host);
    m->device = malloc(m->device_elements * sizeof *m->device);
    m->turned = malloc(m->device_elements * sizeof *m->turned);
    assert_true(m->host && m->device && m->turned);
}

/* Lists the commands for blocks. Returns whether there are blocks. */
static int model_open(model *m, size_t rows, size_t cols, size_t length, size_t columns, size_t strip_cols,
                      size_t units)
{
    ipt__blocks *const sizes = &m->cut.blocks;
    model_begin(m, rows, cols);
    sizes->length = length;
    sizes->columns = columns;
    sizes->strip_cols = strip_cols;
    sizes->panels = (rows + length - 1) / length;
    sizes->per_panel = (cols + columns - 1) / columns;
    sizes->count = sizes->panels * sizes->per_panel;
    sizes->unit_bytes = length * columns;
    sizes->units = units < sizes->count ? units : sizes->count;
    sizes->kept_units = sizes->units / 8 ? sizes->units / 8 : 1;
    assert_int_equal(ipt__blocks_list(&m->plan, sizes), IPT_SUCCESS);
    assert_true(!m->host_plan.staging.command_count == !sizes->bus_bytes);
    m->device_elements = sizes->units * sizes->unit_bytes;
    if (!m->host_plan.staging.command_count)
        return 0;
    model_take_memory(m);
    return 1;
}

static void model_open_bands(model *m, size_t rows, size_t cols, size_t number)
{
    model_begin(m, rows, cols);
    m->cut.bus_bands = ipt__bus_bands_of(&m->plan.problem, number);
    assert_int_equal(ipt__bus_list_make(&m->plan, &m->cut.bus_bands), IPT_SUCCESS);
    m->device_elements = m->cut.bus_bands.device_bytes;
    model_take_memory(m);
}

static void model_close(model *m)
{
    free(m->host_plan.staging.commands);
    free(m->host);
    free(m->device);
    free(m->turned);
}

/* Moves element numbers, and erases the source, so that no result is right by chance. */
static void move(model *m, int *to, int *from, size_t count)
{
    for (size_t i = 0; i < count; ++i) {
        m->lost += to[i] != UNKNOWN;
        to[i] = from[i];
        from[i] = UNKNOWN;
    }
}

/* The matrix that a command's plan transposes; sizes in bytes of an element of the plan. */
static ipt__bus_piece piece_of(const model *m, const ipt__command *command)
{
    const ipt__blocks *const sizes = &m->cut.blocks;
    ipt__bus_piece piece = {.size = 1};
    if (m->cut.bus_bands.bus_bytes)
        return ipt__bus_piece_of(&m->cut.bus_bands, command->plan);
    piece.rows = command->plan & 1 ? m->plan.problem.desc.rows % sizes->length : sizes->length;
    piece.cols = command->plan & 2 ? m->plan.problem.desc.cols % sizes->columns : sizes->columns;
    return piece;
}

static void transpose(model *m, int *device, ipt__bus_piece piece)
{
    const size_t bytes = piece.size * sizeof *device;
    for (size_t i = 0; i < piece.rows * piece.cols; ++i)
        memcpy(m->turned + (i % piece.cols * piece.rows + i / piece.cols) * piece.size, device + i * piece.size, bytes);
    memcpy(device, m->turned, piece.rows * piece.cols * bytes);
}

/* Carries out one command. */
static void carry_out(model *m, const ipt__command *command)
{
    const ipt__rect *const rect = &command->rect;
    const ipt__bus_piece piece = piece_of(m, command);
    int *const device = m->device + command->device;
    const size_t bytes =
        command->kind == IPT__COMMAND_TRANSPOSE ? piece.rows * piece.cols * piece.size : rect->rows * rect->row_bytes;
    assert_true(bytes && command->device + bytes <= m->device_elements);
    if (command->kind == IPT__COMMAND_TRANSPOSE)
        transpose(m, device, piece);
    else if (command->kind == IPT__COMMAND_COPY) {
        assert_true(rect->rows == 1 && rect->offset + bytes <= m->device_elements);
        assert_true(rect->offset + bytes <= command->device || command->device + bytes <= rect->offset);
        move(m, device, m->device + rect->offset, bytes);
    }
    for (size_t row = 0; row < rect->rows && command->kind != IPT__COMMAND_COPY; ++row) {
        int *const host = m->host + rect->offset + row * rect->pitch, *const its = device + row * rect->row_bytes;
        assert_true(rect->offset + row * rect->pitch + rect->row_bytes <= m->elements);
        if (command->kind == IPT__COMMAND_UPLOAD)
            move(m, its, host, rect->row_bytes);
        else
            move(m, host, its, rect->row_bytes);
    }
}

/* Executes all commands: each queue in order, the queues interleaved at random. One queue has priority whenever its
 * next command can run. Returns the first wrong element, or the number of elements. */
static size_t first_wrong_in_some_order(model *m)
{
    const ipt__command *const commands = m->host_plan.staging.commands;
    const size_t count = m->host_plan.staging.command_count, rows = m->plan.problem.desc.rows,
                 cols = m->plan.problem.desc.cols;
    const int hasty = (int)test_random_between(0, IPT__BLOCK_QUEUES);
    m->lost = 0;
    size_t next[IPT__BLOCK_QUEUES] = {0}, left = count;
    for (size_t i = 0; i < m->elements; ++i)
        m->host[i] = (int)i;
    for (size_t i = 0; i < m->device_elements; ++i)
        m->device[i] = UNKNOWN;
    for (; left; --left) {
        int may[IPT__BLOCK_QUEUES], choices = 0, chosen;
        for (int q = 0; q < IPT__BLOCK_QUEUES; ++q) {
            while (next[q] < count && ipt__command_queue(&commands[next[q]]) != q)
                ++next[q];
            int ready = next[q] < count;
            for (int other = 0; ready && other < IPT__BLOCK_QUEUES; ++other)
                ready = other == q || commands[next[q]].after[other] <= next[other];
            if (ready)
                may[choices++] = q;
        }
        assert_true(choices); /* no command waits for ever */
        chosen = may[test_random() % (size_t)choices];
        for (int c = 0; c < choices; ++c)
            chosen = may[c] == hasty ? hasty : chosen;
        carry_out(m, &commands[next[chosen]++]);
    }
    for (size_t i = 0; i < m->elements; ++i)
        if (m->host[i] != (int)(i % rows * cols + i / rows))
            return i;
    return m->elements;
}

static int transposes_silently(model *m)
{
    return first_wrong_in_some_order(m) == m->elements && !m->lost;
}

static int transposes_in_some_order(model *m)
{
    const size_t wrong = first_wrong_in_some_order(m);
    if (wrong != m->elements)
        print_error("element %zu is wrong: %d\n", wrong, m->host[wrong]);
    if (m->lost)
        print_error("%zu elements were overwritten before they were read\n", m->lost);
    return wrong == m->elements && !m->lost;
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
            const size_t bytes = m.cut.blocks.bus_bytes;
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

/* If the device has room for half of the blocks, each block is uploaded and downloaded once. With room for a quarter,
 * at most a sixth of the matrix is uploaded twice. */
static void blocks_bus_bytes(void **state)
{
    static const size_t parts[] = {1, 2, 4};
    (void)state;
    for (size_t panels = IPT__BLOCK_PARTS; panels <= 40; ++panels)
        for (size_t p = 0; p < TEST_COUNT(parts); ++p) {
            model m;
            assert_true(model_open(&m, panels * 4, panels * 4, 4, 4, 2, panels * panels / parts[p]));
            assert_true(m.cut.blocks.bus_bytes >= 2 * m.elements);
            if (parts[p] <= 2)
                assert_int_equal(m.cut.blocks.bus_bytes, 2 * m.elements);
            else
                assert_true(m.cut.blocks.bus_bytes <= 2 * m.elements + m.elements / 3);
            model_close(&m);
        }
}

/* Blocks are large compared with the cost of their commands. Long elements never move by blocks. */
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

/* The bytes that cross the bus: all bytes once in each direction, the runs of half of the tiles once more. */
static size_t bands_bus_bytes(const ipt__bus_bands *sizes)
{
    const ipt__bands *const bands = &sizes->bands;
    const size_t tiles = bands->number * (bands->number - 1) / 2;
    return 2 * (bands->rows * bands->cols * sizes->size + tiles * bands->width * sizes->run_bytes);
}

static void bands_any_order(void **state)
{
    size_t orders = 0, tall = 0, from_last = 0, rest_rows = 0, rest_cols = 0;
    (void)state;
    for (int n = 0; n < 1500; ++n) {
        const size_t rows = test_random_between(2, 90), cols = test_random_between(2, 90);
        const size_t number = test_random_between(2, rows < cols ? rows : cols);
        model m;
        model_open_bands(&m, rows, cols, number);
        const ipt__bands *const bands = &m.cut.bus_bands.bands;
        tall += (size_t)bands->tall;
        from_last += (size_t)bands->from_last;
        rest_rows += bands->rest_rows > 0;
        rest_cols += bands->rest_cols > 0;
        assert_int_equal(m.cut.bus_bands.bus_bytes, bands_bus_bytes(&m.cut.bus_bands));
        for (int order = 0; order < 12; ++order, ++orders)
            if (!transposes_in_some_order(&m))
                fail_msg("%zu x %zu in %zu bands", rows, cols, number);
        model_close(&m);
    }
    print_message("%zu orders; of 1500 matrices %zu tall, %zu from the last band, %zu and %zu with remainders\n",
                  orders, tall, from_last, rest_rows, rest_cols);
    assert_true(tall > 400 && tall < 1100 && from_last > 300 && rest_rows > 300 && rest_cols > 300);
}

/* Each wait is necessary: without the wait, some order of commands loses an element. */
static void bands_need_their_waits(void **state)
{
    static const char *const kinds[] = {"an upload", "a transposition", "a download", "a copy"};
    (void)state;
    for (int tall = 0; tall < 2; ++tall) {
        size_t needed[4][IPT__BLOCK_QUEUES] = {{0}};
        model m;
        model_open_bands(&m, tall ? 43 : 37, tall ? 37 : 43, 6);
        ipt__command *const commands = m.host_plan.staging.commands;
        for (size_t c = 0; c < m.host_plan.staging.command_count; ++c)
            for (int q = 0; q < IPT__BLOCK_QUEUES; ++q) {
                const size_t after = commands[c].after[q];
                int right = 1;
                if (!after || q == ipt__command_queue(&commands[c]))
                    continue;
                commands[c].after[q] = 0;
                for (int order = 0; order < 40 && right; ++order)
                    right = transposes_silently(&m);
                commands[c].after[q] = after;
                needed[commands[c].kind][q] += (size_t)!right;
            }
        for (int kind = 0; kind < 4; ++kind)
            for (int q = 0; q < IPT__BLOCK_QUEUES; ++q)
                if (needed[kind][q])
                    print_message("%s: %zu times %s needs to wait for %s\n", tall ? "tall" : "wide", needed[kind][q],
                                  kinds[kind], kinds[q]);
        assert_true(needed[IPT__COMMAND_UPLOAD][IPT__COMMAND_TRANSPOSE] &&
                    needed[IPT__COMMAND_UPLOAD][IPT__COMMAND_DOWNLOAD]);
        assert_true(needed[IPT__COMMAND_TRANSPOSE][IPT__COMMAND_UPLOAD]);
        assert_true(needed[IPT__COMMAND_DOWNLOAD][IPT__COMMAND_UPLOAD] &&
                    needed[IPT__COMMAND_DOWNLOAD][IPT__COMMAND_TRANSPOSE]);
        assert_true(needed[IPT__COMMAND_COPY][IPT__COMMAND_UPLOAD] && needed[IPT__COMMAND_COPY][IPT__COMMAND_DOWNLOAD]);
        model_close(&m);
    }
}

/* Bands for a device whose memory is a part of the matrix: their runs are long enough, or there are no bands. */
static void bands_worth_it(void **state)
{
    static const size_t cases[][5] = {{20000, 25000, 4, 16, 1}, {25000, 20001, 4, 4, 1},  {9000, 40000, 8, 64, 1},
                                      {7000, 7000, 2, 16, 0},   {300, 4000000, 4, 16, 1}, {30, 40000000, 4, 16, 0}};
    ipt__problem problem;
    (void)state;
    memset(&problem, 0, sizeof problem);
    for (size_t c = 0; c < TEST_COUNT(cases); ++c) {
        const size_t bytes = cases[c][0] * cases[c][1] * cases[c][2], capacity = bytes / cases[c][3];
        ipt__bus_bands sizes = {0};
        if (cases[c][0] * cases[c][1] > SIZE_MAX / cases[c][2])
            continue;
        problem.desc.rows = cases[c][0];
        problem.desc.cols = cases[c][1];
        problem.desc.elem_size = cases[c][2];
        problem.matrix_bytes = bytes;
        assert_int_equal(ipt__bus_bands_choose(&problem, capacity, &sizes) && sizes.run_bytes >= 768, cases[c][4]);
        assert_true(!cases[c][4] || (sizes.device_bytes <= capacity && sizes.device_bytes > capacity / 4 * 3));
    }
}

const struct CMUnitTest test_bus[] = {TEST_CASE(blocks_any_order),       TEST_CASE(blocks_bus_bytes),
                                      TEST_CASE(blocks_worth_it),        TEST_CASE(bands_any_order),
                                      TEST_CASE(bands_need_their_waits), TEST_CASE(bands_worth_it)};
const size_t test_bus_count = TEST_COUNT(test_bus);
