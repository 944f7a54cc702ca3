/* A program in C whose requests load a part in C++, long after the runtime has started, for themselves alone: `late POLICY PART`. */
#include <dlfcn.h>

#include "check.h"

#define REQUESTS 4

typedef int handles_function(int value, void (*yield)(void));

static const char *part;

static void yield(void)
{
    OK(caudal_yield());
}

/* Answers how many of the exceptions came back to the request that has thrown them. */
static void run(void *value)
{
    void *loaded = dlopen(part, RTLD_NOW | RTLD_LOCAL);
    handles_function *handles;
    if (loaded == NULL) {
        fprintf(stderr, "%s\n", dlerror());
        abort();
    }
    *(void **)&handles = dlsym(loaded, "handles");
    CHECK(handles != NULL);
    *(int *)value = handles(*(int *)value, yield);
}

int main(int argc, char **argv)
{
    caudal_runtime *runtime;
    caudal_class work;
    caudal_request *requests[REQUESTS];
    int values[REQUESTS], i, own = 0;
    CHECK(argc == 3);
    part = argv[2];
    runtime = start(argv[1], NULL);
    work = class_of(runtime, "work");
    for (i = 0; i < REQUESTS; i++) {
        values[i] = i + 1;
        OK(caudal_submit(runtime, work, run, &values[i], &requests[i]));
    }
    for (i = 0; i < REQUESTS; i++) {
        caudal_outcome outcome;
        OK(caudal_wait(requests[i], &outcome));
        CHECK(outcome == CAUDAL_OUTCOME_RETURNED);
        caudal_request_release(requests[i]);
        own += values[i];
    }
    OK(caudal_runtime_destroy(runtime));
    printf("%d of %d came back to their requests\n", own, REQUESTS * 100);
    return 0;
}
