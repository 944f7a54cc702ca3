/* What users of a C library run into: `hazards POLICY BAD_POLICY` prints a line for each case that went as it should. */
#define _POSIX_C_SOURCE 200809L

#include <errno.h>
#include <setjmp.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

static const char *policy, *bad_policy;
static caudal_runtime *runtime;
static caudal_class work;

#define LOAD(place) __atomic_load_n(&(place), __ATOMIC_ACQUIRE)
#define STORE(place, value) __atomic_store_n(&(place), (value), __ATOMIC_RELEASE)
#define MS UINT64_C(1000000)

static void nothing(void *argument)
{
    (void)argument;
}

/* Loops, with probes, until the int that it is given is not 0. */
static void spin(void *argument)
{
    int *stop = argument;
    while (!LOAD(*stop)) {
        CAUDAL_PROBE_CLOCK();
    }
}

static caudal_request *submitted(caudal_handler handler, void *argument)
{
    caudal_request *request = NULL;
    OK(caudal_submit(runtime, work, handler, argument, &request));
    CHECK(request != NULL);
    return request;
}

/* Waits, releases, and answers how it ended. */
static caudal_outcome ended(caudal_request *request)
{
    caudal_outcome outcome = CAUDAL_OUTCOME_NONE;
    OK(caudal_wait(request, &outcome));
    CHECK(caudal_request_outcome(request) == outcome);
    OK(caudal_request_release(request));
    return outcome;
}

/* --- arguments ------------------------------------------------------------------------------------------------ */

static void null_pointers_are_errors(void)
{
    caudal_runtime *none = NULL;
    caudal_class class_;
    caudal_request *request;
    caudal_class_stats stats;
    caudal_submission submission;
    size_t workers;
    CHECK_STATUS(CAUDAL_ERROR_ARGUMENT, caudal_runtime_create(NULL, NULL, &none, NULL));
    CHECK_STATUS(CAUDAL_ERROR_ARGUMENT, caudal_runtime_create(policy, NULL, NULL, NULL));
    CHECK_STATUS(CAUDAL_ERROR_ARGUMENT, caudal_runtime_class(NULL, "x", &class_));
    CHECK_STATUS(CAUDAL_ERROR_ARGUMENT, caudal_runtime_class(runtime, NULL, &class_));
    CHECK_STATUS(CAUDAL_ERROR_ARGUMENT, caudal_runtime_class(runtime, "x", NULL));
    CHECK_STATUS(CAUDAL_ERROR_ARGUMENT, caudal_runtime_workers(runtime, NULL));
    CHECK_STATUS(CAUDAL_ERROR_ARGUMENT, caudal_runtime_workers(NULL, &workers));
    CHECK_STATUS(CAUDAL_ERROR_ARGUMENT, caudal_submit(NULL, work, nothing, NULL, &request));
    CHECK_STATUS(CAUDAL_ERROR_ARGUMENT, caudal_submit(runtime, work, NULL, NULL, &request));
    CHECK(request == NULL);
    CHECK_STATUS(CAUDAL_ERROR_ARGUMENT, caudal_try_submit(runtime, 63, nothing, NULL, &request));
    CHECK_STATUS(CAUDAL_ERROR_ARGUMENT, caudal_submit(runtime, UINT32_MAX, nothing, NULL, &request));
    CHECK_STATUS(CAUDAL_ERROR_ARGUMENT, caudal_submit_with(runtime, work, NULL, &request));
    caudal_submission_init(&submission);
    CHECK_STATUS(CAUDAL_ERROR_ARGUMENT, caudal_submit_with(runtime, work, &submission, &request));
    submission.handler = nothing;
    submission.quantum_ns = 499;
    CHECK_STATUS(CAUDAL_ERROR_ARGUMENT, caudal_submit_with(runtime, work, &submission, &request));
    submission.quantum_ns = 500;
    submission.migratable = 2;
    CHECK_STATUS(CAUDAL_ERROR_ARGUMENT, caudal_submit_with(runtime, work, &submission, &request));
    submission.migratable = 1;
    CHECK_STATUS(CAUDAL_OK, caudal_submit_with(runtime, work, &submission, &request));
    OK(caudal_wait(request, NULL));
    OK(caudal_request_release(request));
    CHECK_STATUS(CAUDAL_ERROR_ARGUMENT, caudal_wait(NULL, NULL));
    CHECK_STATUS(CAUDAL_ERROR_ARGUMENT, caudal_cancel(NULL));
    CHECK_STATUS(CAUDAL_ERROR_ARGUMENT, caudal_request_release(NULL));
    CHECK_STATUS(CAUDAL_ERROR_ARGUMENT, caudal_request_failure(NULL, NULL));
    CHECK(caudal_request_outcome(NULL) == CAUDAL_OUTCOME_NONE);
    CHECK_STATUS(CAUDAL_ERROR_ARGUMENT, caudal_runtime_set_quantum(runtime, 499));
    CHECK_STATUS(CAUDAL_ERROR_ARGUMENT, caudal_runtime_class_stats(runtime, work, NULL));
    caudal_class_stats_init(&stats);
    CHECK_STATUS(CAUDAL_ERROR_ARGUMENT, caudal_runtime_class_stats(NULL, work, &stats));
    CHECK_STATUS(CAUDAL_ERROR_ARGUMENT, caudal_runtime_shutdown(NULL, CAUDAL_SHUTDOWN_DRAIN, NULL));
    CHECK_STATUS(CAUDAL_ERROR_ARGUMENT, caudal_runtime_shutdown(runtime, 7, NULL));
    CHECK_STATUS(CAUDAL_ERROR_ARGUMENT, caudal_runtime_destroy(NULL));
    CHECK_STATUS(CAUDAL_ERROR_ARGUMENT, caudal_mutex_create(NULL));
    CHECK_STATUS(CAUDAL_ERROR_ARGUMENT, caudal_mutex_lock(NULL));
    CHECK_STATUS(CAUDAL_ERROR_ARGUMENT, caudal_mutex_unlock(NULL));
    CHECK_STATUS(CAUDAL_ERROR_ARGUMENT, caudal_condition_wait(NULL, NULL, 0));
    CHECK_STATUS(CAUDAL_ERROR_NOT_IN_REQUEST, caudal_fail("nobody"));
    CHECK(strcmp(caudal_status_text(99999), "an unknown status") == 0);
    OK(caudal_runtime_workers(runtime, &workers));
    CHECK(workers == 1);
}

