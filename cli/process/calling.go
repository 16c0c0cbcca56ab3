package process

import (
	"bytes"
	"io"
	"path/filepath"
	"strings"
)

// usualName is what handrail calls itself in every text.
const usualName = "handrail"

// Called is the name that a person types to get this program: kubectl runs a program named
// kubectl-handrail as `kubectl handrail`.
func Called(argv0 string) string {
	name := strings.TrimSuffix(strings.ToLower(filepath.Base(argv0)), ".exe")
	if plugin, ok := strings.CutPrefix(name, "kubectl-"); ok && plugin == usualName {
		return "kubectl " + usualName
	}
	return usualName
}

// Calling gives commands in a text the name by which the program is called. Texts quote the
// commands that they name.
func Calling(w io.Writer, name string) io.Writer {
	if name == usualName {
		return w
	}
	return calling{w, name}
}

type calling struct {
	w    io.Writer
	name string
}

// Write implements io.Writer.
func (c calling) Write(b []byte) (int, error) {
	out := bytes.ReplaceAll(b, []byte("`"+usualName+" "), []byte("`"+c.name+" "))
	if bytes.HasPrefix(out, []byte(usualName+": ")) {
		out = append([]byte(c.name), out[len(usualName):]...)
	}
	if _, err := c.w.Write(out); err != nil {
		return 0, err
	}
	return len(b), nil
}
