package steps

import (
	"context"
	"sync"
)

type beginKey struct{}

// BeginWhile gives an act something to ask directly before the first thing that
// changes anything. Once it may begin, the rest of the act is not asked again: an
// act that is half done is worse than one that took long.
func BeginWhile(ctx context.Context, may func() error) context.Context {
	var mu sync.Mutex
	begun := false
	return context.WithValue(ctx, beginKey{}, func() error {
		mu.Lock()
		defer mu.Unlock()
		if begun {
			return nil
		}
		err := may()
		begun = err == nil
		return err
	})
}

// Begin says why an act may not begin any more, nil where it may or nothing was
// said about it. Who sends a request or starts a program that changes something
// asks it directly before.
func Begin(ctx context.Context) error {
	if may, ok := ctx.Value(beginKey{}).(func() error); ok {
		return may()
	}
	return nil
}
