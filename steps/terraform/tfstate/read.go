package tfstate

import (
	"bytes"
	"crypto/md5"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"slices"
	"strings"

	semver "github.com/hashicorp/go-version"

	"handrail/steps"
	"handrail/steps/terraform/jsonscan"
)

// Limits of what is kept; counts stay exact.
const (
	MaxAddresses  = 5000
	maxMarks      = 500
	maxAttributes = 8 << 20 // of one instance
	maxWord       = 512     // of a name, a version, a lineage
)

// Read reads a state to its end. What is wrong with it is in Faults, never in
// the error: an error means that r could not be read, or comes from Visit.
func Read(r io.Reader, o Options) (*Doc, error) {
	d := &Doc{Types: map[string]int{}, Providers: map[string]int{}, Counted: true, other: map[string]bool{}}
	src := &source{r: r}
	if o.Digest != "" {
		src.sum = md5.New()
	}
	s := jsonscan.New(src)
	if d.sniff(s.Peek(512)) {
		if err := src.drain(); err != nil {
			return nil, err
		}
		d.Size = src.n
		d.digest(src.sum, o.Digest)
		return d, nil
	}
	if o.seen == nil {
		o.seen = map[short]struct{}{}
	}
	clear(o.seen)
	w := &walker{d: d, s: s, o: o, seen: o.seen, keys: map[string]bool{}}
	err := s.Object(w.top)
	if err == nil {
		if err = s.End(); err == nil {
			d.Whole = true
		}
	}
	var syntax *jsonscan.SyntaxError
	switch {
	case errors.As(err, &syntax):
		d.explain(syntax, s)
		if err := src.drain(); err != nil {
			return nil, err
		}
	case err != nil:
		return nil, err
	default:
		d.judge()
	}
	d.Size = src.n
	d.Counted = d.Counted && d.Whole
	d.digest(src.sum, o.Digest)
	return d, nil
}

// source counts what is read, and keeps the sum of it.
type source struct {
	r   io.Reader
	n   int64
	sum hash.Hash
}

func (s *source) Read(p []byte) (int, error) {
	n, err := s.r.Read(p)
	s.n += int64(n)
	if s.sum != nil {
		s.sum.Write(p[:n])
	}
	return n, err
}

// drain reads to the end, so that size and sum are of the whole.
func (s *source) drain() error {
	_, err := io.Copy(io.Discard, s)
	return err
}

func (d *Doc) digest(sum hash.Hash, want string) {
	if sum == nil {
		return
	}
	if got := hex.EncodeToString(sum.Sum(nil)); !strings.EqualFold(got, strings.TrimSpace(want)) {
		d.fault(Mismatch, fmt.Sprintf(
			"The backend's digest says MD5 %s, the stored bytes have %s: one writer wrote the object without the digest, or it was restored by hand. Verify the object before the digest is set to match it.", want, got))
	}
}

// sniff names by its first bytes what is no JSON object at all.
func (d *Doc) sniff(head []byte) bool {
	lower := bytes.ToLower(bytes.TrimLeft(head, " \t\r\n"))
	begins := func(signs ...string) bool {
		return slices.ContainsFunc(signs, func(sign string) bool { return bytes.HasPrefix(head, []byte(sign)) })
	}
	switch {
	case len(head) == 0:
		d.fault(Empty, "The state is empty, 0 bytes: the tools take it for no state at all, without an error, and a plan would create everything.")
	case begins("\xef\xbb\xbf", "\xff\xfe", "\xfe\xff"):
		d.fault(Marked, "The state begins with a byte order mark, it breaks at byte 0: an editor saved it. The tools refuse it.")
	case begins("\x1f\x8b"):
		d.fault(Gzip, "The state is still packed with gzip: it was copied from a store without being unpacked. `gunzip -c` shows it.")
	case begins("PK\x03\x04"):
		d.fault(Archive, "This is a ZIP archive, no state: a saved plan looks like this.")
	case begins("<<<<<<< "):
		d.fault(Conflict, "The state begins with the markers of an unfinished merge, it breaks at byte 0: it is kept in version control, and two runs wrote it.")
	case bytes.HasPrefix(lower, []byte("<")):
		d.fault(HTML, fmt.Sprintf("This is a page in HTML or XML, no state: %q. A proxy or the store answered with an error where the state was asked for.", steps.Clip(string(bytes.TrimSpace(head)), 120)))
	case len(bytes.Trim(head, "\x00")) == 0:
		d.fault(Zeroed, "The state begins with zero bytes: the machine lost power, or the disk was full, while it was written.")
	default:
		return false
	}
	return true
}

