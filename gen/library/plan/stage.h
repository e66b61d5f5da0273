/* Stages, layouts and the plan. */

/* The kinds of stages: what each can do, and the functions of stages/ that serve it. X(kind, traits, functions); P: the
 * same for kinds that only the papers have. traits are the members of ipt__traits, functions those of
 * ipt__stage_functions.
 * SAVE: copies rows x cols elements at origin to the save area, transposed unless it is `straight`.
 * RESTORE: copies the save area to rows of `length` elements at origin, row_stride apart.
 * The next kinds transpose the instances of their grid.
 * TILE: whole instances in local memory.
 * SWAP: square instances, by tile pairs.
 * THIN: instances of 2 to 4 rows or columns, by tiles and runs.
 * SPREAD: changes the distance of rows, through a slab for each instance. It transposes nothing.
 * WAVE: instances through slabs of global memory, one slab each.
 * PANEL: instances by cooperative work-groups that hold a chunk each.
 * SHUFFLE: instances by cycle following with one flag bit per slot.
 * EXCHANGE: the matrix by bands, one instance each.
 * VIEW: an array with gaps by cycle following with one flag bit per element of a window.
 * Epilogue stages:
 * FLIP: reverses the sequence of rows, or each row, or both, of rows x cols elements.
 * MAP: applies the plan's expression to every element.
 * Kernels of the papers alone:
 * PTTWAC_010: instances in global memory, by work-groups with flags in local memory.
 * P_IPT: instances by cycle following without flags.
 * PAD: changes the stride of rows of `length` elements from origin to row_stride. */
#define IPT__STAGE_LIST(X, B, V, P)                                                                                    \
    X(SAVE, (0, 0, 0, 0, 0, 2), (nothing, nothing, save, never, never, save, save, save))                              \
    X(RESTORE, (0, 0, 0, 0, 0, 0), (nothing, nothing, save, never, restore, restore, restore, restore))                \
    X(TILE, (0, 1, 0, 0, 1, 1), (nothing, nothing, tile, alone, never, tile, tile, tile))                              \
    X(SWAP, (0, 1, 0, 0, 1, 1), (nothing, nothing, swap, swap, never, swap, swap, swap))                               \
    B(THIN, (0, 0, 0, 0, 0, 1), (nothing, nothing, nothing, never, never, thin, thin, thin))                           \
    X(SPREAD, (0, 0, 1, 1, 1, 3), (spread, nothing, nothing, never, never, spread, spread, spread))                    \
    X(WAVE, (1, 0, 1, 0, 1, 1), (wave, nothing, wave, never, wave, wave, wave, wave))                                  \
    X(PANEL, (1, 0, 0, 0, 0, 1), (nothing, panel, panel, alone, never, panel, panel, panel))                           \
    X(SHUFFLE, (0, 0, 0, 0, 1, 0), (shuffle, shuffle, shuffle, never, shuffle, shuffle, shuffle, shuffle))             \
    B(BOX, (0, 0, 0, 0, 0, 5), (nothing, box, box, never, never, box, box, box))                                       \
    X(EXCHANGE, (0, 0, 0, 1, 0, 1), (exchange, exchange, exchange, always, never, exchange, exchange, exchange))       \
    V(VIEW, (0, 0, 0, 0, 0, 1), (view, nothing, nothing, never, never, view, view, view))                              \
    X(FLIP, (0, 0, 0, 0, 0, 0), (nothing, nothing, nothing, never, never, flip, flip, flip))                           \
    X(MAP, (0, 0, 0, 0, 0, 0), (nothing, nothing, nothing, never, never, map, map, map))                               \
    P(PTTWAC_010, (0, 0, 0, 0, 1, 0), (nothing, nothing, nothing, never, never, pttwac_010, cycles, pttwac_010))       \
    P(P_IPT, (0, 0, 0, 0, 1, 0), (nothing, nothing, nothing, never, never, p_ipt, cycles, p_ipt))                      \
    P(PAD, (0, 0, 0, 0, 0, 0), (pad, nothing, nothing, never, never, pad, pad, pad))

