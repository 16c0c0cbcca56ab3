//go:build linux

package gitops

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"handrail/drills/lab"
	"handrail/drills/lab/gitops"
	"handrail/steps"
)

// The fleet of BenchmarkFleet: so many applications of each controller, each of so many objects.
const (
	fleetApps    = 3_000
	fleetObjects = 20
	fleetRounds  = 5

	fleetWay        = "HANDRAIL_BENCH_FLEET"
	fleetKubeconfig = "HANDRAIL_BENCH_FLEET_KUBECONFIG"
	fleetNamespace  = "HANDRAIL_BENCH_FLEET_NAMESPACE"
	fleetPeak       = "peak-kB:"

	tracedName = "shop-00007-configmap-0" // the object that is there, of the 60,000 that the applications list
)

type object = map[string]any

// fleetWays are the probes that read a fleet.
var fleetWays = []struct {
	name string
	read func(ctx context.Context, env steps.Env, namespace string, out steps.Sink) (steps.Observation, error)
}{
	{"idle", func(context.Context, steps.Env, string, steps.Sink) (o steps.Observation, err error) { return }},
	{"list", func(ctx context.Context, env steps.Env, _ string, out steps.Sink) (steps.Observation, error) {
		return suspendedProbe{env}.Probe(ctx, steps.Params{"older": steps.DurationOf(4 * time.Hour)}, out)
	}},
	{"watchdog", func(ctx context.Context, env steps.Env, namespace string, out steps.Sink) (steps.Observation, error) {
		return controllerProbe{env}.Probe(ctx, steps.Params{"namespace": steps.StringOf(namespace), "patience": steps.DurationOf(2 * time.Minute), "window": steps.DurationOf(24 * time.Hour)}, out)
	}},
	{"trace", func(ctx context.Context, env steps.Env, namespace string, out steps.Sink) (steps.Observation, error) {
		return traceProbe{env}.Probe(ctx, steps.Params{"resource": steps.StringOf("configmaps"), "name": steps.StringOf(tracedName), "namespace": steps.StringOf(namespace)}, out)
	}},
}

// fleetPeers ask kubectl and jq for what is listed. The command line of Flux embeds files that its module does not hold, so the
// lab does not build it; it is a peer where one is in PATH.
var fleetPeers = []struct{ name, resource, filter string }{
	{"kubectl-applications", "applications.argoproj.io", `.items[] | [.metadata.name, .status.sync.status, .status.health.status, .status.reconciledAt] | @tsv`},
	{"kubectl-kustomizations", "kustomizations.kustomize.toolkit.fluxcd.io", `.items[] | [.metadata.name, (.spec.suspend // false), .status.lastAppliedRevision] | @tsv`},
}

// BenchmarkFleet reads 3,000 Applications of Argo CD and 3,000 Kustomizations of Flux, each of 20 objects, by the probes of
// this package, which read both, and by kubectl and jq, which read them one after the other. Memory is the peak of a process
// that reads once; of kubectl and jq it is the sum.
func BenchmarkFleet(b *testing.B) {
	if way := os.Getenv(fleetWay); way != "" {
		fleetChild(b, way)
		return
	}
	for _, name := range []string{"kubectl", "jq"} {
		if _, err := exec.LookPath(name); err != nil {
			b.Fatalf("the peer is not there: install %s", name)
		}
	}
	kubeconfig, namespace := fleet(b)
	best := map[string]time.Duration{}
	env := steps.Env{Now: time.Now, Kubeconfig: kubeconfig}
	for round := range fleetRounds {
		for _, way := range fleetWays {
			began := time.Now()
			obs, err := way.read(b.Context(), env, namespace, steps.SecretsOnly(nil))
			if err != nil || len(obs.Gaps) > 0 {
				b.Fatalf("%s: %v %v", way.name, err, obs.Gaps)
			}
			if took := time.Since(began); round == 0 || took < best[way.name] {
				best[way.name] = took
			}
			if round == 0 {
				b.Logf("%s: %s", way.name, obs.Summary)
			}
		}
	}
	var peers time.Duration
	var most int64
	for _, p := range fleetPeers {
		took, peak := fleetPeer(b, kubeconfig, p.resource, p.filter)
		peers, most = peers+took, max(most, peak)
	}
	tell := func(name string, took time.Duration, peak int64) {
		b.Run("way="+name, func(b *testing.B) {
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(float64(took.Microseconds())/1000, "ms-best")
			b.ReportMetric(float64(peers)/float64(max(took, 1)), "x-faster")
			b.ReportMetric(float64(peak)/1024, "MB-peak")
			b.ReportMetric(float64(peak)/float64(most), "x-memory")
		})
	}
	tell("kubectl-jq", peers, most)
	if _, err := exec.LookPath("flux"); err == nil {
		took, peak := fleetFlux(b, kubeconfig)
		tell("flux-get-all", took, peak)
	}
	for _, way := range fleetWays {
		tell(way.name, best[way.name], fleetMemory(b, way.name, kubeconfig, namespace))
	}
}

