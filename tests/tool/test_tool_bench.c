/* ipt bench: its table, CSV, chart and summary agree. */
#define _GNU_SOURCE /* POSIX 2008 with XSI, and memmem */

#include "tool.h"

#include "gen/tool/bench/plot.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ------------------------------------------------------------------------------------------------------------------ */
/* ipt bench */
/* ------------------------------------------------------------------------------------------------------------------ */

enum { MAX_SHAPES = 32, CSV_FIELD_COUNT = 23 };

/* The fields of a line of the CSV file, in their order. Empty fields become negative. */
typedef struct csv_line {
    double rows, cols, elem_size, batch, bytes, seconds, speed, copy_seconds, copy_speed, ratio, latency, workspace,
        workspace_percent, stages, buffers, repeat, rounds, verified, blas_seconds, blas_speed, memcpy_seconds,
        memcpy_speed, over_blas;
} csv_line;

static csv_line csv[MAX_SHAPES];

/* Reads the test's CSV file into csv. Returns the number of lines after the heading. */
static size_t read_csv(void)
{
    content read = read_content(in_directory("results.csv"));
    read.bytes[read.size] = '\0';
    size_t count = 0;
    char *line = strtok((char *)read.bytes, "\n");
    assert_non_null(line);
    assert_int_equal(strncmp(line, "rows,cols,elem_size,", 20), 0);
    while ((line = strtok(NULL, "\n")) != NULL) {
        assert_true(count < MAX_SHAPES);
        double fields[CSV_FIELD_COUNT];
        for (size_t i = 0; i < CSV_FIELD_COUNT; i++) {
            char *end;
            fields[i] = strtod(line, &end);
            fields[i] = end == line ? -1 : fields[i];
            assert_int_equal(*end, i + 1 < CSV_FIELD_COUNT ? ',' : '\0');
            line = end + 1;
        }
        assert_int_equal(sizeof fields, sizeof csv[count]);
        memcpy(&csv[count++], fields, sizeof fields);
    }
    free(read.bytes);
    return count;
}

static int compare_numbers(const void *first, const void *second)
{
    double a = *(const double *)first, b = *(const double *)second;
    return (a > b) - (a < b);
}

/* A quantile of a field over all lines, as NumPy defines it. */
static double csv_quantile(size_t count, size_t offset, double part)
{
    double values[MAX_SHAPES];
    for (size_t i = 0; i < count; i++) {
        memcpy(&values[i], (const char *)&csv[i] + offset, sizeof values[i]);
    }
    qsort(values, count, sizeof values[0], compare_numbers);
    double place = part * (double)(count - 1);
    size_t below = (size_t)place, above = below + 1 < count ? below + 1 : below;
    return values[below] + (place - (double)below) * (values[above] - values[below]);
}
#define CSV_QUANTILE(count, field, part) csv_quantile(count, offsetof(csv_line, field), part)

/* Checks the number after a word of the summary line, with its printed precision. */
static void expect_number(const char *word, double wanted, double precision)
{
    const char *summary = strstr(last.output, "\nsummary: ");
    const char *found = summary == NULL ? NULL : strstr(summary, word);
    double number = found == NULL ? 0 : strtod(found + strlen(word), NULL);
    if (found == NULL || number - wanted > precision || wanted - number > precision) {
        fail_msg("'%s' is not followed by %g in: %.4000s", word, wanted, last.output);
    }
}

