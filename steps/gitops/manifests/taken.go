package manifests

import (
	"context"
	"maps"
	"path"
	"slices"
	"strings"

	"handrail/steps/gitops/app"
	"handrail/steps/gitops/render"
	"handrail/steps/gitread"
)

// Within reports whether a file or directory is dir or stands below it; both are named from the top,
// which is ".".
func Within(name, dir string) bool {
	return dir == "." || name == dir || strings.HasPrefix(name, dir+"/")
}

// Beside are the directory and files that an application names itself, from the top.
func Beside(a app.App) []string {
	var out []string
	for _, of := range a.Sources {
		out = append(out, of.Dir())
		if len(a.Sources) == 1 {
			out = append(out, valueFiles(of.Dir(), a.Rendering.Chart)...)
		}
	}
	return out
}

// Files are those of a commit of which the only source of an application is rendered: its directory,
// what its kustomizations name elsewhere, its files of values.
func Files(ctx context.Context, c gitread.Clone, a app.App, commit string) (map[string][]byte, error) {
	dir := a.Sources[0].Dir()
	return render.Gather(ctx, c, commit, dir, valueFiles(dir, a.Rendering.Chart)...)
}

// Named is an object as a file of a repository names it, before anything is made of it.
type Named struct{ Group, Kind, Name string }

// NamedIn are the objects that the files at a place name, in order. whole says that more may come of
// them than they name: a template, values, a patch without a name.
func NamedIn(files map[string][]byte, place string) (out []Named, whole bool) {
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if !Within(name, place) {
			continue
		}
		objects, err := render.Documents(name, files[name])
		if err != nil {
			whole = whole || madeOf(name)
			continue
		}
		for _, o := range objects {
			version, _ := o["apiVersion"].(string)
			kind, _ := o["kind"].(string)
			meta, _ := o["metadata"].(map[string]any)
			of, _ := meta["name"].(string)
			group, _, has := strings.Cut(version, "/")
			switch {
			case strings.HasSuffix(group, "kustomize.config.k8s.io"):
				whole = whole || name == place // itself is asked about, and it changes everything
			case of == "":
				whole = true
			default:
				if !has {
					group = ""
				}
				if n := (Named{group, kind, of}); !slices.Contains(out, n) {
					out = append(out, n)
				}
			}
		}
	}
	return out, whole || len(out) == 0
}

// madeOf reports whether objects may come of a file that names none.
func madeOf(name string) bool {
	switch path.Ext(name) {
	case ".yaml", ".yml", ".json", ".tpl", ".env", ".properties", ".txt":
		return true
	}
	return false
}
