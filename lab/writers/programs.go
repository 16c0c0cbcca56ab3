package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// within is what a program finds where it runs.
type within struct {
	api       *client // as the account of its Pod
	namespace string
	broker    brokerPlan
	out       io.Writer
}

// programs are the words that a command may begin with.
func programs() map[string]func(ctx context.Context, in within, args []string) (code int) {
	return map[string]func(context.Context, within, []string) int{
		"true":     func(context.Context, within, []string) int { return 0 },
		"false":    func(context.Context, within, []string) int { return 1 },
		"echo":     echo,
		"exit":     exit,
		"fail":     fail,
		"sleep":    sleep,
		"dial":     dial,
		"reach":    reach,
		"amqp":     amqp,
		"every":    every,
		"gates":    gates,
		"holds":    holds,
		"kubectl":  kubectl,
		"topology": topology,
	}
}

func known(argv []string) bool { return len(argv) > 0 && programs()[argv[0]] != nil }

// execute runs one command to its end, or until ctx ends.
func execute(ctx context.Context, in within, argv []string) int {
	if !known(argv) {
		fmt.Fprintf(in.out, "%s: not found\n", strings.Join(argv, " "))
		return 127
	}
	return programs()[argv[0]](ctx, in, argv[1:])
}

func echo(_ context.Context, in within, args []string) int {
	fmt.Fprintln(in.out, strings.Join(args, " "))
	return 0
}

// exit ends with a code: `exit 3`.
func exit(_ context.Context, _ within, args []string) int { return code(args) }

func code(args []string) int {
	if len(args) == 0 {
		return 0
	}
	n, err := strconv.Atoi(args[0])
	if err != nil {
		return 2
	}
	return n
}

// fail says something and ends with a code: `fail 1 connection refused`.
func fail(_ context.Context, in within, args []string) int {
	if len(args) > 1 {
		fmt.Fprintln(in.out, strings.Join(args[1:], " "))
	}
	return code(args)
}

// sleep waits for a duration or a number of seconds: `sleep 3600`.
func sleep(ctx context.Context, in within, args []string) int {
	if len(args) != 1 {
		return 2
	}
	d, err := time.ParseDuration(args[0])
	if n, bad := strconv.Atoi(args[0]); bad == nil {
		d, err = time.Duration(n)*time.Second, nil
	}
	if err != nil {
		fmt.Fprintln(in.out, "sleep: invalid time interval", args[0])
		return 1
	}
	return wait(ctx, d)
}

// killed is the code of a program that was told to end.
const killed = 143

func wait(ctx context.Context, d time.Duration) int {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return killed
	case <-t.C:
		return 0
	}
}

// dial opens a connection of loopback and closes it: `dial 127.0.0.1:5432`. What
// goes wrong is what the system says.
func dial(ctx context.Context, in within, args []string) int {
	host := ""
	if len(args) == 1 {
		host, _, _ = net.SplitHostPort(args[0])
	}
	if ip := net.ParseIP(host); ip == nil || !ip.IsLoopback() {
		fmt.Fprintln(in.out, "dial: a drill reaches loopback only")
		return 2
	}
	conn, err := (&net.Dialer{Timeout: oneRequest}).DialContext(ctx, "tcp", args[0])
	if err != nil {
		fmt.Fprintln(in.out, err)
		return 1
	}
	_ = conn.Close()
	fmt.Fprintln(in.out, "connected to", args[0])
	return 0
}

// every runs a program again and again, whatever it comes to: `every 3s kubectl …`.
func every(ctx context.Context, in within, args []string) int {
	if len(args) < 2 || !known(args[1:]) {
		fmt.Fprintln(in.out, "every: want a duration and a program")
		return 2
	}
	d, err := time.ParseDuration(args[0])
	if err != nil || d <= 0 {
		fmt.Fprintln(in.out, "every: want a duration above zero, not", args[0])
		return 2
	}
	for {
		execute(ctx, in, args[1:])
		if wait(ctx, d) != 0 {
			return killed
		}
	}
}

