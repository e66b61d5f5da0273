/* The CUDA driver's programs: NVRTC compiles the text of OpenCL's programs after that of parts/cuda.cl. */
#ifdef IPT_CUDA

/* A program's code: this head, then machine code. */
typedef struct ipt__cuda_head {
    char mark[8], prelude[20]; /* prelude: the hash of parts/cuda.cl, which no key has */
    cl_uint local_bytes;       /* of the array that IPT_LOCAL_LARGE names */
} ipt__cuda_head;
#define IPT__CUDA_HEAD_MARK "IPTCUDA"

typedef struct ipt__cuda_program {
    ipt__cuda_object object;
    cl_context context;
    char *source, *log;
    unsigned char *code;
    size_t code_bytes;
    ipt__cu_module module;
} ipt__cuda_program;

typedef struct ipt__cuda_kernel {
    ipt__cuda_program *program;
    ipt__cu_function function;
    const ipt__kernel_info *info;
    ipt__cu_address memories[8];
    size_t local_bytes; /* of the launch */
    size_t together;    /* most work-groups of the following form that run at the same time */
    size_t together_items, together_bytes;
    ipt__arguments arguments;
    cl_ulong value[2]; /* of the expression's argument */
} ipt__cuda_kernel;

/* The number after a macro's name, where a text defines it; 0: it does not. */
static cl_uint ipt__cuda_defined(const char *text, const char *definition)
{
    const char *const found = strstr(text, definition);
    return found ? (cl_uint)strtoul(found + strlen(definition), NULL, 10) : 0;
}

/* The head of a program's code, from its text. */
static ipt__cuda_head ipt__cuda_head_of(const char *text)
{
    ipt__cuda_head head;
    memset(&head, 0, sizeof head);
    strcpy(head.mark, IPT__CUDA_HEAD_MARK);
    strcpy(head.prelude, ipt__parts[IPT__PART_cuda].hash);
    head.local_bytes = ipt__cuda_defined(text, "#define IPT_LOCAL_BYTES ");
    return head;
}

#ifndef IPT_NO_KERNEL_SOURCE
/* Adds `count` bytes to a text of *length bytes; out is NULL to count only. */
static void ipt__cuda_put(char *out, size_t *length, const char *bytes, size_t count)
{
    if (out)
        memcpy(out + *length, bytes, count);
    *length += count;
}

static int ipt__cuda_names(char letter)
{
    return letter == '_' || (letter >= '0' && letter <= '9') || (letter >= 'a' && letter <= 'z') ||
           (letter >= 'A' && letter <= 'Z');
}

/* The number of `letters` that begin the text, if no more of a name follows them; else 0. */
static size_t ipt__cuda_word(const char *text, const char *letters)
{
    const size_t count = strspn(text, letters);
    return ipt__cuda_names(text[count]) ? 0 : count;
}

/* Writes a swizzle of two or more components, such as .yx or .s10, as .ipt_pick<1, 0>(). Returns its length in the
 * text; 0: there is none. */
static size_t ipt__cuda_swizzle(const char *text, char *out, size_t *length)
{
    static const char letters[] = "xyzw", digits[] = "0123456789abcdef";
    const int numbered = text[1] == 's';
    const char *const names = numbered ? digits : letters, *const first = text + 1 + numbered;
    const size_t count = *text == '.' ? ipt__cuda_word(first, names) : 0;
    const char *const after = first + count + strspn(first + count, " ");
    size_t i;
    if (count < 2 || (*after == '=' && after[1] != '=')) /* what is assigned to must be a member */
        return 0;
    ipt__cuda_put(out, length, ".ipt_pick<", 10);
    for (i = 0; i < count; ++i) {
        char place[8];
        ipt__print(place, sizeof place, i ? ", %d" : "%d", (int)(strchr(names, first[i]) - names));
        ipt__cuda_put(out, length, place, strlen(place));
    }
    ipt__cuda_put(out, length, ">()", 3);
    return 1 + (size_t)numbered + count;
}

/* Writes the type of a vector literal, such as (float4)(1, 2), without its parentheses. Returns the type's length with
 * them; 0: there is no literal. */
