package report

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"time"

	"handrail/evidence/visible"
)

// WriteCSV writes the timeline as comma-separated values, also while the incident is open. Every cell is quoted, and
// no cell can become a formula in a spreadsheet: see cell.
func WriteCSV(w io.Writer, d Document) error {
	b := bufio.NewWriter(w)
	fmt.Fprintln(b, `"entry","at","actor","type","step","level","text"`)
	for _, m := range d.Timeline {
		cells := []string{
			cell(strconv.FormatInt(m.Entry, 10)), cell(instant(m.At)), cell(string(m.Actor)), cell(string(m.Type)),
			cell(string(m.Step)), cell(string(m.Level)), cell(string(m.Text)),
		}
		fmt.Fprintln(b, strings.Join(cells, ","))
	}
	return b.Flush()
}

func instant(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.Format(time.RFC3339Nano)
}

// formula is a place where a spreadsheet could begin to calculate: the start of a line of a cell, behind blanks and
// quotes, and behind a semicolon, which is what separates cells where commas separate decimals. Full-width signs count.
var formula = regexp.MustCompile(`(?m)(^|;)([\s\x{a0}"']*)([=+\-@＝＋－＠])`)

// cell quotes a cell and defuses formulas with an apostrophe, which a spreadsheet takes for "this is text".
func cell(s string) string {
	s = formula.ReplaceAllString(string(visible.String(s)), "$1'$2$3")
	return `"` + strings.ReplaceAll(s, `"`, `""`) + `"`
}

// WriteJSONLines writes the timeline as one JSON object a line.
func WriteJSONLines(w io.Writer, d Document) error {
	b := bufio.NewWriter(w)
	enc := json.NewEncoder(b)
	for _, m := range d.Timeline {
		if err := enc.Encode(m); err != nil {
			return err
		}
	}
	return b.Flush()
}

// WriteJSON writes the whole document.
func WriteJSON(w io.Writer, d Document) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(d)
}
