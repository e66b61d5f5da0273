/* Cycle following by work-groups with one flag per slot: gen/kernels/shuffle.cl, ipt_k_shuffle with ipt_claim and
 * ipt_load. With LANES=1 also what work-items do alone: the kernel on CPUs, ipt_transpose_alone of panel.cl and the
 * seeds' pttwac_010.
 *
 * As in the kernel: each work-item is a process; the barriers of ipt_claim; one work-item asks with an atomic OR and
 * hands the answer round through local memory; the flag words that a worker begins at are its own; the bits that
 * looked clear are remembered and may be stale; load, barrier, claim, store; two halves of local memory that take
 * turns; with INNER the units of a super-element change places, so that a work-item stores what another one has
 * loaded.
 *
 * All permutations of N slots are tried, so all cycles of 1 to N slots, wherever they begin; with ONE_CYCLE those
 * alone that have one cycle of all the slots.
 *
 * What is left out, and why nothing is lost by that:
 * - A super-element has one unit for each work-item. More units of the same work-item take the same way.
 * - A load is one step: the moment at which memory is read. It may be put off as long as the kernel lets it: until the
 *   barrier before the claim. Read sooner, it finds the same original or something that is dropped.
 * - A store is one step that everybody sees at once. To be seen late does no harm: what is kept by anybody is an
 *   original (asserted), so nobody relies on what was stored, and no slot is stored twice (asserted).
 * - Atomics are seen in one order by all. Each decision rests on a single word, of which that is true everywhere.
 * - Arriving at a barrier is one step with what the work-item did just before it, and leaving it with what follows:
 *   other groups see nothing of barriers.
 *
 * Known to be bad:
 * CLAIM_EARLY            the slot is claimed before its content has arrived (guard: the fence of ipt_load, the data
 *                        dependence through local memory, and the first barrier of ipt_claim)
 * CLAIM_OWN_LANE         the first barrier of ipt_claim is missing: what the others load may arrive after the claim
 * LANES_READ_SEPARATELY  each work-item looks at a flag word for itself (guard: `answer` in ipt_claim)
 * START_UNCLAIMED        a chain starts at a slot that looked clear, whatever its claim says (guard: `before`)
 * NO_INNER_BARRIER       with INNER, the barrier behind the stores is missing */
#ifndef N
#define N 3 /* slots, up to 6 */
#endif
#ifndef GROUPS
#define GROUPS 2
#endif
#ifndef LANES
#define LANES 2 /* work-items of a group */
#endif
#ifndef WORD
#define WORD 1 /* flags in a word */
#endif

#define ALL ((1 << N) - 1)
#define WORDS ((N + WORD - 1) / WORD)
#define WORD_BITS(word) ((((1 << WORD) - 1) << ((word) * WORD)) & ALL)
#define ORIGINAL(slot, lane) (1 + (slot) * LANES + (lane))
#ifdef INNER
#define FROM(lane) (LANES - 1 - (lane))
#else
#define FROM(lane) (lane)
#endif
#define HALF(half, lane) own[(g * 2 + (half)) * LANES + (lane)]

byte target[N];                 /* where the content of a slot belongs */
byte matrix[N * LANES];         /* what each unit holds */
byte flags;                     /* of all words */
byte own[GROUPS * 2 * LANES];   /* local memory: two super-elements */
byte answer[GROUPS];            /* local memory: what a flag word was */
byte arrived[GROUPS];           /* work-items at the barrier */
bit turn[GROUPS];               /* barriers passed */
byte ended;

/* A barrier in two halves, each a part of an atomic step. */
inline arrive()
{
    my_turn = 1 - my_turn;
    arrived[g] = arrived[g] + 1;
    if
    :: arrived[g] == LANES ->
        arrived[g] = 0;
        turn[g] = my_turn
    :: else
    fi
}
#define LEFT (turn[g] == my_turn)

