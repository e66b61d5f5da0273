/* Programs that tests start. */
#ifndef PROCESS_H_INCLUDED
#define PROCESS_H_INCLUDED

/* The path of the command-line tool: IPT_TOOL in the environment, else the one that make builds. */
const char *process_tool(void);

#endif
