// C++ makes a thread_local variable at its first use, without a lock: no other thread can come. Another request of the thread can, so nothing
// yields in the initialiser, in what it calls in this file and others, or in what an exception leaves of it; what comes due there is made
// up for behind it. For variables of functions, of files, of templates, and of classes, at all levels and through links that optimise.
// RUN: %clangxx -O1 %include -DCOUNT -c %s -o %t.count.o
// RUN: %clangxx -O0 %include -DOTHER -c %s -o %t.other.o %with -caudal-probes='mode=flag;tls=local-exec'
// RUN: %clangxx -O0 %include -c %s -o %t.0.o %with -caudal-probes='mode=flag;tls=local-exec'
// RUN: %clangxx %t.0.o %t.other.o %t.count.o %every -o %t.0 && %t.0 | FileCheck %s
// RUN: %clangxx -O2 %include -c %s -o %t.2.o %with -caudal-probes='mode=flag;tls=local-exec'
// RUN: %clangxx %t.2.o %t.other.o %t.count.o %every -o %t.2 && %t.2 | FileCheck %s
// RUN: %clangxx -O3 %include -c %s -o %t.3.o %with -caudal-probes='mode=budget;tls=local-exec'
// RUN: %clangxx %t.3.o %t.other.o %t.count.o %every -o %t.3 && %t.3 | FileCheck %s
// RUN: %clangxx -O2 -flto %include -DOTHER -c %s -o %t.full.other.o %with -caudal-probes='mode=flag;tls=local-exec'
// RUN: %clangxx -O2 -flto %include -c %s -o %t.full.o %with -caudal-probes='mode=flag;tls=local-exec'
// RUN: %clangxx -O2 -flto %lld -Wl,--load-pass-plugin=%plugin %t.full.o %t.full.other.o %t.count.o %every -o %t.full
// RUN: %t.full | FileCheck %s
// RUN: %clangxx -O2 -flto=thin %include -DOTHER -c %s -o %t.thin.other.o %with -caudal-probes='mode=flag;tls=local-exec'
// RUN: %clangxx -O2 -flto=thin %include -c %s -o %t.thin.o %with -caudal-probes='mode=flag;tls=local-exec'
// RUN: %clangxx -O2 -flto=thin %lld -Wl,--load-pass-plugin=%plugin %t.thin.o %t.thin.other.o %t.count.o %every -o %t.thin
// RUN: %t.thin | FileCheck %s
// What has been optimised without the plugin, in front of a link with it and by itself.
// RUN: %clangxx -O2 -flto %include -c %s -o %t.bare.o
// RUN: %clangxx -O2 -flto %lld -Wl,--load-pass-plugin=%plugin %t.bare.o %t.full.other.o %t.count.o %every -o %t.bare
// RUN: %t.bare | FileCheck %s
// RUN: %clangxx -O2 %include -S -emit-llvm %s -o %t.ll
// RUN: %probes -passes='caudal-probes<mode=flag;tls=local-exec>,verify' %t.ll -o %t.late.ll
// RUN: %clangxx -O2 -c %t.late.ll -o %t.late.o && %clangxx %t.late.o %t.other.o %t.count.o %every -o %t.late && %t.late | FileCheck %s
// Without the sections the test would see it.
// RUN: %clangxx -O2 %include -c %s -o %t.off.o %with -caudal-probes='mode=flag;tls=local-exec;sections=off'
// RUN: %clangxx %t.off.o %t.other.o %t.count.o %every -o %t.off && %t.off | FileCheck %s --check-prefix=WITHOUT
// CHECK: within 0, made 6, thrown 1, outside {{[1-9]}}
// WITHOUT: within {{[1-9]}}
#include "caudal/probe.h"
#include <cstdio>
#include <string>
#include <vector>

extern volatile int initialising;
long work(long n);

// In an initialiser: has it begun, and not come to its end?
struct Within {
  Within() { initialising = initialising + 1; }
  ~Within() { initialising = initialising - 1; }
};

// Yields in initialisers and elsewhere.
extern unsigned long within, outside;

#ifdef COUNT

unsigned long within, outside;
static void (*others)(uint64_t);

static void count(uint64_t now) {
  initialising ? within++ : outside++;
  others(now);
}

__attribute__((constructor)) static void start() {
  others = caudal_probe_hook_v1;
  caudal_probe_hook_v1 = count;
}

#elif defined OTHER

volatile int initialising;
long work(long n) {
  volatile long sum = 0;
  for (long i = 0; i < n; i++)
    sum = sum + i;
  return sum;
}

#else

static int made, thrown;

static std::vector<std::string> make(long n) {
  Within here;
  std::vector<std::string> all;
  for (long i = 0; i < n; i++)
    all.push_back(std::to_string(work(i)));
  made++;
  return all;
}

struct Table {
  std::vector<std::string> all;
  explicit Table(bool fails) {
    Within here;
    all.push_back(std::to_string(work(50)));
    if (fails) {
      thrown++;
      throw 1;
    }
    made++;
  }
};

thread_local std::vector<std::string> of_file = make(20);
template <class T> struct Holder {
  static thread_local std::vector<T> all;
};
template <class T> thread_local std::vector<T> Holder<T>::all = make(15);
struct Class {
  static inline thread_local std::vector<std::string> all = make(10);
};

__attribute__((noinline)) static size_t in_function() {
  thread_local const std::vector<std::string> all = make(20);
  return all.size();
}

// Becomes a part of the loop that calls it, in front of which the guard is looked up.
static inline size_t in_loop() {
  thread_local const std::vector<std::string> all = make(20);
  return all.size();
}

__attribute__((noinline)) static size_t looks_in_a_loop() {
  size_t size = 0;
  for (int i = 0; i < 3; i++)
    size += in_loop();
  return size;
}

__attribute__((noinline)) static size_t in_function_that_fails(bool fails) {
  std::string kept(40, 'x');
  try {
    thread_local Table table(fails);
    return table.all.size() + kept.size();
  } catch (int) {
    return work(10);
  }
}

int main() {
  size_t size = 0;
  for (int i = 0; i < 3; i++) {
    size += of_file.size() + Holder<std::string>::all.size() + Class::all.size() + in_function();
    size += in_function_that_fails(i == 0) + looks_in_a_loop();
    size += work(100);
  }
  // Depth: none is left behind, however the initialisers were left.
  if (caudal_critical_depth() != 0)
    printf("in a section at the end\n");
  printf("within %lu, made %d, thrown %d, outside %lu\n", within, made, thrown, outside);
  return size == 0;
}

#endif
