// The service as one writes it who has never heard of probes. With BY_HAND a scan has one at each entry, LevelDB has none: what
// an expert would do instead.
#include "service.hpp"

#include <memory>
#include <string>

#ifdef BY_HAND
#include "caudal/probe.h"
#define PROBE_BY_HAND() CAUDAL_PROBE_CLOCK()
#else
#define PROBE_BY_HAND() static_cast<void>(0)
#endif

#include "helpers/memenv/memenv.h"
#include "leveldb/cache.h"
#include "leveldb/db.h"
#include "leveldb/env.h"
#include "leveldb/filter_policy.h"
#include "leveldb/iterator.h"

#include "store.hpp"

namespace service {

namespace {

constexpr uint32_t KEYS = 20000;
/// All of the store fits in: requests wait for no file.
constexpr size_t CACHE_BYTES = 32 << 20;

using store::must;

/// On files in memory; filled, and compacted, so that nothing goes on behind the requests' back.
struct Store {
    std::unique_ptr<leveldb::Env> files{leveldb::NewMemEnv(leveldb::Env::Default())};
    std::unique_ptr<const leveldb::FilterPolicy> filter{leveldb::NewBloomFilterPolicy(10)};
    std::unique_ptr<leveldb::Cache> cache{leveldb::NewLRUCache(CACHE_BYTES)};
    std::unique_ptr<leveldb::DB> database;

    Store()
    {
        leveldb::Options options;
        options.env = files.get();
        options.filter_policy = filter.get();
        options.block_cache = cache.get();
        options.create_if_missing = true;
        leveldb::DB *opened = nullptr;
        must(leveldb::DB::Open(options, "/store", &opened), "open");
        database.reset(opened);
        uint64_t seed = 1;
        for (uint32_t number = 0; number < KEYS; number++) {
            must(database->Put({}, store::key(number * 2), store::value(&seed)), "put");
        }
        database->CompactRange(nullptr, nullptr);
    }
};

std::unique_ptr<Store> all;

/// Every other one is there.
std::string any_key(uint64_t seed) { return store::key(random_below(&seed, KEYS * 2)); }

} // namespace

void open() { all = std::make_unique<Store>(); }

void close() { all.reset(); }

uint64_t get(uint64_t seed)
{
    store::Checksum checksum;
    std::string found;
    leveldb::Status status = all->database->Get({}, any_key(seed), &found);
    checksum.add_answer(status, found);
    return checksum.sum();
}

uint64_t scan(uint64_t seed)
{
    store::Checksum checksum;
    std::unique_ptr<leveldb::Iterator> at(all->database->NewIterator({}));
    at->Seek(any_key(seed));
    for (int seen = 0; seen < SCAN_ENTRIES; seen++) {
        if (!at->Valid()) {
            at->SeekToFirst();
        }
        checksum.add_bytes(at->key());
        checksum.add_bytes(at->value());
        at->Next();
        goes_on();
        PROBE_BY_HAND();
    }
    must(at->status(), "scan");
    return checksum.sum();
}

} // namespace service
