package workload

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"maps"
	"path"
	"slices"
	"strings"

	"handrail/steps"
	"handrail/steps/cluster"
	"handrail/steps/kube/podstate"
	"handrail/steps/kube/report"
)

// tokenMark begins what redaction puts in the place of a value.
const tokenMark = "<redacted:"

// version tells whether the values of the Secret are others than they were: the time of a write does
// not, since a controller that writes a label moves it too. The values are read into memory alone;
// what leaves are tokens under the key of the bundle, and nothing where none keys them.
func (r *deliveryRun) version(ctx context.Context, out steps.Sink) {
	f := r.facts
	red, keyed := out.(steps.RedactingSink)
	switch {
	case !r.d.exists:
		f.Unknown("the Secret is not there", "version")
		return
	case !keyed:
		f.Unknown("no evidence is kept here, so that nothing would key it", "version")
		return
	}
	raw, err := r.c.Read(ctx, rotationSource{secret: true, name: r.name}.resource().Path(r.ns, r.name), cluster.AsJSON, nil)
	if err == nil {
		tellValues(raw, out)
		r.logins, r.opened = loginsOf(raw, out), true
		raw, err = red.Redacted(steps.MediaKubernetes, raw)
	}
	if err != nil {
		why := "its values could not be made tokens: " + report.Why(err)
		f.Unknown(why, "version")
		r.Gap("%s", why)
		return
	}
	if text, why := tokens(raw); why != "" {
		f.Unknown(why, "version")
	} else {
		f.Set("version", steps.StringOf(text))
	}
}

// tellValues names the values as secrets, so that a log that repeats one does not show it.
func tellValues(raw []byte, out steps.Sink) {
	var o struct {
		Data map[string]string `json:"data"`
	}
	if json.Unmarshal(raw, &o) != nil {
		return
	}
	for _, text := range o.Data {
		if value, err := base64.StdEncoding.DecodeString(text); err == nil && len(value) > 0 {
			out.Secret(text)
			out.Secret(string(value))
		}
	}
}

// loginsOf are the registries for which a pull secret has a login. Its parts are named as secrets, too.
func loginsOf(raw []byte, out steps.Sink) []string {
	var o struct {
		Data map[string][]byte `json:"data"`
	}
	var config struct {
		Auths map[string]map[string]any `json:"auths"`
	}
	if json.Unmarshal(raw, &o) != nil {
		return nil
	}
	if json.Unmarshal(o.Data[".dockerconfigjson"], &config) != nil {
		_ = json.Unmarshal(o.Data[".dockercfg"], &config.Auths) // of before; what is neither has no login
	}
	var hosts []string
	for at, login := range config.Auths {
		_, bare, ok := strings.Cut(at, "://")
		if !ok {
			bare = at
		}
		host, _, _ := strings.Cut(strings.ToLower(bare), "/")
		if slices.Contains([]string{"index.docker.io", "registry-1.docker.io"}, host) {
			host = dockerHub
		}
		hosts = append(hosts, host)
		for name, part := range login {
			if text, ok := part.(string); ok && text != "" && name != "email" && name != "username" {
				out.Secret(text)
			}
		}
	}
	slices.Sort(hosts)
	return hosts
}

const dockerHub = "docker.io"

// registryOf is where an image is pulled from.
func registryOf(image string) string {
	host, _, ok := strings.Cut(image, "/")
	if !ok || !strings.ContainsAny(host, ".:") && host != "localhost" {
		return dockerHub
	}
	return strings.ToLower(host)
}

// unlisted are the registries from which a Pod cannot pull, with one pull secret alone, and for which that has no login.
// A kubelet takes a star for a part of a name.
func unlisted(p podstate.Pod, logins []string) (out []string) {
	if len(p.Spec.ImagePullSecrets) != 1 {
		return nil
	}
	for _, s := range slices.Concat(p.Status.InitContainerStatuses, p.Status.ContainerStatuses) {
		if s.State.Waiting == nil || !slices.Contains([]string{"ErrImagePull", "ImagePullBackOff"}, s.State.Waiting.Reason) {
			continue
		}
		for _, c := range slices.Concat(p.Spec.InitContainers, p.Spec.Containers) {
			host := registryOf(c.Image)
			if c.Name == s.Name && c.Image != "" && !slices.Contains(out, host) && !slices.ContainsFunc(logins, func(login string) bool {
				fits, _ := path.Match(login, host)
				return fits || login == host
			}) {
				out = append(out, host)
			}
		}
	}
	return out
}

// tokens are those of a redacted Secret, by key. A value that is no token is never passed on.
func tokens(raw []byte) (text, why string) {
	var o struct {
		Kind string            `json:"kind"`
		Data map[string]string `json:"data"`
	}
	if err := json.Unmarshal(raw, &o); err != nil || o.Kind != "Secret" {
		return "", "what was kept of it cannot be read"
	}
	var lines []string
	for _, key := range slices.Sorted(maps.Keys(o.Data)) {
		switch v := o.Data[key]; {
		case v == "":
			lines = append(lines, key+" is empty")
		case !strings.HasPrefix(v, tokenMark) || !strings.HasSuffix(v, ">") || len(v) > 100:
			return "", "the value of key " + steps.Clip(key, 253) + " was not hidden"
		default:
			lines = append(lines, key+" "+strings.TrimSuffix(strings.TrimPrefix(v, tokenMark), ">"))
		}
	}
	return steps.Clip(strings.Join(lines, ", "), 4000), ""
}
