#!/bin/sh
# The library's tests on the devices of tests/devices/told.list: `told.sh TESTS LIBRARY [quick | NAME...]`, with the test program and
# the reporting library. quick: the sample's patterns only. Prints a line for each device: passed, skipped (with reasons) and failed
# tests. Fails if a test failed, or a run ended without its summary. PATTERNS replaces the default patterns. SECONDS_A_RUN limits the
# time of a pattern. HALF=odd or HALF=even selects every second device. The logs are in build/told.
set -u
tests=$1 library=$(realpath "$2")
shift 2
quick=0
[ "${1:-}" != quick ] || { quick=1; shift; }
list=$(dirname "$0")/told.list
out=build/told failed=0 count=0 line=0
PATTERNS=${PATTERNS:-"told* shapes* seeds* moves* exchange* sequences* plan* launches* host_* execution* faults* bad_input* device_classes*
    stress* hostm* blocks* refusals* out_* limits* cut* workspace* cache* wisdom* axes* places_of_boxes places_of_two* record* batch* actions*"}
mkdir -p "$out" || exit 2
work=$(mktemp -d /tmp/told.XXXXXX) || exit 2 # a name without spaces and colons, at which LD_PRELOAD splits
ln -s "$library" "$work/told.so" || exit 2
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM

# topology BYTES: hwloc's description of this machine's CPUs, with private caches of BYTES bytes and a common cache.
topology() {
    awk -v l2="$1" -v count="$(nproc)" -v kilobytes="$(awk '$1 == "MemTotal:" { print $2 }' /proc/meminfo)" '
    function begin(type, index_, mask, rest) {
        printf "<object type=\"%s\"%s cpuset=\"%s\" complete_cpuset=\"%s\" nodeset=\"0x1\" complete_nodeset=\"0x1\" gp_index=\"%d\" %s>\n",
               type, index_ < 0 ? "" : " os_index=\"" index_ "\"", mask, mask, ++objects, rest
    }
    function cache(level, bytes, kind, mask) {
        begin("L" level "Cache", -1, mask, "cache_size=\"" bytes "\" depth=\"" level "\" cache_linesize=\"64\" cache_associativity=\"8\" cache_type=\"" kind "\"")
    }
    # hwloc writes 32 bits at a time, the highest first.
    function words(value, number, i, text) {
        for (i = number - 1; i >= 0; --i)
            text = text (text ? "," : "") sprintf("0x%08x", value[i])
        return text
    }
    BEGIN {
        number = int((count + 31) / 32)
        for (i = 0; i < count; ++i)
            every[int(i / 32)] += 2 ^ (i % 32)
        all = words(every, number)
        print "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!DOCTYPE topology SYSTEM \"hwloc2.dtd\">\n<topology version=\"2.0\">"
        begin("Machine", 0, all, "allowed_cpuset=\"" all "\" allowed_nodeset=\"0x1\"")
        begin("NUMANode", 0, all, "local_memory=\"" kilobytes "000\"")
        print "</object>"
        begin("Package", 0, all, "")
        cache(3, 4 * l2 < 33554432 ? 33554432 : 4 * l2, 0, all)
        for (i = 0; i < count; ++i) {
            for (w = 0; w < number; ++w)
                one[w] = w == int(i / 32) ? 2 ^ (i % 32) : 0
            cache(2, l2, 0, words(one, number))
            cache(1, 32768, 1, words(one, number))
            begin("Core", i, words(one, number), "")
            begin("PU", i, words(one, number), "")
            print "</object></object></object></object>"
        }
        print "</object></object></object></topology>"
    }'
}

bytes() {
    case $1 in
    *K) echo $((${1%K} * 1024)) ;;
    *M) echo $((${1%M} * 1048576)) ;;
    *) echo "$1" ;;
    esac
}

