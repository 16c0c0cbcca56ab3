package registry

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"oras.land/oras-go/v2/registry/remote/auth"

	"handrail/session/index/depot"
)

func TestPlaces(t *testing.T) {
	t.Parallel()
	for place, want := range map[string]string{
		"oci://registry.example/team/incidents:one-2":                "oci://registry.example/team/incidents one-2",
		"oci://127.0.0.1:5000/r:one":                                 "oci://127.0.0.1:5000/r one",
		"oci://registry.example/team/incidents":                      "",
		"oci://registry.example":                                     "",
		"oci://registry.example/Team:one":                            "",
		"oci://registry.example/../team:one":                         "",
		"oci://registry.example/team:one/two":                        "",
		"oci://registry.example/team:..":                             "",
		"oci://user:password@registry.example/t:one":                 "",
		"oci:///team:one":                                            "",
		"s3://team/one":                                              "",
		"oci://registry.example/t@sha256:" + strings.Repeat("0", 64): "",
	} {
		where, id, err := Bundle(place)
		if got := where + " " + id; want != "" && (err != nil || got != want) || want == "" && !errors.Is(err, depot.ErrPlace) {
			t.Errorf("Bundle(%q) = %q, %v, want %q", place, got, err, want)
		}
		if err != nil && strings.Contains(err.Error(), "password") {
			t.Errorf("Bundle(%q) repeats the password: %v", place, err)
		}
	}
	if _, err := OpenAs("oci://registry.example/team:one", nil); !errors.Is(err, depot.ErrPlace) {
		t.Errorf("Open() of a bundle = %v, want ErrPlace", err)
	}
}

func TestManifestsOfStrangers(t *testing.T) {
	t.Parallel()
	sum := "sha256:" + strings.Repeat("ab", 32)
	good := `{"schemaVersion":2,"artifactType":"` + ArtifactType + `","layers":[{"mediaType":"` + layerType + `","digest":"` + sum + `","size":5}]}`
	if _, size, err := parse([]byte(good)); err != nil || size != 5 {
		t.Fatalf("parse() = %d, %v", size, err)
	}
	for what, change := range map[string][2]string{
		"another type":    {ArtifactType + `","layers`, `application/vnd.oci.image","layers`},
		"another layer":   {layerType, "application/gzip"},
		"no size":         {`"size":5`, `"size":0`},
		"below zero":      {`"size":5`, `"size":-5`},
		"too large":       {`"size":5`, `"size":9223372036854775807`},
		"no digest":       {sum, "sha256:../../etc/passwd"},
		"no layers":       {`"layers":[`, `"else":[`},
		"not JSON":        {`{"schema`, `{{"schema`},
		"size as a text":  {`"size":5`, `"size":"5"`},
		"too many layers": {`"layers":[`, `"layers":[` + strings.Repeat(`{},`, maxLayers)},
	} {
		bad := strings.Replace(good, change[0], change[1], 1)
		if bad == good {
			t.Fatalf("%s changes nothing", what)
		}
		if _, _, err := parse([]byte(bad)); err == nil {
			t.Errorf("%s: taken", what)
		}
	}
}

// A registry on this machine cannot lead us to where everybody can listen in.
func TestLedAstray(t *testing.T) {
	t.Parallel()
	s := httptest.NewServer(http.RedirectHandler("http://192.0.2.1/v2/", http.StatusTemporaryRedirect))
	t.Cleanup(s.Close)
	r, err := OpenAs("oci://"+strings.TrimPrefix(s.URL, "http://")+"/team", auth.StaticCredential("", auth.EmptyCredential))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.List(t.Context()); err == nil || !strings.Contains(err.Error(), `"http://192.0.2.1" is not encrypted`) {
		t.Errorf("List() = %v, want that it is not encrypted", err)
	}
	for host, want := range map[string]bool{"localhost": true, "localhost:5000": true, "127.0.0.1:5000": true, "[::1]:5000": true, "::1": true,
		"registry.example": false, "localhost.example:80": false, "127.0.0.1.example": false, "10.0.0.1": false} {
		if got := loopback(host); got != want {
			t.Errorf("loopback(%q) = %v, want %v", host, got, want)
		}
	}
}
