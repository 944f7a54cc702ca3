#include <cctype>
#include <cstdint>
#include <cstdio>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

static const int REPS = 66;

static std::string make_text(uint32_t seed, int words) {
    static const char *syl[] = {"ka", "to", "mi", "re", "lo", "shu", "ne", "da", "vi", "po", "gra", "el"};
    std::string t;
    for (int i = 0; i < words; i++) {
        seed ^= seed << 13;
        seed ^= seed >> 17;
        seed ^= seed << 5;
        uint32_t v = seed;
        int n = 1 + static_cast<int>(v % 4);
        for (int k = 0; k < n; k++) {
            v /= 7;
            t += syl[v % 12];
        }
        if (seed % 9 == 0) {
            t += ",";
        }
        if (seed % 17 == 0) {
            t += ".";
        }
        t += seed % 31 == 0 ? '\n' : ' ';
    }
    return t;
}

static std::vector<std::string> words_of(const std::string &text) {
    std::vector<std::string> out;
    std::string cur;
    for (char c : text) {
        if (std::isalpha(static_cast<unsigned char>(c))) {
            cur.push_back(static_cast<char>(std::tolower(static_cast<unsigned char>(c))));
        } else if (!cur.empty()) {
            out.push_back(cur);
            cur.clear();
        }
    }
    if (!cur.empty())
        out.push_back(cur);
    return out;
}

int main() {
    uint64_t sum = 0;
    for (int r = 0; r < REPS; r++) {
        std::string text = make_text(static_cast<uint32_t>(r) + 1, 20000);
        auto words = words_of(text);
        std::map<std::string, int> freq;
        for (const auto &w : words)
            ++freq[w];
        std::multimap<int, std::string, std::greater<int>> by_count;
        for (const auto &[w, n] : freq)
            by_count.emplace(n, w);
        int k = 0;
        for (const auto &[n, w] : by_count) {
            sum = sum * 31 + static_cast<uint64_t>(n) + w.size();
            if (++k == 100)
                break;
        }
        std::map<int, std::set<std::string>> by_len;
        for (const auto &w : words)
            by_len[static_cast<int>(w.size())].insert(w);
        for (const auto &[len, s] : by_len)
            sum = sum * 7 + static_cast<uint64_t>(len) * s.size();
        for (auto it = freq.begin(); it != freq.end();) {
            if (it->second < 3)
                it = freq.erase(it);
            else
                ++it;
        }
        auto lo = freq.lower_bound("k"), hi = freq.upper_bound("p");
        for (; lo != hi; ++lo)
            sum += static_cast<uint64_t>(lo->second);
        std::istringstream in(text.substr(0, 5000));
        std::string w;
        while (in >> w)
            sum += w.size();
    }
    std::printf("wordmap %llu\n", static_cast<unsigned long long>(sum));
    return 0;
}
