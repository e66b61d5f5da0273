# Upper panel: measured GB/s. Lower panel: the same relative to the copy, and the paper's column for a K20X.
height = 880
panels = 2
legend = 3
load here."/common.gp"
kernels = "copy-buffer copy local-copy naive coalesced conflict-free fine-grained coarse-grained diagonal ipt-out-of-place ipt-in-place"
place(name) = sum [i = 1:words(kernels)] (word(kernels, i) eq name ? i : 0)
name_of(row, col) = row . "x" . col
shapes = system("awk -F, 'NR > 1 && !seen[$2 FS $3]++ { print $2 \"x\" $3 }' '" . csv . "'")
bars = words(shapes)
colours = "#08306b #3182bd #9ecae1"

# The paper's last table, column K20X. Its unit cancels out.
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
set xtics scale 0 rotate by 40 right font ",12"
set xtics ("OpenCL's copy" 1, "copy" 2, "local copy" 3, "naive" 4, "coalesced" 5, "conflict-free" 6, \
    "fine-grained" 7, "coarse-grained" 8, "diagonal" 9, "ipt out of place" 10, "ipt in place" 11)
set xrange [0.4:words(kernels) + 0.6]
set yrange [0:*]
set multiplot
set bmargin at screen bottom(1) + 45.0 / height
set label 1 n_of(count_if("1"), "measured")." kernels and shapes\nGB/s" @above
unset key
step = 0.84 / bars
set boxwidth step * 0.94
plot for [s = 1:bars] csv using (place(strcol(1)) + (s - (bars + 1) / 2.0) * step): \
    (name_of(strcol(2), strcol(3)) eq word(shapes, s) ? $5 : NaN) skip 1 lc rgb word(colours, s)
unset label 9
set tmargin at screen top(2) + 15.0 / height
set bmargin at screen bottom(2) + 40.0 / height
set label 1 n_of(count_if("1"), "the same")." kernels and shapes\nfraction of the copy" @above
set key
step = 0.84 / (bars + 1)
set boxwidth step * 0.94
plot for [s = 1:bars] csv using (place(strcol(1)) + (s - bars / 2.0 - 1) * step): \
    (name_of(strcol(2), strcol(3)) eq word(shapes, s) ? $7 : NaN) skip 1 lc rgb word(colours, s) title word(shapes, s), \
    $paper using (place(strcol(1)) + bars / 2.0 * step):($2 / paper_copy) lc rgb "#fd8d3c" \
    title "paper, 2048x2048 on a K20X"
unset multiplot
