package evidence

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"handrail/evidence/disk"
	"handrail/evidence/jsontree"
	"handrail/evidence/redact"
)

// Again says how a bundle is redacted once more, by whom and why.
type Again struct {
	Values []string // values that were not known when it was written
	Actor  string
	Reason string
}

// AgainResult is the new bundle.
type AgainResult struct {
	Path    string     `json:"path"`
	ID      string     `json:"id"`
	From    Checkpoint `json:"from"`    // of the bundle that it was made from, which is as it was
	Entries int64      `json:"entries"` // in which something was replaced
	Blobs   int        `json:"blobs"`   // in which something was replaced
}

// again is what entry 0 of the new bundle says.
type again struct {
	ID      string `json:"id"`
	Entries int64  `json:"entries"`
	Root    string `json:"root"`
	Actor   string `json:"actor"`
	Reason  string `json:"reason"`
	At      string `json:"at"`
}

// againMost is the largest blob that is redacted by its structure, and compared.
const againMost = 64 << 20

// RedactAgain makes a new bundle beside a whole one: the same entries with the same numbers and times, through today's
// rules and with further known values. The old one is only read. The new one appears whole or not at all.
func RedactAgain(ctx context.Context, path string, how Again, o Options) (_ AgainResult, err error) {
	o = o.withDefaults()
	if strings.TrimSpace(how.Reason) == "" {
		return AgainResult{}, errors.New("redacting again needs a reason, which is recorded")
	}
	defer func() {
		if err != nil {
			err = fmt.Errorf("redacting %q again: %w; it is as it was", path, err)
		}
	}()
	old, err := Verify(path)
	if err != nil {
		return AgainResult{}, err
	}
	for _, l := range old.Lines {
		if l.Verdict == Failed {
			return AgainResult{}, fmt.Errorf("%w: %s: %s", ErrCorrupt, l.Property, l.Detail)
		}
	}
	r, err := OpenReadOnly(path)
	if err != nil {
		return AgainResult{}, err
	}
	defer r.Close()
	dir := filepath.Dir(filepath.Clean(path))
	id, err := againID(dir, old.ID)
	if err != nil {
		return AgainResult{}, err
	}
	work, err := os.MkdirTemp(dir, tempPrefix+"again-")
	if err != nil {
		return AgainResult{}, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(work)) }()
	c := copier{ctx: ctx, from: r, how: how, o: o, sums: map[string]string{}, kept: map[string]string{}}
	c.res = AgainResult{Path: filepath.Join(dir, id+".hrb"), ID: id, From: Checkpoint{ID: old.ID, Entries: old.Entries, Root: old.Root}}
	if err := c.run(work, id); err != nil {
		if o.Keys != "" {
			err = errors.Join(err, os.RemoveAll(filepath.Join(o.Keys, id+".key")))
		}
		return AgainResult{}, err
	}
	made := filepath.Join(work, id+".hrb")
	rep, err := Policy{From: path}.Verify(made)
	if err != nil {
		return AgainResult{}, err
	}
	for _, l := range rep.Lines {
		if l.Verdict == Failed {
			return AgainResult{}, fmt.Errorf("what came of it does not verify: %s: %s", l.Property, l.Detail)
		}
	}
	if err := o.FS.Rename(made, c.res.Path); err != nil { // fails where there is a bundle by now
		return AgainResult{}, err
	}
	return c.res, o.FS.SyncDir(dir)
}

var againSuffix = regexp.MustCompile(`-r[0-9]+$`)

// againID is the id of the old bundle with the first number that is free.
func againID(dir, id string) (string, error) {
	id = againSuffix.ReplaceAllString(id, "")
	for n := 1; n < 1000; n++ {
		next := fmt.Sprintf("%s-r%d", id, n)
		if !validID.MatchString(next) {
			return "", fmt.Errorf("bundle id %q is too long", next)
		}
		if _, err := os.Lstat(filepath.Join(dir, next+".hrb")); errors.Is(err, fs.ErrNotExist) {
			return next, nil
		}
	}
	return "", fmt.Errorf("there are 999 copies of %q", id)
}

