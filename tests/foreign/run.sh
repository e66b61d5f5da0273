#!/bin/sh
# The tests on other processors: `run.sh [quick] [arm64 | i386 | s390x]...`, to be run from the repository's root. Without names
# all three.
#   arm64   by an emulator, with Debian's PoCL
#   i386    size_t has 32 bits; on x86-64 without an emulator, with Debian's PoCL
#   s390x   big-endian, by an emulator, without OpenCL: formats and the tests on the OpenCL stub
# Unpacks Debian's packages for the processor into build/foreign/PROCESSOR/root, and changes nothing else on this machine. clang
# compiles for the processor. tests/foreign/tests.list has the tests. Machines exchange files in build/foreign/exchange: see
# tests/tool/test_formats.c. Prints a table for each processor, and fails if a test or its program failed. A processor whose
# packages are unavailable is recorded as skipped. quick: only formats and refusals.
set -u
base=$(pwd)/build/foreign
list=tests/foreign/tests.list
seconds=${SECONDS_A_SUBJECT:-600}
jobs=${JOBS:-2}
failed=0 quick=0
[ "${1:-}" != quick ] || { quick=1; shift; }
[ $# -gt 0 ] || set -- i386 s390x arm64
mkdir -p "$base/exchange" || exit 2
unset IPT_TOOL LD_PRELOAD
export IPT_DEVICE=opencl

# note REASON: the processor is skipped.
note() {
    sh tests/skipped.sh note "foreign, $name" "$1"
}

# Sets the processor's names and packages. s390x has no PoCL.
describe() {
    packages="libc6-dev libgcc-12-dev libcmocka-dev ocl-icd-libopencl1 ocl-icd-opencl-dev"
    case $name in
    arm64) triple=aarch64-linux-gnu emulator=qemu-aarch64 packages="$packages pocl-opencl-icd" ;;
    i386) triple=i386-linux-gnu emulator= packages="$packages pocl-opencl-icd" ;;
    s390x) triple=s390x-linux-gnu emulator=qemu-s390x ;;
    *) echo "foreign: $name is none of: arm64 i386 s390x" >&2; exit 2 ;;
    esac
    folder=$base/$name
    root=$folder/root
    build=build/foreign/$name/build
}

# Unpacks the packages and their dependencies, with a private apt configuration.
make_root() {
    [ ! -e "$folder/done" ] || return 0
    command -v apt-get > /dev/null && command -v dpkg-deb > /dev/null || { note "no apt-get here"; return 1; }
    rm -rf "$folder"
    mkdir -p "$folder/apt/lists/partial" "$folder/apt/archives/partial" "$root" || return 1
    : > "$folder/apt/status"
    cat > "$folder/apt/conf" << END
APT::Architecture "$name";
APT::Architectures { "$name"; };
APT::Sandbox::User "$(id -un)";
APT::Install-Recommends "false";
Acquire::Languages "none";
Debug::NoLocking "true";
Dir::State "$folder/apt";
Dir::State::status "$folder/apt/status";
Dir::State::lists "$folder/apt/lists/";
Dir::Cache "$folder/apt";
Dir::Log "$folder/apt";
END
    APT_CONFIG=$folder/apt/conf timeout 300 apt-get update > "$folder/apt/log" 2>&1
    # shellcheck disable=SC2086
    APT_CONFIG=$folder/apt/conf timeout 600 apt-get install -y --download-only $packages >> "$folder/apt/log" 2>&1 ||
        { note "apt-get found no packages for it: $(tail -n 1 "$folder/apt/log")"; return 1; }
    for package in "$folder"/apt/archives/*.deb; do
        dpkg-deb -x "$package" "$root" || { note "$package could not be unpacked"; return 1; }
    done
    rm -rf "$folder/apt"
    : > "$folder/done"
}

# script FILE LINE...: an executable script.
script() {
    file=$1
    shift
    { echo '#!/bin/sh'; printf '%s\n' "$@"; } > "$file"
    chmod +x "$file"
}

# Writes run, which runs a program of the processor, and ipt, which runs the tool.
make_scripts() {
    libraries=$root/lib/$triple:$root/usr/lib/$triple
    runs="exec $emulator -L '$root' \"\$@\""
# Programs of this machine that these programs start ignore 32-bit libraries.
    [ -n "$emulator" ] || runs="export LD_LIBRARY_PATH='$libraries'
exec \"\$@\""
    mkdir -p "$folder/bin" "$folder/vendors" "$folder/examples"
    find "$root" -name 'libpocl.so.2.*' > "$folder/vendors/pocl.icd"
# PoCL calls a linker, which must find the processor's libraries. qemu shows them only to the processor's programs.
    linker=$triple-ld
    [ "$name" = i386 ] && linker='/usr/bin/ld -m elf_i386'
    script "$folder/bin/ld" "exec $linker --sysroot='$root' -L'$root/usr/lib/$triple' -L'$root/lib/$triple' $(
        for gcc in "$root"/usr/lib/gcc/*/*; do echo "-L'$gcc'"; done) \"\$@\""
    script "$folder/run" "export OCL_ICD_VENDORS='$folder/vendors' POCL_CACHE_DIR='$folder/pocl' PATH='$folder/bin':\$PATH" "$runs"
    script "$folder/ipt" "exec '$folder/run' '$(pwd)/$build/ipt' \"\$@\""
}

