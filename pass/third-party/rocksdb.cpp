// RocksDB on files in memory: puts, batches, merges, range deletions, gets, multi-gets, scans, snapshots, column families and
// compaction, as many requests on one database would do them. Every answer goes into the checksum. Only for the bench.
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "rocksdb/cache.h"
#include "rocksdb/db.h"
#include "rocksdb/env.h"
#include "rocksdb/filter_policy.h"
#include "rocksdb/merge_operator.h"
#include "rocksdb/options.h"
#include "rocksdb/table.h"
#include "rocksdb/write_batch.h"

#include "request.h"
#include "store.hpp"

namespace {

using store::key, store::must, store::value, store::Waits;

constexpr uint32_t KEYS = 20000;
constexpr int ROUNDS = 60;

/// Merging numbers adds them.
class Adds : public rocksdb::AssociativeMergeOperator {
public:
    bool Merge(const rocksdb::Slice &, const rocksdb::Slice *was, const rocksdb::Slice &more, std::string *is,
               rocksdb::Logger *) const override
    {
        uint64_t sum = std::strtoull(more.ToString().c_str(), nullptr, 10);
        if (was) {
            sum += std::strtoull(was->ToString().c_str(), nullptr, 10);
        }
        *is = std::to_string(sum);
        return true;
    }
    const char *Name() const override { return "adds"; }
};

class Request {
public:
    explicit Request(uint64_t seed) : seed_(seed), files_(rocksdb::NewMemEnv(rocksdb::Env::Default()))
    {
        Waits waits;
        rocksdb::BlockBasedTableOptions table;
        table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(10));
        table.block_cache = rocksdb::NewLRUCache(4 << 20);
        rocksdb::Options options;
        options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
        options.env = files_.get();
        options.create_if_missing = true;
        options.create_missing_column_families = true;
        // Compaction begins where the program says, and nothing else is done behind its back.
        options.disable_auto_compactions = true;
        options.write_buffer_size = 32 << 20;
        options.compression = rocksdb::kNoCompression;
        options.stats_dump_period_sec = options.stats_persist_period_sec = 0;
        options.merge_operator = std::make_shared<Adds>();
        rocksdb::DBOptions of_database(options);
        rocksdb::ColumnFamilyOptions of_family(options);
        must(rocksdb::DB::Open(of_database, "/store",
                               {{rocksdb::kDefaultColumnFamilyName, of_family}, {"counts", of_family}}, &families_, &store_),
             "open");
        fill();
        compact();
    }

    ~Request()
    {
        Waits waits;
        for (rocksdb::ColumnFamilyHandle *family : families_) {
            must(store_->DestroyColumnFamilyHandle(family), "close");
        }
        store_.reset();
    }

    void round()
    {
        look_up(4000, nullptr);
        look_up_many();
        for (int i = 0; i < 20; i++) {
            scan(100);
        }
        scan_all();
        keep_while_changing();
        count();
    }

    void compact()
    {
        Waits waits;
        for (rocksdb::ColumnFamilyHandle *family : families_) {
            must(store_->Flush({}, family), "flush");
            must(store_->CompactRange({}, family, nullptr, nullptr), "compact");
        }
    }

    /// All of it, from the files: every block is read and its checksum looked at.
    void scan_all()
    {
        rocksdb::ReadOptions options;
        options.verify_checksums = true;
        options.fill_cache = false;
        options.total_order_seek = true;
        std::unique_ptr<rocksdb::Iterator> at(store_->NewIterator(options));
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
    uint32_t any_key() { return random_below(&seed_, KEYS * 2); }

    void fill()
    {
        for (uint32_t number = 0; number < KEYS; number++) {
            must(store_->Put({}, key(number * 2), value(&seed_)), "put");
        }
        for (uint32_t number = 0; number < KEYS; number += 7) {
            must(store_->Delete({}, key(number * 2)), "delete");
        }
    }

    /// Half of the keys are there.
    void look_up(int count, const rocksdb::Snapshot *snapshot)
    {
        rocksdb::ReadOptions options;
        options.snapshot = snapshot;
        std::string found;
        for (int i = 0; i < count; i++) {
            rocksdb::Status status = store_->Get(options, key(any_key()), &found);
            checksum_.add_answer(status, found);
        }
    }

    void look_up_many()
    {
        constexpr size_t MANY = 32;
        for (int i = 0; i < 20; i++) {
            std::vector<std::string> keys(MANY);
            std::vector<rocksdb::Slice> slices(MANY);
            std::vector<rocksdb::PinnableSlice> found(MANY);
            std::vector<rocksdb::Status> statuses(MANY);
            for (size_t at = 0; at < MANY; at++) {
                slices[at] = keys[at] = key(any_key());
            }
            store_->MultiGet({}, families_[0], MANY, slices.data(), found.data(), statuses.data());
            for (size_t at = 0; at < MANY; at++) {
                checksum_.add_answer(statuses[at], found[at]);
            }
        }
    }

    void scan(int length)
    {
        std::unique_ptr<rocksdb::Iterator> at(store_->NewIterator({}));
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
            rocksdb::WriteBatch batch;
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
        uint32_t from = any_key();
        must(store_->DeleteRange({}, families_[0], key(from), key(from + 23)), "delete range");
    }

    /// What a snapshot and an iterator show stays as it was.
    void keep_while_changing()
    {
        const rocksdb::Snapshot *snapshot = store_->GetSnapshot();
        std::unique_ptr<rocksdb::Iterator> at(store_->NewIterator({}));
        at->Seek(key(KEYS));
        change();
        for (int i = 0; i < 300 && at->Valid(); i++, at->Next()) {
            checksum_.add_bytes(at->value());
        }
        must(at->status(), "iterator");
        look_up(400, snapshot);
        store_->ReleaseSnapshot(snapshot);
    }

    void count()
    {
        std::string found;
        for (int i = 0; i < 400; i++) {
            std::string name = key(random_below(&seed_, 50));
            must(store_->Merge({}, families_[1], name, std::to_string(random_below(&seed_, 100))), "merge");
            if (i % 20 == 0) {
                rocksdb::Status status = store_->Get({}, families_[1], name, &found);
                checksum_.add_answer(status, found);
            }
        }
    }

    uint64_t seed_;
    store::Checksum checksum_;
    std::unique_ptr<rocksdb::Env> files_;
    std::unique_ptr<rocksdb::DB> store_;
    std::vector<rocksdb::ColumnFamilyHandle *> families_;
};

} // namespace

uint64_t request(uint64_t seed, int percent)
{
    Request request(seed);
    for (int round = 0; round < ROUNDS * percent / 100; round++) {
        request.round();
        if (round % 20 == 19) {
            request.compact();
        }
    }
    request.scan_all();
    return request.checksum();
}
