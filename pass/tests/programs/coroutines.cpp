// C++20 coroutines: left alone before they are split, probed as resume functions afterwards.
// RUN: %same %s -- -std=c++20
#include <coroutine>
#include <cstdio>
#include <exception>
#include <utility>

struct Generator {
  struct promise_type {
    unsigned value = 0;
    std::exception_ptr error;
    Generator get_return_object() { return Generator{std::coroutine_handle<promise_type>::from_promise(*this)}; }
    std::suspend_always initial_suspend() { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    std::suspend_always yield_value(unsigned v) { value = v; return {}; }
    void return_void() {}
    void unhandled_exception() { error = std::current_exception(); }
  };
  std::coroutine_handle<promise_type> handle;
  explicit Generator(std::coroutine_handle<promise_type> handle) : handle(handle) {}
  Generator(Generator &&other) : handle(std::exchange(other.handle, nullptr)) {}
  ~Generator() { if (handle) handle.destroy(); }
  bool next() {
    handle.resume();
    if (handle.promise().error)
      std::rethrow_exception(handle.promise().error);
    return !handle.done();
  }
};

static Generator primes(unsigned below) {
  for (unsigned n = 2; n < below; n++) {
    bool prime = true;
    for (unsigned d = 2; d * d <= n; d++)
      if (n % d == 0) {
        prime = false;
        break;
      }
    if (prime)
      co_yield n;
    if (n == 997)
      throw n;
  }
}
static Generator scaled(Generator inner, unsigned by) {
  while (inner.next()) {
    unsigned x = inner.handle.promise().value;
    for (unsigned i = 0; i < by; i++)
      x = x * 3 + i;
    co_yield x;
  }
}

int main() {
  unsigned sum = 0;
  for (unsigned by = 0; by < 20; by++) {
    Generator all = scaled(primes(500 + by * 40), by);
    try {
      while (all.next())
        sum = sum * 31 + all.handle.promise().value;
    } catch (unsigned at) {
      sum += at;
    }
  }
  std::printf("%u\n", sum);
}
