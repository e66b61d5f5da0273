# Gómez-Luna et al. 2016, figure 16: random matrices without other implementations. The paper used its third device.
. "$(dirname "$0")/common.sh"
. "$here/s002.sh"

measure() {
    share_general 8
    share_general 4
    lines_of "auto algorithm-5 tpds-2016-padded" "$out/s002-general-8.csv" "$out/s002-general-4.csv" > "$csv"
}

headlines() {
    our_median "doubles" tpds-2016-padded elem_size=8
    echo "paper: doubles, padded, section 1: median 37.40 GB/s on a Hawaii, 0.117 of its peak bandwidth of 320 GB/s"
}

figure
