package evidence

import (
	"context"
	"slices"
	"strings"
	"testing"

	"handrail/evidence/sig"
	"handrail/evidence/sig/sigtest"
)

const readOut = "correct-horse-battery"

// againOld is a sealed bundle with a value in it that was not known to be secret.
func againOld(t testing.TB) *kit {
	return bundled(t, "i1", func(b *Bundle) {
		note(t, b, "somebody read out "+readOut)
		log, clean := putBlob(t, b, "text/plain", "at 02:14 "+readOut+" was used\n"), putBlob(t, b, "text/plain", "clean\n")
		if _, err := b.Append(context.Background(), Draft{Type: "probe.end", Actor: "robin", Step: "r/lock", Data: map[string]any{"log": log.SHA256}, Blobs: []Blob{log, clean}}); err != nil {
			t.Fatal(err)
		}
		sealIt(t, b, "r/ask")
	})
}

// againNew is what was made of it.
func againNew(t testing.TB) *kit {
	dir := t.TempDir()
	how := Again{Values: []string{readOut}, Actor: "alex", Reason: "a password was read out"}
	got, err := RedactAgain(context.Background(), againOld(t).write(dir), how, vectorOptions(t))
	if err != nil {
		t.Fatal(err)
	}
	k := &kit{t: t, id: got.ID, files: map[string]file{}}
	k.load(got.Path)
	return k
}

func goodAgain() []vector {
	return []vector{
		{name: "again", about: "redacted again, beside the bundle that it was made from", base: againNew, from: againOld, proven: "redacted-again seal"},
		{name: "again-alone", about: "redacted again; the bundle that it was made from is not at hand", base: againNew, unproven: "redacted-again"},
		{name: "again-signed", about: "redacted again, and signed afterwards", base: func(t testing.TB) *kit {
			k := againNew(t)
			k.sign("alice", "000001.txt.sig", 1)
			return k
		}, from: againOld, signers: alice, proven: "redacted-again signature complete"},
	}
}

func badAgain() []vector {
	a := func(name, about string, edit func(k *kit)) vector {
		return vector{name: "again-" + name, about: about, base: againNew, from: againOld, edit: edit, fails: "redacted-again"}
	}
	entries := func(f func(e []Entry) []Entry) func(*kit) { return all(editEntries(f), reseal) }
	word := func(old, with string) func(*kit) {
		return entries(func(e []Entry) []Entry {
			for i := range e {
				if e[i].Type == "note" {
					e[i].Data = []byte(strings.Replace(string(e[i].Data), old, with, 1))
				}
			}
			return e
		})
	}
	not := a("not", "nothing in it says that it was made from another", nil)
	not.base = againOld
	other := a("from-other", "the bundle beside it is another", nil)
	other.from = signedKit
	rewritten := a("from-rewritten", "the bundle beside it was rewritten since", nil)
	rewritten.from = func(t testing.TB) *kit {
		k := againOld(t)
		entries(func(e []Entry) []Entry { e[1].Actor = "sam"; return e })(k)
		return k
	}
	signed := a("signature-carried", "the signature of the old bundle was put beside it", func(k *kit) {
		k.set(firstSig, string(sigtest.Sign(k.t, sigtest.Key(k.t, "alice"), sig.SealNamespace, againOld(k.t).files[firstSeal].data)))
	})
	signed.signers, signed.fails, signed.proven = alice, "signature", "redacted-again"
	stamped := a("stamp-carried", "the time stamp of the old bundle was put beside it", func(k *kit) {
		k.stamp(1, sigtest.NewAuthority(k.t, "one", nil), sigtest.Reply{Text: againOld(k.t).files[firstSeal].data})
	})
	stamped.fails, stamped.proven = "timestamp", "redacted-again"
	return []vector{
		not, other, rewritten, signed, stamped,
		a("word-changed", "a word was changed beside the hidden value", word("somebody", "nobody")),
		a("word-added", "a word was added", word("read out ", "read out twice ")),
		a("word-dropped", "a word was dropped", word("somebody ", "")),
		a("token-added", "a token stands where nothing stood", word("somebody", "<redacted:password:0123456789abcdef>somebody")),
		a("time-changed", "the time of an entry was changed", entries(func(e []Entry) []Entry { e[1].T = "2026-11-21T02:14:00.500000000Z"; return e })),
		a("type-changed", "the type of an entry was changed", entries(func(e []Entry) []Entry { e[1].Type = "answer"; return e })),
		a("actor-changed", "who did it was changed", entries(func(e []Entry) []Entry { e[1].Actor = "sam"; return e })),
		a("step-changed", "the step was changed", entries(func(e []Entry) []Entry { e[2].Step = "r/other"; return e })),
		a("entry-dropped", "an entry was dropped", entries(func(e []Entry) []Entry { return slices.Delete(e, 1, 2) })),
		a("entry-added", "an entry was put in", entries(func(e []Entry) []Entry { return slices.Insert(e, 1, e[1]) })),
		a("blob-dropped", "an entry names an artifact less", entries(func(e []Entry) []Entry { e[2].Blobs = e[2].Blobs[:1]; return e })),
		a("blob-changed", "an artifact differs in more than the hidden value", func(k *kit) {
			e := k.entries()
			was := e[2].Blobs[0].SHA256
			text := strings.Replace(k.text(blobName(was)), "02:14", "03:14", 1)
			k.drop(blobName(was))
			k.set(blobName(sumHex([]byte(text))), text)
			e[2].Blobs[0].SHA256 = sumHex([]byte(text))
			e[2].Data = []byte(strings.Replace(string(e[2].Data), was, sumHex([]byte(text)), 1))
			k.rechain(e)
			k.reseal()
		}),
		a("says-other-root", "it names another state of the old bundle", entries(func(e []Entry) []Entry {
			e[0].Data = []byte(strings.Replace(string(e[0].Data), `"root":"`, `"root":"A`, 1))
			return e
		})),
		a("says-more-entries", "it says that the old bundle had more entries than it has itself", entries(func(e []Entry) []Entry {
			e[0].Data = []byte(strings.Replace(string(e[0].Data), `"again":{"id":"i1","entries":4`, `"again":{"id":"i1","entries":9`, 1))
			return e
		})),
		a("itself", "it says that it was made from itself", entries(func(e []Entry) []Entry {
			e[0].Data = []byte(strings.Replace(string(e[0].Data), `"again":{"id":"i1"`, `"again":{"id":"i1-r1"`, 1))
			return e
		})),
		a("skipped-changed", "the seal says that other steps were left out", entries(func(e []Entry) []Entry {
			e[3].Data = []byte(strings.Replace(string(e[3].Data), `r/ask`, `r/lie`, 1))
			return e
		})),
	}
}
