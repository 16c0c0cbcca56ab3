package forge

import (
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"handrail/steps"
	"handrail/steps/joblog"
)

const (
	mebibyte  = 1 << 20
	mostMiB   = 1024
	mostHeard = 40 // lines that are remembered, each clipped
	mostTools = 8  // lines that may print a version

	mostLearnt = 20_000 // lines that tell what the log puts before each
)

func logFacts() []steps.Field {
	return []steps.Field{
		{Name: "run", Type: steps.Ident, Doc: "number of the run"},
		{Name: "job", Type: steps.String, Doc: "job whose log it is"},
		{Name: "job_id", Type: steps.Ident, Doc: "its number"},
		{Name: "bytes", Type: steps.Int, Doc: "bytes of the log that were read"},
		{Name: "lines", Type: steps.Int, Doc: "its lines"},
		{Name: "whole", Type: steps.Bool, Doc: "whether it was read to its end"},
		{Name: "failed_step", Type: steps.String, Doc: "step or section that the log ends in with an error, empty where it tells of none"},
		{Name: "error", Type: steps.String, Doc: "first error line, empty where there is none"},
		{Name: "errors", Type: steps.Strings, Doc: "error lines, in order, the first forty"},
		{Name: "exit_code", Type: steps.Int, Doc: "with which the job ended, as its log says"},
		{Name: "tools", Type: steps.Strings, Doc: "OpenTofu and Terraform with their versions, as they print them themselves, in order; unknown where no line does"},
	}
}

// readLog is forge/log: of the job that is named, else of the first that failed.
func readLog(ctx context.Context, a asked) (steps.Observation, error) {
	q, err := a.question()
	if err != nil {
		return steps.Observation{}, err
	}
	most := a.in.Int("most")
	if most == 0 {
		most = 256
	}
	if most < 0 || most > mostMiB {
		return steps.Observation{}, fmt.Errorf("most: between 1 and %d MiB of a log are read", mostMiB)
	}
	repo := a.in.Text("repo")
	r, err := a.reader().run(ctx, repo, q)
	if err != nil {
		return steps.Observation{}, fmt.Errorf("%s of %s: %w", q, repo, err)
	}
	if why := orElse(r.nothing, r.not[partJobs]); why != "" {
		return steps.Observation{}, fmt.Errorf("%s of %s: %s", q, repo, why)
	}
	j, ok := r.failed()
	if q.job != "" || !ok && len(r.jobs) == 1 {
		if len(r.jobs) == 0 {
			return steps.Observation{}, fmt.Errorf("%s of %s: a later attempt took its place, name that one", q, repo)
		}
		j, ok = r.jobs[0], true
	}
	if !ok {
		return steps.Observation{}, fmt.Errorf("%s of %s: no job of it failed, so name the job whose log is meant", q, repo)
	}
	body, err := a.reader().log(ctx, repo, r, j)
	if err != nil {
		return steps.Observation{}, fmt.Errorf("log of %s of %s: %w", j.name, repo, err)
	}
	defer body.Close()
	obs := steps.Observation{Command: a.command(a.runs(repo, r))}
	h := newHearing()
	read := &counted{r: io.LimitReader(body, most*mebibyte)}
	gap := steps.Keep(a.out, "log", steps.MediaText, func(w io.Writer) error {
		text, err := joblog.Decode(read)
		if err == nil {
			err = joblog.Each(io.TeeReader(text, w), h.line)
		}
		return err
	})
	if err := ctx.Err(); err != nil {
		return steps.Observation{}, err
	}
	if read.err != nil && !errors.Is(read.err, io.EOF) {
		return steps.Observation{}, fmt.Errorf("log of %s of %s broke off after %d bytes: %w", j.name, repo, read.n, read.err)
	}
	if gap != "" {
		obs.Gaps = append(obs.Gaps, gap)
		obs.Summary = fmt.Sprintf("The log of %s could not be read: %s.", j.name, gap)
		obs.Facts = a.f.Rest(gap)
		return obs, nil
	}
	whole := read.n < most*mebibyte
	if !whole {
		n, _ := body.Read(make([]byte, 1))
		whole = n == 0
	}
	a.ident("run", r.id, "the forge does not say")
	a.text("job", j.name, "the forge does not say")
	a.ident("job_id", j.id, "the forge does not say")
	a.f.Set("bytes", steps.IntOf(read.n))
	a.f.Set("lines", steps.IntOf(h.lines))
	a.f.Set("whole", steps.BoolOf(whole))
	if !whole {
		why := fmt.Sprintf("the log is longer than the %d MiB that were read: raise most", most)
		obs.Gaps = append(obs.Gaps, why)
		obs.Summary = fmt.Sprintf("The log of %s was read for %d MiB and goes on.", j.name, most)
		obs.Facts = a.f.Rest(why)
		return obs, nil
	}
	found := h.end()
	first := a.tellHeard(found)
	obs.Summary = fmt.Sprintf("The log of %s has %d lines%s%s.", j.name, h.lines, after(", fails in ", found.step), after(": ", first))
	obs.Facts = a.f.Rest("the log does not say")
	return obs, nil
}

// tellHeard sets what a log says, and returns its first error.
func (a asked) tellHeard(found heardOf) (first string) {
	if len(found.errors) > 0 {
		first = found.errors[0]
	}
	a.f.Set("failed_step", steps.StringOf(found.step))
	a.f.Set("errors", steps.StringsOf(found.errors))
	a.f.Set("error", steps.StringOf(first))
	if found.code >= 0 {
		a.f.Set("exit_code", steps.IntOf(found.code))
	}
	if len(found.tools) > 0 {
		a.f.Set("tools", steps.StringsOf(found.tools))
	}
	return first
}

