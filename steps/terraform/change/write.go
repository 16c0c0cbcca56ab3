package change

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"handrail/steps"
	"handrail/steps/terraform/backend"
	"handrail/steps/terraform/module"
	"handrail/steps/terraform/prose"
	"handrail/steps/terraform/state"
	"handrail/steps/terraform/tool"
)

// The keys of the targets of the gates that write a state.
const (
	keyState   = "state"
	keyBytes   = "state SHA-256"
	keyOthers  = "others"
	keyAddress = "address"
)

// absent is what stands in a target for a state that is not there.
const absent = "none"

// site is everything that a gate which writes a state reads before it, natively.
type site struct {
	w       module.Workdir
	s       backend.Store
	server  string
	uid     string
	lock    backend.Lock
	tool    string // path of the program
	program tool.Program
	noTool  error
	now     state.Ledger
	unsound error // why what the state records cannot be relied on
	near    *surroundings
}

// readSite reads what a change starts from: the state, its lock, and which program would write.
func readSite(ctx context.Context, env steps.Env, in steps.Params, out steps.Sink) (site, error) {
	t, err := readStored(ctx, env, in, out)
	if err != nil {
		return t, err
	}
	t.program, t.noTool = tool.For(ctx, env, t.w, t.providers())
	t.tool = t.program.Path
	return t, ctx.Err()
}

// providers are those that the state names, by their hosts.
func (t site) providers() map[string]int {
	if t.now.Doc == nil {
		return nil
	}
	return t.now.Doc.Providers
}

// readStored reads the state and its lock. It starts no program: what a change came to is in the state alone.
func readStored(ctx context.Context, env steps.Env, in steps.Params, out steps.Sink) (site, error) {
	t := site{near: &surroundings{}}
	var err error
	if t.w, t.s, err = backend.OpenAt(ctx, env, in, out); err != nil {
		return t, err
	}
	if t.lock, err = t.s.Lock(ctx); err != nil {
		return t, err
	}
	if t.server, t.uid, err = t.s.Cluster(ctx); err != nil {
		return t, err
	}
	t.now, t.unsound = state.ReadLedger(ctx, t.s, out.Secret)
	t.tool, t.noTool = tool.Find(env, t.w, t.providers())
	return t, ctx.Err()
}

// target is what identifies the state; mine is what identifies the change.
func (t site) target(mine ...steps.KV) []steps.KV {
	serial, lineage, sum := "unknown", "unknown", "unknown"
	if nothing(t.unsound) {
		serial, lineage, sum = absent, absent, absent
	}
	if t.now.Doc != nil && t.now.Doc.HasSerial {
		serial, lineage = strconv.FormatInt(t.now.Doc.Serial, 10), t.now.Doc.Lineage
	}
	if t.now.Raw != nil {
		sum = t.now.Sum()
	}
	return slices.Concat(place(t.s, t.server, t.uid), []steps.KV{
		{Key: keyState, Value: t.now.Where},
		{Key: module.KeyWorkspace, Value: t.w.Space},
		{Key: keySerial, Value: serial},
		{Key: keyLineage, Value: lineage},
		{Key: keyBytes, Value: sum},
		{Key: module.KeyDir, Value: t.w.Dir},
		{Key: keyTool, Value: t.tool},
	}, ran(t.lock), mine)
}

// writable is what must hold wherever a program writes a state.
func (f floors) writable(env steps.Env, t site) {
	if t.lock.Unread != "" && !unseen(t.lock) {
		f.unmet("ask all who can run here, then type the command by hand: the program takes the lock itself", "Whether the state is locked cannot be read: %s.", t.lock.Unread)
	}
	if t.lock.Held {
		who := "someone"
		if t.lock.Info != nil {
			who = prose.OrUnknown(t.lock.Info.Who)
		}
		f.unmet("let that run end, or find out with the runbook state-lock whether it is dead", "The state is locked by %s (%s).", who, prose.OrUnknown(t.lock.ID))
	}
	r, _ := t.around(env)
	f.living(r)
	if t.w.Space != t.w.Selected {
		f.unmet("select the workspace in the directory and unset TF_WORKSPACE", "The workspace in effect is %q, but %q is selected in the directory.", t.w.Space, t.w.Selected)
	}
	if t.noTool != nil {
		f.unmet("install tofu or terraform, or name it", "There is no program to write the state with: %v.", t.noTool)
	}
	if err := tool.Trusted(env, t.w.Dir); err != nil {
		f.unmet("trust the directory once, after a look at its configuration", "Programs may not run there: %s.", strings.TrimSuffix(err.Error(), "."))
	}
}

