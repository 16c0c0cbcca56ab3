package process

import (
	"bytes"
	"errors"
	"testing"
)

// TestCalledAsAPluginOfKubectl: the name is what a person types, with and without the ending
// of Windows, and commands that are named in a text follow it.
func TestCalledAsAPluginOfKubectl(t *testing.T) {
	t.Parallel()
	for argv0, want := range map[string]string{
		"handrail": "handrail", "/usr/bin/kubectl-handrail": "kubectl handrail", "kubectl-handrail.EXE": "kubectl handrail",
		"kubectl-other": "handrail", "": "handrail", "bin/handrail-next": "handrail",
	} {
		if got := Called(argv0); got != want {
			t.Errorf("Called(%q) = %q, want %q", argv0, got, want)
		}
	}
	for name, want := range map[string]string{
		"handrail":         "handrail: no handrail.yaml\n  next: see `handrail bundle list`\n",
		"kubectl handrail": "kubectl handrail: no handrail.yaml\n  next: see `kubectl handrail bundle list`\n",
	} {
		var out bytes.Buffer
		Tell(Calling(&out, name), Hint(errors.New("no handrail.yaml"), "see `handrail bundle list`"))
		if out.String() != want {
			t.Errorf("%s says %q, want %q", name, out.String(), want)
		}
	}
}
