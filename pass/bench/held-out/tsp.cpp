#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <vector>

static const int REPS = 13000000;

struct Point {
    double x, y;
};

class Xorshift {
    uint64_t s;
public:
    explicit Xorshift(uint64_t seed) : s(seed) {}
    uint64_t next() {
        s ^= s << 13;
        s ^= s >> 7;
        s ^= s << 17;
        return s;
    }
    double uniform() { return static_cast<double>(next() >> 11) / 9007199254740992.0; }
};

static double dist(const Point &a, const Point &b) {
    double dx = a.x - b.x, dy = a.y - b.y;
    return std::sqrt(dx * dx + dy * dy);
}

static double tour_length(const std::vector<Point> &p, const std::vector<int> &t) {
    double l = 0;
    for (size_t i = 0; i < t.size(); i++)
        l += dist(p[static_cast<size_t>(t[i])], p[static_cast<size_t>(t[(i + 1) % t.size()])]);
    return l;
}

int main() {
    const int n = 120;
    Xorshift rng(0xabcdef1234567ULL);
    std::vector<Point> p(n);
    std::vector<int> tour(n);
    for (int i = 0; i < n; i++) {
        p[static_cast<size_t>(i)] = {rng.uniform() * 100, rng.uniform() * 100};
        tour[static_cast<size_t>(i)] = i;
    }
    double len = tour_length(p, tour), best = len, temp = 50.0;
    std::vector<int> best_tour = tour;
    int accepted = 0;
    for (int it = 0; it < REPS; it++) {
        int i = static_cast<int>(rng.next() % n), j = static_cast<int>(rng.next() % n);
        if (i > j)
            std::swap(i, j);
        if (j - i < 1 || (i == 0 && j == n - 1))
            continue;
        auto at = [&](int k) -> const Point & { return p[static_cast<size_t>(tour[static_cast<size_t>((k + n) % n)])]; };
        double delta = dist(at(i - 1), at(j)) + dist(at(i), at(j + 1)) - dist(at(i - 1), at(i)) - dist(at(j), at(j + 1));
        if (delta < 0 || rng.uniform() < std::exp(-delta / temp)) {
            std::reverse(tour.begin() + i, tour.begin() + j + 1);
            len += delta;
            accepted++;
            if (len < best - 1e-9) {
                best = len;
                best_tour = tour;
            }
        }
        if (it % 1000 == 999)
            temp = std::max(0.05, temp * 0.995);
    }
    std::printf("tsp %.6f %.6f %d\n", best, tour_length(p, best_tour), accepted);
    return 0;
}
