package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"handrail/drills/lab"
	"handrail/runbooks"
	"handrail/steps"
	"handrail/steps/catalog"
)

// printedRoles is what `handrail runbook rbac -o json` prints.
type printedRoles struct {
	Items []struct {
		APIVersion, Kind string
		Metadata         struct{ Name, Namespace string }
		Rules            []printedRule
	}
	Untold []struct {
		Kind  string
		Verbs []string
	}
}

type printedRule struct {
	APIGroups, Resources, ResourceNames, Verbs []string
}

// rolesPrinted runs the command.
func rolesPrinted(t *testing.T, args ...string) (doc printedRoles, yaml string) {
	t.Helper()
	home := t.TempDir()
	run := func(args ...string) string {
		var out, talk bytes.Buffer
		code := Main(append([]string{"handrail", "runbook", "rbac"}, args...), strings.NewReader(""), &out, &talk, []string{"HOME=" + home, "PATH=" + os.Getenv("PATH")})
		if code != 0 {
			t.Fatalf("handrail runbook rbac %v: %d\n%s", args, code, talk.String())
		}
		return out.String()
	}
	if err := json.Unmarshal([]byte(run(append(args, "-o", "json")...)), &doc); err != nil {
		t.Fatal(err)
	}
	return doc, run(args...)
}

// missing is one verb on one resource that an account is not granted.
type missing struct {
	rule           *printedRule
	resource, verb string
}

// account makes a ServiceAccount with the rules of these roles, but for what is missing.
func (w *permitWorld) account(t *testing.T, doc printedRoles, but missing) (kubeconfig string) {
	t.Helper()
	w.mu.Lock()
	w.n++
	name := fmt.Sprintf("reader-%d", w.n)
	w.mu.Unlock()
	_, kubeconfig, err := w.lab.Account(t.Context(), w.ns.Name, name)
	if err != nil {
		t.Fatal(err)
	}
	for i := range doc.Items {
		var rules []lab.Rule
		for j := range doc.Items[i].Rules {
			r := &doc.Items[i].Rules[j]
			rest := lab.Rule{Group: r.APIGroups[0], Resources: r.Resources, Names: r.ResourceNames, Verbs: r.Verbs}
			if r == but.rule {
				less := rest
				less.Resources, rest.Resources = []string{but.resource}, remove(rest.Resources, but.resource)
				if less.Verbs = remove(less.Verbs, but.verb); len(less.Verbs) > 0 {
					rules = append(rules, less)
				}
			}
			if len(rest.Resources) > 0 {
				rules = append(rules, rest)
			}
		}
		if len(rules) == 0 {
			continue
		}
		if err := w.lab.Allow(t.Context(), w.ns.Name, name, fmt.Sprint("r", i), doc.Items[i].Kind == "ClusterRole", rules); err != nil {
			t.Fatal(err)
		}
	}
	return kubeconfig
}

func remove(list []string, one string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(s string) bool { return s == one })
}

// denial is what the API server says that an account may not.
type denial struct{ verb, resource, group string }

// The server says it in JSON or, where it was asked for that, in protobuf.
var deniedText = regexp.MustCompile(`cannot (\w+) resource \\?"([^"\\]+)\\?" in API group \\?"([^"\\]*)\\?"`)

// front stands between the probes and the server as the account, and keeps each denial.
func (w *permitWorld) front(t *testing.T, kubeconfig string) (env steps.Env, denials func() []denial) {
	t.Helper()
	cfg, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	transport, err := rest.TransportFor(cfg)
	if err != nil {
		t.Fatal(err)
	}
	to, err := url.Parse(cfg.Host)
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	var all []denial
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(to); r.Out.Header.Del("Accept-Encoding") }, Transport: transport, FlushInterval: -1,
		ModifyResponse: func(res *http.Response) error {
			if res.StatusCode != http.StatusForbidden {
				return nil
			}
			body, err := io.ReadAll(res.Body)
			if err != nil {
				return err
			}
			res.Body = io.NopCloser(bytes.NewReader(body))
			m := deniedText.FindStringSubmatch(string(body))
			if m == nil {
				m = []string{"", "?", strconv.Quote(string(body)), "?"}
			}
			mu.Lock()
			all = append(all, denial{m[1], m[2], m[3]})
			mu.Unlock()
			return nil
		}}
	s := httptest.NewServer(proxy)
	t.Cleanup(s.Close)
	file := filepath.Join(t.TempDir(), "kubeconfig")
	text := fmt.Sprintf(`{"apiVersion": "v1", "kind": "Config", "current-context": "c", "clusters": [{"name": "c", "cluster": {"server": %q}}], "users": [{"name": "c", "user": {}}],
"contexts": [{"name": "c", "context": {"cluster": "c", "user": "c", "namespace": %q}}]}`, s.URL, w.ns.Name)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	env = steps.Env{Home: t.TempDir(), Now: time.Now, Kubeconfig: file, Version: "test", Pin: func(context.Context, steps.Cluster) error { return nil }}
	return env, func() []denial { mu.Lock(); defer mu.Unlock(); return slices.Clone(all) }
}

