package terraform

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"handrail/steps"
)

func planFacts() []steps.Field {
	return []steps.Field{
		{Name: "exit", Type: steps.Int, Doc: "exit code: 0 no changes, 1 error, 2 changes"},
		{Name: "add", Type: steps.Int, Doc: "objects to create, replacements counted"},
		{Name: "change", Type: steps.Int, Doc: "objects to change in place"},
		{Name: "destroy", Type: steps.Int, Doc: "objects to destroy, replacements counted"},
		{Name: "replace", Type: steps.Int, Doc: "objects to replace"},
		{Name: "clean", Type: steps.Bool, Doc: "whether there is nothing to do"},
		{Name: "changed", Type: steps.Strings, Doc: "addresses with a change, in order"},
	}
}

// errNoState is why no program starts: the backend would create the state.
var errNoState = errors.New("no state here, opening it would create one")

type planProbe struct{ env steps.Env }

// snapshot is what must not move while a plan runs.
type snapshot struct {
	exists  bool
	serial  int64
	lineage string
	lockID  string
	held    bool
}

// Probe implements steps.Prober.
func (p planProbe) Probe(ctx context.Context, in steps.Params, out steps.Sink) (steps.Observation, error) {
	if err := ctx.Err(); err != nil {
		return steps.Observation{}, err
	}
	w, err := openWorkdir(p.env, in)
	if err != nil {
		return steps.Observation{}, err
	}
	if err := trusted(p.env, w.dir); err != nil {
		return steps.Observation{}, err
	}
	s, err := openStore(p.env, w, out)
	if err != nil {
		return steps.Observation{}, err
	}
	before, err := snap(ctx, s)
	if err != nil {
		return steps.Observation{}, err
	}
	if !before.exists {
		return steps.Observation{}, errNoState
	}
	tool, err := findTool(p.env)
	if err != nil {
		return steps.Observation{}, err
	}
	obs, err := p.plan(ctx, w, tool, in.Bool("refresh_only"), out)
	if err != nil {
		return steps.Observation{}, err
	}
	after, err := snap(ctx, s)
	switch {
	case err != nil:
		obs.Gaps = append(obs.Gaps, "whether the plan left the state alone: "+err.Error())
	case after.serial != before.serial || after.lineage != before.lineage || !after.exists:
		obs.Findings = append(obs.Findings, steps.Finding{Level: steps.Critical,
			Say: fmt.Sprintf("The state moved from serial %d to %d while the plan ran: somebody else writes it. This plan is stale.", before.serial, after.serial)})
	case after.held && after.lockID != before.lockID:
		obs.Findings = append(obs.Findings, steps.Finding{Level: steps.Critical,
			Say: fmt.Sprintf("The lock %s was taken while the plan ran. handrail plans without a lock: somebody else began a run.", after.lockID)})
	}
	return obs, nil
}

func trusted(env steps.Env, dir string) error {
	if env.Trusted == nil {
		return fmt.Errorf("directory %s is not trusted: programs run in trusted directories only", dir)
	}
	if err := env.Trusted(dir); err != nil {
		return fmt.Errorf("directory %s is not trusted: %w", dir, err)
	}
	return nil
}

// findTool returns the absolute path of tofu, or of what stands for it.
func findTool(env steps.Env) (string, error) {
	if env.Tool == nil {
		return "", errors.New("no tofu: nothing says where to look for it")
	}
	tool, err := env.Tool("tofu")
	if err != nil {
		return "", err
	}
	if !filepath.IsAbs(tool) {
		tool = filepath.Join(env.Dir, tool)
	}
	return tool, nil
}

// snap reads lock and state natively.
func snap(ctx context.Context, s store) (snapshot, error) {
	l, err := s.lock(ctx)
	if err != nil {
		return snapshot{}, err
	}
	r, err := s.state(ctx)
	if err != nil {
		return snapshot{}, err
	}
	out := snapshot{exists: r.exists, held: l.held, lockID: l.id}
	if !r.exists {
		return out, nil
	}
	if r.broken != "" {
		return snapshot{}, fmt.Errorf("state at %s: %s", r.where, r.broken)
	}
	defer r.body.Close()
	st, err := parseState(bounded(ctx, r.body), func(string) {})
	if err != nil {
		return snapshot{}, fmt.Errorf("state at %s: %w", r.where, err)
	}
	if !st.hasSerial {
		why := "it has no serial"
		if len(st.broken) > 0 {
			why = st.broken[0]
		}
		return snapshot{}, fmt.Errorf("state at %s cannot be told apart from another: %s", r.where, why)
	}
	out.serial, out.lineage = st.serial, st.lineage
	return out, nil
}

// planArgs are the arguments of the plan; -lock=false keeps the lock free and
// -input=false keeps it from waiting for anybody.
func planArgs(file string, refreshOnly bool) []string {
	args := []string{"plan", "-lock=false", "-input=false", "-no-color", "-detailed-exitcode", "-out=" + file}
	if refreshOnly {
		args = append(args, "-refresh-only")
	}
	return args
}

