#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <variant>
#include <vector>

static const int REPS = 340;

struct Json;
using Array = std::vector<Json>;
using Object = std::map<std::string, Json>;

struct Json {
    std::variant<std::nullptr_t, bool, int64_t, std::string, std::unique_ptr<Array>, std::unique_ptr<Object>> v;
    Json() : v(nullptr) {}
    Json(bool b) : v(b) {}
    Json(int64_t i) : v(i) {}
    Json(std::string s) : v(std::move(s)) {}
    Json(Array a) : v(std::make_unique<Array>(std::move(a))) {}
    Json(Object o) : v(std::make_unique<Object>(std::move(o))) {}
};

static void write_string(std::string &o, const std::string &s) {
    o += '"';
    for (unsigned char c : s) {
        switch (c) {
        case '"': o += "\\\""; break;
        case '\\': o += "\\\\"; break;
        case '\n': o += "\\n"; break;
        case '\t': o += "\\t"; break;
        default:
            if (c < 0x20) {
                const char *hex = "0123456789abcdef";
                o += "\\u00";
                o += hex[c >> 4];
                o += hex[c & 15];
            } else
                o += static_cast<char>(c);
        }
    }
    o += '"';
}

static void write(std::string &o, const Json &j) {
    switch (j.v.index()) {
    case 0: o += "null"; break;
    case 1: o += std::get<bool>(j.v) ? "true" : "false"; break;
    case 2: o += std::to_string(std::get<int64_t>(j.v)); break;
    case 3: write_string(o, std::get<std::string>(j.v)); break;
    case 4: {
        o += '[';
        bool first = true;
        for (const auto &e : *std::get<std::unique_ptr<Array>>(j.v)) {
            if (!first)
                o += ',';
            first = false;
            write(o, e);
        }
        o += ']';
        break;
    }
    default: {
        o += '{';
        bool first = true;
        for (const auto &[k, e] : *std::get<std::unique_ptr<Object>>(j.v)) {
            if (!first)
                o += ',';
            first = false;
            write_string(o, k);
            o += ':';
            write(o, e);
        }
        o += '}';
    }
    }
}

class Reader {
    const std::string &s;
    size_t p = 0;

    void ws() {
        while (p < s.size() && (s[p] == ' ' || s[p] == '\n' || s[p] == '\t'))
            p++;
    }

    void expect(char c) {
        ws();
        if (p >= s.size() || s[p] != c) {
            std::printf("syntax error at %zu\n", p);
            std::exit(1);
        }
        p++;
    }

    std::string str() {
        expect('"');
        std::string o;
        while (s[p] != '"') {
            if (s[p] != '\\') {
                o += s[p++];
                continue;
            }
            p++;
            switch (s[p]) {
            case 'n': o += '\n'; break;
            case 't': o += '\t'; break;
            case 'u': {
                int v = 0;
                for (int i = 1; i <= 4; i++) {
                    char c = s[p + static_cast<size_t>(i)];
                    v = v * 16 + (c <= '9' ? c - '0' : c - 'a' + 10);
                }
                o += static_cast<char>(v);
                p += 4;
                break;
            }
            default: o += s[p];
            }
            p++;
        }
        p++;
        return o;
    }

public:
    explicit Reader(const std::string &t) : s(t) {}

    Json value() {
        ws();
        char c = s[p];
        if (c == '{') {
            p++;
            Object o;
            ws();
            if (s[p] == '}') {
                p++;
                return Json(std::move(o));
            }
            for (;;) {
                ws();
                std::string k = str();
                expect(':');
                o.emplace(std::move(k), value());
                ws();
                if (s[p] == ',') {
                    p++;
                    continue;
                }
                expect('}');
                return Json(std::move(o));
            }
        }
        if (c == '[') {
            p++;
            Array a;
            ws();
            if (s[p] == ']') {
                p++;
                return Json(std::move(a));
            }
            for (;;) {
                a.push_back(value());
                ws();
                if (s[p] == ',') {
                    p++;
                    continue;
                }
                expect(']');
                return Json(std::move(a));
            }
        }
        if (c == '"')
            return Json(str());
        if (s.compare(p, 4, "true") == 0) {
            p += 4;
            return Json(true);
        }
        if (s.compare(p, 5, "false") == 0) {
            p += 5;
            return Json(false);
        }
        if (s.compare(p, 4, "null") == 0) {
            p += 4;
            return Json();
        }
        bool neg = c == '-';
        if (neg)
            p++;
        int64_t v = 0;
        while (p < s.size() && s[p] >= '0' && s[p] <= '9')
            v = v * 10 + (s[p++] - '0');
        return Json(neg ? -v : v);
    }
};

static uint32_t x = 5150;

static uint32_t rnd() {
    x = x * 1664525u + 1013904223u;
    return x >> 10;
}

static Json random_json(int depth) {
    uint32_t k = rnd() % (depth > 0 ? 8 : 5);
    switch (k) {
    case 0: return Json();
    case 1: return Json((rnd() & 1) != 0);
    case 2:
    case 3: return Json(static_cast<int64_t>(rnd()) - 2000000);
    case 4: {
        std::string s;
        for (uint32_t n = rnd() % 20; n > 0; n--)
            s += static_cast<char>("abcdefgh \"\\\n\t\x01xyz"[rnd() % 17]);
        return Json(s);
    }
    case 5: {
        Array a;
        for (uint32_t n = rnd() % 8; n > 0; n--)
            a.push_back(random_json(depth - 1));
        return Json(std::move(a));
    }
    default: {
        Object o;
        for (uint32_t n = rnd() % 8; n > 0; n--)
            o.emplace("key" + std::to_string(rnd() % 50), random_json(depth - 1));
        return Json(std::move(o));
    }
    }
}

int main() {
    uint64_t sum = 0;
    for (int r = 0; r < REPS; r++) {
        Array top;
        for (int i = 0; i < 300; i++)
            top.push_back(random_json(5));
        Json j(std::move(top));
        std::string a, b;
        write(a, j);
        Json k = Reader(a).value();
        write(b, k);
        if (a != b) {
            std::printf("roundtrip failed\n");
            return 1;
        }
        for (char c : b)
            sum = sum * 131 + static_cast<unsigned char>(c);
    }
    std::printf("jsonwriter %llu\n", static_cast<unsigned long long>(sum));
    return 0;
}
