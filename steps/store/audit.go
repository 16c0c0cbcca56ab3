package store

import (
	"context"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"

	"handrail/steps"
	"handrail/steps/transport"
)

const (
	keySink     = "audit target"
	keyEndpoint = "endpoint"
	keyWas      = "endpoint now"

	adminPath   = "/minio/admin/v3/"
	auditKey    = "audit_webhook"
	mostSetting = 1 << 20
	sinkWithin  = 10 * time.Second // until the store has sent its first record
	sinkEvery   = 250 * time.Millisecond
)

// auditWriter is the gate that has a MinIO tell one endpoint of each request.
type auditWriter struct {
	env   steps.Env
	roots *x509.CertPool // that servers are verified against, nil for those of the machine
}

type auditArgs struct {
	at       place
	settings string
	sink     sink
}

// sink is where a store tells of its requests.
type sink struct {
	name, endpoint string // name is "" for the one that has none
	on             bool
	fixed          bool // by the environment of the server, which no request changes
}

func (s sink) String() string {
	if s.name == "" {
		return auditKey
	}
	return auditKey + ":" + s.name
}

// Preview implements steps.Gater.
func (g auditWriter) Preview(ctx context.Context, in steps.Params, out steps.Sink) (steps.Preview, error) {
	to, err := placeOf(ctx, g.env, g.roots, in.Text("profile"), out)
	if err != nil {
		return steps.Preview{}, err
	}
	sinks, err := to.sinks(ctx)
	if err != nil {
		return steps.Preview{}, err
	}
	reached, err := to.reached(ctx)
	if err != nil {
		return steps.Preview{}, err
	}
	want := sink{name: in.Text("name"), endpoint: in.Text("endpoint"), on: true}
	was := ""
	p := steps.Preview{Phrase: steps.Phrase("write store", "audit_webhook/"+want.name)}
	need := func(of, cure, why string, args ...any) {
		p.Unmet = append(p.Unmet, steps.Need{Why: fmt.Sprintf(why, args...), Cure: cure, Of: of})
	}
	if _, err := transport.AskAddress(want.endpoint); err != nil {
		need("endpoint", "name an address with https, or one of this machine", "The endpoint is refused: %v. What is told holds names of objects, of accounts and signatures.", err)
	}
	for _, s := range sinks {
		hides(s.endpoint, out)
		say := "off"
		online, up := reached[s.name]
		switch {
		case s.on && online:
			say = "on, and it is reached"
		case s.on && up:
			say = "on, and it is not reached"
		case s.on:
			say = "on, and it waits for a restart of the store"
		}
		if s.endpoint != "" {
			say += ": " + s.endpoint
		}
		p.Shown = append(p.Shown, steps.KV{Key: s.String(), Value: say})
		switch {
		case s.on && online:
			need("", "read its records there", "The store tells %s of each request already.", s.endpoint)
		case s.name == want.name && s.fixed:
			need("name", "name another target, or change the environment of the server", "The target %s is set by the environment of the server, which stands above its settings.", s)
		}
		if s.name == want.name {
			was = s.endpoint
		}
	}
	settings := fmt.Sprintf("%s endpoint=%q enable=on", want, want.endpoint)
	p.Target = []steps.KV{{Key: keyStore, Value: to.server.String()}, {Key: keySink, Value: want.name}, {Key: keyEndpoint, Value: want.endpoint}, {Key: keyWas, Value: orNoEndpoint(was)}}
	p.Shown = append(p.Shown, steps.KV{Key: "as", Value: to.as})
	p.Request = fmt.Sprintf("PUT %sset-config-kv (%s, encrypted with the secret of who asks)", adminPath, settings)
	p.Command = "mc admin config set ALIAS " + want.String() + " endpoint=" + steps.Quote(want.endpoint) + " enable=on"
	p.Effect = fmt.Sprintf("have %s tell %s of each request from then on, with the names of objects and accounts, and with signatures. It restarts nothing. Nothing of before is told.", to.server.Host, want.endpoint)
	p.Diff = []string{"+ " + settings}
	p.Undo = "mc admin config reset ALIAS " + want.String()
	if was != "" {
		before := fmt.Sprintf("%s endpoint=%q", want, was)
		p.Diff = []string{"- " + before, "+ " + settings}
		p.Undo = "Set the endpoint from before: the store does not show what it signs in there with, and keeps it."
		p.Prior = &steps.Prior{Media: steps.MediaText, Raw: []byte(before + "\n"), Back: "xargs mc admin config set ALIAS"}
	}
	p.Args = auditArgs{to, settings, want}
	return p, nil
}

