/* Stages, layouts and the plan. */

typedef enum ipt__stage_kind {
    IPT__STAGE_SAVE,    /* copies rows x cols elements at origin to the save area, transposed */
    IPT__STAGE_RESTORE, /* copies the save area to rows of `length` elements at origin, row_stride apart */
    /* The next kinds transpose the instances of their grid: */
    IPT__STAGE_TILE,    /* whole instances in local memory */
    IPT__STAGE_SWAP,    /* square instances, by tile pairs */
    IPT__STAGE_WAVE,    /* instances through slabs of global memory, one slab each */
    IPT__STAGE_PANEL,   /* instances by cooperative work-groups that hold a chunk each */
    IPT__STAGE_SHUFFLE, /* instances by cycle following with one flag bit per slot */
    /* Epilogue stages: */
    IPT__STAGE_FLIP, /* reverses the order of rows, or each row, or both, of rows x cols elements */
    IPT__STAGE_MAP,  /* applies the plan's expression to every element */
    /* Kernels of the papers alone: */
    IPT__STAGE_PTTWAC_010, /* instances in global memory, by work-groups with flags in local memory */
    IPT__STAGE_P_IPT,      /* instances by cycle following without flags */
    IPT__STAGE_PAD         /* changes the stride of rows of `length` elements from origin to row_stride */
} ipt__stage_kind;

typedef enum ipt__family {
    IPT__FAMILY_AUTO,
    IPT__FAMILY_BS,
    IPT__FAMILY_SWAP,
    IPT__FAMILY_PTTWAC_010,
    IPT__FAMILY_PTTWAC_100,
    IPT__FAMILY_P_IPT,
    IPT__FAMILY_PAD
} ipt__family;

