/* The numbers that were fitted to devices. Every part reads them here; gen/embed.c refuses a row that no part reads.
 *
 * Cost, the unit of all models but that of batches: bytes that a copy moves in the same time. It follows equation (2)
 * of Gomez-Luna et al., TPDS 2016: factor * bytes of all matrices + launches * launch. A factor is the reciprocal of a
 * share of the copy's speed. A step is divided by the bytes of a run, chunk or super-element and added to a factor.
 *
 * Where a number was measured: H on NVIDIA's H200 or H100, P by PoCL with two cores, with the day of November 2026 by
 * which it had its value. Other GPUs, also those that share memory with their host, take the numbers of H. NVIDIA: of
 * its GPUs, documented. KERNEL: as in the kernels. TIME: bounds a search. */
typedef size_t ipt__speed_bytes, ipt__speed_count;
typedef double ipt__speed_factor, ipt__speed_step, ipt__speed_share;

/* What differs between GPUs and CPUs, or one of them lacks (0): X(unit, name, gpu, cpu, where, meaning) */
#define IPT__TUNING_LIST(X)                                                                                            \
    X(count, run, 16, 8192, H22_P22, "elements, or pairs of them, per work-item (GPU) or work-group (CPU)")            \
    X(bytes, move_bytes, 16384, 32768, H23_P23, "runs of bands in waves that a work-group moves at once")              \
    X(bytes, piece_bytes, 1024, 16384, H22_P22, "of a super-element per work-group: short on GPUs, for many chains")   \
    X(bytes, tile_bytes, ~(size_t)0, 1 << 15, H22_P22, "most local memory of a tile: on CPUs the nearest cache")       \
    X(bytes, slab_bytes, 32 << 20, 4 << 20, H22_P22, "slabs in the last cache cost no memory traffic")                 \
    X(bytes, pairs_bytes, 128, 384, H25_P25, "super-elements of squares from which on they change places in pairs")    \
    X(count, shuffle_groups, 32, 4, H22_P22, "work-groups of shuffles for each compute unit")                          \
    X(count, inner_groups, 64, 4, H25_P25, "those of shuffles that also transpose super-elements")                     \
    X(count, pairs_groups, 1 << 24, 16, H25_P25, "those of pairs")                                                     \
    X(factor, launch, 2e7, 2e5, H22_P22, "bytes that a copy moves during a launch")                                    \
    X(factor, two_passes, 2.2, 2.2, H23, "no two passes cost less")                                                    \
    X(factor, tile, 2, 2, H22_P22, "tiles")                                                                            \
    X(factor, swap, 2.4, 4, H22_P22, "swapped tiles")                                                                  \
    X(factor, swap_units, 5, 4, H24_P24, "swapped tiles of elements of several units, or of short units")              \
    X(factor, wave, 4.3, 1.8, H22_P22, "panels in waves")                                                              \
    X(factor, saved, 2, 2, H22, "saved or restored rows, which are short and far apart")                               \
    X(factor, flip, 1.1, 1.1, H24_P24, "rows, or their sequence, that are reversed")                                   \
    X(step, shuffle_overhead, 750, 300, H22_P22, "shuffles, beside 1, by the super-element")                           \
    X(factor, shuffle_inner, 3, 1.4, H25_P25, "shuffles that also transpose super-elements")                           \
    X(factor, pairs, 1.2, 1.0, H25_P25, "squares whose super-elements change places in pairs")                         \
    X(factor, pairs_inner, 1.5, 1.2, H25_P25, "pairs of super-elements that are also transposed")                      \
    X(share, gapped, 1.1, 1.15, H22_P22, "of waves and shuffles: unaligned slots touch one more sector")               \
    X(share, narrow, 0.5, 0.1, H22_P22, "each further unit in a word, of units that cannot move by words")             \
    X(factor, bands, 6.8, 1.3, H23_P23, "bands in waves")                                                              \
    X(step, bands_step, 200, 50, H23_P23, "bands in waves, by the run")                                                \
    X(factor, bands_units, 0, 1.3, P25, "added for elements of several units: their tiles move unit by unit")          \
    X(factor, shared, 0, 0.8, P25, "bands in waves that share a launch")                                               \
    X(step, shared_step, 0, 80, P25, "these, by the run")                                                              \
    X(step, columns_step, 0, 160, P28, "these, with permuted columns, whose neighbours are far apart")                 \
    X(bytes, waves_piece, 0, 131072, P25, "runs that a work-group of these moves at once")                             \
    X(factor, together, 1.31, 0, H24, "cooperative bands")                                                             \
    X(step, together_piece, 26, 0, H24, "these, by a chunk's row")                                                     \
    X(step, wide_piece, 42, 0, H28, "wide ones, by a chunk's row")                                                     \
    X(factor, together_band, 1e6, 0, H28, "bytes that a copy moves in the least time of a tall band")                  \
    X(step, together_run, 267, 0, H24, "these, by the run")                                                            \
    X(share, together_turn, 0.5, 0, H24, "of together_run, for each further turn of a run")                            \
    X(factor, together_fill, 0.33, 0, H24, "by the share of resident work-groups that a band needs beyond it")         \
    X(share, together_free, 0.35, 0, H24, "of the resident work-groups: fewer cost nothing")                           \
    X(factor, together_ranges, 0.073, 0, H24,                                                                          \
      "each further range that a tall chunk has columns of: bands wait longer")                                        \
    X(factor, together_gapped, 0.05, 0, H24, "runs that cut memory sectors")                                           \
    X(step, blocks_piece, 42, 0, H24, "blocks of words, by a chunk's row and the units of an element")                 \
    X(step, blocks_run, 200, 0, H24, "blocks of words, by the run")                                                    \
    X(factor, blocks_turn, 0.28, 0, H24, "the share of words that a run lacks in its last turn")                       \
    X(share, blocks_refused, 1.5, 0, H24, "of bands whose runs are no whole words, though rows are")                   \
    X(factor, panel, 1.15, 0, H22, "panels")                                                                           \
    X(step, tall_cut, 47, 0, H22, "sectors that the edges of tall chunks cut, by each side of a chunk")                \
    X(step, wide_cut, 17, 0, H22, "sectors that the edges of wide chunks cut")                                         \
    X(factor, panel_wait, 8e-9, 0, H22, "each byte of a panel whose work-groups wait")                                 \
    X(share, panel_unread, 0.8, 0, H22, "of these waits, saved by slots that reach into the panel before")             \
    X(share, panel_split, 1.2, 0, H22, "by which a split along the long side must gain: its chunks share slots")       \
    X(step, narrow_step, 95, 0, H22, "narrow panels, by the super-element")                                            \
    X(factor, no_wait, 0.08, 0, H22, "taken from narrow panels without waits")                                         \
    X(factor, chains, 1.01, 0, H22, "chains")                                                                          \
    X(step, chains_step, 137, 0, H22, "chains, by the piece")                                                          \
    X(factor, cut, 0.19, 0, H22, "slots off lines of memory")                                                          \
    X(step, cut_step, 4, 0, H22, "these, by the piece")                                                                \
    X(factor, idle, 0.05, 0, H22, "the unused share of a chain's length class")                                        \
    X(share, pass_small, 0.92, 0.70, H25_P25, "copy's speed of an array's pass whose instances fit local memory each") \
    X(share, pass_small_short, 0.70, 0.70, H28,                                                                        \
      "elements below a word, in packed instances of IPT__PASS_SHORT bytes at least")                                  \
    X(share, pass_small_few, 0.45, 0.70, H29, "these, if a compute unit holds fewer than eight")                       \
    X(share, pass_small_one, 0.40, 0.70, H29, "or one")                                                                \
    X(share, pass_long, 0.70, 0.95, H28_P25, "elements of IPT__PASS_LONG bytes at least")                              \
    X(share, pass_long_on_chip, 0.57, 0.95, H27_P25, "these, in instances that fit the chip")                          \
    X(share, pass_long_halves, 0.57, 0.95, H28, "these, if their units have two bytes")                                \
    X(share, pass_long_bytes, 0.10, 0.95, H28, "or one byte")                                                          \
    X(share, pass_thin, 0.38, 0.70, H25_P25, "a side of less than IPT__LINE_BYTES")                                    \
    X(share, pass_thin_short, 0.37, 0.70, H28, "the same, of short units and instances that do not fit the chip")      \
    X(share, pass_several, 0.70, 0.50, H27_P25, "several instances that do not fit the chip")                          \
    X(share, pass_stretched, 0.42, 0.65, H27_P25, "one instance, pass_stretched_from times as long as wide")           \
    X(share, pass_stretched_units, 0.50, 0.65, H28_P25, "the same, elements of IPT__LINE_BYTES at least")              \
    X(factor, pass_stretched_from, 200, 1024, H27_P25, "the long side of such an instance, in short ones")             \
    X(share, pass_on_chip, 0.75, 0.90, H27_P25, "instances that fit the chip each")                                    \
    X(share, pass_large, 0.58, 0.90, H25_P25, "one instance that does not")                                            \
    X(share, pass_large_bytes, 0.35, 0, H28, "the same, of units of a byte")                                           \
    X(share, pass_huge, 0.58, 0.40, H25_P25, "one instance of more than IPT__PASS_HUGE bytes")                         \
    X(share, pass_boxes, 0.65, 0.1, H27,                                                                               \
      "an array by boxes, all of which the chip holds, of units of a word at least")                                   \
    X(share, pass_boxes_short, 0.55, 0.1, H27, "the same, of shorter units, whose runs are whole words")               \
    X(share, pass_boxes_cut, 0.45, 0.1, H27, "the same, of runs that begin and end within words")                      \
    X(share, pass_columns, 0.68, 0.1, H27, "an array whose first axis becomes the last one, by bands of long runs")    \
    X(share, pass_rows, 0.50, 0.1, H27, "an array whose last axis becomes the first one")                              \
    X(share, pass_columns_units, 0.70, 1, H28, "of these, elements of several units below IPT__PASS_LONG")             \
    X(share, pass_double, 0.45, 0.70, H25_P25, "a pass that also transposes its elements")                             \
    X(share, pass_double_short, 0.25, 0.70, H28, "the same, of units shorter than a word")                             \
    X(share, pass_pairs, 0.70, 0.70, H25_P25, "a double pass over squares")                                            \
    X(factor, bus_blocks, 1.2, 1.2, H24, "bytes that cross the bus by blocks")                                         \
    X(factor, bus_blocks_ends, 0.5, 0.5, H24, "of a matrix: the first and last quarters move one way alone")           \
    X(factor, bus_bands, 2, 2, H24, "bytes of a matrix that crosses the bus by bands, both ways")                      \
    X(step, bus_run, 6000, 6000, H24, "half of the runs cross the bus again, by the run and bus_run_more bytes")       \
    X(bytes, bus_run_more, 2200, 2200, H24, "added to the run")                                                        \
    X(factor, bus_bands_ends, 3.6, 3.6, H24, "of a band: the first and last ones move one way alone")                  \
    X(share, batch_width, 1900, 1900, H26, "work-items that a compute unit executes in the time of one")               \
    X(share, batch_far, 10, 10, H26, "turns of a batch whose work-items read far from one another in the buffers")     \
    X(share, batch_far_once, 3.4, 3.4, H26, "each component is read once, and strides share no sets")

