# Speed over the size of the matrices: lines are squares, points are ipt's own choice for rectangles.
set terminal svg size 900,520 font "sans,13" background "white"
set output svg
set datafile separator ","
copy = real(system(sprintf("awk -F, 'NR > 1 { s += $8; ++n } END { print s / n }' '%s'", csv)))
squares(model) = sprintf("< awk -F, '$1 == \"%s\" && $2 == $3' '%s' | sort -t, -n -k2", model, csv)
others(model) = sprintf("< awk -F, '$1 == \"%s\" && $2 != $3' '%s'", model, csv)
there(model) = int(system(sprintf("awk -F, '$1 == \"%s\"' '%s' | wc -l", model, csv)))
set title sprintf("Batches of small float matrices, transposed in place (the copy: %.0f GB/s on average)", copy)
set xlabel "side of the matrices (elements; of rectangles: the root of their number)"
set ylabel "speed / speed of the copy"
set logscale x 2
set logscale y 10
set xrange [1.8:225]
set yrange [*:1.4] noextend
set grid xtics ytics linecolor "#dddddd"
set key outside right center Left reverse spacing 1.2 samplen 2
models = "bs-item bs-interleaved-simd bs-interleaved-16 bs-interleaved-8 bs-virtual-8 bs-virtual-16 bs-simd bs-group"
colours = "#0072b2 #56b4e9 #4aa8a0 #009e73 #e69f00 #d55e00 #cc79a7 #8c564b"
shown = ""
tints = ""
do for [i = 1:words(models)] {
    if (there(word(models, i)) > 0) {
        shown = shown . " " . word(models, i)
        tints = tints . " " . word(colours, i)
    }
}
plot 0.65 with lines dashtype 3 linewidth 1.5 linecolor "#555555" title "paper: 0.65 of its peak", \
     squares("ipt") using 2:9 with linespoints linewidth 3 pointtype 7 pointsize 0.5 linecolor "#000000" \
         title "ipt's choice", \
     others("ipt") using (sqrt($2 * $3)):9 with points pointtype 4 pointsize 0.8 linecolor "#000000" \
         title "ipt, rectangles", \
     for [i = 1:words(shown)] squares(word(shown, i)) using 2:9 with linespoints linewidth 1.5 pointtype 7 \
         pointsize 0.3 linecolor rgb word(tints, i) title word(shown, i), \
     squares("queues") using 2:9 with linespoints linewidth 1.5 dashtype 2 pointtype 6 pointsize 0.4 \
         linecolor "#999999" title "a launch each, 32 queues", \
     squares("loop") using 2:9 with linespoints linewidth 1.5 dashtype 2 pointtype 2 pointsize 0.4 \
         linecolor "#777777" title "a launch each, 1 queue"
