package tfplan

import (
	"archive/zip"
	"bytes"
	"errors"
	"runtime"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
)

func message(parts ...[]byte) []byte { return bytes.Join(parts, nil) }

func text(num protowire.Number, s string) []byte {
	return protowire.AppendString(protowire.AppendTag(nil, num, protowire.BytesType), s)
}

func number(num protowire.Number, n uint64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(nil, num, protowire.VarintType), n)
}

func archive(t testing.TB, parts map[string]string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for name, body := range parts {
		w, err := z.Create(name)
		if err == nil {
			_, err = w.Write([]byte(body))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func openSaved(in []byte) (*Saved, error) { return OpenSaved(bytes.NewReader(in), int64(len(in))) }

func instance(address string, act, reason uint64, more ...[]byte) []byte {
	body := message(append([][]byte{text(13, address), text(8, "p"), text(9, string(number(1, act))), number(12, reason)}, more...)...)
	return text(3, string(body))
}

func TestSaved(t *testing.T) {
	t.Parallel()
	plan := message(number(1, 3), text(14, "1.12.6"), text(13, string(message(text(1, "s3"), text(3, "prod")))), text(2, string(text(1, "region"))),
		instance("t.a", 6, 3, text(11, string(text(1, string(text(1, "name")))))), instance("t.b", 1, 0), instance("data.t.c", 2, 10), instance("t.d", 99, 77), instance("t.e", 0, 0),
		text(21, "2026-01-01T00:00:00Z"), number(17, 1))
	s, err := openSaved(archive(t, map[string]string{"tfplan": string(plan), "tfstate": "{}", "tfconfig/modules.json": `[{"Key":"","Dir":"."},{"Key":"n","Dir":"mod"},{"Key":"out","Dir":"../x"}]`,
		"tfconfig/m-/main.tf": "a", "tfconfig/m-n/sub.tf": "b", "tfconfig/m-out/no.tf": "c", ".terraform.lock.hcl": "lock"}))
	if err != nil {
		t.Fatal(err)
	}
	d := s.Doc
	if s.Backend != "s3" || s.Workspace != "prod" || s.Mode != "destroy" || s.Created == "" || strings.Join(s.Variables, "") != "region" || string(s.LockFile) != "lock" || len(s.Skipped) != 1 {
		t.Errorf("saved = %+v", s)
	}
	if _, ok := s.Files["mod/sub.tf"]; !ok || len(s.Files) != 2 {
		t.Errorf("files = %v", s.Files)
	}
	if d.Add() != 2 || d.Destroyed() != 1 || d.Newer == "" || d.Changes[0].Forced[0] != "name" || d.Changes[0].Reason != "replace_because_cannot_update" || d.Changes[2].Mode != "data" || d.Changes[3].Act != Strange {
		t.Errorf("plan = %+v", d)
	}
}

func TestSavedThatCannotBeRead(t *testing.T) {
	t.Parallel()
	for name, in := range map[string][]byte{"empty": nil, "text": []byte("hello"), "json": []byte(planOf()), "encrypted": []byte(`{"meta":{},"encrypted_data":"x"}`), "no plan": archive(t, map[string]string{"x": "y"}), "cut": archive(t, map[string]string{"tfplan": "x"})[:30]} {
		if _, err := openSaved(in); !errors.Is(err, ErrNotSaved) {
			t.Errorf("%s: %v", name, err)
		}
	}
	s, err := openSaved(archive(t, map[string]string{"tfplan": string(message(number(1, 4), instance("t.a", 1, 0))), "tfconfig/modules.json": "[{]"}))
	if err != nil || !strings.Contains(s.Doc.Newer, "format 4") || len(s.Skipped) != 1 {
		t.Errorf("newer format = %+v, %v", s, err)
	}
	if _, err := s.State(false); err == nil {
		t.Error("a state that is not there is opened")
	}
	if s, err = openSaved(archive(t, map[string]string{"tfplan": "\x1a\xff"})); err != nil || s.Doc.Whole {
		t.Errorf("damaged plan = %+v, %v", s, err)
	}
}

func FuzzSaved(f *testing.F) {
	f.Add([]byte("\x08\x03"), []byte(`[{"Key":"","Dir":"."}]`))
	f.Add(instance("t.a", 6, 3, text(11, "x")), []byte(`[]`))
	f.Fuzz(func(t *testing.T, plan, modules []byte) {
		s, err := openSaved(archive(t, map[string]string{"tfplan": string(plan), "tfconfig/modules.json": string(modules), "tfconfig/m-/a.tf": "x", "tfstate": string(plan)}))
		if err != nil || s.Doc.Whole == (s.Doc.Broken != "") {
			t.Fatalf("OpenSaved() = %+v, %v", s, err)
		}
		for name := range s.Files {
			if strings.HasPrefix(name, "..") || strings.HasPrefix(name, "/") {
				t.Fatalf("a file outside: %q", name)
			}
		}
		_ = s.Doc.ActionsDigest()
	})
}

func FuzzOpenSaved(f *testing.F) {
	f.Add(archive(f, map[string]string{"tfplan": "\x08\x03"}))
	f.Fuzz(func(t *testing.T, in []byte) {
		if s, err := openSaved(in); err == nil && s.Doc == nil {
			t.Fatal("no plan and no error")
		}
	})
}

// TestSavedPlanIsNoBomb: a small file takes little memory, whatever it unpacks to
// and however many parts it claims.
func TestSavedPlanIsNoBomb(t *testing.T) {
	big := strings.Repeat("\x00", 32<<20)
	names := strings.Repeat(string(text(5, strings.Repeat("t", 60))), 1<<18)
	claims := archive(t, map[string]string{"tfplan": "\x08\x03"})
	claims[len(claims)-zipEndLen+8], claims[len(claims)-zipEndLen+9] = 0xff, 0xff
	claims[len(claims)-zipEndLen+10], claims[len(claims)-zipEndLen+11] = 0xff, 0xff
	for _, tc := range []struct {
		name string
		in   []byte
		says string // "" for one that is refused
	}{
		{"one change of 32 MB", archive(t, map[string]string{"tfplan": string(message(number(1, 3), text(3, big)))}), "were not read"},
		{"260,000 targets", archive(t, map[string]string{"tfplan": string(message(number(1, 3), []byte(names)))}), "not all of them are kept"},
		{"a list of parts that is larger than the file", claims, ""},
		{"nothing but zeros", archive(t, map[string]string{"tfplan": big}), "damaged"},
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		s, err := openSaved(tc.in)
		runtime.ReadMemStats(&after)
		if took := after.TotalAlloc - before.TotalAlloc; took > 64<<20 {
			t.Errorf("%s: %d MB were taken", tc.name, took>>20)
		}
		switch {
		case tc.says == "":
			if !errors.Is(err, ErrNotSaved) {
				t.Errorf("%s: %v", tc.name, err)
			}
		case err != nil:
			t.Errorf("%s: %v", tc.name, err)
		case !strings.Contains(s.Doc.Newer+s.Doc.Broken, tc.says):
			t.Errorf("%s: %+v", tc.name, s.Doc)
		}
	}
}

// TestDeferredChangesAreSaid: what a plan leaves for a later one is counted and
// named, in both forms of a plan.
func TestDeferredChangesAreSaid(t *testing.T) {
	t.Parallel()
	deferred := text(27, string(message(text(1, string(number(1, 2))), text(2, string(text(13, "t.later"))))))
	s, err := openSaved(archive(t, map[string]string{"tfplan": string(message(number(1, 3), deferred))}))
	if err != nil || s.Doc.Deferred != 1 || strings.Join(s.Doc.Later, "") != "t.later" {
		t.Errorf("saved plan = %+v, %v", s.Doc, err)
	}
	d, err := ReadJSON(strings.NewReader(`{"format_version":"1.2","planned_values":{},"deferred_changes":[{"reason":"x","resource_change":{"mode":"managed","address":"t.later"}},{"reason":"y"}]}`), nil)
	if err != nil || d.Deferred != 2 || strings.Join(d.Later, "") != "t.later" {
		t.Errorf("plan in JSON = %+v, %v", d, err)
	}
}
