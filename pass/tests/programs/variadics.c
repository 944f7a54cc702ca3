// Variadic functions: their prologue keeps vector registers by a test of al, and va_list is walked in probed loops.
// RUN: %same %s
#include <stdarg.h>
#include <stdio.h>

__attribute__((noinline)) static double sum(int n, ...) {
  va_list values;
  va_start(values, n);
  double total = 0;
  for (int i = 0; i < n; i++) total += i & 1 ? va_arg(values, double) : (double)va_arg(values, int);
  va_end(values);
  return total;
}
__attribute__((noinline)) static long double wide(const char *format, ...) {
  va_list values, again;
  va_start(values, format);
  va_copy(again, values);
  long double total = 0;
  for (const char *c = format; *c; c++)
    switch (*c) {
    case 'd': total = total * 2 + va_arg(values, int); break;
    case 'f': total += (long double)va_arg(values, double); break;
    case 'L': total -= va_arg(values, long double); break;
    case 's': for (const char *s = va_arg(values, const char *); *s; s++) total += *s; break;
    }
  char text[100];
  vsnprintf(text, sizeof text, "%d %g", again);
  va_end(again);
  va_end(values);
  for (const char *c = text; *c; c++) total += *c;
  return total;
}

int main(void) {
  double total = 0;
  for (int i = 0; i < 200; i++) {
    total += sum(10, i, 1.5 * i, 2, 2.5, 3, 3.5, 4, 4.5, i, 5.5);
    total += sum(20, 1, 0.5, 2, 0.5, 3, 0.5, 4, 0.5, 5, 0.5, 6, 0.5, 7, 0.5, 8, 0.5, 9, 0.5, i, 0.25);
    total += (double)wide("dfLsdfL", i, 0.5 * i, 3.0L, "text", 7, 1.0, (long double)i);
  }
  printf("%.10g\n", total);
  return 0;
}
