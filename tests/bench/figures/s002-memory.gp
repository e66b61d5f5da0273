# Gomez-Luna et al. 2016, section 7.2: medians and maxima by kind of matrices.
set terminal svg size 900,520 font "sans,13" background "white"
set output svg
set datafile separator comma
percent_of(i, way, k) = real(system(sprintf("awk -F, '$1 == \"%s\" && $2 == \"%s\" { print $%d }' %s", word(kinds, i), way, k, csv)))
kinds = "floats doubles skinny-floats skinny-doubles"
least = 0.001
shown(x) = x > least * 1.1 ? x : least * 1.1
array paper_median[4] = [0.01, 0.03, NaN, NaN]
array paper_most[4] = [0.43, 0.47, 0.02, 0.02]
set title "Memory beside the matrix (section 7.2)" font "sans,15"
set ylabel "% of the matrix"
set logscale y
set yrange [least:200]
set xrange [0.4:4.6]
set xtics ("floats" 1, "doubles" 2, "skinny, floats" 3, "skinny, doubles" 4)
set tics out nomirror
set grid ytics lc rgb "#dddddd"
set border 3
set boxwidth 0.15
set style fill solid 0.8 noborder
set key below maxrows 2 Left reverse samplen 1.5
plot "< seq 4" using ($1 - 0.27):(shown(percent_of(int($1), "padding", 4))) with boxes lc rgb "#a6d8a8" title "padding, median", \
    "< seq 4" using ($1 - 0.11):(shown(percent_of(int($1), "padding", 5))) with boxes lc rgb "#5aae61" title "padding, at most", \
    "< seq 4" using ($1 + 0.11):(shown(percent_of(int($1), "plan", 4))) with boxes lc rgb "#9cc4e0" title "ipt's plans, median", \
    "< seq 4" using ($1 + 0.27):(shown(percent_of(int($1), "plan", 5))) with boxes lc rgb "#1b6ca8" title "ipt's plans, at most", \
    "< seq 4" using ($1 - 0.27):(paper_median[int($1)]) with points pt 2 ps 1.2 lw 2 lc rgb "black" title "the paper's padding", \
    "< seq 4" using ($1 - 0.11):(paper_most[int($1)]) with points pt 2 ps 1.2 lw 2 lc rgb "black" notitle, \
    100 with lines dt 2 lc rgb "#b2182b" title "out of place"
