# Gómez-Luna et al. 2016, figure 15: skinny matrices: arrays of structures to structures of arrays and back.
. "$(dirname "$0")/common.sh"
. "$here/s002.sh"

measure() {
    share_skinny 8
    share_skinny 4
    lines_of "auto algorithm-5 tpds-2016-padded catanzaro libmarshal_fix" "$out/s002-skinny-8.csv" "$out/s002-skinny-4.csv" > "$csv"
}

headlines() {
    our_median "skinny floats" tpds-2016-padded elem_size=4
    echo "paper: skinny matrices, section 1: median above 50 GB/s on a GTX 980, 0.223 of its peak bandwidth of 224 GB/s"
}

figure
