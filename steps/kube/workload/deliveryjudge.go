package workload

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
)

// How a Secret stands. Each but delivered wants another repair.
const (
	deliveryDone   = "delivered" // what its source had at the last look is there
	deliveryWrong  = "wrong"     // something is there, or named, that it should not be
	deliveryLate   = "late"      // nothing refuses, and the newest has not come yet
	deliveryDenied = "denied"    // the store or the key refuses who asks
)

func deliveryStatuses() []string {
	return []string{deliveryDone, deliveryWrong, deliveryLate, deliveryDenied}
}

// Which part is at fault.
const (
	faultNone      = "none"
	faultIdentity  = "identity"  // the credential or the rights of the store, or a key that decrypts
	faultReference = "reference" // the path, the key or the store that is named
	faultKeys      = "keys"      // keys that a consumer wants are not in it
	faultHand      = "hand"      // written beside its controller
	faultTwo       = "two"       // two controllers write it
	faultVersion   = "version"   // the source gave what it had before the rotation
	faultSync      = "sync"      // its controller has not looked, or does not run
	faultAbsent    = "absent"    // nothing delivers it
)

func deliveryFaults() []string {
	return []string{faultNone, faultIdentity, faultReference, faultKeys, faultHand, faultTwo, faultVersion, faultSync, faultAbsent}
}

// storeState is what a store says of itself.
type storeState struct {
	label  string
	absent bool
	ready  string // status of its condition Ready, "" where there is none
	says   string
	unread string // why it could not be read
}

// deliveryState is what is known of one Secret and of what delivers it. No value of it is here.
type deliveryState struct {
	exists  bool
	by      string
	carrier string // label of the object that delivers it, "" by hand
	gone    bool   // it names a carrier that does not exist
	rivals  []string

	ready, says string // of the carrier's condition
	event       string // newest warning about the carrier
	stores      []storeState
	told        toldToAsk
	held        string // why its controller does not look again by itself
	behind      bool   // its spec is newer than what was last delivered
	refreshed   time.Time
	interval    time.Duration

	now      time.Time // of the server, zero where it is not known
	written  time.Time // newest write of a key, zero where the books do not tell
	beside   string    // key and writer, where a key was written by another after the last fetch
	missing  []string
	unlisted []string  // registries for which it has no login
	rotated  time.Time // when the source was rotated, as a person says; zero where no person does
}

var (
	deniedWords  = regexp.MustCompile(`(?i)forbidden|denied|unauthori[sz]ed|unauthenticated|\b40[13]\b|expired|invalid[_ ]?(?:client|grant|token|credential|security)|not allowed|provide credentials|InvalidProviderConfig|\bis not ready|cannot get .{0,40}decryption|no (?:identity|key) (?:matched|could)|(?:failed|error|cannot|unable).{0,40}decrypt|decryption failed|is SOPS encrypted`)
	missingWords = regexp.MustCompile(`(?i)does not exist|not ?found|no such (?:key|secret|property|file)|cannot find|could not find|key .{1,80} is missing`)
)

// judge says how the Secret stands, which part is at fault and why. Status "" says that it
// cannot be told, and why.
func (d deliveryState) judge() (status, fault, why string) {
	if status, fault, why = d.refused(); status != "" || why != "" {
		return status, fault, why
	}
	if status, fault, why = d.misdelivered(); status != "" {
		return status, fault, why
	}
	return d.waits()
}

// refused says what stands in the way by the words of who delivers it.
func (d deliveryState) refused() (status, fault, why string) {
	if d.gone {
		return deliveryWrong, faultAbsent, "the owner that it names does not exist: nothing delivers it any more"
	}
	for _, s := range d.stores {
		switch {
		case s.absent:
			return deliveryWrong, faultReference, s.label + " is named and does not exist"
		case s.ready == "False":
			return deliveryDenied, faultIdentity, s.label + " is not ready: " + said(s.says)
		}
	}
	if d.ready != "False" {
		return "", "", ""
	}
	words := strings.TrimSpace(d.event + " " + d.says)
	switch {
	case missingWords.MatchString(d.event) && !deniedWords.MatchString(d.event), d.event == "" && missingWords.MatchString(d.says) && !deniedWords.MatchString(d.says):
		return deliveryWrong, faultReference, d.carrier + " names what its source does not have: " + said(words)
	case deniedWords.MatchString(words):
		return deliveryDenied, faultIdentity, d.carrier + " is refused: " + said(words)
	}
	return "", "", d.carrier + " fails, and does not say whether it is refused or names what is not there: " + said(words)
}

func said(words string) string {
	if words == "" {
		return "it says no more"
	}
	return strings.TrimSuffix(words, ".")
}

