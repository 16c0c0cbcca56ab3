package session

import (
	"slices"

	"handrail/steps"
)

// saidError is an error whose text may be shown.
type saidError struct {
	text string
	err  error
}

func (e *saidError) Error() string { return e.text }
func (e *saidError) Unwrap() error { return e.err }

// said redacts what the world put into an error: a refusal reaches the screen
// before the journal, which redacts on its own.
func (s *Session) said(err error) error {
	return &saidError{s.bundle.Redact(err.Error()), err}
}

// redactedKVs redacts what a gate says of its target outside of its identity.
func (s *Session) redactedKVs(kvs []steps.KV) []steps.KV {
	out := slices.Clone(kvs)
	for i := range out {
		out[i].Value = s.bundle.Redact(out[i].Value)
	}
	return out
}

// redactedItems redacts what a batch says of each of its acts.
func (s *Session) redactedItems(items []steps.Item) []steps.Item {
	out := slices.Clone(items)
	for i := range out {
		it := &out[i]
		it.Object, it.Command = s.bundle.RedactKnown(it.Object), s.bundle.RedactKnown(it.Command)
		it.Effect, it.Response = s.bundle.Redact(it.Effect), s.bundle.Redact(it.Response)
		it.Before, it.After = s.redactedKVs(it.Before), s.redactedKVs(it.After)
	}
	return out
}

func (s *Session) redacted(p steps.Preview) steps.Preview {
	out := p
	out.Prior, out.Args = nil, nil // they must not lie about in what is shown
	touched := false
	identity := func(v string) string {
		r := s.bundle.RedactKnown(v)
		touched = touched || r != v
		return r
	}
	out.Target = slices.Clone(p.Target)
	for i := range out.Target {
		out.Target[i].Value = identity(out.Target[i].Value)
	}
	out.Request, out.Command, out.Phrase = identity(p.Request), identity(p.Command), identity(p.Phrase)
	out.Shown = s.redactedKVs(p.Shown)
	out.Diff = slices.Clone(p.Diff)
	for i := range out.Diff {
		out.Diff[i] = s.bundle.Redact(out.Diff[i])
	}
	out.Effect, out.Undo = s.bundle.Redact(p.Effect), s.bundle.Redact(p.Undo)
	out.Unmet, out.Owners, out.Owes = slices.Clone(p.Unmet), slices.Clone(p.Owners), slices.Clone(p.Owes)
	for i := range out.Unmet {
		out.Unmet[i].Why, out.Unmet[i].Cure = s.bundle.Redact(out.Unmet[i].Why), s.bundle.Redact(out.Unmet[i].Cure)
	}
	for i := range out.Owners {
		// The name is what a waiver of law 12 names.
		out.Owners[i].Name, out.Owners[i].How = identity(out.Owners[i].Name), s.bundle.Redact(out.Owners[i].How)
	}
	for i := range out.Owes {
		out.Owes[i].Text = s.bundle.Redact(out.Owes[i].Text)
	}
	out.Pays = slices.Clone(p.Pays)
	for i := range out.Pays {
		out.Pays[i].Text = s.bundle.Redact(out.Pays[i].Text)
	}
	if touched {
		out.Unmet = append(out.Unmet, steps.Need{
			Why:  "what identifies the target contains a secret of this session",
			Cure: "find out why the identifier and the secret are the same text",
		})
	}
	return out
}
