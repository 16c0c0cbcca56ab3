//go:build unix

package lab

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestFits asks programs that say this and that.
func TestFits(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ name, script, want, why string }{
		{"tofu", `echo 'OpenTofu v1.10.0'; echo 'on linux_amd64'`, "OpenTofu 1.10.0", ""},
		{"terraform", `echo; echo 'Terraform v1.11.4'; echo 'on linux_amd64'`, "Terraform 1.11.4", ""},
		{"later", `echo 'Terraform v1.20.0-beta2'`, "Terraform 1.20.0-beta2", ""},
		{"without lock files", `echo 'OpenTofu v1.9.9'`, "", "OpenTofu 1.9.9 at "},
		{"old", `echo 'Terraform v0.15.5'`, "", "wants " + FitFor},
		{"unknown future", `echo 'Terraform v2.0.0'`, "", "wants " + FitFor},
		{"another program", `echo 'Consul v1.20.0'`, "", "does not say its version"},
		{"fails", `echo 'Terraform v1.11.4'; exit 1`, "", "does not say its version"},
		{"version manager", `test -n "$TFENV_ROOT" || exit 1; echo 'Terraform v1.11.4'`, "", "where nothing is set up for it"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "terraform")
			if err := os.WriteFile(path, []byte("#!/bin/sh\ntest \"$1\" = version && test \"$PWD\" = \"$HOME\" || exit 2\n"+tc.script+"\n"), 0o700); err != nil {
				t.Fatal(err)
			}
			m, err := Fits(t.Context(), path)
			if tc.why == "" && (err != nil || m.String() != tc.want+" at "+path) {
				t.Errorf("Fits() = %s, %v, want %s", m, err, tc.want)
			}
			if tc.why != "" && (err == nil || !strings.Contains(err.Error(), tc.why) || !strings.Contains(err.Error(), path)) {
				t.Errorf("Fits() = %s, %v, want %q", m, err, tc.why)
			}
		})
	}
}

// TestNeeds: what is built needs no time, and looking builds nothing.
func TestNeeds(t *testing.T) {
	t.Parallel()
	o := Options{Cache: t.TempDir()}
	before, err := Needs(o, "cluster", "tofu", "writers")
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range before {
		if n.Built || (n.About > 0) != (n.Part != "writers") {
			t.Errorf("%+v in an empty cache", n)
		}
	}
	src, err := source("")
	if err != nil {
		t.Fatal(err)
	}
	key, err := Parts()[1].key(src)
	if err != nil {
		t.Fatal(err)
	}
	at := filepath.Join(o.Cache, "bin", key)
	if err := os.MkdirAll(at, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(at, "tofu"), []byte("x"), 0o700); err != nil {
		t.Fatal(err)
	}
	after, err := Needs(o, "cluster", "tofu")
	if err != nil || after[0].Built || !after[1].Built || after[1].About != 0 {
		t.Errorf("Needs() = %+v, %v, want tofu built alone", after, err)
	}
	if _, err := Needs(o, "kubelet"); err == nil {
		t.Error("a program that the lab does not have is needed")
	}
	if left, _ := filepath.Glob(filepath.Join(o.Cache, "bin", "*")); len(left) != 1 {
		t.Errorf("looking made %v", left)
	}
}

// TestBareBuildsNoTofu: a drill without a module waits for the cluster alone, and what is there of
// tofu is known.
func TestBareBuildsNoTofu(t *testing.T) {
	t.Parallel()
	o := Options{Cache: t.TempDir(), Bare: true}
	src, err := source("")
	if err != nil {
		t.Fatal(err)
	}
	place := func(p Part) string {
		key, err := p.key(src)
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(o.Cache, "bin", key, p.Program)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("x"), 0o700); err != nil {
			t.Fatal(err)
		}
		return path
	}
	cluster := place(Parts()[0])
	if got, err := Build(t.Context(), o); err != nil || len(got) != 1 || got["cluster"] != cluster {
		t.Errorf("Build() = %v, %v, want the cluster alone", got, err)
	}
	tofu := place(Parts()[1])
	if got, err := Build(t.Context(), o); err != nil || len(got) != 2 || got["tofu"] != tofu {
		t.Errorf("Build() = %v, %v, want the tofu that is there", got, err)
	}
}
