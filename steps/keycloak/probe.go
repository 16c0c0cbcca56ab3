package keycloak

import (
	"context"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"handrail/steps"
	"handrail/steps/cluster"
	"handrail/steps/kube/report"
)

// The grammars of names: what reaches a path.
const (
	realmName    = `[A-Za-z0-9][A-Za-z0-9._-]{0,127}`
	clientName   = `[A-Za-z0-9][A-Za-z0-9._:/@-]{0,254}`
	mapperName   = `[A-Za-z0-9][A-Za-z0-9 ._:/@-]{0,254}`
	scopeName    = `[A-Za-z0-9][A-Za-z0-9._:/@-]{0,254}`
	workloadName = `[a-z]+(\.[a-z0-9.-]+)?/[a-z0-9][a-z0-9.-]*`
)

func sideParams() []steps.Field {
	return []steps.Field{
		{Name: "realm", Type: steps.String, Required: true, Pattern: realmName, Doc: "name of the realm; its server stands in KEYCLOAK_URL"},
		{Name: "import", Type: steps.String, Pattern: cluster.ObjectName, Doc: "ConfigMap with the realm that the next import brings"},
		{Name: "import_key", Type: steps.String, Default: "realm.json", Pattern: `[A-Za-z0-9._-]{1,253}`, Doc: "its key"},
		{Name: "workload", Type: steps.String, Pattern: workloadName, Doc: "what runs Keycloak, as statefulset/keycloak"},
		{Name: "namespace", Type: steps.String, Pattern: cluster.NamespaceName, Doc: "namespace of both, instead of that of the context"},
		{Name: "export", Type: steps.Path, Doc: "an export of the realm from before, with its clients"},
	}
}

func realmParams() []steps.Field {
	return append(sideParams(),
		steps.Field{Name: "client", Type: steps.String, Pattern: clientName, Doc: "the one client that is read, instead of all"},
		steps.Field{Name: "order", Type: steps.Strings, Doc: "clients in the order in which they depend on each other, the issuer of tokens first; an item may hold several with spaces between"})
}

func realmFacts() []steps.Field {
	return []steps.Field{
		{Name: "asked_at", Type: steps.Time, Doc: "when it was read, by the clock of Keycloak"},
		{Name: "clients", Type: steps.Int, Doc: "clients of the realm that were read"},
		{Name: "drifted", Type: steps.Strings, Doc: "clients that lack what another side has or have it otherwise, in order"},
		{Name: "drift", Type: steps.Table, Doc: "each of them, and what it lacks: missing-mapper, missing-scope, missing-role, or other"},
		{Name: "missing_mappers", Type: steps.Strings, Doc: "mappers that the live realm lacks and another side has, as client: mapper, in order"},
		{Name: "missing_scopes", Type: steps.Strings, Doc: "client scopes of clients, likewise"},
		{Name: "missing_roles", Type: steps.Strings, Doc: "roles in the scope of clients, likewise"},
		{Name: "earlier", Type: steps.Strings, Doc: "what the import has and the live realm lacks: it was lost to an earlier overwrite, or taken away by hand"},
		{Name: "uncommitted", Type: steps.Strings, Doc: "what the import lacks, and the live realm or the export has: the next import that overwrites takes it away"},
		{Name: "differs", Type: steps.Strings, Doc: "what is live and in the import, and not the same"},
		{Name: "same", Type: steps.Bool, Doc: "whether the import has the clients of the live realm, so that it would change nothing of them"},
		{Name: "next_client", Type: steps.String, Doc: "first client, in order, that is live and lacks a mapper, a client scope or a role, empty where none does"},
		{Name: "next_mapper", Type: steps.String, Doc: "the first mapper that it lacks, empty where it lacks none"},
		{Name: "next_claim", Type: steps.String, Doc: "the claim that this one puts into tokens, empty where it names none"},
		{Name: "next_scope", Type: steps.String, Doc: "the first client scope that it lacks"},
		{Name: "next_scope_claims", Type: steps.Strings, Doc: "the claims that this one puts into access tokens, as the live realm has it"},
		{Name: "next_role", Type: steps.String, Doc: "the first role that it lacks in its scope"},
		{Name: "next_role_of", Type: steps.String, Doc: "the client whose role this is, empty for one of the realm"},
		{Name: "strategy", Type: steps.Enum, Values: []string{overwrites, ignores, strategyNot}, Doc: "what an import does with a realm that is there; most charts overwrite where it is unset"},
		{Name: "strategy_at", Type: steps.Strings, Doc: "where that stands"},
		{Name: "restarting", Type: steps.Bool, Doc: "whether its Pods are being replaced, or not all are ready"},
		{Name: "started", Type: steps.Time, Doc: "when the newest Pod of it started"},
		{Name: "import_written", Type: steps.Time, Doc: "when the ConfigMap of the import was written last"},
		{Name: "sessions", Type: steps.Int, Doc: "active sessions, those of all clients together"},
		{Name: "kids", Type: steps.Strings, Doc: "ids of the keys that tokens are signed with"},
	}
}

