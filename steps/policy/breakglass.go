package policy

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"handrail/steps"
	"handrail/steps/policy/register"
	"handrail/steps/strict"
)

func glassFacts() []steps.Field {
	return []steps.Field{
		{Name: "state", Type: steps.Enum, Values: []string{string(register.Open), string(register.Expired), string(register.Closed), absent}, Doc: "where the session stands: expired is past its end and not closed, absent is not in the register"},
		{Name: "id", Type: steps.Ident, Doc: "its id"},
		{Name: "person", Type: steps.String, Doc: "its person"},
		{Name: "account", Type: steps.String, Doc: "the account that it acts as, where that has another name"},
		{Name: "shared", Type: steps.Bool, Doc: "it names no one person: it has none, or an account that several people use"},
		{Name: "same_person", Type: steps.Bool, Doc: "whether `who` is its person or account"},
		{Name: "reason", Type: steps.String, Doc: "its reason"},
		{Name: "scope", Type: steps.Strings, Doc: "what it may change"},
		{Name: "incident", Type: steps.String, Doc: "the incident that it names"},
		{Name: "opened", Type: steps.Time, Doc: "when it began"},
		{Name: "expires", Type: steps.Time, Doc: "when it ends by itself"},
		{Name: "closed", Type: steps.Time, Doc: "when it was closed"},
		{Name: "approved_by", Type: steps.String, Doc: "who approved it"},
		{Name: "self_approved", Type: steps.Bool, Doc: "whether its own person or account approved it"},
		{Name: "covers", Type: steps.Bool, Doc: "whether its scope holds `object`"},
		{Name: "within", Type: steps.Bool, Doc: "whether a write at `at` was made inside of it, before its end and its close"},
		{Name: "overlong", Type: steps.Bool, Doc: "whether it was given for, or lasts, longer than `longest`"},
		{Name: "review", Type: steps.Enum, Values: []string{string(register.NoReview), string(register.Owed), string(register.Overdue), string(register.Done)}, Doc: "where its review stands; none where it has no owner or no day"},
		{Name: "review_owner", Type: steps.String, Doc: "who reviews it"},
		{Name: "review_due", Type: steps.Time, Doc: "until when; a date is due until its day ends, in UTC"},
		{Name: "holding", Type: steps.Strings, Doc: "ids of the sessions whose scope holds `object` and that a write at `at` was inside of, of whatever person"},
		{Name: "total", Type: steps.Int, Doc: "sessions of the register"},
		{Name: "open_sessions", Type: steps.Strings, Doc: "ids of those that are not closed, also past their end"},
		{Name: "expired_sessions", Type: steps.Strings, Doc: "ids of those that are past their end and not closed"},
		{Name: "unreviewed", Type: steps.Strings, Doc: "ids of those that are over, closed or expired, and whose review is not done"},
		{Name: "incomplete", Type: steps.Strings, Doc: "ids of those that lack what a session must have, each with what it lacks"},
		{Name: "digest", Type: steps.Ident, Doc: "SHA-256 of the file"},
	}
}

func glassKind() steps.Kind {
	return steps.Kind{
		Name:  "policy/breakglass",
		Class: steps.Probe,
		Doc:   "Reads a register of break-glass sessions: whether one is open, whose it is, whether it holds an object and the time of a write, and which sessions are past their end, unreviewed or incomplete. What the register does not say is unknown.",
		Params: []steps.Field{
			{Name: "file", Type: steps.Path, Required: true, Doc: "the register, in YAML or JSON"},
			{Name: "session", Type: steps.String, Doc: "id of the session that is meant"},
			{Name: "who", Type: steps.String, Doc: "person or account whose session is meant, where no id is given"},
			{Name: "object", Type: steps.String, Doc: "what was changed, as RESOURCE/NAMESPACE/NAME, or as the register names it"},
			{Name: "at", Type: steps.Time, Doc: "when it was changed"},
			{Name: "longest", Type: steps.Duration, Doc: "how long a session may be"},
			{Name: "shared", Type: steps.Strings, Doc: "accounts that several people use, beside those that the register lists"},
		},
		Facts:   glassFacts(),
		Touches: []string{"reads the file and keeps it"},
		Reads:   func(e steps.Env) steps.Prober { return glassProbe{e} },
		Covers:  []string{"E6"},
	}
}

// glassProbe is policy/breakglass.
type glassProbe struct{ env steps.Env }

