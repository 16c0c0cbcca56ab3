// Package report holds what probes of clusters share in saying what they saw:
// findings and gaps, an end of their own within which a part is worth more than
// nothing, and the words for what is not there or not known. It reads nothing.
package report