// whole runs the probes of a runbook one after the other in each of its worlds, each with what
// those before it found. It returns what is known in each then.
func (c permitCase) whole(t *testing.T, env steps.Env) (rb *runbooks.Runbook, known []runbooks.Vars, ran int) {
	t.Helper()
	list, err := runbooks.Library(catalog.New())
	if err != nil {
		t.Fatal(err)
	}
	rb = list[slices.IndexFunc(list, func(rb *runbooks.Runbook) bool { return rb.ID == c.runbook })]
	for _, given := range c.worlds {
		params, err := rb.Bind(given)
		if err != nil {
			t.Fatal(err)
		}
		v := runbooks.Vars{Params: params, Facts: map[string]map[string]steps.Value{}}
		n := 0
		for _, st := range rb.Steps {
			if k, ok := asking(st); ok {
				v.Facts[st.ID] = readPermitted(t, rb, st, k, v, env)
				n++
			}
		}
		known, ran = append(known, v), max(ran, n)
	}
	return rb, known, ran
}

// some runs the probes of some kinds, until enough says so.
func some(t *testing.T, rb *runbooks.Runbook, known []runbooks.Vars, kinds []string, env steps.Env, enough func() bool) {
	t.Helper()
	for _, v := range known {
		for _, st := range rb.Steps {
			if k, ok := asking(st); ok && slices.Contains(kinds, k.Name) {
				if readPermitted(t, rb, st, k, v, env); enough() {
					return
				}
			}
		}
	}
}

// namedInRun reports whether the incident names what a kind asks for: the call, a file, a plan or a
// state.
func namedInRun(kind string) bool {
	return slices.Contains([]string{"kube/named", "kube/signals", "kube/admission", "kube/delivery", "compare/plan-live", "compare/state-live"}, kind)
}

// asking is the kind of a step that reads a cluster.
func asking(st runbooks.Step) (steps.Kind, bool) {
	k, ok := catalog.New().Lookup(st.Uses)
	return k, ok && !k.Class.Gate() && k.Rights != nil
}

func readPermitted(t *testing.T, rb *runbooks.Runbook, st runbooks.Step, k steps.Kind, v runbooks.Vars, env steps.Env) map[string]steps.Value {
	in := rb.Told(st.ID, v)
	if k.Name == "kube/catch" {
		in["window"] = steps.DurationOf(time.Second) // what it asks for is asked at once
	}
	obs, err := k.Reads(env).Probe(t.Context(), in, steps.SecretsOnly(nil))
	if err != nil && !errors.Is(err, steps.ErrDenied) {
		t.Logf("%s/%s: %v", rb.ID, st.ID, err)
	}
	return obs.Facts
}

func (m missing) grants(d denial) bool {
	is := func(want, got string) bool { return want == got || want == "*" }
	return is(m.rule.APIGroups[0], d.group) && is(m.resource, d.resource) && m.verb == d.verb
}

