package admit

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"handrail/steps"
	"handrail/steps/cluster"
	"handrail/steps/kube/act"
	"handrail/steps/kube/admission"
	"handrail/steps/kube/object"
)

type dryProbe struct{ env steps.Env }

// Probe implements steps.Prober.
func (p dryProbe) Probe(ctx context.Context, in steps.Params, out steps.Sink) (steps.Observation, error) {
	c, t, err := cluster.Reach(ctx, p.env, in, out)
	if err != nil {
		return steps.Observation{}, err
	}
	if admission.Exempt(t.Group, t.Plural) {
		return steps.Observation{}, fmt.Errorf("%s configures admission, which no webhook and no policy sees: there is nothing to rehearse", t)
	}
	w, err := act.NewRehearser(c)
	if err != nil {
		return steps.Observation{}, err
	}
	d := dryRun{c: c, w: w, out: out, update: in.Text("operation") == "update"}
	r, err := d.request(ctx, t, p.env, in)
	if err != nil {
		return steps.Observation{}, err
	}
	one, err := d.send(ctx, r, "rehearsal")
	if err != nil {
		return steps.Observation{}, err
	}
	var peer *outcome
	if name := in.Text("peer"); name != "" {
		of := t
		of.Name = name
		got, err := d.peer(ctx, of)
		if ctx.Err() != nil {
			return steps.Observation{}, ctx.Err()
		}
		if err != nil {
			d.gaps = append(d.gaps, "the peer "+of.String()+": "+steps.Clip(err.Error(), 400))
		}
		peer = got
	}
	return d.observe(t, r, one, peer, in.Text("peer") != ""), nil
}

// dryRun rehearses requests.
type dryRun struct {
	c      *cluster.Client
	w      *act.Sender
	out    steps.Sink
	update bool
	gaps   []string
}

// request is that of the step: of its manifest, or of the object that is there.
func (d *dryRun) request(ctx context.Context, t cluster.Target, env steps.Env, in steps.Params) (act.Request, error) {
	if in.Text("file") == "" {
		return d.live(ctx, t)
	}
	m, err := manifestOf(d.c, env, in, t, d.out)
	if err != nil {
		return act.Request{}, err
	}
	if !d.update {
		return d.creation(t, m)
	}
	body, err := act.Compact(m)
	// As controllers apply: by the server, for a manager of its own, over others.
	return act.Request{Method: http.MethodPatch, Path: t.Path(t.Namespace, t.Name), Media: "application/apply-patch+yaml", Body: body,
		Query: url.Values{"fieldManager": {cluster.FieldManager + "-rehearsal"}, "force": {"true"}, "timeout": {act.ServerTime.String()}}}, err
}

// live is a request about the object that is there: the same again. An update needs none
// of its content, so that of a Secret nothing is read.
func (d *dryRun) live(ctx context.Context, t cluster.Target) (act.Request, error) {
	if d.update {
		return act.Request{Method: http.MethodPatch, Path: t.Path(t.Namespace, t.Name), Media: "application/merge-patch+json", Body: []byte("{}"),
			Query: url.Values{"fieldManager": {cluster.FieldManager}, "timeout": {act.ServerTime.String()}}}, nil
	}
	o, err := d.c.Get(ctx, t.Resource, t.Namespace, t.Name)
	if err != nil {
		return act.Request{}, err
	}
	if object.IsSecret(t.Resource) {
		tellValues(o.Object, d.out)
	}
	return d.creation(t, again(t, o.Object))
}

func (d *dryRun) creation(t cluster.Target, m map[string]any) (act.Request, error) {
	body, err := act.Compact(m)
	return act.Request{Method: http.MethodPost, Path: t.Path(t.Namespace, ""), Media: cluster.AsJSON, Body: body,
		Query: url.Values{"fieldManager": {cluster.FieldManager}, "timeout": {act.ServerTime.String()}}}, err
}

func (d *dryRun) peer(ctx context.Context, t cluster.Target) (*outcome, error) {
	r, err := d.live(ctx, t)
	if err != nil {
		return nil, err
	}
	got, err := d.send(ctx, r, "peer")
	return &got, err
}

