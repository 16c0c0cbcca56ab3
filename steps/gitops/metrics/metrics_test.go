package metrics

import (
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"handrail/steps"
	"handrail/steps/stepstest"
)

func recorded(t *testing.T, name string) string {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("testdata", name+".metrics"))
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// observed reads a text as a saved file.
func observed(t *testing.T, text string) (steps.Observation, *stepstest.Sink, error) {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "saved.metrics"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	sink := stepstest.NewSink()
	obs, err := stepstest.Observe(t.Context(), probe{env: steps.Env{Dir: dir}}, metricsFacts(), steps.Params{"metrics": steps.StringOf("saved.metrics")}, sink)
	return obs, sink, err
}

// facts are the known ones as texts, and the unknown ones with the reason.
func facts(obs steps.Observation) map[string]string {
	out := map[string]string{}
	for name, v := range obs.Facts {
		switch {
		case name == "saved":
		case !v.Known():
			out[name] = "? " + v.Why()
		case v.Type() == steps.Table:
			out[name] = fmt.Sprint(v.Table())
		default:
			out[name] = v.Text()
		}
	}
	return out
}

func said(obs steps.Observation) string {
	var out []string
	for _, f := range obs.Findings {
		out = append(out, string(f.Level)+": "+f.Say)
	}
	return strings.Join(out, "\n")
}

// TestRecorded reads what the real controllers of the lab answered.
func TestRecorded(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]map[string]string{
		"argocd-application-controller": {"which": "argocd", "queued": "1", "queues": "map[app_hydration_queue:0 app_operation_processing_queue:0 app_reconciliation_queue:1 manifest_hydration_queue:0 project_reconciliation_queue:0]",
			"oldest": "78.187ms", "wait": "8.65s", "slowest": "7.4s", "reconciled": "3", "started": "2026-11-27T18:05:01.44Z"},
		"kustomize-controller": {"which": "flux", "queued": "0", "queues": "map[kustomization:0]", "oldest": "0s", "wait": "685µs", "slowest": "7.234734s", "reconciled": "7", "started": "2026-11-27T17:37:06.79Z"},
		"source-controller":    {"which": "flux", "queued": "0", "queues": "map[bucket:0 gitrepository:0 helmchart:0 helmrepository:0 ocirepository:0]", "oldest": "589.035ms"},
		"helm-controller":      {"which": "flux", "queued": "0", "queues": "map[helmrelease:0]", "oldest": "0s", "wait": "? nothing was queued since it started", "slowest": "? no reconciliation is among the metrics: none was through since it started, or this part of it makes none"},
	} {
		obs, sink, err := observed(t, recorded(t, name))
		if err != nil {
			t.Fatal(err)
		}
		got := facts(obs)
		for fact := range got {
			if _, ok := want[fact]; !ok {
				delete(got, fact)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s\n%s", name, obs.Summary, diff)
		}
		if kept := sink.Artifacts["metrics"].String(); strings.Contains(kept, "#") || strings.Contains(kept, "go_goroutines") || !strings.Contains(kept, startedAt) {
			t.Errorf("%s: it keeps\n%s", name, kept)
		}
		if !strings.Contains(said(obs), "info: Its process started at 2026-11-27T1") || strings.Contains(said(obs), "warning") || !obs.Facts["saved"].Known() {
			t.Errorf("%s: %s", name, said(obs))
		}
	}
}

// TestBehind: items that wait behind a long piece of work are a warning, and either alone is none.
func TestBehind(t *testing.T) {
	t.Parallel()
	text := recorded(t, "kustomize-controller")
	deep := strings.NewReplacer(`priority="0"} 0`, `priority="0"} 12`+"\n"+`workqueue_depth{controller="kustomization",name="kustomization",priority="-100"} 3`).Replace(text)
	long := func(text string) string {
		return strings.ReplaceAll(text, longest+`{controller="kustomization",name="kustomization"} 0`, longest+`{controller="kustomization",name="kustomization"} 754.5`)
	}
	for name, tc := range map[string]struct{ text, queued, oldest, warning string }{
		"both":  {long(deep), "15", "12m34.5s", "warning: 15 items wait, and the queue kustomization has been at one for 12m35s."},
		"queue": {deep, "15", "0s", ""},
		"work":  {long(text), "0", "12m34.5s", ""},
	} {
		obs, _, err := observed(t, tc.text)
		if got := facts(obs); err != nil || got["queued"] != tc.queued || got["oldest"] != tc.oldest || !strings.Contains(said(obs), tc.warning) || strings.Contains(said(obs), "warning") != (tc.warning != "") {
			t.Errorf("%s: %v, %v\n%s", name, err, got, said(obs))
		}
	}
}

