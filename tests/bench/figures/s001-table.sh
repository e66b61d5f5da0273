# The table of Ruetsch et al.: the effective bandwidth of eight kernels on a square of floats. Here also on a large square
# and a rectangle, with OpenCL's copy and ipt's own transpositions.
. "$(dirname "$0")/common.sh"
ladder=${LADDER:-$(dirname "$tool")/ladder}

if [ "$quick" = 1 ]; then
    shapes="256x256:4 350x150:4"
else
    shapes="2048x2048:4 16384x16384:4 14906x5388:4"
fi

measure() {
    "$ladder" $shapes --csv "$csv"
}

# The loop within the kernel is in the table: the paper itself left it out when GPUs had caches.
#
# The paper counts 2^30 bytes as a gigabyte. On a K20X, the paper's fastest transposition is the coalesced one, with
# 114.0; its simple copy has 147.6. The data sheet's peak is 250 GB/s, of 10^9 bytes.
headlines() {
    awk -F, '
        NR == 1 { for (i = 1; i <= NF; ++i) at[$i] = i; next }
        NR == 2 { rows = $at["rows"]; cols = $at["cols"] }
        $at["rows"] != rows || $at["cols"] != cols { next }
        $at["kernel"] == "ipt-out-of-place" { speed = $at["gb_per_s"]; ratio = $at["ratio"] }
        $at["kernel"] == "ipt-in-place" { place_speed = $at["gb_per_s"]; place_ratio = $at["ratio"] }
        END {
            printf "ours: %.4g GB/s, %.3f of the copy (%dx%d floats, ipt out of place; in place %.4g GB/s, %.3f)\n",
                speed, ratio, rows, cols, place_speed, place_ratio
            paper = 114.0 * 1.073741824
            printf "paper: %.1f GB/s, %.3f of a K20X'"'"'s peak, %.3f of its copy (2048x2048 floats, coalesced)\n",
                paper, paper / 250, 114.0 / 147.6
        }' "$csv"
}

figure
