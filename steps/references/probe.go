package references

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"handrail/steps"
)

// Kinds returns the step kinds of this package.
func Kinds() []steps.Kind {
	return []steps.Kind{{
		Name: "references/search", Class: steps.Probe, Facts: facts(),
		Doc: "Searches what you name for the names of one server: working copies of repositories, saved zones of DNS, exports of secrets, dashboards and jobs, and states of Terraform. Each place is a count or unknown, and nothing of what a match stands in is kept.",
		Params: append([]steps.Field{
			{Name: "host", Type: steps.String, Required: true, Pattern: `[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)+`, Doc: "host name that clients of the server use"},
			{Name: "id", Type: steps.String, Pattern: `[A-Za-z][A-Za-z0-9-]{0,62}`, Doc: "its identifier, which counts as well where it stands by itself"},
		}, PlaceFields()...),
		Touches: []string{"reads the files and folders that are named, and the objects of the clones in them", "keeps which places name the server, and no line of them"},
		Takes:   func(steps.Params) time.Duration { return 5 * time.Minute },
		Reads:   func(e steps.Env) steps.Prober { return probe{e} },
	}}
}

// PlaceFields are the parameters that name the places.
func PlaceFields() []steps.Field {
	return []steps.Field{
		{Name: Code, Type: steps.Path, Doc: "folder with working copies of the repositories: their files and their HEAD are searched"},
		{Name: Zones, Type: steps.Path, Doc: "saved zones of DNS: what aws route53 list-resource-record-sets prints, or zone files"},
		{Name: Secrets, Type: steps.Path, Doc: "exports of secrets, as kubectl get secrets,configmaps -A -o json prints them"},
		{Name: Dashboards, Type: steps.Path, Doc: "exports of dashboards and of their data sources"},
		{Name: Jobs, Type: steps.Path, Doc: "what schedulers run, as a folder of DAGs"},
		{Name: States, Type: steps.Path, Doc: "states of Terraform or OpenTofu, as tofu state pull prints them"},
		{Name: "unit", Type: steps.Path, Doc: "folder of the module that makes the server, below code: its mentions of the identifier are its own"},
		{Name: "without", Type: steps.String, Pattern: `[a-z]+(,[a-z]+)*`, Doc: "places that your organisation has none of, with commas between; that is taken on your word, and shown"},
		{Name: "fresh", Type: steps.Duration, Default: "168h", Doc: "how old a clone or an export may be to count"},
	}
}

func facts() []steps.Field {
	count := func(name, what string) steps.Field {
		return steps.Field{Name: name, Type: steps.Int, Doc: what + "; unknown where they were not searched whole"}
	}
	return []steps.Field{
		{Name: "refs", Type: steps.Enum, Values: []string{"none", "found"}, Doc: "none: each of the places was searched whole, or is said not to be, and names the server nowhere; found: one names it; unknown otherwise"},
		count(Code, "lines of working copies that name it"),
		count(Zones, "records that lead to it"),
		count(Secrets, "keys of secrets that hold a name of it"),
		count(Dashboards, "lines of dashboards and data sources that name it"),
		count(Jobs, "lines of jobs that name it"),
		count(States, "resources and outputs of states that name it, without itself"),
		{Name: "at_least", Type: steps.Int, Doc: "all of them, of what was searched"},
		{Name: "where", Type: steps.Strings, Doc: "locations of the first 50: place, file, line, and the name that stands there"},
		{Name: "aliases", Type: steps.Strings, Doc: "names in the zones that lead to it"},
		{Name: "open", Type: steps.Strings, Doc: "places that are not known, and why"},
		{Name: "said", Type: steps.Strings, Doc: "places that are known by the word of a person alone"},
		{Name: "files", Type: steps.Int, Doc: "files that were searched"},
		{Name: "owner", Type: steps.String, Doc: "state and address of the resource that is the server; empty where no state has it, unknown where not all were read"},
		{Name: "owners", Type: steps.Int, Doc: "how many addresses are the server"},
		{Name: "published", Type: steps.Strings, Doc: "outputs of the states that own it which name it"},
	}
}

type probe struct{ env steps.Env }

