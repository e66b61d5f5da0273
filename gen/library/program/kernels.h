/* Kernels: parameters, arguments, text. All expand the lists of ipt_kernels.h. */

enum { /* each parameter's bit in a kernel's `uses`, and its index in ipt__params */
#define IPT__PARAM_INDEX(field, macro, minimum, maximum, meaning) IPT__PARAM_##field,
       IPT_PARAM_LIST(IPT__PARAM_INDEX) IPT__PARAM_COUNT
};
enum {
#define IPT__PARAM_BIT(field, macro, minimum, maximum, meaning) IPT__USES_##field = 1 << IPT__PARAM_##field,
    IPT_PARAM_LIST(IPT__PARAM_BIT) IPT__USES_NOTHING = 0
};

/* The values for which a program is specialised. */
typedef struct ipt__params {
#define IPT__PARAM_FIELD(field, macro, minimum, maximum, meaning) cl_uint field;
    IPT_PARAM_LIST(IPT__PARAM_FIELD)
    const char *expression, *expression_type; /* valid if apply is not 0 */
    const char *argument_type;                /* type of the expression's argument; valid if apply is 2, else NULL */
    const char *operands,
        *action; /* batch plans: definitions with the action's hash, and the action's text; else NULL */
    const struct ipt__native_batch *native; /* the native driver's ready action, while its plan is made; else NULL */
} ipt__params;

typedef enum ipt__kernel_id {
#define IPT__KERNEL_ENUMERATOR(kernel, memories, local, waits, uses) IPT__KERNEL_##kernel,
    IPT_KERNEL_LIST(IPT__KERNEL_ENUMERATOR) IPT__KERNEL_COUNT
} ipt__kernel_id;

/* The arguments of each kernel as a struct, and the size of each. Natural alignment gives their offsets, as on devices:
 * the ABI of Linux on 32-bit x86 would align ulong to 4 bytes. A divisor is three arguments, and the size of its value
 * is marked. */
#if defined(__GNUC__) || defined(__clang__)
#define IPT__ALIGNED(type) __attribute__((aligned(sizeof(type))))
#else
#define IPT__ALIGNED(type)
#endif
typedef struct ipt__alignment {
    cl_uint before;
    cl_ulong value IPT__ALIGNED(cl_ulong);
} ipt__alignment;
typedef char ipt__arguments_are_aligned[offsetof(ipt__alignment, value) == sizeof(cl_ulong) ? 1 : -1];
enum {
    IPT__BYTES = 63,
    IPT__DIVISOR = 64,
    IPT__BY_INDEX = 128, /* constants for dividends of index_bits bits */
    IPT__DIVISOR_32 = IPT__DIVISOR,
    IPT__DIVISOR_64 = IPT__DIVISOR,
    IPT__DIVISOR_index = IPT__DIVISOR | IPT__BY_INDEX
};
typedef cl_uint ipt__divisor_32;
typedef cl_ulong ipt__divisor_64, ipt__divisor_index;
#define IPT__ARGUMENT_FIELD(type, name) cl_##type name IPT__ALIGNED(cl_##type);
#define IPT__ARGUMENT_BYTES(type, name) sizeof(cl_##type),
#define IPT__DIVISOR_FIELD(bits, name)                                                                                 \
    ipt__divisor_##bits name IPT__ALIGNED(ipt__divisor_##bits);                                                        \
    ipt__divisor_##bits name##_magic IPT__ALIGNED(ipt__divisor_##bits);                                                \
    cl_uint name##_shift;
#define IPT__DIVISOR_BYTES(bits, name)                                                                                 \
    sizeof(ipt__divisor_##bits) | IPT__DIVISOR_##bits, sizeof(ipt__divisor_##bits), sizeof(cl_uint),
#define IPT__ARGUMENT_STRUCT(kernel, memories, local, waits, uses)                                                     \
    typedef struct ipt__##kernel##_arguments {                                                                         \
        IPT_##kernel##_ARGUMENTS(IPT__ARGUMENT_FIELD, IPT__DIVISOR_FIELD)                                              \
    } ipt__##kernel##_arguments;
IPT_KERNEL_LIST(IPT__ARGUMENT_STRUCT)

