package cli

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"handrail/cli/process"
	"handrail/triage"
)

// racedInTheDialogue is a person who types the phrase of a gate whose object was
// made anew since the preview. The drill does that beside the dialogue, when it
// sees the gate in the journal.
func racedInTheDialogue(t *testing.T, p *practice) {
	p.stops("orphan-hook")
	p.run(process.ExitOpen, "\nq\n", "drill", "start", "orphan-hook", "--variant", "recreated", "--plain")
	src, err := os.ReadFile("../drills/library/orphan-hook.answers.yaml")
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "answers.yaml")
	if err := os.WriteFile(file, src, 0o600); err != nil {
		t.Fatal(err)
	}
	drop(t, file, "gates:", "  strip:", "  remove:") // up to the gate, which is left to the person
	p.run(process.ExitOpen, "", "resume", "--answers", file)

	cmd := p.command("resume", "--plain")
	keys, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	var said bytes.Buffer // to be read after ended
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = cmd.Wait() // the code is asked of ProcessState
	}()
	enter := func(line string) {
		if _, err := io.WriteString(keys, line+"\n"); err != nil {
			t.Error(err)
		}
	}
	var drill struct {
		Namespace struct{ Name string }
		Later     map[string]string
	}
	enter("") // the preview is what comes next
	over := func() string { return "it ended" }
	p.until("the gate", ended, over, func(j []byte) bool { return bytes.Contains(j, []byte(`"type":"gate.shown"`)) })
	p.waits("the race", ended, over, func() bool {
		raw, err := os.ReadFile(filepath.Join(p.state, "handrail/drills/orphan-hook/drill.json"))
		return err == nil && json.Unmarshal(raw, &drill) == nil && drill.Later["strip"] == "done"
	})
	enter("patch job/" + drill.Namespace.Name + "/tariffs-schema-step-7xq4m")
	enter("q")
	<-ended
	st := p.folded(p.bundle())
	g := st.Gates["stuck-finalizer/strip"]
	if cmd.ProcessState.ExitCode() != process.ExitOpen || g.Phase != triage.GateIdle || !g.WasRefused || len(g.Moved) == 0 || !strings.HasPrefix(g.Moved[0], "UID: ") {
		t.Errorf("it ended with %d, and the gate is %+v:\n%s", cmd.ProcessState.ExitCode(), g, said.String())
	}
	if !strings.Contains(said.String(), "the target moved") {
		t.Errorf("the person was not told:\n%s", said.String())
	}
	p.sound(p.bundle())
}
