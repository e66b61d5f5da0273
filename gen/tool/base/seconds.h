/* A clock for measuring. */
#ifndef IPT_TOOL_SECONDS_H_INCLUDED
#define IPT_TOOL_SECONDS_H_INCLUDED

/* Seconds since a fixed moment. */
double seconds_now(void);

#endif /* IPT_TOOL_SECONDS_H_INCLUDED */