type realmProbe struct {
	env   steps.Env
	roots *x509.CertPool // that servers are verified against, nil for those of the machine
}

// Probe implements steps.Prober.
func (p realmProbe) Probe(ctx context.Context, in steps.Params, out steps.Sink) (steps.Observation, error) {
	inner, turned, cancel := report.Deadline(ctx)
	defer cancel()
	realm := in.Text("realm")
	s, err := signIn(inner, p.env, p.roots, out)
	if err != nil {
		return steps.Observation{}, report.Cause(turned(), err)
	}
	defer s.done()
	f := steps.NewFacts(realmFacts())
	obs := steps.Observation{Command: `curl -sS -H "Authorization: Bearer $TOKEN" ` + steps.Quote(s.base.JoinPath("admin", "realms", realm, "clients").String())}
	live, gaps, err := s.readLive(inner, realm, in.Text("client"))
	if err != nil {
		return steps.Observation{}, report.Cause(turned(), err)
	}
	for _, word := range live.secrets() {
		out.Secret(word)
	}
	obs.Gaps = gaps
	if !s.at.IsZero() {
		f.Set("asked_at", steps.TimeOf(s.at))
	}
	tellServer(inner, s, realm, f, &obs)
	all := sides{live: live}
	tellCluster(inner, p.env, in, &all, f, &obs, out)
	unread := ""
	if name := in.Text("export"); name == "" {
		obs.Gaps = append(obs.Gaps, "no export from before was named: what was lost and stands in no ConfigMap cannot be told")
	} else if all.before, err = readExport(p.env, name, out.Secret); err != nil {
		// The live realm is kept all the same: it may be gone by the time that the export is found.
		unread = "the export from before cannot be read: " + report.Why(err)
		obs.Gaps = append(obs.Gaps, unread)
		obs.Say(steps.Warning, "%s. Name another file, or none.", unread)
	}
	if err := turned(); err != nil {
		return steps.Observation{}, err
	}
	all.narrow(in.Text("client"))
	all.keep(out, &obs)
	if unread != "" {
		f.Set("clients", steps.IntOf(int64(len(live.Clients))))
		obs.Summary = fmt.Sprintf("%d clients were read, and held against nothing: %s.", len(live.Clients), unread)
		f.Unknown(unread, "missing_mappers", "missing_scopes", "missing_roles", "drifted", "drift", "earlier", "uncommitted", "differs", "same", "next_client", "next_mapper", "next_claim", "next_scope", "next_scope_claims", "next_role", "next_role_of")
		obs.Facts = f.Rest("not read")
		return obs, nil
	}
	all.tell(strings.Fields(strings.Join(in["order"].Strings(), " ")), f, &obs)
	obs.Facts = f.Rest("not read")
	return obs, nil
}

// tellServer says what the server tells of keys and sessions. Who may read clients may not always read these.
func tellServer(ctx context.Context, s *server, realm string, f steps.Facts, obs *steps.Observation) {
	if kids, err := s.keys(ctx, realm); err == nil {
		f.Set("kids", steps.StringsOf(kids))
	} else {
		obs.Gaps = append(obs.Gaps, "the keys of the realm: "+report.Why(err))
		f.Unknown(report.Why(err), "kids")
	}
	if n, err := s.sessions(ctx, realm); err == nil {
		f.Set("sessions", steps.IntOf(n))
	} else {
		obs.Gaps = append(obs.Gaps, "the sessions of the realm: "+report.Why(err))
		f.Unknown(report.Why(err), "sessions")
	}
}

