# Speed of a copy over the shape of the work-group. Upper panel: measured here. Lower panel: the paper.
height = 780
panels = 2
load here."/common.gp"
$paper << END
1 x 128,0.7,0.69
2 x 64,0.37,0.36
4 x 32,0.22,0.21
8 x 16,0.13,0.20
16 x 8,0.11,0.20
32 x 4,0.11,0.20
END
of(element) = sprintf("< awk -F, '$1 == \"%s\"' '%s'", element, csv)
set style fill solid 0.9 noborder
set xtics scale 0
set boxwidth 0.38
set yrange [0:*]
set multiplot
set label 1 n_of(count_if("1"), "here")." measurements\nspeed over that of the copy" @above
plot of("float") using ($0 - 0.2):7:xtic(sprintf("%s x %s", strcol(2), strcol(3))) with boxes linecolor "#0072b2" \
         title "float", \
     of("double") using ($0 + 0.2):7 with boxes linecolor "#e69f00" title "double"
unset label 9
set tmargin at screen top(2)
set bmargin at screen bottom(2)
set xlabel "work-items along a row x rows"
set label 1 n_of(12, "paper, table II")." values\nspeed over that of its fastest" @above
set yrange [0:1.1]
set key at screen 0.4, screen (foot - 4.0) / height
plot $paper using ($0 - 0.2):(0.11 / $2):xtic(1) with boxes linecolor "#7fb8d8" title "paper, float", \
     $paper using ($0 + 0.2):(0.20 / $3) with boxes linecolor "#f2cf80" title "paper, double"
unset multiplot
