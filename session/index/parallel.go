package index

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// workers runs work on every processor at once; next hands out the numbers from
// 0 on, of which those below n are meant.
func workers(n int, work func(next func() int)) {
	var handed atomic.Int64
	next := func() int { return int(handed.Add(1)) - 1 }
	var wg sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), n) {
		wg.Go(func() { work(next) })
	}
	wg.Wait()
}

// parallel calls do for 0 to n-1 on every processor.
func parallel(n int, do func(int)) {
	workers(n, func(next func() int) {
		for i := next(); i < n; i = next() {
			do(i)
		}
	})
}
