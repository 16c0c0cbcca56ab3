package change

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"handrail/steps"
	"handrail/steps/terraform/backend"
	"handrail/steps/terraform/configuration"
	"handrail/steps/terraform/holder"
	"handrail/steps/terraform/loosetype"
	"handrail/steps/terraform/module"
	"handrail/steps/terraform/state"
	"handrail/steps/terraform/tfplan"
	"handrail/steps/terraform/tfstate"
)

// wantUnmet holds floors to what they must refuse, in order, and to a cure for
// each; none for a gate that stays open.
func wantUnmet(t *testing.T, hold func(floors), parts ...string) {
	t.Helper()
	var need []steps.Need
	hold(floors{&need})
	if len(need) != len(parts) {
		t.Errorf("unmet = %q, want %q", need, parts)
		return
	}
	for i, part := range parts {
		if !strings.Contains(need[i].Why, part) || strings.Contains(need[i].Why, "%!") || need[i].Cure == "" {
			t.Errorf("unmet = %q (%s), want %q and a cure", need[i].Why, need[i].Cure, part)
		}
	}
}

// planned is an input whose plan every floor lets through.
func planned() *applyInput {
	return &applyInput{sum: "aa", saved: &tfplan.Saved{Mode: "normal", Doc: &tfplan.Doc{Whole: true, Tool: "1.9.0",
		Count: map[tfplan.Act]int{tfplan.Update: 1}, Changes: []tfplan.Change{{Address: "a.b", Act: tfplan.Update}}}}}
}

func TestPlanFloors(t *testing.T) {
	t.Parallel()
	refresh := func(t *applyInput) {
		t.saved.Mode, t.saved.Doc.Changes, t.saved.Doc.Count = "refresh-only", nil, nil
		t.saved.Doc.Drift = []tfplan.Change{{Address: "a.b", Act: tfplan.Update}}
	}
	ends := func(count map[tfplan.Act]int) func(*applyInput) {
		return func(t *applyInput) { t.saved.Doc.Count = count }
	}
	for _, tc := range []struct {
		name  string
		mode  planMode
		edit  func(*applyInput)
		unmet []string
	}{
		{"as it was approved", Whole, func(*applyInput) {}, nil},
		{"unreadable", Whole, func(t *applyInput) { t.saved, t.planErr = nil, errors.New("no zip") }, []string{"no zip"}},
		{"another file", Whole, func(t *applyInput) { t.sum = "bb" }, []string{"is bb, not aa"}},
		{"another file, unreadable", Whole, func(t *applyInput) { t.saved, t.sum, t.planErr = nil, "", errors.New("no zip") }, []string{"no zip", "is unknown, not aa"}},
		{"not whole", Whole, func(t *applyInput) { t.saved.Doc.Whole, t.saved.Doc.Broken = false, "it is cut" }, []string{"it is cut"}},
		{"of a run that failed", Whole, func(t *applyInput) { t.saved.Doc.Errored = true }, []string{"ended in an error"}},
		{"of the other mode", Whole, func(t *applyInput) { t.saved.Mode = "refresh-only" }, []string{"mode refresh-only"}},
		{"as many ends as can be read", Whole, ends(map[tfplan.Act]int{tfplan.Delete: 200, tfplan.Replace: 100, tfplan.Forget: 100, tfplan.ForgetReplace: 100}), nil},
		{"one more delete", Whole, ends(map[tfplan.Act]int{tfplan.Delete: 201, tfplan.Replace: 100, tfplan.Forget: 100, tfplan.ForgetReplace: 100}), []string{"ends or drops 501 objects, more than the 500"}},
		{"one more replacement", Whole, ends(map[tfplan.Act]int{tfplan.Delete: 500, tfplan.ReplaceSafer: 1}), []string{"501"}},
		{"nothing to do", Whole, func(t *applyInput) { t.saved.Doc.Changes = nil }, []string{"would change nothing"}},
		{"reads alone", Whole, func(t *applyInput) { t.saved.Doc.Changes[0].Act = tfplan.Read }, []string{"would change nothing"}},
		{"outputs alone", Whole, func(t *applyInput) { t.saved.Doc.Changes, t.saved.Doc.Outputs = nil, 1 }, nil},
		{"drift that is none", Whole, func(t *applyInput) {
			t.saved.Doc.Changes, t.saved.Doc.Drift = nil, []tfplan.Change{{Address: "a.b", Act: tfplan.None}}
		}, []string{"would change nothing"}},
		{"idle by the tool's word", Whole, func(t *applyInput) { t.saved.Idle = true }, []string{"not applyable"}},
		{"nothing to do, and idle", Whole, func(t *applyInput) { t.saved.Doc.Changes, t.saved.Idle = nil, true }, []string{"would change nothing"}},
		{"a refresh", RefreshOnly, refresh, nil},
		{"a refresh that acts", RefreshOnly, func(t *applyInput) { t.saved.Mode = "refresh-only" }, []string{"acts on 1 objects"}},
		{"a plan that acts, where a refresh is wanted", RefreshOnly, func(*applyInput) {}, []string{"mode normal", "acts on 1 objects"}},
		{"of the list", Targeted, func(t *applyInput) { t.addresses = []string{"a.b"} }, nil},
		{"outside of the list", Targeted, func(t *applyInput) { t.addresses = []string{"a.c"} }, []string{"outside of the list, on a.b"}},
		{"outside of a list that is not asked for", Whole, func(t *applyInput) { t.addresses = []string{"a.c"} }, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			in := planned()
			tc.edit(in)
			wantUnmet(t, func(f floors) { f.plan(in, "aa", tc.mode) }, tc.unmet...)
		})
	}
}

