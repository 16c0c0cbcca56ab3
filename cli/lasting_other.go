//go:build !linux

package cli

import (
	"context"

	"handrail/cli/process"
)

// lookAround: a session of its own is left alone here when a login ends.
func lookAround(context.Context, *process.Program) around { return around{} }
