/*
 * Distances in a directed graph in compressed rows: in edges by breadth-first search, and in weights by Dijkstra's
 * algorithm with a binary heap, from one vertex after another.
 * Stands for graph walks: loops over few neighbours, loads all over the place, a queue or a heap that grows and
 * shrinks.
 */
#include <inttypes.h>
#include <stdio.h>

#include "input.h"

enum { VERTICES = 16384, LONGEST_ROW = 10, EDGES = VERTICES * LONGEST_ROW, UNREACHED = INT32_MAX };

struct entry {
    uint32_t distance;
    uint32_t vertex;
};

static uint32_t starts[VERTICES + 1];
static uint32_t targets[EDGES], weights[EDGES];
static uint32_t distances[VERTICES];
static uint32_t queue[VERTICES];
static struct entry heap[EDGES + 1];
static uint32_t heap_size;

/* Most edges are short, so that the graph has some depth. */
static void generate(uint64_t seed)
{
    uint32_t edges = 0;
    for (uint32_t v = 0; v < VERTICES; v++) {
        starts[v] = edges;
        uint32_t degree = 1 + random_below(&seed, LONGEST_ROW);
        for (uint32_t i = 0; i < degree; i++) {
            uint32_t reach = random_below(&seed, 50) == 0 ? VERTICES : 200;
            targets[edges] = (v + random_below(&seed, reach)) % VERTICES;
            weights[edges] = 1 + random_below(&seed, 100);
            edges++;
        }
    }
    starts[VERTICES] = edges;
}

static void forget_distances(void)
{
    for (int v = 0; v < VERTICES; v++) {
        distances[v] = UNREACHED;
    }
}

static void search_breadth_first(uint32_t source)
{
    forget_distances();
    distances[source] = 0;
    queue[0] = source;
    uint32_t first = 0, last = 1;
    while (first < last) {
        uint32_t v = queue[first++];
        for (uint32_t e = starts[v]; e < starts[v + 1]; e++) {
            uint32_t next = targets[e];
            if (distances[next] == UNREACHED) {
                distances[next] = distances[v] + 1;
                queue[last++] = next;
            }
        }
    }
}

static void push(struct entry entry)
{
    uint32_t at = heap_size++;
    while (at > 0 && heap[(at - 1) / 2].distance > entry.distance) {
        heap[at] = heap[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    heap[at] = entry;
}

static struct entry pop(void)
{
    struct entry nearest = heap[0];
    struct entry moved = heap[--heap_size];
    uint32_t at = 0;
    for (uint32_t child = 1; child < heap_size; child = 2 * at + 1) {
        if (child + 1 < heap_size && heap[child + 1].distance < heap[child].distance) {
            child++;
        }
        if (moved.distance <= heap[child].distance) {
            break;
        }
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = moved;
    return nearest;
}

/* A vertex is in the heap once for every time it came nearer; only the last of them counts. */
static void search_by_weight(uint32_t source)
{
    forget_distances();
    distances[source] = 0;
    heap_size = 0;
    push((struct entry){0, source});
    while (heap_size > 0) {
        struct entry entry = pop();
        if (entry.distance > distances[entry.vertex]) {
            continue;
        }
        for (uint32_t e = starts[entry.vertex]; e < starts[entry.vertex + 1]; e++) {
            uint32_t distance = entry.distance + weights[e];
            if (distance < distances[targets[e]]) {
                distances[targets[e]] = distance;
                push((struct entry){distance, targets[e]});
            }
        }
    }
}

static uint64_t digest(uint64_t checksum)
{
    for (int v = 0; v < VERTICES; v += 7) {
        checksum = mix(checksum, distances[v]);
    }
    return checksum;
}

int main(int argc, char **argv)
{
    generate(29);

    uint64_t seed = 30;
    uint64_t checksum = 0;
    int rounds = scaled_rounds(argc, argv, 300);
    for (int i = 0; i < rounds; i++) {
        uint32_t source = random_below(&seed, VERTICES);
        search_breadth_first(source);
        checksum = digest(checksum);
        search_by_weight(source);
        checksum = digest(checksum);
    }
    printf("%016" PRIx64 "\n", checksum);
    return 0;
}
