package change

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"

	"handrail/steps"
	"handrail/steps/terraform/backend"
	"handrail/steps/terraform/holder"
	"handrail/steps/terraform/module"
	"handrail/steps/terraform/plan"
	"handrail/steps/terraform/prose"
	"handrail/steps/terraform/state"
	"handrail/steps/terraform/tfplan"
	"handrail/steps/terraform/tfstate"
	"handrail/steps/terraform/tool"
)

// planMode is what a saved plan must have been made with.
type planMode int

const (
	Whole planMode = iota
	RefreshOnly
	Targeted
)

// The keys of the target of an apply, beside those of an unlock.
const (
	keyPlan        = "plan"
	keyPlanSum     = "plan SHA-256"
	keyStateObject = "state object"
	keyAddresses   = "may act on"
	keyParallelism = "parallelism"
	keyActs        = "actions"
)

// maxPrior bounds the copy of the state that is kept before an apply.
const maxPrior = 256 << 20

// ApplyGate applies exactly one saved plan.
type ApplyGate struct {
	Env  steps.Env
	Mode planMode
}

// applyInput is everything that a preview of an apply reads.
type applyInput struct {
	w         module.Workdir
	s         backend.Store
	name      string // of the plan file, absolute
	sum       string
	saved     *tfplan.Saved
	planErr   error
	lock      backend.Lock
	server    string
	uid       string
	state     state.Snapshot
	doc       *tfstate.Doc
	lost      string // what speaks for it that an empty state once recorded something
	where     string // of the state
	raw       []byte // the state as it stands, nil where there is none
	program   tool.Program
	toolErr   error
	bound     steps.Facts
	obs       steps.Observation
	pause     module.Pause
	scan      holder.Scan // of this machine
	addresses []string
	parallel  int64
	values    string     // of another saved plan, "" for none
	changes   []steps.KV // of what that one fixes
	fixed     []steps.KV // what this one fixes
	valuesErr error
}

// read reads the target natively. Of the program it asks the version alone.
func (g ApplyGate) read(ctx context.Context, in steps.Params, out steps.Sink) (*applyInput, error) {
	t := &applyInput{addresses: in["addresses"].Strings(), parallel: in.Int("parallelism"), bound: steps.NewFacts(plan.FileFacts())}
	if t.values = in.Text("values_of"); t.values != "" && !filepath.IsAbs(t.values) {
		t.values = filepath.Join(g.Env.Dir, t.values)
	}
	var err error
	if t.w, t.s, err = backend.OpenAt(ctx, g.Env, in, out); err != nil {
		return nil, err
	}
	if t.name = in.Text("plan"); !filepath.IsAbs(t.name) {
		t.name = filepath.Join(g.Env.Dir, t.name)
	}
	if t.lock, err = t.s.Lock(ctx); err != nil {
		return nil, err
	}
	if t.server, t.uid, err = t.s.Cluster(ctx); err != nil {
		return nil, err
	}
	if t.state, t.doc, err = state.SnapWith(ctx, t.s); err != nil {
		return nil, fmt.Errorf("the state cannot be read, so no plan can be held against it: %w", err)
	}
	if t.state.Empty {
		t.lost = state.Earlier(ctx, t.w)
	}
	if err := t.prior(ctx); err != nil {
		return nil, err
	}
	t.pause = module.ReadPause(t.w.Dir)
	var scanErr error
	if t.scan, scanErr = holder.Look(g.Env, t.w, holder.Suspect{}); scanErr != nil {
		t.obs.Gaps = append(t.obs.Gaps, "whether something runs in the directory on this machine: "+scanErr.Error())
	} else if t.scan.Blind != "" {
		t.obs.Gaps = append(t.obs.Gaps, "whether something runs in the directory on this machine: "+t.scan.Blind)
	}
	t.program, t.toolErr = tool.For(ctx, g.Env, t.w, t.doc.Providers)
	file, sum, saved, err := plan.OpenSaved(ctx, t.name)
	if t.sum, t.saved, t.planErr = sum, saved, err; err != nil {
		return t, ctx.Err()
	}
	defer file.Close()
	t.fixed = plan.Fixed(saved, out.Secret)
	t.against(ctx, out)
	bindIn := steps.Params{"dir": steps.PathOf(t.w.Dir), "workspace": in["workspace"]}
	if t.toolErr == nil {
		bindIn["tool_version"] = steps.StringOf(t.program.Version)
	}
	if err := plan.Bind(ctx, g.Env, bindIn, saved, t.bound, &t.obs, out); err != nil {
		return nil, err
	}
	return t, ctx.Err()
}

