/*
 * Streams of stdio, during whose use a request keeps its worker. Called by the wrappers of wrappers.S, in programs with probes.
 *
 * stdio's streams may be locked again by the thread that has them, so a request that has one never gives its worker back.
 *
 * Wrappers stand for the functions that lock a stream, with their parameters; those with variable arguments come in by variadic.S.
 * Functions that format or may write take some hundred cycles at least, so they end with a probe, of all modes at once: code around such a
 * call needs no probe of its own.
 */
#define _GNU_SOURCE
/* The program's own calls say whether they are checked. */
#undef _FORTIFY_SOURCE
#include "wait.h"

#include <stdarg.h>
#include <stdio.h>

/* In front of a call that locks `stream`, and behind it. The stream is locked around the call: who has to wait for it lets
 * others run, where the call itself would put the thread to sleep. Null: which stream is not known, or it is gone afterwards. */
void caudal_stdio_enter_v1(FILE *stream)
{
    uint32_t round;
    if (stream != NULL) {
        for (round = 0; LIBC(ftrylockfile)(stream) != 0; round++) {
            if (!caudal_probe_wait(round)) {
                LIBC(flockfile)(stream);
                break;
            }
        }
    }
    caudal_probe_hold(CAUDAL_PROBE_SECTION);
}

void caudal_stdio_exit_v1(FILE *stream)
{
    if (stream != NULL) {
        LIBC(funlockfile)(stream);
    }
    caudal_probe_leave(CAUDAL_PROBE_SECTION);
}

/* For calls that print to a stream which they do not name, in code of a pass that knew no wrappers of them. */
void caudal_stdout_enter_v1(void)
{
    caudal_stdio_enter_v1(stdout);
}

void caudal_stdout_exit_v1(void)
{
    caudal_stdio_exit_v1(stdout);
}

void caudal_around_flockfile_v1(FILE *stream)
{
    caudal_stdio_enter_v1(stream);
}

int caudal_around_ftrylockfile_v1(FILE *stream)
{
    int answer = LIBC(ftrylockfile)(stream);
    if (answer == 0) {
        caudal_probe_hold(CAUDAL_PROBE_SECTION);
    }
    return answer;
}

void caudal_around_funlockfile_v1(FILE *stream)
{
    caudal_stdio_exit_v1(stream);
}

/* Behind a call that has taken long. */
static void check_quantum(void)
{
    CAUDAL_PROBE_CLOCK();
    CAUDAL_PROBE_FLAG();
}

/* Also when a thread is cancelled, or an exception leaves a stream's own functions. */
static void leave_stream(FILE *const *locked)
{
    caudal_stdio_exit_v1(*locked);
}

/* As long as the block around it lasts. */
#define HOLD(stream)                                                            \
    __attribute__((cleanup(leave_stream))) FILE *const locked = (stream);       \
    caudal_stdio_enter_v1(locked)

/* Answers what `call` does, which has `stream`. */
#define AROUND(stream, call) \
    do {                     \
        HOLD(stream);        \
        return (call);       \
    } while (0)
/* And checks behind it whether the quantum has ended. */
#define AROUND_LONG(stream, type, call) \
    do {                                \
        type answer;                    \
        {                               \
            HOLD(stream);               \
            answer = (call);            \
        }                               \
        check_quantum();                \
        return answer;                  \
    } while (0)

/* glibc's, where formats are checked. */
extern int __vprintf_chk(int flag, const char *format, va_list arguments) __attribute__((weak));
extern int __vfprintf_chk(FILE *stream, int flag, const char *format, va_list arguments) __attribute__((weak));

int caudal_around_vprintf_v1(const char *format, va_list arguments)
{
    AROUND_LONG(stdout, int, LIBC(vprintf)(format, arguments));
}

int caudal_around_vfprintf_v1(FILE *stream, const char *format, va_list arguments)
{
    AROUND_LONG(stream, int, LIBC(vfprintf)(stream, format, arguments));
}

int caudal_around___vprintf_chk_v1(int flag, const char *format, va_list arguments)
{
    AROUND_LONG(stdout, int, LIBC(__vprintf_chk)(flag, format, arguments));
}

