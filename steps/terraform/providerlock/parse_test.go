package providerlock

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const lock = `# This file is maintained automatically by "tofu init".
provider "lab.example/lab/records" {
  version     = "0.1.3"
  constraints = "~> 0.1.0"
  hashes = [
    "h1:aaaa",
    "zh:bbbb",
  ]
}
`

func TestParseLock(t *testing.T) {
	t.Parallel()
	got, err := ParseLock("l", []byte(lock))
	want := []Provider{{"lab.example/lab/records", "0.1.3", "~> 0.1.0", []string{"h1:aaaa", "zh:bbbb"}}}
	if d := cmp.Diff(want, got); err != nil || d != "" {
		t.Errorf("ParseLock() = %v (-want +got):\n%s", err, d)
	}
	for name, src := range map[string]string{
		"cut":           lock[:len(lock)-5],
		"merge markers": "<<<<<<< HEAD\n" + lock,
		"twice":         lock + lock,
		"no address":    "provider {}\n",
	} {
		if _, err := ParseLock("l", []byte(src)); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestDemands(t *testing.T) {
	t.Parallel()
	got, err := ParseDemands("main.tf", []byte(`terraform {
  required_providers {
    records = { source = "lab.example/lab/records", version = "~> 0.1", configuration_aliases = [records.b] }
    aws     = "~> 5.0"
  }
}`))
	want := []Demand{{"lab.example/lab/records", "records", "~> 0.1", "main.tf:3"}, {"", "aws", "~> 5.0", "main.tf:4"}}
	if d := cmp.Diff(want, got); err != nil || d != "" {
		t.Errorf("ParseDemands() = %v (-want +got):\n%s", err, d)
	}
	for _, tc := range []struct {
		d       Demand
		address string
		want    bool
	}{
		{Demand{Source: "lab.example/lab/records"}, "lab.example/lab/records", true},
		{Demand{Source: "lab/records"}, "lab.example/lab/records", false},
		{Demand{Source: "hashicorp/aws"}, "registry.terraform.io/hashicorp/aws", true},
		{Demand{Name: "aws"}, "registry.opentofu.org/hashicorp/aws", true},
		{Demand{Name: "aws"}, "registry.opentofu.org/other/aws", false},
	} {
		if got := tc.d.Means(tc.address); got != tc.want {
			t.Errorf("%+v means %s: %v", tc.d, tc.address, got)
		}
	}
	for _, tc := range []struct {
		v, c string
		want bool
	}{{"0.1.3", "~> 0.1.0", true}, {"0.2.0", "~> 0.1.0", false}, {"1.0.0", ">= 0.9, < 1.1", true}, {"1.0.0", "", true}, {"1.0.0", "!= 1.0.0", false}} {
		if got, err := Satisfies(tc.v, tc.c); got != tc.want || err != nil {
			t.Errorf("Satisfies(%s, %q) = %v, %v", tc.v, tc.c, got, err)
		}
	}
}

func TestInstallation(t *testing.T) {
	t.Parallel()
	got, _, err := ParseInstallation("rc", []byte("provider_installation {\n  filesystem_mirror {\n    path = \"/m\"\n    include = [\"lab.example/*/*\"]\n  }\n  direct {}\n}\n"))
	want := []Method{{Kind: "filesystem_mirror", Where: "/m", Include: []string{"lab.example/*/*"}}, {Kind: "direct"}}
	if d := cmp.Diff(want, got); err != nil || d != "" {
		t.Errorf("ParseInstallation() = %v (-want +got):\n%s", err, d)
	}
}

// TestAddressesStayInTheMirror: an address of a lock file leads nowhere else.
func TestAddressesStayInTheMirror(t *testing.T) {
	t.Parallel()
	mirror := t.TempDir()
	for _, address := range []string{"../../etc", "a/../..", "/a/b/c", "a/b", "a/b/c/d", "../a/b", "a//b"} {
		if _, _, err := Versions(mirror, address, "linux_amd64"); err == nil {
			t.Errorf("Versions of %q are looked up", address)
		}
	}
	if _, err := Hashes(t.Context(), mirror, "a/b/c", "../../x", "linux_amd64"); err == nil {
		t.Error("a version leads out of the mirror")
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(lock))
	f.Add([]byte("terraform {\n required_providers {\n a = { version = 1 }\n b = null\n }\n}"))
	f.Add([]byte("provider_installation { dev_overrides { } }"))
	f.Fuzz(func(t *testing.T, src []byte) {
		if got, err := ParseLock("l", src); err == nil {
			for _, p := range got {
				if strings.Count(string(src), "provider") == 0 {
					t.Errorf("a provider %q out of nothing", p.Address)
				}
			}
		}
		_, _ = ParseDemands("d", src)
		_, _, _ = ParseInstallation("i", src)
	})
}