func TestWithin(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		change tfplan.Change
		unmet  []string
	}{
		"inside":           {tfplan.Change{Address: "a.b", Act: tfplan.Delete}, nil},
		"outside":          {tfplan.Change{Address: "a.z", Act: tfplan.Update}, []string{"a.z"}},
		"a read outside":   {tfplan.Change{Address: "a.z", Act: tfplan.Read}, nil},
		"moved inside":     {tfplan.Change{Address: "a.b", Previous: "a.c", Act: tfplan.None}, nil},
		"moved in":         {tfplan.Change{Address: "a.b", Previous: "a.z", Act: tfplan.None}, []string{"a.b"}},
		"moved out":        {tfplan.Change{Address: "a.z", Previous: "a.b", Act: tfplan.None}, []string{"a.z"}},
		"of a longer name": {tfplan.Change{Address: "a.bb", Act: tfplan.Update}, []string{"a.bb"}},
	} {
		wantUnmet(t, func(f floors) {
			f.within(&tfplan.Doc{Changes: []tfplan.Change{tc.change}}, []string{"a.b", "a.c"})
		}, tc.unmet...)
		if t.Failed() {
			t.Fatal(name)
		}
	}
	wantUnmet(t, func(f floors) {
		f.within(&tfplan.Doc{Changes: []tfplan.Change{{Address: "x.b", Act: tfplan.Read}, {Address: "x.z", Act: tfplan.Update}, {Address: "x.a", Act: tfplan.Delete}}}, nil)
	}, "x.a, x.z")
}

func TestBindingFloors(t *testing.T) {
	t.Parallel()
	all := []string{"state_bound", "content_bound", "config_bound", "providers_bound", "workspace_bound", "tool_bound"}
	fields := []steps.Field{{Name: "config_changes", Type: steps.Strings}}
	for _, name := range all {
		fields = append(fields, steps.Field{Name: name, Type: steps.Enum})
	}
	bound := func(moved map[string]steps.Value) steps.Facts {
		f := steps.NewFacts(fields)
		for _, name := range all {
			f.Set(name, steps.EnumOf("yes"))
		}
		for name, v := range moved {
			f.Set(name, v)
		}
		return f
	}
	is := func(names ...string) map[string]steps.Value {
		m := map[string]steps.Value{}
		for _, n := range names {
			m[n] = steps.EnumOf("moved")
		}
		return m
	}
	words := map[string]string{"state_bound": "refuse it as stale", "content_bound": "two writers collided", "config_bound": "is not the one in the directory",
		"providers_bound": "lock file of the providers", "workspace_bound": "another workspace", "tool_bound": "Version 1.9.0 made the plan"}
	in := planned()
	in.bound = bound(nil)
	wantUnmet(t, func(f floors) { f.bindings(in) })
	for _, name := range all {
		in.bound = bound(is(name))
		wantUnmet(t, func(f floors) { f.bindings(in) }, words[name])
		in.bound = bound(map[string]steps.Value{name: steps.Unknown(steps.Enum, "it is locked")})
		wantUnmet(t, func(f floors) { f.bindings(in) }, "Whether "+strings.TrimSuffix(name, "_bound")+" still holds cannot be told: it is locked")
	}
	// A state that moved has another content: that is one reason, not two.
	in.bound = bound(is("state_bound", "content_bound"))
	wantUnmet(t, func(f floors) { f.bindings(in) }, "refuse it as stale")
	moved := is("config_bound")
	moved["config_changes"] = steps.StringsOf([]string{"main.tf", "b.tf"})
	in.bound = bound(moved)
	wantUnmet(t, func(f floors) { f.bindings(in) }, "2 differences, first main.tf")
	moved["config_changes"] = steps.StringsOf([]string{"a.tf"})
	in.bound = bound(moved)
	wantUnmet(t, func(f floors) { f.bindings(in) }, "1 difference, first a.tf")
	moved = is("workspace_bound")
	moved["config_changes"] = steps.StringsOf([]string{"main.tf"})
	in.bound = bound(moved)
	var need []steps.Need
	floors{&need}.bindings(in)
	if len(need) != 1 || strings.Contains(need[0].Why, "main.tf") {
		t.Errorf("unmet = %q", need)
	}
	in.bound, in.toolErr = bound(is("tool_bound")), errors.New("no program")
	wantUnmet(t, func(f floors) { f.bindings(in) }, "another version of the tool")
	wantUnmet(t, func(f floors) { f.bindings(&applyInput{}) })
}

