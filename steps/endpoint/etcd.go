package endpoint

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"handrail/steps"
)

// mostAsked bounds how many members one step asks: each has its time of the one minute of a probe.
const mostAsked = 5

func etcdFacts() []steps.Field {
	return []steps.Field{
		{Name: "members", Type: steps.Int, Doc: "members whose metrics were read"},
		{Name: "unread", Type: steps.Strings, Doc: "members whose metrics could not be read, each with the reason"},
		{Name: "now", Type: steps.Enum, Values: []string{"healthy", "unhealthy"}, Doc: "healthy where each member was read and has a leader, and one of them leads; it says nothing of before"},
		{Name: "leader", Type: steps.String, Doc: "the member that leads, empty where none of those read does"},
		{Name: "index", Type: steps.Table, Doc: "each member to the index of its raft log; no resourceVersion can be held against it"},
		{Name: "past", Type: steps.Enum, Values: []string{"stable", "unstable"}, Doc: "unstable where the leader changed after the first election of a member, or proposals failed, since they started"},
		{Name: "leader_changes", Type: steps.Int, Doc: "changes of the leader that a member saw since it started, the most of all; the first election is one"},
		{Name: "failed_proposals", Type: steps.Int, Doc: "proposals that failed since the members started, of all together"},
		{Name: "since", Type: steps.Time, Doc: "when the counters began: the latest start of a member; what was before stands in none of them"},
	}
}

type etcdProbe struct {
	env   steps.Env
	roots *x509.CertPool
}

// Probe implements steps.Prober.
func (p etcdProbe) Probe(ctx context.Context, in steps.Params, out steps.Sink) (steps.Observation, error) {
	urls, file := strings.Fields(strings.Join(in["urls"].Strings(), " ")), in.Text("file")
	f := steps.NewFacts(etcdFacts())
	if len(urls) == 0 && file == "" {
		const none = "no address and no file is named"
		return steps.Observation{Summary: "Nothing was read: " + none + ".", Facts: f.Rest(none)}, nil
	}
	if len(urls) > mostAsked {
		return steps.Observation{}, fmt.Errorf("%d members are named, %d is the most for one step: save what they answer in a file", len(urls), mostAsked)
	}
	obs := steps.Observation{}
	var list []member
	var unread []string
	take := func(raw []byte, name string) error {
		if gap := steps.Keep(out, "metrics", steps.MediaText, func(w io.Writer) error { _, err := w.Write(raw); return err }); gap != "" {
			obs.Gaps = append(obs.Gaps, gap)
		}
		found, err := members(raw, name)
		if err == nil && len(found) == 0 {
			err = errors.New("these are no metrics of etcd")
		}
		list = append(list, found...)
		return err
	}
	for _, address := range urls {
		raw, host, err := ask(ctx, p.env, address, p.roots)
		if ctx.Err() != nil {
			return steps.Observation{}, context.Cause(ctx)
		}
		if err == nil {
			err = take(raw, host)
		}
		if err != nil {
			unread = append(unread, hostOf(address)+": "+err.Error())
		}
		obs.Command = "curl -sS " + steps.Quote(address)
	}
	if file != "" {
		raw, err := p.read(file)
		if err == nil {
			err = take(raw, filepath.Base(file))
		}
		if err != nil {
			return steps.Observation{}, fmt.Errorf("metrics in %s: %w", file, err)
		}
		obs.Command = "cat " + steps.Quote(file)
	}
	for _, why := range unread {
		obs.Gaps = append(obs.Gaps, "metrics of etcd at "+why)
	}
	tell(list, unread, f, &obs)
	obs.Facts = f.Rest("no member was read")
	return obs, nil
}

func hostOf(address string) string {
	if u, err := url.Parse(address); err == nil && u.Host != "" {
		return u.Host
	}
	return steps.Clip(address, 100)
}

