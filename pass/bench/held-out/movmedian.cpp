#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <deque>
#include <iterator>
#include <set>
#include <vector>

static const int REPS = 87;

static std::vector<int> moving_median(const std::vector<int> &a, size_t k) {
    std::multiset<int> w(a.begin(), a.begin() + static_cast<long>(k));
    auto mid = std::next(w.begin(), static_cast<long>(k / 2));
    std::vector<int> out;
    for (size_t i = k;; i++) {
        out.push_back(*mid);
        if (i == a.size())
            return out;
        w.insert(a[i]);
        if (a[i] < *mid)
            --mid;
        if (a[i - k] <= *mid)
            ++mid;
        w.erase(w.lower_bound(a[i - k]));
    }
}

static std::vector<int> sliding_max(const std::vector<int> &a, size_t k) {
    std::deque<size_t> q;
    std::vector<int> out;
    for (size_t i = 0; i < a.size(); i++) {
        while (!q.empty() && a[q.back()] <= a[i])
            q.pop_back();
        q.push_back(i);
        if (q.front() + k <= i)
            q.pop_front();
        if (i + 1 >= k)
            out.push_back(a[q.front()]);
    }
    return out;
}

static std::vector<int> median3x3(const std::vector<int> &img, int w, int h) {
    std::vector<int> out(img);
    for (int y = 1; y < h - 1; y++)
        for (int x = 1; x < w - 1; x++) {
            std::vector<int> n;
            n.reserve(9);
            for (int dy = -1; dy <= 1; dy++)
                for (int dx = -1; dx <= 1; dx++)
                    n.push_back(img[static_cast<size_t>((y + dy) * w + x + dx)]);
            std::nth_element(n.begin(), n.begin() + 4, n.end());
            out[static_cast<size_t>(y * w + x)] = n[4];
        }
    return out;
}

class Ewma {
    double alpha, value = 0;
    bool started = false;
public:
    explicit Ewma(double a) : alpha(a) {}
    double update(double x) {
        value = started ? alpha * x + (1 - alpha) * value : x;
        started = true;
        return value;
    }
};

int main() {
    uint32_t s = 60606;
    std::vector<int> a(40000), img(128 * 128);
    for (auto &v : a) {
        s = s * 1664525u + 1013904223u;
        v = static_cast<int>(s >> 20);
    }
    for (auto &v : img) {
        s = s * 1664525u + 1013904223u;
        v = static_cast<int>(s >> 24);
    }
    uint64_t sum = 0;
    double e = 0;
    for (int r = 0; r < REPS; r++) {
        size_t k = 21 + static_cast<size_t>(r % 8) * 10;
        for (int m : moving_median(a, k))
            sum = sum * 31 + static_cast<uint64_t>(m);
        for (int m : sliding_max(a, k))
            sum = sum * 31 + static_cast<uint64_t>(m);
        img = median3x3(img, 128, 128);
        for (int v : img)
            sum += static_cast<uint64_t>(v);
        img[static_cast<size_t>(r * 131) % img.size()] = 255;
        Ewma w(0.1);
        for (int v : a)
            e += w.update(v);
        a[static_cast<size_t>(r * 997) % a.size()] ^= 1023;
    }
    std::printf("movmedian %llu %.3f\n", static_cast<unsigned long long>(sum), e);
    return 0;
}
