/* What the probe pass redirects lock functions to, without a runtime: sections, and what a hook is asked. */
#define _GNU_SOURCE
#include <errno.h>
#include <locale.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <linux/futex.h>
#include <time.h>
#include <unistd.h>

#include "caudal/probe.h"
#include "check.h"

int caudal_wrap_pthread_mutex_lock_v1(pthread_mutex_t *);
int caudal_wrap_pthread_mutex_trylock_v1(pthread_mutex_t *);
int caudal_wrap_pthread_mutex_timedlock_v1(pthread_mutex_t *, const struct timespec *);
int caudal_wrap_pthread_mutex_unlock_v1(pthread_mutex_t *);
int caudal_wrap_pthread_cond_timedwait_v1(pthread_cond_t *, pthread_mutex_t *, const struct timespec *);
int caudal_wrap_pthread_rwlock_rdlock_v1(pthread_rwlock_t *);
int caudal_wrap_pthread_rwlock_wrlock_v1(pthread_rwlock_t *);
int caudal_wrap_pthread_rwlock_unlock_v1(pthread_rwlock_t *);
int caudal_wrap_pthread_spin_lock_v1(pthread_spinlock_t *);
int caudal_wrap_pthread_spin_unlock_v1(pthread_spinlock_t *);
int caudal_wrap_pthread_once_v1(pthread_once_t *, void (*)(void));
int caudal_wrap_sem_wait_v1(sem_t *);
int caudal_wrap_sem_timedwait_v1(sem_t *, const struct timespec *);
void caudal_wrap_flockfile_v1(FILE *);
int caudal_wrap_ftrylockfile_v1(FILE *);
void caudal_wrap_funlockfile_v1(FILE *);
int caudal_wrap_sigaction_v1(int, const struct sigaction *, struct sigaction *);
void (*caudal_wrap_signal_v1(int, void (*)(int)))(int);
long caudal_wrap_syscall_v1(long, ...);
locale_t caudal_wrap_uselocale_v1(locale_t);
void caudal_locale_hook_v1(void (*)(void));
int caudal_wrap_printf_v1(const char *, ...);
int caudal_wrap_fprintf_v1(FILE *, const char *, ...);
char *caudal_wrap_fgets_v1(char *, int, FILE *);
int caudal_wrap_fflush_v1(FILE *);
int caudal_wrap_fclose_v1(FILE *);
void caudal_section_enter_v1(void);
void caudal_section_exit_v1(void);
uint32_t caudal_allocator_calls_v1(void);
void caudal_allocator_called_v1(uint32_t);

static uint64_t times[64];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t checking = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_spinlock_t spin;

/* A quantum that is over at once. */
static void start(void)
{
    CHECK(caudal_probe_record_start(times, 64, 1) == 0);
}

/* A probe that is due yields only outside of what `enter` begins and `leave` ends: so many yields inside, and at the end. */
#define DEFERS(enter, leave)                     \
    do {                                         \
        start();                                 \
        CHECK(enter);                            \
        CHECK(caudal_critical_depth() != 0);     \
        CAUDAL_PROBE_CLOCK();                    \
        CHECK(caudal_probe_v1.pending == 1);     \
        CHECK(leave);                            \
        CHECK(caudal_critical_depth() == 0);     \
        CHECK(caudal_probe_record_stop() == 1);  \
    } while (0)

static void locks_are_sections(void)
{
    struct timespec century = {4102444800, 0};
    DEFERS(caudal_wrap_pthread_mutex_lock_v1(&mutex) == 0, caudal_wrap_pthread_mutex_unlock_v1(&mutex) == 0);
    DEFERS(caudal_wrap_pthread_mutex_trylock_v1(&mutex) == 0, caudal_wrap_pthread_mutex_unlock_v1(&mutex) == 0);
    DEFERS(caudal_wrap_pthread_mutex_timedlock_v1(&mutex, &century) == 0,
           caudal_wrap_pthread_mutex_unlock_v1(&mutex) == 0);
    DEFERS(caudal_wrap_pthread_mutex_lock_v1(&checking) == 0, caudal_wrap_pthread_mutex_unlock_v1(&checking) == 0);
    DEFERS(caudal_wrap_pthread_rwlock_rdlock_v1(&rwlock) == 0, caudal_wrap_pthread_rwlock_unlock_v1(&rwlock) == 0);
    DEFERS(caudal_wrap_pthread_rwlock_wrlock_v1(&rwlock) == 0, caudal_wrap_pthread_rwlock_unlock_v1(&rwlock) == 0);
    DEFERS(caudal_wrap_pthread_spin_lock_v1(&spin) == 0, caudal_wrap_pthread_spin_unlock_v1(&spin) == 0);
    DEFERS((caudal_wrap_flockfile_v1(stdout), 1), (caudal_wrap_funlockfile_v1(stdout), 1));
    DEFERS(caudal_wrap_ftrylockfile_v1(stdout) == 0, (caudal_wrap_funlockfile_v1(stdout), 1));
}