// tellCluster reads the import, and how it is done. Without names it asks no cluster.
func tellCluster(ctx context.Context, env steps.Env, in steps.Params, all *sides, f steps.Facts, obs *steps.Observation, out steps.Sink) {
	name, ref := in.Text("import"), in.Text("workload")
	if name == "" {
		obs.Gaps = append(obs.Gaps, "no ConfigMap of the import was named")
	}
	if ref == "" {
		obs.Gaps = append(obs.Gaps, "what runs Keycloak was not named")
	}
	if name == "" && ref == "" {
		return
	}
	gap := func(what string, err error, facts ...string) {
		obs.Gaps = append(obs.Gaps, what+": "+report.Why(err))
		f.Unknown(report.Why(err), facts...)
	}
	c, err := cluster.Connect(env, out)
	if err != nil {
		gap("the cluster", err, "strategy", "strategy_at", "restarting", "started", "import_written")
		return
	}
	namespace := c.NamespaceOf(in)
	if name != "" {
		git, w, err := readImport(ctx, c, namespace, name, in.Text("import_key"), out.Secret)
		if err != nil {
			gap("the import", err, "import_written")
		}
		all.git = git
		if !w.at.IsZero() {
			f.Set("import_written", steps.TimeOf(w.at))
		}
	}
	if ref != "" {
		w, err := readWorkload(ctx, c, namespace, ref)
		if err != nil {
			gap(ref, err, "strategy", "strategy_at", "restarting", "started")
			return
		}
		w.tell(f, obs)
	}
	obs.Findings = append(obs.Findings, c.Warnings()...)
}

func (w workload) tell(f steps.Facts, obs *steps.Observation) {
	f.Set("strategy_at", steps.StringsOf(append([]string{}, w.said...)))
	if w.strategy == "" {
		f.Unknown(w.unknown, "strategy")
	} else {
		f.Set("strategy", steps.EnumOf(w.strategy))
	}
	switch w.strategy {
	case overwrites:
		obs.Say(steps.Critical, "Each start of %s writes the import over the live realm (%s).", w.name, strings.Join(w.said, ", "))
	case strategyNot:
		obs.Say(steps.Critical, "%s says nowhere what an import does, and most charts overwrite then.", w.name)
	}
	f.Set("restarting", steps.BoolOf(w.restarting != ""))
	if w.restarting != "" {
		obs.Say(steps.Warning, "%s is not at rest: %s.", w.name, w.restarting)
	}
	if !w.started.IsZero() {
		f.Set("started", steps.TimeOf(w.started))
	} else {
		f.Unknown("no Pod of it says when it started", "started")
	}
}

// narrow leaves one client on every side.
func (s *sides) narrow(only string) {
	if only == "" {
		return
	}
	for _, d := range []*document{&s.live, s.git, s.before} {
		if d == nil {
			continue
		}
		d.Clients = slices.DeleteFunc(d.Clients, func(c client) bool { return c.ClientID != only })
		d.Scopes = nil
		d.RealmRoles = mapped(d.RealmRoles, only)
		for of, list := range d.ClientRoles {
			d.ClientRoles[of] = mapped(list, only)
		}
	}
}

func mapped(list []mapping, only string) []mapping {
	return slices.DeleteFunc(slices.Clone(list), func(m mapping) bool { return m.Client != only })
}

// keep stores each side as it was compared. The redactor makes a token of each secret.
func (s sides) keep(out steps.Sink, obs *steps.Observation) {
	for _, side := range []struct {
		role string
		of   *document
	}{{"live", &s.live}, {"import", s.git}, {"export", s.before}} {
		if side.of == nil {
			continue
		}
		if gap := steps.Keep(out, side.role, steps.MediaJSON, func(w io.Writer) error { return json.NewEncoder(w).Encode(side.of) }); gap != "" {
			obs.Gaps = append(obs.Gaps, gap)
		}
	}
}

