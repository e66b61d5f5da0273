# Fuzzing of every reader in ipt and its tool: `run.sh SECONDS [TARGET...]` runs each target for SECONDS with clang's libFuzzer.
# `RUNS=1000000 run.sh [TARGET...]` runs each one with that many inputs instead, two targets at a time, or JOBS=16 of them. It
# fails on a crash, a leak or an input that takes longer than 10 seconds. build/fuzz has the corpus, crashes and logs. `run.sh
# --build [TARGET...]` only builds the programs. BUILT=1 runs existing programs, without clang. `run.sh --replay [TARGET...]`
# needs no clang: programs built by gcc run the corpus and the saved crashes. For a single file: build/fuzz/replay/TARGET FILE.
# Run it from the repository's root. SOURCES names another folder with ipt.h and gen/.
set -u
here=tests/fuzz
out=build/fuzz
all="npy pictures encoded words cache journal wisdom plan actions"
sources=${SOURCES:-.}
flags="-std=c99 -g -fno-omit-frame-pointer -Wall -Wextra -Wno-unused-function -DIPT_NO_NATIVE -I$sources"
sanitizers="-fsanitize=address,undefined -fno-sanitize-recover=all"

fail() {
    echo "$*" >&2
    exit 2
}

[ $# -ge 1 ] || [ -n "${RUNS:-}" ] ||
    fail "usage: run.sh SECONDS [TARGET...] | RUNS=NUMBER run.sh [TARGET...] | run.sh --build [TARGET...] | run.sh --replay [TARGET...]"
if [ -n "${RUNS:-}" ]; then
    seconds=0 limit=-runs=$RUNS
    case $RUNS in *[!0-9]*) fail "RUNS=$RUNS is not a number of inputs" ;; esac
else
    seconds=$1 limit=-max_total_time=$1
    shift
fi
targets=${*:-$all}
for target in $targets; do
    [ -f $here/$target.c ] || fail "$target is none of: $all"
done
case $seconds in
--replay | --build) ;;
'' | *[!0-9]*) fail "$seconds is not a number of seconds" ;;
esac
mkdir -p $out/corpus $out/crashes $out/logs $out/bin $out/replay

# The targets' files, in memory if possible.
place=/tmp
[ -w /dev/shm ] && place=/dev/shm
TMPDIR=$(mktemp -d $place/ipt-fuzz-XXXXXX) || exit 2
export TMPDIR
trap 'rm -rf "$TMPDIR"' EXIT
trap 'exit 130' INT TERM

# The largest input of each target. Targets that read numbers do not need longer inputs.
most() {
    case $1 in
    journal | plan) echo 256 ;;
    npy | pictures | words) echo 1024 ;;
    *) echo 2048 ;;
    esac
}

