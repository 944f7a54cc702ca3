#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

static const int REPS = 3000;

static std::vector<std::string> split(const std::string &s, char sep) {
    std::vector<std::string> out;
    size_t start = 0;
    for (;;) {
        size_t p = s.find(sep, start);
        if (p == std::string::npos) {
            out.push_back(s.substr(start));
            return out;
        }
        out.push_back(s.substr(start, p - start));
        start = p + 1;
    }
}

static std::string join(const std::vector<std::string> &v, const std::string &sep) {
    std::string out;
    for (size_t i = 0; i < v.size(); i++) {
        if (i)
            out += sep;
        out += v[i];
    }
    return out;
}

static std::string trim(const std::string &s) {
    size_t a = s.find_first_not_of(" \t");
    if (a == std::string::npos)
        return "";
    size_t b = s.find_last_not_of(" \t");
    return s.substr(a, b - a + 1);
}

static std::string replace_all(std::string s, const std::string &from, const std::string &to) {
    size_t p = 0;
    while ((p = s.find(from, p)) != std::string::npos) {
        s.replace(p, from.size(), to);
        p += to.size();
    }
    return s;
}

static std::string caesar(const std::string &s, int k) {
    std::string o = s;
    for (char &c : o) {
        if (c >= 'a' && c <= 'z')
            c = static_cast<char>('a' + (c - 'a' + k) % 26);
        else if (c >= 'A' && c <= 'Z')
            c = static_cast<char>('A' + (c - 'A' + k) % 26);
    }
    return o;
}

static std::string html_escape(std::string_view s) {
    std::string o;
    o.reserve(s.size());
    for (char c : s) {
        switch (c) {
        case '<': o += "&lt;"; break;
        case '>': o += "&gt;"; break;
        case '&': o += "&amp;"; break;
        case '"': o += "&quot;"; break;
        default: o += c;
        }
    }
    return o;
}

static std::string big_add(const std::string &a, const std::string &b) {
    std::string r;
    int carry = 0;
    for (int i = static_cast<int>(a.size()) - 1, j = static_cast<int>(b.size()) - 1; i >= 0 || j >= 0 || carry; i--, j--) {
        int d = carry + (i >= 0 ? a[static_cast<size_t>(i)] - '0' : 0) + (j >= 0 ? b[static_cast<size_t>(j)] - '0' : 0);
        r.push_back(static_cast<char>('0' + d % 10));
        carry = d / 10;
    }
    std::reverse(r.begin(), r.end());
    return r;
}

int main() {
    uint32_t x = 77;
    uint64_t sum = 0;
    std::string fa = "1", fb = "1";
    for (int r = 0; r < REPS; r++) {
        std::string line;
        for (int i = 0; i < 400; i++) {
            x = x * 1664525u + 1013904223u;
            int len = 2 + static_cast<int>((x >> 20) % 9);
            if (x & 64)
                line += "  ";
            for (int k = 0; k < len; k++)
                line += "abcdefgh<&>\"XYZ  "[(x >> (k + 5)) % 17];
            line += ';';
        }
        auto parts = split(line, ';');
        for (auto &p : parts)
            p = caesar(trim(p), 3 + r % 20);
        std::string j = join(parts, ", ");
        j = replace_all(j, "&", " and ");
        std::string h = html_escape(j);
        std::sort(parts.begin(), parts.end());
        for (size_t i = 1; i < parts.size(); i++)
            sum += parts[i].compare(parts[i - 1]) == 0;
        for (char c : h)
            sum = sum * 131 + static_cast<unsigned char>(c);
        std::string c = big_add(fa, fb);
        fa = fb;
        fb = c;
        if (fb.size() > 400) {
            fa = "1";
            fb = "1";
        }
        sum += fb.size() + static_cast<uint64_t>(fb[0]);
    }
    std::printf("strops %llu\n", static_cast<unsigned long long>(sum));
    return 0;
}
