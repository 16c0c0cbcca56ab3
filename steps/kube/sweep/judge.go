package sweep

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"handrail/steps"
	"handrail/steps/kube/allowlist"
	"handrail/steps/kube/report"
)

// judge asks of each entry whether the team can account for it, and fills in the
// facts.
func (w *collector) judge() {
	list, why := w.allowed()
	if why == "" && w.uid == "" && w.in.Text("allow") != "" {
		why = "which cluster this is could not be read, so it is unknown which entries of the allow-list apply to it"
	}
	index := list.For(w.uid, w.Env.Now())
	judged := w.found[:0]
	open, beyond := 0, 0
	for _, f := range w.found {
		v := index.Judge(f.Thing)
		if f.state = v.State; f.state != allowlist.Unaccounted {
			by := v.By
			f.by = &by
		}
		if len(w.asked()) > 0 && f.reach != nil && !f.reach() {
			beyond++
			continue
		}
		if judged = append(judged, f); f.state != allowlist.Accounted {
			open++
		}
	}
	clear(w.found[len(judged):])
	w.found = judged
	cats := allowlist.Categories()
	slices.SortStableFunc(w.found, func(a, b found) int {
		return cmp.Or(cmp.Compare(slices.Index(cats, a.Category), slices.Index(cats, b.Category)), cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Node, b.Node), cmp.Compare(a.Name, b.Name))
	})
	w.keepEntries(open)
	w.tell(open, why)
	w.sayOf(index, beyond)
}

// open shows each entry that is not accounted for.
func (w *collector) open(yield func(found) bool) {
	for _, f := range w.found {
		if f.state != allowlist.Accounted && !yield(f) {
			return
		}
	}
}

// allowed reads the allow-list; why says that it is not known what it says.
func (w *collector) allowed() (allowlist.List, string) {
	name := w.in.Text("allow")
	if name == "" {
		w.obs.Say(steps.Info, "No allow-list was given, so no entry is accounted for. The artifact allow proposes one for review.")
		return allowlist.List{}, ""
	}
	raw, err := steps.ReadFile(steps.Below(w.Env.Dir, name), allowlist.MaxSize)
	var list allowlist.List
	if err == nil {
		list, err = allowlist.Parse(raw)
	}
	if err != nil {
		why := fmt.Sprintf("the allow-list %q cannot be read: %v", steps.Clip(name, 200), err)
		w.obs.Gaps = append(w.obs.Gaps, why)
		return allowlist.List{}, why
	}
	return list, ""
}

// title is how an entry is told: category, place and name, and why it is open.
func (f found) title() string {
	at := f.Namespace
	if f.Node != "" {
		at = "node " + f.Node
	}
	if at != "" {
		at += "/"
	}
	switch f.state {
	case allowlist.Changed:
		return fmt.Sprintf("%s%s (changed since %s accounted for it)", at, f.Name, steps.Clip(f.accounts(), 100))
	case allowlist.Expired:
		return fmt.Sprintf("%s%s (%s accounted for it until %s)", at, f.Name, steps.Clip(f.accounts(), 100), f.by.Until.Format("2006-01-02"))
	}
	return at + f.Name
}

func (w *collector) tell(open int, why string) {
	f := w.facts
	unread := w.unread()
	f.Set("unread", steps.StringsOf(unread[:min(len(unread), report.MostNames)]))
	w.obs.Gaps = append(w.obs.Gaps, unread...)
	if w.uid == "" {
		f.Unknown("the namespace kube-system cannot be read", "cluster")
	} else {
		f.Set("cluster", steps.IdentOf(w.uid))
	}
	totals, unaccounted := map[string]int{}, map[string]int{}
	names := map[string][]string{} // no more than are told
	var all []string
	for _, e := range w.found {
		totals[e.Category]++
	}
	for e := range w.open {
		if unaccounted[e.Category]++; unaccounted[e.Category] <= report.MostNames {
			names[e.Category] = append(names[e.Category], e.title())
		}
		if len(all) < report.MostNames {
			all = append(all, e.Category+" "+e.title())
		}
	}
	counts := map[string]string{}
	for _, c := range allowlist.Categories() {
		total, mine := totals[c], unaccounted[c]
		counts[c] = fmt.Sprintf("%d, %d unaccounted for", total, mine)
		lost := w.missing[c]
		switch {
		case len(lost) > 0:
			f.Unknown("not all read: "+steps.Clip(strings.Join(lost, "; "), 1000), c)
		case why != "":
			f.Unknown(why, c)
		case mine > report.MostNames:
			f.Unknown(fmt.Sprintf("%d, more than %d; the artifact entries has them all", mine, report.MostNames), c)
		default:
			f.Set(c, steps.StringsOf(names[c]))
		}
	}
	switch {
	case len(unread) > 0:
		f.Unknown("not all was read; the artifact entries has what was", "counts")
	case why != "":
		f.Unknown(why, "counts")
	default:
		f.Set("counts", steps.TableOf(counts))
	}
	w.total(open, all, unread, why)
}

