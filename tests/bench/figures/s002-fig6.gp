# Gomez-Luna et al. 2016, Fig. 6: how fast the sequences are, and how often each is the fastest.
set terminal svg size 900,520 font "sans,13" background "white"
set output svg
set datafile separator comma
sequences = "1 2.1 2.2 3.1 3.2 3.3 3.4 4.1 4.2 4.3 auto"
array paper[11] = [0, 9.8, 9.1, 41.8, 37.4, 0, 0, 0, 0, 0, NaN]
speeds(s) = "< awk -F, '$5 == \"".s."\" { print $13 }' ".csv
many(s) = int(system(substr(speeds(s), 3, -1)." | wc -l"))
won(s) = real(system("awk -F, '$4 == \"sequences\" && $13 > best[$1, $2] { best[$1, $2] = $13; by[$1, $2] = $5 } ". \
    "END { for (s in by) { ++all; won += by[s] == \"".s."\" } print all ? 100 * won / all : 0 }' ".csv))
set multiplot title "The sequences with the tiles of algorithm 2, random matrices of 4 bytes (Fig. 6)" font "sans,15"
set xrange [0.4:11.6]
do for [i = 1:11] { set xtics add (word(sequences, i) eq "auto" ? "ipt" : word(sequences, i) i) }
set tics out nomirror
set grid ytics lc rgb "#dddddd"
set border 3
set lmargin at screen 0.10
set rmargin at screen 0.97
set tmargin at screen 0.90
set bmargin at screen 0.50
set yrange [0:*]
set ylabel "ratio to a copy" offset -0.5,0
set style boxplot nooutliers
set style fill solid 0.4 border lc rgb "#333333"
set boxwidth 0.5
unset key
plot for [i = 1:11] (many(word(sequences, i)) ? speeds(word(sequences, i)) : "< echo 0") using (i):1 with boxplot lc rgb "#1b6ca8"
set tmargin at screen 0.42
set bmargin at screen 0.13
set ylabel "fastest, % of the matrices"
set xlabel "sequence"
set boxwidth 0.35
set key top right
set samples 11
plot [0.4:11.6] "< seq 10" using ($1 - 0.18):(won(word(sequences, int($1)))) with boxes lc rgb "#1b6ca8" title "ipt's kernels here", \
    "< seq 10" using ($1 + 0.18):(paper[int($1)]) with boxes lc rgb "#999999" title "the paper on a K20, section 5.4"
unset multiplot
