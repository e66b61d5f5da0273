/* Decimal numbers in texts, and products that do not overflow. */
#ifndef IPT_TOOL_NUMBERS_H_INCLUDED
#define IPT_TOOL_NUMBERS_H_INCLUDED

#include <stdbool.h>
#include <stddef.h>

/* Reads a decimal number that stop follows, or the end of the text if stop is empty. Moves text behind both. */
bool number_read(const char **text, const char *stop, size_t *value);

/* *product *= factor, unless that overflows. */
bool number_multiply(size_t *product, size_t factor);

#endif /* IPT_TOOL_NUMBERS_H_INCLUDED */
