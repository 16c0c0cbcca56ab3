package sweep

import (
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"handrail/steps"
	"handrail/steps/kube/allowlist"
	"handrail/steps/kube/nodereport"
	"handrail/steps/kube/persist"
	"handrail/steps/kube/report"
)

const (
	// staleReport is when a report no longer says how the node is.
	staleReport = time.Hour
	// mostReports bounds the files of a folder of reports.
	mostReports = 5000
)

func nodeFacts() []steps.Field {
	items := func(name, doc string) steps.Field {
		return steps.Field{Name: name, Type: steps.Strings, Doc: doc + "; unknown where not all was looked at, and above 500"}
	}
	return []steps.Field{
		{Name: "node", Type: steps.String, Doc: "name of the node, as it says"},
		{Name: "at", Type: steps.Time, Doc: "when the report was made, by the clock of the node"},
		items(nodereport.Timers, "timers of systemd, with what they start"),
		items(nodereport.Cron, "files of cron and at"),
		items(nodereport.Processes, "processes that hold a kubeconfig, or run from where programs are hidden"),
		items(nodereport.Spoofed, "processes with the name of a kernel thread that are none of the kernel's"),
		items(nodereport.Immutable, "files that not even root can change until the mark is taken off"),
		items(nodereport.Supervised, "services that no package brought, supervisors, and what is loaded at start"),
		items(nodereport.StaticPods, "manifests from which the kubelet makes Pods by itself"),
		items(nodereport.Containers, "containers outside of Kubernetes"),
		{Name: "unread", Type: steps.Strings, Doc: "what the script could not look at, or what was lost on the way"},
		{Name: "complete", Type: steps.Bool, Doc: "true when every section was looked through by root and nothing was lost, never false"},
	}
}

type nodeProbe struct{ env steps.Env }

// Probe implements steps.Prober.
func (p nodeProbe) Probe(ctx context.Context, in steps.Params, out steps.Sink) (steps.Observation, error) {
	if err := ctx.Err(); err != nil {
		return steps.Observation{}, err
	}
	name := in.Text("file")
	reports, raw, err := readReports(p.env, name)
	if err != nil {
		return steps.Observation{}, err
	}
	if len(reports) > 1 {
		return steps.Observation{}, fmt.Errorf("report %q: it holds the reports of %d nodes; give one file each, or give the file to kube/persistence", steps.Clip(name, 200), len(reports))
	}
	r := reports[0]
	obs := steps.Observation{Command: "ssh " + report.OrNothing(steps.Quote(r.Node)) + " 'sudo sh -s' < node-report.sh"}
	if gap := steps.Keep(out, "report", steps.MediaText, func(w io.Writer) error { _, err := w.Write(raw); return err }); gap != "" {
		obs.Gaps = append(obs.Gaps, gap)
	}
	f := steps.NewFacts(nodeFacts())
	if r.Node != "" {
		f.Set("node", steps.StringOf(r.Node))
	}
	if !r.At.IsZero() {
		f.Set("at", steps.TimeOf(r.At))
	}
	f.Set("unread", steps.StringsOf(r.Unread))
	if r.Complete() {
		f.Set("complete", steps.BoolOf(true))
	} else {
		f.Unknown(steps.Clip(strings.Join(r.Unread, "; "), 1000), "complete")
	}
	var found []string
	for _, section := range nodereport.Sections() {
		var names []string
		for _, it := range r.Items[section] {
			names = append(names, nodeText(it))
		}
		found = append(found, fmt.Sprintf("%s: %d", strings.ReplaceAll(section, "_", " "), len(names)))
		switch why := sectionUnread(r, section); {
		case why != "":
			f.Unknown(why+seenSoFar(names), section)
		case len(names) > report.MostNames:
			f.Unknown(fmt.Sprintf("%d, more than %d; the artifact report has them all", len(names), report.MostNames), section)
		default:
			f.Set(section, steps.StringsOf(names))
		}
	}
	obs.Findings = append(nodeFindings(r), steps.Finding{Level: steps.Info, Say: "A report is what the node says of itself: the owner of the node can make it lie."})
	obs.Gaps = append(obs.Gaps, r.Unread...)
	obs.Summary = fmt.Sprintf("Node %s at %s: %s.", report.OrNothing(r.Node), r.At.UTC().Format(time.RFC3339), strings.Join(found, ", "))
	obs.Facts = f.Rest("the report does not say")
	return obs, nil
}

func nodeText(it nodereport.Item) string {
	if it.Detail == "" {
		return it.Name
	}
	return it.Name + " (" + steps.Clip(it.Detail, 200) + ")"
}

func seenSoFar(names []string) string {
	if len(names) == 0 {
		return ""
	}
	return "; seen so far: " + steps.Clip(strings.Join(names, ", "), 600)
}

// sectionUnread says why a section is not known whole. What is wrong with the
// report as a whole is wrong with each.
func sectionUnread(r nodereport.Report, section string) string {
	var out []string
	for _, why := range r.Unread {
		of, _, named := strings.Cut(why, ":")
		if !named || of == section || !slices.Contains(nodereport.Sections(), of) {
			out = append(out, why)
		}
	}
	return steps.Clip(strings.Join(out, "; "), 1000)
}

