#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <vector>

static const int REPS = 178;

struct Vec {
    double x, y, z;
    Vec operator+(const Vec &o) const { return {x + o.x, y + o.y, z + o.z}; }
    Vec operator-(const Vec &o) const { return {x - o.x, y - o.y, z - o.z}; }
    Vec operator*(double s) const { return {x * s, y * s, z * s}; }
    Vec mul(const Vec &o) const { return {x * o.x, y * o.y, z * o.z}; }
    double dot(const Vec &o) const { return x * o.x + y * o.y + z * o.z; }
    Vec unit() const {
        double l = std::sqrt(dot(*this));
        return {x / l, y / l, z / l};
    }
};

struct Sphere {
    Vec c;
    double r;
    Vec color;
    double reflect;

    bool hit(const Vec &o, const Vec &d, double &t) const {
        Vec oc = o - c;
        double b = oc.dot(d), q = oc.dot(oc) - r * r, disc = b * b - q;
        if (disc < 0)
            return false;
        double s = std::sqrt(disc);
        t = -b - s;
        if (t > 1e-4)
            return true;
        t = -b + s;
        return t > 1e-4;
    }
};

struct Scene {
    std::vector<Sphere> s;
    Vec light;

    const Sphere *nearest(const Vec &o, const Vec &d, double &best) const {
        const Sphere *h = nullptr;
        best = 1e30;
        for (const auto &sp : s) {
            double t;
            if (sp.hit(o, d, t) && t < best) {
                best = t;
                h = &sp;
            }
        }
        return h;
    }

    bool shadowed(const Vec &p) const {
        Vec d = light - p;
        double dist = std::sqrt(d.dot(d));
        d = d * (1 / dist);
        for (const auto &sp : s) {
            double t;
            if (sp.hit(p, d, t) && t < dist)
                return true;
        }
        return false;
    }

    Vec trace(const Vec &o, const Vec &d, int depth) const {
        double t;
        const Sphere *h = nearest(o, d, t);
        if (!h) {
            double k = 0.5 * (d.y + 1);
            return Vec{1, 1, 1} * (1 - k) + Vec{0.5, 0.7, 1} * k;
        }
        Vec p = o + d * t, n = (p - h->c).unit();
        double diff = std::max(0.0, n.dot((light - p).unit()));
        if (diff > 0 && shadowed(p))
            diff = 0;
        Vec col = h->color * (0.1 + 0.9 * diff);
        if (depth > 0 && h->reflect > 0) {
            Vec rd = (d - n * (2 * d.dot(n))).unit();
            col = col * (1 - h->reflect) + trace(p, rd, depth - 1).mul(h->color) * h->reflect;
        }
        return col;
    }
};

int main() {
    uint32_t x = 31;
    auto rnd = [&] {
        x = x * 1664525u + 1013904223u;
        return (x >> 8) / 16777216.0;
    };
    Scene sc;
    sc.light = {10, 20, -10};
    sc.s.push_back({{0, -1000, 0}, 999, {0.6, 0.6, 0.5}, 0.1});
    for (int i = 0; i < 20; i++) {
        double px = rnd() * 10 - 5, py = rnd() * 3, pz = 4 + rnd() * 8, r = 0.3 + rnd();
        double cr = rnd(), cg = rnd(), cb = rnd();
        sc.s.push_back({{px, py, pz}, r, {cr, cg, cb}, i % 3 ? 0.0 : 0.5});
    }
    const int w = 160, h = 120;
    uint64_t sum = 0;
    for (int r = 0; r < REPS; r++) {
        Vec eye{0.1 * r, 1, -4};
        for (int j = 0; j < h; j++)
            for (int i = 0; i < w; i++) {
                Vec d = Vec{(i - w / 2) / double(h), (h / 2 - j) / double(h), 1}.unit();
                Vec c = sc.trace(eye, d, 3);
                sum = sum * 31 + static_cast<uint64_t>(std::min(c.x, 1.0) * 255) + static_cast<uint64_t>(std::min(c.y, 1.0) * 255) * 256 +
                      static_cast<uint64_t>(std::min(c.z, 1.0) * 255) * 65536;
            }
    }
    std::printf("raysphere %llu\n", static_cast<unsigned long long>(sum));
    return 0;
}
