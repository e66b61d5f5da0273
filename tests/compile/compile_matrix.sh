#!/bin/sh
# The compile matrix. ipt.h must compile without a warning wherever it may be included, link from several files, export only its
# public functions, and run without a device. Prints only failures, and one closing line. Usage, from the repository root:
# tests/compile/compile_matrix.sh HEADER_DIR [quick | sample] HEADER_DIR: the folder of ipt.h: ., build/single, or gen/library
# with its parts. quick: each compiler with one standard, the single header with one compiler. sample: gcc and g++ with a few
# builds, the single header and the parts with one build. The single header and the parts have the same text, so two compilers
# suffice for these. Four compilers run with every user option. The script names missing compilers and skips them.
set -eu

part=${2-full}
case $part in full | quick | sample) ;; *) part= ;; esac
[ $# -ge 1 ] && [ -f "$1/ipt.h" ] && [ -n "$part" ] ||
    { echo "usage: tests/compile/compile_matrix.sh HEADER_DIR [quick | sample] (with ipt.h in it)"; exit 2; }
headers=$(cd "$1" && pwd)
form=$(basename "$1") # independent of the clone's name
[ "$form" != . ] || form=pair
root=$PWD
tests=$(cd "$(dirname "$0")" && pwd)
work=$PWD/build/matrix/$form
rm -rf "$work"
mkdir -p "$work/include" "$work/jobs"
ln -s /usr/include/CL "$work/include/CL" # for mingw must not see the rest of /usr/include

# A job runs in $work/jobs/NAME. By these links, its commands avoid the clone's name, which may have a space, $ or
# quote.
ln -s "$headers" "$work/headers"
ln -s "$root" "$work/root"
ln -s "$tests" "$work/tests"
root=../../root
a=../../tests/matrix_a.c b=../../tests/matrix_b.c
flags="-Wall -Wextra -Wpedantic -Werror -I../../headers -I$root -I../../tests" # the root has the kernels for the parts
libraries="-lOpenCL -lpthread"
missing=
# The folders of mpi.h: Open MPI's and MPICH's.
mpis=
for mpi in openmpi mpich; do
    include=$(mpicc.$mpi -show 2> /dev/null | tr ' ' '\n' | sed -n 's/^-I//p' | head -n 1) || :
    [ -z "$include" ] || mpis="$mpis $include"
done

have() { # COMPILER
    command -v "$1" > /dev/null && return 0
    case " $missing " in *" $1 "*) ;; *) missing="$missing $1" ;; esac
    return 1
}

# Whether the build of this name is in the sample.
in_sample() {
    case $form:$* in
    *:*"two files ") return 0 ;;
    pair:*" static -DMATRIX_ALONE" | pair:*" dynamic" | pair:*" symbols" | pair:"C++ program"*) return 0 ;;
    *) return 1 ;;
    esac
}

job() { # WORDS OF A NAME, and its commands on standard input: one build, in its own folder
    [ "$part" != sample ] || in_sample "$*" || return 0
    folder=$work/jobs/$(echo "$*" | tr -cs 'A-Za-z0-9+\n' -)
    mkdir "$folder"
    cat > "$folder/job.sh"
}

# Builds with the compilers of this machine.
for compiler in "gcc -std=c99" "gcc -std=c11" "gcc -std=gnu99" "gcc -std=c99 -O2" "clang -std=c99" "clang -std=c11" \
    "clang -std=c99 -O2" "g++ -x c++ -std=c++11" "g++ -x c++ -std=c++20" "clang++ -x c++ -std=c++11" \
    "clang++ -x c++ -std=c++20"; do
    case $form:$part:$compiler in
    single:*:gcc\ -std=c99 | single:full:clang++*20 | library:*:gcc\ -std=c99 | library:full:clang++*20) ;;
    single:* | library:*) continue ;;
    *:full:* | *:sample:gcc\ -std=c99 | *:sample:g++*20 | *:quick:gcc\ -std=c99 | *:quick:clang\ -std=c11 | *:quick:g++*20 | *:quick:clang++*11) ;;
    *) continue ;;
    esac
    case $compiler in
    *-O2 | *c11 | *gnu99 | g++*20 | clang++*11) options=-DMATRIX_LATE ;;
    *) options="-DMATRIX_LATE -DMATRIX_CL_FIRST -DCL_TARGET_OPENCL_VERSION=120 -DCL_TARGET_OPENCL_VERSION=200
        -DCL_TARGET_OPENCL_VERSION=300" ;;
    esac
    have "${compiler%% *}" || continue
    build="$compiler $flags -DIPT_NO_NATIVE"

# With the native driver, which takes longer to compile: used, unused and private.
    job "$compiler" native <<END
