#!/bin/sh
# The tests on other OpenCL implementations than that of `make check`: `opencls.sh [NAME...]`, from the repository's root,
# with build/tests/ipt_tests and build/ipt. Without names, all except PoCL:
#   intel     Intel's runtime for CPUs, from PyPI
#   rusticl   Mesa's on llvmpipe
#   clover    Mesa's older one
#   pocl      Debian's PoCL, as `make check` has it
# The script downloads missing implementations into build/opencls and unpacks them there. It does not install: Debian's
# mesa-opencl-icd would replace libclc-14, which the tests for offline compilation need. It prints a line for each device: the
# numbers of passed, skipped and failed tests, or that ipt refuses the device. A refusal means no context,
# IPT_ERROR_UNSUPPORTED, and an unchanged matrix. The script fails if a present device fails a test or a refusal differs. An
# unavailable implementation is reported as missing and is no failure. PATTERNS selects other tests.
set -u
out=$(pwd)/build/opencls
tests=$(pwd)/build/tests/ipt_tests
PYTHON=${PYTHON:-/usr/bin/python3}
# All tests that use the device: not maths, heuristics, offline, and the tests on the OpenCL stub.
PATTERNS=${PATTERNS:-"shapes* seeds* moves* sequences* plan* host_* execution* faults* bad_input* device_classes* stress*
    hostm* blocks* refusals* out_* cut* cache* wisdom* axes* batch* actions* tool* test_*"}
seconds=300 # for the tests of a pattern
failed=0 ran=0 refused=0 missing=0
[ -x "$tests" ] && [ -x build/ipt ] || { echo "opencls: run 'make all tests' first" >&2; exit 2; }
mkdir -p "$out" || exit 2
# Do not use the user's cache of PoCL.
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM

# Reports the result of ipt for each device that the loader finds: a line with its name, the result and the message.
make_probe() {
    cat > "$out/probe.c" << 'PROBE'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define IPT_IMPLEMENTATION
#include "ipt.h"

enum { ROWS = 1000, COLS = 777 };
static unsigned before[ROWS * COLS], matrix[ROWS * COLS];

static const char *verdict(cl_device_id device)
{
    ipt_context_desc desc = {0};
    ipt_context *context = (ipt_context *)matrix;
    ipt_result made, result;
    size_t i, wrong = 0;
    for (i = 0; i < ROWS * COLS; ++i)
        matrix[i] = before[i] = (unsigned)i * 2654435761u;
    desc.device = device;
    made = ipt_context_create(&desc, &context);
    if (made && context)
        return "wrong: a context in spite of an error";
    ipt_context_destroy(context);
    if (made && made != IPT_ERROR_UNSUPPORTED)
        return "error";
    result = ipt_transpose(matrix, ROWS, COLS, sizeof *matrix);
    for (i = 0; i < ROWS * COLS; ++i)
        wrong += matrix[i] != (result ? before[i] : before[i % ROWS * COLS + i / ROWS]);
    return wrong                                  ? "wrong: content"
           : result != made                       ? "wrong: ipt_transpose says something else"
           : made && !*ipt_context_error(NULL)    ? "wrong: no message"
           : made                                 ? "refused"
                                                  : "works";
}

int main(void)
{
    cl_platform_id platforms[16];
    cl_device_id devices[16];
    cl_uint platform_count = 0, device_count, p, d;
    if (clGetPlatformIDs(16, platforms, &platform_count))
        platform_count = 0;
    for (p = 0; p < platform_count; ++p) {
        char name[512] = "", version[512] = "", device[512] = "", driver[512] = "";
        clGetPlatformInfo(platforms[p], CL_PLATFORM_NAME, sizeof name, name, NULL);
        clGetPlatformInfo(platforms[p], CL_PLATFORM_VERSION, sizeof version, version, NULL);
        if (clGetDeviceIDs(platforms[p], CL_DEVICE_TYPE_ALL, 16, devices, &device_count) || !device_count)
            printf("%s, %s\tno device\t\n", name, version);
        else
            for (d = 0; d < device_count; ++d) {
                const char *said;
                clGetDeviceInfo(devices[d], CL_DEVICE_NAME, sizeof device, device, NULL);
                clGetDeviceInfo(devices[d], CL_DRIVER_VERSION, sizeof driver, driver, NULL);
                said = verdict(devices[d]);
                printf("%s, %s, %s, driver %s\t%s\t%s\n", name, version, device, driver, said,
                       strcmp(said, "works") ? ipt_context_error(NULL) : "");
            }
        fflush(stdout);
    }
    return 0;
}
PROBE
    ${CC:-cc} -std=c99 -O1 -DIPT_NO_NATIVE -I. -o "$out/probe" "$out/probe.c" -lOpenCL -lpthread || exit 2
}

# fetch NAME: sets library to the implementation's library, and libraries to a folder of its dependencies. Returns 1 and
# sets reason if the implementation is unavailable.
fetch() {
    libraries=
    reason=
    case $1 in
    intel)
        [ -d "$out/venv" ] || "$PYTHON" -m venv "$out/venv" > "$out/pip.log" 2>&1 ||
            { rm -rf "$out/venv"; reason="no virtual environment (python3-venv)"; return 1; }
# The runtime's package does not require the compiler libraries that the runtime needs.
        [ -n "$(find -H "$out/venv" -name libsvml.so)" ] ||
            timeout 300 "$out/venv/bin/pip" install -q intel-opencl-rt intel-cmplr-lib-rt > "$out/pip.log" 2>&1 ||
            { reason="pip could not install intel-opencl-rt: $(tail -n 1 "$out/pip.log")"; return 1; }
        library=$(find -H "$out/venv" -name libintelocl.so | head -n 1)
        ;;
    rusticl | clover)
        [ -d "$out/mesa" ] || unpack_mesa || return 1
        [ $1 = rusticl ] && library=libRusticlOpenCL.so.1 || library=libMesaOpenCL.so.1
        library=$(find -H "$out/mesa" -name $library | head -n 1)
        libraries=$(dirname "$library")
        ;;
    pocl)
        library=$(sed -n 1p /etc/OpenCL/vendors/pocl.icd 2> /dev/null)
        ;;
    *)
        echo "opencls: $1 is none of: intel rusticl clover pocl" >&2
        exit 2
        ;;
    esac
    [ -n "$library" ] || { reason="no library of it"; return 1; }
}