func (p etcdProbe) read(name string) ([]byte, error) {
	if !filepath.IsAbs(name) {
		name = filepath.Join(p.env.Dir, name)
	}
	info, err := os.Stat(name)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular() || info.Size() > mostBody:
		return nil, fmt.Errorf("it is not a regular file of at most %d MiB", mostBody>>20)
	}
	return os.ReadFile(name)
}

// tell fills what the members say together.
func tell(list []member, unread []string, f steps.Facts, obs *steps.Observation) {
	f.Set("members", steps.IntOf(int64(len(list))))
	f.Set("unread", steps.StringsOf(append([]string{}, unread...)))
	if len(list) == 0 {
		obs.Summary = "No member of etcd could be read."
		return
	}
	health(list, len(unread) == 0, f, obs)
	history(list, len(unread) == 0, f, obs)
}

// health is how the members are now.
func health(list []member, all bool, f steps.Facts, obs *steps.Observation) {
	index := map[string]string{}
	leaders, leaderless := []string{}, []string{}
	known := true
	for _, m := range list {
		led, ok := m.has(hasLeader)
		leads, ok2 := m.has(isLeader)
		known = known && ok && ok2
		if ok && led != 1 {
			leaderless = append(leaderless, m.name)
		}
		if leads == 1 {
			leaders = append(leaders, m.name)
		}
		if n, ok := m.count(committed); ok {
			index[m.name] = fmt.Sprint(n)
		}
	}
	f.Set("index", steps.TableOf(index))
	now := "unhealthy"
	switch {
	case len(leaderless) > 0:
		obs.Say(steps.Critical, "These members of etcd have no leader: %s.", strings.Join(leaderless, ", "))
	case len(leaders) > 1:
		obs.Say(steps.Critical, "%d members of etcd say that they lead: %s. They are of several clusters, or were read while the leader changed.", len(leaders), strings.Join(leaders, ", "))
	case !known || !all:
		f.Unknown("not every member was read", "now")
		now = ""
	case len(leaders) == 1:
		now = "healthy"
	default:
		f.Unknown("none of the members that were read leads: not every member was named", "now")
		now = ""
	}
	if now != "" {
		f.Set("now", steps.EnumOf(now))
	}
	leader := ""
	if len(leaders) == 1 {
		leader = leaders[0]
	}
	f.Set("leader", steps.StringOf(leader))
	obs.Summary = fmt.Sprintf("%d members of etcd, %s now.", len(list), map[string]string{"": "not known how", "healthy": "healthy", "unhealthy": "unhealthy"}[now])
}

// history is what the counters hold. A part of the members may prove that it was unstable, and only all of them that it
// was not.
func history(list []member, all bool, f steps.Facts, obs *steps.Observation) {
	var most, lost int64
	var since time.Time
	known := all
	for _, m := range list {
		n, ok := m.count(changes)
		k, ok2 := m.count(failed)
		t, ok3 := m.since()
		known = known && ok && ok2 && ok3
		most, lost = max(most, n), lost+k
		if t.After(since) {
			since = t
		}
	}
	if !since.IsZero() {
		f.Set("since", steps.TimeOf(since))
	}
	const part = "the counters of some members are missing"
	if unstable := most > 1 || lost > 0; unstable || known {
		past := "stable"
		if unstable {
			past = "unstable"
			obs.Say(steps.Warning, "Whatever it is now, etcd was unstable: %d changes of the leader and %d failed proposals since the members started.", most, lost)
		}
		f.Set("past", steps.EnumOf(past))
	} else {
		f.Unknown(part, "past")
	}
	if !known {
		f.Unknown(part, "leader_changes", "failed_proposals", "since")
		return
	}
	f.Set("leader_changes", steps.IntOf(most))
	f.Set("failed_proposals", steps.IntOf(lost))
	obs.Summary += fmt.Sprintf(" Since %s: %d changes of the leader, %d failed proposals.", since.Format(time.RFC3339), most, lost)
}
