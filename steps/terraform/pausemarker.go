package terraform

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
)

// pauseFile is the marker in a root module that says: apply nothing here. It
// stands until somebody takes it away; until only says from when on that is due.
const pauseFile = ".handrail-pause.json"

// pauseFor is how long a pause may stand before somebody must look at it again.
const pauseFor = 4 * time.Hour

// pauseMark is what the marker says.
type pauseMark struct {
	Who      string    `json:"who"`
	When     time.Time `json:"when"`
	Why      string    `json:"why"`
	Incident string    `json:"incident"`
	Until    time.Time `json:"until"`
}

// pause is the marker of a root module as it was read.
type pause struct {
	file   string
	stands bool
	mark   pauseMark
	broken string // why the marker cannot be read; it stands all the same
	raw    []byte
	sum    string // of raw
}

// readPause reads the marker of dir. Whatever has its name stands, readable or not.
func readPause(dir string) pause {
	p := pause{file: filepath.Join(dir, pauseFile)}
	if _, err := os.Lstat(p.file); errors.Is(err, fs.ErrNotExist) {
		return p
	}
	p.stands = true
	raw, err := readSmall(p.file)
	if err != nil {
		p.broken = err.Error()
		return p
	}
	sum := sha256.Sum256(raw)
	p.raw, p.sum = raw, hex.EncodeToString(sum[:])
	if p.mark, err = parsePause(raw); err != nil {
		p.broken = err.Error()
	}
	return p
}

// parsePause reads the content of a marker.
func parsePause(raw []byte) (pauseMark, error) {
	var m pauseMark
	if err := json.Unmarshal(raw, &m); err != nil {
		return pauseMark{}, fmt.Errorf("it is no marker of a pause: %w", err)
	}
	if m.Who == "" || m.When.IsZero() || m.Until.IsZero() {
		return pauseMark{}, errors.New("it does not say who paused, when and until when")
	}
	m.Who, m.Why, m.Incident = clip(m.Who, 200), clip(m.Why, 1000), clip(m.Incident, 200)
	return m, nil
}

// by reports whether the marker is of the incident that env is of.
func (p pause) by(env steps.Env) bool {
	return p.stands && p.broken == "" && env.Incident != "" && p.mark.Incident == env.Incident
}

// overdue reports whether the marker says of itself that its time is over.
func (p pause) overdue(now time.Time) bool {
	return p.stands && p.broken == "" && now.After(p.mark.Until)
}

// whose says who paused, for people.
func (p pause) whose() string {
	switch {
	case !p.stands:
		return "nobody"
	case p.broken != "":
		return "nobody can tell whom: " + p.broken
	}
	s := p.mark.Who
	if p.mark.Incident != "" {
		s += " in incident " + p.mark.Incident
	}
	return fmt.Sprintf("%s, since %s, until %s (%s)", s, utc(p.mark.When), utc(p.mark.Until), p.mark.Why)
}

// identity is the marker as a target: what it is called now, "none" without one.
func (p pause) identity() string {
	switch {
	case !p.stands:
		return "none"
	case p.sum == "":
		return "cannot be read"
	}
	return "SHA-256 " + p.sum
}

// encode is the file as it is written.
func (m pauseMark) encode() ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err := e.Encode(m)
	return b.Bytes(), err
}

// pausedByOthers says whose pause stands over a unit, "" where nobody else's does.
func pausedByOthers(env steps.Env, dir string) string {
	p := readPause(dir)
	if !p.stands || p.by(env) {
		return ""
	}
	return strings.TrimSpace(p.whose())
}
