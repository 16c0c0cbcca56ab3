package backend

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"time"

	"handrail/steps"
)

// SkewTolerance is how far two clocks may differ before an age that depends on
// both is unknown. A Date header counts whole seconds.
const SkewTolerance = 5 * time.Second

// dateRounding is how far a whole second and the way of the answer can be off.
const dateRounding = 2 * time.Second

// LockInfo is what tofu and terraform write beside a lock.
type LockInfo struct {
	ID        string
	Operation string
	Info      string
	Who       string
	Version   string
	Created   time.Time
	Path      string

	undated string // what stands where Created could not be read
}

// parseLockInfo reads what describes a lock. A date that cannot be read costs the
// date, and not the holder.
func parseLockInfo(b []byte) (*LockInfo, error) {
	var doc struct {
		ID, Operation, Info, Who, Version, Path string
		Created                                 json.RawMessage
	}
	if err := json.Unmarshal(b, &doc); err != nil {
		return nil, fmt.Errorf("lock info: %w", err)
	}
	l := &LockInfo{ID: doc.ID, Operation: doc.Operation, Info: doc.Info, Who: doc.Who, Version: doc.Version, Path: doc.Path}
	if len(doc.Created) > 0 && string(doc.Created) != "null" && json.Unmarshal(doc.Created, &l.Created) != nil {
		l.Created, l.undated = time.Time{}, steps.Clip(string(doc.Created), 60)
	}
	return l, nil
}

// NoDate says why the time at which a lock was taken is not known.
func (l LockInfo) NoDate() string {
	if l.undated != "" {
		return "when it was taken cannot be read from " + l.undated
	}
	return "the lock does not say when it was taken"
}

// host returns the host part of who: user@host, where the user of a domain may
// hold an @ too.
func HostOf(who string) string {
	if i := strings.LastIndexByte(who, '@'); i >= 0 {
		return who[i+1:]
	}
	return ""
}

// UserOf is the user in the name of a holder, user@host, "" where it has none.
func UserOf(who string) string {
	if i := strings.LastIndexByte(who, '@'); i >= 0 {
		return who[:i]
	}
	return ""
}

// Lock is what a native read of a lock saw.
type Lock struct {
	Held     bool
	ID       string    // what must be given to force-unlock; "" when not known
	Info     *LockInfo // nil when nothing describes the lock
	InfoWhy  string    // why info is nil
	Leftover *LockInfo // described, but not held: its holder was killed
	PID      int       // of a local holder, 0 when the kernel cannot name it
	at       time.Time // the clock that ages are measured against; zero for none
	noClock  string    // why at is zero
	wrote    serverWord
	Where    string // state file or namespace/lease
	Raw      []byte
	Media    string
	Warnings []string

	Unread  string          // why it is not known whether it is held; held means nothing then
	Taken   bool            // of one that is not read: the program takes it before it does anything
	Parts   []Part          // the systems that keep the lock, where there are several
	Agree   bool            // whether the parts say the same
	Digest  string          // match, mismatch or absent; "" where digestWhy says why not
	Session *Session        // of a holder whose backend knows whether it lives
	Notes   []steps.Finding // what the backend has to say beside
	// Stuck says why force-unlock cannot release this very lock, stuckCure what to do instead.
	Stuck, StuckCure      string
	DigestWhy, SessionWhy string
}

// Part is one of several systems that keep one lock.
type Part struct {
	Name string // "lock file", "table"
	held bool
	id   string
	Raw  []byte
	info *LockInfo
	why  string // why info is nil

	wrote serverWord
}

// Session is what a backend knows of the connection that holds a lock.
type Session struct {
	Alive bool
	ID    string // pid of the server process, or id of the session
	From  string // where it comes from, "" where that may not be seen
	Since time.Time
}

// note adds a finding about the lock.
func (l *Lock) note(level steps.Level, format string, args ...any) {
	l.Notes = append(l.Notes, steps.Findingf(level, format, args...))
}

// agreedClock returns the clock of a server, unless this machine's differs: then
// it is not known which is wrong, and Created was written by a third.
func agreedClock(env steps.Env, date time.Time, server string) (time.Time, string) {
	if date.IsZero() {
		return time.Time{}, "the server did not say what time it is"
	}
	if skew := env.Now().Sub(date); skew.Abs() > SkewTolerance {
		return time.Time{}, fmt.Sprintf("the clocks of this machine and of %s differ by %s: set the clock right first", server, skew.Abs().Round(time.Second))
	}
	return date, ""
}

// serverWord is what a backend itself says of when the lock was written.
type serverWord struct {
	at      time.Time // zero where it keeps no time of it
	why     string    // why a backend that keeps one does not say it
	rewrote bool      // it is the time of whatever was written last, the state too
}

// disagreement is how far the holder and the server may differ about when the
// lock was taken.
const disagreement = 2 * time.Minute

// taken is when the lock was taken, as the later of both tells it: the clock of
// the holder alone could make a young lock look old.
func (l Lock) taken() (time.Time, string) {
	created, w := l.Info.Created, l.wrote
	switch {
	case w.why != "":
		return time.Time{}, "only the clock of the holder says when it was taken: " + w.why
	case w.at.IsZero():
		return created, ""
	}
	switch apart := w.at.Sub(created); {
	case apart > disagreement && w.rewrote:
		// Its holder wrote the state since, and was alive then.
	case apart.Abs() > disagreement:
		return time.Time{}, fmt.Sprintf("the lock says that it was taken at %s, and the backend that it was written at %s: the clock of the holder is wrong, or the lock was written again",
			created.UTC().Format(time.RFC3339), w.at.UTC().Format(time.RFC3339))
	}
	if w.at.After(created) {
		return w.at, ""
	}
	return created, ""
}

// Age returns how old the lock is, or why that is not known.
func (l Lock) Age() (time.Duration, string) {
	switch {
	case l.Info == nil:
		return 0, l.InfoWhy
	case l.Info.Created.IsZero():
		return 0, l.Info.NoDate()
	case l.at.IsZero():
		return 0, l.noClock
	}
	taken, why := l.taken()
	if why != "" {
		return 0, why
	}
	age := l.at.Sub(taken)
	// A Date header has no fractions: a fresh lock may seem to be ahead of it.
	if age < 0 && age >= -dateRounding {
		return 0, ""
	}
	if age < 0 {
		return 0, fmt.Sprintf("the lock says it was taken %s in the future: the clock of %s runs wrong", -age.Round(time.Second), l.Info.Who)
	}
	return age, ""
}

// AgedBy says whose word an age is where it is the holder's alone.
func (l Lock) AgedBy() string {
	if l.wrote.at.IsZero() && l.wrote.why == "" {
		return ", by the clock of the holder alone"
	}
	return ""
}

// NoLock is why the facts of a lock are unknown where none is held.
const NoLock = "no lock is held"

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

// UnlockPolicy says what force-unlock does on a backend, and what its gate lets
// through.
type UnlockPolicy struct {
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
