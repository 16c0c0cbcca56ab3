package watchdog

import (
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"strings"
	"testing"
	"time"

	"handrail/runbooks"
	"handrail/steps"
	"handrail/steps/catalog"
	"handrail/steps/promtext"
)

const nightly = `apiVersion: handrail/v1
kind: Runbook
id: nightly
title: What holds every night
domain: state-backend
severity: SEV-3
preserve:
  - {id: state, uses: terraform/state}
verify:
  - id: lock
    watch: terraform/lock
    title: No lock is older than an hour
    when: "!facts.lock.held || facts.lock.age < duration('1h')"
    findings:
      - {when: facts.lock.held, level: warning, say: "held by ${facts.lock.who}"}
  - id: sound
    watch: terraform/lock
    title: The state is sound
    when: facts.state.condition == 'sound'
`

func parse(t *testing.T, text string) *runbooks.Runbook {
	t.Helper()
	rb, err := runbooks.Parse("nightly.yaml", []byte(text), catalog.New())
	if err != nil {
		t.Fatal(err)
	}
	return rb
}

// run reads nightly where the lock and the state tell these facts; an error stands for a read that failed.
func run(t *testing.T, lock, state map[string]steps.Value, failed error) Report {
	t.Helper()
	at := time.Date(2026, 1, 5, 3, 0, 0, 0, time.UTC)
	r, err := Run(t.Context(), parse(t, nightly), steps.Params{}, catalog.New(), func() time.Time { at = at.Add(time.Second / 2); return at },
		func(_ context.Context, k steps.Kind, _ steps.Params) (steps.Observation, error) {
			if k.Name == "terraform/state" {
				return steps.Observation{Summary: "the state\x1b[31m", Facts: state}, nil
			}
			return steps.Observation{Summary: "the lock", Facts: lock, Gaps: []string{"its info"}}, failed
		})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestUnknownIsNeverGreen, whatever it is that cannot be told.
func TestUnknownIsNeverGreen(t *testing.T) {
	t.Parallel()
	held := func(age time.Duration) map[string]steps.Value {
		return map[string]steps.Value{"held": steps.BoolOf(true), "who": steps.StringOf("ci@runner"), "age": steps.DurationOf(age)}
	}
	sound := map[string]steps.Value{"condition": steps.EnumOf("sound")}
	for name, tc := range map[string]struct {
		lock, state map[string]steps.Value
		failed      error
		want        string
	}{
		"all is well":             {map[string]steps.Value{"held": steps.BoolOf(false)}, sound, nil, "green green"},
		"held for a minute":       {held(time.Minute), sound, nil, "green green"},
		"held for hours":          {held(3 * time.Hour), sound, nil, "red green"},
		"held, since when is not": {map[string]steps.Value{"held": steps.BoolOf(true)}, sound, nil, "unknown green"},
		"a probe told nothing":    {held(time.Minute), nil, nil, "green unknown"},
		"a value of another type": {map[string]steps.Value{"held": steps.StringOf("false")}, sound, nil, "unknown green"},
		"the read failed":         {map[string]steps.Value{"held": steps.BoolOf(false)}, sound, errors.New("connection refused"), "unknown unknown"},
	} {
		r := run(t, tc.lock, tc.state, tc.failed)
		if got := string(r.Checks[0].State + " " + r.Checks[1].State); got != tc.want || r.Green() != (tc.want == "green green") {
			t.Errorf("%s: %s, all green %t", name, got, r.Green())
		}
	}
}

// TestForms: the report as the programs read it that it is written for.
func TestForms(t *testing.T) {
	t.Parallel()
	r := run(t, map[string]steps.Value{"held": steps.BoolOf(true), "who": steps.StringOf("ci@runner"), "age": steps.DurationOf(90 * time.Minute)}, nil, nil)
	var out bytes.Buffer
	if err := r.JUnit(&out); err != nil {
		t.Fatal(err)
	}
	var got suites
	if err := xml.Unmarshal(out.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	s := got.Suites[0]
	if got.Tests != 2 || got.Failures != 1 || got.Errors != 1 || s.Cases[0].Failure == nil || s.Cases[1].Error == nil || s.Cases[0].Time != "0.500" || strings.Contains(s.Out, "\x1b") {
		t.Errorf("JUnit: %s", out.String())
	}
	if want := "warning: held by ci@runner\nnot seen: its info"; s.Cases[0].Out != want {
		t.Errorf("system-out is %q, want %q", s.Cases[0].Out, want)
	}
	out.Reset()
	if err := r.Textfile(&out); err != nil {
		t.Fatal(err)
	}
	samples := map[string]float64{}
	seen, err := promtext.Each(out.Bytes(), func(string) bool { return true }, func(s promtext.Sample) error {
		samples[s.Name+" "+s.Labels["check"]+" "+s.Labels["state"]+s.Labels["fact"]] = s.Value
		return nil
	})
	if err != nil || seen.Cut {
		t.Fatalf("textfile: %v: %s", err, out.String())
	}
	for name, want := range map[string]float64{"handrail_check_state lock red": 1, "handrail_check_state lock green": 0, "handrail_check_state sound unknown": 1,
		"handrail_check_fact lock age": 5400, "handrail_check_fact lock held": 1, "handrail_check_timestamp_seconds  ": 1767582000} {
		if got, ok := samples[name]; !ok || got != want {
			t.Errorf("%s is %v (%t), want %v", name, got, ok, want)
		}
	}
	if _, ok := samples["handrail_check_fact sound condition"]; ok {
		t.Error("a fact that is no number has a sample")
	}
}

// TestTakes: a watchdog takes nothing that asks a person or changes something.
func TestTakes(t *testing.T) {
	t.Parallel()
	if err := Takes(parse(t, nightly)); err != nil {
		t.Error(err)
	}
	head, _, _ := strings.Cut(nightly, "preserve:")
	for name, text := range map[string]string{
		"no watch":   head + "preserve:\n  - {id: state, uses: terraform/state}\n",
		"a question": nightly + "  - {id: seen, ask: 'Did it work?', answers: {'yes': it did, 'no': it did not}, green: ['yes']}\n",
		"a manual":   nightly + "  - {id: done, manual: Look., evidence: what}\n",
	} {
		if err := Takes(parse(t, text)); !errors.Is(err, ErrAlien) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestRunEnds with its context, and calls nothing green.
func TestRunEnds(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	_, err := Run(ctx, parse(t, nightly), steps.Params{}, catalog.New(), time.Now, func(ctx context.Context, _ steps.Kind, _ steps.Params) (steps.Observation, error) {
		cancel()
		return steps.Observation{}, ctx.Err()
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("Run() = %v", err)
	}
}
