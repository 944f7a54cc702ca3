/*
 * SHA-256 of messages of 1 byte to 8 KiB, each digest changing the next message.
 * Stands for block functions of cryptography: 64 rounds of rotations and additions, straight-line and register-bound,
 * with a call a block.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "input.h"

enum { BLOCK = 64, ROUNDS = 64, LONGEST = 8192 };

static const uint32_t constants[ROUNDS] = {
    0x428a2f98u, 0x71374491u, 0xb5c0fbcfu, 0xe9b5dba5u, 0x3956c25bu, 0x59f111f1u, 0x923f82a4u, 0xab1c5ed5u,
    0xd807aa98u, 0x12835b01u, 0x243185beu, 0x550c7dc3u, 0x72be5d74u, 0x80deb1feu, 0x9bdc06a7u, 0xc19bf174u,
    0xe49b69c1u, 0xefbe4786u, 0x0fc19dc6u, 0x240ca1ccu, 0x2de92c6fu, 0x4a7484aau, 0x5cb0a9dcu, 0x76f988dau,
    0x983e5152u, 0xa831c66du, 0xb00327c8u, 0xbf597fc7u, 0xc6e00bf3u, 0xd5a79147u, 0x06ca6351u, 0x14292967u,
    0x27b70a85u, 0x2e1b2138u, 0x4d2c6dfcu, 0x53380d13u, 0x650a7354u, 0x766a0abbu, 0x81c2c92eu, 0x92722c85u,
    0xa2bfe8a1u, 0xa81a664bu, 0xc24b8b70u, 0xc76c51a3u, 0xd192e819u, 0xd6990624u, 0xf40e3585u, 0x106aa070u,
    0x19a4c116u, 0x1e376c08u, 0x2748774cu, 0x34b0bcb5u, 0x391c0cb3u, 0x4ed8aa4au, 0x5b9cca4fu, 0x682e6ff3u,
    0x748f82eeu, 0x78a5636fu, 0x84c87814u, 0x8cc70208u, 0x90befffau, 0xa4506cebu, 0xbef9a3f7u, 0xc67178f2u,
};

struct hash {
    uint32_t state[8];
    uint64_t length;
    uint8_t pending[BLOCK];
};

static uint8_t message[LONGEST];

static uint32_t rotate(uint32_t x, int by)
{
    return x >> by | x << (32 - by);
}

static uint32_t load_big_endian(const uint8_t *from)
{
    return (uint32_t)from[0] << 24 | (uint32_t)from[1] << 16 | (uint32_t)from[2] << 8 | from[3];
}

static void compress(uint32_t state[8], const uint8_t *block)
{
    uint32_t w[ROUNDS];
    for (int i = 0; i < 16; i++) {
        w[i] = load_big_endian(block + 4 * i);
    }
    for (int i = 16; i < ROUNDS; i++) {
        uint32_t s0 = rotate(w[i - 15], 7) ^ rotate(w[i - 15], 18) ^ w[i - 15] >> 3;
        uint32_t s1 = rotate(w[i - 2], 17) ^ rotate(w[i - 2], 19) ^ w[i - 2] >> 10;
        w[i] = w[i - 16] + s0 + w[i - 7] + s1;
    }

    uint32_t a = state[0], b = state[1], c = state[2], d = state[3];
    uint32_t e = state[4], f = state[5], g = state[6], h = state[7];
    for (int i = 0; i < ROUNDS; i++) {
        uint32_t t1 = h + (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)) + ((e & f) ^ (~e & g)) + constants[i] + w[i];
        uint32_t t2 = (rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
        h = g;
        g = f;
        f = e;
        e = d + t1;
        d = c;
        c = b;
        b = a;
        a = t1 + t2;
    }
    state[0] += a;
    state[1] += b;
    state[2] += c;
    state[3] += d;
    state[4] += e;
    state[5] += f;
    state[6] += g;
    state[7] += h;
}

static void start(struct hash *hash)
{
    static const uint32_t initial[8] = {
        0x6a09e667u, 0xbb67ae85u, 0x3c6ef372u, 0xa54ff53au,
        0x510e527fu, 0x9b05688cu, 0x1f83d9abu, 0x5be0cd19u,
    };
    memcpy(hash->state, initial, sizeof initial);
    hash->length = 0;
}

static void update(struct hash *hash, const uint8_t *bytes, size_t length)
{
    size_t filled = hash->length % BLOCK;
    hash->length += length;
    while (filled + length >= BLOCK) {
        if (filled == 0) {
            compress(hash->state, bytes);
        } else {
            memcpy(hash->pending + filled, bytes, BLOCK - filled);
            compress(hash->state, hash->pending);
        }
        bytes += BLOCK - filled;
        length -= BLOCK - filled;
        filled = 0;
    }
    memcpy(hash->pending + filled, bytes, length);
}

/* A one bit, zeros, and the length in bits. */
static void finish(struct hash *hash)
{
    uint8_t padding[BLOCK + 8] = {0x80};
    uint64_t bits = 8 * hash->length;
    size_t zeros = (2 * BLOCK - 9 - hash->length % BLOCK) % BLOCK;
    for (int i = 0; i < 8; i++) {
        padding[1 + zeros + (size_t)i] = (uint8_t)(bits >> (56 - 8 * i));
    }
    update(hash, padding, 1 + zeros + 8);
}

int main(int argc, char **argv)
{
    uint64_t seed = 27;
    for (int i = 0; i < LONGEST; i++) {
        message[i] = (uint8_t)next_random(&seed);
    }

    struct hash hash = {{0}, 0, {0}};
    int rounds = scaled_rounds(argc, argv, 44000);
    for (int i = 0; i < rounds; i++) {
        start(&hash);
        update(&hash, message, 1 + random_below(&seed, LONGEST));
        finish(&hash);
        message[hash.state[0] % LONGEST] ^= (uint8_t)hash.state[7];
    }
    printf("%08" PRIx32 "%08" PRIx32 "\n", hash.state[0], hash.state[1]);
    return 0;
}