/* What a stream of the program's own reads and writes through, in the middle of a wrapper. */
static ssize_t come_due(void *unused, const char *text, size_t size)
{
    (void)unused, (void)text;
    CHECK(caudal_critical_depth() == CAUDAL_PROBE_SECTION);
    CAUDAL_PROBE_CLOCK();
    CHECK(caudal_probe_v1.pending == 1);
    return (ssize_t)size;
}

static void streams_are_sections(void)
{
    cookie_io_functions_t functions = {.write = come_due};
    FILE *stream = fopencookie(NULL, "w", functions);
    CHECK(stream != NULL && setvbuf(stream, NULL, _IONBF, 0) == 0);
    start();
    CHECK(caudal_wrap_fprintf_v1(stream, "%d %s %.1f\n", 1, "two", 3.0) == 10);
    CHECK(caudal_critical_depth() == 0 && caudal_probe_record_stop() >= 1);
    CHECK(caudal_wrap_fclose_v1(stream) == 0 && caudal_critical_depth() == 0);
}

static void *read_what_never_comes(void *stream)
{
    char text[8];
    return caudal_wrap_fgets_v1(text, sizeof text, stream);
}

static void a_cancelled_thread_leaves_its_stream(void)
{
    int ends[2];
    pthread_t thread;
    struct timespec begins = {0, 20000000};
    CHECK(pipe(ends) == 0);
    FILE *stream = fdopen(ends[0], "r");
    CHECK(stream != NULL && pthread_create(&thread, NULL, read_what_never_comes, stream) == 0);
    nanosleep(&begins, NULL);
    CHECK(pthread_cancel(thread) == 0 && pthread_join(thread, NULL) == 0);
    CHECK(ftrylockfile(stream) == 0);
    funlockfile(stream);
    CHECK(fclose(stream) == 0 && close(ends[1]) == 0);
}

/* A call that formats, or may write, ends with a probe: of a deadline that has come, and of the flag. */
static void formatting_checks_the_quantum(void)
{
    start();
    CHECK(caudal_wrap_printf_v1("%s", "") == 0);
    CHECK(caudal_probe_record_stop() == 1);
    CHECK(caudal_probe_record_start(times, 64, UINT64_MAX / 4) == 0);
    CHECK(caudal_wrap_fflush_v1(stdout) == 0 && caudal_probe_cold_visits_v1() != 0);
    __atomic_store_n(&caudal_flag_v1.asked, 1, __ATOMIC_RELAXED);
    CHECK(caudal_wrap_fflush_v1(stdout) == 0);
    CHECK(caudal_probe_record_stop() == 1);
}

static int initialised;

static void initialise(void)
{
    initialised++;
    CHECK(caudal_critical_depth() == CAUDAL_PROBE_LOCK);
    CAUDAL_PROBE_CLOCK();
    CHECK(caudal_probe_v1.pending == 1);
}

static void once_is_a_section(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    start();
    CHECK(caudal_wrap_pthread_once_v1(&once, initialise) == 0);
    CHECK(caudal_wrap_pthread_once_v1(&once, initialise) == 0);
    CHECK(caudal_probe_record_stop() == 1 && initialised == 1 && caudal_critical_depth() == 0);
}

/* What was locked by code without wrappers can be unlocked by code that has them. */
static void an_unlock_alone_leaves_nothing(void)
{
    CHECK(pthread_mutex_lock(&mutex) == 0 && caudal_wrap_pthread_mutex_unlock_v1(&mutex) == 0);
    CHECK(pthread_mutex_lock(&checking) == 0 && caudal_wrap_pthread_mutex_unlock_v1(&checking) == 0);
    flockfile(stdout);
    caudal_critical_enter();
    caudal_wrap_funlockfile_v1(stdout);
    CHECK(caudal_critical_depth() == 0);
}

