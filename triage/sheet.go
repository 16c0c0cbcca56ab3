package triage

import "slices"

// onSheet numbers what a person can say on one sheet: the recommended word, and those wanted
// after it with nothing to be read between them. A word that depends on another of the sheet
// waits for that one. What follows a conclusion that waits is asked only as far as it helps
// to classify: what is to be done comes after.
func onSheet(s *State, options []Option, judge func(step string) []Verdict) {
	first := slices.IndexFunc(options, func(o Option) bool { return o.Recommended })
	if s.Kind == Readiness || first < 0 || !isWord(options[first].Kind) || options[first].Step == "" {
		return
	}
	begun, waits, n := false, false, 0
	var asked []string // what a person says on the sheet
	var topics []Topic // what is concluded on it
	for _, w := range wants(s, judge) {
		if !begun {
			if w.kind == DoPreview && !aside(w.step, judge) {
				return // a gate that is held: what is recommended is for it alone
			}
			if begun = w.is(&options[first]); !begun {
				continue
			}
		}
		if (w.kind == DoAnswer || w.kind == DoProbe || w.kind == DoManual) && idle(s, w, judge) || w.kind == DoPreview && aside(w.step, judge) {
			continue
		}
		if !isWord(w.kind) {
			if !waits {
				follow(s, options, w)
			}
			return
		}
		if w.step == "" && slices.Contains(topics, w.topic) { // what every gate asks, and a step of the plan concludes
			continue
		}
		st, ok := s.Step(w.step)
		i := slices.IndexFunc(options, func(o Option) bool { return w.is(&o) })
		if !ok || i < 0 || !options[i].Available() {
			waits = waits || w.kind == DoConclude
			continue
		}
		depends := slices.ContainsFunc(st.Refs, func(id string) bool { return slices.Contains(asked, id) })
		switch {
		case w.kind == DoConclude && (depends || waits):
			waits = true
			continue
		case depends:
			continue
		case waits && (w.kind == DoManual || !classifies(st.Phase)):
			return
		case w.kind == DoConclude:
			topics = append(topics, Topic(st.Uses))
		default:
			asked = append(asked, st.ID)
		}
		n++
		options[i].Sheet = n
	}
}

// follow marks the heavy read that comes after the words of the sheet: the key that says them
// may name it, and so begin it.
func follow(s *State, options []Option, w want) {
	st, ok := s.Step(w.step)
	if w.kind != DoProbe || !ok || !st.Heavy || st.Kind != ProbeStep || st.Attempts > 0 {
		return
	}
	for i := range options {
		if o := &options[i]; w.is(o) && o.Available() {
			o.Follows = true
			return
		}
	}
}

// isWord reports whether a person says what is wanted, and nothing is read or changed.
func isWord(k IntentKind) bool { return k == DoAnswer || k == DoManual || k == DoConclude }
