package evidence

import (
	"bytes"
	"errors"
	"math/big"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"handrail/evidence/sig"
	"handrail/evidence/sig/sigtest"
)

func TestTimestampGoesIntoBundle(t *testing.T) {
	t.Parallel()
	a := sigtest.NewAuthority(t, "one", nil)
	path := signedKit(t).write(t.TempDir())
	text, err := os.ReadFile(filepath.Join(path, firstSeal))
	if err != nil {
		t.Fatal(err)
	}
	o := testOptions("")
	for _, tc := range []struct {
		name  string
		raw   []byte
		nonce *big.Int
	}{
		{"of another text", a.Reply(t, sigtest.Reply{Text: []byte("other")}), nil},
		{"refused", a.Reply(t, sigtest.Reply{Text: text, Status: 2}), nil},
		{"no nonce", a.Reply(t, sigtest.Reply{Text: text}), big.NewInt(7)},
		{"another nonce", a.Reply(t, sigtest.Reply{Text: text, Nonce: big.NewInt(8)}), big.NewInt(7)},
		{"nonsense", []byte("<html>"), nil},
		{"too long", make([]byte, sig.MaxTimeStamp+1), nil},
	} {
		if got, err := StoreTimestamp(path, tc.raw, tc.nonce, o); !errors.Is(err, ErrStamp) {
			t.Errorf("%s: %+v, %v", tc.name, got, err)
		}
	}
	if _, err := os.Stat(filepath.Join(path, firstStamp)); err == nil {
		t.Fatal("something was stored")
	}
	raw := a.Reply(t, sigtest.Reply{Text: text, Nonce: big.NewInt(7), Status: 1, Words: "fine", CRLs: true})
	got, err := StoreTimestamp(path, raw, big.NewInt(7), o)
	if err != nil || got.There || got.File != firstStamp || !got.Before.Equal(sigtest.StampAt) || !strings.Contains(got.By, "Signer one") {
		t.Fatalf("%+v, %v", got, err)
	}
	again, err := StoreTimestamp(path, a.Reply(t, sigtest.Reply{Text: text, At: "20270101000000Z"}), nil, o)
	if err != nil || !again.There || !again.Before.Equal(sigtest.StampAt) {
		t.Errorf("a second one: %+v, %v", again, err)
	}
	roots, err := sig.ParseAuthorities(sigtest.PEM(a.Root))
	if err != nil {
		t.Fatal(err)
	}
	if r, err := (Policy{Authorities: roots}).Verify(path); err != nil || !r.OK() || r.Of(PropertyTimestamp) != Proven {
		t.Errorf("%+v, %v", r.Lines, err)
	}
}

func TestTimestampIsNotAskedForEverything(t *testing.T) {
	t.Parallel()
	if _, err := TimestampQuery(opened(t).write(t.TempDir()), nil); !errors.Is(err, ErrUnsealed) {
		t.Errorf("not sealed: %v", err)
	}
	k := signedKit(t)
	k.set(k.someBlob(), "x")
	if _, err := TimestampQuery(k.write(t.TempDir()), nil); !errors.Is(err, ErrCorrupt) {
		t.Errorf("a damaged bundle: %v", err)
	}
}

func TestAuthoritiesFile(t *testing.T) {
	t.Parallel()
	one := sigtest.PEM(sigtest.NewAuthority(t, "one", nil).Root)
	for _, tc := range []struct {
		name string
		raw  []byte
		ok   bool
	}{
		{"one", one, true},
		{"two, with words", bytes.Join([][]byte{[]byte("# theirs\n"), one, one}, []byte("\n")), true},
		{"none", []byte("nothing\n"), false},
		{"a key", []byte("-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"), false},
		{"half of one behind a whole one", append(append([]byte{}, one...), one[:len(one)/2]...), false},
		{"DER of something else", []byte("-----BEGIN CERTIFICATE-----\nMAA=\n-----END CERTIFICATE-----\n"), false},
	} {
		if _, err := sig.ParseAuthorities(tc.raw); (err == nil) != tc.ok {
			t.Errorf("%s: %v", tc.name, err)
		}
	}
}

// TestTimestampAsOpenSSL compares the verdict on each sample with that of openssl, where there is one.
func TestTimestampAsOpenSSL(t *testing.T) {
	if testing.Short() {
		t.Skip("too long for -short")
	}
	t.Parallel()
	if _, err := exec.LookPath("openssl"); err != nil {
		t.Log("no openssl here to compare with")
		return
	}
	looser := []string{ // what openssl lets pass and handrail does not
		"stamp-parameters", "stamp-unsigned", "stamp-revocations", "stamp-status", "stamp-status-words", "stamp-stranger-certificate",
		"stamp-trailing-byte", "stamp-critical-extension", "stamp-expired", "stamp-before-certificate", "stamp-expired-certificate", "stamp-local-time", "stamp-not-der", "stamp-indefinite", "stamp-other-content",
	}
	compared, asStrict := 0, 0
	for _, v := range append(goodStamps(), badStamps()...) {
		k := v.base(t)
		if v.edit != nil {
			v.edit(k)
		}
		for name := range k.files {
			seal := strings.TrimSuffix(name, ".tsr") + ".txt"
			if _, there := k.files[seal]; !strings.HasSuffix(name, ".tsr") || !there || v.name == "stamp-seal-gone" {
				continue
			}
			path := k.write(t.TempDir())
			ca := filepath.Join(path, "ca.pem")
			if err := os.WriteFile(ca, v.authorities(t), 0o600); err != nil {
				t.Fatal(err)
			}
			out, err := run(t, path, "", "openssl", "ts", "-verify", "-data", seal, "-in", name, "-CAfile", ca, "-attime", "1795227600")
			if got := err == nil; got != (v.fails == "" || v.fails == "timestamp" && strings.HasPrefix(v.name, "stamp-required")) {
				if got && slices.Contains(looser, v.name) {
					continue
				}
				t.Errorf("%s: openssl says %v: %s", v.name, err, out)
			}
			compared++
			if err != nil {
				asStrict++
			}
		}
	}
	t.Logf("%d compared, %d refused by both", compared, asStrict)
	if compared < 20 || asStrict < 10 {
		t.Error("too few were compared")
	}
}
