# Gómez-Luna et al. 2016, figure 13: random matrices, with padding by algorithm 5, against Catanzaro et al. and the paper's own code.
. "$(dirname "$0")/common.sh"
. "$here/s002.sh"

measure() {
    share_general 8
    share_general 4
    lines_of "auto algorithm-5 tpds-2016-padded catanzaro libmarshal_fix" "$out/s002-general-8.csv" "$out/s002-general-4.csv" > "$csv"
}

headlines() {
    our_median "doubles" tpds-2016-padded elem_size=8
    echo "paper: doubles, padded, section 1: median 22.54 GB/s on a K20, 0.108 of its peak bandwidth of 208 GB/s"
}

figure