typedef enum ipt__stage_kind {
#define IPT__STAGE_ENUMERATOR(kind, traits, functions) IPT__STAGE_##kind,
    IPT__STAGE_LIST(IPT__STAGE_ENUMERATOR, IPT__STAGE_ENUMERATOR, IPT__STAGE_ENUMERATOR, IPT__STAGE_ENUMERATOR)
        IPT__STAGE_COUNT
} ipt__stage_kind;

/* What a kind of stage can do, or does otherwise than others. */
typedef struct ipt__traits {
    unsigned char lines;    /* slots are lines of the instances, not super-elements */
    unsigned char local;    /* instances move through local memory once, without workspace */
    unsigned char slabs;    /* needs slabs of the workspace, as many as a cache holds */
    unsigned char in_turn;  /* one instance at a time */
    unsigned char in_parts; /* also moves some of the instances, wherever they lie */
    unsigned char applies;  /* bits: 1: can apply the expression to every element; 2: to those of this stage, and other
                               stages apply it to the rest; 4: also an expression that names places */
} ipt__traits;
static const ipt__traits ipt__stage_traits[] = {
#define IPT__STAGE_TRAITS(...) {__VA_ARGS__},
#define IPT__STAGE_TRAITS_ROW(kind, traits, functions) IPT__STAGE_TRAITS traits
    IPT__STAGE_LIST(IPT__STAGE_TRAITS_ROW, IPT__STAGE_TRAITS_ROW, IPT__STAGE_TRAITS_ROW, IPT__STAGE_TRAITS_ROW)};

/* `instances` independent rows x cols grids of super-elements of `length` elements. */
typedef struct ipt__grids {
    size_t instances, rows, cols, length;
} ipt__grids;

static ipt__grids ipt__grids_of(size_t instances, size_t rows, size_t cols, size_t length)
{
    ipt__grids grids;
    grids.instances = instances;
    grids.rows = rows;
    grids.cols = cols;
    grids.length = length;
    return grids;
}

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

/* The rows of a tile in local memory: see ipt_fetch_rows in parts/rows.cl. */
typedef struct ipt__tile_layout {
    size_t pitch, skew, run_lanes;
} ipt__tile_layout;

/* The chunks of a PANEL stage: see panel.cl. Lengths in elements. */
typedef struct ipt__chunks {
    size_t pack, packs;   /* panels per ticket group; ticket groups without the tail */
    size_t ticket_groups; /* ticket groups with the tail */
    size_t x, y;          /* a chunk along the short and the long side */
    size_t local_x;       /* of x, in local memory; the others in registers, as rows of held_row vectors */
    size_t held_row;
    size_t across, down;
    size_t blocks, block_rows; /* parts of a chunk along the long side, each with a wait of its own */
    ipt__tile_layout tile;
    int tall, narrow, neighbours, waits;
} ipt__chunks;

/* The boxes of a BOX stage: see box.cl. Lengths in units, by the axes' sequence in the source. */
typedef struct ipt__box_stage {
    int rank;
    cl_uint lengths[IPT__KERNEL_AXES], box[IPT__KERNEL_AXES];
    unsigned char goal[IPT__KERNEL_AXES]; /* for each axis its place in the result */
    int source_narrow, target_narrow;     /* 1: units move by words at most, before and after, else by vectors */
    int crosses;                          /* units change places by blocks if addresses allow */
    int splits;  /* runs of the source have the last axis alone, so that gaps can follow each */
    cl_uint gap; /* after each run of the source in the box, in words or vectors */
} ipt__box_stage;

enum { IPT__MAX_STAGES = 8 };

/* The parameters that only one kind of stage has. Kernels' local memory in bytes, group sizes in work-items. */
typedef struct ipt__tile_stage {
    size_t pack_bytes, pack_group; /* local memory and group size of kernel pack; 0: kernel tile */
} ipt__tile_stage;