// nothing reports whether there is no state yet, as the tools see it.
func nothing(unsound error) bool {
	return errors.Is(unsound, state.ErrAbsent) || errors.Is(unsound, state.ErrEmpty)
}

// beginnable is what must also hold where a change starts from the present state, or is
// the first write of it.
func (f floors) beginnable(ctx context.Context, t site) {
	switch {
	case errors.Is(t.unsound, state.ErrAbsent):
	case errors.Is(t.unsound, state.ErrEmpty):
		if why := state.Earlier(ctx, t.w); why != "" {
			f.unmet("restore what was recorded first, with the runbook state-corruption", "The state has 0 bytes, and %s.", strings.TrimSuffix(why, "."))
		}
	default:
		f.sound(t)
	}
}

// sound is what must also hold where a change starts from the present state.
func (f floors) sound(t site) {
	if t.unsound != nil {
		f.unmet("make the state readable first; terraform/state says what is wrong with it", "The state cannot be changed by address: %s.", strings.TrimSuffix(t.unsound.Error(), "."))
	}
	if t.lock.Digest == "mismatch" {
		f.unmet("look at the state first; terraform/restore-state mends the digest with what it writes", "The digest of the backend is not that of the stored state: no program opens it.")
	}
}

// plainAddress is what an address may begin with: anything else could be read as
// a flag.
var plainAddress = regexp.MustCompile(`^[A-Za-z_][^\x00-\x1f\x7f]*$`)

// said is the command for a person: in the directory, with the settings of the
// environment that the program needs to find the same state.
func (t site) said(env steps.Env, args ...string) string {
	var b strings.Builder
	for _, name := range []string{"TF_DATA_DIR", "TF_CLI_CONFIG_FILE", "KUBE_CONFIG_PATH", "KUBE_CONFIG_PATHS", "KUBE_CTX", "KUBE_NAMESPACE", "KUBE_HOST",
		"AWS_PROFILE", "AWS_REGION", "AWS_DEFAULT_REGION", "AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL_DYNAMODB", "PGHOST", "PGPORT", "PGDATABASE", "PGUSER", "PGSSLMODE", "PGSSLROOTCERT", "CONSUL_HTTP_ADDR", "CONSUL_HTTP_SSL"} {
		if v := env.Getenv(name); v != "" {
			b.WriteString(name + "=" + steps.Quote(v) + " ")
		}
	}
	b.WriteString(tool.Word(t.tool) + " -chdir=" + steps.Quote(t.w.Dir))
	for _, a := range args {
		b.WriteString(" " + steps.Quote(a))
	}
	return b.String()
}

// mind is what a person should know of the program and of the directory.
func (t site) mind(env steps.Env) []steps.KV {
	out := guard(t.lock)
	say := func(why ...string) {
		for _, w := range why {
			out = append(out, steps.KV{Key: "mind", Value: w})
		}
	}
	if t.noTool == nil && t.now.Doc != nil {
		say(t.program.Mixed(t.w, t.now.Doc.Providers, t.now.Doc.Tool)...)
	}
	for _, w := range module.Wrappers(t.w.Dir) {
		say(w.Say())
	}
	r, gap := t.around(env)
	out = append(out, r.Rows()...)
	if gap != "" {
		out = append(out, steps.KV{Key: "not checked", Value: "whether a run is left on this machine: " + gap})
	}
	say(module.Dropped(env)...)
	if who := module.PausedByOthers(env, t.w.Dir); who != "" {
		say("Applies here are paused by " + who + ": agree with them first.")
	}
	return out
}

// request is what the program is started with, and where.
func (t site) request(args ...string) string {
	return fmt.Sprintf("%s %s (in %s, workspace %s)", t.tool, prose.Quote(args), t.w.Dir, t.w.Space)
}

// movedSince says what of the target differs from the preview, "" for nothing.
func movedSince(p steps.Preview, now []steps.KV) string {
	for _, want := range p.Target {
		if got := steps.Find(now, want.Key); got != want.Value {
			return fmt.Sprintf("%s is %q now, it was %q", want.Key, steps.Clip(got, 300), steps.Clip(want.Value, 300))
		}
	}
	return ""
}
