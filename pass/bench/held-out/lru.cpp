#include <cstdint>
#include <cstdio>
#include <list>
#include <string>
#include <unordered_map>

static const int REPS = 6200000;

template <class K, class V>
class LruCache {
    size_t cap;
    std::list<std::pair<K, V>> items;
    std::unordered_map<K, typename std::list<std::pair<K, V>>::iterator> index;

public:
    uint64_t evictions = 0;

    explicit LruCache(size_t c) : cap(c) {}

    V *get(const K &k) {
        auto it = index.find(k);
        if (it == index.end())
            return nullptr;
        items.splice(items.begin(), items, it->second);
        return &it->second->second;
    }

    void put(const K &k, V v) {
        auto it = index.find(k);
        if (it != index.end()) {
            it->second->second = std::move(v);
            items.splice(items.begin(), items, it->second);
            return;
        }
        if (items.size() >= cap) {
            index.erase(items.back().first);
            items.pop_back();
            evictions++;
        }
        items.emplace_front(k, std::move(v));
        index[k] = items.begin();
    }

    bool remove(const K &k) {
        auto it = index.find(k);
        if (it == index.end())
            return false;
        items.erase(it->second);
        index.erase(it);
        return true;
    }

    size_t size() const { return items.size(); }
};

int main() {
    LruCache<uint32_t, uint64_t> a(2000);
    LruCache<std::string, std::string> b(500);
    uint64_t s = 20240101, hits = 0, misses = 0, sum = 0;
    for (int i = 0; i < REPS; i++) {
        s = s * 6364136223846793005ULL + 1442695040888963407ULL;
        uint32_t x = static_cast<uint32_t>(s >> 40) % 4000, y = static_cast<uint32_t>(s >> 33) % 4000;
        uint32_t key = x < y ? x : y;
        if (uint64_t *v = a.get(key)) {
            hits++;
            sum += *v;
        } else {
            misses++;
            a.put(key, static_cast<uint64_t>(key) * 3 + static_cast<uint64_t>(i));
        }
        if (i % 50 == 0)
            sum += a.remove(y);
        if (i % 6 == 0) {
            std::string k = "/static/page/" + std::to_string(key % 900) + ".html";
            if (std::string *v = b.get(k))
                sum += v->size();
            else
                b.put(k, std::string(20 + key % 50, 'x'));
        }
    }
    std::printf("lru %llu %llu %llu %llu %zu\n", static_cast<unsigned long long>(hits),
                static_cast<unsigned long long>(misses), static_cast<unsigned long long>(sum),
                static_cast<unsigned long long>(a.evictions + b.evictions), a.size());
    return 0;
}
