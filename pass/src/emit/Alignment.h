//===- Alignment.h - Which loops begin on a boundary --------------------------------------------------------------===//
//
// Places short loops and the dispatches of interpreters so that they lie in as few cache lines as they need. Called by
// the machine pass in Gaps.cpp, after code generation.
//
// Code generation puts those blocks of loops that something jumps to on boundaries of 16 bytes, with 7 bytes that do nothing
// in front on average. Probes bring loops (strips, what is left over of them) and blocks, so padding grows with them. And a
// boundary of 16 is not what helps: processors fetch lines of 64 bytes (an AMD Zen 4 has decoded operations by such lines, too), so
// what counts is in how many of them a short loop lies. A probe is some 14 bytes, and brings one more of them more often. So in code
// with probes
//
//  - an innermost loop of up to 112 bytes, by an estimate (CodeBytes.h), without calls, begins in the next line where it would lie in one
//    more than it needs and that takes no more than 7 bytes, and anywhere else otherwise;
//  - in functions with indirect jumps, so does what begins a longer loop, up to where code does not run on, however many bytes that
//    takes: an interpreter's dispatch;
//  - other loops begin anywhere; in functions with indirect jumps where code generation has them.
//
// On an AMD Zen 4 (in turns, four places of the code each) an interpreter with a switch took 40 % longer than without probes before, from
// -6 to 73 by the place, and 10 % since. With loops of up to a line, the 28 kernels that change took 7.0 % longer before and 5.3 since, for
// 0.9 points of code; with 112 bytes, 28 kernels took 4.8 instead of 5.3, for 0.9. On an AMD Zen 5, 16 kernels
// took 3.5 % longer with up to 15 bytes in front, 4.9 with up to 63 (3.1 and 3.3 without `fft`), for 2.7 points of code more.
// -falign-loops and code_align are kept to.
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
