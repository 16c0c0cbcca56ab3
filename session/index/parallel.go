package index

import (
	"runtime"
	"sync"
	"sync/atomic"

	"handrail/steps/fault"
)

// workers runs work on every processor at once; next hands out the numbers from
// 0 on, of which those below n are meant.
func workers(n int, work func(next func() int)) {
	var handed atomic.Int64
	next := func() int { return int(handed.Add(1)) - 1 }
	var wg sync.WaitGroup
	var fell atomic.Pointer[error]
	for range min(runtime.GOMAXPROCS(0), n) {
		wg.Go(func() {
			defer fault.To(func(err error) { fell.CompareAndSwap(nil, &err) })
			work(next)
		})
	}
	wg.Wait()
	if err := fell.Load(); err != nil {
		panic(*err) // in the goroutine that waits, as if the work had been its own
	}
}

// parallel calls do for 0 to n-1 on every processor.
func parallel(n int, do func(int)) {
	workers(n, func(next func() int) {
		for i := next(); i < n; i = next() {
			do(i)
		}
	})
}
