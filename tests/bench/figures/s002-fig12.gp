# Algorithm 2 without padding: all matrices, those with large tiles, and the others.
series = "catanzaro tpds-2016 algorithm-2 auto"
panels = 3
array panel_title[3] = ["all matrices", "tiles above 4 and 6 that fit in local memory", "the others"]
array elem_size[3] = [4, 4, 4]
array class[3] = ["", "large", "small"]
array reference[3] = [13.69 / 208, 0, 0]
reference_title = "paper, K20: median over peak bandwidth"
load here."/s002-histogram.gp"
