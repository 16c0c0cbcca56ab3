//go:build race

package tfstate

// The race detector keeps a shadow of memory many times its size, and is slow.
const (
	peakInstances = 10_000
	peakSummary   = 320
	peakCompare   = 640
)
