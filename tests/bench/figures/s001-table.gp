# Above: what was measured, in GB/s. Below: the same as a fraction of the copy, beside the seed's own column for a K20X.
set terminal svg size 900,520 font "sans,13" background "white"
set output svg
set datafile separator ","

kernels = "copy-buffer copy local-copy naive coalesced conflict-free fine-grained coarse-grained diagonal ipt-out-of-place ipt-in-place"
place(name) = sum [i = 1:words(kernels)] (word(kernels, i) eq name ? i : 0)
name_of(row, col) = row . "x" . col
shapes = system("awk -F, 'NR > 1 && !seen[$2 FS $3]++ { print $2 \"x\" $3 }' '" . csv . "'")
bars = words(shapes)
colours = "#08306b #3182bd #9ecae1"

# Ruetsch et al. 2013, last table, column K20X: its unit cancels out.
$paper << EOD
copy,147.6
local-copy,130.5
naive,92.0
coalesced,114.0
conflict-free,112.6
fine-grained,115.0
coarse-grained,123.5
diagonal,106.7
EOD
paper_copy = 147.6

set style fill solid 0.9 noborder
set style data boxes
set border 3
set tics nomirror out
set xtics scale 0
set grid ytics lc rgb "#dddddd"
set xrange [0.4:words(kernels) + 0.6]
set yrange [0:*]
set key outside top center horizontal
set lmargin 9
set rmargin 3

set multiplot layout 2, 1 title "Copies and transpositions of floats, step by step as in Ruetsch et al. 2013"

set ylabel "GB/s" offset 1.5,0
set xtics ("" 1)
set tmargin 2
set bmargin 1.2
step = 0.84 / bars
set boxwidth step * 0.94
plot for [s = 1:bars] csv using (place(strcol(1)) + (s - (bars + 1) / 2.0) * step): \
    (name_of(strcol(2), strcol(3)) eq word(shapes, s) ? $5 : NaN) skip 1 lc rgb word(colours, s) title word(shapes, s)

set ylabel "fraction of the copy"
set xtics ("OpenCL's\ncopy" 1, "copy" 2, "local\ncopy" 3, "naive" 4, "coalesced" 5, "conflict-\nfree" 6, \
    "fine-\ngrained" 7, "coarse-\ngrained" 8, "diagonal" 9, "ipt out\nof place" 10, "ipt\nin place" 11)
set bmargin 3
step = 0.84 / (bars + 1)
set boxwidth step * 0.94
plot for [s = 1:bars] csv using (place(strcol(1)) + (s - bars / 2.0 - 1) * step): \
    (name_of(strcol(2), strcol(3)) eq word(shapes, s) ? $7 : NaN) skip 1 lc rgb word(colours, s) notitle, \
    $paper using (place(strcol(1)) + bars / 2.0 * step):($2 / paper_copy) lc rgb "#fd8d3c" \
    title "the paper, 2048x2048 on a K20X, of its simple copy"
unset multiplot
