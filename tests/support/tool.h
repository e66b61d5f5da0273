/* For tests of the tool: run the tool and other programs, in a directory for each test, and check the files there. */
#ifndef TOOL_H_INCLUDED
#define TOOL_H_INCLUDED

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "process.h"
#include "skip.h"

enum {
    PATH_SIZE = 512,
    MAX_FILES = 32,
    OUTPUT_SIZE = 1 << 18 /* more than any command prints */
};

/* Numbers of size_t as text: all bits set, all but the highest bit set, the least number whose square overflows, and
 * the sides of a byte matrix that is too large for any device. */
#if SIZE_MAX > 0xffffffffu
#define ALL_BITS "18446744073709551615"
#define HALF_BITS "9223372036854775807"
#define ROOT "4294967296"
#define HUGE_SIDES "4000000000x4100000000"
#else
#define ALL_BITS "4294967295"
#define HALF_BITS "2147483647"
#define ROOT "65536"
#define HUGE_SIDES "65521x65519"
#endif

/* The exit code and output of a program. */
typedef struct outcome {
    int code; /* the exit code; -1 if a signal ended it */
    char output[OUTPUT_SIZE], errors[OUTPUT_SIZE];
} outcome;

extern outcome last; /* of the latest run */

/* The largest file, in bytes, that the next run may write; 0: no limit. */
extern size_t next_file_limit;

/* The standard streams that are closed in the next run: a bit for each. */
extern unsigned next_closed;

/* A directory for a test, removed by its teardown. */
extern char directory[PATH_SIZE];

#define IN_DIRECTORY(function) cmocka_unit_test_setup_teardown(function, make_directory, remove_directory)

/* Runs a program and fails unless it exits with code. */
#define run_program(code, ...)                                                                                         \
    do {                                                                                                               \
        const char *const run_program_words[] = {__VA_ARGS__, NULL};                                                   \
        run_words(NULL, run_program_words);                                                                            \
        expect_code(code, __LINE__);                                                                                   \
    } while (0)

/* Runs the tool and fails unless it exits with code. */
#define run_tool(code, ...) run_program(code, process_tool(), __VA_ARGS__)

typedef struct content {
    unsigned char *bytes;
    size_t size;
} content;

/* The names in a folder, sorted; none if there is no folder. */
typedef struct listing {
    size_t count;
    char names[MAX_FILES][256];
} listing;

/* The first words of a command that runs with a full disk, simulated by next_file_limit: the command ignores the
 * limit's signal, which a full disk does not send. */
#define FULL_DISK "sh", "-c", "trap '' XFSZ; exec \"$@\"", "sh"

/* The first words of a command that finds no OpenCL device. */
#define NO_DEVICES "env", "OCL_ICD_VENDORS=/nonexistent"

/* Checks that the test's directory contains exactly these files, in alphabetical order. */
#define expect_files(...)                                                                                              \
    do {                                                                                                               \
        const char *const expected_files[] = {__VA_ARGS__, NULL};                                                      \
        expect_files_of(expected_files, __LINE__);                                                                     \
    } while (0)

/* The parts of an entry of ipt's cache. */
typedef struct entry_parts {
    bool is_program;
    char key[8192];
    const unsigned char *code;
    size_t code_size;
} entry_parts;

/* Two shapes that share programs, and a third that needs other programs on devices with panels. */
#define SHAPES "24x20:4", "37x23:4", "31x1500:4"
enum { SHAPE_COUNT = 3 };
extern const char *const all_shapes[SHAPE_COUNT];

enum { ELEMENT = 4 }; /* element size of files that tests write */

/* Runs words[0] with the words after it, up to NULL. output_path: the file for its output; NULL: last.output. */
void run_words(const char *output_path, const char *const *words);

void expect_code(int code, int line);

void expect_word(const char *text, const char *word);

int make_directory(void **state);

int remove_directory(void **state);

/* The path of a file in the test's directory; valid until the test ends. */
const char *in_directory(const char *name);

content read_content(const char *path);

void write_content(const char *path, const void *bytes, size_t size);

/* Writes a .npy file: magic, version, length of the header text, the text, and size bytes of data that count up.
 * Returns the offset of the data. */
size_t write_npy(const char *path, unsigned major, const char *text, size_t text_length, size_t size);

/* A Python with NumPy; NULL if there is none. */
const char *python_with_numpy(void);

/* Writes a script into the test's directory. Returns its path. */
const char *write_script(const char *name, const char *const *texts, size_t count);

/* Runs a script in the directory that calls the tool and checks the result. */
void run_with_numpy(const char *name, const char *const *texts, size_t count);

size_t count_words(const char *text, const char *word);

void expect_one_line(const char *text);

/* Intel's runtime catches the signal that FULL_DISK ignores, prints a line about it, and continues. */
const char *without_signal(const char *text);

bool exists(const char *path);

listing list_folder(const char *folder);

const char *path_within(const char *folder, const char *name);

/* Describes a folder's files: the text changes if a file is written, touched or replaced. */
void describe_folder(const char *folder, char text[OUTPUT_SIZE]);

void expect_files_of(const char *const *names, int line);

void expect_content(const char *path, const char *text);

const char *write_text(const char *name, const char *text);

/* The line of a text that begins with start; fails the test if there is none. Valid until the next call. */
const char *line_of(const char *text, const char *start);

/* Copies text and replaces the line of this index, counted from 0; NULL: ends the text before this line. */
void replace_line(const char *text, size_t index, const char *with, char edited[OUTPUT_SIZE]);

/* Splits an entry into its parts; fails the test if the head does not describe them. */
entry_parts take_apart(const unsigned char *bytes, size_t size);

/* The number of programs in a folder of entries; *others: the number of other entries. */
size_t count_programs(const char *folder, size_t *others);

/* Writes the profile of the test's device to a file. Returns its path. */
const char *write_profile(char text[OUTPUT_SIZE]);

/* Checks that plans of the shapes find all programs in the folder: no file is added or changed. */
void expect_complete(const char *folder, const char *wisdom);

/* Checks the last line of precompile's output against the folder's content. */
void expect_precompiled(const char *folder, const char *place);

void expect_same_names(const char *first, const char *second);

/* Checks that `now`, from offset on, is the batch of rows x cols elements of `before`, each matrix transposed. */
void expect_transposed(content before, content now, size_t offset, size_t batch, size_t rows, size_t cols);

/* Checks a header. Its programs are also in folder. */
void expect_header(const char *path, const char *name, const char *guard, const char *folder);

/* Runs a command that must refuse a file with a message of one line, which names the file and a line number. */
void expect_refused_line(const char *path, const char *what, size_t number, const char *const *words);

#endif /* TOOL_H_INCLUDED */