func TestFreeFloors(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		in    applyInput
		unmet []string
	}{
		"free":              {applyInput{}, nil},
		"unread":            {applyInput{lock: backend.Lock{Unread: "no right"}}, []string{"no right"}},
		"unread, taken":     {applyInput{lock: backend.Lock{Unread: "no right", Taken: true}}, nil},
		"held":              {applyInput{lock: backend.Lock{Held: true, ID: "l-1", Info: &backend.LockInfo{Who: "ci@7"}}}, []string{"held as l-1 by ci@7"}},
		"held by no name":   {applyInput{lock: backend.Lock{Held: true, Info: &backend.LockInfo{}}}, []string{"held as unknown by unknown"}},
		"held, undescribed": {applyInput{lock: backend.Lock{Held: true, ID: "l-1"}}, []string{"by someone"}},
		"cloud":             {applyInput{w: module.Workdir{Backend: "cloud"}}, []string{"Backend cloud runs applies"}},
		"remote":            {applyInput{w: module.Workdir{Backend: "remote"}}, []string{"Backend remote runs applies"}},
		"s3":                {applyInput{w: module.Workdir{Backend: "s3"}}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tc.in.w.Dir = t.TempDir()
			wantUnmet(t, func(f floors) { f.free(steps.Env{}, &tc.in) }, tc.unmet...)
		})
	}
}

// TestPausedByOthers: the pause of another incident shuts an apply, one's own does
// not.
func TestPausedByOthers(t *testing.T) {
	t.Parallel()
	raw, err := module.PauseMark{Who: "ana@b", When: time.Now(), Why: "a call", Incident: "i-1", Until: time.Now().Add(time.Hour)}.Encode()
	if err != nil {
		t.Fatal(err)
	}
	in := applyInput{w: module.Workdir{Dir: t.TempDir()}}
	if err := os.WriteFile(filepath.Join(in.w.Dir, module.PauseFile), raw, 0o600); err != nil {
		t.Fatal(err)
	}
	wantUnmet(t, func(f floors) { f.free(steps.Env{Incident: "i-1", Now: time.Now}, &in) })
	wantUnmet(t, func(f floors) { f.free(steps.Env{Incident: "i-2", Now: time.Now}, &in) }, "are paused by ana@b")
}

func TestRunFloors(t *testing.T) {
	t.Parallel()
	trusts := func(string) error { return nil }
	refuses := func(string) error { return errors.New("it changed.") }
	run := []holder.Process{{PID: 7}}
	for name, tc := range map[string]struct {
		env   steps.Env
		in    applyInput
		unmet []string
	}{
		"clear":          {steps.Env{Trusted: trusts}, applyInput{}, nil},
		"no program":     {steps.Env{Trusted: trusts}, applyInput{toolErr: errors.New("no tofu")}, []string{"no tofu"}},
		"no trust":       {steps.Env{}, applyInput{}, []string{"trusted directories only."}},
		"trust is ended": {steps.Env{Trusted: refuses}, applyInput{}, []string{"it changed."}},
		"a run":          {steps.Env{Trusted: trusts}, applyInput{scan: holder.Scan{Holders: run}}, []string{"process 7"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			wantUnmet(t, func(f floors) { f.runs(tc.env, &tc.in) }, tc.unmet...)
		})
	}
}

// locks is a backend of which only its way to unlock is asked.
type locks struct {
	backend.Store
	way backend.UnlockPolicy
}

func (l locks) UnlockPolicy() backend.UnlockPolicy { return l.way }