// total fills in what is said of all categories together. A count of what was
// read is a count of everything only when everything was read.
func (w *collector) total(open int, all, unread []string, why string) {
	f := w.facts
	if len(unread) > 0 {
		first := fmt.Sprintf("%d of the sweep could not be read, first %s", len(unread), unread[0])
		f.Unknown(first, "complete", "entries", "unaccounted", "unaccounted_list")
	} else {
		f.Set("complete", steps.BoolOf(true))
		f.Set("entries", steps.IntOf(int64(len(w.found))))
	}
	switch {
	case why != "":
		f.Unknown(why, "unaccounted", "unaccounted_list", "dirty")
	case len(unread) > 0 && open == 0:
		f.Unknown("nothing unaccounted for was found, but not all was read", "dirty")
	case len(unread) > 0:
		f.Set("dirty", steps.BoolOf(true))
	default:
		f.Set("dirty", steps.BoolOf(open > 0))
		f.Set("unaccounted", steps.IntOf(int64(open)))
		if open > report.MostNames {
			f.Unknown(fmt.Sprintf("%d, more than %d; the artifact entries has them all", open, report.MostNames), "unaccounted_list")
		} else {
			f.Set("unaccounted_list", steps.StringsOf(all))
		}
	}
	w.obs.Command = w.Kubectl("", "get", "cronjobs,jobs,validatingwebhookconfigurations,mutatingwebhookconfigurations,clusterrolebindings,rolebindings", "-A")
	switch {
	case why != "":
		w.obs.Summary = fmt.Sprintf("%d entries found, and %s.", len(w.found), why)
	case len(unread) > 0:
		w.obs.Summary = fmt.Sprintf("%d entries found, %d unaccounted for, and %d of the sweep could not be read.", len(w.found), open, len(unread))
	case open == 0:
		w.obs.Summary = fmt.Sprintf("%d entries in every category, all accounted for.", len(w.found))
	default:
		w.obs.Summary = fmt.Sprintf("%d entries in every category; %d of them unaccounted for.", len(w.found), open)
	}
}

// unread names what could not be read, by category.
func (w *collector) unread() []string {
	var out []string
	for _, c := range allowlist.Categories() {
		lost := slices.Clone(w.missing[c])
		slices.Sort(lost)
		for _, why := range slices.Compact(lost) {
			out = append(out, c+": "+why)
		}
	}
	return out
}

// mostSaid bounds the findings of one category.
const mostSaid = 20

func (w *collector) sayOf(index *allowlist.Index, beyond int) {
	said := map[string]int{}
	for e := range w.open {
		if said[e.Category]++; said[e.Category] > mostSaid {
			continue
		}
		level := steps.Warning
		if e.state == allowlist.Changed || strings.HasPrefix(e.Name, "spoofed/") {
			level = steps.Critical
		}
		w.obs.Say(level, "%s: %s. %s", e.Category, e.title(), steps.Clip(e.what, 400))
	}
	for _, c := range allowlist.Categories() {
		if n := said[c]; n > mostSaid {
			w.obs.Say(steps.Warning, "%s: %d more unaccounted for; the artifact entries has them all.", c, n-mostSaid)
		}
	}
	if n := len(index.Unused()); n > 0 {
		w.obs.Say(steps.Info, "%d entries of the allow-list are about nothing that is there, first line %d.", n, index.Unused()[0].Line)
	}
	if n := len(w.graph.Dangling); n > 0 {
		w.obs.Say(steps.Info, "%d bindings name a role that is not there and grant nothing until it is created, first %s.", n, w.graph.Dangling[0])
	}
	if beyond > 0 {
		w.obs.Say(steps.Warning, "%d entries were left out, since by RBAC and selectors they cannot touch %s. One that carries a kubeconfig of its own could.", beyond, strings.Join(w.asked(), ", "))
	}
	w.obs.Say(steps.Info, "Who may write is told by RBAC alone: the Node authorizer, a webhook or the identity service of a cloud may let others in. %d grants are those that the API server makes itself.", w.graph.Own)
}

// keepEntries keeps all entries, and a proposal for those that are open.
func (w *collector) keepEntries(open int) {
	keep := func(role string, write func(io.Writer) error) {
		if gap := steps.Keep(w.out, role, steps.MediaText, write); gap != "" {
			w.obs.Gaps = append(w.obs.Gaps, gap)
		}
	}
	keep("entries", func(to io.Writer) error {
		b := bufio.NewWriter(to)
		fmt.Fprintln(b, "CATEGORY\tSTATE\tNAMESPACE\tNODE\tNAME\tDIGEST\tACCOUNTS\tWHAT")
		for _, e := range w.found {
			fmt.Fprintln(b, strings.Join([]string{e.Category, string(e.state), steps.Flat(e.Namespace), steps.Flat(e.Node), steps.Flat(e.Name), e.Digest, steps.Flat(e.accounts()), steps.Flat(e.what)}, "\t"))
		}
		return b.Flush()
	})
	if open == 0 || w.uid == "" {
		return
	}
	keep("allow", func(to io.Writer) error {
		return allowlist.Propose(to, w.uid, "this", func(yield func(allowlist.Thing) bool) {
			for e := range w.open {
				if !yield(e.Thing) {
					return
				}
			}
		})
	})
}
