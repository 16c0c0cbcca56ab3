package evidence

import (
	"cmp"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"math/big"
	"strings"
	"testing"
	"time"
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
	good := newAuthority(t, "one", nil)
	for _, tc := range []struct {
		name   string
		key    string
		change func(*x509.Certificate)
		reply  reply
		wrong  string // what the refusal says, "" for none
	}{
		{name: "plain"},
		{name: "RSA", key: "rsa"},
		{name: "RSA by its other name", key: "rsa", reply: reply{rsaName: true}},
		{name: "SHA-512", reply: reply{hash: &stampHashes[2]}},
		{name: "RSA, SHA-384", key: "rsa", reply: reply{hash: &stampHashes[1]}},
		{name: "certificate named by SHA-1", reply: reply{ess: "v1"}},
		{name: "certificate named twice", reply: reply{ess: "both"}},
		{name: "certificate named by SHA-512", reply: reply{ess: "sha512"}},
		{name: "granted with changes, and words", reply: reply{status: 1, words: "as you wish"}},
		{name: "revocation lists and unsigned attributes", reply: reply{crls: true, unsigned: true}},
		{name: "algorithms with parameters", key: "rsa", reply: reply{nulls: true}},
		{name: "root and a stranger among the certificates", reply: reply{certs: []*x509.Certificate{otherRoot(t), good.root, good.middle, good.signer}}},
		{name: "accuracy", reply: reply{accuracy: []byte{0x30, 6, 2, 1, 2, 0x80, 1, 5}}},
		{name: "fraction of a second", reply: reply{at: "20261121022000.25Z"}},
		{name: "ordering", reply: reply{ordering: []byte{1, 1, 0xff}}},
		{name: "refused", reply: reply{status: 2, words: "we are closed"}, wrong: "we are closed"},
		{name: "waiting", reply: reply{status: 3}, wrong: "status 3"},
		{name: "no certificate", reply: reply{certs: []*x509.Certificate{good.middle}}, wrong: "is not in it"},
		{name: "nobody named", reply: reply{ess: "none"}, wrong: "one form"},
		{name: "another certificate named", reply: reply{ess: "wrong"}, wrong: "not the one that the signature names"},
		{name: "an attribute twice", reply: reply{ess: "twice"}, wrong: "one form"},
		{name: "two signers", reply: reply{twice: true}, wrong: "one form"},
		{name: "other content", reply: reply{content: asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 7, 1}}, wrong: "one form"},
		{name: "digest of something else", reply: reply{digest: make([]byte, 32)}, wrong: "something else"},
		{name: "imprint too short", reply: reply{imprint: make([]byte, 31)}, wrong: "one form"},
		{name: "critical extension", reply: reply{critical: true}, wrong: "critical extension"},
		{name: "ordering said to be false", reply: reply{ordering: []byte{1, 1, 0}}, wrong: "one form"},
		{name: "local time", reply: reply{at: "20261121022000+0100"}, wrong: "one form"},
		{name: "fraction with a zero at its end", reply: reply{at: "20261121022000.250Z"}, wrong: "one form"},
		{name: "fraction too long", reply: reply{at: "20261121022000.1234567891Z"}, wrong: "one form"},
		{name: "no such day", reply: reply{at: "20261131022000Z"}, wrong: "one form"},
		{name: "accuracy of a thousand milliseconds", reply: reply{accuracy: []byte{0x30, 4, 0x80, 2, 3, 0xe8}}, wrong: "one form"},
		{name: "accuracy below nothing", reply: reply{accuracy: []byte{0x30, 3, 2, 1, 0xff}}, wrong: "one form"},
		{name: "before its certificate", reply: reply{at: "20200101000000Z"}, wrong: "was not valid"},
		{name: "after its certificate", reply: reply{at: "20600101000000Z"}, wrong: "was not valid"},
		{name: "certificate for no purpose", change: usage(), wrong: "not for time stamps"},
		{name: "certificate for servers", change: usage(1, 0x30, 10, 6, 8, 0x2b, 6, 1, 5, 5, 7, 3, 1), wrong: "not for time stamps"},
		{name: "certificate for servers too", change: usage(1, 0x30, 20, 6, 8, 0x2b, 6, 1, 5, 5, 7, 3, 8, 6, 8, 0x2b, 6, 1, 5, 5, 7, 3, 1), wrong: "not for time stamps"},
		{name: "purpose not critical", change: usage(0, 0x30, 10, 6, 8, 0x2b, 6, 1, 5, 5, 7, 3, 8), wrong: "not for time stamps"},
		{name: "certificate for encryption", change: func(c *x509.Certificate) { c.KeyUsage = x509.KeyUsageKeyEncipherment }, wrong: "not for time stamps"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			a := newAuthority(t, cmp.Or(tc.key, "one"), tc.change)
			tc.reply.text = text
			raw := a.reply(t, tc.reply)
			got, err := readReply(raw)
			if tc.wrong != "" {
				if err == nil || !strings.Contains(err.Error(), tc.wrong) {
					t.Fatalf("readReply = %v, want %q", err, tc.wrong)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			plain, err := got.plain()
			if err != nil {
				t.Fatal(err)
			}
			back, err := parseStamp(plain)
			if err != nil {
				t.Fatal(err)
			}
			if len(back.chain) < 2 || !back.chain[0].Equal(a.signer) || !back.time.Equal(got.time) {
				t.Errorf("kept %d certificates, %s", len(back.chain), back.time)
			}
			roots, err := ParseAuthorities(pemOf(a.root))
			if err != nil {
				t.Fatal(err)
			}
			if err := roots.vouch(back, back.time); err != nil {
				t.Error(err)
			}
			strangers, err := ParseAuthorities(pemOf(otherRoot(t)))
			if err != nil {
				t.Fatal(err)
			}
			if err := strangers.vouch(back, back.time); err == nil {
				t.Error("a root of somebody else vouches for it")
			}
		})
	}
}

