// Nothing yields in an allocator, however many files it has: what its entry points call in other modules, or through pointers, has
// probes that do not yield meanwhile, and what came due there is made up for by the next probe outside. A lock that one of its files
// takes and another gives back leaves nothing behind.
// RUN: %clang %with '-caudal-probes=tls=local-exec;verify' -O2 -DENTRY -c %s -o %t.entry.o
// RUN: %clang %with '-caudal-probes=tls=local-exec;verify' -O2 -DPARTS -c %s -o %t.parts.o
// RUN: %clang %with '-caudal-probes=tls=local-exec;verify' %include -O2 -c %s -o %t.program.o
// RUN: %clang %t.program.o %t.entry.o %t.parts.o %every -o %t && %t | FileCheck %s
// CHECK: within 0, outside {{[1-9]}}
#include <pthread.h>
#include <stddef.h>

struct part {
  struct part *next;
};

#ifdef ENTRY

struct part *find_part(struct part *first, size_t size);
extern pthread_mutex_t mutex;
extern void (*given_back)(struct part *);
extern volatile int within_allocator;
static struct part parts[64];

void *mi_malloc(size_t size) {
  within_allocator = 1;
  void *found = find_part(parts, size);
  pthread_mutex_unlock(&mutex);
  within_allocator = 0;
  return found;
}

void mi_free(void *part) {
  within_allocator = 1;
  given_back(part);
  within_allocator = 0;
}

#elif defined PARTS

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

// Long enough for probes.
struct part *find_part(struct part *first, size_t size) {
  pthread_mutex_lock(&mutex);
  for (size_t i = 0; i < size; i++) {
    first[i % 63].next = &first[i % 63 + 1];
    __asm__ volatile("" : : : "memory");
  }
  return &first[size % 64];
}

static void give_back(struct part *part) {
  for (volatile int i = 0; i < 100; i++)
    part->next = NULL;
}

void (*given_back)(struct part *) = give_back;

#else

#include "caudal/probe.h"
#include <stdio.h>

void *mi_malloc(size_t size);
void mi_free(void *);
volatile int within_allocator;
static unsigned long within, outside;
static void (*others)(uint64_t);

static void count(uint64_t now) {
  within_allocator ? within++ : outside++;
  others(now);
}

int main(void) {
  others = caudal_probe_hook_v1;
  caudal_probe_hook_v1 = count;
  for (volatile size_t i = 0; i < 100; i++)
    mi_free(mi_malloc(100 + i));
  printf("within %lu, outside %lu\n", within, outside);
  return 0;
}

#endif
