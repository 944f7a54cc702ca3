/*
 * Caudal for C and C++: microsecond requests on real cores, pre-empted every microsecond or two.
 *
 * This file is generated from crates/caudal-capi; `make header` writes it anew. The guide is docs/guides/first-service-in-c.md.
 *
 * Rules that hold for every function:
 *
 *   - The answer is a caudal_status unless said otherwise; CAUDAL_OK is 0. Null pointers and numbers out of range are answered
 *     with CAUDAL_ERROR_ARGUMENT.
 *   - The library keeps no error per thread, and does not set errno: many requests share a thread.
 *   - "Threads: any" means any thread and any request, also several at once.
 *   - In a request, a call that waits parks the request; the worker runs others. It is an error inside of a critical section.
 *   - Nothing is unwound. A request that is cancelled hears of it from the calls that it makes: CAUDAL_CANCELLED.
 *
 * Probes and critical sections are those of caudal/probe.h: CAUDAL_PROBE_CLOCK() in loops, caudal_critical_enter() and
 * caudal_critical_exit() around what must not be interrupted by another request of the same thread.
 */
#ifndef CAUDAL_CAUDAL_H
#define CAUDAL_CAUDAL_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "probe.h"

/*
 * The version of the interface that this header declares. Programs compare it with caudal_abi_version(): in a library of another version,
 * functions may mean something else, or structures may differ. The name of the shared library ends in it.
 */
#define CAUDAL_ABI_VERSION 1

/* Bytes of a message, its terminating zero included. */
#define CAUDAL_MESSAGE_BYTES 1016

/* Stands for a time without end. */
#define CAUDAL_FOREVER UINT64_MAX

/* The result of a call. caudal_status_text() puts it in words. */
typedef enum {
    /* The call did what it says. */
    CAUDAL_OK = 0,
    /* The request in which the caller runs has been cancelled: release what the handler holds, and return. */
    CAUDAL_CANCELLED = 1,
    /* The time limit of the call passed first. */
    CAUDAL_TIMED_OUT = 2,
    /* A null pointer, or a value out of its range. */
    CAUDAL_ERROR_ARGUMENT = 3,
    /* The queue is full. */
    CAUDAL_ERROR_FULL = 4,
    /* The runtime has stopped, or is about to. */
    CAUDAL_ERROR_STOPPED = 5,
    /* The runtime was destroyed. */
    CAUDAL_ERROR_DESTROYED = 6,
    /* This process was forked from the one that has the runtime's threads. */
    CAUDAL_ERROR_FORKED = 7,
    /* A request must not wait in a critical section: end the section first. */
    CAUDAL_ERROR_IN_SECTION = 8,
    /* A request must not make this call: it would wait for its own end. */
    CAUDAL_ERROR_IN_REQUEST = 9,
    /* Only a request may make this call. */
    CAUDAL_ERROR_NOT_IN_REQUEST = 10,
    /* Another thread or request is using the object. */
    CAUDAL_ERROR_BUSY = 11,
    /* The runtime has the largest number of classes already: let several kinds of requests share one. */
    CAUDAL_ERROR_CLASSES = 12,
    /* The policy's file cannot be read, or is refused; the message says where and why. */
    CAUDAL_ERROR_POLICY = 13,
    /* The operating system or the machine refused something; the message says what. */
    CAUDAL_ERROR_SYSTEM = 14,
    /* The caller does not have the mutex, or has it already. */
    CAUDAL_ERROR_OWNER = 15,
    /* The library failed. Its message is on stderr. */
    CAUDAL_ERROR_INTERNAL = 16,
} caudal_status;