static void errors_of_a_policy_are_explained(void)
{
    caudal_runtime *none = (caudal_runtime *)&none;
    caudal_error error;
    CHECK_STATUS(CAUDAL_ERROR_POLICY, caudal_runtime_create(bad_policy, NULL, &none, &error));
    CHECK(none == NULL);
    CHECK(error.status == CAUDAL_ERROR_POLICY);
    CHECK(strstr(error.message, "quantity") != NULL); /* the key that there is not */
    CHECK_STATUS(CAUDAL_ERROR_POLICY, caudal_runtime_create("/no/such/file", NULL, &none, &error));
    CHECK(strstr(error.message, "/no/such/file") != NULL);
}

/* A program that was built with a later header: fields that this library does not know have to be 0. */
static void later_fields_have_to_be_zero(void)
{
    struct {
        caudal_options known;
        uint64_t later;
    } options;
    caudal_runtime *other = NULL;
    caudal_error error;
    memset(&options, 0, sizeof options);
    options.known.size = sizeof options;
    options.known.pinning = CAUDAL_PINNING_NONE;
    options.later = 1;
    CHECK_STATUS(CAUDAL_ERROR_ARGUMENT, caudal_runtime_create(policy, &options.known, &other, &error));
    options.later = 0;
    OK(caudal_runtime_create(policy, &options.known, &other, &error));
    OK(caudal_runtime_destroy(other));
    options.known.size = 0; /* caudal_options_init() was forgotten */
    CHECK_STATUS(CAUDAL_ERROR_ARGUMENT, caudal_runtime_create(policy, &options.known, &other, &error));
    options.known.size = sizeof options.known;
    options.known.pinning = 9;
    CHECK_STATUS(CAUDAL_ERROR_ARGUMENT, caudal_runtime_create(policy, &options.known, &other, &error));
    CHECK(strstr(error.message, "pinning") != NULL);
}

/* --- requests that submit, wait and end ------------------------------------------------------------------------ */

static void add_one(void *argument)
{
    *(int *)argument += 1;
}

/* Answers in `*argument` the sum of what its own requests do; on one worker, which it must not hold. */
static void forks_and_joins(void *argument)
{
    int parts[8] = {0}, number;
    caudal_request *requests[8];
    for (number = 0; number < 8; number++) {
        requests[number] = submitted(add_one, &parts[number]);
    }
    for (number = 0; number < 8; number++) {
        CHECK(ended(requests[number]) == CAUDAL_OUTCOME_RETURNED);
        *(int *)argument += parts[number];
    }
}

static void a_handler_may_submit_and_wait(void)
{
    int sum = 0;
    CHECK(ended(submitted(forks_and_joins, &sum)) == CAUDAL_OUTCOME_RETURNED);
    CHECK(sum == 8);
}

