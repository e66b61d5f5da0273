/* Simulates the exchange between ranks without MPI: the library's schedule in one process.
 *   simulate counts [MOST_RANKS]      who meets whom, in which sequence, with how many bytes; up to 4096 ranks
 *   simulate movement [CASES [SEED]]  all bytes of random matrices on up to 64 ranks, in random sequences of events
 *   simulate model                    a table of rounds, messages, bytes and seconds, up to 100,000 ranks */
#define IPT_MPI
#define IPT_IMPLEMENTATION
#include "ipt.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_RANKS = 64, MOST_DEPTH = IPT__MPI_DEPTH };

static unsigned long long state = 1;

static size_t random_below(size_t limit)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (size_t)((state * 2685821657736338717ull >> 20) % limit);
}

static void fail(const char *what, int rank, const ipt__mpi_shape *shape)
{
    fprintf(stderr, "simulate: %s; rank %d of %d, %zu x %zu of %zu bytes, blocks %zu and %zu%s, chunk %zu\n", what,
            rank, shape->ranks, shape->rows.total, shape->cols.total, shape->size, shape->rows.block, shape->cols.block,
            shape->rows.starts || shape->cols.starts ? " (uneven)" : "", shape->chunk);
    exit(1);
}

/* Draws a distribution of a side: FFTW's, or an uneven one with empty ranks. */
static void distribute(ipt__mpi_side *side, size_t total, int ranks)
{
    const size_t least = ipt__ceil_divide(total, (size_t)ranks);
    int i;
    memset(side, 0, sizeof *side);
    side->total = total;
    side->block = least + (random_below(2) ? random_below(1 + least) : 0);
    if (random_below(2))
        return;
    side->starts = (size_t *)calloc((size_t)ranks + 1, sizeof *side->starts);
    for (i = 1; i < ranks; ++i) {
        const size_t left = total - side->starts[i - 1];
        side->starts[i] = side->starts[i - 1] + (random_below(4) ? random_below(1 + ipt__min(left, 2 * least)) : 0);
    }
    side->starts[ranks] = total;
}

/* The shape as one rank sees it. */
static ipt__mpi_shape shape_of(const ipt__mpi_shape *common, int rank)
{
    ipt__mpi_shape shape = *common;
    shape.rank = rank;
    shape.rests = (ipt__mpi_rest *)calloc((size_t)shape.ranks, sizeof *shape.rests);
    ipt__mpi_list_rests(&shape);
    return shape;
}

/* ---- counts ---- */

/* The place of a step in a common sequence of all steps: SWAP by rounds, then rests by the receiver's ratio and by
 * rounds. If each rank's steps ascend in this sequence, ranks cannot wait for each other in a circle. */
typedef struct place {
    int phase;
    size_t rows, cols; /* ratio of the receiver of a rest */
    int round;
} place;

static int ascends(const place *a, const place *b)
{
    if (a->phase != b->phase)
        return a->phase < b->phase;
    if (a->phase && a->rows * b->cols != b->rows * a->cols)
        return a->rows * b->cols < b->rows * a->cols;
    return a->round <= b->round;
}

static void check_rank(const ipt__mpi_shape *shape, size_t *sent, size_t *received)
{
    static const ipt__mpi_phase phases[] = {IPT__MPI_SWAP, IPT__MPI_OUT, IPT__MPI_IN};
    const size_t most = ipt__mpi_share_bytes(shape);
    place last = {0, 0, 1, 0};
    int i, peer;
    memset(sent, 0, (size_t)shape->ranks * sizeof *sent);
    memset(received, 0, (size_t)shape->ranks * sizeof *received);
    for (i = 0; i < 3; ++i) {
        ipt__mpi_cursor cursor = {phases[i], 0, 0};
        ipt__mpi_step step;
        while (ipt__mpi_next(shape, &cursor, &step)) {
            const int receiver = phases[i] == IPT__MPI_IN ? shape->rank : step.peer;
            place now = {phases[i] != IPT__MPI_SWAP, 0, 0, 0};
            now.rows = ipt__mpi_count(&shape->rows, receiver);
            now.cols = ipt__mpi_count(&shape->cols, receiver);
            now.round = ipt__mpi_round(shape->ranks, shape->rank, step.peer);
            if (step.peer == shape->rank || step.peer < 0 || step.peer >= shape->ranks)
                fail("a step without a peer", shape->rank, shape);
            if (!ascends(&last, &now))
                fail("steps out of sequence", shape->rank, shape);
            if (step.at + ipt__max(step.sent, step.received) > most || step.sent > shape->chunk ||
                step.received > shape->chunk)
                fail("a step outside the block", shape->rank, shape);
            sent[step.peer] += step.sent;
            received[step.peer] += step.received;
            last = now;
        }
    }
    for (peer = 0; peer < shape->ranks; ++peer)
        if (peer != shape->rank && (sent[peer] != ipt__mpi_piece(shape, shape->rank, peer) ||
                                    received[peer] != ipt__mpi_piece(shape, peer, shape->rank)))
            fail("not all bytes of a piece", shape->rank, shape);
}