// AskOf is the search that the parameters of [PlaceFields] name.
func AskOf(env steps.Env, in steps.Params) Ask {
	a := Ask{ID: in.Text("id"), Host: in.Text("host"), At: map[string]string{}, Now: time.Now(), Fresh: in.Duration("fresh")}
	if env.Now != nil {
		a.Now = env.Now()
	}
	for _, name := range Places() {
		if at := in.Text(name); at != "" {
			a.At[name] = steps.Below(env.Dir, at)
		}
	}
	if at := in.Text("unit"); at != "" {
		a.Unit = steps.Below(env.Dir, at)
	}
	for w := range strings.SplitSeq(in.Text("without"), ",") {
		if w = strings.TrimSpace(w); w != "" {
			a.Without = append(a.Without, w)
		}
	}
	return a
}

// Probe implements steps.Prober.
func (p probe) Probe(ctx context.Context, in steps.Params, out steps.Sink) (steps.Observation, error) {
	ask := AskOf(p.env, in)
	r, err := Search(ctx, ask)
	if err != nil {
		return steps.Observation{}, err
	}
	f := steps.NewFacts(facts())
	obs := steps.Observation{Command: "grep -rniF " + steps.Quote(ask.Host) + " " + steps.Quote(cmp.Or(in.Text(Code), ".")) + " # and the same of each other place"}
	if gap := Keep(out, r); gap != "" {
		obs.Gaps = append(obs.Gaps, gap)
	}
	var where, said, none []string
	least, files := 0, 0
	for _, place := range r.Places {
		least, files = least+place.Hits, files+place.Files
		for _, w := range place.Where {
			if len(where) < mostTold {
				where = append(where, steps.OneLine(place.Name+": "+w, 300))
			}
		}
		if place.Said {
			said = append(said, place.Name)
		}
		if !place.Known {
			f.Unknown(steps.OneLine(place.Why, 300), place.Name)
			continue
		}
		f.Set(place.Name, steps.IntOf(int64(place.Hits)))
		if place.Hits == 0 {
			none = append(none, place.Name)
		}
	}
	for _, line := range r.Open() {
		obs.Gaps = append(obs.Gaps, steps.OneLine(line, 300))
	}
	owned := r.place(States)
	switch {
	case len(r.Owners) > 0:
		f.Set("owner", steps.StringOf(steps.OneLine(strings.Join(r.Owners, ", "), 300)))
		f.Set("owners", steps.IntOf(int64(len(r.Owners))))
	case owned.Known && !owned.Said:
		f.Set("owner", steps.StringOf(""))
		f.Set("owners", steps.IntOf(0))
	default:
		f.Unknown("the states were not all read", "owner", "owners")
	}
	f.Set("at_least", steps.IntOf(int64(least)))
	f.Set("where", steps.StringsOf(where))
	f.Set("aliases", steps.StringsOf(lines(r.Aliases)))
	f.Set("open", steps.StringsOf(lines(r.Open())))
	f.Set("said", steps.StringsOf(said))
	f.Set("files", steps.IntOf(int64(files)))
	f.Set("published", steps.StringsOf(lines(r.Published)))
	switch refs := r.Refs(); refs {
	case "found":
		f.Set("refs", steps.EnumOf(refs))
		obs.Summary = fmt.Sprintf("%s is named %d times at least: %s.", ask.Host, least, steps.OneLine(strings.Join(where[:min(3, len(where))], ", "), 200))
	case "none":
		f.Set("refs", steps.EnumOf(refs))
		obs.Summary = fmt.Sprintf("No place names %s: %d files were searched.", ask.Host, files)
	default:
		f.Unknown("not all places were searched", "refs")
		obs.Summary = fmt.Sprintf("%s is not named in %s; %d of %d places are not known.", ask.Host, cmp.Or(strings.Join(none, ", "), "any place that was searched"), len(r.Open()), len(r.Places))
	}
	obs.Facts = f.Rest("it was not searched")
	return obs, nil
}

// Keep writes a result into the evidence, and returns what kept it from that.
func Keep(out steps.Sink, r Result) string {
	return steps.Keep(out, "references", steps.MediaJSON, func(w io.Writer) error {
		enc := json.NewEncoder(w)
		enc.SetIndent("", "  ")
		return enc.Encode(r)
	})
}

func (r Result) place(name string) Place {
	for _, p := range r.Places {
		if p.Name == name {
			return p
		}
	}
	return Place{Name: name}
}

func lines(in []string) []string {
	out := make([]string, 0, len(in))
	for _, s := range in[:min(len(in), mostTold)] {
		out = append(out, steps.OneLine(strings.ToValidUTF8(s, "?"), 300))
	}
	return out
}
