package runlog

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"handrail/steps"
	"handrail/steps/joblog"
	"handrail/steps/terraform/prose"
)

// The parts of a command as it is echoed: its settings, and the program with what
// it is to do.
const (
	assigned = `(?:[A-Za-z_]\w*=\S* )*`
	asked    = `(?:sudo )?(?:[\w./-]*/)?(?:tofu|terraform|terragrunt)(?:\.exe)?(?: -\S+)* (?:run-all |run --all |run -- |run )?(?:init|plan|apply|destroy|refresh)`
)

// completion is what a log shows of the bounds of its run. That something did not
// happen is said only of a run that it shows from its beginning to its end.
type completion struct {
	begun     bool   // something was seen that stands before the first operation
	remote    bool   // it runs elsewhere, and goes on when no one watches it
	cancelled bool   // a person said no
	reported  int    // operations that the last line of the run counts
	boxed     bool   // inside the box of an error or a warning
	outputs   bool   // behind the outputs of a run that finished
	heredoc   string // what ends the output that is being printed
	doubts    string
}

var (
	// beginnings stand before the first operation of a run: an init, a plan, or the
	// command as build systems and shells echo it.
	beginnings = regexp.MustCompile(`^(?:Initializing (?:the backend|modules|provider plugins|plugins and modules|HCP Terraform|Terraform Cloud)\b|Acquiring state lock\. This may` +
		`|(?:OpenTofu|Terraform) (?:used the selected providers|will perform the following actions)|No changes\. |Planning failed\. |Running (?:plan|apply) in |Preparing the remote (?:plan|apply)` +
		`|Plan: (?:\d+ to [a-z]+, )*\d+ to [a-z]+\.` +
		`|` + joblog.Address + `: Refreshing state\.\.\.)`)
	commanded = regexp.MustCompile(`^(?:(?:\S*[$#%>]|\++|##\[group\]Run|Run|\[command\]|##\[command\]) ?` + assigned + asked + `(?: .*)?$|` + assigned + asked + `(?: -\S+)*(?: \S+)?$)`)
	endings   = regexp.MustCompile(`^(?:Apply|Destroy) complete! Resources: \d+ (?:imported|added|changed|destroyed|forgotten)\b.*\.$`)
	counted   = regexp.MustCompile(`(\d{1,9}) (?:imported|added|changed|destroyed)`)
	// omitted is how systems say that they left lines away.
	omitted = regexp.MustCompile(`\b(?:log|logs|output|lines?)\b.{0,30}\b(?:truncated|omitted|skipped)\b|\b(?:truncated|omitted|skipped)\b.{0,20}\b(?:lines?|bytes|log|output)\b|\blog (?:size )?(?:exceeded|limit of \d)|\bmaximum log (?:length|size)`)
	// redirected is a redirection that takes a stream out of the log.
	redirected = regexp.MustCompile(`[^>=-](?:\d|&)?>{1,2}\s*(?:[^&>\s]|&-)`)
	// exited is what a system says of the program, not the program of itself.
	exited = regexp.MustCompile(`^Error: (?:Process completed with exit code|Terraform exited with code|The process .* failed with exit code)`)
)

// noBeginning is what a log lacks that begins in the middle, or that is of a command which
// says nothing before it ends.
const noBeginning = "it does not show where its run begins"

// refused reports whether a log is of one run, and shows nothing of it but that the tool
// refused its plan, which it does before it starts anything. It need not show a beginning:
// the tool says nothing before. What an earlier try of the run did, it does not tell.
func (l *runLogs) refused(lacks string) bool {
	if len(l.runs) != 1 || lacks != "" && lacks != noBeginning {
		return false
	}
	r := l.runs[0]
	quiet := !r.busy() && !r.interrupted && r.Interrupts == 0 && !r.Panicked && !r.saveFailed && !r.LostLock
	return quiet && r.ErrorCount > 0 && r.ErrorCount == len(r.Errors) &&
		!slices.ContainsFunc(r.Errors, func(e Error) bool { return e.class != classStale })
}

// bounds looks for the beginning and the end of a run in a line of its own.
func (r *Log) bounds(text string) {
	switch {
	case begins(text):
		r.begun = true
		r.remote = r.remote || strings.HasPrefix(text, "Running ") || strings.HasPrefix(text, "Preparing the remote ")
		if sentAway(text) {
			r.doubt("its command sends output elsewhere")
		}
	case endings.MatchString(text):
		n := 0
		for _, m := range counted.FindAllStringSubmatch(text, 8) {
			k, _ := strconv.Atoi(m[1])
			n += k
		}
		r.finish(n)
	case strings.HasPrefix(text, "Apply cancelled."), strings.HasPrefix(text, "Destroy cancelled."):
		r.cancelled = true
	case text == "Outputs:" && r.finished:
		r.outputs = true
	}
}