static void calls_that_would_wait_for_itself(void *argument)
{
    caudal_runtime *other;
    (void)argument;
    CHECK_STATUS(CAUDAL_ERROR_IN_REQUEST, caudal_runtime_destroy(runtime));
    CHECK_STATUS(CAUDAL_ERROR_IN_REQUEST, caudal_runtime_shutdown(runtime, CAUDAL_SHUTDOWN_DRAIN, NULL));
    CHECK_STATUS(CAUDAL_ERROR_IN_REQUEST, caudal_runtime_create(policy, NULL, &other, NULL));
    CHECK(caudal_is_in_request() == 1);
}

static void a_handler_may_not_end_its_runtime(void)
{
    CHECK(ended(submitted(calls_that_would_wait_for_itself, NULL)) == CAUDAL_OUTCOME_RETURNED);
    CHECK(caudal_is_in_request() == 0);
}

static void gives_up(void *argument)
{
    OK(caudal_fail("first"));
    OK(caudal_fail(argument));
}

static void a_failure_has_its_words(void)
{
    static const char words[] = "no such key";
    caudal_request *request = submitted(gives_up, (void *)(uintptr_t)words);
    caudal_error error;
    caudal_outcome outcome;
    OK(caudal_wait(request, &outcome));
    OK(caudal_wait(request, NULL)); /* again */
    CHECK(outcome == CAUDAL_OUTCOME_FAILED);
    OK(caudal_request_failure(request, &error));
    CHECK(strcmp(error.message, words) == 0);
    OK(caudal_request_release(request));
    CHECK(ended(submitted(nothing, NULL)) == CAUDAL_OUTCOME_RETURNED); /* the worker goes on */
}

/* --- cancelling, deadlines, times ------------------------------------------------------------------------------ */

struct heard {
    int times;
    caudal_outcome outcome;
};

static void hear(void *argument, caudal_outcome outcome)
{
    struct heard *heard = argument;
    heard->outcome = outcome;
    STORE(heard->times, heard->times + 1);
}

static caudal_submission heard_by(caudal_handler handler, void *argument, struct heard *heard)
{
    caudal_submission submission;
    caudal_submission_init(&submission);
    submission.handler = handler;
    submission.argument = argument;
    submission.completion = hear;
    submission.completion_argument = heard;
    return submission;
}

static void sleeps_for_ever(void *argument)
{
    STORE(*(int *)argument, 1);
    CHECK_STATUS(CAUDAL_CANCELLED, caudal_sleep(CAUDAL_FOREVER));
    CHECK_STATUS(CAUDAL_CANCELLED, caudal_check_cancelled());
    CHECK_STATUS(CAUDAL_CANCELLED, caudal_yield());
}

static void a_cancelled_handler_is_told_and_not_unwound(void)
{
    int started = 0;
    struct heard heard = {0, CAUDAL_OUTCOME_NONE};
    caudal_submission submission = heard_by(sleeps_for_ever, &started, &heard);
    caudal_request *request;
    OK(caudal_submit_with(runtime, work, &submission, &request));
    while (!LOAD(started)) {
        OK(caudal_sleep(MS / 10));
    }
    OK(caudal_cancel(request));
    CHECK(ended(request) == CAUDAL_OUTCOME_CANCELLED);
    CHECK(heard.times == 1 && heard.outcome == CAUDAL_OUTCOME_CANCELLED);
}

static void waits_for_another(void *argument)
{
    caudal_request *inner = submitted(spin, argument);
    CHECK_STATUS(CAUDAL_CANCELLED, caudal_wait(inner, NULL));
    STORE(*(int *)argument, 1);
    OK(caudal_wait_regardless(inner, NULL));
    OK(caudal_request_release(inner));
}

static void a_cancelled_handler_can_still_wait_for_its_own(void)
{
    int stop = 0;
    caudal_request *request = submitted(waits_for_another, &stop);
    CHECK_STATUS(CAUDAL_TIMED_OUT, caudal_wait_for(request, 2 * MS, NULL));
    OK(caudal_cancel(request));
    CHECK(ended(request) == CAUDAL_OUTCOME_CANCELLED);
}

/* Takes the worker without a probe until told, so that what comes later cannot start. */
static void hold(void *argument)
{
    int *stop = argument;
    STORE(stop[1], 1);
    while (!LOAD(stop[0])) {
    }
}

static caudal_request *held(int *stop)
{
    caudal_request *request = submitted(hold, stop);
    while (!LOAD(stop[1])) {
        OK(caudal_sleep(MS / 10));
    }
    return request;
}

