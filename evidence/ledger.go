package evidence

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"golang.org/x/mod/sumdb/tlog"

	"handrail/evidence/jsontree"
)

// ledger keeps what a seal says of the entries before it. The writer and the verifier each keep their own, from the
// entries alone.
type ledger struct {
	tree     merkle
	entries  int64
	types    map[string]int64
	blobs    map[string]Blob
	bytes    int64
	kept     []string // quarantine files that recover entries name
	rulesets []string // each once, in the order of appearance
	rules    string   // in force now
	clock    clockSummary
	lastTime time.Time
	lastBoot string
	anchors  []recordedAnchor
	seals    []sealedAt
	lastType string
	held     int64  // bytes that are remembered
	keyWord  string // what the entry before says will become of the redaction key at a seal
	keyGone  string // what became of it at a seal, "" while there is one
	over     error  // the journal names more than a bundle may hold
}

// sealedAt is a seal entry and the root over everything up to it.
type sealedAt struct {
	Checkpoint
	number int
	entry  Entry
}

// recordedAnchor is a checkpoint entry: by its word a line was posted.
type recordedAnchor struct {
	Line  string `json:"line"`
	Where string `json:"where"`
	seq   int64
	t     string
}

// clockSummary is what the times of the entries show.
type clockSummary struct {
	First string `json:"first"`
	Last  string `json:"last"`
	Back  int64  `json:"back"`  // how often the clock of the host stepped back
	Worst string `json:"worst"` // the longest such step, in nanoseconds
	Boots int64  `json:"boots"` // how often the boot id changed, and one
}

// sealData is the data of a seal entry. All but Skipped follows from the entries before it.
type sealData struct {
	Entries    int64            `json:"entries"`
	Types      map[string]int64 `json:"types"`
	Blobs      int64            `json:"blobs"`
	BlobBytes  string           `json:"blob_bytes"`
	Quarantine []string         `json:"quarantine"`
	Rulesets   []string         `json:"rulesets"`
	Clock      clockSummary     `json:"clock"`
	Anchors    []string         `json:"anchors"`
	Seals      int64            `json:"seals"`
	Skipped    []string         `json:"skipped"`
}

// maxListed and maxHeld bound what one journal may make a reader remember: how many things of each sort, and how many bytes
// of all.
const (
	maxListed = 10_000
	maxHeld   = 256 << 20
)

func newLedger() ledger {
	return ledger{types: map[string]int64{}, blobs: map[string]Blob{}, clock: clockSummary{Worst: "0"}}
}

// add takes the next entry; its hash is trusted, the scanner computed it.
func (l *ledger) add(id string, e *Entry) {
	var leaf tlog.Hash
	if _, err := hex.Decode(leaf[:], []byte(e.Hash)); err != nil {
		l.fail("entry %d: hash %q", e.Seq, e.Hash)
	}
	l.tree.add(leaf)
	l.entries, l.lastType = e.Seq+1, e.Type
	if _, ok := l.types[e.Type]; ok || len(l.types) < maxListed {
		if !ok {
			l.hold(len(e.Type))
		}
		l.types[e.Type]++
	} else {
		l.fail("over %d types of entries", maxListed)
	}
	word := l.keyWord
	l.keyWord = ""
	l.time(e)
	l.name(e.Blobs, e.Seq)
	switch e.Type {
	case "env":
		var d struct {
			Rules string `json:"ruleset_sha256"`
			Key   string `json:"redaction_key"`
		}
		if json.Unmarshal(e.Data, &d) == nil && d.Rules != "" {
			if l.rules = d.Rules; !slices.Contains(l.rulesets, d.Rules) {
				l.hold(len(d.Rules))
				l.rulesets = append(l.rulesets, d.Rules)
			}
		}
		switch d.Key {
		case keyNew:
			l.keyGone = ""
		case keyDestroyed, keyEscrowed:
			l.keyWord = d.Key
		}
	case "recover":
		var d recovered
		if json.Unmarshal(e.Data, &d) == nil && d.File != "" {
			l.hold(len(d.File))
			l.kept = append(l.kept, strings.TrimPrefix(d.File, "quarantine/"))
		}
	case "checkpoint":
		a := recordedAnchor{seq: e.Seq, t: e.T}
		if json.Unmarshal(e.Data, &a) == nil {
			l.hold(len(e.Data))
			l.anchors = append(l.anchors, a)
		}
	case "seal":
		l.hold(len(e.Data) + len(e.Actor) + len(e.Step))
		l.seals = append(l.seals, sealedAt{l.checkpoint(id), len(l.seals) + 1, *e})
		if word != "" {
			l.keyGone = word
		}
	}
	if len(l.kept) > maxListed || len(l.anchors) > maxListed || len(l.seals) > maxListed || len(l.rulesets) > maxListed {
		l.fail("over %d anchors, seals, rule sets or files in quarantine", maxListed)
		l.kept, l.anchors, l.seals, l.rulesets = nil, nil, nil, nil
	}
}

