package stuck

import (
	"context"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"handrail/steps"
	"handrail/steps/cluster"
	"handrail/steps/fault"
	"handrail/steps/kube/report"
)

// mostKept bounds the objects that are named in an artifact.
const mostKept = 5000

// leftovers is what is stored in one namespace.
type leftovers struct {
	count   int
	by      map[string]int // resource
	holders map[string]int // finalizer
	names   []string       // resource/name with finalizers, the first mostKept
	older   []string
	missing []string // what could not be read
	held    []sweptName

	covered bool // every kind that the namespace controller names was listed
}

// sweptName is one object in a namespace.
type sweptName struct{ resource, name string }

func (l *leftovers) whole() bool { return len(l.missing) == 0 }

// sum is one line on what is left.
func (l *leftovers) sum() string {
	var out []string
	for _, r := range slices.Sorted(maps.Keys(l.by)) {
		out = append(out, fmt.Sprintf("%s: %d", r, l.by[r]))
	}
	text := "there is left in it " + report.OrNothing(steps.Clip(strings.Join(out, ", "), 300))
	var held []string
	for _, f := range slices.Sorted(maps.Keys(l.holders)) {
		held = append(held, fmt.Sprintf("%s on %d", steps.Clip(f, 200), l.holders[f]))
	}
	if len(held) > 0 {
		text += ", held by " + steps.Clip(strings.Join(held, ", "), 300)
	}
	return text
}

// leftovers lists the metadata of every kind of object in the namespace. The
// API server lists what is stored under the name of a namespace that is not
// there, too.
func (s *namespaceRun) leftovers(ctx context.Context) error {
	l := &s.left
	l.by, l.holders = map[string]int{}, map[string]int{}
	all, trouble := s.Listable(true)
	if trouble != "" {
		l.missing = append(l.missing, "the kinds of "+trouble+", which discovery failed for")
	}
	var mu sync.Mutex
	seen := map[string]bool{}
	var born int64
	if !s.absent {
		born = s.o.GetCreationTimestamp().Unix()
	}
	l.missing = append(l.missing, sweepEach(ctx, s.Client, all, s.name, func(r cluster.Resource, o cluster.Object) {
		mu.Lock()
		defer mu.Unlock()
		if uid := string(o.GetUID()); uid != "" { // one object may be served under two groups
			if seen[uid] {
				return
			}
			seen[uid] = true
		} else {
			return // made up at each request, and stored nowhere
		}
		made := o.GetCreationTimestamp()
		l.add(r, o, s.absent || !made.IsZero() && made.Unix() < born)
	})...)
	slices.Sort(l.names)
	slices.Sort(l.older)
	slices.Sort(l.missing)
	return nil
}

func (l *leftovers) add(r cluster.Resource, o cluster.Object, older bool) {
	l.count++
	l.by[r.String()]++
	name := r.String() + "/" + steps.Clip(o.GetName(), report.LongestValue)
	held := o.GetFinalizers()
	for _, f := range held {
		l.holders[steps.Clip(f, report.LongestValue)]++
	}
	if older && len(l.older) < report.MostNames {
		l.older = append(l.older, name)
	}
	if len(held) > 0 {
		if len(l.held) < report.MostNames {
			l.held = append(l.held, sweptName{r.String(), o.GetName()})
		}
		name += " (" + steps.Clip(strings.Join(held, ", "), report.LongestValue) + ")"
	}
	if len(l.names) < mostKept {
		l.names = append(l.names, name)
	}
}

// sweepEach lists the metadata of each resource, in one namespace or with "" in
// all, up to eight lists at once, and returns what could not be read. see is
// called from several goroutines.
func sweepEach(ctx context.Context, c *cluster.Client, all []cluster.Resource, namespace string, see func(cluster.Resource, cluster.Object)) (missing []string) {
	var mu sync.Mutex
	miss := func(r cluster.Resource, err error) {
		mu.Lock()
		defer mu.Unlock()
		missing = append(missing, r.String()+": "+err.Error())
	}
	slots := make(chan struct{}, cluster.ListsAtOnce)
	var wait sync.WaitGroup
	for _, r := range all {
		wait.Go(func() {
			defer fault.To(func(err error) { miss(r, err) })
			select {
			case slots <- struct{}{}:
				defer func() { <-slots }()
			case <-ctx.Done():
				miss(r, ctx.Err())
				return
			}
			if err := c.List(ctx, r.Path(namespace, ""), cluster.AsMetaList, nil, func(o cluster.Object) { see(r, o) }); err != nil {
				miss(r, err)
			}
		})
	}
	wait.Wait()
	return missing
}

