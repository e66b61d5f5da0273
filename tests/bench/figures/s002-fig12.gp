# Gomez-Luna et al. 2016, Fig. 12: algorithm 2 without padding, all matrices and by whether it finds large tiles.
heading = "Random matrices of 4 bytes, not padded (Fig. 12)"
series = "catanzaro algorithm-2 auto"
panels = 3
array panel_title[3] = ["all matrices", "tiles above 4 and 6 that fit in local memory", "the others"]
array elem_size[3] = [4, 4, 4]
array class[3] = ["", "large", "small"]
array reference[3] = [13.69 / 208, 0, 0]
reference_title = "the paper's median on a K20, of its peak bandwidth"
load system("dirname '".ARG0."'")."/s002-histogram.gp"
