//===- CompilerInterrupts.h - Compiler Interrupts, to compare with ------------------------------------------------===//
//
// Places the probes of Compiler Interrupts, a published technique, so that Caudal can be compared with it. Made by
// Pass.cpp, in the modes `instruction-counter` and `counter-gated-clock` alone.
//
// Where the modes `instruction-counter` and `counter-gated-clock` count, for comparison only: what Tiny Quanta's Table 3
// calls CI and CI-Cycles. After Basu, Montanari and Eriksson, *Frequent background polling on a shared thread, using
// light-weight compiler interrupts*, PLDI 2021, and what is published of its implementation.
//
// A counter per thread is added to at the end of each basic block, unless the block's count can be passed on. Containers
// are reduced until nothing changes, as in a structural analysis:
//
//     path      A -> B, nothing else leads there                    the count goes on to B
//     branch    A -> arms -> B, nothing else leads there            the arms' mean, by probability, goes on to B
//     loop      before -> header (-> body) -> after              count * trips goes on, if constant and small enough;
//                                                                   else strips, or in each iteration
//
// What is left, each container by itself, adds its count at its end; a block whose successors all have it as their only
// predecessor passes its count on to them, blocks that lead to one place alone pass on their mean. A function's first and
// last container are counted where it is called. No more than `interval` instructions are passed on.
//
// As published: the rules above, in this order; one for an instruction, nothing for phis, casts and addresses, 101 for a
// call of what is not in the module, nothing for a call through a pointer; an interval of 1,000; joins made for conditions
// that share an arm; loops that are cut only with an induction variable, single-block ones from one iteration a strip on,
// others from ten; short single-block loops that go straight through and are counted after.
//
// Not as published, each to the baseline's advantage or to no effect: it runs at the end of optimisation rather than
// before a second one; the counter goes down to zero rather than up to a limit in memory, so that a probe is a subtraction
// and a jump, not two loads, an addition, a store, a comparison and a jump; strips are those of StripMine.h, without a
// second test in each iteration and for all loops that are cut; no probe separates a comparison from its jump; the
// clock is read and what the counter goes on from is computed in the cold path, out of line, and the clock is due at the
// quantum's end, not at nine tenths of it. The header of a loop that exits there is counted once an iteration, not twice.
//
// The cold paths are not of the probe ABI: who compares links with some (pass/bench/harness.c).
//
//===--------------------------------------------------------------------------------------------------------------===//
#ifndef CAUDAL_PASS_COMPILERINTERRUPTS_H
#define CAUDAL_PASS_COMPILERINTERRUPTS_H

#include "Strategy.h"
#include <memory>

namespace caudal {

/// The strategy of the modes that only compare. Costs in its plans are instructions for cycles.
std::unique_ptr<Strategy> makeCompilerInterrupts(const Functions &functions);

} // namespace caudal

#endif
