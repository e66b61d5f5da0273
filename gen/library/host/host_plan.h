/* The data of plans for matrices in host memory. Fitted numbers are in device/speed.h. */
enum {
    IPT__HOST_PARTS_MOST = 64, /* limits the command queues, too */
    IPT__HOST_SLOTS = 2,
    /* Cut matrices: see host/cut.h. */
    IPT__CUT_PLAN_REST = 2, /* index into a share's plans */
    IPT__CUT_PLAN_GROUP = 3,
    IPT__CUT_SLOTS = 3,          /* chunks in flight: one upload, one transposition, one download */
    IPT__CUT_MARK_BYTES = 64,    /* after the memory of passes in a storage */
    IPT__CUT_STORED_THREADS = 2, /* the number of a storage's readers, and of its writers */
    IPT__CUT_PAGE_BYTES = 4096,
    /* Blocks: see host/blocks.h. */
    IPT__BLOCK_PLANS = 4,  /* for whole blocks, and for those at the lower, the right and both edges */
    IPT__BLOCK_QUEUES = 3, /* for uploads, kernels and downloads */
    /* Bands: see host/bus_bands.h. */
    IPT__BUS_PIECES = 3,     /* places for parked runs, and as many for own runs */
    IPT__BUS_ALIGNMENT = 256 /* of places on the device */
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
    size_t bytes;  /* of the buffer, with parts */
    cl_mem buffer; /* NULL: not needed yet */
    cl_command_queue queues[IPT__HOST_PARTS_MOST];
    int queue_count;
    int borrows_queue; /* the only queue is the context's */
    ipt__pinned ring;  /* IPT__HOST_SLOTS per thread; buffer NULL: not needed yet */
} ipt__host_share;

typedef struct ipt__host_part {
    ipt__host_share *share;
    ipt_plan *plan;
    cl_command_queue queue;
    size_t device; /* bytes from the start of the share's buffer */
    ipt__area up, down;
    cl_event uploaded, transposed, downloaded;
} ipt__host_part;

/* A command for a matrix that is transferred by blocks or by bands. Each kind has its own queue, see
 * ipt__share_add_queue. Copies on the device share that of the kernels. */
typedef enum ipt__command_kind {
    IPT__COMMAND_UPLOAD,
    IPT__COMMAND_TRANSPOSE,
    IPT__COMMAND_DOWNLOAD,
    IPT__COMMAND_COPY
} ipt__command_kind;

typedef struct ipt__command {
    ipt__command_kind kind;
    int plan;                        /* TRANSPOSE: index into the share's block_plans */
    ipt__rect rect;                  /* UPLOAD and DOWNLOAD. COPY: its source, one row in the share's buffer */
    size_t device;                   /* bytes into the share's buffer */
    size_t after[IPT__BLOCK_QUEUES]; /* per queue, the last command to wait for, plus 1; 0: none */
    cl_event event;
} ipt__command;

/* IPT_HOST_STAGES: the parts of the stages before and after the stage that needs the whole matrix. */
typedef struct ipt__host_stages {
    int whole;               /* index of that stage */
    size_t before, after;    /* instances, or rows and columns, that the parts of uploads and of downloads share */
    size_t ups, downs;       /* number of these parts */
    ipt__launches *launches; /* of the uploads, of the whole stage, of the downloads */
    size_t count;
} ipt__host_stages;

typedef struct ipt__host {
    ipt__host_share *shares;
    size_t share_count;
    ipt__host_part *parts;
    size_t part_count;
    ipt__host_stages stages;
    ipt__command *commands; /* of one matrix by blocks or bands; NULL: matrices go by panels */
    size_t command_count;
    char *scratch; /* cut matrices: ipt__shuffle_bytes, then the remainder of the longer side */
    size_t scratch_bytes;
} ipt__host;

/* How matrices beyond the device's memory are cut: into panels, or between whole matrices. */
typedef struct ipt__cut {
    size_t chunk_bytes;            /* per transfer */
    size_t chunks;                 /* per cut matrix, else per batch */
    size_t matrices;               /* whole matrices per chunk; 0: matrices are cut, the next fields are valid */
    size_t shorter, length;        /* sides of a panel, in elements: all of the side that is not cut, the length of a
                                      super-element */
    size_t panels, rest;           /* panels of the longer side; remaining elements */
    size_t chunk_panels;           /* maximum per chunk */
    size_t group, groups, spare;   /* lines of the longer side that are shuffled together; remaining lines */
    size_t piece_bytes;            /* of a super-element */
    size_t block_bytes;            /* of a group's super-elements: the shuffle's block */
    size_t line_bytes, rest_bytes; /* of the longer side; of the remainder of all lines */
    size_t spare_bytes;            /* of the spare lines, without the remainder */
    int tall;
} ipt__cut;

/* Makes a plan for pieces. */
struct ipt__workspace;
typedef ipt_result (*ipt__plan_maker)(ipt_context *context, const ipt_plan_desc *desc, struct ipt__workspace *lent,
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

/* How a cut matrix is transferred by bands. This needs host memory that the device accesses. */
typedef struct ipt__bus_bands {
    ipt__bands bands;       /* number 0: bands are not used */
    size_t size, run_bytes; /* bytes of an element, of a run */
    size_t piece_columns;   /* runs that change places together, at most */
    size_t band_bytes;      /* of a band's place on the device; two are at its beginning */
    size_t piece_bytes;     /* of a piece's place */
    size_t pieces_at;       /* bytes before the places of pieces: parked runs, own runs; and before the remainders */
    size_t rest_rows_at, rest_cols_at;
    size_t device_bytes; /* of all places */
    size_t bus_bytes;    /* bus traffic per matrix, both directions */
} ipt__bus_bands;

/* A piece that a plan transposes: its sides, and the bytes of an element. */
typedef struct ipt__bus_piece {
    size_t rows, cols, size;
} ipt__bus_piece;

/* The part of a plan that cuts its matrices: see host/cut.h. */
typedef struct ipt__cut_plan {
    ipt__cut sizes;
    ipt__plan_maker make_piece; /* makes the plans of pieces */
    ipt__blocks blocks;
    ipt__bus_bands bus_bands;
    size_t most; /* largest buffer in bytes; 0: no limit */
} ipt__cut_plan;

/* The part of a plan that moves matrices in host memory. It executes the plan's stages, or plans of pieces. */
typedef struct ipt__host_plan {
    IPT_LOCK_TYPE lock; /* locked during transfers; guards staging, parts_refused and pieces */
    ipt__host staging;
    int parts_refused; /* host is AUTO, and parts exceed the workspace limit, or cannot be built */
    int in_pieces;     /* made because the device refused the whole host matrix */
    ipt_plan *pieces;  /* a plan in pieces, or in units of bytes, that executes for this plan; NULL: none */
} ipt__host_plan;
