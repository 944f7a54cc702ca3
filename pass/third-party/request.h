/*
 * What a program here is: request(), which does its work and answers with a checksum, and can be run several times at once.
 * main.c runs it once, coroutines.c several, in turns.
 */
#ifndef REQUEST_H
#define REQUEST_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* `percent` of the rounds that the bench runs; at 0 the input is made and all is done that is not done in rounds. */
uint64_t request(uint64_t seed, int percent);

/* In the bench: the program waits for another thread, or has done so (0); what that takes is not the probes' doing. */
void program_waits(int begins);

#ifdef __cplusplus
}
#endif

#endif
