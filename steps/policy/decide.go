package policy

import (
	"bytes"
	"context"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
)

var (
	colours   = regexp.MustCompile("\x1b\\[[0-9;]*m")
	isFailure = regexp.MustCompile(`^(?:Error|error|ERROR|FATA\[\d+\]|FATAL|fatal|panic): ?\S|(?i:(?:opa|policy|policies|conftest|kyverno|checkov|sentinel|webhook|rego)\b.*(?:connection refused|timed? ?out\b|no such host|deadline exceeded)|(?:connection refused|timed? ?out\b|no such host|deadline exceeded).*\b(?:opa|policy|policies|rego))`)
)

// decide reads an output into a decision, whatever its format; as and means are what the caller knows of it.
func decide(ctx context.Context, text []byte, as, means string) *decision {
	d := &decision{format: as}
	body := bytes.TrimSpace(text)
	if len(body) == 0 {
		d.breaks("it is empty")
		return d
	}
	switch as {
	case "":
		if body[0] == '{' || body[0] == '[' {
			d.json(ctx, body, means)
			return d
		}
		if body[0] == '<' {
			d.format = junitXML
			readJUnit(ctx, body, d)
			return d
		}
		d.lines(ctx, linesOf(text))
	case conftestText:
		readConftestText(linesOf(text), d)
	case sentinelText:
		readSentinelText(linesOf(text), d)
	case junitXML:
		readJUnit(ctx, body, d)
	default:
		if body[0] == '{' || body[0] == '[' {
			d.json(ctx, body, means)
			return d
		}
		if as != policyReport {
			d.breaks("it is no JSON")
			return d
		}
		readReportYAML(ctx, linesOf(text), d)
	}
	return d
}

func linesOf(text []byte) []string {
	lines := strings.Split(colours.ReplaceAllString(string(text), ""), "\n")
	for i, line := range lines {
		lines[i] = strings.TrimRight(line, "\r\t ")
	}
	return lines
}

// json reads a document in JSON.
func (d *decision) json(ctx context.Context, body []byte, means string) {
	s, err := outline(ctx, body)
	if d.format == "" && err == nil {
		d.format = jsonFormat(s, body)
	}
	switch {
	case err != nil:
		d.breaks(err.Error())
	case s.list != (d.format == conftestJSON) && d.format != checkovJSON && d.format != "":
		d.breaks("it is no document of that format")
	case d.format == opaEval:
		readOPA(body, means, d)
	case d.format == conftestJSON:
		readConftest(body, d)
	case d.format == checkovJSON:
		readCheckov(body, s.list, d)
	case d.format == policyReport:
		readReport(body, d)
	case d.format == sentinelJSON:
		readSentinel(body, d)
	case d.format == sarifLog:
		readSARIF(body, d)
	default:
		d.breaks("its format is not known")
	}
}

// jsonFormat tells a format by the keys of its outside. The keys of two formats are none.
func jsonFormat(s shape, body []byte) string {
	has := func(names ...string) bool {
		return !slices.ContainsFunc(names, func(n string) bool { return !s.keys[n] })
	}
	if s.list {
		switch {
		case has("check_type") || has("checkov_version"):
			return checkovJSON
		case len(s.keys) == 0 || has("filename") || has("namespace", "successes"):
			return conftestJSON
		}
		return ""
	}
	var found []string
	for _, of := range []struct {
		format string
		is     bool
	}{
		{sarifLog, has("runs")},
		{checkovJSON, has("check_type") || has("checkov_version")},
		{policyReport, has("apiVersion", "kind") && isReport(body)},
		{sentinelJSON, has("result", "policies") || has("result", "sentinel")},
		{opaEval, !has("policies") && !has("sentinel") && (len(s.keys) == 0 || has("errors") || has("result") && isList(body))},
	} {
		if of.is {
			found = append(found, of.format)
		}
	}
	if len(found) != 1 {
		return ""
	}
	return found[0]
}

// isList says whether `result` is a list, as that of opa eval is.
func isList(body []byte) bool {
	var o struct {
		Result json.RawMessage `json:"result"`
	}
	return json.Unmarshal(body, &o) == nil && bytes.HasPrefix(bytes.TrimSpace(o.Result), []byte{'['})
}

// lines reads what a program wrote to a person.
func (d *decision) lines(ctx context.Context, lines []string) {
	marks := map[string]bool{}
	failure := ""
	for _, line := range lines {
		switch {
		case sentinelWhole.MatchString(line):
			marks[sentinelText] = true
		case reportBegin.MatchString(line):
			marks[policyReport] = true
		case conftestSum.MatchString(line) || conftestLine.MatchString(line):
			marks[conftestText] = true
		case failure == "" && isFailure.MatchString(line):
			failure = line
		}
	}
	switch {
	case len(marks) > 1:
		d.breaks("it holds outputs of more than one format: name a file for each")
	case marks[sentinelText]:
		d.format = sentinelText
		readSentinelText(lines, d)
	case marks[policyReport]:
		d.format = policyReport
		readReportYAML(ctx, lines, d)
	case marks[conftestText]:
		d.format = conftestText
		readConftestText(lines, d)
	case failure != "":
		d.format = failureText
		d.fail(failure)
	default:
		d.breaks("its format is not known")
	}
}