func after(words, text string) string {
	if text == "" {
		return ""
	}
	return words + steps.Clip(text, 160)
}

// counted counts what is read, and remembers how it ended.
type counted struct {
	r   io.Reader
	n   int64
	err error
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	c.err = err
	return n, err
}

// hearing listens to the lines of a log as they come, and keeps a bounded number of them.
type hearing struct {
	lines   int64
	section string
	failed  string // the section of the first failure of the job itself
	code    int64
	heard   []string
	tools   []string // lines that may print a version
	learn   *joblog.Learner
}

func newHearing() *hearing { return &hearing{code: -1, learn: joblog.NewLearner()} }

// What the systems of CI themselves write: where a step begins, and that the job failed.
var (
	stamp     = regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z (?:\d\d[OE] ?)?`)
	stepBegin = []*regexp.Regexp{
		regexp.MustCompile(`^##\[group\]Run (.+)`),
		regexp.MustCompile(`^(?:.*\r)?section_start:\d+:([A-Za-z0-9_.-]+)`),
		regexp.MustCompile(`^⭐ Run (?:Main |Pre |Post )?(.+)`),
	}
	jobFailed = []*regexp.Regexp{
		regexp.MustCompile(`^##\[error\](?:Process completed with exit code (\d{1,9}))?`),
		regexp.MustCompile(`^ERROR: Job failed(?:: exit (?:code|status) (\d{1,9}))?`),
		regexp.MustCompile(`^❌  ?Failure - (?:Main |Pre |Post )?.+`),
		regexp.MustCompile(`^exitcode '(\d{1,9})': failure`),
	}
	// The first line of tofu version and terraform version, which print no other thing on it.
	toolLine  = regexp.MustCompile(`^(?:OpenTofu|Terraform) v\d{1,5}\.\d{1,5}\.\d{1,5}(?:-[0-9A-Za-z.-]{1,40})?$`)
	errorLine = regexp.MustCompile(`^(?:│ )?(?:Error: |ERROR: |##\[error\]|error: |fatal: |FAIL(?:ED)?[: -]|E: |Error response )\S?`)
)

func (h *hearing) line(line string, how joblog.End) {
	h.lines++
	if h.lines <= mostLearnt || containsAny(line, errorHints) { // what stands before lines is the same in all of a log
		h.learn.Line(line, how)
	}
	if strings.IndexByte(line, '\r') < 0 {
		h.part(line)
		return
	}
	for part := range strings.SplitSeq(line, "\r") { // a terminal writes them over each other
		h.part(part)
	}
}

func (h *hearing) part(line string) {
	begins, fails, told := containsAny(line, beginHints), containsAny(line, failHints), containsAny(line, errorHints)
	if len(line) < 300 && len(h.tools) < mostTools && containsAny(line, toolHints) {
		h.tools = append(h.tools, line)
	}
	if !begins && !fails && !told {
		return // most lines, before any expression is tried
	}
	text := line[:min(len(line), 4<<10)]
	if told && len(h.heard) < mostHeard {
		h.heard = append(h.heard, text)
	}
	text = stamp.ReplaceAllString(text, "")
	if begins {
		for _, re := range stepBegin {
			if m := re.FindStringSubmatch(text); m != nil {
				h.section = words(m[1])
			}
		}
	}
	if !fails {
		return
	}
	for _, re := range jobFailed {
		m := re.FindStringSubmatch(text)
		if m == nil {
			continue
		}
		if h.failed == "" {
			h.failed = h.section
		}
		if len(m) > 1 && m[1] != "" && h.code < 0 {
			if n, err := strconv.ParseInt(m[1], 10, 64); err == nil {
				h.code = n
			}
		}
	}
}

// The words without which a line is none of those that are looked for.
var (
	beginHints = []string{"##[group]Run ", "section_start:", "⭐ Run "}
	failHints  = []string{"##[error]", "ERROR: Job failed", "Failure - ", "exitcode '"}
	toolHints  = []string{"OpenTofu v", "Terraform v"}
	errorHints = []string{"Error: ", "ERROR: ", "##[error]", "error: ", "fatal: ", "FAIL", "E: ", "Error response "}
)

func containsAny(text string, words []string) bool {
	for _, w := range words {
		if strings.Contains(text, w) {
			return true
		}
	}
	return false
}

// heardOf is what a log says.
type heardOf struct {
	step   string
	errors []string
	tools  []string
	code   int64
}

// end takes what the log puts before its lines off those that were kept, and leaves what is no error.
func (h *hearing) end() heardOf {
	out := heardOf{step: h.failed, errors: []string{}, code: h.code}
	frame := h.learn.Frame()
	bare := func(line string) string {
		text, _, _ := frame.Strip(line)
		return strings.TrimSpace(stamp.ReplaceAllString(text, ""))
	}
	for _, line := range h.tools {
		if text := bare(line); toolLine.MatchString(text) && !slices.Contains(out.tools, text) {
			out.tools = append(out.tools, text)
		}
	}
	for _, line := range h.heard {
		text := bare(line)
		if errorLine.MatchString(text) {
			text = strings.TrimSpace(strings.TrimPrefix(strings.TrimPrefix(text, "│"), "##[error]"))
			out.errors = append(out.errors, words(strings.TrimSpace(text)))
		}
	}
	return out
}