func TestUnlockFloors(t *testing.T) {
	t.Parallel()
	held := func() subject {
		return subject{s: locks{way: backend.UnlockPolicy{Grammar: regexp.MustCompile(`^l-\d$`), ByHand: "take it by hand"}},
			lock: backend.Lock{Held: true, ID: "l-1", Where: "here"}, state: state.Snapshot{Exists: true}}
	}
	for _, tc := range []struct {
		name  string
		edit  func(*subject)
		unmet []string
	}{
		{"the lock that was read", func(*subject) {}, nil},
		{"free", func(t *subject) { t.lock = backend.Lock{Where: "here"} }, []string{"No lock is held on here"}},
		{"free, and the state is gone", func(t *subject) { t.lock, t.state.Exists = backend.Lock{Where: "here"}, false }, []string{"No lock is held", "There is no state"}},
		{"not by force-unlock", func(t *subject) {
			t.s = locks{way: backend.UnlockPolicy{Refuse: "The session ends it.", Cure: "wait"}}
		}, []string{"The session ends it."}},
		{"unread", func(t *subject) { t.lock = backend.Lock{Unread: "no right"} }, []string{"no right"}},
		{"unread, taken", func(t *subject) { t.lock = backend.Lock{Unread: "no right", Taken: true} }, []string{"no right"}},
		{"stuck", func(t *subject) { t.lock.Stuck, t.lock.StuckCure = "Its table is away.", "look" }, []string{"Its table is away."}},
		{"without an id", func(t *subject) { t.lock.ID, t.lock.InfoWhy = "", "it is cut" }, []string{"The id of the lock cannot be read: it is cut"}},
		{"another", func(t *subject) { t.lock.ID = "l-2" }, []string{`The lock is "l-2" now, not "l-1"`}},
		{"no state", func(t *subject) { t.state.Exists = false }, []string{"There is no state here"}},
		{"state unread", func(t *subject) { t.noSnap = errors.New("it is sealed") }, []string{"it is sealed"}},
		{"state unread, and not there", func(t *subject) { t.noSnap, t.state.Exists = errors.New("it is sealed"), false }, []string{"it is sealed"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			in := held()
			tc.edit(&in)
			wantUnmet(t, func(f floors) { f.lock(in, "l-1") }, tc.unmet...)
		})
	}
	in := held()
	in.lock.ID = "<redacted>"
	wantUnmet(t, func(f floors) { f.lock(in, "<redacted>") }, "is not one that tofu makes")
}

// TestAgeFloor: a lock of just the age opens, one that is a moment younger does
// not, and no runbook makes the floor lower than half an hour.
func TestAgeFloor(t *testing.T) {
	t.Parallel()
	now := time.Now()
	if minAge != 30*time.Minute {
		t.Errorf("minAge = %s: docs/safety.md says half an hour", minAge)
	}
	wantUnmet(t, func(f floors) { f.age(now, minAge, "", minAge) })
	wantUnmet(t, func(f floors) { f.age(now, minAge-1, "", minAge) }, "younger than 30m0s its holder counts as alive")
	wantUnmet(t, func(f floors) { f.age(now, time.Hour, "the clocks differ", minAge) }, "unknown: the clocks differ")
	var need []steps.Need
	floors{&need}.age(now, 10*time.Minute, "", minAge)
	if !strings.HasPrefix(need[0].Cure, "wait 20m0s") {
		t.Errorf("cure = %q", need[0].Cure)
	}
	if want := now.Add(20 * time.Minute); !need[0].At.Equal(want) {
		t.Errorf("it opens at %s, want %s", need[0].At, want)
	}
}

func TestHolderFloors(t *testing.T) {
	t.Parallel()
	wantUnmet(t, func(f floors) {
		f.holder(holder.Scan{HereWhy: "it may be this machine", Holders: []holder.Process{{PID: 1}}}, errors.New("no /proc"), "a@b")
	}, "no /proc")
	wantUnmet(t, func(f floors) { f.holder(holder.Scan{HereWhy: "x", Holders: []holder.Process{{PID: 1}}}, nil, "a@b") }, "The holder is alive: process 1")
	wantUnmet(t, func(f floors) { f.holder(holder.Scan{Blind: "another user"}, nil, "a@b") })
	wantUnmet(t, func(f floors) {
		f.holder(holder.Scan{Here: true, Blind: "another user", Later: []holder.Process{{PID: 1}}}, nil, "a@b")
	}, "process 1")
	// What an earlier floor refused hides nothing of the holder.
	wantUnmet(t, func(f floors) {
		f.unmet("c", "first")
		f.holder(holder.Scan{Here: true, Blind: "another user"}, nil, "a@b")
	}, "first", "another user")
}

// TestLeftBehindIsCounted: the first are named, and where there are more all are
// counted.
func TestLeftBehindIsCounted(t *testing.T) {
	t.Parallel()
	few := make([]holder.Process, 4)
	wantUnmet(t, func(f floors) { f.leftBehind(holder.Scan{Plugins: few, Children: few}) }, "The provider plugin", "The provider plugin", "The provider plugin", "The provider plugin",
		"is what a run left", "is what a run left", "is what a run left", "is what a run left")
	more := make([]holder.Process, 5)
	wantUnmet(t, func(f floors) { f.leftBehind(holder.Scan{Plugins: more}) }, "plugin", "plugin", "plugin", "plugin", "5 processes in all")
	wantUnmet(t, func(f floors) { f.leftBehind(holder.Scan{Plugins: few[:1], Children: more}) }, "plugin", "left", "left", "left", "left", "6 processes in all")
}

