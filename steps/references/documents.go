package references

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
)

// inSecrets are the locations in an export of secrets that name the server, each as NAMESPACE/NAME KEY. What is no list of
// Kubernetes objects is searched as it is. Values are decoded here, and nothing of them leaves.
func inSecrets(names []name, raw []byte) (at []string, found []match, err error) {
	var in struct {
		Kind     string
		Metadata struct {
			Continue           string
			RemainingItemCount int64
		}
		Items []json.RawMessage
	}
	if json.Unmarshal(raw, &in) != nil || in.Items == nil {
		list, unread := content(names, raw, 0)
		if unread != "" {
			return nil, nil, errors.New("it is " + unread)
		}
		for _, m := range list {
			at = append(at, fmt.Sprintf("line %d", m.line))
		}
		return at, list, nil
	}
	if in.Metadata.Continue != "" || in.Metadata.RemainingItemCount > 0 {
		return nil, nil, errors.New("the list goes on: read it to its end")
	}
	if len(in.Items) == 0 {
		return nil, nil, errors.New("it has no object")
	}
	for _, item := range in.Items {
		var o struct {
			Kind       string
			Type       string
			Metadata   struct{ Namespace, Name string }
			Data       map[string]string
			StringData map[string]string
			BinaryData map[string]string
		}
		if err := json.Unmarshal(item, &o); err != nil {
			return nil, nil, fmt.Errorf("an object of it cannot be read: %w", err)
		}
		where := o.Metadata.Namespace + "/" + o.Metadata.Name
		see := func(key string, value []byte) error {
			list, unread := content(names, value, 0)
			if unread != "" {
				return fmt.Errorf("%s %s is %s", where, key, unread)
			}
			if len(list) > 0 {
				at, found = append(at, where+" "+key), append(found, list[0])
			}
			return nil
		}
		coded := []map[string]string{o.BinaryData}
		if o.Kind == "Secret" {
			coded = append(coded, o.Data)
		} else if err := see(o.Kind, item); err != nil {
			return nil, nil, err
		}
		for _, values := range coded {
			for key, value := range values {
				plain, err := base64.StdEncoding.DecodeString(value)
				if err == nil && o.Type == "helm.sh/release.v1" { // Helm packs a release once more
					plain, err = base64.StdEncoding.DecodeString(string(plain))
				}
				if err != nil {
					return nil, nil, fmt.Errorf("%s %s is no Base64", where, key)
				}
				if err := see(key, plain); err != nil {
					return nil, nil, err
				}
			}
		}
		for key, value := range o.StringData {
			if err := see(key, []byte(value)); err != nil {
				return nil, nil, err
			}
		}
	}
	return at, found, nil
}

// recorded is what one state says of the server.
type recorded struct {
	owners    []string // addresses that are the server itself
	at        []string // addresses that name it
	found     []match
	published []string // outputs that name it
}

// inState reads a state of Terraform or OpenTofu (version 4).
func inState(names []name, id string, raw []byte) (out recorded, err error) {
	var in struct {
		Version   int
		Outputs   map[string]json.RawMessage
		Resources *[]struct {
			Module, Mode, Type, Name string
			Instances                []struct {
				IndexKey   any `json:"index_key"`
				Attributes json.RawMessage
			}
		}
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	if err := dec.Decode(&in); err != nil || in.Version != 4 || in.Resources == nil {
		return out, errors.New("it is no state of version 4")
	}
	for name, value := range in.Outputs {
		if len(matches(names, value)) > 0 {
			out.published = append(out.published, name)
		}
	}
	for _, r := range *in.Resources {
		address := r.Type + "." + r.Name
		if r.Mode == "data" {
			address = "data." + address
		}
		if r.Module != "" {
			address = r.Module + "." + address
		}
		for _, i := range r.Instances {
			at := address
			switch key := i.IndexKey.(type) {
			case string:
				at += fmt.Sprintf("[%q]", key)
			case float64:
				at += fmt.Sprintf("[%d]", int(key))
			}
			found := matches(names, i.Attributes)
			if len(found) == 0 {
				continue
			}
			var own struct{ Identifier, ID string }
			_ = json.Unmarshal(i.Attributes, &own) // what has no such attributes is not the server
			if r.Mode == "managed" && (r.Type == "aws_db_instance" || r.Type == "aws_rds_cluster_instance") && (own.Identifier == id || own.ID == id) {
				out.owners = append(out.owners, at)
				continue
			}
			out.at, out.found = append(out.at, at), append(out.found, found[0])
		}
	}
	return out, nil
}
