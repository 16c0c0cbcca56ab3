package tool

import (
	"maps"
	"os"
	"strings"
	"sync"
	"time"
)

// versionFor is how long the version of a program is taken for granted: the probes and gates of one step ask for it again and
// again. The program of a version manager may run another one as soon as a person chooses it.
const versionFor = 15 * time.Second

// identity is a program as it lies on the disk, with what it is run with.
type identity struct {
	file os.FileInfo // nil where it cannot be told from another: what it says is asked for each time
	key  string      // its path and its environment
}

// identityOf looks at a program. A script may choose another program each time that it is run.
func identityOf(path string, env []string) identity {
	is := identity{key: path + "\x00" + strings.Join(env, "\x00")}
	f, err := os.Open(path)
	if err != nil {
		return is
	}
	defer f.Close()
	head := make([]byte, 2)
	if _, err := f.ReadAt(head, 0); err != nil || string(head) == "#!" {
		return is
	}
	if info, err := f.Stat(); err == nil {
		is.file = info
	}
	return is
}

// answers are what programs said of themselves a moment ago.
var answers = struct {
	sync.Mutex
	of map[string]answer // by the key of the identity
}{of: map[string]answer{}}

type answer struct {
	file os.FileInfo
	at   time.Time
	p    Program
}

func (a answer) old() bool { return time.Since(a.at) > versionFor }

// known is what the program said, while it is the same file.
func (i identity) known() (Program, bool) {
	if i.file == nil {
		return Program{}, false
	}
	answers.Lock()
	defer answers.Unlock()
	a, ok := answers.of[i.key]
	if !ok || a.old() || !os.SameFile(a.file, i.file) || a.file.Size() != i.file.Size() || !a.file.ModTime().Equal(i.file.ModTime()) {
		return Program{}, false
	}
	return a.p, true
}

func (i identity) keep(p Program) {
	if i.file == nil {
		return
	}
	answers.Lock()
	defer answers.Unlock()
	maps.DeleteFunc(answers.of, func(_ string, a answer) bool { return a.old() })
	answers.of[i.key] = answer{file: i.file, at: time.Now(), p: p}
}
