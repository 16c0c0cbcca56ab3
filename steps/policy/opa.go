package policy

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
)

type opaOutput struct {
	Result *[]struct {
		Expressions []struct {
			Value json.RawMessage `json:"value"`
			Text  word            `json:"text"`
		} `json:"expressions"`
	} `json:"result"`
	Errors []struct {
		Message word `json:"message"`
		Code    word `json:"code"`
	} `json:"errors"`
}

var (
	asksAllow = regexp.MustCompile(`(?:^|\.)allow(?:ed)?$`)
	asksDeny  = regexp.MustCompile(`(?:^|\.)(?:deny|violations?)$`)
)

// readOPA reads what `opa eval --format json` prints. means is what the caller says of the query, "" for what its text says.
func readOPA(raw []byte, means string, d *decision) {
	d.engine = "opa"
	var o opaOutput
	if err := into(raw, &o); err != nil {
		d.breaks(err.Error())
		return
	}
	for _, e := range o.Errors {
		text := string(e.Message)
		if e.Code != "" {
			text = string(e.Code) + ": " + text
		}
		d.fail(text)
	}
	if len(o.Errors) > 0 {
		return
	}
	if o.Result == nil || len(*o.Result) == 0 {
		// An undefined rule prints {}, without the text of the query. No rule that allows is a denial; no rule that denies may be one
		// that was never loaded.
		if means == allow {
			d.add(result{rule: allow, message: "the query is undefined: nothing allows it", outcome: failed})
			return
		}
		d.breaks("the query is undefined, and OPA does not print which it was: an absent denial may be a rule that was never loaded")
		return
	}
	for _, row := range *o.Result {
		for _, x := range row.Expressions {
			d.expression(strings.TrimSpace(string(x.Text)), x.Value, means)
		}
	}
}

func (d *decision) expression(text string, value json.RawMessage, means string) {
	if means == "" {
		switch {
		case asksAllow.MatchString(text):
			means = allow
		case asksDeny.MatchString(text):
			means = deny
		default:
			d.breaks(fmt.Sprintf("whether the query %.80q asks what is allowed or what is denied is not told: give query_means", text))
			return
		}
	}
	var v any
	if err := into(value, &v); err != nil {
		d.breaks("an expression has no value")
		return
	}
	if is, ok := v.(bool); ok {
		r := result{rule: text, outcome: passed}
		if is != (means == allow) {
			r.outcome, r.message = failed, fmt.Sprintf("%s is %t", text, is)
		}
		d.add(r)
		return
	}
	list, ok := v.([]any)
	if !ok || means == allow {
		d.breaks(fmt.Sprintf("the query %.80q comes to neither a truth nor a list of denials", text))
		return
	}
	if len(list) == 0 {
		d.add(result{rule: text, outcome: passed})
	}
	for _, item := range list {
		d.add(denial(text, item))
	}
}

// denial is one item of a set of denials: a message, or an object that holds one.
func denial(text string, item any) result {
	r := result{rule: text, outcome: failed}
	o, ok := item.(map[string]any)
	if !ok {
		r.message = plain(item)
		return r
	}
	r.message = member(o, "msg", "message", "reason", "description")
	if id := member(o, "rule_id", "rule", "id", "code", "policy"); id != "" {
		r.rule = id
	}
	r.resource = member(o, "resource_address", "address", "resource", "file", "filename")
	r.level = member(o, "severity", "level")
	if details, ok := o["details"].(map[string]any); ok && r.resource == "" {
		r.resource = member(details, "resource_address", "address", "resource")
	}
	if r.message == "" {
		r.message = plain(item)
	}
	return r
}

// member is the first of some members that is a text or a number.
func member(o map[string]any, names ...string) string {
	for _, name := range names {
		switch v := o[name].(type) {
		case string:
			if v != "" {
				return v
			}
		case float64:
			return plain(v)
		}
	}
	return ""
}

func plain(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	raw, err := json.Marshal(v)
	if err != nil {
		return ""
	}
	return string(raw)
}