func TestGroundFloors(t *testing.T) {
	t.Parallel()
	env := steps.Env{Trusted: func(string) error { return nil }}
	wantUnmet(t, func(f floors) { f.ground(env, subject{}, nil) })
	wantUnmet(t, func(f floors) { f.ground(env, subject{w: module.Workdir{Space: "a", Selected: "b"}}, nil) }, `in effect is "a", but force-unlock would use "b"`)
	wantUnmet(t, func(f floors) { f.ground(env, subject{}, errors.New("no tofu")) }, "no tofu")
	wantUnmet(t, func(f floors) { f.ground(steps.Env{}, subject{}, nil) }, "trusted directories only.")
}

func TestWriteFloors(t *testing.T) {
	t.Parallel()
	env := steps.Env{Trusted: func(string) error { return nil }}
	for name, tc := range map[string]struct {
		env   steps.Env
		in    site
		unmet []string
	}{
		"clear":             {env, site{}, nil},
		"lock unread":       {env, site{lock: backend.Lock{Unread: "no right"}}, []string{"no right"}},
		"unread, taken":     {env, site{lock: backend.Lock{Unread: "no right", Taken: true}}, nil},
		"held":              {env, site{lock: backend.Lock{Held: true, ID: "l-1", Info: &backend.LockInfo{Who: "ci@7"}}}, []string{"locked by ci@7 (l-1)"}},
		"held, undescribed": {env, site{lock: backend.Lock{Held: true}}, []string{"locked by someone (unknown)"}},
		"workspace":         {env, site{w: module.Workdir{Space: "a", Selected: "b"}}, []string{`in effect is "a", but "b" is selected`}},
		"no program":        {env, site{noTool: errors.New("no tofu")}, []string{"no tofu"}},
		"no trust":          {steps.Env{}, site{}, []string{"trusted directories only."}},
		"a run":             {env, site{near: &surroundings{done: true, scan: holder.Scan{Holders: []holder.Process{{PID: 7}}}}}, []string{"process 7"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if tc.in.near == nil {
				tc.in.near = &surroundings{done: true}
			}
			wantUnmet(t, func(f floors) { f.writable(tc.env, tc.in) }, tc.unmet...)
		})
	}
	wantUnmet(t, func(f floors) { f.sound(site{}) })
	wantUnmet(t, func(f floors) { f.sound(site{unsound: errors.New("it is cut.")}) }, "by address: it is cut.")
	wantUnmet(t, func(f floors) { f.sound(site{lock: backend.Lock{Digest: "mismatch"}}) }, "digest of the backend")
	wantUnmet(t, func(f floors) { f.sound(site{lock: backend.Lock{Digest: "match"}}) })
}

// recording is a state with these addresses.
func recording(addresses ...string) site {
	now := state.Ledger{Doc: &tfstate.Doc{}}
	for _, a := range addresses {
		now.Entries = append(now.Entries, state.Entry{Address: a, Type: "a", Mode: "managed", ID: "id-" + a})
	}
	return site{now: now}
}

