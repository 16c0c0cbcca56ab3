package plan

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"handrail/steps"
	"handrail/steps/terraform/backend"
	"handrail/steps/terraform/module"
	"handrail/steps/terraform/state"
	"handrail/steps/terraform/tfplan"
	"handrail/steps/terraform/tool"
)

// Facts are the facts of terraform/plan.
func Facts() []steps.Field {
	return append([]steps.Field{
		{Name: "exit", Type: steps.Int, Doc: "exit code: 0 no changes, 1 error, 2 changes; 0 is not the same as no drift"},
		{Name: "clean", Type: steps.Bool, Doc: "whether there is nothing to do"},
		{Name: "too_new", Type: steps.Strings, Doc: "addresses that a newer provider recorded than the selected one, as the failed plan names them, in order"},
		{Name: "unaccepted", Type: steps.Strings, Doc: "addresses with a change that is no creation and does not stand in the file of what is accepted"},
		{Name: "found", Type: steps.Table, Doc: "entries of the ConfigMap of config_map as the plan found them, each key to its text"},
		{Name: "wanted", Type: steps.Table, Doc: "the same as the configuration wants them"},
	}, riskFacts()...)
}

// Probe is terraform/plan.
type Probe struct{ Env steps.Env }

// Probe implements steps.Prober.
func (p Probe) Probe(ctx context.Context, in steps.Params, out steps.Sink) (steps.Observation, error) {
	if err := ctx.Err(); err != nil {
		return steps.Observation{}, err
	}
	w, err := module.Open(p.Env, in)
	if err != nil {
		return steps.Observation{}, err
	}
	if err := tool.Trusted(p.Env, w.Dir); err != nil {
		return steps.Observation{}, err
	}
	s, err := backend.Open(ctx, p.Env, w, out)
	if err != nil {
		return steps.Observation{}, err
	}
	before, err := state.Snap(ctx, s)
	if err != nil {
		return steps.Observation{}, err
	}
	if err := before.Plannable(ctx, w); err != nil {
		return steps.Observation{}, err
	}
	path, err := tool.Find(p.Env, w, nil)
	if err != nil {
		return steps.Observation{}, err
	}
	if file := in.Text("file"); file != "" {
		return p.show(ctx, w, path, file, look{configMap: in.Text("config_map")}, out)
	}
	accepted, err := acceptedIn(p.Env, in.Text("accepted"), out)
	if err != nil {
		return steps.Observation{}, err
	}
	look := look{drift: in.Bool("refresh_only"), record: in["refresh"].Known() && !in.Bool("refresh"), configMap: in.Text("config_map")}
	if look.drift && look.record {
		return steps.Observation{}, errors.New("refresh_only looks for drift, and without refresh nothing is looked at: leave one of them out")
	}
	obs, err := p.plan(ctx, w, path, look, out)
	if err != nil {
		return steps.Observation{}, err
	}
	accept(accepted, &obs)
	after, err := state.Snap(ctx, s)
	stood(before, after, err, &obs)
	return obs, nil
}

// look is what a plan looks at besides configuration and record.
type look struct {
	drift  bool // for what was changed outside, and nothing else
	record bool // at nothing: it reads no object of the state again

	configMap string // address of one whose entries are told, "" for none
}

// entries fills what the plan says of the ConfigMap that was asked for.
func (l look) entries(d *tfplan.Doc, f steps.Facts) {
	switch {
	case l.configMap == "":
		f.Unknown("no ConfigMap was asked for", "found", "wanted")
	case d.Entries == nil:
		f.Unknown("the plan does not speak of "+l.configMap, "found", "wanted")
	case d.Entries.Why != "":
		f.Unknown(d.Entries.Why, "found", "wanted")
	default:
		f.Set("found", steps.TableOf(d.Entries.Found))
		f.Set("wanted", steps.TableOf(d.Entries.Wanted))
	}
}

// planArgs are the arguments of the plan; -lock=false keeps the lock free and
// -input=false keeps it from waiting for input.
func planArgs(file string, l look) []string {
	args := []string{"plan", "-lock=false", "-input=false", "-no-color", "-detailed-exitcode", "-out=" + file}
	if l.drift {
		args = append(args, "-refresh-only")
	}
	if l.record {
		args = append(args, "-refresh=false")
	}
	return args
}

