/*
 * Signals, call by call: a line for each row of call, flags and handler. The program is compiled twice, by the plain compiler and with
 * probes, and the lines must be the same. Each row runs in a process of its own.
 *
 * Under probes a row whose code ends in a section says so (` depth`), which the plain program does not.
 */
#include "plain.h"

#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#pragma clang diagnostic ignored "-Wdeprecated-declarations"

#define APART __attribute__((noinline))
#define SIGNAL SIGUSR1

typedef void handler(int);

extern uint32_t caudal_critical_depth_v1(void) __attribute__((weak));
void __longjmp_chk(sigjmp_buf buffer, int value) __attribute__((noreturn));
handler *bsd_signal(int, handler *);

static char line[4096];

static APART void say(const char *format, ...)
{
    size_t length = strlen(line);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line + length, sizeof line - length, format, arguments);
    va_end(arguments);
}

/* --- handlers ----------------------------------------------------------------------------------------------------- */

static volatile int runs, frames, was_blocked, other_was_blocked, was_alternate, saw_info, saw_code, saw_value;
static stack_t alternate;

static APART int is_blocked(int number)
{
    sigset_t set;
    pthread_sigmask(SIG_BLOCK, NULL, &set);
    return sigismember(&set, number);
}

static APART void note_state(int number)
{
    void *found[64];
    stack_t now;
    frames = backtrace(found, 64);
    was_blocked = is_blocked(number);
    other_was_blocked = is_blocked(SIGWINCH);
    sigaltstack(NULL, &now);
    was_alternate = (now.ss_flags & SS_ONSTACK) != 0;
    runs++;
}

static void plain_one(int number)
{
    note_state(number);
}

static void another(int number)
{
    note_state(number);
    runs += 100;
}

static void with_info(int number, siginfo_t *info, void *context)
{
    const ucontext_t *interrupted = context;
    saw_info = info->si_signo == number && interrupted->uc_link == NULL && interrupted->uc_mcontext.gregs[REG_RIP] != 0;
    saw_code = info->si_code;
    saw_value = info->si_value.sival_int;
    note_state(number);
}

/* Also for what stands for sigaction in some of the programs. */
const char *name_of(handler *it);
const char *name_of(handler *it)
{
    static char unknown[32];
    if (it == SIG_DFL) {
        return "SIG_DFL";
    }
    if (it == SIG_IGN) {
        return "SIG_IGN";
    }
    if (it == SIG_ERR) {
        return "SIG_ERR";
    }
    if (it == SIG_HOLD) {
        return "SIG_HOLD";
    }
    if (it == plain_one) {
        return "plain_one";
    }
    if (it == another) {
        return "another";
    }
    if (it == (handler *)with_info) {
        return "with_info";
    }
    snprintf(unknown, sizeof unknown, "somebody's");
    return unknown;
}

/* What is registered. */
static APART void say_registered(int number)
{
    struct sigaction now;
    int each;
    memset(&now, 0, sizeof now);
    if (sigaction(number, NULL, &now) != 0) {
        say(" no action (%d)", errno);
        return;
    }
    say(" has %s flags %x mask", name_of(now.sa_handler), (unsigned)now.sa_flags);
    for (each = 1; each < 65; each++) {
        if (sigismember(&now.sa_mask, each) == 1) {
            say(" %d", each);
        }
    }
}

static APART void say_ran(void)
{
    say(" ran %d frames %d blocked %d other %d alternate %d info %d code %d;", runs, frames, was_blocked, other_was_blocked,
        was_alternate, saw_info, saw_code);
    runs = frames = was_blocked = other_was_blocked = was_alternate = saw_info = saw_code = 0;
}

static APART void raise_and_say(int number)
{
    raise(number);
    say_ran();
}

static APART void use_alternate(void)
{
    alternate.ss_size = 256 << 10;
    alternate.ss_sp = mmap(NULL, alternate.ss_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    sigaltstack(&alternate, NULL);
}

static struct sigaction action_of(handler *it, int flags)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = it;
    action.sa_flags = flags;
    return action;
}

static struct sigaction action_with_info(void (*it)(int, siginfo_t *, void *), int flags)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_sigaction = it;
    action.sa_flags = flags | SA_SIGINFO;
    return action;
}