#define NOTHING 2
inline load(half)
{
    if
    :: half != NOTHING -> HALF(half, l) = matrix[slot * LANES + l]
    :: else
    fi
}

/* ipt_claim of `bits` in the word that they lie in; the slot is loaded into a half of local memory before. The last
 * barrier is left (LEFT) with what follows. */
inline claim(bits, word_bits, half)
{
#ifdef CLAIM_OWN_LANE
    atomic {
        load(half);
        if
        :: l == 0 ->
            answer[g] = flags & word_bits;
            flags = flags | (bits)
        :: else
        fi;
        arrive()
    };
#else
    atomic {
        load(half);
        arrive()
    };
    atomic {
        LEFT;
        if
        :: l == 0 ->
            answer[g] = flags & word_bits;
            flags = flags | (bits)
        :: else
        fi;
        arrive()
    };
#endif
    atomic {
        LEFT;
        old = answer[g];
        arrive()
    }
}

/* The same for a read of a whole word. */
inline look(word_bits)
{
#ifdef LANES_READ_SEPARATELY
    atomic {
        old = flags & word_bits;
        arrive()
    }
#else
    claim(0, word_bits, NOTHING)
#endif
}

proctype lane(byte g; byte l)
{
    byte word = g, open, slot, old;
    bit held, my_turn;
    bool going;
    do
    :: word < WORDS ->
        look(WORD_BITS(word));
        d_step {
            LEFT;
            open = WORD_BITS(word) & ~old;
            old = 0
        };
        do
        :: open != 0 ->
            d_step {
                slot = word * WORD;
                do
                :: (open >> slot) & 1 -> break
                :: else -> slot++
                od
            };
#ifdef CLAIM_EARLY
            claim(1 << slot, WORD_BITS(word), NOTHING);
            load(held);
#else
            claim(1 << slot, WORD_BITS(word), held);
#endif
            d_step {
                LEFT;
                open = open & ~(old | 1 << slot);
                going = !((old >> slot) & 1);
#ifdef START_UNCLAIMED
                going = true;
#endif
                old = 0;
                assert(!going || HALF(held, l) == ORIGINAL(slot, l))
            };
            do
            :: going ->
                slot = target[slot];
#ifdef CLAIM_EARLY
                claim(1 << slot, WORD_BITS(slot / WORD), NOTHING);
                load(1 - held);
#else
                claim(1 << slot, WORD_BITS(slot / WORD), 1 - held);
#endif
                atomic {
                    LEFT;
                    going = !((old >> slot) & 1);
                    old = 0;
                    assert(!going || HALF(1 - held, l) == ORIGINAL(slot, l));
                    assert(matrix[slot * LANES + l] == ORIGINAL(slot, l)); /* not stored before */
                    matrix[slot * LANES + l] = HALF(held, FROM(l));
#if defined(INNER) && !defined(NO_INNER_BARRIER)
                    arrive()
                };
                atomic {
                    LEFT;
#else
                    HALF(held, FROM(l)) = 0; /* fewer states: it is not needed any more */
#endif
                    held = 1 - held
                }
            :: else -> break
            od
        :: else -> break
        od;
        atomic {
            slot = 0;
            word = word + GROUPS
        }
    :: else -> break
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
            j = 0;
            do
            :: j < LANES ->
                matrix[i * LANES + j] = ORIGINAL(i, j);
                j++
            :: else -> break
            od;
            i++
        :: else -> break
        od;
        i = 0;
        j = 0;
        taken = 0;
        from = 0;
        do
        :: i < GROUPS * LANES ->
            run lane(i / LANES, i % LANES);
            i++
        :: else -> break
        od;
        i = 0
    };
    ended == GROUPS * LANES;
    d_step {
        do
        :: i < N ->
            j = 0;
            do
            :: j < LANES ->
                assert(matrix[target[i] * LANES + j] == ORIGINAL(i, FROM(j)));
                j++
            :: else -> break
            od;
            i++
        :: else -> break
        od
    };
    assert(flags == ALL)
}
