package steps

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"time"

	"handrail/triage/record"
)

// Need is a precondition that does not hold, and what would meet it.
type Need struct {
	Why  string    `json:"why"`
	Cure string    `json:"cure,omitempty"`
	At   time.Time `json:"at,omitzero"`  // when waiting alone has met it; zero where waiting does not
	Of   string    `json:"of,omitempty"` // the parameter of the kind whose value it refuses, "" where it is about the world
}

// Preview says what a gate would do, to what, and what stands in the way.
type Preview struct {
	Target  []KV     `json:"target"`         // what identifies the target: it must not move between preview and act
	Shown   []KV     `json:"shown"`          // worth seeing beside it, free to change (age, resourceVersion)
	Diff    []string `json:"diff"`           // what a rehearsal says would change, one line a field, - before and + after
	Effect  string   `json:"effect"`         // the consequence, in one or two sentences; begins with the bare verb, as after "this will"
	Request string   `json:"request"`        // the exact request or program call
	Command string   `json:"command"`        // the equivalent command a person could type
	Phrase  string   `json:"phrase"`         // what must be typed, built by the kind
	Undo    string   `json:"undo"`           // how to undo it, or that it cannot be undone
	Unmet   []Need   `json:"unmet"`          // floors of the kind that do not hold; any of them refuses
	Owners  []Owner  `json:"owners"`         // who would undo it
	Owes    []Debt   `json:"owes"`           // what it leaves owing
	Pays    []Debt   `json:"pays,omitempty"` // debts that it pays, by the kind and the text of the act that left them
	Prior   *Prior   `json:"-"`              // what the act is undone from; nil where nothing could be
	// Args is what Act works from, in a type of the kind ([ArgsOf]). It is never
	// shown or recorded, and no part of the digest: Act sends nothing where the
	// target or the request that it gives is another than what was approved.
	Args any `json:"-"`
}

// ArgsOf are the arguments that an approved preview carries.
func ArgsOf[T any](p Preview) (T, error) {
	args, ok := p.Args.(T)
	if !ok {
		return args, errors.New("the preview that was approved does not carry the arguments of this act")
	}
	return args, nil
}

// Prior is what an act is undone from: its target as it stood before, in the
// form in which it can be put back. It may hold secrets: the session keeps it
// encrypted outside the bundle where it does, and refuses the gate where it
// cannot. It is never shown or recorded, and no part of the digest; when it
// changes between its copy and the act, nothing is sent.
type Prior struct {
	Media string // picks how its copy in the bundle is redacted
	Raw   []byte // what Back reads on its standard input
	Back  string // the command that puts it back
	// Optional says that the act may do without where no copy can be kept.
	Optional bool
}

// Digest identifies a previewed action: SHA-256 in hex.
type Digest string

// Short is the part of the digest that a person compares: six characters.
func (d Digest) Short() string { return string(d[:min(6, len(d))]) }

// Digest covers the incident, the step, the target, the request and the
// command (docs/decisions.md, Digest). What may change while a person reads (Shown, ages,
// resourceVersion) and the expiry are out of it.
func (p Preview) Digest(incident, step string) Digest {
	b, err := json.Marshal(struct {
		Incident, Step   string
		Target           []KV
		Request, Command string
	}{incident, step, p.Target, p.Request, p.Command})
	if err != nil {
		// Strings alone always marshal.
		return ""
	}
	sum := sha256.Sum256(b)
	return Digest(hex.EncodeToString(sum[:]))
}

// Outcome says what an act came to.
type Outcome struct {
	Result   string // done, refused or failed
	Response string // what the other side answered, as it came
	After    []KV   // the target read again
	Items    []Item // what each item of a batch came to, in order, also beside an error; nil for a gate that acts once
}

// The results of an act. Unknown is recorded by the session when Act returns
// an error or never returned. Left is an item that a batch did not come to.
const (
	Done    = "done"
	Refused = "refused"
	Failed  = "failed"
	Left    = record.Left
)

