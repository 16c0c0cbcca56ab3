// Package home is the command centre: incidents that are open, what is wrong in
// the cluster right now, debts that were carried, drills, and the library.
//
// Rows come from two sources: the machine ([screen.Home]), and the twelve questions
// of the command centre, which are asked after the first frame is drawn and
// answered one by one. An answer to an older asking is dropped. The row that a
// person chose stays chosen while others come before it. What could not be seen
// has a row of its own, with the reason: nothing found and nothing seen are not
// the same.
package home
