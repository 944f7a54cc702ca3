#include <stdio.h>
#include <stdint.h>
#include <stdlib.h>

#define REPS 1000
#define N 5000

struct node {
    int value;
    struct node *next;
};

static uint64_t seed = 88172645463325252ull;

static uint32_t rnd(void)
{
    seed = seed * 6364136223846793005ull + 1442695040888963407ull;
    return (uint32_t)(seed >> 33);
}

static struct node *push(struct node *head, int v)
{
    struct node *n = malloc(sizeof *n);
    if (!n)
        abort();
    n->value = v;
    n->next = head;
    return n;
}

static struct node *reverse(struct node *h)
{
    struct node *prev = NULL;
    while (h) {
        struct node *next = h->next;
        h->next = prev;
        prev = h;
        h = next;
    }
    return prev;
}

static struct node *merge(struct node *a, struct node *b)
{
    struct node dummy, *tail = &dummy;
    while (a && b) {
        if (a->value <= b->value) {
            tail->next = a;
            a = a->next;
        } else {
            tail->next = b;
            b = b->next;
        }
        tail = tail->next;
    }
    tail->next = a ? a : b;
    return dummy.next;
}

static struct node *merge_sort(struct node *h)
{
    if (!h || !h->next)
        return h;
    struct node *slow = h, *fast = h->next;
    while (fast && fast->next) {
        slow = slow->next;
        fast = fast->next->next;
    }
    struct node *second = slow->next;
    slow->next = NULL;
    return merge(merge_sort(h), merge_sort(second));
}

static struct node *remove_if_multiple(struct node *h, int k)
{
    struct node **pp = &h;
    while (*pp) {
        struct node *n = *pp;
        if (n->value % k == 0) {
            *pp = n->next;
            free(n);
        } else {
            pp = &n->next;
        }
    }
    return h;
}

static void destroy(struct node *h)
{
    while (h) {
        struct node *n = h->next;
        free(h);
        h = n;
    }
}

int main(void)
{
    uint64_t sum = 0;
    for (int r = 0; r < REPS; r++) {
        struct node *h = NULL;
        for (int i = 0; i < N; i++)
            h = push(h, (int)(rnd() % 100000));
        h = merge_sort(h);
        h = reverse(h);
        h = remove_if_multiple(h, 3 + r % 5);
        int pos = 0;
        for (struct node *p = h; p; p = p->next)
            sum += (uint64_t)p->value * (uint64_t)(++pos);
        destroy(h);
    }
    printf("linkedlist %llu\n", (unsigned long long)sum);
    return 0;
}
