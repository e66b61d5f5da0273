# Median and maximum of the extra memory for each kind of matrices.
legend = 3
load here."/common.gp"
percent_of(i, way, k) = real(system(sprintf("awk -F, '$1 == \"%s\" && $2 == \"%s\" { print $%d }' %s", word(kinds, i), way, k, csv)))
kinds = "floats doubles skinny-floats skinny-doubles"
count_of(way) = int(system(sprintf("awk -F, '$2 == \"%s\" { n += $3 } END { print n }' %s", way, csv)))
least = 0.001
shown(x) = x > least * 1.1 ? x : least * 1.1
array paper_median[4] = [0.01, 0.03, NaN, NaN]
array paper_most[4] = [0.43, 0.47, 0.02, 0.02]
set label 1 n_of(count_of("padding"), "")." paddings and ".count_of("plan")." plans\n% of the matrix" @above
set logscale y
set yrange [least:200]
set xrange [0.4:4.6]
set xtics ("floats" 1, "doubles" 2, "skinny floats" 3, "skinny doubles" 4)
set boxwidth 0.15
set style fill solid 0.8 noborder
plot "< seq 4" using ($1 - 0.27):(shown(percent_of(int($1), "padding", 4))) with boxes lc rgb "#a6d8a8" title "padding, median", \
    "< seq 4" using ($1 - 0.11):(shown(percent_of(int($1), "padding", 5))) with boxes lc rgb "#5aae61" title "padding, at most", \
    "< seq 4" using ($1 + 0.11):(shown(percent_of(int($1), "plan", 4))) with boxes lc rgb "#9cc4e0" title "ipt, median", \
    "< seq 4" using ($1 + 0.27):(shown(percent_of(int($1), "plan", 5))) with boxes lc rgb "#1b6ca8" title "ipt, at most", \
    "< seq 4" using ($1 - 0.27):(paper_median[int($1)]) with points pt 2 ps 1.2 lw 2 lc rgb "black" title "paper's padding", \
    "< seq 4" using ($1 - 0.11):(paper_most[int($1)]) with points pt 2 ps 1.2 lw 2 lc rgb "black" notitle, \
    100 with lines dt 2 lc rgb "#b2182b" title "out of place"
