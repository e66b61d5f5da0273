/* Results and error text. */

/* Returns a name by its index in a list of `count` names. A zero ends each name. */
static IPT__RARE const char *ipt__name_at(const char *names, int index, int count)
{
    if (index < 0 || index >= count)
        return "unknown";
    while (index--)
        names += strlen(names) + 1;
    return names;
}

/* The X of a list of X(enumerator, name), for ipt__name_at. */
#define IPT__NAME_ROW(enumerator, name) name "\0"

IPT_API IPT__RARE const char *ipt_result_string(ipt_result result)
{
#define IPT__RESULT_SENTENCE(name, value, sentence) sentence "\0"
    const int is_known = (int)result >= 0 && result < IPT__RESULT_COUNT;
    return is_known ? ipt__name_at(IPT_RESULT_LIST(IPT__RESULT_SENTENCE), (int)result, IPT__RESULT_COUNT)
                    : "unknown result";
}

IPT_API int ipt_version(void)
{
    return IPT_VERSION;
}

IPT_API IPT__RARE const char *ipt_sequence_string(ipt_sequence sequence)
{
    return ipt__name_at(IPT_SEQUENCE_LIST(IPT__NAME_ROW), (int)sequence, IPT__SEQUENCE_COUNT);
}

IPT_API IPT__RARE const char *ipt_variant_string(ipt_variant variant)
{
#define IPT__VARIANT_NAME(enumerator, name, family, lanes, padding, registers, layout, interleaved) name "\0"
    return ipt__name_at(IPT_VARIANT_LIST(IPT__VARIANT_NAME), (int)variant, IPT__VARIANT_COUNT);
}

IPT_API IPT__RARE const char *ipt_method_string(ipt_method method)
{
    return ipt__name_at(IPT_METHOD_LIST(IPT__NAME_ROW), (int)method, IPT__METHOD_COUNT);
}

IPT_API IPT__RARE const char *ipt_host_string(ipt_host host)
{
    return ipt__name_at(IPT_HOST_LIST(IPT__NAME_ROW), (int)host, IPT__HOST_COUNT);
}

/* The columns of IPT_MOVE_LIST. */
typedef struct ipt__move {
    char name[16];
    int transposed, reversed_rows, reversed_cols;
} ipt__move;
static const ipt__move ipt__moves[] = {
#define IPT__MOVE_ROW(enumerator, name, transposed, rows, cols) {name, transposed, rows, cols},
    IPT_MOVE_LIST(IPT__MOVE_ROW)};

IPT_API const char *ipt_move_string(ipt_move move)
{
    return (int)move < 0 || move >= IPT__MOVE_COUNT ? "unknown" : ipt__moves[move].name;
}

IPT_API IPT__RARE const char *ipt_format_string(ipt_format format)
{
#define IPT__FORMAT_NAME(enumerator, name, factors) name "\0"
    return ipt__name_at(IPT_FORMAT_LIST(IPT__FORMAT_NAME), (int)format, IPT__FORMAT_COUNT);
}

/* Returns the length of the whole text, which may exceed the capacity. */
IPT__PRINTF(3, 4) static IPT__RARE int ipt__print(char *text, size_t capacity, const char *format, ...)
{
    int length;
    va_list arguments;
    va_start(arguments, format);
    length = IPT__VSNPRINTF(text, capacity, format, arguments);
    va_end(arguments);
    return length;
}

static IPT__THREAD_LOCAL char ipt__error_text[4096];

/* The proposal of the last failure. */
typedef struct ipt__advice {
    size_t enough; /* a value that suffices; 0: none */
    size_t limit;  /* the field of ipt_plan_desc, by its offset */
    size_t begin;  /* of the proposal in the text */
} ipt__advice;
static IPT__THREAD_LOCAL ipt__advice ipt__advised;

IPT_API const char *ipt_context_error(const ipt_context *context)
{
    (void)context;
    return ipt__error_text;
}

