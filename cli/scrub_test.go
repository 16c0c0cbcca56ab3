package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"handrail/cli/process"
	"handrail/cli/settings"
)

// TestWhatIsSaidHoldsNoSecret plants a known secret and one of a known form in each thing that handrail says
// itself.
func TestWhatIsSaidHoldsNoSecret(t *testing.T) {
	t.Parallel()
	const known, formed = "correct-horse-battery-staple", "ghp_16C7e42F292c6912E7710c838347Ae178B4a"
	for name, say := range map[string]func(w io.Writer, secret string){
		"error": func(w io.Writer, s string) {
			process.Tell(w, fmt.Errorf("dialling with %s: %w", s, errors.New("refused")))
		},
		"hint": func(w io.Writer, s string) {
			process.Tell(w, process.Hint(errors.New("refused"), "run it with "+s))
		},
		"argument": func(w io.Writer, s string) {
			process.Tell(w, process.Usage("see --help", "unknown flag: --x=%s", s))
		},
		"progress": func(w io.Writer, s string) { fmt.Fprintf(talk{w}, "probing %s\n", s) },
		"crash":    func(w io.Writer, s string) { process.Crashed(w, "nil map of "+s) },
	} {
		for _, secret := range []string{known, formed} {
			var out bytes.Buffer
			p := &process.Program{Environ: []string{"HOME=" + t.TempDir(), "DEPLOY_TOKEN=" + known, "KUBECONFIG=/dev/null"}}
			say(settings.Scrub(p, &out), secret)
			if got := out.String(); strings.Contains(got, secret[4:16]) || !strings.Contains(got, "<redacted:") {
				t.Errorf("%s says %q", name, got)
			}
		}
	}
	// What a session learns on its way is known from then on.
	var late bytes.Buffer
	lp := &process.Program{Environ: []string{"HOME=" + t.TempDir(), "KUBECONFIG=/dev/null"}}
	lp.Stderr = settings.Scrub(lp, &late)
	lp.Learn(known)
	fmt.Fprintln(lp.Stderr, "dialling with "+known)
	if got := late.String(); strings.Contains(got, known[4:16]) || !strings.Contains(got, "<redacted:") {
		t.Errorf("after it was learned: %q", got)
	}
	// Tokens of a bundle are not taken for forged ones.
	var out bytes.Buffer
	p := &process.Program{Environ: []string{"HOME=" + t.TempDir(), "KUBECONFIG=/dev/null"}}
	fmt.Fprintln(settings.Scrub(p, &out), "sent <redacted:known:0123456789abcdef>")
	if got := out.String(); got != "sent <redacted:known:0123456789abcdef>\n" {
		t.Errorf("a token of a bundle becomes %q", got)
	}
}
