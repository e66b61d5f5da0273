# Ha et al. 2013, table I: the smallest work-group that keeps the device busy, against a fixed one and the largest.
. "$(dirname "$0")/common.sh"
batches=${BATCHES:-build/batches}

measure() {
    megabytes=256
    [ "$quick" = 0 ] || megabytes=1
    "$batches" groups $megabytes > "$csv.new"
    mv "$csv.new" "$csv"
}

# The speed with the smallest group relative to the choice in column $1: the median over the kernels.
gain() {
    awk -F, -v choice="$1" '
        NR == 1 { for (i = 1; i <= NF; ++i) at[$i] = i; next }
        $at["smallest"] == 1 { smallest[$1] = $at["gbps"] }
        $at[choice] == 1 { other[$1] = $at["gbps"] }
        END { for (kernel in smallest) print smallest[kernel] / other[kernel] }' "$csv" | median
}

headlines() {
    awk -F, '$9 == 1 || NR == 1' "$csv" > "$csv.part"
    awk -v gbps="$(column gbps "$csv.part" | median)" -v ratio="$(column ratio "$csv.part" | median)" \
        -v largest="$(gain largest)" -v fixed="$(gain fixed)" 'BEGIN {
        printf "ours: %.1f GB/s, %.3f of the copy with the smallest work-group of the highest occupancy ", gbps, ratio
        printf "(median of three kernels): %.2f times the largest, %.2f times 64 work-items\n", largest, fixed }'
    rm "$csv.part"
    echo "paper: 77.4 us with the smallest work-group, 192: 1.04 times the largest (768: 80.5 us), 1.55 times 64" \
        "work-items (119.7 us; table I, which gives no bytes, so no fraction of the peak)"
}

figure
