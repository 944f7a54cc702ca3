/* Locks of the C library under probes that the pass has put in. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#include "turns.h"

void under_the_librarys_lock(void (*call)(void *), void *argument);
void under_the_librarys_own_lock(void (*call)(void *), void *argument);
pthread_mutex_t *mutex_of_the_library(void);

static const struct timespec *in_a_century(void)
{
    static struct timespec time;
    clock_gettime(CLOCK_REALTIME, &time);
    time.tv_sec += 100L * 365 * 24 * 3600;
    return &time;
}

/* The first one is pre-empted with the lock, or waits with it; then the second one wants it. */
#define LOCK_TESTS(name, lock, lock_too, unlock) \
    static void name##_first(void *turns)     \
    {                                         \
        CHECK((lock) == 0);                   \
        be_preempted(turns);                  \
        CHECK((unlock) == 0);                 \
    }                                         \
    static void name##_waits(void *turns)     \
    {                                         \
        CHECK((lock) == 0);                   \
        wait_with_it(turns);                  \
        CHECK((unlock) == 0);                 \
    }                                         \
    static void name##_second(void *turns)    \
    {                                         \
        STORE(((struct turns *)turns)->wants, 1); \
        CHECK((lock_too) == 0);               \
        use_it(turns);                        \
        CHECK((unlock) == 0);                 \
    }