static size_t ipt__cuda_literal(const char *text, char *out, size_t *length)
{
    static const char types[][8] = {"char", "uchar", "short", "ushort", "int",   "uint",
                                    "long", "ulong", "half",  "float",  "double"};
    size_t i, type, digits;
    for (i = 0; *text == '(' && i < sizeof types / sizeof *types; ++i) {
        type = strlen(types[i]);
        if (strncmp(text + 1, types[i], type))
            continue;
        digits = strspn(text + 1 + type, "24816");
        if (digits && text[1 + type + digits] == ')' &&
            text[2 + type + digits + strspn(text + 2 + type + digits, " ")] == '(') {
            ipt__cuda_put(out, length, text + 1, type + digits);
            return type + digits + 2;
        }
    }
    return 0;
}

/* Writes OpenCL C with what parts/cuda.cl cannot define. out is NULL to count only. Returns the number of characters.
 */
static size_t ipt__cuda_translate(const char *text, char *out)
{
    size_t length = 0;
    while (*text) {
        const size_t plain = strcspn(text, ".(");
        size_t taken;
        ipt__cuda_put(out, &length, text, plain);
        text += plain;
        if (!*text)
            break;
        taken = *text == '.'                         ? ipt__cuda_swizzle(text, out, &length)
                : plain && ipt__cuda_names(text[-1]) ? 0 /* a call */
                                                     : ipt__cuda_literal(text, out, &length);
        if (!taken)
            ipt__cuda_put(out, &length, text, taken = 1);
        text += taken;
    }
    return length;
}
#endif

/* Makes the text that NVRTC compiles of OpenCL C, which the caller frees. Returns NULL if out of memory. */
static char *ipt__cuda_text(const char *source)
{
#ifdef IPT_NO_KERNEL_SOURCE
    (void)source;
    return NULL;
#else
    static const char begin[] = "#line 1 \"program\"\n", end[] = "\n}\n";
    const size_t bytes = ipt__cuda_translate(source, NULL) + sizeof begin + sizeof end;
    ipt__text out = {NULL, 0, 0};
    int pass;
    for (pass = 0; pass < 2; ++pass) {
        out.length = 0;
        ipt__text_add(&out, "namespace ipt {\n");
        ipt__part_print(&out, &ipt__parts[IPT__PART_cuda]);
        out.capacity = out.length + bytes;
        out.text = pass ? out.text : (char *)malloc(out.capacity);
        if (!out.text)
            return NULL;
    }
    memcpy(out.text + out.length, begin, sizeof begin - 1);
    out.length += sizeof begin - 1;
    out.length += ipt__cuda_translate(source, out.text + out.length);
    memcpy(out.text + out.length, end, sizeof end);
    return out.text;
#endif
}

static cl_program CL_API_CALL ipt__cuda_clCreateProgramWithSource(cl_context context, cl_uint count, const char **texts,
                                                                  const size_t *lengths, cl_int *error)
{
    ipt__cuda_program *const made = (ipt__cuda_program *)calloc(1, sizeof *made);
    (void)count;
    (void)lengths;
    if (made)
        made->source = ipt__cuda_text(texts[0]);
    if (!made || !made->source) {
        free(made);
        return (cl_program)ipt__cuda_made(NULL, CL_OUT_OF_HOST_MEMORY, error);
    }
    ipt__cuda_begin(&made->object);
    made->context = context;
    ipt__cuda_retain(context);
    return (cl_program)ipt__cuda_made(made, CL_SUCCESS, error);
}

static cl_program CL_API_CALL ipt__cuda_clCreateProgramWithBinary(cl_context context, cl_uint count,
                                                                  const cl_device_id *devices, const size_t *lengths,
                                                                  const unsigned char **binaries, cl_int *statuses,
                                                                  cl_int *error)
{
    const ipt__cuda_head head = ipt__cuda_head_of("");
    ipt__cuda_program *made;
    (void)count;
    (void)devices;
    (void)statuses;
    if (*lengths <= sizeof head || memcmp(*binaries, &head, offsetof(ipt__cuda_head, local_bytes)))
        return (cl_program)ipt__cuda_made(NULL, CL_INVALID_BINARY, error);
    made = (ipt__cuda_program *)calloc(1, sizeof *made);
    if (made)
        made->code = (unsigned char *)malloc(*lengths);
    if (!made || !made->code) {
        free(made);
        return (cl_program)ipt__cuda_made(NULL, CL_OUT_OF_HOST_MEMORY, error);
    }
    ipt__cuda_begin(&made->object);
    made->context = context;
    ipt__cuda_retain(context);
    made->code_bytes = *lengths;
    memcpy(made->code, *binaries, *lengths);
    return (cl_program)ipt__cuda_made(made, CL_SUCCESS, error);
}

