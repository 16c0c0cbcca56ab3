package plan

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"handrail/steps"
	"handrail/steps/terraform/backend"
	"handrail/steps/terraform/module"
	"handrail/steps/terraform/state"
	"handrail/steps/terraform/tfplan"
	"handrail/steps/terraform/tool"
)

// SavedProbe makes a plan that a gate can apply.
type SavedProbe struct{ Env steps.Env }

// planRun is one plan in the making.
type planRun struct {
	env     steps.Env
	w       module.Workdir
	s       backend.Store
	program tool.Program
	environ []string
	file    string
	refresh bool

	configMap string // address of one whose entries are told, "" for none
	targets   []string
	like      *tfplan.Saved // whose fixed values are taken over, nil for none
	anew      bool          // its replacements too
	unlike    string        // why like cannot be read
	vars      string        // a file of values that win over those of like
	facts     steps.Facts
	obs       steps.Observation
	out       steps.Sink
}

// Probe implements steps.Prober.
func (p SavedProbe) Probe(ctx context.Context, in steps.Params, out steps.Sink) (steps.Observation, error) {
	w, s, err := openForRun(ctx, p.Env, in, out)
	if err != nil {
		return steps.Observation{}, err
	}
	if p.Env.Private == "" {
		return steps.Observation{}, errors.New("there is no place of handrail's own to keep a plan, which holds secrets: only an incident has one")
	}
	targets := in["targets"].Strings()
	for _, t := range targets {
		if !targetable(t) {
			return steps.Observation{}, fmt.Errorf("target %q is not the address of a resource or a module", steps.Clip(t, 200))
		}
	}
	before, recorded, err := state.SnapWith(ctx, s)
	if err == nil {
		err = before.Plannable(ctx, w)
	}
	if err != nil {
		return steps.Observation{}, err
	}
	m := &planRun{env: p.Env, w: w, s: s, targets: targets, out: out, vars: absolute(p.Env, in.Text("var_file")), anew: !in["replaces"].Known() || in.Bool("replaces"), refresh: in.Text("mode") == "refresh-only", configMap: in.Text("config_map"), facts: steps.NewFacts(SavedFacts())}
	if m.program, err = tool.For(ctx, p.Env, w, recorded.Providers); err != nil {
		return steps.Observation{}, err
	}
	for _, why := range m.program.Mixed(w, recorded.Providers, recorded.Tool) {
		m.obs.Say(steps.Warning, "%s", why)
	}
	m.around()
	if name := absolute(p.Env, in.Text("values_of")); name != "" {
		like, file, err := Approved(ctx, name)
		if err == nil {
			defer file.Close()
			err = m.takeOver(like)
		}
		if err != nil {
			m.unlike = err.Error()
			m.obs.Say(steps.Critical, "What the plan that was approved fixes cannot be read, so this one is made from the present files and environment alone: %v.", err)
		}
	}
	if err := m.place(); err != nil {
		return steps.Observation{}, err
	}
	obs, err := m.plan(ctx)
	if err != nil || !obs.Facts["digest"].Known() {
		err = errors.Join(err, os.RemoveAll(filepath.Dir(m.file)))
	}
	if err != nil {
		return steps.Observation{}, err
	}
	after, err := state.Snap(ctx, s)
	stood(before, after, err, &obs)
	return obs, nil
}

// openForRun opens a trusted root module that a program is to run in.
func openForRun(ctx context.Context, env steps.Env, in steps.Params, out steps.Sink) (module.Workdir, backend.Store, error) {
	if err := ctx.Err(); err != nil {
		return module.Workdir{}, nil, err
	}
	w, err := module.Open(env, in)
	if err != nil {
		return w, nil, err
	}
	if why := module.Unplanned(w); why != "" {
		return w, nil, errors.New(why)
	}
	if err := tool.Trusted(env, w.Dir); err != nil {
		return w, nil, err
	}
	s, err := backend.Open(ctx, env, w, out)
	return w, s, err
}

// targetable keeps what is no address from an argv, whatever a runbook says.
func targetable(address string) bool {
	if strings.ContainsAny(address, "\n\r\x00") || len(address) > 1000 {
		return false
	}
	_, ok := tfplan.ParseAddress(address)
	return ok || strings.HasPrefix(address, "module.")
}

// absolute is a path as a parameter names it, "" for none.
func absolute(env steps.Env, name string) string {
	if name == "" || filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(env.Dir, name)
}

// takeOver makes the plan with what another one fixes.
func (m *planRun) takeOver(like *tfplan.Saved) error {
	switch mode := map[bool]string{false: "normal", true: "refresh-only"}[m.refresh]; {
	case like.Mode != mode:
		return fmt.Errorf("it has the mode %s, and this one is to be %s", like.Mode, mode)
	case like.Workspace != "" && like.Workspace != m.w.Space:
		return fmt.Errorf("it is for the workspace %s, and this one for %s", like.Workspace, m.w.Space)
	}
	for _, address := range slices.Concat(like.Targets, like.Replaces) {
		if !targetable(address) {
			return fmt.Errorf("its target %q is not the address of a resource or a module", steps.Clip(address, 200))
		}
	}
	if len(m.targets) == 0 {
		m.targets = like.Targets
	}
	m.like = like
	if !m.anew {
		rest := *like
		rest.Replaces = nil
		m.like = &rest
	}
	return nil
}

