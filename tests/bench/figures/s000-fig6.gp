# A panel for every height of the tiles, a colour for every width; padding is dashed.
height = 960
panels = 3
legend = 3
load here."/common.gp"
most = real(system("awk -F, 'NR > 1 && $14 > m { m = $14 } END { print m }' ".csv))
pick(kernel, m, n) = sprintf("< awk -F, '$7 == \"%s\" && $5 == %d && $6 == %d' %s", kernel, m, n, csv)
widths = system("awk -F, 'NR > 1 { print $6 }' ".csv." | sort -nu")
array colours[6] = ["#1b5e9c", "#2e8b57", "#b5541c", "#7b3fa0", "#c9a400", "#444444"]
set logscale x 2
set xrange [0.85:38]
set yrange [0:most * 1.1]
set xtics ("1" 1, "2" 2, "4" 4, "8" 8, "16" 16, "32" 32)
unset key
set multiplot
do for [p = 1:3] {
    m = 2 ** (p + 3)
    set tmargin at screen top(p)
    set bmargin at screen bottom(p)
    set label 1 n_of(count_if(sprintf("$5 == %d", m)), sprintf("tiles of %d rows", m))." measurements\nratio to the copy" @above
    if (p == panels) {
        set xlabel "flags spread by"
        set key
    }
    plot for [i = 1:words(widths)] pick("pttwac-010", m, int(word(widths, i))) using 9:14 with linespoints lw 2 pt 7 ps 0.5 \
             lc rgb colours[i] title word(widths, i)." columns", \
         for [i = 1:words(widths)] pick("pttwac-010-padded", m, int(word(widths, i))) using 9:14 with lines lw 2 dt 2 \
             lc rgb colours[i] notitle, \
         keyentry with lines lw 2 dt 2 lc rgb "black" title "dashed: padded"
    unset label 9
}
unset multiplot
