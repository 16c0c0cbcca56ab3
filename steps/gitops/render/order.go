package render

import (
	"archive/tar"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"path"
	"slices"
	"strings"
)

const (
	// MostFiles and MostBytes bound what is rendered.
	MostFiles = 5_000
	MostBytes = 32 << 20
	// mostAnswer bounds what comes back.
	mostAnswer = 48 << 20

	orderName = "order"
	filesDir  = "files/"
)

// Tools that make manifests.
const (
	Kustomize = "kustomize"
	Directory = "directory"
	Helm      = "helm"
	Generated = "generated" // a kustomization of all manifests below a path, as Flux makes one where there is none
)

// Order says what to render.
type Order struct {
	Tool    string `json:"tool"` // "" for what the path tells, as Argo CD does
	Path    string `json:"path"` // with slashes, from the top, which is "."
	Recurse bool   `json:"recurse,omitempty"`

	// Namespace is given to what has none; with Override, to everything that may have one.
	Namespace string `json:"namespace,omitempty"`
	Override  bool   `json:"override,omitempty"`

	// Packed says that the source controller of Flux packs the tree first, and leaves out what its
	// own files and Ignore, the spec.ignore of the source, name.
	Packed bool   `json:"packed,omitempty"`
	Ignore string `json:"ignore,omitempty"`

	Chart *Chart `json:"chart,omitempty"` // nil for what Helm does by itself
}

// Chart is what a chart is given. Values stand in the order in which they are merged, and are
// files, then texts, then parameters, as helm has it.
type Chart struct {
	Release   string `json:"release"`
	Namespace string `json:"namespace"` // of the release

	Files         []string    `json:"files,omitempty"`    // by the path of the chart, or from the top with a slash
	Defaults      bool        `json:"defaults,omitempty"` // the files are named from the top, and stand for the defaults of the chart
	IgnoreMissing bool        `json:"ignore_missing,omitempty"`
	Values        []string    `json:"values,omitempty"` // YAML
	Parameters    []Parameter `json:"parameters,omitempty"`

	SkipCRDs    bool     `json:"skip_crds,omitempty"`
	SkipTests   bool     `json:"skip_tests,omitempty"`
	SkipSchema  bool     `json:"skip_schema,omitempty"`
	KubeVersion string   `json:"kube_version,omitempty"` // "" for that of the library
	APIVersions []string `json:"api_versions,omitempty"`

	Suffix   string `json:"suffix,omitempty"`   // build metadata of its version, as Flux adds a commit
	Upgrades bool   `json:"upgrades,omitempty"` // it is installed and upgraded, where Argo CD makes a first revision each time
}

// Parameter is a value by its path.
type Parameter struct {
	Name        string `json:"name"`
	Value       string `json:"value"`
	ForceString bool   `json:"forceString,omitempty"`
}

// Answer is what the rendering came to.
type Answer struct {
	Tool    string            `json:"tool"`
	Objects []json.RawMessage `json:"objects"`
	made    []map[string]any

	// Version is that of a chart.
	Version string `json:"version,omitempty"`
	// Varies are objects, by their place, as another rendering made them: what differs cannot be said.
	Varies map[int]map[string]any `json:"varies,omitempty"`
	// Unsaid says of an object, by its place, why nothing can be said of what it holds.
	Unsaid map[int]string `json:"unsaid,omitempty"`
	// NotHere says what keeps it from being rendered here, though it may be elsewhere.
	NotHere string `json:"not_here,omitempty"`
	// Error is what is wrong with the manifests.
	Error string `json:"error,omitempty"`
}

// NotHereError says that manifests cannot be made here, though a controller may make them.
type NotHereError struct{ Why string }

func (e *NotHereError) Error() string { return e.Why }

func notHere(format string, args ...any) error {
	return &NotHereError{Why: fmt.Sprintf(format, args...)}
}

// pack writes an order and files, by paths from the top.
func pack(w io.Writer, o Order, files map[string][]byte) error {
	t := tar.NewWriter(w)
	put := func(name string, content []byte) error {
		if err := t.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: 0o600, Size: int64(len(content)), Format: tar.FormatPAX}); err != nil {
			return err
		}
		_, err := t.Write(content)
		return err
	}
	head, err := json.Marshal(o)
	if err != nil {
		return err
	}
	if err := put(orderName, head); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if err := put(filesDir+name, files[name]); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return t.Close()
}

// unpack reads what pack wrote. It believes nothing of it.
func unpack(r io.Reader) (o Order, files map[string][]byte, err error) {
	// A header of its own, and padding, for each file.
	t := tar.NewReader(io.LimitReader(r, MostBytes+MostFiles*4096))
	files = map[string][]byte{}
	left := int64(MostBytes)
	for first := true; ; first = false {
		h, err := t.Next()
		switch {
		case errors.Is(err, io.EOF) && !first:
			return o, files, nil
		case err != nil:
			return o, nil, fmt.Errorf("reading the files: %w", err)
		case h.Typeflag != tar.TypeReg || first != (h.Name == orderName):
			return o, nil, fmt.Errorf("reading the files: %q does not belong there", h.Name)
		}
		if left -= h.Size; h.Size < 0 || left < 0 || len(files) >= MostFiles {
			return o, nil, errors.New("reading the files: they are too many or too large")
		}
		content, err := io.ReadAll(io.LimitReader(t, h.Size+1))
		if err != nil {
			return o, nil, fmt.Errorf("reading the files: %w", err)
		}
		if first {
			if err := json.Unmarshal(content, &o); err != nil {
				return o, nil, fmt.Errorf("reading the order: %w", err)
			}
			continue
		}
		name, ok := strings.CutPrefix(h.Name, filesDir)
		if !ok || name == "" || path.Clean("/"+name) != "/"+name {
			return o, nil, fmt.Errorf("reading the files: %q is no path in a commit", h.Name)
		}
		files[name] = content
	}
}
