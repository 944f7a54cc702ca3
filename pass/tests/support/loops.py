"""Random C programs made of the loops that a probe pass can get wrong.

`program(seed)` is a program without undefined behaviour that ends soon and prints checksums: counting up and down, odd
steps, counters that wrap, limits at the ends of their types, pointers as induction variables, loops entered with their
limit behind them, several exits, irreducible jumps, nests, recursion, computed goto, x87 and vector values that live
across loops.

A loop's head is made of numbers for which the iterations have been counted here, so that it ends for sure; what cannot
be counted gets fuel.
"""

import random

# Type in C, bits, signed.
TYPES = [
    ("uint8_t", 8, False),
    ("int8_t", 8, True),
    ("uint16_t", 16, False),
    ("int16_t", 16, True),
    ("uint32_t", 32, False),
    ("int32_t", 32, True),
    ("uint64_t", 64, False),
    ("int64_t", 64, True),
    ("unsigned __int128", 128, False),
]
WEIGHTS = [3, 2, 2, 2, 6, 6, 5, 5, 1]
STEPS = [1, 1, 1, 1, 2, 3, 4, 4, 5, 7, 8, 16, 24, 64]
TRIPS = [1, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 20, 31, 32, 33, 40, 47, 63, 64, 65, 90, 100, 127, 128, 129, 150, 199,
         200, 255, 256, 257, 300, 511, 512, 513, 700, 1000, 1023, 1024, 1025]
MOST_WORK = 200_000

HEAD = """\
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <stdlib.h>
#include <stdatomic.h>

typedef uint32_t v8 __attribute__((vector_size(32)));
static uint64_t sum = 1469598103934665603u;
static uint32_t table[1024], other[1024];
static uint8_t bytes[4096];
static double reals[1024];
static uint32_t next_of[256];
uint64_t shared_limit;
static _Thread_local uint32_t own;
static atomic_uint counter;
volatile uint64_t one = 1, zero = 0;
struct node { struct node *next; uint32_t value; };
static struct node nodes[300];

static void mix(uint64_t value) { sum = (sum ^ value) * 1099511628211u; sum ^= sum >> 29; }
static void mix_real(double value) { uint64_t bits; memcpy(&bits, &value, 8); mix(value == value ? bits : 1); }
static void fill(void) {
  uint32_t x = 12345;
  for (int i = 0; i < 1024; i++) { x = x * 1664525 + 1013904223; table[i] = x >> 3; other[i] = x >> 7; reals[i] = (double)(x >> 12) / 1024; }
  for (int i = 0; i < 4096; i++) bytes[i] = (uint8_t)(table[i & 1023] >> (i >> 8));
  for (int i = 0; i < 256; i++) next_of[i] = (uint32_t)(i * 77 + 13) & 255;
  for (int i = 0; i < 299; i++) { nodes[i].next = &nodes[i + 1]; nodes[i].value = table[i]; }
}
static inline uint32_t leaf(uint32_t x) { return x * 31 + (x >> 5); }
__attribute__((noinline)) uint32_t leaf_called(uint32_t x) { return (x ^ 0x55aa) * 17 + 3; }
__attribute__((noinline)) uint32_t leaf_long(uint32_t x) { for (int i = 0; i < 23; i++) x = x * 5 + (x >> 3); return x; }
__attribute__((noinline)) uint32_t leaf_loop(uint32_t x, uint32_t n) { uint32_t y = x; for (uint32_t i = 0; i < n; i++) y = y * 3 + table[(i + x) & 1023]; return y; }
uint32_t down(uint32_t x, uint32_t depth) { return depth == 0 ? x : down(x * 3 + 1, depth - 1) + (x & 7); }
uint32_t odd(uint32_t, uint32_t);
uint32_t even(uint32_t x, uint32_t n) { return n == 0 ? x : odd(x + 3, n - 1) * 5; }
uint32_t odd(uint32_t x, uint32_t n) { return n == 0 ? ~x : even(x ^ 9, n - 1) + 1; }
uint32_t tree(uint32_t x, uint32_t n) { return n < 2 ? x : tree(x + 1, n - 1) * 3 + tree(x ^ 5, n - 2); }
static uint32_t (*const calls[4])(uint32_t) = {leaf_called, leaf_long, leaf_called, leaf_long};
"""


