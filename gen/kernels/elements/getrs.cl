/* A X = B, where A and pivots come from getrf: B, of n x m, becomes X. */
{
    IPT_FOR_LANES(c, 0, B_COLS)
    {
        IPT_UNROLL for (uint k = 0; k < B_ROWS; ++k)
        {
            IPT_WHERE(row, (uint)pivots(k, 0) - 1, k, B_ROWS)
            {
                const IPT_NUMBER other = B(k, c);
                B(k, c) = B(row, c);
                B(row, c) = other;
            }
        }
        IPT_UNROLL for (uint k = 0; k < B_ROWS; ++k)
        {
            IPT_NUMBER sum = B(k, c);
            IPT_UNROLL for (uint i = 0; i < k; ++i) sum -= ipt_times(A(k, i), B(i, c));
            B(k, c) = sum;
        }
        IPT_UNROLL for (uint back = 0; back < B_ROWS; ++back)
        {
            const uint k = B_ROWS - 1 - back;
            IPT_NUMBER sum = B(k, c);
            IPT_UNROLL for (uint i = k + 1; i < B_ROWS; ++i) sum -= ipt_times(A(k, i), B(i, c));
            B(k, c) = ipt_quotient(sum, A(k, k));
        }
    }
}
