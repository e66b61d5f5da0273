/* A file that exceeds the memory limit: the time of `ipt transpose` against reading the same file and writing it back
 * unchanged, in pieces of 16 MB. Runs start without the file in the page cache, and end when it is on the disk.
 *
 *   file TOOL FILE ROWSxCOLS:BYTES [ROUNDS] OPTION ...     FILE is made, verified element by element, and removed
 *
 * Resident memory is the tool's peak, from the kernel. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PIECE ((size_t)16 << 20)

static char *piece;
static size_t rows, cols, size;

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void stop(const char *what)
{
    perror(what);
    exit(1);
}

/* Byte `within` of element `index`. */
static unsigned char byte_of(uint64_t index, size_t within)
{
    index = (index + within / 8 * 0x632be59bd9b4e019u) * 0x9e3779b97f4a7c15u;
    index ^= index >> 29;
    return (unsigned char)(index >> (8 + within % 8 * 7));
}

/* Writes the matrix, or compares the file with its transpose. Returns the number of wrong bytes. */
static size_t each_element(int file, int compare)
{
    size_t wrong = 0, filled = 0, all = rows * cols, in_piece = PIECE / size;
    for (size_t first = 0; first < all; first += in_piece) {
        size_t count = all - first < in_piece ? all - first : in_piece;
        if (compare && pread(file, piece, count * size, (off_t)(first * size)) != (ssize_t)(count * size)) {
            stop("read");
        }
        for (size_t i = 0; i < count; i++) {
            size_t at = first + i, from = compare ? at % rows * cols + at / rows : at;
            for (size_t b = 0; b < size; b++) {
                unsigned char value = byte_of(from, b);
                wrong += compare && (unsigned char)piece[i * size + b] != value;
                piece[i * size + b] = (char)value;
            }
        }
        if (!compare && pwrite(file, piece, count * size, (off_t)(first * size)) != (ssize_t)(count * size)) {
            stop("write");
        }
        filled += count;
    }
    return wrong + (filled != all);
}

static void forget(int file)
{
    if (fdatasync(file) != 0) {
        stop("fdatasync");
    }
    posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
}

static double rewrite(int file)
{
    forget(file);
    double start = now();
    for (size_t at = 0; at < rows * cols * size; at += PIECE) {
        ssize_t got = pread(file, piece, PIECE, (off_t)at);
        if (got <= 0 || pwrite(file, piece, (size_t)got, (off_t)at) != got) {
            stop("rewrite");
        }
    }
    if (fdatasync(file) != 0) {
        stop("fdatasync");
    }
    return now() - start;
}

static double transpose(int file, char **words, long *resident)
{
    struct rusage usage;
    int status;
    forget(file);
    double start = now();
    pid_t child = fork();
    if (child == 0) {
        execv(words[0], words);
        _exit(127);
    }
    if (child < 0 || wait4(child, &status, 0, &usage) != child || status != 0) {
        fprintf(stderr, "%s failed\n", words[0]);
        exit(1);
    }
    if (fdatasync(file) != 0) {
        stop("fdatasync");
    }
    *resident = usage.ru_maxrss > *resident ? usage.ru_maxrss : *resident;
    return now() - start;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int main(int count, char **words)
{
    enum { MOST = 15 };
    double plain[MOST], ours[MOST];
    char raw[100], *command[64] = {NULL};
    long resident = 0, rounds = count > 4 ? strtol(words[4], NULL, 10) : 3;
    size_t wrong = 0;
    int next = 0;
    if (count < 4 || sscanf(words[3], "%zux%zu:%zu", &rows, &cols, &size) != 3 || rounds < 1 || rounds > MOST ||
        count > 50) {
        fprintf(stderr, "usage: file TOOL FILE ROWSxCOLS:BYTES [ROUNDS] OPTION ...\n");
        return 2;
    }
    piece = malloc(PIECE);
    int file = open(words[2], O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (piece == NULL || file < 0) {
        stop(words[2]);
    }
    each_element(file, 0);
    command[next++] = words[1];
    command[next++] = (char[]){"transpose"};
    command[next++] = words[2];
    command[next++] = (char[]){"--raw"};
    command[next++] = raw;
    for (int i = 5; i < count; i++) {
        command[next++] = words[i];
    }
    for (long i = 0; i < rounds; i++) { /* each round transposes back */
        snprintf(raw, sizeof raw, "%zux%zu:%zu", i % 2 ? cols : rows, i % 2 ? rows : cols, size);
        plain[i] = rewrite(file);
        ours[i] = transpose(file, command, &resident);
        if (i == 0) {
            wrong = each_element(file, 1);
        }
    }
    unlink(words[2]);
    double bytes = (double)rows * (double)cols * (double)size, ratios[MOST];
    for (long i = 0; i < rounds; i++) {
        ratios[i] = plain[i] / ours[i];
        printf("  rewritten in %.2f s, transposed in %.2f s: %.3f\n", plain[i], ours[i], ratios[i]);
    }
    qsort(ratios, (size_t)rounds, sizeof *ratios, by_value);
    printf("%s, %.2f GB", words[3], 1e-9 * bytes);
    for (int i = 5; i < count; i++) {
        printf(" %s", words[i]);
    }
    printf(": %.3f of a rewrite's speed (median of %ld), resident %.1f MB at most, %zu wrong bytes\n",
           ratios[rounds / 2], rounds, 1e-6 * 1024 * (double)resident, wrong);
    return wrong != 0;
}
