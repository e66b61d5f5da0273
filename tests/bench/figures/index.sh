# Writes index.html, a page of all figures of `list`: each NAME.svg with the two lines of NAME.txt. The page needs only the
# pictures and tables beside it.
. "$(dirname "$0")/common.sh"
page=$out/index.html

# Escapes standard input for HTML.
as_text() {
    sed 's/&/\&amp;/g; s/</\&lt;/g; s/>/\&gt;/g; s/"/\&quot;/g'
}

# The headline $2, `ours` or `paper`, of the figure $1.
said() {
    sed -n "s/^$2: //p" "$out/$1.txt" | as_text
}

# The headline $2 of the figure $1, up to its first bracket or semicolon.
in_short() {
    sed -n "/^$2: /{s///; s/ *[(;].*//; p}" "$out/$1.txt" | as_text
}

# Prints why the figure $1 has no picture. Fails if it has one.
missing() {
    if ! [ -f "$out/$1.origin" ]; then
        echo "not run"
    elif ! [ -s "$out/$1.origin" ]; then
        echo "the last run failed or was interrupted"
    elif ! [ -f "$out/$1.svg" ] || ! [ -f "$out/$1.txt" ]; then
        echo "measured, but not plotted"
    else
        return 1
    fi
}

# Names of the figures.
figures=$(sed -n 's/^\(s[^|]*\)|.*/\1/p' "$here/list")

# The number of figures for each device, driver, date and commit.
origins() {
    for f in $figures; do
        missing "$f" > /dev/null || cat "$out/$f.origin"
    done | as_text | sort | uniq -c | sort -rn | sed 's/^ *\([0-9]*\) /\1|/'
}

origin_lines() {
    origins | awk -F'|' '
        { printf "<p class=\"origin\"><b>%s</b>, driver %s; measured on %s, commit <code>%s</code>", $2, $3, $4, $5
          print ": " $1 ($1 == 1 ? " figure" : " figures") "</p>" }
        END { if (!NR) print "<p class=\"origin\">No figure is measured yet.</p>" }'
}

row() {
    if ! missing "$1" > /dev/null; then
        echo "<tr><td><a href=\"#$1\">$(entry 3 list "$1" | as_text)</a><br><small>$(cited "$1" | as_text)</small></td>"
        echo "<td>$(in_short "$1" ours)</td><td>$(in_short "$1" paper)</td></tr>"
    fi
}

section() {
    title=$(entry 3 list "$1" | as_text)
    if why=$(missing "$1"); then
        echo "index: $1: $why" >&2
        echo "<details id=\"$1\"><summary>$title ($(cited "$1" | as_text)): $why</summary>"
        echo "<p>$(entry 4 list "$1" | as_text)<br><code>make figure NAME=$1</code> measures it.</p></details>"
        return
    fi
    echo "<section id=\"$1\"><h2>$title</h2>"
    echo "<p class=\"cited\">$(cited "$1" | as_text)</p>"
    echo "<p>$(entry 4 list "$1" | as_text)</p>"
    echo "<a href=\"$1.svg\"><img src=\"$1.svg\" alt=\"$title\"></a>"
    echo "<p class=\"numbers\"><b>ipt:</b> $(said "$1" ours)<br><b>Paper:</b> $(said "$1" paper)</p>"
    echo "<p class=\"numbers\"><code>make figure NAME=$1</code>, <a href=\"$1.csv\">the numbers as CSV</a>"
    if [ "$(origins | wc -l)" -gt 1 ]; then
        echo "<br>$(as_text < "$out/$1.origin" | awk -F'|' '{ print $1 ", driver " $2 ", " $3 ", commit " $4 }')"
    fi
    echo "</p></section>"
}

references() {
    echo "<h2>Papers</h2>"
    echo "<ul>"
    grep '^s' "$here/papers" | as_text | awk -F'|' '
        { print "<li>" $2 ": " $3 ($4 == "" ? "" : " <a href=\"" $4 "\">" $4 "</a>") "</li>" }'
    echo "</ul>"
}

page_head() {
    cat << 'END'
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>ipt: the papers' figures, measured again</title>
<style>
:root { color-scheme: light dark; --text: #222; --page: #fff; --line: #ddd; --faint: #666; --link: #1b5e9c; }
body { font: 16px/1.5 sans-serif; color: var(--text); background: var(--page); max-width: 46rem; margin: 0 auto; padding: 1rem; overflow-wrap: anywhere; }
h1 { margin: 0 0 0.3rem; line-height: 1.2; }
h2 { margin: 2.5rem 0 0; font-size: 1.2rem; }
.scroll { overflow-x: auto; border: 1px solid var(--line); }
table { border-collapse: collapse; width: 100%; min-width: 40rem; font-size: 0.85rem; line-height: 1.4; overflow-wrap: normal; }
th, td { text-align: left; vertical-align: top; padding: 0.4rem 0.6rem; border-bottom: 1px solid var(--line); }
img { display: block; width: 100%; height: auto; }
a { color: var(--link); }
.origin, .cited { margin: 0; }
small, .cited, details { color: var(--faint); }
.cited, .numbers, details { font-size: 0.9rem; }
details { margin: 1rem 0; border-top: 1px solid var(--line); padding-top: 0.5rem; }
@media (prefers-color-scheme: dark) {
    :root { --text: #ddd; --page: #242424; --line: #444; --faint: #a0a0a0; --link: #7db8ee; }
    img { filter: invert(0.9) hue-rotate(180deg) brightness(1.4); }
}
</style>
</head>
<body>
<h1>The papers' figures, measured again</h1>
END
}

{
    page_head
    origin_lines
    echo "<p>Each picture shows measurements of ipt, and the paper's numbers where the paper has them. Every measured result"
    echo "was verified element by element; those of batches of products and decompositions by a sample of their elements, in"
    echo "the table's column checked, and by the info of all. Speeds count bytes read and bytes written. ipt's ratio is its speed divided by that of"
    echo "a copy of the same bytes in the same run. A paper's fraction is its speed divided by its device's peak bandwidth."
    echo "Every panel names n, the number of its samples. A speed is the median of its rounds.</p>"
    echo "<div class=\"scroll\"><table>"
    echo "<thead><tr><th>figure</th><th>ipt</th><th>paper</th></tr></thead><tbody>"
    for f in $figures; do
        row "$f"
    done
    echo "</tbody></table></div>"
    for f in $figures; do
        section "$f"
    done
    references
    echo "</body>"
    echo "</html>"
} > "$page.new"
mv "$page.new" "$page"
echo "$page"
