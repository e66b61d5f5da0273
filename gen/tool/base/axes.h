/* A permutation of an array's axes, from --axes and --order. */
#ifndef IPT_TOOL_AXES_H_INCLUDED
#define IPT_TOOL_AXES_H_INCLUDED

#include "ipt.h"

#include <stdbool.h>
#include <stddef.h>

enum {
    AXES_MOST = 64,         /* NumPy's limit */
    AXES_MESSAGE_SIZE = 200 /* of the longest sentence */
};

/* The axes that --axes names. */
typedef struct axes_list {
    size_t count; /* 0: no --axes */
    unsigned axes[AXES_MOST];
} axes_list;

/* The move of the elements in memory. Axes of one element are left out; axes that stay adjacent are joined. */
typedef struct axes_move {
    unsigned rank; /* 0 or 1: nothing moves */
    size_t lengths[IPT_MAX_RANK];
    unsigned axes[IPT_MAX_RANK];
} axes_move;

/* Parses a list such as 2,0,1. false: malformed, or too long. */
bool axes_read(const char *text, axes_list *list);

/* Checks that the list names each of `count` axes once. An empty list becomes 0, 1, 2 ... On failure puts a sentence
 * into message, of AXES_MESSAGE_SIZE bytes. */
bool axes_check(axes_list *list, size_t count, char *message);

/* Finds the move of an array's elements. Axis i of the result is axis list->axes[i] of the array. fortran_before,
 * fortran_after: the first axis is the contiguous one. false: too many axes remain. */
bool axes_find_move(const axes_list *list, const size_t *shape, bool fortran_before, bool fortran_after,
                    axes_move *move);

#endif /* IPT_TOOL_AXES_H_INCLUDED */
