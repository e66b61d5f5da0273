/* Cut matrices: transfers by blocks. */

/* Bytes that a command moves over the bus. */
static size_t ipt__command_bytes(const ipt__command *command)
{
    return command->kind == IPT__COMMAND_COPY ? 0 : command->rect.rows * command->rect.row_bytes;
}

/* The state of a block during planning: not uploaded, in a unit, in a spill slot, or in its final place. */
typedef struct ipt__block_state {
    int unit;       /* unit that holds the block; -1: none */
    int spill_slot; /* another block, in whose final place this block waits; -1: none */
    int spilled;    /* another block, which waits in this block's final place; -1: none */
    size_t done;    /* number of strips in their final places, from the first on */
} ipt__block_state;

/* For each queue, the last command that uses a unit or a final place, plus 1. */
typedef struct ipt__block_uses {
    size_t last[IPT__BLOCK_QUEUES];
} ipt__block_uses;

/* State of the planning. Blocks are numbered panel by panel. */
typedef struct ipt__command_list {
    const ipt_plan_desc *desc;
    const ipt__blocks *sizes;
    ipt__command *commands;
    size_t count, most; /* most: capacity of the list */
    int full;
    ipt__block_state *blocks;
    int *held; /* the block in each unit; -1: none */
    ipt__block_uses *units, *places;
    size_t free_units, next_unit;
    size_t newest;           /* block that was uploaded last */
    size_t uploaded, upload; /* complete panels; their last command, plus 1 */
} ipt__command_list;

static size_t ipt__block_rows(const ipt__command_list *list, size_t block)
{
    return ipt__min(list->sizes->length, list->desc->rows - block / list->sizes->per_panel * list->sizes->length);
}

static size_t ipt__block_cols(const ipt__command_list *list, size_t block)
{
    return ipt__min(list->sizes->columns, list->desc->cols - block % list->sizes->per_panel * list->sizes->columns);
}

static size_t ipt__block_strips(const ipt__command_list *list, size_t block)
{
    return ipt__ceil_divide(ipt__block_cols(list, block), list->sizes->strip_cols);
}

/* The rows that strips [first, end) of a block occupy in the final place of block `place`. */
static ipt__rect ipt__block_rect(const ipt__command_list *list, size_t block, size_t place, size_t first, size_t end)
{
    const ipt__blocks *const sizes = list->sizes;
    const size_t size = list->desc->elem_size, from = first * sizes->strip_cols;
    const size_t row = place % sizes->per_panel * sizes->columns + from,
                 column = place / sizes->per_panel * sizes->length;
    return ipt__rect_of((row * list->desc->rows + column) * size,
                        ipt__min(end * sizes->strip_cols, ipt__block_cols(list, block)) - from,
                        ipt__block_rows(list, block) * size, list->desc->rows * size);
}

/* The number of panels to upload before the block's first strips may be written. */
static size_t ipt__block_ready(const ipt__command_list *list, size_t block, size_t strips)
{
    const ipt__rect rect = ipt__block_rect(list, block, block, 0, strips);
    const size_t end = rect.offset + (rect.rows - 1) * rect.pitch + rect.row_bytes;
    return ipt__ceil_divide(end, list->sizes->length * list->desc->cols * list->desc->elem_size);
}

/* The number of further strips that may be downloaded to their final places. */
static size_t ipt__block_may_go(const ipt__command_list *list, size_t block)
{
    const ipt__block_state *const its = &list->blocks[block];
    size_t strips = its->done;
    while (its->spilled < 0 && strips < ipt__block_strips(list, block) &&
           ipt__block_ready(list, block, strips + 1) <= list->uploaded)
        ++strips;
    return strips - its->done;
}

/* Appends a command on a unit. The command depends on all earlier commands on that unit. */
static ipt__command *ipt__command_add(ipt__command_list *list, ipt__command_kind kind, int unit)
{
    ipt__command *command;
    list->full |= list->count == list->most;
    list->count -= (size_t)list->full;
    command = &list->commands[list->count++];
    memset(command, 0, sizeof *command);
    command->kind = kind;
    command->device = (size_t)unit * list->sizes->unit_bytes;
    memcpy(command->after, list->units[unit].last, sizeof command->after);
    list->units[unit].last[kind] = list->count;
    return command;
}

