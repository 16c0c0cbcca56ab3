package change

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/hashicorp/terraform-exec/tfexec"

	"handrail/steps"
	"handrail/steps/terraform/module"
	"handrail/steps/terraform/tool"
)

// unlockGrace is how long an interrupted force-unlock may take: killing it could
// leave the Lease half written.
const unlockGrace = 10 * time.Minute

// Act implements steps.Gater. It works from the approved preview alone, reads
// the target once more, and runs force-unlock through terraform-exec.
func (g UnlockGate) Act(ctx context.Context, a *steps.Approval, out steps.Sink) (steps.Outcome, error) {
	p, err := a.Spend()
	if err != nil {
		return steps.Outcome{}, err
	}
	at := func(key string) string { return steps.Find(p.Target, key) }
	in := steps.Params{"dir": steps.PathOf(at(module.KeyDir))}
	t, err := g.read(ctx, in, out)
	if err != nil {
		// Nothing was sent: that outcome is known.
		return steps.Outcome{Result: steps.Refused, Response: "not sent, the target could not be read again: " + err.Error()}, nil
	}
	id := at(keyID)
	if why := g.moved(p, t); why != "" {
		return steps.Outcome{Result: steps.Refused, Response: "not sent: " + why, After: t.target(at(keyTool))}, nil
	}
	if err := steps.Begin(ctx); err != nil {
		return steps.Outcome{Result: steps.Refused, Response: "not sent: " + err.Error()}, nil
	}
	said, runErr := g.forceUnlock(ctx, at(keyTool), t.w.Dir, id, out)
	// The outcome matters even when the person has turned away.
	readCtx, stop := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
	defer stop()
	after, err := g.read(readCtx, in, out)
	if err != nil {
		return steps.Outcome{}, fmt.Errorf("lock %s after force-unlock (it said %q): %w; read the lock again before anything else", id, said, err)
	}
	o := steps.Outcome{Response: said, After: after.target(at(keyTool))}
	o.Result, o.Response = judgeUnlock(p, after, said, runErr)
	return o, nil
}

// moved says what differs from the preview, "" for nothing.
func (g UnlockGate) moved(p steps.Preview, t subject) string {
	now := t.target(steps.Find(p.Target, keyTool))
	for _, want := range p.Target {
		if got := steps.Find(now, want.Key); got != want.Value {
			return fmt.Sprintf("%s is %q now, it was %q", want.Key, got, want.Value)
		}
	}
	switch {
	case t.lock.Unread != "" || !t.lock.Held:
		return "the lock is gone"
	case t.s.UnlockPolicy().Refuse != "" || !t.s.UnlockPolicy().Grammar.MatchString(t.lock.ID) || t.lock.Stuck != "":
		return "this lock cannot be released by force-unlock"
	case t.noSnap != nil || !t.state.Exists:
		return "there is no readable state, and force-unlock would create one"
	case t.w.Space != t.w.Selected:
		return fmt.Sprintf("force-unlock would use the workspace %q", t.w.Selected)
	}
	if err := tool.Trusted(g.Env, t.w.Dir); err != nil {
		return err.Error()
	}
	return ""
}

// forceUnlock runs the program with the environment that the native read used.
func (g UnlockGate) forceUnlock(ctx context.Context, path, dir, id string, out steps.Sink) (said string, err error) {
	tf, err := tfexec.NewTerraform(dir, path)
	if err != nil {
		return err.Error(), err
	}
	for _, v := range tool.Secrets(g.Env) {
		out.Secret(v)
	}
	env := map[string]string{}
	for _, kv := range tool.Env(g.Env) {
		name, value, _ := strings.Cut(kv, "=")
		env[name] = value
	}
	if err := tf.SetEnv(tfexec.CleanEnv(env)); err != nil {
		return err.Error(), err
	}
	if err := tf.SetWaitDelay(unlockGrace); err != nil {
		return err.Error(), err
	}
	var buf bytes.Buffer
	tf.SetStdout(&buf)
	out.Line("force-unlock " + id)
	err = tf.ForceUnlock(ctx, id)
	if err != nil {
		buf.WriteString(err.Error())
	}
	said = strings.TrimSpace(buf.String())
	if gap := steps.Keep(out, "output", steps.MediaText, func(w io.Writer) error { _, err := io.WriteString(w, said); return err }); gap != "" {
		said += "\n" + gap
	}
	return said, err
}

// judgeUnlock decides by what is there now, and by what the program said only
// where that leaves it open.
func judgeUnlock(p steps.Preview, after subject, said string, runErr error) (result, response string) {
	id := steps.Find(p.Target, keyID)
	elsewhere := strings.Contains(said, "does not match existing lock") || strings.Contains(said, "already unlocked")
	switch {
	case after.lock.Unread != "":
		return steps.Failed, fmt.Sprintf("%s\nWhether the lock %s is released cannot be read: %s", said, id, after.lock.Unread)
	case after.lock.Held && after.lock.ID == id:
		return steps.Failed, fmt.Sprintf("%s\nThe lock %s is still held.", said, id)
	case runErr != nil && elsewhere:
		return steps.Refused, said + "\nThe lock was released or taken by someone else first: nothing was changed from here."
	case after.lock.Held:
		who := "someone"
		if after.lock.Info != nil {
			who = after.lock.Info.Who
		}
		return steps.Done, fmt.Sprintf("%s\nThe lock was released and is taken again, as %s by %s.", said, after.lock.ID, who)
	case after.noSnap != nil:
		return steps.Failed, fmt.Sprintf("%s\nThe lock is gone, but the state can no longer be read: %v", said, after.noSnap)
	case strconv.FormatInt(after.state.Serial, 10) != steps.Find(p.Target, keySerial) || after.state.Lineage != steps.Find(p.Target, keyLineage):
		return steps.Failed, fmt.Sprintf("%s\nThe lock is gone, but the state moved from serial %s to %d meanwhile: a writer is alive.", said, steps.Find(p.Target, keySerial), after.state.Serial)
	}
	if runErr != nil {
		// Of two systems that keep one lock, the one that had lost it says so.
		return steps.Done, said + "\nThe program failed, but the lock is gone and the state is as it was."
	}
	return steps.Done, said
}
