#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <stdint.h>

#define REPS 1700
#define TAPE 4096

static const char *program =
    "++++++++[>++++[>++>+++>+++>+<<<<-]>+>+>->>+[<]<-]>>.>---.+++++++..+++.>>.<-.<.+++.------.--------.>>+.>++."
    ">>>>++++++++++[>++++++++++[>++++++++++[>++++++++++[>+>++>+<<<-]<-]<-]<-]>>>>>.>.>.<<[-]>[-]"
    ">++++++++++++[>+++++++++++++[>+++++++++++[>+++<-]<-]<-]>>>[-<+>]<.";

struct op {
    unsigned char code;
    int arg;
};

static struct op ops[1024];

static int compile(const char *s)
{
    int n = 0, stack[64], sp = 0;
    for (; *s; s++) {
        switch (*s) {
        case '+':
        case '-':
        case '>':
        case '<': {
            int d = *s == '+' || *s == '>' ? 1 : -1;
            unsigned char c = *s == '+' || *s == '-' ? 'a' : 'm';
            if (n > 0 && ops[n - 1].code == c)
                ops[n - 1].arg += d;
            else {
                ops[n].code = c;
                ops[n++].arg = d;
            }
            break;
        }
        case '[':
            stack[sp++] = n;
            ops[n++].code = '[';
            break;
        case ']': {
            int j = stack[--sp];
            ops[j].arg = n;
            ops[n].code = ']';
            ops[n++].arg = j;
            break;
        }
        case '.':
            ops[n++].code = '.';
            break;
        }
    }
    ops[n].code = 0;
    return n;
}

static uint64_t run(uint64_t h)
{
    static unsigned char tape[TAPE];
    memset(tape, 0, sizeof tape);
    int p = 0;
    for (int pc = 0; ops[pc].code; pc++) {
        switch (ops[pc].code) {
        case 'a':
            tape[p] = (unsigned char)(tape[p] + ops[pc].arg);
            break;
        case 'm':
            p = (p + ops[pc].arg) & (TAPE - 1);
            break;
        case '[':
            if (!tape[p])
                pc = ops[pc].arg;
            break;
        case ']':
            if (tape[p])
                pc = ops[pc].arg;
            break;
        case '.':
            h = (h ^ tape[p]) * 1099511628211ull;
            break;
        }
    }
    return h;
}

static uint64_t run_plain(const char *src, uint64_t h)
{
    static unsigned char tape[TAPE];
    memset(tape, 0, sizeof tape);
    int p = 0;
    for (const char *s = src; *s; s++) {
        switch (*s) {
        case '+': tape[p]++; break;
        case '-': tape[p]--; break;
        case '>': p = (p + 1) & (TAPE - 1); break;
        case '<': p = (p - 1) & (TAPE - 1); break;
        case '.': h = (h ^ tape[p]) * 1099511628211ull; break;
        case '[':
            if (!tape[p]) {
                int depth = 1;
                while (depth) {
                    s++;
                    if (*s == '[') depth++;
                    else if (*s == ']') depth--;
                }
            }
            break;
        case ']':
            if (tape[p]) {
                int depth = 1;
                while (depth) {
                    s--;
                    if (*s == ']') depth++;
                    else if (*s == '[') depth--;
                }
            }
            break;
        }
    }
    return h;
}

int main(void)
{
    uint64_t h = 14695981039346656037ull;
    compile(program);
    for (int r = 0; r < REPS; r++) {
        h = run(h);
        if (r % 4 == 0)
            h = run_plain(program, h);
    }
    printf("bfvm %016llx\n", (unsigned long long)h);
    return 0;
}
