package report

import (
	"errors"
	"fmt"
	"time"

	"handrail/evidence"
	"handrail/evidence/visible"
	"handrail/triage"
)

// RecoveryFormat names the structure of a Recovery. It changes when a field changes its meaning or goes away.
const RecoveryFormat = "handrail/recovery-artifact/v1"

// Recovery is one of the eleven recovery artifacts of an incident: what it proves, what in the bundle it stands on, and
// what the bundle does not hold. Nothing in it is made up: a value is in an entry that it names, or it is missing.
type Recovery struct {
	Format   string       `json:"format"`
	Artifact string       `json:"artifact"` // its name
	Title    string       `json:"title"`
	Proves   string       `json:"proves"`
	Standing string       `json:"standing"` // proven, partly or missing
	Incident visible.Text `json:"incident"`
	About    visible.Text `json:"about"`
	Drill    visible.Text `json:"drill,omitempty"`
	Severity visible.Text `json:"severity"`
	Outcome  visible.Text `json:"outcome"` // "" while it goes on
	Place    Place        `json:"place"`
	Bundle   BundleRef    `json:"bundle"`
	Stands   []Stand      `json:"stands"`
	Missing  []Lack       `json:"missing"`
}

// BundleRef ties an artifact to the bundle that it was made from, as verification found it then.
type BundleRef struct {
	ID       visible.Text `json:"id"`
	Entries  int64        `json:"entries"`
	Head     visible.Text `json:"head"` // hash of the newest entry
	Root     visible.Text `json:"root"` // of the tree over all entries
	Verified bool         `json:"verified"`
	Unproven int          `json:"unproven"` // properties that only the bundle vouches for
}

// Stand is one thing in the bundle that an artifact stands on.
type Stand struct {
	Part      string       `json:"part"` // of the artifact
	What      visible.Text `json:"what"`
	Says      visible.Text `json:"says,omitempty"`
	Step      visible.Text `json:"step,omitempty"`
	Entry     int64        `json:"entry"`
	Hash      visible.Text `json:"hash,omitempty"` // of that entry
	At        time.Time    `json:"at,omitzero"`
	Actor     visible.Text `json:"actor,omitempty"` // at whose keyboard it was recorded
	Stale     bool         `json:"stale,omitempty"` // what it read moved after it was read
	Values    []Fact       `json:"values,omitempty"`
	Artifacts []Artifact   `json:"artifacts,omitempty"` // raw files in the bundle
}

// Lack is what an artifact should have and the bundle does not hold.
type Lack struct {
	Part string       `json:"part"`
	What visible.Text `json:"what"`
	How  visible.Text `json:"how,omitempty"` // to get it
}

// The standings of a recovery artifact.
const (
	Proven      = "proven"
	PartlyHeld  = "partly"
	NotInBundle = "missing"
)

// Line of the journal, as an artifact cites it.
type journalLine struct {
	hash  string
	actor string
	at    time.Time
	audit []string // Audit-IDs of the requests that handrail sent
	step  string
}

// Journal is what an artifact cites of a journal: the hashes of its entries.
type Journal struct{ lines map[int64]journalLine }

// ReadJournal reads what artifacts cite. A torn tail ends it, as it ends the fold.
func ReadJournal(r *evidence.Reader) (Journal, error) {
	j := Journal{lines: map[int64]journalLine{}}
	for e, err := range r.Entries() {
		var torn *evidence.TornError
		if errors.As(err, &torn) {
			break
		}
		if err != nil {
			return j, err
		}
		at, _ := e.Time() // the fold refused one that has none
		l := journalLine{hash: e.Hash, actor: e.Actor, at: at.UTC(), step: e.Step}
		if body, err := triage.Decode(e.Type, e.Data); err == nil {
			switch b := body.(type) {
			case triage.ProbeEnd:
				l.audit, l.step = b.Audit, b.Step
			case triage.GateShown:
				l.audit, l.step = b.Audit, b.Step
			case triage.ActEnd:
				l.audit, l.step = b.Audit, b.Step
			}
		}
		j.lines[e.Seq] = l
	}
	return j, nil
}

// RecoveryNames lists the artifacts by name, in the order in which a change makes them.
func RecoveryNames() []string {
	var out []string
	for _, s := range recoverySpecs() {
		out = append(out, s.name)
	}
	return out
}

// RecoveryAbout is what an artifact of that name proves, "" where there is none.
func RecoveryAbout(name string) string {
	for _, s := range recoverySpecs() {
		if s.name == name {
			return s.proves
		}
	}
	return ""
}

// Recover makes the artifact of that name from a folded state, its document and its journal.
func Recover(name string, st triage.State, d Document, j Journal) (Recovery, error) {
	for _, s := range recoverySpecs() {
		if s.name == name {
			return s.of(&recovery{st: st, d: d, j: j}), nil
		}
	}
	return Recovery{}, fmt.Errorf("there is no recovery artifact %q", name)
}

func (s recoverySpec) of(r *recovery) Recovery {
	out := Recovery{
		Format: RecoveryFormat, Artifact: s.name, Title: s.title, Proves: s.proves, Incident: r.d.Incident, About: r.d.Title, Drill: r.d.Drill,
		Severity: r.d.Severity, Outcome: r.d.Outcome, Place: r.d.Place, Bundle: BundleRef{ID: r.d.Incident}, Stands: []Stand{}, Missing: []Lack{},
	}
	if v := r.d.Verification; v != nil {
		out.Bundle.Entries, out.Bundle.Head, out.Bundle.Root, out.Bundle.Verified, out.Bundle.Unproven = v.Entries, v.Head, v.Root, v.OK, v.Unproven
	}
	wanted, held := 0, 0
	for _, p := range s.parts {
		if p.applies != nil && !p.applies(r) {
			continue
		}
		r.lacks = nil
		found := p.find(r)
		if p.proof {
			wanted++
			if len(found) > 0 {
				held++
			}
		}
		for _, f := range found {
			f.Part = p.name
			out.Stands = append(out.Stands, r.cited(f))
		}
		if len(found) == 0 {
			what := "not in this bundle: " + p.lack
			for _, l := range r.lacks {
				what += "; " + string(l.What)
			}
			r.lacks = nil
			out.Missing = append(out.Missing, Lack{Part: p.name, What: line(what), How: line(p.how)})
		}
		for _, l := range r.lacks {
			l.Part = p.name
			out.Missing = append(out.Missing, l)
		}
	}
	switch held {
	case 0:
		out.Standing = NotInBundle
	case wanted:
		out.Standing = Proven
	default:
		out.Standing = PartlyHeld
	}
	return out
}

// recovery is what the parts of an artifact are found in.
type recovery struct {
	st    triage.State
	d     Document
	j     Journal
	lacks []Lack // what the part that is being found lacks although it was found
}

// cited adds to a stand what the journal says of its entry.
func (r *recovery) cited(s Stand) Stand {
	l, ok := r.j.lines[s.Entry]
	if !ok {
		return s
	}
	s.Hash = line(l.hash)
	if s.At.IsZero() {
		s.At = l.at
	}
	if s.Actor == "" {
		s.Actor = line(l.actor)
	}
	return s
}
