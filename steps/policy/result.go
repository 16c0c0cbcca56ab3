package policy

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"handrail/steps"
)

// resultProbe is policy/result.
type resultProbe struct{ env steps.Env }

const toldResults = 5 // that are findings; the facts and the artifact have more

// Probe implements steps.Prober.
func (p resultProbe) Probe(ctx context.Context, in steps.Params, out steps.Sink) (steps.Observation, error) {
	if err := ctx.Err(); err != nil {
		return steps.Observation{}, err
	}
	name := in.Text("file")
	if name == "" {
		return steps.Observation{}, errors.New("the parameter file is missing: name the saved output of the policy gate")
	}
	name = steps.Below(p.env.Dir, name)
	file, err := read(ctx, name, mostFile)
	if err != nil {
		return steps.Observation{}, fmt.Errorf("policy output: %w", err)
	}
	d := decide(ctx, file.text, in.Text("format"), in.Text("query_means"))
	if err := ctx.Err(); err != nil {
		return steps.Observation{}, err
	}
	if d.format == "" {
		// Any file would stand as evidence of a decision otherwise.
		return steps.Observation{}, fmt.Errorf("%s is no output of a policy gate that is known: %s", name, d.broken)
	}
	obs := steps.Observation{Command: "less -R " + steps.Quote(name)}
	keepFile(out, "result", file.text, &obs)
	d.tell(file.digest, redactor(out), &obs)
	return obs, nil
}

// keepFile hands the file to the bundle.
func keepFile(out steps.Sink, role string, text []byte, obs *steps.Observation) {
	if len(text) == 0 {
		return
	}
	media := steps.MediaText
	if json.Valid(text) {
		media = steps.MediaJSON
	}
	if gap := steps.Keep(out, role, media, func(w io.Writer) error { _, err := w.Write(text); return err }); gap != "" {
		obs.Gaps = append(obs.Gaps, gap)
	}
}

// tell turns a decision into facts.
func (d *decision) tell(digest string, clean func(string) string, obs *steps.Observation) {
	f := steps.NewFacts(resultFacts())
	f.Set("digest", steps.IdentOf(digest))
	is, why := d.verdict()
	why, d.broken = clean(why), clean(d.broken) // a reason may quote the output
	if is == "" {
		f.Unknown(why, "verdict")
		obs.Gaps = append(obs.Gaps, "whether the policy allows is unknown: "+why)
	} else {
		f.Set("verdict", steps.EnumOf(is))
	}
	if d.format != "" {
		f.Set("format", steps.EnumOf(d.format))
	}
	if d.engine != "" {
		f.Set("engine", steps.StringOf(clean(d.engine)))
	}
	if d.version != "" {
		f.Set("tool_version", steps.StringOf(clean(d.version)))
	}
	switch {
	case d.down:
		f.Set("engine_up", steps.BoolOf(false))
	case is == allow || is == deny:
		f.Set("engine_up", steps.BoolOf(true))
	default:
		f.Unknown("the output does not say", "engine_up")
	}
	if d.broken == "" {
		d.tellResults(f, clean, obs)
	}
	obs.Summary = d.summary(is, why, clean)
	rest := "the output does not say"
	if d.broken != "" {
		rest = d.broken
	}
	obs.Facts = f.Rest(rest)
}

func (d *decision) tellResults(f steps.Facts, clean func(string) string, obs *steps.Observation) {
	rules, more := d.names(func(r result) string { return r.rule })
	denied, others := d.names(func(r result) string { return r.resource })
	if more || others {
		obs.Gaps = append(obs.Gaps, fmt.Sprintf("more than %d rules or resources fail; the facts list the first", mostNames))
	}
	f.Set("rules", steps.StringsOf(redactedAll(clean, rules)))
	f.Set("denied", steps.StringsOf(redactedAll(clean, denied)))
	for name, n := range map[string]int64{"failed": d.count(failed), "warned": d.count(warned), "skipped": d.count(skipped), "passed": d.count(passed), "excused": d.excused()} {
		f.Set(name, steps.IntOf(n))
	}
	ids, seen := []string{}, map[string]bool{"": true}
	for _, r := range d.results {
		if !seen[r.exception] && len(ids) < mostNames {
			seen[r.exception] = true
			ids = append(ids, clean(r.exception))
		}
	}
	f.Set("exceptions", steps.StringsOf(ids))
	if r, ok := d.first(); ok {
		f.Set("first", steps.StringOf(clean(r.message)))
	} else {
		f.Set("first", steps.StringOf(""))
	}
	told := 0
	for _, r := range d.results {
		if (r.outcome == failed || r.outcome == erred) && told < toldResults {
			told++
			obs.Say(steps.Warning, "%s", steps.Clip(clean(r.String()), 400))
		}
	}
	if n := d.excused(); n > 0 {
		obs.Say(steps.Info, "%d results are excused by an exception or a suppression: see whether each holds (policy/exceptions)", n)
	}
}

// String is a result in words.
func (r result) String() string {
	text := string(r.outcome)
	for _, part := range []string{r.rule, r.resource, r.message} {
		if part != "" {
			text += ": " + part
		}
	}
	return text
}

func (d *decision) summary(is, why string, clean func(string) string) string {
	engine := "The policy gate"
	if d.engine != "" {
		engine = clean(d.engine)
	}
	counts := fmt.Sprintf("%d failed, %d warned, %d skipped, %d passed", d.count(failed), d.count(warned), d.count(skipped), d.count(passed))
	switch is {
	case allow:
		return fmt.Sprintf("%s allows: %s.", engine, counts)
	case deny:
		text := ""
		if r, ok := d.first(); ok {
			text = ": " + steps.Clip(clean(r.message), 160)
		}
		if d.broken != "" {
			return fmt.Sprintf("%s denies%s; the rest was not read: %s.", engine, text, d.broken)
		}
		return fmt.Sprintf("%s denies, %s%s.", engine, counts, text)
	case errored:
		r := d.results[indexOf(d.results, erred)]
		return fmt.Sprintf("%s ended in an error: %s.", engine, steps.Clip(clean(r.message), 160))
	}
	return fmt.Sprintf("Whether %s allows is unknown: %s.", engine, why)
}
