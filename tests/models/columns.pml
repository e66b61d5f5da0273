/* Permuted columns of the band exchange, by work-groups that wait for one another: gen/kernels/exchange.cl with IPT_AXES,
 * ipt_wait, and what one group does for those that left. Tall and wide, either rest saved, chunks of any columns.
 *
 * The columns are the indices of two axes, which change places: each chunk has partners in each other band, and rest columns
 * lie in several chunks. bands.pml has the protocol without permuted columns. As in the kernel, beside what it lists: a tall
 * chunk looks once for the parked partners of each column, and defers columns without one. It exchanges and writes the
 * others, marks its parked runs, waits for the deferred columns' partners, then exchanges and writes these. A wide chunk
 * parks runs before it waits for parked ones. Each element of the matrix and of the saved rest is there.
 *
 * Only RESIDENT groups run at a time, as many processes, which take up one group after the other. A launch begins with a
 * control block that is clear and one that is not, and must end with the second one clear. With LAUNCHES=2 a second one
 * follows.
 *
 * What is left out, and why nothing is lost by that:
 * - The work-items of a group are one process: they meet at barriers. A chunk is read in one step, by two in the bad
 *   variant. Work-items look for parked partners at different times: each column takes a step.
 * - Exchanging takes one step that loads and one that stores, for all columns: no other group touches them.
 * - Waits of a group's work-items come one after the other, as in panel.pml.
 * - A wait is a step that is possible when a look would see something. That the waiter has looked often enough to close
 *   may be so at any time: more than the kernel can do. What is stuck is found as a deadlock.
 * - The group that does the remaining work reads, exchanges and writes a band in one step each. Others may write deferred
 *   columns meanwhile.
 * - Atomics are seen in one order by all, and stores when they happen. The kernel's releases and acquires see to that.
 * - One matrix: those of a batch only follow one another in tickets.
 *
 * Known to be bad:
 * COUNT_EARLY        a group counts its read before the chunk has arrived (guard: the barrier before ipt_count_read)
 * NO_OWN_WAIT        a group stores before its own position has read (guard: ipt_wait_for_reads)
 * NO_NEIGHBOUR_WAIT  it does not wait for the other bands whose memory it overwrites (guard: low and high there)
 * NO_DONE_WAIT       it takes parked runs that may not be there yet (guard: ipt_await_parked)
 * DECIDE_TWICE       the columns to write are those whose partners are parked by now (guard: IPT_DEFERRED)
 * DEFER_NONE         a column without a parked partner is not deferred (guard: ipt_defer_columns)
 * WRITE_UNEXCHANGED  deferred columns are written before they are exchanged (guard: the barriers in ipt_write_deferred)
 * DONE_EARLY         a chunk is called done before it has parked (guard: the barrier before ipt_signal)
 * PARK_UNREAD        a wide chunk parks at places that it has not read (guard: the barrier before ipt_await_tickets)
 * NO_TICKET_WAIT     it exchanges or parks before all its position's tickets are issued (guard: ipt_await_tickets)
 * NO_REST_WAIT       it does not wait until the rest is saved or, wide, the rest rows are read (guard: the positions
 *                    before the first band in ipt_wait_for_reads)
 * NO_SAVED_WAIT      it reads the saved rest before that is saved (guard: ipt_wait_to_read)
 * SAVE_EARLY         it saves a part of the rest before all its position's tickets are issued (guard: ipt_wait_to_read)
 * RESTORE_EARLY      it restores the rest before that is complete (guard: ipt_wait_for_rest)
 * OTHER_ORDER        bands in the sequence of the other geometry (guard: from_last)
 * NO_CLOSE           waits are not bounded (guard: `polls` and IPT_CLOSED)
 * NO_LEFT_WAIT       the remaining work begins before others have read and parked (guard: ipt_wait_for_others)
 * ALL_MOVE           every group that left does the remaining work (guard: atomic_cmpxchg in ipt_finish_left)
 * NO_CLEAR           the other control block is not cleared (guard: clear_words) */