/* --- sigaction: flags and handlers -------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    int flags;
} flag_sets[] = {
    {"0", 0},
    {"SA_SIGINFO", SA_SIGINFO},
    {"SA_RESETHAND", SA_RESETHAND},
    {"SA_NODEFER", SA_NODEFER},
    {"SA_ONSTACK", SA_ONSTACK},
    {"SA_RESTART", SA_RESTART},
    {"SA_NOCLDSTOP", SA_NOCLDSTOP},
    {"SA_NOCLDWAIT", SA_NOCLDWAIT},
    {"SA_SIGINFO|SA_RESETHAND|SA_NODEFER", SA_SIGINFO | SA_RESETHAND | SA_NODEFER},
    {"SA_SIGINFO|SA_ONSTACK|SA_RESTART", SA_SIGINFO | SA_ONSTACK | SA_RESTART},
};
static handler *const kinds[] = {SIG_DFL, SIG_IGN, plain_one, (handler *)with_info};

static void row_sigaction(size_t number)
{
    int flags = flag_sets[number / 4].flags;
    struct sigaction action = action_of(kinds[number % 4], flags), before = action_of(another, 0);
    use_alternate();
    /* A signal that is ignored by default. */
    sigaddset(&action.sa_mask, SIGWINCH);
    say("sigaction %s %s:", flag_sets[number / 4].name, name_of(kinds[number % 4]));
    if (kinds[number % 4] == (handler *)with_info && !(flags & SA_SIGINFO)) {
        say(" takes no information");
        return;
    }
    signal(SIGURG, another);
    say(" %d", sigaction(SIGURG, &action, &before));
    say(" before %s;", name_of(before.sa_handler));
    say_registered(SIGURG);
    raise_and_say(SIGURG);
    say_registered(SIGURG);
    raise_and_say(SIGURG);
    say(" %d", sigaction(SIGURG, &before, &action));
    say(" back from %s;", name_of(action.sa_handler));
    raise_and_say(SIGURG);
}

/* --- signal and its like ------------------------------------------------------------------------------------------- */

static handler *call_signal(int number, handler *it) { return signal(number, it); }
static handler *call_bsd_signal(int number, handler *it) { return bsd_signal(number, it); }
static handler *call_ssignal(int number, handler *it) { return ssignal(number, it); }
static handler *call_sysv_signal(int number, handler *it) { return sysv_signal(number, it); }
static handler *call_sysv_signal_too(int number, handler *it) { return __sysv_signal(number, it); }
static handler *call_sigset(int number, handler *it) { return sigset(number, it); }

static const struct {
    const char *name;
    handler *(*call)(int, handler *);
} calls[] = {
    {"signal", call_signal},           {"bsd_signal", call_bsd_signal}, {"ssignal", call_ssignal},
    {"sysv_signal", call_sysv_signal}, {"__sysv_signal", call_sysv_signal_too}, {"sigset", call_sigset},
};
static handler *const given[] = {SIG_DFL, SIG_IGN, plain_one, SIG_ERR, SIG_HOLD};

static void row_signal(size_t number)
{
    handler *(*call)(int, handler *) = calls[number / 5].call;
    handler *it = given[number % 5];
    say("%s %s:", calls[number / 5].name, name_of(it));
    if (it == SIG_HOLD && call != call_sigset) {
        say(" is an address");
        return;
    }
    say(" first %s", name_of(call(SIGURG, another)));
    errno = 0;
    say(" then %s", name_of(call(SIGURG, it)));
    say(" (%d);", errno);
    say_registered(SIGURG);
    raise_and_say(SIGURG);
    say(" blocked %d", is_blocked(SIGURG));
    say_registered(SIGURG);
    raise_and_say(SIGURG);
    say(" last %s;", name_of(call(SIGURG, another)));
    raise_and_say(SIGURG);
}

