package terraform

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"handrail/steps"
)

// minAge is the youngest lock that may be broken, whatever a runbook says.
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

// unlockGate releases a lock whose holder is gone.
type unlockGate struct{ env steps.Env }

// subject is everything that a preview reads, natively.
type subject struct {
	w      workdir
	s      store
	server string
	uid    string
	lock   lockRead
	state  snapshot
	noSnap error // why the state could not be read
}

func (g unlockGate) read(ctx context.Context, in steps.Params, out steps.Sink) (subject, error) {
	var t subject
	var err error
	if t.w, t.s, err = open(ctx, g.env, in, out); err != nil {
		return t, err
	}
	if t.lock, err = t.s.lock(ctx); err != nil {
		return t, err
	}
	if t.server, t.uid, err = t.s.cluster(ctx); err != nil {
		return t, err
	}
	t.state, t.noSnap = snap(ctx, t.s)
	return t, ctx.Err()
}

// Preview implements steps.Gater.
func (g unlockGate) Preview(ctx context.Context, in steps.Params, out steps.Sink) (steps.Preview, error) {
	t, err := g.read(ctx, in, out)
	if err != nil {
		return steps.Preview{}, err
	}
	path, toolErr := findTool(g.env, t.w, nil)
	info := t.lock.info
	if info == nil {
		info = &lockInfo{}
	}
	id := t.lock.id
	p := steps.Preview{
		Target: t.target(path),
		Effect: fmt.Sprintf("release the lock of %s on %s. If that run still lives, it goes on unaware, and whoever runs next overwrites its state or is overwritten.", orUnknown(info.Who), t.lock.where),
		Phrase: steps.Phrase("force-unlock", in.Text("lock_id")),
		Undo:   "Only while nobody else took it: should that run turn out to live, give it its lock back at once.",
		Prior:  giveBack(t.s, t.lock),
		// What terraform-exec starts, and where.
		Request: fmt.Sprintf("%s force-unlock -no-color -force %s (in %s, workspace %s)", path, id, t.w.dir, t.w.selected),
		Command: fmt.Sprintf("tofu -chdir=%s force-unlock -force %s", steps.Quote(t.w.dir), id),
	}
	scan, scanErr := scanHolder(g.env, t.w, suspect{who: info.Who, created: info.Created})
	age, ageWhy := t.lock.age()
	p.Shown = shown(age, ageWhy, t.lock.agedBy(), scan, scanErr, info.Who)
	f := floors{need: &p.Unmet}
	f.lock(t, in.Text("lock_id"))
	if !t.free() { // a lock that is not there has no age and no holder
		f.age(age, ageWhy, max(minAge, in.Duration("max_apply")))
		f.holder(scan, scanErr, info.Who)
	}
	f.ground(g.env, t, toolErr)
	if !t.free() && changes(info.Operation) {
		p.Owes = []steps.Debt{{Kind: "unfinished", Text: fmt.Sprintf("the apply of %s did not finish: what it began must be planned, compared and completed", orUnknown(info.Who))}}
	}
	return p, nil
}

// free reports whether it is known that nobody holds the lock.
func (t subject) free() bool { return t.lock.unread == "" && !t.lock.held }

func (t subject) target(path string) []steps.KV {
	info := t.lock.info
	if info == nil {
		info = &lockInfo{}
	}
	serial, lineage := "unknown", "unknown"
	if t.noSnap == nil && t.state.exists {
		serial, lineage = strconv.FormatInt(t.state.serial, 10), t.state.lineage
	}
	created := "unknown"
	if !info.Created.IsZero() {
		created = info.Created.UTC().Format(time.RFC3339Nano)
	}
	return []steps.KV{
		{Key: keyBackend, Value: t.s.name()},
		{Key: keyServer, Value: t.server},
		{Key: keyCluster, Value: t.uid},
		{Key: keyLock, Value: t.lock.where},
		{Key: keyWorkspace, Value: t.w.space},
		{Key: keyID, Value: t.lock.id},
		{Key: "who", Value: orUnknown(info.Who)},
		{Key: "operation", Value: orUnknown(info.Operation)},
		{Key: "created", Value: created},
		{Key: keySerial, Value: serial},
		{Key: keyLineage, Value: lineage},
		{Key: keyDir, Value: t.w.dir},
		{Key: keyTool, Value: path},
	}
}

