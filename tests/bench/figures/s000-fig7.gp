# Upper panel: a map of the paper's kernel. Lower panel: its median over M', ipt's, and the paper's averages (section 7.3).
height = 960
panels = 2
load here."/common.gp"
# The map's axes are numbered by position, because the sides are not evenly spaced.
map = "< awk -F, 'NR > 1 && $8 == \"pttwac-100-simd\" { m = $6; c = $3 / $6; if (!(m in x)) x[m] = columns++; ".\
      "if (!(c in y)) y[c] = rows++; print x[m] \",\" y[c] \",\" $14 \",\" m \",\" c }' ".csv
lengths = system("awk -F, 'NR > 1 { print $6 }' ".csv." | sort -nu | tr '\\n' ' '")
ratios(kernel, m) = sprintf("< awk -F, '$8 == \"%s\" && $6 == %s { print $14 }' %s", kernel, m, csv)
count = words(lengths)
most = 0
array own[count]
array simd[count]
do for [i = 1:count] {
    stats ratios("auto", word(lengths, i)) using 1 nooutput
    own[i] = STATS_median
    stats ratios("pttwac-100-simd", word(lengths, i)) using 1 nooutput
    simd[i] = STATS_median
    most = most < own[i] ? own[i] : most < simd[i] ? simd[i] : most
}

$paper << EOD
8 12.5
16 24.5
32 47.6
64 69
EOD

set multiplot
floor_of_map = bottom(1) + 30.0 / height # space for rotated numbers
set bmargin at screen floor_of_map
set rmargin at screen 0.84
words_above = n_of(count_if('$8 == "pttwac-100-simd"'), "a SIMD unit to a super-element of m floats")." measurements\nM'; colour: ratio to the copy"
set label 1 words_above @above
set xlabel "m, floats"
set xtics rotate by 90 right font ",12"
set ytics font ",12"
set palette defined (0 "#f7fbff", 0.35 "#6baed6", 0.7 "#2171b5", 1 "#08306b")
set cbrange [0:*]
set colorbox user origin screen 0.86, screen floor_of_map size screen 0.03, screen (top(1) - floor_of_map)
set autoscale xfix
set autoscale yfix
plot map using 1:2:3:xtic(4):ytic(5) with image pixels notitle

unset label 9
set rmargin at screen 0.97
set tmargin at screen top(2)
set bmargin at screen bottom(2)
words_above = n_of(count_if("1"), "medians over M'")." measurements\nipt over the copy, the paper over its peak"
set label 1 words_above @above
unset colorbox
set autoscale
set logscale x 2
set xtics autofreq norotate center font ",15"
set ytics font ",15"
set xrange [3:350]
set yrange [0:0.4 > most * 1.1 ? 0.4 : most * 1.1]
set datafile separator whitespace # with commas, arrays would have one column
plot own using (real(word(lengths, int($1)))):2 with linespoints lw 2 pt 7 ps 0.6 lc rgb "#2e8b57" title "ipt's own kernel", \
     simd using (real(word(lengths, int($1)))):2 with linespoints lw 2 pt 7 ps 0.6 lc rgb "#1b5e9c" title "a SIMD unit, as published", \
     $paper using 1:($2 / 208) with points pt 9 ps 1.2 lc rgb "#b5541c" title "paper, on a K20"
unset multiplot
