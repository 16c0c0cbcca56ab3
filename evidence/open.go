package evidence

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"handrail/evidence/disk"
)

// Open takes the lock of a bundle and makes it ready for more entries. A damaged final line is moved to quarantine/ and
// recorded in a `recover` entry; any other damage refuses with ErrCorrupt, and an entry type of a newer handrail with
// ErrUnknownEntry. Both leave the bundle as it is.
func Open(path string, o Options) (_ *Bundle, err error) {
	o = o.withDefaults()
	b := &Bundle{path: filepath.Clean(path), opts: o, fs: o.FS, chain: chain{prev: zeroHash}, ledger: newLedger(), owed: map[string]string{}}
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("opening bundle %q: %w", path, err), b.Close())
		}
	}()
	if err := b.checkPlain(); err != nil {
		return nil, err
	}
	meta, err := b.readMeta()
	if err != nil {
		return nil, err
	}
	b.id = meta.ID
	if err := b.takeLock(); err != nil {
		return nil, err
	}
	if b.red, err = o.redactor(nil); err != nil { // before there is a key it hides nothing
		return nil, err
	}
	cut, err := b.scanJournal()
	if err != nil {
		return nil, err
	}
	if err := b.findKey(); err != nil {
		return nil, err
	}
	if rules := cmp.Or(o.rules, b.red.Digest()); b.ledger.rules != rules {
		b.owed["ruleset_sha256"] = rules
	}
	if err := b.dropTemporary(); err != nil {
		return nil, err
	}
	if cut != nil {
		if err := b.quarantineTail(cut); err != nil {
			return nil, err
		}
	} else if err := b.settle(); err != nil {
		return nil, err
	}
	if err := b.reportKept(); err != nil {
		return nil, err
	}
	if err := b.finishKey(); err != nil {
		return nil, err
	}
	return b, nil
}

