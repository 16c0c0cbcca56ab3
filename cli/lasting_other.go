//go:build !linux

package cli

import "context"

// around: a session of its own is left alone here when a login ends.
func (p *program) around(context.Context) around { return around{} }
