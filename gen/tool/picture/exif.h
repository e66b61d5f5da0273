/* The orientation in the EXIF data of a JPEG file: cameras store pixels as the sensor reads them, and viewers rotate.
 * The function never reads other bytes than these. */
#ifndef IPT_TOOL_EXIF_H_INCLUDED
#define IPT_TOOL_EXIF_H_INCLUDED

#include <stddef.h>

enum { EXIF_UPRIGHT = 1 };

/* Returns the orientation, 1 to 8. EXIF_UPRIGHT: viewers show the pixels as stored, or the file has no EXIF data. */
unsigned exif_orientation(const unsigned char *jpeg, size_t size);

#endif /* IPT_TOOL_EXIF_H_INCLUDED */
