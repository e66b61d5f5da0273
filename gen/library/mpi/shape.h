/* Matrices and arrays over ranks: shares, rounds and the steps of the exchange. Calls no MPI. */

/* Rank p has r_p rows of the matrix and c_p rows of the result. Its first local step makes the piece for each rank q
 * contiguous: c_q x r_p elements. After the exchange rank p has a piece of c_p x r_s elements from each rank s. The
 * last local steps merge these pieces. Of an array, rows are indices of the first axis, and columns are indices of the
 * axis that comes first in the result. An element of that matrix has all elements along the other axes, which local
 * steps permute. The exchange has three phases:
 * - SWAP: equal parts of two ranks' pieces change places, chunk by chunk, in the rounds of a tournament. In a round a
 *   rank has one partner. If r_p c_q exceeds r_q c_p, rank p still has a rest of its piece for q, and q has no room for
 *   the rest yet.
 * - OUT: a rank sends its rests, first those to ranks of the lowest ratio r / c. Rests go from ranks of a higher ratio
 *   to ranks of a lower one. The sent rests leave room for the rank's result.
 * - IN: the rank moves its pieces to their final places and receives rests. The senders have higher ratios, so no ranks
 *   wait for each other in a circle. */

/* One side of the matrix, and how it is distributed. */
typedef struct ipt__mpi_side {
    size_t total, block;
    size_t *starts; /* ranks + 1 numbers; NULL: by block */
} ipt__mpi_side;

/* A receiver of a rest. */
typedef struct ipt__mpi_rest {
    size_t rows, cols; /* its ratio */
    int round, peer;
} ipt__mpi_rest;

/* The local steps that make and merge pieces: see ipt__mpi_choose_way. */
typedef enum ipt__mpi_way {
    IPT__MPI_BY_ROWS,
    IPT__MPI_BY_COLS,
    IPT__MPI_BY_PIECES,
    IPT__MPI_STAYS /* the first axis is the result's first axis, too: each rank keeps its rows */
} ipt__mpi_way;

typedef struct ipt__mpi_shape {
    ipt__mpi_side rows, cols;
    size_t size;             /* bytes of an element of the matrix of rows and columns */
    size_t row_run, col_run; /* bytes behind an index of the row in the result, and of the column in the source */
    int is_matrix;           /* the other axes come last, and in their sequence */
    int ranks, rank;
    size_t chunk; /* largest message in bytes, equal on all ranks */
    ipt__mpi_way way;
    ipt__mpi_rest *rests; /* in the sequence of phase OUT */
    int rest_count;
} ipt__mpi_shape;

/* The first row of a rank on this side. rank = ranks: the end. */
static size_t ipt__mpi_start(const ipt__mpi_side *side, int rank)
{
    if (side->starts)
        return side->starts[rank];
    return (size_t)rank < ipt__ceil_divide(side->total, side->block) ? (size_t)rank * side->block : side->total;
}

static size_t ipt__mpi_count(const ipt__mpi_side *side, int rank)
{
    return ipt__mpi_start(side, rank + 1) - ipt__mpi_start(side, rank);
}

/* Bytes of the piece that one rank sends to another. */
static size_t ipt__mpi_piece(const ipt__mpi_shape *shape, int from, int to)
{
    if (shape->way == IPT__MPI_STAYS)
        return from == to ? ipt__mpi_count(&shape->rows, from) * shape->size : 0;
    return ipt__mpi_count(&shape->rows, from) * ipt__mpi_count(&shape->cols, to) * shape->size;
}

/* Bytes of a rank's block before or after the transposition. */
static size_t ipt__mpi_block_bytes(const ipt__mpi_shape *shape, int rank, int after)
{
    if (shape->way == IPT__MPI_STAYS)
        return ipt__mpi_piece(shape, rank, rank);
    return after ? ipt__mpi_count(&shape->cols, rank) * shape->rows.total * shape->size
                 : ipt__mpi_count(&shape->rows, rank) * shape->cols.total * shape->size;
}

/* Bytes of this rank's memory: the larger of the two. */
static size_t ipt__mpi_share_bytes(const ipt__mpi_shape *shape)
{
    return ipt__max(ipt__mpi_block_bytes(shape, shape->rank, 0), ipt__mpi_block_bytes(shape, shape->rank, 1));
}

