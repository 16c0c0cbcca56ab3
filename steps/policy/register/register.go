package register

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"handrail/steps/strict"
)

// Most is how many sessions are read.
const Most = 5_000

// Register is what a file holds.
type Register struct {
	Sessions []*Session
	Shared   []string // accounts that several people use
}

// Session is one entry. A text that is not given is empty, a time zero.
type Session struct {
	ID         string   `key:"id" as:"said"`
	Person     string   `key:"person" as:"said"`
	Account    string   `key:"account" as:"said"`
	Reason     string   `key:"reason" as:"said"`
	Scope      []string `key:"scope" as:"scopes"`
	Incident   string   `key:"incident" as:"said"`
	ApprovedBy string   `key:"approvedBy" as:"said"`
	Note       string   `key:"note" as:"said"`

	Opened  time.Time `key:"opened" as:"moment"`
	Expires time.Time `key:"expires" as:"moment"`
	Closed  time.Time `key:"closed" as:"moment"`

	Review Review `key:"review" as:"review"`

	Place int // in the file, from 1
	Line  int // where it begins
}

// Review is who looks at a session afterwards.
type Review struct {
	Owner string    `key:"owner" as:"said"`
	Due   time.Time `key:"due" as:"until"` // the end of the day where it is a date
	Done  time.Time `key:"done" as:"day"`
}

// Read reads a register, strictly. The error is [strict.Problems], with the lines; name is what they call the file.
func Read(name string, src []byte) (*Register, error) {
	r := &strict.Reader{File: name, What: "a register of break-glass sessions", Forms: forms()}
	if json.Valid(src) { // a tab in JSON stands between tokens alone, and YAML takes none
		src = bytes.ReplaceAll(src, []byte("\t"), []byte(" "))
	}
	root := r.Root(src)
	if root == nil {
		return nil, r.Problems.Sorted()
	}
	out, list := &Register{}, root
	if root.Kind != strict.Sequence {
		var f struct {
			Shared []string `key:"shared" of:"an account"`
		}
		keys := r.Struct(root, r.What, &f, "sessions")
		list, out.Shared = r.Need(root, keys, "sessions"), f.Shared
	}
	items := r.Items(list, "sessions")
	if len(items) > Most {
		r.Fail(list, "", "%d sessions, more than the %d that are read", len(items), Most)
		return nil, r.Problems.Sorted()
	}
	lines := map[string]int{}
	for i, n := range items {
		s := &Session{Place: i + 1, Line: n.Line}
		r.Struct(n, "a session", s)
		if first := lines[s.ID]; s.ID != "" && first > 0 {
			r.Fail(n, "", "the id %.80q stands twice, first on line %d", s.ID, first)
		}
		lines[s.ID] = n.Line
		out.Sessions = append(out.Sessions, s)
	}
	if err := r.Problems.Sorted(); err != nil {
		return nil, err
	}
	return out, nil
}

func forms() map[string]strict.Form {
	return map[string]strict.Form{
		"said": func(r *strict.Reader, n *strict.Node, what string) any { return said(r, n, what) },
		"scopes": func(r *strict.Reader, n *strict.Node, what string) any {
			if nothing(n) {
				return nil
			}
			out := []string{}
			for _, item := range r.Items(n, what) {
				if text := said(r, item, what); text != "" {
					out = append(out, text)
				}
			}
			return out
		},
		"moment": func(r *strict.Reader, n *strict.Node, what string) any { return moment(r, n, what, nil) },
		"until": func(r *strict.Reader, n *strict.Node, what string) any {
			return moment(r, n, what, func(day time.Time) time.Time { return day.AddDate(0, 0, 1) })
		},
		"day": func(r *strict.Reader, n *strict.Node, what string) any {
			return moment(r, n, what, func(day time.Time) time.Time { return day })
		},
		"review": func(r *strict.Reader, n *strict.Node, what string) any {
			var out Review
			if !nothing(n) {
				r.Struct(n, what, &out)
			}
			return out
		},
	}
}

