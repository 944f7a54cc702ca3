#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

static const int REPS = 150;

static std::vector<int> suffix_array(const std::string &s) {
    int n = static_cast<int>(s.size());
    std::vector<int> sa(n), rank(n), tmp(n);
    for (int i = 0; i < n; i++) {
        sa[i] = i;
        rank[i] = static_cast<unsigned char>(s[i]);
    }
    for (int k = 1;; k *= 2) {
        auto cmp = [&](int a, int b) {
            if (rank[a] != rank[b])
                return rank[a] < rank[b];
            int ra = a + k < n ? rank[a + k] : -1;
            int rb = b + k < n ? rank[b + k] : -1;
            return ra < rb;
        };
        std::sort(sa.begin(), sa.end(), cmp);
        tmp[sa[0]] = 0;
        for (int i = 1; i < n; i++)
            tmp[sa[i]] = tmp[sa[i - 1]] + (cmp(sa[i - 1], sa[i]) ? 1 : 0);
        rank = tmp;
        if (rank[sa[n - 1]] == n - 1)
            return sa;
    }
}

static std::vector<int> lcp_array(const std::string &s, const std::vector<int> &sa) {
    int n = static_cast<int>(s.size());
    std::vector<int> rank(n), lcp(n);
    for (int i = 0; i < n; i++)
        rank[sa[i]] = i;
    int h = 0;
    for (int i = 0; i < n; i++) {
        if (rank[i] == 0) {
            h = 0;
            continue;
        }
        int j = sa[rank[i] - 1];
        while (i + h < n && j + h < n && s[i + h] == s[j + h])
            h++;
        lcp[rank[i]] = h;
        if (h > 0)
            h--;
    }
    return lcp;
}

static int count_occurrences(const std::string &s, const std::vector<int> &sa, const std::string &p) {
    auto lo = std::lower_bound(sa.begin(), sa.end(), p, [&](int a, const std::string &q) { return s.compare(a, q.size(), q) < 0; });
    auto hi = std::upper_bound(lo, sa.end(), p, [&](const std::string &q, int a) { return s.compare(a, q.size(), q) > 0; });
    return static_cast<int>(hi - lo);
}

int main() {
    uint64_t sum = 0;
    uint32_t x = 909;
    for (int r = 0; r < REPS; r++) {
        std::string s;
        for (int i = 0; i < 12000; i++) {
            x = x * 1103515245u + 12345u;
            s += "acgt"[(x >> 16) & 3];
        }
        s += s.substr(100, 300);
        auto sa = suffix_array(s);
        auto lcp = lcp_array(s, sa);
        sum = sum * 31 + static_cast<uint64_t>(*std::max_element(lcp.begin(), lcp.end()));
        uint64_t distinct = s.size() * (s.size() + 1) / 2;
        for (int l : lcp)
            distinct -= static_cast<uint64_t>(l);
        sum += distinct;
        for (int i = 0; i < 2000; i++)
            sum += static_cast<uint64_t>(count_occurrences(s, sa, s.substr(static_cast<size_t>(i) * 5, 4)));
    }
    std::printf("suffixarray %llu\n", static_cast<unsigned long long>(sum));
    return 0;
}