// Probe implements steps.Prober.
func (p glassProbe) Probe(ctx context.Context, in steps.Params, out steps.Sink) (steps.Observation, error) {
	if err := ctx.Err(); err != nil {
		return steps.Observation{}, err
	}
	name := in.Text("file")
	if name == "" {
		return steps.Observation{}, errors.New("the parameter file is missing: name the register of break-glass sessions")
	}
	if in.Duration("longest") < 0 {
		return steps.Observation{}, errors.New("longest: a duration of zero or more")
	}
	name = steps.Below(p.env.Dir, name)
	file, err := read(ctx, name, strict.MaxSize)
	if err != nil {
		return steps.Observation{}, fmt.Errorf("policy breakglass: %w", err)
	}
	clean := redactor(out)
	reg, err := register.Read(filepath.Base(name), file.text)
	if err != nil {
		return steps.Observation{}, fmt.Errorf("policy breakglass: %s", clean(steps.Clip(err.Error(), 600)))
	}
	obs := steps.Observation{Command: "less -R " + steps.Quote(name)}
	keepFile(out, "register", file.text, &obs)
	now := time.Now()
	if p.env.Now != nil {
		now = p.env.Now()
	}
	q := glassQuery{
		id: strings.TrimSpace(in.Text("session")), who: strings.TrimSpace(in.Text("who")), object: strings.TrimSpace(in.Text("object")),
		at: in["at"].Time(), longest: in.Duration("longest"), shared: slices.Concat(reg.Shared, in["shared"].Strings()), now: now,
	}
	f := steps.NewFacts(glassFacts())
	f.Set("digest", steps.IdentOf(file.digest))
	tellRegister(reg, q, clean, f, &obs)
	obs.Facts = f.Rest("the entry does not say")
	return obs, nil
}

// glassQuery is what is asked of a register.
type glassQuery struct {
	id, who, object string
	at              time.Time
	longest         time.Duration
	shared          []string
	now             time.Time
}

// tellRegister tells what the whole register holds, and then of the session that is meant.
func tellRegister(reg *register.Register, q glassQuery, clean func(string) string, f steps.Facts, obs *steps.Observation) {
	open, past, owing, lacking, holding := []string{}, []string{}, []string{}, []string{}, []string{}
	for _, s := range reg.Sessions {
		name, state := clean(s.Name()), s.State(q.now)
		if state != register.Closed {
			open = append(open, name)
		}
		if state == register.Expired {
			past = append(past, name)
		}
		if state != register.Open && s.ReviewState(q.now) != register.Done {
			owing = append(owing, name)
		}
		if lacks := s.Lacks(q.now); len(lacks) > 0 {
			lacking = append(lacking, name+": "+clean(strings.Join(lacks, ", ")))
		}
		if s.Covers(q.object).IsTrue() && s.Within(q.at, q.now).IsTrue() {
			holding = append(holding, name)
		}
	}
	f.Set("total", steps.IntOf(int64(len(reg.Sessions))))
	for _, part := range []struct {
		fact, say string
		level     steps.Level
		names     []string
	}{
		{"open_sessions", "", "", open}, {"holding", "", "", holding},
		{"expired_sessions", "are past their end and not closed", steps.Warning, past},
		{"unreviewed", "are over and not reviewed", steps.Warning, owing},
		{"incomplete", "lack what a session must have", steps.Warning, lacking},
	} {
		n := len(part.names)
		if n > mostNames {
			obs.Gaps = append(obs.Gaps, fmt.Sprintf("%s lists the first %d of %d", part.fact, mostNames, n))
		}
		f.Set(part.fact, steps.StringsOf(part.names[:min(n, mostNames)]))
		if part.say != "" && n > 0 {
			obs.Say(part.level, "%d sessions %s: %s", n, part.say, steps.Clip(strings.Join(part.names, "; "), 300))
		}
	}
	if q.object == "" || q.at.IsZero() {
		f.Unknown("object and at were not both given", "holding")
	}
	all := fmt.Sprintf("The register has %d sessions: %d not closed, %d of them past their end; %d over and not reviewed; %d incomplete.", len(reg.Sessions), len(open), len(past), len(owing), len(lacking))
	if q.id == "" && q.who == "" {
		f.Unknown("no session and no person was given", sessionFacts()...)
		obs.Summary = all
		return
	}
	asked := "session " + q.id
	if q.id == "" {
		asked = "session of " + q.who
	}
	found := reg.Find(q.id, q.who, q.object, q.at, q.now)
	if len(found) == 0 {
		f.Unknown("there is no such session", sessionFacts()...)
		f.Set("state", steps.EnumOf(absent))
		obs.Say(steps.Warning, "The register has no %s", clean(asked))
		obs.Summary = fmt.Sprintf("The register has no %s, of %d.", clean(asked), len(reg.Sessions))
		return
	}
	tellSession(found[0], q, clean, f, obs)
	if len(found) > 1 {
		var others []string
		for _, s := range found[1:] {
			others = append(others, clean(s.Name())+" ("+string(s.State(q.now))+")")
		}
		obs.Say(steps.Info, "%d sessions are of %s; %s counts, before %s", len(found), clean(q.who), clean(found[0].Name()), steps.Clip(strings.Join(others, ", "), 200))
	}
}