unpack_mesa() {
    reason="no apt-get download of mesa-opencl-icd"
    command -v apt-get > /dev/null && command -v dpkg-deb > /dev/null || return 1
    packages="mesa-opencl-icd $(apt-cache depends mesa-opencl-icd | awk '$1 == "Depends:" && $2 ~ /^libllvmspirvlib/ { print $2 }')"
    rm -rf "$out/debs"
    mkdir -p "$out/debs"
    (cd "$out/debs" && timeout 200 apt-get download $packages) > "$out/apt.log" 2>&1 || return 1
    for package in "$out"/debs/*.deb; do
        dpkg-deb -x "$package" "$out/mesa.new" || return 1
    done
    mv "$out/mesa.new" "$out/mesa"
}

# within COMMAND...: runs the command with this implementation only.
within() {
    env OCL_ICD_VENDORS="$out/vendors.$name" LD_LIBRARY_PATH="$libraries" RUSTICL_ENABLE=llvmpipe \
        GALLIUM_PIPE_SEARCH_DIR="$libraries/gallium-pipe" TMPDIR="$work" IPT_CACHE_DIR= "$@"
}

# Runs the tests of all patterns, two patterns at a time, and prints the numbers of passed, skipped and failed tests.
run_tests() {
    rm -rf "${out:?}/$name"
    mkdir -p "$out/$name"
    set -f
    for pattern in $PATTERNS; do
        echo "$pattern"
    done | within xargs -P 2 -I PATTERN sh -c '
        log=$3/$(echo "$2" | tr -d "*").log
        timeout "$4" "$1" "$2" > "$log" 2>&1
        echo "ended with $?" >> "$log"' sh "$tests" PATTERN "$out/$name" $seconds
    set +f
    # A pattern whose summary is missing or names no test counts as one failed test.
    counted=$(awk '
        function close_file() {
            if (!file) return
            if (!ended || !tests || (!file_failed && code != 0)) { failed++; bad = bad " " file "(" (code == 124 ? "too slow" : "ended with " code) (running ? " in " running : "") ")" }
        }
        { sub(/\] ipt: /, "] ") } # cmocka 1.1.7 names the group
        FNR == 1 { close_file(); file = FILENAME; sub(/.*\//, "", file); sub(/\.log$/, "", file); ended = tests = file_failed = code = 0; running = "" }
        /^\[ RUN      \]/ { running = $4 }
        /^\[==========\] [0-9]+ test\(s\) run/ { ended = 1; tests = $2; running = "" }
        /^\[  PASSED  \]/ { passed += $4 }
        /^\[  SKIPPED \] [0-9]+ test/ { skipped += $4 }
        /^\[  FAILED  \] [0-9]+ test/ { failed += $4; file_failed = 1; listing = 1; next }
        /^\[  FAILED  \]/ && ended { bad = bad " " $4 }
        /^ended with/ { code = $3 }
        END { close_file(); printf "%d passed, %d skipped, %d failed%s\n", passed, skipped, failed, bad ? ":" bad : "" }' \
        "$out/$name"/*.log)
}

# try NAME: prints the lines of an implementation.
try() {
    name=$1
    if ! fetch $name; then
        sh tests/skipped.sh note "$name" "$reason"
        missing=$((missing + 1))
        return
    fi
    mkdir -p "$out/vendors.$name"
    echo "$library" > "$out/vendors.$name/$name.icd"
    begun=$(date +%s)
    within timeout 120 "$out/probe" > "$out/$name.probe" 2> "$out/$name.probe.log"
    code=$?
    if [ $code -ne 0 ]; then
        echo "$name: FAILED: the first look at it ended with $code, see $out/$name.probe.log"
        failed=1
    elif [ ! -s "$out/$name.probe" ]; then
        sh tests/skipped.sh note "$name" "it does not load:$(LD_LIBRARY_PATH=$libraries ldd "$library" 2>&1 | grep 'not found' | tr -s '\n\t' ' ')"
        missing=$((missing + 1))
    fi
    works=0
    while IFS=$(printf '\t') read -r device said message; do
        case $said in
        works) works=1 ;;
        refused)
            echo "$name: $device: refused: $message"
            refused=$((refused + 1))
            ;;
        "no device")
            echo "$name: $device: missing: it has no device here"
            missing=$((missing + 1))
            ;;
        *)
            echo "$name: $device: FAILED: $said: $message"
            failed=1
            ;;
        esac
        [ "$said" != works ] || label=$device
    done < "$out/$name.probe"
    [ $works -eq 1 ] || return
    run_tests
    echo "$name: $label: $counted, $(($(date +%s) - begun)) s"
    ran=$((ran + 1))
    case $counted in
    "0 passed"*) failed=1 ;;
    *" 0 failed") ;;
    *) failed=1 ;;
    esac
}

make_probe
[ $# -gt 0 ] || set -- intel rusticl clover
for implementation in "$@"; do
    try $implementation
done
echo "opencls: $ran ran the tests, $refused refused, $missing missing$([ $failed -eq 0 ] || echo ', and something FAILED')"
exit $failed
