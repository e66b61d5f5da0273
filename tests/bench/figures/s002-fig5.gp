# Gomez-Luna et al. 2016, Fig. 5: the shapes in the order of the best that brute force finds.
set terminal svg size 900,520 font "sans,13" background "white"
set output svg
set datafile separator comma
best = "NR > 1 && $4 != \"auto\" && $8 + $9 == 0 && $13 > best[$1, $2] { best[$1, $2] = $13 } "
ranked(way) = "< awk -F, '".best."$4 == \"".way."\" { at[$1, $2] = $13 } ". \
    "END { for (s in best) print best[s] \",\" (\"".way."\" == \"best\" ? best[s] : s in at ? at[s] : \"NaN\") }' ". \
    csv." | sort -g | awk -F, '{ print NR \",\" $2 }'"
set title "Tiles by heuristics and by brute force, random matrices of 4 bytes (Fig. 5)" font "sans,15"
set xlabel "matrix, by the speed of brute force's best tiles" offset 0,0.9
set bmargin 9
set ylabel "speed, as a ratio to a copy"
set grid ytics lc rgb "#dddddd"
set tics out nomirror
set border 3
set yrange [0:*]
set key below maxrows 2 Left reverse samplen 1.5
plot ranked("auto") using 1:2 with points pt 7 ps 0.7 lc rgb "#1b6ca8" title "ipt's own choice", \
    ranked("best") using 1:2 with linespoints pt 5 ps 0.5 lw 2 lc rgb "black" title "brute force", \
    ranked("algorithm-1") using 1:2 with points pt 4 lc rgb "#b2182b" title "algorithm 1", \
    ranked("algorithm-2") using 1:2 with points pt 6 lc rgb "#e08214" title "algorithm 2", \
    ranked("algorithm-5") using 1:2 with points pt 8 lc rgb "#5aae61" title "algorithm 5, padded"