// again is an object as it would be made again: without what the server gave it.
func again(t cluster.Target, o map[string]any) map[string]any {
	out := maps.Clone(o)
	delete(out, "status")
	meta := map[string]any{}
	for _, key := range []string{"name", "namespace", "labels", "annotations"} {
		if v, there := metadata(o)[key]; there {
			meta[key] = v
		}
	}
	out["metadata"] = meta
	spec, _ := out["spec"].(map[string]any)
	if spec == nil {
		return out
	}
	spec = maps.Clone(spec)
	out["spec"] = spec
	switch t.Resource.String() {
	case "services":
		if spec["clusterIP"] != "None" {
			delete(spec, "clusterIP")
			delete(spec, "clusterIPs")
		}
		delete(spec, "healthCheckNodePort")
		ports, _ := spec["ports"].([]any)
		list := make([]any, len(ports))
		for i, p := range ports {
			one, _ := p.(map[string]any)
			one = maps.Clone(one)
			delete(one, "nodePort")
			list[i] = one
		}
		spec["ports"] = list
	case "jobs.batch":
		if spec["manualSelector"] != true {
			delete(spec, "selector")
			template, _ := spec["template"].(map[string]any)
			template = maps.Clone(template)
			spec["template"] = template
			meta := maps.Clone(metadata(template))
			labels, _ := meta["labels"].(map[string]any)
			labels = maps.Clone(labels)
			for _, key := range []string{"controller-uid", "batch.kubernetes.io/controller-uid", "job-name", "batch.kubernetes.io/job-name"} {
				delete(labels, key)
			}
			meta["labels"], template["metadata"] = labels, meta
		}
	}
	return out
}

// outcome is what one rehearsal came to.
type outcome struct {
	result string
	denial admission.Denial
	said   string
	warned []string
}

// send rehearses one request, and keeps the answer.
func (d *dryRun) send(ctx context.Context, r act.Request, role string) (outcome, error) {
	a, _, err := d.w.Send(ctx, r.Rehearsal())
	if err != nil {
		return outcome{}, d.c.Explain(r.Method, r.Path, err)
	}
	if gap := steps.Keep(d.out, role, steps.MediaKubernetes, func(w io.Writer) error { _, err := w.Write(a.Body); return err }); gap != "" {
		d.gaps = append(d.gaps, gap)
	}
	o, err := judge(r.Method == http.MethodPost, a.Code, a.Body)
	if err != nil {
		return o, fmt.Errorf("the rehearsal of %s: %w", r.Path, err)
	}
	for _, kv := range a.Warned() {
		o.warned = append(o.warned, kv.Value)
	}
	return o, nil
}

// errUnreadable says that an answer is none of an API server.
var errUnreadable = errors.New("the answer is none of an API server")

// judge says what the answer to a rehearsal means. A creation of what is there fails at
// the storage, which comes after admission: it was admitted.
func judge(create bool, code int, body []byte) (outcome, error) {
	if code/100 == 2 {
		var m metav1.PartialObjectMetadata
		if json.Unmarshal(body, &m) != nil || m.Kind == "" || m.Kind == "Status" || m.Name == "" {
			return outcome{}, fmt.Errorf("%w (%d)", errUnreadable, code)
		}
		return outcome{result: admitted}, nil
	}
	var s metav1.Status
	if json.Unmarshal(body, &s) != nil || s.Kind != "Status" || s.Message == "" || int(s.Code) != code {
		return outcome{}, fmt.Errorf("%w (%d): %q", errUnreadable, code, steps.Clip(string(body), 300))
	}
	if create && code == http.StatusConflict && s.Reason == metav1.StatusReasonAlreadyExists {
		return outcome{result: admitted}, nil
	}
	o := outcome{said: steps.Clip(s.Message, 2000), denial: admission.ReadDenial(s.Message)}
	switch {
	case o.denial.Sort == admission.Down:
		o.result = down
	case o.denial.Sort == admission.NotRehearsed:
		o.result = unrehearsed
	case o.denial.Undecided:
		o.result = undecided
	case o.denial.Sort == admission.ByRBAC:
		o.result = forbidden
	case o.denial.Verdict():
		o.result = denied
	// What admission forbids it says of an object; another 403 may be of a proxy.
	case code == http.StatusForbidden && !strings.Contains(s.Message, " is forbidden: "), code == http.StatusUnauthorized, code == http.StatusNotFound, code == http.StatusTooManyRequests, code >= 500:
		return outcome{}, fmt.Errorf("the server answered %d: %q", code, steps.Clip(s.Message, 600))
	case s.Reason == metav1.StatusReasonInvalid || code == http.StatusBadRequest:
		o.result = invalid
	default:
		o.result = refused
	}
	return o, nil
}

