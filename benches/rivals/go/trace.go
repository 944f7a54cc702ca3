package main

import (
	"encoding/binary"
	"fmt"
	"math"
	"os"
)

// The file that crates/caudal-measure/src/trace.rs describes. A schedule is such a file whose requests have not run yet.
const (
	headerBytes = 104
	version     = 1
	never       = math.MaxUint64
)

// trace holds a file; starts and completions are in ticks, 0 until they happen.
type trace struct {
	header    []byte // with the classes
	hz        float64
	services  []uint64
	class     []uint32
	arrivalNs []uint64
	start     []uint64
	end       []uint64
}

func readSchedule(path string) (*trace, error) {
	file, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	if len(file) < headerBytes || string(file[:8]) != "CAUDTRC\x00" || binary.LittleEndian.Uint32(file[8:]) != version {
		return nil, fmt.Errorf("%s is no schedule of version %d", path, version)
	}
	u64 := func(at int) uint64 { return binary.LittleEndian.Uint64(file[at:]) }
	classes, requests := int(binary.LittleEndian.Uint32(file[12:])), int(u64(40))
	body := headerBytes + 16*classes
	if len(file) < body+32*requests {
		return nil, fmt.Errorf("%s ends early", path)
	}
	t := &trace{header: file[:body:body], hz: math.Float64frombits(u64(16))}
	for c := 0; c < classes; c++ {
		t.services = append(t.services, u64(headerBytes+16*c+8))
	}
	t.class, t.arrivalNs = make([]uint32, requests), make([]uint64, requests)
	t.start, t.end = make([]uint64, requests), make([]uint64, requests)
	for r := 0; r < requests; r++ {
		at := body + 32*r
		t.class[r], t.arrivalNs[r] = uint32(u64(at)), u64(at+8)
		// Touch every page now.
		t.start[r], t.end[r] = 0, 0
	}
	return t, nil
}

func (t *trace) ticks(ns uint64) uint64 { return uint64(math.Round(float64(ns) * t.hz * 1e-9)) }

// write puts the run that began at epoch into a file.
func (t *trace) write(path, name string, epoch uint64, log *gapLog) error {
	since := func(ticks uint64) uint64 {
		if ticks < epoch {
			return 0
		}
		return uint64(math.Round(float64(ticks-epoch) * 1e9 / t.hz))
	}
	happened := func(ticks uint64) uint64 {
		if ticks == 0 {
			return never
		}
		return since(ticks)
	}
	out := append([]byte(nil), t.header...)
	put := binary.LittleEndian.PutUint64
	put(out[56:], 0)
	put(out[64:], log.lost)
	copy(out[72:104], make([]byte, 32))
	copy(out[72:104], name)
	add := func(numbers ...uint64) {
		for _, number := range numbers {
			out = binary.LittleEndian.AppendUint64(out, number)
		}
	}
	for r := range t.class {
		add(uint64(t.class[r]), t.arrivalNs[r], happened(t.start[r]), happened(t.end[r]))
	}
	gaps := uint64(0)
	for _, g := range log.gaps {
		if g.end > epoch {
			add(since(g.start), since(g.end))
			gaps++
		}
	}
	put(out[48:], gaps)
	return os.WriteFile(path, out, 0o644)
}
