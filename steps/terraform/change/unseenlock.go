package change

import (
	"fmt"
	"os"
	"strings"

	"handrail/steps"
	"handrail/steps/terraform/backend"
	"handrail/steps/terraform/holder"
)

// A lock that its backend never shows. The http protocol can take and release a lock,
// and tell nothing of it. Where a run from here takes it, the program that acts takes
// it too, before it reads or writes anything, and ends where it cannot: nothing is
// written beside a run that holds it. What that leaves open is a run that wrote and
// let go between the look and the act. A plan file is held to serial and lineage by
// the program, under the lock, so that an apply needs no more. A program that changes a
// state by address holds it to nothing: there a person answers for it, by name (law 12).
// Where nothing takes the lock, or one is to be released that is not seen, all stays shut.

// keyMachine is where an act runs whose lock is not seen: how it ended can be told there
// alone, by the processes.
const keyMachine = "runs on"

// unseen reports whether the lock cannot be read, and the program takes it all the same.
func unseen(l backend.Lock) bool { return l.Unread != "" && l.Taken }

// guard says what an act stands on in the place of a lock that was read.
func guard(l backend.Lock) []steps.KV {
	if !unseen(l) {
		return nil
	}
	return []steps.KV{{Key: "lock", Value: "not read: " + l.Unread + ". The program takes it first, and ends before anything where it cannot."}}
}

// others are the runs that may write the state unseen until the program has its lock.
// The serial is part of the name: what a person said of one state is not said of the next.
func (t site) others() []steps.Owner {
	if !unseen(t.lock) {
		return nil
	}
	serial := steps.Find(t.target(), keySerial)
	return []steps.Owner{{Name: fmt.Sprintf("a run elsewhere on %s at serial %s", t.lock.Where, serial), Paused: "unknown",
		How: "Its lock cannot be read. Ask everyone who can run here, and pause their pipelines; then waive this by name."}}
}

// machine is this machine since its start, "" where that cannot be told.
func machine() string {
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	host, hostErr := os.Hostname()
	if err != nil || hostErr != nil {
		return ""
	}
	id, _, _ := strings.Cut(strings.TrimSpace(string(boot)), "-")
	return host + " since boot " + id
}

// ran names the machine in the target of an act whose lock is not seen.
func ran(l backend.Lock) []steps.KV {
	if !unseen(l) {
		return nil
	}
	return []steps.KV{{Key: keyMachine, Value: machine()}}
}

// ended says why it cannot be told that an act has ended whose lock is not seen, nil
// where no process of it is left on the very machine that it ran on.
func ended(l backend.Lock, before []steps.KV, r holder.Scan, scanErr error) error {
	at, here := steps.Find(before, keyMachine), machine()
	switch {
	case l.Unread == "":
		return nil
	case at == "" || at != here:
		return fmt.Errorf("whether the act still runs cannot be told: its lock cannot be read, and it ran on %q, not here: resume there", at)
	case scanErr != nil:
		return fmt.Errorf("whether the act still runs cannot be told: its lock cannot be read, nor what runs here: %w", scanErr)
	case r.Blind != "":
		return fmt.Errorf("whether the act still runs cannot be told: its lock cannot be read, nor all that runs here: %s", r.Blind)
	}
	for _, list := range [][]holder.Process{r.Holders, r.Later, r.Plugins, r.Children} {
		for _, p := range list {
			return fmt.Errorf("the act, or a part of it, still runs: process %d is %s", p.PID, p.Described())
		}
	}
	return nil
}