// sessionFacts are those of one session.
func sessionFacts() []string {
	return []string{"state", "id", "person", "account", "shared", "same_person", "reason", "scope", "incident", "opened", "expires", "closed", "approved_by", "self_approved",
		"covers", "within", "overlong", "review", "review_owner", "review_due"}
}

func tellSession(s *register.Session, q glassQuery, clean func(string) string, f steps.Facts, obs *steps.Observation) {
	state, review, name := s.State(q.now), s.ReviewState(q.now), clean(s.Name())
	for fact, text := range map[string]string{"person": s.Person, "account": s.Account, "reason": s.Reason, "incident": s.Incident, "approved_by": s.ApprovedBy, "review_owner": s.Review.Owner} {
		if text != "" {
			f.Set(fact, steps.StringOf(clean(text)))
		}
	}
	if s.ID != "" {
		f.Set("id", steps.IdentOf(name))
	}
	if len(s.Scope) > 0 {
		f.Set("scope", steps.StringsOf(redactedAll(clean, s.Scope[:min(len(s.Scope), mostNames)])))
		if n := len(s.Scope); n > mostNames {
			obs.Gaps = append(obs.Gaps, fmt.Sprintf("scope lists the first %d of %d", mostNames, n))
		}
	}
	for fact, at := range map[string]time.Time{"opened": s.Opened, "expires": s.Expires, "closed": s.Closed, "review_due": s.Review.Due} {
		if !at.IsZero() {
			f.Set(fact, steps.TimeOf(at))
		}
	}
	f.Set("state", steps.EnumOf(string(state)))
	f.Set("review", steps.EnumOf(string(review)))
	f.Set("shared", steps.BoolOf(s.SharedBy(q.shared)))
	if q.who == "" {
		f.Unknown("no person was given", "same_person")
	} else {
		f.Set("same_person", steps.BoolOf(s.Of(q.who)))
	}
	truths := map[string]register.Truth{"covers": s.Covers(q.object), "within": s.Within(q.at, q.now), "overlong": s.Overlong(q.longest, q.now), "self_approved": s.SelfApproved()}
	for fact, is := range truths {
		if !is.Known {
			f.Unknown(is.Why, fact)
			continue
		}
		f.Set(fact, steps.BoolOf(is.Is))
	}
	for _, w := range []struct {
		is  bool
		say string
	}{
		{state == register.Expired, "is past its end, " + stampOf(s.Expires) + ", and not closed"},
		{s.SharedBy(q.shared), "names no one person"},
		{q.who != "" && !s.Of(q.who), "is not of " + clean(q.who)},
		{truths["self_approved"].IsTrue(), "was approved by the one who opened it"},
		{truths["covers"].IsFalse(), "does not hold " + clean(q.object)},
		{truths["within"].IsFalse(), "was not in force at " + stampOf(q.at)},
		{truths["overlong"].IsTrue(), "is longer than " + q.longest.String()},
		{review == register.NoReview, "has no review with an owner and a day"},
		{review == register.Overdue, "was to be reviewed by " + stampOf(s.Review.Due)},
	} {
		if w.is {
			obs.Say(steps.Warning, "Session %s %s", name, w.say)
		}
	}
	if lacks := s.Lacks(q.now); len(lacks) > 0 {
		obs.Say(steps.Warning, "Session %s lacks %s", name, clean(strings.Join(lacks, ", ")))
	}
	whose := "of no named person"
	if s.Person != "" {
		whose = "of " + clean(s.Person)
	}
	since := map[register.State]string{register.Closed: " since " + stampOf(s.Closed), register.Expired: " since " + stampOf(s.Expires), register.Open: " until " + stampOf(s.Expires)}[state]
	obs.Summary = fmt.Sprintf("Session %s %s is %s%s; its review is %s.", name, whose, state, since, map[register.ReviewState]string{register.NoReview: "not asked for", register.Owed: "owed", register.Overdue: "overdue", register.Done: "done"}[review])
}

// stampOf is a time as a sentence has it.
func stampOf(t time.Time) string {
	if t.IsZero() {
		return "no one knows when"
	}
	return t.UTC().Format(time.RFC3339)
}
