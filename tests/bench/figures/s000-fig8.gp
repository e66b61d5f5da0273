# A point for every pair of sides, coloured by throughput, and the paper's own bounds as lines.
height = 560
load here."/common.gp"
shape = system("awk -F, 'NR == 2 { print $2 \" x \" $3 }' ".csv)
points = "< awk -F, 'NR > 1 && $4 == \"3.1\" { print $5 \",\" $6 \",\" $14 }' ".csv
best = "< awk -F, 'NR > 1 && $4 == \"3.1\" && $12 > most { most = $12; line = $5 \",\" $6 } END { print line }' ".csv
set label 1 n_of(count_if('$4 == "3.1"'), "sequence 3.1, ".shape." floats")." tiles\nn, columns of a tile; colour: ratio to the copy" @above
set xlabel "m, rows of a tile"
set rmargin at screen 0.84
set logscale xy
set xrange [7:180]
set yrange [7:180]
set xtics (8, 10, 15, 20, 30, 40, 60, 80, 100, 150)
set ytics (8, 10, 15, 20, 30, 40, 60, 80, 100, 150)
set palette defined (0 "#e8eef5", 0.35 "#6baed6", 0.7 "#2171b5", 1 "#08306b")
set cbrange [0:*]
set colorbox user origin screen 0.86, screen bottom(1) size screen 0.03, screen (top(1) - bottom(1))
set object 1 rectangle from 50, 50 to 100, 100 fillstyle empty border lc rgb "#b5541c" lw 2
plot points using 1:2:3 with points pt 7 ps 1.3 lc palette notitle, \
     3600 / x with lines lw 2 dt 2 lc rgb "#b5541c" title "paper: m n = 3600, local memory", \
     keyentry with lines lw 2 lc rgb "#b5541c" title "paper's rule: 50 to 100", \
     best using 1:2 with points pt 6 ps 1.7 lw 2 lc rgb "#2e8b57" title "best here", \
     "< echo 32,72" using 1:2 with points pt 8 ps 1.7 lw 2 lc rgb "#b5541c" title "paper's best"