# The examples, without those of MPI.
examples() {
    grep -L IPT_MPI examples/*.c
}

# Builds the tests, the tool and the examples for the processor.
make_programs() {
    target=$triple archiver=$triple-ar links="-lOpenCL -lpthread"
    [ -n "$emulator" ] || { target=i686-linux-gnu archiver=ar links="$links -Wl,--dynamic-linker=$root/lib/ld-linux.so.2"; }
    programs="$build/tests/ipt_tests $build/native/tests/ipt_tests $build/ipt"
    [ -z "$device" ] || programs="$programs $(for source in $(examples); do echo "$build/$(basename "${source%.c}" | sed 's,^,examples/,')"; done)"
    # shellcheck disable=SC2086
    ${MAKE:-make} --no-print-directory -j"$jobs" B="$build" CC="clang --target=$target --sysroot=$root" AR=$archiver \
        CFLAGS="-std=c99 -O1 -Wall -Wextra -Wpedantic" LDLIBS="$links" $programs > "$folder/build.log" 2>&1 || {
        echo "$name: FAILED to build: see $folder/build.log"
        return 1
    }
}

# Prints the processor's subjects with their patterns, one per line.
subjects() {
    "$@" --list | awk -v name="$name" -v quick=$quick '
    FNR == NR {
        if ($1 == name && NF > 1) {
            named[$2] = 1
            patterns[$2] = ""
            for (i = 3; i <= NF; ++i)
                patterns[$2] = patterns[$2] " " $i
        }
        next
    }
    !known[$1]++ { order[++count] = $1 }
    { tests[$1] = tests[$1] " " $2 }
    END {
        for (i = 1; i <= count; ++i) {
            subject = order[i]
            if (quick && subject !~ /^(formats|refusals)$/)
                continue
            if (subject in named)
                print subject patterns[subject]
            else if ("*" in named)
                print subject tests[subject] patterns["*"]
        }
    }' "$list" -
}

# Prints the line of a subject from its log. Returns 1 if a test failed, no test ran, or the program failed.
summary() {
    awk -v subject="$1" '
    { sub(/\] ipt: /, "] ") } # cmocka 1.1.7 names the group
    /^\[ RUN      \]/ { running = $4 }
    /^\[  REASON  \]/ && !ended { sub(/^\[  REASON  \] /, ""); ++reasons[$0] }
    /^\[==========\] [0-9]+ test\(s\) run/ { ended = 1; ran = $2; running = "" }
    /^\[  PASSED  \]/ { passed += $4 }
    /^\[  SKIPPED \] [0-9]+ test/ { skipped += $4 }
    /^\[  FAILED  \] [0-9]+ test/ { failed += $4; next }
    /^\[  FAILED  \]/ && ended { bad = bad " " $4 }
    /^ended with/ { code = $3 }
    END {
        if (!ended || !ran || (code == 0) != !failed) {
            ++failed
            bad = bad " " (running ? running : subject) "(" (code == 124 ? "too slow" : "ended with " code) ")"
        }
        for (reason in reasons)
            why = why (why ? "; " : "") reasons[reason] " x " reason
        printf "  %-16s %6d %8d %7d  %s\n", subject, passed, skipped, failed, (bad ? "FAILED:" bad " " : "") why
        exit failed > 0
    }' "$2"
}

# Other tests than test programs: `step NAME COMMAND...` prints a line.
step() {
    step=$1
    shift
    if "$@" > "$folder/$step.log" 2>&1; then
        printf '  %-16s %6d %8d %7d\n' "$step" 1 0 0
    else
        printf '  %-16s %6d %8d %7d  %s\n' "$step" 0 0 1 "FAILED: see $folder/$step.log"
        tail -n 3 "$folder/$step.log" | sed 's/^/    /'
        failed=1
    fi
}

# The corpora of tests/fuzz, without sanitizers, which are unavailable for these processors.
corpus() {
    for target in npy pictures cache journal wisdom plan actions; do
        case $target in
        cache) files="tests/support/fake_cl.c" ;;
        npy) files="gen/tool/npy/npy.c gen/tool/base/numbers.c" ;;
        pictures) files="gen/tool/picture/netpbm.c gen/tool/picture/exif.c gen/tool/npy/npy.c gen/tool/base/numbers.c" ;;
        actions) files="gen/tool/command/batch_spec.c gen/tool/base/numbers.c gen/tool/base/text.c gen/tool/base/system.c" ;;
        journal) files="gen/tool/store/journal.c gen/tool/base/text.c gen/tool/base/system.c" ;;
        *) files= ;;
        esac
        # shellcheck disable=SC2086
        clang --target="$triple" --sysroot="$root" -std=c99 -O1 -DIPT_NO_NATIVE -I. -DFUZZ_REPLAY -o "$folder/corpus" "tests/fuzz/$target.c" $files -ldl -lpthread 2> "$folder/corpus.log" ||
            { cat "$folder/corpus.log"; return 1; }
        timeout "$seconds" "$folder/run" "$folder/corpus" tests/fuzz/corpus/$target/* || { echo "$target failed"; return 1; }
    done
}

# native: this machine's tests of formats, before and after the other machines' tests.
native() {
    name=native folder=$base/native
    mkdir -p "$folder"
    step "formats-$1" timeout "$seconds" env IPT_TEST_EXCHANGE="$base/exchange" IPT_TEST_WITHOUT_DEVICE=1 build/tests/ipt_tests 'formats*'
}

try() {
    device=1
    [ "$name" != s390x ] || device=
    [ -z "$emulator" ] || command -v "$emulator" > /dev/null || { note "$emulator is missing (package qemu-user)"; return; }
    [ -n "$emulator" ] || [ "$(uname -m)" = x86_64 ] || { note "this machine is no x86-64"; return; }
    command -v clang > /dev/null || { note "clang is missing"; return; }
    [ "$name" = i386 ] || command -v "$triple-ld" > /dev/null || { note "$triple-ld is missing (package binutils-$triple)"; return; }
    make_root || return
    make_scripts
    make_programs || { failed=1; return; }
    begun=$(date +%s)
    [ -n "$device" ] && what=$("$folder/ipt" devices 2> /dev/null | sed -n 's/^ *OpenCL/OpenCL/p' | head -n 1) || what="no OpenCL device"
    echo "$name, by ${emulator:-this processor}: $what"
    printf '  %-16s %6s %8s %7s\n' subject passed skipped failed
    subjects "$folder/run" "$build/tests/ipt_tests" > "$folder/subjects"
    while read -r subject patterns; do
        (
            set -f
            export IPT_TEST_EXCHANGE="$base/exchange" IPT_TOOL="$folder/ipt"
            [ -n "$device" ] || export IPT_TEST_WITHOUT_DEVICE=1
            # shellcheck disable=SC2086
            timeout "$seconds" "$folder/run" "$build/tests/ipt_tests" $patterns < /dev/null > "$folder/$subject.log" 2>&1
            echo "ended with $?" >> "$folder/$subject.log"
        )
        summary "$subject" "$folder/$subject.log" || failed=1
    done < "$folder/subjects"
    if [ -n "$device" ] && [ $quick -eq 0 ]; then
        for source in $(examples); do
            example=$(basename "${source%.c}")
            script "$folder/examples/$example" "exec '$folder/run' '$(pwd)/$build/examples/$example' \"\$@\""
        done
        step examples timeout "$seconds" sh tests/examples.sh "$folder/examples"
    fi
    [ $quick -eq 1 ] || step native timeout "$seconds" env -u IPT_DEVICE "$folder/run" "$build/native/tests/ipt_tests" 'host_one_line' 'moves_flips' \
        'moves_squares' 'shapes_small' 'axes_many' 'axes_doubles' 'views_random' 'thin_limits' 'cut_memory'
    [ "$name" != s390x ] || step corpora corpus
    echo "  $(($(date +%s) - begun)) s"
}

rm -f "$base"/exchange/journal-* "$base"/exchange/wisdom-*
rm -rf "$base"/exchange/cache-*
echo "this machine"
native before
for name in "$@"; do
    describe
    try
done
echo "this machine"
native after
[ $failed -eq 0 ] || echo "foreign: FAILED"
exit $failed