// copier carries entries from one bundle into another.
type copier struct {
	ctx  context.Context
	from *Reader
	to   *Bundle
	how  Again
	o    Options
	res  AgainResult
	sums map[string]string // old blob to new blob
	info map[string]Blob   // new blob to what is known of it
	kept map[string]string // old quarantine file to new one
}

func (c *copier) run(work, id string) (err error) {
	c.info = map[string]Blob{}
	kept := false
	if c.o.Keys != "" { // with the same key equal secrets keep equal tokens across the two
		key, kerr := disk.Read(c.o.FS, filepath.Join(c.o.Keys, c.res.From.ID+".key"), redact.KeySize)
		if kerr == nil && len(key) == redact.KeySize {
			c.o.key, kept = key, true
		}
	}
	if !kept { // nothing to keep: the new bundle continues with a key of its own
		c.o.Keys = ""
	}
	for e, err := range c.from.Entries() {
		if err != nil {
			return err
		}
		if err := c.ctx.Err(); err != nil {
			return err
		}
		if e.Seq == c.res.From.Entries { // it is being written
			break
		}
		if e.Seq == 0 {
			err = c.first(work, id, e)
			if err == nil {
				defer func() { err = errors.Join(err, c.to.Close()) }()
			}
		} else {
			err = c.entry(e)
		}
		if err != nil {
			return fmt.Errorf("entry %d: %w", e.Seq, err)
		}
	}
	if c.to == nil {
		return ErrEmpty
	}
	if c.o.Keys != "" && c.to.ledger.keyGone != "" { // the one of the old bundle should be gone, too
		return c.to.removeKey()
	}
	return nil
}

// first makes the new bundle with the entry 0 of the old one, which also says where it comes from.
func (c *copier) first(work, id string, e Entry) error {
	var was firstEntry
	if err := json.Unmarshal(e.Data, &was); err != nil {
		return err
	}
	at, err := e.Time()
	if err != nil {
		return err
	}
	mono, err := strconv.ParseInt(e.Mono, 10, 64)
	if err != nil {
		return err
	}
	now := c.o.Now().UTC().Format(timeLayout)
	o := c.o
	o.Now, o.Mono, o.Boot, o.Version = func() time.Time { return at }, func() time.Duration { return time.Duration(mono) }, e.Boot, was.Handrail
	if o.red, err = c.redactor(); err != nil {
		return err
	}
	o.about = func(f *firstEntry) {
		f.Go, f.OS, f.Arch, f.Host = was.Go, was.OS, was.Arch, o.red.Text(was.Host)
		f.Again = &again{
			ID: c.res.From.ID, Entries: c.res.From.Entries, Root: c.res.From.Root,
			Actor: o.red.Text(c.how.Actor), Reason: o.red.Text(c.how.Reason), At: now,
		}
	}
	c.to, err = Create(work, id, o)
	return err
}

func (c *copier) redactor() (*redact.Redactor, error) {
	if c.o.key == nil {
		c.o.key = newKey()
	}
	red, err := redact.New(c.o.key, c.o.Team)
	if err != nil {
		return nil, err
	}
	red.PassForeign() // tokens that are there stay what they are, whatever key they were made with
	for _, v := range c.how.Values {
		red.Secret(v)
	}
	return red, nil
}

