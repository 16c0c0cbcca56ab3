package sig

import (
	"cmp"
	"crypto"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"math/big"
	"strings"
	"testing"
	"time"

	"handrail/evidence/corpus"
	"handrail/evidence/sig/sigtest"
)

// TestReplies holds the reader of replies against what an authority may and may not reply.
func TestReplies(t *testing.T) {
	t.Parallel()
	text := []byte("a checkpoint\n")
	usage := func(value ...byte) func(*x509.Certificate) {
		return func(c *x509.Certificate) {
			c.ExtraExtensions = nil
			if value != nil {
				c.ExtraExtensions = []pkix.Extension{{Id: oidExtKeyUsage, Critical: value[0] == 1, Value: value[1:]}}
			}
		}
	}
	good := sigtest.NewAuthority(t, "one", nil)
	for _, tc := range []struct {
		name   string
		key    string
		change func(*x509.Certificate)
		reply  sigtest.Reply
		wrong  string // what the refusal says, "" for none
	}{
		{name: "plain"},
		{name: "RSA", key: "rsa"},
		{name: "RSA by its other name", key: "rsa", reply: sigtest.Reply{RSAName: true}},
		{name: "SHA-512", reply: sigtest.Reply{Hash: crypto.SHA512}},
		{name: "RSA, SHA-384", key: "rsa", reply: sigtest.Reply{Hash: crypto.SHA384}},
		{name: "certificate named by SHA-1", reply: sigtest.Reply{ESS: "v1"}},
		{name: "certificate named twice", reply: sigtest.Reply{ESS: "both"}},
		{name: "certificate named by SHA-512", reply: sigtest.Reply{ESS: "sha512"}},
		{name: "granted with changes, and words", reply: sigtest.Reply{Status: 1, Words: "as you wish"}},
		{name: "revocation lists and unsigned attributes", reply: sigtest.Reply{CRLs: true, Unsigned: true}},
		{name: "algorithms with parameters", key: "rsa", reply: sigtest.Reply{Nulls: true}},
		{name: "root and a stranger among the certificates", reply: sigtest.Reply{Certs: []*x509.Certificate{sigtest.OtherRoot(t), good.Root, good.Middle, good.Signer}}},
		{name: "accuracy", reply: sigtest.Reply{Accuracy: []byte{0x30, 6, 2, 1, 2, 0x80, 1, 5}}},
		{name: "fraction of a second", reply: sigtest.Reply{At: "20261121022000.25Z"}},
		{name: "ordering", reply: sigtest.Reply{Ordering: []byte{1, 1, 0xff}}},
		{name: "refused", reply: sigtest.Reply{Status: 2, Words: "we are closed"}, wrong: "we are closed"},
		{name: "waiting", reply: sigtest.Reply{Status: 3}, wrong: "status 3"},
		{name: "no certificate", reply: sigtest.Reply{Certs: []*x509.Certificate{good.Middle}}, wrong: "is not in it"},
		{name: "no certificate named", reply: sigtest.Reply{ESS: "none"}, wrong: "one form"},
		{name: "another certificate named", reply: sigtest.Reply{ESS: "wrong"}, wrong: "not the one that the signature names"},
		{name: "an attribute twice", reply: sigtest.Reply{ESS: "twice"}, wrong: "one form"},
		{name: "two signers", reply: sigtest.Reply{Twice: true}, wrong: "one form"},
		{name: "other content", reply: sigtest.Reply{Content: asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 7, 1}}, wrong: "one form"},
		{name: "digest of something else", reply: sigtest.Reply{Digest: make([]byte, 32)}, wrong: "something else"},
		{name: "imprint too short", reply: sigtest.Reply{Imprint: make([]byte, 31)}, wrong: "one form"},
		{name: "critical extension", reply: sigtest.Reply{Critical: true}, wrong: "critical extension"},
		{name: "ordering said to be false", reply: sigtest.Reply{Ordering: []byte{1, 1, 0}}, wrong: "one form"},
		{name: "local time", reply: sigtest.Reply{At: "20261121022000+0100"}, wrong: "one form"},
		{name: "fraction with a zero at its end", reply: sigtest.Reply{At: "20261121022000.250Z"}, wrong: "one form"},
		{name: "fraction too long", reply: sigtest.Reply{At: "20261121022000.1234567891Z"}, wrong: "one form"},
		{name: "no such day", reply: sigtest.Reply{At: "20261131022000Z"}, wrong: "one form"},
		{name: "accuracy of a thousand milliseconds", reply: sigtest.Reply{Accuracy: []byte{0x30, 4, 0x80, 2, 3, 0xe8}}, wrong: "one form"},
		{name: "accuracy below nothing", reply: sigtest.Reply{Accuracy: []byte{0x30, 3, 2, 1, 0xff}}, wrong: "one form"},
		{name: "before its certificate", reply: sigtest.Reply{At: "20200101000000Z"}, wrong: "was not valid"},
		{name: "after its certificate", reply: sigtest.Reply{At: "20600101000000Z"}, wrong: "was not valid"},
		{name: "certificate for no purpose", change: usage(), wrong: "not for time stamps"},
		{name: "certificate for servers", change: usage(1, 0x30, 10, 6, 8, 0x2b, 6, 1, 5, 5, 7, 3, 1), wrong: "not for time stamps"},
		{name: "certificate for servers too", change: usage(1, 0x30, 20, 6, 8, 0x2b, 6, 1, 5, 5, 7, 3, 8, 6, 8, 0x2b, 6, 1, 5, 5, 7, 3, 1), wrong: "not for time stamps"},
		{name: "purpose not critical", change: usage(0, 0x30, 10, 6, 8, 0x2b, 6, 1, 5, 5, 7, 3, 8), wrong: "not for time stamps"},
		{name: "certificate for encryption", change: func(c *x509.Certificate) { c.KeyUsage = x509.KeyUsageKeyEncipherment }, wrong: "not for time stamps"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			a := sigtest.NewAuthority(t, cmp.Or(tc.key, "one"), tc.change)
			tc.reply.Text = text
			raw := a.Reply(t, tc.reply)
			got, err := ReadReply(raw)
			if tc.wrong != "" {
				if err == nil || !strings.Contains(err.Error(), tc.wrong) {
					t.Fatalf("readReply = %v, want %q", err, tc.wrong)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			plain, err := got.Plain()
			if err != nil {
				t.Fatal(err)
			}
			back, err := ParseTimeStamp(plain)
			if err != nil {
				t.Fatal(err)
			}
			if len(back.Chain) < 2 || !back.Chain[0].Equal(a.Signer) || !back.Time.Equal(got.Time) {
				t.Errorf("kept %d certificates, %s", len(back.Chain), back.Time)
			}
			roots, err := ParseAuthorities(sigtest.PEM(a.Root))
			if err != nil {
				t.Fatal(err)
			}
			if err := roots.Vouch(back, back.Time); err != nil {
				t.Error(err)
			}
			strangers, err := ParseAuthorities(sigtest.PEM(sigtest.OtherRoot(t)))
			if err != nil {
				t.Fatal(err)
			}
			if err := strangers.Vouch(back, back.Time); err == nil {
				t.Error("another root vouches for it")
			}
		})
	}
}