#ifndef TALL
#define TALL 1
#endif
#ifndef BANDS
#define BANDS 2
#endif
#ifndef HEIGHT
#define HEIGHT 1
#endif
#ifndef WIDTH
#define WIDTH 2
#endif
#ifndef REST_ROWS
#define REST_ROWS 0
#endif
#ifndef REST_COLUMNS
#define REST_COLUMNS 0
#endif
#ifndef AXIS
#define AXIS 2 /* the length of the second axis: a divisor of SHORT */
#endif
#ifndef CHUNK
#define CHUNK 2 /* columns of a chunk */
#endif
#ifndef RESIDENT
#define RESIDENT 2
#endif
#ifndef LAUNCHES
#define LAUNCHES 1
#endif

#define LONG (BANDS * HEIGHT + REST_ROWS)
#define SHORT (BANDS * WIDTH + REST_COLUMNS)
#define COVERED (BANDS * WIDTH)
#define MATRIX (LONG * SHORT)
#if SHORT % AXIS
#error "AXIS must divide the columns"
#endif
#if REST_ROWS * SHORT > REST_COLUMNS * LONG
#define SAVES_ROWS true
#define SAVED (REST_ROWS * SHORT)
#define SAVED_ORIGIN (BANDS * HEIGHT * SHORT)
#if TALL
#define SAVES_FIRST 1
#else
#define SAVES_FIRST 0
#endif
#else
#define SAVES_ROWS false
#define SAVED (REST_COLUMNS * LONG)
#define SAVED_ORIGIN (COVERED * LONG)
#if TALL || !REST_COLUMNS
#define SAVES_FIRST 0
#else
#define SAVES_FIRST 1
#endif
#endif
#if REST_ROWS || REST_COLUMNS
#define COPIES 1
#else
#define COPIES 0
#endif
#ifdef OTHER_ORDER
#define FROM_LAST (TALL -> !SAVES_ROWS : SAVES_ROWS)
#else
#define FROM_LAST (TALL -> SAVES_ROWS : !SAVES_ROWS)
#endif
#define MIN(a, b) ((a) < (b) -> (a) : (b))

#if REST_ROWS
#define POSITIONS (BANDS + 1 + COPIES)
#else
#define POSITIONS (BANDS + COPIES)
#endif
/* The first band, and the rest rows. */
#if TALL || !REST_ROWS
#define FIRST SAVES_FIRST
#else
#define FIRST (SAVES_FIRST + 1)
#endif
#if TALL
#define REST_POSITION (FIRST + BANDS)
#else
#define REST_POSITION (FIRST - 1)
#endif
#define CHUNKS ((SHORT + CHUNK - 1) / CHUNK)
#if HEIGHT > REST_ROWS
#define MOST_Y HEIGHT
#else
#define MOST_Y REST_ROWS
#endif
#define TICKETS (CHUNKS * POSITIONS)
#define ORIGINAL(address) (1 + (address))

/* The two control blocks. */
#define CLOSED 128
#define WORDS (4 + POSITIONS * (1 + CHUNKS))
#define CONTROL(word) control[turn * WORDS + (word)]
#define TICKET_WORD CONTROL(0)
#define CLOSED_AT CONTROL(1)
#define TAKEN CONTROL(2)
#define READ(position) CONTROL(4 + (position))
#define DONE(position, number) CONTROL(4 + POSITIONS + (position) * CHUNKS + (number))
#define CLEARED_EACH ((WORDS + TICKETS - 1) / TICKETS)

byte matrix[MATRIX];
byte saved[SAVED + 1];
byte control[2 * WORDS];
bit turn;
byte begun = TICKETS, ended; /* groups of this launch */
bool over;
byte free = (1 << RESIDENT) - 1; /* places for groups */
byte band_alone[CHUNKS * CHUNK * MOST_Y];

