package policy

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

type sentinelPolicy struct {
	Policy   json.RawMessage `json:"policy"` // a name, or an object that has one
	Result   *bool           `json:"result"`
	Allowed  bool            `json:"allowed_failure"`
	Allowed2 bool            `json:"allowed-failure"`
	Error    json.RawMessage `json:"error"`
	Trace    *struct {
		Description word `json:"description"`
		Print       word `json:"print"`
	} `json:"trace"`
}

type sentinelOutput struct {
	Result   *bool            `json:"result"`
	Error    json.RawMessage  `json:"error"`
	Policies []sentinelPolicy `json:"policies"`
	Hard     int64            `json:"hard-failed"`
	Soft     int64            `json:"soft-failed"`
	Sentinel *struct {
		Data map[string]sentinelOutput `json:"data"`
	} `json:"sentinel"`
}

// readSentinel reads what `sentinel apply -json` prints, and the result of a policy check of HCP Terraform, which holds the same by
// set of policies.
func readSentinel(raw []byte, d *decision) {
	d.engine = "sentinel"
	var o sentinelOutput
	if err := into(raw, &o); err != nil {
		d.breaks(err.Error())
		return
	}
	if o.Result == nil {
		d.breaks("it has no result")
		return
	}
	d.overall = deny
	if *o.Result {
		d.overall = allow
	}
	o.read(d)
	if o.Sentinel != nil {
		for _, name := range slices.Sorted(maps.Keys(o.Sentinel.Data)) {
			set := o.Sentinel.Data[name]
			if set.Result != nil && !*set.Result && d.overall == allow {
				d.breaks("a set of policies failed, and the whole passed")
			}
			set.read(d)
		}
	}
	if d.overall == allow && o.Hard+o.Soft > 0 {
		d.breaks("it counts policies that failed, and says that the whole passed")
	}
}

func (o sentinelOutput) read(d *decision) {
	if text := problem(o.Error); text != "" {
		d.fail(text)
	}
	for _, p := range o.Policies {
		r := result{outcome: passed}
		var named struct {
			Name  word `json:"name"`
			Level word `json:"enforcement_level"`
		}
		var name word
		if json.Unmarshal(p.Policy, &name) != nil {
			_ = json.Unmarshal(p.Policy, &named) // a name that cannot be read is none
			name = named.Name
		}
		r.rule, r.level = string(name), string(named.Level)
		if p.Trace != nil {
			r.message = present(p.Trace.Print, p.Trace.Description)
		}
		switch text := problem(p.Error); {
		case text != "":
			d.fail(string(name) + ": " + text)
			continue
		case p.Result == nil:
			d.breaks("a policy has no result")
			return
		case !*p.Result && (p.Allowed || p.Allowed2 || named.Level == "advisory"):
			r.outcome = warned
		case !*p.Result:
			r.outcome = failed
		}
		d.add(r)
	}
}

// problem is the text of an error, "" for none.
func problem(raw json.RawMessage) string {
	if len(raw) == 0 || string(raw) == "null" {
		return ""
	}
	var text word
	if json.Unmarshal(raw, &text) == nil {
		return strings.TrimSpace(string(text))
	}
	return string(raw)
}

var (
	sentinelWhole  = regexp.MustCompile(`^Sentinel Result: (true|false)$`)
	sentinelCount  = regexp.MustCompile(`^(\d{1,6}) polic(?:y|ies) evaluated\.?$`)
	sentinelBlock  = regexp.MustCompile(`^## Policy \d+: (.+?)(?: \((advisory|soft-mandatory|hard-mandatory)\))?$`)
	sentinelResult = regexp.MustCompile(`^Result: (true|false)$`)
	sentinelFalse  = regexp.MustCompile(`^FALSE - `)
)

// readSentinelText reads the log of a policy check. It says the whole first, then how many policies there were, and each of them.
func readSentinelText(lines []string, d *decision) {
	d.engine = "sentinel"
	count, blocks, results := int64(-1), 0, 0
	var at *result
	end := func() {
		if at == nil {
			return
		}
		if at.outcome == "" {
			d.breaks("it breaks off before the result of a policy")
		} else {
			d.add(*at)
		}
		at = nil
	}
	for _, line := range lines {
		switch m := sentinelWhole.FindStringSubmatch(line); {
		case m != nil && d.overall != "":
			d.breaks("it holds more than one result of Sentinel")
		case m != nil:
			d.overall = deny
			if m[1] == "true" {
				d.overall = allow
			}
			continue
		}
		if m := sentinelCount.FindStringSubmatch(line); m != nil && count < 0 {
			count, _ = strconv.ParseInt(m[1], 10, 64)
		}
		if m := sentinelBlock.FindStringSubmatch(line); m != nil {
			end()
			blocks++
			at = &result{rule: m[1], level: m[2]}
			continue
		}
		if at == nil {
			continue
		}
		if m := sentinelResult.FindStringSubmatch(line); m != nil && at.outcome == "" {
			results++
			switch {
			case m[1] == "true":
				at.outcome = passed
			case at.level == "advisory":
				at.outcome = warned
			default:
				at.outcome = failed
			}
		}
		if at.message == "" && sentinelFalse.MatchString(line) {
			at.message = strings.TrimPrefix(line, "FALSE - ")
		}
	}
	end()
	if d.overall == "" {
		d.breaks("it has no result of Sentinel")
	}
	if count < 0 || int64(blocks) != count || results != blocks {
		d.breaks("it breaks off before the last policy that was evaluated")
	}
}
