/* Cycle following by sub-groups that follow several chains each: gen/kernels/chains.cl, ipt_k_chains.
 *
 * As in the kernel: a sub-group works in steps. In a step it loads the next slot of each chain that continues or starts.
 * At the same time it claims the slots of the chains that continue, and of those that loaded their first slot in the step
 * before, and reads its flags again. When all loads have arrived and all claims have returned, it stores the held slots
 * into the slots of the chains that continue. One half of local memory holds slots while the other half is loaded.
 * Sub-groups begin chains in their own runs of flags, at bits that were clear when read and may be set by now.
 *
 * All permutations of N slots are tried, so all cycles of 1 to N slots, wherever they begin; with ONE_CYCLE those
 * alone that have one cycle of all the slots.
 *
 * What is left out, and why nothing is lost by that:
 * - The work-items of a sub-group are one process, because ballots and barriers keep them together. Between two of
 *   these, the step's events happen in any order: each work-item's part of each load arrives, each claim is made, the
 *   flags are read. (The kernel's work-items issue their loads before their claims. The loads may arrive at any time
 *   until ipt_fetch_wait.)
 * - A slot has two parts, each loaded by one work-item. More parts would behave the same.
 * - Stores are one step that everybody sees at once, for the reasons given in shuffle.pml.
 * - All flags of a run are read in one step. The result is only a hint: a bit read as set stays set, and a bit read as
 *   clear too late costs a lost claim.
 * - Gaps between the rows of slots: no slot touches them.
 *
 * Known to be bad:
 * CLAIM_EARLY     a chain's first slot is claimed in the step that loads it (guard: IPT_LOADED)
 * CLAIM_OWN_LANE  a chain's first slot is claimed when the claiming work-item's own part has arrived (guard:
 *                 ipt_fetch_wait by all work-items, and the ballot and the barrier after it)
 * STORE_EARLY     with stores by other work-items than those that loaded: a work-item stores when what it loaded
 *                 itself has arrived (guard: the ballot and the barrier before the stores)
 * WRITE_UNCLAIMED a chain continues even if its claim is lost (guard: `lost`) */
#ifndef N
#define N 3 /* slots, up to 6 */
#endif
#ifndef GROUPS
#define GROUPS 2 /* sub-groups */
#endif
#ifndef CHAINS
#define CHAINS 2 /* of a sub-group, up to 2 */
#endif

#define ALL ((1 << N) - 1)
#define RUN ((N + GROUPS - 1) / GROUPS)
#define RUN_BITS(g) ((((1 << RUN) - 1) << ((g) * RUN)) & ALL)
#define ORIGINAL(slot, part) (1 + (slot) * 2 + (part))
#define HALF(c, half, part) own[((c) * 2 + (half)) * 2 + (part)]

byte target[N];     /* where the content of a slot belongs */
byte matrix[N * 2]; /* what each part of a slot holds */
byte flags;
byte ended;

mtype = { IDLE, LOADED, GOING };

/* The remaining events of a step. */
#define ARRIVE(c, part) (1 << ((c) * 2 + (part)))
#define CLAIM(c) (16 << (c))
#define LOOK 64
#define STORE(c, part) (256 << ((c) * 2 + (part)))
#define CHAIN_EVENTS(c) (ARRIVE(c, 0) | ARRIVE(c, 1) | CLAIM(c))

inline arrives(c, part)
{
    (todo & ARRIVE(c, part)) ->
        HALF(c, coming[c], part) = matrix[slot[c] * 2 + part];
        todo = todo & ~ARRIVE(c, part)
}

inline claims(c)
{
    (todo & CLAIM(c)) ->
        lost = lost | (((flags >> slot[c]) & 1) << c);
        flags = flags | 1 << slot[c];
        todo = todo & ~CLAIM(c)
}

inline store(c, part)
{
    assert(matrix[slot[c] * 2 + part] == ORIGINAL(slot[c], part)); /* not stored before */
    matrix[slot[c] * 2 + part] = HALF(c, 1 - coming[c], part)
}

inline forget(c, half)
{
    HALF(c, half, 0) = 0;
    HALF(c, half, 1) = 0
}

