# The share of the matrices in each class, for each heuristic.
legend = 3
load here."/common.gp"
share(h, k) = real(system(sprintf("awk -F, '$1 == \"%s\" { print 100 * $%d / $2 }' %s", h, k, csv)))
names = "range-50-100 algorithm-1 algorithm-2 algorithm-5"
array paper_small[4] = [NaN, NaN, 44.7, NaN]
array paper_large[4] = [NaN, NaN, 58.52, NaN]
set label 1 n_of(int(system("awk -F, 'NR == 2 { print $2 }' ".csv)), "the tiles that heuristics find")." matrices\n% of the matrices" @above
set xrange [0.4:4.6]
set yrange [0:105]
set xtics ("range 50 to 100" 1, "algorithm 1" 2, "algorithm 2" 3, "algorithm 5" 4)
set boxwidth 0.15
set style fill solid 0.8 noborder
plot "< seq 4" using ($1 - 0.32):(share(word(names, int($1)), 3)) with boxes lc rgb "#999999" title "no tiles", \
    "< seq 4" using ($1 - 0.16):(share(word(names, int($1)), 6)) with boxes lc rgb "#5aae61" title "padded", \
    "< seq 4" using 1:(share(word(names, int($1)), 4)) with boxes lc rgb "#b2182b" title "m or n up to 6", \
    "< seq 4" using ($1 + 0.16):(share(word(names, int($1)), 5)) with boxes lc rgb "#1b6ca8" title "m > 4, n > 6, and it fits", \
    "< seq 4" using 1:(paper_small[int($1)]) with points pt 2 ps 1.2 lw 2 lc rgb "black" title "paper", \
    "< seq 4" using ($1 + 0.16):(paper_large[int($1)]) with points pt 2 ps 1.2 lw 2 lc rgb "black" notitle