/* Every pair meets once, and in a round each rank has one partner. */
static void check_rounds(int ranks)
{
    ipt__mpi_shape shape;
    int round, rank;
    unsigned char *const met = (unsigned char *)calloc((size_t)ranks, (size_t)ranks);
    memset(&shape, 0, sizeof shape);
    shape.ranks = ranks;
    for (round = 0; round < ipt__mpi_rounds(ranks); ++round)
        for (rank = 0; rank < ranks; ++rank) {
            const int partner = ipt__mpi_partner(ranks, rank, round);
            if (partner < 0 || partner >= ranks || ipt__mpi_partner(ranks, partner, round) != rank)
                fail("a partner that has another one", rank, &shape);
            if (partner != rank && (met[(size_t)rank * (size_t)ranks + (size_t)partner]++ ||
                                    ipt__mpi_round(ranks, rank, partner) != round))
                fail("two ranks meet again", rank, &shape);
        }
    for (rank = 0; rank < ranks; ++rank)
        for (round = 0; round < ranks; ++round)
            if (round != rank && !met[(size_t)rank * (size_t)ranks + (size_t)round])
                fail("two ranks never meet", rank, &shape);
    free(met);
}

/* Checks the patches of square matrices: two ranks use the same ones in the same sequence, and these cover the tile. */
static void check_patches(const ipt__mpi_shape *common)
{
    const size_t ranks = (size_t)common->ranks, side = ipt__mpi_patch_side(common);
    unsigned long long *const sums = (unsigned long long *)calloc(ranks * ranks, sizeof *sums);
    size_t *const areas = (size_t *)calloc(ranks, sizeof *areas);
    int rank, peer;
    for (rank = 0; rank < common->ranks; ++rank) {
        ipt__mpi_shape shape = *common;
        ipt__mpi_cursor cursor = {IPT__MPI_SWAP, 0, 0};
        ipt__mpi_patch patch;
        shape.rank = rank;
        memset(areas, 0, ranks * sizeof *areas);
        while (ipt__mpi_next_patch(&shape, side, &cursor, &patch)) {
            unsigned long long *const sum = &sums[(size_t)rank * ranks + (size_t)patch.peer];
            const int lower = rank < patch.peer;
            *sum = *sum * 1000003 + (lower ? patch.row : patch.col);
            *sum = *sum * 1000003 + (lower ? patch.col : patch.row);
            *sum = *sum * 1000003 + (lower ? patch.rows : patch.cols);
            areas[patch.peer] += patch.rows * patch.cols;
            if (patch.rows * patch.cols * shape.size > shape.chunk)
                fail("a patch exceeds a message", rank, &shape);
        }
        for (peer = 0; peer < common->ranks; ++peer)
            if (peer != rank && areas[peer] * shape.size != ipt__mpi_piece(&shape, rank, peer))
                fail("patches do not cover a tile", rank, &shape);
    }
    for (rank = 0; rank < common->ranks; ++rank)
        for (peer = 0; peer < rank; ++peer)
            if (sums[(size_t)rank * ranks + (size_t)peer] != sums[(size_t)peer * ranks + (size_t)rank])
                fail("two ranks take other patches, or in another sequence", rank, common);
    free(sums);
    free(areas);
}

