package session

import (
	"path/filepath"
	"slices"
	"strings"

	"handrail/session/journal"
	"handrail/steps"
	"handrail/triage"
)

// Where a gate acts, as far as a policy looks at it: what the incident is about, and
// what the target itself tells. A kubeconfig that names no production says nothing of
// a state that lies elsewhere.

// placing are the lines of a target that tell a place. Others hold names, digests and
// contents, in which a word proves nothing.
func placing() []string {
	return []string{"server", "context", "namespace", "workspace", "directory", "backend", "state", "state object", "lock object", "marker"}
}

// namespaced is the line of a target that names its object as KIND/NAMESPACE/NAME.
const namespaced = "object"

// placed are the lines of a target that tell its place, with the context that its
// step was given.
func placed(params steps.Params, target []steps.KV) []steps.KV {
	var out []steps.KV
	add := func(key, value string) {
		if kv := (steps.KV{Key: key, Value: value}); value != "" && !slices.Contains(out, kv) {
			out = append(out, kv)
		}
	}
	add(steps.ContextParam, params.Text(steps.ContextParam))
	for _, kv := range target {
		switch {
		case slices.Contains(placing(), kv.Key):
			add(kv.Key, kv.Value)
		case kv.Key == namespaced:
			if parts := strings.Split(kv.Value, "/"); len(parts) == 3 {
				add("namespace", parts[1])
			}
		}
	}
	return out
}

// resolved adds where a directory leads to: a link called dev may lead to production.
func resolved(where []steps.KV) []steps.KV {
	for _, kv := range where {
		if kv.Key != "directory" {
			continue
		}
		if real, err := filepath.EvalSymlinks(kv.Value); err == nil && real != kv.Value {
			where = append(where, steps.KV{Key: "directory", Value: real})
		}
	}
	return where
}

// soughtOf is a gate as a policy sees it: what the journal tells of it, the header of
// today, and its target as it was read. Lines that the journal keeps of a gate that
// was shown are a target as well.
func soughtOf(st triage.State, header []steps.KV, step string, target []steps.KV) Sought {
	s, _ := st.Step(step)
	worst := st.Severity
	if st.Worst != "" {
		worst = min(worst, st.Worst)
	}
	return Sought{Kind: s.Uses, Class: s.Class, Severity: worst, Header: slices.Clone(header), Target: target, Drill: st.Drill != ""}
}

// shownWhere is the target of a gate that was shown, as policy was told of it. A
// journal from before that was kept has the whole target.
func shownWhere(shown triage.GateShown) []steps.KV {
	if len(shown.Where) > 0 {
		return journal.LoadedLines(shown.Where)
	}
	return placed(nil, journal.LoadedLines(shown.Target))
}

// where is what the incident is about by its own targets: the directory and the
// workspace that its plan names, and the gates that were shown since.
func (s *Session) where() []steps.KV {
	out := s.aroundPlan(s.state.Plan())
	newest := int64(0)
	for _, g := range s.state.Gates {
		if g.ShownSeq > newest {
			newest = g.ShownSeq
		}
	}
	for _, g := range s.state.Gates {
		if g.ShownSeq == newest && newest > 0 {
			out = append(slices.Clone(out), shownWhere(g.Shown)...)
		}
	}
	if s.front != nil {
		out = append(slices.Clone(out), placed(nil, append(slices.Clone(s.front.preview.Target), s.front.preview.Shown...))...)
	}
	return out
}

// aroundPlan looks once at the directory and the workspace of a plan.
func (s *Session) aroundPlan(p triage.Plan) []steps.KV {
	text := func(name string) string {
		v := journal.Loaded(p.Params[name])
		if !v.Known() {
			return ""
		}
		return v.Text()
	}
	dir, space := text("dir"), text("workspace")
	if dir == "" && space == "" || s.cfg.Around == nil || s.state.Drill != "" {
		return nil
	}
	key := dir + "\x00" + space
	got, ok := s.around[key]
	if !ok {
		got = resolved(s.cfg.Around(s.cfg.Env, dir, space))
		if s.around == nil {
			s.around = map[string][]steps.KV{}
		}
		s.around[key] = got
	}
	return got
}
