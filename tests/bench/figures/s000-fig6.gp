# A panel for every height of the tiles, a colour for every width; padding is dashed.
set terminal svg size 900,520 font "sans,13" background "white"
set output svg
set datafile separator ","
device = system("awk -F, 'NR == 2 { print $17 }' ".csv)
most = real(system("awk -F, 'NR > 1 && $14 > m { m = $14 } END { print m }' ".csv))
pick(kernel, m, n) = sprintf("< awk -F, '$7 == \"%s\" && $5 == %d && $6 == %d' %s", kernel, m, n, csv)
widths = "16 39 64 128 215 256"
array colours[6] = ["#1b5e9c", "#2e8b57", "#b5541c", "#7b3fa0", "#c9a400", "#444444"]
unset key
set multiplot title "PTTWAC 010!: spreading and padding the flags (Sung et al. 2014, figure 6)\non ".device noenhanced
set logscale x 2
set xrange [0.85:38]
set yrange [0:most * 1.1]
set xtics ("1" 1, "2" 2, "4" 4, "8" 8, "16" 16, "32" 32) nomirror
set ytics nomirror
set grid ytics
set tmargin at screen 0.83
set bmargin at screen 0.27
do for [panel = 1:3] {
    m = 2 ** (panel + 3)
    set lmargin at screen 0.09 + (panel - 1) * 0.305
    set rmargin at screen 0.09 + (panel - 1) * 0.305 + 0.28
    set title sprintf("tiles of %d rows", m)
    set xlabel "flags spread by"
    set ylabel (panel == 1 ? "ratio to the copy" : "")
    set format y (panel == 1 ? "%g" : "")
    plot for [i = 1:6] pick("pttwac-010", m, int(word(widths, i))) using 9:14 with linespoints lw 2 pt 7 ps 0.5 \
             lc rgb colours[i], \
         for [i = 1:6] pick("pttwac-010-padded", m, int(word(widths, i))) using 9:14 with lines lw 2 dt 2 \
             lc rgb colours[i]
}
# One key for the three, in a panel of its own that shows nothing else.
unset logscale
unset border
unset tics
unset title
unset xlabel
unset ylabel
set lmargin at screen 0.05
set rmargin at screen 0.95
set tmargin at screen 0.14
set bmargin at screen 0.02
set key center center horizontal maxcols 4 samplen 3
plot for [i = 1:6] keyentry with linespoints lw 2 pt 7 ps 0.5 lc rgb colours[i] title word(widths, i)." columns", \
     keyentry with lines lw 2 dt 2 lc rgb "black" title "dashed: padded", NaN notitle
unset multiplot
