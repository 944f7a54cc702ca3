#include <cmath>
#include <cstdint>
#include <cstdio>
#include <stdexcept>
#include <utility>
#include <vector>

static const int REPS = 623;

class Matrix {
    size_t r, c;
    std::vector<double> d;
public:
    Matrix(size_t rows, size_t cols) : r(rows), c(cols), d(rows * cols) {}
    double &operator()(size_t i, size_t j) { return d[i * c + j]; }
    double operator()(size_t i, size_t j) const { return d[i * c + j]; }
    size_t rows() const { return r; }
    size_t cols() const { return c; }
    void swap_rows(size_t a, size_t b) {
        for (size_t j = 0; j < c; j++)
            std::swap((*this)(a, j), (*this)(b, j));
    }
};

static Matrix operator*(const Matrix &a, const Matrix &b) {
    Matrix m(a.rows(), b.cols());
    for (size_t i = 0; i < a.rows(); i++)
        for (size_t j = 0; j < b.cols(); j++) {
            double s = 0;
            for (size_t k = 0; k < a.cols(); k++)
                s += a(i, k) * b(k, j);
            m(i, j) = s;
        }
    return m;
}

static Matrix transpose(const Matrix &a) {
    Matrix t(a.cols(), a.rows());
    for (size_t i = 0; i < a.rows(); i++)
        for (size_t j = 0; j < a.cols(); j++)
            t(j, i) = a(i, j);
    return t;
}

static Matrix cholesky(const Matrix &a) {
    size_t n = a.rows();
    Matrix l(n, n);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j <= i; j++) {
            double s = a(i, j);
            for (size_t k = 0; k < j; k++)
                s -= l(i, k) * l(j, k);
            if (i == j) {
                if (s <= 0)
                    throw std::runtime_error("not positive definite");
                l(i, i) = std::sqrt(s);
            } else
                l(i, j) = s / l(j, j);
        }
    return l;
}

static double lu_determinant(Matrix a) {
    size_t n = a.rows();
    double logdet = 0;
    for (size_t k = 0; k < n; k++) {
        size_t p = k;
        for (size_t i = k + 1; i < n; i++)
            if (std::fabs(a(i, k)) > std::fabs(a(p, k)))
                p = i;
        if (a(p, k) == 0)
            return 0;
        if (p != k)
            a.swap_rows(p, k);
        logdet += std::log(std::fabs(a(k, k)));
        for (size_t i = k + 1; i < n; i++) {
            double f = a(i, k) / a(k, k);
            for (size_t j = k; j < n; j++)
                a(i, j) -= f * a(k, j);
        }
    }
    return logdet;
}

static std::vector<double> gauss_solve(Matrix a, std::vector<double> b) {
    size_t n = a.rows();
    for (size_t k = 0; k < n; k++) {
        size_t p = k;
        for (size_t i = k + 1; i < n; i++)
            if (std::fabs(a(i, k)) > std::fabs(a(p, k)))
                p = i;
        a.swap_rows(p, k);
        std::swap(b[p], b[k]);
        for (size_t i = k + 1; i < n; i++) {
            double f = a(i, k) / a(k, k);
            for (size_t j = k; j < n; j++)
                a(i, j) -= f * a(k, j);
            b[i] -= f * b[k];
        }
    }
    for (size_t i = n; i-- > 0;) {
        for (size_t j = i + 1; j < n; j++)
            b[i] -= a(i, j) * b[j];
        b[i] /= a(i, i);
    }
    return b;
}

static double horner(const std::vector<double> &c, double x) {
    double y = 0;
    for (size_t i = c.size(); i-- > 0;)
        y = y * x + c[i];
    return y;
}

int main() {
    const size_t n = 90;
    uint32_t s = 2;
    double sum = 0;
    for (int r = 0; r < REPS; r++) {
        Matrix a(n, n);
        std::vector<double> b(n);
        for (size_t i = 0; i < n; i++) {
            for (size_t j = 0; j < n; j++) {
                s = s * 1664525u + 1013904223u;
                a(i, j) = (s >> 8) / 16777216.0 - 0.5;
            }
            b[i] = a(i, 0) + 1;
        }
        Matrix spd = a * transpose(a);
        for (size_t i = 0; i < n; i++)
            spd(i, i) += 1;
        Matrix l = cholesky(spd);
        for (size_t i = 0; i < n; i++)
            sum += l(i, i);
        sum += lu_determinant(a);
        std::vector<double> x = gauss_solve(spd, b);
        for (double v : x)
            sum += v;
        for (int k = 0; k < 200; k++)
            sum += horner(x, k / 250.0);
    }
    std::printf("cholesky %.6f\n", sum);
    return 0;
}
