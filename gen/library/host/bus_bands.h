/* Cut matrices: transfers by bands. */

/* The band exchange over the bus: see ipt__bands and "The exchange of bands" in method.md. Step s of a tall matrix
 * uploads band s and transposes it to runs, one run for each column. These own runs change places, piece by piece, with
 * runs that earlier bands have parked. Parked runs are uploaded to the memory of own runs. Own runs are downloaded to
 * their final places. The device then has range s: its super-elements in the order of columns. The range is sorted and
 * downloaded. A wide matrix goes the other way: it uploads ranges, and downloads bands. Contiguous bands and the long
 * rows of ranges cross the bus once in each direction, half of all runs once more. The remainders of both sides stay on
 * the device during all steps.
 *
 * Two bands are on the device: one is uploaded while the other is downloaded. Own runs are downloaded from separate
 * places. So the kernel that sorts or transposes a band runs during the last of these downloads.
 *
 * Invariant: a command overwrites bytes, in host memory and on the device, only after the command that carries them has
 * read them. Range s lies in the memory of band s and of bands before it. Commands of a queue run in order.
 * ipt__command.after orders commands of different queues. */

enum { IPT__BUS_PLAN_BAND, IPT__BUS_PLAN_RANGE, IPT__BUS_PLAN_REST_ROWS, IPT__BUS_PLAN_REST_COLS };

/* The commands so far, counted or listed. */
typedef struct ipt__bus_list {
    const ipt__bus_bands *sizes;
    ipt__command *commands; /* NULL: they are only counted */
    size_t count;
    /* Commands, plus 1; 0: none. */
    size_t emptied[IPT__BUS_PIECES]; /* the last copy from a place of parked runs */
    size_t sent[IPT__BUS_PIECES];    /* the last download from a place of own runs */
    size_t stored[2];                /* the last download from a band's place */
    size_t parked;                   /* wide: the last download to the range that the next step uploads */
    size_t pieces;
} ipt__bus_list;

/* Commands of other queues that a command waits for, plus 1; 0: none. */
typedef struct ipt__bus_waits {
    size_t upload, kernel, download;
} ipt__bus_waits;

/* Appends a command; returns its number plus 1. rect: see ipt__command. */
static size_t ipt__bus_add(ipt__bus_list *list, ipt__command_kind kind, size_t device, ipt__rect rect, int plan,
                           ipt__bus_waits waits)
{
    if (list->commands) {
        ipt__command *const command = &list->commands[list->count];
        memset(command, 0, sizeof *command);
        command->kind = kind;
        command->plan = plan;
        command->rect = rect;
        command->device = device;
        command->after[IPT__COMMAND_UPLOAD] = waits.upload;
        command->after[IPT__COMMAND_TRANSPOSE] = waits.kernel;
        command->after[IPT__COMMAND_DOWNLOAD] = waits.download;
    }
    return ++list->count;
}

static ipt__bus_waits ipt__bus_after(size_t upload, size_t kernel, size_t download)
{
    ipt__bus_waits waits;
    waits.upload = upload;
    waits.kernel = kernel;
    waits.download = download;
    return waits;
}

/* The area of `count` rows of the band layout, from row `first` on. */
static ipt__rect ipt__bus_rows(const ipt__bus_bands *sizes, size_t first, size_t count)
{
    const size_t row = sizes->bands.cols * sizes->size;
    return ipt__rect_of(first * row, 1, count * row, count * row);
}

/* The area of columns [first, first + count) of the bands: rows of the slot layout without the rest rows' elements. */
static ipt__rect ipt__bus_columns(const ipt__bus_bands *sizes, size_t first, size_t count)
{
    const size_t pitch = sizes->bands.rows * sizes->size;
    return ipt__rect_of(first * pitch, count, sizes->bands.number * sizes->run_bytes, pitch);
}

/* The areas of the rest rows: in the band layout, and at the ends of the slot layout's rows. */
static ipt__rect ipt__bus_rest_rows(const ipt__bus_bands *sizes)
{
    return ipt__bus_rows(sizes, sizes->bands.number * sizes->bands.height, sizes->bands.rest_rows);
}

