#include "plot.h"

#include <string.h>

enum { TOP = 64, PLOT_LENGTH = 560, PLOT_HEIGHT = 300, BAR_STEP = 22, DIGIT_WIDTH = 8 };

static const char style[] = "text{font:13px Helvetica,Arial,sans-serif;fill:#222}.head{font-size:15px}.end{text-anchor:"
                            "end}.middle{text-anchor:middle}.back{fill:#fff}.grid{stroke:#e4e4e4}.axis{stroke:#666}"
                            ".copy{stroke:#8a4b08;stroke-dasharray:5 4}.value{fill:#1b6ca8}\n"
                            "@media(prefers-color-scheme:dark){text{fill:#ddd}.back{fill:#16181d}.grid{stroke:#3a3d44}"
                            ".axis{stroke:#999}.copy{stroke:#e0a45c}.value{fill:#5aa9e6}}";

typedef struct chart {
    FILE *stream;
    double left, length, height; /* of the frame, which begins at TOP */
    double most, step;           /* of the ratio's axis */
} chart;

static bool has_ratio(const bench_result *result)
{
    return result->verified && result->seconds > 0 && result->copy_seconds > 0;
}

/* The logarithm to base 2, without libm. */
static double logarithm(double number)
{
    double found = 0, bit = 1;
    while (number >= 2) {
        number /= 2;
        found++;
    }
    for (int i = 0; i < 14; i++) {
        bit /= 2;
        number *= number;
        if (number >= 2) {
            number /= 2;
            found += bit;
        }
    }
    return found;
}

/* Writes a text. Bytes that are not ASCII become question marks. */
static void put_text(const chart *its, double x, double y, const char *kind, const char *text)
{
    fprintf(its->stream, "<text x=\"%.1f\" y=\"%.1f\" class=\"%s\">", x, y, kind);
    for (; *text != '\0'; text++) {
        char shown = *text < ' ' || *text > '~' ? '?' : *text;
        fprintf(its->stream, strchr("&<>", shown) == NULL ? "%c" : "&#%d;", shown);
    }
    fputs("</text>\n", its->stream);
}

static void put_line(const chart *its, const char *kind, double x1, double y1, double x2, double y2)
{
    fprintf(its->stream, "<line class=\"%s\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>\n", kind, x1, y1, x2,
            y2);
}

/* Draws the axis of ratios, to the right or upwards, and a line at the copy's speed. */
static void put_ratio_axis(const chart *its, bool upwards)
{
    double bottom = TOP + its->height, right = its->left + its->length;
    char text[40];
    for (int i = 0; i * its->step < its->most * 1.001; i++) {
        double part = i * its->step / its->most, x = its->left + part * its->length, y = bottom - part * its->height;
        snprintf(text, sizeof text, "%g", i * its->step);
        if (upwards) {
            put_line(its, "grid", its->left, y, right, y);
            put_text(its, its->left - 8, y + 4, "end", text);
        } else {
            put_line(its, "grid", x, TOP, x, bottom);
            put_text(its, x, bottom + 18, "middle", text);
        }
    }
    double copy = 1 / its->most, x = its->left + copy * its->length, y = bottom - copy * its->height;
    put_line(its, "copy", upwards ? its->left : x, upwards ? y : TOP, upwards ? right : x, upwards ? y : bottom);
    put_line(its, "axis", its->left, TOP, its->left, bottom);
    put_line(its, "axis", its->left, bottom, right, bottom);
}

static void shape_name(const bench_result *result, char name[80])
{
    snprintf(name, 80, "%zux%zu:%zu", result->rows, result->cols, result->elem_size);
}

static void put_bars(const chart *its, const bench_result *results, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        double y = TOP + 4 + (double)i * BAR_STEP, length = 0;
        char name[80], value[40] = "not measured";
        if (has_ratio(&results[i])) {
            double ratio = bench_ratio(results[i].seconds, results[i].copy_seconds);
            snprintf(value, sizeof value, "%.3f", ratio);
            length = ratio / its->most * its->length;
        }
        shape_name(&results[i], name);
        fprintf(its->stream, "<rect class=\"value\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"14\"/>\n", its->left,
                y, length);
        put_text(its, its->left - 8, y + 12, "end", name);
        put_text(its, its->left + length + 6, y + 12, "number", value);
    }
}

