package workload

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"handrail/steps"
	"handrail/steps/cluster"
	"handrail/steps/kube/report"
)

// mostServices bounds one question.
const mostServices = 40

func servicesFacts() []steps.Field {
	return []steps.Field{
		{Name: "count", Type: steps.Int, Doc: "how many Services are named"},
		{Name: "why", Type: steps.Table, Doc: "each Service to ok, or to why it has no backends, as in kube/endpoints"},
		{Name: "without", Type: steps.Strings, Doc: "those that have none, each with the reason"},
		{Name: "addresses", Type: steps.Table, Doc: "each Service that is there to its address in the cluster"},
	}
}

// servicesProbe asks of each of several Services what kube/endpoints asks of one.
type servicesProbe struct{ env steps.Env }

// Probe implements steps.Prober.
func (p servicesProbe) Probe(ctx context.Context, in steps.Params, out steps.Sink) (steps.Observation, error) {
	names := strings.FieldsFunc(in.Text("services"), func(r rune) bool { return r == ' ' || r == ',' })
	if len(names) > mostServices {
		return steps.Observation{}, fmt.Errorf("%d Services are named, more than %d", len(names), mostServices)
	}
	if _, err := cluster.Connect(p.env, out); err != nil { // also where none is named
		return steps.Observation{}, err
	}
	f := steps.NewFacts(servicesFacts())
	obs := steps.Observation{}
	why, addresses := map[string]string{}, map[string]string{}
	without, commands, blind := []string{}, []string{}, false
	for _, name := range names {
		if !cluster.Matches(cluster.ObjectName, name) {
			return steps.Observation{}, fmt.Errorf("%q is not a valid Service name", steps.Clip(name, 100))
		}
		of := steps.Params{"service": steps.StringOf(name)}
		if ns := in.Text("namespace"); ns != "" {
			of["namespace"] = steps.StringOf(ns)
		}
		one, err := endpointProbe(p).Probe(ctx, of, out)
		if err != nil {
			return steps.Observation{}, fmt.Errorf("service %s: %w", name, err)
		}
		commands = append(commands, one.Command)
		obs.Gaps = append(obs.Gaps, one.Gaps...)
		// Of a Service that is not there the address is unknown too, and that it is absent is known.
		switch ip := one.Facts["cluster_ip"]; {
		case ip.Known() && ip.Text() != "":
			addresses[name] = ip.Text()
		case !ip.Known() && one.Facts["why"].Text() != endpointAbsent:
			f.Unknown(name+": "+ip.Why(), "addresses")
			blind = true
		}
		told := one.Facts["why"]
		if !told.Known() {
			f.Unknown(name+": "+told.Why(), "why", "without")
			continue
		}
		why[name] = told.Text()
		if told.Text() != endpointOK {
			without = append(without, fmt.Sprintf("%s (%s)", name, told.Text()))
		}
	}
	f.Set("count", steps.IntOf(int64(len(names))))
	if !blind {
		f.Set("addresses", steps.TableOf(addresses))
	}
	if len(why) == len(names) {
		f.Set("why", steps.TableOf(why))
		f.Set("without", steps.StringsOf(without))
	}
	obs.Command = cmp.Or(strings.Join(commands, "; "), "handrail step show kube/services")
	obs.Summary = fmt.Sprintf("%d Services are named; without backends: %s.", len(names), report.OrNothing(strings.Join(without, ", ")))
	obs.Facts = f.Rest("it was not read")
	return obs, nil
}
