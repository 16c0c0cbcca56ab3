package compare

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"handrail/steps"
	"handrail/steps/cluster"
	"handrail/steps/terraform/state"
	"handrail/steps/terraform/tfplan"
	"handrail/steps/terraform/tfstate"
)

// maxRecorded bounds the objects of a state that are looked for.
const maxRecorded = 20_000

func stateFacts() []steps.Field {
	return []steps.Field{
		{Name: "recorded", Type: steps.Int, Doc: "kubernetes objects that the state records"},
		{Name: "present", Type: steps.Int, Doc: "those that are there"},
		{Name: "ghosts", Type: steps.Strings, Doc: "addresses that are recorded and not there"},
		{Name: "strangers", Type: steps.Table, Doc: "address to the UIDs, where another object has the name"},
		{Name: "finalizers", Type: steps.Table, Doc: "address to what has to agree before its object is gone, where anything has"},
		{Name: "kept", Type: steps.Table, Doc: "address of a volume or claim to what becomes of its content, as the volume that lives says: Retain or Delete"},
		{Name: "orphans", Type: steps.Strings, Doc: "objects of the same kinds and namespaces that the tool made and the state does not record"},
		{Name: "unread", Type: steps.Table, Doc: "address to why nothing is known of it"},
		{Name: "unchecked", Type: steps.Table, Doc: "type of resource that is not of a cluster, to how many"},
		{Name: "server", Type: steps.String, Doc: "cluster that was asked"},
	}
}

type stateProbe struct{ env steps.Env }

// stateObject is one kubernetes object of a state.
type stateObject struct {
	address string
	uid     string
	object  tfplan.Object
}

// Probe implements steps.Prober.
func (p stateProbe) Probe(ctx context.Context, in steps.Params, out steps.Sink) (steps.Observation, error) {
	if err := ctx.Err(); err != nil {
		return steps.Observation{}, err
	}
	look, none := cluster.OpenLooker(p.env, out)
	if none != nil && !errors.Is(none, cluster.ErrNoCluster) {
		return steps.Observation{}, none
	}
	var all []stateObject
	other, unread := map[string]int{}, map[string]string{}
	cut := 0
	where, err := state.Visit(ctx, p.env, in, out, func(i *tfstate.Instance) error {
		if i.Mode != "managed" || i.Deposed != "" {
			return nil
		}
		r, ok := recordedOf(i)
		switch {
		case !strings.HasPrefix(i.Type, "kubernetes_"):
			if _, known := other[i.Type]; known || len(other) < 500 {
				other[i.Type]++
			}
		case len(all)+len(unread) >= maxRecorded:
			cut++
		case !ok:
			unread[i.Address] = "its object is not named in the state"
		default:
			all = append(all, r)
		}
		return nil
	})
	if err != nil {
		return steps.Observation{}, err
	}
	if none != nil && len(all)+len(unread) > 0 {
		return steps.Observation{}, none
	}
	obs := steps.Observation{Command: "tofu state list | grep kubernetes_ && kubectl get KIND -n NAMESPACE"}
	f := steps.NewFacts(stateFacts())
	if none == nil {
		f.Set("server", steps.StringOf(look.Server()))
	} else {
		f.Unknown(none.Error()+", and nothing here needs one", "server")
	}
	f.Set("recorded", steps.IntOf(int64(len(all)+len(unread)+cut)))
	counts := map[string]string{}
	for typ, n := range other {
		counts[typ] = strconv.Itoa(n)
	}
	f.Set("unchecked", steps.TableOf(counts))
	c := comparison{inventory: newInventory(look), unread: unread, facts: f, obs: &obs}
	if err := c.hold(ctx, all); err != nil {
		return steps.Observation{}, err
	}
	if cut > 0 {
		f.Unknown(fmt.Sprintf("%d objects more than %d are recorded and were not looked for", cut, maxRecorded), "present", "ghosts", "strangers", "orphans")
	}
	obs.Gaps = append(obs.Gaps, c.gaps(counts)...)
	switch {
	case obs.Summary != "":
	case len(all)+len(unread)+cut == 0:
		obs.Summary = fmt.Sprintf("Nothing that is recorded at %s is of a cluster.", where)
	default:
		obs.Summary = fmt.Sprintf("Of %d recorded objects at %s, %d are there.", len(all)+len(unread), where, c.present)
	}
	obs.Facts = f.Rest("not compared")
	return obs, nil
}

func recordedOf(i *tfstate.Instance) (stateObject, bool) {
	var attributes map[string]any
	if json.Unmarshal(i.Attributes, &attributes) != nil {
		return stateObject{}, false
	}
	r := stateObject{address: i.Address, object: tfplan.ObjectOf(i.Type, attributes)}
	if list, ok := attributes["metadata"].([]any); ok && len(list) == 1 {
		meta, _ := list[0].(map[string]any)
		r.uid, _ = meta["uid"].(string)
	}
	if o, ok := attributes["object"].(map[string]any); ok { // of kubernetes_manifest
		meta, _ := o["metadata"].(map[string]any)
		r.uid, _ = meta["uid"].(string)
	}
	return r, r.object.Known()
}

type comparison struct {
	*inventory
	unread  map[string]string
	facts   steps.Facts
	obs     *steps.Observation
	present int

	finalizers, kept map[string]string
	volumes          int
}