// hold accounts for bytes that are remembered.
func (l *ledger) hold(n int) {
	if l.held += int64(n); l.held > maxHeld {
		l.fail("over %d MiB of anchors, seals, names of blobs and the like", maxHeld>>20)
	}
}

func (l *ledger) fail(format string, args ...any) {
	if l.over == nil {
		l.over = fmt.Errorf(format, args...)
	}
}

func (l *ledger) name(blobs []Blob, seq int64) {
	for _, b := range blobs {
		old, ok := l.blobs[b.SHA256]
		switch {
		case ok && old.Size != b.Size:
			l.fail("entry %d gives blob %s another size than an earlier one", seq, b.SHA256)
		case ok:
		case len(l.blobs) >= maxFiles:
			l.fail("over %d blobs are named", maxFiles)
		default:
			l.hold(len(b.SHA256) + len(b.Role) + len(b.Media))
			for _, rule := range b.Rules {
				l.hold(16 + len(rule))
			}
			l.blobs[b.SHA256] = b
			l.bytes += b.Size
		}
	}
}

func (l *ledger) time(e *Entry) {
	at, err := e.Time()
	if err != nil {
		return // the scanner refuses such an entry
	}
	if l.clock.First == "" {
		l.clock.First = e.T
	}
	if back := l.lastTime.Sub(at); !l.lastTime.IsZero() && back > 0 {
		l.clock.Back++
		var worst int64
		_, _ = fmt.Sscan(l.clock.Worst, &worst)
		l.clock.Worst = fmt.Sprint(max(worst, back.Nanoseconds()))
	}
	if l.clock.Boots == 0 || e.Boot != l.lastBoot {
		l.clock.Boots++
	}
	l.clock.Last, l.lastTime, l.lastBoot = e.T, at, e.Boot
}

// sealed reports whether nothing follows the last seal.
func (l *ledger) sealed() bool { return l.lastType == "seal" }

// checkpoint is the checkpoint over all entries so far.
func (l *ledger) checkpoint(id string) Checkpoint {
	return Checkpoint{ID: id, Entries: l.entries, Root: encodeRoot(l.tree.root())}
}

// sealing is the data of a seal that would come next, in its one form.
func (l *ledger) sealing(skipped []string) (json.RawMessage, error) {
	d := sealData{
		Entries: l.entries, Types: l.types, Blobs: int64(len(l.blobs)), BlobBytes: fmt.Sprint(l.bytes),
		Quarantine: append([]string{}, l.kept...), Rulesets: append([]string{}, l.rulesets...), Clock: l.clock,
		Anchors: []string{}, Seals: int64(len(l.seals)), Skipped: append([]string{}, skipped...),
	}
	for _, a := range l.anchors {
		d.Anchors = append(d.Anchors, a.Line)
	}
	raw, err := json.Marshal(d)
	if err != nil {
		return nil, err
	}
	n, err := jsontree.Parse(raw, jsontree.StrictKeys)
	if err != nil {
		return nil, err
	}
	return n.AppendTo(nil, -1, 0), nil
}

var errSealData = errors.New("what it says of the entries before it is not what they are")

// checkSealing holds a seal entry against the entries before it, and returns the steps that it says were skipped.
func (l *ledger) checkSealing(e *Entry) ([]string, error) {
	var d sealData
	if err := json.Unmarshal(e.Data, &d); err != nil {
		return nil, errSealData
	}
	want, err := l.sealing(d.Skipped)
	if err != nil {
		return nil, err
	}
	if string(want) != string(e.Data) {
		return nil, errSealData
	}
	return d.Skipped, nil
}

// SkippedIn returns the steps that a seal entry says were left out.
func SkippedIn(e Entry) ([]string, error) {
	var d sealData
	if err := json.Unmarshal(e.Data, &d); err != nil || e.Type != "seal" {
		return nil, fmt.Errorf("entry %d is no seal", e.Seq)
	}
	return d.Skipped, nil
}
