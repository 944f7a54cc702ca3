/* A request that waits for a condition comes back when it is signalled, and not in every round: the program's signals are heard. */
#include <pthread.h>
#include <threads.h>

#include "caudal/probe.h"
#include "check.h"

int caudal_wrap_pthread_cond_wait_v1(pthread_cond_t *, pthread_mutex_t *);
int caudal_wrap_cnd_wait_v1(cnd_t *, mtx_t *);
int caudal_wrap_cnd_signal_v1(cnd_t *);
int caudal_wrap_cnd_broadcast_v1(cnd_t *);

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

static cnd_t c11;
static int broadcasts;

static int put_aside_by_c11(uint32_t round)
{
    if (round != ASKED_ONLY && ++rounds == 20) {
        CHECK((broadcasts ? caudal_wrap_cnd_broadcast_v1(&c11) : caudal_wrap_cnd_signal_v1(&c11)) == thrd_success);
    }
    return 1;
}

/* C11's signals are heard where code with probes sends them. */
static void conditions_of_c11(void)
{
    mtx_t lock;
    CHECK(mtx_init(&lock, mtx_plain) == thrd_success && cnd_init(&c11) == thrd_success);
    caudal_probe_wait_hook_v1 = put_aside_by_c11;
    for (; broadcasts < 2; broadcasts++) {
        rounds = 0;
        CHECK(mtx_lock(&lock) == thrd_success);
        CHECK(caudal_wrap_cnd_wait_v1(&c11, &lock) == thrd_success);
        CHECK_EQUAL(rounds, 20);
        CHECK(mtx_unlock(&lock) == thrd_success);
    }
}

int main(void)
{
    caudal_probe_wait_hook_v1 = put_aside;
    CHECK(pthread_mutex_lock(&mutex) == 0);
    CHECK(caudal_wrap_pthread_cond_wait_v1(&condition, &mutex) == 0);
    CHECK_EQUAL(rounds, 20);
    CHECK(pthread_mutex_unlock(&mutex) == 0);
    conditions_of_c11();
    return 0;
}
