# Gómez-Luna et al. 2016, figure 12: algorithm 2 without padding: all matrices, those with large tiles, and the others.
. "$(dirname "$0")/common.sh"
. "$here/s002.sh"

measure() {
    share_general 4
    lines_of "auto algorithm-2 tpds-2016 catanzaro" "$out/s002-general-4.csv" > "$csv"
}

headlines() {
    our_median "floats" tpds-2016
    echo "paper: floats, not padded, section 7.1: median 13.69 GB/s on a K20, 0.066 of its peak bandwidth of 208 GB/s"
}

figure