/* How a request ended. */
typedef enum {
    /* It has not ended. */
    CAUDAL_OUTCOME_NONE = 0,
    /* Its handler returned. */
    CAUDAL_OUTCOME_RETURNED = 1,
    /* Its handler called caudal_fail(). */
    CAUDAL_OUTCOME_FAILED = 2,
    /* It was cancelled before it started, or a call answered CAUDAL_CANCELLED to its handler. */
    CAUDAL_OUTCOME_CANCELLED = 3,
    /* It had not started by its deadline. */
    CAUDAL_OUTCOME_EXPIRED = 4,
    /* Its stack overflowed, or it outlived the bound of a shutdown; its stack and what was on it are lost. */
    CAUDAL_OUTCOME_ABANDONED = 5,
    /* The runtime stopped before the request started. */
    CAUDAL_OUTCOME_STOPPED = 6,
} caudal_outcome;

/* The kind of a shutdown: the treatment of requests that have not ended. */
typedef enum {
    /* All accepted requests run to their end. */
    CAUDAL_SHUTDOWN_DRAIN = 0,
    /* Requests that have not started end at once, and the others are cancelled. */
    CAUDAL_SHUTDOWN_CANCEL = 1,
} caudal_shutdown;

/* Where a runtime's threads run. */
typedef enum {
    /* Each thread has a core of its own, one of those that the process may use. */
    CAUDAL_PINNING_CORES = 0,
    /* The operating system chooses the cores; more workers than cores are allowed then. For tests. */
    CAUDAL_PINNING_NONE = 1,
} caudal_pinning;

/* The behaviour of a submission when its queue is full. */
typedef enum {
    /* It waits for room. */
    CAUDAL_ON_FULL_WAIT = 0,
    /* It answers CAUDAL_ERROR_FULL. */
    CAUDAL_ON_FULL_REFUSE = 1,
} caudal_on_full;

/* The reaction to an overflow of a request's stack. */
typedef enum {
    /* The process aborts, with the request's class and a backtrace. */
    CAUDAL_ON_OVERFLOW_ABORT = 0,
    /*
     * The request ends as abandoned. Its stack is leaked, and locks that it holds stay locked. While an exception unwinds it, in a
     * critical section and in the library the process aborts all the same.
     */
    CAUDAL_ON_OVERFLOW_ABANDON = 1,
} caudal_on_overflow;

/* The reaction to a handler that keeps its worker for longer than `stuck_after_ns`; it is counted in any case. */
typedef enum {
    /* A line on stderr names its class; one a second at most. */
    CAUDAL_ON_STUCK_REPORT = 0,
    /*
     * The line, and the functions that the handler is in. To find these, its thread gets a signal, the highest real-time signal without a
     * handler: system calls that never restart, such as poll(), then answer EINTR.
     */
    CAUDAL_ON_STUCK_DUMP = 1,
} caudal_on_stuck;

/* A condition variable, to be used with a caudal_mutex. */
typedef struct caudal_condition caudal_condition;

/* A mutex that parks the request and never its worker. Requests of any runtime may use it, and other threads. Not recursive. */
typedef struct caudal_mutex caudal_mutex;

/* A request that was submitted, until it is released. Any thread may ask about it or cancel it; one at a time may wait for it. */
typedef struct caudal_request caudal_request;

/* A running system of workers. Any thread may use it. */
typedef struct caudal_runtime caudal_runtime;

/* Called on a worker's thread when the thread begins or ends. It must neither wait nor unwind. */
typedef void (*caudal_worker_hook)(void *context, uint32_t worker);

/*
 * Options of a runtime, besides the file with its policy. Fill them with caudal_options_init(), then change what should be otherwise;
 * every 0 means the default.
 */