/* Bytes before the piece for a rank, before the exchange. */
static size_t ipt__mpi_piece_at(const ipt__mpi_shape *shape, int to)
{
    if (shape->way == IPT__MPI_STAYS)
        return 0;
    return ipt__mpi_start(&shape->cols, to) * ipt__mpi_count(&shape->rows, shape->rank) * shape->size;
}

/* Bytes before the piece from a rank, after the exchange. */
static size_t ipt__mpi_piece_out_at(const ipt__mpi_shape *shape, int from)
{
    if (shape->way == IPT__MPI_STAYS)
        return 0;
    return ipt__mpi_start(&shape->rows, from) * ipt__mpi_count(&shape->cols, shape->rank) * shape->size;
}

/* The number of rows of each rank that has rows on this side. 0: they differ. *ranks: number of such ranks. */
static size_t ipt__mpi_equal(const ipt__mpi_side *side, int all, size_t *ranks)
{
    size_t equal = 0;
    int i;
    *ranks = 0;
    for (i = 0; i < all; ++i) {
        const size_t count = ipt__mpi_count(side, i);
        if (!count)
            continue;
        if (equal && count != equal)
            return 0;
        equal = count;
        ++*ranks;
    }
    return equal;
}

/* If all ranks have equal numbers of rows, the last step is one transposition of long elements. If they have equal
 * numbers of columns, the first step is. The longer elements are better. Otherwise one step transposes each received
 * piece, and a last step the whole. */
static ipt__mpi_way ipt__mpi_choose_way(const ipt__mpi_shape *shape)
{
    size_t ranks;
    const size_t rows = ipt__mpi_equal(&shape->rows, shape->ranks, &ranks),
                 cols = ipt__mpi_equal(&shape->cols, shape->ranks, &ranks);
    return rows && rows * shape->row_run >= cols * shape->col_run ? IPT__MPI_BY_ROWS
           : cols                                                 ? IPT__MPI_BY_COLS
                                                                  : IPT__MPI_BY_PIECES;
}

/* Whether a matrix is square, and distributed alike before and after. */
static int ipt__mpi_is_square(const ipt__mpi_shape *shape)
{
    int i;
    for (i = 0; i < shape->ranks && ipt__mpi_start(&shape->rows, i) == ipt__mpi_start(&shape->cols, i); ++i)
        ;
    return shape->is_matrix && shape->rows.total == shape->cols.total && i == shape->ranks;
}

/* ---- rounds ---- */

/* Rounds of a tournament of all pairs. */
static int ipt__mpi_rounds(int ranks)
{
    return ranks % 2 ? ranks : ranks - 1;
}

/* A rank's partner in a round; the rank itself: none. */
static int ipt__mpi_partner(int ranks, int rank, int round)
{
    const long long circle = ranks % 2 ? ranks : ranks - 1;
    long long partner;
    if (rank == circle) /* the last of an even number meets the rank that would meet itself */
        return (int)((long long)round * (ranks / 2) % circle);
    partner = (round - rank + circle) % circle;
    return partner != rank || ranks % 2 ? (int)partner : ranks - 1;
}

/* The round in which two ranks meet. */
static int ipt__mpi_round(int ranks, int a, int b)
{
    const long long circle = ranks % 2 ? ranks : ranks - 1;
    return (int)(a == circle ? 2LL * b % circle : b == circle ? 2LL * a % circle : ((long long)a + b) % circle);
}

/* ---- rests ---- */

static int ipt__mpi_rest_compare(const void *first, const void *second)
{
    const ipt__mpi_rest *const a = (const ipt__mpi_rest *)first, *const b = (const ipt__mpi_rest *)second;
    const size_t left = a->rows * b->cols, right = b->rows * a->cols;
    if (left != right)
        return left < right ? -1 : 1;
    return a->round < b->round ? -1 : 1;
}

/* Bytes of the rest that a rank sends to another after the exchange of equal parts. */
static size_t ipt__mpi_rest_bytes(const ipt__mpi_shape *shape, int from, int to)
{
    const size_t sent = ipt__mpi_piece(shape, from, to), received = ipt__mpi_piece(shape, to, from);
    return sent - ipt__min(sent, received);
}