// kubectl knows patch, get and delete of one object in the namespace of its Pod.
func kubectl(ctx context.Context, in within, args []string) int {
	say := func(err error) int { fmt.Fprintln(in.out, err); return 1 }
	what, err := readKubectl(args)
	if err != nil {
		return say(fmt.Errorf("error: %w", err))
	}
	if what.namespace != "" && what.namespace != in.namespace {
		return say(fmt.Errorf("error: a drill stays in namespace %s", in.namespace))
	}
	path := what.prefix + "/namespaces/" + in.namespace + "/" + what.plural + "/" + url.PathEscape(what.name)
	title := what.plural + "/" + what.name
	switch what.verb {
	case "get":
		var o object
		if err := in.api.do(ctx, http.MethodGet, path, "", nil, &o); err != nil {
			return say(err)
		}
		fmt.Fprintln(in.out, title)
	case "delete":
		if err := in.api.do(ctx, http.MethodDelete, path, plainJSON, object{"propagationPolicy": "Background"}, nil); err != nil {
			return say(err)
		}
		fmt.Fprintln(in.out, title, "deleted")
	case "patch":
		if err := in.api.do(ctx, http.MethodPatch, path+"?fieldManager="+url.QueryEscape(what.manager), mergePatch, what.patch, nil); err != nil {
			return say(err)
		}
		fmt.Fprintln(in.out, title, "patched")
	}
	return 0
}

type kubectlArgs struct {
	verb, prefix, plural, name, namespace string
	manager                               string
	patch                                 json.RawMessage
}

// kinds are the resources that a program may touch, by the names of kubectl.
func kinds() map[string][2]string {
	const rbac = "/apis/rbac.authorization.k8s.io/v1"
	out := map[string][2]string{}
	for _, k := range []struct{ prefix, names string }{
		{"/api/v1", "configmaps configmap cm"}, {"/api/v1", "services service svc"}, {"/api/v1", "pods pod po"},
		{"/api/v1", "serviceaccounts serviceaccount sa"},
		{"/api/v1", "resourcequotas resourcequota quota"}, {"/api/v1", "persistentvolumeclaims persistentvolumeclaim pvc"},
		{"/apis/apps/v1", "deployments deployment deploy"}, {"/apis/apps/v1", "statefulsets statefulset sts"},
		{"/apis/batch/v1", "jobs job"}, {"/apis/batch/v1", "cronjobs cronjob cj"},
		{rbac, "roles role"}, {rbac, "rolebindings rolebinding"},
		{"/apis/networking.k8s.io/v1", "networkpolicies networkpolicy netpol"},
	} {
		names := strings.Fields(k.names)
		for _, n := range names {
			out[n] = [2]string{k.prefix, names[0]}
		}
	}
	return out
}

func readKubectl(args []string) (k kubectlArgs, err error) {
	k.manager = "kubectl-patch"
	var words []string
	for i := 0; i < len(args); i++ {
		flag, value, has := strings.Cut(args[i], "=")
		if !strings.HasPrefix(flag, "-") {
			words = append(words, args[i])
			continue
		}
		if !has && i+1 < len(args) {
			i++
			value = args[i]
		}
		switch flag {
		case "-n", "--namespace":
			k.namespace = value
		case "-p", "--patch":
			k.patch = json.RawMessage(value)
		case "--field-manager":
			k.manager = value
		case "--type":
			if value != "merge" {
				return k, fmt.Errorf("type %q: only merge patches are known here", value)
			}
		default:
			return k, fmt.Errorf("unknown flag: %s", flag)
		}
	}
	if len(words) == 2 {
		kind, name, _ := strings.Cut(words[1], "/")
		words = []string{words[0], kind, name}
	}
	if len(words) != 3 || words[2] == "" {
		return k, fmt.Errorf("want a verb, a resource and a name")
	}
	k.verb, k.name = words[0], words[2]
	at, ok := kinds()[strings.ToLower(words[1])]
	if !ok {
		return k, fmt.Errorf("the server doesn't have a resource type %q", words[1])
	}
	k.prefix, k.plural = at[0], at[1]
	switch k.verb {
	case "get", "delete":
	case "patch":
		if !json.Valid(k.patch) {
			return k, fmt.Errorf("patch %q is no JSON", string(k.patch))
		}
	default:
		return k, fmt.Errorf("unknown command %q", k.verb)
	}
	return k, nil
}
