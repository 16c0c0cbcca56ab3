package index

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"handrail/evidence"
	"handrail/session/pin"
	"handrail/triage"
)

// bundleContents is all that the index knows of one bundle.
type bundleContents struct {
	name  string // of the directory
	stamp stamp
	row   Row
	page  *page // nil when only the row was wanted
}

// gather reads a bundle up to its last entry; what stops it earlier is in the
// row. The stamp is older than what is read.
func gather(dir, name string, withPage bool) bundleContents {
	path := filepath.Join(dir, name)
	g := bundleContents{name: name, row: Row{Path: path}}
	if marks, err := newMarker(dir); err == nil {
		g.stamp = marks.stampOf(name, 0)
		marks.close()
	}
	if withPage {
		g.page = &page{}
	}
	if err := g.read(path); err != nil {
		g.row.Err = err.Error()
	}
	return g
}

func (g *bundleContents) read(path string) error {
	r, err := evidence.OpenReadOnly(path)
	if err != nil {
		return err
	}
	defer r.Close()
	g.row.ID = r.Meta().ID
	if at, err := time.Parse(time.RFC3339Nano, r.Meta().Created); err == nil {
		g.row.Opened = at
	}
	var (
		events []triage.Event
		acts   = newActLog()
		broken error
		limit  triage.Limit
		plans  []triage.Plan // what the limit looks at
		own    pin.Own
	)
	for e, err := range r.Entries() {
		var torn *evidence.TornError
		if errors.As(err, &torn) { // the writer is at work, or died in a write
			g.row.Sealed = false
			break
		}
		if err != nil {
			broken = err
			break
		}
		if err := limit.Take(e.Data, triage.State{Plans: plans}); err != nil && broken == nil {
			broken = fmt.Errorf("nothing was read from entry %d on: %w", e.Seq, err)
			break
		}
		own.Note(e)
		ev, err := eventOf(e)
		if err != nil && broken == nil {
			broken = err
		}
		if broken == nil {
			events = append(events, ev)
			acts.add(ev)
			if plan, is := ev.Body.(triage.Plan); is {
				plans = append(plans, plan)
			}
			if _, opens := ev.Body.(triage.Open); opens {
				g.row.OpenSeq, g.row.Opener = e.Seq, e.Actor
			}
		}
		g.row.Entries, g.row.Sealed = e.Seq+1, e.Type == "seal"
		if g.page != nil {
			g.page.add(e)
		}
	}
	st, err := triage.FoldAll(triage.State{}, events)
	if err != nil {
		broken = err
	}
	g.row.Acts = acts.list
	g.row.fill(st)
	cluster, _ := own.Cluster()
	g.row.Target = TargetOf(st.Plan().Params, cluster.Context, cluster.Server)
	return broken
}

func eventOf(e evidence.Entry) (triage.Event, error) {
	body, err := triage.Decode(e.Type, e.Data)
	if err != nil {
		return triage.Event{}, fmt.Errorf("entry %d: %w", e.Seq, err)
	}
	at, err := e.Time()
	if err != nil {
		return triage.Event{}, fmt.Errorf("entry %d: reading its time: %w", e.Seq, err)
	}
	return triage.Event{Seq: e.Seq, At: at, Actor: e.Actor, Body: body}, nil
}

// fill takes over what the loop knows.
func (r *Row) fill(st triage.State) {
	r.Title, r.Severity, r.Phase, r.Drill, r.Kind = st.Title, st.Severity, st.Phase, st.Drill, st.Kind
	r.Outcome, r.Closed, r.Updated = st.Outcome, st.Closed, st.Updated
	r.Operator = st.Operator
	if r.Operator == "" {
		r.Operator = st.Handed.From
	}
	r.Runbook = st.Plan().Runbook
	for _, p := range st.Plans {
		r.Runbooks = append(r.Runbooks, p.Runbook)
	}
	r.Failure = st.Topics[triage.TopicClass].Value
	if !st.Opened.IsZero() {
		r.Opened = st.Opened
	}
	for _, d := range st.Debts {
		if d.Settled.How == "" || d.Settled.How == "carried" {
			r.Debts = append(r.Debts, d)
		}
	}
}

