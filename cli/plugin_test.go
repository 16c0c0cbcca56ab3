package cli

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"handrail/steps"
)

// TestTokensOfPluginsAreTold: the two questions that the command line asks by
// itself name what they authenticated with, too.
func TestTokensOfPluginsAreTold(t *testing.T) {
	t.Parallel()
	b := newBadge(t, "")
	answer, err := os.ReadFile(filepath.Join(b.home, "answer.json"))
	if err != nil {
		t.Fatal(err)
	}
	var said struct{ Status struct{ Token string } }
	if err := json.Unmarshal(answer, &said); err != nil {
		t.Fatal(err)
	}
	script := fmt.Sprintf("#!/bin/sh\ncat %s/answer.json\n", b.home)
	if err := os.WriteFile(filepath.Join(b.home, "plugin"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	c, err := clusterOf(steps.Env{Kubeconfig: filepath.Join(b.home, "kubeconfig"), Home: b.home, Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	told := make(chan string, 100)
	who, err := c.whoami(steps.WithSecret(t.Context(), func(v string) { told <- v }))
	if err != nil || who.Name != b.user {
		t.Fatalf("whoami() = %+v, %v", who, err)
	}
	close(told)
	var got []string
	for v := range told {
		got = append(got, v)
	}
	if said.Status.Token == "" || !slices.Contains(got, said.Status.Token) {
		t.Errorf("told %d values, none of them the token", len(got))
	}
}