#define TESTS_OF(name)                                          \
    {#name, name##_first, name##_second},                       \
    {#name "_over_a_wait", name##_waits, name##_second}

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t recursive_mutex = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static pthread_mutex_t checking_mutex = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_spinlock_t spinlock;

LOCK_TESTS(mutex, pthread_mutex_lock(&mutex), pthread_mutex_lock(&mutex), pthread_mutex_unlock(&mutex))
LOCK_TESTS(timed, pthread_mutex_timedlock(&mutex, in_a_century()), pthread_mutex_timedlock(&mutex, in_a_century()),
           pthread_mutex_unlock(&mutex))
LOCK_TESTS(writer, pthread_rwlock_wrlock(&rwlock), pthread_rwlock_wrlock(&rwlock), pthread_rwlock_unlock(&rwlock))
LOCK_TESTS(writer_reader, pthread_rwlock_wrlock(&rwlock), pthread_rwlock_rdlock(&rwlock), pthread_rwlock_unlock(&rwlock))
LOCK_TESTS(reader_writer, pthread_rwlock_rdlock(&rwlock), pthread_rwlock_wrlock(&rwlock), pthread_rwlock_unlock(&rwlock))
LOCK_TESTS(spin, pthread_spin_lock(&spinlock), pthread_spin_lock(&spinlock), pthread_spin_unlock(&spinlock))
LOCK_TESTS(recursive, pthread_mutex_lock(&recursive_mutex), pthread_mutex_lock(&recursive_mutex),
           pthread_mutex_unlock(&recursive_mutex))
LOCK_TESTS(checking, pthread_mutex_lock(&checking_mutex), pthread_mutex_lock(&checking_mutex),
           pthread_mutex_unlock(&checking_mutex))

/* A table of functions, as SQLite has one. */
static struct {
    int (*lock)(pthread_mutex_t *);
    int (*unlock)(pthread_mutex_t *);
} volatile table = {pthread_mutex_lock, pthread_mutex_unlock};
LOCK_TESTS(table, table.lock(&mutex), table.lock(&mutex), table.unlock(&mutex))

/* C11's, which answer otherwise. */
static mtx_t c11_plain, c11_repeated;
LOCK_TESTS(c11, mtx_lock(&c11_plain), mtx_lock(&c11_plain), mtx_unlock(&c11_plain))
LOCK_TESTS(c11_timed, mtx_timedlock(&c11_plain, in_a_century()), mtx_timedlock(&c11_plain, in_a_century()), mtx_unlock(&c11_plain))
LOCK_TESTS(c11_recursive, mtx_lock(&c11_repeated), mtx_lock(&c11_repeated), mtx_unlock(&c11_repeated))

/* --- what is not a lock, or not only -------------------------------------------------------------------------- */

/* Waits until the second one has rung. */
static pthread_cond_t bell = PTHREAD_COND_INITIALIZER;

static void condition_first(void *argument)
{
    struct turns *turns = argument;
    CHECK(pthread_mutex_lock(&mutex) == 0);
    STORE(turns->begun, 1);
    while (!LOAD(turns->second_ran)) {
        CHECK(pthread_cond_wait(&bell, &mutex) == 0);
    }
    go_in(turns);
    go_out(turns);
    CHECK(pthread_mutex_unlock(&mutex) == 0);
}

static void condition_second(void *argument)
{
    struct turns *turns = argument;
    CHECK(pthread_mutex_lock(&mutex) == 0);
    STORE(turns->second_ran, 1);
    CHECK(pthread_cond_signal(&bell) == 0);
    CHECK(pthread_mutex_unlock(&mutex) == 0);
}

static cnd_t c11_bell;

static void c11_condition_first(void *argument)
{
    struct turns *turns = argument;
    struct timespec past = {1, 0};
    CHECK(mtx_lock(&c11_plain) == thrd_success);
    CHECK(cnd_timedwait(&c11_bell, &c11_plain, &past) == thrd_timedout);
    STORE(turns->begun, 1);
    while (!LOAD(turns->wants)) {
        CHECK(cnd_wait(&c11_bell, &c11_plain) == thrd_success);
    }
    while (!LOAD(turns->second_ran)) {
        CHECK(cnd_timedwait(&c11_bell, &c11_plain, in_a_century()) == thrd_success);
    }
    go_in(turns);
    go_out(turns);
    CHECK(mtx_unlock(&c11_plain) == thrd_success);
}

static void c11_condition_second(void *argument)
{
    struct turns *turns = argument;
    struct timespec past = {1, 0};
    CHECK(mtx_timedlock(&c11_plain, in_a_century()) == thrd_success);
    CHECK(mtx_trylock(&c11_plain) == thrd_busy && mtx_timedlock(&c11_plain, &past) == thrd_timedout);
    STORE(turns->wants, 1);
    CHECK(cnd_signal(&c11_bell) == thrd_success);
    CHECK(mtx_unlock(&c11_plain) == thrd_success);
    CHECK(mtx_lock(&c11_plain) == thrd_success);
    STORE(turns->second_ran, 1);
    CHECK(cnd_broadcast(&c11_bell) == thrd_success);
    CHECK(mtx_unlock(&c11_plain) == thrd_success);
}

/* A wait that nobody ends is over at its time. */
static void condition_times_out(void *argument)
{
    struct turns *turns = argument;
    struct timespec past = {1, 0};
    CHECK(pthread_mutex_lock(&mutex) == 0);
    CHECK(pthread_cond_timedwait(&bell, &mutex, &past) == ETIMEDOUT);
    CHECK(pthread_mutex_unlock(&mutex) == 0);
    condition_first(turns);
}

static struct timespec after_ms(int ms)
{
    struct timespec at;
    CHECK(clock_gettime(CLOCK_REALTIME, &at) == 0);
    at.tv_sec += ms / 1000;
    at.tv_nsec += ms % 1000 * 1000000L;
    if (at.tv_nsec >= 1000000000L) {
        at.tv_sec++;
        at.tv_nsec -= 1000000000L;
    }
    return at;
}

/* Nor is it before: it may be taken for a sleep. */
static void condition_sleeps(void *argument)
{
    struct turns *turns = argument;
    struct timespec soon = after_ms(20), never = {1, 1000000000};
    CHECK(pthread_mutex_lock(&mutex) == 0);
    CHECK(pthread_cond_timedwait(&bell, &mutex, &never) == EINVAL);
    CHECK(pthread_cond_timedwait(&bell, &mutex, &soon) == ETIMEDOUT);
    CHECK(pthread_mutex_unlock(&mutex) == 0);
    condition_first(turns);
}

void signal_in_the_library(pthread_cond_t *condition);

/* A signal ends it, once, whoever sends it. */
static void condition_ends(void *argument)
{
    struct turns *turns = argument;
    struct timespec late = after_ms(3600 * 1000);
    CHECK(pthread_mutex_lock(&mutex) == 0);
    STORE(turns->begun, 1);
    CHECK(pthread_cond_timedwait(&bell, &mutex, &late) == 0);
    CHECK(LOAD(turns->second_ran));
    go_in(turns);
    go_out(turns);
    CHECK(pthread_mutex_unlock(&mutex) == 0);
}

static void condition_second_of_library(void *argument)
{
    struct turns *turns = argument;
    CHECK(pthread_mutex_lock(&mutex) == 0);
    STORE(turns->second_ran, 1);
    signal_in_the_library(&bell);
    CHECK(pthread_mutex_unlock(&mutex) == 0);
}

static sem_t permits;

static void semaphore_first(void *argument)
{
    struct turns *turns = argument;
    STORE(turns->begun, 1);
    CHECK(sem_wait(&permits) == 0);
    go_in(turns);
    go_out(turns);
}

static void semaphore_second(void *unused)
{
    (void)unused;
    CHECK(sem_post(&permits) == 0);
}

/* Something that is initialised once, by who comes first. */
static pthread_once_t once = PTHREAD_ONCE_INIT;
static struct turns *once_turns;
static int initialised, waits_in_once;

static void initialise(void)
{
    if (waits_in_once) {
        wait_with_it(once_turns);
    } else {
        be_preempted(once_turns);
    }
    initialised++;
}

static void once_first(void *turns)
{
    once_turns = turns;
    CHECK(pthread_once(&once, initialise) == 0);
}

static void once_waits(void *turns)
{
    waits_in_once = 1;
    once_first(turns);
}

static void once_second(void *turns)
{
    STORE(((struct turns *)turns)->wants, 1);
    CHECK(pthread_once(&once, initialise) == 0);
    CHECK(initialised == 1);
    use_it(turns);
}

static once_flag c11_once = ONCE_FLAG_INIT;

static void c11_once_first(void *turns)
{
    once_turns = turns;
    call_once(&c11_once, initialise);
}

static void c11_once_waits(void *turns)
{
    waits_in_once = 1;
    c11_once_first(turns);
}

static void c11_once_second(void *turns)
{
    STORE(((struct turns *)turns)->wants, 1);
    call_once(&c11_once, initialise);
    CHECK(initialised == 1);
    use_it(turns);
}

/* --- streams: a thread may lock them again -------------------------------------------------------------------- */

static void stream_first(void *turns)
{
    flockfile(stdout);
    be_preempted(turns);
    funlockfile(stdout);
}

static void stream_second(void *turns)
{
    flockfile(stdout);
    use_it(turns);
    funlockfile(stdout);
}

/* No request gives its worker back with a stream. */
static void stream_refuses_waits(void *argument)
{
    flockfile(stdout);
    CHECK_STATUS(CAUDAL_ERROR_IN_SECTION, caudal_yield());
    funlockfile(stdout);
    OK(caudal_yield());
    stream_first(argument);
}

/* A stream whose functions are the program's own, which stdio calls with the stream locked. */
static ssize_t write_slowly(void *turns, const char *bytes, size_t size)
{
    (void)bytes;
    be_preempted(turns);
    return (ssize_t)size;
}

static ssize_t write_at_once(void *turns, const char *bytes, size_t size)
{
    (void)bytes;
    use_it(turns);
    return (ssize_t)size;
}

static FILE *own_stream;
static cookie_write_function_t *writes;

static ssize_t write_by(void *turns, const char *bytes, size_t size)
{
    return writes(turns, bytes, size);
}

static void print_first(void *turns)
{
    cookie_io_functions_t functions = {NULL, write_by, NULL, NULL};
    own_stream = fopencookie(turns, "w", functions);
    CHECK(own_stream != NULL && setvbuf(own_stream, NULL, _IONBF, 0) == 0);
    writes = write_slowly;
    CHECK(fprintf(own_stream, "%d", 1) == 1);
}

static void print_second(void *unused)
{
    (void)unused;
    writes = write_at_once;
    CHECK(fprintf(own_stream, "%d", 2) == 1);
}

/* --- sections, signals ----------------------------------------------------------------------------------------- */

static caudal_nopreempt void section(struct turns *turns)
{
    be_preempted(turns);
}

static void section_first(void *turns)
{
    section(turns);
}

static void section_second(void *turns)
{
    use_it(turns);
}

static struct turns *signal_turns;

static void on_signal(int number)
{
    int error = errno;
    (void)number;
    be_preempted(signal_turns);
    errno = error;
}

static void on_signal_with_info(int number, siginfo_t *info, void *context)
{
    CHECK(info != NULL && context != NULL);
    on_signal(number);
}

static void signal_first(void *turns)
{
    signal_turns = turns;
    CHECK(signal(SIGUSR1, on_signal) == SIG_DFL);
    CHECK(signal(SIGUSR1, on_signal) == on_signal);
    CHECK(raise(SIGUSR1) == 0);
    /* What came due in it has not been lost. */
    while (!LOAD(((struct turns *)turns)->second_ran)) {
        work();
    }
}

static void signal_with_info_first(void *turns)
{
    struct sigaction action, before;
    memset(&action, 0, sizeof action);
    action.sa_sigaction = on_signal_with_info;
    action.sa_flags = SA_SIGINFO;
    CHECK(sigaction(SIGUSR2, &action, NULL) == 0);
    CHECK(sigaction(SIGUSR2, NULL, &before) == 0);
    CHECK(before.sa_sigaction == on_signal_with_info);
    signal_turns = turns;
    CHECK(raise(SIGUSR2) == 0);
    while (!LOAD(((struct turns *)turns)->second_ran)) {
        work();
    }
}

static void signal_second(void *turns)
{
    use_it(turns);
    STORE(((struct turns *)turns)->second_ran, 1);
}

/* A handler that does not return leaves the section that it was in: the first one is pre-empted afterwards. */

static sigjmp_buf out_of_handler;

void jump_in_the_library(sigjmp_buf buffer);
void register_in_the_library(int number, void (*handler)(int));

static void jump_out(int number)
{
    (void)number;
    siglongjmp(out_of_handler, 1);
}

static void jump_out_by_the_library(int number)
{
    (void)number;
    jump_in_the_library(out_of_handler);
}

static __attribute__((noinline)) void leave_a_handler(void (*handler)(int))
{
    volatile int left = 0;
    while (left < 3) {
        CHECK(signal(SIGUSR1, handler) != SIG_ERR);
        if (sigsetjmp(out_of_handler, 1) == 0) {
            CHECK(raise(SIGUSR1) == 0);
        }
        left++;
    }
}

static void be_preempted_afterwards(struct turns *turns)
{
    go_in(turns);
    STORE(turns->begun, 1);
    go_out(turns);
    while (!LOAD(turns->second_ran)) {
        work();
    }
}

static void signal_jumps(void *turns)
{
    leave_a_handler(jump_out);
    be_preempted_afterwards(turns);
}

static void signal_jumps_by_library(void *turns)
{
    leave_a_handler(jump_out_by_the_library);
    be_preempted_afterwards(turns);
}

static void signal_jumps_and_waits(void *turns)
{
    leave_a_handler(jump_out_by_the_library);
    go_in(turns);
    STORE(((struct turns *)turns)->begun, 1);
    go_out(turns);
    while (!LOAD(((struct turns *)turns)->second_ran)) {
        OK(caudal_yield());
    }
}

/* Code that nobody instruments registers a handler that is. */
static void signal_registered_elsewhere(void *turns)
{
    signal_turns = turns;
    register_in_the_library(SIGUSR1, on_signal);
    CHECK(raise(SIGUSR1) == 0);
    while (!LOAD(((struct turns *)turns)->second_ran)) {
        work();
    }
}

/* The mask is the worker's: what one request blocks is blocked in the next. */

static void mask_first(void *turns)
{
    sigset_t set, before;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR2);
    CHECK(pthread_sigmask(SIG_BLOCK, &set, &before) == 0);
    be_preempted_afterwards(turns);
    CHECK(pthread_sigmask(SIG_SETMASK, &before, NULL) == 0);
}

static void mask_second(void *turns)
{
    sigset_t now;
    CHECK(pthread_sigmask(SIG_BLOCK, NULL, &now) == 0);
    CHECK(sigismember(&now, SIGUSR2) == 1);
    signal_second(turns);
}

/* --- a library that nobody instruments has a lock while it calls ----------------------------------------------- */

static void preempted_callback(void *turns)
{
    be_preempted(turns);
}

static void library_first(void *turns)
{
    under_the_librarys_lock(preempted_callback, turns);
}

/* Comes through instrumented code, to the same lock. */
static void library_second(void *turns)
{
    CHECK(pthread_mutex_lock(mutex_of_the_library()) == 0);
    use_it(turns);
    CHECK(pthread_mutex_unlock(mutex_of_the_library()) == 0);
}

static void use_from_a_library(void *turns)
{
    use_it(turns);
}

static void through_library_second(void *turns)
{
    under_the_librarys_lock(use_from_a_library, turns);
}

static void own_library_first(void *turns)
{
    under_the_librarys_own_lock(preempted_callback, turns);
}

static void own_library_second(void *turns)
{
    under_the_librarys_own_lock(use_from_a_library, turns);
}

/* --- locks in locks --------------------------------------------------------------------------------------------- */

static pthread_mutex_t inner = PTHREAD_MUTEX_INITIALIZER;

/* The first one has the inner lock and waits. The second one has a recursive lock, and wants the inner one: it gives the worker
 * back, and a third one that wants the recursive lock does not get in. */
static void nested_first(void *turns)
{
    CHECK(pthread_mutex_lock(&inner) == 0);
    wait_with_it(turns);
    CHECK(pthread_mutex_unlock(&inner) == 0);
}

static int has_recursive, got_in;

static void nested_third(void *unused)
{
    (void)unused;
    CHECK(pthread_mutex_trylock(&recursive_mutex) == EBUSY);
    CHECK(pthread_mutex_lock(&recursive_mutex) == 0);
    got_in += LOAD(has_recursive);
    CHECK(pthread_mutex_unlock(&recursive_mutex) == 0);
}

static caudal_runtime *nested_runtime;

static void nested_second(void *turns)
{
    caudal_request *third;
    CHECK(pthread_mutex_lock(&recursive_mutex) == 0);
    CHECK(pthread_mutex_lock(&recursive_mutex) == 0);
    STORE(has_recursive, 1);
    OK(caudal_submit(nested_runtime, 0, nested_third, NULL, &third));
    STORE(((struct turns *)turns)->wants, 1);
    CHECK(pthread_mutex_lock(&inner) == 0);
    use_it(turns);
    CHECK(pthread_mutex_unlock(&inner) == 0);
    CHECK(pthread_mutex_unlock(&recursive_mutex) == 0);
    STORE(has_recursive, 0);
    CHECK(pthread_mutex_unlock(&recursive_mutex) == 0);
    OK(caudal_wait(third, NULL));
    CHECK(got_in == 0);
    OK(caudal_request_release(third));
}

static int nested(const char *policy)
{
    struct turns turns;
    caudal_probe_every_v1 = 1;
    nested_runtime = start(policy, NULL);
    CHECK(class_of(nested_runtime, "first") == 0);
    printf("%d at once\n", both(nested_runtime, nested_first, nested_second, &turns));
    OK(caudal_runtime_destroy(nested_runtime));
    return 0;
}

/* --- a child of vfork, which runs in this thread's memory until it ends */

static pid_t own_process;

/* --- mutexes of a thread, and what the C library keeps by thread --- */

enum { RECURSIVE, ERROR_CHECKING, ROBUST, PRIORITY, OWNED };

static pthread_mutex_t owned[OWNED];

static void make_owned(void)
{
    int number;
    for (number = 0; number < OWNED; number++) {
        pthread_mutexattr_t how;
        CHECK(pthread_mutexattr_init(&how) == 0);
        CHECK(number != RECURSIVE || pthread_mutexattr_settype(&how, PTHREAD_MUTEX_RECURSIVE) == 0);
        CHECK(number != ERROR_CHECKING || pthread_mutexattr_settype(&how, PTHREAD_MUTEX_ERRORCHECK) == 0);
        CHECK(number != ROBUST || pthread_mutexattr_setrobust(&how, PTHREAD_MUTEX_ROBUST) == 0);
        CHECK(number != PRIORITY || pthread_mutexattr_setprotocol(&how, PTHREAD_PRIO_INHERIT) == 0);
        CHECK(pthread_mutex_init(&owned[number], &how) == 0);
    }
}

static void owned_first(void *argument)
{
    struct turns *turns = argument;
    int number;
    make_owned();
    for (number = 0; number < OWNED; number++) {
        CHECK(pthread_mutex_lock(&owned[number]) == 0);
    }
    CHECK(pthread_mutex_lock(&owned[RECURSIVE]) == 0);
    CHECK(pthread_mutex_lock(&owned[ERROR_CHECKING]) == EDEADLK);
    wait_with_it(turns);
    CHECK(pthread_mutex_unlock(&owned[RECURSIVE]) == 0);
    for (number = 0; number < OWNED; number++) {
        CHECK(pthread_mutex_unlock(&owned[number]) == 0);
    }
    /* It has none any more, and is pre-empted. */
    while (!LOAD(turns->second_ran)) {
        work();
    }
}

/* None of them is his to unlock, as none is another thread's. */
static void owned_second(void *argument)
{
    struct turns *turns = argument;
    int number;
    for (number = 0; number < OWNED; number++) {
        CHECK(pthread_mutex_unlock(&owned[number]) == EPERM);
        CHECK(pthread_mutex_trylock(&owned[number]) == EBUSY);
    }
    STORE(turns->wants, 1);
    for (number = 0; number < OWNED; number++) {
        CHECK(pthread_mutex_lock(&owned[number]) == 0);
    }
    use_it(turns);
    for (number = 0; number < OWNED; number++) {
        CHECK(pthread_mutex_unlock(&owned[number]) == 0);
    }
    STORE(turns->second_ran, 1);
}

/* Ends with all of them. */
static void ends_with_owned(void *argument)
{
    struct turns *turns = argument;
    int number;
    make_owned();
    for (number = 0; number < OWNED; number++) {
        CHECK(pthread_mutex_lock(&owned[number]) == 0);
    }
    STORE(turns->begun, 1);
    while (!LOAD(turns->submitted)) {
        work();
    }
}

static void after_owned(void *argument)
{
    CHECK(pthread_mutex_lock(&owned[ROBUST]) == EOWNERDEAD);
    CHECK(pthread_mutex_consistent(&owned[ROBUST]) == 0);
    use_it(argument);
    CHECK(pthread_mutex_unlock(&owned[ROBUST]) == 0);
    CHECK(pthread_mutex_lock(&owned[ROBUST]) == 0);
    CHECK(pthread_mutex_unlock(&owned[ROBUST]) == 0);
    /* Nobody has the others any more, and nobody gets them. */
    CHECK(pthread_mutex_trylock(&owned[RECURSIVE]) == EBUSY);
    CHECK(pthread_mutex_unlock(&owned[RECURSIVE]) == EPERM);
    CHECK(pthread_mutex_trylock(&owned[ERROR_CHECKING]) == EBUSY);
}

static struct in_addr address(uint32_t number)
{
    struct in_addr address;
    address.s_addr = htonl(number);
    return address;
}

/* What the table of the page says of the C library's results, and of the thread's stack: the answer is another request's after a yield, and
 * the worker's. */
static void results_first(void *argument)
{
    pthread_attr_t thread;
    void *low;
    size_t size;
    const char *error = strerror(9001), *host = inet_ntoa(address(0x01020304));
    CHECK(strcmp(error, "Unknown error 9001") == 0 && strcmp(host, "1.2.3.4") == 0);
    wait_with_it(argument);
    CHECK(strcmp(error, "Unknown error 9002") == 0 && strcmp(host, "5.6.7.8") == 0);
    CHECK(pthread_getattr_np(pthread_self(), &thread) == 0 && pthread_attr_getstack(&thread, &low, &size) == 0);
    CHECK((char *)&size < (char *)low || (char *)&size >= (char *)low + size);
    CHECK(pthread_attr_destroy(&thread) == 0);
}

static void results_second(void *argument)
{
    struct turns *turns = argument;
    CHECK(strerror(9002) != NULL && inet_ntoa(address(0x05060708)) != NULL);
    STORE(turns->wants, 1);
}

static void vfork_first(void *turns)
{
    int status = -1;
    pid_t child = vfork();
    if (child == 0) {
        be_preempted(turns);
        _exit(7);
    }
    CHECK(child > 0);
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 7);
}

