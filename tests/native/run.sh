# The native driver: `run.sh quick [CASES] [SEED]` runs its tests, and builds programs without OpenCL from both forms of the
# header, as C and as C++; `run.sh sanitize [CASES] [SEED]` runs the tests under clang's sanitizers: kernels are C there. To be run
# from the repository's root, with the single header in build/single and the tool in build/ipt, which writes the expressions.
set -eu
unset IPT_DEVICE
mode=$1
cases=${2:-200}
seed=${3:-1}
out=build/native
root=$(pwd)
compiler=${CC:-gcc}
strict="-Wall -Wextra -Wpedantic -Werror"
test="-D_FILE_OFFSET_BITS=64 -I. -I$out -Itests/support tests/native/native.c -lcmocka -lpthread -ldl -lm"
mkdir -p "$out"
rm -f "$out"/expression*.h
number=0
sed -n 's/^    {"\([a-z0-9]*\)", "\([a-z0-9]*\)", "\(.*\)", compute_[a-z]*},$/\1|\2|\3/p' tests/native/native.c |
    while IFS='|' read -r type argument text; do
        number=$((number + 1))
        build/ipt precompile --native "$out/expression_$number.h" --type "$type" ${argument:+--argument-type "$argument"} \
            --expression "$text"
        echo "#include \"expression_$number.h\"" >> "$out/expressions.h"
    done

case $mode in
quick)
    $compiler -std=c99 -O2 $strict -o "$out/driver" $test
    "$out/driver" "$cases" "$seed"
    build/ipt precompile --native "$out/expression_0.h" --type uint --argument-type ushort --expression "x + a + j * 3"
    echo '#include "expression_0.h"' >> "$out/expressions.h"
    cat > "$out/program.c" << 'EOF'
#ifndef IPT_NATIVE_PLAIN
#define IPT_NATIVE_EXPRESSIONS "expressions.h"
#endif
#define IPT_IMPLEMENTATION
#include "ipt.h"
static unsigned matrix[1000 * 777];
#ifdef IPT_NATIVE_EXPRESSIONS
/* Another transposition, with an expression. */
static size_t transposes_back(void)
{
    const unsigned short summand = 9;
    ipt_context_desc where;
    ipt_plan_desc desc;
    ipt_context *context;
    ipt_plan *plan = NULL;
    size_t wrong;
    memset(&where, 0, sizeof where);
    memset(&desc, 0, sizeof desc);
    where.driver = IPT_DRIVER_NATIVE;
    desc.rows = 777;
    desc.cols = 1000;
    desc.elem_size = sizeof *matrix;
    desc.expression = "x + a + j * 3";
    desc.expression_type = "uint";
    desc.expression_argument_type = "ushort";
    desc.expression_argument = &summand;
    wrong = ipt_context_create(&where, &context) || ipt_plan_create(context, &desc, &plan) ||
            ipt_plan_execute_host(plan, matrix);
    ipt_plan_destroy(plan);
    ipt_context_destroy(context);
    return wrong;
}
#endif
int main(void)
{
    size_t i, wrong = 0;
    for (i = 0; i < 1000 * 777; ++i)
        matrix[i] = (unsigned)i;
    wrong += ipt_transpose(matrix, 1000, 777, sizeof *matrix) != IPT_SUCCESS;
    for (i = 0; i < 1000 * 777; ++i)
        wrong += matrix[i] != i % 1000 * 777 + i / 1000;
#ifdef IPT_NATIVE_EXPRESSIONS
    wrong += transposes_back();
    for (i = 0; i < 1000 * 777; ++i)
        wrong += matrix[i] != i + 9 + i % 777 * 3;
#endif
    if (wrong)
        fprintf(stderr, "%lu wrong elements: %s\n", (unsigned long)wrong, ipt_context_error(NULL));
    return wrong != 0;
}
EOF
    cp "$out/program.c" "$out/program.cpp"
    builds=0
    while read -r form source build; do
        echo "#include <stdio.h>" > "$out/probe.${source##*.}"
        $build -E "$out/probe.${source##*.}" > "$out/where" 2>&1 || { # the compiler is missing, or its headers are
            sh tests/skipped.sh note "a program without OpenCL by $build" "it does not compile here"
            continue
        }
        if $build -M -DIPT_NO_OPENCL -I"$form" -I"$out" "$source" | grep -E '(CL|OpenCL)/'; then
            echo "native: a header of OpenCL is read with IPT_NO_OPENCL"
            exit 1
        fi
        $build $strict -DIPT_NO_OPENCL -I"$form" -I"$out" "$source" -o "$out/program" -lpthread -lm
        env -i "$out/program" || { echo "native: $build with $form computed wrong elements"; exit 1; }
        builds=$((builds + 1))
    done << EOF
