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

	"handrail/drills/lab"
	"handrail/drills/stage"
	"handrail/steps/fault"
)

// serveAPI is the verb records.api.
type serveAPI struct{ control }

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
	defer func() { _ = out.Close() }() // the program has it
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
	Writes *int `key:"writes" range:"-1 1000" json:"writes,omitempty"`
	Hidden *int `key:"hidden" range:"-1 1000" json:"hidden,omitempty"`
	Rate   *int `key:"rate" range:"-1 1000" json:"rate,omitempty"`

	Late *string `key:"late" as:"id or none" json:"late,omitempty"`
	Busy *string `key:"busy" as:"id or none" json:"busy,omitempty"`
}

func (c control) apply(ctx context.Context, st *stage.Stage) error {
	body, err := json.Marshal(c)
	if err != nil {
		return err
	}
	_, err = st.CallAPI(ctx, http.MethodPatch, "/control", body)
	return err
}

// putEntry is the verb records.put.
type putEntry struct {
	Name  string `key:"name,required" as:"id"`
	Value string `key:"value,required"`
}

func (e putEntry) apply(ctx context.Context, st *stage.Stage) error {
	body, err := json.Marshal(map[string]string{"value": e.Value})
	if err != nil {
		return err
	}
	_, err = st.CallAPI(ctx, http.MethodPut, "/entries/"+e.Name, body)
	return err
}

// deleteEntry is the verb records.delete.
type deleteEntry struct {
	Name string `key:"name,required" as:"id"`
}

func (e deleteEntry) apply(ctx context.Context, st *stage.Stage) error {
	_, err := st.CallAPI(ctx, http.MethodDelete, "/entries/"+e.Name, nil)
	return err
}

// listEntries is the verb records.list: a person saves the list of the API, into a file
// of the module.
type listEntries struct {
	To string `key:"to,required" as:"file name"`
}

func (l listEntries) apply(ctx context.Context, st *stage.Stage) error {
	raw, err := st.CallAPI(ctx, http.MethodGet, "/entries", nil)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(st.Rec.Dir, l.To), raw, 0o600)
}
