/* Prints results as text and as CSV. */
#ifndef IPT_TOOL_BENCH_SHOW_H_INCLUDED
#define IPT_TOOL_BENCH_SHOW_H_INCLUDED

#include "bench_result.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* The table of several shapes: its heading, a line. */
void bench_show_heading(FILE *stream, bool blas);
void bench_show_line(FILE *stream, const bench_result *result, bool blas);

/* Prints a number in width columns; "-" if it was not measured. */
void bench_show_number(FILE *stream, int width, int decimals, bool measured, double number);

/* Prints one shape's result as several lines. */
void bench_show_block(FILE *stream, const bench_result *result);

/* Prints the summary. false: message (BENCH_MESSAGE_SIZE bytes) has the reason. */
bool bench_show_summary(FILE *stream, const bench_result *results, size_t count, char *message);

/* Comma-separated values: the heading, a line. */
void bench_csv_heading(FILE *stream);
void bench_csv_line(FILE *stream, const bench_result *result);

/* The columns of the CSV as a list of objects in JSON: null if a value was not measured. */
void bench_json(FILE *stream, const bench_result *results, size_t count);

/* Prints a comma and a field, which is empty if it was not measured. */
void bench_csv_number(FILE *stream, bool measured, double number);

#endif /* IPT_TOOL_BENCH_SHOW_H_INCLUDED */
