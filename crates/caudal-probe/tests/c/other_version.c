/* Stands for an object of another version of the ABI: it must not link. */
#include <stdint.h>

extern __thread struct {
    uint64_t deadline;
} caudal_probe_v2 __attribute__((tls_model("initial-exec")));

int main(void)
{
    return caudal_probe_v2.deadline == 0;
}
