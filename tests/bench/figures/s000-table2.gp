# Bars for every shape: the best sequence of each kind. ipt's speed is relative to the copy, the paper's (table 2) to the
# peak bandwidth of its Tesla K20.
legend = 5
load here."/common.gp"
best = "< awk -F, -v pattern='%s' 'NR > 1 { if (!($1 in seen)) { seen[$1] = 1; order[++count] = $1 } ".\
       "if ($4 ~ pattern && $12 > most[$1]) { most[$1] = $12; ratio[$1] = $14 } } ".\
       "END { for (i = 1; i <= count; ++i) print order[i] \",\" ratio[order[i]] }' ".csv

$paper << EOD
20.59,7.11,7.67
18.49,6.87,7.38
20.73,7.23,7.79
18.80,7.23,7.79
17.29,6.86,7.37
18.70,7.07,7.60
EOD

set label 1 n_of(count_if("1"), "best tiles")." measurements\nipt over the copy, the paper over its peak" @above
set xlabel "rows x columns of floats"
set style fill solid 1 border -1
set boxwidth 0.1
set yrange [0:*]
set xrange [-0.6:5.6]
set xtics scale 0 font ",13"
plot sprintf(best, "^3") using ($0 - 0.36):2 with boxes lc rgb "#1b5e9c" title "ipt, 3 stages", \
     sprintf(best, "^4.[12]") using ($0 - 0.24):2 with boxes lc rgb "#5a9bd4" title "ipt, 4 stages", \
     sprintf(best, "^4.3") using ($0 - 0.12):2 with boxes lc rgb "#b7d4ee" title "ipt, 4 stages fused", \
     sprintf(best, "auto") using ($0):2:xtic(1) with boxes lc rgb "#2e8b57" title "ipt's own choice", \
     sprintf(best, "ppopp-2014") using ($0 + 0.12):2 with boxes lc rgb "#000000" title "the paper's method, here", \
     $paper using ($0 + 0.24):($1 / 208) with boxes lc rgb "#b5541c" title "paper, 3 stages", \
     $paper using ($0 + 0.36):($2 / 208) with boxes lc rgb "#e59a5c" title "paper, 4 stages", \
     $paper using ($0 + 0.48):($3 / 208) with boxes lc rgb "#f6d3b3" title "paper, 4 stages fused"
