// Package header draws the top of every screen: where this is, how bad it is, how
// long it goes on, who is at the keyboard, and what the program can do at this
// moment.
//
// The chip at the right is the one place that says READ-ONLY, ARMED, BLOCKED, ACTING, NOT
// RECORDING, REPLAY or FOLLOWING; it yields to nothing else on its line. Where a
// mistake costs most, the label of that place and the heavy rule stand too.
package header
