package closure

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// configures reports whether a file is a part of a configuration by its name.
func configures(path string) bool { return hasEnd(path, ".tf", ".tf.json", ".tofu", ".tofu.json") }

// decides reports whether tofu takes a file by its name alone.
func decides(path string) bool {
	return configures(path) || hasEnd(path, ".tfvars", ".tfvars.json", ".hcl", ".tfrc", ".tfrc.json", ".tofurc", ".terraformrc")
}

func hasEnd(name string, ends ...string) bool {
	for _, end := range ends {
		if strings.HasSuffix(name, end) {
			return true
		}
	}
	return false
}

// pauseMarker is the file by which handrail pauses applies in a directory.
const pauseMarker = ".handrail-pause.json"

var (
	states   = regexp.MustCompile(`\.tfstate(\.\d+)?(\.backup)?$`)
	lockInfo = regexp.MustCompile(`^\..*\.lock\.info$`)
	swap     = regexp.MustCompile(`^(\..*\.sw[a-p]|.*~|#.*#|\.#.*|\.DS_Store|4913)$`)
)

// editors reports whether a file is what an editor leaves while a file is open.
func editors(name string) bool { return swap.MatchString(name) }

// changing reports whether an incident may change a file that nothing is started
// from. What init saved is no such file, whatever it is called.
func changing(path string, data bool) bool {
	name := filepath.Base(path)
	switch {
	case decides(name) && !editors(name):
		return false
	case lockInfo.MatchString(name), name == pauseMarker:
	case data:
		return false
	case states.MatchString(name), strings.HasSuffix(name, ".log"), editors(name):
	case isState(path), isPlan(path):
	default:
		return false
	}
	return !runs(path)
}

// runs reports whether a file could be started as it is.
func runs(path string) bool {
	info, err := os.Stat(path)
	if err != nil || info.Mode()&0o111 != 0 {
		return true
	}
	head := beginning(path, 4)
	return bytes.HasPrefix(head, []byte("#!")) || bytes.HasPrefix(head, []byte("\x7fELF"))
}

func beginning(path string, n int64) []byte {
	f, err := openPlain(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	b, _ := io.ReadAll(io.LimitReader(f, n))
	return b
}

// stateHead is how each state begins that tofu or terraform has written.
var stateHead = regexp.MustCompile(`^\s*\{\s*"version":\s*[34],\s*"terraform_version":\s*"[^"]*",\s*"serial":\s*\d+,\s*"lineage":`)

func isState(path string) bool { return stateHead.Match(beginning(path, 512)) }

// isPlan reports whether a file is a saved plan: an archive that begins with one,
// and that no Python and no Java takes for a program.
func isPlan(path string) bool {
	const local = 30 // bytes before the name of the first part
	head := beginning(path, local+6)
	if len(head) < local+6 || !bytes.HasPrefix(head, []byte("PK\x03\x04")) || string(head[local:]) != "tfplan" || head[26] != 6 || head[27] != 0 {
		return false
	}
	f, err := openPlain(path)
	if err != nil {
		return false
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return false
	}
	names := make([]byte, min(info.Size(), 1<<20)) // they stand at the end
	if _, err := f.ReadAt(names, info.Size()-int64(len(names))); err != nil {
		return false
	}
	return !bytes.Contains(names, []byte("__main__")) && !bytes.Contains(names, []byte("META-INF/"))
}
