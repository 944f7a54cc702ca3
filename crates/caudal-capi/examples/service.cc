/* Closures as requests: `service POLICY` prints what two of them answered, and what a third one threw. */
#include <caudal/caudal.hpp>

#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>

int main(int argc, char **argv)
{
    if (argc < 2) {
        std::fprintf(stderr, "usage: service POLICY\n");
        return 2;
    }
    caudal_options options;
    caudal_options_init(&options);
    if (std::getenv("SERVICE_UNPINNED") != nullptr) {
        options.pinning = CAUDAL_PINNING_NONE; /* to share a core with others, in tests */
    }
    caudal_runtime *runtime;
    caudal_error error;
    if (caudal_runtime_create(argv[1], &options, &runtime, &error) != CAUDAL_OK) {
        std::fprintf(stderr, "%s\n", error.message);
        return 1;
    }
    caudal_class gets;
    caudal::check(caudal_runtime_class(runtime, "get", &gets));
    const std::map<std::string, int> store = {{"one", 1}, {"two", 2}};
    {
        auto one = caudal::submit(runtime, gets, [&store] { return store.at("one"); });
        auto two = caudal::submit(runtime, gets, [&store] { return std::to_string(store.at("two")); });
        auto three = caudal::submit(runtime, gets, [&store] { return store.at("three"); });
        std::printf("%d %s\n", one.get(), two.get().c_str());
        try {
            std::printf("%d\n", three.get());
        } catch (const std::out_of_range &) {
            std::printf("three: out of range\n");
        }
    }
    caudal::check(caudal_runtime_destroy(runtime));
    return 0;
}
