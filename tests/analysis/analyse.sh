# Static analysis of ipt.h, gen/ and the headers that the tests share, by gcc's -fanalyzer, clang-tidy 14 and cppcheck. Fails on
# reports that tests/analysis/false_positives does not list. Prints the lines of this list that match nothing. Run it from the
# repository's root. SOURCES names another folder with ipt.h and gen/.
set -eu
export LC_ALL=C
# The list of false positives is for clang-tidy 14.
tidy=$(command -v clang-tidy-14 || command -v clang-tidy) && "$tidy" --version | grep -q 'version 14\.' ||
    { sh tests/skipped.sh note analyse "clang-tidy 14 is not installed"; exit 0; }
sources=${SOURCES:-.}
out=build/analysis
rm -rf $out
mkdir -p $out/gen $out/tests/support $out/tests/random $out/tests/oclgrind
cp "$sources"/gen/*.c $out/gen
cp -r "$sources/gen/tool" $out/gen
cp tests/support/*.h $out/tests/support
cp tests/random/stress.c $out/tests/random
cp tests/oclgrind/walk.c $out/tests/oclgrind
cp "$sources/ipt_kernels.h" $out

# The analysers cannot know what a function behind a pointer allocates, nor what one with variable arguments returns. In the
# analysed copy, allocators are malloc and free, and ipt__fail yields its first argument. Line numbers stay unchanged.
sed 's/[a-z]*\(->\|\.\)[a-z.]*alloc(\(.*\), [a-z]*\(->\|\.\)[a-z.]*user)/malloc(\2)/
     s/[a-z]*->free(\(.*\), [a-z]*->user)/free(\1)/
     /ipt__fail(ipt_result result, const char/,/^$/ s/^$/#define ipt__fail(result, ...) ((void)ipt__fail(result, __VA_ARGS__), (result))/' \
    "$sources/ipt.h" > $out/ipt.h
changed=$(diff "$sources/ipt.h" $out/ipt.h | grep -c '^>') || :
left=$(grep -c '\(->\|\.\)\(alloc\|free\)(' $out/ipt.h) || :
[ "$changed" -ge 4 ] && [ "$left" = 0 ] && grep -q '^#define ipt__fail' $out/ipt.h ||
    { echo "analysis: ipt.h calls its allocator in another way: see the sed command of tests/analysis/analyse.sh"; exit 1; }

cd $out
settings=../../tests/analysis
# The native driver's kernels are analysed as OpenCL C, by check-lint.
implementation="-std=c99 -I. -DIPT_IMPLEMENTATION -DIPT_NO_NATIVE"

# Analyses each function alone (call summaries): gcc gives up if it follows all calls. gcc then misses writes through
# pointers in called functions, so clang-tidy checks for uninitialised values.
gcc $implementation -O1 -x c -fanalyzer -fanalyzer-call-summaries -Wno-analyzer-use-of-uninitialized-value \
    -Wanalyzer-too-complex --param analyzer-bb-explosion-factor=50 -S -o /dev/null ipt.h > gcc.log 2>&1 ||
    { tail -n 20 gcc.log; exit 1; }
if grep -q 'analysis bailed out early' gcc.log; then
    echo "analysis: gcc gave up: increase analyzer-bb-explosion-factor"
    exit 1
fi

# clang-tidy analyses a header's functions alone only if it compiles the header itself.
tidy() { # log, file, options
    log=$1
    shift
    "$tidy" --quiet --config-file=$settings/clang-tidy --header-filter='/(gen|tests)/' "$@" -w >> "$log" 2>&1 ||
        { grep -B1 -A5 'error:' "$log" && exit 1; exit 1; }
}
tidy tidy.log ipt.h -- -x c $implementation
for file in $(ls gen/tool/*.c gen/tool/*/*.c | grep -v -e library.c -e _windows.c) gen/embed.c tests/random/stress.c tests/oclgrind/walk.c; do
    tidy tidy.log $file -- -std=c99 -DIPT_NO_NATIVE -I. "-I$PWD/tests/support"
done

# First POSIX, then Windows. The macros prevent that cppcheck analyses a dozen combinations.
for system in "-D__linux__=1 -D__unix__=1" -D_WIN32=1; do
    cppcheck -q --enable=warning,portability --std=c99 --language=c -DIPT_IMPLEMENTATION=1 -DIPT_NO_NATIVE=1 -DCL_VERSION_1_2=1 $system \
        --suppress=missingIncludeSystem --template='{file}:{line}:{column}: warning: {message} [{id}]' \
        --error-exitcode=0 ipt.h >> cppcheck.log 2>&1 || { cat cppcheck.log; exit 1; }
done

# FILE:LINE:COLUMN: warning: TEXT [CHECK] of all three, with the tool before it
for tool in gcc tidy cppcheck; do
    grep '^[^ ]*:[0-9]*:[0-9]*: \(warning\|error\): ' $tool.log | grep -v 'Wanalyzer-too-complex' |
        sed "s|^$PWD/||; s|^\./||; s|^|$tool |" || :
done | sort -u > findings

awk '
    # The function of each line of a file. Functions open and close with a brace in the first column.
    function functions_of(path,    line, number, name, heading) {
        known[path] = 1
        name = "-"
        while ((getline line < path) > 0) {
            number++
            if (line ~ /^[A-Za-z]/ && line ~ /\(/ && line !~ /;$/) {
                heading = line
                sub(/^IPT__PRINTF\([0-9, ]*\) /, "", heading)
                match(heading, /[A-Za-z_0-9]+\(/)
                heading = substr(heading, RSTART, RLENGTH - 1)
            } else if (line == "{")
                name = heading
            function_at[path, number] = name
            if (line == "}")
                name = "-"
        }
        close(path)
    }
    FILENAME == ARGV[1] {
        if ($0 !~ /^#/ && NF > 4)
            wanted[$1 " " $2 " " $3 " " $4] = FNR
        else if ($0 !~ /^#/ && NF) {
            print ARGV[1] ":" FNR ": a tool, a check, a file, a function and a reason are wanted"
            bad++
        }
        next
    }
    {
        split($2, place, ":")
        if (!known[place[1]])
            functions_of(place[1])
        check = $0
        sub(/.*\[/, "", check)
        sub(/[],].*/, "", check)
        sub(/^-W/, "", check)
        key = $1 " " check " " place[1] " " function_at[place[1], place[2]]
        if (key in wanted) {
            met[key] = 1
            suppressed++
        } else {
            print $0
            print "    to be mended, or listed as: " key " REASON"
            bad++
        }
    }
    END {
        for (key in wanted)
            if (!met[key]) # no failure: reports change with code elsewhere
                print ARGV[1] ":" wanted[key] ": nothing matches at present: " key
        print "analysis: " bad + 0 " findings, " suppressed + 0 " false positives"
        exit bad > 0
    }' $settings/false_positives findings
