# Gomez-Luna et al. 2016, section 6.1: shares of the matrices.
set terminal svg size 900,520 font "sans,13" background "white"
set output svg
set datafile separator comma
share(h, k) = real(system(sprintf("awk -F, '$1 == \"%s\" { print 100 * $%d / $2 }' %s", h, k, csv)))
names = "range-50-100 algorithm-1 algorithm-2 algorithm-5"
array paper_small[4] = [NaN, NaN, 44.7, NaN]
array paper_large[4] = [NaN, NaN, 58.52, NaN]
set title "Random matrices with sides 1,000 to 20,000: the tiles that heuristics find (section 6.1)" font "sans,15"
set ylabel "% of the matrices"
set xrange [0.4:4.6]
set yrange [0:105]
set xtics ("Sung et al. 2014: 50 to 100" 1, "algorithm 1" 2, "algorithm 2" 3, "algorithm 5" 4)
set tics out nomirror
set grid ytics lc rgb "#dddddd"
set border 3
set boxwidth 0.15
set style fill solid 0.8 noborder
set key below maxrows 2 Left reverse samplen 1.5
plot "< seq 4" using ($1 - 0.32):(share(word(names, int($1)), 3)) with boxes lc rgb "#999999" title "no tiles", \
    "< seq 4" using ($1 - 0.16):(share(word(names, int($1)), 6)) with boxes lc rgb "#5aae61" title "padded", \
    "< seq 4" using 1:(share(word(names, int($1)), 4)) with boxes lc rgb "#b2182b" title "m or n up to 6", \
    "< seq 4" using ($1 + 0.16):(share(word(names, int($1)), 5)) with boxes lc rgb "#1b6ca8" title "m > 4, n > 6, and it fits", \
    "< seq 4" using 1:(paper_small[int($1)]) with points pt 2 ps 1.2 lw 2 lc rgb "black" title "the paper's counts", \
    "< seq 4" using ($1 + 0.16):(paper_large[int($1)]) with points pt 2 ps 1.2 lw 2 lc rgb "black" notitle
