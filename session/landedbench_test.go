package session_test

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"gopkg.in/yaml.v3"

	"handrail/runbooks"
	"handrail/session"
	"handrail/steps"
	"handrail/steps/catalog"
	"handrail/triage"
)

// answered is the real catalogue, whose probes give a value of each declared fact
// once gate lets them.
type answered struct {
	steps.Catalog
	gate chan struct{} // nil for at once
}

func (a *answered) Lookup(name string) (steps.Kind, bool) {
	k, ok := a.Catalog.Lookup(name)
	if ok && k.Reads != nil {
		facts := k.Facts
		k.Reads = func(steps.Env) steps.Prober { return answer{a, facts} }
	}
	return k, ok
}

type answer struct {
	of    *answered
	facts []steps.Field
}

func (a answer) Probe(context.Context, steps.Params, steps.Sink) (steps.Observation, error) {
	if a.of.gate != nil {
		<-a.of.gate
	}
	obs := steps.Observation{Summary: "read", Facts: map[string]steps.Value{}}
	for _, f := range a.facts {
		obs.Facts[f.Name] = sample(f)
	}
	return obs, nil
}

// sample is a value as a namespace of some tens of objects gives it.
func sample(f steps.Field) steps.Value {
	names := make([]string, 12)
	table := make(map[string]string, len(names))
	for i := range names {
		names[i] = fmt.Sprintf("configmap/release/ledger-%s-%d", f.Name, i)
		table[names[i]] = "kube-controller-manager at 02:14"
	}
	switch f.Type {
	case steps.Bool:
		return steps.BoolOf(true)
	case steps.Int:
		return steps.IntOf(8)
	case steps.Duration:
		return steps.DurationOf(47 * time.Minute)
	case steps.Time:
		return steps.TimeOf(time.Date(2026, 11, 21, 2, 0, 0, 0, time.UTC))
	case steps.Strings:
		return steps.StringsOf(names)
	case steps.Table:
		return steps.TableOf(table)
	case steps.Enum:
		return steps.EnumOf(f.Values[0])
	case steps.Ident:
		return steps.IdentOf("0b6f1d2e-7c1a-4d0e-9a51-5e1c7f9c0a11")
	}
	return steps.StringOf(names[0])
}

// cascade is the drill hardening-cascade with all read and answered that comes
// before its first act.
func cascade(b *testing.B) (*session.Session, *answered) {
	b.Helper()
	st := newStage(b)
	kinds := &answered{Catalog: catalog.New()}
	lib, err := runbooks.Library(kinds)
	if err != nil {
		b.Fatal(err)
	}
	rb := lib[slices.IndexFunc(lib, func(r *runbooks.Runbook) bool { return r.ID == "hardening-cascade" })]
	var drill struct{ Params map[string]string }
	var reference struct {
		Answers map[string]struct{ Value, How string }
		Manual  map[string]string
	}
	load := func(name string, into any) []byte {
		raw, err := os.ReadFile("../drills/library/hardening-cascade" + name)
		if err == nil && into != nil {
			err = yaml.Unmarshal(raw, into)
		}
		if err != nil {
			b.Fatal(err)
		}
		return raw
	}
	load(".yaml", &drill)
	load(".answers.yaml", &reference)
	for name, value := range drill.Params {
		drill.Params[name] = strings.NewReplacer("${drill.namespace}", "release", "${drill.signals}", "signals.yaml").Replace(value)
	}
	params, err := rb.Bind(drill.Params)
	if err != nil {
		b.Fatal(err)
	}
	st.cfg.Catalog = kinds
	s, err := session.Start(b.Context(), st.cfg, session.Begin{Runbook: rb, Params: params})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = s.Close() })
	for _, line := range strings.Split(string(load(".path", nil)), "\n") {
		what, rest, _ := strings.Cut(line, " ")
		step, value, _ := strings.Cut(rest, " ")
		in := triage.Intent{Step: "hardening-cascade/" + step, Value: value}
		switch what {
		case "read", "compare":
			in.Kind = triage.DoProbe
		case "answer":
			in.Kind, in.Text = triage.DoAnswer, reference.Answers[step].How
		case "conclude":
			in.Kind, in.Topic, in.Person, in.Text = triage.DoConclude, triage.Topic(step), "operator", "seen on the call"
		case "act":
			return s, kinds
		default:
			continue
		}
		if err := s.Do(b.Context(), in); err != nil {
			b.Fatal(line, err)
		}
		for len(s.Snapshot().Running) > 0 {
			<-s.Changed()
		}
	}
	b.Fatal("the drill has no act")
	return nil, nil
}

// BenchmarkLanded is one observation of hardening-cascade from the return of its
// probe to the published snapshot, durable.
func BenchmarkLanded(b *testing.B) {
	s, kinds := cascade(b)
	kinds.gate = make(chan struct{})
	b.ReportAllocs()
	for b.Loop() {
		b.StopTimer()
		if err := s.Do(b.Context(), triage.Intent{Kind: triage.DoProbe, Step: "hardening-cascade/room"}); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
		kinds.gate <- struct{}{}
		for len(s.Snapshot().Running) > 0 {
			<-s.Changed()
		}
	}
}
