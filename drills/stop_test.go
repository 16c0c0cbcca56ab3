package drills_test

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"handrail/drills"
)

// gone waits until the namespace is, which a finalizer would keep for ever.
func gone(t *testing.T, o drills.Options, name string) {
	t.Helper()
	until(t, "namespace "+name+" is gone", func() bool {
		return ask(t, o.Lab.Kubeconfig(), "/api/v1/namespaces/"+name, nil) == http.StatusNotFound
	})
}

// TestStopLeavesNoNamespaceHanging stops a drill whose objects carry finalizers
// that no controller will ever take off, one of them in deletion.
func TestStopLeavesNoNamespaceHanging(t *testing.T) {
	t.Parallel()
	// Flux puts its finalizer on a source and a Kustomization, and its controllers end with the drill.
	for _, tc := range []struct{ drill, variant string }{{"orphan-hook", "terminating"}, {"hand-edit", "flux"}} {
		t.Run(tc.drill, func(t *testing.T) {
			t.Parallel()
			o, _ := world(t)
			r, err := drills.Start(t.Context(), o, scene(t, tc.drill, tc.variant))
			if err != nil {
				t.Fatal(err)
			}
			k := keptOf(t, o, r.ID())
			if len(k.Held) != 2 {
				t.Errorf("drill.json knows of %d objects with finalizers, want 2: %+v", len(k.Held), k.Held)
			}
			stop(t, o, r)
			gone(t, o, k.Namespace.Name)
		})
	}
}

// TestStopAfterAKill stops, as another process does, a drill that is in the
// middle of its injection and will never come to its end.
func TestStopAfterAKill(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ name, variant, at string }{
		{"before the objects are made", "", "creating objects: 14"},
		{"when they are made", "terminating", "deleting jobs/"},
		{"when a controller comes up", "owner-alive", "starting deployment"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			o, _ := world(t)
			reached, killed := make(chan struct{}), make(chan struct{})
			dying := o
			dying.Progress = func(text string) {
				if strings.HasPrefix(text, tc.at) {
					close(reached)
					<-killed // nothing is done from here on
				}
			}
			ctx, cancel := context.WithCancel(t.Context())
			ended := make(chan error, 1)
			go func() {
				_, err := drills.Start(ctx, dying, scene(t, "orphan-hook", tc.variant))
				ended <- err
			}()
			select {
			case <-reached:
			case err := <-ended:
				t.Fatalf("Start() = %v before %q", err, tc.at)
			}
			k := keptOf(t, o, "orphan-hook")
			if err := drills.Stop(t.Context(), o, "orphan-hook"); err != nil {
				t.Error(err)
			}
			cancel()
			close(killed)
			if err := <-ended; err == nil {
				t.Error("Start() came to its end")
			}
			gone(t, o, k.Namespace.Name)
			if _, err := os.Stat(filepath.Join(o.State, "drills", "orphan-hook")); !os.IsNotExist(err) {
				t.Errorf("something is left of the drill: %v", err)
			}
		})
	}
}
