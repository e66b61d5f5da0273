# The panels of figures 8 to 11 of Ha et al. 2013. A figure sets `actions`, `types` and `names` (a word for each panel),
# `column` of the table, `unit` (the text of the vertical axis) and `side` (that of the horizontal one). It may set `paper`,
# the paper's number.
if (!exists("paper")) paper = 0
panels = words(actions)
height = 190 + panels * 310
legend = 7
load here."/common.gp"
set lmargin at screen 0.13
vendor = csv[1:strlen(csv) - 4].".vendor.csv"
ways = "auto uusci-2013 registers item memory planes interleaved group work-group large launches queues"
titles = "\"ipt's choice\" \"the paper's method\" registers item memory 'planes (memory, SoA)' interleaved group work-group large \
    'a launch each' 'a launch each, 8 queues'"
colours = "#000000 #b2182b #0072b2 #56b4e9 #117733 #999933 #e69f00 #d55e00 #cc79a7 #8c564b #777777 #aaaaaa"
dashes = "1 4 1 1 1 1 1 1 1 1 2 2"
widths = "3 2.5 1.5 1.5 1.5 1.5 1.5 1.5 1.5 1.5 1.5 1.5"
others = "#bb0000 #006600 #5500bb"
of(way, p) = sprintf("< awk -F, '$1 == \"%s\" && $3 == \"%s\" && $4 == \"%s\"' '%s' | sort -t, -n -k5", \
    way, word(actions, p), word(types, p), csv)
count_of(way, p) = int(system(sprintf("%s | wc -l", substr(of(way, p), 3, -1))))
# Lines of other libraries, whose names stand at the right above the panel, below its title. Their unit is that of `column`,
# or GB/s for a ratio. Blanks of names are ~ here.
vendor_rows(p) = sprintf("awk -F, '$3 == \"%s\" && ($1 !~ /-.*-/ || $1 ~ /-%s$/)' '%s' 2> /dev/null", word(types, p), \
    word(actions, p), vendor)
vendor_names(p) = system(vendor_rows(p)." | cut -d, -f4 | tr ' ' '~' | awk '!seen[$0]++'")
vendor_of(who, p) = sprintf("< %s | tr ' ' '~' | awk -F, '$4 == \"%s\"' | sort -t, -n -k2; echo ,NaN,,,NaN", vendor_rows(p), who)
copy_of(p) = system(sprintf("awk -F, '$3 == \"%s\" && $4 == \"%s\" { print $10 }' '%s' | sort -g | \
    awk '{ v[NR] = $1 } END { print NR ? v[int((NR + 1) / 2)] : 1 }'", word(actions, p), word(types, p), csv)) + 0
set logscale x 2
set logscale y 10
set format y "%g"
set grid xtics
set multiplot
do for [p = 1:panels] {
    shown = ""
    do for [i = 1:words(ways)] {
        if (count_of(word(ways, i), p)) { shown = shown." ".i }
    }
    set tmargin at screen top(p)
    set bmargin at screen bottom(p)
    copy = copy_of(p)
    scale = column == 11 ? copy : 1
    set label 1 n_of(count_if(sprintf("$3 == \"%s\" && $4 == \"%s\"", word(actions, p), word(types, p))), \
        word(names, p))." measurements\n".unit.(column == 11 ? sprintf("; the copy: %.0f GB/s", copy) : "") @above
    if (p == panels) { set xlabel side }
    if (words(shown)) {
        stats of("auto", p) using 5 nooutput name "sides"
        set xrange [sides_min / 1.1:sides_max * 1.1]
        who = vendor_names(p)
        do for [i = 1:words(who)] {
            set label 20 + i system(sprintf("echo '%s' | tr '~' ' '", word(who, i))) at graph 1, graph 1 \
                offset 0, 2 - 1.2 * i right noenhanced textcolor rgb word(others, i)
        }
        plot for [i in shown] of(word(ways, i + 0), p) using 5:column with linespoints \
                 linewidth real(word(widths, i + 0)) dashtype int(word(dashes, i + 0)) pointtype 7 pointsize 0.4 \
                 linecolor rgb word(colours, i + 0) title word(titles, i + 0), \
             for [i = 1:words(who)] vendor_of(word(who, i), p) using 2:($5 / scale) with linespoints linewidth 2 \
                 dashtype 3 pointtype 5 pointsize 0.4 linecolor rgb word(others, i) notitle, \
             for [i = 1:paper > 0] paper with lines linewidth 1.5 dashtype 3 linecolor "#555555" \
                 title sprintf("paper: %g of its peak", paper)
        do for [i = 1:words(who)] { unset label 20 + i }
        unset key
        unset label 9
    }
}
unset multiplot
