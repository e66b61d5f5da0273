# Ha et al. 2013, figure 11: many small systems over the side of the matrices, in each model of a batch plan, and with a
# launch for each system. Cholesky: decomposition, with and without solution for one right-hand side. LU: decomposition
# with pivots.
. "$(dirname "$0")/common.sh"
. "$(dirname "$0")/s004-shared.sh"

measure() {
    doubles="2 4 8 12 16 24 32 64 96 128"
    floats="2 4 8 16 32 64 128"
    if [ "$quick" = 1 ]; then
        doubles="8"
        floats="8"
    fi
    # shellcheck disable=SC2086 # sides are words
    for action in posv potrf getrf; do
        measure_action $action double 32 $doubles
        measure_action $action float 32 $floats
    done > "$csv.part"
    take_table
}

headlines() {
    take_vendor
    type=$(headline_type)
    echo "ours: GFLOP/s with ${type}s, Cholesky and solution $(speeds posv "$type" "8 32 128" 12), LU $(speeds getrf "$type" "8 32 128" 12);" \
        "Cholesky and solution: $(gains posv "$type"); Cholesky: $(gains potrf "$type"); LU: $(gains getrf "$type");" \
        "the whole published method: Cholesky and solution $(speeds posv "$type" "8 32 128" 12 uusci-2013), LU" \
        "$(speeds getrf "$type" "8 32 128" 12 uusci-2013)"
    echo "paper: 50 GFLOP/s at about 120x120 with doubles, faster than another library; slow at small sides" \
        "(section IV.D)"
}

figure
