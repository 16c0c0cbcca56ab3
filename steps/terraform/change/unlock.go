package change

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"handrail/steps"
	"handrail/steps/terraform/backend"
	"handrail/steps/terraform/holder"
	"handrail/steps/terraform/module"
	"handrail/steps/terraform/prose"
	"handrail/steps/terraform/state"
	"handrail/steps/terraform/tool"
)

// minAge is the youngest lock that may be broken, whatever a runbook says, while the
// kernel does not prove that its holder is gone.
const minAge = 30 * time.Minute

// The keys of the target that Act works from.
const (
	keyServer  = "server"
	keyCluster = "cluster UID"
	keyLock    = "lock object"

	keyID      = "lock id"
	keySerial  = "state serial"
	keyLineage = "state lineage"

	keyTool = "program"
)

// UnlockGate releases a lock whose holder is gone.
type UnlockGate struct{ Env steps.Env }

// subject is everything that a preview reads, natively.
type subject struct {
	w      module.Workdir
	s      backend.Store
	server string
	uid    string
	lock   backend.Lock
	state  state.Snapshot
	noSnap error // why the state could not be read
}

func (g UnlockGate) read(ctx context.Context, in steps.Params, out steps.Sink) (subject, error) {
	var t subject
	var err error
	if t.w, t.s, err = backend.OpenAt(ctx, g.Env, in, out); err != nil {
		return t, err
	}
	if t.lock, err = t.s.Lock(ctx); err != nil {
		return t, err
	}
	if t.server, t.uid, err = t.s.Cluster(ctx); err != nil {
		return t, err
	}
	t.state, t.noSnap = state.Snap(ctx, t.s)
	return t, ctx.Err()
}

// Preview implements steps.Gater.
func (g UnlockGate) Preview(ctx context.Context, in steps.Params, out steps.Sink) (steps.Preview, error) {
	t, err := g.read(ctx, in, out)
	if err != nil {
		return steps.Preview{}, err
	}
	path, toolErr := tool.Find(g.Env, t.w, nil)
	info := t.lock.Info
	if info == nil {
		info = &backend.LockInfo{}
	}
	id := t.lock.ID
	p := steps.Preview{
		Target: t.target(path),
		Effect: fmt.Sprintf("release the lock of %s on %s. If that run still lives, it goes on unaware, and the next run overwrites its state or is overwritten.", prose.OrUnknown(info.Who), t.lock.Where),
		Phrase: steps.Phrase("force-unlock", steps.ShortLockID(in.Text("lock_id"))),
		Undo:   "Only while no other run took it: should that run turn out to live, give it its lock back at once.",
		Prior:  backend.GiveBack(t.s, t.lock),
		// What terraform-exec starts, and where.
		Request: fmt.Sprintf("%s force-unlock -no-color -force %s (in %s, workspace %s)", path, id, t.w.Dir, t.w.Selected),
		Command: fmt.Sprintf("%s -chdir=%s force-unlock -force %s", tool.Word(path), steps.Quote(t.w.Dir), id),
	}
	scan, scanErr := holder.Look(g.Env, t.w, holder.Suspect{Who: info.Who, Created: info.Created})
	age, ageWhy := t.lock.Age()
	if t.free() {
		scan.Proof = "" // a lock that is not there has no holder who is gone
	}
	p.Shown = shown(age, ageWhy, t.lock.AgedBy(), scan, scanErr, info.Who)
	f := floors{need: &p.Unmet}
	f.lock(t, in.Text("lock_id"))
	if !t.free() { // a lock that is not there has no age and no holder
		f.age(g.Env.Now(), age, ageWhy, youngest(scan, in.Duration("max_apply")))
		f.holder(scan, scanErr, info.Who)
	}
	f.ground(g.Env, t, toolErr)
	if !t.free() && changes(info.Operation) {
		p.Owes = []steps.Debt{{Kind: "unfinished", Text: fmt.Sprintf("the apply of %s did not finish: what it began must be planned, compared and completed", prose.OrUnknown(info.Who))}}
	}
	return p, nil
}