static void put_points(const chart *its, const bench_result *results, size_t count)
{
    static const double decade = 3.321928095; /* the logarithm of 10 */
    double low = 1e300, high = 0, bottom = TOP + its->height;
    for (size_t i = 0; i < count; i++) {
        double bytes = logarithm((double)results[i].bytes) / decade;
        low = has_ratio(&results[i]) && bytes < low ? bytes : low;
        high = has_ratio(&results[i]) && bytes > high ? bytes : high;
    }
    int first = low > high ? 0 : (int)low, last = high > (int)high ? (int)high + 1 : (int)high;
    last += last == first;
    for (int power = first; power <= last; power++) {
        static const char *const units[] = {"B", "KB", "MB", "GB", "TB", "PB", "EB"};
        double x = its->left + its->length * (power - first) / (last - first);
        char text[40];
        snprintf(text, sizeof text, "%s %s", power % 3 == 0 ? "1" : power % 3 == 1 ? "10" : "100", units[power / 3]);
        put_line(its, "grid", x, TOP, x, bottom);
        put_text(its, x, bottom + 18, "middle", text);
    }
    for (size_t i = 0; i < count; i++) {
        if (has_ratio(&results[i])) {
            double part = (logarithm((double)results[i].bytes) / decade - first) / (last - first);
            double ratio = bench_ratio(results[i].seconds, results[i].copy_seconds);
            char name[80];
            shape_name(&results[i], name);
            fprintf(its->stream,
                    "<circle class=\"value\" cx=\"%.1f\" cy=\"%.1f\" r=\"3.5\"><title>%s: %.3f</title></circle>\n",
                    its->left + part * its->length, bottom - ratio / its->most * its->height, name, ratio);
        }
    }
}

void plot_write(FILE *stream, const char *device, const bench_result *results, size_t count)
{
    bool bars = count <= PLOT_BARS;
    chart its = {stream, 60, PLOT_LENGTH, bars ? 4.0 + (double)count * BAR_STEP : PLOT_HEIGHT, 1, 0.1};
    size_t shown = 0;
    char text[160];
    for (size_t i = 0; i < count; i++) {
        double ratio = has_ratio(&results[i]) ? bench_ratio(results[i].seconds, results[i].copy_seconds) : 0;
        its.most = ratio > its.most ? ratio : its.most;
        shown += has_ratio(&results[i]);
        shape_name(&results[i], text);
        if (bars && (double)strlen(text) * DIGIT_WIDTH + 16 > its.left) {
            its.left = (double)strlen(text) * DIGIT_WIDTH + 16;
        }
    }
    for (int i = 0; its.most > 10 * its.step; i++) { /* 0.1 0.2 0.5 1 2 5 ... */
        its.step *= i % 3 == 1 ? 2.5 : 2;
    }
    its.most = its.step * (double)(size_t)(its.most / its.step + 0.999);
    double width = its.left + its.length + 70, height = TOP + its.height + 48;
    fprintf(stream,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" viewBox=\"0 0 %.0f %.0f\">\n"
            "<title>%s</title>\n<style>%s</style>\n<rect class=\"back\" width=\"100%%\" height=\"100%%\"/>\n",
            width, height, width, height, "Speed of transpositions, as a share of a copy's", style);
    snprintf(text, sizeof text, "%s%s on %.100s", results->out_of_place ? "Out of place" : "In place",
             results->batch > 1 ? ", in batches," : "", device);
    put_text(&its, 12, 24, "head", text);
    snprintf(text, sizeof text, "%s: %zu of %zu shapes", ipt_move_string(results->move), shown, count);
    put_text(&its, 12, 44, "number", text);
    put_ratio_axis(&its, !bars);
    if (bars) {
        put_bars(&its, results, count);
    } else {
        put_points(&its, results, count);
    }
    snprintf(text, sizeof text, "%s: speed, as a share of a copy's (dashed)%s", bars ? "from left to right" : "upwards",
             bars ? "" : "; bytes of the matrices");
    put_text(&its, its.left, TOP + its.height + 38, "number", text);
    fputs("</svg>\n", stream);
}
