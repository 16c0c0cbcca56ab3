package evidence

import (
	"bufio"
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gofrs/flock"
	"golang.org/x/mod/sumdb/tlog"

	"handrail/evidence/disk"
	"handrail/evidence/jsontree"
)

const (
	// maxHandling is how long a handling log may be.
	maxHandling = 16 << 20
	// handlingWait is how long a writer waits for another one.
	handlingWait = 10 * time.Second
)

// Handling is one thing that was done with a bundle as a whole.
type Handling struct {
	Seq     int64     // of the line
	At      time.Time // zero means now when it is written
	Actor   string
	What    string // export, verify, push, pull, post, leaks or redact
	Form    string // of an export
	Place   string // where to, or where from
	Result  string // in a few words
	Exit    int    // the exit code of the program
	Entries int64  // the checkpoint of the bundle then; 0 where it could not be read
	Root    string
	Fits    bool // the bundle still has that checkpoint; set when the log is read
}

// HandlingLog is what stands beside a bundle.
type HandlingLog struct {
	Path    string
	Lines   []Handling
	Damaged int // lines that are none; the chain goes on behind them
	Broken  int // lines that do not follow the one before
}

// Sound reports whether nothing in the log contradicts itself or the bundle.
func (l HandlingLog) Sound() bool {
	return l.Damaged+l.Broken == 0 && !slices.ContainsFunc(l.Lines, func(h Handling) bool { return !h.Fits })
}

// HandlingPath is where the handling log of a bundle lies.
func HandlingPath(bundle string) string {
	return strings.TrimSuffix(filepath.Clean(bundle), ".hrb") + ".handling.jsonl"
}

// Checkpoint is the checkpoint over all good entries of the journal.
func (r *Reader) Checkpoint() (Checkpoint, error) {
	roots, n, err := r.roots(nil)
	if err != nil {
		return Checkpoint{}, err
	}
	return Checkpoint{ID: r.meta.ID, Entries: n, Root: roots[n]}, nil
}

// roots computes the root at each of the sizes, and at the end.
func (r *Reader) roots(sizes map[int64]bool) (map[int64]string, int64, error) {
	var m merkle
	var n int64
	out := map[int64]string{}
	_, err := walkJournal(r.root, func(e Entry, _ []byte) error {
		var leaf tlog.Hash
		if _, err := hex.Decode(leaf[:], []byte(e.Hash)); err != nil {
			return err
		}
		m.add(leaf)
		if n++; sizes[n] {
			out[n] = encodeRoot(m.root())
		}
		return nil
	})
	if n > 0 {
		out[n] = encodeRoot(m.root())
	}
	return out, n, err
}

// Handle adds a line to the handling log of a bundle. Nothing in the bundle changes. scrub takes secrets out of texts;
// the user information and the values of the query of a URL are taken out in any case. Several processes may call it at
// once. The log is a help and no proof: a caller warns of an error and goes on.
func Handle(bundle string, h Handling, scrub func(string) string) (err error) {
	name := HandlingPath(bundle)
	defer func() {
		if err != nil {
			err = fmt.Errorf("handling log %q: %w", name, err)
		}
	}()
	if info, err := os.Lstat(name); err == nil && !info.Mode().IsRegular() {
		return errors.New("not a regular file")
	}
	if r, err := OpenReadOnly(bundle); err == nil {
		if c, err := r.Checkpoint(); err == nil {
			h.Entries, h.Root = c.Entries, c.Root
		}
		_ = r.Close() // only read from
	}
	dir, err := os.Stat(filepath.Dir(name))
	if err != nil {
		return err
	}
	// A process that may add a bundle to the place may add a line.
	lock := flock.New(name, flock.SetFlag(os.O_RDWR|os.O_CREATE|disk.NoFollow), flock.SetPermissions(dir.Mode().Perm()&0o666))
	ctx, cancel := context.WithTimeout(context.Background(), handlingWait)
	defer cancel()
	if _, err := lock.TryLockContext(ctx, 5*time.Millisecond); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	f, err := os.OpenFile(name, os.O_RDWR|os.O_APPEND|disk.NoFollow, 0)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	end, err := readHandling(f)
	if err != nil {
		return err
	}
	line, err := h.line(end, scrub)
	if err != nil {
		return err
	}
	if end.torn {
		line = append([]byte{'\n'}, line...)
	}
	if end.size+int64(len(line)) > maxHandling {
		return fmt.Errorf("it would pass %d MiB; move it away, a new one begins", maxHandling>>20)
	}
	if _, err := f.Write(line); err != nil {
		return err
	}
	return f.Sync()
}

// handlingData is the data of a line.
type handlingData struct {
	Form    string `json:"form"`
	Place   string `json:"place"`
	Result  string `json:"result"`
	Exit    int    `json:"exit"`
	Entries int64  `json:"entries"`
	Root    string `json:"root"`
}

