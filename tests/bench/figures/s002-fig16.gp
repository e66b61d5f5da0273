# Random matrices without other implementations. The paper used its third device.
series = "tpds-2016-padded algorithm-5 auto"
panels = 2
array panel_title[2] = ["elements of 8 bytes", "elements of 4 bytes"]
array elem_size[2] = [8, 4]
array class[2] = ["", ""]
array reference[2] = [37.40 / 320, 0]
reference_title = "paper, Hawaii, 8 bytes: median over peak"
load here."/s002-histogram.gp"