/* The chunk of `ticket`. */
#define POSITION (ticket / CHUNKS)
#define NUMBER (ticket % CHUNKS)
#define STEP (POSITION - FIRST)
#define IS_BAND (POSITION >= FIRST && STEP < BANDS)
#define IS_REST (REST_ROWS > 0 && POSITION == REST_POSITION)
#define IS_COPY (!IS_BAND && !IS_REST)
#define BAND (IS_BAND -> (FROM_LAST -> BANDS - 1 - STEP : STEP) : BANDS)
#define POSITION_OF(band) (FIRST + (FROM_LAST -> BANDS - 1 - (band) : (band)))
#define X_FIRST (NUMBER * CHUNK)
#define X MIN(CHUNK, SHORT - X_FIRST)
#define Y (IS_REST -> REST_ROWS : HEIGHT)

/* The number of a column of the band layout in the slot layout, and the reverse. */
#define AFTER(column) ((column) % AXIS * (SHORT / AXIS) + (column) / AXIS)
#define BEFORE(number) ((number) % (SHORT / AXIS) * AXIS + (number) / (SHORT / AXIS))
#define COLUMN(x) AFTER(X_FIRST + (x))
#define RANGE(x) (COLUMN(x) / WIDTH)
#define HAS_PARTNER(x) (IS_BAND && COLUMN(x) < COVERED)
#define IS_EARLIER(x) (HAS_PARTNER(x) && (FROM_LAST -> RANGE(x) > BAND : RANGE(x) < BAND))
#define IS_LATER(x) (HAS_PARTNER(x) && (FROM_LAST -> RANGE(x) < BAND : RANGE(x) > BAND))
#define IS_AWAITED (!IS_COPY)
#define PARTNER(x) (BAND * WIDTH + COLUMN(x) - RANGE(x) * WIDTH)
#define MARK(x) DONE(POSITION_OF(RANGE(x)), BEFORE(PARTNER(x)) / CHUNK) /* of the chunk that parks the partner */
#define IS_DEFERRED(x) ((deferred >> (x)) & 1)

/* Places of element (y, x) of the chunk. */
#define ROWS_SAVED (IS_REST && SAVES_ROWS)
#define BY_ROWS(y, x) ((ROWS_SAVED -> 0 : BAND * HEIGHT * SHORT) + (y) * SHORT + X_FIRST + (x))
#define COLUMN_SAVED(x) (COLUMN(x) >= COVERED && !SAVES_ROWS)
#define OWN(y, x) ((COLUMN(x) - (COLUMN_SAVED(x) -> COVERED : 0)) * LONG + BAND * HEIGHT + (y))
#define PARTNERS(y, x) (PARTNER(x) * LONG + RANGE(x) * HEIGHT + (y))
#define TILE(y, x) tile[(y) * CHUNK + (x)]
#define HELD(y, x) held[(y) * CHUNK + (x)]
#define ALONE(y, x) band_alone[(NUMBER * MOST_Y + (y)) * CHUNK + (x)]

/* For each element of the chunk. */
#define EACH(what)                                                                                                     \
    d_step {                                                                                                           \
        y = 0;                                                                                                         \
        do                                                                                                             \
        :: y < Y ->                                                                                                    \
            x = 0;                                                                                                     \
            do                                                                                                         \
            :: x < X ->                                                                                                \
                what;                                                                                                  \
                x++                                                                                                    \
            :: else -> break                                                                                           \
            od;                                                                                                        \
            y++                                                                                                        \
        :: else -> break                                                                                               \
        od;                                                                                                            \
        x = 0;                                                                                                         \
        y = 0                                                                                                          \
    }

#define READ_ROW                                                                                                       \
    if                                                                                                                 \
    :: ROWS_SAVED -> TILE(y, x) = saved[BY_ROWS(y, x)]                                                                 \
    :: else -> TILE(y, x) = matrix[BY_ROWS(y, x)]                                                                      \
    fi
#define WRITE_ROW                                                                                                      \
    if                                                                                                                 \
    :: ROWS_SAVED -> saved[BY_ROWS(y, x)] = TILE(y, x)                                                                 \
    :: else -> matrix[BY_ROWS(y, x)] = TILE(y, x)                                                                      \
    fi
