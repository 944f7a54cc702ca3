//===- Alignment.h - Which loops begin on a boundary --------------------------------------------------------------===//
//
// Code generation puts those blocks of loops that something jumps to on boundaries of 16 bytes, with 7 bytes that do nothing
// in front on average. Probes bring loops (strips, what is left over of them) and blocks, so padding grows with them. A
// boundary helps a loop that is fetched as a few lines over and over. So in code with probes only starts of innermost loops
// keep it that take no more than a line of the cache, by an estimate that is mostly too large (CodeBytes.h). -falign-loops and
// code_align are kept to. Functions with indirect jumps stay as they are: an interpreter with a switch took 38 % longer without
// (AMD Zen 4, medians of four places of the code).
//
//===--------------------------------------------------------------------------------------------------------------===//
#ifndef CAUDAL_PASS_ALIGNMENT_H
#define CAUDAL_PASS_ALIGNMENT_H

namespace llvm {
class MachineFunction;
}

namespace caudal {

/// Takes alignment away from where it is not worth it, in a function without indirect jumps. Whether anything changed.
bool alignFewerLoops(llvm::MachineFunction &function);

} // namespace caudal

#endif
