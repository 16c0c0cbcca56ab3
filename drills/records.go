package drills

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"gopkg.in/yaml.v3"

	"handrail/drills/lab"
	"handrail/steps/fault"
)

// The callers of the API of the bad provider.
const (
	nameRobot    = "robot"
	nameOperator = "operator"
)

// tokenVariable is where the bad provider looks for its credentials.
const tokenVariable = "TF_TOKEN_lab_example"

func (st *stage) apiDir() string { return filepath.Join(st.home, "api") }

// token is the word by which the API knows a caller. It is kept in a file of the
// drill, never in its record.
func (st *stage) token(who string) (string, error) {
	raw, err := os.ReadFile(filepath.Join(st.apiDir(), "tokens"))
	if err != nil {
		return "", fmt.Errorf("tokens of the API: %w", err)
	}
	for line := range strings.Lines(string(raw)) {
		if token, ok := strings.CutPrefix(strings.TrimSpace(line), who+" "); ok {
			return token, nil
		}
	}
	return "", fmt.Errorf("the API of the drill knows no %s", who)
}

// apiEnviron is what the bad provider needs to know, nothing where the drill has
// no API.
func (st *stage) apiEnviron(who string) []string {
	if st.rec.API == "" {
		return nil
	}
	token, err := st.token(who)
	if err != nil {
		return nil // then the API refuses, and says so
	}
	// The name is one that handrail passes on to the tofu of a gate.
	return []string{"RECORDS_API=" + st.rec.API, tokenVariable + "=" + token}
}

// serveAPI is the verb records.api.
type serveAPI struct{ control }

func readAPI(p parser, n *yaml.Node) action { return serveAPI{p.control(n, "records.api")} }

// apply starts the API in a session of its own, as a service that is not the
// trainee's, and mirrors the provider.
func (a serveAPI) apply(ctx context.Context, st *stage) error {
	st.say("starting the API of the provider; it is built the first time")
	program, err := st.provider(ctx)
	if err != nil {
		return err
	}
	if _, err := lab.Mirror(st.mirror(), program); err != nil {
		return err
	}
	if err := os.MkdirAll(st.apiDir(), 0o700); err != nil {
		return err
	}
	if _, _, err := lab.RecordsTokens(st.apiDir()); err != nil {
		return err
	}
	out, err := os.OpenFile(filepath.Join(st.apiDir(), "api.log"), os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	defer out.Close()
	// Not bound to ctx: it goes on when the drill has started.
	cmd := exec.Command(program, "api", "--dir", st.apiDir())
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = st.apiDir(), append(st.plain(), "HOME="+st.home, marker+st.rec.Nonce), out, out
	detach(cmd)
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("starting the API: %w", err)
	}
	ended := make(chan error, 1)
	go func() {
		defer fault.To(func(err error) { ended <- err })
		ended <- cmd.Wait() // reaps it; ends with the API, which Stop ends
	}()
	if err := st.wait(ctx, "the API does not listen", func() (bool, error) {
		select {
		case err := <-ended:
			raw, _ := os.ReadFile(out.Name())
			return false, fmt.Errorf("the API ended at once: %w: %s", err, last(raw))
		default:
		}
		raw, err := os.ReadFile(filepath.Join(st.apiDir(), "address"))
		if errors.Is(err, fs.ErrNotExist) {
			return false, nil
		}
		st.rec.API = "http://" + string(raw)
		return err == nil, err
	}); err != nil {
		return err
	}
	st.rec.Processes = append(st.rec.Processes, process{PID: cmd.Process.Pid, Start: startMark(cmd.Process.Pid)})
	if err := st.save(); err != nil {
		return err
	}
	return a.control.apply(ctx, st)
}

// control is the verb records.control: what is nil stays as it is.
type control struct {
	Writes *int `json:"writes,omitempty"`
	Hidden *int `json:"hidden,omitempty"`
	Rate   *int `json:"rate,omitempty"`

	Late *string `json:"late,omitempty"`
	Busy *string `json:"busy,omitempty"`
}

func readControl(p parser, n *yaml.Node) action { return p.control(n, "records.control") }

func (p parser) control(n *yaml.Node, verb string) control {
	f := p.Fields(n, verb, "writes", "hidden", "rate", "late", "busy")
	c := control{}
	for key, to := range map[string]**int{"writes": &c.Writes, "hidden": &c.Hidden, "rate": &c.Rate} {
		if v := f[key]; v != nil {
			n := p.Number(v, key, -1, 1000)
			*to = &n
		}
	}
	for key, to := range map[string]**string{"late": &c.Late, "busy": &c.Busy} {
		if v := f[key]; v != nil {
			name := v.Value // "" turns it off
			if name != "" {
				name = p.form(v, key, idForm)
			}
			*to = &name
		}
	}
	return c
}

func (c control) apply(ctx context.Context, st *stage) error {
	body, err := json.Marshal(c)
	if err != nil {
		return err
	}
	_, err = st.callAPI(ctx, http.MethodPatch, "/control", body)
	return err
}

// touch is the verb records.put or records.delete.
type touch struct{ method, name, value string }

func readEntry(method string) func(p parser, n *yaml.Node) action {
	return func(p parser, n *yaml.Node) action {
		keys := []string{"name"}
		if method == http.MethodPut {
			keys = append(keys, "value")
		}
		f := p.Fields(n, "records", keys...)
		t := touch{method: method, name: p.form(p.need(n, f, "name"), "name", idForm)}
		if method == http.MethodPut {
			t.value = p.Text(p.need(n, f, "value"), "value")
		}
		return t
	}
}

func (t touch) apply(ctx context.Context, st *stage) error {
	var body []byte
	if t.method == http.MethodPut {
		var err error
		if body, err = json.Marshal(map[string]string{"value": t.value}); err != nil {
			return err
		}
	}
	_, err := st.callAPI(ctx, t.method, "/entries/"+t.name, body)
	return err
}

// callAPI sends one request to the API as robot.
func (st *stage) callAPI(ctx context.Context, method, path string, body []byte) ([]byte, error) {
	if st.rec.API == "" {
		return nil, errors.New("this drill has no API: begin with records.api")
	}
	token, err := st.token(nameRobot)
	if err != nil {
		return nil, err
	}
	return askAPI(ctx, method, st.rec.API+path, token, body)
}

func askAPI(ctx context.Context, method, url, token string, body []byte) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, method, url, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Authorization", "Bearer "+token)
	client := &http.Client{Transport: &http.Transport{Proxy: nil, DisableKeepAlives: true}}
	res, err := client.Do(req)
	if err != nil {
		return nil, fmt.Errorf("asking the API of the drill: %w", err)
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer))
	if err != nil {
		return nil, fmt.Errorf("asking the API of the drill: %w", err)
	}
	if res.StatusCode/100 != 2 {
		return nil, fmt.Errorf("asking the API of the drill: %s %s answered %d: %s", method, pathOf(url), res.StatusCode, last(raw))
	}
	return raw, nil
}

// pathOf is what comes after the host.
func pathOf(url string) string {
	_, rest, _ := strings.Cut(strings.TrimPrefix(url, "http://"), "/")
	return "/" + rest
}
