/* C = A B: A of m x k, B of k x n, C of m x n. Small products, and those in registers, are sums. Others are computed in
 * blocks of 4 x 4: one read of a component serves four products. */
{
#if IPT_HOLD == IPT_HOLD_STAGED || IPT_HOLD == IPT_HOLD_REGISTERS || (IPT_LANES == 1 && (C_ROWS < 4 || C_COLS < 4))
    IPT_UNROLL for (uint i = 0; i < C_ROWS; ++i)
    {
        IPT_UNROLL for (uint j = 0; j < C_COLS; ++j)
        {
            IPT_NUMBER sum = 0;
            IPT_UNROLL for (uint k = 0; k < IPT_A_INNER; ++k) sum += ipt_times(IPT_A(i, k), IPT_B(k, j));
            C(i, j) = IPT_SCALED(C, sum, C(i, j));
        }
    }
#else
    /* The rows and columns of a block lie apart, so that neighbouring lanes read neighbouring components of B. */
    const uint across = (C_COLS + 3) / 4, down = (C_ROWS + 3) / 4;
    for (uint first = 0; first < down * across; first += IPT_LANES) { /* all lanes take the same turns */
        const uint block = first + IPT_LANE, i = block / across, j = block % across;
        if (i >= down)
            continue;
        IPT_NUMBER sums[4][4];
        IPT_UNROLL_SHORT for (uint u = 0; u < 16; ++u) sums[u / 4][u % 4] = 0;
        for (uint k = 0; k < IPT_A_INNER; ++k) {
            IPT_NUMBER left[4], right[4];
            IPT_UNROLL_SHORT for (uint u = 0; u < 4; ++u)
            {
                left[u] = IPT_A(min(i + u * down, C_ROWS - 1u), k);
                right[u] = IPT_B(k, min(j + u * across, C_COLS - 1u));
            }
            IPT_UNROLL_SHORT for (uint u = 0; u < 16; ++u) sums[u / 4][u % 4] += ipt_times(left[u / 4], right[u % 4]);
        }
        IPT_UNROLL_SHORT for (uint u = 0; u < 16; ++u)
        {
            const uint row = i + u / 4 * down, col = j + u % 4 * across;
            if (row < C_ROWS && col < C_COLS)
                C(row, col) = IPT_SCALED(C, sums[u / 4][u % 4], C(row, col));
        }
    }
#endif
}
