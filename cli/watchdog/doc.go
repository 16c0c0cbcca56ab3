// Package watchdog reads the probes and watches of a runbook once, outside of an incident, and says which watch is green.
//
// It is for a scheduler: the age of a lock, drift, resources that are past their date, objects that a store lacks. A runbook that
// a watchdog reads consists of probes, watches and notes; one with a gate, a question or a manual step is refused before the first
// read. Nothing is recorded. What is read goes through the same transports as in an incident, and is redacted before it is
// judged or shown.
//
// A watch is green, red or unknown, and unknown is never green. A probe is no check by itself: its facts serve the watches below
// it. One that fails leaves its facts unknown, with the reason.
//
// A [Report] is written in three forms: as text or JSON, as JUnit XML, and as a file for the textfile collector of Prometheus'
// node_exporter.
package watchdog
