package evidence

import (
	"bytes"
	"crypto"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"

	"handrail/evidence/sig"
	"handrail/evidence/sig/sigtest"
)

const firstStamp = "seals/000001.tsr"

// tokens are people who sign by a hardware key.
var tokens = []string{"erin", "frank"}

func tokenKit(who string) func(testing.TB) *kit {
	return func(t testing.TB) *kit {
		k := sealedKit(t)
		k.sign(who, "000001.txt.sig", 1)
		return k
	}
}

func goodTokens() []vector {
	return []vector{
		{name: "signed-sk-ed25519", about: "signed by a hardware key, Ed25519", base: tokenKit("erin"), signers: tokens, signedBy: []string{"erin@example.com"}, proven: "signature signed-by complete"},
		{name: "signed-sk-ecdsa", about: "signed by a hardware key, ECDSA", base: tokenKit("frank"), signers: tokens, signedBy: []string{"frank@example.com"}, proven: "signature signed-by complete"},
	}
}

// stampedKit is sealed and has a time stamp by the authority with the named key.
func stampedKit(key string, r sigtest.Reply) func(testing.TB) *kit {
	return func(t testing.TB) *kit {
		k := sealedKit(t)
		k.stamp(1, sigtest.NewAuthority(t, key, nil), r)
		return k
	}
}

func goodStamps() []vector {
	stamped := stampedKit("one", sigtest.Reply{})
	return []vector{
		{name: "stamped", about: "a time stamp by an authority that is brought along", base: stamped, roots: "known", proven: "timestamp seal", unproven: "complete"},
		{name: "stamped-unknown", about: "a time stamp, and no authority to hold it against", base: stamped, unproven: "timestamp complete"},
		{name: "stamped-and-signed", about: "signed by an allowed signer too", base: stamped, edit: func(k *kit) { k.sign("alice", "000001.txt.sig", 1) }, signers: alice, roots: "known", proven: "timestamp signature complete"},
		{name: "stamped-rsa", about: "an RSA signature over SHA-512, and how exact the time is", base: stampedKit("rsa", sigtest.Reply{Hash: crypto.SHA512, Accuracy: []byte{0x30, 6, 2, 1, 2, 0x80, 1, 5}}), roots: "known", proven: "timestamp"},
		{name: "stamped-essv1", about: "the signer's certificate is named by SHA-1, as before RFC 5816", base: stampedKit("one", sigtest.Reply{ESS: "v1"}), roots: "known", proven: "timestamp"},
		{name: "stamped-older-seal", about: "the first of two seals has a time stamp", base: func(t testing.TB) *kit {
			k := resealedKit(t)
			k.stamp(1, sigtest.NewAuthority(t, "one", nil), sigtest.Reply{})
			return k
		}, signers: everybody, unproven: "timestamp", proven: "complete"},
		{name: "stamped-twice", about: "each of two seals has one", base: func(t testing.TB) *kit {
			k := resealedKit(t)
			k.stamp(1, sigtest.NewAuthority(t, "rsa", nil), sigtest.Reply{})
			k.stamp(2, sigtest.NewAuthority(t, "one", nil), sigtest.Reply{})
			return k
		}, signers: everybody, roots: "known", proven: "timestamp complete"},
	}
}

// changed is an authority whose signer's certificate is another.
func changed(f func(*x509.Certificate)) func(testing.TB) *kit {
	return func(t testing.TB) *kit {
		k := sealedKit(t)
		k.stamp(1, sigtest.NewAuthority(t, "one", f), sigtest.Reply{})
		return k
	}
}

