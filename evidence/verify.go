package evidence

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"golang.org/x/mod/sumdb/tlog"
)

// Line is the verdict on one property.
type Line struct {
	Property string `json:"property"`
	OK       bool   `json:"ok"`
	Detail   string `json:"detail"`
}

// Report is the verdict on a bundle, each property apart. Its zero value says that nothing was verified.
type Report struct {
	Path    string `json:"path"`
	ID      string `json:"id"`
	Entries int64  `json:"entries"` // good entries from the start
	Head    string `json:"head"`    // hash of the last good one
	Root    string `json:"root"`    // Merkle root over the good entries, base64
	Lines   []Line `json:"lines"`
}

// OK reports whether every property holds.
func (r Report) OK() bool {
	for _, l := range r.Lines {
		if !l.OK {
			return false
		}
	}
	return len(r.Lines) > 0
}

// Verify recomputes everything from the bytes on disk and trusts nothing that is stored. It needs no key and changes
// nothing. A bundle that is wrong is a Report that is not OK; an error means that it could not be looked at.
func Verify(path string) (Report, error) {
	root, err := os.OpenRoot(path)
	if err != nil {
		return Report{}, fmt.Errorf("verifying bundle: %w", err)
	}
	v := &verifier{
		root: root, report: Report{Path: path}, blobs: map[string]Blob{}, quarantined: map[string]bool{},
		sealRoots: map[int64]tlog.Hash{},
	}
	v.run()
	if err := root.Close(); err != nil {
		return Report{}, fmt.Errorf("verifying bundle %q: %w", path, err)
	}
	return v.report, nil
}

type verifier struct {
	root        *os.Root
	report      Report
	files       files
	first       firstEntry
	firstErr    error
	blobs       map[string]Blob // named by entries
	quarantined map[string]bool // named by recover entries
	unknown     []string
	tree        merkle
	sealRoots   map[int64]tlog.Hash
	segment     string
	tail        *tail
	blobErr     error
}

func (v *verifier) say(property string, ok bool, format string, args ...any) {
	v.report.Lines = append(v.report.Lines, Line{property, ok, fmt.Sprintf(format, args...)})
}

func (v *verifier) run() {
	v.layout()
	for _, s := range v.files.seals {
		if n, _, _, err := v.readSeal(s); err == nil {
			v.sealRoots[n] = tlog.Hash{}
		}
	}
	chainErr := v.journal()
	v.identity()
	v.chainLines(chainErr)
	v.checkBlobs()
	v.checkQuarantine()
	v.types()
	v.seals()
}

// journal walks the lines; what is wrong with one ends the walk.
func (v *verifier) journal() error {
	end, err := walkJournal(v.root, func(e Entry, line []byte) error {
		if e.Seq == 0 {
			v.firstErr = json.Unmarshal(e.Data, &v.first)
			if e.Type != "env" {
				v.firstErr = fmt.Errorf("entry 0 is %q and not env", e.Type)
			}
		}
		v.entry(e, line)
		return nil
	})
	if end != nil {
		v.segment, v.tail = end.segment, end.tail
	}
	root := v.tree.root()
	v.report.Root = base64.StdEncoding.EncodeToString(root[:])
	return err
}

func (v *verifier) entry(e Entry, line []byte) {
	v.report.Entries, v.report.Head = e.Seq+1, e.Hash
	v.tree.add(tlog.RecordHash(line[:len(line)-1-hashSuffix]))
	if _, want := v.sealRoots[e.Seq+1]; want {
		v.sealRoots[e.Seq+1] = v.tree.root()
	}
	if !knownType(e.Type) && len(v.unknown) < 10 {
		v.unknown = append(v.unknown, fmt.Sprintf("%q at entry %d", e.Type, e.Seq))
	}
	for _, b := range e.Blobs {
		if old, ok := v.blobs[b.SHA256]; ok && old.Size != b.Size && v.blobErr == nil {
			v.blobErr = fmt.Errorf("entry %d gives blob %s another size than an earlier one", e.Seq, b.SHA256)
		}
		v.blobs[b.SHA256] = b
	}
	if e.Type == "recover" {
		var r recovered
		if err := json.Unmarshal(e.Data, &r); err == nil {
			v.quarantined[strings.TrimPrefix(r.File, "quarantine/")] = true
		}
	}
}

