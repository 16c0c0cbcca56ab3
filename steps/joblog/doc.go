// Package joblog takes the lines of a program out of what a build system, a log
// shipper or a terminal made of them.
//
// A frame is what stands before each line: a time, a stream, the name of a job, a
// step, a pod or a container. No frame is known by its vendor. It is learned from
// the log itself: the lines that only tofu and terraform write are found wherever
// they begin, and what stands before them, with its numbers and names of months
// left open, is what the log puts before its lines. Where two such prefixes are
// seen and one begins with the other, the shorter is the frame, since what is
// nested in it is a quotation: a provisioner that prints the log of another run.
//
// A log is read twice, to learn and to strip. Nothing of it is kept in memory but
// a bounded number of prefixes, and each line costs time in proportion to its
// length.
package joblog
