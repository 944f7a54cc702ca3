// Of loops with probes, innermost ones of up to 112 bytes without calls lie in no more lines of the cache than they need, where 7 bytes in
// front of them are enough: what is left free is no more than what they take of the last one, less one. Others begin anywhere.
// REQUIRES: llvm-22
// RUN: %clang -O2 -S %s -o - %with -caudal-probes=mode=budget | FileCheck %s
// RUN: %clang -O2 -S -falign-loops=32 %s -o - %with -caudal-probes=mode=budget | FileCheck %s --check-prefix=ASKED
int other(int);

// CHECK-LABEL: around:
// CHECK-NOT: .p2align
// CHECK: callq other
// CHECK: .p2align 6, , {{[1-7]$}}
// CHECK: cmp
// CHECK-NOT: .p2align
// CHECK: .Lfunc_end
// ASKED-LABEL: around:
// ASKED-COUNT-2: .p2align 5
// ASKED-LABEL: is_long:
// ASKED: .p2align 5
// ASKED: .Lfunc_end
int around(const int *list, int n) {
  int sum = 0;
  for (int i = 0; i < n; i++) {
    int found = other(i);
    while (list[found] > sum)
      found = list[found + 1];
    sum += found;
  }
  return sum;
}

// CHECK-LABEL: is_long:
// CHECK-NOT: .p2align
// CHECK: .Lfunc_end
int is_long(int n) {
  int sum = 0;
  for (int i = 0; i < n; i++)
    sum += other(sum) * other(i) + other(sum ^ i) * other(i + 1) + other(sum + i) * other(i + 2) + other(sum - i);
  return sum;
}

// CHECK-LABEL: calls:
// CHECK-NOT: .p2align
// CHECK: .Lfunc_end
int calls(int n) {
  int sum = 0;
  while (sum < n)
    sum += other(sum);
  return sum;
}

// More than a line, by about half of one.
// CHECK-LABEL: is_between:
// CHECK: .p2align 6, , 7{{$}}
// CHECK: .Lfunc_end
long is_between(const long *list, long n) {
  long sum = 0;
  while (sum < n) {
    sum += list[sum] ^ list[sum + 1] * 5 ^ list[sum + 2] * 9 ^ list[sum + 3] * 17;
    sum ^= list[sum] * 33 ^ list[sum + 5] * 65;
  }
  return sum;
}

// The loop around another one may begin anywhere.
// CHECK-LABEL: nest:
// CHECK-NOT: .p2align
// CHECK: andl
// CHECK: .p2align 6, , {{[1-7]$}}
// CHECK: subq
// CHECK: incl
// CHECK-NOT: .p2align
// CHECK: .Lfunc_end
int nest(const int *list, int at) {
  do
    for (int n = at & 1; n < 1000; n++)
      asm volatile("" : "+r"(at));
  while (at);
  return at;
}

// What the source asks for stays.
// CHECK-LABEL: asks:
// CHECK: .p2align 4
// CHECK: callq other
int asks(int n) {
  int sum = 0;
  [[clang::code_align(16)]] for (int i = 0; i < n; i++)
    sum += other(sum) * other(i) + other(sum ^ i) * other(i + 1) + other(sum + i) * other(i + 2) + other(sum - i);
  return sum;
}

// In functions with indirect jumps so does what begins a longer loop: a dispatch.
// CHECK-LABEL: jumps:
// CHECK: .p2align 6, , {{[2-5][0-9]$}}
// CHECK: subq
// CHECK: jmpq *
int jumps(const unsigned char *code, int x) {
  for (;;)
    switch (*code++) {
    case 0: x += other(x); break;
    case 1: x *= 5; break;
    case 2: x ^= 85; break;
    case 3: x -= x >> 3; break;
    case 4: x = -x; break;
    case 5: return x;
    }
}

// However short it is, and however far the next line.
// CHECK-LABEL: jumps_only:
// CHECK: .p2align 6, , {{[2-5][0-9]$}}
// CHECK: jmpq *
// CHECK: .Lfunc_end
int jumps_only(const unsigned char *code, int x) {
  static const void *const ways[] = {&&once, &&twice, &&thrice, &&end};
  goto *ways[code[0]];
once:
  x = x * 5 + 1;
  goto *ways[*++code];
twice:
  x ^= 85;
  goto *ways[*++code];
thrice:
  x -= x >> 3;
  goto *ways[*++code];
end:
  return x;
}

// What has no probe stays as it is.
// CHECK-LABEL: has_none:
// CHECK-COUNT-2: .p2align 4
// CHECK: .Lfunc_end
int has_none(int *list) {
  int sum = 0;
#pragma clang loop unroll(disable) vectorize(disable)
  for (int i = 0; i < 4; i++)
#pragma clang loop unroll(disable) vectorize(disable)
    for (int j = 0; j < 3; j++)
      sum = sum * 31 + list[i * 4 + j];
  return sum;
}
