package cli

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"handrail/cli/process"
	"handrail/cli/settings"
	"handrail/session/policy"
)

const oneContext = `apiVersion: v1
kind: Config
current-context: %
contexts: [{name: prod, context: {cluster: c}}, {name: dev, context: {cluster: c}}]
clusters: [{name: c, cluster: {server: "https://127.0.0.1:1"}}]
`

// TestEverySessionIsAskedWhetherItIsReadOnly: by the flag, and by the context that is current
// or named; the screens are told the same.
func TestEverySessionIsAskedWhetherItIsReadOnly(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		current, named string
		flag           bool
		by             string
	}{
		"flag":            {current: "dev", flag: true, by: "--readonly"},
		"current context": {current: "prod", by: "context prod"},
		"named context":   {current: "dev", named: "prod", by: "context prod"},
		"another":         {current: "prod", named: "dev"},
		"none of these":   {current: "prod", named: "gone", by: "an unknown context"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := ruledBy(t, map[string]string{"user/" + settings.ConfigFile: "apiVersion: handrail/v1\nkind: Config\nreadOnlyContexts: [prod]\n"})
			p.Stdout, p.Stderr, p.Now, p.ReadOnly, p.Dir = io.Discard, io.Discard, time.Now, tc.flag, t.TempDir()
			p.Reach = process.Reach{Kubeconfig: filepath.Join(p.Home(), "kubeconfig"), Context: tc.named}
			if err := os.WriteFile(p.Kubeconfig, []byte(strings.ReplaceAll(oneContext, "%", tc.current)), 0o600); err != nil {
				t.Fatal(err)
			}
			c, err := newConfig(p)
			if err != nil {
				t.Fatal(err)
			}
			if got := c.ReadOnly(policy.Question{}).By; got != tc.by {
				t.Errorf("the session is closed by %q, want %q", got, tc.by)
			}
			shown := face(p, c)
			if shown.ReadOnly != tc.by {
				t.Errorf("the screens say %q, want %q", shown.ReadOnly, tc.by)
			}
		})
	}
}
