# Runs figures with small sizes, and fails if one of them fails: `quick.sh [NAME...]`; without names, all of `list`. The
# environment has the programs' names, as for the figures. Plots if gnuplot is installed.
set -eu
here=$(dirname "$0")
OUT=${OUT:-build/figures-quick} QUICK=1 COUNT= PLOT=1 VENDOR=
export OUT QUICK COUNT PLOT VENDOR
rm -rf "$OUT" # do not use tables of another run
mkdir -p "$OUT"
[ $# -gt 0 ] || set -- $(sed -n 's/^\(s[^|]*\)|.*/\1/p' "$here/list")
command -v gnuplot > /dev/null || {
    PLOT=0
    sh tests/skipped.sh note figures "gnuplot is not installed: their plots (Debian: gnuplot-nox)"
}

# Checks that a figure with this table passes or fails as expected: self_test 0|1 TABLE WHAT-GNUPLOT-DRAWS.
self_test() {
    printf '. "%s/common.sh"\nmeasure() { printf "%s" > "$csv"; }\nheadlines() { :; }\nfigure\n' "$here" "$2" > "$OUT/self-test.sh"
    echo "set terminal svg; set output svg; plot $3" > "$OUT/self-test.gp"
    code=0
    sh "$OUT/self-test.sh" > "$OUT/self-test.log" 2>&1 || code=1
    [ $code = "$1" ] || { echo "figures: with the table '$2' and the plot of '$3' a figure exits with $code:"; cat "$OUT/self-test.log"; exit 1; }
}
cp "$here/list" "$here/papers" "$OUT" # beside self-test.sh
self_test 0 'gb_per_s,verified\\n1,1\\n' x
self_test 1 'gb_per_s,verified\\n1,1\\n2,0\\n' x
self_test 1 'gb_per_s,verified\\n1,1\\n,1\\n' x
self_test 1 'gb_per_s,verified\\n' x
[ $PLOT = 0 ] || self_test 1 'gb_per_s,verified\\n1,1\\n' '"< echo" using 1:2'

failed=0
for name in "$@"; do
    begun=$(date +%s)
    if sh "$here/$name.sh" > "$OUT/$name.log" 2>&1; then
        echo "$name: $(($(wc -l < "$OUT/$name.csv") - 1)) rows, $(($(date +%s) - begun)) s"
    else
        echo "$name: FAILED"
        tail -n 20 "$OUT/$name.log"
        failed=$((failed + 1))
    fi
done
[ $failed -eq 0 ] || { echo "figures: $failed of $# failed"; exit 1; }
echo "figures: $# measured$([ $PLOT = 0 ] || echo " and plotted")"