func TestAddressFloors(t *testing.T) {
	t.Parallel()
	there := recording("a.b", "a.c")
	unsound := site{unsound: errors.New("it is cut")}
	wantUnmet(t, func(f floors) { f.removable(there, []string{"a.b", "a.c"}) })
	wantUnmet(t, func(f floors) { f.removable(there, nil) }, "No address is named")
	wantUnmet(t, func(f floors) { f.removable(there, []string{"-a", "a.z"}) }, `"-a" is no address`, "a.z is not recorded")
	wantUnmet(t, func(f floors) { f.removable(unsound, []string{"a.z"}) })
	if mostRemoved != 200 {
		t.Errorf("mostRemoved = %d", mostRemoved)
	}
	many := make([]string, mostRemoved+1)
	for i := range many {
		many[i] = "a.b"
	}
	wantUnmet(t, func(f floors) { f.removable(there, many[1:]) })
	wantUnmet(t, func(f floors) { f.removable(there, many) }, "201 addresses are more than the 200")
	for i := range many {
		many[i] = "-"
	}
	var need []steps.Need
	if (floors{&need}).removable(there, many[1:]); len(need) != 21 {
		t.Errorf("%d addresses are named, want 21", len(need))
	}

	wantUnmet(t, func(f floors) { f.movable(there, "a.b", "a.d") })
	wantUnmet(t, func(f floors) { f.movable(there, "-x", "a.d") }, `"-x" is no address`)
	wantUnmet(t, func(f floors) { f.movable(there, "a.b", "\x1b") }, "is no address")
	wantUnmet(t, func(f floors) { f.movable(unsound, "a.z", "a.z") })
	wantUnmet(t, func(f floors) { f.movable(there, "a", "a.d") }, `"a" does not name one`)
	wantUnmet(t, func(f floors) { f.movable(there, "a.b", "d") }, `"d" does not name one`)
	wantUnmet(t, func(f floors) { f.movable(there, "a.z", "a.d") }, "a.z is not recorded")
	wantUnmet(t, func(f floors) { f.movable(there, "a.b", "a.b") }, "It is at a.b already")
	wantUnmet(t, func(f floors) { f.movable(there, "a.b", "a.c") }, "a.c is recorded already")
	wantUnmet(t, func(f floors) { f.movable(there, "a.b", "z.b") }, "not of one type")
	wantUnmet(t, func(f floors) { f.movable(recording("data.a.b"), "data.a.b", "data.a.c") }, "is a data source")
	wantUnmet(t, func(f floors) { f.movable(recording("data.a.b"), "data.a.b", "a.c") }, "not of one type")

	exists := sightings{"a.b": {Known: true, There: true, Say: "seen"}, "a.c": {Known: true}, "a.d": {There: true}}
	wantUnmet(t, func(f floors) { f.absent(exists, []string{"a.b", "a.c", "a.d", "a.e"}) }, "The object of a.b exists: seen")
	for i := range many {
		many[i] = "a.b"
	}
	need = nil
	if (floors{&need}).absent(exists, many); len(need) != 21 {
		t.Errorf("%d objects are named, want 21", len(need))
	}
}

// TestKeyFloors: all instances of a resource have keys of one sort, and an address
// means one of them.
func TestKeyFloors(t *testing.T) {
	t.Parallel()
	instance := func(key string) string { return `{"index_key":` + key + `,"schema_version":0,"attributes":{"id":"x"}}` }
	of := func(name string, instances ...string) string {
		return `{"mode":"managed","type":"a","name":"` + name + `","provider":"provider[\"p\"]","instances":[` + strings.Join(instances, ",") + `]}`
	}
	var now state.Ledger
	err := now.Fill(t.Context(), strings.NewReader(`{"version":4,"terraform_version":"1.9.0","serial":1,"lineage":"l","outputs":{},"resources":[`+
		of("one", `{"schema_version":0,"attributes":{"id":"x"}}`)+","+of("many", instance("0"), instance("1"))+","+of("keyed", instance(`"k"`))+`]}`), func(string) {})
	if err != nil {
		t.Fatal(err)
	}
	there := site{now: now}
	wantUnmet(t, func(f floors) { f.movable(there, "a.one", "a.many[2]") })
	wantUnmet(t, func(f floors) { f.movable(there, "a.one", `a.keyed["x"]`) })
	wantUnmet(t, func(f floors) { f.movable(there, "a.one", `a.many["x"]`) }, "a.many has other instances, with keys of another sort")
	wantUnmet(t, func(f floors) { f.movable(there, "a.one", "a.keyed[0]") }, "keys of another sort")
	wantUnmet(t, func(f floors) { f.movable(there, "a.one", "a.keyed") }, "keys of another sort")
	wantUnmet(t, func(f floors) { f.removable(there, []string{"a.one", "a.many[0]"}) })
	wantUnmet(t, func(f floors) { f.removable(there, []string{"a.many"}) }, "a.many has 2 instances, first a.many[0]")
}

func TestDeclarationFloors(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		d       loosetype.Declaration
		address string
		unmet   []string
	}{
		{loosetype.Declaration{Found: true}, "a.b", nil},
		{loosetype.Declaration{}, "a.b", []string{"does not declare a.b"}},
		{loosetype.Declaration{Gaps: []string{"x"}}, "a.b[0]", nil},
		{loosetype.Declaration{Found: true, Repeat: "count"}, "a.b[0]", nil},
		{loosetype.Declaration{Found: true, Repeat: "count"}, "a.b", []string{"names no index"}},
		{loosetype.Declaration{Found: true, Repeat: "count"}, `a.b["x"]`, []string{"names no index"}},
		{loosetype.Declaration{Found: true, Repeat: "for_each"}, `a.b["x"]`, nil},
		{loosetype.Declaration{Found: true, Repeat: "for_each"}, "a.b[0]", []string{"names no key"}},
		{loosetype.Declaration{Found: true}, "a.b[0]", []string{"declared once"}},
	} {
		a, ok := configuration.ParseAddress(tc.address)
		if !ok {
			t.Fatal(tc.address)
		}
		wantUnmet(t, func(f floors) { f.declarable(tc.d, a, tc.address) }, tc.unmet...)
	}
}

