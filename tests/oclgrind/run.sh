# Every kernel under oclgrind, which detects accesses out of bounds, uninitialised reads, diverging barriers and races.
# Argument: quick (two minutes: every kernel as for a GPU, the kernels for CPUs only, some planted defects) or full (one to
# two hours). Needs build/walk. The kernels are not optimised: oclgrind lacks a
# function that its compiler generates for loops. One work-group runs at a time, unless work-groups wait for one another, so
# the reports do not vary. They go to stderr, because --log has only the reports of the last context.
set -eu
part=$1
command -v oclgrind > /dev/null || { sh tests/skipped.sh note oclgrind "oclgrind is not installed"; exit 0; }
folder=build/oclgrind
here=tests/oclgrind
most_errors=10000000
rm -rf $folder
mkdir -p $folder

walk() { # name of the log, then the arguments of walk
    log=$folder/$1
    threads=1
    case $2 in team | columns) threads=16 ;; esac
    shift
    status=0
    timeout 3600 oclgrind --num-threads $threads --max-wgsize 64 --build-options -cl-opt-disable --data-races --uninitialized \
        --max-errors $most_errors build/walk "$@" > "$log.out" 2> "$log.err" || status=$?
    awk -f $here/reports.awk -v expected=$here/expected "$log.err" > "$log.reports"
}

# Column $1 of the planted defect in $line.
column() {
    printf '%s\n' "$line" | awk -v n="$1" '{
        gsub(/\\[|]/, "\001")
        split($0, columns, " [|] ")
        text = columns[n]
        gsub(/\001/, "|", text)
        gsub(/[$] */, "\n", text)
        print text
    }'
}

failed=0
kinds="cpu gpu team alone columns columns_alone"
[ "$part" = full ] || kinds="cpu gpu"
for kind in $kinds; do
    program=$part
    [ "$part $kind" != "quick cpu" ] || program="ipt_k_waves ipt_k_thin" # the kernels for CPUs only
    walk "$kind" "$kind" "$program"
    if [ $status != 0 ]; then
        echo "oclgrind: walk $kind ended with $status:"
        grep -v '^launched\|^kernel' "$log.out" | tail -n 5
        failed=1
    fi
    grep '^unexpected' "$log.reports" && failed=1
done

cat $folder/*.out | awk '
    $1 == "kernel" { wanted[$2] = 1 }
    $1 == "launched" { times[$3] += $2; ++programs[$3] }
    END {
        for (kernel in wanted)
            if (times[kernel])
                print kernel " ran " times[kernel] " times, by " programs[kernel] " programs"
            else
                print kernel " never ran"
    }' | sort | tee $folder/kernels
[ -s $folder/kernels ] && ! grep -q 'never ran' $folder/kernels || failed=1
awk '$1 == "expected" { count += $2 } END { print "oclgrind: " count + 0 " expected reports" }' $folder/*.reports

# Every class of parameters that changes the text of a kernel. Not available here: memory models and sub-groups beyond
# OpenCL 1.2, and slots beyond 2^31. Kernel map always has an expression, kernel views always registers, and kernel elements
# units of 4 bytes.
classes() {
    cat $folder/*.out | awk '
        BEGIN {
            values["unit_bytes"] = "1 2 4 8 16"
            values["element_units"] = values["tall"] = values["narrow"] = values["inner"] = values["bank_padding"] = "0 1"
            values["chained"] = values["apply"] = "0 1"
            values["crossing"] = "0 1 2 3 4 5"
            values["flag_layout"] = "0 1 2"
            values["registers"] = "0 8"
        }
        $1 == "kernel" { for (i = 3; i <= NF; ++i) uses[$2, $i] = $2 " " $i }
        $1 == "launched" { for (i = 4; i <= NF; ++i) seen[$3 " " $i] = 1 }
        END {
            for (use in uses) {
                split(uses[use], part, " ")
                count = split(values[part[2]], wanted, " ")
                for (i = 1; i <= count; ++i)
                    if (part[1] " " part[2] wanted[i] != "ipt_k_map apply0" &&
                        (part[1] " " part[2] != "ipt_k_elements unit_bytes" || wanted[i] == 4) &&
                        part[1] " " part[2] wanted[i] != "ipt_k_views registers0" && !((part[1] " " part[2] "=" wanted[i]) in seen))
                        print part[1] " never ran with " part[2] "=" wanted[i]
            }
        }' | sort > $folder/classes
    cat $folder/classes
    [ ! -s $folder/classes ]
}
[ "$part" != full ] || classes || failed=1

# An expected report that never occurs could hide a defect.
if [ "$part" = full ]; then
    for number in $(grep -n '^ipt_k_' $here/expected | cut -d : -f 1); do
        grep -qx "met $number" $folder/*.reports || { echo "oclgrind: line $number of $here/expected was never met"; failed=1; }
    done
fi

# Planted defects must be reported, and must not match an expected report.
number=0
while IFS= read -r line; do
    case $line in '#'* | '') continue ;; esac
    number=$((number + 1))
    [ "$part" = full ] || [ "$(column 1)" = quick ] || continue
    wanted=$(column 7)
    walk "planted_$number" "$(column 2)" "$(column 3)" "$(column 4)" "$(column 5)" "$(column 6)"
    if [ $status != 0 ]; then
        echo "oclgrind: planted defect $number ended with $status: $(tail -n 1 "$log.out")"
        failed=1
    elif grep '^unexpected' "$log.reports" | grep -E "$wanted" > $folder/found; then
        echo "oclgrind: reported as it must be: $(head -n 1 $folder/found | cut -d ' ' -f 3- | cut -c 1-150)"
    else
        echo "oclgrind: not reported: $(column 4), $(column 6) for $(column 5)"
        failed=1
    fi
done < $here/planted
if [ $failed != 0 ]; then
    echo "oclgrind: failed"
    exit 1
fi
echo "oclgrind: passed"
