# Sung et al. 2014, figure 6: PTTWAC 010! of tiles, its flags spread over 1 to 32 times as many words, without and with
# padding. The paper names six inputs, but the width of only one (215). Here the inputs have six widths from the range
# in section 7.1.
. "$(dirname "$0")/common.sh"
. "$here/s000-shared.sh"

measure() {
    bytes=64000000 widths="16 39 64 128 215 256" lengths="16 32 64"
    if [ "$quick" = 1 ]; then
        bytes=100000 widths="16"
    fi
    for n in $widths; do
        for m in $lengths; do
            rows=$((bytes / 4 / m / n * m))
            for spread in 1 2 4 8 16 32; do
                for kernel in pttwac-010 pttwac-010-padded; do
                    echo "${m}x$n $rows $n 010 $m $n $kernel auto $spread"
                done
            done
        done
    done | measure_lines $repeat
}

headlines() {
    one='$7 == "pttwac-010" && $9 == 1'
    spread='$7 == "pttwac-010" && $9 == 8'
    padded='$7 == "pttwac-010-padded" && $9 == 8'
    set -- $(fastest 1)
    printf 'ours: %.4g GB/s, %.3f of the copy (best, tiles of %sx%s; spreading by 8 %s times, padding %s more)\n' \
        "$1" "$2" "$3" "$4" "$(speedup "$spread" "$one")" "$(speedup "$padded" "$spread")"
    echo "paper: under 25 GB/s, 0.120 of the peak bandwidth (Tesla K20, $peak GB/s; Gómez-Luna et al. 2016, section 5.1;" \
        "spreading 1.77 times, padding 1.12 times more in the mean; section 7.1)"
}

figure
