/* Agreement of all ranks on results, and MPI's errors. */

/* Removes the proposal from the last failure, because it is about one local plan. Returns the failure. */
static IPT__RARE ipt_result ipt__drop_advice(ipt_result result)
{
    if (result && ipt__advised.enough)
        ipt__error_text[ipt__advised.begin] = 0;
    ipt__advised.enough = 0;
    return result;
}

struct ipt_mpi_plan {
    ipt_context *context;
    MPI_Comm communicator; /* a duplicate */
    ipt_mpi_desc desc;     /* without the counts, which shape has */
    ipt__mpi_shape shape;
    struct ipt__mpi_local *locals; /* see ipt__mpi_make_locals */
    int local_count;
    ipt__workspace *workspaces; /* of the local plans: one for each device of split, else one */
    size_t workspace_count;
    size_t patch_side; /* elements; 0: the matrix is not square. See mpi/square.h */
    char *window;      /* memory for messages from ipt_host_alloc; on the host also with device_window */
    int depth;         /* messages in flight, in each direction */
    cl_mem device_window;
    char *device_address; /* the address of device_window for MPI */
    cl_command_queue reads, writes;
    char *second;         /* IPT_MPI_BUFFERED: a block in host memory */
    int *numbers;         /* IPT_MPI_BUFFERED: counts and offsets of MPI_Alltoallv */
    MPI_Datatype element; /* IPT_MPI_BUFFERED: MPI's type of an element */
    char *description;
};

/* Fails with the text of an MPI error. */
static IPT__RARE ipt_result ipt__fail_mpi(const char *call, int error)
{
    char text[MPI_MAX_ERROR_STRING + 1] = "";
    int length = 0;
    if (MPI_Error_string(error, text, &length))
        length = 0;
    text[length] = 0;
    return ipt__fail(IPT_ERROR_MPI, "%s failed with %d: %s", call, error, text);
}

/* Returns the worst result of all ranks on each rank. All ranks call it. The error text names the failing rank. */
static ipt_result ipt__mpi_agree(MPI_Comm communicator, ipt_result result)
{
    struct {
        int severity, rank;
    } own, worst;
    char text[IPT__CAUSE_BYTES];
    int code = (int)result, error;
    ipt__keep_cause(text);
    own.severity = result == IPT_ERROR_INCOMPLETE ? (int)IPT__RESULT_COUNT : (int)result; /* content is lost */
    error = MPI_Comm_rank(communicator, &own.rank);
    if (!error)
        error = MPI_Allreduce(&own, &worst, 1, MPI_2INT, MPI_MAXLOC, communicator);
    if (error)
        return ipt__fail_mpi("MPI_Allreduce", error);
    if (!worst.severity)
        return IPT_SUCCESS;
    error = MPI_Bcast(&code, 1, MPI_INT, worst.rank, communicator);
    if (!error)
        error = MPI_Bcast(text, (int)sizeof text, MPI_CHAR, worst.rank, communicator);
    if (error)
        return ipt__fail_mpi("MPI_Bcast", error);
    text[sizeof text - 1] = 0;
    return ipt__fail((ipt_result)code, "rank %d of the communicator: %s", worst.rank, text);
}

/* Fails on all ranks if they pass different numbers. message: the error text. */
static ipt_result ipt__mpi_agree_on(MPI_Comm communicator, const cl_ulong *numbers, int count, const char *message)
{
    enum { MOST = 16 };
    cl_ulong both[2 * MOST], most[2 * MOST];
    int i, error;
    for (i = 0; i < count; ++i) {
        both[i] = numbers[i];
        both[count + i] = ~numbers[i];
    }
    error = MPI_Allreduce(both, most, 2 * count, MPI_UINT64_T, MPI_MAX, communicator);
    if (error)
        return ipt__fail_mpi("MPI_Allreduce", error);
    for (i = 0; i < count; ++i)
        if (most[i] != ~most[count + i])
            return ipt__fail(IPT_ERROR_INVALID_ARGUMENT, "%s", message);
    return IPT_SUCCESS;
}