// hides keeps the password and the query of an endpoint, which may be a token, out of what is recorded.
func hides(endpoint string, out steps.Sink) {
	u, err := url.Parse(endpoint)
	if err != nil {
		out.Secret(endpoint)
		return
	}
	if word, is := u.User.Password(); is {
		out.Secret(word)
	}
	if u.RawQuery != "" {
		out.Secret(u.RawQuery)
	}
}

func orNoEndpoint(text string) string {
	if text == "" {
		return "none"
	}
	return text
}

// Act implements steps.Gater.
func (g auditWriter) Act(ctx context.Context, a *steps.Approval, out steps.Sink) (steps.Outcome, error) {
	p, err := a.Spend()
	if err != nil {
		return steps.Outcome{}, err
	}
	args, err := steps.ArgsOf[auditArgs](p)
	if err != nil {
		return steps.Outcome{}, err
	}
	out.Secret(args.at.who.SecretAccessKey)
	body, err := seal(args.at.who.SecretAccessKey, []byte(args.settings))
	if err != nil {
		return steps.Outcome{Result: steps.Refused, Response: "nothing was sent: " + err.Error()}, nil
	}
	err = args.at.send(ctx, order{path: adminPath + "set-config-kv", media: "application/octet-stream", body: body})
	return transport.Settled(err, func() (steps.Outcome, error) { return g.look(ctx, args.at, args.sink) })
}

// look reads the settings again, and waits until the store has reached the endpoint.
func (g auditWriter) look(ctx context.Context, to place, want sink) (steps.Outcome, error) {
	o := steps.Outcome{Result: steps.Failed}
	sinks, err := to.sinks(ctx)
	if err != nil {
		return o, err
	}
	i := slices.IndexFunc(sinks, func(s sink) bool { return s.name == want.name })
	if i < 0 || sinks[i].endpoint != want.endpoint || !sinks[i].on {
		o.Response, o.After = "The settings of the store do not have the target as it was approved.", []steps.KV{{Key: keySink, Value: want.name}, {Key: keyWas, Value: "another one, or none"}}
		return o, nil
	}
	o.After = []steps.KV{{Key: keySink, Value: want.name}, {Key: keyWas, Value: want.endpoint}}
	wait, stop := context.WithTimeout(ctx, sinkWithin)
	defer stop()
	tick := time.NewTicker(sinkEvery)
	defer tick.Stop()
	for {
		reached, err := to.reached(ctx)
		if err != nil {
			return o, err
		}
		online, up := reached[want.name]
		if online {
			o.Result, o.Response = steps.Done, "The store tells "+want.endpoint+" of each request, and reaches it."
			return o, nil
		}
		select {
		case <-wait.Done():
			if err := ctx.Err(); err != nil {
				return o, err
			}
			o.Response = "The store has the target, and does not reach " + want.endpoint + "."
			if !up {
				o.Response = "The store has the target in its settings, and takes it up at its next start alone. Nothing was restarted."
			}
			return o, nil
		case <-tick.C:
		}
	}
}

// Find implements steps.Finder.
func (g auditWriter) Find(ctx context.Context, before []steps.KV, in steps.Params, out steps.Sink) (steps.Outcome, error) {
	want := sink{name: steps.Find(before, keySink), endpoint: steps.Find(before, keyEndpoint)}
	if want.endpoint == "" {
		return steps.Outcome{}, errors.New("the journal does not name the endpoint")
	}
	to, err := placeOf(ctx, g.env, g.roots, in.Text("profile"), out)
	if err != nil {
		return steps.Outcome{}, err
	}
	if at := steps.Find(before, keyStore); at != to.server.String() {
		return steps.Outcome{}, fmt.Errorf("the act was on %s, and the environment names %s", at, to.server)
	}
	return g.look(ctx, to, want)
}

// sinks are the audit targets in the settings of a MinIO.
func (p place) sinks(ctx context.Context) ([]sink, error) {
	raw, err := p.administers(ctx, "get-config-kv", "env=&key="+auditKey)
	if err != nil {
		return nil, fmt.Errorf("settings of %s: %w", p.server.Host, err)
	}
	text, err := unseal(p.who.SecretAccessKey, raw)
	if err != nil {
		return nil, fmt.Errorf("settings of %s: %w", p.server.Host, err)
	}
	return parseSinks(string(text))
}

// reached are the audit targets that a MinIO sends to, by name, and whether it reaches each.
func (p place) reached(ctx context.Context) (map[string]bool, error) {
	raw, err := p.administers(ctx, "info", "")
	if err != nil {
		return nil, fmt.Errorf("audit targets of %s: %w", p.server.Host, err)
	}
	var in struct {
		Services struct {
			Audit []map[string]struct{ Status string }
		}
	}
	if err := json.Unmarshal(raw, &in); err != nil {
		return nil, fmt.Errorf("audit targets of %s: it is no answer of a MinIO", p.server.Host)
	}
	out := map[string]bool{}
	for _, one := range in.Services.Audit {
		for name, is := range one {
			name, _ = strings.CutPrefix(name, "audit-")
			if name == "_" { // as it calls the one without a name
				name = ""
			}
			out[name] = is.Status == "online"
		}
	}
	return out, nil
}

