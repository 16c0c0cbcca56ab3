package kube

import (
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
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	kjson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"handrail/drills/lab"
	"handrail/steps"
	"handrail/steps/cluster"
	"handrail/steps/cluster/wire"
	"handrail/steps/kube/sweep"
)

const (
	crowdSpaces  = 500
	crowdRounds  = 3
	crowdTarget  = "crowd-250"
	crowdPopeye  = "HANDRAIL_POPEYE" // a popeye to compare with
	crowdWorkers = 24
)

// crowd is what each of the namespaces holds: a hundred objects.
var crowd = []struct {
	group, plural string
	n             int
	body          func(name, space string) m
}{
	{"", "configmaps", 25, func(string, string) m {
		return m{"data": m{"text": strings.Repeat("0123456789abcde\n", 40)}}
	}},
	{"", "serviceaccounts", 10, func(string, string) m { return m{} }},
	{batchV1, "cronjobs", 10, func(name, _ string) m {
		return m{"spec": m{"schedule": "*/5 * * * *", "suspend": true, "jobTemplate": m{"spec": m{"template": m{"spec": podAs(strings.Replace(name, "cronjobs", "serviceaccounts", 1), "report")}}}}}
	}},
	{appsV1, "deployments", 10, func(name, _ string) m {
		return m{"spec": m{"replicas": 0, "selector": m{"matchLabels": m{"app": name}}, "template": m{"metadata": m{"labels": m{"app": name}},
			"spec": m{"containers": []m{{"name": "c", "image": "i:1"}}}}}}
	}},
	{"", "pods", 15, func(string, string) m { return m{"spec": podAs("default", "sleep")} }},
	{"rbac.authorization.k8s.io/v1", "roles", 10, func(string, string) m {
		return m{"rules": []m{{"apiGroups": []string{""}, "resources": []string{"configmaps"}, "verbs": []string{"get", "update"}}}}
	}},
	{"rbac.authorization.k8s.io/v1", "rolebindings", 10, func(name, space string) m {
		of := func(plural string) string { return strings.Replace(name, "rolebindings", plural, 1) }
		return m{"subjects": []m{{"kind": "ServiceAccount", "name": of("serviceaccounts"), "namespace": space}},
			"roleRef": m{"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": of("roles")}}
	}},
	{"networking.k8s.io/v1", "networkpolicies", 10, func(string, string) m { return m{"spec": m{"podSelector": m{}, "policyTypes": []string{"Egress"}}} }},
}

// BenchmarkWriters asks who writes, and sweeps, in a cluster of 50,000 objects in
// 500 namespaces, beside kubectl that gets the same kinds, beside popeye where one
// is named, and beside the cheapest way to read so many rows.
func BenchmarkWriters(b *testing.B) {
	if way := os.Getenv(benchWay); way != "" {
		crowdChild(b, way)
		return
	}
	crowdMeasure(b, fillCrowd(b))
}

