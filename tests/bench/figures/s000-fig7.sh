# Sung et al. 2014, figure 7: transposition 100! from N x M' x m to M' x N x m, over m and M'. Two kernels: the paper's
# kernel, in which a SIMD unit moves each super-element through local memory, and ipt's.
. "$(dirname "$0")/common.sh"
. "$here/s000-shared.sh"

measure() {
    bytes=64000000
    lengths="4 8 12 16 24 32 40 48 56 64 80 96 112 128 160 192 224 256"
    counts="16 31 48 64 97 128 160 192 225 256"
    if [ "$quick" = 1 ]; then
        bytes=100000
        lengths="8 64"
        counts="16 31"
    fi
    for count in $counts; do
        for m in $lengths; do
            rows=$((bytes / 4 / m / count))
            for kernel in pttwac-100-simd auto; do
                echo "${count}x$m $rows $((count * m)) 100 1 $m auto $kernel 1"
            done
        done
    done | measure_lines $repeat
}

headlines() {
    simd='$8 == "pttwac-100-simd" && $6 == 64'
    own='$8 == "auto" && $6 == 64'
    printf "ours: %.4g GB/s, %.3f of the copy (super-elements of 64 floats, median, ipt's own kernel; the paper's %.4g)\n" \
        "$(median_of 12 "$own")" "$(median_of 14 "$own")" "$(median_of 12 "$simd")"
    paper 69 "section 7.3, tile size 64 on average; 12.5 for 8, 24.5 for 16, 47.6 for 32"
}

figure
