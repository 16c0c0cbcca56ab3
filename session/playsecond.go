package session

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"handrail/triage"
)

// awaitEvery is how often a script looks whether an approval has come.
const awaitEvery = time.Second

// second waits until a second person has approved what a gate shows: it says what
// to send them, and reads their answer from the file that the script names.
func (p *player) second(ctx context.Context, snap Snapshot, o triage.Option) (string, error) {
	refused := func(why string) (string, error) {
		p.refused, p.why = o.Step, why
		p.gaveUp[o.Step] = true
		return why, nil
	}
	file, ok := p.Answers.Approvals[bare(o.Step)]
	g := snap.Gate
	switch {
	case g == nil || g.Step != o.Step || g.Second == nil:
		return refused("no preview of " + o.Step + " is in front of the call")
	case !ok || p.Approval == nil:
		return refused(fmt.Sprintf("%s needs a second person (%s), and the script names no file for the approval: gates.%s.approval", o.Step, g.Second.Why, bare(o.Step)))
	case p.tried["approve "+o.Step] > 0:
		return refused("the approval of " + o.Step + " has lapsed")
	}
	p.tried["approve "+o.Step]++
	p.say("%s needs a second person: %s", o.Step, g.Second.Why)
	p.say("who may: %s", strings.Join(g.Second.May, "; "))
	p.say("send them this, or let them run: handrail approve %s", snap.Bundle)
	p.say("%s", g.Second.Request)
	p.say("waiting until %s for their answer in %s", g.Until.UTC().Format("15:04:05Z"), file)
	for {
		line, err := p.Approval(file)
		switch a, bad := ParseApproval(line); {
		case err != nil && !errors.Is(err, fs.ErrNotExist):
			return refused(fmt.Sprintf("the approval of %s cannot be read: %v", o.Step, err))
		case bad == nil && strings.HasPrefix(string(g.Digest), a.Digest): // what else is there is of another gate
			return "", p.do(ctx, triage.Intent{Kind: triage.DoApprove, Step: o.Step, Sig: line})
		}
		if p.s.cfg.Now().After(g.Until) {
			return refused("nobody approved " + o.Step + " before it expired")
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
