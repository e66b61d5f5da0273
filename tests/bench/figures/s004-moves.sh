# Ha et al. 2013, section III.C: the data adapter, a transposition. The speed of a batch over the size of its matrices, for
# each distribution of the matrices to work-items. The baseline is one launch for each matrix.
. "$(dirname "$0")/common.sh"
batches=${BATCHES:-build/batches}

measure() {
    megabytes=256
    squares="2 3 4 5 6 7 8 10 12 14 16 20 24 28 31 32 33 40 48 56 64 72 80 88 96 104 112 120 128 144 160 176 192 200"
    rectangles="2x8 5x3 8x16 16x12 24x40 33x20 64x32 60x100 50x200 128x96 200x150"
    if [ "$quick" = 1 ]; then
        megabytes=1
        squares="2 8 32 128"
        rectangles="5x3 24x40"
    fi
    shapes=$rectangles
    for side in $squares; do
        shapes="$shapes ${side}x$side"
    done
    # shellcheck disable=SC2086 # shapes are words
    "$batches" transpositions $megabytes $shapes > "$csv.new"
    mv "$csv.new" "$csv"
}

# The columns gbps and ratio of ipt's choice, and its speedup over the baselines on the same shapes.
compare() {
    awk -F, '
        NR == 1 { next }
        { shape = $2 "x" $3 }
        $1 == "ipt" { gbps[shape] = $7; ratio[shape] = $9 }
        $1 == "loop" { loop[shape] = $9 }
        $1 == "queues" { queues[shape] = $9 }
        END {
            print "gbps,ratio,over_loop,over_queues"
            for (shape in gbps)
                if (loop[shape] > 0 && queues[shape] > 0) # unless rounded to 0
                    print gbps[shape] "," ratio[shape] "," ratio[shape] / loop[shape] "," ratio[shape] / queues[shape]
        }' "$csv"
}

headlines() {
    compare > "$csv.part"
    awk -F, -v gbps="$(column gbps "$csv.part" | median)" -v ratio="$(column ratio "$csv.part" | median)" \
        -v loop="$(column over_loop "$csv.part" | median)" -v queues="$(column over_queues "$csv.part" | median)" '
        NR == 1 { next }
        $3 > most { most = $3 }
        END {
            printf "ours: %.1f GB/s, %.3f of the copy (median of %d shapes from 2x2 to 200x200, one plan to a batch); ",
                gbps, ratio, NR - 1
            printf "%.1f times a launch to a matrix (at most %.0f), %.1f times 32 queues\n", loop, most, queues
        }' "$csv.part"
    rm "$csv.part"
    echo "paper: as fast as a copy, out of place (section III.C, which has no numbers)"
}

figure
