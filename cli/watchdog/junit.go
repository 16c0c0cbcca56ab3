package watchdog

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"
	"time"

	"handrail/evidence/visible"
)

type (
	suites struct {
		XMLName  xml.Name `xml:"testsuites"`
		Name     string   `xml:"name,attr"`
		Tests    int      `xml:"tests,attr"`
		Failures int      `xml:"failures,attr"`
		Errors   int      `xml:"errors,attr"`
		Suites   []suite  `xml:"testsuite"`
	}
	suite struct {
		Name      string     `xml:"name,attr"`
		Tests     int        `xml:"tests,attr"`
		Failures  int        `xml:"failures,attr"`
		Errors    int        `xml:"errors,attr"`
		Time      string     `xml:"time,attr"`
		Timestamp string     `xml:"timestamp,attr"`
		Cases     []testCase `xml:"testcase"`
		Out       string     `xml:"system-out,omitempty"`
	}
	testCase struct {
		Name    string  `xml:"name,attr"`
		Class   string  `xml:"classname,attr"`
		Time    string  `xml:"time,attr"`
		Failure *reason `xml:"failure"`
		Error   *reason `xml:"error"`
		Out     string  `xml:"system-out,omitempty"`
	}
	reason struct {
		Message string `xml:"message,attr"`
		Type    string `xml:"type,attr"`
		Text    string `xml:",chardata"`
	}
)

// JUnit writes the report as JUnit XML: a watch that is red is a failure, one that is unknown an error. The form is the one that
// CI systems read, which has no standard; it is that of the Jenkins xUnit plugin (junit-10.xsd).
func (r Report) JUnit(w io.Writer) error {
	s := suite{Name: r.Runbook, Tests: len(r.Checks), Failures: r.count(Red), Errors: r.count(Unknown), Timestamp: r.At.UTC().Format("2006-01-02T15:04:05")}
	var all time.Duration
	var reads []string
	for _, read := range r.Reads {
		all += read.Took
		reads = append(reads, strings.TrimSpace(read.ID+": "+read.Why+"\n"+read.details()))
	}
	s.Out = clean(strings.Join(reads, "\n"))
	for _, c := range r.Checks {
		all += c.Took
		k := testCase{Name: clean(c.ID + ": " + c.Title), Class: r.Runbook, Time: seconds(c.Took), Out: clean(c.details())}
		why := &reason{Message: clean(c.Why), Type: string(c.State)}
		switch c.State {
		case Red:
			k.Failure = why
		case Unknown:
			k.Error = why
		}
		s.Cases = append(s.Cases, k)
	}
	s.Time = seconds(all)
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	e := xml.NewEncoder(w)
	e.Indent("", "  ")
	if err := e.Encode(suites{Name: "handrail", Tests: s.Tests, Failures: s.Failures, Errors: s.Errors, Suites: []suite{s}}); err != nil {
		return fmt.Errorf("writing JUnit XML: %w", err)
	}
	_, err := io.WriteString(w, "\n")
	return err
}

// details are what a probe found, and what it did not see.
func (c Reading) details() string {
	var out []string
	for _, f := range c.Findings {
		out = append(out, string(f.Level)+": "+f.Say)
	}
	for _, g := range c.Gaps {
		out = append(out, "not seen: "+g)
	}
	return strings.Join(out, "\n")
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.3f", d.Seconds()) }

// clean takes out what steers a terminal: a report of a build is often printed.
func clean(s string) string { return string(visible.String(s)) }
