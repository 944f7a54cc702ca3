/* longjmp as _FORTIFY_SOURCE has it. In a file of its own: a C library that has it not is not asked for it. */
#include <setjmp.h>

__attribute__((visibility("hidden"))) void caudal_probe_jumps(const void *buffer);
__attribute__((noreturn)) void __longjmp_chk(jmp_buf buffer, int value);

__attribute__((noreturn)) void caudal_wrap___longjmp_chk_v1(jmp_buf buffer, int value)
{
    caudal_probe_jumps(buffer);
    __longjmp_chk(buffer, value);
}
