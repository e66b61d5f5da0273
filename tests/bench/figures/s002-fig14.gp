# Gomez-Luna et al. 2016, Fig. 14: random matrices again, as the paper's second device, here against later ways to
# transpose in place.
heading = "Random matrices: padding and later work in place (Fig. 14)"
series = "eithot catanzaro algorithm-5 auto geam_copyback"
panels = 2
array panel_title[2] = ["elements of 8 bytes", "elements of 4 bytes"]
array elem_size[2] = [8, 4]
array class[2] = ["", ""]
array reference[2] = [29.31 / 224, 0]
reference_title = "the paper's median on a GTX 980 (8 bytes), of its peak bandwidth"
load system("dirname '".ARG0."'")."/s002-histogram.gp"
