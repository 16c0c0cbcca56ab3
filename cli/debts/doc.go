// Package debts lists what is still owed: what acts left owing and no one settled, what was changed by hand and no read has found
// in Git since, and break-glass sessions that are past their end or without their review. It is gathered from the bundles of this
// machine and from the register of the team each time; nothing of it is kept.
//
// A change that stands live and not in Git is owed from the first read that found it until a later read of the same application, in
// whatever incident, finds no difference. A read that could not tell counts for neither. A repair by hand is owed until its proof was
// read, and where its incident read what Git has, until that was read once more after the repair. What a drill owes goes with its lab.
package debts
