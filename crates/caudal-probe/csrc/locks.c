/*
 * Locks of the C library that let other requests run while they wait. Called by the wrappers of wrappers.S, in programs with
 * probes.
 *
 * Locks of the C library that the probe pass redirects to, and C11's: mutexes, reader-writer and spin locks, conditions, semaphores, once.
 *
 * Where there is a wait hook (wait.h), all are taken by their try_ function; while another has them, the hook runs others. Where it does
 * not, the caller is a thread, and the ordinary function waits. Where there is no hook, locks are taken by the ordinary function at
 * once: of mutexes it has no atomic instruction in programs of one thread, which pthread_mutex_trylock has.
 *
 * A mutex that belongs to its thread (recursive, error-checking, robust, or with priority inheritance) takes every request of the worker for
 * its owner. This file keeps the request that has each, per thread:
 *
 *      free ── first lock ──▶ has(request, 1) ── same request ──▶ has(request, n) ── n unlocks ──▶ free
 *                                  │    │
 *                                  │    └─ the request ends: of a robust one the owner has died, another is had for ever
 *                                  └─ another request of the thread: waits, as for a lock of another thread, and may not unlock it
 *
 * With more of them at once than the table has places the further ones are sections, which never give the worker back: then
 * no other request is there to get in.
 */
#define _GNU_SOURCE
#include "conditions.h"
#include "wait.h"

#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

/* How a kind of lock is taken: at once or not at all (EBUSY), and as a thread waits for it. */
struct kind {
    int (*try_it)(void *lock);
    int (*wait_for)(void *lock, const struct caudal_until *until);
};

/* A lock that was not free. */
__attribute__((noinline)) static int acquire_slowly(void *lock, const struct kind *kind, const struct caudal_until *until)
{
    uint32_t round;
    int answer = EBUSY;
    for (round = 0; answer == EBUSY; round++) {
        if (until && (until->at->tv_nsec < 0 || until->at->tv_nsec >= 1000000000)) {
            return EINVAL;
        }
        if (until && caudal_probe_is_over(until)) {
            return ETIMEDOUT;
        }
        if (!caudal_probe_wait(round)) {
            return kind->wait_for(lock, until);
        }
        answer = kind->try_it(lock);
    }
    return answer;
}

/* Notes that the lock is had, unless it is not. */
static inline int had(int answer)
{
    if (__builtin_expect(answer == 0, 1) || answer == EOWNERDEAD) {
        caudal_probe_hold(CAUDAL_PROBE_LOCK);
    }
    return answer;
}

static int acquire(void *lock, const struct kind *kind, const struct caudal_until *until)
{
    if (!caudal_probe_may_wait()) {
        return had(kind->wait_for(lock, until));
    }
    int answer = kind->try_it(lock);
    return had(__builtin_expect(answer == EBUSY, 0) ? acquire_slowly(lock, kind, until) : answer);
}

/* --- mutexes -------------------------------------------------------------------------------------------------- */

#define OWNED_MAX 16

static __thread struct {
    const void *lock;
    uint64_t request;
    uint32_t times;
    int is_robust; /* and does not inherit priority, which the kernel has a part in */
} owned[OWNED_MAX] __attribute__((tls_model("initial-exec")));
/* Places in use, and sections for those that had none. */
static __thread uint32_t owned_count __attribute__((tls_model("initial-exec")));
static __thread uint32_t owned_without_place __attribute__((tls_model("initial-exec")));

/* Flags that glibc's mutexes have in the word of their kind beside the type, which is 0 to 3: a plain one, recursive, error-checking, adaptive. */
#define KIND_ROBUST 16
#define KIND_INHERITS_PRIORITY 32
#define KIND_SHARED 128

static int is_thread_owned(const pthread_mutex_t *mutex)
{
#if defined(__GLIBC__)
    /* One more makes the second bit that of the two types. */
    return ((mutex->__data.__kind + 1) & (2 | KIND_ROBUST | KIND_INHERITS_PRIORITY)) != 0;
#else
    (void)mutex;
    return 1;
#endif
}

/* Has the C library an answer for the owner who locks it again? Otherwise he would wait for himself, and all of the worker with him. */
static int answers_owner(const pthread_mutex_t *mutex)
{
#if defined(__GLIBC__)
    return ((mutex->__data.__kind + 1) & 2) != 0;
#else
    (void)mutex;
    return 1;
#endif
}