static void row_signal_numbers(size_t number)
{
    static const int numbers[] = {0, -1, 32, 33, 34, 64, 65, 1000, SIGKILL, SIGSTOP};
    struct sigaction action = action_of(plain_one, 0);
    size_t each;
    say("signal %d:", numbers[number]);
    for (each = 0; each < sizeof calls / sizeof calls[0]; each++) {
        errno = 0;
        say(" %s", name_of(calls[each].call(numbers[number], plain_one)));
        say(" (%d)", errno);
    }
    errno = 0;
    say(" sigaction %d", sigaction(numbers[number], &action, &action));
    say(" (%d) nothing %d", errno, sigaction(numbers[number], NULL, NULL));
}

static void row_hold(void)
{
    say("sighold, sigrelse, sigignore:");
    say(" %s", name_of(sigset(SIGNAL, plain_one)));
    say(" %d", sighold(SIGNAL));
    raise_and_say(SIGNAL);
    say(" %s", name_of(sigset(SIGNAL, SIG_HOLD)));
    say(" %d", sigrelse(SIGNAL));
    say_ran();
    say(" %d", sigignore(SIGNAL));
    say_registered(SIGNAL);
    raise_and_say(SIGNAL);
    say(" %s", name_of(sigset(SIGNAL, another)));
    say(" %s", name_of(sigset(SIGNAL, SIG_DFL)));
}

/* Whether a read that waits is interrupted: a child sends the signal when the parent sleeps. */
static APART void say_interrupted(int number)
{
    int pipes[2];
    char byte = 0;
    ssize_t got;
    pid_t child, parent = getpid();
    if (pipe(pipes) != 0 || (child = fork()) < 0) {
        exit(9);
    }
    if (child == 0) {
        char name[64], state = 0;
        snprintf(name, sizeof name, "/proc/%d/stat", parent);
        while (state != 'S') {
            FILE *stat = fopen(name, "r");
            if (stat == NULL || fscanf(stat, "%*d (%*[^)]) %c", &state) != 1) {
                exit(8);
            }
            fclose(stat);
        }
        kill(parent, number);
        usleep(20000);
        write(pipes[1], "x", 1);
        _exit(0);
    }
    got = read(pipes[0], &byte, 1);
    say(" read %d (%d);", (int)got, got < 0 ? errno : 0);
    waitpid(child, NULL, 0);
    say_ran();
}

static void row_interrupt(size_t number)
{
    static const struct {
        const char *name;
        int order;
    } orders[] = {{"signal", 0}, {"siginterrupt 1, signal", 1}, {"signal, siginterrupt 1", 2}, {"siginterrupt 1, 0, signal", 3}};
    int order = orders[number].order;
    say("%s:", orders[number].name);
    if (order == 1 || order == 3) {
        say(" %d", siginterrupt(SIGNAL, 1));
    }
    if (order == 3) {
        say(" %d", siginterrupt(SIGNAL, 0));
    }
    signal(SIGNAL, plain_one);
    if (order == 2) {
        say(" %d", siginterrupt(SIGNAL, 1));
    }
    say_registered(SIGNAL);
    say_interrupted(SIGNAL);
}

static void row_restart(size_t number)
{
    struct sigaction action = action_of(plain_one, number == 0 ? 0 : SA_RESTART);
    say("sigaction, read, %s:", number == 0 ? "0" : "SA_RESTART");
    sigaction(SIGNAL, &action, NULL);
    say_interrupted(SIGNAL);
}

/* --- handlers in handlers, and those that do not return -------------------------------------------------------------- */

static volatile int levels;

static void recursive(int number)
{
    runs++;
    if (++levels < 9) {
        raise(number);
    }
    note_state(number);
}

static void row_recursive(void)
{
    struct sigaction action = action_of(recursive, SA_NODEFER);
    say("SA_NODEFER, nine deep:");
    sigaction(SIGNAL, &action, NULL);
    raise_and_say(SIGNAL);
}

static sigjmp_buf out, inner_out;
static void (*jump)(sigjmp_buf, int);

static void jump_siglongjmp(sigjmp_buf buffer, int value) { siglongjmp(buffer, value); }
static void jump_longjmp(sigjmp_buf buffer, int value) { longjmp(buffer, value); }
static void jump__longjmp(sigjmp_buf buffer, int value) { _longjmp(buffer, value); }
static void jump___longjmp_chk(sigjmp_buf buffer, int value) { __longjmp_chk(buffer, value); }

static void leaves(int number)
{
    note_state(number);
    jump(out, 7);
}

