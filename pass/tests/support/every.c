/*
 * Linked into a program under test, makes every probe of its first thread yield, to a runtime as rude as the probe ABI
 * allows: each yield overwrites every register that a C function may, and the stack below it.
 *
 * From places that yield for the first time, a backtrace must lead to where the program began: of the first yields from all,
 * later from one in many. Not with CAUDAL_TEST_NO_BACKTRACES defined, for programs that have assembly or code made at run time
 * without tables to unwind by.
 *
 * At exit it says how many yields there were: at the end of the file that CAUDAL_TEST_YIELDS in the environment names, or else on
 * stderr. Nothing is printed on stdout: that is the program's own.
 */
#include "caudal/probe.h"

#include <stdio.h>
#include <stdlib.h>
#include <unwind.h>

static unsigned long yields;

static void overwrite_registers(void)
{
    __asm__ __volatile__("pcmpeqd %%xmm0, %%xmm0\n\t"
                         ".irp n, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15\n\t"
                         "movaps %%xmm0, %%xmm\\n\n\t"
                         ".endr\n\t"
                         "movq $-0x2152411021524111, %%rax\n\t"
                         ".irp n, rcx, rdx, rsi, rdi, r8, r9, r10, r11\n\t"
                         "movq %%rax, %%\\n\n\t"
                         ".endr"
                         :
                         :
                         : "rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "xmm0", "xmm1", "xmm2", "xmm3",
                           "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14",
                           "xmm15", "cc");
    if (__builtin_cpu_supports("avx")) {
        __asm__ __volatile__("vcmptrueps %%ymm0, %%ymm0, %%ymm0\n\t"
                             ".irp n, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15\n\t"
                             "vmovaps %%ymm0, %%ymm\\n\n\t"
                             ".endr\n\t"
                             "vzeroupper"
                             :
                             :
                             : "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10",
                               "xmm11", "xmm12", "xmm13", "xmm14", "xmm15");
    }
    if (__builtin_cpu_supports("avx512f")) {
        __asm__ __volatile__(".irp n, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31\n\t"
                             "vpternlogd $0xff, %%zmm\\n, %%zmm\\n, %%zmm\\n\n\t"
                             ".endr\n\t"
                             ".irp n, 1, 2, 3, 4, 5, 6, 7\n\t"
                             "kxnorw %%k\\n, %%k\\n, %%k\\n\n\t"
                             ".endr"
                             :
                             :
                             : "memory");
    }
}

static void overwrite_stack(void)
{
    volatile unsigned char below[2048];
    for (size_t i = 0; i < sizeof below; i++) {
        below[i] = 0xa5;
    }
}

/* A walk from frame to frame: up to `most` of them, the hash of their places, and where the last one's function begins. */
struct walk {
    unsigned most;
    uint64_t places;
    uintptr_t outermost;
};

static _Unwind_Reason_Code step(struct _Unwind_Context *frame, void *given)
{
    struct walk *walk = given;
    walk->places = (walk->places ^ _Unwind_GetIP(frame)) * 0x9e3779b97f4a7c15;
    walk->outermost = _Unwind_GetRegionStart(frame);
    return --walk->most == 0 ? _URC_NORMAL_STOP : _URC_NO_REASON;
}

static struct walk walked(unsigned most)
{
    struct walk walk = {.most = most};
    _Unwind_Backtrace(step, &walk);
    return walk;
}

static _Thread_local uintptr_t beginning;

#ifdef CAUDAL_TEST_NO_BACKTRACES
static void check_backtrace(void) {}
#else
static void check_backtrace(void)
{
    /* The hook, what called it, the probe's function and its callers. */
    enum { FRAMES = 8, ROOM = 1 << 14 };
    static _Thread_local uint64_t seen[ROOM];
    static _Thread_local unsigned places;
    uint64_t hash = walked(FRAMES).places | 1;
    unsigned at = (hash >> 40) % ROOM;
    while (seen[at] != 0 && seen[at] != hash) {
        at = (at + 1) % ROOM;
    }
    if (seen[at] == hash || places > ROOM / 2) {
        return;
    }
    seen[at] = hash;
    places++;
    if (walked(1 << 20).outermost != beginning) {
        fprintf(stderr, "a backtrace from a probe does not lead to the program's beginning\n");
        abort();
    }
}
#endif

static void arm(uint64_t now)
{
    caudal_probe_arm_v1(now, 1);
}

static void hook(uint64_t now)
{
    if (yields++ < 20000 || yields % 61 == 0) {
        check_backtrace();
    }
    overwrite_stack();
    overwrite_registers();
    arm(now);
}

/* For threads of the program's own, too. */
void caudal_test_arm_thread(void)
{
    beginning = walked(1 << 20).outermost;
    caudal_probe_v1.stack_low = 0;
    caudal_probe_v1.stack_high = UINT64_MAX;
    arm(caudal_probe_rdtsc());
}

__attribute__((constructor(101))) static void begin(void)
{
    __builtin_cpu_init();
    caudal_probe_hook_v1 = hook;
    caudal_probe_every_v1 = 1;
    caudal_test_arm_thread();
}

__attribute__((destructor)) static void end(void)
{
    caudal_probe_disarm_v1();
    const char *name = getenv("CAUDAL_TEST_YIELDS");
    FILE *file = name == NULL ? stderr : fopen(name, "ae");
    if (file != NULL) {
        fprintf(file, "yields: %lu\n", yields);
        fflush(file);
    }
}
