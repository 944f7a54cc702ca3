/*
 * Forty bodies attract one another: leapfrog integration with softened gravity.
 * Stands for pairwise interactions: a triangular loop of two levels with a square root and a division inside.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "input.h"

enum { BODIES = 40 };

struct vector {
    double x, y, z;
};

struct body {
    struct vector place, speed, pull;
    double mass;
};

static struct body bodies[BODIES];

static void attract(struct body *a, struct body *b)
{
    struct vector d = {b->place.x - a->place.x, b->place.y - a->place.y, b->place.z - a->place.z};
    double square = d.x * d.x + d.y * d.y + d.z * d.z + 0.01;
    double strength = 1.0 / (square * sqrt(square));
    a->pull.x += d.x * strength * b->mass;
    a->pull.y += d.y * strength * b->mass;
    a->pull.z += d.z * strength * b->mass;
    b->pull.x -= d.x * strength * a->mass;
    b->pull.y -= d.y * strength * a->mass;
    b->pull.z -= d.z * strength * a->mass;
}

static void step(double duration)
{
    for (int i = 0; i < BODIES; i++) {
        bodies[i].pull = (struct vector){0.0, 0.0, 0.0};
    }
    for (int i = 0; i < BODIES; i++) {
        for (int j = i + 1; j < BODIES; j++) {
            attract(&bodies[i], &bodies[j]);
        }
    }
    for (int i = 0; i < BODIES; i++) {
        struct body *body = &bodies[i];
        body->speed.x += duration * body->pull.x;
        body->speed.y += duration * body->pull.y;
        body->speed.z += duration * body->pull.z;
        body->place.x += duration * body->speed.x;
        body->place.y += duration * body->speed.y;
        body->place.z += duration * body->speed.z;
    }
}

static struct vector random_vector(uint64_t *seed)
{
    double x = random_unit(seed) - 0.5, y = random_unit(seed) - 0.5, z = random_unit(seed) - 0.5;
    return (struct vector){x, y, z};
}

int main(int argc, char **argv)
{
    uint64_t seed = 20;
    for (int i = 0; i < BODIES; i++) {
        bodies[i].place = random_vector(&seed);
        bodies[i].speed = random_vector(&seed);
        bodies[i].mass = random_unit(&seed) / BODIES;
    }

    int rounds = scaled_rounds(argc, argv, 190000);
    for (int i = 0; i < rounds; i++) {
        step(1e-4);
    }

    uint64_t checksum = 0;
    for (int i = 0; i < BODIES; i++) {
        checksum = mix(checksum, (uint64_t)(int64_t)lrint(bodies[i].place.x * 1e6));
        checksum = mix(checksum, (uint64_t)(int64_t)lrint(bodies[i].speed.y * 1e6));
    }
    printf("%016" PRIx64 "\n", checksum);
    return 0;
}