// around says what stands around the plan and is no part of it.
func (m *planRun) around() {
	for _, w := range module.Wrappers(m.w.Dir) {
		m.obs.Say(steps.Info, "%s", w.Say())
	}
	for _, why := range module.Dropped(m.env) {
		m.obs.Say(steps.Warning, "%s", why)
	}
	if who := module.PausedByOthers(m.env, m.w.Dir); who != "" {
		m.obs.Say(steps.Warning, "Applies here are paused by %s. A plan is harmless, but no gate of handrail applies it during that pause.", who)
	}
}

func (m *planRun) args(file string) []string {
	args := planArgs(file, look{drift: m.refresh})
	for _, t := range m.targets {
		args = append(args, "-target="+t)
	}
	if m.like != nil {
		for _, address := range m.like.Replaces {
			args = append(args, "-replace="+address)
		}
	}
	return args
}

// withValues adds the files of values, the last of which wins.
func (m *planRun) withValues(args []string, values string) []string {
	for _, name := range []string{values, m.vars} {
		if name != "" {
			args = append(args, "-var-file="+name)
		}
	}
	return args
}

// run starts the program. The values of another plan, which may be secret, are
// handed on in a file without a name where the system has such files.
func (m *planRun) run(ctx context.Context) (tool.Result, error) {
	argv := append([]string{m.program.Path}, m.args(m.file)...)
	if m.like == nil {
		return tool.RunTold(ctx, m.w.Dir, m.environ, m.out.Line, m.withValues(argv, "")...)
	}
	text, unsaid := varFile(m.like)
	for _, name := range unsaid {
		m.obs.Say(steps.Warning, "Not taken over from the plan that was approved: %s.", name)
	}
	slot, err := newPlanSlot(m.env)
	if err != nil {
		return tool.Result{}, err
	}
	defer func() { slot.end() }()
	if err := slot.fill(text); err != nil {
		return tool.Result{}, err
	}
	r, err := tool.RunIn(ctx, m.w.Dir, m.environ, m.out.Line, slot.files, m.withValues(argv, slot.path)...)
	if err != nil || !slot.missed(r) {
		return r, err
	}
	slot.end()
	if slot, err = namedSlot(m.env); err != nil {
		slot.end = func() {}
		return tool.Result{}, err
	}
	if err := slot.fill(text); err != nil {
		return tool.Result{}, err
	}
	return tool.RunTold(ctx, m.w.Dir, m.environ, m.out.Line, m.withValues(argv, slot.path)...)
}

func (m *planRun) plan(ctx context.Context) (steps.Observation, error) {
	for _, v := range tool.Secrets(m.env) {
		m.out.Secret(v)
	}
	m.environ = append(tool.Env(m.env), "TF_WORKSPACE="+m.w.Space)
	m.out.Line("planning in " + m.w.Dir + " with " + m.program.String())
	if gap := learnSchema(ctx, m.w, m.program.Path, m.environ, m.out); gap != "" {
		m.obs.Gaps = append(m.obs.Gaps, gap)
	}
	if m.like != nil {
		// Before the program can print a value, the sink knows which are secret.
		FixedChanges(m.like, m.like, m.out.Secret)
	}
	r, err := m.run(ctx)
	if err != nil {
		return steps.Observation{}, err
	}
	var typed []string
	values := ""
	if m.like != nil {
		values = "VALUES-OF-THE-APPROVED-PLAN"
	}
	for _, a := range m.withValues(m.args("FILE"), values) {
		typed = append(typed, steps.Quote(a))
	}
	m.obs.Command = m.program.Short() + " -chdir=" + steps.Quote(m.w.Dir) + " " + strings.Join(typed, " ")
	gap := steps.Keep(m.out, "output", steps.MediaText, func(w io.Writer) error {
		_, err := w.Write(append(slices.Clone(r.Stdout), r.Stderr...))
		return err
	})
	if gap != "" {
		m.obs.Gaps = append(m.obs.Gaps, gap)
	}
	if r.Exit != 0 && r.Exit != 2 {
		m.obs.Summary = fmt.Sprintf("The plan failed (exit %d).", r.Exit)
		m.obs.Say(steps.Critical, "The plan failed, and nothing is kept that could be applied: %s", tool.FirstErrorOf(m.env, r.Stderr))
		m.obs.Facts = m.facts.Rest("the plan failed")
		return m.obs, nil
	}
	return m.obs, m.read(ctx, r.Exit == 0)
}

// stood holds lock and state after a plan against those before it.
func stood(before, after state.Snapshot, err error, obs *steps.Observation) {
	switch {
	case err != nil:
		obs.Gaps = append(obs.Gaps, "whether the plan left the state alone: "+err.Error())
	case after.Serial != before.Serial || after.Lineage != before.Lineage || after.Exists != before.Exists:
		obs.Findings = append(obs.Findings, steps.Finding{Level: steps.Critical,
			Say: fmt.Sprintf("The state moved from serial %d to %d while the plan ran: another run writes it. This plan is stale.", before.Serial, after.Serial)})
	case after.Held && after.LockID != before.LockID:
		obs.Findings = append(obs.Findings, steps.Finding{Level: steps.Critical,
			Say: fmt.Sprintf("The lock %s was taken while the plan ran. handrail plans without a lock: another run began.", after.LockID)})
	}
}