int caudal_around___vfprintf_chk_v1(FILE *stream, int flag, const char *format, va_list arguments)
{
    AROUND_LONG(stream, int, LIBC(__vfprintf_chk)(stream, flag, format, arguments));
}

int caudal_around_puts_v1(const char *text)
{
    AROUND(stdout, LIBC(puts)(text));
}

int caudal_around_fputs_v1(const char *text, FILE *stream)
{
    AROUND(stream, LIBC(fputs)(text, stream));
}

char *caudal_around_fgets_v1(char *text, int size, FILE *stream)
{
    AROUND(stream, LIBC(fgets)(text, size, stream));
}

size_t caudal_around_fwrite_v1(const void *items, size_t size, size_t count, FILE *stream)
{
    AROUND(stream, LIBC(fwrite)(items, size, count, stream));
}

size_t caudal_around_fread_v1(void *items, size_t size, size_t count, FILE *stream)
{
    AROUND(stream, LIBC(fread)(items, size, count, stream));
}

ssize_t caudal_around_getline_v1(char **line, size_t *size, FILE *stream)
{
    AROUND(stream, LIBC(getline)(line, size, stream));
}

ssize_t caudal_around_getdelim_v1(char **line, size_t *size, int end, FILE *stream)
{
    AROUND(stream, LIBC(getdelim)(line, size, end, stream));
}

ssize_t caudal_around___getdelim_v1(char **line, size_t *size, int end, FILE *stream)
{
    AROUND(stream, LIBC(getdelim)(line, size, end, stream));
}

int caudal_around_fflush_v1(FILE *stream)
{
    AROUND_LONG(stream, int, LIBC(fflush)(stream));
}

int caudal_around_fseek_v1(FILE *stream, long offset, int from)
{
    AROUND_LONG(stream, int, LIBC(fseek)(stream, offset, from));
}

int caudal_around_fseeko_v1(FILE *stream, off_t offset, int from)
{
    AROUND_LONG(stream, int, LIBC(fseeko)(stream, offset, from));
}

long caudal_around_ftell_v1(FILE *stream)
{
    AROUND(stream, LIBC(ftell)(stream));
}

off_t caudal_around_ftello_v1(FILE *stream)
{
    AROUND(stream, LIBC(ftello)(stream));
}

void caudal_around_rewind_v1(FILE *stream)
{
    {
        HOLD(stream);
        LIBC(rewind)(stream);
    }
    check_quantum();
}

int caudal_around_fgetpos_v1(FILE *stream, fpos_t *position)
{
    AROUND(stream, LIBC(fgetpos)(stream, position));
}

int caudal_around_fsetpos_v1(FILE *stream, const fpos_t *position)
{
    AROUND_LONG(stream, int, LIBC(fsetpos)(stream, position));
}

int caudal_around_setvbuf_v1(FILE *stream, char *buffer, int mode, size_t size)
{
    AROUND(stream, LIBC(setvbuf)(stream, buffer, mode, size));
}

void caudal_around_setbuf_v1(FILE *stream, char *buffer)
{
    HOLD(stream);
    LIBC(setbuf)(stream, buffer);
}

/* These are gone afterwards, or name no stream: sections alone. */
int caudal_around_fclose_v1(FILE *stream)
{
    AROUND_LONG(NULL, int, LIBC(fclose)(stream));
}

FILE *caudal_around_freopen_v1(const char *path, const char *mode, FILE *stream)
{
    AROUND_LONG(NULL, FILE *, LIBC(freopen)(path, mode, stream));
}

void caudal_around_perror_v1(const char *text)
{
    {
        HOLD(NULL);
        LIBC(perror)(text);
    }
    check_quantum();
}

/* Around other calls, and functions, that are sections: a call, where the inlined entry would not pay. */
void caudal_section_enter_v1(void)
{
    caudal_probe_hold(CAUDAL_PROBE_SECTION);
}

void caudal_section_exit_v1(void)
{
    caudal_probe_leave(CAUDAL_PROBE_SECTION);
}
