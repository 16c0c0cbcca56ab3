package terraform

import (
	"strings"
	"testing"

	"handrail/steps"
)

// alikeIn are the rows about other states of a gate on terraform_data.a.
func alikeIn(w *world) []steps.KV {
	w.t.Helper()
	var out []steps.KV
	for _, kv := range w.shows("state-rm", addressParams("terraform_data.a")).Shown {
		if strings.Contains(kv.Key, "look-alike") {
			out = append(out, kv)
		}
	}
	return out
}

// TestOtherStates: what another workspace records under the same address is not this.
func TestOtherStates(t *testing.T) {
	t.Parallel()
	for name, world := range map[string]func(t *testing.T) *world{
		"kubernetes": func(t *testing.T) *world { return newWorld(t, "kubernetes", quick) },
		"consul": func(t *testing.T) *world {
			return newBackend(t, "consul", consulBlock(service(t, "consul", t.TempDir()).URL), quick)
		},
		"pg": func(t *testing.T) *world {
			server := service(t, "postgres", t.TempDir())
			return newBackend(t, "pg", pgBlock(t), quick, server.Env...)
		},
		"gcs": func(t *testing.T) *world { w, _ := gcsWorld(t, quick); return w },
		"s3": func(t *testing.T) *world {
			a := newAWS(t)
			return newBackend(t, "s3", a.block("use_lockfile = true"), quick, a.environ...)
		},
		"azurerm": func(t *testing.T) *world {
			a := newAzureWorld(t)
			return newBackend(t, "azurerm", a.block(), quick, a.environ...)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := world(t)
			w.run("apply", "-auto-approve", "-input=false")
			if rows := alikeIn(w); len(rows) != 0 {
				t.Errorf("alone: %v", rows)
			}
			w.run("workspace", "new", "other")
			w.run("apply", "-auto-approve", "-input=false")
			w.run("workspace", "select", "default")
			rows := alikeIn(w)
			if len(rows) != 1 || rows[0].Key != "look-alike" || !strings.HasPrefix(rows[0].Value, "terraform_data.a: the same address, another object (") || !strings.HasSuffix(rows[0].Value, "in the workspace other") {
				t.Errorf("rows = %v", rows)
			}
		})
	}
}
