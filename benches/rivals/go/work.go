package main

import (
	"fmt"
	"math"
)

// Implemented in work_amd64.s.
func chunk(iterations uint32) (start, end uint64)
func now() uint64

// A gap above this between two readings is a stall, as in crates/caudal-measure/src/gaps.rs.
const gapNs = 2500

// Length of a chunk, as in crates/caudal-measure/src/work.rs.
const chunkNs = 200

// gap is a pair of readings, in ticks.
type gap struct{ start, end uint64 }

// gapLog has room for a fixed number of gaps and counts the others.
type gapLog struct {
	threshold uint64
	gaps      []gap
	lost      uint64
}

// job is a service time as chunks of iterations.
type job struct {
	chunks     uint32
	iterations uint32
	quantum    uint32 // chunks in a quantum
}

// jobOf cuts a service time into chunks exactly as Work::job and Job::chunks_in do.
func jobOf(serviceNs, quantumNs uint64, rate, overhead float64) job {
	chunks := math.Max(1, math.Round(float64(serviceNs)/chunkNs))
	iterations := math.Round(float64(serviceNs)*1e-3*rate/chunks - overhead)
	quantum := math.Round(float64(quantumNs) / (float64(serviceNs) / chunks))
	return job{uint32(chunks), uint32(math.Max(1, iterations)), uint32(math.Max(1, quantum))}
}

// parseWork reads RATE:OVERHEAD.
func parseWork(text string) (rate, overhead float64, err error) {
	if n, scanErr := fmt.Sscanf(text, "%g:%g", &rate, &overhead); n != 2 || rate <= 0 || overhead < 0 {
		err = fmt.Errorf("`%s` is no RATE:OVERHEAD (%v)", text, scanErr)
	}
	return
}

// run does some chunks of a job.
func (j job) run(chunks uint32, log *gapLog) {
	for ; chunks > 0; chunks-- {
		start, end := chunk(j.iterations)
		if end > start && end-start > log.threshold {
			log.note(gap{start, end})
		}
	}
}

//go:noinline
func (log *gapLog) note(g gap) {
	if len(log.gaps) < cap(log.gaps) {
		log.gaps = append(log.gaps, g)
	} else {
		log.lost++
	}
}