// free reports whether the lock is known to be free.
func (t subject) free() bool { return t.lock.Unread == "" && !t.lock.Held }

func (t subject) target(path string) []steps.KV {
	info := t.lock.Info
	if info == nil {
		info = &backend.LockInfo{}
	}
	serial, lineage := "unknown", "unknown"
	if t.noSnap == nil && t.state.Exists {
		serial, lineage = strconv.FormatInt(t.state.Serial, 10), t.state.Lineage
	}
	created := "unknown"
	if !info.Created.IsZero() {
		created = info.Created.UTC().Format(time.RFC3339Nano)
	}
	return append(place(t.s, t.server, t.uid), []steps.KV{
		{Key: keyLock, Value: t.lock.Where},
		{Key: module.KeyWorkspace, Value: t.w.Space},
		{Key: keyID, Value: t.lock.ID},
		{Key: "who", Value: prose.OrUnknown(info.Who)},
		{Key: "operation", Value: prose.OrUnknown(info.Operation)},
		{Key: "created", Value: created},
		{Key: keySerial, Value: serial},
		{Key: keyLineage, Value: lineage},
		{Key: module.KeyDir, Value: t.w.Dir},
		{Key: keyTool, Value: path},
	}...)
}

// place is where the state is kept: its backend, and the server and cluster where it
// has them. A file on this machine has neither.
func place(s backend.Store, server, uid string) []steps.KV {
	kvs := []steps.KV{{Key: module.KeyBackend, Value: s.Name()}}
	for _, kv := range []steps.KV{{Key: keyServer, Value: server}, {Key: keyCluster, Value: uid}} {
		if kv.Value != "" {
			kvs = append(kvs, kv)
		}
	}
	return kvs
}

func shown(age time.Duration, ageWhy, by string, r holder.Scan, scanErr error, who string) []steps.KV {
	text := age.Round(time.Second).String() + by
	if ageWhy != "" {
		text = "unknown: " + ageWhy
	}
	kvs := []steps.KV{{Key: "age", Value: text}}
	runs := ""
	if scanErr != nil && !r.Elsewhere() {
		runs = "unknown: " + scanErr.Error()
	} else if alive, why := r.Verdict(who); why != "" {
		runs = "unknown: " + why
	} else {
		runs = alive + " on this machine"
	}
	kvs = append(kvs, steps.KV{Key: "holder", Value: runs})
	switch {
	case scanErr != nil:
		kvs = append(kvs, steps.KV{Key: "this machine", Value: "its processes cannot be seen: " + scanErr.Error() + "; a run here that waits for the lock takes it at once"})
	case r.Proof != "":
		kvs = append(kvs, steps.KV{Key: "no wait", Value: "the kernel proves that the holder is gone: " + r.Proof})
	}
	kvs = append(kvs, r.Rows()...)
	return kvs
}

// changes reports whether an operation changes the world or the state. One that
// is not known counts as such.
func changes(operation string) bool {
	switch operation {
	case "OperationTypePlan", "OperationTypeRefresh", "OperationTypeInvalid", "init", "workspace-new":
		return false
	}
	return true
}

// floors gathers the preconditions of the kind that do not hold.
type floors struct{ need *[]steps.Need }

func (f floors) unmet(cure, why string, args ...any) {
	*f.need = append(*f.need, steps.Need{Why: fmt.Sprintf(why, args...), Cure: cure})
}

// until is unmet by what waiting alone meets.
func (f floors) until(at time.Time, cure, why string, args ...any) {
	*f.need = append(*f.need, steps.Need{Why: fmt.Sprintf(why, args...), Cure: cure, At: at.UTC()})
}