IPT__PRINTF(2, 3) static IPT__RARE ipt_result ipt__fail(ipt_result result, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    IPT__VSNPRINTF(ipt__error_text, sizeof ipt__error_text, format, arguments);
    va_end(arguments);
    ipt__advised.enough = 0;
    return result;
}

/* Adds a proposal to the last failure: a larger limit. */
static IPT__RARE ipt_result ipt__advise(size_t limit, size_t enough)
{
    ipt__advice *const advice = &ipt__advised;
    advice->begin = strlen(ipt__error_text);
    advice->limit = limit;
    advice->enough = enough;
    ipt__print(ipt__error_text + advice->begin, sizeof ipt__error_text - advice->begin, ": %zu would do", enough);
    return IPT_ERROR_UNSUPPORTED;
}

/* The errors of OpenCL up to 3.0, and of extensions that drivers have. Numbers, because older headers lack some names.
 */
#define IPT__CL_ERROR_LIST(X)                                                                                          \
    X(CL_DEVICE_NOT_FOUND, -1)                                                                                         \
    X(CL_DEVICE_NOT_AVAILABLE, -2)                                                                                     \
    X(CL_COMPILER_NOT_AVAILABLE, -3)                                                                                   \
    X(CL_MEM_OBJECT_ALLOCATION_FAILURE, -4)                                                                            \
    X(CL_OUT_OF_RESOURCES, -5)                                                                                         \
    X(CL_OUT_OF_HOST_MEMORY, -6)                                                                                       \
    X(CL_PROFILING_INFO_NOT_AVAILABLE, -7)                                                                             \
    X(CL_MEM_COPY_OVERLAP, -8)                                                                                         \
    X(CL_IMAGE_FORMAT_MISMATCH, -9)                                                                                    \
    X(CL_IMAGE_FORMAT_NOT_SUPPORTED, -10)                                                                              \
    X(CL_BUILD_PROGRAM_FAILURE, -11)                                                                                   \
    X(CL_MAP_FAILURE, -12)                                                                                             \
    X(CL_MISALIGNED_SUB_BUFFER_OFFSET, -13)                                                                            \
    X(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, -14)                                                               \
    X(CL_COMPILE_PROGRAM_FAILURE, -15)                                                                                 \
    X(CL_LINKER_NOT_AVAILABLE, -16)                                                                                    \
    X(CL_LINK_PROGRAM_FAILURE, -17)                                                                                    \
    X(CL_DEVICE_PARTITION_FAILED, -18)                                                                                 \
    X(CL_KERNEL_ARG_INFO_NOT_AVAILABLE, -19)                                                                           \
    X(CL_INVALID_VALUE, -30)                                                                                           \
    X(CL_INVALID_DEVICE_TYPE, -31)                                                                                     \
    X(CL_INVALID_PLATFORM, -32)                                                                                        \
    X(CL_INVALID_DEVICE, -33)                                                                                          \
    X(CL_INVALID_CONTEXT, -34)                                                                                         \
    X(CL_INVALID_QUEUE_PROPERTIES, -35)                                                                                \
    X(CL_INVALID_COMMAND_QUEUE, -36)                                                                                   \
    X(CL_INVALID_HOST_PTR, -37)                                                                                        \
    X(CL_INVALID_MEM_OBJECT, -38)                                                                                      \
    X(CL_INVALID_IMAGE_FORMAT_DESCRIPTOR, -39)                                                                         \
    X(CL_INVALID_IMAGE_SIZE, -40)                                                                                      \
    X(CL_INVALID_SAMPLER, -41)                                                                                         \
    X(CL_INVALID_BINARY, -42)                                                                                          \
    X(CL_INVALID_BUILD_OPTIONS, -43)                                                                                   \
    X(CL_INVALID_PROGRAM, -44)                                                                                         \
    X(CL_INVALID_PROGRAM_EXECUTABLE, -45)                                                                              \
    X(CL_INVALID_KERNEL_NAME, -46)                                                                                     \
    X(CL_INVALID_KERNEL_DEFINITION, -47)                                                                               \
    X(CL_INVALID_KERNEL, -48)                                                                                          \
    X(CL_INVALID_ARG_INDEX, -49)                                                                                       \
    X(CL_INVALID_ARG_VALUE, -50)                                                                                       \
    X(CL_INVALID_ARG_SIZE, -51)                                                                                        \
    X(CL_INVALID_KERNEL_ARGS, -52)                                                                                     \
    X(CL_INVALID_WORK_DIMENSION, -53)                                                                                  \
    X(CL_INVALID_WORK_GROUP_SIZE, -54)                                                                                 \
    X(CL_INVALID_WORK_ITEM_SIZE, -55)                                                                                  \
    X(CL_INVALID_GLOBAL_OFFSET, -56)                                                                                   \
    X(CL_INVALID_EVENT_WAIT_LIST, -57)                                                                                 \
    X(CL_INVALID_EVENT, -58)                                                                                           \
    X(CL_INVALID_OPERATION, -59)                                                                                       \
    X(CL_INVALID_GL_OBJECT, -60)                                                                                       \
    X(CL_INVALID_BUFFER_SIZE, -61)                                                                                     \
    X(CL_INVALID_MIP_LEVEL, -62)                                                                                       \
    X(CL_INVALID_GLOBAL_WORK_SIZE, -63)                                                                                \
    X(CL_INVALID_PROPERTY, -64)                                                                                        \
    X(CL_INVALID_IMAGE_DESCRIPTOR, -65)                                                                                \
    X(CL_INVALID_COMPILER_OPTIONS, -66)                                                                                \
    X(CL_INVALID_LINKER_OPTIONS, -67)                                                                                  \
    X(CL_INVALID_DEVICE_PARTITION_COUNT, -68)                                                                          \
    X(CL_INVALID_PIPE_SIZE, -69)                                                                                       \
    X(CL_INVALID_DEVICE_QUEUE, -70)                                                                                    \
    X(CL_INVALID_SPEC_ID, -71)                                                                                         \
    X(CL_MAX_SIZE_RESTRICTION_EXCEEDED, -72)                                                                           \
    X(CL_INVALID_GL_SHAREGROUP_REFERENCE_KHR, -1000)                                                                   \
    X(CL_PLATFORM_NOT_FOUND_KHR, -1001)                                                                                \
    X(CL_DEVICE_PARTITION_FAILED_EXT, -1057)                                                                           \
    X(CL_INVALID_PARTITION_COUNT_EXT, -1058)                                                                           \
    X(CL_INVALID_PARTITION_NAME_EXT, -1059)                                                                            \
    X(CL_EGL_RESOURCE_NOT_ACQUIRED_KHR, -1092)                                                                         \
    X(CL_INVALID_EGL_OBJECT_KHR, -1093)                                                                                \
    X(CL_INVALID_ACCELERATOR_INTEL, -1094)                                                                             \
    X(CL_INVALID_ACCELERATOR_TYPE_INTEL, -1095)                                                                        \
    X(CL_INVALID_ACCELERATOR_DESCRIPTOR_INTEL, -1096)                                                                  \
    X(CL_ACCELERATOR_TYPE_NOT_SUPPORTED_INTEL, -1097)                                                                  \
    X(CL_COMMAND_TERMINATED_ITSELF_WITH_FAILURE_ARM, -1108)                                                            \
    X(CL_CONTEXT_TERMINATED_KHR, -1121)                                                                                \
    X(CL_INVALID_COMMAND_BUFFER_KHR, -1138)                                                                            \
    X(CL_INVALID_SYNC_POINT_WAIT_LIST_KHR, -1139)                                                                      \
    X(CL_INCOMPATIBLE_COMMAND_QUEUE_KHR, -1140)                                                                        \
    X(CL_INVALID_MUTABLE_COMMAND_KHR, -1141)                                                                           \
    X(CL_INVALID_SEMAPHORE_KHR, -1142)

