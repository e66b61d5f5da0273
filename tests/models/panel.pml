/* Panels by work-groups that wait for one another: gen/kernels/panel.cl, ipt_k_panel with ipt_wait and what the last
 * group does alone. Tall and wide, narrow or not, with and without a tail, by blocks, in chunks along both sides, and
 * the whole matrix in one ticket group with chunks by group numbers (`single`).
 *
 * As in the kernel: tickets; which elements a chunk reads and where they go; counters by blocks; what a group waits
 * for; closing the ticket counter with one atomic and telling where in another; departing; clearing the other control
 * block; what was left to the last group, and from which ticket group on. Each element of the matrix and of the saved
 * tail is there, with its address on the grid of slots.
 *
 * Only RESIDENT groups run at a time, as many processes, which take up one group after the other; a group that runs
 * waits, but does not give its place away. A launch begins with a control block that is clear and one that is not (it
 * may hold anything), and must end with the second one clear: so all launches do. With LAUNCHES=2 a second one
 * follows.
 *
 * What is left out, and why nothing is lost by that:
 * - The work-items of a group are one process: they meet at barriers. A chunk (of a block) is read in one step, by two
 *   in the bad variant: the later something is read, the worse, and it can be put off until the count. What is read is
 *   asserted to be original, so nobody relies on what others have stored, and stores that are seen late do no harm.
 * - The waits of a group's work-items for different counters come one after the other. They have nothing but the
 *   ticket counter in common, their own ticket group's last ticket is the same for all, and their answers are put
 *   together by "and".
 * - A wait is a step that is possible when a look would see something; a look that sees nothing changes nothing. That
 *   the waiter has looked often enough to close may be so at any time: more than the kernel can do. Nobody looks for
 *   ever, so what is stuck is found as a deadlock.
 * - The last group transposes a panel in one step, and moves one slot in one step: others store at that time, at most.
 *   If they touched the same memory, one of the two sequences would show it.
 * - Atomics are seen in one order by all. A wait rests on a single word, or on one that says that it has been set; the
 *   last group looks at others' words behind a fence, as they had before they departed.
 * - One matrix: those of a batch only follow one another in tickets. Ticket groups of several panels are larger panels.
 *
 * Known to be bad:
 * CLAIM_EARLY       a group counts before what it reads has arrived (guard: ipt_fetch_wait_but, or the data dependence
 *                   through local memory, and the barrier before ipt_count_read)
 * CLAIM_OWN_LANE    it counts when the counting work-item's own part has arrived (guard: that barrier)
 * IGNORE_NEIGHBOUR  with a tail, the ticket group before is not waited for (guard: before_too)
 * NO_CLOSE          waits are not bounded (guard: `polls` and IPT_CLOSED)
 * NO_TICKET_WAIT    wide by blocks: a group writes its first block before all its ticket group's tickets are issued
 *                   (guard: the wait without a counter)
 * DEPART_EARLY      a group counts its departure before it has decided (guard: IPT_DEPARTED behind the waits)
 * NO_CLEAR          the other control block is not cleared (guard: clear_words) */
#ifndef TALL
#define TALL 1
#endif
#ifndef SHORT
#define SHORT 2 /* elements of the short side */
#endif
#ifndef LENGTH
#define LENGTH 2 /* of a panel along the long side */
#endif
#ifndef PANELS
#define PANELS 2
#endif
#ifndef TAIL
#define TAIL 1 /* rows or columns left over */
#endif
#ifndef CHUNK_X
#define CHUNK_X 1
#endif
#ifndef CHUNK_Y
#define CHUNK_Y LENGTH
#endif
#ifndef BLOCKS
#define BLOCKS 1
#endif
#ifndef NARROW
#define NARROW 0
#endif
#ifndef RESIDENT
#define RESIDENT 2
#endif
#ifndef LAUNCHES
#define LAUNCHES 1
#endif

