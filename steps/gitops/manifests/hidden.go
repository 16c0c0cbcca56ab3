package manifests

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"

	"handrail/steps"
	"handrail/steps/cluster"
)

// Encrypted reports whether an object holds values that SOPS encrypted.
func Encrypted(o map[string]any) bool {
	_, is := o["sops"].(map[string]any)
	return is
}

// PlainSecret gives a Secret its values as the server keeps them, and tells each of them.
func PlainSecret(o map[string]any, out steps.Sink) {
	if o["apiVersion"] != "v1" || o["kind"] != "Secret" {
		return
	}
	data, _ := o["data"].(map[string]any)
	if data == nil {
		data = map[string]any{}
	}
	if texts, ok := o["stringData"].(map[string]any); ok {
		for key, v := range texts {
			data[key] = base64.StdEncoding.EncodeToString([]byte(fmt.Sprint(v)))
		}
		delete(o, "stringData")
	}
	for _, v := range data {
		text, _ := v.(string)
		out.Secret(text)
		if raw, err := base64.StdEncoding.DecodeString(text); err == nil {
			out.Secret(string(raw))
		}
	}
	if len(data) > 0 {
		o["data"] = data
	}
}

// errUnredacted says that values may not be compared: nothing would hide them.
var errUnredacted = errors.New("what is kept of it cannot be redacted here")

// Hidden is an object as the evidence may hold it: values of Secrets are tokens, equal where
// the values are.
func Hidden(o map[string]any, out steps.Sink) (map[string]any, error) {
	if o == nil {
		return nil, nil
	}
	PlainSecret(o, out)
	red, ok := out.(steps.RedactingSink)
	if !ok {
		if o["kind"] == "Secret" {
			return nil, errUnredacted
		}
		return o, nil
	}
	raw, err := json.Marshal(o)
	if err != nil {
		return nil, err
	}
	if raw, err = red.Redacted(steps.MediaKubernetes, raw); err != nil {
		return nil, err
	}
	kept, err := cluster.ParseObject(raw)
	return kept.Object, err
}
