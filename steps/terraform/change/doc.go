// Package change holds the gates: releasing a lock, forgetting, moving, importing
// and restoring in a state, applying a saved plan, pausing and resuming a root
// module.
//
// All keep to one order. Preview reads the target natively and gathers floors, the
// preconditions of the kind that no runbook and no waiver opens: the directory is
// trusted, the state is sound and free, no run and nothing that one left behind is
// alive on this machine, what is asked for is there. Act spends an approval, reads
// the target once more, and sends nothing where anything of it differs from what was
// shown. It then runs exactly the program that was shown (for an apply, on a copy of
// the very bytes that were approved), and reads the state again: the outcome is what
// is recorded now, and what the program said only where that leaves it open. Find
// tells what an act came to whose end no one recorded.
//
// A program that writes is never killed and never tied to the life of handrail: it
// gets one interrupt and is waited for, in a session of its own. Every act that
// writes a state keeps the state as it stood (Prior), with the command that puts it
// back.
package change
