//go:build !race

package tfstate

// A state of 100,000 instances (98 MB), and how many MB may be resident for it,
// the runtime and the test framework included: 21 and 29 were seen.
const (
	peakInstances = 100_000
	peakSummary   = 32
	peakCompare   = 34
)
