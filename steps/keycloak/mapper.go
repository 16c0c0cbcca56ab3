package keycloak

import (
	"bytes"
	"context"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"handrail/steps"
	"handrail/steps/cluster"
	"handrail/steps/gitops/app"
	"handrail/steps/kube/report"
	"handrail/steps/transport"
)

func mapperParams() []steps.Field {
	return append(sideParams(),
		steps.Field{Name: "client", Type: steps.String, Required: true, Pattern: clientName, Doc: "clientId of the one client"},
		steps.Field{Name: "mapper", Type: steps.String, Required: true, Pattern: mapperName, Doc: "name of the one mapper"},
		steps.Field{Name: "app", Type: steps.String, Required: true, Pattern: cluster.ObjectName, Doc: "Application of Argo CD that delivers Keycloak and the import"},
		steps.Field{Name: "app_namespace", Type: steps.String, Pattern: cluster.NamespaceName, Doc: "its namespace, instead of that of the context"},
	)
}

// The keys of the target.
const (
	keyServer = "server"
	keyRealm  = "realm"
	keyClient = "client"
	keyID     = "id of the client"
	keyMapper = "mapper"
	keyClaim  = "claim"
	keySHA    = "definition"
	keyNow    = "mapper now"
	keyAppUID = "application"
	keySync   = "auto-sync"
	keyMade   = "id of the mapper"
)

const (
	absent = "it is not there"
	asWant = "it is there, as wanted"
	other  = "it is there, and another one"
)

type mapperGate struct {
	env   steps.Env
	roots *x509.CertPool
}

// order is what an approved preview carries.
type order struct {
	path string
	body []byte
}

// Preview implements steps.Gater.
func (g mapperGate) Preview(ctx context.Context, in steps.Params, out steps.Sink) (steps.Preview, error) {
	s, err := signIn(ctx, g.env, g.roots, out)
	if err != nil {
		return steps.Preview{}, err
	}
	defer s.done()
	realm, name, of := in.Text("realm"), in.Text("client"), in.Text("mapper")
	p := steps.Preview{Target: []steps.KV{
		{Key: keyServer, Value: s.base.String()}, {Key: keyRealm, Value: realm}, {Key: keyClient, Value: name}, {Key: keyMapper, Value: of},
	}}
	unmet := func(cure, format string, args ...any) {
		p.Unmet = append(p.Unmet, steps.Need{Why: fmt.Sprintf(format, args...), Cure: cure})
	}
	hold := func(key, value string) { p.Target = append(p.Target, steps.KV{Key: key, Value: value}) }
	c, there, err := s.clientOf(ctx, realm, name)
	if err != nil {
		return steps.Preview{}, err
	}
	for _, word := range (document{Clients: []client{c}}).secrets() {
		out.Secret(word)
	}
	all := sides{}
	if file := in.Text("export"); file != "" {
		if all.before, err = readExport(g.env, file, out.Secret); err != nil {
			return steps.Preview{}, fmt.Errorf("the export from before: %w", err)
		}
	}
	if err := g.cluster(ctx, in, &all, hold, unmet, out); err != nil {
		return steps.Preview{}, err
	}
	m, from, two := all.wanted(name, of)
	body := m.body()
	path := strings.Join([]string{"admin", "realms", realm, "clients", c.ID, "protocol-mappers", "models"}, "/")
	switch {
	case !there:
		unmet("find out who took the client away; a mapper alone does not bring it back", "The live realm %s has no client %s.", realm, name)
	case !cluster.Plain(c.ID):
		unmet("write it by hand", "The id of the client is of a form that no path takes: %q.", steps.Clip(c.ID, 100))
	}
	switch {
	case from == "":
		unmet("name an export from before that has it, or write it by hand", "Neither the export nor the import has a mapper %s of %s: what it was is not known.", of, name)
	case two:
		unmet("let its owner say which one is meant, and leave it in one of both alone", "The export and the import have the mapper %s of %s, and not the same.", of, name)
	case m.claim() == "":
		unmet("write it by hand", "The mapper %s names no claim that a fresh token could be held to.", of)
	}
	now := stands(c, of, body)
	switch now {
	case asWant:
		unmet("nothing: it is so already; read a fresh token", "The client %s has the mapper %s already.", name, of)
	case other:
		unmet("let its owner say which one is meant: nothing is written over", "The client %s has another mapper of the name %s.", name, of)
	}
	hold(keyID, report.OrNothing(c.ID))
	hold(keyClaim, report.OrNothing(m.claim()))
	hold(keySHA, transport.Sum(body))
	hold(keyNow, now)
	p.Shown = []steps.KV{{Key: "as in", Value: "the " + report.OrNothing(from)}, {Key: "as", Value: s.user}}
	var pretty bytes.Buffer
	if json.Indent(&pretty, body, "", "  ") == nil && from != "" {
		for line := range strings.SplitSeq(pretty.String(), "\n") {
			p.Diff = append(p.Diff, "+ "+line)
		}
	}
	p.Effect = fmt.Sprintf("write the mapper %s to the client %s of the realm %s: tokens that are issued from then on have the claim %s. No session ends, and no Pod starts again.", of, name, realm, report.OrNothing(m.claim()))
	p.Request = "POST " + s.base.JoinPath(path).String() + "\n" + string(body)
	p.Command = `curl -sS -X POST -H "Authorization: Bearer $TOKEN" -H "Content-Type: application/json" -d ` + steps.Quote(string(body)) + " " + steps.Quote(s.base.JoinPath(path).String())
	p.Phrase = steps.Phrase("write realm", name+"/"+of)
	p.Undo = "Delete the mapper again: DELETE " + s.base.JoinPath(path).String() + "/ID, with the id that the act gives."
	p.Args = order{path: path, body: body}
	return p, nil
}

