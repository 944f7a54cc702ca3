/*
 * The probe ABI of Caudal, version 1. This file is the ABI: what it does not say is not promised.
 *
 * A probe is a few instructions in a running request that find out whether the request's quantum has ended. Not due,
 * it costs a compare and a jump that is not taken. Due, it enters a cold path, which decides and, where a yield is
 * really to happen, calls the runtime's hook. The guide to this file is docs/reference/probe-abi.md.
 *
 * Two thread-local lines, both initial-exec (local-exec once linked):
 *
 *      caudal_probe_v1: only its own thread touches it              caudal_flag_v1: any thread may store to byte 0
 *      +----+--------------------------------------------+          +----+-----------------------------------------+
 *      |  0 | deadline    u64  TSC cycles                |          |  0 | flag  u8  0: go on; otherwise: yield     |
 *      |  8 | budget      i64  cost units                |          |  1 | nothing: the line is the flag's alone   |
 *      | 16 | depth       u32  sections, locks entered   |          | 64 +-----------------------------------------+
 *      | 20 | pending     u32  a yield came due in one   |
 *      | 24 | stack_low   u64  address                   |
 *      | 32 | stack_high  u64  address                   |
 *      | 40 | quantum     u64  TSC cycles                |
 *      | 48 | ratio       u32  cost units/cycle, 16.16   |
 *      | 52 | credit      i32  cost units                |
 *      | 56 | runtime     u64  the runtime's own         |
 *      | 64 +--------------------------------------------+
 *
 * The initial values mean "never due": deadline UINT64_MAX, budget CAUDAL_PROBE_NEVER_SPENT, flag 0, quantum UINT64_MAX, no
 * stack. A thread that nobody armed never decides on a yield; in clock mode it reads the clock now and then.
 */
#ifndef CAUDAL_PROBE_H
#define CAUDAL_PROBE_H

#if !defined(__linux__)
#error "caudal/probe.h: Linux only; the thread-local block is reached as ELF's initial-exec model has it on Linux"
#endif
#if !defined(__x86_64__) || defined(__ILP32__)
#error "caudal/probe.h: x86-64 with 64-bit pointers only; other processors lack the probe's clock and the cold path's assembly"
#endif
#if !defined(__GNUC__)
#error "caudal/probe.h: GCC or clang only; inline assembly with flag outputs is needed"
#endif

/* The version that the symbols' names end in. Objects of different versions do not link. */
#define CAUDAL_PROBE_ABI 1

/* Offsets in caudal_probe_v1, in bytes. */
#define CAUDAL_PROBE_DEADLINE 0
#define CAUDAL_PROBE_BUDGET_LEFT 8
#define CAUDAL_PROBE_DEPTH 16
#define CAUDAL_PROBE_PENDING 20
#define CAUDAL_PROBE_STACK_LOW 24
#define CAUDAL_PROBE_STACK_HIGH 32
#define CAUDAL_PROBE_QUANTUM 40
#define CAUDAL_PROBE_RATIO 48
#define CAUDAL_PROBE_CREDIT 52
#define CAUDAL_PROBE_RUNTIME 56
#define CAUDAL_PROBE_SIZE 64
/* Offset in caudal_flag_v1, and its size. */
#define CAUDAL_FLAG_ASKED 0
#define CAUDAL_FLAG_SIZE 64

/* A budget that no code spends. Code that keeps what is left in a register may add to it for a while. */
#define CAUDAL_PROBE_NEVER_SPENT 0x3fffffffffffffff

/* The halves of depth. A probe yields where both are 0. Below: critical sections, under which a request never gives its
 * worker back. Above: locks that it has, under which no probe yields, but a wait may let others run. */
#define CAUDAL_PROBE_SECTION 1
#define CAUDAL_PROBE_SECTIONS 0xffff
#define CAUDAL_PROBE_LOCK 0x10000

/* Bytes below the stack pointer that a leaf function may use on x86-64. */
#define CAUDAL_PROBE_RED_ZONE 128
/* Bytes of stack that a probe's cold path takes at most before it calls the hook, the red zone not counted. */
#define CAUDAL_PROBE_STACK_BYTES 4096

#if !defined(__ASSEMBLER__)

#include <stddef.h>
#include <stdint.h>

