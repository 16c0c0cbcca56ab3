// Package wait opens incidents and shows how that goes: a new one, one that is
// resumed, or a drill, for which a lab starts first.
//
// Opening goes on beside the loop, and esc gives it up. An incident that arrives
// after that is let go again at once: nothing that was opened is lost. Where
// someone else was at the keyboard last, the reason to take over is asked for
// before it is opened again.
package wait
