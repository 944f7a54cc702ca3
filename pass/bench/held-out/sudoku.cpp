#include <array>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

static const int REPS = 72;

class Sudoku {
    std::array<std::array<int, 9>, 9> g{};

    bool can_place(int r, int c, int v) const {
        for (int i = 0; i < 9; i++) {
            if (g[r][i] == v || g[i][c] == v)
                return false;
        }
        int br = r / 3 * 3, bc = c / 3 * 3;
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++)
                if (g[br + i][bc + j] == v)
                    return false;
        return true;
    }

    bool pick(int &r, int &c) const {
        int best = 10;
        for (int i = 0; i < 9; i++)
            for (int j = 0; j < 9; j++) {
                if (g[i][j])
                    continue;
                int n = 0;
                for (int v = 1; v <= 9; v++)
                    n += can_place(i, j, v);
                if (n < best) {
                    best = n;
                    r = i;
                    c = j;
                }
            }
        return best < 10;
    }

public:
    uint64_t nodes = 0;

    explicit Sudoku(const std::string &s) {
        for (int i = 0; i < 81; i++)
            g[i / 9][i % 9] = s[static_cast<size_t>(i)] == '.' ? 0 : s[static_cast<size_t>(i)] - '0';
    }

    bool solve_simple(int pos) {
        nodes++;
        while (pos < 81 && g[pos / 9][pos % 9])
            pos++;
        if (pos == 81)
            return true;
        int r = pos / 9, c = pos % 9;
        for (int v = 1; v <= 9; v++)
            if (can_place(r, c, v)) {
                g[r][c] = v;
                if (solve_simple(pos + 1))
                    return true;
                g[r][c] = 0;
            }
        return false;
    }

    bool solve_mrv() {
        nodes++;
        int r = 0, c = 0;
        if (!pick(r, c))
            return true;
        for (int v = 1; v <= 9; v++)
            if (can_place(r, c, v)) {
                g[r][c] = v;
                if (solve_mrv())
                    return true;
                g[r][c] = 0;
            }
        return false;
    }

    uint64_t hash() const {
        uint64_t h = 0;
        for (const auto &row : g)
            for (int v : row)
                h = h * 11 + static_cast<uint64_t>(v);
        return h;
    }
};

int main() {
    const std::vector<std::string> puzzles = {
        "53..7....6..195....98....6.8...6...34..8.3..17...2...6.6....28....419..5....8..79",
        "4.....8.5.3..........7......2.....6.....8.4......1.......6.3.7.5..2.....1.4......",
        "52...6.........7.13...........4..8..6......5...........418.........3..2...87.....",
        "..............3.85..1.2.......5.7.....4...1...9.......5......73..2.1........4...9",
        "..9748...7.........2.1.9.....7...24..64.1.59..98...3.....8.3.2.........6...2759.."};
    uint64_t sum = 0;
    for (int r = 0; r < REPS; r++) {
        for (size_t i = 0; i < puzzles.size(); i++) {
            Sudoku s(puzzles[i]);
            if (i != 3)
                s.solve_mrv();
            sum = sum * 31 + s.hash() + s.nodes;
            if (i == 0 || i == 4) {
                Sudoku t(puzzles[i]);
                t.solve_simple(0);
                sum = sum * 31 + t.hash() + t.nodes;
            }
        }
    }
    std::printf("sudoku %llu\n", static_cast<unsigned long long>(sum));
    return 0;
}
