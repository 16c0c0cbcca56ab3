package rabbitmq

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"handrail/steps"
)

func bindingFacts() []steps.Field {
	return []steps.Field{
		{Name: "exists", Type: steps.Bool, Doc: "whether the virtual host is there"},
		{Name: "declared", Type: steps.Int, Doc: "how many bindings are declared, each once"},
		{Name: "present", Type: steps.Int, Doc: "how many of them the broker has"},
		{Name: "text", Type: steps.String, Doc: "both as a text, such as 3 of 5"},
		{Name: "missing", Type: steps.Strings, Doc: "declared and not there, as SOURCE -> DESTINATION (ROUTING KEY)"},
		{Name: "extra", Type: steps.Strings, Doc: "there and not declared, but for what every queue has by itself"},
		{Name: "absent", Type: steps.Strings, Doc: "queues and exchanges that are declared to be bound and are not there themselves"},
	}
}

type bindingProbe struct{ env steps.Env }

// Probe implements steps.Prober.
func (p bindingProbe) Probe(ctx context.Context, in steps.Params, out steps.Sink) (steps.Observation, error) {
	ctx, cancel := within(ctx)
	defer cancel()
	if in.Text("url") == "" || in.Text("declared") == "" && in.Text("file") == "" {
		const none = "no broker is named, or nothing is declared"
		return steps.Observation{Summary: "Nothing was read: " + none + ".", Gaps: []string{none}, Facts: steps.NewFacts(bindingFacts()).Rest(none)}, nil
	}
	vhost, password, err := vhostOf(in.Text("vhost"))
	if password != "" {
		out.Secret(password)
	}
	if err != nil {
		return steps.Observation{}, err
	}
	at, ok := segment(vhost)
	if !ok {
		return steps.Observation{}, fmt.Errorf("the virtual host %q cannot be asked for by a path; look at its bindings with rabbitmqctl", vhost)
	}
	want, err := p.declared(in, vhost)
	if err != nil {
		return steps.Observation{}, err
	}
	c, err := connect(p.env, in.Text("url"), out)
	if err != nil {
		return steps.Observation{}, err
	}
	obs := steps.Observation{Command: "curl -fsS -u " + steps.Quote(c.user) + " " + steps.Quote(c.base+"/api/bindings/"+at)}
	f := steps.NewFacts(bindingFacts())
	f.Set("declared", steps.IntOf(int64(len(want.bindings))))
	there, err := c.bindings(ctx, at)
	if errors.Is(err, errAbsent) {
		f.Set("exists", steps.BoolOf(false))
		obs.Summary = fmt.Sprintf("The broker has no virtual host %q, so none of the %d declared bindings.", vhost, len(want.bindings))
		obs.Facts = f.Rest("there is no such virtual host")
		return obs, nil
	}
	if err != nil {
		return steps.Observation{}, err
	}
	f.Set("exists", steps.BoolOf(true))
	keep(&obs, out, "bindings", there)
	m := hold(want.bindings, there)
	text := fmt.Sprintf("%d of %d", m.present, len(want.bindings))
	f.Set("present", steps.IntOf(int64(m.present)))
	f.Set("text", steps.StringOf(text))
	setNames(f, "missing", texts(m.missing))
	setNames(f, "extra", texts(m.extra))
	obs.Summary = fmt.Sprintf("%q has %s declared bindings.", vhost, text)
	if len(m.missing) > 0 {
		obs.Say(steps.Warning, "Not there: %s.", some(texts(m.missing)))
	}
	if len(m.extra) > 0 {
		obs.Say(steps.Info, "There, and not declared: %s. Something else may need it; nothing here removes it.", some(texts(m.extra)))
	}
	if want.twice > 0 {
		obs.Say(steps.Info, "%d entries are declared twice and counted once.", want.twice)
	}
	if want.others > 0 {
		obs.Gaps = append(obs.Gaps, fmt.Sprintf("%d declared entries are of other virtual hosts and were not looked for", want.others))
	}
	if gone, err := c.absent(ctx, at, want.bindings); err != nil {
		f.Unknown(err.Error(), "absent")
		obs.Gaps = append(obs.Gaps, "queues and exchanges: "+err.Error())
	} else {
		setNames(f, "absent", gone)
		if len(gone) > 0 {
			obs.Say(steps.Warning, "What is to be bound is not there itself: %s. A binding cannot be made before it.", some(gone))
		}
	}
	like, unseen := c.likeBound(ctx, vhost, want.bindings)
	obs.Findings, obs.Gaps = append(obs.Findings, like...), append(obs.Gaps, unseen...)
	obs.Facts = f.Rest("not read")
	return obs, nil
}

func (p bindingProbe) declared(in steps.Params, vhost string) (declaration, error) {
	text, name := in.Text("declared"), in.Text("file")
	if text != "" && name != "" {
		return declaration{}, errors.New("say what is declared by the parameter declared or file, not by both")
	}
	if name == "" {
		return parseDeclared([]byte(text), vhost)
	}
	name = steps.Below(p.env.Dir, name)
	raw, err := steps.ReadFile(name, largestDeclared)
	if err != nil {
		return declaration{}, err
	}
	d, err := parseDeclared(raw, vhost)
	if err != nil {
		return d, fmt.Errorf("%s: %w", name, err)
	}
	return d, nil
}

// bindings reads those of one virtual host. An entry that lacks what every
// binding has is an error.
func (c *client) bindings(ctx context.Context, vhost string) ([]binding, error) {
	type observed struct {
		binding
		Source      *string `json:"source"`
		Destination *string `json:"destination"`
	}
	list, err := readList[observed](ctx, c, "/api/bindings/"+vhost, url.Values{})
	if err != nil {
		return nil, err
	}
	out := make([]binding, len(list))
	for i, o := range list {
		if o.Source == nil || o.Destination == nil || o.Type != toQueue && o.Type != toExchange {
			return nil, fmt.Errorf("%s: an entry of the list is no binding: it is no answer of RabbitMQ", c.base)
		}
		b := o.binding
		b.Source, b.Destination = *o.Source, *o.Destination
		if b.Arguments, err = sameForm(b.Arguments); err != nil {
			return nil, fmt.Errorf("%s: %s: %w", c.base, b, err)
		}
		if b.Arguments == nil {
			b.Arguments = json.RawMessage("{}")
		}
		out[i] = b
	}
	return out, nil
}

func (c *client) absent(ctx context.Context, vhost string, want []binding) ([]string, error) {
	read := func(what string) ([]string, error) {
		// Statistics are what makes this list dear.
		list, err := readList[nameEntry](ctx, c, "/api/"+what+"/"+vhost, url.Values{"columns": {"name"}, "disable_stats": {"true"}})
		if err != nil {
			return nil, err
		}
		return names(list)
	}
	exchanges, err := read("exchanges")
	if err != nil {
		return nil, err
	}
	queues, err := read("queues")
	if err != nil {
		return nil, err
	}
	return absent(want, exchanges, queues), nil
}

func setNames(f steps.Facts, fact string, list []string) {
	if len(list) > mostNames {
		f.Unknown(fmt.Sprintf("more than %d", mostNames), fact)
		return
	}
	f.Set(fact, steps.StringsOf(list))
}

// some is the first of a list, for a sentence.
func some(list []string) string {
	const most = 5
	if len(list) <= most {
		return strings.Join(list, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(list[:most], ", "), len(list)-most)
}