static void what_has_not_started_ends_at_once(void)
{
    int stop[2] = {0, 0};
    caudal_request *holder = held(stop), *cancelled, *expired;
    struct heard of_cancelled = {0, CAUDAL_OUTCOME_NONE}, of_expired = {0, CAUDAL_OUTCOME_NONE};
    caudal_submission submission = heard_by(nothing, NULL, &of_cancelled);
    OK(caudal_submit_with(runtime, work, &submission, &cancelled));
    submission = heard_by(nothing, NULL, &of_expired);
    submission.deadline_ns = 1000;
    OK(caudal_submit_with(runtime, work, &submission, &expired));
    OK(caudal_cancel(cancelled));
    CHECK(caudal_request_outcome(cancelled) == CAUDAL_OUTCOME_CANCELLED);
    CHECK(of_cancelled.times == 1 && of_cancelled.outcome == CAUDAL_OUTCOME_CANCELLED);
    OK(caudal_sleep(MS));
    STORE(stop[0], 1);
    CHECK(ended(expired) == CAUDAL_OUTCOME_EXPIRED);
    /* A waiter may hear of it a moment before the completion does. */
    while (LOAD(of_expired.times) == 0) {
        OK(caudal_sleep(MS / 10));
    }
    CHECK(of_expired.outcome == CAUDAL_OUTCOME_EXPIRED);
    OK(caudal_request_release(cancelled));
    CHECK(ended(holder) == CAUDAL_OUTCOME_RETURNED);
}

struct released {
    caudal_request *request;
    int times;
};

static void lets_go(void *argument, caudal_outcome outcome)
{
    struct released *released = argument;
    CHECK(outcome == CAUDAL_OUTCOME_CANCELLED);
    OK(caudal_request_release(released->request));
    STORE(released->times, released->times + 1);
}

static void does_nothing(void *argument)
{
    (void)argument;
}

/* The last one who knows of it lets go of it while it is ended. */
static void a_completion_may_release_its_request(void)
{
    int stop[2] = {0, 0};
    int i;
    caudal_request *holder = held(stop);
    struct released released = {NULL, 0};
    caudal_submission submission;
    caudal_submission_init(&submission);
    submission.handler = does_nothing;
    submission.completion = lets_go;
    submission.completion_argument = &released;
    OK(caudal_submit_with(runtime, work, &submission, &released.request));
    OK(caudal_cancel(released.request));
    CHECK(LOAD(released.times) == 1);
    STORE(stop[0], 1);
    CHECK(ended(holder) == CAUDAL_OUTCOME_RETURNED);
    for (i = 0; i < 1000; i++) {
        CHECK(ended(submitted(does_nothing, NULL)) == CAUDAL_OUTCOME_RETURNED);
    }
}

static void waits_a_little(void *argument)
{
    int *stop = argument;
    caudal_request *inner = submitted(spin, stop);
    CHECK_STATUS(CAUDAL_TIMED_OUT, caudal_wait_for(inner, MS, NULL));
    STORE(*stop, 1);
    OK(caudal_wait_for(inner, CAUDAL_FOREVER, NULL));
    OK(caudal_request_release(inner));
}

static void waits_end_in_time(void)
{
    int stop = 0;
    caudal_request *request = submitted(spin, &stop);
    CHECK_STATUS(CAUDAL_TIMED_OUT, caudal_wait_for(request, 0, NULL));
    CHECK_STATUS(CAUDAL_TIMED_OUT, caudal_wait_for(request, MS, NULL));
    CHECK(caudal_request_outcome(request) == CAUDAL_OUTCOME_NONE);
    STORE(stop, 1);
    CHECK(ended(request) == CAUDAL_OUTCOME_RETURNED);
    stop = 0;
    CHECK(ended(submitted(waits_a_little, &stop)) == CAUDAL_OUTCOME_RETURNED); /* and in a request */
}

static void waits_for_it(void *argument)
{
    caudal_status answered;
    do { /* main may be waiting just now */
        answered = caudal_wait(argument, NULL);
    } while (answered == CAUDAL_ERROR_BUSY);
    OK(answered);
}

static void one_waits_at_a_time(void)
{
    int stop = 0;
    caudal_request *request = submitted(spin, &stop), *waiter = submitted(waits_for_it, request);
    caudal_status answered = CAUDAL_OK;
    while (answered != CAUDAL_ERROR_BUSY) { /* until the other one waits */
        answered = caudal_wait_for(request, 0, NULL);
        CHECK(answered == CAUDAL_ERROR_BUSY || answered == CAUDAL_TIMED_OUT);
        OK(caudal_sleep(MS / 10));
    }
    CHECK_STATUS(CAUDAL_ERROR_BUSY, caudal_request_release(request));
    STORE(stop, 1);
    CHECK(ended(waiter) == CAUDAL_OUTCOME_RETURNED);
    CHECK(ended(request) == CAUDAL_OUTCOME_RETURNED);
}