static ipt__rect ipt__bus_gaps(const ipt__bus_bands *sizes)
{
    const ipt__bands *const bands = &sizes->bands;
    return ipt__rect_of(bands->number * sizes->run_bytes, bands->cols, bands->rest_rows * sizes->size,
                        bands->rows * sizes->size);
}

static ipt__rect ipt__bus_rest_columns(const ipt__bus_bands *sizes)
{
    return ipt__bus_columns(sizes, sizes->bands.number * sizes->bands.width, sizes->bands.rest_cols);
}

/* Appends a transposition after command `upload`. */
static size_t ipt__bus_transpose(ipt__bus_list *list, size_t device, int plan, size_t upload)
{
    return ipt__bus_add(list, IPT__COMMAND_TRANSPOSE, device, ipt__rect_of(0, 0, 0, 0), plan,
                        ipt__bus_after(upload, 0, 0));
}

static size_t ipt__bus_copy(ipt__bus_list *list, size_t to, size_t from, size_t bytes, ipt__bus_waits waits)
{
    return ipt__bus_add(list, IPT__COMMAND_COPY, to, ipt__rect_of(from, 1, bytes, bytes), 0, waits);
}

/* Exchanges the runs of columns [first, end) of band s, on the device at `band`, with the runs parked at their places.
 * stored: the download that parked these runs. Returns the last download. */
static size_t ipt__bus_exchange(ipt__bus_list *list, size_t s, size_t first, size_t end, size_t band, size_t stored)
{
    const ipt__bus_bands *const sizes = list->sizes;
    const size_t pieces = ipt__ceil_divide(end - first, sizes->piece_columns), pitch = sizes->bands.rows * sizes->size;
    size_t i, sent = 0;
    for (i = 0; i < pieces; ++i) {
        const size_t begin = first + (end - first) * i / pieces,
                     count = first + (end - first) * (i + 1) / pieces - begin;
        const size_t place = list->pieces++ % IPT__BUS_PIECES, own = band + begin * sizes->run_bytes,
                     parked = sizes->pieces_at + place * sizes->piece_bytes,
                     outgoing = parked + IPT__BUS_PIECES * sizes->piece_bytes;
        const ipt__rect runs = ipt__rect_of(begin * pitch + s * sizes->run_bytes, count, sizes->run_bytes, pitch);
        const size_t bytes = count * sizes->run_bytes;
        const size_t loaded =
            ipt__bus_add(list, IPT__COMMAND_UPLOAD, parked, runs, 0, ipt__bus_after(0, list->emptied[place], stored));
        const size_t taken = ipt__bus_copy(list, outgoing, own, bytes, ipt__bus_after(0, 0, list->sent[place]));
        list->emptied[place] = ipt__bus_copy(list, own, parked, bytes, ipt__bus_after(loaded, 0, 0));
        sent = ipt__bus_add(list, IPT__COMMAND_DOWNLOAD, outgoing, runs, 0, ipt__bus_after(loaded, taken, 0));
        list->sent[place] = sent;
    }
    return sent;
}

/* The exchange of band s with the bands before it (tall) or after it (wide). The neighbour's range comes last (tall),
 * because the previous step stored to it last, or first (wide), because the next step uploads it. */
static void ipt__bus_exchange_all(ipt__bus_list *list, size_t s, size_t band, size_t stored_before)
{
    const ipt__bands *const bands = &list->sizes->bands;
    const size_t begin = bands->saves_rows ? (s + 1) * bands->width : 0,
                 end = bands->saves_rows ? bands->number * bands->width : s * bands->width;
    const size_t width = begin == end ? 0 : bands->width;
    const size_t neighbour = bands->saves_rows ? begin : end - width;
    const size_t others = bands->saves_rows ? begin + width : begin, others_end = bands->saves_rows ? end : end - width;
    if (!bands->tall)
        list->parked = ipt__bus_exchange(list, s, neighbour, neighbour + width, band, 0);
    ipt__bus_exchange(list, s, others, others_end, band, 0);
    if (bands->tall)
        ipt__bus_exchange(list, s, neighbour, neighbour + width, band, stored_before);
}

