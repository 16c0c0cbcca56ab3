package evidence

import (
	"bytes"
	"errors"
	"flag"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"handrail/evidence/sig"
	"handrail/evidence/sig/sigtest"
)

// propertyOf names the properties of which at least one must fail when a file is changed.
func propertyOf(name string) []string {
	switch {
	case name == "README", name == "bundle.json":
		return []string{PropertyFormat}
	case strings.HasPrefix(name, "journal/"):
		return []string{PropertyChain, PropertyComplete}
	case strings.HasPrefix(name, "blobs/"):
		return []string{PropertyBlobs}
	case strings.HasPrefix(name, "quarantine/"):
		return []string{PropertyQuarantine}
	case strings.HasSuffix(name, ".sig"):
		return []string{PropertySignature}
	case strings.HasSuffix(name, ".tsr"):
		return []string{PropertyTimestamp}
	}
	return []string{PropertySeal}
}

// wholeKit has a file of every kind: blobs, quarantine, a seal, its time stamp, and a signature of every kind of key.
func wholeKit(t *testing.T) *kit {
	dir := t.TempDir()
	path := recoveredKit(t).write(dir)
	b, err := Open(path, vectorOptions(t))
	if err != nil {
		t.Fatal(err)
	}
	sealIt(t, b)
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	k := &kit{t: t, id: "i1", files: map[string]file{}}
	k.load(path)
	k.sign("alice", "000001.txt.sig", 1)
	k.stamp(1, sigtest.NewAuthority(t, "one", nil), sigtest.Reply{})
	for _, who := range []string{"bob", "carol", "erin", "frank"} {
		k.sign(who, "000001.txt."+keyMark(sigtest.Key(t, who).PublicKey())+".sig", 1)
	}
	return k
}

var everyBit = flag.Bool("every-bit", false, "change all eight bits of each byte and not one: some minutes")

// TestEveryBitAndEveryCut changes a bit of each byte of each file of a sealed and signed bundle (a different one from
// byte to byte, with -every-bit all of them), and cuts each file at each byte: every change must be noticed, on the line
// of its property. TestEveryBitOf holds the parts that judge the bytes against every bit.
func TestEveryBitAndEveryCut(t *testing.T) {
	if testing.Short() {
		t.Skip("too long for -short")
	}
	t.Parallel()
	whole := wholeKit(t)
	policy := Policy{}
	var err error
	if policy.Signers, err = sig.ParseSigners([]byte(allowed(t, append(tokens, everybody...)...))); err != nil {
		t.Fatal(err)
	}
	roots, err := sig.ParseAuthorities(sigtest.PEM(sigtest.NewAuthority(t, "one", nil).Root))
	if err != nil {
		t.Fatal(err)
	}
	if r, err := policy.Verify(whole.write(t.TempDir())); err != nil || !r.OK() || r.Of(PropertyComplete) != Proven || r.Of(PropertySignature) != Proven {
		t.Fatalf("unchanged: %v, %+v", err, r.Lines)
	}
	for _, name := range slices.Sorted(maps.Keys(whole.files)) {
		t.Run(strings.ReplaceAll(name, "/", "_"), func(t *testing.T) {
			t.Parallel()
			k, policy := whole.copy(t), policy
			if strings.HasSuffix(name, ".tsr") {
				policy.Authorities = roots
			} else {
				k.drop(firstStamp)
			}
			if !strings.HasSuffix(name, ".sig") { // checking three signatures each time would only cost time
				for other := range k.files {
					if strings.HasSuffix(other, ".sig") {
						delete(k.files, other)
					}
				}
			}
			path := k.write(t.TempDir())
			data := k.files[name].data
			full := filepath.Join(path, filepath.FromSlash(name))
			check := func(what string, at int) {
				t.Helper()
				r, err := policy.Verify(path)
				if err != nil {
					t.Fatal(err)
				}
				if r.OK() || !slices.ContainsFunc(propertyOf(name), func(p string) bool { return r.Of(p) == Failed }) {
					t.Fatalf("%s %d: not noticed on the line of %v: %+v", what, at, propertyOf(name), r.Lines)
				}
			}
			f, err := os.OpenFile(full, os.O_RDWR, 0)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close() // checked by what is read back
			step := 9
			if *everyBit {
				step = 1
			}
			for bit := 0; bit < len(data)*8; bit += step {
				at := int64(bit / 8)
				if _, err := f.WriteAt([]byte{data[at] ^ 1<<(bit%8)}, at); err != nil {
					t.Fatal(err)
				}
				check("bit", bit)
				if _, err := f.WriteAt(data[at:at+1], at); err != nil {
					t.Fatal(err)
				}
			}
			for cut := len(data) - 1; cut >= 0; cut-- {
				if err := f.Truncate(int64(cut)); err != nil {
					t.Fatal(err)
				}
				check("cut at", cut)
			}
			t.Logf("%s: %d bits and %d cuts, all noticed", name, (8*len(data)+step-1)/step, len(data))
		})
	}
}

// TestEveryBitOf changes every bit of the journal and of each signature, and asks only the part that judges them.
func TestEveryBitOf(t *testing.T) {
	if testing.Short() {
		t.Skip("too long for -short")
	}
	t.Parallel()
	k := wholeKit(t)
	journal := k.files[firstSegment].data
	seal := k.files[firstSeal].data
	good := func() bool {
		l := newLedger()
		s := newScanner(segmentName(1), bytes.NewReader(journal), chain{prev: zeroHash}, true, int64(len(journal)))
		for {
			e, _, err := s.next()
			if err != nil {
				return errors.Is(err, io.EOF) && s.tail == nil && len(l.seals) == 1 && string(l.seals[0].Text()) == string(seal)
			}
			l.add(k.id, &e)
		}
	}
	sigtest.EveryBit(t, "journal", journal, good)
	for name, f := range k.files {
		if strings.HasSuffix(name, ".sig") {
			sigtest.EveryBit(t, name, f.data, func() bool {
				s, err := sig.ParseSignature(f.data)
				return err == nil && s.Verify(seal) == nil
			})
		}
	}
}
