// Exceptions pass through probed frames: thrown from loops, through cleanups, caught, rethrown, from destructors' callees.
// RUN: %same %s
#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

static int destroyed;
struct Guard {
  int weight;
  explicit Guard(int weight) : weight(weight) {}
  ~Guard() {
    for (int i = 0; i < weight; i++)
      destroyed += i & 3;
  }
};

__attribute__((noinline)) static int risky(int n) {
  Guard guard(n % 17);
  unsigned sum = 1;
  for (int i = 0; i < n; i++) {
    sum = sum * 31 + unsigned(i);
    if ((sum & 127) == 5)
      throw i;
    if ((sum & 255) == 77)
      throw std::runtime_error("at " + std::to_string(i));
  }
  return int(sum & 0xffff);
}

__attribute__((noinline)) static int retried(int n) {
  // A loop whose way back to its header leads through a landing pad.
  for (int tries = 0;; tries++) {
    try {
      return risky(n - tries * 3) + tries;
    } catch (int at) {
      if (tries > 20)
        return -at;
    } catch (const std::exception &error) {
      n += error.what()[3] - '0';
    }
  }
}

__attribute__((noinline)) static int nested(int depth, int n) {
  Guard guard(depth);
  try {
    return depth == 0 ? risky(n) : nested(depth - 1, n + depth);
  } catch (int at) {
    if (depth & 1)
      throw;
    return at * 2;
  }
}

__attribute__((noinline)) static int quiet(int n) noexcept {
  try {
    return nested(n % 6, n);
  } catch (...) {
    return -1;
  }
}

int main() {
  long sum = 0;
  for (int n = 0; n < 400; n++) {
    sum = sum * 7 + retried(n);
    sum ^= quiet(n);
    try {
      std::vector<Guard> guards;
      for (int i = 0; i < n % 5; i++)
        guards.emplace_back(i);
      sum += risky(n);
    } catch (int at) {
      sum -= at;
    } catch (const std::runtime_error &error) {
      sum += long(std::string(error.what()).size());
    }
  }
  std::printf("%ld %d\n", sum, destroyed);
}