#define LONG (LENGTH * PANELS + TAIL)
#define MATRIX (LONG * SHORT)
#define SAVED (TAIL * SHORT)
#define ACROSS ((SHORT + CHUNK_X - 1) / CHUNK_X)
#define DOWN ((LENGTH + CHUNK_Y - 1) / CHUNK_Y)
#define CHUNKS (ACROSS * DOWN)
#if TAIL
#define NEIGHBOURS 1
#else
#define NEIGHBOURS 0
#endif
#define TICKET_GROUPS (PANELS + NEIGHBOURS)
#define TICKETS (CHUNKS * TICKET_GROUPS)
#if TALL
#define BLOCK_ROWS ((LENGTH + BLOCKS - 1) / BLOCKS)
#else
#define BLOCK_ROWS (LENGTH / BLOCKS)
#endif
#define SINGLE (!TAIL && PANELS == 1 && BLOCKS == 1)
#define MIN(a, b) ((a) < (b) -> (a) : (b))
#define SLOT(t) (((t) / PANELS) * LONG + ((t) % PANELS) * LENGTH)
#define ORIGINAL(address) (1 + (address))
#define ORIGINAL_SAVED(i) (1 + MATRIX + (i))

/* The two control blocks. */
#define CLOSED 128
#define WORDS (4 + TICKET_GROUPS * BLOCKS)
#define CONTROL(word) control[turn * WORDS + (word)]
#define TICKET_WORD CONTROL(0)
#define CLOSED_AT CONTROL(1)
#define DEPARTED CONTROL(2)
#define COUNTER(group, block) CONTROL(4 + (group) * BLOCKS + (block))
#define CLEARED_EACH ((WORDS + TICKETS - 1) / TICKETS)

byte matrix[MATRIX];
byte saved[SAVED + 1];
byte control[2 * WORDS];
bit turn;
byte begun = TICKETS, ended; /* groups of this launch */
bool over;
byte free = (1 << RESIDENT) - 1; /* places for groups */
hidden byte scratch[LENGTH * SHORT];

/* The chunk of `ticket`. */
#define TICKET_GROUP (ticket / CHUNKS)
#if TALL
#define K (TICKET_GROUPS - 1 - TICKET_GROUP)
#else
#define K TICKET_GROUP
#endif
#define IS_TAIL (K == PANELS)
#define Y_LENGTH (IS_TAIL -> TAIL : LENGTH)
#define X_FIRST ((ticket % CHUNKS) % ACROSS * CHUNK_X)
#define Y_FIRST ((ticket % CHUNKS) / ACROSS * CHUNK_Y)
#define X MIN(CHUNK_X, SHORT - X_FIRST)
#define Y (Y_FIRST < Y_LENGTH -> MIN(CHUNK_Y, Y_LENGTH - Y_FIRST) : 0)
#define PANEL_UNITS (LENGTH * SHORT)

/* By row or column `y` of the chunk along the long side, `x` along the short one. */
#define BY_ROWS(y, x) ((K * LENGTH + Y_FIRST + (y)) * SHORT + X_FIRST + (x))
#define BY_SLOTS(y, x) (SLOT(K * SHORT + X_FIRST + (x)) + Y_FIRST + (y))
#define IN_SAVED(y, x) ((X_FIRST + (x)) * TAIL + Y_FIRST + (y))
#define TILE(y, x) tile[(y) * CHUNK_X + (x)]

/* Reads rows `begin` to `end` of the chunk, of these what work-item `which` of two reads, or (2) all. */
inline read_rows(begin, end, which)
{
    d_step {
        y = begin;
        do
        :: y < MIN(end, Y) ->
            x = 0;
            do
            :: x < X ->
                if
                :: which < 2 && (x + y) % 2 != which
                :: else ->
#if TALL
                    TILE(y, x) = matrix[BY_ROWS(y, x)];
                    assert(TILE(y, x) == ORIGINAL(BY_ROWS(y, x)))
#else
                    if
                    :: IS_TAIL -> TILE(y, x) = saved[IN_SAVED(y, x)]
                    :: else ->
                        TILE(y, x) = matrix[BY_SLOTS(y, x)];
                        assert(TILE(y, x) == ORIGINAL(BY_SLOTS(y, x)))
                    fi
#endif
                fi;
                x++
            :: else -> break
            od;
            y++
        :: else -> break
        od;
        x = 0;
        y = 0
    }
}

