package evidence

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"handrail/evidence/sig"
)

// vectorFile holds the sample bundles for authors of other verifiers; docs/bundle.md says how to read it.
const vectorFile = "testdata/vectors.tar.gz"

// sample is a line of the manifest.
type sample struct {
	Name     string             `json:"name"`
	About    string             `json:"about"`
	Bundle   string             `json:"bundle"`
	Signers  string             `json:"allowed_signers"` // "" for none
	SignedBy []string           `json:"signed_by"`
	Anchors  []string           `json:"anchors"`
	TSA      string             `json:"tsa_ca"` // certificates in PEM, "" for none
	From     string             `json:"from"`   // the bundle that it was redacted again from, "" for none
	OK       bool               `json:"ok"`
	Failed   []string           `json:"failed"`
	Verdicts map[string]Verdict `json:"verdicts"` // the worst of each property
}

// vectorTar makes the archive from the table.
func vectorTar(t *testing.T) []byte {
	t.Helper()
	var buf, manifest bytes.Buffer
	w := tar.NewWriter(&buf)
	put := func(h tar.Header, data []byte) {
		h.Size, h.Format = int64(len(data)), tar.FormatPAX
		if err := w.WriteHeader(&h); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(data); err != nil {
			t.Fatal(err)
		}
	}
	var samples []sample
	for _, v := range slices.Concat(goodVectors(), badVectors()) {
		k := v.base(t)
		policy, signers, lines := v.policy(t, k)
		if v.edit != nil {
			v.edit(k)
		}
		r, err := policy.Verify(k.write(t.TempDir()))
		if err != nil {
			t.Fatal(err)
		}
		s := sample{Name: v.name, About: v.about, Bundle: v.name + "/" + k.id + ".hrb", SignedBy: append([]string{}, v.signedBy...),
			Anchors: append([]string{}, lines...), OK: r.OK(), Failed: append([]string{}, failed(r)...), Verdicts: map[string]Verdict{}}
		for _, l := range r.Lines {
			s.Verdicts[l.Property] = r.Of(l.Property)
		}
		if signers != "" {
			s.Signers = v.name + "/allowed_signers"
			put(tar.Header{Name: s.Signers, Mode: 0o600, Typeflag: tar.TypeReg}, []byte(signers))
		}
		if v.roots != "" {
			s.TSA = v.name + "/tsa-ca.pem"
			put(tar.Header{Name: s.TSA, Mode: 0o600, Typeflag: tar.TypeReg}, v.authorities(t))
		}
		if v.from != nil {
			old := v.from(t)
			s.From = v.name + "/from/" + old.id + ".hrb"
			old.pack(s.From, put)
		}
		k.pack(s.Bundle, put)
		samples = append(samples, s)
	}
	enc := json.NewEncoder(&manifest)
	enc.SetIndent("", "  ")
	if err := enc.Encode(samples); err != nil {
		t.Fatal(err)
	}
	put(tar.Header{Name: "vectors.json", Mode: 0o600, Typeflag: tar.TypeReg}, manifest.Bytes())
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

// pack puts a bundle into an archive, under top.
func (k *kit) pack(top string, put func(tar.Header, []byte)) {
	for _, dir := range []string{"", "journal/", "blobs/", "blobs/sha256/", "quarantine/", "seals/"} {
		put(tar.Header{Name: top + "/" + dir, Mode: 0o700, Typeflag: tar.TypeDir}, nil)
	}
	for _, name := range slices.Sorted(maps.Keys(k.files)) {
		f := k.files[name]
		h := tar.Header{Name: top + "/" + name, Mode: 0o600, Typeflag: tar.TypeReg}
		switch {
		case f.dir:
			h.Typeflag, h.Mode, h.Name = tar.TypeDir, 0o700, h.Name+"/"
		case f.link != "":
			h.Typeflag, h.Linkname = tar.TypeSymlink, f.link
		case f.fifo:
			h.Typeflag = tar.TypeFifo
		}
		put(h, f.data)
	}
}

// TestVectorFile holds the verifier against the published samples, read as a stranger would, and the samples against
// the table that they are made from: go test ./evidence -run TestVectorFile -update
func TestVectorFile(t *testing.T) {
	if testing.Short() {
		t.Skip("too long for -short")
	}
	t.Parallel()
	made := vectorTar(t)
	if *update {
		var buf bytes.Buffer
		gz, _ := gzip.NewWriterLevel(&buf, gzip.BestCompression)
		_, err := gz.Write(made)
		if err := errors.Join(err, gz.Close(), os.WriteFile(vectorFile, buf.Bytes(), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	f, err := os.Open(vectorFile)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	gz, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	stored, err := io.ReadAll(gz)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(stored, made) {
		t.Error("the published samples are not those of the table; make them again with -update, and say why the format changed")
	}
	dir := t.TempDir()
	unpackSamples(t, stored, dir)
	raw, err := os.ReadFile(filepath.Join(dir, "vectors.json"))
	if err != nil {
		t.Fatal(err)
	}
	var samples []sample
	if err := json.Unmarshal(raw, &samples); err != nil || len(samples) < 100 {
		t.Fatalf("%d samples, %v", len(samples), err)
	}
	for _, s := range samples {
		p := Policy{SignedBy: s.SignedBy}
		if s.Signers != "" {
			if p.Signers, err = sig.LoadSigners(filepath.Join(dir, s.Signers)); err != nil {
				t.Fatal(err)
			}
		}
		if s.TSA != "" {
			if p.Authorities, err = sig.LoadAuthorities(filepath.Join(dir, s.TSA)); err != nil {
				t.Fatal(err)
			}
		}
		if s.From != "" {
			p.From = filepath.Join(dir, s.From)
		}
		for _, line := range s.Anchors {
			c, err := ParseAnchor(line)
			if err != nil {
				t.Fatal(err)
			}
			p.Anchors = append(p.Anchors, c)
		}
		r, err := p.Verify(filepath.Join(dir, s.Bundle))
		if err != nil {
			t.Fatal(err)
		}
		if r.OK() != s.OK || !slices.Equal(failed(r), s.Failed) {
			t.Errorf("%s: failed %v, want %v", s.Name, failed(r), s.Failed)
		}
		for property, want := range s.Verdicts {
			if got := r.Of(property); got != want {
				t.Errorf("%s: %s is %s, want %s", s.Name, property, got, want)
			}
		}
	}
}

// unpackSamples trusts the archive, which is ours: some samples hold links and pipes on purpose.
func unpackSamples(t *testing.T, raw []byte, dir string) {
	t.Helper()
	r := tar.NewReader(bytes.NewReader(raw))
	for {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		to := filepath.Join(dir, filepath.FromSlash(strings.TrimSuffix(h.Name, "/")))
		if h.Typeflag == tar.TypeDir {
			err = os.MkdirAll(to, 0o700)
		} else if err = os.MkdirAll(filepath.Dir(to), 0o700); err == nil {
			err = file{data: data, link: h.Linkname, fifo: h.Typeflag == tar.TypeFifo}.put(to)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}
