# What the figures share; sourced by each of them. A figure NAME.sh calls `measure`, its own function, which writes the
# table "$csv" and fails if a result is wrong, then plots it with NAME.gp and writes "$text": a line that begins with
# "ours: " and one that begins with "paper: ".
#
# QUICK=1: small sizes, for a CPU. MEASURE=0: only plot a table that is there. PLOT=0: only measure.
set -eu
tool=${TOOL:-build/ipt}
out=${OUT:-build/figures}
quick=${QUICK:-0}
name=$(basename "$0" .sh)
here=$(dirname "$0")
csv=$out/$name.csv
svg=$out/$name.svg
text=$out/$name.txt
mkdir -p "$out"

# The column called $1 of the CSV $2, a value a line.
column() {
    awk -F, -v name="$1" 'NR == 1 { for (i = 1; i <= NF; ++i) if ($i == name) at = i; next } { print $at }' "$2"
}

# The median of the numbers on standard input.
median() {
    sort -g | awk '{ v[NR] = $1 } END { if (NR) print NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2 }'
}

# Measures, plots and sums up, each unless it is switched off: the figure defines `measure` and `headlines`.
figure() {
    if [ "${MEASURE:-1}" = 1 ]; then
        measure
    fi
    if [ "${PLOT:-1}" = 1 ]; then
        headlines > "$text"
        gnuplot -e "csv='$csv'; svg='$svg'" "$here/$name.gp"
        cat "$text"
    fi
}