/* Appends a transfer of strips between a block's unit and a place. */
static void ipt__command_add_strips(ipt__command_list *list, ipt__command_kind kind, size_t block, size_t place,
                                    size_t strips)
{
    const ipt__block_state *const its = &list->blocks[block];
    ipt__command *const command = ipt__command_add(list, kind, its->unit);
    int i;
    command->rect = ipt__block_rect(list, block, place, its->done, its->done + strips);
    command->device += its->done * list->sizes->strip_cols * command->rect.row_bytes;
    for (i = 0; i < IPT__BLOCK_QUEUES; ++i)
        command->after[i] = ipt__max(command->after[i], list->places[place].last[i]);
    command->after[IPT__COMMAND_UPLOAD] = ipt__max(command->after[IPT__COMMAND_UPLOAD], list->upload);
    list->places[place].last[kind] = list->count;
}

/* Assigns the unit that was free longest to a block. Returns 0 if no unit is free. */
static int ipt__unit_take(ipt__command_list *list, size_t block)
{
    if (!list->free_units)
        return 0;
    while (list->held[list->next_unit] >= 0)
        list->next_unit = (list->next_unit + 1) % list->sizes->units;
    list->held[list->next_unit] = (int)block;
    list->blocks[block].unit = (int)list->next_unit;
    list->next_unit = (list->next_unit + 1) % list->sizes->units;
    --list->free_units;
    return 1;
}

static void ipt__unit_free(ipt__command_list *list, size_t block)
{
    list->held[list->blocks[block].unit] = -1;
    list->blocks[block].unit = -1;
    ++list->free_units;
}

/* Downloads all strips of a block that may go to their final places. Returns their number. */
static size_t ipt__block_finish(ipt__command_list *list, size_t block)
{
    const size_t strips = ipt__block_may_go(list, block);
    if (strips)
        ipt__command_add_strips(list, IPT__COMMAND_DOWNLOAD, block, block, strips);
    list->blocks[block].done += strips;
    if (list->blocks[block].done == ipt__block_strips(list, block))
        ipt__unit_free(list, block);
    return strips;
}

/* Uploads a spilled block again and frees its spill slot. Returns 0 if no unit is free. */
static int ipt__block_reload(ipt__command_list *list, size_t block)
{
    ipt__block_state *const its = &list->blocks[block];
    if (!ipt__unit_take(list, block))
        return 0;
    ipt__command_add_strips(list, IPT__COMMAND_UPLOAD, block, (size_t)its->spill_slot,
                            ipt__block_strips(list, block) - its->done);
    list->blocks[its->spill_slot].spilled = -1;
    its->spill_slot = -1;
    return 1;
}

/* Frees a unit: spills the block that is needed last to the place that is needed last. Returns 0 if there is none. */
static int ipt__block_spill(ipt__command_list *list)
{
    size_t unit, block = list->sizes->count, place, ready = 0, strips;
    for (unit = 0; unit < list->sizes->units; ++unit)
        if (list->held[unit] >= 0) {
            const size_t b = (size_t)list->held[unit], its = ipt__block_ready(list, b, ipt__block_strips(list, b));
            if (its > ready) {
                ready = its;
                block = b;
            }
        }
    if (block == list->sizes->count)
        return 0;
    strips = ipt__block_strips(list, block);
    for (place = list->sizes->count; --place > list->newest;)
        if (list->blocks[place].spilled < 0 && ipt__block_rows(list, place) >= ipt__block_rows(list, block) &&
            ipt__block_cols(list, place) >= ipt__block_cols(list, block) &&
            ipt__block_ready(list, place, ipt__block_strips(list, place)) <= list->uploaded)
            break;
    if (place == list->newest)
        return 0;
    ipt__command_add_strips(list, IPT__COMMAND_DOWNLOAD, block, place, strips - list->blocks[block].done);
    list->blocks[block].spill_slot = (int)place;
    list->blocks[place].spilled = (int)block;
    ipt__unit_free(list, block);
    return 1;
}