// TestUnknown: what a text does not say, or says wrongly, is unknown with the reason.
func TestUnknown(t *testing.T) {
	t.Parallel()
	text := recorded(t, "kustomize-controller")
	without := func(name string) string {
		var out strings.Builder
		for line := range strings.Lines(text) {
			if !strings.HasPrefix(line, name) {
				out.WriteString(line)
			}
		}
		return out.String()
	}
	for name, tc := range map[string]struct{ text, fact, why string }{
		"no depth of a queue in use":    {without(depth), "queued", `the depth of queue "kustomization" is not among`},
		"no queues":                     {without("workqueue_"), "queues", "no metric of a queue"},
		"no longest":                    {without(longest), "oldest", "is not among the metrics"},
		"no start":                      {without(startedAt), "started", "is not among the metrics"},
		"no waits":                      {without(queuedFor), "wait", "no metric of how long"},
		"none of either":                {without("gotk_"), "which", "none of them is one of"},
		"both":                          {text + `argocd_app_reconcile_bucket{le="+Inf"} 1` + "\n", "which", "of Argo CD and of Flux"},
		"durations of both":             {text + `argocd_app_reconcile_bucket{le="+Inf"} 1` + "\n", "slowest", "two controllers"},
		"half a line":                   {strings.TrimSuffix(text, "\n"), "queued", "in the middle of a line"},
		"no number":                     {strings.ReplaceAll(text, `priority="0"} 0`, `priority="0"} NaN`), "queued", "workqueue_depth is NaN"},
		"below nothing":                 {strings.ReplaceAll(text, `priority="0"} 0`, `priority="0"} -1`), "queues", "workqueue_depth is -1"},
		"half an item":                  {strings.ReplaceAll(text, `priority="0"} 0`, `priority="0"} 0.5`), "queued", "is 0.5"},
		"a start that is none":          {strings.ReplaceAll(text, startedAt+" 1", startedAt+" 1000"), "started", "is no time"},
		"a bound that is none":          {strings.ReplaceAll(text, `le="0.01"`, `le="soon"`), "wait", `"soon" bounds no bucket`},
		"a last bucket that is missing": {strings.ReplaceAll(text, `le="+Inf"`, `le="9999"`), "slowest", "last bucket is missing"},
		"buckets that fall":             {strings.ReplaceAll(text, `le="+Inf"} 7`, `le="+Inf"} 1`), "slowest", "do not add up"},
	} {
		obs, _, err := observed(t, tc.text)
		if v := obs.Facts[tc.fact]; err != nil || v.Known() || !strings.Contains(v.Why(), tc.why) {
			t.Errorf("%s: %v, %s is %q %q, want %q", name, err, tc.fact, v.Text(), v.Why(), tc.why)
		}
	}
}

// TestRefused: what is no answer of one controller is an error that says what to do, and never an empty queue.
func TestRefused(t *testing.T) {
	t.Parallel()
	text := recorded(t, "helm-controller")
	for name, tc := range map[string]struct{ text, why string }{
		"a page":      {"<html>sign in</html>\n", "is no metrics: line 1"},
		"nothing":     {"", "holds no metric"},
		"words alone": {"# HELP a b\n", "holds no metric"},
		"bytes":       {"\x00\xff\n", "is no metrics"},
		"two answers": {text + text, "stands there twice: keep one answer of one controller in a file"},
		"huge":        {strings.Repeat("# "+strings.Repeat("x", 1022)+"\n", mostRead>>10) + "x 1\n", "32 MiB"},
		"many queues": {queues(mostQueues + 1), "more than 200 queues"},
	} {
		if obs, _, err := observed(t, tc.text); err == nil || !strings.Contains(err.Error(), tc.why) {
			t.Errorf("%s: %v, %s, want %q", name, err, obs.Summary, tc.why)
		}
	}
}

