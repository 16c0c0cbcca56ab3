package forge

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// sum says how a run stands by its jobs. waiting counts those that have not ended and are no jobs here; with an error they
// are unknown, and a run whose jobs have all ended may go on.
func (r *run) sum(waiting int, err error) {
	ended, anyRunning := 0, false
	result := success
	for _, j := range r.jobs {
		switch j.state {
		case over:
			ended++
			if j.ended.After(r.ended) {
				r.ended = j.ended
			}
			switch {
			case j.result == failure || j.result == other:
				result = j.result
			case j.result == cancelled && result == success:
				result = cancelled
			}
		case running:
			anyRunning = true
		}
	}
	switch {
	case anyRunning:
		r.state = running
	case ended < len(r.jobs):
		r.state = queued
	case err != nil:
		r.not.add(partState, err)
	case waiting > 0:
		r.state = queued
	default:
		r.state, r.result = over, result
		return
	}
	r.ended = time.Time{}
}

// failed is the job that is named where a run failed: the first that did.
func (r run) failed() (job, bool) {
	for _, j := range r.jobs {
		if j.result == failure || j.result == other && j.state == over {
			return j, true
		}
	}
	return job{}, false
}

func count(n int64) string { return strconv.FormatInt(n, 10) }

func yesNo(is bool) string {
	if is {
		return "yes"
	}
	return "no"
}

var digestForm = regexp.MustCompile(`^sha256:[0-9a-f]{64}$`)

// digest is text where it is one, else "".
func digest(text string) string {
	if digestForm.MatchString(text) {
		return text
	}
	return ""
}

// findOwners reads the first file of code owners that is there on the branch that binds: a pull request that changes the file
// does not choose its own approvers. Whether one is there is told by the list of its folder,
// which needs the same right as the file: a 404 says nothing.
func findOwners(p *pull, branch string, places []string, names func(dir string) ([]string, error), read func(name string) ([]byte, error)) error {
	if branch == "" {
		return errNoBranch
	}
	listed := map[string][]string{}
	list := func(dir string) ([]string, error) {
		if got, ok := listed[dir]; ok {
			return got, nil
		}
		got, err := names(dir)
		if err == nil {
			listed[dir] = got
		}
		return got, err
	}
	has := func(dir, name string) (bool, error) {
		all, err := list(dir)
		for _, n := range all {
			if n == name {
				return true, err
			}
		}
		return false, err
	}
	for _, at := range places {
		dir, name := "", at
		if i := strings.LastIndexByte(at, '/'); i >= 0 {
			dir, name = at[:i], at[i+1:]
			if is, err := has("", dir); !is || err != nil {
				if err != nil {
					return err
				}
				continue
			}
		}
		is, err := has(dir, name)
		if err != nil {
			return err
		}
		if !is {
			continue
		}
		text, err := read(at)
		if err != nil {
			return err
		}
		p.owners = owners{at, text}
		return nil
	}
	return nil
}

// only narrows a run to one of its jobs, which was asked for: it is over when that is.
func (r *run) only(j job) {
	r.jobs, r.state, r.result, r.started, r.ended = []job{j}, j.state, j.result, j.started, j.ended
	delete(r.not, partJobs)
	delete(r.not, partState)
	if r.state == "" {
		r.not[partState] = "the forge says nothing that is known of where the job stands"
	}
}

// newestOf is the newest of several runs, which notes the others.
func newestOf(all []run) run {
	newest := all[0]
	for _, r := range all {
		if r.created.After(newest.created) {
			newest = r
		}
	}
	newest.more = len(all) - 1
	return newest
}

// unique are the texts without those that came before, in order.
func unique(list []string) []string {
	var out []string
	for _, s := range list {
		if !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}