// beginHints let most lines pass by the expression.
var beginHints = []string{"Initializing ", "Acquiring state lock", "used the selected providers", "will perform the following", "No changes. ", "Planning failed. ",
	"Running ", "Preparing the remote ", "Plan: ", ": Refreshing state..."}

func begins(text string) bool {
	for _, hint := range beginHints {
		if strings.Contains(text, hint) {
			if beginnings.MatchString(text) {
				return true
			}
			break
		}
	}
	return (strings.Contains(text, "tofu") || strings.Contains(text, "terra")) && commanded.MatchString(text)
}

// sentAway reports whether an echoed command keeps output from the log.
func sentAway(text string) bool {
	if !commanded.MatchString(text) {
		return false
	}
	_, args, _ := strings.Cut(text, " ") // a prompt may end with the sign
	for _, pipe := range strings.Split(args, "|")[1:] {
		if !strings.HasPrefix(strings.TrimSpace(strings.TrimPrefix(pipe, "&")), "tee") {
			return true
		}
	}
	return redirected.MatchString(args)
}

// leftAway reports whether a system says that it left lines of the log away.
func leftAway(text string) bool {
	low := strings.ToLower(text[:min(len(text), 500)])
	for _, hint := range []string{"truncated", "omitted", "skipped", "exceeded", "limit of"} {
		if strings.Contains(low, hint) {
			return omitted.MatchString(low)
		}
	}
	return false
}

// opensText is the first line of an output that has several.
var opensText = regexp.MustCompile(`(?:= |^\s+)<<-?([A-Za-z_]\w*)$`)

// inOutputs takes a line behind the outputs. What a text of several lines says is
// a quotation.
func (r *Log) inOutputs(text string) {
	if r.heredoc != "" {
		if strings.TrimSpace(text) == r.heredoc {
			r.heredoc = ""
		}
	} else if m := opensText.FindStringSubmatch(text); m != nil {
		r.heredoc = m[1]
	}
}

// finish takes the last line of a run, which counts its operations.
func (r *Log) finish(operations int) {
	r.finished = true
	r.reported = max(r.reported, operations)
	if r.completed < r.reported {
		r.doubt("it counts " + prose.Plural(r.reported, "operation") + " at its end and shows " + strconv.Itoa(r.completed))
	}
}

// doubt notes why the log may lack a part of its run, or hold parts of another.
func (r *Log) doubt(why string) {
	if r.doubts == "" {
		r.doubts = steps.Clip(why, 300)
	}
}

// over reports whether the run has come to an end.
func (r *Log) over() bool { return r.finished || r.cancelled || r.inError || r.ErrorCount > 0 }

// busy reports whether the run may have changed anything.
func (r *Log) busy() bool { return r.Started+r.completed+r.reported > 0 || len(r.order) > 0 }

// another reports whether a line is of the next run. begun says that it stands at
// its beginning.
func (r *Log) another(h logLine) bool {
	if e := h.event; e != nil {
		return e.Type == "version" && (r.busy() || r.over()) || r.over() && (e.begins() || e.operates()) || r.finished && e.finishes()
	}
	text := h.text
	if r.finished && !r.inError && r.heredoc == "" && (strings.HasPrefix(text, "│ Error: ") || strings.HasPrefix(text, "Error: ") && !exited.MatchString(text)) {
		return true
	}
	if joblog.Quoted(text) || r.boxed || strings.HasPrefix(text, "│") {
		return false
	}
	if r.heredoc != "" {
		return false
	}
	if (r.busy() || r.over()) && begins(text) {
		return true
	}
	return r.over() && !r.inError && (operates(text) || endings.MatchString(text))
}

// lacks says what the log does not show of the run, "" where it shows all of it.
func (r *Log) lacks() string {
	switch {
	case r.doubts != "":
		return r.doubts
	case !r.begun:
		return noBeginning
	case !r.over():
		return "it does not show how its run ended"
	case r.Panicked:
		return "its run broke down"
	case r.remote && !r.finished && !r.cancelled:
		return "its run is remote, and may go on when no log follows it"
	}
	return ""
}
