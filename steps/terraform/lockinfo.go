package terraform

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// skewTolerance is how far two clocks may differ before an age that depends on
// both is unknown. A Date header counts whole seconds.
const skewTolerance = 5 * time.Second

// dateRounding is how far a whole second and the way of the answer can be off.
const dateRounding = 2 * time.Second

// lockInfo is what tofu and terraform write beside a lock.
type lockInfo struct {
	ID        string
	Operation string
	Info      string
	Who       string
	Version   string
	Created   time.Time
	Path      string
}

func parseLockInfo(b []byte) (*lockInfo, error) {
	var l lockInfo
	if err := json.Unmarshal(b, &l); err != nil {
		return nil, fmt.Errorf("lock info: %w", err)
	}
	return &l, nil
}

// host returns the host part of who: user@host, where the user of a domain may
// hold an @ too.
func hostOf(who string) string {
	if i := strings.LastIndexByte(who, '@'); i >= 0 {
		return who[i+1:]
	}
	return ""
}

func userOf(who string) string {
	if i := strings.LastIndexByte(who, '@'); i >= 0 {
		return who[:i]
	}
	return ""
}

// lockRead is what a native read of a lock saw.
type lockRead struct {
	held     bool
	id       string    // what must be given to force-unlock; "" when not known
	info     *lockInfo // nil when nothing describes the lock
	infoWhy  string    // why info is nil
	leftover *lockInfo // described, but not held: its holder was killed
	pid      int       // of a local holder, 0 when the kernel cannot name it
	at       time.Time // the clock that ages are measured against; zero for none
	noClock  string    // why at is zero
	where    string    // state file or namespace/lease
	raw      []byte
	media    string
	warnings []string
}

// age returns how old the lock is, or why that is not known.
func (l lockRead) age() (time.Duration, string) {
	switch {
	case l.info == nil:
		return 0, l.infoWhy
	case l.info.Created.IsZero():
		return 0, "the lock does not say when it was taken"
	case l.at.IsZero():
		return 0, l.noClock
	}
	age := l.at.Sub(l.info.Created)
	// A Date header has no fractions: a fresh lock may seem to be ahead of it.
	if age < 0 && age >= -dateRounding {
		return 0, ""
	}
	if age < 0 {
		return 0, fmt.Sprintf("the lock says it was taken %s in the future: the clock of %s runs wrong", -age.Round(time.Second), l.info.Who)
	}
	return age, ""
}
