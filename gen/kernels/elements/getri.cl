/* A becomes its inverse, by elimination of Gauss and Jordan with partial pivoting; pivots as in getrf. info: 0, or the
 * number of the first pivot that is 0. Intended for sides up to 32: the work is n^3. */
{
    int failed = 0;
    /* Elements far from 1 are scaled before and after the elimination. Otherwise a step could overflow although the
     * inverse is finite. */
    IPT_NUMBER first = A(0, 0);
    IPT_UNROLL for (uint i = 1; i < A_ROWS; ++i)
    {
        const IPT_NUMBER other = A(i, 0);
        first = IPT_SIZE_OF(other) > IPT_SIZE_OF(first) ? other : first;
    }
    const IPT_SCALAR far = ipt_scale(first), whole = IPT_IS_FAR(first) && IPT_SIZE_OF(first * far) > 0 ? far : 1;
    IPT_BARRIER();
    if (whole != 1) {
        IPT_FOR_LANES(i, 0, A_ROWS) for (uint j = 0; j < A_COLS; ++j) A(i, j) *= whole;
    }
    IPT_BARRIER();
    IPT_UNROLL for (uint k = 0; k < A_COLS; ++k)
    {
        uint row = k;
        IPT_NUMBER pivot = A(k, k);
        IPT_UNROLL for (uint i = k + 1; i < A_ROWS; ++i)
        {
            const IPT_NUMBER other = A(i, k);
            const bool is_larger = IPT_SIZE_OF(other) > IPT_SIZE_OF(pivot);
            row = is_larger ? i : row;
            pivot = is_larger ? other : pivot;
        }
        const IPT_SCALAR scale = IPT_IS_FAR(pivot) ? ipt_scale(pivot) : 1;
        pivot *= scale;
        const IPT_NUMBER inverse = ipt_inverse(pivot);
        failed = failed ? failed : IPT_SIZE_OF(pivot) > 0 ? 0 : (int)k + 1;
        IPT_BARRIER();
        if (IPT_LANE == 0)
            pivots(k, 0) = (int)row + 1;
        /* Row k, with 1 as its diagonal, is divided by the pivot. */
        IPT_WHERE(i, row, k, A_ROWS)
        {
            IPT_FOR_LANES(j, 0, A_COLS)
            {
                const IPT_NUMBER upper = A(k, j), lower = A(i, j);
                A(i, j) = upper;
                A(k, j) = ipt_times((j == k ? IPT_ONE : lower) * scale, inverse);
            }
        }
        IPT_BARRIER();
        IPT_FOR_LANES(i, 0, A_ROWS) if (i != k)
        {
            const IPT_NUMBER left = A(i, k);
            IPT_UNROLL for (uint j = 0; j < A_COLS; ++j) A(i, j) =
                (j == k ? (IPT_NUMBER)0 : A(i, j)) - ipt_times(left, A(k, j));
        }
        IPT_BARRIER();
    }
    if (whole != 1) {
        IPT_FOR_LANES(i, 0, A_ROWS) for (uint j = 0; j < A_COLS; ++j) A(i, j) *= whole;
    }
    /* Apply the row exchanges to the columns, in the opposite sequence. */
    IPT_UNROLL for (uint back = 0; back < A_COLS; ++back)
    {
        const uint k = A_COLS - 1 - back;
        IPT_WHERE(col, (uint)pivots(k, 0) - 1, k, A_COLS)
        {
            IPT_FOR_LANES(i, 0, A_ROWS)
            {
                const IPT_NUMBER other = A(i, k);
                A(i, k) = A(i, col);
                A(i, col) = other;
            }
        }
    }
    if (IPT_LANE == 0)
        info(0, 0) = failed;
}
