package prometheus

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"handrail/drills/lab"
	"handrail/steps"
	"handrail/steps/stepstest"
)

// look reads with one of the kinds.
func look(t *testing.T, kind string, environ []string, in steps.Params) (steps.Observation, *stepstest.Sink, error) {
	t.Helper()
	i := slices.IndexFunc(Kinds(), func(k steps.Kind) bool { return k.Name == "prometheus/"+kind })
	k, out := Kinds()[i], stepstest.NewSink()
	obs, err := stepstest.Observe(t.Context(), k.Reads(steps.Env{Environ: environ}), k.Facts, in, out)
	return obs, out, err
}

// says holds facts to what they must be; "?" is unknown, "*" any value.
func says(t *testing.T, obs steps.Observation, want map[string]string) {
	t.Helper()
	for name, text := range want {
		v := obs.Facts[name]
		switch {
		case text == "?" && v.Known(), text != "?" && !v.Known(), text != "?" && text != "*" && v.Text() != text:
			t.Errorf("%s = %q (%s), want %s", name, v.Text(), v.Why(), text)
		}
	}
}

func ask(query string) steps.Params { return steps.Params{"query": steps.StringOf(query)} }

// TestReal asks a real Prometheus.
func TestReal(t *testing.T) {
	t.Parallel()
	s, err := lab.StartService(t.Context(), lab.Options{}, "prometheus", t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}()
	for query, want := range map[string]map[string]string{
		"vector(0.25)":      {"series": "1", "absent": "false", "value": "0.25", "thousandths": "250", "values": "{}=0.25"},
		"scalar(vector(3))": {"series": "1", "value": "3", "thousandths": "3000"},
		"vector(NaN)":       {"series": "1", "value": "NaN", "thousandths": "?"},
		"no_such_metric":    {"series": "0", "absent": "true", "value": "?", "thousandths": "?"},
		`vector(1) or label_replace(vector(2), "a", "b", "", "")`: {"series": "2", "absent": "false", "value": "?", "values": `{a="b"}=2, {}=1`},
	} {
		obs, out, err := look(t, "query", s.Env, ask(query))
		if err != nil {
			t.Errorf("%s: %v", query, err)
			continue
		}
		says(t, obs, want)
		if !strings.Contains(out.Artifacts["answer"].String(), `"status":"success"`) || !strings.Contains(obs.Command, "query=") {
			t.Errorf("%s: the answer or the command is not kept: %q, %q", query, out.Artifacts["answer"].String(), obs.Command)
		}
	}
	for query, want := range map[string]string{"up{": "refused the query (bad_data: ", `"text"`: "the answer is a string"} {
		if _, _, err := look(t, "query", s.Env, ask(query)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", query, err, want)
		}
	}

	end := time.Now().Add(-time.Minute).Truncate(time.Minute).UTC()
	in := steps.Params{"query": steps.StringOf("vector(time())"), "since": steps.DurationOf(time.Hour), "step": steps.DurationOf(time.Minute), "until": steps.TimeOf(end)}
	obs, _, err := look(t, "range", s.Env, in)
	if err != nil {
		t.Fatal(err)
	}
	last := steps.TimeOf(end).Text()
	says(t, obs, map[string]string{"series": "1", "points": "61", "missing": "0", "first": steps.IntOf(end.Add(-time.Hour).UnixMilli()).Text(), "least": steps.IntOf(end.Add(-time.Hour).UnixMilli()).Text(),
		"last": steps.IntOf(end.UnixMilli()).Text(), "most": steps.IntOf(end.UnixMilli()).Text(), "last_at": last, "stands_since": last})
	in["query"] = steps.StringOf("vector(2)")
	if obs, _, err = look(t, "range", s.Env, in); err != nil {
		t.Fatal(err)
	}
	says(t, obs, map[string]string{"first": "2000", "last": "2000", "least": "2000", "most": "2000", "stands_since": steps.TimeOf(end.Add(-time.Hour)).Text()})
	in["query"] = steps.StringOf("no_such_metric")
	if obs, _, err = look(t, "range", s.Env, in); err != nil {
		t.Fatal(err)
	}
	says(t, obs, map[string]string{"series": "0", "absent": "true", "last": "?", "stands_since": "?"})
	in["since"] = steps.DurationOf(40 * 24 * time.Hour)
	if _, _, err = look(t, "range", s.Env, in); err == nil || !strings.Contains(err.Error(), "at most 31 days") {
		t.Errorf("40 days: %v", err)
	}
}

