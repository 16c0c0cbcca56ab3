package inject

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"

	"gopkg.in/yaml.v3"

	"handrail/drills/lab"
	"handrail/drills/stage"
	"handrail/steps/fault"
)

// serveAPI is the verb records.api.
type serveAPI struct{ control }

func readAPI(p Parser, n *yaml.Node) action { return serveAPI{p.control(n, "records.api")} }

// apply starts the API in a session of its own, as a service that is not the
// trainee's, and mirrors the provider.
func (a serveAPI) apply(ctx context.Context, st *stage.Stage) error {
	st.Say("starting the API of the provider; it is built the first time")
	program, err := st.Provider(ctx)
	if err != nil {
		return err
	}
	if _, err := lab.Mirror(st.Mirror(), program); err != nil {
		return err
	}
	if err := os.MkdirAll(st.APIDir(), 0o700); err != nil {
		return err
	}
	if _, _, err := lab.RecordsTokens(st.APIDir()); err != nil {
		return err
	}
	out, err := os.OpenFile(filepath.Join(st.APIDir(), "api.log"), os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	defer out.Close()
	// Not bound to ctx: it goes on when the drill has started.
	cmd := exec.Command(program, "api", "--dir", st.APIDir())
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = st.APIDir(), append(st.PlainEnviron(), "HOME="+st.Home, stage.Marker+st.Rec.Nonce), out, out
	stage.Detach(cmd)
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("starting the API: %w", err)
	}
	ended := make(chan error, 1)
	go func() {
		defer fault.To(func(err error) { ended <- err })
		ended <- cmd.Wait() // reaps it; ends with the API, which Stop ends
	}()
	if err := st.Wait(ctx, "the API does not listen", func() (bool, error) {
		select {
		case err := <-ended:
			raw, _ := os.ReadFile(out.Name())
			return false, fmt.Errorf("the API ended at once: %w: %s", err, stage.Tail(raw))
		default:
		}
		raw, err := os.ReadFile(filepath.Join(st.APIDir(), "address"))
		if errors.Is(err, fs.ErrNotExist) {
			return false, nil
		}
		st.Rec.API = "http://" + string(raw)
		return err == nil, err
	}); err != nil {
		return err
	}
	st.Rec.Processes = append(st.Rec.Processes, stage.Process{PID: cmd.Process.Pid, Start: stage.StartMark(cmd.Process.Pid)})
	if err := st.Save(); err != nil {
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

func readControl(p Parser, n *yaml.Node) action { return p.control(n, "records.control") }

func (p Parser) control(n *yaml.Node, verb string) control {
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
				name = p.Form(v, key, IDForm)
			}
			*to = &name
		}
	}
	return c
}

func (c control) apply(ctx context.Context, st *stage.Stage) error {
	body, err := json.Marshal(c)
	if err != nil {
		return err
	}
	_, err = st.CallAPI(ctx, http.MethodPatch, "/control", body)
	return err
}

// touch is the verb records.put or records.delete.
type touch struct{ method, name, value string }

func readEntry(method string) func(p Parser, n *yaml.Node) action {
	return func(p Parser, n *yaml.Node) action {
		keys := []string{"name"}
		if method == http.MethodPut {
			keys = append(keys, "value")
		}
		f := p.Fields(n, "records", keys...)
		t := touch{method: method, name: p.Form(p.Need(n, f, "name"), "name", IDForm)}
		if method == http.MethodPut {
			t.value = p.Text(p.Need(n, f, "value"), "value")
		}
		return t
	}
}

func (t touch) apply(ctx context.Context, st *stage.Stage) error {
	var body []byte
	if t.method == http.MethodPut {
		var err error
		if body, err = json.Marshal(map[string]string{"value": t.value}); err != nil {
			return err
		}
	}
	_, err := st.CallAPI(ctx, t.method, "/entries/"+t.name, body)
	return err
}
