#!/bin/sh
# ipt.h compiles after headers that define common words as macros: the words of tests/compile/hostile.list, and all macros of windows.h
# (mingw-w64), X11, complex.h, tgmath.h, curses.h and others, if installed. The macros expand to text that no compiler accepts. ipt.h
# must not expand them: the objects are the same as without macros. Then mingw-w64 compiles ipt.h after the whole windows.h. Usage, from
# the repository root: tests/compile/hostile.sh FOLDER HEADER_DIR...
set -eu
[ $# -ge 2 ] || { echo "usage: tests/compile/hostile.sh FOLDER HEADER_DIR..."; exit 2; }
folder=$1
shift
rm -rf "$folder"
mkdir -p "$folder/include"
list=$(dirname "$0")/hostile.list
c="${CC:-gcc} -std=c99" cpp="${CXX:-g++} -x c++ -std=c++11"
builds=0

fail() {
    echo "hostile: $*"
    exit 1
}

# macros COMPILER...: what the text on standard input defines, as NAME or NAME(PARAMETERS).
macros() {
    "$@" -dM -E - 2> /dev/null | sed -n 's/^#define \([A-Za-z][A-Za-z0-9_]*\(([^)]*)\)\{0,1\}\)\( .*\)\{0,1\}$/\1/p'
}

# Includes the headers of ipt.h before the macros are defined, so that the macros apply only to the text of ipt.h.
cat > "$folder/first.h" << END
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>
#ifdef IPT_MPI
#include <mpi.h>
#endif
END

# The names, without those that these headers define. A function-like macro replaces calls only: a name with two forms gets the
# first form.
{
    sed '/^#/d' "$list" | tr ' ' '\n' | sed 's/(\([0-9]*\))/(@\1)/'
    ! command -v x86_64-w64-mingw32-gcc > /dev/null || echo '#include <windows.h>' | macros x86_64-w64-mingw32-gcc
    ! command -v x86_64-w64-mingw32-g++ > /dev/null || echo '#include <windows.h>' | macros x86_64-w64-mingw32-g++ -x c++
    for header in X11/Xlib X11/Xutil X11/Xatom X11/Intrinsic complex tgmath math stdbool iso646 assert curses sys/param sys/sysmacros \
        sys/socket termios glob search netinet/in; do
        echo "#include <$header.h>" | macros ${CC:-gcc}
    done
} > "$folder/names"
macros $c -include "$folder/first.h" < /dev/null | sed 's/(.*//' > "$folder/own"
awk -v own="$folder/own" '
    BEGIN {
        while ((getline name < own) > 0)
            seen[name] = 1
        count = split("and or xor not bitand bitor compl not_eq and_eq or_eq xor_eq", words, " ")
        for (i = 1; i <= count; ++i)
            operator[words[i]] = 1
    }
    {
        name = $0
        sub(/\(.*/, "", name)
        if (name == "" || name in seen)
            next
        seen[name] = 1
        if (name in operator) { # not legal macros in C++
            printf "#ifndef __cplusplus\n#undef %s\n#define %s ] hostile\n#endif\n", name, name
            next
        }
        printf "#undef %s\n", name
        if ($0 !~ /\(/) {
            printf "#define %s ] hostile\n", name
            next
        }
# A macro with @N hides a function of N arguments; other macros are never called.
        if (match($0, /@[0-9]+/)) {
            count = substr($0, RSTART + 1, RLENGTH - 1) + 0
            parameters = ""
            for (i = 1; i <= count; ++i)
                parameters = parameters (i > 1 ? ", " : "") "p" i
            printf "#define %s(%s) %s(%s)\n", name, parameters, name, parameters
        } else
            printf "#define %s(...) ] hostile\n", name
    }' "$folder/names" > "$folder/hostile.h"
count=$(grep -c '^#define' "$folder/hostile.h")

# compare NAME COMPILER AND OPTIONS: the object with the macros equals the object without them.
compare() {
    name=$1
    shift
    for macros in none hostile; do
        {
            echo '#include "first.h"'
            [ $macros = none ] || echo '#include "hostile.h"'
            echo '#define IPT_IMPLEMENTATION'
            echo '#include "ipt.h"'
        } > "$folder/$macros.c"
        (cd "$folder" && "$@" -w -I. -c $macros.c -o $macros.o 2> log) || { head -n 8 "$folder/log"; fail "$name does not compile"; }
        objcopy --strip-all "$folder/$macros.o" 2> /dev/null || :
    done
    cmp "$folder/none.o" "$folder/hostile.o" || fail "$name is another object behind the macros"
    builds=$((builds + 1))
}

mpi=$(mpicc -show 2> /dev/null | tr ' ' '\n' | grep '^-I' | tr '\n' ' ') || mpi=
first=$1 # the other forms of the header have the same text
options="-Iform -Iroot" # names without spaces, independent of the folder's name
ln -s "$PWD" "$folder/root"
for headers; do
    rm -f "$folder/form"
    ln -s "$(cd "$headers" && pwd)" "$folder/form"
    compare "C with $headers" $c $options
    [ "$headers" = "$first" ] || continue
    compare "C++ with $headers" $cpp $options
    compare "C, OpenCL at run time, with $headers" $c $options -DIPT_OPENCL_DYNAMIC -DIPT_STATIC
    [ -z "$mpi" ] || compare "C over ranks with $headers" $c $options $mpi -DIPT_MPI
done

# For Windows.
ln -s /usr/include/CL "$folder/include/CL" # mingw-w64 must not see the rest of /usr/include
cat > "$folder/windows.c" << END
#define CL_TARGET_OPENCL_VERSION 120
#include <windows.h>
#define small char
#define hyper __int64
#define near
#define far
#include "ipt.h"
#define IPT_IMPLEMENTATION
#include "ipt.h"
END
for compiler in "x86_64-w64-mingw32-gcc -std=c99" "x86_64-w64-mingw32-g++ -x c++ -std=c++11"; do
    command -v "${compiler%% *}" > /dev/null || { echo "hostile: not tried: ${compiler%% *} is missing"; continue; }
    for headers; do
        for option in -DPLAIN "-DIPT_OPENCL_DYNAMIC -DIPT_STATIC"; do
            $compiler $option -Wall -Wextra -Wno-unused-function -Werror -I"$headers" -I"$PWD" -I"$folder/include" -fsyntax-only "$folder/windows.c" ||
                fail "$compiler $option, behind the whole windows.h"
            builds=$((builds + 1))
        done
    done
done
echo "hostile: $builds builds behind $count macros of usual headers"
