package object

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"

	"handrail/steps/cluster"
)

// item is what a metadata read keeps of one object.
type item struct {
	Namespace         string            `json:"namespace,omitempty"`
	Name              string            `json:"name"`
	UID               string            `json:"uid"`
	ResourceVersion   string            `json:"resourceVersion,omitempty"`
	Generation        int64             `json:"generation,omitempty"`
	CreationTimestamp string            `json:"creationTimestamp,omitempty"`
	DeletionTimestamp string            `json:"deletionTimestamp,omitempty"`
	Finalizers        []string          `json:"finalizers,omitempty"`
	OwnerReferences   json.RawMessage   `json:"ownerReferences,omitempty"`
	Labels            map[string]string `json:"labels,omitempty"`
	Annotations       map[string]string `json:"annotations,omitempty"`
}

// metadataReader turns pages of metadata into items. Only what an item keeps is
// built: most of the bytes are managedFields.
type metadataReader struct {
	each func(item) error
}

func (m *metadataReader) page(raw []byte) (cluster.ListMeta, error) {
	return cluster.Page{Items: "items", Item: m.object}.Parse(raw)
}

func (m *metadataReader) object(s *cluster.Scanner) error {
	var it item
	err := s.Members(func(key []byte) error {
		if string(key) != "metadata" || it.UID != "" {
			return s.Skip()
		}
		return s.Members(func(key []byte) error { return it.member(string(key), s) })
	})
	if err != nil {
		return err
	}
	if it.Name == "" || it.UID == "" {
		return errors.New("it lists something without a name or a UID")
	}
	return m.each(it)
}

func (it *item) member(key string, s *cluster.Scanner) error {
	value, err := s.Value()
	if err != nil {
		return err
	}
	text := func(into *string) error {
		var ok bool
		if *into, ok = cluster.TextOf(value); !ok && string(value) != "null" {
			return fmt.Errorf("its %s is no text", key)
		}
		return nil
	}
	switch key {
	case "namespace":
		return text(&it.Namespace)
	case "name":
		return text(&it.Name)
	case "uid":
		return text(&it.UID)
	case "resourceVersion":
		return text(&it.ResourceVersion)
	case "creationTimestamp":
		return text(&it.CreationTimestamp)
	case "deletionTimestamp":
		return text(&it.DeletionTimestamp)
	case "generation":
		return json.Unmarshal(value, &it.Generation)
	case "finalizers":
		return json.Unmarshal(value, &it.Finalizers)
	case "labels":
		return json.Unmarshal(value, &it.Labels)
	case "annotations":
		err := json.Unmarshal(value, &it.Annotations)
		delete(it.Annotations, LastApplied) // of a Secret it holds the values
		delete(it.Annotations, DataHash)
		return err
	case "ownerReferences":
		var b bytes.Buffer // in one line, whatever the server wrote
		if err := json.Compact(&b, value); err != nil {
			return err
		}
		it.OwnerReferences = b.Bytes()
	}
	return nil
}

// listSum is the digest of a list while it is read. It needs no memory as long
// as objects come in order of name, as every server that stores them sends them.
type listSum struct {
	sum  hash.Hash
	last string
	n    int
	why  string // it cannot be told
}

func newListSum() *listSum { return &listSum{sum: sha256.New()} }

func (l *listSum) add(it item) error {
	if key := it.Namespace + "/" + it.Name; l.n > 0 && key <= l.last {
		l.why = "the server does not list in order of name"
	} else {
		l.last = key
	}
	l.n++
	// Where there is no generation, only the version says that the object changed.
	version := fmt.Sprint(it.Generation)
	if it.Generation == 0 {
		version = "rv " + it.ResourceVersion
	}
	raw, err := json.Marshal([]any{it.UID, it.Labels, it.Annotations, it.Finalizers, version})
	if err != nil {
		return err
	}
	_, err = l.sum.Write(append(raw, '\n'))
	return err
}

func (l *listSum) hex() string { return hex.EncodeToString(l.sum.Sum(nil)) }
