/* Work-groups that share the waves of a band exchange: gen/kernels/waves.cl.
 *
 * As in the kernel: the counters of stripes and of pieces that are done; how a piece is taken; the wait between steps;
 * leaving after a wait that took too long; clearing the other control block. What a piece moves is left out: it must be
 * moved once, and while no piece of another step moves.
 *
 * Only RESIDENT groups run at a time. A wait is a step that is possible when a look would see something. That a waiter
 * has looked often enough to leave may be so at any time. Launches follow one another, and use the blocks in turn.
 *
 * Known to be bad:
 * NO_WAIT      a step is not waited for (guard: the poll of `done`)
 * DONE_EARLY   a piece counts as done before it has moved (guard: ipt_signal after it)
 * TAKE_APART   a counter is read and written in two steps (guard: atomic_cmpxchg)
 * LEAVE_DONE   a group leaves though all it waited for is done (guard: the comparison of the poll)
 * NO_CLEAR     the other block is not cleared (guard: clear_words) */
#ifndef GROUPS
#define GROUPS 2
#endif
#ifndef RESIDENT
#define RESIDENT GROUPS
#endif
#ifndef STRIPES
#define STRIPES GROUPS
#endif
#ifndef PIECES
#define PIECES 2
#endif
#ifndef STEPS
#define STEPS 3
#endif
#ifndef LAUNCHES
#define LAUNCHES 1
#endif
#define ALL (STRIPES * PIECES)

byte taken[2 * STRIPES], done[2]; /* of both blocks */
byte moved[STEPS * ALL], moving[STEPS];
byte block, running, ended;

proctype group(byte id)
{
    byte step, s, stripe, t, at;
    atomic {
        running < RESIDENT -> running++
    };
#ifndef NO_CLEAR
    for (s : 0 .. STRIPES - 1) {
        if
        :: s % GROUPS == id -> taken[(1 - block) * STRIPES + s] = 0
        :: else
        fi
    }
    if
    :: id == 0 -> done[1 - block] = 0
    :: else
    fi;
#endif
    step = done[block] / ALL;
    do
    :: step == STEPS -> break
    :: step < STEPS ->
#ifndef NO_WAIT
        if
        :: done[block] >= step * ALL
#ifdef LEAVE_DONE
        :: done[block] <= step * ALL -> goto leave
#else
        :: done[block] < step * ALL -> goto leave
#endif
        fi;
#endif
        s = 0;
        do
        :: s == STRIPES -> break
        :: s < STRIPES ->
            stripe = (id + s) % STRIPES;
            t = taken[block * STRIPES + stripe];
            do
            :: t >= (step + 1) * PIECES -> break
            :: t < (step + 1) * PIECES ->
#ifdef TAKE_APART
                at = t;
                taken[block * STRIPES + stripe] = t + 1;
#else
                atomic {
                    at = taken[block * STRIPES + stripe];
                    if
                    :: at == t -> taken[block * STRIPES + stripe] = t + 1
                    :: else
                    fi
                }
                if
                :: at != t -> t = at
                :: else ->
#endif
                    at = step * ALL + stripe * PIECES + t - step * PIECES;
#ifdef DONE_EARLY
                    done[block]++;
#endif
                    d_step {
                        moving[step]++;
                        moved[at]++;
                        assert(moved[at] == 1);
                        assert(step == 0 || moving[step - 1] == 0);
                        assert(step == STEPS - 1 || moving[step + 1] == 0)
                    }
                    moving[step]--;
#ifndef DONE_EARLY
                    done[block]++;
#endif
                    t = taken[block * STRIPES + stripe];
#ifndef TAKE_APART
                fi
#endif
            od;
            s++
        od;
        step++
    od;
leave:
    skip;
    d_step { running--; ended++ }
}

init
{
    byte launch, i;
    for (i : 0 .. STRIPES - 1) {
        taken[STRIPES + i] = 1
    }
    done[1] = 1;
    for (launch : 1 .. LAUNCHES) {
        ended = 0;
        atomic {
            for (i : 0 .. GROUPS - 1) {
                run group(i)
            }
        }
        (ended == GROUPS);
        for (i : 0 .. STEPS * ALL - 1) {
            assert(moved[i] == 1);
            moved[i] = 0
        }
        block = 1 - block
    }
}