/* Reads the CSV file. Its lines and the summary must be consistent. */
static void expect_summary(size_t count)
{
    char text[64];
    assert_int_equal(read_csv(), count);
    for (size_t i = 0; i < count; i++) {
        const csv_line *line = &csv[i];
        double speed = line->bytes * 2e-9 / line->seconds, ratio = line->copy_seconds / line->seconds;
        assert_true(line->verified == 1);
        assert_true(line->bytes == line->rows * line->cols * line->elem_size * line->batch);
        assert_true(line->seconds > 0 && line->latency > 0 && line->copy_seconds > 0);
        assert_true(line->speed > speed * 0.999 && line->speed < speed * 1.001);
        assert_true(line->ratio > ratio * 0.999 && line->ratio < ratio * 1.001);
        assert_true(line->buffers >= 1 && line->buffers <= 64);
    }
    snprintf(text, sizeof text, "\nsummary: %zu of %zu verified", count, count);
    expect_word(last.output, text);
    expect_number("ratio median ", CSV_QUANTILE(count, ratio, 0.5), 0.0006);
    expect_number("p10 ", CSV_QUANTILE(count, ratio, 0.1), 0.0006);
    expect_number("p90 ", CSV_QUANTILE(count, ratio, 0.9), 0.0006);
    expect_number("; median ", CSV_QUANTILE(count, speed, 0.5), 0.006);
    expect_number("median latency ", CSV_QUANTILE(count, latency, 0.5) * 1e3, 0.0006);
    expect_number("workspace at most ", CSV_QUANTILE(count, workspace_percent, 1), 0.006);
}

static void test_bench(void **state)
{
    (void)state;
    run_tool(0, "bench", "300x200:4", "--repeat", "2", "--batch", "2", "--csv", in_directory("results.csv"));
    expect_word(last.output, "300x200:4");
    expect_word(last.output, "in place");
    expect_word(last.output, "copy");
    expect_word(last.output, "GB/s");
    expect_word(last.output, "ratio to the copy: ");
    expect_word(last.output, "latency");
    assert_string_equal(last.errors, "");
    expect_summary(1);
    assert_true(csv[0].batch == 2 && csv[0].repeat == 2 && csv[0].rounds == 3 && csv[0].blas_seconds < 0);
    run_tool(0, "bench", "300x200:4", "--sequence=2.1", "--tile-m", "20", "--measure", "--no-cooperative");
    run_tool(1, "bench", "300x200:4", "--sequence=2.1", "--tile-m", "7");
    expect_word(last.errors, "300x200:4: ");
    expect_word(last.errors, "--tile-m");
    run_tool(1, "bench", "300x200:4", "--device", "nosuchdevice");
    expect_word(last.errors, "nosuchdevice");
    run_tool(1, "bench", "300x200:4", "--csv", in_directory("none/results.csv"));
    expect_word(last.errors, "none/results.csv: No such file");
}

/* Charts are XML with a mark for each shape: bars for few, points for many. Device names may have any characters. */
static const char *const plot_script[] = {
    "import subprocess, sys, os, xml.etree.ElementTree as tree\n"
    "tool, path = sys.argv[1], os.path.join(sys.argv[2], 'chart.svg')\n"
    "svg, few = '{http://www.w3.org/2000/svg}', ['30x20:4']\n"
    "many = ['--random=25', '--sides=1..40', '--seed=3']\n",
    "for shapes, kind, count in (few, 'rect', 1), (many, 'circle', 25):\n"
    "  words = [tool, 'bench'] + shapes + ['--repeat=1', '--rounds=1', '--plot']\n"
    "  shown = subprocess.run(words + ['-'], check=True, capture_output=True)\n"
    "  assert b'summary' in shown.stderr, shown\n"
    "  subprocess.run(words + [path], check=True, capture_output=True)\n",
    "  for root in tree.fromstring(shown.stdout), tree.parse(path).getroot():\n"
    "    assert root.tag == svg + 'svg'\n"
    "    marks = [e for e in root.iter(svg + kind) if e.get('class') == 'value']\n"
    "    assert len(marks) == count, len(marks)\n"
    "    texts = ' '.join(e.text for e in root.iter(svg + 'text'))\n",
    "    assert '%d of %d shapes' % (count, count) in texts, texts\n"
    "    assert count > 1 or '30x20:4' in texts, texts\n"
    "    for e in root.iter():\n"
    "      for key in 'x', 'y', 'x1', 'y1', 'x2', 'y2', 'cx', 'cy':\n"
    "        limit = float(root.get('height' if 'y' in key else 'width'))\n"
    "        assert 0 <= float(e.get(key, 0)) <= limit, (e.tag, key, e.attrib)\n",
};

