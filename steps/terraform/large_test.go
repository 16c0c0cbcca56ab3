package terraform

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"time"

	"handrail/steps"
)

// TestLargeStateIsNotInMemory reads a state of 96 MB twice, as a probe does, and
// looks at the memory while its last part is still on the way. It runs alone, so
// that the memory is its own.
func TestLargeStateIsNotInMemory(t *testing.T) {
	const parts, each = 96, 1 << 20
	filler := strings.Repeat("x", each)
	heap := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := heap()
	var most uint64
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		b := bufio.NewWriter(w)
		_, _ = io.WriteString(b, `{"version":4,"serial":7,"lineage":"l","outputs":{},"resources":[`)
		for i := range parts {
			if i > 0 {
				_, _ = io.WriteString(b, ",")
			}
			_, _ = fmt.Fprintf(b, `{"mode":"managed","type":"t","name":"n%d","instances":[{"attributes":{"input":%q}}]}`, i, filler)
		}
		if now := heap(); now > most {
			most = now
		}
		_, _ = io.WriteString(b, `]}`)
		_ = b.Flush()
	}))
	defer srv.Close()
	dir := t.TempDir()
	writeFile(t, dir, ".terraform/terraform.tfstate", `{"version":3,"backend":{"type":"http","config":{"address":"`+srv.URL+`"}}}`)
	obs, err := probe(t.Context(), steps.Env{Dir: dir, Now: time.Now}, "terraform/state", nil, steps.SecretsOnly(func(string) {}))
	if err != nil || obs.Facts["serial"].Int() != 7 || obs.Facts["resources"].Int() != parts || len(obs.Gaps) > 0 {
		t.Fatalf("state = %v %v, %v", obs.Facts["resources"], obs.Gaps, err)
	}
	if most > before && most-before > 32<<20 {
		t.Errorf("the state took %d MB of memory", (most-before)>>20)
	}
}
