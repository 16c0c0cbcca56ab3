package terraform

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"handrail/steps"
)

// spoken is a line of the program as a person wants to read it, "" for none.
func spoken(raw []byte) string {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 {
		return ""
	}
	var e struct {
		Message    string `json:"@message"`
		Type       string `json:"type"`
		Diagnostic struct {
			Summary string `json:"summary"`
			Detail  string `json:"detail"`
			Address string `json:"address"`
		} `json:"diagnostic"`
	}
	if raw[0] != '{' || json.Unmarshal(raw, &e) != nil {
		return string(raw)
	}
	if d := e.Diagnostic; d.Summary != "" {
		return strings.TrimSpace(e.Message + " " + strings.Join(strings.Fields(d.Detail), " ") + " " + d.Address)
	}
	return e.Message
}

// runApply applies the plan at file and returns what its log says.
func (g applyGate) runApply(ctx context.Context, t *applying, file string, out steps.Sink) (log *runLog, exit int, gap string, err error) {
	for _, v := range childSecrets(g.env) {
		out.Secret(v)
	}
	env := append(childEnv(g.env), "TF_WORKSPACE="+t.w.space)
	log = newRunLog()
	var ranErr error
	gap = steps.Keep(out, "log", steps.MediaText, func(w io.Writer) error {
		kept := &faithful{w: w}
		r, err := start(t.w.dir, env, append([]string{t.program.path}, t.args(file)...))
		if err != nil {
			ranErr = fmt.Errorf("not started: %w", err)
			return nil
		}
		out.Line(fmt.Sprintf("process %d applies %s in %s", r.cmd.Process.Pid, t.name, t.w.dir))
		r.log = kept
		r.line = func(raw []byte) {
			log.line(raw)
			if text := spoken(raw); text != "" {
				out.Line(text)
			}
		}
		exit, ranErr = r.follow(ctx, func() {
			out.Line("one interrupt is sent: what runs is waited for, nothing new begins, and no second interrupt follows")
		})
		return kept.err
	})
	log.end()
	return log, exit, gap, ranErr
}

// faithful remembers the first error of a writer.
type faithful struct {
	w   io.Writer
	err error
}

func (f *faithful) Write(p []byte) (int, error) {
	if f.err == nil {
		_, f.err = f.w.Write(p)
	}
	return len(p), nil
}
