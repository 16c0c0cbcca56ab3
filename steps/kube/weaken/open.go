package weaken

import (
	"fmt"
	"slices"
	"strings"
)

// opened judges a value that is new or another one, by what its name means in
// every kind that has it.
func (j *judge) opened(path []string, key string, before any, was bool, after any, is bool) {
	if path[0] == "data" || path[0] == "binaryData" || path[0] == "stringData" {
		j.mapped(path, before, after)
		return
	}
	leaf := !isMap(after) && asList(after) == nil
	text, _ := after.(string)
	switch {
	case is && leaf && slices.Contains(everyone(), text) && !within(path, "command", "args", "env"):
		j.say(Widens, path, fmt.Sprintf("%q stands for all there is", text))
	case is && isMap(after) && len(asMap(after)) == 0 && (listed(path) || selector(key)) && !was:
		j.say(Widens, path, "it is empty, which stands for all there is")
	case is && leaf && guards(j.kind.Group):
		j.say(Widens, path, "it decides over other objects")
	}
	yes, no := after == true, after == false
	switch key {
	case "privileged", "allowPrivilegeEscalation", "hostNetwork", "hostPID", "hostIPC", "automountServiceAccountToken", "insecureSkipTLSVerify":
		if yes || was && before == false && !is {
			j.say(Widens, path, "it lets a Pod, or what speaks for the API, do more")
		}
	case "runAsNonRoot", "readOnlyRootFilesystem", "readOnly", "hostUsers":
		if no && key != "hostUsers" || yes && key == "hostUsers" {
			j.say(Widens, path, "it lets a container do more")
		}
	case "runAsUser", "runAsGroup", "fsGroup":
		if is && isNumber(after) && number(after) == 0 {
			j.say(Widens, path, "that is root")
		}
	case "hostPath", "hostPort", "externalIPs":
		if is && !was {
			j.say(Widens, path, "it reaches out of the cluster's own network and storage")
		}
	case "serviceAccountName", "serviceAccount":
		if is && !j.made {
			j.say(Widens, path, "its Pods act with the rights of another account")
		}
	case "type":
		if text == "Unconfined" {
			j.say(Widens, path, "it lets a container do more")
		}
		if j.kind.Group == "" && j.kind.Kind == "Service" && slices.Contains([]string{"NodePort", "LoadBalancer", "ExternalName"}, text) {
			j.say(Widens, path, "it is reached from outside, or leads there")
		}
	case "procMount":
		if text == "Unmasked" {
			j.say(Widens, path, "it lets a container do more")
		}
	case "failurePolicy":
		if text == "Ignore" {
			j.say(Widens, path, "what cannot be asked lets everything pass")
		}
	}
	if listed(path) && leaf && is && len(path) > 2 && path[len(path)-2] == "add" && path[len(path)-3] == "capabilities" {
		j.say(Widens, path, "it lets a container do more")
	}
	if len(path) > 4 && path[len(path)-2] == "labels" && path[len(path)-3] == "metadata" && was && is {
		j.say(Removes, path, "policies and Services go by the labels of a Pod: what selected it before may not select it any more")
	}
}

// mapped judges a text that a program reads its own rules from: some clusters
// keep who may do what in a ConfigMap.
func (j *judge) mapped(path []string, before, after any) {
	was, _ := before.(string)
	is, _ := after.(string)
	for _, word := range []string{"system:masters", "cluster-admin", "system:authenticated", "system:unauthenticated", "system:anonymous", "0.0.0.0/0", "::/0"} {
		if strings.Count(is, word) > strings.Count(was, word) {
			j.say(Widens, path, fmt.Sprintf("it names %q, which stands for all there is", word))
			return
		}
	}
}

// everyone are the words that stand for all there is.
func everyone() []string {
	return []string{"*", "0.0.0.0/0", "::/0", "system:anonymous", "system:unauthenticated", "system:authenticated", "system:serviceaccounts", "cluster-admin"}
}

func within(path []string, names ...string) bool {
	return slices.ContainsFunc(path, func(seg string) bool { return slices.Contains(names, seg) })
}

// listed reports whether a path ends in an item of a list.
func listed(path []string) bool {
	last := path[len(path)-1]
	return len(path) > 1 && strings.Trim(last, "0123456789") == ""
}
