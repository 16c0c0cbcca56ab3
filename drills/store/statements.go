package store

import (
	"bufio"
	"os"
	"regexp"
	"strings"
	"time"
)

// statement is a line of the log of the database: when, by whom, and what was run. What a
// statement with arguments does stands in its execution.
var statement = regexp.MustCompile(`^(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d+ \S+) \[([^\]]*)\] LOG:  (?:statement|execute [^:]*): (.*)$`)

// asHandrail is the name under which handrail itself speaks to the database.
const asHandrail = "handrail"

// statements are those that changed a row.
func (p *Place) statements() ([]Write, error) {
	f, err := os.Open(p.Server["log"])
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var out []Write
	in := bufio.NewScanner(f)
	in.Buffer(nil, maxState) // a statement holds a whole state
	for in.Scan() {
		m := statement.FindStringSubmatch(in.Text())
		if m == nil {
			continue
		}
		verb, _, _ := strings.Cut(strings.ToUpper(strings.TrimSpace(m[3])), " ")
		if verb != "INSERT" && verb != "UPDATE" && verb != "DELETE" {
			continue
		}
		at, err := time.Parse("2006-01-02 15:04:05.999 MST", m[1])
		if err != nil {
			return nil, err
		}
		who := m[2]
		if who == asHandrail {
			who = p.Plan.Trainee
		}
		out = append(out, Write{At: at.UTC(), Who: who, What: verb, Agent: m[2], Status: 200})
	}
	return out, in.Err()
}