static void tool_bench_plot(void **state)
{
    (void)state;
    run_tool(0, "bench", "30x20:4", "--repeat=1", "--rounds=1", "--plot", in_directory("chart.svg"));
    content read = read_content(in_directory("chart.svg"));
    read.bytes[read.size] = '\0';
    assert_memory_equal(read.bytes, "<svg xmlns=", 11);
    expect_word((const char *)read.bytes, "30x20:4");
    assert_string_equal((const char *)read.bytes + read.size - 7, "</svg>\n");
    free(read.bytes);
    run_tool(1, "bench", "30x20:4", "--plot", in_directory("none/chart.svg"));
    expect_word(last.errors, "none/chart.svg: No such file");
    run_with_numpy("plot.py", plot_script, sizeof plot_script / sizeof plot_script[0]);
}

/* Plots of results that no device has: none measured, huge ratios, a name that is invalid in XML. */
static void tool_plot_of_any_results(void **state)
{
    static const size_t counts[] = {1, PLOT_BARS, PLOT_BARS + 1};
    static bench_result results[PLOT_BARS + 1];
    static char text[1 << 16];
    (void)state;
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        for (int measured = 0; measured < 3; measured++) {
            for (size_t k = 0; k < counts[i]; k++) {
                results[k] = (bench_result){.rows = measured < 2 ? 1 : SIZE_MAX, .cols = k + 1, .elem_size = 1};
                results[k].bytes = measured < 2 ? k + 1 : SIZE_MAX;
                results[k].verified = measured > 0;
                results[k].seconds = 1e-9;
                results[k].copy_seconds = measured < 2 ? 1e-12 : 1e3;
            }
            FILE *file = fopen(in_directory("chart.svg"), "w");
            assert_non_null(file);
            plot_write(file, "a<b>&\x01\xff\"'", results, counts[i]);
            assert_int_equal(fclose(file), 0);
            content read = read_content(in_directory("chart.svg"));
            assert_true(read.size < sizeof text);
            memcpy(text, read.bytes, read.size);
            text[read.size] = '\0';
            free(read.bytes);
            expect_word(text, "a&#60;b&#62;&#38;??\"'");
            assert_null(strstr(text, "nan"));
            assert_null(strstr(text, "inf"));
            assert_int_equal(count_words(text, "<circle"), counts[i] > PLOT_BARS && measured > 0 ? counts[i] : 0);
            assert_int_equal(count_words(text, "not measured"), counts[i] > PLOT_BARS || measured > 0 ? 0 : counts[i]);
            assert_string_equal(text + strlen(text) - 7, "</svg>\n");
        }
    }
}

/* Rows with gaps: both forms, other moves, out of place, many shapes. */
static void test_bench_pitch(void **state)
{
    static const char *const moves[] = {"transpose", "rotate-90", "rotate-180", "flip-vertical", "antitranspose"};
    (void)state;
    for (size_t i = 0; i < sizeof moves / sizeof moves[0]; i++) {
        run_tool(0, "bench", "90x70:3", "--repeat", "2", "--pitch", "64", "--batch", "2", "--move", moves[i]);
        expect_word(last.output, "verified");
    }
    run_tool(0, "bench", "90x70:12", "--repeat", "2", "--pitch", "256", "--out-of-place");
    run_tool(1, "bench", "90x70:12", "--repeat", "2", "--pitch", "9");
    expect_word(last.errors, "row_pitch = 846 is not a multiple of 4");
    run_tool(1, "bench", "90x70:4", "--sequence", "two-pass", "--pitch", "256");
    expect_word(last.errors, "row_pitch");
    run_tool(0, "bench", "--random", "3", "--sides", "1..200", "--repeat", "2", "--pitch", "128");
}

/* Elements of sizes for which the checker has a type, and of some others. */
static void test_bench_elements(void **state)
{
    (void)state;
    static const char *const operands[] = {"31x17:1", "31x17:2", "17x31:3", "100x3:8", "9x40:12", "24x24:20", "1x5:4"};
    for (size_t i = 0; i < sizeof operands / sizeof operands[0]; i++) {
        run_tool(0, "bench", operands[i], "--repeat=3", "--rounds=1", "--batch=3");
        expect_word(last.output, "summary: 1 of 1 verified");
    }
}