// settle writes the final line once more where it stands, with the same bytes, and syncs it. It may be one whose sync
// failed or never came: then it is in memory only, perhaps marked clean, and nothing may be built on it before it is on
// the disk.
func (b *Bundle) settle() (err error) {
	line := b.final
	b.final = nil
	if b.opts.noSync || b.segSize < int64(len(line)) { // the last segment is empty: nothing follows a line that was not synced
		return nil
	}
	f, err := b.fs.OpenFile(filepath.Join(b.path, "journal", segmentName(b.segNo)), os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	defer func() {
		err = errors.Join(err, f.Close())
		if err != nil {
			err = fmt.Errorf("making the last entry durable: %w", err)
		}
	}()
	if _, err := f.Seek(b.segSize-int64(len(line)), io.SeekStart); err != nil {
		return err
	}
	n, err := f.Write(line)
	if err == nil && n < len(line) {
		err = io.ErrShortWrite
	}
	if err != nil {
		return err
	}
	return f.Sync()
}

// reportKept records what lies in quarantine/ and no entry names: a crash came between taking it out and saying so.
func (b *Bundle) reportKept() error {
	list, err := b.fs.ReadDir(filepath.Join(b.path, "quarantine"))
	if err != nil {
		return err
	}
	for _, d := range list {
		name := d.Name()
		if !quarantineFileName.MatchString("quarantine/"+name) || slices.Contains(b.ledger.kept, name) {
			continue
		}
		info, err := b.fs.Lstat(filepath.Join(b.path, "quarantine", name))
		if err != nil {
			return err
		}
		_, sum, _ := strings.Cut(strings.TrimSuffix(name, ".bin"), "-")
		if _, err := b.append(Draft{Type: "recover", Actor: "system", Data: recovered{
			Offset: "0", Length: fmt.Sprint(info.Size()), SHA256: sum, File: "quarantine/" + name, Alarm: true,
			Why: "ALARM, kept in quarantine by an earlier resume that was cut off before it could say so",
		}}); err != nil {
			return err
		}
	}
	return nil
}

// checkPlain refuses a bundle in which a directory or file that will be written is a link or something stranger.
func (b *Bundle) checkPlain() error {
	for _, sub := range [...]string{"", "journal", "blobs", "blobs/sha256", "quarantine", "seals"} {
		info, err := b.fs.Lstat(filepath.Join(b.path, sub))
		if err != nil {
			return err
		}
		if !info.IsDir() {
			return fmt.Errorf("%q is not a directory", filepath.Join(b.path, sub))
		}
	}
	return nil
}

func (b *Bundle) readMeta() (Meta, error) {
	raw, err := disk.Read(b.fs, filepath.Join(b.path, "bundle.json"), maxMeta)
	if err != nil {
		return Meta{}, err
	}
	return parseMeta(raw)
}

// scanJournal walks all lines, leaves b at the end of the good ones and returns the damaged tail, if there is one.
func (b *Bundle) scanJournal() (*tail, error) {
	dir := filepath.Join(b.path, "journal")
	list, err := b.fs.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	names := make([]string, 0, len(list))
	for _, d := range list {
		names = append(names, d.Name())
	}
	slices.Sort(names)
	count, err := segmentCount(names)
	if err != nil {
		return nil, err
	}
	var cut *tail
	for n := 1; n <= count; n++ {
		name := filepath.Join(dir, segmentName(n))
		info, err := b.fs.Lstat(name)
		if err != nil {
			return nil, err
		}
		if !info.Mode().IsRegular() {
			return nil, fmt.Errorf("%q is not a regular file", name)
		}
		f, err := b.fs.OpenFile(name, os.O_RDWR|os.O_APPEND, 0)
		if err != nil {
			return nil, err
		}
		b.seg, b.segNo = f, n
		s := newScanner(segmentName(n), f, b.chain, n == count, info.Size())
		if err := b.scanSegment(s); err != nil {
			return nil, err
		}
		b.chain, b.segSize, cut = s.chain, s.off, s.tail
		if n < count {
			if err := f.Close(); err != nil {
				return nil, err
			}
		}
	}
	if b.chain.next == 0 {
		return nil, fmt.Errorf("%w: it broke off before anything was acknowledged; start a new incident", ErrEmpty)
	}
	return cut, nil
}

func (b *Bundle) scanSegment(s *scanner) error {
	for {
		e, line, err := s.next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if !b.opts.Types.known(e.Type) {
			return fmt.Errorf("%w: %q at entry %d; read it with bundle show, or update handrail", ErrUnknownEntry, e.Type, e.Seq)
		}
		b.ledger.add(b.id, &e)
		b.red.Hear(line)
		b.learnFrom(&e)
		b.hearWhole(&e)
		b.final = append(b.final[:0], line...)
	}
}

// dropTemporary removes blobs that never got their name; no entry can point to them.
func (b *Bundle) dropTemporary() error {
	dir := filepath.Join(b.path, "blobs", "sha256")
	list, err := b.fs.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, d := range list {
		if strings.HasPrefix(d.Name(), tempPrefix) && d.Type().IsRegular() {
			if err := b.fs.Remove(filepath.Join(dir, d.Name())); err != nil {
				return err
			}
		}
	}
	return nil
}

// recovered is the data of a `recover` entry.
type recovered struct {
	Segment string `json:"segment"`
	Offset  string `json:"offset"`
	Length  string `json:"length"`
	SHA256  string `json:"sha256"`
	File    string `json:"file"`
	Alarm   bool   `json:"alarm"` // a whole line was wrong: a crash, or an edit
	Why     string `json:"why"`
}

// quarantineTail keeps the damaged bytes before it cuts them off, and says so in the journal.
func (b *Bundle) quarantineTail(cut *tail) error {
	sum := sumHex(cut.bytes)
	name := fmt.Sprintf("%d-%s.bin", b.chain.next, sum)
	if err := disk.Write(b.fs, filepath.Join(b.path, "quarantine"), name, cut.bytes, 0o600); err != nil {
		return fmt.Errorf("keeping the damaged tail: %w", err)
	}
	if err := b.seg.Truncate(cut.offset); err != nil {
		return fmt.Errorf("cutting the damaged tail: %w", err)
	}
	if err := b.seg.Sync(); err != nil {
		return fmt.Errorf("cutting the damaged tail: %w", err)
	}
	why := "torn write: " + cut.err.Error()
	if cut.loud {
		why = "ALARM, a whole final line is wrong, by a crash or by an edit: " + cut.err.Error()
	}
	_, err := b.append(Draft{Type: "recover", Actor: "system", Data: recovered{
		Segment: segmentName(b.segNo), Offset: fmt.Sprint(cut.offset), Length: fmt.Sprint(len(cut.bytes)),
		SHA256: sum, File: "quarantine/" + name, Alarm: cut.loud, Why: why,
	}})
	return err
}