# run PATTERN LOG: runs tests with the device's reported values and environment.
run() {
    (
        emulator=
        for setting in $environment; do
            case $setting in
            CPU=*) emulator="qemu-x86_64 -cpu ${setting#CPU=}" ;;
            L2=*) topology "$(bytes "${setting#L2=}")" > "$work/topology.xml" && export HWLOC_XMLFILE="$work/topology.xml" ;;
            *) export "${setting?}" ;;
            esac
        done
        [ -z "$told" ] || export IPT_TOLD="$told" LD_PRELOAD="$work/told.so"
        TMPDIR="$work" timeout "${SECONDS_A_RUN:-1500}" $emulator "$tests" "$1"
        echo "ended with $?"
    ) > "$2" 2>&1
}

# Adds up the logs. A run without a summary, or without a test, counts as a failed test.
add_up() {
    awk '
    function end_file() {
        if (!file || (ended && ran && (code == 0) == !bad_here)) return
        ++failed
        bad = bad " " (running ? running : file) "(" (code == 124 ? "too slow" : "ended with " code) ")"
    }
    { sub(/\] ipt: /, "] ") } # cmocka 1.1.7 names the group
    FNR == 1 { end_file(); file = FILENAME; ended = ran = bad_here = 0; code = -1; running = "" }
    /^\[ RUN      \]/ { running = $4 }
    /^\[  REASON  \]/ && !ended { sub(/^\[  REASON  \] /, ""); ++reasons[$0] }
    /^\[==========\] [0-9]+ test\(s\) run/ { ended = 1; ran = $2; running = "" }
    /^\[  PASSED  \]/ { passed += $4 }
    /^\[  SKIPPED \] [0-9]+ test/ { skipped += $4 }
    /^\[  FAILED  \] [0-9]+ test/ { failed += $4; bad_here = 1; next }
    /^\[  FAILED  \]/ && ended { bad = bad " " $4 }
    /^ended with/ { code = $3 }
    END {
        end_file()
        for (reason in reasons)
            why = why (why ? "; " : "") reasons[reason] " x " reason
        printf "%d passed, %d skipped%s, %d failed%s\n", passed, skipped, why ? " (" why ")" : "", failed, bad ? ":" bad : ""
    }' "$@"
}

try() {
    rm -rf "${out:?}/$name"
    mkdir -p "$out/$name"
    begun=$(date +%s)
    set -f
    for pattern in $patterns; do
        run "$pattern" "$out/$name/$(echo "$pattern" | tr -d '*').log"
    done
    set +f
    said=$(add_up "$out/$name"/*.log)
    printf '%-15s %s, %d s\n' "$name" "$said" $(($(date +%s) - begun))
    count=$((count + 1))
    case $said in
    "0 passed"*) failed=1 ;;
    *" 0 failed") ;;
    *) failed=1 ;;
    esac
}

# Emulated processors are some 20 times slower, so they run only the tests of every kernel and every vector type. Prints
# why a processor cannot be emulated.
emulated() {
    case $environment in *CPU=*) ;; *) return 0 ;; esac
    [ "$(uname -m)" = x86_64 ] || { echo "$name: not tried: this machine is no x86-64"; return 1; }
    command -v qemu-x86_64 > /dev/null || { echo "$name: not tried: qemu-x86_64 is missing (package qemu-user)"; return 1; }
    patterns=${EMULATED:-"device_classes_m* execution_o* blocks* moves_e* out_*"}
}

wanted=" $* "
while IFS='|' read -r name told environment sample _; do
    name=$(echo $name) told=$(echo $told) patterns=$PATTERNS
    case $name in '' | '#'*) continue ;; esac
    line=$((line + 1))
    case ${HALF:-}$((line % 2)) in odd0 | even1) continue ;; esac
    if [ "$wanted" != "  " ]; then
        case $wanted in *" $name "*) ;; *) continue ;; esac
    fi
    [ $quick -eq 0 ] || patterns=$(set -f; echo $sample)
    [ -z "$patterns" ] || ! emulated || try < /dev/null
done < "$list"
[ $count -gt 0 ] || { echo "told: $list has no such device" >&2; exit 2; }
[ $failed -eq 0 ] || echo "told: FAILED, see the logs in $out"
exit $failed
