package terraform

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
)

// recently is how long a change of a state by hand is news.
const recently = 7 * 24 * time.Hour

// Ask answers one question of the command centre about the workspace of env's
// directory; ok is false where it has nothing to do with one. It runs no
// program and takes no lock. secret is told what is sensitive in a state.
func Ask(ctx context.Context, env steps.Env, question string, secret func(string)) (a steps.Answer, ok bool) {
	look, ok := map[string]func(context.Context, steps.Env, workdir, unkept, *steps.Answer){
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
	w, err := openWorkdir(env, steps.Params{})
	switch {
	case errors.Is(err, errNotInitialised):
		a.Gaps = append(a.Gaps, steps.Gap{What: steps.Workspace, Kind: steps.Absent, Say: "no workspace: " + env.Dir + " is no initialised root module"})
	case err != nil:
		a.Gaps = append(a.Gaps, steps.GapOf(steps.Workspace+" "+env.Dir, err))
	default:
		look(ctx, env, w, unkept(secret), &a)
	}
	a.Took = time.Since(began)
	return a, true
}

func askLock(ctx context.Context, env steps.Env, w workdir, out unkept, a *steps.Answer) {
	if unasked(env, w, "lock of ", a) {
		return
	}
	s, err := openStore(ctx, env, w, out)
	if err != nil {
		a.Gaps = append(a.Gaps, steps.GapOf("lock of "+w.place(), err))
		return
	}
	l, err := s.lock(ctx)
	if err != nil {
		a.Gaps = append(a.Gaps, steps.GapOf("lock of "+w.place(), err))
		return
	}
	if l.unread != "" {
		a.Gaps = append(a.Gaps, steps.Gap{What: "lock of " + w.place(), Kind: steps.NotAsked, Say: l.unread})
		return
	}
	a.Seen = append(a.Seen, "lock of "+w.place())
	if !l.held {
		return
	}
	row := steps.Standing{Level: steps.Warning, What: "locked, nothing says by whom", Where: l.where, Command: s.command("lock"), Detail: l.infoWhy,
		Runbook: "state-lock", Params: map[string]string{"dir": ".", "workspace": w.space}}
	if l.info != nil {
		row.What, row.Owner, row.Since = "locked for "+orUnknown(clip(l.info.Operation, 60)), clip(l.info.Who, 200), l.info.Created
		row.Detail = clip(l.info.Info, 300)
	}
	a.Rows = append(a.Rows, row)
}

// unasked keeps a clone from having a server of its choice asked because a person
// typed handrail there: that takes a person who asks, or trust.
func unasked(env steps.Env, w workdir, what string, a *steps.Answer) bool {
	named := untrustedServers(env, w)
	if len(named) == 0 {
		return false
	}
	a.Gaps = append(a.Gaps, steps.Gap{What: what + w.place(), Kind: steps.NotAsked,
		Say: fmt.Sprintf("not trusted: nothing was sent to %s, which %s names by itself; `handrail start state-lock` asks there, and so does this screen after `handrail trust`", clip(strings.Join(named, ", "), 300), w.dir)})
	return true
}

// askPartial looks for what a run leaves behind that did not come to its end.
func askPartial(ctx context.Context, env steps.Env, w workdir, out unkept, a *steps.Answer) {
	name := filepath.Join(w.dir, "errored.tfstate")
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
	s, err := openStore(ctx, env, w, out)
	if err == nil {
		err = leftBehind(ctx, s, w, out, a)
	}
	if err != nil {
		a.Gaps = append(a.Gaps, steps.GapOf("state of "+w.place(), err))
		return
	}
	a.Seen = append(a.Seen, "state of "+w.place())
}

func leftBehind(ctx context.Context, s store, w workdir, out unkept, a *steps.Answer) error {
	if l, err := s.lock(ctx); err != nil {
		return err
	} else if i := l.leftover; i != nil && s.name() == "local" { // the Lease keeps what it said last
		a.Rows = append(a.Rows, steps.Standing{Level: steps.Warning, What: "a run was killed while it held the lock: " + orUnknown(clip(i.Operation, 60)),
			Where: l.where, Since: i.Created, Owner: clip(i.Who, 200), Command: s.command("lock")})
	}
	r, err := s.state(ctx)
	if err != nil || !r.exists {
		return err
	}
	row := steps.Standing{Level: steps.Warning, Where: "state " + r.where, Since: r.written, Command: s.command("state")}
	if r.body == nil {
		row.Level, row.What = steps.Critical, "the state cannot be read: "+clip(r.broken, 160)
		a.Rows = append(a.Rows, row)
		return nil
	}
	defer r.body.Close()
	st, err := parseState(bounded(ctx, r.body), out.Secret)
	switch {
	case err != nil:
		return err
	case len(st.broken) > 0:
		row.Level, row.What = steps.Critical, "the state is broken: "+clip(st.broken[0], 160)
	case st.tainted > 0 && st.deposed > 0:
		row.What = fmt.Sprintf("%d tainted and %d deposed objects wait for the next apply", st.tainted, st.deposed)
	case st.tainted > 0:
		row.What = fmt.Sprintf("%d tainted objects: their creation did not come to its end", st.tainted)
	case st.deposed > 0:
		row.What = fmt.Sprintf("%d deposed objects: their replacement did not come to its end", st.deposed)
	case st.encrypted:
		a.Gaps = append(a.Gaps, steps.Gap{What: "state of " + w.place(), Kind: steps.Unread, Say: "the state is encrypted"})
		return nil
	default:
		return nil
	}
	a.Rows = append(a.Rows, row)
	return nil
}

// askRepaired finds the backups of states that were changed by hand.
func askRepaired(_ context.Context, env steps.Env, w workdir, _ unkept, a *steps.Answer) {
	entries, err := os.ReadDir(w.dir)
	if err != nil {
		a.Gaps = append(a.Gaps, steps.GapOf("directory "+w.dir, err))
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
		name := filepath.Join(w.dir, e.Name())
		a.Rows = append(a.Rows, steps.Standing{Level: steps.Info, What: "the state was changed with `state mv` or `state rm`", Where: name, Since: at,
			Command: "ls -l " + steps.Quote(name)})
	}
	a.Seen = append(a.Seen, "backups in "+w.dir)
}

// askDrift says what it does not do: only a plan would tell, and a plan runs
// providers with the operator's credentials.
func askDrift(_ context.Context, _ steps.Env, w workdir, _ unkept, a *steps.Answer) {
	a.Gaps = append(a.Gaps, steps.Gap{What: "drift of " + w.place(), Kind: steps.NotAsked, Say: "only a plan would tell, and this screen runs none"})
}