typedef struct {
    /* Bytes of this structure as the program knows it. */
    size_t size;
    /* Workers; default: the file's `cores`. */
    uint32_t workers;
    /* A caudal_pinning. */
    uint32_t pinning;
    /* A caudal_on_full. */
    uint32_t on_full;
    /* A caudal_on_overflow. */
    uint32_t on_overflow;
    /* Bytes of each coroutine's stack, of address space that takes memory where it is touched; default 256 KiB. */
    uint64_t stack_bytes;
    /* Most stacks on all workers; further requests wait. Default: as many as memory allows. */
    uint64_t stacks_max;
    /* Requests that wait at a worker at most, a power of two; default 1,024. */
    uint64_t queue_of_worker;
    /* Requests that wait for the dispatcher at most, a power of two; default 16,384. */
    uint64_t queue_of_dispatcher;
    /*
     * Nanoseconds for which all threads have to have been idle before they sleep; default 1 ms; CAUDAL_FOREVER: they never
     * sleep.
     */
    uint64_t spin_ns;
    /* A handler that keeps its worker for so many nanoseconds after its quantum is reported as stuck; default 10 ms. */
    uint64_t stuck_after_ns;
    /* Nanoseconds that a shutdown waits for requests before it cancels them, and then again before it gives them up; default 10 s. */
    uint64_t shutdown_bound_ns;
    /* Seed of the policies' random draws; default 1. */
    uint64_t seed;
    /* A caudal_on_stuck. */
    uint32_t on_stuck;
    /*
     * 1: the dispatcher raises a worker's flag when the quantum there is over and others wait, for probes in flag mode
     * (CAUDAL_PROBE_FLAG()), which read no clock. Needs a policy with a dispatcher.
     */
    uint32_t raise_flags;
    /* Called with `worker_context` and the worker's number on each worker's thread, before its first request; may be null. */
    caudal_worker_hook worker_starts;
    /* The same, after its last request; may be null. */
    caudal_worker_hook worker_stops;
    /* The argument of both functions. */
    void *worker_context;
} caudal_options;

/* An error in words. The caller owns it: the library keeps no error for each thread, because many requests share a thread. */
typedef struct {
    /* The result of the call. */
    caudal_status status;
    /* The text, UTF-8, cut where it does not fit; empty if there is nothing to add. */
    char message[CAUDAL_MESSAGE_BYTES];
} caudal_error;

/* A class of requests of one runtime. See caudal_runtime_class(). */
typedef uint32_t caudal_class;

/* Requests and threads that a shutdown could not end. */
typedef struct {
    /* Requests that had started and were given up. */
    uint64_t abandoned;
    /* Threads that were still in a handler, and go on until it returns. */
    uint64_t threads;
} caudal_left_behind;

/*
 * Runs a request, with the argument of its submission, on the stack of a coroutine (256 KiB unless the options say otherwise).
 * It must not be left by an exception or by longjmp: the first aborts the process, the second breaks it.
 */
typedef void (*caudal_handler)(void *argument);

/*
 * Hears how a request ended, once.
 *
 * For a request that ran, it is called on the request's coroutine, after the handler has returned and before caudal_wait() returns; it may
 * do what a handler may. For a request that ended before it started, it is called on the thread that ended the request (in caudal_cancel(),
 * in a shutdown, or a worker), and must neither wait nor take long; caudal_wait() returns afterwards, unless another request has cancelled
 * this one: then before. For an abandoned request it is not called, because the stack is lost.
 */
typedef void (*caudal_completion)(void *argument, caudal_outcome outcome);

/* A request to be submitted. Fill it with caudal_submission_init(), then set at least `handler`. */
typedef struct {
    /* Bytes of this structure as the program knows it. */
    size_t size;
    /* Runs the request. */
    caudal_handler handler;
    /* The argument of the handler; it has to live until the request has ended. */
    void *argument;
    /* Hears how the request ended; may be null. */
    caudal_completion completion;
    /* The argument of the completion. */
    void *completion_argument;
    /* The request ends as expired if it has not started so many nanoseconds after its submission; 0: it has no deadline. */
    uint64_t deadline_ns;
    /* Length of its quanta in nanoseconds, 500 to 1,000,000,000; 0: as the policy says. */
    uint64_t quantum_ns;
    /* 1: never wait for room in the queue, whatever the runtime's options say. */
    uint32_t refuse_if_full;
    /*
     * 1: once started it may go on on another worker's thread, where the policy steals. A promise: wherever a probe of the handler,
     * or of what it calls, can yield, nothing is in use that belongs to a thread, such as a thread-local or a pthread mutex.
     */
    uint32_t migratable;
} caudal_submission;

