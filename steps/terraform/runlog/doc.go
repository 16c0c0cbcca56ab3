// Package runlog reads the log of a run, as text or as -json, bare or as a CI system
// wraps it: what it started, what it completed, how it ended, and which errors it
// met.
//
// A log is evidence of what it shows, not of what it lacks. That something never
// began is said only of a run that the log shows from its beginning to its end, with
// no line left away or sent elsewhere; otherwise it is unknown. Where a log holds
// several runs, the last one that did anything counts, and the errors of all are
// told. Errors are classed by the text of the tools, providers and clouds; the first
// pattern that fits decides.
//
// Reading never fails on what stands in a log: lines are bounded, and what is not
// understood is skipped.
package runlog
