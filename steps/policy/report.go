package policy

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
)

type reportObject struct {
	APIVersion word `json:"apiVersion"`
	Kind       word `json:"kind"`
	Namespace  word `json:"namespace"`
	Name       word `json:"name"`
}

func (o reportObject) String() string {
	if o.Kind == "" && o.Name == "" {
		return ""
	}
	if o.Namespace == "" {
		return fmt.Sprintf("%s/%s", o.Kind, o.Name)
	}
	return fmt.Sprintf("%s/%s/%s", o.Kind, o.Namespace, o.Name)
}

type reportResult struct {
	Policy     word            `json:"policy"`
	Rule       word            `json:"rule"`
	Result     word            `json:"result"`
	Status     word            `json:"status"` // v1alpha1
	Message    word            `json:"message"`
	Severity   word            `json:"severity"`
	Source     word            `json:"source"`
	Resources  []reportObject  `json:"resources"`
	Properties map[string]word `json:"properties"`
}

type report struct {
	APIVersion word            `json:"apiVersion"`
	Kind       word            `json:"kind"`
	Scope      *reportObject   `json:"scope"`
	Results    []reportResult  `json:"results"`
	Summary    map[string]word `json:"summary"`
	Items      []report        `json:"items"` // of a List
}

var (
	reportGroup = regexp.MustCompile(`^(?:wgpolicyk8s\.io|openreports\.io)/`)
	reportKind  = regexp.MustCompile(`^(?:Cluster)?(?:Policy)?Report$`)
	reportPart  = regexp.MustCompile(`^(?:kind|metadata|scope|results|summary|items):`)
	reportBegin = regexp.MustCompile(`^apiVersion:\s*["']?(?:wgpolicyk8s\.io|openreports\.io)/`)
)

// readReport reads one PolicyReport, or a List of them.
func readReport(raw []byte, d *decision) {
	d.engine = "kyverno"
	var r report
	if err := into(raw, &r); err != nil {
		d.breaks(err.Error())
		return
	}
	if strings.HasSuffix(string(r.Kind), "List") {
		d.source(r.Items)
		for _, item := range r.Items {
			if item.APIVersion == "" && item.Kind == "" {
				item.APIVersion, item.Kind = r.APIVersion, word(strings.TrimSuffix(string(r.Kind), "List"))
			}
			item.read(d)
		}
		return
	}
	d.source([]report{r})
	r.read(d)
}

// source names the engine by its first result; Trivy, Falco and others write the same reports.
func (d *decision) source(list []report) {
	for _, r := range list {
		for _, one := range r.Results {
			if one.Source != "" {
				d.engine = strings.ToLower(string(one.Source))
				return
			}
		}
	}
}

func (r report) read(d *decision) {
	if !reportGroup.MatchString(string(r.APIVersion)) || !reportKind.MatchString(string(r.Kind)) {
		d.breaks("an object is no report of policies")
		return
	}
	found := map[string]int{}
	for _, one := range r.Results {
		is := string(one.Result)
		if is == "" {
			is = string(one.Status)
		}
		out := result{rule: string(one.Policy), level: string(one.Severity), message: string(one.Message), outcome: outcome(is)}
		if one.Rule != "" && one.Rule != one.Policy {
			out.rule += "/" + string(one.Rule)
		}
		if names := one.Properties["exceptions"]; names != "" || one.Properties["exception"] != "" {
			out.exception = present(names, one.Properties["exception"])
			out.excused = out.outcome == skipped
		}
		switch out.outcome {
		case passed, failed, warned, skipped:
		case erred:
			d.down = d.down || unreached.MatchString(out.message)
		default:
			d.breaks(fmt.Sprintf("a result is %.40q, which the format does not know", is))
			return
		}
		found[is]++
		if len(one.Resources) == 0 && r.Scope != nil {
			one.Resources = []reportObject{*r.Scope}
		}
		if len(one.Resources) == 0 {
			d.add(out)
		}
		for _, o := range one.Resources {
			out.resource = o.String()
			d.add(out)
		}
	}
	// The summary stands last. Where it lacks or differs, results were cut off, or left out.
	for _, name := range []outcome{passed, failed, warned, erred, skipped} {
		told, ok := r.Summary[string(name)]
		if !ok && name != warned && name != skipped {
			d.breaks("a report has no whole summary")
			return
		}
		if ok && string(told) != fmt.Sprint(found[string(name)]) {
			d.breaks(fmt.Sprintf("the summary of a report and its results do not agree: %s is %.20s, and %d are there", name, told, found[string(name)]))
			return
		}
	}
}

// readReportYAML reads a stream of reports, after what the program says to a person. YAML does not say where it ends, and a report that
// is missing may be the one that denies: nothing is allowed without the mark of its end.
func readReportYAML(ctx context.Context, lines []string, d *decision) {
	d.engine = "kyverno"
	for len(lines) > 0 && !reportBegin.MatchString(lines[0]) {
		if reportPart.MatchString(lines[0]) {
			d.breaks("a report does not begin with its apiVersion")
			return
		}
		lines = lines[1:]
	}
	for len(lines) > 0 && strings.TrimSpace(lines[len(lines)-1]) == "" {
		lines = lines[:len(lines)-1]
	}
	ended := len(lines) > 0 && lines[len(lines)-1] == "..."
	if ended {
		lines = lines[:len(lines)-1]
	} else {
		d.opens("YAML does not say where it ends: append a line of three dots once the program is over, or save JSON")
	}
	read, engine := 0, ""
	var doc []string
	flush := func() {
		text := strings.Join(doc, "\n")
		doc = nil
		if strings.Trim(text, "- \n") == "" || d.broken != "" { // a rule of dashes is no document
			return
		}
		raw, err := asJSON([]byte(text + "\n"))
		if err == nil {
			_, err = outline(ctx, raw)
		}
		if err != nil {
			d.breaks(err.Error())
			return
		}
		readReport(raw, d)
		if read++; read == 1 || engine == "" {
			engine = d.engine
		}
	}
	for _, line := range lines {
		switch {
		case line == "...":
			d.breaks("something follows the mark of its end")
		case strings.HasPrefix(line, "---") && strings.Trim(line, "-") == "":
			flush()
		default:
			doc = append(doc, line)
		}
	}
	flush()
	d.engine = engine
	if read == 0 {
		d.breaks("it has no report")
	}
}

// isReport says whether a JSON object looks like a report.
func isReport(raw []byte) bool {
	var o struct {
		APIVersion word            `json:"apiVersion"`
		Items      json.RawMessage `json:"items"`
	}
	return json.Unmarshal(raw, &o) == nil && (reportGroup.MatchString(string(o.APIVersion)) || o.APIVersion == "v1" && o.Items != nil)
}