/* Functions that take and put back a place of the thread when the thread goes from one request to another. See caudal_carry(). */
typedef struct {
    /*
     * Called when the request gives its worker back: moves the request's value from the place to `state`, 64 bytes of the request's own,
     * aligned to 16, and puts into the place the value that a new request is to find.
     */
    void (*leave)(void *context, void *state);
    /* Called when the request goes on, maybe on another thread if it is migratable: puts the value back that `leave` has moved to `state`. */
    void (*enter)(void *context, void *state);
    /* Called before a request begins: puts the value into the place that a new request is to find. */
    void (*begin)(void *context);
    /* The functions' first argument. */
    void *context;
} caudal_carry_hooks;

/* Hears on which stack the calling thread is about to be. See caudal_on_stack_enter(). */
typedef void (*caudal_stack_entering)(void *context, void *low, void *high);

/*
 * Called with a coroutine's stack: `low`, the lowest address that is in use, and `high`, the end of the stack. If the coroutine `runs`, `low`
 * is from the time when it last went on. Then either its thread is on this stack, and the thread's stack pointer says what is in use now; or
 * the thread is on its own stack, about to switch to the coroutine or just back from it, and `low` is still right. So a collector scans
 * the addresses from `low` to `high` of each coroutine, and every thread from its stack pointer.
 */
typedef void (*caudal_stack_visitor)(void *context, void *low, void *high, int32_t runs);

/* Times of a class's requests on all workers, in nanoseconds; percentiles are off by at most 1/64. */
typedef struct {
    /* Mean. */
    double mean_ns;
    /* Median. */
    double p50_ns;
    /* 90th percentile. */
    double p90_ns;
    /* 99th percentile. */
    double p99_ns;
    /* 99.9th percentile. */
    double p999_ns;
    /* The longest. */
    double max_ns;
} caudal_times;

/* Measurements of a class since the runtime started. They are raw: stalls of the machine are not filtered out. */
typedef struct {
    /* Bytes of this structure as the program knows it. */
    size_t size;
    /* Requests that have ended after they had started. */
    uint64_t finished;
    /* From arrival to start. */
    caudal_times queueing;
    /* On the worker. */
    caudal_times service;
    /* From arrival to end. */
    caudal_times sojourn;
} caudal_class_stats;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/* The version of the library that runs: a CAUDAL_ABI_VERSION. Any thread, any time. */
uint32_t caudal_abi_version(void);

/* The meaning of a status, in a sentence; for a value that is no status, that it is unknown. Any thread; the text is never freed. */
const char *caudal_status_text(uint32_t status);

/*
 * Starts the system that the policy file at `path` describes (see docs/reference/file-format.md), and stores it in `*out`.
 * `options` may be null. On failure `*out` is null, and `*error`, which may be null, says what is wrong and what would be right.
 *
 * Errors: CAUDAL_ERROR_ARGUMENT; CAUDAL_ERROR_POLICY, if the file cannot be read or is refused; CAUDAL_ERROR_SYSTEM, if the
 * machine has too few cores or refuses threads or memory; CAUDAL_ERROR_FORKED.
 * Ownership: the caller owns the runtime, and ends it with caudal_runtime_destroy(). Path and options may go when the call returns.
 * Threads: any but a request's (CAUDAL_ERROR_IN_REQUEST).
 */
caudal_status caudal_runtime_create(const char *path,
                                    const caudal_options *options,
                                    caudal_runtime **out,
                                    caudal_error *error);

/*
 * Stores the class with this name in `*out`; the first call for a name makes it. Latencies are measured for each class.
 *
 * Errors: CAUDAL_ERROR_ARGUMENT, CAUDAL_ERROR_CLASSES, CAUDAL_ERROR_DESTROYED.
 * Ownership: the name may go when the call returns. Threads: any.
 */
