/* Memory and streams of CUDA: plans of a context with desc.driver = IPT_DRIVER_CUDA. An address is a CUdeviceptr, a
 * stream a CUstream or cudaStream_t of the context; NULL is the default stream. Without IPT_CUDA in the implementation
 * the functions return UNSUPPORTED.
 *   A stream's order is the only order: the commands follow what the stream has, and what comes later follows them. The
 * functions never block, allocate nothing and return no event. Executions of one plan share its workspace: the second
 * waits for the first on the device, on any stream.
 *   A graph that captures the stream takes the commands, and may be launched any number of times. The caller orders its
 * launches and other executions of the same plan, which share the workspace. The plan then clears its counters before
 * each execution.
 *   ipt cannot see how many bytes an address has. A failure on the device shows at the program's next call of CUDA. */

/* Enqueues the transposition of the batch at an address, as ipt_plan_execute. The address is a multiple of the largest
 * power of two that divides elem_size (16 at most). Errors: as ipt_plan_execute, and UNSUPPORTED (a context of another
 * driver). */
IPT_API ipt_result ipt_plan_execute_cuda(ipt_plan *plan, unsigned long long address, void *stream);

/* Enqueues the transposition from source to destination, as ipt_plan_execute_out_of_place. */
IPT_API ipt_result ipt_plan_execute_cuda_out_of_place(ipt_plan *plan, unsigned long long source,
                                                      unsigned long long destination, void *stream);

#ifndef IPT_NO_BATCH
/* Enqueues a batch's action, as ipt_batch_execute: one address for each operand, multiples of the bytes of the
 * operand's type (of 16 where it is loaded in vectors, which an error names). argument: NULL without argument_type. */
IPT_API ipt_result ipt_batch_execute_cuda_with(ipt_batch *batch, const unsigned long long *addresses,
                                               const void *argument, void *stream);

/* ipt_batch_execute_cuda_with without an argument. */
IPT_API_INLINE ipt_result ipt_batch_execute_cuda(ipt_batch *batch, const unsigned long long *addresses, void *stream)
{
    return ipt_batch_execute_cuda_with(batch, addresses, NULL, stream);
}
#endif