typedef struct ipt__tuning {
#define IPT__TUNING_FIELD(unit, name, gpu, cpu, where, meaning) ipt__speed_##unit name;
    IPT__TUNING_LIST(IPT__TUNING_FIELD)
} ipt__tuning;

/* By limits->cpu: see ipt__tuning_of. Cooperative kernels run on GPUs alone. */
static const ipt__tuning ipt__tunings[2] = {
#define IPT__TUNING_GPU(unit, name, gpu, cpu, where, meaning) gpu,
#define IPT__TUNING_CPU(unit, name, gpu, cpu, where, meaning) cpu,
    {IPT__TUNING_LIST(IPT__TUNING_GPU)}, {IPT__TUNING_LIST(IPT__TUNING_CPU)}};

/* What is the same for all devices, or concerns one kind of them: X(name, value, where, meaning) */
#define IPT__CONSTANT_LIST(X)                                                                                          \
    X(IPT__WORD_BYTES, 4, KERNEL, "shorter units move by words if everything is aligned to words")                     \
    X(IPT__VECTOR_BYTES, 16, KERNEL, "access width of GPU kernels")                                                    \
    X(IPT__SECTOR_BYTES, 32, NVIDIA, "of memory, which moves whole")                                                   \
    X(IPT__LINE_BYTES, 128, NVIDIA, "of memory")                                                                       \
    X(IPT__UNIT_LOCAL, 232448, NVIDIA, "local memory of a compute unit, which OpenCL does not report")                 \
    X(IPT__UNIT_REGISTERS, 65536, NVIDIA, "of a compute unit")                                                         \
    X(IPT__UNIT_GROUPS, 32, NVIDIA, "most work-groups of a compute unit")                                              \
    X(IPT__UNIT_ITEMS, 2048, NVIDIA, "most work-items of a compute unit")                                              \
    X(IPT__CHUNK_BYTES, 32768, H22, "local memory of a work-group's chunk, and of small instances")                    \
    X(IPT__CHUNK_BYTES_LARGE, 110592, H22, "chunks on NVIDIA's GPUs: a compute unit has room for two")                 \
    X(IPT__CHUNK_GROUPS_LARGE, 2, H22, "such work-groups of a compute unit")                                           \
    X(IPT__CHUNK_GROUP_LARGE, 512, H22, "work-items for these (three of 73728 bytes with 256 were 2 % slower)")        \
    X(IPT__PACK_BYTES_WHOLE, 231424, NVIDIA, "small instances in one work-group of a compute unit")                    \
    X(IPT__PACK_BYTES_QUARTER, 56320, NVIDIA, "in four of them")                                                       \
    X(IPT__PACK_BYTES_EIGHTH, 27648, NVIDIA, "in eight")                                                               \
    X(IPT__PACK_RUN, 4096, H22, "bytes of the shortest run of small instances worth packing")                          \
    X(IPT__PACK_TABLE, 2048, H22, "most units of an instance that has a table")                                        \
    X(IPT__HELD_VECTORS, 18, NVIDIA, "of a panel in a work-item's 128 registers")                                      \
    X(IPT__HELD_GROUPS, 2, NVIDIA, "work-groups of a compute unit that hold such vectors")                             \
    X(IPT__BAND_CHUNK_BYTES, 44032, H23, "chunk of bands: five to a unit (two of 110592: 2 to 6 % longer)")            \
    X(IPT__BAND_CHUNK_BYTES_LARGE, 73728, H24, "where a compute unit has fewer than BAND_GROUPS of them")              \
    X(IPT__BAND_GROUPS, 4, H23, "work-groups of a compute unit, as of resident_others")                                \
    X(IPT__BAND_GROUPS_OF_4, 5, H23, "those for elements of 4 bytes")                                                  \
    X(IPT__BAND_GROUPS_WORDS, 3, H24, "of blocks of words")                                                            \
    X(IPT__BAND_GROUPS_BYTES, 2, H25, "of blocks of bytes, with runs stored backwards")                                \
    X(IPT__BAND_GROUPS_UNITS, 3, H25, "of elements of several units, with runs stored backwards")                      \
    X(IPT__BANDS_ROW, 1900, H24, "bytes of a band's row, for each compute unit: 56 rows fill half the chip")           \
    X(IPT__BANDS_TRIES, 4096, TIME, "numbers of bands that the planner compares: less than a millisecond")             \
    X(IPT__RUN_STEPS, 6, KERNEL, "of a line of work-items along a run of units up to 4 bytes: parts/runs_held.cl")     \
    X(IPT__WORDS_TURN, 256, KERNEL, "bytes of a run that such a line moves in blocks of words: parts/words.cl")        \
    X(IPT__WORDS_TURN_3, 384, KERNEL, "for elements of three units")                                                   \
    X(IPT__KEPT_BYTES, 8 << 20, H23, "parked runs in the last cache")                                                  \
    X(IPT__WAVES_COLUMNS, 32, KERNEL, "of a tile, of which stripes and pieces are made")                               \
    X(IPT__SWAP_SHORT_BYTES, 3 << 20, H24, "largest square of units below a word that swaps tiles")                    \
    X(IPT__SWAP_BYTES, 163840, H22, "most local memory of swapped tiles on NVIDIA's GPUs")                             \
    X(IPT__SWAP_SIDE_LEAST, 40, H25, "of tiles that turn, where larger ones do not fit")                               \
    X(IPT__SWAP_SIDE_TURNED, 48, H25, "tiles that rotate, where larger ones are too few")                              \
    X(IPT__SWAP_SIDE_LARGE, 120, H22, "a row and the sectors at its ends are a whole number of lines of work-items")   \
    X(IPT__SWAP_PAIRS, 28, H22, "pairs of such tiles for each compute unit")                                           \
    X(IPT__SMALL_TILE, 32, KERNEL, "largest side of a tile that is not fetched by vectors")                            \
    X(IPT__TILE_BYTES_MANY, 1 << 18, P22, "a CPU's second cache, for many instances")                                  \
    X(IPT__TRANSPOSE_BYTES, 24576, H22, "local memory of a tiled transposition")                                       \
    X(IPT__SUPER_BYTES, 2048, H22, "longest super-element that is tried")                                              \
    X(IPT__PAIRS_PIECE, 65536, H25, "bytes of a super-element that a worker swaps at once")                            \
    X(IPT__PIECE_VECTORS, 128, KERNEL, "of a chain's piece")                                                           \
    X(IPT__CHAINS_PIECE, 640, H22, "bytes of a piece up to which a sub-group follows four chains at once, else two")   \
    X(IPT__CHUNK_RUNS, 512, KERNEL, "most rows of a chunk")                                                            \
    X(IPT__COLUMNS, 2048, KERNEL, "most permuted columns of a chunk")                                                  \
    X(IPT__CHUNK_RUNS_LEAST, 4, H24, "fewest rows of a wide chunk: fewer are slower than a shuffle")                   \
    X(IPT__CHUNK_FIXED, 16384, H26, "bytes that move while a work-group begins and ends, where others follow it")      \
    X(IPT__CHUNK_THIN, 60, H26, "bytes of the shorter side from which on a batch is moved on the chip")                \
    X(IPT__CHUNK_RUN, 2048, H22, "longest run of one matrix on the chip")                                              \
    X(IPT__ON_CHIP_BYTES, 1 << 26, NVIDIA, "more than all local memory of any device")                                 \
    X(IPT__MOST_DOWN, 8, H22, "chunks along the long side of a tall panel")                                            \
    X(IPT__BLOCKS_TALL, 2, H22, "of a panel: 4 at most (IPT_BLOCKS in parts/vectors.cl)")                              \
    X(IPT__BLOCKS_WIDE, 4, H22, "the same")                                                                            \
    X(IPT__BLOCK_ROWS, 60, H22, "minimum per block")                                                                   \
    X(IPT__NARROW_BYTES, 256, H22, "rows up to this length are accessed many at a time")                               \
    X(IPT__SPREAD_BYTES, 1 << 16, H24, "slab of rows where as little workspace as possible is wanted")                 \
    X(IPT__FLIP_LANES, 8, KERNEL, "least for a piece")                                                                 \
    X(IPT__FLIP_GROUP, 256, KERNEL, "most work-items")                                                                 \
    X(IPT__WINDOWS, 16, KERNEL, "of flags")                                                                            \
    X(IPT__WINDOW_UNITS, 4096, KERNEL, "the same")                                                                     \
    X(IPT__PAD_HELD, 16, KERNEL, "units of a work-item")                                                               \
    X(IPT__DIVISOR_WANTED, 64, H22, "tile side of forced sequences: middle of the range in Sung et al., PPoPP 2014")   \
    X(IPT__DOUBLE_ELEMENT, 16384, H25, "most bytes of the elements that a double pass transposes")                     \
    X(IPT__STORED_ROOM, 5, P25, "memory for passes over a storage, in instances or panels")                            \
    X(IPT__STORED_NEVER, 1000, P25, "cost of a pass for which there is no memory: no plan is made")                    \
    X(IPT__BOX_BYTES, 55 << 10, H27, "local memory of a box' work-group, four to a compute unit")                      \
    X(IPT__BOX_GROUPS, 4, H27, "such work-groups")                                                                     \
    X(IPT__BOX_GROUP, 256, H27, "their work-items")                                                                    \
    X(IPT__BOX_CHANNELS, 4, KERNEL, "most channels that change places in registers")                                   \
    X(IPT__BOX_RUN, 512, H27, "units of a run of the result that a table has")                                         \
    X(IPT__BOX_NARROW, 20, H27, "runs of so many units at once take as long again as their data")                      \
    X(IPT__BOX_ISSUE, 5, H27,                                                                                          \
      "steps of a compute unit in which a line of work-items requests a word each, or a vector")                       \
    X(IPT__BOX_LOST, 40, H27, "bytes by which a box' run is longer in effect")                                         \
    X(IPT__BOX_WAIT, 4096, H27, "bytes that a work-group moves in the time in which it waits for the others")          \
    X(IPT__BOX_FLIGHT, 2048, H29,                                                                                      \
      "bytes on the way to a compute unit by which boxes of short units reach half their speed")                       \
    X(IPT__BOX_SPLIT, 14, H28, "part of its speed that a batch loses whose arrays do not share the chip evenly")       \
    X(IPT__THIN_MOST, 4, P28, "rows or columns of a thin matrix that a CPU moves by constant steps")                   \
    X(IPT__THIN_RUN, 512, P28, "bytes of its tiles' rows at least, if it has several tiles")                           \
    X(IPT__PASS_SHORT, 16384, H27,                                                                                     \
      "bytes of a packed instance that moves faster than by boxes, of elements below a word")                          \
    X(IPT__PASS_COLUMNS_LOST, 100, H27, "bytes by which a run of permuted columns is longer in effect, and its least") \
    X(IPT__PASS_LONG, 256, H25, "bytes of long elements, of arrays and of large matrices")                             \
    X(IPT__LONG_LARGE, 1 << 22, H28,                                                                                   \
      "bytes of a matrix of such elements from which on chunks of single ones are slow")                               \
    X(IPT__PASS_HUGE, 1 << 27, P25, "bytes of a huge instance")                                                        \
    X(IPT__BATCH_REGISTERS, 1024, H26, "bytes of an element: longer ones with indices from pivots became wrong")       \
    X(IPT__BATCH_LANES, 32, NVIDIA, "most work-items of an element that share a sub-group")                            \
    X(IPT__HOST_AHEAD, 4, H22, "transfers in flight")                                                                  \
    X(IPT__HOST_STAGED_BYTES, 1 << 23, H22, "larger pageable matrices use pinned memory")                              \
    X(IPT__HOST_PARTS, 2, H22, "per device: 0.98 of the bus' speed (4: 0.95, 8: 0.72)")                                \
    X(IPT__HOST_PART_BYTES, 1 << 20, H22, "minimum: smaller ones take as long (Sung et al., PPoPP 2014, section 7.6)") \
    X(IPT__HOST_RUN_BYTES, 2048, H22, "minimum of a strided part's rows: shorter rows are as slow as elements")        \
    X(IPT__HOST_SLOT_BYTES, 1 << 22, H22, "pinned bytes that a thread fills while its other slot is on the bus")       \
    X(IPT__HOST_THREADS, 8, H22, "that fill these")                                                                    \
    X(IPT__CUT_CHUNK_BYTES, 1 << 26, H22, "enough to keep the bus busy; larger chunks only for longer blocks")         \
    X(IPT__CUT_RUN_BYTES, 64, H22, "shortest useful super-element")                                                    \
    X(IPT__CUT_BLOCK_WANTED, 1 << 14, H22, "bytes of a super-element for full memory speed")                           \
    X(IPT__CUT_STORED_WANTED, 1 << 16, P22, "bytes of a super-element for full storage speed")                         \
    X(IPT__CUT_BLOCK_BYTES, 1 << 18, H22, "longest super-element")                                                     \
    X(IPT__CUT_GROUP_BYTES, 1 << 20, P22, "all super-elements of a group")                                             \
    X(IPT__CUT_THREADS, 16, H22, "for shuffles in memory")                                                             \
    X(IPT__CUT_BATCH, 1 << 16, H22, "moves per list")                                                                  \
    X(IPT__BLOCK_ROW_MOST, 8192, H22, "of a block: 0.95 of the bus' speed (8200: 0.51, 12288: 0.79)")                  \
    X(IPT__BLOCK_ROW_LEAST, 1280, H22, "the host's shuffle may be as fast below (4096: 0.68)")                         \
    X(IPT__BLOCK_PARTS, 10, H22, "minimum per side")                                                                   \
    X(IPT__BLOCK_STRIPS, 3, H22, "per block, downloaded as their places become free")                                  \
    X(IPT__BLOCK_SPARE, 8, H22, "one of so many units stays free")                                                     \
    X(IPT__BLOCK_AHEAD, 48, H22, "commands in flight")                                                                 \
    X(IPT__BUS_LEAST_PIECES, 8, H24, "of a band")                                                                      \
    X(IPT__BUS_MOST_PIECES, 16, H24, "of a band")                                                                      \
    X(IPT__BUS_PIECE_BYTES, 1 << 20, H24, "wanted")                                                                    \
    X(IPT__BUS_BAND_RUNS, 5000, H24, "minimum of a band, in shortest runs")                                            \
    X(IPT__MPI_CHUNK_BYTES, 128 << 10, P26, "of a message at most: windows stay in the processor's cache")             \
    X(IPT__MPI_BUS_BYTES, 4 << 20, H26, "of a message where a device has its own memory and a bus")                    \
    X(IPT__MPI_LEAST_CHUNK, 4 << 10, P26, "of a message at least")