func (c *copier) entry(e Entry) (err error) {
	red := c.to.red
	_, aside := setAsideOf(&e)
	if aside {
		e.Blobs = e.Blobs[:len(e.Blobs)-1]
	}
	was, _ := appendEntry(nil, &e)
	blobs := e.Blobs
	e.Blobs = nil
	for _, b := range blobs {
		if b, err = c.blob(b); err != nil {
			return err
		}
		b.Role, b.Media = red.Text(b.Role), red.Text(b.Media)
		e.Blobs = append(e.Blobs, b)
	}
	e.Actor, e.Step = red.Text(e.Actor), red.Text(e.Step)
	switch e.Type {
	case "seal":
		skipped, err := SkippedIn(e)
		if err != nil {
			return err
		}
		for i := range skipped {
			skipped[i] = red.Text(skipped[i])
		}
		if e.Data, err = c.to.ledger.sealing(skipped); err != nil {
			return err
		}
	case "recover":
		e.Data, err = c.recovered(e.Data)
	case "reopen":
	case "checkpoint":
		e.Data, err = redactMember(e.Data, "where", red)
	default:
		if e.Data, err = redactData(red, e.Data, false); err == nil {
			e.Data, err = c.renamed(e.Data)
		}
	}
	if err != nil {
		return err
	}
	now, _ := appendEntry(nil, &e)
	if aside { // where it was set aside it still is, so that the two can be compared
		if err := c.to.shorten(&e); err != nil {
			return err
		}
	}
	e.Seq, e.Prev = c.to.chain.next, c.to.chain.prev
	line, hash := appendEntry(nil, &e)
	if e.Hash = hash; len(line)+1 > MaxEntry {
		return ErrTooLarge
	}
	if !bytes.Equal(withoutLinks(was), withoutLinks(now)) && e.Type != "seal" {
		c.res.Entries++
	}
	if err := c.to.store(&e, append(line, '\n')); err != nil {
		return err
	}
	if e.Type == "seal" {
		return c.to.finishSeal()
	}
	return nil
}

// withoutLinks is a line without prev and hash, which differ in every entry.
func withoutLinks(line []byte) []byte { return line[:len(line)-len(`,"prev":""`)-64-hashSuffix] }

// redactMember redacts one string of an object whose others follow from the journal.
func redactMember(data json.RawMessage, key string, red *redact.Redactor) (json.RawMessage, error) {
	n, err := jsontree.Parse(data, jsontree.StrictKeys)
	if err != nil {
		return nil, err
	}
	for i := range n.Members {
		if m := &n.Members[i]; m.Key == key && m.Value.Kind == jsontree.String {
			m.Value.Text = red.Text(m.Value.Text)
		}
	}
	return n.AppendTo(nil, -1, 0), nil
}

// renamed gives data that names a blob by its hash the new name of it.
func (c *copier) renamed(data json.RawMessage) (json.RawMessage, error) {
	n, err := jsontree.Parse(data, jsontree.StrictKeys)
	if err != nil {
		return nil, err
	}
	renameBlobs(n, c.sums)
	return n.AppendTo(nil, -1, 0), nil
}

func renameBlobs(n *jsontree.Node, sums map[string]string) {
	if to, ok := sums[n.Text]; ok && n.Kind == jsontree.String {
		n.Text = to
	}
	for i := range n.Members {
		renameBlobs(n.Members[i].Value, sums)
	}
}

// recovered carries a quarantine file over; what was taken out of a journal may hold what is to be hidden.
func (c *copier) recovered(data json.RawMessage) (json.RawMessage, error) {
	var d recovered
	if err := json.Unmarshal(data, &d); err != nil {
		return nil, err
	}
	d.Why = c.to.red.Text(d.Why)
	name := strings.TrimPrefix(d.File, "quarantine/")
	if !quarantineFileName.MatchString("quarantine/" + name) {
		return nil, fmt.Errorf("quarantine file %q", d.File)
	}
	if c.kept[name] == "" {
		raw, err := readSmall(c.from.root, "quarantine/"+name, maxBlob)
		if err != nil {
			return nil, err
		}
		raw = c.to.red.Bytes(raw, nil)
		seq, _, _ := strings.Cut(name, "-")
		c.kept[name] = seq + "-" + sumHex(raw) + ".bin"
		if err := disk.Write(c.to.fs, filepath.Join(c.to.path, "quarantine"), c.kept[name], raw, 0o600); err != nil {
			return nil, err
		}
		if d.Length != "0" {
			d.Length = fmt.Sprint(len(raw))
		}
	}
	d.File = "quarantine/" + c.kept[name]
	_, sum, _ := strings.Cut(strings.TrimSuffix(c.kept[name], ".bin"), "-")
	d.SHA256 = sum
	raw, err := json.Marshal(d)
	if err != nil {
		return nil, err
	}
	n, err := jsontree.Parse(raw, jsontree.StrictKeys)
	if err != nil {
		return nil, err
	}
	return n.AppendTo(nil, -1, 0), nil
}
