package terraform

import (
	"context"
	"fmt"
	"io"
	"time"

	"handrail/steps"
)

func lockFacts() []steps.Field {
	return []steps.Field{
		{Name: "held", Type: steps.Bool, Doc: "whether the state is locked now"},
		{Name: "id", Type: steps.Ident, Doc: "lock id, as force-unlock takes it"},
		{Name: "who", Type: steps.String, Doc: "user@host that took it"},
		{Name: "operation", Type: steps.String, Doc: "what it was taken for, as OperationTypeApply"},
		{Name: "created", Type: steps.Time, Doc: "when it was taken, by the clock of the holder"},
		{Name: "age", Type: steps.Duration, Doc: "now, by the clock of the backend, minus the later of created and the backend's own time of that write; unknown where the two differ by over two minutes"},
		{Name: "backend", Type: steps.Enum, Values: backends(), Doc: "type of the backend"},
		{Name: "info", Type: steps.String, Doc: "the info field of the lock"},
		{Name: "own", Type: steps.Bool, Doc: "whether it was taken by this user on this machine"},
		{Name: "path", Type: steps.String, Doc: "state file, or namespace/lease"},
		{Name: "cluster", Type: steps.String, Doc: "server of the backend, with the kube-system UID where it is a cluster; empty for local"},
		{Name: "host", Type: steps.String, Doc: "host part of who"},
		{Name: "unlock", Type: steps.Enum, Values: unlockWays(), Doc: "what force-unlock does on this backend"},
		{Name: "systems", Type: steps.Int, Doc: "systems that keep this lock: two where s3 has a lock file and a table"},
		{Name: "agree", Type: steps.Bool, Doc: "whether they say the same"},
		{Name: "digest", Type: steps.Enum, Values: []string{"match", "mismatch", "absent"}, Doc: "the digest in the table of s3 beside the state's own"},
		{Name: "session", Type: steps.Enum, Values: []string{"alive", "gone"}, Doc: "the holder's session, where the backend knows it: pg and consul"},
		{Name: "session_id", Type: steps.Ident, Doc: "process id of the session in PostgreSQL, or its id in consul"},
		{Name: "session_from", Type: steps.String, Doc: "where the session comes from"},
		{Name: "session_since", Type: steps.Time, Doc: "when the session began; the lock is no older"},
	}
}

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
	for _, part := range l.parts {
		if part.raw == nil {
			continue
		}
		if gap := steps.Keep(out, "lock "+part.name, l.media, func(w io.Writer) error { _, err := w.Write(part.raw); return err }); gap != "" {
			obs.Gaps = append(obs.Gaps, gap)
		}
	}
	f := steps.NewFacts(lockFacts())
	if l.unread == "" {
		f.Set("held", steps.BoolOf(l.held))
	}
	f.Set("unlock", steps.EnumOf(s.unlocking().way))
	f.Set("backend", steps.EnumOf(s.name()))
	f.Set("path", steps.StringOf(l.where))
	server, uid, err := s.cluster(ctx)
	switch {
	case err != nil:
		f.Unknown(err.Error(), "cluster")
		obs.Gaps = append(obs.Gaps, "identity of the cluster: "+err.Error())
	case server == "":
		f.Set("cluster", steps.StringOf(""))
	case uid == "":
		f.Set("cluster", steps.StringOf(server))
	default:
		f.Set("cluster", steps.StringOf(server+" kube-system "+uid))
	}
	p.describe(f, l, &obs)
	fillParts(f, l, s.name())
	obs.Findings = append(obs.Findings, l.notes...)
	for _, warning := range l.warnings {
		obs.Findings = append(obs.Findings, steps.Finding{Level: steps.Info, Say: "The server warns: " + clip(warning, 300)})
	}
	why := l.infoWhy
	switch {
	case l.unread != "":
		why = l.unread
		obs.Gaps = append(obs.Gaps, "lock: "+l.unread)
	case !l.held:
		why = noLock
	}
	obs.Facts = f.Rest(why)
	return obs, nil
}

func (p lockProbe) describe(f steps.Facts, l lockRead, obs *steps.Observation) {
	say := func(level steps.Level, format string, args ...any) {
		obs.Findings = append(obs.Findings, steps.Finding{Level: level, Say: fmt.Sprintf(format, args...)})
	}
	if l.unread != "" {
		obs.Summary = "Whether " + l.where + " is locked cannot be read: " + l.unread + "."
		return
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
		if l.session != nil {
			obs.Summary = fmt.Sprintf("Locked by session %s from %s.", l.session.id, orUnknown(l.session.from))
		}
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
		f.Unknown(i.noDate(), "created")
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
		text = age.Round(time.Second).String() + " old" + l.agedBy()
	}
	if i.ID != "" && i.ID != l.id {
		say(steps.Warning, "The lock is held as %q but describes itself as %q: somebody changed one of them.", l.id, i.ID)
	}
	obs.Summary = fmt.Sprintf("Locked by %s for %s, %s (%s).", orUnknown(i.Who), orUnknown(i.Operation), text, l.id)
}

// fillParts sets what only some backends know.
func fillParts(f steps.Facts, l lockRead, kind string) {
	f.Set("systems", steps.IntOf(int64(max(1, len(l.parts)))))
	if l.unread != "" {
		f.Unknown(l.unread, "systems")
	}
	if len(l.parts) > 1 {
		f.Set("agree", steps.BoolOf(l.agree))
	} else {
		f.Unknown("one system keeps the lock", "agree")
	}
	switch {
	case l.digest != "":
		f.Set("digest", steps.EnumOf(l.digest))
	case l.digestWhy != "":
		f.Unknown(l.digestWhy, "digest")
	default:
		f.Unknown("the backend "+kind+" keeps no digest beside the state", "digest")
	}
	names := []string{"session", "session_id", "session_from", "session_since"}
	switch {
	case l.session == nil && l.sessionWhy != "":
		f.Unknown(l.sessionWhy, names...)
	case l.session == nil:
		f.Unknown("the backend "+kind+" knows no session of the holder", names...)
	default:
		state := "gone"
		if l.session.alive {
			state = "alive"
		}
		f.Set("session", steps.EnumOf(state))
		f.Set("session_id", steps.IdentOf(l.session.id))
		f.Unknown("the backend does not say", names[2:]...)
		if l.session.from != "" {
			f.Set("session_from", steps.StringOf(l.session.from))
		}
		if !l.session.since.IsZero() {
			f.Set("session_since", steps.TimeOf(l.session.since))
		}
	}
}