// against holds what the plan fixes against another plan.
func (t *applyInput) against(ctx context.Context, out steps.Sink) {
	if t.values == "" {
		return
	}
	was, file, err := plan.Approved(ctx, t.values)
	if t.valuesErr = err; err != nil {
		return
	}
	defer file.Close()
	t.changes = plan.FixedChanges(was, t.saved, out.Secret)
}

// prior takes a copy of the state as it stands.
func (t *applyInput) prior(ctx context.Context) error {
	r, err := t.s.State(ctx)
	if err != nil {
		return err
	}
	if t.where = r.Where; !r.Exists || t.state.Empty {
		return nil
	}
	defer r.Body.Close()
	if t.raw, err = io.ReadAll(io.LimitReader(module.Until(ctx, r.Body), maxPrior+1)); err != nil {
		return fmt.Errorf("copy of the state: %w", err)
	}
	if len(t.raw) > maxPrior {
		return fmt.Errorf("the state is over %d bytes: no copy of it can be kept before the act", maxPrior)
	}
	return nil
}

func (t *applyInput) target(mode planMode) []steps.KV {
	serial, lineage, acts := absent, absent, "unknown"
	if t.state.Exists {
		serial, lineage = strconv.FormatInt(t.state.Serial, 10), t.state.Lineage
	}
	if t.saved != nil {
		acts = t.saved.Doc.ActionsDigest()
	}
	lock := lockWord(t.lock)
	if t.lock.Held {
		lock = "held as " + prose.OrUnknown(t.lock.ID)
	}
	by := "unknown"
	if t.toolErr == nil {
		by = t.program.String()
	}
	kvs := []steps.KV{
		{Key: keyPlan, Value: t.name},
		{Key: keyPlanSum, Value: prose.OrUnknown(t.sum)},
		{Key: keyActs, Value: acts},
	}
	kvs = append(kvs, place(t.s, t.server, t.uid)...)
	kvs = append(kvs, []steps.KV{
		{Key: keyStateObject, Value: t.where},
		{Key: keyBytes, Value: bytesOf(t.raw)},
		{Key: keyLock, Value: t.lock.Where},
		{Key: "lock", Value: lock},
		{Key: module.KeyWorkspace, Value: t.w.Space},
		{Key: keySerial, Value: serial},
		{Key: keyLineage, Value: lineage},
		{Key: module.KeyDir, Value: t.w.Dir},
		{Key: keyTool, Value: by},
	}...)
	if mode != RefreshOnly && t.parallel > 0 {
		kvs = append(kvs, steps.KV{Key: keyParallelism, Value: strconv.FormatInt(t.parallel, 10)})
	}
	if mode == Targeted {
		kvs = append(kvs, steps.KV{Key: keyAddresses, Value: list(t.addresses)})
	}
	return append(kvs, ran(t.lock)...)
}

// lockWord is a lock that is not held, as far as that is known.
func lockWord(l backend.Lock) string {
	if l.Unread != "" {
		return "not read"
	}
	return "free"
}

// list is a list of addresses as a target shows it: keys may hold commas.
func list(addresses []string) string {
	b, err := json.Marshal(addresses)
	if err != nil {
		return ""
	}
	return string(b)
}

