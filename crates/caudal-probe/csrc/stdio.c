/*
 * stdio's streams, which a thread may lock again: whoever has one never gives its worker back.
 */
#define _GNU_SOURCE
#include "wait.h"

#include <stdio.h>

/* In front of a call that locks `stream`, and behind it. The stream is locked around the call: who has to wait for it lets
 * others run, where the call itself would put the thread to sleep. Null: which stream is not known, or it is gone afterwards. */
void caudal_stdio_enter_v1(FILE *stream)
{
    uint32_t round;
    if (stream != NULL) {
        for (round = 0; ftrylockfile(stream) != 0; round++) {
            if (!caudal_probe_wait(round)) {
                flockfile(stream);
                break;
            }
        }
    }
    caudal_probe_hold(CAUDAL_PROBE_SECTION);
}

void caudal_stdio_exit_v1(FILE *stream)
{
    if (stream != NULL) {
        funlockfile(stream);
    }
    caudal_probe_leave(CAUDAL_PROBE_SECTION);
}

/* For calls that print to a stream which they do not name. */
void caudal_stdout_enter_v1(void)
{
    caudal_stdio_enter_v1(stdout);
}

void caudal_stdout_exit_v1(void)
{
    caudal_stdio_exit_v1(stdout);
}

void caudal_wrap_flockfile_v1(FILE *stream)
{
    caudal_stdio_enter_v1(stream);
}

int caudal_wrap_ftrylockfile_v1(FILE *stream)
{
    int answer = ftrylockfile(stream);
    if (answer == 0) {
        caudal_probe_hold(CAUDAL_PROBE_SECTION);
    }
    return answer;
}

void caudal_wrap_funlockfile_v1(FILE *stream)
{
    caudal_stdio_exit_v1(stream);
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
