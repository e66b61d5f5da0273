# The tool on CUDA's driver, without NVRTC, too. Usage: tests/cuda/tool.sh TOOL FOLDER. The environment names the stand-in.
set -eu
tool=$1 folder=$2
rm -rf "$folder"
mkdir -p "$folder"
fail() {
    echo "tool.sh: $1" >&2
    exit 1
}
on_cuda() { # a command, and what its output must have
    "$tool" $1 --device cuda --cache "" > "$folder/output" 2>&1 || fail "$1: $(cat "$folder/output")"
    grep -q -e "$2" "$folder/output" || fail "$1: no '$2' in: $(cat "$folder/output")"
}
on_cuda devices "platform CUDA"
on_cuda "plan 300x177:4" "in place: .* stage"
on_cuda "bench 300x177:4 --rounds 1" "on stand-in"
on_cuda "bench 300x177:4 --rounds 1" "; verified"
on_cuda "bench 40x30:2 --rounds 1 --out-of-place --pitch 128" "; verified"
on_cuda "tune 300x177:4" "^transpose rows=300 cols=177 "
! "$tool" plan 300x177:4 --device cuda:7 > "$folder/output" 2>&1 || fail "a device of number 7 was found"
grep -q "no CUDA device has this name: cuda:7" "$folder/output" || fail "$(cat "$folder/output")"

# A NumPy file: its version, the header's 118 bytes, 300 x 177 numbers.
printf '\223NUMPY\001\000v\000%-117s\n' "{'descr': '<f4', 'fortran_order': False, 'shape': (300, 177), }" > "$folder/x.npy"
head -c 212400 /dev/urandom >> "$folder/x.npy"
cp "$folder/x.npy" "$folder/native.npy"
on_cuda "transpose $folder/x.npy --verbose" "transposed"
"$tool" transpose "$folder/native.npy" --device native
cmp "$folder/x.npy" "$folder/native.npy" || fail "CUDA and the native driver differ"

# Compiled for another machine: only the profile is from here. The stand-in is of compute capability 3.1. From then on without
# NVRTC: the text that names the driver differs, too.
ship() {
    "$tool" devices --profile --device cuda --cache "" > "$folder/profile"
    for processor in sm_30 sm_31 sm_32 sm_90; do
        "$tool" precompile 300x177:4 --profile "$folder/profile" --target cuda:$processor -o "$folder/$processor" > "$folder/output"
    done
    "$tool" precompile 300x177:4 640x641:4 --profile "$folder/profile" --target cuda:sm_30 --embed "$folder/cuda_programs.h" \
        > "$folder/output"
    for processor in sm_30 sm_31; do
        IPT_NVRTC_LIBRARY=/nonexistent "$tool" bench 300x177:4 --rounds 1 --device cuda --cache "$folder/$processor" \
            > "$folder/output" 2>&1 && grep -q "; verified" "$folder/output" || return 1
    done
}
# On a busy machine the profile may count fewer work-groups at a time than the bench: their plans differ then.
ship || ship || ship || fail "$processor: $(cat "$folder/output")"
export IPT_NVRTC_LIBRARY=/nonexistent
for processor in sm_32 sm_90 none; do # newer devices', another major version's, none
    ! "$tool" bench 300x177:4 --rounds 1 --device cuda --cache "$folder/$processor" > "$folder/output" 2>&1 ||
        fail "code for $processor ran on 3.1"
    grep -q "the device has no compiler" "$folder/output" || fail "$(cat "$folder/output")"
done
! "$tool" precompile 300x177:4 --profile "$folder/profile" --target cuda:sm_30 -o "$folder/no" > "$folder/output" 2>&1 ||
    fail "NVRTC compiled without being there"
grep -q "NVRTC cannot be loaded" "$folder/output" || fail "$(cat "$folder/output")"
${CC:-gcc} -std=gnu11 -O1 -Wall -Wextra -Wpedantic -Werror -Wno-unused-function -I. -Itests/support -I"$folder" -o "$folder/embedded" \
    tests/cuda/embedded.c -lpthread -ldl
"$folder/embedded" || fail "the embedded programs do not run"
echo "the tool on CUDA: passed"
