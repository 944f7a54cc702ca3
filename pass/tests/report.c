// The report has a line for each function: its probes with their lines in the source, its loops, what is only assumed; and how long
// its longest path is, whether that is verified or not.
// RUN: rm -f %t.report
// RUN: %clang -O2 -g -fno-vectorize -fno-unroll-loops -c %s -o /dev/null %with '-caudal-probes=mode=flag;verify;report=%t.report'
// RUN: FileCheck %s < %t.report
// RUN: rm -f %t.unverified
// RUN: %clang -O2 -g -fno-vectorize -fno-unroll-loops -c %s -o /dev/null %with '-caudal-probes=mode=flag;report=%t.unverified'
// RUN: diff %t.report %t.unverified
// RUN: %python -c "import json, sys; [json.loads(line) for line in open(sys.argv[1])]" %t.report
// CHECK-DAG: {"assumed_calls":["other"],"event":"probed","function":"calls","loops":[],"module":"{{.*}}report.c","probes":{{[1-9]}},"sites":[{"at":"{{.*}}report.c:[[#@LINE+3]]"
long other(long);
long calls(long x) {
  return other(other(other(x)));
}
// CHECK-DAG: "function":"sum","loops":[{"at":"{{.*}}report.c:[[#@LINE+3]]","iterations":1,"kind":"each"}]
long sum(const long *p, unsigned n) {
  long sum = 0;
  for (unsigned i = 0; i < n; i++) sum += p[i];
  return sum;
}
// CHECK-DAG: "event":"verified","function":"sum","longest_cycles":{{[0-9]+}}