/* Returns the name of an OpenCL error for messages. */
static IPT__RARE const char *ipt__cl_error(cl_int error)
{
#define IPT__CL_ERROR_LINE(name, number) #number " " #name "\0"
    static const char lines[] = IPT__CL_ERROR_LIST(IPT__CL_ERROR_LINE);
    const char *line;
    int number;
    for (line = lines; *line; line += strlen(line) + 1)
        if (sscanf(line, "%d", &number) == 1 && number == error)
            return strchr(line, ' ') + 1;
    return "OpenCL error";
}

/* Returns whether an OpenCL call failed for want of memory or because a buffer was too large. */
static int ipt__is_out_of_memory(cl_int error)
{
    return error == CL_MEM_OBJECT_ALLOCATION_FAILURE || error == CL_OUT_OF_RESOURCES ||
           error == CL_OUT_OF_HOST_MEMORY || error == CL_INVALID_BUFFER_SIZE;
}

#ifdef IPT_CUDA
/* The last call of CUDA that failed below an operation, for its message. call is NULL without one. */
static IPT__THREAD_LOCAL struct {
    const char *call, *sentence;
    int number;
} ipt__below;
#endif

static IPT__RARE ipt_result ipt__fail_opencl(const char *call, cl_int error)
{
#ifdef IPT_CUDA
    if (ipt__below.call) {
        call = ipt__below.call;
        ipt__below.call = NULL;
        return ipt__fail(ipt__is_out_of_memory(error) ? IPT_ERROR_OUT_OF_MEMORY : IPT_ERROR_OPENCL,
                         "%s failed: %s (%d)", call, ipt__below.sentence, ipt__below.number);
    }
#endif
    return ipt__fail(ipt__is_out_of_memory(error) ? IPT_ERROR_OUT_OF_MEMORY : IPT_ERROR_OPENCL,
                     "%s failed with %s (%d)", call, ipt__cl_error(error), (int)error);
}

