// Atomics between threads, each with a yield at every probe: a lock, counters, a ring.
// RUN: %same %s
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

void caudal_test_arm_thread(void) __attribute__((weak));
static atomic_int lock;
static atomic_ulong counter;
static unsigned long guarded;
static _Thread_local unsigned own;
static _Atomic unsigned ring[64];
static atomic_uint written, taken;

static void enter(void) {
  int expected = 0;
  while (!atomic_compare_exchange_weak_explicit(&lock, &expected, 1, memory_order_acquire, memory_order_relaxed)) expected = 0;
}
static void leave(void) { atomic_store_explicit(&lock, 0, memory_order_release); }

static void *work(void *argument) {
  if (caudal_test_arm_thread) caudal_test_arm_thread();
  unsigned long seed = (unsigned long)argument;
  for (unsigned i = 0; i < 2000; i++) {
    seed = seed * 6364136223846793005u + 1;
    atomic_fetch_add(&counter, seed >> 60);
    enter();
    guarded += seed >> 60;
    leave();
    own++;
    atomic_thread_fence(memory_order_seq_cst);
  }
  return (void *)(unsigned long)own;
}
static void *write_ring(void *unused) {
  if (caudal_test_arm_thread) caudal_test_arm_thread();
  for (unsigned i = 0; i < 3000; i++) {
    while (i - atomic_load_explicit(&taken, memory_order_acquire) >= 64) sched_yield();
    atomic_store_explicit(&ring[i % 64], i * 7, memory_order_relaxed);
    atomic_store_explicit(&written, i + 1, memory_order_release);
  }
  return 0;
}

int main(void) {
  pthread_t threads[3];
  unsigned long owned = 0, sum = 0;
  for (unsigned long i = 0; i < 2; i++) pthread_create(&threads[i], 0, work, (void *)(i + 1));
  pthread_create(&threads[2], 0, write_ring, 0);
  for (unsigned i = 0; i < 3000; i++) {
    while (atomic_load_explicit(&written, memory_order_acquire) <= i) sched_yield();
    sum = sum * 31 + atomic_load_explicit(&ring[i % 64], memory_order_relaxed);
    atomic_store_explicit(&taken, i + 1, memory_order_release);
  }
  for (unsigned i = 0; i < 3; i++) {
    void *result;
    pthread_join(threads[i], &result);
    owned += (unsigned long)result;
  }
  printf("%lu %lu %lu %lu %u\n", (unsigned long)counter, guarded, owned, sum, own);
  return 0;
}