$compiler $flags -c $a -o implementation.o
nm -g --defined-only implementation.o | sed 's/.* //' | sort > exported
sed -n 's/^IPT_API\(_INLINE\)* [^(]*[ *]\(ipt_[a-z][a-z_]*\)(.*/\2/p' $root/ipt.h | grep -v ipt_mpi_ | sort -u > declared
diff declared exported
$compiler $flags -c $b -o interface.o
${compiler%% *} implementation.o interface.o -o program $libraries
./program
END
    [ "$part" != full ] || job "$compiler" native static <<END
$compiler $flags -DIPT_STATIC -DMATRIX_UNUSED -c $a -o program.o
test "\$(nm -g --defined-only program.o | sed 's/.* //')" = main
END
# Two files, one with the implementation. Users may choose the OpenCL version and the include order.
    for option in "" $options "-DCL_TARGET_OPENCL_VERSION=300 -DMATRIX_CL_FIRST"; do
        job "$compiler" two files "$option" <<END
$build $option $a $b -o program $libraries
./program
END
    done
    job "$compiler" OpenCL 1.1 is refused <<END
if $build -DCL_TARGET_OPENCL_VERSION=110 -fsyntax-only $b 2> message; then exit 1; fi
grep "needs OpenCL 1.2" message
END

# The user's lock and export attribute: the build does not call pthread, and only the attribute makes functions visible.
    job "$compiler" own lock and attribute <<END
$build -fPIC -fvisibility=hidden -DMATRIX_OWN -c $a -o own.o
$build -fPIC -c $b -o interface.o
${compiler%% *} -shared own.o -o libown.so -lOpenCL
${compiler%% *} interface.o -o program -L. -lown -Wl,-rpath,. $libraries
./program
if nm own.o | grep pthread_mutex; then exit 1; fi
END

    # All functions private to one file, used and unused.
    for option in -DMATRIX_ALONE -DMATRIX_UNUSED; do
        job "$compiler" static "$option" <<END
$build -DIPT_STATIC $option -c $a -o program.o
test "\$(nm -g --defined-only program.o | sed 's/.* //')" = main
${compiler%% *} program.o -o program $libraries
./program
END
    done

    # Without the parts for the papers, under both names.
    for option in -DIPT_NO_PAPERS -DIPT_NO_SEED_KERNELS; do
        job "$compiler" "$option" <<END
$build $option $a $b -o program $libraries
./program
if nm program | grep -i -e heuristic -e text_p_ipt -e text_pad -e layout_sequence -e layout_convert -e ipt__variants; then exit 1; fi
END
    done

# Without host matrices in parts, without profiles and entries, without kernel text; and with all these options.
    job "$compiler" no host streaming <<END
$build -DIPT_NO_HOST_STREAMING $a $b -o program $libraries
./program
if nm program | grep -e ipt__cut -e ipt__blocks -e ipt__host_lane -e ipt__host_close -e storage; then exit 1; fi
END
    job "$compiler" no offline <<END
$build -DIPT_NO_OFFLINE $a $b -o program $libraries
./program
if nm program | grep -e profile_measure -e ipt__facts -e target_is_known -e program_at; then exit 1; fi
END
    job "$compiler" no kernel source <<END
$build -DIPT_NO_KERNEL_SOURCE $a $b -o program $libraries
./program
if grep -q get_local_id program || nm program | grep fail_build; then exit 1; fi
END
    job "$compiler" nothing optional <<END
$build -DIPT_NO_PAPERS -DIPT_NO_HOST_STREAMING -DIPT_NO_OFFLINE -DIPT_NO_WISDOM -DIPT_NO_DISK_CACHE -DIPT_NO_THREADS -DIPT_NO_BATCH -DIPT_NO_BOXES \\
    -DIPT_NO_VIEWS -DIPT_NO_KERNEL_SOURCE $a $b -o program $libraries
./program
END

    # Without storages, without wisdom.
    job "$compiler" no storage <<END
$build -DIPT_NO_STORAGE $a $b -o program $libraries
./program
if nm program | grep storage; then exit 1; fi
END
    job "$compiler" no batches <<END
$build -DIPT_NO_BATCH $a $b -o program $libraries
./program
if nm program | grep ipt_batch; then exit 1; fi
END
    job "$compiler" no wisdom <<END
$build -DIPT_NO_WISDOM $a $b -o program $libraries
./program
if nm program | grep ipt_wisdom; then exit 1; fi
END

# Without the disk cache: opens only files of wisdom.
    job "$compiler" no disk cache <<END
$build -DIPT_NO_DISK_CACHE $a $b -o program $libraries
./program
if nm program | grep -e mkdir -e fsync -e rename -e opendir -e ipt__f[io]l; then exit 1; fi
END

# Without threads of the library.
    job "$compiler" no threads <<END
$build -DIPT_NO_THREADS $a $b -o program $libraries
./program
if nm program | grep pthread_create; then exit 1; fi
END

# OpenCL loaded at run time, not linked. A library without OpenCL's functions yields no device, and no crash.
    job "$compiler" dynamic <<END
