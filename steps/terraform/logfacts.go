package terraform

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"handrail/steps"
)

// A provider hangs where progress lines alone have come for this long, and this
// many of them.
const (
	hungAfter = 10 * time.Minute
	hungLines = 6
)

func logFacts() []steps.Field {
	return []steps.Field{
		{Name: "found", Type: steps.Bool, Doc: "whether there is such a file"},
		{Name: "started", Type: steps.Int, Doc: "operations on resources that the log starts"},
		{Name: "completed", Type: steps.Int, Doc: "operations that it completes"},
		{Name: "errored", Type: steps.Int, Doc: "operations that it ends with an error"},
		{Name: "interrupted", Type: steps.Bool, Doc: "whether the run says that it was interrupted"},
		{Name: "finished", Type: steps.Bool, Doc: "whether the run says that it came to its end"},
		{Name: "last_line", Type: steps.String, Doc: "last line that is not empty"},
		{Name: "completed_addresses", Type: steps.Strings, Doc: "addresses with a completed operation, in order"},
		{Name: "started_addresses", Type: steps.Strings, Doc: "addresses with an operation that started and never completed, in order"},
		{Name: "failed_addresses", Type: steps.Strings, Doc: "addresses with an operation that an error ended, in order"},
		{Name: "in_flight", Type: steps.Strings, Doc: "addresses with an operation that neither completed nor failed, in order"},
		{Name: "planned", Type: steps.Int, Doc: "addresses that the plan inside the log acts on, known only where the log holds it"},
		{Name: "never_started", Type: steps.Strings, Doc: "planned addresses without an operation, known only where the log holds the plan"},
		{Name: "operations", Type: steps.Table, Doc: "address to complete, failed, in-flight or not-started"},
		{Name: "ending", Type: steps.Enum, Values: []string{"finished", "failed", "interrupted", "interrupted-twice", "panicked", "cut"},
			Doc: "how the run ended, as far as the log goes; cut where it does not say"},
		{Name: "errors", Type: steps.Table, Doc: "class of error to how often, see error_classes"},
		{Name: "error_classes", Type: steps.Table, Doc: "address to the class of its first error: " + fmt.Sprint(errorClasses())},
		{Name: "places", Type: steps.Strings, Doc: "files and lines of the configuration that the errors name, in order"},
		{Name: "throttled", Type: steps.Bool, Doc: "whether an error is of a throttled API"},
		{Name: "timed_out", Type: steps.Bool, Doc: "whether an error is a timeout: what was asked for may exist"},
		{Name: "exists", Type: steps.Strings, Doc: "addresses whose object was there already"},
		{Name: "save_failed", Type: steps.Bool, Doc: "whether the run could not save its state, and so left errored.tfstate"},
		{Name: "panicked", Type: steps.Bool, Doc: "whether tool or provider panicked"},
		{Name: "lock_lost", Type: steps.Bool, Doc: "whether the lock was gone when the run released it: somebody else may have written"},
		{Name: "hung", Type: steps.Bool, Doc: "whether the log ends in progress lines alone, over ten minutes of one operation"},
		{Name: "waiting", Type: steps.Table, Doc: "address to how long its operation went on, of those that did not end"},
		{Name: "longest_wait", Type: steps.Duration, Doc: "longest of them"},
	}
}

func (r *runLog) ending() string {
	switch {
	case r.panicked:
		return "panicked"
	case r.interrupts > 1:
		return "interrupted-twice"
	case r.interrupted:
		return "interrupted"
	case r.finished:
		return "finished"
	case r.errorCount > 0:
		return "failed"
	}
	return "cut"
}

func (r *runLog) fill(f steps.Facts, obs *steps.Observation) {
	done, open := r.addresses()
	f.Set("started", steps.IntOf(int64(r.started)))
	f.Set("completed", steps.IntOf(int64(r.completed)))
	f.Set("errored", steps.IntOf(int64(len(r.failed))))
	f.Set("interrupted", steps.BoolOf(r.interrupted))
	f.Set("finished", steps.BoolOf(r.finished))
	f.Set("last_line", steps.StringOf(r.last))
	f.Set("completed_addresses", steps.StringsOf(done))
	f.Set("started_addresses", steps.StringsOf(open))
	f.Set("failed_addresses", steps.StringsOf(slices.Sorted(maps.Keys(r.failed))))
	f.Set("in_flight", steps.StringsOf(slices.DeleteFunc(slices.Clone(open), func(a string) bool { return r.failed[a] })))
	f.Set("operations", steps.TableOf(r.operations()))
	f.Set("ending", steps.EnumOf(r.ending()))
	if never, ok := r.neverStarted(); ok {
		f.Set("planned", steps.IntOf(int64(len(r.plan))))
		f.Set("never_started", steps.StringsOf(never))
	} else {
		f.Unknown("the log does not hold the plan: what was never started cannot be told from what was never planned", "planned", "never_started")
	}
	r.fillErrors(f, obs)
	r.fillWaiting(f, obs)
	r.warn(open, obs)
	how := map[string]string{"finished": "it came to its end", "interrupted": "it was interrupted", "interrupted-twice": "it was interrupted twice",
		"panicked": "it panicked", "failed": "it ended in an error", "cut": "it does not say that it ended"}[r.ending()]
	obs.Summary = fmt.Sprintf("The log starts %d operations and completes %d; %s.", r.started, r.completed, how)
	obs.Facts = f.Rest("not read")
}

