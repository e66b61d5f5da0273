# Ha et al. 2013, figure 8: dot products of many pairs of vectors over the length of the vectors, in each model of a batch
# plan, and with a launch for each pair.
. "$(dirname "$0")/common.sh"
. "$(dirname "$0")/s004-shared.sh"

measure() {
    doubles="2 4 8 16 24 32 48 64 96 128 160 256 512"
    floats="4 16 64 160 256 512"
    if [ "$quick" = 1 ]; then
        doubles="8 160"
        floats="8"
    fi
    # shellcheck disable=SC2086 # lengths are words
    {
        measure_action dot double 512 $doubles
        measure_action dot float 512 $floats
    } > "$csv.part"
    take_table
}

headlines() {
    take_vendor
    type=$(headline_type)
    echo "ours: of the copy's speed with ${type}s $(speeds dot "$type" "8 32 160 512" 11)" \
        "(GB/s: $(speeds dot "$type" "8 32 160 512" 9)); $(gains dot "$type");" \
        "the whole published method $(speeds dot "$type" "8 32 160 512" 11 uusci-2013)"
    echo "paper: up to 0.65 of its device's peak bandwidth with doubles, others hundreds of times slower" \
        "(section IV.A; the figure's GB/s are not in the text)"
}

figure
