package state

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"handrail/steps"
	"handrail/steps/terraform/backend"
	"handrail/steps/terraform/module"
	"handrail/steps/terraform/prose"
)

// recently is how long a change of a state by hand is news.
const recently = 7 * 24 * time.Hour

// Ask answers one question of the command centre about the workspace of env's
// directory; ok is false where it has nothing to do with one. It runs no
// program and takes no lock. secret is told what is sensitive in a state.
func Ask(ctx context.Context, env steps.Env, question string, secret func(string)) (a steps.Answer, ok bool) {
	look, ok := map[string]func(context.Context, steps.Env, module.Workdir, steps.SecretsOnly, *steps.Answer){
		steps.LockedRuns:     askLock,
		steps.PartialApplies: askPartial,
		steps.RepairedState:  askRepaired,
		steps.OpenDrift:      askDrift,
	}[question]
	if !ok {
		return steps.Answer{}, false
	}
	began := time.Now()
	a.Question = question
	w, err := module.Open(env, steps.Params{})
	switch {
	case errors.Is(err, module.ErrNotInitialised):
		a.Gaps = append(a.Gaps, steps.Gap{What: steps.Workspace, Kind: steps.Absent, Say: "no workspace: " + env.Dir + " is no initialised root module"})
	case err != nil:
		a.Gaps = append(a.Gaps, steps.GapOf(steps.Workspace+" "+env.Dir, err))
	default:
		look(ctx, env, w, steps.SecretsOnly(secret), &a)
	}
	a.Took = time.Since(began)
	return a, true
}

func askLock(ctx context.Context, env steps.Env, w module.Workdir, out steps.SecretsOnly, a *steps.Answer) {
	if unasked(env, w, "lock of ", a) {
		return
	}
	s, err := backend.Open(ctx, env, w, out)
	if err != nil {
		a.Gaps = append(a.Gaps, steps.GapOf("lock of "+w.Place(), err))
		return
	}
	l, err := s.Lock(ctx)
	if err != nil {
		a.Gaps = append(a.Gaps, steps.GapOf("lock of "+w.Place(), err))
		return
	}
	if l.Unread != "" {
		a.Gaps = append(a.Gaps, steps.Gap{What: "lock of " + w.Place(), Kind: steps.NotAsked, Say: l.Unread})
		return
	}
	a.Seen = append(a.Seen, "lock of "+w.Place())
	if !l.Held {
		return
	}
	row := steps.Standing{Level: steps.Warning, What: "locked, nothing says by whom", Where: l.Where, Command: s.Command("lock"), Detail: l.InfoWhy,
		Runbook: "state-lock", Params: map[string]string{"dir": ".", "workspace": w.Space}}
	if l.Info != nil {
		row.What, row.Owner, row.Since = "locked for "+prose.OrUnknown(steps.Clip(l.Info.Operation, 60)), steps.Clip(l.Info.Who, 200), l.Info.Created
		row.Detail = steps.Clip(l.Info.Info, 300)
	}
	a.Rows = append(a.Rows, row)
}

// unasked keeps a clone from having a server of its choice asked because a person
// typed handrail there: that takes a person who asks, or trust.
func unasked(env steps.Env, w module.Workdir, what string, a *steps.Answer) bool {
	named := backend.UntrustedServers(env, w)
	if len(named) == 0 {
		return false
	}
	a.Gaps = append(a.Gaps, steps.Gap{What: what + w.Place(), Kind: steps.NotAsked,
		Say: fmt.Sprintf("not trusted: nothing was sent to %s, which %s names by itself; `handrail start state-lock` asks there, and so does this screen after `handrail trust`", steps.Clip(strings.Join(named, ", "), 300), w.Dir)})
	return true
}

