// LevelDB on files in memory: puts, deletes, batches, gets that hit and that miss, scans forwards and backwards, snapshots, an
// iterator that outlives changes, compaction, and the database opened again from its log. Every answer goes into the checksum.
#include <memory>
#include <string>

#include "helpers/memenv/memenv.h"
#include "leveldb/cache.h"
#include "leveldb/comparator.h"
#include "leveldb/db.h"
#include "leveldb/env.h"
#include "leveldb/filter_policy.h"
#include "leveldb/iterator.h"
#include "leveldb/write_batch.h"

#include "request.h"
#include "store.hpp"

namespace {

using store::key, store::must, store::value, store::Waits;

constexpr uint32_t KEYS = 12000;
constexpr int ROUNDS = 100;

/// What all requests share, as databases of one process do: the environment and the cache, each with its locks.
struct Shared {
    std::unique_ptr<leveldb::Env> files{leveldb::NewMemEnv(leveldb::Env::Default())};
    std::unique_ptr<const leveldb::FilterPolicy> filter{leveldb::NewBloomFilterPolicy(10)};
    std::unique_ptr<leveldb::Cache> cache{leveldb::NewLRUCache(4 << 20)};
};

Shared &shared()
{
    static Shared all;
    return all;
}

class Request {
public:
    explicit Request(uint64_t seed) : name_("/store/" + std::to_string(seed)), seed_(seed)
    {
        options_.env = shared().files.get();
        options_.filter_policy = shared().filter.get();
        options_.block_cache = shared().cache.get();
        options_.create_if_missing = true;
        // So that compaction begins where the program says.
        options_.write_buffer_size = 32 << 20;
        open();
        fill();
        compact();
    }

    ~Request()
    {
        Waits waits;
        store_.reset();
        must(leveldb::DestroyDB(name_, options_), "destroy");
    }

    void round()
    {
        look_up(4000, nullptr);
        for (int i = 0; i < 20; i++) {
            scan(100);
        }
        scan_all();
        keep_while_changing();
    }

    void open()
    {
        Waits waits;
        store_.reset();
        leveldb::DB *opened = nullptr;
        must(leveldb::DB::Open(options_, name_, &opened), "open");
        store_.reset(opened);
    }

    void compact()
    {
        Waits waits;
        store_->CompactRange(nullptr, nullptr);
    }

    /// All of it, from the files: every block is read and its checksum looked at.
    void scan_all()
    {
        leveldb::ReadOptions options;
        options.verify_checksums = true;
        options.fill_cache = false;
        std::unique_ptr<leveldb::Iterator> at(store_->NewIterator(options));
        uint64_t entries = 0, bytes = 0;
        for (at->SeekToFirst(); at->Valid(); at->Next()) {
            entries++;
            bytes += at->key().size() + at->value().size();
        }
        must(at->status(), "scan");
        checksum_.add_number(entries);
        checksum_.add_number(bytes);
    }

    uint64_t checksum() const { return checksum_.sum(); }

private:
    void fill()
    {
        for (uint32_t number = 0; number < KEYS; number++) {
            must(store_->Put({}, key(number * 2), value(&seed_)), "put");
        }
        for (uint32_t number = 0; number < KEYS; number += 7) {
            must(store_->Delete({}, key(number * 2)), "delete");
        }
    }

    uint32_t any_key() { return random_below(&seed_, KEYS * 2); }

    /// Half of the keys are there.
    void look_up(int count, const leveldb::Snapshot *snapshot)
    {
        leveldb::ReadOptions options;
        options.snapshot = snapshot;
        std::string found;
        for (int i = 0; i < count; i++) {
            leveldb::Status status = store_->Get(options, key(any_key()), &found);
            checksum_.add_answer(status, found);
        }
    }

    void scan(int length)
    {
        std::unique_ptr<leveldb::Iterator> at(store_->NewIterator({}));
        int seen = 0;
        for (at->Seek(key(any_key())); at->Valid() && seen < length; at->Next(), seen++) {
            checksum_.add_bytes(at->key());
            checksum_.add_bytes(at->value());
        }
        for (seen = 0; at->Valid() && seen < length / 4; at->Prev(), seen++) {
            checksum_.add_bytes(at->key());
        }
        must(at->status(), "scan");
    }

    void change()
    {
        for (int i = 0; i < 40; i++) {
            leveldb::WriteBatch batch;
            for (int j = 0; j < 10; j++) {
                uint32_t number = any_key();
                if (j % 5 == 4) {
                    batch.Delete(key(number));
                } else {
                    batch.Put(key(number), value(&seed_));
                }
            }
            must(store_->Write({}, &batch), "write");
        }
    }

    /// What a snapshot and an iterator show stays as it was.
    void keep_while_changing()
    {
        const leveldb::Snapshot *snapshot = store_->GetSnapshot();
        std::unique_ptr<leveldb::Iterator> at(store_->NewIterator({}));
        at->Seek(key(KEYS));
        change();
        for (int i = 0; i < 300 && at->Valid(); i++, at->Next()) {
            checksum_.add_bytes(at->value());
        }
        must(at->status(), "iterator");
        look_up(400, snapshot);
        store_->ReleaseSnapshot(snapshot);
    }

    const std::string name_;
    uint64_t seed_;
    store::Checksum checksum_;
    leveldb::Options options_;
    std::unique_ptr<leveldb::DB> store_;
};

} // namespace

uint64_t request(uint64_t seed, int percent)
{
    Request request(seed);
    for (int round = 0; round < ROUNDS * percent / 100; round++) {
        request.round();
        if (round % 25 == 1) {
            request.open();
            request.compact();
        }
    }
    request.scan_all();
    return request.checksum();
}
