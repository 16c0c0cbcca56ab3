package prometheus

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"handrail/steps"
	"handrail/steps/transport"
)

const (
	askWithin  = 50 * time.Second
	mostAnswer = 8 << 20
)

// probe is one of the kinds.
type probe struct {
	env   steps.Env
	roots *x509.CertPool // that servers are verified against, nil for those of the machine
	facts []steps.Field
	read  func(context.Context, asked) (steps.Observation, error)
}

// asked is what one reading has.
type asked struct {
	server *url.URL
	token  string
	probe  probe
	in     steps.Params
	out    steps.Sink
	f      steps.Facts
	now    time.Time
}

// Probe implements steps.Prober.
func (p probe) Probe(ctx context.Context, in steps.Params, out steps.Sink) (steps.Observation, error) {
	if err := ctx.Err(); err != nil {
		return steps.Observation{}, err
	}
	a := asked{probe: p, in: in, out: out, f: steps.NewFacts(p.facts), now: time.Now()}
	if p.env.Now != nil {
		a.now = p.env.Now()
	}
	if err := a.place(); err != nil {
		return steps.Observation{}, err
	}
	if strings.TrimSpace(in.Text("query")) == "" {
		return steps.Observation{}, errors.New("query: the expression is empty")
	}
	obs, err := p.read(ctx, a)
	if stop := ctx.Err(); stop != nil {
		return steps.Observation{}, stop
	}
	return obs, err
}

// place finds the server, and the token that goes to none but the one that stands beside it.
func (a *asked) place() error {
	address, name := a.in.Text("server"), "server"
	if address == "" {
		name, address = "PROMETHEUS_URL", a.probe.env.Getenv("PROMETHEUS_URL")
		a.token = a.probe.env.Getenv("PROMETHEUS_TOKEN")
	}
	if address == "" {
		return errors.New("no Prometheus is named: give the parameter server, or set PROMETHEUS_URL, then read again")
	}
	u, err := transport.AskAddress(strings.TrimSuffix(address, "/"))
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if u.RawQuery != "" {
		return fmt.Errorf("%s: %q has a query, which no address of a Prometheus has", name, steps.Clip(address, 200))
	}
	if strings.ContainsFunc(a.token, func(r rune) bool { return r <= ' ' || r >= 0x7f }) {
		return errors.New("PROMETHEUS_TOKEN has a blank, a line break or a character in it that no token has: set it again")
	}
	if a.token != "" {
		a.out.Secret(a.token)
	}
	u.Path = strings.TrimSuffix(u.Path, "/") + "/api/v1/"
	a.server = u
	return nil
}

// command is what a person could type for the same.
func (a asked) command(what string, query url.Values) string {
	b := "curl -sS -G " + steps.Quote(a.server.String()+what)
	if a.token != "" {
		b += ` -H "Authorization: Bearer $PROMETHEUS_TOKEN"`
	}
	for _, name := range []string{"query", "time", "start", "end", "step"} {
		if v := query.Get(name); v != "" {
			b += " --data-urlencode " + steps.Quote(name+"="+v)
		}
	}
	return b
}

// get asks, keeps what came, and reads it.
func (a asked) get(ctx context.Context, what string, query url.Values, obs *steps.Observation) (answer, error) {
	ctx, stop := context.WithTimeout(ctx, askWithin)
	defer stop()
	obs.Command = a.command(what, query)
	at := *a.server
	at.Path, at.RawQuery = at.Path+what, query.Encode()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, at.String(), nil)
	if err != nil {
		return answer{}, err
	}
	req.Header.Set("Accept", "application/json")
	if a.token != "" {
		req.Header.Set("Authorization", "Bearer "+a.token)
	}
	client, done := transport.FetchClient(a.probe.env, a.server, a.probe.roots)
	defer done()
	resp, err := client.Do(req)
	if err != nil {
		if of := (*url.Error)(nil); errors.As(err, &of) {
			err = of.Err // the address has the query, which is said already
		}
		return answer{}, fmt.Errorf("asking %s: %w", a.server.Host, err)
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(io.LimitReader(resp.Body, mostAnswer+1))
	switch {
	case err != nil:
		return answer{}, fmt.Errorf("reading the answer of %s: %w", a.server.Host, err)
	case len(raw) > mostAnswer:
		return answer{}, fmt.Errorf("%s answered with more than the %d MiB that are read: ask for less", a.server.Host, mostAnswer>>20)
	}
	if gap := steps.Keep(a.out, "answer", steps.MediaJSON, func(w io.Writer) error { _, err := w.Write(raw); return err }); gap != "" {
		obs.Gaps = append(obs.Gaps, gap)
	}
	got, err := parse(raw)
	switch {
	case resp.StatusCode == http.StatusUnauthorized || resp.StatusCode == http.StatusForbidden:
		return answer{}, fmt.Errorf("%w: %s answered %d: set PROMETHEUS_URL and PROMETHEUS_TOKEN for it, then read again", steps.ErrDenied, a.server.Host, resp.StatusCode)
	case err != nil && resp.StatusCode != http.StatusOK:
		return answer{}, fmt.Errorf("%s answered %d, and not as a Prometheus does", a.server.Host, resp.StatusCode)
	case err != nil:
		return answer{}, fmt.Errorf("%s: %w", a.server.Host, err)
	case got.failed != "":
		return answer{}, fmt.Errorf("%s refused the query (%s)", a.server.Host, got.failed)
	case resp.StatusCode != http.StatusOK:
		return answer{}, fmt.Errorf("%s answered %d", a.server.Host, resp.StatusCode)
	}
	for _, w := range got.warnings {
		obs.Say(steps.Warning, "The server says of its answer: %s.", strings.TrimSuffix(steps.OneLine(w, 300), "."))
	}
	return got, nil
}
