# Two panels of bars. A bar is the median over all tiles or super-elements, its line the range.
height = 860
panels = 2
legend = 1
load here."/common.gp"
ratios(sequence, kernel, spread) = sprintf("< awk -F, '$4 == \"%s\" && ($7 == \"%s\" || $8 == \"%s\") && $9 == %s { print $14 }' %s", \
                                 sequence, kernel, kernel, spread, csv)
own(sequence) = sprintf("< awk -F, '$4 == \"%s\" && $7 == \"auto\" && $8 == \"auto\" { print $14 }' %s", sequence, csv)
set style fill solid 1 border -1
set boxwidth 0.7
set xtics rotate by 40 right scale 0 font ",12"
unset key
set multiplot
do for [p = 1:2] {
    # Kernel, spread and label; the original kernel comes first.
    if (p == 1) {
        kernels = "pttwac-010 pttwac-010-padded pttwac-010-padded pttwac-010-remapped p-ipt-item bs-group own"
        spreads = "1 8 32 1 1 1 1"
        names = "'PTTWAC, original' 'spread 8, padded' 'spread 32, padded' 'remapped' 'P-IPT' 'BS' 'own kernel'"
    } else {
        kernels = "pttwac-100-group pttwac-100-simd pttwac-100-virtual-16 pttwac-100-virtual-8 ".\
                  "pttwac-100-group-registers pttwac-100-simd-registers pttwac-100-virtual-16-registers p-ipt-item own"
        spreads = "1 1 1 1 1 1 1 1 1"
        names = "'by group, original' 'SIMD unit' 'virtual 16' 'virtual 8' 'group, registers' 'SIMD, registers' ".\
                "'virtual 16, reg.' 'P-IPT' 'own kernel'"
    }
    sequence = p == 1 ? "010" : "100"
    count = words(kernels)
    set datafile separator ","
    array middle[count]
    array least[count]
    array most[count]
    do for [i = 1:count] {
        kernel = word(kernels, i)
        stats (kernel eq "own" ? own(sequence) : ratios(sequence, kernel, word(spreads, i))) using 1 nooutput
        middle[i] = STATS_median
        least[i] = STATS_min
        most[i] = STATS_max
    }
    # Labels below the bars need more space than numbers.
    set tmargin at screen top(p) + (p == 2 ? 25.0 : 0) / height
    set bmargin at screen bottom(p) + (p == 1 ? 75.0 : 25) / height
    set label 1 n_of(count_if(sprintf('$4 == "%s"', sequence)), p == 1 ? "010!: tiles, element by element" : "100!: super-elements").\
        " measurements\nratio to the copy: median and range" @above
    set yrange [0:*]
    set xrange [0.4:count + 0.6]
    set datafile separator whitespace # with commas, arrays would have one column
    plot middle using 1:2:xtic(word(names, int($1))) with boxes lc rgb "#5a9bd4", \
         middle using 1:(least[int($1)]):(0):(most[int($1)] - least[int($1)]) with vectors heads size 0.12,90 lw 1.5 \
             lc rgb "#222222"
    unset label 9
}
unset multiplot