static APART void leave_often(int times, int keeps_mask)
{
    volatile int left = 0, value;
    int each;
    for (each = 0; each < times; each++) {
        value = sigsetjmp(out, keeps_mask);
        if (value == 0) {
            raise(SIGNAL);
            say(" came back");
        }
        left += value;
        if (!keeps_mask) {
            sigset_t set;
            sigemptyset(&set);
            sigaddset(&set, SIGNAL);
            say(each < 2 ? " blocked %d" : "", is_blocked(SIGNAL));
            sigprocmask(SIG_UNBLOCK, &set, NULL);
        }
    }
    say(" left %d;", left);
    say_ran();
}

static const struct {
    const char *name;
    void (*jump)(sigjmp_buf, int);
} jumps[] = {{"siglongjmp", jump_siglongjmp}, {"longjmp", jump_longjmp}, {"_longjmp", jump__longjmp}, {"__longjmp_chk", jump___longjmp_chk}};

static void row_jump(size_t number)
{
    static const int flags[] = {0, SA_ONSTACK, SA_NODEFER, SA_ONSTACK | SA_NODEFER};
    struct sigaction action = action_of(leaves, flags[number / 4]);
    say("%s out of a handler, flags %x:", jumps[number % 4].name, (unsigned)flags[number / 4]);
    jump = jumps[number % 4].jump;
    use_alternate();
    sigaction(SIGNAL, &action, NULL);
    leave_often(3, 1);
    leave_often(300, 0);
}

static void outer(int number)
{
    if (sigsetjmp(inner_out, 1) == 0) {
        raise(SIGUSR2);
    }
    note_state(number);
    raise(SIGWINCH);
    note_state(number);
}

static void inner(int number)
{
    (void)number;
    siglongjmp(inner_out, 1);
}

static void row_jump_within(size_t number)
{
    struct sigaction first = action_of(outer, number & 1 ? SA_ONSTACK : 0), second = action_of(inner, number & 2 ? SA_ONSTACK : 0);
    say("siglongjmp from one handler to another, %x to %x:", (unsigned)second.sa_flags, (unsigned)first.sa_flags);
    use_alternate();
    sigaction(SIGNAL, &first, NULL);
    sigaction(SIGUSR2, &second, NULL);
    signal(SIGWINCH, plain_one);
    raise_and_say(SIGNAL);
    raise_and_say(SIGNAL);
}

static void leaves_the_plain_way(int number)
{
    struct plain plain;
    plain_fill(&plain);
    note_state(number);
    plain.jump(out, 7);
}

static void row_jump_plainly(size_t number)
{
    struct sigaction action = action_of(leaves_the_plain_way, number ? SA_ONSTACK : 0);
    say("siglongjmp without probes, flags %x:", (unsigned)action.sa_flags);
    use_alternate();
    sigaction(SIGNAL, &action, NULL);
    leave_often(300, 1);
}

static void on_fault(int number, siginfo_t *info, void *context)
{
    (void)context;
    note_state(number);
    saw_info = info->si_addr == (void *)16;
    siglongjmp(out, 1);
}

static void row_fault(void)
{
    struct sigaction action = action_with_info(on_fault, SA_ONSTACK);
    volatile int left = 0;
    say("a fault, on the alternate stack:");
    use_alternate();
    sigaction(SIGSEGV, &action, NULL);
    while (left < 100) {
        if (sigsetjmp(out, 1) == 0) {
            *(volatile int *)16 = 1;
        }
        left++;
    }
    say_ran();
}

