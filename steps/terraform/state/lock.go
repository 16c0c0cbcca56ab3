package state

import (
	"context"
	"fmt"
	"io"
	"time"

	"handrail/steps"
	"handrail/steps/terraform/backend"
	"handrail/steps/terraform/prose"
)

// LockFacts are the facts of terraform/lock.
func LockFacts() []steps.Field {
	return []steps.Field{
		{Name: "held", Type: steps.Bool, Doc: "whether the state is locked now"},
		{Name: "id", Type: steps.Ident, Doc: "lock id, as force-unlock takes it"},
		{Name: "described", Type: steps.Bool, Doc: "whether the lock says who took it and when; false where none is held, or where it cannot be read"},
		{Name: "who", Type: steps.String, Doc: "user@host that took it"},
		{Name: "operation", Type: steps.String, Doc: "what it was taken for, as OperationTypeApply"},
		{Name: "created", Type: steps.Time, Doc: "when it was taken, by the clock of the holder"},
		{Name: "age", Type: steps.Duration, Ages: true, Doc: "now, by the clock of the backend, minus the later of created and the backend's own time of that write; unknown where the two differ by over two minutes"},
		{Name: "backend", Type: steps.Enum, Values: backend.Names(), Doc: "type of the backend"},
		{Name: "info", Type: steps.String, Doc: "the info field of the lock"},
		{Name: "own", Type: steps.Bool, Doc: "whether it was taken by this user on this machine"},
		{Name: "path", Type: steps.String, Doc: "state file, or namespace/lease"},
		{Name: "cluster", Type: steps.String, Doc: "server of the backend, with the kube-system UID where it is a cluster; empty for local"},
		{Name: "host", Type: steps.String, Doc: "host part of who"},
		{Name: "unlock", Type: steps.Enum, Values: backend.UnlockWays(), Doc: "what force-unlock does on this backend"},
		{Name: "systems", Type: steps.Int, Doc: "systems that keep this lock: two where s3 has a lock file and a table"},
		{Name: "agree", Type: steps.Bool, Doc: "whether they say the same"},
		{Name: "digest", Type: steps.Enum, Values: []string{"match", "mismatch", "absent"}, Doc: "the digest in the table of s3 beside the state's own"},
		{Name: "session", Type: steps.Enum, Values: []string{"alive", "gone"}, Doc: "the holder's session, where the backend knows it: pg and consul"},
		{Name: "session_id", Type: steps.Ident, Doc: "process id of the session in PostgreSQL, or its id in consul"},
		{Name: "session_from", Type: steps.String, Doc: "where the session comes from"},
		{Name: "session_since", Type: steps.Time, Doc: "when the session began; the lock is no older"},
	}
}

// LockProbe is terraform/lock.
type LockProbe struct{ Env steps.Env }

// Probe implements steps.Prober.
func (p LockProbe) Probe(ctx context.Context, in steps.Params, out steps.Sink) (steps.Observation, error) {
	_, s, err := backend.OpenAt(ctx, p.Env, in, out)
	if err != nil {
		return steps.Observation{}, err
	}
	l, err := s.Lock(ctx)
	if err != nil {
		return steps.Observation{}, err
	}
	obs := steps.Observation{Command: s.Command("lock")}
	if l.Raw != nil {
		if gap := steps.Keep(out, "lock", l.Media, func(w io.Writer) error { _, err := w.Write(l.Raw); return err }); gap != "" {
			obs.Gaps = append(obs.Gaps, gap)
		}
	}
	for _, part := range l.Parts {
		if part.Raw == nil {
			continue
		}
		if gap := steps.Keep(out, "lock "+part.Name, l.Media, func(w io.Writer) error { _, err := w.Write(part.Raw); return err }); gap != "" {
			obs.Gaps = append(obs.Gaps, gap)
		}
	}
	f := steps.NewFacts(LockFacts())
	if l.Unread == "" {
		f.Set("held", steps.BoolOf(l.Held))
	}
	f.Set("described", steps.BoolOf(l.Unread == "" && l.Held && l.Info != nil && l.Info.Who != "" && !l.Info.Created.IsZero()))
	f.Set("unlock", steps.EnumOf(s.UnlockPolicy().Way))
	f.Set("backend", steps.EnumOf(s.Name()))
	f.Set("path", steps.StringOf(l.Where))
	server, uid, err := s.Cluster(ctx)
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
	fillParts(f, l, s.Name())
	obs.Findings = append(obs.Findings, l.Notes...)
	for _, warning := range l.Warnings {
		obs.Findings = append(obs.Findings, steps.Finding{Level: steps.Info, Say: "The server warns: " + steps.Clip(warning, 300)})
	}
	why := l.InfoWhy
	switch {
	case l.Unread != "":
		why = l.Unread
		obs.Gaps = append(obs.Gaps, "lock: "+l.Unread)
	case !l.Held:
		why = backend.NoLock
	}
	obs.Facts = f.Rest(why)
	return obs, nil
}

