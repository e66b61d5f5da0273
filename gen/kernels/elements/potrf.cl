/* A = L L^H: the lower triangle of A becomes L; what is above the diagonal is neither read nor written. info: 0, or the
 * number of the first minor that is not positive. A then contains the results from before the failure. */
{
    int failed = 0;
    IPT_UNROLL for (uint k = 0; k < A_COLS; ++k)
    {
        const IPT_SCALAR root = sqrt(IPT_REAL(A(k, k))), factor = 1 / root;
        failed = failed ? failed : root > 0 ? 0 : (int)k + 1;
        IPT_BARRIER();
        if (!failed) {
            IPT_FOR_LANES(i, k, A_ROWS) A(i, k) = i == k ? IPT_FROM_REAL(root) : A(i, k) * factor;
        }
        IPT_BARRIER();
        if (!failed) {
            IPT_FOR_LANES(i, k + 1, A_ROWS)
            {
                const IPT_NUMBER left = A(i, k);
                IPT_UNROLL for (uint j = k + 1; j <= i; ++j) A(i, j) -= ipt_times(left, ipt_conjugate(A(j, k)));
            }
        }
        IPT_BARRIER();
    }
    if (IPT_LANE == 0)
        info(0, 0) = failed;
}
