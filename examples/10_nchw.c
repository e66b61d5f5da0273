/* Frames for inference: a batch of pictures whose pixels lie together (NHWC) becomes a batch of planes (NCHW), in
 * place, and back. The array has four axes; axis i of the result is axis axes[i] of the source. */
#define IPT_IMPLEMENTATION
#include "ipt.h"

#include <stdio.h>
#include <stdlib.h>

enum { FRAMES = 4, HEIGHT = 224, WIDTH = 224, CHANNELS = 3 };

static float frames[FRAMES * HEIGHT * WIDTH * CHANNELS];

static void check(int good, const char *what)
{
    if (good)
        return;
    fprintf(stderr, "%s failed: %s\n", what, ipt_context_error(NULL));
    exit(EXIT_FAILURE);
}

/* A unique value for each sample. */
static float sample(size_t frame, size_t y, size_t x, size_t channel)
{
    return (float)(((frame * HEIGHT + y) * WIDTH + x) * CHANNELS + channel);
}

/* Counts samples that are not at their place: planes apart, or channels of a pixel together. */
static size_t count_wrong(int planes)
{
    size_t wrong = 0;
    for (size_t n = 0; n < FRAMES; ++n)
        for (size_t y = 0; y < HEIGHT; ++y)
            for (size_t x = 0; x < WIDTH; ++x)
                for (size_t c = 0; c < CHANNELS; ++c) {
                    const size_t at = planes ? ((n * CHANNELS + c) * HEIGHT + y) * WIDTH + x
                                             : ((n * HEIGHT + y) * WIDTH + x) * CHANNELS + c;
                    wrong += frames[at] != sample(n, y, x, c);
                }
    return wrong;
}

int main(void)
{
    const ipt_plan_desc to_planes = {
        .elem_size = sizeof *frames, .rank = 4, .shape = {FRAMES, HEIGHT, WIDTH, CHANNELS}, .axes = {0, 3, 1, 2}};
    const ipt_plan_desc to_pixels = {
        .elem_size = sizeof *frames, .rank = 4, .shape = {FRAMES, CHANNELS, HEIGHT, WIDTH}, .axes = {0, 2, 3, 1}};
    for (size_t n = 0, at = 0; n < FRAMES; ++n)
        for (size_t y = 0; y < HEIGHT; ++y)
            for (size_t x = 0; x < WIDTH; ++x)
                for (size_t c = 0; c < CHANNELS; ++c)
                    frames[at++] = sample(n, y, x, c);

    ipt_context *context;
    ipt_plan *plan, *back;
    check(ipt_context_create(NULL, &context) == IPT_SUCCESS, "ipt_context_create");
    check(ipt_plan_create(context, &to_planes, &plan) == IPT_SUCCESS, "ipt_plan_create");
    check(ipt_plan_create(context, &to_pixels, &back) == IPT_SUCCESS, "ipt_plan_create");

    check(ipt_plan_execute_host(plan, frames) == IPT_SUCCESS, "ipt_plan_execute_host");
    const size_t planes = count_wrong(1); /* inference would run here */
    check(ipt_plan_execute_host(back, frames) == IPT_SUCCESS, "ipt_plan_execute_host");
    const size_t pixels = count_wrong(0);

    printf("%d frames of %d x %d x %d: %zu samples wrong as planes, %zu as pixels again\n", FRAMES, HEIGHT, WIDTH,
           CHANNELS, planes, pixels);
    ipt_plan_destroy(back);
    ipt_plan_destroy(plan);
    ipt_context_destroy(context);
    return planes == 0 && pixels == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