func (f floors) lock(t subject, want string) {
	u := t.s.UnlockPolicy()
	switch {
	case t.free():
		f.unmet("read the lock again and plan: nothing needs to be released", "No lock is held on %s.", t.lock.Where)
	case u.Refuse != "":
		f.unmet(u.Cure, "%s", u.Refuse)
	case t.lock.Unread != "":
		f.unmet("look at the lock with the tools of the backend", "Whether the state is locked cannot be read: %s.", t.lock.Unread)
	case t.lock.Stuck != "":
		f.unmet(t.lock.StuckCure, "%s", t.lock.Stuck)
	case t.lock.ID == "":
		f.unmet("look at the lock with the tools of the backend, and find the run that took it", "The id of the lock cannot be read: %s.", prose.OrUnknown(t.lock.InfoWhy))
	case t.lock.ID != want:
		f.unmet("read the lock again and look at its new holder", "The lock is %q now, not %q: someone else took it.", t.lock.ID, want)
	case !u.Grammar.MatchString(t.lock.ID):
		f.unmet("release it with the tools of the backend", "The lock id %q is not one that tofu makes here, or it was redacted.", t.lock.ID)
	}
	switch {
	case t.noSnap != nil:
		f.unmet("make the state readable first: force-unlock opens it", "The state could not be read: %v.", t.noSnap)
	case !t.state.Exists:
		f.unmet(u.ByHand, "There is no state here, and force-unlock would create one.")
	}
}

// youngest is how old a lock must be. Where the kernel proves that its holder is
// gone, waiting would prove nothing more.
func youngest(r holder.Scan, maxApply time.Duration) time.Duration {
	if r.Proof != "" {
		return 0
	}
	return max(minAge, maxApply)
}

// age refuses while a holder of whom nothing else is known counts as alive.
func (f floors) age(now time.Time, age time.Duration, why string, floor time.Duration) {
	switch {
	case why != "":
		f.unmet("find out when the run began, and set the clocks right", "The age of the lock is unknown: %s.", why)
	case age < floor:
		f.until(now.Add(floor-age), "wait "+(floor-age).Round(time.Second).String()+", or let the run end", "The lock is %s old; younger than %s its holder counts as alive.", age.Round(time.Second), floor)
	}
}

// holder refuses while the holder or a part of its run lives, or where that
// cannot be told.
func (f floors) holder(r holder.Scan, err error, who string) {
	switch {
	case err != nil && r.Elsewhere():
		return // what is here is not the holder, and who saw it end elsewhere says so
	case err != nil && r.HereWhy != "":
		f.unmet("release it from a machine whose processes can be seen", "Whether the holder is alive could not be looked up: %v; %s.", err, r.HereWhy)
		return
	case err != nil:
		f.unmet("look on the machine of the holder", "Whether the holder is alive could not be looked up: %v.", err)
		return
	}
	n := len(*f.need)
	for _, p := range holder.Few(r.Holders) {
		why := "The holder is alive: process %d runs %s."
		if r.HereWhy == "" && !r.Here {
			why = "A run is active here: process %d runs %s."
		}
		f.unmet("let it finish, or stop it with one interrupt and wait", why, p.PID, p.Described())
	}
	for _, p := range holder.Few(r.Later) {
		f.unmet("let it end first: it would take the lock at once", "A run is active here: process %d runs %s.", p.PID, p.Described())
	}
	f.leftBehind(r)
	switch {
	case len(*f.need) > n:
	case r.Here && r.Blind != "":
		f.unmet("look as a user who sees all processes", "Whether the holder %s is alive cannot be seen: %s.", who, r.Blind)
	case r.HereWhy != "":
		f.unmet("find the run that took it", "Whether the holder is alive cannot be told: %s.", r.HereWhy)
	}
}

func (f floors) ground(env steps.Env, t subject, toolErr error) {
	if t.w.Space != t.w.Selected {
		f.unmet("select the workspace in the directory and unset TF_WORKSPACE", "The workspace in effect is %q, but force-unlock would use %q.", t.w.Space, t.w.Selected)
	}
	if toolErr != nil {
		f.unmet("install tofu or terraform, or name it", "There is no program to unlock with: %v.", toolErr)
	}
	if err := tool.Trusted(env, t.w.Dir); err != nil {
		f.unmet("trust the directory once, after a look at its configuration", "Programs may not run there: %s.", strings.TrimSuffix(err.Error(), "."))
	}
}
