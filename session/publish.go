package session

import (
	"slices"

	"handrail/runbooks"
	"handrail/session/journal"
	"handrail/session/view"
	"handrail/triage"
)

// scene is what is known of the incident now.
func (s *Session) scene() *view.Scene {
	return &view.Scene{State: s.state, Now: s.cfg.Now(), Books: s.books, Library: s.cfg.Library, Catalog: s.cfg.Catalog, Practice: s.cfg.Practice,
		Front: s.front, Requests: s.requests}
}

// judge evaluates the conditions of a step against fresh evidence.
func (s *Session) judge(step string) []triage.Verdict { return s.scene().Judge(step) }

// vars is what the expressions of a runbook may see, also what is too old to open
// a gate.
func (s *Session) vars(runbook string) runbooks.Vars {
	return journal.Vars(s.state, runbook, s.cfg.Now(), false)
}

// touch has the call that is running show what changed once it is over: a step that
// records many events is shown once, with all that follows from them.
func (s *Session) touch() { s.touched = true }

// retext is touch where facts, answers or the plan changed, on which the texts of
// all steps depend.
func (s *Session) retext() { s.touched, s.retexted = true, true }

// publish works out what may be shown and done now, and shows it, where anything
// changed.
func (s *Session) publish() {
	if !s.touched {
		return
	}
	sc := s.scene()
	if s.retexted {
		s.texts = sc.Texts()
	}
	s.touched, s.retexted = false, false
	sc.Around = s.aroundPlan(s.state.Plan())
	snap := sc.Snapshot(s.texts)
	snap.Header, snap.Blobs, snap.Bundle, snap.Running = s.header, s.blobs, s.path, s.running()
	snap.Anchor, snap.Sealed = view.Anchor{Line: s.bundle.Checkpoint().Line(), Due: s.due}, s.sealed
	if s.only == nil {
		by := s.readOnly()
		s.only = &by
	}
	snap.ReadOnly = *s.only
	if s.dead != nil {
		snap.Dead = s.dead.Error()
	}
	s.show(&snap)
}

// showRunning shows what runs, and the rest as it was published: a line of
// progress changes nothing else, and a plan prints thousands.
func (s *Session) showRunning() {
	snap := s.Snapshot()
	snap.Running = s.running()
	s.show(&snap)
}

func (s *Session) running() []view.Running {
	var out []view.Running
	for _, f := range s.flight {
		out = append(out, view.Running{Step: f.step, Kind: f.kind, Started: f.started, Until: f.until, Log: f.log, Lines: slices.Clone(f.lines), Act: f.act})
	}
	slices.SortFunc(out, func(a, b view.Running) int { return a.Started.Compare(b.Started) })
	return out
}

// show gives a snapshot to the drivers.
func (s *Session) show(snap *view.Snapshot) {
	if last := s.snap.Load(); last != nil {
		snap.Serial = last.Serial + 1
	}
	s.snap.Store(snap)
	select {
	case s.changed <- struct{}{}:
	default:
	}
}

// Snapshot returns the newest published snapshot. The caller must not change
// it.
func (s *Session) Snapshot() view.Snapshot { return *s.snap.Load() }
