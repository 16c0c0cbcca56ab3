package change

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"handrail/steps"
	"handrail/steps/terraform/runlog"
	"handrail/steps/terraform/tool"
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
func (g ApplyGate) runApply(ctx context.Context, t *applyInput, file string, out steps.Sink) (log *runlog.Log, exit int, gap string, err error) {
	for _, v := range tool.Secrets(g.Env) {
		out.Secret(v)
	}
	env := append(tool.Env(g.Env), "TF_WORKSPACE="+t.w.Space)
	log = runlog.New()
	var ranErr error
	gap = steps.Keep(out, "log", steps.MediaText, func(w io.Writer) error {
		kept := &errWriter{w: w}
		r, err := tool.Start(t.w.Dir, env, append([]string{t.program.Path}, t.args(file)...))
		if err != nil {
			ranErr = fmt.Errorf("not started: %w", err)
			return nil
		}
		out.Line(fmt.Sprintf("process %d applies %s in %s", r.Cmd.Process.Pid, t.name, t.w.Dir))
		r.Log = kept
		r.Line = func(raw []byte) {
			log.Line(raw)
			if text := spoken(raw); text != "" {
				out.Line(text)
			}
		}
		exit, ranErr = r.Follow(ctx, func() {
			out.Line("one interrupt is sent: what runs is waited for, nothing new begins, and no second interrupt follows")
		})
		return kept.err
	})
	log.End()
	return log, exit, gap, ranErr
}

// errWriter remembers the first error of a writer.
type errWriter struct {
	w   io.Writer
	err error
}

func (f *errWriter) Write(p []byte) (int, error) {
	if f.err == nil {
		_, f.err = f.w.Write(p)
	}
	return len(p), nil
}
