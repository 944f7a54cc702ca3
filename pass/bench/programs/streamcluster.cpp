/*
 * Clusters a stream of points whose number of clusters nobody knows: every chunk is covered by facilities, whose
 * opening costs; candidates are opened and closed while that saves anything.
 * Stands for loops over all points around a distance of 32 coordinates, with assignments that change now and then.
 */
#include <cinttypes>
#include <cstdio>
#include <vector>

#include "input.h"

namespace {

constexpr int dimensions = 32;
constexpr size_t chunk_size = 400;

struct Point {
    float coordinates[dimensions];
};

float square_distance(const Point &a, const Point &b)
{
    float sum = 0.0f;
    for (int d = 0; d < dimensions; d++) {
        float difference = a.coordinates[d] - b.coordinates[d];
        sum += difference * difference;
    }
    return sum;
}

class Clustering {
public:
    Clustering(const std::vector<Point> &points, float opening_cost)
        : points_(points), opening_cost_(opening_cost), facility_(points.size(), 0), cost_(points.size())
    {
        for (size_t i = 0; i < points.size(); i++) {
            cost_[i] = square_distance(points[i], points[0]);
        }
    }

    /* Opens a facility at the candidate, and closes those that are better merged into it, if all that saves. */
    bool try_facility(size_t candidate)
    {
        std::vector<float> distances(points_.size());
        std::vector<float> price_of_closing(points_.size(), 0.0f);
        float saved = 0.0f;
        for (size_t i = 0; i < points_.size(); i++) {
            distances[i] = square_distance(points_[i], points_[candidate]);
            if (distances[i] < cost_[i]) {
                saved += cost_[i] - distances[i];
            } else {
                price_of_closing[facility_[i]] += distances[i] - cost_[i];
            }
        }
        float gain = saved - opening_cost_;
        for (size_t i = 0; i < points_.size(); i++) {
            if (facility_[i] == i && price_of_closing[i] < opening_cost_) {
                gain += opening_cost_ - price_of_closing[i];
            }
        }
        if (gain <= 0.0f) {
            return false;
        }
        move_to(candidate, distances, price_of_closing);
        return true;
    }

    uint64_t digest() const
    {
        uint64_t checksum = 0;
        for (size_t i = 0; i < points_.size(); i++) {
            checksum = mix(checksum, facility_[i]);
        }
        return checksum;
    }

private:
    void move_to(size_t candidate, const std::vector<float> &distances, const std::vector<float> &price_of_closing)
    {
        for (size_t i = 0; i < points_.size(); i++) {
            if (distances[i] < cost_[i] || price_of_closing[facility_[i]] < opening_cost_) {
                facility_[i] = candidate;
                cost_[i] = distances[i];
            }
        }
    }

    const std::vector<Point> &points_;
    const float opening_cost_;
    std::vector<size_t> facility_;
    std::vector<float> cost_;
};

/* Points around twenty centres that are drawn anew for each chunk. */
void fill_chunk(std::vector<Point> &points, uint64_t &seed)
{
    Point centres[20];
    for (Point &centre : centres) {
        for (float &coordinate : centre.coordinates) {
            coordinate = static_cast<float>(random_below(&seed, 100));
        }
    }
    for (Point &point : points) {
        point = centres[random_below(&seed, 20)];
        uint64_t noise = next_random(&seed);
        for (int d = 0; d < dimensions; d++) {
            point.coordinates[d] += static_cast<float>(noise >> d & 15);
        }
    }
}

} // namespace

int main(int argc, char **argv)
{
    uint64_t seed = 43;
    uint64_t checksum = 0;
    std::vector<Point> chunk(chunk_size);
    int rounds = scaled_rounds(argc, argv, 260);
    for (int i = 0; i < rounds; i++) {
        fill_chunk(chunk, seed);
        Clustering clustering(chunk, 20000.0f);
        uint64_t opened = 0;
        for (size_t attempt = 0; attempt < chunk_size; attempt++) {
            opened += clustering.try_facility(random_below(&seed, chunk_size));
        }
        checksum = mix(checksum, clustering.digest() + opened);
    }
    std::printf("%016" PRIx64 "\n", checksum);
    return 0;
}
