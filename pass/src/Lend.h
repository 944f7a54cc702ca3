//===- Lend.h - Inner loops look at what is left later than the loops around them ---------------------------------===//
//
// A probe's jump costs next to nothing as long as it has never been taken: processors do not know it. Once it has been, it takes
// part in all that they predict, at each execution. In a loop that goes around a few times each time that it is entered (the
// digits of a number, a search's steps) the loop around it has a probe as often as the inner one needs to look. So where the
// budget is in a register (Carry.h), an inner loop is lent some units where it is entered, and gives them back where it is
// left:
//
//     around the loops:   subq $9, %r11; jl          due below 0
//     entry:              addq $128, %r11
//     within:             subq $3, %r11; jl          due 128 units later, so that it finds nothing due if it is short
//     exits:              subq $128, %r11
//
// The bound between probes is what it was. A yield is by as many units later at most, for each loop in a loop. A call in the
// loop has them, too; a way out by unwinding keeps them, and the next quantum is so much longer.
//
//===--------------------------------------------------------------------------------------------------------------===//
#ifndef CAUDAL_PASS_LEND_H
#define CAUDAL_PASS_LEND_H

#include "Cost.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/Instructions.h"

namespace caudal {

/// What it adds to the ways into a loop that may borrow, and out of it.
inline constexpr Cost lending = Cost::units(8);

/// Whether `loop` is within another, and nothing counts it: what is counted is mostly long, or has a version for when it is
/// short (ShortLoops.h).
bool mayBorrow(const llvm::Loop &loop, llvm::ScalarEvolution &scev);

/// Lends to the loops of `nest`, and to itself if it is within another: those that may borrow, have probes, and are in a loop
/// that has one of its own. `left`: the variable that is spent from within `nest`, fetched in front of it and put back behind it.
/// `probed`: the blocks of all of the function's probes.
void lendToInnerLoops(llvm::Loop &nest, llvm::AllocaInst &left, llvm::ArrayRef<const llvm::BasicBlock *> probed,
                      llvm::DominatorTree &dominators, llvm::LoopInfo &loops, llvm::ScalarEvolution &scev);

} // namespace caudal

#endif