static void errors_are_the_c_librarys(void)
{
    struct timespec past = {1, 0}, wrong = {1, 1000000000};
    pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
    sem_t none;
    CHECK(caudal_wrap_pthread_mutex_unlock_v1(&checking) == EPERM);
    CHECK(caudal_wrap_pthread_mutex_lock_v1(&checking) == 0);
    CHECK(caudal_wrap_pthread_mutex_lock_v1(&checking) == EDEADLK);
    CHECK(caudal_wrap_pthread_mutex_trylock_v1(&checking) == EBUSY);
    CHECK(caudal_critical_depth() == CAUDAL_PROBE_LOCK);
    CHECK(caudal_wrap_pthread_mutex_unlock_v1(&checking) == 0);
    CHECK(caudal_wrap_pthread_mutex_lock_v1(&mutex) == 0);
    CHECK(caudal_wrap_pthread_mutex_timedlock_v1(&mutex, &past) == ETIMEDOUT);
    CHECK(caudal_wrap_pthread_mutex_timedlock_v1(&mutex, &wrong) == EINVAL);
    CHECK(caudal_wrap_pthread_mutex_trylock_v1(&mutex) == EBUSY);
    CHECK(caudal_wrap_pthread_cond_timedwait_v1(&condition, &mutex, &past) == ETIMEDOUT);
    CHECK(caudal_critical_depth() == CAUDAL_PROBE_LOCK);
    CHECK(caudal_wrap_pthread_mutex_unlock_v1(&mutex) == 0);
    CHECK(sem_init(&none, 0, 1) == 0 && caudal_wrap_sem_wait_v1(&none) == 0);
    errno = 0;
    CHECK(caudal_wrap_sem_timedwait_v1(&none, &past) == -1 && errno == ETIMEDOUT);
    CHECK(caudal_critical_depth() == 0);
}

/* More of a thread's own mutexes at once than are remembered; each twice. */
static void recursive_mutexes_without_number(void)
{
    enum { COUNT = 40 };
    static pthread_mutex_t many[COUNT];
    pthread_mutexattr_t recursive;
    int number;
    CHECK(pthread_mutexattr_init(&recursive) == 0);
    CHECK(pthread_mutexattr_settype(&recursive, PTHREAD_MUTEX_RECURSIVE) == 0);
    for (number = 0; number < COUNT; number++) {
        CHECK(pthread_mutex_init(&many[number], &recursive) == 0);
        CHECK(caudal_wrap_pthread_mutex_lock_v1(&many[number]) == 0);
        CHECK(caudal_wrap_pthread_mutex_lock_v1(&many[number]) == 0);
    }
    /* Some are remembered as locks; under the others nobody gives the worker back. */
    CHECK(caudal_critical_depth() >= CAUDAL_PROBE_LOCK && (caudal_critical_depth() & CAUDAL_PROBE_SECTIONS) != 0);
    for (number = 0; number < COUNT; number++) {
        CHECK(caudal_wrap_pthread_mutex_unlock_v1(&many[number]) == 0);
        CHECK(caudal_wrap_pthread_mutex_unlock_v1(&many[number]) == 0);
        CHECK(caudal_wrap_pthread_mutex_unlock_v1(&many[number]) == EPERM);
    }
    CHECK(caudal_critical_depth() == 0);
}

/* --- a runtime's hook --------------------------------------------------------------------------------------------- */

static uint32_t rounds_wanted, rounds;

/* Others run: in the last round, one that has the mutex and gives it back. */
static int hook(uint32_t round)
{
    if (round == UINT32_MAX) {
        return 1;
    }
    CHECK(round == rounds);
    rounds++;
    if (rounds == rounds_wanted) {
        CHECK(pthread_mutex_unlock(&mutex) == 0);
    }
    return 1;
}

/* As on a thread that is no worker: nobody else can run. */
static int hook_for_no_request(uint32_t round)
{
    (void)round;
    return 0;
}

static void who_finds_a_lock_taken_asks_the_hook(void)
{
    caudal_probe_wait_hook_v1 = hook;
    CHECK(pthread_mutex_lock(&mutex) == 0);
    rounds_wanted = 5;
    CHECK(caudal_wrap_pthread_mutex_lock_v1(&mutex) == 0);
    CHECK(rounds == 5);
    CHECK(caudal_wrap_pthread_mutex_unlock_v1(&mutex) == 0);
    caudal_probe_wait_hook_v1 = NULL;
}

/* --- conditions ---------------------------------------------------------------------------------------------------- */

static struct shared {
    pthread_mutex_t mutex;
    pthread_cond_t condition;
    int is_ready;
} *shared;

