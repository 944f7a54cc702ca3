/*
 * Two requests on one thread, in turns: the other's turn begins at every probe, and wherever one waits for a lock or a
 * condition. Each must answer what it answers alone. What their library shares between them, and with threads of its own,
 * shows here.
 *
 *     main ──▶ request 0 ──probe──▶ request 1 ──probe──▶ request 0 ──wait──▶ request 1 … both done ──▶ main
 */
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <sys/mman.h>

#include "caudal/probe.h"
#include "input.h"
#include "request.h"

enum { REQUESTS = 2, STACK = 4 << 20 };

/* What is a coroutine's own of the thread's block, and where it goes on. */
struct coroutine {
    void *stack_pointer;
    uint64_t stack_low, stack_high;
    uint32_t depth, pending;
    uint64_t answer;
    int done;
};

static struct coroutine requests[REQUESTS], scheduler;
static struct coroutine *running = &scheduler;
static unsigned long turns;
static int percent;

void program_waits(int begins) { (void)begins; }

/*
 * Keeps what a called function keeps on the stack that is left, and takes it from the other:
 *
 *     stack pointer ▶ r15 r14 r13 r12 rbx rbp, return address
 */
void switch_stack(void **left, void *entered);
__asm__(".text\n"
        ".type switch_stack, @function\n"
        "switch_stack:\n\t"
        "pushq %rbp\n\tpushq %rbx\n\tpushq %r12\n\tpushq %r13\n\tpushq %r14\n\tpushq %r15\n\t"
        "movq %rsp, (%rdi)\n\t"
        "movq %rsi, %rsp\n\t"
        "popq %r15\n\tpopq %r14\n\tpopq %r13\n\tpopq %r12\n\tpopq %rbx\n\tpopq %rbp\n\t"
        "ret\n"
        ".size switch_stack, .-switch_stack\n");

static void turn_to(struct coroutine *next)
{
    struct coroutine *before = running;
    struct caudal_probe *block = &caudal_probe_v1;
    before->depth = block->depth;
    before->pending = block->pending;
    running = next;
    turns++;
    switch_stack(&before->stack_pointer, next->stack_pointer);
    /* It is the turn of `before` again. */
    block->stack_low = before->stack_low;
    block->stack_high = before->stack_high;
    block->depth = before->depth;
    block->pending = before->pending;
}

static struct coroutine *other(void) { return &requests[running == &requests[0]]; }

static void arm(uint64_t now)
{
    uint32_t pending = caudal_probe_v1.pending;
    caudal_probe_arm_v1(now, 1);
    caudal_probe_v1.pending = pending;
    caudal_probe_v1.credit = -1;
}

static void hook(uint64_t now)
{
    if (!other()->done) {
        turn_to(other());
    }
    arm(now);
}

/* The library's own threads, and the requests alone, wait as threads do. */
static int wait_hook(uint32_t round)
{
    if (running == &scheduler || caudal_probe_v1.stack_high == 0 || caudal_probe_v1.depth & CAUDAL_PROBE_SECTIONS ||
        other()->done) {
        return 0;
    }
    if (round != UINT32_MAX) {
        /* What both wait for may be a thread's. */
        sched_yield();
        turn_to(other());
    }
    return 1;
}

static void begin(void)
{
    struct coroutine *me = running;
    struct caudal_probe *block = &caudal_probe_v1;
    block->stack_low = me->stack_low;
    block->stack_high = me->stack_high;
    block->depth = block->pending = 0;
    arm(caudal_probe_rdtsc());
    me->answer = request(31 + (uint64_t)(me - requests), percent);
    me->done = 1;
    turn_to(other()->done ? &scheduler : other());
}

static void prepare(struct coroutine *c)
{
    char *stack = mmap(NULL, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (stack == MAP_FAILED) {
        perror("mmap");
        exit(1);
    }
    /* Six registers, begin()'s address, and a return address that is never taken. */
    void **top = (void **)(stack + STACK) - 8;
    top[6] = (void *)begin;
    c->stack_pointer = top;
    c->stack_low = (uint64_t)(uintptr_t)stack;
    c->stack_high = c->stack_low + STACK;
}

int main(int argc, char **argv)
{
    percent = scaled_rounds(argc, argv, 100);
    uint64_t alone[REQUESTS];
    for (int i = 0; i < REQUESTS; i++) {
        alone[i] = request(31 + (uint64_t)i, percent);
        prepare(&requests[i]);
    }
    caudal_probe_hook_v1 = hook;
    caudal_probe_wait_hook_v1 = wait_hook;
    caudal_probe_every_v1 = 1;
    turn_to(&requests[0]);
    caudal_probe_disarm_v1();
    for (int i = 0; i < REQUESTS; i++) {
        if (requests[i].answer != alone[i]) {
            fprintf(stderr, "request %d answers %016" PRIx64 ", alone %016" PRIx64 "\n", i, requests[i].answer, alone[i]);
            return 1;
        }
    }
    if (turns < 1000) {
        fprintf(stderr, "there were no turns\n");
        return 1;
    }
    printf("%lu turns\n", turns);
    return 0;
}
