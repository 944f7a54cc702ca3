#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <stdint.h>

#define REPS 340
#define V 8000
#define DEG 6

struct edge {
    int to, w, next;
};

static struct edge edges[V * DEG];
static int head[V], nedges;

struct hitem {
    int dist, v;
};

static struct hitem heap[V * DEG + 1];
static int hsize;

static void hpush(int d, int v)
{
    int i = hsize++;
    while (i > 0) {
        int p = (i - 1) / 2;
        if (heap[p].dist <= d)
            break;
        heap[i] = heap[p];
        i = p;
    }
    heap[i].dist = d;
    heap[i].v = v;
}

static struct hitem hpop(void)
{
    struct hitem r = heap[0], last = heap[--hsize];
    int i = 0;
    for (;;) {
        int c = 2 * i + 1;
        if (c >= hsize)
            break;
        if (c + 1 < hsize && heap[c + 1].dist < heap[c].dist)
            c++;
        if (heap[c].dist >= last.dist)
            break;
        heap[i] = heap[c];
        i = c;
    }
    heap[i] = last;
    return r;
}

static void add_edge(int a, int b, int w)
{
    edges[nedges].to = b;
    edges[nedges].w = w;
    edges[nedges].next = head[a];
    head[a] = nedges++;
}

static int dist[V], level[V], queue[V], stack[V];
static unsigned char seen[V];

static void dijkstra(int src)
{
    for (int i = 0; i < V; i++)
        dist[i] = 1 << 30;
    dist[src] = 0;
    hsize = 0;
    hpush(0, src);
    while (hsize > 0) {
        struct hitem t = hpop();
        if (t.dist > dist[t.v])
            continue;
        for (int e = head[t.v]; e >= 0; e = edges[e].next) {
            int nd = t.dist + edges[e].w;
            if (nd < dist[edges[e].to]) {
                dist[edges[e].to] = nd;
                hpush(nd, edges[e].to);
            }
        }
    }
}

static int bfs(int src)
{
    for (int i = 0; i < V; i++)
        level[i] = -1;
    int qh = 0, qt = 0;
    queue[qt++] = src;
    level[src] = 0;
    while (qh < qt) {
        int u = queue[qh++];
        for (int e = head[u]; e >= 0; e = edges[e].next)
            if (level[edges[e].to] < 0) {
                level[edges[e].to] = level[u] + 1;
                queue[qt++] = edges[e].to;
            }
    }
    return level[queue[qt - 1]];
}

static int dfs_count(int src)
{
    int sp = 0, count = 0;
    memset(seen, 0, sizeof seen);
    stack[sp++] = src;
    seen[src] = 1;
    while (sp > 0) {
        int u = stack[--sp];
        count++;
        for (int e = head[u]; e >= 0; e = edges[e].next) {
            int v = edges[e].to;
            if (!seen[v]) {
                seen[v] = 1;
                stack[sp++] = v;
            }
        }
    }
    return count;
}

int main(void)
{
    uint32_t x = 314159;
    for (int i = 0; i < V; i++)
        head[i] = -1;
    for (int i = 0; i < V; i++)
        for (int k = 0; k < DEG; k++) {
            x = x * 1664525u + 1013904223u;
            int to = (int)((x >> 8) % V);
            add_edge(i, to, 1 + (int)(x >> 26));
        }
    uint64_t sum = 0;
    for (int r = 0; r < REPS; r++) {
        int src = (r * 37) % V;
        dijkstra(src);
        for (int i = 0; i < V; i++)
            sum += (uint64_t)dist[i] * (uint64_t)(i & 15);
        sum = sum * 5 + (uint64_t)bfs(src);
        sum += (uint64_t)dfs_count(src);
    }
    printf("dijkstra %llu\n", (unsigned long long)sum);
    return 0;
}
