package evidence

import (
	"slices"
	"strings"
	"testing"

	"golang.org/x/crypto/ssh"

	"handrail/evidence/sig"
	"handrail/evidence/sig/sigtest"
)

func badSeals() []vector {
	s := func(name, about, fails string, f func(k *kit)) vector {
		return vector{name: "seal-" + name, about: about, base: signedKit, signers: alice, edit: f, fails: fails}
	}
	return []vector{
		s("file-gone", "the checkpoint is missing, its signature is there", "seal complete", remove(firstSeal)),
		s("both-gone", "checkpoint and signature are missing, the seal entry is there", "seal complete", remove(firstSeal, firstSig)),
		s("tail-cut", "the last two entries were cut off", "seal complete signature", editLines(func(l []string) []string { return l[:3] })),
		s("entry-cut", "the seal entry was cut off", "seal complete signature", editLines(func(l []string) []string { return l[:4] })),
		s("root-edited", "the checkpoint has another root", "seal complete", func(k *kit) { k.set(firstSeal, string(k.at(3).Text())) }),
		s("size-edited", "the checkpoint covers fewer entries", "seal complete", inFile(firstSeal, "\n5\n", "\n4\n")),
		s("other-bundle", "the checkpoint is of another bundle", "seal complete", inFile(firstSeal, "/i1\n", "/i2\n")),
		s("no-newline", "the checkpoint has no newline at its end", "seal complete", func(k *kit) { k.set(firstSeal, strings.TrimSuffix(k.text(firstSeal), "\n")) }),
		s("fourth-line", "the checkpoint has a fourth line", "seal complete", func(k *kit) { k.set(firstSeal, k.text(firstSeal)+"x\n") }),
		s("padded-size", "the number of entries has a leading zero", "seal complete", inFile(firstSeal, "\n5\n", "\n05\n")),
		s("base64-respelled", "the root in another spelling of the same bytes", "seal complete", respellRoot),
		s("renumbered", "the checkpoint has the number of a seal that is not there", "seal complete", func(k *kit) {
			k.files["seals/000002.txt"] = k.files[firstSeal]
			delete(k.files, firstSeal)
		}),
		s("twice", "a second checkpoint that no seal entry stands for", "seal complete", func(k *kit) { k.files["seals/000002.txt"] = k.files[firstSeal] }),
		s("rewritten", "journal and seal were rewritten, the signature stayed", "signature", all(editEntries(func(e []Entry) []Entry {
			e[1] = withData(e[1], "text", `"never said"`)
			return e
		}), reseal)),
		s("replayed", "the seal of an earlier state was put back over a longer journal", "seal complete", func(k *kit) {
			k.rechain(append(k.entries()[:4], k.entries()[1], k.entries()[4]))
			old := signedKit(k.t)
			k.reseal()
			k.files[firstSeal], k.files[firstSig] = old.files[firstSeal], old.files[firstSig]
		}).and("signature"),
		s("continued-without-reopen", "an entry follows the seal, and no reopen between", "seal complete", editEntries(func(e []Entry) []Entry { return append(e, e[1]) })),
		s("reopen-out-of-place", "a reopen that follows no seal", "seal complete signature", all(editEntries(func(e []Entry) []Entry {
			r := e[1]
			r.Type = "reopen"
			return slices.Insert(e, 2, r)
		}), reseal)),
		s("says-fewer-entries", "the seal counts fewer entries, all hashes and the signature made right", "seal complete", sealSays("entries", "3")),
		s("says-fewer-blobs", "the seal counts fewer blobs", "seal complete", sealSays("blobs", "1")),
		s("says-other-bytes", "the seal counts other bytes", "seal complete", sealSays("blob_bytes", `"9"`)),
		s("says-other-types", "the seal counts other types", "seal complete", sealSays("types", `{"note":9}`)),
		s("says-other-ruleset", "the seal names another rule set", "seal complete", sealSays("rulesets", `["`+zeroHash+`"]`)),
		s("says-anchors", "the seal lists a line that the journal does not", "seal complete", sealSays("anchors", `["handrail-seal i1 1 x"]`)),
		s("says-quarantine", "the seal lists a file that the journal does not", "seal complete", sealSays("quarantine", `["0-x.bin"]`)),
		s("says-clock", "the seal says that the clock stepped back", "seal complete", sealSays("clock", `{"back":3}`)),
		s("says-seals", "the seal counts an earlier one", "seal complete", sealSays("seals", "1")),
		{name: "seal-first-of-two-gone", about: "the first of two checkpoints is missing", base: resealedKit, signers: everybody, edit: remove(firstSeal, firstSig), fails: "seal complete"},
		{name: "seal-blob-edited", about: "a blob of a sealed bundle was changed", base: signedKit, signers: alice, edit: func(k *kit) { k.set(k.someBlob(), "x") }, fails: "blobs"},
		{name: "seal-entry-edited", about: "a word before the seal was changed", base: signedKit, signers: alice, edit: editLines(func(l []string) []string { l[1] = strings.Replace(l[1], "first", "forst", 1); return l }), fails: "chain complete seal signature"},
		{name: "seal-in-the-middle-dropped", about: "an entry was dropped and all hashes made right, the seal not", base: signedKit, signers: alice, edit: editEntries(func(e []Entry) []Entry { return slices.Delete(e, 3, 4) }), fails: "seal complete signature"},
		{name: "seal-clock-edited", about: "a time was changed and journal and seal made right", base: signedKit, signers: alice, edit: all(editEntries(func(e []Entry) []Entry {
			e[3].T = "2026-11-21T01:00:00.000000000Z"
			return e
		}), reseal), fails: "signature"},
		{name: "seal-actor-edited", about: "who did it was changed and journal and seal made right", base: signedKit, signers: alice, edit: all(editEntries(func(e []Entry) []Entry {
			e[3].Actor = "sam"
			return e
		}), reseal), fails: "signature"},
	}
}