/* Without a compiler the host fills and verifies. */
static void test_bench_native(void **state)
{
    static const char *const moves[] = {"transpose", "rotate-90", "rotate-180", "flip-vertical", "antitranspose"};
    static const char *const operands[] = {"31x17:1", "31x17:2", "17x31:3", "9x40:12", "24x24:20"};
    (void)state;
    for (size_t i = 0; i < sizeof moves / sizeof moves[0]; i++) {
        run_tool(0, "bench", operands[i], "--device=native", "--repeat=2", "--pitch=80", "--batch=2", "--move",
                 moves[i]);
        expect_word(last.output, "summary: 1 of 1 verified");
        run_tool(0, "bench", operands[i], "--device=native", "--repeat=2", "--out-of-place");
    }
}

static void write_shapes(const char *text)
{
    write_content(in_directory("shapes"), text, strlen(text));
}

/* If a shape has no plan, the other shapes are still measured. */
static void test_bench_shapes(void **state)
{
    (void)state;
    static const double wanted[][2] = {{30, 20}, {7, 1009}, {64, 64}, {2, 3}};
    write_shapes("# rows cols\n\n30 20\n \t7\t1009 # prime\r\n\r\n  # none\n64 64# not one\n2 3");
    run_tool(1, "bench", "--shapes", in_directory("shapes"));
    expect_word(last.errors, "shapes:7: ");
    write_shapes("# rows cols\n\n30 20\n \t7\t1009 # prime\r\n\r\n  # none\n64 64 # one\n2 3");
    run_tool(0, "bench", "--shapes", in_directory("shapes"), "--elem-size", "12", "--rounds=2", "--csv",
             in_directory("results.csv"));
    assert_string_equal(last.errors, "");
    expect_summary(4);
    for (size_t i = 0; i < 4; i++) {
        assert_true(csv[i].rows == wanted[i][0] && csv[i].cols == wanted[i][1] && csv[i].elem_size == 12);
    }
    run_tool(1, "bench", "--shapes", in_directory("shapes"), "--sequence=square", "--csv", in_directory("results.csv"));
    expect_word(last.errors, "ipt: 30x20:4: ");
    expect_word(last.output, "summary: 1 of 4 verified");
    assert_int_equal(read_csv(), 4);
    assert_true(csv[0].verified == 0 && csv[0].seconds < 0 && csv[2].verified == 1);
}

static void test_bench_bad_shapes(void **state)
{
    (void)state;
    static const char *const lines[] = {"30",       "30 20 10",
                                        "30x20",    "0 20",
                                        "30 0",     "-1 20",
                                        "30 20 x",  "a b",
                                        "30 20#20", "99999999999999999999 1",
                                        "30, 20",   "30.5 20.0",
                                        "30 #",     "3000000000 3000000000"};
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        char text[100], place[PATH_SIZE * 2];
        snprintf(text, sizeof text, "1 2\n# fine\n%s\n3 4\n", lines[i]);
        write_shapes(text);
        snprintf(place, sizeof place, "ipt: %s:3: ", in_directory("shapes"));
        run_tool(1, "bench", "--shapes", in_directory("shapes"));
        expect_word(last.errors, place);
        assert_string_equal(last.output, "");
    }
    write_content(in_directory("shapes"), "1 2\n3 4\0\n", 9);
    run_tool(1, "bench", "--shapes", in_directory("shapes"));
    expect_word(last.errors, "shapes:2: ");
    write_shapes("# none\n\n");
    run_tool(1, "bench", "--shapes", in_directory("shapes"));
    expect_word(last.errors, "holds no shape");
    run_tool(1, "bench", "--shapes", in_directory("nosuchfile"));
    expect_word(last.errors, "nosuchfile: No such file");
    run_tool(1, "bench", "--shapes", directory);
    expect_word(last.errors, "directory");
}

