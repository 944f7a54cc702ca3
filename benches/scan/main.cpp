// Gets and scans on LevelDB as requests of the runtime, on one worker. This sends them when a schedule says so and writes a trace
// (crates/caudal-measure/src/trace.rs) of when each of them was complete. crates/caudal-rt-bench/src/scan runs this program.
//
//      leveldb-scan alone CORE
//          what a get and a scan take without a runtime, as `GET_NS SCAN_NS`
//      leveldb-scan run SCHEDULE TRACE POLICY GENERATOR_CORE WORKER_CORE REAL_TIME
//          runs the schedule, whose first class is gets and whose second is scans; prints `CHECKSUM YIELDS` of all answers. Each
//          has to be what it was before the runtime began. REAL_TIME: priority of all threads meanwhile, 0 for none
#include <algorithm>
#include <chrono>
#include <cinttypes>
#include <cstdio>
#include <sched.h>
#include <unistd.h>

#include <caudal/caudal.h>

#include "input.h"
#include "service.hpp"
#include "watch.hpp"

using rival::now;

void service::goes_on() { watch::goes_on(); }

namespace {

enum Class { GET, SCAN };
constexpr double LEAD_NS = 5e6, PATIENCE_NS = 2e9;
/// More than ever wait: a full queue would be a fault of the bench.
constexpr uint64_t QUEUE = 1 << 18;
/// What the rest of the machine gets before real-time priority: else the kernel takes it when it likes.
constexpr useconds_t PAUSE_US = 300000;

[[noreturn]] void fail(const std::string &what) { throw std::runtime_error(what); }

void check(caudal_status status, const char *what)
{
    if (status != CAUDAL_OK) {
        fail(std::string(what) + ": " + caudal_status_text(status));
    }
}

void use_cores(std::initializer_list<int> cores)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    for (int core : cores) {
        CPU_SET(core, &set);
    }
    if (sched_setaffinity(0, sizeof set, &set) != 0) {
        fail("these cores cannot be used");
    }
}

void set_priority(int priority)
{
    sched_param parameters{};
    parameters.sched_priority = priority;
    if (priority != 0) {
        usleep(PAUSE_US);
    }
    if (sched_setscheduler(0, priority == 0 ? SCHED_OTHER : SCHED_FIFO, &parameters) != 0) {
        fail("no real-time priority");
    }
}

uint64_t answer(uint32_t of_class, uint64_t seed) { return of_class == SCAN ? service::scan(seed) : service::get(seed); }

/// A schedule while it runs: requests know their number, and find the rest here.
struct Run {
    rival::Trace trace;
    std::vector<uint64_t> answers;

    explicit Run(const std::string &schedule) : trace(schedule), answers(trace.cells.size())
    {
        if (trace.services.size() != SCAN + 1) {
            fail("the schedule has other classes than gets and scans");
        }
    }

    /// The same request of any program has the same seed.
    uint64_t answer_of(size_t request) const { return answer(trace.classes[request], request + 1); }
};

Run *running;

/// A request.
void serve(void *number)
{
    auto request = reinterpret_cast<size_t>(number);
    rival::Cell &cell = running->trace.cells[request];
    watch::worker.since = now();
    cell.start.store(watch::worker.since, std::memory_order_relaxed);
    running->answers[request] = running->answer_of(request);
    watch::goes_on();
    cell.completion.store(watch::worker.since, std::memory_order_release);
    watch::worker.since = 0;
}

/// The runtime with one worker, and a class for each of the schedule.
struct Runtime {
    caudal_runtime *handle = nullptr;
    caudal_class classes[2];

    explicit Runtime(const char *policy)
    {
        caudal_options options;
        caudal_options_init(&options);
        options.queue_of_worker = QUEUE;
        caudal_error error;
        if (caudal_runtime_create(policy, &options, &handle, &error) != CAUDAL_OK) {
            fail(error.message);
        }
        check(caudal_runtime_class(handle, "get", &classes[GET]), "class");
        check(caudal_runtime_class(handle, "scan", &classes[SCAN]), "class");
    }

    void submit(uint32_t of_class, size_t request)
    {
        void *number = reinterpret_cast<void *>(request);
        check(caudal_try_submit(handle, classes[of_class], serve, number, nullptr), "submit");
    }
};

