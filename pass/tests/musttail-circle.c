// A recursive function that others may call and that ends in a jump through a pointer: what it is held to is what every function keeps
// to, for its callers know no more.
// RUN: %clang -O2 -c %s -o /dev/null %with '-caudal-probes=mode=budget;verify'
#include <stdlib.h>

struct step {
    struct step *next;
    void (*resume)(struct step *);
    int left;
};

void resume(struct step *step)
{
    if (step->left) {
        struct step *inner = malloc(sizeof *inner);
        inner->next = step;
        inner->resume = resume;
        inner->left = step->left - 1;
        resume(inner);
        step->left++;
    }
    struct step *next = step->next;
    __attribute__((musttail)) return next->resume(next);
}