fuzz() {
    target=$1
    log=$out/logs/$target.log
    mkdir -p $out/corpus/$target
    cp $here/corpus/$target/* $out/corpus/$target
    dictionary=
    [ -f $here/$target.dict ] && dictionary=-dict=$here/$target.dict
    $out/bin/$target $out/corpus/$target $dictionary $limit -max_len=$(most $target) -timeout=10 \
        -rss_limit_mb=2048 -artifact_prefix=$out/crashes/$target- -print_final_stats=1 > $log 2>&1
    code=$?
    awk -v target=$target -v code=$code '
        / cov: / { for (i = 1; i < NF; i++) if ($i == "cov:") cov = $(i + 1) }
        /^#[0-9]/ { runs = substr($1, 2) }
        /^stat::number_of_executed_units/ { runs = $2 }
        /exec\/s:/ { for (i = 1; i < NF; i++) if ($i == "exec/s:") speed = $(i + 1) }
        /: broken: |^SUMMARY: |runtime error: |ERROR: / && !why { why = $0 }
        /Test unit written to/ { file = $NF; if (file !~ /slow-unit/) crashes++ }
        END {
            if (code && !crashes) crashes = 1
            printf "%-8s %9d executions, %6d per second, cov: %4d, crashes: %d\n", target, runs, speed, cov, crashes
            if (code) printf "  %s\n  %s\n", why, file
        }' $log
    return $code
}

# Runs all inputs in one process. After a failure, runs them one by one, to name the failing inputs.
replay() {
    target=$1
    set -- $here/corpus/$target/*
    for file in $out/crashes/$target-*; do
        [ -f "$file" ] && set -- "$@" "$file"
    done
    bad=0
    if ! $out/replay/$target "$@" > $out/logs/$target.replay.log 2>&1; then
        for file in "$@"; do
            $out/replay/$target "$file" >> $out/logs/$target.replay.log 2>&1 && continue
            echo "  $target: $file fails, see $out/logs/$target.replay.log"
            bad=$((bad + 1))
        done
        [ $bad -gt 0 ] || bad=1
    fi
    printf '%-8s %3d inputs, failures: %d\n' $target $# $bad
    [ $bad -eq 0 ]
}

# The tool's files for a target, with options: the journal's mappings become copies.
tool() {
    case $1 in
    encoded) echo "$sources/gen/tool/picture/stb.c $sources/gen/tool/picture/picture.c $sources/gen/tool/picture/picture_check.c $sources/gen/tool/picture/jpeg_check.c" ;;
    words) echo "$sources/gen/tool/command/command_line.c $sources/gen/tool/command/same_files.c $sources/gen/tool/command/options.c $sources/gen/tool/base/axes.c $sources/gen/tool/base/shape.c $sources/gen/tool/bench/bench_shapes.c $sources/gen/tool/bench/bench_result.c $sources/gen/tool/command/batch_spec.c $sources/gen/tool/base/numbers.c $sources/gen/tool/base/text.c $sources/gen/tool/base/system.c $sources/gen/tool/offline/offline_target.c $sources/gen/tool/offline/offline_ptx.c" ;;
    cache) echo "tests/support/fake_cl.c" ;;
    npy) echo "$sources/gen/tool/npy/npy.c $sources/gen/tool/base/numbers.c" ;;
    pictures) echo "$sources/gen/tool/picture/netpbm.c $sources/gen/tool/picture/exif.c $sources/gen/tool/npy/npy.c $sources/gen/tool/base/numbers.c" ;;
    actions) echo "$sources/gen/tool/command/batch_spec.c $sources/gen/tool/base/numbers.c $sources/gen/tool/base/text.c $sources/gen/tool/base/system.c" ;;
    journal) echo "-Dmmap=copied_map -Dmunmap=copied_unmap -Dmsync=copied_sync $sources/gen/tool/store/journal.c $sources/gen/tool/base/system.c $sources/gen/tool/base/text.c" ;;
    esac
}

failed=0
if [ "$seconds" = --replay ]; then
    for target in $targets; do
        ${CC:-gcc} -O1 $flags $sanitizers -DFUZZ_REPLAY -o $out/replay/$target $here/$target.c $(tool $target) -ldl -lpthread || exit 2
        replay $target || failed=1
    done
    exit $failed
fi

if [ -z "${BUILT:-}" ]; then
    clang=${CLANG:-$(command -v clang)} || fail "no clang is installed: --replay does without"
    for target in $targets; do
        $clang -O2 $flags $sanitizers -fsanitize=fuzzer -fsanitize-ignorelist=$here/not_instrumented.list \
            -fsanitize-coverage-ignorelist=$here/not_instrumented.list -o $out/bin/$target $here/$target.c $(tool $target) \
            -ldl -lpthread || exit 2
    done
fi
[ "$seconds" != --build ] || exit 0
jobs=${JOBS:-2}
set -- $targets
while [ $# -gt 0 ]; do
    running=
    while [ $# -gt 0 ] && [ "$(echo $running | wc -w)" -lt "$jobs" ]; do
        fuzz $1 &
        running="$running $!"
        shift
    done
    for process in $running; do wait $process || failed=1; done
done
exit $failed