enum {
#define IPT__CONSTANT(name, value, where, meaning) name = value,
    IPT__CONSTANT_LIST(IPT__CONSTANT)
};

/* These two are macros because tests define smaller ones, so that small matrices have blocks and bands. Least bytes of
 * a whole block: H22, blocks of 992 KB move at 0.58 of the bus' speed, panels at 0.54; of 256 KB at 0.16 and 0.52. */
#ifndef IPT__BLOCK_BYTES_LEAST
#define IPT__BLOCK_BYTES_LEAST ((size_t)3 << 18)
#endif

/* Least bytes of a run that crosses the bus: H24, shorter ones took as long as the host's shuffle. */
#ifndef IPT__BUS_RUN_BYTES
#define IPT__BUS_RUN_BYTES 768
#endif

/* Batches, in nanoseconds of one lane while the compute unit's other lanes work, too: for an element, a barrier, a turn
 * of each kind, a byte of operands whose elements lie one after the other, and a byte of all others. H26: fitted by
 * tests/bench/batch_fit.py to 1,400 random actions, sizes and counts. M(model, element, barrier, plain, pivoted,
 * inverse, far_byte, near_byte), in the sequence of ipt_model */
#define IPT__BATCH_COST_LIST(M)                                                                                        \
    M(auto, 0, 0, 0, 0, 0, 0, 0)                                                                                       \
    M(registers, 0, 0, 0, 19, 50, 23, 0) /* products of registers cost nothing, but indices need memory */             \
    M(item, 0, 0, 32, 27, 16, 31, 18)                                                                                  \
    M(memory, 0, 0, 40, 19, 68, 0, 0)                                                                                  \
    M(group, 1100, 71, 16, 9.6, 13, 43, 45)                                                                            \
    M(interleaved, 490, 24, 12, 12, 20, 13, 9.5)                                                                       \
    M(work_group, 1700, 65, 6.8, 8, 13, 0, 72)                                                                         \
    M(large, 220, 22, 62, 50, 43, 0, 0)