// crowdMeasure goes each way in turns and tells the best time of it.
func crowdMeasure(b *testing.B, p listPlace) {
	front, meter := crowdFront(b, p)
	best := map[string]time.Duration{}
	for round := range crowdRounds {
		for _, way := range crowdWays {
			began := time.Now()
			if err := way.read(b.Context(), b, p); err != nil {
				b.Fatalf("%s: %v", way.name, err)
			}
			if took := time.Since(began); round == 0 || took < best[way.name] {
				best[way.name] = took
			}
		}
	}
	cheapest := best[crowdWays[0].name]
	tell := func(name string, took time.Duration, peak, bytes, requests int64) {
		b.Run("way="+name, func(b *testing.B) {
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(float64(took.Microseconds())/1000, "ms-best")
			b.ReportMetric(float64(took)/float64(cheapest), "x-cheapest")
			b.ReportMetric(float64(peak)/1024, "MB-peak")
			b.ReportMetric(float64(bytes)/(1<<20), "MB-read")
			b.ReportMetric(float64(requests), "requests")
		})
	}
	for _, way := range crowdWays {
		bytes, requests := meter(func() error { return way.read(b.Context(), b, front) })
		tell(way.name, best[way.name], crowdPeak(b, way.name, p), bytes, requests)
	}
	if kubectl, err := findKubectl(b); err != nil {
		b.Logf("kubectl is not compared: %v", err)
	} else {
		for name, list := range map[string][]string{"kubectl-of-sweep": crowdOfSweep, "kubectl-of-writers": crowdOfWriters} {
			var peak int64
			run := func(at listPlace) (took time.Duration) {
				for _, kind := range list {
					t, kB := crowdRun(b, kubectl, "--kubeconfig", at.kubeconfig, "get", kind, "-A", "-o", "json")
					took, peak = took+t, max(peak, kB)
				}
				return took
			}
			took := run(p)
			bytes, requests := meter(func() error { run(front); return nil })
			tell(name, took, peak, bytes, requests)
		}
	}
	if popeye := os.Getenv(crowdPopeye); popeye != "" {
		args := func(at listPlace) []string {
			return []string{"--kubeconfig", at.kubeconfig, "-A", "-o", "json", "--force-exit-zero"}
		}
		took, peak := crowdRun(b, popeye, args(p)...)
		bytes, requests := meter(func() error { crowdRun(b, popeye, args(front)...); return nil })
		tell("popeye", took, peak, bytes, requests)
	}
}

// crowdOfWriters are the kinds that kube/writers reads.
var crowdOfWriters = []string{"mutatingwebhookconfigurations", "validatingwebhookconfigurations", "mutatingadmissionpolicies", "mutatingadmissionpolicybindings",
	"validatingadmissionpolicies", "validatingadmissionpolicybindings", "clusterroles", "clusterrolebindings", "roles", "rolebindings",
	"cronjobs", "jobs", "deployments", "daemonsets", "statefulsets", "pods", "horizontalpodautoscalers"}

// crowdOfSweep are the kinds that kube/persistence lists on a server without
// resources of others.
var crowdOfSweep = append(append([]string{"cronjobs.batch", "jobs.batch", "deployments.apps", "daemonsets.apps", "statefulsets.apps", "replicationcontrollers",
	"mutatingwebhookconfigurations.admissionregistration.k8s.io", "validatingwebhookconfigurations.admissionregistration.k8s.io",
	"mutatingadmissionpolicies.admissionregistration.k8s.io", "mutatingadmissionpolicybindings.admissionregistration.k8s.io",
	"validatingadmissionpolicies.admissionregistration.k8s.io", "validatingadmissionpolicybindings.admissionregistration.k8s.io",
	"clusterroles.rbac.authorization.k8s.io", "clusterrolebindings.rbac.authorization.k8s.io", "roles.rbac.authorization.k8s.io", "rolebindings.rbac.authorization.k8s.io"},
	"apiservices.apiregistration.k8s.io", "networkpolicies.networking.k8s.io"), sweep.HeldKinds...)

// crowdWays begins with the cheapest way to read the rows of what a sweep reads.
var crowdWays = []listWay{
	{"tables-of-sweep", func(ctx context.Context, tb testing.TB, p listPlace) error {
		return crowdTables(ctx, p, crowdOfSweep, crowdRows)
	}},
	{"typed-of-sweep", func(ctx context.Context, tb testing.TB, p listPlace) error {
		return crowdTables(ctx, p, crowdOfSweep, crowdTyped)
	}},
	{"tables-of-writers", func(ctx context.Context, tb testing.TB, p listPlace) error {
		return crowdTables(ctx, p, crowdOfWriters, crowdRows)
	}},
	{"kube/blame", func(ctx context.Context, tb testing.TB, p listPlace) error {
		return crowdProbe(ctx, tb, p, "kube/blame", "writer", what("resource", "deployment", "name", "deployments-1", "namespace", crowdTarget, "field", "spec.replicas"))
	}},
	{"kube/writers", func(ctx context.Context, tb testing.TB, p listPlace) error {
		return crowdProbe(ctx, tb, p, "kube/writers", "complete", what("resource", "configmap", "name", "configmaps-1", "namespace", crowdTarget))
	}},
	{"kube/persistence", func(ctx context.Context, tb testing.TB, p listPlace) error {
		return crowdProbe(ctx, tb, p, "kube/persistence", "entries", steps.Params{})
	}},
}

