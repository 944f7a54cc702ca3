/* The first calls of wrappers are in the child of a fork, and a thread that the child has not has the loader's lock. */
#define _GNU_SOURCE
#include <link.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "caudal/probe.h"
#include "check.h"

int caudal_wrap_sigaction_v1(int, const struct sigaction *, struct sigaction *);
int caudal_wrap_pthread_mutex_lock_v1(pthread_mutex_t *);
int caudal_wrap_pthread_mutex_unlock_v1(pthread_mutex_t *);
int caudal_wrap_sem_wait_v1(sem_t *);

static int has_lock[2], may_end[2];

/* The program's own. */
int sem_wait(sem_t *semaphore)
{
    CHECK(sem_post(semaphore) == 0);
    return 42;
}

static int wait_in_loader(struct dl_phdr_info *object, size_t size, void *unused)
{
    char byte = 0;
    (void)object, (void)size, (void)unused;
    CHECK(write(has_lock[1], &byte, 1) == 1 && read(may_end[0], &byte, 1) == 1);
    return 1;
}

static void *hold_lock(void *unused)
{
    CHECK(dl_iterate_phdr(wait_in_loader, NULL) == 1);
    return unused;
}

static void call_wrappers(void)
{
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    struct sigaction action;
    sem_t semaphore;
    CHECK(caudal_wrap_sigaction_v1(SIGUSR1, NULL, &action) == 0 && action.sa_handler == SIG_DFL);
    CHECK(caudal_wrap_pthread_mutex_lock_v1(&mutex) == 0);
    CHECK(caudal_critical_depth() == CAUDAL_PROBE_LOCK);
    CHECK(caudal_wrap_pthread_mutex_unlock_v1(&mutex) == 0);
    CHECK(sem_init(&semaphore, 0, 0) == 0 && caudal_wrap_sem_wait_v1(&semaphore) == 42);
}

int main(void)
{
    pthread_t thread;
    pid_t child;
    int status;
    char byte = 0;
    CHECK(pipe(has_lock) == 0 && pipe(may_end) == 0);
    CHECK(pthread_create(&thread, NULL, hold_lock, NULL) == 0);
    CHECK(read(has_lock[0], &byte, 1) == 1);
    child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        /* It would wait for ever. */
        alarm(60);
        call_wrappers();
        _exit(0);
    }
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(write(may_end[1], &byte, 1) == 1 && pthread_join(thread, NULL) == 0);
    CHECK_EQUAL(status, 0);
    call_wrappers();
    return 0;
}
