/* y = A x: A of m x n, x of n rows, y of m. */
{
    IPT_FOR_LANES(i, 0, y_ROWS)
    {
        IPT_NUMBER sum = 0;
        IPT_UNROLL for (uint k = 0; k < IPT_A_INNER; ++k) sum += ipt_times(IPT_A(i, k), x(k, 0));
        y(i, 0) = IPT_SCALED(y, sum, y(i, 0));
    }
}