// administers reads from the API by which a MinIO is administered.
func (p place) administers(ctx context.Context, what, query string) ([]byte, error) {
	ctx, stop := context.WithTimeout(ctx, askWithin)
	defer stop()
	client, done := transport.FetchClient(p.env, p.server, p.roots, p.agent())
	defer done()
	at := p.server.String() + adminPath + what
	if query != "" {
		at += "?" + query
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, at, nil)
	if err != nil {
		return nil, err
	}
	empty := sha256.Sum256(nil)
	digest := hex.EncodeToString(empty[:])
	req.Header.Set("X-Amz-Content-Sha256", digest)
	if err := v4.NewSigner().SignHTTP(ctx, p.who, req, digest, "s3", p.region, time.Now()); err != nil {
		return nil, err
	}
	resp, err := client.Do(req)
	if err != nil {
		if of := (*url.Error)(nil); errors.As(err, &of) {
			err = of.Err
		}
		return nil, err
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(io.LimitReader(resp.Body, mostSetting+1))
	switch {
	case err != nil:
		return nil, err
	case resp.StatusCode == http.StatusForbidden || resp.StatusCode == http.StatusUnauthorized:
		return nil, fmt.Errorf("%w: it does not let %s administer it (%d)", steps.ErrDenied, p.as, resp.StatusCode)
	case resp.StatusCode/100 == 5:
		return nil, fmt.Errorf("it answered %d: it is starting, or something before it fails; read again", resp.StatusCode)
	case resp.StatusCode != http.StatusOK:
		return nil, fmt.Errorf("it answered %d: it may be no MinIO", resp.StatusCode)
	case len(raw) > mostSetting:
		return nil, errors.New("its answer has more than 1 MiB")
	}
	return raw, nil
}

// parseSinks reads settings as mc admin config get --env prints them: KEY[:NAME] and name=value words in each line, and before it what the
// environment of the server sets of it, as # MINIO_KEY_SETTING[_NAME]=value.
func parseSinks(text string) ([]sink, error) {
	fixed := map[string]map[string]string{}
	by := map[string]sink{}
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if env, is := strings.CutPrefix(line, "# MINIO_AUDIT_WEBHOOK_"); is {
			setting, value, _ := strings.Cut(env, "=")
			for _, of := range []string{"ENABLE", "ENDPOINT"} {
				if name, is := strings.CutPrefix(setting, of); is && (name == "" || name[0] == '_') {
					name = strings.TrimPrefix(name, "_")
					if fixed[name] == nil {
						fixed[name] = map[string]string{}
					}
					fixed[name][of] = value
				}
			}
			continue
		}
		if line == "" || line[0] == '#' {
			continue
		}
		key, rest, _ := strings.Cut(line, " ")
		key, name, _ := strings.Cut(key, ":")
		if key != auditKey {
			return nil, fmt.Errorf("settings of %q, and %s was asked for", steps.Clip(key, 100), auditKey)
		}
		words, err := settingsOf(rest)
		if err != nil {
			return nil, fmt.Errorf("settings of %s: %w", line[:min(len(line), 40)], err)
		}
		s := sink{name: name, endpoint: words["endpoint"]}
		s.on = s.endpoint != "" && words["enable"] != "off"
		by[name] = s
	}
	for name, of := range fixed {
		s := by[name]
		s.name, s.fixed = name, true
		if at, is := of["ENDPOINT"]; is {
			s.endpoint = at
		}
		s.on = s.endpoint != "" && of["ENABLE"] != "off"
		by[name] = s
	}
	var out []sink
	for _, name := range slices.Sorted(maps.Keys(by)) {
		out = append(out, by[name])
	}
	return out, nil
}

// settingsOf reads name=value words. A value with blanks stands between quotes.
func settingsOf(text string) (map[string]string, error) {
	out := map[string]string{}
	for text = strings.TrimSpace(text); text != ""; text = strings.TrimSpace(text) {
		name, rest, found := strings.Cut(text, "=")
		if !found || strings.ContainsAny(name, " \t\"") {
			return nil, errors.New("a word is no name=value")
		}
		end := strings.IndexAny(rest, " \t")
		if strings.HasPrefix(rest, `"`) {
			close := strings.IndexByte(rest[1:], '"')
			if close < 0 {
				return nil, errors.New("a quote is open")
			}
			out[name], text = rest[1:1+close], rest[close+2:]
			continue
		}
		if end < 0 {
			end = len(rest)
		}
		out[name], text = rest[:end], rest[end:]
	}
	return out, nil
}