/// Sends every request when its time has come, whatever became of others; the loop of crates/caudal-measure/src/generator.rs.
void generate(Run &run, Runtime &runtime, uint64_t epoch, rival::GapLog &gaps)
{
    uint64_t before = now();
    for (size_t next = 0; next < run.trace.cells.size();) {
        uint64_t at = now();
        gaps.check(before, at);
        before = at;
        if (epoch + run.trace.ticks(double(run.trace.arrival_ns[next])) <= at) {
            runtime.submit(run.trace.classes[next], next);
            next++;
            before = now();
        }
    }
}

/// Sleeps until all are complete, or have been waited for long enough.
void wait_for_all(const Run &run, uint64_t epoch)
{
    uint64_t deadline = epoch + run.trace.ticks(double(run.trace.arrival_ns.back()) + PATIENCE_NS);
    for (const rival::Cell &cell : run.trace.cells) {
        while (cell.completion.load(std::memory_order_acquire) == 0) {
            if (now() > deadline) {
                fail("a request has never been complete");
            }
            usleep(1000);
        }
    }
}

uint64_t checksum_of(const std::vector<uint64_t> &answers)
{
    uint64_t checksum = 0;
    for (uint64_t each : answers) {
        checksum = mix(checksum, each);
    }
    return checksum;
}

void run_schedule(char **words)
{
    int generator = atoi(words[3]), worker = atoi(words[4]);
    if (generator >= worker) {
        fail("the worker's core has to come behind the generator's: the runtime takes the last one that it may use");
    }
    use_cores({generator, worker});
    service::open();
    Run run(words[0]);
    std::vector<uint64_t> alone(run.answers.size());
    for (size_t request = 0; request < alone.size(); request++) {
        alone[request] = run.answer_of(request);
    }
    running = &run;
    watch::worker.gaps.threshold = run.trace.ticks(watch::GAP_NS);
    watch::worker.gaps.gaps.clear();
    rival::GapLog generator_gaps(run.trace.ticks(rival::gap_ns), watch::GAP_ROOM);

    set_priority(atoi(words[5]));
    Runtime runtime(words[2]);
    use_cores({generator});
    watch::yields();
    uint64_t epoch = now() + run.trace.ticks(LEAD_NS);
    generate(run, runtime, epoch, generator_gaps);
    wait_for_all(run, epoch);
    check(caudal_runtime_destroy(runtime.handle), "destroy");

    if (run.answers != alone) {
        fail("a request's answer is another one than alone");
    }
    run.trace.write(words[1], "leveldb", epoch, watch::worker.gaps, generator_gaps);
    std::printf("%016" PRIx64 " %" PRIu64 "\n", checksum_of(run.answers), watch::worker.yields);
    service::close();
}

/// The median of so many requests, in ns.
double median_ns(uint32_t of_class, size_t count)
{
    using Clock = std::chrono::steady_clock;
    std::vector<double> taken;
    for (size_t request = 1; request <= count; request++) {
        Clock::time_point start = Clock::now();
        volatile uint64_t kept = answer(of_class, request);
        static_cast<void>(kept);
        taken.push_back(std::chrono::duration<double, std::nano>(Clock::now() - start).count());
    }
    std::nth_element(taken.begin(), taken.begin() + count / 2, taken.end());
    return taken[count / 2];
}

void measure_alone(int core)
{
    use_cores({core});
    service::open();
    // The first ones fill the cache.
    median_ns(SCAN, 100);
    std::printf("%.0f %.0f\n", median_ns(GET, 100000), median_ns(SCAN, 500));
    service::close();
}

} // namespace

int main(int count, char **words)
{
    std::string what = count > 1 ? words[1] : "";
    try {
        if (what == "alone" && count == 3) {
            measure_alone(atoi(words[2]));
        } else if (what == "run" && count == 8) {
            run_schedule(words + 2);
        } else {
            fail("usage: leveldb-scan alone CORE | run SCHEDULE TRACE POLICY GENERATOR_CORE WORKER_CORE REAL_TIME");
        }
    } catch (const std::exception &error) {
        std::fprintf(stderr, "leveldb-scan: %s\n", error.what());
        // Workers may be at it still.
        _exit(1);
    }
}
