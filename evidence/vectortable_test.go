package evidence

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"handrail/evidence/jsontree"
	"handrail/evidence/sig/sigtest"
)

// vector is one sample bundle with the verdict that every verifier must come to.
type vector struct {
	name, about string
	base        func(testing.TB) *kit
	edit        func(k *kit)
	signers     []string // lines for allowed, none for no policy
	signedBy    []string
	anchors     []int                 // the lines over so many entries, taken before the edit; 0 for all
	roots       string                // whose time stamps count: "known" or "other", "" for none
	from        func(testing.TB) *kit // the bundle that it was redacted again from
	fails       string                // the properties that must fail, all of them
	proven      string                // properties that must be proven, besides
	unproven    string                // properties that must not be
}

const (
	firstSeal = "seals/000001.txt"
	firstSig  = "seals/000001.txt.sig"
	logBlob   = "blobs/sha256/f2/f27de03e05bc36d2b8a11a1d9c1b7a55f4a3a3f0e7d9c6c0cbb6b0a1d3c9f000"
)

var alice, everybody = []string{"alice"}, []string{"alice", "bob", "carol"}

// someBlob is the name of a blob of the bundle.
func (k *kit) someBlob() string {
	var names []string
	for name := range k.files {
		if strings.HasPrefix(name, "blobs/") {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names[0]
}

func (k *kit) kept() string {
	for name := range k.files {
		if strings.HasPrefix(name, "quarantine/") {
			return name
		}
	}
	k.t.Fatal("nothing in quarantine")
	return ""
}

// editLines changes raw lines, and leaves their hashes as they are.
func editLines(f func(l []string) []string) func(*kit) {
	return func(k *kit) { k.setLines(f(k.lines())) }
}

// editEntries changes entries and computes all hashes again.
func editEntries(f func(e []Entry) []Entry) func(*kit) {
	return func(k *kit) { k.rechain(f(k.entries())) }
}

func inFile(name, old, with string) func(*kit) {
	return func(k *kit) { k.replace(name, old, with) }
}

func remove(names ...string) func(*kit) {
	return func(k *kit) {
		for _, n := range names {
			k.drop(n)
		}
	}
}

func all(edits ...func(*kit)) func(*kit) {
	return func(k *kit) {
		for _, e := range edits {
			e(k)
		}
	}
}

func reseal(k *kit) { k.reseal() }

func withData(e Entry, key, value string) Entry {
	var m map[string]json.RawMessage
	if err := json.Unmarshal(e.Data, &m); err != nil {
		panic(err)
	}
	m[key] = json.RawMessage(value)
	raw, _ := json.Marshal(m)
	n, err := jsontree.Parse(raw, jsontree.StrictKeys)
	if err != nil {
		panic(err)
	}
	e.Data = n.AppendTo(nil, -1, 0)
	return e
}

// sealSays changes what the seal says of the journal and makes everything around fit again but the signature.
func sealSays(key, value string) func(*kit) {
	return func(k *kit) {
		l := k.entries()
		i := slices.IndexFunc(l, func(e Entry) bool { return e.Type == "seal" })
		var d sealData
		if err := json.Unmarshal(l[i].Data, &d); err != nil {
			k.t.Fatal(err)
		}
		raw := fmt.Sprintf(`{%q:%s}`, key, value)
		if err := json.Unmarshal([]byte(raw), &d); err != nil {
			k.t.Fatal(err)
		}
		out, _ := json.Marshal(d)
		n, _ := jsontree.Parse(out, jsontree.StrictKeys)
		l[i].Data = n.AppendTo(nil, -1, 0)
		k.rechain(l)
		k.set(firstSeal, string(k.at(i+1).Text()))
		if _, signed := k.files[firstSig]; signed {
			k.sign("alice", "000001.txt.sig", 1)
		}
	}
}

// inSig changes the bytes inside the armour.
func inSig(name string, f func(raw []byte) []byte) func(*kit) {
	return func(k *kit) {
		text := strings.TrimSuffix(strings.TrimPrefix(k.text(name), sigtest.Begin), sigtest.End)
		raw, err := base64.StdEncoding.DecodeString(strings.ReplaceAll(text, "\n", ""))
		if err != nil {
			k.t.Fatal(err)
		}
		k.set(name, string(sigtest.Armour(f(raw))))
	}
}

func goodVectors() []vector {
	return slices.Concat(goodBundles(), goodTokens(), goodStamps(), goodAgain())
}

func goodBundles() []vector {
	return []vector{
		{name: "open", about: "an incident that goes on, not sealed", base: opened, unproven: "complete seal signature", proven: "chain blobs format"},
		{name: "open-one-entry", about: "nothing but entry 0", base: func(t testing.TB) *kit { return bundled(t, "i1", func(*Bundle) {}) }, proven: "chain", unproven: "complete"},
		{name: "open-recovered", about: "a torn line went to quarantine", base: recoveredKit, proven: "chain quarantine"},
		{name: "open-extra-blob", about: "a crash came between a blob and the entry that would name it", base: opened, edit: func(k *kit) { k.set("blobs/sha256/"+sumHex([]byte("x"))[:2]+"/"+sumHex([]byte("x")), "x") }, proven: "blobs"},
		{name: "open-temporary-file", about: "a crash left an unfinished file", base: opened, edit: func(k *kit) { k.set("blobs/sha256/.tmp-1-1", "half") }, proven: "layout"},
		{name: "open-report-beside", about: "a report lies in the bundle; nothing vouches for it", base: opened, edit: func(k *kit) { k.set("report.md", "anything") }, proven: "layout"},
		{name: "open-lock", about: "the lock of a writer, which means nothing", base: opened, edit: func(k *kit) { k.set("lock", "7 boot\n") }, proven: "layout"},
		{name: "open-two-segments", about: "the chain goes on in a second segment", base: opened, edit: func(k *kit) {
			l := k.lines()
			k.setLines(l[:2])
			k.set("journal/000002.jsonl", strings.Join(l[2:], ""))
		}, proven: "chain"},
		{name: "open-newer-type", about: "a newer handrail wrote an entry of a type unknown today", base: opened, edit: editEntries(func(e []Entry) []Entry { e[3].Type = "hologram"; return e }), proven: "chain format"},
		{name: "open-hostile-text", about: "control and direction characters, escaped in the one way", base: func(t testing.TB) *kit {
			return bundled(t, "i1", func(b *Bundle) { note(t, b, "\x1b[2J\u202egnp.exe\u0085\u2028\U000E0041 \"\\\b\f\r\n\t") })
		}, proven: "chain"},
		{name: "open-clock-back", about: "the clock of the host stepped back", base: opened, edit: editEntries(func(e []Entry) []Entry { e[3].T = "2026-11-20T00:00:00.000000000Z"; return e }), proven: "chain"},
		{name: "open-rewritten", about: "NOT noticed without a signature or an anchor: the whole journal was rewritten", base: opened, edit: editEntries(func(e []Entry) []Entry { e[1] = withData(e[1], "text", `"never said"`); return e }), unproven: "complete seal"},
		{name: "open-tail-cut", about: "NOT noticed without a seal or an anchor: the last entry was cut off", base: opened, edit: editLines(func(l []string) []string { return l[:3] }), unproven: "complete"},
		{name: "seal-cut-with-its-entry", about: "NOT noticed without an anchor: the seal was removed whole", base: signedKit, edit: all(editLines(func(l []string) []string { return l[:len(l)-1] }), remove(firstSeal, firstSig)), unproven: "complete seal signature"},
		{name: "sealed", about: "sealed, signed by nobody", base: sealedKit, proven: "seal", unproven: "complete signature"},
		{name: "sealed-rewritten", about: "NOT noticed without a signature: journal and seal were rewritten", base: sealedKit, edit: all(editEntries(func(e []Entry) []Entry { e[1] = withData(e[1], "text", `"never said"`); return e }), reseal), proven: "seal", unproven: "complete"},
		{name: "signed-unknown", about: "signed by somebody whom the verifier does not know", base: signedKit, proven: "seal", unproven: "signature complete"},
		{name: "signed", about: "signed by an allowed signer", base: signedKit, signers: alice, proven: "seal signature complete"},
		{name: "signed-required", about: "signed by the person who must have signed", base: signedKit, signers: alice, signedBy: []string{"alice@example.com"}, proven: "signed-by complete"},
		{name: "signed-namespace", about: "the signer is allowed for this namespace", base: signedKit, signers: []string{`alice namespaces="git,seal-v?@handrail"`}, proven: "signature"},
		{name: "signed-in-time", about: "the key was valid when the seal was made, and is no more", base: signedKit, signers: []string{`alice valid-after="20261101Z",valid-before="20261201Z"`}, proven: "signature"},
		{name: "signed-by-other-in-policy", about: "the policy knows other people", base: signedKit, signers: []string{"bob", "carol"}, unproven: "signature complete"},
		{name: "signed-and-anchored", about: "signed, and a line that was posted at the seal", base: signedKit, signers: alice, anchors: []int{0}, proven: "signature anchor complete"},
		{name: "resealed", about: "sealed, reopened and sealed again; four signatures", base: resealedKit, signers: everybody, proven: "seal signature complete"},
		{name: "resealed-some-known", about: "one of the signers is known", base: resealedKit, signers: alice, proven: "seal complete"},
		{name: "resealed-all-required", about: "three people must have signed", base: resealedKit, signers: everybody, signedBy: []string{"alice@example.com", "bob@example.com", "carol@example.com"}, proven: "signed-by"},
		{name: "reopened", about: "an entry after the seal; the seal stays good for what it covers", base: func(t testing.TB) *kit {
			k := bundled(t, "i1", func(b *Bundle) { fill(t)(b); sealIt(t, b); note(t, b, "more") })
			k.sign("alice", "000001.txt.sig", 1)
			return k
		}, signers: alice, proven: "seal signature", unproven: "complete"},
		{name: "anchored", about: "the journal says that a line was posted", base: anchoredKit, proven: "chain", unproven: "anchor complete"},
		{name: "anchored-brought", about: "the line that was posted is brought along", base: anchoredKit, anchors: []int{2}, proven: "chain"},
		{name: "anchor-first", about: "a line over entry 0 alone", base: opened, anchors: []int{1}, proven: "anchor", unproven: "complete"},
		{name: "anchor-all", about: "a line over every entry", base: opened, anchors: []int{0}, proven: "anchor complete"},
		{name: "anchor-several", about: "lines of several moments", base: resealedKit, anchors: []int{1, 3, 5, 0}, proven: "anchor complete"},
	}
}

func badVectors() []vector {
	var out []vector
	for _, list := range [][]vector{badChain(), badFormat(), badFiles(), badSeals(), badSignatures(), badAnchors(), badStamps(), badAgain()} {
		out = append(out, list...)
	}
	return out
}

func badChain() []vector {
	line := func(name, about, fails string, f func(l []string) []string) vector {
		return vector{name: "chain-" + name, about: about, base: opened, edit: editLines(f), fails: fails}
	}
	const broken = "chain complete"
	return []vector{
		line("text-edited", "a word in the middle was changed", broken, func(l []string) []string { l[1] = strings.Replace(l[1], "first", "forst", 1); return l }),
		line("last-edited", "a word of the last line was changed", "complete", func(l []string) []string { l[3] = strings.Replace(l[3], "last", "lost", 1); return l }),
		line("swapped", "two lines were swapped", broken, func(l []string) []string { l[1], l[2] = l[2], l[1]; return l }),
		line("duplicated", "a line is there twice", broken, func(l []string) []string { return slices.Insert(l, 1, l[1]) }),
		line("deleted", "a line in the middle is gone", broken, func(l []string) []string { return slices.Delete(l, 1, 2) }),
		line("first-deleted", "entry 0 is gone", broken+" format redaction", func(l []string) []string { return l[1:] }),
		line("empty-line", "an empty line between two", broken, func(l []string) []string { return slices.Insert(l, 1, "\n") }),
		line("space-before", "a blank before a line", broken, func(l []string) []string { l[1] = " " + l[1]; return l }),
		line("space-inside", "a blank inside a line, where JSON has no use for it", broken, func(l []string) []string { l[1] = strings.Replace(l[1], `,"type"`, `, "type"`, 1); return l }),
		line("crlf", "lines end as on Windows", broken+" format redaction", func(l []string) []string { l[0] = strings.TrimSuffix(l[0], "\n") + "\r\n"; return l }),
		line("torn", "the last line has no end", "complete", func(l []string) []string { l[3] = l[3][:40]; return l }),
		line("torn-one-byte", "the newline at the end is missing", "complete", func(l []string) []string { l[3] = strings.TrimSuffix(l[3], "\n"); return l }),
		line("garbage-after", "bytes after the last line", "complete", func(l []string) []string { return append(l, "\x00\x00\x00") }),
		line("prev-changed", "the hash of the line before was changed", broken, func(l []string) []string { l[2] = strings.Replace(l[2], `"prev":"`, `"prev":"0`, 1); return l }),
		line("hash-upper-case", "the hash is written in upper case", broken, func(l []string) []string {
			l[1] = l[1][:len(l[1])-67] + strings.ToUpper(l[1][len(l[1])-67:len(l[1])-3]) + l[1][len(l[1])-3:]
			return l
		}),
		line("own-hash-fixed", "a line was changed and its own hash made right, the next line not", broken, func(l []string) []string {
			p := strings.Replace(l[1][:len(l[1])-1-hashSuffix], "first", "forst", 1)
			l[1] = p + `,"hash":"` + leafHash([]byte(p)) + "\"}\n"
			return l
		}),
		line("empty", "the journal has no entry", "chain format redaction complete", func(l []string) []string { return nil }),
		line("nul-line", "a line of NULs, as a file system may leave after a power loss, and then a good one", broken, func(l []string) []string {
			return slices.Insert(l, 3, strings.Repeat("\x00", 512)+"\n")
		}),
		canonical("duplicate-key", "a key is there twice in data", `{"text":"first"}`, `{"text":"first","text":"other"}`),
		canonical("escaped-letter", "a letter is escaped that stands for itself", `"first"`, `"\u0066irst"`),
		canonical("upper-case-escape", "an escape in upper case", `"first"`, `"first\u001B"`),
		canonical("raw-direction-mark", "a direction mark that is not escaped", `"first"`, "\"first\u202e\""),
		canonical("raw-control", "a control character that is not escaped", `"first"`, "\"first\x1b\""),
		canonical("slash-escaped", "an escaped slash", `"first"`, `"first\/"`),
		canonical("invalid-utf8", "bytes that are no UTF-8", `"first"`, "\"first\xff\""),
		canonical("unknown-field", "a field that an entry does not have", `,"blobs":[]`, `,"extra":1,"blobs":[]`),
		canonical("missing-field", "a field is missing", `,"boot":"00000000-0000-0000-0000-000000000001"`, ``),
		canonical("field-order", "fields in another order", `"actor":"robin","step":""`, `"step":"","actor":"robin"`),
		canonical("data-array", "data is no object", `{"text":"first"}`, `["first"]`),
		canonical("leading-zero", "a number with a leading zero", `{"v":1,"seq":1,`, `{"v":1,"seq":01,`),
		canonical("version-two", "an entry of another version", `{"v":1,`, `{"v":2,`),
		canonical("time-not-utc", "a time with an offset", "0Z\"", "0+00:00\""),
		canonical("deep", "data nested 300 deep", `{"text":"first"}`, `{"text":`+strings.Repeat(`[`, 300)+strings.Repeat(`]`, 300)+`}`),
		{name: "chain-seq-gap", about: "a number is left out, all hashes made right", base: opened, edit: func(k *kit) {
			l := k.entries()
			prev, text := zeroHash, ""
			for i := range l {
				if i > 1 {
					l[i].Seq++
				}
				l[i].Prev = prev
				var line []byte
				line, prev = appendEntry(nil, &l[i])
				text += string(line) + "\n"
			}
			k.set(firstSegment, text)
		}, fails: broken},
		{name: "chain-long-line", about: "a line of over 1 MiB", base: opened, edit: editLines(func(l []string) []string {
			return slices.Insert(l, 2, strings.Repeat("x", MaxEntry)+"\n")
		}), fails: broken},
	}
}

// canonical changes the text of entry 1 and makes every hash right again: the line means what it says, in another form.
func canonical(name, about, old, with string) vector {
	return vector{name: "form-" + name, about: about, base: opened, fails: "chain complete", edit: func(k *kit) {
		l := k.lines()
		if !strings.Contains(l[1], old) {
			k.t.Fatalf("entry 1 holds no %q", old)
		}
		p := strings.Replace(l[1][:len(l[1])-1-hashSuffix], old, with, 1)
		l[1] = p + `,"hash":"` + leafHash([]byte(p)) + "\"}\n"
		prev := leafHash([]byte(p))
		for i := 2; i < len(l); i++ {
			p := l[i][:len(l[i])-1-hashSuffix]
			p = p[:strings.LastIndex(p, `,"prev":"`)] + `,"prev":"` + prev + `"`
			prev = leafHash([]byte(p))
			l[i] = p + `,"hash":"` + prev + "\"}\n"
		}
		k.setLines(l)
	}}
}

func badFormat() []vector {
	return []vector{
		{name: "format-readme-edited", about: "README was changed", base: opened, edit: inFile("README", "means nothing", "means much"), fails: "format"},
		{name: "format-readme-gone", about: "README is missing", base: opened, edit: remove("README"), fails: "format"},
		{name: "format-bundle-id", about: "bundle.json gives another id", base: opened, edit: inFile("bundle.json", `"id":"i1"`, `"id":"i2"`), fails: "format"},
		{name: "format-bundle-time", about: "bundle.json gives another time", base: opened, edit: inFile("bundle.json", "2026", "2025"), fails: "format"},
		{name: "format-bundle-spaces", about: "bundle.json in another form", base: opened, edit: inFile("bundle.json", `,"id"`, `, "id"`), fails: "format"},
		{name: "format-bundle-extra", about: "bundle.json with a field that it does not have", base: opened, edit: inFile("bundle.json", `}`, `,"x":"y"}`), fails: "format"},
		{name: "format-bundle-gone", about: "bundle.json is missing", base: opened, edit: remove("bundle.json"), fails: "format"},
		{name: "format-other-version", about: "another format", base: opened, edit: inFile("bundle.json", "bundle/v1", "bundle/v2"), fails: "format"},
		{name: "format-entry0-not-env", about: "entry 0 is a note", base: opened, edit: editEntries(func(e []Entry) []Entry { return e[1:] }), fails: "format redaction"},
		{name: "format-entry0-other", about: "entry 0 vouches for another bundle.json", base: opened, edit: editEntries(func(e []Entry) []Entry {
			e[0] = withData(e[0], "bundle_sha256", `"`+zeroHash+`"`)
			return e
		}), fails: "format"},
		{name: "format-entry0-id", about: "entry 0 is of another bundle", base: opened, edit: editEntries(func(e []Entry) []Entry { e[0] = withData(e[0], "id", `"i2"`); return e }), fails: "format"},
		{name: "redaction-no-ruleset", about: "entry 0 names no rule set", base: opened, edit: editEntries(func(e []Entry) []Entry { e[0] = withData(e[0], "ruleset_sha256", `""`); return e }), fails: "redaction"},
		{name: "redaction-bad-ruleset", about: "the rule set is not named by a SHA-256", base: opened, edit: editEntries(func(e []Entry) []Entry { e[0] = withData(e[0], "ruleset_sha256", `"latest"`); return e }), fails: "redaction"},
		{name: "redaction-bad-rule", about: "a blob says that a rule fired no times", base: opened, edit: editEntries(func(e []Entry) []Entry { e[2].Blobs[0].Rules = []string{"password=0"}; return e }), fails: "redaction"},
		{name: "custody-mono", about: "a monotonic time that is no number", base: opened, edit: editEntries(func(e []Entry) []Entry { e[1].Mono = "soon"; return e }), fails: "custody"},
	}
}

func badFiles() []vector {
	file := func(name, about, fails string, f func(k *kit)) vector {
		return vector{name: name, about: about, base: opened, edit: f, fails: fails}
	}
	return []vector{
		file("blob-edited", "a blob was changed", "blobs", func(k *kit) { k.set(k.someBlob(), "another log\n") }),
		file("blob-cut", "a blob was cut", "blobs", func(k *kit) { k.set(k.someBlob(), "") }),
		file("blob-gone", "a blob is missing", "blobs", func(k *kit) { k.drop(k.someBlob()) }),
		file("blob-swapped", "two blobs have each other's name", "blobs", func(k *kit) {
			var names []string
			for n := range k.files {
				if strings.HasPrefix(n, "blobs/") {
					names = append(names, n)
				}
			}
			k.files[names[0]], k.files[names[1]] = k.files[names[1]], k.files[names[0]]
		}),
		file("blob-other-size", "an entry gives a blob another size, all hashes made right", "blobs", editEntries(func(e []Entry) []Entry { e[2].Blobs[0].Size = 7000; return e })),
		file("blob-two-sizes", "two entries give a blob different sizes", "chain complete blobs", editEntries(func(e []Entry) []Entry {
			b := e[2].Blobs[0]
			b.Size++
			e[3].Blobs = []Blob{b}
			return e
		})),
		file("blob-wrong-folder", "a blob lies in the folder of another", "layout blobs", func(k *kit) {
			n := k.someBlob()
			k.files["blobs/sha256/00/"+n[len("blobs/sha256/ab/"):]] = k.files[n]
			delete(k.files, n)
		}),
		file("layout-foreign-file", "a file that the format does not know", "layout", func(k *kit) { k.set("notes.txt", "x") }),
		file("layout-foreign-folder", "a folder that the format does not know", "layout", func(k *kit) { k.files["extra"] = file0(true) }),
		file("layout-hidden-file", "a hidden file", "layout chain complete format redaction", func(k *kit) { k.set("journal/.000001.jsonl.swp", "x") }),
		file("layout-segment-gap", "a segment is missing", "chain complete format redaction", func(k *kit) {
			k.files["journal/000002.jsonl"] = k.files[firstSegment]
			delete(k.files, firstSegment)
		}),
		file("layout-segment-again", "the same segment twice", "chain complete", func(k *kit) { k.files["journal/000002.jsonl"] = k.files[firstSegment] }),
		file("layout-torn-before-last-segment", "a torn line at the end of a segment that is not the last", "chain complete", func(k *kit) {
			l := k.lines()
			k.setLines([]string{l[0], l[1][:50]})
			k.set("journal/000002.jsonl", strings.Join(l[2:], ""))
		}),
		file("layout-no-journal", "the journal is missing", "chain complete format redaction", remove(firstSegment)),
		file("stamp-without-seal", "a time stamp, and no seal that it could be of", "timestamp", func(k *kit) { k.set("seals/000001.tsr", "x") }),
		file("layout-stamp-of-nothing", "a time stamp under the name of no seal", "layout", func(k *kit) { k.set("seals/1.tsr", "x") }),
		file("link-blob", "a blob is a symbolic link", "layout blobs", func(k *kit) {
			n := k.someBlob()
			k.files[n] = linkTo("/etc/hostname")
		}),
		file("link-journal", "the segment is a link to a copy inside the bundle", "layout chain complete format redaction", func(k *kit) {
			k.files["journal/000002.jsonl"] = k.files[firstSegment]
			k.files[firstSegment] = linkTo("000002.jsonl")
		}),
		file("link-readme", "README is a link", "layout format", func(k *kit) { k.files["README"] = linkTo("/etc/hostname") }),
		file("pipe-bundle", "bundle.json is a pipe, which never ends", "layout format", func(k *kit) { k.files["bundle.json"] = pipe() }),
		file("pipe-journal", "a pipe beside the segment", "layout chain complete", func(k *kit) { k.files["journal/000002.jsonl"] = pipe() }),
		{name: "quarantine-edited", about: "what was kept of a crash was changed", base: recoveredKit, edit: func(k *kit) { k.set(k.kept(), "x") }, fails: "quarantine"},
		{name: "quarantine-gone", about: "what was kept of a crash is missing", base: recoveredKit, edit: func(k *kit) { k.drop(k.kept()) }, fails: "quarantine"},
	}
}

func file0(dir bool) file       { return file{dir: dir} }
func linkTo(target string) file { return file{link: target} }
func pipe() file                { return file{fifo: true} }
