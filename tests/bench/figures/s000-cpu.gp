# Bars for every shape: the best of each kind of sequence, in GB/s.
legend = 5
load here."/common.gp"
best = "< awk -F, -v pattern='%s' 'NR > 1 { if (!($1 in seen)) { seen[$1] = 1; order[++count] = $1 } ".\
       "if ($4 ~ pattern && $12 > most[$1]) most[$1] = $12 } ".\
       "END { for (i = 1; i <= count; ++i) print order[i] \",\" most[order[i]] }' ".csv
shapes = int(system("awk -F, 'NR > 1 && !($1 in seen) { seen[$1] = 1; ++n } END { print n }' ".csv))
set label 1 n_of(count_if("1"), "best tiles")." measurements\nGB/s" @above
set xlabel "rows x columns of floats"
set style fill solid 1 border -1
set boxwidth 0.15
set yrange [0:*]
set xrange [-0.6:shapes - 0.4]
set xtics scale 0
plot sprintf(best, "^3") using ($0 - 0.3):2 with boxes lc rgb "#1b5e9c" title "3 stages", \
     sprintf(best, "^4.[12]") using ($0 - 0.1):2 with boxes lc rgb "#5a9bd4" title "4 stages", \
     sprintf(best, "^4.3") using ($0 + 0.1):2 with boxes lc rgb "#b7d4ee" title "4 stages fused", \
     sprintf(best, "auto") using ($0 + 0.3):2 with boxes lc rgb "#2e8b57" title "ipt's own choice", \
     sprintf(best, "ppopp-2014") using ($0 + 0.45):2 with boxes lc rgb "#000000" title "the paper's method, here", \
     sprintf(best, "auto") using ($0):(0):xtic(1) with impulses notitle, \
     5.02 lw 2 dt 2 lc rgb "#b5541c" title "paper: 3 stages, mean", \
     2.81 lw 2 dt 3 lc rgb "#b5541c" title "paper: 4 stages, mean"