/* Others run: in one round, another process, which signals what both share. */
static int hook_signals_in_another_process(uint32_t round)
{
    int status;
    pid_t child;
    if (round == UINT32_MAX) {
        return 1;
    }
    if (rounds == 0) {
        child = fork();
        if (child == 0) {
            CHECK(pthread_mutex_lock(&shared->mutex) == 0);
            shared->is_ready = 1;
            CHECK(pthread_cond_broadcast(&shared->condition) == 0 && pthread_mutex_unlock(&shared->mutex) == 0);
            _exit(0);
        }
        CHECK(child > 0 && waitpid(child, &status, 0) == child && status == 0);
    }
    rounds++;
    CHECK(rounds < 1000);
    return 1;
}

static void share(int with_whom)
{
    pthread_mutexattr_t of_mutex;
    pthread_condattr_t of_condition;
    CHECK(pthread_mutexattr_init(&of_mutex) == 0 && pthread_mutexattr_setpshared(&of_mutex, with_whom) == 0);
    CHECK(pthread_condattr_init(&of_condition) == 0 && pthread_condattr_setpshared(&of_condition, with_whom) == 0);
    CHECK(pthread_mutex_init(&shared->mutex, &of_mutex) == 0);
    CHECK(pthread_cond_init(&shared->condition, &of_condition) == 0);
    rounds = 0;
}

static int wait_for_shared(void)
{
    struct timespec century = {4102444800, 0};
    return caudal_wrap_pthread_cond_timedwait_v1(&shared->condition, &shared->mutex, &century);
}

static void another_process_signals_a_condition(void)
{
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(shared != MAP_FAILED);
    share(PTHREAD_PROCESS_SHARED);
    caudal_probe_wait_hook_v1 = hook_signals_in_another_process;
    CHECK(caudal_wrap_pthread_mutex_lock_v1(&shared->mutex) == 0);
    while (!shared->is_ready) {
        CHECK(wait_for_shared() == 0);
    }
    CHECK(rounds > 0 && caudal_critical_depth() == CAUDAL_PROBE_LOCK);
    CHECK(caudal_wrap_pthread_mutex_unlock_v1(&shared->mutex) == 0);
    caudal_probe_wait_hook_v1 = NULL;
}

/* Others run for long, and in the end somebody signals. */
static int hook_signals_late(uint32_t round)
{
    rounds += round != UINT32_MAX;
    if (rounds == 500) {
        CHECK(pthread_cond_signal(&shared->condition) == 0);
    }
    return 1;
}

/* Some take a wait with a time for a sleep. */
static void a_wait_with_a_time_ends_for_a_reason(void)
{
    share(PTHREAD_PROCESS_PRIVATE);
    caudal_probe_wait_hook_v1 = hook_signals_late;
    CHECK(caudal_wrap_pthread_mutex_lock_v1(&shared->mutex) == 0);
    CHECK(wait_for_shared() == 0 && rounds == 500);
    CHECK(caudal_wrap_pthread_mutex_unlock_v1(&shared->mutex) == 0);
    caudal_probe_wait_hook_v1 = NULL;
}

/* --- futexes ------------------------------------------------------------------------------------------------------- */

static uint32_t word;

static int hook_changes_the_word(uint32_t round)
{
    if (round != UINT32_MAX) {
        word = round;
    }
    return 1;
}

static int hook_refuses(uint32_t round)
{
    (void)round;
    return 0;
}

static long wait_for_word(uint32_t expected, const struct timespec *time)
{
    errno = 0;
    return caudal_wrap_syscall_v1(SYS_futex, &word, FUTEX_WAIT | FUTEX_PRIVATE_FLAG, expected, time, NULL, 0);
}

