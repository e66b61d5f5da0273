/* The library as one object, for programs that link with it instead of including its text. */
#if defined(_WIN32)
#define IPT_API __declspec(dllexport)
#elif defined(__GNUC__)
#define IPT_API __attribute__((visibility("default")))
#endif
#if !defined(_WIN32)
#define IPT_CUDA
#endif
#define IPT_IMPLEMENTATION
#include "ipt.h"
