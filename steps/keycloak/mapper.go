package keycloak

import (
	"bytes"
	"context"
	"net/http"

	"handrail/steps"
	"handrail/steps/kube/report"
	"handrail/steps/transport"
)

func mapperParams() []steps.Field {
	return giveParams(steps.Field{Name: "mapper", Type: steps.String, Required: true, Pattern: mapperName, Doc: "name of the one mapper"})
}

// The keys that the target of a mapper has besides.
const (
	keySHA  = "definition"
	keyMade = "id of the mapper"
)

// aMapper is a mapper of a client itself.
func aMapper() thing {
	return thing{
		kind: ofMapper,
		read: func(context.Context, *server, *scene, steps.Params) error { return nil },
		wish: mapperWish,
		found: func(_ context.Context, _ *server, c client, target []steps.KV) (string, []steps.KV, error) {
			m, ok := c.mapper(steps.Find(target, ofMapper))
			found := other
			switch {
			case !ok:
				found = absent
			case transport.Sum(m.body()) == steps.Find(target, keySHA):
				found = asWant
			}
			return found, []steps.KV{{Key: keyMade, Value: report.OrNothing(m.ID)}}, nil
		},
	}
}

func mapperWish(of scene, in steps.Params) wish {
	name, called := in.Text("client"), in.Text("mapper")
	m, from, two := of.sides.wanted(name, called)
	w := wish{name: called, from: from, act: "write the mapper " + called + " to", json: m.body(), now: stands(of.c, called, m.body())}
	w.order = order{method: http.MethodPost, path: of.at(in.Text("realm"), "protocol-mappers", "models"), body: m.body()}
	w.target = []steps.KV{{Key: keySHA, Value: transport.Sum(m.body())}}
	w.undo = "Delete the mapper again: DELETE " + of.base.JoinPath(w.order.path).String() + "/ID, with the id that the act gives."
	if claim := m.claim(); claim != "" {
		w.claims = []string{claim}
	} else if from != "" && !two {
		w.need("write it by hand", "The mapper %s names no claim that a fresh token could be held to.", called)
	}
	if two {
		w.two = " definition"
	}
	if w.now == other {
		w.need("let its owner say which one is meant: nothing is written over", "The client %s has another mapper of the name %s.", name, called)
	}
	return w
}

// stands is how a mapper stands in a client.
func stands(c client, name string, want []byte) string {
	m, ok := c.mapper(name)
	switch {
	case !ok:
		return absent
	case bytes.Equal(m.body(), want):
		return asWant
	}
	return other
}
