# The same random matrices by later implementations. The paper used its second device.
series = "eithot catanzaro algorithm-5 auto geam_copyback"
panels = 2
array panel_title[2] = ["elements of 8 bytes", "elements of 4 bytes"]
array elem_size[2] = [8, 4]
array class[2] = ["", ""]
array reference[2] = [29.31 / 224, 0]
reference_title = "paper, GTX 980, 8 bytes: median over peak"
load here."/s002-histogram.gp"