// add takes one entry into the page.
func (p *page) add(e evidence.Entry) {
	at, err := e.Time()
	if err != nil {
		return
	}
	en := entry{seq: e.Seq, at: at, kind: e.Type, step: e.Step, actor: strings.ReplaceAll(e.Actor, "\n", " ")}
	var data any
	if json.Unmarshal(e.Data, &data) == nil {
		f := flattener{to: &en, person: e.Type == "person", scope: scopeOf(data)}
		f.walk("", "", data)
	}
	p.entries = append(p.entries, en)
	for _, b := range e.Blobs {
		p.blobs = append(p.blobs, blobRef{sha: b.SHA256, role: b.Role, seq: e.Seq, at: at})
	}
}

// flattener turns the payload of an entry into lines `name: value`.
type flattener struct {
	to     *entry
	person bool   // the payload names a person
	scope  string // the kind of step, or the runbook, whose names they are
}

// scopeOf is whose names a payload uses: those of a kind of step, or of a runbook.
func scopeOf(data any) string {
	m, _ := data.(map[string]any)
	for _, name := range []string{"kind", "runbook"} {
		if s, ok := m[name].(string); ok {
			return s
		}
	}
	return ""
}

// walk writes v under its whole name and takes its key from the last one.
func (f *flattener) walk(path, last string, v any) {
	switch v := v.(type) {
	case map[string]any:
		if t, ok := v["t"].(string); ok && t != "" && len(v) == 2 {
			if val, ok := v["v"]; ok { // a typed value
				f.walk(path, last, val)
				return
			}
		}
		if code, ok := v["item"].(string); ok && v["none"] != true { // what a proof names
			if val, ok := v["value"].(string); ok {
				f.file(join(path, code), itemKey(code), val)
				return
			}
		}
		if k, ok := v["k"].(string); ok && len(v) == 2 {
			if val, ok := v["v"]; ok { // a line of a target
				f.walk(join(path, k), k, val)
				return
			}
		}
		for _, k := range sortedNames(v) {
			f.walk(join(path, k), k, v[k])
		}
	case []any:
		for _, item := range v {
			f.walk(path, last, item)
		}
	case string:
		f.say(path, last, v)
		if n := pullRequest(last, v); n != "" {
			f.say(join(strings.TrimSuffix(path, "."+last), "ci.pull_request"), "ci.pull_request", n)
		}
	case nil:
	default:
		f.say(path, last, fmt.Sprint(v))
	}
}

// pullRequest is the number of the pull request that GitHub's name of a ref is
// about, which no variable holds alone.
func pullRequest(name, value string) string {
	rest, ok := strings.CutPrefix(value, "refs/pull/")
	if n, _, more := strings.Cut(rest, "/"); name == "ci.GITHUB_REF" && ok && more {
		return n
	}
	return ""
}

func (f *flattener) say(path, last, value string) {
	k := keyAt(path, last)
	if own, ok := scoped[f.scope+" "+plainName(last)]; ok {
		k = own
	}
	if f.person && (last == "id" || last == "name") {
		k = Actor
	}
	f.file(path, k, value)
	for _, t := range told(value) {
		f.file(join(path, t.key.String()), t.key, t.value)
	}
}

// file writes a value under its name and its key.
func (f *flattener) file(path string, k Key, value string) {
	for line := range strings.Lines(value) {
		line = strings.TrimRight(line, "\r\n")
		if strings.TrimSpace(line) != "" {
			l := textLine{key: k, text: path + ": " + line, value: len(path) + len(": ")}
			if len(line) > longestValue {
				l.key = NoKey
			}
			f.to.lines = append(f.to.lines, l)
		}
	}
}

// longestValue is how long the value of a key may be; a longer text identifies nothing.
const longestValue = 512

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}
