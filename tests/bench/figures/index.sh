# Writes index.html, a page of all figures that are there: what `list` names, each NAME.svg with the two lines of
# NAME.txt. The page needs nothing but the pictures beside it.
set -eu
out=${OUT:-build/figures}
here=$(dirname "$0")
page=$out/index.html
mkdir -p "$out"

# Standard input as text of the page.
as_text() {
    sed 's/&/\&amp;/g; s/</\&lt;/g; s/>/\&gt;/g; s/"/\&quot;/g'
}

# The line of the figure $1 that begins with "$2: ", without that.
said() {
    if [ -f "$out/$1.txt" ]; then
        sed -n "s/^$2: //p" "$out/$1.txt" | as_text
    fi
}

# Runs the function $1 with name, title and sentence of every figure.
each() {
    grep -v -e '^#' -e '^$' "$here/list" | as_text | while IFS='|' read -r name title sentence; do
        "$1" "$name" "$title" "$sentence"
    done
}

row() {
    if [ -f "$out/$1.svg" ]; then
        echo "<tr><td><a href=\"#$1\">$2</a></td><td><code>make bench-$1</code></td>"
        echo "<td>$(said "$1" ours)</td><td>$(said "$1" paper)</td></tr>"
    else
        echo "index: $1 is not measured" >&2
        echo "<tr class=\"missing\"><td>$2</td><td><code>make bench-$1</code></td><td>not measured</td><td></td></tr>"
    fi
}

section() {
    echo "<section id=\"$1\"><h2>$2</h2>"
    echo "<p>$3</p>"
    if [ -f "$out/$1.svg" ]; then
        echo "<img src=\"$1.svg\" alt=\"$2\" width=\"900\" height=\"520\">"
        echo "<p class=\"numbers\"><b>Ours:</b> $(said "$1" ours)<br><b>The paper's:</b> $(said "$1" paper)<br>"
        echo "<a href=\"$1.csv\">The numbers as CSV</a></p></section>"
    else
        echo "<p class=\"missing\">not measured: <code>make bench-$1</code></p></section>"
    fi
}

page_head() {
    cat << 'END'
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>ipt: the papers' figures, measured again</title>
<style>
body { font: 16px/1.5 sans-serif; color: #222; background: #fff; max-width: 72rem; margin: 0 auto; padding: 1rem 1.5rem; }
h1 { margin-bottom: 0.3rem; }
h2 { margin: 2.5rem 0 0.3rem; font-size: 1.2rem; }
table { border-collapse: collapse; width: 100%; font-size: 0.85rem; line-height: 1.4; }
th, td { text-align: left; vertical-align: top; padding: 0.4rem 0.6rem; border-bottom: 1px solid #ddd; }
th { border-bottom: 2px solid #888; }
code { white-space: nowrap; font-size: 0.9em; }
img { max-width: 100%; height: auto; border: 1px solid #ddd; }
a { color: #1b5e9c; }
.missing, .missing code { color: #767676; }
.numbers { font-size: 0.9rem; }
</style>
</head>
<body>
<h1>The papers' figures, measured again</h1>
<p>Every picture is made by <code>make bench-NAME</code>, and every result behind it was verified element by element.
Speeds count the bytes read and the bytes written. Ours are also given as a ratio to a copy of the same bytes in the same
run, the papers' as a fraction of the peak bandwidth of their own devices.</p>
<table>
<thead><tr><th>figure</th><th>target</th><th>ours</th><th>the paper's</th></tr></thead>
<tbody>
END
}

{
    page_head
    each row
    echo "</tbody>"
    echo "</table>"
    each section
    echo "</body>"
    echo "</html>"
} > "$page.new"
mv "$page.new" "$page"
echo "$page"
