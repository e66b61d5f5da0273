# Operations a second over the side of the matrices. Upper panels: Cholesky. Lower panels: LU.
actions = "posv posv getrf getrf"
types = "double float double float"
names = "'Cholesky, doubles' 'Cholesky, floats' 'LU, doubles' 'LU, floats'"
column = 12
unit = "GFLOP/s"
side = "side of the matrices (elements)"
load here."/s004-shared.gp"