func (v *verifier) identity() {
	meta, err := readSmall(v.root, "bundle.json", maxMeta)
	if err != nil {
		v.say("identity", false, "%v", err)
		return
	}
	m, err := parseMeta(meta)
	if err != nil {
		v.say("identity", false, "%v", err)
		return
	}
	v.report.ID = m.ID
	readme, err := readSmall(v.root, "README", maxMeta)
	switch {
	case err != nil:
		v.say("identity", false, "%v", err)
	case v.report.Entries == 0:
		v.say("identity", false, "no entry 0 that vouches for bundle.json")
	case v.firstErr != nil:
		v.say("identity", false, "entry 0: %v", v.firstErr)
	case v.first.Format != Format || v.first.ID != m.ID:
		v.say("identity", false, "entry 0 belongs to bundle %q of format %q", v.first.ID, v.first.Format)
	case v.first.Bundle != sumHex(meta):
		v.say("identity", false, "bundle.json is not the one that entry 0 names")
	case v.first.Readme != sumHex(readme):
		v.say("identity", false, "README is not the one that entry 0 names")
	default:
		v.say("identity", true, "bundle.json and README are those of entry 0; id %s", m.ID)
	}
}

func (v *verifier) chainLines(err error) {
	switch {
	case err != nil && errors.Is(err, errNotCanonical):
		v.say("chain", false, "good up to entry %d: %v", v.report.Entries-1, err)
		v.say("canonical", false, "%v", err)
	case err != nil:
		v.say("chain", false, "good up to entry %d: %v", v.report.Entries-1, err)
		v.say("canonical", true, "the %d good lines have one form each", v.report.Entries)
	case v.report.Entries == 0:
		v.say("chain", false, "no entry")
	default:
		v.say("chain", true, "%d entries, each continues the one before; head %s", v.report.Entries, v.report.Head)
		v.say("canonical", true, "each of the %d lines has its one form", v.report.Entries)
	}
	switch t := v.tail; {
	case t == nil:
		v.say("tail", err == nil, "the journal ends with its last good entry")
	case t.loud:
		v.say("tail", false, "ALARM: a whole final line of %d bytes is wrong, by a crash or by an edit (%v); resume keeps it in quarantine", len(t.bytes), t.err)
	default:
		v.say("tail", false, "complete up to entry %d, then %d bytes of a torn write; resume keeps them in quarantine", v.report.Entries-1, len(t.bytes))
	}
	if v.tail == nil && err != nil {
		v.report.Lines[len(v.report.Lines)-1].Detail = "not reached"
	}
}

func (v *verifier) checkBlobs() {
	if v.blobErr != nil {
		v.say("blobs", false, "%v", v.blobErr)
		return
	}
	extra := 0
	for _, sum := range v.files.blobs {
		got, size, err := v.hash("blobs/sha256/" + sum[:2] + "/" + sum)
		want, named := v.blobs[sum]
		switch {
		case err != nil:
			v.say("blobs", false, "%v", err)
			return
		case got != sum:
			v.say("blobs", false, "blob %s has other bytes than its name says", sum)
			return
		case named && want.Size != size:
			v.say("blobs", false, "blob %s has %d bytes, its entry says %d", sum, size, want.Size)
			return
		case !named:
			extra++
		}
		delete(v.blobs, sum)
	}
	for sum, b := range v.blobs {
		v.say("blobs", false, "%d missing, one is %s (%q)", len(v.blobs), sum, b.Role)
		return
	}
	v.say("blobs", true, "%d present with the bytes their names say; %d named by no entry", len(v.files.blobs), extra)
}

func (v *verifier) checkQuarantine() {
	for _, name := range v.files.quarantine {
		_, sum, _ := strings.Cut(strings.TrimSuffix(name, ".bin"), "-")
		if got, _, err := v.hash("quarantine/" + name); err != nil || got != sum {
			v.say("quarantine", false, "%q has other bytes than its name says", name)
			return
		}
		delete(v.quarantined, name)
	}
	for name := range v.quarantined {
		v.say("quarantine", false, "%q is missing", name)
		return
	}
	v.say("quarantine", true, "%d files", len(v.files.quarantine))
}