. $out/program.c $compiler -std=c99 -O2
. $out/program.cpp ${CXX:-g++} -std=c++11 -O0
build/single $out/program.c clang -std=c11 -O0
build/single $out/program.cpp clang++ -std=c++17 -O1
build/single $out/program.c $compiler -std=c99 -O0 -m32
EOF
    # The plain form, for any compiler of C: tcc has no thread-local variables.
    $compiler -std=c99 -O2 $strict -DIPT_NATIVE_PLAIN -o "$out/plain" $test
    "$out/plain" $((cases / 4)) "$seed"
    for build in "$compiler -std=c99 -O1 $strict" "${CXX:-g++} -x c++ -std=c++11 -O0 $strict" "tcc -DIPT_THREAD_LOCAL="; do
        command -v "${build%% *}" > "$out/where" || continue
        $build -DIPT_NO_OPENCL -DIPT_NATIVE_PLAIN -I. "$out/program.c" -o "$out/program" -lpthread
        env -i "$out/program" || { echo "native: $build computed wrong elements in the plain form"; exit 1; }
        builds=$((builds + 1))
    done
    # OpenCL at run time, with ipt's own declarations, as without OpenCL's header.
    for build in "$compiler -std=c99 -O0" "${CXX:-g++} -x c++ -std=c++11 -O0"; do
        command -v "${build%% *}" > "$out/where" || continue
        $build $strict -DIPT_OPENCL_DYNAMIC -DIPT__OWN_NAMES -I. -I"$out" "$out/program.c" -o "$out/program" -ldl -lpthread -lm
        IPT_OPENCL_LIBRARY=/nowhere "$out/program"
        IPT_DEVICE=opencl IPT_CACHE_DIR=none "$out/program" > "$out/said" 2>&1 || {
            grep -q -e "no OpenCL platform" -e "cannot be loaded" -e "no OpenCL library" "$out/said" ||
                { cat "$out/said"; exit 1; }
            sh tests/skipped.sh note "OpenCL by ipt's own declarations" "no OpenCL device"
        }
        builds=$((builds + 1))
    done
    # The compiler names an unknown function.
    mkdir -p "$out/unknown"
    build/ipt precompile --native "$out/unknown/expressions.h" --expression "unknown(x)"
    if $compiler -std=c99 -O0 -DIPT_NO_OPENCL -I. -I"$out/unknown" -c "$out/program.c" -o "$out/unknown/program.o" \
        2> "$out/unknown/said" || ! grep -q "error.*ipt__cl_unknown" "$out/unknown/said"; then
        echo "native: an expression with an unknown function compiles"
        exit 1
    fi
    echo "native: $builds builds passed without OpenCL"
    ;;
sanitize)
    clang=${CLANG:-clang}
    for sanitizer in address,undefined thread; do
        $clang -std=c99 -O1 -g -fsanitize=$sanitizer -fno-sanitize-recover=all -o "$out/sanitized" $test
        # A child's threads are what the test of fork is about. OpenCL is not instrumented.
        IPT_OPENCL_LIBRARY=/nowhere TSAN_OPTIONS="suppressions=$root/tests/native/race.supp:halt_on_error=1:die_after_fork=0" \
            "$out/sanitized" $((cases / 4)) "$seed"
    done
    echo "native: sanitizers passed"
    ;;
*)
    echo "usage: run.sh quick|sanitize [CASES] [SEED]" >&2
    exit 2
    ;;
esac