// crowdProbe runs a kind, and fails when it could not tell a fact.
func crowdProbe(ctx context.Context, tb testing.TB, p listPlace, kind, fact string, in steps.Params) error {
	i := slices.IndexFunc(Kinds(), func(k steps.Kind) bool { return k.Name == kind })
	if i < 0 {
		return fmt.Errorf("no kind %q", kind)
	}
	obs, err := Kinds()[i].Reads(benchEnv(tb, p)).Probe(ctx, in, steps.SecretsOnly(nil))
	if err == nil && !obs.Facts[fact].Known() {
		err = fmt.Errorf("%s: %s", fact, obs.Facts[fact].Why())
	}
	return err
}

// crowdTables reads resources in pages of 500, one page after the other, each whole
// and dropped after use.
func crowdTables(ctx context.Context, p listPlace, names []string, form func(cluster.Resource) crowdForm) error {
	c, err := cluster.Connect(steps.Env{Now: time.Now, Kubeconfig: p.kubeconfig}, steps.SecretsOnly(nil))
	if err != nil {
		return err
	}
	if err := c.Discover(ctx); err != nil {
		return err
	}
	read := 0
	for _, r := range c.Served().All {
		if !slices.Contains(names, r.Plural) && !slices.Contains(names, r.String()) {
			continue
		}
		read++
		f := form(r)
		for token := ""; ; {
			query := url.Values{"limit": {"500"}}
			if f.accept == cluster.AsTable {
				query.Set("includeObject", "None")
			}
			if token != "" {
				query.Set("continue", token)
			}
			raw, err := c.Read(ctx, r.Path("", ""), f.accept, query)
			if err != nil {
				return err
			}
			if token, err = f.page(raw); err != nil {
				return fmt.Errorf("%s: %w", r, err)
			}
			if token == "" {
				break
			}
		}
	}
	if read < len(names) {
		return fmt.Errorf("%d of %d kinds are served", read, len(names))
	}
	return nil
}

// crowdForm is in which form a peer asks, and how it takes a page apart.
type crowdForm struct {
	accept string
	page   func(raw []byte) (next string, err error)
}

// crowdRows reads the rows of a table: the least that a server can be asked for. They
// do not say as whom a Pod runs or what a role lets write.
func crowdRows(cluster.Resource) crowdForm {
	return crowdForm{cluster.AsTable, func(raw []byte) (string, error) {
		var t struct {
			Metadata struct{ Continue string }
			Rows     []json.RawMessage
		}
		err := json.Unmarshal(raw, &t)
		return t.Metadata.Continue, err
	}}
}

// crowdTyped reads what a sweep has to know, as the libraries of Kubernetes do it:
// typed protobuf of what counts as far as it goes, metadata of the rest.
func crowdTyped(r cluster.Resource) crowdForm {
	typed := func(accept string, list interface {
		Unmarshal([]byte) error
		GetContinue() string
	}) crowdForm {
		return crowdForm{accept, func(raw []byte) (string, error) {
			var envelope runtime.Unknown
			if !wire.Is(raw) {
				return "", errors.New("it is not in protobuf")
			}
			if err := envelope.Unmarshal(raw[4:]); err != nil {
				return "", err
			}
			reflect.ValueOf(list).Elem().SetZero()
			err := list.Unmarshal(envelope.Raw)
			return list.GetContinue(), err
		}}
	}
	if list, is := crowdLists()[r.String()].(interface {
		Unmarshal([]byte) error
		GetContinue() string
	}); is && r.Plural != "replicasets" {
		return typed(wire.Media, list)
	}
	if slices.Contains(sweep.HeldKinds, r.String()) {
		return typed(wire.Media+";as=PartialObjectMetadataList;v=v1;g=meta.k8s.io", &metav1.PartialObjectMetadataList{})
	}
	return crowdForm{cluster.AsJSON, func(raw []byte) (string, error) {
		var u unstructured.UnstructuredList
		err := kjson.Unmarshal(raw, &u)
		return u.GetContinue(), err
	}}
}

