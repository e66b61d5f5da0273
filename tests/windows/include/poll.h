struct pollfd {
    int fd;
    short events, revents;
};
enum { POLLIN = 1 };
int poll(struct pollfd *files, unsigned count, int milliseconds); /* skips the test */
