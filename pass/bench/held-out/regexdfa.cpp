#include <cstdint>
#include <cstdio>
#include <map>
#include <set>
#include <string>
#include <vector>

static const int REPS = 829;

struct Nfa {
    struct State {
        int ch = -1;
        int next = -1;
        int eps1 = -1, eps2 = -1;
    };
    std::vector<State> st;
    int start = 0, accept = 0;

    int add() {
        st.emplace_back();
        return static_cast<int>(st.size()) - 1;
    }
};

struct Frag {
    int start, end;
};

class Parser {
    const std::string &re;
    size_t pos = 0;
    Nfa &n;

    bool more() const { return pos < re.size() && re[pos] != '|' && re[pos] != ')'; }

    Frag atom() {
        if (re[pos] == '(') {
            pos++;
            Frag f = alt();
            pos++;
            return f;
        }
        int a = n.add(), b = n.add();
        n.st[static_cast<size_t>(a)].ch = re[pos] == '.' ? 256 : static_cast<unsigned char>(re[pos]);
        n.st[static_cast<size_t>(a)].next = b;
        pos++;
        return {a, b};
    }

    Frag repeat() {
        Frag f = atom();
        while (pos < re.size() && (re[pos] == '*' || re[pos] == '+' || re[pos] == '?')) {
            int a = n.add(), b = n.add();
            n.st[static_cast<size_t>(a)].eps1 = f.start;
            if (re[pos] != '+')
                n.st[static_cast<size_t>(a)].eps2 = b;
            n.st[static_cast<size_t>(f.end)].eps1 = b;
            if (re[pos] != '?')
                n.st[static_cast<size_t>(f.end)].eps2 = f.start;
            f = {a, b};
            pos++;
        }
        return f;
    }

    Frag concat() {
        Frag f = repeat();
        while (more()) {
            Frag g = repeat();
            n.st[static_cast<size_t>(f.end)].eps1 = g.start;
            f.end = g.end;
        }
        return f;
    }

public:
    Parser(const std::string &r, Nfa &nfa) : re(r), n(nfa) {}

    Frag alt() {
        Frag f = concat();
        while (pos < re.size() && re[pos] == '|') {
            pos++;
            Frag g = concat();
            int a = n.add(), b = n.add();
            n.st[static_cast<size_t>(a)].eps1 = f.start;
            n.st[static_cast<size_t>(a)].eps2 = g.start;
            n.st[static_cast<size_t>(f.end)].eps1 = b;
            n.st[static_cast<size_t>(g.end)].eps1 = b;
            f = {a, b};
        }
        return f;
    }
};

static void closure(const Nfa &n, std::set<int> &s) {
    std::vector<int> work(s.begin(), s.end());
    while (!work.empty()) {
        int k = work.back();
        work.pop_back();
        for (int e : {n.st[static_cast<size_t>(k)].eps1, n.st[static_cast<size_t>(k)].eps2})
            if (e >= 0 && s.insert(e).second)
                work.push_back(e);
    }
}

struct Dfa {
    std::vector<std::vector<int>> next;
    std::vector<bool> accept;
};

static Dfa build(const std::string &re, const std::string &alphabet) {
    Nfa n;
    Parser p(re, n);
    Frag f = p.alt();
    Dfa d;
    std::map<std::set<int>, int> ids;
    std::vector<std::set<int>> todo;
    std::set<int> s{f.start};
    closure(n, s);
    ids[s] = 0;
    todo.push_back(s);
    for (size_t i = 0; i < todo.size(); i++) {
        std::set<int> cur = todo[i];
        d.next.emplace_back(128, -1);
        d.accept.push_back(cur.count(f.end) > 0);
        for (char c : alphabet) {
            std::set<int> t;
            for (int k : cur) {
                const auto &st = n.st[static_cast<size_t>(k)];
                if (st.ch == c || st.ch == 256)
                    t.insert(st.next);
            }
            if (t.empty())
                continue;
            closure(n, t);
            auto it = ids.find(t);
            if (it == ids.end()) {
                it = ids.emplace(t, static_cast<int>(todo.size())).first;
                todo.push_back(t);
            }
            d.next[i][static_cast<size_t>(c)] = it->second;
        }
    }
    return d;
}

static int longest_match(const Dfa &d, const std::string &t, size_t from) {
    int s = 0, best = -1;
    for (size_t i = from;; i++) {
        if (d.accept[static_cast<size_t>(s)])
            best = static_cast<int>(i - from);
        if (i >= t.size())
            break;
        s = d.next[static_cast<size_t>(s)][static_cast<size_t>(t[i])];
        if (s < 0)
            break;
    }
    return best;
}

int main() {
    const std::string alphabet = "abcd01";
    const std::vector<std::string> res = {"(a|b)*abb", "a(b|c)+d?0", "(0|1)+(a|b)(0|1)*", "(ab|ba)+(cd)*(0|1)", "a.b.c", "((a|b)(c|d))*01"};
    std::string text;
    uint32_t x = 1234;
    for (int i = 0; i < 20000; i++) {
        x ^= x << 13;
        x ^= x >> 17;
        x ^= x << 5;
        text += alphabet[x % 6];
    }
    uint64_t sum = 0;
    for (int r = 0; r < REPS; r++) {
        for (const auto &re : res) {
            Dfa d = build(re, alphabet);
            size_t i = 0;
            while (i < text.size()) {
                int m = longest_match(d, text, i);
                if (m > 0) {
                    sum = sum * 31 + static_cast<uint64_t>(m) + i;
                    i += static_cast<size_t>(m);
                } else
                    i++;
            }
            sum += d.next.size();
        }
        text[static_cast<size_t>(r * 37) % text.size()] = 'a';
    }
    std::printf("regexdfa %llu\n", static_cast<unsigned long long>(sum));
    return 0;
}