func (p planProbe) plan(ctx context.Context, w workdir, tool string, refreshOnly bool, out steps.Sink) (steps.Observation, error) {
	// A saved plan holds secrets: its directory is private and goes away.
	tmp, err := os.MkdirTemp("", "handrail-plan-")
	if err != nil {
		return steps.Observation{}, fmt.Errorf("place for the plan: %w", err)
	}
	defer os.RemoveAll(tmp)
	file := filepath.Join(tmp, "plan")
	for _, v := range childSecrets(p.env) {
		out.Secret(v)
	}
	env := append(childEnv(p.env), "TF_WORKSPACE="+w.space)
	out.Line("planning in " + w.dir)
	args := planArgs(file, refreshOnly)
	r, err := run(ctx, w.dir, env, append([]string{tool}, args...)...)
	if err != nil {
		return steps.Observation{}, err
	}
	obs := steps.Observation{Command: "tofu -chdir=" + steps.Quote(w.dir) + " " + strings.Join(planArgs("FILE", refreshOnly), " ") + " && tofu show -json FILE"}
	gap := steps.Keep(out, "output", steps.MediaText, func(w io.Writer) error {
		_, err := w.Write(append(slices.Clone(r.stdout), r.stderr...))
		return err
	})
	if gap != "" {
		obs.Gaps = append(obs.Gaps, gap)
	}
	f := steps.NewFacts(planFacts())
	f.Set("exit", steps.IntOf(int64(r.exit)))
	if r.exit != 0 && r.exit != 2 {
		why := firstError(r.stderr)
		obs.Summary = fmt.Sprintf("The plan failed (exit %d).", r.exit)
		obs.Findings = append(obs.Findings, steps.Finding{Level: steps.Critical, Say: "The plan failed: " + why})
		obs.Facts = f.Rest("the plan failed")
		return obs, nil
	}
	f.Set("clean", steps.BoolOf(r.exit == 0))
	shown, err := run(ctx, w.dir, env, tool, "show", "-json", "-no-color", file)
	if err == nil && shown.exit != 0 {
		err = errors.New(firstError(shown.stderr))
	}
	if err != nil {
		return steps.Observation{}, fmt.Errorf("showing the plan: %w", err)
	}
	if err := readPlan(shown.stdout, refreshOnly, f, &obs, out); err != nil {
		return steps.Observation{}, err
	}
	obs.Facts = f.Rest("not in the plan")
	return obs, nil
}

// planDoc is the part of `show -json` that is counted.
type planDoc struct {
	ResourceChanges []planChange `json:"resource_changes"`
	ResourceDrift   []planChange `json:"resource_drift"`
}

type planChange struct {
	Address string `json:"address"`
	Change  struct {
		Actions []string `json:"actions"`
	} `json:"change"`
}

func readPlan(raw []byte, refreshOnly bool, f steps.Facts, obs *steps.Observation, out steps.Sink) error {
	// A warning about the CLI configuration may stand before the document.
	raw = raw[max(0, bytes.IndexByte(raw, '{')):]
	var doc planDoc
	if err := json.Unmarshal(raw, &doc); err != nil {
		return fmt.Errorf("the plan as JSON: %w", err)
	}
	if gap := steps.Keep(out, "plan", steps.MediaPlan, func(w io.Writer) error { _, err := w.Write(raw); return err }); gap != "" {
		obs.Gaps = append(obs.Gaps, gap)
	}
	changes := doc.ResourceChanges
	if refreshOnly {
		changes = doc.ResourceDrift
	}
	var add, change, destroy, replace int64
	var changed []string
	for _, c := range changes {
		creates, deletes := slices.Contains(c.Change.Actions, "create"), slices.Contains(c.Change.Actions, "delete")
		switch {
		case creates && deletes:
			add, destroy, replace = add+1, destroy+1, replace+1
		case creates:
			add++
		case deletes:
			destroy++
		case slices.Contains(c.Change.Actions, "update"):
			change++
		case slices.Contains(c.Change.Actions, "forget"):
		default:
			continue
		}
		changed = append(changed, c.Address)
	}
	slices.Sort(changed)
	f.Set("add", steps.IntOf(add))
	f.Set("change", steps.IntOf(change))
	f.Set("destroy", steps.IntOf(destroy))
	f.Set("replace", steps.IntOf(replace))
	f.Set("changed", steps.StringsOf(changed))
	obs.Summary = fmt.Sprintf("Plan: %d to add, %d to change, %d to destroy.", add, change, destroy)
	if destroy > 0 {
		obs.Findings = append(obs.Findings, steps.Finding{Level: steps.Warning, Say: fmt.Sprintf("The plan destroys %d objects.", destroy)})
	}
	if f.Got("clean").Bool() {
		obs.Summary = "The plan is clean."
	}
	return nil
}

// firstError returns the first error of a diagnostic output on one line.
func firstError(b []byte) string {
	text := strings.Join(strings.Fields(strings.NewReplacer("│", " ", "╷", " ", "╵", " ").Replace(string(b))), " ")
	if i := strings.Index(text, "Error:"); i > 0 {
		text = text[i:]
	}
	if text == "" {
		return "it gave no reason"
	}
	return clip(text, 600)
}