/* Frees units until more than the reserved ones are free. Returns 0 if that is impossible. */
static int ipt__unit_make_room(ipt__command_list *list)
{
    size_t unit;
    for (unit = 0; unit < list->sizes->units && list->free_units <= list->sizes->kept_units; ++unit)
        if (list->held[unit] >= 0)
            ipt__block_finish(list, (size_t)list->held[unit]);
    while (list->free_units <= list->sizes->kept_units)
        if (!ipt__block_spill(list))
            return 0;
    return 1;
}

/* Appends the upload and transposition of the next block. Returns 0 if no unit can be freed. */
static int ipt__block_upload(ipt__command_list *list, size_t block)
{
    const ipt__blocks *const sizes = list->sizes;
    const size_t size = list->desc->elem_size, rows = ipt__block_rows(list, block), cols = ipt__block_cols(list, block);
    ipt__command *command;
    if (!ipt__unit_make_room(list) || !ipt__unit_take(list, block))
        return 0;
    command = ipt__command_add(list, IPT__COMMAND_UPLOAD, list->blocks[block].unit);
    command->rect = ipt__rect_of(
        (block / sizes->per_panel * sizes->length * list->desc->cols + block % sizes->per_panel * sizes->columns) *
            size,
        rows, cols * size, list->desc->cols * size);
    command = ipt__command_add(list, IPT__COMMAND_TRANSPOSE, list->blocks[block].unit);
    command->plan =
        (rows < sizes->length) + 2 * (cols < sizes->columns); /* blocks at the matrix's edges may be smaller */
    list->newest = block;
    if ((block + 1) % sizes->per_panel == 0) {
        list->uploaded = block / sizes->per_panel + 1;
        list->upload = list->count - 1;
    }
    return 1;
}

/* Downloads 1 / parts of the strips that may be written. The newest block is left out, because its download would wait
 * for its transposition. So both directions of the bus stay busy. */
static void ipt__blocks_download(ipt__command_list *list, size_t parts)
{
    size_t b, count = 0, finished = 0;
    for (b = 0; b < list->newest; ++b)
        if (list->blocks[b].unit >= 0)
            count += ipt__block_may_go(list, b);
    for (b = 0; b < list->newest && finished * parts < count; ++b)
        if (list->blocks[b].unit >= 0)
            finished += ipt__block_finish(list, b);
    if (list->newest && list->blocks[list->newest - 1].unit >= 0)
        ipt__block_finish(list, list->newest - 1);
}

/* Uploads a spilled block again whose place is ready. In the last third of the panels fewer blocks wait in
 * units. Then a block whose spill slot is needed later may return, if the current panel leaves enough free units. */
static void ipt__blocks_reload(ipt__command_list *list)
{
    const size_t blocks = list->sizes->per_panel;
    size_t b, next = list->sizes->count;
    for (b = 0; b < list->sizes->count; ++b)
        if (list->blocks[b].spill_slot >= 0 && ipt__block_may_go(list, b))
            next = b;
    if (next == list->sizes->count && 3 * list->uploaded >= 2 * list->sizes->panels &&
        list->free_units >
            list->sizes->kept_units + 1 + blocks * (list->sizes->panels - list->uploaded) / list->sizes->panels)
        for (b = list->newest + 1; b < list->sizes->count && next == list->sizes->count; ++b)
            if (list->blocks[b].spilled >= 0)
                next = (size_t)list->blocks[b].spilled;
    if (next < list->sizes->count && list->free_units > 1)
        ipt__block_reload(list, next);
}

/* Lists all commands for one matrix. Returns 0 if the units hold too few blocks. */
static int ipt__blocks_list_all(ipt__command_list *list)
{
    const size_t blocks = list->sizes->per_panel;
    size_t b, count, reloaded;
    for (b = 0; b < list->sizes->count && !list->full; ++b) {
        if (!ipt__block_upload(list, b))
            return 0;
        ipt__blocks_download(list, blocks - b % blocks);
        ipt__blocks_reload(list);
    }
    /* All panels are uploaded. Upload the spilled blocks again until none is left. */
    do {
        for (b = 0, count = 0; b < list->sizes->count; ++b)
            if (list->blocks[b].unit >= 0)
                count += ipt__block_finish(list, b);
        for (b = 0, reloaded = 0; b < list->sizes->count; ++b)
            if (list->blocks[b].spill_slot >= 0 && ipt__block_reload(list, b))
                ++reloaded;
    } while ((count || reloaded) && !list->full);
    for (b = 0, count = 0; b < list->sizes->count; ++b)
        count += list->blocks[b].done < ipt__block_strips(list, b);
    return !count && !list->full;
}

