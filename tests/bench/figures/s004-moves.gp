# Speed over the size of the matrices. Lines: squares. Points: rectangles, by ipt's own choice.
height = 700
legend = 7
load here."/common.gp"
squares(model) = sprintf("< awk -F, '$1 == \"%s\" && $2 == $3' '%s' | sort -t, -n -k2", model, csv)
others(model) = sprintf("< awk -F, '$1 == \"%s\" && $2 != $3' '%s'", model, csv)
set label 1 n_of(count_if("1"), "floats")." measurements\nspeed over that of the copy" @above
set xlabel "side of the matrices (of rectangles: root of their size)"
set logscale x 2
set logscale y 10
set xrange [1.8:225]
set grid xtics
models = "bs-item bs-interleaved-simd bs-interleaved-16 bs-interleaved-8 bs-virtual-8 bs-virtual-16 bs-simd bs-group"
colours = "#0072b2 #56b4e9 #4aa8a0 #009e73 #e69f00 #d55e00 #cc79a7 #8c564b"
shown = ""
tints = ""
do for [i = 1:words(models)] {
    if (count_if("$1 == \"".word(models, i)."\"")) {
        shown = shown . " " . word(models, i)
        tints = tints . " " . word(colours, i)
    }
}
plot squares("ipt") using 2:9 with linespoints linewidth 3 pointtype 7 pointsize 0.5 linecolor "#000000" \
         title "ipt's choice", \
     others("ipt") using (sqrt($2 * $3)):9 with points pointtype 4 pointsize 0.8 linecolor "#000000" \
         title "ipt, rectangles", \
     for [i = 1:words(shown)] squares(word(shown, i)) using 2:9 with linespoints linewidth 1.5 pointtype 7 \
         pointsize 0.3 linecolor rgb word(tints, i) title word(shown, i), \
     squares("queues") using 2:9 with linespoints linewidth 1.5 dashtype 2 pointtype 6 pointsize 0.4 \
         linecolor "#999999" title "a launch each, 32 queues", \
     squares("loop") using 2:9 with linespoints linewidth 1.5 dashtype 2 pointtype 2 pointsize 0.4 \
         linecolor "#777777" title "a launch each, 1 queue"
