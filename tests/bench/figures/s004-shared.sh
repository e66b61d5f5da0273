# For figures 8 to 11 of Ha et al. 2013, batch plans: source it after common.sh. The program `batch` writes their CSV
# files: 1 line, 2 model, 3 action, 4 type, 5 side, 6 count, 7 elements, 8 seconds, 9 gbps, 10 copy_gbps, 11 ratio, 12
# gflops, 13 checked. A line is ipt's choice (auto), a model, or another way.
#
# VENDOR=FILE.csv: results of other libraries on the same device, from tests/bench/vendor_batch.py, for more lines in the
# picture. The columns: figure (s004-fig8, s004-fig9, s004-fig10, s004-fig11-posv, s004-fig11-potrf or s004-fig11-getrf),
# side, type, name, value: GB/s, or GFLOP/s of figures 10 and 11.
batch=${BATCH:-build/batch}
every_line=auto,uusci-2013,registers,item,memory,planes,interleaved,group,work-group,large,launches,queues
shared_lines=auto,uusci-2013,interleaved,group,work-group,large,launches,queues # with several work-items per element

# Runs `batch` for lines $1 of the shapes that follow. First creates all plans, one process per processor, so that the cache
# has their programs. With small sizes, this would take longer.
run_batch() {
    lines=$1
    shift
    [ $# != 0 ] || return 0
    if [ "$quick" = 1 ]; then
        timeout 900 "$batch" --csv --lines "$lines" --megabytes 1 --launches 20 "$@"
    else
        printf '%s\n' "$@" | timeout 900 xargs -n 1 -P "$(getconf _NPROCESSORS_ONLN)" "$batch" --plans --lines "$lines"
        timeout 900 "$batch" --csv --lines "$lines" "$@"
    fi
}

# Measures action $1 on type $2 with the sides that follow $3. Elements with a longer side than $3 are too large for one
# work-item.
measure_action() {
    action=$1
    type=$2
    most=$3
    shift 3
    small=
    large=
    for side in "$@"; do
        if [ "$side" -le "$most" ]; then
            small="$small $action:$type:$side"
        else
            large="$large $action:$type:$side"
        fi
    done
    # shellcheck disable=SC2086 # the shapes are words
    run_batch "$every_line" $small
    # shellcheck disable=SC2086
    run_batch "$shared_lines" $large
}

# Copies the output of several measure_action to the table.
take_table() {
    awk 'NR == 1 || !/^line,/' "$csv.part" > "$csv"
    rm "$csv.part"
}

# Keeps the lines of VENDOR that belong to this figure beside its table.
take_vendor() {
    rm -f "$out/$name.vendor.csv"
    if [ -n "${VENDOR:-}" ]; then
        awk -F, -v name="$name" '$1 == name || index($1, name "-") == 1' "$VENDOR" > "$out/$name.vendor.csv"
    fi
}

# The type of the headlines: double, as in the paper, or float on devices without doubles.
headline_type() {
    awk -F, 'NR > 1 { type = $4 } $4 == "double" { exit } END { print type }' "$csv"
}

# The numbers in column $4 for action $1 and type $2, at the measured sides of the list $3: those of ipt's choice, or of
# line $5.
speeds() {
    awk -F, -v action="$1" -v type="$2" -v wanted="$3" -v column="$4" -v way="${5:-auto}" '
        $1 == way && $3 == action && $4 == type { value[$5] = $column }
        END {
            n = split(wanted, sides, " ")
            for (i = 1; i <= n; ++i)
                if (sides[i] in value)
                    printf "%s%.3g at %d", printed++ ? ", " : "", value[sides[i]], sides[i]
        }' "$csv"
}

# How ipt's choice compares with the baselines and with the fastest model, for action $1 and type $2.
gains() {
    awk -F, -v action="$1" -v type="$2" '
        $3 != action || $4 != type { next }
        $1 == "auto" { ipt[$5] = $11; next }
        $1 == "launches" { launches[$5] = $11; next }
        $1 == "queues" { queues[$5] = $11; next }
        $1 != "planes" && $1 != "uusci-2013" && $11 > best[$5] { best[$5] = $11 }
        function short(value) { return sprintf(value < 10 ? "%.1f" : "%.0f", value) }
        function range(low, high) { return short(low) " to " short(high) }
        END {
            low = 1e9; low_queues = 1e9; least = 1e9
            for (side in ipt) {
                gain = ipt[side] / launches[side]
                low = gain < low ? gain : low; high = gain > high ? gain : high
                gain = ipt[side] / queues[side]
                low_queues = gain < low_queues ? gain : low_queues; high_queues = gain > high_queues ? gain : high_queues
                share = ipt[side] / best[side]
                if (share < least) { least = share; at = side }
            }
            printf "%s times a launch for each element, %s times 8 queues; ", range(low, high), range(low_queues, high_queues)
            printf "at least %.2f of the fastest model (side %d)", least, at
        }' "$csv"
}