#define READ_OWN                                                                                                       \
    if                                                                                                                 \
    :: COLUMN_SAVED(x) -> TILE(y, x) = saved[OWN(y, x)]                                                                \
    :: else -> TILE(y, x) = matrix[OWN(y, x)]                                                                          \
    fi
#define WRITE_COLUMN                                                                                                   \
    if                                                                                                                 \
    :: COLUMN_SAVED(x) -> saved[OWN(y, x)] = TILE(y, x)                                                                \
    :: !COLUMN_SAVED(x) && !HAS_PARTNER(x) -> matrix[OWN(y, x)] = TILE(y, x)                                           \
    :: HAS_PARTNER(x) -> matrix[PARTNERS(y, x)] = TILE(y, x)                                                           \
    fi
#define IF(condition, what)                                                                                            \
    if                                                                                                                 \
    :: condition -> what                                                                                               \
    :: else                                                                                                            \
    fi

/* ipt_wait for a counter or, without one, for all tickets of this position. */
#define OWN_END ((POSITION + 1) * CHUNKS)
#define IS_LEFT (CLOSED_AT != 0 && CLOSED_AT - 1 < OWN_END)
#ifdef NO_CLOSE
#define MAY_CLOSE false
#else
#define MAY_CLOSE (TICKET_WORD < OWN_END) /* not closed: has looked often enough */
#endif
#define WAIT(arrived)                                                                                                  \
    do                                                                                                                 \
    :: (arrived) -> break                                                                                              \
    :: TICKET_WORD >= CLOSED && IS_LEFT ->                                                                             \
        go = false;                                                                                                    \
        break                                                                                                          \
    :: atomic { MAY_CLOSE ->                                                                                           \
            seen = TICKET_WORD;                                                                                        \
            TICKET_WORD = TICKET_WORD | CLOSED                                                                         \
       };                                                                                                              \
        CLOSED_AT = seen + 1;                                                                                          \
        seen = 0                                                                                                       \
    od
#define ALL_ISSUED                                                                                                     \
    ((TICKET_WORD < CLOSED && TICKET_WORD >= OWN_END) || (TICKET_WORD >= CLOSED && CLOSED_AT > OWN_END))

inline wait_for_tickets()
{
#ifndef NO_TICKET_WAIT
    WAIT(ALL_ISSUED)
#else
    skip
#endif
}

/* Defers columns whose partners are not parked yet. */
inline defer()
{
#ifndef DEFER_NONE
    other = 0;
    do
    :: other < X ->
        if
        :: IS_EARLIER(other) && MARK(other) == 0 -> deferred = deferred | (1 << other)
        :: else
        fi;
        other++
    :: else -> break
    od;
    other = 0
#else
    skip
#endif
}

/* Waits for the partners of deferred columns (tall), or of all (wide). */
inline wait_for_parked()
{
#ifndef NO_DONE_WAIT
    other = 0;
    do
    :: go && other < X ->
        if
        :: IS_EARLIER(other) && (!TALL || IS_DEFERRED(other)) -> WAIT(MARK(other) != 0)
        :: else
        fi;
        other++
    :: else -> break
    od;
    other = 0
#else
    skip
#endif
}

#define BAND_UNITS (HEIGHT * SHORT)
#define RANGE_UNITS (WIDTH * LONG)
#define LOW(s) (TALL -> (s) * RANGE_UNITS / BAND_UNITS : (s) * BAND_UNITS / RANGE_UNITS)
#define HIGH(s)                                                                                                        \
    MIN(BANDS - 1, (TALL -> (((s) + 1) * RANGE_UNITS - 1) / BAND_UNITS : (((s) + 1) * BAND_UNITS - 1) / RANGE_UNITS))

inline wait_for_saved()
{
#ifndef NO_SAVED_WAIT
    if
    :: SAVES_FIRST && !IS_COPY && (!TALL || IS_REST) -> WAIT(READ(0) >= CHUNKS)
    :: else
    fi
#else
    skip
#endif
}

