# For the figures of Sung et al. 2014: source it after common.sh. The program `sweep` writes their CSV files: 1 label, 2
# rows, 3 cols, 4 sequence, 5 tile_m, 6 tile_n, 7 kernel_010, 8 kernel_100, 9 flag_spread, 10 bytes, 11 seconds, 12
# gb_per_s, 13 copy_gb_per_s, 14 ratio, 15 workspace, 16 verified, 17 device.
sweep=${SWEEP:-build/sweep}
repeat=0
if [ "$quick" = 1 ]; then
    repeat=3
fi
peak=208 # GB/s of the Tesla K20 (section 7), the device of the paper's tables

# Measures the lines on standard input, with $1 executions in a round (0: sweep chooses). Writes the table only if it is
# complete and verified.
measure_lines() {
    timeout 900 "$sweep" "$1" 3 > "$csv.part"
    awk -F, 'NR > 1 && $16 != 1 { exit 1 } END { if (NR < 2) exit 1 }' "$csv.part" || {
        echo "$name: a result is wrong or missing" >&2
        return 1
    }
    mv "$csv.part" "$csv"
}

# The divisors of $1 nearest to each of the other numbers, without repetition.
divisors_near() {
    side=$1
    shift
    for wanted in "$@"; do
        awk -v side="$side" -v wanted="$wanted" 'BEGIN {
            for (d = 1; d <= side; ++d) {
                away = d > wanted ? d / wanted : wanted / d
                if (side % d == 0 && (!best || away < least)) { best = d; least = away }
            }
            print best
        }'
    done | sort -nu
}

# The divisors of $1 from $2 to $3.
divisors_between() {
    awk -v side="$1" -v low="$2" -v high="$3" 'BEGIN { for (d = low; d <= high; ++d) if (side % d == 0) print d }'
}

# The fastest line for which the awk condition $1 holds: speed, ratio, tile_m, tile_n.
fastest() {
    awk -F, "NR > 1 && ($1)"' && $12 > best { best = $12; line = $12 " " $14 " " $5 " " $6 } END { print line }' "$csv"
}

# The median of field $1 of the lines for which the awk condition $2 holds.
median_of() {
    awk -F, "NR > 1 && ($2)"' { print $'"$1"' }' "$csv" | median
}

# Median, minimum and maximum of a quotient: the ratio of a line for which $1 holds, divided by the ratio of the line
# with the same label for which $2 holds.
speedup() {
    awk -F, "NR > 1 && ($1)"' { first[$1] = $14 }'"NR > 1 && ($2)"' { second[$1] = $14 }
        END { for (l in first) if (l in second) print first[l] / second[l] }' "$csv" | sort -g |
        awk '{ v[NR] = $1 } END { if (NR) printf "%.2f (%.2f to %.2f)",
            NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2, v[1], v[NR] }'
}

# The paper's headline: GB/s, and the place in the paper.
paper() {
    awk -v speed="$1" -v peak="$peak" -v where="$2" 'BEGIN {
        printf "paper: %s GB/s, %.3f of the peak bandwidth (Tesla K20, %d GB/s; %s)\n", speed, speed / peak, peak, where }'
}

# Prints a line for every shape ROWSxCOLS in $2 ..., sequence and tile, one for ipt's own choice, and one for the paper's
# whole method. The tiles' sides are
# the divisors nearest to the numbers in $1.
stages() {
    sides=$1
    shift
    for shape in "$@"; do
        rows=${shape%x*}
        cols=${shape#*x}
        for m in $(divisors_near "$rows" $sides); do
            for n in $(divisors_near "$cols" $sides); do
                for sequence in 3.1 3.2 4.1 4.2 4.3; do
                    echo "$shape $rows $cols $sequence $m $n auto auto 0"
                done
            done
        done
        echo "$shape $rows $cols auto 0 0 auto auto 0"
        echo "$shape $rows $cols ppopp-2014 0 0 auto auto 0"
    done
}

# Conditions for the three columns of the paper's table.
three='$4 == "3.1" || $4 == "3.2"'
four='$4 == "4.1" || $4 == "4.2"'
fused='$4 == "4.3"'

# ipt's headline for the shape $1: its own choice, and the best GB/s of each kind of sequence. $2: the shape's name.
stage_headline() {
    set -- "$2" $(fastest "\$1 == \"$1\" && \$4 == \"auto\"") $(fastest "\$1 == \"$1\" && ($three)") \
        $(fastest "\$1 == \"$1\" && ($four)") $(fastest "\$1 == \"$1\" && $fused") \
        $(fastest "\$1 == \"$1\" && \$4 == \"ppopp-2014\"")
    printf "ours: %.4g GB/s, %.3f of the copy (%s, ipt's own choice; best 3 stages %.4g, 4 stages %.4g, fused %.4g, the whole published method %.4g)\n" \
        "$2" "$3" "$1" "$6" "${10}" "${14}" "${18}"
}
