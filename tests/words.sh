#!/bin/sh
# Refuses the phrases of tests/words.list in documents, comments and messages. Usage, from the repository root:
#   tests/words.sh               checks the tree; prints FILE:LINE: phrase -> what to say instead
#   tests/words.sh --self-test   plants phrases in a temporary copy and shows that the check finds them
#
# A line of words.list: an extended regular expression in lower case, a tab, the replacement, and optionally a tab and the file
# extension that the expression is for. It matches whole words. In C, OpenCL C and Promela files, the check reads comments and
# string literals; in others, everything. A phrase may continue on the next line. Names in backticks are exempt.
set -eu

# find_phrases FILE...: prints the reports; returns 1 if there are any.
find_phrases()
{
    awk -v list=tests/words.list '
    function report_matches(    i, from, line) {
        text = tolower(text)
        for (i = 1; i <= phrases; ++i) {
            if (extension[i] != "" && !(file ~ ("[.]" extension[i] "$")))
                continue
            for (from = 1; match(substr(text, from), whole_word[i]); from += RLENGTH > 1 ? RSTART + RLENGTH - 2 : RSTART) {
                for (line = 1; line < lines && begin[line + 1] <= from + RSTART; ++line)
                    ;
                printf "%s:%d: \"%s\" -> %s\n", file, line, clean(substr(text, from + RSTART - 1, RLENGTH)), instead[i]
                found = 1
            }
        }
    }
    function clean(phrase) {
        sub(/^[^a-z]*/, "", phrase)
        sub(/[^a-z0-9]*$/, "", phrase)
        return phrase
    }
    # The comments and string literals of a line of C. state: 0 code, "/" in a comment.
    function prose_of(line,    kept) {
        kept = ""
        if (state == "/" && line !~ /^[ \t]*\*\//)
            sub(/^[ \t]*\*? ?/, "", line)
        while (line != "") {
            if (state == "/") {
                if (!match(line, /\*\//))
                    return kept line
                kept = kept substr(line, 1, RSTART - 1) " ; "
                line = substr(line, RSTART + 2)
                state = 0
            } else if (match(line, /\/\*|\/\/|"([^"\\]|\\.)*"|\047([^\047\\]|\\.)*\047/)) {
                token = substr(line, RSTART, RLENGTH)
                line = substr(line, RSTART + RLENGTH)
                if (token == "//")
                    return kept line
                if (token == "/*")
                    state = "/"
                else
                    kept = kept substr(token, 2, length(token) - 2) " ; "
            } else
                return kept
        }
        return kept
    }
    BEGIN {
        while ((getline line < list) > 0) {
            split(line "\t\t", fields, "\t")
            whole_word[++phrases] = "(^|[^a-z0-9_`$.-])(" fields[1] ")([^a-z0-9_`/=-]|$)"
            instead[phrases] = fields[2]
            extension[phrases] = fields[3]
        }
    }
    FNR == 1 {
        report_matches()
        file = FILENAME
        is_c = file ~ /[.](c|h|cl|def|pml)$/
        text = ""
        state = lines = 0
    }
    {
        begin[++lines] = length(text) + 1
        if (is_c)
            line = prose_of($0)
        else {
            line = $0
            sub(/^[ \t]*#+ ?/, "", line)
        }
        text = text line " "
    }
    END {
        report_matches()
        exit found
    }' "$@"
}

# check_tree: checks the files of the folders below.
check_tree()
{
    find ./README.md ./Makefile ./gen ./tests ./examples -type f ! -path './tests/words.*' ! -path './tests/fuzz/corpus/*' \
        ! -name '*.svg' ! -name '*.csv' 2> /dev/null | sed 's,^\./,,' | LC_ALL=C sort > "$files"
    # shellcheck disable=SC2046 # no name in the tree has a blank
    find_phrases $(cat "$files")
}

# expect RESULT DESCRIPTION TEXT FILE: a copy of the tree with TEXT at the end of FILE.
expect()
{
    cp "$4" "$scratch/copy/$4"
    printf '%b\n' "$3" >> "$scratch/copy/$4"
    if (cd "$scratch/copy" && check_tree) > "$scratch/log" 2>&1; then result=passed; else result=refused; fi
    cp "$4" "$scratch/copy/$4"
    [ $result = "$1" ] && { [ $result = passed ] || grep -q "^$4:.* -> " "$scratch/log"; } ||
        { echo "words: self-test: $2: $result, expected $1"; cat "$scratch/log"; exit 1; }
}

scratch=$(mktemp -d)
readonly scratch # the exit removes this folder
trap 'rm -rf "$scratch"' EXIT
files=$scratch/files
case ${1:-} in
--self-test)
    mkdir -p "$scratch/copy/tests/support" "$scratch/copy/tests/random" "$scratch/copy/gen/kernels" "$scratch/copy/gen/doc"
    cp tests/words.list "$scratch/copy/tests/"
    cp README.md Makefile "$scratch/copy/"
    expect passed "the copy as it is" "" README.md
    expect refused "a phrase in a document" "The block is not to be had." README.md
    expect refused "a phrase on two lines" "The thread lets\ngo of the event." README.md
    expect refused "a capital letter" "Whoever waits." gen/doc/tests.md
    expect refused "a comment" "/* An errand. */" gen/kernels/map.cl
    expect refused "a comment on two lines" "/* Memory is not\n * to be had. */" gen/kernels/map.cl
    expect refused "a comment without a subject" "/* The same with gaps. */" tests/support/main.c
    expect refused "an anecdote" "/* An H200 took longer. */" tests/support/main.c
    expect passed "the same within a sentence" "/* Two plans of the same shape. */" tests/support/main.c
    expect refused "a string literal" 'const char *text = "none is \\"to be had\\"";' tests/support/main.c
    expect refused "another form of a word" "The step goes on." README.md
    expect refused "a comment of a script" "# Seed 002, figure 4" tests/random/again.sh
    expect passed "names in code" "int haul, errand; /* \`quanta\`, haul_bytes */" tests/support/main.c
    expect passed "code behind a comment" "/* One.\n */\nint errand;" tests/support/main.c
    expect passed "parts of words" "An address in a shelterbelt." README.md
    echo "words: self-test passed"
    ;;
'')
    check_tree
    ;;
*)
    echo "usage: words.sh [--self-test]" >&2
    exit 2
    ;;
esac
