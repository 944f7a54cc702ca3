// Computed goto: loops that are entered by indirect jumps, where nothing can be put on an edge.
// RUN: %same %s
#include <stdio.h>

__attribute__((noinline)) static unsigned long run(const unsigned char *code, unsigned long x) {
  static const void *const to[] = {&&end, &&add, &&loop, &&shift, &&back, &&walk};
  unsigned at = 0;
  unsigned fuel = 0;
#define NEXT if (++fuel > 3000) goto end; goto *to[code[at++ & 15] % 6]
  NEXT;
add:
  x += code[at++ & 15];
  NEXT;
loop:
  for (unsigned i = 0; i < (x & 63); i++) x = x * 31 + i;
  NEXT;
shift:
  x ^= x >> 7;
  x *= 0x9e3779b97f4a7c15u;
  NEXT;
back:
  if (x & 3) at = 0;
  NEXT;
walk:
  do {
    x = x * 5 + 1;
    if (x & 1024) goto *to[1 + (x & 2)];
  } while (x & 16);
  NEXT;
end:
  return x + fuel;
}

int main(void) {
  static const unsigned char code[][16] = {{1, 3, 2, 3, 5, 1, 9, 4, 0, 0}, {3, 3, 2, 5, 4, 1, 1, 0, 0}, {2, 2, 2, 4, 5, 3, 0, 0, 0}};
  unsigned long sum = 0;
  for (unsigned i = 0; i < 90; i++) sum = sum * 3 + run(code[i % 3], i * 1234567);
  printf("%lx\n", sum);
  return 0;
}
