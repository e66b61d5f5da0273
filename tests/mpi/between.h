/* A layer between ipt and MPI for tests, by MPI's profiling interface. Waiting calls yield the processor: with more
 * ranks than processors, MPICH would spin through each time slice. Too long a wait ends the program. A test can make a
 * call fail, and cut a message. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { BETWEEN_SECONDS = 60, BETWEEN_POLLS = 20, BETWEEN_EXIT_HANG = 99 };

static struct between {
    const char *failing; /* the name of the call that fails, NULL: none */
    long countdown;      /* the number of the failing call, counted from 1 */
    long cut;            /* the message of this number loses its last byte; 0: none */
} between;

/* Returns the error that this call reports, or MPI_SUCCESS. */
static int between_fails(const char *name)
{
    return between.failing && !strcmp(name, between.failing) && --between.countdown == 0 ? MPI_ERR_OTHER : MPI_SUCCESS;
}

static int between_wait(MPI_Request *request, MPI_Status *status, const char *name)
{
    const time_t begin = time(NULL);
    const struct timespec pause = {0, 20000};
    long polls;
    int done = 0, error;
    for (polls = 0;; ++polls) {
        error = PMPI_Test(request, &done, status);
        if (error || done)
            return error;
        if (polls < BETWEEN_POLLS)
            continue;
        if (time(NULL) - begin > BETWEEN_SECONDS) {
            fprintf(stderr, "%s hangs\n", name);
            _Exit(BETWEEN_EXIT_HANG);
        }
        nanosleep(&pause, NULL);
    }
}

int MPI_Wait(MPI_Request *request, MPI_Status *status)
{
    const int error = between_wait(request, status, "MPI_Wait"), planted = between_fails("MPI_Wait");
    return error ? error : planted;
}

int MPI_Isend(const void *memory, int count, MPI_Datatype type, int to, int tag, MPI_Comm communicator,
              MPI_Request *request)
{
    const int planted = between_fails("MPI_Isend");
    const int error =
        PMPI_Isend(memory, between.cut && --between.cut == 0 ? count - 1 : count, type, to, tag, communicator, request);
    return error ? error : planted;
}

int MPI_Irecv(void *memory, int count, MPI_Datatype type, int from, int tag, MPI_Comm communicator,
              MPI_Request *request)
{
    const int planted = between_fails("MPI_Irecv");
    const int error = PMPI_Irecv(memory, count, type, from, tag, communicator, request);
    return error ? error : planted;
}

int MPI_Allreduce(const void *sent, void *received, int count, MPI_Datatype type, MPI_Op operation,
                  MPI_Comm communicator)
{
    MPI_Request request;
    const int error = PMPI_Iallreduce(sent, received, count, type, operation, communicator, &request);
    return error ? error : between_wait(&request, MPI_STATUS_IGNORE, "MPI_Allreduce");
}

int MPI_Bcast(void *memory, int count, MPI_Datatype type, int root, MPI_Comm communicator)
{
    MPI_Request request;
    const int error = PMPI_Ibcast(memory, count, type, root, communicator, &request);
    return error ? error : between_wait(&request, MPI_STATUS_IGNORE, "MPI_Bcast");
}

int MPI_Alltoallv(const void *sent, const int *counts, const int *places, MPI_Datatype type, void *received,
                  const int *counts_received, const int *places_received, MPI_Datatype type_received,
                  MPI_Comm communicator)
{
    MPI_Request request;
    const int planted = between_fails("MPI_Alltoallv");
    int error = PMPI_Ialltoallv(sent, counts, places, type, received, counts_received, places_received, type_received,
                                communicator, &request);
    error = error ? error : between_wait(&request, MPI_STATUS_IGNORE, "MPI_Alltoallv");
    return error ? error : planted;
}

int MPI_Comm_dup(MPI_Comm communicator, MPI_Comm *made)
{
    MPI_Request request;
    const int error = PMPI_Comm_idup(communicator, made, &request);
    return error ? error : between_wait(&request, MPI_STATUS_IGNORE, "MPI_Comm_dup");
}

int MPI_Barrier(MPI_Comm communicator)
{
    MPI_Request request;
    const int error = PMPI_Ibarrier(communicator, &request);
    return error ? error : between_wait(&request, MPI_STATUS_IGNORE, "MPI_Barrier");
}