static void ipt__bus_step(ipt__bus_list *list, size_t step)
{
    const ipt__bus_bands *const sizes = list->sizes;
    const ipt__bands *const bands = &sizes->bands;
    const size_t s = bands->from_last ? bands->number - 1 - step : step, place = step % 2;
    const size_t band = place * sizes->band_bytes, rest_bytes = bands->rest_cols * sizes->run_bytes;
    const size_t rest = band + bands->number * bands->width * sizes->run_bytes,
                 saved = sizes->rest_cols_at + s * rest_bytes;
    const ipt__rect rows = ipt__bus_rows(sizes, s * bands->height, bands->height),
                    range = ipt__bus_columns(sizes, s * bands->width, bands->width);
    const size_t loaded = ipt__bus_add(list, IPT__COMMAND_UPLOAD, band, bands->tall ? rows : range, 0,
                                       ipt__bus_after(0, 0, ipt__max(list->stored[place], list->parked)));
    ipt__bus_transpose(list, band, bands->tall ? IPT__BUS_PLAN_BAND : IPT__BUS_PLAN_RANGE, loaded);
    if (rest_bytes && bands->tall)
        ipt__bus_copy(list, saved, rest, rest_bytes, ipt__bus_after(0, 0, 0));
    ipt__bus_exchange_all(list, s, band, list->stored[1 - place]);
    if (rest_bytes && !bands->tall)
        ipt__bus_copy(list, rest, saved, rest_bytes, ipt__bus_after(0, 0, 0));
    list->stored[place] = ipt__bus_add(
        list, IPT__COMMAND_DOWNLOAD, band, bands->tall ? range : rows, 0,
        ipt__bus_after(0, ipt__bus_transpose(list, band, bands->tall ? IPT__BUS_PLAN_RANGE : IPT__BUS_PLAN_BAND, 0),
                       0));
}

/* Uploads the remainders of the source, and transposes the complete ones. Returns the transposition of the rest rows.
 */
static size_t ipt__bus_begin(ipt__bus_list *list)
{
    const ipt__bus_bands *const sizes = list->sizes;
    const ipt__bands *const bands = &sizes->bands;
    size_t turned = 0;
    if (bands->rest_rows)
        turned = ipt__bus_transpose(list, sizes->rest_rows_at, IPT__BUS_PLAN_REST_ROWS,
                                    ipt__bus_add(list, IPT__COMMAND_UPLOAD, sizes->rest_rows_at,
                                                 bands->tall ? ipt__bus_rest_rows(sizes) : ipt__bus_gaps(sizes), 0,
                                                 ipt__bus_after(0, 0, 0)));
    if (bands->rest_cols && !bands->tall)
        ipt__bus_transpose(list, sizes->rest_cols_at, IPT__BUS_PLAN_REST_COLS,
                           ipt__bus_add(list, IPT__COMMAND_UPLOAD, sizes->rest_cols_at, ipt__bus_rest_columns(sizes), 0,
                                        ipt__bus_after(0, 0, 0)));
    return turned;
}

/* Downloads the remainders of the result. turned: the transposition of the rest rows. */
static void ipt__bus_end(ipt__bus_list *list, size_t turned)
{
    const ipt__bus_bands *const sizes = list->sizes;
    const ipt__bands *const bands = &sizes->bands;
    if (bands->rest_cols && bands->tall)
        ipt__bus_add(list, IPT__COMMAND_DOWNLOAD, sizes->rest_cols_at, ipt__bus_rest_columns(sizes), 0,
                     ipt__bus_after(0, ipt__bus_transpose(list, sizes->rest_cols_at, IPT__BUS_PLAN_REST_COLS, 0), 0));
    if (bands->rest_rows)
        ipt__bus_add(list, IPT__COMMAND_DOWNLOAD, sizes->rest_rows_at,
                     bands->tall ? ipt__bus_gaps(sizes) : ipt__bus_rest_rows(sizes), 0, ipt__bus_after(0, turned, 0));
}

/* Counts all commands of a matrix, or lists them in `commands`. */
static size_t ipt__bus_list_all(const ipt__bus_bands *sizes, ipt__command *commands)
{
    ipt__bus_list list;
    size_t step, turned;
    memset(&list, 0, sizeof list);
    list.sizes = sizes;
    list.commands = commands;
    turned = ipt__bus_begin(&list);
    for (step = 0; step < sizes->bands.number; ++step)
        ipt__bus_step(&list, step);
    ipt__bus_end(&list, turned);
    return list.count;
}

