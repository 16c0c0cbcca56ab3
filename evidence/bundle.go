package evidence

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"sync"
	"time"

	"handrail/evidence/disk"
	"handrail/evidence/redact"
)

// Format is the name of the bundle format that this package writes.
const Format = "handrail/bundle/v1"

// readmeText is put into every bundle; entry 0 holds its hash.
//
//go:embed bundle_readme.txt
var readmeText string

// segmentSize is where the journal goes on in a new segment.
const segmentSize = 16 << 20

// Options are what a bundle needs from outside. The zero value works: wall clock, real files, and a redaction key that
// lives only as long as the Bundle, so that tokens of a later session differ.
type Options struct {
	Now     func() time.Time
	Mono    func() time.Duration // time since the process started, monotonic
	Boot    string               // boot id of the host
	Keys    string               // directory for redaction keys, outside every bundle; made with 0700 when missing
	FS      disk.FS
	Host    string // for entry 0; the host's name when empty
	Version string // version of handrail, for entry 0 and bundle.json
	// At a seal the redaction key is encrypted to these age recipients, to be kept beside it; without any it is
	// destroyed, unless KeepKey leaves it where it is.
	Recipients []string
	KeepKey    bool
	Team       []redact.TeamRule // rules that the team adds to the built-in ones; one that is not valid is a TeamRuleError
	Types      Types             // of entries: one of another type is not written, and a bundle that has one not continued

	noSync bool              // benchmarks only: what it writes is not durable
	rules  string            // tests only: digest of the redaction rules
	about  func(*firstEntry) // tests only: makes entry 0 the same everywhere
	noLock bool              // tests only: the file system is in memory, where the kernel has no locks
	red    *redact.Redactor  // the one to use instead of a new one
	key    []byte            // the redaction key of a new bundle
}

func (o Options) redactor(key []byte) (*redact.Redactor, error) {
	if o.red != nil {
		return o.red, nil
	}
	return redact.New(key, o.Team)
}

func (o Options) withDefaults() Options {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Mono == nil {
		start := time.Now()
		o.Mono = func() time.Duration { return time.Since(start) }
	}
	if o.Boot == "" {
		o.Boot = bootID()
	}
	if o.FS == nil {
		o.FS = disk.OS{}
	}
	if o.Host == "" {
		o.Host, _ = os.Hostname() // an unnamed host is recorded as such
	}
	if o.Version == "" {
		o.Version = "devel"
	}
	return o
}

// bootID reads the kernel's boot id, or says unknown where there is none.
func bootID() string {
	b, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil || len(b) < 36 {
		return "unknown"
	}
	return string(b[:36])
}

// Bundle is a bundle open for writing. Its methods may be called from several goroutines; entries take the order in
// which Append gets the lock.
type Bundle struct {
	path string
	id   string
	opts Options
	fs   disk.FS
	red  *redact.Redactor
	lock *disk.Lock

	mu      sync.Mutex
	seg     disk.File
	segNo   int
	segSize int64
	chain   chain
	ledger  ledger
	owed    map[string]string // goes into an env entry before the next one
	key     []byte            // the redaction key in force
	pending []byte            // a new redaction key, to be stored once an entry said so
	keyLeft bool              // a redaction key is there that should be gone
	buf     []byte
	final   []byte // the last line, while opening
	dead    error
	closed  bool
	kept    int             // known values that the dictionary holds, -1 before it was written with the key in force
	lost    bool            // the journal says that known values were lost
	forgot  string          // why they are not known to this writer
	sides   []string        // dictionaries that were taken in and can go
	side    string          // where to leave what was learned beside another writer
	fanned  map[string]bool // directories of blobs whose names are durable
	temp    int             // numbers temporary blob files
	remote  string          // the kind of file system, where locks and syncs may mean nothing
}

// Path returns the bundle's directory.
func (b *Bundle) Path() string { return b.path }

// ID returns the bundle's id.
func (b *Bundle) ID() string { return b.id }

// Head returns the number and hash of the newest entry.
func (b *Bundle) Head() (int64, string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.chain.next - 1, b.chain.prev
}

var validID = regexp.MustCompile(`^[a-zA-Z0-9][a-zA-Z0-9._-]{0,127}$`)

