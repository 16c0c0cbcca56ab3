package runlog

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"handrail/steps"
	"handrail/steps/terraform/prose"
)

// A provider hangs where progress lines alone have come for this long, and this
// many of them.
const (
	hungAfter = 10 * time.Minute
	hungLines = 6
)

// Facts are the facts of terraform/log.
func Facts() []steps.Field {
	return []steps.Field{
		{Name: "found", Type: steps.Bool, Doc: "whether there is such a file"},
		{Name: "whole", Type: steps.Bool, Doc: "whether the log shows its run from the beginning to the end; where it does not, nothing follows from what it does not show"},
		{Name: "refused", Type: steps.Bool, Doc: "whether it shows nothing but that the tool refused the saved plan, which it does before it starts anything; an earlier try of the run may have done something"},
		{Name: "runs", Type: steps.Int, Doc: "runs in the log that began an operation; of more than one the facts by address are unknown"},
		{Name: "started", Type: steps.Int, Doc: "operations on resources that the log starts; none is known only of a whole log of a run that could save its state"},
		{Name: "completed", Type: steps.Int, Doc: "operations that it completes; none is known as with started"},
		{Name: "errored", Type: steps.Int, Doc: "operations that it ends with an error"},
		{Name: "interrupted", Type: steps.Bool, Doc: "whether the run says that it was interrupted"},
		{Name: "finished", Type: steps.Bool, Doc: "whether the run says that it finished"},
		{Name: "last_line", Type: steps.String, Doc: "last line that is not empty"},
		{Name: "completed_addresses", Type: steps.Strings, Doc: "addresses of which all that began has completed, in order"},
		{Name: "present_addresses", Type: steps.Strings, Doc: "of them, those that exist by the log: the last operation destroyed nothing"},
		{Name: "present_objects", Type: steps.Strings, Doc: "the same, each with what the log says that it stands for, as `ADDRESS [id=X]`; the address alone where the log names nothing"},
		{Name: "present_ids", Type: steps.Table, Doc: "address to the id of its object, of those that exist by the log and whose id it names"},
		{Name: "destroyed_addresses", Type: steps.Strings, Doc: "of them, those that the last operation destroyed"},
		{Name: "started_addresses", Type: steps.Strings, Doc: "addresses with an operation that started and never completed, in order"},
		{Name: "failed_addresses", Type: steps.Strings, Doc: "addresses with an operation that an error ended, in order"},
		{Name: "in_flight", Type: steps.Strings, Doc: "addresses with an operation that neither completed nor failed, in order"},
		{Name: "planned", Type: steps.Int, Doc: "addresses that the plan inside the log acts on, known only where the log holds it"},
		{Name: "never_started", Type: steps.Strings, Doc: "planned addresses without an operation, known only of a whole log that holds the plan"},
		{Name: "operations", Type: steps.Table, Doc: "address to complete, half (of a replacement), destroyed (and maybe to be created again), failed, in-flight or not-started"},
		{Name: "ending", Type: steps.Enum, Values: []string{"finished", "failed", "cancelled", "interrupted", "interrupted-twice", "panicked", "cut"},
			Doc: "how the run ended, as far as the log goes; cut where it does not say"},
		{Name: "errors", Type: steps.Table, Doc: "class of error to how often, see error_classes"},
		{Name: "error_classes", Type: steps.Table, Doc: "address to the class of its first error: " + fmt.Sprint(errorClasses())},
		{Name: "places", Type: steps.Strings, Doc: "files and lines of the configuration that the errors name, in order"},
		{Name: "throttled", Type: steps.Bool, Doc: "whether an error is of a throttled API"},
		{Name: "timed_out", Type: steps.Bool, Doc: "whether an error is a timeout: what was asked for may exist"},
		{Name: "exists", Type: steps.Strings, Doc: "addresses whose object was there already"},
		{Name: "save_failed", Type: steps.Bool, Doc: "whether the run could not save its state, and so left errored.tfstate"},
		{Name: "panicked", Type: steps.Bool, Doc: "whether tool or provider panicked"},
		{Name: "lock_lost", Type: steps.Bool, Doc: "whether the lock was gone when the run released it: another run may have written"},
		{Name: "hung", Type: steps.Bool, Doc: "whether the log ends in progress lines alone, over ten minutes of one operation"},
		{Name: "waiting", Type: steps.Table, Doc: "address to how long its operation went on, of those that did not end"},
		{Name: "longest_wait", Type: steps.Duration, Doc: "longest of them"},
	}
}

