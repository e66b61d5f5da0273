#!/bin/sh
# The sample of tests that `make test` runs, from tests/sample.list. Usage, from the repository root:
#   tests/sample.sh patterns FOLDER...   prints the patterns of the subjects in these folders of tests/
#   tests/sample.sh check PROGRAM        fails if a subject has no test in the sample, or none in the test program PROGRAM, or
#                                        a pattern matches no test of its subject
set -eu
list=tests/sample.list

case ${1:-} in
patterns)
    shift
    for folder in "$@"; do
        for file in tests/"$folder"/test_*.c; do
            subject=${file##*/test_}
            awk -v subject="${subject%.c}" '$1 == subject { for (i = 2; i <= NF; ++i) print $i }' $list
        done
    done
    ;;
check)
    { ls tests/*/test_*.c | sed 's,.*/test_\(.*\)\.c,file \1,'; "$2" --list | sed 's/^/test /'; grep -v '^#' $list | sed 's/^./line &/'; } |
    awk '
    function report(text) {
        print "sample: " text
        failed = 1
    }
    $1 == "file" { files[$2] = 1 }
    $1 == "test" { tests[$2] = tests[$2] " " $3 }
    $1 == "line" {
        lines[$2] = 1
        count = split(tests[$2], names, " ")
        for (i = 3; i <= NF; ++i) {
            pattern = $i
            gsub(/[*]/, ".*", pattern)
            matching = 0
            for (j = 1; j <= count; ++j)
                matching += names[j] ~ ("^" pattern "$")
            sampled[$2] += matching
            if (!matching)
                report($i " matches no test of test_" $2 ".c")
        }
    }
    END {
        for (subject in files) {
            ++subjects
            if (!tests[subject])
                report("test_" subject ".c is not in the test program: add it to TEST_FILE_LIST in tests/support/test.h")
            if (!sampled[subject])
                report("test_" subject ".c has no test in tests/sample.list")
            total += sampled[subject]
        }
        for (subject in lines)
            if (!files[subject])
                report("tests/sample.list names " subject ", but there is no test_" subject ".c")
        if (!failed)
            print "sample: " total " tests of " subjects " subjects"
        exit failed
    }'
    ;;
*)
    echo "usage: sample.sh patterns FOLDER... | check PROGRAM" >&2
    exit 2
    ;;
esac