/* A seed gives the same random shapes on every machine, within the requested limits. */
static void test_bench_random(void **state)
{
    (void)state;
    enum { COUNT = 8 };
#define RANDOM_RUN(count, ...)                                                                                         \
    do {                                                                                                               \
        run_tool(0, "bench", "--repeat=1", "--rounds=1", "--csv", in_directory("results.csv"), "--random", #count,     \
                 __VA_ARGS__);                                                                                         \
        expect_summary(count);                                                                                         \
    } while (0)
    csv_line first[COUNT];
    size_t same = 0, tall = 0;
    RANDOM_RUN(8, "--sides", "5..9,100..200", "--seed", "7");
    memcpy(first, csv, sizeof first);
    for (size_t i = 0; i < COUNT; i++) {
        bool is_tall = csv[i].rows > csv[i].cols;
        double shorter = is_tall ? csv[i].cols : csv[i].rows, longer = is_tall ? csv[i].rows : csv[i].cols;
        assert_true(shorter >= 5 && shorter <= 9 && longer >= 100 && longer <= 200);
        tall += is_tall;
    }
    assert_true(tall > 0 && tall < COUNT);
    assert_true(first[0].rows == 159 && first[0].cols == 7 && first[1].rows == 8 && first[1].cols == 125);
    RANDOM_RUN(8, "--sides", "5..9,100..200", "--seed", "7");
    for (size_t i = 0; i < COUNT; i++) {
        assert_true(csv[i].rows == first[i].rows && csv[i].cols == first[i].cols);
    }
    RANDOM_RUN(8, "--sides", "5..9,100..200", "--seed", "8");
    for (size_t i = 0; i < COUNT; i++) {
        same += csv[i].rows == first[i].rows && csv[i].cols == first[i].cols;
    }
    assert_true(same < COUNT);
    RANDOM_RUN(4, "--sides", "1..200", "--square", "--multiple", "16", "--elem-size", "8");
    for (size_t i = 0; i < 4; i++) {
        assert_true(csv[i].rows == csv[i].cols && (size_t)csv[i].rows % 16 == 0 && csv[i].rows <= 200);
    }
    RANDOM_RUN(2, "--sides", "100..10000000", "--bytes", "100000..110000", "--elem-size", "2");
    for (size_t i = 0; i < 2; i++) {
        assert_true(csv[i].bytes >= 100000 && csv[i].bytes <= 110000 && csv[i].rows >= 100 && csv[i].cols >= 100);
    }
    RANDOM_RUN(3, "--sides", "1..300", "--elem-size", "4", "--out-of-place");
    for (size_t i = 0; i < 3; i++) {
        assert_true(csv[i].workspace == 0);
    }
#undef RANDOM_RUN
    run_tool(1, "bench", "--random", "1", "--sides", "10..20", "--bytes", "1..2");
    expect_word(last.errors, "no matrix");
}

/* With OpenBLAS, the output shows its ratio; without OpenBLAS, the message names the package to install. */
static void test_bench_blas(void **state)
{
    (void)state;
    write_shapes("30 20\n7 109\n64 64\n");
    static const char *const sizes[] = {"4", "8"};
    for (size_t i = 0; i < 2; i++) {
        const char *const words[] = {process_tool(), "bench",  "--shapes", in_directory("shapes"),      "--elem-size",
                                     sizes[i],       "--blas", "--csv",    in_directory("results.csv"), NULL};
        run_words(NULL, words);
        if (last.code == 1 && strstr(last.errors, "libopenblas0") != NULL) {
            assert_string_equal(last.output, "");
            return;
        }
        expect_code(0, __LINE__);
        assert_string_equal(last.errors, "");
        expect_summary(3);
        for (size_t j = 0; j < 3; j++) {
            double ratio = csv[j].blas_seconds / csv[j].seconds;
            assert_true(csv[j].blas_seconds > 0 && csv[j].memcpy_seconds > 0);
            assert_true(csv[j].over_blas > ratio * 0.999 && csv[j].over_blas < ratio * 1.001);
        }
        expect_number("ipt/BLAS median ", CSV_QUANTILE(3, over_blas, 0.5), 0.006);
        expect_word(last.output, "memcpy GB/s");
    }
}

/* ------------------------------------------------------------------------------------------------------------------ */
/* ipt bench --startup */
/* ------------------------------------------------------------------------------------------------------------------ */

