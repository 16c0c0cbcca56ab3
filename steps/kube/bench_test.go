package kube

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"handrail/drills/lab"
)

const (
	benchObjects  = 20_000
	benchBytes    = 1_500
	benchCreators = 24
	benchRounds   = 12

	// What a child that measures its own memory is told.
	benchWay        = "HANDRAIL_BENCH_WAY"
	benchKubeconfig = "HANDRAIL_BENCH_KUBECONFIG"
	benchNamespace  = "HANDRAIL_BENCH_NAMESPACE"
)

// BenchmarkList reads 20,000 ConfigMaps of 1.5 kB in each of the ways of
// listWays, in turns, and tells the best time of each as a ratio to the cheapest
// way. Memory is the peak of a process of its own that reads once.
func BenchmarkList(b *testing.B) {
	if way := os.Getenv(benchWay); way != "" {
		benchChild(b, way)
		return
	}
	place := fillLab(b)
	best := map[string]time.Duration{}
	for round := range benchRounds {
		for _, way := range listWays {
			began := time.Now()
			if err := way.read(b.Context(), b, place); err != nil {
				b.Fatalf("%s: %v", way.name, err)
			}
			if took := time.Since(began); round == 0 || took < best[way.name] {
				best[way.name] = took
			}
		}
	}
	idle := benchPeak(b, idleWay, place)
	cheapest := best[listWays[0].name]
	tell := func(name string, took time.Duration, peak int64) {
		b.Run("way="+name, func(b *testing.B) {
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(float64(took.Microseconds())/1000, "ms-best")
			b.ReportMetric(float64(took)/float64(cheapest), "x-cheapest")
			b.ReportMetric(float64(peak)/1024, "MB-peak")
			b.ReportMetric(float64(peak)/float64(idle), "x-idle")
		})
	}
	tell(idleWay, 0, idle)
	for _, way := range listWays {
		tell(way.name, best[way.name], benchPeak(b, way.name, place))
	}
	kubectl, err := findKubectl(b)
	if err != nil {
		b.Logf("kubectl is not compared: %v", err)
		return
	}
	for _, args := range [][]string{{"get", "cm", "-A"}, {"get", "cm", "-A", "--chunk-size=0"}} {
		var took time.Duration
		var peak int64
		for range 2 {
			t, p := benchKubectl(b, kubectl, place, args)
			if took == 0 || t < took {
				took, peak = t, p
			}
		}
		tell("kubectl-"+strings.Join(args[1:], "-"), took, peak)
	}
}

// listPlace is where the objects are.
type listPlace struct{ kubeconfig, namespace string }

// fillLab starts a lab of its own, since its audit log gets the bodies of all
// that is created, and fills one namespace of it.
func fillLab(b *testing.B) listPlace {
	b.Helper()
	opts, err := lab.ForTests("bench")
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
	ns, err := l.Namespace(b.Context(), "bench")
	if err != nil {
		b.Fatal(err)
	}
	cfg, err := clientcmd.BuildConfigFromFlags("", ns.RobotKubeconfig)
	if err != nil {
		b.Fatal(err)
	}
	client, err := rest.HTTPClientFor(cfg)
	if err != nil {
		b.Fatal(err)
	}
	url := cfg.Host + "/api/v1/namespaces/" + ns.Name + "/configmaps"
	var wg sync.WaitGroup
	errs := make([]error, benchCreators)
	for i := range benchCreators {
		wg.Go(func() {
			for n := i; n < benchObjects && errs[i] == nil; n += benchCreators {
				_, errs[i] = send(client, http.MethodPost, url, m{"metadata": m{"name": fmt.Sprintf("bench-%05d", n)}, "data": m{"text": strings.Repeat("0123456789abcde\n", benchBytes/16)}})
			}
		})
	}
	wg.Wait()
	if i := slices.IndexFunc(errs, func(err error) bool { return err != nil }); i >= 0 {
		b.Fatal(errs[i])
	}
	return listPlace{kubeconfig: l.Kubeconfig(), namespace: ns.Name}
}
