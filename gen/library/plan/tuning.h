/* The planner's constants. */

/* Constants that differ between GPUs and CPUs, or that one of them lacks: X(type, name, gpu, cpu, meaning). The values
 * for GPUs are fitted to an H200, those for CPUs to PoCL on 2 cores.
 *
 * The cost model follows equation (2) of Gomez-Luna et al., TPDS 2016. The cost of a stage is the bytes that a copy
 * moves in the same time: factor * bytes of all matrices + launches * launch. Units below a word that cannot move by
 * words: 1 + narrow * (units in a word - 1).
 *
 * Panels and chains run on GPUs only; lengths are in bytes. A panel: panel + tall_cut or wide_cut * (1 / x + 1 / y) +
 * panel_wait * length of the panel. The second term counts sectors that the edges of an x by y chunk cut. The third
 * counts waits between work-groups; slots that reach into the previous panel reduce it. A narrow panel: panel +
 * narrow_step / length of a super-element - no_wait if no work-group waits. Chains: chains + chains_step / length of a
 * super-element + idle * the unused share of its length class. Slots off 128-byte lines add cut + cut_step / length. */
#define IPT__TUNING_LIST(X)                                                                                            \
    X(size_t, run, 16, 8192, "elements, or pairs of them, per work-item (GPU) or work-group (CPU)")                    \
    X(size_t, piece_bytes, 1024, 16384, "part of a super-element per work-group: short on GPUs, for many chains")      \
    X(size_t, tile_bytes, ~(size_t)0, 1 << 15, "most local memory of a tile: on CPUs the size of the nearest cache")   \
    X(size_t, slab_bytes, 32 << 20, 4 << 20, "slabs in the last cache cost no memory traffic")                         \
    X(double, tile, 2, 2, "factor of tiles")                                                                           \
    X(double, swap, 2.4, 4, "factor of swapped tiles")                                                                 \
    X(double, swap_units, 5, 4, "the same for elements of several units, or of units shorter than a word")             \
    X(double, wave, 4.3, 1.8, "factor of panels in waves")                                                             \
    X(double, shuffle_overhead, 750, 300, "a shuffle's factor is 1 + overhead / bytes of a super-element")             \
    X(double, shuffle_inner, 3, 1.4, "factor of shuffles that also transpose super-elements")                          \
    X(double, pairs, 1.2, 1.0, "factor of squares whose super-elements change places in pairs")                        \
    X(double, pairs_inner, 1.5, 1.2, "the same if super-elements are also transposed")                                 \
    X(double, bands, 6.8, 1.3, "factor of bands in waves")                                                             \
    X(double, bands_step, 200, 50, "of bands in waves, by the bytes of a run")                                         \
    X(double, bands_units, 0, 1.3, "of bands in waves, if elements have several units: their tiles move unit by unit") \
    X(double, shared, 0, 0.8, "factor of bands in waves that share a launch")                                          \
    X(double, shared_step, 0, 80, "of these, by the bytes of a run")                                                   \
    X(size_t, waves_piece, 0, 131072, "bytes of runs that a work-group moves at once, where they share a launch")      \
    X(double, together, 1.31, 0, "factor of cooperative bands")                                                        \
    X(double, together_piece, 26, 0, "of cooperative bands, by the bytes of a chunk's rows")                           \
    X(double, together_run, 267, 0, "of cooperative bands, by the bytes of a run; more for runs of several turns")     \
    X(double, together_fill, 0.33, 0, "of the share of resident work-groups that a band needs, above 0.35")            \
    X(double, together_ranges, 0.073, 0, "of each further range that a chunk has columns of: bands wait longer")       \
    X(double, together_gapped, 0.05, 0, "of runs that cut memory sectors")                                             \
    X(double, blocks_piece, 42, 0, "of blocks of words, by the bytes of a chunk's rows and the units of an element")   \
    X(double, blocks_run, 200, 0, "of blocks of words, by the bytes of a run")                                         \
    X(double, blocks_turn, 0.28, 0, "of the share of words that a run lacks in its last turn")                         \
    X(double, blocks_refused, 1.5, 0, "of bands whose runs are no whole words, though rows are")                       \
    X(double, flip, 1.1, 1.1, "factor of rows, or their sequence, that are reversed")                                  \
    X(double, gapped, 1.1, 1.15, "unaligned slots touch one more sector")                                              \
    X(double, narrow, 0.5, 0.1, "of units below a word")                                                               \
    X(double, launch, 2e7, 2e5, "bytes that a copy moves during a launch")                                             \
    X(double, panel, 1.15, 0, "factor of panels")                                                                      \
    X(double, tall_cut, 47, 0, "of tall chunks")                                                                       \
    X(double, wide_cut, 17, 0, "of wide chunks")                                                                       \
    X(double, panel_wait, 8e-9, 0, "of work-groups that wait")                                                         \
    X(double, narrow_step, 95, 0, "of narrow panels")                                                                  \
    X(double, no_wait, 0.08, 0, "of narrow panels without waits")                                                      \
    X(double, chains, 1.01, 0, "factor of chains")                                                                     \
    X(double, chains_step, 137, 0, "of chains")                                                                        \
    X(double, cut, 0.19, 0, "of slots off 128-byte lines")                                                             \
    X(double, cut_step, 4, 0, "of slots off 128-byte lines")                                                           \
    X(double, idle, 0.05, 0, "of the unused share of a length class")