// askPartial looks for what a run leaves behind that did not come to its end.
func askPartial(ctx context.Context, env steps.Env, w module.Workdir, out steps.SecretsOnly, a *steps.Answer) {
	name := filepath.Join(w.Dir, "errored.tfstate")
	switch info, err := os.Lstat(name); {
	case err == nil:
		a.Rows = append(a.Rows, steps.Standing{Level: steps.Critical, What: "a run could not save its state: errored.tfstate", Where: name, Since: info.ModTime(),
			Detail:  "What it made is recorded in this file alone. Keep it, and do not run again before it is known what it holds.",
			Command: "ls -l " + steps.Quote(name)})
	case !errors.Is(err, fs.ErrNotExist):
		a.Gaps = append(a.Gaps, steps.GapOf(name, err))
	}
	if unasked(env, w, "state of ", a) {
		return
	}
	s, err := backend.Open(ctx, env, w, out)
	if err == nil {
		err = leftBehind(ctx, s, w, out, a)
	}
	if err != nil {
		a.Gaps = append(a.Gaps, steps.GapOf("state of "+w.Place(), err))
		return
	}
	a.Seen = append(a.Seen, "state of "+w.Place())
}

func leftBehind(ctx context.Context, s backend.Store, w module.Workdir, out steps.SecretsOnly, a *steps.Answer) error {
	if l, err := s.Lock(ctx); err != nil {
		return err
	} else if i := l.Leftover; i != nil && s.Name() == "local" { // the Lease keeps what it said last
		a.Rows = append(a.Rows, steps.Standing{Level: steps.Warning, What: "a run was killed while it held the lock: " + prose.OrUnknown(steps.Clip(i.Operation, 60)),
			Where: l.Where, Since: i.Created, Owner: steps.Clip(i.Who, 200), Command: s.Command("lock")})
	}
	r, err := s.State(ctx)
	if err != nil || !r.Exists {
		return err
	}
	row := steps.Standing{Level: steps.Warning, Where: "state " + r.Where, Since: r.Written, Command: s.Command("state")}
	if r.Body == nil {
		row.Level, row.What = steps.Critical, "the state cannot be read: "+steps.Clip(r.Broken, 160)
		a.Rows = append(a.Rows, row)
		return nil
	}
	defer r.Body.Close()
	st, err := parseState(module.Until(ctx, r.Body), out.Secret)
	switch {
	case err != nil:
		return err
	case len(st.broken) > 0:
		row.Level, row.What = steps.Critical, "the state is broken: "+steps.Clip(st.broken[0], 160)
	case st.tainted > 0 && st.deposed > 0:
		row.What = fmt.Sprintf("%d tainted and %d deposed objects wait for the next apply", st.tainted, st.deposed)
	case st.tainted > 0:
		row.What = fmt.Sprintf("%d tainted objects: their creation did not come to its end", st.tainted)
	case st.deposed > 0:
		row.What = fmt.Sprintf("%d deposed objects: their replacement did not come to its end", st.deposed)
	case st.encrypted:
		a.Gaps = append(a.Gaps, steps.Gap{What: "state of " + w.Place(), Kind: steps.Unread, Say: "the state is encrypted"})
		return nil
	default:
		return nil
	}
	a.Rows = append(a.Rows, row)
	return nil
}

// askRepaired finds the backups of states that were changed by hand.
func askRepaired(_ context.Context, env steps.Env, w module.Workdir, _ steps.SecretsOnly, a *steps.Answer) {
	entries, err := os.ReadDir(w.Dir)
	if err != nil {
		a.Gaps = append(a.Gaps, steps.GapOf("directory "+w.Dir, err))
		return
	}
	for _, e := range entries {
		m := surgery.FindStringSubmatch(e.Name())
		if m == nil {
			continue
		}
		sec, err := strconv.ParseInt(m[1], 10, 64)
		at := time.Unix(sec, 0)
		if err != nil || env.Now().Sub(at) > recently {
			continue
		}
		name := filepath.Join(w.Dir, e.Name())
		a.Rows = append(a.Rows, steps.Standing{Level: steps.Info, What: "the state was changed with `state mv` or `state rm`", Where: name, Since: at,
			Command: "ls -l " + steps.Quote(name)})
	}
	a.Seen = append(a.Seen, "backups in "+w.Dir)
}

// askDrift says what it does not do: only a plan would tell, and a plan runs
// providers with the operator's credentials.
func askDrift(_ context.Context, _ steps.Env, w module.Workdir, _ steps.SecretsOnly, a *steps.Answer) {
	a.Gaps = append(a.Gaps, steps.Gap{What: "drift of " + w.Place(), Kind: steps.NotAsked, Say: "only a plan would tell, and this screen runs none"})
}