static void vfork_second(void *turns)
{
    go_in(turns);
    CHECK(getpid() == own_process);
    go_out(turns);
}

/* The same by `clone`, whose child has a part of the request's stack: on another one nothing yields anyhow. */

static int clone_child(void *turns)
{
    be_preempted(turns);
    return 7;
}

static void clone_first(void *turns)
{
    char stack_of_child[1 << 15] __attribute__((aligned(16)));
    int status = -1;
    pid_t child = clone(clone_child, stack_of_child + sizeof stack_of_child, CLONE_VM | CLONE_VFORK | SIGCHLD, turns);
    CHECK(child > 0);
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 7);
}

/* --- children with a copy of the memory: nobody else runs there, whichever call made them, nor in what runs at a fork */

static void *in_handlers;

static __attribute__((noinline)) void at_fork(void)
{
    if (in_handlers != NULL) {
        be_preempted(in_handlers);
    }
}

static int has_forked;

/* It is under way when the first one forks, and would run in the child. */
static void copied_second(void *turns)
{
    STORE(((struct turns *)turns)->wants, 1);
    while (!LOAD(has_forked)) {
        work();
        CHECK(getpid() == own_process);
    }
}

static void until_second_runs(void *turns)
{
    STORE(((struct turns *)turns)->begun, 1);
    while (!LOAD(((struct turns *)turns)->wants)) {
        work();
    }
}

