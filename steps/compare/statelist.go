package compare

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"handrail/steps"
	"handrail/steps/terraform/state"
	"handrail/steps/terraform/tfstate"
)

func listFacts() []steps.Field {
	return []steps.Field{
		{Name: "type", Type: steps.String, Doc: "type of resource that was subtracted"},
		{Name: "recorded", Type: steps.Int, Doc: "objects of that type that the state records"},
		{Name: "listed", Type: steps.Int, Doc: "objects on the list; of two, on the later one"},
		{Name: "looks", Type: steps.Int, Doc: "lists that were read: two only where they are two files"},
		{Name: "age", Type: steps.Duration, Doc: "how old the older list is, by the time of its file"},
		{Name: "steady", Type: steps.Bool, Doc: "whether both lists name the same objects"},
		{Name: "ghosts", Type: steps.Strings, Doc: "addresses that are recorded and on no list"},
		{Name: "there", Type: steps.Strings, Doc: "addresses that are recorded and on the list"},
		{Name: "orphans", Type: steps.Strings, Doc: "ids on each list that the state does not record under that type"},
		{Name: "unnamed", Type: steps.Strings, Doc: "recorded addresses whose id is not known"},
	}
}

type listProbe struct{ env steps.Env }

// Probe implements steps.Prober.
func (p listProbe) Probe(ctx context.Context, in steps.Params, out steps.Sink) (steps.Observation, error) {
	if err := ctx.Err(); err != nil {
		return steps.Observation{}, err
	}
	lists, oldest, err := p.lists(in, out)
	if err != nil {
		return steps.Observation{}, err
	}
	recorded := map[string]map[string]string{} // type to id to address
	unnamed := map[string][]string{}
	where, err := state.Visit(ctx, p.env, in, out, func(i *tfstate.Instance) error {
		if i.Mode != "managed" || i.Deposed != "" {
			return nil
		}
		stands, known := i.Stands()
		_, id, named := strings.Cut(stands, "=")
		switch {
		case !known || !named:
			unnamed[i.Type] = append(unnamed[i.Type], i.Address)
		default:
			if recorded[i.Type] == nil {
				recorded[i.Type] = map[string]string{}
			}
			if other, twice := recorded[i.Type][id]; twice {
				return fmt.Errorf("%s and %s are recorded with one id", other, i.Address)
			}
			recorded[i.Type][id] = i.Address
		}
		return nil
	})
	if err != nil {
		return steps.Observation{}, err
	}
	obs := steps.Observation{Command: "comm -3 <(tofu show -json | jq -r '.values..|.values?.id?' | sort) <(sort LIST)"}
	f := steps.NewFacts(listFacts())
	f.Set("looks", steps.IntOf(int64(len(lists))))
	last := lists[len(lists)-1]
	f.Set("listed", steps.IntOf(int64(len(last))))
	f.Set("age", steps.DurationOf(p.env.Now().Sub(oldest)))
	f.Set("steady", steps.BoolOf(maps.Equal(lists[0], last)))
	typ, why := typeOf(in.Text("type"), recorded, lists)
	if named := in.Text("type"); len(lists[0]) == 0 && len(last) == 0 {
		// Empty lists call nothing gone. Where nothing of their type is recorded they agree with that.
		if typ, why = named, ""; named == "" || len(recorded[named])+len(unnamed[named]) > 0 {
			why = "The list: " + emptyList + "."
		}
	}
	if why != "" {
		obs.Summary = "The list could not be subtracted from the state at " + where + "."
		obs.Say(steps.Critical, "%s", why)
		obs.Facts = f.Rest(why)
		return obs, nil
	}
	subtract(recorded[typ], lists, unnamed[typ], f, &obs)
	f.Set("type", steps.StringOf(typ))
	obs.Summary = fmt.Sprintf("Of %d %s recorded at %s, %d are on no list; %d on the list are not recorded.", len(recorded[typ])+len(unnamed[typ]), typ, where,
		len(f.Got("ghosts").Strings()), len(f.Got("orphans").Strings()))
	obs.Facts = f.Rest("not subtracted")
	return obs, nil
}

func subtract(recorded map[string]string, lists []map[string]bool, unnamed []string, f steps.Facts, obs *steps.Observation) {
	var ghosts, there, orphans []string
	last := lists[len(lists)-1]
	for id, address := range recorded {
		switch {
		case last[id]:
			there = append(there, address)
		case !lists[0][id]:
			ghosts = append(ghosts, address)
		default:
			obs.Say(steps.Warning, "%s went between the two lists.", address)
		}
	}
	for id := range last {
		if _, known := recorded[id]; !known && lists[0][id] {
			orphans = append(orphans, id)
		}
	}
	f.Set("recorded", steps.IntOf(int64(len(recorded)+len(unnamed))))
	for name, list := range map[string][]string{"ghosts": ghosts, "there": there, "orphans": orphans, "unnamed": unnamed} {
		slices.Sort(list)
		f.Set(name, steps.StringsOf(list))
	}
	if n := len(ghosts); n > 0 {
		obs.Say(steps.Warning, "%d objects are recorded and on no list, first %s: ghosts.", n, f.Got("ghosts").Strings()[0])
	}
	if n := len(unnamed); n > 0 {
		// Any of them may be one that is listed and looks unrecorded.
		f.Unknown(fmt.Sprintf("the state does not say the id of %d objects", n), "orphans")
		obs.Gaps = append(obs.Gaps, fmt.Sprintf("the state does not say the id of %s", strconv.Itoa(n)+" objects of the type"))
	}
}

