package kube

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"handrail/steps/kube/wire"
)

// sweepItem reads an object without what is most of its bytes: managedFields,
// the copy that kubectl keeps and, unless it is asked for, the status.
func sweepItem(status bool) func(*scan) (object, error) {
	return func(s *scan) (object, error) {
		whole := map[string]any{}
		err := s.members(func(key []byte) error {
			switch {
			case string(key) == "metadata":
				md, err := sweepMetadata(s)
				whole["metadata"] = md
				return err
			case string(key) == "status" && !status:
				return s.skip()
			}
			return sweepMember(s, string(key), whole)
		})
		return object{Unstructured: &unstructured.Unstructured{Object: whole}}, err
	}
}

func sweepMetadata(s *scan) (map[string]any, error) {
	md := map[string]any{}
	err := s.members(func(key []byte) error {
		if string(key) == "managedFields" {
			return s.skip()
		}
		return sweepMember(s, string(key), md)
	})
	if notes, ok := md["annotations"].(map[string]any); ok {
		delete(notes, lastApplied)
	}
	return md, err
}

// sweepWhole reads what matters of an object. What is in protobuf costs the server
// half of what JSON does, so it is asked for where the numbers of the fields are
// known; whoever answers in JSON all the same is read, too.
func sweepWhole(r resource, status bool) sweepForm {
	f := sweepForm{accept: asJSON, lean: sweepItem(status)}
	if shape, known := sweepShapes()[r.String()]; known && r.version == "v1" {
		f.accept, f.shape = wire.Media+","+asJSON, shape
	}
	return f
}

// sweepMetadataOnly reads the metadata of an object.
func sweepMetadataOnly(r resource) sweepForm {
	return sweepForm{accept: wire.Media + ";as=PartialObjectMetadataList;v=v1;g=meta.k8s.io," + asMetaList, shape: metadataShape(r.String()), lean: metadataItem}
}