func TestRestoreFloors(t *testing.T) {
	t.Parallel()
	ledger := func(lineage, sum string, entries ...state.Entry) state.Ledger {
		return state.Ledger{Doc: &tfstate.Doc{Lineage: lineage, OutputSum: tfstate.Sum{sum[0]}}, Entries: entries}
	}
	one := state.Entry{Address: "a.b"}
	for _, tc := range []struct {
		name  string
		in    restoreInput
		unmet []string
	}{
		{"another content", restoreInput{site: site{now: ledger("l", "1")}, from: ledger("l", "1", one)}, nil},
		{"other outputs", restoreInput{site: site{now: ledger("l", "1", one)}, from: ledger("l", "2", one)}, nil},
		{"the same", restoreInput{site: site{now: ledger("l", "1", one)}, from: ledger("l", "1", one)}, []string{"records the same already"}},
		{"the same under a wrong digest", restoreInput{site: site{now: ledger("l", "1", one), lock: backend.Lock{Digest: "mismatch"}}, from: ledger("l", "1", one)}, nil},
		{"a wrong digest that cannot be mended", restoreInput{site: site{now: ledger("l", "1", one), lock: backend.Lock{Digest: "mismatch"}}, noMend: errors.New("no right"), from: ledger("l", "1", one)}, []string{"-force neither: no right"}},
		{"nothing to mend, and no way to", restoreInput{site: site{now: ledger("l", "1")}, noMend: errors.New("no right"), from: ledger("l", "1", one)}, nil},
		{"another lineage", restoreInput{site: site{now: ledger("l", "1")}, from: ledger("m", "1", one)}, []string{"has the lineage m, the state here has l"}},
		{"a lineage that is not known", restoreInput{site: site{now: ledger("", "1")}, from: ledger("m", "1", one)}, nil},
		{"broken", restoreInput{site: site{now: state.Ledger{Broken: true}, unsound: errors.New("it is cut")}, from: ledger("m", "1", one)}, nil},
		{"absent", restoreInput{site: site{unsound: fmt.Errorf("x: %w", state.ErrAbsent)}, from: ledger("m", "1", one)}, nil},
		{"unreadable", restoreInput{site: site{unsound: errors.New("it is sealed.")}, from: ledger("m", "1", one)}, []string{"cannot be replaced: it is sealed."}},
		{"unreadable, and the same as far as it goes", restoreInput{site: site{now: ledger("l", "1", one), unsound: errors.New("it is sealed")}, from: ledger("l", "1", one)}, []string{"cannot be replaced"}},
		{"of the newest version that says one", restoreInput{version: "v9", site: site{now: state.Ledger{Broken: true}, unsound: errors.New("it is cut")}, from: ledger("m", "1", one),
			versions: backend.VersionList{List: []backend.Version{{ID: "v9"}, {ID: "errored.tfstate"}, {ID: "v8"}, {ID: "v7"}}},
			heads:    map[string]backend.Head{"v9": {Lineage: "m"}, "errored.tfstate": {Lineage: "m"}, "v7": {Lineage: "l"}}}, []string{"the state here has l"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			wantUnmet(t, func(f floors) { f.restorable(tc.in) }, tc.unmet...)
		})
	}
}