caudal_status caudal_runtime_class(caudal_runtime *runtime, const char *name, caudal_class *out);

/*
 * Stores the number of workers in `*out`.
 *
 * Errors: CAUDAL_ERROR_ARGUMENT, CAUDAL_ERROR_DESTROYED. Threads: any.
 */
caudal_status caudal_runtime_workers(caudal_runtime *runtime, size_t *out);

/*
 * From now on quanta are so many nanoseconds long, at least 500, whatever the policy's file says.
 *
 * Errors: CAUDAL_ERROR_ARGUMENT, CAUDAL_ERROR_DESTROYED. Threads: any.
 */
caudal_status caudal_runtime_set_quantum(caudal_runtime *runtime, uint64_t quantum_ns);

/*
 * Stops the runtime: it accepts no more requests, its requests run to their end or are ended (`mode`, a caudal_shutdown), and its
 * threads end. The call returns when all this has happened, or the bound of the options has passed. Requests and threads that could not be
 * ended are counted in `*left`, which may be null. The outcomes of a stopped runtime's requests can still be asked for; a second shutdown does nothing.
 *
 * Errors: CAUDAL_ERROR_ARGUMENT, CAUDAL_ERROR_DESTROYED, CAUDAL_ERROR_FORKED, CAUDAL_ERROR_IN_REQUEST. Threads: any but a request's.
 */
caudal_status caudal_runtime_shutdown(caudal_runtime *runtime,
                                      uint32_t mode,
                                      caudal_left_behind *left);

/*
 * Stops the runtime as caudal_runtime_shutdown() with CAUDAL_SHUTDOWN_DRAIN does, and frees what it has. Calls that other threads
 * make meanwhile, or later, answer CAUDAL_ERROR_DESTROYED, or CAUDAL_ERROR_STOPPED. Requests that the program has not released
 * stay valid. In a forked child it frees nothing, and is not an error.
 *
 * Errors: CAUDAL_ERROR_ARGUMENT, CAUDAL_ERROR_DESTROYED, CAUDAL_ERROR_IN_REQUEST. Threads: any but a request's.
 */
caudal_status caudal_runtime_destroy(caudal_runtime *runtime);

/*
 * Submits a request of `class`: `handler(argument)` will run on a worker. If the queue is full, the call waits for room or
 * refuses, as the runtime's options say. `out` may be null: then the request is detached, and its outcome can not be asked for.
 *
 * Errors: CAUDAL_ERROR_ARGUMENT, CAUDAL_ERROR_FULL, CAUDAL_ERROR_STOPPED, CAUDAL_ERROR_DESTROYED, CAUDAL_ERROR_FORKED; in a request
 * also CAUDAL_CANCELLED and CAUDAL_ERROR_IN_SECTION. The handler is then not called.
 * Ownership: the caller owns `*out`, and gives it back with caudal_request_release(); what `argument` points to stays the
 * caller's and has to live until the request has ended. Threads: any, requests included.
 */
caudal_status caudal_submit(caudal_runtime *runtime,
                            caudal_class class_,
                            caudal_handler handler,
                            void *argument,
                            caudal_request **out);

/* As caudal_submit(), but never waits: answers CAUDAL_ERROR_FULL where there is no room. */
caudal_status caudal_try_submit(caudal_runtime *runtime,
                                caudal_class class_,
                                caudal_handler handler,
                                void *argument,
                                caudal_request **out);

/*
 * As caudal_submit(), with a completion, a deadline or a quantum: see caudal_submission. If the request is not accepted, the
 * completion is not called. The structure may go when the call returns.
 */
caudal_status caudal_submit_with(caudal_runtime *runtime,
                                 caudal_class class_,
                                 const caudal_submission *submission,
                                 caudal_request **out);

