package runbooks

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// maxAlerts bounds how many alerts of a notification are read.
const maxAlerts = 200

// alert is one alert of a notification, as far as a runbook may know it.
type alert struct {
	Status      json.RawMessage   `json:"status"` // a word in a notification, an object in the API
	Labels      map[string]string `json:"labels"`
	Annotations map[string]string `json:"annotations"`
}

// Alerts is what a notification of Alertmanager says, as text to match: the body of a
// webhook, or the list that its API and amtool give. Grafana sends the same. What fires is
// told, and what is resolved where nothing fires any more. ok is false for any other text.
func Alerts(text string) (said string, ok bool) {
	list, ok := notification(strings.TrimSpace(text))
	if !ok {
		return "", false
	}
	firing := slices.DeleteFunc(slices.Clone(list), func(a alert) bool { return string(a.Status) == `"resolved"` })
	if len(firing) > 0 {
		list = firing
	}
	var lines []string
	add := func(line string) {
		if line = strings.TrimSpace(line); line != "" && !slices.Contains(lines, line) {
			lines = append(lines, line)
		}
	}
	var objects []object
	for _, a := range list[:min(len(list), maxAlerts)] {
		add(a.Labels["alertname"])
		for _, key := range slices.Sorted(maps.Keys(a.Annotations)) {
			for line := range strings.Lines(a.Annotations[key]) {
				add(line)
			}
		}
		for _, key := range slices.Sorted(maps.Keys(a.Labels)) {
			add(key + "=" + a.Labels[key])
		}
		if o := a.object(); o.name != "" && !slices.Contains(objects, o) {
			objects = append(objects, o)
		}
	}
	if len(objects) == 1 { // of several, to choose one would be to guess
		o := objects[0]
		lines = append(lines, "kind: "+o.resource, "metadata:", "  name: "+o.name)
		if o.namespace != "" {
			lines = append(lines, "  namespace: "+o.namespace)
		}
	}
	return strings.Join(lines, "\n") + "\n", true
}

// notification are the alerts of a text that is one.
func notification(text string) ([]alert, bool) {
	var list []alert
	switch {
	case strings.HasPrefix(text, "{"):
		var body struct {
			Alerts []alert `json:"alerts"`
		}
		if json.Unmarshal([]byte(text), &body) != nil {
			return nil, false
		}
		list = body.Alerts
	case strings.HasPrefix(text, "["):
		if json.Unmarshal([]byte(text), &list) != nil {
			return nil, false
		}
	}
	named := func(a alert) bool { return a.Labels["alertname"] != "" }
	return list, len(list) > 0 && !slices.ContainsFunc(list, func(a alert) bool { return !named(a) })
}

// object is the one thing of a cluster that the labels of an alert name. The label job is
// left out: it is the job of Prometheus that scraped.
func (a alert) object() object {
	var found []object
	for _, kind := range [][2]string{{"pod", "Pod"}, {"deployment", "Deployment"}, {"statefulset", "StatefulSet"}, {"daemonset", "DaemonSet"}, {"job_name", "Job"},
		{"cronjob", "CronJob"}, {"persistentvolumeclaim", "PersistentVolumeClaim"}, {"horizontalpodautoscaler", "HorizontalPodAutoscaler"}} {
		if name := a.Labels[kind[0]]; name != "" {
			found = append(found, object{kind[1], name, a.Labels["namespace"]})
		}
	}
	if len(found) != 1 || !plainName(found[0].name) || found[0].namespace != "" && !plainName(found[0].namespace) {
		return object{}
	}
	return found[0]
}

// plainName says that a name can be written as a word of YAML.
func plainName(s string) bool {
	return yamlField.MatchString(fmt.Sprintf("  name: %s", s))
}