// mostVolumes bounds the volumes that are read whole.
const mostVolumes = 100

// guarded notes what stands between an object that lives and its end.
func (c *comparison) guarded(ctx context.Context, r stateObject, seen cluster.Seen) {
	if len(seen.Finalizers) > 0 {
		c.finalizers[r.address] = strings.Join(seen.Finalizers, ", ")
	}
	if !volume(r.object) {
		return
	}
	if c.volumes++; c.volumes > mostVolumes {
		c.kept[r.address] = fmt.Sprintf("not read: more than %d volumes are recorded", mostVolumes)
		return
	}
	policy, err := c.look.Reclaims(ctx, sought(r.object), r.object.Namespace, r.object.Name)
	if err != nil {
		policy = "not read: " + err.Error()
	}
	c.kept[r.address] = policy
}

// volume reports whether an object is one, or a claim to one.
func volume(o tfplan.Object) bool {
	return o.Resource == "persistentvolumes" || o.Resource == "persistentvolumeclaims" || o.APIVersion == "v1" && (o.Kind == "PersistentVolume" || o.Kind == "PersistentVolumeClaim")
}

// hold holds what is recorded against what is there.
func (c *comparison) hold(ctx context.Context, all []stateObject) error {
	var ghosts []string
	strangers := map[string]string{}
	c.finalizers, c.kept = map[string]string{}, map[string]string{}
	known := map[string]map[string]bool{} // place to names
	asked := 0
	for _, r := range all {
		place, l := c.in(ctx, r.object)
		if err := ctx.Err(); err != nil {
			return err
		}
		if known[place] == nil {
			known[place] = map[string]bool{}
		}
		known[place][r.object.Name] = true
		if l.why != "" {
			c.unread[r.address] = l.why
			continue
		}
		asked++
		seen, there := l.byName[r.object.Name]
		switch {
		case !there:
			ghosts = append(ghosts, r.address)
		case r.uid != "" && seen.UID != r.uid:
			strangers[r.address] = "recorded " + r.uid + ", there " + seen.UID
		default:
			c.present++
			c.guarded(ctx, r, seen)
		}
	}
	c.facts.Set("finalizers", steps.TableOf(c.finalizers))
	c.facts.Set("kept", steps.TableOf(c.kept))
	c.facts.Set("unread", steps.TableOf(c.unread))
	c.facts.Set("present", steps.IntOf(int64(c.present)))
	slices.Sort(ghosts)
	c.facts.Set("ghosts", steps.StringsOf(ghosts))
	c.facts.Set("strangers", steps.TableOf(strangers))
	c.orphans(known)
	if len(c.unread) > 0 {
		c.facts.Unknown(fmt.Sprintf("%d recorded objects could not be looked for", len(c.unread)), "present", "ghosts", "orphans")
	}
	c.conclude(asked, ghosts, strangers)
	return nil
}

// orphans are found among objects of the recorded kinds alone: of other kinds
// it is not known where to look.
func (c *comparison) orphans(known map[string]map[string]bool) {
	var out []string
	for _, place := range slices.Sorted(maps.Keys(known)) {
		for _, name := range slices.Sorted(maps.Keys(c.listed[place].byName)) {
			if s := c.listed[place].byName[name]; !known[place][name] && madeByTool(s) && len(s.Owners) == 0 {
				out = append(out, place+"/"+name)
			}
		}
	}
	c.facts.Set("orphans", steps.StringsOf(out))
	if n := len(out); n > 0 {
		c.obs.Say(steps.Warning, "%d objects were written by the tool and are not in this state, first %s: another state may record them, or a run lost them. A name in managedFields is a lead, not a proof.", n, out[0])
	}
}

func (c *comparison) conclude(asked int, ghosts []string, strangers map[string]string) {
	if asked > 0 && len(ghosts) == asked {
		// Nothing of it is here: likelier another cluster than a disaster.
		why := "none of the recorded objects is on " + c.look.Server() + ": this may be another cluster than the provider's"
		c.obs.Summary = "None of the recorded objects is on this cluster."
		c.obs.Say(steps.Critical, "None of the %d recorded objects is on %s. Make sure that this is the cluster of the provider before anything is called gone.", asked, c.look.Server())
		c.facts.Unknown(why, "present", "ghosts", "orphans")
		return
	}
	if n := len(ghosts); n > 0 {
		c.obs.Say(steps.Warning, "%d objects are recorded and not there, first %s: ghosts. Read them again before a gate relies on it; a plan would make them anew.", n, ghosts[0])
	}
	for _, a := range slices.Sorted(maps.Keys(strangers))[:min(len(strangers), 10)] {
		c.obs.Say(steps.Critical, "%s has the name of another object: %s. It was deleted and created again.", a, strangers[a])
	}
}

// gaps says what was not compared.
func (c *comparison) gaps(other map[string]string) []string {
	var out []string
	if len(other) > 0 {
		out = append(out, fmt.Sprintf("resources of %d types are not of a cluster and were not looked for", len(other)))
	}
	reasons := map[string]int{}
	for _, why := range c.unread {
		reasons[why]++
	}
	for _, why := range slices.Sorted(maps.Keys(reasons))[:min(len(reasons), 10)] {
		out = append(out, fmt.Sprintf("%d objects: %s", reasons[why], why))
	}
	return out
}
