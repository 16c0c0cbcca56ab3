package keycloak

import (
	"bytes"
	"cmp"
	"context"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"

	"handrail/steps"
	"handrail/steps/cluster"
	"handrail/steps/gitops/app"
	"handrail/steps/kube/report"
	"handrail/steps/transport"
)

// giveParams are the parameters of a gate that gives one thing back to one client.
func giveParams(more ...steps.Field) []steps.Field {
	return append(append(sideParams(),
		steps.Field{Name: "client", Type: steps.String, Required: true, Pattern: clientName, Doc: "clientId of the one client"},
		steps.Field{Name: "app", Type: steps.String, Required: true, Pattern: cluster.ObjectName, Doc: "Application of Argo CD that delivers Keycloak and the import"},
		steps.Field{Name: "app_namespace", Type: steps.String, Pattern: cluster.NamespaceName, Doc: "its namespace, instead of that of the context"},
	), more...)
}

// The keys of the target that every one of the gates has. That of the thing itself is its kind.
const (
	keyServer = "server"
	keyRealm  = "realm"
	keyClient = "client"
	keyID     = "id of the client"
	keyClaim  = "claim"
	keyApp    = "application"
	keySync   = "auto-sync"
)

const (
	absent = "it is not there"
	asWant = "it is there, as wanted"
	other  = "it is there, and another one"
)

// order is what an approved preview carries.
type order struct {
	method, path string
	body         []byte
}

// thing is a kind of what these gates give back: a mapper, a client scope or a role.
type thing struct {
	kind string
	// read reads of the live realm what the kind needs besides the client, and wish makes of all of it what would be sent.
	read func(ctx context.Context, s *server, of *scene, in steps.Params) error
	wish func(of scene, in steps.Params) wish
	// found is how the thing of a target stands in the client that was read again, and its id where the act made one.
	found func(ctx context.Context, s *server, c client, target []steps.KV) (string, []steps.KV, error)
}

// wish is one thing that a client is to have again.
type wish struct {
	name   string // as the phrase has it
	from   string // the side that has it, "" where none does
	two    string // in what the sides differ, "" where they do not
	order  order
	json   []byte     // what a person is shown of it
	act    string     // what is done, with the thing and as what, before the client
	claims []string   // of which a fresh token must have one
	say    string     // what else a fresh token takes, a sentence
	now    string     // how it stands in the client
	target []steps.KV // what besides identifies it
	undo   string
	unmet  []steps.Need
}

func (w *wish) need(cure, format string, args ...any) {
	w.unmet = append(w.unmet, steps.Need{Why: fmt.Sprintf(format, args...), Cure: cure})
}

// giveGate is the gate of one kind of things.
type giveGate struct {
	thing
	env   steps.Env
	roots *x509.CertPool
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
	scope *scope    // of the live realm, for the gate of one; nil where it is not there
	role  *role     // likewise
	owner *client   // whose role that is, nil where it is one of the realm, or its client is not there
	has   bool      // whether the role is in the scope of the client
}