/*
 * Waits until the request has ended, and stores how in `*outcome`, which may be null. If the caller is in a request, that request parks, and
 * its worker runs others; any other thread spins for some 20 us, then sleeps. May be called again.
 *
 * Errors: CAUDAL_CANCELLED, if the request in which the caller runs is cancelled: the request waited for goes on, and may still use
 * the caller's memory (caudal_wait_regardless() goes on waiting in this case). CAUDAL_ERROR_ARGUMENT, CAUDAL_ERROR_BUSY (somebody
 * else waits for it), CAUDAL_ERROR_FORKED, CAUDAL_ERROR_IN_SECTION. Threads: any, one at a time.
 */
caudal_status caudal_wait(caudal_request *request,
                          caudal_outcome *outcome);

/* As caudal_wait(), for `longest_ns` nanoseconds at most; CAUDAL_TIMED_OUT if the request has not ended by then. */
caudal_status caudal_wait_for(caudal_request *request, uint64_t longest_ns, caudal_outcome *outcome);

/* As caudal_wait(), but a request that is cancelled goes on waiting: for handlers whose own requests use their memory. */
caudal_status caudal_wait_regardless(caudal_request *request, caudal_outcome *outcome);

/* How the request ended, without waiting; CAUDAL_OUTCOME_NONE while it has not, and for null. Threads: any. */
caudal_outcome caudal_request_outcome(const caudal_request *request);

/*
 * Why the request failed: fills `*error` with what its handler gave to caudal_fail(), or with an empty message. `error->status` is
 * CAUDAL_OK.
 *
 * Errors: CAUDAL_ERROR_ARGUMENT. Threads: any.
 */
caudal_status caudal_request_failure(const caudal_request *request,
                                     caudal_error *error);

/*
 * Cancels the request. If it has not started, it ends at once. If it has started, it goes on until its handler returns, but from now on
 * its calls that wait, caudal_yield() and caudal_check_cancelled() answer CAUDAL_CANCELLED. A request that has ended stays as
 * it is.
 *
 * Errors: CAUDAL_ERROR_ARGUMENT. Threads: any.
 */
caudal_status caudal_cancel(caudal_request *request);

/*
 * Releases the request, after which `request` must not be used. A request that has not ended goes on, detached.
 *
 * Errors: CAUDAL_ERROR_ARGUMENT; CAUDAL_ERROR_BUSY, if somebody waits for it: then it is not released. Threads: any.
 */
caudal_status caudal_request_release(caudal_request *request);

/*
 * Called by a handler: its request has failed, and `message` (UTF-8; null: no words) says why. The handler goes on and should return;
 * then the request ends as CAUDAL_OUTCOME_FAILED. The last call counts.
 *
 * Errors: CAUDAL_ERROR_NOT_IN_REQUEST. Ownership: the message is copied. Threads: requests'.
 */
caudal_status caudal_fail(const char *message);

/*
 * Lets other requests of this worker run; outside of requests, other threads.
 *
 * Errors: CAUDAL_CANCELLED, CAUDAL_ERROR_IN_SECTION. Threads: any.
 */
caudal_status caudal_yield(void);

/*
 * Waits for so many nanoseconds. A request parks, and its worker runs others; on another thread the thread sleeps.
 *
 * Errors: CAUDAL_CANCELLED, as soon as the request is cancelled; CAUDAL_ERROR_IN_SECTION. Threads: any.
 */
caudal_status caudal_sleep(uint64_t ns);

/*
 * Has the request in which the caller runs been cancelled? Then CAUDAL_CANCELLED, else CAUDAL_OK, also outside of requests. If a
 * handler got this answer and returns, its request ends as CAUDAL_OUTCOME_CANCELLED; if it never asks and never waits, the request ends as
 * CAUDAL_OUTCOME_RETURNED, although it was cancelled.
 *
 * Threads: any.
 */
caudal_status caudal_check_cancelled(void);

/* 1 in a request, 0 elsewhere. Threads: any. */
int32_t caudal_is_in_request(void);