static void full_queues_are_answered(void)
{
    caudal_options options;
    caudal_request *request;
    caudal_runtime *shared = runtime;
    caudal_class before = work;
    caudal_status answered;
    int stop[2] = {0, 0}, accepted = 0;
    caudal_options_init(&options);
    options.queue_of_worker = 2;
    options.queue_of_dispatcher = 2;
    runtime = start(policy, &options);
    work = class_of(runtime, "work");
    request = held(stop);
    do {
        answered = caudal_try_submit(runtime, work, nothing, NULL, NULL);
        CHECK(++accepted < 100);
    } while (answered == CAUDAL_OK);
    CHECK(answered == CAUDAL_ERROR_FULL);
    STORE(stop[0], 1);
    CHECK(ended(request) == CAUDAL_OUTCOME_RETURNED);
    OK(caudal_submit(runtime, work, nothing, NULL, NULL)); /* waits for room, if there is none yet */
    OK(caudal_runtime_destroy(runtime));
    runtime = shared;
    work = before;
}

/* Reads no clock: it ends because somebody else asks it to let the next one run. */
static void checks_the_flag(void *argument)
{
    int *stop = argument;
    STORE(stop[1], 1);
    while (!LOAD(stop[0])) {
        CAUDAL_PROBE_FLAG();
    }
}

static void stops(void *argument)
{
    int *stop = argument;
    STORE(stop[0], 1);
}

static void flags_are_raised_by_a_dispatcher(void)
{
    caudal_options options;
    caudal_error error;
    caudal_request *request;
    caudal_runtime *shared = runtime, *made = NULL;
    caudal_class before = work;
    caudal_status status;
    int stop[2] = {0, 0};
    caudal_options_init(&options);
    options.pinning = CAUDAL_PINNING_NONE;
    options.raise_flags = 2;
    CHECK_STATUS(CAUDAL_ERROR_ARGUMENT, caudal_runtime_create(policy, &options, &made, &error));
    options.raise_flags = 1;
    options.on_stuck = 2;
    CHECK_STATUS(CAUDAL_ERROR_ARGUMENT, caudal_runtime_create(policy, &options, &made, &error));
    options.on_stuck = CAUDAL_ON_STUCK_DUMP;
    status = caudal_runtime_create(policy, &options, &made, &error);
    if (status != CAUDAL_OK) {
        CHECK(status == CAUDAL_ERROR_ARGUMENT && strstr(error.message, "dispatcher") != NULL);
        return; /* a policy without one */
    }
    runtime = made;
    work = class_of(runtime, "work");
    request = submitted(checks_the_flag, stop);
    while (!LOAD(stop[1])) {
        OK(caudal_sleep(MS / 10));
    }
    OK(caudal_submit(runtime, work, stops, stop, NULL));
    CHECK(ended(request) == CAUDAL_OUTCOME_RETURNED);
    OK(caudal_runtime_destroy(runtime));
    runtime = shared;
    work = before;
}

/* --- what belongs to a thread, and to a coroutine --------------------------------------------------------------- */

struct keeper {
    int value, rounds, others;
    int *turns, *started;
};

/* Its errno is its own, although the others have set theirs in between. */
static void keeps_errno(void *argument)
{
    struct keeper *keeper = argument;
    int round;
    __atomic_fetch_add(keeper->started, 1, __ATOMIC_RELAXED);
    while (LOAD(*keeper->started) < 3) {
        CAUDAL_PROBE_CLOCK();
    }
    for (round = 0; round < keeper->rounds; round++) {
        int before = LOAD(*keeper->turns), spun;
        errno = keeper->value;
        for (spun = 0; spun < 200; spun++) {
            CAUDAL_PROBE_CLOCK();
            CHECK(errno == keeper->value);
        }
        keeper->others += LOAD(*keeper->turns) != before;
        __atomic_fetch_add(keeper->turns, 1, __ATOMIC_RELAXED);
    }
}

static void errno_survives_preemption(void)
{
    int turns = 0, started = 0, number;
    struct keeper keepers[3];
    caudal_request *requests[3];
    for (number = 0; number < 3; number++) {
        struct keeper keeper = {1000 + number, 2000, 0, NULL, NULL};
        keeper.turns = &turns;
        keeper.started = &started;
        keepers[number] = keeper;
    }
    for (number = 0; number < 3; number++) {
        requests[number] = submitted(keeps_errno, &keepers[number]);
    }
    for (number = 0; number < 3; number++) {
        CHECK(ended(requests[number]) == CAUDAL_OUTCOME_RETURNED);
    }
    CHECK(keepers[0].others + keepers[1].others + keepers[2].others > 0); /* they did take turns */
}

static jmp_buf leave_by;

static void leaves_by_longjmp(void)
{
    caudal_critical_enter();
    caudal_critical_enter();
    longjmp(leave_by, 1);
}