func queues(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "workqueue_adds_total{name=\"q%d\"} 0\n", i)
	}
	return b.String()
}

// TestLarge: a Flux of many applications is read whole, and of its lines a bounded part is kept.
func TestLarge(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	const objects = 40_000
	for i := range objects {
		for _, le := range []string{"1", "10", "+Inf"} {
			fmt.Fprintf(&b, "%s{kind=\"Kustomization\",name=\"shop-%d\",namespace=\"flux-system\",le=%q} 2\n", fluxTook, i, le)
		}
	}
	obs, sink, err := observed(t, b.String())
	if got := facts(obs); err != nil || got["reconciled"] != fmt.Sprint(2*objects) || got["slowest"] != "950ms" || len(obs.Gaps) != 1 {
		t.Errorf("%v, %v, %q", err, got, obs.Gaps)
	}
	if n := sink.Artifacts["metrics"].Len(); n > mostKept || n < mostKept-200 {
		t.Errorf("%d bytes are kept", n)
	}
}

// TestQuantile holds the estimate to what histogram_quantile(0.95, …) of Prometheus makes of the same buckets.
func TestQuantile(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		of   map[string]float64
		want float64
		more bool
		why  string
	}{
		"within":           {map[string]float64{"1": 0, "2": 10, "+Inf": 10}, 1.95, false, ""},
		"from 0":           {map[string]float64{"1": 10, "+Inf": 10}, 0.95, false, ""},
		"beyond":           {map[string]float64{"1": 5, "4": 9, "+Inf": 10}, 4, true, ""},
		"at a bound":       {map[string]float64{"1": 95, "4": 100, "+Inf": 100}, 1, false, ""},
		"below 0":          {map[string]float64{"-1": 10, "+Inf": 10}, -1, false, ""},
		"none":             {map[string]float64{"1": 0, "+Inf": 0}, 0, false, "nothing was counted"},
		"one bucket":       {map[string]float64{"+Inf": 3}, 0, false, "one bucket"},
		"no last":          {map[string]float64{"1": 3}, 0, false, "last bucket"},
		"they do not grow": {map[string]float64{"1": 3, "2": 1, "+Inf": 3}, 0, false, "do not add up"},
	} {
		h := histogram{}
		for le, n := range tc.of {
			if err := h.add(le, n); err != nil {
				t.Fatal(err)
			}
		}
		got, more, err := h.quantile(quantile)
		if tc.why != "" && (err == nil || !strings.Contains(err.Error(), tc.why)) || tc.why == "" && (err != nil || more != tc.more || got-tc.want > 1e-9 || tc.want-got > 1e-9) {
			t.Errorf("%s: %v, %v, %v", name, got, more, err)
		}
	}
	h := histogram{}
	for i := range mostBounds {
		if err := h.add(fmt.Sprint(i), 1); err != nil {
			t.Fatal(err)
		}
	}
	if err := h.add("0", 1); err != nil {
		t.Error(err)
	}
	if err := h.add("+Inf", 1); err == nil {
		t.Error("more buckets than it may have")
	}
}

