// A key-value service on LevelDB: what its requests do. It is compiled with probes and without, as LevelDB is; main.cpp, which
// measures it, never has any.
#pragma once

#include <cstdint>

namespace service {

/// How many entries a scan reads.
constexpr int SCAN_ENTRIES = 5000;

void open();
void close();

/// Reads a value, or finds that there is none, and answers with its checksum.
uint64_t get(uint64_t seed);

/// Reads entries one after the other, and answers with the checksum of all of them.
uint64_t scan(uint64_t seed);

/// Called by a scan at each entry, for its clock: main.cpp has it.
void goes_on();

} // namespace service