func (r *Log) ending() string {
	switch {
	case r.Panicked:
		return "panicked"
	case r.Interrupts > 1:
		return "interrupted-twice"
	case r.interrupted:
		return "interrupted"
	case r.finished:
		return "finished"
	case r.cancelled:
		return "cancelled"
	case r.ErrorCount > 0:
		return "failed"
	}
	return "cut"
}

// fill tells the facts of a log. lacks is why what it does not show may have
// happened all the same, "".
func (l *runLogs) fill(f steps.Facts, obs *steps.Observation, lacks string) {
	r, busy := l.one(), l.busy()
	began, ended := l.operations()
	refused := l.refused(lacks)
	f.Set("whole", steps.BoolOf(lacks == ""))
	f.Set("refused", steps.BoolOf(refused))
	f.Set("runs", steps.IntOf(int64(len(busy))))
	f.Set("last_line", steps.StringOf(l.last))
	none := lacks
	if none == "" && (r.saveFailed || r.LostLock || r.Interrupts > 1) {
		none = "its run could not save its state, or not as it wanted: there was something to save"
	}
	for name, n := range map[string]int{"started": began, "completed": ended} {
		if n > 0 || none == "" {
			f.Set(name, steps.IntOf(int64(n)))
		} else {
			f.Unknown("the log shows none, and is no proof of none: "+none, name)
		}
	}
	f.Set("interrupted", steps.BoolOf(r.interrupted))
	r.fillErrors(f, obs)
	how := ""
	if len(busy) > 1 {
		why := fmt.Sprintf("the log holds %d runs that changed something, and which of them is meant it does not say", len(busy))
		f.Unknown(why, "errored", "finished", "completed_addresses", "present_addresses", "present_objects", "present_ids", "destroyed_addresses", "started_addresses", "failed_addresses",
			"in_flight", "operations", "ending", "planned", "never_started", "hung", "waiting", "longest_wait")
		obs.Findings = append(obs.Findings, steps.Finding{Level: steps.Warning, Say: prose.Upper(why) + ". Give the part of one of them."})
		how = "it holds several runs"
	} else {
		how = r.fillAddresses(f, obs, lacks)
	}
	if lacks != "" && !refused {
		say := "The log is not whole: " + lacks + "."
		if began == 0 {
			say += " That it shows no operation is no proof that none began. Give the log of the job from its first line to its last."
		}
		obs.Findings = append(obs.Findings, steps.Finding{Level: steps.Warning, Say: say})
	}
	obs.Summary = fmt.Sprintf("The log starts %s and completes %d; %s.", prose.Plural(began, "operation"), ended, how)
	obs.Facts = f.Rest("not read")
}

// fillAddresses tells what became of each address in the one run of a log, and
// returns how it ended.
func (r *Log) fillAddresses(f steps.Facts, obs *steps.Observation, lacks string) string {
	done, open := r.addresses()
	present, destroyed := r.standing()
	f.Set("errored", steps.IntOf(int64(len(r.Failed))))
	f.Set("finished", steps.BoolOf(r.finished))
	f.Set("completed_addresses", steps.StringsOf(done))
	f.Set("present_addresses", steps.StringsOf(present))
	f.Set("present_objects", steps.StringsOf(r.objects()))
	f.Set("present_ids", steps.TableOf(r.ids(present)))
	f.Set("destroyed_addresses", steps.StringsOf(destroyed))
	f.Set("started_addresses", steps.StringsOf(open))
	f.Set("failed_addresses", steps.StringsOf(slices.Sorted(maps.Keys(r.Failed))))
	f.Set("in_flight", steps.StringsOf(slices.DeleteFunc(slices.Clone(open), func(a string) bool { return r.Failed[a] })))
	operations := r.operations()
	f.Set("ending", steps.EnumOf(r.ending()))
	if never, ok := r.neverStarted(); ok && lacks == "" {
		f.Set("planned", steps.IntOf(int64(len(r.plan))))
		f.Set("never_started", steps.StringsOf(never))
	} else {
		maps.DeleteFunc(operations, func(_, how string) bool { return how == NeverStarted })
		if r.planWhole {
			f.Set("planned", steps.IntOf(int64(len(r.plan))))
		} else {
			f.Unknown("the log does not hold the plan", "planned")
		}
		f.Unknown("the log does not hold the plan and all of the run: what never started cannot be told from what it does not show", "never_started")
	}
	f.Set("operations", steps.TableOf(operations))
	r.fillWaiting(f, obs)
	r.warn(open, obs)
	return map[string]string{"finished": "it came to its end", "interrupted": "it was interrupted", "interrupted-twice": "it was interrupted twice",
		"panicked": "it panicked", "failed": "it ended in an error", "cancelled": "it was cancelled", "cut": "it does not say that it ended"}[r.ending()]
}

