package walk

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"handrail/session/approval"
	"handrail/session/journal"
	"handrail/session/view"
	"handrail/triage"
)

// awaitEvery is how often a script looks whether an approval has come.
const awaitEvery = time.Second

// wait is a gate, or a lowering of the severity, that waits for a second person.
type wait struct {
	step   string
	digest string
	until  time.Time
	second *view.Second
	key    string // of the script that names the file of the approval
	file   string
}

// second waits until a second person has approved what a gate shows.
func (p *player) second(ctx context.Context, snap view.Snapshot, o triage.Option) (string, error) {
	g := snap.Gate
	if g == nil || g.Step != o.Step || g.Second == nil {
		return p.unapproved(o.Step, ""+o.Step+" has no open preview")
	}
	return p.await(ctx, snap.Bundle, wait{step: o.Step, digest: string(g.Digest), until: g.Until, second: g.Second,
		key: "gates." + journal.Bare(o.Step) + ".approval", file: p.Answers.Gates[journal.Bare(o.Step)].Approval})
}

func (p *player) unapproved(step, why string) (string, error) {
	p.refused, p.why = step, why
	p.gaveUp[step] = true
	return why, nil
}

// await says what to send to a second person, and reads their answer from the file
// that the script names.
func (p *player) await(ctx context.Context, bundle string, w wait) (string, error) {
	switch {
	case w.file == "" || p.Approval == nil:
		return p.unapproved(w.step, fmt.Sprintf("%s needs a second person (%s), and the script names no file for the approval: %s", w.step, w.second.Why, w.key))
	case p.tried["approve "+w.step] > 0:
		return p.unapproved(w.step, "the approval of "+w.step+" has expired")
	}
	p.tried["approve "+w.step]++
	p.say("%s needs a second person: %s", w.step, w.second.Why)
	p.say("who may: %s", strings.Join(w.second.May, "; "))
	p.say("send them this, or they run: handrail approve %s", bundle)
	p.say("%s", w.second.Request)
	p.say("waiting until %s for their answer in %s", w.until.UTC().Format("15:04:05Z"), w.file)
	for {
		line, err := p.Approval(w.file)
		switch a, bad := approval.ParseApproval(line); {
		case err != nil && !errors.Is(err, fs.ErrNotExist):
			return p.unapproved(w.step, fmt.Sprintf("the approval of %s cannot be read: %v", w.step, err))
		case bad == nil && strings.HasPrefix(w.digest, a.Digest): // what else is there is of another gate
			return "", p.do(ctx, triage.Intent{Kind: triage.DoApprove, Step: w.step, Sig: line})
		}
		if p.s.Now().After(w.until) {
			return p.unapproved(w.step, ""+w.step+" expired without an approval")
		}
		t := time.NewTimer(awaitEvery)
		select {
		case <-t.C:
		case <-ctx.Done():
			t.Stop()
			return "", context.Cause(ctx)
		}
	}
}

// setSeverity sets the severity that the script names, once: a worse one at once, a
// lower one before the close. It lowers none that was set on the call.
func (p *player) setSeverity(ctx context.Context, snap view.Snapshot, closing bool) (done bool, stop string, err error) {
	want := p.Answers.Severity
	lowers := want.Level > snap.State.Severity // SEV-1 is the worst
	if want.Level == "" || want.Level == snap.State.Severity || lowers != closing || p.tried["severity"] > 0 {
		return false, "", nil
	}
	p.tried["severity"]++
	for _, m := range snap.State.Timeline {
		if lowers && m.Type == "severity" {
			p.say("the severity stays %s: %s", snap.State.Severity, m.Text)
			return false, "", nil
		}
	}
	p.say("severity %s: %s", want.Level, want.Why)
	if err := p.do(ctx, triage.Intent{Kind: triage.DoSeverity, Severity: want.Level, Text: want.Why}); err != nil {
		return true, "", err
	}
	snap = p.s.Snapshot()
	if snap.Lowers == nil || snap.State.Severity == want.Level {
		return true, "", nil
	}
	g := snap.State.Lowering
	stop, err = p.await(ctx, snap.Bundle, wait{step: g.Step, digest: g.Digest, until: g.Shown.Until, second: snap.Lowers, key: "severity.approval", file: want.Approval})
	return true, stop, err
}
