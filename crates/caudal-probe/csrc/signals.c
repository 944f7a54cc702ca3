/*
 * Runs signal handlers of the program in a critical section. Called by the program, by sigaction, signal and their like, and the
 * kernel.
 *
 * Signal handlers run in a section: they interrupt code at any place, and a probe in them that yielded would leave all of that
 * on a suspended stack, with signals blocked.
 *
 * Which handlers. Those that are registered by sigaction and signal and their like, from code with probes (the pass redirects the calls)
 * and from all other code of the program, for these names are defined here, as `syscall` is. The kernel is given an entry of this library's
 * (handlers.S) in the place of the handler. Each handler has an entry of its own for as long as the process lives, so an entry means
 * the same in whichever action it is found, on whichever thread: there is no state for each signal that two calls, or the child of a
 * vfork, could mix up. Code that asks for an action by these calls sees the program's handlers only. Code that asks the kernel itself, and the C
 * library from inside (system, siginterrupt), see entries: it can put them back, and it can call them.
 *
 * What a handler sees above it is what it would see without this library: crash reporters skip as many frames as there are, and stop
 * the world by the stack pointer that a handler has. So an entry jumps to the handler, and what has to be done behind it is done where it
 * returns to: its return address, which the kernel has set to the C library's __restore_rt, is replaced by ours in handlers.S.
 *
 *          │ interrupted code        │                    │ interrupted code          │
 *          ├─────────────────────────┤                    ├───────────────────────────┤
 *          │ siginfo, ucontext       │                    │ siginfo, ucontext: with   │
 *          │                         │      entry         │   the depth before        │
 *          │ return: libc's          │  ───────────────▶  │ return: __restore_rt      │
 *    rsp ─▶├─────────────────────────┤                    ├───────────────────────────┤◀─ rsp, the handler's
 *
 * A return address is taken for libc's by the instructions there (mov $15, %rax; syscall), as unwinders and debuggers do. Any other one
 * is that of code which calls a handler that it has found registered: then the entry calls the handler and goes back. So it does with
 * the processor's shadow stack on, which holds the return address as well; only then is there a frame more.
 *
 * The depth of the interrupted code is in the signal's frame, in a word of the ucontext that the kernel neither writes nor
 * reads (__reserved1), so that handlers may be interrupted by others as often as there is stack. The other half of the word is a mark: where
 * they are no longer there, something else has been written over the frame.
 *
 * Handlers that do not return. siglongjmp, setcontext and exceptions leave the frame behind, and with it the raised depth. So
 * each thread notes where the frames are of the handlers that it runs, the outer four. The wrappers of longjmp know where it goes, and
 * put the depth back to what the outermost handler interrupted that is left (jumps.c). If the handler is left by code without probes, whoever
 * finds the thread in a section checks whether it still is in the handler: a probe that is due, a wait, caudal_critical_depth(). It
 * is not if its stack pointer is above the frame; nor if the frame is on the alternate stack, and the stack pointer is not; nor if other
 * calls have gone as deep since, and written over the frame. So while handlers are noted, a yield that a section defers is checked
 * again a quantum later (decide.c). The thread stays in the sections that it has entered between the jump and the check, so only the handlers' own
 * sections end then: code that jumps out of further ones restores the depth (caudal_critical_restore). A frame of another request is left to
 * that request. The runtime forgets the notes that a request leaves at its end (caudal_forget_handlers_v1).
 *
 * A yield that came due in the handler does not happen at the handler's end, which is at any place in the interrupted code, as the handler is:
 * the next probe of that code is made due.
 *
 * All of this may itself be interrupted by a signal at any instruction, and the other handler then does the same. If it returns, the depth and the
 * notes are again what they were. If it does not return, the interrupted code never goes on, and whoever looks for handlers that have been left has
 * to find every raise of the depth in a note. So the notes are written first, and taken back last:
 *
 *      begins   place + 1    the note, and last that it is one    depth + 1
 *      ends     depth as before    it is no note    place - 1
 *
 * So where the depth is raised there is a note that says what it was, and a place that is taken has none of an earlier handler.
 * Entries are only added, each by one compare-and-swap, so registering is as safe in a handler as the C library's.
 */