/* The place of `lock`; the first free one, or OWNED_MAX, if it has none. */
static uint32_t place_of(const void *lock)
{
    uint32_t place = 0;
    while (place < owned_count && owned[place].lock != lock) {
        place++;
    }
    return place;
}

static void forget(uint32_t place)
{
    owned_count--;
    owned[place] = owned[owned_count];
}

/* Nobody has it, whatever is said here: code without wrappers has given it back, or it was made anew. */
static int is_free(const pthread_mutex_t *mutex)
{
#if defined(__GLIBC__)
    return __atomic_load_n(&mutex->__data.__lock, __ATOMIC_RELAXED) == 0;
#else
    (void)mutex;
    return 0;
#endif
}

/* Another request of this thread has the mutex; the thread would get in. */
static int is_anothers(const pthread_mutex_t *mutex)
{
    uint32_t place = place_of(mutex);
    if (place == owned_count || owned[place].request == caudal_probe_request()) {
        return 0;
    }
    if (is_free(mutex)) {
        forget(place);
        return 0;
    }
    return 1;
}

static int try_owned(void *lock)
{
    return is_anothers(lock) ? EBUSY : LIBC(pthread_mutex_trylock)(lock);
}

static int wait_for_mutex(void *lock, const struct caudal_until *until)
{
    return until ? LIBC(pthread_mutex_clocklock)(lock, until->clock, until->at) : LIBC(pthread_mutex_lock)(lock);
}

static int wait_for_owned(void *lock, const struct caudal_until *until)
{
    static const char refused[] =
        "caudal: a mutex that another request of this worker has locked is wanted inside of a critical section, where nothing else can run: "
        "end the section first\n";
    if (is_anothers(lock)) {
        ssize_t written = write(STDERR_FILENO, refused, sizeof refused - 1);
        (void)written;
        abort();
    }
    return wait_for_mutex(lock, until);
}

/* May its owner be marked as dead? */
static int is_robust(const pthread_mutex_t *mutex)
{
#if defined(__GLIBC__)
    return (mutex->__data.__kind & (KIND_ROBUST | KIND_INHERITS_PRIORITY)) == KIND_ROBUST;
#else
    (void)mutex;
    return 0;
#endif
}

/* The caller has the thread-owned mutex once more. */
static int own(const pthread_mutex_t *mutex, int answer)
{
    uint32_t place;
    if (answer != 0 && answer != EOWNERDEAD) {
        return answer;
    }
    place = place_of(mutex);
    if (place == OWNED_MAX) {
        owned_without_place++;
        caudal_probe_hold(CAUDAL_PROBE_SECTION);
        return answer;
    }
    if (place == owned_count) {
        owned_count++;
        owned[place].lock = mutex;
        owned[place].request = caudal_probe_request();
        owned[place].times = 0;
        owned[place].is_robust = is_robust(mutex);
    }
    owned[place].times++;
    caudal_probe_hold(CAUDAL_PROBE_LOCK);
    return answer;
}

static void disown(const pthread_mutex_t *mutex)
{
    uint32_t place = place_of(mutex);
    if (place < owned_count) {
        owned[place].times--;
        if (owned[place].times == 0) {
            forget(place);
        }
        caudal_probe_leave(CAUDAL_PROBE_LOCK);
    } else if (owned_without_place > 0) {
        owned_without_place--;
        caudal_probe_leave(CAUDAL_PROBE_SECTION);
    }
}

static int try_plain(void *lock)
{
    return LIBC(pthread_mutex_trylock)(lock);
}

static const struct kind plain_kind = {try_plain, wait_for_mutex}, owned_kind = {try_owned, wait_for_owned};

/* A thread-owned mutex. One that this request has already is for the C library to answer: EDEADLK, or once more. */
__attribute__((noinline)) static int lock_owned(pthread_mutex_t *mutex, const struct caudal_until *until)
{
    uint32_t place = place_of(mutex);
    if (place < owned_count && owned[place].request == caudal_probe_request() && answers_owner(mutex)) {
        return own(mutex, wait_for_mutex(mutex, until));
    }
    if (!caudal_probe_may_wait()) {
        return own(mutex, wait_for_owned(mutex, until));
    }
    int answer = try_owned(mutex);
    return own(mutex, answer == EBUSY ? acquire_slowly(mutex, &owned_kind, until) : answer);
}

