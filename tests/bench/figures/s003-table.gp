# Measured milliseconds, without and with transfers, and the paper's, which are without.
height = 560
load here."/common.gp"
kernels = "copy-buffer copy naive coalesced conflict-free cublas ipt-out-of-place ipt-in-place"
place(name) = sum [i = 1:words(kernels)] (word(kernels, i) eq name ? i : 0)
at(name, offset) = place(name) > 0 ? place(name) + offset : NaN
shape = system("awk -F, 'NR == 2 { print $2 \" x \" $3 }' '" . csv . "'")

# The paper's last table, for an M2070.
$paper << EOD
copy,8.7
naive,22.5
coalesced,20.8
conflict-free,11.1
cublas,6.8
EOD

step = 0.29
set style fill solid 0.9 noborder
set boxwidth step * 0.94
set xtics scale 0 rotate by 40 right font ",12"
set xtics ("OpenCL's copy" 1, "copy" 2, "naive" 3, "coalesced" 4, "conflict-free" 5, "cuBLAS (paper)" 6, \
    "ipt out of place" 7, "ipt in place" 8)
set bmargin at screen bottom(1) + 40.0 / height
set xrange [0.5:words(kernels) + 0.5]
set logscale y
stats csv using 9 skip 1 nooutput
low = STATS_min
stats csv using 10 skip 1 nooutput
high = STATS_max > 22.5 ? STATS_max : 22.5
base = 10 ** floor(log10(low) - 0.3)
set yrange [base:high * 2]
drawn = count_if('$1 ~ /^(copy-buffer|copy|naive|coalesced|conflict-free|ipt-out-of-place|ipt-in-place)$/')
set label 1 n_of(2 * drawn, shape." floats")." measurements\nmilliseconds" @above

text(value) = sprintf("%.3g", value)
plot csv using (at(strcol(1), -step)):9 skip 1 with boxes lc rgb "#08306b" title "here", \
    csv using (at(strcol(1), 0)):10 skip 1 with boxes lc rgb "#9ecae1" title "here, with transfers", \
    $paper using (at(strcol(1), step)):2 with boxes lc rgb "#fd8d3c" title "paper, 8192 x 8192, M2070", \
    csv using (at(strcol(1), -step)):9:(text($9)) skip 1 with labels rotate left offset 0, 0.3 font ",10" notitle, \
    csv using (at(strcol(1), 0)):10:(text($10)) skip 1 with labels rotate left offset 0, 0.3 font ",10" notitle, \
    $paper using (at(strcol(1), step)):2:(text($2)) with labels rotate left offset 0, 0.3 font ",10" notitle