typedef struct ipt__swap_stage {
    size_t side;   /* of a tile, in elements */
    size_t places; /* tiles that change places: 2, or 4 in rotations by 90 degrees */
    int turns;     /* also reverses rows, their sequence, or both: move says which */
    size_t local_bytes, group_size;
    ipt__tile_layout tile; /* rows in local memory, if side > 32 */
} ipt__swap_stage;

typedef struct ipt__shuffle_stage {
    size_t piece_units, pieces; /* parts of a super-element, moved independently */
    int chains;                 /* by sub-groups */
    int pairs;                  /* inner, of a square: in pairs */
    size_t spread;              /* words over which the flags of one word are spread; 0: 1 */
    size_t piece_vectors;       /* chains: vectors that a piece touches, rounded up to classes */
    int gap_restore;            /* moves gaps: fills them from the save area, else saves them there */
} ipt__shuffle_stage;

/* The bands of an EXCHANGE stage. Lengths in elements.
 *
 * The band layout has `rows` rows of `cols` elements: the source if `tall`, else the result. The slot layout is the
 * other one. Its rows are the columns of the band layout. A band is `height` rows of the band layout. A range is
 * `width` columns, as many ranges as bands. The rest are the last rest_rows rows and rest_cols columns.
 *
 * A band's part of a column is a run: contiguous in the slot layout. A step moves all runs of one band. Run `column` of
 * band s goes to its place if the column is in the range of band s or of a band before it in the sequence, else it is
 * parked in the range of band s. Column d * width + i of band s and column s * width + i of band d have equal runs.
 * These two change places when the later of the two bands moves, so a vacated place always gets exactly one run. */
typedef struct ipt__bands {
    size_t number, height, width;
    size_t rows, cols; /* of the band layout */
    size_t rest_rows, rest_cols;
    unsigned char tall;
    unsigned char saves_rows;  /* the rest rows are saved in the workspace; 0: the rest columns */
    unsigned char from_last;   /* the last band comes first, so that a step writes only what has been read */
    unsigned char saves_first; /* the saved rest belongs to the source: it is saved first. Else it is restored last */
    unsigned char together;    /* by cooperative work-groups (see exchange.cl), else in waves */
    size_t saved_origin;       /* the saved rest's place in a matrix */
    size_t row_units, column_units; /* from row to row of the band layout and of the slot layout */
    /* The saved rest: rows of saved_row units, and their distance in the workspace. The matrix has them as far apart as
     * its layout's rows. Work-groups that move bands together keep that distance in the workspace, gaps included. */
    size_t saved_rows, saved_row, saved_distance;
    size_t workers; /* work-groups that share the waves in one launch (see waves.cl); 0: a launch for each step */
    /* If the work-groups move bands together: */
    size_t positions;   /* the bands, the rest rows and the saved rest, as far as there are any */
    size_t chunks;      /* of a position */
    size_t chunk_width; /* columns of a chunk */
    size_t rest_chunks; /* chunks before those of the rest columns */
    size_t rest_width;  /* columns of these */
    ipt__tile_layout tile;
} ipt__bands;

/* The place of a SAVE or RESTORE stage's elements. */
typedef struct ipt__rows_stage {
    size_t origin;        /* elements before them */
    size_t apart, before; /* units from row to row if rows have gaps, else 0; before the first one */
} ipt__rows_stage;

/* The tiles of a THIN stage: elements along the longer side, and work-groups that share a matrix. */
typedef struct ipt__thin_stage {
    size_t tile_length, parts;
} ipt__thin_stage;

/* The parts of elements that a VIEW stage moves, and its launches, each with flags for as many elements. */
typedef struct ipt__view_stage {
    size_t piece_units, pieces, windows;
} ipt__view_stage;

/* The distances of rows before and after a SPREAD stage, in units, and the units before the first row. */
typedef struct ipt__spread_stage {
    size_t distance[2], before[2];
} ipt__spread_stage;