static void run_counts(int most)
{
    size_t *const sent = (size_t *)calloc((size_t)most, sizeof *sent), *const received = (size_t *)calloc(
                                                                           (size_t)most, sizeof *received);
    int shapes = 0, ranks, i;
    for (ranks = 1; ranks <= most; ranks += ranks < 70 ? 1 : ranks / 2 + (int)random_below(3))
        check_rounds(ranks);
    check_rounds(most);
    for (i = 0; i < 240; ++i) {
        ipt__mpi_shape common;
        int rank;
        ranks = i < 2 ? most - i : 1 + (int)random_below(1 + random_below(300));
        memset(&common, 0, sizeof common);
        common.ranks = ranks;
        common.size = 1 + random_below(24);
        common.chunk = 4096;
        distribute(&common.rows, 1 + random_below((size_t)ranks * 8), ranks);
        distribute(&common.cols, 1 + random_below((size_t)ranks * 8), ranks);
        for (rank = 0; rank < ranks; ++rank) {
            ipt__mpi_shape shape = shape_of(&common, rank);
            check_rank(&shape, sent, received);
            free(shape.rests);
        }
        free(common.cols.starts);
        common.cols = common.rows;
        common.chunk = common.size * (1 + random_below(40));
        check_patches(&common);
        free(common.rows.starts);
        ++shapes;
    }
    free(sent);
    free(received);
    printf("simulate: %d distributions on up to %d ranks: all pieces complete, in one sequence of pairs\n", shapes,
           most);
}

/* ---- movement ---- */

typedef struct message {
    struct message *next;
    const unsigned char *source;
    unsigned char *copy; /* NULL: not yet copied */
    size_t bytes;
    int matched, users; /* users: steps that have not ended */
} message;

typedef struct flight {
    ipt__mpi_step step;
    message *sent, *received;
} flight;

typedef struct rank_state {
    ipt__mpi_shape shape;
    unsigned char *memory, *slots;
    ipt__mpi_cursor cursor;
    ipt__mpi_phase last;
    size_t begun, ended;
    flight flights[MOST_DEPTH];
    int more, finished;
    message *inbox[MOST_RANKS]; /* messages from each rank that no receipt has matched, the oldest first */
    flight *waiting[MOST_RANKS][MOST_DEPTH + 1];
    int waiting_count[MOST_RANKS];
} rank_state;

static void copy_now(message *sent)
{
    if (sent->copy)
        return;
    sent->copy = (unsigned char *)malloc(sent->bytes + 1);
    memcpy(sent->copy, sent->source, sent->bytes);
}

static void drop(message *its)
{
    if (--its->users)
        return;
    free(its->copy);
    free(its);
}

/* Matches the oldest message with the oldest receipt. */
static void match(rank_state *to, int from)
{
    while (to->inbox[from] && to->waiting_count[from]) {
        message *const its = to->inbox[from];
        flight *const receipt = to->waiting[from][0];
        if (its->bytes != receipt->step.received)
            fail("a message of another size than its receipt", to->shape.rank, &to->shape);
        to->inbox[from] = its->next;
        memmove(to->waiting[from], to->waiting[from] + 1, (size_t)--to->waiting_count[from] * sizeof receipt);
        its->matched = 1;
        receipt->received = its;
    }
}

/* Begins all steps that may begin: see ipt__mpi_run_steps. */
static void begin_steps(rank_state *all, rank_state *its, size_t depth)
{
    while (its->more && its->begun - its->ended < depth) {
        const size_t number = its->begun % depth;
        flight *const slot = &its->flights[number];
        memset(slot, 0, sizeof *slot);
        if (!ipt__mpi_next(&its->shape, &its->cursor, &slot->step)) {
            if (its->cursor.phase == its->last)
                its->more = 0;
            else
                its->cursor.phase = IPT__MPI_OUT, its->cursor.turn = 0, its->cursor.done = 0;
            continue;
        }
        if (slot->step.received) {
            its->waiting[slot->step.peer][its->waiting_count[slot->step.peer]++] = slot;
            match(its, slot->step.peer);
        }
        if (slot->step.sent) {
            rank_state *const to = &all[slot->step.peer];
            message **end = &to->inbox[its->shape.rank], *const made = (message *)calloc(1, sizeof *made);
            made->source = its->memory + slot->step.at;
            made->bytes = slot->step.sent;
            made->users = 2;
            slot->sent = made;
            if (random_below(2)) /* MPI may copy the data at any time until the request completes */
                copy_now(made);
            while (*end)
                end = &(*end)->next;
            *end = made;
            match(to, its->shape.rank);
        }
        ++its->begun;
    }
}

