# Speed over the size of the work-group. Upper panel: ipt. Lower panel: the paper.
height = 820
panels = 2
legend = 2
load here."/common.gp"
$paper << END
64,119.7,0
128,83.9,0
192,77.4,1
256,77.8,0
512,79.1,0
768,80.5,0
END
kernels = "transpose_32x32 transpose_64x64 product_32x32"
colours = "#0072b2 #56b4e9 #e69f00"
named(i) = system(sprintf("echo %s | tr _ ' '", word(kernels, i)))
of(i) = sprintf("< awk -F, -v kernel='%s' '$1 == kernel' '%s'", named(i), csv)
chosen(i) = sprintf("< awk -F, -v kernel='%s' '$1 == kernel { if ($9) print n + 0 \",\" $8; ++n }' '%s'", named(i), csv)
set style fill solid 0.9 noborder
set xtics scale 0
set yrange [0:*]
set multiplot
set label 1 n_of(count_if("1"), "here")." measurements\nspeed over that of the copy" @above
set boxwidth 0.27
plot for [i = 1:3] of(i) using ($0 + (i - 2) * 0.28):8 with boxes linecolor rgb word(colours, i) title named(i), \
     of(2) using 0:(0):xtic(2) with points pointtype 0 notitle, \
     for [i = 1:3] chosen(i) using ($1 + (i - 2) * 0.28):2 with points pointtype 11 pointsize 0.9 linecolor "#000000" \
         title i == 1 ? "marked: smallest" : ""
unset label 9
set tmargin at screen top(2)
set bmargin at screen bottom(2)
set xlabel "work-items of a work-group"
set label 1 n_of(6, "paper, table I")." times\nspeed over that of its fastest" @above
set boxwidth 0.6
set yrange [0:1.1]
unset key
plot $paper using 0:(77.4 / $2):xtic(1) with boxes linecolor rgb "#999999", \
     $paper using 0:($3 == 1 ? 77.4 / $2 : 1/0) with points pointtype 11 pointsize 0.9 linecolor "#000000" notitle
unset multiplot
