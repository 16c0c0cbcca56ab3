package module

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"handrail/steps"
	"handrail/steps/terraform/prose"
)

// PauseFile is the marker in a root module that says: apply nothing here. It
// stands until it is taken away; until only says from when on that is due.
const PauseFile = ".handrail-pause.json"

// PauseFor is how long a pause may stand before it must be looked at again.
const PauseFor = 4 * time.Hour

// PauseMark is what the marker says.
type PauseMark struct {
	Who      string    `json:"who"`
	When     time.Time `json:"when"`
	Why      string    `json:"why"`
	Incident string    `json:"incident"`
	Until    time.Time `json:"until"`
}

// Pause is the marker of a root module as it was read.
type Pause struct {
	File   string
	Stands bool
	Mark   PauseMark
	Broken string // why the marker cannot be read; it stands all the same
	Raw    []byte
	sum    string // of raw
}

// ReadPause reads the marker of dir. Whatever has its name stands, readable or not.
func ReadPause(dir string) Pause {
	p := Pause{File: filepath.Join(dir, PauseFile)}
	if _, err := os.Lstat(p.File); errors.Is(err, fs.ErrNotExist) {
		return p
	}
	p.Stands = true
	raw, err := ReadSmall(p.File)
	if err != nil {
		p.Broken = err.Error()
		return p
	}
	sum := sha256.Sum256(raw)
	p.Raw, p.sum = raw, hex.EncodeToString(sum[:])
	if p.Mark, err = ParsePause(raw); err != nil {
		p.Broken = err.Error()
	}
	return p
}

// ParsePause reads the content of a marker.
func ParsePause(raw []byte) (PauseMark, error) {
	var m PauseMark
	if err := json.Unmarshal(raw, &m); err != nil {
		return PauseMark{}, fmt.Errorf("it is not a marker of a pause: %w", err)
	}
	if m.Who == "" || m.When.IsZero() || m.Until.IsZero() {
		return PauseMark{}, errors.New("it does not say who paused, when and until when")
	}
	m.Who, m.Why, m.Incident = steps.Clip(m.Who, 200), steps.Clip(m.Why, 1000), steps.Clip(m.Incident, 200)
	return m, nil
}

// By reports whether the marker is of the incident that env is of.
func (p Pause) By(env steps.Env) bool {
	return p.Stands && p.Broken == "" && env.Incident != "" && p.Mark.Incident == env.Incident
}

// Overdue reports whether the marker says of itself that its time is over.
func (p Pause) Overdue(now time.Time) bool {
	return p.Stands && p.Broken == "" && now.After(p.Mark.Until)
}

// Whose says who paused, for people.
func (p Pause) Whose() string {
	switch {
	case !p.Stands:
		return "no one"
	case p.Broken != "":
		return "an unknown person: " + p.Broken
	}
	s := p.Mark.Who
	if p.Mark.Incident != "" {
		s += " in incident " + p.Mark.Incident
	}
	return fmt.Sprintf("%s, since %s, until %s (%s)", s, prose.UTC(p.Mark.When), prose.UTC(p.Mark.Until), p.Mark.Why)
}

// Identity is the marker as a target: what it is called now, "none" without one.
func (p Pause) Identity() string {
	switch {
	case !p.Stands:
		return "none"
	case p.sum == "":
		return "cannot be read"
	}
	return "SHA-256 " + p.sum
}

// Encode is the file as it is written.
func (m PauseMark) Encode() ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err := e.Encode(m)
	return b.Bytes(), err
}

// PausedByOthers says whose pause stands over a unit, "" where no other does.
func PausedByOthers(env steps.Env, dir string) string {
	p := ReadPause(dir)
	if !p.Stands || p.By(env) {
		return ""
	}
	return strings.TrimSpace(p.Whose())
}
