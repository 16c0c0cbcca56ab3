package cli

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	yamlv3 "gopkg.in/yaml.v3"
)

// TestReleaseIsWhatMakeChecks: goreleaser builds the targets of `make release-check`, in the
// same way, and nothing stamps a path or a version into them but the go command.
func TestReleaseIsWhatMakeChecks(t *testing.T) {
	t.Parallel()
	src, err := os.ReadFile("../.goreleaser.yaml")
	if err != nil {
		t.Fatal(err)
	}
	makefile, err := os.ReadFile("../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	var c struct {
		Builds []struct {
			Env, Flags, Ldflags, Goos, Goarch []string
		}
		Checksum struct{ Algorithm string }
		Sboms    []struct{ Artifacts, Cmd string }
	}
	if err := yamlv3.Unmarshal(src, &c); err != nil || len(c.Builds) != 1 {
		t.Fatalf("%+v, %v", c, err)
	}
	if c.Checksum.Algorithm == "" || len(c.Sboms) == 0 {
		t.Errorf("a release without checksums or SBOM: %+v", c)
	}
	for _, s := range c.Sboms {
		if !regexp.MustCompile(`(?m)^SBOM +:= \S+/`+regexp.QuoteMeta(s.Cmd)+`@v`).Match(makefile) || s.Artifacts != "binary" {
			t.Errorf("make does not write the SBOM as goreleaser does: %+v", s)
		}
	}
	b := c.Builds[0]
	var targets []string
	for _, os := range b.Goos {
		for _, arch := range b.Goarch {
			targets = append(targets, os+"/"+arch)
		}
	}
	said := regexp.MustCompile(`(?m)^TARGETS := (.+)$`).FindSubmatch(makefile)
	if said == nil {
		t.Fatal("the Makefile has no TARGETS")
	}
	checked := strings.Fields(string(said[1]))
	slices.Sort(targets)
	slices.Sort(checked)
	if !slices.Equal(targets, checked) {
		t.Errorf("goreleaser builds %v, make checks %v", targets, checked)
	}
	want := strings.Join(append(append(slices.Clone(b.Env), "go build"), b.Flags...), " ") + " -ldflags '" + strings.Join(b.Ldflags, " ") + "'"
	if !strings.Contains(string(makefile), "RELEASE  = "+want+"\n") {
		t.Errorf("make does not build as goreleaser does: %s", want)
	}
	for _, text := range []string{string(makefile), string(src)} {
		if strings.Contains(text, "-X handrail") {
			t.Error("the linker stamps something into handrail")
		}
	}
}
