/* Compiles texts of OpenCL C as the CUDA driver does, to machine code for a processor. No GPU is needed. Usage: nvrtc
 * sm_NN FILE...; IPT_NVRTC_LIBRARY names NVRTC. Prints a line for each failure, and last the number of texts. */
#define IPT_STATIC
#define IPT_CUDA
#define IPT_IMPLEMENTATION
#include "ipt.h"

static char *read_text(const char *path)
{
    FILE *const file = fopen(path, "rb");
    char *text = (char *)calloc(1, 1 << 18);
    if (!file || !text || !fread(text, 1, (1 << 18) - 1, file)) {
        fprintf(stderr, "%s cannot be read\n", path);
        exit(2);
    }
    fclose(file);
    return text;
}

/* Whether the driver's code of a file is an ELF file for NVIDIA's devices (machine 190) that has the file's kernel. */
static int compiles(const char *processor, const char *path)
{
    static const unsigned char elf[] = {0x7f, 'E', 'L', 'F', 2}, machine[] = {190, 0};
    const char *const name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
    char *const source = read_text(path), *const text = ipt__cuda_text(source), *log = NULL, kernel[64] = "";
    size_t bytes = 0, at;
    int found = 0;
    unsigned char *const code = ipt__cuda_compile(text, processor, &bytes, &log);
    const unsigned char *const own = code ? code + sizeof(ipt__cuda_head) : NULL;
    sscanf(name, "%60[a-z_]", kernel); /* ipt_k_swap_ of ipt_k_swap_003_ptx.cl */
    if (*kernel)
        kernel[strlen(kernel) - 1] = 0;
    bytes -= code ? sizeof(ipt__cuda_head) : 0;
    for (at = 0; own && !found && at + strlen(kernel) < bytes; ++at)
        found = !memcmp(own + at, kernel, strlen(kernel) + 1);
    found = found && !memcmp(own, elf, sizeof elf) && !memcmp(own + 18, machine, sizeof machine);
    if (!found) {
        const char *const error = log && strstr(log, "error") ? strstr(log, "error") : "no error in the log";
        printf("%s for %s: %.*s\n", path, processor, code ? 80 : (int)strcspn(error, "\n"),
               code ? "no machine code of the kernel" : error);
    }
    free(code);
    free(log);
    free(text);
    free(source);
    return found;
}

int main(int count, char **arguments)
{
    int i, failed = 0, major = 0, minor = 0;
    if (count < 2)
        return 2;
    ipt__nvrtc_open();
    if (!ipt__cu.compiles) {
        fprintf(stderr, "NVRTC cannot be loaded: %s\n", dlerror());
        return 2;
    }
    ipt__cu.nvrtcVersion(&major, &minor);
    for (i = 2; i < count; ++i)
        failed += !compiles(arguments[1], arguments[i]);
    printf("NVRTC %d.%d, %s: %d of %d\n", major, minor, arguments[1], count - 2 - failed, count - 2);
    return failed != 0;
}
