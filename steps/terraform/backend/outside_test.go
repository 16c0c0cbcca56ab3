package backend

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"handrail/steps"
)

// FuzzBackendAnswers feeds what servers of backends say to the parsers: none may
// panic, and what is no lock must not become one.
func FuzzBackendAnswers(f *testing.F) {
	for _, seed := range []string{
		`{"ID":"11111111-1111-1111-1111-111111111111","Operation":"OperationTypeApply","Who":"a@b","Created":"2026-01-02T03:04:05Z"}`,
		`[{"Session":"11111111-1111-1111-1111-111111111111","ModifyIndex":3,"Value":null}]`, `[]`,
		`{"current-hash":"d41d8cd98f00b204e9800998ecf8427e","chunks":["p/tfstate.x/0"]}`, `{"current-hash":"x","chunks":["secrets"]}`,
		`{"name":"o","generation":"17","size":"3","updated":"2026-01-02T03:04:05Z"}`, `{"items":[{"generation":"1"}],"nextPageToken":"n"}`,
		`{"version":4,"serial":7,"lineage":"l","resources":[]}`, "\x1f\x8b\x08\x00\x00", "eyJJRCI6IngifQ==", "",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		if key, err := parseConsulKey(raw); err == nil && !bytes.Contains(raw, []byte("{")) && key.Session != "" {
			t.Errorf("%q is a session", key.Session)
		}
		if list, chunked, err := parseConsulChunks(raw, "p/"); err == nil && chunked {
			for _, c := range list.Chunks {
				if !strings.HasPrefix(c, "p/tfstate.") {
					t.Errorf("%q is a part", c)
				}
			}
		}
		if o, err := parseGCSObject(raw); err == nil && !generations.MatchString(o.Generation) {
			t.Errorf("%q is a generation", o.Generation)
		}
		if list, _, err := parseGCSList(raw); err == nil {
			for _, o := range list {
				if !generations.MatchString(o.Generation) {
					t.Errorf("%q is a generation", o.Generation)
				}
			}
		}
		if _, info, why := parseAzureLock(string(raw)); (info == nil) != (why != "") {
			t.Errorf("a lock %+v and a reason %q", info, why)
		}
		if h, err := parseHead(bytes.NewReader(raw)); err == nil && h.Lineage == "" {
			t.Error("a state without lineage has a head")
		}
		if body, err := unpacked(io.NopCloser(bytes.NewReader(raw))); err == nil {
			_, _ = io.Copy(io.Discard, io.LimitReader(body, 1<<20))
		}
		var p Part
		if p.describe(raw); !p.held || (p.info == nil) != (p.why != "") {
			t.Errorf("an object that is there is %+v", p)
		}
		if source, err := pgSource(steps.Env{Environ: []string{"PGPASSWORD=it's \\ secret", "PGHOST=h"}}, string(raw)); err == nil && !strings.Contains(source, "host") && !strings.HasPrefix(string(raw), "postgres") {
			t.Errorf("the host is lost in %q", source)
		}
	})
}
