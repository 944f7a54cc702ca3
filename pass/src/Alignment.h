//===- Alignment.h - Which loops begin on a boundary --------------------------------------------------------------===//
//
// Code generation puts blocks of loops that are jumped to on boundaries of 16 bytes, with 7 bytes that do nothing in front on
// average. Probes bring loops (strips, what is left over of them) and blocks, so padding grows with them. A boundary helps a loop
// that is fetched as a few lines over and over: in code with probes only the starts of innermost loops that are no longer than a
// line of the cache keep it. What a program asks for (-falign-loops, code_align) stays. So does all of a function with indirect
// jumps: an interpreter with a switch took 42 % longer without (AMD Zen 4, medians of four places of the code).
//
//===--------------------------------------------------------------------------------------------------------------===//
#ifndef CAUDAL_PASS_ALIGNMENT_H
#define CAUDAL_PASS_ALIGNMENT_H

namespace llvm {
class MachineFunction;
}

namespace caudal {

/// Takes alignment away from where it is not worth it, in a function without indirect jumps; whether there was any.
bool alignFewerLoops(llvm::MachineFunction &function);

} // namespace caudal

#endif