inline wait_for_rest()
{
#ifndef RESTORE_EARLY
#if TALL
    other = FIRST * CHUNKS;
    do
    :: go && other < (POSITIONS - 1) * CHUNKS ->
        WAIT(DONE(other / CHUNKS, other % CHUNKS) != 0);
        other++
    :: else -> break
    od;
#else
    other = 0;
    do
    :: go && other < POSITIONS - 1 ->
        WAIT(READ(other) >= CHUNKS);
        other++
    :: else -> break
    od;
    other = 0;
    do
    :: go && other < CHUNKS ->
        WAIT(DONE(REST_POSITION, other) != 0);
        other++
    :: else -> break
    od;
#endif
    other = 0
#else
    skip
#endif
}

inline wait_for_reads()
{
#ifndef NO_OWN_WAIT
    WAIT(READ(POSITION) >= CHUNKS);
#endif
#ifndef NO_REST_WAIT
    do
    :: go && other < (TALL -> SAVES_FIRST : FIRST) ->
        WAIT(READ(other) >= CHUNKS);
        other++
    :: else -> break
    od;
    other = 0;
#endif
#ifndef NO_NEIGHBOUR_WAIT
    if
    :: TALL || !IS_REST ->
        other = LOW((IS_REST -> 0 : BAND));
        last = HIGH((IS_REST -> BANDS - 1 : BAND));
        do
        :: go && other <= last ->
            if
            :: other != BAND -> WAIT(READ(POSITION_OF(other)) >= CHUNKS)
            :: else
            fi;
            other++
        :: else -> break
        od;
        atomic {
            other = 0;
            last = 0
        }
    :: else
    fi
#endif
}

#define SIGNAL_DONE DONE(POSITION, NUMBER) = 1

/* Clears this group's words of the other control block, which no group reads before the launch has ended. */
inline clear()
{
#ifndef NO_CLEAR
    d_step {
        x = 0;
        do
        :: x < CLEARED_EACH ->
            y = ticket * CLEARED_EACH + x;
            if
            :: y < WORDS -> control[(1 - turn) * WORDS + y] = 0
            :: else
            fi;
            x++
        :: else -> break
        od;
        x = 0;
        y = 0
    }
#else
    skip
#endif
}

/* Copies elements of the rest to `saved`, or from there. */
inline copy_rest(begin, end)
{
    d_step {
        y = begin;
        do
        :: y < MIN(end, SAVED) ->
            if
            :: SAVES_FIRST -> saved[y] = matrix[SAVED_ORIGIN + y]
            :: else -> matrix[SAVED_ORIGIN + y] = saved[y]
            fi;
            y++
        :: else -> break
        od;
        y = 0
    }
}
#define COPY_EACH ((SAVED + CHUNKS - 1) / CHUNKS)

/* For each chunk of a position that is left. */
#define EACH_LEFT(what)                                                                                                \
    atomic {                                                                                                           \
        other = 0;                                                                                                     \
        do                                                                                                             \
        :: other < CHUNKS ->                                                                                           \
            ticket = left * CHUNKS + other;                                                                            \
            what;                                                                                                      \
            other++                                                                                                    \
        :: else -> break                                                                                               \
        od;                                                                                                            \
        other = 0                                                                                                      \
    }

/* Takes, exchanges and writes a position. The kernel moves whole bands along chains; what it reads and writes is the same. */
inline take_alone()
{
#if TALL
    EACH(READ_ROW);
#else
    EACH(IF(!IS_EARLIER(x), READ_OWN));
    EACH(IF(IS_EARLIER(x), TILE(y, x) = matrix[PARTNERS(y, x)]));
#endif
    EACH(ALONE(y, x) = TILE(y, x); TILE(y, x) = 0)
}
inline exchange_alone()
{
#if TALL
    EACH(IF(IS_EARLIER(x), HELD(y, x) = ALONE(y, x); ALONE(y, x) = matrix[OWN(y, x)]; matrix[OWN(y, x)] = HELD(y, x)));
    EACH(HELD(y, x) = 0)
#else
    EACH(IF(IS_LATER(x), matrix[OWN(y, x)] = matrix[PARTNERS(y, x)]))
#endif
}
inline store_alone()
{
    EACH(TILE(y, x) = ALONE(y, x); ALONE(y, x) = 0);
#if TALL
    EACH(WRITE_COLUMN);
#else
    EACH(WRITE_ROW);
#endif
    EACH(TILE(y, x) = 0)
}

