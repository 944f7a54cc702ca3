// C++'s locks, what it initialises once, and sections that an exception leaves, under probes that the pass has put in.
#include <condition_variable>
#include <mutex>
#include <shared_mutex>
#include <stdexcept>

#include "turns.h"

namespace {

struct turns *turns_of(void *argument)
{
    return static_cast<struct turns *>(argument);
}

template <class Lock, Lock &lock> void first(void *turns)
{
    std::lock_guard<Lock> guard(lock);
    be_preempted(turns_of(turns));
}

template <class Lock, Lock &lock> void waits(void *turns)
{
    std::lock_guard<Lock> guard(lock);
    wait_with_it(turns_of(turns));
}

template <class Lock, Lock &lock> void second(void *turns)
{
    STORE(turns_of(turns)->wants, 1);
    std::lock_guard<Lock> guard(lock);
    use_it(turns_of(turns));
}

std::mutex mutex;
std::recursive_mutex recursive_mutex;
std::timed_mutex timed_mutex;
std::shared_mutex shared_mutex;

void reader(void *turns)
{
    STORE(turns_of(turns)->wants, 1);
    std::shared_lock<std::shared_mutex> guard(shared_mutex);
    use_it(turns_of(turns));
}

// An exception leaves the lock, and with it the section: the second one gets its turn while the first still runs.
void throws(void *argument)
{
    struct turns *turns = turns_of(argument);
    try {
        std::lock_guard<std::mutex> guard(mutex);
        be_preempted(turns);
        throw std::runtime_error("out");
    } catch (const std::runtime_error &) {
    }
    CHECK(caudal_critical_depth() == 0);
    while (!LOAD(turns->second_ran)) {
        work();
    }
}

void throws_second(void *argument)
{
    second<std::mutex, mutex>(argument);
    STORE(turns_of(argument)->second_ran, 1);
}

// --- a static variable ----------------------------------------------------------------------------------------------

bool waits_in_it;

struct Slow {
    explicit Slow(struct turns *turns)
    {
        made++;
        if (waits_in_it) {
            wait_with_it(turns);
        } else {
            be_preempted(turns);
        }
    }
    static int made;
};
int Slow::made;

__attribute__((noinline)) Slow &slow(struct turns *turns)
{
    static Slow object(turns);
    return object;
}

void static_first(void *turns)
{
    slow(turns_of(turns));
    CHECK(caudal_critical_depth() == 0);
}

void static_waits(void *turns)
{
    waits_in_it = true;
    slow(turns_of(turns));
}

void static_second(void *turns)
{
    STORE(turns_of(turns)->wants, 1);
    slow(turns_of(turns));
    CHECK(Slow::made == 1);
    use_it(turns_of(turns));
}

// The first one fails; the second makes it.
struct Fails {
    explicit Fails(struct turns *turns)
    {
        wait_with_it(turns);
        if (tried++ == 0) {
            throw std::runtime_error("not yet");
        }
    }
    static int tried;
};
int Fails::tried;

__attribute__((noinline)) Fails &fails(struct turns *turns)
{
    static Fails object(turns);
    return object;
}

void static_fails(void *turns)
{
    try {
        fails(turns_of(turns));
        CHECK(false);
    } catch (const std::runtime_error &) {
    }
    CHECK(caudal_critical_depth() == 0);
}

void static_fails_second(void *turns)
{
    STORE(turns_of(turns)->wants, 1);
    fails(turns_of(turns));
    CHECK(Fails::tried == 2);
}

// --- thread_local -----------------------------------------------------------------------------------------------------

// Whoever makes the variable, the other one finds it made.
struct Made {
    static struct turns *turns;
    int number;
    Made() : number(0)
    {
        be_preempted(turns);
        number = 42;
    }
    ~Made() { number = 0; }
};
struct turns *Made::turns;
thread_local Made of_file;

int made_of_file()
{
    return of_file.number;
}

int made_in_function()
{
    thread_local Made made;
    return made.number;
}

template <int (*made)()> void makes(void *turns)
{
    Made::turns = turns_of(turns);
    CHECK(made() == 42);
    CHECK(caudal_critical_depth() == 0);
}

template <int (*made)()> void finds_made(void *)
{
    CHECK(made() == 42);
}

// --- call_once ------------------------------------------------------------------------------------------------------

std::once_flag once, others;
int by_first, by_second;

void once_first(void *turns)
{
    std::call_once(once, [&] {
        by_first++;
        be_preempted(turns_of(turns));
    });
    CHECK(caudal_critical_depth() == 0);
}

void once_waits(void *turns)
{
    std::call_once(once, [&] {
        by_first++;
        wait_with_it(turns_of(turns));
    });
}

void once_second(void *turns)
{
    STORE(turns_of(turns)->wants, 1);
    std::call_once(once, [&] { by_second++; });
    CHECK(by_first == 1 && by_second == 0);
    use_it(turns_of(turns));
}

// The first one throws while the second waits with a closure of its own, which is then called. In between the first one calls
// another one, through the same thread-locals.
void once_throws(void *turns)
{
    try {
        std::call_once(once, [&] {
            wait_with_it(turns_of(turns));
            std::call_once(others, [] { by_first++; });
            throw std::runtime_error("not yet");
        });
        CHECK(false);
    } catch (const std::runtime_error &) {
    }
    CHECK(caudal_critical_depth() == 0);
}

void once_throws_second(void *turns)
{
    STORE(turns_of(turns)->wants, 1);
    std::call_once(once, [&] {
        by_second++;
        use_it(turns_of(turns));
    });
    CHECK(by_first == 1 && by_second == 1);
}

// --- conditions -----------------------------------------------------------------------------------------------------

std::condition_variable bell;

void condition_first(void *argument)
{
    struct turns *turns = turns_of(argument);
    std::unique_lock<std::mutex> guard(mutex);
    STORE(turns->begun, 1);
    bell.wait(guard, [&] { return LOAD(turns->second_ran) != 0; });
    go_in(turns);
    go_out(turns);
}

void condition_second(void *argument)
{
    std::lock_guard<std::mutex> guard(mutex);
    STORE(turns_of(argument)->second_ran, 1);
    bell.notify_all();
}

// --- sections -------------------------------------------------------------------------------------------------------

// To the library's own thread-local, say, which throws.
caudal_nopreempt void section(struct turns *turns)
{
    be_preempted(turns);
    throw std::runtime_error("out");
}

void section_first(void *argument)
{
    struct turns *turns = turns_of(argument);
    try {
        section(turns);
    } catch (const std::runtime_error &) {
    }
    CHECK(caudal_critical_depth() == 0);
    while (!LOAD(turns->second_ran)) {
        work();
    }
}

// As a list names them.
__attribute__((noinline)) void listed_section(struct turns *turns)
{
    be_preempted(turns);
}

__attribute__((noinline)) void listed_call(struct turns *turns)
{
    be_preempted(turns);
    throw std::runtime_error("out");
}

void listed_first(void *turns)
{
    listed_section(turns_of(turns));
    CHECK(caudal_critical_depth() == 0);
}

void listed_call_first(void *turns)
{
    try {
        listed_call(turns_of(turns));
    } catch (const std::runtime_error &) {
    }
    CHECK(caudal_critical_depth() == 0);
}

void plain_second(void *argument)
{
    use_it(turns_of(argument));
    STORE(turns_of(argument)->second_ran, 1);
}

} // namespace