func fleetChild(b *testing.B, name string) {
	env := steps.Env{Now: time.Now, Kubeconfig: os.Getenv(fleetKubeconfig)}
	for _, way := range fleetWays {
		if way.name != name {
			continue
		}
		if _, err := way.read(b.Context(), env, os.Getenv(fleetNamespace), steps.SecretsOnly(nil)); err != nil {
			b.Fatal(err)
		}
	}
	kB, err := residentPeak(os.Getpid())
	if err != nil {
		b.Fatal(err)
	}
	fmt.Printf("\n%s%d\n", fleetPeak, kB)
}

// fleetMemory is the peak of memory, in kB, of a process that goes one way once.
func fleetMemory(b *testing.B, way, kubeconfig, namespace string) int64 {
	b.Helper()
	cmd := exec.CommandContext(b.Context(), os.Args[0], "-test.run=^$", "-test.bench=^BenchmarkFleet$", "-test.benchtime=1x")
	cmd.Env = append(os.Environ(), fleetWay+"="+way, fleetKubeconfig+"="+kubeconfig, fleetNamespace+"="+namespace)
	out, err := cmd.CombinedOutput()
	if err != nil {
		b.Fatalf("%s: %v\n%s", way, err, out)
	}
	_, rest, _ := strings.Cut(string(out), fleetPeak)
	word, _, _ := strings.Cut(rest, "\n")
	kB, err := strconv.ParseInt(strings.TrimSpace(word), 10, 64)
	if err != nil {
		b.Fatalf("%s: no peak in %q", way, out)
	}
	return kB
}

// residentPeak is what the kernel keeps of a living process, in kB.
func residentPeak(pid int) (int64, error) {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, err
	}
	_, rest, _ := strings.Cut(string(raw), "VmHWM:")
	fields := strings.Fields(rest)
	if len(fields) == 0 {
		return 0, fmt.Errorf("no VmHWM of process %d", pid)
	}
	return strconv.ParseInt(fields[0], 10, 64)
}

// fleetPeer pipes what kubectl gets into jq, and measures both.
func fleetPeer(b *testing.B, kubeconfig, resource, filter string) (took time.Duration, peak int64) {
	b.Helper()
	get := exec.CommandContext(b.Context(), "kubectl", "--kubeconfig", kubeconfig, "get", resource, "-A", "-o", "json")
	get.Env = []string{"HOME=" + b.TempDir()}
	jq := exec.CommandContext(b.Context(), "jq", "-r", filter)
	pipe, err := get.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	var lines bytes.Buffer
	jq.Stdin, jq.Stdout, jq.Stderr, get.Stderr = pipe, &lines, os.Stderr, os.Stderr
	began := time.Now()
	for _, cmd := range []*exec.Cmd{get, jq} {
		if err := cmd.Start(); err != nil {
			b.Fatal(err)
		}
	}
	ended := make(chan error, 1)
	go func() { ended <- jq.Wait() }()
	peaks := map[int]int64{}
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case err := <-ended:
			took = time.Since(began)
			if n := bytes.Count(lines.Bytes(), []byte("\n")); err != nil || get.Wait() != nil || n != fleetApps {
				b.Fatalf("kubectl get %s: %d lines, %v", resource, n, err)
			}
			for _, kB := range peaks {
				peak += kB
			}
			return took, peak
		case <-tick.C:
			for _, cmd := range []*exec.Cmd{get, jq} {
				if kB, err := residentPeak(cmd.Process.Pid); err == nil {
					peaks[cmd.Process.Pid] = kB
				}
			}
		}
	}
}

// fleetFlux measures flux get all, which reads the half of the fleet that is of Flux.
func fleetFlux(b *testing.B, kubeconfig string) (took time.Duration, peak int64) {
	b.Helper()
	cmd := exec.CommandContext(b.Context(), "flux", "--kubeconfig", kubeconfig, "--timeout", "5m", "get", "all", "-A")
	cmd.Env = []string{"HOME=" + b.TempDir()}
	var lines bytes.Buffer
	cmd.Stdout, cmd.Stderr = &lines, os.Stderr
	began := time.Now()
	err := cmd.Run()
	took = time.Since(began)
	if n := bytes.Count(lines.Bytes(), []byte("kustomization/shop-")); err != nil || n != fleetApps {
		b.Fatalf("flux get all: %d lines, %v", n, err)
	}
	return took, cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss
}

