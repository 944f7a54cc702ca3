/*
 * Renders spheres and planes with reflections: every ray asks every shape, through a virtual function, where it is hit.
 * Stands for numerical code behind virtual calls: short methods of floating point, loops over few objects, recursion
 * for what is reflected.
 */
#include <cinttypes>
#include <cmath>
#include <cstdio>
#include <memory>
#include <vector>

#include "input.h"

namespace {

struct Vector {
    double x, y, z;
    Vector operator+(const Vector &o) const { return {x + o.x, y + o.y, z + o.z}; }
    Vector operator-(const Vector &o) const { return {x - o.x, y - o.y, z - o.z}; }
    Vector operator*(double f) const { return {x * f, y * f, z * f}; }
    double dot(const Vector &o) const { return x * o.x + y * o.y + z * o.z; }
    Vector unit() const { return *this * (1.0 / std::sqrt(dot(*this))); }
};

struct Ray {
    Vector origin, direction;
    Vector at(double distance) const { return origin + direction * distance; }
};

constexpr double nothing = 1e30;
constexpr double too_close = 1e-6;

class Shape {
public:
    Shape(double shade, double gloss) : shade(shade), gloss(gloss) {}
    virtual ~Shape() = default;
    /* How far along the ray, or `nothing`. */
    virtual double hit(const Ray &ray) const = 0;
    virtual Vector normal(const Vector &place) const = 0;
    const double shade, gloss;
};

class Sphere final : public Shape {
public:
    Sphere(Vector centre, double radius, double shade, double gloss)
        : Shape(shade, gloss), centre_(centre), radius_(radius)
    {
    }
    double hit(const Ray &ray) const override
    {
        Vector to_centre = centre_ - ray.origin;
        double along = to_centre.dot(ray.direction);
        double square = radius_ * radius_ - to_centre.dot(to_centre) + along * along;
        if (square < 0.0) {
            return nothing;
        }
        double half = std::sqrt(square);
        if (along - half > too_close) {
            return along - half;
        }
        return along + half > too_close ? along + half : nothing;
    }
    Vector normal(const Vector &place) const override { return (place - centre_) * (1.0 / radius_); }

private:
    Vector centre_;
    double radius_;
};

class Plane final : public Shape {
public:
    Plane(Vector normal, double offset, double shade, double gloss)
        : Shape(shade, gloss), normal_(normal), offset_(offset)
    {
    }
    double hit(const Ray &ray) const override
    {
        double slope = normal_.dot(ray.direction);
        if (std::fabs(slope) < too_close) {
            return nothing;
        }
        double distance = (offset_ - normal_.dot(ray.origin)) / slope;
        return distance > too_close ? distance : nothing;
    }
    Vector normal(const Vector &) const override { return normal_; }

private:
    Vector normal_;
    double offset_;
};

class Scene {
public:
    explicit Scene(uint64_t seed)
    {
        shapes_.push_back(std::make_unique<Plane>(Vector{0.0, 1.0, 0.0}, -1.0, 0.6, 0.2));
        shapes_.push_back(std::make_unique<Plane>(Vector{0.0, 0.0, -1.0}, -12.0, 0.4, 0.0));
        for (int i = 0; i < 14; i++) {
            Vector centre = {random_unit(&seed), random_unit(&seed), random_unit(&seed)};
            centre = {8.0 * centre.x - 4.0, 3.0 * centre.y - 1.0, 6.0 * centre.z + 4.0};
            double radius = 0.3 + 0.7 * random_unit(&seed);
            double shade = random_unit(&seed), gloss = 0.5 * random_unit(&seed);
            shapes_.push_back(std::make_unique<Sphere>(centre, radius, shade, gloss));
        }
    }

    double brightness(const Ray &ray, int depth) const
    {
        double distance;
        const Shape *shape = nearest(ray, distance);
        if (shape == nullptr) {
            return 0.1;
        }
        Vector place = ray.at(distance);
        Vector normal = shape->normal(place);
        double light = 0.1;
        Vector to_light = (light_ - place).unit();
        double lit;
        if (nearest({place, to_light}, lit) == nullptr || lit > 10.0) {
            light += std::fmax(0.0, normal.dot(to_light));
        }
        double result = shape->shade * light;
        if (depth > 0 && shape->gloss > 0.0) {
            Vector mirrored = ray.direction - normal * (2.0 * normal.dot(ray.direction));
            result += shape->gloss * brightness({place, mirrored}, depth - 1);
        }
        return result;
    }

    void move_light(double x) { light_.x = x; }

private:
    const Shape *nearest(const Ray &ray, double &distance) const
    {
        const Shape *found = nullptr;
        distance = nothing;
        for (const auto &shape : shapes_) {
            double candidate = shape->hit(ray);
            if (candidate < distance) {
                distance = candidate;
                found = shape.get();
            }
        }
        return found;
    }

    std::vector<std::unique_ptr<Shape>> shapes_;
    Vector light_ = {0.0, 9.0, 0.0};
};

uint64_t render(const Scene &scene, int width, int height)
{
    uint64_t checksum = 0;
    for (int y = 0; y < height; y++) {
        for (int x = 0; x < width; x++) {
            Vector direction = {2.0 * x / width - 1.0, 1.0 - 2.0 * y / height, 1.5};
            double value = scene.brightness({{0.0, 0.5, -2.0}, direction.unit()}, 4);
            checksum = mix(checksum, static_cast<uint64_t>(value * 255.0));
        }
    }
    return checksum;
}

} // namespace

int main(int argc, char **argv)
{
    Scene scene(42);
    uint64_t checksum = 0;
    int rounds = scaled_rounds(argc, argv, 160);
    for (int i = 0; i < rounds; i++) {
        scene.move_light(i % 11 - 5.0);
        checksum = mix(checksum, render(scene, 160, 120));
    }
    std::printf("%016" PRIx64 "\n", checksum);
    return 0;
}