func badStamps() []vector {
	stamped := stampedKit("one", sigtest.Reply{})
	s := func(name, about string, base func(testing.TB) *kit, edit func(k *kit)) vector {
		return vector{name: "stamp-" + name, about: about, base: base, edit: edit, fails: "timestamp"}
	}
	with := func(r sigtest.Reply) func(testing.TB) *kit { return stampedKit("one", r) }
	bytesOf := func(f func(raw []byte) []byte) func(*kit) {
		return func(k *kit) { k.set(firstStamp, string(f([]byte(k.text(firstStamp))))) }
	}
	usage := func(critical bool, last ...byte) func(*x509.Certificate) {
		return func(c *x509.Certificate) {
			var value []byte
			for _, n := range last {
				value = append(value, 6, 8, 0x2b, 6, 1, 5, 5, 7, 3, n)
			}
			c.ExtraExtensions = []pkix.Extension{{Id: asn1.ObjectIdentifier{2, 5, 29, 37}, Critical: critical, Value: append([]byte{0x30, byte(len(value))}, value...)}}
		}
	}
	strange := s("foreign", "by an authority that is not the one that is brought along", stamped, nil)
	strange.roots = "other"
	late := s("expired", "the certificate of its signer had expired", with(sigtest.Reply{At: "20600101000000Z"}), nil)
	late.roots = "known"
	missing := vector{name: "stamp-required-missing", about: "the newest seal must have a time stamp, and has none", base: sealedKit, roots: "known", fails: "timestamp"}
	older := vector{name: "stamp-required-older-seal", about: "an older seal has the time stamp that the newest must have", base: func(t testing.TB) *kit {
		k := resealedKit(t)
		k.stamp(1, sigtest.NewAuthority(t, "one", nil), sigtest.Reply{})
		return k
	}, signers: everybody, roots: "known", fails: "timestamp"}
	between := s("between-changed", "a certificate between signer and root was changed, which the root shows", stamped, func(k *kit) {
		raw := []byte(k.text(firstStamp))
		i := bytes.Index(raw, []byte("Root")) // the issuer's name in that certificate
		raw[i] ^= 1
		k.set(firstStamp, string(raw))
	})
	between.roots = "known"
	list := []vector{
		strange, late, missing, older, between,
		s("imprint", "of another text", with(sigtest.Reply{Text: []byte("other")}), nil),
		s("other-bundle", "of the seal of another bundle", stamped, func(k *kit) {
			k.stamp(1, sigtest.NewAuthority(k.t, "one", nil), sigtest.Reply{Text: []byte(strings.Replace(k.text(firstSeal), "/i1", "/i2", 1))})
		}),
		s("rewritten", "journal and seal were rewritten, the time stamp stayed", stamped, all(editEntries(func(e []Entry) []Entry {
			e[1] = withData(e[1], "text", `"never said"`)
			return e
		}), reseal)),
		s("seal-gone", "of a seal that is not there", stamped, func(k *kit) { k.files["seals/000002.tsr"] = k.files[firstStamp] }),
		s("empty", "the file is empty", stamped, func(k *kit) { k.set(firstStamp, "") }),
		s("cut", "the file was cut", stamped, bytesOf(func(raw []byte) []byte { return raw[:len(raw)/2] })),
		s("trailing-byte", "a byte behind it", stamped, bytesOf(func(raw []byte) []byte { return append(raw, 0) })),
		s("not-der", "a length in more bytes than it needs", stamped, bytesOf(func(raw []byte) []byte {
			return slices.Concat([]byte{0x30, 0x83, 0}, raw[2:])
		})),
		s("indefinite", "a length that is not given, as BER allows", stamped, bytesOf(func(raw []byte) []byte {
			return slices.Concat([]byte{0x30, 0x80}, raw[4:], []byte{0, 0})
		})),
		s("token-alone", "the token without the reply around it", stamped, bytesOf(func(raw []byte) []byte { return raw[9:] })),
		s("signature-bit", "one bit of the signature", stamped, bytesOf(func(raw []byte) []byte { raw[len(raw)-9] ^= 4; return raw })),
		s("time-changed", "the time was changed", stamped, bytesOf(func(raw []byte) []byte {
			return bytes.Replace(raw, []byte("20261121022000Z"), []byte("20261121012000Z"), 1)
		})),
		s("status", "granted with changes, which a stored one does not say", with(sigtest.Reply{Status: 1}), nil),
		s("status-words", "words of the authority, which nothing vouches for", with(sigtest.Reply{Words: "fine"}), nil),
		s("refused", "a reply that refuses", with(sigtest.Reply{Status: 2}), nil),
		s("parameters", "an algorithm in its other spelling", with(sigtest.Reply{Nulls: true}), nil),
		s("unsigned", "attributes that no signature covers", with(sigtest.Reply{Unsigned: true}), nil),
		s("revocations", "revocation lists, which no signature covers", with(sigtest.Reply{CRLs: true}), nil),
		s("two-signers", "two signers", with(sigtest.Reply{Twice: true}), nil),
		s("nobody-named", "the signature does not say by which certificate", with(sigtest.Reply{ESS: "none"}), nil),
		s("other-named", "the signature names another certificate", with(sigtest.Reply{ESS: "wrong"}), nil),
		s("other-content", "signed as something else than a time stamp", with(sigtest.Reply{Content: asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 7, 1}}), nil),
		s("other-digest", "the signature is of another statement", with(sigtest.Reply{Digest: make([]byte, 32)}), nil),
		s("critical-extension", "it holds what a verifier must know and cannot", with(sigtest.Reply{Critical: true}), nil),
		s("local-time", "the time is not UTC", with(sigtest.Reply{At: "20261121022000+0100"}), nil),
		s("before-certificate", "before its certificate was valid", with(sigtest.Reply{At: "20200101000000Z"}), nil),
		s("usage-server", "the certificate is one of a web server", changed(usage(true, 1)), nil),
		s("usage-both", "the certificate is for time stamps and web servers", changed(usage(true, 8, 1)), nil),
		s("usage-not-critical", "that the certificate is for time stamps alone is not marked critical", changed(usage(false, 8)), nil),
		s("stranger-certificate", "a certificate that issued none of the others", func(t testing.TB) *kit {
			a := sigtest.NewAuthority(t, "one", nil)
			certs := []*x509.Certificate{a.Signer, a.Middle, sigtest.OtherRoot(t)}
			slices.SortFunc(certs, func(x, y *x509.Certificate) int { return bytes.Compare(x.Raw, y.Raw) })
			return with(sigtest.Reply{Certs: certs})(t)
		}, nil),
		s("no-certificate", "without the certificate of its signer", func(t testing.TB) *kit {
			return with(sigtest.Reply{Certs: []*x509.Certificate{sigtest.NewAuthority(t, "one", nil).Middle}})(t)
		}, nil),
		s("expired-certificate", "the certificate had ended a minute before", changed(func(c *x509.Certificate) { c.NotAfter = sigtest.StampAt.Add(-time.Minute) }), nil),
	}
	for i := range list {
		list[i].unproven = "complete"
		if len(list[i].signers) > 0 {
			list[i].unproven = ""
		}
	}
	return append(list,
		vector{name: "signature-sk-untouched", about: "signed by a hardware key that nobody touched", base: func(t testing.TB) *kit {
			k := sealedKit(t)
			key := sigtest.NewToken(t, ssh.KeyAlgoSKED25519, "erin")
			key.Flags = 0
			k.set(firstSig, string(sigtest.Sign(t, key, sig.SealNamespace, []byte(k.text(firstSeal)))))
			return k
		}, signers: tokens, fails: "signature"},
		vector{name: "signature-sk-flags", about: "a hardware key's signature that says now that it was not touched", base: tokenKit("erin"), signers: tokens, edit: inSig(firstSig, func(raw []byte) []byte { raw[len(raw)-5] ^= 1; return raw }), fails: "signature"},
		vector{name: "signature-sk-counter", about: "a hardware key's signature with another count", base: tokenKit("erin"), signers: tokens, edit: inSig(firstSig, func(raw []byte) []byte { raw[len(raw)-1] ^= 1; return raw }), fails: "signature"},
		vector{name: "signature-sk-application", about: "a hardware key's signature made for another application", base: tokenKit("frank"), signers: tokens, edit: inSig(firstSig, func(raw []byte) []byte {
			return bytes.Replace(raw, []byte("ssh:"), []byte("ssg:"), 1)
		}), fails: "signature"},
		vector{name: "signature-sk-as-plain", about: "a hardware key's signature without its flags and count", base: tokenKit("erin"), signers: tokens, edit: inSig(firstSig, func(raw []byte) []byte {
			raw = raw[:len(raw)-5]
			raw[len(raw)-64-4-len(ssh.KeyAlgoSKED25519)-4-4+3] -= 5
			return raw
		}), fails: "signature"},
	)
}
