struct winsize {
    unsigned short ws_row, ws_col;
};
struct termios {
    unsigned c_oflag;
};
