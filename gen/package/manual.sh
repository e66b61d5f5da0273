# Prints the sections of the manual page that help2man does not find: for each command of the tool its options, its lists of
# names and its notes, from its own help: manual.sh TOOL > FILE for help2man --include=FILE
set -eu
tool=$1

# A command's help as a section. Options begin with two spaces and "-"; their further lines with more spaces.
section() { # NAME
    "$tool" help "$1" | awk -v name="$1" '
        function quoted(text) { gsub(/\\/, "\\e", text); gsub(/-/, "\\-", text); return text }
        function shown(text) { text = quoted(text); print (text ~ /^[.'"'"']/ ? "\\&" : "") text }
        NR == 1 { sub(/^usage: /, ""); print "[" toupper("ipt " name) "]\n.B"; shown($0); print ".PP"; next }
        /^options:$/ { next }
        /^  -/ {
            left = $1; rest = substr($0, 3 + length($1)); value = ""
            if (match(rest, /^ [^ ]+/)) { value = substr(rest, 2, RLENGTH - 1); rest = substr(rest, RLENGTH + 1) }
            sub(/^ +/, "", rest)
            print ".TP\n\\fB" quoted(left) "\\fR" (value == "" ? "" : " \\fI" quoted(value) "\\fR")
            if (rest != "") shown(rest)
            inside = 1
            next
        }
        inside && /^      / { sub(/^ +/, ""); shown($0); next }
        inside { print ".PP"; inside = 0 }
        /^$/ { print ".PP"; next }
        /^[a-z ]+: / { print ".PP" } # a list of names
        /^--/ { print ".br" } # a note on an option
        { sub(/^ +/, ""); shown($0) }'
    echo
}

"$tool" help | awk '/^commands:/ { inside = 1; next } /^$/ { inside = 0 } inside && /^  [a-z]/ && $1 != "help" { print $1 }' |
    while read -r name; do section "$name"; done
