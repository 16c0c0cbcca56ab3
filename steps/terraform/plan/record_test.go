package plan

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"handrail/steps"
	"handrail/steps/stepstest"
)

// TestRecordNamesAPlan by the whole digest, and by nothing that looks like it.
func TestRecordNamesAPlan(t *testing.T) {
	t.Parallel()
	this, other := strings.Repeat("a1", 32), strings.Repeat("b2", 32)
	var many strings.Builder
	for i := range mostNamed + 1 {
		fmt.Fprintf(&many, "%064x\n", i)
	}
	for name, tc := range map[string]struct{ text, names, named string }{
		"JSON":                   {`{"plan":"sha256:` + this + `"}`, "same", this},
		"in capitals":            {"approved " + strings.ToUpper(this) + " by ada", "same", this},
		"beside another":         {other + " " + this, "same", this},
		"another":                {"plan " + other + ", approved", "other", other},
		"a part of a longer one": {this + "0", "none", "none"},
		"a part of a word":       {"x" + this, "none", "none"},
		"its beginning":          {this[:12], "none", "none"},
		"nothing":                {"looks good to me", "none", "none"},
		"too many":               {many.String() + this, "?", "?"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, "record"), []byte(tc.text), 0o600); err != nil {
				t.Fatal(err)
			}
			obs, err := stepstest.Observe(t.Context(), RecordProbe{steps.Env{Dir: dir}}, RecordFacts(), steps.Params{"file": steps.PathOf("record"), "digest": steps.IdentOf(this)}, stepstest.NewSink())
			if err != nil {
				t.Fatal(err)
			}
			got := func(fact string) string {
				if !obs.Facts[fact].Known() {
					return "?"
				}
				return obs.Facts[fact].Text()
			}
			if got("names") != tc.names || got("named") != tc.named || !obs.Facts["found"].Bool() || !obs.Facts["written"].Known() {
				t.Errorf("names %s, named %s, want %s, %s", got("names"), got("named"), tc.names, tc.named)
			}
		})
	}
	obs, err := stepstest.Observe(t.Context(), RecordProbe{steps.Env{Dir: t.TempDir()}}, RecordFacts(), steps.Params{"file": steps.PathOf("record"), "digest": steps.IdentOf(this)}, stepstest.NewSink())
	if err != nil || obs.Facts["found"].Bool() || obs.Facts["names"].Known() {
		t.Errorf("no file: %v, %v", obs.Facts, err)
	}
}
