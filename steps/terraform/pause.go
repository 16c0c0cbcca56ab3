package terraform

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"handrail/steps"
)

// The keys of the target of a pause.
const (
	keyMarker = "marker"
	keyThere  = "marker now"
	keyReason = "reason"
)

// pauseGate puts the marker into a root module. It never replaces one.
type pauseGate struct{ env steps.Env }

// Preview implements steps.Gater.
func (g pauseGate) Preview(ctx context.Context, in steps.Params, _ steps.Sink) (steps.Preview, error) {
	if err := ctx.Err(); err != nil {
		return steps.Preview{}, err
	}
	dir, err := unit(g.env, in)
	if err != nil {
		return steps.Preview{}, err
	}
	now := readPause(dir)
	p := steps.Preview{
		Target: []steps.KV{
			{Key: keyDir, Value: dir},
			{Key: keyMarker, Value: now.file},
			{Key: keyThere, Value: now.identity()},
			{Key: keyReason, Value: in.Text("reason")},
		},
		Shown: []steps.KV{
			{Key: "who", Value: g.who()},
			{Key: "until", Value: fmt.Sprintf("%s after the act; it stands until it is taken away", pauseFor)},
			{Key: "reach", Value: "whoever applies from this directory; a CI sees it only where the file reaches its checkout (commit and push it) and its job looks for it"},
			{Key: "goes on", Value: "plans, runs that began already, and everybody who does not look for the marker"},
		},
		Effect:  fmt.Sprintf("ask all who honour the marker to apply nothing in %s. It locks nothing: a job that does not look for it applies as before.", dir),
		Request: fmt.Sprintf("create %s with who, when, why, incident and until (incident %s)", now.file, orUnknown(g.env.Incident)),
		Command: fmt.Sprintf("cat > %s # {\"who\": …, \"when\": …, \"why\": …, \"incident\": …, \"until\": …}", steps.Quote(now.file)),
		Phrase:  steps.Phrase("pause", filepath.Base(dir)),
		Undo:    "Take the marker away again: the gate terraform/resume, or rm " + steps.Quote(now.file),
		Owes:    []steps.Debt{{Kind: "resume", Text: "applies of " + dir + " are paused by " + now.file, Due: pauseFor}},
	}
	switch {
	case now.by(g.env):
		p.Unmet = append(p.Unmet, steps.Need{Why: "This incident paused it already: " + now.whose() + ".", Cure: "nothing is to be done; to renew the pause, resume and pause again"})
	case now.stands:
		p.Unmet = append(p.Unmet, steps.Need{Why: "It is paused already, by " + now.whose() + ".", Cure: "leave that marker where it is, and tell them that you rely on it: one pause is enough, and theirs is not yours to replace"})
	}
	return p, nil
}

func (g pauseGate) who() string { return g.env.User + "@" + g.env.Host }

// Act implements steps.Gater.
func (g pauseGate) Act(ctx context.Context, a *steps.Approval, out steps.Sink) (steps.Outcome, error) {
	p, err := a.Spend()
	if err != nil {
		return steps.Outcome{}, err
	}
	dir := steps.Find(p.Target, keyDir)
	if err := ctx.Err(); err != nil {
		return steps.Outcome{Result: steps.Refused, Response: "nothing was written: " + err.Error()}, nil
	}
	at := g.env.Now().UTC()
	raw, err := pauseMark{Who: g.who(), When: at, Why: steps.Find(p.Target, keyReason), Incident: g.env.Incident, Until: at.Add(pauseFor)}.encode()
	if err != nil {
		return steps.Outcome{Result: steps.Refused, Response: "nothing was written: " + err.Error()}, nil
	}
	name := filepath.Join(dir, pauseFile)
	out.Line("writing " + name)
	// For the CI of the team to read, whoever it runs as.
	wrote := writeNew(name, raw, 0o644)
	now := readPause(dir)
	o := steps.Outcome{Result: steps.Done, Response: "paused: " + now.whose(), After: g.after(dir, now)}
	switch {
	case errors.Is(wrote, fs.ErrExist):
		o.Result, o.Response = steps.Refused, "nothing was written, somebody was first: it is paused by "+now.whose()
	case wrote != nil:
		o.Result, o.Response = steps.Failed, "nothing is paused, the marker could not be written: "+wrote.Error()
	case !now.by(g.env) || now.mark.Why != clip(steps.Find(p.Target, keyReason), 1000):
		o.Result, o.Response = steps.Failed, "the marker was written, and something else stands there now: "+now.whose()
	}
	return o, nil
}

func (g pauseGate) after(dir string, now pause) []steps.KV {
	return []steps.KV{{Key: keyDir, Value: dir}, {Key: keyMarker, Value: now.file}, {Key: keyThere, Value: now.identity()}, {Key: "paused by", Value: now.whose()}}
}

// Find implements steps.Finder.
func (g pauseGate) Find(ctx context.Context, before []steps.KV, _ steps.Params, _ steps.Sink) (steps.Outcome, error) {
	dir := steps.Find(before, keyDir)
	if err := ctx.Err(); err != nil {
		return steps.Outcome{}, err
	}
	now := readPause(dir)
	o := steps.Outcome{After: g.after(dir, now)}
	switch {
	case now.by(g.env):
		o.Result, o.Response = steps.Done, "The marker is there: "+now.whose()+"."
	case now.stands:
		o.Result, o.Response = steps.Failed, "Another marker is there: "+now.whose()+"."
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
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(env.Dir, dir)
	}
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return "", fmt.Errorf("root module: %w", err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return "", fmt.Errorf("root module: %w", err)
	}
	for _, e := range entries {
		if isConfig(e.Name()) || e.Name() == "terragrunt.hcl" {
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
	defer os.Remove(f.Name()) //nolint:errcheck // it is linked by then, or of no use
	_, err = f.Write(content)
	if err = errors.Join(err, f.Chmod(mode), f.Sync(), f.Close()); err != nil {
		return err
	}
	// Unlike a rename, a link never replaces what somebody else put there.
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
