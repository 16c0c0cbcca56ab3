package backend

import "regexp"

// The ways of force-unlock.
const (
	unlockByID         = "by-id"         // releases the lock whose id is given
	unlockByGeneration = "by-generation" // takes the generation of the lock object for its id
	unlockNothing      = "nothing"       // exits 0 and releases nothing
	unlockAnyID        = "any-id"        // terraform sends no id: whichever lock is there goes
	unlockRefused      = "refused"       // cannot release a lock of another process
	unlockExpires      = "by-session"    // destroys the session; the lock would go by itself
)

// UnlockWays lists what force-unlock can do.
func UnlockWays() []string {
	return []string{unlockByID, unlockByGeneration, unlockNothing, unlockAnyID, unlockRefused, unlockExpires}
}

// Unlocking says what force-unlock does on a backend, and what its gate lets
// through.
type Unlocking struct {
	Way     string
	Refuse  string         // why the gate does not run it, "" where it may
	Cure    string         // what to do instead
	Grammar *regexp.Regexp // of an id that may reach an argv
	// ByHand is the way to a lock on a state that does not exist: force-unlock
	// would make the state.
	ByHand string
}

// lockGrammar is what tofu makes lock ids of. Only such an id reaches an argv:
// anything else could be read as a flag, or was redacted.
var lockGrammar = regexp.MustCompile(`^[0-9a-f-]{36}$`)

func (l *local) Unlocking() Unlocking {
	return Unlocking{Way: unlockRefused, Refuse: "A local state cannot be unlocked by another process.",
		Cure: "end the process that holds it, or wait: the kernel frees the lock with it; a leftover lock info needs nothing"}
}

func (k *kubernetes) Unlocking() Unlocking {
	return Unlocking{Way: unlockByID, Grammar: lockGrammar, ByHand: "clear holderIdentity of the Lease by hand if the lock must go"}
}
