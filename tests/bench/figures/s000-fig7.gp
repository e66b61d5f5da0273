# Left a map of the paper's kernel, right its median over M' and ipt's own beside the paper's averages (section 7.3).
set terminal svg size 900,520 font "sans,13" background "white"
set output svg
set datafile separator ","
device = system("awk -F, 'NR == 2 { print $17 }' ".csv)
# Places in the map are counted: the sides are not evenly spaced.
map = "< awk -F, 'NR > 1 && $8 == \"pttwac-100-simd\" { m = $6; c = $3 / $6; if (!(m in x)) x[m] = columns++; ".\
      "if (!(c in y)) y[c] = rows++; print x[m] \",\" y[c] \",\" $14 \",\" m \",\" c }' ".csv
lengths = system("awk -F, 'NR > 1 { print $6 }' ".csv." | sort -nu | tr '\\n' ' '")
ratios(kernel, m) = sprintf("< awk -F, '$8 == \"%s\" && $6 == %s { print $14 }' %s", kernel, m, csv)
count = words(lengths)
most = 0
array own[count]
array seed[count]
do for [i = 1:count] {
    stats ratios("auto", word(lengths, i)) using 1 nooutput
    own[i] = STATS_median
    stats ratios("pttwac-100-simd", word(lengths, i)) using 1 nooutput
    seed[i] = STATS_median
    most = most < own[i] ? own[i] : most < seed[i] ? seed[i] : most
}

$paper << EOD
8 12.5
16 24.5
32 47.6
64 69
EOD

set multiplot title "PTTWAC 100!: N x M' x m to M' x N x m (Sung et al. 2014, figure 7)\non ".device noenhanced
set lmargin at screen 0.08
set rmargin at screen 0.48
set tmargin at screen 0.80
set bmargin at screen 0.15
set title "a super-element of m floats to a SIMD unit"
set xlabel "m, floats"
set ylabel "M'" noenhanced
set xtics rotate by 60 right nomirror font ",10"
set ytics nomirror font ",10"
set palette defined (0 "#f7fbff", 0.35 "#6baed6", 0.7 "#2171b5", 1 "#08306b")
set cbrange [0:*]
set cblabel "ratio to the copy" offset 0.5
set colorbox user origin screen 0.495, screen 0.15 size screen 0.015, screen 0.65
set autoscale xfix
set autoscale yfix
plot map using 1:2:3:xtic(4):ytic(5) with image pixels notitle

set lmargin at screen 0.67
set rmargin at screen 0.97
set title "median over M'" noenhanced
unset colorbox
set autoscale
set logscale x 2
set xtics autofreq norotate center
set xrange [3:350]
set yrange [0:0.6 > most * 1.4 ? 0.6 : most * 1.4]
set ylabel "ours over the copy, paper's over its peak" offset 1
set grid ytics
set key top left Left reverse samplen 1.5
set datafile separator whitespace # or arrays would have one column
plot own using (real(word(lengths, int($1)))):2 with linespoints lw 2 pt 7 ps 0.6 lc rgb "#2e8b57" title "ipt's own", \
     seed using (real(word(lengths, int($1)))):2 with linespoints lw 2 pt 7 ps 0.6 lc rgb "#1b5e9c" title "SIMD unit", \
     $paper using 1:($2 / 208) with points pt 9 ps 1.2 lc rgb "#b5541c" title "paper (K20)"
unset multiplot
