/* op(A) X = B, where A is triangular, of n x n: B, of n x m, becomes X. A is lower, or upper with the option UPPER; its
 * diagonal is 1 with UNIT. op transposes with TRANSPOSE_A, and conjugates with CONJUGATE_A. */
{
    IPT_UNROLL for (uint step = 0; step < B_ROWS; ++step)
    {
#if IPT_UPPER == IPT_TRANSPOSE_A /* op(A) is lower */
        const uint k = step, first = 0, end = k;
#else
        const uint k = B_ROWS - 1 - step, first = k + 1, end = B_ROWS;
#endif
        IPT_FOR_LANES(c, 0, B_COLS)
        {
            IPT_NUMBER sum = B(k, c);
            IPT_UNROLL for (uint i = first; i < end; ++i) sum -= ipt_times(IPT_A(k, i), B(i, c));
            B(k, c) = IPT_UNIT ? sum : ipt_quotient(sum, IPT_A(k, k));
        }
    }
}
