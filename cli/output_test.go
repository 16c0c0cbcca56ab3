package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/spf13/cobra"

	"handrail/cli/process"
)

// noJSON are the commands without -o json, each with the reason.
var noJSON = map[string]string{
	"handrail start":          "a dialogue",
	"handrail approve":        "a dialogue, and one line to send back",
	"handrail __realm":        "the stand-in for Keycloak of a drill",
	"handrail __aws":          "the stand-in for AWS of a drill",
	"handrail __act":          "the executor of an act",
	"handrail __bucket":       "the server of a drill's bucket",
	"handrail __store":        "the server of a drill's state",
	"handrail man":            "writes manual pages",
	"handrail bundle sign":    "writes a signature",
	"handrail bundle push":    "copies a bundle",
	"handrail bundle pull":    "copies a bundle",
	"handrail bundle post":    "a dialogue",
	"handrail drill start":    "a dialogue",
	"handrail drill stop":     "ends a drill",
	"handrail runbook docs":   "prints Markdown",
	"handrail runbook graph":  "prints mermaid or dot",
	"handrail runbook new":    "writes a runbook",
	"handrail runbook schema": "prints a JSON Schema",
	"handrail runbook trust":  "a dialogue",
	"handrail lab up":         "starts the lab",
	"handrail lab build":      "builds the lab",
	"handrail lab down":       "ends the lab",
}

func leaves(cmd *cobra.Command) []*cobra.Command {
	var out []*cobra.Command
	if !cmd.HasSubCommands() && cmd.Runnable() || !cmd.HasParent() {
		out = append(out, cmd)
	}
	for _, sub := range cmd.Commands() {
		out = append(out, leaves(sub)...)
	}
	return out
}

// TestEveryReadingCommandPrintsJSON, and docs/output.md names the kind of its document.
func TestEveryReadingCommandPrintsJSON(t *testing.T) {
	t.Parallel()
	doc, err := os.ReadFile("../docs/output.md")
	if err != nil {
		t.Fatal(err)
	}
	root := newRoot(&process.Program{Stdin: strings.NewReader(""), Stdout: io.Discard, Stderr: io.Discard, Now: time.Now})
	kinds, seen := map[string]string{}, map[string]bool{}
	for _, cmd := range leaves(root) {
		path := cmd.CommandPath()
		seen[path] = true
		f := cmd.Flags().Lookup("output")
		has := f != nil && f.Shorthand == "o" && f.Value.Type() == new(process.Output).Type()
		if why, ok := noJSON[path]; ok || !has {
			if ok == has {
				t.Errorf("%s has -o json: %t; the table of those without it says %q", path, has, why)
			}
			continue
		}
		kind := process.KindOf(cmd)
		if other := kinds[kind]; other != "" {
			t.Errorf("%s and %s print documents of one kind, %s", path, other, kind)
		}
		kinds[kind] = path
		if !bytes.Contains(doc, []byte(fmt.Sprintf("| `%s` | `%s` |", path, kind))) {
			t.Errorf("docs/output.md has no row for %s, which prints %s", path, kind)
		}
	}
	for path := range noJSON {
		if !seen[path] {
			t.Errorf("there is no command %s", path)
		}
	}
}

// judgeJSON holds what a script made a command print to the schema of every document:
// version and kind first, and no field twice. What came over time has a document a line.
func judgeJSON(ts *testscript.TestScript, args []string) {
	i := slices.Index(args, "-o")
	if i < 0 || i+1 == len(args) || args[i+1] != "json" {
		return
	}
	out := ts.ReadFile("stdout")
	if out == "" { // it ended before it had anything to say
		return
	}
	dec := json.NewDecoder(strings.NewReader(out))
	for dec.More() {
		var raw json.RawMessage
		ts.Check(dec.Decode(&raw))
		keys, err := keysOf(raw)
		ts.Check(err)
		var doc struct{ APIVersion, Kind string }
		ts.Check(json.Unmarshal(raw, &doc))
		slices.Sort(keys)
		if twice := len(keys) - len(slices.Compact(slices.Clone(keys))); twice > 0 || doc.APIVersion != process.OutputVersion || doc.Kind == "" {
			ts.Fatalf("handrail %v printed no document of %s: keys %v, kind %q", args, process.OutputVersion, keys, doc.Kind)
		}
	}
}

// keysOf are the keys of a JSON object, as they stand there.
func keysOf(raw []byte) ([]string, error) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	if _, err := dec.Token(); err != nil {
		return nil, err
	}
	var out []string
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return nil, err
		}
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return nil, err
		}
		out = append(out, fmt.Sprint(key))
	}
	return out, nil
}
