/* Arrays by boxes, by work-groups that wait for one another: gen/kernels/boxes/box.cl, ipt_k_box with ipt_wait of
 * parts/tickets.cl, and what one of the groups that waited in vain does alone. ARRAYS arrays of BOXES boxes each, whose
 * last two may overlap, and one array with boxes by group numbers (`single`).
 *
 * As in the kernel: tickets; what a box reads, and where it goes; a counter for each array; closing the ticket counter
 * with one atomic and telling where in another; the election of the group that does the rest, and from which array on;
 * clearing the other control block. The permutation reverses an array's units: every box writes what another one reads.
 *
 * Only RESIDENT groups run at a time, as many processes, which take up one group after the other. A launch begins with a
 * control block that is clear and one that is not, and must end with the second one clear. With LAUNCHES=2 a second one
 * follows.
 *
 * What is left out, and why nothing is lost by that:
 * - The work-items of a group are one process: they meet at barriers. A box is read in one step: the later something is
 *   read, the worse, and it can be put off until the count. What a group reads and then writes is asserted to be
 *   original. Others may read what the elected group has changed: they write none of it.
 * - A wait is a step that is possible when a look would see something. That the waiter has looked often enough to close
 *   may be so at any time. What is stuck is found as a deadlock.
 * - The elected group moves one unit in one step. If others touched that memory, one of the sequences would show it.
 *
 * Known to be bad:
 * CLAIM_EARLY   a group counts before what it reads has arrived (guard: ipt_fetch_wait and the barrier)
 * NO_CLOSE      waits are not bounded (guard: `polls` and IPT_CLOSED)
 * NO_ELECTION   each group that waited in vain does the rest (guard: IPT_DEPARTED)
 * STORE_ANYWAY  a group that waited in vain writes its box (guard: IPT_SHARED_GO)
 * NO_CLEAR      the other control block is not cleared (guard: clear_words) */
#ifndef ARRAYS
#define ARRAYS 2
#endif
#ifndef BOXES
#define BOXES 2 /* of an array */
#endif
#ifndef BOX
#define BOX 1 /* units */
#endif
#ifndef UNITS
#define UNITS (BOXES * BOX) /* of an array: fewer where the last two boxes overlap */
#endif
#ifndef RESIDENT
#define RESIDENT 2
#endif
#ifndef LAUNCHES
#define LAUNCHES 1
#endif

#define TICKETS (ARRAYS * BOXES)
#define SINGLE (ARRAYS == 1)
#define CLOSED 128
#define WORDS (3 + ARRAYS)
#define CONTROL(word) control[turn * WORDS + (word)]
#define TICKET_WORD CONTROL(0)
#define CLOSED_AT CONTROL(1)
#define DEPARTED CONTROL(2)
#define COUNTER(array) CONTROL(3 + (array))
#define CLEARED_EACH ((WORDS + TICKETS - 1) / TICKETS)
#define ORIGINAL(array, unit) (1 + (array) * UNITS + (unit))
#define AFTER(unit) (UNITS - 1 - (unit))

byte memory[ARRAYS * UNITS];
byte control[2 * WORDS];
bit turn;
byte begun = TICKETS, ended; /* groups of this launch */
bool over;
byte free = (1 << RESIDENT) - 1; /* places for groups */

#define ARRAY (ticket / BOXES)
#define BEGIN (ticket % BOXES * BOX + BOX <= UNITS -> ticket % BOXES * BOX : UNITS - BOX)
#define OWN_END ((ARRAY + 1) * BOXES)

inline read()
{
    d_step {
        x = 0;
        do
        :: x < BOX ->
            tile[x] = memory[ARRAY * UNITS + BEGIN + x];
            x++
        :: else -> break
        od;
        x = 0
    }
}

/* Writes the box, which must have what was there at the launch. */
inline write()
{
    d_step {
        x = 0;
        do
        :: x < BOX ->
            assert(tile[x] == ORIGINAL(ARRAY, BEGIN + x));
            memory[ARRAY * UNITS + AFTER(BEGIN + x)] = tile[x];
            x++
        :: else -> break
        od;
        x = 0
    }
}

inline wait()
{
    do
    :: COUNTER(ARRAY) >= BOXES -> break
    :: TICKET_WORD >= CLOSED && CLOSED_AT != 0 && CLOSED_AT - 1 < OWN_END ->
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

inline clear()
{
#ifdef NO_CLEAR
    skip
#else
    d_step {
        x = 0;
        do
        :: x < CLEARED_EACH ->
            seen = ticket * CLEARED_EACH + x;
            if
            :: seen < WORDS -> control[(1 - turn) * WORDS + seen] = 0
            :: else
            fi;
            x++
        :: else -> break
        od;
        x = 0;
        seen = 0
    }
#endif
}

proctype place(byte me)
{
    byte ticket, x, seen, left;
    byte tile[BOX];
    bool counts, go;
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
            counts = TICKET_WORD < CLOSED;
            go = counts;
            if
            :: SINGLE
            :: else -> ticket = TICKET_WORD & ~CLOSED
            fi;
            TICKET_WORD = TICKET_WORD + 1
       };
#ifdef CLAIM_EARLY
       if
       :: counts -> COUNTER(ARRAY) = COUNTER(ARRAY) + 1
       :: else
       fi;
       read();
#else
       if
       :: counts ->
            atomic {
                read();
                COUNTER(ARRAY) = COUNTER(ARRAY) + 1
            }
       :: else
       fi;
#endif
       if
       :: counts -> wait()
       :: else
       fi;
       left = ARRAYS;
       if
       :: counts && !go ->
            atomic {
                DEPARTED = DEPARTED + 1;
#ifdef NO_ELECTION
                left = 0
#else
                left = (DEPARTED == 1 -> 0 : ARRAYS)
#endif
            };
            if
            :: left == 0 ->
                assert(CLOSED_AT != 0);
                left = (CLOSED_AT - 1) / BOXES
            :: else
            fi
       :: else
       fi;
       clear();
       if
#ifdef STORE_ANYWAY
       :: counts -> write()
#else
       :: go -> write()
#endif
       :: else
       fi;
       /* Reverses the remaining arrays, a pair of units at a time. */
       do
       :: left < ARRAYS ->
            x = 0;
            do
            :: x < UNITS / 2 ->
                d_step {
                    assert(memory[left * UNITS + x] == ORIGINAL(left, x));
                    seen = memory[left * UNITS + x];
                    memory[left * UNITS + x] = memory[left * UNITS + AFTER(x)];
                    memory[left * UNITS + AFTER(x)] = seen;
                    seen = 0
                };
                x++
            :: else -> break
            od;
            left++
       :: else -> break
       od;
       atomic {
            x = 0;
            do
            :: x < BOX ->
                tile[x] = 0;
                x++
            :: else -> break
            od;
            x = 0;
            left = 0;
            ticket = 0;
            counts = false;
            go = false;
            free = free | 1 << me;
            ended = ended + 1
       }
    od
}

init
{
    byte i, launch;
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
            i = 0;
            do
            :: i < ARRAYS * UNITS ->
                memory[i] = ORIGINAL(i / UNITS, i % UNITS);
                i++
            :: else -> break
            od;
            i = 0;
            ended = 0;
            begun = 0
        };
        ended == TICKETS;
        d_step {
            do
            :: i < ARRAYS * UNITS ->
                assert(memory[i] == ORIGINAL(i / UNITS, AFTER(i % UNITS)));
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
            turn = 1 - turn;
            launch++
        }
    :: else -> break
    od;
    over = true
}
