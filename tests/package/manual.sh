# Checks that the manual page has every option in the table of gen/tool/command/options.c, and each command's options in its
# section: manual.sh PAGE TOOL. Run it from the repository's root.
set -eu
page=$1 tool=$2
fail() {
    echo "manual: $*"
    exit 1
}
plain=$(sed -e 's/\\-/-/g' -e 's/\\f[BIR]//g' -e 's/\\e/\\/g' "$page")
names=$(sed -n '/^ *{"--[a-z0-9-]*", [^,]*, NULL,/d; s/^ *{"\(--[a-z0-9-]*\)", .*/\1/p' gen/tool/command/options.c | sort -u)
[ "$(echo "$names" | wc -l)" -gt 40 ] || fail "the options are not found in gen/tool/command/options.c"
for name in $names; do
    echo "$plain" | grep -q -e "^$name\( \|$\)" || fail "$name is missing"
done
commands=$("$tool" help | awk '/^commands:/ { inside = 1; next } /^$/ { inside = 0 } inside && /^  [a-z]/ && $1 != "help" { print $1 }')
[ -n "$commands" ] || fail "the tool has no commands"
for command in $commands; do
    title=$(echo "ipt $command" | tr a-z A-Z)
    section=$(echo "$plain" | awk -v title="$title" '/^\.SH/ { inside = index($0, title) > 0 } inside')
    [ -n "$section" ] || fail "the section $title is missing"
    for name in $("$tool" help "$command" | sed -n 's/^  \(--[a-z0-9-]*\).*/\1/p'); do
        echo "$section" | grep -q -e "^$name\( \|$\)" || fail "$title lacks $name"
    done
done
