#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <numeric>
#include <string>
#include <vector>

static const int REPS = 64;

struct Employee {
    std::string name;
    int dept;
    int salary;
    uint32_t id;
};

struct Rng {
    uint64_t s;
    uint32_t operator()() {
        s ^= s >> 12;
        s ^= s << 25;
        s ^= s >> 27;
        return static_cast<uint32_t>((s * 0x2545F4914F6CDD1DULL) >> 32);
    }
};

int main() {
    Rng rng{98765};
    uint64_t sum = 0;
    for (int r = 0; r < REPS; r++) {
        std::vector<Employee> emp;
        for (uint32_t i = 0; i < 8000; i++) {
            std::string n;
            for (int k = 0; k < 4 + static_cast<int>(rng() % 8); k++)
                n += static_cast<char>('a' + rng() % 26);
            emp.push_back({n, static_cast<int>(rng() % 20), static_cast<int>(30000 + rng() % 50000), i});
        }
        std::sort(emp.begin(), emp.end(), [](const Employee &a, const Employee &b) { return a.name < b.name; });
        std::stable_sort(emp.begin(), emp.end(), [](const Employee &a, const Employee &b) {
            return a.dept != b.dept ? a.dept < b.dept : a.salary > b.salary;
        });
        for (size_t i = 0; i < emp.size(); i += 11)
            sum = sum * 31 + emp[i].id;

        std::vector<double> d(50000);
        for (auto &x : d)
            x = rng() / 1000.0;
        std::nth_element(d.begin(), d.begin() + 25000, d.end());
        sum += static_cast<uint64_t>(d[25000]);
        std::sort(d.begin(), d.end(), std::greater<double>());
        sum += static_cast<uint64_t>(d[777]);

        std::vector<int> idx(20000);
        std::iota(idx.begin(), idx.end(), 0);
        std::sort(idx.begin(), idx.end(), [&](int a, int b) {
            int x = (a * 7919) % 10007, y = (b * 7919) % 10007;
            return x != y ? x < y : a < b;
        });
        auto it = std::lower_bound(d.rbegin(), d.rend(), 1000000.0);
        sum += static_cast<uint64_t>(it - d.rbegin()) + static_cast<uint64_t>(idx[1234]);
        std::partial_sort(idx.begin(), idx.begin() + 500, idx.end());
        std::vector<int> v(idx.begin(), idx.begin() + 5000);
        for (auto &x : v)
            x %= 300 + r;
        std::sort(v.begin(), v.end());
        v.erase(std::unique(v.begin(), v.end()), v.end());
        sum = sum * 17 + v.size();
        std::vector<int> p{1, 2, 3, 4, 5, 6, 7};
        do {
            sum += static_cast<uint64_t>(p[0] * p[3]);
        } while (std::next_permutation(p.begin(), p.end()));
    }
    std::printf("stdsort %llu\n", static_cast<unsigned long long>(sum));
    return 0;
}
