package iam

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

const (
	mostStatements = 500
	mostValues     = 2000 // of one element
)

// Policy is one document.
type Policy struct {
	Statements []Statement
}

// Statement is one of a policy.
type Statement struct {
	ID   string // its Sid, "" where it has none
	Deny bool

	// Who it is about; nil in a policy of an identity, whose principal is the identity.
	Principals []string
	NotWho     bool // all but Principals

	Actions    []string
	NotActions bool
	Resources  []string // nil where it names none
	NotThese   bool     // all but Resources

	Conditions []Condition
	Variables  bool // whether ${…} stands for a value: in a document of version 2012-10-17 alone
}

// Condition is one operator on one key. All conditions of a statement hold together; of the values one has to fit.
type Condition struct {
	Operator string
	Key      string
	Values   []string
}

// Inverted reports whether it denies all but those that it names: by NotPrincipal, or for all by a condition that spares some. AWS
// advises the second for the first ("NotPrincipal", Specifying NotPrincipal with Deny).
func (s Statement) Inverted() bool { return s.Deny && (s.NotWho || len(s.spared()) > 0) }

// Spares are those whom an inverted statement does not deny.
func (s Statement) Spares() []string {
	if s.Deny && s.NotWho {
		return s.Principals
	}
	return s.spared()
}

// spared are the values of conditions that except identities from a Deny for all.
func (s Statement) spared() (out []string) {
	if !s.Deny || s.NotWho || !slices.Contains(s.Principals, "*") {
		return nil
	}
	for _, c := range s.Conditions {
		switch strings.ToLower(c.Key) {
		case "aws:principalarn", "aws:username", "aws:userid":
			if strings.Contains(c.Operator, "Not") {
				out = append(out, c.Values...)
			}
		}
	}
	return out
}

// texts is an element that is one text or a list of them. Numbers and booleans stand for their text ("Element can be a list").
type texts []string

// UnmarshalJSON implements json.Unmarshaler.
func (t *texts) UnmarshalJSON(raw []byte) error {
	var list []any
	if err := json.Unmarshal(raw, &list); err != nil {
		var one any
		if err := json.Unmarshal(raw, &one); err != nil {
			return err
		}
		list = []any{one}
	}
	if len(list) > mostValues {
		return errors.New("a list has too many values")
	}
	*t = texts{}
	for _, v := range list {
		switch v := v.(type) {
		case string:
			*t = append(*t, v)
		case bool, float64:
			*t = append(*t, fmt.Sprint(v))
		default:
			return errors.New("a value is neither text nor a list of texts")
		}
	}
	return nil
}

// who is an element Principal: "*", or kinds of principals to their names.
type who []string

// UnmarshalJSON implements json.Unmarshaler.
func (w *who) UnmarshalJSON(raw []byte) error {
	*w = who{}
	var all string
	if json.Unmarshal(raw, &all) == nil {
		if all != "*" {
			return fmt.Errorf("the principal %q is neither * nor an object", all)
		}
		*w = append(*w, "*")
		return nil
	}
	var by map[string]texts
	if err := json.Unmarshal(raw, &by); err != nil {
		return errors.New("the principal is neither * nor an object")
	}
	for kind, names := range by {
		for _, name := range names {
			if kind != "AWS" && name != "*" {
				name = kind + ":" + name // a service or a federated one, which is no account
			}
			*w = append(*w, name)
		}
	}
	return nil
}

// Parse reads a document. What it does not know is an error: a part that was passed over might have decided.
func Parse(raw []byte) (Policy, error) {
	var in struct {
		Version   string
		ID        string `json:"Id"`
		Statement json.RawMessage
	}
	dec := json.NewDecoder(strings.NewReader(string(raw)))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&in); err != nil {
		return Policy{}, errors.New("it is no policy document in JSON")
	}
	if dec.More() {
		return Policy{}, errors.New("something stands behind the document")
	}
	if in.Version != "" && in.Version != "2012-10-17" && in.Version != "2008-10-17" {
		return Policy{}, fmt.Errorf("its version %q is not known", in.Version)
	}
	var list []json.RawMessage
	if json.Unmarshal(in.Statement, &list) != nil {
		list = []json.RawMessage{in.Statement}
	}
	if len(in.Statement) == 0 || len(list) == 0 {
		return Policy{}, errors.New("it has no statement")
	}
	if len(list) > mostStatements {
		return Policy{}, fmt.Errorf("it has more than %d statements", mostStatements)
	}
	var p Policy
	for i, raw := range list {
		s, err := parseStatement(raw)
		if err != nil {
			return Policy{}, fmt.Errorf("statement %d: %w", i+1, err)
		}
		s.Variables = in.Version == "2012-10-17"
		p.Statements = append(p.Statements, s)
	}
	return p, nil
}

func parseStatement(raw json.RawMessage) (Statement, error) {
	var in struct {
		Sid, Effect             string
		Principal, NotPrincipal *who
		Action, NotAction       *texts
		Resource, NotResource   *texts
		Condition               map[string]map[string]texts
	}
	dec := json.NewDecoder(strings.NewReader(string(raw)))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&in); err != nil {
		return Statement{}, fmt.Errorf("it is not of the form of one: %w", plain(err))
	}
	s := Statement{ID: in.Sid, Deny: in.Effect == "Deny"}
	switch {
	case in.Effect != "Allow" && in.Effect != "Deny":
		return s, fmt.Errorf("its effect %q is neither Allow nor Deny", in.Effect)
	case in.Principal != nil && in.NotPrincipal != nil, in.Action != nil && in.NotAction != nil, in.Resource != nil && in.NotResource != nil:
		return s, errors.New("it has an element and its opposite")
	case in.Action == nil && in.NotAction == nil:
		return s, errors.New("it names no action")
	}
	for _, of := range []*who{in.Principal, in.NotPrincipal} {
		if of != nil {
			s.Principals, s.NotWho = *of, of == in.NotPrincipal
		}
	}
	for _, of := range []*texts{in.Action, in.NotAction} {
		if of != nil {
			s.Actions, s.NotActions = *of, of == in.NotAction
		}
	}
	for _, of := range []*texts{in.Resource, in.NotResource} {
		if of != nil {
			s.Resources, s.NotThese = *of, of == in.NotResource
		}
	}
	for operator, keys := range in.Condition {
		for key, values := range keys {
			s.Conditions = append(s.Conditions, Condition{operator, key, values})
		}
	}
	return s, nil
}

// plain is an error of the decoder without what stood in the document.
func plain(err error) error {
	if of := (*json.UnmarshalTypeError)(nil); errors.As(err, &of) {
		return fmt.Errorf("%s is of another type", of.Field)
	}
	return err
}