static int lock_mutex(pthread_mutex_t *mutex, const struct caudal_until *until)
{
    return is_thread_owned(mutex) ? lock_owned(mutex, until) : acquire(mutex, &plain_kind, until);
}

/* A plain mutex, which another may have. */
__attribute__((noinline)) static int lock_plain(pthread_mutex_t *mutex)
{
    return acquire(mutex, &plain_kind, NULL);
}

/* The frequent case does next to nothing itself and needs no frame: programs of one thread take and leave a mutex in 20 cycles. */
int caudal_around_pthread_mutex_lock_v1(pthread_mutex_t *mutex)
{
    if (is_thread_owned(mutex)) {
        return lock_owned(mutex, NULL);
    }
    return caudal_probe_may_wait() ? lock_plain(mutex) : had(LIBC(pthread_mutex_lock)(mutex));
}

int caudal_around_pthread_mutex_trylock_v1(pthread_mutex_t *mutex)
{
    return is_thread_owned(mutex) ? own(mutex, try_owned(mutex)) : had(LIBC(pthread_mutex_trylock)(mutex));
}

int caudal_around_pthread_mutex_timedlock_v1(pthread_mutex_t *mutex, const struct timespec *at)
{
    struct caudal_until until = {CLOCK_REALTIME, at};
    return lock_mutex(mutex, &until);
}

int caudal_around_pthread_mutex_clocklock_v1(pthread_mutex_t *mutex, clockid_t clock, const struct timespec *at)
{
    struct caudal_until until = {clock, at};
    return lock_mutex(mutex, &until);
}

__attribute__((noinline)) static int unlock_owned(pthread_mutex_t *mutex)
{
    int answer;
    if (is_anothers(mutex)) {
        return EPERM;
    }
    answer = LIBC(pthread_mutex_unlock)(mutex);
    if (answer == 0) {
        disown(mutex);
    }
    return answer;
}

int caudal_around_pthread_mutex_unlock_v1(pthread_mutex_t *mutex)
{
    if (is_thread_owned(mutex)) {
        return unlock_owned(mutex);
    }
    /* Afterwards the mutex may be gone. */
    int answer = LIBC(pthread_mutex_unlock)(mutex);
    if (__builtin_expect(answer == 0, 1)) {
        caudal_probe_leave_here(CAUDAL_PROBE_LOCK);
    }
    return answer;
}

/* --- of requests that have ended --- */

/* In the place of a request: it has ended, and nobody is it. */
#define ENDED 1

long caudal_around_syscall_v1(long number, long a, long b, long c, long d, long e, long f);

#if defined(__GLIBC__)
/* Does what the kernel does with a robust mutex of a thread that ends, with glibc's list of those that the thread has. The lowest bit of a place in
 * the list says that the mutex there inherits priority. */
static void owner_died(pthread_mutex_t *mutex)
{
    __pthread_list_t *list = &mutex->__data.__list, *after, *before;
    uint32_t *word = (uint32_t *)&mutex->__data.__lock;
    uint32_t now = __atomic_load_n(word, __ATOMIC_RELAXED);
    after = (__pthread_list_t *)((uintptr_t)list->__next & ~(uintptr_t)1);
    before = (__pthread_list_t *)((uintptr_t)list->__prev & ~(uintptr_t)1);
    if (after == NULL || before == NULL) {
        return;
    }
    after->__prev = list->__prev;
    before->__next = list->__next;
    list->__next = list->__prev = NULL;
    while (!__atomic_compare_exchange_n(word, &now, (now & FUTEX_WAITERS) | FUTEX_OWNER_DIED, 0, __ATOMIC_RELEASE, __ATOMIC_RELAXED)) {
    }
    if (now & FUTEX_WAITERS) {
        int operation = mutex->__data.__kind & KIND_SHARED ? FUTEX_WAKE : FUTEX_WAKE_PRIVATE;
        caudal_around_syscall_v1(SYS_futex, (long)word, operation, 1, 0, 0, 0);
    }
}
#endif

