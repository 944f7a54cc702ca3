/*
 * zstd: text, records and noise compressed at several levels, all at once, as a stream in small pieces, and as messages with
 * a dictionary; back again, and compared. Damaged frames are refused, or come out as something else. What was compressed,
 * and what was said of damaged frames, goes into the checksum.
 */
#define ZSTD_STATIC_LINKING_ONLY
#include <stdio.h>
#include <string.h>
#include <zstd.h>

#include "input.h"
#include "request.h"

enum { SIZE = 256 * 1024, PIECE = 3000, ROUNDS = 20 };

struct request {
    unsigned char input[SIZE], packed[SIZE + SIZE / 8 + 1024], unpacked[SIZE];
    ZSTD_CCtx *compressor;
    ZSTD_DCtx *decompressor;
    uint64_t seed, checksum;
};

static size_t must(size_t result, const char *what)
{
    if (ZSTD_isError(result)) {
        fprintf(stderr, "%s: %s\n", what, ZSTD_getErrorName(result));
        exit(1);
    }
    return result;
}

static void mix_bytes(struct request *r, const unsigned char *bytes, size_t length)
{
    r->checksum = mix(r->checksum, length);
    for (size_t i = 0; i < length; i += 8) {
        r->checksum = mix(r->checksum, bytes[i]);
    }
}

static void same(struct request *r, size_t length)
{
    if (length != SIZE || memcmp(r->input, r->unpacked, SIZE) != 0) {
        fprintf(stderr, "it does not come back as it was\n");
        exit(1);
    }
}

/* A third each: words, records of counters, and bytes that nothing compresses. */
static void make_input(struct request *r)
{
    static const char *const words[] = {"the ",  "request ", "of ",      "a ",       "worker ", "yields ",   "at ",       "its ",
                                        "quantum", "'s end, ", "and ", "another ", "runs ",   "there.\n", "deadline ", "is "};
    size_t at = 0;
    while (at < SIZE / 3) {
        const char *word = words[random_below(&r->seed, 16)];
        size_t length = strlen(word);
        memcpy(r->input + at, word, length);
        at += length;
    }
    for (uint32_t count = 0; at + 16 <= SIZE * 2 / 3; count++, at += 16) {
        uint32_t record[4] = {count, count * 40 + random_below(&r->seed, 8), 1 << random_below(&r->seed, 5), 0};
        memcpy(r->input + at, record, sizeof record);
    }
    for (; at < SIZE; at++) {
        r->input[at] = (unsigned char)next_random(&r->seed);
    }
}

static void at_once(struct request *r, int level)
{
    size_t length = must(ZSTD_compressCCtx(r->compressor, r->packed, sizeof r->packed, r->input, SIZE, level), "compress");
    mix_bytes(r, r->packed, length);
    same(r, must(ZSTD_decompressDCtx(r->decompressor, r->unpacked, SIZE, r->packed, length), "decompress"));
}

static size_t stream(struct request *r, int level)
{
    must(ZSTD_CCtx_reset(r->compressor, ZSTD_reset_session_and_parameters), "reset");
    must(ZSTD_CCtx_setParameter(r->compressor, ZSTD_c_compressionLevel, level), "level");
    must(ZSTD_CCtx_setParameter(r->compressor, ZSTD_c_checksumFlag, 1), "checksum");
    must(ZSTD_CCtx_setParameter(r->compressor, ZSTD_c_enableLongDistanceMatching, level == 3), "long distance");
    ZSTD_outBuffer out = {r->packed, sizeof r->packed, 0};
    for (size_t from = 0; from < SIZE; from += PIECE) {
        size_t length = SIZE - from < PIECE ? SIZE - from : PIECE;
        ZSTD_inBuffer in = {r->input + from, length, 0};
        ZSTD_EndDirective end = from + length == SIZE ? ZSTD_e_end : from / PIECE % 16 == 15 ? ZSTD_e_flush : ZSTD_e_continue;
        size_t left;
        do {
            left = must(ZSTD_compressStream2(r->compressor, &out, &in, end), "compress");
        } while (in.pos < in.size || (end != ZSTD_e_continue && left > 0));
    }
    mix_bytes(r, r->packed, out.pos);
    return out.pos;
}

static void stream_back(struct request *r, size_t length)
{
    ZSTD_inBuffer in = {r->packed, 0, 0};
    ZSTD_outBuffer out = {r->unpacked, SIZE, 0};
    while (in.pos < length) {
        in.size = length - in.pos < PIECE ? length : in.pos + PIECE;
        must(ZSTD_decompressStream(r->decompressor, &out, &in), "decompress");
    }
    same(r, out.pos);
}

/* Short messages, for which a dictionary is made for. */
static void messages(struct request *r)
{
    ZSTD_CDict *to = ZSTD_createCDict(r->input, 16384, 3);
    ZSTD_DDict *back = ZSTD_createDDict(r->input, 16384);
    for (int i = 0; i < 200; i++) {
        const unsigned char *message = r->input + random_below(&r->seed, SIZE / 2);
        size_t size = 50 + random_below(&r->seed, 600);
        size_t length = must(ZSTD_compress_usingCDict(r->compressor, r->packed, sizeof r->packed, message, size, to), "compress");
        mix_bytes(r, r->packed, length);
        must(ZSTD_decompress_usingDDict(r->decompressor, r->unpacked, SIZE, r->packed, length, back), "decompress");
        if (memcmp(r->unpacked, message, size) != 0) {
            fprintf(stderr, "a message does not come back as it was\n");
            exit(1);
        }
    }
    ZSTD_freeCDict(to);
    ZSTD_freeDDict(back);
}

static void damaged(struct request *r)
{
    size_t length = stream(r, 1);
    for (int i = 0; i < 10; i++) {
        size_t at = random_below(&r->seed, (uint32_t)length);
        r->packed[at] ^= 0x41;
        size_t result = ZSTD_decompressDCtx(r->decompressor, r->unpacked, SIZE, r->packed, length);
        r->checksum = mix(r->checksum, ZSTD_isError(result) ? ZSTD_getErrorCode(result) : result);
        r->packed[at] ^= 0x41;
    }
}

uint64_t request(uint64_t seed, int percent)
{
    static const int levels[] = {-5, 1, 3, 5, 8, 13};
    struct request *r = calloc(1, sizeof *r);
    r->seed = seed;
    r->compressor = ZSTD_createCCtx();
    r->decompressor = ZSTD_createDCtx();
    make_input(r);
    for (int round = 0; round < ROUNDS * percent / 100; round++) {
        for (size_t i = 0; i < sizeof levels / sizeof *levels; i++) {
            at_once(r, levels[i]);
        }
        stream_back(r, stream(r, 1 + round % 6));
        messages(r);
        r->input[random_below(&r->seed, SIZE)] ^= 1;
    }
    at_once(r, 16);
    damaged(r);
    uint64_t checksum = r->checksum;
    ZSTD_freeCCtx(r->compressor);
    ZSTD_freeDCtx(r->decompressor);
    free(r);
    return checksum;
}