// tell says in what the sides differ.
func (s sides) tell(order []string, f steps.Facts, obs *steps.Observation) {
	f.Set("clients", steps.IntOf(int64(len(s.live.Clients))))
	if s.git == nil && s.before == nil {
		const alone = "there is nothing that the live realm could be held against: name the ConfigMap of the import, or an export from before"
		obs.Summary = fmt.Sprintf("%d clients were read, and %s.", len(s.live.Clients), alone)
		f.Rest(alone)
		return
	}
	lists := map[string][]string{ofMapper: {}, ofScope: {}, ofRole: {}}
	drift := map[string]string{}
	drifted, earlier, uncommitted, differs := []string{}, []string{}, []string{}, []string{}
	next := map[string]entry{} // by the kind
	client := ""
	for _, d := range s.compare(order) {
		text := d.String()
		if d.missing || d.changed {
			if drift[d.client] == "" {
				drifted = append(drifted, d.client)
			} else {
				drift[d.client] += "; "
			}
			drift[d.client] += d.word()
		}
		if d.missing {
			lists[d.kind] = append(lists[d.kind], text)
			if d.inGit {
				earlier = append(earlier, text)
			}
			if _, there := s.live.client(d.client); there && client == "" {
				client = d.client
			}
			if _, told := next[d.kind]; d.client == client && !told {
				next[d.kind] = d.entry
			}
		}
		if d.uncommitted {
			uncommitted = append(uncommitted, text)
		}
		if d.gitOther {
			differs = append(differs, text)
		}
	}
	f.Set("drifted", steps.StringsOf(drifted))
	f.Set("drift", steps.TableOf(drift))
	f.Set("missing_mappers", steps.StringsOf(lists[ofMapper]))
	f.Set("missing_scopes", steps.StringsOf(lists[ofScope]))
	f.Set("missing_roles", steps.StringsOf(lists[ofRole]))
	f.Set("next_client", steps.StringOf(client))
	f.Set("next_mapper", steps.StringOf(next[ofMapper].name))
	m, _, _ := s.wanted(client, next[ofMapper].name)
	f.Set("next_claim", steps.StringOf(m.claim()))
	f.Set("next_scope", steps.StringOf(next[ofScope].name))
	f.Set("next_scope_claims", steps.StringsOf(s.live.scope(next[ofScope].name).claims()))
	f.Set("next_role", steps.StringOf(next[ofRole].name))
	f.Set("next_role_of", steps.StringOf(next[ofRole].owner))
	if s.git == nil {
		f.Unknown("the import was not read", "earlier", "uncommitted", "differs", "same")
	} else {
		f.Set("earlier", steps.StringsOf(earlier))
		f.Set("uncommitted", steps.StringsOf(uncommitted))
		f.Set("differs", steps.StringsOf(differs))
		f.Set("same", steps.BoolOf(len(earlier)+len(uncommitted)+len(differs) == 0))
	}
	if len(drifted) == 0 {
		obs.Summary = fmt.Sprintf("None of %d clients lacks what another side has.", len(s.live.Clients))
	} else {
		var parts []string
		for _, name := range drifted {
			parts = append(parts, name+" ("+drift[name]+")")
		}
		obs.Summary = steps.Clip(fmt.Sprintf("%d of %d clients drifted: %s.", len(drifted), len(s.live.Clients), strings.Join(parts, ", ")), 600)
	}
}

// wanted is a mapper as the export has it, else as the import has it, and which of both that is.
// two says that they have it otherwise.
func (s sides) wanted(name, of string) (m mapper, from string, two bool) {
	found := map[string]mapper{}
	for side, d := range map[string]*document{"export": s.before, "import": s.git} {
		if d == nil {
			continue
		}
		if c, ok := d.client(name); ok {
			if m, ok := c.mapper(of); ok {
				found[side] = m
			}
		}
	}
	for _, side := range slices.Sorted(maps.Keys(found)) {
		return found[side], side, len(found) == 2 && string(found["export"].body()) != string(found["import"].body())
	}
	return mapper{}, "", false
}

// said is what a thing of a client is in the export, else in the import, and which of both that is.
// two says that they have it otherwise.
func (s sides) said(e entry) (value, from string, two bool) {
	found := map[string]string{}
	for side, d := range map[string]*document{"export": s.before, "import": s.git} {
		if d == nil {
			continue
		}
		if v, ok := d.entries()[e]; ok {
			found[side] = v
		}
	}
	for _, side := range slices.Sorted(maps.Keys(found)) {
		return found[side], side, len(found) == 2 && found["export"] != found["import"]
	}
	return "", "", false
}
