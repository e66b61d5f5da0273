# Gómez-Luna et al. 2016, figure 10: padding and unpadding one column alone, and the paper's example of two prime sides.
. "$(dirname "$0")/common.sh"
. "$here/s002.sh"

measure() {
    example="6203 6607"
    if [ "$quick" = 1 ]; then
        set -- 100 200
        example="101 103"
    else
        set -- 1000 2000 3000 4000 6000 8000 10000 12000 14000 16000
    fi
    "$measurer" pad "$@" > "$csv"
    echo "$example" > "$out/$name.shapes"
    "$measurer" ways 4 "$out/$name.shapes" auto algorithm-2 algorithm-5 > "$out/$name.example"
    awk -F, -v OFS=, 'NR > 1 { print $1, "example", $4, $11, $12, $13, $14 }' "$out/$name.example" >> "$csv"
}

# The last speed or ratio of a kernel in a direction.
last() {
    select_column "$csv" "$1" "direction=$2" "kernel=$3" | tail -n 1 | awk -v format="$4" '{ printf format, $1 }'
}

headlines() {
    echo "ours: two prime sides: padded by algorithm 5 $(last gb_per_s example algorithm-5 %.1f) GB/s," \
        "$(last ratio example algorithm-5 %.3f) of the copy's speed; not padded, by ipt" \
        "$(last gb_per_s example auto %.1f) GB/s, $(last ratio example auto %.3f); padding alone" \
        "$(last gb_per_s pad neighbours %.1f) GB/s, unpadding $(last gb_per_s unpad neighbours %.1f) GB/s"
    echo "paper: 6203 x 6607, sections 6.2 and 6.2.1: 15.36 GB/s padded, 2.38 not padded, on a K20: 0.074 and 0.011 of" \
        "its peak bandwidth of 208 GB/s"
}

figure
