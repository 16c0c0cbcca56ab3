package evidence

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
)

// maxFiles bounds what Verify looks at in one bundle.
const maxFiles = 200_000

// files are the names that a layout walk found, by what they are.
type files struct {
	blobs, seals, signatures, timestamps, quarantine []string
	temporary, loose, seen                           int
	bytes                                            int64
}

// maxBundle bounds what is read of one bundle.
const maxBundle = 8 << 30

var (
	blobFileName       = regexp.MustCompile(`^blobs/sha256/([0-9a-f]{2})/([0-9a-f]{64})$`)
	tempFileName       = regexp.MustCompile(`^(blobs/sha256|quarantine|seals|\.)?/?\.tmp-[A-Za-z0-9._-]+$`)
	segmentFileName    = regexp.MustCompile(`^journal/[0-9]{6}\.jsonl$`)
	sealFileName       = regexp.MustCompile(`^seals/[0-9]{6}\.txt$`)
	signatureFileName  = regexp.MustCompile(`^seals/[0-9]{6}\.txt(\.[0-9a-f]{16})?\.sig$`)
	timestampFileName  = regexp.MustCompile(`^seals/[0-9]{6}\.tsr$`)
	quarantineFileName = regexp.MustCompile(`^quarantine/[0-9]+-[0-9a-f]{64}\.bin$`)
)

var errTooMuch = errors.New("larger than a bundle may be")

// place sorts one file by its name; it is false for a name that the format does not know.
func (f *files) place(name string) bool {
	switch m := blobFileName.FindStringSubmatch(name); {
	case m != nil && m[1] == m[2][:2]:
		f.blobs = append(f.blobs, m[2])
	case name == "bundle.json", name == "README", name == "lock", segmentFileName.MatchString(name):
	case name == "report.md", name == "report.html":
		f.loose++
	case sealFileName.MatchString(name):
		f.seals = append(f.seals, path.Base(name))
	case signatureFileName.MatchString(name):
		f.signatures = append(f.signatures, path.Base(name))
	case timestampFileName.MatchString(name):
		f.timestamps = append(f.timestamps, path.Base(name))
	case quarantineFileName.MatchString(name):
		f.quarantine = append(f.quarantine, path.Base(name))
	case tempFileName.MatchString(name):
		f.temporary++
	default:
		return false
	}
	return true
}

// placeDir is place for directories.
func placeDir(name string) bool {
	switch name {
	case ".", "journal", "blobs", "blobs/sha256", "quarantine", "seals":
		return true
	}
	return path.Dir(name) == "blobs/sha256" && len(path.Base(name)) == 2 && isHex(path.Base(name))
}

// layout walks the bundle and holds every name against the format. Reports written from the journal may lie beside it;
// they are no evidence. It is false when the bundle is too large to be looked at.
func (v *verifier) layout() bool {
	problem := ""
	bad := func(format string, args ...any) {
		if problem == "" {
			problem = fmt.Sprintf(format, args...)
		}
	}
	f := &v.files
	err := walkFiles(v.root, func(name string, info fs.FileInfo) error {
		switch {
		case info.IsDir() && !placeDir(name):
			bad("directory %q does not belong here", name)
			return fs.SkipDir
		case info.IsDir():
		case !info.Mode().IsRegular():
			bad("%q is not a regular file", name)
		case !f.place(name):
			bad("%q does not belong here", name)
		default:
			f.bytes += info.Size()
		}
		if f.seen++; f.seen > maxFiles || f.bytes > maxBundle {
			return fmt.Errorf("%w: over %d files or %d GiB", errTooMuch, maxFiles, maxBundle>>30)
		}
		return nil
	})
	if err != nil {
		problem = err.Error()
	}
	if problem != "" {
		v.say(PropertyLayout, Failed, "%s", problem)
		return !errors.Is(err, errTooMuch)
	}
	v.say(PropertyLayout, Proven, "%d files and directories; %d unfinished, %d reports that nothing vouches for", f.seen, f.temporary, f.loose)
	return true
}

// walkFiles visits everything below root in the order of names, a directory before what is in it; fs.SkipDir passes
// over one. It follows no link and reads no more names at a time than a bundle may have.
func walkFiles(root *os.Root, visit func(name string, info fs.FileInfo) error) error {
	return walkDir(root, ".", visit)
}

func walkDir(root *os.Root, dir string, visit func(string, fs.FileInfo) error) error {
	list, err := someNames(root, dir, maxFiles)
	if err != nil {
		return err
	}
	for _, base := range list {
		name := path.Join(dir, base)
		info, err := root.Lstat(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue // a writer is at work
		}
		if err != nil {
			return err
		}
		err = visit(name, info)
		switch {
		case errors.Is(err, fs.SkipDir):
		case err != nil:
			return err
		case info.IsDir():
			if err := walkDir(root, name, visit); err != nil {
				return err
			}
		}
	}
	return nil
}

// someNames lists a directory inside root, sorted. A directory with more names than a bundle may have is refused before
// all of them are in memory.
func someNames(root *os.Root, dir string, most int) ([]string, error) {
	info, err := root.Lstat(dir)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return nil, fmt.Errorf("%q is not a directory", dir)
	}
	d, err := root.Open(dir)
	if err != nil {
		return nil, err
	}
	var names []string
	for {
		var some []string
		some, err = d.Readdirnames(4096)
		names = append(names, some...)
		if len(names) > most {
			err = fmt.Errorf("%w: over %d names in %q", errTooMuch, most, dir)
		}
		if err != nil {
			break
		}
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	if cerr := d.Close(); err == nil {
		err = cerr
	}
	slices.SortFunc(names, strings.Compare)
	return names, err
}
