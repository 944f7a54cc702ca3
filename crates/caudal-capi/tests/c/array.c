/* A handler with an array that is larger than its stack and the guard behind it, of which it touches the far end alone. */
#include "check.h"

static void has_array(void *argument)
{
    volatile char bytes[*(int *)argument];
    bytes[0] = 1;
    (void)bytes;
}

int main(int argc, char **argv)
{
    int size = 190 << 10;
    caudal_options options;
    caudal_runtime *runtime;
    caudal_request *request;
    CHECK(argc >= 2);
    caudal_options_init(&options);
    options.stack_bytes = 64 << 10;
    runtime = start(argv[1], &options);
    OK(caudal_submit(runtime, class_of(runtime, "work"), has_array, &size, &request));
    OK(caudal_wait(request, NULL));
    OK(caudal_request_release(request));
    OK(caudal_runtime_destroy(runtime));
    return 0;
}
