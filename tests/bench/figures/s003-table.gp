# Milliseconds of what was measured, without and with transfers, beside the seed's, which have none.
set terminal svg size 900,520 font "sans,13" background "white"
set output svg
set datafile separator ","

kernels = "copy-buffer copy naive coalesced conflict-free cublas ipt-out-of-place ipt-in-place"
place(name) = sum [i = 1:words(kernels)] (word(kernels, i) eq name ? i : 0)
at(name, offset) = place(name) > 0 ? place(name) + offset : NaN
shape = system("awk -F, 'NR == 2 { print $2 \" x \" $3 }' '" . csv . "'")

# Pomorski, last table, M2070.
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
set border 3
set tics nomirror out
set xtics scale 0
set xtics ("OpenCL's\ncopy" 1, "copy" 2, "naive" 3, "coalesced" 4, "conflict-\nfree" 5, "cuBLAS\n(paper only)" 6, \
    "ipt out\nof place" 7, "ipt\nin place" 8)
set grid ytics lc rgb "#dddddd"
set xrange [0.5:words(kernels) + 0.5]
set logscale y
stats csv using 9 skip 1 nooutput
low = STATS_min
stats csv using 10 skip 1 nooutput
high = STATS_max > 22.5 ? STATS_max : 22.5
base = 10 ** floor(log10(low) - 0.3)
set yrange [base:high * 2]
set ylabel "milliseconds (logarithmic)"
set key at graph 0.5, graph 1.02 bottom center horizontal maxcols 3 samplen 2.5 width -2
set rmargin 3
set tmargin 4
set bmargin 3.2
set title "Transposition of a square of floats, as in Pomorski" offset 0, 1.2

text(value) = sprintf("%.3g", value)
plot csv using (at(strcol(1), -step)):9 skip 1 with boxes lc rgb "#08306b" title shape . " here", \
    csv using (at(strcol(1), 0)):10 skip 1 with boxes lc rgb "#9ecae1" title "here, with transfers", \
    $paper using (at(strcol(1), step)):2 with boxes lc rgb "#fd8d3c" title "paper, 8192 x 8192, M2070", \
    csv using (at(strcol(1), -step)):9:(text($9)) skip 1 with labels offset 0, 0.6 font ",10" notitle, \
    csv using (at(strcol(1), 0)):10:(text($10)) skip 1 with labels offset 0, 0.6 font ",10" notitle, \
    $paper using (at(strcol(1), step)):2:(text($2)) with labels offset 0, 0.6 font ",10" notitle
