/* DLPack for the extension module: imports tensors of other packages, and exports their memory again. The structs are
 * those of DLPack 1. ctypes calls two of the functions, which take or return a PyObject: cffi cannot pass it. They hold
 * the GIL. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    void *data; /* OpenCL: a cl_mem */
    int32_t device_type, device_id, ndim;
    uint8_t code, bits;
    uint16_t lanes;
    int64_t *shape, *strides; /* strides in elements; NULL: C order */
    uint64_t byte_offset;
} ipt_dl_tensor;

typedef struct ipt_dl_plain {
    ipt_dl_tensor tensor;
    void *owner;
    void (*deleter)(struct ipt_dl_plain *self);
} ipt_dl_plain;

typedef struct ipt_dl_versioned {
    uint32_t major, minor;
    void *owner;
    void (*deleter)(struct ipt_dl_versioned *self);
    uint64_t flags; /* 1: read-only, 2: a copy */
    ipt_dl_tensor tensor;
} ipt_dl_versioned;

/* A tensor of another package, which the last user returns. The GIL guards the count. */
typedef struct {
    size_t users;
    ipt_dl_plain *plain; /* one of the two */
    ipt_dl_versioned *versioned;
} ipt_dl_import;

/* Ends a use of an import. Takes the GIL, which deleters of other packages may need. */
static void ipt_dl_release(ipt_dl_import *import)
{
    const PyGILState_STATE state = PyGILState_Ensure();
    if (--import->users == 0) {
        if (import->plain && import->plain->deleter)
            import->plain->deleter(import->plain);
        if (import->versioned && import->versioned->deleter)
            import->versioned->deleter(import->versioned);
        free(import);
    }
    PyGILState_Release(state);
}

/* Consumes a capsule. NULL with an exception: it is consumed already, or no capsule of DLPack. */
static ipt_dl_import *ipt_dl_take(PyObject *capsule)
{
    const int is_versioned = PyCapsule_IsValid(capsule, "dltensor_versioned");
    void *const managed = PyCapsule_GetPointer(capsule, is_versioned ? "dltensor_versioned" : "dltensor");
    ipt_dl_import *import = managed ? (ipt_dl_import *)calloc(1, sizeof *import) : NULL;
    if (!import) {
        if (managed)
            PyErr_NoMemory();
        return NULL;
    }
    if (PyCapsule_SetName(capsule, is_versioned ? "used_dltensor_versioned" : "used_dltensor")) {
        free(import);
        return NULL;
    }
    import->users = 1;
    if (is_versioned)
        import->versioned = (ipt_dl_versioned *)managed;
    else
        import->plain = (ipt_dl_plain *)managed;
    return import;
}

static void ipt_dl_end_plain(ipt_dl_plain *self)
{
    ipt_dl_release((ipt_dl_import *)self->owner);
    free(self);
}

static void ipt_dl_end_versioned(ipt_dl_versioned *self)
{
    ipt_dl_release((ipt_dl_import *)self->owner);
    free(self);
}

/* Ends a capsule that no package has consumed. */
static void ipt_dl_end_capsule(PyObject *capsule)
{
    if (PyCapsule_IsValid(capsule, "dltensor"))
        ipt_dl_end_plain((ipt_dl_plain *)PyCapsule_GetPointer(capsule, "dltensor"));
    else if (PyCapsule_IsValid(capsule, "dltensor_versioned"))
        ipt_dl_end_versioned((ipt_dl_versioned *)PyCapsule_GetPointer(capsule, "dltensor_versioned"));
}

/* Returns a capsule of the import's memory, which `tensor` describes. It is a user of the import. Copies the tensor's
 * sizes. */
static PyObject *ipt_dl_export(ipt_dl_import *import, const ipt_dl_tensor *tensor, int is_versioned)
{
    const size_t head = is_versioned ? sizeof(ipt_dl_versioned) : sizeof(ipt_dl_plain);
    const size_t bytes = (size_t)tensor->ndim * sizeof(int64_t);
    char *const managed = (char *)calloc(1, head + 2 * bytes); /* sizeof is a multiple of int64_t's alignment */
    ipt_dl_tensor *made = (ipt_dl_tensor *)managed;
    PyObject *capsule;
    if (!managed)
        return PyErr_NoMemory();
    if (is_versioned) {
        ipt_dl_versioned *const versioned = (ipt_dl_versioned *)managed;
        versioned->major = 1;
        versioned->owner = import;
        versioned->deleter = ipt_dl_end_versioned;
        made = &versioned->tensor;
    } else {
        ((ipt_dl_plain *)managed)->owner = import;
        ((ipt_dl_plain *)managed)->deleter = ipt_dl_end_plain;
    }
    *made = *tensor;
    made->shape = (int64_t *)(managed + head);
    made->strides = made->shape + tensor->ndim;
    memcpy(made->shape, tensor->shape, bytes);
    memcpy(made->strides, tensor->strides, bytes);
    ++import->users;
    capsule = PyCapsule_New(managed, is_versioned ? "dltensor_versioned" : "dltensor", ipt_dl_end_capsule);
    if (!capsule) {
        --import->users;
        free(managed);
    }
    return capsule;
}

/* Addresses for ctypes. */
static uintptr_t ipt_dl_take_address(void)
{
    return (uintptr_t)ipt_dl_take;
}

static uintptr_t ipt_dl_export_address(void)
{
    return (uintptr_t)ipt_dl_export;
}