// misdelivered says what is there and should not be.
func (d deliveryState) misdelivered() (status, fault, why string) {
	switch {
	case len(d.rivals) > 0:
		return deliveryWrong, faultTwo, fmt.Sprintf("%s and %s write the same Secret", d.carrier, strings.Join(d.rivals, ", "))
	case !d.exists && d.carrier == "":
		return deliveryWrong, faultAbsent, "it is not there, and nothing that could be read delivers it"
	case d.exists && d.beside != "":
		return deliveryWrong, faultHand, d.beside
	case d.exists && len(d.missing) > 0:
		return deliveryWrong, faultKeys, "keys that a consumer wants are not in it: " + strings.Join(d.missing, ", ")
	case d.exists && len(d.unlisted) > 0:
		return deliveryWrong, faultKeys, "it has no login for " + strings.Join(d.unlisted, ", ") + ", from where Pods pull with it alone: it is for another registry, or the image names a wrong one"
	case d.exists && !d.rotated.IsZero() && !d.refreshed.IsZero() && d.refreshed.After(d.rotated) && !d.written.IsZero() && d.written.Before(d.rotated):
		return deliveryWrong, faultVersion, fmt.Sprintf("its source was asked at %s, after the rotation of %s, and gave what it had before: the reference names an older version, or the rotation went elsewhere",
			stamp(d.refreshed), stamp(d.rotated))
	}
	return "", "", ""
}

// waits says whether the newest has come.
func (d deliveryState) waits() (status, fault, why string) {
	late := func(format string, args ...any) (string, string, string) {
		return deliveryLate, faultSync, fmt.Sprintf(format, args...)
	}
	switch {
	case !d.exists:
		return late("it is not there yet; %s delivers it", d.carrier)
	case d.deaf():
		return late("%s was told at %s to ask its source, and did not: its controller may not run", d.carrier, stamp(d.told.at))
	case d.behind:
		return late("the spec of %s is newer than what was delivered", d.carrier)
	case !d.rotated.IsZero() && !d.refreshed.IsZero() && !d.refreshed.After(d.rotated):
		return late("its source was asked last at %s, before the rotation of %s%s", stamp(d.refreshed), stamp(d.rotated), orNothing(d.held))
	case !d.rotated.IsZero() && d.refreshed.IsZero() && !d.written.IsZero() && d.written.Before(d.rotated):
		return late("it was written last at %s, before the rotation of %s", stamp(d.written), stamp(d.rotated))
	case d.held == "" && d.interval > 0 && !d.refreshed.IsZero() && !d.now.IsZero() && d.now.Sub(d.refreshed) > 2*d.interval:
		return late("its source was asked last at %s, and should be every %s: its controller may not run", stamp(d.refreshed), d.interval)
	case d.held == "" && d.interval > 0 && !d.refreshed.IsZero() && d.now.IsZero():
		return "", "", "whether its source is asked in time cannot be told: the time of the server is not known"
	case d.carrier != "" && d.ready != "True" && d.ready != "":
		return "", "", d.carrier + " does not know yet: " + said(d.says)
	}
	for _, s := range d.stores {
		if s.unread != "" && d.ready == "" {
			return "", "", s.label + " could not be read: " + s.unread
		}
	}
	if d.by == byExternal && d.ready == "" {
		return "", "", d.carrier + " has no condition yet: its controller may not run"
	}
	return deliveryDone, faultNone, deliveredBy(d)
}

func deliveredBy(d deliveryState) string {
	switch {
	case d.carrier == "":
		return "it is there, and no controller delivers it: that its value is the right one is not seen here"
	case !d.refreshed.IsZero():
		return fmt.Sprintf("%s brought what its source had at %s%s", d.carrier, stamp(d.refreshed), orNothing(d.held))
	}
	return d.carrier + " brought it"
}

func orNothing(held string) string {
	if held == "" {
		return ""
	}
	return "; " + held
}

func stamp(at time.Time) string { return at.UTC().Format(time.RFC3339) }

// secretUse is one way in which a container, or the kubelet for its Pod, takes the Secret.
type secretUse struct {
	pod, container string
	how            string
	key            string // "" for all of them
	optional       bool
	kept           bool // frozen at the start of the container
	started        time.Time
}

// has says that the container has what was there before: it started before the last write. The
// books count seconds; in the same second it may have either, but where there was nothing before.
func (u secretUse) has(written, created time.Time) (old bool) {
	if !u.kept || u.started.IsZero() || written.IsZero() {
		return false
	}
	return u.started.Before(written) || u.started.Equal(written) && written.After(created)
}

// keysWanted are the keys that uses name and the Secret does not have.
func keysWanted(uses []secretUse, keys []string) []string {
	var out []string
	for _, u := range uses {
		if u.key != "" && !u.optional && !slices.Contains(keys, u.key) && !slices.Contains(out, u.key) {
			out = append(out, u.key)
		}
	}
	slices.Sort(out)
	return out
}
