package policy

import (
	"cmp"
	"fmt"
	"strings"
)

type sarifText struct {
	Text word `json:"text"`
	ID   word `json:"id"`
}

type sarifRule struct {
	ID      word `json:"id"`
	Default struct {
		Level word `json:"level"`
	} `json:"defaultConfiguration"`
}

type sarifNote struct {
	Level   word      `json:"level"`
	Message sarifText `json:"message"`
}

type sarifResult struct {
	RuleID    word `json:"ruleId"`
	RuleIndex *int `json:"ruleIndex"`
	Rule      *struct {
		ID    word `json:"id"`
		Index *int `json:"index"`
	} `json:"rule"`
	Kind      word      `json:"kind"`
	Level     word      `json:"level"`
	Message   sarifText `json:"message"`
	Baseline  word      `json:"baselineState"`
	Locations []struct {
		Physical struct {
			Artifact struct {
				URI word `json:"uri"`
			} `json:"artifactLocation"`
		} `json:"physicalLocation"`
		Logical []struct {
			Full word `json:"fullyQualifiedName"`
			Name word `json:"name"`
		} `json:"logicalLocations"`
	} `json:"locations"`
	Suppressions []struct {
		GUID          word `json:"guid"`
		Status        word `json:"status"`
		Justification word `json:"justification"`
	} `json:"suppressions"`
}

type sarifRun struct {
	Tool struct {
		Driver struct {
			Name     word        `json:"name"`
			Semantic word        `json:"semanticVersion"`
			Version  word        `json:"version"`
			Rules    []sarifRule `json:"rules"`
		} `json:"driver"`
	} `json:"tool"`
	Invocations []struct {
		Successful *bool       `json:"executionSuccessful"`
		ExitCode   *int        `json:"exitCode"`
		ExitWhy    word        `json:"exitCodeDescription"`
		Signal     word        `json:"exitSignalName"`
		NotStarted word        `json:"processStartFailureMessage"`
		Execution  []sarifNote `json:"toolExecutionNotifications"`
		Config     []sarifNote `json:"toolConfigurationNotifications"`
	} `json:"invocations"`
	Results   *[]sarifResult `json:"results"`
	Elsewhere any            `json:"externalPropertyFileReferences"`
}

// readSARIF reads SARIF 2.1.0. It holds what was found; what passed is told by some tools alone. So what denies nothing allows only
// where the run says that it was carried out, and ended well.
func readSARIF(raw []byte, d *decision) {
	var log struct {
		Version word       `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	d.engine = "sarif"
	if err := into(raw, &log); err != nil {
		d.breaks(err.Error())
		return
	}
	if log.Version != "2.1.0" {
		d.breaks(fmt.Sprintf("SARIF %.20q is not read, 2.1.0 is", string(log.Version)))
		return
	}
	for i, run := range log.Runs {
		driver := run.Tool.Driver
		if i == 0 {
			d.engine, d.version = cmp.Or(strings.ToLower(string(driver.Name)), d.engine), present(driver.Semantic, driver.Version)
		}
		run.read(d)
	}
}

func (run sarifRun) read(d *decision) {
	if run.Elsewhere != nil {
		d.breaks("its results stand in other files")
		return
	}
	before := d.count(erred)
	well, code := run.ended(d)
	if run.Results == nil {
		if d.count(erred) == before {
			d.fail("the run has no results: the tool did not get to look for any")
		}
		return
	}
	n := len(d.results)
	for _, r := range *run.Results {
		run.result(r, d)
	}
	denies, warns := false, false
	for _, r := range d.results[min(n, len(d.results)):] {
		denies, warns = denies || r.outcome == failed, warns || r.outcome == warned
	}
	switch {
	case denies:
	case !well:
		d.opens("it does not say that the run was carried out to its end (invocations, executionSuccessful)")
	case code != nil && *code != 0:
		d.opens(fmt.Sprintf("the run ended with exit code %d, and nothing in it is an error", *code))
	case warns && code == nil:
		d.opens("it has warnings, and does not say whether the gate let them through (exitCode)")
	case len(*run.Results) == 0 && len(run.Tool.Driver.Rules) > 0:
		d.more += int64(len(run.Tool.Driver.Rules)) // it looked by these rules, and found nothing
	}
}

// ended reads how the run ended: well only where each invocation says so.
func (run sarifRun) ended(d *decision) (well bool, code *int) {
	well = len(run.Invocations) > 0
	for _, inv := range run.Invocations {
		told := d.count(erred)
		for _, list := range [][]sarifNote{inv.Execution, inv.Config} {
			for _, note := range list {
				if note.Level == "error" {
					d.fail(present(note.Message.Text, note.Message.ID, "an error that is not told"))
				}
			}
		}
		if inv.Successful != nil && !*inv.Successful && d.count(erred) == told {
			d.fail(present(inv.NotStarted, inv.ExitWhy, inv.Signal, "the run was not carried out: executionSuccessful is false"))
		}
		well = well && inv.Successful != nil && *inv.Successful
		if inv.ExitCode != nil && (code == nil || *code == 0) {
			code = inv.ExitCode
		}
	}
	return well, code
}

func (run sarifRun) result(r sarifResult, d *decision) {
	if r.Baseline == "absent" {
		return // found by an earlier run, and no more
	}
	out := result{rule: string(r.RuleID), level: string(r.Level), message: present(r.Message.Text, r.Message.ID)}
	index := r.RuleIndex
	if r.Rule != nil {
		out.rule = present(word(out.rule), r.Rule.ID)
		if index == nil {
			index = r.Rule.Index
		}
	}
	if rules := run.Tool.Driver.Rules; index != nil && *index >= 0 && *index < len(rules) {
		out.rule, out.level = present(word(out.rule), rules[*index].ID), present(word(out.level), rules[*index].Default.Level)
	}
	for _, l := range r.Locations[:min(1, len(r.Locations))] {
		for _, logical := range l.Logical[:min(1, len(l.Logical))] {
			out.resource = present(logical.Full, logical.Name)
		}
		out.resource = present(word(out.resource), l.Physical.Artifact.URI)
	}
	out.outcome = sarifOutcome(string(r.Kind), &out.level, d)
	accepted := len(r.Suppressions) > 0
	for _, s := range r.Suppressions {
		// SARIF 3.27.23: a result is suppressed where none is under review or rejected.
		accepted = accepted && (s.Status == "" || s.Status == "accepted")
		out.exception = present(word(out.exception), s.GUID, s.Justification)
	}
	if accepted && (out.outcome == failed || out.outcome == warned) {
		out.outcome, out.excused, out.evaluated = skipped, true, true
	}
	d.add(out)
}

// sarifOutcome takes kind and level together (3.27.9, 3.27.10).
func sarifOutcome(kind string, level *string, d *decision) outcome {
	switch kind {
	case "", "fail":
		*level = cmp.Or(*level, "warning")
		if *level == "error" {
			return failed
		}
		return warned
	case "pass":
		return passed
	case "notApplicable", "informational":
		return skipped
	}
	d.opens("a result is " + kind + ": it was not decided") // open, review
	return warned
}
