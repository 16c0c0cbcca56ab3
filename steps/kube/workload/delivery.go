package workload

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"handrail/steps"
	"handrail/steps/cluster"
	"handrail/steps/kube/podstate"
	"handrail/steps/kube/report"
)

func deliveryFacts() []steps.Field {
	return []steps.Field{
		{Name: "exists", Type: steps.Bool, Doc: "whether the Secret is there"},
		{Name: "status", Type: steps.Enum, Values: deliveryStatuses(), Doc: "delivered, wrong, late or denied: four different repairs. Delivered says that what its source had has come, not that it is right"},
		{Name: "fault", Type: steps.Enum, Values: deliveryFaults(), Doc: "which part is at fault: identity of the store, reference, keys that lack, a write by hand, two controllers, an older version in the source, the sync itself, or nothing that delivers it"},
		{Name: "why", Type: steps.String, Doc: "the same in words"},
		{Name: "by", Type: steps.Enum, Values: deliverers(), Doc: "what delivers it; other where another object owns it, hand where nothing that could be read does"},
		{Name: "carrier", Type: steps.String, Doc: "the object that delivers it, empty by hand"},
		{Name: "resource", Type: steps.String, Doc: "its resource"},
		{Name: "name", Type: steps.String, Doc: "its name"},
		{Name: "namespace", Type: steps.String, Doc: "its namespace"},
		{Name: "uid", Type: steps.Ident, Doc: "its UID"},
		{Name: "resync", Type: steps.String, Doc: "the patch of one annotation by which its controller asks the source now, for kube/patch; unknown where it has no such annotation"},
		{Name: "ready", Type: steps.Bool, Doc: "its condition Ready or Synced"},
		{Name: "says", Type: steps.String, Doc: "what it says of itself, and the newest warning about it"},
		{Name: "stores", Type: steps.Strings, Doc: "the stores that it asks, with what each says of itself"},
		{Name: "store_ready", Type: steps.Bool, Doc: "whether each store is ready"},
		{Name: "refreshed", Type: steps.Time, Doc: "when its source was asked last; this moves also where nothing changed"},
		{Name: "asking", Type: steps.Bool, Doc: "whether its controller was told to ask the source now, and the answer is still to come: neither a fetch, nor a failure that lasts for 10 seconds"},
		{Name: "interval", Type: steps.Duration, Doc: "how often its source is asked; 0 where it is not asked again"},
		{Name: "held", Type: steps.String, Doc: "why its source is not asked again by itself, empty where it is"},
		{Name: "written", Type: steps.Time, Doc: "when a key of the Secret was last written"},
		{Name: "writer", Type: steps.String, Doc: "who wrote it then"},
		{Name: "version", Type: steps.String, Doc: "tokens of its values under the key of the bundle: another text where a value is another one. Times of writes do not tell that, since a controller that writes a label moves them too"},
		{Name: "keys", Type: steps.Strings, Doc: "the names of its keys, without their values"},
		{Name: "lacking", Type: steps.Strings, Doc: "keys that a consumer wants and that are not in it"},
		{Name: "consumers", Type: steps.Strings, Doc: "workloads of the namespace whose Pods take it, as kind/name"},
		{Name: "behind", Type: steps.Strings, Doc: "containers that run with what was there before: they took it at their start, as variables or by subPath, and it was written since"},
		{Name: "files", Type: steps.Strings, Doc: "containers that have it as files, which the kubelet refreshes within about two minutes"},
		{Name: "pulls", Type: steps.Strings, Doc: "Pods that pull their images with it"},
		{Name: "unlisted", Type: steps.Strings, Doc: "registries from which a Pod cannot pull with this Secret alone, and for which it has no login"},
		{Name: "failing", Type: steps.Strings, Doc: "containers that take it and do not run, with the reason that their kubelet names"},
	}
}

type deliveryProbe struct{ env steps.Env }

// deliveryRun is one run of the probe.
type deliveryRun struct {
	report.Report
	c        *cluster.Client
	ns, name string
	facts    steps.Facts
	d        deliveryState

	logins []string // registries for which a pull secret has one
	opened bool     // and whether its values were read

	brought []string // keys that an ExternalSecret names
	merges  bool     // it adds its keys to those of others

	kind, carrierName, carrierUID, carrierNS string
}

