package terraform

import (
	"context"
	"fmt"
	"io"
	"time"

	"handrail/steps"
)

const noLock = "no lock is held"

func lockFacts() []steps.Field {
	return []steps.Field{
		{Name: "held", Type: steps.Bool, Doc: "whether the state is locked now"},
		{Name: "id", Type: steps.Ident, Doc: "lock id, as force-unlock takes it"},
		{Name: "who", Type: steps.String, Doc: "user@host that took it"},
		{Name: "operation", Type: steps.String, Doc: "what it was taken for, as OperationTypeApply"},
		{Name: "created", Type: steps.Time, Doc: "when it was taken, by the clock of the holder"},
		{Name: "age", Type: steps.Duration, Doc: "now, by the clock of the backend, minus created"},
		{Name: "backend", Type: steps.Enum, Values: backends(), Doc: "type of the backend"},
		{Name: "info", Type: steps.String, Doc: "the info field of the lock"},
		{Name: "own", Type: steps.Bool, Doc: "whether it was taken by this user on this machine"},
		{Name: "path", Type: steps.String, Doc: "state file, or namespace/lease"},
		{Name: "cluster", Type: steps.String, Doc: "server and kube-system UID of the backend's own cluster, empty for local"},
		{Name: "host", Type: steps.String, Doc: "host part of who"},
	}
}

func backends() []string { return []string{"local", "kubernetes", "other"} }

type lockProbe struct{ env steps.Env }

// Probe implements steps.Prober.
func (p lockProbe) Probe(ctx context.Context, in steps.Params, out steps.Sink) (steps.Observation, error) {
	_, s, err := open(ctx, p.env, in, out)
	if err != nil {
		return steps.Observation{}, err
	}
	l, err := s.lock(ctx)
	if err != nil {
		return steps.Observation{}, err
	}
	obs := steps.Observation{Command: s.command("lock")}
	if l.raw != nil {
		if gap := steps.Keep(out, "lock", l.media, func(w io.Writer) error { _, err := w.Write(l.raw); return err }); gap != "" {
			obs.Gaps = append(obs.Gaps, gap)
		}
	}
	f := steps.NewFacts(lockFacts())
	f.Set("held", steps.BoolOf(l.held))
	f.Set("backend", steps.EnumOf(s.name()))
	f.Set("path", steps.StringOf(l.where))
	server, uid, err := s.cluster(ctx)
	switch {
	case err != nil:
		f.Unknown(err.Error(), "cluster")
		obs.Gaps = append(obs.Gaps, "identity of the cluster: "+err.Error())
	case server == "":
		f.Set("cluster", steps.StringOf(""))
	default:
		f.Set("cluster", steps.StringOf(server+" kube-system "+uid))
	}
	p.describe(f, l, &obs)
	for _, warning := range l.warnings {
		obs.Findings = append(obs.Findings, steps.Finding{Level: steps.Info, Say: "The server warns: " + clip(warning, 300)})
	}
	why := l.infoWhy
	if !l.held {
		why = noLock
	}
	obs.Facts = f.Rest(why)
	return obs, nil
}

func (p lockProbe) describe(f steps.Facts, l lockRead, obs *steps.Observation) {
	say := func(level steps.Level, format string, args ...any) {
		obs.Findings = append(obs.Findings, steps.Finding{Level: level, Say: fmt.Sprintf(format, args...)})
	}
	if !l.held {
		obs.Summary = "No lock is held on " + l.where + "."
		if l.leftover != nil {
			say(steps.Info, "Leftover lock info %s of %s names no lock that is held: its holder was killed, and the next run overwrites it.", l.leftover.ID, l.leftover.Who)
		}
		return
	}
	if l.id != "" {
		f.Set("id", steps.IdentOf(l.id))
	}
	if l.pid > 0 {
		say(steps.Info, "The kernel names process %d on this machine as the holder: it is alive.", l.pid)
	}
	if l.info == nil {
		obs.Summary = fmt.Sprintf("Locked by %s, nothing says by whom.", orUnknown(l.id))
		say(steps.Warning, "The lock does not describe itself: %s. Ask every team that can run here.", l.infoWhy)
		return
	}
	i := l.info
	f.Set("who", steps.StringOf(i.Who))
	f.Set("operation", steps.StringOf(i.Operation))
	f.Set("info", steps.StringOf(i.Info))
	f.Set("host", steps.StringOf(hostOf(i.Who)))
	f.Set("own", steps.BoolOf(i.Who != "" && i.Who == p.env.User+"@"+p.env.Host))
	if i.Created.IsZero() {
		f.Unknown("the lock does not say when it was taken", "created")
	} else {
		f.Set("created", steps.TimeOf(i.Created))
	}
	age, why := l.age()
	text := "of unknown age"
	if why != "" {
		f.Unknown(why, "age")
		say(steps.Warning, "The age of the lock is not known: %s.", why)
	} else {
		f.Set("age", steps.DurationOf(age))
		text = age.Round(time.Second).String() + " old"
	}
	if i.ID != "" && i.ID != l.id {
		say(steps.Warning, "The lock is held as %q but describes itself as %q: somebody changed one of them.", l.id, i.ID)
	}
	obs.Summary = fmt.Sprintf("Locked by %s for %s, %s (%s).", orUnknown(i.Who), orUnknown(i.Operation), text, l.id)
}

func orUnknown(s string) string {
	if s == "" {
		return "unknown"
	}
	return s
}
