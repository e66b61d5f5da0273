/* P A = L U with partial pivoting: A, of n x n, becomes L without its diagonal of 1, and U. pivots(i, 0): the row,
 * counted from 1, with which row i changed places. info: 0, or the number of the first pivot that is 0. */
{
    int failed = 0;
    IPT_UNROLL for (uint k = 0; k < A_COLS; ++k)
    {
        uint row = k; /* each lane finds the row itself, without a barrier */
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
        const int is_zero = !(IPT_SIZE_OF(pivot) > 0);
        failed = failed ? failed : is_zero ? (int)k + 1 : 0;
        IPT_BARRIER();
        if (IPT_LANE == 0)
            pivots(k, 0) = (int)row + 1;
        if (row != k) {
            IPT_WHERE(i, row, k + 1, A_ROWS)
            {
                IPT_FOR_LANES(j, 0, A_COLS)
                {
                    const IPT_NUMBER other = A(k, j);
                    A(k, j) = A(i, j);
                    A(i, j) = other;
                }
            }
        }
        IPT_BARRIER();
        IPT_FOR_LANES(i, k + 1, A_ROWS)
        {
            const IPT_NUMBER factor = is_zero ? A(i, k) : ipt_times(A(i, k) * scale, inverse);
            A(i, k) = factor;
            IPT_UNROLL for (uint j = k + 1; j < A_COLS; ++j) A(i, j) -= ipt_times(factor, A(k, j));
        }
        IPT_BARRIER();
    }
    if (IPT_LANE == 0)
        info(0, 0) = failed;
}