inline count(block)
{
    COUNTER(TICKET_GROUP, block) = COUNTER(TICKET_GROUP, block) + 1
}

inline read_and_count(begin, end, block)
{
#if defined(CLAIM_EARLY)
    count(block);
    read_rows(begin, end, 2)
#elif defined(CLAIM_OWN_LANE)
    read_rows(begin, end, 0);
    count(block);
    read_rows(begin, end, 1)
#else
    atomic {
        read_rows(begin, end, 2);
        count(block)
    }
#endif
}

/* Writes the elements of the chunk that satisfy `which`. */
inline write(which)
{
    d_step {
        y = 0;
        do
        :: y < Y ->
            x = 0;
            do
            :: x < X ->
                if
                :: !(which)
                :: else ->
#if TALL
                    if
                    :: IS_TAIL -> saved[IN_SAVED(y, x)] = TILE(y, x)
                    :: else -> matrix[BY_SLOTS(y, x)] = TILE(y, x)
                    fi
#else
                    matrix[BY_ROWS(y, x)] = TILE(y, x)
#endif
                fi;
                x++
            :: else -> break
            od;
            y++
        :: else -> break
        od;
        x = 0;
        y = 0
    }
}

/* ipt_wait for counter `block` of ticket group `group` or, with none of them, for all tickets of this one's. */
#define OWN_END ((TICKET_GROUP + 1) * CHUNKS)
#define IS_LEFT (CLOSED_AT != 0 && CLOSED_AT - 1 < OWN_END)
inline wait(counts, group, block, needed)
{
    do
    :: counts && COUNTER(group, block) >= needed -> break
    :: !counts && TICKET_WORD < CLOSED && TICKET_WORD >= OWN_END -> break
    :: !counts && TICKET_WORD >= CLOSED && CLOSED_AT > OWN_END -> break
    :: TICKET_WORD >= CLOSED && IS_LEFT ->
        go = false;
        break
#ifndef NO_CLOSE
    :: atomic { TICKET_WORD < OWN_END -> /* not closed: has looked often enough */
            seen = TICKET_WORD;
            TICKET_WORD = TICKET_WORD | CLOSED
       };
        CLOSED_AT = seen + 1;
        seen = 0
#endif
    od
}

/* Also clears this group's words of the other control block, which no group reads before the launch has ended. */
inline depart()
{
    d_step {
        DEPARTED = DEPARTED + 1;
        departed = DEPARTED;
#ifndef NO_CLEAR
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
#endif
    }
}

/* Transposes the rows x cols elements from `begin` on. */
inline transpose_alone(begin, rows, cols)
{
    d_step {
        y = 0;
        do
        :: y < PANEL_UNITS ->
            scratch[(y % (cols)) * (rows) + y / (cols)] = matrix[begin + y];
            y++
        :: else -> break
        od;
        y = 0;
        do
        :: y < PANEL_UNITS ->
            matrix[begin + y] = scratch[y];
            scratch[y] = 0;
            y++
        :: else -> break
        od;
        y = 0
    }
}

/* Moves a panel's slot from or to the panel's own memory. */
inline move_slot(panel, slot)
{
    d_step {
        y = 0;
        do
        :: y < LENGTH ->
            scratch[y] = matrix[(TALL -> panel * PANEL_UNITS + slot * LENGTH : SLOT(panel * SHORT + slot)) + y];
            y++
        :: else -> break
        od;
        y = 0;
        do
        :: y < LENGTH ->
            matrix[(TALL -> SLOT(panel * SHORT + slot) : panel * PANEL_UNITS + slot * LENGTH) + y] = scratch[y];
            scratch[y] = 0;
            y++
        :: else -> break
        od;
        y = 0
    }
}

