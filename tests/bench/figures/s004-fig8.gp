# The share of the copy's speed over the length of the vectors.
actions = "dot dot"
types = "double float"
names = "doubles floats"
column = 11
unit = "speed over that of the copy"
side = "length of the vectors (elements)"
paper = 0.65
load here."/s004-shared.gp"