func (p Probe) plan(ctx context.Context, w module.Workdir, path string, l look, out steps.Sink) (steps.Observation, error) {
	slot, err := newPlanSlot(p.Env)
	if err != nil {
		return steps.Observation{}, err
	}
	defer func() { slot.end() }()
	for _, v := range tool.Secrets(p.Env) {
		out.Secret(v)
	}
	env := append(tool.Env(p.Env), "TF_WORKSPACE="+w.Space)
	out.Line("planning in " + w.Dir)
	gaps := []string{}
	if gap := learnSchema(ctx, w, path, env, out); gap != "" {
		gaps = append(gaps, gap)
	}
	r, err := tool.RunIn(ctx, w.Dir, env, out.Line, slot.files, append([]string{path}, planArgs(slot.path, l)...)...)
	if err == nil && slot.missed(r) {
		slot.end()
		if slot, err = namedSlot(p.Env); err != nil {
			slot.end = func() {}
			return steps.Observation{}, err
		}
		r, err = tool.RunTold(ctx, w.Dir, env, out.Line, append([]string{path}, planArgs(slot.path, l)...)...)
	}
	if err != nil {
		return steps.Observation{}, err
	}
	say := tool.Word(path) + " -chdir=" + steps.Quote(w.Dir) + " "
	obs := steps.Observation{Gaps: gaps, Command: say + strings.Join(planArgs("FILE", l), " ") + " && " + say + "show -json FILE"}
	gap := steps.Keep(out, "output", steps.MediaText, func(w io.Writer) error {
		_, err := w.Write(append(slices.Clone(r.Stdout), r.Stderr...))
		return err
	})
	if gap != "" {
		obs.Gaps = append(obs.Gaps, gap)
	}
	f := steps.NewFacts(Facts())
	f.Set("exit", steps.IntOf(int64(r.Exit)))
	if r.Exit != 0 && r.Exit != 2 {
		why := tool.FirstErrorOf(p.Env, r.Stderr)
		obs.Summary = fmt.Sprintf("The plan failed (exit %d).", r.Exit)
		obs.Findings = append(obs.Findings, steps.Finding{Level: steps.Critical, Say: "The plan failed: " + why})
		if newer := newerIn(r.Stderr); len(newer) > 0 {
			f.Set("too_new", steps.StringsOf(newer))
		}
		obs.Facts = f.Rest("the plan failed")
		return obs, nil
	}
	f.Set("too_new", steps.StringsOf(nil))
	if !l.record {
		f.Set("clean", steps.BoolOf(r.Exit == 0))
	}
	shown, err := tool.RunIn(ctx, w.Dir, env, nil, slot.files, path, "show", "-json", "-no-color", slot.path)
	if err == nil && shown.Exit != 0 {
		err = errors.New(tool.FirstError(shown.Stderr))
	}
	if err != nil {
		return steps.Observation{}, fmt.Errorf("showing the plan: %w", err)
	}
	if err := readPlan(shown.Stdout, l, f, &obs, out); err != nil {
		return steps.Observation{}, err
	}
	if l.record {
		const why = "planned by the record alone: no object was read again"
		obs.Summary += " By the record alone."
		f.Unknown(why, "exit", "clean", "drift", "ghosts")
	}
	if r.Exit == 0 && !l.drift && !l.record {
		obs.Findings = append(obs.Findings, steps.Finding{Level: steps.Info,
			Say: "Exit 0 says that the configuration asks for nothing. It does not say that nothing drifted: ignore_changes and computed attributes hide that from it. What was changed outside is in the fact drift."})
	}
	obs.Facts = f.Rest("not in the plan")
	return obs, nil
}

// show opens a plan that was made before, with its values: no plan is made, and no
// object is read again.
func (p Probe) show(ctx context.Context, w module.Workdir, path, file string, l look, out steps.Sink) (steps.Observation, error) {
	file = steps.Below(p.Env.Dir, file)
	plan, err := steps.OpenRegular(file)
	if err != nil {
		return steps.Observation{}, err
	}
	defer plan.Close()
	for _, v := range tool.Secrets(p.Env) {
		out.Secret(v)
	}
	out.Line("opening " + file)
	obs := steps.Observation{Command: "tofu -chdir=" + steps.Quote(w.Dir) + " show -json " + steps.Quote(file)}
	raw, err := io.ReadAll(module.Until(ctx, io.LimitReader(plan, backend.MaxHeld+1)))
	if err == nil && len(raw) > backend.MaxHeld {
		err = fmt.Errorf("it is over %d MB", backend.MaxHeld>>20)
	}
	if err == nil && !bytes.HasPrefix(bytes.TrimSpace(raw), []byte("{")) {
		var shown tool.Result
		if shown, err = tool.RunTold(ctx, w.Dir, append(tool.Env(p.Env), "TF_WORKSPACE="+w.Space), nil, path, "show", "-json", "-no-color", file); err == nil && shown.Exit != 0 {
			err = errors.New(tool.FirstError(shown.Stderr))
		}
		raw = shown.Stdout
	}
	if err != nil {
		return steps.Observation{}, fmt.Errorf("showing the plan %s: %w", file, err)
	}
	f := steps.NewFacts(Facts())
	if err := readPlan(raw, l, f, &obs, out); err != nil {
		return steps.Observation{}, err
	}
	f.Unknown("an earlier plan was opened, and none was made", "exit", "clean", "too_new")
	obs.Facts = f.Rest("not in the plan")
	return obs, nil
}

// reNewer is the refusal of a recorded object whose schema version is above that of the
// selected provider, with its white space collapsed (opentofu, internal/tofu/upgrade_resource_state.go).
var reNewer = regexp.MustCompile(`The current state of (.+?) was created by a newer provider version than is currently selected`)

// newerIn lists the addresses that the selected provider is too old to read.
func newerIn(stderr []byte) []string {
	var out []string
	for _, m := range reNewer.FindAllStringSubmatch(tool.Unwrapped(stderr), -1) {
		// Another sentence may begin alike, and have no such end.
		at := m[1]
		if i := strings.LastIndex(at, "The current state of "); i >= 0 {
			at = at[i+len("The current state of "):]
		}
		out = append(out, at)
	}
	slices.Sort(out)
	return slices.Compact(out)
}
