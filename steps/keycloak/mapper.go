package keycloak

import (
	"bytes"
	"cmp"
	"context"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
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
	keyApp    = "application"
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

// scene is what a preview is made from.
type scene struct {
	base  *url.URL
	user  string
	c     client
	there bool
	sides sides // without the live one
	app   app.App
	runs  *workload // nil where it was not named
}

// Preview implements steps.Gater.
func (g mapperGate) Preview(ctx context.Context, in steps.Params, out steps.Sink) (steps.Preview, error) {
	s, err := signIn(ctx, g.env, g.roots, out)
	if err != nil {
		return steps.Preview{}, err
	}
	defer s.done()
	of := scene{base: s.base, user: s.user}
	if of.c, of.there, err = s.clientOf(ctx, in.Text("realm"), in.Text("client")); err != nil {
		return steps.Preview{}, err
	}
	for _, word := range (document{Clients: []client{of.c}}).secrets() {
		out.Secret(word)
	}
	if file := in.Text("export"); file != "" {
		if of.sides.before, err = readExport(g.env, file, out.Secret); err != nil {
			return steps.Preview{}, fmt.Errorf("the export from before: %w", err)
		}
	}
	if err := of.read(ctx, g.env, in, out); err != nil {
		return steps.Preview{}, err
	}
	return of.preview(in), nil
}

// read reads what could undo the act: the application that delivers the import, and the Pods that would read it.
func (of *scene) read(ctx context.Context, env steps.Env, in steps.Params, out steps.Sink) error {
	c, err := cluster.Connect(env, out)
	if err != nil {
		return err
	}
	namespace := c.NamespaceOf(in)
	if name := in.Text("import"); name != "" {
		if of.sides.git, _, err = readImport(ctx, c, namespace, name, in.Text("import_key"), out.Secret); err != nil {
			return err
		}
	}
	r, err := c.Find(ctx, "applications."+app.ArgoGroup)
	if err != nil {
		return err
	}
	where := cmp.Or(in.Text("app_namespace"), c.Namespace)
	o, err := c.Get(ctx, r, where, in.Text("app"))
	if err == nil {
		of.app, err = app.Parse(app.ArgoGroup, "Application", o.Raw)
	}
	if err != nil {
		return fmt.Errorf("the application %s/%s: %w", where, in.Text("app"), err)
	}
	if ref := in.Text("workload"); ref != "" {
		w, err := readWorkload(ctx, c, namespace, ref)
		if err != nil {
			return err
		}
		of.runs = &w
	}
	return nil
}

// preview says what would be written, and what stands in the way.
func (of scene) preview(in steps.Params) steps.Preview {
	realm, name, called := in.Text("realm"), in.Text("client"), in.Text("mapper")
	m, from, two := of.sides.wanted(name, called)
	body := m.body()
	path := strings.Join([]string{"admin", "realms", realm, "clients", of.c.ID, "protocol-mappers", "models"}, "/")
	address := of.base.JoinPath(path).String()
	p := steps.Preview{
		Target: []steps.KV{
			{Key: keyServer, Value: of.base.String()}, {Key: keyRealm, Value: realm}, {Key: keyClient, Value: name}, {Key: keyMapper, Value: called},
			{Key: keyApp, Value: of.app.Namespace + "/" + of.app.Name + " " + of.app.UID}, {Key: keySync, Value: map[bool]string{true: "off", false: "on"}[of.paused()]},
			{Key: keyID, Value: report.OrNothing(of.c.ID)}, {Key: keyClaim, Value: report.OrNothing(m.claim())},
			{Key: keySHA, Value: transport.Sum(body)}, {Key: keyNow, Value: stands(of.c, called, body)},
		},
		Shown:   []steps.KV{{Key: "as in", Value: "the " + report.OrNothing(from)}, {Key: "as", Value: of.user}},
		Effect:  fmt.Sprintf("write the mapper %s to the client %s of the realm %s: tokens that are issued from then on have the claim %s. No session ends, and no Pod starts again.", called, name, realm, report.OrNothing(m.claim())),
		Request: "POST " + address + "\n" + string(body),
		Command: `curl -sS -X POST -H "Authorization: Bearer $TOKEN" -H "Content-Type: application/json" -d ` + steps.Quote(string(body)) + " " + steps.Quote(address),
		Phrase:  steps.Phrase("write realm", name+"/"+called),
		Undo:    "Delete the mapper again: DELETE " + address + "/ID, with the id that the act gives.",
		Args:    order{path: path, body: body},
	}
	var pretty bytes.Buffer
	if json.Indent(&pretty, body, "", "  ") == nil && from != "" {
		for line := range strings.SplitSeq(pretty.String(), "\n") {
			p.Diff = append(p.Diff, "+ "+line)
		}
	}
	unmet := func(cure, format string, args ...any) {
		p.Unmet = append(p.Unmet, steps.Need{Why: fmt.Sprintf(format, args...), Cure: cure})
	}
	switch {
	case !of.there:
		unmet("find out who took the client away; a mapper alone does not bring it back", "The live realm %s has no client %s.", realm, name)
	case !cluster.Plain(of.c.ID):
		unmet("write it by hand", "The id of the client is of a form that no path takes: %q.", steps.Clip(of.c.ID, 100))
	}
	switch {
	case from == "":
		unmet("name an export from before that has it, or write it by hand", "Neither the export nor the import has a mapper %s of %s: what it was is not known.", called, name)
	case two:
		unmet("let its owner say which one is meant, and leave it in one of both alone", "The export and the import have the mapper %s of %s, and not the same.", called, name)
	case m.claim() == "":
		unmet("write it by hand", "The mapper %s names no claim that a fresh token could be held to.", called)
	}
	switch stands(of.c, called, body) {
	case asWant:
		unmet("nothing: it is so already; read a fresh token", "The client %s has the mapper %s already.", name, called)
	case other:
		unmet("let its owner say which one is meant: nothing is written over", "The client %s has another mapper of the name %s.", name, called)
	}
	of.calm(unmet)
	return p
}

// paused: the application begins no sync by itself.
func (of scene) paused() bool { return of.app.Suspension != nil || !of.app.AutoSync }

// calm: nothing is about to write the import over what is written here.
func (of scene) calm(unmet func(cure, format string, args ...any)) {
	switch {
	case !of.paused():
		unmet("switch off its auto-sync first, with kube/suspend", "%s syncs by itself: its next sync may start Keycloak again, which writes the import over what is written here.", of.app)
	case of.app.Operation.Phase == app.Running || of.app.Operation.Phase == app.Terminating:
		unmet("wait for its end", "An operation of %s is %s.", of.app, of.app.Operation.Phase)
	}
	switch {
	case of.runs == nil:
		unmet("name the workload", "Whether Keycloak restarts is not known: what runs it was not named.")
	case of.runs.restarting != "":
		unmet("wait until it is at rest: a start writes the import over what is written here", "%s is not at rest: %s.", of.runs.name, of.runs.restarting)
	}
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