/* Waits until all positions before `left` have read and parked. */
inline wait_for_others()
{
#ifndef NO_LEFT_WAIT
    other = 0;
    do
    :: other < left * CHUNKS ->
        READ(other / CHUNKS) >= CHUNKS;
        ticket = other;
        if
        :: IS_AWAITED -> DONE(POSITION, NUMBER) != 0
        :: else
        fi;
        other++
    :: else -> break
    od;
    other = 0;
    ticket = 0
#else
    skip
#endif
}

proctype place(byte me)
{
    byte ticket, x, y, other, last, seen, left, deferred;
    byte tile[CHUNK * MOST_Y], held[CHUNK * MOST_Y];
    bool go, took;
next:
    do
    :: over -> break
    :: atomic {
            begun < TICKETS && !(free & ((1 << me) - 1)) -> /* places are alike: the first one that is free */
                free = free & ~(1 << me);
                begun = begun + 1
       };
       atomic {
            go = TICKET_WORD < CLOSED;
            took = go;
            ticket = TICKET_WORD & ~CLOSED;
            TICKET_WORD = TICKET_WORD + 1;
            clear()
       };
       if
       :: go -> wait_for_saved()
       :: else
       fi;
       if
       :: go && IS_COPY ->
#ifndef SAVE_EARLY
            wait_for_tickets();
#endif
            if
            :: go && SAVES_FIRST -> copy_rest(NUMBER * COPY_EACH, (NUMBER + 1) * COPY_EACH)
            :: else
            fi;
            if
            :: go -> READ(POSITION) = READ(POSITION) + 1
            :: else
            fi
#ifdef SAVE_EARLY
            ;
            wait_for_tickets()
#endif
       :: go && !IS_COPY ->
#if TALL
#ifdef COUNT_EARLY
            READ(POSITION) = READ(POSITION) + 1;
            EACH(READ_ROW);
#else
            atomic {
                EACH(READ_ROW);
                READ(POSITION) = READ(POSITION) + 1
            };
#endif
            wait_for_tickets();
            if
            :: go -> defer()
            :: else
            fi;
            if
            :: go ->
                EACH(IF(IS_EARLIER(x) && !IS_DEFERRED(x), HELD(y, x) = TILE(y, x); TILE(y, x) = matrix[OWN(y, x)]));
                EACH(IF(IS_EARLIER(x) && !IS_DEFERRED(x), matrix[OWN(y, x)] = HELD(y, x); HELD(y, x) = 0))
            :: else
            fi
#else
#ifndef PARK_UNREAD
            EACH(IF(!IS_EARLIER(x), READ_OWN));
#endif
            wait_for_tickets();
            if
            :: go ->
#ifdef COUNT_EARLY
                READ(POSITION) = READ(POSITION) + 1;
#endif
#ifdef DONE_EARLY
                SIGNAL_DONE;
#endif
                EACH(IF(IS_LATER(x), HELD(y, x) = matrix[PARTNERS(y, x)]));
                EACH(IF(IS_LATER(x), matrix[OWN(y, x)] = HELD(y, x); HELD(y, x) = 0));
#ifndef DONE_EARLY
                if
                :: IS_BAND -> SIGNAL_DONE
                :: else
                fi;
#endif
#ifdef PARK_UNREAD
                EACH(IF(!IS_EARLIER(x), READ_OWN));
#endif
                wait_for_parked();
                EACH(IF(IS_EARLIER(x), TILE(y, x) = matrix[PARTNERS(y, x)]));
#ifndef COUNT_EARLY
                READ(POSITION) = READ(POSITION) + 1
#else
                skip
#endif
            :: else
            fi
#endif
       :: else
       fi;
       if
       :: go && !IS_COPY -> wait_for_reads()
       :: go && IS_COPY && !SAVES_FIRST -> wait_for_rest()
       :: else
       fi;
       if
       :: go && IS_COPY ->
            if
            :: !SAVES_FIRST -> copy_rest(NUMBER * COPY_EACH, (NUMBER + 1) * COPY_EACH)
            :: else
            fi
       :: go && !IS_COPY ->
#if TALL
#ifdef DONE_EARLY
            SIGNAL_DONE;
#endif
#ifdef DECIDE_TWICE
            deferred = 0;
            defer();
#endif
            EACH(IF(!IS_DEFERRED(x), WRITE_COLUMN));
#ifndef DONE_EARLY
            SIGNAL_DONE;
#endif
            wait_for_parked();
#ifdef WRITE_UNEXCHANGED
            EACH(IF(IS_DEFERRED(x), WRITE_COLUMN));
#endif
            EACH(IF(IS_DEFERRED(x), HELD(y, x) = TILE(y, x); TILE(y, x) = matrix[OWN(y, x)]));
            EACH(IF(IS_DEFERRED(x), matrix[OWN(y, x)] = HELD(y, x); HELD(y, x) = 0));
#ifndef WRITE_UNEXCHANGED
            EACH(IF(IS_DEFERRED(x), WRITE_COLUMN))
#endif
#else
            EACH(WRITE_ROW);
            if
            :: IS_REST -> SIGNAL_DONE
            :: else
            fi
#endif
       :: else
       fi;
       /* One of the groups that left does the remaining work. */
       atomic {
            left = POSITIONS;
            if
#ifdef ALL_MOVE
            :: took && !go ->
#else
            :: took && !go && TAKEN == 0 ->
#endif
                assert(CLOSED_AT != 0);
                TAKEN = 1;
                left = (CLOSED_AT - 1) / CHUNKS
            :: else
            fi;
            EACH(TILE(y, x) = 0; HELD(y, x) = 0);
            deferred = 0;
            go = false;
            took = false
       };
       if
       :: left < POSITIONS -> wait_for_others()
       :: else
       fi;
       do
       :: left < POSITIONS ->
            ticket = left * CHUNKS;
            if
            :: IS_COPY -> copy_rest(0, SAVED)
            :: else ->
                EACH_LEFT(take_alone());
                EACH_LEFT(exchange_alone());
                EACH_LEFT(store_alone())
            fi;
            left++
       :: else -> break
       od;
       atomic {
            left = 0;
            ticket = 0;
            free = free | 1 << me;
            ended = ended + 1
       }
    od
}

