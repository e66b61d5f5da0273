#!/bin/sh
# The libraries that IPT_OPENCL_DYNAMIC loads, as for Linux, macOS and Android, and a named one. Usage: tests/compile/loading.sh FOLDER
set -eu
mkdir -p "$1/OpenCL"
echo '#include <CL/cl.h>' >"$1/OpenCL/cl.h" # the path on macOS
for system in "" -D__APPLE__ -D__ANDROID__; do
    ${CC:-gcc} -std=c99 -O0 -Wall -Wextra -Wpedantic -Werror -DIPT_NO_NATIVE $system -I. -I"$1" -o "$1/loading" tests/compile/loading.c -ldl -lpthread
    "$1/loading"
done
# A library without most functions.
echo 'int clGetPlatformIDs(void) { return 0; }' >"$1/old.c"
${CC:-gcc} -shared -fPIC -o "$1/old.so" "$1/old.c"
cat >"$1/program.c" <<'EOF'
#define IPT_OPENCL_DYNAMIC
#define IPT_IMPLEMENTATION
#include "ipt.h"
#include <stdio.h>
int main(void)
{
    ipt_context *context;
    const ipt_result result = ipt_context_create(NULL, &context);
    puts(result ? ipt_context_error(NULL) : "loaded");
    ipt_context_destroy(context);
    return 0;
}
EOF
${CC:-gcc} -O0 -DIPT_NO_NATIVE -I. -o "$1/program" "$1/program.c" -ldl -lpthread
said=$(IPT_OPENCL_LIBRARY=$1/old.so "$1/program")
case $said in *"older than 1.2"*) ;; *) echo "loading: with an old library: $said"; exit 1 ;; esac
said=$("$1/program")
[ "$said" = loaded ] || { echo "loading: with the system's: $said"; exit 1; }
echo "loading: the libraries of Linux, macOS and Android are tried, or the named one"
