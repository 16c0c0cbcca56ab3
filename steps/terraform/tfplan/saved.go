package tfplan

import (
	"archive/zip"
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"handrail/steps"
)

// Limits of a saved plan: a small archive can hold a bomb.
const (
	maxEntries = 20_000
	maxTfplan  = 512 << 20 // read as a stream
	maxConfig  = 8 << 20   // of one file
	maxConfigs = 256 << 20 // of all of them
	maxIndex   = 8 << 20   // of the archive's own list of its parts

	maxPriorState = 2 << 30
)

// ErrNotSaved says that a file is no saved plan.
var ErrNotSaved = errors.New("this is not a saved plan")

// Saved is a saved plan: a ZIP that the tool wrote with -out. It holds the values
// of the plan, secrets among them.
type Saved struct {
	Doc       *Doc
	Mode      string // normal, destroy or refresh-only
	Created   string // timestamp inside, "" for none
	Backend   string
	Workspace string
	Variables []string            // names
	Values    map[string][]byte   // of the variables by name, as msgpack of a dynamic value; secrets among them
	Targets   []string            // addresses that it was made for alone
	Replaces  []string            // addresses that it was told to replace
	LockFile  []byte              // .terraform.lock.hcl, nil for none
	Files     map[string][32]byte // configuration, by path below the root module
	Skipped   []string            // parts of the configuration that lie elsewhere
	Idle      bool                // the tool itself says that there is nothing to apply; Terraform says so from 1.8 on
	zip       *zip.Reader
	kept      int // bytes of names that are kept
}

// OpenSaved reads a saved plan of size bytes.
func OpenSaved(r io.ReaderAt, size int64) (*Saved, error) {
	z, err := openArchive(r, size)
	if err != nil {
		head := make([]byte, 512)
		n, _ := r.ReadAt(head, 0)
		if strings.Contains(string(head[:n]), `"encrypt`) || strings.Contains(string(head[:n]), `"meta"`) {
			return nil, fmt.Errorf("%w: tofu encrypted it, and without its key only tofu can read it", ErrNotSaved)
		}
		return nil, fmt.Errorf("%w: %v", ErrNotSaved, err)
	}
	if len(z.File) > maxEntries {
		return nil, fmt.Errorf("%w: it has %d parts", ErrNotSaved, len(z.File))
	}
	s := &Saved{zip: z, Files: map[string][32]byte{}, Values: map[string][]byte{}}
	rc, err := s.open("tfplan")
	if err != nil {
		return nil, fmt.Errorf("%w: %v", ErrNotSaved, err)
	}
	err = s.decode(bufio.NewReaderSize(io.LimitReader(rc, maxTfplan+1), 64<<10))
	if err := errors.Join(err, rc.Close()); err != nil {
		return nil, fmt.Errorf("%w: part tfplan: %v", ErrNotSaved, err)
	}
	if s.LockFile, err = s.part(".terraform.lock.hcl", maxConfig); err != nil {
		s.LockFile = nil
	}
	return s, s.config()
}

func (s *Saved) open(name string) (io.ReadCloser, error) {
	i := slices.IndexFunc(s.zip.File, func(f *zip.File) bool { return f.Name == name })
	if i < 0 {
		return nil, fmt.Errorf("it has no part %s", name)
	}
	rc, err := s.zip.File[i].Open()
	if err != nil {
		return nil, fmt.Errorf("part %s: %w", name, err)
	}
	return rc, nil
}

// part reads one part of the archive whole.
func (s *Saved) part(name string, limit int64) ([]byte, error) {
	rc, err := s.open(name)
	if err != nil {
		return nil, err
	}
	defer rc.Close()
	b, err := io.ReadAll(io.LimitReader(rc, limit+1))
	if err != nil {
		return nil, fmt.Errorf("part %s: %w", name, err)
	}
	if int64(len(b)) > limit {
		return nil, fmt.Errorf("part %s is over %d bytes", name, limit)
	}
	return b, nil
}

// State opens the state that the plan was made from: as it was read, or with
// what the refresh found. It can be read more than once; the caller closes it.
func (s *Saved) State(refreshed bool) (io.ReadSeekCloser, error) {
	name := "tfstate-prev"
	if refreshed {
		name = "tfstate"
	}
	for _, f := range s.zip.File {
		if f.Name == name {
			return &rereader{file: f}, nil
		}
	}
	return nil, fmt.Errorf("the saved plan has no part %s", name)
}

