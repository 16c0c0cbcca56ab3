package evidence

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"handrail/evidence/jsontree"
)

// bulky is data of an entry that no line holds.
func bulky(say string) map[string]any {
	list := make([]string, 8000)
	for i := range list {
		list[i] = fmt.Sprintf("module.platform.module.tenants[%q].kubernetes_network_policy_v1.allow[%q]", fmt.Sprint("customer-", i), say)
	}
	return map[string]any{"outcome": "ok", "summary": "8000 addresses", "facts": map[string]any{"addresses": map[string]any{"t": "strings", "v": list}}}
}

func appendBulky(t *testing.T, b *Bundle, say string) Entry {
	t.Helper()
	blob := putBlob(t, b, "text/plain", "a log\n")
	e, err := b.Append(t.Context(), Draft{Type: "probe.end", Actor: "robin", Step: "r/s", Data: bulky(say), Blobs: []Blob{blob}})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// Data that is too long for a line stands in a blob, and a reader of the entry gets it whole.
func TestLongData(t *testing.T) {
	if testing.Short() {
		t.Skip("too long for -short")
	}
	t.Parallel()
	keys := t.TempDir()
	b := create(t, testOptions(keys))
	b.Secret("plover-egg-twice")
	r, err := OpenReadOnly(b.Path())
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	f := r.Follow()
	e := appendBulky(t, b, "plover-egg-twice")
	if len(e.Data) < longData || len(e.Blobs) != 2 || e.Blobs[1].Media != mediaData {
		t.Fatalf("%d bytes of data, blobs %+v", len(e.Data), e.Blobs)
	}
	note(t, b, "and on")
	b = reopened(t, b, keys)
	note(t, b, "and on again")
	got, err := entriesOf(t, b.Path())
	if err != nil || !bytes.Equal(got[1].Data, e.Data) || got[1].Hash != e.Hash {
		t.Fatalf("read again it is %d bytes, %v, want the %d that were recorded", len(got[1].Data), err, len(e.Data))
	}
	if err := f.More(func(e Entry) error {
		if e.Seq == 1 && !bytes.Equal(e.Data, got[1].Data) {
			t.Errorf("followed it is %d bytes", len(e.Data))
		}
		return nil
	}); err != nil {
		t.Error(err)
	}
	raw, err := os.ReadFile(filepath.Join(b.Path(), "journal", "000001.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	line := strings.Split(string(raw), "\n")[1]
	if want := `"data":{"outcome":"ok","summary":"8000 addresses","bulk":"` + e.Blobs[1].SHA256 + `"}`; !strings.Contains(line, want) {
		t.Errorf("its line has %d bytes, want %s in it", len(line), want)
	}
	if in := inDir(t, b.Path(), "plover-egg"); in != nil {
		t.Errorf("in clear in %q", in)
	}
	if rep := mustVerify(t, b.Path()); !rep.OK() {
		t.Errorf("Verify = %+v", rep)
	}
}

// What a line says of its data must be what the blob holds, byte for byte, or the journal cannot be read.
func TestLongDataIsHeldToItsLine(t *testing.T) {
	if testing.Short() {
		t.Skip("too long for -short")
	}
	t.Parallel()
	b := create(t, testOptions(""))
	e := appendBulky(t, b, "x")
	aside := e.Blobs[1]
	n, err := jsontree.Parse(e.Data, jsontree.StrictKeys)
	if err != nil {
		t.Fatal(err)
	}
	line := e
	line.Data = shortened(n, aside.SHA256)
	if got, err := heldTo(&line, aside, e.Data); err != nil || !bytes.Equal(got, e.Data) {
		t.Fatalf("as it was written: %v", err)
	}
	of := func(raw []byte) Blob {
		c := aside
		c.SHA256, c.Size = sumHex(raw), int64(len(raw))
		return c
	}
	says := func(data string) Entry {
		c := line
		c.Data = json.RawMessage(data)
		return c
	}
	other := bytes.Replace(e.Data, []byte(`"outcome":"ok"`), []byte(`"outcome":"no"`), 1)
	spaced := append([]byte("{ "), e.Data[1:]...)
	for name, tc := range map[string]struct {
		e    Entry
		b    Blob
		data []byte
	}{
		"other bytes":          {line, aside, other},
		"another outcome":      {says(strings.Replace(string(line.Data), aside.SHA256, sumHex(other), 1)), of(other), other},
		"another form":         {says(strings.Replace(string(line.Data), aside.SHA256, sumHex(spaced), 1)), of(spaced), spaced},
		"no name of the blob":  {says(`{"outcome":"ok","summary":"8000 addresses"}`), aside, e.Data},
		"more than it holds":   {says(strings.Replace(string(line.Data), `"outcome"`, `"green":true,"outcome"`, 1)), aside, e.Data},
		"less than it holds":   {says(`{"bulk":"` + aside.SHA256 + `"}`), aside, e.Data},
		"no object":            {says(`{"bulk":"` + sumHex([]byte("[]")) + `"}`), of([]byte("[]")), []byte("[]")},
		"twice the same key":   {says(`{"bulk":"` + sumHex([]byte(`{"a":1,"a":2}`)) + `"}`), of([]byte(`{"a":1,"a":2}`)), []byte(`{"a":1,"a":2}`)},
		"a size that it lacks": {line, func() Blob { c := aside; c.Size++; return c }(), e.Data},
	} {
		if _, err := heldTo(&tc.e, tc.b, tc.data); !errors.Is(err, ErrCorrupt) {
			t.Errorf("%s: %v, want ErrCorrupt", name, err)
		}
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.Chmod(b.BlobPath(aside.SHA256), 0o600), os.Remove(b.BlobPath(aside.SHA256))); err != nil {
		t.Fatal(err)
	}
	if _, err := entriesOf(t, b.Path()); !errors.Is(err, ErrCorrupt) {
		t.Errorf("without its blob: %v, want ErrCorrupt", err)
	}
	if mustVerify(t, b.Path()).OK() {
		t.Error("without its blob it verifies")
	}
	if _, err := b.compose(Draft{Type: "note", Blobs: []Blob{aside}}); err == nil {
		t.Error("an entry can name data that is not its own")
	}
}

// A short line that names a long blob again and again does not make a reader read without end.
func TestLongDataIsBounded(t *testing.T) {
	if testing.Short() {
		t.Skip("too long for -short")
	}
	t.Parallel()
	w := whole{took: maxWhole}
	e := Entry{Type: "note", Blobs: []Blob{{Media: mediaData, Size: 1, SHA256: strings.Repeat("a", 64)}}}
	if err := w.fill(&e); !errors.Is(err, ErrCorrupt) {
		t.Errorf("fill = %v, want ErrCorrupt", err)
	}
	b := create(t, testOptions(""))
	if _, err := b.Append(t.Context(), Draft{Type: "note", Data: json.RawMessage(`{"text":"` + strings.Repeat("x ", MaxData) + `"}`)}); !errors.Is(err, ErrTooLarge) {
		t.Errorf("over all bounds: %v, want ErrTooLarge", err)
	}
	note(t, b, "alive")
}

// A bundle with long data is redacted again like any other, and the two can be compared.
func TestLongDataRedactedAgain(t *testing.T) {
	if testing.Short() {
		t.Skip("too long for -short")
	}
	t.Parallel()
	keys := t.TempDir()
	b := create(t, testOptions(keys))
	appendBulky(t, b, plainSecret)
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	res, err := RedactAgain(t.Context(), b.Path(), Again{Actor: "robin", Reason: "it was read out", Values: []string{plainSecret}}, testOptions(keys))
	if err != nil {
		t.Fatal(err)
	}
	if in := inDir(t, res.Path, plainSecret); in != nil {
		t.Errorf("in clear in %q", in)
	}
	rep, err := Policy{From: b.Path()}.Verify(res.Path)
	if err != nil || !rep.OK() {
		t.Errorf("Verify = %+v, %v", rep, err)
	}
	r, err := OpenReadOnly(b.Path())
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if leaks, err := r.Leaks([]string{plainSecret}, nil); err != nil || len(leaks) < 8000 {
		t.Errorf("%d leaks in the old one, %v", len(leaks), err)
	}
}
