// A program's own numbered labels stay its own, also where a probe stands between a label and who refers to it.
// RUN: %clang -O2 -c %s -o %t.o %with '-caudal-probes=verify'
// RUN: %clang -O2 -c %s -o %t.plain.o
// RUN: %clang -DMAIN %s %t.plain.o -o %t.plain && %t.plain
// RUN: %clang -DMAIN %s %t.o %every -o %t.probed && %t.probed
#ifdef MAIN
long marked(long rounds, long (*function)(long));
long twice(long x) { return 2 * x; }
int main(void) { return marked(3, twice) != 6; }
#else
long marked(long rounds, long (*function)(long)) {
  long sum = 0;
  const unsigned char *at;
  __asm__ volatile("1: nopw 0x1234(%%rax)" : : : "memory");
  for (long i = 0; i < rounds; i++) sum += function(i);
  __asm__ volatile("leaq 1b(%%rip), %0" : "=r"(at));
  // The instruction's own bytes.
  return at[0] == 0x66 && at[1] == 0x0f && at[2] == 0x1f && at[3] == 0x80 ? sum : -1;
}
#endif
