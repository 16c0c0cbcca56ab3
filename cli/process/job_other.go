//go:build !unix

package process

// interruptJob does nothing where there are no jobs.
func InterruptJob() bool { return false }
