// Go: a goroutine a request, GOMAXPROCS=1.
//
// The program reads the schedule itself: a request exists once the clock has passed its intended time. A generator in a
// goroutine of its own would need a second P, and goroutines that it starts would first wait to be stolen from there. So
// one goroutine looks which requests have come, starts a goroutine for each, and calls Gosched, as a server's accept loop
// hands its core over. The other core stays idle. With -edited requests call Gosched every quantum.
package main

import (
	"flag"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"syscall"
	"time"
	"unsafe"
)

const (
	leadNs     = 5_000_000
	patienceNs = 2_000_000_000
	gapRoom    = 1 << 18
)

type options struct {
	schedule, work, out string
	workerCore          int
	quantum             time.Duration
	edited              bool
}

func main() {
	o := parse()
	if err := run(o); err != nil {
		fmt.Fprintln(os.Stderr, "rival-go:", err)
		os.Exit(1)
	}
}

func parse() (o options) {
	flag.StringVar(&o.schedule, "schedule", "", "file with the requests, from `rivals schedule`")
	flag.StringVar(&o.work, "iterations-per-us", "", "speed of the work, RATE:OVERHEAD")
	flag.StringVar(&o.out, "out", "", "trace to write")
	flag.IntVar(&o.workerCore, "worker-core", 1, "CPU of the worker")
	flag.DurationVar(&o.quantum, "quantum", time.Microsecond, "how long an edited request runs before others have their turn")
	flag.BoolVar(&o.edited, "edited", false, "call Gosched every quantum")
	// What the schedule says; taken so that all contestants have one command line.
	for _, name := range []string{"load", "requests", "seed", "generator-core"} {
		flag.String(name, "", "as the schedule says")
	}
	flag.Parse()
	return
}

func run(o options) error {
	runtime.GOMAXPROCS(1)
	if err := pinAllThreads(o.workerCore); err != nil {
		return err
	}
	rate, overhead, err := parseWork(o.work)
	if err != nil {
		return err
	}
	t, err := readSchedule(o.schedule)
	if err != nil {
		return err
	}
	jobs := make([]job, len(t.services))
	for c, service := range t.services {
		jobs[c] = jobOf(service, uint64(o.quantum.Nanoseconds()), rate, overhead)
	}
	log := &gapLog{threshold: t.ticks(gapNs), gaps: make([]gap, 0, gapRoom)}
	name := "go"
	if o.edited {
		name = fmt.Sprintf("go, edited, %d ns", o.quantum.Nanoseconds())
	}
	epoch := serveAll(t, jobs, log, o.edited)
	return t.write(o.out, name, epoch, log)
}

// serveAll runs the whole schedule and returns its start in ticks.
func serveAll(t *trace, jobs []job, log *gapLog, edited bool) uint64 {
	due := make([]uint64, len(t.arrivalNs))
	epoch := now() + t.ticks(leadNs)
	for r, ns := range t.arrivalNs {
		due[r] = epoch + t.ticks(ns)
	}
	deadline := due[len(due)-1] + t.ticks(patienceNs)
	// One P: goroutines never run at the same time, so plain words do.
	next, finished := 0, 0
	for finished < len(due) && now() < deadline {
		for next < len(due) && due[next] <= now() {
			r := next
			next++
			go func() {
				t.start[r] = now()
				j := jobs[t.class[r]]
				if edited {
					j.inTurns(log)
				} else {
					j.run(j.chunks, log)
				}
				t.end[r] = now()
				finished++
			}()
		}
		runtime.Gosched()
	}
	return epoch
}

// inTurns is a request as somebody would write it who knows that others wait.
func (j job) inTurns(log *gapLog) {
	left := j.chunks
	for {
		turn := min(left, j.quantum)
		j.run(turn, log)
		left -= turn
		if left == 0 {
			return
		}
		runtime.Gosched()
	}
}

// pinAllThreads pins the threads that the runtime has already; those that they start inherit it.
func pinAllThreads(cpu int) error {
	var set [16]uint64
	if cpu < 0 || cpu >= 64*len(set) {
		return fmt.Errorf("there is no CPU %d", cpu)
	}
	set[cpu/64] = 1 << (cpu % 64)
	threads, err := os.ReadDir("/proc/self/task")
	if err != nil {
		return err
	}
	for _, thread := range threads {
		id, err := strconv.Atoi(thread.Name())
		if err != nil {
			return err
		}
		_, _, failed := syscall.RawSyscall(syscall.SYS_SCHED_SETAFFINITY, uintptr(id), unsafe.Sizeof(set), uintptr(unsafe.Pointer(&set)))
		if failed != 0 {
			return fmt.Errorf("cannot pin to CPU %d: %w", cpu, failed)
		}
	}
	return nil
}
