// Package jsonscan reads JSON as a stream in memory that does not grow with the
// document, and is as strict as encoding/json: what it accepts is exactly what
// [json.Valid] accepts. Strings, objects and lists of any size are skipped
// without being kept, which encoding/json and jsontext cannot do: they hold each
// string whole. A property test holds the two readers against each other.
//
// A caller walks the parts that it wants and skips the rest:
//
//	s := jsonscan.New(r)
//	err := s.Object(func(key string) error {
//		if key == "serial" {
//			n, ok, err = s.Int()
//			return err
//		}
//		return s.Skip()
//	})
//	err = s.End()
package jsonscan
