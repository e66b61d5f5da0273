# Ha et al. 2013, figure 9: products y = A x of many small matrices over the side of the matrices, in each model of a
# batch plan, and with a launch for each product.
. "$(dirname "$0")/common.sh"
. "$(dirname "$0")/s004-shared.sh"

measure() {
    doubles="2 3 4 6 8 12 16 24 32 48 64 96 128"
    floats="2 4 8 16 32 64 128"
    if [ "$quick" = 1 ]; then
        doubles="4 128"
        floats="16"
    fi
    # shellcheck disable=SC2086 # sides are words
    {
        measure_action gemv double 64 $doubles
        measure_action gemv float 64 $floats
    } > "$csv.part"
    take_table
}

headlines() {
    take_vendor
    type=$(headline_type)
    echo "ours: of the copy's speed with ${type}s $(speeds gemv "$type" "4 16 64 128" 11)" \
        "(GB/s: $(speeds gemv "$type" "4 16 64 128" 9)); $(gains gemv "$type");" \
        "the whole published method $(speeds gemv "$type" "4 16 64 128" 11 uusci-2013)"
    echo "paper: about four times the batch mode of other libraries with doubles, a work-item to a matrix below 16x16 only," \
        "sub-groups close the gap (section IV.B; its text has no GB/s, so no fraction of the peak)"
}

figure
