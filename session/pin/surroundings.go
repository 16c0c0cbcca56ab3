package pin

import (
	"encoding/json"
	"maps"

	"handrail/evidence"
	"handrail/steps"
	"handrail/triage"
)

// Surroundings is the data of an env entry that tells what an incident is worked
// with and on (evidence/doc.go).
type Surroundings struct {
	Context map[string]triage.Value `json:"context"`
	Audit   []string                `json:"audit,omitempty"`
}

// The names by which an env entry tells what a context leads to. One that has
// Name is a pin: from it on the incident holds the context to it.
const (
	Name   = "context.name"
	own    = "context.own"
	user   = "context.user"
	server = "cluster.server"
	uid    = "cluster.uid"
	ca     = "cluster.ca"
	way    = "cluster.way" // absent for the plain way

	// Other stands in surroundings of a cluster that is not the incident's own.
	Other = "context.other"
)

// Foreign reports whether surroundings are of another cluster than the incident's.
func (s Surroundings) Foreign() bool {
	_, other := s.Context[Other]
	_, pinned := s.Context[Name]
	return other || pinned && !s.Context[own].Bool()
}

// Note takes a pin out of an entry of the journal.
func (p *Pins) Note(e evidence.Entry) {
	var in Surroundings
	if e.Type != "env" || json.Unmarshal(e.Data, &in) != nil {
		return
	}
	name, ok := in.Context[Name]
	if !ok || !name.Known() {
		return
	}
	text := func(key string) string {
		v := in.Context[key]
		if !v.Known() {
			return ""
		}
		return v.Text()
	}
	c := steps.Cluster{Context: text(Name), Own: in.Context[own].Bool(), Server: text(server), UID: text(uid), User: text(user), CA: text(ca), Way: text(way)}
	if c.UID == "" {
		c.Unread = in.Context[uid].Why()
	}
	p.byName = maps.Clone(p.byName)
	if p.byName == nil {
		p.byName = map[string]steps.Cluster{}
	}
	p.byName[c.Context] = c
	if c.Own {
		p.own = &c
	}
}

// meantBy is the context that surroundings of the incident's own cluster name,
// although it may not have answered.
func meantBy(e evidence.Entry) (name string, ok bool) {
	var in Surroundings
	if e.Type != "env" || json.Unmarshal(e.Data, &in) != nil {
		return "", false
	}
	_, other := in.Context[Other]
	v := in.Context["cluster.context"]
	if other || !v.Known() {
		return "", false
	}
	return v.Text(), true
}

// Own finds in a journal the cluster that its incident is about.
type Own struct {
	pins  Pins
	named string // by surroundings; the cluster may not have answered
	ok    bool
}

// Note takes in the next entry of the journal.
func (o *Own) Note(e evidence.Entry) {
	o.pins.Note(e)
	if !o.ok {
		o.named, o.ok = meantBy(e)
	}
}

// Cluster is that cluster, with nothing but the name of its context where it never
// answered. ok is false where the journal names none.
func (o *Own) Cluster() (c steps.Cluster, ok bool) {
	if o.pins.own != nil {
		return *o.pins.own, true
	}
	return steps.Cluster{Context: o.named}, o.ok
}

// OwnContext is the name of the context that an incident is about, as its
// journal tells: the one to go on with, whichever is current now. ok is false
// where it names none.
func OwnContext(path string) (name string, ok bool, err error) {
	r, err := evidence.OpenReadOnly(path)
	if err != nil {
		return "", false, err
	}
	defer r.Close()
	var own Own
	for e, err := range r.Entries() {
		if err != nil {
			break // what is wrong with the journal is said by who goes on with it
		}
		own.Note(e)
	}
	c, ok := own.Cluster()
	return c.Context, ok, nil
}