static void tool_startup(void **state)
{
    (void)state;
    static const char *const rows[][2] = {{"off", "off"}, {"off", "filling"}, {"off", "warm"},
                                          {"on", "off"},  {"on", "filling"},  {"on", "warm"}};
    char folder[PATH_SIZE * 2 + 20];
    assert_int_equal(mkdir(in_directory("temporary"), 0700), 0);
    snprintf(folder, sizeof folder, "TMPDIR=%s", in_directory("temporary"));
    run_program(0, "env", folder, process_tool(), "bench", "24x20:4", "--startup", "--rounds", "1", "--csv",
                in_directory("results.csv"));
    assert_string_equal(last.errors, "");
    assert_int_equal(list_folder(in_directory("temporary")).count, 0);
    assert_int_equal(strncmp(last.output, "24x20:4 in fresh processes, 1 rounds, on ", 41), 0);
    content read = read_content(in_directory("results.csv"));
    read.bytes[read.size] = '\0';
    const char *line = (const char *)read.bytes;
    assert_int_equal(count_words(line, "\n"), 7);
    assert_int_equal(strncmp(line, "rows,cols,elem_size,driver_cache,ipt_cache,context_seconds,", 59), 0);
    for (size_t i = 0; i < 6; i++) {
        char text[64];
        double context, plan, execution, fresh, worst;
        unsigned compiled, compiled_new, none, rounds;
        line = strchr(line, '\n') + 1;
        snprintf(text, sizeof text, "24,20,4,%s,%s,", rows[i][0], rows[i][1]);
        assert_int_equal(strncmp(line, text, strlen(text)), 0);
        assert_int_equal(sscanf(line + strlen(text), "%lf,%lf,%lf,%lf,%lf,%u,%u,%u,%u\n", &context, &plan, &execution,
                                &fresh, &worst, &compiled, &compiled_new, &none, &rounds),
                         9);
        assert_true(context > 0 && plan > 0 && execution > 0 && fresh > 0 && worst >= fresh);
        assert_true(strcmp(rows[i][1], "warm") == 0 ? compiled == 0 && compiled_new == 0 : compiled >= 1);
        assert_true(none <= 50 && (compiled_new > 0 || none == 50) && rounds == 1);
        snprintf(text, sizeof text, "\n%-8s %-11s ", rows[i][0], rows[i][1]);
        assert_int_equal(count_words(last.output, text), 1);
    }
    free(read.bytes);
}

static void tool_startup_failures(void **state)
{
    (void)state;
    char folder[PATH_SIZE * 2 + 20];
    snprintf(folder, sizeof folder, "TMPDIR=%s", directory);
    run_program(1, "env", folder, process_tool(), "bench", "24x20:4", "--startup", "--device", "nosuchdevice");
    expect_one_line(last.errors); /* the message of a step */
    expect_word(last.errors, "nosuchdevice");
    run_program(1, "env", "TMPDIR=/nonexistent", process_tool(), "bench", "24x20:4", "--startup");
    expect_one_line(last.errors);
    expect_word(last.errors, "/nonexistent/");
    run_program(1, "env", folder, process_tool(), "bench", "24x20:4", "--startup", "--csv", in_directory("none/x.csv"));
    expect_word(last.errors, "none/x.csv: No such file");
    /* Stopped by a signal. */
    static const char *const signals[] = {"INT", "TERM"};
    for (size_t i = 0; i < 2; i++) {
        const char *const words[] = {"env", folder,         "timeout", "--foreground", "-s",        signals[i],
                                     "0.4", process_tool(), "bench",   "24x20:4",      "--startup", NULL};
        run_words(NULL, words);
        expect_code(124, __LINE__);
        assert_int_equal(list_folder(directory).count, 0);
    }
}

const struct CMUnitTest test_tool_bench[] = {
    IN_DIRECTORY(test_bench),           cmocka_unit_test(test_bench_elements),
    cmocka_unit_test(test_bench_pitch), cmocka_unit_test(test_bench_native),
    IN_DIRECTORY(tool_bench_plot),      IN_DIRECTORY(tool_plot_of_any_results),
    IN_DIRECTORY(test_bench_shapes),    IN_DIRECTORY(test_bench_bad_shapes),
    IN_DIRECTORY(test_bench_random),    IN_DIRECTORY(test_bench_blas),
    IN_DIRECTORY(tool_startup),         IN_DIRECTORY(tool_startup_failures),
};
const size_t test_tool_bench_count = sizeof test_tool_bench / sizeof test_tool_bench[0];