// Owing are those of the debts of a preview that what was done leaves.
func (o Outcome) Owing(owes []Debt) []Debt {
	switch {
	case o.Items != nil:
		return record.Owing(owes, o.Items)
	case o.Result == Done:
		return owes
	}
	return nil
}

// ErrUnmet is returned by Confirm when a floor of the kind does not hold.
var ErrUnmet = errors.New("a precondition does not hold")

// ErrMoved is returned by Confirm when the target is not the one previewed.
var ErrMoved = errors.New("the target moved between preview and act")

// ErrPhrase is returned by Confirm when the typed phrase is not the one shown.
var ErrPhrase = errors.New("the phrase differs")

// ErrSpent is returned by Spend for a nil, zero or used approval.
var ErrSpent = errors.New("approval missing or already used")

// Approval allows one act, once. Only Confirm makes one that can be spent.
type Approval struct {
	mu     sync.Mutex
	valid  bool
	shown  Preview
	digest Digest
}

// Confirm turns a fresh preview and the typed phrase into an approval. armed is
// the digest that the person saw. It refuses when a floor does not hold, the
// digest moved or the phrase differs; trailing space is the caller's business.
func Confirm(fresh Preview, incident, step string, armed Digest, typed string) (*Approval, error) {
	if len(fresh.Unmet) > 0 {
		return nil, fmt.Errorf("%w: %s", ErrUnmet, fresh.Unmet[0].Why)
	}
	got := fresh.Digest(incident, step)
	if armed == "" || subtle.ConstantTimeCompare([]byte(got), []byte(armed)) != 1 {
		return nil, ErrMoved
	}
	if fresh.Phrase == "" || typed != fresh.Phrase {
		return nil, fmt.Errorf("%w at character %d", ErrPhrase, differs(fresh.Phrase, typed))
	}
	return &Approval{valid: true, shown: fresh, digest: got}, nil
}

// differs returns the 1-based position of the first character in which typed is
// not want.
func differs(want, typed string) int {
	w, t := []rune(want), []rune(typed)
	for i := range w {
		if i >= len(t) || t[i] != w[i] {
			return i + 1
		}
	}
	return len(w) + 1
}

// Spend returns what was approved, once. A nil, zero or spent approval gives
// ErrSpent.
func (a *Approval) Spend() (Preview, error) {
	if a == nil {
		return Preview{}, ErrSpent
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.valid {
		return Preview{}, ErrSpent
	}
	a.valid = false
	return a.shown, nil
}

// Digest returns the digest the approval is bound to.
func (a *Approval) Digest() Digest {
	if a == nil {
		return ""
	}
	return a.digest
}

var phraseSafe = regexp.MustCompile(`^[A-Za-z0-9._/@:-]+$`)

// Phrase builds the phrase to type: the verb and the target, or the verb and
// the first six characters of the digest of the target where the target has
// characters that could be mistaken (docs/decisions.md, Phrase).
func Phrase(verb, target string) string {
	if phraseSafe.MatchString(target) {
		return verb + " " + target
	}
	sum := sha256.Sum256([]byte(target))
	return verb + " #" + hex.EncodeToString(sum[:])[:6]
}

// lockID is the form of a lock's id that the tool makes.
var lockID = regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$`)

// ShortLockID is what is typed of a lock's id: the first eight characters of a UUID,
// which no other lock of the same state has, and all of any other.
func ShortLockID(id string) string {
	if lockID.MatchString(id) {
		return id[:8]
	}
	return id
}

// Find returns the value of key in kvs, "" when absent.
func Find(kvs []KV, key string) string {
	for _, kv := range kvs {
		if strings.EqualFold(kv.Key, key) {
			return kv.Value
		}
	}
	return ""
}

// PhraseDiffers returns the 1-based position of the first character in which
// typed is not phrase, 0 when they are equal.
func PhraseDiffers(phrase, typed string) int {
	if phrase == typed {
		return 0
	}
	return differs(phrase, typed)
}