static void restores_the_depth(void *argument)
{
    uint32_t depth = caudal_critical_depth();
    (void)argument;
    if (setjmp(leave_by) == 0) {
        leaves_by_longjmp();
    }
    CHECK_STATUS(CAUDAL_ERROR_IN_SECTION, caudal_yield());
    caudal_critical_restore(depth);
    OK(caudal_yield());
    OK(caudal_sleep(1000));
}

static void longjmp_out_of_sections_is_mended(void)
{
    CHECK(ended(submitted(restores_the_depth, NULL)) == CAUDAL_OUTCOME_RETURNED);
}

static void waits_in_a_section(void *argument)
{
    caudal_mutex *mutex = argument;
    caudal_request *inner = submitted(nothing, NULL);
    caudal_critical_enter();
    CHECK_STATUS(CAUDAL_ERROR_IN_SECTION, caudal_wait(inner, NULL));
    CHECK_STATUS(CAUDAL_ERROR_IN_SECTION, caudal_sleep(1));
    CHECK_STATUS(CAUDAL_ERROR_IN_SECTION, caudal_submit(runtime, work, nothing, NULL, NULL));
    CHECK_STATUS(CAUDAL_ERROR_IN_SECTION, caudal_mutex_lock(mutex)); /* which another one has */
    caudal_critical_exit();
    OK(caudal_wait(inner, NULL));
    OK(caudal_request_release(inner));
}

static void waiting_in_a_section_is_refused(void)
{
    caudal_mutex *mutex;
    OK(caudal_mutex_create(&mutex));
    OK(caudal_mutex_lock(mutex));
    CHECK(ended(submitted(waits_in_a_section, mutex)) == CAUDAL_OUTCOME_RETURNED);
    OK(caudal_mutex_unlock(mutex));
    OK(caudal_mutex_destroy(mutex));
}

/* --- locks ------------------------------------------------------------------------------------------------------ */

struct counted {
    caudal_mutex *mutex;
    caudal_condition *condition;
    int count, inside, waiting;
};

/* Pre-empted inside of the lock, on the worker on which the others want it. */
static void counts(void *argument)
{
    struct counted *counted = argument;
    int round, spun;
    for (round = 0; round < 200; round++) {
        OK(caudal_mutex_lock(counted->mutex));
        CHECK(counted->inside++ == 0);
        for (spun = 0; spun < 100; spun++) {
            CAUDAL_PROBE_CLOCK();
        }
        counted->count++;
        CHECK(--counted->inside == 0);
        OK(caudal_mutex_unlock(counted->mutex));
    }
}

static void misuses_it(void *argument)
{
    struct counted *counted = argument;
    CHECK_STATUS(CAUDAL_ERROR_OWNER, caudal_mutex_unlock(counted->mutex)); /* main has it */
    CHECK_STATUS(CAUDAL_ERROR_BUSY, caudal_mutex_try_lock(counted->mutex));
    CHECK_STATUS(CAUDAL_ERROR_BUSY, caudal_mutex_destroy(counted->mutex));
    STORE(counted->waiting, 1);
    CHECK_STATUS(CAUDAL_CANCELLED, caudal_mutex_lock(counted->mutex));
    STORE(counted->waiting, 2);
    OK(caudal_mutex_lock_regardless(counted->mutex));
    CHECK_STATUS(CAUDAL_ERROR_OWNER, caudal_mutex_lock(counted->mutex)); /* not recursive */
    OK(caudal_mutex_unlock(counted->mutex));
}

static void mutexes_park_requests(void)
{
    struct counted counted = {NULL, NULL, 0, 0, 0};
    caudal_request *requests[4];
    int number;
    OK(caudal_mutex_create(&counted.mutex));
    for (number = 0; number < 4; number++) {
        requests[number] = submitted(counts, &counted);
    }
    counts(&counted); /* and a thread that is no worker */
    for (number = 0; number < 4; number++) {
        CHECK(ended(requests[number]) == CAUDAL_OUTCOME_RETURNED);
    }
    CHECK(counted.count == 1000);

    OK(caudal_mutex_lock(counted.mutex));
    requests[0] = submitted(misuses_it, &counted);
    while (!LOAD(counted.waiting)) {
        OK(caudal_sleep(MS / 10));
    }
    OK(caudal_cancel(requests[0]));
    while (LOAD(counted.waiting) != 2) {
        OK(caudal_sleep(MS / 10));
    }
    OK(caudal_mutex_unlock(counted.mutex));
    CHECK(ended(requests[0]) == CAUDAL_OUTCOME_CANCELLED);
    OK(caudal_mutex_destroy(counted.mutex));
}