static void over_context(int number, siginfo_t *info, void *context)
{
    (void)info;
    note_state(number);
    ((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP] += 2;
}

static void row_context(void)
{
    struct sigaction action = action_with_info(over_context, 0);
    say("a handler steps over an instruction:");
    sigaction(SIGILL, &action, NULL);
    __asm__ __volatile__("ud2");
    say_ran();
}

/* --- others ----------------------------------------------------------------------------------------------------------- */

static void row_queue(void)
{
    struct sigaction action = action_with_info(with_info, 0);
    union sigval value = {42};
    say("sigqueue:");
    sigaction(SIGRTMIN, &action, NULL);
    sigqueue(getpid(), SIGRTMIN, value);
    say(" value %d", saw_value);
    say_ran();
}

static void row_suspend(void)
{
    struct sigaction action = action_of(plain_one, 0);
    sigset_t set, none;
    say("sigsuspend:");
    sigemptyset(&none);
    sigemptyset(&set);
    sigaddset(&set, SIGNAL);
    sigprocmask(SIG_BLOCK, &set, NULL);
    sigaction(SIGNAL, &action, NULL);
    raise_and_say(SIGNAL);
    say(" %d", sigsuspend(&none));
    say(" (%d)", errno);
    say_ran();
}

static void row_system(void)
{
    int answer;
    say("system:");
    signal(SIGINT, plain_one);
    signal(SIGQUIT, SIG_IGN);
    answer = system("exit 3");
    say(" %d", WEXITSTATUS(answer));
    say_registered(SIGINT);
    say_registered(SIGQUIT);
    raise_and_say(SIGINT);
}

static void row_one_pointer(void)
{
    struct sigaction action = action_of(plain_one, SA_RESTART);
    say("sigaction, both pointers the same:");
    signal(SIGNAL, another);
    say(" %d", sigaction(SIGNAL, &action, &action));
    say(" %s %x;", name_of(action.sa_handler), (unsigned)action.sa_flags);
    say_registered(SIGNAL);
}

static void row_vfork(void)
{
    pid_t child;
    int status;
    say("vfork, the child registers:");
    signal(SIGNAL, plain_one);
    child = vfork();
    if (child == 0) {
        struct sigaction action;
        memset(&action, 0, sizeof action);
        action.sa_handler = another;
        sigaction(SIGNAL, &action, NULL);
        _exit(0);
    }
    waitpid(child, &status, 0);
    say_registered(SIGNAL);
    raise_and_say(SIGNAL);
}

static void row_fork(void)
{
    pid_t child;
    int status;
    say("fork:");
    signal(SIGNAL, plain_one);
    child = fork();
    if (child == 0) {
        raise(SIGNAL);
        _exit(runs);
    }
    waitpid(child, &status, 0);
    say(" %d", WEXITSTATUS(status));
    raise_and_say(SIGNAL);
}

static void row_exec(void)
{
    pid_t child;
    int status;
    say("exec:");
    signal(SIGNAL, plain_one);
    signal(SIGUSR2, SIG_IGN);
    child = fork();
    if (child == 0) {
        execl("/proc/self/exe", "table", "--registered", (char *)NULL);
        _exit(9);
    }
    waitpid(child, &status, 0);
    say(" %d", WEXITSTATUS(status));
}

static void row_children(void)
{
    struct sigaction action = action_of(plain_one, SA_NOCLDWAIT);
    pid_t child;
    say("SA_NOCLDWAIT:");
    sigaction(SIGCHLD, &action, NULL);
    child = fork();
    if (child == 0) {
        _exit(0);
    }
    while (waitpid(child, NULL, 0) != -1 || errno == EINTR) {
    }
    say(" (%d)", errno);
    say_registered(SIGCHLD);
}

static void *register_often(void *number)
{
    int its = (int)(intptr_t)number, each;
    intptr_t wrong = 0;
    for (each = 0; each < 2000; each++) {
        handler *before = signal(its, each & 1 ? plain_one : another);
        struct sigaction now;
        wrong += before != plain_one && before != another && before != SIG_DFL;
        sigaction(its, NULL, &now);
        wrong += now.sa_handler != plain_one && now.sa_handler != another;
    }
    return (void *)wrong;
}

static void row_threads(void)
{
    pthread_t threads[4];
    intptr_t all = 0;
    int each;
    say("four threads, two signals:");
    for (each = 0; each < 4; each++) {
        pthread_create(&threads[each], NULL, register_often, (void *)(intptr_t)(each & 1 ? SIGUSR2 : SIGNAL));
    }
    for (each = 0; each < 4; each++) {
        void *wrong;
        pthread_join(threads[each], &wrong);
        all += (intptr_t)wrong;
    }
    say(" %d wrong", (int)all);
}

/* More handlers than have an entry of their own. */
static volatile int numbered;
#define ONE(NUMBER) static void numbered_##NUMBER(int number) { numbered = 1##NUMBER + number - SIGNAL; }
#define TEN(NUMBER)                                                                                                   \
    ONE(NUMBER##0) ONE(NUMBER##1) ONE(NUMBER##2) ONE(NUMBER##3) ONE(NUMBER##4) ONE(NUMBER##5) ONE(NUMBER##6) ONE(NUMBER##7) \
    ONE(NUMBER##8) ONE(NUMBER##9)
#define HUNDRED(NUMBER)                                                                                               \
    TEN(NUMBER##0) TEN(NUMBER##1) TEN(NUMBER##2) TEN(NUMBER##3) TEN(NUMBER##4) TEN(NUMBER##5) TEN(NUMBER##6) TEN(NUMBER##7) \
    TEN(NUMBER##8) TEN(NUMBER##9)
HUNDRED(0)
HUNDRED(1)
#undef ONE
#define ONE(NUMBER) numbered_##NUMBER,
static handler *const many[] = {HUNDRED(0) HUNDRED(1)};

static void row_many(void)
{
    int each, wrong = 0;
    handler *before = SIG_DFL;
    say("two hundred handlers:");
    for (each = 0; each < 200; each++) {
        handler *old = signal(SIGNAL, many[each]);
        wrong += old != before;
        before = many[each];
        raise(SIGNAL);
        wrong += numbered != 1000 + each;
    }
    for (each = 0; each < 200; each++) {
        handler *old = signal(SIGNAL, many[each]);
        wrong += old != before;
        before = many[each];
        raise(SIGNAL);
        wrong += numbered != 1000 + each;
    }
    say(" %d wrong", wrong);
}

/* --- code without probes ------------------------------------------------------------------------------------------------ */

static struct plain plains[2];

static void row_told(size_t number)
{
    struct plain *plain = &plains[number];
    struct sigaction told, action = action_with_info(with_info, SA_RESTART);
    say("told by code without probes (%s):", number ? "loaded" : "linked");
    memset(&told, 0, sizeof told);
    sigaction(SIGNAL, &action, NULL);
    plain->sigaction(SIGNAL, NULL, &told);
    say(" %s %x", name_of(told.sa_handler), (unsigned)told.sa_flags & ~0x04000000U);
    say(" %s", name_of(plain->signal(SIGNAL, another)));
    say(" %s", name_of(plain->sigset(SIGNAL, plain_one)));
    say(" %s;", name_of(signal(SIGNAL, SIG_DFL)));
    plain->sigaction(SIGNAL, &told, NULL);
    say_registered(SIGNAL);
    raise_and_say(SIGNAL);
}

static void row_registered_plainly(size_t number)
{
    struct plain *plain = &plains[number];
    say("registered by code without probes (%s):", number ? "loaded" : "linked");
    plain->signal(SIGNAL, plain_one);
    say_registered(SIGNAL);
    raise_and_say(SIGNAL);
    say(" %s;", name_of(signal(SIGNAL, another)));
    raise_and_say(SIGNAL);
}

static void row_chained(size_t number)
{
    struct plain *plain = &plains[number & 1];
    struct sigaction action = number & 2 ? action_with_info(with_info, 0) : action_of(plain_one, 0);
    say("chained by code without probes (%s), %s:", number & 1 ? "loaded" : "linked", name_of(action.sa_handler));
    sigaction(SIGNAL, &action, NULL);
    plain->chain(SIGNAL);
    raise_and_say(SIGNAL);
    plain->unchain(SIGNAL);
    say_registered(SIGNAL);
    raise_and_say(SIGNAL);
}

static void row_kernels(size_t number)
{
    struct plain *plain = &plains[number];
    say("put back by the kernel's call (%s):", number ? "loaded" : "linked");
    signal(SIGNAL, plain_one);
    plain->suspend(SIGNAL);
    raise_and_say(SIGNAL);
    plain->resume(SIGNAL);
    say_registered(SIGNAL);
    raise_and_say(SIGNAL);
}

static handler *at_start;

static void early(int number)
{
    note_state(number);
}

__attribute__((constructor(101))) static void register_early(void)
{
    at_start = signal(SIGIO, early);
}

static void row_early(void)
{
    handler *before;
    say("registered by a constructor: %s", name_of(at_start));
    raise_and_say(SIGIO);
    before = signal(SIGIO, SIG_DFL);
    say(" the same %d", before == early);
}

/* --- all ------------------------------------------------------------------------------------------------------------------ */

#define ALONE(FUNCTION) \
    static void FUNCTION##_alone(size_t number) { (void)number; FUNCTION(); }
ALONE(row_hold) ALONE(row_recursive) ALONE(row_fault) ALONE(row_context) ALONE(row_queue) ALONE(row_suspend) ALONE(row_system)
ALONE(row_one_pointer) ALONE(row_vfork) ALONE(row_fork) ALONE(row_exec) ALONE(row_children) ALONE(row_threads) ALONE(row_many)
ALONE(row_early)

static const struct {
    void (*row)(size_t number);
    size_t count;
} rows[] = {
    {row_sigaction, 4 * sizeof flag_sets / sizeof flag_sets[0]},
    {row_signal, 5 * sizeof calls / sizeof calls[0]},
    {row_signal_numbers, 10},
    {row_hold_alone, 1},
    {row_interrupt, 4},
    {row_restart, 2},
    {row_recursive_alone, 1},
    {row_jump, 16},
    {row_jump_within, 4},
    {row_jump_plainly, 2},
    {row_fault_alone, 1},
    {row_context_alone, 1},
    {row_queue_alone, 1},
    {row_suspend_alone, 1},
    {row_system_alone, 1},
    {row_one_pointer_alone, 1},
    {row_vfork_alone, 1},
    {row_fork_alone, 1},
    {row_exec_alone, 1},
    {row_children_alone, 1},
    {row_threads_alone, 1},
    {row_many_alone, 1},
    {row_told, 2},
    {row_registered_plainly, 2},
    {row_chained, 4},
    {row_kernels, 2},
    {row_early_alone, 1},
};

static APART void run_row(size_t kind, size_t number)
{
    rows[kind].row(number);
}

static APART void in_child(size_t kind, size_t number)
{
    int status, pipes[2];
    ssize_t got;
    pid_t child;
    if (pipe(pipes) != 0 || (child = fork()) < 0) {
        exit(9);
    }
    if (child == 0) {
        close(pipes[0]);
        alarm(60);
        run_row(kind, number);
        if (caudal_critical_depth_v1 != NULL && caudal_critical_depth_v1() != 0) {
            say(" depth %x", caudal_critical_depth_v1());
        }
        write(pipes[1], line, strlen(line));
        _exit(0);
    }
    close(pipes[1]);
    got = 0;
    for (;;) {
        ssize_t more = read(pipes[0], line + got, sizeof line - 1 - (size_t)got);
        if (more <= 0) {
            break;
        }
        got += more;
    }
    line[got] = 0;
    waitpid(child, &status, 0);
    close(pipes[0]);
    if (got == 0) {
        say("row %d of kind %d:", (int)number, (int)kind);
    }
    if (status != 0) {
        say(" ended with %x", status);
    }
    dprintf(STDOUT_FILENO, "%s\n", line);
    line[0] = 0;
}

/* ARGUMENTS: a library to load, the source of plain.h's functions. */
int main(int count, char **arguments)
{
    size_t kind, number;
    void *library;
    void (*fill)(struct plain *) = plain_fill;
    if (count == 2 && strcmp(arguments[1], "--registered") == 0) {
        struct sigaction first, second;
        sigaction(SIGNAL, NULL, &first);
        sigaction(SIGUSR2, NULL, &second);
        return (first.sa_handler == SIG_DFL) + 2 * (second.sa_handler == SIG_IGN);
    }
    plain_fill(&plains[0]);
    if (count == 2) {
        library = dlopen(arguments[1], RTLD_NOW);
        if (library == NULL) {
            dprintf(STDERR_FILENO, "%s\n", dlerror());
            return 1;
        }
        *(void **)&fill = dlsym(library, "plain_fill");
    }
    fill(&plains[1]);
    for (kind = 0; kind < sizeof rows / sizeof rows[0]; kind++) {
        for (number = 0; number < rows[kind].count; number++) {
            in_child(kind, number);
        }
    }
    return 0;
}
