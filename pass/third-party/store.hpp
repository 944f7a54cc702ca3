// What the programs on key-value stores have in common: their keys and values, what becomes of the answers, and the waits for a
// store's own threads. `Status` and `Bytes` are any store's: LevelDB and RocksDB call theirs alike.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <string>

#include "input.h"
#include "request.h"

namespace store {

template <class Status> void must(const Status &status, const char *what)
{
    if (!status.ok()) {
        std::fprintf(stderr, "%s: %s\n", what, status.ToString().c_str());
        std::exit(1);
    }
}

inline std::string key(uint32_t number)
{
    char text[32];
    std::snprintf(text, sizeof text, "user/%02u/%08u", number % 23, number);
    return text;
}

inline std::string value(uint64_t *seed)
{
    std::string text(20 + random_below(seed, 200), '\0');
    for (char &c : text) {
        c = static_cast<char>('a' + random_below(seed, 26));
    }
    return text;
}

/// Of all that a store answered; the order matters.
class Checksum {
public:
    void add_number(uint64_t number) { sum_ = mix(sum_, number); }

    template <class Bytes> void add_bytes(const Bytes &bytes)
    {
        add_number(bytes.size());
        for (size_t i = 0; i < bytes.size(); i += 4) {
            add_number(static_cast<unsigned char>(bytes[i]));
        }
    }

    /// Of a get: what was found, or that nothing was.
    template <class Status, class Bytes> void add_answer(const Status &status, const Bytes &found)
    {
        if (status.IsNotFound()) {
            add_number(404);
            return;
        }
        must(status, "get");
        add_bytes(found);
    }

    uint64_t sum() const { return sum_; }

private:
    uint64_t sum_ = 0;
};

/// As long as it lives, the program waits for the store's own threads.
class Waits {
public:
    Waits() { program_waits(1); }
    ~Waits() { program_waits(0); }
};

} // namespace store
