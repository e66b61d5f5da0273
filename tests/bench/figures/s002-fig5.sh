# Gómez-Luna et al. 2016, figure 5: tiles by the heuristics against brute force over pairs of divisors.
. "$(dirname "$0")/common.sh"
. "$here/s002.sh"

measure() {
    general_shapes "$out/$name.shapes" - 20 2 20000
    most=16
    [ "$quick" = 0 ] || most=3
    "$measurer" ways 4 "$out/$name.shapes" auto algorithm-1 algorithm-2 algorithm-5 tpds-2016 "brute=$most" > "$csv"
}

# Each heuristic's speed relative to the best without padding: the median over the shapes.
of_best() {
    awk -F, -v way="$1" '
        NR > 1 && $4 != "auto" && $8 + $9 == 0 && $13 > best[$1, $2] { best[$1, $2] = $13 }
        $4 == way { at[$1, $2] = $13 }
        END { for (shape in at) if (best[shape] > 0) print 100 * at[shape] / best[shape] }' "$csv" | median | awk '{ printf "%.0f", $1 }'
}

headlines() {
    echo "$(way=way our_median "floats" tpds-2016); of brute force's best: algorithm 1 $(of_best algorithm-1) %," \
        "2 $(of_best algorithm-2) %, 5 $(of_best algorithm-5) %, ipt $(of_best auto) %"
    echo "paper: section 5.3.1: algorithm 2 at 98 % of brute force; section 7.1: median 13.69 GB/s on a K20, 0.066 of" \
        "its peak bandwidth of 208 GB/s"
}

figure
