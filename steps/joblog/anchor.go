package joblog

import (
	"regexp"
	"strings"
)

// Address is the grammar of a resource instance as the tools write it: a key may
// hold anything but an unescaped quotation mark.
const Address = `(?:[A-Za-z_][\w-]*(?:\[(?:\d+|"(?:[^"\\]|\\.)*")\])?\.)+[A-Za-z_][\w-]*(?:\[(?:\d+|"(?:[^"\\]|\\.)*")\])?`

// before is what may stand in front of a line of the tools on the same line.
const before = `(?:^|[\s|\]>:="')])`

// anchors are the lines that tofu and terraform alone write; headlines are those
// that many programs might.
var (
	anchors = regexp.MustCompile(before + `(` +
		Address + `(?: \(deposed object [0-9a-f]+\))?(?:: (?:(?:Creating|Modifying|Destroying|Importing|Refreshing state|Reading|Still [a-z]+)\.\.\.|(?:Creation|Modifications|Destruction|Import|Read) complete|Provisioning with ')| \([\w-]+\): )` +
		`|╷\s*$|╵\s*$|│ (?:Error|Warning): ` +
		`|Plan: (?:\d+ to [a-z]+, )*\d+ to [a-z]+\.|(?:Apply|Destroy) complete! Resources: \d` +
		`|Initializing the backend\.\.\.|Acquiring state lock\. This may|(?:OpenTofu|Terraform) used the selected providers` +
		`|\{"(?:@level|@message|type)":")`)
	headlines = regexp.MustCompile(before + `((?:Error|Warning): \S|Lock Info:\s*$|Interrupt received\.)`)
	quoting   = regexp.MustCompile(`^` + Address + ` \([\w-]+\): ?`)
)

// hints let most lines pass by the expressions.
var hints = []string{"ing...", "ing state...", ": Still ", " complete", ": Provisioning with '", "Plan: ", "╷", "╵", "│ ", `{"@`, `{"type"`, "): ",
	"the backend...", "Acquiring state lock", "used the selected"}

// anchor returns where a line of the tools begins in line, -1 for nowhere.
func anchor(line string) int {
	for _, h := range hints {
		if strings.Contains(line, h) {
			return first(anchors, line)
		}
	}
	return -1
}

// headline is anchor for what other programs write too.
func headline(line string) int {
	if !strings.Contains(line, "Error: ") && !strings.Contains(line, "Warning: ") && !strings.Contains(line, "Lock Info:") && !strings.Contains(line, "Interrupt received.") {
		return -1
	}
	return first(headlines, line)
}

func first(re *regexp.Regexp, line string) int {
	if m := re.FindStringSubmatchIndex(line); m != nil {
		return m[2]
	}
	return -1
}

// Quoted reports whether a line without its frame is what a provisioner printed.
func Quoted(line string) bool {
	return strings.Contains(line, "): ") && quoting.MatchString(line) || strings.HasSuffix(line, "):") && quoting.MatchString(line)
}
