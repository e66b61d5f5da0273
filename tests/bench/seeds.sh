# Runs every kernel, sequence, method and option of the papers by its name. Prints the command and the speed relative to a copy, or
# the reason of a failure. Every result is verified. Argument: the tool. On a CPU, shapes are small. A forced kernel serves
# one kind of stage. ipt chooses the kernel of the other kind.
set -u
tool=$1
shapes=${SHAPES:-}
padded=${PADDED:-619x661:4} batch=1000
if [ -z "$shapes" ]; then
    if "$tool" devices | sed -n '/(default)/,/driver/p' | grep -q ' GPU of '; then
        shapes="7200x1800:4 5100x2500:8" padded=${PADDED:-6203x6607:4 6203x6607:8} batch=100000
    else
        shapes="720x200:4 540x250:8" padded=${PADDED:-619x661:4 331x337:8} batch=1000
    fi
fi
csv=${CSV:-build/seeds.csv}
wrong=0
row() { # a description, then the tool's options
    what=$1
    shift
    line=
    for shape in $shapes; do
        result=$("$tool" bench "$shape" --workspace 1000000000 --repeat "${REPEAT:-10}" "$@" --csv "$csv" 2>&1)
        if [ $? -eq 0 ]; then
            ratio=$(awk -F, 'NR == 1 { for (i = 1; i <= NF; ++i) if ($i == "ratio") r = i } END { printf "%.3f", $r }' "$csv")
        else
            ratio=failed
            wrong=1
            why=$(printf '%s\n' "$result" | tail -1)
            case $why in *WRONG*) ratio=WRONG ;; *) echo "  $why" >&2 ;; esac
        fi
        line="$line$(printf '%10s' "$ratio")"
    done
    printf '%-38s%s   ipt bench %s\n' "$what" "$line" "$*"
}
m=${M:-60}
n=${N:-50}
printf '%-38s' "ratio to the copy"
printf '%10s' $shapes
printf '\n'
row "ipt's own choice"
for s in 1 2.1 2.2 3.1 3.2 3.3 3.4 4.1 4.2 4.3; do
    row "sequence $s" --sequence $s --tile-m "$m" --tile-n "$n"
done
for v in group simd virtual-16 virtual-8; do
    row "BS by $v" --sequence 3.1 --tile-m "$m" --tile-n "$n" --variant-010 bs-$v
    row "BS by $v, padded" --sequence 3.1 --tile-m "$m" --tile-n "$n" --variant-010 bs-$v-padded
done
for v in pttwac-010 pttwac-010-padded pttwac-010-remapped; do
    for spread in 1 8 32; do
        row "PTTWAC 010!, ${v#pttwac-}, spread $spread" --sequence 3.1 --tile-m "$m" --tile-n "$n" --variant-010 $v \
            --flag-spread $spread
    done
done
for v in group simd virtual-16 virtual-8 group-registers simd-registers virtual-16-registers virtual-8-registers; do
    row "PTTWAC 100! by $v" --sequence 3.1 --tile-m "$m" --tile-n "$n" --variant-100 pttwac-100-$v
done
row "PTTWAC 100! as first published" --sequence 3.1 --tile-m "$m" --tile-n "$n" --variant-100 pttwac-100-items
row "PTTWAC 100!, a word to a flag" --sequence 3.1 --tile-m "$m" --tile-n "$n" --variant-100 pttwac-100-simd --flag-spread 32
for v in item group; do
    row "P-IPT by $v" --sequence 3.1 --tile-m "$m" --tile-n "$n" --variant-010 p-ipt-$v --variant-100 p-ipt-$v
done
for heuristic in range-50-100 algorithm-1 algorithm-2; do
    row "tiles by $heuristic" --heuristic $heuristic
done
for method in ppopp-2014 tpds-2016 tpds-2016-padded; do
    row "method $method" --method $method
done
heading() {
    printf '%-38s' "$1"
    printf '%10s' $shapes
    printf '\n'
}
shapes=$padded
heading "padded"
row "ipt's own choice"
row "padding, by neighbours" --pad
row "padding, tiles by algorithm-5" --pad --heuristic algorithm-5
row "padding, chained" --pad --variant-pad pad-chained
row "method tpds-2016-padded" --method tpds-2016-padded
row "sequence 1, not padded" --sequence 1
shapes="20x24:4 20x24:8"
heading "batches of $batch"
row "ipt's own choice" --batch $batch
for v in item interleaved-simd interleaved-16 interleaved-8; do
    row "BS by $v" --batch $batch --variant-010 bs-$v
done
shapes="64x64:4 96x96:8"
heading "batches of 50 squares"
for v in block element; do
    row "squares by $v" --batch 50 --sequence square --variant-010 swap-by-$v
done
exit $wrong