func (p LockProbe) describe(f steps.Facts, l backend.Lock, obs *steps.Observation) {
	if l.Unread != "" {
		obs.Summary = "Whether " + l.Where + " is locked cannot be read: " + l.Unread + "."
		return
	}
	if !l.Held {
		obs.Summary = "No lock is held on " + l.Where + "."
		if l.Leftover != nil {
			obs.Say(steps.Info, "Leftover lock info %s of %s names no lock that is held: its holder was killed, and the next run overwrites it.", l.Leftover.ID, l.Leftover.Who)
		}
		return
	}
	if l.ID != "" {
		f.Set("id", steps.IdentOf(l.ID))
	}
	if l.PID > 0 {
		obs.Say(steps.Info, "The kernel names process %d on this machine as the holder: it is alive.", l.PID)
	}
	if l.Info == nil {
		obs.Summary = fmt.Sprintf("Locked by %s, nothing says by whom.", prose.OrUnknown(l.ID))
		if l.Session != nil {
			obs.Summary = fmt.Sprintf("Locked by session %s from %s.", l.Session.ID, prose.OrUnknown(l.Session.From))
		}
		obs.Say(steps.Warning, "The lock does not describe itself: %s. Ask every team that can run here.", l.InfoWhy)
		return
	}
	i := l.Info
	f.Set("who", steps.StringOf(i.Who))
	f.Set("operation", steps.StringOf(i.Operation))
	f.Set("info", steps.StringOf(i.Info))
	f.Set("host", steps.StringOf(backend.HostOf(i.Who)))
	f.Set("own", steps.BoolOf(i.Who != "" && i.Who == p.Env.User+"@"+p.Env.Host))
	if i.Created.IsZero() {
		f.Unknown(i.NoDate(), "created")
	} else {
		f.Set("created", steps.TimeOf(i.Created))
	}
	age, why := l.Age()
	text := "of unknown age"
	if why != "" {
		f.Unknown(why, "age")
		obs.Say(steps.Warning, "The age of the lock is not known: %s.", why)
	} else {
		f.Set("age", steps.DurationOf(age))
		text = age.Round(time.Second).String() + " old" + l.AgedBy()
	}
	if i.ID != "" && i.ID != l.ID {
		obs.Say(steps.Warning, "The lock is held as %q but describes itself as %q: one of them was changed.", l.ID, i.ID)
	}
	obs.Summary = fmt.Sprintf("Locked by %s for %s, %s (%s).", prose.OrUnknown(i.Who), prose.OrUnknown(i.Operation), text, l.ID)
}

// fillParts sets what only some backends know.
func fillParts(f steps.Facts, l backend.Lock, kind string) {
	f.Set("systems", steps.IntOf(int64(max(1, len(l.Parts)))))
	if l.Unread != "" {
		f.Unknown(l.Unread, "systems")
	}
	if len(l.Parts) > 1 {
		f.Set("agree", steps.BoolOf(l.Agree))
	} else {
		f.Unknown("one system keeps the lock", "agree")
	}
	switch {
	case l.Digest != "":
		f.Set("digest", steps.EnumOf(l.Digest))
	case l.DigestWhy != "":
		f.Unknown(l.DigestWhy, "digest")
	default:
		f.Unknown("the backend "+kind+" keeps no digest beside the state", "digest")
	}
	names := []string{"session", "session_id", "session_from", "session_since"}
	switch {
	case l.Session == nil && l.SessionWhy != "":
		f.Unknown(l.SessionWhy, names...)
	case l.Session == nil:
		f.Unknown("the backend "+kind+" knows no session of the holder", names...)
	default:
		state := "gone"
		if l.Session.Alive {
			state = "alive"
		}
		f.Set("session", steps.EnumOf(state))
		f.Set("session_id", steps.IdentOf(l.Session.ID))
		f.Unknown("the backend does not say", names[2:]...)
		if l.Session.From != "" {
			f.Set("session_from", steps.StringOf(l.Session.From))
		}
		if !l.Session.Since.IsZero() {
			f.Set("session_since", steps.TimeOf(l.Session.Since))
		}
	}
}
