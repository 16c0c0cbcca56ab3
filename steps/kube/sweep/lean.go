package sweep

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"handrail/steps/cluster"
	"handrail/steps/cluster/wire"
	"handrail/steps/kube/object"
)

// item reads an object without what is most of its bytes: managedFields,
// the copy that kubectl keeps and, unless it is asked for, the status.
func item(status bool) func(*cluster.Scanner) (cluster.Object, error) {
	return func(s *cluster.Scanner) (cluster.Object, error) {
		whole := map[string]any{}
		err := s.Members(func(key []byte) error {
			switch {
			case string(key) == "metadata":
				md, err := metadata(s)
				whole["metadata"] = md
				return err
			case string(key) == "status" && !status:
				return s.Skip()
			}
			return cluster.BuildMember(s, string(key), whole)
		})
		return cluster.Object{Unstructured: &unstructured.Unstructured{Object: whole}}, err
	}
}

func metadata(s *cluster.Scanner) (map[string]any, error) {
	md := map[string]any{}
	err := s.Members(func(key []byte) error {
		if string(key) == "managedFields" {
			return s.Skip()
		}
		return cluster.BuildMember(s, string(key), md)
	})
	if notes, ok := md["annotations"].(map[string]any); ok {
		delete(notes, object.LastApplied)
		delete(notes, object.DataHash)
	}
	return md, err
}

// Whole reads what matters of an object. What is in protobuf costs the server
// half of what JSON does, so it is asked for where the numbers of the fields are
// known; a server that answers in JSON all the same is read, too.
func Whole(r cluster.Resource, status bool) cluster.Form {
	f := cluster.Form{Accept: cluster.AsJSON, Lean: item(status)}
	if shape, known := Shapes()[r.String()]; known && r.Version == "v1" {
		f.Accept, f.Shape = wire.Media+","+cluster.AsJSON, shape
	}
	return f
}

// metadataOnly reads the metadata of an object.
func metadataOnly(r cluster.Resource) cluster.Form {
	return cluster.Form{Accept: wire.Media + ";as=PartialObjectMetadataList;v=v1;g=meta.k8s.io," + cluster.AsMetaList, Shape: metadataShape(r.String()), Lean: cluster.MetadataItem}
}
