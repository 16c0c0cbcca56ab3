package gitops

import (
	"bytes"
	"encoding/base64"
	"io"
	"strings"
	"testing"

	"handrail/evidence/redact"
	"handrail/steps"
	"handrail/steps/gitops/manifests"
)

// bundleSink redacts as a bundle does.
type bundleSink struct {
	steps.SecretsOnly
	r *redact.Redactor
}

var _ steps.RedactingSink = bundleSink{}

func (s bundleSink) Redacted(media string, raw []byte) ([]byte, error) {
	var out bytes.Buffer
	a := s.r.Artifact(media, &out)
	if _, err := a.Write(raw); err != nil {
		return nil, err
	}
	if _, err := a.Close(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

func (bundleSink) Artifact(string, string) io.WriteCloser {
	return steps.SecretsOnly(nil).Artifact("", "")
}

// TestSecretsAreTokens: values of a Secret are compared and never said, however they are
// written; equal values are equal.
func TestSecretsAreTokens(t *testing.T) {
	t.Parallel()
	r, err := redact.New(bytes.Repeat([]byte{7}, 32), nil)
	if err != nil {
		t.Fatal(err)
	}
	sink := bundleSink{r: r}
	coded := base64.StdEncoding.EncodeToString
	const git, other = "the value in Git 81723", "the value of a hand 55119"
	side := func(field, value string) map[string]any {
		o, err := manifests.Hidden(objectOf(t, `{"apiVersion":"v1","kind":"Secret","metadata":{"name":"s"},"`+field+`":{"p":"`+value+`"}}`), sink)
		if err != nil {
			t.Fatal(err)
		}
		return o
	}
	s := side3{name: "secret/s", desired: side("stringData", git), recorded: side("data", coded([]byte(git))), actual: side("data", coded([]byte(git)))}
	if lines := s.lines(); len(lines) > 0 {
		t.Errorf("equal values differ: %v", lines)
	}
	s.actual = side("data", coded([]byte(other)))
	lines := s.lines()
	if len(lines) != 1 || lines[0].at != "data.p" || lines[0].moved != movedLive {
		t.Fatalf("%v", lines)
	}
	said := lines[0].String() + lines[0].desired + lines[0].recorded + lines[0].actual
	if !strings.Contains(said, "live \"<redacted:") {
		t.Errorf("no token is said: %s", said)
	}
	var ch changes
	said += ch.told(&s, lines, side("stringData", git), "")
	for _, value := range []string{git, other} {
		if strings.Contains(said, value) || strings.Contains(said, coded([]byte(value))) {
			t.Errorf("a value is said: %s", said)
		}
	}
	if _, err := manifests.Hidden(objectOf(t, `{"apiVersion":"v1","kind":"Secret","data":{"p":"eA=="}}`), steps.SecretsOnly(nil)); err == nil {
		t.Error("a Secret is compared where nothing hides its values")
	}
}
