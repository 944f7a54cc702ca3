/*
 * Lloyd's algorithm: points of 8 coordinates are assigned to the nearest of 12 means, which move to the middle of
 * theirs, until nothing changes or thirty times.
 * Stands for three nested loops of which the inner two are short and of fixed length, in generic code.
 */
#include <array>
#include <cinttypes>
#include <cstdio>
#include <vector>

#include "input.h"

namespace {

template <size_t Dimensions>
class KMeans {
public:
    using Point = std::array<double, Dimensions>;

    explicit KMeans(size_t clusters) : means_(clusters) {}

    /* The first points are the first means. Returns how many times the means moved. */
    int fit(const std::vector<Point> &points, int most_iterations)
    {
        assignment_.assign(points.size(), 0);
        for (size_t c = 0; c < means_.size(); c++) {
            means_[c] = points[c];
        }
        int iterations = 0;
        while (iterations < most_iterations && assign(points)) {
            move_means(points);
            iterations++;
        }
        return iterations;
    }

    const std::vector<size_t> &assignment() const { return assignment_; }

private:
    static double square_distance(const Point &a, const Point &b)
    {
        double sum = 0.0;
        for (size_t d = 0; d < Dimensions; d++) {
            sum += (a[d] - b[d]) * (a[d] - b[d]);
        }
        return sum;
    }

    size_t nearest(const Point &point) const
    {
        size_t best = 0;
        double least = square_distance(point, means_[0]);
        for (size_t c = 1; c < means_.size(); c++) {
            double distance = square_distance(point, means_[c]);
            if (distance < least) {
                least = distance;
                best = c;
            }
        }
        return best;
    }

    bool assign(const std::vector<Point> &points)
    {
        bool changed = false;
        for (size_t i = 0; i < points.size(); i++) {
            size_t cluster = nearest(points[i]);
            changed |= cluster != assignment_[i];
            assignment_[i] = cluster;
        }
        return changed;
    }

    void move_means(const std::vector<Point> &points)
    {
        std::vector<Point> sums(means_.size(), Point{});
        std::vector<size_t> counts(means_.size(), 0);
        for (size_t i = 0; i < points.size(); i++) {
            counts[assignment_[i]]++;
            for (size_t d = 0; d < Dimensions; d++) {
                sums[assignment_[i]][d] += points[i][d];
            }
        }
        for (size_t c = 0; c < means_.size(); c++) {
            for (size_t d = 0; d < Dimensions && counts[c] > 0; d++) {
                means_[c][d] = sums[c][d] / static_cast<double>(counts[c]);
            }
        }
    }

    std::vector<Point> means_;
    std::vector<size_t> assignment_;
};

} // namespace

int main(int argc, char **argv)
{
    constexpr size_t dimensions = 8;
    uint64_t seed = 44;
    std::vector<KMeans<dimensions>::Point> points(4000);
    for (auto &point : points) {
        uint32_t kind = random_below(&seed, 12);
        for (size_t d = 0; d < dimensions; d++) {
            point[d] = (kind * (d + 3) % 7) + 3.0 * random_unit(&seed);
        }
    }

    uint64_t checksum = 0;
    KMeans<dimensions> kmeans(12);
    int rounds = scaled_rounds(argc, argv, 220);
    for (int i = 0; i < rounds; i++) {
        std::swap(points[static_cast<size_t>(i % 12)], points[random_below(&seed, 4000)]);
        checksum = mix(checksum, static_cast<uint64_t>(kmeans.fit(points, 30)));
        for (size_t p = 0; p < points.size(); p += 13) {
            checksum = mix(checksum, kmeans.assignment()[p]);
        }
    }
    std::printf("%016" PRIx64 "\n", checksum);
    return 0;
}
