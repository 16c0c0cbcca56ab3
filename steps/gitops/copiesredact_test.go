package gitops

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"handrail/evidence/redact"
	"handrail/steps"
)

// TestCopiesAreReadable: what is said of algorithms and ids of keys is no secret, and is not taken
// for one where it is kept: a refusal that hides its reason is none.
func TestCopiesAreReadable(t *testing.T) {
	t.Parallel()
	r, err := redact.New(bytes.Repeat([]byte{7}, 32), nil)
	if err != nil {
		t.Fatal(err)
	}
	stale, right := pair{"HS256", "signing-1"}, pair{"RS256", "rot-2026-11"}
	for _, keys := range [][2]string{{"JWT_ALGORITHM", "JWT_KEY_ID"}, {"JWT_ALG", "SIGNING_KEY"}, {"token.signing.alg", "token.signing.key-id"}, {"SCOPE_ALG", "SCOPE_KEY"}} {
		in := steps.Params{"alg_key": steps.StringOf(keys[0]), "kid_key": steps.StringOf(keys[1]), "alg_from": steps.EnumOf("git"), "kid_from": steps.EnumOf("git")}
		for _, git := range []pair{stale, right} {
			facts, obs := readCopies(t, in, &right, copyAs("accounts", right, git, handed(-90)), copyAs("cards", pair{"HS256", ""}, git))
			said := []string{obs.Summary}
			for _, f := range obs.Findings {
				said = append(said, f.Say)
			}
			for _, v := range facts {
				switch {
				case !v.Known():
				case v.Type() == steps.Strings:
					// As a runbook writes a list into a sentence.
					said = append(said, append(v.Strings(), "What was chosen would void every login: "+strings.Join(v.Strings(), ", "))...)
				case v.Type() == steps.Table:
					for key, text := range v.Table() {
						said = append(said, key+": "+text)
					}
				default:
					said = append(said, v.Text())
				}
			}
			// As a journal keeps it, by the name of each fact.
			raw, err := json.Marshal(facts)
			if err != nil {
				t.Fatal(err)
			}
			kept, err := bundleSink{r: r}.Redacted(steps.MediaJSON, raw)
			if err != nil || bytes.Contains(kept, []byte("redacted:")) {
				t.Errorf("%v: %s", err, kept)
			}
			for _, text := range said {
				if kept := r.Text(text); kept != text {
					t.Errorf("%q is kept as %q", text, kept)
				}
			}
		}
	}
}