/*
 * Gives each request a value of its own for something that its code keeps in the thread: `hooks` take the value out when a request gives
 * its worker back, and put it back when the request goes on. From now on and for as long as the process lives, the functions are called
 * on workers' threads, in a critical section, at every switch from one request to another. They must neither wait nor unwind.
 *
 * Errors: CAUDAL_ERROR_ARGUMENT, if a function is missing; CAUDAL_ERROR_FULL, after 16 places.
 * Ownership: the structure is copied; what `context` points to has to stay. Threads: any.
 */
caudal_status caudal_carry(const caudal_carry_hooks *hooks);

/*
 * Lets each request have its own value in an aligned word of 8 bytes that belongs to the thread, such as a `_Thread_local` pointer or
 * `uint64_t`: `address` answers where the calling thread has the word. A request begins with `beginning` there. The rest is as for
 * caudal_carry().
 *
 * Errors: CAUDAL_ERROR_ARGUMENT, CAUDAL_ERROR_FULL. Threads: any.
 */
caudal_status caudal_carry_word(void *(*address)(void),
                                uint64_t beginning);

/*
 * Calls `entering` with `context` on a worker's thread, each time before the worker goes on with a coroutine, whose stack is from `low` up
 * to `high`: for garbage collectors that have to know at any time on which stack a thread may be. `entering` runs on the thread's own
 * stack. From that call to the next one, the thread is either on its own stack or on the coroutine's. The function must neither wait nor
 * unwind. A later call of caudal_on_stack_enter() replaces `entering`; some bytes of the earlier registration are never freed, because a
 * worker may still be calling it.
 *
 * Errors: CAUDAL_ERROR_ARGUMENT. Threads: any.
 */
caudal_status caudal_on_stack_enter(caudal_stack_entering entering,
                                    void *context);

/*
 * Calls `visitor` with `context` for the stack of every coroutine of this process: for garbage collectors, which look for pointers
 * there. `visitor` gets the lowest address that is in use (not the end of the whole stack), the upper end, and whether the coroutine runs:
 * see caudal_stack_visitor. caudal_each_stack() takes no lock, allocates nothing, and may be called in a signal handler. Registers of a
 * coroutine that does not run are on its stack.
 *
 * Errors: CAUDAL_ERROR_ARGUMENT. Threads: any, but all workers have to stand still meanwhile, wherever they are: the caller has stopped
 * them.
 */
caudal_status caudal_each_stack(caudal_stack_visitor visitor,
                                void *context);

/*
 * Makes a free mutex.
 *
 * Errors: CAUDAL_ERROR_ARGUMENT. Ownership: the caller owns it, and ends it with caudal_mutex_destroy(). Threads: any.
 */
caudal_status caudal_mutex_create(caudal_mutex **out);

/*
 * Ends a mutex that nobody has or waits for, after which it must not be used.
 *
 * Errors: CAUDAL_ERROR_ARGUMENT; CAUDAL_ERROR_BUSY, if somebody has it: then it stays. Threads: any.
 */
caudal_status caudal_mutex_destroy(caudal_mutex *mutex);

/*
 * Takes the mutex; waits while somebody else has it.
 *
 * Errors, after which the caller does not have it: CAUDAL_CANCELLED, if its request is cancelled while it waits;
 * CAUDAL_ERROR_ARGUMENT; CAUDAL_ERROR_OWNER, if it has it already; CAUDAL_ERROR_IN_SECTION, if it would have to wait. Threads: any.
 */
caudal_status caudal_mutex_lock(caudal_mutex *mutex);

/* As caudal_mutex_lock(), but a request that is cancelled goes on waiting: for handlers that have to tidy up under the mutex. */
caudal_status caudal_mutex_lock_regardless(caudal_mutex *mutex);

/*
 * Takes the mutex if it is free; else CAUDAL_ERROR_BUSY.
 *
 * Errors: CAUDAL_ERROR_ARGUMENT. Threads: any.
 */
caudal_status caudal_mutex_try_lock(caudal_mutex *mutex);

