#include "CodeBytes.h"
#include "Probe.h"
#include "llvm/IR/InlineAsm.h"

using namespace llvm;

namespace caudal {

StringRef assemblyOf(const MachineInstr &instruction) {
  return instruction.isInlineAsm() ? StringRef(instruction.getOperand(InlineAsm::MIOp_AsmString).getSymbolName()) : "";
}

/// What a displacement or an immediate value takes.
static int64_t bytesOf(const MachineOperand &operand) {
  if (!operand.isImm())
    return operand.isReg() ? 0 : 4;
  return operand.getImm() == 0 ? 0 : isInt<8>(operand.getImm()) ? 1 : 4;
}

int64_t bytesOf(const MachineInstr &instruction) {
  static constexpr int64_t opcode = 3, call = 5, jump = 4, probe = 16, otherAssembly = 8;
  if (instruction.isMetaInstruction())
    return 0;
  if (instruction.isInlineAsm())
    return hasCallInside(assemblyOf(instruction)) ? probe : otherAssembly;
  if (instruction.isCall())
    return call;
  if (instruction.isBranch())
    return jump;
  if (instruction.isReturn())
    return 1;
  int64_t bytes = opcode;
  for (const MachineOperand &operand : instruction.explicit_operands())
    bytes += bytesOf(operand);
  return bytes;
}

int64_t bytesOf(const MachineBasicBlock &block) {
  int64_t bytes = 0;
  for (const MachineInstr &instruction : block)
    bytes += bytesOf(instruction);
  return bytes;
}

bool runsOn(const MachineBasicBlock &block) {
  for (const MachineInstr &last : reverse(block))
    if (!last.isMetaInstruction())
      return !last.isBarrier() && !block.succ_empty();
  return !block.succ_empty();
}

} // namespace caudal