// Probe implements steps.Prober.
func (p deliveryProbe) Probe(ctx context.Context, in steps.Params, out steps.Sink) (steps.Observation, error) {
	inner, turned, cancel := report.Deadline(ctx)
	defer cancel()
	c, err := cluster.Connect(p.env, out)
	if err != nil {
		return steps.Observation{}, err
	}
	r := &deliveryRun{c: c, ns: c.NamespaceOf(in), name: in.Text("secret"), facts: steps.NewFacts(deliveryFacts())}
	if at := in["rotated"]; at.Known() {
		r.d.rotated = at.Time()
	}
	books := booksOf(inner, c, r.ns, rotationSource{secret: true, name: r.name})
	if books.absent && r.aim(inner) {
		books = booksOf(inner, c, r.ns, rotationSource{secret: true, name: r.name})
	}
	// Metadata alone; what is read of values is in version.
	r.Obs.Command = c.Kubectl(r.ns, "get", "secret", r.name, "--show-managed-fields", "-o", "jsonpath={.metadata.managedFields}")
	if books.why != "" {
		return steps.Observation{}, report.Cause(turned(), errors.New(books.why))
	}
	r.d.exists = !books.absent
	f := r.facts
	md := cluster.Object{}
	if r.d.exists {
		md = books.Object
	}
	unread := ""
	if err := r.carried(inner, md); err != nil {
		unread = "what delivers it could not be read: " + report.Why(err)
		r.Gap("%s", unread)
	}
	r.warned(inner)
	// A controller writes the Secret and then says that it fetched: what it says goes with a Secret that is read after it.
	if books = booksOf(inner, c, r.ns, rotationSource{secret: true, name: r.name}); books.why != "" {
		return steps.Observation{}, report.Cause(turned(), errors.New(books.why))
	}
	r.d.exists = !books.absent
	f.Set("exists", steps.BoolOf(r.d.exists))
	keys, unwritten := r.keys(books)
	r.version(inner, out)
	r.consumed(inner, keys, books, unwritten)
	if turned() != nil {
		return steps.Observation{}, turned()
	}
	r.settle(unread, unwritten)
	r.Obs.Findings = append(r.Obs.Findings, c.Warnings()...)
	r.Obs.Facts = f.Rest("nothing says so")
	return r.Obs, nil
}

// keys reads from the books which keys the Secret has, and when one was last written.
func (r *deliveryRun) keys(b rotationBooks) (keys []string, why string) {
	f := r.facts
	if b.absent {
		f.Unknown("the Secret is not there", "written", "writer", "keys")
		return nil, ""
	}
	keys, why = b.keys()
	if why != "" {
		f.Unknown(why, "written", "writer", "keys")
		r.Gap("secret/%s: %s", r.name, why)
		return nil, why
	}
	f.Set("keys", steps.StringsOf(keys))
	by := ""
	for _, key := range keys {
		at, who, unsure := b.written(key)
		if unsure != "" {
			f.Unknown(unsure, "written", "writer")
			r.Gap("secret/%s key %s: %s", r.name, key, unsure)
			return keys, unsure
		}
		if at.After(r.d.written) {
			r.d.written, by = at, who
		}
		if r.beside(key, at, who) && r.d.beside == "" {
			r.d.beside = fmt.Sprintf("key %s was written by %s at %s, and not by %s", steps.Clip(key, 253), who, stamp(at), r.d.carrier)
		}
	}
	if len(keys) == 0 {
		f.Unknown("it has no key", "written", "writer")
		return keys, ""
	}
	f.Set("written", steps.TimeOf(r.d.written))
	f.Set("writer", steps.StringOf(by))
	return keys, ""
}

// beside says that a key was written by a person's tool after its controller looked last. An
// older write that its controller left is one that it agrees with.
func (r *deliveryRun) beside(key string, at time.Time, who string) bool {
	if r.d.carrier == "" || r.d.by == byExternal && (r.merges && !slices.Contains(r.brought, key) || !at.After(r.d.refreshed) || strings.HasPrefix(who, "external")) {
		return false
	}
	return r.d.by == byExternal || strings.HasPrefix(who, "kubectl")
}

// warned keeps the newest warning about what delivers it: the condition of an ExternalSecret
// does not say why.
func (r *deliveryRun) warned(ctx context.Context) {
	if r.carrierUID == "" || r.d.ready == "True" {
		return
	}
	h, err := eventsIn(ctx, r.c, r.carrierNS, eventsAbout(r.kind, r.carrierName))
	if err != nil {
		r.Gap("events of %s: %s", r.d.carrier, report.Why(err))
		return
	}
	for _, e := range slices.Backward(h.events()) {
		if e.Type == "Warning" && e.InvolvedObject.UID == r.carrierUID {
			r.d.event = steps.OneLine(e.Message, 400)
			return
		}
	}
}

// settle judges, and says what was judged.
func (r *deliveryRun) settle(unread, unwritten string) {
	f, d := r.facts, &r.d
	d.now, _ = r.c.Now()
	status, fault, why := d.judge()
	switch {
	case unread != "":
		status, why = "", unread
	case unwritten != "" && status == deliveryDone:
		status, why = "", "when it was written cannot be told: "+unwritten
	}
	if status == "" {
		f.Unknown(why, "status", "fault", "why")
	} else {
		f.Set("status", steps.EnumOf(status))
		f.Set("fault", steps.EnumOf(fault))
		f.Set("why", steps.StringOf(steps.Clip(why, 600)))
	}
	if unread == "" {
		r.carrier()
	} else {
		f.Unknown(unread, "by", "carrier", "resource", "name", "namespace", "uid", "ready", "stores", "store_ready")
	}
	head := fmt.Sprintf("secret/%s/%s", r.ns, r.name)
	switch status {
	case "":
		r.Obs.Summary = fmt.Sprintf("%s: how it stands cannot be told: %s.", head, report.Ended(why))
	case deliveryDone:
		r.Obs.Summary = fmt.Sprintf("%s is delivered: %s.", head, report.Ended(why))
	default:
		r.Obs.Summary = fmt.Sprintf("%s is %s (%s): %s.", head, status, fault, report.Ended(why))
		r.Obs.Say(steps.Warning, "%s.", report.Ended(strings.ToUpper(why[:1])+why[1:]))
	}
	for _, line := range f.Got("behind").Strings() {
		r.Obs.Say(steps.Warning, "%s", line)
	}
}

