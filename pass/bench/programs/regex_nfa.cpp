/*
 * Counts the lines that match regular expressions, with all states of a nondeterministic automaton at once (the way of
 * Thompson): no backtracking, a set of states per character.
 * Stands for worklists: loops over a few states inside of a loop over characters, with flags of who is in already.
 */
#include <cinttypes>
#include <cstdio>
#include <string>
#include <vector>

#include "input.h"

namespace {

/* A state eats one character of a range, or splits into two, or accepts. */
struct State {
    enum Kind { range, split, accept } kind;
    unsigned char first, last;
    int next, other;
};

/* Alternatives of sequences of repeated atoms; an atom is a character, a dot, a range in brackets or a group. */
class Compiler {
public:
    explicit Compiler(const std::string &source) : source_(source) {}

    std::vector<State> compile(int &start)
    {
        int accept = add({State::accept, 0, 0, -1, -1});
        start = alternatives(accept);
        return std::move(states_);
    }

private:
    /* The automaton is built backwards: each part is told where to go on, and says where it starts. */
    int alternatives(int next)
    {
        int start = sequence(next);
        while (at_ < source_.size() && source_[at_] == '|') {
            at_++;
            int other = sequence(next);
            start = add({State::split, 0, 0, start, other});
        }
        return start;
    }

    int sequence(int next)
    {
        std::vector<size_t> atoms;
        while (at_ < source_.size() && source_[at_] != '|' && source_[at_] != ')') {
            atoms.push_back(at_);
            skip_atom();
        }
        size_t end = at_;
        while (!atoms.empty()) {
            at_ = atoms.back();
            next = repeated(next);
            atoms.pop_back();
        }
        at_ = end;
        return next;
    }

    void skip_atom()
    {
        int depth = 0;
        do {
            depth += source_[at_] == '(' || source_[at_] == '[';
            depth -= source_[at_] == ')' || source_[at_] == ']';
            at_++;
        } while (depth > 0);
        while (at_ < source_.size() && is_repetition(source_[at_])) {
            at_++;
        }
    }

    int repeated(int next)
    {
        size_t begin = at_;
        skip_atom();
        char repetition = is_repetition(source_[at_ - 1]) ? source_[at_ - 1] : '\0';
        size_t end = at_;
        at_ = begin;
        int start;
        if (repetition == '\0') {
            start = atom(next);
        } else if (repetition == '?') {
            start = add({State::split, 0, 0, atom(next), next});
        } else {
            int loop = add({State::split, 0, 0, -1, next});
            int body = atom(loop);
            states_[static_cast<size_t>(loop)].next = body;
            start = repetition == '*' ? loop : body;
        }
        at_ = end;
        return start;
    }

    int atom(int next)
    {
        char c = source_[at_++];
        if (c == '(') {
            return alternatives(next);
        }
        if (c == '.') {
            return add({State::range, 1, 255, next, -1});
        }
        if (c == '[') {
            return add({State::range, byte(at_), byte(at_ + 2), next, -1});
        }
        return add({State::range, byte(at_ - 1), byte(at_ - 1), next, -1});
    }

    static bool is_repetition(char c) { return c == '*' || c == '+' || c == '?'; }
    unsigned char byte(size_t at) const { return static_cast<unsigned char>(source_[at]); }

    int add(State state)
    {
        states_.push_back(state);
        return static_cast<int>(states_.size()) - 1;
    }

    const std::string &source_;
    size_t at_ = 0;
    std::vector<State> states_;
};

class Matcher {
public:
    explicit Matcher(const std::string &source)
        : states_(Compiler(source).compile(start_)), seen_(states_.size(), 0)
    {
    }

    /* Where the first match ends, or 0: the start is tried again at every character. */
    size_t search(const std::string &text)
    {
        current_.clear();
        for (size_t at = 0; at < text.size(); at++) {
            step_++;
            following_.clear();
            current_.push_back(start_);
            bool accepted = false;
            for (size_t i = 0; i < current_.size(); i++) {
                accepted |= advance(current_[i], static_cast<unsigned char>(text[at]));
            }
            if (accepted) {
                return at + 1;
            }
            current_.swap(following_);
        }
        return 0;
    }

private:
    /* Splits grow the list that is being worked on; what eats the character goes on to the next list. */
    bool advance(int index, unsigned char c)
    {
        const State &state = states_[static_cast<size_t>(index)];
        uint64_t &seen = seen_[static_cast<size_t>(index)];
        if (seen == step_) {
            return false;
        }
        seen = step_;
        switch (state.kind) {
        case State::split:
            current_.push_back(state.next);
            current_.push_back(state.other);
            return false;
        case State::range:
            if (c >= state.first && c <= state.last) {
                following_.push_back(state.next);
            }
            return false;
        default: return true;
        }
    }

    int start_ = 0;
    std::vector<State> states_;
    std::vector<uint64_t> seen_;
    std::vector<int> current_, following_;
    uint64_t step_ = 0;
};

std::string random_line(uint64_t &seed)
{
    static const char *const words[] = {"abab", "error", "at", "core", "aaaa", "timeout", "abc", "cab"};
    std::string line;
    while (line.size() < 60) {
        line += words[random_below(&seed, 8)];
        line += random_below(&seed, 3) == 0 ? std::to_string(random_below(&seed, 10000)) : " ";
    }
    return line;
}

} // namespace

int main(int argc, char **argv)
{
    const std::vector<std::string> sources = {"(ab)+c",       "error.*[0-9][0-9][0-9] ", "(a|b|c)*core(a|t)*[5-9]",
                                              "a?a?a?a?aaaab", "time(out)+[0-3]+at",      "[a-z]+ [a-z]+ [0-9]+z"};
    uint64_t seed = 45;
    std::vector<std::string> lines;
    for (int i = 0; i < 400; i++) {
        lines.push_back(random_line(seed));
    }
    std::vector<Matcher> matchers(sources.begin(), sources.end());

    uint64_t checksum = 0;
    int rounds = scaled_rounds(argc, argv, 360);
    for (int i = 0; i < rounds; i++) {
        for (const std::string &line : lines) {
            for (Matcher &matcher : matchers) {
                checksum = mix(checksum, matcher.search(line));
            }
        }
        lines[random_below(&seed, 400)] = random_line(seed);
    }
    std::printf("%016" PRIx64 "\n", checksum);
    return 0;
}
