package terraform

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"

	"handrail/steps"
)

// resumeGate takes the marker of a pause away: that of this incident, or one of
// others whose time is over.
type resumeGate struct{ env steps.Env }

// Preview implements steps.Gater.
func (g resumeGate) Preview(ctx context.Context, in steps.Params, _ steps.Sink) (steps.Preview, error) {
	if err := ctx.Err(); err != nil {
		return steps.Preview{}, err
	}
	dir, err := unit(g.env, in)
	if err != nil {
		return steps.Preview{}, err
	}
	now := readPause(dir)
	name := steps.Quote(now.file)
	p := steps.Preview{
		Target:  append(pauseGate(g).after(dir, now), steps.KV{Key: keyReason, Value: now.mark.Why}),
		Effect:  fmt.Sprintf("let those who honour the marker apply in %s again, whatever is merged by then. A job that waits for the pause to end may start at once.", dir),
		Request: "remove " + now.file,
		Command: "rm " + name,
		Phrase:  steps.Phrase("resume", filepath.Base(dir)),
		Undo:    "Put the marker back, unless somebody paused since.",
	}
	if now.raw != nil {
		p.Prior = &steps.Prior{Media: steps.MediaJSON, Raw: now.raw, Back: "sh -C -c 'cat > \"$0\"' " + name, Optional: true}
	}
	switch {
	case !now.stands:
		p.Unmet = append(p.Unmet, steps.Need{Why: "There is no marker in " + dir + ": nothing is paused here.", Cure: "nothing is to be done; the CI may know other pauses"})
	case now.by(g.env):
	case now.broken != "":
		p.Unmet = append(p.Unmet, steps.Need{Why: "Whose pause this is cannot be told: " + now.broken + ".", Cure: "find out who wrote it; they take it away"})
	case !now.overdue(g.env.Now()):
		p.Unmet = append(p.Unmet, steps.Need{Why: "It is the pause of somebody else: " + now.whose() + ".", Cure: "ask them to resume it; from " + utc(now.mark.Until) + " on it may be taken away here, by name"})
	default:
		p.Shown = append(p.Shown, steps.KV{Key: "not yours", Value: "its time is over since " + utc(now.mark.Until) + "; ask them first if they can be reached"})
		p.Phrase = steps.Phrase(p.Phrase+" of", now.mark.Who)
	}
	return p, nil
}

// Act implements steps.Gater. It moves the marker aside before it looks at it, so
// that one that came meanwhile is put back and not lost.
func (g resumeGate) Act(ctx context.Context, a *steps.Approval, out steps.Sink) (steps.Outcome, error) {
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
	dir, was := steps.Find(p.Target, keyDir), steps.Find(p.Target, keyThere)
	now := readPause(dir)
	if now.identity() != was {
		return refused("the marker is another now, it is paused by " + now.whose())
	}
	out.Line("removing " + now.file)
	aside, err := os.CreateTemp(dir, pauseFile+".*")
	if err != nil {
		return refused(err.Error())
	}
	_ = aside.Close()
	if err := os.Rename(now.file, aside.Name()); err != nil {
		_ = os.Remove(aside.Name())
		return refused(err.Error())
	}
	if taken, err := os.ReadFile(aside.Name()); err != nil || !bytes.Equal(taken, now.raw) {
		if err := os.Link(aside.Name(), now.file); err != nil {
			return steps.Outcome{}, fmt.Errorf("another marker came in between and was taken away: it lies in %s and could not be put back: %w", aside.Name(), err)
		}
		_ = os.Remove(aside.Name())
		return refused("the marker was replaced in between; the new one is back in its place")
	}
	removed := os.Remove(aside.Name())
	left := readPause(dir)
	o := steps.Outcome{Result: steps.Done, Response: "resumed: the marker is gone", After: pauseGate(g).after(dir, left)}
	if removed != nil {
		o.Response += "; its copy stays: " + removed.Error()
	}
	if left.stands {
		o.Response = "the marker is gone, and another one stands there already: " + left.whose()
	}
	return o, nil
}

// Find implements steps.Finder.
func (g resumeGate) Find(ctx context.Context, before []steps.KV, _ steps.Params, _ steps.Sink) (steps.Outcome, error) {
	if err := ctx.Err(); err != nil {
		return steps.Outcome{}, err
	}
	dir := steps.Find(before, keyDir)
	now := readPause(dir)
	o := steps.Outcome{Result: steps.Done, After: pauseGate(g).after(dir, now)}
	switch {
	case !now.stands:
		o.Response = "The marker is gone."
	case now.identity() == steps.Find(before, keyThere):
		o.Result, o.Response = steps.Failed, "The marker stands as before: "+now.whose()+"."
	default:
		o.Response = "That marker is gone, and another one stands there: " + now.whose() + "."
	}
	return o, nil
}
