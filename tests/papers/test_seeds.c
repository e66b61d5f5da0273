/* Contract: with every forced kernel of the papers, block format and padding, every byte of the result is right, and
 * the plan is as requested. Otherwise there is no plan, and the error has the reason. */
#include "test.h"
#include "fast.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FAMILY_AUTO, FAMILY_BS, FAMILY_SWAP, FAMILY_PTTWAC_010, FAMILY_PTTWAC_100, FAMILY_P_IPT, FAMILY_PAD };

#define VARIANT_ROW(name, text, family, lanes, padding, registers, layout, interleaved)                                \
    {text, FAMILY_##family, lanes, padding, registers, layout},
static const struct {
    const char *name;
    int family;
    unsigned lanes, padding, registers, layout;
} variants[] = {IPT_VARIANT_LIST(VARIANT_ROW)};

/* Gomez-Luna et al. 2016, table 1: an independent copy, to detect errors in IPT_FORMAT_LIST. DEFAULT has no format. */
static const char *const format_factors[] = {"",     "MmNn", "MNmn", "MNnm", "NMmn",
                                             "NMnm", "NnMm", "MmNn", "NnMm", "MNnm"};
static const char *const format_names[] = {"default", "RM", "RRRB", "RCRB", "CRRB", "CCRB", "CM", "AoS", "SoA", "ASTA"};

static const size_t spreads[] = {0, 1, 2, 4, 8, 16, 32};

static int serves_elements(ipt_variant variant)
{
    const int family = variants[variant].family;
    return family == FAMILY_BS || family == FAMILY_PTTWAC_010 || family == FAMILY_P_IPT;
}

static int serves_super_elements(ipt_variant variant)
{
    return variants[variant].family == FAMILY_PTTWAC_100 || variants[variant].family == FAMILY_P_IPT;
}

static int has_flags(ipt_variant variant)
{
    return variants[variant].family == FAMILY_PTTWAC_010 || variants[variant].family == FAMILY_PTTWAC_100;
}

/* Whether a stage moves elements. Sequence 1 moves super-elements of one, 4.3 moves elements only in its fused
 * stage. */
static int moves_elements(ipt_sequence sequence)
{
    return sequence != IPT_SEQUENCE_1 && sequence != IPT_SEQUENCE_4_3;
}

static void set_sequence(ipt_plan_desc *desc, ipt_sequence sequence, size_t tile_m, size_t tile_n)
{
    desc->sequence = sequence;
    desc->tile_m = sequence == IPT_SEQUENCE_1 || sequence == IPT_SEQUENCE_2_2 ? 0 : tile_m;
    desc->tile_n = sequence == IPT_SEQUENCE_1 || sequence == IPT_SEQUENCE_2_1 ? 0 : tile_n;
}

static void print_seed_fields(const ipt_plan_desc *desc)
{
    test_print_case(desc, 0);
    print_error("variant_010 %s variant_100 %s variant_pad %s flag_spread %zu from %s to %s\n",
                ipt_variant_string(desc->variant_010), ipt_variant_string(desc->variant_100),
                ipt_variant_string(desc->variant_pad), desc->flag_spread, ipt_format_string(desc->from),
                ipt_format_string(desc->to));
}

/* Checks the result or, if may_fail, an error UNSUPPORTED with the name in its message. False: no plan. */
static int transposes_or_names(ipt_context *context, const ipt_plan_desc *desc, int may_fail, const char *name)
{
    const ipt_result result = test_try(context, desc);
    if (result == IPT_SUCCESS)
        return 1;
    if (result == IPT_ERROR_UNSUPPORTED && !test_compiles && test_mentions(ipt_context_error(NULL), "compiles nothing"))
        return 0;
    if (!may_fail || result != IPT_ERROR_UNSUPPORTED || !strstr(ipt_context_error(NULL), name)) {
        print_seed_fields(desc);
        print_error("%s: %s\n", ipt_result_string(result), ipt_context_error(NULL));
        fail();
    }
    return 0;
}

/* Whether a tile, at most the matrix, may exceed local memory, of which the implementation may use 1 KiB. */
static int needs_more_local_memory(const ipt_plan_desc *desc)
{
    return desc->rows * desc->cols * desc->elem_size + 1024 > test_local_memory();
}

/* A stage's line in the description ends in "by NAME", or continues after a comma. */
static int is_served_by(const ipt_plan *plan, const char *name)
{
    char text[80];
    snprintf(text, sizeof text, ", by %s", name);
    for (const char *found = ipt_plan_describe(plan); (found = strstr(found, text)); ++found)
        if (found[strlen(text)] == '\n' || found[strlen(text)] == ',')
            return 1;
    return 0;
}

static int source_defines(const ipt_plan *plan, const char *name, size_t value)
{
    char text[80];
    const char *source;
    snprintf(text, sizeof text, "#define IPT_%s %zu\n", name, value);
    for (size_t i = 0; (source = ipt_plan_source(plan, i)); ++i)
        if (strstr(source, text))
            return 1;
    return 0;
}

/* ------------------------------------------------------------------------------------------------------------------ */

/* First factors without empty stages, so that each kind of stage exists; then factors with empty stages. Tiles fit 48
 * KiB of local memory even with elements of 16 bytes. */
static const struct {
    size_t rows, cols, tile_m, tile_n;
} shapes[] = {{24, 36, 6, 9},  {96, 64, 32, 16}, {35, 77, 5, 7},   {150, 110, 6, 10},
              {24, 36, 1, 36}, {24, 36, 24, 1},  {35, 77, 35, 11}, {1000, 6, 250, 3}};
#define FULL_SHAPES 4

/* sizes: a bit each for elements of 4 bytes, 8 bytes and other sizes. */
static void try_variant(ipt_variant variant, ipt_sequence sequence, size_t shape, int is_100, size_t sizes)
{
    static const size_t others[] = {1, 2, 3, 12, 16};
    for (size_t e = 0; e < 3; ++e) {
        if (!(sizes >> e & 1))
            continue;
        ipt_plan_desc desc = {.rows = shapes[shape].rows, .cols = shapes[shape].cols};
        /* One further size per variant, one spread per size: programs for all combinations would take minutes. */
        desc.elem_size = e == 2 ? others[(size_t)variant % TEST_COUNT(others)] : 4 * (e + 1);
        desc.flag_spread = spreads[((size_t)variant + 3 * e) % TEST_COUNT(spreads)];
        desc.batch = test_random_between(0, 1) ? 1 : 3;
        set_sequence(&desc, sequence, shapes[shape].tile_m, shapes[shape].tile_n);
        *(is_100 ? &desc.variant_100 : &desc.variant_010) = variant;
        const int may_fail = needs_more_local_memory(&desc) || test_group_limit() < 256 ||
                             (sequence == IPT_SEQUENCE_4_3 && is_100 &&
                              (variants[variant].family == FAMILY_P_IPT || variants[variant].registers));
        if (!transposes_or_names(test_context, &desc, may_fail, variants[variant].name) || e || shape >= FULL_SHAPES)
            continue;
        ipt_plan *plan = test_make_plan(test_context, &desc);
        if (is_served_by(plan, variants[variant].name) != (is_100 || moves_elements(sequence))) {
            print_seed_fields(&desc);
            print_error("%s\n", ipt_plan_describe(plan));
            fail();
        }
        ipt_plan_destroy(plan);
    }
}

static void seeds_variants(void **state)
{
    (void)state;
    for (int v = IPT_VARIANT_AUTO + 1; v < IPT__VARIANT_COUNT; ++v)
        for (int sequence = IPT_SEQUENCE_1; sequence <= IPT_SEQUENCE_4_3; ++sequence)
            for (size_t shape = 0; shape < TEST_COUNT(shapes); ++shape)
                for (int is_100 = 0; is_100 < 2; ++is_100) {
                    if (!(is_100 ? serves_super_elements : serves_elements)((ipt_variant)v) ||
                        (!is_100 && !moves_elements((ipt_sequence)sequence)))
                        continue;
                    size_t sizes = test_random_between(1, 3) == 1 ? (size_t)1 << test_random_between(0, 2) : 0;
                    if (shape == (size_t)(v + sequence) % FULL_SHAPES)
                        sizes = 7;
                    try_variant((ipt_variant)v, (ipt_sequence)sequence, shape, is_100, sizes);
                }
}

/* The models of Ha et al. 2013: batches of whole matrices, by work-items, parts of sub-groups and work-groups; pairs of
 * tiles by block and by element. */
static void seeds_batches(void **state)
{
    (void)state;
    static const size_t sides[][2] = {{2, 2}, {3, 5},   {8, 8},     {13, 29}, {32, 32},
                                      {1, 9}, {77, 33}, {100, 100}, {67, 67}};
    static const size_t sizes[] = {4, 8, 3}, batches[] = {1, 5, 300};
    for (int v = IPT_VARIANT_AUTO + 1; v < IPT__VARIANT_COUNT; ++v)
        for (size_t s = 0; s < TEST_COUNT(sides); ++s)
            for (size_t b = 0; b < TEST_COUNT(batches); ++b) {
                const int swap = variants[v].family == FAMILY_SWAP;
                ipt_plan_desc desc = {.rows = sides[s][0], .cols = sides[s][1], .elem_size = sizes[(s + b) % 3]};
                if ((!swap && variants[v].family != FAMILY_BS) || (swap && desc.rows != desc.cols))
                    continue;
                desc.batch = batches[b];
                desc.batch_stride = b == 1 ? desc.rows * desc.cols * desc.elem_size + 4 * desc.elem_size : 0;
                desc.variant_010 = (ipt_variant)v;
                desc.sequence = swap ? IPT_SEQUENCE_SQUARE : IPT_SEQUENCE_AUTO;
                /* Large matrices may exceed the local memory. */
                if (!transposes_or_names(test_context, &desc,
                                         desc.rows * desc.cols * desc.elem_size > 16000 || test_group_limit() < 256,
                                         variants[v].name))
                    continue;
                ipt_plan *plan = test_make_plan(test_context, &desc);
                assert_int_equal(is_served_by(plan, variants[v].name), desc.rows > 1);
                ipt_plan_destroy(plan);
            }
}

/* ------------------------------------------------------------------------------------------------------------------ */

/* The cycles of an a x b grid: how many have length 1, 2 and more, and the longest length. */
typedef struct cycle_count {
    size_t ones, twos, more, longest;
} cycle_count;

static cycle_count count_cycles(size_t a, size_t b)
{
    cycle_count count = {0, 0, 0, 0};
    char *const seen = calloc(a * b, 1);
    assert_non_null(seen);
    for (size_t start = 0; start < a * b; ++start) {
        size_t length = 0;
        if (seen[start])
            continue;
        for (size_t at = start; !seen[at]; at = at % b * a + at / b, ++length)
            seen[at] = 1;
        ++*(length == 1 ? &count.ones : length == 2 ? &count.twos : &count.more);
        if (length > count.longest)
            count.longest = length;
    }
    free(seen);
    return count;
}

static void try_grid(ipt_variant variant, size_t a, size_t b, size_t instances, size_t flag_spread)
{
    ipt_plan_desc desc = {.elem_size = 4, .flag_spread = flag_spread};
    if (serves_elements(variant)) {
        desc.rows = instances * a;
        desc.cols = b;
        desc.variant_010 = variant;
        set_sequence(&desc, IPT_SEQUENCE_2_1, a, 0); /* first stage: instances of a x b elements */
        test_transposes(test_context, &desc);
    }
    if (serves_super_elements(variant)) {
        const size_t length = test_random_between(2, 5);
        desc.variant_010 = IPT_VARIANT_AUTO;
        desc.variant_100 = variant;
        desc.rows = a;
        desc.cols = b;
        desc.batch = instances;
        set_sequence(&desc, IPT_SEQUENCE_1, 0, 0);
        test_transposes(test_context, &desc);
        desc.batch = 1;
        desc.rows = a * length;
        desc.cols = instances * b;
        set_sequence(&desc, IPT_SEQUENCE_3_1, length, b); /* last stage: instances of a x b super-elements */
        test_transposes(test_context, &desc);
    }
}

static void seeds_cycles(void **state)
{
    (void)state;
    test_need_group_of_32();
    static const size_t grids[][2] = {
        {31, 1},  {1, 32},  {5, 6},   {4, 8},   {2, 16},  {3, 11},  {11, 3},  {2, 17},  {7, 9},   {3, 21},  {8, 8},
        {2, 32},  {16, 4},  {5, 13},  {13, 5},  {6, 11},  {2, 2},   {3, 3},   {31, 31}, {31, 33}, {11, 93}, {32, 32},
        {2, 512}, {64, 16}, {25, 41}, {5, 205}, {2, 499}, {27, 38}, {38, 27}, {7, 150}, {3, 341},
    };
    size_t only_short = 0, nearly_one = 0, mixed = 0;
    for (size_t g = 0; g < TEST_COUNT(grids); ++g) {
        const cycle_count count = count_cycles(grids[g][0], grids[g][1]);
        only_short += count.twos && !count.more;
        nearly_one += count.longest >= 400 && count.longest * 2 > grids[g][0] * grids[g][1];
        mixed += count.ones > 2 && count.twos && count.more;
        for (int v = IPT_VARIANT_PTTWAC_010; v <= IPT_VARIANT_P_IPT_GROUP; ++v)
            for (size_t instances = 1; instances <= 3; instances += 2)
                try_grid((ipt_variant)v, grids[g][0], grids[g][1], instances, spreads[(size_t)v % TEST_COUNT(spreads)]);
    }
    assert_true(only_short && nearly_one && mixed);
}

/* All spreads, for every layout of the flags in local memory, and for flags in the workspace. */
static void seeds_flag_spread(void **state)
{
    (void)state;
    test_need_group_of_32();
    static const ipt_variant layouts[] = {IPT_VARIANT_PTTWAC_010, IPT_VARIANT_PTTWAC_010_PADDED,
                                          IPT_VARIANT_PTTWAC_010_REMAPPED, IPT_VARIANT_PTTWAC_100_SIMD};
    static const size_t grids[][2] = {{4, 8}, {3, 11}, {7, 9}, {2, 32}, {5, 13}, {31, 33}, {32, 32}, {25, 41}};
    for (size_t v = 0; v < TEST_COUNT(layouts); ++v)
        for (size_t s = 0; s < TEST_COUNT(spreads); ++s)
            for (size_t g = 0; g < TEST_COUNT(grids); ++g)
                try_grid(layouts[v], grids[g][0], grids[g][1], 1 + g % 3, spreads[s]);
    /* One flag per word, with a limit of 1 MiB, or of the smallest workspace. */
    for (size_t limit = 0; limit < 2; ++limit) {
        ipt_plan_desc desc = {.rows = 700, .cols = 500, .elem_size = 4, .flag_spread = 32, .max_workspace = limit};
        desc.variant_100 = IPT_VARIANT_PTTWAC_100_SIMD;
        desc.sequence = IPT_SEQUENCE_1;
        transposes_or_names(test_context, &desc, 1, "max_workspace");
    }
}

/* ------------------------------------------------------------------------------------------------------------------ */

/* With 1024 bytes of local memory, a tile that needs up to half is accepted, a tile that needs more than all is
 * refused; in between, both are allowed. */
static void try_tile_in_little(ipt_variant variant, size_t m, size_t n, size_t elem_size, size_t flag_spread)
{
    const size_t spread = flag_spread ? flag_spread : 1, units = m * n * elem_size / 4;
    /* The tile needs at least a flag for each element, at most a flag for each unit. */
    const size_t least = has_flags(variant) ? 4 * ((m * n + 31) / 32 * spread) : m * n * elem_size;
    const size_t most = has_flags(variant) ? 4 * ((units + 31) / 32 * spread) : m * n * elem_size;
    ipt_plan_desc desc = {.rows = 3 * m, .cols = n, .elem_size = elem_size, .flag_spread = flag_spread};
    desc.variant_010 = variant;
    set_sequence(&desc, IPT_SEQUENCE_2_1, m, 0);
    if (transposes_or_names(test_small_context, &desc, most > 512 || test_group_limit() < 256,
                            variants[variant].name) &&
        least > 1024) {
        print_seed_fields(&desc);
        print_error("served with too little local memory\n");
        fail();
    }
}

static void seeds_little_local_memory(void **state)
{
    (void)state;
    for (int v = IPT_VARIANT_BS_GROUP; v <= IPT_VARIANT_PTTWAC_010_REMAPPED; ++v) {
        const size_t flag_spread = spreads[(size_t)v % TEST_COUNT(spreads)];
        for (size_t elem_size = 4; elem_size <= 12; elem_size += 8) {
            try_tile_in_little((ipt_variant)v, 6, 7, elem_size, flag_spread);
            try_tile_in_little((ipt_variant)v, 40, 50, elem_size, flag_spread);
            try_tile_in_little((ipt_variant)v, 90, 110, elem_size, flag_spread);
            for (int i = 0; i < 6; ++i)
                try_tile_in_little((ipt_variant)v, test_random_between(2, 64), test_random_between(2, 64), elem_size,
                                   flag_spread);
        }
    }
    /* Super-elements from a few bytes to beyond local memory. */
    for (int v = IPT_VARIANT_PTTWAC_100_GROUP; v <= IPT_VARIANT_P_IPT_GROUP; ++v)
        for (size_t m = 2; m <= 600; m *= 3) {
            ipt_plan_desc desc = {.rows = 9 * m, .cols = 11, .elem_size = 4, .variant_100 = (ipt_variant)v};
            set_sequence(&desc, IPT_SEQUENCE_2_1, m, 0);
            transposes_or_names(test_small_context, &desc, m * 4 > 512 || test_group_limit() < 256, variants[v].name);
        }
    /* A work-group of as many work-items as a super-element has units, whatever their number. */
    for (size_t i = 0; i < 12; ++i) {
        const size_t m = i < 6 ? 1 + i * 13 : test_random_between(1, 200);
        ipt_plan_desc desc = {.rows = 9 * m, .cols = 11, .elem_size = i % 3 ? 4 : 12};
        desc.variant_100 = IPT_VARIANT_PTTWAC_100_ITEMS;
        set_sequence(&desc, IPT_SEQUENCE_2_1, m, 0);
        transposes_or_names(test_small_context, &desc, 3 * m > test_group_limit(), variants[desc.variant_100].name);
    }
}

/* ------------------------------------------------------------------------------------------------------------------ */

/* All sources of a plan in one text, to compare programs. */
static char *join_sources(const ipt_plan *plan)
{
    size_t length = 1;
    for (size_t i = 0; ipt_plan_source(plan, i); ++i)
        length += strlen(ipt_plan_source(plan, i));
    char *const text = calloc(length, 1);
    assert_non_null(text);
    for (size_t i = 0, at = 0; ipt_plan_source(plan, i); ++i) {
        strcpy(text + at, ipt_plan_source(plan, i));
        at += strlen(text + at);
    }
    return text;
}

static void check_program(const ipt_plan *plan, ipt_variant variant, size_t flag_spread)
{
    int right = is_served_by(plan, variants[variant].name);
    switch (variants[variant].family) {
    case FAMILY_BS:
        right = right && source_defines(plan, "BANK_PADDING", variants[variant].padding);
        break;
    case FAMILY_PTTWAC_010:
        right = right && source_defines(plan, "FLAG_LAYOUT", variants[variant].layout) &&
                source_defines(plan, "FLAG_SPREAD", flag_spread ? flag_spread : 1);
        break;
    case FAMILY_PTTWAC_100:
        right = right && source_defines(plan, "REGISTERS", variants[variant].registers) &&
                source_defines(plan, "FLAG_SPREAD", flag_spread ? flag_spread : 1) &&
                (!variants[variant].lanes || source_defines(plan, "LANES", variants[variant].lanes));
        break;
    }
    if (!right) {
        print_error("%s, flag_spread %zu:\n%s\n", variants[variant].name, flag_spread, ipt_plan_describe(plan));
        fail();
    }
}

static void seeds_in_the_plan(void **state)
{
    (void)state;
    test_need_group_of_32();
    char *sources[2][IPT__VARIANT_COUNT] = {{NULL}};
    for (int is_100 = 0; is_100 < 2; ++is_100)
        for (int v = IPT_VARIANT_AUTO + 1; v < IPT__VARIANT_COUNT; ++v) {
            if (!(is_100 ? serves_super_elements : serves_elements)((ipt_variant)v))
                continue;
            for (size_t flag_spread = 0; flag_spread <= 8; flag_spread += 8) {
                ipt_plan_desc desc = {.rows = 24, .cols = 36, .elem_size = 4, .flag_spread = flag_spread};
                *(is_100 ? &desc.variant_100 : &desc.variant_010) = (ipt_variant)v;
                set_sequence(&desc, IPT_SEQUENCE_3_1, 6, 9);
                ipt_plan *plan = test_make_plan(test_context, &desc);
                check_program(plan, (ipt_variant)v, flag_spread);
                if (!flag_spread)
                    sources[is_100][v] = join_sources(plan);
                ipt_plan_destroy(plan);
            }
        }
    /* Each name selects a different program, except the names of BS, whose work-items per tile are an argument. */
    for (int is_100 = 0; is_100 < 2; ++is_100)
        for (int a = 0; a < IPT__VARIANT_COUNT; ++a)
            for (int b = 0; b < a; ++b)
                if (sources[is_100][a] && sources[is_100][b] &&
                    (variants[a].family != FAMILY_BS || variants[a].padding != variants[b].padding) &&
                    strcmp(sources[is_100][a], sources[is_100][b]) == 0) {
                    print_error("%s and %s are one program\n", variants[a].name, variants[b].name);
                    fail();
                }
    for (int v = 0; v < IPT__VARIANT_COUNT; ++v) {
        assert_string_equal(ipt_variant_string((ipt_variant)v), variants[v].name);
        free(sources[0][v]);
        free(sources[1][v]);
    }
    assert_string_equal(ipt_variant_string(IPT__VARIANT_COUNT), "unknown");
    assert_string_equal(ipt_format_string(IPT__FORMAT_COUNT), "unknown");

    /* Two forced kernels. */
    ipt_plan_desc desc = {.rows = 24, .cols = 36, .elem_size = 4, .flag_spread = 8};
    desc.variant_010 = IPT_VARIANT_PTTWAC_010_REMAPPED;
    desc.variant_100 = IPT_VARIANT_PTTWAC_100_VIRTUAL_16;
    set_sequence(&desc, IPT_SEQUENCE_4_1, 6, 9);
    ipt_plan *plan = test_make_plan(test_context, &desc);
    check_program(plan, desc.variant_010, 8);
    check_program(plan, desc.variant_100, 8);
    ipt_plan_destroy(plan);
}

/* ------------------------------------------------------------------------------------------------------------------ */

/* The place of the element with these coordinates in M', m, N', n, each below its size. */
static size_t place_in(ipt_format format, const size_t sizes[4], const size_t coordinates[4])
{
    size_t place = 0;
    for (const char *factor = format_factors[format]; *factor; ++factor) {
        const size_t which = (size_t)(strchr("MmNn", *factor) - "MmNn");
        place = place * sizes[which] + coordinates[which];
    }
    return place;
}

static void reference_of_formats(unsigned char *output, const unsigned char *input, const ipt_plan_desc *desc)
{
    const ipt_format from = desc->from == IPT_FORMAT_DEFAULT ? IPT_FORMAT_RM : desc->from;
    const ipt_format to = desc->to == IPT_FORMAT_DEFAULT ? IPT_FORMAT_CM : desc->to;
    const size_t m = desc->tile_m ? desc->tile_m : 1, n = desc->tile_n ? desc->tile_n : 1, size = desc->elem_size;
    const size_t sizes[4] = {desc->rows / m, m, desc->cols / n, n};
    for (size_t matrix = 0; matrix < desc->batch; ++matrix)
        for (size_t row = 0; row < desc->rows; ++row)
            for (size_t col = 0; col < desc->cols; ++col) {
                const size_t coordinates[4] = {row / m, row % m, col / n, col % n};
                memcpy(output + matrix * test_stride(desc) + place_in(to, sizes, coordinates) * size,
                       input + matrix * test_stride(desc) + place_in(from, sizes, coordinates) * size, size);
            }
}

static void try_format(test_job *job, const ipt_plan_desc *desc)
{
    ipt_plan *plan = NULL;
    const ipt_result made = ipt_plan_create(test_context, desc, &plan);
    if (made != IPT_SUCCESS) {
        print_seed_fields(desc);
        print_error("ipt_plan_create: %s\n", ipt_context_error(NULL));
        fail();
    }
    const size_t byte_offset = TEST_GUARD + test_random_between(0, 20) * test_alignment(desc->elem_size);
    test_job_prepare(job, test_cl_context, desc, byte_offset);
    memcpy(job->expected, job->input, job->size);
    reference_of_formats(job->expected + byte_offset, job->input + byte_offset, desc);
    if (desc->from == desc->to && desc->from != IPT_FORMAT_DEFAULT) /* nothing moves: this also checks the reference */
        assert_memory_equal(job->expected, job->input, job->size);
    int right = test_job_run(job, plan, test_queue);
    memcpy(job->result, job->input, job->size);
    const ipt_result executed = ipt_plan_execute_host(plan, job->result + byte_offset);
    if (executed != IPT_SUCCESS || memcmp(job->result, job->expected, job->size) != 0) {
        print_error("ipt_plan_execute_host: %s\n", ipt_result_string(executed));
        right = 0;
    }
    if (!right) {
        print_seed_fields(desc);
        fail();
    }
    if (desc->tile_m && (desc->from != IPT_FORMAT_DEFAULT || desc->to != IPT_FORMAT_DEFAULT)) {
        cl_event event = NULL;
        test_expect_error(ipt_plan_execute_out_of_place(plan, test_queue, job->buffer, byte_offset, job->buffer,
                                                        byte_offset, 0, NULL, &event),
                          IPT_ERROR_UNSUPPORTED, NULL, NULL);
        assert_null(event);
    }
    ipt_plan_destroy(plan);
}

static void seeds_formats(void **state)
{
    (void)state;
    static const size_t blocks[][4] = {{48, 60, 6, 10}, {30, 42, 5, 7}};
    static const size_t element_sizes[] = {1, 4, 12};
    test_job job = {.size = 0};
    for (int format = 0; format < IPT__FORMAT_COUNT; ++format)
        assert_string_equal(ipt_format_string((ipt_format)format), format_names[format]);
    for (int from = 0; from < IPT__FORMAT_COUNT; ++from)
        for (int to = 0; to < IPT__FORMAT_COUNT; ++to)
            for (size_t i = 0; i < TEST_COUNT(blocks) * TEST_COUNT(element_sizes) * 2; ++i) {
                const size_t *const block = blocks[i % TEST_COUNT(blocks)];
                ipt_plan_desc desc = {.rows = block[0], .cols = block[1], .tile_m = block[2], .tile_n = block[3]};
                desc.elem_size = element_sizes[i / TEST_COUNT(blocks) % TEST_COUNT(element_sizes)];
                desc.batch = i < TEST_COUNT(blocks) * TEST_COUNT(element_sizes) ? 1 : 2;
                desc.from = (ipt_format)from;
                desc.to = (ipt_format)to;
                if (desc.batch > 1 && test_random_between(0, 1))
                    desc.batch_stride =
                        test_matrix_bytes(&desc) + test_random_between(1, 20) * test_alignment(desc.elem_size);
                try_format(&job, &desc);
            }
    /* Blocks of one row, one column, one element, and the whole matrix. */
    static const size_t edges[][4] = {{12, 18, 1, 1}, {12, 18, 12, 18}, {12, 18, 1, 18}, {12, 18, 12, 1},
                                      {12, 18, 1, 6}, {12, 18, 4, 1},   {1, 30, 1, 5},   {16, 16, 4, 4}};
    for (int from = 0; from < IPT__FORMAT_COUNT; ++from)
        for (int to = 0; to < IPT__FORMAT_COUNT; ++to)
            for (size_t i = 0; i < TEST_COUNT(edges); ++i) {
                ipt_plan_desc desc = {.rows = edges[i][0], .cols = edges[i][1], .elem_size = 4, .batch = 2};
                desc.tile_m = edges[i][2];
                desc.tile_n = edges[i][3];
                desc.from = (ipt_format)from;
                desc.to = (ipt_format)to;
                try_format(&job, &desc);
            }
    test_job_end(&job);
}

/* Arrays of structures, structures of arrays and tiled arrays by name, with tile sides only for the tiled ones. */
static void seeds_layouts(void **state)
{
    static const ipt_format layouts[] = {IPT_FORMAT_AOS, IPT_FORMAT_SOA, IPT_FORMAT_ASTA};
    static const size_t counts[][3] = {{960, 7, 32}, {64, 3, 8}, {12000, 4, 60}, {5, 5, 5}, {1, 9, 1}, {40, 1, 8}};
    test_job job = {0};
    (void)state;
    test_need_group_of_32();
    for (size_t f = 0; f < TEST_COUNT(layouts); ++f)
        for (size_t t = 0; t < TEST_COUNT(layouts); ++t)
            for (size_t i = 0; i < TEST_COUNT(counts); ++i) {
                ipt_plan_desc desc = {.rows = counts[i][0], .cols = counts[i][1], .elem_size = i % 2 ? 8 : 4};
                desc.batch = 1 + i % 3;
                desc.from = layouts[f];
                desc.to = layouts[t];
                desc.tile_m = f == 2 || t == 2 ? counts[i][2] : 0;
                try_format(&job, &desc);
            }
    /* Forced kernels for these formats. */
    for (int is_100 = 0; is_100 < 2; ++is_100) {
        ipt_plan_desc forced = {.rows = 60, .cols = 40, .elem_size = 4, .from = IPT_FORMAT_RM, .to = IPT_FORMAT_SOA};
        *(is_100 ? &forced.variant_100 : &forced.variant_010) =
            is_100 ? IPT_VARIANT_PTTWAC_100_SIMD : IPT_VARIANT_BS_GROUP;
        forced.batch = 1;
        try_format(&job, &forced);
    }
    /* Between two formats without blocks, the plan is an ordinary transposition. */
    ipt_plan_desc desc = {.rows = 2000, .cols = 300, .elem_size = 4, .from = IPT_FORMAT_SOA, .to = IPT_FORMAT_AOS};
    ipt_plan *plan = test_make_plan(test_small_context, &desc);
    assert_non_null(strstr(ipt_plan_describe(plan), "300 x 2000"));
    assert_null(strstr(ipt_plan_describe(plan), "tile: 1 x")); /* it would need 2.4 MB of local memory */
    ipt_plan_destroy(plan);
    test_job_end(&job);
}

static void seeds_formats_errors(void **state)
{
    (void)state;
    static const struct {
        size_t tile_m, tile_n;
        int from, to;
        ipt_sequence sequence;
        unsigned flags;
        const char *field, *value;
    } wrong[] = {
        {0, 6, IPT_FORMAT_RM, IPT_FORMAT_RRRB, IPT_SEQUENCE_AUTO, 0, "tile_m", "0"},
        {6, 0, IPT_FORMAT_RM, IPT_FORMAT_RRRB, IPT_SEQUENCE_AUTO, 0, "tile_n", "0"},
        {7, 6, IPT_FORMAT_DEFAULT, IPT_FORMAT_RCRB, IPT_SEQUENCE_AUTO, 0, "tile_m", "7"},
        {6, 7, IPT_FORMAT_CRRB, IPT_FORMAT_DEFAULT, IPT_SEQUENCE_AUTO, 0, "tile_n", "7"},
        {48, 6, IPT_FORMAT_CM, IPT_FORMAT_CCRB, IPT_SEQUENCE_AUTO, 0, "tile_m", "48"},
        {(size_t)-1, 6, IPT_FORMAT_CM, IPT_FORMAT_CM, IPT_SEQUENCE_AUTO, 0, "tile_m", NULL},
        {6, (size_t)-1, IPT_FORMAT_CM, IPT_FORMAT_RM, IPT_SEQUENCE_AUTO, 0, "tile_n", NULL},
        {6, 6, IPT_FORMAT_RM, IPT_FORMAT_RRRB, IPT_SEQUENCE_3_1, 0, "from", "sequence"},
        {6, 6, IPT_FORMAT_RM, IPT_FORMAT_DEFAULT, IPT_SEQUENCE_2_1, 0, "from", "sequence"},
        {6, 6, IPT_FORMAT_DEFAULT, IPT_FORMAT_CM, IPT_SEQUENCE_TWO_PASS, 0, "to", "sequence"},
        {6, 6, IPT_FORMAT_RM, IPT_FORMAT_CM, IPT_SEQUENCE_AUTO, IPT_PAD, "IPT_PAD", NULL},
        {6, 6, IPT_FORMAT_RCRB, IPT_FORMAT_DEFAULT, IPT_SEQUENCE_AUTO, IPT_PAD, "IPT_PAD", NULL},
        {6, 6, -1, IPT_FORMAT_CM, IPT_SEQUENCE_AUTO, 0, "from", "-1"},
        {6, 6, IPT__FORMAT_COUNT, IPT_FORMAT_CM, IPT_SEQUENCE_AUTO, 0, "from", "10"},
        {6, 6, IPT_FORMAT_RM, -1, IPT_SEQUENCE_AUTO, 0, "to", "-1"},
        {6, 6, IPT_FORMAT_RM, IPT__FORMAT_COUNT + 1, IPT_SEQUENCE_AUTO, 0, "to", "11"},
        {0, 0, 1000, IPT_FORMAT_DEFAULT, IPT_SEQUENCE_AUTO, 0, "from", "1000"},
    };
    for (size_t i = 0; i < TEST_COUNT(wrong); ++i) {
        ipt_plan_desc desc = {.rows = 24, .cols = 36, .elem_size = 4, .flags = wrong[i].flags};
        ipt_plan *plan = (ipt_plan *)&desc;
        desc.tile_m = wrong[i].tile_m;
        desc.tile_n = wrong[i].tile_n;
        desc.from = (ipt_format)wrong[i].from;
        desc.to = (ipt_format)wrong[i].to;
        desc.sequence = wrong[i].sequence;
        const ipt_result result = ipt_plan_create(test_context, &desc, &plan);
        assert_null(plan);
        test_expect_error(result, IPT_ERROR_INVALID_ARGUMENT, wrong[i].field, wrong[i].value);
    }
}

/* ------------------------------------------------------------------------------------------------------------------ */

/* The memory of padded matrices: each begins with its content without gaps, then padding, whose content is lost. Guards
 * follow. */
typedef struct padded_job {
    size_t size, byte_offset, stride, matrix;
    unsigned char *input, *expected, *result;
} padded_job;

static void padded_prepare(padded_job *job, const ipt_plan_desc *shape, size_t pad_rows, size_t pad_cols)
{
    ipt_plan_desc desc = *shape;
    job->matrix = (desc.rows + pad_rows) * (desc.cols + pad_cols) * desc.elem_size;
    if (!desc.batch_stride)
        desc.batch_stride = job->matrix;
    job->stride = desc.batch_stride;
    job->byte_offset = TEST_GUARD + test_random_between(0, 20) * test_alignment(desc.elem_size);
    job->size = job->byte_offset + (desc.batch - 1) * job->stride + job->matrix + TEST_GUARD;
    job->input = malloc(job->size);
    job->expected = malloc(job->size);
    job->result = malloc(job->size);
    assert_true(job->input && job->expected && job->result);
    test_fill(job->input, job->size);
    memcpy(job->expected, job->input, job->size);
    test_reference(job->expected + job->byte_offset, job->input + job->byte_offset, &desc);
}

static int padded_holds(padded_job *job, const ipt_plan_desc *desc, const char *what)
{
    const size_t content = test_matrix_bytes(desc);
    for (size_t matrix = 0; matrix < desc->batch; ++matrix) {
        const size_t begin = job->byte_offset + matrix * job->stride + content;
        memcpy(job->result + begin, job->expected + begin, job->matrix - content);
    }
    if (memcmp(job->result, job->expected, job->size) == 0)
        return 1;
    size_t first = 0;
    while (job->result[first] == job->expected[first])
        ++first;
    print_error("%s: the first wrong byte is at %zd, content of %zu bytes, matrices of %zu, each %zu from the last\n",
                what, (ptrdiff_t)(first - job->byte_offset), content, job->matrix, job->stride);
    return 0;
}

static int run_padded(ipt_plan *plan, const ipt_plan_desc *desc)
{
    size_t pad_rows = (size_t)-1, pad_cols = (size_t)-1;
    padded_job job;
    cl_int error = CL_SUCCESS;
    ipt_plan_padding(plan, &pad_rows, &pad_cols);
    padded_prepare(&job, desc, pad_rows, pad_cols);
    cl_mem buffer =
        clCreateBuffer(test_cl_context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, job.size, job.input, &error);
    assert_int_equal(error, CL_SUCCESS);
    int right = ipt_plan_execute(plan, test_queue, buffer, job.byte_offset, 0, NULL, NULL) == IPT_SUCCESS;
    if (!right)
        print_error("ipt_plan_execute: %s\n", ipt_context_error(NULL));
    error = clEnqueueReadBuffer(test_queue, buffer, CL_TRUE, 0, job.size, job.result, 0, NULL, NULL);
    assert_int_equal(error, CL_SUCCESS);
    right = right && padded_holds(&job, desc, "ipt_plan_execute");
    if (right && job.size < 1000000) {
        memcpy(job.result, job.input, job.size);
        right = ipt_plan_execute_host(plan, job.result + job.byte_offset) == IPT_SUCCESS;
        if (!right)
            print_error("ipt_plan_execute_host: %s\n", ipt_context_error(NULL));
        right = right && padded_holds(&job, desc, "ipt_plan_execute_host");
    }
    clReleaseMemObject(buffer);
    free(job.input);
    free(job.expected);
    free(job.result);
    return right;
}

/* Makes the plan, runs it, and destroys it. *pad_rows, *pad_cols: the padding. Returns 0 without a plan, which some
 * sequences allow. */
static int try_padded(ipt_context *context, const ipt_plan_desc *shape, size_t *pad_rows, size_t *pad_cols)
{
    ipt_plan_desc desc = *shape;
    ipt_plan *plan = NULL;
    desc.flags |= desc.method ? 0 : IPT_PAD;
    const ipt_result result = ipt_plan_create(context, &desc, &plan);
    if (result != IPT_SUCCESS) {
        assert_null(plan);
        if (result == IPT_ERROR_UNSUPPORTED && desc.sequence >= IPT_SEQUENCE_3_3 &&
            test_mentions(ipt_context_error(NULL), ipt_sequence_string(desc.sequence)))
            return 0;
        print_seed_fields(&desc);
        test_skip_uncompiled(result);
        print_error("ipt_plan_create: %s: %s\n", ipt_result_string(result), ipt_context_error(NULL));
        fail();
    }
    *pad_rows = *pad_cols = (size_t)-1;
    ipt_plan_padding(plan, pad_rows, pad_cols);
    /* The next multiple of 24 always suffices: more padding would be a fault. */
    int right = *pad_rows < (desc.tile_m ? desc.tile_m : 24) && *pad_cols < (desc.tile_n ? desc.tile_n : 24);
    if (!right)
        print_error("%zu rows and %zu columns of padding are too many\n", *pad_rows, *pad_cols);
    if (desc.tile_m && desc.tile_n)
        right = right && (desc.rows + *pad_rows) % desc.tile_m == 0 && (desc.cols + *pad_cols) % desc.tile_n == 0;
    if (*pad_cols && desc.rows > 1) /* if the plan adds columns, the requested kernel must move them */
        right =
            right && source_defines(plan, "CHAINED", 1) == (desc.variant_pad == IPT_VARIANT_PAD_CHAINED || desc.method);
    right = right && run_padded(plan, &desc);
    if (!right) {
        print_seed_fields(&desc);
        print_error("padding %zu %zu\n%s\n", *pad_rows, *pad_cols, ipt_plan_describe(plan));
        fail();
    }
    ipt_plan_destroy(plan);
    return 1;
}

/* With much local memory few sides need padding: 16 KiB is near the papers' devices. */
static ipt_context *make_padding_context(void)
{
    ipt_context *context = NULL;
    ipt_context_desc desc = {.context = test_cl_context, .device = test_device, .max_local_memory = 16384};
    assert_int_equal(ipt_context_create(&desc, &context), IPT_SUCCESS);
    return context;
}

static void seeds_padding(void **state)
{
    (void)state;
    static const size_t primes[][2] = {{101, 103}, {1009, 1013}, {23, 1009}, {1009, 5}, {1, 773}, {773, 1},
                                       {127, 24},  {96, 131},    {67, 71},   {2, 67},   {7, 11}};
    static const size_t element_sizes[] = {4, 1, 3, 8, 16};
    ipt_context *context = make_padding_context();
    size_t pad_rows, pad_cols, with_rows = 0, with_cols = 0, served = 0;
    const size_t sequences = IPT_SEQUENCE_4_3 + 1, count = TEST_COUNT(primes) * sequences * 2;
    for (size_t i = 0; i < count + 120; ++i) {
        ipt_plan_desc desc = {.elem_size = element_sizes[i % 5], .batch = i % 7 == 0 ? 3 : 1};
        desc.variant_pad = i & 1 ? IPT_VARIANT_PAD_CHAINED : IPT_VARIANT_AUTO;
        desc.sequence = (ipt_sequence)(i / 2 % sequences);
        if (i < count) {
            desc.rows = primes[i / 2 / sequences][0];
            desc.cols = primes[i / 2 / sequences][1];
        } else {
            const int is_large = test_random_between(0, 15) == 0;
            desc.rows = test_random_between(1, is_large ? 1500 : 400);
            desc.cols = test_random_between(1, is_large ? 1500 : 400);
        }
        if (desc.rows * desc.cols > 500000) { /* would mostly measure memory traffic */
            desc.elem_size = i % 3 ? 1 : 4;
            desc.batch = 1;
        }
        served += (size_t)try_padded(i % 15 ? context : test_context, &desc, &pad_rows, &pad_cols);
        with_rows += pad_rows > 0;
        with_cols += pad_cols > 0;
    }
    assert_true(with_rows >= 20 && with_cols >= 20 && served * 10 >= (count + 120) * 9);

    /* Gaps between padded matrices stay unchanged. A stride may be too short. */
    ipt_plan_desc desc = {.rows = 67, .cols = 71, .elem_size = 4, .batch = 3};
    try_padded(context, &desc, &pad_rows, &pad_cols);
    desc.batch_stride = (67 + pad_rows) * (71 + pad_cols) * 4 + 52;
    assert_true(pad_rows && pad_cols);
    try_padded(context, &desc, &pad_rows, &pad_cols);
    desc.batch_stride -= 56;
    desc.flags = IPT_PAD;
    ipt_plan *plan = (ipt_plan *)&desc;
    test_expect_error(ipt_plan_create(context, &desc, &plan), IPT_ERROR_INVALID_ARGUMENT, "batch_stride",
                      test_number(desc.batch_stride));
    assert_null(plan);
    ipt_context_destroy(context);
}

/* The padded method of 2016: without flags, and with the published chain. */
static void seeds_padding_by_method(void **state)
{
    (void)state;
    test_need_compiler();
    if (test_group_limit() < 256)
        test_skip("work-groups have fewer than 256 work-items");
    static const size_t shapes[][2] = {{101, 103}, {619, 661}, {1009, 5}, {96, 131}, {67, 71}, {720, 180}, {7, 11}};
    static const size_t element_sizes[] = {4, 8, 3};
    ipt_context *context = make_padding_context();
    size_t pad_rows, pad_cols, padded = 0;
    for (size_t i = 0; i < TEST_COUNT(shapes) * 3; ++i) {
        const ipt_plan_desc desc = {.rows = shapes[i / 3][0],
                                    .cols = shapes[i / 3][1],
                                    .elem_size = element_sizes[i % 3],
                                    .batch = i % 2 ? 2 : 1,
                                    .method = IPT_METHOD_TPDS_2016_PADDED};
        assert_true(try_padded(context, &desc, &pad_rows, &pad_cols));
        padded += pad_rows || pad_cols;
    }
    assert_true(padded >= 9);
    ipt_context_destroy(context);
}

static void seeds_padding_by_tiles(void **state)
{
    (void)state;
    ipt_context *context = make_padding_context();
    size_t pad_rows, pad_cols;
    for (size_t i = 0; i < 60; ++i) {
        ipt_plan_desc desc = {.rows = test_random_between(1, 300), .cols = test_random_between(1, 300)};
        desc.elem_size = i % 3 ? 4 : 1;
        desc.batch = i % 4 ? 1 : 3;
        desc.tile_m = test_random_between(1, 20);
        desc.tile_n = test_random_between(1, 20);
        desc.variant_pad = i & 1 ? IPT_VARIANT_PAD_CHAINED : IPT_VARIANT_AUTO;
        desc.sequence =
            i % 5 ? (ipt_sequence)test_random_between(IPT_SEQUENCE_3_1, IPT_SEQUENCE_4_2) : IPT_SEQUENCE_AUTO;
        if (!try_padded(context, &desc, &pad_rows, &pad_cols))
            continue;
        assert_int_equal(pad_rows, (desc.tile_m - desc.rows % desc.tile_m) % desc.tile_m);
        assert_int_equal(pad_cols, (desc.tile_n - desc.cols % desc.tile_n) % desc.tile_n);
    }

    /* No padding if the sides have factors, or without the flag. */
    static const size_t even[][4] = {{240, 360, 0, 0}, {96, 48, 0, 0}, {100, 70, 25, 14}, {101, 103, 101, 1}};
    for (size_t i = 0; i < TEST_COUNT(even); ++i) {
        ipt_plan_desc desc = {.rows = even[i][0], .cols = even[i][1], .elem_size = 4, .batch = 1};
        desc.tile_m = even[i][2];
        desc.tile_n = even[i][3];
        try_padded(context, &desc, &pad_rows, &pad_cols);
        assert_int_equal(pad_rows, 0);
        assert_int_equal(pad_cols, 0);
    }
    /* A side whose factors the sequence does not use is not padded, and cannot be too long for algorithm 5. */
    static const struct {
        ipt_sequence sequence;
        size_t tile_m, tile_n, pad_rows, pad_cols;
    } one_sided[] = {{IPT_SEQUENCE_1, 0, 0, 0, 0}, {IPT_SEQUENCE_2_1, 8, 0, 3, 0}, {IPT_SEQUENCE_2_2, 0, 8, 0, 5}};
    ipt_context_desc little = {.context = test_cl_context, .device = test_device, .max_local_memory = 2048};
    ipt_context *little_context;
    assert_int_equal(ipt_context_create(&little, &little_context), IPT_SUCCESS);
    for (size_t i = 0; i < TEST_COUNT(one_sided); ++i) {
        ipt_plan_desc desc = {.rows = 101, .cols = 99, .elem_size = 4, .batch = 1};
        desc.sequence = one_sided[i].sequence;
        desc.tile_m = one_sided[i].tile_m;
        desc.tile_n = one_sided[i].tile_n;
        assert_true(try_padded(little_context, &desc, &pad_rows, &pad_cols));
        assert_int_equal(pad_rows, one_sided[i].pad_rows);
        assert_int_equal(pad_cols, one_sided[i].pad_cols);
    }
    ipt_context_destroy(little_context);

    ipt_plan_desc desc = {.rows = 67, .cols = 71, .elem_size = 4};
    ipt_plan *plan = test_make_plan(context, &desc);
    pad_rows = pad_cols = 1;
    ipt_plan_padding(plan, &pad_rows, &pad_cols);
    assert_int_equal(pad_rows, 0);
    assert_int_equal(pad_cols, 0);
    ipt_plan_destroy(plan);

    /* The matrix alone is too small a buffer, the padded one is not. */
    desc.flags = IPT_PAD;
    plan = test_make_plan(context, &desc);
    ipt_plan_padding(plan, &pad_rows, &pad_cols);
    assert_true(pad_rows && pad_cols);
    for (size_t missing = 0; missing < 2; ++missing) {
        cl_int error = CL_SUCCESS;
        cl_event event = NULL;
        cl_mem buffer = clCreateBuffer(test_cl_context, CL_MEM_READ_WRITE,
                                       (67 + pad_rows) * (71 + pad_cols) * 4 - missing, NULL, &error);
        assert_int_equal(error, CL_SUCCESS);
        const ipt_result result = ipt_plan_execute(plan, test_queue, buffer, 0, 0, NULL, missing ? &event : NULL);
        if (missing)
            test_expect_error(result, IPT_ERROR_INVALID_ARGUMENT, "buffer", NULL);
        else
            assert_int_equal(result, IPT_SUCCESS);
        assert_null(event);
        test_expect_error(ipt_plan_execute_out_of_place(plan, test_queue, buffer, 0, buffer, 0, 0, NULL, &event),
                          IPT_ERROR_UNSUPPORTED, "IPT_PAD", NULL);
        assert_null(event);
        assert_int_equal(clFinish(test_queue), CL_SUCCESS);
        clReleaseMemObject(buffer);
    }
    ipt_plan_destroy(plan);
    ipt_context_destroy(context);

    /* In little local memory algorithm 5 finds no tiles. The message names the option that requested them. */
    test_expect_error(ipt_plan_create(test_small_context, &desc, &plan), IPT_ERROR_UNSUPPORTED, "IPT_PAD", "576");
    test_expect_error(ipt_plan_create(test_small_context, &desc, &plan), IPT_ERROR_UNSUPPORTED, "tile_m", NULL);
}

/* Forced kernels in the stages of formats and of padded matrices. */
static void seeds_combined(void **state)
{
    (void)state;
    test_need_group_of_32();
    test_job job = {.size = 0};
    size_t pad_rows, pad_cols;
    for (int v = IPT_VARIANT_AUTO + 1; v < IPT__VARIANT_COUNT; ++v) {
        if (!serves_elements((ipt_variant)v) && !serves_super_elements((ipt_variant)v))
            continue;
        ipt_plan_desc desc = {.rows = 48, .cols = 60, .elem_size = 4, .batch = 2, .tile_m = 6, .tile_n = 10};
        *(serves_elements((ipt_variant)v) ? &desc.variant_010 : &desc.variant_100) = (ipt_variant)v;
        desc.flag_spread = spreads[(size_t)v % TEST_COUNT(spreads)];
        desc.from = (ipt_format)test_random_between(IPT_FORMAT_RM, IPT_FORMAT_CM);
        desc.to = (ipt_format)test_random_between(IPT_FORMAT_RM, IPT_FORMAT_CM);
        try_format(&job, &desc);
        desc.from = desc.to = IPT_FORMAT_DEFAULT;
        desc.rows = test_random_between(25, 90);
        desc.cols = test_random_between(25, 90);
        desc.sequence = IPT_SEQUENCE_3_1;
        try_padded(test_context, &desc, &pad_rows, &pad_cols);
    }
    test_job_end(&job);
}

static void seeds_padding_errors(void **state)
{
    (void)state;
    static const struct {
        unsigned flags;
        ipt_sequence sequence;
        ipt_variant variant_pad;
        size_t rows, cols, tile_m, tile_n;
        const char *field, *value;
    } wrong[] = {
        {IPT_PAD | IPT_NO_COOPERATIVE, IPT_SEQUENCE_AUTO, IPT_VARIANT_AUTO, 67, 71, 0, 0, "flags",
         "IPT_NO_COOPERATIVE"},
        {IPT_PAD | IPT_NO_COOPERATIVE, IPT_SEQUENCE_3_1, IPT_VARIANT_PAD_CHAINED, 67, 71, 0, 0, "flags",
         "IPT_NO_COOPERATIVE"},
        {IPT_PAD, IPT_SEQUENCE_TWO_PASS, IPT_VARIANT_AUTO, 67, 71, 0, 0, "sequence", "two-pass"},
        {IPT_PAD, IPT_SEQUENCE_SQUARE, IPT_VARIANT_AUTO, 67, 67, 0, 0, "sequence", "square"},
        {0, IPT_SEQUENCE_AUTO, IPT_VARIANT_PAD_CHAINED, 67, 71, 0, 0, "variant_pad", "pad-chained"},
        {0, IPT_SEQUENCE_1, IPT_VARIANT_PAD_CHAINED, 67, 71, 0, 0, "variant_pad", "pad-chained"},
        /* Only the padded sides of these sizes overflow size_t. */
        {IPT_PAD, IPT_SEQUENCE_AUTO, IPT_VARIANT_AUTO, 67, 71, (size_t)-1, 0, NULL, NULL},
        {IPT_PAD, IPT_SEQUENCE_AUTO, IPT_VARIANT_AUTO, 67, 71, 0, (size_t)-1, NULL, NULL},
        {IPT_PAD, IPT_SEQUENCE_AUTO, IPT_VARIANT_AUTO, (size_t)-5, 1, 16, 0, "rows", NULL},
        {IPT_PAD, IPT_SEQUENCE_AUTO, IPT_VARIANT_AUTO, 1, (size_t)-5, 0, 16, "cols", NULL},
    };
    for (size_t i = 0; i < TEST_COUNT(wrong); ++i) {
        ipt_plan_desc desc = {.rows = wrong[i].rows, .cols = wrong[i].cols, .elem_size = 1, .flags = wrong[i].flags};
        ipt_plan *plan = (ipt_plan *)&desc;
        desc.sequence = wrong[i].sequence;
        desc.variant_pad = wrong[i].variant_pad;
        desc.tile_m = wrong[i].tile_m;
        desc.tile_n = wrong[i].tile_n;
        const ipt_result result = ipt_plan_create(test_context, &desc, &plan);
        if (result == IPT_SUCCESS)
            print_seed_fields(&desc);
        test_expect_error(result, IPT_ERROR_INVALID_ARGUMENT, wrong[i].field, wrong[i].value);
        assert_null(plan);
    }
    /* Too little local memory for any block of the usual sides: padded in another way or refused, without a search. */
    ipt_plan_desc desc = {.rows = 67, .cols = 71, .elem_size = 4, .flags = IPT_PAD};
    ipt_plan *plan = NULL;
    if (ipt_plan_create(test_small_context, &desc, &plan) != IPT_SUCCESS)
        assert_null(plan);
    else
        assert_true(run_padded(plan, &desc));
    ipt_plan_destroy(plan);
}

/* ------------------------------------------------------------------------------------------------------------------ */

static void seeds_bad_input(void **state)
{
    (void)state;
    static const struct {
        int variant_010, variant_100, variant_pad;
        ipt_sequence sequence;
        size_t flag_spread;
        const char *field, *value;
    } wrong[] = {
        {-1, 0, 0, IPT_SEQUENCE_3_1, 0, "variant_010", "-1"},
        {0, -1, 0, IPT_SEQUENCE_3_1, 0, "variant_100", "-1"},
        {0, 0, -1, IPT_SEQUENCE_3_1, 0, "variant_pad", "-1"},
        {IPT__VARIANT_COUNT, 0, 0, IPT_SEQUENCE_3_1, 0, "variant_010", NULL},
        {0, IPT__VARIANT_COUNT, 0, IPT_SEQUENCE_AUTO, 0, "variant_100", NULL},
        {0, 0, IPT__VARIANT_COUNT, IPT_SEQUENCE_3_1, 0, "variant_pad", NULL},
        {0, 100000, 0, IPT_SEQUENCE_3_1, 0, "variant_100", "100000"},
        {IPT_VARIANT_PTTWAC_100_SIMD, 0, 0, IPT_SEQUENCE_3_1, 0, "variant_010", "pttwac-100-simd"},
        {IPT_VARIANT_PTTWAC_100_GROUP_REGISTERS, 0, 0, IPT_SEQUENCE_1, 0, "variant_010", "pttwac-100-group-registers"},
        {IPT_VARIANT_PAD_CHAINED, 0, 0, IPT_SEQUENCE_3_1, 0, "variant_010", "pad-chained"},
        {0, IPT_VARIANT_BS_GROUP, 0, IPT_SEQUENCE_3_1, 0, "variant_100", "bs-group"},
        {0, IPT_VARIANT_PTTWAC_010, 0, IPT_SEQUENCE_1, 0, "variant_100", "pttwac-010"},
        {0, IPT_VARIANT_PTTWAC_010_REMAPPED, 0, IPT_SEQUENCE_4_3, 0, "variant_100", "pttwac-010-remapped"},
        {0, IPT_VARIANT_PAD_CHAINED, 0, IPT_SEQUENCE_3_1, 0, "variant_100", "pad-chained"},
        {0, 0, IPT_VARIANT_BS_SIMD, IPT_SEQUENCE_3_1, 0, "variant_pad", "bs-simd"},
        {0, 0, IPT_VARIANT_P_IPT_ITEM, IPT_SEQUENCE_3_1, 0, "variant_pad", "p-ipt-item"},
        {IPT_VARIANT_PTTWAC_010, 0, 0, IPT_SEQUENCE_AUTO, 0, "variant_010", "pttwac-010"},
        {IPT_VARIANT_BS_GROUP, 0, 0, IPT_SEQUENCE_1, 0, "variant_010", "1"},
        {IPT_VARIANT_P_IPT_ITEM, 0, 0, IPT_SEQUENCE_4_3, 0, "variant_010", "4.3"},
        {IPT_VARIANT_BS_SIMD, 0, 0, IPT_SEQUENCE_TWO_PASS, 0, "variant_010", "bs-simd"},
        {IPT_VARIANT_BS_SIMD, IPT_VARIANT_PTTWAC_100_SIMD, 0, IPT_SEQUENCE_AUTO, 0, "variant_010", "bs-simd"},
        {IPT_VARIANT_BS_GROUP, 0, 0, IPT_SEQUENCE_SQUARE, 0, "variant_010", "bs-group"},
        {IPT_VARIANT_SWAP_BY_BLOCK, 0, 0, IPT_SEQUENCE_AUTO, 0, "variant_010", "swap-by-block"},
        {IPT_VARIANT_SWAP_BY_ELEMENT, 0, 0, IPT_SEQUENCE_3_1, 0, "variant_010", "swap-by-element"},
        {IPT_VARIANT_P_IPT_ITEM, 0, 0, IPT_SEQUENCE_TWO_PASS, 0, "variant_010", "p-ipt-item"},
        {IPT_VARIANT_PTTWAC_010, 0, 0, IPT_SEQUENCE_SQUARE, 0, "variant_010", "pttwac-010"},
        {0, IPT_VARIANT_PTTWAC_100_SIMD, 0, IPT_SEQUENCE_AUTO, 0, "variant_100", "pttwac-100-simd"},
        {0, IPT_VARIANT_P_IPT_GROUP, 0, IPT_SEQUENCE_TWO_PASS, 0, "variant_100", "p-ipt-group"},
        {0, IPT_VARIANT_PTTWAC_100_GROUP, 0, IPT_SEQUENCE_SQUARE, 0, "variant_100", "pttwac-100-group"},
        {0, 0, 0, IPT_SEQUENCE_AUTO, 3, "flag_spread", "3"},
        {IPT_VARIANT_BS_ITEM, 0, 0, IPT_SEQUENCE_AUTO, 5, "flag_spread", "5"},
        {IPT_VARIANT_PTTWAC_010, 0, 0, IPT_SEQUENCE_3_1, 33, "flag_spread", "33"},
        {0, IPT_VARIANT_PTTWAC_100_SIMD, 0, IPT_SEQUENCE_1, 64, "flag_spread", "64"},
        {0, 0, 0, IPT_SEQUENCE_1, (size_t)-1, "flag_spread", NULL},
        {0, 0, 0, IPT_SEQUENCE_1, (size_t)1 << (8 * sizeof(size_t) - 1), "flag_spread", NULL},
    };
    for (size_t i = 0; i < TEST_COUNT(wrong); ++i) {
        ipt_plan_desc desc = {.rows = 24, .cols = 24, .elem_size = 4, .flag_spread = wrong[i].flag_spread};
        ipt_plan *plan = (ipt_plan *)&desc;
        desc.variant_010 = (ipt_variant)wrong[i].variant_010;
        desc.variant_100 = (ipt_variant)wrong[i].variant_100;
        desc.variant_pad = (ipt_variant)wrong[i].variant_pad;
        desc.flags = wrong[i].variant_pad ? IPT_PAD : 0;
        if (wrong[i].sequence >= IPT_SEQUENCE_1 && wrong[i].sequence <= IPT_SEQUENCE_4_3)
            set_sequence(&desc, wrong[i].sequence, 6, 6);
        else
            desc.sequence = wrong[i].sequence;
        const ipt_result result = ipt_plan_create(test_context, &desc, &plan);
        assert_null(plan);
        test_expect_error(result, IPT_ERROR_INVALID_ARGUMENT, wrong[i].field, wrong[i].value);
    }
    assert_string_equal(ipt_variant_string((ipt_variant)-1), "unknown");
    assert_string_equal(ipt_format_string((ipt_format)-1), "unknown");
}

/* ------------------------------------------------------------------------------------------------------------------ */

/* Transposes back and forth, each time from the last result, so that neither stale nor unchanged memory looks right. */
static void seeds_repeated(void **state)
{
    (void)state;
    test_need_group_of_32();
    const int is_fast = device_is_fast(test_cl_context, test_device);
    ipt_plan_desc there = {.rows = is_fast ? 3000 : 120, .cols = is_fast ? 2400 : 96, .elem_size = 4};
    set_sequence(&there, IPT_SEQUENCE_3_1, is_fast ? 50 : 10, is_fast ? 40 : 8);
    ipt_plan_desc back = {.rows = there.cols, .cols = there.rows, .elem_size = 4};
    set_sequence(&back, IPT_SEQUENCE_3_1, there.tile_n, there.tile_m);
    test_job job = {.size = 0};
    /* Steps through both lists of variants at the same time, until the end of the longer one, variant_010. */
    int variant_010 = IPT_VARIANT_AUTO, variant_100 = IPT_VARIANT_AUTO, wrong = 0;
    while (variant_010 != IPT_VARIANT_P_IPT_GROUP) {
        do
            ++variant_010;
        while (!serves_elements((ipt_variant)variant_010));
        do
            variant_100 = variant_100 == IPT_VARIANT_P_IPT_GROUP ? IPT_VARIANT_PTTWAC_100_GROUP : variant_100 + 1;
        while (!serves_super_elements((ipt_variant)variant_100));
        there.variant_010 = back.variant_010 = (ipt_variant)variant_010;
        there.variant_100 = back.variant_100 = (ipt_variant)variant_100;
        ipt_plan *plans[2] = {test_make_plan(test_context, &there), test_make_plan(test_context, &back)};
        test_job_prepare(&job, test_cl_context, &there, TEST_GUARD);
        assert_true(test_job_upload(&job, test_queue));
        for (int i = 0; i < (is_fast ? 200 : 20); ++i) {
            assert_int_equal(ipt_plan_execute(plans[i % 2], test_queue, job.buffer, TEST_GUARD, 0, NULL, NULL),
                             IPT_SUCCESS);
            if (test_job_holds(&job, test_queue, i % 2 ? job.input : job.expected))
                continue;
            print_error("execution %d is wrong\n%s\n", i, ipt_plan_describe(plans[i % 2]));
            ++wrong;
            break; /* the following steps would start from wrong data */
        }
        ipt_plan_destroy(plans[0]);
        ipt_plan_destroy(plans[1]);
    }
    test_job_end(&job);
    assert_int_equal(wrong, 0);
}

const struct CMUnitTest test_seeds[] = {
    TEST_CASE(seeds_variants),         TEST_CASE(seeds_batches),           TEST_CASE(seeds_cycles),
    TEST_CASE(seeds_flag_spread),      TEST_CASE(seeds_in_the_plan),       TEST_CASE(seeds_formats),
    TEST_CASE(seeds_layouts),          TEST_CASE(seeds_formats_errors),    TEST_CASE(seeds_padding),
    TEST_CASE(seeds_padding_by_tiles), TEST_CASE(seeds_padding_by_method), TEST_CASE(seeds_combined),
    TEST_CASE(seeds_padding_errors),   TEST_CASE(seeds_bad_input),         TEST_CASE(seeds_little_local_memory),
    TEST_CASE(seeds_repeated),
};
const size_t test_seeds_count = TEST_COUNT(test_seeds);