// params are what the act reads the same target with.
func (t *applyInput) params() steps.Params {
	in := steps.Params{
		"dir": steps.PathOf(t.w.Dir), "workspace": steps.StringOf(t.w.Space),
		"plan": steps.PathOf(t.name), "digest": steps.IdentOf(t.sum), "addresses": steps.StringsOf(t.addresses),
	}
	if t.parallel > 0 {
		in["parallelism"] = steps.IntOf(t.parallel)
	}
	return in
}

// args are the arguments of the apply of a plan file.
func (t *applyInput) args(file string) []string {
	args := []string{"apply", "-input=false", "-no-color", "-json", "-lock=true"}
	if t.parallel > 0 {
		args = append(args, "-parallelism="+strconv.FormatInt(t.parallel, 10))
	}
	return append(args, file)
}

// Preview implements steps.Gater.
func (g ApplyGate) Preview(ctx context.Context, in steps.Params, out steps.Sink) (steps.Preview, error) {
	t, err := g.read(ctx, in, out)
	if err != nil {
		return steps.Preview{}, err
	}
	return g.preview(t, in.Text("digest")), nil
}

func (g ApplyGate) preview(t *applyInput, digest string) steps.Preview {
	p := steps.Preview{
		Target:  t.target(g.Mode),
		Phrase:  t.phrase(),
		Effect:  t.effect(g.Mode),
		Request: site{w: t.w, tool: t.program.Path}.request(t.args(t.name)...),
		Command: t.command(g.Env),
		Args:    t.params(),
		Prior:   t.copyBack(g.Env, g.Mode),
		Undo:    "It cannot be taken back: what was destroyed stays gone. Plan and apply the earlier configuration. The copy of the state tells what was recorded before; pushing it back would only make the record false.",
	}
	if g.Mode == RefreshOnly {
		p.Undo = "Push the copy of the state back, unless it was written since."
	}
	if t.saved != nil {
		p.Diff = t.diff()
		p.Shown = t.shown(g.Env)
	}
	f := floors{need: &p.Unmet}
	f.plan(t, digest, g.Mode)
	f.bindings(t)
	f.free(g.Env, t)
	f.runs(g.Env, t)
	return p
}

func (t *applyInput) command(env steps.Env) string {
	args := []string{"apply", "-input=false"}
	if t.parallel > 0 {
		args = append(args, "-parallelism="+strconv.FormatInt(t.parallel, 10))
	}
	return fmt.Sprintf("echo %s | sha256sum -c && %s", steps.Quote(t.sum+"  "+t.name), t.said(env, append(args, t.name)...))
}

// copyBack is the state as it stood. Only where nothing but the state is written
// is it also what puts things back, with a serial that the tool takes.
func (t *applyInput) copyBack(env steps.Env, mode planMode) *steps.Prior {
	if t.raw == nil {
		return nil
	}
	if mode != RefreshOnly {
		return &steps.Prior{Media: steps.MediaState, Raw: t.raw, Back: "jq .resources"}
	}
	raised, err := reserial(t.raw, t.state.Serial+2)
	if err != nil {
		return &steps.Prior{Media: steps.MediaState, Raw: t.raw, Back: "jq .resources"}
	}
	return &steps.Prior{Media: steps.MediaState, Raw: raised, Back: t.said(env, "state", "push", "-")}
}

// bytesOf identifies the stored bytes of a state.
func bytesOf(raw []byte) string {
	if raw == nil {
		return absent
	}
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:])
}

// said is a command as a person types it.
func (t *applyInput) said(env steps.Env, args ...string) string {
	typed := site{w: t.w, tool: t.program.Path}.said(env, args...)
	if t.w.Space != t.w.Selected {
		typed = "env TF_WORKSPACE=" + steps.Quote(t.w.Space) + " " + typed
	}
	return typed
}

// private is where a copy of the plan is taken from which the act runs, so that
// it cannot be replaced between the look and the run.
func (g ApplyGate) private() (string, error) {
	if g.Env.Private != "" {
		if err := os.MkdirAll(g.Env.Private, 0o700); err != nil {
			return "", err
		}
	}
	return os.MkdirTemp(g.Env.Private, "apply-")
}
