package evidence

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"

	"handrail/evidence/sig"
)

// Policy is what a verifier brings along: whom it trusts and what it remembers. The zero value trusts no one and remembers nothing.
type Policy struct {
	Signers  *sig.Signers // whose signatures count
	SignedBy []string     // who must have signed the newest seal
	Anchors  []Checkpoint // lines that were posted where the author of the bundle could not change them
	From     string       // the bundle that it was redacted again from
	Types    Types        // which entries are known; that others are there is said

	// Authorities are whose time stamps count; the newest seal must then have one of theirs.
	Authorities *sig.Authorities
}

// Verify checks a bundle with an empty Policy.
func Verify(path string) (Report, error) { return Policy{}.Verify(path) }

// Verify recomputes everything from the bytes on disk and trusts nothing that is stored. It asks no network and changes
// nothing. A bundle that is wrong is a Report that is not OK; an error means that it could not be looked at.
func (p Policy) Verify(path string) (Report, error) {
	root, err := os.OpenRoot(path)
	if err != nil {
		return Report{}, fmt.Errorf("verifying bundle: %w", err)
	}
	v := &verifier{root: root, policy: p, report: Report{Path: path}, ledger: newLedger(), roots: map[int64]Checkpoint{}}
	v.run()
	if err := root.Close(); err != nil {
		return Report{}, fmt.Errorf("verifying bundle %q: %w", path, err)
	}
	return v.report, nil
}

type verifier struct {
	root   *os.Root
	policy Policy
	report Report
	files  files
	id     string // of bundle.json
	metaOf []byte
	idErr  error

	ledger    ledger
	first     firstEntry
	firstErr  error
	second    string // type of the entry before
	sealErr   error
	stated    stated
	unknown   []string
	roots     map[int64]Checkpoint // sizes that are asked for, once they are computed
	tail      *tail
	chainErr  error
	sealWrong bool
}

func (v *verifier) run() {
	if !v.layout() {
		v.say(PropertyChain, Failed, "not looked at: the bundle is larger than a bundle may be")
		return
	}
	v.readMeta()
	for _, a := range v.policy.Anchors {
		v.roots[a.Entries] = Checkpoint{}
	}
	v.journal()
	v.format()
	v.chain()
	at := len(v.report.Lines) // complete can only be judged once the seals are, but belongs here
	v.checkBlobs()
	v.checkQuarantine()
	v.seals()
	trusted := v.signatures()
	v.timestamps()
	trusted = v.anchors() || trusted
	v.redaction()
	v.custody()
	v.again()
	rest := append([]Line(nil), v.report.Lines[at:]...)
	v.report.Lines = v.report.Lines[:at]
	v.complete(trusted)
	v.report.Lines = append(v.report.Lines, rest...)
}

func (v *verifier) readMeta() {
	var m Meta
	if v.metaOf, v.idErr = readSmall(v.root, "bundle.json", maxMeta); v.idErr != nil {
		return
	}
	if m, v.idErr = parseMeta(v.metaOf); v.idErr == nil {
		v.id, v.report.ID = m.ID, m.ID
	}
}

// journal walks the lines; what is wrong with one ends the walk.
func (v *verifier) journal() {
	end, err := walkJournal(v.root, func(e Entry, _ []byte) error {
		if e.Seq == 0 {
			v.firstErr = json.Unmarshal(e.Data, &v.first)
			if e.Type != "env" {
				v.firstErr = fmt.Errorf("entry 0 is %q and not env", e.Type)
			}
		}
		v.entry(&e)
		return v.ledger.over
	})
	if end != nil {
		v.tail = end.tail
	}
	v.chainErr = err
	v.report.Root = v.ledger.checkpoint(v.id).Root
}

