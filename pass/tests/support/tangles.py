"""Random functions whose blocks lead anywhere: tangles that no loop's header breaks.

Compilers seldom make such code, but what they make of jumps by an address, of switches in loops and of exceptions
comes close. `module` gives functions in LLVM's language that are only compiled, so nothing has to be defined, or to end;
`program` a program in C that ends and prints what it computed.
"""

import random

HEAD = """\
target triple = "x86_64-pc-linux-gnu"
declare void @unknown(i64)
declare i32 @__gxx_personality_v0(...)
define internal i64 @leaf(i64 %x) noinline {
  %a = mul i64 %x, 7
  %b = xor i64 %a, 99
  ret i64 %b
}
"""
LENGTHS = [0, 0, 1, 2, 4, 10, 30]
OPERATIONS = ["mul", "add", "xor"]


class Function:
    def __init__(self, name, r):
        self.name, self.r = name, r
        self.count = r.randint(4, 14)
        self.calls, self.throws = r.random() < 0.5, r.random() < 0.35
        self.jumps_by_address, self.recurses = r.random() < 0.4, r.random() < 0.3
        self.pads = []

    def target(self, block):
        """Often the block itself or the next: loops, and ways through."""
        chance = self.r.random()
        if chance < 0.12:
            return f"%b{block}"
        if chance < 0.5:
            return f"%b{min(self.count - 1, block + 1)}"
        return f"%b{self.r.randrange(self.count)}" if chance < 0.92 else "%exit"

    def compute(self, block):
        """Lines, and the value that they end in."""
        r, value = self.r, f"%v{block}.0"
        lines = [f"{value} = load i64, ptr %m"]
        for i in range(1, r.choice(LENGTHS) + 1):
            result, number = f"%v{block}.{i}", r.randint(3, 1000)
            divides = r.random() < 0.04
            lines.append(f"{result} = udiv i64 {number * 1000}, {value}" if divides else f"{result} = {r.choice(OPERATIONS)} i64 {value}, {number}")
            value = result
        if self.calls and r.random() < 0.3:
            own = [f"%c{block} = call i64 @{self.name}(i64 {value}, ptr %m, ptr %t)"] if self.recurses else []
            lines.append(r.choice([f"call void @unknown(i64 {value})", f"%c{block} = call i64 @leaf(i64 {value})", *own]))
        if r.random() < 0.6:
            lines.append(f"store volatile i64 {value}, ptr %m")
        return lines, value

    def leave(self, block, value):
        r, chance = self.r, self.r.random()
        if self.throws and chance < 0.25:
            self.pads.append(self.target(block))
            return [f"invoke void @unknown(i64 {value}) to label {self.target(block)} unwind label %pad{len(self.pads) - 1}"]
        if self.jumps_by_address and chance < 0.45:
            targets = sorted({self.target(block) for _ in range(r.randint(1, 5))})
            return [f"%a{block} = load ptr, ptr %t", f"indirectbr ptr %a{block}, [{', '.join('label ' + t for t in targets)}]"]
        if chance < 0.6:
            return [self.switch(value, [self.target(block) for _ in range(r.randint(2, 5))])]
        if chance < 0.7:
            return [f"br label {self.target(block)}"]
        return [f"%k{block} = icmp ugt i64 {value}, {r.randint(1, 99)}",
                f"br i1 %k{block}, label {self.target(block)}, label {self.target(block)}"]

    @staticmethod
    def switch(value, targets):
        cases = " ".join(f"i64 {i}, label {target}" for i, target in enumerate(targets[1:]))
        return f"switch i64 {value}, label {targets[0]} [{cases}]"

    def text(self):
        personality = " personality ptr @__gxx_personality_v0" if self.throws else ""
        blocks = [("entry", [self.switch("%x", [f"%b{self.r.randrange(self.count)}" for _ in range(self.r.randint(1, 4))])])]
        for block in range(self.count):
            lines, value = self.compute(block)
            blocks.append((f"b{block}", lines + self.leave(block, value)))
        for number, target in enumerate(self.pads):
            blocks.append((f"pad{number}", [f"%l{number} = landingpad {{ ptr, i32 }} cleanup catch ptr null", f"br label {target}"]))
        blocks.append(("exit", ["%r = load i64, ptr %m", "ret i64 %r"]))
        body = "".join(f"{name}:\n" + "".join(f"  {line}\n" for line in lines) for name, lines in blocks)
        return f"define i64 @{self.name}(i64 %x, ptr %m, ptr %t){personality} {{\n{body}}}\n"


