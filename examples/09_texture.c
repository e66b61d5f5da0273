/* An engine turns its textures by 90 degrees where they are: in its own context, on its own queue, chained by events.
 * The rows of a texture begin at multiples of 256 bytes, before and after. ipt leaves the bytes between them alone. */
#define IPT_IMPLEMENTATION
#include "ipt.h"

#include <stdio.h>
#include <stdlib.h>

enum { WIDTH = 1080, HEIGHT = 1920, MOST_BYTES = 9 << 20 };

static unsigned char before[MOST_BYTES], after[MOST_BYTES];

static void check(int good, const char *what)
{
    if (good)
        return;
    fprintf(stderr, "%s failed: %s\n", what, ipt_context_error(NULL));
    exit(EXIT_FAILURE);
}

/* Turns pixels of 3 bytes (RGB8) or 4 (RGBA8). Returns the number of wrong bytes. */
static size_t turn(ipt_context *ipt, cl_context context, cl_command_queue queue, size_t pixel)
{
    const size_t pitch = (WIDTH * pixel + 255) / 256 * 256, pitch_out = (HEIGHT * pixel + 255) / 256 * 256;
    const size_t size = HEIGHT * pitch > WIDTH * pitch_out ? HEIGHT * pitch : WIDTH * pitch_out; /* holds both forms */
    for (size_t i = 0; i < size; ++i)
        before[i] = (unsigned char)(i * 2654435761u >> 13); /* between the rows, too */
    cl_event uploaded, turned;
    cl_int error;
    cl_mem texture = clCreateBuffer(context, CL_MEM_READ_WRITE, size, NULL, &error);
    check(error == CL_SUCCESS, "clCreateBuffer");

    ipt_plan *plan; /* an engine keeps it for all textures of this size */
    ipt_plan_desc desc = {.rows = HEIGHT, .cols = WIDTH, .elem_size = pixel, .move = IPT_MOVE_ROTATE_90};
    desc.row_pitch = pitch;
    desc.row_pitch_out = pitch_out;
    check(ipt_plan_create(ipt, &desc, &plan) == IPT_SUCCESS, "ipt_plan_create");
    error = clEnqueueWriteBuffer(queue, texture, CL_FALSE, 0, size, before, 0, NULL, &uploaded);
    check(error == CL_SUCCESS, "clEnqueueWriteBuffer");
    check(ipt_plan_execute(plan, queue, texture, 0, 1, &uploaded, &turned) == IPT_SUCCESS, "ipt_plan_execute");
    /* The host is free here. The engine's next pass would wait for `turned` on the device. */
    check(clWaitForEvents(1, &turned) == CL_SUCCESS, "the rotation");
    error = clEnqueueReadBuffer(queue, texture, CL_TRUE, 0, size, after, 0, NULL, NULL);
    check(error == CL_SUCCESS, "clEnqueueReadBuffer");

    size_t wrong = 0;
    for (size_t i = 0; i < size; ++i) {
        const size_t y = i / pitch_out, x = i % pitch_out / pixel;
        if (y < WIDTH && x < HEIGHT) /* the lowest row has become the first column */
            wrong += after[i] != before[(HEIGHT - 1 - x) * pitch + y * pixel + i % pitch_out % pixel];
        else if (i / pitch >= HEIGHT || i % pitch >= WIDTH * pixel) /* between the rows, before and after */
            wrong += after[i] != before[i];
    }
    clReleaseEvent(uploaded), clReleaseEvent(turned), clReleaseMemObject(texture), ipt_plan_destroy(plan);
    return wrong;
}

int main(void)
{
    ipt_context *chooser, *ipt; /* the chooser only selects the device */
    cl_int no_context, no_queue;
    const ipt_context_desc any = {.driver = IPT_DRIVER_OPENCL};
    check(ipt_context_create(&any, &chooser) == IPT_SUCCESS, "choosing a device");
    ipt_context_desc desc = {.device = ipt_context_cl_device(chooser)};
    desc.context = clCreateContext(NULL, 1, &desc.device, NULL, NULL, &no_context);
    cl_command_queue queue = clCreateCommandQueue(desc.context, desc.device, 0, &no_queue);
    check(!no_context && !no_queue, "making the engine's context and queue");
    check(ipt_context_create(&desc, &ipt) == IPT_SUCCESS, "ipt_context_create");
    const size_t rgb = turn(ipt, desc.context, queue, 3), rgba = turn(ipt, desc.context, queue, 4);
    printf("%d x %d, rows at multiples of 256 bytes: %zu bytes wrong of RGB8, %zu of RGBA8\n", WIDTH, HEIGHT, rgb,
           rgba);
    ipt_context_destroy(ipt), ipt_context_destroy(chooser);
    clReleaseCommandQueue(queue), clReleaseContext(desc.context);
    return rgb + rgba == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
