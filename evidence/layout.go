package evidence

import (
	"fmt"
	"io/fs"
	"path"
	"regexp"
)

// files are the names that a layout walk found, by what they are.
type files struct {
	blobs, seals, quarantine []string
	temporary                int
}

var (
	blobFileName       = regexp.MustCompile(`^blobs/sha256/([0-9a-f]{2})/([0-9a-f]{64})$`)
	tempFileName       = regexp.MustCompile(`^(blobs/sha256|quarantine|\.)?/?\.tmp-[A-Za-z0-9._-]+$`)
	segmentFileName    = regexp.MustCompile(`^journal/[0-9]{6}\.jsonl$`)
	sealFileName       = regexp.MustCompile(`^seals/[0-9]{6}\.(txt|txt\.sig|tsr)$`)
	quarantineFileName = regexp.MustCompile(`^quarantine/[0-9]+-[0-9a-f]{64}\.bin$`)
)

// layout walks the bundle and holds every name against the format. Reports written from the journal may lie beside it;
// they are no evidence.
func (v *verifier) layout() {
	problem, seen, loose := "", 0, 0
	bad := func(format string, args ...any) {
		if problem == "" {
			problem = fmt.Sprintf(format, args...)
		}
	}
	err := fs.WalkDir(v.root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if seen++; seen > maxFiles {
			bad("more than %d files", maxFiles)
			return fs.SkipAll
		}
		if d.IsDir() {
			switch name {
			case ".", "journal", "blobs", "blobs/sha256", "quarantine", "seals":
				return nil
			}
			if path.Dir(name) == "blobs/sha256" && len(path.Base(name)) == 2 && isHex(path.Base(name)) {
				return nil
			}
			bad("directory %q does not belong here", name)
			return fs.SkipDir
		}
		if !d.Type().IsRegular() {
			bad("%q is not a regular file", name)
			return nil
		}
		switch m := blobFileName.FindStringSubmatch(name); {
		case m != nil && m[1] == m[2][:2]:
			v.files.blobs = append(v.files.blobs, m[2])
		case name == "bundle.json", name == "README", name == "lock", segmentFileName.MatchString(name):
		case name == "report.md", name == "report.html":
			loose++
		case sealFileName.MatchString(name):
			if path.Ext(name) == ".txt" {
				v.files.seals = append(v.files.seals, path.Base(name))
			}
		case quarantineFileName.MatchString(name):
			v.files.quarantine = append(v.files.quarantine, path.Base(name))
		case tempFileName.MatchString(name):
			v.files.temporary++
		default:
			bad("%q does not belong here", name)
		}
		return nil
	})
	if err != nil {
		bad("%v", err)
	}
	if problem != "" {
		v.say("layout", false, "%s", problem)
		return
	}
	v.say("layout", true, "%d files and directories; %d unfinished, %d reports that nothing vouches for", seen, v.files.temporary, loose)
}