$build -DIPT_OPENCL_DYNAMIC -DMATRIX_DEVICES $a $b -o program -ldl -lpthread
if readelf -d program | grep NEEDED | grep OpenCL; then exit 1; fi
./program
echo 'int nothing;' > empty.c
${compiler%% *} -shared -fPIC -x c empty.c -o libOpenCL.so.1
MATRIX_NONE=1 LD_LIBRARY_PATH=. ./program
END

# The exported symbols are the declared functions. The interface alone exports none.
    job "$compiler" symbols <<END
$build -c $a -o implementation.o
nm -g --defined-only implementation.o | sed 's/.* //' | sort > exported
sed -n 's/^IPT_API\(_INLINE\)* [^(]*[ *]\(ipt_[a-z][a-z_]*\)(.*/\2/p' $root/ipt.h | grep -v ipt_mpi_ | sort -u > declared
grep -x ipt_transpose declared
diff declared exported
echo '#include "ipt.h"' > interface.c
$build -c interface.c -o interface.o
test -z "\$(nm interface.o)"
END

# Matrices over ranks: only if the program defines IPT_MPI, with each installed MPI, and with other options.
    for mpi in $mpis; do
        for option in "" $([ "$part" = full ] && echo -DMATRIX_LATE -DIPT_NO_HOST_STREAMING -DIPT_NO_THREADS \
            -DIPT_OPENCL_DYNAMIC "-DIPT_STATIC,-DMATRIX_UNUSED"); do
            job "$compiler" MPI "$(basename "$mpi")" "$option" <<END
$build -DIPT_MPI -isystem $mpi $(echo "$option" | tr , ' ') -c $a -o program.o
END
        done
        job "$compiler" symbols of MPI "$(basename "$mpi")" <<END
$build -DIPT_MPI -isystem $mpi -c $a -o implementation.o
nm -g --defined-only implementation.o | sed 's/.* //' | grep ipt_mpi_ | sort > exported
sed -n 's/^IPT_API\(_INLINE\)* [^(]*[ *]\(ipt_mpi_[a-z_]*\)(.*/\2/p' $root/ipt.h | sort -u > declared
grep -x ipt_mpi_plan_create_sized declared
diff declared exported
END
    done
done

# C and C++ in one program, either way round.
if have gcc && have g++; then
    job C++ program, C implementation <<END
gcc -std=c99 $flags -c $a -o a.o
g++ -x c++ -std=c++11 $flags -c $b -o b.o
g++ a.o b.o -o program $libraries
./program
END
    job C program, C++ implementation <<END
g++ -x c++ -std=c++11 $flags -c $a -o a.o
gcc -std=c99 $flags -c $b -o b.o
g++ a.o b.o -o program $libraries
./program
END
fi

# Windows: only compiles. If mingw has no C++ compiler, clang compiles for the same target.
mingw_cpp="x86_64-w64-mingw32-g++"
command -v $mingw_cpp > /dev/null || ! command -v x86_64-w64-mingw32-gcc > /dev/null ||
    mingw_cpp="clang++ --target=x86_64-w64-mingw32" # with mingw's headers
for compiler in "x86_64-w64-mingw32-gcc -std=c99" "x86_64-w64-mingw32-gcc -std=c11" "$mingw_cpp -x c++ -std=c++11" \
    "$mingw_cpp -x c++ -std=c++20"; do
    case $form:$part:$compiler in
    single:quick:* | library:quick:*) continue ;;
    *:full:* | *:quick:*c99 | *:quick:*++20) ;;
    *) continue ;;
    esac
    have "${compiler%% *}" || continue
    for option in "" -DIPT_OPENCL_DYNAMIC "-DIPT_STATIC -DMATRIX_ALONE" "-DIPT_STATIC -DMATRIX_UNUSED" \
        -DIPT_NO_DISK_CACHE; do
        job "$compiler" implementation "$option" <<END
$compiler $flags -DIPT_NO_NATIVE -I../../include $option -c $a -o implementation.o
END
    done
    job "$compiler" native <<END
$compiler $flags -I../../include -c $a -o implementation.o
END
    job "$compiler" interface <<END
$compiler $flags -I../../include -c $b -o interface.o
END
done

ls "$work/jobs" > "$work/list"
(cd "$work/jobs" && xargs -P 2 -I NAME sh -c 'cd "$0" && sh -eu ./job.sh > log 2>&1 && : > passed' NAME < ../list) || :

passed=0 failed=0
while read -r name; do
    if [ -f "$work/jobs/$name/passed" ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "compile matrix: $name failed (its commands and their output are in $work/jobs/$name)"
        [ $failed -gt 3 ] || head -n 20 "$work/jobs/$name/log"
    fi
done < "$work/list"

for compiler in $missing; do
    sh tests/skipped.sh note "compile matrix, $form" "$compiler is not installed"
done
[ $failed -eq 0 ] && [ $passed -gt 0 ] || { echo "compile matrix: $failed failed, $passed passed"; exit 1; }
echo "compile matrix: $passed builds passed"
