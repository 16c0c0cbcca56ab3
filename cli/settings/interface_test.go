package settings

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"handrail/cli/process"
	"handrail/tui"
)

// facing is a program whose interface file says text.
func facing(t *testing.T, text string, environ ...string) *process.Program {
	t.Helper()
	home := t.TempDir()
	dir := filepath.Join(home, ".config", "handrail")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if text != "" {
		if err := os.WriteFile(filepath.Join(dir, InterfaceFile), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return &process.Program{Environ: append(environ, "HOME="+home)}
}

const tasteHead = "apiVersion: handrail/v1\nkind: Interface\n"

func TestInterfaceFile(t *testing.T) {
	t.Parallel()
	p := facing(t, tasteHead+`theme: high-contrast
signs: ascii
places:
- label: customers
  pattern: (?i)tenant-
keys:
  note: [N, ctrl+y]
  reload: [f5]
breakGlass: example.com/opened
breakGlassRegister: glass.yaml
`)
	if f, err := Preferences(p); err != nil || f.BreakGlass != "example.com/opened" {
		t.Errorf("breakGlass %q, %v", f.BreakGlass, err)
	} else if f.BreakGlassRegister != filepath.Join(strings.TrimPrefix(p.Environ[0], "HOME="), ".config", "handrail", "glass.yaml") {
		t.Errorf("the register is not beside the file: %q", f.BreakGlassRegister)
	}
	c, err := ScreenConfig(p, tui.Config{})
	if err != nil {
		t.Fatal(err)
	}
	if c.Theme != "high-contrast" || !c.ASCII || len(c.Places) != 1 || !c.Places[0].Pattern.MatchString("Tenant-7") || c.Keys["note"][1] != "ctrl+y" {
		t.Errorf("drawn with %+v", c)
	}
	p.Theme = "mono"
	if c, err := ScreenConfig(p, tui.Config{}); err != nil || c.Theme != "mono" {
		t.Errorf("--theme: %q, %v", c.Theme, err)
	}
	p.Theme = "neon"
	if _, err := ScreenConfig(p, tui.Config{}); err == nil || !strings.Contains(err.Error(), "neon") {
		t.Errorf("--theme neon: %v", err)
	}
	for text, want := range map[string]string{
		tasteHead + "theme: dark-ish\n":                                   "dark-ish",
		tasteHead + "keys:\n  notes: [x]\n":                               `did you mean "note"`,
		tasteHead + "keys:\n  note: [e]\n":                                `"evidence" and "note"`,
		tasteHead + "places:\n- label: x\n":                               "pattern is missing",
		tasteHead + "places:\n- label: x\n  pattern: '('\n":               "missing closing )",
		"theme: mono\n":                                                   "apiVersion is missing",
		tasteHead + "colour: red\n":                                       `no key "colour"`,
		tasteHead + "signs: emoji\n":                                      "emoji",
		tasteHead + "keys: {note: [t], note: [u]}\n":                      "note",
		strings.Repeat("# a long comment\n", 80_000) + tasteHead + "\n\n": "at most",
	} {
		if _, err := ScreenConfig(facing(t, text), tui.Config{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.80q: %v, want %q", text, err, want)
		}
	}
}

// TestSigns: ASCII where the locale says so or the console has no other, Unicode where nothing is said.
func TestSigns(t *testing.T) {
	t.Parallel()
	for environ, want := range map[string]bool{
		"": false, "LANG=C": true, "LANG=de_DE.UTF-8": false, "LC_ALL=C.utf8 LANG=C": false, "LC_ALL=POSIX LANG=C.UTF-8": true,
		"LC_CTYPE=en_US.ISO-8859-1": true, "TERM=linux LANG=C.UTF-8": true, "LC_ALL= LANG=C": true,
	} {
		c, err := ScreenConfig(facing(t, "", strings.Fields(environ)...), tui.Config{})
		if err != nil || c.ASCII != want {
			t.Errorf("%q: ASCII %v, %v", environ, c.ASCII, err)
		}
	}
	if c, err := ScreenConfig(facing(t, tasteHead+"signs: unicode\n", "LANG=C"), tui.Config{}); err != nil || c.ASCII {
		t.Errorf("signs: unicode: ASCII %v, %v", c.ASCII, err)
	}
}
