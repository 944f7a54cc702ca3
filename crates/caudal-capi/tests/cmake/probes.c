/* Probes without a runtime: the recorder hears of them. */
#include <caudal/probe.h>

int main(void)
{
    uint64_t times[16];
    size_t yields;
    long iterations = 0;
    if (caudal_probe_record_start(times, 16, 1000) != 0) {
        return 1;
    }
    for (iterations = 0; iterations < 1000000; iterations++) {
        CAUDAL_PROBE_CLOCK();
    }
    yields = caudal_probe_record_stop();
    return yields == 0;
}