/* Fills the list of receivers, which has room for all ranks. */
static void ipt__mpi_list_rests(ipt__mpi_shape *shape)
{
    int peer;
    shape->rest_count = 0;
    for (peer = 0; peer < shape->ranks; ++peer)
        if (ipt__mpi_rest_bytes(shape, shape->rank, peer)) {
            ipt__mpi_rest *const rest = &shape->rests[shape->rest_count++];
            rest->rows = ipt__mpi_count(&shape->rows, peer);
            rest->cols = ipt__mpi_count(&shape->cols, peer);
            rest->round = ipt__mpi_round(shape->ranks, shape->rank, peer);
            rest->peer = peer;
        }
    qsort(shape->rests, (size_t)shape->rest_count, sizeof *shape->rests, ipt__mpi_rest_compare);
}

/* ---- steps ---- */

typedef enum ipt__mpi_phase { IPT__MPI_SWAP, IPT__MPI_OUT, IPT__MPI_IN } ipt__mpi_phase;

/* A step: a message in each direction, or in one. */
typedef struct ipt__mpi_step {
    int peer;
    size_t at; /* bytes from the start of the block: what is sent, and what the received message replaces */
    size_t sent, received;
} ipt__mpi_step;

typedef struct ipt__mpi_cursor {
    ipt__mpi_phase phase;
    int turn;    /* round, or number of a rest */
    size_t done; /* bytes of this pair of pieces */
} ipt__mpi_cursor;

/* The next step of a phase. Returns 0 at its end. */
static int ipt__mpi_next(const ipt__mpi_shape *shape, ipt__mpi_cursor *cursor, ipt__mpi_step *step)
{
    const int me = shape->rank,
              turns = cursor->phase == IPT__MPI_OUT ? shape->rest_count : ipt__mpi_rounds(shape->ranks);
    for (; cursor->turn < turns; ++cursor->turn, cursor->done = 0) {
        const int peer = cursor->phase == IPT__MPI_OUT ? shape->rests[cursor->turn].peer
                                                       : ipt__mpi_partner(shape->ranks, me, cursor->turn);
        const size_t out = ipt__mpi_piece(shape, me, peer), in = ipt__mpi_piece(shape, peer, me),
                     both = ipt__min(out, in);
        const size_t all = cursor->phase == IPT__MPI_SWAP  ? both
                           : cursor->phase == IPT__MPI_OUT ? out - both
                                                           : in - both;
        const size_t bytes = ipt__min(shape->chunk, all - cursor->done);
        if (peer == me || !bytes)
            continue;
        step->peer = peer;
        step->sent = cursor->phase == IPT__MPI_IN ? 0 : bytes;
        step->received = cursor->phase == IPT__MPI_OUT ? 0 : bytes;
        step->at = cursor->phase == IPT__MPI_IN
                       ? ipt__mpi_piece_out_at(shape, peer) + both + cursor->done
                       : ipt__mpi_piece_at(shape, peer) + cursor->done + (cursor->phase == IPT__MPI_OUT ? both : 0);
        cursor->done += bytes;
        return 1;
    }
    return 0;
}

/* A move within a block between phases OUT and IN: the piece of one rank. */
typedef struct ipt__mpi_shift {
    size_t from, to, bytes;
} ipt__mpi_shift;

/* The move of a turn, of 2 * ranks turns; bytes is 0 if nothing moves. The pieces stay in sequence. First the pieces
 * that go to lower places move, from the first piece on. Then the others move, from the last piece on. So no piece
 * overwrites one that has yet to move. */
static ipt__mpi_shift ipt__mpi_shift_at(const ipt__mpi_shape *shape, int turn)
{
    const int up = turn >= shape->ranks, peer = up ? 2 * shape->ranks - 1 - turn : turn;
    ipt__mpi_shift shift;
    shift.from = ipt__mpi_piece_at(shape, peer);
    shift.to = ipt__mpi_piece_out_at(shape, peer);
    shift.bytes = ipt__min(ipt__mpi_piece(shape, shape->rank, peer), ipt__mpi_piece(shape, peer, shape->rank));
    if (up ? shift.to <= shift.from : shift.to >= shift.from)
        shift.bytes = 0;
    return shift;
}

/* Bytes of a rank's messages in all phases, in both directions. */
static size_t ipt__mpi_message_bytes(const ipt__mpi_shape *shape)
{
    const size_t own = ipt__mpi_piece(shape, shape->rank, shape->rank);
    return ipt__mpi_block_bytes(shape, shape->rank, 0) + ipt__mpi_block_bytes(shape, shape->rank, 1) - 2 * own;
}