typedef union ipt__arguments {
#define IPT__ARGUMENTS_MEMBER(kernel, memories, local, waits, uses) ipt__##kernel##_arguments kernel;
    IPT_KERNEL_LIST(IPT__ARGUMENTS_MEMBER)
} ipt__arguments;

/* The bytes of each kernel's arguments; 0 ends them. */
#define IPT__ARGUMENT_COUNT(type, name) +1
#define IPT__DIVISOR_COUNT(bits, name) +3
#define IPT__ARGUMENT_BYTES_FIELD(kernel, memories, local, waits, uses)                                                \
    unsigned char kernel[1 IPT_##kernel##_ARGUMENTS(IPT__ARGUMENT_COUNT, IPT__DIVISOR_COUNT)];
#define IPT__ARGUMENT_BYTES_ROW(kernel, memories, local, waits, uses)                                                  \
    {IPT_##kernel##_ARGUMENTS(IPT__ARGUMENT_BYTES, IPT__DIVISOR_BYTES) 0},
typedef struct ipt__argument_table {
    IPT_KERNEL_LIST(IPT__ARGUMENT_BYTES_FIELD)
} ipt__argument_table;
static const ipt__argument_table ipt__argument_bytes = {IPT_KERNEL_LIST(IPT__ARGUMENT_BYTES_ROW)};

#define IPT__ARGUMENT_TEXT(type, name) " X(" #type "," #name ")"
#define IPT__DIVISOR_TEXT(bits, name) " D(" #bits "," #name ")"

#ifdef IPT_NO_KERNEL_SOURCE
#define IPT__TEXT_FIELD
#define IPT__TEXT(text)
#else
#define IPT__TEXT_FIELD const unsigned short *text; /* packed: see ipt__text_unpack */
#define IPT__TEXT(text) , text
#endif

/* A part of a program's text: its file's name, for build logs, and the hash of its text. */
typedef struct ipt__part {
    char file[24], hash[17];
    IPT__TEXT_FIELD
} ipt__part;

enum {
#define IPT__PART_INDEX(part) IPT__PART_##part,
    IPT_PART_LIST(IPT__PART_INDEX) IPT__PART_COUNT
};
static const ipt__part ipt__parts[] = {
#define IPT__PART_ROW(part) {"parts/" #part ".cl", IPT__HASH_##part IPT__TEXT(ipt__text_##part)},
    IPT_PART_LIST(IPT__PART_ROW)};
#define IPT__PART_BIT(part) | 1u << IPT__PART_##part

typedef struct ipt__kernel_info {
    char name[24];  /* name of the OpenCL kernel */
    ipt__part own;  /* the file that defines the kernel */
    unsigned parts; /* bits of the parts that the file includes */
#ifndef IPT_NO_KERNEL_SOURCE
    const char *arguments; /* the parameter list in OpenCL C */
#endif
    size_t argument_bytes;     /* its place in ipt__argument_bytes */
    size_t arguments_bytes;    /* bytes of the arguments' struct */
    cl_uint memories;          /* number of buffers before the arguments */
    int local;                 /* a local-memory argument precedes the arguments */
    size_t waits, probe_polls; /* of a cooperative kernel: places of these arguments, in words */
    unsigned uses;             /* bits of the parameters on which its text depends */
} ipt__kernel_info;

#define IPT__PROBE_PLACES_0(kernel) 0, 0
#define IPT__PROBE_PLACES_1(kernel)                                                                                    \
    offsetof(ipt__##kernel##_arguments, waits) / 4, offsetof(ipt__##kernel##_arguments, probe_polls) / 4

static const ipt__kernel_info ipt__kernels[] = {
#define IPT__KERNEL_INFO(kernel, memories, local, waits, uses)                                                         \
    {"ipt_k_" #kernel,                                                                                                 \
     {#kernel ".cl", IPT__HASH_##kernel IPT__TEXT(ipt__text_##kernel)},                                                \
     0 IPT_##kernel##_PARTS(IPT__PART_BIT) IPT__TEXT(IPT_##kernel##_ARGUMENTS(IPT__ARGUMENT_TEXT, IPT__DIVISOR_TEXT)), \
     offsetof(ipt__argument_table, kernel),                                                                            \
     sizeof(ipt__##kernel##_arguments),                                                                                \
     memories,                                                                                                         \
     local,                                                                                                            \
     IPT__PROBE_PLACES_##waits(kernel),                                                                                \
     uses},
    IPT_KERNEL_LIST(IPT__KERNEL_INFO)};

static const unsigned char *ipt__argument_bytes_of(const ipt__kernel_info *info)
{
    return (const unsigned char *)&ipt__argument_bytes + info->argument_bytes;
}

/* A row of IPT_PARAM_LIST. */
typedef struct ipt__param {
    char name[16];
    cl_uint minimum, maximum;
} ipt__param;
static const ipt__param ipt__param_rows[] = {
#define IPT__PARAM_ROW(field, macro, minimum, maximum, meaning) {#field, minimum, maximum},
    IPT_PARAM_LIST(IPT__PARAM_ROW)};

static cl_uint *ipt__param_at(const ipt__params *params, int index)
{
    return (cl_uint *)(void *)params + index; /* the fields of the list come first */
}

/* Sets parameters that the kernel does not use to 0, so that they cannot distinguish programs. Returns 0 if another one
 * is out of range. */
static IPT__RARE int ipt__params_reduce(ipt__params *params, unsigned uses)
{
    int good = 1, i;
    for (i = 0; i < IPT__PARAM_COUNT; ++i) {
        cl_uint *const value = ipt__param_at(params, i);
        if (!(uses >> i & 1))
            *value = 0;
        else if (*value < ipt__param_rows[i].minimum || *value > ipt__param_rows[i].maximum)
            good = 0;
    }
    return good;
}

static int ipt__params_equal(const ipt__params *a, const ipt__params *b)
{
    return !memcmp(a, b, IPT__PARAM_COUNT * sizeof(cl_uint)) &&
           (!a->apply || (!strcmp(a->expression, b->expression) && !strcmp(a->expression_type, b->expression_type))) &&
           (a->apply < 2 || !strcmp(a->argument_type, b->argument_type)) && !a->operands == !b->operands &&
           (!a->operands || !strcmp(a->operands, b->operands));
}

/* A text that grows in memory of fixed size. A NULL text only counts. */
typedef struct ipt__text {
    char *text;
    size_t capacity, length; /* length may exceed capacity: the size of the whole text */
} ipt__text;

IPT__PRINTF(2, 3) static IPT__RARE void ipt__text_add(ipt__text *out, const char *format, ...)
{
    int added;
    const size_t room = out->length < out->capacity ? out->capacity - out->length : 0;
    va_list arguments;
    va_start(arguments, format);
    added = IPT__VSNPRINTF(room ? out->text + out->length : NULL, room, format, arguments);
    va_end(arguments);
    out->length += added > 0 ? (size_t)added : 0;
}

/* Adds the numbers that a kernel uses: "unit_bytes=4 tile=32". */
static IPT__RARE void ipt__params_print(ipt__text *out, const ipt__params *params, unsigned uses)
{
    const char *space = "";
    int i;
    for (i = 0; i < IPT__PARAM_COUNT; ++i)
        if (uses >> i & 1) {
            ipt__text_add(out, "%s%s=%u", space, ipt__param_rows[i].name, (unsigned)*ipt__param_at(params, i));
            space = " ";
        }
}

/* Adds the numbers and the expression, for messages and keys. (Program texts have only the numbers in a comment, which
 * an expression could end.) */
static IPT__RARE void ipt__params_describe(ipt__text *out, const ipt__params *params, unsigned uses)
{
    ipt__params_print(out, params, uses);
    if ((uses & IPT__USES_apply) && params->apply)
        ipt__text_add(out, " (%s: %s%s%s)", params->expression_type, params->expression,
                      params->argument_type ? ", a: " : "", params->argument_type ? params->argument_type : "");
}

/* Adds the definitions for an expression. Compilers refuse half without the pragma. Only kernels with
 * parameter `places` have the names of places: the definition for all kernels leaves x as it is then. */
static IPT__RARE void ipt__expression_print(ipt__text *out, const ipt__params *params)
{
    const unsigned needs = ipt__text_needs(params->expression, 0, NULL, NULL) |
                           ipt__text_needs(params->expression_type, 0, NULL, NULL) |
                           (params->argument_type ? ipt__text_needs(params->argument_type, 0, NULL, NULL) : 0);
    if (needs & IPT__NEEDS_HALF)
        ipt__text_add(out, "#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n");
    ipt__text_add(out, "#define IPT_EXPRESSION_TYPE %s\n#define %s (%s)\n", params->expression_type,
                  needs < IPT__NEEDS_BATCH ? "IPT_EXPRESSION"
                  : params->argument_type  ? "IPT_EXPRESSION ((void)a, x)\n#define IPT_EXPRESSION_AT"
                                           : "IPT_EXPRESSION x\n#define IPT_EXPRESSION_AT",
                  params->expression);
    if (params->argument_type)
        ipt__text_add(out, "#define IPT_EXPRESSION_ARGUMENT_TYPE %s\n", params->argument_type);
}

/* Adds the head of a program's text. It determines the text: it has the hashes of the kernel's arguments and file, and
 * of the parts that the file includes. So an edit of another part leaves the program's key as it is. */
static IPT__RARE void ipt__source_print_head(ipt__text *out, ipt__kernel_id id, const ipt__params *params)
{
    const ipt__kernel_info *const kernel = &ipt__kernels[id];
    const char *c;
    int i;
    ipt__text_add(out, "/* ipt %d.%d.%d", IPT_VERSION / 10000, IPT_VERSION / 100 % 100, IPT_VERSION % 100);
    for (i = 0; i < IPT__PART_COUNT; ++i)
        if (kernel->parts >> i & 1)
            ipt__text_add(out, ", %s %s", ipt__parts[i].file, ipt__parts[i].hash);
    ipt__text_add(out, ", %s %s: ", kernel->own.file, kernel->own.hash);
    ipt__params_print(out, params, kernel->uses);
    ipt__text_add(out, " */\n");
    for (i = 0; i < IPT__PARAM_COUNT; ++i)
        if (kernel->uses >> i & 1) {
            ipt__text_add(out, "#define IPT_");
            for (c = ipt__param_rows[i].name; *c; ++c)
                ipt__text_add(out, "%c", *c & '_'); /* its macro, in capitals */
            ipt__text_add(out, " %u\n", (unsigned)*ipt__param_at(params, i));
        }
    if (params->apply && (kernel->uses & IPT__USES_apply))
        ipt__expression_print(out, params);
    if (params->operands)
        ipt__text_add(out, "%s", params->operands);
}

#ifndef IPT_NO_KERNEL_SOURCE
/* Adds the character that a symbol of a packed text is, or the pair of symbols that it stands for. */
static void ipt__text_unpack(ipt__text *out, unsigned symbol)
{
    for (; symbol >= IPT__FIRST_PAIR; symbol = ipt__pairs[2 * (symbol - IPT__FIRST_PAIR) + 1])
        ipt__text_unpack(out, ipt__pairs[2 * (symbol - IPT__FIRST_PAIR)]);
    if (out->length + 1 < out->capacity) {
        out->text[out->length] = (char)symbol;
        out->text[out->length + 1] = 0;
    }
    ++out->length;
}

static void ipt__part_print(ipt__text *out, const ipt__part *part)
{
    const unsigned short *symbol;
    ipt__text_add(out, "#line 1 \"%s\"\n", part->file);
    for (symbol = part->text; *symbol; ++symbol)
        ipt__text_unpack(out, *symbol);
}

/* Adds the specialised text of one program. */
static IPT__RARE void ipt__source_print(ipt__text *out, ipt__kernel_id id, const ipt__params *params)
{
    int i;
    ipt__source_print_head(out, id, params);
    ipt__text_add(out, "#define IPT_ARGUMENT_LIST(X, D)%s\n", ipt__kernels[id].arguments);
    for (i = 0; i < IPT__PART_COUNT; ++i)
        if (ipt__kernels[id].parts >> i & 1)
            ipt__part_print(out, &ipt__parts[i]);
    if (params->action)
        ipt__text_add(out, "%s", params->action);
    ipt__part_print(out, &ipt__kernels[id].own);
}
#else
#define ipt__source_print ipt__source_print_head /* all that is left of a text */
#endif
