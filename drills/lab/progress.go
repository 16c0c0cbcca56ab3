package lab

import (
	"strings"
	"time"
)

// Stage is what is being done right now.
type Stage string

// Stages in the order in which a first start goes through them.
const (
	StageWait  Stage = "wait"  // another process builds or starts; Text says what is waited for
	StageFetch Stage = "fetch" // modules are being downloaded
	StageCount Stage = "count" // finding out how much there is to compile
	StageBuild Stage = "build" // packages are being compiled
	StageLink  Stage = "link"  // all packages are compiled
	StageBuilt Stage = "built" // the part is in its place; sent as well when it already was
	StageStart Stage = "start" // the servers are coming up
	StageReady Stage = "ready"
)

// Progress is one report. Total is 0 while it is not known, Left while it cannot be guessed.
type Progress struct {
	Part          string // cluster, tofu, lab
	Stage         Stage
	Done, Total   int
	Elapsed, Left time.Duration
	Text          string
}

// meter turns the lines that the go command writes into progress.
type meter struct {
	part     string
	total    int // packages that are not in the build cache
	built    int
	fetched  int
	talk     []string // what is neither a package nor a download: compiler errors, mostly
	started  time.Time
	building time.Time // when the first package came: downloads say nothing about compile speed
}

const keptTalk = 40

// line takes one line of the go command's stderr.
func (m *meter) line(text string, now time.Time) {
	switch {
	case strings.HasPrefix(text, "go: downloading "):
		m.fetched++
	case text == "":
	case isPackage(text):
		if m.built == 0 {
			m.building = now
		}
		m.built++
	default:
		m.talk = append(m.talk, text)
		if len(m.talk) > keptTalk {
			m.talk = m.talk[1:]
		}
	}
}

// isPackage tells the bare import paths that -v prints from errors and headings, which hold blanks or colons.
func isPackage(text string) bool {
	return !strings.ContainsAny(text, " \t:#")
}

func (m *meter) progress(now time.Time) Progress {
	p := Progress{Part: m.part, Stage: StageBuild, Done: m.built, Total: m.total, Elapsed: now.Sub(m.started)}
	switch {
	case m.built == 0 && m.total == 0 && m.fetched > 0:
		p.Stage, p.Done, p.Total = StageFetch, m.fetched, 0
	case m.built == 0 && m.total == 0:
		p.Stage = StageCount
	case m.total > 0 && m.built >= m.total:
		p.Stage, p.Done = StageLink, m.total
	case m.built > 0 && m.built*30 >= m.total: // before that a guess would jump about
		p.Left = now.Sub(m.building) * time.Duration(m.total-m.built) / time.Duration(m.built)
	}
	return p
}