// line is h as it stands behind what is there.
func (h Handling) line(after handlingEnd, scrub func(string) string) ([]byte, error) {
	clean := func(s string) string { return scrub(withoutCredentials(s)) }
	if h.At.IsZero() {
		h.At = time.Now()
	}
	data, err := json.Marshal(handlingData{clean(h.Form), clean(h.Place), clean(h.Result), h.Exit, h.Entries, h.Root})
	if err != nil {
		return nil, err
	}
	tree, err := jsontree.Parse(data, jsontree.StrictKeys)
	if err != nil {
		return nil, err
	}
	e := Entry{V: entryVersion, Seq: after.next, Type: h.What, T: h.At.UTC().Format(timeLayout), Mono: "0", Actor: clean(h.Actor),
		Data: tree.AppendTo(nil, -1, 0), Prev: after.prev}
	line, _ := appendEntry(nil, &e)
	return append(line, '\n'), nil
}

// withoutCredentials takes credentials out of a URL, and leaves what names the place.
func withoutCredentials(s string) string {
	if !strings.Contains(s, "://") {
		return s
	}
	u, err := url.Parse(s)
	if err != nil {
		scheme, _, _ := strings.Cut(s, "://")
		return scheme + "://…"
	}
	if u.User != nil {
		u.User = url.User("…")
	}
	if u.RawQuery != "" {
		u.RawQuery = "…"
	}
	if u.Fragment != "" {
		u.Fragment, u.RawFragment = "…", ""
	}
	if u.Opaque != "" {
		u.Opaque = "…"
	}
	out, err := url.PathUnescape(u.String())
	if err != nil {
		return u.String()
	}
	return out
}

// handlingEnd is where a log goes on.
type handlingEnd struct {
	next int64
	prev string
	size int64
	torn bool // its last line has no end
	log  HandlingLog
}

// readHandling reads a log. A line that is none is counted and skipped: what a crash left must not end the log.
func readHandling(in io.Reader) (handlingEnd, error) {
	end := handlingEnd{prev: zeroHash}
	b := bufio.NewReader(io.LimitReader(in, maxHandling+1))
	for {
		line, err := b.ReadBytes('\n')
		end.size += int64(len(line))
		if len(line) > 0 {
			end.torn = line[len(line)-1] != '\n'
			end.take(bytes.TrimSuffix(line, []byte{'\n'}))
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return end, err
		}
	}
	if end.size > maxHandling {
		return end, fmt.Errorf("over %d MiB", maxHandling>>20)
	}
	return end, nil
}

func (l *handlingEnd) take(line []byte) {
	e, err := parseEntry(line)
	var d handlingData
	if err == nil {
		err = json.Unmarshal(e.Data, &d)
	}
	if err != nil || len(e.Blobs) > 0 || e.Step != "" {
		l.log.Damaged++
		return
	}
	if e.Prev != l.prev || e.Seq != l.next {
		l.log.Broken++
	}
	l.next, l.prev = e.Seq+1, e.Hash
	at, _ := e.Time() // parseEntry has read it
	l.log.Lines = append(l.log.Lines, Handling{Seq: e.Seq, At: at, Actor: e.Actor, What: e.Type, Form: d.Form, Place: d.Place, Result: d.Result,
		Exit: d.Exit, Entries: d.Entries, Root: d.Root})
}

// Handled reads the handling log beside a bundle and holds it against itself and against the bundle. No log is an empty one.
func Handled(bundle string) (HandlingLog, error) {
	name := HandlingPath(bundle)
	info, err := os.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return HandlingLog{Path: name}, nil
	case err != nil:
		return HandlingLog{}, err
	case !info.Mode().IsRegular():
		return HandlingLog{}, fmt.Errorf("handling log %q is not a regular file", name)
	}
	f, err := os.OpenFile(name, os.O_RDONLY|disk.NoFollow, 0)
	if err != nil {
		return HandlingLog{}, fmt.Errorf("handling log: %w", err)
	}
	end, err := readHandling(f)
	if err = errors.Join(err, f.Close()); err != nil {
		return HandlingLog{}, fmt.Errorf("handling log %q: %w", name, err)
	}
	log := end.log
	log.Path = name
	sizes := map[int64]bool{}
	for _, h := range log.Lines {
		sizes[h.Entries] = true
	}
	var roots map[int64]string
	if r, err := OpenReadOnly(bundle); err == nil {
		roots, _, _ = r.roots(sizes) // a journal that breaks off fits no root behind it
		_ = r.Close()                // only read from
	}
	for i := range log.Lines {
		h := &log.Lines[i]
		h.Fits = h.Entries == 0 && h.Root == "" || h.Entries > 0 && roots[h.Entries] == h.Root
	}
	return log, nil
}