// Preview implements steps.Gater.
func (g giveGate) Preview(ctx context.Context, in steps.Params, out steps.Sink) (steps.Preview, error) {
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
	if err := g.read(ctx, s, &of, in); err != nil {
		return steps.Preview{}, err
	}
	if file := in.Text("export"); file != "" {
		if of.sides.before, err = readExport(g.env, file, out.Secret); err != nil {
			return steps.Preview{}, fmt.Errorf("the export from before: %w", err)
		}
	}
	if err := of.read(ctx, g.env, in, out); err != nil {
		return steps.Preview{}, err
	}
	return of.preview(g.thing, in), nil
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

// at is the path of something below the client.
func (of scene) at(realm string, below ...string) string {
	return strings.Join(append([]string{"admin", "realms", realm, "clients", of.c.ID}, below...), "/")
}

// preview says what would be written, and what stands in the way.
func (of scene) preview(t thing, in steps.Params) steps.Preview {
	realm, name := in.Text("realm"), in.Text("client")
	w := t.wish(of, in)
	called := w.name
	address := of.base.JoinPath(w.order.path).String()
	claims := oneOf(w.claims)
	p := steps.Preview{
		Target: append([]steps.KV{
			{Key: keyServer, Value: of.base.String()}, {Key: keyRealm, Value: realm}, {Key: keyClient, Value: name}, {Key: t.kind, Value: called},
			{Key: keyApp, Value: of.app.Namespace + "/" + of.app.Name + " " + of.app.UID}, {Key: keySync, Value: map[bool]string{true: "off", false: "on"}[of.paused()]},
			{Key: keyID, Value: report.OrNothing(of.c.ID)}, {Key: keyClaim, Value: report.OrNothing(claims)},
		}, append(w.target, steps.KV{Key: t.kind + " now", Value: w.now})...),
		Shown:   []steps.KV{{Key: "as in", Value: "the " + report.OrNothing(w.from)}, {Key: "as", Value: of.user}},
		Effect:  fmt.Sprintf("%s the client %s of the realm %s: tokens that are issued from then on have the claim %s%s. No session ends, and no Pod starts again.", w.act, name, realm, report.OrNothing(claims), w.say),
		Request: w.order.method + " " + address,
		Command: "curl -sS -X " + w.order.method + ` -H "Authorization: Bearer $TOKEN" `,
		Phrase:  steps.Phrase("write realm", name+"/"+called),
		Undo:    w.undo,
		Args:    w.order,
	}
	if w.order.body != nil {
		p.Request += "\n" + string(w.order.body)
		p.Command += `-H "Content-Type: application/json" -d ` + steps.Quote(string(w.order.body)) + " "
	}
	p.Command += steps.Quote(address)
	var pretty bytes.Buffer
	if json.Indent(&pretty, w.json, "", "  ") == nil && w.from != "" {
		for line := range strings.SplitSeq(pretty.String(), "\n") {
			p.Diff = append(p.Diff, "+ "+line)
		}
	}
	unmet := func(cure, format string, args ...any) {
		p.Unmet = append(p.Unmet, steps.Need{Why: fmt.Sprintf(format, args...), Cure: cure})
	}
	switch {
	case !of.there:
		unmet("find out who took the client away; a "+t.kind+" alone does not bring it back", "The live realm %s has no client %s.", realm, name)
	case !cluster.Plain(of.c.ID):
		unmet("write it by hand", "The id of the client is of a form that no path takes: %q.", steps.Clip(of.c.ID, 100))
	}
	switch {
	case w.from == "":
		unmet("name an export from before that has it, or write it by hand", "Neither the export nor the import has a %s %s of %s: what it was is not known.", t.kind, called, name)
	case w.two != "":
		unmet("let its owner say which one is meant, and leave it in one of both alone", "The export and the import have the %s %s of %s, and not the same%s.", t.kind, called, name, w.two)
	}
	p.Unmet = append(p.Unmet, w.unmet...)
	if w.now == asWant {
		unmet("nothing: it is so already; read a fresh token", "The client %s has the %s %s already.", name, t.kind, called)
	}
	of.calm(unmet)
	return p
}

func oneOf(claims []string) string {
	if len(claims) > 1 {
		return "one of " + strings.Join(claims, ", ")
	}
	return strings.Join(claims, ", ")
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

// Act implements steps.Gater.
func (g giveGate) Act(ctx context.Context, a *steps.Approval, out steps.Sink) (steps.Outcome, error) {
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
	out.Line("writing the " + g.kind + " " + steps.Find(p.Target, g.kind))
	said, err := s.send(ctx, o)
	return transport.Settled(err, func() (steps.Outcome, error) {
		found, after, err := g.seen(ctx, s, p.Target)
		if err != nil {
			return steps.Outcome{}, fmt.Errorf("whether the %s was written is not known: %w", g.kind, err)
		}
		out := steps.Outcome{Result: steps.Done, Response: said, After: after}
		if found != asWant {
			out.Result, out.Response = steps.Failed, said+"; read again: "+found
		}
		return out, nil
	})
}

// seen reads the thing of a target again.
func (g giveGate) seen(ctx context.Context, s *server, target []steps.KV) (found string, after []steps.KV, err error) {
	c, there, err := s.clientOf(ctx, steps.Find(target, keyRealm), steps.Find(target, keyClient))
	if err != nil {
		return "", nil, err
	}
	var made []steps.KV
	if !there || c.ID != steps.Find(target, keyID) {
		found = "the client is gone, or another one of its name is there"
	} else if found, made, err = g.found(ctx, s, c, target); err != nil {
		return "", nil, err
	}
	after = []steps.KV{{Key: keyClient, Value: steps.Find(target, keyClient)}, {Key: g.kind, Value: steps.Find(target, g.kind)}, {Key: g.kind + " now", Value: found}}
	return found, append(after, made...), nil
}

// Find implements steps.Finder.
func (g giveGate) Find(ctx context.Context, before []steps.KV, _ steps.Params, out steps.Sink) (steps.Outcome, error) {
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
	o := steps.Outcome{Result: steps.Done, Response: "The " + g.kind + ": " + found + ".", After: after}
	if found != asWant {
		o.Result = steps.Failed
	}
	return o, nil
}

// Again implements steps.Rereader: an import that ran meanwhile takes it away.
func (g giveGate) Again(ctx context.Context, before []steps.KV, in steps.Params, out steps.Sink) (steps.Outcome, error) {
	return g.Find(ctx, before, in, out)
}
