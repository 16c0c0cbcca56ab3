package cluster

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"handrail/steps"
)

func TestPluginsAreLentTheTerminalOnlyToSignIn(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "kubeconfig")
	const text = `apiVersion: v1
kind: Config
current-context: here
clusters: [{name: here, cluster: {server: "https://127.0.0.1:1"}}]
contexts: [{name: here, context: {cluster: here, user: me}}]
users: [{name: me, user: {exec: {apiVersion: client.authentication.k8s.io/v1, command: plugin, interactiveMode: Always}}}]
`
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	a, err := Load(steps.Env{Kubeconfig: file})
	if err != nil {
		t.Fatal(err)
	}
	e := a.Config.ExecProvider
	if !e.StdinUnavailable || e.StdinUnavailableMessage != steps.SignInFirst {
		t.Errorf("Load() lends the terminal: %+v", e)
	}
	failed := errors.New("no")
	if err := a.SignIn(func() error {
		if e.StdinUnavailable {
			t.Error("SignIn() lends nothing")
		}
		return failed
	}); !errors.Is(err, failed) {
		t.Errorf("SignIn() = %v, want %v", err, failed)
	}
	if !e.StdinUnavailable {
		t.Error("SignIn() did not take the terminal back")
	}
}
