package policy

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"handrail/steps"
)

// What a file of exceptions has for a rule and a scope.
const (
	valid      = "valid"
	expired    = "expired"
	incomplete = "incomplete"
	absent     = "absent"
)

const (
	mostExceptions = 10_000
	aYear          = 366 * 24 * time.Hour
)

// exception is an accepted risk, as data.
type exception struct {
	ID       word            `json:"id"`
	Rule     word            `json:"rule"`
	Scope    word            `json:"scope"`
	Owner    word            `json:"owner"`
	Expires  word            `json:"expires"`
	Reason   word            `json:"reason"`
	Controls json.RawMessage `json:"compensatingControls"`

	place  int       // in the file, from 1
	ends   time.Time // zero where it is not told
	lacks  []string
	isPast bool
}

// name is how an exception is called, whose id may lack.
func (e *exception) name() string {
	if id := strings.TrimSpace(string(e.ID)); id != "" {
		return steps.OneLine(id, mostName)
	}
	return fmt.Sprintf("number %d", e.place)
}

// state is what one exception is worth.
func (e *exception) state() string {
	switch {
	case len(e.lacks) > 0:
		return incomplete
	case e.isPast:
		return expired
	}
	return valid
}

// readExceptions reads a list, or an object that has one as exceptions, and says of each what it lacks.
func readExceptions(ctx context.Context, text []byte, now time.Time) ([]*exception, error) {
	raw := bytes.TrimSpace(text)
	if len(raw) == 0 {
		return nil, errors.New("it is empty")
	}
	if raw[0] != '{' && raw[0] != '[' {
		var err error
		if raw, err = asJSON(text); err != nil {
			return nil, err
		}
	}
	s, err := outline(ctx, raw)
	if err != nil {
		return nil, err
	}
	var list []*exception
	if s.list {
		err = into(raw, &list)
	} else {
		if !s.keys["exceptions"] {
			return nil, errors.New("it is neither a list nor an object with exceptions")
		}
		var o struct {
			Exceptions *[]*exception `json:"exceptions"`
		}
		if err = into(raw, &o); err == nil && o.Exceptions == nil {
			err = errors.New("its exceptions are no list: it may break off")
		}
		if err == nil {
			list = *o.Exceptions
		}
	}
	if err != nil {
		return nil, err
	}
	if len(list) > mostExceptions {
		return nil, fmt.Errorf("it has more than the %d exceptions that are read", mostExceptions)
	}
	ids := map[word]int{}
	for i, e := range list {
		if e == nil {
			return nil, fmt.Errorf("exception number %d is empty", i+1)
		}
		e.place = i + 1
		ids[e.ID]++
	}
	for _, e := range list {
		e.lint(now)
		if e.ID != "" && ids[e.ID] > 1 {
			e.lacks = append(e.lacks, "an id of its own")
		}
	}
	return list, nil
}

// lint says what an exception lacks.
func (e *exception) lint(now time.Time) {
	for _, field := range []struct {
		name string
		text word
	}{{"id", e.ID}, {"rule", e.Rule}, {"scope", e.Scope}, {"owner", e.Owner}, {"expires", e.Expires}, {"reason", e.Reason}} {
		if strings.TrimSpace(string(field.text)) == "" {
			e.lacks = append(e.lacks, field.name)
		}
	}
	if !hasControls(e.Controls) {
		e.lacks = append(e.lacks, "compensatingControls")
	}
	if why := scopeFault(string(e.Scope)); why != "" && e.Scope != "" {
		e.lacks = append(e.lacks, why)
	}
	if strings.Contains(string(e.Rule), "*") {
		e.lacks = append(e.lacks, "one rule (it has a *)")
	}
	if strings.TrimSpace(string(e.Expires)) == "" {
		return
	}
	ends, err := endOf(strings.TrimSpace(string(e.Expires)))
	if err != nil {
		e.lacks = append(e.lacks, "an end that is a date or a time of RFC 3339")
		return
	}
	e.ends, e.isPast = ends, !now.Before(ends)
}

// endOf reads a time, or a date: it ends as its day begins in UTC, the earliest that can be meant.
func endOf(text string) (time.Time, error) {
	if t, err := time.Parse(time.RFC3339, text); err == nil {
		return t.UTC(), nil
	}
	return time.Parse(time.DateOnly, text)
}

// hasControls says whether any control is named, as a text or in a list.
func hasControls(raw json.RawMessage) bool {
	var one word
	if json.Unmarshal(raw, &one) == nil {
		return strings.TrimSpace(string(one)) != ""
	}
	var list []any
	if json.Unmarshal(raw, &list) != nil || len(list) == 0 {
		return false
	}
	for _, c := range list {
		if text, ok := c.(string); c == nil || ok && strings.TrimSpace(text) == "" {
			return false
		}
	}
	return true
}

// exceptionsProbe is policy/exceptions.
type exceptionsProbe struct{ env steps.Env }

