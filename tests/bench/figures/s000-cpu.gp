# Bars for every shape: the best of each kind of sequence, over the copy.
set terminal svg size 900,520 font "sans,13" background "white"
set output svg
set datafile separator ","
device = system("awk -F, 'NR == 2 { print $17 }' ".csv)
best = "< awk -F, -v pattern='%s' 'NR > 1 { if (!($1 in seen)) { seen[$1] = 1; order[++count] = $1 } ".\
       "if ($4 ~ pattern && $12 > most[$1]) most[$1] = $12 } ".\
       "END { for (i = 1; i <= count; ++i) print order[i] \",\" most[order[i]] }' ".csv
shapes = int(system("awk -F, 'NR > 1 && !($1 in seen) { seen[$1] = 1; ++n } END { print n }' ".csv))
set title "Three stages against four on a CPU, best tiles (Sung et al. 2014, section 7.7)\nours on ".device noenhanced
set ylabel "throughput, GB/s"
set xlabel "rows x columns of floats"
set style fill solid 1 border -1
set boxwidth 0.17
set yrange [0:*]
set xrange [-0.6:shapes - 0.4]
set grid ytics
set xtics nomirror scale 0
set bmargin 7
set key bmargin center horizontal maxcols 3 samplen 2
plot sprintf(best, "^3") using ($0 - 0.3):2 with boxes lc rgb "#1b5e9c" title "3 stages", \
     sprintf(best, "^4.[12]") using ($0 - 0.1):2 with boxes lc rgb "#5a9bd4" title "4 stages", \
     sprintf(best, "^4.3") using ($0 + 0.1):2 with boxes lc rgb "#b7d4ee" title "4 stages fused", \
     sprintf(best, "auto") using ($0 + 0.3):2 with boxes lc rgb "#2e8b57" title "ipt's own choice", \
     sprintf(best, "auto") using ($0):(0):xtic(1) with impulses notitle, \
     5.02 lw 2 dt 2 lc rgb "#b5541c" title "paper: 3 stages, mean, Xeon Phi", \
     2.81 lw 2 dt 3 lc rgb "#b5541c" title "paper: 4 stages, mean, Xeon Phi"
