#include "CodeBytes.h"
#include "Probe.h"
#include "llvm/CodeGen/MachineFunction.h"
#include "llvm/CodeGen/TargetRegisterInfo.h"
#include "llvm/CodeGen/TargetSubtargetInfo.h"
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

/// Where an address's five operands (base, scale, index, displacement, segment) begin; the end: there is none.
static unsigned addressOf(const MachineInstr &instruction) {
  ArrayRef<MCOperandInfo> operands = instruction.getDesc().operands();
  return unsigned(find_if(operands, [](const MCOperandInfo &operand) { return operand.OperandType == MCOI::OPERAND_MEMORY; }) -
                  operands.begin());
}

/// Opcode, prefixes, and the bytes that say which registers, with `at`, where an address begins.
static int64_t bytesOfOpcode(const MachineInstr &instruction, unsigned at) {
  static constexpr unsigned index = 2, addressOperands = 5, stackPointer = 4, extended = 8;
  const TargetRegisterInfo &registers = *instruction.getMF()->getSubtarget().getRegisterInfo();
  bool hasVector = false, hasPrefix = false, isScaled = false;
  for (unsigned number = 0; number < instruction.getNumExplicitOperands(); number++) {
    const MachineOperand &operand = instruction.getOperand(number);
    if (!operand.isReg() || !operand.getReg().isPhysical())
      continue;
    unsigned bits = registers.getRegSizeInBits(*registers.getMinimalPhysRegClass(operand.getReg()));
    unsigned code = registers.getEncodingValue(operand.getReg());
    bool isOfAddress = number >= at && number < at + addressOperands;
    hasVector |= bits >= 128;
    hasPrefix |= (bits == 64 && !isOfAddress) || code >= extended;
    isScaled |= number == at + index || (number == at && code % extended == stackPointer);
  }
  return (hasVector ? 4 : 2) + (hasPrefix ? 1 : 0) + (isScaled ? 1 : 0);
}

int64_t bytesOf(const MachineInstr &instruction) {
  static constexpr int64_t call = 5, jump = 3, probe = 16, otherAssembly = 8;
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
  unsigned at = addressOf(instruction), scale = at + 1;
  int64_t bytes = bytesOfOpcode(instruction, at);
  for (unsigned number = 0; number < instruction.getNumExplicitOperands(); number++)
    if (number != scale)
      bytes += bytesOf(instruction.getOperand(number));
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