proctype place(byte me)
{
    byte ticket, own_ticket, x, y, block, seen, departed, left;
    byte tile[CHUNK_X * CHUNK_Y];
    bool has_chunk, go, before_too;
    byte first_block, end_block;
    int reach;
next:
    do
    :: over -> break
    :: atomic {
            begun < TICKETS && !(free & ((1 << me) - 1)) -> /* places are alike: the first one that is free */
                free = free & ~(1 << me);
                ticket = begun;
                begun = begun + 1
#if SINGLE
       };
       atomic {
#else
            ;
#endif
            own_ticket = TICKET_WORD;
            TICKET_WORD = TICKET_WORD + 1;
            has_chunk = own_ticket < CLOSED;
            go = has_chunk;
            if
            :: SINGLE
            :: else -> ticket = own_ticket & ~CLOSED
            fi;
            own_ticket = 0
       };
       if
       :: has_chunk ->
#if TALL
            block = 0;
            do
            :: block < BLOCKS ->
                read_and_count(block * BLOCK_ROWS, (block + 1) * BLOCK_ROWS, block);
                block++
            :: else -> break
            od;
            block = 0
#else
            read_and_count(0, LENGTH, X_FIRST * BLOCKS / SHORT)
#endif
       :: else
       fi;
       before_too = has_chunk && NEIGHBOURS && TICKET_GROUP != 0;

#ifdef DEPART_EARLY
       depart();
#endif
#if NARROW
#if TALL
#define IS_LATE (before_too && BY_SLOTS(0, x) + LENGTH > (K + 1) * PANEL_UNITS)
#else
       reach = 0;
       if
       :: before_too ->
            reach = LENGTH + SLOT(K * SHORT - 1) - BY_ROWS(0, 0);
            reach = (reach < 0 -> 0 : reach)
       :: else
       fi;
#define IS_LATE (y * SHORT + x < reach)
#endif
       if
       :: has_chunk -> write(!IS_LATE)
       :: else
       fi;
#ifndef IGNORE_NEIGHBOUR
       if
       :: before_too -> wait(true, TICKET_GROUP - 1, 0, CHUNKS)
       :: else
       fi;
#endif
       go = has_chunk; /* the kernel does not wait for the answer either */
#ifndef DEPART_EARLY
       depart();
#endif
       if
       :: has_chunk -> write(IS_LATE)
       :: else
       fi;
       reach = 0;
#elif TALL
       d_step {
            if
            :: has_chunk && !IS_TAIL ->
                /* The elements from the panel's own memory to where this group writes. */
                reach = BY_SLOTS(0, 0) - K * PANEL_UNITS;
                first_block = reach / (BLOCK_ROWS * SHORT);
                reach = BY_SLOTS(Y, X - 1) - K * PANEL_UNITS;
                end_block = MIN(BLOCKS, (reach - 1) / (BLOCK_ROWS * SHORT) + 1);
                before_too = before_too && reach > PANEL_UNITS;
                reach = 0
            :: else
            fi;
#ifdef IGNORE_NEIGHBOUR
            before_too = false
#endif
       };
       do
       :: first_block < end_block ->
            wait(true, TICKET_GROUP, first_block, CHUNKS);
            first_block++
       :: else -> break
       od;
       do
       :: before_too && block < BLOCKS ->
            wait(true, TICKET_GROUP - 1, block, CHUNKS);
            block++
       :: else -> break
       od;
       atomic {
            block = 0;
            first_block = 0;
            end_block = 0;
            before_too = false
       };
#ifndef DEPART_EARLY
       depart();
#endif
#else
#ifdef IGNORE_NEIGHBOUR
       before_too = false;
#endif
       do /* by blocks of the result's rows */
       :: block < BLOCKS ->
            if
            :: has_chunk && !IS_TAIL ->
                wait(true, TICKET_GROUP, block,
                     ((block + 1) * SHORT + BLOCKS * CHUNK_X - 1) / (BLOCKS * CHUNK_X) -
                         (block * SHORT + BLOCKS * CHUNK_X - 1) / (BLOCKS * CHUNK_X))
            :: else
            fi;
            do
            :: before_too && block == 0 && first_block < BLOCKS ->
                wait(true, TICKET_GROUP - 1, first_block,
                     ((first_block + 1) * SHORT + BLOCKS * CHUNK_X - 1) / (BLOCKS * CHUNK_X) -
                         (first_block * SHORT + BLOCKS * CHUNK_X - 1) / (BLOCKS * CHUNK_X));
                first_block++
            :: else -> break
            od;
#ifndef NO_TICKET_WAIT
            if
            :: has_chunk && BLOCKS > 1 && block == 0 -> wait(false, 0, 0, 0)
            :: else
            fi;
#endif
#ifndef DEPART_EARLY
            if
            :: block + 1 == BLOCKS -> depart()
            :: else
            fi;
#endif
            if
            :: go ->
                write(y >= block * BLOCK_ROWS && (block + 1 == BLOCKS || y < (block + 1) * BLOCK_ROWS))
            :: else
            fi;
            block++
       :: else -> break
       od;
       atomic {
            block = 0;
            first_block = 0;
            before_too = false
       };
#endif

       /* The last group alone does the remaining work. It knows the amount, because all groups have decided. */
       atomic {
#if TALL && !NARROW
            if
            :: go -> write(true)
            :: else
            fi;
#endif
            left = TICKET_GROUPS;
            if
            :: departed == TICKETS && !(SINGLE && go) && TICKET_WORD >= CLOSED ->
                assert(CLOSED_AT != 0);
                left = (CLOSED_AT - 1) / CHUNKS
            :: else
            fi;
            x = 0;
            do
            :: x < CHUNK_X * CHUNK_Y ->
                tile[x] = 0;
                x++
            :: else -> break
            od;
            x = 0;
            departed = 0;
            has_chunk = false;
            go = false;
            if
            :: left == TICKET_GROUPS ->
                left = 0;
                ticket = 0;
                free = free | 1 << me;
                ended = ended + 1;
                goto next
            :: else
            fi
       };
       do
       :: left < TICKET_GROUPS ->
            ticket = left * CHUNKS;
            if
#if TAIL
            :: IS_TAIL ->
                d_step {
                    y = 0;
                    do
                    :: y < TAIL * SHORT ->
                        if
                        :: TALL -> saved[y % SHORT * TAIL + y / SHORT] = matrix[PANELS * PANEL_UNITS + y]
                        :: else -> matrix[PANELS * PANEL_UNITS + y] = saved[y % SHORT * TAIL + y / SHORT]
                        fi;
                        y++
                    :: else -> break
                    od;
                    y = 0
                }
#endif
            :: !IS_TAIL ->
#if TALL
                transpose_alone(K * PANEL_UNITS, LENGTH, SHORT);
                block = SHORT;
                do
                :: NEIGHBOURS && block > 0 ->
                    block--;
                    move_slot(K, block)
                :: else -> break
                od;
#else
                do
                :: NEIGHBOURS && block < SHORT ->
                    move_slot(K, block);
                    block++
                :: else -> break
                od;
                transpose_alone(K * PANEL_UNITS, SHORT, LENGTH);
#endif
                block = 0
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
        saved[i] = (TALL -> 0 : ORIGINAL_SAVED(i));
        i++
    :: else -> break
    od
}

inline check()
{
    i = 0;
    do
    :: i < PANELS * SHORT ->
        j = 0;
        do
        :: j < LENGTH ->
            if
            :: TALL -> assert(matrix[SLOT(i) + j] == ORIGINAL((i / SHORT * LENGTH + j) * SHORT + i % SHORT))
            :: else -> assert(matrix[(i / SHORT * LENGTH + j) * SHORT + i % SHORT] == ORIGINAL(SLOT(i) + j))
            fi;
            j++
        :: else -> break
        od;
        i++
    :: else -> break
    od;
    i = 0;
#if TAIL
    do
    :: i < SAVED ->
        j = PANELS * PANEL_UNITS + i % TAIL * SHORT + i / TAIL;
        if
        :: TALL -> assert(saved[i] == ORIGINAL(j))
        :: else -> assert(matrix[j] == ORIGINAL_SAVED(i))
        fi;
        i++
    :: else -> break
    od;
    i = 0;
#endif
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