static cl_int CL_API_CALL ipt__cuda_clGetProgramInfo(cl_program program, cl_program_info name, size_t capacity,
                                                     void *value, size_t *size)
{
    const ipt__cuda_program *const asked = (const ipt__cuda_program *)(void *)program;
    const cl_device_id device = ipt__cuda_handle(((const ipt__cuda_context *)(void *)asked->context)->device);
    void *to = NULL;
    switch (name) {
    case CL_PROGRAM_DEVICES:
        return ipt__cuda_answer(&device, sizeof device, capacity, value, size);
    case CL_PROGRAM_BINARY_SIZES:
        return ipt__cuda_answer(&asked->code_bytes, sizeof asked->code_bytes, capacity, value, size);
    case CL_PROGRAM_BINARIES:
        if (value)
            memcpy(&to, value, sizeof to);
        if (to)
            memcpy(to, asked->code, asked->code_bytes);
        if (size)
            *size = sizeof to;
        return CL_SUCCESS;
    default:
        return CL_INVALID_VALUE;
    }
}

/* Compiles a text of ipt__cuda_text to machine code for a processor, such as sm_90. Returns the code with its head;
 * NULL if that fails: the log says why. The caller frees both. */
static unsigned char *ipt__cuda_compile(const char *text, const char *processor, size_t *bytes, char **log)
{
    const char *options[] = {NULL, "-default-device", "-std=c++20", "-w"};
    const ipt__cuda_head head = ipt__cuda_head_of(text);
    unsigned char *code = NULL;
    char target[64];
    void *made = NULL;
    int failed;
    ipt__print(target, sizeof target, "--gpu-architecture=%s", processor);
    options[0] = target;
    *log = NULL;
    if (ipt__cu.nvrtcCreateProgram(&made, text, "ipt.cu", 0, NULL, NULL))
        return NULL;
    failed = ipt__cu.nvrtcCompileProgram(made, 4, options);
    *bytes = 0;
    ipt__cu.nvrtcGetProgramLogSize(made, bytes);
    *log = (char *)calloc(1, *bytes + 1);
    if (*log)
        ipt__cu.nvrtcGetProgramLog(made, *log);
    if (!failed && !ipt__cu.nvrtcGetCUBINSize(made, bytes))
        code = (unsigned char *)malloc(sizeof head + *bytes);
    if (code) {
        memcpy(code, &head, sizeof head);
        ipt__cu.nvrtcGetCUBIN(made, (char *)code + sizeof head);
        *bytes += sizeof head;
    }
    ipt__cu.nvrtcDestroyProgram(&made);
    return code;
}

/* Compiles a program's text to machine code of its device. Returns 0 if that fails; the log says why. */
static int ipt__cuda_build(ipt__cuda_program *program)
{
    const ipt__cu_device device = ((const ipt__cuda_context *)(void *)program->context)->device;
    char processor[40];
    ipt__print(processor, sizeof processor, "sm_%d%d", ipt__cuda_attribute(device, IPT__CU_MAJOR),
               ipt__cuda_attribute(device, IPT__CU_MINOR));
    free(program->log);
    program->code = ipt__cuda_compile(program->source, processor, &program->code_bytes, &program->log);
    return program->code != NULL;
}

static cl_int CL_API_CALL ipt__cuda_clBuildProgram(cl_program program, cl_uint count, const cl_device_id *devices,
                                                   const char *options, void(CL_CALLBACK *notify)(cl_program, void *),
                                                   void *user)
{
    ipt__cuda_program *const built = (ipt__cuda_program *)(void *)program;
    ipt__cu_result error;
    (void)count;
    (void)devices;
    (void)options;
    (void)notify;
    (void)user;
    if (!built->code && !ipt__cu.compiles)
        return CL_COMPILER_NOT_AVAILABLE;
    if (!built->code && !ipt__cuda_build(built))
        return -11; /* CL_BUILD_PROGRAM_FAILURE */
    ipt__cuda_enter(built->context);
    error = IPT__CU(cuModuleLoadData, (&built->module, built->code + sizeof(ipt__cuda_head)));
    ipt__cuda_leave();
    return error ? CL_INVALID_BINARY : CL_SUCCESS;
}

