# Gómez-Luna et al. 2016, figure 6: the sequences of elementary transpositions, with the tiles of algorithm 2.
. "$(dirname "$0")/common.sh"
. "$here/s002.sh"

measure() {
    general_shapes "$out/$name.shapes" - 30 5 20000
    "$measurer" ways 4 "$out/$name.shapes" auto sequences tpds-2016 > "$csv"
}

# The percentage of matrices for which $1 is the fastest of the paper's sequences.
fastest() {
    awk -F, -v sequence="$1" '
        $4 == "sequences" && $13 > best[$1, $2] { best[$1, $2] = $13; by[$1, $2] = $5 }
        END { for (s in by) { ++all; won += by[s] == sequence }; printf "%.0f", all ? 100 * won / all : 0 }' "$csv"
}

headlines() {
    echo "$(way=way our_median "floats" tpds-2016); fastest of the paper's sequences: 3.1 for $(fastest 3.1) % of the matrices, 3.2 for $(fastest 3.2) %," \
        "2.1 for $(fastest 2.1) %, 2.2 for $(fastest 2.2) %"
    echo "paper: section 5.4: fastest are 3.1 for 41.8 % of the matrices, 3.2 for 37.4 %, 2.1 for 9.8 %, 2.2 for 9.1 %; section 7.1: median 13.69 GB/s on a K20," \
        "0.066 of its peak bandwidth of 208 GB/s"
}

figure
