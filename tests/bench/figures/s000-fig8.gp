# A point for every pair of sides, its colour the throughput; the paper's own bounds are drawn over them.
set terminal svg size 900,520 font "sans,13" background "white"
set output svg
set datafile separator ","
device = system("awk -F, 'NR == 2 { print $17 }' ".csv)
shape = system("awk -F, 'NR == 2 { print $2 \" x \" $3 }' ".csv)
points = "< awk -F, 'NR > 1 && $4 == \"3.1\" { print $5 \",\" $6 \",\" $14 }' ".csv
best = "< awk -F, 'NR > 1 && $4 == \"3.1\" && $12 > most { most = $12; line = $5 \",\" $6 } END { print line }' ".csv
set title "Sequence 3.1 over tile sizes, ".shape." floats (Sung et al. 2014, figure 8)\non ".device noenhanced
set xlabel "m, rows of a tile"
set ylabel "n, columns of a tile"
set logscale xy
set xrange [7:180]
set yrange [7:180]
set xtics (8, 10, 15, 20, 30, 40, 60, 80, 100, 150) nomirror
set ytics (8, 10, 15, 20, 30, 40, 60, 80, 100, 150) nomirror
set palette defined (0 "#e8eef5", 0.35 "#6baed6", 0.7 "#2171b5", 1 "#08306b")
set cbrange [0:*]
set cblabel "ratio to the copy"
set bmargin 7
set key bmargin center horizontal maxcols 2 samplen 2 spacing 1.2
set object 1 rectangle from 50, 50 to 100, 100 fillstyle empty border lc rgb "#b5541c" lw 2
plot points using 1:2:3 with points pt 7 ps 1.3 lc palette notitle, \
     3600 / x with lines lw 2 dt 2 lc rgb "#b5541c" title "m n = 3600, the paper's local memory", \
     keyentry with lines lw 2 lc rgb "#b5541c" title "the paper's rule: 50 to 100", \
     best using 1:2 with points pt 6 ps 1.7 lw 2 lc rgb "#2e8b57" title "our best", \
     "< echo 32,72" using 1:2 with points pt 8 ps 1.7 lw 2 lc rgb "#b5541c" title "the paper's best"
