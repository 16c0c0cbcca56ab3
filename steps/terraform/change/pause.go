package change

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"handrail/steps"
	"handrail/steps/terraform/module"
	"handrail/steps/terraform/prose"
)

// The keys of the target of a pause.
const (
	keyMarker = "marker"
	keyThere  = "marker now"
	keyReason = "reason"
)

// PauseGate puts the marker into a root module. It never replaces one.
type PauseGate struct{ Env steps.Env }

// Preview implements steps.Gater.
func (g PauseGate) Preview(ctx context.Context, in steps.Params, _ steps.Sink) (steps.Preview, error) {
	if err := ctx.Err(); err != nil {
		return steps.Preview{}, err
	}
	dir, err := unit(g.Env, in)
	if err != nil {
		return steps.Preview{}, err
	}
	now := module.ReadPause(dir)
	p := steps.Preview{
		Target: []steps.KV{
			{Key: module.KeyDir, Value: dir},
			{Key: keyMarker, Value: now.File},
			{Key: keyThere, Value: now.Identity()},
			{Key: keyReason, Value: in.Text("reason")},
		},
		Shown: []steps.KV{
			{Key: "who", Value: g.who()},
			{Key: "until", Value: fmt.Sprintf("%s after the act; it stands until it is taken away", module.PauseFor)},
			{Key: "reach", Value: "everyone who applies from this directory; a CI sees it only where the file reaches its checkout (commit and push it) and its job looks for it"},
			{Key: "goes on", Value: "plans, runs that began already, and everyone who does not look for the marker"},
		},
		Effect:  fmt.Sprintf("ask all who honour the marker to apply nothing in %s. It locks nothing: a job that does not look for it applies as before.", dir),
		Request: fmt.Sprintf("create %s with who, when, why, incident and until (incident %s)", now.File, prose.OrUnknown(g.Env.Incident)),
		Command: fmt.Sprintf("cat > %s # {\"who\": …, \"when\": …, \"why\": …, \"incident\": …, \"until\": …}", steps.Quote(now.File)),
		Phrase:  steps.Phrase("pause", filepath.Base(dir)),
		Undo:    "Take the marker away again: the gate terraform/resume, or rm " + steps.Quote(now.File),
		Owes:    []steps.Debt{pauseDebt(dir, now.File)},
	}
	switch {
	case now.By(g.Env):
		p.Unmet = append(p.Unmet, steps.Need{Why: "This incident paused it already: " + now.Whose() + ".", Cure: "nothing is to be done; to renew the pause, resume and pause again"})
	case now.Stands:
		p.Unmet = append(p.Unmet, steps.Need{Why: "It is paused already, by " + now.Whose() + ".", Cure: "leave that marker where it is, and tell them that you rely on it: one pause is enough, and theirs is not yours to replace"})
	}
	return p, nil
}

// pauseDebt is what a pause leaves owing, and what its end pays.
func pauseDebt(dir, marker string) steps.Debt {
	return steps.Debt{Kind: "resume", Text: "applies of " + dir + " are paused by " + marker, Due: module.PauseFor}
}

func (g PauseGate) who() string { return g.Env.User + "@" + g.Env.Host }

// Act implements steps.Gater.
func (g PauseGate) Act(ctx context.Context, a *steps.Approval, out steps.Sink) (steps.Outcome, error) {
	p, err := a.Spend()
	if err != nil {
		return steps.Outcome{}, err
	}
	dir := steps.Find(p.Target, module.KeyDir)
	if err := ctx.Err(); err != nil {
		return steps.Outcome{Result: steps.Refused, Response: "nothing was written: " + err.Error()}, nil
	}
	at := g.Env.Now().UTC()
	raw, err := module.PauseMark{Who: g.who(), When: at, Why: steps.Find(p.Target, keyReason), Incident: g.Env.Incident, Until: at.Add(module.PauseFor)}.Encode()
	if err != nil {
		return steps.Outcome{Result: steps.Refused, Response: "nothing was written: " + err.Error()}, nil
	}
	name := filepath.Join(dir, module.PauseFile)
	out.Line("writing " + name)
	// For the CI of the team to read, under any account.
	wrote := writeNew(name, raw, 0o644)
	now := module.ReadPause(dir)
	o := steps.Outcome{Result: steps.Done, Response: "paused: " + now.Whose(), After: g.after(dir, now)}
	switch {
	case errors.Is(wrote, fs.ErrExist):
		o.Result, o.Response = steps.Refused, "nothing was written: it is already paused by "+now.Whose()
	case wrote != nil:
		o.Result, o.Response = steps.Failed, "nothing is paused, the marker could not be written: "+wrote.Error()
	case !now.By(g.Env) || now.Mark.Why != steps.Clip(steps.Find(p.Target, keyReason), 1000):
		o.Result, o.Response = steps.Failed, "the marker was written, and something else stands there now: "+now.Whose()
	}
	return o, nil
}

func (g PauseGate) after(dir string, now module.Pause) []steps.KV {
	return []steps.KV{{Key: module.KeyDir, Value: dir}, {Key: keyMarker, Value: now.File}, {Key: keyThere, Value: now.Identity()}, {Key: "paused by", Value: now.Whose()}}
}

// Find implements steps.Finder.
func (g PauseGate) Find(ctx context.Context, before []steps.KV, _ steps.Params, _ steps.Sink) (steps.Outcome, error) {
	dir := steps.Find(before, module.KeyDir)
	if err := ctx.Err(); err != nil {
		return steps.Outcome{}, err
	}
	now := module.ReadPause(dir)
	o := steps.Outcome{After: g.after(dir, now)}
	switch {
	case now.By(g.Env):
		o.Result, o.Response = steps.Done, "The marker is there: "+now.Whose()+"."
	case now.Stands:
		o.Result, o.Response = steps.Failed, "Another marker is there: "+now.Whose()+"."
	default:
		o.Result, o.Response = steps.Failed, "There is no marker: nothing is paused."
	}
	return o, nil
}

// unit is the root module that the parameter dir names, links resolved. It need
// not be initialised: a pause is wanted most where nothing works.
func unit(env steps.Env, in steps.Params) (string, error) {
	dir := in.Text("dir")
	if dir == "" {
		dir = "."
	}
	dir = steps.Below(env.Dir, dir)
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return "", fmt.Errorf("root module: %w", err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return "", fmt.Errorf("root module: %w", err)
	}
	for _, e := range entries {
		if module.IsConfig(e.Name()) || e.Name() == "terragrunt.hcl" {
			return dir, nil
		}
	}
	return "", fmt.Errorf("%s holds no .tf or .tofu file: name the root module that the team's CI applies", dir)
}

// writeNew writes a file that must not exist yet, and only whole.
func writeNew(name string, content []byte, mode fs.FileMode) error {
	f, err := os.CreateTemp(filepath.Dir(name), filepath.Base(name)+".*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // it is linked by then, or of no use
	_, err = f.Write(content)
	if err = errors.Join(err, f.Chmod(mode), f.Sync(), f.Close()); err != nil {
		return err
	}
	// Unlike a rename, a link never replaces what is there already.
	if err = os.Link(f.Name(), name); err == nil || errors.Is(err, fs.ErrExist) {
		return err
	}
	// Some file systems have no links.
	if f, err = os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, mode); err != nil {
		return err
	}
	_, err = f.Write(content)
	return errors.Join(err, f.Sync(), f.Close())
}
