/*
 * Simulates a service with several servers and one queue: events in a priority_queue, each with a std::function of what
 * to do.
 * Stands for event loops: a heap, indirect calls of closures, a deque, an allocation now and then.
 */
#include <cinttypes>
#include <cstdio>
#include <deque>
#include <functional>
#include <queue>
#include <vector>

#include "input.h"

namespace {

class Simulation {
public:
    using Action = std::function<void()>;

    uint64_t now() const { return now_; }

    void after(uint64_t delay, Action action) { events_.push({now_ + delay, number_++, std::move(action)}); }

    void run()
    {
        while (!events_.empty()) {
            Event event = events_.top();
            events_.pop();
            now_ = event.time;
            event.action();
        }
    }

private:
    struct Event {
        uint64_t time;
        uint64_t number;
        Action action;

        /* The earliest first; of those at one time, the one that was planned first. */
        bool operator<(const Event &other) const
        {
            return time != other.time ? time > other.time : number > other.number;
        }
    };

    std::priority_queue<Event> events_;
    uint64_t now_ = 0;
    uint64_t number_ = 0;
};

/* Uniform service times; those that last long are put back into the queue halfway. */
class Service {
public:
    Service(Simulation &simulation, int servers, uint64_t seed)
        : simulation_(simulation), idle_(servers), seed_(seed)
    {
    }

    void open(int requests)
    {
        if (requests == 0) {
            return;
        }
        submit({simulation_.now(), 10 + random_below(&seed_, 180)});
        simulation_.after(random_below(&seed_, 56), [this, requests] { open(requests - 1); });
    }

    uint64_t checksum() const { return checksum_; }

private:
    struct Request {
        uint64_t arrived;
        uint64_t work;
    };

    void submit(Request request)
    {
        waiting_.push_back(request);
        start();
    }

    void start()
    {
        if (idle_ == 0 || waiting_.empty()) {
            return;
        }
        Request request = waiting_.front();
        waiting_.pop_front();
        idle_--;
        uint64_t slice = request.work > 100 ? request.work / 2 : request.work;
        simulation_.after(slice, [this, request, slice] { stop({request.arrived, request.work - slice}); });
    }

    void stop(Request request)
    {
        idle_++;
        if (request.work > 0) {
            waiting_.push_back(request);
        } else {
            checksum_ = mix(checksum_, simulation_.now() - request.arrived);
        }
        start();
    }

    Simulation &simulation_;
    int idle_;
    uint64_t seed_;
    uint64_t checksum_ = 0;
    std::deque<Request> waiting_;
};

} // namespace

int main(int argc, char **argv)
{
    uint64_t checksum = 0;
    int rounds = scaled_rounds(argc, argv, 220);
    for (int i = 0; i < rounds; i++) {
        Simulation simulation;
        Service service(simulation, 4, static_cast<uint64_t>(i));
        service.open(20000);
        simulation.run();
        checksum = mix(checksum, service.checksum());
    }
    std::printf("%016" PRIx64 "\n", checksum);
    return 0;
}
