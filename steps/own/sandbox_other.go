//go:build !linux

package own

import "runtime"

// kernel says what this machine can keep a program from.
func kernel() sandbox {
	return sandbox{why: "the kernel of " + runtime.GOOS + " has no way that handrail uses to keep it from that"}
}

func readable([]string) []string { return nil }
