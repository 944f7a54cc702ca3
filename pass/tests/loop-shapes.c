// Counted inner loops are left where they were left before, and keep to the bound: up and down, by one and by more, pointers, tests
// the other way around, two in sequence, one that is bounded only through the loop around it, one behind a computed goto.
// RUN: %clang -O2 -c %s -o %t.plain.o
// RUN: %clang -DMAIN %s %t.plain.o -o %t.plain && %t.plain > %t.expected
// RUN: %clang -O2 -c %s -o %t.o %with '-caudal-probes=verify'
// RUN: %clang -DMAIN %s %t.o %every -o %t.probed && %t.probed > %t.out && diff %t.expected %t.out
// RUN: %clang -O2 -c %s -o %t.64.o %with '-caudal-probes=bound=64;verify'
// RUN: %clang -DMAIN %s %t.64.o %every -o %t.64 && %t.64 > %t.out && diff %t.expected %t.out
// RUN: %clang -O2 -c %s -o %t.clock.o %with '-caudal-probes=mode=clock;verify'
// RUN: %clang -DMAIN %s %t.clock.o %every -o %t.clock && %t.clock > %t.out && diff %t.expected %t.out
#define ROW(i) ((i) * 7 % 41)

#ifdef MAIN
#include <stdio.h>
#include <stdlib.h>
long up(const int *, long), down(const int *, long), by_two(const int *, long), pointers(const int *, long);
long in_sequence(const int *, long), behind_goto(const int *, long), triangle(const int *, long);
static void show(const char *name, long (*function)(const int *, long)) {
  int *values = malloc(4096 * sizeof *values);
  for (int i = 0; i < 4096; i++) values[i] = i * 2654435761u >> 17;
  for (long rows = 0; rows < 130; rows++) printf("%s %ld: %ld\n", name, rows, function(values, rows));
  free(values);
}
int main(void) {
  show("up", up), show("down", down), show("by_two", by_two), show("pointers", pointers);
  show("in_sequence", in_sequence), show("behind_goto", behind_goto), show("triangle", triangle);
}
#else
// What the optimiser can neither vectorise nor sum up.
static inline long step(long sum, int value) { return (sum ^ value) * 40503; }

#define UNROLL_NOT _Pragma("clang loop unroll(disable) vectorize(disable)")

long up(const int *v, long rows) {
  long sum = 0;
  for (long r = 0; r < rows; r++) {
    UNROLL_NOT for (long i = r; i < r + ROW(r); i++) sum = step(sum, v[i]);
  }
  return sum;
}

long down(const int *v, long rows) {
  long sum = 0;
  for (long r = 0; r < rows; r++) {
    UNROLL_NOT for (long i = r + ROW(r); i != r; i--) sum = step(sum, v[i]);
  }
  return sum;
}

long by_two(const int *v, long rows) {
  long sum = 0;
  for (long r = 0; r < rows; r++) {
    UNROLL_NOT for (long i = 2 * ROW(r); i != 0; i -= 2) sum = step(sum, v[i]);
  }
  return sum;
}

long pointers(const int *v, long rows) {
  long sum = 0;
  for (long r = 0; r < rows; r++) {
    const int *end = v + r + ROW(r);
    UNROLL_NOT for (const int *p = v + r; end != p; p++) sum = step(sum, *p);
  }
  return sum;
}

// What the first one ends with is what the second one begins with.
long in_sequence(const int *v, long rows) {
  long sum = 0;
  for (long r = 0; r < rows; r++) {
    long i = r;
    UNROLL_NOT for (; i < r + ROW(r); i++) sum = step(sum, v[i]);
    UNROLL_NOT for (long k = i + ROW(r + 3); i != k; i++) sum = step(sum, v[i]);
  }
  return sum;
}

long behind_goto(const int *v, long rows) {
  static void *const ways[] = {&&one, &&other};
  long sum = 0, r = 0;
  if (rows == 0) return 0;
again:
  goto *ways[v[r] & 1];
one:
  UNROLL_NOT for (long i = r; i < r + ROW(r); i++) sum = step(sum, v[i]);
  if (++r < rows) goto again;
  return sum;
other:
  sum += v[r];
  if (++r < rows) goto again;
  return sum;
}

// The inner loop is bounded only because the outer one is.
long triangle(const int *v, long rows) {
  long sum = 0;
  for (long r = 0; r < rows && r < 40; r++) {
    UNROLL_NOT for (long i = 0; i < r; i++) sum = step(sum, v[i]);
  }
  return sum;
}
#endif