// nothing says that a value stands for none: null, or a text of blanks.
func nothing(n *strict.Node) bool {
	return n.Kind == strict.Scalar && (n.Tag == "!!null" || strings.TrimSpace(n.Value) == "")
}

func said(r *strict.Reader, n *strict.Node, what string) string {
	if nothing(n) {
		return ""
	}
	return strings.TrimSpace(r.Text(n, what))
}

// moment reads a time; where day is given, a date as well.
func moment(r *strict.Reader, n *strict.Node, what string, day func(time.Time) time.Time) any {
	text := said(r, n, what)
	if text == "" {
		return nil
	}
	if t, err := time.Parse(time.RFC3339, text); err == nil {
		return t.UTC()
	}
	like := "as 2026-11-20T08:05:00Z"
	if day != nil {
		if t, err := time.Parse(time.DateOnly, text); err == nil {
			return day(t)
		}
		like += ", or a date"
	}
	r.Fail(n, like, "%s is no time of RFC 3339: %.40q", what, text)
	return nil
}

// State is where a session stands.
type State string

// The states. A session that is past its end and that no one closed is expired.
const (
	Open    State = "open"
	Expired State = "expired"
	Closed  State = "closed"
)

// State is where the session stands at a moment. A close that is still to come is none yet.
func (s *Session) State(now time.Time) State {
	switch {
	case !s.Closed.IsZero() && !s.Closed.After(now):
		return Closed
	case !s.Expires.IsZero() && !now.Before(s.Expires):
		return Expired
	}
	return Open
}

// ReviewState is where the review of a session stands.
type ReviewState string

// The states of a review. One without an owner or a day is none.
const (
	NoReview ReviewState = "none"
	Owed     ReviewState = "owed"
	Overdue  ReviewState = "overdue"
	Done     ReviewState = "done"
)

// ReviewState is where its review stands at a moment.
func (s *Session) ReviewState(now time.Time) ReviewState {
	switch v := s.Review; {
	case !v.Done.IsZero() && !v.Done.After(now) && (s.Opened.IsZero() || !v.Done.Before(s.Opened.Truncate(24*time.Hour))):
		return Done
	case v.Owner == "" || v.Due.IsZero():
		return NoReview
	case !now.Before(v.Due):
		return Overdue
	}
	return Owed
}

// Name is how a session is called, whose id may lack.
func (s *Session) Name() string {
	if s.ID != "" {
		return s.ID
	}
	return fmt.Sprintf("number %d", s.Place)
}

// Lacks lists what an entry must have and has not, or has wrong, at a moment.
func (s *Session) Lacks(now time.Time) (out []string) {
	for _, f := range []struct {
		name string
		is   bool
	}{
		{"id", s.ID != ""}, {"person", s.Person != ""}, {"reason", s.Reason != ""}, {"scope", len(s.Scope) > 0}, {"opened", !s.Opened.IsZero()},
		{"expires", !s.Expires.IsZero()}, {"approvedBy", s.ApprovedBy != ""},
	} {
		if !f.is {
			out = append(out, f.name)
		}
	}
	for _, scope := range s.Scope {
		if !bounds(scope) {
			out = append(out, fmt.Sprintf("a scope that bounds it (it has %.40s)", scope))
		}
	}
	began := !s.Opened.IsZero()
	for _, f := range []struct {
		wrong bool
		say   string
	}{
		{began && s.Opened.After(now), "a beginning that is not to come"},
		{began && !s.Expires.IsZero() && !s.Expires.After(s.Opened), "an end after its beginning"},
		{began && !s.Closed.IsZero() && s.Closed.Before(s.Opened), "a close after its beginning"},
		{s.Closed.After(now), "a close that is not to come"},
		{s.Review.Done.After(now), "a review that is not to come"},
		{began && !s.Review.Done.IsZero() && s.Review.Done.Before(s.Opened.Truncate(24*time.Hour)), "a review after its beginning"},
	} {
		if f.wrong {
			out = append(out, f.say)
		}
	}
	return out
}

// Truth is a yes or no that may be unknown, and why.
type Truth struct {
	Known, Is bool
	Why       string // where it is unknown
}