enum { IPT__CAUSE_BYTES = 1024 };

/* Copies the text of the last failure, for a failure that adds to it. */
static IPT__RARE void ipt__keep_cause(char cause[IPT__CAUSE_BYTES])
{
    memcpy(cause, ipt__error_text, IPT__CAUSE_BYTES - 1);
    cause[IPT__CAUSE_BYTES - 1] = 0;
}

/* Adds the meaning for the caller before the text of the last failure. */
static IPT__RARE ipt_result ipt__fail_further(ipt_result result, const char *meaning)
{
    char cause[IPT__CAUSE_BYTES];
    ipt__keep_cause(cause);
    return ipt__fail(result, "%s: %s", meaning, cause);
}

static IPT__RARE ipt_result ipt__fail_incomplete(const char *meaning)
{
    return ipt__fail_further(IPT_ERROR_INCOMPLETE, meaning);
}

static IPT__RARE ipt_result ipt__fail_null(const char *name)
{
    return ipt__fail(IPT_ERROR_INVALID_ARGUMENT, "%s is NULL", name);
}

/* Copies a desc of given_bytes bytes, as the program's header declares it, to a desc of this library's size. Fields
 * that the program's header lacks become zero. Fields that this library lacks must be zero. name: the parameter's name.
 */
static ipt_result ipt__take_desc(void *taken, size_t taken_bytes, const void *given, size_t given_bytes,
                                 const char *name)
{
    size_t i;
    memset(taken, 0, taken_bytes);
    memcpy(taken, given, given_bytes < taken_bytes ? given_bytes : taken_bytes);
    for (i = taken_bytes; i < given_bytes; ++i)
        if (((const char *)given)[i])
            return ipt__fail(IPT_ERROR_UNSUPPORTED,
                             "%s has fields that ipt %d.%d.%d does not know: link with the version of the ipt.h that "
                             "the program includes, or a later one",
                             name, IPT_VERSION / 10000, IPT_VERSION / 100 % 100, IPT_VERSION % 100);
    return IPT_SUCCESS;
}