// TestRolesAreEnoughAndLeast proves the roles of the runbooks that read a cluster by the real API server: as an
// account with exactly these, no request of a probe is denied. Without any one verb on any one
// resource of a rule that every run needs, a request is, and it is that one.
func TestRolesAreEnoughAndLeast(t *testing.T) {
	t.Parallel()
	w := newPermitWorld(t)
	list, err := runbooks.Library(catalog.New())
	if err != nil {
		t.Fatal(err)
	}
	for _, rb := range list {
		if strings.HasPrefix(rb.ID, "gitops-") || rb.ID == "emergency-mutation" || rb.ID == "split-hotfix" || rb.ID == "realm-overwrite" {
			continue // they ask for kinds that only a cluster with a controller serves; docs/rbac.md says that they are not proven
		}
		doc, _ := rolesPrinted(t, rb.ID)
		if !slices.ContainsFunc(rb.Steps, func(st runbooks.Step) bool { k, ok := asking(st); return ok && !namedInRun(k.Name) }) {
			continue // all that it asks for is named by a plan or a state
		}
		if tried := slices.ContainsFunc(w.cases, func(c permitCase) bool { return c.runbook == rb.ID }); (len(doc.Items) > 0) != tried {
			t.Errorf("%s has %d roles; whether they are proven: %t", rb.ID, len(doc.Items), tried)
		}
	}
	for _, c := range w.cases {
		t.Run(c.runbook, func(t *testing.T) {
			t.Parallel()
			args := append([]string{c.runbook}, c.told...)
			doc, yaml := rolesPrinted(t, args...)
			for _, u := range doc.Untold {
				if namedInRun(u.Kind) {
					continue
				}
				t.Errorf("only the run tells what %s needs for %v", u.Kind, u.Verbs)
			}
			env, denials := w.front(t, w.account(t, doc, missing{}))
			rb, known, ran := c.whole(t, env)
			if got := denials(); len(got) > 0 || ran == 0 {
				t.Fatalf("%d probes ran with the roles that are made for them; denied: %v", ran, got)
			}
			least := doc // what no run can do without
			least.Items = slices.Clone(doc.Items)
			for i := range least.Items {
				least.Items[i].Rules = slices.DeleteFunc(slices.Clone(doc.Items[i].Rules), func(r printedRule) bool { return sometimes(yaml, r) })
			}
			tried := 0
			for i := range least.Items {
				for j := range least.Items[i].Rules {
					rule := &least.Items[i].Rules[j]
					for _, resource := range rule.Resources {
						for _, verb := range rule.Verbs {
							tried++
							but := missing{rule, resource, verb}
							t.Run("without "+verb+" of "+resource+"."+rule.APIGroups[0], func(t *testing.T) {
								t.Parallel()
								env, denials := w.front(t, w.account(t, least, but))
								is := func() bool { return slices.ContainsFunc(denials(), but.grants) }
								if some(t, rb, known, kindsOf(yaml, *rule), env, is); !is() {
									t.Errorf("%s of %s can go from the %s: it was not denied (%v)", verb, resource, doc.Items[i].Kind, denials())
								}
							})
						}
					}
				}
			}
			if tried == 0 {
				t.Error("no right was tried")
			}
		})
	}
}

// sometimes reports whether the YAML says of a rule that not every run needs it.
func sometimes(yaml string, r printedRule) bool {
	return slices.ContainsFunc(above(yaml, r), func(line string) bool { return strings.HasPrefix(line, "# for: ") })
}

// kindsOf are the kinds of steps that need a rule, as the YAML says.
func kindsOf(yaml string, r printedRule) []string {
	for _, line := range above(yaml, r) {
		if kinds := strings.Split(strings.TrimPrefix(line, "# "), ", "); strings.Contains(kinds[0], "/") {
			return kinds
		}
	}
	return nil
}

// above are the comments of a rule in the YAML.
func above(yaml string, r printedRule) []string {
	list := func(words []string) string { return `["` + strings.Join(words, `", "`) + `"]` }
	lines := strings.Split(yaml, "\n")
	for i, line := range lines {
		if line != "- apiGroups: "+list(r.APIGroups) {
			continue
		}
		end := i + 1
		for end < len(lines) && strings.HasPrefix(lines[end], "  ") {
			end++
		}
		rule := []string{"  resources: " + list(r.Resources), "  verbs: " + list(r.Verbs)}
		if len(r.ResourceNames) > 0 {
			rule = slices.Insert(rule, 1, "  resourceNames: "+list(r.ResourceNames))
		}
		if !slices.Equal(lines[i+1:end], rule) {
			continue
		}
		from := i
		for from > 0 && strings.HasPrefix(lines[from-1], "#") {
			from--
		}
		return lines[from:i]
	}
	return nil
}