func (r *runLog) fillErrors(f steps.Facts, obs *steps.Observation) {
	classes, by := map[string]int{}, map[string]string{}
	for _, e := range r.errors {
		classes[e.class]++
		if _, known := by[e.address]; e.address != "" && !known {
			by[e.address] = e.class
		}
	}
	f.Set("places", steps.StringsOf(r.places()))
	f.Set("errors", steps.TableOf(countTable(classes)))
	f.Set("error_classes", steps.TableOf(by))
	if r.errorCount > len(r.errors) {
		f.Unknown(fmt.Sprintf("only %d of %d errors were read", len(r.errors), r.errorCount), "errors", "error_classes", "places")
	}
	f.Set("throttled", steps.BoolOf(classes[classThrottle] > 0))
	f.Set("timed_out", steps.BoolOf(classes[classTimeout] > 0))
	f.Set("exists", steps.StringsOf(r.classed(classExists)))
	f.Set("save_failed", steps.BoolOf(r.saveFailed))
	f.Set("panicked", steps.BoolOf(r.panicked))
	f.Set("lock_lost", steps.BoolOf(r.lostLock))
	words := classWords()
	for _, class := range slices.Sorted(maps.Keys(classes)) {
		if words[class] == "" {
			continue
		}
		i := slices.IndexFunc(r.errors, func(e logError) bool { return e.class == class })
		where := ""
		if a := r.errors[i].address; a != "" {
			where = " (first " + a + ")"
		}
		obs.Findings = append(obs.Findings, steps.Finding{Level: steps.Warning, Say: fmt.Sprintf("%s of class %s%s: %s.", plural(classes[class], "error"), class, where, words[class])})
	}
	if i := slices.IndexFunc(r.errors, func(e logError) bool { return e.class == classLock && !reRelease.MatchString(e.text) }); i >= 0 {
		obs.Findings = append(obs.Findings, steps.Finding{Level: steps.Warning,
			Say: "The run could not take the lock. The same headline stands over a corrupt local state, a refused request and any fault of the lock store, and on pg, http and remote the lock info may be that of the run itself: read the lock with terraform/lock. It said: " + clip(r.errors[i].text, 300)})
	}
}

func (r *runLog) places() []string {
	var out []string
	for _, e := range r.errors {
		if e.place != "" && !slices.Contains(out, e.place) {
			out = append(out, e.place)
		}
	}
	return out
}

func (r *runLog) fillWaiting(f steps.Facts, obs *steps.Observation) {
	waiting, longest, which := map[string]string{}, time.Duration(0), ""
	for _, a := range slices.Sorted(maps.Keys(r.waiting)) {
		d := r.waiting[a]
		if r.running[a] == 0 || r.failed[a] {
			continue
		}
		waiting[a] = d.String()
		if d > longest {
			longest, which = d, a
		}
	}
	f.Set("waiting", steps.TableOf(waiting))
	f.Set("longest_wait", steps.DurationOf(longest))
	hung := longest >= hungAfter && r.stalled >= hungLines && r.ending() != "finished"
	f.Set("hung", steps.BoolOf(hung))
	if hung {
		obs.Findings = append(obs.Findings, steps.Finding{Level: steps.Critical,
			Say: fmt.Sprintf("The log ends in %d progress lines with nothing completed between them, the longest of %s after %s: a provider without a timeout looks like this. Progress lines come from the tool, not from the provider, and prove no work. Ask the API itself whether anything still changes.", r.stalled, which, longest)})
	}
}

func (r *runLog) warn(open []string, obs *steps.Observation) {
	say := func(level steps.Level, format string, args ...any) {
		obs.Findings = append(obs.Findings, steps.Finding{Level: level, Say: fmt.Sprintf(format, args...)})
	}
	if len(open) > 0 {
		say(steps.Warning, "%d operations started and never completed, first %s: what they made may exist without being in the state.", len(open), open[0])
	}
	if r.saveFailed {
		say(steps.Critical, "The run could not save its state. It released its lock and left errored.tfstate in its directory: what it made is recorded there alone. Save that file before the runner goes.")
	}
	if r.lostLock {
		say(steps.Critical, "The lock was gone when the run released it: somebody unlocked a live run. The second writer's state may have been overwritten under the same serial.")
	}
	if r.interrupts > 1 {
		say(steps.Critical, "The run was interrupted twice: it left what was in flight unrecorded. One interrupt records everything that ends. SIGINT and then SIGTERM are two, and a CI system that cancels a job sends both by itself.")
	}
	if r.panicked {
		say(steps.Critical, "Tool or provider panicked: what was in flight may exist without being in the state.")
	}
	if r.ending() == "cut" && len(open) > 0 {
		say(steps.Warning, "The log does not say how the run ended. SIGHUP, SIGQUIT and SIGPIPE end the tool like SIGKILL: with tofu, and with any remote backend, nothing of the first 20 seconds is recorded, nor what completed since the last snapshot, and an orphaned provider goes on changing the world. Look for one with terraform/holder.")
	}
}