static void futexes_ask_the_hook(void)
{
    struct timespec none = {0, 0};
    word = 7;
    caudal_probe_wait_hook_v1 = hook_changes_the_word;
    CHECK(wait_for_word(8, NULL) == -1 && errno == EAGAIN);
    CHECK(wait_for_word(7, NULL) == 0);
    /* Nobody changes it but to what is expected: it returns for no reason, for a wake-up may have meant it. */
    word = 0;
    caudal_probe_wait_hook_v1 = hook;
    rounds = 0;
    rounds_wanted = UINT32_MAX;
    CHECK(wait_for_word(0, NULL) == 0);
    rounds = 0;
    CHECK(wait_for_word(0, &none) == -1 && errno == ETIMEDOUT);
    /* No request: the kernel's answers. */
    caudal_probe_wait_hook_v1 = hook_refuses;
    CHECK(wait_for_word(0, &none) == -1 && errno == ETIMEDOUT);
    CHECK(wait_for_word(1, NULL) == -1 && errno == EAGAIN);
    caudal_probe_wait_hook_v1 = NULL;
    CHECK(wait_for_word(1, NULL) == -1 && errno == EAGAIN);
    /* The C library's name is the library's. */
    CHECK(syscall(SYS_getpid) == getpid());
    CHECK(syscall(SYS_close, -1) == -1 && errno == EBADF);
    /* Programs ask so whether the kernel has it: whatever is bad of the arguments the kernel says. */
    CHECK(syscall(SYS_clone3, NULL, 0) == -1 && errno != 0);
    caudal_probe_wait_hook_v1 = hook_changes_the_word;
    word = 7;
    CHECK(syscall(SYS_futex, &word, FUTEX_WAIT, 7, NULL, NULL, 0) == 0);
    caudal_probe_wait_hook_v1 = NULL;
}

/* --- words of a thread --------------------------------------------------------------------------------------------- */

static uint32_t parker;
static uint32_t token_at;

static long park(const struct timespec *end)
{
    errno = 0;
    parker = UINT32_MAX;
    return syscall(SYS_futex, &parker, FUTEX_WAIT_BITSET | FUTEX_PRIVATE_FLAG, UINT32_MAX, end, NULL, ~0U);
}

/* Another request of the thread finds the word as if nobody waited, and is not set aside for long; then somebody unparks. */
static int hook_parks(uint32_t round)
{
    if (round != UINT32_MAX) {
        CHECK(parker == 0);
        CHECK(round < 100);
        parker = round == token_at;
    }
    return 1;
}

static int hook_gives_up(uint32_t round)
{
    return round != 3;
}

static void requests_share_their_threads_parker(void)
{
    struct timespec none = {0, 0};
    struct timespec soon;
    caudal_learn_futex_v1();
    CHECK(park(&none) == -1 && errno == ETIMEDOUT);
    wait_for_word(word + 1, NULL);
    CHECK(caudal_learnt_futex_v1() == &parker);
    caudal_learn_futex_v1();
    CHECK(caudal_learnt_futex_v1() == NULL);

    caudal_parker_is_v1(&parker);
    caudal_probe_wait_hook_v1 = hook_parks;
    token_at = 20;
    CHECK(park(NULL) == 0 && parker == 1);
    /* Nobody does: it returns with a token of its own. */
    token_at = UINT32_MAX;
    CHECK(park(NULL) == 0 && parker == 1);
    CHECK(park(&none) == -1 && errno == ETIMEDOUT && parker == 0);
    /* As a thread in the end: the kernel finds what it expects, and the time is over. */
    caudal_probe_wait_hook_v1 = hook_gives_up;
    clock_gettime(CLOCK_MONOTONIC, &soon);
    soon.tv_sec++;
    CHECK(park(&soon) == -1 && errno == ETIMEDOUT && parker == UINT32_MAX);
    caudal_parker_is_v1(NULL);
    caudal_probe_wait_hook_v1 = NULL;
}

static __thread int local;

static void thread_locals_are_found(void)
{
    uintptr_t bounds[2];
    caudal_thread_locals_v1(bounds);
    CHECK((uintptr_t)&local >= bounds[0] && (uintptr_t)&local < bounds[1]);
    CHECK((uintptr_t)bounds < bounds[0] || (uintptr_t)bounds >= bounds[1]);
}

/* --- signals ------------------------------------------------------------------------------------------------------- */

static int handled;

static void handler(int number)
{
    CHECK(number == SIGUSR1 && caudal_critical_depth() != 0);
    CAUDAL_PROBE_CLOCK();
    CHECK(caudal_probe_v1.pending == 1);
    handled++;
}

static void signal_handlers_are_sections(void)
{
    struct sigaction before;
    CHECK(caudal_wrap_signal_v1(SIGUSR1, handler) == SIG_DFL);
    CHECK(caudal_wrap_sigaction_v1(SIGUSR1, NULL, &before) == 0 && before.sa_handler == handler);
    start();
    CHECK(raise(SIGUSR1) == 0 && handled == 1);
    /* It has not yielded at its end, and the next probe does: of either kind. */
    CHECK(caudal_critical_depth() == 0 && caudal_probe_v1.pending == 0);
    CAUDAL_PROBE_BUDGET(0);
    CHECK(caudal_probe_record_stop() == 1);
    CHECK(caudal_wrap_signal_v1(SIGUSR1, SIG_IGN) == handler && raise(SIGUSR1) == 0 && handled == 1);
    errno = 0;
    CHECK(caudal_wrap_signal_v1(SIGKILL, handler) == SIG_ERR && errno == EINVAL);
    CHECK(caudal_wrap_signal_v1(-1, handler) == SIG_ERR && errno == EINVAL);
}

