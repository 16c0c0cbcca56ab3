package policy

import "fmt"

type checkovCheck struct {
	ID          word `json:"check_id"`
	Name        word `json:"check_name"`
	Resource    word `json:"resource"`
	File        word `json:"file_path"`
	Severity    word `json:"severity"`
	CheckResult struct {
		Suppress word `json:"suppress_comment"`
	} `json:"check_result"`
}

type checkovRun struct {
	CheckType word `json:"check_type"`
	Results   *struct {
		Passed  []checkovCheck `json:"passed_checks"`
		Failed  []checkovCheck `json:"failed_checks"`
		Skipped []checkovCheck `json:"skipped_checks"`
		Parsing []word         `json:"parsing_errors"`
	} `json:"results"`
	Summary *checkovSum `json:"summary"`
	checkovSum
}

type checkovSum struct {
	Passed  *int64 `json:"passed"`
	Failed  *int64 `json:"failed"`
	Skipped *int64 `json:"skipped"`
	Parsing *int64 `json:"parsing_errors"`
	Version word   `json:"checkov_version"`
}

// readCheckov reads what `checkov --output json` prints: an object for one framework, a list for several, and a bare sum where no
// file of a framework was found.
func readCheckov(raw []byte, list bool, d *decision) {
	d.engine = "checkov"
	var runs []checkovRun
	if !list {
		raw = append(append([]byte{'['}, raw...), ']')
	}
	if err := into(raw, &runs); err != nil {
		d.breaks(err.Error())
		return
	}
	for _, run := range runs {
		if run.Results == nil {
			if run.CheckType != "" || run.checkovSum.Failed == nil || run.checkovSum.Passed == nil || *run.checkovSum.Failed != 0 || *run.checkovSum.Passed != 0 {
				d.breaks("a framework has no results")
				return
			}
			d.version = string(run.Version)
			continue
		}
		run.read(d)
	}
}

func (run checkovRun) read(d *decision) {
	sum, got := run.Summary, run.Results
	if sum == nil || sum.Failed == nil || sum.Passed == nil {
		d.breaks("a framework has no summary")
		return
	}
	d.version = string(sum.Version)
	for _, part := range []struct {
		list []checkovCheck
		is   outcome
	}{{got.Failed, failed}, {got.Passed, passed}, {got.Skipped, skipped}} {
		for _, c := range part.list {
			r := result{rule: string(c.ID), resource: present(c.Resource, c.File), level: string(c.Severity), message: string(c.Name), outcome: part.is}
			if part.is == skipped {
				r.excused, r.message = true, present(c.CheckResult.Suppress, c.Name)
			}
			d.add(r)
		}
	}
	for _, file := range got.Parsing {
		d.fail("not parsed, so not checked: " + string(file))
	}
	if n := sum.Parsing; n != nil && *n > 0 && len(got.Parsing) == 0 {
		d.fail(fmt.Sprintf("%d files were not parsed, so not checked", *n))
	}
	if *sum.Failed != int64(len(got.Failed)) || sum.Skipped != nil && *sum.Skipped != int64(len(got.Skipped)) && got.Skipped != nil {
		d.breaks("the summary of " + string(run.CheckType) + " and its results do not agree")
		return
	}
	switch {
	case len(got.Passed) > 0 && *sum.Passed != int64(len(got.Passed)) || *sum.Passed < 0:
		d.breaks("the summary of " + string(run.CheckType) + " and its results do not agree")
	case len(got.Passed) == 0: // --quiet prints those that fail alone
		d.more += *sum.Passed
	}
}
