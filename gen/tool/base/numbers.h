/* Decimal numbers in texts, and products with overflow checks. */
#ifndef IPT_TOOL_NUMBERS_H_INCLUDED
#define IPT_TOOL_NUMBERS_H_INCLUDED

#include <stdbool.h>
#include <stddef.h>

/* Reads a decimal number, then the text stop or, if stop is empty, the end. Moves *text past both. */
bool number_read(const char **text, const char *stop, size_t *value);

/* *product *= factor. false: it would overflow. */
bool number_multiply(size_t *product, size_t factor);

#endif /* IPT_TOOL_NUMBERS_H_INCLUDED */
