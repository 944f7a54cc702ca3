//===- Alignment.h - Which loops begin on a boundary --------------------------------------------------------------===//
//
// Code generation puts those blocks of loops that something jumps to on boundaries of 16 bytes, with 7 bytes that do nothing
// in front on average. Probes bring loops (strips, what is left over of them) and blocks, so padding grows with them. And a
// boundary of 16 is not what helps: processors fetch lines of 64 bytes (an AMD Zen 4 has finished operations by such lines, too), so what
// counts is that a short loop does not lie in two where one has room for it. A probe is some 14 bytes, which makes that happen
// more often. So in code with probes
//
//  - an innermost loop that takes no more than a line, by an estimate (CodeBytes.h), begins the next line if it would not fit into the
//    one that it is in, and anywhere else otherwise: that costs half a byte in the mean;
//  - in functions with indirect jumps, so does what begins a longer loop, up to where code does not run on: an interpreter's
//    dispatch, which is in two lines or in one;
//  - other loops begin anywhere.
//
// On an AMD Zen 4 (in turns, four places of the code each) an interpreter with a switch took 40 % longer than without probes before, from
// -6 to 73 by the place, and 10 % since; the 28 kernels that change 7.0 and 5.3 % in the mean, for 0.9 points of code. -falign-loops and code_align are kept to.
//
//===--------------------------------------------------------------------------------------------------------------===//
#ifndef CAUDAL_PASS_ALIGNMENT_H
#define CAUDAL_PASS_ALIGNMENT_H

namespace llvm {
class MachineFunction;
}

namespace caudal {

/// Aligns the loops of a function with probes; one that has indirect jumps keeps the boundaries of its longer loops. Whether anything
/// changed.
bool alignLoops(llvm::MachineFunction &function, bool hasIndirectJumps);

} // namespace caudal

#endif
