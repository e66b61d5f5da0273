#!/bin/sh
# Model checks of concurrent work-groups and processes, over all sequences of their steps. The models of the kernels must have
# no error. The models with a planted defect must have an error of the named kind. An incomplete search is a failure. Needs
# spin, a C compiler, 6 GB of memory and two cores for some minutes. usage: tests/models/run.sh [WORD...] [WORD...]: only
# models whose line below has one of the words
cd "$(dirname "$0")/../.." || exit 1
models=tests/models build=build/models cc=${CC:-cc}
if ! command -v spin >/dev/null; then
    echo "models: spin is not installed" >&2
    exit 1
fi
rm -rf "$build"
mkdir -p "$build" || exit 1

# model, expected result (right, assertion, deadlock), parameters; the longest first
cat >"$build/list" <<'END'
shuffle right N=5 ONE_CYCLE
shuffle right N=3 ONE_CYCLE GROUPS=3
shuffle right N=5 ONE_CYCLE GROUPS=3 LANES=1
chains right N=5 ONE_CYCLE
columns right HEIGHT=2 REST_ROWS=1 RESIDENT=3
columns right BANDS=3 CHUNK=3 RESIDENT=3
columns right TALL=0 RESIDENT=4
columns right BANDS=4 WIDTH=1 CHUNK=4 RESIDENT=3
columns right TALL=0 HEIGHT=2 REST_ROWS=1 RESIDENT=3
columns right TALL=0 BANDS=3 CHUNK=3 RESIDENT=3
panel right TALL=0 SHORT=3 BLOCKS=2 RESIDENT=3
panel right TALL=0 SHORT=3 RESIDENT=3
panel right TALL=0 PANELS=3 RESIDENT=3
chains right N=4 GROUPS=3
chains right N=4 GROUPS=3 CHAINS=1
panel right SHORT=4 LENGTH=3 TAIL=2 RESIDENT=3
panel right CHUNK_Y=1 RESIDENT=3
panel right RESIDENT=4
shuffle right N=1
shuffle right N=2
shuffle right N=3
shuffle right N=4
shuffle right N=4 WORD=2
shuffle right N=4 INNER
shuffle right N=2 GROUPS=3
shuffle right N=5 LANES=1
shuffle right N=5 LANES=1 WORD=3
shuffle right N=4 LANES=1 GROUPS=3
shuffle assertion CLAIM_EARLY
shuffle assertion CLAIM_EARLY LANES=1
shuffle assertion CLAIM_OWN_LANE
shuffle deadlock LANES_READ_SEPARATELY
shuffle assertion START_UNCLAIMED
shuffle assertion INNER NO_INNER_BARRIER
chains right N=1
chains right N=2
chains right N=3
chains right N=4
chains right N=3 GROUPS=3
chains assertion CLAIM_EARLY
chains assertion CLAIM_OWN_LANE
chains assertion STORE_EARLY
chains assertion WRITE_UNCLAIMED
waves right
waves right LAUNCHES=2 STEPS=2
waves right RESIDENT=1
waves right GROUPS=3 PIECES=1
waves right GROUPS=3 RESIDENT=2 PIECES=1
waves right GROUPS=3 STRIPES=2 STEPS=2
waves right STRIPES=1 PIECES=3
waves assertion NO_WAIT
waves assertion DONE_EARLY
waves assertion TAKE_APART
waves assertion LEAVE_DONE
waves assertion LAUNCHES=2 NO_CLEAR
boxes right RESIDENT=1
boxes right RESIDENT=2
boxes right RESIDENT=3 ARRAYS=2 BOXES=3
boxes right RESIDENT=2 ARRAYS=3
boxes right RESIDENT=2 ARRAYS=1 BOXES=3
boxes right RESIDENT=3 ARRAYS=1 BOXES=3
boxes right RESIDENT=2 BOXES=2 BOX=3 UNITS=4
boxes right RESIDENT=2 LAUNCHES=2
boxes right RESIDENT=3 ARRAYS=1 BOXES=3 LAUNCHES=2
boxes assertion CLAIM_EARLY
boxes deadlock NO_CLOSE RESIDENT=1
boxes assertion NO_ELECTION BOXES=3 RESIDENT=2
boxes assertion STORE_ANYWAY RESIDENT=1
boxes assertion NO_CLEAR
panel right RESIDENT=1
panel right RESIDENT=2
panel right RESIDENT=3
panel right RESIDENT=2 LAUNCHES=2
panel right PANELS=3 RESIDENT=3
panel right SHORT=3 RESIDENT=2
panel right SHORT=3 RESIDENT=3
panel right SHORT=3 LENGTH=3 PANELS=3 TAIL=2 RESIDENT=2
panel right SHORT=3 LENGTH=3 BLOCKS=3 RESIDENT=3
panel right SHORT=4 CHUNK_X=2 LENGTH=3 TAIL=2 BLOCKS=3 RESIDENT=3
panel right CHUNK_Y=1 RESIDENT=2
panel right TAIL=0 RESIDENT=1
panel right TAIL=0 RESIDENT=3
panel right TAIL=0 PANELS=1 CHUNK_Y=1 RESIDENT=2
panel right TAIL=0 PANELS=1 CHUNK_Y=1 RESIDENT=4
panel right NARROW=1 CHUNK_X=2 PANELS=3 RESIDENT=1
panel right NARROW=1 CHUNK_X=2 PANELS=3 RESIDENT=3
panel right TALL=0 RESIDENT=1
panel right TALL=0 RESIDENT=2
panel right TALL=0 RESIDENT=2 LAUNCHES=2
panel right TALL=0 BLOCKS=2 RESIDENT=1
panel right TALL=0 BLOCKS=2 RESIDENT=3
panel right TALL=0 SHORT=3 BLOCKS=2 RESIDENT=2
panel right TALL=0 SHORT=3 LENGTH=3 PANELS=3 TAIL=2 RESIDENT=2
panel right TALL=0 SHORT=4 CHUNK_X=2 LENGTH=3 TAIL=2 BLOCKS=2 RESIDENT=3
panel right TALL=0 TAIL=0 RESIDENT=1
panel right TALL=0 TAIL=0 RESIDENT=3
panel right TALL=0 NARROW=1 CHUNK_X=2 PANELS=3 RESIDENT=1
panel right TALL=0 NARROW=1 CHUNK_X=2 PANELS=3 RESIDENT=3
panel assertion CLAIM_EARLY
panel assertion CLAIM_EARLY TALL=0
panel assertion CLAIM_OWN_LANE
panel assertion CLAIM_OWN_LANE TALL=0
panel assertion IGNORE_NEIGHBOUR RESIDENT=3
panel assertion IGNORE_NEIGHBOUR RESIDENT=3 TALL=0
panel assertion IGNORE_NEIGHBOUR NARROW=1 CHUNK_X=2 PANELS=3
panel assertion IGNORE_NEIGHBOUR NARROW=1 CHUNK_X=2 PANELS=3 TALL=0
panel deadlock NO_CLOSE RESIDENT=1
panel deadlock NO_CLOSE SHORT=3 TALL=0
panel assertion NO_TICKET_WAIT SHORT=3 BLOCKS=2 TALL=0
panel assertion DEPART_EARLY
panel assertion NO_CLEAR
bands right RESIDENT=1
bands right RESIDENT=2
bands right RESIDENT=3
bands right RESIDENT=4
bands right RESIDENT=2 LAUNCHES=2
bands right BANDS=3 RESIDENT=1
bands right BANDS=3 RESIDENT=2
bands right BANDS=3 RESIDENT=3
bands right HEIGHT=2 REST_ROWS=1 RESIDENT=1
bands right HEIGHT=2 REST_ROWS=1 RESIDENT=2
bands right HEIGHT=2 REST_ROWS=1 RESIDENT=3
bands right REST_COLUMNS=1 RESIDENT=1
bands right REST_COLUMNS=1 RESIDENT=2
bands right REST_COLUMNS=1 RESIDENT=3
bands right HEIGHT=2 REST_ROWS=1 REST_COLUMNS=1 RESIDENT=2
bands right HEIGHT=2 REST_ROWS=1 REST_COLUMNS=1 RESIDENT=3
bands right WIDTH=2 REST_ROWS=1 RESIDENT=2
bands right BANDS=3 HEIGHT=2 REST_ROWS=2 RESIDENT=2
bands right BANDS=3 REST_COLUMNS=2 RESIDENT=2
bands right BANDS=3 CHUNK=2 RESIDENT=2
bands right BANDS=3 CHUNK=2 RESIDENT=3
bands right BANDS=3 CHUNK=2 REST_COLUMNS=1 RESIDENT=2
bands right CHUNK=2 RESIDENT=2
bands right WIDTH=2 CHUNK=1 RESIDENT=2
bands right WIDTH=2 CHUNK=3 RESIDENT=2
bands right WIDTH=2 CHUNK=3 RESIDENT=3
bands right WIDTH=3 CHUNK=2 RESIDENT=2
bands right WIDTH=3 CHUNK=2 RESIDENT=3
bands right BANDS=3 WIDTH=2 CHUNK=3 RESIDENT=2
bands right TALL=0 RESIDENT=1
bands right TALL=0 RESIDENT=2
bands right TALL=0 RESIDENT=3
bands right TALL=0 RESIDENT=4
bands right TALL=0 RESIDENT=2 LAUNCHES=2
bands right TALL=0 BANDS=3 RESIDENT=1
bands right TALL=0 BANDS=3 RESIDENT=2
bands right TALL=0 BANDS=3 RESIDENT=3
bands right TALL=0 HEIGHT=2 REST_ROWS=1 RESIDENT=1
bands right TALL=0 HEIGHT=2 REST_ROWS=1 RESIDENT=2
bands right TALL=0 HEIGHT=2 REST_ROWS=1 RESIDENT=3
bands right TALL=0 REST_COLUMNS=1 RESIDENT=1
bands right TALL=0 REST_COLUMNS=1 RESIDENT=2
bands right TALL=0 REST_COLUMNS=1 RESIDENT=3
bands right TALL=0 HEIGHT=2 REST_ROWS=1 REST_COLUMNS=1 RESIDENT=2
bands right TALL=0 HEIGHT=2 REST_ROWS=1 REST_COLUMNS=1 RESIDENT=3
bands right TALL=0 WIDTH=2 REST_ROWS=1 RESIDENT=2
bands right TALL=0 BANDS=3 HEIGHT=2 REST_ROWS=2 RESIDENT=2
bands right TALL=0 BANDS=3 REST_COLUMNS=2 RESIDENT=2
bands right TALL=0 BANDS=3 CHUNK=2 RESIDENT=2
bands right TALL=0 BANDS=3 CHUNK=2 RESIDENT=3
bands right TALL=0 BANDS=3 CHUNK=2 REST_COLUMNS=1 RESIDENT=2
bands right TALL=0 CHUNK=2 RESIDENT=2
bands right TALL=0 WIDTH=2 CHUNK=1 RESIDENT=2
bands right TALL=0 WIDTH=2 CHUNK=3 RESIDENT=2
bands right TALL=0 WIDTH=2 CHUNK=3 RESIDENT=3
bands right TALL=0 WIDTH=3 CHUNK=2 RESIDENT=2
bands right TALL=0 WIDTH=3 CHUNK=2 RESIDENT=3
bands right TALL=0 BANDS=3 WIDTH=2 CHUNK=3 RESIDENT=2
bands assertion COUNT_EARLY HEIGHT=2
bands assertion NO_OWN_WAIT HEIGHT=2
bands assertion NO_NEIGHBOUR_WAIT CHUNK=2 HEIGHT=2 REST_ROWS=1 RESIDENT=3
bands assertion NO_DONE_WAIT HEIGHT=2 RESIDENT=3
bands assertion DONE_EARLY HEIGHT=2 RESIDENT=3
bands assertion NO_TICKET_WAIT HEIGHT=2
bands deadlock OTHER_ORDER HEIGHT=2 REST_ROWS=1
bands deadlock NO_CLOSE RESIDENT=1
bands assertion NO_LEFT_WAIT HEIGHT=2 RESIDENT=3
bands assertion ALL_MOVE BANDS=3 HEIGHT=2 RESIDENT=3
bands assertion NO_CLEAR RESIDENT=1
bands assertion COUNT_EARLY TALL=0 HEIGHT=2
bands assertion NO_OWN_WAIT TALL=0 HEIGHT=2
bands assertion NO_NEIGHBOUR_WAIT NO_CLOSE TALL=0 BANDS=3 CHUNK=4 WIDTH=2 HEIGHT=2 REST_ROWS=2 RESIDENT=4
bands assertion NO_DONE_WAIT TALL=0 CHUNK=2 HEIGHT=2
bands assertion DONE_EARLY TALL=0 CHUNK=2 HEIGHT=2
bands assertion NO_TICKET_WAIT TALL=0 HEIGHT=2
bands deadlock OTHER_ORDER TALL=0 HEIGHT=2 REST_ROWS=1
bands deadlock NO_CLOSE TALL=0 RESIDENT=1
bands assertion NO_LEFT_WAIT TALL=0 HEIGHT=2 RESIDENT=3
bands assertion ALL_MOVE TALL=0 BANDS=3 HEIGHT=2 RESIDENT=3
bands assertion NO_CLEAR TALL=0 RESIDENT=1
bands assertion SAVE_EARLY TALL=0 HEIGHT=2 REST_ROWS=1 REST_COLUMNS=1
bands assertion NO_SAVED_WAIT BANDS=1 WIDTH=2 HEIGHT=2 REST_ROWS=1 RESIDENT=3
bands assertion NO_SAVED_WAIT TALL=0 BANDS=1 HEIGHT=2 REST_COLUMNS=1 RESIDENT=3
bands assertion RESTORE_EARLY BANDS=1 HEIGHT=2 REST_COLUMNS=1 RESIDENT=3
bands assertion RESTORE_EARLY TALL=0 BANDS=1 WIDTH=2 HEIGHT=2 REST_ROWS=1
bands assertion NO_REST_WAIT TALL=0 CHUNK=2 HEIGHT=2 REST_ROWS=1 RESIDENT=3
columns right RESIDENT=1
columns right RESIDENT=2
columns right RESIDENT=3
columns right RESIDENT=2 LAUNCHES=2
columns right CHUNK=1 RESIDENT=2
columns right CHUNK=3 RESIDENT=3
columns right CHUNK=4 RESIDENT=2
columns right BANDS=3 CHUNK=3 RESIDENT=1
columns right BANDS=3 CHUNK=3 RESIDENT=2
columns right BANDS=3 CHUNK=6 RESIDENT=3
columns right BANDS=3 CHUNK=2 AXIS=3 RESIDENT=2
columns right BANDS=4 WIDTH=1 CHUNK=2 RESIDENT=2
columns right HEIGHT=2 REST_ROWS=1 RESIDENT=1
columns right HEIGHT=2 REST_ROWS=1 RESIDENT=2
columns right HEIGHT=2 REST_ROWS=1 CHUNK=4 RESIDENT=3
columns right REST_COLUMNS=2 CHUNK=3 RESIDENT=2
columns right REST_COLUMNS=2 CHUNK=3 RESIDENT=3
columns right WIDTH=1 HEIGHT=2 REST_COLUMNS=2 CHUNK=4 RESIDENT=3
columns right WIDTH=1 REST_COLUMNS=2 RESIDENT=2
columns right WIDTH=1 REST_COLUMNS=2 RESIDENT=3
columns right HEIGHT=2 REST_ROWS=1 REST_COLUMNS=2 CHUNK=3 RESIDENT=2
columns right HEIGHT=3 REST_ROWS=2 WIDTH=4 REST_COLUMNS=1 AXIS=3 CHUNK=5 RESIDENT=2
columns right TALL=0 RESIDENT=1
columns right TALL=0 RESIDENT=2
columns right TALL=0 RESIDENT=3
columns right TALL=0 RESIDENT=2 LAUNCHES=2
columns right TALL=0 CHUNK=1 RESIDENT=2
columns right TALL=0 CHUNK=3 RESIDENT=3
columns right TALL=0 CHUNK=4 RESIDENT=2
columns right TALL=0 BANDS=3 CHUNK=3 RESIDENT=1
columns right TALL=0 BANDS=3 CHUNK=3 RESIDENT=2
columns right TALL=0 BANDS=3 CHUNK=6 RESIDENT=3
columns right TALL=0 BANDS=3 CHUNK=2 AXIS=3 RESIDENT=2
columns right TALL=0 BANDS=4 WIDTH=1 CHUNK=2 RESIDENT=2
columns right TALL=0 HEIGHT=2 REST_ROWS=1 RESIDENT=1
columns right TALL=0 HEIGHT=2 REST_ROWS=1 RESIDENT=2
columns right TALL=0 HEIGHT=2 REST_ROWS=1 CHUNK=4 RESIDENT=3
columns right TALL=0 REST_COLUMNS=2 CHUNK=3 RESIDENT=2
columns right TALL=0 REST_COLUMNS=2 CHUNK=3 RESIDENT=3
columns right TALL=0 WIDTH=1 HEIGHT=2 REST_COLUMNS=2 CHUNK=4 RESIDENT=3
columns right TALL=0 WIDTH=1 REST_COLUMNS=2 RESIDENT=2
columns right TALL=0 WIDTH=1 REST_COLUMNS=2 RESIDENT=3
columns right TALL=0 HEIGHT=2 REST_ROWS=1 REST_COLUMNS=2 CHUNK=3 RESIDENT=2
columns right TALL=0 HEIGHT=3 REST_ROWS=2 WIDTH=4 REST_COLUMNS=1 AXIS=3 CHUNK=5 RESIDENT=2
columns right TALL=0 BANDS=4 WIDTH=1 CHUNK=4 RESIDENT=3
columns assertion COUNT_EARLY HEIGHT=2
columns assertion NO_OWN_WAIT HEIGHT=2
columns assertion NO_NEIGHBOUR_WAIT WIDTH=1 HEIGHT=2 REST_COLUMNS=2 CHUNK=4
columns assertion NO_NEIGHBOUR_WAIT HEIGHT=2 REST_ROWS=1 CHUNK=4 RESIDENT=3
columns assertion NO_DONE_WAIT HEIGHT=2 CHUNK=4
columns assertion NO_DONE_WAIT HEIGHT=2 RESIDENT=3
columns assertion DECIDE_TWICE HEIGHT=2 CHUNK=4
columns assertion DECIDE_TWICE HEIGHT=2 RESIDENT=3
columns assertion DEFER_NONE HEIGHT=2 RESIDENT=3
columns assertion WRITE_UNEXCHANGED HEIGHT=2 RESIDENT=3
columns assertion DONE_EARLY HEIGHT=2 RESIDENT=3
columns assertion NO_TICKET_WAIT HEIGHT=2
columns deadlock NO_CLOSE RESIDENT=1
columns assertion NO_LEFT_WAIT HEIGHT=2 RESIDENT=3
columns assertion ALL_MOVE CHUNK=1
columns assertion NO_CLEAR RESIDENT=1
columns assertion OTHER_ORDER HEIGHT=2 REST_ROWS=1
columns assertion SAVE_EARLY CHUNK=1 HEIGHT=2 REST_ROWS=1
columns assertion NO_SAVED_WAIT BANDS=1 HEIGHT=2 REST_ROWS=1 RESIDENT=3
columns assertion NO_REST_WAIT HEIGHT=2 REST_ROWS=1 RESIDENT=3
columns assertion RESTORE_EARLY BANDS=1 HEIGHT=2 WIDTH=3 REST_COLUMNS=1 RESIDENT=3
columns assertion COUNT_EARLY TALL=0 HEIGHT=2
columns assertion NO_OWN_WAIT TALL=0 HEIGHT=2
columns assertion NO_NEIGHBOUR_WAIT TALL=0 BANDS=3 HEIGHT=2 REST_ROWS=2 CHUNK=6 RESIDENT=3
columns assertion NO_NEIGHBOUR_WAIT TALL=0 BANDS=3 HEIGHT=2 WIDTH=1 REST_COLUMNS=3 CHUNK=6 RESIDENT=3
columns assertion NO_DONE_WAIT TALL=0 HEIGHT=2 CHUNK=4
columns assertion DONE_EARLY TALL=0 HEIGHT=2 CHUNK=4
columns assertion PARK_UNREAD TALL=0 HEIGHT=2
columns assertion NO_TICKET_WAIT TALL=0 HEIGHT=2
columns deadlock NO_CLOSE TALL=0 RESIDENT=1
columns assertion NO_LEFT_WAIT TALL=0 HEIGHT=2 RESIDENT=3
columns assertion ALL_MOVE TALL=0 CHUNK=1
columns assertion NO_CLEAR TALL=0 RESIDENT=1
columns assertion OTHER_ORDER TALL=0 HEIGHT=2 REST_ROWS=1
columns assertion SAVE_EARLY TALL=0 WIDTH=1 REST_COLUMNS=2 CHUNK=1
columns assertion NO_SAVED_WAIT TALL=0 BANDS=1 HEIGHT=2 WIDTH=3 REST_COLUMNS=1 RESIDENT=3
columns assertion NO_REST_WAIT TALL=0 HEIGHT=2 REST_ROWS=1 CHUNK=4 RESIDENT=3
columns assertion RESTORE_EARLY TALL=0 BANDS=1 HEIGHT=2 REST_ROWS=1 RESIDENT=3
cache right OLD=1
cache right OLD=0
cache right CLEANER
cache assertion NO_RENAME
cache assertion NO_RENAME OLD=0
cache assertion NO_EXCLUSIVE
cache assertion NO_FLUSH
cache assertion CLEANER_SAME_NUMBER
END
if [ $# -ne 0 ]; then
    for word; do
        grep -w -e "$word" "$build/list"
    done >"$build/some"
    mv "$build/some" "$build/list"
fi

# Checks one line of the list: builds its verifier, searches, and writes `result` into its folder.
check() { # folder model wanted parameters...
    folder=$1 model=$2 wanted=$3
    shift 3
    defines=
    for parameter; do
        defines="$defines -D$parameter"
    done
    states=0 found='no verifier'
    # Every search needs less than a tenth of 100000 steps. A search that needs more reports it and fails.
    # -O1 only, because building takes longer than most searches.
    # shellcheck disable=SC2086
    if (cd "$folder" && spin -a $defines "../../../$models/$model.pml" &&
        $cc -w -O1 -DSAFETY -DMEMLIM=2800 -o pan pan.c) >"$folder/build.log" 2>&1; then
        (cd "$folder" && ./pan -m100000 -n) >"$folder/log" 2>&1
        states=$(sed -n 's/^ *\([0-9][0-9]*\) states, stored.*/\1/p' "$folder/log")
        errors=$(sed -n 's/.*errors: \([0-9][0-9]*\)$/\1/p' "$folder/log")
        if grep -q 'max search depth too small\|out of memory\|aborting' "$folder/log"; then
            found='not complete'
        elif grep -q '^pan:1: assertion violated' "$folder/log"; then
            found=assertion
        elif grep -q '^pan:1: invalid end state' "$folder/log"; then
            found=deadlock
        elif grep -q '^pan:[0-9]' "$folder/log" || [ "$errors" != 0 ]; then
            found=$(grep '^pan:[0-9]' "$folder/log" | head -n 1)
            found=${found:-nothing}
        elif grep -q 'Search not completed' "$folder/log" || ! grep -q '^Full statespace search' "$folder/log"; then
            found='not complete'
        else
            found=right
        fi
    fi
    states=${states:-0}
    case $found in
    "$wanted") outcome=ok ;;
    *) outcome="UNEXPECTED, wanted: $wanted" ;;
    esac
    printf '%-8s%-58s%10d states  %s  %s\n' "$model" "$*" "$states" "$found" "$outcome" | tee "$folder/line"
    echo "$states ${outcome%%,*}" >"$folder/result"
    [ "$outcome" != ok ] || rm -f "$folder"/pan* "$folder"/*.trail # a trail shows the path to an error
}

# Checks the lines that the other worker has not taken.
worker() {
    number=0
    while read -r line; do
        number=$((number + 1))
        if mkdir "$build/$number" 2>/dev/null; then
            # shellcheck disable=SC2086
            check "$build/$number" $line </dev/null
        fi
    done <"$build/list"
}

worker &
worker
wait

runs=0 good=0 total=0
for result in "$build"/*/result; do
    [ -f "$result" ] || continue
    read -r states outcome <"$result"
    runs=$((runs + 1)) total=$((total + states))
    [ "$outcome" = ok ] && good=$((good + 1))
done
wanted=$(grep -c . "$build/list")
echo "models: $runs runs, $good as expected, $total states in all"
[ "$wanted" -gt 0 ] && [ "$runs" -eq "$wanted" ] && [ "$good" -eq "$wanted" ]
