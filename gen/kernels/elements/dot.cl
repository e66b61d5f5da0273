/* r = sum of x(i) * y(i): x and y of n rows, r of one. The option CONJUGATE_A conjugates x. */
{
    IPT_NUMBER sum = 0;
    IPT_FOR_LANES(i, 0, x_ROWS)
    sum += ipt_times(IPT_CONJUGATED(IPT_CONJUGATE_A, x(i, 0)), y(i, 0));
    sum = IPT_SUM(IPT_NUMBER, sum);
    if (IPT_LANE == 0)
        r(0, 0) = IPT_SCALED(r, sum, r(0, 0));
}
