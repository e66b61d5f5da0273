# Ha et al. 2013, figure 10: products C = A B of many small matrices over the side of the matrices, in each model of a
# batch plan, and with a launch for each product.
. "$(dirname "$0")/common.sh"
. "$(dirname "$0")/s004-shared.sh"

measure() {
    doubles="2 3 4 6 8 12 16 24 32 48 64 96 128"
    floats="2 4 8 16 32 64 128"
    if [ "$quick" = 1 ]; then
        doubles="4 64"
        floats="16"
    fi
    # shellcheck disable=SC2086 # sides are words
    {
        measure_action gemm double 32 $doubles
        measure_action gemm float 32 $floats
    } > "$csv.part"
    take_table
}

headlines() {
    take_vendor
    type=$(headline_type)
    echo "ours: GFLOP/s with ${type}s $(speeds gemm "$type" "4 16 32 64 128" 12); $(gains gemm "$type");" \
        "the whole published method $(speeds gemm "$type" "4 16 32 64 128" 12 uusci-2013)"
    echo "paper: significantly faster than other libraries' batch mode from 2x2 to 32x32, as fast for larger matrices" \
        "(section IV.C; the figure's GFLOP/s are not in the text)"
}

figure
