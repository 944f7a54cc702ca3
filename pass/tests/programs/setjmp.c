// setjmp's callers are left alone, their callees are not: longjmp out of a probed loop, sigsetjmp, and locals that changed.
// RUN: %same %s
#include <setjmp.h>
#include <stdio.h>

static jmp_buf place;
static sigjmp_buf other;

__attribute__((noinline)) static unsigned dig(unsigned x, int depth) {
  for (int i = 0; i < 50 + depth; i++) {
    x = x * 1664525 + 1013904223;
    if ((x >> 8) % 211 == 3) longjmp(place, (int)(x & 1023) + 1);
    if ((x >> 8) % 307 == 4) siglongjmp(other, (int)(x & 511) + 1);
  }
  return depth > 4 ? x : dig(x, depth + 1) ^ 5;
}

__attribute__((noinline)) static unsigned attempt(unsigned x) {
  volatile unsigned tries = 0;
  volatile unsigned kept = x;
  int from = sigsetjmp(other, 0);
  if (from) kept = kept * 3 + (unsigned)from;
  int value = setjmp(place);
  if (value) kept += (unsigned)value;
  if (++tries > 6) return kept;
  return dig(kept, 0) + tries;
}

int main(void) {
  unsigned sum = 0;
  for (unsigned i = 0; i < 300; i++) sum = sum * 31 + attempt(i * 77);
  printf("%u\n", sum);
  return 0;
}