func shown(age time.Duration, ageWhy, by string, r scan, scanErr error, who string) []steps.KV {
	text := age.Round(time.Second).String() + by
	if ageWhy != "" {
		text = "unknown: " + ageWhy
	}
	kvs := []steps.KV{{Key: "age", Value: text}}
	runs := ""
	if scanErr != nil {
		runs = "unknown: " + scanErr.Error()
	} else if alive, why := r.verdict(who); why != "" {
		runs = "unknown: " + why
	} else {
		runs = alive + " on this machine"
	}
	kvs = append(kvs, steps.KV{Key: "holder", Value: runs})
	kvs = append(kvs, r.rows()...)
	return kvs
}

// changes reports whether an operation changes the world or the state. One that
// nobody knows counts as such.
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

func (f floors) lock(t subject, want string) {
	u := t.s.unlocking()
	switch {
	case t.free():
		f.unmet("read the lock again and plan: nothing needs to be released", "No lock is held on %s.", t.lock.where)
	case u.refuse != "":
		f.unmet(u.cure, "%s", u.refuse)
	case t.lock.unread != "":
		f.unmet("look at the lock with the tools of the backend", "Whether the state is locked cannot be read: %s.", t.lock.unread)
	case t.lock.stuck != "":
		f.unmet(t.lock.stuckCure, "%s", t.lock.stuck)
	case t.lock.id == "":
		f.unmet("look at the lock with the tools of the backend, and find the run that took it", "The id of the lock cannot be read: %s.", orUnknown(t.lock.infoWhy))
	case t.lock.id != want:
		f.unmet("read the lock again and look at its new holder", "The lock is %q now, not %q: somebody else took it.", t.lock.id, want)
	case !u.grammar.MatchString(t.lock.id):
		f.unmet("release it with the tools of the backend", "The lock id %q is none that tofu makes here, or it was redacted.", t.lock.id)
	}
	switch {
	case t.noSnap != nil:
		f.unmet("make the state readable first: force-unlock opens it", "The state could not be read: %v.", t.noSnap)
	case !t.state.exists:
		f.unmet(u.byHand, "There is no state here, and force-unlock would create one.")
	}
}

func (f floors) age(age time.Duration, why string, floor time.Duration) {
	switch {
	case why != "":
		f.unmet("find out when the run began, and set the clocks right", "The age of the lock is unknown: %s.", why)
	case age < floor:
		f.unmet("wait "+(floor-age).Round(time.Second).String()+", or let the run end", "The lock is %s old; younger than %s its holder counts as alive.", age.Round(time.Second), floor)
	}
}

// holder refuses while the holder or a part of its run lives, or where that
// cannot be told.
func (f floors) holder(r scan, err error, who string) {
	if err != nil {
		f.unmet("look on the machine of the holder", "Whether the holder is alive could not be looked up: %v.", err)
		return
	}
	n := len(*f.need)
	for _, p := range firstFew(r.holders) {
		why := "The holder is alive: process %d runs %s."
		if r.hereWhy == "" && !r.here {
			why = "A run is active here: process %d runs %s."
		}
		f.unmet("let it finish, or stop it with one interrupt and wait", why, p.pid, p.described())
	}
	for _, p := range firstFew(r.later) {
		f.unmet("let it end first: it would take the lock at once", "A run is active here: process %d runs %s.", p.pid, p.described())
	}
	f.leftBehind(r)
	switch {
	case len(*f.need) > n:
	case r.here && r.blind != "":
		f.unmet("look as a user who sees all processes", "Whether the holder %s is alive cannot be seen: %s.", who, r.blind)
	case r.hereWhy != "":
		f.unmet("find the run that took it", "Whether the holder is alive cannot be told: %s.", r.hereWhy)
	}
}

func (f floors) ground(env steps.Env, t subject, toolErr error) {
	if t.w.space != t.w.selected {
		f.unmet("select the workspace in the directory and unset TF_WORKSPACE", "The workspace in effect is %q, but force-unlock would use %q.", t.w.space, t.w.selected)
	}
	if toolErr != nil {
		f.unmet("install tofu or terraform, or name it", "There is no program to unlock with: %v.", toolErr)
	}
	if err := trusted(env, t.w.dir); err != nil {
		f.unmet("trust the directory once, after a look at its configuration", "Programs may not run there: %s.", strings.TrimSuffix(err.Error(), "."))
	}
}
