/* Results as text and as CSV, on the stream that is given. */
#ifndef IPT_TOOL_BENCH_SHOW_H_INCLUDED
#define IPT_TOOL_BENCH_SHOW_H_INCLUDED

#include "bench_result.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* The table of several shapes: its heading, a line. */
void bench_show_heading(FILE *stream, bool blas);
void bench_show_line(FILE *stream, const bench_result *result, bool blas);

/* A number in width columns and with so many decimals; "-" in its place if it was not measured. */
void bench_show_number(FILE *stream, int width, int decimals, bool measured, double number);

/* One shape's result in words. */
void bench_show_block(FILE *stream, const bench_result *result);

/* The line that sums up. false: message has why not, BENCH_MESSAGE_SIZE bytes. */
bool bench_show_summary(FILE *stream, const bench_result *results, size_t count, char *message);

/* All results in a file of comma-separated values: its heading, a line. */
void bench_csv_heading(FILE *stream);
void bench_csv_line(FILE *stream, const bench_result *result);

/* A field and the comma before it; empty if it was not measured. */
void bench_csv_number(FILE *stream, bool measured, double number);

#endif /* IPT_TOOL_BENCH_SHOW_H_INCLUDED */
