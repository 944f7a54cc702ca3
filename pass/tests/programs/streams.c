// stdio: functions that lock a stream become wrappers of the library with the same arguments, variable ones of all kinds among them, in
// calls and through pointers. What formats ends with a probe: around it is none.
// RUN: %same %s
// RUN: %clang -O2 -S -emit-llvm %s -o - %with '-caudal-probes=mode=budget;verify' | FileCheck %s
// RUN: %clang -O2 -D_FORTIFY_SOURCE=2 -S -emit-llvm %s -o - %with '-caudal-probes=mode=flag;verify' | FileCheck %s --check-prefix=CHECKED
#define _GNU_SOURCE
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

// CHECK-LABEL: @reports(
// CHECK-NOT: asm sideeffect
// CHECK: call i32 (ptr, ...) @caudal_wrap_printf_v1(
// CHECK-NOT: asm sideeffect
// CHECK: call i32 (ptr, ...) @caudal_wrap_printf_v1(
// CHECK-NOT: asm sideeffect
// CHECK: call i32 (ptr, ptr, ...) @caudal_wrap_fprintf_v1(
// CHECK-NOT: asm sideeffect
// CHECK: ret void
// CHECKED-LABEL: @reports(
// CHECKED: @caudal_wrap___printf_chk_v1(
// CHECKED: @caudal_wrap___fprintf_chk_v1(
__attribute__((noinline)) void reports(FILE *out, int n)
{
    printf("%d of %d\n", n, n + 1);
    printf("%d again\n", n);
    fprintf(out, "%s: %d %g\n", "line", n, n / 4.0);
}

__attribute__((noinline)) static int listed(FILE *out, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    int written = vfprintf(out, format, list);
    va_end(list);
    return written;
}

int main(void)
{
    int (*print)(const char *, ...) = printf;
    print("%d %s %c %ld %x %d %d | %g %g %g %g %g %g %g %g %g %g | %d %Lg\n", 1, "two", '3', 4L, 5, 6, 7, 0.5, 1.5, 2.5, 3.5, 4.5,
          5.5, 6.5, 7.5, 8.5, 9.5, 8, 9.25L);
    print("no vector registers: %d\n", 1);
    FILE *file = tmpfile();
    for (int i = 0; i < 5; i++) {
        reports(file, i);
    }
    printf("%d\n", listed(file, "%d %f %d %d %d %d %Lf\n", 1, 2.0, 3, 4, 5, 6, 7.0L));
    fputs("last\n", file);
    fwrite("raw\n", 1, 4, file);
    fpos_t end;
    printf("%d %ld\n", fgetpos(file, &end), (long)ftello(file));
    rewind(file);
    char text[80];
    if (fgets(text, sizeof text, file)) {
        printf("first %s", text);
    }
    char *line = NULL;
    size_t size = 0;
    for (ssize_t got; (got = getline(&line, &size, file)) > 0;) {
        printf("%zd %ld %s", got, ftell(file), line);
    }
    free(line);
    printf("%d %zu\n", fseek(file, 2, SEEK_SET), fread(text, 1, 8, file));
    printf("%.8s %d\n", text, fsetpos(file, &end));
    printf("%d\n", fclose(file));
    puts("puts");
    return fflush(NULL);
}