/* ---- buffers and lists for blocks ---- */

/* Chooses the size and number of blocks. Returns 0 if their rows would be too short for the bus. */
static int ipt__blocks_choose(const ipt__problem *problem, size_t capacity, ipt__blocks *sizes)
{
    const ipt_plan_desc *const desc = &problem->desc;
    const size_t size = desc->elem_size, most = ipt__max(IPT__BLOCK_ROW_MOST / size, 1);
    memset(sizes, 0, sizeof *sizes);
    sizes->length = ipt__ceil_divide(desc->rows, ipt__max(ipt__ceil_divide(desc->rows, most), IPT__BLOCK_PARTS));
    sizes->columns = ipt__ceil_divide(desc->cols, ipt__max(ipt__ceil_divide(desc->cols, most), IPT__BLOCK_PARTS));
    if (ipt__min(sizes->length, sizes->columns) * size < IPT__BLOCK_ROW_LEAST)
        return 0;
    sizes->panels = ipt__ceil_divide(desc->rows, sizes->length);
    sizes->per_panel = ipt__ceil_divide(desc->cols, sizes->columns);
    sizes->strip_cols = ipt__ceil_divide(sizes->columns, IPT__BLOCK_STRIPS);
    sizes->count = sizes->panels * sizes->per_panel;
    sizes->unit_bytes = sizes->length * sizes->columns * size;
    if (sizes->unit_bytes < IPT__BLOCK_BYTES_LEAST)
        return 0;
    sizes->units = ipt__min(capacity / sizes->unit_bytes, sizes->count);
    sizes->kept_units = ipt__max(sizes->units / IPT__BLOCK_SPARE, 1);
    return sizes->units > 2;
}

/* Lists the commands. The list stays empty if too few blocks fit. */
static ipt_result ipt__blocks_list(ipt_plan *plan, ipt__blocks *sizes)
{
    const ipt_allocator *const allocator = &plan->context->allocator;
    ipt__command_list list;
    ipt_result result = IPT_ERROR_OUT_OF_MEMORY;
    size_t i;
    memset(&list, 0, sizeof list);
    list.desc = &plan->problem.desc;
    list.sizes = sizes;
    list.free_units = sizes->units;
    list.most = (4 + IPT__BLOCK_STRIPS) * sizes->count; /* upload, transpose, spill, upload again, strips */
    list.commands = (ipt__command *)ipt__allocate(allocator, list.most * sizeof *list.commands);
    list.blocks = (ipt__block_state *)ipt__allocate(allocator, sizes->count * sizeof *list.blocks);
    list.held = (int *)ipt__allocate(allocator, sizes->units * sizeof *list.held);
    list.units = (ipt__block_uses *)ipt__allocate(allocator, sizes->units * sizeof *list.units);
    list.places = (ipt__block_uses *)ipt__allocate(allocator, sizes->count * sizeof *list.places);
    if (list.commands && list.blocks && list.held && list.units && list.places) {
        result = IPT_SUCCESS;
        for (i = 0; i < sizes->count; ++i)
            list.blocks[i].unit = list.blocks[i].spill_slot = list.blocks[i].spilled = -1;
        for (i = 0; i < sizes->units; ++i)
            list.held[i] = -1;
        if (ipt__blocks_list_all(&list)) {
            plan->host->staging.commands = list.commands;
            plan->host->staging.command_count = list.count;
            for (i = 0; i < list.count; ++i)
                sizes->bus_bytes += ipt__command_bytes(&list.commands[i]);
        }
    }
    if (!plan->host->staging.command_count)
        ipt__release(allocator, list.commands);
    ipt__release(allocator, list.blocks);
    ipt__release(allocator, list.held);
    ipt__release(allocator, list.units);
    ipt__release(allocator, list.places);
    return result;
}

/* ---- matrices in memory ---- */
