package drills

import (
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strings"

	"handrail/session/debrief"
	"handrail/steps"
	"handrail/triage"
)

// Reference is the path that the reference answers of a scene walk, as its walk in
// the lab was recorded. A scene whose script lies has none: its path is no model.
func (s Scene) Reference() ([]debrief.Stop, error) {
	if s.Expect.Exit != 0 || s.Backend != "" {
		return nil, nil
	}
	raw, err := fs.ReadFile(embedded, "library/"+s.pathFile())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	path, err := debrief.ParsePath(string(raw))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.pathFile(), err)
	}
	return path, nil
}

func (s Scene) pathFile() string {
	if s.Variant == "" {
		return s.Drill.ID + ".path"
	}
	return s.Drill.ID + "." + s.Variant + ".path"
}

// Debriefing is what a debriefing needs to know of the scene; j is nil where
// it was not judged.
func (s Scene) Debriefing(j *Judgement) (*debrief.Drill, error) {
	path, err := s.Reference()
	out := &debrief.Drill{Name: s.Name(), Path: path, Shut: s.Expect.Refused}
	if j == nil {
		return out, err
	}
	out.Judged, out.Won = true, j.Won
	for _, c := range j.Conditions {
		out.Conditions = append(out.Conditions, debrief.Condition(c))
	}
	return out, err
}

// Note is a judgement as a note for the journal, which Score reads again.
func (j Judgement) Note(s Scene) string {
	word := "won"
	if !j.Won {
		word = "not won"
	}
	var out strings.Builder
	fmt.Fprintf(&out, "drill %s judged: %s", s.Name(), word)
	for _, c := range j.Conditions {
		switch {
		case c.Holds:
			fmt.Fprintf(&out, " [holds] %s", c.Condition)
		case c.Why != "":
			fmt.Fprintf(&out, " [fails] %s [why] %s", c.Condition, c.Why)
		default:
			fmt.Fprintf(&out, " [fails] %s", c.Condition)
		}
	}
	return out.String()
}

var (
	judgedNote = regexp.MustCompile(`^drill ([a-z0-9-]+)(?: \((?:([a-z0-9-]+)|(?:([a-z0-9-]+) )?on ([a-z0-9-]+))\))? judged: (won|not won)( .*)?$`)
	judgedPart = regexp.MustCompile(` \[(holds|fails)\] `)
)

// Score is what is known of the drill of an incident by its journal: its scene and
// how it was judged when it was closed; nil where the incident is no drill.
func Score(st triage.State, cat steps.Catalog) (*debrief.Drill, error) {
	if st.Drill == "" {
		return nil, nil
	}
	variant, backend, judged := "", "", (*Judgement)(nil)
	for _, m := range st.Timeline {
		if m.Type != "note" {
			continue
		}
		if f := judgedNote.FindStringSubmatch(m.Text); f != nil && f[1] == st.Drill {
			variant, backend, judged = f[2]+f[3], f[4], &Judgement{Won: f[5] == "won", Conditions: conditions(f[6])}
		}
	}
	all, err := Library(cat)
	if err != nil {
		return nil, err
	}
	// A bundle from elsewhere may name any drill.
	i := slices.IndexFunc(all, func(d *Drill) bool { return d.ID == st.Drill })
	if i < 0 {
		return &debrief.Drill{Name: st.Drill}, nil
	}
	s, err := all[i].On(variant, backend)
	if err != nil {
		return &debrief.Drill{Name: st.Drill}, nil
	}
	return s.Debriefing(judged)
}

// conditions reads what Note wrote.
func conditions(text string) []ConditionResult {
	var out []ConditionResult
	at := judgedPart.FindAllStringSubmatchIndex(text, -1)
	for i, m := range at {
		end := len(text)
		if i+1 < len(at) {
			end = at[i+1][0]
		}
		c := ConditionResult{Holds: text[m[2]:m[3]] == "holds", Condition: text[m[1]:end]}
		c.Condition, c.Why, _ = strings.Cut(c.Condition, " [why] ")
		out = append(out, c)
	}
	return out
}