class Loops:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.names = 0
        self.lines = []
        self.depth = 1
        self.arguments = []  # of the function that is being written: (type, name, value)

    # Names and text.

    def name(self, what):
        self.names += 1
        return f"{what}{self.names}"

    def put(self, text):
        self.lines.append("  " * self.depth + text)

    def chance(self, of_hundred):
        return self.random.randrange(100) < of_hundred

    def number(self, ctype, bits, signed, value):
        """A constant, an argument or something else with this value."""
        if bits == 128:
            text = f"((({ctype}){value >> 64}u << 64) | {value & (2**64 - 1)}u)"
        elif signed:
            text = f"(({ctype})({value + 1}{'LL' if bits == 64 else ''} - 1))"
        else:
            text = f"(({ctype}){value}u{'ll' if bits == 64 else ''})"
        way = self.random.randrange(10)
        if way < 4:
            return text
        if way < 9:
            name = self.name("a")
            self.arguments.append((ctype, name, text))
            return name
        return f"(({ctype})({text} * ({ctype})one))" if not signed else f"(({ctype})({text} + ({ctype})zero))"

    # Heads of loops.

    @staticmethod
    def wrap(value, bits, signed):
        value &= (1 << bits) - 1
        return value - (1 << bits) if signed and value >> (bits - 1) else value

    def head(self, most_trips):
        """A counted loop: (declaration, condition, step, iterations, variable, type)."""
        r = self.random
        while True:
            ctype, bits, signed = r.choices(TYPES, WEIGHTS)[0]
            least, most = (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if signed else (0, (1 << bits) - 1)
            step = r.choice(STEPS) * r.choice([1, 1, -1])
            trips = r.choice([t for t in TRIPS if t <= most_trips] or [1])
            start = r.choice([0, 0, 0, 1, 3, least, least + 1, most, most - 1, most - 7, least + 5, r.randrange(least, most + 1)])
            slack = r.choice([0, 0, 0, 1, -1, 2, abs(step) - 1])
            limit = start + step * trips + slack * (1 if step > 0 else -1)
            compare = r.choice(["<", "<", "<=", "!=", "!="] if step > 0 else [">", ">", ">=", "!=", "!="])
            if r.randrange(12) == 0:
                limit = start - step * r.randrange(3)  # behind the start: no iteration, or one
            # C's arithmetic is in int below 32 bits, and signed arithmetic of 32 and 64 bits must not overflow.
            if not least <= limit <= most and r.randrange(3):
                continue
            limit = self.wrap(limit, bits, signed)
            form = r.choice(["for", "for", "do", "do", "while", "break"])
            count, at, fits = 0, start, True
            holds = {"<": lambda a: a < limit, "<=": lambda a: a <= limit, "!=": lambda a: a != limit,
                     ">": lambda a: a > limit, ">=": lambda a: a >= limit}[compare]
            first = form in ("do", "break")
            while count <= most_trips and fits and (first or holds(at)):
                first = False
                count += 1
                if signed and bits >= 32 and not least <= at + step <= most:
                    fits = False
                at = self.wrap(at + step, bits, signed)
            if not fits or count > most_trips or (count == 0 and self.chance(70)):
                continue
            variable = self.name("i")
            begin = self.number(ctype, bits, signed, start)
            end = self.number(ctype, bits, signed, limit)
            plus = f"{variable} = ({ctype})({variable} {'+' if step > 0 else '-'} {abs(step)})"
            if abs(step) == 1 and self.chance(60):
                plus = f"{variable}{'++' if step > 0 else '--'}"
            return form, f"{ctype} {variable} = {begin}", f"{variable} {compare} {end}", plus, max(count, 1), f"(uint32_t){variable}"

    def pointer_head(self, most_trips):
        r = self.random
        ctype, array, length = r.choice([("uint8_t", "bytes", 4096), ("uint32_t", "table", 1024), ("double", "reals", 1024),
                                         ("uint32_t", "other", 1024)])
        step = r.choice([1, 1, 2, 3, 4, 8])
        trips = r.choice([t for t in TRIPS if t <= min(most_trips, length // step - 1)] or [1])
        start = r.randrange(length - step * trips)
        p = self.name("p")
        first = self.number("uint32_t", 32, False, start)
        last = self.number("uint32_t", 32, False, start + step * trips)
        form = r.choice(["for", "do", "while"])
        if self.chance(30):
            return (form, f"{ctype} *{p} = {array} + {last}", f"{p} != {array} + {first}", f"{p} -= {step}", trips,
                    f"(uint32_t)({p} - {array})")
        return (form, f"{ctype} *{p} = {array} + {first}", f"{p} {r.choice(['<', '!='])} {array} + {last}", f"{p} += {step}",
                trips, f"(uint32_t){p}[0]" if ctype != "double" else f"(uint32_t)({p} - {array})")

    # Bodies.

    def loop(self, work, nested, value):
        most = max(1, min(1025, work))
        if self.chance(30):
            most = min(most, self.random.choice([3, 8, 20, 60]))
        form, begin, holds, plus, trips, variable = self.pointer_head(most) if self.chance(15) else self.head(most)
        if form == "for":
            self.put(f"for ({begin}; {holds}; {plus}) {{")
        elif form == "while":
            self.put(f"{{ {begin};")
            self.put(f"while ({holds}) {{")
        elif form == "do":
            self.put(f"{{ {begin};")
            self.put("do {")
        else:
            self.put(f"{{ {begin};")
            self.put("for (;;) {")
        self.depth += 1
        # A `continue` would step over the step of the other forms.
        self.body(work // trips, nested, variable, form == "for")
        if form == "while":
            self.put(f"{plus};")
        elif form == "do":
            self.put(f"{plus};")
        elif form == "break":
            self.put(f"{plus};")
            self.put(f"if (!({holds})) break;")
        self.depth -= 1
        if form == "for":
            self.put("}")
        elif form == "do":
            self.put(f"}} while ({holds}); }}")
        else:
            self.put("} }")

    def body(self, work, nested, i, may_continue):
        for _ in range(self.random.choice([1, 1, 1, 2, 2, 3, 4])):
            self.statement(work, nested, i, may_continue)

    def statement(self, work, nested, i, may_continue):
        r = self.random
        if nested > 0 and work > 1 and self.chance(35):
            return self.loop(work, nested - 1, i)
        k = r.randrange(1, 1 << 16)
        simple = [
            f"x += {i} * {k}u;",
            f"x ^= table[({i} + {k}u) & 1023];",
            f"table[{i} & 1023] += x;",
            f"other[{i} & 1023] = table[({i} + {k & 7}) & 1023] * 3 + other[({i} >> 1) & 1023];",
            f"x = x * {k | 1}u + (x >> {r.randrange(1, 31)});",
            f"x = next_of[x & 255] ^ (x << 1);",
            f"d += reals[{i} & 1023] * {k & 63}.5;",
            f"reals[{i} & 1023] = d * 0.5 + x % {k}u;",
            f"e = e * 0.75L + (long double)(x & 1023);",
            f"v += (v8){{x, {i}, 3, 4, 5, 6, 7, {k}u}};",
            f"v = v * 3 ^ (v >> 3);",
            f"x /= ({i} | 1) & 0xff; x += {k}u;",
            f"bytes[{i} & 4095] ^= (uint8_t)x;",
            f"x += leaf(x ^ {i});",
            f"own += x; x ^= own >> 3;",
            f"__asm__ volatile(\"\" : \"+r\"(x));",
            f"__asm__ volatile(\"addl $7, %0\" : \"+r\"(x) : : \"cc\");",
            f"x = x & 1 ? x * 3 : x >> 1;",
            f"w += (unsigned __int128)x * w + {k}u;",
            f"f = f * 0.5f + (float)(x & 255);",
        ]
        calls = [
            f"x += leaf_called(x + {i});",
            f"x += leaf_long(x);",
            f"x += calls[x & 3](x);",
            f"x = leaf_loop(x, {i} & 31);",
            f"x ^= down(x, {r.choice(['5', i + ' & 15'])});",
            f"x ^= even(x, {i} & 7);",
            f"memset(bytes + ({i} & 2047), (int)(x & 0xff), x & 127);",
            f"memcpy(other + ({i} & 511), table + (x & 511), 256);",
            f"atomic_fetch_add(&counter, x);",
            f"mix(x);",
            f"x += tree(x, {i} & 7);",
        ]
        exits = [
            f"if ((x & {r.choice([15, 255, 1023, 4095])}) == {k & 15}) break;",
            f"if ((x & {r.choice([255, 1023])}) == {k & 15}) {{ mix(x); return x; }}",
            f"if (++fuel > {r.choice([50, 500, 5000])}) goto out;",
            f"if (x == {k}u) goto out;",
        ]
        if may_continue:
            exits.append(f"if (x & {1 << r.randrange(6)}) continue;")
        kind = r.randrange(100)
        if kind < 55:
            return self.put(r.choice(simple))
        if kind < 70:
            self.put(r.choice(calls))
        elif kind < 80:
            self.put(r.choice(exits))
        elif kind < 85:
            # A straight piece that is longer than small bounds.
            for _ in range(r.choice([5, 12, 30, 60])):
                self.put(f"x = (x ^ {r.randrange(1 << 20)}u) * {r.randrange(1 << 16) | 1}u + (x >> {r.randrange(1, 31)});")
        elif kind < 89:
            self.put(f"switch (x & 7) {{ case 0: x += 3; break; case 1: x ^= {i}; case 2: x *= 5; break; case 3: mix(x);"
                     f" break; case 4: for (int q = 0; q < 9; q++) x = x * 3 + table[q]; break; default: x--; }}")
        elif kind < 92:
            self.put(f"for (struct node *n = nodes + ({i} & 255); n; n = n->next) {{ x += n->value;"
                     f" if ((x & 31) == 7) break; }}")
        elif kind < 94:
            self.put("{ uint32_t y = x, g = 0; while (y != 1 && ++g < 60) { y = y & 1 ? y * 3 + 1 : y >> 1; } x += g; }")
        elif kind < 96:
            limit = self.random.choice([20, 70, 300])
            self.put(f"shared_limit = {limit}; for (uint64_t q = 0; q < shared_limit; q++) {{ x += (uint32_t)q;"
                     f" if ((x & 15) == 0) shared_limit -= 2; table[q & 1023] = x; }}")
        elif kind < 97:
            self.put(f"{{ uint32_t size = ({i} & 31) + 1; uint32_t many[size]; for (uint32_t q = 0; q < size; q++)"
                     f" many[q] = x + q; for (uint32_t q = size; q-- > 0;) x = x * 3 + many[q]; }}")
        elif kind < 98:
            a, b, c = self.name("l"), self.name("l"), self.name("l")
            self.put(f"{{ uint32_t g = 0; if (x & 1) goto {b}; {a}: x = x * 3 + g; if (++g > 40) goto {c}; {b}: x ^= x >> 3;"
                     f" if (++g > 50) goto {c}; if (x & 4) goto {a}; x += 7; goto {a}; {c}:; }}")
        else:
            a, b, c, e = (self.name("l") for _ in range(4))
            self.put(f"{{ static const void *const to[] = {{&&{a}, &&{b}, &&{c}, &&{e}}}; uint32_t g = 0; goto *to[x & 3];"
                     f" {a}: x = x * 7 + 1; goto *to[++g > 40 ? 3 : x & 3]; {b}: x ^= x >> 9;"
                     f" for (uint32_t q = 0; q < (x & 15); q++) x += table[q]; goto *to[++g > 40 ? 3 : (x >> 2) & 3];"
                     f" {c}: x += g; goto *to[++g > 40 ? 3 : (x >> 4) & 3]; {e}:; }}")

    def function(self, number):
        self.lines, self.arguments = [], []
        for _ in range(self.random.choice([1, 1, 2, 3])):
            self.loop(self.random.choice([300, 2000, MOST_WORK // 20]), self.random.choice([0, 1, 1, 2, 3]), "x")
            if self.chance(30):
                self.put("mix(x);")
        parameters = ", ".join(["uint32_t x"] + [f"{ctype} {name}" for ctype, name, _ in self.arguments])
        values = ", ".join([str(self.random.randrange(1 << 31))] + [value for _, _, value in self.arguments])
        linkage = self.random.choice(["__attribute__((noinline)) static", "__attribute__((noinline))", "static"])
        text = [f"{linkage} uint32_t f{number}({parameters}) {{",
                "  uint32_t fuel = 0; double d = 1; long double e = 1; v8 v = {x, 1, 2, 3, 4, 5, 6, 7}; float f = 1;"
                " unsigned __int128 w = x;"]
        text += self.lines
        text += ["  goto out; out:",
                 "  mix(fuel); mix_real(d); mix_real((double)e); mix_real(f); mix((uint64_t)(w >> 50));",
                 "  for (int q = 0; q < 8; q++) mix(v[q]);", "  return x;", "}"]
        return "\n".join(text), f'  printf("f{number} %llx %x\\n", (unsigned long long)sum, f{number}({values}));'


def program(seed):
    loops = Loops(seed)
    functions = [loops.function(number) for number in range(loops.random.choice([1, 2, 4, 6]))]
    text = HEAD + "\n".join(text for text, _ in functions)
    text += "\nint main(void) {\n  fill();\n" + "\n".join(call for _, call in functions)
    text += "\n  for (int q = 0; q < 1024; q++) { mix(table[q]); mix(other[q]); mix_real(reals[q]); }"
    text += "\n  for (int q = 0; q < 4096; q++) mix(bytes[q]);"
    text += '\n  mix(own); mix(counter); printf("%llx\\n", (unsigned long long)sum);\n  return 0;\n}\n'
    return text