/* The request with this stack has ended on this thread, and the next one may have its stack. */
void caudal_request_ended_v1(uint64_t stack_high)
{
    uint32_t place = 0;
    while (place < owned_count) {
        if (owned[place].request != stack_high) {
            place++;
            continue;
        }
#if defined(__GLIBC__)
        if (owned[place].is_robust) {
            owner_died((pthread_mutex_t *)(uintptr_t)owned[place].lock);
            forget(place);
            continue;
        }
#endif
        owned[place].request = ENDED;
        place++;
    }
}

/* --- conditions ----------------------------------------------------------------------------------------------- */

/* A wait without a time, or for what another process may signal, ends for no reason after so many rounds, some 1.8 ms, should a signal not
 * have been heard. */
#define CONDITION_ROUNDS_MAX 32

/* How long each round of a wait is: 16 us, then 32, then 64. */
static uint32_t round_of_condition(uint32_t round)
{
    return 4 + (round < 8 ? round / 4 : 2);
}

/* Waits until the bell has been rung again: not 0. Where not all signals are heard, or the request can not be put aside, the wait ends
 * for no reason, as all may. */
static int is_rung(struct caudal_bell *bell, uint32_t rung, const struct caudal_until *until, uint32_t rounds_max)
{
    uint32_t round = 0;
    while (caudal_probe_wait(round_of_condition(round)) && caudal_probe_hears_signals()) {
        if (__atomic_load_n(&bell->rung, __ATOMIC_SEQ_CST) != rung) {
            return 1;
        }
        round++;
        if (round == rounds_max || (until != NULL && caudal_probe_is_over(until))) {
            break;
        }
    }
    return 0;
}

/* May another process signal it? That one would signal what is in its own memory. Only the C library knows whether a condition is shared;
 * with another library than glibc a condition is taken for the process's own. */
static int is_process_shared(const pthread_cond_t *condition)
{
#if defined(__GLIBC__)
    return (condition->__data.__wrefs & 1) != 0;
#else
    (void)condition;
    return 0;
#endif
}

/* A wait with a time may be meant as a sleep: it is not ended early where every signal is heard. */
static uint32_t rounds_of(const pthread_cond_t *condition, const struct caudal_until *until)
{
    return until == NULL || is_process_shared(condition) ? CONDITION_ROUNDS_MAX : UINT32_MAX;
}

static int wait_on(const pthread_cond_t *condition, pthread_mutex_t *mutex, const struct caudal_until *until, uint32_t rounds_max)
{
    struct caudal_bell *bell = caudal_probe_bell(condition);
    uint32_t rung;
    int answer, was_rung;
    __atomic_fetch_add(&bell->waiting, 1, __ATOMIC_SEQ_CST);
    rung = __atomic_load_n(&bell->rung, __ATOMIC_SEQ_CST);
    answer = caudal_around_pthread_mutex_unlock_v1(mutex);
    was_rung = answer == 0 && is_rung(bell, rung, until, rounds_max);
    __atomic_fetch_sub(&bell->waiting, 1, __ATOMIC_SEQ_CST);
    if (answer != 0) {
        return answer;
    }
    answer = caudal_around_pthread_mutex_lock_v1(mutex);
    return answer == 0 && until && !was_rung && caudal_probe_is_over(until) ? ETIMEDOUT : answer;
}

/* May the caller be put aside until then? For what is no time the C library has the answer. */
static int may_wait_until(const struct timespec *at)
{
    return at->tv_nsec >= 0 && at->tv_nsec < 1000000000 && caudal_probe_wait(CAUDAL_WAIT_ASKS_ONLY);
}

int caudal_around_pthread_cond_wait_v1(pthread_cond_t *condition, pthread_mutex_t *mutex)
{
    return caudal_probe_wait(CAUDAL_WAIT_ASKS_ONLY) ? wait_on(condition, mutex, NULL, rounds_of(condition, NULL))
                                                    : LIBC(pthread_cond_wait)(condition, mutex);
}

/* The clock of a condition is known to the C library alone. */
static clockid_t clock_of(const pthread_cond_t *condition)
{
#if defined(__GLIBC__)
    return condition->__data.__wrefs & 2 ? CLOCK_MONOTONIC : CLOCK_REALTIME;
#else
    (void)condition;
    return CLOCK_REALTIME;
#endif
}

