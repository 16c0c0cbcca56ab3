package terraform

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
	"handrail/steps/terraform/tfplan"
	"handrail/steps/terraform/tfstate"
)

// planMode is what a saved plan must have been made with.
type planMode int

const (
	planWhole planMode = iota
	planRefresh
	planTargeted
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

// applyGate applies exactly one saved plan.
type applyGate struct {
	env  steps.Env
	mode planMode
}

// applying is everything that a preview of an apply reads.
type applying struct {
	w         workdir
	s         store
	name      string // of the plan file, absolute
	sum       string
	saved     *tfplan.Saved
	planErr   error
	lock      lockRead
	server    string
	uid       string
	state     snapshot
	doc       *tfstate.Doc
	where     string // of the state
	raw       []byte // the state as it stands, nil where there is none
	program   program
	toolErr   error
	bound     steps.Facts
	obs       steps.Observation
	pause     pause
	scan      scan // of this machine
	addresses []string
	parallel  int64
}

// read reads the target natively. Of the program it asks the version alone.
func (g applyGate) read(ctx context.Context, in steps.Params, out steps.Sink) (*applying, error) {
	t := &applying{addresses: in["addresses"].Strings(), parallel: in.Int("parallelism"), bound: steps.NewFacts(planFileFacts())}
	var err error
	if t.w, t.s, err = open(ctx, g.env, in, out); err != nil {
		return nil, err
	}
	if t.name = in.Text("plan"); !filepath.IsAbs(t.name) {
		t.name = filepath.Join(g.env.Dir, t.name)
	}
	if t.lock, err = t.s.lock(ctx); err != nil {
		return nil, err
	}
	if t.server, t.uid, err = t.s.cluster(ctx); err != nil {
		return nil, err
	}
	if t.state, t.doc, err = snapWith(ctx, t.s); err != nil {
		return nil, fmt.Errorf("the state cannot be read, so no plan can be held against it: %w", err)
	}
	if err := t.prior(ctx); err != nil {
		return nil, err
	}
	t.pause = readPause(t.w.dir)
	var scanErr error
	if t.scan, scanErr = scanHolder(g.env, t.w, suspect{}); scanErr != nil {
		t.obs.Gaps = append(t.obs.Gaps, "whether something runs in the directory on this machine: "+scanErr.Error())
	} else if t.scan.blind != "" {
		t.obs.Gaps = append(t.obs.Gaps, "whether something runs in the directory on this machine: "+t.scan.blind)
	}
	t.program, t.toolErr = programFor(ctx, g.env, t.w, t.doc.Providers)
	file, sum, saved, err := openSaved(ctx, t.name)
	if t.sum, t.saved, t.planErr = sum, saved, err; err != nil {
		return t, ctx.Err()
	}
	defer file.Close()
	bindIn := steps.Params{"dir": steps.PathOf(t.w.dir), "workspace": in["workspace"]}
	if t.toolErr == nil {
		bindIn["tool_version"] = steps.StringOf(t.program.version)
	}
	if err := bind(ctx, g.env, bindIn, saved, t.bound, &t.obs, out); err != nil {
		return nil, err
	}
	return t, ctx.Err()
}

// prior takes a copy of the state as it stands.
func (t *applying) prior(ctx context.Context) error {
	r, err := t.s.state(ctx)
	if err != nil {
		return err
	}
	if t.where = r.where; !r.exists {
		return nil
	}
	defer r.body.Close()
	if t.raw, err = io.ReadAll(io.LimitReader(bounded(ctx, r.body), maxPrior+1)); err != nil {
		return fmt.Errorf("copy of the state: %w", err)
	}
	if len(t.raw) > maxPrior {
		return fmt.Errorf("the state is over %d bytes: no copy of it can be kept before the act", maxPrior)
	}
	return nil
}

func (t *applying) target(mode planMode) []steps.KV {
	serial, lineage, acts := absent, absent, "unknown"
	if t.state.exists {
		serial, lineage = strconv.FormatInt(t.state.serial, 10), t.state.lineage
	}
	if t.saved != nil {
		acts = t.saved.Doc.ActionsDigest()
	}
	lock := "free"
	if t.lock.held {
		lock = "held as " + orUnknown(t.lock.id)
	}
	by := "unknown"
	if t.toolErr == nil {
		by = t.program.String()
	}
	kvs := []steps.KV{
		{Key: keyPlan, Value: t.name},
		{Key: keyPlanSum, Value: orUnknown(t.sum)},
		{Key: keyActs, Value: acts},
		{Key: keyBackend, Value: t.s.name()},
		{Key: keyServer, Value: t.server},
		{Key: keyCluster, Value: t.uid},
		{Key: keyStateObject, Value: t.where},
		{Key: keyBytes, Value: bytesOf(t.raw)},
		{Key: keyLock, Value: t.lock.where},
		{Key: "lock", Value: lock},
		{Key: keyWorkspace, Value: t.w.space},
		{Key: keySerial, Value: serial},
		{Key: keyLineage, Value: lineage},
		{Key: keyDir, Value: t.w.dir},
		{Key: keyTool, Value: by},
	}
	if mode != planRefresh && t.parallel > 0 {
		kvs = append(kvs, steps.KV{Key: keyParallelism, Value: strconv.FormatInt(t.parallel, 10)})
	}
	if mode == planTargeted {
		kvs = append(kvs, steps.KV{Key: keyAddresses, Value: list(t.addresses)})
	}
	return kvs
}

// list is a list of addresses that can be read back: keys may hold commas.
func list(addresses []string) string {
	b, err := json.Marshal(addresses)
	if err != nil {
		return ""
	}
	return string(b)
}

// paramsOf are the parameters that a target was read with.
func paramsOf(target []steps.KV) steps.Params {
	at := func(key string) string { return steps.Find(target, key) }
	in := steps.Params{
		"dir": steps.PathOf(at(keyDir)), "workspace": steps.StringOf(at(keyWorkspace)),
		"plan": steps.PathOf(at(keyPlan)), "digest": steps.IdentOf(at(keyPlanSum)),
	}
	if n, err := strconv.ParseInt(at(keyParallelism), 10, 64); err == nil {
		in["parallelism"] = steps.IntOf(n)
	}
	var addresses []string
	if json.Unmarshal([]byte(at(keyAddresses)), &addresses) == nil {
		in["addresses"] = steps.StringsOf(addresses)
	}
	return in
}

// args are the arguments of the apply of a plan file.
func (t *applying) args(file string) []string {
	args := []string{"apply", "-input=false", "-no-color", "-json", "-lock=true"}
	if t.parallel > 0 {
		args = append(args, "-parallelism="+strconv.FormatInt(t.parallel, 10))
	}
	return append(args, file)
}

// Preview implements steps.Gater.
func (g applyGate) Preview(ctx context.Context, in steps.Params, out steps.Sink) (steps.Preview, error) {
	t, err := g.read(ctx, in, out)
	if err != nil {
		return steps.Preview{}, err
	}
	p := steps.Preview{
		Target:  t.target(g.mode),
		Phrase:  t.phrase(),
		Effect:  t.effect(g.mode),
		Request: site{w: t.w, tool: t.program.path}.request(t.args(t.name)...),
		Command: t.command(g.env),
		Prior:   t.copyBack(g.env, g.mode),
		Undo:    "It cannot be taken back: what was destroyed stays gone. Plan and apply the earlier configuration. The copy of the state tells what was recorded before; pushing it back would only make the record false.",
	}
	if g.mode == planRefresh {
		p.Undo = "Push the copy of the state back, as long as nobody wrote since."
	}
	if t.saved != nil {
		p.Diff = t.diff()
		p.Shown = t.shown(g.env)
	}
	f := floors{need: &p.Unmet}
	f.plan(t, in.Text("digest"), g.mode)
	f.bindings(t)
	f.free(g.env, t)
	f.runs(g.env, t)
	return p, nil
}

func (t *applying) command(env steps.Env) string {
	args := []string{"apply", "-input=false"}
	if t.parallel > 0 {
		args = append(args, "-parallelism="+strconv.FormatInt(t.parallel, 10))
	}
	return fmt.Sprintf("echo %s | sha256sum -c && %s", steps.Quote(t.sum+"  "+t.name), t.said(env, append(args, t.name)...))
}

// copyBack is the state as it stood. Only where nothing but the state is written
// is it also what puts things back, with a serial that the tool takes.
func (t *applying) copyBack(env steps.Env, mode planMode) *steps.Prior {
	if t.raw == nil {
		return nil
	}
	if mode != planRefresh {
		return &steps.Prior{Media: steps.MediaState, Raw: t.raw, Back: "jq .resources"}
	}
	raised, err := reserial(t.raw, t.state.serial+2)
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
func (t *applying) said(env steps.Env, args ...string) string {
	typed := site{w: t.w, tool: t.program.path}.said(env, args...)
	if t.w.space != t.w.selected {
		typed = "env TF_WORKSPACE=" + steps.Quote(t.w.space) + " " + typed
	}
	return typed
}

// private is where a copy of the plan is taken from which the act runs, so that
// nobody can replace it between the look and the run.
func (g applyGate) private() (string, error) {
	if g.env.Private != "" {
		if err := os.MkdirAll(g.env.Private, 0o700); err != nil {
			return "", err
		}
	}
	return os.MkdirTemp(g.env.Private, "apply-")
}