func (v *verifier) types() {
	if len(v.unknown) > 0 {
		v.say("types", true, "integrity holds, but a newer handrail wrote %s", strings.Join(v.unknown, ", "))
		return
	}
	v.say("types", true, "all known")
}

// seals compares each stored checkpoint with the recomputed root. Signatures are checked by ssh-keygen as README says.
func (v *verifier) seals() {
	if len(v.files.seals) == 0 {
		v.say("seals", true, "none: a rewrite of the whole journal or a cut at its end would not show")
		return
	}
	for _, name := range v.files.seals {
		n, id, root, err := v.readSeal(name)
		switch {
		case err != nil:
			v.say("seals", false, "%s: %v", name, err)
			return
		case id != v.report.ID:
			v.say("seals", false, "%s belongs to bundle %q", name, id)
			return
		case n > v.report.Entries:
			v.say("seals", false, "%s covers %d entries, only %d are there and good", name, n, v.report.Entries)
			return
		case v.sealRoots[n] != root:
			v.say("seals", false, "%s: its root is not that of the first %d entries", name, n)
			return
		}
	}
	v.say("seals", true, "%d fit the journal; whose signature it is must be checked with ssh-keygen", len(v.files.seals))
}

func (v *verifier) readSeal(name string) (entries int64, id string, root tlog.Hash, err error) {
	raw, err := readSmall(v.root, "seals/"+name, 4096)
	if err != nil {
		return 0, "", root, err
	}
	lines := strings.Split(string(raw), "\n")
	if len(lines) != 4 || lines[3] != "" || !strings.HasPrefix(lines[0], Format+"/") {
		return 0, "", root, errors.New("not a checkpoint")
	}
	entries, err = strconv.ParseInt(lines[1], 10, 64)
	if err != nil || entries < 1 || strconv.FormatInt(entries, 10) != lines[1] {
		return 0, "", root, fmt.Errorf("size %q", lines[1])
	}
	sum, err := base64.StdEncoding.DecodeString(lines[2])
	// Several spellings decode to the same bytes; only one is the checkpoint's.
	if err != nil || len(sum) != len(root) || base64.StdEncoding.EncodeToString(sum) != lines[2] {
		return 0, "", root, fmt.Errorf("root %q", lines[2])
	}
	copy(root[:], sum)
	return entries, strings.TrimPrefix(lines[0], Format+"/"), root, nil
}

func (v *verifier) hash(name string) (string, int64, error) {
	f, err := openRegular(v.root, name)
	if err != nil {
		return "", 0, err
	}
	h := sha256.New()
	n, err := io.Copy(h, io.LimitReader(f, maxBlob+1))
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err == nil && n > maxBlob {
		err = fmt.Errorf("%q is over 2 GiB", name)
	}
	return hex.EncodeToString(h.Sum(nil)), n, err
}

// merkle keeps the roots of the complete subtrees on the right edge of an RFC 6962 tree, largest first.
type merkle struct {
	edge  []tlog.Hash
	sizes []int64
}

func (m *merkle) add(leaf tlog.Hash) {
	m.edge, m.sizes = append(m.edge, leaf), append(m.sizes, 1)
	for n := len(m.edge); n > 1 && m.sizes[n-1] == m.sizes[n-2]; n-- {
		m.edge[n-2] = tlog.NodeHash(m.edge[n-2], m.edge[n-1])
		m.sizes[n-2] *= 2
		m.edge, m.sizes = m.edge[:n-1], m.sizes[:n-1]
	}
}

func (m *merkle) root() tlog.Hash {
	if len(m.edge) == 0 {
		return tlog.Hash{}
	}
	h := m.edge[len(m.edge)-1]
	for i := len(m.edge) - 2; i >= 0; i-- {
		h = tlog.NodeHash(m.edge[i], h)
	}
	return h
}