// and adds to what must fail.
func (v vector) and(fails string) vector {
	v.fails += " " + fails
	return v
}

// respellRoot changes the bits of the last base64 digit that no byte uses.
func respellRoot(k *kit) {
	text := k.text(firstSeal)
	i := strings.Index(text, "=\n") - 1
	const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
	k.set(firstSeal, text[:i]+string(digits[strings.IndexByte(digits, text[i])|1])+text[i+1:])
}

func badSignatures() []vector {
	s := func(name, about string, f func(k *kit)) vector {
		return vector{name: "signature-" + name, about: about, base: signedKit, signers: alice, edit: f, fails: "signature", unproven: "complete"}
	}
	by := func(who string) func(k *kit) { return func(k *kit) { k.sign(who, "000001.txt.sig", 1) } }
	return []vector{
		s("bit", "one bit of the signature", inSig(firstSig, func(raw []byte) []byte { raw[len(raw)-9] ^= 4; return raw })),
		s("key-bit", "one bit of the public key", inSig(firstSig, func(raw []byte) []byte { raw[40] ^= 1; return raw })),
		s("empty", "the signature file is empty", func(k *kit) { k.set(firstSig, "") }),
		s("cut", "the signature was cut", func(k *kit) { k.set(firstSig, k.text(firstSig)[:100]) }),
		s("trailing-newline", "an empty line behind the armour", func(k *kit) { k.set(firstSig, k.text(firstSig)+"\n") }),
		s("text-before", "text before the armour", func(k *kit) { k.set(firstSig, "signed:\n"+k.text(firstSig)) }),
		s("rewrapped", "the same signature in lines of 64", func(k *kit) {
			body := strings.ReplaceAll(strings.TrimSuffix(strings.TrimPrefix(k.text(firstSig), sigtest.Begin), sigtest.End), "\n", "")
			out := sigtest.Begin
			for c := range slices.Chunk([]byte(body), 64) {
				out += string(c) + "\n"
			}
			k.set(firstSig, out+sigtest.End)
		}),
		s("crlf", "the armour with the line ends of Windows", func(k *kit) { k.set(firstSig, strings.ReplaceAll(k.text(firstSig), "\n", "\r\n")) }),
		s("trailing-bytes", "bytes behind the signature inside the armour", inSig(firstSig, func(raw []byte) []byte { return append(raw, 0) })),
		s("reserved", "something in the reserved field", inSig(firstSig, func(raw []byte) []byte {
			i := strings.Index(string(raw), sig.SealNamespace) + len(sig.SealNamespace)
			return slices.Insert(slices.Concat(raw[:i], []byte{0, 0, 0, 1}, raw[i+4:]), i+4, 'x')
		})),
		s("version", "another version of the signature format", inSig(firstSig, func(raw []byte) []byte { raw[9] = 2; return raw })),
		s("namespace", "signed for another purpose", func(k *kit) {
			k.set(firstSig, string(sigtest.Sign(k.t, sigtest.Key(k.t, "alice"), "git", []byte(k.text(firstSeal)))))
		}),
		s("namespace-relabelled", "signed for another purpose, and the name of the purpose changed afterwards", func(k *kit) {
			key := sigtest.Key(k.t, "alice")
			made := sigtest.SignCovered(k.t, key, sigtest.Covered("file", []byte(k.text(firstSeal))))
			k.set(firstSig, string(sigtest.Armour(sigtest.Pack(key.PublicKey(), sig.SealNamespace, made))))
		}),
		s("other-text", "a signature of another text", func(k *kit) {
			k.set(firstSig, string(sigtest.Sign(k.t, sigtest.Key(k.t, "alice"), sig.SealNamespace, []byte("other"))))
		}),
		s("other-bundle", "the signature of another bundle's seal", func(k *kit) {
			k.set(firstSig, string(sigtest.Sign(k.t, sigtest.Key(k.t, "alice"), sig.SealNamespace, []byte(strings.Replace(k.text(firstSeal), "/i1", "/i2", 1)))))
		}),
		s("hash-name", "the hash is called by another name", inSig(firstSig, func(raw []byte) []byte {
			return []byte(strings.Replace(string(raw), "sha512", "sha256", 1))
		})),
		s("key-swapped", "the public key was replaced by an allowed one", func(k *kit) {
			by("bob")(k)
			covered := sigtest.Covered(sig.SealNamespace, []byte(k.text(firstSeal)))
			made := sigtest.SignCovered(k.t, sigtest.Key(k.t, "dave"), covered)
			k.set(firstSig, string(sigtest.Armour(sigtest.Pack(sigtest.Key(k.t, "alice").PublicKey(), sig.SealNamespace, made))))
		}),
		s("ecdsa-respelled", "an ECDSA signature with a leading zero in a number", func(k *kit) {
			covered := sigtest.Covered(sig.SealNamespace, []byte(k.text(firstSeal)))
			key := sigtest.Key(k.t, "bob")
			made := sigtest.SignCovered(k.t, key, covered)
			var pair struct{ R, S []byte }
			if err := ssh.Unmarshal(made.Blob, &pair); err != nil {
				k.t.Fatal(err)
			}
			made.Blob = sigtest.Field(sigtest.Field(nil, append([]byte{0}, pair.R...)), pair.S)
			k.set(firstSig, string(sigtest.Armour(sigtest.Pack(key.PublicKey(), sig.SealNamespace, made))))
		}),
		s("rsa-sha1", "an RSA signature over SHA-1", func(k *kit) {
			covered := sigtest.Covered(sig.SealNamespace, []byte(k.text(firstSeal)))
			key := sigtest.Key(k.t, "carol")
			made, err := key.(ssh.AlgorithmSigner).SignWithAlgorithm(nil, covered, ssh.KeyAlgoRSA)
			if err != nil {
				k.t.Fatal(err)
			}
			k.set(firstSig, string(sigtest.Armour(sigtest.Pack(key.PublicKey(), sig.SealNamespace, made))))
		}),
		{name: "signature-seal-gone", about: "a signature of a seal that is not there", base: signedKit, signers: alice, edit: func(k *kit) {
			k.files["seals/000002.txt.sig"] = k.files[firstSig]
		}, fails: "signature"},
		{name: "signature-name-of-other-key", about: "the file name says another key", base: signedKit, signers: alice, edit: func(k *kit) {
			k.files["seals/000001.txt.0123456789abcdef.sig"] = k.files[firstSig]
		}, fails: "signature"},
		{name: "signature-second-broken", about: "one of several signatures does not fit", base: resealedKit, signers: everybody, edit: func(k *kit) {
			k.files["seals/000002.txt.sig"] = k.files[firstSig]
		}, fails: "signature"},
		{name: "policy-namespace", about: "the signer is allowed for something else", base: signedKit, signers: []string{`alice namespaces="git"`}, fails: "signature"},
		{name: "policy-not-yet", about: "the key was not valid yet", base: signedKit, signers: []string{`alice valid-after="20270101Z"`}, fails: "signature"},
		{name: "policy-no-more", about: "the key was no longer valid", base: signedKit, signers: []string{`alice valid-before="20261101Z"`}, fails: "signature"},
		{name: "policy-required-missing", about: "somebody did not sign who must have", base: signedKit, signers: everybody, signedBy: []string{"bob@example.com"}, fails: "signed-by"},
		{name: "policy-required-unsigned", about: "nobody signed, and somebody must have", base: sealedKit, signers: alice, signedBy: []string{"alice@example.com"}, fails: "signed-by"},
		{name: "policy-required-unknown", about: "the one who must have signed is in no policy", base: signedKit, signedBy: []string{"alice@example.com"}, fails: "signed-by"},
		{name: "policy-required-older-seal", about: "the newest seal is not the one that was signed", base: func(t testing.TB) *kit {
			k := resealedKit(t)
			for name := range k.files {
				if strings.HasPrefix(name, "seals/000002.txt.") {
					delete(k.files, name)
				}
			}
			return k
		}, signers: alice, signedBy: []string{"alice@example.com"}, fails: "signed-by"},
	}
}

