/* Interleaved pixels to colour planes and back, in place. A picture is a matrix of width * height rows and 3 columns
 * of one byte. Its planes are the transpose. In between the program swaps two planes, red and blue.
 * Usage: 04_rgb_planes IN.ppm OUT.ppm (binary PPM, 8 bit) */
#define IPT_IMPLEMENTATION
#include "ipt.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void check(int good, const char *what)
{
    if (good)
        return;
    fprintf(stderr, "%s\n%s", what, ipt_context_error(NULL)); /* empty: the failure is not ipt's */
    exit(EXIT_FAILURE);
}

/* Reads the next number of a PPM header, which may have comments, and the character after it. */
static size_t read_number(FILE *file)
{
    size_t number = 0;
    while (fscanf(file, " %1[#]%*[^\n]", (char[2]){0}) == 1)
        continue;
    check(fscanf(file, "%zu", &number) == 1 && number > 0 && fgetc(file) != EOF, "this is no binary PPM picture");
    return number;
}

static void transpose(ipt_context *context, unsigned char *bytes, size_t rows, size_t cols)
{
    ipt_plan_desc desc = {0};
    desc.rows = rows;
    desc.cols = cols;
    desc.elem_size = 1;
    ipt_plan *plan;
    check(ipt_plan_create(context, &desc, &plan) == IPT_SUCCESS, "making the plan");
    check(ipt_plan_execute_host(plan, bytes) == IPT_SUCCESS, "transposing");
    ipt_plan_destroy(plan);
}

int main(int argc, char **argv)
{
    check(argc == 3, "usage: 04_rgb_planes IN.ppm OUT.ppm");
    FILE *in = fopen(argv[1], "rb");
    check(in != NULL && fgetc(in) == 'P' && fgetc(in) == '6', "the first file cannot be read as a binary PPM picture");
    size_t width = read_number(in), height = read_number(in), brightest = read_number(in);
    check(brightest <= 255 && width <= (size_t)-1 / 6 / height, "this is no 8-bit picture, or it is too large");

    /* The second half keeps a copy of the picture for the check at the end. */
    size_t pixels = width * height;
    unsigned char *bytes = (unsigned char *)malloc(6 * pixels);
    check(bytes != NULL && fread(bytes, 3, pixels, in) == pixels, "no memory, or the picture's file is cut short");
    check(fclose(in) == 0, "closing the picture's file");
    unsigned char *before = bytes + 3 * pixels;
    memcpy(before, bytes, 3 * pixels);

    ipt_context *context;
    check(ipt_context_create(NULL, &context) == IPT_SUCCESS, "making the context");
    transpose(context, bytes, pixels, 3);
    for (size_t i = 0; i < pixels; ++i) { /* planes: red at 0, green at pixels, blue at 2 * pixels */
        unsigned char red = bytes[i];
        bytes[i] = bytes[2 * pixels + i];
        bytes[2 * pixels + i] = red;
    }
    transpose(context, bytes, 3, pixels);
    ipt_context_destroy(context);
    for (size_t i = 0; i < 3 * pixels; ++i)
        check(bytes[i] == before[i - i % 3 + 2 - i % 3], "a pixel came back wrong");
    FILE *out = fopen(argv[2], "wb");
    check(out != NULL && fprintf(out, "P6\n%zu %zu\n%zu\n", width, height, brightest) > 0, "writing the picture");
    check(fwrite(bytes, 3, pixels, out) == pixels && fclose(out) == 0, "writing the picture");
    free(bytes);
    printf("%zu pixels to planes, red and blue swapped, and back: none wrong\n", pixels);
    return EXIT_SUCCESS;
}
