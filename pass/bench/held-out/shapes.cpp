#include <cmath>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <vector>

static const int REPS = 2000;

class Shape {
public:
    virtual ~Shape() = default;
    virtual double area() const = 0;
    virtual double perimeter() const = 0;
    virtual bool contains(double x, double y) const = 0;
    virtual void scale(double f) = 0;
};

class Circle : public Shape {
    double cx, cy, r;
public:
    Circle(double x, double y, double rad) : cx(x), cy(y), r(rad) {}
    double area() const override { return M_PI * r * r; }
    double perimeter() const override { return 2 * M_PI * r; }
    bool contains(double x, double y) const override {
        return (x - cx) * (x - cx) + (y - cy) * (y - cy) <= r * r;
    }
    void scale(double f) override { r *= f; }
};

class Rect : public Shape {
protected:
    double x0, y0, w, h;
public:
    Rect(double x, double y, double ww, double hh) : x0(x), y0(y), w(ww), h(hh) {}
    double area() const override { return w * h; }
    double perimeter() const override { return 2 * (w + h); }
    bool contains(double x, double y) const override {
        return x >= x0 && x < x0 + w && y >= y0 && y < y0 + h;
    }
    void scale(double f) override { w *= f; h *= f; }
};

class Square : public Rect {
public:
    Square(double x, double y, double s) : Rect(x, y, s, s) {}
    double perimeter() const override { return 4 * w; }
};

class Polygon : public Shape {
    std::vector<std::pair<double, double>> pts;
public:
    explicit Polygon(std::vector<std::pair<double, double>> p) : pts(std::move(p)) {}
    double area() const override {
        double a = 0;
        for (size_t i = 0, j = pts.size() - 1; i < pts.size(); j = i++)
            a += pts[j].first * pts[i].second - pts[i].first * pts[j].second;
        return std::fabs(a) / 2;
    }
    double perimeter() const override {
        double s = 0;
        for (size_t i = 0, j = pts.size() - 1; i < pts.size(); j = i++)
            s += std::hypot(pts[i].first - pts[j].first, pts[i].second - pts[j].second);
        return s;
    }
    bool contains(double x, double y) const override {
        bool in = false;
        for (size_t i = 0, j = pts.size() - 1; i < pts.size(); j = i++) {
            if ((pts[i].second > y) != (pts[j].second > y) &&
                x < (pts[j].first - pts[i].first) * (y - pts[i].second) / (pts[j].second - pts[i].second) + pts[i].first)
                in = !in;
        }
        return in;
    }
    void scale(double f) override {
        for (auto &p : pts) {
            p.first *= f;
            p.second *= f;
        }
    }
};

static uint32_t state = 4242;

static double rnd() {
    state = state * 1664525u + 1013904223u;
    return (state >> 8) / 16777216.0;
}

static std::unique_ptr<Shape> make_shape() {
    double x = rnd() * 100, y = rnd() * 100, s = 1 + rnd() * 20;
    switch (static_cast<int>(rnd() * 4)) {
    case 0: return std::make_unique<Circle>(x, y, s);
    case 1: return std::make_unique<Rect>(x, y, s, s * rnd());
    case 2: return std::make_unique<Square>(x, y, s);
    default: {
        std::vector<std::pair<double, double>> p;
        int n = 3 + static_cast<int>(rnd() * 5);
        for (int i = 0; i < n; i++)
            p.emplace_back(x + s * std::cos(2 * M_PI * i / n), y + s * std::sin(2 * M_PI * i / n));
        return std::make_unique<Polygon>(std::move(p));
    }
    }
}

int main() {
    std::vector<std::unique_ptr<Shape>> shapes;
    for (int i = 0; i < 2000; i++)
        shapes.push_back(make_shape());
    double total = 0;
    uint64_t inside = 0;
    for (int r = 0; r < REPS; r++) {
        for (const auto &s : shapes)
            total += s->area() + s->perimeter();
        for (int k = 0; k < 10; k++) {
            double x = rnd() * 120, y = rnd() * 120;
            for (const auto &s : shapes)
                if (s->contains(x, y))
                    inside++;
        }
        for (auto &s : shapes)
            s->scale(r & 1 ? 1.01 : 0.99);
        shapes[static_cast<size_t>(r) % shapes.size()] = make_shape();
    }
    std::printf("shapes %.4f %llu\n", total, static_cast<unsigned long long>(inside));
    return 0;
}