/* --- allocators ---------------------------------------------------------------------------------------------------- */

static void what_comes_due_in_an_allocator_is_the_next_probes(void)
{
    uint32_t outer, inner;
    start();
    outer = caudal_allocator_calls_v1();
    CAUDAL_PROBE_CLOCK();
    inner = caudal_allocator_calls_v1();
    caudal_allocator_called_v1(inner);
    CHECK(caudal_critical_depth() == 1 && caudal_probe_v1.pending == 1);
    caudal_allocator_called_v1(outer);
    CHECK(caudal_critical_depth() == 0 && caudal_probe_v1.pending == 0);
    CAUDAL_PROBE_BUDGET(0);
    CHECK(caudal_probe_record_stop() == 1);
    start();
    outer = caudal_allocator_calls_v1();
    CAUDAL_PROBE_CLOCK();
    caudal_allocator_called_v1(outer);
    CHECK(caudal_probe_record_stop() == 0);
    /* Within a section of others, that one's end yields. */
    start();
    caudal_section_enter_v1();
    outer = caudal_allocator_calls_v1();
    CAUDAL_PROBE_CLOCK();
    caudal_allocator_called_v1(outer);
    caudal_section_exit_v1();
    CHECK(caudal_probe_record_stop() == 1);
}

static void locks_that_an_allocator_takes_half_by_wrappers_do_not_count(void)
{
    uint32_t depth = caudal_allocator_calls_v1();
    CHECK(caudal_wrap_pthread_mutex_lock_v1(&mutex) == 0);
    caudal_allocator_called_v1(depth);
    CHECK(pthread_mutex_unlock(&mutex) == 0 && caudal_critical_depth() == 0);
    /* A lock of the program's stays one. */
    CHECK(caudal_wrap_pthread_spin_lock_v1(&spin) == 0 && pthread_mutex_lock(&mutex) == 0);
    uint32_t locked = caudal_critical_depth();
    depth = caudal_allocator_calls_v1();
    CHECK(caudal_wrap_pthread_mutex_unlock_v1(&mutex) == 0);
    caudal_allocator_called_v1(depth);
    CHECK(caudal_critical_depth() == locked && locked != 0);
    CHECK(caudal_wrap_pthread_spin_unlock_v1(&spin) == 0 && caudal_critical_depth() == 0);
}

static int locales_set;

static void locale_is_set(void)
{
    locales_set++;
}

/* A call that asks for the locale sets none; whichever comes second, the hook or the locale, calls the hook. */
static void locales_are_told(void)
{
    locale_t own = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    locale_t before = caudal_wrap_uselocale_v1((locale_t)0);
    caudal_locale_hook_v1(locale_is_set);
    CHECK(locales_set == 0);
    CHECK(caudal_wrap_uselocale_v1(own) == before && locales_set == 1);
    CHECK(caudal_wrap_uselocale_v1((locale_t)0) == own && locales_set == 1);
    caudal_locale_hook_v1(locale_is_set);
    CHECK(locales_set == 2);
    CHECK(caudal_wrap_uselocale_v1(before) == own);
    freelocale(own);
}

int main(void)
{
    CHECK(pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE) == 0);
    locks_are_sections();
    streams_are_sections();
    formatting_checks_the_quantum();
    a_cancelled_thread_leaves_its_stream();
    once_is_a_section();
    an_unlock_alone_leaves_nothing();
    errors_are_the_c_librarys();
    recursive_mutexes_without_number();
    caudal_probe_wait_hook_v1 = hook_for_no_request;
    locks_are_sections();
    errors_are_the_c_librarys();
    recursive_mutexes_without_number();
    caudal_probe_wait_hook_v1 = NULL;
    who_finds_a_lock_taken_asks_the_hook();
    another_process_signals_a_condition();
    a_wait_with_a_time_ends_for_a_reason();
    futexes_ask_the_hook();
    locales_are_told();
    requests_share_their_threads_parker();
    thread_locals_are_found();
    signal_handlers_are_sections();
    what_comes_due_in_an_allocator_is_the_next_probes();
    locks_that_an_allocator_takes_half_by_wrappers_do_not_count();
    return 0;
}
