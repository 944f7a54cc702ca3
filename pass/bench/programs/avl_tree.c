/*
 * A balanced (AVL) tree as an ordered map: insertions, lookups, deletions of the smallest, and ranges in order.
 * Stands for walks down trees of about fifteen levels, with a branch and a dependent load a level, and for recursion
 * that does its work on the way back.
 */
#include <inttypes.h>
#include <stdio.h>

#include "input.h"

enum { KEYS = 20000, LOOKUPS = 40000, RANGES = 200, RANGE_LENGTH = 50 };

struct node {
    struct node *left, *right;
    uint32_t key;
    int height;
    uint64_t value;
};

static struct node nodes[KEYS];
static struct node *unused;

static int height(const struct node *node)
{
    return node == NULL ? 0 : node->height;
}

static void update_height(struct node *node)
{
    int left = height(node->left), right = height(node->right);
    node->height = 1 + (left > right ? left : right);
}

static struct node *rotate_right(struct node *node)
{
    struct node *top = node->left;
    node->left = top->right;
    top->right = node;
    update_height(node);
    update_height(top);
    return top;
}

static struct node *rotate_left(struct node *node)
{
    struct node *top = node->right;
    node->right = top->left;
    top->left = node;
    update_height(node);
    update_height(top);
    return top;
}

static struct node *balance(struct node *node)
{
    update_height(node);
    int lean = height(node->left) - height(node->right);
    if (lean > 1) {
        if (height(node->left->left) < height(node->left->right)) {
            node->left = rotate_left(node->left);
        }
        return rotate_right(node);
    }
    if (lean < -1) {
        if (height(node->right->right) < height(node->right->left)) {
            node->right = rotate_right(node->right);
        }
        return rotate_left(node);
    }
    return node;
}

static struct node *insert(struct node *tree, uint32_t key, uint64_t value)
{
    if (tree == NULL) {
        struct node *node = unused;
        unused = node->right;
        *node = (struct node){.key = key, .height = 1, .value = value};
        return node;
    }
    if (key == tree->key) {
        tree->value += value;
        return tree;
    }
    if (key < tree->key) {
        tree->left = insert(tree->left, key, value);
    } else {
        tree->right = insert(tree->right, key, value);
    }
    return balance(tree);
}

static struct node *remove_smallest(struct node *tree, uint64_t *value)
{
    if (tree->left == NULL) {
        struct node *rest = tree->right;
        *value = tree->value;
        tree->right = unused;
        unused = tree;
        return rest;
    }
    tree->left = remove_smallest(tree->left, value);
    return balance(tree);
}

static const struct node *find(const struct node *tree, uint32_t key)
{
    while (tree != NULL && tree->key != key) {
        tree = key < tree->key ? tree->left : tree->right;
    }
    return tree;
}

/* Adds the values of at most `*count` keys from `from` on, in order. */
static uint64_t sum_range(const struct node *tree, uint32_t from, int *count)
{
    if (tree == NULL || *count == 0) {
        return 0;
    }
    uint64_t sum = 0;
    if (tree->key > from) {
        sum = sum_range(tree->left, from, count);
    }
    if (tree->key >= from && *count > 0) {
        (*count)--;
        sum = sum * 3 + tree->value;
    }
    return sum + sum_range(tree->right, from, count);
}

static uint64_t round_of_work(uint64_t *seed)
{
    struct node *tree = NULL;
    uint64_t checksum = 0;
    for (int i = 0; i < KEYS; i++) {
        tree = insert(tree, random_below(seed, 2 * KEYS), (uint64_t)i);
    }
    for (int i = 0; i < LOOKUPS; i++) {
        const struct node *node = find(tree, random_below(seed, 2 * KEYS));
        checksum += node == NULL ? 1 : node->value;
    }
    for (int i = 0; i < RANGES; i++) {
        int count = RANGE_LENGTH;
        checksum = mix(checksum, sum_range(tree, random_below(seed, 2 * KEYS), &count));
    }
    while (tree != NULL) {
        uint64_t value;
        tree = remove_smallest(tree, &value);
        checksum = mix(checksum, value);
    }
    return checksum;
}

int main(int argc, char **argv)
{
    for (int i = 0; i < KEYS; i++) {
        nodes[i].right = unused;
        unused = &nodes[i];
    }

    uint64_t seed = 28;
    uint64_t checksum = 0;
    int rounds = scaled_rounds(argc, argv, 120);
    for (int i = 0; i < rounds; i++) {
        checksum = mix(checksum, round_of_work(&seed));
    }
    printf("%016" PRIx64 "\n", checksum);
    return 0;
}