int caudal_around_pthread_cond_timedwait_v1(pthread_cond_t *condition, pthread_mutex_t *mutex, const struct timespec *at)
{
    struct caudal_until until = {clock_of(condition), at};
    return may_wait_until(at) ? wait_on(condition, mutex, &until, rounds_of(condition, &until))
                              : LIBC(pthread_cond_timedwait)(condition, mutex, at);
}

int caudal_around_pthread_cond_clockwait_v1(pthread_cond_t *condition, pthread_mutex_t *mutex, clockid_t clock,
                                          const struct timespec *at)
{
    struct caudal_until until = {clock, at};
    return may_wait_until(at) ? wait_on(condition, mutex, &until, rounds_of(condition, &until))
                              : LIBC(pthread_cond_clockwait)(condition, mutex, clock, at);
}

/* std::condition_variable::wait(std::unique_lock<std::mutex> &), which libstdc++ does not inline: its condition is the object's first
 * member, and the mutex is what the lock's first member points to. */
void caudal_around_std_condition_wait_v1(pthread_cond_t *condition, pthread_mutex_t **lock)
{
    caudal_around_pthread_cond_wait_v1(condition, *lock);
}

/* --- C11's ---------------------------------------------------------------------------------------------------- */

/* In glibc and musl mtx_t and cnd_t are the mutex and the condition of above, and the functions the same but for what they answer. */
static int as_c11(int answer)
{
    enum { SUCCESS, BUSY, ERROR, NO_MEMORY, TIMED_OUT };
    switch (answer) {
    case 0: return SUCCESS;
    case EBUSY: return BUSY;
    case ENOMEM: return NO_MEMORY;
    case ETIMEDOUT: return TIMED_OUT;
    default: return ERROR;
    }
}

int caudal_around_mtx_lock_v1(pthread_mutex_t *mutex)
{
    return as_c11(caudal_around_pthread_mutex_lock_v1(mutex));
}

int caudal_around_mtx_trylock_v1(pthread_mutex_t *mutex)
{
    return as_c11(caudal_around_pthread_mutex_trylock_v1(mutex));
}

int caudal_around_mtx_timedlock_v1(pthread_mutex_t *mutex, const struct timespec *at)
{
    return as_c11(caudal_around_pthread_mutex_timedlock_v1(mutex, at));
}

int caudal_around_mtx_unlock_v1(pthread_mutex_t *mutex)
{
    return as_c11(caudal_around_pthread_mutex_unlock_v1(mutex));
}

int caudal_around_cnd_wait_v1(pthread_cond_t *condition, pthread_mutex_t *mutex)
{
    return as_c11(caudal_around_pthread_cond_wait_v1(condition, mutex));
}

/* Code without probes may signal, which is not heard (conditions.c): the wait ends now and then. */
int caudal_around_cnd_timedwait_v1(pthread_cond_t *condition, pthread_mutex_t *mutex, const struct timespec *at)
{
    struct caudal_until until = {CLOCK_REALTIME, at};
    return as_c11(may_wait_until(at) ? wait_on(condition, mutex, &until, CONDITION_ROUNDS_MAX)
                                     : LIBC(pthread_cond_timedwait)(condition, mutex, at));
}

/* --- reader-writer locks -------------------------------------------------------------------------------------- */

static int try_read(void *lock)
{
    return LIBC(pthread_rwlock_tryrdlock)(lock);
}

static int wait_to_read(void *lock, const struct caudal_until *until)
{
    return until ? LIBC(pthread_rwlock_clockrdlock)(lock, until->clock, until->at) : LIBC(pthread_rwlock_rdlock)(lock);
}

static int try_write(void *lock)
{
    return LIBC(pthread_rwlock_trywrlock)(lock);
}

static int wait_to_write(void *lock, const struct caudal_until *until)
{
    return until ? LIBC(pthread_rwlock_clockwrlock)(lock, until->clock, until->at) : LIBC(pthread_rwlock_wrlock)(lock);
}

static const struct kind read_kind = {try_read, wait_to_read}, write_kind = {try_write, wait_to_write};

int caudal_around_pthread_rwlock_rdlock_v1(pthread_rwlock_t *lock)
{
    return acquire(lock, &read_kind, NULL);
}

int caudal_around_pthread_rwlock_wrlock_v1(pthread_rwlock_t *lock)
{
    return acquire(lock, &write_kind, NULL);
}

