/*
 * The recorder: arms a thread as a runtime would, and stores when it yielded. Called by tests and benches of the pass, in place of
 * a runtime.
 */
#include "state.h"

int caudal_probe_record_start(uint64_t *buffer, size_t capacity, uint64_t quantum_cycles)
{
    struct caudal_state *state = &caudal_probe_state;
    if (__atomic_load_n(&caudal_probe_hook_v1, __ATOMIC_RELAXED) != caudal_probe_record) {
        return -1;
    }
    state->record_buffer = buffer;
    state->record_capacity = capacity;
    state->record_count = 0;
    caudal_probe_v1.stack_low = 0;
    caudal_probe_v1.stack_high = UINT64_MAX;
    caudal_probe_arm_v1(caudal_probe_rdtsc(), quantum_cycles);
    return 0;
}

size_t caudal_probe_record_stop(void)
{
    struct caudal_state *state = &caudal_probe_state;
    caudal_probe_disarm_v1();
    caudal_probe_v1.stack_high = 0;
    state->record_buffer = NULL;
    state->record_capacity = 0;
    return state->record_count;
}

void caudal_probe_record(uint64_t now_tsc)
{
    struct caudal_state *state = &caudal_probe_state;
    if (state->record_count < state->record_capacity) {
        state->record_buffer[state->record_count] = now_tsc;
    }
    state->record_count++;
    caudal_probe_arm_v1(now_tsc, caudal_probe_v1.quantum);
}
