/* A program that links with the library, and uses names that windows.h defines. */
#include "ipt.h"

#include <stdio.h>

enum { SIZE = 777 * 1000 };                       /* windows.h has a type of this name */
static int min, max, near, far, ERROR, interface; /* windows.h has macros of these names */
static float matrix[SIZE];

int main(void)
{
    min = max = near = far = ERROR = interface = 0;
    for (int i = 0; i < SIZE; i++)
        matrix[i] = (float)i;
    if (ipt_transpose(matrix, 1000, 777, sizeof *matrix) != IPT_SUCCESS) {
        puts(ipt_context_error(NULL));
        return 1;
    }
    for (int i = 0; i < SIZE; i++)
        min += matrix[i] != (float)(i % 1000 * 777 + i / 1000);
    printf("%d wrong elements\n", min + max + near + far + ERROR + interface);
    return min != 0;
}