// rereader reads a part of an archive, which cannot seek, from its start as often as
// it is asked to.
type rereader struct {
	file *zip.File
	rc   io.ReadCloser
	left int64
}

func (a *rereader) Read(p []byte) (int, error) {
	if a.rc == nil {
		if _, err := a.Seek(0, io.SeekStart); err != nil {
			return 0, err
		}
	}
	if a.left <= 0 {
		return 0, fmt.Errorf("part %s is over %d bytes", a.file.Name, int64(maxPriorState))
	}
	n, err := a.rc.Read(p)
	a.left -= int64(n)
	return n, err
}

func (a *rereader) Seek(offset int64, whence int) (int64, error) {
	if offset != 0 || whence != io.SeekStart {
		return 0, errors.New("a part of an archive goes back to its start alone")
	}
	if err := a.Close(); err != nil {
		return 0, err
	}
	rc, err := a.file.Open()
	a.rc, a.left = rc, maxPriorState
	return 0, err
}

func (a *rereader) Close() error {
	if a.rc == nil {
		return nil
	}
	rc := a.rc
	a.rc = nil
	return rc.Close()
}

// config sums up the snapshot of the configuration. Modules below the root keep
// their place; those that were installed lie in .terraform/modules.
func (s *Saved) config() error {
	raw, err := s.part("tfconfig/modules.json", maxConfig)
	if err != nil {
		s.Skipped = append(s.Skipped, "the configuration: "+err.Error())
		return nil
	}
	var modules []struct{ Key, Dir string }
	if err := json.Unmarshal(raw, &modules); err != nil {
		s.Skipped = append(s.Skipped, "the configuration: its list of modules cannot be read")
		return nil
	}
	dirs := map[string]string{}
	for _, m := range modules {
		dir := path.Clean(strings.ReplaceAll(m.Dir, `\`, "/"))
		if path.IsAbs(dir) || dir == ".." || strings.HasPrefix(dir, "../") {
			s.Skipped = append(s.Skipped, fmt.Sprintf("module %q, which lies outside the root module", steps.Clip(m.Key, 100)))
			continue
		}
		dirs["m-"+m.Key] = dir
	}
	left := maxConfigs
	for _, f := range s.zip.File {
		rest, ok := strings.CutPrefix(f.Name, "tfconfig/")
		if !ok || rest == "modules.json" {
			continue
		}
		at, name := path.Split(rest)
		dir, ok := dirs[strings.TrimSuffix(at, "/")]
		if !ok || name == "" {
			continue
		}
		if left <= 0 {
			s.Skipped = append(s.Skipped, fmt.Sprintf("what is over %d bytes of configuration", maxConfigs))
			break
		}
		b, err := s.part(f.Name, maxConfig)
		if err != nil {
			left -= maxConfig
			s.Skipped = append(s.Skipped, err.Error())
			continue
		}
		left -= len(b)
		s.Files[path.Join(dir, name)] = sha256.Sum256(b)
	}
	return nil
}

// Root reads the files of the root module as the plan keeps them, by name.
func (s *Saved) Root() (map[string][]byte, error) {
	const root = "tfconfig/m-/"
	out, left := map[string][]byte{}, maxConfigs
	for _, f := range s.zip.File {
		name, ok := strings.CutPrefix(f.Name, root)
		if !ok || name == "" || strings.Contains(name, "/") {
			continue
		}
		b, err := s.part(f.Name, maxConfig)
		if err != nil {
			return nil, err
		}
		if left -= len(b); left < 0 {
			return nil, fmt.Errorf("the configuration in the plan is over %d bytes", maxConfigs)
		}
		out[name] = b
	}
	if len(out) == 0 {
		return nil, errors.New("the plan keeps no configuration of the root module")
	}
	return out, nil
}

// ActionsDigest is a sum of what the plan would do to which address, without
// values: two plans with the same sum ask for the same.
func (d *Doc) ActionsDigest() string {
	var lines []string
	for _, c := range d.Changes {
		if c.Act == Read {
			continue
		}
		lines = append(lines, fmt.Sprintf("%q %q %q %s %q", c.Address, c.Previous, c.Deposed, c.Act, c.Importing))
	}
	slices.Sort(lines)
	sum := sha256.Sum256([]byte(strings.Join(lines, "\n")))
	return hex.EncodeToString(sum[:])
}
