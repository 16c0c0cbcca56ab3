package settings

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"filippo.io/age"

	"handrail/cli/process"
)

func TestRecipients(t *testing.T) {
	t.Parallel()
	classic, err := age.GenerateX25519Identity()
	if err != nil {
		t.Fatal(err)
	}
	hybrid, err := age.GenerateHybridIdentity()
	if err != nil {
		t.Fatal(err)
	}
	a, pq := classic.Recipient().String(), hybrid.Recipient().String()
	for name, tt := range map[string]struct {
		file string
		want int
		err  string
	}{
		"comments and blanks": {"# the team\n\n  " + a + "  \n", 1, ""},
		"windows lines":       {a + "\r\n", 1, ""},
		"not a key":           {"# one\nssh-ed25519 AAAA\n", 0, "recipients.txt:2: recipient"},
		"an identity":         {classic.String() + "\n", 0, "recipients.txt:1"},
		"two sorts":           {a + "\n" + pq + "\n", 0, "recipients.txt:2"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			home := t.TempDir()
			dir := filepath.Join(home, ".config", "handrail")
			if err := os.MkdirAll(dir, 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, RecipientsFile), []byte(tt.file), 0o600); err != nil {
				t.Fatal(err)
			}
			p := &process.Program{Environ: []string{"HOME=" + home}}
			got, err := Recipients(p)
			if len(got) != tt.want || (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) {
				t.Fatalf("recipients() = %q, %v; want %d and an error with %q", got, err, tt.want, tt.err)
			}
			if err != nil && strings.Contains(err.Error(), "AGE-SECRET-KEY") {
				t.Errorf("a private key is shown: %v", err)
			}
		})
	}
}
