package render

import (
	"bytes"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	chart "helm.sh/helm/v4/pkg/chart/v2"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	"helm.sh/helm/v4/pkg/strvals"
)

// ValueFile is where a file of values stands in its repository, by the path of the chart.
// One that begins with a slash is named from the top. The error of one that leaves the
// repository is as final as at Argo CD; one that is remote is a [NotHereError].
func ValueFile(dir, name string) (string, error) {
	if name == "" || strings.ContainsRune(name, 0) {
		return "", errors.New("a file of values has no name")
	}
	if strings.Contains(name, "://") || strings.Contains(strings.SplitN(name, "/", 2)[0], ":") {
		return "", notHere("the file of values %q is remote, and nothing is fetched here", name)
	}
	if strings.ContainsAny(name, "*?[") {
		return "", notHere("the file of values %q is a pattern, and is not followed here", name)
	}
	if !strings.HasPrefix(name, "/") {
		name = path.Join(path.Clean(dir), name)
	}
	at := path.Clean(strings.TrimLeft(name, "/"))
	if at == ".." || strings.HasPrefix(at, "../") {
		return "", fmt.Errorf("the file of values %q leaves the repository", name)
	}
	return at, nil
}

// values puts together what a chart is given: its files, then its texts, then its parameters.
// Where the order says so the files stand for the chart's own defaults.
func (t tree) values(dir string, of Chart, made *chart.Chart) (map[string]any, error) {
	out := map[string]any{}
	for _, name := range of.Files {
		if of.Defaults { // of Flux, which names them from the top
			name = "/" + name
		}
		at, err := ValueFile(dir, name)
		if err != nil {
			return nil, err
		}
		text, has := t[at]
		switch {
		case !has && of.IgnoreMissing:
			continue
		case !has:
			return nil, fmt.Errorf("helm: the file of values %q is not in the commit", at)
		}
		if out, err = merged(out, at, text); err != nil {
			return nil, err
		}
	}
	if of.Defaults && len(of.Files) > 0 {
		made.Values, out = out, map[string]any{}
	}
	for i, text := range of.Values {
		var err error
		if out, err = merged(out, fmt.Sprintf("values %d of the application", i+1), []byte(text)); err != nil {
			return nil, err
		}
	}
	for _, forced := range []bool{false, true} {
		for _, p := range lastOf(of.Parameters, forced) {
			set := strvals.ParseInto
			if forced {
				set = strvals.ParseIntoString
			}
			if err := set(p.Name+"="+escaped(p.Value), out); err != nil {
				return nil, fmt.Errorf("helm: parameter %q cannot be set as it is", p.Name) // the library's words quote the value
			}
		}
	}
	return out, nil
}

func merged(into map[string]any, name string, text []byte) (map[string]any, error) {
	v, err := loader.LoadValues(bytes.NewReader(text))
	if err != nil {
		// Its words may quote a value.
		return nil, fmt.Errorf("helm: %s is no YAML of values", name)
	}
	return loader.MergeMaps(into, v), nil
}

// lastOf are the parameters that are strings by force, or are not, in order of name. The last one of a name
// wins, as Argo CD has it.
func lastOf(all []Parameter, forced bool) []Parameter {
	by := map[string]Parameter{}
	for _, p := range all {
		if p.ForceString == forced {
			by[p.Name] = p
		}
	}
	var out []Parameter
	for _, p := range by {
		out = append(out, p)
	}
	slices.SortFunc(out, func(a, b Parameter) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// escaped is a value as Argo CD hands it on: a comma ends none, but in a list in braces.
func escaped(v string) string {
	if strings.HasPrefix(v, "{") && strings.HasSuffix(v, "}") {
		return v
	}
	var b strings.Builder
	var before rune
	for _, r := range v {
		if r == ',' && before != '\\' {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
		before = r
	}
	return b.String()
}
