# Sung et al. 2014, figure 8: the throughput of sequence 3.1 over the tiles' sides m and n, all divisors in a range.
. "$(dirname "$0")/common.sh"
. "$here/s000-shared.sh"

measure() {
    rows=7200 cols=1800 low=8 high=160
    if [ "$quick" = 1 ]; then
        rows=100 cols=50 low=10 high=50
    fi
    {
        for m in $(divisors_between $rows $low $high); do
            for n in $(divisors_between $cols $low $high); do
                echo "${rows}x$cols $rows $cols 3.1 $m $n auto auto 0"
            done
        done
        echo "${rows}x$cols $rows $cols auto 0 0 auto auto 0"
    } | measure_lines $repeat
}

headlines() {
    # The paper's rule: m and n in 50..100.
    inside='$4 == "3.1" && $5 >= 50 && $5 <= 100 && $6 >= 50 && $6 <= 100'
    set -- $(fastest '$4 == "3.1"') $(fastest "$inside")
    awk -v speed="$1" -v ratio="$2" -v m="$3" -v n="$4" -v inside="$5" -v own="$(median_of 12 '$4 == "auto"')" 'BEGIN {
        printf "ours: %.4g GB/s, %.3f of the copy (best tile %dx%d; the best with sides in 50..100 reaches %.0f %%; ",
            speed, ratio, m, n, 100 * inside / speed
        printf "own choice %.4g GB/s)\n", own }'
    paper 20.59 "section 7.4, best tile 32x72; tiles with sides in 50..100 reach 80 %"
}

figure
