package closure

import (
	"regexp"
	"strings"
)

// startLine is a line of a configuration that names a program: an external data
// source, a provisioner, a plugin for credentials.
var startLine = regexp.MustCompile(`(?m)(?:^|\{)\s*"?(program|command|interpreter|credentials_helper|dev_overrides)"?\s*[=:{]?\s*(\S.*?)[\s,]*$`)

// mostProgram bounds what is said of one.
const mostProgram = 160

// programs are what a file of a configuration says that it starts, as it writes it.
func programs(path string, text []byte) []string {
	if !decides(path) {
		return nil
	}
	var out []string
	for _, m := range startLine.FindAllSubmatch(text, -1) {
		line := strings.Join(strings.Fields(string(m[1])+" "+string(m[2])), " ")
		if len(line) > mostProgram {
			line = strings.ToValidUTF8(line[:mostProgram], "") + "…"
		}
		out = append(out, line)
	}
	return out
}

// address is what a configuration may have spoken to.
var address = regexp.MustCompile(`\bhttps?://[A-Za-z0-9.\-_\[\]:]+`)

// addresses are the servers that a file of a configuration writes out.
func addresses(path string, text []byte) []string {
	if !decides(path) {
		return nil
	}
	var out []string
	for _, a := range address.FindAll(text, -1) {
		out = append(out, string(a))
	}
	return out
}
