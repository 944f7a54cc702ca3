/* A request that waits for a condition comes back when it is signalled, and not in every round: the program's signals are heard. */
#include <pthread.h>

#include "caudal/probe.h"
#include "check.h"

int caudal_wrap_pthread_cond_wait_v1(pthread_cond_t *, pthread_mutex_t *);

#define ASKED_ONLY UINT32_MAX

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static int rounds;

/* What the others do, while the request is put aside: at the twentieth time one signals. */
static int put_aside(uint32_t round)
{
    if (round != ASKED_ONLY && ++rounds == 20) {
        CHECK(pthread_cond_signal(&condition) == 0);
    }
    return 1;
}

int main(void)
{
    caudal_probe_wait_hook_v1 = put_aside;
    CHECK(pthread_mutex_lock(&mutex) == 0);
    CHECK(caudal_wrap_pthread_cond_wait_v1(&condition, &mutex) == 0);
    CHECK_EQUAL(rounds, 20);
    CHECK(pthread_mutex_unlock(&mutex) == 0);
    return 0;
}