func (r *Log) fillErrors(f steps.Facts, obs *steps.Observation) {
	classes, by := map[string]int{}, map[string]string{}
	for _, e := range r.Errors {
		classes[e.class]++
		if _, known := by[e.Address]; e.Address != "" && !known {
			by[e.Address] = e.class
		}
	}
	f.Set("places", steps.StringsOf(r.places()))
	f.Set("errors", steps.TableOf(prose.Counts(classes)))
	f.Set("error_classes", steps.TableOf(by))
	if r.ErrorCount > len(r.Errors) {
		f.Unknown(fmt.Sprintf("only %d of %d errors were read", len(r.Errors), r.ErrorCount), "errors", "error_classes", "places")
	}
	f.Set("throttled", steps.BoolOf(classes[classThrottle] > 0))
	f.Set("timed_out", steps.BoolOf(classes[classTimeout] > 0))
	f.Set("exists", steps.StringsOf(r.classed(classExists)))
	f.Set("save_failed", steps.BoolOf(r.saveFailed))
	f.Set("panicked", steps.BoolOf(r.Panicked))
	f.Set("lock_lost", steps.BoolOf(r.LostLock))
	words := classWords()
	for _, class := range slices.Sorted(maps.Keys(classes)) {
		if words[class] == "" {
			continue
		}
		i := slices.IndexFunc(r.Errors, func(e Error) bool { return e.class == class })
		where := ""
		if a := r.Errors[i].Address; a != "" {
			where = " (first " + a + ")"
		}
		obs.Say(steps.Warning, "%s of class %s%s: %s.", prose.Plural(classes[class], "error"), class, where, words[class])
	}
	if i := slices.IndexFunc(r.Errors, func(e Error) bool { return e.class == classLock && !reRelease.MatchString(e.Text) }); i >= 0 {
		obs.Findings = append(obs.Findings, steps.Finding{Level: steps.Warning,
			Say: "The run could not take the lock. The same headline stands over a corrupt local state, a refused request and any fault of the lock store, and on pg, http and remote the lock info may be that of the run itself: read the lock with terraform/lock. It said: " + steps.Clip(r.Errors[i].Text, 300)})
	}
}

func (r *Log) places() []string {
	var out []string
	for _, e := range r.Errors {
		if e.place != "" && !slices.Contains(out, e.place) {
			out = append(out, e.place)
		}
	}
	return out
}

func (r *Log) fillWaiting(f steps.Facts, obs *steps.Observation) {
	waiting, longest, which := map[string]string{}, time.Duration(0), ""
	for _, a := range slices.Sorted(maps.Keys(r.waiting)) {
		d := r.waiting[a]
		if r.Running[a] == 0 || r.Failed[a] {
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

func (r *Log) warn(open []string, obs *steps.Observation) {
	if len(open) > 0 {
		obs.Say(steps.Warning, "%s started and never completed, first %s: what was made may exist without being in the state.", prose.Plural(len(open), "operation"), open[0])
	}
	if r.saveFailed {
		obs.Say(steps.Critical, "The run could not save its state. It released its lock and left errored.tfstate in its directory: what it made is recorded there alone. Save that file before the runner goes.")
	}
	if r.LostLock {
		obs.Say(steps.Critical, "The lock was gone when the run released it: a live run was unlocked. The second writer's state may have been overwritten under the same serial.")
	}
	if r.Interrupts > 1 {
		obs.Say(steps.Critical, "The run was interrupted twice: it left what was in flight unrecorded. One interrupt records everything that ends. SIGINT and then SIGTERM are two, and a CI system that cancels a job sends both by itself.")
	}
	if r.Panicked {
		obs.Say(steps.Critical, "Tool or provider panicked: what was in flight may exist without being in the state.")
	}
	if r.ending() == "cut" && len(open) > 0 {
		obs.Say(steps.Warning, "The log does not say how the run ended. SIGHUP, SIGQUIT and SIGPIPE end the tool like SIGKILL: with tofu, and with any remote backend, nothing of the first 20 seconds is recorded, nor what completed since the last snapshot, and an orphaned provider goes on changing the world. Look for one with terraform/holder.")
	}
}
