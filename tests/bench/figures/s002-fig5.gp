# Shapes sorted by the best speed of the brute-force search.
legend = 4
load here."/common.gp"
best = "NR > 1 && $4 != \"auto\" && $8 + $9 == 0 && $13 > best[$1, $2] { best[$1, $2] = $13 } "
ranked(way) = "< awk -F, '".best."$4 == \"".way."\" { at[$1, $2] = $13 } ". \
    "END { for (s in best) print best[s] \",\" (\"".way."\" == \"best\" ? best[s] : s in at ? at[s] : \"NaN\") }' ". \
    csv." | sort -g | awk -F, '{ print NR \",\" $2 }'"
set label 1 n_of(count_if('$4 == "auto"'), "random, 4 bytes")." matrices\nratio to the copy" @above
set xlabel "matrix, by the speed of brute force's best tiles"
set yrange [0:*]
set offsets 0.2, 0.2, 0, 0
plot ranked("auto") using 1:2 with points pt 7 ps 0.7 lc rgb "#1b6ca8" title "ipt's own choice", \
    ranked("best") using 1:2 with linespoints pt 5 ps 0.5 lw 2 lc rgb "black" title "brute force", \
    ranked("algorithm-1") using 1:2 with points pt 4 lc rgb "#b2182b" title "algorithm 1", \
    ranked("algorithm-2") using 1:2 with points pt 6 lc rgb "#e08214" title "algorithm 2", \
    ranked("tpds-2016") using 1:2 with points pt 2 lc rgb "black" title "the paper's method", \
    ranked("algorithm-5") using 1:2 with points pt 8 lc rgb "#5aae61" title "algorithm 5, padded"
