# Two panels of bars: the median over all tiles or super-elements, a line from the slowest to the fastest.
set terminal svg size 900,520 font "sans,13" background "white"
set output svg
device = system("awk -F, 'NR == 2 { print $17 }' ".csv)
ratios(kernel, spread) = sprintf("< awk -F, '($7 == \"%s\" || $8 == \"%s\") && $9 == %s { print $14 }' %s", \
                                 kernel, kernel, spread, csv)
own(sequence) = sprintf("< awk -F, '$4 == \"%s\" && $7 == \"auto\" && $8 == \"auto\" { print $14 }' %s", sequence, csv)
set multiplot title "Original and improved elementary transpositions (Sung et al. 2014, sections 7.1 and 7.2)\non ".device noenhanced
set style fill solid 1 border -1
set boxwidth 0.7
set grid ytics
set xtics rotate by 40 right nomirror scale 0 font ",11"
set ytics nomirror
set tmargin at screen 0.81
set bmargin at screen 0.25
unset key
do for [panel = 1:2] {
    # Kernel, spread, what to call it: the original one first.
    if (panel == 1) {
        kernels = "pttwac-010 pttwac-010-padded pttwac-010-padded pttwac-010-remapped p-ipt-item bs-group own"
        spreads = "1 8 32 1 1 1 1"
        names = "'PTTWAC, original' 'spread 8, padded' 'spread 32, padded' 'remapped' 'P-IPT' 'BS' 'own kernel'"
    } else {
        kernels = "pttwac-100-group pttwac-100-simd pttwac-100-virtual-16 pttwac-100-virtual-8 ".\
                  "pttwac-100-group-registers pttwac-100-simd-registers pttwac-100-virtual-16-registers p-ipt-item own"
        spreads = "1 1 1 1 1 1 1 1 1"
        names = "'by group, original' 'SIMD unit' 'virtual 16' 'virtual 8' 'group, registers' 'SIMD, registers' ".\
                "'virtual 16, registers' 'P-IPT' 'own kernel'"
    }
    sequence = panel == 1 ? "010" : "100"
    count = words(kernels)
    set datafile separator ","
    array middle[count]
    array least[count]
    array most[count]
    do for [i = 1:count] {
        kernel = word(kernels, i)
        # P-IPT serves both sequences, so that the sequence is looked at as well.
        stats (kernel eq "own" ? own(sequence) : kernel eq "p-ipt-item" ? \
               sprintf("< awk -F, '$4 == \"%s\" && /p-ipt-item/ { print $14 }' %s", sequence, csv) : \
               ratios(kernel, word(spreads, i))) using 1 nooutput
        middle[i] = STATS_median
        least[i] = STATS_min
        most[i] = STATS_max
    }
    set lmargin at screen (panel == 1 ? 0.085 : 0.56)
    set rmargin at screen (panel == 1 ? 0.475 : 0.985)
    set title (panel == 1 ? "010!: tiles, element by element" : "100!: super-elements")
    set ylabel (panel == 1 ? "ratio to the copy: median, range" : "") offset 1
    set yrange [0:*]
    set xrange [0.4:count + 0.6]
    set datafile separator whitespace # or arrays would have one column
    plot middle using 1:2:xtic(word(names, int($1))) with boxes lc rgb "#5a9bd4", \
         middle using 1:(least[int($1)]):(0):(most[int($1)] - least[int($1)]) with vectors heads size 0.12,90 lw 1.5 \
             lc rgb "#222222"
}
unset multiplot
