# The library's own tests on the first device of CUDA: `suite.sh TESTS FOLDER [memcheck|racecheck|synccheck]`, with their program
# for CUDA, build/cuda/ipt_tests, and a folder for logs. Each test is a process, and as many run at a time as there are processors. With the name of
# a tool of compute-sanitizer, the tests whose kernels it can watch run under it. SUBJECTS="thin ..." names some subjects of tests.
# Prints the tests that fail or are skipped, and a summary.
set -eu
unset IPT_DEVICE
tests=$(realpath "$1") folder=$2 tool=${3:-}
root=$(cd "$(dirname "$0")/../.." && pwd)
subjects=${SUBJECTS:-}
watched="shapes seeds moves axes views thin places batch actions registers exchange sequences pitch columns out_of_place workspace"
rm -rf "$folder"
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
cd "$root"
export IPT_TEST_SKIPPED="$folder/skipped"
# Tests of the tool start processes, whose device is OpenCL's.
[ -z "$tool" ] || [ -n "$subjects" ] || subjects=$watched
"$tests" --list 2> "$folder/list" | awk -v subjects="$subjects" '
    $1 ~ /^(tool.*|files|pictures|offline|formats|encoded|messages|batches)$/ { next }
    subjects == "" || index(" " subjects " ", " " $1 " ") { print $2 }' > "$folder/names"
export tests folder tool
xargs -P "$(nproc)" -I NAME sh -c '
    timeout 900 ${tool:+compute-sanitizer --tool $tool --error-exitcode 9} "$tests" NAME > "$folder/NAME.log" 2>&1 ||
        echo "test NAME failed" >> "$folder/NAME.log"' < "$folder/names"
cat "$folder"/*.log | awk -v tool="$tool" '
    /^\[       OK \]/ { passed += 1 }
    /^\[  SKIPPED \] 1 test/ { skipped += 1 }
    /^\[  REASON  \] [0-9]+ skipped/ { print }
    /^test [a-z_0-9]+ failed$/ { failed += 1; print }
    /SUMMARY: [^0]|Sanitizer will be disabled/ { failed += 1; print }
    END {
        printf "suite%s: %d passed, %d skipped, %d failed\n", tool == "" ? "" : " under " tool, passed, skipped, failed
        exit failed || !passed
    }'