#if defined(__cplusplus)
extern "C" {
#define CAUDAL_PROBE_STATIC_ASSERT(condition, text) static_assert(condition, text)
#else
/* An array of a negative size where the condition is false: C99 has no static assertion. */
#define CAUDAL_PROBE_JOIN_(a, b) a##b
#define CAUDAL_PROBE_JOIN(a, b) CAUDAL_PROBE_JOIN_(a, b)
#define CAUDAL_PROBE_STATIC_ASSERT(condition, text) \
    typedef char CAUDAL_PROBE_JOIN(caudal_probe_assert_, __LINE__)[(condition) ? 1 : -1] __attribute__((unused))
#endif

struct __attribute__((aligned(64))) caudal_probe {
    uint64_t deadline;   /* TSC value from which on the running request is due; UINT64_MAX: never */
    int64_t budget;      /* cost units until the clock has to be read; due when negative;
                          * CAUDAL_PROBE_NEVER_SPENT: never */
    uint32_t depth;      /* CAUDAL_PROBE_SECTION for each critical section that the running coroutine is in, and
                          * CAUDAL_PROBE_LOCK for each lock that it is known to have */
    uint32_t pending;    /* 1: a yield came due while depth > 0, and is made up for where depth returns to 0 */
    uint64_t stack_low;  /* the running coroutine's stack is [stack_low, stack_high); both 0: none runs. With the */
    uint64_t stack_high; /* stack pointer elsewhere (signal stacks, the scheduler) the cold path declines */
    uint64_t quantum;    /* length of the quantum that was armed last, TSC cycles; UINT64_MAX: never due */
    uint32_t ratio;      /* cost units per TSC cycle, 16.16 fixed point, at least 1; kept by budget mode's cold path */
    int32_t credit;      /* cost units that instrumented code in clock mode spends until the clock has to be read; due
                            when negative */
    uint64_t runtime;    /* the runtime's own (a pointer, say); the library never touches it */
};

struct __attribute__((aligned(64))) caudal_flag {
    uint8_t asked; /* not 0: another thread asks this one to yield. Relaxed atomic accesses only */
    uint8_t padding[CAUDAL_FLAG_SIZE - 1];
};

CAUDAL_PROBE_STATIC_ASSERT(offsetof(struct caudal_probe, deadline) == CAUDAL_PROBE_DEADLINE, "deadline");
CAUDAL_PROBE_STATIC_ASSERT(offsetof(struct caudal_probe, budget) == CAUDAL_PROBE_BUDGET_LEFT, "budget");
CAUDAL_PROBE_STATIC_ASSERT(offsetof(struct caudal_probe, depth) == CAUDAL_PROBE_DEPTH, "depth");
CAUDAL_PROBE_STATIC_ASSERT(offsetof(struct caudal_probe, pending) == CAUDAL_PROBE_PENDING, "pending");
CAUDAL_PROBE_STATIC_ASSERT(offsetof(struct caudal_probe, stack_low) == CAUDAL_PROBE_STACK_LOW, "stack_low");
CAUDAL_PROBE_STATIC_ASSERT(offsetof(struct caudal_probe, stack_high) == CAUDAL_PROBE_STACK_HIGH, "stack_high");
CAUDAL_PROBE_STATIC_ASSERT(offsetof(struct caudal_probe, quantum) == CAUDAL_PROBE_QUANTUM, "quantum");
CAUDAL_PROBE_STATIC_ASSERT(offsetof(struct caudal_probe, ratio) == CAUDAL_PROBE_RATIO, "ratio");
CAUDAL_PROBE_STATIC_ASSERT(offsetof(struct caudal_probe, credit) == CAUDAL_PROBE_CREDIT, "credit");
CAUDAL_PROBE_STATIC_ASSERT(offsetof(struct caudal_probe, runtime) == CAUDAL_PROBE_RUNTIME, "runtime");
CAUDAL_PROBE_STATIC_ASSERT(sizeof(struct caudal_probe) == CAUDAL_PROBE_SIZE, "size");
CAUDAL_PROBE_STATIC_ASSERT(offsetof(struct caudal_flag, asked) == CAUDAL_FLAG_ASKED, "asked");
CAUDAL_PROBE_STATIC_ASSERT(sizeof(struct caudal_flag) == CAUDAL_FLAG_SIZE, "flag size");

__extension__ extern __thread struct caudal_probe caudal_probe_v1 __attribute__((tls_model("initial-exec")));
__extension__ extern __thread struct caudal_flag caudal_flag_v1 __attribute__((tls_model("initial-exec")));

/*
 * The cold entries of instrumented code. Each is called with no argument by a probe that found itself due. They keep
 * every register but the flags and r11: the general ones, x87, MMX, MXCSR, xmm, ymm, zmm and mask registers (not AMX
 * tiles, not APX's r16 to r31), and errno. The stack may have any alignment.
 *
 * What a caller owes: the call pushes a return address. A function that uses the red zone must first step over it
 * (lea -128(%rsp), %rsp); a compiler that emits an ordinary call uses no red zone in that function. The call must not
 * go through a lazily bound PLT slot, whose resolver changes registers: call *name@GOTPCREL(%rip), which the linker
 * makes direct in an executable.
 */
void caudal_probe_cold_clock_v1(void);
void caudal_probe_cold_budget_v1(void);
void caudal_probe_cold_flag_v1(void);
/* For code that spends the block's credit and does not read the clock itself: reads it, gives more credit, and goes on to
 * caudal_probe_cold_clock_v1 where the deadline has come, or nearly. What is left of the credit goes back in r11, too. */
void caudal_probe_cold_credit_v1(void);
/* Budget mode's for code that keeps what is left of the budget in a register: it comes in r11 and goes back in r11. */
void caudal_probe_cold_carried_v1(void);
/* The same in any other register, by its name: r11 is kept then. (r11's is the one above.) */
#define CAUDAL_PROBE_CARRIED_IN(REGISTER) void caudal_probe_cold_carried_v1_##REGISTER(void)
CAUDAL_PROBE_CARRIED_IN(rax);
CAUDAL_PROBE_CARRIED_IN(rbx);
CAUDAL_PROBE_CARRIED_IN(rcx);
CAUDAL_PROBE_CARRIED_IN(rdx);
CAUDAL_PROBE_CARRIED_IN(rsi);
CAUDAL_PROBE_CARRIED_IN(rdi);
CAUDAL_PROBE_CARRIED_IN(rbp);
CAUDAL_PROBE_CARRIED_IN(r8);
CAUDAL_PROBE_CARRIED_IN(r9);
CAUDAL_PROBE_CARRIED_IN(r10);
CAUDAL_PROBE_CARRIED_IN(r11);
CAUDAL_PROBE_CARRIED_IN(r12);
CAUDAL_PROBE_CARRIED_IN(r13);
CAUDAL_PROBE_CARRIED_IN(r14);
CAUDAL_PROBE_CARRIED_IN(r15);
#undef CAUDAL_PROBE_CARRIED_IN
/*
 * Whole probes for code in which a call is short enough and seldom: one spends UNITS of the budget, of which a thread has
 * what its memory says, or, carried, what is in r11; the other tests the flag. The same convention as the cold entries;
 * carried, r11 goes back with what is left. UNITS are 1, 2, 4, 8, 12, 16, 24, 32, 48, 64, 96 and 127.
 */
#define CAUDAL_PROBE_SPEND(UNITS)                     \
    void caudal_probe_spend_##UNITS##_v1(void);       \
    void caudal_probe_spend_carried_##UNITS##_v1(void)
CAUDAL_PROBE_SPEND(1);
CAUDAL_PROBE_SPEND(2);
CAUDAL_PROBE_SPEND(4);
CAUDAL_PROBE_SPEND(8);
CAUDAL_PROBE_SPEND(12);
CAUDAL_PROBE_SPEND(16);
CAUDAL_PROBE_SPEND(24);
CAUDAL_PROBE_SPEND(32);
CAUDAL_PROBE_SPEND(48);
CAUDAL_PROBE_SPEND(64);
CAUDAL_PROBE_SPEND(96);
CAUDAL_PROBE_SPEND(127);
#undef CAUDAL_PROBE_SPEND
void caudal_probe_look_v1(void);
/* For a critical section's end that was inlined: depth has just become 0 and pending is not 0. */
void caudal_probe_cold_exit_v1(void);

/*
 * The same for source code, by the C convention: a compiler that sees the call knows which registers it may change, so
 * no vector register is kept. The rounding mode (MXCSR, x87 control word) and errno are.
 */
void caudal_probe_call_clock_v1(void);
void caudal_probe_call_budget_v1(void);
void caudal_probe_call_flag_v1(void);
void caudal_probe_call_exit_v1(void);

/*
 * Called when a yield is to happen, on the stack of the request, with the TSC value at which that was decided. All
 * modes are quiet meanwhile (never due) and the flag is cleared; rounding modes are those a thread starts with. Before
 * it returns, a runtime has armed the next quantum. It may switch stacks, and return on another thread. It must not
 * unwind. Initially the recorder's hook (below). Set it before any thread is armed.
 */
extern void (*caudal_probe_hook_v1)(uint64_t now);
/* Given the TSC cycles that an outermost critical section took, when it was entered by caudal_critical_enter(). Called
 * inside of the section. Initially null: nothing is called. */
extern void (*caudal_probe_critical_hook_v1)(uint64_t cycles);
/*
 * Called by a wrapper of a lock (below) that another has, once more for each `round` from 0 on. 1: others of this worker
 * have run, or it is time to look again. 0: the caller is no request, or in a section, and waits as threads do. It may
 * return on another thread only where the runtime's coroutines do so at waits. It must not unwind. Initially null, as if it
 * answered 0. Set it before any thread is armed.
 */
extern int (*caudal_probe_wait_hook_v1)(uint32_t round);
/*
 * Functions by which a runtime learns about a thread before requests run on it, for futex words that belong to the thread. Between the two
 * calls the thread waits once, and the second answers with the word (null: there was no futex wait, or not by libc's syscall).
 */
void caudal_learn_futex_v1(void);
const uint32_t *caudal_learnt_futex_v1(void);
/* This thread's std::thread::park (Rust) waits on `word`: several of its requests may at once from now on. */
void caudal_parker_is_v1(const uint32_t *word);
/* From where to where this thread has the thread-locals of the object that the library is in; both 0: it cannot be told. Two
 * requests that wait on the same word there end the process from now on: their queue is corrupt. */
void caudal_thread_locals_v1(uintptr_t bounds[2]);
/* Not 0: whatever arms a quantum makes all modes due at once, so that every probe yields. For tests. */
extern uint8_t caudal_probe_every_v1;

/* Starts a quantum: due `quantum` TSC cycles after the TSC value `now`, in modes clock and budget; forgets a pending
 * yield. UINT64_MAX: never due. The flag stays as it is. */
void caudal_probe_arm_v1(uint64_t now, uint64_t quantum);
/* Never due, in all modes; clears the flag, forgets a pending yield. */
void caudal_probe_disarm_v1(void);
/* The deadline that the last yield of this thread was due at (its hook finds UINT64_MAX in the block). Later than the
 * hook's `now`: it was nearly there, or the flag asked for it. */
uint64_t caudal_probe_due_v1(void);
/* How often this thread came into a cold entry, readings of the clock that found no yield due not counted. */
uint64_t caudal_probe_cold_visits_v1(void);

/*
 * Critical sections: between the two calls no probe yields; a yield that comes due is made up for at the exit of the
 * outermost section. The functions measure the outermost section with two readings of the clock; the inline versions
 * (below) do not. Sections nest; an exit is of the same kind as its enter.
 */
void caudal_critical_enter(void) __asm__("caudal_critical_enter_v1");
void caudal_critical_exit(void) __asm__("caudal_critical_exit_v1");
/* The depth, in both halves: 0 where probes may yield. And back to it, outwards only, for code that left sections
 * by longjmp: take the depth before setjmp, restore it where longjmp arrives. Reaching 0 is an exit. */
uint32_t caudal_critical_depth(void) __asm__("caudal_critical_depth_v1");
void caudal_critical_restore(uint32_t depth) __asm__("caudal_critical_restore_v1");

/* For a runtime, when a request has ended with its depth raised: this thread forgets the signal handlers that it has left without
 * returning from them, so that the next request on that stack is not taken for the one that they interrupted. */
void caudal_forget_handlers_v1(void);
/* The same for the recursive, error-checking and robust mutexes that the request has kept; its stack ended at `stack_high`. The next
 * thread that locks a robust one is told EOWNERDEAD, as where a thread has ended; nobody gets the others any more. */
void caudal_request_ended_v1(uint64_t stack_high);

/*
 * The recorder: stands in for a runtime where there is none. Arms this thread with `quantum_cycles`; every yield stores
 * its TSC value in `buffer`, up to `capacity` of them, and the next quantum starts at that value. Whatever stack the
 * thread is on counts as the coroutine's. Returns 0, or -1 where a runtime has set its own hook (nothing is then done).
 */
int caudal_probe_record_start(uint64_t *buffer, size_t capacity, uint64_t quantum_cycles)
    __asm__("caudal_probe_record_start_v1");
/* Stops; the number of yields since the start, those that found the buffer full included. */
size_t caudal_probe_record_stop(void) __asm__("caudal_probe_record_stop_v1");

/* The time-stamp counter. Not ordered with the instructions around it. */
static inline uint64_t caudal_probe_rdtsc(void)
{
    uint32_t low, high;
    __asm__ __volatile__("rdtsc" : "=a"(low), "=d"(high));
    return (uint64_t)high << 32 | low;
}

/*
 * Probes for source code. Thread-local memory is reached anew by each, never through an address that a compiler may
 * have kept: the hook may return on another thread.
 */
static inline uint64_t caudal_probe_offset(void)
{
    uint64_t offset; /* from the thread pointer; the same in all threads, so a compiler may keep it */
    __asm__("movq caudal_probe_v1@GOTTPOFF(%%rip), %0" : "=r"(offset));
    return offset;
}

static inline uint64_t caudal_flag_offset(void)
{
    uint64_t offset;
    __asm__("movq caudal_flag_v1@GOTTPOFF(%%rip), %0" : "=r"(offset));
    return offset;
}

static inline int caudal_probe_is_due_clock(void)
{
    int due;
    __asm__ __volatile__("cmpq %%fs:%c2(%1), %3"
                         : "=@ccae"(due)
                         : "r"(caudal_probe_offset()), "i"(CAUDAL_PROBE_DEADLINE), "r"(caudal_probe_rdtsc())
                         : "memory");
    return due;
}

static inline int caudal_probe_is_due_budget(int64_t cost)
{
    int due;
    __asm__ __volatile__("subq %3, %%fs:%c2(%1)"
                         : "=@ccs"(due)
                         : "r"(caudal_probe_offset()), "i"(CAUDAL_PROBE_BUDGET_LEFT), "er"(cost)
                         : "memory");
    return due;
}

static inline int caudal_probe_is_due_flag(void)
{
    int due;
    __asm__ __volatile__("cmpb $0, %%fs:%c2(%1)"
                         : "=@ccne"(due)
                         : "r"(caudal_flag_offset()), "i"(CAUDAL_FLAG_ASKED)
                         : "memory");
    return due;
}

#define CAUDAL_PROBE_WHEN(due, cold)      \
    do {                                  \
        if (__builtin_expect((due), 0)) { \
            cold();                       \
        }                                 \
    } while (0)
/* Due when the clock has reached the deadline: a clock reading each. */
#define CAUDAL_PROBE_CLOCK() CAUDAL_PROBE_WHEN(caudal_probe_is_due_clock(), caudal_probe_call_clock_v1)
/* Due when the cost units spent are more than the budget. `cost`: units since the last probe, at least 0. A unit is
 * what the instrumenter makes it, about one cycle at best; all of a thread's probes must mean the same. */
#define CAUDAL_PROBE_BUDGET(cost) CAUDAL_PROBE_WHEN(caudal_probe_is_due_budget(cost), caudal_probe_call_budget_v1)
/* Due when another thread has set this one's flag. */
#define CAUDAL_PROBE_FLAG() CAUDAL_PROBE_WHEN(caudal_probe_is_due_flag(), caudal_probe_call_flag_v1)

/* caudal_critical_enter() and _exit() without a call and without measuring. */
static inline void caudal_critical_enter_inline(void)
{
    __asm__ __volatile__("addl $1, %%fs:%c1(%0)" : : "r"(caudal_probe_offset()), "i"(CAUDAL_PROBE_DEPTH) : "memory", "cc");
}

static inline void caudal_critical_exit_inline(void)
{
    int outermost, pending;
    __asm__ __volatile__("subl $1, %%fs:%c2(%1)"
                         : "=@ccz"(outermost)
                         : "r"(caudal_probe_offset()), "i"(CAUDAL_PROBE_DEPTH)
                         : "memory");
    if (outermost) {
        __asm__ __volatile__("cmpl $0, %%fs:%c2(%1)"
                             : "=@ccne"(pending)
                             : "r"(caudal_probe_offset()), "i"(CAUDAL_PROBE_PENDING));
        if (__builtin_expect(pending, 0)) {
            caudal_probe_call_exit_v1();
        }
    }
}

/*
 * In front of a function: it, and all that it calls, is one critical section; for code that the probe pass instruments.
 * Without the pass it says nothing. It is not inlined: in another function nobody would know it again.
 */
#if defined(__clang__)
#define caudal_nopreempt __attribute__((annotate("caudal_nopreempt"), noinline))
#else
#define caudal_nopreempt
#endif

/*
 * Besides the above the library has what the probe pass redirects calls to: caudal_wrap_NAME_v1 for functions NAME of the
 * C library and the C++ runtime that lock, stdio's among them, with NAME's own parameters. docs/background/preemption-safety.md says what they do.
 */

#if defined(__cplusplus)
} /* extern "C" */

namespace caudal {
/* A critical section as long as the object lives; an exception that passes through leaves it. */
class critical_section {
public:
    critical_section() { caudal_critical_enter(); }
    ~critical_section() { caudal_critical_exit(); }

private:
    critical_section(const critical_section &);
    critical_section &operator=(const critical_section &);
};
} // namespace caudal
#endif

#endif /* !__ASSEMBLER__ */
#endif /* CAUDAL_PROBE_H */
