# Ha et al. 2013, figure 9: batched products y = A x over the size of the matrices, for each distribution to work-items.
# ipt makes structures of arrays in place. A separate line shows the time of that.
. "$(dirname "$0")/common.sh"
batches=${BATCHES:-build/batches}

measure() {
    megabytes=256
    sides="2 3 4 6 8 12 16 24 32 48 64 96 128"
    if [ "$quick" = 1 ]; then
        megabytes=8
        sides="2 4 8 16 32 64 128"
    fi
    # shellcheck disable=SC2086 # sides are words
    "$batches" products $megabytes $sides > "$csv.new"
    mv "$csv.new" "$csv"
}

# The fastest model for each size, with any layout.
fastest() {
    awk -F, 'NR == 1 { print; next }
        $1 != "adapter" && $1 != "item-soa-adapted" && $9 > best[$2] { best[$2] = $9; line[$2] = $0 }
        END { for (side in line) print line[side] }' "$csv"
}

headlines() {
    fastest > "$csv.part"
    awk -F, -v gbps="$(column gbps "$csv.part" | median)" -v ratio="$(column ratio "$csv.part" | median)" '
        $1 == "item-aos" && $2 >= 16 { aos[$2] = $9 }
        $1 == "contiguous" { contiguous[$2] = $9 }
        END {
            for (side in aos)
                if (contiguous[side] / aos[side] > most) {
                    most = contiguous[side] / aos[side]
                    at = side
                }
            printf "ours: %.1f GB/s, %.3f of the copy (median over the sizes of the fastest model); ", gbps, ratio
            printf "sub-groups at most %.1f times a work-item to a matrix (side %d)\n", most, at
        }' "$csv"
    rm "$csv.part"
    echo "paper: with doubles about four times the batched library, a work-item to a matrix below 16x16 only," \
        "sub-groups close the gap (section IV.B; its text has no GB/s, so no fraction of the peak)"
}

figure