// fillCrowd starts a lab of its own and fills it.
func fillCrowd(b *testing.B) listPlace {
	b.Helper()
	opts, err := lab.ForTests("crowd")
	if err != nil {
		b.Fatal(err)
	}
	opts.Dir = filepath.Join(b.TempDir(), "lab")
	l, err := lab.Up(b.Context(), opts)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		_ = l.Close()
		if err := lab.Down(context.Background(), opts); err != nil {
			b.Error(err)
		}
	})
	p := listPlace{kubeconfig: l.Kubeconfig(), namespace: crowdTarget}
	client, host := crowdClient(b, p)
	began := time.Now()
	each := func(n int, do func(i int) error) {
		var wg sync.WaitGroup
		errs := make([]error, crowdWorkers)
		for w := range crowdWorkers {
			wg.Go(func() {
				for i := w; i < n && errs[w] == nil; i += crowdWorkers {
					errs[w] = do(i)
				}
			})
		}
		wg.Wait()
		if i := slices.IndexFunc(errs, func(err error) bool { return err != nil }); i >= 0 {
			b.Fatal(errs[i])
		}
	}
	var uids sync.Map // by path
	post := func(path string, body m) error {
		made, err := send(client, http.MethodPost, host+path, body)
		if err != nil {
			return err
		}
		md, _ := made["metadata"].(map[string]any)
		uids.Store(path+"/"+fmt.Sprint(md["name"]), md["uid"])
		return nil
	}
	space := func(i int) string { return fmt.Sprintf("crowd-%03d", i) }
	each(crowdSpaces, func(i int) error { return post("/api/v1/namespaces", m{"metadata": m{"name": space(i)}}) })
	for _, of := range crowd {
		each(crowdSpaces*of.n, func(i int) error {
			name := fmt.Sprintf("%s-%d", of.plural, i%of.n)
			body := of.body(name, space(i/of.n))
			md := m{"name": name, "labels": m{"app": name, "team": "shop"}}
			if of.plural == "pods" && i%of.n > 0 { // one of each namespace is bare
				owner := fmt.Sprintf("deployments-%d", i%10)
				uid, _ := uids.Load("/apis/apps/v1/namespaces/" + space(i/of.n) + "/deployments/" + owner)
				md["ownerReferences"] = []m{{"apiVersion": "apps/v1", "kind": "Deployment", "name": owner, "uid": uid, "controller": true}}
			}
			body["metadata"] = md
			path := "/api/v1"
			if of.group != "" {
				path = "/apis/" + of.group
			}
			return post(path+"/namespaces/"+space(i/of.n)+"/"+of.plural, body)
		})
	}
	b.Logf("filled in %s", time.Since(began).Round(time.Second))
	return p
}

func crowdClient(b *testing.B, p listPlace) (*http.Client, string) {
	b.Helper()
	cfg, err := clientcmd.BuildConfigFromFlags("", p.kubeconfig)
	if err != nil {
		b.Fatal(err)
	}
	client, err := rest.HTTPClientFor(cfg)
	if err != nil {
		b.Fatal(err)
	}
	return client, cfg.Host
}

// crowdFront counts what passes between a client and the server, as it is on the
// wire.
func crowdFront(b *testing.B, p listPlace) (listPlace, func(func() error) (bytes, requests int64)) {
	b.Helper()
	client, host := crowdClient(b, p)
	to, err := url.Parse(host)
	if err != nil {
		b.Fatal(err)
	}
	var bytes, requests atomic.Int64
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(to) }, Transport: client.Transport,
		ModifyResponse: func(r *http.Response) error {
			r.Body = countingTransport{r.Body, &bytes}
			return nil
		}}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests.Add(1)
		proxy.ServeHTTP(w, r)
	}))
	b.Cleanup(s.Close)
	path := filepath.Join(b.TempDir(), "front.kubeconfig")
	text := fmt.Sprintf("apiVersion: v1\nkind: Config\ncurrent-context: c\nclusters: [{name: c, cluster: {server: %q}}]\ncontexts: [{name: c, context: {cluster: c, user: u}}]\nusers: [{name: u, user: {}}]\n", s.URL)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		b.Fatal(err)
	}
	return listPlace{kubeconfig: path, namespace: p.namespace}, func(run func() error) (int64, int64) {
		bytes.Store(0)
		requests.Store(0)
		if err := run(); err != nil {
			b.Fatal(err)
		}
		return bytes.Load(), requests.Load()
	}
}

