/* Leaves a test, which is counted under the reason. Include cmocka.h before. */
#ifndef SKIP_H_INCLUDED
#define SKIP_H_INCLUDED

#define test_skip(reason) (test_skip_because(reason), skip())
void test_skip_because(const char *reason);

/* The reasons, each with its tests' number. */
void test_skips_print(void);

#endif
