//go:build !unix

package cli

// interruptJob does nothing where there are no jobs.
func interruptJob() bool { return false }
