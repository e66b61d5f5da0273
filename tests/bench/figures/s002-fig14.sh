# Gómez-Luna et al. 2016, figure 14: the same random matrices by later implementations. The paper used its second device.
. "$(dirname "$0")/common.sh"
. "$here/s002.sh"

measure() {
    share_general 8
    share_general 4
    lines_of "auto algorithm-5 tpds-2016-padded catanzaro eithot geam_copyback" "$out/s002-general-8.csv" "$out/s002-general-4.csv" > "$csv"
}

headlines() {
    our_median "doubles" tpds-2016-padded elem_size=8
    echo "paper: doubles, padded, section 1: median 29.31 GB/s on a GTX 980, 0.131 of its peak bandwidth of 224 GB/s"
}

figure
