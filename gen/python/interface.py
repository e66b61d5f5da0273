"""What the extension module declares of ipt.h, for cffi. Run by setup.py."""
from pathlib import Path

from cffi import FFI

HERE = Path(__file__).resolve().parent
# The repository's top has the headers; a source distribution has its own copies.
HEADERS = HERE if (HERE / "ipt.h").exists() else HERE.parent.parent

builder = FFI()
builder.cdef("""
typedef ... *cl_context;
typedef ... *cl_device_id;
typedef ... *cl_command_queue;
typedef ... *cl_mem;
typedef ... *cl_event;
typedef unsigned int cl_uint;
typedef enum { IPT_SUCCESS, IPT_ERROR_CANCELLED, ... } ipt_result;
typedef enum { IPT_MOVE_TRANSPOSE, ... } ipt_move;
#define IPT_MAX_RANK ...
#define IPT_MEASURE ...
#define IPT_NO_COOPERATIVE ...

typedef struct ipt_context ipt_context;
typedef struct {
    cl_context context;
    cl_device_id device;
    const char *device_name;
    const char *cache_dir;
    ...;
} ipt_context_desc;
typedef struct ipt_plan ipt_plan;
typedef struct {
    size_t rows, cols, elem_size, batch, batch_stride;
    unsigned flags;
    size_t max_workspace;
    ipt_move move;
    const char *expression;
    const char *expression_type;
    size_t max_device_memory;
    size_t row_pitch, row_pitch_out;
    unsigned rank;
    size_t shape[16];
    unsigned axes[16];
    ...;
} ipt_plan_desc;
typedef struct {
    int (*progress)(size_t done, size_t total, void *user);
    void *user;
    ...;
} ipt_host_options;

int ipt_version(void);
const char *ipt_result_string(ipt_result result);
const char *ipt_move_string(ipt_move move);
ipt_result ipt_context_create(const ipt_context_desc *desc, ipt_context **context);
const char *ipt_context_error(const ipt_context *context);
cl_context ipt_context_cl_context(const ipt_context *context);
cl_device_id ipt_context_cl_device(const ipt_context *context);
ipt_result ipt_device_describe(cl_device_id device, char *text, size_t capacity);
ipt_result ipt_wisdom_export(ipt_context *context, char *text, size_t capacity, size_t *bytes);
ipt_result ipt_wisdom_import(ipt_context *context, const char *text);
ipt_result ipt_plan_create(ipt_context *context, const ipt_plan_desc *desc, ipt_plan **plan);
ipt_result ipt_plan_execute(ipt_plan *plan, cl_command_queue queue, cl_mem buffer, size_t byte_offset,
                            cl_uint num_wait_events, const cl_event *wait_events, cl_event *event);
ipt_result ipt_plan_execute_cuda(ipt_plan *plan, unsigned long long address, void *stream);
ipt_result ipt_plan_execute_cuda_out_of_place(ipt_plan *plan, unsigned long long source,
                                              unsigned long long destination, void *stream);
ipt_result ipt_plan_execute_host_with(ipt_plan *plan, void *data, const ipt_host_options *options);
size_t ipt_plan_workspace(const ipt_plan *plan);
const char *ipt_plan_describe(const ipt_plan *plan);

typedef enum { IPT_ACTION_NONE, ... } ipt_action;
typedef enum { IPT_READ, IPT_WRITE, IPT_READ_WRITE, ... } ipt_access;
typedef enum { IPT_LAYOUT_ELEMENTS, IPT_LAYOUT_PLANES, ... } ipt_layout;
#define IPT_TRANSPOSE_A ...
#define IPT_TRANSPOSE_B ...
#define IPT_CONJUGATE_A ...
#define IPT_CONJUGATE_B ...
#define IPT_UPPER ...
#define IPT_UNIT ...
typedef struct {
    const char *name;
    const char *type;
    size_t rows, cols;
    ipt_access access;
    ipt_layout layout;
    size_t stride;
    ...;
} ipt_batch_operand;
typedef struct {
    size_t count;
    const ipt_batch_operand *operands;
    size_t operand_count;
    ipt_action ready;
    unsigned options;
    const char *argument_type;
    ...;
} ipt_batch_desc;
typedef struct ipt_batch ipt_batch;
const char *ipt_action_string(ipt_action action);
ipt_result ipt_batch_create(ipt_context *context, const ipt_batch_desc *desc, ipt_batch **batch);
ipt_result ipt_batch_execute_host(ipt_batch *batch, void *const *memory, const void *argument,
                                  const ipt_host_options *options);
ipt_result ipt_batch_execute_cuda_with(ipt_batch *batch, const unsigned long long *addresses, const void *argument,
                                       void *stream);

int ipt_py_forked;
void ipt_py_context_end(ipt_context *context);
void ipt_py_plan_end(ipt_plan *plan);
void ipt_py_batch_end(ipt_batch *batch);
int ipt_py_is_native(const ipt_context *context);
cl_device_id ipt_py_device(const ipt_context *context);
int ipt_py_cuda_device(unsigned long long address);
int ipt_py_cuda_captures(void *stream);
int ipt_py_cuda_follow(const ipt_context *context, void *stream, void *former);
extern const char *const ipt_py_operands[...];

typedef struct {
    void *data;
    int32_t device_type, device_id, ndim;
    uint8_t code, bits;
    uint16_t lanes;
    int64_t *shape, *strides;
    uint64_t byte_offset;
} ipt_dl_tensor;
typedef struct {
    ipt_dl_tensor tensor;
    ...;
} ipt_dl_plain;
typedef struct {
    uint32_t major;
    uint64_t flags;
    ipt_dl_tensor tensor;
    ...;
} ipt_dl_versioned;
typedef struct {
    ipt_dl_plain *plain;
    ipt_dl_versioned *versioned;
    ...;
} ipt_dl_import;
void ipt_dl_release(ipt_dl_import *import);
uintptr_t ipt_dl_take_address(void);
uintptr_t ipt_dl_export_address(void);

extern "Python" int ipt_progress(size_t done, size_t total, void *user);
""")
builder.set_source(
    "ipt._ipt",
    """
#define IPT_IMPLEMENTATION
#define IPT_CUDA
#define IPT_OPENCL_DYNAMIC /* works without OpenCL, and needs none of its files to be compiled */
#include "ipt.h"
#include "dlpack.h"
#include "process.h"
""",
    include_dirs=[str(HEADERS), str(HERE)],
    depends=[str(HEADERS / "ipt.h"), str(HEADERS / "ipt_kernels.h"), str(HERE / "dlpack.h"),
             str(HERE / "process.h")],
    libraries=["dl", "pthread"],
)
