/* Cut matrices: panels, groups and moves. */

/* A matrix that exceeds the device is cut along its longer side into panels of `length`. One with permuted columns is
 * cut along its other side, whatever the lengths: the device permutes the columns of each panel. The device transposes
 * the panels in place, chunk by chunk. The host performs the other half of the two-pass method, the shuffle of
 * super-elements, in memory or in the storage. For a tall matrix the panels come first, for a wide matrix the shuffle.
 * So every byte crosses the bus once per direction, and is read and written twice in host memory or storage. The
 * remainder of the longer side is saved first and restored last. As in the two-pass method, slots begin on the rows of
 * the tall form. Slot t lies at byte (t div panels) * line + (t mod panels) * block. So panels of a tall matrix are
 * written from the last to the first, panels of a wide matrix from the first to the last. The write of a panel follows
 * the read of the previous panel in this order. */

/* The length of the side that is not cut. */
static size_t ipt__cut_shorter(const ipt__problem *problem)
{
    return ipt__is_tall(problem) ? problem->desc.cols : problem->desc.rows;
}

/* Chooses the size of panels and chunks. wanted: sufficient bytes of a super-element. Returns 0 if no size fits. */
static int ipt__cut_make(const ipt_plan *plan, size_t capacity, size_t wanted, ipt__cut *cut)
{
    const ipt_plan_desc *const desc = &plan->problem.desc;
    const int tall = ipt__is_tall(&plan->problem);
    const size_t size = desc->elem_size, longer = tall ? desc->rows : desc->cols;
    size_t most, length;
    memset(cut, 0, sizeof *cut);
    cut->tall = tall;
    cut->shorter = ipt__cut_shorter(&plan->problem);
    if (plan->problem.matrix_bytes <= capacity) {
        const size_t enough = ipt__max(ipt__min(capacity, IPT__CUT_CHUNK_BYTES) / plan->problem.matrix_bytes, 1);
        cut->matrices = ipt__min(enough, desc->batch);
        cut->chunks = ipt__ceil_divide(desc->batch, cut->matrices);
        cut->chunk_bytes = cut->matrices * plan->problem.matrix_bytes;
        return 1;
    }
    if (ipt__problem_moves(&plan->problem) == IPT__MOVES_ARRAYS)
        return 0;
    if (cut->shorter <= IPT__CUT_CHUNK_BYTES / wanted)
        capacity = ipt__min(capacity, IPT__CUT_CHUNK_BYTES);
    else
        capacity = ipt__min(capacity, wanted * cut->shorter);
    most = ipt__min(capacity / (cut->shorter * size), ipt__max(IPT__CUT_BLOCK_BYTES / size, 1));
    if (!most || most * size < IPT__CUT_RUN_BYTES)
        return 0;
    cut->length = most;
    for (length = most; length > most - most / 8 && most - length < 4096; --length)
        if (longer % length < longer % cut->length)
            cut->length = length;
    cut->panels = longer / cut->length;
    cut->rest = longer % cut->length;
    cut->piece_bytes = cut->block_bytes = cut->length * size;
    cut->line_bytes = longer * size;
    cut->rest_bytes = cut->rest * size * cut->shorter;
    cut->chunk_panels = ipt__min(capacity / (cut->piece_bytes * cut->shorter), cut->panels);
    cut->chunks = ipt__ceil_divide(cut->panels, cut->chunk_panels);
    cut->chunk_bytes = cut->chunk_panels * cut->piece_bytes * cut->shorter;
    cut->group = 1;
    cut->groups = cut->shorter;
    return 1;
}

/* The number of panels or matrices of chunk `index`. */
static size_t ipt__cut_count(const ipt_plan *plan, size_t index)
{
    const ipt__cut *const cut = &plan->cut->sizes;
    return cut->matrices ? ipt__min(cut->matrices, plan->problem.desc.batch - index * cut->matrices)
                         : ipt__min(cut->chunk_panels, cut->panels - index * cut->chunk_panels);
}

/* The start of a slot, in bytes from the start of the matrix. */
static size_t ipt__cut_slot(const ipt__cut *cut, size_t slot)
{
    return slot / cut->panels * cut->group * cut->line_bytes + slot % cut->panels * cut->block_bytes;
}

