/*
 * The wrappers themselves, which a program has and shows to shared objects. Called by code that the probe pass has instrumented.
 */
#include "wrapper.h"

#define CAUDAL_NAME(name, others, calls) wrapper name, others
#include "names.h"
        wrapper_of caudal_wrap_, std_condition_wait, CAUDAL_STD_CONDITION_WAIT, CALL, 0
