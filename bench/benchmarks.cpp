#include "bench/benchmarks.hpp"

#include <benchmark/benchmark.h>

int main(int argc, char** argv) {
  stiction::bench::register_all();
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