proctype sub_group(byte g)
{
    byte open, fresh, c, lost;
    short todo;
    mtype state[CHAINS];
    byte slot[CHAINS];
    bit started[CHAINS];
    bit coming[CHAINS]; /* the half that is loaded; the other one holds */
    byte own[CHAINS * 4];
    bool busy;
    d_step {
        c = 0;
        do
        :: c < CHAINS ->
            state[c] = IDLE;
            c++
        :: else -> break
        od;
        c = 0
    };
    open = RUN_BITS(g) & ~flags;
    do
    :: atomic {
        /* Where each chain goes. */
        busy = false;
        c = 0;
        do
        :: c < CHAINS ->
            if
            :: state[c] == IDLE && open ->
                slot[c] = 0;
                do
                :: (open >> slot[c]) & 1 -> break
                :: else -> slot[c] = slot[c] + 1
                od;
                open = open & ~(1 << slot[c]);
                started[c] = 1;
                todo = todo | ARRIVE(c, 0) | ARRIVE(c, 1);
                coming[c] = 1 - coming[c];
#ifdef CLAIM_EARLY
                todo = todo | CLAIM(c);
#endif
                busy = true
            :: state[c] == LOADED ->
                todo = todo | CLAIM(c);
                busy = true
            :: state[c] == GOING ->
                slot[c] = target[slot[c]];
                todo = todo | CHAIN_EVENTS(c);
                coming[c] = 1 - coming[c];
                busy = true
            :: else
            fi;
            c++
        :: else -> break
        od;
        c = 0;
        if
        :: open -> todo = todo | LOOK
        :: else
        fi;
        if
        :: busy -> busy = false
        :: else -> break
        fi
       };
#ifdef STORE_EARLY
       c = 0;
       do
       :: c < CHAINS ->
            if
            :: state[c] == GOING -> todo = todo | STORE(c, 0) | STORE(c, 1)
            :: else
            fi;
            c++
       :: else -> break
       od;
       c = 0;
#endif
       do
       :: atomic { arrives(0, 0) }
       :: atomic { arrives(0, 1) }
       :: atomic { claims(0) }
#if CHAINS > 1
       :: atomic { arrives(1, 0) }
       :: atomic { arrives(1, 1) }
       :: atomic { claims(1) }
#endif
#ifdef STORE_EARLY
       /* A work-item stores the part that the other one loads: its own has arrived, the claims are answered. */
       :: atomic { (todo & STORE(0, 0)) && !(todo & (ARRIVE(0, 1) | CLAIM(0))) ->
            store(0, 0); todo = todo & ~STORE(0, 0) }
       :: atomic { (todo & STORE(0, 1)) && !(todo & (ARRIVE(0, 0) | CLAIM(0))) ->
            store(0, 1); todo = todo & ~STORE(0, 1) }
#if CHAINS > 1
       :: atomic { (todo & STORE(1, 0)) && !(todo & (ARRIVE(1, 1) | CLAIM(1))) ->
            store(1, 0); todo = todo & ~STORE(1, 0) }
       :: atomic { (todo & STORE(1, 1)) && !(todo & (ARRIVE(1, 0) | CLAIM(1))) ->
            store(1, 1); todo = todo & ~STORE(1, 1) }
#endif
#endif
       :: atomic { (todo & LOOK) -> fresh = flags; todo = todo & ~LOOK }
#ifdef CLAIM_OWN_LANE
       /* The other work-item's loads of first slots may arrive in the next step. */
       :: atomic { todo && !(todo & ~((state[0] == IDLE -> ARRIVE(0, 1) : 0)
#if CHAINS > 1
            | (state[1] == IDLE -> ARRIVE(1, 1) : 0)
#endif
            )) -> break }
#endif
       :: atomic { !todo -> break }
       od;
#ifndef STORE_EARLY
       /* All loads have arrived and all claims are made: what is held may be written. */
       c = 0;
       do
       :: atomic { c < CHAINS ->
            if
            :: state[c] == GOING ->
                store(c, 0);
                store(c, 1)
            :: else
            fi;
            c++ }
       :: atomic { c == CHAINS -> c = 0; break }
       od;
#endif
       atomic {
        open = open & ~fresh;
        fresh = 0;
        c = 0;
        do
        :: c < CHAINS ->
            if
#ifdef CLAIM_EARLY
            :: started[c] && !((lost >> c) & 1) -> state[c] = GOING
            :: started[c] && ((lost >> c) & 1) -> state[c] = IDLE
#else
            :: started[c] -> state[c] = LOADED
#endif
            :: !started[c] && state[c] != IDLE && !((lost >> c) & 1) -> state[c] = GOING
#ifdef WRITE_UNCLAIMED
            :: !started[c] && state[c] != IDLE && ((lost >> c) & 1) -> state[c] = GOING
#else
            :: !started[c] && state[c] != IDLE && ((lost >> c) & 1) -> state[c] = IDLE
#endif
            :: else
            fi;
            assert(state[c] != GOING ||
                   (HALF(c, coming[c], 0) == ORIGINAL(slot[c], 0) && HALF(c, coming[c], 1) == ORIGINAL(slot[c], 1)));
            started[c] = 0;
            /* Fewer states: what nobody needs any more. */
            forget(c, 1 - coming[c]);
            if
            :: state[c] == IDLE ->
                forget(c, coming[c]);
                slot[c] = 0;
                coming[c] = 0
            :: else
            fi;
            c++
        :: else -> break
        od;
        c = 0;
        lost = 0
       }
    od;
    ended++
}

init
{
    byte i, j, taken, from;
    atomic {
        do
        :: i < N ->
            j = 0;
#ifdef ONE_CYCLE
            if /* slot 0 comes last */
            :: i == 0 -> taken = 1
            :: i == N - 1 -> taken = taken & ~1
            :: else
            fi;
#endif
            do /* any slot that is not taken yet */
            :: !((taken >> j) & 1) -> break
            :: (ALL & ~taken) >> (j + 1) -> j++
            od;
            taken = taken | 1 << j;
#ifdef ONE_CYCLE
            target[from] = j;
            from = j;
#else
            target[i] = j;
#endif
            matrix[i * 2] = ORIGINAL(i, 0);
            matrix[i * 2 + 1] = ORIGINAL(i, 1);
            i++
        :: else -> break
        od;
        i = 0;
        j = 0;
        taken = 0;
        from = 0;
        do
        :: i < GROUPS ->
            run sub_group(i);
            i++
        :: else -> break
        od;
        i = 0
    };
    ended == GROUPS;
    d_step {
        do
        :: i < N ->
            assert(matrix[target[i] * 2] == ORIGINAL(i, 0));
            assert(matrix[target[i] * 2 + 1] == ORIGINAL(i, 1));
            i++
        :: else -> break
        od
    };
    assert(flags == ALL)
}