/* The columns of IPT_VARIANT_LIST. */
typedef struct ipt__variant {
    const char *name;
    ipt__family family;
    cl_uint lanes, bank_padding, registers, flag_layout, interleaved;
} ipt__variant;
#ifndef IPT_NO_PAPERS
static const ipt__variant ipt__variants[] = {
#define IPT__VARIANT_ROW(enumerator, name, family, lanes, padding, registers, layout, interleaved)                     \
    {name, IPT__FAMILY_##family, lanes, padding, registers, layout, interleaved},
    IPT_VARIANT_LIST(IPT__VARIANT_ROW)};
#endif

/* The rows of a tile in local memory: see ipt_fetch_rows in common.cl. */
typedef struct ipt__tile_layout {
    size_t pitch, skew, run_lanes;
} ipt__tile_layout;

/* The chunks of a PANEL stage: see panel.cl. Lengths in elements. */
typedef struct ipt__chunks {
    size_t pack, packs;   /* panels per ticket group; ticket groups without the tail */
    size_t ticket_groups; /* ticket groups with the tail */
    size_t x, y;          /* a chunk along the short and the long side */
    size_t across, down;
    size_t blocks, block_rows; /* parts of a chunk along the long side, each with a wait of its own */
    ipt__tile_layout tile;
    int tall, narrow, neighbours, waits;
} ipt__chunks;

enum { IPT__MAX_STAGES = 8, IPT__MAX_KERNELS = 16 };

/* One stage: `instances` independent rows x cols grids of super-elements of `length` elements become cols x rows. */
typedef struct ipt__stage {
    ipt__stage_kind kind;
    size_t instances; /* per matrix */
    size_t rows, cols, length;
    size_t inner_rows, inner_cols; /* also transposes each super-element, such a matrix; 0: does not */
    size_t origin;                 /* SAVE, RESTORE: elements before the first instance; PAD: old stride */
    size_t row_slots, row_stride;  /* slots lie on rows of row_slots slots, row_stride elements apart; 0: densely */
    int gapped_source;             /* WAVE on such a grid: the source lies on it, else the target */
    size_t matrices_at_once, instances_at_once; /* per launch, limited by the workspace */
    size_t piece_units, pieces;                 /* SHUFFLE: parts of a super-element, moved independently */
    int kernels[2];                             /* indices in the plan; WAVE has two: transpose and copy */
    size_t tile_side, tile_bytes, tile_group;   /* SWAP: elements per side; local memory and work-items of a pair */
    ipt__tile_layout tile;                      /* SWAP: rows in local memory, if tile_side > 32 */
    size_t pack_bytes, pack_group;              /* TILE: local memory and work-items of kernel pack; 0: kernel tile */
    ipt__chunks chunks;                         /* PANEL */
    size_t tail_length;                         /* PANEL, and SHUFFLE that moves gaps: remaining rows or columns */
    int chains;                                 /* SHUFFLE by sub-groups */
    size_t piece_vectors;                       /* chains: vectors that a piece touches, rounded up to classes */
    int gap_restore;                            /* SHUFFLE: fills the gaps from the save area, else saves them there */
    int straight;                               /* TILE: does not transpose */
    int reversed_rows, reversed_cols;           /* FLIP; TILE: of the result */
    int apply;                                  /* applies the plan's expression */
    int by_words;                               /* runs may move by IPT__WORD_BYTES, if byte_offset is aligned */
    int word_kernel;                            /* copy or shuffle kernel for words */
    const ipt__variant *variant;                /* forced kernel of a paper; NULL: none */
    size_t lanes, workers;                      /* variant: cooperating work-items; such teams per work-group */
} ipt__stage;

/* A plan's choice without OpenCL objects: the planner compares layouts. */
typedef struct ipt__layout {
    ipt__stage stages[IPT__MAX_STAGES];
    int stage_count;
    size_t saved_elements;    /* per matrix, at the start of the workspace */
    size_t saved_bytes;       /* of all matrices, rounded up to 256 */
    size_t length;            /* elements of a super-element of two passes; 0: no two passes */
    int has_epilogue;         /* epilogue stages were added */
    int cooperative;          /* has a PANEL stage; it and the shuffle share the next workspace parts: */
    size_t control_words;     /* per control block; two alternate, the first at saved_bytes */
    size_t flags_offset;      /* bytes */
    size_t alone_offset;      /* bytes; flags for a single work-group that transposes a panel alone */
    size_t scratch_offset;    /* bytes; scratch memory that the stages share */
    size_t workspace;         /* bytes: scratch_offset and the largest need of a stage */
    size_t minimum_workspace; /* bytes that these stages need at least */
    double cost;              /* bytes that a copy would move in the same time */
} ipt__layout;

typedef struct ipt__plan_kernel {
    ipt__program *program;
    cl_kernel kernel;
} ipt__plan_kernel;

/* Host matrices: see >>host matrices. */
enum {
    IPT__HOST_AHEAD = 4,              /* transfers in flight */
    IPT__HOST_STAGED_BYTES = 1 << 23, /* larger pageable matrices use pinned memory */
    /* Parts per device. On a slow bus more parts only slow the transfers. An H200 reaches 0.98 of their speed with 2
     * parts, 0.95 with 4, 0.72 with 8. */
    IPT__HOST_PARTS = 2,
    IPT__HOST_PARTS_MOST = 64,      /* limits the command queues, too */
    IPT__HOST_PART_BYTES = 1 << 20, /* minimum: smaller transfers take as long (Sung et al., PPoPP 2014, section 7.6) */
    IPT__HOST_RUN_BYTES = 2048,     /* minimum of a strided part's rows: shorter rows are as slow as elements */
    IPT__HOST_SLOT_BYTES = 1 << 22, /* pinned bytes that a thread fills while its other slot is on the bus */
    IPT__HOST_SLOTS = 2,
    IPT__HOST_THREADS = 8
};

/* Cut matrices: see >>cut matrices. */
enum {
    IPT__CUT_PLAN_REST = 2, /* index into a share's plans */
    IPT__CUT_PLAN_GROUP = 3,
    IPT__CUT_SLOTS = 3,               /* chunks in flight: one upload, one transposition, one download */
    IPT__CUT_CHUNK_BYTES = 1 << 26,   /* enough to keep the bus busy; larger chunks only for longer blocks */
    IPT__CUT_RUN_BYTES = 64,          /* shortest useful super-element */
    IPT__CUT_BLOCK_WANTED = 1 << 14,  /* bytes of a super-element for full memory speed */
    IPT__CUT_STORED_WANTED = 1 << 16, /* bytes of a super-element for full storage speed */
    IPT__CUT_BLOCK_BYTES = 1 << 18,   /* longest super-element */
    IPT__CUT_GROUP_BYTES = 1 << 20,   /* all super-elements of a group */
    IPT__CUT_THREADS = 16,            /* for shuffles in memory */
    IPT__CUT_STORED_THREADS = 2,      /* readers of a storage; as many writers */
    IPT__CUT_BATCH = 1 << 16,         /* moves per list */
    IPT__CUT_PAGE_BYTES = 4096
};

/* Least bytes of a whole block. On an H200 blocks of 992 KB move at 0.58 of the speed of whole copies, panels at 0.54.
 * Blocks of 256 KB move at 0.16, panels at 0.52. Tests define a smaller value, so that small matrices have blocks. */
#ifndef IPT__BLOCK_BYTES_LEAST
#define IPT__BLOCK_BYTES_LEAST ((size_t)3 << 18)
#endif

/* Blocks of a cut matrix: see >>cut matrices. An H200's bus, both ways at once, reaches a share of its speed by row
 * bytes. Shares: 8192 0.95, 8200 0.51, 12288 0.79, 16384 0.95; 7168 0.91, 5120 0.78, 4096 0.68. */
enum {
    IPT__BLOCK_ROW_MOST = 8192,
    IPT__BLOCK_ROW_LEAST = 1280, /* below that, the host's shuffle may be as fast */
    IPT__BLOCK_PARTS = 10,       /* minimum per side */
    IPT__BLOCK_STRIPS = 3,       /* per block, downloaded as their places become free */
    IPT__BLOCK_SPARE = 8,        /* one of so many units stays free */
    IPT__BLOCK_PLANS = 4,        /* for whole blocks, and for those at the lower, the right and both edges */
    IPT__BLOCK_QUEUES = 3,       /* for uploads, kernels and downloads */
    IPT__BLOCK_AHEAD = 48        /* commands in flight */
};

/* Rows in host memory that are contiguous on the device. */
typedef struct ipt__rect {
    size_t offset, rows, row_bytes, pitch; /* bytes; offset: of the first row */
} ipt__rect;

/* Up to three rectangles, contiguous on the device. */
typedef struct ipt__area {
    ipt__rect rects[3];
    int count;
} ipt__area;

/* One device's share of a host matrix. */
typedef struct ipt__host_share {
    ipt_context *context;
    ipt_plan *plans[4]; /* whole part; smaller last part; remainder of a cut matrix; group */
    ipt_plan *block_plans[IPT__BLOCK_PLANS];
    cl_mem buffer;
    cl_command_queue queues[IPT__HOST_PARTS_MOST];
    int queue_count;
    cl_mem pinned; /* IPT__HOST_SLOTS per thread; NULL: not needed yet */
    char *slots;
} ipt__host_share;

typedef struct ipt__host_part {
    ipt__host_share *share;
    ipt_plan *plan;
    cl_command_queue queue;
    size_t device; /* bytes from the start of the share's buffer */
    ipt__area up, down;
    cl_event uploaded, transposed, downloaded;
} ipt__host_part;

/* A command for a matrix that is transferred by blocks. Each kind has its own queue. */
typedef enum ipt__command_kind { IPT__COMMAND_UPLOAD, IPT__COMMAND_TRANSPOSE, IPT__COMMAND_DOWNLOAD } ipt__command_kind;

typedef struct ipt__command {
    ipt__command_kind kind;
    int plan;                        /* TRANSPOSE: index into the share's block_plans */
    ipt__rect rect;                  /* UPLOAD and DOWNLOAD */
    size_t device;                   /* bytes into the share's buffer */
    size_t after[IPT__BLOCK_QUEUES]; /* per queue, the last command to wait for, plus 1; 0: none */
    cl_event event;
} ipt__command;

typedef struct ipt__host {
    ipt__host_share *shares;
    size_t share_count;
    ipt__host_part *parts;
    size_t part_count;
    ipt__command *commands; /* for one matrix */
    size_t command_count;
    char *scratch; /* cut matrices: ipt__shuffle_bytes, then the remainder of the longer side */
    size_t scratch_bytes;
} ipt__host;

/* How matrices beyond the device's memory are cut: into panels, or between whole matrices. */
typedef struct ipt__cut {
    size_t chunk_bytes;            /* per transfer; 0: the plan cuts nothing */
    size_t chunks;                 /* per cut matrix, else per batch */
    size_t matrices;               /* whole matrices per chunk; 0: matrices are cut, the next fields are valid */
    size_t shorter, length;        /* sides of a panel, in elements; length: also of a super-element */
    size_t panels, rest;           /* panels of the longer side; remaining elements */
    size_t chunk_panels;           /* maximum per chunk */
    size_t group, groups, spare;   /* lines of the longer side that are shuffled together; remaining lines */
    size_t piece_bytes;            /* of a super-element */
    size_t block_bytes;            /* of a group's super-elements: the shuffle's block */
    size_t line_bytes, rest_bytes; /* of the longer side; of the remainder of all lines */
    size_t spare_bytes;            /* of the spare lines, without the remainder */
    int tall, backward;            /* backward: panels run from the last to the first */
} ipt__cut;

typedef ipt_result (*ipt__plan_maker)(ipt_context *context, const ipt_plan_desc *desc, ipt_plan *owner,
                                      ipt_plan **plan);

/* How a cut matrix is transferred by blocks. This needs host memory that the device accesses, and enough device
 * memory. */
typedef struct ipt__blocks {
    size_t length, panels;     /* rows of a panel; the last panel may be shorter */
    size_t columns, per_panel; /* columns of a block, blocks per panel; the last block may be narrower */
    size_t strip_cols;         /* columns of a strip: the unit of a download */
    size_t count;              /* number of blocks */
    size_t unit_bytes, units;  /* device memory: units of one block each */
    size_t kept_units;         /* units that stay free for spilled blocks */
    size_t bus_bytes;          /* bus traffic per matrix, both directions; 0: blocks are not used */
} ipt__blocks;

struct ipt_plan {
    ipt_context *context;
    ipt_plan_desc desc;              /* batch and batch_stride completed */
    size_t matrix_bytes, span_bytes; /* of one matrix; from the first byte of the batch to its last */
    size_t unit_bytes, element_units;
    size_t pad_rows, pad_cols; /* included in desc.rows and desc.cols */
    char *expression;          /* copies that desc points to */
    ipt__layout layout;
    ipt_plan *owner;    /* of the shared workspace, lock and last event; NULL: the plan itself */
    IPT_LOCK_TYPE lock; /* guards the following fields */
    ipt_plan *borrower; /* plan that used the workspace last; NULL: unknown */
    ipt__plan_kernel kernels[IPT__MAX_KERNELS];
    int kernel_count;
    int out_of_place_kernel; /* -1 until the first execution out of place */
    ipt__program *panel;     /* NULL: no cooperative panels */
    size_t resident;         /* its concurrent work-groups, as queried when the plan was made */
    int turn;                /* which of the two control blocks is clear */
    int dirty;               /* an execution failed: counters and flags may not be clear */
    cl_mem workspace;
    cl_event last;           /* of the previous execution, which may still use the workspace; NULL: none */
    IPT_LOCK_TYPE host_lock; /* held during transfers of a host matrix; guards host and parts_refused */
    ipt__host host;
    int parts_refused; /* host is AUTO, and parts exceed the workspace limit */
    size_t enough;     /* max_workspace that the last error has proposed; 0: none */
    ipt__cut cut;
    ipt__plan_maker make_piece; /* makes the plans of a cut matrix's pieces */
    ipt__blocks blocks;
    size_t host_workspace; /* bytes that the parts' plans own; guarded by lock */
    size_t refused;        /* bytes of the last buffer that could not be allocated; 0: none */
    size_t most;           /* largest buffer in bytes for cut matrices; 0: no limit */
    int in_pieces;         /* made because the device refused the whole host matrix */
    ipt_plan *pieces;      /* such a plan, which executes for this one; NULL: none. Guarded by host_lock */
    ipt_context **split;   /* contexts of a plan for several devices; NULL: one device */
    size_t split_count;
    char description[2048];
};

/* The planner's constants. */
enum {
    IPT__RUN_CPU = 8192, /* elements, or pairs of them, per work-group; IPT__RUN_GPU: per work-item */
    IPT__RUN_GPU = 16,
    IPT__WORD_BYTES = 4,         /* shorter units move by words if everything is aligned to words */
    IPT__VECTOR_BYTES = 16,      /* access width of GPU kernels */
    IPT__PIECE_BYTES_GPU = 1024, /* part of a super-element per work-group: short, for many chains */
    IPT__PIECE_BYTES_CPU = 16384,
    IPT__TILE_BYTES_CPU = 1 << 15,  /* a CPU's local memory is plain memory: size of the nearest cache */
    IPT__TILE_BYTES_MANY = 1 << 18, /* size of the second cache, for many instances */
    IPT__TRANSPOSE_BYTES = 24576,   /* local memory of a tiled transposition */
    IPT__SLAB_BYTES_GPU = 32 << 20, /* slabs in the last cache cost no memory traffic */
    IPT__SLAB_BYTES_CPU = 4 << 20,
    IPT__SUPER_BYTES = 2048, /* longest super-element that is tried */
    IPT__PIECE_VECTORS = 128,
    IPT__UNIT_BYTES = 229376, /* local memory of a large GPU's compute unit; chains fill it */
    IPT__CHUNK_RUNS = 512,    /* as in panel.cl and out_of_place.cl */
    IPT__PAD_HELD = 16,       /* units of a work-item, as in pad.cl */
    IPT__MOST_DOWN = 8,       /* chunks along the long side of a tall panel */
    IPT__BLOCKS_TALL = 2,     /* of a panel, see panel.cl: 4 at most (IPT_BLOCKS in common.cl) */
    IPT__BLOCKS_WIDE = 4,
    IPT__BLOCK_ROWS = 60,         /* minimum per block */
    IPT__ON_CHIP_BYTES = 1 << 26, /* more than all local memory of any device */
    IPT__NARROW_BYTES = 256,      /* rows up to this length are accessed many at a time */
    IPT__DIVISOR_WANTED = 64      /* tile side of forced sequences: middle of the range in Sung et al., PPoPP 2014 */
};

/* The cost model follows equation (2) of Gomez-Luna et al., TPDS 2016. The cost of a stage is the bytes that a copy
 * moves in the same time. Cost = factor * bytes of all matrices + launches * launch. A shuffle's factor is 1 +
 * overhead / bytes of a super-element. `gapped`: unaligned slots touch one more sector. Units below a word that
 * cannot move by words: 1 + narrow * (units in a word - 1). */
typedef struct ipt__cost_model {
    double tile, swap, wave, shuffle_overhead, gapped, narrow, launch;
} ipt__cost_model;
static const ipt__cost_model ipt__cost_models[2] = {
    {2, 2.4, 4.3, 750, 1.1, 0.5, 2e7}, /* GPU: fitted to an H200 */
    {2, 4, 1.8, 300, 1.15, 0.1, 2e5}   /* CPU: fitted to PoCL on 2 cores */
};

/* The cost model of the GPU-only kernels, lengths in bytes. A panel: panel + tall_cut or wide_cut * (1 / x + 1 / y)
 * + panel_wait * length of the panel. The second term counts sectors that the edges of an x by y chunk cut. The
 * third counts waits between work-groups; slots that reach into the previous panel reduce it. A narrow panel: panel
 * + narrow_step / length of a super-element - no_wait if no work-group waits. Chains: chains + chains_step / length
 * of a super-element + idle * the unused share of its length class. Slots off 128-byte lines add cut + cut_step /
 * length. */
typedef struct ipt__gpu_model {
    double panel, tall_cut, wide_cut, panel_wait, narrow_step, no_wait, chains, chains_step, cut, cut_step, idle;
} ipt__gpu_model;
static const ipt__gpu_model ipt__gpu_models = {1.15, 47, 17, 8e-9, 95, 0.08, 1.01, 137, 0.19, 4, 0.05}; /* of an H200 */
