/* Charts of a bench's results, as SVG. */
#ifndef IPT_TOOL_PLOT_H_INCLUDED
#define IPT_TOOL_PLOT_H_INCLUDED

#include "bench_result.h"

#include <stddef.h>
#include <stdio.h>

enum { PLOT_BARS = 24 };

/* Writes a chart of the verified results' ratios to the copy. Up to PLOT_BARS results are bars with the shapes' names,
 * more are points over the matrices' bytes. The file needs no script, font or style sheet beside it. */
void plot_write(FILE *stream, const char *device, const bench_result *results, size_t count);

#endif /* IPT_TOOL_PLOT_H_INCLUDED */
