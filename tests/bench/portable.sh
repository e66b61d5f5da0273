#!/bin/sh
# Compiles the programs of some shapes for a device with clang, and compares them with programs of the device's compiler.
# Arguments: the tool, the program `portable`, a folder.
#
# TARGET=ptx:sm_80: clang's target (default: one for the selected device). PROFILE=FILE: the profile of an absent device;
# only fills the folder. RUN=1: only runs the programs in the folder.
set -eu
tool=$1 portable=$2 folder=$3
if [ -z "${TARGET:-}" ]; then
    case $($tool devices --profile) in *"vendor NVIDIA"*) TARGET=ptx:sm_80 ;; *) TARGET=bitcode ;; esac
fi
case $TARGET in
bitcode) shapes="${SHAPES:-1000x777:4 777x1000:8 1024x1024:4 50x70:4*1000 3000x20:4}" ;;
*) shapes="${SHAPES:-10000x7770:4 7770x10000:8 12000x12000:4 1200x1100:4 32x24:4*100000 2000000x20:4 5000x7001:1}" ;;
esac
if [ "${RUN:-0}" != 1 ]; then
    rm -rf "$folder"
    for shape in $shapes; do
        batch=1
        case $shape in *\**) batch=${shape#*\*} ;; esac
        $tool precompile "${shape%\**}" --batch "$batch" --target "$TARGET" ${PROFILE:+--profile "$PROFILE"} -o "$folder"
    done
fi
[ -z "${PROFILE:-}" ] || exit 0
heading=1p
for shape in $shapes; do
    # The driver's cache starts empty.
    POCL_CACHE_DIR=$(mktemp -d)
    export POCL_CACHE_DIR CUDA_CACHE_DISABLE=1
    $portable "$folder" "$shape" > "$folder.out" || failed=1
    rm -rf "$POCL_CACHE_DIR"
    sed -n -e "${heading:-}" -e '2,$p' "$folder.out"
    heading=
done
rm -f "$folder.out"
exit "${failed:-0}"
