int fnmatch(const char *pattern, const char *text, int flags); /* * and ? alone */
