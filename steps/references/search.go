package references

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Places are where a name of a server can stand, in the order in which they are searched: zones come first, since they have further
// names of it.
func Places() []string { return []string{Zones, Code, Dashboards, Jobs, Secrets, States} }

// The places.
const (
	Code       = "code"       // working copies of repositories
	Zones      = "zones"      // saved zones of DNS
	Secrets    = "secrets"    // exports of secrets
	Dashboards = "dashboards" // exports of dashboards and their data sources
	Jobs       = "jobs"       // what schedulers run
	States     = "states"     // states of Terraform or OpenTofu
)

// Ask is what is searched for, and where.
type Ask struct {
	Host, ID string            // host name and identifier of the server
	At       map[string]string // file or folder of each place; one without is unknown
	Without  []string          // places that a person says there are none of
	Unit     string            // folder of the module that makes the server, whose mentions of ID are its own
	Now      time.Time
	Fresh    time.Duration // how old a place may be, 0 for any age
}

// Place is what the search of one place came to.
type Place struct {
	Name    string   `json:"name"`
	Known   bool     `json:"known"`             // whether Hits counts all of it
	Said    bool     `json:"said,omitempty"`    // known by the word of a person alone
	Why     string   `json:"why,omitempty"`     // why it is not known
	Hits    int      `json:"hits"`              // at least
	Own     int      `json:"own,omitempty"`     // mentions by the unit that makes the server
	Files   int      `json:"files"`             // files that were searched
	Where   []string `json:"where,omitempty"`   // locations of the first, without their text
	Commits []string `json:"commits,omitempty"` // of the clones
}

// Result is what a search came to.
type Result struct {
	Places    []Place  `json:"places"`
	Aliases   []string `json:"aliases"`             // names in the zones that lead to the server
	Owners    []string `json:"owners,omitempty"`    // addresses in states that are the server
	Published []string `json:"published,omitempty"` // outputs of their states that name it
}

// Refs is found where any place names the server, none where each place is known and does not, and "" where it cannot be told.
func (r Result) Refs() string {
	out := "none"
	for _, p := range r.Places {
		switch {
		case p.Hits > 0:
			return "found"
		case !p.Known:
			out = ""
		}
	}
	if len(r.Places) != len(Places()) {
		return ""
	}
	return out
}

// Open says of each place that is not known why.
func (r Result) Open() (out []string) {
	for _, p := range r.Places {
		if !p.Known {
			out = append(out, p.Name+": "+p.Why)
		}
	}
	return out
}

// Search searches the places. Its error is that of ctx, or says what of the request cannot be.
func Search(ctx context.Context, ask Ask) (Result, error) {
	if len(ask.Host) < 4 || !strings.Contains(ask.Host, ".") {
		return Result{}, errors.New("the server has no host name yet that could be searched for")
	}
	for _, w := range ask.Without {
		switch {
		case !slices.Contains(Places(), w) || w == Code:
			return Result{}, fmt.Errorf("without: %q is none of the places that an organisation can be without", clip(w))
		case ask.At[w] != "":
			return Result{}, fmt.Errorf("without: a place for %s is named, and it is said that there are none", w)
		}
	}
	s := &search{ask: ask, names: []name{nameOf(ask.Host, true)}}
	if ask.ID != "" {
		s.names = append(s.names, nameOf(ask.ID, false))
	}
	var out Result
	for _, kind := range Places() {
		p := Place{Name: kind}
		switch {
		case ask.At[kind] != "":
			err := s.one(ctx, &p, &out)
			if ctx.Err() != nil {
				return Result{}, ctx.Err()
			}
			if p.Known = err == nil; err != nil {
				p.Why = err.Error()
			}
		case slices.Contains(ask.Without, kind):
			p.Known, p.Said = true, true
		default:
			p.Why = "it was not named"
		}
		out.Places = append(out.Places, p)
	}
	return out, nil
}

// one searches one place.
func (s *search) one(ctx context.Context, p *Place, out *Result) error {
	at := s.ask.At[p.Name]
	info, err := os.Stat(at)
	if err != nil {
		return errors.New("it cannot be read: " + cause(err))
	}
	t := &tree{search: s, place: p, top: at}
	if !info.IsDir() {
		t.top, t.single = filepath.Dir(at), filepath.Base(at)
	}
	switch p.Name {
	case Code:
		err = t.code(ctx)
	case Zones:
		err = t.zones(ctx, out)
	case Secrets:
		err = t.secrets(ctx)
	case States:
		err = t.states(ctx, out)
	default:
		err = t.plain(ctx)
	}
	if err == nil && len(t.open) > 0 {
		slices.Sort(t.open)
		more := ""
		if n := len(t.open) - mostWhy; n > 0 {
			t.open, more = t.open[:mostWhy], fmt.Sprintf(" and %d more", n)
		}
		err = fmt.Errorf("not searched: %s%s", strings.Join(t.open, ", "), more)
	}
	return err
}

// cause is an error of the file system without the path, which the operator gave.
func cause(err error) string {
	var of *os.PathError
	if errors.As(err, &of) {
		return of.Err.Error()
	}
	return err.Error()
}

// zones reads saved zones: the names in them that lead to the server, each a reference.
func (t *tree) zones(ctx context.Context, out *Result) error {
	type found struct {
		at   string
		list []record
	}
	var all []found
	if err := t.walk(ctx, func(at string, raw []byte) {
		list, err := zone(raw)
		if err != nil {
			t.missed(at, err.Error())
			return
		}
		all = append(all, found{at, list})
	}); err != nil {
		return err
	}
	var records []record
	for _, f := range all {
		records = append(records, f.list...)
	}
	out.Aliases = aliases(records, []string{t.ask.Host})
	slices.Sort(out.Aliases)
	for _, a := range out.Aliases {
		t.names = append(t.names, nameOf(a, true))
	}
	for _, f := range all {
		for _, r := range f.list {
			if r.to == t.names[0].text || slices.Contains(out.Aliases, r.to) {
				t.hit(f.at, match{0, cmp.Or(r.from, "@") + " " + r.kind + " " + r.to, true})
			} else if len(matches(t.names[:1], []byte(r.to))) > 0 {
				t.hit(f.at, match{0, r.from + " " + r.kind, true})
			}
		}
	}
	return t.aged()
}

// secrets searches exports of secrets.
func (t *tree) secrets(ctx context.Context) error {
	if err := t.walk(ctx, func(file string, raw []byte) {
		at, found, err := inSecrets(t.names, raw)
		if err != nil {
			t.missed(file, err.Error())
		}
		for i := range at {
			t.hit(file+" "+at[i], match{0, found[i].name, found[i].host})
		}
	}); err != nil {
		return err
	}
	return t.aged()
}

// states searches states for the server itself, and for what else in them names it.
func (t *tree) states(ctx context.Context, out *Result) error {
	if err := t.walk(ctx, func(file string, raw []byte) {
		r, err := inState(t.names, t.ask.ID, raw)
		if err != nil {
			t.missed(file, err.Error())
			return
		}
		for _, o := range r.owners {
			out.Owners = append(out.Owners, file+" "+o)
		}
		for _, name := range r.published {
			if len(r.owners) > 0 { // who reads it has it in a state, or in code
				out.Published = append(out.Published, file+" "+name)
				continue
			}
			t.hit(file+" output."+name, match{0, t.names[0].text, true})
		}
		for i := range r.at {
			t.hit(file+" "+r.at[i], match{0, r.found[i].name, r.found[i].host})
		}
	}); err != nil {
		return err
	}
	slices.Sort(out.Owners)
	slices.Sort(out.Published)
	return t.aged()
}