static void waits_for_a_change(void *argument)
{
    struct counted *counted = argument;
    OK(caudal_mutex_lock(counted->mutex));
    CHECK_STATUS(CAUDAL_TIMED_OUT, caudal_condition_wait(counted->condition, counted->mutex, 1000));
    counted->waiting = 1;
    while (counted->count == 0) {
        OK(caudal_condition_wait(counted->condition, counted->mutex, CAUDAL_FOREVER));
    }
    counted->waiting = 2;
    CHECK_STATUS(CAUDAL_CANCELLED, caudal_condition_wait(counted->condition, counted->mutex, CAUDAL_FOREVER));
    OK(caudal_mutex_unlock(counted->mutex)); /* it has the mutex all the same */
}

static void reaches(struct counted *counted, int waiting)
{
    for (;;) {
        int reached;
        OK(caudal_mutex_lock(counted->mutex));
        reached = counted->waiting == waiting;
        OK(caudal_mutex_unlock(counted->mutex));
        if (reached) {
            return;
        }
        OK(caudal_sleep(MS / 10));
    }
}

static void conditions_wake_requests(void)
{
    struct counted counted = {NULL, NULL, 0, 0, 0};
    caudal_request *request;
    OK(caudal_mutex_create(&counted.mutex));
    OK(caudal_condition_create(&counted.condition));
    CHECK_STATUS(CAUDAL_ERROR_OWNER, caudal_condition_wait(counted.condition, counted.mutex, 0));
    request = submitted(waits_for_a_change, &counted);
    reaches(&counted, 1);
    OK(caudal_mutex_lock(counted.mutex));
    counted.count = 1;
    OK(caudal_condition_notify_one(counted.condition));
    OK(caudal_mutex_unlock(counted.mutex));
    reaches(&counted, 2);
    OK(caudal_cancel(request));
    CHECK(ended(request) == CAUDAL_OUTCOME_CANCELLED);
    OK(caudal_condition_notify_all(counted.condition));
    OK(caudal_condition_destroy(counted.condition));
    OK(caudal_mutex_destroy(counted.mutex));
}

/* --- the end ------------------------------------------------------------------------------------------------------ */

static void statistics_count(void)
{
    caudal_class_stats stats;
    caudal_class other = class_of(runtime, "statistics");
    int number;
    for (number = 0; number < 100; number++) {
        caudal_request *request;
        OK(caudal_submit(runtime, other, nothing, NULL, &request));
        OK(caudal_wait(request, NULL));
        OK(caudal_request_release(request));
    }
    do { /* a request is measured just after who waits has been told */
        caudal_class_stats_init(&stats);
        OK(caudal_runtime_class_stats(runtime, other, &stats));
    } while (stats.finished < 100);
    CHECK(stats.finished == 100);
    CHECK(stats.sojourn.p50_ns > 0 && stats.sojourn.p50_ns <= stats.sojourn.p99_ns);
    CHECK(stats.sojourn.p99_ns <= stats.sojourn.max_ns && stats.service.max_ns <= stats.sojourn.max_ns);
    CHECK(class_of(runtime, "statistics") == other && other != work);
}

static void statistics_can_be_read_as_text(void)
{
    char *text = NULL;
    OK(caudal_runtime_stats_json(runtime, &text));
    CHECK(text[0] == '{' && strstr(text, "\"work\"") != NULL);
    OK(caudal_text_free(text));
    OK(caudal_runtime_stats_prometheus(runtime, &text));
    CHECK(strstr(text, "class=\"work\"") != NULL);
    OK(caudal_text_free(text));
    CHECK_STATUS(CAUDAL_ERROR_ARGUMENT, caudal_runtime_stats_json(runtime, NULL));
    CHECK_STATUS(CAUDAL_ERROR_ARGUMENT, caudal_text_free(NULL));
}

static void classes_have_a_limit(void)
{
    caudal_runtime *other = start(policy, NULL);
    char name[] = "class 00";
    caudal_class class_;
    int number;
    for (number = 0; number < 64; number++) {
        name[6] = (char)('0' + number / 10);
        name[7] = (char)('0' + number % 10);
        OK(caudal_runtime_class(other, name, &class_));
    }
    CHECK_STATUS(CAUDAL_ERROR_CLASSES, caudal_runtime_class(other, "one more", &class_));
    OK(caudal_runtime_class(other, "class 07", &class_));
    CHECK(class_ == 7);
    OK(caudal_runtime_destroy(other));
}

