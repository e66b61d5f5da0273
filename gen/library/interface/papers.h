/* The papers: padding, and how they choose tiles, sequences and work-groups. */

/* Returns the rows and columns that IPT_PAD adds. Each matrix in the buffer has room for (rows + *rows) * (cols +
 * *cols) elements. Its content lies without gaps at the beginning, before and after. Both are 0 without IPT_PAD. */
IPT_API void ipt_plan_padding(const ipt_plan *plan, size_t *rows, size_t *cols);

#ifndef IPT_NO_PAPERS

/* ------------------------------------------------------------------------------------------------------------------ */
/* Heuristics: how the papers choose tiles, sequences and work-groups. Plans choose by their own model. Use these to
 * compare with it, and to force a paper's choice. They are pure functions of their arguments: they touch no device and
 * allocate nothing. Each takes microseconds (ipt_heuristic_divisors up to some 100). */
/* ------------------------------------------------------------------------------------------------------------------ */

/* The name in IPT_HEURISTIC_LIST, or "unknown". Never NULL. */
IPT_API const char *ipt_heuristic_string(ipt_heuristic heuristic);

/* The device facts that the heuristics need. OpenCL does not report the last two. */
typedef struct ipt_heuristic_device {
    size_t local_bytes; /* local memory of a compute unit, all of which one work-group may take */
    size_t max_group;   /* largest number of work-items in a work-group */
    size_t simd_width;  /* work-items in a SIMD unit: 32 on NVIDIA devices, 64 on AMD's, 1 on CPUs */
    size_t unit_items;  /* largest number of work-items in a compute unit; 0: 2048, that of the papers' Tesla K20 */
    size_t unit_groups; /* largest number of work-groups in a compute unit; 0: 16, that of the K20 */
} ipt_heuristic_device;

/* Chooses tile_m x tile_n elements for rows x cols elements of elem_size bytes. tile_m divides rows + pad_rows and
 * tile_n divides cols + pad_cols. Only algorithm 5 pads. L below is local_bytes / elem_size, the elements that local
 * memory holds (the papers' "local memory words"). The other bounds are elements too. The papers state them for 4
 * bytes; they hold for any elem_size here.
 * - SEED_000_RANGE: the pair of divisors in 50..100 with the largest product below L. Of equal products, the squarest.
 * - ALGORITHM_1: the largest divisor up to 72 of each side, even if the tile does not fit. 1 for primes above 72.
 * - ALGORITHM_2: divisors between 5 and 2560, both excluded (1 if there is none), with a product below L. Of these, the
 *   pair whose work-groups use the most local memory of a compute unit; of equal ones the first in ascending order. If
 *   no pair fits, the smallest divisors: the tile then exceeds local memory. The paper leaves the bounds open. These
 *   bounds give the two counts that it reports (2,235 and 2,926 of 5,000 matrices).
 * - ALGORITHM_5: the smallest divisor in 24..sqrt(L), sqrt(L) excluded, of each side. A side without one is padded by
 *   one at a time: at most 23 times. A side below sqrt(L) is not padded; the tile takes all of it. Gomez-Luna et al.
 *   2016, section 7.2, likewise pad only the long side of skinny matrices.
 * On failure the four results are 0. Errors: INVALID_ARGUMENT (zero, NULL, unknown), UNSUPPORTED (SEED_000_RANGE: no
 * such pair; ALGORITHM_5: L is 576 or less, or the padded side overflows). */
IPT_API ipt_result ipt_heuristic_tiles(ipt_heuristic heuristic, const ipt_heuristic_device *device, size_t rows,
                                       size_t cols, size_t elem_size, size_t *tile_m, size_t *tile_n, size_t *pad_rows,
                                       size_t *pad_cols);

/* Returns the sequence for such tiles (Gomez-Luna et al. 2016, section 5.4, algorithm 3). 2.1 if tile_m * cols is below
 * L (see above), else 2.2 if rows * tile_n is below L, else 3.1 if tile_m < tile_n, else 3.2. rows and cols include the
 * padding. AUTO if an argument is zero or NULL. */
IPT_API ipt_sequence ipt_heuristic_sequence(const ipt_heuristic_device *device, size_t rows, size_t cols,
                                            size_t elem_size, size_t tile_m, size_t tile_n);

/* Returns the throughput of `count` stages in sequence (Gomez-Luna et al. 2016, section 6.1, equation (2)). It is the
 * reciprocal of the sum of their reciprocals, in their unit (bytes per second, say). 0 if there are no stages, or if
 * one throughput is not above 0. */
IPT_API double ipt_heuristic_throughput(const double *stage_throughputs, size_t count);

/* Returns the number of work-items that should move one super-element of the given bytes (Gomez-Luna et al. 2016,
 * section 5.2). It is the smallest set in which each work-item has less than 3 words of 4 bytes. Sets are simd_width,
 * the powers of two from 8 up to simd_width, and those from 128 up to max_group. Below simd_width the result is a
 * virtual SIMD unit, at simd_width a SIMD unit. Above, it is a whole work-group, which needs barriers. 8 serve up to 23
 * words, 16 up to 47, 32 up to 95, 128 up to 383, and so on. The largest set serves all longer ones. 0 if an argument
 * is zero or NULL. */
IPT_API size_t ipt_heuristic_group_size(const ipt_heuristic_device *device, size_t super_element_bytes);

/* Returns the share of a compute unit's work-items that work-groups of group_size work-items and local_bytes of local
 * memory keep busy: 0 to 1. 0 if none fits or an argument is invalid. OpenCL does not report registers; the result
 * ignores them. */
IPT_API double ipt_heuristic_occupancy(const ipt_heuristic_device *device, size_t group_size, size_t local_bytes);

/* Returns the smallest work-group whose occupancy is at least `occupancy` (0 to 1; Ha et al. 2013, section III.E.1).
 * Candidates are multiples of the SIMD unit. A work-group of g work-items takes group_bytes + g * item_bytes of local
 * memory. If none suffices, the smallest of those with the highest occupancy. 0 if none fits or an argument is
 * invalid. */
IPT_API size_t ipt_heuristic_smallest_group(const ipt_heuristic_device *device, size_t group_bytes, size_t item_bytes,
                                            double occupancy);

/* Splits a work-group of group_size work-items into x (along a row) times y (Ha et al. 2013, section III.E.2). x is a
 * multiple of 32 bytes of elements (8 of 4 bytes, 4 of 8). The shape is as near a square as that allows; of two, the
 * wider one. If no such x divides group_size, one row. x and y are 0 if an argument is zero. */
IPT_API void ipt_heuristic_group_shape(size_t group_size, size_t elem_size, size_t *x, size_t *y);

/* Returns how to distribute a batch (Ha et al. 2013, section III.D). 1: a work-group takes one block of every matrix.
 * 0: it takes all blocks of one matrix. The choice with more work-groups wins. In a tie the result is 0. */
IPT_API int ipt_heuristic_by_block(size_t batch, size_t blocks_per_matrix);

/* Lists all divisors of side, ascending, 1 and side included: for brute force over all tiles. Writes at most capacity
 * of them to divisors (may be NULL if capacity is 0). Returns their total number: at most 1920 below 2^32. 0 for 0. The
 * time is proportional to the square root of side. */
IPT_API size_t ipt_heuristic_divisors(size_t side, size_t *divisors, size_t capacity);

#endif
