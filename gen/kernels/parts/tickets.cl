/* Tickets, and work-groups that wait for one another. The protocol: see panel.cl. */

#define IPT_CLOSED 0x80000000u
enum { IPT_TICKETS, IPT_CLOSED_AT, IPT_DEPARTED, IPT_COUNTERS = 4 }; /* words of the control block */
enum { IPT_SHARED_TICKET, IPT_SHARED_GO, IPT_SHARED_LEFT }; /* values that work-item 0 shares with its work-group */

/* Counts concurrent work-groups: each stays resident until one of them has polled `polls` times. */
IPT_FUNCTION void ipt_probe(volatile __global uint *control, uint polls)
{
    atomic_inc(&control[IPT_TICKETS]);
    while (ipt_poll(&control[IPT_CLOSED_AT]) == 0 && polls-- != 0)
        ;
    atomic_cmpxchg(&control[IPT_CLOSED_AT], 0u, ipt_poll(&control[IPT_TICKETS]));
}

/* The state of a waiting work-group. */
typedef struct ipt_waiter {
    volatile __global uint *control;
    uint ticket_group, chunks, polls;
} ipt_waiter;

/* Waits until `counter` reaches `count`; without a counter, until all tickets of the waiter's ticket group are issued.
 * Returns false if the last work-group must transpose the ticket group. */
IPT_FUNCTION bool ipt_wait(const ipt_waiter *waiter, volatile __global uint *counter, uint count)
{
    volatile __global uint *control = waiter->control;
    const uint own_end = (waiter->ticket_group + 1) * waiter->chunks;
    for (uint polled = 0;; ++polled) {
        if (counter != 0 && ipt_poll(counter) >= count)
            return true;
        if (counter != 0 && polled < waiter->polls)
            continue;
        uint tickets = ipt_poll(&control[IPT_TICKETS]);
        if (polled >= waiter->polls && tickets < own_end) { /* open, and this ticket group lacks work-groups */
            /* Close the ticket counter, unless another ticket was issued meanwhile. The closing work-group leaves. */
            if (atomic_cmpxchg(&control[IPT_TICKETS], tickets, tickets | IPT_CLOSED) != tickets)
                continue;
            atomic_xchg(&control[IPT_CLOSED_AT], tickets + 1);
            IPT_FENCE_DEVICE(); /* visible to the last work-group, which counts this departure */
            tickets |= IPT_CLOSED;
        }
        if (tickets >= IPT_CLOSED) {
            const uint closed_at = ipt_poll(&control[IPT_CLOSED_AT]); /* 0: not written yet */
            if (closed_at != 0 && closed_at - 1 < own_end)
                return false;
            tickets = closed_at == 0 ? 0 : closed_at - 1;
        }
        if (counter == 0 && tickets >= own_end)
            return true;
    }
}

/* Takes a ticket for the work-group, and shares it. */
IPT_INLINE uint ipt_take_ticket(volatile __global uint *control, __local uint *shared, bool single, const ipt_given *g)
{
    if (g->probe_polls != 0)
        ipt_probe(control, g->probe_polls);
    const uint ticket = g->probe_polls != 0 ? IPT_CLOSED
                        : g->waits          ? atomic_inc(&control[IPT_TICKETS])
                                            : get_group_id(0);
    shared[IPT_SHARED_TICKET] = single ? (uint)get_group_id(0) : ticket;
    shared[IPT_SHARED_GO] = single ? 1 : ticket < IPT_CLOSED;
    return ticket;
}

/* Counts this work-group as departed: it polls no more. Returns the number of departures, or 0 if none was counted. */
IPT_INLINE uint ipt_depart(volatile __global uint *control, bool now, const ipt_given *g)
{
    return now && get_local_id(0) == 0 && g->waits && g->probe_polls == 0 ? atomic_inc(&control[IPT_DEPARTED]) + 1 : 0;
}