func yes(is bool) Truth        { return Truth{Known: true, Is: is} }
func unknown(why string) Truth { return Truth{Why: why} }
func same(a, b string) bool    { return a != "" && strings.EqualFold(a, b) }

// IsTrue says that it is known to be so.
func (t Truth) IsTrue() bool { return t.Known && t.Is }

// IsFalse says that it is known not to be so.
func (t Truth) IsFalse() bool { return t.Known && !t.Is }

// Of says whether a name is its person or its account.
func (s *Session) Of(name string) bool { return same(s.Person, name) || same(s.Account, name) }

// SharedBy says whether a session names no one person: it has no person, or one of its names is an account that several people use.
func (s *Session) SharedBy(shared []string) bool {
	is := func(name string) bool {
		return slices.ContainsFunc(shared, func(a string) bool { return same(strings.TrimSpace(a), name) })
	}
	return s.Person == "" || is(s.Person) || is(s.Account)
}

// SelfApproved says whether the one who opened it approved it.
func (s *Session) SelfApproved() Truth {
	switch {
	case s.ApprovedBy == "":
		return unknown("the entry names no approver")
	case s.Of(s.ApprovedBy):
		return yes(true)
	case s.Person == "":
		return unknown("the entry names no person")
	}
	return yes(false)
}

// Within says whether a write at a moment was made inside of the session.
func (s *Session) Within(at, now time.Time) Truth {
	end := s.Expires
	if !s.Closed.IsZero() && !s.Closed.After(now) && (end.IsZero() || s.Closed.Before(end)) {
		end = s.Closed
	}
	at = at.Truncate(time.Second)
	switch {
	case at.IsZero():
		return unknown("no time of a write was given")
	case s.Opened.IsZero():
		return unknown("the entry has no beginning")
	case at.Before(s.Opened.Truncate(time.Second)):
		return yes(false)
	case end.IsZero():
		return unknown("the entry has no end")
	}
	return yes(!at.After(end))
}

// Overlong says whether it was given for, or lasts, longer than a maximum.
func (s *Session) Overlong(longest time.Duration, now time.Time) Truth {
	switch {
	case longest <= 0:
		return unknown("no longest duration was given")
	case s.Opened.IsZero():
		return unknown("the entry has no beginning")
	}
	lasts := now
	if s.State(now) == Closed {
		lasts = s.Closed
	}
	switch {
	case lasts.Sub(s.Opened) > longest || !s.Expires.IsZero() && s.Expires.Sub(s.Opened) > longest:
		return yes(true)
	case s.Expires.IsZero():
		return unknown("the entry has no end")
	}
	return yes(false)
}

// Covers says whether the scope holds an object, RESOURCE/NAMESPACE/NAME.
func (s *Session) Covers(object string) Truth {
	switch {
	case object == "":
		return unknown("no object was given")
	case len(s.Scope) == 0:
		return unknown("the entry has no scope")
	}
	out := yes(false)
	for _, scope := range s.Scope {
		switch c := covers(scope, object); {
		case c.IsTrue():
			return c
		case !c.Known:
			out = c
		}
	}
	return out
}

// Find is the session that counts for a question: that of an id, else, of a person or account, the one whose scope holds the object
// and that the write was made in, before one that is not closed, before one that began later. The rest of those of the person follow.
func (r *Register) Find(id, who, object string, at, now time.Time) (out []*Session) {
	for _, s := range r.Sessions {
		if id != "" && s.ID == id || id == "" && s.Of(who) {
			out = append(out, s)
		}
	}
	slices.SortStableFunc(out, func(a, b *Session) int {
		for _, by := range []func(*Session) int{
			func(s *Session) int { return rank(s.Covers(object)) },
			func(s *Session) int { return rank(s.Within(at, now)) },
			func(s *Session) int { return rank(yes(s.State(now) != Closed)) },
		} {
			if d := by(a) - by(b); d != 0 {
				return d
			}
		}
		return b.Opened.Compare(a.Opened)
	})
	return out
}

func rank(t Truth) int {
	switch {
	case t.IsTrue():
		return 0
	case !t.Known:
		return 1
	}
	return 2
}
