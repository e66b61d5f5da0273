/* The planner's input. */

/* A cooperative kernel that a plan may use: of panels, or of bands. */
typedef struct ipt__cooperative_kernel {
    size_t resident; /* concurrent work-groups; 0: the plan may not use it */
    size_t local_bytes, group_size;
    int tall, narrow, by_words;
} ipt__cooperative_kernel;

/* What the planner decides from: all of it is known before the first decision, and no decision changes it. */
typedef struct ipt__problem {
    ipt_plan_desc desc;              /* checked; batch, batch_stride and padding completed */
    ipt__limits limits;              /* of the device */
    size_t refused_bytes;            /* smallest local memory that failed to build; 0: none */
    size_t matrix_bytes, span_bytes; /* of one matrix; from the first byte of the batch to its last */
    size_t unit_bytes, element_units;
    size_t pad_rows, pad_cols; /* included in desc.rows and desc.cols */
    ipt__cooperative_kernel panel, exchange;
} ipt__problem;

/* Whether the move is a transposition that also reverses rows, or their sequence. */
static int ipt__problem_rotates(const ipt__problem *problem)
{
    const ipt__move *const move = &ipt__moves[problem->desc.move];
    return move->transposed && (move->reversed_rows || move->reversed_cols);
}

/* Whether a square matrix takes the swap kernel at once. GPUs move other elements faster on the chip, or by bands: an
 * H200 moved 4096 x 4096 elements of 3 bytes at SWAP3 of the copy, by bands at BANDS3. */
static int ipt__problem_swaps(const ipt__problem *problem)
{
    return problem->desc.rows == problem->desc.cols && !ipt__problem_rotates(problem) &&
           (problem->limits.cpu || (problem->element_units == 1 && problem->unit_bytes >= 4));
}

static int ipt__problem_refuses(const ipt__problem *problem, size_t local_bytes)
{
    return problem->refused_bytes && local_bytes >= problem->refused_bytes;
}