// denies says whether admission refused, known only where something judged.
func (o outcome) denies() (is bool, known bool, why string) {
	switch o.result {
	case admitted:
		return false, true, ""
	case denied, undecided:
		return true, true, ""
	case down:
		return false, false, "the webhook " + o.denial.Webhook + " could not be asked: an outage is no verdict"
	case unrehearsed:
		return false, false, "the webhook " + o.denial.Webhook + " does not support dry runs: it was not asked"
	case forbidden:
		return false, false, "the account that asks may not send the request"
	}
	return false, false, "the server refused it before admission came to a verdict"
}

func (d *dryRun) observe(t cluster.Target, r act.Request, o outcome, peer *outcome, named bool) steps.Observation {
	verb := "create"
	if d.update {
		verb = "apply"
	}
	obs := steps.Observation{Gaps: d.gaps, Command: d.c.Kubectl(t.Namespace, "get", t.Resource.String(), t.Name, "-o", "yaml") + " | " + d.c.Kubectl(t.Namespace, verb, "--dry-run=server", "-f", "-")}
	f := steps.NewFacts(dryFacts())
	f.Set("result", steps.EnumOf(o.result))
	kind := string(o.denial.Sort)
	if kind == "" {
		kind = "none"
	}
	f.Set("deny_kind", steps.EnumOf(kind))
	f.Set("source", steps.StringOf(o.denial.Source()))
	f.Set("policy", steps.StringOf(o.denial.Policy))
	f.Set("binding", steps.StringOf(o.denial.Binding))
	f.Set("rule", steps.StringOf(steps.Clip(o.denial.Rule, 1000)))
	f.Set("webhook", steps.StringOf(o.denial.Webhook))
	f.Set("reasons", steps.StringsOf(clips(o.denial.Reasons)))
	f.Set("said", steps.StringOf(o.said))
	f.Set("warnings", steps.StringsOf(clips(o.warned)))
	setDenies(f, "denied_now", o)
	switch {
	case !named:
		f.Set("peer_result", steps.EnumOf("none"))
		f.Set("peer_said", steps.StringOf(""))
		f.Unknown("no good peer was named", "denies_good")
	case peer == nil || peer.result == "":
		f.Unknown("the peer could not be rehearsed", "peer_result", "peer_said", "denies_good")
	default:
		f.Set("peer_result", steps.EnumOf(peer.result))
		f.Set("peer_said", steps.StringOf(peer.said))
		setDenies(f, "denies_good", *peer)
	}
	obs.Summary = d.summary(t, o, peer)
	switch o.result {
	case down:
		obs.Say(steps.Warning, "The webhook %s could not be asked (%s): nothing judged %s, and the refusal is no verdict.", o.denial.Webhook, o.denial.Cause, t)
	case unrehearsed:
		obs.Say(steps.Info, "The webhook %s has side effects, so the server asks it for no dry run: whether it would refuse %s is not known.", o.denial.Webhook, t)
	case undecided:
		obs.Say(steps.Warning, "%s refuses %s since it could not be evaluated: %s", o.denial.Source(), t, steps.Clip(o.said, 400))
	}
	if peer != nil {
		if is, known, _ := peer.denies(); known && is {
			obs.Say(steps.Warning, "Admission refuses the good peer too: the fault is likelier in what refuses than in %s.", t)
		}
	}
	obs.Findings = append(obs.Findings, d.c.Warnings()...)
	obs.Facts = f.Rest("not rehearsed")
	return obs
}

func setDenies(f steps.Facts, name string, o outcome) {
	if is, known, why := o.denies(); known {
		f.Set(name, steps.BoolOf(is))
	} else {
		f.Unknown(why, name)
	}
}

func clips(list []string) []string {
	var out []string
	for _, s := range list {
		out = append(out, steps.Clip(steps.Flat(s), 400))
	}
	return out
}

func (d *dryRun) summary(t cluster.Target, o outcome, peer *outcome) string {
	what := "a creation"
	if d.update {
		what = "an update"
	}
	text := fmt.Sprintf("Rehearsed %s of %s: %s", what, t, o.result)
	if s := o.denial.Source(); s != "" {
		text += " by " + s
	}
	if peer != nil && peer.result != "" {
		text += "; the good peer: " + peer.result
	}
	return text + "."
}