#define _GNU_SOURCE
#include "signals.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <ucontext.h>

/* Not in a static program, in which nothing else than its own can be found. */
#pragma weak dlsym
/* The signals that siginterrupt has named; inside of a static C library. */
extern sigset_t _sigintr __attribute__((weak));
extern int __sigaction(int signal, const struct sigaction *action, struct sigaction *before);

__thread struct caudal_handlings caudal_probe_handlings __attribute__((tls_model("initial-exec")));

/* --- entries ---------------------------------------------------------------------------------------------------------- */

extern const char caudal_probe_handler_entries[] __attribute__((visibility("hidden")));

static caudal_handler *handlers[CAUDAL_ENTRIES];

static caudal_handler *entry_of(size_t number)
{
    return (caudal_handler *)(uintptr_t)(caudal_probe_handler_entries + number * CAUDAL_ENTRY_SIZE);
}

/* The number of the entry; CAUDAL_ENTRIES: none. */
static size_t number_of(caudal_handler *entry)
{
    uintptr_t distance = (uintptr_t)entry - (uintptr_t)caudal_probe_handler_entries;
    return distance < (uintptr_t)CAUDAL_ENTRIES * CAUDAL_ENTRY_SIZE ? distance / CAUDAL_ENTRY_SIZE : CAUDAL_ENTRIES;
}

static int is_function(caudal_handler *handler)
{
    return handler != SIG_DFL && handler != SIG_IGN && handler != SIG_ERR && handler != SIG_HOLD;
}