// TestPlace: a token goes to the server that stands beside it, and to no other.
func TestPlace(t *testing.T) {
	t.Parallel()
	asked := make(chan string, 4)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked <- r.Method + " " + r.URL.Path + " " + r.Header.Get("Authorization")
		_, _ = w.Write([]byte(`{"status":"success","data":{"resultType":"vector","result":[]},"warnings":["a store did not answer"]}`))
	}))
	defer server.Close()
	token := "PROMETHEUS_TOKEN=" + strings.Repeat("t", 24)
	obs, out, err := look(t, "query", []string{"PROMETHEUS_URL=" + server.URL + "/mimir", token}, ask("up"))
	if err != nil {
		t.Fatal(err)
	}
	if got := <-asked; got != "GET /mimir/api/v1/query Bearer "+strings.Repeat("t", 24) {
		t.Errorf("asked %q", got)
	}
	if !slices.Contains(out.Secrets, strings.Repeat("t", 24)) || strings.Contains(obs.Command, "tttt") {
		t.Error("the token is no secret of the incident, or stands in the command")
	}
	says(t, obs, map[string]string{"series": "?", "absent": "?", "values": "?"}) // a partial answer counts nothing
	in := ask("up")
	in["server"] = steps.StringOf(server.URL)
	if _, _, err := look(t, "query", []string{"PROMETHEUS_URL=https://other.example.com", token}, in); err != nil {
		t.Fatal(err)
	}
	if got := <-asked; got != "GET /api/v1/query " {
		t.Errorf("a server that was named got %q", got)
	}
	for name, tc := range map[string]struct {
		environ []string
		in      steps.Params
		want    string
	}{
		"none":     {nil, ask("up"), "no Prometheus is named"},
		"empty":    {[]string{"PROMETHEUS_URL=" + server.URL}, ask(" "), "the expression is empty"},
		"http":     {[]string{"PROMETHEUS_URL=http://metrics.example.com"}, ask("up"), "over https alone"},
		"metadata": {[]string{"PROMETHEUS_URL=http://169.254.169.254"}, ask("up"), "169.254.169.254"},
		"token":    {[]string{"PROMETHEUS_URL=" + server.URL, "PROMETHEUS_TOKEN=a b"}, ask("up"), "has a blank"},
	} {
		if _, _, err := look(t, "query", tc.environ, tc.in); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v, want %q", name, err, tc.want)
		}
	}
	ended, stop := context.WithCancel(t.Context())
	stop()
	if _, err := (probe{facts: queryFacts(), read: query}).Probe(ended, ask("up"), stepstest.NewSink()); !errors.Is(err, context.Canceled) {
		t.Errorf("after the end: %v", err)
	}
}

// FuzzAnswer reads any answer: what is no number of the documented form is an error, and nothing grows.
func FuzzAnswer(f *testing.F) {
	for _, s := range []string{
		`{"status":"success","data":{"resultType":"vector","result":[{"metric":{"__name__":"up"},"value":[1435781451.781,"1"]}]}}`,
		`{"status":"success","data":{"resultType":"matrix","result":[{"metric":{},"values":[[1435781430,"1"],[1435781445,"NaN"]]}]}}`,
		`{"status":"success","data":{"resultType":"scalar","result":[1435781460,"1e300"]}}`,
		`{"status":"error","errorType":"bad_data","error":"x"}`, `{"status":"success","data":{"resultType":"vector","result":[{"metric":{},"histogram":[1,{}]}]}}`, `[]`, `{`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		got, err := parse(raw)
		if err != nil {
			return
		}
		if len(got.series) > mostSeries || got.failed != "" && len(got.series) > 0 {
			t.Fatalf("%d series, failed %q", len(got.series), got.failed)
		}
		for _, s := range got.series {
			if len(s.points) == 0 || strings.ContainsAny(s.name(), "\n\r") {
				t.Fatalf("a series with %d points is named %q", len(s.points), s.name())
			}
			for _, p := range s.points {
				p.thousandths()
			}
		}
	})
}
