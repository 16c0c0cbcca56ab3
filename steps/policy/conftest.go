package policy

import (
	"encoding/json"
	"errors"
	"regexp"
	"strconv"
	"strings"
)

type conftestCheck struct {
	Msg      word           `json:"msg"`
	Metadata map[string]any `json:"metadata"`
}

type conftestFile struct {
	Filename   word            `json:"filename"`
	Namespace  word            `json:"namespace"`
	Successes  json.RawMessage `json:"successes"` // a number, before 0.19 a list
	Skipped    []conftestCheck `json:"skipped"`
	Warnings   []conftestCheck `json:"warnings"`
	Failures   []conftestCheck `json:"failures"`
	Exceptions []conftestCheck `json:"exceptions"`
}

// readConftest reads what `conftest test --output json` prints.
func readConftest(raw []byte, d *decision) {
	d.engine = "conftest"
	var files []conftestFile
	if err := into(raw, &files); err != nil {
		d.breaks(err.Error())
		return
	}
	for _, f := range files {
		if f.Filename == "" && f.Namespace == "" {
			d.breaks("an item has neither a file nor a namespace")
			return
		}
		for _, part := range []struct {
			list    []conftestCheck
			is      outcome
			excused bool
		}{{f.Failures, failed, false}, {f.Warnings, warned, false}, {f.Skipped, skipped, false}, {f.Exceptions, skipped, true}} {
			for _, c := range part.list {
				d.add(c.result(f, part.is, part.excused))
			}
		}
		n, err := successes(f.Successes)
		if err != nil {
			d.breaks(err.Error())
			return
		}
		d.more += n
	}
}

func successes(raw json.RawMessage) (int64, error) {
	if len(raw) == 0 || string(raw) == "null" {
		return 0, nil
	}
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) == nil {
		return int64(len(list)), nil
	}
	n, err := strconv.ParseInt(string(raw), 10, 32)
	if err != nil || n < 0 {
		return 0, errors.New("its successes are no number")
	}
	return n, nil
}

func (c conftestCheck) result(f conftestFile, is outcome, excused bool) result {
	r := result{rule: member(c.Metadata, "rule_id", "id", "code", "rule", "query"), message: string(c.Msg), outcome: is, excused: excused, evaluated: excused}
	if r.rule == "" {
		r.rule = string(f.Namespace)
	}
	r.resource = member(c.Metadata, "resource_address", "address", "resource")
	if details, ok := c.Metadata["details"].(map[string]any); ok && r.resource == "" {
		r.resource = member(details, "resource_address", "address", "resource")
	}
	if r.resource == "" {
		r.resource = string(f.Filename)
	}
	r.level = member(c.Metadata, "severity", "level")
	if excused {
		r.exception = member(c.Metadata, "exception", "exception_id")
	}
	return r
}

var (
	conftestLine = regexp.MustCompile(`^(FAIL|WARN|EXCP|SKIP|PASS) - (.*)$`)
	conftestSum  = regexp.MustCompile(`^(\d{1,9}) tests?, (\d{1,9}) passed, (\d{1,9}) warnings?, (\d{1,9}) failures?(?:, (\d{1,9}) exceptions?)?(?:, (\d{1,9}) skipped)?$`)
)

var conftestWords = map[string]outcome{"FAIL": failed, "WARN": warned, "EXCP": skipped, "SKIP": skipped, "PASS": passed}

// readConftestText reads what conftest prints to a person. It ends in its sum, with which the lines before must agree: without it
// there is no telling what was cut off.
func readConftestText(lines []string, d *decision) {
	d.engine = "conftest"
	var sum []string
	failure := "" // with which it ended instead of a sum; a message may have such a line too
	found := map[string]int64{}
	for _, line := range lines {
		if strings.TrimSpace(line) == "" {
			continue
		}
		if sum != nil {
			if conftestSum.MatchString(line) || conftestLine.MatchString(line) {
				d.breaks("a second output of conftest follows the first: name a file for each")
				return
			}
			// As the log of a job goes on. What denies is told by then; an allow may be of a part.
			d.opens("something follows the sum of conftest")
			continue
		}
		if sum = conftestSum.FindStringSubmatch(line); sum != nil {
			continue
		}
		if m := conftestLine.FindStringSubmatch(line); m != nil {
			found[m[1]]++
			if m[1] != "PASS" { // the sum counts them
				d.add(conftestResult(m[1], m[2]))
			}
			continue
		}
		if failure == "" && isFailure.MatchString(line) {
			failure = line
		}
	}
	if sum != nil && lines[len(lines)-1] != "" {
		d.breaks("its last line is not ended: it may have been cut")
		return
	}
	if sum == nil {
		if failure == "" {
			d.breaks("it breaks off before the sum of conftest")
			return
		}
		d.fail(failure)
		return
	}
	n := make([]int64, len(sum))
	for i := 1; i < len(sum); i++ {
		n[i], _ = strconv.ParseInt(sum[i], 10, 64)
	}
	// SKIP lines are printed, and counted in the sum, by some flags alone.
	if found["WARN"] != n[3] || found["FAIL"] != n[4] || sum[5] != "" && found["EXCP"] != n[5] || n[1] < n[2]+n[3]+n[4]+n[5] {
		d.breaks("the sum of conftest and the lines before it do not agree")
		return
	}
	d.more += n[2]
}

// conftestResult is one line: file, namespace and message, of which the first may lack.
func conftestResult(word, rest string) result {
	r := result{outcome: conftestWords[word], excused: word == "EXCP", evaluated: word == "EXCP", message: rest}
	switch parts := strings.SplitN(rest, " - ", 3); len(parts) {
	case 3:
		r.resource, r.rule, r.message = parts[0], parts[1], parts[2]
	case 2:
		r.rule, r.message = parts[0], parts[1]
	}
	return r
}