func badAnchors() []vector {
	rewrite := editEntries(func(e []Entry) []Entry { e[1] = withData(e[1], "text", `"never said"`); return e })
	recorded := func(value string) func(*kit) {
		return editEntries(func(e []Entry) []Entry {
			i := slices.IndexFunc(e, func(e Entry) bool { return e.Type == "checkpoint" })
			e[i] = withData(e[i], "line", value)
			return e
		})
	}
	return []vector{
		{name: "anchor-rewritten", about: "the journal was rewritten before the line that was posted", base: opened, anchors: []int{3}, edit: rewrite, fails: "anchor"},
		{name: "anchor-cut", about: "what the posted line covers was cut off", base: opened, anchors: []int{0}, edit: editLines(func(l []string) []string { return l[:3] }), fails: "anchor"},
		{name: "anchor-resigned", about: "rewritten, sealed and signed again with the right key: only the posted line shows it", base: signedKit, signers: alice, anchors: []int{3}, edit: all(rewrite, reseal, func(k *kit) { k.sign("alice", "000001.txt.sig", 1) }), fails: "anchor"},
		{name: "anchor-seal-removed", about: "the seal was removed whole: the posted line shows it", base: signedKit, signers: alice, anchors: []int{0}, edit: all(editLines(func(l []string) []string { return l[:4] }), remove(firstSeal, firstSig)), fails: "anchor"},
		{name: "anchor-other-bundle", about: "another honest bundle in the place of the one that was posted", base: opened, anchors: []int{3}, edit: func(k *kit) {
			k.files = bundled(k.t, "i2", fill(k.t)).files
		}, fails: "anchor"},
		{name: "anchor-one-of-several", about: "one of several posted lines does not fit", base: opened, anchors: []int{1, 4}, edit: editEntries(func(e []Entry) []Entry { e[3].Actor = "sam"; return e }), fails: "anchor"},
		{name: "anchor-recorded-rewritten", about: "the journal was rewritten before the line that it says was posted", base: anchoredKit, edit: rewrite, fails: "anchor"},
		{name: "anchor-recorded-nonsense", about: "the line that the journal says was posted is none", base: anchoredKit, edit: recorded(`"posted it"`), fails: "anchor"},
		{name: "anchor-recorded-future", about: "a line over more entries than there were", base: anchoredKit, edit: func(k *kit) { recorded(`"` + k.at(4).Line() + `"`)(k) }, fails: "anchor"},
	}
}