/*
 * Frees the mutex.
 *
 * Errors: CAUDAL_ERROR_ARGUMENT; CAUDAL_ERROR_OWNER, if the caller's request (outside of requests, thread) does not have it.
 * Threads: any.
 */
caudal_status caudal_mutex_unlock(caudal_mutex *mutex);

/*
 * Makes a condition variable.
 *
 * Errors: CAUDAL_ERROR_ARGUMENT. Ownership: the caller owns it, and ends it with caudal_condition_destroy(). Threads: any.
 */
caudal_status caudal_condition_create(caudal_condition **out);

/*
 * Ends a condition variable at which nobody waits, after which it must not be used.
 *
 * Errors: CAUDAL_ERROR_ARGUMENT. Threads: any.
 */
caudal_status caudal_condition_destroy(caudal_condition *condition);

/*
 * Frees the mutex, waits to be notified, for `longest_ns` at most (CAUDAL_FOREVER: without end), and takes the mutex again. The caller
 * has the mutex afterwards, whatever the answer is. Call this in a loop that checks the condition.
 *
 * Errors: CAUDAL_TIMED_OUT, CAUDAL_CANCELLED, CAUDAL_ERROR_ARGUMENT; CAUDAL_ERROR_OWNER, if the caller does not have the mutex;
 * CAUDAL_ERROR_IN_SECTION. Threads: any.
 */
caudal_status caudal_condition_wait(caudal_condition *condition,
                                    caudal_mutex *mutex,
                                    uint64_t longest_ns);

/*
 * Wakes the request or thread that has waited longest, if any waits.
 *
 * Errors: CAUDAL_ERROR_ARGUMENT. Threads: any.
 */
caudal_status caudal_condition_notify_one(caudal_condition *condition);

/*
 * Wakes all that wait.
 *
 * Errors: CAUDAL_ERROR_ARGUMENT. Threads: any.
 */
caudal_status caudal_condition_notify_all(caudal_condition *condition);

/*
 * Fills `*out`, which caudal_class_stats_init() has prepared, with what was measured of `class` so far. Takes some ten
 * microseconds.
 *
 * Errors: CAUDAL_ERROR_ARGUMENT, CAUDAL_ERROR_DESTROYED. Threads: any.
 */
caudal_status caudal_runtime_class_stats(caudal_runtime *runtime, caudal_class class_, caudal_class_stats *out);

/*
 * Stores everything that was measured so far, of classes and workers, in `*out`, as the JSON that `caudal top` reads.
 *
 * Errors: CAUDAL_ERROR_ARGUMENT, CAUDAL_ERROR_DESTROYED. Ownership: the caller owns the text, and gives it back with
 * caudal_text_free(). Threads: any.
 */
caudal_status caudal_runtime_stats_json(caudal_runtime *runtime, char **out);

/*
 * The same as text for Prometheus to scrape.
 *
 * Errors, ownership and threads as for caudal_runtime_stats_json().
 */
caudal_status caudal_runtime_stats_prometheus(caudal_runtime *runtime, char **out);

/*
 * Gives a text of the library back.
 *
 * Errors: CAUDAL_ERROR_ARGUMENT. Threads: any.
 */
caudal_status caudal_text_free(char *text);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

/* Sets every field to its default. */
static inline void caudal_options_init(caudal_options *options)
{
    memset(options, 0, sizeof *options);
    options->size = sizeof *options;
}

/* Sets every field to its default; `handler` has to be set by the program. */
static inline void caudal_submission_init(caudal_submission *submission)
{
    memset(submission, 0, sizeof *submission);
    submission->size = sizeof *submission;
}

/* Prepares a structure for caudal_runtime_class_stats(). */
static inline void caudal_class_stats_init(caudal_class_stats *stats)
{
    memset(stats, 0, sizeof *stats);
    stats->size = sizeof *stats;
}

/* 1 if the library that runs is of the version that this header describes. */
static inline int caudal_abi_matches(void)
{
    return caudal_abi_version() == CAUDAL_ABI_VERSION;
}

#endif