func (r *deliveryRun) carrier() {
	f, d := r.facts, r.d
	f.Set("by", steps.EnumOf(d.by))
	f.Set("carrier", steps.StringOf(d.carrier))
	if d.ready == "True" || d.ready == "False" {
		f.Set("ready", steps.BoolOf(d.ready == "True"))
	}
	f.Set("says", steps.StringOf(strings.TrimSpace(steps.Clip(d.says+" "+d.event, 800))))
	lines, ready, unsure, unread := []string{}, true, "", ""
	for _, s := range d.stores {
		words := s.label + " is ready"
		switch {
		case s.unread != "":
			unread, unsure = s.label+" could not be read: "+s.unread, s.unread
			continue
		case s.absent:
			words, ready = s.label+" does not exist", false
		case s.ready == "":
			words, unsure = s.label+" has no condition yet", "a store has no condition yet"
		case s.ready != "True":
			words, ready = s.label+" is not ready: "+said(s.says), false
		}
		lines = append(lines, words)
	}
	if unread != "" {
		f.Unknown(unread, "stores")
	} else {
		f.Set("stores", steps.StringsOf(lines))
	}
	switch {
	case len(d.stores) == 0:
		f.Unknown("it asks no store", "store_ready")
	case ready && unsure != "":
		f.Unknown(unsure, "store_ready")
	default:
		f.Set("store_ready", steps.BoolOf(ready))
	}
	if !d.refreshed.IsZero() {
		f.Set("refreshed", steps.TimeOf(d.refreshed))
	}
	if asking, unsure := d.asking(); unsure != "" {
		f.Unknown(unsure, "asking")
	} else {
		f.Set("asking", steps.BoolOf(asking))
	}
	if d.by == byExternal {
		f.Set("interval", steps.DurationOf(d.interval))
	}
	f.Set("held", steps.StringOf(d.held))
}

// consumed reads the Pods of the namespace that take the Secret.
func (r *deliveryRun) consumed(ctx context.Context, keys []string, b rotationBooks, unwritten string) {
	f := r.facts
	var uses []secretUse
	owners, files, pulls, failing := []string{}, []string{}, []string{}, []string{}
	add := func(list *[]string, line string) {
		if !slices.Contains(*list, line) && len(*list) < report.MostNames {
			*list = append(*list, line)
		}
	}
	err := cluster.Each(ctx, r.c, cluster.Pods().Path(r.ns, ""), nil, func(p podstate.Pod) {
		if p.Metadata.DeletionTimestamp != nil || p.Status.Phase == "Succeeded" || p.Status.Phase == "Failed" {
			return
		}
		mine, pull := secretUses(p, r.name)
		if pull {
			add(&pulls, p.Metadata.Name)
			for _, host := range unlisted(p, r.logins) {
				add(&r.d.unlisted, steps.Clip(host, 253))
			}
		}
		if len(mine) == 0 && !pull {
			return
		}
		add(&owners, topOf(p))
		uses = append(uses, mine...)
		for _, u := range mine {
			if !u.kept && u.container != "" {
				add(&files, fmt.Sprintf("container %s of pod %s", u.container, u.pod))
			}
		}
		for _, line := range troubled(p, mine, pull) {
			add(&failing, line)
		}
	})
	if err != nil {
		why := "the Pods of the namespace could not be read: " + report.Why(err)
		f.Unknown(why, "consumers", "behind", "files", "pulls", "unlisted", "failing", "lacking")
		r.Gap("%s", why)
		return
	}
	for name, list := range map[string][]string{"consumers": owners, "files": files, "pulls": pulls, "failing": failing} {
		slices.Sort(list)
		f.Set(name, steps.StringsOf(list))
	}
	switch {
	case r.opened:
		f.Set("unlisted", steps.StringsOf(append([]string{}, r.d.unlisted...)))
	case r.d.exists:
		r.d.unlisted = nil
		f.Unknown("its values were not read", "unlisted")
	default:
		r.d.unlisted = nil
		f.Unknown("the Secret is not there", "unlisted")
	}
	if unwritten != "" {
		f.Unknown(unwritten, "behind", "lacking")
		return
	}
	if r.d.exists {
		r.d.missing = keysWanted(uses, keys)
	}
	f.Set("lacking", steps.StringsOf(append([]string{}, r.d.missing...)))
	behind := []string{}
	for _, u := range uses {
		if r.d.exists && u.has(r.d.written, b.GetCreationTimestamp().Time) {
			add(&behind, fmt.Sprintf("container %s of pod %s started %s and took it %s; it was written at %s", u.container, u.pod, stamp(u.started), u.how, stamp(r.d.written)))
		}
	}
	f.Set("behind", steps.StringsOf(behind))
}