int caudal_around_pthread_rwlock_tryrdlock_v1(pthread_rwlock_t *lock)
{
    return had(LIBC(pthread_rwlock_tryrdlock)(lock));
}

int caudal_around_pthread_rwlock_trywrlock_v1(pthread_rwlock_t *lock)
{
    return had(LIBC(pthread_rwlock_trywrlock)(lock));
}

int caudal_around_pthread_rwlock_timedrdlock_v1(pthread_rwlock_t *lock, const struct timespec *at)
{
    struct caudal_until until = {CLOCK_REALTIME, at};
    return acquire(lock, &read_kind, &until);
}

int caudal_around_pthread_rwlock_timedwrlock_v1(pthread_rwlock_t *lock, const struct timespec *at)
{
    struct caudal_until until = {CLOCK_REALTIME, at};
    return acquire(lock, &write_kind, &until);
}

int caudal_around_pthread_rwlock_clockrdlock_v1(pthread_rwlock_t *lock, clockid_t clock, const struct timespec *at)
{
    struct caudal_until until = {clock, at};
    return acquire(lock, &read_kind, &until);
}

int caudal_around_pthread_rwlock_clockwrlock_v1(pthread_rwlock_t *lock, clockid_t clock, const struct timespec *at)
{
    struct caudal_until until = {clock, at};
    return acquire(lock, &write_kind, &until);
}

int caudal_around_pthread_rwlock_unlock_v1(pthread_rwlock_t *lock)
{
    int answer = LIBC(pthread_rwlock_unlock)(lock);
    if (answer == 0) {
        caudal_probe_leave(CAUDAL_PROBE_LOCK);
    }
    return answer;
}

/* --- spin locks ----------------------------------------------------------------------------------------------- */

static int try_spin(void *lock)
{
    return LIBC(pthread_spin_trylock)(lock);
}

static int wait_for_spin(void *lock, const struct caudal_until *until)
{
    (void)until;
    return LIBC(pthread_spin_lock)(lock);
}

static const struct kind spin_kind = {try_spin, wait_for_spin};

int caudal_around_pthread_spin_lock_v1(pthread_spinlock_t *lock)
{
    return acquire((void *)(uintptr_t)lock, &spin_kind, NULL);
}

int caudal_around_pthread_spin_trylock_v1(pthread_spinlock_t *lock)
{
    return had(LIBC(pthread_spin_trylock)(lock));
}

int caudal_around_pthread_spin_unlock_v1(pthread_spinlock_t *lock)
{
    int answer = LIBC(pthread_spin_unlock)(lock);
    if (answer == 0) {
        caudal_probe_leave(CAUDAL_PROBE_LOCK);
    }
    return answer;
}

/* --- semaphores: no locks, so nothing is entered -------------------------------------------------------------- */

static int try_semaphore(void *semaphore)
{
    int error = errno, answer = LIBC(sem_trywait)(semaphore) == 0 ? 0 : errno == EAGAIN ? EBUSY : errno;
    errno = error;
    return answer;
}

static int wait_for_semaphore(void *semaphore, const struct caudal_until *until)
{
    int answer = until ? LIBC(sem_clockwait)(semaphore, until->clock, until->at) : LIBC(sem_wait)(semaphore);
    return answer == 0 ? 0 : errno;
}

static const struct kind semaphore_kind = {try_semaphore, wait_for_semaphore};

static int take_permit(sem_t *semaphore, const struct caudal_until *until)
{
    int answer = try_semaphore(semaphore);
    if (answer == EBUSY) {
        answer = acquire_slowly(semaphore, &semaphore_kind, until);
    }
    if (answer == 0) {
        return 0;
    }
    errno = answer;
    return -1;
}

int caudal_around_sem_wait_v1(sem_t *semaphore)
{
    return take_permit(semaphore, NULL);
}

int caudal_around_sem_timedwait_v1(sem_t *semaphore, const struct timespec *at)
{
    struct caudal_until until = {CLOCK_REALTIME, at};
    return take_permit(semaphore, &until);
}

int caudal_around_sem_clockwait_v1(sem_t *semaphore, clockid_t clock, const struct timespec *at)
{
    struct caudal_until until = {clock, at};
    return take_permit(semaphore, &until);
}
