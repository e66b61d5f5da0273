# Gómez-Luna et al. 2016, figure 4: transposition 100! alone, over the length of super-elements and the number of work-items that move one.
. "$(dirname "$0")/common.sh"
. "$here/s002.sh"

measure() {
    if [ "$quick" = 1 ]; then
        set -- 50000 1 31
    else
        set -- 268000000 1 3 7 15 23 31 47 63 95 127 191 255 383 511 767 1023 1535 2047 2559
    fi
    "$measurer" super-elements "$@" > "$csv"
}

headlines() {
    echo "ours: super-elements of 23 words or more: median" \
        "$(awk -F, '$2 == "own" && $1 >= 23 { print $6 }' "$csv" | median | awk '{ printf "%.1f", $1 }') GB/s," \
        "$(awk -F, '$2 == "own" && $1 >= 23 { print $8 }' "$csv" | median | awk '{ printf "%.3f", $1 }') of the copy's speed"
    echo "paper: section 5.2: above 40 GB/s from 24 words on, on a K20, 0.192 of its peak bandwidth of 208 GB/s"
}

figure
