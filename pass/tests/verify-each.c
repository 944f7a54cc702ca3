// The module is well-formed behind the pass, at every level, in every mode, with the smallest bound too.
// RUN: %clang -O0 -S -emit-llvm %s -o %t.0.ll
// RUN: %clang -O1 -S -emit-llvm %s -o %t.1.ll
// RUN: %clang -O3 -S -emit-llvm %s -o %t.3.ll
// RUN: %probes -verify-each -passes='caudal-probes<mode=budget;bound=16>,verify' %t.0.ll -o /dev/null
// RUN: %probes -verify-each -passes='caudal-probes<mode=budget;bound=16>,verify' %t.1.ll -o /dev/null
// RUN: %probes -verify-each -passes='caudal-probes<mode=budget;bound=16>,verify' %t.3.ll -o /dev/null
// RUN: %probes -verify-each -passes='caudal-probes<mode=clock;verify>,verify' %t.0.ll -o /dev/null
// RUN: %probes -verify-each -passes='caudal-probes<mode=clock;verify>,verify' %t.1.ll -o /dev/null
// RUN: %probes -verify-each -passes='caudal-probes<mode=flag;bound=1000;verify>,verify' %t.3.ll -o /dev/null
#include <stddef.h>
double dot(const double *a, const double *b, size_t n) {
  double sum = 0;
  for (size_t i = 0; i < n; i++) sum += a[i] * b[i];
  return sum;
}
void product(double *c, const double *a, const double *b, int n) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      double sum = 0;
      for (int k = 0; k < n; k++) sum += a[i * n + k] * b[k * n + j];
      c[i * n + j] = sum;
    }
}
void copy(char *restrict to, const char *restrict from, unsigned n) {
  for (unsigned i = 0; i < n; i++) to[i] = from[i] ^ 0x55;
}
char *end(char *text) {
  while (*text && *text != '\n') text++;
  return text;
}
unsigned bits(unsigned short from, unsigned short to) {
  unsigned sum = 0;
  for (unsigned short i = from; i != to; i -= 3) sum += (unsigned)__builtin_popcount(i);
  return sum;
}