// typeOf says which type of resource the lists are of: the one that was named, else
// the only one of which a recorded object is on a list. A list on which none is may be
// one of another account.
func typeOf(named string, recorded map[string]map[string]string, lists []map[string]bool) (typ, why string) {
	var hit []string
	for t, ids := range recorded {
		if named != "" && t != named {
			continue
		}
		for id := range ids {
			if slices.ContainsFunc(lists, func(l map[string]bool) bool { return l[id] }) {
				hit = append(hit, t)
				break
			}
		}
	}
	slices.Sort(hit)
	switch {
	case len(hit) == 0 && named != "":
		return "", fmt.Sprintf("No recorded %s is on the list: it may be the list of another account, or its ids are written in another way. Nothing is called gone by it.", named)
	case len(hit) == 0:
		return "", "No recorded object is on the list: it may be the list of another account, or its ids are written in another way. Nothing is called gone by it."
	case len(hit) > 1:
		return "", fmt.Sprintf("Ids of the list are recorded under %d types (%s): say of which one the list is.", len(hit), strings.Join(hit, ", "))
	}
	return hit[0], ""
}

// lists reads the one list, or both where they are two files.
func (p listProbe) lists(in steps.Params, out steps.Sink) (read []map[string]bool, oldest time.Time, err error) {
	var files []os.FileInfo
	for _, key := range []string{"list", "again"} {
		name := in.Text(key)
		if name == "" {
			continue
		}
		if !filepath.IsAbs(name) {
			name = filepath.Join(p.env.Dir, name)
		}
		info, err := os.Stat(name)
		if err != nil {
			return nil, oldest, err
		}
		if slices.ContainsFunc(files, func(o os.FileInfo) bool { return os.SameFile(o, info) }) {
			continue
		}
		text, err := state.ReadList(p.env, name)
		if err != nil {
			return nil, oldest, err
		}
		ids, err := idsOf(text)
		if err != nil {
			return nil, oldest, fmt.Errorf("the list %s: %w", name, err)
		}
		if gap := keep(out, key, text); gap != "" {
			return nil, oldest, fmt.Errorf("the list %s: %s", name, gap)
		}
		if oldest.IsZero() || info.ModTime().Before(oldest) {
			oldest = info.ModTime()
		}
		files, read = append(files, info), append(read, ids)
	}
	if len(read) == 0 {
		return nil, oldest, fmt.Errorf("no list is named")
	}
	if n := len(read); (len(read[0]) == 0) != (len(read[n-1]) == 0) {
		return nil, oldest, fmt.Errorf("one list: %s", emptyList)
	}
	return read, oldest, nil
}

const emptyList = "it is empty: it shows neither that all is gone nor that anything is"

// idsOf reads a list: one id on each line, or JSON of strings or of objects with an id.
func idsOf(text string) (map[string]bool, error) {
	ids := map[string]bool{}
	if t := strings.TrimSpace(text); strings.HasPrefix(t, "{") || strings.HasPrefix(t, "[") {
		var v any
		if err := json.Unmarshal([]byte(t), &v); err != nil {
			return nil, fmt.Errorf("it begins as JSON and is none: %w", err)
		}
		if o, ok := v.(map[string]any); ok {
			if v = only(o); v == nil {
				return nil, fmt.Errorf("it is JSON without exactly one list in it")
			}
		}
		list, _ := v.([]any)
		for n, one := range list {
			id := idOf(one)
			if id == "" {
				return nil, fmt.Errorf("entry %d has neither id nor name", n+1)
			}
			ids[id] = true
		}
		return ids, nil // an API that answers with an empty list says so
	}
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			ids[line] = true
		}
	}
	if len(ids) == 0 {
		return nil, errors.New(emptyList)
	}
	return ids, nil
}

// only is the one list in an object, nil for none or several.
func only(o map[string]any) any {
	var found any
	for _, v := range o {
		if list, ok := v.([]any); ok {
			if found != nil {
				return nil
			}
			found = list
		}
	}
	// A page that says that there is more is not the list of all.
	for _, more := range []string{"IsTruncated", "isTruncated", "truncated", "has_more"} {
		if o[more] == true {
			return nil
		}
	}
	for _, next := range []string{"NextToken", "nextToken", "NextContinuationToken", "nextPageToken", "next_page_token", "next"} {
		if s, ok := o[next].(string); ok && s != "" {
			return nil
		}
	}
	return found
}

func idOf(v any) string {
	switch v := v.(type) {
	case string:
		return strings.TrimSpace(v)
	case map[string]any:
		for _, key := range []string{"id", "Id", "ID", "name", "Name", "Key", "key"} {
			switch id := v[key].(type) {
			case string:
				return id
			case float64:
				return strconv.FormatFloat(id, 'f', -1, 64)
			}
		}
	}
	return ""
}

func keep(out steps.Sink, role, text string) string {
	return steps.Keep(out, role, steps.MediaText, func(w io.Writer) error {
		_, err := io.WriteString(w, text)
		return err
	})
}
