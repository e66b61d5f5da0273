# Gómez-Luna et al. 2016, section 7.2: memory beside the matrix, for padding by algorithm 5 and for ipt's plans.
. "$(dirname "$0")/common.sh"
. "$here/s002.sh"

# Prints a kind of matrices, a method, and the median and maximum of the numbers on standard input.
summary() {
    sort -g | awk -v OFS=, -v kind="$1" -v way="$2" '
        { v[NR] = $1 }
        END { print kind, way, NR, (v[int((NR + 1) / 2)] + v[int(NR / 2) + 1]) / 2, v[NR] }'
}

# Padding is computed for 5000 matrices, with the local memory of the paper's devices. Plans are made for fewer.
measure_kind() { # name, element size, ranges of the sides
    "$measurer" draw "${COUNT:-$drawn}" 2 "$3" "$4" "$5" "$6" > "$out/$name.shapes"
    "$measurer" tiles "$2" 49152 "$out/$name.shapes" > "$out/$name.tiles"
    awk -F, '$4 == "algorithm-5" { print 100 * (($1 + $7) * ($2 + $8) / ($1 * $2) - 1) }' "$out/$name.tiles" |
        summary "$1" padding
    head -n "$planned" "$out/$name.shapes" > "$out/$name.planned"
    "$measurer" plans "$2" "$out/$name.planned" > "$out/$name.plans"
    awk -F, '$4 == "auto" { print $8 }' "$out/$name.plans" | summary "$1" plan
}

measure() {
    drawn=5000 planned=200
    [ "$quick" = 0 ] || drawn=100 planned=4
    {
        echo "kind,way,matrices,median_percent,largest_percent"
        measure_kind floats 4 1000 19999 1000 19999
        measure_kind doubles 8 1000 14999 1000 14999
        measure_kind skinny-floats 4 10000 10000000 2 32
        measure_kind skinny-doubles 8 10000 10000000 2 32
    } > "$csv"
}

headlines() {
    awk -F, '$1 == "floats" { printf "%s%s %.2f %% in the median and %.2f %% at most", $2 == "padding" ? "ours: floats: " : "; ", $2, $4, $5 }
        END { print "; no speed is measured here" }' "$csv"
    echo "paper: floats, section 7.2: padding 0.01 % in the median and 0.43 % at most"
}

figure