static void forked(pid_t child, void *turns)
{
    int status = -1;
    if (child == 0) {
        /* The copy of `turns` never changes. */
        work();
        CHECK(getpid() != own_process);
        _exit(7);
    }
    CHECK(child > 0 && getpid() == own_process);
    STORE(((struct turns *)turns)->most, 1);
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 7);
}

/* The parent's handlers too: a second request that forks would wait for the C library's lock, which this thread has. */
static void fork_first(void *turns)
{
    pid_t child;
    in_handlers = turns;
    child = fork();
    in_handlers = NULL;
    forked(child, turns);
}

static void fork_second(void *turns)
{
    forked(fork(), turns);
}

static void bare_fork_first(void *turns)
{
    until_second_runs(turns);
    forked(_Fork(), turns);
    STORE(has_forked, 1);
}

static void kernels_fork_first(void *turns)
{
    until_second_runs(turns);
    forked((pid_t)syscall(SYS_fork), turns);
    STORE(has_forked, 1);
}

/* The child is another program. */
static void programs_first(void *turns)
{
    char read[16] = "";
    posix_spawn_file_actions_t actions;
    char *arguments[] = {"sh", "-c", "test -t 0 || exit 5", NULL};
    pid_t child = -1;
    int status = -1;
    FILE *stream;
    STORE(((struct turns *)turns)->begun, 1);
    CHECK(system("exit 3") == 3 << 8);
    stream = popen("echo 42", "r");
    CHECK(stream != NULL && fgets(read, sizeof read, stream) != NULL && strcmp(read, "42\n") == 0 && pclose(stream) == 0);
    CHECK(posix_spawn_file_actions_init(&actions) == 0);
    CHECK(posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", 0, 0) == 0);
    CHECK(posix_spawnp(&child, "sh", &actions, NULL, arguments, environ) == 0);
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 5);
    posix_spawn_file_actions_destroy(&actions);
}

