# Random cases over the whole interface: `differential.sh [CASES] [SEED] [SECONDS]`. By default 5000 cases, a new seed and no
# time limit. SANITIZE=address builds with clang's address and undefined behaviour sanitizers, SANITIZE=thread with its thread
# sanitizer. SOURCES names another folder with ipt.h and ipt_kernels.h. JOBS processes share the cases, from case FIRST on, and
# each writes build/differential*.N.log. To be run from the repository's root.
set -eu
cases=${1:-5000}
seed=${2:-}
seconds=${3:-}
[ -n "$seed" ] || seed=$(od -An -N4 -tu4 /dev/urandom | tr -d ' ')
flags="${CFLAGS:--std=c99 -O2 -g -Wall -Wextra -Wpedantic} -I${SOURCES:-.} -I. -Itests/support"
compiler=${CC:-gcc}
program=build/differential${SANITIZE:+_$SANITIZE}
case ${SANITIZE:-} in
'') ;;
address)
    flags="$flags -O1 -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=all"
    export ASAN_OPTIONS=detect_leaks=1:abort_on_error=1:handle_segv=2 UBSAN_OPTIONS=abort_on_error=1 LSAN_OPTIONS=suppressions=tests/analysis/sanitize.supp:print_suppressions=0
    ;;
thread)
    flags="$flags -O1 -fsanitize=thread"
    # OpenCL is not instrumented: ignore reports about its memory, but not about its locks.
    export TSAN_OPTIONS=halt_on_error=1:abort_on_error=1:ignore_noninstrumented_modules=1:detect_deadlocks=1:second_deadlock_stack=1
    ;;
*)
    echo "SANITIZE=$SANITIZE: must be address or thread" >&2
    exit 2
    ;;
esac
if [ -n "${SANITIZE:-}" ]; then
    compiler=${CLANG:-$(command -v clang)} || { echo "no clang is installed" >&2; exit 2; }
fi
mkdir -p build
$compiler $flags -DIPT_NO_NATIVE -o $program tests/random/differential.c ${LDLIBS:--lOpenCL -lpthread}
echo "$cases cases with seed $seed${seconds:+, for $seconds s at most}${SANITIZE:+, under the $SANITIZE sanitizer}"
jobs=${JOBS:-1} first=${FIRST:-0}
[ "$jobs" -gt 1 ] || exec $program --cases "$cases" --first "$first" --seed "$seed" ${seconds:+--seconds "$seconds"}
pids='' failed=0 job=0
while [ $job -lt "$jobs" ]; do
    begin=$((cases * job / jobs))
    $program --cases $((cases * (job + 1) / jobs - begin)) --first $((first + begin)) --seed "$seed" \
        ${seconds:+--seconds "$seconds"} > "$program.$job.log" 2>&1 &
    pids="$pids $!"
    job=$((job + 1))
done
for pid in $pids; do wait "$pid" || failed=1; done
job=0
while [ $job -lt "$jobs" ]; do
    grep '^FAILED\|^LEFT OVER\|^HANGS\|^CRASHED\|^[0-9]* cases\|SUMMARY' "$program.$job.log" || echo "$program.$job.log: no result"
    job=$((job + 1))
done
exit $failed