/* The slots of a chunk's super-elements in the tall form. */
static ipt__area ipt__cut_slots(const ipt__cut *cut, size_t first_panel, size_t count)
{
    size_t at = first_panel * cut->groups, left = count * cut->groups, bite;
    ipt__area area;
    memset(&area, 0, sizeof area);
    if (!cut->rest) {
        ipt__area_add(&area, at * cut->block_bytes, 1, left * cut->block_bytes, 0);
        return area;
    }
    if (at % cut->panels) {
        bite = ipt__min(cut->panels - at % cut->panels, left);
        ipt__area_add(&area, ipt__cut_slot(cut, at), 1, bite * cut->block_bytes, 0);
        at += bite;
        left -= bite;
    }
    ipt__area_add(&area, ipt__cut_slot(cut, at), left / cut->panels, cut->panels * cut->block_bytes,
                  cut->group * cut->line_bytes);
    at += left / cut->panels * cut->panels;
    ipt__area_add(&area, ipt__cut_slot(cut, at), left % cut->panels ? 1 : 0, left % cut->panels * cut->block_bytes, 0);
    return area;
}

/* The areas of a chunk before and after the device transposes it. */
static void ipt__cut_places(const ipt_plan *plan, size_t index, ipt__area *before, ipt__area *after)
{
    const ipt__cut *const cut = &plan->cut->sizes;
    const size_t count = ipt__cut_count(plan, index), panel_bytes = cut->piece_bytes * cut->shorter;
    if (cut->matrices) {
        *before = ipt__area_of(index * cut->matrices * plan->problem.desc.batch_stride, count,
                               plan->problem.matrix_bytes, plan->problem.desc.batch_stride);
        *after = *before;
    } else {
        *before = ipt__area_of(index * cut->chunk_panels * panel_bytes, 1, count * panel_bytes, 0);
        *after = ipt__cut_slots(cut, index * cut->chunk_panels, count);
        if (!cut->tall) {
            const ipt__area dense = *before;
            *before = *after;
            *after = dense;
        }
    }
}

/* The areas of the remainder before and after its transposition. */
static void ipt__cut_rest_places(const ipt__cut *cut, ipt__area *before, ipt__area *after)
{
    const size_t rest = cut->rest_bytes / cut->shorter, panels = cut->panels * cut->piece_bytes;
    const ipt__area dense = ipt__area_of(panels * cut->shorter, 1, cut->rest_bytes, 0),
                    ends = ipt__area_of(panels, cut->shorter, rest, cut->line_bytes);
    *before = cut->tall ? dense : ends;
    *after = cut->tall ? ends : dense;
}

/* The chunk of a turn. Panels of a tall matrix run from the last to the first: see the top of this part. Spare lines
 * reverse the order: see ipt__cut_make_groups. */
static size_t ipt__cut_chunk_at(const ipt__cut *cut, size_t turn)
{
    const int backward = !cut->matrices && cut->tall != (cut->spare != 0);
    return backward ? cut->chunks - 1 - turn : turn;
}

/* ---- the shuffle's moves ---- */

/* Generates the shuffle's moves, cycle by cycle. Each move fills a slot; the next move may overwrite that move's
 * source. The last move of a cycle needs the former content of the cycle's first slot. */
typedef struct ipt__moves_list {
    size_t inner, outer;    /* slot t receives slot (t mod inner) * outer + t div inner */
    size_t next, start, at; /* next: first slot to search for the next cycle */
    int active;             /* inside a cycle */
    unsigned char *moved;   /* one bit per slot */
} ipt__moves_list;

static size_t ipt__moves_bytes(const ipt__cut *cut)
{
    return cut->panels * cut->groups / 8 + 1;
}

static IPT__RARE void ipt__moves_begin(ipt__moves_list *moves, const ipt__cut *cut, unsigned char *moved)
{
    memset(moves, 0, sizeof *moves);
    moves->inner = cut->tall ? cut->panels : cut->groups;
    moves->outer = cut->tall ? cut->groups : cut->panels;
    moves->moved = moved;
    memset(moved, 0, ipt__moves_bytes(cut));
}

typedef struct ipt__move_step {
    size_t target, source;
    int begins, ends; /* of its cycle; ends: the source is the cycle's first slot */
} ipt__move_step;

/* The next move. Call it at most once per move. */
static ipt__move_step ipt__moves_next(ipt__moves_list *moves)
{
    ipt__move_step step;
    step.begins = !moves->active;
    if (!moves->active) {
        size_t t = moves->next;
        while (moves->moved[t / 8] >> t % 8 & 1 || t % moves->inner * moves->outer + t / moves->inner == t)
            ++t;
        moves->next = t + 1;
        moves->start = moves->at = t;
        moves->active = 1;
    }
    step.target = moves->at;
    step.source = step.target % moves->inner * moves->outer + step.target / moves->inner;
    moves->moved[step.target / 8] |= (unsigned char)(1u << step.target % 8);
    step.ends = step.source == moves->start;
    moves->active = !step.ends;
    moves->at = step.source;
    return step;
}

/* ---- the shuffle in memory ---- */
