// Values of every register class live across probes: x87, vectors of all widths, 128-bit integers, thread-locals, alloca.
// RUN: %same %s
// RUN: %same %s -- -march=native
#include <alloca.h>
#include <stdio.h>
#include <string.h>

typedef float f16 __attribute__((vector_size(64)));
typedef double d4 __attribute__((vector_size(32)));
typedef int i4 __attribute__((vector_size(16)));
static _Thread_local long own[4];
static long x87_and_vectors(int n) {
  long double a = 1, b = 2, c = 3;
  f16 f = {1, 2, 3, 4, 5, 6, 7, 8};
  d4 d = {1, 2, 3, 4};
  i4 i = {1, 2, 3, 4};
  unsigned __int128 w = 1;
  for (int k = 0; k < n; k++) {
    a = a * 0.5L + k;
    b = b - a / 3;
    c += a * b;
    f = f * 0.5f + (float)k;
    d += d * 0.25;
    i = i * 3 + k;
    w = w * 0x123456789abcdef1u + (unsigned)k;
    own[k & 3] += k;
    if ((k & 31) == 31) d = (d4){(double)f[3], d[0], 1, d[2] * 0.001};
  }
  float fs[16];
  memcpy(fs, &f, sizeof fs);
  double sum = (double)(a + b) + (double)c * 1e-6 + d[0] + d[3];
  for (int k = 0; k < 16; k++) sum += (double)fs[k];
  return (long)(sum * 1000) ^ i[0] ^ i[3] ^ (long)(w >> 64) ^ (long)w ^ own[n & 3];
}
__attribute__((noinline)) static int dynamic(int n) {
  int sum = 0;
  for (int i = 1; i < n; i++) {
    char *text = alloca((unsigned)(i & 15) + 1);
    memset(text, 'a' + i % 26, (unsigned)(i & 15));
    text[i & 15] = 0;
    int many[i & 31 ? i & 31 : 1];
    for (int k = 0; k < (i & 31); k++) many[k] = text[0] + k;
    for (int k = 0; k < (i & 31); k++) sum = sum * 3 + many[k];
    sum += (int)strlen(text);
  }
  return sum;
}
int main(void) {
  long sum = 0;
  for (int n = 0; n < 150; n++) sum = (long)((unsigned long)sum * 31u) + x87_and_vectors(n);
  printf("%ld %u\n", sum, (unsigned)dynamic(200));
  return 0;
}