/* The state at the launch, and the state that it must reach. */
inline prepare()
{
    i = 0;
    do
    :: i < MATRIX ->
        matrix[i] = ORIGINAL(i);
        i++
    :: else -> break
    od;
    i = 0;
    do
    :: i < SAVED ->
        saved[i] = 0;
        i++
    :: else -> break
    od;
    i = 0
}

inline check()
{
    i = 0;
    do
    :: i < SHORT ->
        j = 0;
        do
        :: j < LONG ->
            if
            :: TALL -> assert(matrix[AFTER(i) * LONG + j] == ORIGINAL(j * SHORT + i))
            :: else -> assert(matrix[j * SHORT + i] == ORIGINAL(AFTER(i) * LONG + j))
            fi;
            j++
        :: else -> break
        od;
        i++
    :: else -> break
    od;
    i = 0;
    do
    :: i < WORDS ->
        assert(control[(1 - turn) * WORDS + i] == 0);
        i++
    :: else -> break
    od;
    i = 0;
    j = 0
}

init
{
    byte i, j, launch;
    atomic {
        do
        :: i < WORDS ->
            control[WORDS + i] = 1;
            i++
        :: else -> break
        od;
        i = 0;
        do
        :: i < RESIDENT ->
            run place(i);
            i++
        :: else -> break
        od;
        i = 0
    };
    do
    :: launch < LAUNCHES ->
        d_step {
            prepare();
            i = 0;
            ended = 0;
            begun = 0
        };
        ended == TICKETS;
        d_step {
            check();
            turn = 1 - turn;
            launch++
        }
    :: else -> break
    od;
    over = true
}
