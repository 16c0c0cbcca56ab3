package lab

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
)

// Rule is what an account may do.
type Rule struct {
	Group     string // "" for the core
	Resources []string
	Names     []string // of objects; empty for all
	Verbs     []string
}

func (r Rule) object() object {
	o := object{"apiGroups": list(r.Group), "resources": r.Resources, "verbs": r.Verbs}
	if len(r.Names) > 0 {
		o["resourceNames"] = r.Names
	}
	return o
}

// asked is the question whether a rule is in force, by its last verb: the rules of a role come into
// force together, and another role rather gives the first.
func (r Rule) asked(ns string) object {
	resource, sub, _ := strings.Cut(r.Resources[len(r.Resources)-1], "/")
	ask := object{"group": r.Group, "resource": resource, "subresource": sub, "verb": r.Verbs[len(r.Verbs)-1]}
	if ns != "" {
		ask["namespace"] = ns
	}
	if len(r.Names) > 0 {
		ask["name"] = r.Names[0]
	}
	return ask
}

// Account makes a ServiceAccount in a namespace of the lab and returns its user and
// a kubeconfig, which is JSON. It may do nothing yet.
func (l *Lab) Account(ctx context.Context, ns, name string) (user, kubeconfigFile string, err error) {
	wrap := func(err error) error {
		return fmt.Errorf("making account %q in namespace %q of the lab: %w", name, ns, err)
	}
	if !leaseName.MatchString(name) {
		return "", "", wrap(errors.New("want lower-case letters, digits and hyphens, 63 at most"))
	}
	body := object{"metadata": named(name)}
	if err := l.client.do(ctx, http.MethodPost, core(ns, "serviceaccounts"), body, nil); err != nil {
		return "", "", wrap(err)
	}
	token, err := l.token(ctx, ns, name)
	if err != nil {
		return "", "", wrap(err)
	}
	raw, err := kubeconfig{server: l.record.URL, ca: l.client.ca, token: token, name: ContextName + "-" + ns, namespace: ns}.json()
	if err != nil {
		return "", "", wrap(err)
	}
	path := filepath.Join(l.dir, dirAccount, ns+"-"+name+".kubeconfig")
	return "system:serviceaccount:" + ns + ":" + name, path, replace(path, raw)
}

func (l *Lab) token(ctx context.Context, ns, name string) (string, error) {
	var minted struct{ Status struct{ Token string } }
	ask := object{"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest",
		"spec": object{"expirationSeconds": int(tokenLife.Seconds())}}
	err := l.client.do(ctx, http.MethodPost, core(ns, "serviceaccounts/"+name+"/token"), ask, &minted)
	return minted.Status.Token, err
}

// Allow gives an account of a namespace rights in that namespace, or, with wide, in
// the whole cluster; the title tells several grants apart. It returns once they
// are in force. They go with DeleteNamespace.
func (l *Lab) Allow(ctx context.Context, ns, account, title string, wide bool, rules []Rule) error {
	wrap := func(err error) error {
		return fmt.Errorf("rights of %q in namespace %q of the lab: %w", account, ns, err)
	}
	kind, name, in := "Role", account+"-"+title, rbac+"/namespaces/"+ns
	if wide {
		kind, name, in = "ClusterRole", readers(ns)+"-"+account+"-"+title, rbac
	}
	var bodies []object
	for _, r := range rules {
		bodies = append(bodies, r.object())
	}
	lower := map[string][2]string{"Role": {"/roles", "/rolebindings"}, "ClusterRole": {"/clusterroles", "/clusterrolebindings"}}[kind]
	meta := object{"name": name, "labels": object{madeFor: ns}}
	for _, made := range []struct {
		path string
		body object
	}{
		{in + lower[0], object{"metadata": meta, "rules": bodies}},
		{in + lower[1], object{"metadata": meta, "subjects": []object{{"kind": "ServiceAccount", "name": account, "namespace": ns}},
			"roleRef": object{"apiGroup": "rbac.authorization.k8s.io", "kind": kind, "name": name}}},
	} {
		if err := l.client.do(ctx, http.MethodPost, made.path, made.body, nil); err != nil {
			return wrap(err)
		}
	}
	return l.inForce(ctx, ns, account, wide, rules, wrap)
}

func (l *Lab) inForce(ctx context.Context, ns, account string, wide bool, rules []Rule, wrap func(error) error) error {
	token, err := l.token(ctx, ns, account)
	if err != nil {
		return wrap(err)
	}
	where := ns
	if wide {
		where = ""
	}
	var asked []object
	for _, r := range rules {
		asked = append(asked, r.asked(where))
	}
	ctx, cancel := context.WithTimeoutCause(ctx, inForceWithin, errors.New("they do not come into force"))
	defer cancel()
	var last error
	if err := poll(ctx, func() bool {
		var allowed bool
		allowed, last = l.client.as(token).may(ctx, asked)
		return allowed
	}); err != nil {
		return wrap(errors.Join(err, last))
	}
	return nil
}

// may asks whether all of these are allowed.
func (c *client) may(ctx context.Context, rights []object) (bool, error) {
	for _, attributes := range rights {
		var answer struct{ Status struct{ Allowed bool } }
		review := object{"apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectAccessReview",
			"spec": object{"resourceAttributes": attributes}}
		if err := c.do(ctx, http.MethodPost, selfReview, review, &answer); err != nil || !answer.Status.Allowed {
			return false, err
		}
	}
	return true, nil
}