/* Lists the commands of a plan for one matrix. */
static ipt_result ipt__bus_list_make(ipt_plan *plan, ipt__bus_bands *sizes)
{
    ipt__host *const host = &plan->host->staging;
    size_t i;
    host->command_count = ipt__bus_list_all(sizes, NULL);
    host->commands =
        (ipt__command *)ipt__allocate(&plan->context->allocator, host->command_count * sizeof *host->commands);
    if (!host->commands) {
        host->command_count = 0;
        return IPT_ERROR_OUT_OF_MEMORY;
    }
    ipt__bus_list_all(sizes, host->commands);
    for (i = 0; i < host->command_count; ++i)
        sizes->bus_bytes += ipt__command_bytes(&host->commands[i]);
    return IPT_SUCCESS;
}

/* ---- sizes ---- */

/* Fills the places of the bands and of the remainders in device memory. */
static ipt__bus_bands ipt__bus_bands_of(const ipt__problem *problem, size_t number)
{
    const int tall = ipt__is_tall(problem);
    ipt__bus_bands sizes;
    const ipt__bands *const bands = &sizes.bands;
    memset(&sizes, 0, sizeof sizes);
    sizes.bands = ipt__bands_of(problem, tall, number, (tall ? problem->desc.rows : problem->desc.cols) / number, 1);
    sizes.size = problem->desc.elem_size;
    sizes.run_bytes = bands->height * sizes.size;
    sizes.band_bytes = ipt__round_up(bands->cols * sizes.run_bytes, IPT__BUS_ALIGNMENT);
    sizes.piece_columns =
        ipt__ceil_divide(bands->cols, ipt__max(ipt__min(sizes.band_bytes / IPT__BUS_PIECE_BYTES, IPT__BUS_MOST_PIECES),
                                               IPT__BUS_LEAST_PIECES));
    sizes.piece_bytes = ipt__round_up(sizes.piece_columns * sizes.run_bytes, IPT__BUS_ALIGNMENT);
    sizes.pieces_at = 2 * sizes.band_bytes;
    sizes.rest_rows_at = sizes.pieces_at + 2 * IPT__BUS_PIECES * sizes.piece_bytes;
    sizes.rest_cols_at =
        sizes.rest_rows_at + ipt__round_up(bands->rest_rows * bands->cols * sizes.size, IPT__BUS_ALIGNMENT);
    sizes.device_bytes = sizes.rest_cols_at + bands->rest_cols * number * sizes.run_bytes;
    return sizes;
}

/* Chooses the fewest bands that fit. Returns 0 if their runs would be too short for the bus. */
static int ipt__bus_bands_choose(const ipt__problem *problem, size_t capacity, ipt__bus_bands *sizes)
{
    const size_t shorter = ipt__min(problem->desc.rows, problem->desc.cols);
    size_t number = ipt__max(2, ipt__ceil_divide(2 * problem->matrix_bytes, ipt__max(capacity, 1)));
    for (; number <= shorter; ++number) {
        *sizes = ipt__bus_bands_of(problem, number);
        if (sizes->run_bytes < IPT__BUS_RUN_BYTES ||
            sizes->band_bytes < (size_t)IPT__BUS_BAND_RUNS * IPT__BUS_RUN_BYTES)
            return 0;
        if (sizes->device_bytes <= capacity)
            return 1;
    }
    return 0;
}

/* The size of a piece that a plan transposes; rows 0: there is none. */
static ipt__bus_piece ipt__bus_piece_of(const ipt__bus_bands *sizes, int plan)
{
    const ipt__bands *const bands = &sizes->bands;
    ipt__bus_piece piece;
    piece.size = sizes->size;
    piece.rows = plan == IPT__BUS_PLAN_BAND ? bands->height : bands->rest_rows;
    piece.cols = bands->cols;
    if (plan == IPT__BUS_PLAN_RANGE || plan == IPT__BUS_PLAN_REST_COLS) {
        piece.size = sizes->run_bytes;
        piece.rows = bands->number;
        piece.cols = plan == IPT__BUS_PLAN_RANGE ? bands->width : bands->rest_cols;
    }
    if (!bands->tall) {
        const size_t rows = piece.rows;
        piece.rows = piece.cols;
        piece.cols = rows;
    }
    return piece;
}
