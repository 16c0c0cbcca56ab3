package drills

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"handrail/drills/inject"
	"handrail/drills/stage"
	"handrail/steps"
)

// fieldKind is a probe that only drills have: the value of one field, asked of the
// API server itself and of none of handrail's clients.
func fieldKind() steps.Kind {
	return steps.Kind{
		Name: "drill/field", Doc: "Reads the value of one field of an object of the drill.", Class: steps.Probe,
		Params: []steps.Field{
			{Name: "resource", Type: steps.String, Required: true, Doc: "plural of a resource that a drill may write"},
			{Name: "name", Type: steps.String, Required: true, Doc: "name of the object"},
			{Name: "at", Type: steps.String, Required: true, Doc: "JSON pointer of the field"},
		},
		Facts: []steps.Field{
			{Name: "exists", Type: steps.Bool, Doc: "whether the object is there"},
			{Name: "value", Type: steps.String, Doc: "the field: a text as it is, anything else as JSON, empty where it is not there"},
		},
		Reads: func(e steps.Env) steps.Prober { return fieldProbe{e} },
	}
}

type fieldProbe struct{ env steps.Env }

// Probe implements steps.Prober.
func (p fieldProbe) Probe(ctx context.Context, in steps.Params, _ steps.Sink) (steps.Observation, error) {
	plural := in.Text("resource")
	group, ok := inject.Writable()[plural]
	if !ok {
		return steps.Observation{}, fmt.Errorf("%q is not a resource of a drill", plural)
	}
	cfg, err := clientcmd.BuildConfigFromFlags("", p.env.Kubeconfig)
	if err != nil {
		return steps.Observation{}, err
	}
	client, err := rest.HTTPClientFor(cfg)
	if err != nil {
		return steps.Observation{}, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, cfg.Host+inject.PathOfObject(group, plural, p.env.Namespace, in.Text("name")), nil)
	if err != nil {
		return steps.Observation{}, err
	}
	res, err := client.Do(req)
	if err != nil {
		return steps.Observation{}, err
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(io.LimitReader(res.Body, stage.MaxAnswer))
	if err != nil {
		return steps.Observation{}, err
	}
	text := ""
	switch res.StatusCode {
	case http.StatusOK:
		var o any
		if err := json.Unmarshal(raw, &o); err != nil {
			return steps.Observation{}, err
		}
		switch v := inject.Pointed(o, in.Text("at")).(type) {
		case nil:
		case string:
			text = v
		default:
			spelt, err := json.Marshal(v)
			if err != nil {
				return steps.Observation{}, err
			}
			text = string(spelt)
		}
	case http.StatusNotFound:
	default:
		return steps.Observation{}, errors.New(stage.Tail(raw))
	}
	return steps.Observation{Facts: map[string]steps.Value{
		"exists": steps.BoolOf(res.StatusCode == http.StatusOK), "value": steps.StringOf(text),
	}}, nil
}