// tellLeft fills in what is left. What could not be listed is taken from the
// words of the namespace controller, which saw all.
func (s *namespaceRun) tellLeft() {
	f, l := s.facts, &s.left
	s.keepLeft()
	for _, m := range l.missing {
		s.obs.Gaps = append(s.obs.Gaps, "what is left: "+m)
	}
	why := OwnedObjects{missing: l.missing}.Unread()
	switch {
	case why != "":
		f.Unknown("not everything could be listed: "+why, "objects", "older")
		s.saidLeft(why)
	case l.count > report.MostNames:
		f.Unknown(fmt.Sprintf("more than %d; the artifact left has the first %d", report.MostNames, mostKept), "objects")
	default:
		f.Set("objects", steps.StringsOf(l.names))
	}
	if why == "" {
		l.covered = true
		f.Set("remaining", steps.TableOf(counted(l.by)))
		f.Set("holders", steps.TableOf(counted(l.holders)))
		f.Set("older", steps.StringsOf(l.older))
	}
	switch n := len(l.older); {
	case n > 0 && s.absent:
		s.obs.Say(steps.Critical, "There is no namespace %s, but %d objects are stored under its name: %s. They come back inside the next namespace of that name.", s.name, n, steps.Clip(strings.Join(l.older, ", "), 500))
	case n > 0:
		s.obs.Say(steps.Critical, "%d objects are older than namespace %s itself: %s. They are of an earlier namespace of that name, whose finalizers were emptied.", n, s.name, steps.Clip(strings.Join(l.older, ", "), 500))
	}
}

func (s *namespaceRun) keepLeft() {
	if len(s.left.names) == 0 {
		return
	}
	gap := steps.Keep(s.out, "left", steps.MediaText, func(w io.Writer) error {
		text := strings.Join(s.left.names, "\n") + "\n"
		if more := s.left.count - len(s.left.names); more > 0 {
			text += fmt.Sprintf("and %d more\n", more)
		}
		_, err := io.WriteString(w, text)
		return err
	})
	if gap != "" {
		s.obs.Gaps = append(s.obs.Gaps, gap)
	}
}

// saidLeft takes the namespace controller at its word where we could not look.
func (s *namespaceRun) saidLeft(why string) {
	said := map[string]Condition{}
	if !s.absent {
		said = Conditions(s.o)
	}
	content, finalizers := said["NamespaceContentRemaining"], said["NamespaceFinalizersRemaining"]
	if content.Status == "" || finalizers.Status == "" {
		s.facts.Unknown("not everything could be listed: "+why, "remaining", "holders")
		return
	}
	listed := s.left.by
	s.left.by, s.left.holders = saidRemaining(content), saidHolders(finalizers)
	s.left.covered = len(s.left.by) > 0
	for r, n := range s.left.by {
		s.left.covered = s.left.covered && listed[r] >= n
	}
	s.facts.Set("remaining", steps.TableOf(counted(s.left.by)))
	s.facts.Set("holders", steps.TableOf(counted(s.left.holders)))
	s.obs.Say(steps.Info, "What is left is told by the namespace controller, which looked when the condition says; not everything could be listed from here.")
}

func counted(m map[string]int) map[string]string {
	out := map[string]string{}
	for k, n := range m {
		out[k] = fmt.Sprint(n)
	}
	return out
}

var (
	remainingText = late(`([a-z0-9][a-z0-9.-]*) has (\d{1,9}) resource instances`)
	holdersText   = late(`([^\s,]{1,317}) in (\d{1,9}) resource instances`)
)

// saidRemaining reads "configmaps. has 1 resource instances"; kinds of the core
// group end in a dot.
func saidRemaining(c Condition) map[string]int { return saidCounts(c, remainingText()) }

// saidHolders reads "example.com/guard in 1 resource instances".
func saidHolders(c Condition) map[string]int { return saidCounts(c, holdersText()) }

func saidCounts(c Condition, form *regexp.Regexp) map[string]int {
	out := map[string]int{}
	if c.Status != "True" {
		return out
	}
	for _, m := range form.FindAllStringSubmatch(c.message, report.MostNames) {
		if n, err := strconv.Atoi(m[2]); err == nil {
			out[strings.TrimSuffix(m[1], ".")] += n
		}
	}
	return out
}
