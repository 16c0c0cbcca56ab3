package gitops

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"

	"handrail/steps"
	"handrail/steps/cluster"
	"handrail/steps/gitops/app"
)

// Which side of a field moved, as far as what was applied last tells.
const (
	movedLive = "live" // Git has what was applied, and what is live is otherwise
	movedGit  = "git"  // what is live is what was applied, and Git has something else
	movedBoth = "both" // the three differ
	movedOpen = "open" // what was applied last is not known
)

// side3 is one object as the three sides have it; nil where one has none.
type side3 struct {
	name                      string // kind.group/namespace/name
	of                        app.Resource
	version                   string         // in which Git has it, "" for the server's
	live                      cluster.Object // whole
	plain                     map[string]any // what Git has, with the values of a Secret; it goes to the server alone
	desired, recorded, actual map[string]any
	unread                    string          // why a side cannot be known
	unserved                  bool            // the server serves no such kind, and Git does not bring it
	unrecorded                bool            // what was applied last is not known
	unrendered                bool            // what Git has was not rendered
	unsaid                    string          // why nothing is said of what Git has
	varies                    map[string]bool // fields that come out otherwise at each rendering
	kept                      bool            // the object or Helm keeps what was applied last
	delivered                 bool            // its controller lists it among what it applied
}

// whole is where a line is about an object as such.
const whole = "the object"

// line is one field on which the sides do not agree, with their values whole.
type line struct {
	object, at                string
	desired, recorded, actual string
	moved                     string
}

func (l line) String() string {
	say := fmt.Sprintf("%s %s: wanted %s", l.object, l.at, steps.Clip(l.desired, 120))
	if l.moved != movedOpen {
		say += ", applied " + steps.Clip(l.recorded, 120)
	}
	return say + ", live " + steps.Clip(l.actual, 120)
}

// ownMarks are fields that controllers put on what they apply, and that stand in no repository.
var ownMarks = regexp.MustCompile(`^metadata\.(?:annotations|labels)\.(?:argocd\.argoproj\.io/|kustomize\.toolkit\.fluxcd\.io/|helm\.toolkit\.fluxcd\.io/|kubectl\.kubernetes\.io/last-applied-configuration$|app\.kubernetes\.io/instance$)`)

// left are fields that say nothing of what is wanted.
func left(at string) bool {
	return at == "apiVersion" || at == "kind" || at == "status" || strings.HasPrefix(at, "status.") || at == "metadata.creationTimestamp" || ownMarks.MatchString(at)
}

// lines are the fields of one object on which the sides do not agree. Only what is desired
// or was applied counts: what the server and other controllers fill in beside it is theirs.
func (s side3) lines() []line {
	if s.desired == nil || s.actual == nil {
		return s.presence()
	}
	desired, recorded, actual := s.leaves()
	var out []line
	for _, at := range slices.Sorted(maps.Keys(union(desired, recorded))) {
		if left(at) {
			continue
		}
		want, wanted := desired[at]
		had, applied := recorded[at]
		is, there := actual[at]
		if wanted && there && alike(at, want, is) || !wanted && !there {
			continue
		}
		l := line{object: s.name, at: at, desired: valued(want, wanted), recorded: valued(had, applied), actual: valued(is, there), moved: movedBoth}
		switch {
		case s.unrecorded:
			l.moved = movedOpen
		case wanted == applied && (!wanted || alike(at, want, had)):
			l.moved = movedLive
		case applied == there && (!applied || alike(at, had, is)):
			l.moved = movedGit
		}
		out = append(out, l)
	}
	return out
}

// leaves are those of the three sides. What comes out otherwise at each rendering is as it was applied
// last, where that is kept, and else on no side.
func (s side3) leaves() (desired, recorded, actual map[string]any) {
	desired, recorded, actual = leaves(s.desired), leaves(s.recorded), leaves(s.actual)
	for at := range s.varies {
		delete(desired, at)
		if !s.kept {
			delete(recorded, at)
			delete(actual, at)
		} else if v, has := recorded[at]; has {
			desired[at] = v
		}
	}
	return desired, recorded, actual
}

// apart are the fields in which two renderings of one object differ.
func apart(a, b map[string]any) map[string]bool {
	out := map[string]bool{}
	x, y := leaves(a), leaves(b)
	for at := range union(x, y) {
		was, has := x[at]
		is, had := y[at]
		if has != had || !same(was, is) {
			out[at] = true
		}
	}
	return out
}

// open are the fields of which nothing can be said, in order.
func (s side3) open() []string {
	if s.kept || s.desired == nil || s.actual == nil {
		return nil
	}
	return slices.Sorted(maps.Keys(s.varies))
}

// presence says that an object is missing, or no longer wanted.
func (s side3) presence() []line {
	if s.desired == nil && s.actual == nil {
		return nil
	}
	applied := s.recorded != nil || s.delivered
	l := line{object: s.name, at: whole, desired: being(s.desired != nil), recorded: being(applied), actual: being(s.actual != nil)}
	switch {
	case applied == (s.desired != nil):
		l.moved = movedLive
	case applied == (s.actual != nil):
		l.moved = movedGit
	}
	return []line{l}
}

func being(there bool) string {
	if there {
		return "there"
	}
	return "none"
}

func valued(v any, there bool) string {
	if !there {
		return "none"
	}
	return shownWhole(v)
}

func union(a, b map[string]any) map[string]any {
	out := maps.Clone(a)
	maps.Copy(out, b)
	return out
}

// leaves are the values of an object by where they stand. What is empty is none: the server
// keeps it or not. Items of a list stand by their name where each has one of its own, else
// by their place.
func leaves(o map[string]any) map[string]any {
	out := map[string]any{}
	spread(out, "", o)
	return out
}

func spread(out map[string]any, at string, v any) {
	switch v := v.(type) {
	case nil:
	case map[string]any:
		for key, below := range v {
			spread(out, strings.TrimPrefix(at+"."+key, "."), below)
		}
	case []any:
		switch {
		case len(v) == 0:
		case named(v) && distinct(v):
			for _, item := range v {
				m := item.(map[string]any)
				spread(out, fmt.Sprintf("%s[name=%v]", at, m["name"]), m)
			}
		case slices.ContainsFunc(v, func(item any) bool { _, is := item.(map[string]any); return is }):
			for i, item := range v {
				spread(out, fmt.Sprintf("%s[%d]", at, i), item)
			}
		default:
			out[at] = v
		}
	default:
		out[at] = v
	}
}

func distinct(list []any) bool {
	seen := map[any]bool{}
	for _, item := range list {
		name := item.(map[string]any)["name"]
		if seen[name] {
			return false
		}
		seen[name] = true
	}
	return true
}

// amounts are where the server writes quantities in a form of its own.
var amounts = regexp.MustCompile(`\.(?:limits|requests|capacity|hard|sizeLimit|default|defaultRequest|max|min)(?:\.|$)`)

// alike compares values as the server keeps them.
func alike(at string, a, b any) bool {
	if same(a, b) {
		return true
	}
	if !amounts.MatchString(at) {
		return false
	}
	x, errX := resource.ParseQuantity(fmt.Sprint(a))
	y, errY := resource.ParseQuantity(fmt.Sprint(b))
	return errX == nil && errY == nil && x.Cmp(y) == 0
}
