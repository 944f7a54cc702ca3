// The file that crates/caudal-measure/src/trace.rs describes. A schedule is such a file whose requests have not run yet.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

#include "work.hpp"

namespace rival {

constexpr std::size_t header_bytes = 104;
constexpr std::uint64_t never = ~std::uint64_t{0};

// Start and completion in ticks, 0 until they happen; completion is stored last, with release.
struct Cell {
    std::atomic<std::uint64_t> start{0}, completion{0};
};

class Trace {
  public:
    double hz;
    std::vector<std::uint64_t> services, arrival_ns;
    std::vector<std::uint32_t> classes;
    std::vector<Cell> cells;

    explicit Trace(const std::string &path) {
        std::ifstream file(path, std::ios::binary);
        bytes.assign(std::istreambuf_iterator<char>(file), {});
        if (bytes.size() < header_bytes || std::memcmp(bytes.data(), "CAUDTRC\0\1\0\0\0", 12) != 0)
            throw std::runtime_error(path + " is no schedule of version 1");
        const auto class_count = get<std::uint32_t>(12);
        const auto requests = get<std::uint64_t>(40);
        const auto body = header_bytes + 16 * class_count;
        if (bytes.size() < body + 32 * requests) throw std::runtime_error(path + " ends early");
        hz = get<double>(16);
        for (std::size_t c = 0; c < class_count; ++c) services.push_back(get<std::uint64_t>(header_bytes + 16 * c + 8));
        for (std::size_t r = 0; r < requests; ++r) {
            classes.push_back(std::uint32_t(get<std::uint64_t>(body + 32 * r)));
            arrival_ns.push_back(get<std::uint64_t>(body + 32 * r + 8));
        }
        cells = std::vector<Cell>(requests);
        bytes.resize(body);
    }

    std::uint64_t ticks(double ns) const { return std::uint64_t(std::llround(ns * hz * 1e-9)); }

    void write(const std::string &path, const std::string &name, std::uint64_t epoch, const GapLog &work, const GapLog &generator) {
        const auto since = [&](std::uint64_t at) {
            return at < epoch ? 0 : std::uint64_t(std::llround(double(at - epoch) * 1e9 / hz));
        };
        const auto happened = [&](std::uint64_t at) { return at == 0 ? never : since(at); };
        std::memset(&bytes[72], 0, 32);
        std::memcpy(&bytes[72], name.data(), std::min<std::size_t>(32, name.size()));
        for (std::size_t r = 0; r < cells.size(); ++r) {
            const auto completion = cells[r].completion.load(std::memory_order_acquire);
            for (auto number : {std::uint64_t(classes[r]), arrival_ns[r], happened(cells[r].start.load()), happened(completion)}) add(number);
        }
        set(48, add_gaps(work, epoch, since));
        set(56, add_gaps(generator, epoch, since));
        set(64, work.lost + generator.lost);
        std::ofstream file(path, std::ios::binary);
        file.write(bytes.data(), std::streamsize(bytes.size()));
        file.close();
        if (!file) throw std::runtime_error("cannot write " + path);
    }

  private:
    std::vector<char> bytes;

    template <class T> T get(std::size_t at) const {
        T value;
        std::memcpy(&value, &bytes[at], sizeof value);
        return value;
    }

    void set(std::size_t at, std::uint64_t value) { std::memcpy(&bytes[at], &value, sizeof value); }

    void add(std::uint64_t value) {
        const auto at = reinterpret_cast<const char *>(&value);
        bytes.insert(bytes.end(), at, at + sizeof value);
    }

    template <class Since> std::uint64_t add_gaps(const GapLog &log, std::uint64_t epoch, Since since) {
        std::uint64_t count = 0;
        for (const auto &gap : log.gaps) {
            if (gap.end <= epoch) continue;
            add(since(gap.start));
            add(since(gap.end));
            ++count;
        }
        return count;
    }
};

}  // namespace rival
