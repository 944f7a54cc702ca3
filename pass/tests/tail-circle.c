// Machines whose states are functions that end in calls of each other run in no more stack than without probes, however often they
// go around: in two functions, in three that also call themselves, with a state that is called through a pointer, and in one that
// others may call. With a yield at every probe as well.
// RUN: %clang -O2 %s -pthread -o %t.plain && %t.plain > %t.expected
// RUN: %clang -O2 -pthread %s %every -o %t %with '-caudal-probes=mode=budget;verify' && %t > %t.out && cmp %t.out %t.expected
// RUN: %clang -O2 -pthread %s %every -o %t %with '-caudal-probes=mode=flag;verify' && %t > %t.out && cmp %t.out %t.expected
// RUN: %clang -O2 -pthread %s %every -o %t %with '-caudal-probes=mode=clock;verify' && %t > %t.out && cmp %t.out %t.expected
// RUN: %clang -Os -pthread %s %every -o %t %with '-caudal-probes=mode=budget;bound=64;verify' && %t > %t.out && cmp %t.out %t.expected
// RUN: echo alone > %t.list
// RUN: %clang -O2 -pthread %s %every -o %t %with '-caudal-probes=mode=budget;exclude=%t.list;verify' && %t > %t.out && cmp %t.out %t.expected
// RUN: %clang -O2 -S %s -o - %with '-caudal-probes=mode=budget;verify' | FileCheck %s
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>

#define ROUNDS 3000000
#define APART __attribute__((noinline))

APART static uint64_t odd(uint64_t left, uint64_t sum);
// CHECK-LABEL: even:
// CHECK: jmp odd
APART static uint64_t even(uint64_t left, uint64_t sum) { return left == 0 ? sum : odd(left - 1, sum * 33 + 1); }
// CHECK-LABEL: odd:
// CHECK: jmp even
APART static uint64_t odd(uint64_t left, uint64_t sum) { return left == 0 ? ~sum : even(left - 1, sum ^ sum >> 7); }

struct scanner {
    const char *at;
    uint64_t left, sum, open[4];
};

APART static uint64_t in_text(struct scanner *scanner);
APART static uint64_t in_tag(struct scanner *scanner);
APART static uint64_t in_name(struct scanner *scanner);

static char next(struct scanner *scanner)
{
    static const char text[] = "a<b c=\"d\">x&lt;y</b>\n";
    scanner->at = scanner->at && *scanner->at ? scanner->at + 1 : text;
    return scanner->left-- ? *scanner->at : 1;
}

static uint64_t in_text(struct scanner *scanner)
{
    for (;;) {
        switch (next(scanner)) {
        case 1: return scanner->sum;
        case '<': scanner->open[scanner->sum & 3]++; return in_tag(scanner);
        case '&': scanner->sum += 7; return in_name(scanner);
        default: scanner->sum++;
        }
    }
}

static uint64_t in_tag(struct scanner *scanner)
{
    for (;;) {
        switch (next(scanner)) {
        case 1: return ~scanner->sum;
        case '>': scanner->sum += scanner->open[scanner->sum & 3]; return in_text(scanner);
        case '&': return in_name(scanner);
        default: scanner->sum += 2;
        }
    }
}

static uint64_t in_name(struct scanner *scanner)
{
    for (;;) {
        switch (next(scanner)) {
        case 1: return scanner->sum * 5;
        case ';': return in_text(scanner);
        case '<': return in_tag(scanner);
        default: scanner->sum += 4;
        }
    }
}

/* Who is called is known to nobody, and each of the two is called by the other as well, in front of its end. */
struct machine {
    uint64_t (*then)(struct machine *, uint64_t);
    uint64_t left;
};

APART uint64_t nested(struct machine *machine, uint64_t sum);

APART uint64_t step(struct machine *machine, uint64_t sum)
{
    if (machine->left-- == 0) {
        return sum;
    }
    if (machine->left % 65536 == 7) {
        static struct machine inner;
        inner = (struct machine){step, 3};
        sum += nested(&inner, sum);
    }
    return machine->then(machine, sum * 3 + 1);
}

uint64_t nested(struct machine *machine, uint64_t sum)
{
    return step(machine, sum ^ 5) + 1;
}

/* On the path around are functions that only this module calls, which the optimiser gives another convention, and one that is on no circle
 * that this module knows of. */
APART static uint64_t dispatch(struct machine *machine, uint64_t sum) { return machine->then(machine, sum ^ sum >> 3); }

APART uint64_t again(struct machine *machine, uint64_t sum);

APART static uint64_t forward(struct machine *machine, uint64_t sum)
{
    return sum & 1 ? again(machine, sum + 7) : dispatch(machine, sum + 9);
}

uint64_t again(struct machine *machine, uint64_t sum)
{
    return machine->left-- == 0 ? sum : forward(machine, sum * 5);
}

/* One of the jumps is written. */
APART static uint64_t unwritten(uint64_t left, uint64_t sum);
APART static uint64_t written(uint64_t left, uint64_t sum)
{
    if (left == 0) {
        return sum;
    }
    __attribute__((musttail)) return unwritten(left - 1, sum * 7 + 3);
}
static uint64_t unwritten(uint64_t left, uint64_t sum) { return left == 0 ? ~sum : written(left - 1, sum ^ sum >> 5); }

/* The path around leads through one that is left alone. */
APART uint64_t alone(uint64_t left, uint64_t sum);
APART uint64_t beside(uint64_t left, uint64_t sum)
{
    if (left % 65536 == 7) {
        sum += beside(3, sum);
    }
    return left == 0 ? sum : alone(left - 1, sum * 9 + 1);
}
uint64_t alone(uint64_t left, uint64_t sum) { return left == 0 ? ~sum : beside(left - 1, sum ^ sum >> 9); }

static void *run(void *ignored)
{
    struct scanner scanner = {.left = ROUNDS};
    struct machine machine = {step, ROUNDS}, other = {again, ROUNDS};
    printf("%llu\n", (unsigned long long)even(ROUNDS, 1));
    printf("%llu\n", (unsigned long long)in_text(&scanner));
    printf("%llu\n", (unsigned long long)step(&machine, 2));
    printf("%llu\n", (unsigned long long)again(&other, 2));
    printf("%llu\n", (unsigned long long)written(ROUNDS, 3));
    printf("%llu\n", (unsigned long long)beside(ROUNDS, 3));
    return ignored;
}

int main(void)
{
    pthread_attr_t small;
    pthread_t thread;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 256 << 10);
    return pthread_create(&thread, &small, run, NULL) || pthread_join(thread, NULL);
}