func TestStampTime(t *testing.T) {
	t.Parallel()
	a := sigtest.NewAuthority(t, "one", nil)
	got, err := ReadReply(a.Reply(t, sigtest.Reply{Text: []byte("x"), At: "20261121022000.25Z", Accuracy: []byte{0x30, 9, 2, 1, 2, 0x80, 1, 5, 0x81, 1, 7}, Nonce: big.NewInt(300)}))
	if err != nil {
		t.Fatal(err)
	}
	if got.Accuracy != 2*time.Second+5*time.Millisecond+7*time.Microsecond || got.Latest() != "2026-11-21T02:20:02.255007Z" || got.Nonce.Int64() != 300 {
		t.Errorf("accuracy %s, latest %s, nonce %s", got.Accuracy, got.Latest(), got.Nonce)
	}
}

// TestEveryBitOfStamp: with the root beside it no bit of a stored time stamp can be changed.
func TestEveryBitOfStamp(t *testing.T) {
	t.Parallel()
	for _, key := range []string{"one", "rsa"} {
		a := sigtest.NewAuthority(t, key, nil)
		data := a.Reply(t, sigtest.Reply{Text: []byte("x"), Accuracy: []byte{0x30, 3, 2, 1, 2}})
		roots, err := ParseAuthorities(sigtest.PEM(a.Root))
		if err != nil {
			t.Fatal(err)
		}
		sigtest.EveryBit(t, "time stamp by "+key, data, func() bool {
			s, err := ParseTimeStamp(data)
			return err == nil && roots.Vouch(s, s.Time) == nil
		})
		for n := range data {
			if _, err := ParseTimeStamp(data[:n]); err == nil {
				t.Fatalf("%s: cut at %d it is good", key, n)
			}
		}
		if _, err := ParseTimeStamp(append(data, 0)); err == nil {
			t.Fatalf("%s: good with a byte behind it", key)
		}
	}
}

// FuzzTimestamp: whatever comes, the reader neither fails nor keeps what it would not read again the same.
func FuzzTimestamp(f *testing.F) {
	corpus.Seed(f)
	for _, key := range []string{"one", "rsa"} {
		a := sigtest.NewAuthority(f, key, nil)
		f.Add(a.Reply(f, sigtest.Reply{Text: []byte("x"), CRLs: true, Unsigned: true, Words: "x", Nonce: big.NewInt(5), Accuracy: []byte{0x30, 3, 2, 1, 2}}))
		f.Add(a.Reply(f, sigtest.Reply{Text: []byte("x"), ESS: "both"}))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		s, err := ReadReply(raw)
		if err != nil {
			return
		}
		plain, err := s.Plain()
		if err != nil {
			t.Fatal(err)
		}
		back, err := ParseTimeStamp(plain)
		if err != nil {
			t.Fatal(err)
		}
		if !back.Time.Equal(s.Time) || len(back.Chain) != len(s.Chain) {
			t.Fatal("it became another")
		}
	})
}