// cluster holds the act to what could undo it: the application that delivers the import, and the Pods that would read it.
func (g mapperGate) cluster(ctx context.Context, in steps.Params, all *sides, hold func(key, value string), unmet func(cure, format string, args ...any), out steps.Sink) error {
	c, err := cluster.Connect(g.env, out)
	if err != nil {
		return err
	}
	namespace := c.NamespaceOf(in)
	if name := in.Text("import"); name != "" {
		if all.git, _, err = readImport(ctx, c, namespace, name, in.Text("import_key"), out.Secret); err != nil {
			return err
		}
	}
	r, err := c.Find(ctx, "applications."+app.ArgoGroup)
	if err != nil {
		return err
	}
	where := in.Text("app_namespace")
	if where == "" {
		where = c.Namespace
	}
	o, err := c.Get(ctx, r, where, in.Text("app"))
	if err != nil {
		return fmt.Errorf("the application %s/%s: %w", where, in.Text("app"), err)
	}
	a, err := app.Parse(app.ArgoGroup, "Application", o.Raw)
	if err != nil {
		return fmt.Errorf("the application %s/%s: %w", where, in.Text("app"), err)
	}
	paused := a.Suspension != nil || !a.AutoSync
	hold(keyAppUID, a.Namespace+"/"+a.Name+" "+a.UID)
	hold(keySync, map[bool]string{true: "off", false: "on"}[paused])
	switch {
	case !paused:
		unmet("switch off its auto-sync first, with kube/suspend", "%s syncs by itself: its next sync may start Keycloak again, which writes the import over what is written here.", a)
	case a.Operation.Phase == app.Running || a.Operation.Phase == app.Terminating:
		unmet("wait for its end", "An operation of %s is %s.", a, a.Operation.Phase)
	}
	if in.Text("workload") == "" {
		unmet("name the workload", "Whether Keycloak restarts is not known: what runs it was not named.")
		return nil
	}
	w, err := readWorkload(ctx, c, namespace, in.Text("workload"))
	if err != nil {
		return err
	}
	if w.restarting != "" {
		unmet("wait until it is at rest: a start writes the import over what is written here", "%s is not at rest: %s.", w.name, w.restarting)
	}
	return nil
}

// clientOf reads the one client of a clientId.
func (s *server) clientOf(ctx context.Context, realm, name string) (c client, there bool, err error) {
	var all []client
	for first := 0; ; first += pageOf {
		var page []client
		if err := s.get(ctx, &page, fmt.Sprintf("first=%d&max=%d", first, pageOf), "admin", "realms", realm, "clients"); err != nil {
			return client{}, false, err
		}
		all = append(all, page...)
		if len(page) < pageOf || len(all) > mostClients {
			c, there = document{Clients: all}.client(name)
			return c, there, nil
		}
	}
}

