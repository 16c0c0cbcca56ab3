package cluster

import (
	"context"
	"sync"

	"handrail/steps/fault"
)

// ListsAtOnce is how many lists are under way together; the server queues what
// is more than its share.
const ListsAtOnce = 8

// Together runs reads side by side, up to eight at once, and returns when all have
// ended. What one meets is its own to keep; fell is told of one that broke off.
func Together(ctx context.Context, reads []func(context.Context), fell func(error)) {
	slots := make(chan struct{}, ListsAtOnce)
	var wait sync.WaitGroup
	for _, read := range reads {
		wait.Go(func() {
			defer fault.To(fell)
			slots <- struct{}{} // once ctx is over, each read ends at once
			defer func() { <-slots }()
			read(ctx)
		})
	}
	wait.Wait()
}
