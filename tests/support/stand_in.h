/* Stand-ins for some of OpenCL's functions. Define STAND_IN_clNAME as `~, function` for each. Then define
 * IPT_ENTRY_POINT(name) as STAND_IN_OR(STAND_IN_##name, name). STAND_IN_OR yields the stand-in if it exists, else
 * OpenCL's function. */
#ifndef STAND_IN_H_INCLUDED
#define STAND_IN_H_INCLUDED

#define STAND_IN_SECOND(one, two, ...) two
#define STAND_IN_OR(...) STAND_IN_SECOND(__VA_ARGS__, ~)

#endif
