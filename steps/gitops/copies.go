package gitops

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"handrail/steps"
	"handrail/steps/cluster"
	"handrail/steps/gitops/app"
	"handrail/steps/kube/report"
)

// The sides that a value can stand on. The copies have an order: that of the service that issues
// the tokens first, that of the service that fails last.
const (
	sideGit    = "git"
	sideIssuer = "issuer"
	sideSecond = "second"
	sideThird  = "third"
	sideToken  = "signed"
)

var (
	liveSides = []string{sideIssuer, sideSecond, sideThird}
	allSides  = []string{sideGit, sideIssuer, sideSecond, sideThird, sideToken}
)

// mostCopies bounds the copies that are read.
const mostCopies = 50

func copiesParams() []steps.Field {
	key := func(name, what string) steps.Field {
		return steps.Field{Name: name, Type: steps.String, Required: true, Pattern: `[A-Za-z0-9._-]{1,253}`, Doc: "key of the ConfigMap that holds " + what}
	}
	from := func(name, what string) steps.Field {
		return steps.Field{Name: name, Type: steps.Enum, Values: allSides, Doc: "side whose " + what + " a person chose as the right one"}
	}
	return []steps.Field{
		{Name: "name", Type: steps.String, Pattern: cluster.ObjectName, Doc: "name of the ConfigMap: one of that name is a copy if it has one of the keys, any other if it has both"},
		key("alg_key", "the algorithm"), key("kid_key", "the id of the key"),
		{Name: "issuer", Type: steps.String, Required: true, Pattern: cluster.NamespaceName, Doc: "namespace of the service that issues the tokens"},
		{Name: "failing", Type: steps.String, Pattern: cluster.NamespaceName, Doc: "namespace of the service that refuses them"},
		{Name: "clone", Type: steps.Path, Doc: "a local clone of the repository of the applications; it is read, and nothing of it runs"},
		{Name: "header", Type: steps.String, Pattern: steps.TokenWords, Doc: "header of a token that was issued now, as alg=RS256 kid=KEY"},
		{Name: "token_file", Type: steps.Path, Doc: "file that holds one such token; its header alone is decoded, and nothing else of it is kept"},
		from("alg_from", "algorithm"), from("kid_from", "id of the key"),
	}
}

