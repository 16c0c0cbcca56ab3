package inject

import (
	"bytes"
	"compress/zlib"
	"context"
	"crypto/sha1"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"handrail/drills/stage"
)

// commit is the verb git.commit. It writes the objects itself: no configuration
// of the machine has a say, and there need be no git.
type commit struct {
	Message string `key:"message,required"`
}

func (c commit) apply(_ context.Context, st *stage.Stage) error {
	// Before the drill: no commit was made while it ran.
	return gitRepo(filepath.Join(st.Rec.Dir, ".git")).commit(st.Rec.Dir, c.Message, st.Rec.Started.Add(-time.Hour))
}

// gitRepo is a git directory.
type gitRepo string

func (r gitRepo) branch() string { return filepath.Join(string(r), "refs", "heads", "main") }

// commit writes all of dir as a commit upon the newest.
func (r gitRepo) commit(dir, message string, at time.Time) error {
	parent, err := r.start()
	if err != nil {
		return err
	}
	tree, err := r.tree(dir)
	if err != nil {
		return err
	}
	who := fmt.Sprintf("platform <platform@example.com> %d +0000", at.Unix())
	text := "tree " + hex.EncodeToString(tree) + "\n"
	if parent != "" {
		text += "parent " + parent + "\n"
	}
	sum, err := r.object("commit", []byte(text+"author "+who+"\ncommitter "+who+"\n\n"+message+"\n"))
	if err != nil {
		return err
	}
	return os.WriteFile(r.branch(), []byte(hex.EncodeToString(sum)+"\n"), 0o600)
}

// start makes the repository where there is none and returns the newest commit.
func (r gitRepo) start() (string, error) {
	raw, err := os.ReadFile(r.branch())
	if err == nil {
		return strings.TrimSpace(string(raw)), nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	for _, dir := range []string{"objects", "refs/heads"} {
		if err := os.MkdirAll(filepath.Join(string(r), filepath.FromSlash(dir)), 0o700); err != nil {
			return "", err
		}
	}
	return "", errors.Join(
		os.WriteFile(filepath.Join(string(r), "HEAD"), []byte("ref: refs/heads/main\n"), 0o600),
		os.WriteFile(filepath.Join(string(r), "config"), []byte("[core]\n\trepositoryformatversion = 0\n\tbare = false\n"), 0o600))
}

// tree writes a directory but for what no team commits.
func (r gitRepo) tree(dir string) ([]byte, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	type line struct{ key, text string }
	var lines []line
	for _, e := range entries {
		name := e.Name()
		if name == ".git" || name == ".terraform" || strings.Contains(name, ".tfstate") || strings.HasSuffix(name, ".tfplan") {
			continue
		}
		var sum []byte
		l := line{key: name, text: "100644 " + name + "\x00"}
		if e.IsDir() {
			l = line{key: name + "/", text: "40000 " + name + "\x00"} // git sorts a directory as if it ended so
			sum, err = r.tree(filepath.Join(dir, name))
		} else {
			var raw []byte
			if raw, err = os.ReadFile(filepath.Join(dir, name)); err == nil {
				sum, err = r.object("blob", raw)
			}
		}
		if err != nil {
			return nil, err
		}
		l.text += string(sum)
		lines = append(lines, l)
	}
	slices.SortFunc(lines, func(a, b line) int { return strings.Compare(a.key, b.key) })
	var out strings.Builder
	for _, l := range lines {
		out.WriteString(l.text)
	}
	return r.object("tree", []byte(out.String()))
}

// object writes one loose object and returns its name. SHA-1 is git's.
func (r gitRepo) object(kind string, content []byte) ([]byte, error) {
	whole := append(fmt.Appendf(nil, "%s %d\x00", kind, len(content)), content...)
	sum := sha1.Sum(whole)
	name := hex.EncodeToString(sum[:])
	dir := filepath.Join(string(r), "objects", name[:2])
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	var packed bytes.Buffer
	z := zlib.NewWriter(&packed)
	if _, err := z.Write(whole); err != nil {
		return nil, err
	}
	if err := z.Close(); err != nil {
		return nil, err
	}
	return sum[:], os.WriteFile(filepath.Join(dir, name[2:]), packed.Bytes(), 0o600)
}
