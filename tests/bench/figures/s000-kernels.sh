# Sung et al. 2014, sections 7.1 and 7.2: the elementary transpositions as first published, improved, and by ipt's own
# kernels, for tiles and super-elements in the ranges of these sections.
. "$(dirname "$0")/common.sh"
. "$here/s000-shared.sh"
moves_of_010="pttwac-010:1 pttwac-010-padded:8 pttwac-010-padded:32 pttwac-010-remapped:1 bs-group:1 auto:1"
moves_of_100="group simd virtual-16 virtual-8 group-registers simd-registers virtual-16-registers"

measure() {
    bytes=32000000 lengths="16 23 32 47 64" counts="16 31 64 100 128 200 256"
    if [ "$quick" = 1 ]; then
        bytes=100000 lengths="16 23" counts="16"
    fi
    for m in $lengths; do
        for count in $counts; do
            for move in $moves_of_010; do
                echo "${m}x$count $((bytes / 4 / m / count * m)) $count 010 $m $count ${move%:*} auto ${move#*:}"
            done
            for move in $moves_of_100; do
                echo "${m}x$count $((bytes / 4 / m / count)) $((count * m)) 100 1 $m auto pttwac-100-$move 1"
            done
            echo "${m}x$count $((bytes / 4 / m / count)) $((count * m)) 100 1 $m auto auto 1"
            if [ "$m" = 16 ] && [ "$count" -le 64 ]; then # this kernel is slow
                echo "${m}x$count $((bytes / 4 / m / count * m)) $count 010 $m $count p-ipt-item auto 1"
                echo "${m}x$count $((bytes / 4 / m / count)) $((count * m)) 100 1 $m auto p-ipt-item 1"
            fi
        done
    done | measure_lines $repeat
}

headlines() {
    old='$7 == "pttwac-010"'
    new='$7 == "pttwac-010-padded" && $9 == 8'
    group='$8 == "pttwac-100-group"'
    simd='$8 == "pttwac-100-simd"'
    own='$4 == "010" && $7 == "auto"'
    printf "ours: %.4g GB/s, %.3f of the copy (010! by ipt's own kernel, median; 100! %.4g GB/s; " \
        "$(median_of 12 "$own")" "$(median_of 14 "$own")" "$(median_of 12 '$4 == "100" && $8 == "auto"')"
    printf 'improved to original PTTWAC: 010! %s times, 100! %s)\n' "$(speedup "$new" "$old")" "$(speedup "$simd" "$group")"
    echo "paper: under 25 GB/s, 0.120 of the peak bandwidth (Tesla K20, $peak GB/s, PTTWAC 010!; Gómez-Luna et al. 2016, section 5.1;" \
        "improved to original: 010! 1.79 (1.30 to 5.29) times, 100! 2.58 (1.54 to 3.50); sections 7.1, 7.2)"
}

figure
