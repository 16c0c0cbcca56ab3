package cli

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"handrail/cli/plain"
	"handrail/cli/process"
)

// TestPlainRecordsARepairByHand asks line by line for all of it, and names the reads
// that could show it.
func TestPlainRecordsARepairByHand(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	p := &process.Program{Stdin: strings.NewReader(""), Stdout: io.Discard, Stderr: io.Discard, Now: time.Now,
		Environ: []string{"HOME=" + home, "XDG_STATE_HOME=" + home}}
	s, err := openVault(p, "prod")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	lines := make(chan string)
	var out bytes.Buffer
	d := &plain.Dialogue{S: s, Lines: lines, Out: &out, Now: time.Now}
	ended := make(chan error)
	go func() { ended <- d.Run(t.Context()) }()
	for _, line := range []string{"m", "vault unlock by its console", "", "vault l-1", "grace", "none", "1", "it is open", "q"} {
		lines <- line
	}
	if err := <-ended; !errors.Is(err, plain.ErrLeft) {
		t.Fatal(err)
	}
	hands := s.Snapshot().State.Hands
	if len(hands) != 1 || hands[0].What != "vault unlock by its console" || hands[0].Object != "vault l-1" || hands[0].Person != "grace" || hands[0].Shows != "it is open" {
		t.Fatalf("recorded %+v\n%s", hands, out.String())
	}
	if got := out.String(); !strings.Contains(got, "grace changed vault l-1 by hand") || !strings.Contains(got, "("+hands[0].Proof+")") {
		t.Errorf("it does not say what was recorded:\n%s", got)
	}
}
