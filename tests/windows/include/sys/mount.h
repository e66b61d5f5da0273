int mount(const char *what, const char *where, const char *kind, unsigned long flags, const void *data); /* skips */
int umount(const char *where);
