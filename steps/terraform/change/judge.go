package change

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"handrail/steps"
	"handrail/steps/terraform/holder"
	"handrail/steps/terraform/module"
	"handrail/steps/terraform/prose"
)

// writeRead bounds the look at a state after it was written.
const writeRead = 2 * time.Minute

// readAfter reads what a change left, even where the person has turned away.
func readAfter(ctx context.Context, env steps.Env, p steps.Preview, said string, out steps.Sink) (site, error) {
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), writeRead)
	defer stop()
	in := steps.Params{"dir": steps.PathOf(steps.Find(p.Target, module.KeyDir))}
	t, err := readStored(ctx, env, in, out)
	if err == nil && t.unsound != nil {
		err = t.unsound
	}
	if err != nil {
		return t, fmt.Errorf("the state after the change (the program said %q): %w; read it again before anything else", steps.Clip(said, 600), err)
	}
	return t, nil
}

// change is what one act should have done to a state.
type change struct {
	serial  int64 // before
	lineage string
	done    bool   // what was asked for is in the state now
	what    string // that it is, as a sentence
	not     string // that it is not, as a sentence
	other   string // what else differs, "" for nothing
	loose   bool   // how far the serial moves is not known
}

// judge decides by what the state records now, and by what the program said only
// where that leaves it open.
func (c change) judge(now site, said string, runErr error) (result, response string) {
	var say []string
	tell := func(format string, args ...any) { say = append(say, fmt.Sprintf(format, args...)) }
	result = steps.Done
	var serial int64
	lineage := ""
	if now.now.Doc != nil {
		serial, lineage = now.now.Doc.Serial, now.now.Doc.Lineage
	}
	switch {
	case !c.done && serial == c.serial && c.other == "":
		result = steps.Failed
		tell("%s The state is as it was, serial %d.", c.not, serial)
	case !c.done:
		result = steps.Failed
		tell("%s", c.not)
	default:
		tell("%s The serial went from %d to %d.", c.what, c.serial, serial)
	}
	if lineage != c.lineage && c.lineage != absent {
		result = steps.Failed
		tell("The lineage is %s now, it was %s: another state took its place.", prose.OrUnknown(steps.Clip(lineage, 60)), c.lineage)
	}
	if c.other != "" {
		result = steps.Failed
		tell("More than that differs: %s. Stop here, and find out who else writes this state.", c.other)
	}
	switch {
	case c.done && !c.loose && serial != c.serial+1:
		result = steps.Failed
		tell("This write leaves serial %d: someone else wrote it too.", c.serial+1)
	case !c.done && serial != c.serial:
		tell("The serial moved from %d to %d: someone else wrote the state.", c.serial, serial)
	}
	if now.lock.Held {
		who := "someone"
		if now.lock.Info != nil {
			who = prose.OrUnknown(now.lock.Info.Who)
		}
		tell("The state is locked now, as %s by %s.", prose.OrUnknown(now.lock.ID), who)
	}
	if runErr != nil {
		tell("The program ended with an error: %v.", strings.TrimSpace(runErr.Error()))
	}
	return result, strings.TrimSpace(said + "\n" + strings.Join(say, " "))
}

// began is what the target said of the state when an act began.
func began(before []steps.KV) (c change, others string, err error) {
	c.lineage = steps.Find(before, keyLineage)
	if c.loose = c.lineage == absent; c.loose { // the first write of a state
		return c, steps.Find(before, keyOthers), nil
	}
	if c.serial, err = strconv.ParseInt(steps.Find(before, keySerial), 10, 64); err != nil {
		return c, "", fmt.Errorf("the serial before the act is not known: %w", err)
	}
	return c, steps.Find(before, keyOthers), nil
}

// readAgain reads the target of an act whose end was not recorded.
func readAgain(ctx context.Context, env steps.Env, before []steps.KV, in steps.Params, out steps.Sink) (site, error) {
	t, err := readStored(ctx, env, in, out)
	if err != nil {
		return t, err
	}
	now := t.target()
	for _, key := range []string{module.KeyBackend, keyServer, keyCluster, keyState, module.KeyWorkspace} {
		if was, is := steps.Find(before, key), steps.Find(now, key); was != is {
			return t, fmt.Errorf("%s is %q now, the act was on %q: go back to where it was", key, is, was)
		}
	}
	if t.lock.Unread != "" {
		r, scanErr := holder.Look(env, t.w, holder.Suspect{})
		if err := ended(t.lock, before, r, scanErr); err != nil {
			return t, err
		}
	}
	if t.lock.Held {
		who := "someone"
		if t.lock.Info != nil {
			who = prose.OrUnknown(t.lock.Info.Who)
		}
		return t, fmt.Errorf("the state is locked as %s by %s: the act may still run; wait for it, or look for its process", prose.OrUnknown(t.lock.ID), who)
	}
	return t, t.unsound
}

// otherThan says how what is recorded beside the change differs from before, by
// its sum alone.
func otherThan(others, now string) string {
	if others == now {
		return ""
	}
	return "what the state records under other addresses is not what it was before the act"
}

// unsent says why an act is not begun, "" where nothing moved.
func unsent(shown, fresh steps.Preview, err error) string {
	switch {
	case err != nil:
		return "the target could not be read again: " + err.Error()
	case movedSince(shown, fresh.Target) != "":
		return movedSince(shown, fresh.Target)
	case len(fresh.Unmet) > 0:
		return fresh.Unmet[0].Why
	case fresh.Request != shown.Request:
		return "the program would be started in another way than was shown"
	}
	return ""
}

// ready previews once more and reads what the act starts from. The outcome is
// there where nothing may be sent.
func ready(ctx context.Context, env steps.Env, g steps.Gater, p steps.Preview, in steps.Params, out steps.Sink) (site, *steps.Outcome) {
	refuse := func(why string, now []steps.KV) (site, *steps.Outcome) {
		return site{}, &steps.Outcome{Result: steps.Refused, Response: "not sent: " + why, After: now}
	}
	fresh, err := g.Preview(ctx, in, out)
	if why := unsent(p, fresh, err); why != "" {
		return refuse(why, fresh.Target)
	}
	before, err := readStored(ctx, env, in, out)
	switch {
	case err != nil:
		return refuse("the state could not be read again: "+err.Error(), fresh.Target)
	case steps.Find(before.target(), keyBytes) != steps.Find(p.Target, keyBytes):
		return refuse("the state was written meanwhile", fresh.Target)
	}
	return before, nil
}
