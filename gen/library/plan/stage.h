/* Stages, layouts and the plan. */

typedef enum ipt__stage_kind {
    IPT__STAGE_SAVE,    /* rows x cols elements at origin are copied to the save area, transposed */
    IPT__STAGE_RESTORE, /* the save area is copied to rows of `length` elements at origin, row_stride apart */
    /* Each of the others transposes the instances of its grid: */
    IPT__STAGE_TILE,    /* instances held whole in local memory */
    IPT__STAGE_SWAP,    /* square instances, by tile pairs */
    IPT__STAGE_WAVE,    /* instances through slabs of global memory, as many at once as there are slabs */
    IPT__STAGE_PANEL,   /* instances by work-groups that hold a chunk each and wait for one another */
    IPT__STAGE_SHUFFLE, /* instances by cycle following with one flag bit per slot */
    /* What a plan does beside: */
    IPT__STAGE_FLIP, /* rows x cols elements: the sequence of rows, or each row, or both, reversed */
    IPT__STAGE_MAP,  /* the plan's expression, applied to every element */
    /* Only for the seeds' sake: */
    IPT__STAGE_PTTWAC_010, /* instances where they lie, by work-groups with flags in local memory */
    IPT__STAGE_P_IPT,      /* instances by cycle following without flags */
    IPT__STAGE_PAD         /* rows of `length` elements come to lie row_stride apart instead of origin */
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
static const ipt__variant ipt__variants[] = {
#define IPT__VARIANT_ROW(enumerator, name, family, lanes, padding, registers, layout, interleaved)                     \
    {name, IPT__FAMILY_##family, lanes, padding, registers, layout, interleaved},
    IPT_VARIANT_LIST(IPT__VARIANT_ROW)};

/* How the rows of a tile lie in local memory: see ipt_fetch_rows in common.cl. */
typedef struct ipt__tile_layout {
    size_t pitch, skew, run_lanes;
} ipt__tile_layout;

/* How the cooperative panel kernel cuts a stage: see panel.cl. Lengths in elements. */
typedef struct ipt__chunks {
    size_t pack, packs; /* panels of an order, and orders without the tail */
    size_t orders;      /* with the tail */
    size_t x, y;        /* a chunk along the short and the long side */
    size_t across, down;
    size_t blocks, block_rows; /* what is read and waited for on its own, along the long side */
    ipt__tile_layout tile;
    int tall, narrow, neighbours, waits;
} ipt__chunks;

enum { IPT__MAX_STAGES = 8, IPT__MAX_KERNELS = 16 };

/* One stage: `instances` independent rows x cols grids of super-elements of `length` elements become cols x rows. */
typedef struct ipt__stage {
    ipt__stage_kind kind;
    size_t instances; /* in each matrix */
    size_t rows, cols, length;
    size_t inner_rows, inner_cols; /* each super-element is such a matrix and transposed on the way; 0: it is not */
    size_t origin;                 /* elements before the first instance, SAVE and RESTORE; see PAD */
    size_t row_slots, row_stride;  /* the slots lie on rows of row_slots slots, row_stride elements apart; 0: densely */
    int gapped_source;             /* WAVE on such a grid: the source lies on it, else the target */
    size_t matrices_at_once, instances_at_once; /* in one launch, as the workspace allows */
    size_t piece_units, pieces;                 /* SHUFFLE: parts of a super-element that are moved on their own */
    int kernels[2];                             /* in the plan; WAVE has two: transpose and copy */
    size_t tile_side, tile_bytes, tile_group;   /* SWAP: side of a tile, elements; local memory, work-items of two */
    ipt__tile_layout tile;                      /* of it, if larger than 32 */
    size_t pack_bytes, pack_group;              /* TILE: local memory and work-items of kernel pack; 0: kernel tile */
    ipt__chunks chunks;                         /* PANEL */
    size_t tail_length;                         /* PANEL, and SHUFFLE that moves the gaps: rows or columns left over */
    int chains;                                 /* SHUFFLE by sub-groups */
    size_t piece_quanta;              /* of it: quanta of 16 bytes that a piece touches, rounded up to classes */
    int gap_restore;                  /* SHUFFLE: the gaps are filled from the save area, else saved there */
    int straight;                     /* TILE: not transposed */
    int reversed_rows, reversed_cols; /* FLIP; TILE: of the result */
    int apply;                        /* the plan's expression is applied on the way */
    int by_words;                     /* runs may be moved by IPT__WORD_BYTES, if byte_offset allows it */
    int word_kernel;                  /* copy or shuffle that does */
    const ipt__variant *variant;      /* a seed's kernel that is forced; NULL: none */
    size_t lanes, workers; /* of it: work-items that work together, and how many times so many a work-group has */
} ipt__stage;

/* A plan before it holds anything of OpenCL: what the planner compares. */
typedef struct ipt__layout {
    ipt__stage stages[IPT__MAX_STAGES];
    int stage_count;
    size_t saved_elements;    /* of each matrix, at the start of the workspace */
    size_t saved_bytes;       /* of all matrices, rounded up to 256 */
    size_t length;            /* of the super-elements of two passes, elements; 0: there are none */
    int dressed;              /* FLIP and MAP are there if they must be */
    int cooperative;          /* a PANEL stage and what it shares with the shuffle follow in the workspace: */
    size_t control_words;     /* of a control block; there are two, the first at saved_bytes, taken in turns */
    size_t flags_offset;      /* bytes */
    size_t alone_offset;      /* bytes; flags with which one work-group can transpose a panel alone */
    size_t scratch_offset;    /* bytes; what stages take in turns */
    size_t workspace;         /* bytes: scratch_offset and the largest need of a stage */
    size_t minimum_workspace; /* bytes with which these stages would still work */
    double cost;              /* bytes moved at the speed of a copy that would take as long */
} ipt__layout;

typedef struct ipt__plan_kernel {
    ipt__program *program;
    cl_kernel kernel;
} ipt__plan_kernel;

/* Host matrices: see >>host matrices. */
enum {
    IPT__HOST_AHEAD = 4,              /* transfers that are enqueued before the first of them has ended */
    IPT__HOST_STAGED_BYTES = 1 << 23, /* pageable matrices from this size on go through pinned memory */
    /* By default, for each device. Where the bus is so much slower than the transposition, more only make transfers
     * slower: on an H200 0.98 of them with 2, 0.95 with 4, 0.72 with 8. */
    IPT__HOST_PARTS = 2,
    IPT__HOST_PARTS_MOST = 64,      /* also of command queues */
    IPT__HOST_PART_BYTES = 1 << 20, /* at least: below that, transfers take no less time (seed 000, section 7.6) */
    IPT__HOST_RUN_BYTES = 2048, /* of a part's rows that lie apart: shorter ones are no faster than single elements */
    IPT__HOST_SLOT_BYTES = 1 << 22, /* of pinned memory that a thread fills while another one of its is on the bus */
    IPT__HOST_SLOTS = 2,
    IPT__HOST_THREADS = 8
};

/* Matrices that are cut: see >>cut matrices. */
enum {
    IPT__CUT_PLAN_REST = 2, /* of a share's plans */
    IPT__CUT_PLAN_GROUP = 3,
    IPT__CUT_SLOTS = 3,               /* of chunks: one comes, one is worked on, one goes */
    IPT__CUT_CHUNK_BYTES = 1 << 26,   /* chunks of this size keep the bus busy; larger ones only for longer blocks */
    IPT__CUT_RUN_BYTES = 64,          /* shortest super-element that is worth moving */
    IPT__CUT_BLOCK_WANTED = 1 << 14,  /* bytes of a super-element that memory moves as fast as any */
    IPT__CUT_STORED_WANTED = 1 << 16, /* and a storage, if it can */
    IPT__CUT_BLOCK_BYTES = 1 << 18,   /* the longest */
    IPT__CUT_GROUP_BYTES = 1 << 20,   /* of a group's super-elements together */
    IPT__CUT_THREADS = 16,            /* that shuffle in memory */
    IPT__CUT_STORED_THREADS = 2,      /* that read from a storage, and as many that write to it */
    IPT__CUT_BATCH = 1 << 16,         /* moves that are listed ahead */
    IPT__CUT_PAGE_BYTES = 4096
};

/* Bytes of a whole block that are worth its commands. On an H200 blocks of 992 KB move at 0.58 of the speed of whole
 * copies and panels at 0.54; of 256 KB at 0.16, and panels at 0.52. Tests take fewer, so that small matrices have
 * blocks. */
#ifndef IPT__BLOCK_BYTES_LEAST
#define IPT__BLOCK_BYTES_LEAST ((size_t)3 << 18)
#endif

/* Blocks of a matrix that is cut: see there. An H200's bus, both ways at once, moves rows of so many bytes at a part of
 * its speed: 8192 0.95, 8200 0.51, 12288 0.79, 16384 0.95; 7168 0.91, 5120 0.78, 4096 0.68. */
enum {
    IPT__BLOCK_ROW_MOST = 8192,
    IPT__BLOCK_ROW_LEAST = 1280, /* below that, super-elements that the host shuffles may take no longer */
    IPT__BLOCK_PARTS = 10,       /* that each side has at least */
    IPT__BLOCK_STRIPS = 3,       /* that go down one by one, as their places become free */
    IPT__BLOCK_SPARE = 8,        /* of so many units, one is kept free */
    IPT__BLOCK_PLANS = 4,        /* for whole blocks, and for those at the lower, the right and both edges */
    IPT__BLOCK_QUEUES = 3,       /* for uploads, kernels and downloads */
    IPT__BLOCK_AHEAD = 48        /* commands that are enqueued before the first of them has ended */
};

/* Rows in host memory that lie one after the other on the device. */
typedef struct ipt__rect {
    size_t offset, rows, row_bytes, pitch; /* bytes; offset: of the first one */
} ipt__rect;

/* Up to three of them, one after the other on the device, too. */
typedef struct ipt__area {
    ipt__rect rects[3];
    int count;
} ipt__area;

/* What one device has of a host matrix. */
typedef struct ipt__host_share {
    ipt_context *context;
    ipt_plan *plans[4]; /* of a whole part, of the last one if that is smaller; of what is left of a cut matrix, and of
                           a group */
    ipt_plan *block_plans[IPT__BLOCK_PLANS];
    cl_mem buffer;
    cl_command_queue queues[IPT__HOST_PARTS_MOST];
    int queue_count;
    cl_mem pinned; /* IPT__HOST_SLOTS for each thread; NULL: not needed yet */
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

/* A command for a matrix that goes through the device by blocks. Each kind has a queue of its own. */
typedef enum ipt__haul_kind { IPT__HAUL_UP, IPT__HAUL_TRANSPOSE, IPT__HAUL_DOWN } ipt__haul_kind;

typedef struct ipt__haul {
    ipt__haul_kind kind;
    int plan;                        /* TRANSPOSE: of the share's block_plans */
    ipt__rect rect;                  /* UP and DOWN */
    size_t device;                   /* bytes into the share's buffer */
    size_t after[IPT__BLOCK_QUEUES]; /* of each queue, the last command that must have ended, plus 1; 0: none must */
    cl_event event;
} ipt__haul;

typedef struct ipt__host {
    ipt__host_share *shares;
    size_t share_count;
    ipt__host_part *parts;
    size_t part_count;
    ipt__haul *hauls; /* for one matrix */
    size_t haul_count;
    char *scratch; /* of a matrix that is cut: see ipt__shuffle_bytes; behind that what is left of its longer side */
    size_t scratch_bytes;
} ipt__host;

/* How matrices that do not fit go through the device: by panels, or as whole ones. */
typedef struct ipt__cut {
    size_t chunk_bytes;            /* that go at a time; 0: the plan's matrices are not cut */
    size_t chunks;                 /* to a matrix that is cut, else to the batch */
    size_t matrices;               /* whole ones to a chunk; 0: matrices are cut, and all below counts */
    size_t shorter, length;        /* sides of a panel, in elements; length: of a super-element, too */
    size_t panels, rest;           /* that the longer side has, and what is left of it, in elements */
    size_t chunk_panels;           /* at most, to a chunk */
    size_t group, groups, spare;   /* lines of the longer side that are shuffled together, and how many are left over */
    size_t piece_bytes;            /* of a super-element */
    size_t block_bytes;            /* of as many as a group has: what the shuffle moves */
    size_t line_bytes, rest_bytes; /* of the longer side, and of what is left of all its lines */
    size_t spare_bytes;            /* of the spare lines, without what is left */
    int tall, backward;            /* backward: panels are taken from the last to the first */
} ipt__cut;

typedef ipt_result (*ipt__plan_maker)(ipt_context *context, const ipt_plan_desc *desc, ipt_plan *lender,
                                      ipt_plan **plan);

/* How a matrix that is cut goes through the device if that reaches it by itself, and has room enough: by blocks. */
typedef struct ipt__blocks {
    size_t length, panels;     /* rows of a panel; the last one may have less */
    size_t columns, per_panel; /* of a block, and blocks that a panel has; the last one may be narrower */
    size_t strip_cols;         /* columns of a block that go down together */
    size_t count;              /* of blocks */
    size_t unit_bytes, units;  /* of device memory, each for a block */
    size_t kept_units;         /* that are kept free for what comes up a second time */
    size_t bus_bytes;          /* that cross the bus for one matrix, up and down together; 0: not by blocks */
} ipt__blocks;

struct ipt_plan {
    ipt_context *context;
    ipt_plan_desc desc;              /* batch and batch_stride filled in */
    size_t matrix_bytes, span_bytes; /* of one matrix; from the first byte of the batch to its last */
    size_t unit_bytes, element_units;
    size_t pad_rows, pad_cols; /* in desc.rows and desc.cols */
    char *expression;          /* what desc points to */
    ipt__layout layout;
    ipt_plan *lender;   /* whose workspace, lock and last event it shares, if that has enough of it; NULL: its own */
    IPT_LOCK_TYPE lock; /* guards all below */
    ipt_plan *user;     /* the last to use the workspace; NULL: it is not known how that has left it */
    ipt__plan_kernel kernels[IPT__MAX_KERNELS];
    int kernel_count;
    int out_of_place_kernel; /* -1 until the first execution out of place */
    ipt__program *panel;     /* NULL: panels are not transposed by work-groups that wait */
    size_t resident;         /* its work-groups that run at the same time, as it was when it was asked for */
    int turn;                /* which of the two control blocks is clear */
    int dirty;               /* an execution failed: counters and flags may not be clear */
    cl_mem workspace;
    cl_event last;           /* of the execution before, which may still use the workspace; NULL: none */
    IPT_LOCK_TYPE host_lock; /* held while a host matrix is moved; guards host and parts_refused */
    ipt__host host;
    int parts_refused; /* host is AUTO, and parts would take too much workspace */
    size_t enough;     /* max_workspace that the last error about it has proposed; 0: there was none */
    ipt__cut cut;
    ipt__plan_maker make_piece; /* makes the plans of a cut matrix's pieces */
    ipt__blocks blocks;
    size_t host_workspace; /* bytes that its parts' plans have; guarded by lock */
    size_t refused;        /* bytes of the buffer that the device has refused last; 0: none */
    size_t most;           /* bytes of a buffer for matrices that are cut; 0: no limit */
    int in_pieces;         /* made because the device refuses the whole of a host matrix */
    ipt_plan *pieces;      /* such a plan, which executes for this one; NULL: none. Guarded by host_lock */
    ipt_context **split;   /* the contexts of a plan for several; NULL: it is for one */
    size_t split_count;
    char description[2048];
};

/* The planner's constants. */
enum {
    IPT__RUN_CPU = 8192, /* elements or pairs of them that a work-group takes; IPT__RUN_GPU: each work-item */
    IPT__RUN_GPU = 16,
    IPT__WORD_BYTES = 4,         /* shorter units are moved by words where everything is aligned to them */
    IPT__VECTOR_BYTES = 16,      /* what kernels for GPUs access at once */
    IPT__PIECE_BYTES_GPU = 1024, /* of a super-element that a work-group carries: short, for many chains */
    IPT__PIECE_BYTES_CPU = 16384,
    IPT__TILE_BYTES_CPU = 1 << 15,  /* a CPU's local memory is plain memory: what its nearest cache holds */
    IPT__TILE_BYTES_MANY = 1 << 18, /* and what the next one does, for many instances */
    IPT__TRANSPOSE_BYTES = 24576,   /* local memory of a tiled transposition */
    IPT__SLAB_BYTES_GPU = 32 << 20, /* slabs that the last cache holds cost no memory traffic */
    IPT__SLAB_BYTES_CPU = 4 << 20,
    IPT__SUPER_BYTES = 2048, /* longest super-element that is tried */
    IPT__PIECE_QUANTA = 128,
    IPT__UNIT_BYTES = 229376, /* local memory of a large GPU's unit, which chains fill */
    IPT__CHUNK_RUNS = 512,    /* as in panel.cl and out_of_place.cl */
    IPT__PAD_HELD = 16,       /* units of a work-item, as in pad.cl */
    IPT__MOST_DOWN = 8,       /* chunks along the long side of a tall panel */
    IPT__BLOCKS_TALL = 2,     /* of a panel, see panel.cl: 4 at most (IPT_BLOCKS in common.cl) */
    IPT__BLOCKS_WIDE = 4,
    IPT__BLOCK_ROWS = 60,         /* in each of those at least */
    IPT__ON_CHIP_BYTES = 1 << 26, /* more than all local memory of a device */
    IPT__NARROW_BYTES = 256,      /* rows up to this length are read or written many at a time */
    IPT__DIVISOR_WANTED = 64      /* tile side of a forced sequence, in the middle of what seed 000 recommends */
};

/* Cost model, in the spirit of seed 002's equation (2): the time of a stage, in bytes that a copy would move in that
 * time, is factor * bytes of all matrices + launches * launch. A shuffle's factor grows as super-elements get shorter:
 * 1 + overhead / bytes. Slots that begin anywhere touch one sector more than they fill: `gapped`. Units below a word
 * that cannot be moved by words: 1 + narrow * (units in a word - 1). */
typedef struct ipt__cost_model {
    double tile, swap, wave, shuffle_overhead, gapped, narrow, launch;
} ipt__cost_model;
static const ipt__cost_model ipt__cost_models[2] = {
    {2, 2.4, 4.3, 750, 1.1, 0.5, 2e7}, /* GPU: fitted to an H200 */
    {2, 4, 1.8, 300, 1.15, 0.1, 2e5}   /* CPU: fitted to PoCL on 2 cores */
};

/* The same for the kernels that only GPUs have, lengths in bytes. A panel: panel + tall_cut or wide_cut * (1 / x +
 * 1 / y) for the sectors that the edges of an x by y chunk cut + panel_wait * length of the panel, because more
 * work-groups wait for one another, less so the further its slots reach into the panel before, which has been read. A
 * narrow one: panel + narrow_step / length of a super-element, less no_wait if no work-group waits. Chains: chains +
 * chains_step / length of a super-element + cut + cut_step / length, if slots do not begin at lines of 128 bytes, +
 * idle * share of its class of lengths that a super-element leaves empty. */
typedef struct ipt__gpu_model {
    double panel, tall_cut, wide_cut, panel_wait, narrow_step, no_wait, chains, chains_step, cut, cut_step, idle;
} ipt__gpu_model;
static const ipt__gpu_model ipt__gpu_models = {1.15, 47, 17, 8e-9, 95, 0.08, 1.01, 137, 0.19, 4, 0.05}; /* of an H200 */