static cl_int CL_API_CALL ipt__cuda_clGetProgramBuildInfo(cl_program program, cl_device_id device,
                                                          cl_program_build_info name, size_t capacity, void *value,
                                                          size_t *size)
{
    const ipt__cuda_program *const asked = (const ipt__cuda_program *)(void *)program;
    const char *const log = asked->log ? asked->log : "";
    (void)device;
    return name == CL_PROGRAM_BUILD_LOG ? ipt__cuda_answer(log, strlen(log) + 1, capacity, value, size)
                                        : CL_INVALID_VALUE;
}

static void ipt__cuda_program_end(ipt__cuda_object *own)
{
    ipt__cuda_program *const released = (ipt__cuda_program *)(void *)own;
    if (released->module) {
        ipt__cuda_enter(released->context);
        ipt__cu.cuModuleUnload(released->module);
        ipt__cuda_leave();
    }
    free(released->source);
    free(released->log);
    free(released->code);
    ipt__cuda_clReleaseContext(released->context);
    free(released);
}

static cl_int CL_API_CALL ipt__cuda_clReleaseProgram(cl_program program)
{
    if (ipt__cuda_drop(program))
        ipt__cuda_end((ipt__cuda_object *)(void *)program, ipt__cuda_program_end);
    return CL_SUCCESS;
}

static cl_kernel CL_API_CALL ipt__cuda_clCreateKernel(cl_program program, const char *name, cl_int *error)
{
    ipt__cuda_program *const of = (ipt__cuda_program *)(void *)program;
    ipt__cuda_kernel *const made = (ipt__cuda_kernel *)calloc(1, sizeof *made);
    ipt__cu_result failure;
    int fixed = 0, i;
    if (!made)
        return (cl_kernel)ipt__cuda_made(NULL, CL_OUT_OF_HOST_MEMORY, error);
    for (i = 0; i < IPT__KERNEL_COUNT && strcmp(ipt__kernels[i].name, name); ++i)
        ;
    made->info = i < IPT__KERNEL_COUNT ? &ipt__kernels[i] : NULL;
    made->program = of;
    ipt__cuda_enter(of->context);
    failure = IPT__CU(cuModuleGetFunction, (&made->function, of->module, name));
    if (!failure)
        failure = IPT__CU(cuFuncGetAttribute, (&fixed, IPT__CU_FUNCTION_SHARED, made->function));
    if (!failure)
        failure = IPT__CU(
            cuFuncSetAttribute,
            (made->function, IPT__CU_FUNCTION_DYNAMIC,
             ipt__cuda_attribute(((const ipt__cuda_context *)(void *)of->context)->device, IPT__CU_LOCAL_BYTES) -
                 fixed));
    ipt__cuda_leave();
    if (failure || !made->info) {
        free(made);
        return (cl_kernel)ipt__cuda_made(NULL, CL_INVALID_KERNEL_NAME, error);
    }
    ipt__cuda_retain(of);
    return (cl_kernel)ipt__cuda_made(made, CL_SUCCESS, error);
}

static cl_int CL_API_CALL ipt__cuda_clGetKernelWorkGroupInfo(cl_kernel kernel, cl_device_id device,
                                                             cl_kernel_work_group_info name, size_t capacity,
                                                             void *value, size_t *size)
{
    const ipt__cuda_kernel *const asked = (const ipt__cuda_kernel *)(void *)kernel;
    int most = 0;
    size_t answer;
    (void)device;
    ipt__cuda_enter(asked->program->context);
    ipt__cu.cuFuncGetAttribute(&most, 0, asked->function); /* CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK */
    ipt__cuda_leave();
    answer = (size_t)most;
    return name == CL_KERNEL_WORK_GROUP_SIZE ? ipt__cuda_answer(&answer, sizeof answer, capacity, value, size)
                                             : CL_INVALID_VALUE;
}

static cl_int CL_API_CALL ipt__cuda_clReleaseKernel(cl_kernel kernel)
{
    ipt__cuda_kernel *const released = (ipt__cuda_kernel *)(void *)kernel;
    ipt__cuda_clReleaseProgram((cl_program)(void *)released->program);
    free(released);
    return CL_SUCCESS;
}

#endif