func TestStampTime(t *testing.T) {
	t.Parallel()
	a := newAuthority(t, "one", nil)
	got, err := readReply(a.reply(t, reply{text: []byte("x"), at: "20261121022000.25Z", accuracy: []byte{0x30, 9, 2, 1, 2, 0x80, 1, 5, 0x81, 1, 7}, nonce: big.NewInt(300)}))
	if err != nil {
		t.Fatal(err)
	}
	if got.accuracy != 2*time.Second+5*time.Millisecond+7*time.Microsecond || got.latest() != "2026-11-21T02:20:02.255007Z" || got.nonce.Int64() != 300 {
		t.Errorf("accuracy %s, latest %s, nonce %s", got.accuracy, got.latest(), got.nonce)
	}
}

// TestEveryBitOfStamp: with the root beside it no bit of a stored time stamp can be changed.
func TestEveryBitOfStamp(t *testing.T) {
	t.Parallel()
	for _, key := range []string{"one", "rsa"} {
		a := newAuthority(t, key, nil)
		data := a.reply(t, reply{text: []byte("x"), accuracy: []byte{0x30, 3, 2, 1, 2}})
		roots, err := ParseAuthorities(pemOf(a.root))
		if err != nil {
			t.Fatal(err)
		}
		every(t, "time stamp by "+key, data, func() bool {
			s, err := parseStamp(data)
			return err == nil && roots.vouch(s, s.time) == nil
		})
		for n := range data {
			if _, err := parseStamp(data[:n]); err == nil {
				t.Fatalf("%s: cut at %d it is good", key, n)
			}
		}
		if _, err := parseStamp(append(data, 0)); err == nil {
			t.Fatalf("%s: good with a byte behind it", key)
		}
	}
}

// FuzzTimestamp: whatever comes, the reader neither fails nor keeps what it would not read again the same.
func FuzzTimestamp(f *testing.F) {
	kept(f)
	for _, key := range []string{"one", "rsa"} {
		a := newAuthority(f, key, nil)
		f.Add(a.reply(f, reply{text: []byte("x"), crls: true, unsigned: true, words: "x", nonce: big.NewInt(5), accuracy: []byte{0x30, 3, 2, 1, 2}}))
		f.Add(a.reply(f, reply{text: []byte("x"), ess: "both"}))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		s, err := readReply(raw)
		if err != nil {
			return
		}
		plain, err := s.plain()
		if err != nil {
			t.Fatal(err)
		}
		back, err := parseStamp(plain)
		if err != nil {
			t.Fatal(err)
		}
		if !back.time.Equal(s.time) || len(back.chain) != len(s.chain) {
			t.Fatal("it became another")
		}
	})
}