int main(int argc, char **argv)
{
    static const struct test tests[] = {
        {"mutex", first<std::mutex, mutex>, second<std::mutex, mutex>},
        {"mutex_over_a_wait", waits<std::mutex, mutex>, second<std::mutex, mutex>},
        {"recursive", first<std::recursive_mutex, recursive_mutex>, second<std::recursive_mutex, recursive_mutex>},
        {"recursive_over_a_wait", waits<std::recursive_mutex, recursive_mutex>,
         second<std::recursive_mutex, recursive_mutex>},
        {"timed", first<std::timed_mutex, timed_mutex>, second<std::timed_mutex, timed_mutex>},
        {"timed_over_a_wait", waits<std::timed_mutex, timed_mutex>, second<std::timed_mutex, timed_mutex>},
        {"shared", first<std::shared_mutex, shared_mutex>, reader},
        {"shared_over_a_wait", waits<std::shared_mutex, shared_mutex>, reader},
        {"throws", throws, throws_second},
        {"thread_local", makes<made_of_file>, finds_made<made_of_file>},
        {"thread_local_in_function", makes<made_in_function>, finds_made<made_in_function>},
        {"static", static_first, static_second},
        {"static_over_a_wait", static_waits, static_second},
        {"static_fails", static_fails, static_fails_second},
        {"once", once_first, once_second},
        {"once_over_a_wait", once_waits, once_second},
        {"once_throws", once_throws, once_throws_second},
        {"condition", condition_first, condition_second},
        {"section", section_first, plain_second},
        {"listed", listed_first, plain_second},
        {"listed_call", listed_call_first, plain_second},
    };
    return run_test(tests, sizeof tests / sizeof *tests, argc, argv);
}
