package tfplan

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"google.golang.org/protobuf/encoding/protowire"
)

// maxField bounds one field of a plan that is held in memory: one change.
const maxField = 16 << 20

// formError says that bytes are no message.
type formError struct{ say string }

func (e *formError) Error() string { return e.say }

// stream calls do with each field of a message, which it never holds whole. A
// field that is too large is passed over, cut; data is valid during the call.
func stream(r *bufio.Reader, do func(num protowire.Number, n uint64, data []byte, cut bool)) error {
	var buf []byte
	for {
		tag, err := binary.ReadUvarint(r)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return form(err)
		}
		num, typ := protowire.DecodeTag(tag)
		if !num.IsValid() {
			return &formError{fmt.Sprintf("a field has the number %d", num)}
		}
		var v uint64
		var data []byte
		cut := false
		switch typ {
		case protowire.VarintType:
			v, err = binary.ReadUvarint(r)
		case protowire.Fixed32Type:
			_, err = r.Discard(4)
		case protowire.Fixed64Type:
			_, err = r.Discard(8)
		case protowire.BytesType:
			if v, err = binary.ReadUvarint(r); err != nil {
				break
			}
			if cut = v > maxField; cut {
				_, err = io.CopyN(io.Discard, r, int64(min(v, maxTfplan+1)))
				break
			}
			if buf = buf[:0]; uint64(cap(buf)) < v {
				buf = make([]byte, 0, max(v, 4<<10))
			}
			data = buf[:v]
			_, err = io.ReadFull(r, data)
		default:
			return &formError{fmt.Sprintf("a field has the wire type %d", typ)}
		}
		if err != nil {
			return form(err)
		}
		do(num, v, data, cut)
	}
}

// form tells a message that ends in the middle from an archive that cannot be
// read.
func form(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return &formError{"it ends in the middle of a field, or is over what is read of it"}
	}
	if err.Error() == "binary: varint overflows a 64-bit integer" {
		return &formError{err.Error()}
	}
	return err
}
