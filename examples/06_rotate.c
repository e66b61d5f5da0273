/* Rotates a picture of RGBA pixels by 90 degrees, clockwise and in place, and inverts its colours on the way. `move`
 * selects the rotation. ipt compiles the expression, a line of OpenCL C, into its kernels. */
#define IPT_IMPLEMENTATION
#include "ipt.h"

#include <stdio.h>
#include <stdlib.h>

enum { WIDTH = 640, HEIGHT = 480 };

static void check(int good, const char *what)
{
    if (good)
        return;
    fprintf(stderr, "%s\n%s", what, ipt_context_error(NULL)); /* empty: the failure is not ipt's */
    exit(EXIT_FAILURE);
}

static unsigned char channel(size_t x, size_t y, size_t which)
{
    return (unsigned char)(which == 0 ? x : which == 1 ? y : which == 2 ? x ^ y : 255);
}

int main(void)
{
    unsigned char *pixels = (unsigned char *)malloc((size_t)4 * WIDTH * HEIGHT);
    check(pixels != NULL, "no memory");
    for (size_t y = 0; y < HEIGHT; ++y)
        for (size_t x = 0; x < WIDTH; ++x)
            for (size_t c = 0; c < 4; ++c)
                pixels[4 * (y * WIDTH + x) + c] = channel(x, y, c);

    ipt_context *context;
    ipt_plan *plan;
    ipt_plan_desc desc = {0};
    desc.rows = HEIGHT;
    desc.cols = WIDTH;
    desc.elem_size = 4;
    desc.move = IPT_MOVE_ROTATE_90;
    desc.expression = "x ^ (uchar4)(255, 255, 255, 0)"; /* for floats it could be "x * x" */
    desc.expression_type = "uchar4";
    const ipt_context_desc of_opencl = {.driver = IPT_DRIVER_OPENCL}; /* it compiles expressions */
    check(ipt_context_create(&of_opencl, &context) == IPT_SUCCESS, "making the context");
    check(ipt_plan_create(context, &desc, &plan) == IPT_SUCCESS, "making the plan");
    check(ipt_plan_execute_host(plan, pixels) == IPT_SUCCESS, "rotating");
    ipt_plan_destroy(plan);
    ipt_context_destroy(context);

    /* The picture is now HEIGHT wide. Its lowest row has become its first column. */
    for (size_t y = 0; y < WIDTH; ++y)
        for (size_t x = 0; x < HEIGHT; ++x)
            for (size_t c = 0; c < 4; ++c) {
                unsigned char before = channel(y, HEIGHT - 1 - x, c);
                check(pixels[4 * (y * HEIGHT + x) + c] == (c == 3 ? before : 255 - before), "a pixel is wrong");
            }
    free(pixels);
    printf("%d x %d pixels rotated and inverted in place: none wrong\n", WIDTH, HEIGHT);
    return EXIT_SUCCESS;
}
