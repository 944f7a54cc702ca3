// Inline assembly around probes: values tied to registers, flags as outputs, asm goto, and code that uses r11 itself.
// RUN: %same %s
#include <stdint.h>
#include <stdio.h>

__attribute__((noinline)) static uint64_t mixed(uint64_t x, unsigned n) {
  register uint64_t pinned __asm__("r11") = x;
  for (unsigned i = 0; i < n; i++) {
    uint64_t high, low;
    __asm__("mulq %3" : "=a"(low), "=d"(high) : "0"(x | 1), "r"(0x9e3779b97f4a7c15u + i) : "cc");
    x ^= high + low;
    __asm__("xchgq %0, %%r11; movq %%r11, %0" : "+r"(x) : : "r11");
    int carry;
    __asm__("addq %2, %0" : "+r"(x), "=@ccc"(carry) : "r"(high));
    x += (uint64_t)carry;
    __asm__ volatile("" : "+r"(pinned));
    pinned = pinned * 3 + x;
    uint64_t count = x & 15, copy[16] = {x, i}, to[16] = {0};
    void *from = copy, *target = to;
    __asm__ volatile("cld; rep movsq" : "+c"(count), "+S"(from), "+D"(target) : : "memory");
    x += to[1] + to[0];
    __asm__ volatile("pushfq; popq %0" : "=r"(count) : : "memory");
  }
  return x + pinned;
}
__attribute__((noinline)) static unsigned branches(unsigned x) {
  for (int i = 0; i < 100; i++) {
    __asm__ goto("testl $5, %0; jnz %l1" : : "r"(x) : "cc" : odd);
    x += 11;
    continue;
  odd:
    x = x * 7 + 3;
  }
  return x;
}
__attribute__((noinline)) static double x87(double x, int n) {
  long double sum = x;
  for (int i = 1; i < n; i++) {
    long double root;
    __asm__("fsqrt" : "=t"(root) : "0"(sum + i));
    sum = sum * 0.5L + root;
  }
  return (double)sum;
}
__attribute__((naked, noinline)) static int bare(int x) { __asm__("leal 5(%rdi,%rdi), %eax; ret"); }

int main(void) {
  uint64_t sum = 0;
  for (unsigned i = 0; i < 100; i++) sum = sum * 31 + mixed(i * 12345, i) + branches(i) + (unsigned)bare((int)i);
  printf("%llx %.15g\n", (unsigned long long)sum, x87(2, 1000));
  return 0;
}
