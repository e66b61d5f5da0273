# Upper panel: measured GB/s. Middle panel: the same for a loop within the kernel, which the caches serve. Lower panel: the
# first relative to the copy, and the paper's three columns.
height = 1250
panels = 3
legend = 4
load here."/common.gp"
kernels = "copy-buffer copy local-copy naive coalesced conflict-free fine-grained coarse-grained diagonal diagonal-unpadded padded-output ipt-out-of-place ipt-in-place"
place(name) = sum [i = 1:words(kernels)] (word(kernels, i) eq name ? i : 0)
name_of(row, col) = row . "x" . col
shapes = system("awk -F, 'NR > 1 && !seen[$2 FS $3]++ { print $2 \"x\" $3 }' '" . csv . "'")
bars = words(shapes)
colours = "#08306b #3182bd #9ecae1"

# The paper's last table: GTX 280, M2090, K20X. Its unit cancels out.
$paper << EOD
copy,96.9,125.2,147.6
local-copy,80.9,110.6,130.5
naive,2.2,61.5,92.0
coalesced,16.5,92.8,114.0
conflict-free,16.6,103.2,112.6
fine-grained,80.4,105.8,115.0
coarse-grained,16.7,107.2,123.5
diagonal,69.5,81.4,106.7
EOD
array paper_copy[3] = [96.9, 125.2, 147.6]
array paper_device[3] = ["GTX 280", "M2090", "K20X"]
paper_colours = "#fee391 #fd8d3c #b10026"

set style fill solid 0.9 noborder
set style data boxes
set xtics scale 0 rotate by 40 right font ",12"
set xtics ("OpenCL's copy" 1, "copy" 2, "local copy" 3, "naive" 4, "coalesced" 5, "conflict-free" 6, \
    "fine-grained" 7, "coarse-grained" 8, "diagonal" 9, "diagonal, no padding" 10, "padded output" 11, "ipt out of place" 12, \
    "ipt in place" 13)
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
set bmargin at screen bottom(2) + 45.0 / height
set label 1 n_of(count_if("$11 > 0"), "100 turns of a loop within the kernel")." kernels and shapes\nGB/s" @above
plot for [s = 1:bars] csv using (place(strcol(1)) + (s - (bars + 1) / 2.0) * step): \
    (name_of(strcol(2), strcol(3)) eq word(shapes, s) ? $11 : NaN) skip 1 lc rgb word(colours, s)
unset label 9
set tmargin at screen top(3) + 15.0 / height
set bmargin at screen bottom(3) + 40.0 / height
set label 1 n_of(count_if("1"), "those above")." kernels and shapes\nfraction of the copy" @above
set key
step = 0.84 / (bars + 3)
set boxwidth step * 0.94
plot for [s = 1:bars] csv using (place(strcol(1)) + (s - (bars + 4) / 2.0) * step): \
    (name_of(strcol(2), strcol(3)) eq word(shapes, s) ? $7 : NaN) skip 1 lc rgb word(colours, s) title word(shapes, s), \
    for [p = 1:3] $paper using (place(strcol(1)) + (bars + p - (bars + 4) / 2.0) * step):(column(p + 1) / paper_copy[p]) \
    lc rgb word(paper_colours, p) title "paper, 2048x2048 on a ".paper_device[p]
unset multiplot
