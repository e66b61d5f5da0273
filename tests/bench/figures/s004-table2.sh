# Ha et al. 2013, table II: 256 matrices of 128 x 128 copied by work-groups of 128 work-items in several shapes. Each
# work-item copies one element.
. "$(dirname "$0")/common.sh"
batches=${BATCHES:-build/batches}

measure() {
    megabytes=512
    [ "$quick" = 0 ] || megabytes=64
    "$batches" copies $megabytes > "$csv.new"
    mv "$csv.new" "$csv"
}

headlines() {
    awk -F, '
        NR == 1 { for (i = 1; i <= NF; ++i) at[$i] = i; next }
        { speed = $at["gbps"]; type = $1 }
        !(type in least) || speed < least[type] { least[type] = speed }
        speed > most[type] { most[type] = speed; ratio[type] = $at["ratio"]; wide[type] = $at["x"] }
        END {
            printf "ours: %.1f GB/s, %.3f of the copy with floats, %d work-items wide, ", most["float"], ratio["float"],
                wide["float"]
            printf "%.1f times the slowest shape", most["float"] / least["float"]
            if ("double" in most)
                printf "; doubles %.1f GB/s, %.3f, %.1f times", most["double"], ratio["double"],
                    most["double"] / least["double"]
            printf "\n"
        }' "$csv"
    echo "paper: floats 0.11, 6.4 times the slowest shape, doubles 0.20, 3.5 times (table II, which has no unit: as" \
        "milliseconds 305 GB/s, 2.1 of the 144 GB/s of a C2050's peak, so only the shapes can be compared)"
}

figure
