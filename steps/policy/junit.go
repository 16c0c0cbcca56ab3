package policy

import (
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"io"
	"regexp"
	"strconv"
	"strings"
)

// suite is a testsuite that is open, and what its attributes promise.
type suite struct {
	told  map[string]int64
	found map[string]int64
}

// junit walks a report.
type junit struct {
	d      *decision
	suites []suite
	test   *result // the testcase that is open
	into   bool    // its text belongs to a failure, an error or a skip
	text   strings.Builder
}

var (
	junitRule    = regexp.MustCompile(`\b(?:CKV2?|BC|CUSTOM)_[A-Z0-9_]+\b`)
	junitEngines = regexp.MustCompile(`(?i)conftest|checkov|kyverno|trivy|terrascan|sentinel|opa\b`)
)

// readJUnit reads JUnit XML. No entity is expanded but the five of XML, and a document type is refused.
func readJUnit(ctx context.Context, raw []byte, d *decision) {
	d.engine = "junit"
	j := &junit{d: d}
	dec := xml.NewDecoder(until{ctx, bytes.NewReader(raw)})
	depth, roots := 0, 0
	for {
		tok, err := dec.Token()
		if errors.Is(err, io.EOF) && depth == 0 && roots == 1 {
			return
		}
		if err != nil {
			d.breaks("it is no XML, or breaks off before its end")
			return
		}
		switch tok := tok.(type) {
		case xml.Directive:
			d.breaks("it has a document type, which is not followed")
		case xml.StartElement:
			if depth++; depth > mostDeep {
				d.breaks("it is nested too deep")
			}
			if depth == 1 {
				roots++
				if name := tok.Name.Local; roots > 1 || name != "testsuites" && name != "testsuite" {
					d.breaks("it is no report of JUnit")
				}
			}
			j.begin(tok)
		case xml.EndElement:
			if depth--; depth < 0 {
				d.breaks("it is no XML")
			}
			j.end(tok.Name.Local)
		case xml.CharData:
			if depth == 0 && len(bytes.TrimSpace(tok)) > 0 {
				d.breaks("something stands outside of the XML")
			}
			if j.into && j.text.Len() < mostMessage {
				j.text.Write(tok[:min(len(tok), mostMessage)])
			}
		}
		if d.broken != "" {
			return
		}
	}
}

func attr(e xml.StartElement, name string) string {
	for _, a := range e.Attr {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

func (j *junit) begin(e xml.StartElement) {
	switch name := e.Name.Local; name {
	case "testsuites", "testsuite":
		s := suite{told: map[string]int64{}, found: map[string]int64{}}
		for _, what := range []string{"tests", "failures", "errors"} {
			if n, err := strconv.ParseInt(attr(e, what), 10, 64); err == nil {
				s.told[what] = n
			}
		}
		j.suites = append(j.suites, s)
		if m := junitEngines.FindString(attr(e, "name")); m != "" {
			j.d.engine = strings.ToLower(m)
		}
	case "testcase":
		if j.test != nil {
			j.d.breaks("a test stands in another one")
			return
		}
		title := attr(e, "name")
		j.test = &result{rule: junitRule.FindString(title), resource: attr(e, "classname"), message: title, outcome: passed}
		if file := attr(e, "file"); file != "" && (j.test.resource == "" || junitEngines.MatchString(j.test.resource)) {
			j.test.resource = file
		}
		if j.test.rule == "" {
			j.test.rule = title
		}
	case "failure", "error", "skipped":
		is := map[string]outcome{"failure": failed, "error": erred, "skipped": skipped}[name]
		if j.test == nil {
			if is == skipped {
				return
			}
			j.test = &result{rule: "suite", outcome: passed} // an error of the suite itself, closed with it
			defer func() { j.close() }()
		}
		if j.test.outcome == passed || is == erred || is == failed && j.test.outcome == skipped {
			j.test.outcome = is
		}
		if text := attr(e, "message"); text != "" {
			j.test.message = text
		}
		j.test.level = attr(e, "type")
		j.into = is == erred && attr(e, "message") == ""
		j.text.Reset()
	}
}

func (j *junit) end(name string) {
	switch name {
	case "failure", "error", "skipped":
		if text := strings.TrimSpace(j.text.String()); j.into && j.test != nil && text != "" {
			j.test.message = text
		}
		j.into = false
	case "testcase":
		j.close()
	case "testsuite", "testsuites":
		if len(j.suites) == 0 {
			return
		}
		s := j.suites[len(j.suites)-1]
		j.suites = j.suites[:len(j.suites)-1]
		for what, n := range s.told {
			if n > s.found[what] {
				j.d.breaks("a suite says that it has more " + what + " than stand in it")
			}
		}
	}
}

// close adds the test that is open, to each suite that it stands in.
func (j *junit) close() {
	if j.test == nil {
		return
	}
	for _, s := range j.suites {
		s.found["tests"]++
		switch j.test.outcome {
		case failed:
			s.found["failures"]++
		case erred:
			s.found["errors"]++
		}
	}
	j.d.down = j.d.down || j.test.outcome == erred && unreached.MatchString(j.test.message)
	j.d.add(*j.test)
	j.test = nil
}