/* One stage: `instances` independent rows x cols grids of super-elements of `length` elements become cols x rows. */
typedef struct ipt__stage {
    ipt__stage_kind kind;
    int word_kernel;  /* copy or shuffle kernel for words */
    int kernels[2];   /* indices in the plan; WAVE and EXCHANGE have two */
    size_t instances; /* per matrix */
    size_t rows, cols, length;
    size_t inner_rows, inner_cols; /* SHUFFLE: also transposes each super-element, such a matrix; 0: does not */
    size_t row_slots, row_stride;  /* slots lie on rows of row_slots slots, row_stride elements apart; 0: densely */
    size_t tail_length;            /* PANEL, and SHUFFLE that moves gaps: remaining rows or columns */
    size_t matrices_at_once, instances_at_once; /* per launch, limited by the workspace */
    unsigned char straight;                     /* SAVE, TILE: does not transpose */
    unsigned char last_first;                   /* the last instance comes first */
    unsigned char gapped_source;                /* WAVE, PANEL on such a grid: the source lies on it, else the target */
    unsigned char reversed_rows, reversed_cols; /* FLIP; TILE, EXCHANGE, a single PANEL or SWAP: of the result */
    unsigned char apply;                        /* applies the plan's expression; 2: by places */
    unsigned char by_words;                     /* runs may move by IPT__WORD_BYTES, if byte_offset is aligned */
    const ipt__variant *variant;                /* forced kernel of a paper; NULL: none */
    size_t lanes, workers; /* variant, inner shuffle: cooperating work-items; such workers per work-group */
    union {                /* of the kind */
        ipt__tile_stage tile;
        ipt__swap_stage swap;
        ipt__thin_stage thin;
        ipt__spread_stage spread;
        ipt__rows_stage rows;
        size_t pad_stride; /* PAD: elements from row to row before */
        ipt__chunks panel;
        ipt__shuffle_stage shuffle;
        ipt__bands bands;
        ipt__box_stage box;
        ipt__view_stage view;
    } as;
} ipt__stage;

/* The forced kernel of a paper, or NULL. */
static const ipt__variant *ipt__variant_of(const ipt__stage *stage)
{
    return IPT__PAPERS ? stage->variant : NULL;
}

/* Whether a SHUFFLE stage also transposes each super-element. */
static int ipt__turns_inner(const ipt__stage *stage)
{
    return IPT__PAPERS && stage->inner_rows;
}

/* EXCHANGE: whether the columns of the slot layout are backwards, and the rows of the band layout. The slot layout is
 * that of the result (tall) or of the source (wide). */
static int ipt__reversed_runs(const ipt__stage *stage)
{
    return stage->as.bands.tall ? stage->reversed_cols : stage->reversed_rows;
}
static int ipt__reversed_columns(const ipt__stage *stage)
{
    return stage->as.bands.tall ? stage->reversed_rows : stage->reversed_cols;
}

/* A plan's choice without OpenCL objects: the planner compares layouts. */
typedef struct ipt__layout {
    int stage_count;
    size_t saved_elements;    /* per matrix, at the start of the workspace */
    size_t saved_units;       /* their memory; 0 before ipt__layout_finish, if they have no gaps */
    size_t saved_bytes;       /* of all matrices, rounded up to 256 */
    size_t length;            /* elements of a super-element of two passes; 0: no two passes */
    size_t bands, height;     /* of an exchange; 0: no exchange */
    int has_epilogue;         /* epilogue stages were added */
    int cooperative;          /* has a PANEL stage; it and the shuffle share the next workspace parts: */
    size_t control_words;     /* per control block; two alternate, the first at saved_bytes */
    size_t flags_offset;      /* bytes */
    size_t alone_offset;      /* bytes; flags for a single work-group that transposes a panel alone */
    size_t scratch_offset;    /* bytes; scratch memory that the stages share */
    size_t workspace;         /* bytes: scratch_offset and the largest need of a stage */
    size_t minimum_workspace; /* bytes that these stages need at least */
    double cost;              /* bytes that a copy would move in the same time */
    ipt__stage stages[IPT__MAX_STAGES];
} ipt__layout;