// Probe implements steps.Prober.
func (p exceptionsProbe) Probe(ctx context.Context, in steps.Params, out steps.Sink) (steps.Observation, error) {
	if err := ctx.Err(); err != nil {
		return steps.Observation{}, err
	}
	name := in.Text("file")
	if name == "" {
		return steps.Observation{}, errors.New("the parameter file is missing: name the file of exceptions")
	}
	within := in.Duration("within")
	if _, given := in["within"]; !given {
		within = 7 * 24 * time.Hour
	}
	if within < 0 {
		return steps.Observation{}, errors.New("within: a duration of zero or more")
	}
	name = steps.Below(p.env.Dir, name)
	file, err := read(ctx, name, mostYAML)
	if err != nil {
		return steps.Observation{}, fmt.Errorf("policy exceptions: %w", err)
	}
	now := time.Now()
	if p.env.Now != nil {
		now = p.env.Now()
	}
	list, err := readExceptions(ctx, file.text, now)
	if stop := ctx.Err(); stop != nil {
		return steps.Observation{}, stop
	}
	if err != nil {
		return steps.Observation{}, fmt.Errorf("policy exceptions %s: %w", name, err)
	}
	obs := steps.Observation{Command: "less -R " + steps.Quote(name)}
	keepFile(out, "exceptions", file.text, &obs)
	if !bytes.HasSuffix(file.text, []byte("\n")) && file.text[0] != '{' && file.text[0] != '[' {
		obs.Gaps = append(obs.Gaps, "the file ends in the middle of a line: it may have been cut")
	}
	f := steps.NewFacts(exceptionFacts())
	f.Set("digest", steps.IdentOf(file.digest))
	tellExceptions(list, in.Text("rule"), in.Text("scope"), now, within, redactor(out), f, &obs)
	obs.Facts = f.Rest("the exception does not say")
	return obs, nil
}

func tellExceptions(list []*exception, rule, scope string, now time.Time, within time.Duration, clean func(string) string, f steps.Facts, obs *steps.Observation) {
	ending, ended, lacking, distant := []string{}, []string{}, []string{}, []string{}
	for _, e := range list {
		name := clean(e.name())
		if len(e.lacks) > 0 {
			lacking = append(lacking, name+": "+strings.Join(e.lacks, ", "))
		}
		switch {
		case e.ends.IsZero():
		case e.isPast:
			ended = append(ended, name)
		case !e.ends.After(now.Add(within)):
			ending = append(ending, name)
		case e.ends.After(now.Add(aYear)):
			distant = append(distant, name)
		}
	}
	f.Set("total", steps.IntOf(int64(len(list))))
	for fact, names := range map[string][]string{"expiring": ending, "expired": ended, "incomplete": lacking, "distant": distant} {
		if len(names) > mostNames {
			obs.Gaps = append(obs.Gaps, fmt.Sprintf("%s lists the first %d of %d", fact, mostNames, len(names)))
			names = names[:mostNames]
		}
		f.Set(fact, steps.StringsOf(names))
	}
	for _, part := range []struct {
		names []string
		say   string
	}{{lacking, "lack what an exception must have"}, {ended, "have ended"}, {ending, "end within " + within.String()}, {distant, "end in more than a year"}} {
		if n := len(part.names); n > 0 {
			obs.Say(steps.Warning, "%d exceptions %s: %s", n, part.say, steps.Clip(strings.Join(part.names, "; "), 300))
		}
	}
	if rule == "" || scope == "" {
		f.Unknown("rule and scope were not both given", "exception", "id", "owner", "expires")
		obs.Summary = fmt.Sprintf("The file has %d exceptions: %d end within %s, %d have ended, %d are incomplete.", len(list), len(ending), within, len(ended), len(lacking))
		return
	}
	tellMatch(match(list, rule, scope), rule, scope, clean, f, obs)
}

// match lists the exceptions for a rule and a scope, the one that counts first: one that holds, else one that has ended, else one that
// is incomplete; of several that hold, the one that ends last.
func match(list []*exception, rule, scope string) (out []*exception) {
	rank := map[string]int{valid: 0, expired: 1, incomplete: 2}
	for _, e := range list {
		if strings.TrimSpace(string(e.Rule)) != rule || !covers(strings.TrimSpace(string(e.Scope)), scope) {
			continue
		}
		out = append(out, e)
		for i := len(out) - 1; i > 0; i-- {
			a, b := out[i-1], out[i]
			if ra, rb := rank[a.state()], rank[b.state()]; rb < ra || rb == ra && b.ends.After(a.ends) {
				out[i-1], out[i] = b, a
			}
		}
	}
	return out
}

func tellMatch(found []*exception, rule, scope string, clean func(string) string, f steps.Facts, obs *steps.Observation) {
	if len(found) == 0 {
		f.Set("exception", steps.EnumOf(absent))
		f.Unknown("there is no such exception", "id", "owner", "expires")
		obs.Summary = fmt.Sprintf("The file has no exception of %s for %s.", rule, scope)
		return
	}
	e := found[0]
	f.Set("exception", steps.EnumOf(e.state()))
	if e.ID != "" {
		f.Set("id", steps.IdentOf(clean(e.name())))
	}
	if e.Owner != "" {
		f.Set("owner", steps.StringOf(clean(string(e.Owner))))
	}
	if !e.ends.IsZero() {
		f.Set("expires", steps.TimeOf(e.ends))
	}
	obs.Summary = fmt.Sprintf("The exception %s of %s for %s is %s", clean(e.name()), rule, scope, e.state())
	switch {
	case len(e.lacks) > 0:
		obs.Summary += ": it lacks " + strings.Join(e.lacks, ", ")
	case e.isPast:
		obs.Summary += " since " + e.ends.Format(time.RFC3339)
	default:
		obs.Summary += " until " + e.ends.Format(time.RFC3339)
	}
	obs.Summary += "."
	if len(found) > 1 {
		var others []string
		for _, o := range found[1:] {
			others = append(others, clean(o.name())+" ("+o.state()+")")
		}
		obs.Say(steps.Warning, "%d exceptions match; %s counts, which is %s, before %s", len(found), clean(e.name()), e.state(), steps.Clip(strings.Join(others, ", "), 200))
	}
}
