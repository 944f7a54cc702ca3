// oneTBB: task_arena::enqueue into an arena with one slot for a worker, from a thread outside.

#include <cstdlib>
#include <future>
#include <iostream>
#include <map>
#include <sched.h>

#include <tbb/global_control.h>
#include <tbb/task_arena.h>
#include <tbb/task_scheduler_observer.h>

#include "trace.hpp"
#include "work.hpp"

using namespace rival;

namespace {

constexpr double lead_ns = 5e6, patience_ns = 2e9;
constexpr std::size_t gap_room = 1 << 18;

void pin_to(int cpu) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    if (sched_setaffinity(0, sizeof set, &set) != 0) throw std::runtime_error("cannot pin to CPU " + std::to_string(cpu));
}

// Pins the worker when it enters the arena.
class PinsWorkers : public tbb::task_scheduler_observer {
  public:
    PinsWorkers(tbb::task_arena &arena, int cpu) : tbb::task_scheduler_observer(arena), cpu(cpu) { observe(true); }
    ~PinsWorkers() override { observe(false); }
    void on_scheduler_entry(bool is_worker) override {
        if (is_worker) pin_to(cpu);
    }

  private:
    int cpu;
};

std::map<std::string, std::string> parse(int count, char **words) {
    std::map<std::string, std::string> options;
    for (int i = 1; i + 1 < count; i += 2) options[words[i]] = words[i + 1];
    for (auto needed : {"--schedule", "--iterations-per-us", "--worker-core", "--generator-core", "--out"})
        if (!options.count(needed)) throw std::runtime_error(std::string(needed) + " is missing");
    return options;
}

std::vector<Job> jobs_of(const Trace &trace, const std::string &speed) {
    const auto colon = speed.find(':');
    if (colon == std::string::npos) throw std::runtime_error("`" + speed + "` is no RATE:OVERHEAD");
    std::vector<Job> jobs;
    for (auto service : trace.services) jobs.emplace_back(service, std::stod(speed.substr(0, colon)), std::stod(speed.substr(colon + 1)));
    return jobs;
}

// Has the worker's thread created and waits for it without a spin: it begins on this core, and moves.
void begin_worker(tbb::task_arena &arena) {
    std::promise<void> begun;
    arena.enqueue([&] { begun.set_value(); });
    begun.get_future().wait();
}

// Gives every request to `submit` at its time; the loop of crates/caudal-measure/src/generator.rs.
template <class Submit>
void release(const Trace &trace, std::uint64_t epoch, GapLog &gaps, Submit submit) {
    std::vector<std::uint64_t> due;
    for (auto ns : trace.arrival_ns) due.push_back(epoch + trace.ticks(double(ns)));
    auto before = now();
    for (std::size_t next = 0; next < due.size();) {
        const auto at = now();
        gaps.check(before, at);
        before = at;
        if (due[next] <= at) {
            submit(next++);
            before = now();
        }
    }
}

void wait_for_all(const Trace &trace, std::uint64_t epoch) {
    const auto deadline = epoch + trace.ticks(double(trace.arrival_ns.back()) + patience_ns);
    for (const auto &cell : trace.cells)
        while (cell.completion.load(std::memory_order_acquire) == 0)
            if (now() > deadline) return;
}

void run(int count, char **words) {
    auto options = parse(count, words);
    Trace trace(options["--schedule"]);
    const auto jobs = jobs_of(trace, options["--iterations-per-us"]);
    pin_to(std::stoi(options["--generator-core"]));
    GapLog work(trace.ticks(gap_ns), gap_room), generator(trace.ticks(gap_ns), gap_room);
    // The generator and the worker: more threads would not get into the arena anyway.
    tbb::global_control two(tbb::global_control::max_allowed_parallelism, 2);
    tbb::task_arena arena(1, 0);
    PinsWorkers pins(arena, std::stoi(options["--worker-core"]));
    begin_worker(arena);
    const auto epoch = now() + trace.ticks(lead_ns);
    release(trace, epoch, generator, [&](std::size_t request) {
        arena.enqueue([&, request] {
            trace.cells[request].start.store(now(), std::memory_order_relaxed);
            jobs[trace.classes[request]].run(work);
            trace.cells[request].completion.store(now(), std::memory_order_release);
        });
    });
    wait_for_all(trace, epoch);
    trace.write(options["--out"], "onetbb", epoch, work, generator);
}

}  // namespace

int main(int count, char **words) {
    try {
        run(count, words);
    } catch (const std::exception &error) {
        std::cerr << "rival-onetbb: " << error.what() << '\n';
        return EXIT_FAILURE;
    }
}