// stands is how a mapper stands in a client.
func stands(c client, name string, want []byte) string {
	m, ok := c.mapper(name)
	switch {
	case !ok:
		return absent
	case bytes.Equal(m.body(), want):
		return asWant
	}
	return other
}

// Act implements steps.Gater.
func (g mapperGate) Act(ctx context.Context, a *steps.Approval, out steps.Sink) (steps.Outcome, error) {
	p, err := a.Spend()
	if err != nil {
		return steps.Outcome{}, err
	}
	o, err := steps.ArgsOf[order](p)
	if err != nil {
		return steps.Outcome{}, err
	}
	s, err := signIn(ctx, g.env, g.roots, out)
	if err != nil {
		return steps.Outcome{Result: steps.Refused, Response: "nothing was sent: " + err.Error()}, nil
	}
	defer s.done()
	if s.base.String() != steps.Find(p.Target, keyServer) {
		return steps.Outcome{Result: steps.Refused, Response: "nothing was sent: the server is another one now"}, nil
	}
	out.Line("writing the mapper " + steps.Find(p.Target, keyMapper))
	status, said, err := s.post(ctx, o.path, o.body)
	if err != nil {
		return steps.Outcome{}, fmt.Errorf("whether the mapper was written is not known: %w", err)
	}
	said = strings.TrimSpace(fmt.Sprintf("%d %s", status, said))
	switch {
	case status >= 500:
		return steps.Outcome{}, fmt.Errorf("whether the mapper was written is not known: %s answered %s", s.base.Host, said)
	case status != http.StatusCreated && status != http.StatusNoContent:
		return steps.Outcome{Result: steps.Refused, Response: said}, nil
	}
	found, after, err := g.seen(ctx, s, p.Target)
	if err != nil {
		return steps.Outcome{Result: steps.Done, Response: said + "; it was not read again: " + err.Error()}, nil
	}
	if found != asWant {
		return steps.Outcome{Result: steps.Failed, Response: said + "; read again: " + found, After: after}, nil
	}
	return steps.Outcome{Result: steps.Done, Response: said, After: after}, nil
}

// seen reads the mapper of a target again.
func (g mapperGate) seen(ctx context.Context, s *server, target []steps.KV) (found string, after []steps.KV, err error) {
	c, there, err := s.clientOf(ctx, steps.Find(target, keyRealm), steps.Find(target, keyClient))
	if err != nil {
		return "", nil, err
	}
	name := steps.Find(target, keyMapper)
	m, ok := c.mapper(name)
	switch {
	case !there || c.ID != steps.Find(target, keyID):
		found = "the client is gone, or another one of its name is there"
	case !ok:
		found = absent
	case transport.Sum(m.body()) == steps.Find(target, keySHA):
		found = asWant
	default:
		found = other
	}
	return found, []steps.KV{{Key: keyClient, Value: steps.Find(target, keyClient)}, {Key: keyMapper, Value: name}, {Key: keyNow, Value: found}, {Key: keyMade, Value: report.OrNothing(m.ID)}}, nil
}

// Find implements steps.Finder.
func (g mapperGate) Find(ctx context.Context, before []steps.KV, _ steps.Params, out steps.Sink) (steps.Outcome, error) {
	s, err := signIn(ctx, g.env, g.roots, out)
	if err != nil {
		return steps.Outcome{}, err
	}
	defer s.done()
	if s.base.String() != steps.Find(before, keyServer) {
		return steps.Outcome{}, fmt.Errorf("%s names another server now", addressVariable)
	}
	found, after, err := g.seen(ctx, s, before)
	if err != nil {
		return steps.Outcome{}, err
	}
	o := steps.Outcome{Result: steps.Done, Response: "The mapper: " + found + ".", After: after}
	if found != asWant {
		o.Result = steps.Failed
	}
	return o, nil
}

// Again implements steps.Rereader: an import that ran meanwhile takes the mapper away.
func (g mapperGate) Again(ctx context.Context, before []steps.KV, in steps.Params, out steps.Sink) (steps.Outcome, error) {
	return g.Find(ctx, before, in, out)
}