func copiesFacts() []steps.Field {
	out := []steps.Field{
		{Name: "found", Type: steps.Strings, Doc: "the copies, as namespace/name, in the order in which they are gone through"},
		{Name: "out_of_reach", Type: steps.Strings, Doc: "copies that three syncs in turn do not bring right, each with the reason"},
		{Name: "apps", Type: steps.Table, Doc: "each copy, and the application that applies it"},
		{Name: "running", Type: steps.Table, Doc: "applications whose auto-sync is on, as resource/namespace/name, with the UID of each"},
		{Name: "auto_sync", Type: steps.Table, Doc: "each application, and whether it syncs by itself: since when and by whom it was switched off"},
		{Name: "taken_away", Type: steps.Strings, Doc: "applications that synced by themselves once and have no auto-sync left that could be switched on"},
		{Name: "writers", Type: steps.Table, Doc: "each copy, and who wrote each of the two keys last, and when"},
		{Name: "by_hand", Type: steps.Strings, Doc: "copies of which something else than the controller wrote one of the keys last"},
		{Name: "hand_at", Type: steps.Time, Doc: "when the last of those writes was"},
		{Name: "alg_as_signed", Type: steps.Strings, Doc: "sides whose algorithm is that of the token"},
		{Name: "kid_as_signed", Type: steps.Strings, Doc: "sides whose key is that of the token"},
		{Name: "saved", Type: steps.Time, Doc: "when the file of the token was written"},
		{Name: "same", Type: steps.Bool, Doc: "whether all copies and Git have the same algorithm and key"},
		{Name: "right", Type: steps.Strings, Doc: "what was chosen as right, VALUE for KEY; without a choice what the token is signed with"},
		{Name: "against_signed", Type: steps.Strings, Doc: "what was chosen and is not what the token is signed with"},
		{Name: "git_stale", Type: steps.Strings, Doc: "paths in Git that hold something else than what is right, with what"},
		{Name: "live_wrong", Type: steps.Strings, Doc: "copies that hold something else than what is right, with what"},
		{Name: "revision", Type: steps.Ident, Doc: "the one commit that all the applications compare with"},
		{Name: "unsettled", Type: steps.Strings, Doc: "applications that are not synced and healthy at that commit by an operation that succeeded, each with what it is instead"},
		{Name: "since_sync", Type: steps.Duration, Ages: true, Doc: "since when the last operation of any of them has ended"},
		{Name: "loaded", Type: steps.Table, Doc: "each copy, and whether the Pods beside it took it before its last write (old), after it (new), or do not take it at their start (none)"},
		{Name: "old", Type: steps.Strings, Doc: "workloads whose Pods took the copy before its last write, as resource/namespace/name"},
	}
	for _, side := range allSides {
		for _, what := range []string{"algorithm", "id of the key"} {
			out = append(out, steps.Field{Name: side + map[string]string{"algorithm": "_alg", "id of the key": "_kid"}[what], Type: steps.String, Doc: what + " on the side " + side + ", empty where it has none"})
		}
	}
	for _, side := range liveSides {
		out = append(out,
			steps.Field{Name: side, Type: steps.String, Doc: "namespace of the copy " + side + ", empty where there is none"},
			steps.Field{Name: side + "_app", Type: steps.String, Doc: "name of the application that applies it"},
			steps.Field{Name: side + "_app_namespace", Type: steps.String, Doc: "namespace of that application"},
			steps.Field{Name: side + "_paused", Type: steps.Bool, Doc: "whether the auto-sync of that application is switched off, and can be switched on"},
			steps.Field{Name: side + "_old_resource", Type: steps.String, Doc: "resource of the first workload beside it whose Pods took it before its last write, empty for none"},
			steps.Field{Name: side + "_old_name", Type: steps.String, Doc: "its name"},
			steps.Field{Name: side + "_old_uid", Type: steps.Ident, Doc: "its UID"})
	}
	return out
}

type copiesProbe struct{ env steps.Env }

// copyOf is one copy of the ConfigMap.
type copyOf struct {
	side            string // "" beyond the third
	namespace, name string
	values          pair
	writers         [2]authored // of the algorithm and of the key
	app             *app.App
	appless         string // why it has no application
	git             gitSide
	loaded          string // old, new or none, "" where it is not known
	loadedWhy       string
	old             []workloadRef
}

func (c copyOf) String() string { return c.namespace + "/" + c.name }

// pair is the algorithm and the id of the key, as one side has them; "" where it has none.
type pair [2]string

// keysOf are the names of the facts of a pair.
var keysOf = [2]string{"_alg", "_kid"}

// copiesRun is one reading.
type copiesRun struct {
	env    steps.Env
	in     steps.Params
	c      *cluster.Client
	now    func() (at time.Time, unknown string) // by the clock of the server
	f      steps.Facts
	obs    steps.Observation
	copies []*copyOf
	appsOf string // why the applications are not known

	token     *pair
	tokenless string // why there is none
	right     *pair  // what is held right, nil where it is not known
	rightless string
}

// Probe implements steps.Prober.
func (p copiesProbe) Probe(ctx context.Context, in steps.Params, out steps.Sink) (steps.Observation, error) {
	inner, turned, cancel := report.Deadline(ctx)
	defer cancel()
	c, err := cluster.Connect(p.env, out)
	if err != nil {
		return steps.Observation{}, err
	}
	r := &copiesRun{env: p.env, in: in, c: c, now: c.Now, f: steps.NewFacts(copiesFacts())}
	r.obs.Command = c.Kubectl("", "get", "configmaps", "-A", "-o", "yaml", "--show-managed-fields")
	r.readToken(out)
	err = r.find(inner)
	if err == nil {
		r.order()
		err = r.beside(inner)
	}
	if err == nil {
		err = turned()
	}
	if err != nil {
		return steps.Observation{}, report.Cause(turned(), err)
	}
	r.tell()
	r.obs.Findings = append(r.obs.Findings, c.Warnings()...)
	r.obs.Facts = r.f.Rest("not read")
	return r.obs, nil
}