static void a_destroyed_runtime_says_so(void)
{
    int stop = 0, started = 0;
    caudal_runtime *other = start(policy, NULL);
    caudal_class class_ = class_of(other, "work");
    caudal_request *running, *sleeping, *refused;
    caudal_left_behind left;
    OK(caudal_submit(other, class_, spin, &stop, &running));
    OK(caudal_submit(other, class_, sleeps_for_ever, &started, &sleeping));
    while (!LOAD(started)) {
        OK(caudal_sleep(MS / 10));
    }
    STORE(stop, 1);
    OK(caudal_runtime_shutdown(other, CAUDAL_SHUTDOWN_CANCEL, &left)); /* with both of them running */
    CHECK(left.abandoned == 0 && left.threads == 0);
    CHECK_STATUS(CAUDAL_ERROR_STOPPED, caudal_submit(other, class_, nothing, NULL, &refused));
    CHECK(refused == NULL);
    OK(caudal_runtime_destroy(other));
    CHECK_STATUS(CAUDAL_ERROR_DESTROYED, caudal_runtime_destroy(other));
    CHECK_STATUS(CAUDAL_ERROR_DESTROYED, caudal_submit(other, class_, nothing, NULL, NULL));
    CHECK_STATUS(CAUDAL_ERROR_DESTROYED, caudal_runtime_class(other, "work", &class_));
    CHECK_STATUS(CAUDAL_ERROR_DESTROYED, caudal_runtime_shutdown(other, CAUDAL_SHUTDOWN_DRAIN, NULL));
    CHECK(ended(running) == CAUDAL_OUTCOME_RETURNED); /* requests outlive it */
    CHECK(ended(sleeping) == CAUDAL_OUTCOME_CANCELLED);
}

static void stops_soon(void *argument)
{
    OK(caudal_sleep(5 * MS));
    STORE(*(int *)argument, 1);
}

static void destroying_lets_running_requests_end(void)
{
    int ended_well = 0;
    caudal_runtime *other = start(policy, NULL);
    OK(caudal_submit(other, class_of(other, "work"), stops_soon, &ended_well, NULL));
    OK(caudal_runtime_destroy(other));
    CHECK(LOAD(ended_well));
}

static void a_forked_child_is_told(void)
{
    int stop = 0, status = 0;
    caudal_request *request = submitted(spin, &stop);
    pid_t child;
    fflush(NULL);
    child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        CHECK_STATUS(CAUDAL_ERROR_FORKED, caudal_submit(runtime, work, nothing, NULL, NULL));
        CHECK_STATUS(CAUDAL_ERROR_FORKED, caudal_wait(request, NULL));
        CHECK_STATUS(CAUDAL_ERROR_FORKED, caudal_runtime_shutdown(runtime, CAUDAL_SHUTDOWN_CANCEL, NULL));
        OK(caudal_runtime_destroy(runtime));
        CHECK_STATUS(CAUDAL_ERROR_DESTROYED, caudal_runtime_destroy(runtime));
        _exit(0);
    }
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    STORE(stop, 1);
    CHECK(ended(request) == CAUDAL_OUTCOME_RETURNED); /* the parent's goes on */
}

static const struct {
    const char *name;
    void (*run)(void);
} cases[] = {
#define CASE(name) {#name, name}
    CASE(null_pointers_are_errors),
    CASE(errors_of_a_policy_are_explained),
    CASE(later_fields_have_to_be_zero),
    CASE(a_handler_may_submit_and_wait),
    CASE(a_handler_may_not_end_its_runtime),
    CASE(a_failure_has_its_words),
    CASE(a_cancelled_handler_is_told_and_not_unwound),
    CASE(a_cancelled_handler_can_still_wait_for_its_own),
    CASE(what_has_not_started_ends_at_once),
    CASE(a_completion_may_release_its_request),
    CASE(waits_end_in_time),
    CASE(one_waits_at_a_time),
    CASE(full_queues_are_answered),
    CASE(flags_are_raised_by_a_dispatcher),
    CASE(errno_survives_preemption),
    CASE(longjmp_out_of_sections_is_mended),
    CASE(waiting_in_a_section_is_refused),
    CASE(mutexes_park_requests),
    CASE(conditions_wake_requests),
    CASE(statistics_count),
    CASE(statistics_can_be_read_as_text),
    CASE(classes_have_a_limit),
    CASE(a_destroyed_runtime_says_so),
    CASE(destroying_lets_running_requests_end),
    CASE(a_forked_child_is_told),
};

int main(int argc, char **argv)
{
    size_t number;
    if (argc < 3) {
        fprintf(stderr, "usage: hazards POLICY BAD_POLICY [CASE]\n");
        return 2;
    }
    policy = argv[1];
    bad_policy = argv[2];
    CHECK(caudal_abi_matches());
    runtime = start(policy, NULL);
    work = class_of(runtime, "work");
    for (number = 0; number < sizeof cases / sizeof cases[0]; number++) {
        if (argc < 4 || strcmp(argv[3], cases[number].name) == 0) {
            cases[number].run();
            printf("%s\n", cases[number].name);
            fflush(stdout);
        }
    }
    OK(caudal_runtime_destroy(runtime));
    return 0;
}
