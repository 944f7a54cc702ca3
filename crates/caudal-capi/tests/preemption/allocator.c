/* A program that brings its own allocator, with what that calls. */
#include <pthread.h>
#include <stddef.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static char heap[1 << 20];
static volatile size_t used;
static volatile unsigned failures;

__attribute__((noinline)) static void *refill(size_t size)
{
    size_t place, byte;
    pthread_mutex_lock(&mutex);
    place = used;
    used = place + size;
    pthread_mutex_unlock(&mutex);
    for (byte = 0; byte < size; byte++) {
        ((volatile char *)heap)[place + byte] = 1;
    }
    return heap + place;
}

/* It does not come back, so nobody is in the allocator any more. */
__attribute__((noinline, noreturn)) static void fail(void)
{
    for (;;) {
        failures++;
    }
}

void *malloc(size_t size)
{
    if (used + size > sizeof heap) {
        fail();
    }
    return refill(size);
}

void *user(size_t size);
void *user(size_t size)
{
    size_t iteration;
    pthread_mutex_lock(&mutex);
    for (iteration = 0; iteration < size; iteration++) {
        failures++;
    }
    pthread_mutex_unlock(&mutex);
    return NULL;
}