// key is the name of the algorithm's key, or of that of the id.
func (r *copiesRun) key(i int) string { return r.in.Text([2]string{"alg_key", "kid_key"}[i]) }

// configMaps is the resource of that name, as every server has it.
func configMaps() cluster.Resource {
	return cluster.Resource{Version: "v1", Plural: "configmaps", Kind: "ConfigMap", Namespaced: true}
}

// find looks through all namespaces. A part of the copies would read as all of them, so that one
// namespace that may not be read is an error.
func (r *copiesRun) find(ctx context.Context) error {
	type listed struct {
		Metadata struct{ Namespace, Name string }
		Data     map[string]string
	}
	var found []listed
	err := cluster.Each(ctx, r.c, configMaps().Path("", ""), nil, func(o listed) {
		_, alg := o.Data[r.key(0)]
		_, kid := o.Data[r.key(1)]
		if name := r.in.Text("name"); alg && kid || (alg || kid) && o.Metadata.Name == name {
			found = append(found, listed{Metadata: o.Metadata})
		}
	})
	switch {
	case err != nil:
		return fmt.Errorf("looking for copies in all namespaces: %w", err)
	case len(found) > mostCopies:
		return fmt.Errorf("%d ConfigMaps are of that name or have both keys, more than the %d that are gone through: name keys that fewer have", len(found), mostCopies)
	}
	for _, o := range found {
		// A list shows no managedFields of some servers; each is read whole.
		live, err := r.c.Get(ctx, configMaps(), o.Metadata.Namespace, o.Metadata.Name)
		if err != nil {
			return fmt.Errorf("configmap %s/%s: %w", o.Metadata.Namespace, o.Metadata.Name, err)
		}
		c := &copyOf{namespace: o.Metadata.Namespace, name: o.Metadata.Name}
		data, _ := live.Object["data"].(map[string]any)
		for i := range c.values {
			text, _ := data[r.key(i)].(string)
			c.values[i] = valueOf(text)
			c.writers[i] = writerOf(live, r.key(i))
		}
		r.copies = append(r.copies, c)
	}
	return nil
}

// order puts the copy of the issuer first and that of the service that fails last.
func (r *copiesRun) order() {
	rank := func(c *copyOf) int {
		switch c.namespace {
		case r.in.Text("issuer"):
			return 0
		case r.in.Text("failing"):
			return 2
		}
		return 1
	}
	slices.SortStableFunc(r.copies, func(a, b *copyOf) int {
		if n := rank(a) - rank(b); n != 0 {
			return n
		}
		return strings.Compare(a.String(), b.String())
	})
	if len(r.copies) == 0 || r.copies[0].namespace != r.in.Text("issuer") {
		return // without the issuer nothing has a place
	}
	sides := liveSides
	if len(r.copies) == 2 {
		sides = []string{sideIssuer, sideSecond}
	}
	last := len(sides) - 1
	for i, c := range r.copies {
		switch {
		case i < last:
			c.side = sides[i]
		case i == len(r.copies)-1:
			c.side = sides[min(i, last)]
		}
	}
}

// at is the copy of a side, nil where there is none.
func (r *copiesRun) at(side string) *copyOf {
	for _, c := range r.copies {
		if c.side == side {
			return c
		}
	}
	return nil
}

// authored is who wrote a key last; known is false where managedFields do not say.
type authored struct {
	by    string
	at    time.Time
	known bool
}

func (w authored) String() string {
	switch {
	case !w.known:
		return "by whom is not recorded"
	case w.at.IsZero():
		return "by " + w.by + ", when is not recorded"
	}
	return "by " + w.by + " at " + w.at.UTC().Format(time.RFC3339)
}

// byHand reports whether something else than a controller of this world wrote it.
func (w authored) byHand() bool { return w.known && !slices.Contains(appliers, w.by) }

// longestPlain is how long a value may be that is shown as it is.
const longestPlain = 120
