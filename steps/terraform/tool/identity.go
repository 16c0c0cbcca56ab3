package tool

import (
	"debug/buildinfo"
	"io/fs"
	"os"
	"slices"
	"sync"
)

// selves are the packages that the tools are built from. The program of a version manager is built from another, and runs
// whichever tool a person chose last.
var selves = []string{"github.com/opentofu/opentofu/cmd/tofu", "github.com/hashicorp/terraform"}

// versions are what the tools at these paths said of themselves, each for the file that said it: a gate asks several times, and
// the answer of a file does not change. It is built from a tool itself; of any other program each answer may be another.
var versions = struct {
	sync.Mutex
	of map[string]version // by path
}{of: map[string]version{}}

type version struct {
	file fs.FileInfo
	p    Program
}

// is reports whether a file is the one that gave the answer.
func (v version) is(file fs.FileInfo) bool {
	return v.file != nil && os.SameFile(v.file, file) && v.file.Size() == file.Size() && v.file.ModTime().Equal(file.ModTime())
}

// known is what the file at a path said.
func known(path string) (Program, bool) {
	file, err := os.Stat(path)
	if err != nil {
		return Program{}, false
	}
	versions.Lock()
	defer versions.Unlock()
	v := versions.of[path]
	return v.p, v.is(file)
}

// keep takes what the file at a path said, where it was the same before it was asked and is a tool itself.
func keep(path string, before fs.FileInfo, p Program) {
	file, err := os.Stat(path)
	if err != nil || before == nil || !(version{file: before}).is(file) {
		return
	}
	if built, err := buildinfo.ReadFile(path); err != nil || !slices.Contains(selves, built.Path) {
		return
	}
	versions.Lock()
	defer versions.Unlock()
	versions.of[path] = version{file: file, p: p}
}