static void programs_second(void *turns)
{
    programs_first(turns);
    STORE(((struct turns *)turns)->most, 1);
}

int main(int argc, char **argv)
{
    static const struct test tests[] = {
        TESTS_OF(mutex),
        TESTS_OF(timed),
        TESTS_OF(writer),
        TESTS_OF(writer_reader),
        TESTS_OF(reader_writer),
        TESTS_OF(spin),
        TESTS_OF(recursive),
        TESTS_OF(checking),
        TESTS_OF(table),
        TESTS_OF(c11),
        TESTS_OF(c11_timed),
        TESTS_OF(c11_recursive),
        {"c11_once", c11_once_first, c11_once_second},
        {"c11_once_over_a_wait", c11_once_waits, c11_once_second},
        {"c11_condition", c11_condition_first, c11_condition_second},
        {"once", once_first, once_second},
        {"once_over_a_wait", once_waits, once_second},
        {"condition", condition_first, condition_second},
        {"condition_times_out", condition_times_out, condition_second},
        {"condition_sleeps", condition_sleeps, condition_second},
        {"condition_ends", condition_ends, condition_second},
        {"condition_ends_by_library", condition_ends, condition_second_of_library},
        {"semaphore", semaphore_first, semaphore_second},
        {"stream", stream_first, stream_second},
        {"stream_refuses_waits", stream_refuses_waits, stream_second},
        {"print", print_first, print_second},
        {"section", section_first, section_second},
        {"signal", signal_first, signal_second},
        {"signal_with_info", signal_with_info_first, signal_second},
        {"signal_jumps", signal_jumps, signal_second},
        {"signal_jumps_by_library", signal_jumps_by_library, signal_second},
        {"signal_jumps_and_waits", signal_jumps_and_waits, signal_second},
        {"signal_registered_elsewhere", signal_registered_elsewhere, signal_second},
        {"mask", mask_first, mask_second},
        {"library", library_first, library_second},
        {"through_library", library_first, through_library_second},
        {"own_library", own_library_first, own_library_second},
        {"owned", owned_first, owned_second},
        {"ends_with_owned", ends_with_owned, after_owned},
        {"results", results_first, results_second},
        {"vfork", vfork_first, vfork_second},
        {"clone", clone_first, vfork_second},
        {"fork", fork_first, fork_second},
        {"bare_fork", bare_fork_first, copied_second},
        {"kernels_fork", kernels_fork_first, copied_second},
        {"programs", programs_first, programs_second},
    };
    own_process = getpid();
    CHECK(pthread_atfork(at_fork, at_fork, at_fork) == 0);
    CHECK(pthread_spin_init(&spinlock, PTHREAD_PROCESS_PRIVATE) == 0);
    CHECK(sem_init(&permits, 0, 0) == 0);
    if (argc == 3 && strcmp(argv[2], "nested") == 0) {
        return nested(argv[1]);
    }
    CHECK(mtx_init(&c11_plain, mtx_timed) == thrd_success && mtx_init(&c11_repeated, mtx_recursive) == thrd_success);
    CHECK(cnd_init(&c11_bell) == thrd_success);
    return run_test(tests, sizeof tests / sizeof *tests, argc, argv);
}
