#include "textflag.h"

// One chunk of work: the instructions of crates/caudal-measure/src/work.rs, and a reading of the clock on either side.
//
// func chunk(iterations uint32) (start, end uint64)
TEXT ·chunk(SB), NOSPLIT, $0-24
	MOVL	iterations+0(FP), CX
	RDTSC
	SHLQ	$32, DX
	ORQ	DX, AX
	MOVQ	AX, start+8(FP)
	MOVQ	$6364136223846793005, BX
	MOVQ	$1, SI
again:
	IMULQ	BX, SI
	SUBL	$1, CX
	JNZ	again
	LFENCE
	RDTSC
	SHLQ	$32, DX
	ORQ	DX, AX
	MOVQ	AX, end+16(FP)
	RET

// func now() uint64
TEXT ·now(SB), NOSPLIT, $0-8
	RDTSC
	SHLQ	$32, DX
	ORQ	DX, AX
	MOVQ	AX, ret+0(FP)
	RET
