/* What the test programs share. */
#ifndef CHECK_H
#define CHECK_H

#include <stdio.h>
#include <stdlib.h>

#include <caudal/caudal.h>

#define CHECK(condition)                                                            \
    do {                                                                            \
        if (!(condition)) {                                                         \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
            abort();                                                                \
        }                                                                           \
    } while (0)

/* A status other than the wanted one is named. */
#define CHECK_STATUS(wanted, call)                                                                          \
    do {                                                                                                    \
        caudal_status answered_ = (call);                                                                   \
        if (answered_ != (wanted)) {                                                                        \
            fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, caudal_status_text(answered_)); \
            abort();                                                                                        \
        }                                                                                                   \
    } while (0)
#define OK(call) CHECK_STATUS(CAUDAL_OK, call)

/* A runtime on the file at `policy`; the machine may have fewer cores than it has threads. */
static inline caudal_runtime *start(const char *policy, const caudal_options *wanted)
{
    caudal_options options;
    caudal_error error;
    caudal_runtime *runtime = NULL;
    caudal_options_init(&options);
    if (wanted != NULL) {
        options = *wanted;
    }
    options.pinning = CAUDAL_PINNING_NONE;
    if (caudal_runtime_create(policy, &options, &runtime, &error) != CAUDAL_OK) {
        fprintf(stderr, "%s\n", error.message);
        abort();
    }
    return runtime;
}

static inline caudal_class class_of(caudal_runtime *runtime, const char *name)
{
    caudal_class class_ = 0;
    OK(caudal_runtime_class(runtime, name, &class_));
    return class_;
}

#endif
