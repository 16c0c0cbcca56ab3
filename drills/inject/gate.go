package inject

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"handrail/drills/stage"
	"handrail/steps/policy/replay"
)

// policiesDir is the clone of the policies, in the directory of the module.
const policiesDir = "policies"

// commitPolicy is the verb policy.commit.
type commitPolicy struct {
	File    string `key:"file,required"`
	Text    string `key:"text,required"`
	Message string `key:"message,required"`
}

func (c commitPolicy) apply(_ context.Context, st *stage.Stage) error {
	st.Say("a commit to the policies: %s", c.Message)
	if !filepath.IsLocal(c.File) || strings.HasPrefix(c.File, ".git") {
		return errors.New("the file leads out of the repository")
	}
	dir := filepath.Join(st.Rec.Dir, policiesDir)
	name := filepath.Join(dir, filepath.FromSlash(c.File))
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return err
	}
	if err := os.WriteFile(name, []byte(c.Text), 0o600); err != nil {
		return err
	}
	return gitRepo(filepath.Join(dir, ".git")).commit(dir, c.Message, st.Rec.Started.Add(-time.Hour))
}

// judge is the verb policy.judge: the gate of the pipeline, by the engine of OPA.
type judge struct {
	Input string `key:"input,required" as:"file name"`
	Out   string `key:"out,required" as:"file name"`
	Comes string `key:"comes,required" oneof:"allow deny"` // a gate that decides otherwise is another drill
}

func (j judge) apply(ctx context.Context, st *stage.Stage) error {
	st.Say("the policy gate judges %s", j.Input)
	self, err := os.Executable()
	if err != nil {
		return err
	}
	input, err := os.ReadFile(filepath.Join(st.Rec.Dir, j.Input))
	if err != nil {
		return err
	}
	files := map[string][]byte{}
	dir := filepath.Join(st.Rec.Dir, policiesDir)
	names, err := filepath.Glob(filepath.Join(dir, "*.rego"))
	if err != nil {
		return err
	}
	for _, name := range names {
		if files[filepath.Base(name)], err = os.ReadFile(name); err != nil {
			return err
		}
	}
	a, err := replay.Judge(ctx, self, replay.Order{Query: "data.main.deny", Now: time.Now(), Input: input, Files: files})
	if err != nil {
		return err
	}
	var out struct {
		Result []struct {
			Expressions []struct{ Value []any }
		}
	}
	if err := json.Unmarshal(a.Output, &out); err != nil || len(out.Result) != 1 || len(out.Result[0].Expressions) != 1 {
		return fmt.Errorf("the gate did not decide: %s%s", a.Error, a.Output)
	}
	if denies := len(out.Result[0].Expressions[0].Value) > 0; denies != (j.Comes == "deny") {
		return fmt.Errorf("the gate decides otherwise: %s", a.Output)
	}
	return os.WriteFile(filepath.Join(st.Rec.Dir, j.Out), a.Output, 0o600)
}