func (d *Doc) explain(e *jsonscan.SyntaxError, s *jsonscan.Scanner) {
	near := string(e.Near)
	marks := slices.ContainsFunc([]string{"<<<<<<<", "=======", ">>>>>>>", "|||||||"}, func(m string) bool { return strings.HasPrefix(near, m) })
	switch {
	case e.Ended && s.Offset() == 0, e.Ended && d.Size == 0 && blank(e):
		d.fault(Truncated, fmt.Sprintf("The state is not whole: %v.", e))
	case e.Ended:
		d.fault(Truncated, fmt.Sprintf("The state is cut off, it breaks at byte %d: a write was killed, the disk was full, or a copy was not finished.", e.Offset))
	case marks:
		d.fault(Conflict, fmt.Sprintf("The state holds the markers of an unfinished merge, it breaks at byte %d.", e.Offset))
	case e.Say == "something follows the document" && strings.HasPrefix(near, "{"):
		d.fault(Trailing, fmt.Sprintf("Bytes follow the state after byte %d, and they begin another document: two writers wrote into one file, or a shorter state was written over a longer one.", e.Offset))
	case e.Say == "something follows the document":
		d.fault(Trailing, fmt.Sprintf("Bytes follow the state after byte %d: a shorter state was written over a longer one, or it was edited by hand.", e.Offset))
	default:
		d.fault(NotJSON, fmt.Sprintf("The state is not whole JSON, it breaks at byte %d: %s.", e.Offset, e.Say))
	}
}

func blank(e *jsonscan.SyntaxError) bool { return e.Offset < 2 }

// knownVersion reports whether the tools take a text for a version: 1.9 and v1.9.0
// are ones to them.
func knownVersion(text string) bool {
	_, err := semver.NewVersion(text)
	return err == nil
}

// judge finds what is wrong with a state that is whole JSON.
func (d *Doc) judge() {
	switch {
	case d.Encrypted:
		d.Counted = false
		return
	case !d.HasVersion:
		d.fault(Foreign, `This is not a state: it has no "version". `+d.guess())
		d.Counted = false
	case d.Version > 4:
		d.fault(FutureFormat, fmt.Sprintf("The state has format version %d; handrail, and every tofu so far, knows 4.", d.Version))
		d.Counted = false
	case d.Version < 1:
		d.fault(Invalid, fmt.Sprintf("The state has format version %d, which never was one: the tools refuse it.", d.Version))
		d.Counted = false
	case d.Version < 4 && !d.other["backend"] && (d.resources || !d.other["modules"]):
		d.fault(Invalid, fmt.Sprintf("The state says that it has the old format version %d, and it lacks the modules of that: the tools would take it for one without resources, and a plan would create everything.", d.Version))
		d.Counted = false
	case d.Version < 4:
		say := fmt.Sprintf("The state has the old format version %d; tofu would upgrade it at its next write.", d.Version)
		if d.other["backend"] {
			say += " It names a backend: this is the file in .terraform that init keeps, which records no resources."
		}
		d.fault(OldFormat, say)
		d.Counted = false
	case d.Tool != "" && !knownVersion(d.Tool):
		d.fault(Invalid, fmt.Sprintf("The state says that it was written by version %q, which is not a version: the tools refuse it as an invalid version string.", steps.Clip(d.Tool, 60)))
	}
	if d.Counted && !d.HasSerial && d.BeyondSerial == "" && !slices.ContainsFunc(d.Faults, func(f Fault) bool { return strings.HasPrefix(f.Say, `"serial"`) }) {
		d.fault(Invalid, "The state has no serial: no write can be told from another.")
	}
}

// guess says what whole JSON that is no state looks like.
func (d *Doc) guess() string {
	switch {
	case d.other["resource_changes"] || d.other["planned_values"]:
		return "It looks like a plan from `show -json`."
	case d.other["format_version"]:
		return "It looks like the output of `show -json` for a state, which cannot be pushed back."
	case d.other["Code"] || d.other["error"] || d.other["errors"] || d.other["message"]:
		return "It looks like the error of a server: the object was overwritten with an answer."
	}
	return "Some other program wrote it."
}
