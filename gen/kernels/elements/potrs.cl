/* A X = B, where the lower triangle of A holds L of potrf: B, of n x m, becomes X. */
{
    IPT_UNROLL for (uint k = 0; k < B_ROWS; ++k)
    {
        IPT_FOR_LANES(c, 0, B_COLS)
        {
            IPT_NUMBER sum = B(k, c);
            IPT_UNROLL for (uint i = 0; i < k; ++i) sum -= ipt_times(A(k, i), B(i, c));
            B(k, c) = ipt_quotient(sum, A(k, k));
        }
    }
    IPT_UNROLL for (uint back = 0; back < B_ROWS; ++back)
    {
        const uint k = B_ROWS - 1 - back;
        IPT_FOR_LANES(c, 0, B_COLS)
        {
            IPT_NUMBER sum = B(k, c);
            IPT_UNROLL for (uint i = k + 1; i < B_ROWS; ++i) sum -= ipt_times(ipt_conjugate(A(i, k)), B(i, c));
            B(k, c) = ipt_quotient(sum, ipt_conjugate(A(k, k)));
        }
    }
}
