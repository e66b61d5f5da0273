/* Compares programs of another compiler, such as clang's PTX or LLVM bitcode, with programs of the device's compiler
 * from the same sources: the time to create a plan and the speed of its executions, verified on the device.
 *
 *   portable FOLDER ROWSxCOLS:BYTES[*BATCH] ...     FOLDER is filled by `ipt precompile --target ... -o FOLDER`
 *
 * The driver's own cache should be off (CUDA_CACHE_DISABLE=1, POCL_CACHE_DIR=an empty folder). */
#define _XOPEN_SOURCE 700
#define IPT_IMPLEMENTATION
#include "ipt.h"

#include "gen/tool/bench/bench_measure.h"
#include "gen/tool/bench/bench_shapes.h"
#include "gen/tool/base/seconds.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_ENTRIES = 1000 };

static ipt_binary entries[MAX_ENTRIES];
static size_t entry_count;

static bool read_entry(const char *path)
{
    FILE *file = fopen(path, "rb");
    unsigned char *data = malloc(1 << 24);
    if (file == NULL || data == NULL || entry_count == MAX_ENTRIES) {
        return false;
    }
    entries[entry_count].data = data;
    entries[entry_count].bytes = fread(data, 1, 1 << 24, file);
    fclose(file);
    return entries[entry_count++].bytes > 0;
}

static bool read_folder(const char *folder)
{
    DIR *listing = opendir(folder);
    const struct dirent *found;
    bool good = listing != NULL;
    while (good && (found = readdir(listing)) != NULL) {
        char path[2048];
        snprintf(path, sizeof path, "%s/%s", folder, found->d_name);
        if (found->d_name[0] != '.') {
            good = read_entry(path);
        }
    }
    if (listing != NULL) {
        closedir(listing);
    }
    return good && entry_count > 0;
}

/* The logger's counts. */
typedef struct heard {
    size_t built, loaded;
    char target[64]; /* name of the last loaded program */
} heard;

static void listen(const char *message, void *user)
{
    heard *all = user;
    const char *target = strstr(message, " for ");
    all->built += strncmp(message, "built ", 6) == 0;
    if (strncmp(message, "loaded ", 7) == 0 && target != NULL) {
        all->loaded++;
        snprintf(all->target, sizeof all->target, "%s", target + 5);
    }
}

/* Measures one plan in a new context, with or without the folder's programs. */
static bool measure(const ipt_plan_desc *shape, bool portable, double *plan_seconds, bench_result *result, heard *all,
                    char *message)
{
    ipt_context_desc desc = {0};
    ipt_plan_desc wanted = *shape;
    ipt_context *context = NULL;
    ipt_plan *plan = NULL;
    bench_device device = {0};
    memset(result, 0, sizeof *result);
    memset(all, 0, sizeof *all);
    desc.cache_dir = "";
    desc.logger.log = listen;
    desc.logger.user = all;
    if (portable) {
        desc.binaries = entries;
        desc.binary_count = entry_count;
        wanted.flags |= IPT_CACHE_ONLY;
    }
    bool good =
        ipt_context_create(&desc, &context) == IPT_SUCCESS || bench_fail(message, "%s", ipt_context_error(NULL));
    double start = seconds_now();
    good = good && (ipt_plan_create(context, &wanted, &plan) == IPT_SUCCESS ||
                    bench_fail(message, "%s", ipt_context_error(context)));
    *plan_seconds = seconds_now() - start;
    good = good && bench_device_open(&device, context, shape->elem_size, message);
    result->rows = shape->rows;
    result->cols = shape->cols;
    result->elem_size = shape->elem_size;
    result->batch = shape->batch;
    result->rounds = 3;
    good = good && bench_shape_bytes(shape->rows, shape->cols, shape->elem_size, shape->batch, &result->bytes) &&
           bench_measure(&device, plan, result, message);
    bench_device_close(&device);
    ipt_plan_destroy(plan);
    ipt_context_destroy(context);
    return good;
}

int main(int count, char **words)
{
    char message[BENCH_MESSAGE_SIZE] = "";
    int failed = 0;
    if (count < 3 || !read_folder(words[1])) {
        fprintf(stderr, "usage: portable FOLDER ROWSxCOLS:BYTES[*BATCH] ... (with entries in FOLDER)\n");
        return 2;
    }
    printf("%-22s %16s %16s %15s %15s  %s\n", "shape", "plan: source ms", "plan: folder ms", "ratio: source",
           "ratio: folder", "programs");
    for (int i = 2; i < count; i++) {
        ipt_plan_desc shape = {0};
        bench_result results[2];
        heard all[2];
        double seconds[2];
        shape.batch = 1;
        if (sscanf(words[i], "%zux%zu:%zu*%zu", &shape.rows, &shape.cols, &shape.elem_size, &shape.batch) < 3) {
            fprintf(stderr, "'%s' is not ROWSxCOLS:BYTES[*BATCH]\n", words[i]);
            return 2;
        }
        bool good = measure(&shape, false, &seconds[0], &results[0], &all[0], message) &&
                    measure(&shape, true, &seconds[1], &results[1], &all[1], message);
        if (good && (all[1].built > 0 || all[1].loaded == 0)) {
            good = bench_fail(message, "%zu programs were built and %zu loaded", all[1].built, all[1].loaded);
        }
        if (good) {
            printf("%-22s %16.1f %16.1f %15.3f %15.3f  %zu for %s, verified\n", words[i], 1e3 * seconds[0],
                   1e3 * seconds[1], bench_ratio(results[0].seconds, results[0].copy_seconds),
                   bench_ratio(results[1].seconds, results[1].copy_seconds), all[1].loaded, all[1].target);
        } else {
            printf("%-22s %s\n", words[i], message);
            failed = 1;
        }
    }
    return failed;
}
