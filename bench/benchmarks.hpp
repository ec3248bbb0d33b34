// The programs of Google Benchmark share a main (benchmarks.cpp); each registers its own.
#pragma once

namespace stiction::bench {

/// Registers the program's benchmarks; every program defines it.
void register_all();

}  // namespace stiction::bench
