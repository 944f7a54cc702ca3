#include <cstdint>
#include <cstdio>
#include <queue>
#include <vector>

static const int REPS = 45;

template <class K, class V>
class SkipList {
    static const int MAX = 16;
    struct Node {
        K key;
        V value;
        std::vector<Node *> next;
        Node(K k, V v, int h) : key(k), value(v), next(static_cast<size_t>(h), nullptr) {}
    };
    Node head;
    int level = 1;
    size_t count = 0;
    uint32_t seed = 2463534242u;

    int random_height() {
        seed ^= seed << 13;
        seed ^= seed >> 17;
        seed ^= seed << 5;
        int h = 1;
        for (uint32_t b = seed; (b & 3) == 0 && h < MAX; b >>= 2)
            h++;
        return h;
    }

    Node *find_prev(const K &k, Node **update) {
        Node *n = &head;
        for (int i = level - 1; i >= 0; i--) {
            while (n->next[static_cast<size_t>(i)] && n->next[static_cast<size_t>(i)]->key < k)
                n = n->next[static_cast<size_t>(i)];
            if (update)
                update[i] = n;
        }
        return n;
    }

public:
    SkipList() : head(K(), V(), MAX) {}
    SkipList(const SkipList &) = delete;
    SkipList &operator=(const SkipList &) = delete;
    ~SkipList() {
        Node *n = head.next[0];
        while (n) {
            Node *t = n->next[0];
            delete n;
            n = t;
        }
    }

    V *find(const K &k) {
        Node *n = find_prev(k, nullptr)->next[0];
        return n && n->key == k ? &n->value : nullptr;
    }

    void insert(const K &k, const V &v) {
        Node *update[MAX];
        Node *n = find_prev(k, update)->next[0];
        if (n && n->key == k) {
            n->value = v;
            return;
        }
        int h = random_height();
        for (; level < h; level++)
            update[level] = &head;
        Node *m = new Node(k, v, h);
        for (int i = 0; i < h; i++) {
            m->next[static_cast<size_t>(i)] = update[i]->next[static_cast<size_t>(i)];
            update[i]->next[static_cast<size_t>(i)] = m;
        }
        count++;
    }

    bool erase(const K &k) {
        Node *update[MAX];
        Node *n = find_prev(k, update)->next[0];
        if (!n || n->key != k)
            return false;
        for (size_t i = 0; i < n->next.size(); i++)
            update[i]->next[i] = n->next[i];
        delete n;
        count--;
        return true;
    }

    template <class F>
    void each(F f) const {
        for (Node *n = head.next[0]; n; n = n->next[0])
            f(n->key, n->value);
    }

    size_t size() const { return count; }
};

struct Event {
    uint32_t when;
    uint32_t id;
    bool operator<(const Event &o) const { return when != o.when ? when > o.when : id > o.id; }
};

int main() {
    uint32_t x = 8675309;
    auto rnd = [&] {
        x = x * 1664525u + 1013904223u;
        return x >> 8;
    };
    uint64_t sum = 0;
    for (int r = 0; r < REPS; r++) {
        SkipList<uint32_t, uint32_t> s;
        for (int i = 0; i < 40000; i++) {
            uint32_t k = rnd() % 10000;
            uint32_t op = rnd() % 8;
            if (op < 4)
                s.insert(k, static_cast<uint32_t>(i));
            else if (op < 5)
                sum += s.erase(k);
            else if (uint32_t *v = s.find(k))
                sum += *v;
        }
        s.each([&](uint32_t k, uint32_t v) { sum = sum * 31 + k + v; });
        sum += s.size();
        std::priority_queue<Event> q;
        for (uint32_t i = 0; i < 500; i++)
            q.push({rnd() % 1000, i});
        for (int i = 0; i < 50000; i++) {
            Event e = q.top();
            q.pop();
            sum = sum * 3 + e.id;
            q.push({e.when + 1 + rnd() % 100, e.id});
        }
    }
    std::printf("skiplist %llu\n", static_cast<unsigned long long>(sum));
    return 0;
}
