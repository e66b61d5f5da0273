#!/bin/sh
# Builds the library, the tool, the examples and the tests for Windows with mingw-w64, and runs them under Wine on the host's
# OpenCL: `run.sh full | quick [SUBJECT...]`, from the repository's root. quick: the sample of tests/sample.list. The lists
# EXAMPLES and SUPPORT are those of the makefiles. Prints a line for each subject, then the reasons of skipped tests.
# Tests skip themselves where Windows has no counterpart of a POSIX function (tests/windows/posix.c), or by
# tests/windows/skipped.list. A failed, crashed or missing test is a failure.
set -u

# Disables random addresses, with which a few of thousands of programs fail to start: "failed to map the shared user data: c0000018"
# (Wine 8.0, also for a program that only prints a word).
[ -n "${IPT_FIXED_ADDRESSES:-}" ] || ! setarch "$(uname -m)" -R true 2> /dev/null ||
    IPT_FIXED_ADDRESSES=1 exec setarch "$(uname -m)" -R sh "$0" "$@"

form=${1:-full}
[ $# -eq 0 ] || shift
root=$(pwd)
out=$root/build/windows
seconds=1500 # for a subject
mkdir -p "$out" || exit 2

stop() { # WHY: nothing can run
    echo "windows: $1"
    [ "$form" = quick ] || exit 1
    sh tests/skipped.sh note windows-quick "$1"
    exit 0
}

wine=$(command -v wine64 || ls /usr/lib/wine/wine64 2> /dev/null || command -v wine) || stop "Wine is not installed"
command -v x86_64-w64-mingw32-gcc > /dev/null || stop "mingw-w64 is not installed"

# Fetches cmocka's source from the distribution. Uses its own package lists: most systems have none for sources.
fetch_cmocka() {
    mkdir -p "$out/apt/parts" "$out/apt/lists/partial" "$out/apt/cache/archives/partial" || return 1
    for list in /etc/apt/sources.list /etc/apt/sources.list.d/*.list /etc/apt/sources.list.d/*.sources; do
        [ -f "$list" ] || continue
        sed -n -e '/^#/d' -e 's/^deb /deb-src /p;t' -e 's/^Types:.*/Types: deb-src/' -e '/^deb-src /!p' "$list" \
            > "$out/apt/parts/${list##*/}"
    done
    set -- -o Dir::Etc::sourcelist=/dev/null -o Dir::Etc::sourceparts="$out/apt/parts" -o Dir::State::lists="$out/apt/lists" \
        -o Dir::Cache="$out/apt/cache"
    (cd "$out/apt" && apt-get "$@" update && apt-get "$@" source --download-only cmocka) > "$out/apt/log" 2>&1 || return 1
    mkdir -p "$out/cmocka.new" &&
        tar -xf "$(ls "$out"/apt/cmocka_*.orig.tar.* | grep -v '\.asc$' | head -n 1)" -C "$out/cmocka.new" --strip-components 1 &&
        sed -i 's/__printf__/gnu_printf/' "$out/cmocka.new/include/cmocka.h" && # mingw-w64's own, with %zu
        mv "$out/cmocka.new" "$out/cmocka"
}
[ -d "$out/cmocka" ] || fetch_cmocka || stop "the source of cmocka is unavailable: $(tail -n 1 "$out/apt/log")"

echo "windows: building with $(x86_64-w64-mingw32-gcc -dumpmachine) $(x86_64-w64-mingw32-gcc -dumpversion), running under $("$wine" --version 2> /dev/null)"
${MAKE:-make} -s -j2 -f tests/windows/Makefile EXAMPLES="$EXAMPLES" SUPPORT="$SUPPORT" > "$out/build.log" 2>&1 ||
    { tail -n 30 "$out/build.log"; echo "windows: the build failed"; exit 1; }

work=$(mktemp -d) || exit 2
server= # Wine's server, if it must run until the end
trap '[ -z "$server" ] || "$server" -k; rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
mkdir -p "$work/tmp" "$work/logs"
WINEPREFIX=$out/prefix WINEDEBUG=-all TMPDIR=$work/tmp IPT_CACHE_DIR=none IPT_TOOL=$out/ipt.exe
export WINEPREFIX WINEDEBUG TMPDIR IPT_CACHE_DIR IPT_TOOL
timeout 300 "$wine" "$out/ipt.exe" devices > "$work/devices" 2>&1 || stop "no OpenCL device under Wine: $(tail -n 1 "$work/devices")"
failed=0

# Wine's server ends a few seconds after the last program. A program that starts at that moment may fail with "wine client
# error:0: recvmsg: Connection reset by peer" (Wine 8.0, rarely, even a program that only prints a word).
server=$(command -v wineserver || ls /usr/lib/wine/wineserver 2> /dev/null)
[ -z "$server" ] || "$server" -p

# The libraries, the examples, and a user with a non-ASCII name.
cp "$out/ipt.dll" "$work/"
for form_of_library in dll static; do
    cp "$out/with_$form_of_library.exe" "$work/"
    for driver in opencl native; do
        (cd "$work" && IPT_DEVICE=$driver timeout 300 "$wine" ./with_$form_of_library.exe) > "$work/log" 2>&1 ||
            { echo "windows: a program with the $form_of_library library failed on $driver: $(tail -n 1 "$work/log")"; failed=1; }
    done
done
functions() { sed -n '/ipt_mpi_/d; s/^IPT_API\(_INLINE\)* [^(]*[ *]\(ipt_[a-z][a-z_]*\)(.*/\2/p' ipt.h | sort -u; }
x86_64-w64-mingw32-objdump -p "$out/ipt.dll" | awk '/Ordinal\/Name Pointer/ { on = 1 } on && /^\t\[/ { print $NF }' | sort -u > "$work/exported"
functions | cmp -s - "$work/exported" || { echo "windows: ipt.dll exports other functions than ipt.h's"; failed=1; }
RUN="timeout 300 $wine" SUFFIX=.exe sh tests/examples.sh "$out/examples" || failed=1

# One subject, in a process of its own.
cat > "$work/subject.sh" << 'END'
subject=$1
log=$work/logs/$subject
wanted=$(awk -v subject="$subject" 'FILENAME == ARGV[1] { left_out[$1] = 1; next } $1 == subject && !($2 in left_out) { print $2 }' "$work/left_out" "$work/list")
begin=$(date +%s)
if [ -n "$wanted" ]; then
    timeout $seconds "$wine" "$out/ipt_tests.exe" $wanted < /dev/null > "$log" 2>&1
    code=$?
else
    : > "$log"
    code=0
fi
wanted=$(echo $wanted | wc -w)
passed=$(grep -c '^\[       OK \]' "$log")
skipped=$(sed -n 's/^\[  SKIPPED \] \([0-9]*\) test.*/\1/p' "$log" | tail -n 1)
skipped=${skipped:-0}
failures=$((wanted - passed - skipped))
[ $code -eq 0 ] || [ "$failures" -gt 0 ] || failures=1
left_out=$(awk -v subject="$subject" 'FILENAME == ARGV[1] { left_out[$1] = 1; next } $1 == subject && $2 in left_out' "$work/left_out" "$work/list" | wc -l)
line=$(printf '%-16s %7d %8d %7d %6ds' "$subject" "$passed" $((skipped + left_out)) "$failures" $(($(date +%s) - begin)))
echo "$line"
echo "$line" >> "$work/table"
END
export work out seconds wine
timeout 300 "$wine" "$out/ipt_tests.exe" --list > "$work/listed" 2> "$work/why"
code=$?
tr -d '\r' < "$work/listed" > "$work/all"
[ -s "$work/all" ] || { echo "windows: the tests do not start: exit code $code, $(tail -n 3 "$work/why")"; exit 1; }
if [ "$form" = quick ]; then
    awk '/^#/ { next } NR == FNR { for (i = 2; i <= NF; ++i) { pattern = $i; gsub(/[*]/, ".*", pattern); patterns[$1] = patterns[$1] "|^" pattern "$" } next }
        $2 ~ substr(patterns[$1], 2)' tests/sample.list "$work/all" > "$work/list"
else
    cp "$work/all" "$work/list"
fi
# skipped.list: patterns of tests, and why.
grep -v '^#' tests/windows/skipped.list | while read -r pattern why; do
    awk '{ print $2 }' "$work/list" | grep -x "$(echo "$pattern" | sed 's/[*]/.*/g')" | sed "s|\$| $why|"
done > "$work/left_out"
: > "$work/table"
printf '%-16s %7s %8s %7s %7s\n' subject passed skipped failed time
subjects=$(awk '{ print $1 }' "$work/list" | sort -u)
[ $# -eq 0 ] || subjects=$*
echo "$subjects" | tr ' ' '\n' | xargs -P 2 -I SUBJECT sh "$work/subject.sh" SUBJECT
awk '{ passed += $2; skipped += $3; failed += $4 } END { printf "%-16s %7d %8d %7d\n", "all", passed, skipped, failed; exit failed > 0 || !passed }' \
    "$work/table" || failed=1

echo "Skipped, with the numbers of tests:"
{ sed -n 's/^\[  REASON  \] \([0-9]*\) skipped: /\1 /p' "$work"/logs/* | tr -d '\r'
  cut -d ' ' -f 2- "$work/left_out" | sed 's/^/1 /'; } |
    awk '{ count = $1; sub(/^[0-9]* /, ""); counts[$0] += count } END { for (why in counts) printf "%7d  %s\n", counts[why], why }' | sort -rn
if [ $failed -ne 0 ]; then
    grep -h -e '^\[  FAILED  \] [a-z]' -e '^\[   LINE' -e '^\[  ERROR' "$work"/logs/* | head -n 60
    rm -rf "$out/logs" && cp -r "$work/logs" "$out/logs"
    echo "windows: failed; the output is in build/windows/logs"
    exit 1
fi
