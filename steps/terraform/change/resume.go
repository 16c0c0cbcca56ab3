package change

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"

	"handrail/steps"
	"handrail/steps/terraform/module"
	"handrail/steps/terraform/prose"
)

// ResumeGate takes the marker of a pause away: that of this incident, or one of
// others whose time is over.
type ResumeGate struct{ Env steps.Env }

// Preview implements steps.Gater.
func (g ResumeGate) Preview(ctx context.Context, in steps.Params, _ steps.Sink) (steps.Preview, error) {
	if err := ctx.Err(); err != nil {
		return steps.Preview{}, err
	}
	dir, err := unit(g.Env, in)
	if err != nil {
		return steps.Preview{}, err
	}
	now := module.ReadPause(dir)
	name := steps.Quote(now.File)
	p := steps.Preview{
		Target:  append(PauseGate(g).after(dir, now), steps.KV{Key: keyReason, Value: now.Mark.Why}),
		Effect:  fmt.Sprintf("let those who honour the marker apply in %s again, whatever is merged by then. A job that waits for the pause to end may start at once.", dir),
		Request: "remove " + now.File,
		Command: "rm " + name,
		Phrase:  steps.Phrase("resume", filepath.Base(dir)),
		Undo:    "Put the marker back, unless it was paused again since.",
		Pays:    []steps.Debt{pauseDebt(dir, now.File)},
	}
	if now.Raw != nil {
		p.Prior = &steps.Prior{Media: steps.MediaJSON, Raw: now.Raw, Back: "sh -C -c 'cat > \"$0\"' " + name, Optional: true}
	}
	switch {
	case !now.Stands:
		p.Unmet = append(p.Unmet, steps.Need{Why: "There is no marker in " + dir + ": nothing is paused here.", Cure: "nothing is to be done; the CI may know other pauses"})
	case now.By(g.Env):
	case now.Broken != "":
		p.Unmet = append(p.Unmet, steps.Need{Why: "Whose pause this is cannot be told: " + now.Broken + ".", Cure: "find out who wrote it; they take it away"})
	case !now.Overdue(g.Env.Now()):
		p.Unmet = append(p.Unmet, steps.Need{Why: "It is someone else's pause: " + now.Whose() + ".", Cure: "ask them to resume it; from " + prose.UTC(now.Mark.Until) + " on it may be taken away here, by name"})
	default:
		p.Shown = append(p.Shown, steps.KV{Key: "not yours", Value: "its time is over since " + prose.UTC(now.Mark.Until) + "; ask them first if they can be reached"})
		p.Phrase = steps.Phrase(p.Phrase+" of", now.Mark.Who)
	}
	return p, nil
}

// Act implements steps.Gater. It moves the marker aside before it looks at it, so
// that one that came meanwhile is put back and not lost.
func (g ResumeGate) Act(ctx context.Context, a *steps.Approval, out steps.Sink) (steps.Outcome, error) {
	p, err := a.Spend()
	if err != nil {
		return steps.Outcome{}, err
	}
	refused := func(why string) (steps.Outcome, error) {
		return steps.Outcome{Result: steps.Refused, Response: "nothing was removed: " + why}, nil
	}
	if err := ctx.Err(); err != nil {
		return refused(err.Error())
	}
	dir, was := steps.Find(p.Target, module.KeyDir), steps.Find(p.Target, keyThere)
	now := module.ReadPause(dir)
	if now.Identity() != was {
		return refused("the marker is another now, it is paused by " + now.Whose())
	}
	out.Line("removing " + now.File)
	aside, err := os.CreateTemp(dir, module.PauseFile+".*")
	if err != nil {
		return refused(err.Error())
	}
	_ = aside.Close()
	if err := os.Rename(now.File, aside.Name()); err != nil {
		_ = os.Remove(aside.Name())
		return refused(err.Error())
	}
	if taken, err := os.ReadFile(aside.Name()); err != nil || !bytes.Equal(taken, now.Raw) {
		if err := os.Link(aside.Name(), now.File); err != nil {
			return steps.Outcome{}, fmt.Errorf("another marker came in between and was taken away: it lies in %s and could not be put back: %w", aside.Name(), err)
		}
		_ = os.Remove(aside.Name())
		return refused("the marker was replaced in between; the new one is back in its place")
	}
	removed := os.Remove(aside.Name())
	left := module.ReadPause(dir)
	o := steps.Outcome{Result: steps.Done, Response: "resumed: the marker is gone", After: PauseGate(g).after(dir, left)}
	if removed != nil {
		o.Response += "; its copy stays: " + removed.Error()
	}
	if left.Stands {
		o.Response = "the marker is gone, and another one stands there already: " + left.Whose()
	}
	return o, nil
}

// Find implements steps.Finder.
func (g ResumeGate) Find(ctx context.Context, before []steps.KV, _ steps.Params, _ steps.Sink) (steps.Outcome, error) {
	if err := ctx.Err(); err != nil {
		return steps.Outcome{}, err
	}
	dir := steps.Find(before, module.KeyDir)
	now := module.ReadPause(dir)
	o := steps.Outcome{Result: steps.Done, After: PauseGate(g).after(dir, now)}
	switch {
	case !now.Stands:
		o.Response = "The marker is gone."
	case now.Identity() == steps.Find(before, keyThere):
		o.Result, o.Response = steps.Failed, "The marker stands as before: "+now.Whose()+"."
	default:
		o.Response = "That marker is gone, and another one stands there: " + now.Whose() + "."
	}
	return o, nil
}
