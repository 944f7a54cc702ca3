/* A check that says where it failed, and ends the program. */
#ifndef CHECK_H
#define CHECK_H

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define CHECK(condition)                                                           \
    do {                                                                           \
        if (!(condition)) {                                                        \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
            exit(1);                                                               \
        }                                                                          \
    } while (0)

#define CHECK_EQUAL(left, right)                                                                          \
    do {                                                                                                  \
        uint64_t left_value = (uint64_t)(left), right_value = (uint64_t)(right);                          \
        if (left_value != right_value) {                                                                  \
            fprintf(stderr, "%s:%d: %s is %" PRIu64 ", %s is %" PRIu64 "\n", __FILE__, __LINE__, #left,   \
                    left_value, #right, right_value);                                                     \
            exit(1);                                                                                      \
        }                                                                                                 \
    } while (0)

#endif
