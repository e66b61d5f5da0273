# Fails with a message if no OpenCL device can be used: usable.sh TOOL. Otherwise prints nothing. --self-test: runs stand-ins for
# the tool.
set -u
if [ "$1" = --self-test ]; then
    work=$(mktemp -d) || exit 1
    trap 'rm -rf "$work"' EXIT
    expect() { # COMMANDS OF THE TOOL, CODE, TEXT
        printf '#!/bin/sh\n%s\n' "$1" > "$work/tool"
        chmod +x "$work/tool"
        code=0
        said=$(POCL_CACHE_DIR=/dev/null/pocl sh "$0" "$work/tool" 2>&1) || code=1
        case $code:$said in
        "$2:"*"$3"*) ;;
        *) echo "usable: with '$1' it exits with $code and says: $said"; exit 1 ;;
        esac
    }
    expect "exit 0" 0 ""
    expect "echo because; kill -6 \$\$" 1 "with signal 6. Its message:
  because"
    expect "echo no device; exit 1" 1 "cache folder /dev/null/pocl"
    exit 0
fi
log=$(mktemp) || exit 1
trap 'rm -f "$log"' EXIT
code=0
"$1" devices > "$log" 2>&1 || code=$?
[ $code -ne 0 ] || exit 0
{
    if [ $code -gt 128 ]; then
        echo "The OpenCL implementation ended '$1 devices' with signal $((code - 128)). Its message:"
    else
        echo "'$1 devices' failed. Its message:"
    fi
    sed 's/^/  /' "$log"
# The folders that PoCL, the OpenCL for CPUs, needs.
    for folder in /proc/self /sys/devices/system/cpu; do
        [ -d $folder ] || echo "The folder $folder is missing. PoCL needs it: mount its file system."
    done
    if [ -n "${POCL_CACHE_DIR:-}" ]; then
        cache=$POCL_CACHE_DIR variable=POCL_CACHE_DIR
    elif [ -n "${XDG_CACHE_HOME:-}" ]; then
        cache=$XDG_CACHE_HOME/pocl variable=XDG_CACHE_HOME
    elif [ -n "${HOME:-}" ]; then
        cache=$HOME/.cache/pocl variable=HOME
    else
        exit 1
    fi
    mkdir -p "$cache" 2> /dev/null && [ -w "$cache" ] ||
        echo "PoCL has no device without its cache folder $cache, which cannot be written. Set POCL_CACHE_DIR to a folder that can ($variable names this one)."
    ls /etc/OpenCL/vendors/*.icd > /dev/null 2>&1 ||
        echo "No OpenCL implementation is installed: on Debian and Ubuntu, pocl-opencl-icd uses the CPU."
} >&2
exit 1
