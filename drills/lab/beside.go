package lab

import (
	"context"
	"errors"
	"fmt"
	"net/http"
)

// Closed is the name of a webhook configuration of a namespace that refuses every
// deletion of a ConfigMap there, since nothing answers for it.
func Closed(ns string) string { return "guard." + ns + ".example" }

// CloseBeside lets a webhook without a server refuse the deletion of the
// ConfigMaps of the namespace beside ns. It goes with ns.
func (l *Lab) CloseBeside(ctx context.Context, ns string) error {
	ns, with := Beside(ns), ns
	return l.hook(ctx, ns, with, Webhook{Name: Closed(ns), URL: "https://127.0.0.1:1/", Closed: true,
		Rules: []HookRule{{Version: "v1", Resources: list("configmaps"), Operations: list("DELETE")}}})
}

// Beside is the name of the second namespace that [Lab.Beside] makes for one.
func Beside(ns string) string { return ns + "-beside" }

// Beside makes a second namespace for one of the lab, in which its account robot
// may edit as long as it stands. It has no accounts of its own, so that it can be
// deleted while the first one is worked from; it goes with DeleteNamespace.
func (l *Lab) Beside(ctx context.Context, ns string) (string, error) {
	return l.More(ctx, ns, "beside")
}

// More is Beside for one of several such namespaces, which is called ns-word.
func (l *Lab) More(ctx context.Context, ns, word string) (string, error) {
	name := ns + "-" + word
	wrap := func(err error) error { return fmt.Errorf("making namespace %q in the lab: %w", name, err) }
	robot := object{"kind": "ServiceAccount", "name": "robot", "namespace": ns}
	for _, made := range []struct {
		path string
		body object
	}{
		{"/api/v1/namespaces", object{"metadata": object{"name": name, "labels": object{"handrail-lab": "namespace", madeFor: ns}}}},
		{rbac + "/namespaces/" + name + "/rolebindings", object{"metadata": named("robot"), "subjects": []object{robot},
			"roleRef": object{"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "edit"}}},
	} {
		if err := l.client.do(ctx, http.MethodPost, made.path, made.body, nil); err != nil {
			return "", wrap(err)
		}
	}
	token, err := l.token(ctx, ns, "robot")
	if err != nil {
		return "", wrap(err)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, inForceWithin, errors.New("the rights of robot do not come into force there"))
	defer cancel()
	var last error
	if err := poll(ctx, func() bool {
		var allowed bool
		allowed, last = l.client.as(token).may(ctx, []object{{"namespace": name, "verb": "create", "resource": "configmaps"}})
		return allowed
	}); err != nil {
		return "", wrap(errors.Join(err, last))
	}
	return name, nil
}