// TestJudgeOfAWrite: the outcome is what is recorded now, whatever the program
// said.
func TestJudgeOfAWrite(t *testing.T) {
	t.Parallel()
	at := func(serial int64, lineage string) site {
		return site{now: state.Ledger{Doc: &tfstate.Doc{Serial: serial, Lineage: lineage}}}
	}
	locked := at(8, "l")
	locked.lock = backend.Lock{Held: true, ID: "l-1", Info: &backend.LockInfo{Who: "ci@7"}}
	undescribed := at(8, "l")
	undescribed.lock = backend.Lock{Held: true, ID: "l-1"}
	was := change{serial: 7, lineage: "l", what: "It is gone.", not: "It is still there."}
	did := was
	did.done = true
	other, first := did, did
	other.other = "a.b"
	first.loose, first.lineage = true, absent
	touched := was
	touched.other = "a.b"
	for _, tc := range []struct {
		name   string
		c      change
		now    site
		err    error
		result string
		said   []string
		not    []string
	}{
		{"done", did, at(8, "l"), nil, steps.Done, []string{"It is gone. The serial went from 7 to 8."}, []string{"someone", "lineage", "More than that", "error"}},
		{"done, whatever the program said", did, at(8, "l"), errors.New("exit 1"), steps.Done, []string{"ended with an error: exit 1"}, nil},
		{"not done", was, at(7, "l"), nil, steps.Failed, []string{"It is still there. The state is as it was, serial 7."}, []string{"moved"}},
		{"not done, and written", was, at(9, "l"), nil, steps.Failed, []string{"It is still there. The serial moved from 7 to 9: someone else wrote the state."}, []string{"as it was"}},
		{"not done, and something else is", touched, at(7, "l"), nil, steps.Failed, []string{"It is still there.", "More than that differs: a.b"}, []string{"as it was"}},
		{"done, and more", other, at(8, "l"), nil, steps.Failed, []string{"More than that differs: a.b"}, nil},
		{"done, with the serial of before", did, at(7, "l"), nil, steps.Failed, []string{"It is gone. The serial went from 7 to 7.", "This write leaves serial 8"}, []string{"as it was"}},
		{"done by two", did, at(9, "l"), nil, steps.Failed, []string{"This write leaves serial 8: someone else wrote it too."}, nil},
		{"the first write", first, at(3, "new"), nil, steps.Done, nil, []string{"someone", "lineage"}},
		{"another lineage", did, at(8, "m"), nil, steps.Failed, []string{"The lineage is m now, it was l"}, nil},
		{"the state is gone", was, site{}, nil, steps.Failed, []string{"The lineage is unknown now"}, nil},
		{"locked since", did, locked, nil, steps.Done, []string{"locked now, as l-1 by ci@7"}, nil},
		{"locked since, undescribed", did, undescribed, nil, steps.Done, []string{"as l-1 by someone"}, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			result, said := tc.c.judge(tc.now, "out", tc.err)
			if result != tc.result || !strings.HasPrefix(said, "out\n") {
				t.Errorf("judge() = %s, %q, want %s", result, said, tc.result)
			}
			for _, part := range tc.said {
				if !strings.Contains(said, part) {
					t.Errorf("judge() says %q, want %q", said, part)
				}
			}
			for _, part := range tc.not {
				if strings.Contains(said, part) {
					t.Errorf("judge() says %q, without %q", said, part)
				}
			}
		})
	}
}

func TestBegan(t *testing.T) {
	t.Parallel()
	kv := func(lineage, serial string) []steps.KV {
		return []steps.KV{{Key: keyLineage, Value: lineage}, {Key: keySerial, Value: serial}, {Key: keyOthers, Value: "o"}}
	}
	if c, o, err := began(kv("l", "7")); err != nil || o != "o" || c.serial != 7 || c.lineage != "l" || c.loose {
		t.Errorf("began() = %+v, %q, %v", c, o, err)
	}
	if c, _, err := began(kv("l", "9223372036854775807")); err != nil || c.serial != 1<<63-1 {
		t.Errorf("began() of the largest serial = %+v, %v", c, err)
	}
	if c, o, err := began(kv(absent, absent)); err != nil || o != "o" || !c.loose {
		t.Errorf("began() of the first write = %+v, %q, %v", c, o, err)
	}
	if _, _, err := began(kv("l", "unknown")); err == nil {
		t.Error("began() without a serial is no error")
	}
	if otherThan("a", "a") != "" || otherThan("a", "b") == "" {
		t.Error("otherThan() does not tell the same from another")
	}
}

// TestUnsent: an act is not begun where anything is not as it was shown.
func TestUnsent(t *testing.T) {
	t.Parallel()
	shown := steps.Preview{Target: []steps.KV{{Key: "a", Value: "1"}}, Request: "tofu x"}
	for name, tc := range map[string]struct {
		edit func(*steps.Preview)
		err  error
		want string
	}{
		"as it was":       {func(*steps.Preview) {}, nil, ""},
		"unread":          {func(*steps.Preview) {}, errors.New("gone"), "could not be read again: gone"},
		"moved":           {func(p *steps.Preview) { p.Target = []steps.KV{{Key: "a", Value: "2"}} }, nil, `a is "2" now, it was "1"`},
		"a floor":         {func(p *steps.Preview) { p.Unmet = []steps.Need{{Why: "It is held."}} }, nil, "It is held."},
		"another request": {func(p *steps.Preview) { p.Request = "tofu y" }, nil, "in another way"},
	} {
		fresh := shown
		tc.edit(&fresh)
		if got := unsent(shown, fresh, tc.err); (got == "") != (tc.want == "") || !strings.Contains(got, tc.want) {
			t.Errorf("%s: unsent() = %q, want %q", name, got, tc.want)
		}
	}
}

// TestOperationsThatChange: what is not known counts as an apply.
func TestOperationsThatChange(t *testing.T) {
	t.Parallel()
	for operation, want := range map[string]bool{"OperationTypePlan": false, "OperationTypeRefresh": false, "OperationTypeInvalid": false, "init": false, "workspace-new": false,
		"OperationTypeApply": true, "": true, "state-push": true} {
		if got := changes(operation); got != want {
			t.Errorf("changes(%q) = %v", operation, got)
		}
	}
}