// Create makes <dir>/<id>.hrb, takes its lock and writes entry 0. The directory dir must exist.
func Create(dir, id string, o Options) (_ *Bundle, err error) {
	if !validID.MatchString(id) {
		return nil, fmt.Errorf("bundle id %q: only letters, digits, dot, underscore and hyphen", id)
	}
	o = o.withDefaults()
	b := &Bundle{path: filepath.Join(dir, id+".hrb"), id: id, opts: o, fs: o.FS, segNo: 1, chain: chain{prev: zeroHash}, ledger: newLedger()}
	made := false
	defer func() {
		if err == nil {
			return
		}
		err = errors.Join(fmt.Errorf("creating bundle %q: %w", b.path, err), b.Close())
		if made { // nothing was acknowledged in it, and half a bundle is only in the way
			err = errors.Join(err, os.RemoveAll(b.path))
		}
	}()
	if err := b.fs.Mkdir(b.path, 0o700); err != nil {
		return nil, err
	}
	made = true
	if err := b.takeLock(); err != nil {
		return nil, err
	}
	for _, sub := range [...]string{"journal", "blobs", "blobs/sha256", "quarantine", "seals"} {
		if err := b.fs.Mkdir(filepath.Join(b.path, sub), 0o700); err != nil {
			return nil, err
		}
	}
	key, err := makeKey(o, id)
	if err != nil {
		return nil, err
	}
	if b.red, err = o.redactor(key); err != nil {
		return nil, err
	}
	b.key = key
	readme := []byte(readmeText)
	if err := disk.Write(b.fs, b.path, "README", readme, 0o600); err != nil {
		return nil, err
	}
	meta := encodeMeta(Meta{Format: Format, ID: id, Created: o.Now().UTC().Format(timeLayout), Handrail: o.Version})
	if err := disk.Write(b.fs, b.path, "bundle.json", meta, 0o600); err != nil {
		return nil, err
	}
	if err := b.openSegment(); err != nil {
		return nil, err
	}
	for _, d := range [...]string{filepath.Join(b.path, "blobs"), b.path, dir} {
		if err := b.fs.SyncDir(d); err != nil {
			return nil, err
		}
	}
	first := firstEntry{
		Format: Format, ID: id, Bundle: sumHex(meta), Readme: sumHex(readme), Handrail: o.Version,
		Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH, Host: o.Host, Rules: cmp.Or(o.rules, b.red.Digest()),
	}
	if o.about != nil {
		o.about(&first)
	}
	if _, err := b.append(Draft{Type: "env", Actor: "system", Data: first, derived: first.Again != nil}); err != nil {
		return nil, err
	}
	return b, nil
}

// firstEntry is the data of entry 0; it ties bundle.json and README to the chain.
type firstEntry struct {
	Format   string `json:"format"`
	ID       string `json:"id"`
	Bundle   string `json:"bundle_sha256"`
	Readme   string `json:"readme_sha256"`
	Handrail string `json:"handrail"`
	Go       string `json:"go"`
	OS       string `json:"os"`
	Arch     string `json:"arch"`
	Host     string `json:"host"`
	Rules    string `json:"ruleset_sha256"`
	Again    *again `json:"again,omitempty"`
}

// openSegment makes segment b.segNo and makes its name durable.
func (b *Bundle) openSegment() error {
	dir := filepath.Join(b.path, "journal")
	f, err := b.fs.OpenFile(filepath.Join(dir, segmentName(b.segNo)), os.O_WRONLY|os.O_CREATE|os.O_EXCL|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	b.seg, b.segSize = f, 0
	if err := f.Sync(); err != nil {
		return err
	}
	return b.fs.SyncDir(dir)
}

// Close releases the lock. Everything that Append returned is already durable.
func (b *Bundle) Close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return nil
	}
	b.closed = true
	var err error
	if b.seg != nil {
		err = b.seg.Close()
	}
	if b.lock != nil {
		err = errors.Join(err, b.lock.Release())
	}
	return err
}

// Secret makes a value that this session knows redacted from now on: as it is, in base64, URL-escaped and JSON-escaped.
// Values under 8 bytes are ignored, since they would hit ordinary text.
func (b *Bundle) Secret(value string) { b.red.Secret(value) }

// Redact returns s as it would be stored.
func (b *Bundle) Redact(s string) string { return b.red.Text(s) }

// RedactArtifact is what an artifact of a media type would hold of raw, redacted as it is there.
func (b *Bundle) RedactArtifact(media string, raw []byte) ([]byte, error) {
	var out bytes.Buffer
	in := b.red.Artifact(media, &out)
	if _, err := in.Write(raw); err != nil {
		return nil, err
	}
	_, err := in.Close()
	return out.Bytes(), err
}

// RedactKnown hides the known values of the session in s and leaves patterns alone: for what identifies a target, which
// must not change because it looks like a secret.
func (b *Bundle) RedactKnown(s string) string { return b.red.KnownOnly(s, nil) }

func sumHex(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}