// TestAddress asks a server as it asks a controller.
func TestAddress(t *testing.T) {
	t.Parallel()
	text := recorded(t, "kustomize-controller")
	srv := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Method != http.MethodGet || r.Header.Get("Authorization") != "" || r.Header.Get("Accept") != plainText:
			http.Error(w, "a read of text without credentials was wanted", http.StatusTeapot)
		case r.URL.Path == "/metrics":
			fmt.Fprint(w, text)
		case r.URL.Path == "/away":
			http.Redirect(w, r, "https://elsewhere.example.com/metrics", http.StatusFound)
		case r.URL.Path == "/cut":
			w.Header().Set("Content-Length", fmt.Sprint(len(text)))
			fmt.Fprint(w, text[:len(text)/2])
		case r.URL.Path == "/huge":
			for range mostRead>>20 + 1 {
				fmt.Fprint(w, strings.Repeat("# x\n", 1<<18))
			}
		case r.URL.Path == "/private":
			http.Error(w, "who are you", http.StatusForbidden)
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(srv.Close)
	roots := x509.NewCertPool()
	roots.AddCert(srv.Certificate())
	ask := func(address string) (steps.Observation, error) {
		return stepstest.Observe(t.Context(), probe{roots: roots}, metricsFacts(), steps.Params{"metrics": steps.StringOf(address)}, stepstest.NewSink())
	}
	obs, err := ask(srv.URL + "/metrics")
	if err != nil || obs.Facts["which"].Text() != flux || obs.Facts["saved"].Known() || !strings.HasPrefix(obs.Command, "curl ") {
		t.Errorf("%v, %+v", err, obs)
	}
	for address, want := range map[string]string{
		srv.URL + "/away": "elsewhere.example.com", srv.URL + "/cut": "unexpected EOF", srv.URL + "/huge": "more than the 32 MiB", srv.URL + "/gone": "answered 404",
		"http://flux.example.com/metrics": "over https alone", "ftp://127.0.0.1/metrics": "not https://host/path", "https://169.254.169.254/latest": "never asks",
	} {
		if obs, err := ask(address); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, %s, want %q", address, err, obs.Summary, want)
		}
	}
	if _, err := ask(srv.URL + "/private"); !errors.Is(err, steps.ErrDenied) {
		t.Errorf("what asks to sign in: %v", err)
	}
}

// TestFile: a file is regular, there, and never waited for.
func TestFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	read := func(name string) (steps.Observation, error) {
		return probe{env: steps.Env{Dir: dir}}.Probe(t.Context(), steps.Params{"metrics": steps.StringOf(name)}, stepstest.NewSink())
	}
	if _, err := read("gone"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file that is not there: %v", err)
	}
	if _, err := read("."); err == nil {
		t.Error("a directory is read")
	}
	if obs, err := read(""); err != nil || obs.Facts["queued"].Known() || obs.Facts["queued"].Why() != "no address and no file is named" {
		t.Errorf("nothing named: %v, %+v", err, obs)
	}
	name := filepath.Join(dir, "absolute.metrics")
	if err := os.WriteFile(name, []byte(recorded(t, "helm-controller")), 0o600); err != nil {
		t.Fatal(err)
	}
	if obs, err := read(name); err != nil || time.Since(obs.Facts["saved"].Time()) > time.Hour || obs.Command != "cat "+steps.Quote(name) {
		t.Errorf("%v, %+v", err, obs)
	}
}

// FuzzGather: whatever a text says, each fact has its type, and a sum is that of its parts.
func FuzzGather(f *testing.F) {
	// Short ones: the fuzzer spends its time on making long ones short.
	f.Add(startedAt + " 1.7e9\n" + added + "{name=\"a\"} 2\n" + depth + "{name=\"a\",priority=\"0\"} 1\n" + longest + "{name=\"a\"} 61\n")
	f.Add(queuedFor + "{name=\"a\",le=\"1\"} 1\n" + queuedFor + "{name=\"a\",le=\"+Inf\"} 2\n")
	f.Add(fluxTook + "{le=\"1\"} 1\n" + fluxTook + "{le=\"+Inf\"} 1\n")
	f.Add("workqueue_depth{name=\"a\"} 1e300\nargocd_app_reconcile_bucket{le=\"-Inf\"} 1\nargocd_app_reconcile_bucket{le=\"+Inf\"} 1\n")
	f.Fuzz(func(t *testing.T, raw string) {
		g, err := gather([]byte(raw))
		if err != nil {
			return
		}
		told, obs := steps.NewFacts(metricsFacts()), steps.Observation{}
		g.tell("a fuzzer", told, &obs)
		got := told.Rest("not told")
		if err := stepstest.Declared(metricsFacts(), got); err != nil {
			t.Fatal(err)
		}
		if g.kept.Len() > mostKept || obs.Summary == "" {
			t.Fatalf("%d bytes kept, %q", g.kept.Len(), obs.Summary)
		}
		if d := got["oldest"].Duration(); d < 0 {
			t.Fatalf("it has been at one for %s", d)
		}
		if got["queued"].Known() != got["queues"].Known() || got["queued"].Int() < 0 {
			t.Fatalf("%v waiting, in %v", got["queued"], got["queues"])
		}
	})
}
