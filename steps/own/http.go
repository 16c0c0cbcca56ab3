package own

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"handrail/steps"
	"handrail/steps/transport"
)

const (
	mostAsked    = 50 * time.Second // a probe has a minute
	headerForm   = `[A-Za-z][A-Za-z0-9-]*: ([A-Za-z]+ )?\$[A-Za-z_][A-Za-z0-9_]*`
	notOurHeader = "host connection content-length transfer-encoding te trailer upgrade expect proxy-authorization x-http-method x-http-method-override x-method-override user-agent accept-encoding"
)

// httpProbe is own/http.
type httpProbe struct {
	env   steps.Env
	outs  []steps.Output
	roots *x509.CertPool // that servers are verified against, nil for those of the machine
}

// Probe implements steps.Prober.
func (p httpProbe) Probe(ctx context.Context, in steps.Params, out steps.Sink) (steps.Observation, error) {
	if err := trusted(p.env); err != nil {
		return steps.Observation{}, err
	}
	u, err := transport.AskAddress(in.Text("url"))
	if err != nil {
		return steps.Observation{}, err
	}
	span := in.Duration("timeout")
	if span <= 0 || span > mostAsked {
		span = 10 * time.Second
	}
	ctx, stop := context.WithTimeout(ctx, span)
	defer stop()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return steps.Observation{}, err
	}
	req.Header.Set("Accept", "application/json, */*;q=0.8")
	typed, err := p.headers(in, req.Header, out)
	if err != nil {
		return steps.Observation{}, err
	}
	raw, status, err := transport.Ask(p.env, req, p.roots, mostRead)
	if err != nil {
		return steps.Observation{}, fmt.Errorf("asking %s: %w", u.Host, err)
	}
	kept, gaps := keep(out, "body", raw)
	if !slices.Contains(statusesOf(in), status) {
		failed := fmt.Errorf("%s answered %d, and the runbook takes %s as an answer: %s", u.Host, status, counts(statusesOf(in)), steps.OneLine(strings.ToValidUTF8(string(kept), "?"), 200))
		if status == http.StatusUnauthorized || status == http.StatusForbidden {
			failed = fmt.Errorf("%w: %w", steps.ErrDenied, failed)
		}
		return steps.Observation{}, failed
	}
	f := steps.NewFacts(fieldsOf("own/http", p.outs))
	f.Set("status", steps.IntOf(int64(status)))
	obs := steps.Observation{Command: "curl -sS" + typed + " " + steps.Quote(u.String())}
	obs.Gaps = append(gaps, readOutputs(ctx, p.outs, in.Text("as"), kept, f)...)
	obs.Facts = f.Rest("it was not declared")
	obs.Summary = fmt.Sprintf("%s answered %d%s", u.Host, status, told(p.outs, obs.Facts))
	return obs, nil
}

// headers sets the headers that the step names, and returns them as a person types them.
func (p httpProbe) headers(in steps.Params, h http.Header, out steps.Sink) (typed string, err error) {
	for _, one := range in["headers"].Strings() {
		name, value, _ := strings.Cut(one, ": ")
		word, variable, _ := strings.Cut(value, "$")
		if slices.Contains(strings.Fields(notOurHeader), strings.ToLower(name)) {
			return "", fmt.Errorf("the header %s is not one that a runbook may set", name)
		}
		secret := p.env.Getenv(variable)
		if secret == "" {
			return "", fmt.Errorf("the variable %s, whose value the header %s takes, is not set: set it, then read again", variable, name)
		}
		out.Secret(secret)
		if strings.ContainsFunc(secret, func(r rune) bool { return r < ' ' || r == 0x7f }) {
			return "", fmt.Errorf("the variable %s has a line break or a control character in it, which no header takes", variable)
		}
		h.Add(name, word+secret)
		typed += ` -H "` + one + `"`
	}
	return typed, nil
}

func statusesOf(in steps.Params) []int {
	var out []int
	for _, text := range in["statuses"].Strings() {
		if n, err := strconv.Atoi(text); err == nil {
			out = append(out, n)
		}
	}
	if len(out) == 0 {
		return []int{http.StatusOK}
	}
	return out
}

// fixedServer is what of an address the runbook itself must write.
var fixedServer = regexp.MustCompile(`^https?://[^/?#@\s]+(?:/|$)`)

// vetURL says why an address cannot stand as written.
func vetURL(w []steps.Written) error {
	if len(w) != 1 {
		return nil
	}
	if !w[0].Fixed {
		if head := w[0].Head; !fixedServer.MatchString(head) || !strings.Contains(strings.TrimPrefix(strings.TrimPrefix(head, "https://"), "http://"), "/") {
			return errors.New("which server is asked is the runbook's to say: write the address up to the first slash of its path as it is, as in https://status.example.com/v1/${params.service}")
		}
		head, _, _ := strings.Cut(w[0].Head, "?")
		_, err := transport.AskAddress(strings.TrimSuffix(head, "/"))
		return err
	}
	_, err := transport.AskAddress(w[0].Text)
	return err
}

// tellHTTP is a step of own/http in words.
func tellHTTP(w steps.With) string {
	out := "asks GET " + w.Text("url")
	if list := w.Texts("headers"); len(list) > 0 {
		return out + ", with the headers " + strings.Join(list, ", ") + " of your environment"
	}
	return out + ", with no variable of your environment"
}