/* Ends the oldest step if its messages have arrived. Returns 1 if the step ended. */
static int end_step(rank_state *its, size_t depth)
{
    flight *const slot = &its->flights[its->ended % depth];
    if (its->ended == its->begun || (slot->sent && !slot->sent->matched) || (slot->step.received && !slot->received))
        return 0;
    if (slot->sent) {
        copy_now(slot->sent);
        drop(slot->sent);
    }
    if (slot->received) {
        copy_now(slot->received);
        memcpy(its->memory + slot->step.at, slot->received->copy, slot->step.received);
        drop(slot->received);
    }
    ++its->ended;
    return 1;
}

static void transpose(unsigned char *data, size_t rows, size_t cols, size_t size)
{
    unsigned char *const copy = (unsigned char *)malloc(rows * cols * size + 1);
    size_t i, j;
    memcpy(copy, data, rows * cols * size);
    for (i = 0; i < rows; ++i)
        for (j = 0; j < cols; ++j)
            memcpy(data + (j * rows + i) * size, copy + (i * cols + j) * size, size);
    free(copy);
}

/* Runs the local steps of ipt__mpi_make_locals. */
static void run_locals(rank_state *its, int after)
{
    const ipt__mpi_shape *const shape = &its->shape;
    const size_t rows = ipt__mpi_count(&shape->rows, shape->rank), cols = ipt__mpi_count(&shape->cols, shape->rank);
    size_t row_ranks, col_ranks;
    const size_t equal_rows = ipt__mpi_equal(&shape->rows, shape->ranks, &row_ranks),
                 equal_cols = ipt__mpi_equal(&shape->cols, shape->ranks, &col_ranks);
    int s;
    if (!after && shape->way == IPT__MPI_BY_COLS)
        transpose(its->memory, rows, col_ranks, equal_cols * shape->size);
    else if (!after)
        transpose(its->memory, rows, shape->cols.total, shape->size);
    else if (shape->way == IPT__MPI_BY_ROWS)
        transpose(its->memory, row_ranks, cols, equal_rows * shape->size);
    else {
        for (s = 0; s < shape->ranks && shape->way == IPT__MPI_BY_PIECES; ++s)
            transpose(its->memory + ipt__mpi_piece_out_at(shape, s), cols, ipt__mpi_count(&shape->rows, s),
                      shape->size);
        transpose(its->memory, shape->rows.total, cols, shape->size);
    }
}

static void start_phases(rank_state *its, ipt__mpi_phase first, ipt__mpi_phase last)
{
    its->cursor.phase = first;
    its->cursor.turn = 0;
    its->cursor.done = 0;
    its->last = last;
    its->more = 1;
}

/* Runs a rank until its next wait. Returns 1 if anything happened. */
static int advance(rank_state *all, rank_state *its, size_t depth)
{
    size_t begun = its->begun;
    int turn, ended, more = its->more;
    begin_steps(all, its, depth);
    ended = end_step(its, depth);
    if (!its->more && its->begun == its->ended && !its->finished) {
        if (its->last == IPT__MPI_IN) {
            its->finished = 1;
        } else {
            for (turn = 0; turn < 2 * its->shape.ranks; ++turn) {
                const ipt__mpi_shift shift = ipt__mpi_shift_at(&its->shape, turn);
                memmove(its->memory + shift.to, its->memory + shift.from, shift.bytes);
            }
            start_phases(its, IPT__MPI_IN, IPT__MPI_IN);
        }
        return 1;
    }
    return ended || begun != its->begun || more != its->more;
}

static void check_result(const rank_state *its)
{
    const ipt__mpi_shape *const shape = &its->shape;
    const size_t first = ipt__mpi_start(&shape->cols, shape->rank), rows = ipt__mpi_count(&shape->cols, shape->rank);
    size_t i, j;
    for (i = 0; i < rows; ++i)
        for (j = 0; j < shape->rows.total; ++j) {
            const unsigned value = (unsigned)(j * shape->cols.total + first + i);
            if (memcmp(its->memory + (i * shape->rows.total + j) * sizeof value, &value, sizeof value))
                fail("a wrong element", shape->rank, shape);
        }
}