def module(seed, functions):
    """So many of them, the same for the same seed."""
    r = random.Random(seed)
    return HEAD + "".join(Function(f"f{i}", r).text() for i in range(functions))


PROGRAM = """\
#include <stdint.h>
#include <stdio.h>
static uint64_t memory[64];
static unsigned fuel;
static uint64_t leaf(uint64_t x) { return x * 7 ^ 99; }
static __attribute__((noinline)) uint64_t callee(uint64_t x) { return memory[x % 64] += x; }
"""
STATEMENTS = ["{a} = {a} * {n} + {b};", "{a} ^= {b} >> {n} % 63;", "{a} ^= {a} / ({b} | 1);", "memory[{a} % 64] += {b};", "{a} += memory[{b} % 64];"]


class ProgramFunction:
    """In C. Its variables live through all blocks; what leads back takes fuel, so it ends."""

    def __init__(self, name, r):
        self.name, self.r = name, r
        self.count, self.variables = r.randint(3, 12), [f"v{i}" for i in range(r.randint(1, 6))]
        self.by_address, self.recurses = r.random() < 0.5, r.random() < 0.3

    def target(self, block):
        return f"b{min(self.count - 1, block + 1) if self.r.random() < 0.4 else self.r.randrange(self.count)}"

    def switch(self, value, targets):
        cases = " ".join(f"case {i}: goto {target};" for i, target in enumerate(targets[1:]))
        return f"switch ({value} % {len(targets)}) {{ {cases} default: goto {targets[0]}; }}"

    def compute(self):
        r, pick = self.r, lambda: self.r.choice(self.variables)
        lines = [r.choice(STATEMENTS).format(a=pick(), b=pick(), n=r.randint(3, 999)) for _ in range(r.choice([0, 1, 2, 5, 12]))]
        if r.random() < 0.3:
            callee = r.choice(["leaf", "callee", self.name if self.recurses else "callee"])
            lines.append(f"{pick()} += {callee}({pick()});")
        return lines

    def leave(self, block):
        r, value = self.r, self.r.choice(self.variables)
        chance = r.random()
        if self.by_address and chance < 0.5:
            return f"goto *table[{value} % {self.count}];"
        if chance < 0.6:
            return self.switch(value, [self.target(block) for _ in range(r.randint(2, 6))])
        if chance < 0.9:
            return f"if ({value} > {r.choice(self.variables)}) goto {self.target(block)}; else goto {self.target(block)};"
        return f"goto {self.target(block)};"

    def block(self, block):
        if self.r.random() < 0.3:  # without fuel, and on
            on = "out" if block == self.count - 1 else f"b{self.r.randrange(block + 1, self.count)}"
            return [f"{self.r.choice(self.variables)} += {block};", f"goto {on};"]
        return ["if (fuel == 0) goto out;", "fuel--;", *self.compute(), self.leave(block)]

    def text(self):
        lines = [f"uint64_t {v} = x * {self.r.randint(1, 99)} + {i};" for i, v in enumerate(self.variables)]
        if self.by_address:
            lines.append(f"static void *const table[] = {{{', '.join(f'&&b{i}' for i in range(self.count))}}};")
        lines.append(self.switch("x", [f"b{self.r.randrange(self.count)}" for _ in range(self.r.randint(1, 5))]))
        for block in range(self.count):
            lines += [f"b{block}:", *self.block(block)]
        body = "".join(f"  {line}\n" for line in [*lines, "out:", f"return {' ^ '.join(self.variables)};"])
        return f"static __attribute__((noinline)) uint64_t {self.name}(uint64_t x) {{\n{body}}}\n"


def program(seed):
    """A program in C without undefined behaviour that ends soon and prints what it computed; the same for the same seed."""
    r = random.Random(seed)
    functions = [ProgramFunction(f"f{i}", r) for i in range(r.randint(1, 6))]
    calls = "".join(f"  for (uint64_t x = 0; x < 20; x++) {{ fuel = 300; sum = sum * 31 + {function.name}(x); }}\n" for function in functions)
    end = '  for (int i = 0; i < 64; i++) sum = sum * 31 + memory[i];\n  printf("%llu\\n", (unsigned long long)sum);\n  return 0;\n'
    return PROGRAM + "".join(function.text() for function in functions) + f"int main(void) {{\n  uint64_t sum = 1;\n{calls}{end}}}\n"
