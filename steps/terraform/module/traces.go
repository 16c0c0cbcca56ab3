package module

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	semver "github.com/hashicorp/go-version"
)

// Both tools, as they call themselves.
const (
	OpenTofu  = "OpenTofu"
	Terraform = "Terraform"
)

// Traces says which of the tools the directory was used with, and what shows it;
// "" where nothing does, or both do.
func (w Workdir) Traces(hosts map[string]int) (product, why string) {
	found := map[string]string{}
	see := func(host, where string) {
		switch host {
		case "registry.opentofu.org":
			found[OpenTofu] = where
		case "registry.terraform.io":
			found[Terraform] = where
		}
	}
	for source := range hosts {
		host, _, _ := strings.Cut(source, "/")
		see(host, "the providers in the state")
	}
	if entries, err := os.ReadDir(filepath.Join(w.Data, "providers")); err == nil {
		for _, e := range entries {
			see(e.Name(), filepath.Join(w.Data, "providers"))
		}
	}
	if raw, err := ReadSmall(filepath.Join(w.Dir, ".terraform.lock.hcl")); err == nil {
		for _, m := range lockedProvider.FindAllSubmatch(raw, -1) {
			see(string(m[1]), ".terraform.lock.hcl")
		}
	}
	if names, err := filepath.Glob(filepath.Join(escapeGlob(w.Dir), "*.tofu")); err == nil && len(names) > 0 {
		found[OpenTofu] = filepath.Base(names[0])
	}
	if len(found) == 0 && w.beforeTofu() {
		found[Terraform] = "required_version, which no version of tofu meets"
	}
	if len(found) != 1 {
		return "", ""
	}
	for product, why = range found {
	}
	return product, why
}

var requiredVersion = regexp.MustCompile(`(?m)^\s*required_version\s*=\s*"([^"]+)"`)

// firstTofu is the first minor version of tofu, 1.6; lastTofu is far off.
const (
	firstTofu = 6
	lastTofu  = 60
)

// beforeTofu reports whether the configuration wants a version that only
// terraform ever had.
func (w Workdir) beforeTofu() bool {
	names, err := filepath.Glob(filepath.Join(escapeGlob(w.Dir), "*.tf"))
	if err != nil {
		return false
	}
	for _, name := range names {
		raw, err := ReadSmall(name)
		if err != nil {
			continue
		}
		for _, m := range requiredVersion.FindAllSubmatch(raw, -1) {
			want, err := semver.NewConstraint(string(m[1]))
			if err == nil && !tofuMeets(want) {
				return true
			}
		}
	}
	return false
}

func tofuMeets(want semver.Constraints) bool {
	for minor := firstTofu; minor <= lastTofu; minor++ {
		for patch := range 30 {
			if v, err := semver.NewVersion(fmt.Sprintf("1.%d.%d", minor, patch)); err == nil && want.Check(v) {
				return true
			}
		}
	}
	// A constraint may ask for more than that.
	v, err := semver.NewVersion("99.0.0")
	return err != nil || want.Check(v)
}

var lockedProvider = regexp.MustCompile(`(?m)^\s*provider\s+"([^"/]+)/`)

func escapeGlob(s string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(s)
}
