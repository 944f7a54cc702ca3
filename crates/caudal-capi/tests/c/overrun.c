/* A handler that writes behind an array on its coroutine's stack, for the sanitizer to see. */
#include "check.h"

static void overruns(void *argument)
{
    volatile char bytes[16];
    volatile int at = *(int *)argument;
    bytes[at] = 1;
    (void)bytes;
}

int main(int argc, char **argv)
{
    int at = 16;
    caudal_runtime *runtime;
    caudal_request *request;
    CHECK(argc >= 2);
    runtime = start(argv[1], NULL);
    OK(caudal_submit(runtime, class_of(runtime, "work"), overruns, &at, &request));
    OK(caudal_wait(request, NULL));
    OK(caudal_request_release(request));
    OK(caudal_runtime_destroy(runtime));
    return 0;
}
