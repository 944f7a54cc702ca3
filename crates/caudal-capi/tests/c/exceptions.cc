/* C++ over the library: `exceptions POLICY` checks that exceptions stay with their requests; `exceptions POLICY escape` lets one
 * leave a plain handler; `exceptions POLICY overflow` uses up the stack where an exception was caught, `exceptions POLICY unwind`
 * where one unwinds. */
#include <caudal/caudal.hpp>

#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "check.h"

static caudal_runtime *runtime;
static caudal_class work;

/* Two requests of one worker, each in the middle of handling its own exception when the other one runs. */
static int handles(int value)
{
    int caught = 0;
    for (int round = 0; round < 200; round++) {
        try {
            throw value;
        } catch (int &thrown) {
            caudal::check(caudal_yield());
            CHECK(thrown == value && std::current_exception() != nullptr);
            for (int spun = 0; spun < 100; spun++) {
                CAUDAL_PROBE_CLOCK();
            }
            try {
                throw;
            } catch (int again) {
                caught += again == value;
            }
        }
        CHECK(std::current_exception() == nullptr);
    }
    return caught;
}

static void results_come_back()
{
    std::vector<caudal::request<int>> requests;
    for (int value = 1; value <= 4; value++) {
        requests.push_back(caudal::submit(runtime, work, [value] { return handles(value); }));
    }
    for (auto &request : requests) {
        CHECK(request.get() == 200);
        CHECK(request.is_done());
    }
    std::unique_ptr<int> moved(new int(7));
    int *address = moved.get();
    auto text = caudal::submit(runtime, work, [] { return std::string("moved out"); });
    auto nothing = caudal::submit(runtime, work, [address] { *address = 8; });
    CHECK(text.get() == "moved out");
    nothing.get();
    CHECK(*moved == 8);
}

static void exceptions_come_back()
{
    auto request = caudal::submit(runtime, work, []() -> int { throw std::out_of_range("no such key"); });
    try {
        request.get();
        CHECK(!"it throws");
    } catch (const std::out_of_range &thrown) {
        CHECK(std::string(thrown.what()) == "no such key");
    }
    caudal_error why;
    CHECK(caudal_request_failure(request.handle(), &why) == CAUDAL_OK);
    CHECK(std::string(why.message) == "no such key");
}

/* Closures are destroyed, once each, whatever becomes of their requests. */
static void closures_are_destroyed()
{
    auto counted = std::make_shared<int>(0);
    {
        auto sleeper = caudal::submit(runtime, work, [counted] { caudal::check(caudal_sleep(CAUDAL_FOREVER)); });
        auto thrower = caudal::submit(runtime, work, [counted] { throw 1; });
        auto nested = caudal::submit(runtime, work, [counted] {
            auto inner = caudal::submit(runtime, work, [counted] { return 5; });
            return inner.get();
        });
        CHECK(nested.get() == 5);
        sleeper.cancel();
        try {
            sleeper.get();
            CHECK(!"it throws");
        } catch (const caudal::error &thrown) {
            CHECK(thrown.outcome() == CAUDAL_OUTCOME_CANCELLED);
        }
        try {
            thrower.get();
            CHECK(!"it throws");
        } catch (int thrown) {
            CHECK(thrown == 1);
        }
    }
    CHECK(caudal_runtime_shutdown(runtime, CAUDAL_SHUTDOWN_DRAIN, nullptr) == CAUDAL_OK);
    try {
        caudal::submit(runtime, work, [counted] {});
        CHECK(!"it throws");
    } catch (const caudal::error &thrown) {
        CHECK(thrown.status() == CAUDAL_ERROR_STOPPED);
    }
    CHECK(counted.use_count() == 1);
}

static void sections_end_with_their_scope()
{
    auto request = caudal::submit(runtime, work, [] {
        try {
            caudal::critical_section section;
            throw 1;
        } catch (int) {
        }
        caudal::check(caudal_yield()); /* an error inside of a section */
    });
    request.get();
}

static void throws(void *)
{
    throw std::runtime_error("out of a handler");
}

static int dig(int depth)
{
    volatile char frame[256];
    frame[depth % 256] = 1;
    return depth < 0 ? 0 : dig(depth + 1) + frame[depth % 256];
}

struct digs {
    ~digs() { dig(0); }
};

static void unwinds_and_uses_up_its_stack(void *)
{
    try {
        digs when_it_unwinds;
        throw 1;
    } catch (int) {
    }
}

static void catches_and_uses_up_its_stack(void *)
{
    try {
        throw 1;
    } catch (int) {
        dig(0);
    }
}

static void finds_no_exception(void *found)
{
    *static_cast<bool *>(found) = std::current_exception() != nullptr;
}

static caudal_outcome outcome_of(caudal_handler handler, void *argument)
{
    caudal_request *request = nullptr;
    caudal_outcome outcome = CAUDAL_OUTCOME_NONE;
    OK(caudal_submit(runtime, work, handler, argument, &request));
    OK(caudal_wait(request, &outcome));
    OK(caudal_request_release(request));
    return outcome;
}

static void overflows_are_abandoned(const char *policy, bool unwinding)
{
    caudal_options options;
    caudal_options_init(&options);
    options.on_overflow = CAUDAL_ON_OVERFLOW_ABANDON;
    runtime = start(policy, &options);
    work = class_of(runtime, "work");
    if (unwinding) {
        outcome_of(unwinds_and_uses_up_its_stack, nullptr); /* ends the process */
    }
    bool found = true;
    CHECK(outcome_of(catches_and_uses_up_its_stack, nullptr) == CAUDAL_OUTCOME_ABANDONED);
    CHECK(outcome_of(finds_no_exception, &found) == CAUDAL_OUTCOME_RETURNED);
    CHECK(!found);
    OK(caudal_runtime_destroy(runtime));
    std::puts("the next one finds nothing");
}

#ifdef main
/* A part that is loaded, in which it has another name, by which it is looked up. */
extern "C" int main(int argc, char **argv);
#endif

int main(int argc, char **argv)
{
    CHECK(argc >= 2);
    std::string mode = argc > 2 ? argv[2] : "";
    if (mode == "overflow" || mode == "unwind") {
        overflows_are_abandoned(argv[1], mode == "unwind");
        return 0;
    }
    runtime = start(argv[1], nullptr);
    work = class_of(runtime, "work");
    if (argc > 2) {
        OK(caudal_submit(runtime, work, throws, nullptr, nullptr));
        OK(caudal_sleep(UINT64_C(60000000000)));
        return 0;
    }
    results_come_back();
    exceptions_come_back();
    sections_end_with_their_scope();
    closures_are_destroyed();
    OK(caudal_runtime_destroy(runtime));
    std::puts("exceptions stay with their requests");
    return 0;
}
