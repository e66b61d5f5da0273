/* Computes the demonstration's picture, a Julia set, and writes it as a binary PPM file. Every run writes the same
 * bytes. Usage: make_picture WIDTH HEIGHT OUT.ppm */
#include <stdio.h>
#include <stdlib.h>

enum { MOST_STEPS = 600, COLORS = 6 };

static const double palette[COLORS][3] = {{12, 16, 58},    {24, 92, 150},  {120, 205, 205},
                                          {250, 240, 205}, {240, 150, 60}, {110, 30, 55}};

/* The base 2 logarithm of x >= 1 to about a hundredth, without the mathematics library. */
static double logarithm(double x)
{
    double whole = 0;
    for (; x >= 2; x /= 2)
        whole += 1;
    return whole + (x - 1) * (1.346 - 0.346 * (x - 1));
}

/* The number of steps z := z * z + c until the point escapes, with a fraction to avoid bands. Below 0: never. */
static double escape_time(double re, double im)
{
    const double c_re = -0.7436, c_im = 0.1318;
    double steps = 0;
    for (; re * re + im * im < 4096; ++steps) {
        if (steps >= MOST_STEPS)
            return -1;
        double next = re * re - im * im + c_re;
        im = 2 * re * im + c_im;
        re = next;
    }
    return steps + 4 - logarithm(logarithm(re * re + im * im));
}

static void color_of(double time, unsigned char *pixel)
{
    double place = time < 0 ? 0 : time / 14;
    int from = (int)place % COLORS, to = (from + 1) % COLORS;
    double part = place - (int)place;
    part = part * part * (3 - 2 * part);
    for (int channel = 0; channel < 3; ++channel)
        pixel[channel] = (unsigned char)(palette[from][channel] * (1 - part) + palette[to][channel] * part);
}

int main(int argc, char **argv)
{
    int width = argc == 4 ? atoi(argv[1]) : 0, height = argc == 4 ? atoi(argv[2]) : 0;
    if (width <= 0 || height <= 0 || width > 100000 || height > 100000) {
        fprintf(stderr, "usage: make_picture WIDTH HEIGHT OUT.ppm\n");
        return EXIT_FAILURE;
    }
    FILE *out = fopen(argv[3], "wb");
    int good = out != NULL && fprintf(out, "P6\n%d %d\n255\n", width, height) > 0;
    double step = 3.2 / width;
    for (int y = 0; good && y < height; ++y)
        for (int x = 0; good && x < width; ++x) {
            unsigned char pixel[3];
            color_of(escape_time((x - width / 2) * step, (height / 2 - y) * step), pixel);
            good = fwrite(pixel, sizeof pixel, 1, out) == 1;
        }
    if (out == NULL || fclose(out) != 0 || !good) {
        fprintf(stderr, "could not write %s\n", argv[3]);
        return EXIT_FAILURE;
    }
    return EXIT_SUCCESS;
}
