package endpoint

import (
	"bytes"
	"context"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"handrail/steps"
	"handrail/steps/transport"
)

const (
	// askWithin bounds one answer.
	askWithin = 10 * time.Second
	// mostBody bounds what is read of one.
	mostBody = 4 << 20
	// mostEntries, longestEntries and deepest bound what is told of a document.
	mostEntries, longestEntries, deepest = 200, 16 << 10, 16
)

func servedFacts() []steps.Field {
	return []steps.Field{
		{Name: "asked", Type: steps.Bool, Doc: "whether an address was named"},
		{Name: "entries", Type: steps.Table, Doc: "each value of the document by the names on the way to it, as checkout.enabled; unknown above 200 values or 16 kB"},
	}
}

type servedProbe struct {
	env   steps.Env
	roots *x509.CertPool // that servers are verified against, nil for those of the machine
}

// Probe implements steps.Prober.
func (p servedProbe) Probe(ctx context.Context, in steps.Params, out steps.Sink) (steps.Observation, error) {
	address := in.Text("url")
	f := steps.NewFacts(servedFacts())
	f.Set("asked", steps.BoolOf(address != ""))
	if address == "" {
		const none = "no address is named"
		return steps.Observation{Summary: "Nothing was read: " + none + ".", Facts: f.Rest(none)}, nil
	}
	raw, host, err := ask(ctx, p.env, address, p.roots)
	if err != nil {
		return steps.Observation{}, err
	}
	obs := steps.Observation{Command: "curl -sS " + steps.Quote(address)}
	if gap := steps.Keep(out, "served", "application/json", func(w io.Writer) error { _, err := w.Write(raw); return err }); gap != "" {
		obs.Gaps = append(obs.Gaps, gap)
	}
	entries, err := leaves(raw)
	if err != nil {
		return steps.Observation{}, fmt.Errorf("the answer of %s: %w", host, err)
	}
	f.Set("entries", steps.TableOf(entries))
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(entries)) {
		parts = append(parts, name+"="+steps.Clip(entries[name], 60))
	}
	obs.Summary = steps.Clip(fmt.Sprintf("%s serves %s", host, strings.Join(parts, " ")), 300)
	obs.Facts = f.Rest("not read")
	return obs, nil
}

// ask gets what an address answers.
func ask(ctx context.Context, env steps.Env, address string, roots *x509.CertPool) (raw []byte, host string, err error) {
	return transport.AskText(ctx, env, address, transport.Asking{Within: askWithin, Most: mostBody, Roots: roots})
}

// leaves are the values of a JSON document by the names on the way to them.
func leaves(raw []byte) (map[string]string, error) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var doc any
	if err := dec.Decode(&doc); err != nil {
		return nil, errors.New("it is no JSON")
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("something follows the JSON document")
	}
	w := walk{to: map[string]string{}}
	if err := w.at("", doc, 0); err != nil {
		return nil, err
	}
	return w.to, nil
}

type walk struct {
	to   map[string]string
	size int
}

func (w *walk) at(name string, v any, deep int) error {
	if deep > deepest {
		return fmt.Errorf("it is more than %d levels deep", deepest)
	}
	under := func(part string) string {
		if name == "" {
			return part
		}
		return name + "." + part
	}
	switch v := v.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			if err := w.at(under(key), v[key], deep+1); err != nil {
				return err
			}
		}
	case []any:
		for i, part := range v {
			if err := w.at(under(fmt.Sprint(i)), part, deep+1); err != nil {
				return err
			}
		}
	default:
		text := "null"
		if v != nil {
			text = fmt.Sprint(v)
		}
		if _, twice := w.to[name]; twice {
			return fmt.Errorf("%q is the name of two values", steps.Clip(name, 100))
		}
		w.to[name] = text
		if w.size += len(name) + len(text); w.size > longestEntries || len(w.to) > mostEntries {
			return fmt.Errorf("it has more than %d values or %d bytes", mostEntries, longestEntries)
		}
	}
	return nil
}
