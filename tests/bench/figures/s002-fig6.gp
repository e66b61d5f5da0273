# The speed of each sequence, and the share of matrices for which it is the fastest.
height = 760
panels = 2
legend = 1
load here."/common.gp"
sequences = "1 2.1 2.2 3.1 3.2 3.3 3.4 4.1 4.2 4.3 auto tpds-2016"
# The lines of a sequence with ipt's kernels, of ipt's choice and of the paper's whole method.
of(s) = s eq "auto" || s eq "tpds-2016" ? "$4 == \"".s."\"" : "$4 == \"sequences\" && $5 == \"".s."\""
name_of(s) = s eq "auto" ? "ipt" : s eq "tpds-2016" ? "method" : s
array paper[11] = [0, 9.8, 9.1, 41.8, 37.4, 0, 0, 0, 0, 0, NaN]
speeds(s) = "< awk -F, '".of(s)." { print $13 }' ".csv
won(s) = real(system("awk -F, '$4 == \"sequences\" && $13 > best[$1, $2] { best[$1, $2] = $13; by[$1, $2] = $5 } ". \
    "END { for (s in by) { ++all; won += by[s] == \"".s."\" } print all ? 100 * won / all : 0 }' ".csv))
set xrange [0.4:12.6]
do for [i = 1:12] { set xtics add (name_of(word(sequences, i)) i) }
set yrange [0:*]
set style boxplot nooutliers
set style fill solid 0.4 border lc rgb "#333333"
set boxwidth 0.5
unset key
set multiplot
set label 1 n_of(count_if("1"), "random, 4 bytes, tiles of algorithm 2")." measurements\nratio to the copy" @above
plot for [i = 1:12] (count_if(of(word(sequences, i))) ? speeds(word(sequences, i)) : "< echo 0") using (i):1 with boxplot lc rgb "#1b6ca8"
unset label 9
set tmargin at screen top(2)
set bmargin at screen bottom(2)
set label 1 n_of(count_if('$4 == "auto"'), "how often each is the fastest")." matrices\n% of the matrices" @above
set xlabel "sequence"
set boxwidth 0.35
set key
set samples 11
plot [0.4:12.6] "< seq 10" using ($1 - 0.18):(won(word(sequences, int($1)))) with boxes lc rgb "#1b6ca8" title "ipt's kernels here", \
    "< seq 10" using ($1 + 0.18):(paper[int($1)]) with boxes lc rgb "#999999" title "paper, on a K20"
unset multiplot
