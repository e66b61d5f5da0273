#include "numbers.h"

#include <stdint.h>
#include <string.h>

bool number_read(const char **text, const char *stop, size_t *value)
{
    size_t length = strspn(*text, "0123456789");
    if (length == 0 || strncmp(*text + length, stop, strlen(stop)) != 0 || (*stop == '\0' && (*text)[length] != '\0')) {
        return false;
    }
    *value = 0;
    for (size_t i = 0; i < length; i++) {
        size_t digit = (size_t)((*text)[i] - '0');
        if (*value > (SIZE_MAX - digit) / 10) {
            return false;
        }
        *value = *value * 10 + digit;
    }
    *text += length + strlen(stop);
    return true;
}

bool number_multiply(size_t *product, size_t factor)
{
    if (factor != 0 && *product > SIZE_MAX / factor) {
        return false;
    }
    *product *= factor;
    return true;
}