type countingTransport struct {
	io.ReadCloser
	n *atomic.Int64
}

func (c countingTransport) Read(p []byte) (int, error) {
	n, err := c.ReadCloser.Read(p)
	c.n.Add(int64(n))
	return n, err
}

// crowdPeak is the peak of memory of a process that goes one way once.
func crowdPeak(b *testing.B, way string, p listPlace) int64 {
	b.Helper()
	cmd := exec.CommandContext(b.Context(), os.Args[0], "-test.run=^$", "-test.bench=^BenchmarkWriters$", "-test.benchtime=1x")
	cmd.Env = append(os.Environ(), benchWay+"="+way, benchKubeconfig+"="+p.kubeconfig, benchNamespace+"="+p.namespace)
	out, err := cmd.CombinedOutput()
	if err != nil {
		b.Fatalf("%s: %v\n%s", way, err, out)
	}
	_, rest, _ := strings.Cut(string(out), peakMark)
	var kB int64
	if _, err := fmt.Sscan(rest, &kB); err != nil {
		b.Fatalf("%s: no peak in %q", way, out)
	}
	return kB
}

func crowdChild(b *testing.B, name string) {
	p := listPlace{kubeconfig: os.Getenv(benchKubeconfig), namespace: os.Getenv(benchNamespace)}
	for _, way := range crowdWays {
		if way.name == name {
			if err := way.read(b.Context(), b, p); err != nil {
				b.Fatal(err)
			}
		}
	}
	kB, err := peakOf(os.Getpid())
	if err != nil {
		b.Fatal(err)
	}
	fmt.Printf("\n%s%d\n", peakMark, kB)
}

// crowdRun runs a peer once, whole process, its output dropped.
func crowdRun(b *testing.B, program string, args ...string) (took time.Duration, peak int64) {
	b.Helper()
	cmd := exec.CommandContext(b.Context(), program, args...)
	home := b.TempDir()
	cmd.Env = []string{"HOME=" + home, "XDG_CACHE_HOME=" + home, "PATH=" + os.Getenv("PATH")}
	said := &strings.Builder{}
	cmd.Stdout, cmd.Stderr = io.Discard, said
	began := time.Now()
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case err := <-ended:
			if err != nil {
				b.Fatalf("%s %s: %v\n%s", program, strings.Join(args, " "), err, said)
			}
			return time.Since(began), peak
		case <-tick.C:
			if kB, err := peakOf(cmd.Process.Pid); err == nil {
				peak = kB
			}
		}
	}
}

// crowdLists are the lists that a sweep reads in protobuf, by plural.group.
func crowdLists() map[string]runtime.Object {
	const apps, batch, rbac = ".apps", ".batch", ".rbac.authorization.k8s.io"
	return map[string]runtime.Object{
		"pods": &corev1.PodList{}, "replicationcontrollers": &corev1.ReplicationControllerList{},
		"replicasets" + apps: &appsv1.ReplicaSetList{}, "deployments" + apps: &appsv1.DeploymentList{}, "daemonsets" + apps: &appsv1.DaemonSetList{},
		"statefulsets" + apps: &appsv1.StatefulSetList{}, "cronjobs" + batch: &batchv1.CronJobList{}, "jobs" + batch: &batchv1.JobList{},
		"roles" + rbac: &rbacv1.RoleList{}, "clusterroles" + rbac: &rbacv1.ClusterRoleList{},
		"rolebindings" + rbac: &rbacv1.RoleBindingList{}, "clusterrolebindings" + rbac: &rbacv1.ClusterRoleBindingList{},
	}
}