// nodeFindings tells what should not be on a node.
func nodeFindings(r nodereport.Report) []steps.Finding {
	var out []steps.Finding
	say := func(section, format string, most int) {
		for i, it := range r.Items[section] {
			if i == most {
				out = append(out, steps.Findingf(steps.Warning, "%s: %d more.", section, len(r.Items[section])-most))
				return
			}
			level := steps.Warning
			if section == nodereport.Spoofed {
				level = steps.Critical
			}
			out = append(out, steps.Findingf(level, format, nodeText(it)))
		}
	}
	say(nodereport.Spoofed, "This process has the name of a kernel thread and is not one: %s. Copy its program before you end it.", mostSaid)
	say(nodereport.Immutable, "This file cannot be changed until its mark is taken off with chattr: %s.", mostSaid)
	say(nodereport.Processes, "Look what this process is for: %s.", mostSaid)
	return out
}

// readReports reads the reports of one file.
func readReports(env steps.Env, name string) ([]nodereport.Report, []byte, error) {
	raw, err := steps.ReadFile(steps.Below(env.Dir, name), nodereport.MaxSize)
	if err != nil {
		return nil, nil, fmt.Errorf("report %q: %w", steps.Clip(name, 200), err)
	}
	reports, err := nodereport.Parse(string(raw))
	if err != nil {
		return nil, nil, fmt.Errorf("report %q: %w; make one with `handrail step script kube/node-report`", steps.Clip(name, 200), err)
	}
	return reports, raw, nil
}

// readNodes holds the reports against the nodes that there are. A node without a
// whole and fresh report is unread.
func (w *collector) readNodes() {
	reports := map[string]nodereport.Report{}
	miss := func(format string, args ...any) { w.miss(fmt.Sprintf(format, args...), allowlist.NodeWriters) }
	for _, name := range w.reportFiles(miss) {
		list, _, err := readReports(w.Env, name)
		if err != nil {
			miss("%v", err)
			continue
		}
		for _, r := range list {
			before, twice := reports[r.Node]
			if r.Node == "" {
				miss("report %q does not say of which node it is", steps.Clip(name, 200))
			} else if !twice || r.At.After(before.At) {
				reports[r.Node] = r
			}
		}
	}
	expected := w.in["expect_nodes"].Strings()
	if len(expected) == 0 {
		expected = w.nodes // what could not be listed is missing already
	}
	for _, node := range expected {
		if _, there := reports[node]; !there {
			miss("node %s: there is no report of it", steps.Clip(node, 253))
		}
	}
	for _, node := range slices.Sorted(maps.Keys(reports)) {
		r := reports[node]
		if !slices.Contains(expected, node) {
			w.obs.Say(steps.Warning, "There is a report of node %s, which is not expected. Look whether the API names it otherwise.", node)
		}
		if age := w.Env.Now().Sub(r.At); age > staleReport || age < -staleReport {
			miss("node %s: its report is of %s, %s from now; make it anew", node, r.At.UTC().Format(time.RFC3339), age.Round(time.Minute))
		}
		for _, why := range r.Unread {
			miss("node %s: %s", node, why)
		}
		w.nodeItems(r)
	}
}

// reportFiles names the files of reports that were given.
func (w *collector) reportFiles(miss func(string, ...any)) []string {
	name := w.in.Text("nodes")
	if name == "" {
		return nil
	}
	full := name
	if !filepath.IsAbs(full) {
		full = filepath.Join(w.Env.Dir, full)
	}
	at, err := os.Stat(full)
	switch {
	case err != nil:
		miss("the reports %q: %v", steps.Clip(name, 200), err)
		return nil
	case !at.IsDir():
		return []string{full}
	}
	entries, err := os.ReadDir(full)
	if err != nil || len(entries) > mostReports {
		miss("the reports %q: %d files, %v; %d are read at most", steps.Clip(name, 200), len(entries), err, mostReports)
		return nil
	}
	var out []string
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), ".") && !e.IsDir() {
			out = append(out, filepath.Join(full, e.Name()))
		}
	}
	return out
}

// nodeItems makes entries of a report. The digest is of the content, so that one
// entry can stand for all nodes of an image; where the script could not tell the
// content, it is of what it saw.
func (w *collector) nodeItems(r nodereport.Report) {
	seen := map[allowlist.Thing]bool{}
	for _, section := range nodereport.Sections() {
		for _, it := range r.Items[section] {
			matters := []string{section, it.Name, it.Hash}
			if len(it.Hash) < 8 {
				matters = append(matters, it.Detail)
			}
			t := allowlist.Thing{Category: allowlist.NodeWriters, Node: r.Node, Name: section + "/" + it.Name, Digest: persist.Sum(matters)}
			if !seen[t] {
				seen[t] = true
				w.add(found{Thing: t, what: it.Detail})
			}
		}
	}
}