static void run_case(void)
{
    rank_state *all;
    ipt__mpi_shape common;
    size_t depth = random_below(4) ? MOST_DEPTH : 1, i;
    int rank, moved = 1, left;
    memset(&common, 0, sizeof common);
    common.ranks = 1 + (int)random_below(random_below(8) ? 12 : MOST_RANKS);
    common.size = common.row_run = common.col_run = sizeof(unsigned);
    common.chunk = common.size * (1 + random_below(random_below(2) ? 4 : 100));
    distribute(&common.rows, 1 + random_below(80), common.ranks);
    distribute(&common.cols, 1 + random_below(80), common.ranks);
    common.way = ipt__mpi_choose_way(&common);
    all = (rank_state *)calloc((size_t)common.ranks, sizeof *all);
    for (rank = 0; rank < common.ranks; ++rank) {
        rank_state *const its = &all[rank];
        its->shape = shape_of(&common, rank);
        its->memory = (unsigned char *)malloc(ipt__mpi_share_bytes(&its->shape) + 1);
        for (i = 0; i < ipt__mpi_block_bytes(&its->shape, rank, 0) / sizeof(unsigned); ++i) {
            const unsigned value = (unsigned)(ipt__mpi_start(&common.rows, rank) * common.cols.total + i);
            memcpy(its->memory + i * sizeof value, &value, sizeof value);
        }
        run_locals(its, 0);
        start_phases(its, IPT__MPI_SWAP, IPT__MPI_OUT);
    }
    for (left = common.ranks; left && moved;) {
        const int first = (int)random_below((size_t)common.ranks);
        moved = 0;
        for (i = 0; i < (size_t)common.ranks && !moved; ++i) { /* a random rank that can continue */
            rank_state *const its = &all[((size_t)first + i) % (size_t)common.ranks];
            if (its->finished)
                continue;
            moved = advance(all, its, depth);
            left -= its->finished;
        }
    }
    if (left)
        fail("the ranks wait for each other", 0, &common);
    for (rank = 0; rank < common.ranks; ++rank) {
        run_locals(&all[rank], 1);
        check_result(&all[rank]);
        free(all[rank].memory);
        free(all[rank].shape.rests);
    }
    free(all);
    free(common.rows.starts);
    free(common.cols.starts);
}

/* ---- model ---- */

/* Seconds of an exchange of a block over ranks: see gen/doc/distributed.md. */
static void run_model(void)
{
    static const int counts[] = {2, 4, 8, 16, 64, 256, 1024, 4096, 16384, 100000};
    const double latency = 2e-6, network = 12.5e9, memory = 50e9, block = 4e9;
    size_t i;
    printf("| ranks | matrix | rounds | messages of a rank | bytes of a message | bytes sent by a rank | beside the "
           "block | "
           "local steps | messages | bytes |\n| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n");
    for (i = 0; i < sizeof counts / sizeof *counts; ++i) {
        const double ranks = counts[i], piece = block / ranks, sent = block - piece,
                     chunk = IPT__MPI_CHUNK_BYTES < piece ? IPT__MPI_CHUNK_BYTES : piece,
                     messages = (ranks - 1) * (double)(size_t)(piece / chunk + 0.999999);
        const double waits = messages * latency / IPT__MPI_DEPTH;
        printf("| %d | %.0f GB | %d | %.0f | %.0f | %.2f GB | %.0f MB | %.2f s | %.3f s | %.2f s |\n", counts[i],
               ranks * block * 1e-9, ipt__mpi_rounds(counts[i]), messages, chunk, sent * 1e-9, block * 1e-8,
               2 * 2 * block / memory, waits, sent / network);
    }
}

int main(int argc, char **argv)
{
    const size_t cases = argc > 2 ? strtoull(argv[2], NULL, 10) : 3000;
    size_t i;
    state = 88172645463325252ull + (argc > 3 ? strtoull(argv[3], NULL, 10) * 1000003u : 0);
    if (argc > 1 && !strcmp(argv[1], "counts"))
        run_counts(argc > 2 ? atoi(argv[2]) : 4096);
    else if (argc > 1 && !strcmp(argv[1], "model"))
        run_model();
    else if (argc > 1 && !strcmp(argv[1], "movement")) {
        for (i = 0; i < cases; ++i)
            run_case();
        printf("simulate: %zu matrices on up to %d ranks moved right\n", cases, (int)MOST_RANKS);
    } else {
        fprintf(stderr, "usage: simulate counts [MOST_RANKS] | movement [CASES [SEED]] | model\n");
        return 2;
    }
    return 0;
}
