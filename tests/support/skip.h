/* Skips a test, and counts skipped tests by reason. Include cmocka.h before. */
#ifndef SKIP_H_INCLUDED
#define SKIP_H_INCLUDED

#define test_skip(reason) (test_skip_because(reason), skip())
void test_skip_because(const char *reason);

/* Prints the reasons with their numbers of tests. */
void test_skips_print(void);

#endif
