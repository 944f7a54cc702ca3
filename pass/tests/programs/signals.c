// Signal handlers that run probed code, on the program's stack and on one of their own, between any two instructions.
// RUN: %same %s
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>

static volatile sig_atomic_t seen;
static volatile unsigned handled;
static char stack[65536];

static void handler(int number, siginfo_t *info, void *context) {
  unsigned x = (unsigned)number;
  double d = 1;
  for (unsigned i = 0; i < 300; i++) {
    x = x * 31 + i;
    d = d * 0.5 + i;
  }
  handled ^= x + (unsigned)d;
  errno = 7;
  seen++;
}

__attribute__((noinline)) static double work(unsigned rounds) {
  double a[64], sum = 0;
  for (unsigned i = 0; i < 64; i++) a[i] = i;
  for (unsigned r = 0; r < rounds; r++)
    for (unsigned i = 0; i < 64; i++) {
      a[i] = a[i] * 0.75 + a[(i + r) & 63] * 0.25;
      sum += a[i];
    }
  return sum;
}

int main(void) {
  double sum = 0;
  for (int other = 0; other < 2; other++) {
    stack_t alternate = {.ss_sp = stack, .ss_size = sizeof stack};
    if (other) sigaltstack(&alternate, 0);
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_sigaction = handler;
    action.sa_flags = SA_SIGINFO | SA_RESTART | (other ? SA_ONSTACK : 0);
    sigaction(SIGALRM, &action, 0);
    sigaction(SIGUSR1, &action, 0);
    struct itimerval every = {{0, 500}, {0, 500}}, never = {{0, 0}, {0, 0}};
    setitimer(ITIMER_REAL, &every, 0);
    seen = 0;
    sum += work(500);
    while (seen < 3) raise(SIGUSR1);
    setitimer(ITIMER_REAL, &never, 0);
  }
  printf("%.15g\n", sum);
  return 0;
}
