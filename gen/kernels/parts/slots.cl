/* Slots of super-elements in a grid. */

/* The address of slot t, in units. A row of the grid has row_slots slots of slot_units each; rows begin row_stride
 * units apart. The address may exceed 2^32 even if t has 32 bits. */
IPT_FUNCTION ulong ipt_slot_address(ipt_index t, ulong row_slots, ulong row_slots_magic, uint row_slots_shift,
                                    ulong row_stride, ulong slot_units)
{
    const ipt_index row = ipt_divide_index(t, IPT_DIVISOR(row_slots));
    return row * row_stride + (t - row * row_slots) * slot_units;
}

/* The slot to which slot t of a rows x cols grid moves. */
IPT_FUNCTION ipt_index ipt_slot_target(ipt_index t, ulong rows, ulong cols, ulong cols_magic, uint cols_shift)
{
    const ipt_index row = ipt_divide_index(t, IPT_DIVISOR(cols));
    return (t - row * (ipt_index)cols) * (ipt_index)rows + row;
}