typedef struct ipt__tuning {
#define IPT__TUNING_FIELD(type, name, gpu, cpu, meaning) type name;
    IPT__TUNING_LIST(IPT__TUNING_FIELD)
} ipt__tuning;

/* By limits->cpu. */
static const ipt__tuning ipt__tunings[2] = {
#define IPT__TUNING_GPU(type, name, gpu, cpu, meaning) gpu,
#define IPT__TUNING_CPU(type, name, gpu, cpu, meaning) cpu,
    {IPT__TUNING_LIST(IPT__TUNING_GPU)}, {IPT__TUNING_LIST(IPT__TUNING_CPU)}};

/* No two passes cost less than so many times the bytes of the matrices. */
#define IPT__TWO_PASSES 2.2

/* Constants for all devices. */
enum {
    IPT__WORD_BYTES = 4,            /* shorter units move by words if everything is aligned to words */
    IPT__VECTOR_BYTES = 16,         /* access width of GPU kernels */
    IPT__TILE_BYTES_MANY = 1 << 18, /* size of a CPU's second cache, for many instances */
    IPT__PAIRS_BYTES_CPU = 384,     /* of super-elements: see ipt__takes_pairs */
    IPT__PAIRS_BYTES_GPU = 128,
    IPT__PAIRS_PIECE = 65536,     /* bytes of a super-element that a worker swaps at once */
    IPT__SMALL_TILE = 32,         /* largest side of a tile that is not fetched by vectors, as in swap.cl */
    IPT__TRANSPOSE_BYTES = 24576, /* local memory of a tiled transposition */
    IPT__SUPER_BYTES = 2048,      /* longest super-element that is tried */
    IPT__PIECE_VECTORS = 128,
    IPT__UNIT_BYTES = 229376,    /* local memory of a large GPU's compute unit; chains fill it */
    IPT__KEPT_BYTES = 8 << 20,   /* of parked runs, in the last cache */
    IPT__BANDS_ROW = 1900,       /* of a band's row, for each compute unit: 56 rows fill half the chip */
    IPT__BANDS_TRIES = 4096,     /* numbers of bands that the planner compares: less than a millisecond */
    IPT__CHUNK_RUNS = 512,       /* as in panel.cl and out_of_place.cl */
    IPT__CHUNK_FIXED = 16384,    /* bytes that move while a work-group begins and ends, where others follow it */
    IPT__CHUNK_THIN = 60,        /* bytes of the shorter side from which on a batch is moved on the chip */
    IPT__SPREAD_BYTES = 1 << 16, /* of a slab of rows where as little workspace as possible is wanted */
    IPT__FLIP_LANES = 8,         /* as in flip.cl: at least, for a piece */
    IPT__FLIP_GROUP = 256,       /* most work-items */
    IPT__WINDOWS = 16,           /* as in parts/grid_alone.cl */
    IPT__WINDOW_UNITS = 4096,    /* the same */
    IPT__PAD_HELD = 16,          /* units of a work-item, as in pad.cl */
    IPT__MOST_DOWN = 8,          /* chunks along the long side of a tall panel */
    IPT__BLOCKS_TALL = 2,        /* of a panel, see panel.cl: 4 at most (IPT_BLOCKS in parts/vectors.cl) */
    IPT__BLOCKS_WIDE = 4,
    IPT__BLOCK_ROWS = 60,         /* minimum per block */
    IPT__ON_CHIP_BYTES = 1 << 26, /* more than all local memory of any device */
    IPT__NARROW_BYTES = 256,      /* rows up to this length are accessed many at a time */
    IPT__DIVISOR_WANTED = 64      /* tile side of forced sequences: middle of the range in Sung et al., PPoPP 2014 */
};