// fleet starts a lab of its own and fills it. No controller runs: what they would have written is written here.
func fleet(b *testing.B) (kubeconfig, namespace string) {
	b.Helper()
	opts, err := lab.ForTests("bench-gitops")
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
	if err := gitops.Define(b.Context(), l); err != nil {
		b.Fatal(err)
	}
	ns, err := l.Namespace(b.Context(), "fleet")
	if err != nil {
		b.Fatal(err)
	}
	var wg sync.WaitGroup
	errs := make(chan error, 1)
	numbers := make(chan int)
	for range 16 {
		wg.Go(func() {
			for n := range numbers {
				if err := fleetPair(b.Context(), l, ns.Name, n); err != nil {
					select {
					case errs <- err:
					default:
					}
				}
			}
		})
	}
	for n := range fleetApps {
		numbers <- n
	}
	close(numbers)
	wg.Wait()
	traced := object{"metadata": object{"name": tracedName, "annotations": object{
		"argocd.argoproj.io/tracking-id": "shop-00007:/ConfigMap:" + ns.Name + "/" + tracedName}}, "data": object{"a": "1"}}
	err = l.Request(b.Context(), http.MethodPost, "/api/v1/namespaces/"+ns.Name+"/configmaps", "application/json", traced, nil)
	select {
	case err = <-errs:
	default:
	}
	if err != nil {
		b.Fatal(err)
	}
	return l.Kubeconfig(), ns.Name
}

// fleetPair makes one Application and one Kustomization.
func fleetPair(ctx context.Context, l *lab.Lab, namespace string, n int) error {
	const commit = "7d1c3cb1a3f3b0c1a9e5d4b8f6a7c2e9d0b1a2c3"
	name, now := fmt.Sprintf("shop-%05d", n), time.Now().UTC().Format(time.RFC3339)
	var resources, results, entries []object
	for i := range fleetObjects {
		kind := []string{"ConfigMap", "Service", "Secret", "ServiceAccount"}[i%4]
		r := object{"version": "v1", "kind": kind, "namespace": namespace, "name": fmt.Sprintf("%s-%s-%d", name, strings.ToLower(kind), i)}
		results = append(results, object{"version": "v1", "kind": kind, "namespace": namespace, "name": r["name"], "group": "", "status": "Synced", "hookPhase": "Running", "syncPhase": "Sync", "message": strings.ToLower(kind) + "/" + fmt.Sprint(r["name"]) + " configured"})
		r["status"], r["health"] = "Synced", object{"status": "Healthy"}
		resources = append(resources, r)
		entries = append(entries, object{"id": fmt.Sprintf("%s_%s__%s", namespace, r["name"], kind), "v": "v1"})
	}
	source := object{"repoURL": "https://git.example/shop.git", "path": "deploy/" + name, "targetRevision": "main"}
	var history []object
	for i := range 10 {
		history = append(history, object{"id": i, "revision": commit, "deployedAt": now, "deployStartedAt": now, "source": source})
	}
	app := object{"apiVersion": "argoproj.io/v1alpha1", "kind": "Application", "metadata": object{"name": name},
		"spec": object{"project": "default", "source": source, "destination": object{"server": "https://kubernetes.default.svc", "namespace": namespace}, "syncPolicy": object{"automated": object{}}},
		"status": object{"sync": object{"status": "Synced", "revision": commit, "comparedTo": object{"source": source, "destination": object{"server": "https://kubernetes.default.svc", "namespace": namespace}}},
			"health": object{"status": "Healthy"}, "reconciledAt": now, "resources": resources, "history": history, "sourceType": "Directory",
			"operationState": object{"phase": "Succeeded", "startedAt": now, "finishedAt": now, "message": "successfully synced (all tasks run)",
				"operation": object{"sync": object{"revision": commit}}, "syncResult": object{"revision": commit, "source": source, "resources": results}}}}
	if err := l.Request(ctx, http.MethodPost, "/apis/argoproj.io/v1alpha1/namespaces/"+namespace+"/applications", "application/json", app, nil); err != nil {
		return err
	}
	at := "/apis/kustomize.toolkit.fluxcd.io/v1/namespaces/" + namespace + "/kustomizations"
	k := object{"apiVersion": "kustomize.toolkit.fluxcd.io/v1", "kind": "Kustomization", "metadata": object{"name": name},
		"spec": object{"interval": "10m", "prune": true, "path": "./deploy/" + name, "sourceRef": object{"kind": "GitRepository", "name": "shop"}}}
	if err := l.Request(ctx, http.MethodPost, at, "application/json", k, nil); err != nil {
		return err
	}
	status := object{"status": object{"observedGeneration": 1, "lastAppliedRevision": "main@sha1:" + commit, "lastAttemptedRevision": "main@sha1:" + commit,
		"inventory":  object{"entries": entries},
		"conditions": []object{{"type": "Ready", "status": "True", "reason": "ReconciliationSucceeded", "message": "Applied revision: main@sha1:" + commit, "lastTransitionTime": now, "observedGeneration": 1}}}}
	return l.Request(ctx, http.MethodPatch, at+"/"+name+"/status", "application/merge-patch+json", status, nil)
}
