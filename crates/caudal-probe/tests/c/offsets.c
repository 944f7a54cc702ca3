/* Prints the layout that the C compiler sees, for Rust to compare. */
#include "caudal/probe.h"

#include <stdio.h>

#define PRINT(field) printf(#field " %zu %zu\n", offsetof(struct caudal_probe, field), sizeof(((struct caudal_probe *)0)->field))

int main(void)
{
    PRINT(deadline);
    PRINT(budget);
    PRINT(depth);
    PRINT(pending);
    PRINT(stack_low);
    PRINT(stack_high);
    PRINT(quantum);
    PRINT(ratio);
    PRINT(credit);
    PRINT(runtime);
    printf("size %zu %zu\n", sizeof(struct caudal_probe), __alignof__(struct caudal_probe));
    printf("flag %zu %zu\n", sizeof(struct caudal_flag), __alignof__(struct caudal_flag));
    printf("abi %d %d\n", CAUDAL_PROBE_ABI, CAUDAL_PROBE_ABI);
    return 0;
}
