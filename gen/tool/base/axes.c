#include "axes.h"

#include "numbers.h"

#include <stdio.h>
#include <string.h>

bool axes_read(const char *text, axes_list *list)
{
    for (list->count = 0; list->count < AXES_MOST;) {
        size_t axis;
        const bool more = strchr(text, ',') != NULL;
        if (!number_read(&text, more ? "," : "", &axis) || axis >= AXES_MOST) {
            return false;
        }
        list->axes[list->count++] = (unsigned)axis;
        if (!more) {
            return true;
        }
    }
    return false;
}

bool axes_check(axes_list *list, size_t count, char *message)
{
    bool seen[AXES_MOST] = {false};
    if (list->count == 0) {
        for (; list->count < count; list->count++) {
            list->axes[list->count] = (unsigned)list->count;
        }
    }
    if (count == 0 && list->count > 0) {
        snprintf(message, AXES_MESSAGE_SIZE, "the array is a single element without axes, so omit --axes");
        return false;
    }
    if (list->count != count) {
        snprintf(message, AXES_MESSAGE_SIZE, "--axes names %zu axes, and the array has %zu: name each of 0 to %zu once",
                 list->count, count, count - 1);
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        if (list->axes[i] >= count || seen[list->axes[i]]) {
            snprintf(message, AXES_MESSAGE_SIZE, "--axes names axis %u%s: name each of 0 to %zu once", list->axes[i],
                     list->axes[i] >= count ? ", which the array does not have" : " twice", count - 1);
            return false;
        }
        seen[list->axes[i]] = true;
    }
    return true;
}

bool axes_find_move(const axes_list *list, const size_t *shape, bool fortran_before, bool fortran_after,
                    axes_move *move)
{
    const size_t count = list->count;
    size_t lengths[AXES_MOST] = {0}, places[AXES_MOST] = {0}, kept = 0, joined = 0;
    unsigned goal[AXES_MOST] = {0};      /* source place of each result axis, in memory's sequence */
    for (size_t i = 0; i < count; i++) { /* leave out axes of one element */
        const size_t axis = fortran_before ? count - 1 - i : i;
        if (shape[axis] != 1) {
            places[axis] = kept;
            lengths[kept++] = shape[axis];
        }
    }
    kept = 0;
    for (size_t i = 0; i < count; i++) {
        const unsigned axis = list->axes[fortran_after ? count - 1 - i : i];
        if (shape[axis] != 1) {
            goal[kept++] = (unsigned)places[axis];
        }
    }
    /* Join axes that are adjacent in the source and in the result. */
    size_t group_of[AXES_MOST] = {0};
    bool joins[AXES_MOST] = {false};
    for (size_t i = 1; i < kept; i++) {
        joins[goal[i]] = goal[i] == goal[i - 1] + 1;
    }
    for (size_t i = 0; i < kept; i++) {
        if (i > 0 && joins[i]) {
            group_of[i] = joined - 1;
        } else {
            group_of[i] = joined++;
        }
    }
    if (joined > IPT_MAX_RANK) {
        return false;
    }
    memset(move, 0, sizeof *move);
    move->rank = (unsigned)joined;
    for (size_t i = 0; i < kept; i++) {
        size_t *const length = &move->lengths[group_of[i]];
        *length = *length == 0 ? lengths[i] : *length * lengths[i]; /* overflow is impossible: the file has the data */
    }
    joined = 0;
    for (size_t i = 0; i < kept; i++) {
        if (!joins[goal[i]]) {
            move->axes[joined++] = (unsigned)group_of[goal[i]];
        }
    }
    return true;
}
