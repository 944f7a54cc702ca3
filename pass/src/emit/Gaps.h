//===- Gaps.h - What due probes execute, where no code runs past it -----------------------------------------------===//
//
// Moves the call that a due probe executes to a place that no code runs through. Called by LLVM, as the last machine
// pass, which Plugin.cpp registers.
//
// A probe's call lies within an instruction that does nothing (Probe.h), which is one of the three that each execution of
// the probe takes. Where code does not run on from one block to the next (after a jump, after a return) there is a gap,
// in which the call costs nobody anything. This machine pass, the last one before the assembler, knows where all blocks
// lie; a probe that has a gap within the reach of jumps of two bytes gets its call there:
//
//          subq   $9, %fs:caudal_probe_v1@tpoff+8        64 48 83 2c 25 ..       9
//          jl     1f                                     7c ..
//      2:  ...
//          jmp    ...
//      1:  call   caudal_probe_cold_budget_v1            e8 .. .. .. ..
//          jmp    2b                                     eb ..
//
// That is a byte less than in place, and a third of what a probe executes. What has no gap close by stays as it is, and so
// does what is close to an indirect jump: on an AMD Zen 4 an interpreter with a switch took 44 % longer with its probe's call
// and the jump back close by, and 6 % with the call in its place (medians of 16 places of the code), however seldom it is executed.
// So does everything where this pass does not run: LLVM 19 lets plugins add no machine passes.
//
// The unwinder must find the frame at the call as it is at the probe: the gap after a return has the frame of one that has
// been left, so directives say around the call what it is. A debugger is told again where variables are.
//
//===--------------------------------------------------------------------------------------------------------------===//
#ifndef CAUDAL_PASS_GAPS_H
#define CAUDAL_PASS_GAPS_H

namespace caudal {

/// Has the machine pass run at the end of all code generation in this process, from now on.
void useGaps();

} // namespace caudal

#endif