/* The function that the kernel is given for the program's `handler` of `signal`. */
static caudal_handler *covered(int signal, caudal_handler *handler)
{
    size_t number;
    if (!is_function(handler) || number_of(handler) != CAUDAL_ENTRIES || signal <= 0 || signal >= CAUDAL_SIGNALS) {
        return handler;
    }
    for (number = 0; number < CAUDAL_HANDLERS; number++) {
        caudal_handler *there = __atomic_load_n(&handlers[number], __ATOMIC_ACQUIRE);
        if (there == NULL &&
            __atomic_compare_exchange_n(&handlers[number], &there, handler, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
            there = handler;
        }
        if (there == handler) {
            return entry_of(number);
        }
    }
    /* All are taken. The signal's own has whichever of the later ones is registered last. */
    number = CAUDAL_HANDLERS + (size_t)signal;
    __atomic_store_n(&handlers[number], handler, __ATOMIC_RELEASE);
    return entry_of(number);
}

/* The handler in the signal's own entry; null: none. */
static caudal_handler *handler_in_own_entry(int signal)
{
    return signal > 0 && signal < CAUDAL_SIGNALS ? __atomic_load_n(&handlers[CAUDAL_HANDLERS + signal], __ATOMIC_ACQUIRE) : NULL;
}

/* The program's handler for `entry`, which the kernel had before a call. `own_before` is what handler_in_own_entry said before that call, which
 * may have put another one there. */
static caudal_handler *uncovered(caudal_handler *entry, caudal_handler *own_before)
{
    size_t number = number_of(entry);
    if (number == CAUDAL_ENTRIES) {
        return entry;
    }
    return number < CAUDAL_HANDLERS ? __atomic_load_n(&handlers[number], __ATOMIC_ACQUIRE) : own_before;
}

/* --- handlers that run ------------------------------------------------------------------------------------------------ */

/* In front of what the code comes to next no signal may find it half done. */
static inline void signals_see_this(void)
{
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
}

static int is_alternate(const struct caudal_handling *handling, uintptr_t stack)
{
    return stack - handling->alternate < handling->alternate_size;
}

/* Looked at only on the stack that the thread runs on, which is there: the request's. What else a frame was on may be gone. */
static int is_overwritten(const struct caudal_handling *handling)
{
    const struct caudal_probe *block = &caudal_probe_v1;
    uintptr_t word = (uintptr_t)handling->left_in_frame;
    return word >= block->stack_low && word < block->stack_high && word != 0 && *handling->left_in_frame != handling->left;
}

static int is_left(const struct caudal_handling *handling, uintptr_t stack)
{
    int was_alternate = is_alternate(handling, handling->frame);
    if (was_alternate != is_alternate(handling, stack)) {
        return was_alternate;
    }
    return handling->frame < stack || is_overwritten(handling);
}

/* The first so many notes stay. */
static void keep(uint32_t count)
{
    struct caudal_handlings *all = &caudal_probe_handlings;
    uint32_t at;
    for (at = count; at < CAUDAL_NOTED; at++) {
        all->of[at].is_noted = 0;
    }
    signals_see_this();
    all->count = count;
    signals_see_this();
}

static int is_noted(uint32_t at)
{
    const struct caudal_handling *handling = &caudal_probe_handlings.of[at];
    return handling->is_noted && handling->request == caudal_probe_v1.stack_high;
}

/* The place of the outermost handler that has been left, if the thread is at `stack`; CAUDAL_NOTED: none. */
static uint32_t outermost_left(uintptr_t stack)
{
    const struct caudal_handlings *all = &caudal_probe_handlings;
    uint32_t at, inner;
    for (at = 0; at < all->count && !(is_noted(at) && is_left(&all->of[at], stack)); at++) {
    }
    /* Within one whose frame has been written over another may run, which was begun before that: then it is its turn first. */
    for (inner = at + 1; inner < all->count; inner++) {
        if (is_noted(inner) && !is_left(&all->of[inner], stack)) {
            return CAUDAL_NOTED;
        }
    }
    return at < all->count ? at : CAUDAL_NOTED;
}

static void leave(uint32_t at, uint32_t depth)
{
    caudal_probe_back_to(depth);
    signals_see_this();
    /* A handler that was about to be noted there, and was interrupted, has been left as well. */
    while (at > 0 && !caudal_probe_handlings.of[at - 1].is_noted) {
        at--;
    }
    keep(at);
}

void caudal_probe_jumps_to(uintptr_t stack)
{
    uint32_t at = outermost_left(stack);
    if (at != CAUDAL_NOTED) {
        const struct caudal_handling *handling = &caudal_probe_handlings.of[at];
        leave(at, handling->found != CAUDAL_NOT_FOUND ? handling->found : handling->depth);
    }
}

/*
 * A nested handler may find the same, between any two of these instructions, and do all of it: then the depth that was read in front is that of
 * before, and there is no note any more. Or it finds what is to be the depth, and is not to count once more.
 */
void caudal_probe_end_left_handlers(uintptr_t stack)
{
    struct caudal_handlings *all = &caudal_probe_handlings;
    uint32_t depth = *(volatile uint32_t *)&caudal_probe_v1.depth;
    uint32_t sections = depth & CAUDAL_PROBE_SECTIONS, found, at, inner;
    signals_see_this();
    at = outermost_left(stack);
    if (at == CAUDAL_NOTED) {
        return;
    }
    found = all->of[at].found;
    if (found == CAUDAL_NOT_FOUND) {
        for (inner = at; inner < all->count && sections > 0; inner++) {
            sections -= is_noted(inner) ? CAUDAL_PROBE_SECTION : 0;
        }
        found = (depth & ~(uint32_t)CAUDAL_PROBE_SECTIONS) | sections;
        all->of[at].found = found;
    }
    signals_see_this();
    if (all->of[at].is_noted) {
        leave(at, found);
    }
}

void caudal_forget_handlers_v1(void)
{
    keep(0);
}

static void note(const struct caudal_handling *handling)
{
    struct caudal_handlings *all = &caudal_probe_handlings;
    uint32_t at = all->count;
    if (at == CAUDAL_NOTED) {
        return;
    }
    all->count = at + 1;
    signals_see_this();
    all->of[at] = *handling;
    signals_see_this();
    all->of[at].is_noted = 1;
    signals_see_this();
}

/* Of the noted ones, this one and those within it have ended. */
static void forget(uintptr_t frame)
{
    struct caudal_handlings *all = &caudal_probe_handlings;
    uint32_t at;
    for (at = all->count; at > 0; at--) {
        if (all->of[at - 1].is_noted && all->of[at - 1].frame == frame) {
            keep(at - 1);
            return;
        }
    }
}

/* mov $15, %rax; syscall, in either of its forms. No byte is read behind the first that is another. */
static int returns_from_signal(const unsigned char *code)
{
    static const unsigned char forms[2][9] = {{0x48, 0xc7, 0xc0, 15, 0, 0, 0, 0x0f, 0x05}, {0xb8, 15, 0, 0, 0, 0x0f, 0x05}};
    static const size_t sizes[2] = {9, 7};
    size_t form, at;
    for (form = 0; form < 2; form++) {
        for (at = 0; at < sizes[form] && code[at] == forms[form][at]; at++) {
        }
        if (at == sizes[form]) {
            return 1;
        }
    }
    return 0;
}

static int has_shadow_stack(void)
{
    uint64_t pointer = 0;
    __asm__ __volatile__(".byte 0xf3, 0x48, 0x0f, 0x1e, 0xc8" : "+a"(pointer)); /* rdsspq %rax; nothing where there is none */
    return pointer != 0;
}

static ucontext_t *context_of(uintptr_t frame)
{
    return (ucontext_t *)(frame + sizeof(uintptr_t));
}

/* Of the eight words behind the registers, which the kernel neither writes nor reads, the last. */
#define DEPTH_WORD 7

static uint64_t *depth_in(ucontext_t *context)
{
    return (uint64_t *)&context->uc_mcontext.__reserved1[DEPTH_WORD];
}

/* In the upper half of the word that has the depth: each frame's own, and with it the word is no address and no small number. */
static uint64_t mark_of(uintptr_t frame)
{
    return (uint64_t)(0x9e3779b9 ^ (uint32_t)(frame >> 4 & 0xffff)) << 32;
}

/* How an entry continues: it jumps to the handler, or calls it and then puts the depth back. In the two registers that a function may
 * answer in. */
struct caudal_beginning {
    caudal_handler *handler;
    uint64_t call; /* 0: jump. Otherwise BEGIN_BY_CALL, and the depth to put back in the lower half */
};
#define BEGIN_BY_CALL ((uint64_t)1 << 32)

/* An entry has been called, with its return address at `frame`. */
__attribute__((visibility("hidden"))) struct caudal_beginning caudal_probe_handler_begins(uintptr_t frame, uint32_t number,
                                                                                          uintptr_t restorer)
{
    uintptr_t *returns = (uintptr_t *)frame;
    int is_kernels = returns_from_signal((const unsigned char *)*returns);
    struct caudal_handling handling = {.frame = frame, .request = caudal_probe_v1.stack_high, .found = CAUDAL_NOT_FOUND};
    struct caudal_beginning beginning = {.handler = __atomic_load_n(&handlers[number], __ATOMIC_ACQUIRE)};
    if (caudal_probe_handlings.count != 0) {
        /* Finds out which handlers have been left by where the interrupted code was: this frame is as deep as theirs, or on another stack. */
        caudal_probe_end_left_handlers(is_kernels ? (uintptr_t)context_of(frame)->uc_mcontext.gregs[REG_RSP] : frame + 1);
    }
    handling.depth = caudal_probe_v1.depth;
    if (is_kernels) {
        const stack_t *alternate = &context_of(frame)->uc_stack;
        handling.alternate = (uintptr_t)alternate->ss_sp;
        handling.alternate_size = alternate->ss_size;
        handling.left_in_frame = depth_in(context_of(frame));
        handling.left = mark_of(frame) | handling.depth;
        *depth_in(context_of(frame)) = handling.left;
    }
    if (is_kernels && !has_shadow_stack()) {
        *returns = restorer;
    } else {
        beginning.call = BEGIN_BY_CALL | handling.depth;
    }
    note(&handling);
    caudal_probe_hold(CAUDAL_PROBE_SECTION);
    return beginning;
}

/* Whatever the handler has entered or left by itself, the interrupted code finds what it had. */
__attribute__((visibility("hidden"))) void caudal_probe_handler_returns(uintptr_t frame, uint32_t depth)
{
    caudal_probe_back_to(depth);
    signals_see_this();
    forget(frame);
}

__attribute__((visibility("hidden"))) void caudal_probe_handler_ends(uintptr_t frame)
{
    caudal_probe_handler_returns(frame, (uint32_t)*depth_in(context_of(frame)));
}

/* --- vfork ------------------------------------------------------------------------------------------------------------ */

/* State of its parent that a child of vfork may change, as it was. Comes in one register. */
struct caudal_in_parent {
    uint32_t depth, count;
};

/* The section begins that the child runs in. What has been left is found first: it is the parent's, and would be the child's to find. */
__attribute__((visibility("hidden"))) struct caudal_in_parent caudal_probe_vfork_begins(uintptr_t stack)
{
    struct caudal_in_parent before;
    caudal_probe_found_in_section_at(stack);
    before.count = caudal_probe_handlings.count;
    before.depth = caudal_probe_v1.depth;
    caudal_probe_hold(CAUDAL_PROBE_SECTION);
    return before;
}

/* In the parent. */
__attribute__((visibility("hidden"))) void caudal_probe_vfork_ends(struct caudal_in_parent before)
{
    keep(before.count);
    caudal_probe_back_to(before.depth);
}

/* --- the C library's functions ------------------------------------------------------------------------------------------ */

/*
 * The names are defined here, so that all of an executable, and the shared objects that it is linked with, come here. What they do is then
 * what the next object has that knows the name, a preloaded one or the C library. In a static program there is no next one, and it
 * is done by sigaction. Weak: where a program has its own already, that stays, and the wrappers call it (others.c).
 */
typedef int sigaction_function(int, const struct sigaction *, struct sigaction *);
typedef caudal_handler *signal_function(int, caudal_handler *);

static struct {
    int is_known;
    sigaction_function *sigaction;
    signal_function *signal, *bsd_signal, *ssignal, *sysv_signal, *__sysv_signal, *sigset;
} next;

sigaction_function caudal_around_sigaction_v1;
signal_function caudal_around_signal_v1, caudal_around_bsd_signal_v1, caudal_around_ssignal_v1, caudal_around_sysv_signal_v1,
    caudal_around___sysv_signal_v1, caudal_around_sigset_v1;

/* A sanitizer's, which stands in the place of ours: what it has to know of handlers it hears. */
#define SANITIZERS(NAME)                                                                                                   \
    extern char trampoline_##NAME[] __asm__("__interceptor_trampoline_" #NAME) __attribute__((weak));                      \
    extern char interceptor_##NAME[] __asm__("__interceptor_" #NAME) __attribute__((weak));                                \
    extern char named_##NAME[] __asm__(#NAME)
SANITIZERS(sigaction);
SANITIZERS(signal);

/* As dlsym gives it, an address. */
static void *find(const char *name)
{
    return dlsym != NULL ? dlsym(RTLD_NEXT, name) : NULL;
}

#define FIND(NAME) next.NAME = (__typeof__(next.NAME))(uintptr_t)find(#NAME)
#define FIND_SANITIZERS(NAME)                                                                        \
    if (is_same(named_##NAME, trampoline_##NAME) || is_same(named_##NAME, interceptor_##NAME)) {     \
        next.NAME = (__typeof__(next.NAME))(uintptr_t)named_##NAME;                                  \
    }

/* Hidden from the compiler, which may think that two names are two functions. */
static int is_same(const char *one, const char *other)
{
    __asm__("" : "+r"(one), "+r"(other));
    return one == other;
}

/* Early, for looking up is nothing to do in a handler. */
CAUDAL_CONSTRUCTOR static void know_next(void)
{
    if (!__atomic_load_n(&next.is_known, __ATOMIC_ACQUIRE)) {
        FIND(sigaction);
        FIND(signal);
        FIND(bsd_signal);
        FIND(ssignal);
        FIND(sysv_signal);
        FIND(__sysv_signal);
        FIND(sigset);
        FIND_SANITIZERS(sigaction)
        FIND_SANITIZERS(signal)
        __atomic_store_n(&next.is_known, 1, __ATOMIC_RELEASE);
    }
}

/* sigaction itself, also for a runtime that is instrumented along: its handler of stack overflows looks at the depth of what it
 * interrupts, and leaves that behind. */
int caudal_plain_sigaction_v1(int signal, const struct sigaction *action, struct sigaction *before)
{
    know_next();
    return (next.sigaction != NULL ? next.sigaction : __sigaction)(signal, action, before);
}

int caudal_around_sigaction_v1(int signal, const struct sigaction *action, struct sigaction *before)
{
    caudal_handler *own_before = handler_in_own_entry(signal);
    struct sigaction ours;
    int answer;
    if (action != NULL) {
        ours = *action;
        /* The other member of the union is the same word. */
        ours.sa_handler = covered(signal, action->sa_handler);
    }
    answer = caudal_plain_sigaction_v1(signal, action != NULL ? &ours : NULL, before);
    if (answer == 0 && before != NULL) {
        before->sa_handler = uncovered(before->sa_handler, own_before);
    }
    return answer;
}

int sigaction(int signal, const struct sigaction *action, struct sigaction *before)
    __attribute__((weak, alias("caudal_around_sigaction_v1")));

/* Does what the C library's functions do in a static program. */
static caudal_handler *set_handler(int signal, caudal_handler *handler, int flags, int blocks_itself)
{
    struct sigaction action, before;
    action.sa_handler = handler;
    action.sa_flags = flags;
    sigemptyset(&action.sa_mask);
    if (blocks_itself) {
        sigaddset(&action.sa_mask, signal);
    }
    return caudal_plain_sigaction_v1(signal, &action, &before) == 0 ? before.sa_handler : SIG_ERR;
}

static caudal_handler *refused(void)
{
    errno = EINVAL;
    return SIG_ERR;
}

static caudal_handler *as_bsd(int signal, caudal_handler *handler)
{
    int interrupts;
    if (handler == SIG_ERR || signal <= 0 || signal >= CAUDAL_SIGNALS) {
        return refused();
    }
    interrupts = &_sigintr != NULL && sigismember(&_sigintr, signal) == 1;
    return set_handler(signal, handler, interrupts ? 0 : SA_RESTART, 1);
}

static caudal_handler *as_sysv(int signal, caudal_handler *handler)
{
    if (handler == SIG_ERR) {
        return refused();
    }
    return set_handler(signal, handler, SA_RESETHAND | SA_NODEFER | SA_INTERRUPT, 0);
}

static caudal_handler *as_sigset(int signal, caudal_handler *handler)
{
    sigset_t itself, before;
    struct sigaction action;
    int is_held = handler == SIG_HOLD;
    sigemptyset(&itself);
    if (sigaddset(&itself, signal) < 0) {
        return SIG_ERR;
    }
    if (is_held) {
        if (caudal_plain_sigaction_v1(signal, NULL, &action) < 0 || sigprocmask(SIG_BLOCK, &itself, &before) < 0) {
            return SIG_ERR;
        }
    } else {
        action.sa_handler = set_handler(signal, handler, 0, 0);
        if (action.sa_handler == SIG_ERR || sigprocmask(SIG_UNBLOCK, &itself, &before) < 0) {
            return SIG_ERR;
        }
    }
    return sigismember(&before, signal) ? SIG_HOLD : action.sa_handler;
}

#define AROUND(NAME, OTHERWISE)                                                                                       \
    caudal_handler *caudal_around_##NAME##_v1(int signal, caudal_handler *handler)                                    \
    {                                                                                                                 \
        caudal_handler *own_before = handler_in_own_entry(signal);                                                                   \
        know_next();                                                                                                  \
        return uncovered((next.NAME != NULL ? next.NAME : OTHERWISE)(signal, covered(signal, handler)), own_before); \
    }                                                                                                                 \
    caudal_handler *NAME(int signal, caudal_handler *handler) __attribute__((weak, alias("caudal_around_" #NAME "_v1")))

AROUND(signal, as_bsd);
AROUND(bsd_signal, as_bsd);
AROUND(ssignal, as_bsd);
AROUND(sysv_signal, as_sysv);
AROUND(__sysv_signal, as_sysv);
AROUND(sigset, as_sigset);
