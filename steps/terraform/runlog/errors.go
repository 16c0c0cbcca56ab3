package runlog

import (
	"regexp"
	"strings"
	"time"

	"handrail/steps"
)

// maxErrors bounds the errors that are kept of a log; maxErrorText one of them.
const (
	maxErrors    = 2000
	maxErrorText = 8 << 10
)

// Error is one error of a log.
type Error struct {
	class   string
	Address string // "" where it names none
	Text    string
	place   string // file and line of the configuration, "" where it names none
}

// begin starts an error of human output; its lines follow.
func (r *Log) begin(text string) {
	r.closeError()
	if exited.MatchString(text) {
		return
	}
	if cutShort.MatchString(text) {
		r.interrupt(text)
	}
	r.inError = true
	r.errText.WriteString(strings.TrimPrefix(text, "Error: "))
}

// more adds a line to the error that is open.
func (r *Log) more(text string) {
	if r.inError && r.errText.Len() < maxErrorText {
		r.errText.WriteByte(' ')
		r.errText.WriteString(text)
	}
}

// closeError classes the error that is open.
func (r *Log) closeError() {
	if r.inError && r.errText.Len() > 0 {
		text := strings.Join(strings.Fields(r.errText.String()), " ")
		place := ""
		if m := configPlace.FindStringSubmatch(text); m != nil {
			place = m[1] + ":" + m[2]
		}
		r.fault(text, r.errAddress, place)
	}
	r.inError, r.errAddress = false, ""
	r.errText.Reset()
}

func (r *Log) fault(text, address, place string) {
	class := classOf(text)
	r.saveFailed = r.saveFailed || reSave.MatchString(text)
	r.LostLock = r.LostLock || reRelease.MatchString(text)
	if len(r.Errors) < maxErrors {
		r.Errors = append(r.Errors, Error{class: class, Address: address, Text: steps.Clip(text, 400), place: steps.Clip(place, 300)})
	}
	r.ErrorCount++
}

var (
	// configPlace is where human output says that an error stands.
	configPlace = regexp.MustCompile(`\bon (\S+\.(?:tf|tofu|tfvars)(?:\.json)?) line (\d+)`)
	planned     = regexp.MustCompile(`^  # (\S.*?) (will be (?:created|updated in-place|destroyed|imported|replaced)|must be replaced|is tainted, so must be replaced)\b`)
	planLine    = regexp.MustCompile(`^Plan: .*\d+ to (add|destroy|change|import|forget)`)
	crashed     = regexp.MustCompile(`^(panic: |!!!+ (OPENTOFU|TERRAFORM) CRASH !!!+|fatal error: |goroutine \d+ \[running\]:)`)
)

// still takes a line that says that an operation goes on.
func (r *Log) still(address string, elapsed time.Duration) {
	address = r.see(address)
	if r.Running[address] == 0 {
		r.doubt("it goes on with what it does not start: " + address)
	}
	r.waiting[address] = max(r.waiting[address], elapsed)
	r.stalled++
}

// plans takes an address of the plan inside the log.
func (r *Log) plans(address string, replaced bool) {
	address = deposedAt.ReplaceAllString(address, "")
	if !r.inPlan[address] && address != "" {
		r.inPlan[address] = true
		r.plan = append(r.plan, address)
	}
	r.replaces[address] = r.replaces[address] || replaced
}

func elapsedOf(s string) time.Duration {
	d, _ := time.ParseDuration(s)
	return d
}

func elapsedSeconds(n float64) time.Duration {
	if n < 0 || n > 1e7 {
		return 0
	}
	return time.Duration(n) * time.Second
}

// The words for what became of one address.
const (
	Complete     = "complete"
	Half         = "half" // of a replacement: one of both
	Failed       = "failed"
	InFlight     = "in-flight"
	NeverStarted = "not-started"
	Destroyed    = "destroyed" // and maybe to be made anew: the log does not hold the plan
	Unproven     = "complete by the log, and not recorded so"
	NoChange     = "needed no change"
)
