# Pomorski's last table: milliseconds to transpose a large square of floats. Here also with the upload and download of a
# host matrix, and by ipt. A work-item moves one element, as in the slides; more where work-groups have fewer work-items. The paper's row for cuBLAS has no counterpart in OpenCL.
. "$(dirname "$0")/common.sh"
ladder=${LADDER:-$(dirname "$tool")/ladder}

if [ "$quick" = 1 ]; then
    shape=256x256:4
else
    shape=8192x8192:4
fi

measure() {
    "$ladder" $shape --transfers --lines 32 --csv "$csv"
}

# The paper's last table, an M2070: 11.1 ms for its own best kernel, 6.8 ms for cuBLAS, 8.7 ms for its copy. The data
# sheet's peak is 150 GB/s.
headlines() {
    awk -F, '
        NR == 1 { for (i = 1; i <= NF; ++i) at[$i] = i; next }
        $at["kernel"] == "ipt-out-of-place" {
            speed = $at["gb_per_s"]; ratio = $at["ratio"]; ms = $at["ms"]; transfers = $at["ms_with_transfers"]
            size = $at["rows"] "x" $at["cols"]
        }
        $at["kernel"] == "ipt-in-place" { place_speed = $at["gb_per_s"]; place_ratio = $at["ratio"] }
        END {
            printf "ours: %.4g GB/s, %.3f of the copy (%s floats, ipt out of place: %.3g ms, %.3g ms with transfers; ",
                speed, ratio, size, ms, transfers
            printf "in place %.4g GB/s, %.3f)\n", place_speed, place_ratio
            megabytes = 2 * 8192 * 8192 * 4 * 1e-6
            printf "paper: %.1f GB/s, %.3f of an M2070'"'"'s peak, %.3f of its copy (8192x8192 floats, own kernel; ",
                megabytes / 11.1, megabytes / 11.1 / 150, 8.7 / 11.1
            printf "cuBLAS %.1f GB/s, %.3f, %.3f)\n", megabytes / 6.8, megabytes / 6.8 / 150, 8.7 / 6.8
        }' "$csv"
}

figure