func (v *verifier) entry(e *Entry) {
	if v.sealErr == nil {
		switch {
		case e.Type == "seal":
			if _, err := v.ledger.checkSealing(e); err != nil {
				v.sealErr = fmt.Errorf("seal in entry %d: %w", e.Seq, err)
			}
		case (v.second == "seal") != (e.Type == "reopen"):
			v.sealErr = fmt.Errorf("entry %d is %q after %q: only reopen follows a seal, and nothing else", e.Seq, e.Type, v.second)
		}
	}
	v.second = e.Type
	v.ledger.add(v.id, e)
	v.report.Entries, v.report.Head = e.Seq+1, e.Hash
	if _, want := v.roots[e.Seq+1]; want {
		v.roots[e.Seq+1] = v.ledger.checkpoint(v.id)
	}
	if !v.policy.Types.known(e.Type) && len(v.unknown) < 10 {
		v.unknown = append(v.unknown, fmt.Sprintf("%q at entry %d", e.Type, e.Seq))
	}
	v.stated.add(e)
}

// format holds bundle.json and README against entry 0.
func (v *verifier) format() {
	readme, err := readSmall(v.root, "README", maxMeta)
	newer := ""
	if len(v.unknown) > 0 {
		newer = "; a newer handrail wrote " + strings.Join(v.unknown, ", ")
	}
	switch {
	case v.idErr != nil:
		err = v.idErr
	case err != nil:
	case v.report.Entries == 0:
		err = errors.New("no entry 0 that vouches for bundle.json")
	case v.firstErr != nil:
		err = fmt.Errorf("entry 0: %w", v.firstErr)
	case v.first.Format != Format || v.first.ID != v.id:
		err = fmt.Errorf("entry 0 belongs to bundle %q of format %q", v.first.ID, v.first.Format)
	case v.first.Bundle != sumHex(v.metaOf):
		err = errors.New("bundle.json is not the one that entry 0 names")
	case v.first.Readme != sumHex(readme):
		err = errors.New("README is not the one that entry 0 names")
	}
	v.judge(PropertyFormat, err, "%s, bundle %s; bundle.json and README are those of entry 0%s", Format, v.id, newer)
}

func (v *verifier) chain() {
	if v.chainErr == nil && v.report.Entries == 0 {
		v.chainErr = ErrEmpty
	}
	if v.chainErr != nil {
		v.say(PropertyChain, Failed, "%d entries are good: %v", v.report.Entries, v.chainErr)
		return
	}
	v.say(PropertyChain, Proven, "%d entries, each in its one form and after the one before; head %s", v.report.Entries, v.report.Head)
}

// complete says how far the bundle goes and whether more may have been there.
func (v *verifier) complete(trusted bool) {
	last := v.report.Entries - 1
	t := v.tail
	v.report.sealed = v.chainErr == nil && t == nil && !v.sealWrong && v.ledger.sealed()
	switch seals := v.ledger.seals; {
	case v.chainErr != nil:
		v.say(PropertyComplete, Failed, "good up to entry %d; what came after it is lost or changed", last)
	case t != nil && t.loud:
		v.say(PropertyComplete, Failed, "up to entry %d; ALARM: then a whole line of %d bytes that is wrong, by a crash or by an edit (%v); resume keeps it in quarantine", last, len(t.bytes), t.err)
	case t != nil:
		v.say(PropertyComplete, Failed, "up to entry %d, then %d bytes of a torn write; resume keeps them in quarantine", last, len(t.bytes))
	case v.sealWrong:
		v.say(PropertyComplete, Failed, "up to entry %d, but the seal does not hold", last)
	case trusted:
		v.say(PropertyComplete, Proven, "up to entry %d, its last; nothing was cut off", last)
	case v.report.sealed:
		v.say(PropertyComplete, Unproven, "sealed at entry %d, its last; no signer known to you vouches for that", last)
	case len(seals) > 0:
		v.say(PropertyComplete, Unproven, "sealed up to entry %d, reopened, and open up to entry %d as far as the chain can tell; the tail could have been cut", seals[len(seals)-1].Entries-1, last)
	default:
		v.say(PropertyComplete, Unproven, "open: complete up to entry %d, its last, as far as the chain can tell; the tail could have been cut", last)
	}
}
