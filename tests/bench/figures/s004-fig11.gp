# Operations a second over the side of the matrices: Cholesky with and without solution, LU.
actions = "posv posv potrf potrf getrf getrf"
types = "double float double float double float"
names = "'Cholesky and solution, doubles' 'Cholesky and solution, floats' 'Cholesky, doubles' 'Cholesky, floats' \
    'LU, doubles' 'LU, floats'"
column = 12
unit = "GFLOP/s"
side = "side of the matrices (elements)"
load here."/s004-shared.gp"
